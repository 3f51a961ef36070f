# The slow, obvious oracle: kernel sums from exact differences, with twice the digits of a double where digits can be
# lost, added by R's sum(), which has the digits of a long double. Nothing here calls the package.

# The largest distance that is computed, in bandwidths; beyond it every kernel is zero.
far_away <- 1e100

within_reach <- function(u) {
  twice(pmax(pmin(u$high, far_away), -far_away), ifelse(abs(u$high) < far_away, u$low, 0))
}

# Powers of two near the bandwidths of the axes: in these units no square overflows or underflows.
units_of <- function(H) 2^floor(log2(diag(H)) / 2)

# Squared distances in bandwidths of all points (rows) and samples (columns), with twice the digits; for `product` a
# list with those along each axis.
squared_distances <- function(points, x, H, product) {
  d <- ncol(H)
  unit <- units_of(H)
  L <- exact_root(H / outer(unit, unit))
  z <- list()
  for (k in seq_len(d)) {
    u <- exact_sum(rep(points[, k], nrow(x)), -rep(x[, k], each = nrow(points)))
    # Divided by the root twice, since its square may be out of range.
    u <- within_reach(lapply(u, `/`, unit[k]))
    for (l in seq_len(k - 1L)) u <- minus(u, times(entry(L, k, l), z[[l]]))
    z[[k]] <- over(u, entry(L, k, k))
  }
  squares <- lapply(z, function(part) times(part, part))
  if (product) squares else list(Reduce(plus, squares))
}

# The shape of a kernel at squared distances q, 1 at its centre.
kernel_shape <- function(kernel, q) {
  r <- sqrt(q$high)
  # 1 - q, which is small near the edge.
  left <- pmax((1 - q$high) - q$low, 0)
  shape <- switch(kernel,
    gaussian = exp(-q$high / 2) * (1 - pmin(q$low, 1) / 2),
    epanechnikov = left,
    uniform = as.numeric(q$high <= 1),
    triangular = left / (1 + r),
    biweight = left^2,
    triweight = left^3,
    tricube = (left / (1 + r) * (1 + r + r^2))^3,
    cosine = cospi(pmin(r, 1) / 2)
  )
  if (kernel == "gaussian") shape else shape * (q$high <= 1)
}

# The constant that gives the radial kernel mass one in d dimensions: the inverse of d v_d int_0^1 r^(d-1) K(r) dr.
kernel_constant <- function(kernel, d) {
  if (kernel == "gaussian") return((2 * pi)^(-d / 2))
  moment <- function(p) 1 / (d + p)
  integral <- switch(kernel,
    epanechnikov = moment(0) - moment(2),
    uniform = moment(0),
    triangular = moment(0) - moment(1),
    biweight = moment(0) - 2 * moment(2) + moment(4),
    triweight = moment(0) - 3 * moment(2) + 3 * moment(4) - moment(6),
    tricube = moment(0) - 3 * moment(3) + 3 * moment(6) - moment(9),
    cosine = sum((-1)^(0:20) * exp(2 * (0:20) * log(pi / 2) - lgamma(2 * (0:20) + 1)) * moment(2 * (0:20)))
  )
  1 / (d * exp(d / 2 * log(pi) - lgamma(d / 2 + 1)) * integral)
}

# Whether a sample is on the edge of the uniform kernel, where rounding decides.
on_edge <- function(q) abs(q$high - 1) < 1e-12

# The density in units of 1 / prod(units_of(H)) at the rows of `points`: list(value, doubt). `doubt` is the contribution
# of samples on the edge of the uniform kernel.
exact_density <- function(points, x, w, H, kernel, product) {
  d <- ncol(H)
  q <- squared_distances(points, x, H, product)
  constant <- if (product) kernel_constant(kernel, 1L)^d else kernel_constant(kernel, d)
  unit <- units_of(H)
  root <- exact_root(H / outer(unit, unit))
  constant <- constant / prod(diag(root$high) + diag(root$low))
  over_samples <- function(terms) {
    # The order does not matter, since sum() has enough digits.
    apply(matrix(terms, nrow(points)), 1L, function(row) sum(w * row)) * constant / sum(w)
  }
  shapes <- Reduce(`*`, lapply(q, kernel_shape, kernel = kernel))
  doubt <- if (kernel == "uniform") over_samples(as.numeric(Reduce(`|`, lapply(q, on_edge)))) else numeric(nrow(points))
  list(value = over_samples(shapes), doubt = doubt)
}

# A lower bound on the largest value anywhere, in the same units: the largest one at the samples.
largest_density <- function(x, w, H, kernel, product) {
  at <- if (nrow(x) <= 300L) x else x[order(-w)[1:50], , drop = FALSE]
  max(exact_density(at, x, w, H, kernel, product)$value)
}

# The extent of the data, in bandwidths, along the axis on which it is largest.
span_in_bandwidths <- function(x, H) {
  root <- t(chol(stats::cov2cor(H)))
  z <- forwardsolve(root, t(x) / sqrt(diag(H)))
  max(apply(z, 1L, function(axis) diff(range(axis))))
}

# ---- sums over pairs ----------------------------------------------------------------------------------------------

# Differences for sums over all pairs, i = j included, in units of g, exactly.
pair_distances <- function(x, g) {
  unit <- 2^floor(log2(g))
  u <- exact_sum(rep(x, length(x)), -rep(x, each = length(x)))
  over(within_reach(lapply(u, `/`, unit)), twice(g / unit))
}

# The Hermite polynomial of even order r, He_r(u) phi(u): coefficients of u^0, u^2, ...
hermite_even <- function(r) {
  k <- 0:(r / 2)
  m <- r / 2 - k
  (-1)^m * factorial(r) / (2^m * factorial(m) * factorial(2 * k))
}

# psi_r(g) of weights that sum to one, in units where g = 1: the value and the sum of the terms' absolute values.
exact_psi <- function(x, w, g, r) {
  u <- pair_distances(x, g)
  q <- times(u, u)
  polynomial <- Reduce(function(value, coefficient) plus(times(value, q), twice(coefficient)),
                       rev(hermite_even(r)), twice(numeric(length(q$high))))
  near <- q$high < 1500 # which elsewhere may overflow
  terms <- numeric(length(near))
  terms[near] <- (outer(w, w)[near] * (polynomial$high + polynomial$low)[near]) *
    exp(-q$high[near] / 2) * (1 - q$low[near] / 2) / sqrt(2 * pi)
  c(value = sum(terms), size = sum(abs(terms)))
}
