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

# The sample with bounds or a period from which a bandwidth is selected. If a sketch has kept all values, it is one of
# data. Cells are moved by whole periods into one, in which variances do not depend on where it begins, as those of
# centred_periods(). Of several columns only the covariance is then another one: sums over pairs take all images.
selectable_sample <- function(sample, transform) {
  if (!is_of_sketch(sample)) return(centred_periods(sample, transform))
  info <- sample$sketch
  if (info$full == 0) return(centred_periods(sample_of_kept(sample, transform), transform))
  if (!any(is_periodic(transform))) return(sample)
  if (ncol(sample$x) == 1L && 2^info$exponent > transform$period) abort_wide(info)
  sample$data <- with_wide_cells_refused(sample, {
    circular_sample_cpp(info$bytes, transform$lower, transform$period, run_options(1L))
  })
  if (ncol(sample$x) > 1L) return(sample)
  sample$x[] <- c(transform$lower, transform$upper)
  sample$sketch$circular <- TRUE
  sample
}

# That of the values that a sketch of one column has kept, those of a periodic variable within the period.
sample_of_kept <- function(sample, transform) {
  kept <- sketch_kept_cpp(sample$sketch$bytes)
  x <- kept$x
  for (k in which(is_periodic(transform))) x <- wrapped(transform, x, k)
  of_values <- check_sample(x, if (nzchar(sample$sketch$weight)) kept$y, stats::na.fail)
  of_values$names <- sample$names
  with_data(of_values)
}

# Cross-validation leaves out an observation with its images. Those of its pairs that are reflected are as far apart as
# it is from a bound, so that their weights, its own squared, are needed at each place.
check_own_images <- function(sample) {
  info <- sample$sketch
  if (is.null(info) || !nzchar(info$weight) || info$bounded || is_periodic(sample$transform)) return(invisible())
  abort_input("`x` must be a sketch that knows squared weights, for cross-validation with `bounds`: sketch_plan() ",
              "takes `bounded = TRUE` for them.")
}
