# Shared by the scripts of bench/: arguments, programs in C++, contenders timed side by side, and rows of results.
# bench/README.md describes the arguments of a script and the columns of the results. A script sets `here`, the folder
# of bench/, and sources this file; Rscript writes a space in that folder's path as ~+~.

of_kestrel <- function(name) getFromNamespace(name, "kestrel")
has <- function(package) requireNamespace(package, quietly = TRUE)

# ---- arguments: --short for sizes of minutes, --results=FILE, and the names of sections
arguments <- commandArgs(TRUE)
short <- "--short" %in% arguments
sized <- function(full, brief) if (short) brief else full
named_sections <- function() arguments[!startsWith(arguments, "--")]
this_script <- sub("[.]R$", "", basename(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))))
repetitions <- sized(5L, 3L)

# Programs of bench/ in C++, compiled once into build/bench/.
compile <- function(...) {
  cache <- file.path(here, "..", "build", "bench", "cpp")
  dir.create(cache, showWarnings = FALSE, recursive = TRUE)
  for (file in c(...)) Rcpp::sourceCpp(file.path(here, file), env = globalenv(), cacheDir = cache)
}

# ---- contenders timed side by side. Needs process_seconds of clock.cpp.
wall_seconds <- function() as.numeric(Sys.time())

# Seconds of each contender, a row for each round. A round runs all of them once, so that other work on the machine
# affects them equally. A round before the first is not counted; it shows how often a short call must be repeated to
# last 20 ms.
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
figure <- function(value, digits = 3L) trimws(formatC(value, digits = digits, format = "fg", big.mark = ","))
scientific <- function(value) formatC(value, digits = 1, format = "e")
# Bars are for full sizes.
verdict <- function(met) if (met) "met" else if (short) "short" else "MISSED"

# ---- memory
# Bytes of a task of memory.R in a session of its own, since memory freed by earlier calls would be used again
# unnoticed. `added` to what the session held before, the `peak` of all that it held, and those of the `result`; NA if
# /proc does not say.
# MALLOC_MMAP_THRESHOLD_ is set so that memory freed by R goes to the system at once.
bytes_of <- function(task, ...) {
  given <- vapply(list(task, ...), format, "", scientific = FALSE)
  printed <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"),
                                      shQuote(c(file.path(here, "memory.R"), given)), stdout = TRUE, stderr = FALSE,
                                      env = "MALLOC_MMAP_THRESHOLD_=131072"))
  line <- utils::tail(grep("^bytes ", printed, value = TRUE), 1L)
  if (length(line) == 0L) return(c(added = NA_real_, peak = NA_real_, result = NA_real_))
  stats::setNames(as.numeric(strsplit(line, " ")[[1L]][2:4]), c("added", "peak", "result"))
}

# ---- rows of results
results <- new.env()
results$rows <- NULL
# One row for each contender and value. `share`: the fraction of the work that was done; the value is scaled to all of
# it.
keep <- function(task, contender, quantity, value, d = NA, n = NA, m = NA, h = NA, share = 1, published = NA,
                 source = "") {
  rows <- data.frame(task, d, n, m, h, contender, quantity, value = unname(value), share, published, source)
  results$rows <- rbind(results$rows, rows)
}
# Medians of race(). `share`: by name, for contenders that did less than all of the work.
keep_times <- function(times, task, ..., share = numeric()) {
  names <- colnames(times)
  done <- ifelse(names %in% names(share), share[names], 1)
  keep(task, names, "seconds", middle(times), ..., share = unname(done))
}

machine <- function() {
  cpu <- tryCatch(grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[1L], error = function(e) NA)
  if (is.na(cpu)) Sys.info()[["machine"]] else trimws(sub("^[^:]*:", "", cpu))
}
# By default a file of this day and machine; short runs have files apart from full ones.
results_file <- function() {
  said <- sub("^--results=", "", grep("^--results=", arguments, value = TRUE))
  if (length(said)) return(said[1L])
  name <- gsub("^-|-$", "", gsub("[^A-Za-z0-9]+", "-", machine()))
  file.path(here, "results", paste0(Sys.Date(), "-", name, if (short) "-short", ".csv"))
}
# Rows of a section replace those of an earlier run in the same file, which is only replaced when the new one is
# complete.
write_results <- function(new, file) {
  of <- function(rows) paste(rows$script, rows$section)
  if (file.exists(file)) {
    old <- utils::read.csv(file, comment.char = "#")
    new <- rbind(old[!of(old) %in% of(new), ], new)
  }
  dir.create(dirname(file), showWarnings = FALSE, recursive = TRUE)
  part <- paste0(file, ".part")
  written <- file(part, "w")
  writeLines(sprintf("# kestrel %s, %s, %s, %d cores, %s, %s", utils::packageVersion("kestrel"), Sys.Date(), machine(),
                     parallel::detectCores(), kestrel::kestrel_info()$isa, R.version.string), written)
  new$value <- signif(new$value, 5)
  utils::write.csv(new, written, row.names = FALSE, na = "")
  close(written)
  file.rename(part, file)
}

# ---- a script
load_average <- function() tryCatch(scan("/proc/loadavg", quiet = TRUE, n = 1L), error = function(e) NA_real_)

# Runs the sections named on the command line, or all, and records the load before and after each. Keeps the rows of
# each as soon as it ends, since later ones may be interrupted. `check` comes first: no reference program is timed
# before it was compared with plain R. On one thread, since CPU time counts the waiting of other threads.
run_sections <- function(sections, check = function() NULL) {
  wanted <- named_sections()
  if (!length(wanted)) wanted <- names(sections)
  stopifnot(wanted %in% names(sections))
  set.seed(1)
  options(width = 160)
  cat(R.version.string, "- kestrel", format(utils::packageVersion("kestrel")), "-", kestrel::kestrel_info()$isa, "\n")
  check()
  threads <- kestrel::kestrel_threads(1)
  on.exit(kestrel::kestrel_threads(threads))
  # One file, even if midnight passes meanwhile.
  file <- results_file()
  for (section in wanted) {
    results$rows <- NULL
    before <- load_average()
    sections[[section]]()
    after <- load_average()
    cat(sprintf("load before: %s, after: %s\n", before, after))
    if (!is.null(results$rows)) {
      about <- data.frame(script = this_script, section = section)
      load <- data.frame(load_before = before, load_after = after)
      write_results(cbind(about, results$rows, load), file)
    }
  }
}

# ---- calls on one thread and on all, beside np

all_threads <- parallel::detectCores()

fixed_threads <- function(threads, call) {
  function() {
    kestrel_threads(threads)
    on.exit(kestrel_threads(1))
    call()
  }
}

# A row of `call` on one thread and on all, beside `peer` unless that is NULL.
threads_row <- function(task, d, n, call, peer = NULL, rounds = repetitions) {
  contenders <- c(list(one = fixed_threads(1L, call), all = fixed_threads(all_threads, call)),
                  if (!is.null(peer)) list(peer = peer))
  times <- race(contenders, rounds, wall_seconds)
  keep_times(times, task, d = d, n = n, m = NA, h = NA)
  data.frame(call = task, n = figure(n), `1 thread` = figure(middle(times)[["one"]]),
             `all threads` = figure(middle(times)[["all"]]),
             np = if (is.null(peer)) "" else figure(middle(times)[["peer"]]),
             `times faster` = if (is.null(peer)) "" else figure(times_of(times, "peer", "one")), check.names = FALSE)
}

print_rows <- function(...) {
  cat("\nSeconds by the clock;", all_threads, "threads are all\n")
  show(rbind(...))
}
