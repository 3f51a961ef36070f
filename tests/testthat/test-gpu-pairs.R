# Sums over pairs on the GPU: the same numbers as on the CPU. Skipped only where there is no device.

# Relative to the largest number of one kind.
expect_close <- function(actual, expected, info) {
  testthat::expect_lte(max(abs(actual - expected)) / max(abs(expected)), 1e-12, label = info)
}

test_that("LSCV of a matrix, its moments and its curve over bandwidths are those of the CPU", {
  skip_without_device()
  set.seed(1)
  for (d in c(1, 2, 3, 6, 16)) {
    x <- matrix(rnorm(2000 * d), ncol = d)
    w <- runif(2000)
    root <- diag(sqrt(d), d)
    root[lower.tri(root)] <- 0.3
    info <- paste("d =", d)
    cpu <- direct_lscv_cpp(x, w, root, TRUE, 2L, "auto", NULL)
    gpu <- lscv_cuda_cpp(x, w, root, TRUE, "auto", NULL)
    for (name in names(cpu)) expect_close(gpu[[name]], cpu[[name]], paste(info, name))
    expect_identical(lscv_cuda_cpp(x, w, root, TRUE, "auto", NULL), gpu)
    expect_null(lscv_cuda_cpp(x, w, root, FALSE, "auto", NULL)$kernel_moments)
    h <- exp(seq(-1, 1, length.out = 20))
    cpu <- direct_lscv_curve_cpp(x, w, root, h, 2L, "auto", NULL)
    gpu <- lscv_curve_cuda_cpp(x, w, root, h, FALSE, "auto", NULL)
    for (row in seq_along(h)) {
      for (column in 1:2) expect_close(gpu[row, column], cpu[row, column], paste(info, "h =", h[row]))
    }
    expect_identical(lscv_curve_cuda_cpp(x, w, root, h, FALSE, "auto", NULL), gpu)
  }
})

test_that("functionals are those of the CPU", {
  skip_without_device()
  set.seed(1)
  for (d in 1:3) {
    x <- matrix(rnorm(3000 * d), ncol = d)
    w <- runif(3000)
    for (g in c(0.1, 1)) {
      # Terms alternate in sign: relative to the sum without the polynomial.
      unit <- pair_laplacian_cpp(x, w, g, 0L, 2L, "auto", NULL)
      for (order in seq(0L, 10L, by = 2L)) {
        cpu <- pair_laplacian_cpp(x, w, g, order, 2L, "auto", NULL)
        gpu <- pair_laplacian_cuda_cpp(x, w, g, order, FALSE, "auto", NULL)
        expect_lte(abs(gpu - cpu) * g^order, 1e-12 * max(unit, abs(cpu) * g^order))
      }
    }
  }
})

test_that("sums of monomials are those of the CPU", {
  skip_without_device()
  set.seed(4)
  for (d in c(1, 2, 3, 5)) {
    x <- matrix(rnorm(700 * d), ncol = d)
    w <- runif(700)
    for (order in seq(0L, if (d < 5) 8L else 4L, by = 2L)) {
      cpu <- pair_moments_cpp(x, w, 0.5, order, 2L, "auto", NULL)
      gpu <- pair_moments_cuda_cpp(x, w, 0.5, order, "auto", NULL)
      expect_identical(names(gpu), names(cpu))
      # Relative to the sum of the absolute values of the terms: of even exponents it is the sum itself.
      even <- !grepl("[13579]", names(cpu))
      expect_close(gpu[even], cpu[even], paste("d =", d, "order", order))
      expect_lte(max(abs(gpu - cpu)), 1e-12 * max(abs(cpu)))
      expect_identical(pair_moments_cuda_cpp(x, w, 0.5, order, "auto", NULL), gpu)
    }
  }
  problem <- pair_moments_cuda_cpp(matrix(rnorm(99), 3), rep(1, 3), 1, 2L, "auto", NULL)
  expect_identical(problem$problem, "unsuited")
  expect_match(problem$reason, "at most 32 variables", fixed = TRUE)
})

test_that("single precision is within 1e-5 of the largest part of a sum, and not double", {
  skip_without_device()
  set.seed(5)
  for (d in c(1, 2, 6)) {
    # Far from zero: differences keep their digits.
    x <- matrix(rnorm(1000 * d), ncol = d) + 1e4
    w <- runif(1000)
    at_zero <- sum(w^2) * (2 * pi)^(-d / 2)
    h <- exp(seq(-2, 2, length.out = 19))
    both <- lapply(c(FALSE, TRUE), function(single) lscv_curve_cuda_cpp(x, w, diag(d), h, single, "auto", NULL))
    part <- pmax(abs(both[[1]][, 2]), at_zero * h^-d)
    expect_lte(max(abs(both[[2]][, 2] - both[[1]][, 2]) / part), 1e-5)
    expect_false(identical(both[[1]], both[[2]]))
    for (order in c(0L, 4L, 10L)) {
      for (g in c(0.2, 1)) {
        both <- lapply(c(FALSE, TRUE), function(single) pair_laplacian_cuda_cpp(x, w, g, order, single, "auto", NULL))
        m <- seq_len(order / 2)
        part <- prod(d + 2 * (m - 1)) * g^(-d - order) * (2 * pi)^(-d / 2) * sum(w)^2
        expect_lte(abs(both[[2]] - both[[1]]), 1e-5 * part)
      }
    }
  }
  x <- faithful$eruptions
  for (r in c(0, 4, 8)) {
    double <- psi(x, 0.3, r, backend = "cuda")
    expect_close(double, psi(x, 0.3, r, backend = "cpu"), r)
    expect_lte(abs(psi(x, 0.3, r, backend = "cuda", precision = "single") / double - 1), 1e-5)
  }
  expect_equal(hpi(x, backend = "cuda", precision = "single"), hpi(x, backend = "cpu"), tolerance = 1e-5)
  h <- c(0.1, 0.3, 1)
  expect_equal(lscv(x, h = h, backend = "cuda", precision = "single"), lscv(x, h = h), tolerance = 1e-5)
  expect_equal(lscv(faithful, h = h, backend = "cuda", precision = "single"), lscv(faithful, h = h), tolerance = 1e-5)
})

