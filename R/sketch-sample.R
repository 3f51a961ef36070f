# A sketch in place of a sample: what selectors of bandwidths and kde() take of it.

# A sample, or that of a sketch.
check_sample_or_sketch <- function(x, w, na.action) {
  if (is_sketch(x)) sketch_sample(x, w) else check_sample(x, w, na.action)
}

# The sample of a sketch, in the form of check_sample(). Its values are not known: `x` has the least and the largest
# one, so that checks of the spread can be as usual.
sketch_sample <- function(sketch, w = NULL) {
  info <- check_sketch(sketch)
  if (!is.null(w)) abort_input("`w` must not be given for a sketch; sketch_plan() takes the name of its weights.")
  if (info$n == 0) abort_input("`x` must have at least one observation, but the sketch has none.")
  if (info$mean_units < 2^-10) {
    abort_input("`x` must have weights like those of the pilot, but their mean is ",
                describe_value(info$mean_units * 2^info$weight_exponent), ", and only those above ",
                describe_value(2^(info$weight_exponent - 10)), " keep their digits: sketch_plan() takes another pilot.")
  }
  data <- sketch_sample_cpp(sketch$bytes, run_options(1L))
  list(x = matrix(if (info$n > 1) info$range else info$range[1L], ncol = 1L), w = ones_cpp(info$n),
       names = if (nzchar(info$column)) info$column else "x", data = data, sketch = c(info, bytes = list(sketch$bytes)))
}

# The sums of a sample's weights, which sum to their number.
sums_of_weights <- function(sample) {
  if (!is_of_sketch(sample)) return(weight_sums_cpp(sample$w))
  n <- length(sample$w)
  list(sum = n, squares = n^2 / sample$sketch$n_eff, positive = n)
}

is_of_sketch <- function(sample) !is.null(sample$sketch)

# Of sums for a sketch only the engine `fgt` knows, and the kernel is Gaussian.
check_sketch_run <- function(sample, run, kernel = "gaussian") {
  if (!is_of_sketch(sample)) return(run)
  if (kernel != "gaussian") abort_input("`kernel` must be \"gaussian\" for a sketch, not \"", kernel, "\".")
  if (run$backend == "cuda") abort_backend("`backend` must be \"auto\" or \"cpu\" for a sketch, not \"cuda\".")
  scale <- sqrt(sample$sketch$variance)
  if (scale > 0 && abs(log10(scale)) > 30) {
    abort_input("`x` must have a standard deviation from 1e-30 to 1e30 if it is a sketch, not ",
                describe_value(scale), ".")
  }
  replace(run, "backend", "cpu")
}

# The result of `code`, which needs sums of a sample. The cells of a sketch may be too wide for them.
with_wide_cells_refused <- function(sample, code) {
  if (!is_of_sketch(sample)) return(code)
  tryCatch(code, kestrel_core_unfit = function(e) abort_wide(sample$sketch))
}

abort_wide <- function(info) {
  abort_input("`x` must be a sketch with narrower cells for these bandwidths: it serves sums over pairs from ",
              format_short(info$sums), " on, and densities from ", format_short(info$density),
              " on. sketch_plan() takes a smaller `hmin`.")
}

# Quartiles of a sketch, to the width of a cell.
sketch_quartiles <- function(sketch, prob) {
  stats::setNames(sketch_quantiles_cpp(sketch$bytes, prob), names(stats::quantile(0, prob)))
}

# kde() of a sketch. `given`, `grid`, `points` and `run` as there; `wanted`: the other arguments.
sketch_density <- function(x, given, grid, points, wanted, run, verbose) {
  sample <- sketch_sample(x, wanted$w)
  if (any(wanted$bounded)) {
    abort_input("`x` must be data, not a sketch, for `", names(wanted$bounded)[wanted$bounded][1L], "`.")
  }
  if (!run$engine %in% c("auto", "fgt")) {
    abort_input("`engine` must be \"auto\" or \"fgt\" for a sketch, not \"", run$engine, "\".")
  }
  if (run$backend == "cuda") abort_backend("`backend` must be \"auto\" or \"cpu\" for a sketch, not \"cuda\".")
  if (is_compact(wanted$kernel)) {
    abort_input("`kernel` must be \"gaussian\" for a sketch, not \"", wanted$kernel, "\".")
  }
  if (is.null(points)) grid <- check_grid(grid, 1L) else check_points(points, 1L, "eval.points")
  bandwidth <- resolve_bandwidth(given, sample, wanted$kernel, FALSE, selecting(run, 1L), verbose)
  info <- sample$sketch
  if (sqrt(bandwidth$H[1L, 1L]) < info$density) abort_wide(info)
  run[c("engine", "backend")] <- c("fgt", "cpu")
  fhat <- new_density(list(x = sample$x, w = numeric(0), names = sample$names, is_vector = TRUE),
                      bandwidth$H, wanted$kernel, wanted$kernel_type, NULL, run)
  fhat$n <- info$n
  fhat$n_eff <- info$n_eff
  fhat$sketch <- x
  fhat$.sample <- sample$data
  fhat <- if (is.null(points)) {
    estimate_on_grid(fhat, grid_for(fhat, grid), run, verbose)
  } else {
    estimate_at_points(fhat, points, run, verbose)
  }
  if (wanted$cont && fhat$gridded) fhat$cont <- contour_levels(fhat, (99:1) / 100, TRUE, run)
  fhat$.sample <- NULL
  fhat$x <- numeric(0)
  fhat$selector <- bandwidth$selector
  fhat
}
