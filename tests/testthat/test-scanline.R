# Densities with compact kernels on regular grids: the engine "scanline" through kde().

correlated <- function(n, d, correlation = 0.5, seed = 81) {
  root <- chol(diag(1 - correlation, d) + correlation)
  with_seed(seed, matrix(rnorm(n * d), n)) %*% root
}

grid_points <- function(fhat) as.matrix(expand.grid(axes_of(fhat)))

scanline_kde <- function(x, ..., engine = "scanline") {
  kde(x, ..., kernel = "epanechnikov", engine = engine, compute.cont = FALSE)
}

test_that("grids take it, and it agrees with plain sums point by point", {
  weights <- list(even = function(n) NULL, two = function(n) rep(c(1, 1 / 3), length.out = n),
                  wild = function(n) with_seed(82, exp(3 * rnorm(n))),
                  some = function(n) rep(c(0, 0, 1), length.out = n))
  sizes <- list(401, c(23, 31), c(9, 14, 11), c(7, 5, 6, 8), rep(4, 5), rep(3, 6))
  for (d in 1:6) for (name in names(weights)) {
    x <- correlated(300, d, if (d == 2) 0.99 else 0.4)
    fhat <- suppressWarnings(scanline_kde(x, gridsize = sizes[[d]], w = weights[[name]](300)))
    reference <- reference_density(grid_points(fhat), x, fhat$H, fhat$w, "epanechnikov")
    info <- paste("d =", d, name)
    expect_close_to_reference(fhat$estimate, reference, tol = 1e-13, info = info)
    expect_identical(dim(fhat$estimate), if (d > 1) as.integer(sizes[[d]]))
    expect_gte(min(fhat$estimate), 0)
    # A point on a rim may be on either side of it.
    other <- as.vector(fhat$estimate == 0) != (reference == 0)
    expect_true(all(pmax(fhat$estimate, reference)[other] <= 1e-13 * max(reference)), info = info)
  }
})

test_that("on a line, where several engines compete, threads change neither the engine nor the bits", {
  x <- with_seed(87, runif(2e4))
  alone <- kde(x, h = 0.2, kernel = "triangular", gridsize = 401, threads = 1)
  many <- kde(x, h = 0.2, kernel = "triangular", gridsize = 401, threads = 16)
  expect_identical(many$engine, alone$engine)
  expect_identical(many$estimate, alone$estimate)
})

test_that("every compact kernel, radial and product, agrees with plain sums", {
  sizes <- list(200, c(23, 31), c(9, 14, 11), c(7, 8, 6, 8))
  for (d in 1:4) for (kernel in compact_kernels) for (type in c("radial", "product")) {
    x <- correlated(200, d)
    w <- with_seed(86, runif(200))
    wide <- c(1, 1, 1, 3)[d] # so that the kernels' supports hold points
    H <- wide * (if (type == "product") diag(0.6 + 0.1 * seq_len(d), d) else 0.7 * stats::cov(x))
    fhat <- kde(x, H = H, gridsize = sizes[[d]], w = w, kernel = kernel, kernel_type = type, engine = "scanline",
                compute.cont = FALSE)
    reference <- reference_density(grid_points(fhat), x, H, w, kernel, type == "product")
    expect_close_to_reference(fhat$estimate, reference, tol = 1e-13, info = paste(d, kernel, type))
    other <- kde(x, H = H, gridsize = sizes[[d]], w = w, kernel = kernel, kernel_type = type, engine = "direct",
                 compute.cont = FALSE)
    expect_close_to_reference(fhat$estimate, other$estimate, tol = 1e-13, info = paste(d, kernel, type))
  }
})

test_that("lattice data with h equal to a gap: uniform kernels count what the direct engine counts", {
  x <- as.matrix(expand.grid((-4):4, (-3):3)) * 0.1
  for (type in c("radial", "product")) for (h in c(0.1, 0.3, 0.5)) {
    direct <- kde(x, h = h, kernel = "uniform", kernel_type = type, xmin = c(-1, -1), xmax = c(1, 1), step = 0.1,
                  engine = "direct")
    runs <- kde(x, h = h, kernel = "uniform", kernel_type = type, xmin = c(-1, -1), xmax = c(1, 1), step = 0.1,
                engine = "scanline")
    expect_close_to_reference(runs$estimate, direct$estimate, tol = 1e-14)
  }
})

