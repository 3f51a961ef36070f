# hboot() and Hboot(): the smoothed bootstrap.

boot_sample <- function(d, n = 40) {
  with_seed(811 + d, matrix(rnorm(n * d), n, dimnames = list(NULL, letters[seq_len(d)])) %*% chol(diag(d) + 0.5))
}

# The samples that a call draws after set.seed(seed).
boot_draws <- function(x, S, h0, B, seed, size = nrow(x), w = rep(1, nrow(x))) {
  set.seed(seed)
  key <- boot_key()
  lapply(seq_len(B), function(b) reference_boot_draws(x, w, S, h0, size, b, key))
}

test_that("the errors are those of the plain version with the same draws", {
  for (d in 1:4) {
    x <- boot_sample(d)
    colnames(x) <- letters[seq_len(d)]
    S <- cov(x)
    h0 <- 1.1
    h <- c(0.8, 1, 1.3)
    draws <- boot_draws(x, S, h0, 4, 12)
    set.seed(12)
    # Four axes are coarse.
    boot <- suppressWarnings(quietly(Hboot(x, h0 = h0, h = h, B = 4, gridsize = c(60, 14, 9, 7)[d])),
                             classes = "kestrel_warning_grid")
    expect_close_to_reference(boot$errors, reference_boot_errors(x, NULL, S, h0, h, boot$axes, draws), tol = 1e-11)
    expect_equal(boot$H, boot$h^2 * S, tolerance = 1e-14, ignore_attr = TRUE)
  }
})

test_that("with weights, rows are drawn by them, as many as the effective sample size", {
  x <- boot_sample(2)
  w <- rep(c(0, 1, 3, 1), 10)
  n_eff <- sum(w)^2 / sum(w^2)
  S <- cov.wt(x, w / sum(w), method = "ML")$cov * n_eff / (n_eff - 1)
  draws <- boot_draws(x, S, 1, 3, 5, round(n_eff), w)
  set.seed(5)
  boot <- quietly(Hboot(x, h0 = 1, h = c(0.9, 1.2), B = 3, gridsize = 12, w = w))
  expect_close_to_reference(boot$errors, reference_boot_errors(x, w, S, 1, c(0.9, 1.2), boot$axes, draws), tol = 1e-11)
})

test_that("defaults: the reference bandwidth, 31 from where the grid is fine enough, 500 replicates", {
  x <- boot_sample(2)
  boot <- with_seed(1, quietly(Hboot(x, gridsize = 9)))
  expect_identical(boot$h0, reference_scale(40, 2L, "epanechnikov"))
  expect_equal(diff(log(boot$curve$h)), rep(log(boot$curve$h[2] / boot$curve$h[1]), 30), tolerance = 1e-12)
  expect_equal(max(boot$curve$h), 1.5 * boot$h0, tolerance = 1e-15)
  # A kernel of the narrowest covers 1.01^2 points.
  cell <- prod(vapply(boot$axes, function(axis) axis[2] - axis[1], 0))
  expect_equal(pi * boot$curve$h[1]^2 * sqrt(det(cov(x))) / cell, 1.01^2, tolerance = 1e-12)
  expect_equal(min(with_seed(1, hboot(faithful$eruptions, B = 2))$curve$h), reference_scale(272, 1L, "epanechnikov") *
                 sd(faithful$eruptions) / 8, tolerance = 1e-12)
  expect_identical(dim(boot$errors), c(500L, 31L))
  for (k in 1:2) {
    reach <- (boot$h0 + max(boot$curve$h)) * sqrt(cov(x)[k, k])
    expect_equal(range(boot$axes[[k]]), range(x[, k]) + c(-reach, reach), tolerance = 1e-14)
  }
})

test_that("the curve has the quantiles of the errors, and the smallest median is taken", {
  x <- boot_sample(2)
  boot <- with_seed(2, quietly(Hboot(x, B = 30, gridsize = 11)))
  statistics <- t(apply(boot$errors, 2, quantile, c(0, 0.025, 0.5, 0.975, 1)))
  expect_equal(unname(as.matrix(boot$curve[-1])), unname(statistics), tolerance = 1e-14)
  expect_identical(names(boot$curve), c("h", "min", "lower", "median", "upper", "max"))
  expect_identical(boot$h, boot$curve$h[which.min(boot$curve$median)])
  expect_identical(names(boot$best), names(boot$curve)[-1])
  for (name in names(boot$best)) {
    expect_identical(boot$best[[name]], boot$curve$h[which.min(boot$curve[[name]])])
  }
})

