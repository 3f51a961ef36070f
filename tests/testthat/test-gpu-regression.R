# Cross-validation of regression on the GPU: the same numbers as on the CPU. Skipped only if there is no device.

expect_same_curve <- function(gpu, cpu, info) {
  testthat::expect_identical(gpu$n.unsupported, cpu$n.unsupported, info = info)
  known <- !is.na(cpu$cv)
  testthat::expect_identical(!is.na(gpu$cv), known, info = info)
  testthat::expect_lte(max(abs(gpu$cv - cpu$cv)[known] / (cpu$cv[known] + 1e-24)), 1e-12, label = info)
}

test_that("the curve is that of the CPU, at every bandwidth", {
  skip_without_device()
  set.seed(1)
  n <- 3000
  places <- list(normal = rnorm(n), ties = round(rnorm(n), 1), offset = 1e9 + rnorm(n),
                 clusters = 1e5 * (seq_len(n) %% 7) + 10^-(seq_len(n) %% 5) * rnorm(n))
  for (shape in names(places)) {
    x <- places[[shape]]
    y <- sin(x) + 0.3 * rnorm(n)
    h <- diff(range(x)) * 10^seq(-4, 0, length.out = 6)
    for (w in list(rep(1, n), 0.1 + runif(n))) {
      for (kernel in regression_kernels) {
        for (regtype in c("lc", "ll")) {
          info <- paste(shape, kernel, regtype)
          # The least value may be at an end of the grid.
          on <- function(backend) {
            suppressWarnings(npregbw(xdat = x, ydat = y, w = w, bws = h, ckertype = kernel, regtype = regtype,
                                     unsupported = "exclude", backend = backend))[c("cv", "n.unsupported")]
          }
          gpu <- on("cuda")
          expect_same_curve(gpu, on("cpu"), info)
          expect_identical(on("cuda"), gpu, info = info)
        }
      }
    }
  }
})

test_that("npregbw() finds there what it finds on the CPU, and says where", {
  skip_without_device()
  set.seed(2)
  x <- rexp(3000)
  y <- cos(3 * x) + rnorm(3000) / 4
  bws <- 10^seq(-2, 0.5, length.out = 30)
  for (regtype in c("lc", "ll")) {
    for (method in c("cv.ls", "cv.aic")) {
      on <- function(backend) {
        npregbw(xdat = x, ydat = y, bws = bws, regtype = regtype, bwmethod = method, unsupported = "exclude",
                ckertype = "epanechnikov", bw.scale = "support", backend = backend)
      }
      cpu <- on("cpu")
      gpu <- on("cuda")
      expect_identical(gpu[c("bw", "n.unsupported")], cpu[c("bw", "n.unsupported")])
      expect_identical(c(gpu$engine, cpu$engine), c("blocks", "sweep"))
      expect_equal(gpu$cv, cpu$cv, tolerance = 1e-12)
      expect_identical(c(gpu$backend, cpu$backend), c("cuda", "cpu"))
      expect_identical(kind_of_device(gpu$device), kestrel_info()$cuda$device)
      expect_null(cpu$device)
      expect_match(paste(capture.output(print(gpu)), collapse = " "), gpu$device, fixed = TRUE)
    }
  }
  refined <- function(backend) {
    npregbw(xdat = x, ydat = y, bws = bws, unsupported = "exclude", refine = TRUE, ckertype = "epanechnikov",
            bw.scale = "support", backend = backend)
  }
  expect_equal(refined("cuda")$bw, refined("cpu")$bw, tolerance = 1e-6)
  fit <- npreg(bws = bws, txdat = x, tydat = y, unsupported = "exclude", ckertype = "epanechnikov",
               bw.scale = "support", backend = "cuda")
  expect_identical(c(fit$bws$backend, fit$backend), c("cuda", "cpu"))
  expect_identical(c(fit$bws$engine, fit$engine), c("blocks", "sweep"))
})

test_that("\"auto\" takes the GPU for long curves", {
  skip_without_device()
  before <- kestrel_threads(1)
  on.exit(kestrel_threads(before))
  set.seed(3)
  x <- rnorm(1e6)
  y <- sin(5 * x) + rnorm(1e6)
  bws <- 10^seq(-3, 0, length.out = 100)
  found <- npregbw(xdat = x, ydat = y, bws = bws, unsupported = "exclude", ckertype = "epanechnikov")
  expect_identical(found$backend, "cuda")
  expect_identical(npregbw(xdat = x[1:1000], ydat = y[1:1000])$backend, "cpu")
})

test_that("a time limit stops a long curve, and the device works afterwards", {
  skip_without_device()
  set.seed(4)
  x <- rnorm(1e6)
  expect_lt(ends_by_time_limit(npregbw(xdat = x, ydat = x, bws = 1:60, ckertype = "gaussian", backend = "cuda")), 1)
  expect_identical(npregbw(xdat = x[1:100], ydat = x[1:100], backend = "cuda")$backend, "cuda")
})

test_that("bandwidths too narrow for the device are an error in words", {
  skip_without_device()
  expect_error(npregbw(xdat = c(0, 1, 2), ydat = c(1, 2, 3), bws = 1e-100, bandwidth.compute = FALSE,
                       ckertype = "triweight", regtype = "ll", unsupported = "exclude", backend = "cuda"), "span",
               class = "kestrel_error_backend")
})
