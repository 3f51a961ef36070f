# Regions of highest density: their size, their probability, and the points of the grid in them.

#' Regions of highest density
#'
#' The size (`contourSizes`: length, area or volume) and the probability (`contourProbs`) of the region where a density
#' estimate is at least a level, and the points of the grid in the region (`ksupp`), as an estimate of the support.
#'
#' The size is the sum of the cells of the grid's points in the region, and the probability the sum of the density there
#' times these cells, by the trapezoid rule. So the error is that of cells at the edge of the region, and becomes less
#' on finer grids. `contourProbs()` of \pkg{ks} sums otherwise, and gives less on coarse grids.
#'
#' @param x,fhat an object made by [kde()] on a grid.
#' @param abs.cont levels of the density.
#' @param cont percentages of the probability, as in [contourLevels()], where `abs.cont` is not given.
#' @param approx as in [contourLevels()].
#' @param convex.hull TRUE for the convex hull of the points: the corners of a polygon in two dimensions, and the ends
#'   in one. FALSE for the points themselves.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @return `contourSizes()`, `contourProbs()`: a numeric vector, with names as those of [contourLevels()] if `cont` was
#'   used. `ksupp()`: a data frame of class `"ksupp"` with a column for each variable.
#' @section Units: Sizes are in the product of the units of the variables, probabilities have none.
#' @section Errors: Errors of class `kestrel_error_input` are for an estimate that is not on a grid, for levels and
#'   percentages out of range, for several levels in `ksupp()`, and for a convex hull in more than two dimensions.
#' @section Cost: O(points) for each level, and that of [contourLevels()].
#' @references Hyndman, R.J. (1996) Computing and graphing highest density regions. *American Statistician* **50**,
#'   120-126.
#' @seealso [contourLevels()]
#' @examples
#' fhat <- kde(faithful)
#' contourSizes(fhat, cont = c(25, 50))
#' contourProbs(fhat, abs.cont = 0.01)
#' ksupp(fhat, cont = 95)
#' @export
contourSizes <- function(x, abs.cont, cont = c(25, 50, 75), approx = TRUE, ...) {
  check_arguments("contourSizes", given_names(...))
  x <- check_estimate(x, "x")
  of_regions(x, if (!missing(abs.cont)) abs.cont, cont, approx, function(cells, inside) sum(cells[inside]))
}

#' @rdname contourSizes
#' @export
contourProbs <- function(x, abs.cont, cont = c(25, 50, 75), approx = TRUE, ...) {
  check_arguments("contourProbs", given_names(...))
  x <- check_estimate(x, "x")
  of_regions(x, if (!missing(abs.cont)) abs.cont, cont, approx, function(cells, inside) {
    sum(cells[inside] * x$estimate[inside])
  })
}

# A number for each level, of the sizes of cells and of the points inside.
of_regions <- function(fhat, abs.cont, cont, approx, number) {
  if (!fhat$gridded) abort_input("`x` must be an estimate on a grid, not one at given points.")
  levels <- levels_of_regions(fhat, abs.cont, cont, approx)
  cells <- Reduce(outer, lapply(axes_of(fhat), trapezoid_weights))
  if (!all_finite_cpp(cells)) {
    abort_input("`x` must be in units in which volumes are within the range of numbers: rescale its data.")
  }
  vapply(levels, function(level) number(cells, fhat$estimate >= level), 0)
}

levels_of_regions <- function(fhat, abs.cont, cont, approx) {
  approx <- check_flag(approx, "approx")
  if (!is.null(abs.cont)) return(check_positives(abs.cont, "abs.cont"))
  contour_levels(fhat, (100 - check_content(cont)) / 100, approx)
}

#' @rdname contourSizes
#' @export
ksupp <- function(fhat, cont = 95, abs.cont, convex.hull = TRUE, ...) {
  check_arguments("ksupp", given_names(...))
  fhat <- check_estimate(fhat)
  hull <- check_flag(convex.hull, "convex.hull")
  if (!fhat$gridded) abort_input("`fhat` must be an estimate on a grid, not one at given points.")
  d <- dimension(fhat)
  level <- levels_of_regions(fhat, if (!missing(abs.cont)) abs.cont, cont, TRUE)
  if (length(level) != 1L) {
    abort_input("`", if (missing(abs.cont)) "cont" else "abs.cont", "` must be one number, not ", length(level), ".")
  }
  if (hull && d > 2L) {
    abort_input("`convex.hull` must be FALSE for ", d, " dimensions: chull() of R is for two.")
  }
  inside <- grid_points(axes_of(fhat))[as.vector(fhat$estimate) >= level, , drop = FALSE]
  names(inside) <- fhat$names
  if (hull && nrow(inside) > 0L) {
    ends <- if (d == 2L) grDevices::chull(inside) else unique(c(1L, nrow(inside)))
    inside <- inside[ends, , drop = FALSE]
  }
  rownames(inside) <- NULL
  structure(inside, class = c("ksupp", "data.frame"))
}
