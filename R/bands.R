# Confidence bands of densities and distribution functions of one variable: by the smoothed bootstrap, and
# asymptotically with undersmoothing.

#' Confidence bands
#'
#' Pointwise and simultaneous confidence bands of densities and distribution functions of one variable, for estimates by
#' [kde()] and [kcde()]. The methods `predict()`, `as.data.frame()` and `plot()` of these estimates compute them.
#'
#' A *pointwise* band contains the true value with probability `level` at each point. A *simultaneous* band contains the
#' true values at all of the points at once with this probability.
#'
#' @section Bootstrap: An estimate with the bandwidth that is best for it has a bias as large as its standard error, so
#' that a band about it does not have its level. The smoothed bootstrap (Faraway & Jhun 1990) draws samples from the
#' estimate \eqn{\hat f_h}{fhat_h}, which show its bias: it is \eqn{\hat f_{\sqrt 2 h} - \hat f_h}{fhat_(sqrt(2) h) -
#' fhat_h} (for images at bounds, too). The band is about the estimate without this bias,
#' \deqn{\tilde f = 2 \hat f_h - \hat f_{\sqrt 2 h}.}{ftilde = 2 fhat_h - fhat_(sqrt(2) h).}
#' This is the estimate with the kernel 2 K - K * K (Stuetzle & Mittal 1979), whose bias is of order h^4. Replicates are
#' the same estimate from `B` samples of n draws, so that the band also has the variance of the correction (Calonico,
#' Cattaneo & Farrell 2018; Cheng & Chen 2019). With weights the samples have as many draws as the effective sample size
#' `n_eff`.
#'
#' Square roots of densities have almost the same variance everywhere. So the band is that of \eqn{\sqrt{\tilde f}}{the
#' root of ftilde}, squared. The distance of a replicate is its difference from the mean of the replicates, both with
#' roots. A pointwise band has the `level` quantile of these distances at a point as its half width. A simultaneous one
#' divides them by their root mean square, and takes the quantile of the largest in each replicate. In both no point has
#' less than the asymptotic standard error of a root (below), with the roughness 0.407 of this kernel, because in the
#' tails all replicates may be zero. For distribution functions arc sines of roots take the place of roots in pointwise
#' bands, and the functions themselves in simultaneous ones.
#'
#' The replicates are exact: their joint moments, of orders up to 35, differ from those of the smoothed bootstrap by
#' rounding. But no observation is drawn. Samples of the points of a lattice with steps h / 8, with probabilities
#' proportional to the estimate there, have these moments, and counts at its points are drawn directly. So the time does
#' not depend on the size of the sample.
#'
#' @section Asymptotic bands: With `method = "asymptotic"` the estimate has the bandwidth h n_eff^(-1/20), which is of
#' order n^(-1/4), so that its bias is small beside its standard error (Hall 1992). The variance of its root is taken as
#' (R(K) / h - f) / (4 n_eff), and at least half of the first term, with the roughness R(K), the integral of K^2.
#' Simultaneous bands take the quantile of the maximum of a
#' Gaussian process with the covariance of the estimate between the least and the largest of the points (Sun & Loader
#' 1994, for one dimension). The bands are for all kernels but, if simultaneous, the uniform one. For distribution
#' functions the bandwidth is that of the estimate. The variance is F (1 - F) / n_eff. Simultaneous bands have the width
#' of Kolmogorov's test, less what smoothing takes from the maximum of a Brownian bridge.
#'
#' @section Coverage: Bands of 2,000 samples of 1,000 observations, from the standard normal density and from a mixture
#'   of two normal densities with two modes, contain the true density at this rate for `level = 0.95`. Those of the
#'   bootstrap do in 95.0 and 95.3 per cent of all cases at single points (on average over 25 quantiles), and in 95.4
#'   and 95.2 per cent at all points of the grid. Asymptotic bands do in 94.1 and 94.1, and in 95.8 and 95.5 per cent.
#'   The standard errors are 0.2 and 0.5. For distribution functions the bootstrap has 94.6 and 95.1, and 94.1 and
#'   95.2 per cent. Asymptotic bands have 95.9 and 96.4, and 94.7 and 94.7. With all of Kolmogorov's width the last two
#'   would be 98.8 and 99.2. With 100 observations 96.7 per cent of the simultaneous bands contain the normal
#'   distribution function.
#'
#'   Neither method removes the bias at a bound where the density has a slope (see [kde()]). With few
#' observations a band may have less than its level, because its bandwidth is estimated as well.
#'
#' @param object,x an estimate of one variable made by [kde()] or [kcde()].
#' @param newdata points, as for the method without `interval`.
#' @param interval `"none"`, `"pointwise"` or `"simultaneous"`.
#' @param level the probability, between 0 and 1.
#' @param method `"bootstrap"`, which needs the Gaussian kernel, or `"asymptotic"`, which does not take `bounds` or a
#'   `period`.
#' @param B number of replicates of the bootstrap. They depend on R's random numbers, see [set.seed()], and not on the
#'   number of threads.
#' @return `predict()` returns a matrix with columns `fit`, the estimate, `lwr` and `upr`, and a row for each point.
#'   `as.data.frame()` returns columns `lower` and `upper` after `estimate`. `plot()` draws the band. Since the estimate
#'   has a bias and the band is free of it, the curve may leave the band at sharp peaks.
#' @section Units: Bands are in the units of the estimate: 1 over that of the variable, or without a unit.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - an estimate of several variables, one whose data were not kept, and one of a sketch;
#'   - `method = "bootstrap"` with a compact kernel, and `"asymptotic"` with bounds or a period;
#'   - a simultaneous asymptotic band of the density with the uniform kernel;
#'   - other arguments that are not valid.
#'
#'   The class is `kestrel_error_memory` if the replicates do not fit into memory.
#' @section Cost: The estimates cost as much as those of [kde()] and [kcde()]. The bootstrap takes O(B (m + l)) for m
#'   points and a lattice of l points, 8 for each bandwidth that the data span. With 100,000 observations, 500
#'   replicates at 401 points take 0.1 seconds on one core.
#' @references Calonico, S., Cattaneo, M.D. & Farrell, M.H. (2018) On the effect of bias estimation on coverage accuracy
#'   in nonparametric inference. *Journal of the American Statistical Association* **113**, 767-779.
#'
#'   Cheng, G. & Chen, Y.-C. (2019) Nonparametric inference via bootstrapping the debiased estimator. *Electronic
#'   Journal of Statistics* **13**, 2194-2256.
#'
#'   Faraway, J.J. & Jhun, M. (1990) Bootstrap choice of bandwidth for density estimation. *Journal of the American
#'   Statistical Association* **85**, 1119-1122.
#'
#'   Hall, P. (1992) Effect of bias estimation on coverage accuracy of bootstrap confidence intervals for a probability
#'   density. *Annals of Statistics* **20**, 675-694.
#'
#'   Stuetzle, W. & Mittal, Y. (1979) Some comments on the asymptotic behavior of robust smoothers. In *Smoothing
#'   Techniques for Curve Estimation*, Lecture Notes in Mathematics **757**, 191-195. Springer.
#'
#'   Sun, J. & Loader, C.R. (1994) Simultaneous confidence bands for linear regression and smoothing. *Annals of
#'   Statistics* **22**, 1328-1345.
#' @seealso [predict.kestrel_kde()], [plot.kestrel_kde()], [predict.kestrel_kcde()]
#' @examples
#' fhat <- kde(faithful$eruptions)
#' set.seed(1)
#' predict(fhat, c(2, 3, 4.5), interval = "pointwise")
#' plot(fhat, interval = "simultaneous")
#'
#' head(as.data.frame(fhat, interval = "simultaneous", method = "asymptotic"))
#'
#' Fhat <- kcde(faithful$eruptions)
#' plot(Fhat, interval = "simultaneous", level = 0.9)
#' @name bands
NULL

