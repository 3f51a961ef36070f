# The slow, obvious oracle: kernels and kernel sums in plain R, from raw differences of each point (or pair). Sums go
# through sum() and colSums(), which accumulate in long double. Nothing here calls the package, but for the names of the
# kernels.

all_kernels <- kestrel:::kernel_names()
compact_kernels <- setdiff(all_kernels, "gaussian")

# The shape of each kernel as a function of r >= 0, 1 at its centre; compact kernels are cut at r = 1 by the caller.
reference_shape <- function(kernel, r) {
  switch(kernel,
    gaussian = exp(-r^2 / 2),
    epanechnikov = 1 - r^2,
    uniform = rep(1, length(r)),
    triangular = 1 - r,
    biweight = (1 - r^2)^2,
    triweight = (1 - r^2)^3,
    tricube = (1 - r^3)^3,
    cosine = cospi(r / 2)
  )
}

# log of the constant that gives the radial kernel mass one in d dimensions; the surface of the unit sphere is d v_d.
reference_log_constant <- function(kernel, d) {
  log_volume <- d / 2 * log(pi) - lgamma(d / 2 + 1)
  moment <- function(p) 1 / (d + p) # int_0^1 r^(d-1) r^p dr
  radial_integral <- switch(kernel,
    epanechnikov = moment(0) - moment(2),
    uniform = moment(0),
    triangular = moment(0) - moment(1),
    biweight = moment(0) - 2 * moment(2) + moment(4),
    triweight = moment(0) - 3 * moment(2) + 3 * moment(4) - moment(6),
    tricube = moment(0) - 3 * moment(3) + 3 * moment(6) - moment(9),
    cosine = sum(vapply(0:20, function(k) (-1)^k * exp(2 * k * log(pi / 2) - lgamma(2 * k + 1)) * moment(2 * k), 0))
  )
  if (kernel == "gaussian") return(-d / 2 * log(2 * pi))
  -(log(d) + log_volume + log(radial_integral))
}

# Whether the difference is inside the support. In one dimension this is decided by the difference as given: abs(u) <=
# h. The edge matters only for the uniform kernel: the others vanish there.
reference_inside <- function(u, H, q) if (ncol(H) == 1) abs(u[, 1]) <= sqrt(H[1, 1]) else q <= 1

# K_H at the rows of u (a k * d matrix of differences); H is d * d. In one dimension the distance is abs(u)/h itself.
reference_kernel <- function(u, H, kernel = "gaussian", product = FALSE) {
  H <- as.matrix(H)
  d <- ncol(H)
  if (product) {
    one <- function(k) reference_kernel(u[, k, drop = FALSE], H[k, k], kernel)
    return(Reduce(`*`, lapply(seq_len(d), one)))
  }
  z <- u / rep(sqrt(diag(H)), each = nrow(u))
  q <- if (d == 1) z[, 1]^2 else rowSums((z %*% solve(cov2cor(H))) * z) # u' H^-1 u
  log_scale <- reference_log_constant(kernel, d) - as.numeric(determinant(H)$modulus) / 2
  if (kernel == "gaussian") return(exp(log_scale - q / 2))
  inside <- reference_inside(u, H, q)
  value <- numeric(length(q))
  value[inside] <- exp(log_scale) * reference_shape(kernel, pmin(sqrt(q[inside]), 1))
  value
}

# sum_j w_j K_H(e_i - x_j) for every row e_i of points: math of Wand & Jones (1995), eq. 4.1, before the division by n.
reference_sums <- function(points, x, w, H, kernel = "gaussian", product = FALSE) {
  points <- unname(as.matrix(points))
  x <- unname(as.matrix(x))
  n <- nrow(x)
  # As many points at a time as make about 5,000 differences.
  blocks <- split(seq_len(nrow(points)), (seq_len(nrow(points)) - 1) %/% max(1, 5000 %/% max(1, n)))
  sums <- lapply(blocks, function(rows) {
    u <- points[rep(rows, each = n), , drop = FALSE] - x[rep(seq_len(n), length(rows)), , drop = FALSE]
    colSums(matrix(w * reference_kernel(u, H, kernel, product), n, length(rows)))
  })
  as.numeric(unlist(sums))
}

