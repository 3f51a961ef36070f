# Partially linear regressions: coefficients, fits and methods.

#' Partially linear regression
#'
#' Estimates the coefficients b and the smooth function g of the model y = x b + g(z) + error (Robinson 1988).
#' Regressors may be numbers and factors. Names, arguments and fields are those of package \pkg{np}.
#'
#' Let y~ and x~ be the residuals of the kernel regressions of y and of the columns of x on z. Then b is the coefficient
#' of the regression of y~ on x~ by least squares, without a constant. The estimate of g is the fit of y minus the
#' fits of x times b. The covariance matrix of b is s^2 (x~' x~)^-1, where s^2 is the sum of squared residuals divided
#' by n - p - q, with p columns in x and q variables in z, as in \pkg{np}. It assumes errors of one variance.
#'
#' These numbers are those of \pkg{np} 0.60, except for factors in x with more than two levels (see [npplregbw()]).
#' `predict()` in \pkg{np} has no standard errors either.
#'
#' @param bws a bandwidth object of [npplregbw()]; or a matrix of bandwidths, as there, for `txdat`, `tydat` and
#'   `tzdat`; or a formula `y ~ x | z`.
#' @param txdat,tydat,tzdat the data, as `xdat`, `ydat` and `zdat` of [npplregbw()]. With a bandwidth object they are
#'   other data, with its bandwidths and kernels.
#' @param exdat,ezdat points to evaluate the model at, if not at the data.
#' @param eydat responses there.
#' @param data,subset,na.action with a formula, as in [npplregbw()]. `data` may be the second argument.
#' @param newdata points as a data frame with the variables of the formula, or with the names of x and z.
#' @param y.eval if TRUE, take responses at the points from `newdata`.
#' @param residuals if TRUE, keep the residuals in the field `resid`.
#' @param threads,verbose as in [npregbw()].
#' @param ... for a formula or a matrix arguments of [npregbw()].
#' @return An object of class `c("kestrel_plreg", "plregression")`, a list with
#'   \item{xcoef, xcoeferr, xcoefvcov}{the coefficients, their standard errors and covariance matrix}
#'   \item{mean}{the fit at the points}
#'   \item{evalx, evalz}{the points, data frames}
#'   \item{resid}{residuals at the data, or at points with responses; NA unless asked for}
#'   \item{bws, bw}{the bandwidth object, and its bandwidths, a matrix with a row for each regression}
#'   \item{R2, MSE, MAE, MAPE, CORR, SIGN}{measures of the fit, as in [npreg()]}
#'   and `nobs`, `ntrain`, `trainiseval`, `xndim`, `zndim`, `data.xnames`, `data.znames`, `regtype`, `rows.omit`,
#'   `nobs.omit`, `seconds`, `call`.
#'
#'   `coef()` returns the coefficients, with `errors = TRUE` their standard errors, `vcov()` their covariance matrix,
#'   `fitted()`, `residuals()` and `predict()` numbers, and `plot()` draws the fit as each regressor varies.
#' @section Units: A coefficient has the units of the response divided by those of its regressor.
#' @section Errors: Errors of class `kestrel_error_input` are for a linear regressor that z or the others determine, up
#'   to rounding, for no more observations than variables, and for points that are not like the data. The errors of
#'   [npplregbw()] can occur, too.
#' @section Cost: p + 1 kernel regressions, see [npreg()]. Unless `bws` is a bandwidth object or a matrix, the cost of
#'   [npplregbw()] is added.
#' @references Robinson, P.M. (1988) Root-n-consistent semiparametric regression. *Econometrica* **56**, 931-954.
#'
#'   Gao, Q., Liu, L. & Racine, J.S. (2015) A partially linear kernel estimator for categorical data. *Econometric
#'   Reviews* **34**, 959-978.
#'
#'   Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 7.
#' @seealso [npplregbw()]
#' @examples
#' fit <- npplreg(mpg ~ hp + qsec | wt, data = mtcars)
#' summary(fit)
#' coef(fit)
#' predict(fit, data.frame(hp = 100, qsec = 17, wt = 2:4))
#' plot(fit)
#' @export
npplreg <- function(bws, txdat, tydat, tzdat, exdat = NULL, eydat = NULL, ezdat = NULL, ..., data = NULL, subset,
                    newdata = NULL, y.eval = FALSE, residuals = FALSE, na.action = NULL, threads = NULL,
                    verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  check_known("npplreg", Filter(nzchar, given_names(...)),
              c(names(formals(npplreg)), names(formals(npplregbw)), setdiff(npregbw_arguments(), "w")))
  if (missing(bws)) abort_input("`bws` must be a bandwidth object of npplregbw(), a formula or a matrix.")
  verbose <- asked_verbose(verbose)
  wanted <- list(residuals = check_flag(residuals, "residuals"), y.eval = check_flag(y.eval, "y.eval"), eydat = eydat)
  if (inherits(bws, "formula")) {
    own <- c("newdata", "y.eval", "residuals", "exdat", "eydat", "ezdat")
    bws <- eval(formula_call(call[!names(call) %in% own], "txdat", npplregbw), parent.frame())
    bws$call <- call
  } else if (!missing(txdat) || !missing(tydat) || !missing(tzdat)) {
    if (missing(txdat) || missing(tydat) || missing(tzdat)) {
      abort_input("`txdat`, `tydat` and `tzdat` must all be given, or none.")
    }
    bws <- npplregbw(named_column(txdat, "txdat"), named_column(tydat, "tydat"), named_column(tzdat, "tzdat"), bws,
                     FALSE, ..., na.action = na.action, threads = threads, verbose = verbose)
    bws$call <- call
  } else {
    check_object(bws, "bws", "kestrel_plbw")
    check_arguments("npplreg", given_names(...))
  }
  points <- plreg_points(bws, newdata, exdat, ezdat)
  responses <- plreg_responses(bws, newdata, points, wanted)
  made <- fit_partially_linear(bws, points, run_options(threads, "cpu"), threads, verbose)
  y <- if (is.null(points)) bws$bw[[1L]]$y else responses
  measures <- measures_at(if (is.null(y)) bws$bw[[1L]]$y else y, if (is.null(y)) made$inside else made$mean)
  structure(c(made[c("xcoef", "xcoeferr", "xcoefvcov", "mean")],
              list(evalx = if (is.null(points)) bws$x else points$x,
                   evalz = if (is.null(points)) z_of(bws) else points$z,
                   resid = if (wanted$residuals && !is.null(y)) y - made$mean else NA,
                   bws = made$bws, bw = plbw_table(made$bws), inside = made$inside),
              measures,
              list(nobs = length(made$mean), ntrain = bws$nobs, trainiseval = is.null(points), xndim = bws$xndim,
                   zndim = bws$zndim, data.xnames = bws$xnames, data.znames = bws$znames, regtype = bws$regtype,
                   residuals = wanted$residuals, rows.omit = bws$rows.omit, nobs.omit = bws$nobs.omit, call = call,
                   seconds = proc.time()[["elapsed"]] - started)),
            class = c("kestrel_plreg", "plregression"))
}

