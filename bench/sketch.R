# What a sketch costs beside the pass over the data in memory that it stands for, in one run, alternating: medians, CPU
# time of the process, one thread.
#
#   Rscript bench/sketch.R [--short] [rows after]
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

run_sections(list(rows = race_rows, after = race_after))
