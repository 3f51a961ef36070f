# Sums on the GPU: the same numbers as on the CPU. Skipped only if there is no device.

test_that("every kernel, radial and product, at points and on grids, is that of the CPU", {
  skip_without_device()
  set.seed(1)
  for (d in c(1, 2, 3, 6, 7, 16, 33)) {
    x <- matrix(rnorm(1000 * d), ncol = d)
    points <- matrix(rnorm(200 * d), ncol = d)
    w <- runif(1000)
    H <- diag(4 * d, d)
    for (kernel in kernel_names()) {
      for (type in c("radial", "product")) {
        at <- function(...) {
          kde(x, H = H, eval.points = points, w = w, kernel = kernel, kernel_type = type, engine = "direct", ...)
        }
        cpu <- at(backend = "cpu")
        info <- paste(kernel, type, d)
        gpu <- at(backend = "cuda")
        expect_identical(gpu$backend, "cuda", info = info)
        expect_close_to_reference(gpu$estimate, cpu$estimate, info = info)
        expect_same_bits(at(backend = "cuda")$estimate, gpu$estimate, info = info)
        single <- at(backend = "cuda", precision = "single")
        expect_identical(single$precision, if (kernel == "uniform") "double" else "single", info = info)
        expect_null(attributes(single$estimate))
        expect_close_to_reference(single$estimate, cpu$estimate, tol = 1e-5, info = info)
      }
    }
  }
  for (kernel in c("gaussian", "epanechnikov")) {
    on <- function(backend) kde(faithful, kernel = kernel, backend = backend)
    expect_close_to_reference(on("cuda")$estimate, on("cpu")$estimate)
    expect_identical(dim(on("cuda")$estimate), dim(on("cpu")$estimate))
  }
})

test_that("grids of the radial Epanechnikov kernel have the bits of the CPU's scanline engine", {
  skip_without_device()
  set.seed(2)
  for (d in 2:4) {
    x <- matrix(rnorm(2000 * d), ncol = d) %*% chol(0.5 + 0.5 * diag(d))
    for (w in list(rep(1, 2000), rexp(2000))) {
      on <- function(backend, ...) kde(x, h = 0.6, w = w, kernel = "epanechnikov", backend = backend, ...)
      gpu <- on("cuda", gridsize = c(151, 51, 21)[d - 1L])
      expect_identical(gpu[c("engine", "backend", "precision")],
                       list(engine = "scanline", backend = "cuda", precision = "double"))
      expect_close_to_reference(gpu$estimate, on("cpu", engine = "direct", gridsize = c(151, 51, 21)[d - 1L])$estimate)
      expect_identical(dim(gpu$estimate), lengths(gpu$eval.points))
      # The CPU uses events if runs are this long.
      fine <- list(gridsize = rep(c(40, 60), length.out = d), engine = "scanline")
      expect_same_bits(do.call(on, c("cuda", fine))$estimate, do.call(on, c("cpu", fine))$estimate)
    }
  }
  line <- function(...) kde(x[, 1], h = 0.3, kernel = "epanechnikov", engine = "scanline", ...)$estimate
  expect_close_to_reference(line(backend = "cuda"), line(backend = "cpu"))
})

test_that("grids of all other compact kernels have the bits of the CPU's scanline engine", {
  skip_without_device()
  set.seed(12)
  kernels <- expand.grid(kernel = setdiff(kernel_names(), "gaussian"), type = c("radial", "product"),
                         stringsAsFactors = FALSE)
  for (d in 1:4) {
    # Some points lie exactly on the rim of a kernel.
    x <- matrix(round(rnorm(500 * d), 1), ncol = d)
    axes <- rep(list(seq(-3, 3, by = c(0.01, 0.1, 0.25, 0.5)[d])), d)
    for (i in which(kernels$kernel != "epanechnikov" | (kernels$type == "product" & d > 1))) {
      on <- function(backend) {
        kde(x, H = diag(0.49, d), w = 1 + seq_len(500) %% 3, kernel = kernels$kernel[i],
            kernel_type = kernels$type[i], xmin = rep(-3, d), xmax = rep(3, d), gridsize = lengths(axes),
            engine = "scanline", backend = backend)
      }
      gpu <- on("cuda")
      expect_identical(gpu[c("engine", "backend", "precision")],
                       list(engine = "scanline", backend = "cuda", precision = "double"))
      expect_same_bits(gpu$estimate, on("cpu")$estimate, info = paste(kernels$kernel[i], kernels$type[i], d))
    }
  }
  wide <- function(...) kde(x[, 1:2], H = diag(100, 2), kernel = "biweight", gridsize = c(40, 30), ...)
  expect_identical(wide(backend = "cuda")$engine, "direct")
  expect_close_to_reference(wide(backend = "cuda")$estimate, wide(backend = "cpu")$estimate)
})

