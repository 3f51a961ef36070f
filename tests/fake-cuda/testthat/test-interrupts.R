# A call on a GPU is asked in its middle whether to go on: what says no ends it, and the session goes on.

# The condition of the class that `call` ends in; the device has been told so in its middle, and works afterwards.
expect_ended <- function(call, class, info = NULL) {
  condition <- tryCatch(call(), condition = function(condition) condition)
  expect_s3_class(condition, class)
  expect_gte(as.numeric(Sys.getenv("FAKE_CUDA_STOPPED")), 0.4, label = info)
  Sys.unsetenv("FAKE_CUDA_STOPPED")
  expect_nothing_held(info)
  condition
}

test_that("an interrupt ends every call on a GPU in its middle and leaves R and the device usable", {
  for (name in names(fake_tasks)) {
    call <- fake_tasks[[name]]$call
    with_fake({
      before <- call("cuda")
      for (backend in c("cuda", "auto")) {
        fake_does(INTERRUPT = 0.4)
        expect_ended(function() call(backend), "interrupt", paste(name, backend))
        fake_does(INTERRUPT = "")
        expect_identical(call(backend), before, info = paste(name, backend))
      }
    })
  }
})

test_that("an interrupt between slabs leaves no file", {
  file <- tempfile()
  with_fake({
    fake_does(INTERRUPT = 0.4)
    expect_ended(function() {
      kde_stream(fake_sample, h = 2, gridsize = 600, slab = 500, kernel = "epanechnikov", to = file, backend = "cuda")
    }, "interrupt")
  })
  expect_false(file.exists(file))
})

test_that("an error in the progress function ends a call with that error", {
  x <- fake_sample
  n <- nrow(x)
  w <- rep(1, n)
  axes <- list(seq(0, 6, length.out = 600), seq(40, 100, length.out = 600))
  sums <- list(
    points = function(progress) {
      density_cuda_cpp(x, w, x, list(), diag(2), "gaussian", FALSE, FALSE, "auto", progress)
    },
    grid = function(progress) {
      density_scanline_cuda_cpp(x, w, axes, diag(2), "epanechnikov", FALSE, 2L, "auto", progress)
    },
    matrix = function(progress) lscv_cuda_cpp(x, w, diag(2), TRUE, "auto", progress),
    multiples = function(progress) lscv_curve_cuda_cpp(x, w, diag(2), c(1, 2), FALSE, "auto", progress),
    laplacian = function(progress) pair_laplacian_cuda_cpp(x, w, c(1, 2), 4L, FALSE, "auto", progress),
    monomials = function(progress) pair_moments_cuda_cpp(x, w, 1, 4L, "auto", progress),
    regression = function(progress) {
      regression_cv_cuda_cpp(x[, 1], x[, 2], w, 1:20 / 4, "gaussian", TRUE, "auto", progress)
    }
  )
  for (name in names(sums)) {
    with_fake({
      before <- sums[[name]](NULL)
      enough <- function(fraction) if (fraction >= 0.6) stop("enough at last")
      condition <- expect_ended(function() sums[[name]](enough), "simpleError", name)
      expect_identical(conditionMessage(condition), "enough at last", info = name)
      expect_identical(sums[[name]](NULL), before, info = name)
    })
  }
})
