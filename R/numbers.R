# Numbers from users, without their class. A class may mean that the numbers stored are something else: days, a unit, a
# code, the bits of an integer. Those are refused, or converted if there is only one meaning.

# Classes whose values are the numbers that R stores.
plain_classes <- c("AsIs", "noquote", "matrix", "array", "numeric", "integer", "double", "ts", "mts", "zoo", "zooreg",
                   "xts", "table", "xtabs", "labelled", "haven_labelled", "haven_labelled_spss", "vctrs_vctr", "poly",
                   "bs", "ns", "basis")

# The value with only its names and dimensions. A value that is not numbers, or has another class, is returned
# unchanged, so that a message can say so: see is_numbers().
plain <- function(value) {
  if (!is.object(value) || isS4(value) || !typeof(value) %in% c("double", "integer")) return(value)
  known <- attributes(value)
  if (identical(known$class, "integer64")) {
    value <- integers_of_bits(value)
  } else if (!all(known$class %in% plain_classes)) {
    return(value)
  }
  attributes(value) <- known[names(known) %in% c("names", "dim", "dimnames")]
  value
}

# Whether the value is numbers in the form that plain() returns.
is_numbers <- function(value) !is.object(value) && is.numeric(value)

# 64-bit integers, which package bit64 keeps in the bits of doubles, as the nearest doubles. The smallest of them is a
# missing value.
integers_of_bits <- function(value) {
  words <- readBin(writeBin(as.vector(unclass(value)), raw(), endian = "little"), "integer", 2L * length(value),
                   endian = "little")
  # The bits of -2^31 are R's missing integer.
  words <- ifelse(is.na(words), -2^31, words)
  low <- words[c(TRUE, FALSE)] %% 2^32
  high <- words[c(FALSE, TRUE)]
  ifelse(high == -2^31 & low == 0, NA_real_, high * 2^32 + low)
}

# A data frame of any kind as one without a class of its own and with plain columns.
plain_columns <- function(frame) {
  class(frame) <- "data.frame"
  columns <- lapply(unclass(frame), plain)
  for (k in which(vapply(unclass(frame), is.object, NA) & !vapply(columns, is.object, NA))) frame[[k]] <- columns[[k]]
  frame
}

# An environment can have that class, too.
is_frame <- function(value) is.data.frame(value) && is.list(value)

# Points in any of their forms.
plain_points <- function(x) if (is_frame(x)) plain_columns(x) else plain(x)

# A value without its class, whose methods of length() and the like may fail. Factors, and what has its class for good,
# are unchanged.
without_class <- function(value) {
  if (!is.object(value) || is.factor(value) || typeof(value) %in% c("environment", "externalptr")) return(value)
  unclass(value)
}

# How many values a column has, whatever its class.
rows_of_column <- function(column) as.numeric(NROW(if (is.factor(column)) unclass(column) else without_class(column)))

rows_of_columns <- function(frame) vapply(unclass(frame), rows_of_column, 0)

# The names of columns that are not numbers.
not_numbers <- function(frame) names(frame)[!vapply(unclass(frame), is_numbers, NA)]
