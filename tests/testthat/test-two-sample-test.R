# Tests of the equality of two densities against plain sums over pairs, ks, and the null hypothesis.

reference_mean <- function(x, y, H) {
  x <- as.matrix(x)
  y <- as.matrix(y)
  mean(apply(x, 1, function(row) mean(exp(-mahalanobis(y, row, H) / 2)))) / sqrt(det(2 * pi * as.matrix(H)))
}

x1 <- faithful$eruptions[1:100]
x2 <- faithful$eruptions[101:272]
y1 <- as.matrix(iris[1:50, 1:2])
y2 <- as.matrix(iris[51:120, 1:2])

test_that("the statistic is its sums over pairs, in one to three dimensions", {
  for (d in 1:3) {
    a <- as.matrix(iris[1:50, 1:d])
    b <- as.matrix(iris[51:120, 1:d])
    H1 <- 0.1 * diag(d) + 0.02
    H2 <- 0.2 * diag(d)
    found <- kde.test(a, b, H1 = H1, H2 = H2)
    psi <- c(reference_mean(a, a, H1), reference_mean(a, b, H1), reference_mean(a, b, H2), reference_mean(b, b, H2))
    expect_equal(unlist(found[c("psi1", "psi12", "psi21", "psi2")], use.names = FALSE), psi, tolerance = 1e-12)
    expect_equal(found$Tstat, psi[1] + psi[4] - psi[2] - psi[3], tolerance = 1e-11)
  }
})

test_that("all numbers are those of ks, but for bins and, in several dimensions, default bandwidths", {
  skip_if_not_installed("ks")
  fields <- c("Tstat", "zstat", "pvalue", "mean", "var", "n1", "n2", "psi1", "psi12", "psi21", "psi2")
  same <- function(ours, theirs, tolerance, also = NULL) {
    expect_equal(unlist(unclass(ours)[c(fields, also)]), unlist(theirs[c(fields, also)]), tolerance = tolerance)
  }
  same(kde.test(x1, x2, h1 = 0.2, h2 = 0.3, var.fhat1 = 0.05, var.fhat2 = 0.1),
       ks::kde.test(x1, x2, h1 = 0.2, h2 = 0.3, var.fhat1 = 0.05, var.fhat2 = 0.1, binned = FALSE), 1e-10)
  same(kde.test(x1, x2), ks::kde.test(x1, x2, binned = FALSE), 5e-3, c("h1", "h2"))
  H <- list(matrix(c(0.1, 0.02, 0.02, 0.05), 2), 0.1 * diag(2))
  # The gradient is binned in ks.
  same(kde.test(y1, y2, H1 = H[[1]], H2 = H[[2]]), ks::kde.test(y1, y2, H1 = H[[1]], H2 = H[[2]], binned = FALSE), 5e-2)
  expect_equal(kde.test(y1, y2, psi1 = 0.3, psi2 = 0.4, H1 = H[[1]], H2 = H[[2]])$Tstat,
               as.numeric(ks::kde.test(y1, y2, psi1 = 0.3, psi2 = 0.4, H1 = H[[1]], H2 = H[[2]])$Tstat),
               tolerance = 1e-10)
})

test_that("the variance has the gradient of the density at the mean", {
  h <- hns(x1, deriv.order = 1)
  u <- (mean(x1) - x1) / h
  expect_equal(kde.test(x1, x2)$var.fhat1, (mean(u * dnorm(u)) / h^2)^2 * var(x1), tolerance = 1e-12)
  H <- Hns(y1, deriv.order = 1)
  u <- sweep(y1, 2, colMeans(y1))
  gradient <- colMeans(exp(-mahalanobis(u, 0, H) / 2) * u) %*% solve(H) / sqrt(det(2 * pi * H))
  expect_equal(kde.test(y1, y2)$var.fhat1, as.numeric(gradient %*% var(y1) %*% t(gradient)), tolerance = 1e-12)
})

