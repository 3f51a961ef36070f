# How close the engines for the CPU come to the machine's limits (the roofline of Williams et al. 2009, used for S-KDE
# by Lopez-Novoa 2015, chapter 5): the maximum rates of floating-point operations and of bytes, measured here, and
# kernels with the operations and bytes of their loops, counted in the sources. One thread, double precision.
#
#   Rscript bench/roofline.R [--short] [ceilings kernels]
#
# Operations are additions, multiplications and roundings; a multiply-add is two. Bytes are those that a loop requests
# for samples and pairs, most of which come from a cache; the numbers of a point, used for many samples, stay in
# registers. Both depend on the instruction set, below. S-KDE (bench/papers/skde.hpp) takes 2 d^2 + d + 4 operations for
# distance, density and addition, at each point that a sample reaches, which is read and written.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("harness.R", "sums.R", "normal-data.R", "grid-task.R")) source(file.path(here, file))
compile("clock.cpp", "limits.cpp", "papers/skde.cpp")
# The widest of this machine, or that of options(kestrel.isa =).
isa <- kestrel_info()$isa

# ---- counts of src/simd/
# Points that are paired with a vector of samples at a time (kGroup).
group <- if (isa == "avx512") 8 else 4
# 2^v is ten multiply-adds and, with AVX-512, one instruction for the fraction and one that scales. Other sets round by
# an addition and two subtractions, and insert the exponent with integers (exp2.inc).
exponential <- 20 + if (isa == "avx512") 2 else 3
# For a pair: a difference and a multiply-add for each variable, the exponential, and a multiply-add with the weight
# (direct_sums.inc). For LSCV: a product, an addition and a multiply-add, and six operations for a group
# (gaussian_pairs.inc). For a pair and a bandwidth of a curve: the exponential, those of LSCV, one product more, and one
# for a group.
operations <- list(sums = function(d) 3 * d + exponential + 2,
                   lscv = function(d) 3 * d + exponential + 4 + 6 / group, curve = exponential + 5 + 1 / group)
# A vector of samples is d numbers and a weight for each lane, read for a group of points. For a curve, two numbers for
# a pair and the smallest distance of a group.
bytes <- list(pairs = function(d) 8 * (d + 1) / group, curve = 16 + 8 / group)

# ---- the machine's limits
bench_ceilings <- function() {
  lanes <- c(avx512 = 8, avx2 = 4)[isa]
  if (is.na(lanes)) return(cat("no vector instructions to measure\n"))
  rounds <- sized(5e7, 1e7)
  flops <- 2 * 12 * rounds * lanes / middle(race(list(fma = function() multiply_adds(isa, rounds))))
  keep("ceiling", "multiply-adds", "flops/s", flops)
  # Three arrays larger than all caches, and three that fit into the level-2 cache.
  triads <- vapply(c(memory = sized(6.4e7, 3.2e7), cache = 2e4), function(size) {
    rounds <- as.integer(max(1, 4e7 / size))
    24 * size * rounds / middle(race(list(triad = function() triad(size, rounds))))[[1L]]
  }, 0)
  keep("ceiling", names(triads), "bytes/s", triads)
  show(data.frame(ceiling = c("multiply-adds", names(triads)), `1e9/s` = figure(c(flops, triads) / 1e9),
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
      kestrel_sums(x, at, diag(0.5, d), isa = isa)
    })
    place("Gaussian sums", d, seconds, as.numeric(n) * m, operations$sums(d), bytes$pairs(d), n, m)
  }
  n <- sized(8192L, 4096L)
  for (d in c(2L, 6L, 16L)) {
    x <- matrix(stats::rnorm(n * d), n)
    seconds <- timed(function() kestrel_lscv(x, diag(0.5, d), isa = isa))
    place("LSCV, all pairs", d, seconds, n * (n - 1) / 2, operations$lscv(d), bytes$pairs(d), n)
  }
  n <- 2048L
  x <- matrix(stats::rnorm(n * 6L), n)
  h <- seq(0.25, 4, length.out = 50L)
  seconds <- timed(function() {
    kestrel_lscv_curve(x, diag(0.5, 6L), h, isa)
  })
  place("LSCV curve, pairs and bandwidths", 6L, seconds, n * (n - 1) / 2 * length(h), operations$curve, bytes$curve, n)
  bench_thesis()
  show(placed)
}
# S-KDE of the thesis, sample by sample: its points lie one after the other in the grid.
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
