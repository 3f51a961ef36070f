# Regressions whose coefficients are smooth functions: fits and methods.

#' Smooth coefficient regression
#'
#' Estimates the model y = gamma_0(z) + x gamma(z) + error, whose coefficients are functions of z. At every point z they
#' are those of a least squares fit of y on x and a constant, with the kernel weights of z (Li & Racine 2007, ch. 9).
#' Variables may be
#' numbers and factors. Names, arguments and fields are those of package \pkg{np}.
#'
#' The fit and the coefficients at a point are weighted sums of the responses, sum_i l_i y_i. Their standard errors are
#' sqrt(sum_i l_i^2 e_-i^2), where e_-i is the residual of the fit that leaves observation i out, as in [npreg()].
#' \pkg{np} has the limit of small bandwidths, with residuals of the fit itself. Fits, coefficients and measures are
#' those of \pkg{np} 0.60 at the same bandwidths. Kernels of order 4, 6 and 8, with which \pkg{np} ends in an error,
#' are taken, too.
#'
#' @param bws a bandwidth object of [npscoefbw()]; or bandwidths for `txdat`, `tydat` and `tzdat`; or a formula.
#' @param txdat,tydat,tzdat the data, as `xdat`, `ydat` and `zdat` of [npscoefbw()]. With a bandwidth object they are
#'   other data, with its bandwidths and kernels.
#' @param exdat,ezdat points to evaluate the model at, if not at the data. Without `ezdat` z is x.
#' @param eydat responses there.
#' @param data,subset,na.action with a formula, as in [npscoefbw()]. `data` may be the second argument.
#' @param newdata points as a data frame with the variables of the formula, or with the names of x and z.
#' @param y.eval if TRUE, take responses at the points from `newdata`.
#' @param residuals if TRUE, keep the residuals in the field `resid`.
#' @param errors if FALSE, standard errors are not computed.
#' @param betas if TRUE, keep the coefficients in the field `beta`.
#' @param leave.one.out if TRUE, `mean` and `beta` at an observation are those of the fit without it.
#' @param iterate,maxiter,tol accepted for scripts written for \pkg{np}, without effect: they are for backfitting.
#' @param threads,verbose as in [npregbw()].
#' @param ... for a formula or bandwidths arguments of [npscoefbw()].
#' @return An object of class `c("kestrel_sc", "smoothcoefficient")`, a list with
#'   \item{mean, merr}{the fit at the points and its standard error}
#'   \item{beta, beta.err}{with `betas = TRUE` the coefficients, a matrix with a column for the constant and each column
#'     of x, and their standard errors; else NA}
#'   \item{eval}{the points, a list of the data frames `exdat` and `ezdat`}
#'   \item{resid}{residuals at the data, or at points with responses; NA unless asked for}
#'   \item{bws, bw}{the bandwidth object and its bandwidths}
#'   \item{R2, MSE, MAE, MAPE, CORR, SIGN}{measures of the fit, as in [npreg()]}
#'   and `nobs`, `ntrain`, `trainiseval`, `xnames`, `ynames`, `znames`, `n.ridged`, `rows.omit`, `nobs.omit`,
#'   `seconds`, `call`.
#'
#'   `coef()` returns the coefficients, with `errors = TRUE` their standard errors, and `fitted()`, `residuals()`,
#'   `se()` and `predict()` numbers. `plot()` draws the fit as each variable varies, or with `coef = TRUE` the
#'   coefficients.
#' @section Units: Fits are in the units of the response, coefficients in those divided by the units of x.
#' @section Errors: The errors of [npscoefbw()] can occur here, too, and errors of class `kestrel_error_input` for
#'   points that are not like the data.
#' @section Cost: A point takes O(n (p + q + k^2)), see [npscoefbw()], and with standard errors O(n k^2) more. Unless
#'   `bws` is a bandwidth object or numbers, the cost of [npscoefbw()] is added. All threads are used.
#' @references Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 9.
#'
#'   Li, Q. & Racine, J.S. (2010) Smooth varying-coefficient estimation and inference for qualitative and quantitative
#'   data. *Econometric Theory* **26**, 1607-1637.
#' @seealso [npscoefbw()]
#' @examples
#' fit <- npscoef(mpg ~ hp | wt, data = mtcars)
#' summary(fit)
#' head(coef(fit))
#' predict(fit, data.frame(hp = 100, wt = 2:4))
#' plot(fit, coef = TRUE)
#' @export
npscoef <- function(bws, txdat, tydat, tzdat = NULL, exdat = NULL, eydat = NULL, ezdat = NULL, residuals = FALSE,
                    errors = TRUE, iterate = NULL, maxiter = NULL, tol = NULL, leave.one.out = FALSE, betas = FALSE,
                    ..., data = NULL, subset, newdata = NULL, y.eval = FALSE, na.action = NULL, threads = NULL,
                    verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  check_known("npscoef", Filter(nzchar, given_names(...)), c(names(formals(npscoef)), names(formals(npscoefbw))))
  if (missing(bws)) abort_input("`bws` must be a bandwidth object of npscoefbw(), a formula or bandwidths.")
  verbose <- asked_verbose(verbose)
  wanted <- list(residuals = check_flag(residuals, "residuals"), errors = check_flag(errors, "errors"),
                 betas = check_flag(betas, "betas"), out = check_flag(leave.one.out, "leave.one.out"),
                 y.eval = check_flag(y.eval, "y.eval"), eydat = eydat)
  if (inherits(bws, "formula")) {
    own <- c("newdata", "y.eval", "residuals", "errors", "betas", "leave.one.out", "exdat", "eydat", "ezdat", "iterate",
             "maxiter", "tol")
    bws <- eval(formula_call(call[!names(call) %in% own], "txdat", npscoefbw), parent.frame())
    bws$call <- call
  } else if (!missing(txdat) || !missing(tydat)) {
    if (missing(txdat) || missing(tydat)) abort_input("`txdat` and `tydat` must both be given, or none.")
    bws <- replace(npscoefbw(txdat, tydat, tzdat, bws, FALSE, ..., na.action = na.action, threads = threads,
                             verbose = verbose), "call", list(call))
  } else {
    check_object(bws, "bws", "kestrel_scbw")
    check_arguments("npscoef", given_names(...))
  }
  points <- scoef_points(bws, newdata, exdat, ezdat)
  if (wanted$out && !is.null(points)) abort_input("`leave.one.out` must be FALSE for points other than the data.")
  responses <- responses_at(list(terms = bws$terms$y, ynames = bws$ynames), newdata,
                            if (!is.null(points)) .row_names_info(points$x, 2L), wanted)
  found <- with_progress(verbose, "Smooth coefficients", function(progress) {
    scoef_fits(bws, points, wanted$errors, c(run_options(threads, "cpu"), progress = progress))
  })
  at <- if (wanted$out) found$without else found$at
  if (!is.null(points)) warn_without_neighbours(at$mean, points)
  y <- if (is.null(points)) bws$y else responses
  measures <- measures_at(if (is.null(y)) bws$y else y, if (is.null(y)) found$inside else at$mean)
  structure(c(list(bw = bws$bw, bws = bws,
                   eval = list(exdat = if (is.null(points)) bws$x else points$x,
                               ezdat = if (is.null(points)) bws$z else points$z),
                   mean = at$mean, merr = if (wanted$errors && !wanted$out) at$se else NA,
                   beta = if (wanted$betas) at$beta else NA,
                   beta.err = if (wanted$betas && wanted$errors && !wanted$out) at$beta_se else NA,
                   resid = if (wanted$residuals && !is.null(y)) y - at$mean else NA, inside = found$inside,
                   error2 = found$error2),
              measures,
              list(nobs = length(at$mean), ntrain = bws$nobs, trainiseval = is.null(points), xnames = bws$xnames,
                   ynames = bws$ynames, znames = bws$znames, n.ridged = found$n.ridged, residuals = wanted$residuals,
                   betas = wanted$betas, rows.omit = bws$rows.omit, nobs.omit = bws$nobs.omit, call = call,
                   seconds = proc.time()[["elapsed"]] - started)),
            class = c("kestrel_sc", "smoothcoefficient"))
}