reference_density <- function(points, x, H, w = NULL, kernel = "gaussian", product = FALSE) {
  n <- NROW(x)
  if (is.null(w)) w <- rep(1, n)
  reference_sums(points, x, w, H, kernel, product) / sum(w)
}

# All differences x_i - x_j with i < j, one row a pair, and the products of their weights.
reference_pairs <- function(x, w = rep(1, NROW(x))) {
  x <- as.matrix(x)
  n <- nrow(x)
  if (n < 2) return(list(u = x[0, , drop = FALSE], w = numeric(0)))
  i <- rep(seq_len(n), times = n - seq_len(n))
  j <- sequence(n - seq_len(n), from = seq_len(n) + 1)
  list(u = x[i, , drop = FALSE] - x[j, , drop = FALSE], w = w[i] * w[j])
}

# (Laplace operator)^m of exp(-r^2/2) is p(s) exp(-s/2) with s = r^2; computes the polynomial p by applying Laplace f(s)
# = 4 s f'' + 2 d f' m times. Coefficients from the constant term upwards.
reference_laplacian_polynomial <- function(m, d) {
  derivative <- function(p) if (length(p) == 1) 0 else p[-1] * seq_along(p[-1])
  add <- function(a, b) {
    n <- max(length(a), length(b))
    c(a, rep(0, n - length(a))) + c(b, rep(0, n - length(b)))
  }
  p <- 1
  for (step in seq_len(m)) {
    first <- add(derivative(p), -p / 2) # f' = (p' - p/2) exp(-s/2)
    second <- add(derivative(first), -first / 2)
    p <- add(c(0, 4 * second), 2 * d * first)
  }
  p
}

# Terms w_i w_j (Laplace operator)^(order/2) phi_g(x_i - x_j) over i < j. In one dimension it is the derivative of
# that order.
reference_laplacian_terms <- function(x, w, g, order) {
  pairs <- reference_pairs(x, w)
  d <- ncol(pairs$u)
  s <- rowSums((pairs$u / g)^2)
  p <- reference_laplacian_polynomial(order / 2, d)
  polynomial <- Reduce(function(value, coefficient) value * s + coefficient, rev(p), numeric(length(s)))
  pairs$w * polynomial * exp(-s / 2) * (2 * pi)^(-d / 2) * g^(-d - order)
}

# All multi-indices alpha in d dimensions with |alpha| = order, as a matrix, one a row.
reference_multi_indices <- function(d, order) {
  all <- as.matrix(expand.grid(rep(list(0:order), d)))
  unname(all[rowSums(all) == order, , drop = FALSE])
}

# All images of the rows of x by up to `times` reflections at two bounds, and at one, with the rows that they are of.
reference_images <- function(x, bounds, times = 8) {
  images <- list(x = as.matrix(x), row = seq_len(NROW(x)))
  for (k in seq_len(ncol(images$x))) {
    at <- images$x[, k]
    lower <- bounds[k, 1]
    upper <- bounds[k, 2]
    columns <- if (all(is.finite(c(lower, upper)))) {
      moves <- 2 * (upper - lower) * (-times:times)
      lapply(moves, function(move) cbind(at + move, (2 * lower - at) + move))
    } else {
      list(at, if (is.finite(lower)) 2 * lower - at, if (is.finite(upper)) 2 * upper - at)
    }
    columns <- do.call(cbind, columns)
    again <- rep(seq_along(at), ncol(columns))
    images <- list(x = images$x[again, , drop = FALSE], row = images$row[again])
    images$x[, k] <- columns
  }
  images
}

# The density by reflection: of all images, and 0 outside of the bounds.
reference_reflected <- function(points, x, H, bounds, w = rep(1, NROW(x)), kernel = "gaussian", product = FALSE,
                                times = 8) {
  points <- as.matrix(points)
  images <- reference_images(x, bounds, times)
  inside <- apply(points, 1, function(point) all(point >= bounds[, 1] & point <= bounds[, 2]))
  value <- numeric(nrow(points))
  value[inside] <- reference_sums(points[inside, , drop = FALSE], images$x, w[images$row], as.matrix(H), kernel,
                                  product) / sum(w)
  value
}
