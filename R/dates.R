# Dates and times in columns: they keep their class in data frames of regressors and of points, and count as numbers of
# days (Date) or of seconds (POSIXct).

is_date <- function(value) {
  inherits(value, c("Date", "POSIXct")) && !isS4(value) && typeof(value) %in% c("double", "integer")
}

# The numbers that dates stand for; other values are unchanged.
numbers_of <- function(value) if (is_date(value)) as.numeric(unclass(value)) else value

# Numbers as dates of the class and the time zone of `dates`; unchanged if these are no dates, such as NULL.
in_dates <- function(numbers, dates) {
  if (!is_date(dates)) return(numbers)
  if (inherits(dates, "Date")) return(structure(numbers, class = "Date"))
  structure(numbers, class = c("POSIXct", "POSIXt"), tzone = attr(dates, "tzone"))
}

# Points must be dates of the class of the data, or numbers where these are numbers. `variable`: of as_variable();
# `dates`: any values of the data.
check_dates <- function(variable, dates) {
  class_of_dates <- function(value) if (is_date(value)) class(in_dates(numeric(0), value))[1L] else "numeric"
  needed <- class_of_dates(dates)
  came <- class_of_dates(variable$dates)
  # Missing values have no class of their own.
  if (needed == came || came == "numeric" && all(is.na(variable$value))) return(variable$value)
  abort_input("`", variable$name, "` must be ", if (needed == "numeric") "numeric" else paste("of class", needed),
              ", as in the data, not ", if (came == "numeric") "numeric" else paste("of class", came), ".")
}

# " days" or " seconds" for texts with a bandwidth.
unit_text <- function(dates) if (!is_date(dates)) "" else if (inherits(dates, "Date")) " days" else " seconds"
