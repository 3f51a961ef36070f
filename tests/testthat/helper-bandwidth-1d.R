# Plain-R oracles of the selectors of one dimension: LSCV and its convolutions, psi_r of any order, smoothed
# cross-validation. Only the last functions call the package, to compute what the tests compare with them.

# (K*K)(u) in closed form. For the compact kernels these are polynomials in t = |u| with the factor 2 - t, to the power
# of their contact at the edge. All other coefficients are positive, so that no digits are lost. The tests check them
# against numerical integration.
reference_convolution <- function(kernel, u) {
  if (kernel == "gaussian") return(dnorm(u, sd = sqrt(2)))
  t <- pmin(abs(u), 2)
  switch(kernel,
    uniform = (2 - t) / 4,
    triangular = ifelse(t < 1, 2 / 3 - t^2 * (2 - t) / 2, (2 - t)^3 / 6),
    epanechnikov = 3 / 160 * (2 - t)^3 * (4 + 6 * t + t^2),
    biweight = 5 / 3584 * (2 - t)^5 * (16 + 40 * t + 36 * t^2 + 10 * t^3 + t^4),
    triweight = 35 / 1757184 * (2 - t)^7 *
      (320 + 1120 * t + 1616 * t^2 + 1176 * t^3 + 404 * t^4 + 70 * t^5 + 5 * t^6),
    tricube = (70 / 81)^2 * ifelse(
      t < 1,
      6561 / 6916 - 19683 / 13090 * t^2 + 9 / 5 * t^4 - 729 / 182 * t^6 + 747 / 140 * t^7 - 729 / 220 * t^8 +
        81 / 70 * t^9 - 31 / 140 * t^10 + 111 / 20020 * t^13 - 3 / 40040 * t^16 + 3 / 923780 * t^19,
      (2 - t)^7 / 12932920 * (151470 + 206822 * t + 558880 * t^2 + 453722 * t^3 + 561120 * t^4 + 334740 * t^5 +
        213558 * t^6 + 98448 * t^7 + 33474 * t^8 + 8439 * t^9 + 1568 * t^10 + 196 * t^11 + 14 * t^12)
    )
  )
}

# The terms over i < j of both sums of LSCV: w_i w_j (K*K)_h(x_i - x_j) and w_i w_j K_h(x_i - x_j).
reference_curve_terms <- function(pairs, h, kernel) {
  list(convolution = pairs$w * reference_convolution(kernel, pairs$u[, 1] / h) / h,
       kernel = pairs$w * reference_kernel(pairs$u, h^2, kernel))
}

# LSCV(h) = sum_ij p_i p_j (K*K)_h - 2 c sum_{i != j} p_i p_j K_h, p = w / sum(w): the integral of fhat^2 and the mean
# of the leave-one-out estimate. c = 1 / (1 - sum p_i^2) makes the second an unbiased estimate of E K_h(X - Y); with
# equal weights the divisor is then n (n - 1) (Wand & Jones 1995, section 3.3); c = 1 is that of Andrzejewski et al.
# (2013).
# Attribute "terms": the sum of the absolute values of all terms.
reference_lscv <- function(x, h, kernel = "gaussian", w = rep(1, length(x)), form = "unbiased") {
  p <- w / sum(w)
  divisor <- if (form == "unbiased") 1 - sum(p^2) else 1
  pairs <- reference_pairs(x, p)
  parts <- vapply(h, function(one) {
    terms <- reference_curve_terms(pairs, one, kernel)
    convolution <- sum(p^2) * reference_convolution(kernel, 0) / one + 2 * sum(terms$convolution)
    c(convolution, 4 * sum(terms$kernel) / divisor)
  }, numeric(2))
  structure(parts[1, ] - parts[2, ], terms = parts[1, ] + parts[2, ])
}

# psi_r(g) for even r of any size, and the sum of the absolute values of its terms.
reference_psi_any <- function(x, g, r, w = rep(1, length(x))) {
  p <- w / sum(w)
  u <- outer(x, x, `-`) / g
  terms <- outer(p, p) * reference_hermite(r, u) * dnorm(u) / g^(r + 1)
  structure(sum(terms), terms = sum(abs(terms)))
}

