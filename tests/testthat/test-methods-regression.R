# npregbw() and npreg() as an interface: arguments, refusals, results, prints and plots.

x <- c(1, 2, 2.5, 4, 5.5, 6, 7.25, 9)
y <- c(2, 3, 3.5, 5, 4, 6.5, 6, 8)
d <- data.frame(x = x, y = y, f = factor(c("a", "b")), text = letters[1:8], z = rev(x))

test_that("data", {
  expect_refused(
    npregbw(),
    npregbw(x),
    npregbw(x, y[-1]),
    npregbw(c(x, NA), c(y, 1), na.action = na.fail),
    npregbw(x, replace(y, 1:2, NaN), na.action = na.fail),
    npregbw(y ~ x, rbind(d, NA), na.action = na.fail),
    npregbw(replace(x, 3, Inf), y),
    npregbw(x, replace(y, 3, -Inf)),
    npregbw(letters, 1:26),
    npregbw(x, d$f),
    npregbw(x, cbind(y, y)),
    npregbw(list(1, 2), y),
    npregbw(x + 1i, y),
    npregbw(numeric(0), numeric(0)),
    npregbw(x[1], y[1]),
    npregbw(rep(3, 8), y),
    npregbw(c(-1e308, 0, 1e308), 1:3),
    npregbw(x * 1e-309, y),
    npregbw(x * 1e-291, y, w = replace(x, 1, 0)),
    npregbw(x, y * 1e300),
    npregbw(x, y * 1e-200),
    npregbw(x, y * 1e300, bwmethod = "cv.aic"),
    npregbw(d["x"], d["y"] * 1e154, bws = 3),
    npregbw(x, array(y, c(8, 1, 1))),
    npregbw(xdat = d[integer(0)], ydat = y),
    npregbw(as.difftime(x, units = "mins"), y),
    npregbw(c(NA, x[1]), y[1:2]),
    npregbw(x, y, na.action = na.pass)
  )
})

test_that("formula", {
  expect_refused(
    npregbw(y ~ ., data = d),
    npregbw(y ~ text, data = d),
    npregbw(f ~ x, data = d),
    npregbw(~x, data = d),
    npregbw(y ~ 1, data = d),
    npregbw(y ~ nowhere, data = d),
    npregbw(y ~ x, data = "d"),
    npregbw(y ~ x, data = list(x = x, y = y[-1])),
    npregbw(cbind(y, z) ~ x, data = d),
    npregbw(y ~ poly(x, 2), data = d),
    npregbw(y ~ offset(x), data = d),
    npregbw(y ~ x + offset(z), data = d),
    npregbw(y ~ x, data = d, weights = z),
    npregbw(y ~ x, data = d, subset = nowhere > 1),
    npregbw(y ~ x, data = d, w = nowhere),
    npregbw(y ~ x, data = d, w = 1:3),
    npregbw(y ~ x, data = d[1, ]),
    npregbw(data = d, x),
    npregbw(formula = "y ~ x", data = d, subset = x > 2),
    npregbw(y ~ log(x - 1), data = d),
    npregbw(y ~ x, data = d, subset = x > 100),
    npregbw(y ~ x, data = d, w = -x)
  )
})

test_that("weights", {
  expect_refused(
    npregbw(x, y, w = -x),
    npregbw(x, y, w = rep(0, 8)),
    npregbw(x, y, w = 1:3),
    npregbw(x, y, w = "heavy"),
    npregbw(x, y, w = x > 0),
    npregbw(x, y, w = d["z"]),
    npregbw(x, y, w = replace(x, 2, NA), na.action = na.fail),
    npregbw(x, y, w = c(1, 0, 0, 0, 0, 0, 0, 0)),
    npregbw(c(3, 3, 3, 4), 1:4, w = c(1, 1, 1, 0))
  )
})

