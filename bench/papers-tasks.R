# The papers' own experiments, as far as their programs run on a CPU: measured here, with kestrel's times and the
# papers' own numbers (papers/published.csv). bench/papers.R shows what this file measures.
#
# Each measure_...() returns a data frame: task; program; n samples of d variables; m evaluation points; h, the number
# of bandwidths; seconds and rate, in `unit`; published and source. A row without seconds has a ratio, a count or a
# score in `rate`. `published` is in seconds if `unit` is a rate, else in that unit; a row with only a published value
# is for a program that does not run here. A program marked * ran on some observations, samples or points only, and its
# time was scaled to all of them. Sizes are those of the papers; --short takes the smaller ones.
#
# Needs kestrel, harness.R, sums.R, normal-data.R, grid-task.R and the programs of clock.cpp and papers/, which
# bench/papers.R loads.

cores <- max(1L, parallel::detectCores(), na.rm = TRUE)
on_threads <- function(threads, call) {
  before <- kestrel::kestrel_threads(threads)
  on.exit(kestrel::kestrel_threads(before))
  call()
}

# ---- rows of the table
row_of <- function(task, program, n = NA, d = NA, m = NA, h = NA, seconds = NA, rate = NA, unit = "") {
  data.frame(task, program, n, d, m, h, seconds, rate, unit)
}
# Medians of seconds, contenders in turn: wall time for the two that run on all cores, CPU time for the others, on one.
# `share`: by name, the fraction of the work that each did. `work`: all of the work, in the unit that `unit` counts.
on_all_cores <- c("SIMD", "kestrel")
timed <- function(task, contenders, work, unit, n, d, m = NA, h = NA, share = numeric(), rounds = 3L) {
  programs <- names(contenders)
  seconds <- stats::setNames(numeric(length(programs)), programs)
  for (wide in c(FALSE, TRUE)) {
    these <- programs[(programs %in% on_all_cores) == wide]
    clock <- if (wide) wall_seconds else process_seconds
    if (length(these)) seconds[these] <- middle(race(contenders[these], rounds, clock))
  }
  done <- ifelse(programs %in% names(share), share[programs], 1)
  seconds <- unname(seconds / done)
  row_of(task, paste0(programs, ifelse(done < 1, "*", "")), n, d, m, h, seconds, work / seconds, unit)
}
# The ratio of times, first program over second, for each pair.
ratios <- function(rows, ...) {
  plain <- sub("[*]$", "", rows$program)
  do.call(rbind, lapply(list(...), function(pair) {
    at <- match(pair, plain)
    row_of(rows$task[1L], paste(pair[1L], "over", pair[2L]), rows$n[1L], rows$d[1L], rows$m[1L], rows$h[1L],
           rate = rows$seconds[at[1L]] / rows$seconds[at[2L]], unit = "times")
  }))
}
# The measured values with the published ones of the same task, and all published values of programs that did not run.
beside_published <- function(rows, published) {
  key <- function(table) {
    number <- function(x) ifelse(is.na(x), "", format(x, scientific = FALSE, trim = TRUE))
    paste(table$task, sub("[*]$", "", table$program), number(table$n), number(table$d), number(table$m),
          number(table$h), sep = "|")
  }
  at <- match(key(rows), key(published))
  rows$published <- published$published[at]
  rows$source <- ifelse(is.na(at), "", published$source[at])
  others <- published[!seq_len(nrow(published)) %in% at & published$task %in% rows$task, ]
  only <- row_of(others$task, others$program, others$n, others$d, others$m, others$h, unit = others$unit)
  rbind(rows, cbind(only, published = others$published, source = others$source))
}

# ---- Michailidis & Margaritis (2013), figures 7 and 8: densities at the samples
# With this bandwidth a factor of algorithm 2 is exp(-u^2 / 2), and the samples are so near that products of 62 factors
# do not underflow in float.
serial_h <- 1 / sqrt(2 * pi)
serial_sample <- function(n, d) matrix(stats::rnorm(n * d, sd = serial_h * sqrt(2 / d)), n)
measure_density <- function(sizes = sized(c(1024L, 4096L, 10240L), c(1024L, 4096L)),
                            variables = c(1L, 2L, 6L, 14L, 30L, 62L), work = sized(2e7, 1e6)) {
  one <- function(n, d) {
    x <- serial_sample(n, d)
    by_rows <- t(x)
    H <- diag(serial_h^2, d)
    m <- as.integer(min(n, max(16, ceiling(work / n / d))))
    serial <- function(single) function() michailidis_margaritis_serial(by_rows, serial_h, m, single)
    kestrel <- function(threads) function() on_threads(threads, function() kde(x, H = H, eval.points = x))
    algorithm <- if (d == 1L) "algorithm 1" else "algorithm 2"
    contenders <- list(serial(TRUE), serial(FALSE), kestrel(1L), kestrel(cores))
    names(contenders) <- c(paste0(algorithm, c(", float", ", double")), "kestrel, one thread", "kestrel")
    share <- stats::setNames(c(m, m) / n, names(contenders)[1:2])
    timed("density at the samples", contenders, n^2, "pairs/s", n, d, n, 1L, share)
  }
  do.call(rbind, Map(one, rep(sizes, length(variables)), rep(variables, each = length(sizes))))
}

