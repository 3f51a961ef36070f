# Plots of regressions and of their cross-validation curves.

x <- c(1, 2, 2.5, 4, 5.5, 6, 7.25, 9)
y <- c(2, 3, 3.5, 5, 4, 6.5, 6, 8)
d <- data.frame(x = x, y = y)

test_that("plots are drawn, of fits with gaps and of curves without support too, and return their object invisibly", {
  bw <- npregbw(dist ~ speed, cars)
  gappy <- suppressWarnings(npreg(y ~ x, d, bws = 0.6, ckertype = "epanechnikov"))
  aic <- suppressWarnings(npregbw(x, y, bwmethod = "cv.aic", ckertype = "epanechnikov"))
  grid <- npregbw(dist ~ speed, cars, nbw = 50, ckertype = "epanechnikov", bwscaling = TRUE)
  curve <- function(bw) plot(bw, what = "cv")
  fit <- npreg(bw)
  for (object in list(bw, aic, fit, gappy)) {
    expect_gt(drawn(returned <- withVisible(plot(object))), 5)
    expect_false(returned$visible)
    expect_identical(returned$value, object)
  }
  for (object in list(bw, aic, grid, gappy$bws)) {
    expect_gt(drawn(returned <- withVisible(curve(object))), 5)
    expect_false(returned$visible)
    expect_identical(returned$value, object)
  }
  # The grey of bandwidths without support begins at the edge of the plot, also with a logarithmic axis.
  corners <- traced("plot_corners", quote(graphics::par("usr")[1]), {
    left <- numeric(0)
    drawn({
      curve(aic)
      left <- plot_corners()[1]
    })
  })
  expect_gt(left, 0)
  expect_equal(log10(left), corners[[1]])
  expect_identical(drawn(plot(bw)), drawn(plot(fit)))
  expect_identical(drawn(npplot(bw, random.seed = 1)), drawn(plot(fit)))
  expect_gt(drawn(plot(fit)), drawn(plot(fit, band = FALSE)))
  expect_gt(drawn(plot(fit)), drawn(plot(fit, drawpoints = FALSE)))
  expect_gt(drawn({
    plot(fit)
    plot(npreg(dist ~ speed, cars, bws = 8), add = TRUE, col = "red")
  }), drawn(plot(fit)))
})

test_that("plots take the arguments of np's", {
  bw <- npregbw(dist ~ speed, cars)
  fit <- npreg(bw)
  whole <- drawn(plot(fit))
  for (call in expression(
    plot(fit, plot.errors.method = "asymptotic", plot.errors.style = "band", view = "fixed"),
    plot(fit, common.scale = TRUE, gradients = FALSE, xtrim = 0, plot.par.mfrow = FALSE, random.seed = 3),
    plot(bw, plot.errors.method = "asymptotic", lw = 2, lty = 1, type = "l", theta = 30)
  )) expect_identical(drawn(eval(call)), whole)
  expect_identical(drawn(plot(fit, errors = "none")), drawn(plot(fit, band = FALSE)))
  informed_of[["bootstrap"]] <- NULL
  expect_message(asked <- drawn(plot(bw, plot.errors.method = "bootstrap", plot.errors.boot.num = 99)),
                 "draws the standard errors of the fit")
  expect_identical(asked, whole)
  expect_gt(drawn(plot(fit, plot.errors.style = "bar")), drawn(plot(fit, band = FALSE)))
  expect_gt(drawn(plot(bw, type = "p")), 5)
})

test_that("plot.behavior returns what np's plots return", {
  bw <- npregbw(dist ~ speed, cars)
  data <- plot(bw, plot.behavior = "data", plot.errors.method = "asymptotic")
  expect_named(data, "r1")
  at <- seq(4, 25, length.out = 50)
  here <- npreg(bw, exdat = at)
  expect_identical(data$r1$eval, data.frame(speed = at))
  expect_identical(data$r1$mean, here$mean)
  expect_equal(data$r1$merr, cbind(-2 * here$merr, 2 * here$merr), tolerance = 1e-13)
  expect_gt(drawn(shown <- plot(bw, plot.behavior = "plot-data", neval = 7)), 5)
  expect_identical(shown$r1$eval[[1]], seq(4, 25, length.out = 7))
  expect_identical(dim(shown$r1$merr), c(0L, 2L))
  trimmed <- npplot(bw, plot.behavior = "data", xtrim = 0.1)
  expect_identical(range(trimmed$r1$eval), stats::quantile(cars$speed, c(0.1, 0.9), names = FALSE))
})
