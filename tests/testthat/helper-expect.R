# Expectations and small helpers that several test files share.

# What is wrong with `actual`, a number or a vector that should be within tol of `reference`, relative to the largest
# value (or to `scale`); NULL if nothing is. A number below the range of a normal double may come back as zero.
reference_problem <- function(actual, reference, tol = 1e-12, scale = max(abs(reference)), info = NULL) {
  label <- if (is.null(info)) "" else paste0(info, ": ")
  if (length(actual) != length(reference)) {
    return(sprintf("%s%d values, the reference has %d.", label, length(actual), length(reference)))
  }
  if (length(actual) == 0) return(NULL)
  error <- abs(as.vector(actual) - as.vector(reference))
  worst <- which.max(ifelse(is.na(error), Inf, error))
  if (!anyNA(error) && error[worst] <= max(tol * scale, .Machine$double.xmin)) return(NULL)
  sprintf("%sentry %d is %.17g, the reference %.17g: off by %.3g of the largest value %.3g (allowed %.3g).",
          label, worst, actual[worst], reference[worst], error[worst] / scale, scale, tol)
}

# The same for bits: identical() lets 0 and -0 pass, so the bytes are compared.
bits_problem <- function(actual, expected, info = NULL) {
  bytes <- function(value) writeBin(as.vector(value, "double"), raw())
  if (identical(bytes(actual), bytes(expected))) return(NULL)
  paste0(if (!is.null(info)) paste0(info, ": "), "the bits differ.")
}

# One expectation for many findings: thousands of small ones cost more than what they look at.
expect_no_problem <- function(problems) {
  problems <- unlist(problems)
  shown <- problems[seq_len(min(length(problems), 5))]
  more <- if (length(problems) > 5) sprintf("and %d more", length(problems) - 5)
  expect(length(problems) == 0, paste(c(shown, more), collapse = "\n"))
}

expect_close_to_reference <- function(actual, reference, ...) {
  expect_no_problem(reference_problem(actual, reference, ...))
  invisible(actual)
}

expect_same_bits <- function(actual, expected, info = NULL) {
  expect_no_problem(bits_problem(actual, expected, info))
  invisible(actual)
}

with_isa <- function(isa, code) {
  old <- options(kestrel.isa = isa)
  on.exit(options(old))
  code
}

with_threads <- function(n, code) {
  old <- thread_cap_cpp()
  on.exit(set_thread_cap_cpp(old))
  set_thread_cap_cpp(n)
  code
}

# With another file for the CUDA object; "" stands for none.
with_cuda_object <- function(path, code) {
  on.exit(find_cuda_object(system.file(package = "kestrel")))
  cuda_object_cpp(path)
  code
}

skip_without_device <- function() {
  device <- cuda_device_cpp()
  skip_if(is_cuda_problem(device), paste("no GPU:", device$reason))
}

with_backend <- function(name, code) {
  on.exit(force_parallel_backend_cpp(""))
  force_parallel_backend_cpp(name)
  code
}

# The backends that this build has; asking for one that it lacks is an error.
available_backends <- function() {
  has <- function(name) tryCatch(is.null(with_backend(name, NULL)), error = function(e) FALSE)
  Filter(has, c("threads", "openmp", "rcppparallel"))
}

root_of <- function(H) t(chol(as.matrix(H)))

# The engine's sums for a shape of helper-shapes.R.
shape_density <- function(s, kernel = "gaussian", product = FALSE, threads = 1L, isa = "auto") {
  root <- root_of(shape_H(s, kernel))
  density_points_cpp(s$x, s$w, s$points, root, kernel, product, "direct", threads, isa, NULL)
}

# Calls until the count of threads is as wanted: on a busy machine one thread may have done all before the next one
# started. RcppParallel's threads are lent, not made: when the machine is busy none may come for as long as one likes,
# so there the count can only be bounded.
expect_threads_used <- function(call, threads, info = NULL) {
  if (parallel_backend_cpp() == "rcppparallel") {
    call()
    return(expect_true(threads_last_used_cpp() %in% seq_len(allowed_threads(threads)), info = info))
  }
  for (attempt in 1:20) {
    call()
    if (threads_last_used_cpp() == allowed_threads(threads)) break
  }
  expect_identical(threads_last_used_cpp(), as.integer(allowed_threads(threads)), info = info)
}

# How many of the threads that a call asks for it can get: OMP_THREAD_LIMIT is respected (R CMD check --as-cran sets
# it to 2).
allowed_threads <- function(n) {
  limit <- suppressWarnings(as.integer(Sys.getenv("OMP_THREAD_LIMIT", "")))
  if (is.na(limit) || limit < 1L) n else min(n, limit)
}
