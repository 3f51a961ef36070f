# Speed of the direct engine: pairs a second on one core, beside the machine's limit, a scalar loop
# of the same formula and ks, all in one run, alternating; medians of the ratios.
#
#   Rscript bench/direct.R [--short] [rates plan threads interrupt]     (kestrel installed; ks for its column)
#
# The limit counts the vector operations that one vector of pairs needs on the two multiply-add
# ports: with AVX-512 2 d for the squared distance and 13 more (reduce, ten multiply-adds of the
# exponential, scale, accumulate); with AVX2 2 d + 16 (three to round, ten, one shift, one
# comparison, accumulate; its integer add and its mask go to the third port). Each operation takes one slot; how
# many slots a second there are is measured by a loop of nothing but multiply-adds.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
source(file.path(here, "harness.R"))
compile("clock.cpp", "limits.cpp")
kernel_sum <- of_kestrel("density_points_cpp")
isa_available <- of_kestrel("isa_available_cpp")()

repetitions <- sized(9L, 3L)
cpu_seconds <- function(expression) {
  # User time of this process: a stolen core does not count, a slow clock does.
  system.time(expression, gcFirst = FALSE)[["user.self"]]
}

slots_needed <- list(avx512 = function(d) 2 * d + 13, avx2 = function(d) 2 * d + 16)
lanes <- c(avx512 = 8, avx2 = 4)

rates_of <- function(d, isa) {
  # About a quarter of a second each, a tenth where it is short; the limit in two halves.
  n <- 20000L
  m <- as.integer(sized(5e8, 1e8) * lanes[[isa]] / 8 * 15 / (2 * d + 13) / n)
  m_scalar <- max(32L, m %/% 40L)
  rounds <- sized(5e7, 1e7)
  x <- matrix(rnorm(n * d), n) / sqrt(d)
  points <- matrix(rnorm(m * d), m) / sqrt(d)
  w <- rep(1, n)
  root <- diag(0.5, d)
  tx <- t(x) / 0.5
  tp <- t(points[seq_len(m_scalar), , drop = FALSE]) / 0.5
  has_ks <- d <= 6 && requireNamespace("ks", quietly = TRUE)
  m_ks <- 64L
  rate <- vapply(seq_len(repetitions), function(r) {
    # The limit right before and right after: other tenants of the machine slow all of it, by the second.
    before <- cpu_seconds(multiply_adds(isa, rounds))
    fast <- n * m / cpu_seconds(kernel_sum(x, w, points, root, "gaussian", FALSE, "direct", 1L, isa, NULL))
    slots <- 24 * rounds / (before + cpu_seconds(multiply_adds(isa, rounds)))
    scalar <- n * m_scalar / cpu_seconds(scalar_loop(tx, tp))
    ks <- NA_real_
    if (has_ks && r <= 3) {
      p <- points[seq_len(m_ks), ]
      ks <- n * m_ks / system.time(
        if (d == 1) ks::kde(x[, 1], h = 0.5, eval.points = p, binned = FALSE, compute.cont = FALSE)
        else ks::kde(x, H = diag(0.25, d), eval.points = p, binned = FALSE, compute.cont = FALSE)
      )[["elapsed"]]
    }
    c(slots = slots, fast = fast, scalar = scalar, ks = ks,
      share = fast * slots_needed[[isa]](d) / lanes[[isa]] / slots, gain = fast / scalar)
  }, numeric(6))
  exact <- kernel_sum(x, w, points[seq_len(m_scalar), , drop = FALSE], root, "gaussian", FALSE, "direct", 1L, isa, NULL)
  plain <- scalar_loop(tx, tp) * (2 * pi)^(-d / 2) / 0.5^d
  middle <- apply(rate, 1, stats::median, na.rm = TRUE)
  keep("Gaussian sums", c(isa, "scalar loop", "ks, binned = FALSE"), "pairs/s", middle[c("fast", "scalar", "ks")],
       d = d, n = n, m = c(m, m_scalar, m_ks))
  keep("Gaussian sums", isa, "share of the limit", middle["share"], d = d, n = n, m = m)
  data.frame(
    isa = isa, d = d, `pairs/s` = sprintf("%.3g", middle["fast"]),
    `limit/s` = sprintf("%.3g", middle["slots"] * lanes[[isa]] / slots_needed[[isa]](d)),
    `of limit` = sprintf("%.0f %%", 100 * middle["share"]),
    range = sprintf("%.0f-%.0f", 100 * min(rate["share", ]), 100 * max(rate["share", ])),
    `scalar/s` = sprintf("%.3g", middle["scalar"]), `x scalar` = sprintf("%.1f", middle["gain"]),
    `ks/s` = if (has_ks) sprintf("%.3g", middle["ks"]) else "-",
    `x ks` = if (has_ks) sprintf("%.0f", middle["fast"] / middle["ks"]) else "-",
    difference = sprintf("%.1e", max(abs(exact - plain)) / max(plain)), check.names = FALSE
  )
}

