# Runs a call on one thread and on three, and returns what is wrong with how it ended: NULL if nothing is.

# Seconds that a call may take; it must notice the limit within a few times that.
time_limit <- 4
patience <- 15

# In bytes. A larger grid must be refused.
memory_limit <- 3e8

# Results in which NA (never NaN) is documented: no neighbour or no fit, a stage that was not asked for, a pilot matrix
# where there is none, the mean of a box without mass, an interval from too few bootstrap samples, a ratio of 0 / 0.
may_be_missing <- c("npreg", "npregbw", "npudens", "npudensbw", "npcdens", "npcdensbw", "npudist", "npudistbw",
                    "npcdist", "npcdistbw", "npqreg", "npksum", "predict", "se", "fitted", "residuals", "as.data.frame",
                    "summary", "hpi", "Hpi", "Hpi.diag", "hpi.kcde", "Hpi.kcde", "Hpi.diag.kcde", "kde_query",
                    "pdf_score", "read_sample", "read_pdf", "print", "plot", "npplot", "gradients", "npconmode",
                    "npsigtest", "npcmstest", "kde_risk", "npplreg", "npplregbw", "npindex", "npindexbw", "npscoef",
                    "npscoefbw", "npunitest", "npsymtest", "npdeptest", "npsdeptest", "npcopula", "npdeneqtest",
                    "npqcmstest", "kfs", "kroc", "refresh", "drawn", "sizer", "explore")

# How `call` ends on this many threads: list(value) or list(error), with its warnings and seconds.
run_call <- function(call, threads, environment) {
  warnings <- list()
  kestrel::kestrel_threads(threads)
  if (kestrel::kestrel_threads() != threads) stop("three threads are not to be had: OMP_THREAD_LIMIT is set")
  set.seed(1L)
  started <- proc.time()[["elapsed"]]
  setTimeLimit(elapsed = time_limit, transient = TRUE)
  end <- tryCatch(withCallingHandlers(list(value = eval(call, environment)), warning = function(w) {
    warnings[[length(warnings) + 1L]] <<- w
    invokeRestart("muffleWarning")
  }, message = function(m) invokeRestart("muffleMessage")), error = function(e) list(error = e))
  setTimeLimit()
  c(end, list(warnings = warnings, seconds = proc.time()[["elapsed"]] - started))
}

out_of_time <- function(end) {
  !is.null(end$error) && grepl("reached elapsed time limit", conditionMessage(end$error), fixed = TRUE)
}

# Every number in a value, as a list of vectors.
numbers_in <- function(value) {
  if (is.language(value) || is.function(value) || is.environment(value)) return(list())
  if (is.list(value)) return(unlist(lapply(unclass(value), numbers_in), recursive = FALSE))
  if (is.double(value) || is.integer(value)) list(as.vector(unclass(value))) else list()
}

any_number <- function(value, test) any(vapply(numbers_in(value), function(numbers) any(test(numbers)), NA))

# Whether the arguments contain only finite numbers. Infinite limits of boxes and quantiles are allowed.
finite_call <- function(call) {
  if (is.call(call)) return(all(vapply(as.list(call)[-1L], finite_call, NA)))
  if (is.name(call)) return(!as.character(call) %in% c("NA", "NaN"))
  !any_number(call, is.na)
}

# Drops times and calls, which differ from run to run.
comparable <- function(value) {
  attributes(value)$path <- comparable_part(attributes(value)$path)
  comparable_part(value)
}

comparable_part <- function(value) {
  if (!is.list(value)) return(value)
  if (!is.null(names(value))) value <- value[!names(value) %in% c("seconds", "call", "terms", "threads", "file")]
  kept <- attributes(value)
  value <- lapply(value, comparable_part)
  attributes(value) <- kept
  value
}

bits_of <- function(value) {
  value <- comparable(value)
  if (is.function(value) || is.environment(value)) return(NULL)
  numbers <- numbers_in(value)
  lapply(numbers, function(part) if (is.double(part)) writeBin(part, raw()) else part)
}

# R's own message for an argument that the caller has left out: of the function called `name`, not of one inside it.
is_left_out <- function(error, call, name) {
  other_name <- c(hucv = "hlscv", Hucv = "Hlscv", Hucv.diag = "Hlscv.diag")
  called <- if (name %in% names(other_name)) as.name(other_name[[name]]) else call[[1L]]
  left <- setdiff(names(formals(eval(called))), names(call))
  conditionMessage(error) %in% sprintf("argument \"%s\" is missing, with no default", left)
}

wrong_conditions <- function(end, call, name) {
  error <- end$error
  c(if (!is.null(error) && !inherits(error, "kestrel_error") && !is_left_out(error, call, name)) {
    sprintf("an error of class %s: %s", class(error)[1L], sub("\n$", "", as.character(error)))
  }, if (!is.null(error) && inherits(error, "kestrel_error") && !any(grepl("^kestrel_error_", class(error)))) {
    "an error of kestrel without a kind"
  }, unlist(lapply(end$warnings, function(warning) {
    # R's own warning about axes whose labels would be identical.
    of_axis <- grepl("^axis\\(", conditionMessage(warning))
    if (!inherits(warning, "kestrel_warning") && !of_axis) {
      sprintf("a warning of class %s: %s", class(warning)[1L], conditionMessage(warning))
    }
  })))
}

took_too_long <- function(end) sprintf("it took %.0f s, the limit being %.0f s", end$seconds, time_limit)

# `wrong_value`: a function of the value, the call and the environment that returns what is wrong with the value.
judge_call <- function(call, environment, wrong_value = function(value, call, environment) NULL) {
  name <- as.character(call[[1L]])
  one <- run_call(call, 1L, environment)
  if (one$seconds > patience) return(took_too_long(one))
  if (out_of_time(one)) return(NULL)
  wrong <- wrong_conditions(one, call, name)
  if (length(wrong) > 0L) return(wrong)
  if (is.null(one$error) && finite_call(call)) {
    if (any_number(one$value, is.nan)) return("NaN from finite numbers")
    if (!name %in% may_be_missing && any_number(one$value, is.na)) return("NA from finite numbers")
  }
  if (is.null(one$error)) wrong <- wrong_value(one$value, call, environment)
  if (length(wrong) > 0L) return(wrong)
  three <- run_call(call, 3L, environment)
  if (out_of_time(three)) return(NULL)
  if (!identical(class(one$error), class(three$error))) return("another end on three threads")
  # Its value is the number of threads.
  if (name == "kestrel_threads") return(NULL)
  if (!identical(bits_of(one$value), bits_of(three$value))) return("other bits on three threads")
  NULL
}
