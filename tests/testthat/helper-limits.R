# Limits of time at a chosen place.

# A limit that is reached at once. R notices it where it looks the next time, which it does 20 times a second.
set_limit <- function() setTimeLimit(elapsed = 1e-9, transient = TRUE)

# Ends in R's own error of a limit, as if it had been reached here.
reach_limit <- function(...) {
  set_limit()
  repeat Sys.sleep(0.01)
}

# `code` must end in that error, as R made it.
expect_limit <- function(code, info = NULL) {
  end <- tryCatch(code, error = function(e) list(class(e), conditionMessage(e)))
  setTimeLimit()
  expect_identical(end, list(c("simpleError", "error", "condition"),
                             gettext("reached elapsed time limit", domain = "R")), info = info)
}
