# The search for a regression bandwidth: the candidates, the objective at each, and its minimum.

# Between these limits a bandwidth can be converted to the other scale, and the support of the Gaussian kernel, 38
# bandwidths, is a finite number.
regression_limits <- c(1e-300, 1e300)

# The kernel's `h` for each unit of the user's bandwidth, which may be on np's scale, and a multiple of the spread of x.
unit_of <- function(asked) {
  if (is_nearest(asked)) return(1)
  (if (asked$bw.scale == "np") np_scale(asked$ckertype) else 1) * (if (asked$scaling) asked$sdev * asked$nconfac else 1)
}

# The same bandwidth as `h`. An infinite one weights all observations alike, as one does that is very far beyond them.
h_of <- function(bw, unit, range) ifelse(bw == Inf, min(2^60 * range, regression_limits[2L]), bw * unit)

range_of <- function(x) {
  ends <- ranges_cpp(x)
  ends[2L] - ends[1L]
}

# np's measure of the spread of x: the least of three, as far as they are positive. `sorted`: the core's sample of x.
spread_of <- function(sorted) {
  found <- regression_spread_cpp(sorted)
  spreads <- c(found[1L], found[2L] / (2 * stats::qnorm(0.75)), 1.4826 * found[3L])
  min(spreads[spreads > 0])
}

# Bandwidths as a user gives them, which may be infinite.
check_bandwidths <- function(bws, name = "bws", one = FALSE) {
  bws <- plain(bws)
  infinite <- if (is_numbers(bws)) which(bws == Inf)
  if (length(infinite) > 0L) bws[infinite] <- 1
  replace(check_positives(bws, name, one, regression_limits), infinite, Inf)
}

# The bandwidths to evaluate, as the user's `grid` and as `h`; `search`: "none" for one that is fixed, "grid" for the
# grid that is asked for, and "global" for a scan, `argument`: what the user may change.
candidate_bandwidths <- function(data, asked, given) {
  unit <- unit_of(asked)
  range <- range_of(data$x)
  made <- function(grid, search, argument) {
    check_within_period(grid, unit, data, asked, argument)
    list(grid = grid, h = h_of(grid, unit, range), unit = unit, search = search, argument = argument)
  }
  bws <- if (!is.null(given$bws)) check_bandwidths(given$bws)
  if (length(bws) > 1L || given$fixed) {
    if (!is.null(given$bwmin) || !is.null(given$bwmax)) {
      abort_input("`bws` must not be given together with `bwmin` or `bwmax`.")
    }
    grid <- sort(unique(bws))
    return(made(grid, if (length(grid) == 1L) "none" else "grid", "bws"))
  }
  of_grid <- given[c("nbw", "bwmin", "bwmax")]
  if (all(vapply(of_grid, is.null, NA)) && asked$unsupported == "reject") {
    return(made(scan_bandwidths(data, asked$ckertype, unit), "global", "ydat"))
  }
  if (!is.null(data$circle)) range <- data$circle$period / 2
  made(listed_bandwidths(given, range / unit / if (asked$ckertype == "gaussian") sqrt(5) else 1), "grid", "bwmax")
}

# The grid of Rohlfs & Zahran, equal steps up to `widest`, or from `bwmin` and to `bwmax`.
listed_bandwidths <- function(given, widest) {
  nbw <- if (is.null(given$nbw)) 50L else check_count(given$nbw, "nbw")
  if (!is.null(given$bwmax)) widest <- check_positives(given$bwmax, "bwmax", TRUE, regression_limits)
  if (is.null(given$bwmin)) return(widest * seq_len(nbw) / nbw)
  min <- check_positives(given$bwmin, "bwmin", TRUE, regression_limits)
  if (nbw < 2L) abort_input("`nbw` must be at least 2 when `bwmin` is given, not ", nbw, ".")
  if (min >= widest) {
    abort_input("`bwmin` must be below ", if (is.null(given$bwmax)) "range(x)" else "`bwmax`", ", ",
                describe_value(widest), ", not ", describe_value(given$bwmin), ".")
  }
  seq(min, widest, length.out = nbw)
}

# Ratio of successive bandwidths of a scan. Valleys of the curve are several times wider: a Gaussian weight relative to
# another, exp(-d / h^2), falls from 0.9 to 0.1 while h falls to a fifth. With few observations fits may have poles.
# With many, curves are sums of many such terms.
scan_ratio <- function(n) if (n <= 100L) 1.02 else if (n <= 10000L) 1.06 else 1.2

# The bandwidths of the scan for the least value of a curve, from the smallest that supports every observation. Where
# all observations are tied, the curve is constant below the smallest step of x. The last, far beyond the data, stands
# for an infinite bandwidth. Before it, at 1000 times the range of x, a curve differs from its limit by 1e-6. That of a
# periodic variable ends with its widest kernel.
scan_bandwidths <- function(data, kernel, unit) {
  range <- range_of(data$x) / unit
  lowest <- at_least(regression_support_cpp(data$sorted, kernel), unit)
  tied <- lowest == 0
  if (tied) lowest <- 0.9 * smallest_step(data$x) / unit / if (is_compact(kernel)) 1 else 38
  scan_from(max(lowest, 1e-15 * range, regression_limits[1L]), range, length(data$x),
            if (!is.null(data$circle)) widest_of_scan(data$circle, kernel) / unit)
}

