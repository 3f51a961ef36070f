# Partially linear regressions beside np 0.60 and least squares.

pl_cars <- semiparametric_data()$mt
pl_bw <- npplregbw(mpg ~ hp + am | wt + gear, data = pl_cars, bws = rbind(c(0.5, 0.3), c(0.6, 0.2), c(0.7, 0.1)),
                   bandwidth.compute = FALSE)

test_that("coefficients, covariances, fits and measures are np's", {
  expect_np_values("npplreg")
})

test_that("coefficients and errors are those of least squares of residuals", {
  for (regtype in c("lc", "ll")) {
    bw <- npplregbw(mpg ~ hp + am | wt + gear, data = pl_cars, bws = rbind(c(0.5, 0.3), c(0.6, 0.2), c(0.7, 0.1)),
                    bandwidth.compute = FALSE, regtype = regtype)
    fit <- npplreg(bw, residuals = TRUE)
    columns <- cbind(pl_cars$mpg, pl_cars$hp, as.integer(pl_cars$am) - 1)
    off <- vapply(1:3, function(k) {
      data <- mixed_data(pl_cars[c("wt", "gear")], columns[, k])
      bandwidths <- bw$bw[[k]]$bw
      # The levels of gear are numbers, 3, 4 and 5, and so their positions.
      columns[, k] - mixed_oracle_fit(data, mixed_task_of(bandwidths[1], bandwidths[2], regtype = regtype))$mean
    }, numeric(32))
    made <- stats::lm(off[, 1] ~ off[, -1] - 1)
    expect_equal(unname(coef(fit)), unname(coef(made)), tolerance = 1e-10)
    # Their degrees of freedom are less by the two variables of z.
    expect_equal(unname(vcov(fit)), unname(vcov(made)) * 30 / 28, tolerance = 1e-10)
    expect_equal(coef(fit, errors = TRUE), sqrt(diag(vcov(fit))))
    expect_equal(fit$resid, unname(stats::residuals(made)), tolerance = 1e-9)
    expect_equal(residuals(fit), fit$resid)
  }
})

test_that("bandwidths are those of the regressions, and may be edited", {
  bw <- npplregbw(mpg ~ hp + qsec | wt, data = mtcars)
  expect_equal(bw$bw$yzbw$bw, npregbw(mpg ~ wt, data = mtcars)$bw)
  expect_equal(bw$bw[[3]]$bw, npregbw(qsec ~ wt, data = mtcars)$bw)
  expect_equal(unname(bw$fval[1]), bw$bw$yzbw$fval)
  bw$bw[[1]]$bw <- 0.5
  rows <- c(0.5, bw$bw[[2]]$bw, bw$bw[[3]]$bw)
  given <- npplreg(matrix(rows), mtcars[c("hp", "qsec")], mtcars$mpg, mtcars$wt)
  expect_equal(npplreg(bw)$mean, given$mean)
  expect_equal(given$bw[, 1], rows, ignore_attr = TRUE)
  mixed <- npplregbw(mpg ~ hp | wt + am, data = pl_cars, nmulti = 1)
  expect_equal(mixed$bw[[2]]$bw, npregbw(hp ~ wt + am, data = pl_cars, nmulti = 1)$bw)
  again <- npplregbw(xdat = pl_cars["hp"], ydat = pl_cars$mpg, zdat = pl_cars[c("wt", "am")], bws = mixed,
                     bandwidth.compute = FALSE)
  expect_equal(again$bw[[2]]$bw, mixed$bw[[2]]$bw)
})

test_that("coefficients of a linear model are found, with the errors of a simulation", {
  # 200 samples: the standard error of a standard deviation is 5 %.
  z <- (1:80) / 80
  found <- with_seed(20261130, t(replicate(200, {
    x <- 3 * z^2 + stats::rnorm(80)
    fit <- npplreg(matrix(0.08, 2), x, 2 * x + sin(6 * z) + stats::rnorm(80), z)
    c(coef(fit), coef(fit, errors = TRUE))
  })))
  expect_lt(abs(mean(found[, 1]) - 2), 0.03)
  expect_equal(mean(found[, 2]), stats::sd(found[, 1]), tolerance = 0.15)
})

test_that("factors have indicators, and units only scale", {
  z <- pl_cars$wt
  of <- function(x, y = pl_cars$mpg) npplreg(matrix(0.4, 1 + length(x), 1), x, y, z)
  indicators <- of(data.frame(six = pl_cars$cyl == "6", eight = pl_cars$cyl == "8"))
  factors <- npplreg(matrix(0.4, 3, 1), pl_cars["cyl"], pl_cars$mpg, z)
  expect_named(coef(factors), c("cyl6", "cyl8"))
  expect_equal(unname(coef(factors)), unname(coef(indicators)))
  expect_equal(vcov(factors), vcov(indicators), ignore_attr = TRUE)
  few <- pl_cars[pl_cars$cyl != "4", ]
  expect_named(coef(npplreg(matrix(0.4, 2, 1), few["cyl"], few$mpg, few$wt)), "cyl")
  large <- of(data.frame(hp = 1e8 * pl_cars$hp))
  small <- of(data.frame(hp = 1e-8 * pl_cars$hp))
  expect_equal(1e8 * coef(large), 1e-8 * coef(small), tolerance = 1e-10)
  expect_equal(large$mean, small$mean, tolerance = 1e-12)
})