intervals_of_bands <- c("none", "pointwise", "simultaneous")

# What was asked for: NULL without a band.
asked_band <- function(fhat, interval, level, method, B, name = "object") {
  interval <- check_choice(interval, intervals_of_bands, "interval")
  asked <- list(interval = interval, level = check_level(level),
                method = check_choice(method, c("bootstrap", "asymptotic"), "method"), B = check_count(B, "B"))
  if (interval == "none") return(NULL)
  if (dimension(fhat) > 1L) {
    abort_input("`interval` must be \"none\" for an estimate of ", dimension(fhat), " variables, not \"", interval,
                "\".")
  }
  if (!has_data(fhat)) {
    abort_input("`", name, "` must be an estimate with its data for a band, not one ",
                if (is.null(fhat$sketch)) "from a file without them." else "of a sketch.")
  }
  if (asked$method == "bootstrap" && is_compact(fhat$kernel)) {
    abort_input("`method` must be \"asymptotic\" for kernel = \"", fhat$kernel, "\", not \"bootstrap\".")
  }
  if (asked$method == "asymptotic" && has_images(fhat$transform)) {
    abort_input("`method` must be \"bootstrap\" for an estimate with bounds or a period, not \"asymptotic\".")
  }
  if (asked$method == "asymptotic" && interval == "simultaneous" && fhat$kernel == "uniform" && !is_kcde(fhat)) {
    abort_input("`interval` must be \"pointwise\" for kernel = \"uniform\", not \"simultaneous\".")
  }
  asked
}

