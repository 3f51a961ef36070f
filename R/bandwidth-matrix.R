# What the selectors of a bandwidth matrix share: the checks of their arguments, and the coordinates in which the data
# are sphered or scaled.

# The checked arguments that all of them have, with the sample. `one` is the selector for one column, `methods` the
# searches, and `offered` whether derivatives have the selector.
matrix_task <- function(x, w, na.action, Hstart, amise, deriv.order, optim.fun, one, methods = search_methods,
                        offered = FALSE, most = NULL, sketch = FALSE, bounds = NULL, period = NULL) {
  started <- proc.time()[["elapsed"]]
  order <- check_derivative_order(deriv.order, offered || !is.null(most))
  if (!is.null(most) && order > most) abort_input("`deriv.order` must be at most ", most, ", not ", order, ".")
  amise <- check_flag(amise, "amise")
  optim.fun <- check_choice(optim.fun, methods, "optim.fun")
  given <- if (sketch) check_sample_or_sketch(x, w, na.action) else check_sample(x, w, na.action)
  sample <- sample_with_images(given, bounds, period, order)
  d <- ncol(sample$x)
  if (d < 2L) abort_input("`x` must have at least two columns for a bandwidth matrix; ", one, "() takes one.")
  if (!is.null(Hstart)) Hstart <- check_H(Hstart, d, "Hstart")
  list(sample = sample, Hstart = Hstart, amise = amise, order = order, optim.fun = optim.fun, started = started)
}

matrix_engines <- c("auto", "fourier", "direct")

# The run of a criterion over all pairs. A GPU has direct sums only.
matrix_run <- function(threads, backend, engine) {
  run <- c(run_options(threads, backend, cuda = TRUE), engine = check_choice(engine, matrix_engines, "engine"))
  check_cuda_engine(run)
  if (run$backend == "cuda") run$engine <- "direct"
  run
}

check_pre <- function(pre, diagonal) {
  if (!diagonal) return(check_choice(pre, c("sphere", "scale"), "pre"))
  if (identical(pre, "sphere")) {
    abort_input("`pre` must be \"scale\" for a diagonal bandwidth matrix, not \"sphere\", which rotates the axes.")
  }
  check_choice(pre, "scale", "pre")
}

# A root of the covariance, or the standard deviations. The root is the symmetric one of the correlations, in units of
# the standard deviations. So the units and the order of the columns do not change the sphered data, except for their
# order. The symmetric root of the covariance itself would rotate them with every change of units.
pre_transform <- function(cov, pre) {
  scale <- sqrt(diag(cov))
  if (pre == "scale") return(diag(scale))
  scale * matrix_root(unname(stats::cov2cor(cov)))
}

# A diagonal root is inverted by itself: solve() would call standard deviations in very different units singular.
inverse_root <- function(root) if (is_diagonal(root)) diag(1 / diag(root)) else solve(root)

# A matrix H for y, where x = root y, in the units of x; the root need not be symmetric.
moved_back <- function(H, root) {
  H <- root %*% H %*% t(root)
  (H + t(H)) / 2
}
