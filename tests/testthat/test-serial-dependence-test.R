# The test of serial dependence beside np 0.60, whose integrals have errors of 1e-5, and sums in plain R.

test_that("statistics and bandwidths are np's", {
  # np's integrals and its searches end early.
  expect_np_values("npsdeptest", 5e-5)
})

serial_x <- as.numeric(lh)

# The statistic by summation of pairs.
serial_oracle <- function(x, y, h, joint) {
  kernels <- function(v, h) stats::dnorm(outer(v, v, `-`) / h) / h
  both <- rowMeans(kernels(x, joint[1]) * kernels(y, joint[2]))
  mean((1 - sqrt(rowMeans(kernels(x, h[1])) * rowMeans(kernels(y, h[2])) / both))^2) / 2
}

serial_test <- function(...) {
  npsdeptest(serial_x, 2, "summation", bw.y = c(0.2, 0.3), bw.y.lag = c(0.25, 0.35),
             bw.joint = cbind(c(0.3, 0.4), c(0.35, 0.45)), ...)
}

test_that("sums are np's to the last digits", {
  expect_np_values("npsdeptest(as.numeric(lh), lag.num = 2, method = \"summation\", bootstrap = FALSE, bw.y = c", 1e-10)
})

test_that("statistics are those of pairs at each lag, also in bootstrap samples", {
  test <- serial_test(boot.num = 9)
  of <- function(x) {
    c(serial_oracle(x[1:47], x[2:48], c(0.2, 0.25), c(0.3, 0.35)),
      serial_oracle(x[1:46], x[3:48], c(0.3, 0.35), c(0.4, 0.45)))
  }
  expect_equal(test$Srho, of(serial_x), tolerance = 1e-12)
  expect_equal(test$Srho.cumulant, cumsum(test$Srho))
  drawn <- serial_x[floor(replicate_draws_cpp(48L, 9L, 0, 42, run_options(1L, "cpu")) * 48) + 1]
  expect_equal(test$Srho.bootstrap.mat, t(apply(matrix(drawn, 48), 2, of)), tolerance = 1e-12)
  expect_equal(test$Srho.cumulant.bootstrap.mat, t(apply(test$Srho.bootstrap.mat, 1, cumsum)))
  expect_equal(test$P, colMeans(test$Srho.bootstrap.mat > rep(test$Srho, each = 9)))
  expect_equal(test$P.cumulant, colMeans(test$Srho.cumulant.bootstrap.mat > rep(cumsum(test$Srho), each = 9)))
})

test_that("integrals are those of npdeptest() for the pairs", {
  test <- npsdeptest(serial_x, bw.y = 0.2, bw.y.lag = 0.25, bw.joint = c(0.3, 0.35), boot.num = 9)
  of <- function(x) {
    npdeptest(x[-48], x[-1], bootstrap = FALSE, bw.data.x = 0.2, bw.data.y = 0.25, bw.joint = c(0.3, 0.35))$Srho
  }
  expect_equal(test$Srho, of(serial_x), tolerance = 1e-10)
  rows <- floor(replicate_draws_cpp(48L, 9L, 0, 42, run_options(1L, "cpu"))[, 3] * 48) + 1
  # The grid begins elsewhere.
  expect_equal(test$Srho.bootstrap.mat[3, 1], of(serial_x[rows]), tolerance = 1e-6)
})

test_that("bootstrap samples are distributed as np's at one lag", {
  # npsdeptest(as.numeric(lh), method = "summation", boot.num = 999) of np 0.60-18 has these bandwidths, and its
  # samples have the mean 0.009496 and the standard deviation 0.003150. The allowance is four standard errors.
  test <- npsdeptest(serial_x, 1, "summation", boot.num = 999, bw.y = 0.255875, bw.y.lag = 0.258029,
                     bw.joint = c(0.212119, 0.230095))
  error <- 0.00315 * sqrt(2 / 999)
  expect_lt(abs(mean(test$Srho.bootstrap.mat) - 0.009496), 4 * error)
  expect_lt(abs(stats::sd(test$Srho.bootstrap.mat) - 0.00315), 6 * error)
  expect_identical(test$P, 0)
})

test_that("bandwidths are those of densities, and series are without a class", {
  test <- npsdeptest(lh, bootstrap = FALSE)
  expect_equal(test$bw.joint[1, ], npudensbw(dat = cbind(serial_x[-48], serial_x[-1]))$bw)
  expect_equal(test$bw.y.lag, npudensbw(dat = serial_x[-1])$bw)
  expect_identical(test$P, NA_real_)
  expect_identical(npsdeptest(serial_x, bootstrap = FALSE)$Srho, test$Srho)
})

test_that("the same seed gives the same bits on any number of threads, whatever the session draws", {
  expect_seeded_draws(function(...) serial_test(boot.num = 19, ...)$Srho.bootstrap.mat)
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    test <- serial_test(boot.num = 19)
    shown(test)
    shown(summary(test))
    shown(npsdeptest(serial_x, bw.y = 0.2, bw.y.lag = 0.2, bw.joint = c(0.2, 0.2), bootstrap = FALSE))
  })
})

test_that("names of numbers are not printed", {
  test <- serial_test(boot.num = 9)
  named <- test
  names(named$P.cumulant) <- c("a", rep(NA, length(test$P.cumulant) - 1L))
  expect_identical(capture.output(print(named)), capture.output(print(test)))
})

test_that("mistakes are refused", {
  expect_refused(
    npsdeptest(), npsdeptest(letters), npsdeptest(c(1, NA, 3, 2)), npsdeptest(rep(1, 9)), npsdeptest(c(rep(1, 8), 2)),
    npsdeptest(1:9, 0), npsdeptest(1:9, 7), npsdeptest(1:9, method = "sum"), npsdeptest(1:9, boot.num = 2),
    npsdeptest(1:9, 2, bw.y = 1), npsdeptest(1:9, bw.y.lag = -1), npsdeptest(1:9, 2, bw.joint = c(1, 1)),
    npsdeptest(1:9, 2, bw.joint = matrix(1, 1, 2)), npsdeptest(1:9, bw.joint = "a"),
    npsdeptest(1:9, 1, "summation", TRUE, 9, 42, 1), print(structure(list(), class = "kestrel_sdeptest"))
  )
})
