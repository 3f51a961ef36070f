# Single index models: fits and methods.

#' Single index model
#'
#' Fits the model y = g(x b) + error with the coefficients and bandwidth of [npindexbw()]: g by a local constant
#' regression of y on the index x b, with gradients and the covariance matrix of the coefficients. Names, arguments and
#' fields are those of package \pkg{np}.
#'
#' The gradient by a regressor is g'(x b) times its coefficient. For a factor this is the rate at its numbers, not a
#' difference. The covariance matrix of the free coefficients is, with J_i the derivative of the fit by them, g'(x_i b)
#' (x_i - E(x | x_i b)), and u_i the residuals,
#' \deqn{(\sum J_i J_i')^{-1} (\sum u_i^2 J_i J_i') (\sum J_i J_i')^{-1}}{(sum J_i J_i')^-1 (sum u_i^2 J_i J_i') (sum
#' J_i J_i')^-1}
#' for `"ichimura"` and (sum J_i J_i' / (g_i (1 - g_i)))^-1 for `"kleinspady"`. E(x | x b) is estimated with the
#' same weights. The row and column of the first coefficient are 0.
#'
#' Fits, gradients and measures are those of \pkg{np} 0.60 at the same coefficients and bandwidth. These differ:
#'
#'   - The covariance matrix of \pkg{np} for `"ichimura"` is this one with two regressors. With more it depends on the
#'     order of the regressors: `npindex(npindexbw(xdat = mtcars[c("wt", "hp", "qsec")], ydat = mtcars$mpg, bws = c(1,
#'     0.02, 0.1, 0.4), bandwidth.compute = FALSE), gradients = TRUE)$betavcov` has other numbers if `hp` and
#'     `qsec`, and their coefficients, change places.
#'   - For `"kleinspady"` \pkg{np} has x_i in place of x_i - E(x | x_i b), so that its errors depend on the origin of x.
#'     In a simulation with x of mean 2, in which the standard deviation of the coefficient was 0.13, those of \pkg{np}
#'     were 0.04, and these 0.12.
#'   - Standard errors `merr` and `gerr` are those of [npreg()] for the regression on the index, which take the
#'     coefficients as known. \pkg{np} draws bootstrap samples for them if `errors = TRUE`.
#'
#' @param bws a bandwidth object of [npindexbw()]; or a vector of the coefficients and the bandwidth for `txdat` and
#'   `tydat`; or a formula.
#' @param txdat,tydat the data, as `xdat` and `ydat` of [npindexbw()]. With a bandwidth object they are other data.
#' @param exdat points to evaluate the model at, if not at the data.
#' @param eydat responses there.
#' @param gradients if TRUE, give gradients and the covariance matrix of the coefficients.
#' @param residuals if TRUE, keep the residuals in the field `resid`.
#' @param errors if TRUE, give standard errors.
#' @param boot.num accepted for scripts written for \pkg{np}, without effect.
#' @param data,subset,na.action with a formula, as in [npindexbw()]. `data` may be the second argument.
#' @param newdata points as a data frame with the variables of the formula, or with the names of x.
#' @param y.eval if TRUE, take responses at the points from `newdata`.
#' @param threads,verbose as in [npregbw()].
#' @param ... for a formula or a vector arguments of [npindexbw()].
#' @return An object of class `c("kestrel_si", "singleindex")`, a list with
#'   \item{beta, bw, bws}{coefficients, bandwidth and the bandwidth object}
#'   \item{index, mean, merr}{the index, the fit and its standard error at the points}
#'   \item{grad, gerr, mean.grad}{with `gradients = TRUE` the gradients, a matrix with a column for each coefficient,
#'     their standard errors and their means; else NA}
#'   \item{betavcov}{with `gradients = TRUE` the covariance matrix of the coefficients; else NA}
#'   \item{R2, MSE, MAE, MAPE, CORR, SIGN}{for `"ichimura"` measures of the fit, as in [npreg()]}
#'   \item{confusion.matrix, CCR.overall, CCR.byoutcome, fit.mcfadden}{for `"kleinspady"` those of [npconmode()], of the
#'     prediction 1 where the fit is above 1/2}
#'   \item{link}{the regression on the index, a fit of [npreg()]}
#'   and `eval`, `resid`, `nobs`, `ntrain`, `trainiseval`, `xnames`, `ynames`, `ndim`, `rows.omit`, `nobs.omit`,
#'   `seconds`, `call`.
#'
#'   `coef()`, with `errors = TRUE` standard errors, `vcov()`, `fitted()`, `se()`, `residuals()`, `gradients()` and
#'   `predict()` return numbers. `plot()` draws g with the data.
#' @section Units: Fits have the units of the response, gradients those divided by the units of the regressors.
#' @section Errors: The errors of [npindexbw()] can occur here, too, and errors of class `kestrel_error_input` for
#'   points that are not like the data. `vcov()` is an error without `gradients = TRUE`, as in \pkg{np}.
#' @section Cost: That of [npreg()] with one number, for each column once more with `gradients = TRUE`. For a formula
#'   the cost of [npindexbw()] is added.
#' @references Ichimura, H. (1993) Semiparametric least squares (SLS) and weighted SLS estimation of single-index
#'   models. *Journal of Econometrics* **58**, 71-120.
#'
#'   Klein, R.W. & Spady, R.H. (1993) An efficient semiparametric estimator for binary response models. *Econometrica*
#'   **61**, 387-421.
#'
#'   Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 8.
#' @seealso [npindexbw()]
#' @examples
#' fit <- npindex(mpg ~ wt + hp, data = mtcars, gradients = TRUE)
#' summary(fit)
#' coef(fit, errors = TRUE)
#' plot(fit)
#' summary(npindex(am ~ wt + hp, data = mtcars, method = "kleinspady"))
#' @export
npindex <- function(bws, txdat, tydat, exdat = NULL, eydat = NULL, gradients = FALSE, residuals = FALSE,
                    errors = FALSE, boot.num = NULL, ..., data = NULL, subset, newdata = NULL, y.eval = FALSE,
                    na.action = NULL, threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  check_known("npindex", Filter(nzchar, given_names(...)), c(names(formals(npindex)), names(formals(npindexbw))))
  if (missing(bws)) abort_input("`bws` must be a bandwidth object of npindexbw(), a formula or a vector.")
  verbose <- asked_verbose(verbose)
  wanted <- list(gradients = check_flag(gradients, "gradients"), residuals = check_flag(residuals, "residuals"),
                 errors = check_flag(errors, "errors"), y.eval = check_flag(y.eval, "y.eval"), eydat = eydat)
  if (inherits(bws, "formula")) {
    own <- c("newdata", "y.eval", "residuals", "gradients", "errors", "exdat", "eydat", "boot.num")
    bws <- eval(formula_call(call[!names(call) %in% own], "txdat", npindexbw), parent.frame())
    bws$call <- call
  } else if (!missing(txdat) || !missing(tydat)) {
    if (missing(txdat) || missing(tydat)) abort_input("`txdat` and `tydat` must both be given, or none.")
    bws <- replace(npindexbw(txdat, tydat, bws, FALSE, ..., na.action = na.action, threads = threads,
                             verbose = verbose), "call", list(call))
  } else {
    check_object(bws, "bws", "kestrel_sibw")
    check_arguments("npindex", given_names(...))
  }
  points <- index_points(bws, newdata, exdat)
  responses <- responses_at(list(terms = bws$terms, ynames = bws$ynames), newdata,
                            if (!is.null(points)) length(points$index), wanted)
  link <- link_of(bws, threads, verbose)
  run <- run_options(threads, "cpu")
  at <- if (is.null(points)) {
    link[c("mean", "merr", "grad", "gerr")]
  } else {
    found <- values_at(link, points$index, TRUE, run, gradients = TRUE)
    list(mean = found$mean, merr = found$se, grad = found$grad, gerr = found$gerr)
  }
  if (!is.null(points)) warn_no_index(at$mean, points)
  columns <- function(slope) {
    made <- as.vector(slope) %o% bws$beta
    dimnames(made) <- list(NULL, names(bws$beta))
    made
  }
  y <- if (is.null(points)) bws$y else responses
  observed <- if (is.null(y)) bws$y else y
  fitted <- if (is.null(y)) link$mean else at$mean
  binary <- bws$method == "kleinspady"
  measures <- measures_at(observed, fitted)
  outcome <- function(value) factor(as.integer(value), 0:1)
  structure(c(list(beta = bws$beta, bw = bws$bw, bws = bws,
                   betavcov = if (wanted$gradients) index_covariance(bws, link, threads) else NA,
                   index = if (is.null(points)) as.vector(bws$design %*% bws$beta) else points$index,
                   eval = if (is.null(points)) bws$x else points$x, mean = at$mean,
                   merr = if (wanted$errors) at$merr else NA,
                   grad = if (wanted$gradients) columns(at$grad) else NA,
                   gerr = if (wanted$gradients && wanted$errors) abs(columns(at$gerr)) else NA,
                   mean.grad = if (wanted$gradients) colMeans(columns(at$grad)) else NA,
                   resid = if (wanted$residuals && !is.null(y)) y - at$mean else NA, link = link),
              if (binary) lapply(measures, function(value) NA_real_) else measures,
              classification(if (binary) outcome(observed), outcome(fitted > 0.5)),
              list(nobs = length(at$mean), ntrain = bws$nobs, trainiseval = is.null(points), xnames = bws$xnames,
                   ynames = bws$ynames, ndim = bws$ndim, residuals = wanted$residuals, gradients = wanted$gradients,
                   rows.omit = bws$rows.omit, nobs.omit = bws$nobs.omit, call = call,
                   seconds = proc.time()[["elapsed"]] - started)),
            class = c("kestrel_si", "singleindex"))
}

