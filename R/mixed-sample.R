# The sample of a regression with several regressors or with factors: columns of numbers, factors and ordered factors.

# Whether data go the way of several regressors. One column of numbers, and what is no data, go the other.
is_mixed <- function(xdat) {
  value <- plain_points(xdat)
  while (is_frame(value) && length(unclass(value)) == 1L) value <- plain_points(unclass(value)[[1L]])
  if (is_frame(value) || is.matrix(value) && !is.object(value)) return(NCOL(value) > 1L)
  is_categorical(value)
}

# A vector of missing values only counts as numbers.
is_categorical <- function(value) {
  is.factor(value) || is.logical(value) && !is.object(value) && length(value) > 0L && !all(is.na(value))
}

# The columns of data, with their names: a matrix without them has x1, x2, ...
mixed_columns <- function(xdat, argument) {
  value <- plain_points(xdat)
  if (is_categorical(value)) return(stats::setNames(list(value), plain_name(argument)))
  if (!is_frame(value) && length(dim(value)) < 2L) {
    variable <- as_variable(value, argument)
    return(stats::setNames(list(variable$value), plain_name(variable$name)))
  }
  if (!is_frame(value)) {
    if (!is_numbers(value) || !is.matrix(value)) {
      abort_input("`", argument, "` must be a data frame or a numeric matrix, not ", describe_value(value), ".")
    }
    if (ncol(value) == 0L) abort_input("`", argument, "` must have at least one column, not 0.")
    names <- readable(colnames(value))
    value <- lapply(seq_len(ncol(value)), function(k) {
      heard()
      as.vector(value[, k])
    })
    names(value) <- if (is.null(names)) paste0("x", seq_along(value)) else names
  }
  names <- readable(names(value))
  # A vector has the name of its argument.
  if (length(names) == 1L) names <- plain_name(names)
  columns <- lapply(seq_along(names), function(k) mixed_column(unclass(value)[[k]], names[k]))
  stats::setNames(columns, names)
}

# A regressor: numbers as doubles, dates, or a factor. Logical values are a factor, whose base level is FALSE.
mixed_column <- function(value, name) {
  if (is.factor(value)) return(plain_factor(value, name))
  if (is.logical(value) && !is.object(value) && !all(is.na(value))) return(factor(value, c(FALSE, TRUE)))
  value <- plain_points(value)
  if (is.character(value) && !is.object(value)) {
    abort_input("`", name, "` must be numbers or a factor, not character: factor() makes a factor of it.")
  }
  while (is_frame(value) || !is.object(value) && is.matrix(value)) {
    if (ncol(value) != 1L) abort_input("`", name, "` must have one column, not ", ncol(value), ".")
    value <- if (is_frame(value)) plain_points(unclass(value)[[1L]]) else value[, 1L]
    if (is.factor(value)) return(plain_factor(value, name))
  }
  number_column(value, name)
}

# A vector of numbers or dates.
number_column <- function(value, name) {
  variable <- as_variable(named_column(value, name), name, dates = TRUE)
  in_dates(variable$value, variable$dates)
}

# A factor of no other class, whose codes are within its levels.
plain_factor <- function(value, name) {
  levels <- readable(attr(value, "levels"))
  codes <- as.vector(unclass(value))
  fine <- is.integer(codes) && is.character(levels) && length(levels) > 0L && !anyNA(levels) &&
    anyDuplicated(levels) == 0L && all(codes >= 1L & codes <= length(levels), na.rm = TRUE)
  if (!fine) abort_input("`", name, "` must be a factor whose codes are those of its levels.")
  structure(codes, levels = levels, class = c(if (inherits(value, "ordered")) "ordered", "factor"))
}

kinds_of <- function(columns) {
  vapply(columns, function(column) {
    if (inherits(column, "ordered")) "ordered" else if (is.factor(column)) "unordered" else "continuous"
  }, "")
}

