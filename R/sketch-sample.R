# A sketch in place of a sample: what selectors of bandwidths and kde() take of it.

# A sample, or that of a sketch.
check_sample_or_sketch <- function(x, w, na.action) {
  if (is_sketch(x)) sketch_sample(x, w) else check_sample(x, w, na.action)
}

# The sample of a sketch, in the form of check_sample(). Its values are not known: `x` has the least and the largest
# one, so that checks of the spread can be as usual.
sketch_sample <- function(sketch, w = NULL) {
  read <- unpacked_sketch(sketch)
  info <- sketch_info_cpp(read)
  if (!is.null(w)) abort_input("`w` must not be given for a sketch; sketch_plan() takes the name of its weights.")
  if (info$n == 0) abort_input("`x` must have at least one observation, but the sketch has none.")
  if (info$mean_units < 2^-10) {
    abort_input("`x` must have weights like those of the pilot, but their mean is ",
                describe_value(info$mean_units * 2^info$weight_exponent), ", and only those above ",
                describe_value(2^(info$weight_exponent - 10)), " keep their digits: sketch_plan() takes another pilot.")
  }
  if (length(info$column) > 1L && info$full == 0) return(sample_of_rows(sketch, info))
  data <- sketch_sample_cpp(read, run_options(1L))
  range <- as.matrix(info$range)
  if (ncol(range) > 1L && all(nzchar(info$column))) colnames(range) <- info$column
  list(x = if (info$n > 1) range else range[1L, , drop = FALSE], w = ones_cpp(info$n),
       names = sketch_names(info$column), data = data, sketch = c(info, bytes = list(sketch$bytes)))
}

sketch_names <- function(column) {
  if (all(nzchar(column))) return(column)
  if (length(column) == 1L) "x" else paste0("x", seq_along(column))
}

# Of a sketch of several columns that has kept all of its rows.
sample_of_rows <- function(sketch, info) {
  rows <- sketch_rows_cpp(sketch$bytes)
  d <- length(info$column)
  colnames(rows) <- c(sketch_names(info$column), if (nzchar(info$weight)) info$weight)
  w <- if (nzchar(info$weight)) rows[, d + 1L]
  sample <- with_data(check_sample(rows[, seq_len(d), drop = FALSE], w, stats::na.fail))
  if (!all(nzchar(info$column))) colnames(sample$x) <- NULL
  sample
}

# The sums of a sample's weights, which sum to their number.
sums_of_weights <- function(sample) {
  if (!is_of_sketch(sample)) return(weight_sums_cpp(sample$w))
  n <- length(sample$w)
  list(sum = n, squares = n^2 / sample$sketch$n_eff, positive = n)
}

is_of_sketch <- function(sample) !is.null(sample$sketch)

# Whether the values of a sample are not known one by one, but by the grid of a sketch.
is_spread <- function(sample) is_of_sketch(sample) && ncol(sample$x) > 1L

# Of sums for a sketch only the engines `fgt` and `fourier` know, and the kernel is Gaussian.
check_sketch_run <- function(sample, run, kernel = "gaussian") {
  if (!is_of_sketch(sample)) return(run)
  if (kernel != "gaussian") abort_input("`kernel` must be \"gaussian\" for a sketch, not \"", kernel, "\".")
  if (run$backend == "cuda") abort_backend("`backend` must be \"auto\" or \"cpu\" for a sketch, not \"cuda\".")
  if (is_spread(sample) && !is_auto(run$engine) && run$engine != "fourier") {
    abort_input("`engine` must be \"auto\" or \"fourier\" for a sketch, not \"", run$engine, "\".")
  }
  scale <- sqrt(diag(as.matrix(sample$sketch$variance)))
  limit <- if (ncol(sample$x) > 1L) 15 else 30
  far <- which(scale > 0 & abs(log10(scale)) > limit)
  if (length(far) > 0L) {
    abort_input("`x` must have a standard deviation from 1e-", limit, " to 1e", limit, " if it is a sketch, not ",
                describe_value(scale[far[1L]]), ".")
  }
  replace(run, "backend", "cpu")
}

# The result of `code`, which needs sums of a sample. The cells of a sketch may be too wide for them.
with_wide_cells_refused <- function(sample, code) {
  if (!is_of_sketch(sample)) return(code)
  tryCatch(code, kestrel_core_unfit = function(e) {
    if (ncol(sample$x) == 1L) abort_wide(sample$sketch)
    abort_cells(conditionMessage(e), sample$sketch)
  })
}