# The regression of the response, or of other columns, on the index.
link_of <- function(bws, threads, verbose, y = bws$y, gradients = TRUE) {
  index <- as.vector(bws$design %*% bws$beta)
  bw <- npregbw.default(named_column(index, "index"), named_column(y, bws$ynames), bws$bw, FALSE,
                        ckertype = bws$ckertype, ckerorder = bws$ckerorder, na.action = stats::na.fail,
                        unsupported = "exclude", threads = threads, verbose = verbose)
  bw$call <- bws$call
  npreg.kestrel_regbw(bw, gradients = gradients, se = gradients, threads = threads, verbose = verbose)
}

# The points: a data frame x and the index, or NULL for the data.
index_points <- function(bws, newdata, exdat) {
  if (is.null(newdata) && is.null(exdat)) return(NULL)
  if (!is.null(newdata) && !is.null(exdat)) abort_input("`newdata` and `exdat` must not both be given.")
  x <- mixed_evaluation_points(list(x = bws$x, xnames = bws$xnames, ndim = bws$ndim, terms = bws$terms), newdata,
                               exdat)
  list(x = x, index = as.vector(linear_design(unclass(x)[seq_len(bws$ndim)])$matrix %*% bws$beta))
}

warn_no_index <- function(mean, points) {
  lost <- sum(is.na(mean) & !is.na(points$index))
  if (lost == 0L) return(invisible())
  warn_support(lost, " of ", length(mean), " points ", if (lost == 1L) "has" else "have",
               " no observation within the bandwidth: ", if (lost == 1L) "its" else "their", " fit is NA.")
}

