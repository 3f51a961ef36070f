# The namespaces that library(kestrel) loads: each one more takes time at the start of every session.

test_that("kestrel loads no package but Rcpp", {
  code <- "before <- loadedNamespaces(); library(kestrel); writeLines(setdiff(loadedNamespaces(), before))"
  loaded <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", "-e", shQuote(code)), stdout = TRUE)
  expect_setequal(loaded, c("kestrel", "Rcpp"))
})

test_that("without suggested packages kestrel works, and an error names the package that is missing", {
  alone <- tempfile("library")
  dir.create(alone)
  on.exit(unlink(alone, recursive = TRUE))
  needed <- c("kestrel", "Rcpp", "cli")
  file.symlink(vapply(needed, find.package, ""), file.path(alone, needed))
  # Not even the library of R itself, where some have all packages.
  code <- "environment(.libPaths)$.lib.loc <- commandArgs(TRUE); library(kestrel)
    by <- kde(iris, ~ Petal.Length + Petal.Width | Species, gridsize = 9)
    cat(class(as.data.frame(by)), nrow(as.data.frame(npreg(dist ~ speed, data = cars))), '\n')
    say <- function(code) cat(tryCatch(code, kestrel_error_input = conditionMessage), '\n')
    say(stat_kestrel_density()); say(stat_kestrel_smooth()); say(kde_overlap(by$estimates[[1]], by$estimates[[2]]))
    say(kde(structure(list(), class = 'sf'))); say(kde.truncate(by$estimates[[1]], structure(list(), class = 'sfc')))"
  script <- file.path(alone, "script.R")
  writeLines(code, script)
  said <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script), shQuote(alone)), stdout = TRUE)
  expect_snapshot_output(cat(said, sep = "\n"))
})
