# Sketches of variables with bounds or periods. The density with images at a point is the sum of the densities without
# them at the images of the point, so that a sketch serves it as it is (R/reflection.R). Functionals pair the values
# with images of the others; only values near a bound are within reach of any.

# The transform of a sketch, NULL for no bounds.
sketch_transform <- function(sample, bounds, period) {
  if (is.null(bounds) && is.null(period)) return(NULL)
  transform <- images_transform(sample$names, bounds, period)
  if (is.null(transform)) return(NULL)
  reflecting <- reflecting_bounds(transform)
  range <- ranges_cpp(sample$x)
  beyond <- which(range[1L, ] < reflecting[, 1L] | range[2L, ] > reflecting[, 2L])
  if (length(beyond) > 0L) {
    k <- beyond[1L]
    abort_input("`x` must lie within `bounds`, but the values of the sketch run from ", describe_value(range[1L, k]),
                " to ", describe_value(range[2L, k]),
                if (ncol(range) > 1L) paste0(" in ", quoted(sample$names[k])), ".")
  }
  transform
}

# How far values of periodic variables are beyond the period. Those of data are moved into it, those of a sketch are
# not.
beyond_period <- function(fhat) {
  periodic <- is_periodic(fhat$transform)
  if (is.null(fhat$sketch) || !any(periodic)) return(0)
  range <- matrix(check_sketch(fhat$sketch)$range, 2L)
  ifelse(periodic, pmax(fhat$transform$lower - range[1L, ], range[2L, ] - fhat$transform$upper, 0), 0)
}

# The sample of a sketch with bounds, from which a bandwidth is selected.
selectable_sketch <- function(sample, transform) {
  if (ncol(sample$x) > 1L) abort_input("`H` must be given for a sketch of several columns with `bounds` or `period`.")
  if (any(is_periodic(transform))) abort_input("`h` must be given for a sketch with a `period`.")
  # Of weights a cell does not have enough sums.
  if (nzchar(sample$sketch$weight)) abort_input("`h` must be given for a sketch with weights and `bounds`.")
  sample$values <- sketch_values(sample$sketch)
  sample
}

# Values with weights that stand for those of a sketch in sums of functions that are smooth on its cells, as those of
# kernels are that it serves: the values that are kept, and 16 Chebyshev points of each full cell, with the weights that
# integrate a polynomial through its values there. With S_a the sums of t^a and c the coefficients of T_k, the sums of
# Chebyshev polynomials are sum_a c_ka S_a; and the weight of the point t_j is sum_k (2 - [k = 0]) T_k(t_j) / 16 times
# these (Trefethen 2013, chapter 4).
sketch_values <- function(info) {
  parts <- sketch_parts_cpp(info$bytes)
  width <- 2^info$exponent
  m <- moments_of_cell
  coefficients <- matrix(0, m, m)
  coefficients[1L, 1L] <- coefficients[2L, 2L] <- 1
  for (k in 3:m) coefficients[k, ] <- 2 * c(0, coefficients[k - 1L, -m]) - coefficients[k - 2L, ]
  angle <- pi * (seq_len(m) - 0.5) / m
  polynomials <- cos(outer(angle, seq_len(m) - 1)) * rep(c(1, rep(2, m - 1L)) / m, each = m)
  moments <- (parts$hi * 2^22 + parts$lo) * 2^-44
  weights <- polynomials %*% (coefficients %*% moments)
  centre <- (parts$key + 0.5) * width
  at <- outer(cos(angle) * width / 2, centre, `+`)
  list(x = as.matrix(c(parts$kept, at)), w = c(rep(1, length(parts$kept)), weights))
}
