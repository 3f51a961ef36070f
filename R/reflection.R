# Densities of data within bounds, by reflection (Silverman 1986, section 2.10), and of periodic variables: what an
# estimate on the whole line has beyond a bound is reflected there, or comes in at the other end of the period. That is
# the sum of the kernels of all images of the data, reflected ones or whole periods away, so that the engines for sums
# compute it. It is a transform like those of R/transform.R, of the type "images", whose scale is that of the data. It
# has the bounds `lower` and `upper` of each variable, which are the ends of a period where `period` is not 0.

# That transform, NULL if no variable has a finite bound or a period.
choose_images <- function(x, names, bounds, period, others) {
  argument <- if (is.null(bounds)) "period" else "bounds"
  if (any(others)) {
    abort_input("`", argument, "` must not be given together with ", names(others)[others][1L], " = TRUE.")
  }
  transform <- images_transform(names, bounds, period)
  if (!is.null(transform)) check_within(x, reflecting_bounds(transform), "`bounds`")
  transform
}

# The same of arguments alone.
images_transform <- function(names, bounds, period) {
  d <- length(names)
  bounds <- if (is.null(bounds)) cbind(rep(-Inf, d), Inf) else check_bounds(bounds, names)
  period <- if (is.null(period)) numeric(d) else check_period(period, names)
  bounds <- bounds_with_periods(bounds, period, names)
  if (all(is.infinite(bounds))) return(NULL)
  list(type = "images", lower = bounds[, 1L], upper = bounds[, 2L], period = period)
}

# The bounds that data must not exceed: not those of periods.
reflecting_bounds <- function(transform) {
  periodic <- is_periodic(transform)
  cbind(ifelse(periodic, -Inf, transform$lower), ifelse(periodic, Inf, transform$upper))
}

# The period of each variable, 0 where there is none.
check_period <- function(period, names) {
  value <- plain(period)
  if (is.logical(value)) value <- as.numeric(ifelse(is.na(value), NA, 0))
  d <- length(names)
  if (!is_numbers(value) || !length(value) %in% c(1L, d) || any(is.nan(value) | value <= 0, na.rm = TRUE)) {
    abort_input("`period` must be ", if (d > 1L) paste(d, "positive numbers, one for each column of `x`,") else
                "a positive number", " or NA where there is none, not ", describe_value(period), ".")
  }
  value <- rep(as.numeric(value), length.out = d)
  replace(value, is.na(value) | is.infinite(value), 0)
}

# Periods begin at a finite lower bound, or else at 0.
bounds_with_periods <- function(bounds, period, names) {
  for (k in which(period > 0)) {
    lower <- if (is.finite(bounds[k, 1L])) bounds[k, 1L] else 0
    upper <- lower + period[k]
    given <- bounds[k, 2L]
    if (is.finite(given) && abs(given - upper) > 1e-12 * max(abs(c(lower, upper)))) {
      abort_input("`bounds` must be as far apart as `period`, ", describe_value(period[k]),
                  if (length(names) > 1L) paste0(" for ", quoted(names[k])), ", not end at ",
                  describe_value(given), ".")
    }
    bounds[k, ] <- c(lower, upper)
  }
  bounds
}

is_periodic <- function(transform) transform$period > 0

# Values of a periodic variable within its period; those that are there stay as they are.
wrapped <- function(transform, values, k) {
  lower <- transform$lower[k]
  out <- which(values < lower | values > transform$upper[k])
  if (any(abs(values[out] - lower) > 1e15 * transform$period[k])) {
    abort_input("`period` must be above 1e-15 of the values of its variable, whose digits in it would otherwise be ",
                "lost.")
  }
  values[out] <- within_bounds(transform, lower + (values[out] - lower) %% transform$period[k], k)
  values
}

# The sample with values of periodic variables within the period, and a message that counts those that were not; `shown`
# makes text of the ends of the period.
wrapped_sample <- function(sample, transform, shown = format_short) {
  for (k in which(is_periodic(transform))) {
    x <- sample$x[, k]
    inside <- wrapped(transform, x, k)
    moved <- sum(inside != x)
    if (moved == 0) next
    inform(format(moved, big.mark = ","), " of ", format(length(x), big.mark = ","), " values of ",
           quoted(sample$names[k]), " are not from ", shown(transform$lower[k]), " to ",
           shown(transform$upper[k]), ", and whole periods are added to them.")
    sample$x[, k] <- inside
    sample["vector"] <- list(NULL)
  }
  sample
}

