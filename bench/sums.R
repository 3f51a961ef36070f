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

# Sums over all pairs, by an engine: what the criteria below take.
kestrel_pairs <- function(x, engine = "direct", isa = "auto", threads = 1L, w = rep(1, NROW(x)), kernel = "gaussian") {
  task <- list(engine = engine, use = "functional", kernel = kernel, n = NROW(x), bandwidths = 1, bandwidth = 0)
  run <- run_on(isa, threads)
  list(pairs = of_kestrel("pairs_cpp")(sample_of(x, w), task, run), run = run)
}

# LSCV in the paper's form at a bandwidth matrix with that root, at multiples h of it, and at bandwidths h on the line;
# psi_r(g) on the line.
kestrel_lscv <- function(x, root, gradient = FALSE, isa = "auto", threads = 1L, w = rep(1, nrow(x))) {
  of <- kestrel_pairs(x, isa = isa, threads = threads, w = w)
  of_kestrel("lscv_cpp")(of$pairs, list(H = tcrossprod(root), form = "paper", gradient = gradient), of$run)
}
# The sum over i < j of K_2H - 2 K_H in such a value.
pair_sum_of <- function(value, x, root) {
  at_zero <- (4 * pi)^(-ncol(x) / 2) / prod(diag(root))
  nrow(x)^2 / 2 * (value - at_zero / nrow(x))
}
kestrel_lscv_curve <- function(x, root, h, isa = "auto", threads = 1L, w = rep(1, nrow(x))) {
  of <- kestrel_pairs(x, isa = isa, threads = threads, w = w)
  of_kestrel("lscv_curve_cpp")(of$pairs, list(S = tcrossprod(root), h = h, form = "paper"), of$run)
}
kestrel_line_curve <- function(x, h, kernel = "gaussian", engine = "fgt") {
  of <- kestrel_pairs(x, engine, kernel = kernel)
  of_kestrel("lscv_curve_cpp")(of$pairs, list(S = matrix(1), h = h, form = "paper"), of$run)
}
kestrel_psi <- function(x, g, order, engine) {
  of <- kestrel_pairs(x, engine)
  of_kestrel("psi_1d")(of$pairs, g, order, of$run)
}

# Sums of a regression at bandwidths h.
kestrel_cv <- function(data, h, kernel = "epanechnikov", regtype = "lc", threads = 1L) {
  run <- run_on(threads = threads)
  sorted <- of_kestrel("regression_cpp")(list(x = data$x, y = data$y, w = rep(1, length(data$x))), run)
  of_kestrel("regression_cv_cpp")(sorted, list(h = h, kernel = kernel, regtype = regtype, order = 2L, bwtype = "fixed"), run)
}
