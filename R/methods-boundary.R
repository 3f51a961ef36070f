#' Methods for densities with boundary kernels and truncated densities
#'
#' Printing, summaries, values at new points, data frames, contour levels and plots of the results of [kde.boundary()]
#' and [kde.truncate()].
#'
#' @param x,object a result of [kde.boundary()] or [kde.truncate()]; for `predict()`, `x` is another name of `newdata`,
#'   as in \pkg{ks}.
#' @param newdata points, as for [predict()][predict.kestrel_kde].
#' @param ... for `plot()` the arguments of [plot.kestrel_kde()], for `contourLevels()` those of [contourLevels()];
#'   otherwise not used.
#' @param threads the number of threads.
#' @param verbose TRUE to show progress, as in [kde()].
#' @param row.names,optional not used; arguments of the generic.
#' @return `predict()` returns a vector of densities, 0 beyond the bounds. `as.data.frame()` returns a row for each
#'   point: its coordinates and `estimate`. `contourLevels()` returns levels as for [kde()]; of a truncated estimate
#'   they are for the data within the boundary. The other methods return their argument invisibly. Plots and levels take
#'   0 for negative values of linear kernels.
#' @section Units: Points are in units of the variables, densities in 1 / volume.
#' @section Errors: Errors of class `kestrel_error_input` are for points that are missing, infinite or of another
#'   dimension, and for plots of estimates that are not on a grid of one or two dimensions.
#' @section Cost: `predict()` as [kde.boundary()] at as many points; `contourLevels()` and `plot()` O(n) and the grid.
#' @references Hazelton, M.L. & Marshall, J.C. (2009) Linear boundary kernels for bivariate density estimation.
#'   *Statistics & Probability Letters* **79**, 999-1003.
#' @seealso [kde.boundary()], [kde.truncate()]
#' @examples
#' fhat <- kde.boundary(faithful$eruptions - 1.6, xmin = 0, xmax = Inf, boundary.kernel = "linear")
#' summary(fhat)
#' predict(fhat, c(0, 1, 2))
#' head(as.data.frame(fhat))
#' plot(fhat, cont = 50)
#' @name kestrel_bkde-methods
#' @aliases print.kestrel_bkde
NULL

#' @rdname kestrel_bkde-methods
#' @export
print.kestrel_bkde <- function(x, ...) {
  check_object(x, "x", "kestrel_bkde")
  cat(boundary_lines(x), sep = "\n")
  invisible(x)
}

boundary_lines <- function(fhat) {
  truncated <- !is.null(fhat$untruncated)
  title <- if (truncated) "Truncated kernel density estimate" else
    paste("Kernel density estimate,", fhat$boundary.kernel, "boundary kernels")
  # As they are, with negative values and the observations beyond a boundary.
  plain <- plain_density(fhat)
  plain[c("estimate", "n_eff")] <- fhat[c("estimate", "n_eff")]
  lines <- density_lines(plain, title)
  lines <- lines[!grepl("^  (kernel|engine) ", lines)]
  limits <- if (truncated) {
    label_line("boundary", paste0("a polygon of ", sum(!is.na(fhat$boundary[, 1L])), " corners"))
  } else {
    label_line("bounds", bounds_text(fhat$xmin, fhat$xmax))
  }
  c(lines, limits, label_line("divided by", format(fhat$mass, digits = 6)),
    label_line("seconds", format_short(fhat$seconds)))
}

#' @rdname kestrel_bkde-methods
#' @export
summary.kestrel_bkde <- function(object, ...) {
  check_object(object, "object", "kestrel_bkde")
  cat(boundary_lines(object), sep = "\n")
  if (object$gridded) {
    levels <- summary(plain_density(object))$levels
    cat(label_line("contours", paste0(names(levels), " at ", format_short(levels), collapse = ", ")),
        label_line("mass on grid", format(grid_integral(axes_of(object), object$estimate), digits = 6)), sep = "\n")
  }
  invisible(object)
}

#' @rdname kestrel_bkde-methods
#' @export
predict.kestrel_bkde <- function(object, newdata, ..., x, threads = NULL, verbose = NULL) {
  check_object(object, "object", "kestrel_bkde")
  verbose <- asked_verbose(verbose)
  points <- points_to_predict(newdata, x, ...)
  points <- check_points(in_order_of(points$value, object$names, points$name), length(object$names), points$name)
  with_progress(verbose, "Density at points", function(progress) {
    own_density_at(object, points, c(run_options(threads), progress = progress))
  })
}

#' @rdname kestrel_bkde-methods
#' @export
as.data.frame.kestrel_bkde <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_bkde")
  frame <- as.data.frame(plain_density(x))
  frame$estimate <- as.vector(x$estimate)
  frame
}

#' @rdname kestrel_bkde-methods
#' @export
#' @rawNamespace S3method(ks::contourLevels, kestrel_bkde)
contourLevels.kestrel_bkde <- function(x, ...) {
  check_object(x, "x", "kestrel_bkde")
  contourLevels(plain_density(x), ...)
}

#' @rdname kestrel_bkde-methods
#' @export
plot.kestrel_bkde <- function(x, ...) {
  check_object(x, "x", "kestrel_bkde")
  if (!x$gridded || length(x$names) > 2L) {
    abort_input("`x` must be an estimate on a grid of one or two dimensions to be plotted.")
  }
  plot(plain_density(x), ...)
  invisible(x)
}
