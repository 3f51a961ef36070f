# dkde, pkde, qkde, rkde.

test_that("dkde is the density at any points, inside the grid and outside", {
  x <- as.matrix(faithful)
  fit <- kde(x, H = Hns(x))
  points <- rbind(c(3, 70), c(-100, 0), c(4.5, 110))
  expect_close_to_reference(dkde(points, fit), reference_density(points, x, Hns(x)))
  line <- kde(x[, 1], h = 0.3, xmin = 2, xmax = 3)
  expect_close_to_reference(dkde(c(1, 2.5, 5), line), reference_density(c(1, 2.5, 5), x[, 1], 0.09))
  expect_gt(dkde(c(4, 85), kde(x, H = Hns(x), eval.points = points)), 0)
})

test_that("pkde is the integral of the estimate, for every kernel, weighted", {
  x <- with_seed(81, c(rnorm(30), 4, 4, 9))
  w <- with_seed(82, runif(33))
  q <- c(-8, -1, -0.3, 0, 0.5, 1.7, 3.9, 4, 4.2, 9.5, 20)
  for (kernel in all_kernels) {
    fit <- kde(x, h = 0.8, w = w, kernel = kernel, compute.cont = FALSE)
    reference <- vapply(q, function(end) sum(w * reference_kernel_cdf((end - x) / 0.8, kernel)) / sum(w), 0)
    expect_close_to_reference(pkde(q, fit), reference, info = kernel)
    density <- function(t) reference_density(t, x, 0.64, w, kernel)
    for (end in c(-0.3, 1.7)) {
      integral <- integrate(density, min(x) - 8, end, subdivisions = 500, rel.tol = 1e-6, stop.on.error = FALSE)$value
      expect_equal(pkde(end, fit), integral, tolerance = 1e-4, info = kernel)
    }
  }
  fit <- kde(x, h = 0.8)
  expect_identical(pkde(c(-Inf, Inf), fit), c(0, 1))
  expect_false(is.unsorted(pkde(seq(-5, 15, 0.01), fit)))
})

test_that("qkde is the inverse of pkde", {
  x <- with_seed(83, rnorm(40))
  w <- with_seed(84, runif(40))
  p <- c(1e-9, 0.001, 0.1, 0.5, 0.9, 0.999, 1 - 1e-9)
  for (kernel in all_kernels) {
    fit <- kde(x, h = 0.5, w = w, kernel = kernel, compute.cont = FALSE)
    expect_equal(pkde(qkde(p, fit), fit), p, tolerance = 1e-11, info = kernel)
    q <- seq(-1, 1, 0.25)
    expect_equal(qkde(pkde(q, fit), fit), q, tolerance = 1e-9, info = kernel)
    expect_false(is.unsorted(qkde(p, fit)))
  }
  gaussian <- kde(x, h = 0.5)
  expect_identical(qkde(c(0, 1), gaussian), c(-Inf, Inf))
  expect_equal(qkde(c(0, 1), kde(x, h = 0.5, kernel = "biweight")), range(x) + c(-0.5, 0.5), tolerance = 1e-12)
  far <- kde(1e9 + x, h = 0.5)
  expect_equal(qkde(0.3, far) - 1e9, qkde(0.3, gaussian), tolerance = 1e-6)
})

test_that("quantiles agree with those of ks within its grid", {
  skip_if_not_installed("ks")
  x <- faithful$eruptions
  p <- c(0.1, 0.25, 0.5, 0.75, 0.9)
  expect_equal(qkde(p, kde(x, h = 0.3)), ks::qkde(p, ks::kde(x, h = 0.3, binned = FALSE)), tolerance = 0.02)
})

test_that("draws have the mean and covariance of the estimate", {
  x <- with_seed(85, matrix(rnorm(300), 100) %*% matrix(c(1, 0.5, 0, 0, 1, 0.2, 0, 0, 2), 3))
  w <- with_seed(86, runif(100))
  H <- 0.4 * (diag(3) + 0.5)
  p <- w / sum(w)
  mean_x <- colSums(p * x)
  cov_x <- crossprod(sqrt(p) * sweep(x, 2, mean_x))
  second_moment <- c(gaussian = 1, epanechnikov = 1 / 7, uniform = 1 / 5, biweight = 1 / 9) # of radial kernels, d = 3
  for (kernel in names(second_moment)) {
    fit <- kde(x, H = H, w = w, kernel = kernel, eval.points = x[1:2, ])
    draws <- with_seed(87, rkde(40000, fit))
    expect_identical(dim(draws), c(40000L, 3L))
    covariance <- cov_x + second_moment[[kernel]] * H
    expect_lt(max(abs(colMeans(draws) - mean_x) / sqrt(diag(covariance) / 40000)), 4)
    expect_lt(relative_difference(var(draws), covariance), 0.03)
  }
})

