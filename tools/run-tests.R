# Rscript tools/run-tests.R FOLDER [FILTER]: runs the testthat tests in the folder, on the installed package, several
# files at a time. Fails on a failed or skipped test, on an error, and on a snapshot that is new or has changed. Only
# tests on a GPU may be skipped, if there is none. With a filter there is no line "N passed, N failed" after testthat's
# own summary. The tests that failed are named last.
arguments <- commandArgs(trailingOnly = TRUE)
folder <- normalizePath(arguments[1])
filter <- if (length(arguments) > 1) arguments[2]

Sys.setenv(NOT_CRAN = "true", TESTTHAT_PARALLEL = "true")
if (!nzchar(Sys.getenv("TESTTHAT_CPUS"))) Sys.setenv(TESTTHAT_CPUS = min(4, max(1, parallel::detectCores())))
library(testthat)
library(kestrel)
setwd(tempdir()) # testthat leaves a file where it runs if a test fails

snapshots <- function() {
  files <- sort(list.files(file.path(folder, "_snaps"), recursive = TRUE, full.names = TRUE))
  tools::md5sum(files)
}
before <- snapshots()

# testthat's reporter for logs, which also says how many tests are done, at most every ten seconds.
telling <- R6::R6Class("TellingReporter", inherit = CheckReporter, public = list(
  tests = 0, told = Sys.time(),
  end_test = function(context, test) {
    self$tests <- self$tests + 1
    if (difftime(Sys.time(), self$told, units = "secs") >= 10) {
      cat("  ", self$tests, " tests\n", sep = "")
      self$told <- Sys.time()
    }
  }
))

results <- tryCatch(
  as.data.frame(test_dir(folder, package = "kestrel", load_package = "installed", filter = filter,
                         reporter = telling$new(), stop_on_failure = FALSE)),
  error = function(e) {
    message("the tests could not be run: ", conditionMessage(e))
    data.frame(file = "", test = "", failed = 1L, error = FALSE, skipped = FALSE, passed = 0L)
  }
)

without_device <- !kestrel_info()$cuda$usable & grepl("^test-gpu", results$file)
skipped <- sum(results$skipped & !without_device)
changed <- is.null(filter) && !identical(before, snapshots())
failed <- sum(results$failed) + sum(results$error) + skipped + changed
if (skipped > 0) message(skipped, " skipped: a test that does not run tests nothing")
if (changed) {
  message("a snapshot is new, unused or has changed: see ", file.path(folder, "_snaps"))
}
if (is.null(filter)) cat(sum(results$passed), " passed, ", failed, " failed\n", sep = "")
wrong <- results[results$failed > 0 | results$error, ]
cat(sprintf("failed: %s: %s\n", wrong$file, wrong$test), sep = "")
quit(status = if (failed > 0 || sum(results$passed) == 0) 1 else 0)