index_covariance <- function(bws, link, threads) {
  p <- length(bws$beta)
  expected <- vapply(seq_len(p), function(k) {
    suppressWarnings(link_of(bws, threads, FALSE, bws$design[, k], FALSE))$mean
  }, numeric(bws$nobs))
  slope <- as.vector(link$grad) * (bws$design - expected)[, -1L, drop = FALSE]
  whole <- matrix(0, p, p, dimnames = list(names(bws$beta), names(bws$beta)))
  size <- sqrt(colSums(slope^2))
  if (anyNA(size) || any(size == 0)) return(replace(whole, TRUE, NA_real_))
  scaled <- slope / rep(size, each = nrow(slope))
  inverse <- function(m) {
    catching_errors(solve(m), function(e) matrix(NA_real_, p - 1L, p - 1L))
  }
  free <- if (bws$method == "ichimura") {
    bread <- inverse(crossprod(scaled))
    bread %*% crossprod(scaled * (bws$y - link$mean)) %*% bread
  } else {
    chance <- pmin(pmax(link$mean, least_probability), 1 - least_probability)
    inverse(crossprod(scaled / sqrt(chance * (1 - chance))))
  }
  whole[-1L, -1L] <- free / outer(size, size)
  whole
}

#' @rdname npindex
#' @param object,x a result of `npindex()`.
#' @param se.fit if TRUE, give standard errors too.
#' @export
predict.kestrel_si <- function(object, newdata = NULL, exdat = NULL, se.fit = FALSE, ..., verbose = NULL) {
  check_arguments("predict", given_names(...))
  check_object(object, "object", "kestrel_si")
  se.fit <- check_flag(se.fit, "se.fit")
  points <- index_points(object$bws, newdata, exdat)
  at <- if (is.null(points)) list(mean = object$link$mean, se = object$link$merr) else
    values_at(object$link, points$index, se.fit, run_options())
  if (!is.null(points)) warn_no_index(at$mean, points)
  if (is.null(points)) at <- lapply(at, function(value) stats::napredict(object$bws$na.action, value))
  if (se.fit) list(fit = at$mean, se.fit = at$se) else at$mean
}