# The points: data frames x and z, or NULL for the data.
scoef_points <- function(bws, newdata, exdat, ezdat) {
  if (is.null(newdata) && is.null(exdat) && is.null(ezdat)) return(NULL)
  if (!is.null(newdata) && (!is.null(exdat) || !is.null(ezdat))) {
    abort_input("`newdata` must not be given together with `exdat` or `ezdat`.")
  }
  if (is.null(newdata) && is.null(exdat)) abort_input("`exdat` must be given together with `ezdat`.")
  if (is.null(newdata) && is.null(ezdat)) {
    if (!identical(bws$xnames, bws$znames)) abort_input("`exdat` and `ezdat` must both be given, or none.")
    ezdat <- exdat
  }
  side <- function(data, names, terms, points, argument) {
    mixed_evaluation_points(list(x = data, xnames = names, ndim = length(names), terms = terms), newdata, points,
                            argument)
  }
  x <- side(bws$x, bws$xnames, bws$terms$x, exdat, "exdat")
  z <- side(bws$z, bws$znames, bws$terms$z, ezdat, "ezdat")
  if (.row_names_info(x, 2L) != .row_names_info(z, 2L)) {
    abort_input("`ezdat` must have as many rows as `exdat`, ", .row_names_info(x, 2L), ", not ",
                .row_names_info(z, 2L), ".")
  }
  list(x = x, z = z)
}

