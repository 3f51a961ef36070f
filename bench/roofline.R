# How near the machine's limits the engines for the CPU come (the roofline of Williams et al. 2009, used for S-KDE by
# Lopez-Novoa 2015, chapter 5): the largest rate of floating-point operations and of bytes, measured here, and kernels
# with the operations and bytes that their loops have, counted in their sources. One thread, double precision.
#
#   Rscript bench/roofline.R [--short] [ceilings kernels]
#
# Operations: a multiply-add is two. Of a pair: 3 d of the squared distance, 23 of the Gaussian and its addition to the
# sum (src/simd/exp2.hpp: ten multiply-adds); of LSCV 3 more for the second kernel and its sum; for one more bandwidth
# of a curve, 27. Of S-KDE (bench/papers/skde.hpp) 2 d^2 + d + 4 of distance, density and addition, at a
# point that a sample reaches. Bytes are those that a loop asks for, most of which a cache answers: d + 1 numbers of a
# sample for 8 points at a time (src/simd/kernels.hpp), two numbers of a pair for each bandwidth, a point of a grid
# read and written.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("harness.R", "grid-task.R")) source(file.path(here, file))
compile("clock.cpp", "limits.cpp", "papers/skde.cpp")
isa <- kestrel_info()$isa

# ---- what the machine can do
bench_ceilings <- function() {
  lanes <- c(avx512 = 8, avx2 = 4)[isa]
  if (is.na(lanes)) return(cat("no vector instructions to measure\n"))
  operations <- sized(5e7, 1e7)
  flops <- 2 * 12 * operations * lanes / middle(race(list(fma = function() multiply_adds(isa, operations))))
  keep("ceiling", "multiply-adds", "flops/s", flops)
  # Three arrays beyond all caches, and three that fit into the second level.
  bytes <- vapply(c(memory = sized(6.4e7, 3.2e7), cache = 2e4), function(size) {
    rounds <- as.integer(max(1, 4e7 / size))
    24 * size * rounds / middle(race(list(triad = function() triad(size, rounds))))[[1L]]
  }, 0)
  keep("ceiling", names(bytes), "bytes/s", bytes)
  show(data.frame(ceiling = c("multiply-adds", names(bytes)), `1e9/s` = figure(c(flops, bytes) / 1e9),
                  check.names = FALSE))
}

# ---- kernels
placed <- NULL
place <- function(kernel, d, times, count, flops, bytes, n, m = NA) {
  rate <- count * flops / stats::median(times)
  keep(kernel, "kestrel", c("flops/s", "flops/byte"), c(rate, flops / bytes), d = d, n = n, m = m)
  placed <<- rbind(placed, data.frame(kernel = kernel, d = d, `flops/byte` = figure(flops / bytes),
                                      `1e9 flops/s` = figure(rate / 1e9), check.names = FALSE))
}
timed <- function(call) middle(race(list(call = call)))[[1L]]

bench_kernels <- function() {
  n <- 20000L
  for (d in c(1L, 2L, 3L, 6L, 16L, 62L)) {
    x <- matrix(stats::rnorm(n * d), n) / sqrt(d)
    m <- as.integer(sized(3e8, 6e7) / (2 * d + 13) * 15 / n)
    at <- x[seq_len(m), , drop = FALSE] + 0.1
    seconds <- timed(function() {
      of_kestrel("density_points_cpp")(x, rep(1, n), at, diag(0.5, d), "gaussian", FALSE, "direct", 1L, "auto", NULL)
    })
    place("Gaussian sums", d, seconds, as.numeric(n) * m, 3 * d + 23, 8 * (d + 1) / 8, n, m)
  }
  n <- sized(8192L, 4096L)
  for (d in c(2L, 6L, 16L)) {
    x <- matrix(stats::rnorm(n * d), n)
    seconds <- timed(function() of_kestrel("direct_lscv_cpp")(x, rep(1, n), diag(0.5, d), FALSE, 1L, "auto", NULL))
    place("LSCV, all pairs", d, seconds, n * (n - 1) / 2, 3 * d + 26, 8 * (d + 1) / 8, n)
  }
  n <- 2048L
  x <- matrix(stats::rnorm(n * 6L), n)
  h <- seq(0.25, 4, length.out = 50L)
  seconds <- timed(function() {
    of_kestrel("direct_lscv_curve_cpp")(x, rep(1, n), diag(0.5, 6L), h, 1L, "auto", NULL)
  })
  place("LSCV curve, pairs and bandwidths", 6L, seconds, n * (n - 1) / 2 * length(h), 27, 16, n)
  bench_thesis()
  show(placed)
}
# S-KDE, sample by sample, of the thesis: its points lie one after the other in the grid.
bench_thesis <- function() {
  for (points in list(c(1400, 1350), c(110, 220, 322))) {
    d <- length(points)
    task <- task_for(normal_data(1e5, correlations[[d]]), points)
    x <- task$x[seq_len(max(50, round(sized(4e7, 1e7) / task$influenced))), , drop = FALSE]
    grid <- numeric(evaluation_points(task))
    seconds <- timed(function() lopez_novoa_s_kde(x, task, TRUE, FALSE, grid))
    place("S-KDE of the thesis", d, seconds, nrow(x) * task$influenced, 2 * d^2 + d + 4, 16, nrow(x),
          evaluation_points(task))
  }
}

run_sections(list(ceilings = bench_ceilings, kernels = bench_kernels))
