# Rscript tools/fuzz/run.R CALLS SEED LAST: random calls of everything that kestrel exports, each judged. A call is
# allowed to end in a value or in an error of class kestrel_error_*. Before it runs it is written to the file LAST, for
# the case that the session does not survive it. Fails if there were findings.
arguments <- commandArgs(trailingOnly = TRUE)
calls <- as.integer(arguments[1L])
seed <- as.integer(arguments[2L])
last <- arguments[3L]
# Rscript writes a space as ~+~.
folder <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (part in c("values", "calls-density", "calls-other", "judge")) source(file.path(folder, paste0(part, ".R")))

library(kestrel)
options(kestrel.memory_limit = memory_limit, warn = 1, digits = 7)
generators <- c(density_calls, other_calls, method_calls)
forgotten <- setdiff(getNamespaceExports("kestrel"), names(generators))
if (length(forgotten) > 0L) stop("no generator in tools/fuzz/ for what kestrel exports: ", toString(forgotten))

# A large call on three threads is on three threads, or comparing one with three compares nothing.
on_three_threads <- function() {
  kestrel_threads(3L)
  for (attempt in 1:20) {
    kde(seq(0, 1, length.out = 2e4), h = 0.1, eval.points = seq(0, 1, length.out = 2e3), engine = "direct")
    if (kestrel:::threads_last_used_cpp() == 3L) return(TRUE)
  }
  FALSE
}
if (!on_three_threads()) stop("three threads are not to be had: OMP_THREAD_LIMIT is ", Sys.getenv("OMP_THREAD_LIMIT"))

# Some arguments are names of files.
last <- file.path(normalizePath(dirname(last)), basename(last))
setwd(tempdir())
make_files()
grDevices::pdf(NULL)
home <- new.env(parent = globalenv())

text_of <- function(call) {
  paste(deparse(call, width.cutoff = 500L, control = c("keepNA", "keepInteger", "digits17", "niceNames",
                                                       "showAttributes")), collapse = " ")
}

findings <- 0L
for (number in seq_len(calls)) {
  set.seed((1000003 * seed + number) %% .Machine$integer.max)
  name <- pick(names(generators))
  given <- generators[[name]]()
  # The object that a method is for stays, and what is no value but an expression.
  kept <- if (isTRUE(attr(given, "whole"))) seq_along(given) else if (name %in% names(method_calls)) 1L
  given <- c(given[kept], spoilt(given[setdiff(seq_along(given), kept)]))
  if (chance(0.05) && "verbose" %in% names(formals(name))) given$verbose <- TRUE
  call <- as.call(c(as.name(name), given))
  writeLines(text_of(call), last)
  output <- utils::capture.output(wrong <- judge(call, home), type = "output")
  if (is.null(wrong)) next
  findings <- findings + 1L
  cat(sprintf("fuzz: call %d of seed %d: %s\n", number, seed, paste(unique(wrong), collapse = "; ")))
  cat("  set.seed(1); ", text_of(call), "\n", sep = "")
}
cat(sprintf("fuzz: %d calls, seed %d: %d findings\n", calls, seed, findings))
quit(status = if (findings > 0L) 1L else 0L)
