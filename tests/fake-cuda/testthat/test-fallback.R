# What happens if a GPU fails: "auto" gives the CPU's numbers after one message, "cuda" is a classed error.

# The codes of gpu_abi.h, their messages, and the first classes of the error.
problems <- list(
  memory = list(code = 2, reason = "the CUDA device has too little free memory",
                class = c("kestrel_error_memory", "kestrel_error_backend")),
  "host memory" = list(code = 6, reason = "the host of the CUDA device has too little memory",
                       class = c("kestrel_error_memory", "kestrel_error_backend")),
  unsuited = list(code = 5, reason = "the CUDA object was not made for this", class = "kestrel_error_backend"),
  failed = list(code = 3, reason = "the CUDA device failed", class = "kestrel_error_backend")
)

expect_refusal <- function(condition, class, reason, info = NULL) {
  expect_s3_class(condition, c(class, "kestrel_error", "error", "condition"), exact = TRUE)
  expect_identical(conditionMessage(condition),
                   paste0("`backend` must be \"auto\" or \"cpu\" here, not \"cuda\": ", reason, "."), info = info)
  expect_nothing_held(info)
}

# Expects one message, and then the CPU's result, to the bit.
expect_cpu_instead <- function(call, cpu, reason, info = NULL) {
  said <- capture_messages(found <- call("auto"))
  expect_identical(said, paste0("kestrel computes on the CPU: ", reason, ".\n"), info = info)
  expect_identical(found, cpu, info = info)
  expect_nothing_held(info)
}

test_that("results say where they were computed, and with \"auto\" are those of the GPU", {
  for (name in names(fake_tasks)) {
    call <- fake_tasks[[name]]$call
    with_fake({
      gpu <- call("cuda")
      expect_nothing_held(name)
      expect_silent(auto <- call("auto"))
      cpu <- call("cpu")
    })
    expect_identical(gpu[c("backend", "device")], list(backend = "cuda", device = "fake device"), info = name)
    expect_identical(auto, gpu, info = name)
    expect_identical(cpu$backend, "cpu", info = name)
    expect_false("device" %in% names(cpu), info = name)
    expect_close_to_reference(gpu$numbers, cpu$numbers, tol = 1e-9, info = name)
  }
})

test_that("the precision is recorded that was used", {
  precision <- function(kernel, ...) {
    kde(fake_sample, h = 2, eval.points = fake_sample[1:9, ], kernel = kernel, precision = "single", ...)$precision
  }
  with_fake({
    expect_identical(precision("gaussian", backend = "cuda"), "single")
    expect_identical(precision("uniform", backend = "cuda"), "double")
    expect_identical(precision("gaussian", backend = "cpu"), "double")
    fake_does(SUM = 2)
    expect_identical(suppressMessages(precision("gaussian", backend = "auto")), "double")
  })
})

test_that("whatever fails in a call, \"auto\" is the CPU's and \"cuda\" an error of its kind", {
  for (name in names(fake_tasks)) {
    task <- fake_tasks[[name]]
    cpu <- task$call("cpu")
    for (at in task$needs) {
      for (problem in problems) {
        info <- paste(name, at, problem$code)
        reason <- paste0(problem$reason, ": FAKE_CUDA_", at, " says ", problem$code)
        does <- stats::setNames(list(problem$code), at)
        with_fake({
          do.call(fake_does, does)
          expect_cpu_instead(task$call, cpu, reason, info)
        })
        with_fake({
          do.call(fake_does, does)
          expect_refusal(tryCatch(task$call("cuda"), error = identity), problem$class, reason, info)
        })
      }
    }
  }
})

test_that("so it is where there is no device, or no memory to start it", {
  starts <- list(list(code = 1, reason = "there is no usable CUDA device", class = "kestrel_error_backend"),
                 problems$memory)
  for (name in names(fake_tasks)) {
    call <- fake_tasks[[name]]$call
    cpu <- call("cpu")
    for (problem in starts) {
      reason <- paste0(problem$reason, ": FAKE_CUDA_DEVICE says ", problem$code)
      with_fake({
        fake_does(DEVICE = problem$code)
        expect_cpu_instead(call, cpu, reason, name)
        expect_refusal(tryCatch(call("cuda"), error = identity), problem$class, reason, name)
      })
    }
  }
})

test_that("a device that failed is not asked again in a session; one that lacked memory is", {
  call <- fake_tasks[["density at points"]]$call
  cpu <- call("cpu")
  for (problem in problems) {
    with_fake({
      fake_does(SUM = problem$code)
      expect_message(call("auto"), problem$reason)
      expect_silent(call("auto")) # said once
      fake_does(SUM = "")
      if (problem$code == 3) {
        expect_silent(expect_identical(call("auto"), cpu))
        expect_error(call("cuda"), "the CUDA device failed: FAKE_CUDA_SUM says 3", class = "kestrel_error_backend")
      } else {
        expect_identical(call("cuda")$backend, "cuda")
        expect_identical(call("auto")$backend, "cuda")
      }
    })
  }
})

test_that("a forked process has the CPU's numbers after a message, or an error", {
  reason <- "a process that was forked from one that had used CUDA cannot use it"
  with_fake({
    gpu <- lapply(fake_tasks, function(task) task$call("cuda"))
    found <- parallel::mclapply(fake_tasks, function(task) {
      said <- capture_messages(auto <- task$call("auto"))
      list(said = said, auto = auto, condition = tryCatch(task$call("cuda"), error = identity))
    }, mc.cores = 2, mc.preschedule = FALSE)
    for (name in names(fake_tasks)) {
      call <- fake_tasks[[name]]$call
      expect_identical(found[[name]]$said, paste0("kestrel computes on the CPU: ", reason, ".\n"), info = name)
      expect_identical(found[[name]]$auto, call("cpu"), info = name)
      expect_refusal(found[[name]]$condition, "kestrel_error_backend", reason, name)
      expect_identical(call("cuda"), gpu[[name]], info = name)
    }
  })
})