# ---- Andrzejewski et al. (2013), figures 8 to 10 and table 3
with_ratios <- function(rows) {
  alone <- c("SIMD, one thread", "kestrel, one thread")
  rbind(rows, ratios(rows, c("sequential", "SIMD"), c("sequential", alone[1L]), c("sequential", alone[2L]), alone))
}
measure_plugin <- function(sizes = sized(c(1024L, 4096L, 16384L, 32768L), c(1024L, 2048L, 4096L))) {
  one <- function(n) {
    x <- stats::rnorm(n)
    simd <- function(threads) function() andrzejewski_simd_plugin(x, threads)
    kestrel <- function(threads) function() on_threads(threads, function() hpi(x))
    with_ratios(timed("PLUGIN", list(
      sequential = function() andrzejewski_plugin(x, TRUE), `SIMD, one thread` = simd(1L), SIMD = simd(cores),
      `kestrel, one thread` = kestrel(1L), kestrel = kestrel(cores)
    ), n * (n - 1), "pairs/s", n, 1L, rounds = if (n > 10000L) 1L else 3L))
  }
  do.call(rbind, lapply(sizes, one))
}

measure_lscv_h <- function(sizes = sized(c(64L, 256L, 1024L), c(64L, 256L)), variables = c(1L, 4L, 16L),
                           bandwidths = 150L) {
  one <- function(n, d) {
    x <- normal_rows(n, d)
    by_rows <- t(x)
    S <- stats::cov(x)
    root <- t(chol(S))
    w <- rep(1, n)
    h <- seq(reference_h(n, d) / 4, 4 * reference_h(n, d), length.out = bandwidths)
    inverse <- solve(S)
    simd <- function(threads) function() andrzejewski_simd_lscv_h(x, inverse, det(S), h, threads)
    kestrel <- function(threads) function() kestrel_lscv_curve(x, root, h, threads = threads, w = w)
    with_ratios(timed("LSCV_h", list(
      sequential = function() andrzejewski_lscv_h(by_rows, inverse, det(S), h, TRUE), `SIMD, one thread` = simd(1L),
      SIMD = simd(cores), `kestrel, one thread` = kestrel(1L), kestrel = kestrel(cores)
    ), n * (n - 1) / 2 * bandwidths, "pairs/s", n, d, h = bandwidths))
  }
  do.call(rbind, Map(one, rep(sizes, length(variables)), rep(variables, each = length(sizes))))
}

measure_lscv_H <- function(sizes = sized(c(1024L, 4096L, 16384L), c(1024L, 4096L)), variables = c(1L, 4L, 16L)) {
  one <- function(n, d) {
    x <- normal_rows(n, d)
    by_rows <- t(x)
    H <- reference_h(n, d)^2 * stats::cov(x)
    root <- t(chol(H))
    inverse <- solve(H)
    w <- rep(1, n)
    few <- sort(sample.int(n, sized(128L, 32L)))
    simd <- function(threads) function() andrzejewski_simd_lscv_H(x, inverse, det(H), threads)
    kestrel <- function(threads) function() kestrel_lscv(x, root, threads = threads, w = w)
    with_ratios(timed("LSCV_H", list(
      sequential = function() andrzejewski_lscv_H(by_rows, inverse, det(H), few, TRUE), `SIMD, one thread` = simd(1L),
      SIMD = simd(cores), `kestrel, one thread` = kestrel(1L), kestrel = kestrel(cores)
    ), n * (n - 1) / 2, "pairs/s", n, d, h = 1L, share = c(sequential = sum(n - few) / (n * (n - 1) / 2)),
    rounds = if (n > 10000L) 1L else 3L))
  }
  do.call(rbind, Map(one, rep(sizes, length(variables)), rep(variables, each = length(sizes))))
}

# ---- Rohlfs & Zahran (2017), figure 1 and tables I and II
measure_regression <- function(sizes = c(50L, 100L, 500L, 1000L, 5000L, 10000L, 20000L),
                               bandwidths = sized(c(5L, 50L, 500L, 2000L), c(5L, 50L)), work = sized(3e6, 2e5)) {
  one <- function(n, k) {
    x <- stats::runif(n)
    y <- 0.5 * x + 10 * x^2 + stats::runif(n, 0, 0.5)
    h <- seq_len(k) / k
    rows <- as.integer(min(n, max(20, work / n)))
    kestrel <- function(threads) function() kestrel_cv(list(x = x, y = y), h, threads = threads)
    timed("regression CV", list(
      sequential = function() rohlfs_zahran_sequential(x, y, h, rows),
      `sequential, double, no matrices` = function() rohlfs_zahran_cv(x, y, h, seq_len(rows)),
      `kestrel, one thread` = kestrel(1L), kestrel = kestrel(cores)
    ), n * k, "fits/s", n, 1L, h = k, share = c(sequential = rows, `sequential, double, no matrices` = rows) / n)
  }
  pairs <- expand.grid(n = sizes, k = bandwidths)
  pairs <- pairs[pairs$k <= pairs$n, ]
  do.call(rbind, Map(one, pairs$n, pairs$k))
}