bench_rates <- function() {
  isas <- intersect(c("avx512", "avx2"), isa_available)
  rows <- lapply(isas, function(isa) do.call(rbind, lapply(sized(c(1, 2, 3, 6, 16, 62), c(1, 3, 16)), rates_of, isa)))
  show(do.call(rbind, rows))
  cat("difference: largest one from the scalar loop, relative to the largest value\n")
}

# ---- vector operations a second reached, the constants of src/core/plan.cpp
bench_plan <- function() {
  cat("\nplan: operations a second (2 d + 13 a vector), d = 2\n")
  for (isa in isa_available) {
    n <- 20000L
    m <- switch(isa, scalar = 500L, sse2 = 1000L, 4000L)
    x <- matrix(rnorm(2 * n), n)
    p <- matrix(rnorm(2 * m), m)
    seconds <- replicate(5, cpu_seconds(
      kernel_sum(x, rep(1, n), p, diag(0.5, 2), "gaussian", FALSE, "direct", 1L, isa, NULL)
    ))
    width <- switch(isa, scalar = 1, sse2 = 2, avx2 = 4, avx512 = 8)
    rate <- n * m * 17 / width / stats::median(seconds)
    keep("plan", isa, "vector operations/s", rate, d = 2L, n = n, m = m)
    cat(sprintf("  %-7s %.2g\n", isa, rate))
  }
}

bench_threads <- function() {
  cat("\nthreads: seconds of wall time, d = 2, n = 20000, m = 20000\n")
  x <- matrix(rnorm(40000), 20000)
  for (threads in 1:2) {
    wall <- replicate(repetitions, system.time(
      kernel_sum(x, rep(1, 20000), x, diag(0.5, 2), "gaussian", FALSE, "direct", threads, "auto", NULL)
    )[["elapsed"]])
    keep("threads", paste(threads, "threads"), "seconds", stats::median(wall), d = 2L, n = 20000L, m = 20000L)
    cat(sprintf("  %d: %.3f\n", threads, stats::median(wall)))
  }
}

# ---- how long after its time limit a long call comes back
bench_interrupt <- function() {
  cat("\ninterrupt: seconds by which a call outlasts setTimeLimit(elapsed = 0.5)\n")
  for (isa in isa_available) {
    late <- vapply(seq_len(sized(5L, 2L)), function(r) {
      x <- matrix(rnorm(2e5), 1e5)
      start <- proc.time()[["elapsed"]]
      setTimeLimit(elapsed = 0.5, transient = TRUE)
      try(kernel_sum(x, rep(1, 1e5), x, diag(0.5, 2), "gaussian", FALSE, "direct", 2L, isa, NULL), silent = TRUE)
      setTimeLimit()
      proc.time()[["elapsed"]] - start - 0.5
    }, 0)
    keep("interrupt", isa, "seconds late", stats::median(late), d = 2L, n = 1e5, m = 1e5)
    cat(sprintf("  %-7s median %.3f, largest %.3f\n", isa, stats::median(late), max(late)))
  }
}

run_sections(list(rates = bench_rates, plan = bench_plan, threads = bench_threads, interrupt = bench_interrupt))
