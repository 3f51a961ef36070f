#' Methods for distribution function estimates
#'
#' Printing, summaries, values at new points and plots of the results of [kcde()]. `lines()` adds the curve of an
#' estimate of one variable to a plot that is there, `points()` its values.
#'
#' @param x,object an object made by [kcde()]; for `predict()`, `x` is another name of `newdata`, as in \pkg{ks}.
#' @param newdata points: a numeric vector (d = 1; for d > 1 a vector of length d is one point), or a matrix or data
#'   frame with d columns. Columns with names are matched to the variables by them, in any order, and other names are an
#'   error; columns without names are taken as they stand. Coordinates may be infinite.
#' @param ... further graphical parameters, as in [plot.kestrel_kde()]; not used by the methods that do not draw.
#' @param interval,level,method,B for estimates of one variable: a confidence band, see [bands].
#' @param row.names,optional not used; arguments of the generic.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @param display in two dimensions `"persp"`, a surface, `"filled.contour"`, regions between lines of equal
#'   probability, `"slice"`, lines only (the default with `add = TRUE`), or `"image"`. No effect in one dimension.
#' @param cont the percentages at which lines are drawn, for `"filled.contour"`, `"slice"` and, only if given,
#'   `"image"`.
#' @param abs.cont probabilities at which lines are drawn, in place of `cont`.
#' @param drawpoints,add,drawlabels,xlab,ylab,zlab,main,col,col.fun,col.cont,col.pt,lwd,alpha,d as in
#'   [plot.kestrel_kde()].
#' @return `predict()` returns a numeric vector of probabilities, of the tail that `object` has, and with a band a
#'   matrix with columns `fit`, `lwr` and `upr`. `as.data.frame()` returns one row for each point, with `estimate` and,
#'   with a band, `lower` and `upper`. `summary()` returns a list of class
#'   `"summary.kestrel_kcde"` with `fhat` and `quantiles`, a matrix with the 5, 25, 50, 75 and 95 % quantiles of each
#'   variable. The other methods return their argument invisibly.
#' @section Units: Points and quantiles are in those of the variables, probabilities have none.
#' @section Errors: Errors of class `kestrel_error_input` are for points that are missing or of another dimension. In
#'   `plot()` they are for an estimate that is not on a grid or has three dimensions, and for invalid arguments.
#' @section Cost: `predict()` that of [kcde()] at as many points; `summary()` five quantiles of [qkde()] for each
#'   variable; `plot()` O(grid points).
#' @references Duong, T. (2016) Non-parametric smoothed estimation of multivariate cumulative distribution and survival
#'   functions, and receiver operating characteristic curves. *Journal of the Korean Statistical Society* **45**, 33-50.
#' @examples
#' Fhat <- kcde(faithful)
#' summary(Fhat)
#' predict(Fhat, rbind(c(4, 80), c(4, Inf)))
#' plot(Fhat)
#' plot(Fhat, display = "slice", cont = c(25, 50, 75))
#' @name kestrel_kcde-methods
#' @aliases print.kestrel_kcde
NULL

#' @rdname kestrel_kcde-methods
#' @export
predict.kestrel_kcde <- function(object, newdata, ..., x, interval = c("none", "pointwise", "simultaneous"),
                                 level = 0.95, method = c("bootstrap", "asymptotic"), B = 500, verbose = NULL) {
  check_object(object, "object", "kestrel_kcde")
  band <- asked_band(object, interval, level, method, B)
  verbose <- asked_verbose(verbose)
  points <- points_to_predict(newdata, x, ...)
  points$value <- in_order_of(points$value, object$names, points$name)
  checked <- check_points(points$value, dimension(object), points$name, limits = TRUE)
  with_progress(verbose, "Distribution function", function(progress) {
    run <- c(run_options(), progress = progress)
    fit <- probability_at(object, checked, object$tail, run, "object")
    if (is.null(band)) fit else with_limits(band_at(object, checked, band, run), fit)
  })
}

