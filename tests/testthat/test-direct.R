# The direct engine against the oracle: every instruction set, every kernel, every awkward shape, one to three threads.

engine_problems <- function(s, kernel, product, isas = isa_available_cpp()) {
  label <- paste(s$name, kernel, if (product) "product" else "radial", sep = ", ")
  reference <- reference_sums(s$points, s$x, s$w, shape_H(s, kernel), kernel, product)
  lapply(isas, function(isa) {
    one <- shape_density(s, kernel, product, threads = 1L, isa = isa)
    many <- lapply(2:3, function(threads) {
      bits_problem(shape_density(s, kernel, product, threads, isa), one, info = paste(label, isa, threads, sep = ", "))
    })
    list(reference_problem(one, reference, info = paste(label, isa, sep = ", ")), many)
  })
}

expect_engine_is_reference <- function(s, product) {
  expect_no_problem(lapply(all_kernels, engine_problems, s = s, product = product))
}

test_that("the instruction sets known here are there, scalar always, and can be asked for by name", {
  expect_true("scalar" %in% isa_available_cpp())
  expect_true(all(isa_available_cpp() %in% c("scalar", "sse2", "avx2", "avx512")))
  for (isa in isa_available_cpp()) expect_identical(isa_used_cpp(isa), isa)
  expect_true(isa_used_cpp("auto") %in% isa_available_cpp())
  expect_error(isa_used_cpp("mmx"), "mmx")
})

test_that("every radial kernel is within 1e-12 of the reference on every shape, and no thread changes a bit", {
  for (s in all_shapes()) expect_engine_is_reference(s, product = FALSE)
})

test_that("every product kernel is within 1e-12 of the reference where H is diagonal", {
  shapes <- Filter(function(s) ncol(s$x) > 1 && is_diagonal(s$H), all_shapes())
  expect_gt(length(shapes), 15)
  for (s in shapes) expect_engine_is_reference(s, product = TRUE)
})

test_that("in one dimension a product kernel is the radial one", {
  s <- with_seed(1, normal_shape(100, 50))
  for (kernel in all_kernels) {
    radial <- shape_density(s, kernel)
    expect_close_to_reference(shape_density(s, kernel, product = TRUE), radial, info = kernel)
  }
})

test_that("for the Gaussian kernel product and radial are the same function", {
  s <- with_seed(2, normal_shape(100, 50, d = 3))
  expect_close_to_reference(shape_density(s, product = TRUE), shape_density(s))
})

test_that("a grid gives the sums at its points, first axis fastest", {
  set.seed(3)
  for (d in c(1, 2, 3, 4)) {
    x <- matrix(rnorm(90 * d), 90)
    axes <- lapply(seq_len(d), function(k) seq(-2, 2, length.out = c(301, 23, 9, 5)[d] + k))
    points <- unname(as.matrix(expand.grid(axes)))
    w <- runif(90)
    H <- 0.2 * (diag(d) + 0.3)
    for (kernel in c("gaussian", "epanechnikov", "uniform")) {
      grid <- density_grid_cpp(x, w, axes, root_of(H), kernel, FALSE, "direct", 1L, "auto", NULL)
      expect_close_to_reference(grid, reference_sums(points, x, w, H, kernel), info = paste(d, kernel))
      expect_same_bits(density_grid_cpp(x, w, axes, root_of(H), kernel, FALSE, "direct", 2L, "auto", NULL), grid)
    }
  }
})

test_that("axes may be uneven, of one point, or in falling order", {
  set.seed(4)
  x <- matrix(rnorm(60), 30)
  axes <- list(c(2, 0.1, -1.5, 1e4), 0.3)
  grid <- density_grid_cpp(x, rep(1, 30), axes, root_of(diag(2)), "gaussian", FALSE, "direct", 1L, "auto", NULL)
  expect_close_to_reference(grid, reference_sums(expand.grid(axes), x, rep(1, 30), diag(2)))
})

test_that("no point, or weights of zero alone, give nothing", {
  x <- matrix(rnorm(20), 10)
  expect_identical(density_points_cpp(x, rep(1, 10), matrix(0, 0, 2), diag(2), "gaussian", FALSE, "direct", 1L, "auto",
                                      NULL),
                   numeric(0))
  nothing <- density_points_cpp(x, rep(0, 10), x, diag(2), "gaussian", FALSE, "direct", 1L, "auto", NULL)
  expect_identical(nothing, rep(0, 10))
})

test_that("a huge normalising constant is not an overflow where the sums are small", {
  x <- matrix(with_seed(5, rnorm(62 * 20)), 20)
  H <- 1e-12 * diag(62) # |H|^-1/2 = 1e372
  points <- x + 6.2e-6  # r^2 = 62 * 6.2^2 = 2383, exp(-r^2/2) = 1e-518
  log_value <- -62 / 2 * log(2 * pi) + 62 * log(1e6) - 62 * 6.2^2 / 2
  actual <- density_points_cpp(x, rep(1, 20), points, root_of(H), "gaussian", FALSE, "direct", 1L, "auto", NULL)
  expect_true(all(actual == 0 | abs(log(actual) - log_value) < 1e-6))
  expect_true(all(is.finite(actual)))
})

test_that("a case large enough runs on the threads it asks for", {
  s <- with_seed(6, normal_shape(20000, 3000))
  one <- shape_density(s, threads = 1L)
  expect_identical(threads_last_used_cpp(), 1L)
  for (threads in 2:3) {
    expect_same_bits(shape_density(s, threads = threads), one)
    expect_threads_used(function() shape_density(s, threads = threads), threads)
  }
  expect_close_to_reference(one[1:20], reference_sums(s$points[1:20, , drop = FALSE], s$x, s$w, s$H))
})

test_that("sizes that do not match and product kernels with a full H are errors, not answers", {
  x <- matrix(rnorm(20), 10)
  sums <- function(w = rep(1, 10), points = x, root = diag(2), product = FALSE, kernel = "gaussian") {
    density_points_cpp(x, w, points, root, kernel, product, "direct", 1L, "auto", NULL)
  }
  expect_error(sums(w = rep(1, 9)), "9 weights")
  expect_error(sums(points = matrix(0, 1, 3)), "3")
  expect_error(sums(root = diag(3)))
  expect_error(sums(root = diag(c(1, 0))))
  expect_error(sums(root = matrix(c(1, 0.5, 0, 1), 2), product = TRUE, kernel = "epanechnikov"), "product|diagonal")
  expect_error(sums(kernel = "box"), "box")
})

test_that("a sample that is long beside a strongly correlated bandwidth loses nothing", {
  # Whitened coordinates are differences of terms 1 / sqrt(1 - rho^2) as large; the sample is 120 bandwidths long. The
  # reference solves for the differences, which are small wherever the kernel is not zero.
  for (rho in c(0.9, 0.9999, 0.999999)) {
    root <- root_of(matrix(c(1, rho, rho, 1), 2))
    x <- with_seed(31, t(root %*% matrix(rnorm(4000), 2)) + runif(2000, 0, 120))
    points <- x[1:300, ]
    reference <- vapply(seq_len(nrow(points)), function(i) {
      u <- forwardsolve(root, points[i, ] - t(x))
      sum(exp(-colSums(u^2) / 2))
    }, 0) / (2 * pi * prod(diag(root)))
    for (isa in isa_available_cpp()) {
      sums <- density_points_cpp(x, rep(1, 2000), points, root, "gaussian", FALSE, "direct", 2L, isa, NULL)
      expect_close_to_reference(sums, reference)
    }
  }
})
