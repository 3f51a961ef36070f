# Sums over all pairs i < j against the oracle, every instruction set and one to three threads.

# engine(threads, isa) gives a number for each element of the list `terms`, whose sums are the reference; the error is
# measured against the sum of the absolute terms.
pair_problems <- function(engine, terms, info) {
  scale <- vapply(terms, function(t) max(sum(abs(t)), .Machine$double.xmin), 0)
  reference <- vapply(terms, sum, 0)
  lapply(isa_available_cpp(), function(isa) {
    one <- engine(1L, isa)
    many <- lapply(2:3, function(threads) bits_problem(engine(threads, isa), one, paste(info, isa, threads)))
    list(reference_problem(one / scale, reference / scale, scale = 1, info = paste(info, isa)), many)
  })
}

test_that("pair sums of every kernel, radial and product, are within 1e-12 of the reference", {
  for (s in pair_shapes()) {
    types <- c(FALSE, if (ncol(s$x) > 1 && is_diagonal(s$H)) TRUE)
    pairs <- reference_pairs(s$x, s$w)
    for (product in types) expect_no_problem(lapply(all_kernels, function(kernel) {
      H <- shape_H(s, kernel)
      engine <- function(threads, isa) pair_sum_cpp(s$x, s$w, root_of(H), kernel, product, threads, isa, NULL)
      terms <- pairs$w * reference_kernel(pairs$u, H, kernel, product)
      pair_problems(engine, list(terms), paste(s$name, kernel, product))
    }))
  }
})

test_that("the sum over pairs and the sums at the sample points are the same numbers", {
  s <- with_seed(11, normal_shape(700, 1, d = 2))
  for (kernel in all_kernels) {
    root <- root_of(shape_H(s, kernel))
    at_samples <- density_points_cpp(s$x, s$w, s$x, root, kernel, FALSE, "direct", 1L, "auto", NULL)
    first <- s$x[1, , drop = FALSE]
    at_zero <- density_points_cpp(first, 1, first, root, kernel, FALSE, "direct", 1L, "auto", NULL)
    both <- 2 * pair_sum_cpp(s$x, s$w, root, kernel, FALSE, 1L, "auto", NULL) + at_zero * sum(s$w^2)
    expect_close_to_reference(sum(s$w * at_samples), both, info = kernel)
  }
})

test_that("iterated Laplacians are within 1e-12 of the sum of their absolute terms", {
  shapes <- Filter(function(s) s$H[1, 1] > 1e-150 && s$H[1, 1] < 1e100 && nrow(s$x) < 600, all_shapes())
  for (s in shapes) expect_no_problem(lapply(c(0L, 2L, 4L, 6L, 8L), function(order) {
    g <- sqrt(exp(mean(log(diag(s$H)))))
    engine <- function(threads, isa) pair_laplacian_cpp(s$x, s$w, g, order, threads, isa, NULL)
    pair_problems(engine, list(reference_laplacian_terms(s$x, s$w, g, order)), paste(s$name, "order", order))
  }))
})

test_that("in one dimension they are the derivatives of the kernel", {
  x <- with_seed(12, rnorm(300))
  for (order in c(4L, 6L)) {
    psi <- reference_psi(x, rep(1, 300), 0.4, order)
    at_zero <- c(3, -15)[order / 2 - 1] / sqrt(2 * pi) / 0.4^(order + 1)
    sums <- 2 * pair_laplacian_cpp(as.matrix(x), rep(1, 300), 0.4, order, 1L, "auto", NULL) + 300 * at_zero
    expect_close_to_reference(sums / 300^2, psi)
  }
})

test_that("pair moments are within 1e-12, under the names of their multi-indices", {
  shapes <- Filter(function(s) nrow(s$x) %in% c(1, 2, 41, 67, 257, 513) && ncol(s$x) <= 6, all_shapes())
  expect_gt(length(shapes), 8)
  for (s in shapes) {
    order <- if (ncol(s$x) <= 3) 8L else 4L
    g <- sqrt(s$H[1, 1])
    terms <- reference_moment_terms(s$x, s$w, g, order)
    expect_setequal(names(pair_moments_cpp(s$x, s$w, g, order, 1L, "auto", NULL)), names(terms))
    engine <- function(threads, isa) pair_moments_cpp(s$x, s$w, g, order, threads, isa, NULL)[names(terms)]
    expect_no_problem(pair_problems(engine, terms, s$name))
  }
})

test_that("moments of many dimensions have every multi-index once", {
  x <- with_seed(13, matrix(rnorm(12 * 16), 12))
  moments <- pair_moments_cpp(x, rep(1, 12), 2, 4L, 1L, "auto", NULL)
  expect_length(moments, 1 + choose(17, 2) + choose(19, 4))
  expect_identical(anyDuplicated(names(moments)), 0L)
  terms <- reference_moment_terms(x[, 1:2], rep(1, 12), 2, 0) # the last axes only change the Gaussian factor
  expect_close_to_reference(moments[[1]], sum(reference_moment_terms(x, rep(1, 12), 2, 0)[[1]]))
  expect_lt(moments[[1]], sum(terms[[1]]))
})

test_that("fewer than two samples have no pairs", {
  for (n in 0:1) {
    x <- matrix(0.5, n, 2)
    expect_identical(pair_sum_cpp(x, rep(1, n), diag(2), "gaussian", FALSE, 1L, "auto", NULL), 0)
    expect_identical(pair_laplacian_cpp(x, rep(1, n), 1, 4L, 1L, "auto", NULL), 0)
    expect_true(all(pair_moments_cpp(x, rep(1, n), 1, 4L, 1L, "auto", NULL) == 0))
  }
})

test_that("an odd or too high order and a g that is not positive are errors", {
  x <- matrix(rnorm(10))
  expect_error(pair_laplacian_cpp(x, rep(1, 10), 1, 3L, 1L, "auto", NULL))
  expect_error(pair_laplacian_cpp(x, rep(1, 10), 1, 12L, 1L, "auto", NULL))
  expect_error(pair_laplacian_cpp(x, rep(1, 10), 0, 4L, 1L, "auto", NULL))
  expect_error(pair_moments_cpp(x, rep(1, 10), -1, 4L, 1L, "auto", NULL))
})
