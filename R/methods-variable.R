#' Methods for density estimates with bandwidths that vary
#'
#' Printing, summaries, values at new points, data frames, contour levels and plots of the results of [kde.balloon()]
#' and [kde.sp()].
#'
#' @param x,object a result of [kde.balloon()] or [kde.sp()]; for `predict()`, `x` is another name of `newdata`, as in
#'   \pkg{ks}.
#' @param newdata points, as for [predict()][predict.kestrel_kde].
#' @param ... for `plot()` the arguments of [plot.kestrel_kde()], for `contourLevels()` those of [contourLevels()];
#'   otherwise not used.
#' @param threads the number of threads.
#' @param verbose TRUE to show progress, as in [kde()].
#' @param row.names,optional not used; arguments of the generic.
#' @return `predict()` returns a vector of densities, with the `mass` of a balloon estimate. `as.data.frame()` returns
#'   a row for each point: its coordinates and `estimate`, and for a balloon estimate its bandwidth `h`.
#'   `contourLevels()` returns levels as for [kde()]. The other methods return their argument invisibly.
#' @section Units: Points and the bandwidths of balloon estimates are in units of the variables, densities in 1 /
#'   volume.
#' @section Errors: Errors of class `kestrel_error_input` are for points that are missing, infinite or of another
#'   dimension, and for plots of estimates that are not on a grid of one or two dimensions.
#' @section Cost: `predict()` as [kde.balloon()] and [kde.sp()] at as many points, without the bandwidths of the
#'   observations; `contourLevels()` and `plot()` O(n) and the grid.
#' @references Terrell, G.R. & Scott, D.W. (1992) Variable kernel density estimation. *Annals of Statistics* **20**,
#'   1236-1265.
#' @seealso [kde.balloon()]
#' @examples
#' fhat <- kde.balloon(faithful$eruptions)
#' summary(fhat)
#' predict(fhat, c(2, 3, 4))
#' head(as.data.frame(fhat))
#' plot(fhat, cont = 50)
#' @name kestrel_vkde-methods
#' @aliases print.kestrel_vkde
NULL

#' @rdname kestrel_vkde-methods
#' @export
print.kestrel_vkde <- function(x, ...) {
  check_object(x, "x", "kestrel_vkde")
  cat(variable_lines(x), sep = "\n")
  invisible(x)
}

variable_lines <- function(fhat) {
  lines <- density_lines(plain_density(fhat), paste("Kernel density estimate,", fhat$variable, "bandwidths"))
  of_bandwidth <- c(grep("^  bandwidth", lines), grep("^ {15,}[-0-9. e]+$", lines), grep("^  engine", lines))
  h <- sqrt(fhat$H[is.finite(fhat$H)])
  more <- c(if (length(h) > 0L) label_line("h", paste(format_short(stats::quantile(h, c(0, 0.5, 1), names = FALSE)),
                                                      collapse = ", ")),
            if (any(fhat$scale != 1)) label_line("in units of", paste(format_short(fhat$scale), collapse = ", ")))
  c(lines[-of_bandwidth], more, label_line("seconds", format_short(fhat$seconds)))
}

#' @rdname kestrel_vkde-methods
#' @export
summary.kestrel_vkde <- function(object, ...) {
  check_object(object, "object", "kestrel_vkde")
  cat(variable_lines(object), sep = "\n")
  if (object$gridded) {
    plain <- summary(plain_density(object))
    cat(label_line("contours", paste0(names(plain$levels), " at ", format_short(plain$levels), collapse = ", ")),
        label_line("mass on grid", format(object$mass * plain$mass, digits = 6)), sep = "\n")
  }
  invisible(object)
}

#' @rdname kestrel_vkde-methods
#' @export
predict.kestrel_vkde <- function(object, newdata, ..., x, threads = NULL, verbose = NULL) {
  check_object(object, "object", "kestrel_vkde")
  verbose <- asked_verbose(verbose)
  points <- points_to_predict(newdata, x, ...)
  points <- check_points(in_order_of(points$value, object$names, points$name), length(object$names), points$name)
  with_progress(verbose, "Density at points", function(progress) {
    variable_density_at(object, points, c(run_options(threads), progress = progress))
  })
}

#' @rdname kestrel_vkde-methods
#' @export
as.data.frame.kestrel_vkde <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_vkde")
  frame <- as.data.frame(plain_density(x))
  if (x$variable == "balloon") frame[[beside(names(frame), "h")]] <- sqrt(as.vector(x$H))
  frame
}

#' @rdname kestrel_vkde-methods
#' @export
#' @rawNamespace S3method(ks::contourLevels, kestrel_vkde)
contourLevels.kestrel_vkde <- function(x, ...) {
  check_object(x, "x", "kestrel_vkde")
  contourLevels(plain_density(x), ...)
}

#' @rdname kestrel_vkde-methods
#' @export
plot.kestrel_vkde <- function(x, ...) {
  check_object(x, "x", "kestrel_vkde")
  if (!x$gridded || length(x$names) > 2L) {
    abort_input("`x` must be an estimate on a grid of one or two dimensions to be plotted.")
  }
  plot(plain_density(x), ...)
  invisible(x)
}
