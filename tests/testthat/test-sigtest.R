# Tests of regressors beside np 0.60 and the oracle of helper-semiparametric.R.

test_that("statistics are np's", {
  expect_np_values("npsigtest")
})

sigtest_frame <- with_seed(20261128, data.frame(
  a = round(stats::rnorm(30), 2), z = factor(sample(c("p", "q", "r"), 30, TRUE)), b = stats::runif(30),
  o = ordered(sample(1:4, 30, TRUE))
))
sigtest_y <- with_seed(20261129, sigtest_frame$a^2 + as.integer(sigtest_frame$z) + stats::rnorm(30, sd = 0.3))
sigtest_bw <- function(regtype = "lc", y = sigtest_y, frame = sigtest_frame) {
  npregbw(frame, y, c(0.7, 0.3, 0.4, 0.2), FALSE, regtype = regtype)
}

test_that("statistics are the oracle's, also those of samples", {
  data <- mixed_data(sigtest_frame, sigtest_y)
  base <- function(column, levels) replace(data, column, list(matrix(levels, 30)))
  o <- as.integer(sigtest_frame$o)
  bases <- list(NULL, base("unordered", 1), NULL, base("ordered", ifelse(o == 1, 2, o - 1)))
  for (regtype in c("lc", "ll")) {
    task <- mixed_task_of(c(0.7, 0.4), c(0.3, 0.2), regtype = regtype)
    for (pivot in c(FALSE, TRUE)) {
      of <- function(y) {
        vapply(1:4, function(k) sigtest_oracle(data, task, y, pivot, c(1, NA, 2, NA)[k], bases[[k]]), 0)
      }
      bw <- sigtest_bw(regtype)
      test <- npsigtest(bw, boot.num = 9, pivot = pivot)
      expect_equal(test$In, of(sigtest_y), tolerance = 1e-10, info = paste(regtype, pivot))
      joint <- npsigtest(bw, boot.num = 9, pivot = pivot, joint = TRUE)
      expect_equal(joint$In, mean(test$In), tolerance = 1e-12)
      # The samples: the fit with the regressor held at its median, and the residuals of it.
      run <- run_options(1L, "cpu")
      uniform <- replicate_draws_cpp(30L, 9L, 0, 42, run)
      held <- base("x", cbind(stats::median(sigtest_frame$a), sigtest_frame$b))
      fit <- as.vector(smoother_matrix(data, task, held) %*% sigtest_y)
      off <- sigtest_y - fit - mean(sigtest_y - fit)
      off <- off * stats::sd(sigtest_y - smoother_matrix(data, task) %*% sigtest_y) / stats::sd(off)
      drawn <- fit + matrix(off[floor(30 * uniform) + 1], 30)
      replicates <- apply(drawn, 2, function(y) sigtest_oracle(data, task, y, pivot, 1))
      expect_equal(test$In.bootstrap[, 1], replicates, tolerance = 1e-9, info = paste(regtype, pivot))
    }
  }
})

test_that("samples have the distributions that the help says", {
  run <- run_options(1L, "cpu")
  uniform <- replicate_draws_cpp(1L, 20000L, 0, 7, run)
  expect_equal(as.vector(replicate_draws_cpp(1L, 5L, 100, 7, run)), uniform[101:105])
  # The standard error of a mean of 20,000 draws of variance 1 is 0.007, that of their squares and cubes up to 0.03.
  for (method in c("wild", "wild-rademacher")) {
    drawn <- as.vector(bootstrap_residuals(1, uniform, method))
    expect_lt(abs(mean(drawn)), 0.03)
    expect_lt(abs(mean(drawn^2) - 1), 0.06)
    expect_lt(abs(mean(drawn^3) - (method == "wild")), 0.12)
  }
  expect_setequal(bootstrap_residuals(1:3, replicate_draws_cpp(3L, 20L, 0, 7, run), "iid"), 1:3)
})

test_that("the same seed gives the same bits on any number of threads, whatever the session draws", {
  bw <- sigtest_bw("ll")
  for (method in sigtest_methods) {
    test <- npsigtest(bw, boot.num = 11, boot.method = method, threads = 1)
    with_seed(1, state <- .Random.seed)
    other <- with_seed(1, {
      found <- npsigtest(bw, boot.num = 11, boot.method = method, threads = 3)
      expect_identical(.Random.seed, state)
      found
    })
    expect_identical(other$In.bootstrap, test$In.bootstrap)
    expect_false(identical(npsigtest(bw, boot.num = 11, boot.method = method, random.seed = 1)$In.bootstrap,
                           test$In.bootstrap))
  }
})

test_that("regressors that matter are found, and others are not", {
  bw <- sigtest_bw()
  for (method in sigtest_methods) {
    test <- npsigtest(bw, boot.num = 199, boot.method = method)
    expect_lt(max(test$P[1:2]), if (method == "pairwise") 0.25 else 0.1)
    expect_gt(min(test$P[3:4]), 0.05)
  }
  marked <- npsigtest(bw, boot.num = 199)
  expect_identical(marked$reject[marked$P == 0], rep("***", sum(marked$P == 0)))
})

