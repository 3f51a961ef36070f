# The constants of costs against the clock, on one thread: for a table of tasks, the seconds that the constants of
# src/core/*/costs.hpp promise and those that it takes; the same with constants that are fitted to these times; and how
# much longer the engine takes that is chosen than the fastest, with both.
#
#   Rscript bench/calibrate.R [--short] [--write] [densities line matrices regression distribution boxes]
#
# The kestrel that is installed must be of these sources. Nothing is changed without --write, which replaces the numbers
# and the line that says where they were measured, and takes all sections. Afterwards install the package again. Only
# the ratios of engines matter for the choice: new numbers are worth a commit only if they make it better.
#
# Constants are fitted one by one where cost-models.R has the counts of a plan. Those of "fourier", and of engines that
# it does not know, are all scaled by one factor: their counts depend on grids that only the core lays. Distribution
# functions on a line are computed in one way and have no constants. Not fitted are the constants that choose between
# two ways of one engine (kLag..., kTrim..., kBoxSampleNs), and those of a GPU in src/gpu/.
library(kestrel)
here <- local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  if (length(file)) dirname(gsub("~+~", " ", file, fixed = TRUE)) else "bench"
})
for (file in c("harness.R", "costs.R", "cost-models.R", "cost-tasks.R")) source(file.path(here, file))
compile("clock.cpp")
set.seed(1)
options(width = 160)

sections <- list(densities = calibrate_densities, line = calibrate_line, matrices = calibrate_matrices,
                 regression = calibrate_regression, distribution = calibrate_distribution, boxes = time_boxes)
wanted <- if (length(named_sections())) named_sections() else names(sections)
stopifnot(wanted %in% names(sections))
write <- "--write" %in% arguments
if (write && length(named_sections())) stop("--write takes all sections, since constants are shared")

# Seconds taken, divided by those expected with the present and with the fitted constants, for each engine.
show_ratios <- function(found) {
  found <- found[!is.na(found$before), ]
  if (nrow(found) == 0L) return()
  cat("\nSeconds taken / seconds expected, with the present constants and with the fitted ones:\n")
  show(do.call(rbind, lapply(split(found, found$engine), function(of) {
    spread <- function(expected) figure(stats::quantile(of$took / expected, c(0, 0.5, 1)), 2L)
    before <- spread(of$before)
    after <- spread(of$after)
    data.frame(engine = of$engine[1L], tasks = nrow(of), least = before[1L], median = before[2L], most = before[3L],
               `least, fitted` = after[1L], `median, fitted` = after[2L], `most, fitted` = after[3L],
               check.names = FALSE)
  })))
}

# `found` has a row for each engine and task; `chosen` and `chosen_after` mark the engines that are chosen with the
# present and with the fitted constants.
show_choice <- function(found) {
  for (column in c("chosen", "chosen_after")) {
    chosen <- found[found[[column]], ]
    fastest <- tapply(found$took, found$task, min)
    slower <- chosen$took / fastest[chosen$task]
    cat("\nThe engine chosen with the ", if (column == "chosen") "present" else "fitted", " constants takes at most ",
        figure(max(slower), 3L), " times as long as the fastest, in the median ", figure(stats::median(slower), 3L),
        " times, of ", nrow(chosen), " tasks. The worst:\n", sep = "")
    worst <- order(-slower)[seq_len(min(5L, length(slower)))]
    show(data.frame(task = chosen$task[worst], engine = chosen$engine[worst], slower = figure(slower[worst], 3L),
                    milliseconds = figure(1e3 * chosen$took[worst], 3L)))
  }
}

costs <- read_costs()
fitted <- costs
for (section in wanted) {
  cat("\n---- ", section, "\n", sep = "")
  done <- sections[[section]](costs, fitted)
  fitted[names(done$costs)] <- done$costs
  if (is.null(done$found)) next
  show_ratios(done$found)
  if (any(done$found$chosen)) show_choice(done$found)
}
changed <- names(costs)[fitted != costs]
cat("\nConstants:\n")
show(data.frame(folder = attr(costs, "folder")[changed], name = changed, present = figure(costs[changed]),
                fitted = figure(fitted[changed])))
if (write) {
  about <- paste0(format(Sys.Date()), ": ", machine(), ", ", kestrel_info()$isa, ", by bench/calibrate.R",
                  if (short) " --short")
  files <- write_costs(fitted[changed], substr(about, 1L, 80L))
  cat("\nWritten:", paste(basename(dirname(files)), basename(files), sep = "/"), sep = "\n")
}
