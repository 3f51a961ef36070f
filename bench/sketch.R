# What a sketch costs beside the pass over the data in memory that it stands for, in one run, alternating: medians, CPU
# time of the process, one thread.
#
#   Rscript bench/sketch.R [--short] [rows after grids many billion workers]
#
# The last three are in real time: on 16 threads, and on eight processes of one thread each.
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

# ---- a source of n rows, generated chunk by chunk: make(share) makes the chunk that ends after this share of the rows.
# The time that this takes is kept, since it is taken off. No row comes twice: tied rows would leave cross-validation
# without a minimum.
generated_source <- function(n, rows, make) {
  made <- 0
  spent <- 0
  list(chunks = function(reset = FALSE) {
         if (reset || made == n) return()
         made <<- made + rows
         spent <<- spent + system.time(gcFirst = FALSE, chunk <- make(made / n))[["elapsed"]]
         chunk
       }, spent = function() spent)
}

# Rows a second, and then the seconds of selectors, unless select(sketch) is NULL.
race_source <- function(name, d, source, n, plan, threads, least, select = NULL, most = NULL) {
  spent <- system.time(s <- kde_sketch(source$chunks, plan, threads = threads))[["elapsed"]]
  rate <- n / (spent - source$spent())
  keep(paste(name, threads), "rows a second", "rows / s", rate, d = d, n = n)
  table <- data.frame(n = figure(n), threads = threads, "rows a second" = figure(rate), "at least" = figure(least),
                      reached = verdict(rate >= least), MB = figure(length(s$bytes) / 1e6), check.names = FALSE)
  if (!is.null(select)) {
    found <- system.time(select(s))[["elapsed"]]
    keep(name, "selectors", "s", found, d = d, n = n)
    table <- cbind(table, data.frame("selectors, s" = figure(found), "at most" = most, reached = verdict(found <= most),
                                     check.names = FALSE))
  }
  show(table)
}

# ---- 1e8 rows of two columns on all cores, and fewer on one: the chunks are rotations of one
race_many <- function(n = sized(1e8, 1e6), threads = sized(16L, 2L)) {
  set.seed(2L)
  rows <- min(n, 5e6)
  round <- matrix(stats::rnorm(2 * rows), rows)
  correlated <- rbind(c(1, 0.6), c(0, 0.8))
  plan <- sketch_plan(round %*% correlated)
  rotated <- function(angle) {
    round %*% rbind(c(cos(angle), sin(angle)), c(-sin(angle), cos(angle))) %*% correlated
  }
  race_source("many", 2, generated_source(n, rows, rotated), n, plan, threads, 3e7,
              function(s) Hlscv(s, threads = threads), 0.5)
  few <- max(rows, n / 10)
  race_source("many", 2, generated_source(few, rows, rotated), few, plan, 1L, 2.5e6)
}

# ---- 1e9 rows of one column on all cores, and fewer on one: each chunk is the sum of the same two normal samples at
# another angle, and so normal, too
race_billion <- function(n = sized(1e9, 2e6), threads = sized(16L, 2L)) {
  set.seed(3L)
  rows <- min(n / 2, 2e7)
  first <- stats::rnorm(rows)
  second <- stats::rnorm(rows)
  plan <- sketch_plan(first)
  at_angle <- function(share) cos(pi * share) * first + sin(pi * share) * second
  race_source("billion", 1, generated_source(n, rows, at_angle), n, plan, threads, 4e8, function(s) {
    hpi(s, threads = threads)
    hlscv(s, threads = threads)
  }, 0.2)
  few <- max(rows, n / 10)
  race_source("billion", 1, generated_source(few, rows, at_angle), few, plan, 1L, 3e7)
}

# ---- parts on processes: one part, and eight of the same size side by side on eight of them
race_workers <- function(n = sized(1e8, 1e6), workers = sized(8L, 2L)) {
  if (!requireNamespace("future.apply", quietly = TRUE)) {
    cat("workers: future.apply is not installed\n")
    return()
  }
  plan <- sketch_plan(stats::qnorm(stats::ppoints(1e5)))
  part <- function(k) {
    x <- stats::qnorm(stats::ppoints(1e6)) + 1e-7 * k
    rounds <- n / 1e6
    made <- 0
    source <- function(reset = FALSE) {
      if (reset || made == rounds) return()
      made <<- made + 1
      x + made / n
    }
    kde_sketch(source, plan, threads = 1L)
  }
  old <- future::plan()
  on.exit(future::plan(old))
  strategy <- if (future::supportsMulticore()) "multicore" else "multisession"
  future::plan(strategy, workers = workers)
  parts <- function(count) future.apply::future_lapply(seq_len(count), part, future.packages = "kestrel")
  parts(workers)  # starts the processes
  one <- median(replicate(3L, system.time(parts(1L))[["elapsed"]]))
  all <- median(replicate(3L, system.time(parts(workers))[["elapsed"]]))
  times <- workers * one / all
  keep("workers", "beside one", "times", times, d = 1, n = n)
  show(data.frame("rows of a part" = figure(n), workers = workers, "one, s" = figure(one), "all, s" = figure(all),
                  "times one" = figure(times), "at least 7 of 8" = verdict(times >= 7 / 8 * workers),
                  check.names = FALSE))
}

run_sections(list(rows = race_rows, after = race_after, grids = race_grids, many = race_many, billion = race_billion,
                  workers = race_workers))