test_that("type II replaces the bandwidths of the tested regressors for each sample", {
  bw <- npregbw(sigtest_frame[c(1, 3)], sigtest_y, nmulti = 1)
  test <- npsigtest(bw, boot.num = 9, boot.type = "II", pivot = FALSE, index = 1)
  run <- run_options(1L, "cpu")
  made <- as_mixed_regression(bw)
  null <- null_of(smoother_of(made$bws, made$raw, run), 1L)
  y <- null$fit + bootstrap_residuals(null$residuals, replicate_draws_cpp(30L, 9L, 0, 42, run), "iid")
  by_hand <- apply(y, 2, function(y) {
    found <- suppressWarnings(suppressMessages(npregbw(sigtest_frame[c(1, 3)], y, bw$bw, nmulti = 1)))
    fit <- npreg(bws = c(found$bw[1], bw$bw[2]), txdat = sigtest_frame[c(1, 3)], tydat = y, gradients = TRUE)
    mean(fit$grad[, 1]^2)
  })
  expect_equal(test$In.bootstrap[, 1], by_hand, tolerance = 1e-6)
})

test_that("fits, formulas, data and single regressors are tested alike", {
  bw <- npregbw(dist ~ speed, data = cars)
  test <- npsigtest(bw, boot.num = 19)
  expect_identical(test$P, 0)
  expect_identical(npsigtest(npreg(bw), boot.num = 19)$In.bootstrap, test$In.bootstrap)
  expect_identical(npsigtest(dist ~ speed, cars, boot.num = 19)$In.bootstrap, test$In.bootstrap)
  expect_equal(npsigtest(bw$bw, cars$speed, cars$dist, boot.num = 19)$In, test$In)
  expect_equal(npsigtest(bw, cars$speed, 2 * cars$dist, boot.num = 19)$In, test$In)
  scaled <- npregbw(dist ~ speed, data = cars, bws = 2 / bw$sdev / bw$nconfac, bandwidth.compute = FALSE,
                    bwscaling = TRUE, ckertype = "epanechnikov")
  plain <- npregbw(dist ~ speed, data = cars, bws = 2, bandwidth.compute = FALSE, ckertype = "epanechnikov")
  expect_equal(npsigtest(scaled, boot.num = 9)$In, npsigtest(plain, boot.num = 9)$In)
  bw$bw <- 3
  expect_equal(npsigtest(bw, boot.num = 9)$In, npsigtest(3, cars$speed, cars$dist, boot.num = 9)$In)
})

test_that("observations without other neighbours and effects without observations count as the help says", {
  frame <- data.frame(x = c(1:6, 100), z = factor(c(1, 1, 1, 2, 2, 2, 3)))
  bw <- suppressWarnings(npregbw(frame, c(1, 3, 2, 5, 4, 6, 9), c(1.5, 0), FALSE, ckertype = "epanechnikov"))
  test <- npsigtest(bw, boot.num = 9, boot.method = "pairwise", pivot = FALSE)
  fit <- npreg(bw, gradients = TRUE)
  expect_equal(test$In, colMeans(fit$grad^2, na.rm = TRUE))
  expect_true(all(is.finite(npsigtest(bw, boot.num = 9, boot.method = "pairwise", index = 1)$In)))
})

test_that("errors have the constants of every kernel", {
  for (ckertype in kernel_names()) {
    task <- list(ckertype = ckertype, ckerorder = 2L)
    found <- error_constants(list(ncon = 2L, ckertype = ckertype, ckerorder = 2L), run_options(1L, "cpu"))
    square <- density_convolution(matrix(0), task)
    expect_equal(found$fit, c(square / density_continuous(0, task))^2, tolerance = 1e-9, info = ckertype)
    expect_equal(found$slope, c(2 - 2 * density_convolution(matrix(1), task) / square), tolerance = 1e-9,
                 info = ckertype)
  }
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    test <- npsigtest(sigtest_bw(), boot.num = 99)
    shown(test)
    shown(summary(test))
    shown(npsigtest(npregbw(dist ~ speed, data = cars, bws = 2, bandwidth.compute = FALSE), boot.num = 19,
                    pivot = FALSE, boot.method = "wild", joint = TRUE))
  })
})

test_that("mistakes are refused", {
  bw <- sigtest_bw()
  line <- npregbw(dist ~ speed, data = cars, bws = 2, bandwidth.compute = FALSE)
  near <- npregbw(data.frame(x = c(1, 2, 30, 31), z = factor(c(1, 1, 2, 2))), 1:4, c(1, 0.1), FALSE,
                  ckertype = "uniform")
  expect_refused(
    npsigtest(), npsigtest(1), npsigtest("a", cars$speed, cars$dist), npsigtest(lm(dist ~ speed, data = cars)),
    npsigtest(bw, boot.num = 8),
    npsigtest(bw, boot.method = "block"), npsigtest(bw, boot.type = "III"), npsigtest(bw, pivot = NA),
    npsigtest(bw, joint = 1), npsigtest(bw, index = 5), npsigtest(bw, index = c(1, 1)), npsigtest(bw, index = "a"),
    npsigtest(bw, random.seed = 0.5), npsigtest(bw, regtype = "ll"), npsigtest(bw, xdat = sigtest_frame),
    npsigtest(npregbw(dist ~ speed, data = cars, bwtype = "adaptive_nn")), npsigtest(near),
    npsigtest(npregbw(dist ~ speed, data = cars, bws = 2, w = 1:50, bandwidth.compute = FALSE)),
    npsigtest(structure(list(), class = "kestrel_regbw")), print(structure(list(), class = "kestrel_sigtest"))
  )
})
