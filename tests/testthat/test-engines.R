# The engines of one dimension against the oracle, and kde() through each of them.

line_shapes <- function() Filter(function(s) ncol(s$x) == 1, all_shapes())

# The fgt engine keeps its error bound if some point is within 8 bandwidths of a sample; if all are farther away it may
# give zero.
in_reach <- function(s, kernel) {
  kernel != "gaussian" || min(abs(outer(s$points[, 1], s$x[s$w > 0, 1], `-`))) < 8 * sqrt(shape_H(s, kernel)[1, 1])
}

engines_of <- function(kernel) {
  if (kernel == "gaussian") "fgt" else if (kernel %in% polynomial_kernels()) "sweep" else character(0)
}

test_that("sweep and fgt are within 1e-12 of the largest value, on every shape, ISA and number of threads", {
  for (s in line_shapes()) for (kernel in Filter(function(k) in_reach(s, k), setdiff(all_kernels, "cosine"))) {
    reference <- reference_sums(s$points, s$x, s$w, shape_H(s, kernel), kernel)
    sums <- function(threads, isa) {
      shape_density(s, kernel, threads = threads, isa = isa, engine = engines_of(kernel))
    }
    expect_no_problem(lapply(instruction_sets(), function(isa) {
      one <- sums(1L, isa)
      info <- paste(s$name, kernel, isa)
      # Two or three threads, in turn.
      c(reference_problem(one, reference, info = info),
        bits_problem(sums(2L + match(kernel, all_kernels) %% 2L, isa), one, info))
    }))
  }
})

test_that("every value of the sweep has its own digits, and is zero exactly where no sample is within reach", {
  x <- with_seed(61, c(rnorm(300), 1e6, 1e6 + 3e-5, 5))
  points <- with_seed(62, c(x, rnorm(100), 1e6 + 5e-5, 4.93, 6.5))
  for (kernel in polynomial_kernels()) for (h in c(1e-4, 0.1, 3, 1e7)) {
    reference <- reference_sums(points, x, rep(1, length(x)), h^2, kernel)
    sums <- shape_density(shape("", x, h^2, points, exact = TRUE), kernel, engine = "sweep")
    expect_identical(sums == 0, reference == 0)
    expect_lt(max(abs(sums / reference - 1)[reference > 0]), 1e-9) # 1 - u is rounded where u is near 1, in R too
  }
})

test_that("fgt keeps the digits of the tails up to 8 bandwidths from the data", {
  x <- with_seed(63, c(rnorm(500), rcauchy(20), 1e6))
  h <- 0.2
  points <- c(x, x + 7.99 * h, x - 7.99 * h, x + 3 * h)
  reference <- reference_sums(points, x, rep(1, length(x)), h^2)
  sums <- shape_density(shape("", x, h^2, points), engine = "fgt")
  expect_lt(max(abs(sums / reference - 1)), 1e-12)
})

test_that("kde() takes the engine that is asked for, records it, and all agree", {
  x <- with_seed(64, rexp(3000))
  w <- with_seed(65, runif(3000))
  for (kernel in setdiff(all_kernels, "cosine")) {
    direct <- kde(x, h = 0.1, w = w, kernel = kernel, engine = "direct")
    linear <- kde(x, h = 0.1, w = w, kernel = kernel, engine = engines_of(kernel))
    expect_identical(direct$engine, "direct")
    expect_identical(linear$engine, engines_of(kernel))
    expect_close_to_reference(linear$estimate, direct$estimate)
    expect_close_to_reference(predict(linear, x = x[1:50]), predict(direct, x = x[1:50]))
  }
  expect_identical(kde(rep(x, 20), h = 0.1)$engine, "fgt")
  expect_identical(kde(rep(x, 20), h = 0.1, kernel = "biweight", eval.points = x)$engine, "sweep")
  expect_identical(kde(x[1:30], h = 0.1)$engine, "direct")
  positive <- kde(x, h = 0.3, positive = TRUE, adj.positive = 0, engine = "fgt")
  expect_close_to_reference(positive$estimate,
                            kde(x, h = 0.3, positive = TRUE, adj.positive = 0, engine = "direct")$estimate)
})

test_that("an engine that does not take the task is refused", {
  expect_refused(
    kde(faithful, H = diag(2), engine = "fgt"),
    kde(faithful$waiting, h = 1, kernel = "epanechnikov", engine = "fgt"),
    kde(faithful$waiting, h = 1, engine = "sweep"),
    kde(faithful$waiting, h = 1, kernel = "cosine", engine = "sweep"),
    kde(faithful$waiting, h = 1, engine = "fourier"),
    kde(iris[1:4], h = 1, engine = "fourier"),
    kde(faithful, h = 1, kernel = "biweight", engine = "fourier"),
    kde(faithful, H = diag(2), engine = "kdtree"),
    # by their former names
    kde(faithful$waiting, h = 1, engine = "cells"),
    kde(faithful, h = 1, kernel = "biweight", engine = "runs")
  )
})

test_that("a density integrates to one and adds up over samples, by every engine", {
  x <- with_seed(66, rnorm(400))
  grid <- seq(-9, 9, length.out = 4001)
  for (kernel in c("gaussian", polynomial_kernels())) {
    f <- function(x) kde(x, h = 0.5, eval.points = grid, kernel = kernel, engine = engines_of(kernel))$estimate
    whole <- f(x)
    expect_equal(sum(whole) * (grid[2] - grid[1]), 1, tolerance = if (kernel == "uniform") 5e-3 else 1e-5)
    expect_close_to_reference((100 * f(x[1:100]) + 300 * f(x[101:400])) / 400, whole)
    expect_close_to_reference(f(rev(x)), whole)
    expect_close_to_reference(rev(f(-x)), whole)
  }
})

test_that("kde() takes trees for compact kernels at scattered points, where most of them are out of reach", {
  x <- with_seed(67, matrix(rnorm(40000), ncol = 2L))
  at <- with_seed(68, matrix(rnorm(40000), ncol = 2L))
  w <- with_seed(69, runif(nrow(x)))
  fit <- function(h, engine = "auto", kernel = "triangular", ..., points = at) {
    kde(x, H = diag(h^2, 2), w = w, eval.points = points, kernel = kernel, engine = engine, ...)
  }
  for (type in c("radial", "product")) for (kernel in c("epanechnikov", "uniform", "cosine")) {
    by_tree <- fit(0.2, kernel = kernel, kernel_type = type)
    expect_identical(by_tree$engine, "kdtree")
    direct <- fit(0.2, "direct", kernel, kernel_type = type, points = at[1:3000, ])
    expect_close_to_reference(by_tree$estimate[1:3000], direct$estimate)
    expect_identical(fit(0.2, kernel = kernel, kernel_type = type, threads = 3)$estimate, by_tree$estimate)
  }
  expect_identical(fit(100)$engine, "direct") # nothing is skipped
  expect_identical(kde(x[1:50, ], H = diag(2), eval.points = at[1:50, ], kernel = "biweight")$engine, "direct")
  irregular <- kde(x, H = diag(0.04, 2), kernel = "biweight", xmin = c(0.1, 0.1), gridtype = "sqrt")
  expect_identical(irregular$engine, "kdtree")
})
