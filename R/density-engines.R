# Objectives and values of densities of numbers alone with the Gaussian kernel: engines for densities and for sums over
# pairs take less time than sums of mixed data, which are over all pairs.

# What these engines take. Densities given others are ratios. They work on the CPU.
takes_engines <- function(core, run) {
  run$backend != "cuda" && all(core$icon) && !any(core$given) && !is_distribution(core) &&
    core$ckertype == "gaussian" && core$ckerorder == 2L && core$ndim <= 3L
}

# The columns of a data frame of numbers: a matrix, or on the line a vector.
numbers_matrix <- function(columns) {
  heard()
  x <- lapply(columns, numbers_of)
  if (length(x) == 1L) x[[1L]] else do.call(cbind, unname(x))
}

# The core's sample of them.
numbers_sample <- function(core) sample_cpp(numbers_matrix(unclass(core$x)), ones_cpp(core$nobs))

# The objective as mixed_density_objective_cpp() has it.
objective_by_engines <- function(core, run) {
  data <- list(sample = numbers_sample(core), pairs = NULL, unit = NULL)
  if (core$method != "cv.ml") data[c("pairs", "unit")] <- diagonal_pairs(core, data$sample, run)
  function(sample, task, gradient, run) refusing_memory(leave_one_out_cpp(data, sample, task, gradient, run))
}

# Sums over pairs for bandwidths of each column, and the units in which products of these are numbers.
diagonal_pairs <- function(core, data, run) {
  if (core$ndim == 1L) return(list(pairs = line_pairs(list(x = core$x[[1L]], data = data), run), unit = 1))
  found <- sample_covariance_cpp(data)
  sample <- list(x = numbers_matrix(unclass(core$x)), w = ones_cpp(core$nobs), n = core$nobs, cov = found$cov,
                 mean = found$mean, root = diag(sqrt(diag(found$cov))), data = data)
  unit <- near_units(sample$cov)
  list(pairs = matrix_pairs(in_units(without_correlations(sample), unit), "auto", run, "search"), unit = unit)
}

# Densities at points, a list of columns, and the standard errors of these means of kernels K_h(e - x), whose squares
# are kernels with the bandwidth h / sqrt(2) times (2 sqrt(pi) h)^-1 for each column.
values_by_engines <- function(core, raw, columns, run) {
  run[c("engine", "tol")] <- list("auto", 1e-12)
  points <- matrix(numbers_matrix(columns), ncol = core$ndim)
  task <- list(sample = numbers_sample(core), points = points, axes = list(), root = NULL, kernel = "gaussian",
               kernel_type = "radial", m = nrow(points), complete = identity, within = numeric(0))
  at <- function(h) {
    task$root <- diag(h, core$ndim)
    heard()
    pmax(refusing_memory(density_cpp(task, run, function(plan) NULL))$values, 0)
  }
  density <- at(raw)
  squares <- at(raw / sqrt(2)) / prod(2 * sqrt(pi) * raw)
  heard()
  list(density = density, se = sqrt(pmax(squares - density^2, 0) / (core$nobs - 1)))
}
