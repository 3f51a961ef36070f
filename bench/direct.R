# Speed of the direct engine: pairs per second on one core, compared with the machine's limit and with a scalar loop of
# the same formula, alternating, medians of the ratios; and with ks at the same points. All in one run, seconds of user
# CPU.
#
#   Rscript bench/direct.R [--short] [rates plan tree threads interrupt]     (kestrel installed; ks for its column)
#
# The limit counts the vector operations of one vector of pairs on the two multiply-add ports. With AVX-512: 2 d for the
# squared distance and 13 more (reduce, ten multiply-adds of the exponential, scale, accumulate). With AVX2: 2 d + 16
# (three to round, ten, one shift, one comparison, accumulate; its integer add and its mask go to the third port). Each
# operation takes one slot. A loop of multiply-adds only measures how many slots per second there are.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
source(file.path(here, "harness.R"))
source(file.path(here, "sums.R"))
compile("clock.cpp", "limits.cpp")
isa_available <- kestrel_info()$isa_available

repetitions <- sized(9L, 3L)
cpu_seconds <- function(expression) {
  # User time of this process: a stolen core does not count, a slow clock does.
  system.time(expression, gcFirst = FALSE)[["user.self"]]
}

slots_needed <- list(avx512 = function(d) 2 * d + 13, avx2 = function(d) 2 * d + 16)
lanes <- c(avx512 = 8, avx2 = 4)

# Samples, points and the part of them for the scalar loop, in units of the bandwidth.
rates_task <- function(d) {
  # About a quarter of a second with AVX-512, a twentieth in short runs.
  n <- 20000L
  m <- as.integer(sized(5e8, 1e8) * 15 / (2 * d + 13) / n)
  x <- matrix(rnorm(n * d), n) / sqrt(d)
  points <- matrix(rnorm(m * d), m) / sqrt(d)
  # The time of this loop is linear in the points, so a few are enough.
  few <- seq_len(max(32L, m %/% 40L))
  list(d = d, n = n, m = m, x = x, points = points, few = few, tx = t(x) / 0.5,
       tp = t(points[few, , drop = FALSE]) / 0.5)
}
direct_sums <- function(task, isa, points = task$points) {
  kestrel_sums(task$x, points, diag(0.5, task$d), isa = isa)
}
# ks at all of the points, since most of its time is spent per sample, whatever their number. That takes some seconds,
# so it runs once, after a call at one point.
ks_rate <- function(task) {
  if (task$d > 6 || !has("ks")) return(NA_real_)
  estimate <- function(points) {
    if (task$d == 1) ks::kde(task$x[, 1], h = 0.5, eval.points = points[, 1], binned = FALSE, compute.cont = FALSE)
    else ks::kde(task$x, H = diag(0.25, task$d), eval.points = points, binned = FALSE, compute.cont = FALSE)
  }
  estimate(task$points[1, , drop = FALSE])
  task$n * task$m / cpu_seconds(estimate(task$points))
}

rates_of <- function(task, isa, ks) {
  d <- task$d
  rounds <- sized(5e7, 1e7)
  rate <- vapply(seq_len(repetitions), function(r) {
    # Half of the limit's loop right before and half right after: other tenants slow the machine from second to second.
    before <- cpu_seconds(multiply_adds(isa, rounds))
    fast <- task$n * task$m / cpu_seconds(direct_sums(task, isa))
    slots <- 24 * rounds / (before + cpu_seconds(multiply_adds(isa, rounds)))
    scalar <- task$n * length(task$few) / cpu_seconds(scalar_loop(task$tx, task$tp))
    c(slots = slots, fast = fast, scalar = scalar, share = fast * slots_needed[[isa]](d) / lanes[[isa]] / slots,
      gain = fast / scalar)
  }, numeric(5))
  exact <- direct_sums(task, isa, task$points[task$few, , drop = FALSE])
  plain <- scalar_loop(task$tx, task$tp) * (2 * pi)^(-d / 2) / 0.5^d
  middle <- apply(rate, 1, stats::median)
  keep("Gaussian sums", isa, c("pairs/s", "share of the limit"), middle[c("fast", "share")], d = d, n = task$n,
       m = task$m)
  data.frame(
    isa = isa, d = d, m = task$m, `pairs/s` = sprintf("%.3g", middle["fast"]),
    `limit/s` = sprintf("%.3g", middle["slots"] * lanes[[isa]] / slots_needed[[isa]](d)),
    `of limit` = sprintf("%.0f %%", 100 * middle["share"]),
    range = sprintf("%.0f-%.0f", 100 * min(rate["share", ]), 100 * max(rate["share", ])),
    `scalar/s` = sprintf("%.3g", middle["scalar"]), `x scalar` = sprintf("%.1f", middle["gain"]),
    `ks/s` = if (is.na(ks)) "-" else sprintf("%.3g", ks), `x ks` = if (is.na(ks)) "-" else figure(middle["fast"] / ks),
    difference = sprintf("%.1e", max(abs(exact - plain)) / max(plain)), scalar = middle["scalar"], check.names = FALSE
  )
}