# Of n observations in a range. `limit`: the widest bandwidth before the infinite one, if there is a limit.
scan_from <- function(lowest, range, n, limit = NULL) {
  widest <- if (is.null(limit)) min(10 * range, regression_limits[2L]) else limit
  steps <- max(0, ceiling(log(widest / lowest) / log(scan_ratio(n))))
  bw <- c(lowest, lowest * (widest / lowest)^(seq_len(steps) / steps), if (is.null(limit)) widest * 10^(1:10 / 5),
          10^ceiling(log10(range) + 9))
  bw[bw >= regression_limits[1L] & bw <= regression_limits[2L]]
}

# The curve of a scan with bandwidths below its first, at which some observations have no neighbour, if it falls towards
# them: for remark_on_isolated(). Below the smallest step of tied data nothing is left to see.
with_rejected <- function(curve, grid, data, asked, run) {
  below <- if (is_compact(asked$ckertype)) 100^(20:1 / 20) else 4^(5:1 / 5)
  bw <- grid$grid[1L] / below
  bw <- bw[bw >= regression_limits[1L]]
  falls <- isTRUE(curve$cv[1L] <= curve$cv[2L])
  if (!falls || length(bw) == 0L || regression_support_cpp(data$sorted, asked$ckertype) == 0) {
    return(list(curve = curve, grid = grid))
  }
  more <- regression_curve(data, bw * grid$unit, asked, run)
  grid$grid <- c(bw, grid$grid)
  grid$h <- c(bw * grid$unit, grid$h)
  list(curve = Map(c, more, curve), grid = grid)
}

# The engine of a regression's sums. Windows of compact kernels are swept, on a GPU in blocks. The Gaussian kernel goes
# from nodes to nodes, on a GPU from pair to pair.
regression_engine <- function(kernel, backend, type = "fixed") {
  if (type != "fixed") return("direct")
  names <- if (kernel == "gaussian") c("nodes", "direct") else c("sweep", "blocks")
  names[1L + (backend == "cuda")]
}

# The observations of positive weight of a sample or a bandwidth object: x, y, w, and `sorted`, the core's sample of
# them. The CPU sorts it when it first needs it.
observations_of <- function(sample, run) {
  data <- unclass(sample)[c("x", "y", "w")]
  if (weight_sums_cpp(sample$w)$positive < length(sample$w)) {
    used <- sample$w > 0
    data <- lapply(data, `[`, used)
  }
  if (!is.null(sample$period)) return(periodic_observations(data, sample, run))
  c(data, sorted = regression_cpp(data, run))
}

# What regression_cv_cpp() takes; src/rcpp_regression.cpp reads it.
local_fits <- function(h, asked) {
  list(h = h, kernel = asked$ckertype, regtype = asked$regtype, order = as.integer(asked$ckerorder),
       bwtype = asked$type, unit = if (asked$bw.scale == "np") np_scale(asked$ckertype) else 1)
}

# The sums for a curve. A fit that has been made at the observations has those for its bandwidth.
regression_sums <- function(data, h, asked, run) {
  if (!is.null(data$fit)) return(data$fit)
  if (!is.null(data$circle)) return(periodic_totals(data, h, asked, run))
  regression_cv_cpp(data$sorted, local_fits(h, asked), run)
}

# The observations with `fit`, which regression_at_data_cpp() makes at one bandwidth. It serves the curve of a search at
# this bandwidth alone and the fit of npreg(). `needed`: whether it needs `errors`, and `gradients`, which need them,
# too.
with_errors <- c(errors = TRUE, gradients = FALSE)