test_that("formulas, points, responses and missing values are taken as in npreg()", {
  fit <- npplreg(mpg ~ log(hp) + am | wt, data = pl_cars)
  expect_equal(predict(fit), fitted(fit))
  expect_equal(predict(fit, pl_cars[3:1, ]), fitted(fit)[3:1])
  at <- npplreg(mpg ~ log(hp) + am | wt, pl_cars, newdata = pl_cars[1:9, ], y.eval = TRUE, residuals = TRUE)
  expect_equal(at$MSE, mean((pl_cars$mpg[1:9] - at$mean)^2))
  expect_equal(at$resid, pl_cars$mpg[1:9] - at$mean)
  few <- npplreg(mpg ~ hp | wt, mtcars, subset = cyl < 8)
  expect_identical(few$ntrain, 18L)
  frame <- pl_cars
  frame$hp[2] <- NA
  left <- suppressMessages(npplreg(mpg ~ hp | wt, frame, na.action = stats::na.exclude))
  expect_identical(which(is.na(residuals(left))), 2L)
  expect_length(predict(left), 32)
  expect_warning(far <- predict(npplreg(mpg ~ hp | am + wt, pl_cars, ckertype = "uniform", nmulti = 1),
                                data.frame(hp = 1, am = c("0", "0", "1"), wt = c(99, NA, 3))),
                 class = "kestrel_warning_support")
  expect_identical(is.na(far), c(TRUE, TRUE, FALSE))
})

test_that("plots show the fit along each regressor, and return it", {
  fit <- npplreg(pl_bw)
  expect_gt(drawn(plot(fit)), 20)
  data <- plot(fit, plot.behavior = "data", neval = 5)
  expect_named(data, paste0("r", 1:4))
  expect_equal(data$r1$mean, predict(fit, data$r1$eval))
  expect_equal(diff(data$r1$mean) / diff(data$r1$eval$hp), rep(coef(fit)[["hp"]], 4))
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    shown(pl_bw)
    fit <- npplreg(pl_bw)
    shown(fit)
    shown(summary(fit))
    shown(summary(npplregbw(mpg ~ hp | wt, data = mtcars)))
    shown(npplreg(pl_bw, newdata = pl_cars[1:3, ]))
  })
})

test_that("mistakes are refused", {
  expect_refused(
    npplregbw(), npplregbw(mpg ~ hp, data = mtcars), npplregbw(mpg ~ hp | hp, data = mtcars),
    npplregbw(mpg ~ 1 | hp, data = mtcars), npplregbw(~ hp | wt, data = mtcars), npplregbw(mpg ~ nothing | wt, mtcars),
    npplregbw(1:5, 1:5, 1:4), npplregbw(1:5, 1:5, letters[1:5]), npplregbw(1:5, 1:5, c(1, 3, 2, 5, 4), 1),
    npplregbw(1:5, 1:5, c(1, 3, 2, 5, 4), bandwidth.compute = FALSE), npplregbw(1:5, 1:5, 1:5, kernel = "gaussian"),
    npplregbw(1:5, 1:5, 1:5, w = 1:5),
    npplregbw(1:5, c(1, NA, 3, 4, 5), 1:5, na.action = stats::na.fail), npplregbw(1:5, 1:5, rep(1, 5)),
    npplreg(), npplreg(1), npplreg(pl_bw, regtype = "ll"), npplreg(pl_bw, txdat = 1), npplreg(pl_bw, exdat = 1),
    npplreg(pl_bw, newdata = mtcars["hp"]), npplreg(pl_bw, newdata = pl_cars, exdat = 1),
    npplreg(pl_bw, exdat = pl_cars[1:2, c("hp", "am")], ezdat = pl_cars[1:3, c("wt", "gear")]),
    npplreg(matrix(1, 2, 1), rep(1, 9), 1:9, (1:9)^2), npplregbw(1:5, 1:5, data.frame(row.names = 1:5)),
    npplreg(matrix(1, 3, 1), cbind(1:9, 1:9), (1:9)^2, c(1, 3, 2, 5, 4, 9, 8, 7, 6)),
    npplreg(matrix(1, 2, 1), c(1, 3), 1:2, 1:2), npplreg(pl_bw, residuals = 1),
    npplreg(structure(list(), class = "kestrel_plbw")), coef(npplreg(pl_bw), errors = 2),
    plot(npplreg(pl_bw), neval = 1), plot(npplreg(pl_bw), colour = 1), npplreg(mpg ~ wt | hp | qsec, data = mtcars)
  )
})