warn_without_neighbours <- function(mean, points) {
  missing <- Reduce(`|`, lapply(c(unclass(points$x), unclass(points$z)), is.na))
  lost <- sum(is.na(mean) & !missing)
  if (lost == 0L) return(invisible())
  warn_support(lost, " of ", length(mean), " points ", if (lost == 1L) "has" else "have",
               " no observation within the bandwidths: ", if (lost == 1L) "its" else "their", " fit is NA.")
}

# The fits `at` the points (NULL: the data), those at the data `without` each observation, and `inside`, at the data.
scoef_fits <- function(bws, points, errors, run) {
  core <- scoef_core(bws)
  raw <- scoef_raw(bws)
  without <- coefficients_at(core, raw, NULL, numeric(0), TRUE, run)
  off <- bws$y - without$mean
  error2 <- ifelse(is.na(off), if (all(is.na(off))) NA_real_ else mean(off^2, na.rm = TRUE), off^2)
  inside <- coefficients_at(core, raw, NULL, if (errors && is.null(points)) error2 else numeric(0), FALSE, run)
  at <- if (is.null(points)) {
    inside
  } else {
    coefficients_at(core, raw, points, if (errors) error2 else numeric(0), FALSE, run)
  }
  list(at = at, without = without, inside = inside$mean, error2 = error2, n.ridged = inside$n.ridged)
}

# Fits and coefficients at points, NA where a value is missing.
coefficients_at <- function(core, raw, points, error2, leave_out, run) {
  columns <- unclass(if (is.null(points)) core$x else points$z)[seq_len(core$ndim)]
  plane <- core$plane
  design <- if (is.null(points)) {
    core$design
  } else {
    linear_design(unclass(points$x)[seq_along(unclass(points$x))])$matrix
  }
  known <- !Reduce(`|`, lapply(columns, is.na), rowSums(is.na(design)) > 0)
  columns <- lapply(columns, function(column) column[known])
  at <- design[known, , drop = FALSE]
  found <- mixed_coefficients_cpp(mixed_sample(core, run), mixed_task(core, raw),
                                  if (!is.null(points)) mixed_points(columns, core),
                                  core_design(core, at, error2, leave_out), run)
  # The plane of least squares, which the responses were without. Its constant is that at x = 0.
  beta <- found$beta + rep(c(plane$level - sum(plane$centre * plane$slope), plane$slope), each = nrow(found$beta))
  mean <- found$mean + plane$level + as.vector((at - rep(plane$centre, each = nrow(at))) %*% plane$slope)
  placed <- function(value) {
    whole <- matrix(NA_real_, length(known), NCOL(value))
    whole[known, ] <- value
    if (is.matrix(value)) structure(whole, dimnames = list(NULL, c("Intercept", names(plane$centre)))) else
      as.vector(whole)
  }
  made <- list(mean = placed(mean), beta = placed(beta), n.ridged = as.integer(found$ridged))
  if (length(error2) == 0L) return(made)
  c(made, list(se = placed(found$se), beta_se = placed(found$beta_se)))
}

