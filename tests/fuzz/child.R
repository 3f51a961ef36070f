# Calls in processes of their own, which may crash or hang. Each gives list(value), list(error), or how it ended.

# The result of `code`, a function, in a fork of this session within that many seconds.
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
  # Collects what is left of it after it sent a result.
  suppressWarnings(parallel::mccollect(job, wait = FALSE))
  if (file.exists(file)) return(readRDS(file))
  # A crashing R removes the folder for temporary files, which is also this session's.
  begin_in_folder()
  list(ended = "its process died")
}

# Some arguments are names of files.
begin_in_folder <- function() {
  setwd(tempdir(check = TRUE))
  make_files()
}

# Runs a call in a fork that is killed after that many seconds.
killed_fork <- function(code, seconds) {
  job <- parallel::mcparallel(code(), silent = TRUE)
  Sys.sleep(seconds)
  tools::pskill(job$pid, tools::SIGKILL)
  suppressWarnings(parallel::mccollect(job))
  invisible()
}

# How a call of kestrel ends in a fork, in the form of run_call(), or what is wrong.
run_in_fork <- function(call, environment, seconds = patience) {
  ran <- in_fork(function() run_call(call, 1L, environment), seconds)
  if (!is.null(ran$ended)) list(wrong = ran$ended) else ran$value
}
