# Conditional quantiles beside np 0.60 and the oracle of helper-mixed-distribution.R.

quantile_data <- datasets::faithful[1:40, ]

test_that("quantiles are np's to its tolerance, and where the distribution function is tau", {
  # npqreg(bws = npcdistbw(xdat = d["waiting"], ydat = d["eruptions"], bws = c(.3, 5), bandwidth.compute = FALSE),
  #        txdat = d["waiting"], tydat = d["eruptions"], exdat = c(60, 70, 80), tau = .25)$quantile, d the data here
  fit <- npqreg(bws = c(0.3, 5), txdat = quantile_data["waiting"], tydat = quantile_data["eruptions"],
                exdat = c(60, 70, 80), tau = 0.25)
  expect_equal(fit$quantile, c(1.73483934011508, 3.23999630554480, 3.74627333515715), tolerance = 2e-6)
  at <- npcdist(fit$bws, exdat = c(60, 70, 80), eydat = fit$quantile)
  expect_equal(at$condist, rep(0.25, 3), tolerance = 1e-14)
  density <- npcdens(bws = c(0.3, 5), txdat = quantile_data["waiting"], tydat = quantile_data["eruptions"],
                     exdat = c(60, 70, 80), eydat = fit$quantile)$condens
  expect_equal(fit$quanterr, at$conderr / density, tolerance = 1e-10)
})

test_that("quantiles are those of halving for every kernel", {
  frame <- with_seed(20261130, data.frame(y = round(stats::rnorm(25), 2), x = stats::runif(25),
                                          z = factor(sample(c("p", "q"), 25, TRUE)),
                                          o = ordered(sample(1:3, 25, TRUE))))
  data <- mixed_data(frame, numeric(25))
  given <- c(FALSE, TRUE, TRUE, TRUE)
  for (ckertype in c("gaussian", "epanechnikov", "uniform")) {
    bws <- c(0.7, 0.4, 0.2, 0.3)
    fit <- npqreg(bws = bws, txdat = frame[-1], tydat = frame["y"], tau = 0.3, cxkertype = ckertype,
                  cykertype = ckertype)
    task <- mixed_task_of(bws[1:2], bws[3:4], ckertype = ckertype)
    expect_equal(fit$quantile, distribution_quantile(data, task, data, 0.3, given), tolerance = 1e-12, info = ckertype)
  }
  # Where no observation is between them F does not increase: the least such y.
  flat <- npqreg(bws = c(0.1, 1), txdat = rep(1:2, 2), tydat = c(0, 0, 1, 1), tau = 0.5, cxkertype = "uniform",
                 cykertype = "uniform", exdat = 1)
  expect_equal(flat$quantile, 0.1, tolerance = 1e-14)
})

test_that("gradients are differences, and effects those of levels", {
  frame <- transform(datasets::mtcars, am = factor(am), gear = ordered(gear))
  bw <- npcdistbw(mpg ~ wt + am + gear, data = frame, bws = c(2, 0.5, 0.2, 0.3), bandwidth.compute = FALSE)
  fit <- npqreg(bw, gradients = TRUE, tau = 0.4)
  x <- frame[c("wt", "am", "gear")]
  at <- function(x) predict(fit, exdat = x)
  step <- 1e-4
  slope <- (at(transform(x, wt = wt + step)) - at(transform(x, wt = wt - step))) / (2 * step)
  expect_equal(fit$quantgrad[, 1], slope, tolerance = 1e-6)
  expect_equal(fit$quantgrad[, 2], at(x) - at(transform(x, am = factor(rep("0", 32), c("0", "1")))), tolerance = 1e-12)
  expect_identical(gradients(npqreg(bw, tau = 0.4)), fit$quantgrad)
  expect_equal(gradients(npqreg(bw, exdat = x[3:4, ], tau = 0.4)), fit$quantgrad[3:4, ], tolerance = 1e-12)
})

test_that("standard errors are those of a simulation", {
  # 200 samples: the standard error of a standard deviation is 5 %.
  found <- with_seed(20261201, t(replicate(200, {
    x <- stats::rnorm(150)
    fit <- npqreg(bws = c(0.5, 0.4), txdat = x, tydat = x + stats::rnorm(150), exdat = 0.5, tau = 0.7)
    c(fit$quantile, fit$quanterr)
  })))
  expect_equal(mean(found[, 2]), stats::sd(found[, 1]), tolerance = 0.15)
})