z_of <- function(bws) {
  first <- bws$bw[[1L]]
  if (is_frame(first$x)) first$x else frame_of(list(in_dates(first$x, first$dates)), first$xnames)
}

# The points: data frames x and z, or NULL for the data.
plreg_points <- function(bws, newdata, exdat, ezdat) {
  if (is.null(newdata) && is.null(exdat) && is.null(ezdat)) return(NULL)
  if (!is.null(newdata) && (!is.null(exdat) || !is.null(ezdat))) {
    abort_input("`newdata` must not be given together with `exdat` or `ezdat`.")
  }
  if (is.null(newdata) && (is.null(exdat) || is.null(ezdat))) {
    abort_input("`exdat` and `ezdat` must both be given, or none.")
  }
  z <- z_of(bws)
  side <- function(data, names, terms, points, argument) {
    mixed_evaluation_points(list(x = data, xnames = names, ndim = length(names), terms = terms), newdata, points,
                            argument)
  }
  x <- side(bws$x, bws$xnames, bws$terms$x, exdat, "exdat")
  z <- side(z, bws$znames, bws$terms$z, ezdat, "ezdat")
  if (.row_names_info(x, 2L) != .row_names_info(z, 2L)) {
    abort_input("`ezdat` must have as many rows as `exdat`, ", .row_names_info(x, 2L), ", not ",
                .row_names_info(z, 2L), ".")
  }
  list(x = x, z = z)
}

