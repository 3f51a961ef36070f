# Checks of everything that a user can get wrong. Each returns its argument in the form that the rest of the package
# uses, or ends in an error that names the argument, what was needed and what came.

# For numbers as plain() returns them.
is_number <- function(value) is_numbers(value) && length(value) == 1L && is.finite(value)

check_positive <- function(value, name) {
  value <- plain(value)
  if (!is_number(value) || value <= 0) abort_input("`", name, "` must be a positive number, not ",
                                                   describe_value(value), ".")
  as.numeric(value)
}

# Bandwidths, or `one`, within limits: by default those whose squares and reciprocals of squares are within the range of
# numbers.
check_positives <- function(value, name, one = FALSE, limits = powers_within(2)) {
  what <- if (one) "a positive number" else "a vector of positive numbers"
  value <- plain(value)
  # diag() and apply() make matrices of single bandwidths.
  if (is_numbers(value) && length(value) == 1L) value <- value[[1L]]
  if (!is_numbers(value) || length(dim(value)) > 1L || length(value) == 0L || (one && length(value) > 1L)) {
    abort_input("`", name, "` must be ", what, ", not ", describe_value(value), ".")
  }
  value <- as.numeric(value)
  bad <- is.na(value) | value <= 0 | value == Inf
  if (any(bad)) {
    first <- which(bad)[1L]
    abort_input("`", name, "` must be ", what, if (length(value) == 1L) ", not " else paste0("; entry ", first, " is "),
                describe_value(value[first]), ".")
  }
  out <- value < limits[1L] | value > limits[2L]
  if (any(out)) {
    abort_input("`", name, "` must be between ", paste(format(limits, digits = 2), collapse = " and "), ", not ",
                describe_value(value[out][1L]), ".")
  }
  value
}

# Bandwidths by which the data can be divided.
check_beside <- function(h, x, name) {
  largest <- max(abs(ranges_cpp(x)))
  if (largest > 0.5 * .Machine$double.xmax || largest / min(h) > 1e300) {
    abort_input("`x` must be at most 1e300 times the bandwidth, and below 8.9e307, but it reaches ",
                describe_value(largest),
                " and the least bandwidth of `", name, "` is ", describe_value(min(h)), ": rescale `x`.")
  }
}

# The numbers whose power keeps all its digits.
powers_within <- function(power) c(.Machine$double.xmin, .Machine$double.xmax)^(1 / power)

# The level of an interval.
check_level <- function(level, name = "level") {
  level <- plain(level)
  if (!is_number(level) || level <= 0 || level >= 1) {
    abort_input("`", name, "` must be a number between 0 and 1, not ", describe_value(level), ".")
  }
  as.numeric(level)
}

check_count <- function(value, name, min = 1L) {
  value <- plain(value)
  if (!is_number(value) || value < min || value != round(value)) {
    abort_input("`", name, "` must be a whole number, at least ", min, ", not ", describe_value(value), ".")
  }
  if (value > .Machine$integer.max) abort_input("`", name, "` must be below 2^31, not ", describe_value(value), ".")
  as.integer(value)
}

# Finite numbers, as many as the other argument has.
check_length <- function(value, size, name, other) {
  value <- plain(value)
  if (!is_numbers(value) || length(value) != size || !all(is.finite(value))) {
    abort_input("`", name, "` must be ", size, " finite number", if (size != 1L) "s", ", as many as ", other,
                " has, not ", describe_value(value), ".")
  }
  as.numeric(value)
}

check_flag <- function(value, name) {
  flag <- without_class(value)
  if (!is.logical(flag) || length(flag) != 1L || is.na(flag)) {
    abort_input("`", name, "` must be TRUE or FALSE, not ", describe_value(value), ".")
  }
  as.logical(flag)
}

# One of `choices`. The whole vector of choices, which is what a default argument is, means the first.
check_choice <- function(value, choices, name) {
  if (identical(value, choices)) return(choices[1L])
  given <- value
  value <- without_class(value)
  if (!is.character(value) || length(value) != 1L || !value %in% choices) {
    abort_input("`", name, "` must be ", if (length(choices) > 1L) "one of ", quoted(choices, '"'), ", not ",
                describe_value(given), ".")
  }
  choices[match(value, choices)]
}

