# Regression with the Gaussian kernel: the search for the global minimum of cross-validation, the curve of 200
# bandwidths, fits with standard errors, the search with nearest neighbours, that with three numeric regressors and a
# factor, that for a conditional density, and the functions on top of these sums. On one thread and on all, beside np
# and all pairs in R.
#
#   Rscript bench/regression.R [--short] [curves searches fits neighbours mixed densities models]
#
# np is left out where it is not installed, and where it would take minutes.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
source(file.path(here, "harness.R"))

with_np <- has("np")
if (with_np) options(np.messages = FALSE)

data_of <- function(n) {
  set.seed(1)
  x <- stats::rnorm(n)
  list(x = x, y = sin(x) + stats::rnorm(n))
}
row_of <- function(...) threads_row(..., d = 1L)

# Leave-one-out cross-validation of all pairs, in R.
cv_of_pairs <- function(x, y, h) {
  weights <- exp(-0.5 * outer(x, x, "-")^2 / h^2)
  diag(weights) <- 0
  mean((y - drop(weights %*% y) / rowSums(weights))^2)
}

bench_curves <- function() {
  small <- data_of(2000)
  h <- exp(seq(log(0.2), log(1e3), length.out = 200))
  curve <- function(data) function() npregbw(xdat = data$x, ydat = data$y, bws = h)
  got <- curve(small)()$cv[c(1, 50, 100, 200)]
  wanted <- vapply(h[c(1, 50, 100, 200)], function(one) cv_of_pairs(small$x, small$y, one), 0)
  cat("\nLargest relative error of cv.ls beside all pairs:", scientific(max(abs(got / wanted - 1))), "\n")
  large <- data_of(sized(1e6, 1e5))
  print_rows(row_of("200 bandwidths", 2000, curve(small)),
             row_of("200 bandwidths", length(large$x), curve(large)))
}

bench_searches <- function() {
  search <- function(data, regtype) {
    function() suppressMessages(npregbw(xdat = data$x, ydat = data$y, regtype = regtype))
  }
  of_np <- function(data, regtype) {
    if (with_np) function() np::npregbw(xdat = data$x, ydat = data$y, regtype = regtype, nmulti = 1)
  }
  small <- data_of(sized(1000, 300))
  large <- data_of(sized(1e6, 1e5))
  print_rows(row_of("npregbw, lc", length(small$x), search(small, "lc"), of_np(small, "lc"), 3L),
             row_of("npregbw, ll", length(small$x), search(small, "ll"), of_np(small, "ll"), 3L),
             row_of("npregbw, lc", length(large$x), search(large, "lc")),
             row_of("npregbw, ll", length(large$x), search(large, "ll")))
}

bench_fits <- function() {
  fit <- function(data) function() npreg(bws = 0.1, txdat = data$x, tydat = data$y)
  of_np <- function(data) {
    if (!with_np) return(NULL)
    bw <- np::npregbw(xdat = data$x, ydat = data$y, bws = 0.1, bandwidth.compute = FALSE)
    function() np::npreg(bw)
  }
  small <- data_of(sized(5000, 1000))
  large <- data_of(sized(1e6, 1e5))
  print_rows(row_of("npreg, errors", length(small$x), fit(small), of_np(small), 3L),
             row_of("npreg, errors", length(large$x), fit(large)))
}

bench_neighbours <- function() {
  data <- data_of(sized(500, 200))
  row <- function(type, regtype) {
    peer <- function() np::npregbw(xdat = data$x, ydat = data$y, bwtype = type, regtype = regtype, nmulti = 1)
    row_of(paste("npregbw,", type, regtype), length(data$x), function() {
      suppressMessages(npregbw(xdat = data$x, ydat = data$y, bwtype = type, regtype = regtype))
    }, if (with_np) peer, 3L)
  }
  print_rows(row("generalized_nn", "lc"), row("adaptive_nn", "ll"))
}

mixed <- function(n) {
  set.seed(1)
  data <- data.frame(x1 = stats::rnorm(n), x2 = stats::runif(n), x3 = stats::rnorm(n))
  data$z <- factor(sample(letters[1:3], n, TRUE))
  data$y <- sin(data$x1) + data$x2^2 + as.integer(data$z) * 0.3 + stats::rnorm(n) * 0.3
  data
}

bench_mixed <- function() {
  row <- function(n, regtype, nmulti, peer = TRUE) {
    data <- mixed(n)
    search <- function() suppressMessages(npregbw(y ~ x1 + x2 + x3 + z, data, regtype = regtype, nmulti = nmulti))
    of_np <- function() np::npregbw(y ~ x1 + x2 + x3 + z, data = data, regtype = regtype, nmulti = nmulti)
    cat("\nLeast cv.ls of n =", n, regtype, "by kestrel:", format(search()$fval, digits = 7))
    if (with_np && peer) cat(", by np:", format(of_np()$fval, digits = 7))
    row_of(paste("npregbw, 3 numbers and a factor,", regtype), n, search, if (with_np && peer) of_np, 1L)
  }
  rows <- list(row(500, "lc", 1), row(500, "ll", 1))
  if (!short) {
    rows <- c(rows, list(row(1000, "lc", 1), row(1000, "ll", 1), row(2000, "lc", 1), row(10000, "lc", 5, FALSE)))
  }
  do.call(print_rows, rows)
}

# Conditional densities by likelihood.
bench_densities <- function() {
  row <- function(n, peer) {
    data <- mixed(n)
    search <- function() npcdensbw(y ~ x1 + z, data = data, nmulti = 1)
    of_np <- function() np::npcdensbw(y ~ x1 + z, data = data, nmulti = 1)
    cat("\nLargest log-likelihood of n =", n, "by kestrel:", format(search()$fval, digits = 9))
    if (peer) cat(", by np:", format(of_np()$fval, digits = 9))
    row_of("npcdensbw, cv.ml", n, search, if (peer) of_np, 1L)
  }
  print_rows(row(500, with_np), row(sized(2000, 1000), with_np))
}

# The same calls of both packages, with the bandwidths that they select. np is left out at the full size, where it takes
# minutes.
bench_models <- function() {
  data <- mixed(sized(1000, 200))
  row <- function(task, calls) {
    expressions <- function(package) {
      where <- list2env(list(data = data), parent = asNamespace(package))
      function() suppressWarnings(suppressMessages(eval(calls, where)))
    }
    row_of(task, nrow(data), expressions("kestrel"), if (with_np && short) expressions("np"), 1L)
  }
  print_rows(
    row("npcdist", quote(npcdist(npcdistbw(y ~ x1 + z, data = data, nmulti = 1)))),
    row("npindex", quote(npindex(npindexbw(y ~ x1 + x2 + x3, data = data, nmulti = 1)))),
    row("npscoef", quote(npscoef(npscoefbw(y ~ x2 | x1, data = data, nmulti = 1)))),
    row("npplreg", quote(npplreg(npplregbw(y ~ x2 + x3 | x1 + z, data = data, nmulti = 1)))),
    row("npsigtest", quote(npsigtest(npregbw(y ~ x1 + x3, data = data, nmulti = 1), boot.num = 99)))
  )
}

run_sections(list(curves = bench_curves, searches = bench_searches, fits = bench_fits, neighbours = bench_neighbours,
                  mixed = bench_mixed, densities = bench_densities, models = bench_models))
