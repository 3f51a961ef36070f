# Densities of groups: kde() with a formula, or of a grouped data frame.

#' Densities by group
#'
#' With a formula in place of `H`, [kde()] takes the variables of a data frame by their names, and with a bar it makes
#' one density for each group: `kde(df, ~ x + y | group)`. The same is `kde(df, ~ x + y, .by = group)`. Without a
#' formula `.by` takes all other columns as variables. A grouped data frame of \pkg{dplyr} is split by its groups, and
#' its other columns are the variables. Points of \pkg{sf} have their coordinates as variables.
#'
#' Each group is one call of [kde()] with its rows and weights and the other arguments. So each group has a bandwidth
#' and a grid of its own, unless they are given. `h` may be a vector, and `h` and `H` may be lists, with one bandwidth
#' for each group, in the order of the groups, or functions of the rows of a group, such as [hscv()]. A formula takes
#' the place of `H`, so that only `h` can be given beside it.
#'
#' Groups are the combinations of values that occur. Groups with fewer observations than a bandwidth needs, two for one
#' variable and three for two, and levels of a factor without observations, are left out, and one warning names them.
#'
#' @param object,x a result of `kde()` for groups.
#' @param newdata points: a data frame with the variables and the columns of the groups, for the density of each point's
#'   own group; or points as for [predict()][predict.kestrel_kde], for the densities of all groups.
#' @param col colours, one for each group.
#' @param cont in two dimensions the percentage of the region whose border is drawn.
#' @param xlab,ylab,main labels.
#' @param row.names,optional not used; arguments of the generic.
#' @param ... not used. In `plot()` further graphical parameters.
#' @return `kde()` returns an object of class `"kestrel_kde_groups"`, a list with
#'   \item{groups}{a data frame with the values of the grouping variables, one row for each group}
#'   \item{estimates}{a list of densities made by [kde()], one for each group, named by its values}
#'   \item{names}{the names of the variables}
#'   \item{n}{the number of observations of each group}
#'   \item{left.out}{the names of the groups that were left out}
#'   and `call` and `seconds`.
#'
#'   `predict()` returns a vector of densities at the points' own groups, or a matrix with a column for each group.
#'   `as.data.frame()` returns the tables of all groups below each other, after the columns of the groups. `print()` and
#'   `plot()` return their argument invisibly.
#' @section Units: Those of [kde()].
#' @section Errors: Those of [kde()], with the name of the group. Errors of class `kestrel_error_input` are also for
#'   formulas that do not fit the data, for missing values in groups, for points of groups that are not known, and for
#'   plots of more than two variables. The warning has the class `kestrel_warning_groups`.
#' @section Cost: That of [kde()] for each group.
#' @references Wickham, H. (2011) The split-apply-combine strategy for data analysis. *Journal of Statistical Software*
#'   **40**(1), 1-29.
#' @seealso [kda()] for the classes of new points; [tidiers]
#' @examples
#' flowers <- kde(iris, ~ Petal.Length + Petal.Width | Species)
#' flowers
#' plot(flowers)
#' predict(flowers, cbind(c(1.5, 4, 6), c(0.2, 1.3, 2)))
#' flowers$estimates$setosa
#' kde(mtcars[c("mpg", "cyl")], .by = cyl)
#'
#' # one density, of variables by their names
#' kde(mtcars, ~ log(hp))
#' @name kde-groups
NULL

asks_for_groups <- function(x, H, by) inherits(H, "formula") || inherits(x, "grouped_df") || !is.null(by)

# The names of the columns of `data` that the expression `by` of a user chooses: a, c(a, b), or text.
columns_named <- function(by, data, env) {
  places <- if (is_frame(data)) stats::setNames(as.list(seq_along(data)), names(data))
  chosen <- catching_errors(eval(by, places, env), function(e) {
    abort_input("`.by` must be columns of `x`: ", conditionMessage(e), ".")
  })
  if (is.null(chosen)) return(NULL)
  if (is.null(places)) abort_input("`x` must be a data frame where `.by` is given, not ", describe_value(data), ".")
  if (is.numeric(chosen) && all(chosen %in% seq_along(places))) chosen <- names(places)[chosen]
  if (!is.character(chosen) || length(chosen) == 0L || !all(chosen %in% names(places))) {
    abort_input("`.by` must be columns of `x`, ", quoted(names(places)), ", not ", describe_value(chosen), ".")
  }
  unique(chosen)
}