test_that("draws in one dimension follow pkde", {
  x <- with_seed(88, c(rnorm(30), 5))
  w <- rep(c(1, 8), c(30, 1))
  for (kernel in all_kernels) {
    fit <- kde(x, h = 0.7, w = w, kernel = kernel, compute.cont = FALSE)
    draws <- with_seed(89, rkde(5000, fit))
    expect_true(is.vector(draws))
    expect_gt(ks.test(draws, pkde, fhat = fit)$p.value, 1e-3)
  }
})

test_that("the radius of a draw has the kernel's law, in a direction that is uniform", {
  for (kernel in all_kernels) for (d in c(2, 5)) {
    H <- diag(d) + 0.4
    fit <- kde(matrix(3, 1, d), H = H, kernel = kernel, eval.points = matrix(3, 1, d))
    draws <- with_seed(90 + d, rkde(3000, fit))
    z <- t(forwardsolve(root_of(H), t(draws) - 3))
    radius <- sqrt(rowSums(z^2))
    constant <- exp(reference_log_constant(kernel, d) + log(d) + d / 2 * log(pi) - lgamma(d / 2 + 1))
    slope <- function(s) constant * s^(d - 1) * reference_shape(kernel, s)
    up_to <- function(end) integrate(slope, 0, end, rel.tol = 1e-9)$value
    law <- function(r) vapply(pmin(r, if (kernel == "gaussian") Inf else 1), up_to, 0)
    grid <- seq(0, max(radius), length.out = 400) # evaluate the law once, not at every draw
    expect_gt(ks.test(radius, approxfun(grid, law(grid), rule = 2))$p.value, 1e-3)
    if (kernel != "gaussian") expect_lt(max(radius), 1 + 1e-12)
    # a coordinate of a uniform direction squared is Beta(1/2, (d-1)/2)
    expect_gt(ks.test((z[, 1] / radius)^2, "pbeta", 0.5, (d - 1) / 2)$p.value, 1e-3)
    expect_gt(binom.test(sum(z[, d] > 0), 3000)$p.value, 1e-3)
  }
})

test_that("draws of product kernels have the law of one dimension on every axis", {
  fit <- kde(matrix(0, 1, 2), H = diag(c(4, 0.25)), kernel = "triweight", kernel_type = "product",
             eval.points = matrix(0, 1, 2))
  draws <- with_seed(93, rkde(4000, fit))
  law <- function(u) reference_kernel_cdf(u, "triweight")
  expect_gt(ks.test(draws[, 1] / 2, law)$p.value, 1e-3)
  expect_gt(ks.test(draws[, 2] / 0.5, law)$p.value, 1e-3)
  expect_lt(abs(cor(draws[, 1]^2, draws[, 2]^2)), 0.06)
})

test_that("everything is taken back to the positive half line and the unit interval", {
  x <- with_seed(94, rexp(60))
  fit <- kde(x, h = 0.4, positive = TRUE, adj.positive = 0)
  q <- c(0.05, 0.5, 2)
  expect_close_to_reference(pkde(q, fit), vapply(q, function(end) mean(pnorm((log(end) - log(x)) / 0.4)), 0))
  expect_identical(pkde(c(-1, 0), fit), c(0, 0))
  expect_equal(pkde(qkde(c(0.1, 0.6), fit), fit), c(0.1, 0.6), tolerance = 1e-11)
  draws <- with_seed(95, rkde(3000, fit))
  expect_gt(min(draws), 0)
  expect_gt(ks.test(draws, pkde, fhat = fit)$p.value, 1e-3)
  unit <- kde(with_seed(96, rbeta(50, 2, 5)), h = 0.3, unit.interval = TRUE)
  draws <- with_seed(97, rkde(3000, unit))
  expect_true(all(draws > 0 & draws < 1))
  expect_gt(ks.test(draws, pkde, fhat = unit)$p.value, 1e-3)
})