# A matrix of the lower and the upper bound, a row for each variable.
check_bounds <- function(bounds, names) {
  d <- length(names)
  value <- plain_points(bounds)
  if (is_frame(value)) value <- as_points(value, "bounds")
  if (is_numbers(value) && length(dim(value)) < 2L && d == 1L && length(value) == 2L) value <- t(as.vector(value))
  if (!is_numbers(value) || !identical(dim(value), c(d, 2L))) {
    abort_input("`bounds` must be ", if (d == 1L) "two numbers, the lower and the upper bound" else
                paste0("a matrix with a row for each of the ", d, " columns of `x`, its lower and its upper bound"),
                ", not ", describe_value(bounds), ".")
  }
  named <- readable(rownames(value))
  if (!is.null(named) && setequal(named, names)) value <- value[match(names, named), , drop = FALSE]
  value <- unname(value)
  storage.mode(value) <- "double"
  check_room(check_present(value, "bounds"), names, "`bounds`")
}

# `called`: what the messages call the bounds, rows of a lower and an upper one.
check_room <- function(bounds, names, called) {
  lower <- bounds[, 1L]
  upper <- bounds[, 2L]
  # Of two finite bounds the distance counts, too.
  without_room <- which(!(lower < upper) | is.finite(lower) & is.finite(upper) & is.infinite(upper - lower))
  if (length(without_room) == 0L) return(bounds)
  first <- without_room[1L]
  abort_input(called, " must leave room between the lower and the upper one",
              if (length(names) > 1L) paste0(" of ", quoted(names[first])), ", not be ", describe_value(lower[[first]]),
              " and ", describe_value(upper[[first]]), ".")
}

check_within <- function(x, bounds, called, name = "x") {
  ranges <- ranges_cpp(x)
  if (all(ranges[1L, ] >= bounds[, 1L] & ranges[2L, ] <= bounds[, 2L])) return(invisible())
  outside <- rowSums(x < rep(bounds[, 1L], each = nrow(x)) | x > rep(bounds[, 2L], each = nrow(x))) > 0
  abort_within(name, called, sum(outside), nrow(x), ncol(x))
}

abort_within <- function(name, called, outside, n, d) {
  abort_input("`", name, "` must lie within ", called, ", but ", format(outside, scientific = FALSE), " of ",
              format(n, scientific = FALSE), if (d > 1L) " rows do not." else " values do not.")
}

has_images <- function(transform) identical(transform$type, "images")

# Without one of these, or by reflection, a density is in the units of the data.
keeps_units <- function(transform) is.null(transform) || has_images(transform)

is_bounded <- function(transform) is.finite(transform$lower) | is.finite(transform$upper)

# A kernel whose variables at bounds vary with others is no longer the same when it is reflected, but is when it is
# moved.
check_H_with_images <- function(H, transform, names) {
  if (!has_images(transform)) return(invisible())
  bounded <- is_bounded(transform) & !is_periodic(transform)
  others <- H * (1 - diag(nrow(H)))
  wrong <- bounded & rowSums(others != 0) > 0
  if (any(wrong)) {
    abort_input("`H` must be zero off the diagonal for variables with bounds, but it is not for ", quoted(names[wrong]),
                ".")
  }
}

# In bandwidths. At 9 a Gaussian kernel is 3e-18 of its largest value.
image_reach <- function(kernel) if (is_compact(kernel)) 1 else 9

# For h = 2.75 of the distance of two bounds, or of half a period, the density of Gaussian kernels is uniform between
# them, to 2 exp(-pi^2 h^2 / 2) = 1.2e-16 (by its Fourier series). So wider kernels, which have more images, need not be
# summed.
widest_repeated <- 2.75

# The H by which the kernels are summed.
summed_H <- function(fhat) {
  H <- as.matrix(fhat$H)
  transform <- fhat$transform
  if (!has_images(transform) || is_compact(fhat$kernel)) return(H)
  widest <- widest_summed(transform)
  alone <- rowSums(H != 0) == 1
  for (k in which(sqrt(diag(H)) > widest & alone)) H[k, k] <- widest[k]^2
  H
}

widest_summed <- function(transform) {
  widest_repeated * (transform$upper - transform$lower) * ifelse(is_periodic(transform), 0.5, 1)
}

