# The most bytes that a session holds in which Hlscv(x) is called, n = 1e6, one thread (Linux only): R, the data and all.
# Prints the number alone; bandwidth-matrix.R runs this.
#
#   Rscript bench/bandwidth-matrix-memory.R d

library(kestrel)
d <- as.integer(commandArgs(TRUE))
kestrel_threads(1)
set.seed(1)
x <- matrix(rnorm(1e6 * d), ncol = d) %*% chol(diag(0.4, d) + 0.6)
invisible(gc())
writeLines("5", "/proc/self/clear_refs") # forgets the highest resident size
H <- Hlscv(x)
highest <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
cat(1024 * as.numeric(gsub("[^0-9]", "", highest)), "\n")
