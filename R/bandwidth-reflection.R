# Plug-in bandwidths of densities by reflection. The functionals psi_r are those of the estimate within the bounds, so
# an observation is paired with all images of the others: psi_r(g) = sum_ij p_i p_j sum_images phi_g^(r)(x_i - image of
# x_j). Without images the edges of the data at a bound would count as steep slopes.

# The sample with periods that begin half of one before the mean direction. So its variances do not depend on where the
# periods of the data begin.
centred_periods <- function(sample, transform) {
  for (k in which(is_periodic(transform))) {
    angle <- 2 * pi * ((sample$x[, k] - transform$lower[k]) / transform$period[k])
    middle <- transform$period[k] * atan2(sum(sample$w * sin(angle)), sum(sample$w * cos(angle))) / (2 * pi)
    from <- transform$lower[k] + middle - transform$period[k] / 2
    heard()
    sample$x[, k] <- transform$lower[k] + pmin((sample$x[, k] - from) %% transform$period[k], transform$period[k])
    sample$data <- NULL
  }
  sample
}

# The sample of a selector, with its covariance, and with the transform of its images where `bounds` or `period` give it
# some. `order`: of the derivative that the bandwidth is for.
sample_with_images <- function(sample, bounds, period, order) {
  if (is.null(bounds) && is.null(period)) return(with_covariance(sample))
  if (order > 0L) abort_input("`deriv.order` must be 0 with `bounds` or `period`, not ", order, ".")
  transform <- if (is_of_sketch(sample)) sketch_transform(sample, bounds, period) else
    choose_images(sample$x, sample$names, bounds, period, logical(0))
  if (is.null(transform)) return(with_covariance(sample))
  if (!is_of_sketch(sample)) sample <- wrapped_sample(sample, transform)
  c(with_covariance(selectable_sample(sample, transform)), list(transform = transform))
}

# Of a sample with its covariance: hpi() in one dimension and Hpi.diag() in several, with these functionals. Powers of
# units far from one, in which derivatives would be out of the range of numbers, are taken out.
reflected_plug_in <- function(sample, transform, run, nstage = 2L, scalest = "minim", Hstart = NULL) {
  d <- ncol(sample$x)
  if (d > most_on_grids) {
    abort_input("`H` must be given for `bounds` of more than ", most_on_grids, " variables, not selected.")
  }
  unit <- near_units(sample$cov)
  if (any(abs(log2(unit)) > 30) && !is_of_sketch(sample)) {
    x <- sample$x / rep(unit, each = nrow(sample$x))
    for (part in c("lower", "upper", "period")) transform[[part]] <- transform[[part]] / unit
    sample <- with_covariance(with_data(list(x = x, w = sample$w, names = sample$names)))
  } else {
    unit <- rep(1, d)
  }
  sample$transform <- transform
  area <- outer(unit, unit)
  found <- if (d == 1L) plug_in_1d(sample, nstage, scalest, run) else
    select_matrix(sample, nstage, "samse", "scale", if (!is.null(Hstart)) Hstart / area, TRUE, run)
  found$H <- found$H * area
  # In 1 / volume.
  found$objective <- per_volume(found$objective, unit)
  if (d > 1L) return(replace(found, "G", list(found$G * area)))
  for (name in c("h", "g1", "g2", "scale")) found[[name]] <- found[[name]] * unit
  for (r in c(8L, 6L, 4L)) {
    name <- paste0("psi", r)
    found[[name]] <- times_power(found[[name]], unit, -(r + 1))
  }
  found
}

# The images of a sample within reach of kernels with a bandwidth for each variable, and the rows that they are of, in
# order; NULL if there are none. Only these observations are within reach of any image.
images_of_sample <- function(sample, g) {
  n <- nrow(sample$x)
  axes <- axes_with_reach(sample$transform, image_reach("gaussian") * g)
  rows <- count_reflected_cpp(sample$x, axes)
  if (rows == n) return(NULL)
  check_images(rows, ncol(axes))
  # Their weights are the rows.
  reflected <- reflected_cpp(sample$x, as.double(seq_len(n)), axes, rows)
  heard()
  beyond <- seq(n + 1, rows)
  list(x = reflected$x[beyond, , drop = FALSE], source = reflected$w[beyond])
}

