# Speed of the smoothed bootstrap (Lopez-Novoa 2015, chapter 8): d = 3, n = 13,000, 11 bandwidths x 500 replicates on
# 60^3 points, compared with the program of the thesis that sums every sample at every point (listing 1a). That ran on a
# few points with one bandwidth and one replicate (*), and its time, linear in the number of each, was scaled.
# Alternating, medians.
#
#   Rscript bench/score.R [--short] [bootstrap threads parts]
#
# kestrel must be installed. The reference program is checked against kde() before anything is timed.
library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("harness.R", "sums.R", "normal-data.R", "grid-task.R")) source(file.path(here, file))
compile("clock.cpp", "papers/skde.cpp")

replicates <- 500L
few <- sized(20L, 4L)   # replicates of one round
some <- 2000L           # points of one round of the reference program
bootstrap <- function(x, B = few, threads = 1L, ...) {
  set.seed(2)
  suppressWarnings(Hboot(x, B = B, threads = threads, ...))
}
# The arguments of the reference program for an estimate from x on these axes.
point_wise_task <- function(x, H, axes) {
  task <- task_for(x[1:5, ], rev(lengths(axes)), vapply(axes, range, c(0, 0)))
  task$constant <- (ncol(x) + 2) / 2 / (pi^(ncol(x) / 2) / gamma(ncol(x) / 2 + 1)) / sqrt(det(H)) / nrow(x)
  task$inverse <- solve(H)
  task$reach <- sqrt(diag(H))
  task$axes <- axes
  task
}
point_wise <- function(x, H, axes, first = 1, last = prod(lengths(axes))) {
  grid <- numeric(prod(lengths(axes)))
  lopez_novoa_ep_kde(x, point_wise_task(x, H, axes), first, last, grid)
  grid
}

# The reference program's estimate is that of kde().
check <- function() {
  x <- normal_data(60L, correlations[[3L]])
  fhat <- kde(x, H = 0.8 * stats::cov(x), kernel = "epanechnikov", gridsize = c(9, 11, 10), compute.cont = FALSE)
  difference <- max(abs(point_wise(x, fhat$H, fhat$eval.points) - as.vector(fhat$estimate)))
  stopifnot(difference < 1e-12 * max(fhat$estimate))
}

data_of_thesis <- function() normal_data(13000L, correlations[[3L]])
bench_bootstrap <- function() {
  x <- data_of_thesis()
  boot <- bootstrap(x, gridsize = 60)
  points <- prod(lengths(boot$axes))
  stopifnot(points == 60^3, length(boot$curve$h) == 11L)
  grid <- numeric(points)
  first <- floor((points - some) / 2)
  H <- boot$h0^2 * stats::cov(x)
  task <- point_wise_task(x, H, boot$axes)
  times <- race(list(kestrel = function() bootstrap(x, gridsize = 60),
                     EP = function() lopez_novoa_ep_kde(x, task, first, first + some - 1, grid)))
  times[, "kestrel"] <- times[, "kestrel"] * replicates / few
  times[, "EP"] <- times[, "EP"] * points / some * replicates * length(boot$curve$h)
  share <- c(kestrel = few / replicates, EP = some / points / replicates / length(boot$curve$h))
  keep_times(times, "smoothed bootstrap", d = 3L, n = nrow(x), m = points, h = length(boot$curve$h), share = share)
  gain <- times_of(times, "EP", "kestrel")
  cat("\nOne thread, seconds of 11 bandwidths x 500 replicates\n")
  show(data.frame(method = c("kestrel*", "EP*"), s = vapply(middle(times), figure, ""),
                  "EP/it" = c(figure(gain), ""), bar = c("140", ""), met = c(verdict(gain >= 140), ""),
                  check.names = FALSE))
}
bench_threads <- function() {
  x <- data_of_thesis()
  run <- function(threads) function() bootstrap(x, 4L * few, threads, gridsize = 60)
  times <- race(list(one = run(1L), two = run(2L)), clock = wall_seconds)
  keep_times(times, "smoothed bootstrap, threads", d = 3L, n = nrow(x), m = 60^3, h = 11L)
  gain <- times_of(times, "one", "two")
  stopifnot(identical(run(1L)()$errors, run(2L)()$errors))
  cat("\nTwo threads, wall clock seconds of", 4L * few, "replicates; the same bits\n")
  show(data.frame(one = figure(middle(times)[["one"]]), two = figure(middle(times)[["two"]]), gain = figure(gain),
                  bar = "1.8", met = verdict(gain >= 1.8)))
}
# One replicate with one bandwidth and with eleven.
bench_parts <- function() {
  x <- data_of_thesis()
  h0 <- of_kestrel("reference_scale")(nrow(x), 3L, "epanechnikov")
  times <- race(lapply(c("1" = 1L, "11" = 11L), function(count) {
    function() bootstrap(x, gridsize = 60, h = h0 * seq(0.8, 1.2, length.out = count))
  }))
  keep("a replicate", "all of it", "seconds", middle(times)[c("1", "11")] / few, d = 3L, n = nrow(x), m = 60^3,
       h = c(1L, 11L))
  cat("\nMilliseconds of a replicate with 1 and with 11 bandwidths\n")
  show(data.frame(one = figure(1e3 * middle(times)[["1"]] / few), eleven = figure(1e3 * middle(times)[["11"]] / few)))
}
run_sections(list(bootstrap = bench_bootstrap, threads = bench_threads, parts = bench_parts), check)
