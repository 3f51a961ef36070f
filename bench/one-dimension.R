# Speed and error of the engines for one dimension compared with reference programs, all in one run, alternating:
# medians, CPU time of the process, one thread, unless stated otherwise.
#
#   Rscript bench/one-dimension.R [--short] [cv large kernels plugin lscv density]
#
# kestrel must be installed. Every reference program is checked against plain R on a small sample before anything is
# timed. A method marked * ran on a few observations or points only, and its time was scaled to all of them.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("harness.R", "sums.R", "peers-densities.R", "peers-bandwidths.R")) source(file.path(here, file))
compile("clock.cpp", "one-dimension.cpp", "papers/rohlfs-zahran.cpp", "papers/naive-sweep.cpp")

largest_error <- function(value, exact) max(abs(value / exact - 1))

# ---- data, with those of regression_data()
# Seven clusters with standard deviations from 1e-4 to 1 at 0, ..., 1e6.
cluster_data <- function(n) {
  which <- sample.int(7L, n, replace = TRUE)
  local <- stats::rnorm(n)
  x <- c(0, 1, 1e2, 1e3, 1e4, 1e5, 1e6)[which] + 10^seq(-4, 0, length.out = 7L)[which] * local
  list(x = x, y = smooth_of(local) + stats::rnorm(n) / 3)
}
# The design of Rohlfs & Zahran (2017), section IV.
paper_data <- function(n) {
  x <- stats::runif(n)
  list(x = x, y = 0.5 * x + 10 * x^2 + stats::runif(n, 0, 0.5))
}
paper_grid <- function(x, k) diff(range(x)) * seq_len(k) / k

sorted <- function(data) lapply(data, `[`, order(data$x))
direct_cv <- function(data, h, ranks) with(sorted(data), windowed_direct_cv(x, y, h, ranks))

# ---- the reference programs against plain R
check_yardsticks <- function() {
  data <- regression_data(300L)
  n <- length(data$x)
  h <- geometric(0.02, 2, 20L)
  distance <- abs(outer(data$x, data$x, "-"))
  diag(distance) <- Inf
  plain <- vapply(h, function(h) {
    k <- ifelse(distance < h, 1 - (distance / h)^2, 0)
    fit <- colSums(k * data$y) / colSums(k)
    c(sum((data$y - fit)^2, na.rm = TRUE), sum(is.nan(fit)))
  }, numeric(2))
  paper <- rohlfs_zahran_cv(data$x, data$y, h, seq_len(n))
  naive <- naive_sweep_cv(data$x, data$y, rep(1, n), h)
  ours <- kestrel_cv(data, h)
  stopifnot(
    largest_error(paper$squares, plain[1, ]) < 1e-12, paper$unsupported == plain[2, ],
    largest_error(naive$squares, plain[1, ]) < 1e-9, naive$unsupported == plain[2, ],
    largest_error(direct_cv(data, h, seq_len(n)), plain[1, ]) < 1e-12,
    largest_error(long_double_cv(data$x, data$y, h), plain[1, ]) < 1e-12,
    largest_error(ours$squares, plain[1, ]) < 1e-12, ours$unsupported == plain[2, ],
    sort_values(data$x) == min(data$x), sort_pairs(data$x, data$y) == data$y[which.min(data$x)]
  )
}

# ---- cross-validation, n = 20,000, k = 50
race_cv <- function(name, data, h) {
  n <- length(data$x)
  few <- sort(sample.int(n, 200L))
  in_order <- sorted(data)
  times <- race(list(
    kestrel = function() kestrel_cv(data, h),
    paper = function() rohlfs_zahran_cv(data$x, data$y, h, few),
    naive = function() naive_sweep_cv(data$x, data$y, rep(1, n), h),
    direct = function() windowed_direct_cv(in_order$x, in_order$y, h, few),
    sort = function() sort_pairs(data$x, data$y)
  ))
  # Sorting, which direct sums need as well, is always of all observations.
  times[, c("paper", "direct")] <- times[, c("paper", "direct")] * n / length(few)
  times[, "direct"] <- times[, "direct"] + times[, "sort"]
  times <- times[, colnames(times) != "sort"]
  keep_times(times, paste("regression CV,", name), d = 1L, n = n, h = length(h),
             share = c(paper = length(few) / n, direct = length(few) / n))
  gain <- times_of(times, "paper", "kestrel")
  cost <- times_of(times, "kestrel", "naive")
  seconds <- figure(middle(times))
  data.frame(
    grid = name, `kestrel, s` = seconds["kestrel"], `R&Z*, s` = seconds["paper"],
    `naive, s` = seconds["naive"], `direct*, s` = seconds["direct"],
    `R&Z / kestrel` = figure(gain), `>= 700` = verdict(gain >= 700),
    `kestrel / naive` = figure(cost), `<= 2` = verdict(cost <= 2),
    `direct / kestrel` = figure(times_of(times, "direct", "kestrel")), check.names = FALSE
  )
}

