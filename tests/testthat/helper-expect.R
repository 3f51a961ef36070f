# Expectations and small helpers that several test files share.

# What is wrong with `actual`, a number or a vector that should be within tol of `reference`, relative to the largest
# value (or to `scale`); NULL if nothing is. A number below the range of normal doubles may be zero.
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

# The same for bits. identical() does not tell 0 from -0, so the bytes are compared.
bits_problem <- function(actual, expected, info = NULL) {
  bytes <- function(value) writeBin(as.vector(value, "double"), raw())
  if (identical(bytes(actual), bytes(expected))) return(NULL)
  paste0(if (!is.null(info)) paste0(info, ": "), "the bits differ.")
}

# One expectation for many findings: thousands of small ones would take longer than the computations.
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
  before <- kestrel_threads(n)
  on.exit(kestrel_threads(before))
  code
}

# With another file as the CUDA object; "" for none.
with_cuda_object <- function(path, code) {
  on.exit(find_cuda_object(system.file(package = "kestrel")))
  cuda_object_cpp(path)
  code
}

# The field `device` of a result without the number of devices, which share long tasks.
kind_of_device <- function(device) sub("^[0-9]+ x ", "", device)

skip_without_device <- function() {
  cuda <- kestrel_info()$cuda
  skip_if(!cuda$usable, paste("no GPU:", cuda$reason))
}

# The instruction sets of this processor, or the one under test (helper-isa.R).
instruction_sets <- function() {
  if (nzchar(isa_under_test)) isa_under_test else kestrel_info()$isa_available
}

root_of <- function(H) t(chol(as.matrix(H)))

# The sums of an engine for a shape of helper-shapes.R, at its points.
shape_density <- function(s, kernel = "gaussian", product = FALSE, threads = 1L, isa = "auto", engine = "direct") {
  type <- if (product) "product" else "radial"
  fhat <- with_isa(isa, kde(s$x, H = shape_H(s, kernel), w = s$w, kernel = kernel, kernel_type = type,
                            eval.points = s$points, engine = engine, threads = threads))
  fhat$estimate * sum(s$w)
}

# No warning of this class; others are muffled.
expect_no_warning_of <- function(code, class) {
  found <- character(0)
  withCallingHandlers(code, warning = function(w) {
    if (inherits(w, class)) found <<- c(found, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  expect_identical(found, character(0))
}
