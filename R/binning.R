# Linear binning, for scripts that bin by themselves. No estimate here is binned.

#' Linear binning
#'
#' Shares the weight of each observation among the points of a grid around it, in proportion to its nearness on each
#' axis. No function of kestrel uses it: all sums are exact.
#'
#' @inheritParams kde
#' @param H,h a bandwidth, from which the grid has its limits; that of [Hns()] if not given.
#' @param bgridsize number of grid points, one number or one for each axis; 401 in one dimension, 151 in two, 51 in
#'   three and 21 in four.
#' @param gridtype only `"linear"`.
#' @return A list of `counts` (a vector, or an array with d dimensions), `eval.points` (a vector, or a list of d axes)
#'   and `w`, as in \pkg{ks}.
#' @section Units: Counts are weights, which sum to the number of observations that are inside of the grid.
#' @section Errors: Those of [kde()], and of class `kestrel_error_input` for more than four columns.
#' @section Cost: O(n 2^d).
#' @references Wand, M.P. (1994) Fast computation of multivariate kernel estimators. *Journal of Computational and
#'   Graphical Statistics* **3**, 433-445.
#' @examples
#' binned <- binning(faithful, bgridsize = c(5, 5))
#' binned$counts
#' @export
binning <- function(x, H, h, bgridsize, xmin, xmax, supp = 3.7, w, gridtype = "linear", ...) {
  check_arguments("binning", given_names(...))
  sample <- check_sample(x, if (!missing(w)) w)
  d <- ncol(sample$x)
  if (d > 4L) abort_input("`x` must have at most four columns to be binned, not ", d, ".")
  if (!identical(unname(unlist(gridtype)), rep("linear", length(gridtype)))) {
    abort_input("`gridtype` must be \"linear\", not ", describe_value(gridtype), ".")
  }
  grid <- check_grid(list(gridsize = if (!missing(bgridsize)) bgridsize, xmin = if (!missing(xmin)) xmin,
                          xmax = if (!missing(xmax)) xmax, supp = supp, streamed = FALSE), d)
  H <- check_bandwidth(list(H = if (!missing(H)) H, h = if (!missing(h)) h), d, FALSE)
  limited <- !is.null(grid$xmin) && !is.null(grid$xmax)
  if (is.null(H) && !limited) H <- Hns(sample$x, w = sample$w)
  if (is.null(H)) H <- diag(d)
  axes <- grid_axes(grid_limits(sample$x, as.matrix(H), grid), grid)$axes
  counts <- linear_counts(sample$x, sample$w, axes)
  list(counts = if (d == 1L) as.vector(counts) else counts, eval.points = if (d == 1L) axes[[1L]] else axes,
       w = as.vector(sample$w))
}

linear_counts <- function(x, w, axes) {
  sizes <- lengths(axes)
  place <- vapply(seq_along(axes), function(k) {
    step <- (axes[[k]][sizes[k]] - axes[[k]][1L]) / (sizes[k] - 1)
    (x[, k] - axes[[k]][1L]) / step
  }, numeric(nrow(x)))
  place <- matrix(place, nrow(x))
  inside <- rowSums(place < 0 | place > rep(sizes - 1, each = nrow(x))) == 0
  place <- place[inside, , drop = FALSE]
  w <- w[inside]
  below <- pmin(floor(place), rep(sizes - 2, each = nrow(place)))
  beyond <- place - below
  strides <- cumprod(c(1, sizes[-length(sizes)]))
  counts <- numeric(prod(sizes))
  corners <- as.matrix(expand.grid(rep(list(0:1), length(axes))))
  for (corner in seq_len(nrow(corners))) {
    heard()
    up <- corners[corner, ]
    share <- w
    for (k in seq_along(axes)) share <- share * if (up[k] == 1) beyond[, k] else 1 - beyond[, k]
    cell <- 1 + drop(sweep(below, 2L, up, "+") %*% strides)
    sums <- rowsum(share, cell)
    at <- as.numeric(rownames(sums))
    counts[at] <- counts[at] + sums[, 1L]
  }
  array(counts, sizes)
}
