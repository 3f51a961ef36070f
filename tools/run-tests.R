# Runs tests/testthat of the working directory against the installed package: tools/run-tests.R [FILTER]
# Fails when a test fails, when a file has an error, and when a snapshot is new: a snapshot that CI writes tests nothing.
library(testthat)
library(kestrel)

filter <- commandArgs(TRUE)
results <- as.data.frame(test_dir(
  "testthat",
  package = "kestrel", load_package = "installed", stop_on_failure = FALSE,
  filter = if (length(filter)) filter[1L], reporter = "summary"
))
new_snapshots <- list.files("testthat/_snaps", pattern = "\\.new\\.", recursive = TRUE)
failed <- sum(results$failed) + sum(results$error) + length(new_snapshots)
passed <- sum(results$passed)
if (length(new_snapshots)) cat("changed snapshots:", new_snapshots, "\n")
cat(sprintf("%d passed, %d failed, %d skipped\n", passed, failed, sum(results$skipped)))
quit(status = if (failed > 0L || passed == 0L) 1L else 0L)