#' @rdname npindex
#' @export
fitted.kestrel_si <- function(object, ...) {
  check_object(object, "object", "kestrel_si")
  if (object$trainiseval) stats::napredict(object$bws$na.action, object$mean) else object$mean
}

#' @rdname npindex
#' @export
residuals.kestrel_si <- function(object, ...) {
  check_object(object, "object", "kestrel_si")
  stats::naresid(object$bws$na.action, object$bws$y - object$link$mean)
}

#' @rdname npindex
#' @export
se.kestrel_si <- function(object, ...) {
  check_object(object, "object", "kestrel_si")
  if (object$trainiseval) return(stats::napredict(object$bws$na.action, object$link$merr))
  values_at(object$link, object$index, TRUE, run_options())$se
}

#' @rdname npindex
#' @export
gradients.kestrel_si <- function(x, errors = FALSE, ...) {
  check_object(x, "x", "kestrel_si")
  found <- values_at(x$link, x$index, TRUE, run_options(), gradients = TRUE)
  slope <- if (check_flag(errors, "errors")) found$gerr else found$grad
  made <- as.vector(slope) %o% x$beta
  value <- matrix(if (errors) abs(made) else made, length(slope), dimnames = list(NULL, names(x$beta)))
  if (x$trainiseval) stats::napredict(x$bws$na.action, value) else value
}

#' @rdname npindex
#' @export
coef.kestrel_si <- function(object, errors = FALSE, ...) {
  check_object(object, "object", "kestrel_si")
  if (check_flag(errors, "errors")) sqrt(diag(vcov.kestrel_si(object))) else object$beta
}

#' @rdname npindex
#' @export
vcov.kestrel_si <- function(object, ...) {
  check_object(object, "object", "kestrel_si")
  if (identical(object$betavcov, NA)) abort_input("`object` must be a fit with gradients = TRUE to have a covariance.")
  object$betavcov
}

si_lines <- function(fit) {
  bws <- fit$bws
  c("Single index model",
    call_lines(fit$call),
    label_line("n", index_size(bws)),
    label_line("model", paste0(bws$ynames, " on an index of ", and_list(bws$xnames))),
    label_line("method", index_names[[bws$method]]),
    label_line("kernel", index_kernel(bws)),
    if (!fit$trainiseval) label_line("points", format(fit$nobs, big.mark = ",")),
    if (bws$method == "ichimura") {
      c(label_line("residual sd", format_short(sqrt(fit$MSE))), label_line("R-squared", format(fit$R2, digits = 4)))
    } else if (!identical(fit$CCR.overall, NA)) {
      label_line("correct", paste0(format_short(fit$CCR.overall), " of all"))
    })
}

si_table <- function(fit) {
  if (identical(fit$betavcov, NA)) return(cbind(estimate = fit$beta))
  cbind(estimate = fit$beta, error = sqrt(diag(fit$betavcov)))
}

#' @rdname npindex
#' @export
print.kestrel_si <- function(x, ...) {
  check_object(x, "x", "kestrel_si")
  cat(si_lines(x), "", "Coefficients:", sep = "\n")
  print(noquote(apply(si_table(x), c(1L, 2L), format_short)), right = TRUE)
  invisible(x)
}

#' @rdname npindex
#' @export
summary.kestrel_si <- function(object, ...) {
  check_object(object, "object", "kestrel_si")
  structure(list(fit = object), class = "summary.kestrel_si")
}

#' @export
print.summary.kestrel_si <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_si")
  fit <- x$fit
  print(fit)
  if (!identical(fit$mean.grad, NA)) {
    cat("\nMean gradients:\n")
    print(noquote(format_short(fit$mean.grad)), right = TRUE)
  }
  if (fit$bws$method == "ichimura") {
    cat("", label_line("errors", named_values(fit, c("MSE", "MAE", "MAPE"))),
        label_line("agreement", named_values(fit, c("CORR", "SIGN"))), sep = "\n")
  } else if (!identical(fit$CCR.overall, NA)) {
    print_classification(fit)
  }
  invisible(x)
}

#' @rdname npindex
#' @param xlab,ylab labels.
#' @export
plot.kestrel_si <- function(x, xlab = "index", ylab = NULL, ...) {
  check_object(x, "x", "kestrel_si")
  made <- plot.kestrel_reg(x$link, xlab = xlab, ylab = given_or(ylab, x$bws$ynames), ...)
  if (inherits(made, "kestrel_reg")) invisible(x) else made
}
