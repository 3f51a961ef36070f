# Sums over pairs on the GPU: the same numbers as on the CPU. Skipped only if there is no device.

# Relative to the largest number of one kind.
expect_close <- function(actual, expected, info) {
  testthat::expect_lte(max(abs(actual - expected)) / max(abs(expected)), 1e-12, label = info)
}

test_that("single precision is within 1e-5, and not double", {
  skip_without_device()
  x <- faithful$eruptions
  for (r in c(0, 4, 8)) {
    double <- psi(x, 0.3, r, backend = "cuda")
    expect_close(double, psi(x, 0.3, r, backend = "cpu"), r)
    single <- psi(x, 0.3, r, backend = "cuda", precision = "single")
    expect_lte(abs(single / double - 1), 1e-5)
    expect_false(identical(single, double))
  }
  expect_equal(hpi(x, backend = "cuda", precision = "single"), hpi(x, backend = "cpu"), tolerance = 1e-5)
  h <- c(0.1, 0.3, 1)
  expect_equal(lscv(x, h = h, backend = "cuda", precision = "single"), lscv(x, h = h), tolerance = 1e-5)
  expect_equal(lscv(faithful, h = h, backend = "cuda", precision = "single"), lscv(faithful, h = h), tolerance = 1e-5)
})

test_that("samples too wide for the device are an error in words", {
  skip_without_device()
  x <- cbind(c(0, 1, 1e6), 1:3)
  expect_error(lscv(x, H = diag(2), backend = "cuda"), "span", class = "kestrel_error_backend")
})

test_that("objectives and functionals are those of the CPU", {
  skip_without_device()
  set.seed(6)
  x <- matrix(rnorm(1200), ncol = 3)
  w <- runif(400)
  h <- c(0.2, 0.5, 1)
  for (form in c("unbiased", "paper")) {
    for (data in list(x[, 1], x[, 1:2], x, cbind(x, x[400:1, ]))) {
      on <- function(backend) lscv(data, h = h, w = w, form = form, backend = backend)
      expect_equal(on("cuda"), on("cpu"), tolerance = 1e-9)
    }
    on <- function(backend) lscv(x, H = diag(3) + 0.2, w = w, form = form, backend = backend)
    expect_equal(on("cuda"), on("cpu"), tolerance = 1e-9)
  }
  for (r in seq(0, 10, by = 2)) {
    on <- function(backend) psi(x[, 1], h, r, w = w, backend = backend)
    expect_equal(on("cuda"), on("cpu"), tolerance = 1e-10)
  }
})

# A criterion is flat at its minimum: bandwidths agree to the square root of its agreement.
expect_same_selection <- function(select, name) {
  cpu <- select("cpu")
  gpu <- select("cuda")
  testthat::expect_identical(cpu$backend, "cpu", label = name)
  testthat::expect_identical(gpu[c("engine", "backend")], list(engine = "direct", backend = "cuda"), label = name)
  testthat::expect_identical(kind_of_device(gpu$device), kestrel_info()$cuda$device, label = name)
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
  run <- run_options(1L, "auto", cuda = TRUE)
  place <- function(n, bandwidths) {
    sample <- selector_sample(with_seed(8, matrix(rnorm(6 * n), ncol = 6)), NULL)
    criteria_for(sample, "direct", run, bandwidths)$by()[-1L]
  }
  for (bandwidths in list(NULL, 150)) {
    at <- place(1e6, bandwidths)
    expect_identical(at$backend, "cuda")
    expect_identical(kind_of_device(at$device), kestrel_info()$cuda$device)
    expect_identical(place(100, bandwidths), list(backend = "cpu"))
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
    expect_identical(kind_of_device(gpu$device), kestrel_info()$cuda$device)
    expect_equal(gpu$H, cpu$H, tolerance = 1e-6)
    expect_equal(gpu$LSCV, cpu$LSCV, tolerance = 1e-10)
  }
  expect_identical(Hlscv(x[, 1:2], backend = "cuda", amise = TRUE)$engine, "direct")
})
