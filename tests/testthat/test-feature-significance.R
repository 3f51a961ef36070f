# Regions of significant gradient and curvature: statistics beside integrals over a grid, and regions beside ks.

# W of the help page at points on a grid. Covariances are sums over another grid of products of derivatives of kernels.
plain_statistic <- function(x, points, H, order) {
  d <- ncol(x)
  tuples <- index_tuples(d, order)
  axes <- lapply(seq_len(d), function(k) seq(-8, 8, length.out = 201) * sqrt(H[k, k]))
  cell <- prod(vapply(axes, function(axis) axis[2] - axis[1], 0))
  at <- unname(as.matrix(expand.grid(axes)))
  of_kernel <- apply(tuples, 1L, function(axes) plain_kdde(matrix(0, 1L, d), at, H, axes)$value)
  covariance <- crossprod(of_kernel) * cell / nrow(x)
  b <- apply(tuples, 1L, function(axes) plain_kdde(x, points, H, axes)$value)
  rowSums((b %*% solve(covariance)) * b) / plain_kdde(x, points, H, integer(0))$value
}

test_that("P values are those of the statistic", {
  set.seed(1)
  for (d in 1:2) for (order in 1:2) {
    x <- matrix(rnorm(60 * d), ncol = d)
    H <- as.matrix(0.3 * diag(d) + if (d > 1L) 0.1 else 0)
    found <- kfs(x, H = H, deriv.order = order, eval.points = x)
    p <- pchisq(plain_statistic(x, x, H, order), choose(d + order - 1, order), lower.tail = FALSE)
    tested <- !is.na(found$p.value)
    expect_true(sum(tested) > 10L)
    expect_equal(found$p.value[tested], p[tested], tolerance = 1e-8)
    if (order == 1L) expect_identical(sum(!tested), 1L)
    expect_identical(found$estimate, as.integer(!is.na(p.adjust(found$p.value, "hochberg")) &
                                                  p.adjust(found$p.value, "hochberg") <= 0.05))
  }
})

test_that("curvature is tested where the Hessian is negative definite", {
  set.seed(2)
  x <- matrix(rnorm(400), ncol = 2)
  H <- matrix(c(0.3, 0.25, 0.25, 0.3), 2)
  found <- kfs(x, H = H, gridsize = c(21, 21))
  fhat <- kde(x, H = H, gridsize = c(21, 21))
  curved <- kcurv(kdde(x, H = H, deriv.order = 2, gridsize = c(21, 21)))$estimate > 0
  expect_identical(!is.na(found$p.value), curved & fhat$estimate > contourLevels(fhat, cont = 99))
  expect_equal(found$density, fhat$estimate)
})

test_that("units of the variables do not matter, nor do weights or threads", {
  x <- as.matrix(faithful)
  H <- matrix(c(0.09, 0.95, 0.95, 14), 2)
  found <- kfs(x, H = H, gridsize = c(15, 15))
  unit <- diag(c(2^20, 2^-9))
  scaled <- kfs(x %*% unit, H = unit %*% H %*% unit, gridsize = c(15, 15), threads = 3)
  expect_equal(scaled$p.value, found$p.value)
  equal <- kfs(x, H = H, gridsize = c(15, 15), w = rep(7, 272))
  expect_equal(equal$p.value, found$p.value)
})

test_that("regions of one variable are those of ks", {
  skip_if_not_installed("ks")
  for (h in c(0.2, 0.3, 0.5)) {
    theirs <- ks::kfs(faithful$eruptions, h = h, binned = FALSE)
    ours <- kfs(faithful$eruptions, h = h)
    expect_equal(ours$eval.points, theirs$eval.points)
    # ks moves observations to grid points for derivatives.
    expect_lt(sum(ours$estimate != as.vector(theirs$estimate)), 4L)
  }
})

test_that("methods, prints and refusals", {
  found <- kfs(faithful, H = diag(c(0.1, 20)), gridsize = c(21, 21))
  line <- kfs(faithful$eruptions, h = 0.3, deriv.order = 1, gridsize = 51)
  found$seconds <- line$seconds <- 0
  expect_snapshot(print(found))
  expect_snapshot(summary(line))
  frame <- as.data.frame(found)
  expect_identical(frame$p.value, as.vector(found$p.value))
  expect_identical(names(frame), c("eruptions", "waiting", "estimate", "p.value"))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(found))
  expect_invisible(plot(line, drawpoints = FALSE))
  expect_refused(kfs(faithful, deriv.order = 3))
  expect_refused(kfs(faithful, signif.level = 5))
  expect_refused(kfs(faithful$eruptions, positive = TRUE))
  expect_refused(kfs(faithful, level = 0.1))
  expect_refused(plot(kfs(faithful, H = diag(c(0.1, 20)), eval.points = faithful)))
})