# kde() again, for each group; `arguments` of a call, evaluated.
grouped_density <- function(arguments, call) {
  started <- proc.time()[["elapsed"]]
  x <- arguments$x
  by_formula <- inherits(arguments$H, "formula")
  if (!is.null(arguments$by) && inherits(x, "grouped_df")) abort_input("`.by` must not be given for grouped data.")
  read <- if (by_formula) read_groups(arguments$H, x, arguments$by) else grouped_frame(x, arguments$by)
  rest <- arguments[!names(arguments) %in% c("x", "H", "w", "h", "by")]
  bandwidth <- arguments[setdiff(intersect(c("h", "H"), names(arguments)), if (by_formula) "H")]
  n <- nrow(read$variables)
  w <- if (!is.null(arguments$w)) check_weights(arguments$w, n)
  crs <- attr(read$variables, "crs")
  if (is.null(read$groups)) {
    made <- do.call(kde, c(list(x = read$variables), bandwidth, if (!is.null(w)) list(w = w), rest), quote = TRUE)
    made$crs <- crs
    return(replace(made, "call", list(call)))
  }
  split <- split_by(read$groups)
  least <- if (length(bandwidth) > 0L && !is.null(bandwidth[[1L]])) 1L else length(read$variables) + 1L
  large <- split$sizes >= least
  left_out <- names(split$sizes)[!large]
  if (!any(large)) {
    abort_input("`x` must have a group with at least ", least, " observation", if (least > 1L) "s",
                "; the largest has ", max(split$sizes), ".")
  }
  if (length(left_out) > 0L) warn_small_groups(left_out, least)
  kept <- names(split$sizes)[large]
  if (length(bandwidth) == 1L && !is.function(bandwidth[[1L]]) && several_bandwidths(bandwidth[[1L]]) &&
        length(bandwidth[[1L]]) != length(kept)) {
    abort_input("`", names(bandwidth), "` must have a bandwidth for each of the ", length(kept), " groups, not ",
                length(bandwidth[[1L]]), ".")
  }
  estimates <- lapply(stats::setNames(seq_along(kept), kept), function(k) {
    rows <- which(split$of == kept[k])
    variables <- read$variables[rows, , drop = FALSE]
    chosen <- lapply(bandwidth, bandwidth_for, x = as.matrix(variables), group = k)
    fhat <- in_group(kept[k], do.call(kde, c(list(x = variables), chosen, if (!is.null(w)) list(w = w[rows]), rest),
                                      quote = TRUE))
    fhat$crs <- crs
    replace(fhat, "call", list(call))
  })
  groups <- read$groups[match(kept, split$of), , drop = FALSE]
  rownames(groups) <- NULL
  structure(list(groups = groups, estimates = estimates, names = estimates[[1L]]$names, n = unname(split$sizes[large]),
                 left.out = left_out, call = call, seconds = proc.time()[["elapsed"]] - started),
            class = "kestrel_kde_groups")
}

# Errors about a group say which.
in_group <- function(name, code) {
  tryCatch(code, kestrel_error_input = function(e) {
    abort_input("In group \"", name, "\": ", conditionMessage(e))
  })
}

# The variables and the groups, NULL without any, of a formula ~ x + y | g, or ~ x + y with the columns of groups `by`.
read_groups <- function(formula, data, by) {
  if (!is_frame(data)) abort_input("`x` must be a data frame where `H` is a formula, not ", describe_value(data), ".")
  if (length(formula) != 2L) {
    abort_input("`H` must be a bandwidth or a formula without a response, as in ~ x + y | group, not ",
                deparse1(formula), ".")
  }
  right <- formula[[2L]]
  barred <- is.call(right) && identical(right[[1L]], quote(`|`))
  if (barred && !is.null(by)) abort_input("`.by` must not be given where `H` has groups after a bar.")
  columns <- function(side) {
    parts <- terms_of_sum(side)
    values <- lapply(parts, function(part) {
      catching_errors(eval(part, data, environment(formula)), function(e) {
        abort_input("`H` must be a formula of variables of `x`: ", conditionMessage(e), ".")
      })
    })
    names(values) <- vapply(parts, deparse1, "")
    for (name in names(values)) {
      size <- if (inherits(values[[name]], "sfc")) length(values[[name]]) else NROW(values[[name]])
      if (size != .row_names_info(data, 2L)) {
        abort_input("`H` must be a formula of variables with a value for each row of `x`; `", name, "` has ", size, ".")
      }
    }
    values
  }
  list(variables = variables_frame(columns(if (barred) right[[2L]] else right)),
       groups = if (barred) groups_frame(columns(right[[3L]])) else if (!is.null(by)) groups_frame(unclass(data)[by]))
}

