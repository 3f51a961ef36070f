# Densities of data within bounds, by reflection (Silverman 1986, section 2.10): what an estimate on the whole line has
# beyond a bound is folded back. That is the sum of the kernels of all images of the data in the bounds, so that the
# engines for sums compute it. It is a transform like those of R/transform.R, whose scale is that of the data.

# The `bounds` of kde() as a transform, NULL if all are infinite.
choose_reflection <- function(x, names, bounds, others) {
  if (any(others)) abort_input("`bounds` must not be given together with ", names(others)[others][1L], " = TRUE.")
  bounds <- check_bounds(bounds, names)
  check_within(x, bounds, "`bounds`")
  if (all(is.infinite(bounds))) return(NULL)
  list(type = "reflection", lower = bounds[, 1L], upper = bounds[, 2L])
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

check_within <- function(x, bounds, called) {
  ranges <- ranges_cpp(x)
  if (all(ranges[1L, ] >= bounds[, 1L] & ranges[2L, ] <= bounds[, 2L])) return(invisible())
  outside <- rowSums(x < rep(bounds[, 1L], each = nrow(x)) | x > rep(bounds[, 2L], each = nrow(x))) > 0
  abort_input("`x` must lie within ", called, ", but ", sum(outside), " of ", nrow(x),
              if (ncol(x) > 1L) " rows do not." else " values do not.")
}

is_reflected <- function(transform) identical(transform$type, "reflection")

# Without one of these, or by reflection, a density is in the units of the data.
keeps_units <- function(transform) is.null(transform) || is_reflected(transform)

is_bounded <- function(transform) is.finite(transform$lower) | is.finite(transform$upper)

# A kernel whose variables at bounds vary with others is no longer the same when it is reflected.
check_reflected_H <- function(H, transform, names) {
  if (!is_reflected(transform)) return(invisible())
  bounded <- is_bounded(transform)
  others <- H * (1 - diag(nrow(H)))
  wrong <- bounded & rowSums(others != 0) > 0
  if (any(wrong)) {
    abort_input("`H` must be zero off the diagonal for variables with bounds, but it is not for ", quoted(names[wrong]),
                ".")
  }
}

# In bandwidths. At 9 a Gaussian kernel is 3e-18 of its largest value.
reflection_reach <- function(kernel) if (is_compact(kernel)) 1 else 9

# Between two bounds 2.75 or more Gaussian bandwidths apart in the other direction, that is for h = 2.75 of their
# distance, the density is uniform to 2 exp(-pi^2 h^2 / 2) = 1.2e-16 (by its Fourier series). So wider kernels, which
# have more images, need not be summed.
widest_reflected <- 2.75

# The H by which the kernels are summed.
summed_H <- function(fhat) {
  H <- as.matrix(fhat$H)
  if (!is_reflected(fhat$transform) || is_compact(fhat$kernel)) return(H)
  widest <- widest_reflected * (fhat$transform$upper - fhat$transform$lower)
  for (k in which(sqrt(diag(H)) > widest)) H[k, k] <- widest[k]^2
  H
}

# The bounds and the reach of images, a column for each variable.
reflecting_axes <- function(fhat) {
  rbind(fhat$transform$lower, fhat$transform$upper, reflection_reach(fhat$kernel) * sqrt(diag(summed_H(fhat))))
}

# The core's sample of the data and the images within reach of the bounds. The attribute `copies` is the number of
# these over that of the data, and `mass` the sum of their weights over that of the data: the core divides densities by
# the one, and probabilities by the other. `data`: the core's sample of the data, if it is there.
reflected_data <- function(fhat, data = fhat$.sample) {
  axes <- reflecting_axes(fhat)
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
  n <- length(fhat$w)
  # So few that they need not be compared.
  more <= n / 16 || more < count_reflected_cpp(fhat$x, reflecting_axes(fhat)) - n
}

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
  images <- points_and_images(points, reflecting_axes(fhat))
  fold <- function(value) complete(as.vector(rowsum(value, images$source)))
  sums_for(fhat, images$at, list(), m, fold, plain_data(fhat))
}

# The same on axes within the bounds. Points that are images of several count for each.
folded_on_axes <- function(fhat, axes, m, complete) {
  of_axes <- reflecting_axes(fhat)
  folds <- lapply(seq_along(axes), function(k) {
    images <- points_and_images(as.matrix(axes[[k]]), of_axes[, k, drop = FALSE])
    at <- sort(unique(as.vector(images$at)))
    list(at = at, from = match(images$at, at), source = images$source)
  })
  sums_for(fhat, matrix(0, 0L, length(axes)), lapply(folds, `[[`, "at"), m,
           function(value) complete(folded_array(value, folds)), plain_data(fhat))
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
plain_data <- function(fhat) if (is.null(fhat$.sample)) sample_cpp(fhat$x, fhat$w) else fhat$.sample

# Values within the bounds of variable k, others at the bound that they exceed.
within_bounds <- function(transform, values, k) pmin(pmax(values, transform$lower[k]), transform$upper[k])

points_within_bounds <- function(transform, points) {
  for (k in seq_len(ncol(points))) points[, k] <- within_bounds(transform, points[, k], k)
  points
}

# Draws from the line, reflected until they are within the bounds.
folded <- function(transform, draws) {
  for (k in which(is_bounded(transform))) {
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
bounds_text <- function(lower, upper) {
  paste0(ifelse(is.finite(lower), "[", "("), format_short(lower), ", ", format_short(upper),
         ifelse(is.finite(upper), "]", ")"), collapse = " x ")
}