# For each variable a column: its bounds, the reach of images, and whether it is periodic.
image_axes <- function(fhat) {
  axes_with_reach(fhat$transform, image_reach(fhat$kernel) * sqrt(diag(summed_H(fhat))) + beyond_period(fhat))
}

axes_with_reach <- function(transform, reach) rbind(transform$lower, transform$upper, reach, is_periodic(transform))

# The core's sample of the data and the images within reach of the bounds. The attribute `copies` is the number of
# these over that of the data, and `mass` the sum of their weights over that of the data: the core divides densities by
# the one, and probabilities by the other. `data`: the core's sample of the data, if it is there.
data_with_images <- function(fhat, data = fhat$.sample) {
  axes <- image_axes(fhat)
  n <- length(fhat$w)
  rows <- count_reflected_cpp(fhat$x, axes)
  if (rows == n) return(if (is.null(data)) sample_cpp(fhat$x, fhat$w) else data)
  check_images(rows, ncol(axes))
  reflected <- reflected_cpp(fhat$x, fhat$w, axes, rows)
  w <- if (length(reflected$w) > 0L) reflected$w else ones_cpp(rows)
  structure(sample_cpp(reflected$x, w), copies = rows / n, mass = weight_sums_cpp(w)$sum / n)
}

check_images <- function(rows, d) {
  too_many <- "`bounds` must be farther apart, or the bandwidth smaller: "
  images <- paste(format(rows, big.mark = ",", digits = 7), "images of the data")
  check_fits(8 * (d + 1) * rows, too_many, images, " need ")
  if (rows > .Machine$integer.max) abort_memory(too_many, images, " are 2^31 or more.")
}

copies_of <- function(data) if (is.null(attr(data, "copies"))) 1 else attr(data, "copies")

mass_of_images <- function(data) if (is.null(attr(data, "mass"))) 1 else attr(data, "mass")

# The density is also the sum of what the estimate on the whole line has at all images of a point. It is computed so if
# that takes fewer sums: `more` is the number of images of the points, and the sums are proportional to the number of
# points and that of the data. Then images of the data, which are far more with the Gaussian kernel, need no memory.
folds_points <- function(fhat, more) {
  if (!is.null(fhat$sketch)) return(TRUE)
  n <- length(fhat$w)
  # So few that they need not be compared.
  more <= n / 16 || more < count_reflected_cpp(fhat$x, image_axes(fhat)) - n
}

# Beyond these limits values are only added to others.
within_images <- function(fhat) c(fhat$transform$lower, fhat$transform$upper)

# Whether a grid may be folded: it may lose the equal steps that the engine "scanline" needs.
folds_axes <- function(fhat) !(is_compact(fhat$kernel) && (dimension(fhat) > 1L || identical(fhat$engine, "scanline")))

# Points and their images: `at`, and `source`, the row that each is an image of.
points_and_images <- function(points, axes) {
  rows <- count_reflected_cpp(points, axes)
  check_images(rows, ncol(axes))
  images <- reflected_cpp(points, as.double(seq_len(nrow(points))), axes, rows)
  list(at = images$x, source = images$w)
}

# The task of an estimate at points within the bounds whose values are sums over their images.
folded_at_points <- function(fhat, points, m, complete) {
  images <- points_and_images(points, image_axes(fhat))
  fold <- function(value) complete(as.vector(rowsum(value, images$source)))
  sums_for(fhat, images$at, list(), m, fold, plain_data(fhat), within_images(fhat))
}

# The same on axes within the bounds. Points that are images of several count for each.
folded_on_axes <- function(fhat, axes, m, complete) {
  of_axes <- image_axes(fhat)
  folds <- lapply(seq_along(axes), function(k) {
    images <- points_and_images(as.matrix(axes[[k]]), of_axes[, k, drop = FALSE])
    at <- sort(unique(as.vector(images$at)))
    list(at = at, from = match(images$at, at), source = images$source)
  })
  sums_for(fhat, matrix(0, 0L, length(axes)), lapply(folds, `[[`, "at"), m,
           function(value) complete(folded_array(value, folds)), plain_data(fhat), within_images(fhat))
}

