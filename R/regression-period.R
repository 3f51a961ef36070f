# Regression on a periodic regressor. The weight of an observation is the sum of the kernel over all whole periods, so
# that the fit is periodic. Narrow kernels are summed by the engines, over the data and their images within reach. Wide
# Gaussian kernels are summed by their Fourier series, which then has few terms.

# The period as a number, NULL if there is none.
check_regression_period <- function(period, asked) {
  period <- check_period(period, "x")
  if (period == 0) return(NULL)
  if (is_nearest(asked)) abort_input("`bwtype` must be \"fixed\" with `period`, not \"", asked$type, "\".")
  if (asked$ckerorder != 2) abort_input("`ckerorder` must be 2 with `period`, not ", asked$ckerorder, ".")
  period
}

# Of a bandwidth object, for sums that know no period.
check_no_period <- function(bws, name) {
  if (!is.null(bws$period)) abort_input("`", name, "` must be of a regression without a period here.")
}

# The sample with x within one period, and a message that counts the values that were not.
sample_within_period <- function(sample, period) {
  if (is.null(period)) return(sample)
  moved <- list(x = matrix(sample$x), names = sample$xnames)
  shown <- function(end) if (is.null(sample$dates)) format_short(end) else format(in_dates(end, sample$dates))
  sample$x <- as.vector(wrapped_sample(moved, circle_of(sample$x, period), shown)$x)
  used <- sample$w > 0
  if (any(used)) check_extent(ranges_cpp(sample$x[used]), sample$xnames, "")
  c(sample, period = period)
}

# The transform (R/reflection.R) of a periodic regressor, whose period begins at its least value.
circle_of <- function(x, period) {
  lower <- min(x)
  list(type = "images", lower = lower, upper = lower + period, period = period)
}

# Gaussian kernels up to this share of the period are summed over images. An observation is then 18 bandwidths from its
# own images, which do not count beside it, nor beside another observation, which is at most 9 bandwidths away.
widest_with_images <- 1 / 18

# The core's sample of the data and their images: within half a period of the data, and where a point has no other
# observation within 9 bandwidths, those up to 9 bandwidths beyond the nearest one count.
periodic_observations <- function(data, sample, run) {
  circle <- circle_of(sample$x, sample$period)
  reach <- sqrt(0.25 + (9 * widest_with_images)^2) * circle$period
  all <- points_and_images(matrix(data$x), matrix(c(circle$lower, circle$upper, reach, 1)))
  row <- as.integer(all$source)
  with_images <- list(x = as.vector(all$at), y = data$y[row], w = data$w[row], images = row[-seq_along(data$x)] - 1L)
  c(data, list(circle = circle, sorted = regression_cpp(with_images, run)))
}

# The widest bandwidth `h` that is summed over images. Windows of compact kernels must not be wider than the period, but
# for rounding, or else infinite.
widest_of_images <- function(circle, kernel) {
  circle$period * if (is_compact(kernel)) 0.5 * (1 + 1e-12) else widest_with_images
}

has_series <- function(data, h, asked) {
  if (is.null(data$circle)) return(rep(FALSE, length(h)))
  h > widest_of_images(data$circle, asked$ckertype)
}

# Refuses bandwidths of a user that are wider, but not infinite.
check_within_period <- function(grid, unit, data, asked, argument) {
  if (argument == "ydat" || is.null(data$circle) || !is_compact(asked$ckertype)) return(invisible())
  wide <- grid[has_series(data, grid * unit, asked) & grid < Inf]
  if (length(wide) == 0L) return(invisible())
  abort_input("`", argument, "` must be at most ", describe_value(data$circle$period / 2 / unit),
              ", a window as wide as the period, or Inf, not ", describe_value(wide[length(wide)]), ".")
}

# The widest `h` of a scan before the infinite one: wider Gaussian kernels are uniform (R/reflection.R).
widest_of_scan <- function(circle, kernel) circle$period * if (is_compact(kernel)) 0.5 else widest_repeated / 2

