# Sums of kestrel's core, without the checks before and the results made of them in kde(), npregbw() and the selectors.
# Sourced after harness.R.

run_on <- function(isa = "auto", threads = 1L, precision = "double") {
  replace(of_kestrel("run_options")(threads, precision = precision), "isa", isa)
}

# The core's sample.
sample_of <- function(x, w = of_kestrel("ones_cpp")(NROW(x))) of_kestrel("sample_cpp")(x, w)

# Sums of a kernel at points, or on a grid of axes, divided by the number of observations.
kestrel_sums <- function(x, points, root, kernel = "gaussian", engine = "direct", isa = "auto", threads = 1L,
                         axes = list(), w = rep(1, nrow(x))) {
  task <- list(sample = sample_of(x, w), points = points, axes = axes, root = root, kernel = kernel,
               kernel_type = "radial")
  of_kestrel("density_cpp")(task, c(run_on(isa, threads), engine = engine, tol = 1e-12), function(plan) NULL)$values
}

# Sums over all pairs: those of LSCV at a bandwidth matrix with that root, at multiples h of it, and at bandwidths h on
# the line; derivatives of the Gaussian kernel.
kestrel_lscv <- function(x, root, moments = FALSE, isa = "auto", threads = 1L, w = rep(1, nrow(x))) {
  of_kestrel("direct_lscv_cpp")(sample_of(x, w), list(root = root, moments = moments), run_on(isa, threads))
}
kestrel_lscv_curve <- function(x, root, h, isa = "auto", threads = 1L, w = rep(1, nrow(x))) {
  of_kestrel("direct_lscv_curve_cpp")(sample_of(x, w), list(root = root, h = h), run_on(isa, threads))
}
kestrel_pair_curve <- function(x, h, kernel = "gaussian", engine = "fgt") {
  of_kestrel("pair_curve_cpp")(sample_of(x), list(h = h, kernel = kernel, engine = engine),
                               run_on())
}
kestrel_derivatives <- function(x, g, order, engine) {
  of_kestrel("pair_laplacian_cpp")(sample_of(x), list(g = g, order = order, engine = engine),
                                   run_on())
}

# Sums of a regression at bandwidths h.
kestrel_cv <- function(data, h, kernel = "epanechnikov", regtype = "lc", threads = 1L) {
  run <- run_on(threads = threads)
  sorted <- of_kestrel("regression_cpp")(list(x = data$x, y = data$y, w = rep(1, length(data$x))), run)
  of_kestrel("regression_cv_cpp")(sorted, list(h = h, kernel = kernel, regtype = regtype), run)
}
