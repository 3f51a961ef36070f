# Rscript tests/fuzz/run.R CALLS SEED FAILURES [GROUPS]: random calls of everything that kestrel exports, each judged.
# Rscript tests/fuzz/run.R --replay FILE: one of them again.
#
# A call may end in a value, which must be right as far as an oracle knows, or in an error of class kestrel_error_*.
# While it runs it is in the file FAILURES/SEED-NUMBER.R, which stays if the call was wrong or crashed the session. The
# script fails if there are findings. GROUPS: names in `groups`, separated by commas.
arguments <- commandArgs(trailingOnly = TRUE)
# Under sanitizers calls are slower. Processes that the session starts from now on do not need them, unless they load
# kestrel.
preload <- Sys.getenv("LD_PRELOAD")
sanitized <- nzchar(preload)
Sys.unsetenv("LD_PRELOAD")
# Rscript writes a space as ~+~.
folder <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (part in c("values", "calls-density", "calls-other", "digits", "oracle", "calls-values", "judge-values", "objects",
               "child", "files", "disks", "interrupts", "sessions", "symmetry", "judge")) {
  source(file.path(folder, paste0(part, ".R")))
}

suppressPackageStartupMessages(library(kestrel))
# Loading them may take longer than a call may.
others <- c("RSQLite", "dbplyr", "generics", "ggplot2", "isoband", "knitr", "stars", "terra")
for (package in others) loadNamespace(package)
options(kestrel.memory_limit = memory_limit, warn = 1, digits = 7)

# ---- what is called -----------------------------------------------------------------------------------------------

argument_calls <- c(density_calls, other_calls, method_calls)
forgotten <- c(setdiff(getNamespaceExports("kestrel"), names(argument_calls)),
               setdiff(getNamespaceExports("kestrel"), names(long_calls)), methods_forgotten())
if (length(forgotten) > 0L) stop("no generator in tests/fuzz/ for what kestrel exports: ", toString(forgotten))

# A call of one of `calls` with some of its arguments spoilt.
argument_call <- function() {
  name <- pick(names(argument_calls))
  given <- argument_calls[[name]]()
  # Keeps the object that a method is for, and arguments that are expressions instead of values.
  kept <- if (isTRUE(attr(given, "whole"))) seq_along(given) else if (name %in% names(method_calls)) 1L
  given <- c(given[kept], spoilt(given[setdiff(seq_along(given), kept)]))
  if (chance(0.05) && "verbose" %in% names(formals(name))) given$verbose <- TRUE
  if (chance(0.05) && "threads" %in% names(formals(name))) given$threads <- pick(c(2, 7, 1e5, 2^31 - 1))
  as.call(c(as.name(name), given))
}

value_call <- function() {
  name <- pick(names(value_calls), ifelse(names(value_calls) == "kde", 6, 1))
  as.call(c(as.name(name), value_calls[[name]]()))
}

# For each group: how often it is called, its calls, and its judge.
groups <- list(
  arguments = list(share = 40, call = argument_call, judge = judge_call),
  values = list(share = 28, call = value_call, judge = function(call, environment) {
    judge_call(call, environment, wrong_values)
  }),
  objects = list(share = 20, call = object_call, judge = judge_object),
  files = list(share = 5, call = file_call, judge = judge_file),
  disks = list(share = 3, call = disk_call, judge = judge_disk),
  interrupts = list(share = 3, call = interrupt_call, judge = judge_interrupt),
  symmetry = list(share = 1, call = symmetric_call, judge = judge_symmetry),
  sessions = list(share = 0.4, call = session_call, judge = judge_session)
)

# ---- the session --------------------------------------------------------------------------------------------------

# Calls must get three threads: otherwise the comparison of one thread with three is void.
on_three_threads <- function() {
  kestrel_threads(3L)
  kestrel_threads() == 3L
}

text_of <- function(call, numbers = "digits17") {
  paste(deparse(call, width.cutoff = 500L, control = c("keepNA", "keepInteger", numbers, "niceNames",
                                                       "showAttributes")), collapse = " ")
}

# What is wrong with a call, without its output.
wrong_with <- function(group, call) {
  utils::capture.output(wrong <- groups[[group]]$judge(call, globalenv()), type = "output")
  unique(wrong)
}

replay <- function(file) {
  saved <- new.env()
  sys.source(file, saved)
  wrong <- wrong_with(saved$group, saved$call)
  for (line in wrong) cat("fuzz:", line, "\n")
  if (length(wrong) == 0L) cat("fuzz: nothing is wrong with", basename(file), "\n")
  length(wrong)
}

# The number of findings among that many calls.
run_calls <- function(calls, seed, failures, names) {
  shares <- vapply(groups[names], `[[`, 0, "share")
  # Files of an earlier run.
  unlink(Sys.glob(file.path(failures, paste0(seed, "-*.R"))))
  findings <- 0L
  seconds <- shares * 0
  counts <- shares * 0
  for (number in seq_len(calls)) {
    set.seed((1000003 * seed + number) %% .Machine$integer.max)
    group <- pick(names, shares)
    call <- groups[[group]]$call()
    file <- file.path(failures, sprintf("%d-%d.R", seed, number))
    # Writes numbers to the last bit.
    writeLines(c(sprintf("group <- \"%s\"", group), paste0("call <- quote(", text_of(call, "hexNumeric"), ")")), file)
    started <- proc.time()[["elapsed"]]
    wrong <- wrong_with(group, call)
    seconds[group] <- seconds[group] + proc.time()[["elapsed"]] - started
    counts[group] <- counts[group] + 1
    if (length(wrong) == 0L) {
      unlink(file)
      next
    }
    findings <- findings + 1L
    text <- text_of(call)
    cat(sprintf("fuzz: call %d of seed %d (%s): %s\n", number, seed, group, paste(wrong, collapse = "; ")),
        "  ", substr(text, 1L, 1500L), if (nchar(text) > 1500L) " ...", "\n",
        "  tools/fuzz.sh --replay ", file.path("build/fuzz-failures", basename(file)), "\n", sep = "")
  }
  cat("fuzz:", paste0(names, " ", counts, " (", format(seconds, digits = 1, nsmall = 1, trim = TRUE), " s)",
                      collapse = ", "), "\n")
  if (beyond_library > 0L) cat("fuzz:", beyond_library, "damaged files that libnetcdf itself does not survive\n")
  cat(sprintf("fuzz: %d calls, seed %d: %d findings\n", calls, seed, findings))
  findings
}

if (!on_three_threads()) stop("three threads are not to be had: OMP_THREAD_LIMIT is ", Sys.getenv("OMP_THREAD_LIMIT"))
paths <- normalizePath(arguments[if (arguments[1L] == "--replay") 2L else 3L])
begin_in_folder()
grDevices::pdf(NULL)
findings <- if (arguments[1L] == "--replay") {
  replay(paths)
} else {
  chosen <- if (length(arguments) > 3L) strsplit(arguments[4L], ",", fixed = TRUE)[[1L]] else names(groups)
  run_calls(as.integer(arguments[1L]), as.integer(arguments[2L]), paths, chosen)
}
quit(status = if (findings > 0L) 1L else 0L)