test_that("the default bandwidth makes the leading bias vanish, and follows units and rotations", {
  H <- kde.test(y1, y2)$H1
  sample <- selector_sample(y1, NULL)
  Psi <- functionals_of_order_two(sample, 2 * (2 / (50 * 4))^(1 / 3) * unname(sample$cov), run_options())
  expect_equal(normal_at_zero(H) / 50, -sum(diag(unname(H) %*% Psi)) / 2, tolerance = 1e-10)
  A <- matrix(c(100, 3, -7, 0.2), 2)
  expect_equal(kde.test(y1 %*% t(A), y2 %*% t(A))$H1, A %*% H %*% t(A), tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(kde.test(1e3 * x1, 1e3 * x2)$h1, 1e3 * kde.test(x1, x2)$h1, tolerance = 1e-12)
})

test_that("P values by permutations are uniform under the null hypothesis, and small under others", {
  # Counting one permutation too few or too many moves the distribution function by 0.2. 400 P values are allowed 0.081.
  p <- with_seed(161, vapply(1:400, function(k) kde.test(rnorm(20), rnorm(25), h1 = 0.4, h2 = 0.5, B = 4)$pvalue, 0))
  # Multiples of 1/5, spread over the intervals between them.
  expect_gt(ks.test(p - with_seed(162, runif(400)) / 5, "punif")$p.value, 0.01)
  expect_identical(with_seed(163, kde.test(rnorm(40), rnorm(40, 3), B = 39)$pvalue), 1 / 40)
  found <- with_seed(163, kde.test(y1, y2, B = 9))
  expect_identical(found$pvalue, 1 / 10)
  expect_identical(sum(found$permuted >= found$Tstat), 0L)
  expect_true(all(abs(5 * p - round(5 * p)) < 1e-9))
})

test_that("differences at points are those of ks", {
  skip_if_not_installed("ks")
  fields <- c("chisq", "pvalue", "fhat.diff", "var.fhat.diff", "n1", "n2")
  ours <- kde.local.test(x1, x2, h1 = 0.3, h2 = 0.2, gridsize = 51, signif.level = 0.9)
  theirs <- ks::kde.local.test(x1, x2, h1 = 0.3, h2 = 0.2, gridsize = 51, binned = FALSE, signif.level = 0.9)
  expect_equal(unclass(ours)[fields], unclass(theirs)[fields], tolerance = 1e-9)
  expect_equal(ours$fhat1$eval.points, theirs$fhat1$eval.points, tolerance = 1e-12)
  expect_equal(kde.local.test(x1, x2, gridsize = 51)$h1, hpi(x1))
  ours <- kde.local.test(x1, x2, h1 = 0.3, h2 = 0.2, gridsize = 51, mean.adj = TRUE)
  theirs <- ks::kde.local.test(x1, x2, h1 = 0.3, h2 = 0.2, gridsize = 51, binned = FALSE, mean.adj = TRUE)
  expect_equal(ours$mean.fhat.diff, theirs$mean.fhat.diff, tolerance = 1e-6)
  expect_equal(ours$pvalue, theirs$pvalue, tolerance = 1e-6)
  flat <- kde.local.test(y1, y2, H1 = 0.1 * diag(2) + 0.02, H2 = 0.2 * diag(2), gridsize = 5, mean.adj = TRUE)
  bending <- function(y, H, at) {
    u <- sweep(y, 2, at)
    inverse <- solve(H)
    along <- rowSums((u %*% inverse)^2 * rep(diag(H), each = nrow(u))) + 2 * H[1, 2] * apply(u %*% inverse, 1, prod)
    mean(exp(-mahalanobis(u, 0, H) / 2) * (along - 2)) / sqrt(det(2 * pi * H))
  }
  at <- c(flat$fhat1$eval.points[[1]][3], flat$fhat1$eval.points[[2]][2])
  expect_equal(flat$mean.fhat.diff[3, 2], bending(y1, 0.1 * diag(2) + 0.02, at) - bending(y2, 0.2 * diag(2), at),
               tolerance = 1e-10)
  apart <- list(with_seed(164, rnorm(200)), with_seed(165, rnorm(200, 2)))
  ours <- kde.local.test(apart[[1]], apart[[2]], h1 = 0.4, h2 = 0.3, gridsize = 61)
  theirs <- ks::kde.local.test(apart[[1]], apart[[2]], h1 = 0.4, h2 = 0.3, gridsize = 61, binned = FALSE)
  for (region in c("fhat.diff.pos", "fhat.diff.neg")) {
    expect_identical(as.numeric(ours[[region]]$estimate), as.numeric(theirs[[region]]$estimate))
  }
  # ks takes `min.ESS` without effect.
  size <- pmin(ours$fhat1$estimate * 0.4, ours$fhat2$estimate * 0.3) * 200 * sqrt(2 * pi)
  expect_identical(kde.local.test(apart[[1]], apart[[2]], h1 = 0.4, h2 = 0.3, gridsize = 61,
                                  min.ESS = 20)$fhat.diff.pos$estimate, ours$fhat.diff.pos$estimate * (size >= 20))
  expect_gt(sum(kde.local.test(apart[[1]], apart[[2]])$fhat.diff.pos$estimate), 0)
  ours <- kde.local.test(y1, y2, H1 = 0.1 * diag(2), H2 = 0.2 * diag(2), gridsize = c(11, 11))
  again <- kde.local.test(fhat1 = ours$fhat1, fhat2 = ours$fhat2)
  expect_identical(again[c("chisq", "pvalue", "fhat.diff")], ours[c("chisq", "pvalue", "fhat.diff")])
  # On grids ks leaves out observations beyond `supp`.
  theirs <- ks::kde.local.test(y1, y2, H1 = 0.1 * diag(2), H2 = 0.2 * diag(2), gridsize = c(11, 11), binned = FALSE)
  expect_equal(ours$fhat1$eval.points, theirs$fhat1$eval.points, tolerance = 1e-9)
  expect_equal(as.vector(ours$fhat.diff), as.vector(theirs$fhat.diff), tolerance = 5e-3)
})

test_that("prints are short, and both are drawn", {
  expect_snapshot_output({
    shown(kde.test(x1, x2, h1 = 0.2, h2 = 0.3))
    shown(with_seed(1, kde.test(y1, y2, B = 9)))
    shown(kde.local.test(y1, y2, gridsize = 21))
  })
  expect_gt(drawn(plot(kde.local.test(x1, x2 + 2, gridsize = 21))), 0)
  expect_gt(drawn(plot(kde.local.test(y1, y2, gridsize = 21), col = 2:3)), 0)
})

test_that("mistakes are refused", {
  flat <- kde(y1, H = diag(2), gridsize = 5)
  expect_refused(
    kde.test(x1, y1), kde.test(x1, "a"), kde.test(x1, rep(1, 9)), kde.test(x1, x2, h1 = -1),
    kde.test(x1, x2, h1 = 1, H1 = 1), kde.test(y1, y2, H2 = diag(3)), kde.test(x1, x2, B = -1),
    kde.test(x1, x2, B = 9, psi1 = 2), kde.test(x1, x2, psi1 = NA), kde.test(x1, x2, var.fhat1 = 0),
    kde.test(x1, c(x2, NA)), kde.test(x1, x2, nboot = 9),
    kde.local.test(x1, y1), kde.local.test(x1, x2, mean.adj = NA), kde.local.test(x1, x2, signif.level = 2),
    kde.local.test(x1, x2, min.ESS = -1), kde.local.test(x1, x2, gridsize = 1), kde.local.test(fhat1 = flat),
    kde.local.test(fhat1 = flat, fhat2 = kde(y2, H = diag(2), gridsize = 5)),
    kde.local.test(fhat1 = flat, fhat2 = kde(y2, h = 1, kernel = "uniform", gridsize = 5)),
    kde.local.test(fhat1 = flat, fhat2 = kde(y2, H = diag(2), eval.points = y2)),
    plot(kde.local.test(iris[1:50, 1:3], iris[51:99, 1:3], gridsize = 3))
  )
})
