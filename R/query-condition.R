# Conditions in the names of variables and labels, such as price > 1000 & !(cut %in% c("Good", "Fair")), as cells: boxes
# with sets of categories.
#
# The whole expression is checked against the grammar before any part of it is evaluated. What is then evaluated are
# values: constants, names, and calls of the functions of base R in `value_functions`. Nothing else ever runs.

query_comparisons <- c("<", "<=", ">", ">=")

# Calls that can only be a condition. Any other expression is evaluated to a matrix of limits.
is_condition <- function(expression) {
  known <- c(query_comparisons, "==", "!=", "&", "&&", "|", "||", "!", "%in%", "between")
  expression <- unwrapped(expression)
  is.call(expression) && called(expression) %in% known
}

# The expression without parentheses around it.
unwrapped <- function(expression) {
  while (is.call(expression) && identical(expression[[1L]], quote(`(`))) expression <- expression[[2L]]
  expression
}

# The name of the function of a call, without its package; "" if it has none.
called <- function(call) {
  head <- call[[1L]]
  if (is.call(head) && (identical(head[[1L]], quote(`::`)))) head <- head[[3L]]
  if (is.name(head)) as.character(head) else ""
}

shown_code <- function(expression) {
  lines <- code_lines(expression, 2L)
  if (length(lines) > 1L) paste(lines[1L], "...") else lines
}

# ---- The grammar --------------------------------------------------------------------------------------------------
# `variables`: what conditions may name: `names` and `types` of variables, and `labels`.

condition_variables <- function(fhat) {
  if (is_synopsis(fhat)) return(fhat[c("names", "types", "labels")])
  list(names = fhat$names, types = rep("number", length(fhat$names)), labels = list())
}

all_names <- function(variables) c(variables$names, names(variables$labels))

is_named <- function(side, names) is.name(side) && as.character(side) %in% names

# Refuses every condition that does not follow the grammar. Evaluates nothing.
check_condition <- function(expression, variables) {
  expression <- unwrapped(expression)
  name <- if (is.call(expression)) called(expression) else ""
  given <- if (is.call(expression)) as.list(expression)[-1L] else list()
  if (name %in% c("&", "&&", "|", "||", "!")) {
    for (part in given) check_condition(part, variables)
  } else if (name %in% c(query_comparisons, "==", "!=", "%in%") && length(given) == 2L) {
    check_comparison(expression, name, variables)
  } else if (name == "between") {
    check_between_call(expression, given, variables)
  } else if (!is_flag(expression, variables)) {
    abort_input("A condition must consist of comparisons joined by & and |, but `", shown_code(expression),
                "` is none.")
  }
}

# A label of TRUE and FALSE is a condition by itself.
is_flag <- function(expression, variables) {
  is_named(expression, names(variables$labels)) &&
    all(variables$labels[[as.character(expression)]]$levels %in% c("TRUE", "FALSE"))
}

check_comparison <- function(expression, name, variables) {
  sides <- list(unwrapped(expression[[2L]]), unwrapped(expression[[3L]]))
  names <- all_names(variables)
  which_named <- vapply(sides, is_named, NA, names)
  if (!any(which_named)) abort_no_variable(expression, names)
  if (all(which_named)) abort_two_sides(expression)
  if (name == "%in%" && !which_named[1L]) abort_no_variable(expression, names)
  variable <- as.character(sides[[which(which_named)]])
  is_label <- variable %in% names(variables$labels)
  if (is_label && name %in% query_comparisons) {
    abort_input("A condition must compare texts by ==, != or %in%, but `", shown_code(expression), "` does by ", name,
                ".")
  }
  if (!is_label && !name %in% query_comparisons) {
    abort_input("A condition must compare numbers by <, <=, >, >= or between(), not by ", name, " as `",
                shown_code(expression), "`: a single value has no probability in a density.")
  }
  check_value(sides[[which(!which_named)]], expression, names)
}

check_between_call <- function(expression, given, variables) {
  names <- all_names(variables)
  if (length(given) != 3L || any(nzchar(names(given)))) {
    abort_input("between() must have a variable and two numbers, as in between(", variables$names[1L], ", 0, 1), not `",
                shown_code(expression), "`.")
  }
  if (!is_named(unwrapped(given[[1L]]), variables$names)) abort_no_variable(expression, names)
  for (side in given[-1L]) check_value(side, expression, names)
}

# Functions of base R that values may call, always those of base R.
value_functions <- c("c", "-", "+", "*", "/", "^", ":", "(", "[", "as.Date", "as.POSIXct")

# Refuses calls of all other functions in a value of a condition.
check_value <- function(side, expression, names) {
  if (is.name(side)) {
    if (as.character(side) %in% names) abort_two_sides(expression)
    return(invisible())
  }
  if (!is.call(side)) return(invisible())
  name <- called(side)
  if (name %in% c("$", "[[") && length(side) == 3L) {
    is_last <- name == "$" || is.character(side[[3L]]) || is.numeric(side[[3L]])
    of <- side[[2L]]
    if (is_last && is.name(of) && !as.character(of) %in% names) return(invisible())
    if (is_last && is.call(of) && called(of) %in% c("$", "[[")) return(check_value(of, expression, names))
  }
  is_left_out <- vapply(seq_along(side), function(at) {
    identical(side[[at]], quote(expr = )) # nolint: spaces_inside_linter.
  }, NA)
  fine <- name %in% value_functions && !any(is_left_out) && is_of_base(side[[1L]])
  if (!fine) {
    abort_input("The values of a condition must be numbers, texts, dates, names of objects and ",
                paste(setdiff(value_functions, "("), collapse = " "), " of these; `", shown_code(side), "` in `",
                shown_code(expression), "` must be computed before, and named.")
  }
  for (part in as.list(side)[-1L]) check_value(part, expression, names)
}

