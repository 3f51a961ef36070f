# Where the cross-validation of a regression runs.

# The engine of a regression's sums: windows are swept, on a GPU in blocks, or every pair is summed.
regression_engine <- function(kernel, backend) {
  if (kernel == "gaussian") "direct" else if (backend == "cuda") "blocks" else "sweep"
}

# Nanoseconds of one thread for a leave-one-out fit; for the Gaussian kernel, of a pair. Measured at n = 200,000 on one
# core with AVX-512: 17, 10, 30, 42 and 46 (local constant) and 87, 105, 104, 132 and 163 (local linear) for polynomials
# of degree 0, 1, 2, 4 and 6. Straight lines through these are within a factor of two, which is enough to choose a
# device.
regression_ns <- function(asked) {
  if (!is_compact(asked$ckertype)) return(1.3)
  degree <- regression_degree(asked$ckertype)
  if (asked$regtype == "ll") 87 + 12.5 * degree else 14 + 6 * degree
}

# The degree of a polynomial kernel.
regression_degree <- function(kernel) {
  row <- kernel_row(kernel)
  row$inner * row$outer
}

# Bandwidths beyond which terms of the Gaussian kernel are left out: exp(-9.6^2 / 2) is 1e-20.
gaussian_terms <- 9.6

# Expected seconds of a curve at bandwidths h, on one thread or on a GPU. On a GPU a fit with a polynomial kernel takes
# sums over log2(n) blocks of samples, for each of their powers. Fits to times of an H200 in 2026-11 by tools/gpu-check
# at n = 1e6: 8.9 ms for one bandwidth, most of it for sending and sorting; 18 to 44 ms for 100 bandwidths (local
# constant) and 42 to 94 ms (local linear), polynomials of degree 0 to 6. The formula is within an eighth of these. A
# pair of the Gaussian kernel takes 2.2 to 2.4 ps (n = 1e5).
regression_seconds <- function(x, h, asked, device = NULL) {
  n <- length(x)
  fits <- as.numeric(n) * length(h)
  gaussian <- !is_compact(asked$ckertype)
  if (gaussian) fits <- as.numeric(n)^2 * sum(pmin(1, 2 * gaussian_terms * h / stats::IQR(x)))
  if (is.null(device)) return(1e-9 * fits * regression_ns(asked))
  linear <- asked$regtype == "ll"
  one <- if (gaussian) {
    2.3e-12
  } else {
    powers <- regression_degree(asked$ckertype) + if (linear) 2 else 0
    log2(n) / log2(1e6) * 1e-9 * if (linear) 0.21 + 0.0064 * (powers + 2)^2 else 0.09 + 0.0042 * (powers + 2)^2
  }
  cuda_slowness(device) * fits * one + 8.7e-9 * n
}

# The run with its device chosen for a curve at bandwidths h.
with_regression_device <- function(run, x, h, asked) {
  on <- function(device) regression_seconds(x, h, asked, device)
  with_device(run, device_for(run, on(NULL) / run$threads, on))
}

# The observations of positive weight of a sample or a bandwidth object: x, y, w, and `sorted`, the core's sample of
# them. The CPU sorts it when it first needs it.
observations_of <- function(sample, run) {
  data <- unclass(sample)[c("x", "y", "w")]
  if (weight_sums_cpp(sample$w)$positive < length(sample$w)) {
    used <- sample$w > 0
    data <- lapply(data, `[`, used)
  }
  c(data, sorted = regression_cpp(data, run))
}

# What regression_cv_cpp() takes; src/rcpp_regression.cpp reads it.
local_fits <- function(h, asked) list(h = h, kernel = asked$ckertype, regtype = asked$regtype)

# The sums for a curve. A fit that has been made at the observations has those for its bandwidth.
regression_sums <- function(data, h, asked, run) {
  if (!is.null(data$fit)) return(data$fit)
  task <- local_fits(h, asked)
  sums_by_backend(run, regression_cv_cuda_cpp(data[c("x", "y", "w")], task, run),
                  regression_cv_cpp(data$sorted, task, run))
}

# The observations with `fit`, which regression_at_data_cpp() makes at one bandwidth. It serves the curve of a search at
# this bandwidth alone and the fit of npreg().
with_fit <- function(data, h, asked, errors, run) {
  if (is.null(data$fit)) data$fit <- regression_at_data_cpp(data$sorted, local_fits(h, asked), errors, run)
  data
}