# A matrix has fewer rows than a vector may have values.
check_rows <- function(value, name) {
  value <- without_class(value)
  if (length(value) > .Machine$integer.max) {
    abort_input("`", name, "` must have fewer than 2^31 values, not ", format(length(value), digits = 15), ".")
  }
}

# A numeric vector, matrix or data frame as an n x d matrix of doubles.
as_points <- function(x, name) {
  x <- plain_points(x)
  if (is_frame(x)) {
    wrong <- not_numbers(x)
    if (length(wrong) > 0L) {
      abort_input("`", name, "` must have numeric columns; not numeric: ", quoted(wrong), ".")
    }
    if (any(rows_of_columns(x) != nrow(x))) abort_input("`", name, "` must have columns of one length.")
    # as.matrix() of a data frame without rows is logical.
    x <- if (nrow(x) > 0L) as.matrix(x) else matrix(0, 0L, ncol(x), dimnames = list(NULL, names(x)))
  }
  if (!is_numbers(x) || length(dim(x)) > 2L) {
    abort_input("`", name, "` must be a numeric vector, matrix or data frame, not ",
                if (is_numbers(x)) "an array" else kind_of(x), ".")
  }
  heard()
  if (length(dim(x)) < 2L) {
    check_rows(x, name)
    x <- as.vector(x)
    # Shares the memory of a long vector, unlike matrix() and dim(x) <-; the core must only read it (HeldDoubles).
    x <- structure(x, dim = c(length(x), 1L))
  }
  # Even if the mode stays the same, this copies.
  if (!is.double(x)) storage.mode(x) <- "double"
  x
}

check_na_action <- function(na.action, known = c("na.fail", "na.omit")) {
  named <- without_class(na.action)
  if (is.character(named) && length(named) == 1L && named %in% known) return(named)
  for (name in known) if (identical(na.action, getExportedValue("stats", name))) return(name)
  abort_input("`na.action` must be ", sub(",([^,]*)$", " or\\1", paste(known, collapse = ", ")), ", not ",
              describe_value(na.action), ".")
}

check_present <- function(value, name) {
  if (!anyNA(value)) return(value)
  abort_input("`", name, "` must not have missing values, but ", sum(is.na(value)), " of ", length(value), " are.")
}

check_finite <- function(value, name) {
  if (all_finite_cpp(value)) return(value)
  check_present(value, name)
  abort_input("`", name, "` must be finite, but ", sum(is.infinite(value)), " of ", length(value), " values are not.")
}

# Like check_finite(), for the sample: counts rows, since rows are what a user leaves out, and says how to do that.
check_complete <- function(x) {
  if (all_finite_cpp(x)) return(x)
  if (anyNA(x)) {
    missing_rows <- sum(rowSums(is.na(x)) > 0)
    abort_input("`x` must not have missing values, but ", missing_rows, " of ", nrow(x),
                if (ncol(x) > 1L) " rows do" else " are", "; na.action = na.omit leaves them out.")
  }
  check_finite(x, "x")
}

# Of a sample without weights they are ones that take no memory.
check_weights <- function(w, n) {
  if (is.null(w)) return(ones_cpp(n))
  w <- plain(w)
  if (!is_numbers(w) || length(w) != n) {
    abort_input("`w` must be a numeric vector of ", n, " weights, one for each observation, not ",
                if (is_numbers(w)) length(w) else kind_of(w), ".")
  }
  w <- as.numeric(w)
  heard()
  if (any(w < 0, na.rm = TRUE)) {
    abort_input("`w` must not be negative, but ", sum(w < 0, na.rm = TRUE), " of ", n, " weights are.")
  }
  w
}

# Weights that sum to n, as in ks.
scale_weights <- function(w) {
  heard()
  largest <- weight_sums_cpp(w)$max
  if (largest == 0) abort_input("`w` must have a positive weight, but all ", length(w), " are zero.")
  w <- w / largest
  heard()
  w * (length(w) / weight_sums_cpp(w)$sum)
}

# The rows of a sample that have a weight, and their weights, which sum to the number of these rows.
rows_with_weight <- function(sample, sums = weight_sums_cpp(sample$w)) {
  if (sums$positive == length(sample$w)) return(sample)
  used <- sample$w > 0
  sample$x <- sample$x[used, , drop = FALSE]
  sample$w <- scale_weights(sample$w[used])
  sample$data <- NULL
  sample
}

