# The modes of densities of one variable by bandwidth: their number, critical bandwidths, Silverman's test, and the tree
# of modes.

#' Number of modes, critical bandwidths and Silverman's test
#'
#' `nmodes()` counts the modes of Gaussian kernel density estimates of one variable, for each of several bandwidths.
#' `bw.crit()` finds the *critical bandwidth*, the least for which the estimate has at most `mod0` modes. `modetest()`
#' is the test of Silverman (1981) for `mod0` modes at most in the density against more. [modetree()] shows modes by
#' bandwidth.
#'
#' With the Gaussian kernel the number of modes never grows with the bandwidth (Silverman 1981). So an estimate has more
#' than `mod0` modes below the critical bandwidth, and not above. A large critical bandwidth shows that much smoothing
#' is needed to remove the other modes.
#'
#' @section Modes: A mode is where the derivative of the estimate turns from positive to negative. The derivative is
#'   computed by [kdde()] in steps of h / 8 wherever observations are near. Where it may also turn twice within a step,
#'   as near a critical bandwidth, its extreme value there decides. Derivatives below 1e-11 of the largest do not count:
#'   they are rounding, as far from the data.
#' @section Test: Samples of the smoothed bootstrap are drawn from the estimate with the critical bandwidth, scaled to
#'   have the variance of the data. The P value is the share of replicates with more than `mod0` modes at this
#'   bandwidth, which is the share whose own critical bandwidth is larger. Replicates are drawn as in [bands], on a
#'   lattice, in steps of h / 8, and modes are counted in steps of h / 16. The test is conservative for one mode (Hall
#'   & York 2001): the distribution of P is not uniform if the density has `mod0` modes, and small P are rarer than
#'   they should be.
#' @param x a numeric vector, or a matrix or data frame with one column.
#' @param h bandwidths, positive numbers.
#' @param mod0 number of modes, a whole number of at least 1.
#' @param B number of bootstrap samples. They depend on R's random numbers, see [set.seed()].
#' @param w weights, one for each value, non-negative and not all zero. Bootstrap samples have as many draws as the
#'   effective sample size.
#' @param na.action [stats::na.fail], an error when data are missing, or [stats::na.omit], which leaves them out.
#' @param threads the number of threads, see [kestrel_threads()].
#' @param ... nothing: other arguments are an error.
#' @return `nmodes()` returns a whole number for each of `h`. `bw.crit()` returns a number, to 1e-9 of it. `modetest()`
#'   returns an object of class `"htest"` with the fields `statistic` (the critical bandwidth), `p.value`, `parameter`
#'   (`mod0` and `B`), `null.value`, `alternative`, `method`, `data.name` and `replicates`, the number of modes of each
#'   bootstrap sample.
#' @section Units: Bandwidths have those of `x`.
#' @section Errors: Errors of class `kestrel_error_input` are for data that are missing, not finite, all equal or of
#'   several columns, for bandwidths that are not positive, and if `x` has no more than `mod0` different values. The
#'   class is `kestrel_error_memory` for a bandwidth so small that the points needed do not fit into memory.
#' @section Cost: One count takes O(n) and 8 points for each bandwidth of the range. A critical bandwidth takes about 40
#'   counts. The time of the bootstrap does not depend on n.
#' @references Hall, P. & York, M. (2001) On the calibration of Silverman's test for multimodality. *Statistica Sinica*
#'   **11**, 515-536.
#'
#'   Silverman, B.W. (1981) Using kernel density estimates to investigate multimodality. *Journal of the Royal
#'   Statistical Society B* **43**, 97-99.
#' @seealso [modetree()], [kfs()] for significant features in several dimensions
#' @examples
#' nmodes(faithful$eruptions, h = c(0.05, 0.3, 1))
#' bw.crit(faithful$eruptions, mod0 = 1)
#' set.seed(1)
#' modetest(faithful$eruptions, mod0 = 1)
#' modetest(faithful$eruptions, mod0 = 2)
#' @export
nmodes <- function(x, h, ..., w = NULL, na.action = stats::na.fail, threads = NULL) {
  check_arguments("nmodes", given_names(...))
  run <- run_options(threads)
  line <- line_of_modes(x, w, na.action, "nmodes")
  if (missing(h)) abort_input("`h` must be given: one bandwidth or more.")
  check_rows(h, "h")
  h <- check_positives(h, "h")
  vapply(h, function(one) count_modes(line, one / line$unit, run), 0L)
}

