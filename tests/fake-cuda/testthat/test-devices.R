# Several GPUs. tests/cpp/gpu/test-gpu-devices.cpp tests what they compute.

with_devices <- function(numbers, code) {
  before <- options(kestrel.devices = numbers)
  on.exit(options(before))
  code
}

density <- function(backend = "cuda") {
  kde(fake_sample, h = 2, eval.points = fake_sample[1:9, ], backend = backend)
}

test_that("kestrel_info() lists all GPUs and says which are used", {
  with_fake({
    fake_does(DEVICES = 3, LOST = "0 0 0 0 1 0")
    info <- with_devices(c(2, 3), kestrel_info())
  })
  expect_identical(info$cuda$device, "fake device")
  expect_identical(info$cuda$devices$device, rep("fake device", 3))
  expect_identical(info$cuda$devices$used, c(FALSE, TRUE, FALSE))
  expect_identical(info$cuda$devices$reason, c("", "", "there is no usable CUDA device: device 2 is lost"))
  info$cuda$devices$memory <- c(8e10, 8e10, 4e10)
  expect_identical(cuda_text(info$cuda), paste0(
    "yes: 1: fake device (80 GB, compute capability 9.0, not used); 2: fake device (80 GB, compute capability 9.0); ",
    "3: fake device (40 GB, compute capability 9.0, not used: there is no usable CUDA device: device 2 is lost); ",
    "driver for CUDA 0.0"
  ))
})

test_that("results name the GPUs, and have the same numbers on any of them", {
  with_fake({
    fake_does(DEVICES = 3)
    all <- density()
    two <- with_devices(c(3, 1), density())
    one <- with_devices(2, density())
  })
  expect_identical(c(all$device, two$device, one$device), c("3 x fake device", "2 x fake device", "fake device"))
  expect_identical(two$estimate, all$estimate)
  expect_identical(one$estimate, all$estimate)
})

test_that("a GPU that is not there cannot be used", {
  reason <- "there is no CUDA device 4, which options(kestrel.devices=) names, but 3"
  with_fake({
    fake_does(DEVICES = 3)
    with_devices(c(1, 4), {
      expect_error(density(), reason, fixed = TRUE, class = "kestrel_error_backend")
      expect_message(fhat <- density("auto"), reason, fixed = TRUE)
      expect_identical(kestrel_info()$cuda$reason, reason)
    })
    expect_identical(fhat$backend, "cpu")
    expect_identical(density()$device, "3 x fake device")
  })
})

test_that("a GPU that fails leaves its pieces to the others, and the last one to the CPU", {
  call <- fake_tasks[["LSCV of a matrix"]]$call
  lost <- function(what, backend = "cuda") {
    with_fake({
      fake_does(DEVICES = 2, PIECES = 5, LOST = what)
      call(backend)
    })
  }
  whole <- lost("")
  for (what in c("3 7", "2 7", "0 0 3 3")) {
    expect_silent(found <- lost(what))
    expect_identical(found$numbers, whole$numbers, info = what)
  }
  # The last one may fail as it starts.
  expect_error(lost("3 7 3 9"), "device . is lost", class = "kestrel_error_backend")
  expect_message(found <- lost("3 7 3 9", "auto"), "device . is lost")
  expect_identical(found, call("cpu"))
  expect_nothing_held()
})
