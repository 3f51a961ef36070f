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
#' divided. `edge.correct = TRUE` mends it. It divides the kernel of each observation by its mass within the polygon
#' (Diggle 1985), so that what a kernel has beyond the boundary is put back inside, and the estimate integrates to one
#' exactly, whatever the grid (Jones 1993). The masses are integrals of the Gaussian kernel over the polygon, by Owen's
#' function (Owen 1956), with an error below 1e-14. [kde()] with `bounds` and [kde.boundary()] mend the bias for
#' rectangles.
#'
#' @param fhat an estimate made by [kde()] on a grid of two variables, or by [ks::kde()].
#' @param boundary the corners of the polygon, in order: a matrix or data frame with two columns. The last corner may be
#'   the first one again. Rows of NA separate several polygons, of which those inside of others are holes. Or polygons
#'   of package \pkg{sf}, in the system of `fhat`.
#' @param ... no further arguments.
#' @param edge.correct TRUE to divide each kernel by its mass within the polygon.
#' @return An object of class `c("kestrel_bkde", "kde")` with the fields of [kde.boundary()], but `boundary.kernel` is
#'   `"truncated"`, and in place of `xmin` and `xmax` there are \item{boundary}{the corners} and
#'   \item{untruncated}{`fhat`, with `edge.correct` the estimate whose weights are divided by the masses}
#' @section Units: Corners are in the units of the variables, densities in 1 / volume.
#' @section Errors: Errors of class `kestrel_error_input` are for an `fhat` that is not such an estimate, and for
#'   corners that are not two columns of finite numbers, or fewer than three. They are also for a polygon without a
#'   point of the grid where the density is above zero, and for polygons in another system, or whose edges cross. With
#'   `edge.correct` they are for observations outside of the polygon, and for estimates with another kernel, bounds, or
#'   no data.
#' @section Cost: O(points corners), and the contour levels of [contourLevels()]. `edge.correct` adds a density and
#'   O(n corners) integrals: two seconds for 10,000 observations and 100 corners.
#' @references Chacon, J.E. & Duong, T. (2018) *Multivariate Kernel Smoothing and its Applications*. Chapman & Hall.
#'
#'   Diggle, P.J. (1985) A kernel method for smoothing point process data. *Applied Statistics* **34**, 138-147.
#'
#'   Jones, M.C. (1993) Simple boundary correction for kernel density estimation. *Statistics and Computing* **3**,
#'   135-146.
#'
#'   Owen, D.B. (1956) Tables for computing bivariate normal probabilities. *Annals of Mathematical Statistics* **27**,
#'   1075-1090.
#' @seealso [kde.boundary()], [kde()], and the [methods][kestrel_bkde-methods]
#' @examples
#' fhat <- kde(faithful)
#' within <- kde.truncate(fhat, cbind(c(1.5, 5.5, 5.5, 3), c(40, 60, 100, 100)))
#' within
#' plot(within)
#' predict(within, rbind(c(2, 95), c(4, 80)))
#' @export
kde.truncate <- function(fhat, boundary, ..., edge.correct = FALSE) {
  check_arguments("kde.truncate", given_names(...))
  started <- proc.time()[["elapsed"]]
  edge.correct <- check_flag(edge.correct, "edge.correct")
  fhat <- check_estimate(fhat)
  if (dimension(fhat) != 2L || !fhat$gridded) {
    abort_input("`fhat` must be an estimate on a grid of two variables, not ",
                if (fhat$gridded) paste("one of", dimension(fhat)) else "one at given points", ".")
  }
  corners <- check_corners(if (!missing(boundary)) boundary, fhat)
  given <- fhat
  if (edge.correct) fhat <- put_back(fhat, corners)
  inside <- array(is_within(as.matrix(grid_points(axes_of(fhat))), corners), lengths(axes_of(fhat)))
  estimate <- fhat$estimate * inside
  mass <- if (edge.correct) fhat$.mass else grid_integral(axes_of(fhat), estimate)
  fhat$.mass <- NULL
  if (is.na(mass) || mass <= 0) abort_input("`boundary` must hold a point of the grid where the density is above zero.")
  kept <- unclass(given)[c("x", "eval.points", "estimate", "gridtype", "gridded", "binned", "names", "w", "type",
                           "cont", "H", "n_eff", "tol", if (!is.null(given$crs)) "crs")]
  made <- structure(c(kept, list(boundary.kernel = "truncated", boundary = corners, mass = mass, untruncated = fhat)),
                    class = c("kestrel_bkde", "kde"))
  made$estimate <- estimate / mass
  if (!is.null(made$cont)) made$cont <- contour_levels(plain_density(made), (99:1) / 100, TRUE)
  made$call <- match.call()
  made$seconds <- proc.time()[["elapsed"]] - started
  made
}

check_corners <- function(boundary, fhat) {
  if (inherits(boundary, c("sf", "sfc"))) return(corners_of_geometry(boundary, fhat))
  value <- plain_points(boundary)
  if (is_frame(value)) value <- as_points(value, "boundary")
  if (!is_numbers(value) || length(dim(value)) != 2L || ncol(value) != 2L || nrow(value) < 3L) {
    abort_input("`boundary` must be a matrix with two columns and a row for each corner, at least three, not ",
                describe_value(boundary), ".")
  }
  storage.mode(value) <- "double"
  gaps <- rowSums(is.na(value)) == 2
  check_finite(value[!gaps, , drop = FALSE], "boundary")
  sizes <- lengths(ring_rows(value))
  if (length(sizes) == 0L || any(sizes < 3L)) {
    abort_input("`boundary` must have at least three corners between rows of NA, not ",
                if (length(sizes) == 0L) 0 else min(sizes), ".")
  }
  unname(value)
}

# The rows of each ring of corners, between rows of NA.
ring_rows <- function(corners) {
  gaps <- is.na(corners[, 1L])
  unname(split(which(!gaps), cumsum(gaps)[!gaps]))
}

# The edges of all rings, from the rows of one matrix to those of another.
edges_of <- function(corners) {
  rings <- ring_rows(corners)
  from <- unlist(rings)
  to <- unlist(lapply(rings, function(rows) c(rows[-1L], rows[1L])))
  list(from = corners[from, , drop = FALSE], to = corners[to, , drop = FALSE])
}

# Which rows are within the polygon: a line to the right crosses an odd number of edges. Corners belong to the edge
# above them, so that they count once.
is_within <- function(points, corners) {
  # So that products are within the range of numbers.
  unit <- 2^floor(log2(max(abs(points), abs(corners), .Machine$double.xmin, na.rm = TRUE)))
  edges <- edges_of(corners / unit)
  x <- points[, 1L] / unit
  y <- points[, 2L] / unit
  inside <- on_edge <- logical(length(x))
  for (i in seq_len(nrow(edges$from))) {
    heard()
    from <- edges$from[i, ]
    to <- edges$to[i, ]
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
