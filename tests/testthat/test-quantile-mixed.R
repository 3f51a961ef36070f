# Quantiles of kernel distribution functions: where the oracle of the distribution function reaches them.

quantile_x <- faithful$eruptions[1:40]

test_that("quantiles are where the distribution function of the kernel reaches them", {
  tau <- c(1e-6, 0.05, 0.5, 0.93)
  gaussian <- npquantile(quantile_x, tau, bws = 0.3)
  expect_equal(vapply(gaussian, function(q) mean(stats::pnorm((q - quantile_x) / 0.3)), 0, USE.NAMES = FALSE), tau,
               tolerance = 1e-12)
  expect_named(gaussian, c("1e-04%", "5%", "50%", "93%"))
  uniform <- npquantile(quantile_x, tau[-1], bws = 0.8, ckertype = "uniform")
  below <- function(q) mean(pmin(pmax((q - quantile_x) / 0.8, -1), 1) + 1) / 2
  expect_equal(vapply(uniform, below, 0, USE.NAMES = FALSE), tau[-1], tolerance = 1e-12)
  bw <- npudistbw(dat = quantile_x, bws = 0.5, bandwidth.compute = FALSE, ckertype = "epanechnikov", ckerorder = 4)
  fourth <- npquantile(quantile_x, 0.4, bws = bw)
  expect_equal(npudist(bw, edat = fourth)$dist, 0.4, tolerance = 1e-12)
})

test_that("quantiles are np's to a step of its grid", {
  # npquantile(faithful$eruptions, bws = npudistbw(dat = faithful$eruptions, bws = 0.3, bandwidth.compute = FALSE)) of
  # np 0.60-18, which is at most a step of its grid of 10,000 points above.
  np <- c(1.330123012, 1.616801680, 2.227962796, 3.909180918, 4.461536154, 4.986588659, 5.293219322)
  found <- npquantile(faithful$eruptions, bws = 0.3)
  step <- 3 * diff(range(faithful$eruptions)) / 9999
  expect_true(all(np - found >= 0 & np - found < step))
})

test_that("quantiles are cut to the range and its extension", {
  x <- c(0, 1, 4)
  expect_equal(unname(npquantile(x, c(0, 1), bws = 1)), c(-4, 8))
  expect_equal(unname(npquantile(x, c(0, 1e-12, 1), bws = 1, f = 0)), c(0, 0, 4))
  expect_equal(unname(npquantile(x, 1, bws = 0.5, ckertype = "uniform")), 4.5)
  expect_equal(unname(npquantile(x, 1, bws = 1, ckertype = "epanechnikov")), 4 + sqrt(5))
})

test_that("bandwidths are those of npudistbw(), missing values are left out, and dates stay dates", {
  chosen <- npquantile(quantile_x, 0.3)
  expect_equal(unname(chosen), unname(npquantile(quantile_x, 0.3, bws = npudistbw(dat = quantile_x)$bw)))
  expect_equal(npquantile(c(NA, quantile_x), 0.3, bws = 0.2), npquantile(quantile_x, 0.3, bws = 0.2))
  scaled <- npudistbw(dat = quantile_x, bws = 1, bandwidth.compute = FALSE, bwscaling = TRUE)
  expect_equal(npquantile(quantile_x, 0.3, bws = scaled), npquantile(quantile_x, 0.3, bws = scaled$bandwidth$x))
  day <- as.Date("2026-01-01") + c(0, 1, 5)
  expect_identical(npquantile(day, 0, bws = 1), stats::setNames(as.Date("2025-12-27"), "0%"))
})

test_that("mistakes are refused", {
  expect_refused(
    npquantile(), npquantile("a"), npquantile(factor(1:3)), npquantile(faithful), npquantile(1:3, 1.5),
    npquantile(1:3, numeric(0)), npquantile(1:3, NA), npquantile(1:3, 0.5, f = -1),
    npquantile(c(1, NA), na.action = na.fail), npquantile(1:3, bws = -1),
    npquantile(1:3, bws = npudensbw(dat = 1:3, bws = 1, bandwidth.compute = FALSE)),
    npquantile(1:3, bws = npudistbw(dat = faithful, bws = 1:2, bandwidth.compute = FALSE)),
    npquantile(1:3, prob = 0.5), npquantile(1:3, 0.5, 100, 1, 1, 1)
  )
})
