# Linear quantile regressions, for the bootstrap of npqcmstest().

# The residuals of the regression of the tau-quantile of y on the columns of q, which are orthonormal (Koenker & Bassett
# 1978): those of a minimum of sum rho_tau(y_i - q_i b). `near`: residuals of about this fit, where the search begins.
#
# A minimum is at a b that fits as many observations exactly as q has columns, the basis. From one the search goes along
# the edge that leads down most steeply, on which one observation leaves the basis, to the observation where the sum is
# least on it (Barrodale & Roberts 1973). Small shifts of y keep observations apart that would be fitted together, so
# that every step lowers the sum.
linear_quantile_residuals <- function(q, tau, y, near) {
  n <- nrow(q)
  p <- ncol(q)
  shifted <- y + 1e-10 * max(abs(near)) * ((seq_len(n) * (sqrt(5) - 1) / 2) %% 1 - 0.5)
  nearest <- order(abs(near))
  basis <- nearest[qr(t(q[nearest, , drop = FALSE]))$pivot[seq_len(p)]]
  for (step in seq_len(1000L + 10L * n)) {
    # A column for each edge: how fast fits rise along it.
    edges <- q %*% solve(q[basis, , drop = FALSE])
    rest <- as.vector(shifted - edges %*% shifted[basis])
    # The derivative of the sum by fits. Where an observation leaves the basis, its residual falls or rises from 0.
    weight <- replace(ifelse(rest > 0, -tau, 1 - tau), basis, 0)
    slopes <- colSums(weight * edges)
    slopes <- c(slopes + 1 - tau, tau - slopes)
    steepest <- which.min(slopes)
    if (slopes[steepest] > -1e-9) break
    leaves <- (steepest - 1L) %% p + 1L
    rise <- edges[, leaves] * if (steepest > p) -1 else 1
    met <- rest / rise
    ahead <- setdiff(which(is.finite(met) & met > 0), basis)
    ahead <- ahead[order(met[ahead])]
    enters <- ahead[which(slopes[steepest] + cumsum(abs(rise[ahead])) >= 0)[1L]]
    if (is.na(enters)) break
    basis[leaves] <- enters
  }
  rest <- as.vector(y - q %*% solve(q[basis, , drop = FALSE], y[basis]))
  replace(rest, basis, 0)
}

# Orthonormal columns that span those of a matrix.
orthonormal <- function(design) {
  decomposed <- qr(design)
  qr.Q(decomposed)[, seq_len(decomposed$rank), drop = FALSE]
}
