# Messages when the CUDA object cannot be used; no device is needed. tests/cpp/gpu/test-gpu.cpp tests the messages of
# the loader itself, with objects made for it.

problem_of <- function(path) {
  with_cuda_object(path, tryCatch(kde(1:10, h = 1, backend = "cuda"), error = identity))
}

test_that("a missing or invalid CUDA object is an error that says why", {
  text <- tempfile()
  writeLines("no object", text)
  on.exit(unlink(text))
  for (path in c("/nowhere/libkestrel_cuda.so", text)) {
    condition <- problem_of(path)
    expect_s3_class(condition, "kestrel_error_backend")
    expect_match(conditionMessage(condition), paste0("the CUDA object of kestrel, ", path, ", could not be loaded: "),
                 fixed = TRUE)
  }
  expect_match(conditionMessage(problem_of("")), "kestrel was built without CUDA", fixed = TRUE)
})

test_that("kestrel_info() says so too and never fails", {
  info <- with_cuda_object("/nowhere/libkestrel_cuda.so", kestrel_info())
  expect_false(info$cuda$usable)
  expect_match(info$cuda$reason, "could not be loaded", fixed = TRUE)
  lines <- capture.output(print(info))
  expect_true(all(nchar(lines) <= 80))
  expect_match(paste(lines, collapse = " "), "could not be loaded", fixed = TRUE)
})

test_that("\"auto\" takes the CPU for small sums without asking, and for large ones after one message", {
  fhat <- kde(faithful, H = diag(2), eval.points = faithful)
  task <- task_at_points(fhat, as.matrix(faithful))
  chosen <- function(larger, engine = "direct") {
    plan_density(fhat, task, density_options(1, "auto", engine, 1e-12, cuda = TRUE), larger)
  }
  rm(list = ls(informed_of), envir = informed_of)
  with_cuda_object("/nowhere/libkestrel_cuda.so", {
    expect_silent(small <- chosen(1))
    expect_identical(small$backend, "cpu")
    expect_silent(expect_identical(chosen(1e9, "fourier")$backend, "cpu"))
    expect_message(large <- chosen(1e9), "could not be loaded")
    expect_identical(large$backend, "cpu")
    expect_silent(chosen(1e9))
  })
})

test_that("engines that a GPU does not have, and precisions that are none, are refused", {
  expect_error(kde(1:10, h = 1, backend = "cuda", engine = "sweep"), "engine", class = "kestrel_error_input")
  expect_error(kde(1:10, h = 1, precision = "half"), "precision", class = "kestrel_error_input")
  expect_identical(kde(1:10, h = 1, backend = "cpu", precision = "single")$precision, "double")
})

test_that("selectors say why they cannot use a GPU, and \"auto\" does without", {
  x <- as.matrix(faithful)
  line <- faithful$waiting + 0.3 * cos(1:272) # no ties
  selectors <- list(Hlscv = Hlscv, Hlscv.diag = Hlscv.diag, Hscv = Hscv, Hscv.diag = Hscv.diag, Hpi = Hpi,
                    Hpi.diag = Hpi.diag, hlscv = hlscv, hscv = hscv, hpi = hpi)
  with_cuda_object("/nowhere/libkestrel_cuda.so", {
    for (name in names(selectors)) {
      select <- function(...) selectors[[name]](if (startsWith(name, "H")) x else line, ...)
      expect_error(select(backend = "cuda"), "could not be loaded", class = "kestrel_error_backend")
      expect_silent(auto <- select(amise = TRUE))
      expect_identical(auto$backend, "cpu", info = name)
      expect_null(auto$device)
      expect_identical(auto$h, select(amise = TRUE, backend = "cpu")$h)
    }
    expect_error(lscv(x, h = 1, backend = "cuda"), "could not be loaded", class = "kestrel_error_backend")
    expect_error(lscv(line, h = 1, backend = "cuda"), "could not be loaded", class = "kestrel_error_backend")
    expect_error(psi(line, 1, 4, backend = "cuda"), "could not be loaded", class = "kestrel_error_backend")
    expect_error(kde_stream(x, to = function(slab) NULL, backend = "cuda"), "could not be loaded",
                 class = "kestrel_error_backend")
    expect_identical(Hlscv(x, engine = "direct"), Hlscv(x, engine = "direct", backend = "cpu"))
  })
})