# The part of the different functionals of an order that images have, with a bandwidth for each variable, in the units
# of the data.
functionals_of_images <- function(sample, g, order, run) {
  images <- images_of_sample(sample, g)
  if (is.null(images)) return(0)
  near <- images$source[c(TRUE, diff(images$source) > 0)]
  heard()
  as_sample <- list(x = images$x, w = sample$w[images$source], names = sample$names)
  pilot <- new_derivative(as_sample, diag(g^2, length(g)), order, FALSE)
  found <- derivatives_of(pilot, task_at_points(pilot, sample$x[near, , drop = FALSE]), c(run, engine = "auto"))
  length(images$source) * as.vector(crossprod(found$values, sample$w[near])) / sums_of_weights(sample)$sum^2
}

# The same on a line, for every g, by cells: their images are cells again.
line_functionals_of_images <- function(sample, g, order, run) {
  if (is_of_sketch(sample) && min(g) < sample$sketch$sums) abort_wide(sample$sketch)
  image_psi_cpp(sample$data, list(g = g, order = order), core_bounds(sample$transform), run)
}

# As the core takes them, a column for each variable.
core_bounds <- function(transform) rbind(transform$lower, transform$upper, is_periodic(transform))

# LSCV of the estimate with images, in one dimension. The integral of its square is psi_0(sqrt(2) h), and an observation
# is left out with its own images.
reflected_lscv <- function(sample, h0, run) {
  scale <- sqrt(sample$cov[1L, 1L])
  functionals <- line_functionals(sample, scale, h0 / scale, run)
  sums <- sums_of_weights(sample)
  diagonal <- sums$squares / sums$sum^2
  widest <- widest_summed(sample$transform)
  curve <- function(h) {
    # That of wider kernels is the same.
    h <- pmin(h, widest)
    own <- diagonal * gaussian_at_zero(0L) / h + own_images_cpp(sample$data, h, core_bounds(sample$transform), run)
    # All at once, since they share cells.
    psi <- matrix(functionals$psi(c(sqrt(2) * h, h) / scale, 0L) / scale, ncol = 2L)
    psi[, 1L] - 2 / (1 - diagonal) * (psi[, 2L] - own)
  }
  list(curve = curve, by = functionals$by)
}

# As line_functionals(): in units of the scale.
reflected_line_functionals <- function(sample, scale, first, run, engine) {
  plain <- line_functionals(sample[names(sample) != "transform"], scale, first, run, engine)
  # Powers of other bandwidths would be out of the range of numbers.
  by_cells <- is_of_sketch(sample) || abs(log10(scale)) <= 30
  of_images <- function(g, r) {
    if (by_cells) return(line_functionals_of_images(sample, g, r, run))
    vapply(g, function(one) functionals_of_images(sample, one, r, run), 0)
  }
  list(psi = function(g, r) plain$psi(g, r) + times_power(of_images(g * scale, r), scale, r + 1), by = plain$by)
}

# As psi_order(): of y = A x, A the diagonal matrix `axes` of the sample. The modes of a sketch give those of images,
# too.
reflected_psi_order <- function(sample, g, order, run) {
  unit <- diag(axes_of_sample(sample))
  exponents <- tuple_exponents(index_tuples(length(unit), order), length(unit))
  in_units <- function(psi) psi / (prod(unit) * apply(exponents, 1L, function(r) prod(unit^r)))
  if (is_of_sketch(sample)) {
    task <- list(g = g / unit, order = order)
    psi <- in_units(image_functionals_cpp(sample$data, task, core_bounds(sample$transform), run))
    return(structure(psi, by = list(engine = "fourier", backend = "cpu")))
  }
  psi_order(sample[names(sample) != "transform"], g, order, run) +
    in_units(functionals_of_images(sample, g / unit, order, run))
}
