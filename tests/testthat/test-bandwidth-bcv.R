# Biased cross-validation and normal references of distribution functions.

# The criterion over all pairs, with the iterated Laplacian of the normal density.
reference_bcv <- function(x, H, c) {
  n <- nrow(x)
  d <- ncol(x)
  z <- x %*% solve(chol(H))
  s <- as.matrix(dist(z))^2 / c
  laplacian <- (2 * pi * c)^(-d / 2) * exp(-s / 2) * (s^2 - 2 * (d + 2) * s + d * (d + 2)) / c^2
  diag(laplacian) <- 0
  (1 / (n * (4 * pi)^(d / 2)) + sum(laplacian) / (n * (n - 1)) / 4) / sqrt(det(H))
}

test_that("the criterion is its sum over pairs, with the gradient of differences", {
  for (d in 2:3) {
    x <- with_seed(150 + d, with_correlation(matrix(rnorm(60 * d), 60), 0.5))
    H <- 0.3 * (diag(d) + 0.2)
    sample <- selector_sample(x, NULL)
    for (c in 1:2) {
      criterion <- bcv_criterion(sample, c, run_options(), identity)
      value <- criterion(H)
      expect_equal(as.numeric(value), reference_bcv(x, H, c), tolerance = 1e-9)
      for (k in 1:2) {
        step <- matrix(0, d, d)
        step[k, 1] <- step[1, k] <- 1e-5
        slope <- (reference_bcv(x, H + step, c) - reference_bcv(x, H - step, c)) / 2e-5
        expect_equal(sum(attr(value, "gradient") * (step != 0)), slope, tolerance = 1e-5)
      }
    }
  }
})

test_that("Hbcv and Hbcv.diag have the least value in the range, in any units", {
  x <- with_seed(157, with_correlation(matrix(rnorm(160), 80), 0.5))
  unit <- c(1e5, 1)
  for (c in 1:2) for (name in c("Hbcv", "Hbcv.diag")) {
    select <- function(x) get(name)(x, whichbcv = c, amise = TRUE)
    if (c == 2 && name == "Hbcv") {
      expect_warning(found <- select(x), "edge of the range", class = "kestrel_warning_search")
    } else {
      found <- quietly(select(x))
      turned <- quietly(select(sweep(x[, 2:1], 2, unit, "*")))
      expect_equal(turned$BCV * 1e5, found$BCV, tolerance = 1e-6)
    }
    expect_equal(found$BCV, reference_bcv(x, found$H, c), tolerance = 1e-9)
    S <- if (name == "Hbcv") var(x) else diag(diag(var(x)))
    for (h in seq(0.1, 0.38, by = 0.04)) expect_lte(found$BCV, reference_bcv(x, h^2 * S, c) * (1 + 1e-9))
  }
  expect_output(print(found), "biased cross-validation")
  expect_equal(quietly(Hbcv.diag(x, whichbcv = 2, w = rep(3, 80))), found$H, tolerance = 1e-6)
})

test_that("other names of selectors are the same selectors", {
  x <- as.matrix(faithful)
  expect_identical(quietly(hucv(x[, 1])), quietly(hlscv(x[, 1])))
  expect_identical(Hucv(x), Hlscv(x))
  expect_identical(Hucv.diag(x), Hlscv.diag(x))
})

test_that("normal references of distribution functions are those of ks for columns of standard deviation one", {
  skip_if_not_installed("ks")
  x <- with_seed(156, with_correlation(matrix(rnorm(300), 100), 0.4))
  x <- sweep(x, 2, apply(x, 2, sd), "/")
  expect_equal(Hns.kcde(x), ks::Hns.kcde(x), tolerance = 1e-12)
  expect_equal(hns.kcde(x[, 1]), ks::hns.kcde(x[, 1]), tolerance = 1e-12)
  expect_equal(Hns.kcde(x * 7), 49 * Hns.kcde(x), tolerance = 1e-12)
  expect_equal(sqrt(Hns.kcde(x[, 1])[[1]]), hns.kcde(x[, 1]), tolerance = 1e-12)
})

test_that("mistakes are refused", {
  x <- as.matrix(faithful)
  expect_refused(Hbcv(x, whichbcv = 3), Hbcv(x[, 1]), Hbcv(matrix(rnorm(240), 20)), Hbcv(x, Hstart = diag(3)),
                 Hbcv.diag(x, Hstart = 1e9 * diag(2)), hns.kcde(x), Hns.kcde(cbind(x, 1)), hucv(x))
})
