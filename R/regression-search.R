# The search for a regression bandwidth: the candidates, the objective at each, and its minimum.

# Between these limits a bandwidth can be converted to the other scale, and the support of the Gaussian kernel, 38
# bandwidths, is a finite number.
regression_limits <- c(1e-300, 1e300)

# The candidates as supports `h` and on the user's scale, `grid`.
candidate_bandwidths <- function(sample, asked, bws, nbw, bwmin, bwmax) {
  scale <- if (asked$bw.scale == "np") np_scale(asked$ckertype) else 1
  if (!is.null(bws)) {
    if (!is.null(bwmin) || !is.null(bwmax)) abort_input("`bws` must not be given together with `bwmin` or `bwmax`.")
    grid <- sort(unique(check_positives(bws, "bws", limits = regression_limits)))
    return(list(h = grid * scale, grid = grid, scale = scale, argument = "bws"))
  }
  nbw <- check_count(nbw, "nbw")
  heard()
  ends <- ranges_cpp(if (sample$nobs < length(sample$x)) sample$x[sample$w > 0] else sample$x)
  widest <- ends[2L] - ends[1L]
  if (asked$ckertype == "gaussian") widest <- widest / sqrt(5)
  if (!is.null(bwmax)) widest <- check_positives(bwmax, "bwmax", TRUE, regression_limits) * scale
  h <- widest * seq_len(nbw) / nbw
  if (!is.null(bwmin)) {
    min <- check_positives(bwmin, "bwmin", TRUE, regression_limits) * scale
    if (nbw < 2L) abort_input("`nbw` must be at least 2 when `bwmin` is given, not ", nbw, ".")
    if (min >= widest) {
      abort_input("`bwmin` must be below ", if (is.null(bwmax)) "range(x)" else "`bwmax`", ", ",
                  describe_value(widest / scale), ", not ", describe_value(bwmin), ".")
    }
    h <- seq(min, widest, length.out = nbw)
  }
  list(h = h, grid = h / scale, scale = scale, argument = "bwmax")
}

# The engine of a regression's sums: windows are swept, on a GPU in blocks, or every pair is summed.
regression_engine <- function(kernel, backend) {
  if (kernel == "gaussian") "direct" else if (backend == "cuda") "blocks" else "sweep"
}

# The observations of positive weight of a sample or a bandwidth object: x, y, w, and `sorted`, the core's sample of
# them. The CPU sorts it when it first needs it.
observations_of <- function(sample, run) {
  data <- unclass(sample)[c("x", "y", "w")]
  if (weight_sums_cpp(sample$w)$positive < length(sample$w)) {
    used <- sample$w > 0
    data <- lapply(data, `[`, used)
  }
  c(data, sorted = regression_cpp(data, run))
}

# What regression_cv_cpp() takes; src/rcpp_regression.cpp reads it.
local_fits <- function(h, asked) list(h = h, kernel = asked$ckertype, regtype = asked$regtype, order = 2L)

# The sums for a curve. A fit that has been made at the observations has those for its bandwidth.
regression_sums <- function(data, h, asked, run) {
  if (is.null(data$fit)) regression_cv_cpp(data$sorted, local_fits(h, asked), run) else data$fit
}

# The observations with `fit`, which regression_at_data_cpp() makes at one bandwidth. It serves the curve of a search at
# this bandwidth alone and the fit of npreg().
with_fit <- function(data, h, asked, errors, run) {
  if (is.null(data$fit)) data$fit <- regression_at_data_cpp(data$sorted, local_fits(h, asked), errors, FALSE, run)
  data
}

# The objective at each h, and the number of observations without a neighbour there. NA if all are without.
regression_curve <- function(data, h, asked, run) {
  n <- length(data$x)
  sums <- regression_sums(data, h, asked, run)
  cv <- if (asked$method == "cv.ls") sums$squares / n else corrected_aic(sums$insample / n, sums$trace, n)
  list(cv = ifelse(sums$unsupported < n, cv, NA_real_), unsupported = as.integer(sums$unsupported))
}

# Hurvich, Simonoff & Tsai (1998), eq. 8; infinite when the fit uses up the observations.
corrected_aic <- function(variance, trace, n) {
  room <- n - trace - 2
  ifelse(room > 0, log(variance) + (n + trace) / room, Inf)
}