is_kcde <- function(fhat) inherits(fhat, "kestrel_kcde")

# The limits of a band at points of the variable: `lower` and `upper`.
band_at <- function(fhat, points, asked, run) {
  at <- to_line(fhat$transform, as.vector(points), 1L)
  line <- estimate_on_line(fhat)
  inside <- is.finite(at) | is_kcde(fhat)
  limits <- matrix(0, length(at), 2L)
  if (any(inside)) {
    of_line <- switch(asked$method, bootstrap = bootstrap_band, asymptotic = asymptotic_band)
    limits[inside, ] <- of_line(line, at[inside], asked, run)
  }
  if (is_kcde(fhat)) {
    limits <- pmin(pmax(limits, 0), 1)
    if (fhat$tail == "upper.tail") limits <- 1 - limits[, 2:1, drop = FALSE]
  } else if (!is.null(fhat$transform)) {
    limits[inside, ] <- limits[inside, ] * line_slope(fhat$transform, at[inside])
  }
  list(lower = limits[, 1L], upper = limits[, 2L])
}

# What predict() returns of a band.
with_limits <- function(limits, fit) cbind(fit = fit, lwr = limits$lower, upr = limits$upper)

# The band of a plot at the points of the estimate, and the note about it.
drawn_band <- function(fhat, asked) {
  if (is.null(asked)) return(NULL)
  note <- paste0("Band: ", format(100 * asked$level), " % confidence ",
                 if (asked$interval == "pointwise") "at each point" else "for the whole curve")
  c(band_at(fhat, fhat$eval.points, asked, run_options()), note = note)
}

# The estimate on the scale on which the kernel works.
estimate_on_line <- function(fhat) {
  if (has_images(fhat$transform)) {
    fhat$.sample <- NULL
    return(fhat)
  }
  x <- as.vector(points_to_line(fhat$transform, sample_matrix(fhat)))
  line <- new_density(list(x = as.matrix(x), w = fhat$w, names = fhat$names, is_vector = TRUE), as.matrix(fhat$H),
                      fhat$kernel, "radial", NULL, list(engine = "auto", backend = "cpu", tol = 1e-12))
  if (!is_kcde(fhat)) return(line)
  line$tail <- "lower.tail"
  structure(line, class = class(fhat))
}

# The estimate at points of the line with another bandwidth.
line_estimate <- function(line, at, h, run) {
  line$H <- h^2
  line$h <- h
  if (is_kcde(line)) return(line_probability(line, at, "lower.tail", run))
  density_at(line, as.matrix(at), run)
}

asymptotic_band <- function(line, at, asked, run) {
  n <- line$n_eff
  z <- stats::qnorm((1 + asked$level) / 2)
  simultaneous <- asked$interval == "simultaneous"
  if (is_kcde(line)) {
    centre <- line_estimate(line, at, line$h, run)
    if (simultaneous) {
      return(centre + cbind(-1, rep(1, length(at))) * smoothed_quantile(line, asked$level, run) / sqrt(n))
    }
    return(from_arcs(to_arcs(centre), z / (2 * sqrt(n))))
  }
  h <- line$h * n^(-1 / 20)
  centre <- line_estimate(line, at, h, run)
  if (simultaneous) z <- tube_quantile(asked$level, diff(range(at)) * sqrt(slope_roughness(line$kernel)) / h)
  from_roots(sqrt(centre), z * error_of_root(centre, kernel_constants(line$kernel, 1L)$roughness, h, n))
}

# The asymptotic standard error of the root of an estimate f. Where the data are within a bandwidth, R / h - f may be
# negative.
error_of_root <- function(f, roughness, h, n) {
  first <- roughness / h
  sqrt(pmax(first - pmax(f, 0), first / 2) / (4 * n))
}

