# Derivatives of kernel density estimates as in textbooks, pair by pair.

# D_a1 ... D_ar phi_H(v) / phi_H(v), by D phi = -P v phi, P = H^-1, and the product rule.
plain_derivative_over_phi <- function(v, P, axes) {
  if (length(axes) == 0L) return(1)
  a <- axes[length(axes)]
  axes <- axes[-length(axes)]
  sum <- -drop(v %*% P[, a]) * plain_derivative_over_phi(v, P, axes)
  for (j in seq_along(axes)) sum <- sum - P[axes[j], a] * plain_derivative_over_phi(v, P, axes[-j])
  sum
}

# The derivative by the variables `axes` at the rows of `points`, with the sum of |terms|.
plain_kdde <- function(x, points, H, axes, w = rep(1, nrow(x))) {
  P <- solve(H)
  d <- ncol(x)
  sums <- vapply(seq_len(nrow(points)), function(i) {
    v <- rep(points[i, ], each = nrow(x)) - x
    phi <- (2 * pi)^(-d / 2) / sqrt(det(H)) * exp(-rowSums((v %*% P) * v) / 2)
    terms <- w / sum(w) * plain_derivative_over_phi(v, P, axes) * phi
    c(sum(terms), sum(abs(terms)))
  }, c(0, 0))
  list(value = sums[1L, ], size = sums[2L, ])
}
