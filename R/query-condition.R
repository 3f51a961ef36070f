# Conditions in the names of an estimate's variables, such as price > 1000 & between(carat, 1, 2), as boxes.

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

# The boxes of a condition: matrices `lower` and `upper`.
read_condition <- function(expression, names, env) {
  bounds <- condition_bounds(expression, names, env)
  m <- max(vapply(bounds, function(bound) length(bound$value), 0L))
  lower <- matrix(-Inf, m, length(names))
  upper <- matrix(Inf, m, length(names))
  for (bound in bounds) {
    if (!length(bound$value) %in% c(1L, m)) {
      abort_input("The numbers of a condition must be single ones or vectors of the same length, not of length ",
                  length(bound$value), " and ", m, ".")
    }
    k <- bound$variable
    if (bound$above) lower[, k] <- pmax(lower[, k], bound$value) else upper[, k] <- pmin(upper[, k], bound$value)
  }
  none <- which(lower > upper, arr.ind = TRUE)
  if (nrow(none) > 0L) {
    abort_input("A condition must not exclude itself, but no `", names[none[1L, 2L]], "` fulfils `",
                shown_code(expression), "`", if (m > 1L) paste(" in box", none[1L, 1L]), ".")
  }
  list(lower = lower, upper = upper)
}

# All bounds of a condition: lists of `variable`, its number, `value`, and `above`, TRUE for a lower limit.
condition_bounds <- function(expression, names, env) {
  expression <- unwrapped(expression)
  name <- if (is.call(expression)) called(expression) else ""
  if (name %in% c("&", "&&")) {
    return(c(condition_bounds(expression[[2L]], names, env), condition_bounds(expression[[3L]], names, env)))
  }
  if (name %in% query_comparisons) return(list(comparison_bound(expression, name, names, env)))
  if (name == "between") return(between_bounds(expression, names, env))
  if (name %in% c("==", "!=", "%in%")) {
    abort_input("A condition must compare by <, <=, >, >= or between(), not by ", name, " as `",
                shown_code(expression), "`: a single value has no probability in a density.")
  }
  if (name %in% c("|", "||", "!")) {
    abort_input("A condition must be one box, comparisons joined by &, but `", shown_code(expression),
                "` is not: ask for disjoint boxes, and add their counts.")
  }
  abort_input("A condition must consist of comparisons joined by &, but `", shown_code(expression), "` is none.")
}

comparison_bound <- function(expression, name, names, env) {
  sides <- list(unwrapped(expression[[2L]]), unwrapped(expression[[3L]]))
  variable <- vapply(sides, function(side) is.name(side) && as.character(side) %in% names, NA)
  if (!any(variable)) abort_no_variable(expression, names)
  if (all(variable)) abort_two_sides(expression)
  value <- condition_value(sides[[which(!variable)]], expression, names, env)
  above <- (name %in% c(">", ">=")) == variable[1L]
  list(variable = match(as.character(sides[[which(variable)]]), names),
       value = if (name %in% c("<", ">")) past(value, above) else value, above = above)
}

# A number next to `value`, above or below it. Rows on a strict limit are then outside the box, which matters for the
# interval of a count.
past <- function(value, above) {
  gap <- ifelse(is.finite(value), pmax(abs(value) * .Machine$double.eps, .Machine$double.xmin), 0)
  if (above) value + gap else value - gap
}

between_bounds <- function(expression, names, env) {
  given <- as.list(expression)[-1L]
  if (length(given) != 3L || any(nzchar(names(given)))) {
    abort_input("between() must have a variable and two numbers, as in between(", names[1L], ", 0, 1), not `",
                shown_code(expression), "`.")
  }
  variable <- unwrapped(given[[1L]])
  if (!is.name(variable) || !as.character(variable) %in% names) abort_no_variable(expression, names)
  bound <- function(side, above) {
    list(variable = match(as.character(variable), names), value = condition_value(side, expression, names, env),
         above = above)
  }
  list(bound(given[[2L]], TRUE), bound(given[[3L]], FALSE))
}

abort_no_variable <- function(expression, names) {
  found <- intersect(free_names(expression), names)
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

# The names in an expression that may be variables: `price` in table$price or pkg::price is not one.
free_names <- function(expression) all.vars(without_fields(expression))

without_fields <- function(expression) {
  if (!is.call(expression)) return(expression)
  if (is.name(expression[[1L]])) {
    head <- as.character(expression[[1L]])
    if (head %in% c("$", "@")) return(without_fields(expression[[2L]]))
    if (head %in% c("::", ":::")) return(TRUE)
  }
  for (i in seq_along(expression)) {
    if (is.call(expression[[i]])) expression[[i]] <- without_fields(expression[[i]])
  }
  expression
}

condition_value <- function(side, expression, names, env) {
  if (any(free_names(side) %in% names)) abort_two_sides(expression)
  value <- catching_errors(eval(side, env), function(e) {
    abort_input("`", shown_code(side), "` in the condition cannot be evaluated: ", conditionMessage(e), ".")
  })
  value <- plain(value)
  if (!is_numbers(value) || length(value) == 0L || anyNA(value)) {
    abort_input("`", shown_code(side), "` in the condition must be numbers, none missing, not ", describe_value(value),
                ".")
  }
  as.vector(value, "double")
}

# The aggregate: mean(price) as `fun` and the number of the variable.
read_aggregate <- function(expression, names) {
  if (is.null(expression)) return(list(fun = "count", of = NULL))
  fun <- if (is.call(expression)) called(expression) else ""
  given <- if (is.call(expression)) as.list(expression)[-1L] else list()
  if (fun %in% c("n", "count") && length(given) == 0L) return(list(fun = "count", of = NULL))
  if (fun %in% c("sum", "mean", "var") && length(given) == 1L && is.name(given[[1L]])) {
    variable <- as.character(given[[1L]])
    if (variable %in% names) return(list(fun = fun, of = match(variable, names)))
  }
  abort_input("The quantity must be n(), or sum(), mean() or var() of one of ", quoted(names), ", not `",
              shown_code(expression), "`.")
}
