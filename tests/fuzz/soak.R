# Rscript tests/fuzz/soak.R MINUTES SEED: interrupts at random times, after which a session must still give the right
# bits; and memory, which must not grow over 10,000 calls. Fails if either does not hold.
arguments <- commandArgs(trailingOnly = TRUE)
minutes <- as.numeric(arguments[1L])
seed <- as.integer(arguments[2L])
set.seed(seed)

# ---- interrupts ---------------------------------------------------------------------------------------------------

# The code of a child session: calls that take long, for each engine and search, each until it is interrupted or done.
# It writes the name of a call before it begins and how it ended afterwards. `short` is the same call with less to do,
# whose value is compared with that from before the interrupt.
child <- quote({
  library(kestrel)
  say <- function(...) {
    cat(..., "\n", sep = "")
    flush(stdout())
  }
  set.seed(1L)
  line <- rnorm(4e5)
  plane <- matrix(rnorm(2e5), ncol = 2L)
  space <- matrix(rnorm(9e4), ncol = 3L)
  calls <- list(
    direct = function(part) {
      kde(head(plane, 4e4 / part), H = diag(2), eval.points = head(plane, 4e4 / part),
          engine = "direct")$estimate
    },
    sweep = function(part) npregbw(head(line, 4e5 / part), head(line^2, 4e5 / part), nbw = 400 / part)$cv,
    gaussian = function(part) {
      npregbw(head(line, 3e4 / part), head(line^2, 3e4 / part), bws = c(0.5, 1), ckertype = "gaussian")$cv
    },
    cells = function(part) hlscv(head(line, 2e5 / part)),
    fourier = function(part) Hlscv(head(space, 3e4 / part), engine = "fourier"),
    runs = function(part) {
      kde(head(space, 3e4 / part), H = diag(3), kernel = "epanechnikov",
          gridsize = rep(240 %/% part, 3L))$estimate
    },
    pairs = function(part) Hscv(matrix(line[seq_len(16000 / part)], ncol = 4L), engine = "direct"),
    bootstrap = function(part) {
      set.seed(1L)
      suppressWarnings(hboot(head(line, 2e4 / part), B = 2000 / part, gridsize = 400))$errors
    },
    stream = function(part) {
      total <- 0
      kde_stream(head(plane, 1e5 / part), function(slab) total <<- total + sum(slab$estimate), H = diag(2),
                 gridsize = rep(4000 / part, 2L), kernel = "biweight", slab = 50)
      total
    }
  )
  small <- function(name) calls[[name]](50)
  expected <- lapply(stats::setNames(names(calls), names(calls)), small)
  say("ready")
  # Interrupts count where they are allowed; one that comes elsewhere is delayed until then.
  suspendInterrupts(repeat for (name in sample(names(calls))) {
    say("begin ", name)
    end <- tryCatch({
      allowInterrupts(calls[[name]](1))
      "done"
    }, interrupt = function(condition) "interrupted", error = conditionMessage)
    say("end ", end, if (identical(small(name), expected[[name]])) " same" else " other")
  })
})

# Waits a second on average, so that some calls are interrupted at their beginning and some are done before.
interrupt_session <- function(seconds) {
  file <- tempfile(fileext = ".R")
  writeLines(deparse(child), file)
  # The shell prints the process id that the session gets.
  session <- pipe(paste("echo $$; exec Rscript --vanilla", shQuote(file), "2>&1"), open = "r")
  on.exit(close(session))
  heard <- function() trimws(readLines(session, 1L))
  process <- as.integer(heard())
  on.exit(tools::pskill(process, tools::SIGKILL), add = TRUE, after = FALSE)
  if (!identical(heard(), "ready")) return("the session did not start")
  counts <- c(interrupted = 0L, done = 0L)
  bad <- character(0)
  until <- Sys.time() + seconds
  while (Sys.time() < until) {
    name <- sub("^begin ", "", heard())
    Sys.sleep(stats::rexp(1L, 1))
    sent <- Sys.time()
    tools::pskill(process, tools::SIGINT)
    end <- heard()
    if (length(end) == 0L) return(c(bad, paste("the session died in", name)))
    waited <- as.numeric(Sys.time() - sent, units = "secs")
    how <- sub("^end (.*) (same|other)$", "\\1", end)
    if (how %in% names(counts)) counts[how] <- counts[how] + 1L
    if (!how %in% names(counts) || !endsWith(end, " same")) bad <- c(bad, paste0(name, ": ", end))
    if (waited > 30) bad <- c(bad, sprintf("%s: %.0f s until the interrupt was noticed", name, waited))
  }
  cat(sprintf("soak: %d calls interrupted, %d done before\n", counts[["interrupted"]], counts[["done"]]))
  if (counts[["interrupted"]] == 0L) bad <- c(bad, "no call was interrupted")
  bad
}

# ---- memory -------------------------------------------------------------------------------------------------------

# Small calls of all engines and kinds of results, and of errors.
small_calls <- function() {
  x <- matrix(stats::rnorm(400L), ncol = 2L)
  fhat <- kde(x, H = diag(2), gridsize = 20)
  list(
    function() kde(x, H = diag(2), eval.points = x),
    function() kde(x[, 1L], h = 0.3, kernel = "biweight"),
    function() kde(x, H = diag(2), gridsize = 30, kernel = "epanechnikov"),
    function() kde(x, H = diag(2), gridsize = 30, engine = "fourier"),
    function() kde(x, H = diag(2), gridsize = c(30, 1)),
    function() hpi(x[, 1L]),
    function() hlscv(x[1:40, 1L]),
    function() Hlscv(x, type = "scalar", engine = "fourier"),
    function() Hpi(x),
    function() fitted(npreg(x[, 1L], x[, 2L], bws = NULL, nbw = 5)),
    function() npregbw(x[, 1L], x[, 2L], bws = -1),
    function() predict(fhat, x = x),
    function() kde_query(fhat, c(0, 0), c(1, 1)),
    function() hboot(x[, 1L], B = 3, gridsize = 50),
    function() pdf_score(x[1:50, ], x[51:100, ], h = 1, gridsize = 10),
    function() kde_stream(x, function(slab) NULL, H = diag(2), gridsize = c(20, 20), slab = 5)
  )
}

resident_bytes <- function() {
  gc()
  line <- grep("^VmRSS:", readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}

# The growth of the session's memory after the first fifth of the calls, in which R reaches its size.
grown_memory <- function(calls) {
  all <- small_calls()
  for (k in seq_len(calls)) {
    try(suppressWarnings(all[[(k - 1L) %% length(all) + 1L]]()), silent = TRUE)
    if (k == calls %/% 5L) before <- resident_bytes()
  }
  after <- resident_bytes()
  cat(sprintf("soak: %.1f MB after %d calls, %.1f MB after %d\n", before / 1e6, calls %/% 5L, after / 1e6, calls))
  # A leak of 1 kB a call would be 8 MB.
  if (after - before > 4e6) "memory has grown"
}

cat(sprintf("soak: interrupts for %g minutes, seed %d\n", minutes, seed))
bad <- interrupt_session(60 * minutes)
library(kestrel)
bad <- c(bad, grown_memory(10000L))
for (line in bad) cat("soak:", line, "\n")
quit(status = if (length(bad) > 0L) 1L else 0L)