# Fits of an object at points, with standard errors.
scoef_values <- function(object, points, errors, run = run_options()) {
  core <- scoef_core(object$bws)
  coefficients_at(core, scoef_raw(object$bws), points, if (errors) object$error2 else numeric(0), FALSE, run)
}

scoef_points_of <- function(object) {
  if (!object$trainiseval) list(x = object$eval$exdat, z = object$eval$ezdat)
}

#' @rdname npscoef
#' @param object,x a result of `npscoef()`.
#' @param se.fit if TRUE, give standard errors too.
#' @export
predict.kestrel_sc <- function(object, newdata = NULL, exdat = NULL, ezdat = NULL, se.fit = FALSE, ...,
                               verbose = NULL) {
  check_arguments("predict", given_names(...))
  check_object(object, "object", "kestrel_sc")
  se.fit <- check_flag(se.fit, "se.fit")
  points <- scoef_points(object$bws, newdata, exdat, ezdat)
  at <- scoef_values(object, points, se.fit)
  if (!is.null(points)) warn_without_neighbours(at$mean, points)
  placed <- if (is.null(points)) function(value) stats::napredict(object$bws$na.action, value) else identity
  if (se.fit) list(fit = placed(at$mean), se.fit = placed(at$se)) else placed(at$mean)
}

#' @rdname npscoef
#' @export
fitted.kestrel_sc <- function(object, ...) {
  check_object(object, "object", "kestrel_sc")
  if (object$trainiseval) stats::napredict(object$bws$na.action, object$mean) else object$mean
}

#' @rdname npscoef
#' @export
residuals.kestrel_sc <- function(object, ...) {
  check_object(object, "object", "kestrel_sc")
  stats::naresid(object$bws$na.action, object$bws$y - object$inside)
}

#' @rdname npscoef
#' @export
se.kestrel_sc <- function(object, ...) {
  check_object(object, "object", "kestrel_sc")
  value <- scoef_values(object, scoef_points_of(object), TRUE)$se
  if (object$trainiseval) stats::napredict(object$bws$na.action, value) else value
}

#' @rdname npscoef
#' @export
coef.kestrel_sc <- function(object, errors = FALSE, ...) {
  check_object(object, "object", "kestrel_sc")
  errors <- check_flag(errors, "errors")
  at <- scoef_values(object, scoef_points_of(object), errors)
  value <- if (errors) at$beta_se else at$beta
  if (object$trainiseval) stats::napredict(object$bws$na.action, value) else value
}

sc_lines <- function(fit) {
  bws <- fit$bws
  core <- scoef_core(bws)
  c("Smooth coefficient regression",
    call_lines(fit$call),
    label_line("n", size_text(core)),
    label_line("model", scbw_text(bws)),
    label_line("kernel", mixed_kernel_text(core)),
    label_line("bandwidth", mixed_bandwidth_text(core)),
    if (!fit$trainiseval) label_line("points", format(fit$nobs, big.mark = ",")),
    label_line("residual sd", format_short(sqrt(fit$MSE))),
    label_line("R-squared", format(fit$R2, digits = 4)))
}