# a + b + c as a list.
terms_of_sum <- function(side) {
  if (is.call(side) && identical(side[[1L]], quote(`+`)) && length(side) == 3L) {
    return(c(terms_of_sum(side[[2L]]), side[[3L]]))
  }
  if (is.call(side) && identical(side[[1L]], quote(`(`))) return(terms_of_sum(side[[2L]]))
  list(side)
}

# The columns of a data frame by the names of those of its groups, which a grouped one has in an attribute.
grouped_frame <- function(x, by) {
  keys <- if (is.null(by)) setdiff(names(attr(x, "groups")), ".rows") else by
  columns <- unclass(as_frame(x))
  attributes(columns) <- list(names = names(x))
  if (length(keys) == 0L || !all(keys %in% names(columns))) {
    abort_input("`x` must be a grouped data frame with the columns of its groups.")
  }
  list(variables = variables_frame(columns[setdiff(names(columns), keys)]), groups = groups_frame(columns[keys]))
}

# Geometries of points become columns of coordinates.
variables_frame <- function(columns) {
  spatial <- vapply(columns, inherits, NA, what = "sfc")
  if (!any(spatial)) {
    wrong <- names(columns)[!vapply(columns, function(column) is_numbers(plain(column)), NA)]
    if (length(wrong) > 0L) abort_input("`x` must have numeric variables; not numeric: ", quoted(wrong), ".")
    return(as.data.frame(columns, optional = TRUE))
  }
  if (length(columns) > 1L) {
    abort_input("`x` must have no variables beside the coordinates of its points, but it has ",
                quoted(names(columns)[!spatial]), ".")
  }
  at <- coordinates_of(columns[[1L]])
  structure(as.data.frame(at$points), crs = at$crs)
}

groups_frame <- function(columns) {
  missing <- names(columns)[vapply(columns, anyNA, NA)]
  if (length(missing) > 0L) {
    abort_input("`x` must not have missing values in its groups, but ", quoted(missing), " has.")
  }
  as.data.frame(columns, optional = TRUE)
}

# The name of each row's group, and the sizes of all groups. Levels of one factor without observations have size 0.
# Several names are joined by commas, so those with a comma are quoted: different groups have different names.
split_by <- function(groups) {
  texts <- unname(lapply(unclass(groups), as.character))
  if (length(texts) > 1L) {
    texts <- lapply(texts, function(text) ifelse(grepl("[,\"]", text), encodeString(text, quote = "\""), text))
  }
  of <- do.call(paste, c(texts, sep = ", "))
  single <- length(groups) == 1L && is.factor(groups[[1L]])
  order <- do.call(order, unname(unclass(groups)))
  all <- if (single) levels(groups[[1L]]) else unique(of[order])
  list(of = of, sizes = c(table(factor(of, all))))
}

check_groups <- function(object, name) check_object(object, name, "kestrel_kde_groups")

#' @rdname kde-groups
#' @export
predict.kestrel_kde_groups <- function(object, newdata, ...) {
  check_arguments("predict", given_names(...))
  check_groups(object, "object")
  if (missing(newdata)) abort_input("`newdata` must be points to predict at.")
  keys <- names(object$groups)
  if (!is_frame(newdata) || !any(keys %in% names(newdata))) {
    at <- lapply(object$estimates, predict, newdata)
    return(do.call(cbind, at))
  }
  lacking <- setdiff(c(keys, object$names), names(newdata))
  if (length(lacking) > 0L) abort_input("`newdata` must have the columns ", quoted(lacking), ", too.")
  of <- split_by(as_frame(newdata)[keys])$of
  unknown <- setdiff(of, names(object$estimates))
  if (length(unknown) > 0L) {
    abort_input("`newdata` must have points of the groups ", quoted(names(object$estimates), '"'), ", not of ",
                quoted(unknown, '"'), ".")
  }
  value <- numeric(length(of))
  for (name in unique(of)) {
    value[of == name] <- predict(object$estimates[[name]], as_frame(newdata)[of == name, object$names, drop = FALSE])
  }
  value
}

