# Plots of regressions and of their cross-validation curves.

x <- c(1, 2, 2.5, 4, 5.5, 6, 7.25, 9)
y <- c(2, 3, 3.5, 5, 4, 6.5, 6, 8)
d <- data.frame(x = x, y = y)

test_that("plots are drawn, of fits with gaps and of curves without support too, and return their object invisibly", {
  bw <- npregbw(dist ~ speed, cars)
  gappy <- suppressWarnings(npreg(y ~ x, d, bws = 0.6))
  aic <- suppressWarnings(npregbw(x, y, bwmethod = "cv.aic", bw.scale = "np"))
  for (object in list(bw, aic, npreg(bw), gappy, gappy$bws)) {
    expect_gt(drawn(returned <- withVisible(plot(object))), 5)
    expect_false(returned$visible)
    expect_identical(returned$value, object)
  }
  # The grey of bandwidths without support begins at the edge of the plot, also with a logarithmic axis.
  corners <- traced("plot_corners", quote(graphics::par("usr")[1]), {
    left <- numeric(0)
    drawn({
      plot(aic, log = "x")
      left <- plot_corners()[1]
    })
  })
  expect_gt(left, 0)
  expect_equal(log10(left), corners[[1]])
  fit <- npreg(bw)
  expect_gt(drawn(plot(fit)), drawn(plot(fit, band = FALSE)))
  expect_gt(drawn(plot(fit)), drawn(plot(fit, drawpoints = FALSE)))
  expect_gt(drawn({
    plot(fit)
    plot(npreg(dist ~ speed, cars, bws = 8), add = TRUE, col = "red")
  }), drawn(plot(fit)))
  # With np's arguments.
  expect_silent(asked <- drawn(plot(fit, plot.errors.method = "asymptotic", plot.errors.style = "band", neval = 100)))
  expect_identical(asked, drawn(plot(fit)))
  expect_identical(drawn(plot(fit, errors = "none")), drawn(plot(fit, band = FALSE)))
  expect_silent(asked <- drawn(plot(fit, common.scale = TRUE, gradients = FALSE, xtrim = 0)))
  expect_identical(asked, drawn(plot(fit)))
  for (call in expression(plot(fit, gradients = TRUE), plot(fit, plot.behavior = "data"), plot(bw, xtrim = 0.1))) {
    expect_error(eval(call), "must be", class = "kestrel_error_input")
  }
})
