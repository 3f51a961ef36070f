# kde(bounds = ): densities by reflection, beside the sum over all images in plain R.

bounded_sample <- function(n, d) {
  x <- cbind(rexp(n), rbeta(n, 1, 2), rnorm(n))[, seq_len(d), drop = FALSE]
  if (n > 5) x[1:5, ] <- rep(c(0, 0, 0.3)[seq_len(d)], each = 5) # ties, on the bounds
  x
}
bounds_of <- function(d) rbind(c(0, Inf), c(0, 1), c(-Inf, Inf))[seq_len(d), , drop = FALSE]
integral_on_unit <- function(f) integrate(f, 0, 1, rel.tol = 1e-13, subdivisions = 2000)$value

test_that("at points and on grids it is the sum over all images, for every kernel", {
  with_seed(1, {
    w <- c(0, rexp(39))
    for (d in 1:3) for (kernel in all_kernels) for (product in c(FALSE, d > 1)) {
      x <- bounded_sample(40, d)
      H <- diag(c(0.2, 0.02, 0.3)[seq_len(d)] * if (kernel == "gaussian") 1 else 5, d)
      type <- if (product) "product" else "radial"
      points <- rbind(x[1:9, , drop = FALSE], x[1:9, , drop = FALSE] - 0.1, 0)
      # Fewer images of points than of data, and the other way round.
      for (at in list(points, points[rep(1:19, 12), , drop = FALSE])) {
        fhat <- kde(x, H = H, w = w, bounds = bounds_of(d), eval.points = at, kernel = kernel, kernel_type = type)
        reference <- reference_reflected(points, x, H, bounds_of(d), w, kernel, product)
        expect_close_to_reference(fhat$estimate, rep(reference, length.out = nrow(at)), info = paste(kernel, d))
      }
      fhat <- kde(x, H = H, bounds = bounds_of(d), gridsize = c(40, 8, 5)[d], kernel = kernel, kernel_type = type,
                  compute.cont = FALSE)
      reference <- reference_reflected(expand.grid(axes_of(fhat)), x, H, bounds_of(d), kernel = kernel,
                                       product = product)
      expect_close_to_reference(fhat$estimate, reference, info = paste(kernel, d))
    }
  })
})

test_that("each engine has the same sums", {
  x <- with_seed(2, bounded_sample(700, 2))
  H <- diag(c(0.04, 0.01))
  axes <- list(seq(0, 3, by = 0.125), seq(0, 1, by = 0.0625))
  grid <- function(...) {
    kde(x, H = H, bounds = bounds_of(2), xmin = c(0, 0), xmax = c(3, 1), gridsize = lengths(axes), ...)$estimate
  }
  for (kernel in c("gaussian", "epanechnikov")) {
    # Further images are 50 standard deviations away.
    reference <- reference_reflected(expand.grid(axes), x, H, bounds_of(2), kernel = kernel, times = 2)
    for (engine in c("auto", "direct", if (kernel == "gaussian") "fourier" else c("kdtree", "scanline"))) {
      expect_close_to_reference(grid(kernel = kernel, engine = engine), reference, info = engine)
      expect_same_bits(grid(kernel = kernel, engine = engine, threads = 3), grid(kernel = kernel, engine = engine))
    }
  }
  line <- list(x = x[, 1], h = 0.1, bounds = c(0, Inf), eval.points = seq(0, 5, length.out = 901))
  reference <- reference_reflected(line$eval.points, line$x, 0.01, bounds_of(1))
  for (engine in c("fgt", "direct")) {
    expect_close_to_reference(do.call(kde, c(line, engine = engine))$estimate, reference, info = engine)
  }
  reference <- reference_reflected(line$eval.points, line$x, 0.01, bounds_of(1), kernel = "biweight")
  expect_close_to_reference(do.call(kde, c(line, engine = "sweep", kernel = "biweight"))$estimate, reference)
})