abort_wide <- function(info) {
  abort_input("`x` must be a sketch with narrower cells for these bandwidths: it serves sums over pairs from ",
              format_short(info$sums), " on, and densities from ", format_short(info$density),
              " on. sketch_plan() takes a smaller `hmin`.")
}

# The same for several columns, in the core's words.
abort_cells <- function(what, info) {
  abort_input("`x` must be a sketch with other cells for these bandwidths: ", what, ". They serve ",
              paste(vapply(info$sums, format_short, ""), collapse = " x "),
              " and more along the axes, given the others. sketch_plan() takes another `hmin`.")
}

# The least h for which the cells of a sample serve bandwidths h^2 times its covariance; 0 if it is no sketch. The cells
# limit the bandwidth along each axis, given the others.
served_from <- function(sample) {
  if (!is_spread(sample)) return(0)
  axes <- axes_of_sample(sample)
  # The covariance in the units of the cells.
  back <- solve(axes, tol = 0)
  cov <- back %*% unname(sample$cov) %*% t(back)
  max(sample$sketch$sums * sqrt(diag(chol2inv(chol(cov)))))
}

# Quartiles of the sample of a sketch, to the width of a cell.
sketch_quartiles <- function(sample, prob) {
  found <- if (isTRUE(sample$sketch$circular)) circular_quantiles_cpp(sample$data, prob) else
    sketch_quantiles_cpp(sample$data, prob)
  stats::setNames(found, names(stats::quantile(0, prob)))
}

# kde() of a sketch. `given`, `grid`, `points` and `run` as there; `wanted`: the other arguments.
sketch_density <- function(x, given, grid, points, wanted, run, verbose) {
  sample <- sketch_sample(x, wanted$w)
  d <- ncol(sample$x)
  if (any(wanted$bounded)) {
    abort_input("`x` must be data, not a sketch, for `", names(wanted$bounded)[wanted$bounded][1L], "`.")
  }
  transform <- sketch_transform(sample, wanted$bounds, wanted$period)
  known <- if (d == 1L) "fgt" else "fourier"
  if (!run$engine %in% c("auto", known)) {
    abort_input("`engine` must be \"auto\" or \"", known, "\" for a sketch, not \"", run$engine, "\".")
  }
  if (run$backend == "cuda") abort_backend("`backend` must be \"auto\" or \"cpu\" for a sketch, not \"cuda\".")
  if (is_compact(wanted$kernel)) {
    abort_input("`kernel` must be \"gaussian\" for a sketch, not \"", wanted$kernel, "\".")
  }
  if (is.null(points)) {
    grid <- check_grid(grid, d)
  } else {
    points <- in_order_of(points, sample$names, "eval.points")
    check_points(points, d, "eval.points")
  }
  bandwidth <- resolve_bandwidth(given, sample, wanted$kernel, FALSE, selecting(run, d), verbose,
                                 transform = transform)
  check_H_with_images(bandwidth$H, transform, sample$names)
  info <- check_sketch(x)
  if (d == 1L && sqrt(bandwidth$H[1L, 1L]) < info$density) abort_wide(info)
  run[c("engine", "backend")] <- c(sketch_engine(x), "cpu")
  data <- list(x = sample$x, w = numeric(0), names = sample$names, is_vector = TRUE)
  fhat <- new_density(data, bandwidth$H, wanted$kernel, wanted$kernel_type, transform, run)
  fhat$n <- info$n
  fhat$n_eff <- info$n_eff
  fhat$sketch <- x
  fhat$.sample <- sample$data
  fhat <- with_wide_cells_refused(sample, if (is.null(points)) {
    estimate_on_grid(fhat, grid_for(fhat, grid), run, verbose)
  } else {
    estimate_at_points(fhat, points, run, verbose)
  })
  if (wanted$cont && fhat$gridded) fhat$cont <- contour_levels(fhat, (99:1) / 100, TRUE, run)
  fhat$.sample <- NULL
  fhat$x <- if (d == 1L) numeric(0) else sample$x[0L, , drop = FALSE]
  fhat$selector <- bandwidth$selector
  fhat
}

# That of densities.
sketch_engine <- function(sketch) {
  info <- check_sketch(sketch)
  if (length(info$column) == 1L) "fgt" else if (info$full > 0) "fourier" else "auto"
}
