# Mixed data on the GPU: the same numbers as on the CPU. Skipped only if there is no device.

mixed_visits <- function(n) {
  set.seed(3)
  visits <- data.frame(x = rnorm(n), z = rexp(n), f = factor(sample(c("a", "b", "c"), n, TRUE)),
                       o = ordered(sample(4, n, TRUE)), w = 0.5 + runif(n))
  visits$y <- sin(visits$x) + as.integer(visits$f) / 2 + rnorm(n) / 3
  visits
}

expect_same_on_gpu <- function(call, fields, info, tolerance = 1e-10) {
  gpu <- call("cuda")
  cpu <- call("cpu")
  testthat::expect_identical(c(gpu$backend, cpu$backend), c("cuda", "cpu"), info = info)
  testthat::expect_identical(kind_of_device(gpu$device), kestrel_info()$cuda$device, info = info)
  for (field in fields) {
    testthat::expect_equal(gpu[[field]], cpu[[field]], tolerance = tolerance, info = paste(info, field))
  }
}

test_that("regressions and densities of mixed data are those of the CPU, with every kernel", {
  skip_without_device()
  visits <- mixed_visits(1500)
  for (kernel in kernel_names()) {
    for (regtype in c("lc", "ll")) {
      expect_same_on_gpu(function(backend) {
        npreg(c(0.5, 0.8, 0.2, 0.3), visits[c("x", "z", "f", "o")], visits$y, ckertype = kernel, regtype = regtype,
              w = visits$w, backend = backend)
      }, c("mean", "merr", "loo", "edf"), paste(kernel, regtype))
    }
    # The objective at given bandwidths.
    for (method in c("cv.ml", "cv.ls")) {
      expect_same_on_gpu(function(backend) {
        npudensbw(~ x + f + o, data = visits, bws = c(0.4, 0.2, 0.3), bandwidth.compute = FALSE, bwmethod = method,
                  ckertype = kernel, backend = backend)
      }, "fval", paste(kernel, method))
    }
    expect_same_on_gpu(function(backend) {
      npcdensbw(y ~ x + f, data = visits, bws = c(0.4, 0.5, 0.2), bandwidth.compute = FALSE, cxkertype = kernel,
                cykertype = kernel, backend = backend)
    }, "fval", paste(kernel, "conditional"))
    expect_same_on_gpu(function(backend) {
      npudens(bws = c(0.4, 0.2), tdat = visits[c("x", "f")], ckertype = kernel, backend = backend,
              edat = stats::setNames(visits[1:200, c("z", "f")], c("x", "f")))
    }, c("dens", "derr"), paste(kernel, "density"))
  }
})

test_that("searches find there what they find on the CPU", {
  skip_without_device()
  visits <- mixed_visits(600)
  expect_same_on_gpu(function(backend) npudensbw(~ x + z + f, data = visits, nmulti = 1, backend = backend),
                     c("bw", "fval"), "density", 1e-6)
  expect_same_on_gpu(function(backend) npcdensbw(y ~ x + f, data = visits, nmulti = 1, backend = backend),
                     c("xbw", "ybw", "fval"), "conditional density", 1e-6)
  expect_same_on_gpu(function(backend) {
    npregbw(y ~ x + f, data = visits, ckertype = "epanechnikov", nmulti = 1, backend = backend)
  }, c("bw", "fval"), "regression", 1e-6)
})
