# Verbs of package dplyr on synopses: filter(), group_by(), summarise() and count().

#' Verbs of dplyr on a synopsis
#'
#' `filter()`, `group_by()`, `summarise()` and `count()` of package \pkg{dplyr} for synopses made by [kde_synopsis()].
#' `filter()` and `group_by()` return a selection, which knows the conditions and the groups. `summarise()` and
#' `count()` return the answers of [kde_query()], each with an interval.
#'
#' @section Groups: A group is a label, such as `cut`, or a variable that is cut into intervals,
#' `cut(price, c(0, 1000, 5000))`, with `right = FALSE` for intervals that are closed on the left. Values outside of all
#' intervals are in no group. There is a row for each combination of groups, the first group changing slowest, also for
#' those without rows. Rare categories that the synopsis does not know by name are one group, NA.
#'
#' @param .data a synopsis, or a selection that `filter()` or `group_by()` made of one.
#' @param x in `count()` the same; in `print()` a selection.
#' @param ... in `filter()`, conditions as in [kde_query()], all of which have to hold, with one number for each limit.
#'   In `group_by()` and `count()`, labels or calls of `cut()`, with or without a name for the column. In `summarise()`,
#'   quantities as in [kde_query()], with or without names: `n()`, or `sum()`, `mean()`, `var()`, `median()` or
#'   `quantile()` of a variable.
#' @param .level the probability that the intervals should have.
#' @return `filter()` and `group_by()`: an object of class `"kestrel_selection"`, a list with the `synopsis`, the
#'   `conditions` as text, the `cells` (boxes with sets of categories) that hold the rows, and the `groups`. `print()`
#'   shows it and returns it invisibly. `summarise()` and `count()`: a data frame with the columns of the groups and,
#'   for a quantity `n`, the columns `n`, `n_lower` and `n_upper`.
#' @section Units: Those of [kde_query()].
#' @section Errors: Errors of class `kestrel_error_input` are for conditions and quantities that [kde_query()] refuses,
#'   for groups that are neither a label nor a variable that is cut, and for breaks that do not increase.
#' @section Cost: That of a query for each combination of groups and each quantity.
#' @references Andrzejewski, W., Gramacki, A. & Gramacki, J. (2013) Density estimations for approximate query processing
#'   on SIMD architectures.
#' @examples
#' if (requireNamespace("dplyr", quietly = TRUE)) {
#'   set.seed(1)
#'   synopsis <- kde_synopsis(iris, size = 100)
#'   long <- dplyr::filter(synopsis, Sepal.Length > 5.5 | Petal.Width > 1)
#'   print(dplyr::summarise(long, n = n(), mean(Petal.Length)))
#'   by_species <- dplyr::group_by(long, Species, width = cut(Sepal.Width, c(2, 3, 4.4)))
#'   print(dplyr::summarise(by_species, n = n()))
#'   print(dplyr::count(synopsis, Species))
#' }
#' @name synopsis-verbs
#' @aliases filter.kestrel_synopsis
NULL

#' @rdname synopsis-verbs
#' @exportS3Method dplyr::filter
filter.kestrel_synopsis <- function(.data, ...) narrowed(selection_of(.data), expressions_of(...), parent.frame())

#' @rdname synopsis-verbs
#' @exportS3Method dplyr::filter
filter.kestrel_selection <- filter.kestrel_synopsis

#' @rdname synopsis-verbs
#' @exportS3Method dplyr::group_by
group_by.kestrel_synopsis <- function(.data, ...) grouped(selection_of(.data), expressions_of(...), parent.frame())

#' @rdname synopsis-verbs
#' @exportS3Method dplyr::group_by
group_by.kestrel_selection <- group_by.kestrel_synopsis

#' @rdname synopsis-verbs
#' @exportS3Method dplyr::summarise
summarise.kestrel_synopsis <- function(.data, ..., .level = 0.95) {
  summarised(selection_of(.data), expressions_of(...), parent.frame(), check_level(.level, ".level"))
}

#' @rdname synopsis-verbs
#' @exportS3Method dplyr::summarise
summarise.kestrel_selection <- summarise.kestrel_synopsis