# R(K') / R(K) of a kernel (1 - |u|^a)^b by beta functions; of the Gaussian kernel and the cosine.
slope_roughness <- function(kernel) {
  if (kernel == "gaussian") return(1 / 2)
  if (kernel == "cosine") return(pi^2 / 4)
  a <- kernel_row(kernel)$inner
  b <- kernel_row(kernel)$outer
  (a * b)^2 * beta(2 - 1 / a, 2 * b - 1) / beta(1 / a, 2 * b + 1)
}

# The quantile of the maximum of |Z| over a path of this length in standard deviations (Sun & Loader 1994, eq. 3.1 with
# infinitely many degrees of freedom): P(max > c) = length / pi exp(-c^2 / 2) + 2 (1 - Phi(c)).
tube_quantile <- function(level, length) {
  beyond <- function(c) length / pi * exp(-c^2 / 2) + 2 * stats::pnorm(-c) - (1 - level)
  upper <- sqrt(2 * log((2 + length) / (1 - level)))
  stats::uniroot(beyond, c(0, upper + 1), tol = 1e-10)$root
}

# P(max |bridge| > c) = 2 sum (-1)^(k-1) exp(-2 k^2 c^2), or for small c by theta functions (Kolmogorov 1933).
kolmogorov_quantile <- function(level) {
  below <- function(c) {
    if (c < 1) return(sqrt(2 * pi) / c * sum(exp(-(2 * (1:20) - 1)^2 * pi^2 / (8 * c^2))))
    1 - 2 * sum((-1)^(0:19) * exp(-2 * (1:20)^2 * c^2))
  }
  stats::uniroot(function(c) below(c) - level, c(0.05, 10), tol = 1e-10)$root
}

# The quantile of the largest error of a distribution function, times root n. The estimate is the empirical distribution
# function smoothed with the kernel, whose standard deviation is h f(x) on the scale of probabilities. Smoothed by tau
# there, the maximum of a bridge is less by 1.19 root tau on average (in 2,000 simulated bridges 1.203, 1.186 and 1.190
# for tau = 0.002, 0.005 and 0.01, with standard errors of 0.006). Simulated 95 % quantiles of the largest absolute
# value are 1.245, 1.145, 1.045 and 0.964 for tau = 0.01, 0.03, 0.06 and 0.1, and those by this correction 1.239, 1.152,
# 1.067 and 0.982. The mean is over the places p of a maximum q, whose density is that of the first passage of q from
# both ends of a bridge.
smoothed_quantile <- function(line, level, run) {
  q <- kolmogorov_quantile(level)
  p <- (1:99) / 100
  at <- distribution_quantiles_cpp(data_on_line(line), line_task(line, p), run)
  width <- line$h * sqrt(kernel_constants(line$kernel, 1L)$second_moment) * line_density(line, at, line$h, run)
  place <- (p * (1 - p))^-1.5 * exp(-q^2 / (2 * p * (1 - p)))
  max(q - 1.19 * sum(place * sqrt(width)) / sum(place), stats::qnorm((1 + level) / 2) / 2)
}

# Limits from the scale of roots, and of arc sines of roots.
from_roots <- function(centre, half) cbind(pmax(centre - half, 0)^2, (centre + half)^2)

to_arcs <- function(p) asin(sqrt(pmin(pmax(p, 0), 1)))

from_arcs <- function(centre, half) cbind(sin(pmax(centre - half, 0))^2, sin(pmin(centre + half, pi / 2))^2)

bootstrap_band <- function(line, at, asked, run) {
  h <- sqrt(summed_H(line)[1L, 1L])
  wide <- sqrt(2) * h
  centre <- 2 * line_estimate(line, at, h, run) - line_estimate(line, at, wide, run)
  replicates <- lattice_replicates(line, at, h, asked$B, run)
  simultaneous <- asked$interval == "simultaneous"
  if (is_kcde(line) && simultaneous) {
    distance <- abs(replicates[, -1L, drop = FALSE] - replicates[, 1L])
    return(centre + cbind(-1, rep(1, length(at))) * largest_quantile(distance, asked$level))
  }
  on_scale <- if (is_kcde(line)) to_arcs else function(value) sqrt(pmax(value, 0))
  replicates <- on_scale(replicates)
  distance <- abs(replicates[, -1L, drop = FALSE] - replicates[, 1L])
  # Of the kernel 2 K - K * K: 4 R(K) - 4 (K * K * K)(0) + R(K * K), for the normal density K.
  roughness <- 4 / sqrt(4 * pi) - 4 / sqrt(6 * pi) + 1 / sqrt(8 * pi)
  least <- if (is_kcde(line)) 0 else error_of_root(centre, roughness, h, sample_draws(line))
  half <- if (simultaneous) {
    scale <- pmax(sqrt(rowMeans(distance^2)), least)
    scale * largest_quantile(distance / scale, asked$level)
  } else {
    pmax(row_quantiles(distance, asked$level), least * stats::qnorm((1 + asked$level) / 2))
  }
  if (is_kcde(line)) from_arcs(to_arcs(centre), half) else from_roots(on_scale(centre), half)
}