test_that("formulas, other data and points are the same quantiles", {
  fit <- npqreg(mpg ~ wt + factor(cyl), data = mtcars, bws = c(1, 0.4, 0.2), tau = 0.8)
  frame <- data.frame(wt = mtcars$wt, cyl = factor(mtcars$cyl))
  other <- npqreg(bws = c(1, 0.4, 0.2), txdat = frame, tydat = mtcars$mpg, tau = 0.8)
  expect_equal(fit$quantile, other$quantile)
  expect_equal(predict(fit, data.frame(wt = 3, cyl = 4)), predict(other, exdat = data.frame(wt = 3, cyl = factor(4))))
  expect_equal(predict(fit, tau = 0.5), npqreg(fit$bws)$quantile)
  expect_named(predict(fit, se.fit = TRUE), c("fit", "se.fit"))
  expect_identical(quantile(fit), fitted(fit))
  expect_identical(nobs(fit), 32L)
  expect_equal(formula(fit), mpg ~ wt + factor(cyl), ignore_attr = TRUE)
  expect_named(as.data.frame(fit), c("wt", "factor(cyl)", "quantile", "quanterr"))
  expect_equal(npqreg(other$bws, txdat = frame[1:9, ], tydat = mtcars$mpg[1:9])$ntrain, 9)
  all <- npqreg(mpg ~ ., data = mtcars[c("mpg", "wt", "hp")], bws = c(2, 0.5, 30))
  expect_length(predict(all, data.frame(wt = 3, hp = 100)), 1)
  frame$wt[3] <- NA
  excluded <- suppressMessages(npqreg(bws = c(1, 0.4, 0.2), txdat = frame, tydat = mtcars$mpg,
                                      na.action = stats::na.exclude))
  expect_identical(which(is.na(se(excluded))), 3L)
  expect_identical(is.na(predict(other, exdat = data.frame(wt = c(NA, 3), cyl = factor(4)))), c(TRUE, FALSE))
})

test_that("prints and summaries read as they should", {
  fit <- npqreg(mpg ~ wt, data = mtcars, bws = c(1, 0.4), tau = 0.25)
  expect_snapshot_output({
    shown(fit)
    shown(summary(fit))
    shown(npqreg(fit$bws, exdat = 2:3))
  })
  compact <- npqreg(bws = c(1, 0.4), txdat = mtcars$wt, tydat = mtcars$mpg, cxkertype = "epanechnikov",
                    cykertype = "epanechnikov")
  expect_snapshot_output(say(expect_warning(predict(compact, exdat = c(3, 100)), class = "kestrel_warning_support")))
})

test_that("mistakes are refused", {
  bw <- npcdistbw(eruptions ~ waiting, faithful, bws = c(0.3, 5), bandwidth.compute = FALSE)
  two <- npcdistbw(mpg + hp ~ wt, mtcars, bws = c(2, 30, 0.4), bandwidth.compute = FALSE)
  levels <- npcdistbw(ordered(cyl) ~ wt, mtcars, bws = c(0.2, 0.4), bandwidth.compute = FALSE)
  expect_refused(
    npqreg(bw, tau = 1), npqreg(bw, tau = c(0.1, 0.2)), npqreg(bw, tau = NA), npqreg(bw, gradients = 2), npqreg(two),
    npqreg(levels), npqreg(bws = c(1, 1)), npqreg(npcdensbw(xdat = 1:5, ydat = 1:5)), npqreg(bw, exdat = "a"),
    npqreg(bw, exdat = Inf), npqreg(bw, newdata = faithful, exdat = 1), npqreg(bw, txdat = 1:5),
    npqreg(bw, cxkertype = "uniform"), npqreg(~ eruptions, faithful), predict(npqreg(bw), tau = 2),
    predict(npqreg(bw), edat = 1), plot(npqreg(bw), drawpoints = 2), npqreg(bw, kernel = "uniform"),
    print(replace(npqreg(bw), "tau", 2))
  )
})

test_that("plots show quantiles along each variable, or a surface, and return them", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fit <- npqreg(mpg ~ wt + factor(cyl), data = mtcars, bws = c(1, 0.4, 0.2))
  expect_identical(plot(fit), fit)
  data <- plot(fit, plot.behavior = "data", neval = 7)
  expect_named(data, c("qr1", "qr2"))
  expect_equal(data$qr2$quantile, predict(fit, data.frame(wt = stats::median(mtcars$wt), cyl = c(4, 6, 8))))
  surface <- plot(npqreg(mpg ~ wt + hp, data = mtcars, bws = c(1, 0.4, 20)), plot.behavior = "plot-data", neval = 5)
  expect_length(surface$qr1$quantile, 25)
  one <- npqreg(mpg ~ wt, data = mtcars, bws = c(1, 0.4))
  expect_gt(drawn(plot(one)), drawn(plot(one, drawpoints = FALSE)))
})