#' @rdname nmodes
#' @export
bw.crit <- function(x, mod0 = 1, ..., w = NULL, na.action = stats::na.fail, threads = NULL) {
  check_arguments("bw.crit", given_names(...))
  run <- run_options(threads)
  line <- line_of_modes(x, w, na.action, "bw.crit")
  critical_bandwidth(line, check_modes(mod0, line), run) * line$unit
}

#' @rdname nmodes
#' @export
modetest <- function(x, mod0 = 1, B = 500, ..., w = NULL, na.action = stats::na.fail, threads = NULL) {
  check_arguments("modetest", given_names(...))
  name <- paste(code_lines(substitute(x), 1L), collapse = " ")
  run <- run_options(threads)
  line <- line_of_modes(x, w, na.action, "modetest")
  mod0 <- check_modes(mod0, line)
  B <- check_count(B, "B")
  h <- critical_bandwidth(line, mod0, run)
  counts <- modes_of_replicates(line, h, B, run)
  structure(list(statistic = c("critical bandwidth" = h * line$unit), p.value = mean(counts > mod0),
                 parameter = c(modes = mod0, B = B), null.value = c("number of modes" = mod0), alternative = "greater",
                 method = "Silverman's test of the number of modes, by the smoothed bootstrap", data.name = name,
                 replicates = counts),
            class = "htest")
}

# The data from 0 to 1, as a sample of the core, and their `unit`.
line_of_modes <- function(x, w, na.action, caller) {
  sample <- selector_sample(x, w, na.action)
  check_one_column(sample, caller, "kfs")
  line_in_units(sample)
}

line_in_units <- function(sample) {
  limits <- ranges_cpp(sample$x)
  unit <- limits[2L] - limits[1L]
  at <- (sample$x - limits[1L]) / unit
  list(x = at, w = sample$w, data = sample_cpp(at, sample$w), lower = limits[1L], unit = unit, n_eff = sample$n,
       variance = sample$cov[1L, 1L] / unit^2, names = sample$names, n = length(sample$w))
}

check_modes <- function(mod0, line) {
  mod0 <- check_count(mod0, "mod0")
  different <- length(unique(as.vector(line$x)))
  if (mod0 >= different) {
    abort_input("`mod0` must be less than the number of different values of `x`, ", different, ", not ", mod0, ".")
  }
  mod0
}

# The derivative of this order at points.
slope_at <- function(line, at, h, order, run) {
  fhat <- new_derivative(line[c("x", "w", "names")], as.matrix(h^2), order, FALSE)
  fhat$.sample <- line$data
  derivatives_of(fhat, task_at_points(fhat, as.matrix(as.vector(at))), run)$values[, 1L]
}

# Intervals in each of which the derivative turns from positive to negative once: a matrix of their ends. Modes lie
# between the least and the largest observation.
mode_intervals <- function(line, h, run) {
  step <- h / 8
  # Within 8 bandwidths of an observation, and half a step beyond the data.
  cells <- cells_near(floor(line$x / step), 64, c(-1, ceiling(1 / step)))
  at <- (cells + 0.5) * step
  slope <- slope_at(line, at, h, 1L, run)
  kept <- abs(slope) > 1e-11 * max(abs(slope))
  at <- at[kept]
  slope <- slope[kept]
  side <- sign(slope)
  last <- length(at)
  ends <- function(first) cbind(at[first], at[first + 1L])
  found <- split_intervals(line, h, ends(which(side[-last] > 0 & side[-1L] < 0)), run)
  rbind(found, hidden_intervals(line, h, ends, slope, diff(at) < 1.5 * step, run))
}

# The same for intervals in which it turns from positive to negative three times, or once. Three times it does only if
# it rises between, so that the second derivative, which is concave there, is positive. That lies below its tangents at
# the ends.
split_intervals <- function(line, h, intervals, run) {
  turn <- matrix(slope_at(line, intervals, h, 2L, run), ncol = 2L)
  bend <- matrix(slope_at(line, intervals, h, 3L, run), ncol = 2L)
  width <- intervals[, 2L] - intervals[, 1L]
  meeting <- (turn[, 2L] - turn[, 1L] - bend[, 2L] * width) / (bend[, 1L] - bend[, 2L])
  rises <- turn[, 1L] < 0 & turn[, 2L] < 0 & bend[, 1L] > 0 & bend[, 2L] < 0
  rises[rises] <- (turn[, 1L] + bend[, 1L] * meeting)[rises] > 0
  if (!any(rises)) return(intervals)
  both <- intervals[rises, , drop = FALSE]
  highest <- turning_points(both, function(at) -slope_at(line, at, h, 3L, run))
  positive <- slope_at(line, highest, h, 2L, run) > 0
  if (!any(positive)) return(intervals)
  both <- both[positive, , drop = FALSE]
  highest <- highest[positive]
  lowest <- turning_points(cbind(both[, 1L], highest), function(at) slope_at(line, at, h, 2L, run))
  top <- turning_points(cbind(highest, both[, 2L]), function(at) -slope_at(line, at, h, 2L, run))
  thrice <- slope_at(line, lowest, h, 1L, run) < 0 & slope_at(line, top, h, 1L, run) > 0
  split <- which(rises)[positive][thrice]
  if (length(split) == 0L) return(intervals)
  rbind(intervals[-split, , drop = FALSE], cbind(both[, 1L], lowest)[thrice, , drop = FALSE],
        cbind(top, both[, 2L])[thrice, , drop = FALSE])
}