row_quantiles <- function(values, level) apply(values, 1L, stats::quantile, level, names = FALSE)

# The quantile of the largest value of each column.
largest_quantile <- function(values, level) stats::quantile(apply(values, 2L, max), level, names = FALSE)

# Draws in a bootstrap sample.
sample_draws <- function(line) max(1, round(line$n_eff))

# The corrected estimate at points, a row for each, from samples of the estimate: its expectation, and B replicates.
lattice_replicates <- function(line, at, h, B, run) {
  lattice <- lattice_of(line, h)
  check_replicates_memory(B, length(lattice$at), length(at))
  weight <- line_density(line, lattice$at, h, run)
  kept <- weight > 1e-18 * max(weight)
  lattice$at <- lattice$at[kept]
  kernels <- list(at = lattice$at, source = seq_along(lattice$at))
  if (has_images(line$transform)) {
    axes <- rbind(line$transform$lower, line$transform$upper, 9 * sqrt(2) * h, is_periodic(line$transform))
    kernels <- points_and_images(as.matrix(lattice$at), axes)
  }
  increasing <- order(kernels$at)
  task <- list(weight = weight[kept], position = as.vector(kernels$at)[increasing],
               cell = as.integer(kernels$source[increasing] - 1), factor = c(2, -1), h = c(1, sqrt(2)) * h,
               order = if (is_kcde(line)) -1L else 0L, points = at, size = sample_draws(line), key = boot_key(),
               replicates = B)
  boot_lattice_cpp(task, run)
}

# The density of an estimate, which may be that of a distribution function.
line_density <- function(line, at, h, run) {
  density <- structure(unclass(line), class = c("kestrel_kde", "kde"))
  if (is.null(density$tol)) density$tol <- 1e-12
  pmax(line_estimate(density, at, h, run), 0)
}

# Points with steps of h / 8 wherever the density is not negligible, half a step from bounds. The trapezoid rule is as
# exact with reflection at bounds, and on a period, as on the whole line (src/core/bootstrap/lattice.hpp).
lattice_of <- function(line, h) {
  step <- h / 8
  bounds <- if (has_images(line$transform)) c(line$transform$lower, line$transform$upper) else c(-Inf, Inf)
  if (all(is.finite(bounds))) {
    cells <- max(16, ceiling(diff(bounds) / step))
    check_fits(8 * 4 * cells, "`bounds` must not be so many bandwidths apart: a lattice of ",
               format(cells, big.mark = ","), " points between them needs ")
    return(list(at = bounds[1L] + (seq_len(cells) - 0.5) * (diff(bounds) / cells)))
  }
  x <- as.vector(sample_matrix(line))[line$w > 0]
  origin <- if (is.finite(bounds[1L])) bounds[1L] else if (is.finite(bounds[2L])) bounds[2L] else min(x)
  ends <- c(if (is.finite(bounds[1L])) 0 else -Inf, if (is.finite(bounds[2L])) -1 else Inf)
  list(at = origin + (cells_near(floor((x - origin) / step), 9 * 8, ends) + 0.5) * step)
}

# The cells, by whole numbers, within `reach` of one of these and between `ends`, in order.
cells_near <- function(cell, reach, ends = c(-Inf, Inf)) {
  cell <- sort(unique(cell))
  # Runs of cells whose surroundings overlap.
  first <- c(TRUE, diff(cell) > 2 * reach + 1)
  start <- pmax(cell[first] - reach, ends[1L])
  end <- pmin(cell[c(first[-1L], TRUE)] + reach, ends[2L])
  count <- end - start + 1
  check_fits(8 * 4 * sum(count), "`h` must not be so small: a lattice for it has ",
             format(sum(count), big.mark = ","), " points, which need ")
  # As sequence(), which takes integers only.
  rep(start - cumsum(count) + count - 1, count) + seq_len(sum(count))
}

check_replicates_memory <- function(B, nodes, points) {
  check_fits(8 * B * (nodes + 3 * points), "`B` must be few enough for all replicates to fit in memory: ",
             format(B, big.mark = ","), " at ", format(points, big.mark = ","), " points need ")
}
