# Tests of parametric quantile regressions beside np 0.60 and sums over pairs.

test_that("statistics are np's, for models whose residuals of 0 are not rounded above it", {
  # The bandwidths of one call are narrow.
  suppressWarnings(expect_np_values("npqcmstest"), classes = "kestrel_warning_support")
})

quantile_cars <- semiparametric_data()$mt

residuals_by_rq <- function(x, tau, y) as.vector(suppressWarnings(quantreg::rq.fit(x, y, tau))$residuals)

test_that("statistics are sums over pairs, also those of samples", {
  data <- mixed_data(quantile_cars["wt"], quantile_cars$mpg)
  task <- mixed_task_of(0.5, numeric(0))
  k <- weight_matrix(data, task) / 0.5
  diag(k) <- 0
  of <- function(residuals, tau) {
    u <- ifelse(residuals <= 1e-8, 1 - tau, -tau)
    In <- sum(outer(u, u) * k) / 32^2
    omega <- 2 * 0.5 * sum(outer(u^2, u^2) * k^2) / 32^2
    c(In = In, Jn = 32 * sqrt(0.5) * In / sqrt(omega))
  }
  x <- stats::model.matrix(mpg ~ hp, quantile_cars)
  y <- quantile_cars$mpg
  residuals <- residuals_by_rq(x, 0.4, y)
  uniform <- replicate_draws_cpp(32L, 9L, 0, 42, run_options(1L, "cpu"))
  for (method in c("iid", "wild", "wild-rademacher")) {
    test <- npqcmstest(model = mpg ~ hp, data = quantile_cars, xdat = quantile_cars["wt"], tau = 0.4, bws = 0.5,
                       boot.num = 9, boot.method = method)
    expect_equal(c(test$In, test$Jn), unname(of(residuals, 0.4)), tolerance = 1e-10)
    centre <- if (method == "iid") 0 else mean(residuals)
    errors <- centre + bootstrap_residuals(residuals - centre, uniform, method)
    samples <- apply(errors, 2, function(error) {
      of(residuals_by_rq(x, 0.4, y - residuals + error), 0.4)["Jn"]
    })
    expect_equal(test$Jn.bootstrap, sort(samples), tolerance = 1e-9)
  }
  expect_identical(test$P, mean(test$Jn.bootstrap > test$Jn))
})

test_that("bootstrap samples are distributed as np's", {
  # npqcmstest(model = rq(mpg ~ hp, data = mtcars, model = TRUE), xdat = mtcars["hp"], ydat = mtcars$mpg,
  # boot.num = 999) of np 0.60-18 has this bandwidth, and samples with the mean -0.301 and the standard deviation 0.930.
  # The allowance is four standard errors of the difference.
  test <- npqcmstest(model = mpg ~ hp, data = quantile_cars, xdat = quantile_cars["hp"], bws = 4.3870775,
                     boot.num = 999)
  error <- 0.93 * sqrt(2 / 999)
  expect_lt(abs(mean(test$Jn.bootstrap) + 0.301), 4 * error)
  expect_lt(abs(stats::sd(test$Jn.bootstrap) - 0.93), 4 * error)
})

test_that("a formula is fitted as a model of quantreg, with rows that have missing values left out", {
  of <- function(model, data = quantile_cars, ...) {
    npqcmstest(~ wt, data, model = model, tau = 0.5, bws = 0.4, boot.num = 9, ...)
  }
  fitted <- of(mpg ~ hp)
  expect_equal(of(rq_model(mpg ~ hp, quantile_cars, 0.5, c(28.130508474576267, -0.060169491525423655)))$Jn, fitted$Jn)
  gaps <- rbind(quantile_cars, transform(quantile_cars[1, ], mpg = NA))
  expect_equal(of(mpg ~ hp, gaps)$Jn.bootstrap, fitted$Jn.bootstrap)
  expect_identical(of(mpg ~ hp, gaps)$na.index, 33L)
  # The unit of the response does not matter.
  large <- transform(quantile_cars, mpg = 1e6 * mpg)
  expect_equal(of(mpg ~ hp, large)$Jn.bootstrap, fitted$Jn.bootstrap)
})

test_that("bandwidths are those of the response, or of u", {
  of <- function(bwydat) {
    npqcmstest(~ wt, quantile_cars, model = mpg ~ hp, bwydat = bwydat, distribution = "asymptotic")$bws$bw
  }
  expect_equal(of("y"), npregbw(mpg ~ wt, data = quantile_cars)$bw)
  x <- stats::model.matrix(mpg ~ hp, quantile_cars)
  y <- quantile_cars$mpg
  rest <- residuals_by_rq(x, 0.5, y)
  expect_equal(of("varepsilon"), npregbw(xdat = quantile_cars$wt, ydat = ifelse(rest <= 0, 0.5, -0.5))$bw)
})

test_that("the test finds a wrong form, and none that is right", {
  draws <- with_seed(20261126, {
    x <- stats::runif(150)
    list(x = x, line = 1 + x + stats::rnorm(150) / 4, curve = sin(7 * x) + stats::rnorm(150) / 4)
  })
  of <- function(response) {
    npqcmstest(~ x, draws, model = stats::as.formula(paste(response, "~ x")), tau = 0.6, boot.num = 99)$P
  }
  expect_gt(of("line"), 0.05)
  expect_lt(of("curve"), 0.02)
})

test_that("the same seed gives the same bits on any number of threads, whatever the session draws", {
  expect_seeded_draws(function(...) {
    npqcmstest(~ wt, quantile_cars, model = mpg ~ wt, bws = 0.5, boot.num = 19, ...)$Jn.bootstrap
  })
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    test <- npqcmstest(~ wt, quantile_cars, model = mpg ~ wt, tau = 0.25, bws = 0.5, boot.num = 19)
    shown(test)
    shown(summary(test))
  })
})

test_that("mistakes are refused", {
  model <- rq_model(mpg ~ hp, quantile_cars, 0.5, c(28, -0.06))
  of <- function(...) npqcmstest(~ wt, quantile_cars, ...)
  expect_refused(
    of(), of(model = 1), of(model = lm(mpg ~ wt, quantile_cars)), of(model = model, tau = 0.3),
    of(model = model, tau = 1), of(model = structure(model, class = c("rqs", "rq"))),
    of(model = replace(model, "weights", list(1:32))),
    of(model = replace(model, "x", list(NULL))), of(model = replace(model, "residuals", list(NA))), of(model = ~ wt),
    of(model = mpg ~ none), of(model = cyl ~ wt), of(model = mpg ~ factor(seq_along(mpg))),
    of(model = mpg ~ offset(wt)), of(model = mpg ~ wt, bwydat = "z"),
    of(model = mpg ~ wt, boot.num = 3), of(model = mpg ~ wt, boot.method = "pairwise"), of(model = mpg ~ wt, h = 1),
    npqcmstest(model = mpg ~ wt, data = quantile_cars)
  )
})

test_that("a time limit while quantreg is loaded is not a package that is missing", {
  unloadNamespace("quantreg")
  limit <- quote(if (identical(package, "quantreg")) stop("reached elapsed time limit"))
  suppressMessages(trace("loadNamespace", limit, where = baseenv(), print = FALSE))
  on.exit(suppressMessages(untrace("loadNamespace", where = baseenv())))
  expect_error(npqcmstest(~ wt, quantile_cars, model = mpg ~ wt), "^reached elapsed time limit$")
})