test_that("awkward shapes: one and two observations, far offsets, wide bandwidths, narrow bounds, extreme units", {
  check <- function(x, h, bounds, at, ..., times = 8) {
    reference <- reference_reflected(at, x, h^2, t(bounds), ..., times = times)
    expect_close_to_reference(kde(x, h = h, bounds = bounds, eval.points = at, ...)$estimate, reference)
  }
  check(0, 1, c(0, Inf), c(0, 1, 5, -1))
  check(c(2, 2), 0.5, c(-Inf, 2), c(0, 1, 2, 2.5))
  check(c(0, 1), 0.2, c(0, 1), seq(0, 1, 0.1))
  at <- 1e9 + seq(0, 4, by = 0.25)
  check(at[c(1, 1, 3, 8)], 0.5, c(1e9, Inf), at)
  check(at[c(1, 1, 3, 8)], 0.5, c(1e9, 1e9 + 4), at)
  # Images of images: of the whole interval several times.
  for (h in c(0.5, 1.5, 2.7, 2.8, 3.5)) check(c(0, 0.1, 0.7), h, c(0, 1), seq(0, 1, 0.125), times = 40)
  for (kernel in compact_kernels) {
    reference <- reference_reflected((0:8) / 8, c(0, 0.1, 0.7), 5.2718^2, t(c(0, 1)), kernel = kernel)
    fhat <- kde(c(0, 0.1, 0.7), h = 5.2718, bounds = c(0, 1), eval.points = (0:8) / 8, kernel = kernel)
    expect_close_to_reference(fhat$estimate, reference, info = kernel)
  }
  wide <- kde(c(0.2, 0.5), h = 1e9, bounds = c(0, 1), eval.points = c(0, 0.3, 1.1))
  expect_close_to_reference(wide$estimate, c(1, 1, 0))
  x <- with_seed(3, rexp(30))
  here <- kde(x, bounds = c(0, Inf))
  for (unit in c(2^-200, 2^200)) {
    there <- kde(x * unit, bounds = c(0, Inf))
    expect_equal(there$h / unit, here$h, tolerance = 1e-12)
    expect_close_to_reference(there$estimate * unit, here$estimate)
  }
})

test_that("it integrates to one, is not negative, and is the mirror image for mirrored data", {
  x <- with_seed(4, c(0, 0, 1, rbeta(60, 1, 3)))
  for (h in c(0.02, 0.15, 0.9, 4)) {
    fhat <- kde(x, h = h, bounds = c(0, 1))
    expect_lt(abs(integral_on_unit(function(at) predict(fhat, at)) - 1), 1e-12)
    expect_gte(min(fhat$estimate), 0)
    mirrored <- kde(1 - x, h = h, bounds = c(0, 1))
    expect_close_to_reference(rev(mirrored$estimate), fhat$estimate)
  }
  # In two dimensions the cosines that the grid resolves are integrated by the trapezoid rule exactly.
  plane <- kde(cbind(x, rev(x)), h = 0.3, bounds = cbind(c(0, 0), c(1, 1)), gridsize = 41)
  expect_lt(abs(summary(plane)$mass - 1), 1e-12)
})

test_that("infinite bounds are no bounds, bit for bit, and bounds out of reach change nothing", {
  x <- with_seed(5, matrix(rnorm(300), ncol = 3))
  for (d in 1:3) {
    here <- x[, seq_len(d)]
    free <- kde(here, gridsize = 15)
    bounded <- kde(here, gridsize = 15, bounds = cbind(rep(-Inf, d), Inf))
    kept <- setdiff(names(free), c("call", "seconds", "selector"))
    expect_identical(unclass(bounded)[kept], unclass(free)[kept])
    free <- kde(here, H = Hns(here) * diag(d), gridsize = 15)
    far <- kde(here, H = free$H, gridsize = 15, bounds = cbind(rep(-1e3, d), Inf))
    expect_same_bits(far$estimate, free$estimate)
    expect_identical(far$eval.points, free$eval.points)
  }
})