#' @rdname synopsis-verbs
#' @exportS3Method dplyr::count
count.kestrel_synopsis <- function(x, ..., .level = 0.95) {
  selection <- selection_of(x)
  given <- expressions_of(...)
  if (length(given) > 0L) selection <- grouped(selection, given, parent.frame())
  summarised(selection, list(n = quote(n())), parent.frame(), check_level(.level, ".level"))
}

#' @rdname synopsis-verbs
#' @exportS3Method dplyr::count
count.kestrel_selection <- count.kestrel_synopsis

# What was written in the dots, with its names.
expressions_of <- function(...) as.list(substitute(list(...)))[-1L]

selection_of <- function(data) {
  if (!is_synopsis(data)) return(check_object(data, ".data", "kestrel_selection"))
  check_object(data, ".data", "kestrel_synopsis")
  d <- length(data$names)
  whole <- list(lower = matrix(-Inf, 1L, d), upper = matrix(Inf, 1L, d), sets = list())
  structure(list(synopsis = data, conditions = character(0), cells = list(whole), groups = list()),
            class = "kestrel_selection")
}

# The selection with further conditions.
narrowed <- function(selection, conditions, env) {
  given <- names(conditions)
  if (any(nzchar(given))) {
    abort_input("filter() takes conditions without names, not `", given[nzchar(given)][1L],
                " = `: use == for categories.")
  }
  for (condition in conditions) {
    cells <- read_condition(condition, condition_variables(selection$synopsis), env)
    if (nrow(cells[[1L]]$lower) != 1L) {
      abort_input("filter() takes conditions with single numbers, but `", shown_code(condition), "` has vectors.")
    }
    selection$cells <- few_alternatives(common_cells(selection$cells, cells), condition)
    selection$conditions <- c(selection$conditions, shown_code(condition))
  }
  selection
}

# The cells of rows that are in a cell of both lists. If no row can be, one that is empty.
common_cells <- function(cells, others) {
  both <- unlist(lapply(cells, function(cell) lapply(others, common_cell, cell)), recursive = FALSE)
  kept <- some_rows(both)
  if (length(kept) > 0L) kept else both[1L]
}

grouped <- function(selection, given, env) {
  groups <- Map(read_group, given, column_names(given), MoreArgs = list(synopsis = selection$synopsis, env = env))
  names <- vapply(groups, `[[`, "", "name")
  if (anyDuplicated(names) > 0L) {
    abort_input("Groups must have different names, but two are ", quoted(names[anyDuplicated(names)]), ".")
  }
  selection$groups <- unname(groups)
  selection
}

# The names of columns: those that were given, or the code.
column_names <- function(given) {
  if (length(given) == 0L) return(character(0))
  names <- if (is.null(names(given))) rep("", length(given)) else names(given)
  ifelse(nzchar(names), names, vapply(given, shown_code, ""))
}

# A group: its `name`, the `values` of its column and a cell for each.
read_group <- function(expression, name, synopsis, env) {
  variables <- condition_variables(synopsis)
  if (is_named(expression, names(synopsis$labels))) return(label_group(as.character(expression), name, synopsis))
  if (is.call(expression) && called(expression) == "cut" && length(expression) > 2L &&
    is_named(expression[[2L]], synopsis$names)) {
    return(cut_group(expression, name, variables, env))
  }
  labels <- names(synopsis$labels)
  abort_input("A group must be one of the labels", if (length(labels) > 0L) paste0(" ", quoted(labels)),
              " or a variable that is cut, as in cut(", synopsis$names[1L], ", c(0, 1)), not `",
              shown_code(expression), "`.")
}

label_group <- function(label, name, synopsis) {
  known <- synopsis$labels[[label]]
  d <- length(synopsis$names)
  order <- order(known$levels, method = "radix")
  if (known$other > 0) order <- c(order, length(known$levels) + 1L)
  cells <- lapply(order, function(at) {
    list(lower = matrix(-Inf, 1L, d), upper = matrix(Inf, 1L, d),
         sets = stats::setNames(list(seq_len(length(known$levels) + 1L) == at), label))
  })
  list(name = name, values = c(known$levels, NA)[order], cells = cells)
}