# The sample with what the core needs of it.
with_data <- function(sample) c(sample, data = sample_cpp(sample$x, sample$w))

effective_size <- function(sums) sums$sum^2 / sums$squares

# The effective size, for variances that are divided by it minus one. With two observations or more that difference must
# have at least half its digits.
check_effective_size <- function(w, sums = weight_sums_cpp(w)) {
  n_eff <- effective_size(sums)
  if (length(w) > 1L && n_eff - 1 < 1e-8) {
    abort_input("`w` must not give all weight to one observation: the effective sample size (sum w)^2 / sum w^2 is 1.")
  }
  n_eff
}

# The sample: x (n x d), w (sums to n), names, which rows na.omit took out, and x as a vector if it came as that, which
# an estimate can keep without a copy. `is_vector`: whether it came as a vector.
check_sample <- function(x, w = NULL, na.action = stats::na.fail) {
  is_vector <- !is_frame(x) && length(attr(x, "dim")) < 2L
  weighted <- !is.null(w)
  given <- x
  x <- as_points(x, "x")
  if (length(x) == 0L) abort_input("`x` must have at least one observation, not ", nrow(x), " rows.")
  w <- check_weights(w, nrow(x))
  omitted <- NULL
  if (check_na_action(na.action) == "na.omit") {
    gone <- rowSums(is.na(x)) > 0 | is.na(w)
    if (all(gone)) abort_input("`x` and `w` must have a row without missing values; all ", nrow(x), " have some.")
    if (any(gone)) omitted <- structure(which(gone), class = "omit")
    x <- x[!gone, , drop = FALSE]
    w <- if (weighted) w[!gone] else ones_cpp(nrow(x))
  }
  check_complete(x)
  if (weighted) check_finite(w, "w")
  names <- readable(colnames(x))
  if (!identical(names, colnames(x))) colnames(x) <- names
  stand_ins <- if (ncol(x) == 1L) "x" else paste0("x[, ", seq_len(ncol(x)), "]")
  names <- if (is.null(names)) stand_ins else ifelse(is.na(names) | !nzchar(names), stand_ins, names)
  list(x = x, w = if (weighted) scale_weights(w) else w, names = if (is_vector) "x" else names, na.action = omitted,
       vector = if (is.double(given) && is.null(attributes(given)) && is.null(omitted)) given, is_vector = is_vector)
}

# The core sums kernels of so many variables.
check_columns <- function(x) {
  most <- max_dimension_cpp()
  if (ncol(x) > most) abort_input("`x` must have at most ", most, " columns, not ", ncol(x), ".")
}

# Columns that have names, or a vector of several variables, in the order of the variables `names`. Other names than
# those of the variables are an error; columns without names stay as they stand.
in_order_of <- function(points, names, argument) {
  points <- plain_points(points)
  if (is.object(points) && !is_frame(points)) return(points)
  columns <- length(dim(points)) == 2L
  given <- if (columns) readable(colnames(points)) else if (length(names) > 1L) readable(names(points))
  if (length(given) != length(names) || anyDuplicated(names) > 0L) return(points)
  if (!setequal(given, names)) {
    if (!are_names(given) || !are_names(names)) return(points)
    abort_input("`", argument, "` must have the variable", if (length(names) > 1L) "s", " ", quoted(names),
                ", or no names, not ", quoted(given), ".")
  }
  order <- match(names, given)
  if (identical(order, seq_along(order))) return(points)
  if (columns) points[, order, drop = FALSE] else points[order]
}

# Whether names are from a user, not from check_sample(), as.data.frame() or expand.grid().
are_names <- function(names) {
  made_up <- is.na(names) | !nzchar(names) | length(names) == 1L & names == "x" |
    grepl("^(x\\[, |(X|V|Var)[0-9]+$)", names)
  !any(made_up)
}

