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

# The derivative by the variables `axes` at the rows of `points`, with the sum of |terms|: for all observations at a
# point at once, or for all points of an observation if there are more of these.
plain_kdde <- function(x, points, H, axes, w = rep(1, nrow(x))) {
  P <- solve(H)
  d <- ncol(x)
  terms_at <- function(v) {
    phi <- (2 * pi)^(-d / 2) / sqrt(det(H)) * exp(-rowSums((v %*% P) * v) / 2)
    plain_derivative_over_phi(v, P, axes) * phi
  }
  if (nrow(points) > nrow(x)) {
    value <- size <- numeric(nrow(points))
    for (j in seq_len(nrow(x))) {
      terms <- w[j] / sum(w) * terms_at(points - rep(x[j, ], each = nrow(points)))
      value <- value + terms
      size <- size + abs(terms)
    }
    return(list(value = value, size = size))
  }
  sums <- vapply(seq_len(nrow(points)), function(i) {
    terms <- w / sum(w) * terms_at(rep(points[i, ], each = nrow(x)) - x)
    c(sum(terms), sum(abs(terms)))
  }, c(0, 0))
  list(value = sums[1L, ], size = sums[2L, ])
}