# The sample: rows without missing values, `x` a data frame of the regressors, `y` the response, and weights as with one
# regressor.
check_mixed_sample <- function(xdat, ydat, w, na.action, asked) {
  columns <- mixed_columns(xdat, "xdat")
  y <- as_variable(ydat, "ydat")
  n <- length(columns[[1L]])
  if (length(y$value) != n) {
    abort_input("`", y$name, "` must have as many values as the regressors, ", n, ", not ", length(y$value), ".")
  }
  weighted <- !is.null(w)
  w <- check_weights(w, n)
  gone <- Reduce(`|`, lapply(columns, is.na), is.na(y$value) | weighted & is.na(w))
  omitted <- omitted_rows(gone, na.action)
  if (length(omitted) > 0L) {
    columns <- lapply(columns, function(column) column[!gone])
    y$value <- y$value[!gone]
    w <- if (weighted) w[!gone] else ones_cpp(length(y$value))
  }
  for (name in names(columns)) check_regressor(columns[[name]], name)
  check_observed(y)
  n <- length(y$value)
  weights <- positive_weights(w, weighted)
  if (weights$positive < 2L) {
    abort_input("`", plain_name(y$name), "` must have at least two observations, not ", weights$positive,
                weights$remark, ".")
  }
  kinds <- kinds_of(columns)
  check_continuous(lapply(columns[kinds == "continuous"], weights$taken), asked$regtype, weights$remark)
  check_squares(weights$taken(y$value), weights$taken(weights$w), y$name, weights$remark)
  list(x = structure(columns, class = "data.frame", row.names = .set_row_names(n)), y = y$value, w = weights$w,
       nobs = weights$positive, ndim = length(columns), ncon = sum(kinds == "continuous"),
       nuno = sum(kinds == "unordered"), nord = sum(kinds == "ordered"), icon = unname(kinds == "continuous"),
       iuno = unname(kinds == "unordered"), iord = unname(kinds == "ordered"), xnames = names(columns),
       ynames = plain_name(y$name), na.action = omitted)
}

check_regressor <- function(column, name) {
  if (!is.factor(column)) return(check_observed(list(value = numbers_of(column), name = name)))
  check_present(column, name)
}

# Numeric columns must vary. Local linear fits need columns of which none is determined by the others.
check_continuous <- function(columns, regtype, remark = NULL) {
  columns <- lapply(columns, numbers_of)
  for (name in names(columns)) {
    ends <- range(columns[[name]])
    check_extent(ends, name, remark)
  }
  if (regtype == "lc" || length(columns) < 2L) return(invisible())
  x <- do.call(cbind, columns)
  scaled <- scale(x)
  known_as("xdat", check_spread(scaled, names(columns), stats::cov(scaled)))
}

# The positions of the levels of an ordered factor, whose distances its kernel takes: as in np their numbers, if all are
# numbers. Racine, Li & Yan's kernel is divided by its sum over all levels, here always at 1, 2, ...
level_positions <- function(levels, okertype) {
  numbers <- suppressWarnings(as.numeric(levels))
  counts <- okertype == "racineliyan" || !all(is.finite(numbers)) || anyDuplicated(numbers) > 0L
  if (counts) seq_along(levels) else numbers
}

# The regressors in the form of the core. Columns are in the order numbers, factors, ordered factors. They have no
# missing values and only levels of the data.
mixed_points <- function(columns, bws) {
  rows <- length(columns[[1L]])
  code_of <- function(k) match(as.character(columns[[k]]), levels(bws$x[[k]]))
  position_of <- function(k) level_positions(levels(bws$x[[k]]), bws$okertype)[code_of(k)]
  x <- matrix(as.numeric(unlist(lapply(columns[bws$icon], numbers_of), use.names = FALSE)), rows, sum(bws$icon))
  unordered <- matrix(as.integer(unlist(lapply(which(bws$iuno), code_of), use.names = FALSE)), rows, sum(bws$iuno))
  ordered <- matrix(as.numeric(unlist(lapply(which(bws$iord), position_of), use.names = FALSE)), rows, sum(bws$iord))
  list(x = x, unordered = unordered, ordered = ordered)
}

mixed_sample <- function(bws, run) {
  counts <- vapply(unclass(bws$x)[c(which(bws$iuno), which(bws$iord))], nlevels, 0L)
  mixed_cpp(c(mixed_points(unclass(bws$x), bws), list(levels = unname(counts), y = bws$y, w = bws$w)), run)
}

# Numeric columns, without the rows of weight 0.
weighed_numbers <- function(bws) {
  used <- if (!is.null(bws$w) && bws$nobs < length(bws$w)) bws$w > 0
  lapply(unclass(bws$x)[bws$icon], function(column) numbers_of(if (is.null(used)) column else column[used]))
}

# The same with its place, CPU or GPU, for about this many evaluations of the objective.
placed_sample <- function(bws, evaluations, run) {
  data <- mixed_sample(bws, run)
  choose_mixed_place_cpp(data, mixed_task(bws, rep(1, bws$ndim)), evaluations, run)
  data
}