test_that("it is what grids take when they are large enough", {
  x <- correlated(5000, 3)
  expect_identical(scanline_kde(x[, 1], engine = "auto")$engine, "scanline")
  expect_identical(scanline_kde(x[, 1:2], engine = "auto")$engine, "scanline")
  expect_identical(scanline_kde(x, engine = "auto")$engine, "scanline")
})

test_that("grids far from the origin keep their digits: points are taken where doubles put them", {
  x <- correlated(300, 2)
  for (offset in c(290, 2e3, 1e6, 1e9)) {
    fhat <- scanline_kde(x + offset, h = 0.5, gridsize = 30)
    reference <- reference_density(grid_points(fhat), x + offset, diag(0.25, 2), NULL, "epanechnikov")
    expect_close_to_reference(fhat$estimate, reference, tol = 1e-14, info = paste("offset", offset))
  }
})

test_that("the grid may cut through the data, be wider than it, or have samples on its points", {
  x <- round(correlated(200, 2) * 4) / 4
  cases <- list(
    list(h = 0.25, xmin = c(-2, -2), xmax = c(2, 2), step = 0.25), # rims at q = 1
    list(h = 0.5, xmin = c(-1, 0), xmax = c(0.5, 0.75), step = c(0.25, 0.125)),
    list(h = 50, xmin = c(-1, -1), xmax = c(1, 1), gridsize = c(5, 9)),
    list(h = 0.01, xmin = c(-2, -2), xmax = c(2, 2), step = 0.25), # a fraction of a step
    list(h = 1, xmin = c(5, -2), xmax = c(9, 2), step = 0.25),
    list(h = 0.5, xmin = c(0, 0), xmax = c(1e-3, 1e-3), gridsize = 2)
  )
  for (case in cases) {
    fhat <- suppressWarnings(do.call(scanline_kde, c(list(x), case)))
    reference <- reference_density(grid_points(fhat), x, fhat$H, NULL, "epanechnikov")
    expect_close_to_reference(fhat$estimate, reference, tol = 1e-14)
  }
})

test_that("the bits are the same for every number of threads, instruction set and order of the data", {
  sizes <- list(1000, c(120, 90), c(30, 25, 40), c(9, 8, 7, 6))
  for (d in 1:4) {
    x <- correlated(20000, d)
    w <- with_seed(83, runif(20000))
    bits <- function(rows = seq_along(w), ...) {
      scanline_kde(x[rows, ], H = diag(c(0.2, 0.2, 0.2, 0.6)[d], d), gridsize = sizes[[d]], xmin = rep(-3, d),
               xmax = rep(3, d), w = w[rows], ...)$estimate
    }
    one <- bits(threads = 1L)
    for (isa in instruction_sets()) for (threads in 1:3) {
      with_isa(isa, expect_same_bits(bits(threads = threads), one, info = paste(d, isa, threads)))
    }
  }
})

test_that("densities sum to one, and a sample of weight 3 is three samples", {
  for (d in 1:3) {
    x <- correlated(400, d)
    fhat <- scanline_kde(x, gridsize = c(2000, 200, 80)[d])
    expect_equal(summary(fhat)$mass, 1, tolerance = c(1e-5, 1e-4, 1e-3)[d])
    H <- fhat$H
    one <- scanline_kde(x, H = H, w = rep(c(1, 3), 200), gridsize = 30)
    three <- scanline_kde(x[rep(1:400, rep(c(1, 3), 200)), , drop = FALSE], H = H, gridsize = 30)
    expect_close_to_reference(one$estimate, three$estimate, tol = 1e-14)
  }
})

test_that("marginals of the grid agree with those of the kernel", {
  # The integral of 1 - |u|^2 over one axis is 4/3 (1 - |v|^2)^(3/2), over two axes pi/2 (1 - |v|^2)^2.
  x <- correlated(150, 3, 0.3)
  fhat <- scanline_kde(x, gridsize = c(40, 160, 160))
  of_one <- marginal(fhat, 1)
  H <- fhat$H[1, 1]
  kernel <- function(u) 15 / (8 * pi) * pi / 2 * pmax(1 - u^2, 0)^2 / sqrt(H)
  wanted <- vapply(of_one$eval.points, function(e) mean(kernel((e - x[, 1]) / sqrt(H))), 0)
  expect_lt(max(abs(of_one$estimate - wanted)) / max(wanted), 1e-3)
  # and with an estimate from that variable alone, up to the difference of the kernels
  line <- scanline_kde(x[, 1], h = sqrt(H), xmin = min(of_one$eval.points), xmax = max(of_one$eval.points),
                       gridsize = 40)
  expect_gt(stats::cor(as.vector(line$estimate), as.vector(of_one$estimate)), 0.98)
})