# The same where the derivative has one sign at both ends of a step and another between them. It is convex or concave
# there, so that it lies beyond its tangents at the ends, which must meet beyond zero.
hidden_intervals <- function(line, h, ends, slope, adjacent, run) {
  last <- length(slope)
  same <- which(adjacent & slope[-last] * slope[-1L] > 0)
  if (length(same) == 0L) return(NULL)
  side <- sign(slope[same])
  both <- ends(same)
  turn <- matrix(slope_at(line, both, h, 2L, run), ncol = 2L) * side
  height <- cbind(slope[same], slope[same + 1L]) * side
  width <- both[, 2L] - both[, 1L]
  meeting <- (height[, 2L] - height[, 1L] - turn[, 2L] * width) / (turn[, 1L] - turn[, 2L])
  low <- turn[, 1L] < 0 & turn[, 2L] > 0
  low[low] <- (height[, 1L] + turn[, 1L] * meeting)[low] <= 0
  if (!any(low)) return(NULL)
  both <- both[low, , drop = FALSE]
  side <- side[low]
  lowest <- turning_points(both, function(at) slope_at(line, at, h, 2L, run) * side)
  beyond <- slope_at(line, lowest, h, 1L, run) * side < 0
  # From positive to negative and back, or the other way round.
  intervals <- cbind(ifelse(side > 0, both[, 1L], lowest), ifelse(side > 0, lowest, both[, 2L]))
  intervals[beyond, , drop = FALSE]
}

# Where functions that rise from below zero to above it are zero: by halving.
turning_points <- function(intervals, value) {
  lower <- intervals[, 1L]
  upper <- intervals[, 2L]
  # To 1e-12 of a step.
  for (k in 1:40) {
    middle <- (lower + upper) / 2
    above <- value(middle) > 0
    upper[above] <- middle[above]
    lower[!above] <- middle[!above]
  }
  (lower + upper) / 2
}

count_modes <- function(line, h, run) {
  heard()
  nrow(mode_intervals(line, h, run))
}

# The modes in increasing order.
modes_at <- function(line, h, run) {
  intervals <- mode_intervals(line, h, run)
  sort(turning_points(intervals, function(at) -slope_at(line, at, h, 1L, run)))
}

# The least bandwidth with at most that many modes. With h = 1, the range of the data, the estimate is concave between
# them and has one mode.
critical_bandwidth <- function(line, modes, run) {
  above <- 1
  below <- 1 / 2
  while (count_modes(line, below, run) <= modes) {
    above <- below
    below <- below / 2
  }
  while (above / below > 1 + 1e-9) {
    middle <- sqrt(above * below)
    if (count_modes(line, middle, run) <= modes) above <- middle else below <- middle
  }
  above
}

# The number of modes of bootstrap samples from the estimate with bandwidth h, scaled to the variance of the data. Their
# number is that of unscaled samples with a larger bandwidth.
modes_of_replicates <- function(line, h, B, run) {
  step <- h / 8
  at <- (cells_near(floor(line$x / step), 72) + 0.5) * step
  fhat <- gaussian_density(line[c("x", "w", "names")], as.matrix(h^2))
  fhat$.sample <- line$data
  weight <- pmax(density_at(fhat, as.matrix(at), run), 0)
  kept <- weight > 1e-18 * max(weight)
  at <- at[kept]
  points <- sort(c(at, at + step / 2))
  check_replicates_memory(B, length(at), length(points))
  task <- list(weight = weight[kept], position = at, cell = seq_along(at) - 1L, factor = 1,
               h = h * sqrt(1 + h^2 / line$variance), order = 1L, points = points, size = max(1, round(line$n_eff)),
               key = boot_key(), replicates = B)
  slopes <- boot_lattice_cpp(task, run)[, -1L, drop = FALSE]
  apply(slopes, 2L, function(slope) {
    side <- sign(slope[slope != 0])
    sum(side[-length(side)] > 0 & side[-1L] < 0)
  })
}
