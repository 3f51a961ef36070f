#' Methods for kernel quantile regressions
#'
#' Methods that print the results of [npqreg()], and give quantiles, standard errors, gradients and predictions.
#'
#' Where `na.action = na.exclude` left rows out, `fitted()`, `quantile()`, `se()`, `gradients()` and `predict()` without
#' `newdata` have NA in their positions, so that they are as long as the data.
#'
#' @param object,x an object made by [npqreg()].
#' @param newdata,exdat points to predict at, as in [npqreg()]; the data if not given.
#' @param se.fit if TRUE, give standard errors too.
#' @param tau the probability, if not that of the object.
#' @param verbose as in [npregbw()].
#' @param ... not used.
#' @param row.names,optional not used; arguments of the generic.
#' @return `predict()` returns a numeric vector with one value for each point, and with `se.fit` a list with `fit` and
#'   `se.fit`. `fitted()` and `quantile()` return the quantiles, `se()` their standard errors, and `gradients()` a
#'   matrix with a column for each variable of x, at the points where they were evaluated. `as.data.frame()` returns one
#'   row for each of these points, with the columns, `quantile` and `quanterr`. `summary()` returns a list with the
#'   object, and `nobs()` the number of observations. `print()` returns its argument invisibly.
#' @section Units: As in [npqreg()].
#' @section Errors: Errors of class `kestrel_error_input` are for points that are infinite or of another type than the
#'   data, for a `tau` that is not between 0 and 1, and for arguments that `predict()` does not have.
#' @section Cost: That of [npqreg()] at the points; at the data, with the same `tau`, nothing.
#' @references Li, Q. & Racine, J.S. (2008) Nonparametric estimation of conditional CDF and quantile functions with
#'   mixed categorical and continuous data. *Journal of Business & Economic Statistics* **26**, 423-434.
#' @examples
#' fit <- npqreg(bws = c(3, 0.3), txdat = faithful$eruptions, tydat = faithful$waiting)
#' summary(fit)
#' predict(fit, exdat = 2:4, tau = 0.25, se.fit = TRUE)
#' head(gradients(fit))
#' @name kestrel_qreg-methods
#' @aliases print.kestrel_qreg
NULL

#' @rdname kestrel_qreg-methods
#' @export
predict.kestrel_qreg <- function(object, newdata = NULL, se.fit = FALSE, exdat = NULL, tau = object$tau, ...,
                                 verbose = NULL) {
  check_arguments("predict", given_names(...), character(0))
  check_object(object, "object", "kestrel_qreg")
  verbose <- asked_verbose(verbose)
  se.fit <- check_flag(se.fit, "se.fit")
  asked <- quantile_choices(tau, FALSE)
  stored <- is.null(newdata) && is.null(exdat) && object$trainiseval && asked$tau == object$tau
  at <- if (stored) object else estimate_quantile(object$bws, newdata, exdat, asked, NULL, verbose, object$call)
  fit <- quantile_in_place(at, at$quantile)
  if (se.fit) list(fit = fit, se.fit = quantile_in_place(at, at$quanterr)) else fit
}

# With NA for the rows left out, at the data.
quantile_in_place <- function(fit, value) {
  if (fit$trainiseval) stats::napredict(fit$bws$na.action, value) else value
}

#' @rdname kestrel_qreg-methods
#' @export
fitted.kestrel_qreg <- function(object, ...) {
  check_object(object, "object", "kestrel_qreg")
  quantile_in_place(object, object$quantile)
}

#' @rdname kestrel_qreg-methods
#' @importFrom stats quantile
#' @export
quantile.kestrel_qreg <- function(x, ...) {
  check_object(x, "x", "kestrel_qreg")
  quantile_in_place(x, x$quantile)
}

#' @rdname kestrel_qreg-methods
#' @export
se.kestrel_qreg <- function(object, ...) {
  check_object(object, "object", "kestrel_qreg")
  quantile_in_place(object, object$quanterr)
}

#' @rdname kestrel_qreg-methods
#' @export
gradients.kestrel_qreg <- function(x, ...) {
  check_object(x, "x", "kestrel_qreg")
  value <- x$quantgrad
  if (identical(value, NA)) {
    points <- if (!x$trainiseval) x$xeval
    value <- quantiles_at(x$bws, points, list(tau = x$tau, gradients = TRUE), run_options(NULL, "cpu"))$grad
  }
  quantile_in_place(x, value)
}

#' @rdname kestrel_qreg-methods
#' @export
nobs.kestrel_qreg <- function(object, ...) check_object(object, "object", "kestrel_qreg")$bws$nobs

#' @rdname kestrel_qreg-methods
#' @export
formula.kestrel_qreg <- function(x, ...) density_formula(check_object(x, "x", "kestrel_qreg")$bws, parent.frame())

#' @rdname kestrel_qreg-methods
#' @export
as.data.frame.kestrel_qreg <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_qreg")
  values <- data.frame(quantile = x$quantile, quanterr = x$quanterr)
  cbind(stats::setNames(x$xeval, beside(names(values), names(x$xeval))), values)
}

