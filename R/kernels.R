# The kernels: their constants in one dimension, and those of the radial kernels in d dimensions (Wand & Jones 1995,
# table 2.1 and section 4.5). R(K) is the roughness, the integral of K^2; mu2 the second moment.

kernel_names <- c("gaussian", "epanechnikov", "uniform", "triangular", "biweight", "triweight", "cosine")

# Kernels that are polynomials on their support, which the sweep engine takes.
sweep_kernels <- c("uniform", "triangular", "epanechnikov", "biweight", "triweight")

# The power p of a kernel proportional to (1 - r^2)^p on the unit ball.
kernel_power <- c(uniform = 0, epanechnikov = 1, biweight = 2, triweight = 3)

is_compact <- function(kernel) kernel != "gaussian"

# Distribution functions of the one-dimensional kernels.
kernel_cdf <- function(u, kernel) {
  if (kernel == "gaussian") return(stats::pnorm(u))
  u <- pmin(pmax(u, -1), 1)
  switch(kernel,
    uniform = (1 + u) / 2,
    epanechnikov = (2 - u) * (1 + u)^2 / 4,
    triangular = ifelse(u < 0, (1 + u)^2 / 2, 1 - (1 - u)^2 / 2),
    biweight = (1 + u)^3 * (8 - 9 * u + 3 * u^2) / 16,
    triweight = (1 + u)^4 * (16 - 29 * u + 20 * u^2 - 5 * u^3) / 32,
    cosine = (1 + sin(pi * u / 2)) / 2
  )
}

unit_ball_volume <- function(d) exp(d / 2 * log(pi) - lgamma(d / 2 + 1))

# Integral over the unit ball of r^a k(r)^q for the unnormalised profile k of a compact kernel.
ball_integral <- function(kernel, d, a, q) {
  radial <- switch(kernel,
    triangular = beta(d + a, q + 1),
    cosine = stats::integrate(function(r) r^(d - 1 + a) * cos(pi * r / 2)^q, 0, 1, rel.tol = 1e-12)$value,
    beta((d + a) / 2, q * kernel_power[[kernel]] + 1) / 2
  )
  d * unit_ball_volume(d) * radial
}

# K(0) of the radial kernel.
kernel_at_zero <- function(kernel, d) if (is_compact(kernel)) 1 / ball_integral(kernel, d, 0, 1) else (2 * pi)^(-d / 2)

# R(K) and mu2 of the d-variate kernel, radial or a product of d one-dimensional ones.
kernel_constants <- function(kernel, d, product = FALSE) {
  if (product && d > 1L) {
    one <- kernel_constants(kernel, 1L)
    return(list(roughness = one$roughness^d, second_moment = one$second_moment))
  }
  if (kernel == "gaussian") return(list(roughness = (4 * pi)^(-d / 2), second_moment = 1))
  mass <- ball_integral(kernel, d, 0, 1)
  list(
    roughness = ball_integral(kernel, d, 0, 2) / mass^2,
    second_moment = ball_integral(kernel, d, 2, 1) / (d * mass)
  )
}

# The h of H = h^2 Sigma that is asymptotically optimal when the data are normal with covariance Sigma (Wand & Jones
# 1995, section 4.3, with the integral of (nabla^2 f)^2 = d (d + 2) / 4 (4 pi)^(-d/2) of the standard normal). For the
# radial Epanechnikov kernel it is h = A n^(-1/(d+4)) of Lopez-Novoa (2015, ch. 6) and Silverman (1986, table 4.1).
reference_scale <- function(n, d, kernel, product = FALSE) {
  constants <- kernel_constants(kernel, d, product)
  (4 * (2 * sqrt(pi))^d * constants$roughness / ((d + 2) * constants$second_moment^2 * n))^(1 / (d + 4))
}