# The pilots of two-stage smoothed cross-validation as in ks: psi_6 and psi_10 at normal reference bandwidths, psi_4 and
# psi_8 at those that balance their bias, and the C of g(h) = C n^(-23/45) h^-2 (Jones, Marron & Park 1991; Wand & Jones
# 1995, section 3.7). n is the effective sample size.
reference_scv_constant <- function(x, nstage = 2, w = rep(1, length(x))) {
  p <- w / sum(w)
  n <- 1 / sum(p^2)
  scale <- sqrt(sum(p * (x - sum(p * x))^2) * n / (n - 1))
  normal_psi <- function(r) (-1)^(r / 2) * factorial(r) / ((2 * scale)^(r + 1) * factorial(r / 2) * sqrt(pi))
  psi6 <- if (nstage == 1) normal_psi(6) else reference_psi_any(x, (2 / (7 * n))^(1 / 9) * sqrt(2) * scale, 6, w)
  psi10 <- if (nstage == 1) normal_psi(10) else reference_psi_any(x, (2 / (11 * n))^(1 / 13) * sqrt(2) * scale, 10, w)
  psi4 <- reference_psi_any(x, as.vector(-6 / (sqrt(2 * pi) * psi6 * n))^(1 / 7), 4, w)
  psi8 <- reference_psi_any(x, as.vector(-210 / (sqrt(2 * pi) * psi10 * n))^(1 / 11), 8, w)
  (441 / (64 * pi))^(1 / 18) * (4 * pi)^(-1 / 5) * as.vector(psi4)^(-2 / 5) * as.vector(psi8)^(-1 / 9)
}

# SCV(h) = R(K) / (n h) + sum_ij p_i p_j (phi_{sqrt(2h^2 + 2g^2)} - 2 phi_{sqrt(h^2 + 2g^2)} + phi_{sqrt(2) g}).
reference_scv <- function(x, h, constant, w = rep(1, length(x))) {
  p <- w / sum(w)
  n <- 1 / sum(p^2)
  pairs <- reference_pairs(x, p)
  u <- pairs$u[, 1]
  vapply(h, function(one) {
    g <- constant * n^(-23 / 45) * one^-2
    smoothed <- function(h2) {
      sd <- sqrt(h2 * one^2 + 2 * g^2)
      2 * sum(pairs$w * dnorm(u, sd = sd)) + sum(p^2) * dnorm(0, sd = sd)
    }
    1 / (2 * sqrt(pi) * n * one) + smoothed(2) - 2 * smoothed(1) + smoothed(0)
  }, 0)
}

# One-dimensional samples on which careless sums lose digits.
bandwidth_shapes <- function(n = 150) {
  with_seed(20261102, {
    normal <- rnorm(n)
    list(
      uniform = runif(n), normal = normal, cauchy = rcauchy(n) * ifelse(seq_len(n) %% 50 == 0, 1e6, 1),
      offset = 1e9 + normal, ties = round(normal, 1), integers = sample(20, n, replace = TRUE),
      clusters = c(rnorm(50, 0, 1e-4), rnorm(50, 1e3, 1e-2), rnorm(50, 1e6)),
      outliers = c(normal, 1e6, -1e6), grid = seq(-1, 1, length.out = n),
      decades = 10^seq(-8, 7, length.out = n), two = c(0.1, 0.4), tied = c(1, 1, 1, 1, 2)
    )
  })
}

# Bandwidths from 1e-4 to twice the range of the sample, and two that are distances of the sample (on lattices the edge
# of a compact kernel then falls on observations).
shape_bandwidths <- function(x) {
  gaps <- unique(diff(sort(x)))
  gaps <- gaps[gaps > 0]
  unname(sort(c(diff(range(x)) * c(1e-4, 0.01, 0.1, 2), quantile(gaps, c(0.5, 1), type = 1))))
}

# The kernels of lscv().
lscv_kernel_names <- lscv_kernels()

lscv_by <- function(engine, x, h, kernel = "gaussian", w = NULL, form = "unbiased") {
  lscv_curve(lscv_sample(check_sample(x, w)), h, form, kernel, run_options(), engine)
}

# h^5 of the normal reference is this multiple of that for the Gaussian kernel: R(K) / mu2(K)^2 relative to its own
# (Wand & Jones 1995, section 3.2).
kernel_width <- function(kernel) {
  edge <- if (kernel == "gaussian") Inf else 1
  moment <- 2 * integrate(function(u) u^2 * reference_kernel(matrix(u), 1, kernel), 0, edge, rel.tol = 1e-12)$value
  reference_convolution(kernel, 0) / moment^2 * 2 * sqrt(pi)
}

engines_of <- function(kernel) if (kernel == "gaussian") c("direct", "fgt") else "sweep"