error_cv <- function(name, data, h) {
  exact <- long_double_cv(data$x, data$y, h)
  everyone <- seq_along(data$x)
  error <- c(
    kestrel = largest_error(kestrel_cv(data, h)$squares, exact),
    `R&Z` = largest_error(rohlfs_zahran_cv(data$x, data$y, h, everyone)$squares, exact),
    naive = largest_error(naive_sweep_cv(data$x, data$y, rep(1, length(everyone)), h)$squares, exact),
    direct = largest_error(direct_cv(data, h, everyone), exact)
  )
  keep(paste("regression CV,", name), names(error), "error", error, d = 1L, n = length(everyone), h = length(h))
  data.frame(data = name, t(formatC(error, digits = 1, format = "e")), check.names = FALSE)
}

bench_cv <- function() {
  cat("\nLeave-one-out CV, Nadaraya-Watson, Epanechnikov, n = 20,000, 50 bandwidths\n")
  normal <- regression_data(20000L)
  paper <- paper_data(20000L)
  show(rbind(
    race_cv("normal x, 0.02 to 2 sd, geometric", normal, geometric(0.02, 2, 50L) * stats::sd(normal$x)),
    race_cv("normal x, range * j / 50", normal, paper_grid(normal$x, 50L)),
    race_cv("R&Z's data, range * j / 50", paper, paper_grid(paper$x, 50L))
  ))
  cat("\nLargest relative error of CV(h) over 50 bandwidths against long double, n = 4,000\n")
  normal <- regression_data(4000L)
  show(rbind(
    error_cv("normal", normal, geometric(0.02, 2, 50L)),
    error_cv("clusters", cluster_data(4000L), geometric(1e-4, 1e5, 50L))
  ))
}

# ---- cross-validation, n = 1e6 (short: 1e5), k = 100
bench_large <- function() {
  n <- sized(1000000L, 100000L)
  data <- regression_data(n)
  h <- geometric(0.02, 2, 100L)
  # NULL if it cannot be measured.
  bytes <- bytes_of("regression_cv", n)[["added"]] / n
  times <- race(list(
    sort = function() sort_pairs(data$x, data$y), kestrel = function() kestrel_cv(data, h)
  ))
  sorts <- times_of(times, "kestrel", "sort")
  keep_times(times, "regression CV, large", d = 1L, n = n, h = 100L)
  keep("regression CV, large", "kestrel", "bytes an observation", bytes, d = 1L, n = n, h = 2L)
  cat("\nThe same for n = ", figure(n, 7L), ", 100 bandwidths, 0.02 to 2 sd\n", sep = "")
  cat(sprintf("  %.2f s, %.0f ns a point and bandwidth; std::sort of the pairs %.3f s\n",
    middle(times)["kestrel"], 1e9 * middle(times)["kestrel"] / n / 100, middle(times)["sort"]))
  cat(sprintf("  memory that the call added: %.0f bytes an observation, sorted copies of x, y, w (24) included\n",
    bytes))
  # A sweep may take longer if it takes less memory; if memory cannot be measured, the stricter bar holds.
  small <- isTRUE(bytes <= 16)
  bar <- if (small) 45 else 35
  cat(sprintf("  %.1f sorts; bar %d with up to %d bytes of scratch: %s\n", sorts, bar, if (small) 16 else 100,
    verdict(sorts <= bar && !isTRUE(bytes > 100))))
  walls <- race(list(
    one = function() kestrel_cv(data, h, threads = 1L), two = function() kestrel_cv(data, h, threads = 2L)
  ), clock = wall_seconds)
  gain <- times_of(walls, "one", "two")
  keep("regression CV, large", "kestrel", "times faster on two threads", gain, d = 1L, n = n, h = 100L)
  cat(sprintf("  wall time, one thread %.2f s, two %.2f s: %.2f times (bar 1.8: %s)\n",
    middle(walls)["one"], middle(walls)["two"], gain, verdict(gain >= 1.8)))
}

# ---- the other kernels, local linear
bench_kernels <- function() {
  cat("\nns a point and bandwidth, n = 100,000, 10 bandwidths 0.02 to 2 sd (gaussian: n = 10,000)\n")
  kernels <- c("uniform", "triangular", "epanechnikov", "biweight", "triweight", "gaussian")
  h <- geometric(0.02, 2, 10L)
  rows <- lapply(kernels, function(kernel) {
    n <- if (kernel == "gaussian") 1e4 else 1e5
    data <- regression_data(n)
    times <- race(list(
      lc = function() kestrel_cv(data, h, kernel), ll = function() kestrel_cv(data, h, kernel, "ll")
    ))
    ns <- 1e9 * middle(times) / n / length(h)
    keep_times(times, paste("regression CV,", kernel), d = 1L, n = n, h = length(h))
    data.frame(kernel = kernel, `local constant` = figure(ns["lc"]), `local linear` = figure(ns["ll"]),
      `ll / lc` = figure(times_of(times, "ll", "lc")), check.names = FALSE)
  })
  show(do.call(rbind, rows))
}

