# The backend, threads and instruction set of a session.

test_that("kestrel_info has what a bug report needs", {
  info <- kestrel_info()
  expect_s3_class(info, "kestrel_info")
  expect_true(all(c("version", "isa", "isa_available", "threads", "cuda", "build") %in% names(info)))
  expect_identical(info$version, as.character(utils::packageVersion("kestrel")))
  expect_true(info$isa %in% info$isa_available)
  expect_identical(info$threads, kestrel_threads())
  expect_identical(info$cuda$built, info$build$cuda)
  expect_type(if (info$cuda$usable) info$cuda$device else info$cuda$reason, "character")
  for (isa in instruction_sets()) expect_identical(with_isa(isa, kestrel_info()$isa), isa)
})

test_that("printed, it fits a terminal and names what it found", {
  lines <- capture.output(returned <- withVisible(print(kestrel_info())))
  expect_false(returned$visible)
  expect_true(all(nchar(lines) <= 80))
  text <- paste(lines, collapse = "\n")
  for (word in c("kestrel 0.", "instruction set", "threads", "CUDA", "build", kestrel_info()$isa)) {
    expect_match(text, word, fixed = TRUE)
  }
})

test_that("kestrel_threads reads, sets, and gives back the count before", {
  before <- kestrel_threads()
  on.exit(kestrel_threads(before))
  expect_type(before, "integer")
  expect_gte(before, 1)
  returned <- withVisible(kestrel_threads(1))
  expect_false(returned$visible)
  expect_identical(returned$value, before)
  expect_identical(kestrel_threads(), 1L)
  expect_identical(kestrel_threads(before), 1L)
  expect_identical(kestrel_threads(), before)
})

test_that("the cap of a new session honours the variables that administrators set", {
  cap <- function(...) {
    code <- sprintf(".libPaths(%s); cat(kestrel::kestrel_threads())", paste(deparse(.libPaths()), collapse = ""))
    clean <- c("OMP_THREAD_LIMIT", "OMP_NUM_THREADS", "RCPP_PARALLEL_NUM_THREADS")
    env <- c(paste0("-u ", clean), ...)
    as.integer(system2("env", c(env, shQuote(file.path(R.home("bin"), "Rscript")), "-e", shQuote(code)), stdout = TRUE))
  }
  processors <- cap()
  expect_gte(processors, 1)
  for (variable in c("OMP_THREAD_LIMIT", "OMP_NUM_THREADS", "RCPP_PARALLEL_NUM_THREADS")) {
    expect_identical(cap(paste0(variable, "=1")), 1L, info = variable)
  }
  expect_lte(cap("OMP_THREAD_LIMIT=4096"), processors)
})

test_that("backend = \"cuda\" is an error of its own class, auto and cpu say cpu", {
  condition <- with_cuda_object("", tryCatch(kde(1:10, h = 1, backend = "cuda"), error = identity))
  expect_match(conditionMessage(condition), "built without CUDA")
  expect_s3_class(condition, c("kestrel_error_backend", "kestrel_error", "error", "condition"), exact = TRUE)
  expect_identical(kde(1:10, h = 1, backend = "auto")$backend, "cpu")
  expect_identical(kde(1:10, h = 1, backend = "cpu")$backend, "cpu")
})

test_that("an instruction set that is unknown or not here is refused", {
  expect_error(with_isa("mmx", kde(1:10, h = 1)), "mmx", class = "kestrel_error_input")
  missing <- setdiff(c("sse2", "avx2", "avx512"), kestrel_info()$isa_available)
  for (isa in missing) expect_error(with_isa(isa, kde(1:10, h = 1)), isa, class = "kestrel_error_backend")
})

test_that("the interval of polls is a number of seconds", {
  before <- options(kestrel.poll = NULL)
  on.exit(options(before))
  expect_identical(kde(1:10, h = 1)$backend, "cpu")
  for (seconds in list("often", NA, -1, 1:2, Inf, list(0))) {
    options(kestrel.poll = seconds)
    expect_error(kde(1:10, h = 1), "`options(kestrel.poll=)` must be a number of seconds that is not negative, not ",
                 fixed = TRUE, class = "kestrel_error_input")
  }
})

test_that("GPUs are different whole numbers", {
  before <- options(kestrel.devices = 2:1)
  on.exit(options(before))
  expect_identical(kde(1:10, h = 1, backend = "cpu")$backend, "cpu")
  for (devices in list("all", NA, 0, 1.5, c(1, 1), Inf, integer(0), list(1))) {
    options(kestrel.devices = devices)
    expect_error(kde(1:10, h = 1), "`options(kestrel.devices=)` must be different numbers of GPUs, as kestrel_info() ",
                 fixed = TRUE, class = "kestrel_error_input")
    expect_error(kestrel_info(), "kestrel.devices", class = "kestrel_error_input")
  }
})