bench_rates <- function() {
  isas <- intersect(c("avx512", "avx2"), isa_available)
  cat("\nPairs a second of n = 20,000 samples at m points; the scalar loop at a fortieth of them\n")
  rows <- lapply(sized(c(1, 2, 3, 6, 16, 62), c(1, 3, 16)), function(d) {
    task <- rates_task(d)
    ks <- ks_rate(task)
    rows <- do.call(rbind, lapply(isas, rates_of, task = task, ks = ks))
    keep("Gaussian sums", "scalar loop", "pairs/s", stats::median(rows$scalar), d = d, n = task$n,
         m = length(task$few))
    if (!is.na(ks)) keep("Gaussian sums", "ks, binned = FALSE", "pairs/s", ks, d = d, n = task$n, m = task$m)
    rows[names(rows) != "scalar"]
  })
  rows <- do.call(rbind, rows)
  show(rows[order(match(rows$isa, isas)), ])
  cat("difference: largest one from the scalar loop, relative to the largest value\n")
}

# ---- vector operations per second, the constants of src/core/plan/plan.cpp
bench_plan <- function() {
  cat("\nplan: operations a second (2 d + 13 a vector), d = 2\n")
  for (isa in isa_available) {
    n <- 20000L
    m <- switch(isa, scalar = 500L, sse2 = 1000L, 4000L)
    x <- matrix(rnorm(2 * n), n)
    p <- matrix(rnorm(2 * m), m)
    seconds <- replicate(5, cpu_seconds(
      kestrel_sums(x, p, diag(0.5, 2), isa = isa)
    ))
    width <- switch(isa, scalar = 1, sse2 = 2, avx2 = 4, avx512 = 8)
    rate <- n * m * 17 / width / stats::median(seconds)
    keep("plan", isa, "vector operations/s", rate, d = 2L, n = n, m = m)
    cat(sprintf("  %-7s %.2g\n", isa, rate))
  }
}

# ---- compact kernels at scattered points: trees beside all pairs, which are timed at a part of the points
bench_tree <- function() {
  cat("\ntree: seconds of one thread, n = m, by kdtree and by all pairs (at 1/100 of the points, or 500)\n")
  n <- sized(1e6, 1e5)
  # The normal reference of the Epanechnikov kernel, and a bandwidth that reaches everything.
  tasks <- expand.grid(kernel = c("epanechnikov", "triangular"), d = 2:3, reach = c("reference", "huge"),
                       stringsAsFactors = FALSE)
  rows <- lapply(seq_len(nrow(tasks)), function(i) {
    of <- tasks[i, ]
    n <- if (of$reach == "huge" && of$kernel == "triangular") 3e4 else n
    x <- matrix(rnorm(n * of$d), n)
    points <- matrix(rnorm(n * of$d), n)
    h <- if (of$reach == "huge") 100 else of_kestrel("reference_scale")(n, of$d, of$kernel)
    some <- points[seq_len(max(500, n / 100)), , drop = FALSE]
    root <- diag(h, of$d)
    tree <- cpu_seconds(fast <- kestrel_sums(x, points, root, of$kernel, engine = "kdtree"))
    direct <- cpu_seconds(all <- kestrel_sums(x, some, root, of$kernel)) * n / nrow(some)
    keep("compact kernels at points", c("kdtree", "direct"), "seconds", c(tree, direct), d = of$d, n = n, m = n)
    data.frame(kernel = of$kernel, d = of$d, n = n, h = figure(h), kdtree = figure(tree), direct = figure(direct),
               ratio = figure(direct / tree),
               difference = sprintf("%.1e", max(abs(fast[seq_along(all)] - all)) / max(all)))
  })
  show(do.call(rbind, rows))
}

bench_threads <- function() {
  cat("\nthreads: seconds of wall time, d = 2, n = 20000, m = 20000\n")
  x <- matrix(rnorm(40000), 20000)
  for (threads in 1:2) {
    wall <- replicate(repetitions, system.time(
      kestrel_sums(x, x, diag(0.5, 2), threads = threads)
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
      try(kestrel_sums(x, x, diag(0.5, 2), isa = isa, threads = 2L), silent = TRUE)
      setTimeLimit()
      proc.time()[["elapsed"]] - start - 0.5
    }, 0)
    keep("interrupt", isa, "seconds late", stats::median(late), d = 2L, n = 1e5, m = 1e5)
    cat(sprintf("  %-7s median %.3f, largest %.3f\n", isa, stats::median(late), max(late)))
  }
}

run_sections(list(rates = bench_rates, plan = bench_plan, tree = bench_tree, threads = bench_threads,
                  interrupt = bench_interrupt))
