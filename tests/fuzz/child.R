# Calls in a process of their own, which may crash or hang: list(value), list(error), or how it ended.

# What `code`, a function, returns in a fork of this session within so many seconds.
in_fork <- function(code, seconds = patience) {
  file <- tempfile("fork")
  on.exit(unlink(file))
  job <- parallel::mcparallel({
    saveRDS(tryCatch(list(value = code()), error = function(e) list(ended = conditionMessage(e))), file)
    NULL
  }, silent = TRUE)
  until <- proc.time()[["elapsed"]] + seconds
  repeat {
    done <- suppressWarnings(parallel::mccollect(job, wait = FALSE, timeout = 0.5))
    if (!is.null(done)) break
    if (proc.time()[["elapsed"]] > until) {
      tools::pskill(job$pid, tools::SIGKILL)
      suppressWarnings(parallel::mccollect(job))
      return(list(ended = sprintf("it hung for %g s", seconds)))
    }
  }
  # What is left of it, if it sent a result.
  suppressWarnings(parallel::mccollect(job, wait = FALSE))
  if (file.exists(file)) return(readRDS(file))
  # R that crashes takes the folder for temporary files away, which is this session's, too.
  begin_in_folder()
  list(ended = "its process died")
}

# Some arguments are names of files.
begin_in_folder <- function() {
  setwd(tempdir(check = TRUE))
  make_files()
}

# A call in a fork that is killed after so many seconds.
killed_fork <- function(code, seconds) {
  job <- parallel::mcparallel(code(), silent = TRUE)
  Sys.sleep(seconds)
  tools::pskill(job$pid, tools::SIGKILL)
  suppressWarnings(parallel::mccollect(job))
  invisible()
}

# How a call of kestrel ends in a fork, as run_call() has it, or what is wrong.
run_in_fork <- function(call, environment, seconds = patience) {
  ran <- in_fork(function() run_call(call, 1L, environment), seconds)
  if (!is.null(ran$ended)) list(wrong = ran$ended) else ran$value
}
