# Users may have edited objects of this package, or put them together by hand. Every function that takes one checks its
# fields first, by the table for its class in object-fields.R. Further fields, attributes and classes are ignored.

# Ends in an error that names the argument `name`, the field, what was needed and what came; `class` is the required
# class.
check_object <- function(object, name, class) {
  made <- class_of(object, class)$made
  if (!inherits(object, class)) abort_input("`", name, "` must be ", made, ", not ", describe_value(object), ".")
  if (!is.list(object)) abort_input("`", name, "` must be ", made, ", a list, not ", describe_type(object), ".")
  problem <- object_problem(object, class)
  if (is.null(problem)) return(invisible(object))
  abort_input("`", name, "` must be ", made, ";", problem_text(problem))
}

# The first field that the class does not allow; NULL if there is none.
object_problem <- function(object, class) {
  fields <- unclass(object)
  fields_problem(fields, class_of(object, class)$fields, fields)
}

# What is known of a class, or of the class of this object that is a kind of it.
class_of <- function(object, class) {
  kind <- Find(function(kind) identical(object_classes[[kind]]$kind_of, class), class(object))
  object_classes[[if (is.null(kind)) class else kind]]
}

problem_text <- function(problem) {
  paste0(" its field `", problem[["field"]], "` must be ", problem[["needed"]], problem[["came"]], ".")
}

check_estimate <- function(fhat, name = "fhat") check_object(from_ks(fhat, name), name, "kestrel_kde")

# ---- What a field has to be ---------------------------------------------------------------------------------------
# The entries of a table. One that depends on other fields is a function of the whole object, whose fields above it have
# been checked; it returns NULL for a field that an object of that form does not need. `size`: a length, or the
# dimensions of a matrix or array, with NA for any number of rows. `also`: the end of the sentence "must be ...", and a
# function of the value that is TRUE if that holds.

# `min`: the shortest length. Numbers that need not be finite may also be missing.
numbers <- function(size = NULL, sign = "any", between = NULL, min = 0L, finite = TRUE, whole = FALSE,
                    increasing = FALSE, optional = FALSE, also = NULL) {
  list(type = "numbers", size = size, sign = sign, between = between, min = min, finite = finite, whole = whole,
       increasing = increasing, optional = optional, also = also)
}

texts <- function(size = NULL, among = NULL, min = 0L, optional = FALSE) {
  list(type = "texts", size = size, among = among, min = min, optional = optional)
}

flag <- function() list(type = "flag", size = 1L, optional = FALSE)

# A list with these fields, and any others.
parts <- function(fields, optional = FALSE, also = NULL) {
  list(type = "list", fields = fields, optional = optional, also = also)
}

# A list of that many entries, each of which must be `what`.
each <- function(what, size) list(type = "list", size = size, each = what, optional = FALSE)

# A data frame with these columns.
columns <- function(fields, optional = FALSE, also = NULL) {
  list(type = "data frame", fields = fields, optional = optional, also = also)
}

# An object of a class of this package.
of_class <- function(class) list(type = "object", class = class, optional = FALSE)

# A field with no other condition than `also`.
anything <- function(also, optional = FALSE) list(type = "anything", also = also, optional = optional)

# ---- The walk -----------------------------------------------------------------------------------------------------
# A problem has the parts of a message: the name of the field, what it must be, and what came; NULL if there is none.
# `path`: the path to a part of the object, such as "bws$".

problem_of <- function(field, needed, came = "") c(field = field, needed = needed, came = came)

not_what_came <- function(value) paste0(", not ", describe_value(value))

fields_problem <- function(value, fields, of, path = "") {
  for (field in names(fields)) {
    problem <- field_problem(value[[field]], fields[[field]], of, paste0(path, field))
    if (!is.null(problem)) return(problem)
  }
}

field_problem <- function(value, what, of, field) {
  if (is.function(what)) what <- what(of)
  if (is.null(what) || (what$optional && is.null(value))) return(NULL)
  problem <- switch(what$type,
    numbers = numbers_problem(value, what, field),
    texts = texts_problem(value, what, field),
    flag = if (!is.logical(value) || is.object(value) || length(value) != 1L || is.na(value)) {
      problem_of(field, "TRUE or FALSE", not_what_came(value))
    },
    object = part_problem(value, what, field),
    "list" = , "data frame" = list_problem(value, what, of, field)
  )
  if (!is.null(problem) || is.null(what$also) || isTRUE(what$also[[2L]](value))) return(problem)
  brief <- length(without_class(value)) <= 1L && !is_frame(value)
  problem_of(field, what$also[[1L]], if (brief) not_what_came(value) else "")
}

