# npregbw(period = ): regressions on a periodic variable, beside sums over many periods in plain R.

# The fit at a point with the images of the observations, and the weight of each observation in it.
reference_periodic_fit <- function(point, x, y, w, h, kernel, regtype, period, times = 20) {
  images <- as.vector(outer(x, period * (-times:times), `+`))
  copies <- 2 * times + 1
  fit <- reference_local_fit(point, images, rep(y, copies), rep(w, copies), h, kernel, regtype)
  list(value = fit$value, smoother = rowSums(matrix(fit$smoother, length(x))))
}

# What npregbw() and npreg() keep of it.
reference_periodic <- function(x, y, w, h, kernel, regtype, period, points) {
  fit <- function(point, w) reference_periodic_fit(point, x, y, w, h, kernel, regtype, period)
  loo <- vapply(seq_along(x), function(i) fit(x[i], replace(w, i, 0))$value, 0)
  inside <- lapply(x, fit, w = w)
  leverage <- vapply(seq_along(x), function(i) inside[[i]]$smoother[i], 0)
  at <- lapply(points, fit, w = w)
  list(loo = loo, mean = vapply(inside, `[[`, 0, "value"), edf = sum(leverage),
       at = vapply(at, `[[`, 0, "value"),
       se = vapply(at, function(one) sqrt(sum(one$smoother^2 * (y - loo)^2)), 0))
}

hours_of_day <- function(n) {
  with_seed(1, {
    x <- c(0, 24, 24 * runif(n - 2))
    list(x = x, y = 10 + sin(2 * pi * x / 24) + rnorm(n, sd = 0.3), w = rexp(n))
  })
}

test_that("fits, leave-one-out fits and standard errors are those of sums over all periods", {
  data <- hours_of_day(15)
  points <- c(0, 5.4, 24, 30, -100)
  for (kernel in c("gaussian", "epanechnikov", "uniform")) for (regtype in c("lc", if (kernel != "uniform") "ll")) {
    # Below and above 24 / 18, where Fourier series take over; up to half the period for compact kernels.
    for (h in if (kernel == "gaussian") c(1.2, 4, 30) else c(7.2, 12)) {
      bw <- npregbw(data$x, data$y, h, FALSE, w = data$w, ckertype = kernel, regtype = regtype, period = 24,
                    bw.scale = "support")
      w <- data$w / mean(data$w)
      reference <- reference_periodic(data$x, data$y, w, h, kernel, regtype, 24, points)
      info <- paste(kernel, regtype, h)
      expect_equal(bw$fval, mean(w * (data$y - reference$loo)^2), tolerance = 1e-11, info = info)
      fit <- npreg(bw, gradients = TRUE)
      expect_equal(fit$loo, reference$loo, tolerance = 1e-11, info = info)
      expect_equal(fit$mean, reference$mean, tolerance = 1e-11, info = info)
      expect_equal(fit$edf, reference$edf, tolerance = 1e-10, info = info)
      at <- npreg(bw, exdat = points, gradients = TRUE)
      expect_equal(at$mean, reference$at, tolerance = 1e-11, info = info)
      expect_equal(at$merr, reference$se, tolerance = 1e-8, info = info)
      # At the data and at points.
      expect_equal(fit$merr[1:2], at$merr[c(1, 3)], tolerance = 1e-8, info = info)
      expect_equal(fit$grad[1:2], at$grad[c(1, 3)], tolerance = 1e-8, info = info)
      expect_equal(fit$gerr[1:2], at$gerr[c(1, 3)], tolerance = 1e-7, info = info)
      expect_equal(fit$MSE, stats::weighted.mean((data$y - reference$mean)^2, w), tolerance = 1e-10, info = info)
    }
  }
})

test_that("gradients are derivatives, and slopes of lines, on both sides of the bandwidth where sums change", {
  data <- hours_of_day(25)
  for (h in c(1.3, 1.4)) for (points in c(0, 5.4)) {
    fit <- function(regtype, at) {
      npreg(bws = h, txdat = data$x, tydat = data$y, exdat = at, gradients = TRUE, period = 24, regtype = regtype)
    }
    near <- fit("lc", points + c(-1e-4, 1e-4))$mean
    expect_equal(c(fit("lc", points)$grad), diff(near) / 2e-4, tolerance = 1e-6)
    z <- as.vector(outer(data$x - points, 24 * (-5:5), `+`))
    line <- stats::lm.wfit(cbind(1, z), rep(data$y, 11), dnorm(z / h))
    expect_equal(c(fit("ll", points)$grad), line$coefficients[[2]], tolerance = 1e-10)
  }
})

test_that("points and observations far from all others keep their digits", {
  x <- c(rep(6, 3) + c(0, 0.01, 0.05), 17.5, 18)
  y <- c(1, 2, 4, 8, 16)
  for (regtype in c("lc", "ll")) for (h in c(1.35, 2)) {
    fit <- npreg(npregbw(x, y, h, FALSE, period = 24, regtype = regtype))
    reference <- reference_periodic(x, y, rep(1, 5), h, "gaussian", regtype, 24, c(0.3, 12))
    expect_equal(fit$loo, reference$loo, tolerance = 1e-9)
    at <- npreg(fit$bws, exdat = c(0.3, 12), gradients = TRUE)
    expect_equal(at$mean, reference$at, tolerance = 1e-9)
    expect_equal(at$merr, reference$se, tolerance = 1e-7)
    near <- npreg(fit$bws, exdat = 12 + c(-1e-5, 1e-5))$mean
    if (regtype == "lc") expect_equal(at$grad[2], diff(near) / 2e-5, tolerance = 1e-5)
  }
})

