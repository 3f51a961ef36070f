# Sessions of their own: how R leaves while a loop runs, and on which processors it may run. A call gives what is wrong.

# Each takes longer than the session lives, nearly all of it in loops of the threads: malloc() may wait for ever in a
# signal handler that has interrupted it, whoever called it.
leaving_calls <- list(
  quote(kde(plane, H = diag(2), eval.points = plane, engine = "direct")),
  quote(npregbw(plane[, 1L], plane[, 2L], bws = 1:9 / 9, ckertype = "gaussian")),
  quote(Hlscv(plane, engine = "direct"))
)

session_call <- function() {
  if (chance(0.3)) return(call("session_on_one_processor"))
  call("left_session", call("quote", pick(leaving_calls)), threads = pick(c(1, 2, 6)),
       after = round(stats::runif(1L, 0, 0.5), 3))
}

judge_session <- function(call, environment) eval(call, environment)

# A connection to what a session prints that runs `code`, after the words of `before`. One that hangs is killed.
open_session <- function(code, before = "") {
  file <- tempfile(fileext = ".R")
  writeLines(deparse(code), file)
  pipe(paste("timeout --signal=KILL", session_patience, before, "env", shQuote(paste0("LD_PRELOAD=", preload)),
             "Rscript --vanilla", shQuote(file), "2>&1"), "r")
}

session_patience <- 60

# SIGUSR2 makes R save its workspace and end, in the signal handler. R ignores it where interrupts are suspended, as
# during a garbage collection, so it comes until the session is gone. It must not come while R saves, because R's
# handler would then save within a save, and crash.
left_session <- function(call, threads, after) {
  folder <- tempfile("session")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  session <- open_session(bquote({
    library(kestrel)
    setwd(.(folder))
    kestrel_threads(.(threads))
    plane <- cbind(sin(1:1e5), cos((1:1e5)^2))
    writeLines(as.character(Sys.getpid()))
    flush(stdout())
    repeat .(call)
  }))
  said <- readLines(session, 1L)
  if (grepl("^[0-9]+$", said)) {
    Sys.sleep(after)
    while (tools::pskill(as.integer(said), tools::SIGUSR2)) Sys.sleep(3)
  }
  said <- c(said, readLines(session))
  status <- close(session)
  if (identical(status, 0L) && file.exists(file.path(folder, ".RData"))) return(NULL)
  sprintf("a session that was told to save and quit ended with status %s: %s", toString(status), toString(said))
}

# Elsewhere than on Linux a session is not kept to a processor.
session_on_one_processor <- function() {
  processors <- parallel::mcaffinity()
  if (is.null(processors)) return(NULL)
  session <- open_session(quote(writeLines(as.character(kestrel::kestrel_threads()))),
                          paste("taskset --cpu-list", processors[1L] - 1L))
  on.exit(close(session))
  said <- readLines(session)
  if (!identical(said, "1")) paste("the threads of a session on one processor:", toString(said))
}