test_that("slabs are the CPU's from the one on where the device fails", {
  kinds <- list(SLAB = function(...) streamed(gridsize = c(30, 40), slab = 10, kernel = "epanechnikov", ...),
                SUM = function(...) streamed(gridsize = c(30, 40), slab = 10, ...))
  for (at in names(kinds)) {
    stream <- kinds[[at]]
    later <- stats::setNames(list(problems$memory$code), at)
    failing <- function(backend) {
      stream(backend = backend, to = function(slab) if (slab$first == 11) do.call(fake_does, later))
    }
    with_fake({
      gpu <- stream(backend = "cuda")
      cpu <- stream(backend = "cpu")
      said <- capture_messages(found <- failing("auto"))
      expect_nothing_held(at)
    })
    expect_identical(said, paste0("kestrel computes on the CPU: ", problems$memory$reason, ": FAKE_CUDA_", at,
                                  " says 2.\n"))
    expect_identical(found$slabs, c(gpu$slabs[1:2], cpu$slabs[3:4]))
    # If each slab is an estimate of its own, the backend is that of the first.
    expect_identical(found$backend, if (at == "SLAB") "cpu" else "cuda")
    with_fake(expect_error(failing("cuda"), problems$memory$reason, class = "kestrel_error_memory"))
  }
})

test_that("an error on the way leaves no file", {
  file <- tempfile()
  with_fake({
    fake_does(SLAB = 3)
    expect_error(kde_stream(fake_sample, h = 2, kernel = "epanechnikov", to = file, backend = "cuda"),
                 class = "kestrel_error_backend")
  })
  expect_false(file.exists(file))
})

test_that("a search whose device fails on the way goes on with the CPU", {
  asked <- 0
  count <- function() {
    asked <<- asked + 1
    if (asked == 5) fake_does(PAIRS = 2)
  }
  search <- function(backend) Hlscv(fake_sample, engine = "direct", amise = TRUE, backend = backend)
  with_fake(traced("lscv_cpp", bquote(.(count)()), {
    expect_message(found <- search("auto"), "too little free memory")
  }))
  expect_gt(asked, 5)
  expect_identical(found$backend, "cpu")
  expect_equal(found$H, search("cpu")$H, tolerance = 1e-6)
})

test_that("a bandwidth is found by the CPU where the device fails for that only", {
  density <- function(backend) kde(fake_flowers, eval.points = fake_flowers[1:9, ], backend = backend)
  with_fake({
    fake_does(PAIRS = 5)
    expect_message(found <- density("cuda"), "not made for this")
  })
  expect_identical(c(found$backend, found$selector$backend), c("cuda", "cpu"))
  expect_identical(found$H, density("cpu")$H)
})

test_that("sums with bandwidths that vary are those of the GPU", {
  h <- rep(seq(1, 3, length.out = 68), 4)
  sums <- function(backend, ...) kde.sp(fake_sample, hs = h, gridsize = 9, backend = backend, ...)$estimate
  balloon <- function(backend) kde.balloon(fake_sample, eval.points = fake_sample[1:9, ], backend = backend)$estimate
  expect_error(sums("cuda"), class = "kestrel_error_backend")
  with_fake({
    expect_equal(sums("cuda"), sums("cpu"), tolerance = 1e-10)
    expect_equal(balloon("cuda"), balloon("cpu"), tolerance = 1e-10)
    fake_does(SUM = 2)
    expect_error(sums("cuda"), class = "kestrel_error_backend")
  })
})

test_that("so are those of compact kernels, and the CPU's if the GPU fails", {
  h <- rep(seq(1, 3, length.out = 68), 4)
  kinds <- list(
    sample = function(backend, ...) {
      kde.sp(fake_sample, hs = h, gridsize = 9, kernel = "biweight", backend = backend, ...)
    },
    balloon = function(backend, ...) {
      kde.balloon(fake_sample, eval.points = fake_sample[1:9, ], kernel = "cosine", backend = backend, ...)
    }
  )
  for (name in names(kinds)) {
    sums <- function(...) kinds[[name]](...)$estimate
    cpu <- sums("cpu")
    with_fake({
      gpu <- sums("cuda")
      expect_close_to_reference(gpu, cpu, info = name)
      expect_identical(sums("auto"), gpu, info = name)
      expect_identical(predict(kinds[[name]]("cuda"), fake_sample[1:9, ]),
                       predict(kinds[[name]]("auto"), fake_sample[1:9, ]), info = name)
      single <- sums("cuda", precision = "single")
      expect_close_to_reference(single, cpu, tol = 1e-5, info = name)
      expect_gt(max(abs(single - cpu)), 1e-12 * max(cpu))
      expect_identical(sums("cpu", precision = "single"), cpu, info = name)
      expect_nothing_held(name)
    })
    with_fake({
      fake_does(VARIABLE = 2)
      expect_cpu_instead(sums, cpu, "the CUDA device has too little free memory: FAKE_CUDA_VARIABLE says 2", name)
      expect_refusal(tryCatch(sums("cuda"), error = identity), problems$memory$class,
                     "the CUDA device has too little free memory: FAKE_CUDA_VARIABLE says 2", name)
    })
  }
  # Gaussian sums are in double precision whatever is asked for.
  with_fake({
    gaussian <- function(...) kde.sp(fake_sample, hs = h, gridsize = 9, backend = "cuda", ...)$estimate
    expect_identical(gaussian(precision = "single"), gaussian())
  })
})
