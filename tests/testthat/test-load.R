# The namespaces that library(kestrel) loads: each one more takes time at the start of every session.

test_that("kestrel loads no package but Rcpp", {
  code <- "before <- loadedNamespaces(); library(kestrel); writeLines(setdiff(loadedNamespaces(), before))"
  loaded <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", "-e", shQuote(code)), stdout = TRUE)
  expect_setequal(loaded, c("kestrel", "Rcpp"))
})