test_that("sums of compact kernels with bandwidths that vary are those of the CPU", {
  skip_without_device()
  set.seed(9)
  for (d in 1:3) {
    x <- matrix(rnorm(3000 * d), ncol = d)
    w <- rexp(3000)
    h <- exp(rnorm(3000))
    at <- matrix(rnorm(700 * d), ncol = d)
    for (kernel in setdiff(kernel_names(), "gaussian")) {
      kinds <- list(points = function(...) kde.sp(x, hs = h, w = w, kernel = kernel, eval.points = at, ...)$estimate,
                    grid = function(...) kde.sp(x, hs = h, w = w, kernel = kernel, gridsize = 9, ...)$estimate,
                    balloon = function(...) kde.balloon(x, w = w, kernel = kernel, eval.points = at, ...)$estimate)
      for (kind in names(kinds)) {
        info <- paste(kernel, kind, d)
        cpu <- kinds[[kind]](backend = "cpu")
        gpu <- kinds[[kind]](backend = "cuda")
        expect_close_to_reference(gpu, cpu, info = info)
        expect_same_bits(kinds[[kind]](backend = "cuda"), gpu, info = info)
        expect_close_to_reference(kinds[[kind]](backend = "cuda", precision = "single"), cpu, tol = 1e-5, info = info)
      }
    }
  }
})

test_that("\"auto\" takes scanline on the GPU where it is faster", {
  skip_without_device()
  x <- matrix(seq(0, 1, length.out = 3000), ncol = 3)
  fhat <- kde(x, H = diag(0.01, 3), kernel = "epanechnikov", eval.points = x)
  axis <- seq(0, 1, length.out = 60)
  chosen <- function(larger) {
    run <- density_options(1, "auto", "auto", 1e-12, cuda = TRUE)
    plan_density(fhat, task_on_axes(fhat, list(axis, axis, axis)), run, larger)
  }
  large <- chosen(1e4)
  expect_identical(large[c("engine", "backend")], list(engine = "scanline", backend = "cuda"))
  expect_identical(kind_of_device(large$device), kestrel_info()$cuda$device)
  expect_identical(chosen(1)$backend, "cpu")
})

test_that("slabs have the bits of the whole grid", {
  skip_without_device()
  set.seed(8)
  x <- matrix(rnorm(3000), ncol = 3)
  for (w in list(rep(1, 1000), rexp(1000))) {
    for (sizes in list(c(20, 50, 30), c(40, 20, 60), c(60, 50))) {
      data <- x[, seq_along(sizes)]
      for (kernel in c("epanechnikov", "biweight")) {
        whole <- kde(data, h = 0.7, w = w, kernel = kernel, gridsize = sizes, engine = "scanline", backend = "cuda")
        for (slab in c(1, 7, 60)) {
          parts <- list()
          stream <- kde_stream(data, h = 0.7, w = w, kernel = kernel, gridsize = sizes, backend = "cuda",
                               engine = "scanline", slab = slab,
                               to = function(slab) parts <<- c(parts, list(as.vector(slab$estimate))))
          expect_identical(stream[c("engine", "backend", "device")],
                           list(engine = "scanline", backend = "cuda", device = whole$device))
          expect_same_bits(unlist(parts), as.vector(whole$estimate))
        }
      }
    }
  }
})

test_that("slabs of the Gaussian kernel are direct sums on the GPU", {
  skip_without_device()
  on <- function(backend) {
    parts <- list()
    stream <- kde_stream(faithful, h = 2, kernel = "gaussian", gridsize = c(30, 40), slab = 15, backend = backend,
                         to = function(slab) parts <<- c(parts, list(as.vector(slab$estimate))))
    c(stream[c("engine", "backend")], list(estimate = unlist(parts)))
  }
  gpu <- on("cuda")
  expect_identical(gpu[1:2], list(engine = "direct", backend = "cuda"))
  expect_close_to_reference(gpu$estimate, on("cpu")$estimate)
})

test_that("a pair at distance exactly h is not lost, and weights of zero count nothing", {
  skip_without_device()
  x <- as.matrix(expand.grid(1:7, 1:7, 1:7))
  for (h in c(1, 2, 3)) {
    for (type in c("radial", "product")) {
      at <- function(backend) kde(x, h = h, eval.points = x, kernel = "uniform", kernel_type = type, backend = backend)
      expect_same_bits(at("cuda")$estimate, at("cpu")$estimate)
    }
  }
  w <- rep(c(0, 2), c(100, 243))
  at <- function(backend) kde(x, h = 1.3, eval.points = x, w = w, backend = backend)
  expect_close_to_reference(at("cuda")$estimate, at("cpu")$estimate)
})