test_that("hboot() is Hboot() in the units of the data", {
  x <- boot_sample(1)[, 1]
  one <- with_seed(3, quietly(hboot(x, B = 5)))
  many <- with_seed(3, quietly(Hboot(x, B = 5)))
  expect_equal(one$h, many$h * sd(x), tolerance = 1e-14)
  expect_equal(one$H, one$h^2, tolerance = 1e-14)
  expect_equal(one$curve$h, many$curve$h * sd(x), tolerance = 1e-14)
  expect_equal(one$errors, many$errors, tolerance = 1e-10)
  given <- with_seed(3, hboot(x, h0 = 2, h = c(1, 2, 3), B = 5))
  expect_identical(given$h0, 2)
  expect_equal(given$curve$h, 1:3)
  expect_lt(min(given$axes[[1]]), min(x) - 4.99)
})

test_that("errors follow the units of the data to the ends of their range", {
  x <- boot_sample(2)
  boot_in <- function(unit) {
    with_seed(8, quietly(Hboot(x * rep(unit, each = nrow(x)), h0 = 1, h = c(0.7, 1, 1.4), B = 4, gridsize = 25)))
  }
  errors <- boot_in(c(1, 1))$errors
  for (power in c(-270, -40, 7, 270)) {
    expect_same_bits(boot_in(2^c(power, power))$errors * 2^power, errors * 2^-power, info = power)
  }
  expect_same_bits(boot_in(c(2^-400, 2^400))$errors, errors)
  six <- with_seed(3, matrix(rnorm(120), 20))
  for (unit in c(1e-60, 1e60)) {
    expect_error(suppressWarnings(Hboot(six * unit, B = 2, gridsize = 4)), "`x` must be in units",
                 class = "kestrel_error_input")
  }
})

test_that("progress rises to the end and changes nothing", {
  x <- boot_sample(2)
  boot_with <- function(verbose) {
    with_seed(5, Hboot(x, h0 = 1, h = c(0.4, 1, 2.5), B = 8, gridsize = 20, verbose = verbose))
  }
  quiet <- boot_with(FALSE)
  seen <- numeric(0)
  watched <- function(verbose, label, body) {
    if (!verbose) return(body(NULL))
    expect_identical(label, "Smoothed bootstrap")
    body(function(fraction) seen <<- c(seen, fraction))
  }
  with_binding("with_progress", watched, {
    expect_message(boot <- boot_with(TRUE), "^3 bandwidths, 8 replicates of 40 samples, grid 20 x 20[.]")
  })
  expect_false(is.unsorted(seen))
  expect_true(all(seen >= 0 & seen <= 1))
  expect_identical(boot$errors, quiet$errors)
  # Also with the bar itself.
  expect_message(expect_identical(boot_with(TRUE)$errors, quiet$errors), "3 bandwidths")
})

test_that("a long replicate reports progress within, so that it can be stopped there", {
  x <- boot_sample(3, 20000)
  for (threads in 1:2) {
    seen <- numeric(0)
    watched <- function(verbose, label, body) body(function(fraction) seen <<- c(seen, fraction))
    with_binding("with_progress", watched, {
      quietly(Hboot(x, h0 = 1, h = c(1.5, 2), B = 4, gridsize = 100, threads = threads))
    })
    expect_false(is.unsorted(seen))
    expect_true(any((4 * seen) %% 1 > 1e-6), info = threads)
  }
})

test_that("the default range holds the best bandwidth of ordinary data", {
  samples <- list(faithful$eruptions, faithful$waiting, precip, quakes$mag, quakes$depth, iris$Petal.Length, faithful,
                  rivers, quakes[c("lat", "long")], iris[1:2])
  for (x in samples) expect_no_warning_of(with_seed(1, Hboot(x, B = 20)), "kestrel_warning_search")
})