# ---- two-stage plug-in (Wand & Jones 1995, section 3.6)
bench_plugin <- function() {
  cat("\nTwo-stage plug-in, normal data\n")
  x <- stats::rnorm(32768L)
  stopifnot(largest_error(plug_in(x, "fgt"), plug_in(x, "direct")) < 1e-12, largest_error(hpi(x), plug_in(x)) < 1e-12)
  times <- race(list(cells = function() plug_in(x), direct = function() plug_in(x, "direct")), rounds = 5L)
  gain <- times_of(times, "direct", "fgt")
  cat(sprintf("  n = 32,768: cells %.2f ms, direct (SIMD) %.0f ms, %.0f times (bar 100: %s)\n",
    1e3 * middle(times)["fgt"], 1e3 * middle(times)["direct"], gain, verdict(gain >= 100)))
  keep_times(times, "plug-in", d = 1L, n = length(x))
  for (n in sized(c(1e6, 1e7), 1e6)) {
    x <- stats::rnorm(n)
    times <- race(list(cells = function() plug_in(x), sort = function() sort_values(x)))
    gain <- times_of(times, "sort", "fgt")
    keep_times(times, "plug-in", d = 1L, n = n)
    cat(sprintf("  n = %s: cells %.1f ms, std::sort of x %.0f ms, %.1f sorts (cheaper than one: %s)\n",
      format(n, big.mark = ",", scientific = FALSE), 1e3 * middle(times)["fgt"], 1e3 * middle(times)["sort"],
      1 / gain, verdict(gain > 1)))
  }
}

# ---- least-squares cross-validation curves
bench_lscv <- function() {
  cat("\nLSCV curve, Gaussian, bandwidths 0.02 to 2 sd: ms, and microseconds for each bandwidth more\n")
  rows <- lapply(sized(c(1e4, 1e5, 1e6), c(1e4, 1e5)), function(n) {
    x <- stats::rnorm(n)
    curve <- function(k) kestrel_line_curve(x, geometric(0.02, 2, k))
    times <- race(list(k100 = function() curve(100L), k200 = function() curve(200L), k1000 = function() curve(1000L)))
    for (k in c(100L, 200L, 1000L)) {
      keep("LSCV curve", "kestrel", "seconds", middle(times)[[paste0("k", k)]], d = 1L, n = n, h = k)
    }
    more <- 1e6 * stats::median(times[, "k1000"] - times[, "k100"]) / 900
    data.frame(n = format(n, big.mark = ",", scientific = FALSE), `100 h` = figure(1e3 * middle(times)["k100"]),
      `200 h` = figure(1e3 * middle(times)["k200"]), `1000 h` = figure(1e3 * middle(times)["k1000"]),
      `us a bandwidth more` = figure(more), check.names = FALSE)
  })
  show(do.call(rbind, rows))
  n <- sized(1000000L, 100000L)
  data <- regression_data(n)
  epanechnikov <- race(list(
    sweep = function() kestrel_line_curve(data$x, c(0.05, 0.5), "epanechnikov", "sweep")
  ))
  keep_times(epanechnikov, "LSCV curve, epanechnikov", d = 1L, n = n, h = 2L)
  cat(sprintf("  Epanechnikov, n = %s: %.0f ns a point and bandwidth, two bandwidths, sort included\n", figure(n, 7L),
    1e9 * middle(epanechnikov) / n / 2))
}

# ---- densities at as many points as observations
bench_density <- function() {
  n <- sized(1000000L, 100000L)
  cat("\nDensity at m = n = ", figure(n, 7L), " points, h = 0.07: ns a point\n", sep = "")
  x <- matrix(stats::rnorm(n))
  points <- matrix(stats::rnorm(n))
  few <- points[1:400, , drop = FALSE]
  at <- function(points, kernel, engine) {
    kestrel_sums(x, points, matrix(0.07), kernel, engine)
  }
  rows <- lapply(list(c("gaussian", "fgt"), c("epanechnikov", "sweep")), function(row) {
    kernel <- row[1]
    times <- race(list(
      fast = function() at(points, kernel, row[2]), direct = function() at(few, kernel, "direct"),
      sort = function() sort_values(x)
    ))
    times[, "direct"] <- times[, "direct"] * n / nrow(few)
    keep_times(times, paste("density,", kernel), d = 1L, n = n, m = n, share = c(direct = nrow(few) / n))
    ns <- 1e9 * middle(times) / n
    direct <- at(few, kernel, "direct")
    fast <- at(points, kernel, row[2])[1:400]
    data.frame(kernel = kernel, engine = row[2], ns = figure(ns["fast"]), `direct*` = figure(ns["direct"]),
      `direct / fast` = figure(ns["direct"] / ns["fast"]), `std::sort` = figure(ns["sort"]),
      difference = formatC(max(abs(fast - direct)) / max(direct), digits = 1, format = "e"), check.names = FALSE)
  })
  show(do.call(rbind, rows))
}

# ---- run
sections <- list(cv = bench_cv, large = bench_large, kernels = bench_kernels, plugin = bench_plugin,
  lscv = bench_lscv, density = bench_density)
run_sections(sections, check_yardsticks)