test_that("the search finds the least value, wherever the period begins", {
  data <- hours_of_day(60)
  for (kernel in c("gaussian", "epanechnikov", "uniform")) {
    method <- if (kernel == "epanechnikov") "cv.aic" else "cv.ls"
    find <- function(x) npregbw(x, data$y, ckertype = kernel, bwmethod = method, period = 24, bw.scale = "support")
    here <- find(data$x)
    curve <- npregbw(data$x, data$y, seq(0.5, 11.9, length.out = 80), ckertype = kernel, bwmethod = method, period = 24,
                     bw.scale = "support")$cv
    expect_lte(here$fval, min(curve, na.rm = TRUE) + 1e-12)
    turned <- find((data$x + 11) %% 24 + 100)
    expect_equal(turned$fval, here$fval, tolerance = 1e-9, info = paste(kernel, method))
    expect_equal(turned$bw, here$bw, tolerance = if (kernel == "uniform") 0.05 else 1e-4, info = paste(kernel, method))
  }
  # Without a signal the fit is the mean.
  for (kernel in c("gaussian", "epanechnikov")) for (regtype in c("lc", "ll")) {
    y <- rep(c(1, -1), 15)
    expect_message(flat <- npregbw(1:30, y, ckertype = kernel, regtype = regtype, period = 30),
                   "the fit is the mean of y")
    expect_equal(npreg(flat)$mean, rep(mean(y), 30))
    expect_equal(flat$fval, mean((y - (sum(y) - y) / 29)^2))
  }
})

test_that("a narrow kernel in the middle of the period gives the fit without one", {
  data <- with_seed(2, list(x = 10 + runif(50), y = rnorm(50)))
  for (regtype in c("lc", "ll")) {
    here <- npreg(npregbw(data$x, data$y, 0.05, FALSE, regtype = regtype, period = 24), gradients = TRUE)
    plain <- npreg(npregbw(data$x, data$y, 0.05, FALSE, regtype = regtype), gradients = TRUE)
    for (field in c("mean", "merr", "grad", "gerr", "loo", "R2", "CORR")) {
      expect_equal(here[[field]], plain[[field]], tolerance = 1e-9, info = field)
    }
  }
})

test_that("observations in other periods are moved, and said", {
  data <- hours_of_day(25)
  shown <- function(object) replace(object, "seconds", 0.01)
  expect_snapshot({
    bw <- npregbw(c(data$x[-1], 100), data$y, 1, FALSE, period = 24)
    shown(bw)
    shown(npreg(npregbw(y ~ x, data = data, period = 24, w = c(0, rep(1, 24)))))
  })
  expect_equal(max(bw$x), 24)
  expect_equal(predict(npreg(bw), 27.5), predict(npreg(bw), 3.5))
  days <- as.Date("2020-03-01") + seq(0, 700, 14)
  expect_message(fit <- npreg(seq_along(days) ~ days, period = 365.25), "not from 2020-03-01 to 2021-03-01")
  expect_equal(predict(fit, data.frame(days = days[1] + 3653)), predict(fit, data.frame(days = days[1] + 0.5)))
  bw$bw <- 2
  expect_identical(npreg(bw)$mean, npreg(npregbw(bw$x, data$y, 2, FALSE, period = 24))$mean)
})

test_that("threads change nothing, and bad input is refused", {
  data <- hours_of_day(120)
  for (kernel in c("gaussian", "biweight")) {
    one <- npreg(npregbw(data$x, data$y, ckertype = kernel, period = 24, threads = 1), threads = 1)
    two <- npreg(npregbw(data$x, data$y, ckertype = kernel, period = 24, threads = 3), threads = 3)
    expect_identical(one$mean, two$mean)
    expect_identical(one$bws$cv, two$bws$cv)
  }
  expect_snapshot(error = TRUE, {
    npregbw(1:9, 1:9, period = -1)
    npregbw(1:9, 1:9, period = c(1, 2))
    npregbw(1:9, 1:9, period = 24, bwtype = "generalized_nn")
    npregbw(1:9, 1:9, period = 24, ckerorder = 4)
    npregbw(1:9, 1:9, 13, FALSE, period = 24, ckertype = "biweight")
    npregbw(1:9, 1:9, bwmax = 13, period = 24, ckertype = "biweight")
    npregbw(cbind(a = 1:9, b = c(1:8, 1)), 1:9, period = 24)
    npregbw(1:9, 1:9, period = 24, backend = "cuda")
    npregbw(1:9, 1:9, npregbw(1:9, 1:9, 2, FALSE, period = 24), period = 12)
    npsigtest(npregbw(1:9, 1:9, 2, FALSE, period = 24))
    npksum(npregbw(1:9, 1:9, 2, FALSE, period = 24), txdat = 1:9)
  })
})