quantile_lines <- function(fit) {
  core <- density_core(fit$bws)
  c("Kernel quantile regression",
    call_lines(fit$call),
    label_line("n", density_size(fit$bws)),
    label_line("quantile", paste(format_short(fit$tau), density_text(core))),
    label_line("kernel", mixed_kernel_text(core)),
    label_line("bandwidth", mixed_bandwidth_text(core)),
    label_line("selection", fit$bws$pmethod),
    if (!fit$trainiseval) label_line("evaluated at", format(fit$nobs, big.mark = ",")),
    label_line("engine", paste0(fit$engine, " on ", fit$backend, ", ", format_short(fit$seconds), " s")))
}

#' @rdname kestrel_qreg-methods
#' @export
print.kestrel_qreg <- function(x, ...) {
  check_object(x, "x", "kestrel_qreg")
  cat(quantile_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname kestrel_qreg-methods
#' @export
summary.kestrel_qreg <- function(object, ...) {
  check_object(object, "object", "kestrel_qreg")
  structure(list(fit = object), class = "summary.kestrel_qreg")
}

#' @export
print.summary.kestrel_qreg <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_qreg")
  cat(quantile_lines(x$fit), label_line("quantiles", quartiles(x$fit$quantile)),
      label_line("errors", quartiles(x$fit$quanterr)), sep = "\n")
  invisible(x)
}

#' Plot a kernel quantile regression
#'
#' With one variable of x the plot shows the data and the quantile with its confidence band, and with two numbers a
#' surface. Otherwise there is a plot for each variable of x, along which the others stay at their medians or most
#' frequent levels, as in \pkg{np}.
#'
#' @param x an object made by [npqreg()].
#' @param band if TRUE, draw the confidence band, the quantile -+ 1.96 standard errors.
#' @param drawpoints if TRUE, draw the data; by default with one variable of x.
#' @inheritParams plot.kestrel_dens
#' @return `x`, invisibly. With `plot.behavior = "data"` or `"plot-data"` a list with an entry for each plot, `qr1`,
#'   `qr2`, ..., with the points `xeval`, `quantile` and `quanterr` there.
#' @section Units: The vertical axis is in the units of y, and the others in those of x.
#' @section Errors: Errors of class `kestrel_error_input` are for arguments of another type, and for graphical
#'   parameters that R does not know or cannot draw with.
#' @section Cost: That of [predict()][predict.kestrel_qreg] at the points that are drawn: 50 for each column of numbers,
#'   or 2,500 for a surface.
#' @references Li, Q. & Racine, J.S. (2008) Nonparametric estimation of conditional CDF and quantile functions with
#'   mixed categorical and continuous data. *Journal of Business & Economic Statistics* **26**, 423-434.
#' @examples
#' plot(npqreg(bws = c(3, 0.3), txdat = faithful$eruptions, tydat = faithful$waiting, tau = 0.9))
#' @export
plot.kestrel_qreg <- function(x, band = TRUE, drawpoints = NULL, col = NULL, xlab = NULL, ylab = NULL, main = NULL,
                              lwd = 2, lty = 1, neval = 50, xtrim = 0, xq = 0.5, common.scale = TRUE,
                              perspective = TRUE, plot.par.mfrow = TRUE,
                              plot.behavior = c("plot", "plot-data", "data"), plot.errors.style = c("band", "bar"),
                              theta = 40, phi = 20, zlab = NULL, ...) {
  check_object(x, "x", "kestrel_qreg")
  core <- given_core(x$bws)
  run <- run_options()
  values_at <- function(points) {
    at <- quantiles_at(x$bws, points, list(tau = x$tau, gradients = FALSE), run)
    list(mean = at$quantile, se = at$se)
  }
  behavior <- check_choice(plot.behavior, c("plot", "plot-data", "data"), "plot.behavior")
  panels <- partial_panels(core, values_at, paste0(format_short(x$tau), " quantile of ", x$ynames), list(
    band = band, col = col, xlab = xlab, ylab = ylab, main = main, lwd = lwd, lty = lty, neval = neval, xtrim = xtrim,
    xq = xq, common.scale = common.scale, perspective = perspective, plot.par.mfrow = plot.par.mfrow,
    plot.errors.style = plot.errors.style, theta = theta, phi = phi, zlab = zlab,
    drawpoints = if (is.null(drawpoints)) core$ndim == 1L else drawpoints
  ), behavior != "data", ...)
  if (behavior == "plot") return(invisible(x))
  made <- lapply(panels, function(panel) {
    list(xbw = x$xbw, ybw = x$ybw, bws = x$bws, xeval = panel$points, tau = x$tau, quantile = panel$mean,
         quanterr = panel$se, ntrain = x$ntrain, trainiseval = FALSE)
  })
  stats::setNames(made, paste0("qr", seq_along(made)))
}
