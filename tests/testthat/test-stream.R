# Estimates on grids slab by slab.

stream_sample <- function(d) with_seed(91, matrix(rexp(500 * d), 500, dimnames = list(NULL, letters[seq_len(d)])))

collect <- function(..., to) {
  parts <- list()
  result <- kde_stream(..., to = function(slab) parts[[length(parts) + 1L]] <<- slab)
  c(result, list(parts = parts))
}

test_that("slabs put together are the estimate of kde()", {
  for (d in 1:3) for (kernel in c("epanechnikov", "gaussian")) {
    size <- list(90, c(20, 30), c(12, 9, 17))[[d]]
    x <- stream_sample(d)
    w <- rep(1:2, 250)
    engine <- if (kernel == "epanechnikov") "scanline" else "auto"
    whole <- kde(x, gridsize = size, kernel = kernel, w = w, compute.cont = FALSE, engine = engine)
    for (slab in c(1, 7, 1000)) {
      streamed <- collect(x, gridsize = size, kernel = kernel, w = w, slab = slab)
      values <- unlist(lapply(streamed$parts, function(part) part$estimate))
      expect_close_to_reference(values, whole$estimate)
      if (kernel == "epanechnikov") expect_same_bits(values, whole$estimate)
      firsts <- seq(1, size[d], by = min(slab, size[d]))
      expect_equal(vapply(streamed$parts, function(part) part$first, 0), firsts)
      expect_identical(streamed$slabs, length(firsts))
      last <- unlist(lapply(streamed$parts, function(part) part$axes[[d]]))
      expect_identical(last, axes_of(whole)[[d]])
      expect_identical(streamed$axes, axes_of(whole))
      expect_identical(dim(streamed$parts[[1]]$estimate), if (d > 1) as.integer(c(size[-d], min(slab, size[d]))))
      expect_equal(streamed$mass, summary(whole)$mass, tolerance = 1e-12)
      expect_equal(streamed$largest, max(whole$estimate), tolerance = 1e-12)
      expect_equal(streamed$H, whole$H)
    }
  }
})

test_that("slabs know bounds and periods", {
  for (d in 1:3) for (kernel in c("epanechnikov", "gaussian")) {
    size <- list(90, c(20, 30), c(12, 9, 17))[[d]]
    x <- stream_sample(d)
    bounds <- cbind(rep(0, d), Inf)
    period <- c(rep(NA, d - 1), 3)
    h <- 0.4
    whole <- suppressMessages(kde(x, h = h, gridsize = size, kernel = kernel, bounds = bounds, period = period,
                                  xmin = c(rep(-1, d - 1), 0), xmax = rep(3, d), compute.cont = FALSE))
    streamed <- suppressMessages(collect(x, h = h, gridsize = size, kernel = kernel, bounds = bounds, period = period,
                                         xmin = c(rep(-1, d - 1), 0), xmax = rep(3, d), slab = 7))
    expect_close_to_reference(unlist(lapply(streamed$parts, function(part) part$estimate)), whole$estimate)
    expect_identical(streamed$transform, whole$transform)
  }
  # The default bandwidth and grid are those of kde(); slabs beyond a bound are zero.
  x <- stream_sample(1)
  here <- collect(x, bounds = c(0, Inf))
  there <- kde(x, bounds = c(0, Inf))
  expect_equal(here$h, there$h)
  expect_identical(here$axes[[1]], there$eval.points)
  values <- unlist(lapply(collect(x, bounds = c(0, Inf), xmin = -2, xmax = 1, gridsize = 31, slab = 3)$parts, `[[`, 1))
  expect_identical(values[1:20], numeric(20))
  expect_snapshot(print(replace(kde_stream(x, function(slab) NULL, bounds = c(0, Inf)), "seconds", 1)))
  expect_snapshot(error = TRUE, kde_stream(x, function(slab) NULL, bounds = c(0, 1)))
})

test_that("a file of doubles holds the estimate, the first axis fastest", {
  file <- tempfile()
  on.exit(unlink(file))
  x <- stream_sample(2)
  written <- withVisible(kde_stream(x, kernel = "epanechnikov", gridsize = c(20, 30), slab = 4, to = file))
  expect_false(written$visible)
  expect_identical(written$value$file, file)
  expect_identical(file.size(file), 8 * 600)
  values <- readBin(file, "double", 600, endian = "little")
  fhat <- kde(x, kernel = "epanechnikov", gridsize = c(20, 30), engine = "scanline")
  expect_identical(values, as.vector(fhat$estimate))
})

