# Every error of this package has the class kestrel_error and a class for its kind. Messages have the form "`h` must be
# a positive number, not -1.": the argument, what was needed, what came.

abort <- function(class, ...) {
  stop(errorCondition(readable(paste0(...)), class = c(class, "kestrel_error"), call = NULL))
}

abort_input <- function(...) abort("kestrel_error_input", ...)

abort_memory <- function(...) abort("kestrel_error_memory", ...)

abort_backend <- function(...) abort("kestrel_error_backend", ...)

warn <- function(class, ...) {
  warning(warningCondition(readable(paste0(...)), class = c(class, "kestrel_warning"), call = NULL))
}

warn_search <- function(...) warn("kestrel_warning_search", ...)

warn_grid <- function(...) warn("kestrel_warning_grid", ...)

warn_bias <- function(...) warn("kestrel_warning_bias", ...)

warn_rounding <- function(...) warn("kestrel_warning_rounding", ...)

warn_support <- function(...) warn("kestrel_warning_support", ...)

warn_groups <- function(...) warn("kestrel_warning_groups", ...)

# What users should know and need not mend.
inform <- function(...) {
  text <- paste0(readable(paste0(...)), "\n")
  message(structure(list(message = text, call = NULL), class = c("kestrel_message", "message", "condition")))
}

# The same, for each `key` once in a session.
informed_of <- new.env(parent = emptyenv())

inform_once <- function(key, ...) {
  if (!is.null(informed_of[[key]])) return(invisible())
  informed_of[[key]] <- TRUE
  inform(...)
}

# The result of `code`, or that of failed(error) after an error of R, of a library or of a user's code. Errors of this
# package and of memory pass as they are, and so do limits of time, which are no failures of `code`.
catching_errors <- function(code, failed) {
  tryCatch(code, error = function(e) {
    if (inherits(e, "kestrel_error") || is_of_allocation(e) || is_of_time_limit(e)) stop(e)
    failed(e)
  })
}

# R has no class for the errors of setTimeLimit() and setSessionTimeLimit(), and may translate them.
time_limit_messages <- paste("reached", c("elapsed", "CPU", "session elapsed", "session CPU"), "time limit")

is_of_time_limit <- function(e) conditionMessage(e) %in% gettext(time_limit_messages, domain = "R")

# Texts with bytes that are no characters here as "<ff>", since R's functions for texts fail on those.
readable <- function(texts) {
  if (!is.character(texts) || length(texts) == 0L) return(texts)
  Encoding(texts)[Encoding(texts) == "bytes"] <- "unknown"
  bad <- !validEnc(texts)
  texts[bad] <- iconv(texts[bad], sub = "byte")
  texts
}

# Errors about the argument `of`, in functions whose callers know it by another name. After a semicolon a message names
# columns, one of which may be `x`.
known_as <- function(name, code, of = "x") {
  tryCatch(code, kestrel_error_input = function(e) {
    said <- strsplit(conditionMessage(e), ";", fixed = TRUE)[[1L]]
    said[1L] <- gsub(paste0("`", of, "`"), paste0("`", name, "`"), said[1L], fixed = TRUE)
    abort_input(paste(said, collapse = ";"))
  })
}

# The first lines of code. R cannot write what has names that are no text, or more values than an integer counts.
code_lines <- function(code, count) {
  catching_errors(readable(deparse(code, width.cutoff = 60L, nlines = count)), function(e) "(what R cannot write)")
}

# "not -1", "not a factor": the end of a message, for any value. Calls no method of its class, which may fail, and looks
# at no more than five values.
describe_value <- function(value) {
  if (is.null(value)) return("NULL")
  if (is.factor(value)) return("a factor")
  if (is_frame(value)) {
    columns <- length(unclass(value))
    return(paste0("a data frame with ", columns, if (columns == 1L) " column" else " columns"))
  }
  if (is.function(value)) return("a function")
  if (is.language(value) && !is.expression(value)) return(shown_code(value))
  if (is.object(value)) return(paste("an object of class", class(value)[1L]))
  if (is.list(value)) return("a list")
  if (!is.atomic(value)) return(paste("an object of type", typeof(value)))
  if (is.matrix(value)) return(sprintf("a %d x %d matrix", nrow(value), ncol(value)))
  if (length(value) == 0L) return(sprintf("an empty %s vector", typeof(value)))
  if (length(value) > 5L) return(sprintf("%.0f values", length(value)))
  shown <- if (is.character(value)) paste0('"', readable(value), '"') else format(value, trim = TRUE, digits = 7)
  paste(shown, collapse = ", ")
}

# The same without its class, for a value that has the right one.
describe_type <- function(value) {
  value <- without_class(value)
  if (is.object(value)) paste("an object of type", typeof(value)) else describe_value(value)
}

# The same if the kind is wrong, whatever the values: "not character", "not of class Date".
kind_of <- function(value) {
  if (is.null(value) || is.factor(value) || !is.atomic(value)) return(describe_value(value))
  if (!is.object(value)) return(typeof(value))
  paste0("of class ", class(value)[1L], if (is.numeric(unclass(value))) ": as.numeric() makes numbers of it")
}

quoted <- function(names, mark = "`") paste0(mark, readable(names), mark, collapse = ", ")