test_that("grids and choices", {
  expect_refused(
    npregbw(x, y, bws = numeric(0)),
    npregbw(x, y, bws = "wide"),
    npregbw(x, y, bws = c(1, 0)),
    npregbw(x, y, bws = c(1, NA)),
    npregbw(x, y, bws = c(1, -Inf)),
    npregbw(x, y, bws = 0),
    npregbw(x, y, bws = NaN, bandwidth.compute = FALSE),
    npregbw(x, y, bws = 2^-1030),
    npregbw(x, y, bws = c(1, 1e308)),
    npregbw(x, y, bws = cbind(1:3)),
    npregbw(x, y, bwmin = 2^-1030),
    npregbw(x, y, bwmax = 2^-1030),
    npregbw(x, y, bwmax = 1e308),
    npregbw(x, y, bwmin = 1:2),
    npregbw(x, y, bws = 1:2, bwmin = 1),
    npregbw(x, y, nbw = 0),
    npregbw(x, y, nbw = 1, bwmin = 1),
    npregbw(x, y, bwmin = -1),
    npregbw(x, y, bwmin = 3, bwmax = 2),
    npregbw(x, y, bwmin = 100),
    npregbw(x, y, bwmax = "wide"),
    npregbw(x, y, bws = 1, bandwidth.compute = FALSE, refine = TRUE),
    npregbw(x, y, refine = NA),
    npregbw(x, y, regtype = "lp"),
    npregbw(x, y, bwmethod = "cv.ml"),
    npregbw(x, y, ckertype = "cosine"),
    npregbw(x, y, bw.scale = "ks"),
    npregbw(x, y, unsupported = "ignore"),
    npregbw(x, y, threads = 0),
    npregbw(x, y, verbose = "yes"),
    npregbw(x, y, ckerorder = 4, ckertype = "biweight"),
    npregbw(x, y, ckerorder = 3),
    npregbw(x, y, bwscaling = "yes"),
    npregbw(x, y, bandwidth.compute = FALSE),
    npregbw(x, y, bandwith = 2)
  )
})

test_that("bandwidths that support too little", {
  expect_refused(
    npregbw(x, y, bws = c(0.1, 1), ckertype = "epanechnikov", bw.scale = "support"),
    npregbw(x, y, bws = c(0.1, 0.2), ckertype = "epanechnikov", bw.scale = "support"),
    npregbw(x, y, bwmax = 1.5, ckertype = "epanechnikov", bw.scale = "support"),
    npregbw(x, y, bwmax = 0.5, bw.scale = "np", ckertype = "epanechnikov"),
    npregbw(x, y, bws = c(0.1, 0.2), unsupported = "exclude", ckertype = "epanechnikov", bw.scale = "support"),
    npregbw(c(0, 0, 1), 1:3, nbw = 5, ckertype = "epanechnikov", bw.scale = "support"),
    npregbw(x[1:3], y[1:3], bwmethod = "cv.aic", bwmin = 2, bwmax = 3),
    npregbw(x[1:2], y[1:2], bwmethod = "cv.aic")
  )
})

test_that("npreg and predict", {
  fit <- npreg(y ~ x, d, bws = 3)
  plain <- npreg(bws = 3, txdat = x, tydat = y)
  expect_refused(
    npreg(),
    npreg(bws = 3),
    npreg(3, x),
    npreg(txdat = x, tydat = letters[1:8]),
    npreg(txdat = d$f, tydat = y, bws = 3),
    npreg(bws = fit$bws, txdat = x),
    npreg(npregbw(y ~ x, d, w = z), txdat = x, tydat = y),
    npreg(fit),
    npreg(txdat = x, tydat = y, data = d),
    npreg(y ~ x, d, weights = z),
    npreg(bws = fit$bws, gradients = 1),
    gradients(x),
    gradients(fit, errors = 1),
    npreg(bws = fit$bws, nomad = TRUE),
    npreg(bws = x ~ 1, data = d),
    npreg(y ~ x, d, bws = 3, level = 1),
    npreg(y ~ x, d, bws = 3, se = "yes"),
    npreg(y ~ x, d, bws = 3, exdat = Inf),
    npreg(y ~ x, d, bws = 3, exdat = 1, newdata = d),
    npreg(y ~ x, d, bws = 3, newdata = 1:3),
    predict(fit, data.frame(z = 1)),
    predict(fit, data.frame(x = "1")),
    predict(fit, data.frame(x = c(1, Inf))),
    predict(fit, data.frame()),
    predict(fit, d, type = "terms"),
    predict(npreg(y ~ log(x), d, bws = 1), data.frame(x = 0:1)),
    predict(npreg(y ~ log(x), d, bws = 1), data.frame(x = "a")),
    predict(fit, d, level = 2, interval = "confidence"),
    predict(fit, d, interval = "prediction"),
    predict(fit, d, se.fit = 1),
    predict(plain, "1"),
    predict(plain, d[c("f", "z")]),
    plot(fit, band = "yes"),
    plot(fit, type = "points"),
    plot(fit, errors = "both"),
    plot(fit, plot.behavior = "none"),
    plot(fit, xtrim = 0.5),
    plot(fit, neval = 1),
    plot(fit$bws, what = "grid"),
    npplot(fit),
    plot(suppressWarnings(npregbw(x, y, bws = 0.1, bandwidth.compute = FALSE, ckertype = "uniform")), what = "cv")
  )
})