# Responses at the points, NULL if there are none.
plreg_responses <- function(bws, newdata, points, wanted) {
  known <- list(terms = bws$terms$y, ynames = bws$ynames)
  responses_at(known, newdata, if (!is.null(points)) .row_names_info(points$x, 2L), wanted)
}

# The coefficients with their errors, and the fit at the points (NULL: at the data) and `inside`, at the data.
fit_partially_linear <- function(bws, points, run, threads, verbose) {
  fits <- lapply(bws$bw, function(one) npreg.kestrel_regbw(one, se = FALSE, threads = threads, verbose = verbose))
  bws$bw <- lapply(fits, `[[`, "bws")
  residuals <- vapply(fits, function(fit) fit$resid, numeric(bws$nobs))
  names <- names(bws$bw)[-1L]
  y <- residuals[, 1L]
  x <- residuals[, -1L, drop = FALSE]
  size <- sqrt(colSums(x^2))
  whole <- apply(bws$design, 2L, function(column) sqrt(sum((column - mean(column))^2)))
  made <- qr(x / rep(ifelse(size > 0, size, 1), each = nrow(x)), tol = 1e-9)
  bad <- if (made$rank < ncol(x)) made$pivot[made$rank + 1L] else which(!(size > 1e-10 * whole))[1L]
  if (!is.na(bad)) {
    abort_input("`xdat` must have columns that neither `zdat` nor its other columns determine; `", names[bad],
                "` is determined.")
  }
  free <- bws$nobs - ncol(x) - bws$zndim
  if (free < 1L) {
    abort_input("`xdat` must have more rows than there are variables, not ", bws$nobs, " rows for ",
                ncol(x) + bws$zndim, ".")
  }
  coefficients <- qr.coef(made, y) / size
  off <- y - as.vector(x %*% coefficients)
  vcov <- sum(off^2) / free * chol2inv(qr.R(made)) / outer(size, size)
  dimnames(vcov) <- list(names, names)
  inside <- bws$bw[[1L]]$y - off
  at <- if (is.null(points)) inside else plreg_values(bws, coefficients, points, run)
  list(xcoef = stats::setNames(coefficients, names), xcoeferr = stats::setNames(sqrt(diag(vcov)), names),
       xcoefvcov = vcov, mean = at, inside = inside, bws = bws)
}

# x b, and the fit of y minus those of x times b.
plreg_values <- function(bws, coefficients, points, run) {
  z <- if (is_mixed_object(bws$bw[[1L]])) points$z else unclass(points$z)[[1L]]
  fits <- vapply(bws$bw, function(one) values_at(list(bws = one), z, FALSE, run)$mean,
                 numeric(.row_names_info(points$x, 2L)))
  fits <- matrix(fits, ncol = length(bws$bw))
  x <- linear_design(points$x)$matrix
  mean <- as.vector(x %*% coefficients + fits[, 1L] - fits[, -1L, drop = FALSE] %*% coefficients)
  missing <- Reduce(`|`, lapply(c(unclass(points$x), unclass(points$z)), is.na))
  lost <- sum(is.na(mean) & !missing)
  if (lost > 0L) {
    warn_support(lost, " of ", length(mean), " points ", if (lost == 1L) "has" else "have",
                 " no observation within the bandwidths of z: ", if (lost == 1L) "its" else "their", " fit is NA.")
  }
  mean
}

#' @rdname npplreg
#' @param object,x a result of `npplreg()`.
#' @export
predict.kestrel_plreg <- function(object, newdata = NULL, exdat = NULL, ezdat = NULL, ..., verbose = NULL) {
  check_arguments("predict", given_names(...))
  check_object(object, "object", "kestrel_plreg")
  points <- plreg_points(object$bws, newdata, exdat, ezdat)
  if (is.null(points)) return(stats::napredict(object$bws$na.action, object$inside))
  plreg_values(object$bws, unname(object$xcoef), points, run_options())
}

#' @rdname npplreg
#' @export
fitted.kestrel_plreg <- function(object, ...) {
  check_object(object, "object", "kestrel_plreg")
  if (object$trainiseval) stats::napredict(object$bws$na.action, object$mean) else object$mean
}

