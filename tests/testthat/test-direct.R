# The direct engine against the oracle: every instruction set, every kernel, every awkward shape, one to three threads.

engine_problems <- function(s, kernel, product, isas = instruction_sets()) {
  label <- paste(s$name, kernel, if (product) "product" else "radial", sep = ", ")
  reference <- reference_sums(s$points, s$x, s$w, shape_H(s, kernel), kernel, product)
  lapply(isas, function(isa) {
    one <- shape_density(s, kernel, product, threads = 1L, isa = isa)
    # Two or three, in turn.
    threads <- 2L + match(kernel, all_kernels) %% 2L
    many <- shape_density(s, kernel, product, threads, isa)
    list(reference_problem(one, reference, info = paste(label, isa, sep = ", ")),
         bits_problem(many, one, info = paste(label, isa, threads, sep = ", ")))
  })
}

expect_engine_is_reference <- function(s, product) {
  expect_no_problem(lapply(all_kernels, engine_problems, s = s, product = product))
}

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
    w <- runif(90)
    H <- 0.2 * (diag(d) + 0.3)
    for (kernel in c("gaussian", "epanechnikov", "uniform")) {
      on_grid <- function(threads) {
        kde(x, H = H, w = w, kernel = kernel, gridsize = c(301, 23, 9, 5)[d] + seq_len(d), xmin = rep(-2, d),
            xmax = rep(2, d), engine = "direct", threads = threads, compute.cont = FALSE)
      }
      grid <- on_grid(1)
      points <- unname(as.matrix(expand.grid(axes_of(grid))))
      expect_close_to_reference(sum(w) * grid$estimate, reference_sums(points, x, w, H, kernel),
                                info = paste(d, kernel))
      expect_same_bits(on_grid(2)$estimate, grid$estimate)
    }
  }
})

test_that("a sample that is long beside a strongly correlated bandwidth loses nothing", {
  # Whitened coordinates are differences of terms that are 1 / sqrt(1 - rho^2) times as large; the sample extends over
  # 120 bandwidths. The reference solves for the differences, which are small wherever the kernel is not zero.
  for (rho in c(0.9, 0.9999, 0.999999)) {
    H <- matrix(c(1, rho, rho, 1), 2)
    root <- rbind(c(1, 0), c(rho, sqrt((1 - rho) * (1 + rho))))
    x <- with_seed(31, t(root %*% matrix(rnorm(4000), 2)) + runif(2000, 0, 120))
    points <- x[1:300, ]
    reference <- vapply(seq_len(nrow(points)), function(i) {
      u <- forwardsolve(root, points[i, ] - t(x))
      sum(exp(-colSums(u^2) / 2))
    }, 0) / (2 * pi * prod(diag(root)))
    s <- shape("", x, H, points)
    for (isa in instruction_sets()) expect_close_to_reference(shape_density(s, threads = 2L, isa = isa), reference)
  }
})
