# Densities of mixed data: the search for bandwidths and the densities, on one thread and on all, beside np.
#
#   Rscript bench/mixed-density.R [--short]
#
# np is left out where it is not installed, and where it would take minutes.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
source(file.path(here, "harness.R"))

with_np <- has("np")
if (with_np) options(np.messages = FALSE)

# A response, a number and a factor that matter.
data_of <- function(n) {
  set.seed(1)
  x <- stats::rnorm(n)
  z <- factor(sample(letters[1:3], n, TRUE))
  data.frame(y = sin(x) + as.integer(z) * 0.3 + stats::rnorm(n) * 0.3, x = x, z = z)
}
row_of <- function(task, n, call, peer, rounds) {
  threads_row(task, d = 2L, n, call, if (with_np) peer, rounds)
}

rows_for <- function(n) {
  data <- data_of(n)
  x <- data[-1]
  y <- data[1]
  if (with_np) object <- np::npudensbw(dat = data, bws = c(0.2, 0.2, 0.1), bandwidth.compute = FALSE)
  few <- data[seq_len(min(n, 300)), ]
  list(
    row_of("npudensbw, cv.ml", n, function() npudensbw(dat = data, nmulti = 1),
           function() np::npudensbw(dat = data, nmulti = 1), 1L),
    row_of("npcdensbw, cv.ml", n, function() npcdensbw(xdat = x, ydat = y, nmulti = 1),
           function() np::npcdensbw(xdat = x, ydat = y, nmulti = 1), 1L),
    row_of("npcdensbw, cv.ls", nrow(few),
           function() npcdensbw(xdat = few[-1], ydat = few[1], nmulti = 1, bwmethod = "cv.ls"),
           function() np::npcdensbw(xdat = few[-1], ydat = few[1], nmulti = 1, bwmethod = "cv.ls"), 1L),
    row_of("npudens", n, function() npudens(bws = c(0.2, 0.2, 0.1), tdat = data),
           function() np::npudens(bws = object), 1L)
  )
}

do.call(print_rows, rows_for(sized(2000, 500)))