test_that("a netCDF file holds the estimate with its axes", {
  skip_if_not_installed("ncdf4")
  file <- tempfile(fileext = ".nc")
  on.exit(unlink(file))
  x <- stream_sample(3)
  kde_stream(x, kernel = "epanechnikov", gridsize = c(8, 9, 7), slab = 3, to = file)
  whole <- kde(x, kernel = "epanechnikov", gridsize = c(8, 9, 7), engine = "scanline")
  nc <- ncdf4::nc_open(file)
  on.exit(ncdf4::nc_close(nc), add = TRUE, after = FALSE)
  expect_identical(dim(ncdf4::ncvar_get(nc, "density")), dim(whole$estimate))
  expect_same_bits(ncdf4::ncvar_get(nc, "density"), whole$estimate)
  for (k in 1:3) expect_identical(as.vector(ncdf4::ncvar_get(nc, letters[k])), whole$eval.points[[k]])
  expect_identical(ncdf4::ncatt_get(nc, "density", "kernel")$value, "epanechnikov")
  expect_identical(ncdf4::ncatt_get(nc, "density", "bandwidth_matrix")$value, as.vector(whole$H))
})

test_that("variables of any name get a netCDF file", {
  skip_if_not_installed("ncdf4")
  file <- tempfile(fileext = ".nc")
  on.exit(unlink(file))
  x <- stream_sample(2)
  colnames(x) <- c("density", "m/s")
  kde_stream(x, kernel = "epanechnikov", gridsize = c(8, 9), to = file)
  nc <- ncdf4::nc_open(file)
  expect_identical(names(nc$dim), c("density_1", "m_s", "bound"))
  expect_identical(dim(ncdf4::ncvar_get(nc, "density")), c(8L, 9L))
  ncdf4::nc_close(nc)
})

test_that("the grid may be larger than memory, a slab not", {
  old <- options(kestrel.memory_limit = 4e5)
  on.exit(options(old))
  x <- stream_sample(2)
  expect_error(kde(x, kernel = "epanechnikov", gridsize = c(100, 500)), "kde_stream", class = "kestrel_error_memory")
  streamed <- collect(x, kernel = "epanechnikov", gridsize = c(100, 500), slab = 100)
  expect_length(streamed$parts, 5)
  expect_error(collect(x, kernel = "epanechnikov", gridsize = c(100, 500), slab = 400),
               "400 of 100 x 500 points need", class = "kestrel_error_memory")
})

test_that("an error in the function comes through, and no incomplete file stays", {
  x <- stream_sample(2)
  expect_error(kde_stream(x, gridsize = 10, to = function(slab) stop("full")), "full")
  file <- tempfile()
  missing <- x
  missing[3] <- NA
  expect_error(kde_stream(missing, gridsize = 10, to = file), class = "kestrel_error_input")
  expect_false(file.exists(file))
  # Slabs are already in the file when the last one fails.
  source <- list(slab = function(first, count) {
    if (first == 3) stop("broken")
    matrix(1, 4, 1)
  })
  slabs <- list(first = 1:3, count = rep(1, 3))
  writeLines("mine", file)
  on.exit(unlink(file))
  expect_error(pour_slabs(list(H = 1), list(1:4, 1:3), slabs, source, check_sink(file), NULL), "broken")
  expect_identical(readLines(file), "mine")
  expect_length(dir(dirname(file), "incomplete"), 0)
})

test_that("slabs larger than what goes to a file at once are whole", {
  file <- tempfile()
  on.exit(unlink(file))
  x <- stream_sample(2)
  stream <- function() {
    kde_stream(x, kernel = "epanechnikov", gridsize = c(20, 30), to = file)
    readBin(file, "double", 601, endian = "little")
  }
  expect_identical(with_binding("numbers_at_once", 7, stream()), stream())
})