with_fit <- function(data, h, asked, needed, run) {
  if (is.null(data$fit) && has_series(data, h, asked)) {
    data$fit <- series_with_errors(data, h, asked, needed)
  } else if (is.null(data$fit)) {
    data$fit <- regression_at_data_cpp(data$sorted, local_fits(h, asked), needed[["errors"]], needed[["gradients"]],
                                       run)
  }
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

# `data`: of observations_of(); `needed`: NULL, or what the fit that follows the search needs at the data, see
# with_fit().
search_bandwidth <- function(sample, data, asked, given, refine, run, needed) {
  if (is_nearest(asked)) return(search_neighbours(sample, data, asked, given, refine, run, needed))
  grid <- candidate_bandwidths(data, asked, given)
  single <- grid$search == "none"
  if (refine && single) abort_input("`refine` must be FALSE for a single bandwidth, not TRUE.")
  choose_regression_place_cpp(data$sorted, local_fits(grid$h, asked), run)
  on_cpu <- regression_place_cpp(data$sorted)$backend == "cpu"
  if (single && !is.null(needed) && on_cpu) data <- with_fit(data, grid$h, asked, needed, run)
  curve <- regression_curve(data, grid$h, asked, run)
  if (grid$search == "global") {
    all <- with_rejected(curve, grid, data, asked, run)
    curve <- all$curve
    grid <- all$grid
  }
  value <- ifelse(!is.na(curve$cv) & (asked$unsupported == "exclude" | curve$unsupported == 0L), curve$cv, NA)
  tried <- list(bw = grid$grid, value = value, evaluations = length(value))
  if (single) {
    warn_unsupported(curve$unsupported, sample$nobs, grid$grid, asked)
    tried$value <- curve$cv
  } else {
    check_allowed(value, curve, data, grid, asked)
    check_least(value, asked, sample)
    if (grid$search == "global" || refine) tried <- refine_bandwidth(data, grid, tried, asked, run)
  }
  best <- least_of_tried(tried, asked)
  bw <- tried$bw[max(best)]
  if (grid$search == "grid" && bw %in% range(grid$grid) && bw < Inf) warn_end_of_grid(bw, grid, asked)
  # The last of a scan stands for an infinite bandwidth.
  shown <- if (grid$search == "global") seq_len(length(grid$grid) - 1L) else seq_along(grid$grid)
  found <- list(bw = bw, h = h_of(bw, grid$unit, range_of(data$x)), fval = tried$value[max(best)], search = grid$search,
                grid = grid$grid[shown], cv = curve$cv[shown], n.unsupported = curve$unsupported[shown],
                ties = if (length(best) > 1L && grid$search == "grid") tried$bw[best] else numeric(0),
                evaluations = tried$evaluations)
  c(found, regression_place_cpp(data$sorted),
    list(remarks = remarks_on_bandwidth(found, asked, sample, data), data = data))
}

check_allowed <- function(value, curve, data, grid, asked) {
  if (!all(is.na(value))) return(invisible())
  support <- regression_support_cpp(data$sorted, asked$ckertype)
  lost <- curve$unsupported[length(curve$unsupported)]
  abort_input("`", grid$argument, "` must give every observation a neighbour; at ",
              describe_value(grid$grid[length(grid$grid)]), " ", lost, " of ", length(data$x), " have none. From ",
              describe_value(round_up(support / grid$unit)), " on all have",
              if (asked$unsupported == "reject" && lost < length(data$x)) "; unsupported = \"exclude\" leaves them out",
              ".")
}

# Rounded up to six digits.
round_up <- function(value) {
  rounded <- signif(value, 6)
  if (rounded < value) signif(rounded + 10^(floor(log10(value)) - 5), 6) else rounded
}

# The objective must be finite at an allowed bandwidth.
check_least <- function(value, asked, sample) {
  if (min(value, na.rm = TRUE) < Inf) return(invisible())
  if (asked$method == "cv.ls") {
    abort_input("`", sample$ynames, "` must have residuals whose squares have a sum below 1.8e308, but at each ",
                "bandwidth it is larger: rescale it.")
  }
  abort_input("`bwmethod` must be \"cv.ls\" for these ", if (length(value) == 1L) "data" else "bandwidths",
              ", not \"cv.aic\": at each the fit uses up all observations (tr + 2 >= n).")
}

# Which of what was tried is the minimum. Values within rounding of it are ties. The last of them, the widest bandwidth,
# is taken, since it gives the smoother of two equal fits.
least_of_tried <- function(tried, asked) {
  value <- tried$value
  if (length(value) == 1L) return(1L)
  min <- min(value, na.rm = TRUE)
  which(value == min | is.finite(min) & value - min <= 1e-12 * (if (asked$method == "cv.ls") min else 1 + abs(min)))
}

# Warns of observations without a neighbour at a given bandwidth.
warn_unsupported <- function(unsupported, n, bw, asked) {
  if (unsupported == 0L) return(invisible())
  warn_support(unsupported, " of ", n, " observations ", if (unsupported == 1L) "has" else "have",
               if (is_nearest(asked)) paste(" no other one within the bandwidth at k =", bw)
               else paste(" no neighbour at the bandwidth", describe_value(bw)),
               ": cross-validation leaves them out.")
}

warn_end_of_grid <- function(bw, grid, asked) {
  lower <- bw == grid$grid[1L]
  if (is_nearest(asked)) {
    if (bw == 1) return(invisible())
    warn_search("The least ", asked$method, " is at the ", if (lower) "lower" else "upper", " end of the grid, k = ",
                bw, ": ", if (lower) "fewer" else "more", " neighbours may be better.")
    return(invisible())
  }
  warn_search("The least ", asked$method, " is at the ", if (lower) "lower" else "upper", " end of the grid, ",
              describe_value(bw), ": a ", if (lower) "narrower" else "wider", " bandwidth may be better.")
}
