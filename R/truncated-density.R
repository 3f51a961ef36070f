#' Truncated kernel density estimate
#'
#' A density in the plane that is set to zero outside of a polygon and divided by what it has within, such as a density
#' of places within a country.
#'
#' A point is within the polygon if a line from it crosses the edges an odd number of times, or if it is on an edge. The
#' density is divided by its integral over the points of the grid within, so that the truncated one integrates to one
#' over its grid. How exact that is depends on the cells of the grid that edges cut. At other points `predict()` is
#' exact but for this constant.
#'
#' Truncation does not mend the bias at a boundary: there the density is about half of what it should be, before it is
#' divided. [kde()] with `bounds` and [kde.boundary()] do, for rectangles.
#'
#' @param fhat an estimate made by [kde()] on a grid of two variables, or by [ks::kde()].
#' @param boundary the corners of the polygon, in order: a matrix or data frame with two columns. The last corner may be
#'   the first one again.
#' @param ... no further arguments.
#' @return An object of class `c("kestrel_bkde", "kde")` with the fields of [kde.boundary()], but `boundary.kernel` is
#'   `"truncated"`, and in place of `xmin` and `xmax` there are \item{boundary}{the corners} and
#'   \item{untruncated}{`fhat`}
#' @section Units: Corners are in the units of the variables, densities in 1 / volume.
#' @section Errors: Errors of class `kestrel_error_input` are for an `fhat` that is not such an estimate, and for
#'   corners that are not two columns of finite numbers, or fewer than three. They are also for a polygon without a
#'   point of the grid where the density is above zero.
#' @section Cost: O(points corners), and the contour levels of [contourLevels()].
#' @references Chacon, J.E. & Duong, T. (2018) *Multivariate Kernel Smoothing and its Applications*. Chapman & Hall.
#' @seealso [kde.boundary()], [kde()], and the [methods][kestrel_bkde-methods]
#' @examples
#' fhat <- kde(faithful)
#' within <- kde.truncate(fhat, cbind(c(1.5, 5.5, 5.5, 3), c(40, 60, 100, 100)))
#' within
#' plot(within)
#' predict(within, rbind(c(2, 95), c(4, 80)))
#' @export
kde.truncate <- function(fhat, boundary, ...) {
  check_arguments("kde.truncate", given_names(...))
  started <- proc.time()[["elapsed"]]
  fhat <- check_estimate(fhat)
  if (dimension(fhat) != 2L || !fhat$gridded) {
    abort_input("`fhat` must be an estimate on a grid of two variables, not ",
                if (fhat$gridded) paste("one of", dimension(fhat)) else "one at given points", ".")
  }
  corners <- check_corners(if (!missing(boundary)) boundary)
  inside <- array(is_within(as.matrix(grid_points(axes_of(fhat))), corners), lengths(axes_of(fhat)))
  estimate <- fhat$estimate * inside
  mass <- grid_integral(axes_of(fhat), estimate)
  if (is.na(mass) || mass <= 0) abort_input("`boundary` must hold a point of the grid where the density is above zero.")
  kept <- unclass(fhat)[c("x", "eval.points", "estimate", "gridtype", "gridded", "binned", "names", "w", "type", "cont",
                          "H", "n_eff", "tol")]
  made <- structure(c(kept, list(boundary.kernel = "truncated", boundary = corners, mass = mass, untruncated = fhat)),
                    class = c("kestrel_bkde", "kde"))
  made$estimate <- estimate / mass
  if (!is.null(made$cont)) made$cont <- contour_levels(plain_density(made), (99:1) / 100, TRUE)
  made$call <- match.call()
  made$seconds <- proc.time()[["elapsed"]] - started
  made
}

check_corners <- function(boundary) {
  value <- plain_points(boundary)
  if (is_frame(value)) value <- as_points(value, "boundary")
  if (!is_numbers(value) || length(dim(value)) != 2L || ncol(value) != 2L || nrow(value) < 3L) {
    abort_input("`boundary` must be a matrix with two columns and a row for each corner, at least three, not ",
                describe_value(boundary), ".")
  }
  storage.mode(value) <- "double"
  unname(check_finite(value, "boundary"))
}

# Which rows are within the polygon: a line to the right crosses an odd number of edges. Corners belong to the edge
# above them, so that they count once.
is_within <- function(points, corners) {
  # So that products are within the range of numbers.
  unit <- 2^floor(log2(max(abs(points), abs(corners), .Machine$double.xmin)))
  corners <- corners / unit
  x <- points[, 1L] / unit
  y <- points[, 2L] / unit
  inside <- on_edge <- logical(length(x))
  for (i in seq_len(nrow(corners))) {
    heard()
    from <- corners[i, ]
    to <- corners[i %% nrow(corners) + 1L, ]
    # Positive on one side of the line through the edge, negative on the other.
    side <- (to[1L] - from[1L]) * (y - from[2L]) - (x - from[1L]) * (to[2L] - from[2L])
    between <- x >= min(from[1L], to[1L]) & x <= max(from[1L], to[1L]) & y >= min(from[2L], to[2L]) &
      y <= max(from[2L], to[2L])
    on_edge <- on_edge | (side == 0 & between)
    crosses <- (from[2L] > y) != (to[2L] > y) & (side > 0) == (to[2L] > from[2L])
    inside <- xor(inside, crosses)
  }
  inside | on_edge
}

# The estimate at the rows of a matrix.
truncated_density_at <- function(fhat, points, run) {
  inside <- is_within(points, fhat$boundary)
  value <- numeric(nrow(points))
  if (any(inside)) value[inside] <- density_at(fhat$untruncated, points[inside, , drop = FALSE], run) / fhat$mass
  value
}
