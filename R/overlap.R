# Indices of the overlap of two densities in the plane.

#' Overlap of two home ranges
#'
#' The indices by which the space use of two animals is compared (Fieberg & Kochanny 2005). With the densities f1 and f2
#' and the home ranges A1 and A2, which hold `cont` per cent of each sample or density, they are
#'
#'   - `HR12`, `HR21`: the share of the area of A1 that lies in A2, and of A2 in A1;
#'   - `PHR12`, `PHR21`: the probability of f2 in A1, and of f1 in A2;
#'   - `VI`: the volume of the intersection, the integral of min(f1, f2);
#'   - `BA`: Bhattacharyya's affinity, the integral of sqrt(f1 f2);
#'   - `UDOI`: the area of the intersection of A1 and A2 times the integral of f1 f2.
#'
#' All but `UDOI` are 1 for equal densities (`PHR` is about `cont` / 100) and 0 for ranges that are apart. `UDOI` is 1
#' for equal and uniform ones, and may be larger. \pkg{adehabitatHR} and \pkg{amt} have the same indices, with
#' `of = "density"`.
#'
#' Both densities are computed, exactly, on one grid that spans both grids. The areas are those of polygons, as
#' `sf::st_as_sf()` makes them (see [maps]). The integrals are sums by the trapezoid rule. `PHR` counts cells, so that
#' its error is that of the cells at a border.
#'
#' @param fhat1,fhat2 estimates on grids of two variables, made by [kde()] or [kde.truncate()], in the same coordinates.
#' @param cont the percentage in a home range.
#' @param of `"sample"` for a percentage of the sample, `"density"` for one of the density, see [maps].
#' @param gridsize the number of points of the common grid on each axis.
#' @param ... no further arguments.
#' @return A data frame with one row and the columns `HR12`, `HR21`, `PHR12`, `PHR21`, `VI`, `BA` and `UDOI`.
#' @section Units: None.
#' @section Errors: Errors of class `kestrel_error_input` are for estimates that are not on a grid of two variables, or
#'   are in different coordinate reference systems, and for a `cont` that is not one number.
#' @section Cost: Two densities on the common grid.
#' @references Fieberg, J. & Kochanny, C.O. (2005) Quantifying home-range overlap: the importance of the utilization
#'   distribution. *Journal of Wildlife Management* **69**, 1346-1359.
#' @seealso [maps] for the home ranges themselves
#' @examplesIf requireNamespace("isoband", quietly = TRUE)
#' by <- kde(iris, ~ Petal.Length + Petal.Width | Species, gridsize = 51)
#' kde_overlap(by$estimates$versicolor, by$estimates$virginica)
#' @export
kde_overlap <- function(fhat1, fhat2, cont = 95, gridsize = 301, ..., of = c("sample", "density")) {
  check_arguments("kde_overlap", given_names(...))
  of <- check_choice(of, c("sample", "density"), "of")
  need_package("isoband", "for the areas of home ranges")
  planes <- list(plane_of(fhat1, "fhat1"), plane_of(fhat2, "fhat2"))
  check_one_crs(planes[[1L]]$whole, planes[[2L]]$whole)
  cont <- check_content(cont)
  if (length(cont) != 1L) abort_input("`cont` must be one number, not ", length(cont), ".")
  gridsize <- check_count(gridsize, "gridsize", 2L)
  axes <- lapply(1:2, function(k) {
    ends <- range(lapply(planes, function(plane) axes_of(plane$fhat)[[k]]))
    seq(ends[1L], ends[2L], length.out = gridsize)
  })
  points <- as.matrix(grid_points(axes))
  values <- lapply(list(fhat1, fhat2), function(fhat) matrix(predict(fhat, unname(points)), gridsize))
  levels <- vapply(planes, function(plane) levels_for(plane$fhat, cont, of), 0)
  inside <- Map(function(value, level) value >= level, values, levels)
  integral <- function(value) grid_integral(axes, value)
  area <- function(height) area_above(axes, height)
  areas <- Map(function(value, level) area(value / level), values, levels)
  both <- area(pmin(values[[1L]] / levels[1L], values[[2L]] / levels[2L]))
  data.frame(HR12 = both / areas[[1L]], HR21 = both / areas[[2L]], PHR12 = integral(values[[2L]] * inside[[1L]]),
             PHR21 = integral(values[[1L]] * inside[[2L]]), VI = integral(pmin(values[[1L]], values[[2L]])),
             BA = integral(sqrt(values[[1L]] * values[[2L]])), UDOI = both * integral(values[[1L]] * values[[2L]]))
}

# `of`: the arguments that have these systems.
check_one_crs <- function(fhat1, fhat2, of = c("fhat1", "fhat2")) {
  if (is.null(fhat1$crs) || is.null(fhat2$crs)) return(invisible())
  need_package("sf", "to compare coordinate reference systems")
  if (fhat1$crs != fhat2$crs) {
    abort_input("`", of[2L], "` must be in the coordinate reference system of `", of[1L], "`.")
  }
}

# The area where values on a grid are at least one. Rings about holes run the other way.
area_above <- function(axes, height) {
  rings <- isoband::isobands(axes[[1L]], axes[[2L]], t(height), 1, Inf)[[1L]]
  rows <- split(seq_along(rings$x), rings$id)
  centre <- vapply(axes, mean, 0)
  abs(sum(vapply(rows, function(ring) {
    x <- rings$x[ring] - centre[1L]
    y <- rings$y[ring] - centre[2L]
    following <- c(seq_along(x)[-1L], 1L)
    sum(x * y[following] - x[following] * y) / 2
  }, 0)))
}
