# Formulas of regressions: what they must be, and the variables that they need.

# Errors of R about a formula, as errors of ours.
try_formula <- function(value) {
  catching_errors(value, function(e) {
    # The name that model.frame() gives to the weights.
    why <- sub("'(w)'", "`w`", conditionMessage(e), fixed = TRUE)
    abort_input("`formula` must make sense with `data`: ", why, ".")
  })
}

# A formula must have a response, or none, and regressors, variables that exist.
check_formula <- function(formula, data, response = TRUE) {
  if (!is.null(data) && !is.list(data) && !is.environment(data)) {
    abort_input("`data` must be a data frame, a list or an environment, not ", describe_value(data), ".")
  }
  if (response && length(formula) != 3L) {
    abort_input("`formula` must have a response, as in y ~ x, not ", deparse1(formula), ".")
  }
  if (!response && length(formula) != 2L) {
    abort_input("`formula` must have no response, as in ~ x + z, not ", deparse1(formula), ".")
  }
  variables <- setdiff(variables_in(formula), ".")
  there <- vapply(variables, function(name) name %in% names(data) || exists(name, environment(formula)), NA)
  if (!all(there)) {
    abort_input("`formula` must name variables of `data` or of its environment; not found: ",
                quoted(variables[!there]), ".")
  }
  terms <- try_formula(stats::terms(formula, data = if (is_frame(data)) data))
  if (!is.null(attr(terms, "offset"))) abort_input("`formula` must not have an offset, as in ", deparse1(formula), ".")
  if (length(regressors_of(terms)) == 0L) {
    abort_input("`formula` must have a ", if (response) "regressor, as in y ~ x" else "variable, as in ~ x",
                ", not none.")
  }
  crossed <- attr(terms, "term.labels")[attr(terms, "order") > 1L]
  if (length(crossed) > 0L) {
    abort_input("`formula` must have regressors joined by +, not the interaction ", quoted(crossed[1L]),
                ": kernel weights are products, which have all interactions.")
  }
}

# Which variables of a formula are regressors: their positions among all.
regressors_of <- function(terms) {
  factors <- attr(terms, "factors")
  if (length(factors) == 0L) integer(0) else unname(which(rowSums(factors) > 0))
}

# The variables of an expression, without components, as x in d$x, and functions, as in stats::poly(x, 1).
variables_in <- function(expression) {
  if (is.name(expression)) return(as.character(expression))
  if (!is.call(expression)) return(character(0))
  head <- if (is.name(expression[[1L]])) as.character(expression[[1L]]) else ""
  if (head %in% c("::", ":::")) return(character(0))
  parts <- as.list(expression)
  attributes(parts) <- NULL # terms() has a class with its own `[`
  if (head %in% c("$", "@")) parts <- parts[1:2]
  if (nzchar(head)) parts <- parts[-1L]
  # An index may be empty, as in m[, 1].
  empty <- function(k) identical(parts[[k]], quote(expr = )) # nolint: spaces_inside_linter.
  given <- !vapply(seq_along(parts), empty, NA)
  unique(unlist(lapply(parts[given], variables_in)))
}

# The variables that data must have for a formula. A constant, as s in y ~ I(x / s), need not be in the data.
variables_needed <- function(formula, given) {
  constant <- function(name) length(get0(name, environment(formula))) == 1L
  Filter(function(name) name %in% given || !constant(name), variables_in(formula))
}
