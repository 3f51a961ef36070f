# Densities on the positive half line and on the unit interval: the data are mapped to the whole line by log(x + adj) or
# probit, the density is estimated there and mapped back with the Jacobian (Wand & Jones 1995, section 2.10.3). The
# transform of type "images" (R/reflection.R) maps each value within its bounds to itself.

choose_transform <- function(x, names, positive, adj.positive, unit.interval, bounds = NULL,
                             period = NULL) {
  if (!is.null(bounds) || !is.null(period)) {
    return(choose_images(x, names, bounds, period, c(positive = positive, unit.interval = unit.interval)))
  }
  if (positive && unit.interval) abort_input("`positive` and `unit.interval` must not both be TRUE.")
  if (unit.interval) {
    if (ncol(x) > 1L) abort_input("`unit.interval` must be FALSE for data with ", ncol(x), " columns, not TRUE.")
    if (any(x <= 0 | x >= 1)) {
      abort_input("`x` must lie strictly between 0 and 1 for unit.interval = TRUE, but ", sum(x <= 0 | x >= 1), " of ",
                  length(x), " values do not.")
    }
    return(list(type = "probit"))
  }
  if (!positive) return(NULL)
  least <- ranges_cpp(x)[1L, ]
  adj <- if (is.null(adj.positive)) abs(least) else check_per_axis(adj.positive, ncol(x), "adj.positive")
  if (any(least + adj <= 0)) {
    outside <- sweep(x, 2L, adj, "+") <= 0
    abort_input("`x` + `adj.positive` must be positive for positive = TRUE, but ", sum(outside), " of ", length(x),
                " values are not (columns ", quoted(names[colSums(outside) > 0]), ").")
  }
  list(type = "log", adj = unname(adj))
}

# The bounds of the sample space, for grids. Those of reflection are kept by from_line().
transform_bounds <- function(transform) {
  switch(if (is.null(transform)) "none" else transform$type, none = , images = c(-Inf, Inf), log = c(0, Inf),
         probit = c(0, 1))
}

# Coordinate k of points on the line; -Inf and Inf beyond the bounds.
to_line <- function(transform, values, k) {
  if (is.null(transform)) return(values)
  if (has_images(transform)) {
    if (is_periodic(transform)[k]) return(wrapped(transform, values, k))
    values[values < transform$lower[k]] <- -Inf
    values[values > transform$upper[k]] <- Inf
    return(values)
  }
  if (transform$type == "log") return(log(clamped(values + transform$adj[k], 0, Inf)))
  stats::qnorm(clamped(values, 0, 1))
}

# pmin(pmax(values, low), high), which would copy the values several times.
clamped <- function(values, low, high) {
  if (min(values, low, na.rm = TRUE) < low) values[values < low] <- low
  if (max(values, high, na.rm = TRUE) > high) values[values > high] <- high
  values
}

from_line <- function(transform, values, k) {
  if (is.null(transform)) return(values)
  if (has_images(transform)) return(within_bounds(transform, values, k))
  if (transform$type == "log") return(exp(values) - transform$adj[k])
  stats::pnorm(values)
}

# The derivative of to_line at points whose image is `line`.
line_slope <- function(transform, line) {
  if (has_images(transform)) return(rep(1, length(line)))
  if (transform$type == "log") exp(-line) else 1 / stats::dnorm(line)
}

points_to_line <- function(transform, points) {
  if (is.null(transform)) return(points)
  for (k in seq_len(ncol(points))) {
    heard()
    points[, k] <- to_line(transform, points[, k], k)
  }
  points
}

points_from_line <- function(transform, points) {
  if (is.null(transform)) return(points)
  for (rows in parts_of(nrow(points))) for (k in seq_len(ncol(points))) {
    heard()
    points[rows, k] <- from_line(transform, points[rows, k], k)
  }
  points
}

subset_transform <- function(transform, dims) {
  parts <- intersect(c("adj", "lower", "upper", "period"), names(transform))
  transform[parts] <- lapply(transform[parts], `[`, dims)
  if (has_images(transform) && !any(is_bounded(transform))) NULL else transform
}