# ---- sums by Fourier series -----------------------------------------------------------------------------------------

# The wrapped kernel is W0(a) = sum_k g_k cos(2 pi k a / period), with g_k = exp(-t_k^2 / 2), t_k = 2 pi k h / period,
# up to a factor (Mardia & Jupp 2000, section 3.5.7). With u = a / h, the same sums of K(u) u and K(u) u^2 have the
# coefficients t_k g_k, of sines, and (1 - t_k^2) g_k. Terms below 1e-18 are left out. A compact kernel has an infinite
# bandwidth here, and one term.
series_of <- function(h, circle, kernel) {
  last <- if (is_compact(kernel)) 0 else floor(9.1 * circle$period / (2 * pi * h))
  t <- 2 * pi * seq(0, last) * h / circle$period
  g <- exp(-t^2 / 2)
  list(t = t, g = g, twice = ifelse(t > 0, 2, 1))
}

# exp(2 pi i k x / period), a column for each k = 0, ..., last.
waves_of <- function(x, circle, last) {
  turn <- exp(2i * pi * ((x - circle$lower) / circle$period))
  waves <- matrix(1 + 0i, length(x), last + 1L)
  for (k in seq_len(last)) waves[, k + 1L] <- waves[, k] * turn
  waves
}

# sum_j v_j exp(2 pi i k x_j / period), a row for each k, for the columns v of `values`.
wave_moments <- function(x, values, circle, last) {
  Reduce(`+`, lapply(parts_of(length(x)), function(rows) {
    heard()
    waves <- waves_of(x[rows], circle, last)
    crossprod(Re(waves), values[rows, , drop = FALSE]) + 1i * crossprod(Im(waves), values[rows, , drop = FALSE])
  }))
}

# The lists of vectors that of_part(indices) returns for parts of 1, ..., n, joined.
joined_parts <- function(n, of_part) {
  do.call(Map, c(list(c), lapply(parts_of(n), function(rows) {
    heard()
    of_part(rows)
  })))
}

# The sums of even or odd kernels at points with these waves: sum_j v_j V(x_j - point), V = sum_k c_k cos or sin.
even_sums <- function(waves, moments, coefficients) {
  as.vector(Re(waves) %*% (coefficients * Re(moments)) + Im(waves) %*% (coefficients * Im(moments)))
}
odd_sums <- function(waves, moments, coefficients) {
  as.vector(Re(waves) %*% (coefficients * Im(moments)) - Im(waves) %*% (coefficients * Re(moments)))
}

# The sums of local fits at points: of w K u^q and, with `y` relative to the mean, of w K u^q y.
series_sums <- function(waves, moments, series) {
  even <- series$twice * series$g
  odd <- even * series$t
  list(s0 = even_sums(waves, moments[, 1L], even), r0 = even_sums(waves, moments[, 2L], even),
       s1 = odd_sums(waves, moments[, 1L], odd), r1 = odd_sums(waves, moments[, 2L], odd),
       s2 = even_sums(waves, moments[, 1L], even * (1 - series$t^2)))
}

# The fits of these sums, with the weights w_j (W0 constant - W1 slope) of observations in them (as LocalFit in
# shared/local_fit.hpp). `whole`: the largest that sums can be. Those below 1e-4 of it have lost digits.
series_fits <- function(sums, linear, whole) {
  mean <- sums$s1 / sums$s0
  fit <- list(value = sums$r0 / sums$s0, constant = 1 / sums$s0, slope = numeric(length(mean)),
              lost = !(sums$s0 >= 1e-4 * whole))
  if (!linear) return(fit)
  spread <- sums$s2 - sums$s1 * mean
  fit$lost <- fit$lost | !(spread >= 1e-4 * whole)
  fit$value <- fit$value - mean * (sums$r1 - sums$r0 * mean) / spread
  fit$constant <- fit$constant + mean^2 / spread
  fit$slope <- mean / spread
  fit
}

