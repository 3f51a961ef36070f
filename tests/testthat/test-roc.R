# ROC curves against their formula, and ks; linear bins against ks.

x1 <- faithful$eruptions[1:100]
x2 <- faithful$eruptions[101:272] + 0.5

reference_roc <- function(p, x1, x2, h1, hy) {
  y <- qnorm(vapply(x2, function(z) mean(pnorm(z, x1, h1, lower.tail = FALSE)), 0))
  vapply(qnorm(p), function(z) mean(pnorm((z - y) / hy)), 0)
}

test_that("a curve is its formula, and its area the integral of it", {
  fit <- kroc(x1, x2, h1 = 0.2, hy = 0.3, gridsize = 21)
  expect_equal(fit$estimate, reference_roc(seq(0, 1, by = 0.05), x1, x2, 0.2, 0.3), tolerance = 1e-12)
  area <- integrate(function(p) reference_roc(p, x1, x2, 0.2, 0.3), 0, 1, rel.tol = 1e-9, subdivisions = 500)$value
  expect_equal(fit$indices$auc, area, tolerance = 1e-7)
  best <- which.max(fit$estimate - fit$eval.points)
  expect_equal(fit$indices$youden, (fit$estimate - fit$eval.points)[best])
  expect_equal(fit$indices$LR$plus, fit$estimate[best] / fit$eval.points[best])
  expect_equal(predict(fit, c(0.05, 0.5)), fit$estimate[c(2, 11)], tolerance = 1e-14)
  expect_equal(kroc(x1, x2, h1 = 0.2, hy = 0.3, eval.points = c(0.5, 0.05))$estimate, fit$estimate[c(11, 2)],
               tolerance = 1e-14)
  copies <- kroc(rep(x1, rep(1:2, 50)), x2, h1 = 0.2, hy = 0.3, gridsize = 21)
  expect_equal(kroc(x1, x2, h1 = 0.2, hy = 0.3, gridsize = 21, w = rep(1:2, 50))$estimate, copies$estimate,
               tolerance = 1e-10)
})

test_that("positives beyond all negatives count in full", {
  fit <- kroc(x1, c(x2, 1e6), h1 = 0.2, hy = 0.3, gridsize = 5)
  expect_equal(fit$estimate[2:5], (172 * reference_roc((1:4) / 4, x1, x2, 0.2, 0.3) + 1) / 173, tolerance = 1e-12)
  expect_identical(kroc(x1, x1 + 1e6, h1 = 0.2, hy = 1, gridsize = 3)$estimate, c(0, 1, 1))
  expect_equal(kroc(x1, x1 + 1e6, h1 = 0.2, hy = 1)$indices$auc, 1)
})

test_that("a curve below the diagonal has no likelihood ratio at its Youden index", {
  # The best rates are 0 and 0: LR- is 1 / 1, LR+ is 0 / 0.
  fit <- kroc(x1, x1 - 1e6, h1 = 0.2, hy = 1)
  expect_identical(fit$indices, list(auc = 0, youden = 0, LR = list(minus = 1, plus = NA_real_)))
  expect_identical(is.nan(fit$indices$LR$plus), FALSE)
  expect_output(print(fit), "1 and NA")
  expect_identical(kroc(x1, x2, h1 = 0.2, hy = 1, eval.points = 1)$indices$LR, list(minus = NA_real_, plus = 1))
})

test_that("it is that of ks as far as its grids allow", {
  skip_if_not_installed("ks")
  ours <- kroc(x1, x2)
  theirs <- ks::kroc(x1, x2)
  expect_true(all(setdiff(names(theirs), "cont") %in% names(ours)))
  expect_equal(ours[c("h1", "H1")], theirs[c("h1", "H1")], tolerance = 1e-2)
  expect_equal(ours$hy, theirs$hy, tolerance = 5e-2)
  expect_equal(ours$indices$auc, theirs$indices$auc, tolerance = 2e-2)
  expect_lt(max(abs(ours$estimate - theirs$estimate)[ours$eval.points > 0.05]), 0.06)
})

