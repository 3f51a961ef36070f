# The sample of a regression: variables, rows without missing values, and weights.

# A regressor or response: its values as doubles and its name. A column may itself be a matrix with one column, like
# scale(x). Missing values without a type, as in data.frame(x = NA), count as numbers. `dates`: whether dates may be
# given; then the result has the first of them, or NULL.
as_variable <- function(value, argument, dates = FALSE) {
  name <- argument
  value <- plain_points(value)
  while (is_frame(value) || (!is.object(value) && is.matrix(value))) {
    if (ncol(value) != 1L) {
      abort_input("`", name, "` must have one column, not ", ncol(value), ".")
    }
    named <- readable(colnames(value))
    if (name == argument && length(named) == 1L && nzchar(named)) name <- named
    value <- if (is_frame(value)) plain_points(unclass(value)[[1L]]) else value[, 1L]
  }
  if (is.logical(value) && !is.object(value) && length(value) > 0L && all(is.na(value))) value <- as.numeric(value)
  first <- if (dates && is_date(value)) in_dates(numbers_of(value)[1L], value)
  if (!is.null(first)) value <- numbers_of(value)
  if (!is_numbers(value) || length(dim(value)) > 1L) {
    abort_input("`", name, "` must be numeric, not ", if (is_numbers(value)) "an array" else kind_of(value), ".")
  }
  list(value = as.numeric(value), name = name, dates = first)
}

# The sample of a regression: the rows that na.action keeps, and weights that sum to the number of positive ones.
check_regression_sample <- function(xdat, ydat, w, na.action) {
  x <- as_variable(xdat, "xdat", dates = TRUE)
  y <- as_variable(ydat, "ydat")
  n <- length(x$value)
  if (length(y$value) != n) {
    abort_input("`", y$name, "` must have as many values as `", x$name, "`, ", n, ", not ", length(y$value), ".")
  }
  weighted <- !is.null(w)
  w <- check_weights(w, n)
  some <- has_missing(x$value) || has_missing(y$value) || weighted && has_missing(w)
  if (some) heard()
  gone <- if (some) is.na(x$value) | is.na(y$value) | is.na(w) else FALSE
  omitted <- omitted_rows(gone, na.action)
  if (!is.null(omitted)) {
    x$value <- x$value[!gone]
    y$value <- y$value[!gone]
    w <- if (weighted) w[!gone] else ones_cpp(length(x$value))
  }
  check_observed(x)
  check_observed(y)
  weights <- positive_weights(w, weighted)
  if (weights$positive < 2L) {
    abort_input("`", x$name, "` must have at least two observations, not ", weights$positive, weights$remark, ".")
  }
  taken <- weights$taken
  check_extent(ranges_cpp(taken(x$value)), x$name, weights$remark)
  check_squares(taken(y$value), taken(weights$w), y$name, weights$remark)
  list(x = x$value, y = y$value, w = weights$w, nobs = weights$positive, ndim = 1L, ncon = 1L, nuno = 0L, nord = 0L,
       xnames = plain_name(x$name), ynames = plain_name(y$name), dates = x$dates, na.action = omitted)
}

# Weights that sum to the number of positive ones, this number, what messages say of the others, and a function that
# takes their rows out of a vector.
positive_weights <- function(w, weighted) {
  if (weighted) check_finite(w, "w")
  positive <- as.integer(weight_sums_cpp(w)$positive)
  left_out <- length(w) - positive
  if (length(w) > 0L && positive == 0L) scale_weights(w)
  used <- if (left_out > 0L) w > 0
  taken <- function(v) if (left_out > 0L) v[used] else v
  if (weighted && positive > 0L) {
    scaled <- scale_weights(taken(w))
    check_squared_weights(weight_sums_cpp(scaled))
    if (left_out > 0L) w[used] <- scaled else w <- scaled
  }
  list(w = w, positive = positive, taken = taken,
       remark = if (left_out > 0L) paste0(" (rows of weight 0 left out: ", left_out, ")"))
}

# The rows that na.action leaves out, NULL if there are none. `gone`: whether a row has missing values. With the class
# "exclude" naresid() and napredict() put NA in the positions of these rows.
omitted_rows <- function(gone, na.action) {
  policy <- if (is.null(na.action)) "na.fail" else check_na_action(na.action, c("na.fail", "na.omit", "na.exclude"))
  count <- sum(gone)
  if (policy == "na.fail" || count == 0L) return(NULL)
  inform(count, " of ", length(gone), " rows ", if (count == 1L) "has" else "have", " missing values and ",
         if (count == 1L) "is" else "are", " left out.")
  structure(which(gone), class = sub("na.", "", policy, fixed = TRUE))
}

# A regressor must vary, by a range that keeps the bandwidths of every grid within regression_limits.
check_extent <- function(ends, name, remark) {
  spread <- ends[2L] - ends[1L]
  if (spread == 0) {
    abort_input("`", name, "` must vary, but all its values are ", describe_value(ends[1L]), remark, ".")
  }
  if (spread < 1e-290 || spread > 1e300) {
    abort_input("`", name, "` must have a range (max - min) between 1e-290 and 1e+300, not ", describe_value(spread),
                remark, ": rescale it.")
  }
}

# Residuals are about as large as the differences of the responses; those of close fits are smaller by some powers of
# ten.
check_squares <- function(y, w, name, remark) {
  total <- squared_differences_cpp(y, w)
  if (is.finite(total) && (total > 1e-290 || all(y == y[1L]))) return(invisible())
  abort_input("`", name, "` must have squared differences whose sum is between 1e-290 and 1.8e308, but has values ",
              "from ", describe_value(min(y)), " to ", describe_value(max(y)), remark, ": rescale it.")
}

# Standard errors sum the squares of weights. `sums`: of positive weights, see weight_sums_cpp().
check_squared_weights <- function(sums) {
  share <- sums$min_positive / sums$max
  if (share >= 1e-100) return(invisible())
  abort_input("`w` must be zero or at least 1e-100 of the largest weight, but the least is ", describe_value(share),
              " of it.")
}

plain_name <- function(name) switch(name, xdat = , txdat = "x", ydat = , tydat = "y", name)

# On all threads for the usual vector, which has none.
has_missing <- function(value) !(is.double(value) && all_finite_cpp(value)) && anyNA(value)

check_observed <- function(variable) {
  value <- variable$value
  if (all_finite_cpp(value)) return(invisible())
  if (anyNA(value)) {
    abort_input("`", variable$name, "` must not have missing values, but ", sum(is.na(value)), " of ", length(value),
                " are; na.action = na.omit leaves them out.")
  }
  check_finite(value, variable$name)
}
