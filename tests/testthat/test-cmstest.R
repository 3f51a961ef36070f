# Tests of parametric models beside np 0.60 and sums over pairs.

cms_cars <- semiparametric_data()$mt
cms_model <- stats::lm(mpg ~ wt + hp, data = cms_cars)

test_that("statistics are np's", {
  expect_np_values("npcmstest")
})

# In, Jn and Omega.hat of residuals u.
cms_oracle <- function(u, data, task, weighted) {
  n <- length(u)
  volume <- prod(task$h)
  k <- weight_matrix(data, task) / volume
  diag(k) <- 0
  if (!weighted) k <- k / pmax(rowSums(k), .Machine$double.xmin) * n
  In <- sum(outer(u, u) * k) / n^2
  omega <- 2 * volume * sum(outer(u^2, u^2) * k^2) / n^2
  c(In = In, Omega.hat = omega, Jn = n * sqrt(volume) * In / sqrt(omega))
}

test_that("statistics are sums over pairs, also those of samples", {
  data <- mixed_data(cms_cars[c("wt", "hp", "cyl")], cms_cars$mpg)
  task <- mixed_task_of(c(0.5, 30), 0.2)
  design <- stats::model.matrix(cms_model)
  for (weighted in c(TRUE, FALSE)) {
    of <- function(pivot, ...) {
      npcmstest(model = cms_model, xdat = cms_cars[c("wt", "hp", "cyl")], bws = c(0.5, 30, 0.2), boot.num = 9,
                density.weighted = weighted, pivot = pivot, ...)
    }
    test <- of(TRUE)
    expect_equal(unlist(test[c("In", "Omega.hat", "Jn")]),
                 cms_oracle(stats::residuals(cms_model), data, task, weighted), tolerance = 1e-10)
    uniform <- replicate_draws_cpp(32L, 9L, 0, 42, run_options(1L, "cpu"))
    for (method in c("iid", "wild", "wild-rademacher")) {
      errors <- bootstrap_residuals(unname(stats::residuals(cms_model)), uniform, method)
      samples <- apply(errors, 2, function(error) {
        again <- stats::lm.fit(design, stats::fitted(cms_model) + error)
        cms_oracle(again$residuals, data, task, weighted)
      })
      expect_equal(of(TRUE, boot.method = method)$Jn.bootstrap, sort(samples["Jn", ]), tolerance = 1e-9)
      expect_equal(of(FALSE, boot.method = method)$In.bootstrap, sort(samples["In", ]), tolerance = 1e-9)
    }
    expect_equal(test$P, mean(test$Jn.bootstrap > test$Jn))
    expect_identical(test$q.90, test$Jn.bootstrap[9])
  }
})

test_that("bandwidths are those of the regression of the response", {
  test <- npcmstest(model = cms_model, xdat = cms_cars[c("wt", "hp")], boot.num = 9, nmulti = 1)
  expect_equal(test$bws$bw, npregbw(mpg ~ wt + hp, data = cms_cars, nmulti = 1)$bw)
  by_formula <- npcmstest(~ wt + hp, cms_cars, model = cms_model, boot.num = 9, nmulti = 1)
  expect_identical(by_formula$Jn.bootstrap, test$Jn.bootstrap)
  log_of <- npcmstest(mpg ~ log(wt), cms_cars, model = cms_model, boot.num = 9)
  expect_equal(log_of$Jn, npcmstest(model = cms_model, xdat = log(cms_cars$wt), boot.num = 9)$Jn)
})

test_that("the same seed gives the same bits on any number of threads, whatever the session draws", {
  expect_seeded_draws(function(...) {
    npcmstest(model = cms_model, xdat = cms_cars["wt"], bws = 0.5, boot.num = 19, ...)$Jn.bootstrap
  })
})

test_that("models that are wrong are rejected, and right ones are not", {
  x <- (1:100) / 20
  y <- with_seed(20261201, x^2 + stats::rnorm(100, sd = 0.5))
  of <- function(model, ...) npcmstest(model = model, xdat = x, bws = 0.3, boot.num = 199, ...)$P
  for (method in c("iid", "wild", "wild-rademacher")) {
    expect_lt(of(stats::lm(y ~ x), boot.method = method), 0.01)
    expect_gt(of(stats::lm(y ~ x + I(x^2)), boot.method = method), 0.05)
  }
})