# `errors`: NULL, or whether the fit that follows the search needs standard errors at the data.
search_bandwidth <- function(sample, grid, asked, refine, run, errors = NULL) {
  data <- observations_of(sample, run)
  choose_regression_place_cpp(data$sorted, local_fits(grid$h, asked), run)
  on_cpu <- regression_place_cpp(data$sorted)$backend == "cpu"
  single <- length(grid$h) == 1L
  if (single && !is.null(errors) && on_cpu) data <- with_fit(data, grid$h, asked, errors, run)
  curve <- regression_curve(data, grid$h, asked, run)
  allowed <- !is.na(curve$cv) & (asked$unsupported == "exclude" | curve$unsupported == 0L)
  if (single) {
    warn_unsupported(curve$unsupported, sample$nobs, grid$grid)
    best <- list(index = 1L, tied = 1L)
  } else {
    check_allowed(allowed, curve, data, grid, asked)
    best <- min_value(curve$cv, allowed, asked, sample)
  }
  chosen <- list(bw = grid$grid[best$index], value = curve$cv[best$index], evaluations = 0L)
  if (refine) chosen <- refine_bandwidth(data, grid, best$index, chosen, asked, run)
  if (!single && chosen$bw %in% range(grid$grid)) warn_end_of_grid(chosen$bw, grid, asked)
  on_grid <- chosen$bw == grid$grid[best$index]
  found <- list(bw = chosen$bw, h = if (on_grid) grid$h[best$index] else chosen$bw * grid$scale, fval = chosen$value,
                grid = grid$grid, cv = curve$cv, n.unsupported = curve$unsupported,
                ties = if (on_grid && length(best$tied) > 1L) grid$grid[best$tied] else numeric(0),
                evaluations = length(grid$h) + chosen$evaluations)
  c(found, regression_place_cpp(data$sorted),
    list(remarks = remarks_on_bandwidth(found, asked, sample, data), data = data))
}

check_allowed <- function(allowed, curve, data, grid, asked) {
  if (any(allowed)) return(invisible())
  support <- regression_support_cpp(data$sorted, asked$ckertype)
  lost <- curve$unsupported[length(curve$unsupported)]
  abort_input("`", grid$argument, "` must give every observation a neighbour; at ",
              describe_value(grid$grid[length(grid$grid)]), " ", lost, " of ", length(data$x), " have none. From ",
              describe_value(round_up(support / grid$scale)), " on all have",
              if (asked$unsupported == "reject" && lost < length(data$x)) "; unsupported = \"exclude\" leaves them out",
              ".")
}

# Rounded up to six digits.
round_up <- function(value) {
  rounded <- signif(value, 6)
  if (rounded < value) signif(rounded + 10^(floor(log10(value)) - 5), 6) else rounded
}

# Which of the allowed values is the minimum. Values within rounding of it are ties; of these the widest bandwidth is
# taken, since it gives the smoother of two equal fits.
min_value <- function(cv, allowed, asked, sample) {
  min <- min(cv[allowed])
  if (min == Inf && asked$method == "cv.ls") {
    abort_input("`", sample$ynames, "` must have residuals whose squares have a sum below 1.8e308, but at each ",
                "bandwidth it is larger: rescale it.")
  }
  if (min == Inf) {
    abort_input("`bwmethod` must be \"cv.ls\" for these bandwidths, not \"cv.aic\": at each the fit uses up all ",
                "observations (tr + 2 >= n).")
  }
  tolerance <- 1e-12 * (if (asked$method == "cv.ls") min else 1 + abs(min))
  tied <- which(allowed & (cv == min | (is.finite(min) & cv - min <= tolerance)))
  list(index = max(tied), tied = tied)
}

# Warns of observations without a neighbour at a given bandwidth.
warn_unsupported <- function(unsupported, n, h) {
  if (unsupported == 0L) return(invisible())
  warn_support(unsupported, " of ", n, " observations ", if (unsupported == 1L) "has" else "have",
               " no neighbour at the bandwidth ", describe_value(h),
               ": cross-validation leaves them out.")
}

warn_end_of_grid <- function(bw, grid, asked) {
  lower <- bw == grid$grid[1L]
  warn_search("The least ", asked$method, " is at the ", if (lower) "lower" else "upper", " end of the grid, ",
              describe_value(bw), ": a ", if (lower) "narrower" else "wider", " bandwidth may be better.")
}