test_that("expressions, subsets and weights are those of the data", {
  scale <- 2
  fit <- suppressWarnings(npreg(log(y) ~ I(x / scale), data = d, subset = z < 9, w = z))
  used <- d$z < 9
  same <- suppressWarnings(npreg(txdat = x[used] / 2, tydat = log(y[used]), w = d$z[used]))
  expect_identical(fit[c("mean", "merr", "loo")], same[c("mean", "merr", "loo")])
  expect_identical(predict(fit, d[3:4, ]), predict(same, x[3:4] / 2))
  expect_identical(predict(fit, exdat = x[3:4] / 2), predict(same, x[3:4] / 2))
  expect_identical(names(fit$eval), "I(x/scale)")
  expect_equal(formula(fit), log(y) ~ I(x / scale), ignore_attr = TRUE)
  expect_equal(formula(npregbw(d["z"], d["y"])), y ~ z, ignore_attr = TRUE)
})

test_that("a column that is a matrix of one, and missing values without a type, are numbers", {
  fit <- npreg(scale(y) ~ scale(x), d, bws = 1.5)
  same <- npreg(txdat = as.vector(scale(x)), tydat = as.vector(scale(y)), bws = 1.5)
  expect_identical(fit[c("mean", "merr", "loo")], same[c("mean", "merr", "loo")])
  # Scaled by the mean and standard deviation of the data, not of the new points.
  expect_equal(predict(fit, d[2:3, ]), fitted(fit)[2:3], tolerance = 1e-14)
  expect_identical(npregbw(y ~ poly(x, 1), d, bws = 1)$xnames, "poly(x, 1)")
  expect_identical(predict(fit, data.frame(x = NA)), NA_real_)
  expect_identical(predict(fit, exdat = c(NA, NA)), c(NA_real_, NA_real_))
})

test_that("predict gives NA in place, with one warning that counts points without neighbour", {
  fit <- npreg(y ~ x, d, bws = 2, ckertype = "epanechnikov", bw.scale = "support")
  table <- data.frame(x = c(3, NA, 50, 6, -50))
  expect_warning(value <- predict(fit, table, se.fit = TRUE, interval = "confidence"),
                 "2 of 5 points have no observation within the bandwidth 2", class = "kestrel_warning_support")
  expect_identical(is.na(value$fit[, "fit"]), c(FALSE, TRUE, TRUE, FALSE, TRUE))
  expect_identical(is.na(value$se.fit), is.na(value$fit[, "lwr"]))
  expect_equal(value$fit[, "upr"] - value$fit[, "fit"], stats::qnorm(0.975) * value$se.fit)
  expect_equal(value$fit[c(1, 4), "fit"], reference_fit(c(3, 6), x, y, 2, "epanechnikov", "lc"))
  expect_silent(within <- predict(fit, data.frame(x = c(NA, 3))))
  expect_identical(within, c(NA, value$fit[[1, "fit"]]))
  expect_warning(at <- npreg(fit$bws, newdata = table), "2 of 5 points")
  expect_identical(at$mean, value$fit[, "fit"])
  expect_identical(at$merr, value$se.fit)
  expect_identical(at$eval, table)
  expect_identical(fitted(at), at$mean)
  expect_identical(at$resid, fit$resid)
  expect_identical(predict(fit), fitted(fit))
  expect_identical(predict(fit, table[0, , drop = FALSE]), numeric(0))
  expect_identical(se(fit), fit$merr)
  narrower <- predict(fit, d, interval = "confidence", level = 0.5)
  expect_equal(narrower[, "upr"] - fit$mean, stats::qnorm(0.75) * fit$merr)
})