folded_array <- function(value, folds) {
  d <- length(folds)
  if (is.null(dim(value))) dim(value) <- length(value)
  # Each axis is folded as the first one and becomes the last.
  for (fold in folds) {
    heard()
    sizes <- dim(value)[-1L]
    rest <- matrix(value, nrow = length(fold$at))
    value <- array(t(rowsum(rest[fold$from, , drop = FALSE], fold$source)), c(sizes, max(fold$source)))
  }
  if (d == 1L) as.vector(value) else value
}

# The core's sample of the data alone.
plain_data <- function(fhat) {
  if (!is.null(fhat$.sample)) return(fhat$.sample)
  if (!is.null(fhat$sketch)) sketch_sample(fhat$sketch)$data else sample_cpp(fhat$x, fhat$w)
}

# A range of variable k within its bounds, and the images of the range that kernels reach: the ends `from` and `to`.
images_of_range <- function(transform, k, from, to, reach) {
  if (!has_images(transform) || !is_bounded(transform)[k]) return(list(from = from, to = to))
  lower <- transform$lower[k]
  upper <- transform$upper[k]
  from <- within_bounds(transform, from, k)
  to <- within_bounds(transform, to, k)
  turn <- if (is.finite(lower)) lower else upper
  if (is.finite(lower) && is.finite(upper)) {
    count <- ceiling(reach / (upper - lower)) + 1
    moves <- seq(-count, count) * (upper - lower) * if (is_periodic(transform)[k]) 1 else 2
  } else {
    moves <- 0
  }
  if (is_periodic(transform)[k]) return(list(from = from + moves, to = to + moves))
  list(from = c(from + moves, 2 * turn - to + moves), to = c(to + moves, 2 * turn - from + moves))
}

# Values within the bounds of variable k, others at the bound that they exceed.
within_bounds <- function(transform, values, k) pmin(pmax(values, transform$lower[k]), transform$upper[k])

points_within_bounds <- function(transform, points) {
  for (k in seq_len(ncol(points))) points[, k] <- within_bounds(transform, points[, k], k)
  points
}

# Draws from the line, reflected or moved until they are within the bounds.
folded <- function(transform, draws) {
  for (k in which(is_periodic(transform))) draws[, k] <- wrapped(transform, draws[, k], k)
  for (k in which(is_bounded(transform) & !is_periodic(transform))) {
    lower <- transform$lower[k]
    upper <- transform$upper[k]
    beyond <- if (is.finite(lower)) abs(draws[, k] - lower) else abs(upper - draws[, k])
    if (is.finite(lower) && is.finite(upper)) {
      beyond <- beyond %% (2 * (upper - lower))
      beyond <- pmin(beyond, 2 * (upper - lower) - beyond)
    }
    draws[, k] <- within_bounds(transform, if (is.finite(lower)) lower + beyond else upper - beyond, k)
    heard()
  }
  draws
}

# The share of the mass below points of one variable, and the inverse.
reflected_probability <- function(fhat, at, run) {
  data <- data_on_line(fhat)
  ends <- reflected_ends(fhat, data, run)
  below <- distribution_cpp(data, line_task(fhat, within_bounds(fhat$transform, at, 1L)), run)
  (below - ends[1L]) / (ends[2L] - ends[1L])
}

reflected_quantiles <- function(fhat, p, run) {
  data <- data_on_line(fhat)
  ends <- reflected_ends(fhat, data, run)
  # The last one without rounding.
  below <- ifelse(p == 1, ends[2L], pmin(ends[1L] + p * (ends[2L] - ends[1L]), ends[2L]))
  within_bounds(fhat$transform, distribution_quantiles_cpp(data, line_task(fhat, below), run), 1L)
}

# The distribution function of the data and their images at the bounds.
reflected_ends <- function(fhat, data, run) {
  bounds <- c(fhat$transform$lower, fhat$transform$upper)
  distribution_cpp(data, line_task(fhat, bounds), run)
}

# "[0, Inf) x [0, 1]".
bounds_text <- function(lower, upper) paste(each_bounds_text(lower, upper), collapse = " x ")

each_bounds_text <- function(lower, upper) {
  paste0(ifelse(is.finite(lower), "[", "("), format_short(lower), ", ", format_short(upper),
         ifelse(is.finite(upper), "]", ")"))
}

images_text <- function(transform) {
  periodic <- is_periodic(transform)
  limits <- paste0(each_bounds_text(transform$lower, transform$upper), ifelse(periodic, " periodic", ""))
  paste0(paste(limits, collapse = " x "), if (any(is_bounded(transform) & !periodic)) ", by reflection")
}