#' @rdname kestrel_kcde-methods
#' @export
as.data.frame.kestrel_kcde <- function(x, row.names = NULL, optional = FALSE, ...,
                                       interval = c("none", "pointwise", "simultaneous"), level = 0.95,
                                       method = c("bootstrap", "asymptotic"), B = 500) {
  check_object(x, "x", "kestrel_kcde")
  estimate_frame(x, asked_band(x, interval, level, method, B, "x"), TRUE)
}

#' @rdname kestrel_kcde-methods
#' @export
print.kestrel_kcde <- function(x, ...) {
  check_object(x, "x", "kestrel_kcde")
  cat(density_lines(x, tail_title(x)), sep = "\n")
  invisible(x)
}

tail_title <- function(fhat) paste("Kernel estimate of a", tolower(tail_text(fhat)))

tail_text <- function(fhat) if (fhat$tail == "upper.tail") "Survival function" else "Distribution function"

#' @rdname kestrel_kcde-methods
#' @export
summary.kestrel_kcde <- function(object, ...) {
  check_object(object, "object", "kestrel_kcde")
  p <- c(0.05, 0.25, 0.5, 0.75, 0.95)
  quantiles <- vapply(seq_len(dimension(object)), function(k) {
    sample <- sample_cpp(points_to_line(object$transform, sample_matrix(object))[, k], object$w)
    task <- list(at = p, kernel = object$kernel, h = sqrt(as.matrix(object$H)[k, k]))
    from_line(object$transform, distribution_quantiles_cpp(sample, task, run_options()), k)
  }, p)
  dimnames(quantiles) <- list(paste0(100 * p, "%"), object$names)
  structure(list(fhat = object, quantiles = t(quantiles)), class = "summary.kestrel_kcde")
}

#' @export
print.summary.kestrel_kcde <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_kcde")
  cat(density_lines(x$fhat, tail_title(x$fhat)), sep = "\n")
  for (k in seq_len(nrow(x$quantiles))) {
    cat(label_line(if (k == 1L) "quantiles" else "", paste0(
      if (nrow(x$quantiles) > 1L) paste0(rownames(x$quantiles)[k], ": "),
      paste0(colnames(x$quantiles), " at ", format_short(x$quantiles[k, ]), collapse = ", ")
    )), sep = "\n")
  }
  invisible(x)
}

#' @rdname kestrel_kcde-methods
#' @export
plot.kestrel_kcde <- function(x, display = NULL, cont = seq(10, 90, by = 10), abs.cont = NULL, drawpoints = FALSE,
                              add = FALSE, drawlabels = TRUE, xlab = NULL, ylab = NULL, zlab = NULL, main = NULL,
                              col = NULL, col.fun = NULL, col.cont = NULL, col.pt = NULL, lwd = NULL, alpha = 1,
                              d = 4, interval = c("none", "pointwise", "simultaneous"), level = 0.95,
                              method = c("bootstrap", "asymptotic"), B = 500, ...) {
  check_object(x, "x", "kestrel_kcde")
  band <- asked_band(x, interval, level, method, B, "x")
  if (!x$gridded) abort_input("`x` must be an estimate on a grid to be plotted, not one at given points.")
  variables <- dimension(x)
  if (is.null(display) && !isTRUE(add)) display <- "persp"
  if (variables > 2L) abort_input("`x` must have one or two dimensions to be plotted, not ", variables, ".")
  style <- check_style(list(col = col, col.fun = col.fun, col.cont = col.cont, col.pt = col.pt, lwd = lwd,
                            alpha = alpha, drawpoints = drawpoints, drawlabels = drawlabels, add = add, xlab = xlab,
                            ylab = if (variables == 1L && is.null(ylab)) tail_text(x) else ylab,
                            zlab = given_or(zlab, tail_text(x)), main = main, d = d), list(...))
  style$top <- 1
  style$display <- check_display(display, variables, style$add)
  more <- parameters_for(list(...), style$display)
  level <- if (is.null(abs.cont)) check_content(cont) / 100 else check_between(abs.cont, 1, "abs.cont")
  level <- sort(unique(level))
  regions <- list(level = level, label = format_short(level))
  if (style$display == "image" && missing(cont) && is.null(abs.cont)) regions <- NULL
  if (variables == 1L) plot_curve(x, NULL, style, more, drawn_band(x, band)) else plot_plane(x, regions, style, more)
  invisible(x)
}
