# Sums over all pairs of observations on a GPU or the CPU, for the bandwidth selectors.

# The work of such sums. `cpu`: in densities at all n observations by the direct engine (n^2 pairs of 2 d + 13
# operations, core/data/pair_seconds.cpp). `cuda`: in picoseconds of an H200 for each pair i < j; these
# are fits to times of 2026-11 by tools/gpu-check (16,384 observations; curves: 300,000).

# A search for a matrix, assumed to have 50 evaluations with their gradient. On the CPU one is estimated to take as long
# as a density: half of the pairs, and as long again for the gradient. Measured on the GPU: 10.5, 22 and 33 ps in 2, 6
# and 16 variables; the formula is within a fifth of these.
gradient_work <- function(d) list(cpu = 50, cuda = 50 * (8.5 + 1.6 * d))

# LSCV at many bandwidths: a pair i < j takes d differences once, and an exponential, 13 operations, for each bandwidth.
# Measured on the GPU: 18, 20 and 22 ps for 16 bandwidths in 1, 6 and 16 variables, and four times as much for 64.
curve_work <- function(d, bandwidths) {
  list(cpu = (d + 6.5 * bandwidths) / (2 * d + 13), cuda = 1.1 * bandwidths + 0.25 * d * ceiling(bandwidths / 16))
}

# One iterated Laplacian: half of a density's pairs, and a fifth more for its polynomial (an estimate). Measured on the
# GPU in one variable, orders 4 and 6: 2.4 ps. The slope is that of LSCV at one matrix, 0.6 ps a variable.
laplacian_work <- function(d) list(cpu = 0.6, cuda = 1.8 + 0.6 * d)

# All monomials up to an order. On the CPU: half of a density's pairs and an operation for each monomial. On a GPU, for
# the even ones: a fit within 13 per cent to 31 and 59 ps for orders 4 and 6 in 2 variables, 157 for 6 in 3, 293 and
# 1353 for 4 and 6 in 6, 1185 and 4608 for 4 in 10 and 16.
monomial_work <- function(d, order) {
  even <- sum(choose(d - 1 + seq(0, order, by = 2), d - 1))
  list(cpu = 0.5 * (1 + choose(d + order, order) / (2 * d + 13)), cuda = 1.55 * (order * even)^0.82)
}

# The run of direct sums over all pairs of n observations, with its device chosen: "auto" takes the one on which the
# `work` takes less time.
with_pairs_device <- function(run, n, d, work) {
  if (run$backend == "cpu") return(with_device(run, NULL))
  pairs <- n * (n - 1) / 2
  with_device(run, device_for(run, work$cpu * direct_seconds_cpp(n, d, run) / run$threads, function(device) {
    pairs * work$cuda * 1e-12 * cuda_slowness(device, run$precision)
  }))
}

# A run of sums on a line. For these "auto" is the CPU, whose engines take time proportional to the number of
# observations; a GPU sums every pair.
line_run <- function(threads, backend, precision = "double", kernel = "gaussian") {
  run <- run_options(threads, backend, cuda = TRUE, precision = precision)
  if (run$backend == "auto") run$backend <- "cpu"
  if (run$backend == "cuda" && kernel != "gaussian") {
    abort_input("`kernel` must be \"gaussian\" for backend = \"cuda\", not \"", kernel, "\".")
  }
  # A user's "cuda" is not compared with the CPU.
  with_device(run, device_for(run, Inf, function(device) 0))
}

# The sums of pair_laplacian_cpp() on the line, or the problem. For the density itself one pass over all pairs serves 16
# bandwidths.
psi_sums_cuda <- function(sample, task, run) {
  if (task$order > 0L || length(task$g) == 1L) return(pair_laplacian_cuda_cpp(sample, task, run))
  sums <- lscv_curve_cuda_cpp(sample, list(root = matrix(1), h = task$g), run)
  if (is_cuda_problem(sums)) sums else sums[, 2L]
}

# The run that selects a bandwidth on the way to a density: on a GPU only if that is faster.
selecting <- function(run, d) {
  run <- run[names(run) != "engine"]
  run$precision <- "double"
  if (run$backend == "cuda") run$backend <- "auto"
  if (d == 1L) run$backend <- "cpu"
  run
}
