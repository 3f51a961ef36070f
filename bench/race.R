# Contenders timed side by side, and how their times are shown. Needs process_seconds of clock.cpp.

repetitions <- 5L
load_average <- function() tryCatch(readLines("/proc/loadavg"), error = function(e) "?")
wall_seconds <- function() proc.time()[["elapsed"]]

# Seconds of each contender, a row for each round. A round runs all of them once, so that other work
# on the machine meets them alike; the round before the first is not counted, and says how often a
# short one has to be repeated to last 20 ms.
race <- function(contenders, rounds = repetitions, clock = process_seconds) {
  seconds <- function(contender, times) {
    start <- clock()
    for (i in seq_len(times)) contender()
    (clock() - start) / times
  }
  first <- vapply(contenders, seconds, 0, times = 1L)
  times <- pmin(1000, ceiling(0.02 / pmax(first, 1e-5)))
  one_round <- function(round) mapply(seconds, contenders, times)
  matrix(vapply(seq_len(rounds), one_round, first), rounds, byrow = TRUE,
    dimnames = list(NULL, names(contenders)))
}
middle <- function(times) apply(times, 2L, stats::median)
times_of <- function(times, a, b) stats::median(times[, a] / times[, b])
show <- function(table) print(table, row.names = FALSE, right = TRUE)
figure <- function(value, digits = 3L) formatC(value, digits = digits, format = "fg", big.mark = ",")
verdict <- function(met) if (met) "met" else "MISSED"

# Runs the sections named on the command line, or all, between two looks at the load. `check` comes first: no yardstick
# is timed that was not compared with plain R. On one thread: CPU time counts the waiting of the others.
run_sections <- function(sections, check) {
  wanted <- commandArgs(TRUE)
  if (!length(wanted)) wanted <- names(sections)
  stopifnot(wanted %in% names(sections))
  set.seed(1)
  options(width = 160)
  cat("load before:", load_average(), "\n")
  cat(R.version.string, "- kestrel", format(utils::packageVersion("kestrel")), "-", kestrel::kestrel_info()$isa, "\n")
  check()
  before <- kestrel::kestrel_threads(1)
  on.exit(kestrel::kestrel_threads(before))
  for (section in sections[wanted]) section()
  cat("\nload after: ", load_average(), "\n")
}