# Gradients with their weights, as LocalFitter::gradient() in core/regression/local_fit.cpp.
series_gradients <- function(sums, linear, h) {
  mean <- sums$s1 / sums$s0
  over <- h * if (linear) sums$s2 - sums$s1 * mean else sums$s0
  list(value = (sums$r1 - sums$r0 * mean) / over, constant = -mean / over, slope = -1 / over)
}

# Products of the wrapped kernels have the convolution of their coefficients.
squared_series <- function(series) {
  n <- length(series$g)
  g <- c(rev(series$g[-1L]), series$g)
  b <- c(-rev(series$g[-1L] * series$t[-1L]), series$g * series$t)
  product <- function(a, b) stats::convolve(a, rev(b), type = "open")[seq(2L * n - 1L, 4L * n - 3L)]
  twice <- rep(c(1, 2), c(1L, 2L * n - 2L))
  list(constant = twice * product(g, g), mixed = twice * product(g, b), slope = -twice * product(b, b))
}

# sum_j l_j^2 error2_j at points, of fits or gradients with weights l_j. `moments`: of w^2 error2.
series_variances <- function(waves, moments, squared, fit) {
  even <- function(coefficients) even_sums(waves, moments, coefficients)
  mixed <- odd_sums(waves, moments, squared$mixed)
  pmax(fit$constant^2 * even(squared$constant) - 2 * fit$constant * fit$slope * mixed +
         fit$slope^2 * even(squared$slope), 0)
}

# The fit at one point by sums over all images, about their means. `own`: an observation that is left out. The place of
# an image is relative to the point. Wider kernels are uniform (R/reflection.R).
image_fit <- function(data, h, asked, point, own, error2 = NULL) {
  heard()
  period <- data$circle$period
  h <- min(h, widest_repeated / 2 * period)
  others <- if (is.null(own)) seq_along(data$x) else -own
  nearest <- (data$x[others] - point + period / 2) %% period - period / 2
  copies <- seq_len(2 * ceiling(0.5 + 9 * h / period) + 1)
  z <- outer(nearest, period * (copies - mean(copies)), `+`)
  w <- data$w[others]
  least <- min(abs(nearest))
  weight <- w * exp(-(abs(z) - least) * (abs(z) + least) / (2 * h^2))
  y <- data$y[others]
  centre <- if (is.null(own)) y[which.min(abs(nearest))] else data$y[own]
  s0 <- sum(weight)
  mean <- sum(weight * z) / s0
  mean_y <- sum(weight * (y - centre)) / s0
  off <- z - mean
  spread <- sum(weight * off^2)
  slope <- if (spread > 0) sum(weight * off * (y - centre - mean_y)) / spread else 0
  linear <- asked$regtype == "ll" && spread > 0
  found <- list(value = centre + mean_y - if (linear) slope * mean else 0)
  if (is.null(error2)) return(found)
  l <- rowSums(weight / s0 - if (linear) weight * off * mean / spread else 0)
  over <- if (linear) spread else s0 * h^2
  found$weights <- l
  found$variance <- sum(l^2 * error2)
  found$gradient <- if (linear) slope else sum(weight * off * (y - centre - mean_y)) / over
  found$gradient_variance <- sum((rowSums(weight * off) / over)^2 * error2)
  found
}

# The moments of the data for fits at any points, and what the fits need besides.
series_source <- function(data, h, asked) {
  series <- series_of(h, data$circle, asked$ckertype)
  centre <- stats::weighted.mean(data$y, data$w)
  moments <- wave_moments(data$x, data$w * cbind(1, data$y - centre), data$circle, length(series$g) - 1L)
  even <- series$twice * series$g
  own <- sum(even)
  list(series = series, last = length(even) - 1L, moments = moments, centre = centre,
       linear = asked$regtype == "ll" && length(even) > 1L, own = own, own2 = sum(even * (1 - series$t^2)),
       whole = sum(data$w) * own)
}

