# Whole calls as users make them, checks and results included, on one thread and on all threads. Densities, bandwidths
# and distribution functions are timed beside ks, KernSmooth and density(), all of which bin. Seconds are by the clock,
# since a user waits for the whole call.
#
#   Rscript bench/calls.R [--short] [densities bandwidths regression distribution]
#
# kestrel, ks and KernSmooth must be installed.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
source(file.path(here, "harness.R"))
source(file.path(here, "normal-data.R"))

n <- sized(1e6, 1e5)
all_threads <- parallel::detectCores()

# Calls side by side: `call` by kestrel on one thread and on all threads, and the peers'. A row of the table.
compare <- function(task, call, peers = list(), d = 1L, rows = n, m = NA, h = NA) {
  on <- function(threads) {
    function() {
      kestrel_threads(threads)
      on.exit(kestrel_threads(1))
      call()
    }
  }
  contenders <- c(list(`kestrel, 1 thread` = on(1L), `kestrel, all threads` = on(all_threads)), peers)
  times <- race(contenders, clock = wall_seconds)
  keep_times(times, task, d = d, n = rows, m = m, h = h)
  fastest <- if (length(peers)) min(middle(times)[names(peers)]) else NA
  data.frame(call = task, `1 thread` = figure(middle(times)[[1L]]), `all threads` = figure(middle(times)[[2L]]),
             peer = if (length(peers)) paste(figure(fastest), names(which.min(middle(times)[names(peers)]))) else "",
             `times faster` = if (length(peers)) figure(fastest / middle(times)[[1L]]) else "", check.names = FALSE)
}

print_rows <- function(...) {
  cat("\nSeconds by the clock, n =", format(n, big.mark = ","), "unless said;", all_threads, "threads are all\n")
  show(rbind(...))
}

bench_densities <- function() {
  x <- stats::rnorm(n)
  X <- normal_data(n, correlations[[2L]])
  Y <- normal_data(n / 10, correlations[[3L]])
  H <- diag(0.05, 2)
  print_rows(
    compare("kde(x)", function() kde(x), list(ks = function() ks::kde(x), density = function() stats::density(x))),
    compare("kde(X, H), d = 2", function() kde(X, H = H), list(ks = function() ks::kde(X, H = H)), d = 2L),
    compare("kde(X), d = 2", function() kde(X), list(ks = function() ks::kde(X)), d = 2L),
    compare("kde(Y, H), d = 3, n / 10", function() kde(Y, H = diag(0.1, 3)),
            list(ks = function() ks::kde(Y, H = diag(0.1, 3))), d = 3L, rows = n / 10),
    compare("kde(X, H), 1400 x 1350", function() kde(X, H = H, gridsize = c(1400, 1350), compute.cont = FALSE),
            d = 2L, m = 1400 * 1350)
  )
}

bench_bandwidths <- function() {
  x <- stats::rnorm(n)
  X <- normal_data(n, correlations[[2L]])
  print_rows(
    compare("hpi(x)", function() hpi(x), list(dpik = function() KernSmooth::dpik(x))),
    compare("Hpi(X), d = 2", function() Hpi(X), list(ks = function() ks::Hpi(X, binned = TRUE)), d = 2L),
    compare("Hlscv(X), d = 2", function() Hlscv(X), d = 2L)
  )
}

bench_regression <- function() {
  x <- stats::rnorm(n)
  y <- sin(x) + stats::rnorm(n)
  epanechnikov <- function(f, ...) f(..., ckertype = "epanechnikov", bw.scale = "support")
  h <- epanechnikov(npregbw, x, y, nbw = 50)$bw
  print_rows(
    compare("npregbw(x, y), 100 bandwidths", function() epanechnikov(npregbw, x, y, nbw = 100), h = 100),
    compare("npregbw(x, y), 50 bandwidths", function() epanechnikov(npregbw, x, y, nbw = 50), h = 50),
    compare("npregbw(x, y, refine = TRUE)", function() epanechnikov(npregbw, x, y, nbw = 50, refine = TRUE)),
    compare("npreg(h)", function() epanechnikov(npreg, txdat = x, tydat = y, bws = h))
  )
}

bench_distribution <- function() {
  x <- stats::rnorm(n)
  fhat <- kde(x, compute.cont = FALSE)
  binned <- ks::kde(x)
  q <- seq(-4, 4, length.out = 1000)
  p <- seq(0.05, 0.95, length.out = 10)
  print_rows(
    compare("pkde(), 1,000 points", function() pkde(q, fhat), list(ks = function() ks::pkde(q, binned)), m = 1000),
    compare("qkde(), 10 probabilities", function() qkde(p, fhat), list(ks = function() ks::qkde(p, binned)), m = 10)
  )
}

run_sections(list(densities = bench_densities, bandwidths = bench_bandwidths, regression = bench_regression,
                  distribution = bench_distribution))