test_that("several variables go by the probability of larger values in all of them", {
  a <- as.matrix(iris[1:50, 1:2])
  b <- as.matrix(iris[51:100, 1:2])
  H <- matrix(c(0.04, 0.02, 0.02, 0.05), 2)
  fit <- kroc(a, b, H1 = H, hy = 0.5, gridsize = 11)
  y <- qnorm(kcde(a, H = H, eval.points = b, tail.flag = "upper.tail")$estimate)
  expect_equal(fit$estimate, vapply(qnorm(seq(0, 1, by = 0.1)), function(z) mean(pnorm((z - y) / 0.5)), 0),
               tolerance = 1e-12)
  expect_equal(fit$H1, H)
})

test_that("linear counts are those of ks", {
  skip_if_not_installed("ks")
  H <- matrix(c(0.06, 0.6, 0.6, 11), 2)
  plane <- as.matrix(faithful)
  for (pair in list(list(binning(x1, h = 0.3, bgridsize = 11), ks::binning(x1, h = 0.3, bgridsize = 11)),
                    list(binning(plane, H = H, bgridsize = c(5, 6)), ks::binning(plane, H = H, bgridsize = c(5, 6))),
                    list(binning(x1, h = 0.3, w = rep(1:2, 50) / 1.5),
                         ks::binning(x1, h = 0.3, w = rep(1:2, 50) / 1.5)))) {
    expect_equal(pair[[1]]$counts, pair[[2]]$counts, tolerance = 1e-10)
    expect_equal(pair[[1]]$eval.points, pair[[2]]$eval.points, tolerance = 1e-12)
    expect_equal(pair[[1]]$w, pair[[2]]$w)
  }
  space <- binning(iris[, 1:3], bgridsize = c(4, 5, 6))
  expect_equal(sum(space$counts), 150)
  middle <- vapply(1:3, function(k) sum(apply(space$counts, k, sum) * space$eval.points[[k]]) / 150, 0)
  expect_equal(middle, unname(colMeans(iris[, 1:3]))) # linear bins keep the mean
  expect_equal(sum(binning(x1, xmin = 2, xmax = 5, bgridsize = 9)$counts), sum(x1 >= 2 & x1 <= 5))
})

test_that("prints are short, and curves are drawn", {
  fit <- kroc(x1, x2, h1 = 0.2, hy = 0.3)
  expect_snapshot_output({
    shown(fit)
    shown(kroc(iris[1:50, 1:2], iris[51:100, 1:2], H1 = diag(2) / 9, hy = 0.5))
  })
  expect_gt(drawn({
    plot(fit, add.roc.ref = TRUE, lwd = 1)
    plot(fit, add = TRUE, col = 2)
  }), 0)
  expect_output(summary(fit), "Youden")
})

test_that("mistakes are refused", {
  fit <- kroc(x1, x2, h1 = 0.2, hy = 0.3)
  expect_refused(
    kroc(x1, faithful), kroc(x1, "a"), kroc(c(1, NA), x2), kroc(x1, x2, h1 = -1), kroc(x1, x2, hy = 0),
    kroc(x1, x2, h1 = 1, H1 = 1), kroc(x1, x2, gridtype = "exp"), kroc(x1, x2, xmax = 2),
    kroc(x1, x2, eval.points = 1.5), kroc(x1, x1 + 1e6, h1 = 0.2), kroc(iris[1:50, 1:4], iris[51:99, 1:4]),
    predict(fit, 2), predict(fit), plot(fit, add = NA), kroc(x1, x2, bw = 1),
    binning(iris[, c(1:4, 1)]), binning(x1, h = 0), binning(x1, bgridsize = 1), binning(x1, gridtype = "exp"),
    binning(x1, w = 1), binning(rep(1, 5))
  )
})