# `c`, base::c.
is_of_base <- function(head) is.name(head) || identical(as.character(head[[2L]]), "base")

abort_no_variable <- function(expression, names) {
  found <- intersect(all.vars(expression), names)
  if (length(found) > 0L) {
    abort_input("A condition must compare a variable itself with a number: in `", shown_code(expression), "` ",
                quoted(found), " is part of an expression.")
  }
  abort_input("A condition must compare one of ", quoted(names), ", the variables of `fhat`, but `",
              shown_code(expression), "` names none.")
}

abort_two_sides <- function(expression) {
  abort_input("A condition must compare a variable with a number, but `", shown_code(expression),
              "` has variables of `fhat` on both sides.")
}

# ---- Values -------------------------------------------------------------------------------------------------------

# The value of an expression that check_value() has passed: numbers, texts or dates without another class.
value_of <- function(side, env) {
  if (is.name(side)) return(plain_value(get(as.character(side), envir = env), side))
  if (!is.call(side)) return(plain_value(side, side))
  name <- called(side)
  if (name %in% c("$", "[[")) return(plain_value(part_of(side, env), side))
  given <- as.list(side)[-1L]
  if (name == "(") return(value_of(given[[1L]], env))
  # Calls of these functions with dates run the methods of base R.
  do.call(getExportedValue("base", name), lapply(given, value_of, env))
}

# table$price and table[["price"]], of lists only, without methods of classes.
part_of <- function(side, env) {
  of <- side[[2L]]
  whole <- if (is.name(of)) get(as.character(of), envir = env) else part_of(of, env)
  if (!is.list(whole)) stop("`", shown_code(of), "` is no list")
  index <- side[[3L]]
  part <- .subset2(whole, if (is.name(index)) as.character(index) else index)
  if (is.null(part)) stop("it has no such column")
  part
}

plain_value <- function(value, side) {
  if (is.factor(value)) return(as.character(value))
  if (is_date(value)) return(in_dates(as.double(numbers_of(value)), value))
  if (is.character(value) || is.logical(value)) value <- without_class(value) else value <- plain(value)
  if (is.object(value) || !is.atomic(value)) stop("it is ", describe_value(value))
  array_of(value)
}

# Without names, but with dimensions, for elements of a matrix.
array_of <- function(value) {
  attributes(value) <- attributes(value)["dim"]
  value
}

condition_value <- function(side, expression, env) {
  catching_errors(value_of(side, env), function(e) {
    abort_input("`", shown_code(side), "` in the condition `", shown_code(expression), "` cannot be evaluated: ",
                conditionMessage(e), ".")
  })
}

# The value as numbers for a variable of this type.
numbers_for <- function(side, type, expression, env) {
  value <- condition_value(side, expression, env)
  if (type != "number" && is.character(value)) {
    value <- catching_errors(if (type == "Date") as.Date(value) else as.POSIXct(value, tz = "UTC"), function(e) value)
  }
  # A day begins at midnight.
  if (type == "POSIXct" && inherits(value, "Date")) value <- as.POSIXct(value)
  fits <- if (type == "number") is_numbers(value) else inherits(value, type)
  if (!fits || length(value) == 0L || anyNA(value)) {
    needed <- switch(type, number = "numbers", Date = "dates", POSIXct = "times")
    abort_input("`", shown_code(side), "` in the condition must be ", needed, ", none missing, not ",
                if (is_date(value)) kind_of(value) else describe_value(value), ".")
  }
  as.vector(unclass(value), "double")
}

# The categories as a logical vector: all levels, and others last.
categories_for <- function(side, name, label, expression, env, one) {
  value <- condition_value(side, expression, env)
  if (is.logical(value) && !anyNA(value)) value <- as.character(value)
  if (!is.character(value) || anyNA(value) || (one && length(value) != 1L)) {
    abort_input("`", shown_code(side), "` in the condition must be ", if (one) "a text" else "texts", ", not ",
                describe_value(value), ".")
  }
  unknown <- setdiff(enc2utf8(value), label$levels)
  if (length(unknown) > 0L) {
    first <- label$levels[seq_len(min(5L, length(label$levels)))]
    abort_input("`", name, "` must be compared with a category that it has, such as ", quoted(first, '"'),
                ", not with ", quoted(unknown[1L], '"'), if (label$other > 0) ", which is no common one", ".")
  }
  c(label$levels %in% enc2utf8(value), FALSE)
}

# The quantity: mean(price) as `fun` and the number of the variable, and `prob` for a quantile.
read_aggregate <- function(expression, names, env) {
  if (is.null(expression)) return(list(fun = "count", of = NULL))
  fun <- if (is.call(expression)) called(expression) else ""
  given <- if (is.call(expression)) as.list(expression)[-1L] else list()
  unnamed <- !any(nzchar(names(given)))
  if (fun %in% c("n", "count") && length(given) == 0L) return(list(fun = "count", of = NULL))
  arguments <- if (fun == "quantile") 2L else 1L
  if (fun %in% c("sum", "mean", "var", "median", "quantile") && length(given) == arguments && unnamed &&
    is_named(given[[1L]], names)) {
    of <- match(as.character(given[[1L]]), names)
    if (!fun %in% c("median", "quantile")) return(list(fun = fun, of = of))
    if (fun == "median") return(list(fun = "quantile", of = of, prob = 0.5))
    check_value(given[[2L]], expression, names)
    return(list(fun = fun, of = of, prob = check_level(condition_value(given[[2L]], expression, env), "prob")))
  }
  abort_input("The quantity must be n(), or sum(), mean(), var(), median() or quantile() of one of ", quoted(names),
              ", not `", shown_code(expression), "`.")
}