test_that("nothing is fitted twice: one call at the data, and one at other points", {
  points_of <- function(code) traced("regression_fit_cpp", quote(c(length(points), length(error2))), code)
  at_data <- function(code) traced("regression_at_data_cpp", quote(errors), code)
  sorted <- function(code) length(traced("regression_cpp", quote(names(sample)), code))
  for (kernel in c("epanechnikov", "gaussian")) {
    fit <- function(...) npreg(y ~ x, d, bws = 3, ckertype = kernel, ...)
    bws <- npregbw(y ~ x, d, bws = 3, ckertype = kernel)
    with_errors <- fit()
    without <- fit(se = FALSE)
    elsewhere <- fit(exdat = c(2, 3))
    expect_identical(points_of(fit()), list())
    expect_identical(at_data(fit()), list(TRUE))
    expect_identical(sorted(npreg(bws)), 1L)
    expect_identical(points_of(fit(se = FALSE)), list())
    expect_identical(at_data(fit(se = FALSE)), list(FALSE))
    expect_identical(points_of(fit(exdat = c(2, 3))), list(c(2L, 8L)))
    expect_identical(at_data(fit(exdat = c(2, 3))), list(FALSE))
    expect_identical(sorted(npreg(bws, exdat = c(2, 3))), 1L)
    # An observation of weight 0 is in no fit.
    expect_identical(points_of(fit(se = FALSE, w = replace(x, 4, 0))), list(c(1L, 0L)))
    expect_identical(sorted(predict(with_errors, se.fit = TRUE, interval = "confidence")), 0L)
    expect_identical(sorted(predict(elsewhere)), 0L)
    for (other in list(without, elsewhere)) {
      expect_identical(at_data(predict(other, se.fit = TRUE)), list(TRUE))
      expect_identical(points_of(predict(other, se.fit = TRUE)), list())
      expect_identical(predict(other, se.fit = TRUE), list(fit = with_errors$mean, se.fit = with_errors$merr))
    }
    expect_equal(with_errors$mean, predict(with_errors, d), tolerance = 1e-14)
    expect_equal(with_errors$merr, predict(with_errors, d, se.fit = TRUE)$se.fit, tolerance = 1e-13)
  }
})

test_that("grids are as asked for, in np's numbers too", {
  bandwidth <- function(..., ckertype = "epanechnikov", bw.scale = "support") {
    suppressWarnings(npregbw(x, y, ..., ckertype = ckertype, bw.scale = bw.scale))
  }
  expect_identical(bandwidth(nbw = 4)$grid, c(2, 4, 6, 8))
  expect_identical(bandwidth(nbw = 4, bwmax = 6)$grid, c(1.5, 3, 4.5, 6))
  expect_identical(bandwidth(nbw = 4, bwmin = 2)$grid, c(2, 4, 6, 8))
  expect_identical(bandwidth(nbw = 3, bwmin = 2, bwmax = 6)$grid, c(2, 4, 6))
  expect_identical(bandwidth(bws = c(5, 3, 4, 3))$grid, c(3, 4, 5))
  expect_equal(bandwidth(nbw = 4, ckertype = "gaussian")$grid, c(2, 4, 6, 8) / sqrt(5))
  np <- bandwidth(nbw = 4, bw.scale = "np")
  expect_equal(np$grid, c(2, 4, 6, 8) / sqrt(5))
  expect_equal(np$h, np$bw * sqrt(5))
  expect_identical(np$cv, bandwidth(nbw = 4)$cv)
  for (kernel in setdiff(regression_kernels, "epanechnikov")) {
    both <- lapply(c("np", "support"), function(scale) bandwidth(bws = 3:4, ckertype = kernel, bw.scale = scale)$cv)
    expect_identical(both[[1]], both[[2]])
  }
  fixed <- function(...) npreg(bandwidth(..., bandwidth.compute = FALSE))$mean
  expect_equal(fixed(bws = 4 / sqrt(5), bw.scale = "np"), fixed(bws = 4), tolerance = 1e-12)
  expect_identical(bandwidth(bws = 2, bandwidth.compute = FALSE, nmulti = 5, ckerorder = 2)$bw, 2)
})