test_that("setTimeLimit stops a bootstrap in its middle, and the next goes on", {
  x <- boot_sample(3, 2000)
  for (threads in 1:2) {
    # An hour, unless it is stopped.
    expect_lt(ends_by_time_limit(Hboot(x, B = 1e6, gridsize = 30, threads = threads)), 1e-3)
    expect_identical(dim(quietly(Hboot(x, B = 2, gridsize = 13, threads = threads))$errors), c(2L, 31L))
  }
})

test_that("any number of threads gives the same bits", {
  x <- boot_sample(3, 300)
  runs <- lapply(1:4, function(threads) {
    with_seed(6, quietly(Hboot(x, B = 6, gridsize = 12, threads = threads)))$errors
  })
  expect_same_bits(runs[[2]], runs[[1]])
  expect_same_bits(runs[[3]], runs[[1]])
  expect_same_bits(runs[[4]], runs[[1]])
  expect_false(identical(with_seed(7, quietly(Hboot(x, B = 6, gridsize = 12)))$errors, runs[[1]]))
})

test_that("there is a warning for a minimum at an end of the range", {
  x <- boot_sample(2)
  expect_warning(Hboot(x, h0 = 1, h = c(0.1, 0.2), B = 3, gridsize = 60), "end of the range",
                 class = "kestrel_warning_search")
  inside <- with_seed(1, Hboot(x, h0 = 1, h = c(0.2, 1, 5), B = 3, gridsize = 60))
  expect_identical(inside$convergence, 0L)
  expect_identical(inside$h, 1)
})

test_that("there are warnings for a grid too coarse for the narrowest bandwidth, and for one out of reach", {
  expect_warning(quietly(Hboot(faithful, B = 2, gridsize = 6)), "too coarse for the bandwidth: a kernel covers 0[.]",
                 class = "kestrel_warning_grid")
  expect_no_warning(quietly(Hboot(faithful, h0 = 0.5, h = c(0.5, 1), B = 2, gridsize = 60)))
  expect_warning(quietly(Hboot(faithful, h0 = 0.5, h = c(0.02, 1), B = 2, gridsize = 60)), "too coarse",
                 class = "kestrel_warning_grid")
  expect_warning(quietly(Hboot(faithful, B = 2, xmin = c(50, 0), xmax = c(60, 1), gridsize = 60)), "out of reach",
                 class = "kestrel_warning_grid")
})

test_that("a grid above memory is refused with its size", {
  old <- options(kestrel.memory_limit = 1e5)
  on.exit(options(old))
  expect_error(Hboot(boot_sample(3), gridsize = 50), "50 x 50 x 50 points need", class = "kestrel_error_memory")
  # 92 bytes a row and thread and 157 kB for the grid: a sample for one thread fits, samples for two do not.
  options(kestrel.memory_limit = 3e6)
  x <- boot_sample(3, 20000)
  expect_error(Hboot(x, gridsize = 17, B = 2, threads = 2), "`threads` must .* 2 of 20,000 rows need",
               class = "kestrel_error_memory")
  expect_identical(dim(quietly(Hboot(x, gridsize = 17, B = 2, threads = 1))$errors), c(2L, 31L))
})

test_that("bad input is refused", {
  x <- boot_sample(2)
  expect_refused(
    Hboot(c(1, NA, 3)),
    Hboot(cbind(1, 1:9)),
    Hboot(x, h0 = -1),
    Hboot(x, h0 = c(1, 2)),
    Hboot(x, h = numeric(0)),
    Hboot(x, h = c(1, 0)),
    Hboot(x, B = 0),
    Hboot(x, B = 2.5),
    Hboot(x, gridsize = 1),
    Hboot(x, xmin = c(9, 9), xmax = c(1, 1)),
    Hboot(x * 1e-12, h0 = 1e-4, xmax = c(1e300, 1)),
    Hboot(matrix(rnorm(70), 10)),
    hboot(x)
  )
})

test_that("print, summary and plot", {
  boot <- with_seed(9, Hboot(boot_sample(2), h0 = 1, h = c(0.4, 1, 2.5), B = 5, gridsize = 20))
  expect_snapshot_output(shown(boot))
  expect_snapshot_output(shown(summary(boot)))
  expect_gt(drawn(plot(boot)), 4)
  expect_gt(drawn(plot(boot, las = 0, bty = "n", ylim = c(0, 1))), 4)
})
