# The kernels: their constants in one dimension, and those of the radial kernels in d dimensions (Wand & Jones 1995,
# table 2.1 and section 4.5). R(K) is the roughness, the integral of K^2; mu2 the second moment.

# The names of all kernels, in the order of the table in src/shared/kernels.def.
kernel_names <- function() kernel_table_cpp()$name

# The kernels that are polynomials on their support: those of the sweep engine, of LSCV in one dimension and of
# regression.
polynomial_kernels <- function() {
  table <- kernel_table_cpp()
  table$name[table$form == "power"]
}

# One kernel's row of the table: `name`, `form` and, for polynomials (1 - |u|^inner)^outer, the two exponents.
kernel_row <- function(kernel) {
  table <- kernel_table_cpp()
  lapply(table, `[[`, match(kernel, table$name))
}

is_compact <- function(kernel) kernel != "gaussian"

# Integral over the unit ball of r^a k(r)^q for the unnormalised profile k of a compact kernel.
ball_integral <- function(kernel, d, a, q) {
  row <- kernel_row(kernel)
  radial <- if (row$form == "power") {
    beta((d + a) / row$inner, q * row$outer + 1) / row$inner
  } else {
    stats::integrate(function(r) r^(d - 1 + a) * cos(pi * r / 2)^q, 0, 1, rel.tol = 1e-12)$value
  }
  d * ball_volume_cpp(d) * radial
}

# The N(0, H) density at 0.
normal_at_zero <- function(H) (2 * pi)^(-nrow(H) / 2) / prod(diag(lower_root_cpp(unname(H))))

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

# The h that is asymptotically optimal, with H = h^2 Sigma, if the data are normal with covariance Sigma (Wand & Jones
# 1995, section 4.3, with the integral of (nabla^2 f)^2 = d (d + 2) / 4 (4 pi)^(-d/2) of the standard normal). For the
# radial Epanechnikov kernel it is h = A n^(-1/(d+4)) of Lopez-Novoa (2015, ch. 6) and Silverman (1986, table 4.1).
reference_scale <- function(n, d, kernel, product = FALSE) {
  constants <- kernel_constants(kernel, d, product)
  (4 * (2 * sqrt(pi))^d * constants$roughness / ((d + 2) * constants$second_moment^2 * n))^(1 / (d + 4))
}