test_that("the minimum is taken among supported bandwidths, and its position is reported", {
  bandwidth <- function(...) npregbw(x, y, ..., ckertype = "epanechnikov", bw.scale = "support")
  expect_warning(bw <- bandwidth(nbw = 12), class = "kestrel_warning_search", NA)
  supported <- bw$n.unsupported == 0
  expect_false(all(supported))
  expect_identical(bw$fval, min(bw$cv[supported]))
  expect_identical(bw$bw, bw$grid[which(bw$cv == bw$fval)])
  excluding <- suppressWarnings(bandwidth(nbw = 12, unsupported = "exclude"))
  expect_identical(excluding$fval, min(bw$cv, na.rm = TRUE))
  tiny <- suppressWarnings(bandwidth(bws = c(0.1, 2, 4)))
  expect_identical(tiny$cv[1], NA_real_)
  expect_identical(tiny$n.unsupported[1], 8L)
  expect_warning(bandwidth(bws = c(3.5, 4, 8)), "lower end of the grid, 3.5", class = "kestrel_warning_search")
  expect_warning(bandwidth(bws = c(1.76, 2)), "upper end of the grid, 2", class = "kestrel_warning_search")
  expect_warning(bandwidth(bws = 3, bandwidth.compute = FALSE), NA)
  expect_warning(bandwidth(bws = 0.6, bandwidth.compute = FALSE),
                 "4 of 8 observations have no neighbour at the bandwidth 0.6", class = "kestrel_warning_support")
})

test_that("of tied bandwidths the widest is taken", {
  # No distance lies between 1.5 and 1.75, so the uniform kernel has the same neighbours.
  bw <- suppressWarnings(npregbw(x, y, ckertype = "uniform", bws = c(1.6, 1.65, 1.7, 8, 9), unsupported = "exclude",
                                 bw.scale = "support"))
  expect_equal(bw$cv[1], bw$cv[2], tolerance = 1e-14)
  at_least <- bw$cv - min(bw$cv) <= 1e-12 * min(bw$cv)
  expect_gt(sum(at_least), 1)
  expect_identical(bw$ties, bw$grid[at_least])
  expect_identical(bw$bw, max(bw$ties))
})

test_that("print and summary say what was chosen and how", {
  bw <- npregbw(dist ~ speed, data = cars)
  grid <- npregbw(dist ~ speed, data = cars, nbw = 50, ckertype = "epanechnikov", bw.scale = "support")
  refined <- npregbw(xdat = cars$speed, ydat = cars$dist, regtype = "ll", bwmethod = "cv.aic", refine = TRUE,
                     bw.scale = "np", nbw = 10, ckertype = "epanechnikov")
  gaussian <- suppressWarnings(npregbw(y ~ x, rbind(d, NA), w = x, ckertype = "gaussian", unsupported = "exclude",
                                       na.action = na.omit, bws = c(0.01, 1, 2), bw.scale = "support"))
  tied <- suppressWarnings(npregbw(x, y, ckertype = "uniform", bws = c(1.76, 1.78, 8, 9)))
  expect_snapshot_output({
    shown(bw)
    shown(refined)
    shown(gaussian)
    shown(tied)
    shown(suppressWarnings(npregbw(x, y, bws = 0.6, bandwidth.compute = FALSE, ckertype = "epanechnikov",
                                   bw.scale = "support")))
    shown(summary(bw))
    shown(summary(grid))
    shown(npreg(bw))
    shown(summary(npreg(bw)))
    shown(npreg(refined))
    shown(summary(npreg(gaussian)))
    shown(suppressWarnings(npreg(y ~ x, data = d, bws = 0.6, newdata = data.frame(x = 1:4),
                                 ckertype = "epanechnikov", bw.scale = "support")))
  })
})

test_that("the call is cut short where it holds the data", {
  expect_lt(length(capture.output(do.call(npregbw, list(as.numeric(1:1000), sqrt(1:1000), bws = 50)))), 20)
  expect_lt(length(capture.output(do.call(kde, list(as.numeric(1:1000), h = 50)))), 20)
})

test_that("as.data.frame has a row a point", {
  frame <- as.data.frame(npreg(dist ~ speed, cars, bws = 4))
  expect_named(frame, c("speed", "mean", "merr", "lower", "upper", "dist", "resid", "loo"))
  expect_identical(nrow(frame), 50L)
  expect_equal(frame$mean + frame$resid, cars$dist)
  frame <- as.data.frame(npreg(dist ~ speed, cars, bws = 4, exdat = c(10, 12)))
  expect_identical(names(frame), c("speed", "mean", "merr", "lower", "upper"))
  expect_identical(frame$speed, c(10, 12))
  fit <- npreg(loo ~ mean, data.frame(mean = cars$speed, loo = cars$dist), bws = 4)
  frame <- as.data.frame(fit)
  expect_named(frame, c("mean.1", "mean", "merr", "lower", "upper", "loo.1", "resid", "loo"))
  expect_identical(frame$mean, fitted(fit))
  expect_identical(frame$loo, fit$loo)
})
