# Conditions as cells, boxes with sets of categories: a condition in disjunctive normal form has a cell for each of its
# alternatives. Cells may overlap.

# The cells of a condition, of which a row has to be in one at least. Each has matrices `lower` and `upper`, with a row
# for each box, and `sets`, the categories of some labels.
read_condition <- function(expression, variables, env) {
  check_condition(expression, variables)
  alternatives <- alternatives_of(expression, FALSE, variables, env)
  m <- max(unlist(lapply(alternatives, function(one) lengths(lapply(one$bounds, `[[`, "value")))), 1L)
  cells <- lapply(alternatives, cell_of, variables, m)
  none <- Reduce(`&`, lapply(cells, is_empty))
  if (any(none)) {
    abort_input("A condition must not exclude itself, but no ", emptied(cells, which(none)[1L], variables),
                " fulfils `", shown_code(expression), "`", if (m > 1L) paste(" in box", which(none)[1L]), ".")
  }
  cells
}

# "`price`" if it alone is to blame.
emptied <- function(cells, box, variables) {
  if (length(cells) > 1L) return("row")
  cell <- cells[[1L]]
  lower <- cell$lower[box, ]
  upper <- cell$upper[box, ]
  bad <- variables$names[lower > upper | lower == Inf | upper == -Inf]
  quoted(c(bad, names(cell$sets)[!vapply(cell$sets, any, NA)])[1L])
}

# Lists of `bounds` and `sets`, in disjunctive normal form; of the contrary with `negate`.
alternatives_of <- function(expression, negate, variables, env) {
  expression <- unwrapped(expression)
  name <- if (is.call(expression)) called(expression) else ""
  if (name == "!") return(alternatives_of(expression[[2L]], !negate, variables, env))
  if (name %in% c("&", "&&", "|", "||")) {
    parts <- lapply(as.list(expression)[-1L], alternatives_of, negate, variables, env)
    if ((name %in% c("&", "&&")) == negate) return(few_alternatives(c(parts[[1L]], parts[[2L]]), expression))
    few_alternatives(rep(0, length(parts[[1L]]) * length(parts[[2L]])), expression)
    return(unlist(lapply(parts[[1L]], function(one) lapply(parts[[2L]], both, one)), recursive = FALSE))
  }
  if (name == "between") return(between_alternatives(expression, negate, variables, env))
  if (is.name(expression)) {
    return(list(label_alternative(as.character(expression), quote(TRUE), expression, "==", negate, variables, env)))
  }
  sides <- list(unwrapped(expression[[2L]]), unwrapped(expression[[3L]]))
  left <- is_named(sides[[1L]], all_names(variables))
  variable <- as.character(sides[[if (left) 1L else 2L]])
  value <- sides[[if (left) 2L else 1L]]
  if (variable %in% names(variables$labels)) {
    return(list(label_alternative(variable, value, expression, name, negate, variables, env)))
  }
  list(list(bounds = list(comparison_bound(variable, value, left, expression, name, negate, variables, env)),
            sets = list()))
}

most_alternatives <- 64L

few_alternatives <- function(alternatives, expression) {
  if (length(alternatives) <= most_alternatives) return(alternatives)
  abort_input("A condition must have at most ", most_alternatives, " alternatives joined by |, but `",
              shown_code(expression), "` has more.")
}

# Both of two alternatives. The first is the later one.
both <- function(second, first) {
  sets <- first$sets
  for (label in names(second$sets)) {
    set <- second$sets[[label]]
    sets[[label]] <- if (is.null(sets[[label]])) set else sets[[label]] & set
  }
  list(bounds = c(first$bounds, second$bounds), sets = sets)
}

label_alternative <- function(variable, value, expression, name, negate, variables, env) {
  set <- categories_for(value, variable, variables$labels[[variable]], expression, env, one = name != "%in%")
  # No row has others if there are none.
  all <- c(rep(TRUE, length(set) - 1L), variables$labels[[variable]]$other > 0)
  list(bounds = list(), sets = stats::setNames(list(if ((name == "!=") != negate) all & !set else set), variable))
}

# A number next to `value`, above or below it. Rows on a strict limit are then outside the box, which matters for the
# interval of a count.
past <- function(value, above) {
  gap <- ifelse(is.finite(value), pmax(abs(value) * .Machine$double.eps, .Machine$double.xmin), 0)
  if (above) value + gap else value - gap
}

comparison_bound <- function(variable, value, left, expression, name, negate, variables, env) {
  at <- match(variable, variables$names)
  value <- numbers_for(value, variables$types[at], expression, env)
  above <- ((name %in% c(">", ">=")) == left) != negate
  strict <- (name %in% c("<", ">")) != negate
  list(variable = at, value = if (strict) past(value, above) else value, above = above)
}

between_alternatives <- function(expression, negate, variables, env) {
  given <- as.list(expression)[-1L]
  at <- match(as.character(unwrapped(given[[1L]])), variables$names)
  bound <- function(side, above) {
    value <- numbers_for(side, variables$types[at], expression, env)
    if (negate) value <- past(value, !above)
    list(variable = at, value = value, above = above != negate)
  }
  bounds <- list(bound(given[[2L]], TRUE), bound(given[[3L]], FALSE))
  if (!negate) return(list(list(bounds = bounds, sets = list())))
  lapply(bounds, function(one) list(bounds = list(one), sets = list()))
}

cell_of <- function(alternative, variables, m) {
  d <- length(variables$names)
  lower <- matrix(-Inf, m, d)
  upper <- matrix(Inf, m, d)
  for (bound in alternative$bounds) {
    if (!length(bound$value) %in% c(1L, m)) {
      abort_input("The numbers of a condition must be single ones or vectors of the same length, not of length ",
                  length(bound$value), " and ", m, ".")
    }
    k <- bound$variable
    if (bound$above) lower[, k] <- pmax(lower[, k], bound$value) else upper[, k] <- pmin(upper[, k], bound$value)
  }
  list(lower = lower, upper = upper, sets = alternative$sets)
}

# For each box whether a cell has no row for certain.
is_empty <- function(cell) {
  if (!all(vapply(cell$sets, any, NA))) return(rep(TRUE, nrow(cell$lower)))
  rowSums(cell$lower > cell$upper | cell$lower == Inf | cell$upper == -Inf) > 0
}

# Cells without those that no row is in, in any box.
some_rows <- function(cells) Filter(function(cell) !all(is_empty(cell)), cells)

common_cell <- function(one, other) {
  c(list(lower = pmax(one$lower, other$lower), upper = pmin(one$upper, other$upper)), both(other, one)["sets"])
}

most_terms <- 5000L

# The cells as terms, each with a sign, whose signed indicators add up to that of their union (inclusion and exclusion):
# 1(A or B) = 1(A) + 1(B) - 1(A and B).
inclusion_exclusion <- function(cells) {
  terms <- list()
  for (cell in cells) {
    shared <- lapply(terms, function(term) c(common_cell(term, cell), sign = -term$sign))
    terms <- c(terms, list(c(cell[c("lower", "upper", "sets")], sign = 1)), some_rows(shared))
    if (length(terms) > most_terms) {
      abort_input("A condition must have alternatives that overlap less: their intersections are more than ",
                  format(most_terms, big.mark = ","), ".")
    }
  }
  terms
}