test_that("shapes of every kind are those of the CPU", {
  skip_without_device()
  for (s in all_shapes()) {
    fhat <- function(backend, ..., points = s$points) {
      H <- shape_H(s, "gaussian")
      kde(s$x, H = H, w = s$w, eval.points = points, engine = "direct", backend = backend, ...)$estimate
    }
    cpu <- fhat("cpu")
    expect_close_to_reference(fhat("cuda"), cpu, info = s$name)
    # Single precision loses the far tails: the largest value may be elsewhere, at a sample.
    largest <- max(cpu, fhat("cpu", points = s$x))
    expect_close_to_reference(fhat("cuda", precision = "single"), cpu, tol = 1e-5, scale = largest, info = s$name)
  }
})

test_that("derivatives are those of the CPU", {
  skip_without_device()
  set.seed(4)
  for (d in c(1, 2, 4, 18)) {
    x <- matrix(rnorm(700 * d), ncol = d)
    H <- if (d == 1) 0.5 else 0.25 * d * (0.2 + diag(0.8, d))
    for (order in if (d > 4) 0:1 else c(0:2, 5)) {
      at <- function(backend, ...) {
        kdde(x, h = if (d == 1) sqrt(H), H = if (d > 1) H, deriv.order = order, backend = backend, engine = "direct",
             w = rep(1:7, 100), ...)
      }
      gpu <- at("cuda", eval.points = x[1:60, ])
      expect_identical(gpu[c("engine", "backend")], list(engine = "direct", backend = "cuda"))
      expect_identical(kind_of_device(gpu$device), kestrel_info()$cuda$device)
      cpu <- at("cpu", eval.points = x[1:60, ])
      # The sum of the absolute values of the terms is some times as large as the largest value.
      expect_close_to_reference(gpu$estimate, cpu$estimate, tol = 1e-11, info = paste(d, order))
      expect_same_bits(at("cuda", eval.points = x[1:60, ])$estimate, gpu$estimate, info = paste(d, order))
    }
  }
  slope <- function(...) kdde(faithful, deriv.order = 1, gridsize = c(9, 11), H = diag(c(0.1, 30)), ...)
  expect_close_to_reference(unlist(slope(backend = "cuda")$estimate), unlist(slope(backend = "cpu")$estimate),
                            tol = 1e-11)
  fhat <- slope(backend = "cuda")
  expect_match(paste(capture.output(print(fhat)), collapse = " "), fhat$device, fixed = TRUE)
  expect_close_to_reference(predict(fhat, faithful[1:5, ], backend = "cuda"), predict(fhat, faithful[1:5, ]),
                            tol = 1e-11)
  wide <- matrix(rnorm(19 * 50), ncol = 19)
  expect_error(kdde(wide, H = diag(19), deriv.order = 1, backend = "cuda"), "not made for this",
               class = "kestrel_error_backend")
})

test_that("predict() runs there, and \"auto\" when it pays", {
  skip_without_device()
  set.seed(2)
  x <- matrix(rnorm(1.6e6), ncol = 4)
  fhat <- kde(x, h = 0.5, eval.points = x, engine = "direct")
  expect_identical(fhat$backend, "cuda")
  expect_identical(kind_of_device(fhat$device), kestrel_info()$cuda$device)
  expect_match(paste(capture.output(print(fhat)), collapse = " "), fhat$device, fixed = TRUE)
  expect_identical(kde(x[1:100, ], h = 0.5, eval.points = x[1:10, ])$backend, "cpu")
  at <- x[1:500, ]
  expect_close_to_reference(predict(fhat, at, backend = "cuda"), predict(fhat, at, backend = "cpu"))
})

test_that("a time limit stops a long sum, and the device works afterwards", {
  skip_without_device()
  set.seed(3)
  x <- matrix(rnorm(5e6), ncol = 5)
  expect_lt(ends_by_time_limit(kde(x, h = 1, eval.points = x, backend = "cuda")), 1)
  expect_identical(kde(x[1:100, ], h = 1, eval.points = x[1:10, ], backend = "cuda")$backend, "cuda")
})

test_that("a forked process is refused, or uses the CPU", {
  skip_without_device()
  classes <- parallel::mclapply(1:2, function(i) {
    condition <- tryCatch(kde(1:10, h = 1, backend = "cuda"), error = identity)
    if (grepl("forked", conditionMessage(condition))) class(condition)[1] else "no error"
  }, mc.cores = 2)
  expect_identical(unlist(classes), rep("kestrel_error_backend", 2))
  # "auto" would compute this sum on the GPU; in the child it is computed on the CPU, after the message.
  sample <- selector_sample(with_seed(8, matrix(rnorm(6e6), ncol = 6)), NULL)
  places <- parallel::mclapply(1:2, function(i) {
    rm(list = ls(informed_of), envir = informed_of)
    said <- ""
    criteria <- withCallingHandlers(
      criteria_for(sample, "direct", run_options(backend = "auto", cuda = TRUE)),
      message = function(m) said <<- conditionMessage(m)
    )
    c(criteria$by()$backend, if (grepl("forked", said)) "said")
  }, mc.cores = 2)
  expect_identical(places, rep(list(c("cpu", "said")), 2))
})
