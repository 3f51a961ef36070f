# Bytes that one task takes, in a session of its own (Linux only). Prints two numbers after the word "bytes": the
# maximum that the call added to what the session held with its data, and the maximum that the session held in all.
# bytes_of() of harness.R runs this.
#
#   Rscript bench/memory.R TASK ARGUMENT...
#
# A task with small data runs first, so that threads and libraries loaded by the first call do not count.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
files <- c("harness.R", "sums.R", "normal-data.R", "grid-task.R", "peers-densities.R", "peers-bandwidths.R")
for (file in files) source(file.path(here, file))

# Each task: `make`, which returns the call; `small`, the arguments for the first run.
tasks <- list(
  regression_cv = list(make = function(n) {
    x <- stats::rnorm(n)
    y <- sin(x) + stats::rnorm(n)
    data <- list(x = x, y = y, w = rep(1, n))
    task <- list(h = c(0.5, 1), kernel = "epanechnikov", regtype = "lc", order = 2L)
    function() of_kestrel("regression_cv_cpp")(of_kestrel("regression_cpp")(data, run_on()), task, run_on())
  }, small = list(1000)),
  lscv_pairs = list(make = function(n, d) {
    x <- normal_rows(n, d, 0.6)
    w <- rep(1 / n, n)
    root <- t(chol(Hns(x)))
    function() kestrel_lscv(x, root, TRUE, w = w)
  }, small = list(1000, 6)),
  Hlscv = list(make = function(n, d) {
    x <- normal_rows(n, d, 0.6)
    function() Hlscv(x)
  }, small = list(1000, 2)),
  grid = list(make = function(threads, n, ...) {
    points <- c(...)
    task <- task_for(normal_data(n, correlations[[length(points)]]), points)
    function() kestrel_grid(task, threads = threads)
  }, small = list(2, 1000, 10, 10, 10)),
  peer = list(make = function(task, contender, n) peer_tasks[[task]](n)$contenders[[contender]]$call)
)

given <- utils::type.convert(as.list(commandArgs(TRUE)), as.is = TRUE)
task <- tasks[[given[[1L]]]]
given <- given[-1L]
small <- if (is.null(task$small)) replace(given, length(given), 200) else task$small
kestrel_threads(1)
set.seed(1)
invisible(do.call(task$make, small)())
call <- do.call(task$make, given)

status <- function(field) {
  1024 * as.numeric(gsub("[^0-9]", "", grep(field, readLines("/proc/self/status"), value = TRUE)))
}
invisible(gc())
writeLines("5", "/proc/self/clear_refs") # resets the peak of the resident size
before <- status("^VmRSS")
result <- suppressWarnings(call())
peak <- status("^VmHWM")
cat("bytes", format(c(peak - before, peak), scientific = FALSE, trim = TRUE), "\n")