cut_group <- function(expression, name, variables, env) {
  given <- as.list(expression)[-(1:2)]
  arguments <- names(given)
  if (is.null(arguments)) arguments <- rep("", length(given))
  if (!nzchar(arguments[1L])) arguments[1L] <- "breaks"
  if (!setequal(arguments, intersect(arguments, c("breaks", "right"))) || !"breaks" %in% arguments) {
    abort_input("cut() must have a variable, breaks and perhaps `right`, not `", shown_code(expression), "`.")
  }
  k <- match(as.character(expression[[2L]]), variables$names)
  side <- given[[match("breaks", arguments)]]
  check_value(side, expression, all_names(variables))
  breaks <- numbers_for(side, variables$types[k], expression, env)
  if (length(breaks) < 2L || is.unsorted(breaks, strictly = TRUE)) {
    abort_input("cut() must have at least two breaks that increase, not `", shown_code(side), "`.")
  }
  right <- if ("right" %in% arguments) given[[match("right", arguments)]] else TRUE
  right <- check_flag(right, "right")
  from <- breaks[-length(breaks)]
  to <- breaks[-1L]
  shown <- function(values) {
    if (variables$types[k] == "number") format_short(values, 6) else format(shown_values(values, variables$types[k]))
  }
  values <- paste0(if (right) "(" else "[", shown(from), ",", shown(to), if (right) "]" else ")")
  cells <- lapply(seq_along(from), function(at) {
    lower <- matrix(-Inf, 1L, length(variables$names))
    upper <- -lower
    lower[k] <- if (right) past(from[at], TRUE) else from[at]
    upper[k] <- if (right) to[at] else past(to[at], FALSE)
    list(lower = lower, upper = upper, sets = list())
  })
  list(name = name, values = values, cells = cells)
}

summarised <- function(selection, given, env, level) {
  if (length(given) == 0L) abort_input("summarise() must have a quantity, such as n = n().")
  synopsis <- selection$synopsis
  queries <- lapply(given, function(one) read_aggregate(one, synopsis$names, env))
  names <- column_names(given)
  columns <- c(vapply(selection$groups, `[[`, "", "name"), names)
  if (anyDuplicated(columns) > 0L) {
    abort_input("Columns must have different names, but two are ", quoted(columns[anyDuplicated(columns)]), ".")
  }
  # The first group changes slowest.
  numbers <- lapply(selection$groups, function(group) seq_along(group$values))
  rows <- if (length(numbers) == 0L) matrix(0L, 1L, 0L) else as.matrix(rev(expand.grid(rev(numbers))))
  source <- query_source(synopsis)
  run <- run_options()
  answers <- lapply(seq_len(nrow(rows)), function(row) {
    cells <- Reduce(function(cells, group) {
      common_cells(cells, selection$groups[[group]]$cells[rows[row, group]])
    }, seq_along(selection$groups), selection$cells)
    unlist(lapply(queries, function(query) answer_cells(source, cells, query, synopsis$N, level, run)[1L, ][1:3]))
  })
  # A count has its interval after it, as every other quantity has.
  values <- as.data.frame(do.call(rbind, answers))
  names(values) <- as.vector(outer(c("", "_lower", "_upper"), names, function(end, name) paste0(name, end)))
  held <- Map(function(group, at) group$values[rows[, at]], selection$groups, seq_along(selection$groups))
  names(held) <- vapply(selection$groups, `[[`, "", "name")
  structure(c(held, as.list(values)), class = "data.frame", row.names = seq_len(nrow(rows)))
}

#' @rdname synopsis-verbs
#' @export
print.kestrel_selection <- function(x, ...) {
  check_object(x, "x", "kestrel_selection")
  cat(
    paste0("Selection of a synopsis, d = ", length(x$synopsis$names)),
    label_line("rows", paste(format(nrow(x$synopsis$x), big.mark = ","), "of", format(x$synopsis$N, big.mark = ","))),
    if (length(x$conditions) > 0L) label_line("conditions", paste(x$conditions, collapse = ", ")),
    if (length(x$groups) > 0L) {
      label_line("groups", paste0(vapply(x$groups, `[[`, "", "name"), " (",
                                  lengths(lapply(x$groups, `[[`, "values")), ")", collapse = ", "))
    }, sep = "\n"
  )
  invisible(x)
}