#' @rdname npscoef
#' @export
print.kestrel_sc <- function(x, ...) {
  check_object(x, "x", "kestrel_sc")
  cat(sc_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname npscoef
#' @export
summary.kestrel_sc <- function(object, ...) {
  check_object(object, "object", "kestrel_sc")
  structure(list(fit = object, beta = coef.kestrel_sc(object)), class = "summary.kestrel_sc")
}

#' @export
print.summary.kestrel_sc <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_sc")
  fit <- x$fit
  cat(sc_lines(fit), label_line("errors", named_values(fit, c("MSE", "MAE", "MAPE"))),
      label_line("agreement", named_values(fit, c("CORR", "SIGN"))), "", "Coefficients at the points:", sep = "\n")
  table <- t(apply(x$beta, 2L, stats::quantile, na.rm = TRUE))
  colnames(table) <- c("min", "1Q", "median", "3Q", "max")
  print(noquote(apply(table, c(1L, 2L), format_short)), right = TRUE)
  invisible(x)
}

#' @rdname npscoef
#' @param coef if TRUE, draw the coefficients as each variable of z varies, one plot for each of both.
#' @param col,xlab,ylab,main,drawpoints,neval,xtrim,xq,common.scale,plot.par.mfrow,plot.behavior as in
#'   [plot.kestrel_reg()].
#' @export
plot.kestrel_sc <- function(x, coef = FALSE, drawpoints = FALSE, col = NULL, xlab = NULL, ylab = NULL, main = NULL,
                            neval = 50, xtrim = 0, xq = 0.5, common.scale = TRUE, plot.par.mfrow = TRUE,
                            plot.behavior = c("plot", "plot-data", "data"), ...) {
  check_object(x, "x", "kestrel_sc")
  bws <- x$bws
  run <- run_options()
  asked <- list(drawpoints = drawpoints, col = col, xlab = xlab, ylab = ylab, main = main, neval = neval,
                xtrim = xtrim, xq = xq, common = common.scale, mfrow = plot.par.mfrow, behavior = plot.behavior)
  if (check_flag(coef, "coef")) return(plot_coefficients(x, asked, run, ...))
  both <- setdiff(bws$znames, bws$xnames)
  columns <- c(unclass(bws$x)[seq_along(bws$xnames)], unclass(bws$z)[match(both, bws$znames)])
  names(columns) <- c(bws$xnames, both)
  plot_partial(x, columns, names(columns), bws$ynames, bws$y, function(points) {
    at <- unclass(points)
    scoef_values(x, list(x = frame_of(at[match(bws$xnames, names(columns))], bws$xnames),
                         z = frame_of(at[match(bws$znames, names(columns))], bws$znames)), FALSE, run)$mean
  }, asked, ...)
}

# A row of plots for each coefficient.
plot_coefficients <- function(x, asked, run, ...) {
  bws <- x$bws
  names <- c("Intercept", colnames(bws$design))
  asked$drawpoints <- FALSE
  behavior <- check_choice(asked$behavior, c("plot", "plot-data", "data"), "plot.behavior")
  if (check_flag(asked$mfrow, "plot.par.mfrow") && behavior != "data") {
    before <- graphics::par(mfrow = c(length(names), length(bws$znames)))
    on.exit(graphics::par(before))
  }
  asked$mfrow <- FALSE
  held <- frame_of(lapply(unclass(bws$x)[seq_along(bws$xnames)], `[`, 1L), bws$xnames)
  asked$behavior <- if (behavior == "plot") "plot-data" else behavior
  made <- lapply(seq_along(names), function(k) {
    plot_partial(x, unclass(bws$z)[seq_along(bws$znames)], bws$znames, names[k], bws$y, function(points) {
      rows <- rep(1L, .row_names_info(points, 2L))
      at <- frame_of(lapply(unclass(held), `[`, rows), bws$xnames)
      scoef_values(x, list(x = at, z = points), FALSE, run)$beta[, k]
    }, asked, ...)
  })
  names(made) <- names
  if (behavior == "plot") invisible(x) else made
}
