# Oracles of the smoothed bootstrap and of the PDF score: every density at every point of a grid by helper-reference.R,
# and integrals as sums over these points. Nothing here calls the package.

# How much space each point of a grid stands for: on each axis, half the way to its neighbours (trapezoid rule). In the
# order of expand.grid(axes).
reference_cells <- function(axes) {
  widths <- lapply(axes, function(axis) {
    vapply(seq_along(axis), function(i) (axis[min(i + 1, length(axis))] - axis[max(i - 1, 1)]) / 2, 0)
  })
  apply(as.matrix(expand.grid(widths)), 1, prod)
}

# The PDF score (Lopez-Novoa 2015, ch. 8; Perkins et al. 2007), of values in the order of expand.grid(axes).
reference_score <- function(axes, f, g) sum(ifelse(f < g, f, g) * reference_cells(axes))

# Integrated squared errors of the smoothed bootstrap (Lopez-Novoa 2015, ch. 8, listing 2), one row a replicate, one
# column a bandwidth. S: covariance of the data; draws: a list, the sample of each replicate.
reference_boot_errors <- function(x, w, S, h0, h, axes, draws) {
  points <- as.matrix(expand.grid(axes))
  cells <- reference_cells(axes)
  target <- reference_density(points, x, h0^2 * S, w, "epanechnikov")
  one <- function(draw, h) sum((target - reference_density(points, draw, h^2 * S, NULL, "epanechnikov"))^2 * cells)
  t(vapply(draws, function(draw) vapply(h, function(h) one(draw, h), 0), numeric(length(h))))
}

# P(|u| <= r) of a draw u from the radial Epanechnikov kernel, by integrating its density over the ball.
reference_radius_cdf <- function(r, d) {
  mass <- function(r) stats::integrate(function(s) s^(d - 1) * (1 - s^2), 0, r, rel.tol = 1e-10)$value
  vapply(r, mass, 0) / mass(1)
}

# n draws with mean zero and covariance S exactly.
exact_normal <- function(n, S) {
  z <- matrix(rnorm(n * ncol(S)), n)
  z <- sweep(z, 2, colMeans(z))
  z %*% solve(chol(crossprod(z) / (n - 1))) %*% chol(S)
}