test_that("the default bandwidth is the reference rule of the thesis", {
  x <- correlated(500, 3, 0.6)
  d <- 3
  volume <- 4 / 3 * pi
  # Silverman (1986), eq. 4.15, with the constant of the Epanechnikov kernel, as in Lopez-Novoa (2015)
  h <- (8 / volume * (d + 4) * (2 * sqrt(pi))^d)^(1 / (d + 4)) * 500^(-1 / (d + 4))
  expect_equal(scanline_kde(x, gridsize = 10)$H, h^2 * cov(x), tolerance = 1e-12)
})

test_that("tasks that it does not take are refused, or go to another engine if it was not asked for", {
  x <- with_seed(84, rexp(200))
  X <- with_seed(85, matrix(rexp(400), 200))
  expect_refused(
    kde(X, h = 1, kernel = "gaussian", engine = "scanline"),
    kde(X, h = 1, kernel = "epanechnikov", eval.points = X, engine = "scanline"),
    kde(X, h = 1, kernel = "epanechnikov", gridtype = "sqrt", xmin = c(0, 0), engine = "scanline"),
    kde(x, h = 1, kernel = "epanechnikov", positive = TRUE, engine = "scanline"),
    kde(matrix(x[1:196], 28), h = 1, kernel = "epanechnikov", engine = "scanline", gridsize = 2),
    kde(x, h = 1e-8, xmin = 1e12, xmax = 1e12 + 1, kernel = "epanechnikov", engine = "scanline"),
    kde(x, h = 1, xmin = 0, xmax = 1e6, step = 1e4, kernel = "epanechnikov", engine = "scanline")
  )
  expect_identical(kde(X, h = 1, kernel = "epanechnikov", gridtype = "sqrt", xmin = c(0, 0))$engine, "direct")
  expect_no_error(kde(x, h = 1, kernel = "epanechnikov", positive = TRUE))
})

test_that("grids whose steps are many bandwidths long lose no digits of the bandwidth", {
  for (step in 10^c(2, 4, 12)) {
    x <- with_seed(88, sample(0:500, 3000, TRUE) * step + runif(3000, -1, 1))
    fhat <- suppressWarnings(kde(x, h = 1, xmin = 0, xmax = 500 * step, step = step, kernel = "cosine"))
    expect_identical(fhat$engine, if (step > 256) "kdtree" else "scanline")
    reference <- reference_density(grid_points(fhat), x, fhat$H, fhat$w, "cosine")
    expect_close_to_reference(fhat$estimate, reference, tol = 1e-13, info = format(step))
  }
})

test_that("data without a density, and grids that do not fit, are refused", {
  x <- correlated(50, 3)
  colnames(x) <- c("depth", "salt", "heat")
  same <- cbind(x, depth.m = x[, 1])
  expect_refused(
    scanline_kde(same),
    scanline_kde(cbind(x, one = 1)),
    scanline_kde(x[1:3, ]),
    scanline_kde(x, step = c(1, 0, 1)),
    scanline_kde(x, step = -1)
  )
})

test_that("there are warnings for grids that miss samples", {
  x <- correlated(50, 2)
  condition <- expect_warning(out <- scanline_kde(x, h = 0.5, xmin = c(20, 20), xmax = c(30, 30)),
                              class = "kestrel_warning_grid")
  expect_true(all(out$estimate == 0))
  expect_snapshot_output(cat(conditionMessage(condition)))
  condition <- expect_warning(scanline_kde(x, h = 0.01), class = "kestrel_warning_grid")
  expect_snapshot_output(cat(conditionMessage(condition)))
  expect_no_warning(scanline_kde(x))
})

test_that("a grid of the size of memory is refused, one of half of it is not", {
  x <- correlated(100, 3)
  old <- options(kestrel.memory_limit = 1e7)
  on.exit(options(old))
  # Every thread has cells of its own.
  expect_error(scanline_kde(x, gridsize = 100, threads = 1), "100 x 100 x 100 points need 16",
               class = "kestrel_error_memory")
  expect_identical(dim(scanline_kde(x, gridsize = 70, threads = 1)$estimate), rep(70L, 3))
})