#' @rdname kde-groups
#' @export
as.data.frame.kestrel_kde_groups <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_groups(x, "x")
  below_each_other(x, lapply(x$estimates, as.data.frame))
}

# Tables of the groups below each other, after the columns of the groups.
below_each_other <- function(x, tables) {
  rows <- do.call(rbind, unname(tables))
  keys <- x$groups[rep(seq_along(tables), vapply(tables, nrow, 0L)), , drop = FALSE]
  made <- bound_beside(keys, rows)
  rownames(made) <- NULL
  made
}

#' @rdname kde-groups
#' @export
nobs.kestrel_kde_groups <- function(object, ...) sum(check_groups(object, "object")$n)

group_lines <- function(x) {
  c("Kernel density estimates by group",
    call_lines(x$call),
    label_line("variables", paste(x$names, collapse = ", ")),
    label_line("groups", paste0(length(x$estimates), ", by ", paste(names(x$groups), collapse = ", "))),
    if (length(x$left.out) > 0L) label_line("left out", paste(x$left.out, collapse = ", ")))
}

#' @rdname kde-groups
#' @export
print.kestrel_kde_groups <- function(x, ...) {
  check_groups(x, "x")
  cat(group_lines(x), "", sep = "\n")
  H <- t(vapply(x$estimates, function(fhat) sqrt(diag(as.matrix(fhat$H))), numeric(length(x$names))))
  if (length(x$names) == 1L) H <- t(H)
  names <- paste0("h.", x$names)
  shown <- matrix(format_short(H), nrow(H))
  table <- cbind(x$groups, n = x$n, stats::setNames(as.data.frame(shown), if (ncol(shown) == 1L) "h" else names))
  text <- suspendInterrupts(utils::capture.output(print(table, row.names = FALSE, width = 78L)))
  cat(paste0("  ", text), sep = "\n")
  invisible(x)
}

#' @rdname kde-groups
#' @export
plot.kestrel_kde_groups <- function(x, col = NULL, cont = 95, xlab = NULL, ylab = NULL, main = NULL, ...) {
  check_groups(x, "x")
  d <- length(x$names)
  count <- length(x$estimates)
  gridded <- vapply(x$estimates, function(fhat) fhat$gridded, NA)
  if (d > 2L || !all(gridded)) abort_input("`x` must be of one or two variables on grids to be plotted.")
  cont <- check_content(cont)
  col <- if (is.null(col)) kind_colours(count) else rep_len(check_graphical(col, "col"), count)
  axes <- function(k) range(lapply(x$estimates, function(fhat) axes_of(fhat)[[k]]))
  height <- function() c(0, max(vapply(x$estimates, function(fhat) max(fhat$estimate), 0)))
  more <- utils::modifyList(list(xlim = axes(1L), ylim = if (d == 1L) height() else axes(2L)), list(...))
  for (k in seq_len(count)) {
    style <- if (d == 1L) list() else list(display = "slice", cont = cont, drawlabels = FALSE, col = col[k])
    labels <- list(xlab = xlab, ylab = ylab, main = main)
    if (k == 1L) {
      do.call(plot.kestrel_kde, c(list(x$estimates[[1L]], drawpoints = FALSE), if (d == 1L) list(col = col[1L]), style,
                                  labels, more), quote = TRUE)
    } else if (d == 1L) {
      graphics::lines(x$estimates[[k]], col = col[k])
    } else {
      do.call(plot.kestrel_kde, c(list(x$estimates[[k]], add = TRUE), style), quote = TRUE)
    }
  }
  graphics::legend("topright", names(x$estimates), col = col, lty = 1, bty = "n")
  invisible(x)
}
