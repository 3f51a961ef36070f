# A sample with its bandwidth and its grid, as in Lopez-Novoa (2015), chapter 6, and kestrel's estimate of it. Sourced
# after harness.R, sums.R and normal-data.R.

# kde()'s bandwidth, which is that of the thesis (eq. 9-10), and its limits of a grid. The thesis names the axes of its
# arrays with the fastest in memory last, R with the fastest first.
task_for <- function(x, thesis_points, limits = NULL) {
  n <- nrow(x)
  d <- ncol(x)
  H <- of_kestrel("reference_scale")(n, d, "epanechnikov")^2 * stats::cov(x)
  reach <- sqrt(diag(H))
  # Not by apply(), which copies all of x.
  if (is.null(limits)) limits <- vapply(seq_len(d), function(k) range(x[, k]) + c(-1, 1) * reach[k], c(0, 0))
  points <- rev(as.integer(thesis_points))
  step <- (limits[2L, ] - limits[1L, ]) / (points - 1)
  unit_ball <- pi^(d / 2) / gamma(d / 2 + 1)
  list(
    x = x, w = rep(1, n), origin = limits[1L, ], step = step, points = points, reach = reach, inverse = solve(H),
    constant = (d + 2) / (2 * unit_ball) / sqrt(det(H)) / n, root = t(chol(H)),
    axes = lapply(seq_len(d), function(k) limits[1L, k] + step[k] * (seq_len(points[k]) - 1)),
    name = grid_name(thesis_points), influenced = unit_ball * sqrt(det(H)) / prod(step)
  )
}
# Table 4.
space_grids <- list(c(110, 220, 322), c(110, 440, 322), c(220, 440, 322), c(220, 440, 805), c(220, 1100, 805))
grid_name <- function(points) paste(format(points, trim = TRUE, scientific = FALSE, big.mark = ","), collapse = " x ")
evaluation_points <- function(task) prod(as.numeric(task$points))

# The density, radial Epanechnikov kernel.
kestrel_grid <- function(task, isa = "auto", x = task$x, threads = 1L) {
  gc(full = FALSE)   # frees the last result, so that there are never more than two arrays; takes milliseconds
  w <- if (nrow(x) == length(task$w)) task$w else task$w[seq_len(nrow(x))]
  kestrel_sums(x, matrix(0, 0L, ncol(x)), task$root, "epanechnikov", "scanline", isa, threads, task$axes, w)
}
