# Memory that calls take, each in a session of its own (Linux only).
#
#   Rscript bench/memory.R [--short]            a table of whole calls
#   Rscript bench/memory.R TASK ARGUMENT...     one task; bytes_of() of harness.R runs this
#
# For a task three numbers follow the word "bytes": the maximum that the call added to what the session held with its
# data, the maximum that the session held in all, and the size of the result without the data. A call with small data
# comes first, so that libraries loaded and threads started by the first call do not count.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
files <- c("harness.R", "sums.R", "normal-data.R", "grid-task.R", "peers-densities.R", "peers-bandwidths.R")
for (file in files) source(file.path(here, file))

# Whole calls of d-dimensional data x. They may take the memory of their result and of one and a half copies of x.
whole_calls <- list(
  `kde(x)` = list(d = 1L, make = function(x) function() kde(x)),
  `kde(X, H)` = list(d = 2L, make = function(x) function() kde(x, H = diag(0.05, 2))),
  `kde(X)` = list(d = 2L, make = function(x) function() kde(x)),
  `hpi(x)` = list(d = 1L, make = function(x) function() hpi(x)),
  `hlscv(x)` = list(d = 1L, make = function(x) function() hlscv(x)),
  `Hpi(X)` = list(d = 2L, make = function(x) function() Hpi(x)),
  `Hlscv(X)` = list(d = 2L, make = function(x) function() Hlscv(x)),
  `Hscv(X)` = list(d = 2L, make = function(x) function() Hscv(x)),
  `kcde(x)` = list(d = 1L, make = function(x) function() kcde(x)),
  `rkde(n, fhat)` = list(d = 1L, make = function(x) {
    fhat <- kde(x, compute.cont = FALSE)
    function() rkde(length(x), fhat)
  })
)
allowed_copies <- 1.5

# Each task: `make`, which returns the call; `small`, the arguments for the first run.
tasks <- list(
  whole = list(make = function(name, n) {
    call <- whole_calls[[name]]
    x <- normal_data(n, correlations[[call$d]])
    if (call$d == 1L) dim(x) <- NULL
    call$make(x)
  }),
  regression_cv = list(make = function(n) {
    x <- stats::rnorm(n)
    y <- sin(x) + stats::rnorm(n)
    data <- list(x = x, y = y, w = rep(1, n))
    task <- list(h = c(0.5, 1), kernel = "epanechnikov", regtype = "lc", order = 2L, bwtype = "fixed")
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

status <- function(field) {
  1024 * as.numeric(gsub("[^0-9]", "", grep(field, readLines("/proc/self/status"), value = TRUE)))
}

# The data of an estimate are the caller's own, and weights that nobody gave take no memory.
size_of <- function(result) {
  if (is.list(result)) result <- unclass(result)[setdiff(names(result), c("x", "w"))]
  as.numeric(utils::object.size(result))
}

measure <- function(given) {
  task <- tasks[[given[[1L]]]]
  given <- given[-1L]
  small <- if (is.null(task$small)) replace(given, length(given), 200) else task$small
  kestrel_threads(1)
  set.seed(1)
  invisible(suppressWarnings(do.call(task$make, small)()))
  call <- do.call(task$make, given)
  invisible(gc())
  writeLines("5", "/proc/self/clear_refs") # resets the peak of the resident size
  before <- status("^VmRSS")
  result <- suppressWarnings(call())
  peak <- status("^VmHWM")
  cat("bytes", format(c(peak - before, peak, size_of(result)), scientific = FALSE, trim = TRUE), "\n")
}

# What each whole call added, in MB, and in copies of its data beyond the result.
table_of_calls <- function() {
  n <- sized(4e6, 4e5)
  row_of <- function(name) {
    d <- whole_calls[[name]]$d
    data <- 8 * n * d
    bytes <- bytes_of("whole", name, n)
    copies <- (bytes[["added"]] - bytes[["result"]]) / data
    data.frame(call = name, d = d, `data, MB` = figure(data / 1e6), `result, MB` = figure(bytes[["result"]] / 1e6),
               `added, MB` = figure(bytes[["added"]] / 1e6), copies = figure(copies, 2L),
               bar = verdict(copies <= allowed_copies), check.names = FALSE)
  }
  cat("\nMemory above what the session held with its data, n = ", format(n, big.mark = ","), ", one thread; copies\n",
      "of the data beyond the result, of which ", allowed_copies, " are allowed\n", sep = "")
  show(do.call(rbind, lapply(names(whole_calls), row_of)))
}

given <- utils::type.convert(as.list(setdiff(arguments, "--short")), as.is = TRUE)
if (length(given)) measure(given) else table_of_calls()
