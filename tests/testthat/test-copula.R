# Copulas against distribution functions at quantiles, and ks.

x <- as.matrix(faithful)
H <- matrix(c(0.03, 0.2, 0.2, 6), 2)
hs <- c(0.1, 2)

test_that("a copula is the distribution function at the quantiles of the margins", {
  fit <- kcopula(x, H = H, hs = hs, gridsize = c(6, 5))
  margin <- lapply(1:2, function(k) kde(x[, k], h = hs[k]))
  q <- lapply(1:2, function(k) qkde(fit$eval.points[[k]], margin[[k]]))
  at <- as.matrix(expand.grid(q))
  expect_equal(as.vector(fit$estimate), pkde(at, kde(x, H = H, gridsize = 5)), tolerance = 1e-10)
  expect_equal(fit$x[, 1], pkde(x[, 1], margin[[1]]), tolerance = 1e-12)
  expect_identical(fit$eval.points[[1]], seq(0, 1, by = 0.2))
  expect_identical(fit$estimate[1, ], numeric(5))
  expect_equal(fit$estimate[6, 5], 1, tolerance = 1e-12)
  points <- rbind(c(0.2, 0.25), c(1, 0.5))
  expect_equal(kcopula(x, H = H, hs = hs, eval.points = points)$estimate, fit$estimate[cbind(c(2, 6), 2:3)],
               tolerance = 1e-10)
  w <- rep(1:2, 136)
  weighted <- kcopula(x, H = H, hs = hs, w = w, gridsize = 4)
  copied <- kcopula(x[rep(1:272, w), ], H = H, hs = hs, gridsize = 4)
  expect_equal(weighted$estimate, copied$estimate, tolerance = 1e-9)
  expect_equal(dim(kcopula(iris[, 1:3], H = diag(3), hs = 1:3, gridsize = c(3, 4, 2))$estimate), c(3, 4, 2))
})

test_that("empirical margins are those of the ranks", {
  fit <- kcopula(x, H = H, hs = hs, marginal = "empirical", gridsize = 5)
  q <- lapply(1:2, function(k) c(-Inf, quantile(x[, k], (1:4) / 4, type = 1)))
  expect_equal(as.vector(fit$estimate), pkde(as.matrix(expand.grid(q)), kde(x, H = H, gridsize = 5)), tolerance = 1e-10)
  expect_equal(fit$x[, 2], ecdf(x[, 2])(x[, 2]))
})

test_that("default bandwidths are those of ks, and so is the estimate as far as its grid allows", {
  skip_if_not_installed("ks")
  ours <- kcopula(x, gridsize = c(151, 151))
  theirs <- suppressWarnings(ks::kcopula(x))
  expect_true(all(names(theirs)[names(theirs) != "cont"] %in% names(ours)))
  expect_equal(ours$H, unname(Hpi.kcde(x)))
  expect_equal(ours$hs, c(hpi.kcde(x[, 1]), hpi.kcde(x[, 2])))
  expect_lt(max(abs(ours$estimate - theirs$estimate)), 0.05)
})

test_that("the print is short, and it is drawn", {
  fit <- kcopula(x, H = H, hs = hs, gridsize = 9)
  expect_snapshot_output({
    shown(fit)
    shown(kcopula(x, H = H, hs = hs, marginal = "empirical", eval.points = c(0.5, 0.5)))
  })
  expect_gt(drawn(plot(fit)), 0)
  expect_gt(drawn(plot(fit, display = "slice", zlab = "C")), 0)
})

test_that("mistakes are refused", {
  expect_refused(
    kcopula(x[, 1]), kcopula(iris[, 1:4]), kcopula(x, H = -H), kcopula(x, hs = 1), kcopula(x, hs = c(1, -1)),
    kcopula(x, marginal = "normal"), kcopula(x, xmax = 2), kcopula(x, eval.points = c(0.5, 1.5)),
    kcopula(x, eval.points = 1:3), kcopula(x, gridtype = "exp"), kcopula(x, gridsize = 1), kcopula(cbind(x, 1)[, 2:3]),
    plot(kcopula(x, H = H, hs = hs, eval.points = c(0.5, 0.5))), kcopula(x, bandwidth = 3)
  )
})