#' @rdname npplreg
#' @export
residuals.kestrel_plreg <- function(object, ...) {
  check_object(object, "object", "kestrel_plreg")
  stats::naresid(object$bws$na.action, object$bws$bw[[1L]]$y - object$inside)
}

#' @rdname npplreg
#' @param errors if TRUE, give standard errors.
#' @export
coef.kestrel_plreg <- function(object, errors = FALSE, ...) {
  check_object(object, "object", "kestrel_plreg")
  if (check_flag(errors, "errors")) object$xcoeferr else object$xcoef
}

#' @rdname npplreg
#' @export
vcov.kestrel_plreg <- function(object, ...) check_object(object, "object", "kestrel_plreg")$xcoefvcov

plreg_lines <- function(fit) {
  bws <- fit$bws
  c("Partially linear regression",
    call_lines(fit$call),
    label_line("n", plbw_size(bws)),
    label_line("regression", plbw_text(bws)),
    label_line("kernel", kernel_text(bws$bw[[1L]])),
    if (!fit$trainiseval) label_line("points", format(fit$nobs, big.mark = ",")),
    label_line("residual sd", format_short(sqrt(fit$MSE))),
    label_line("R-squared", format(fit$R2, digits = 4)))
}

plreg_table <- function(fit) {
  z <- fit$xcoef / fit$xcoeferr
  cbind(estimate = fit$xcoef, error = fit$xcoeferr, z = z, P = 2 * stats::pnorm(-abs(z)))
}

#' @rdname npplreg
#' @export
print.kestrel_plreg <- function(x, ...) {
  check_object(x, "x", "kestrel_plreg")
  cat(plreg_lines(x), "", "Coefficients:", sep = "\n")
  print(noquote(apply(plreg_table(x), c(1L, 2L), format_short)), right = TRUE)
  invisible(x)
}

#' @rdname npplreg
#' @export
summary.kestrel_plreg <- function(object, ...) {
  check_object(object, "object", "kestrel_plreg")
  structure(list(fit = object), class = "summary.kestrel_plreg")
}

#' @export
print.summary.kestrel_plreg <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_plreg")
  fit <- x$fit
  print(fit)
  cat("", label_line("errors", named_values(fit, c("MSE", "MAE", "MAPE"))),
      label_line("agreement", named_values(fit, c("CORR", "SIGN"))),
      label_line("residuals", quartiles(fit$bws$bw[[1L]]$y - fit$inside)), "", "Bandwidths:", sep = "\n")
  print(noquote(apply(fit$bw, c(1L, 2L), format_short)), right = TRUE)
  invisible(x)
}

#' @rdname npplreg
#' @param col,xlab,ylab,main,drawpoints,neval,xtrim,xq,common.scale,plot.par.mfrow,plot.behavior as in
#'   [plot.kestrel_reg()].
#' @export
plot.kestrel_plreg <- function(x, drawpoints = FALSE, col = NULL, xlab = NULL, ylab = NULL, main = NULL, neval = 50,
                               xtrim = 0, xq = 0.5, common.scale = TRUE, plot.par.mfrow = TRUE,
                               plot.behavior = c("plot", "plot-data", "data"), ...) {
  check_object(x, "x", "kestrel_plreg")
  run <- run_options()
  z <- seq_len(x$bws$zndim)
  x_of <- seq_len(x$bws$xndim)
  plot_partial(x, c(unclass(x$bws$x)[x_of], unclass(z_of(x$bws))[z]), c(x$bws$xnames, x$bws$znames), x$bws$ynames,
               x$bws$bw[[1L]]$y, function(points) {
    columns <- unclass(points)
    plreg_values(x$bws, unname(x$xcoef), list(x = frame_of(columns[x_of], x$bws$xnames),
                                              z = frame_of(columns[length(x_of) + z], x$bws$znames)), run)
  }, list(drawpoints = drawpoints, col = col, xlab = xlab, ylab = ylab, main = main, neval = neval, xtrim = xtrim,
          xq = xq, common = common.scale, mfrow = plot.par.mfrow, behavior = plot.behavior), ...)
}