test_that("the same seed gives the same draws", {
  fit <- kde(faithful, H = Hns(faithful))
  expect_identical(with_seed(1, rkde(10, fit)), with_seed(1, rkde(10, fit)))
  expect_false(identical(with_seed(1, rkde(10, fit)), with_seed(2, rkde(10, fit))))
})

test_that("draws are those of R's own functions, on any number of threads", {
  x <- with_seed(98, matrix(rnorm(20), 10))
  H <- matrix(c(1, 0.5, 0.5, 1), 2)
  lower <- root_of(H)
  n <- 2.5 * part_size
  at_once <- function(normal, rows, root = lower) {
    x[rows, ] + cbind(normal[, 1] * root[1, 1] + normal[, 2] * root[1, 2],
                      normal[, 1] * root[2, 1] + normal[, 2] * root[2, 2])
  }
  rows_of <- function(fit) sample.int(10, n, replace = TRUE, prob = fit$w)
  radial <- function(radius) {
    function() {
      normal <- matrix(rnorm(2 * n), ncol = 2)
      normal / sqrt(rowSums(normal^2)) * radius()
    }
  }
  noise <- list(gaussian = function() matrix(rnorm(2 * n), ncol = 2, byrow = TRUE),
                epanechnikov = radial(function() sqrt(rbeta(n, 1, 2))),
                triangular = radial(function() rbeta(n, 2, 2)),
                tricube = radial(function() rbeta(n, 2 / 3, 4)^(1 / 3)))
  for (kernel in names(noise)) {
    fit <- kde(x, H = H, kernel = kernel, eval.points = x)
    draws <- with_seed(99, rkde(n, fit))
    expect_same_bits(draws, with_seed(99, {
      rows <- rows_of(fit)
      at_once(noise[[kernel]](), rows, if (kernel == "gaussian") matrix_root(H) else lower)
    }), kernel)
    for (threads in 2:3) {
      before <- kestrel_threads(threads)
      expect_same_bits(with_seed(99, rkde(n, fit)), draws, kernel)
      kestrel_threads(before)
    }
  }
  line <- kde(x[, 1], h = 0.4, kernel = "biweight", eval.points = 0)
  expect_same_bits(with_seed(99, rkde(n, line)), with_seed(99, {
    rows <- rows_of(line)
    x[rows, 1] + sign(rnorm(n)) * sqrt(rbeta(n, 0.5, 3)) * 0.4
  }))
})

test_that("rows are drawn as sample.int() does, with one look at the weights", {
  for (w in list(ones_cpp(1000), rep(1, 1000), with_seed(101, runif(1000, 0.2, 3)), rep(c(0, 5, 1), 400))) {
    drawn <- with_seed(102, drawn_rows(2e5, w))
    expect_identical(drawn, with_seed(102, sample.int(length(w), 2e5, replace = TRUE, prob = w)))
  }
  x <- with_seed(103, rnorm(2.5 * part_size))
  fit <- kde(x, h = 0.1, eval.points = 0)
  expect_length(traced("drawn_rows_cpp", TRUE, rkde(3 * part_size, fit)), 1)
})

test_that("the distribution function of many observations is theirs, one by one, on any number of threads", {
  x <- with_seed(104, c(rnorm(2e5), 1e6))
  w <- rep(c(1, 0.3, 2), length.out = length(x))
  q <- c(-Inf, -4, -1, 0.01, 2, 1e5, 1e6, Inf)
  p <- c(0, 0.001, 0.4, 0.99, 1)
  for (kernel in c("gaussian", "epanechnikov")) {
    fit <- kde(x, h = 0.1, w = w, kernel = kernel, eval.points = 0)
    law <- if (kernel == "gaussian") pnorm else function(u) pbeta((1 + u) / 2, 2, 2)
    value <- pkde(q, fit)
    expect_close_to_reference(value, vapply(q, function(t) sum(w * law((t - x) / 0.1)) / sum(w), 0))
    quantile <- qkde(p, fit)
    expect_equal(pkde(quantile, fit), p, tolerance = 1e-14)
    threads <- kestrel_threads(3)
    expect_same_bits(c(pkde(q, fit), qkde(p, fit)), c(value, quantile))
    kestrel_threads(1)
    expect_same_bits(c(pkde(q, fit), qkde(p, fit)), c(value, quantile))
    kestrel_threads(threads)
  }
})