test_that("samples too wide for the device are a problem in words", {
  skip_without_device()
  x <- cbind(c(0, 1, 1e6), 1:3)
  problem <- lscv_cuda_cpp(x, rep(1, 3), diag(2), FALSE, "auto", NULL)
  expect_identical(problem$problem, "unsuited")
  expect_match(problem$reason, "span")
})

test_that("objectives and functionals are those of the CPU", {
  skip_without_device()
  set.seed(6)
  x <- matrix(rnorm(1200), ncol = 3)
  w <- runif(400)
  h <- c(0.2, 0.5, 1)
  for (form in c("unbiased", "paper")) {
    for (data in list(x[, 1], x[, 1:2], x)) {
      on <- function(backend) lscv(data, h = h, w = w, form = form, backend = backend)
      expect_equal(on("cuda"), on("cpu"), tolerance = 1e-9)
    }
    on <- function(backend) lscv(x, H = diag(3) + 0.2, w = w, form = form, backend = backend)
    expect_equal(on("cuda"), on("cpu"), tolerance = 1e-9)
  }
  for (r in seq(0, 10, by = 2)) {
    on <- function(backend) psi(x[, 1], h, r, w, backend = backend)
    expect_equal(on("cuda"), on("cpu"), tolerance = 1e-10)
  }
})

# A criterion is flat at its least value: bandwidths agree to the root of what it does.
expect_same_selection <- function(select, name) {
  cpu <- select("cpu")
  gpu <- select("cuda")
  testthat::expect_identical(cpu$backend, "cpu", label = name)
  testthat::expect_identical(gpu[c("engine", "backend", "device")],
                             list(engine = "direct", backend = "cuda", device = cuda_device_cpp()$device), label = name)
  for (field in intersect(c("h", "H", "g", "G"), names(cpu))) {
    testthat::expect_equal(gpu[[field]], cpu[[field]], tolerance = 1e-6, label = paste(name, field))
  }
  testthat::expect_equal(gpu$objective, cpu$objective, tolerance = 1e-8, label = name)
}

test_that("every selector finds on the GPU what it finds on the CPU", {
  skip_without_device()
  set.seed(7)
  line <- rnorm(600)
  w <- runif(600)
  for (name in c("hlscv", "hscv", "hpi")) {
    expect_same_selection(function(backend) get(name)(line, w = w, amise = TRUE, backend = backend), name)
  }
  x <- matrix(rnorm(1200), ncol = 2) %*% (diag(2) + 0.3)
  for (name in c("Hpi", "Hscv")) {
    for (pilot in known_pilots) {
      for (nstage in 1:2) {
        select <- function(backend) get(name)(x, nstage, pilot = pilot, w = w, amise = TRUE, backend = backend)
        expect_same_selection(select, paste(name, pilot, nstage))
      }
    }
  }
  x <- matrix(rnorm(1800), ncol = 3) %*% (diag(3) + 0.3)
  for (name in c("Hpi", "Hpi.diag", "Hscv", "Hscv.diag", "Hlscv.diag")) {
    expect_same_selection(function(backend) get(name)(x, w = w, amise = TRUE, backend = backend), name)
  }
})

test_that("\"auto\" takes the GPU for long sums only", {
  skip_without_device()
  place <- function(n, work) device_of(with_pairs_device(run_options(1L, "auto", cuda = TRUE), n, 6L, work))
  for (work in list(gradient_work(6), monomial_work(6, 4), laplacian_work(6), curve_work(6, 150))) {
    expect_identical(place(1e6, work), list(backend = "cuda", device = cuda_device_cpp()$device))
    expect_identical(place(100, work), list(backend = "cpu"))
  }
})

test_that("a density on the GPU takes its bandwidth where that is faster", {
  skip_without_device()
  fhat <- kde(faithful, eval.points = faithful[1:10, ], backend = "cuda")
  expect_identical(c(fhat$backend, fhat$selector$backend), c("cuda", "cpu"))
  expect_identical(fhat$H, kde(faithful, eval.points = faithful[1:10, ], backend = "cpu")$H)
})

test_that("Hlscv finds on the GPU what it finds on the CPU", {
  skip_without_device()
  set.seed(1)
  x <- matrix(rnorm(4000), ncol = 4) %*% (diag(4) + 0.3)
  for (type in c("full", "diag", "scalar")) {
    on <- function(backend) Hlscv(x, type = type, backend = backend, amise = TRUE)
    cpu <- on("cpu")
    gpu <- on("cuda")
    expect_identical(c(cpu$backend, gpu$backend), c("cpu", "cuda"))
    expect_identical(gpu$device, cuda_device_cpp()$device)
    expect_equal(gpu$H, cpu$H, tolerance = 1e-6)
    expect_equal(gpu$LSCV, cpu$LSCV, tolerance = 1e-10)
  }
  expect_identical(Hlscv(x[, 1:2], backend = "cuda", amise = TRUE)$engine, "direct")
})