numbers_problem <- function(value, what, field) {
  if (!is_numbers(value) || !has_size(value, what)) return(problem_of(field, numbers_text(what), not_what_came(value)))
  if (length(value) == 0L) return(NULL)
  heard()
  # Without a copy: the minimum and the maximum show missing, infinite and too small values.
  min <- if (what$finite || what$sign != "any") min(value, if (!what$finite) Inf, na.rm = !what$finite)
  largest <- if (what$finite) max(value)
  fine <- (!what$finite || is.finite(min) && is.finite(largest)) && (what$sign == "any" || min >= 0) &&
    !(what$sign == "positive" && min == 0) &&
    (is.null(what$between) || (min >= what$between[1L] && largest <= what$between[2L])) &&
    (!what$whole || all(value == round(value), na.rm = TRUE)) &&
    (!what$increasing || !is.unsorted(value, strictly = TRUE))
  if (!isTRUE(fine)) problem_of(field, numbers_text(what), offending(value, what))
}

# The value if it is short, and otherwise an entry that is not allowed.
offending <- function(value, what) {
  if (length(value) <= 5L && is.null(dim(value))) return(not_what_came(as.vector(value)))
  bad <- (what$finite & !is.finite(value)) | (what$sign != "any" & value < 0) | (what$sign == "positive" & value == 0)
  if (any(bad, na.rm = TRUE)) paste0(", but one is ", describe_value(value[which(bad)[1L]])) else ""
}

has_size <- function(value, what) {
  size <- what$size
  if (length(size) < 2L) {
    return(length(dim(value)) < 2L && length(value) >= what$min && length(value) <= .Machine$integer.max &&
             (is.null(size) || length(value) == size))
  }
  # Any number of rows means at least one.
  length(dim(value)) == length(size) && all(dim(value) == size, na.rm = TRUE) && (!anyNA(size) || length(value) > 0L)
}

# "a positive finite number", "5 finite numbers", "a 2 x 2 matrix of finite numbers".
numbers_text <- function(what) {
  kind <- c(if (what$increasing) "increasing", if (what$sign == "positive") "positive", if (what$whole) "whole",
            if (what$finite && !what$whole) "finite")
  one <- identical(as.numeric(what$size), 1)
  text <- counted_text(paste(c(kind, "number"), collapse = " "), what)
  if (!is.null(what$between)) {
    text <- paste(text, "from", format(what$between[1L], digits = 7), "to", format(what$between[2L], digits = 7))
  }
  if (what$sign == "not negative") text <- paste0(text, if (one) ", not negative" else ", none negative")
  text
}

counted_text <- function(noun, what) {
  size <- what$size
  if (anyNA(size)) {
    return(paste0("a matrix of ", noun, "s with ", size[2L], if (size[2L] == 1) " column" else " columns"))
  }
  if (length(size) > 1L) {
    return(paste("a", format_sizes(size), if (length(size) == 2L) "matrix of" else "array of", paste0(noun, "s")))
  }
  if (is.null(size)) return(paste0(noun, "s", if (what$min > 0L) paste(", at least", what$min)))
  if (size == 1) paste("a", noun) else paste0(size, " ", noun, "s")
}

texts_problem <- function(value, what, field) {
  fine <- is.character(value) && !is.object(value) && has_size(value, what) && !anyNA(value) &&
    (is.null(what$among) || all(value %in% what$among))
  if (fine && identical(value, readable(value))) return(NULL)
  if (fine) return(problem_of(field, "text in valid characters", not_what_came(value)))
  needed <- counted_text("string", what)
  if (!is.null(what$among)) {
    needed <- paste(if (identical(what$size, 1L)) "one of" else paste(needed, "among"), quoted(what$among, '"'))
  }
  problem_of(field, needed, not_what_came(value))
}

list_problem <- function(value, what, of, field) {
  is_right <- if (what$type == "list") is.list(value) && !is.object(value) else is_whole_frame(value)
  if (!is_right || (!is.null(what$size) && length(unclass(value)) != what$size)) {
    return(problem_of(field, paste0("a ", what$type, if (!is.null(what$size)) paste(" of", what$size)),
                      not_what_came(value)))
  }
  for (k in if (!is.null(what$each)) seq_along(value)) {
    problem <- field_problem(value[[k]], what$each, of, paste0(field, "[[", k, "]]"))
    if (!is.null(problem)) return(problem)
  }
  fields_problem(unclass(value), what$fields, of, paste0(field, "$"))
}

# A data frame whose columns have as many values as it has rows.
is_whole_frame <- function(value) {
  is_frame(value) && !is.null(attr(value, "names")) &&
    all(rows_of_columns(value) == .row_names_info(value, 2L))
}

part_problem <- function(value, what, field) {
  known <- class_of(value, what$class)
  if (!inherits(value, what$class) || !is.list(value)) return(problem_of(field, known$made, not_what_came(value)))
  fields <- unclass(value)
  fields_problem(fields, known$fields, fields, paste0(field, "$"))
}
