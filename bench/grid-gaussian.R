# Gaussian densities on grids, by Fourier transforms, by direct sums and by the binned estimate of ks, all in one run,
# alternating: medians, CPU time of the process, one thread, and the largest error relative to the largest value.
#
#   Rscript bench/grid-gaussian.R [--short] [plane fine space]
#
# kestrel and ks must be installed. Direct sums, marked *, ran at some points of the grid only, and their time was
# scaled to all of them. They are also the reference for errors, after they were checked against plain R. Grids and
# bandwidth matrix are the same for all: a trimodal sample, H half of that of the normal reference (a quarter of it for
# its components).

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
source(file.path(here, "harness.R"))
compile("clock.cpp")

some_points <- 2000L

# Three components of standard deviation 0.4, correlated.
trimodal <- function(n, d) {
  centre <- rbind(rep(-1, d), 2 * (seq_len(d) == 1), 2 * (seq_len(d) == 2))
  spread <- 0.4 * chol(diag(0.4, d) + 0.6)
  matrix(stats::rnorm(n * d), n) %*% spread + centre[sample.int(3L, n, replace = TRUE), ]
}

check_direct <- function() {
  x <- trimodal(50L, 2L)
  H <- matrix(c(0.1, 0.03, 0.03, 0.2), 2)
  at <- x[1:9, ] + 0.1
  plain <- apply(at, 1L, function(e) {
    u <- sweep(x, 2L, e)
    mean(exp(-rowSums((u %*% solve(H)) * u) / 2) / (2 * pi * sqrt(det(H))))
  })
  stopifnot(max(abs(kde(x, H = H, eval.points = at, engine = "direct")$estimate / plain - 1)) < 1e-12)
}

bench_grid <- function(d, size, n) {
  x <- trimodal(n, d)
  H <- Hns(x) / 4
  by <- function(engine, points) {
    if (is.null(points)) {
      kde(x, H = H, gridsize = size, engine = engine, compute.cont = FALSE, threads = 1L)
    } else {
      kde(x, H = H, eval.points = points, engine = engine, threads = 1L)
    }
  }
  fit <- by("fourier", NULL)
  which <- sort(sample.int(length(fit$estimate), min(some_points, length(fit$estimate))))
  place <- arrayInd(which, dim(fit$estimate))
  points <- vapply(seq_len(d), function(k) fit$eval.points[[k]][place[, k]], numeric(length(which)))
  exact <- by("direct", points)$estimate
  ends <- vapply(fit$eval.points, range, c(0, 0))
  peer <- function() {
    ks::kde(x, H = H, binned = TRUE, bgridsize = size, gridsize = size, xmin = ends[1L, ], xmax = ends[2L, ],
            compute.cont = FALSE)
  }
  binned <- peer()$estimate
  times <- race(list(fourier = function() by("fourier", NULL), direct = function() by("direct", points), ks = peer),
                rounds = 3L)
  times[, "direct"] <- times[, "direct"] * length(fit$estimate) / length(which)
  off <- function(estimate) max(abs(estimate[which] - exact)) / max(exact)
  m <- length(fit$estimate)
  keep_times(times, "kde on a grid", d = d, n = n, m = m, share = c(direct = length(which) / m))
  keep("kde on a grid", c("fourier", "ks"), "error", c(off(fit$estimate), off(binned)), d = d, n = n, m = m)
  error <- function(estimate) scientific(off(estimate))
  data.frame(
    d = d, grid = paste(size, collapse = " x "), n = format(n, big.mark = ","),
    `fourier, s` = figure(middle(times)[["fourier"]]), error = error(fit$estimate), negative = sum(fit$estimate < 0),
    `direct*, s` = figure(middle(times)[["direct"]]), `ks binned, s` = figure(middle(times)[["ks"]]),
    `error of ks` = error(binned), `direct / fourier` = figure(times_of(times, "direct", "fourier")),
    `ks / fourier` = figure(times_of(times, "ks", "fourier")), check.names = FALSE
  )
}

bench_grids <- function(d, size) {
  show(do.call(rbind, lapply(sized(c(1e5, 1e6), 1e5), function(n) bench_grid(d, size, n))))
}

# ---- run
sections <- list(
  plane = function() bench_grids(2L, c(151L, 151L)), fine = function() bench_grids(2L, c(1400L, 1350L)),
  space = function() bench_grids(3L, c(51L, 51L, 51L))
)
run_sections(sections, check_direct)
