# Derivatives, clusters, tests and classes beside those of ks, in one run, alternating: medians, CPU time of the
# process, one thread. ks computes derivatives and tests on binned data by default, and kestrel on all.
#
#   Rscript bench/ks.R [--short] [derivatives clusters classes tests variable]
#
# kestrel and ks must be installed. Run by hand.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("harness.R", "normal-data.R")) source(file.path(here, file))
compile("clock.cpp")
kestrel_threads(1)

# The table of one section: seconds of both, their ratio, and the largest difference relative to the largest value.
compared <- function(task, n, d, ours, theirs, off = NA) {
  times <- race(list(kestrel = ours, ks = theirs))
  keep_times(times, task, d = d, n = n)
  seconds <- middle(times)
  data.frame(task, n = figure(n, 7L), d, kestrel = figure(seconds["kestrel"]), ks = figure(seconds["ks"]),
             times = figure(times_of(times, "ks", "kestrel")), difference = if (is.na(off)) "" else scientific(off))
}

# At a size for which ks would take an hour or more.
alone <- function(task, n, ours, limit) {
  seconds <- middle(race(list(kestrel = ours)))
  cat(task, " alone, n = ", figure(n, 7L), ": ", figure(seconds), " s, goal ", limit, " s: ", verdict(seconds <= limit),
      "\n", sep = "")
}

largest_off <- function(a, b) max(abs(unlist(a) - unlist(b))) / max(abs(unlist(b)))

bench_derivatives <- function() {
  cat("\nkdde on ks's default grid; ks binned. The difference is to ks without binning, for 2,000 observations.\n")
  show(do.call(rbind, lapply(1:3, function(d) {
    n <- sized(1e5, 2e4)
    x <- if (d == 1L) as.vector(normal_rows(n, 1L)) else normal_rows(n, d)
    bandwidth <- if (d == 1L) list(h = 0.2) else list(H = diag(0.05, d))
    some <- if (d == 1L) x[1:2000] else x[1:2000, ]
    at <- if (d == 1L) some[1:50] else some[1:50, ]
    do.call(rbind, lapply(1:2, function(order) {
      given <- c(bandwidth, list(deriv.order = order))
      exact <- do.call(ks::kdde, c(list(some), given, list(eval.points = at, binned = FALSE)))
      off <- largest_off(do.call(kdde, c(list(some), given, list(eval.points = at)))$estimate, exact$estimate)
      compared(paste("kdde, order", order), n, d, function() do.call(kdde, c(list(x), given, threads = 1)),
               function() do.call(ks::kdde, c(list(x), given, binned = TRUE)), off)
    }))
  })))
}

bench_clusters <- function() {
  clusters <- function(n) rbind(normal_rows(n / 2, 2L), normal_rows(n / 2, 2L) + 4)
  n <- sized(2000, 1000)
  x <- clusters(n)
  H <- Hpi(x, deriv.order = 1)
  cat("\nkms; points of ks may stop on their way to a mode\n")
  show(compared("kms", n, 2L, function() kms(x, H = H, threads = 1), function() ks::kms(x, H = H)))
  many <- clusters(sized(1e5, 1e4))
  own <- Hpi(many, deriv.order = 1)
  alone("kms", nrow(many), function() kms(many, H = own, threads = 1), 5)
}

bench_classes <- function() {
  drawn <- function(n) normal_rows(n, 2L) + rep(c(0, 2, 4), each = n / 3)
  groups <- function(n) rep(letters[1:3], each = n / 3)
  n <- sized(3e4, 6000)
  x <- drawn(n)
  group <- groups(n)
  Hs <- ks::Hkda(x, group, bw = "plugin", nstage = 1L)
  estimate <- function(fit) as.character(fit$x.group.estimate)
  off <- mean(estimate(kda(x, group, Hs = Hs)) != estimate(ks::kda(x, group, Hs = Hs)))
  cat("\nkda, three classes; the difference is the share of observations in another class\n")
  show(compared("kda", n, 2L, function() kda(x, group, Hs = Hs, threads = 1),
                function() ks::kda(x, group, Hs = Hs), off))
  many <- sized(3e5, 3e4)
  x <- drawn(many)
  group <- groups(many)
  alone("kda", many, function() kda(x, group, Hs = Hs, threads = 1), 1)
}

bench_tests <- function() {
  n <- sized(1e4, 2000)
  x <- normal_rows(n, 2L)
  y <- normal_rows(n, 2L)
  H <- diag(0.05, 2)
  cat("\nkde.test of two samples of n, with bandwidths given\n")
  show(compared("kde.test", n, 2L, function() kde.test(x, y, H1 = H, H2 = H, threads = 1),
                function() ks::kde.test(x, y, H1 = H, H2 = H, binned = TRUE)))
  many <- sized(1e5, 1e4)
  x <- normal_rows(many, 2L)
  y <- normal_rows(many, 2L)
  alone("kde.test", many, function() kde.test(x, y, H1 = H, H2 = H, threads = 1), 0.5)
}

bench_variable <- function() {
  n <- sized(2000, 500)
  x <- normal_rows(n, 2L)
  cat("\nkde.sp on 151 x 151 points; ks has another rule for the bandwidths\n")
  show(compared("kde.sp", n, 2L, function() kde.sp(x, gridsize = c(151, 151), threads = 1),
                function() ks::kde.sp(x, gridsize = c(151, 151), binned = TRUE)))
  many <- normal_rows(sized(1e5, 1e4), 2L)
  alone("kde.sp", nrow(many), function() kde.sp(many, gridsize = c(151, 151), threads = 1), 1)
}

run_sections(list(derivatives = bench_derivatives, clusters = bench_clusters, classes = bench_classes,
                  tests = bench_tests, variable = bench_variable))
