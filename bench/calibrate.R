# The cost model against the clock: for every engine and a table of tasks, the seconds that its plan expects and those
# that it takes, on one thread; and how much longer the engine takes that "auto" chooses than the fastest. The constants
# are in src/core/*/engine.cpp, src/core/data/pair_seconds.cpp and src/core/fourier/layout.cpp. An engine whose ratios
# are all far from those of the others on the same machine needs new ones.
library(kestrel)
here <- local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  if (length(file)) dirname(gsub("~+~", " ", file, fixed = TRUE)) else "bench"
})
source(file.path(here, "harness.R"))
compile("clock.cpp")
set.seed(1)

# A task: n normal observations, m points or a grid with m points on each axis, and bandwidths of so many standard
# deviations.
tasks <- expand.grid(d = 1:3, n = sized(c(1e3, 3e4, 1e6), c(1e3, 3e4)), h = c(0.02, 0.3), gridded = c(TRUE, FALSE),
                     kernel = c("gaussian", "epanechnikov", "tricube"), stringsAsFactors = FALSE)
# Direct sums and trees that would take longer are left out.
longest <- sized(3, 0.3)

run_on <- function(engine) c(of_kestrel("run_options")(threads = 1L), engine = engine, tol = 1e-12)

seconds_of_task <- function(row) {
  x <- matrix(rnorm(row$n * row$d), row$n)
  axis <- seq(-4, 4, length.out = c(1000, 150, 40)[row$d])
  points <- matrix(rnorm(min(row$n, 1e4) * row$d), ncol = row$d)
  task <- list(sample = of_kestrel("sample_cpp")(x, of_kestrel("ones_cpp")(row$n)),
               points = if (row$gridded) matrix(0, 0L, row$d) else points,
               axes = if (row$gridded) rep(list(axis), row$d) else list(), root = diag(row$h, row$d),
               kernel = row$kernel, kernel_type = "radial")
  plan <- function(engine) tryCatch(of_kestrel("plan_cpp")(task, 1, run_on(engine)), error = function(e) NULL)
  engines <- of_kestrel("engines_cpp")(row$kernel, row$d, row$gridded)
  expected <- vapply(engines, function(engine) c(plan(engine)$seconds, NA_real_)[1L], 0)
  engines <- engines[!is.na(expected) & expected < longest]
  if (length(engines) == 0L) return(NULL)
  took <- vapply(engines, function(engine) {
    call <- function() of_kestrel("density_cpp")(task, run_on(engine), function(plan) NULL)
    times <- race(list(one = call), 3L)
    stats::median(times)
  }, 0)
  chosen <- plan("auto")$engine
  data.frame(row, engine = engines, expected = expected[engines], took = took, chosen = engines == chosen,
             slower = took / min(took), row.names = NULL)
}

found <- do.call(rbind, lapply(split(tasks, seq_len(nrow(tasks))), seconds_of_task))
found$ratio <- found$took / found$expected
cat("Seconds taken / seconds expected:\n")
show(do.call(rbind, lapply(split(found, found$engine), function(of) {
  data.frame(engine = of$engine[1L], tasks = nrow(of), least = figure(min(of$ratio), 2L),
             median = figure(stats::median(of$ratio), 2L), most = figure(max(of$ratio), 2L))
})))
chosen <- found[found$chosen, ]
cat("\nThe engine that is chosen takes at most ", figure(max(chosen$slower), 2L), " times as long as the fastest, in ",
    "the median ", figure(stats::median(chosen$slower), 2L), " times. The worst:\n", sep = "")
worst <- chosen[order(-chosen$slower), ][seq_len(min(8L, nrow(chosen))), ]
show(data.frame(worst[c("d", "n", "h", "gridded", "kernel", "engine")], slower = figure(worst$slower, 2L),
                milliseconds = figure(1e3 * worst$took, 2L)))
