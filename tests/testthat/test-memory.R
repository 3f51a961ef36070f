# Errors of memory.

test_that("what is too large to allocate is refused as what does not fit in memory", {
  old <- options(kestrel.memory_limit = 1e300)
  on.exit(options(old))
  x <- with_seed(401, matrix(rnorm(60), 10))
  expect_error(kde(x, H = diag(6), gridsize = 1000),
               "must fit in memory, but an allocation failed: vector is too large", class = "kestrel_error_memory")
  expect_error(predict(kde(x[, 1], h = 1), matrix(0, 2, 2)), class = "kestrel_error_input")
})

test_that("errors of allocations are known from others, in any language", {
  of_cpp <- function(class) errorCondition("text", class = c(class, "C++Error"))
  expect_true(is_of_allocation(of_cpp("std::bad_alloc")))
  expect_true(is_of_allocation(of_cpp("std::length_error")))
  expect_false(is_of_allocation(of_cpp("std::range_error")))
  expect_true(is_of_allocation(tryCatch(numeric(2^52), error = identity)))
  expect_true(is_of_allocation(simpleError("Failed to allocate working memory for xtmp. Requested 9 * 8 bytes")))
  expect_false(is_of_allocation(simpleError("cannot allocate seats")))
  old <- Sys.getenv("LANGUAGE", NA)
  on.exit(if (is.na(old)) Sys.unsetenv("LANGUAGE") else Sys.setenv(LANGUAGE = old))
  Sys.setenv(LANGUAGE = "de")
  expect_true(is_of_allocation(tryCatch(numeric(2^52), error = identity)))
})

test_that("every exported function and method classes errors of memory", {
  public <- parseNamespaceFile("kestrel", dirname(system.file(package = "kestrel")))
  methods <- paste(sub(".*::", "", public$S3methods[, 1]), public$S3methods[, 2], sep = ".")
  wraps <- function(name) {
    code <- getFromNamespace(name, "kestrel")
    all.names(body(code))[1] == "classing_memory" || isS3stdGeneric(code)
  }
  expect_identical(Filter(Negate(wraps), c(public$exports, methods)), character(0))
})

test_that("calls that run out of memory in their middle are errors of memory, wherever that is", {
  skip_if_not(file.exists("/proc/self/limits"), "no limits to set")
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(deparse(bquote({
    .libPaths(.(.libPaths()))
    library(kestrel)
    kestrel_threads(1)
    set.seed(1)
    x <- rnorm(1e6)
    options(kestrel.memory_limit = 1e300)
    # R loads LAPACK at its first use, and does not say that memory is missing for it.
    eigen(diag(2))
    calls <- list(function() kde(x, h = 0.1, kernel = "epanechnikov", engine = "sweep"),
                  function() hlscv(x, kernel = "biweight"), function() rkde(1e6, kde(x[1:9], h = 1)))
    for (room in c(5, 20, 40, 80) * 1e6) for (call in calls) {
      ballast <- NULL
      gc()
      ballast <- raw(max(0, kestrel:::available_memory_cpp() - room))
      cat(tryCatch({
        call()
        "done"
      }, error = function(e) paste(class(e)[1], conditionMessage(e))), "\n", sep = "")
    }
    # sizes above the largest integer
    draws <- function(x) kestrel:::kernel_draws_cpp(x, seq_len(1500000000L), "gaussian", "radial", diag(ncol(x)))
    for (d in 1:2) cat(tryCatch(draws(matrix(0, 1L, d)), error = conditionMessage), "\n")
  })), script)
  # The size of a new session: this one may have started a GPU's driver, which reserves much more.
  fresh <- c("--vanilla", "-e", shQuote("cat(readLines('/proc/self/status'), sep = '\\n')"))
  status <- system2(file.path(R.home("bin"), "Rscript"), fresh, stdout = TRUE)
  size <- as.numeric(gsub("[^0-9]", "", grep("^VmSize:", status, value = TRUE)))
  command <- sprintf("ulimit -v %.0f; %s --vanilla %s", size + 400000,
                     shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script))
  said <- system2("sh", c("-c", shQuote(command)), stdout = TRUE, stderr = TRUE)
  classed <- said[1:12]
  expect_identical(grep("^(done|kestrel_error_memory .*)$", classed, invert = TRUE, value = TRUE), character(0))
  expect_true(any(grepl("std::bad_alloc", classed)))
  expect_true(any(grepl("cannot allocate", classed)))
  expect_match(said[13:14], "cannot allocate vector of size (11|22)[.]. Gb")
})

test_that("values are in memory once, and points are not copied", {
  skip_if_not(capabilities("profmem"), "R does not list allocations")
  # How many vectors of at least so many numbers a call allocates.
  vectors <- function(code, numbers) {
    file <- tempfile()
    on.exit(unlink(file))
    Rprofmem(file, threshold = 8 * numbers)
    force(code)
    Rprofmem(NULL)
    sum(grepl("^[0-9]+ *:", readLines(file)))
  }
  x <- with_seed(402, matrix(rnorm(200), 100))
  points <- with_seed(403, matrix(rnorm(4e5), 2e5))
  line <- points[, 1]
  for (kernel in c("gaussian", "epanechnikov")) {
    on_grid <- function() kde(x, H = diag(2), gridsize = c(500, 400), kernel = kernel)
    expect_identical(vectors(on_grid(), 2e5), 1L, info = kernel)
    expect_identical(vectors(kde(x, H = diag(2), eval.points = points, kernel = kernel), 2e5), 1L, info = kernel)
    expect_identical(vectors(kde(x[, 1], h = 1, eval.points = line, kernel = kernel), 2e5), 1L, info = kernel)
  }
  expect_identical(dim(on_grid()$estimate), c(500L, 400L))
})
