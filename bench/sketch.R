# What a sketch costs beside the pass over the data in memory that it stands for, in one run, alternating: medians, CPU
# time of the process, one thread.
#
#   Rscript bench/sketch.R [--short] [rows after grids many]
#
# `many` is in real time, on 16 threads.
#
# kestrel must be installed. Every sketch is first compared with the data in memory.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
source(file.path(here, "harness.R"))
compile("clock.cpp")

samples <- function(n) {
  set.seed(1L)
  list(normal = stats::rnorm(n), "heavy tails" = stats::rt(n, 3),
       clusters = stats::rnorm(n, c(0, 10), c(1, 0.01)))
}

check_sketch_of <- function(x, plan) {
  s <- kde_sketch(x, plan)
  stopifnot(identical(c(kde_sketch(x[-(1:99)], plan), kde_sketch(x[1:99], plan)), s),
            abs(hpi(s, scalest = "stdev") / hpi(x, scalest = "stdev") - 1) < 1e-10)
}

# ---- a row: the sketch, the sums that a functional makes of the data, and a whole selector
race_rows <- function(n = sized(1e7, 1e6)) {
  data <- samples(n)
  for (name in names(data)) {
    x <- data[[name]]
    plan <- sketch_plan(x)
    check_sketch_of(x[seq_len(1e4)], plan)
    g <- hns(x)
    times <- race(list(sketch = function() kde_sketch(x, plan, threads = 1),
                       functional = function() psi(x, g, 4, threads = 1),
                       hpi = function() hpi(x, threads = 1)))
    keep_times(times, name, d = 1, n = n)
    ratio <- times_of(times, "sketch", "functional")
    keep(name, "sketch / functional", "times", ratio, d = 1, n = n)
    show(data.frame(data = name, n = figure(n), "ns a row" = figure(1e9 * middle(times)[["sketch"]] / n),
                    "times a functional" = figure(ratio), "at most 2.5" = verdict(ratio <= 2.5), check.names = FALSE))
  }
}

# ---- what follows, for any number of rows
race_after <- function(n = sized(1e7, 1e6)) {
  x <- samples(n)$normal
  plan <- sketch_plan(x)
  s <- kde_sketch(x, plan)
  h <- hpi(s)
  times <- race(list(c = function() c(s, s), hpi = function() hpi(s), hlscv = function() hlscv(s),
                     kde = function() kde(s, h = h)))
  keep_times(times, "after", d = 1, n = n)
  keep("after", "sketch", "MB", length(s$bytes) / 1e6, d = 1, n = n)
  show(data.frame(task = colnames(times), ms = figure(1e3 * middle(times)), MB = figure(length(s$bytes) / 1e6)))
}

# ---- two and three columns: the sketch, and the spread and transform that a criterion takes of the data in memory
plane_samples <- function(n, d) {
  set.seed(d)
  x <- matrix(stats::rnorm(n * d), n)
  x[, 2L] <- 0.6 * x[, 1L] + 0.8 * x[, 2L]
  x
}

race_grids <- function(n = sized(2e6, 2e5)) {
  for (d in 2:3) {
    x <- plane_samples(n / c(NA, 1, 4)[d], d)
    plan <- sketch_plan(x, hmin = if (d == 2L) 0.02 else 0.15)
    few <- x[seq_len(2e4), ]
    stopifnot(identical(c(kde_sketch(few[-(1:99), ], plan), kde_sketch(few[1:99, ], plan)), kde_sketch(few, plan)))
    H <- 2 * Hns(x)
    s <- kde_sketch(x, plan, threads = 1)
    stopifnot(abs(lscv(s, H = H) / lscv(x, H = H) - 1) < if (d == 2L) 1e-10 else 1e-7)
    times <- race(list(sketch = function() kde_sketch(x, plan, threads = 1),
                       lscv = function() lscv(x, H = H, threads = 1)))
    keep_times(times, "grid", d = d, n = nrow(x))
    ratio <- times_of(times, "sketch", "lscv")
    keep("grid", "sketch / lscv", "times", ratio, d = d, n = nrow(x))
    keep("grid", "sketch", "MB", length(s$bytes) / 1e6, d = d, n = nrow(x))
    show(data.frame(d = d, n = figure(nrow(x)), "ns a row" = figure(1e9 * middle(times)[["sketch"]] / nrow(x)),
                    "times a sum" = figure(ratio), "at most 1.5" = verdict(ratio <= 1.5),
                    MB = figure(length(s$bytes) / 1e6), check.names = FALSE))
  }
}

# ---- 1e8 rows of two columns on all cores, generated chunk by chunk: in real time, since threads work side by side.
# The time of the generator is taken off. No row comes twice, since tied rows would leave cross-validation without a
# minimum: the chunks are rotations of one.
race_many <- function(n = sized(1e8, 1e6), threads = sized(16L, 2L)) {
  set.seed(2L)
  rows <- min(n, 5e6)
  round <- matrix(stats::rnorm(2 * rows), rows)
  correlated <- rbind(c(1, 0.6), c(0, 0.8))
  plan <- sketch_plan(round %*% correlated)
  made <- 0
  generated <- 0
  chunks <- function(reset = FALSE) {
    if (reset || made == n) return()
    made <<- made + rows
    angle <- made / n
    spent <- system.time(gcFirst = FALSE,
                         chunk <- round %*% rbind(c(cos(angle), sin(angle)), c(-sin(angle), cos(angle))) %*% correlated)
    generated <<- generated + spent[["elapsed"]]
    chunk
  }
  spent <- system.time(s <- kde_sketch(chunks, plan, threads = threads))[["elapsed"]] - generated
  found <- system.time(Hlscv(s, threads = threads))[["elapsed"]]
  keep("many", "rows a second", "rows / s", n / spent, d = 2, n = n)
  keep("many", "Hlscv", "s", found, d = 2, n = n)
  show(data.frame(n = figure(n), threads = threads, "rows a second" = figure(n / spent),
                  "3e7 at least" = verdict(n / spent >= 3e7), "Hlscv, s" = figure(found),
                  "at most 0.5" = verdict(found <= 0.5), MB = figure(length(s$bytes) / 1e6), check.names = FALSE))
}

run_sections(list(rows = race_rows, after = race_after, grids = race_grids, many = race_many))