# Evaluation points: a vector is a set of numbers when d = 1 and one point when d > 1. `limits`: limits of orthants,
# which may be infinite. `of`: the argument that has the number of columns.
check_points <- function(points, d, name, limits = FALSE, of = "x") {
  points <- plain(points)
  if (is_numbers(points) && length(dim(points)) < 2L && d > 1L && length(points) == d) points <- t(points)
  points <- as_points(points, name)
  if (ncol(points) != d) {
    abort_input("`", name, "` must have ", d, if (d == 1L) " column" else " columns", ", as `", of, "` has, not ",
                ncol(points), ".")
  }
  if (limits) check_present(points, name) else check_finite(points, name)
}

check_H <- function(H, d, name = "H", of = "x") {
  H <- plain(H)
  if (is_numbers(H) && length(H) == 1L && d == 1L) H <- matrix(as.numeric(H), 1L, 1L)
  if (!is_numbers(H) || !is.matrix(H)) {
    abort_input("`", name, "` must be a ", d, " x ", d, " numeric matrix, not ", describe_value(H), ".")
  }
  if (nrow(H) != ncol(H)) abort_input("`", name, "` must be a square matrix, not ", nrow(H), " x ", ncol(H), ".")
  if (nrow(H) != d) {
    abort_input("`", name, "` must be ", d, " x ", d, ", as `", of, "` has ", d, if (d == 1L) " column" else " columns",
                ", not ", nrow(H), " x ", ncol(H), ".")
  }
  check_finite(H, name)
  # Rounding in other packages' selectors causes no larger differences than this.
  size <- sqrt(abs(diag(H)))
  if (any(abs(H - t(H)) > 1e-10 * outer(size, size))) {
    abort_input("`", name, "` must be symmetric, but `", name, "` and its transpose differ.")
  }
  small <- diag(H) > 0 & diag(H) < .Machine$double.xmin
  if (any(small)) {
    abort_input("`", name, "` must have diagonal elements of at least 2.2e-308, not ",
                describe_value(diag(H)[small][1L]), ".")
  }
  check_definite(H / 2 + t(H) / 2, name)
}

# Decided by the correlations, so that axes may be in very different units.
check_definite <- function(H, name) {
  definite <- all(diag(H) > 0) && !is.null(lower_root_cpp(H)) &&
    min(eigen(stats::cov2cor(H), symmetric = TRUE, only.values = TRUE)$values) > 0
  if (!definite) {
    smallest <- min(eigen(H, symmetric = TRUE, only.values = TRUE)$values)
    abort_input("`", name, "` must be positive definite; its smallest eigenvalue is ", format(smallest, digits = 3),
                ".")
  }
  H
}

# To select a bandwidth from data, every column must vary and none may be determined by the others.
check_spread <- function(x, names, cov, left_out = 0L, n = nrow(x)) {
  remark <- if (left_out > 0L) paste0(" (rows of weight 0 left out: ", left_out, ")")
  if (n == 1L) abort_input("`x` must have at least two observations to have a covariance, not 1", remark, ".")
  # The last row is compared first: most columns then need no further look.
  constant <- x[nrow(x), ] == x[1L, ]
  constant[constant] <- vapply(which(constant), function(k) all(x[, k] == x[1L, k]), NA)
  if (any(constant)) {
    abort_input("`x` must vary in every column; constant: ", quoted(names[constant]), remark, ".")
  }
  check_variances(x, names, diag(cov), remark)
  if (n <= ncol(x)) {
    abort_input("`x` must have more rows than columns for a covariance of full rank, not ", n, " x ", ncol(x), remark,
                ".")
  }
  spectrum <- eigen(stats::cov2cor(cov), symmetric = TRUE)
  if (min(spectrum$values) < 1e-13 * ncol(x)) {
    loading <- abs(spectrum$vectors[, ncol(x)])
    abort_input("`x` must have columns that are linearly independent; dependent: ",
                quoted(names[loading > 1e-6]), ".")
  }
  invisible(x)
}

# Leaves room for the multiples of the variances that selectors try, such as bandwidths from a quarter to four times
# that for a normal density.
check_variances <- function(x, names, variances, remark = NULL) {
  bad <- which(!(variances >= 1e-300 & variances <= 1e300))
  if (length(bad) == 0L) return(invisible())
  k <- bad[1L]
  abort_input("`x` must have variances between 1e-300 and 1e+300; `", names[k],
              "` has values from ", describe_value(min(x[, k])), " to ", describe_value(max(x[, k])), remark,
              ": rescale it.")
}
