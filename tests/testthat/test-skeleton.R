# The skeleton of an estimator works, and this is the test of an estimator to copy: the oracle in plain R, properties,
# refusals and the print.

test_that("it is what plain R computes", {
  x <- as.matrix(faithful)
  at <- rbind(c(2, 50), c(4, 80), c(3, 70))
  H <- Hns(x)
  w <- seq_len(nrow(x))
  oracle <- function(w) {
    sums <- apply(at, 1, function(e) sum(w * exp(-mahalanobis(x, e, H) / 2)))
    log(sums / nrow(x) / (2 * pi * sqrt(det(H))))
  }
  expect_equal(skeleton(faithful, at, H)$value, oracle(rep(1, nrow(x))), tolerance = 1e-12)
  expect_equal(skeleton(faithful, at, H, w = w)$value, oracle(w / mean(w)), tolerance = 1e-12)
})

test_that("three copies are weights of three, and units change it as they should", {
  x <- faithful$eruptions
  expect_equal(skeleton(rep(x, 3), 1:5, 0.1)$value, skeleton(x, 1:5, 0.1)$value, tolerance = 1e-12)
  expect_equal(skeleton(60 * x, 60 * 1:5, 360)$value, skeleton(x, 1:5, 0.1)$value - log(60), tolerance = 1e-12)
})

test_that("mistakes are refused, and the print is short", {
  expect_error(skeleton(faithful, 1:3), "eval.points", class = "kestrel_error_input")
  expect_error(skeleton(faithful, faithful, H = -1), "H", class = "kestrel_error_input")
  expect_output(print(skeleton(faithful$eruptions, 1:5)), "Log density.*n +272.*value +-")
})