test_that("models of glm() are fitted again to each sample", {
  frame <- data.frame(x = 1:30, y = with_seed(20261202, exp((1:30) / 10) + stats::rnorm(30)))
  same <- stats::glm(y ~ x, data = frame)
  expect_equal(npcmstest(model = same, xdat = frame$x, bws = 3, boot.num = 9)$Jn.bootstrap,
               npcmstest(model = stats::lm(y ~ x, frame), xdat = frame$x, bws = 3, boot.num = 9)$Jn.bootstrap)
  curve <- stats::glm(y ~ x, stats::gaussian("log"), frame, start = c(0, 0.1))
  test <- npcmstest(model = curve, xdat = frame$x, bws = 3, boot.num = 9)
  errors <- bootstrap_residuals(frame$y - stats::fitted(curve) - mean(frame$y - stats::fitted(curve)),
                                replicate_draws_cpp(30L, 9L, 0, 42, run_options(1L, "cpu")), "iid")
  by_hand <- apply(errors, 2, function(error) {
    again <- stats::glm(stats::fitted(curve) + error ~ x, stats::gaussian("log"), frame, start = stats::coef(curve))
    npcmstest(model = again, xdat = frame$x, bws = 3, boot.num = 9)$Jn
  })
  expect_equal(test$Jn.bootstrap, sort(by_hand), tolerance = 1e-6)
})

test_that("rows that a model left out are left out of the regressors, too", {
  frame <- cms_cars
  frame$hp[3] <- NA
  model <- stats::lm(mpg ~ wt + hp, data = frame)
  test <- npcmstest(model = model, xdat = frame["wt"], bws = 0.5, boot.num = 9)
  expect_identical(test$na.index, 3L)
  expect_identical(test$Jn, npcmstest(model = model, xdat = frame[-3, "wt"], bws = 0.5, boot.num = 9)$Jn)
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    test <- npcmstest(model = cms_model, xdat = cms_cars["wt"], bws = 0.5, boot.num = 99)
    shown(test)
    shown(summary(test))
    shown(npcmstest(~ wt + cyl, cms_cars, model = cms_model, bws = c(0.5, 0.2), pivot = FALSE,
                    distribution = "asymptotic"))
  })
})

test_that("mistakes are refused", {
  exact <- stats::lm(y ~ x, data.frame(x = 1:9, y = 2 * (1:9)))
  heavy <- stats::lm(mpg ~ wt, mtcars, weights = hp)
  counts <- stats::glm(am ~ wt, stats::binomial(), mtcars)
  expect_refused(
    npcmstest(xdat = 1:3), npcmstest(model = 1, xdat = 1:3), npcmstest(model = cms_model),
    npcmstest(model = exact, xdat = 1:9), npcmstest(model = heavy, xdat = mtcars$wt),
    npcmstest(model = counts, xdat = mtcars$wt), npcmstest(model = cms_model, xdat = 1:3),
    npcmstest(model = cms_model, xdat = replace(mtcars$wt, 2, NA)), npcmstest(model = cms_model, xdat = letters),
    npcmstest(model = cms_model, xdat = mtcars$wt, boot.method = "pairwise"),
    npcmstest(model = cms_model, xdat = mtcars$wt, distribution = "normal"),
    npcmstest(model = cms_model, xdat = mtcars$wt, boot.num = 1), npcmstest(model = cms_model, xdat = mtcars$wt, B = 9),
    npcmstest(1, model = cms_model), npcmstest(~ nothing, mtcars, model = cms_model),
    npcmstest(model = cms_model, xdat = mtcars$wt, bws = -1),
    npcmstest(model = cms_model, xdat = mtcars$wt, na.action = na.omit),
    npcmstest(model = cms_model, xdat = mtcars$wt, bwtype = "adaptive_nn"),
    npcmstest(model = structure(list(), class = "lm"), xdat = 1:3),
    print(structure(list(), class = "kestrel_cmstest"))
  )
})