test_that("arguments are checked before a GPU is asked for", {
  x <- as.matrix(faithful)
  with_cuda_object("/nowhere/libkestrel_cuda.so", {
    refused <- function(code, argument) expect_error(code, argument, class = "kestrel_error_input")
    refused(Hlscv(x, Hstart = 1e9 * diag(2), backend = "cuda"), "Hstart")
    refused(Hpi(x, Hstart = diag(3), backend = "cuda"), "Hstart")
    refused(Hpi.diag(x, pilot = "unconstr", backend = "cuda"), "pilot")
    refused(Hscv(x, Hstart = 1e9 * diag(2), backend = "cuda"), "Hstart")
  })
})

test_that("tasks that a GPU does not take are refused by name", {
  x <- as.matrix(faithful)
  expect_refused(
    hlscv(x[, 1], kernel = "epanechnikov", backend = "cuda"),
    lscv(x[, 1], h = 1, kernel = "triweight", backend = "cuda"),
    Hlscv(x, engine = "fourier", backend = "cuda"),
    Hscv(x, engine = "fourier", backend = "cuda"),
    Hscv.diag(x, engine = "fourier", backend = "cuda"),
    kde_stream(x, to = function(slab) NULL, engine = "fourier", backend = "cuda"),
    Hpi(x, backend = "gpu"),
    hscv(x[, 1], backend = 1),
    psi(x[, 1], 1, 4, precision = "half"),
    lscv(x, h = 1, precision = 2),
    hpi(x[, 1], precision = "float"),
    kde(1:10, h = 1, backend = "cuda", engine = "sweep"),
    kde(1:10, h = 1, precision = "half"),
    npregbw(dist ~ speed, cars, backend = "gpu")
  )
})

test_that("each kind of problem has its message, as an error and as the reason for the CPU", {
  reasons <- c(not_built = "kestrel was built without CUDA", not_loaded = "the CUDA object could not be loaded",
               no_device = "there is no CUDA device", forked = "this process was forked from one that used the device",
               memory = "the device has too little memory", unsuited = "the device takes at most 128 variables",
               failed = "the device stopped working")
  rm(list = ls(informed_of), envir = informed_of)
  expect_snapshot_output({
    for (kind in names(reasons)) {
      problem <- list(problem = kind, reason = reasons[[kind]])
      condition <- tryCatch(abort_cuda(problem), error = identity)
      cat(kind, ": ", paste(setdiff(class(condition), c("kestrel_error", "error", "condition")), collapse = ", "), "\n",
          sep = "")
      say(condition, tryCatch(say_cuda_unused(problem), message = identity))
      expect_silent(say_cuda_unused(problem))
    }
    say(tryCatch(npreg(npregbw(dist ~ speed, cars), backend = "cuda"), error = identity))
  })
})

test_that("the CPU computes in double whatever the precision", {
  x <- faithful$eruptions
  expect_identical(psi(x, 0.3, 4, precision = "single"), psi(x, 0.3, 4))
  expect_identical(hpi(x, precision = "single", backend = "cpu"), hpi(x))
  expect_identical(lscv(as.matrix(faithful), h = 1, precision = "single"), lscv(as.matrix(faithful), h = 1))
})

test_that("\"auto\" asks for a device for long sums, and does without after one message", {
  run <- run_options(backend = "auto", cuda = TRUE)
  asked <- list(ckertype = "tricube", regtype = "lc", ckerorder = 2, type = "fixed", bw.scale = "support")
  x <- seq(0, 1, length.out = 1e6)
  sample <- selector_sample(with_seed(3, matrix(rnorm(6e5), ncol = 6)), NULL)
  long <- list(pairs = function() criteria_for(sample, "direct", run)$by()[-1L],
               regression = function() {
                 held <- regression_cpp(list(x = x, y = x, w = ones_cpp(length(x))), run)
                 choose_regression_place_cpp(held, local_fits(1:1000, asked), run)
                 regression_place_cpp(held)
               })
  with_cuda_object("/nowhere/libkestrel_cuda.so", {
    for (chosen in long) {
      rm(list = ls(informed_of), envir = informed_of)
      expect_message(expect_identical(chosen(), list(backend = "cpu")), "could not be loaded")
      expect_silent(expect_identical(chosen(), list(backend = "cpu")))
    }
  })
})