test_that("probabilities, quantiles, draws, marginals, queries and files know the bounds", {
  x <- with_seed(6, bounded_sample(60, 2))
  w <- with_seed(6, rexp(60))
  for (kernel in c("gaussian", "epanechnikov")) {
    line <- kde(x[, 2], h = 0.2, w = w, bounds = c(0, 1), kernel = kernel)
    at <- c(0, 0.1, 0.5, 0.9, 1)
    images <- reference_images(x[, 2], t(c(0, 1)))
    cut <- function(z) pmin(pmax(z, -1), 1)
    cdf <- function(z) if (kernel == "gaussian") pnorm(z) else (2 + 3 * cut(z) - cut(z)^3) / 4
    mass <- function(from, to) {
      sum(w[images$row] * (cdf((to - images$x) / 0.2) - cdf((from - images$x) / 0.2))) / sum(w)
    }
    expect_close_to_reference(pkde(c(-1, at, 2), line), c(0, 0, mass(0, 0.1), mass(0, 0.5), mass(0, 0.9), 1, 1))
    expect_close_to_reference(qkde(pkde(at, line), line), at)
    expect_identical(pkde(c(-Inf, Inf), line), c(0, 1))
    plane <- kde(x, H = diag(c(0.2, 0.04)), w = w, bounds = bounds_of(2), kernel = kernel, kernel_type = "product",
                 gridsize = c(31, 21))
    expect_close_to_reference(marginal(plane, 2)$estimate, predict(line, axes_of(plane)[[2]]))
    expect_close_to_reference(pkde(cbind(Inf, at), plane), pkde(at, line))
    expect_close_to_reference(kde_query(plane, lower = c(-Inf, 0.1), upper = c(Inf, 0.5))$count / 60,
                              diff(pkde(c(0.1, 0.5), line)))
    everything <- kde_query(plane, lower = c(0, 0), upper = c(Inf, 1))
    expect_equal(unlist(everything), c(count = 60, lower = 60, upper = 60))
    # The mean is the integral of P(X > t).
    t <- (seq_len(4000) - 0.5) / 4000
    expect_equal(kde_query(plane, fun = "mean", of = 2)$mean, mean(1 - pkde(t, line)), tolerance = 1e-7)
    draws <- with_seed(7, rkde(4000, plane))
    expect_true(all(draws >= 0 & draws[, 2] <= 1))
    for (k in 1:2) {
      expect_gt(suppressWarnings(ks.test(draws[, k], function(q) pkde(q, marginal(plane, k)))$p.value), 1e-3)
    }
    wide <- kde(x[, 2], h = 3, bounds = c(0, 1), kernel = kernel)
    draws <- with_seed(8, rkde(2000, wide))
    expect_gt(ks.test(draws, function(q) pkde(q, wide))$p.value, 1e-3)
    skip_if_not_installed("ncdf4")
    file <- tempfile(fileext = ".nc")
    write_pdf(plane, file)
    read <- read_pdf(file)
    unlink(file)
    expect_identical(read$transform, plane$transform)
    expect_identical(predict(read, x), predict(plane, x))
  }
})

test_that("contour levels are those of the density at the data, also without a grid", {
  x <- with_seed(9, bounded_sample(80, 2))
  fhat <- kde(x, h = 0.2, bounds = bounds_of(2), gridsize = 201)
  at_data <- reference_reflected(x, x, diag(0.04, 2), bounds_of(2))
  expect_equal(unname(contourLevels(fhat, cont = c(25, 75), approx = FALSE)), unname(quantile(at_data, c(0.75, 0.25))))
  expect_equal(contourLevels(fhat, cont = 50), contourLevels(fhat, cont = 50, approx = FALSE), tolerance = 1e-2)
  expect_gt(drawn(plot(fhat)), 10)
  expect_gt(drawn(plot(kde(x[, 1], bounds = c(0, Inf)), cont = 50)), 3)
})