test_that("the device is chosen by the time of all slabs together, and kept", {
  x <- stream_sample(2)
  axes <- list(seq(0, 5, length.out = 20), seq(0, 5, length.out = 30))
  run <- density_options(1, "auto", "auto", 1e-12, cuda = TRUE)
  for (kernel in c("gaussian", "biweight")) {
    fhat <- new_density(check_sample(x, NULL), diag(2), kernel, "radial", NULL, run)
    task <- task_on_axes(fhat, axes)
    whole <- plan_density(fhat, task, c(run, slabs = TRUE))
    expect_identical(whole$backend, "cpu")
    expect_identical(whole$engine == "scanline", kernel == "biweight")
    part <- task_on_axes(fhat, list(axes[[1]], axes[[2]][1:3]))
    expect_equal(plan_density(fhat, part, run, larger = 10)$seconds, 10 * plan_density(fhat, part, run)$seconds)
  }
  # A slab uses the device that was chosen, without another comparison.
  expect_identical(settled_run(run, list(backend = "cpu"))$backend, "cpu")
  on_device <- settled_run(run, list(backend = "cuda"))
  rm(list = ls(informed_of), envir = informed_of)
  with_cuda_object("/nowhere/libkestrel_cuda.so", {
    expect_silent(plan_density(fhat, task, run))
    expect_message(plan_density(fhat, task, on_device), "could not be loaded")
  })
})

test_that("an irregular grid is not computed by scanline, though its slabs may be regular", {
  x <- stream_sample(2)
  fhat <- new_density(check_sample(x, NULL), diag(2), "biweight", "radial", NULL, list(engine = "auto", tol = 1e-12))
  axes <- list(seq(0, 5, length.out = 20), c(0, 1, 2, 4))
  slabs <- cut_slabs(lengths(axes), 3)
  source <- slab_source(fhat, axes, slabs, density_options(1, "cpu", "auto", 1e-12))
  whole <- estimate_on_grid(fhat, list(axes = axes, gridtype = NULL), density_options(1, "cpu", "direct", 1e-12))
  expect_close_to_reference(cbind(source$slab(1, 3), source$slab(4, 1)), whole$estimate)
})

test_that("a GPU that fails is left once, for all slabs", {
  x <- stream_sample(2)
  axes <- list(seq(0, 5, length.out = 20), seq(0, 5, length.out = 30))
  usual <- density_options(1, "auto", "auto", 1e-12, cuda = TRUE)
  gone <- list(backend = "cuda")
  with_cuda_object("/nowhere/libkestrel_cuda.so", {
    for (kernel in c("gaussian", "biweight")) {
      fhat <- new_density(check_sample(x, NULL), diag(2), kernel, "radial", NULL, usual)
      rm(list = ls(informed_of), envir = informed_of)
      expect_message(source <- slab_source(fhat, axes, cut_slabs(c(20, 30), 10), settled_run(usual, gone)),
                     "could not be loaded")
      expect_identical(source$by()$backend, "cpu")
      whole <- slab_source(fhat, axes, cut_slabs(c(20, 30), 10), density_options(1, "cpu", "auto", 1e-12))
      expect_silent(slab <- source$slab(11, 10))
      expect_identical(slab, whole$slab(11, 10))
    }
  })
})

test_that("bad input is refused", {
  x <- stream_sample(2)
  expect_refused(
    kde_stream(x),
    kde_stream(x, to = 3),
    kde_stream(x, to = c("a", "b")),
    kde_stream(x, to = file.path("no", "such", "folder")),
    kde_stream(x, to = identity, slab = 0),
    kde_stream(x, to = identity, h = -1),
    kde_stream(x, to = identity, engine = "scanline"),
    kde_stream(x, to = identity, h = 1e-8, xmin = c(1e12, 0), xmax = c(1e12 + 1, 1), kernel = "epanechnikov",
               engine = "scanline")
  )
})

test_that("print, messages and warnings", {
  x <- stream_sample(2)
  streamed <- kde_stream(x, H = diag(2), kernel = "epanechnikov", gridsize = c(20, 30), to = identity)
  expect_snapshot_output(shown(streamed))
  expect_message(kde_stream(x, H = diag(2), kernel = "epanechnikov", gridsize = 20, slab = 5, to = identity,
                            verbose = TRUE), "20 x 20 points \\(3.2 kB\\) in 4 slabs: engine scanline on cpu[.]")
  expect_warning(kde_stream(x, h = 0.1, kernel = "epanechnikov", xmin = c(50, 50), xmax = c(60, 60), to = identity),
                 "out of reach", class = "kestrel_warning_grid")
})