test_that("too little memory of a GPU is an error of the backend too, which no search swallows", {
  full <- list(problem = "memory", reason = "the device has 12 bytes left")
  refusing <- function(...) abort_cuda(full)
  expect_error(refusing(), "12 bytes left", class = "kestrel_error_backend")
  expect_error(refusing(), "12 bytes left", class = "kestrel_error_memory")
  for (kind in c("failed", "forked", "unsuited", "no_device")) {
    condition <- tryCatch(abort_cuda(list(problem = kind, reason = "of this")), error = identity)
    expect_s3_class(condition, c("kestrel_error_backend", "kestrel_error", "error", "condition"), exact = TRUE)
  }
  within <- within_limits(refusing, diag(2), c(0.1, 10))
  expect_error(within(diag(2)), "12 bytes left", class = "kestrel_error_backend")
  sample <- selector_sample(as.matrix(faithful), NULL)
  range <- search_range(sample, NULL)
  for (criteria in list(list(lscv = refusing, lscv_multiples = refusing),
                        list(lscv = refusing, lscv_multiples = function(S, h) h))) {
    expect_error(lscv_over_matrices(sample, function(...) criteria, range, NULL, FALSE, "optim"), "12 bytes left",
                 class = "kestrel_error_backend")
  }
  # The host's lack of memory still takes a step back.
  expect_identical(as.numeric(within_limits(function(H) abort_memory("full"), diag(2), c(0.1, 10))(diag(2))), Inf)
  rm(list = ls(informed_of), envir = informed_of)
  expect_message(cuda_failed(FALSE, full), "12 bytes left")
  expect_silent(cuda_failed(FALSE, full))
  expect_error(cuda_failed(TRUE, full), "12 bytes left", class = "kestrel_error_memory")
})

test_that("npregbw() says why it cannot use a GPU, and \"auto\" does without", {
  with_cuda_object("/nowhere/libkestrel_cuda.so", {
    expect_error(npregbw(dist ~ speed, cars, backend = "cuda"), "could not be loaded", class = "kestrel_error_backend")
    expect_error(npreg(dist ~ speed, cars, backend = "cuda"), "could not be loaded", class = "kestrel_error_backend")
    bw <- npregbw(dist ~ speed, cars)
    expect_identical(bw$backend, "cpu")
    expect_null(bw$device)
    expect_error(npreg(bw, backend = "cuda"), "runs on the CPU only", class = "kestrel_error_backend")
  })
})

test_that("a curve that the GPU refuses is the CPU's in \"auto\" and an error else", {
  rm(list = ls(informed_of), envir = informed_of)
  sample <- check_regression_sample(cars$speed, cars$dist, NULL, stats::na.fail)
  asked <- list(ckertype = "triweight", regtype = "lc", ckerorder = 2, type = "fixed", bw.scale = "support", method = "cv.ls")
  curve <- function(backend, ...) {
    run <- c(run_options(backend = backend, cuda = TRUE), ...)
    data <- observations_of(sample, run)
    with_cuda_object("/nowhere/libkestrel_cuda.so", {
      choose_regression_place_cpp(data$sorted, local_fits(5, asked), run)
      c(regression_curve(data, 5, asked, run), regression_place_cpp(data$sorted))
    })
  }
  # As if a device had been chosen before.
  expect_message(found <- curve("auto", settled = TRUE), "could not be loaded")
  expect_identical(found, curve("cpu"))
  expect_silent(curve("auto", settled = TRUE))
  expect_error(curve("cuda"), "could not be loaded", class = "kestrel_error_backend")
})