test_that("the default bandwidth is the plug-in rule with images, in plain R", {
  x <- with_seed(10, rexp(80))
  derivative <- function(z, r) {
    if (r == 4) return((z^4 - 6 * z^2 + 3) * dnorm(z))
    (z^6 - 15 * z^4 + 45 * z^2 - 15) * dnorm(z)
  }
  psi_of <- function(g, r) {
    images <- reference_images(x, t(c(0, Inf)))$x
    mean(vapply(x, function(at) sum(derivative((at - images) / g, r)) / (length(x) * g^(r + 1)), 0))
  }
  scale <- min(sd(x), IQR(x) / 1.349)
  psi8 <- 105 / (32 * sqrt(pi) * scale^9)
  g6 <- (30 / sqrt(2 * pi) / (psi8 * 80))^(1 / 9)
  g4 <- (-6 / sqrt(2 * pi) / (psi_of(g6, 6) * 80))^(1 / 7)
  h <- (1 / (2 * sqrt(pi) * psi_of(g4, 4) * 80))^(1 / 5)
  expect_equal(kde(x, bounds = c(0, Inf))$h, h)
  expect_equal(hpi(x, bounds = c(0, Inf)), h)
  # One stage from the standard deviation.
  normal <- (6 / sqrt(2 * pi) / (15 / (16 * sqrt(pi) * sd(x)^7) * 80))^(1 / 7)
  expect_equal(hpi(x, bounds = c(0, Inf), nstage = 1, scalest = "stdev"),
               (1 / (2 * sqrt(pi) * psi_of(normal, 4) * 80))^(1 / 5))
  # Out of reach of the bounds it is the plug-in rule. In several dimensions the matrix is diagonal, as that of kernels.
  expect_equal(kde(x, bounds = c(-100, Inf))$h, hpi(x))
  plane <- with_seed(10, cbind(rnorm(80), rnorm(80)))
  far <- cbind(c(-100, -Inf), c(Inf, Inf))
  expect_equal(kde(plane, bounds = far, gridsize = 5)$H, Hpi.diag(plane, pilot = "samse"))
  expect_identical(kde(plane, bounds = far, gridsize = 5, kernel = "epanechnikov")$H[1, 2], 0)
  expect_equal(kde(x, bounds = c(0, Inf), w = rep(2, 80))$h, kde(x, bounds = c(0, Inf))$h)
  some <- rep(0:1, 40)
  expect_equal(quietly(kde(x, bounds = c(0, Inf), w = some))$h, kde(x[some > 0], bounds = c(0, Inf))$h)
  # The functionals in two dimensions, of coordinates in other units.
  sample <- with_covariance(check_sample(bounded_sample(30, 2), rexp(30)))
  sample$axes <- diag(c(2, 0.5))
  sample$transform <- list(type = "images", lower = c(0, 0), upper = c(Inf, 1), period = c(0, 0))
  images <- reference_images(sample$x, bounds_of(2))
  y <- images$x %*% sample$axes
  of_data <- sample$x %*% sample$axes
  p <- sample$w / sum(sample$w)
  one <- function(z, r) (if (r == 0) 1 else if (r == 2) z^2 - 1 else z^4 - 6 * z^2 + 3) * dnorm(z)
  psi <- apply(rbind(c(4, 0), c(2, 2), c(0, 4)), 1, function(r) {
    sum(vapply(1:30, function(i) {
      u <- (rep(of_data[i, ], each = nrow(y)) - y) / 0.3
      p[i] * sum(p[images$row] * one(u[, 1], r[1]) * one(u[, 2], r[2])) / 0.3^6
    }, 0))
  })
  expect_close_to_reference(psi_order(sample, 0.3, 4L, run_options())[c(1, 3, 5)], psi, tol = 1e-10)
  # For a uniform density hpi() sees the edges and undersmooths.
  x <- with_seed(11, runif(500))
  expect_gt(kde(x, bounds = c(0, 1))$h, 1.2 * hpi(x))
})