# For every observation the fit without it, the fit, and its leverage.
series_at_data <- function(data, h, asked) {
  source <- series_source(data, h, asked)
  joined_parts(length(data$x), function(rows) {
    waves <- waves_of(data$x[rows], data$circle, source$last)
    sums <- series_sums(waves, source$moments, source$series)
    w <- data$w[rows]
    others <- sums
    others$s0 <- sums$s0 - w * source$own
    others$s2 <- sums$s2 - w * source$own2
    others$r0 <- sums$r0 - w * (data$y[rows] - source$centre) * source$own
    whole <- series_fits(sums, source$linear, source$whole)
    others <- series_fits(others, source$linear, source$whole)
    fit <- list(mean = source$centre + whole$value, loo = source$centre + others$value,
                leverage = w * source$own * whole$constant)
    for (i in which(others$lost)) fit$loo[i] <- image_fit(data, h, asked, data$x[rows[i]], rows[i])$value
    for (i in which(whole$lost)) {
      one <- image_fit(data, h, asked, data$x[rows[i]], NULL, 0)
      fit$mean[i] <- one$value
      fit$leverage[i] <- one$weights[rows[i]]
    }
    fit
  })
}

# The sums of regression_cv_cpp() at one bandwidth, for such a fit.
series_totals <- function(data, fit) {
  list(squares = sum(data$w * (data$y - fit$loo)^2), unsupported = 0L, insample = sum(data$w * (data$y - fit$mean)^2),
       trace = sum(fit$leverage))
}

# What regression_fit_cpp() returns.
series_at_points <- function(data, h, asked, points, error2, gradients) {
  source <- series_source(data, h, asked)
  squared <- squared_series(source$series)
  errors <- length(error2) > 0L
  moments2 <- if (errors) wave_moments(data$x, matrix(data$w^2 * error2), data$circle, 2L * source$last)
  at <- joined_parts(length(points), function(rows) {
    waves <- waves_of(points[rows], data$circle, 2L * source$last)
    sums <- series_sums(waves[, seq_along(source$series$g), drop = FALSE], source$moments, source$series)
    fit <- series_fits(sums, source$linear, source$whole)
    slope <- series_gradients(sums, source$linear, h)
    error_of <- function(fit) {
      if (errors) sqrt(series_variances(waves, moments2[, 1L], squared, fit)) else rep(NA_real_, length(rows))
    }
    at <- list(mean = source$centre + fit$value, se = error_of(fit), grad = slope$value, gerr = error_of(slope))
    for (i in which(fit$lost)) {
      one <- image_fit(data, h, asked, points[rows[i]], NULL, if (errors) error2 else NA_real_)
      at$mean[i] <- one$value
      at$se[i] <- sqrt(one$variance)
      at$grad[i] <- one$gradient
      at$gerr[i] <- sqrt(one$gradient_variance)
    }
    at
  })
  if (gradients) at else at[c("mean", "se")]
}

# What regression_at_data_cpp() returns.
series_with_errors <- function(data, h, asked, needed) {
  fit <- series_at_data(data, h, asked)
  error2 <- (data$y - fit$loo)^2
  at <- series_at_points(data, h, asked, data$x, if (needed[["errors"]]) error2 else numeric(0), needed[["gradients"]])
  at$mean <- fit$mean
  c(at, list(resid = data$y - fit$mean, loo = fit$loo, error2 = error2), series_totals(data, fit),
    list(measures = measures_at(data$y, fit$mean, data$w)))
}

# ---- images or series -----------------------------------------------------------------------------------------------

# What regression_cv_cpp() returns.
periodic_totals <- function(data, h, asked, run) {
  wide <- has_series(data, h, asked)
  totals <- regression_cv_cpp(data$sorted, local_fits(h[!wide], asked), run)
  if (!any(wide)) return(totals)
  of_wide <- lapply(h[wide], function(one) series_totals(data, series_at_data(data, one, asked)))
  lapply(stats::setNames(nm = names(totals)), function(name) {
    value <- numeric(length(h))
    value[!wide] <- totals[[name]]
    value[wide] <- vapply(of_wide, function(one) as.numeric(one[[name]]), 0)
    value
  })
}
