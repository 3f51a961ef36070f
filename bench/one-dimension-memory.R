# Bytes for each observation that leave-one-out cross-validation needs beyond its data, n = 1e6, one thread (Linux only):
# the highest resident size during the call. Prints the number alone; one-dimension.R runs this.
#
#   Rscript bench/one-dimension-memory.R

library(kestrel)
kilobytes <- function(field) {
  as.numeric(gsub("[^0-9]", "", grep(field, readLines("/proc/self/status"), value = TRUE)))
}
set.seed(1)
n <- 1000000L
x <- rnorm(n)
y <- sin(x) + rnorm(n)
w <- rep(1, n)
regression_cv <- getFromNamespace("regression_cv_cpp", "kestrel")
invisible(gc())
writeLines("5", "/proc/self/clear_refs") # forgets the highest resident size
before <- kilobytes("^VmRSS")
curve <- regression_cv(x, y, w, c(0.5, 1), "epanechnikov", FALSE, 1L, "auto", NULL)
cat((kilobytes("^VmHWM") - before) * 1024 / n, "\n")
