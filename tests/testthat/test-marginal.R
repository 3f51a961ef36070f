# marginal(): exact if the kernel's marginal is a kernel, otherwise the integral over the grid.

test_that("the marginal of a Gaussian estimate is the estimate of the columns kept", {
  x <- as.matrix(iris[1:70, 1:3])
  fit <- kde(x, H = Hns(x), gridsize = c(7, 8, 9), w = rep(1:2, 35))
  for (dims in list(1, 3, c(1, 2), c(3, 1))) {
    result <- marginal(fit, dims)
    axes <- fit$eval.points[dims]
    reference <- reference_density(expand.grid(axes), x[, dims, drop = FALSE], Hns(x)[dims, dims, drop = FALSE],
                                   rep(1:2, 35))
    expect_close_to_reference(as.vector(result$estimate), reference)
    expect_identical(result$names, colnames(x)[dims])
    expect_s3_class(result, c("kestrel_kde", "kde"), exact = TRUE)
    expect_identical(result$w, fit$w)
    if (length(dims) == 1) expect_equal(result$h, sqrt(Hns(x)[dims, dims]), tolerance = 1e-14)
    if (length(dims) == 2) expect_identical(dim(result$estimate), lengths(axes))
  }
  by_name <- marginal(fit, c("Petal.Length", "Sepal.Length"))
  expect_identical(by_name$estimate, marginal(fit, c(3, 1))$estimate)
  expect_close_to_reference(predict(by_name, newdata = c(1.4, 5)),
                            reference_density(cbind(1.4, 5), x[, c(3, 1)], Hns(x)[c(3, 1), c(3, 1)], rep(1:2, 35)))
})

test_that("it is also what integrating the grid gives", {
  x <- as.matrix(faithful)
  fit <- kde(x, H = Hns(x), supp = 6, gridsize = c(201, 301))
  step <- diff(fit$eval.points[[2]][1:2])
  expect_close_to_reference(marginal(fit, 1)$estimate, rowSums(fit$estimate) * step, tol = 1e-7)
})

test_that("product kernels keep the columns' own kernels", {
  x <- as.matrix(faithful)
  H <- diag(c(0.3, 30))
  fit <- kde(x, H = H, kernel = "epanechnikov", kernel_type = "product", gridsize = 30)
  expect_close_to_reference(marginal(fit, 2)$estimate,
                            reference_density(fit$eval.points[[2]], x[, 2], 30, kernel = "epanechnikov"))
})

test_that("a radial compact kernel is integrated over the axes left out", {
  x <- with_seed(101, matrix(rnorm(60), 20))
  fit <- kde(x, H = 2 * diag(3), kernel = "biweight", gridsize = c(61, 62, 63))
  result <- marginal(fit, 2)
  step <- vapply(fit$eval.points, function(axis) diff(axis[1:2]), 0)
  expect_equal(as.vector(result$estimate), apply(fit$estimate, 2, sum) * step[1] * step[3], tolerance = 1e-12)
  expect_equal(sum(result$estimate) * step[2], 1, tolerance = 1e-3)
  swapped <- marginal(fit, c(3, 1))
  expect_equal(swapped$estimate, t(apply(fit$estimate, c(1, 3), sum)) * step[2], tolerance = 1e-12)
  expect_error(predict(result, 0), class = "kestrel_error_input")
  at_points <- kde(x, H = 2 * diag(3), kernel = "biweight", eval.points = x)
  expect_error(marginal(at_points, 1), "grid", class = "kestrel_error_input")
})

test_that("all variables in another order are the same density", {
  x <- as.matrix(faithful)
  fit <- kde(x, H = Hns(x), gridsize = c(11, 12))
  expect_close_to_reference(marginal(fit, 2:1)$estimate, t(fit$estimate))
  radial <- kde(x, H = Hns(x), gridsize = c(11, 12), kernel = "epanechnikov")
  expect_close_to_reference(marginal(radial, 2:1)$estimate, t(radial$estimate))
})

test_that("at points, the marginal is at their columns", {
  x <- as.matrix(faithful)
  fit <- kde(x, H = Hns(x), eval.points = x[1:5, ])
  expect_close_to_reference(marginal(fit, 2)$estimate, reference_density(x[1:5, 2], x[, 2], Hns(x)[2, 2]))
})

test_that("all variables of a marginal that was integrated may be taken in another order, too", {
  fit <- marginal(kde(iris[, 1:3], kernel = "epanechnikov", gridsize = 15), c(1, 3))
  turned <- marginal(fit, 2:1)
  expect_identical(turned$estimate, t(fit$estimate))
  expect_identical(turned$names, rev(fit$names))
  expect_identical(turned$kernel_type, "integrated")
  expect_identical(marginal(marginal(fit, 1), 1)$estimate, marginal(fit, 1)$estimate)
})

test_that("a marginal of a grid that has data beyond it takes its contours from the grid", {
  fit <- kde(faithful, kernel = "epanechnikov", xmin = c(2, 50), xmax = c(4, 80), gridsize = 30)
  part <- marginal(fit, 1)
  levels <- contourLevels(part, prob = c(0.25, 0.5))
  expect_identical(levels, grid_levels(list(part$eval.points), part$estimate, c(0.25, 0.5)))
  expect_true(all(levels > 0 & levels < max(part$estimate)))
  expect_s3_class(summary(part), "summary.kestrel_kde")
  expect_error(contourLevels(part, prob = 0.5, approx = FALSE), "integrated", class = "kestrel_error_input")
})

test_that("an integral is the CPU's, wherever the estimate is from", {
  fhat <- kde(faithful, kernel = "epanechnikov", gridsize = 20)
  fhat$backend <- "cuda"
  fhat$device <- "some"
  fhat$precision <- "single"
  part <- marginal(fhat, 1)
  expect_identical(part[c("backend", "precision")], list(backend = "cpu", precision = "double"))
  expect_null(part$device)
})