test_that("hpi() and Hpi.diag() with bounds or a period are the bandwidths of kde()", {
  with_seed(14, {
    x <- rexp(60)
    w <- rexp(60)
    hours <- rnorm(60, 0, 3)
    plane <- cbind(a = x, b = hours, c = runif(60))
  })
  expect_identical(hpi(x, bounds = c(0, Inf), w = w), quietly(kde(x, bounds = c(0, Inf), w = w))$h)
  expect_message(h <- hpi(hours, period = 24), "whole periods are added")
  expect_identical(h, quietly(kde(hours, period = 24))$h)
  expect_identical(hpi(x, bounds = c(-Inf, Inf)), hpi(x))
  for (d in 2:3) {
    bounds <- cbind(c(0, -Inf, -Inf), Inf)[seq_len(d), ]
    period <- c(NA, 24, NA)[seq_len(d)]
    fhat <- quietly(kde(plane[, seq_len(d)], bounds = bounds, period = period, gridsize = 3))
    found <- quietly(Hpi.diag(plane[, seq_len(d)], bounds = bounds, period = period, amise = TRUE))
    expect_identical(unname(found$H), unname(fhat$H))
    expect_identical(found$objective, fhat$selector$objective)
  }
  # From elsewhere the search ends at the same minimum.
  expect_equal(Hpi.diag(plane[, c(1, 3)], bounds = cbind(0, c(Inf, 1)), Hstart = diag(c(0.2, 0.02))),
               Hpi.diag(plane[, c(1, 3)], bounds = cbind(0, c(Inf, 1))), tolerance = 1e-5)
  # Units far from one.
  here <- hpi(x, bounds = c(0, Inf), amise = TRUE)
  far <- hpi(x * 2^-100, bounds = c(0, Inf), amise = TRUE)
  powers <- c(h = 1, H = 2, objective = -1, scale = 1, psi8 = -9, g1 = 1, psi6 = -7, g2 = 1, psi4 = -5)
  for (name in names(powers)) expect_equal(far[[name]] / here[[name]], 2^(-100 * powers[[name]]), ignore_attr = TRUE)
  s <- kde_sketch(rep(x, 20), sketch_plan(x, hmin = 0.02))
  expect_gt(summary(s)$cells[["full"]], 0)
  expect_identical(hpi(s, bounds = c(0, Inf)), kde(s, bounds = c(0, Inf))$h)
  expect_snapshot(error = TRUE, {
    hpi(x, bounds = c(1, Inf))
    hpi(x, bounds = c(0, Inf), deriv.order = 1)
    hpi(plane, period = 24)
    Hpi.diag(plane, bounds = cbind(c(1, -Inf, -Inf), Inf))
    Hpi.diag(plane[, 1:2], period = c(NA, 24), pilot = "dscalar")
    Hpi.diag(cbind(plane, hours^2), bounds = cbind(rep(-100, 4), Inf))
  })
})

