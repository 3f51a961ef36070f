# What polls do in the middle of a call: progress and time limits.

# Replaces the progress bar by a function of the fraction done.
watched <- function(progress, code) with_binding("with_progress", function(verbose, label, body) body(progress), code)

# Evaluates `code`, which reaches a time limit after the first part of its work, on any machine; returns the
# fraction done by then.
ends_by_time_limit <- function(code) {
  before <- options(kestrel.poll = 0)
  on.exit({
    setTimeLimit()
    options(before)
  })
  done <- 0
  limited <- function(fraction) {
    if (fraction > 0 && done == 0) setTimeLimit(elapsed = 1e-3)
    done <<- fraction
  }
  expect_error(watched(limited, code), "time limit")
  expect_gt(done, 0)
  done
}
