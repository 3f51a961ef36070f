# The oracle of distribution functions: products of kernels' distribution functions, and the normal one with
# correlations by integrating the conditional probability.

# The distribution function of one kernel, by integrating its formula, once for each different u.
reference_kernel_cdf <- function(u, kernel) {
  density <- function(v) reference_kernel(matrix(v), 1, kernel)
  at <- unique(as.vector(u))
  vapply(at, function(end) {
    if (kernel != "gaussian" && end <= -1) return(0)
    if (kernel != "gaussian" && end >= 1) return(1)
    0.5 + sign(end) * integrate(density, 0, abs(end), rel.tol = 1e-12, subdivisions = 1000)$value
  }, 0)[match(u, at)]
}

# The mass of a kernel beyond u, which may be infinite.
reference_tail <- function(u, kernel, upper) {
  if (kernel == "gaussian") pnorm(u, lower.tail = !upper) else reference_kernel_cdf(if (upper) -u else u, kernel)
}

# P(X <= q), or P(X > q), at the rows of q, for a product kernel with bandwidths h.
reference_orthants <- function(q, x, h, w = rep(1, nrow(x)), kernel = "gaussian", upper = FALSE) {
  factors <- lapply(seq_along(h), function(k) {
    matrix(reference_tail(-outer(x[, k], q[, k], `-`) / h[k], kernel, upper), nrow(x))
  })
  colSums(w * Reduce(`*`, factors)) / sum(w)
}

# P(Z <= a) for Z ~ N(0, R): given Z_1 = u, the others are normal. In two or three dimensions.
reference_normal <- function(a, R) {
  d <- length(a)
  if (d == 1L) return(pnorm(a / sqrt(R[1L, 1L])))
  if (any(a == -Inf)) return(0)
  slope <- R[-1L, 1L] / R[1L, 1L]
  rest <- R[-1L, -1L, drop = FALSE] - tcrossprod(R[-1L, 1L]) / R[1L, 1L]
  s <- sqrt(R[1L, 1L])
  given <- function(u) vapply(u, function(one) dnorm(one) * reference_normal(a[-1L] - slope * s * one, rest), 0)
  end <- min(a[1L] / s, 9)
  if (end <= -9) return(0)
  # In two pieces, so that the bulk is not missed.
  pieces <- unique(sort(c(-9, max(min(0, end), -9), end)))
  sum(vapply(seq_along(pieces)[-1L], function(k) {
    integrate(given, pieces[k - 1L], pieces[k], rel.tol = 1e-12, subdivisions = 500L)$value
  }, 0))
}

reference_correlated <- function(q, x, H, w = rep(1, nrow(x)), upper = FALSE) {
  sign <- if (upper) -1 else 1
  apply(q, 1, function(point) {
    sum(w * apply(x, 1, function(row) reference_normal(sign * (point - row), H))) / sum(w)
  })
}

# psi_r(g) as sums over all pairs, the diagonal included; r is 2 or 4.
reference_line_psi <- function(x, g, r, w) {
  u <- outer(x, x, `-`) / g
  derivative <- dnorm(u) * (if (r == 2L) u^2 - 1 else u^4 - 6 * u^2 + 3) / g^(r + 1)
  sum(outer(w, w) * derivative) / sum(w)^2
}

reference_hpi_kcde <- function(x, w = rep(1, length(x)), nstage = 2) {
  n <- sum(w)^2 / sum(w^2)
  s <- sqrt(sum(w * (x - sum(w * x) / sum(w))^2) / sum(w) * n / (n - 1))
  psi4 <- 3 / (8 * sqrt(pi) * s^5)
  if (nstage == 2) {
    psi6 <- -15 / (16 * sqrt(pi) * s^7)
    psi4 <- reference_line_psi(x, (-2 * 3 * dnorm(0) / (psi6 * n))^(1 / 7), 4L, w)
  }
  psi2 <- reference_line_psi(x, (2 * dnorm(0) / (psi4 * n))^(1 / 5), 2L, w)
  (1 / (sqrt(pi) * -psi2 * n))^(1 / 3)
}

# -Psi_2 as a sum over all pairs of the second derivatives of the N(0, G) density.
reference_curvature <- function(x, G) {
  inverse <- solve(G)
  total <- matrix(0, ncol(x), ncol(x))
  for (i in seq_len(nrow(x))) for (j in seq_len(nrow(x))) {
    z <- inverse %*% (x[i, ] - x[j, ])
    total <- total + c(exp(-sum((x[i, ] - x[j, ]) * z) / 2)) * (inverse - tcrossprod(z))
  }
  total / (nrow(x)^2 * sqrt(det(2 * pi * G)))
}

# The criterion of Hpi.kcde() for data in units of their standard deviations.
reference_plane_criterion <- function(H, S, n) {
  parts <- eigen(H, symmetric = TRUE)
  -sum(sqrt(parts$values)) / (n * sqrt(pi)) + sum(H %*% H * S) / 4
}