test_that("hlscv() minimises the criterion of the estimate with images, in plain R", {
  with_seed(12, {
    x <- c(0, rexp(39))
    w <- rexp(40)
    hours <- (24 + rnorm(40, 0, 3)) %% 24
  })
  p <- w / sum(w)
  criterion <- function(x, images, h) {
    f <- function(at, h, without) {
      images$w <- p[images$row] * (images$row != without)
      sum(images$w * dnorm(at, images$x, h))
    }
    squared <- sum(p * vapply(x, f, 0, h = sqrt(2) * h, without = 0))
    others <- sum(p * mapply(f, x, without = seq_along(x), h = h))
    squared - 2 * others / (1 - sum(p^2))
  }
  found <- hlscv(x, bounds = c(0, Inf), w = w, amise = TRUE)
  images <- reference_images(x, t(c(0, Inf)))
  expect_close_to_reference(found$objective, criterion(x, images, found$h))
  some <- found$curve[c(1, 30, 60, 100), ]
  expect_close_to_reference(some$objective, vapply(some$h, criterion, 0, x = x, images = images))
  # The integral of the squared estimate is what it is said to be.
  squared <- integrate(function(t) kde(x, h = 0.4, w = w, bounds = c(0, Inf), eval.points = t)$estimate^2, 0, 20,
                       rel.tol = 1e-10)$value
  own <- sum(p * vapply(x, function(at) sum(p[images$row] * dnorm(at, images$x, sqrt(2) * 0.4)), 0))
  expect_equal(squared, own)
  found <- hlscv(hours, period = 24, w = w, amise = TRUE)
  repeated <- list(x = as.vector(outer(hours, 24 * (-9:9), `+`)), row = rep(1:40, 19))
  expect_close_to_reference(found$objective, criterion(hours, repeated, found$h))
  expect_equal(hlscv((hours + 7) %% 24, period = 24, w = w), found$h, tolerance = 1e-6)
  expect_equal(quietly(hlscv(x, bounds = c(-100, Inf))), quietly(hlscv(x)), tolerance = 1e-6)
  # Of kernels so wide that the estimate is uniform, the criterion is that of the uniform density.
  wide <- quietly(hlscv(hours, period = 24, hmin = 30, hmax = 300, amise = TRUE))$curve
  expect_close_to_reference(wide$objective[wide$h > 33], rep(-1 / 24, sum(wide$h > 33)))
  expect_snapshot(error = TRUE, {
    hlscv(x, bounds = c(1, Inf))
    hlscv(x, bounds = c(0, Inf), kernel = "biweight")
    hlscv(x, bounds = c(0, Inf), deriv.order = 1)
  })
})

test_that("prints say the bounds, and refusals what is wrong", {
  fhat <- kde(bounds = c(0, Inf), faithful$eruptions - 1.6, h = 0.3)
  expect_snapshot_output(shown(summary(fhat)))
  plane <- kde(faithful, h = 3, bounds = rbind(waiting = c(-Inf, 100), eruptions = c(0, 6)), gridsize = 5)
  expect_snapshot_output(shown(plane))
  x <- faithful$eruptions
  expect_snapshot(error = TRUE, {
    kde(x, bounds = c(2, 4))
    kde(faithful, bounds = cbind(c(0, 50), Inf))
    kde(x, bounds = c(6, 0))
    kde(x, bounds = c(0, 0))
    kde(x, bounds = c(0, NA))
    kde(x, bounds = 0)
    kde(x, bounds = "0")
    kde(faithful, bounds = c(0, 100))
    kde(faithful, bounds = cbind(c(0, 0), c(6, -1e3)))
    kde(faithful, bounds = cbind(c(0, 0), Inf), H = Hns(faithful))
    kde(x, bounds = c(-1e308, 1.7e308))
    kde(x, bounds = c(0, Inf), positive = TRUE)
    kde(x / 6, bounds = c(0, 1), unit.interval = TRUE)
    kde(iris[1:4], bounds = cbind(rep(0, 4), Inf))
    rkde(3, fhat, positive = TRUE)
  })
  old <- options(kestrel.memory_limit = 1e9)
  on.exit(options(old))
  expect_snapshot(error = TRUE, kde(x, bounds = c(0, 6), h = 1e12, kernel = "biweight"))
  four <- kde(iris[1:4], h = 0.4, bounds = cbind(rep(0, 4), Inf), eval.points = iris[1:9, 1:4])
  reference <- reference_reflected(iris[1:9, 1:4], iris[1:4], diag(0.16, 4), cbind(rep(0, 4), Inf))
  expect_close_to_reference(four$estimate, reference)
})
