# Plug-in bandwidths of densities by reflection. The functionals psi_r are those of the estimate within the bounds, so an
# observation is paired with all images of the others: psi_r(g) = sum_ij p_i p_j sum_images phi_g^(r)(x_i - image of
# x_j). Without images the edges of the data at a bound would count as steep slopes. Each is the mean of a derivative of
# the estimate by reflection at the data, so that it takes linear time.

# Of a sample with its covariance: hpi() in one dimension and Hpi.diag() in several, with these functionals. Powers of
# units far from one, in which derivatives would be out of the range of numbers, are taken out.
reflected_plug_in <- function(sample, transform, run) {
  d <- ncol(sample$x)
  if (d > most_on_grids) {
    abort_input("`H` must be given for `bounds` of more than ", most_on_grids, " variables, not selected.")
  }
  unit <- near_units(sample$cov)
  if (any(abs(log2(unit)) > 30)) {
    x <- sample$x / rep(unit, each = nrow(sample$x))
    transform[c("lower", "upper")] <- list(transform$lower / unit, transform$upper / unit)
    sample <- with_covariance(with_data(list(x = x, w = sample$w, names = sample$names)))
  } else {
    unit <- rep(1, d)
  }
  sample$transform <- transform
  found <- if (d == 1L) plug_in_1d(sample, 2L, "minim", run) else
    select_matrix(sample, 2L, "samse", "scale", NULL, TRUE, run)
  found$H <- found$H * outer(unit, unit)
  # In 1 / volume.
  found$objective <- per_volume(found$objective, unit)
  found
}

# The different functionals of an order, with a bandwidth for each variable, in the units of the data.
reflected_functionals <- function(sample, g, order, run) {
  fhat <- gaussian_density(sample, diag(g^2, length(g)))
  fhat$transform <- sample$transform
  data <- reflected_data(fhat, sample$data)
  pilot <- new_derivative(sample, summed_H(fhat), order, FALSE)
  pilot$.sample <- data
  found <- derivatives_of(pilot, task_at_points(pilot, sample$x), c(run, engine = "auto"))
  structure(copies_of(data) * as.vector(crossprod(found$values, sample$w)) / weight_sums_cpp(sample$w)$sum,
            by = list(engine = found$engine, backend = "cpu"))
}

# As line_functionals(): in units of the scale.
reflected_line_functionals <- function(sample, scale, run) {
  by <- NULL
  psi <- function(g, r) {
    value <- reflected_functionals(sample, g * scale, r, run)
    by <<- attr(value, "by")
    times_power(as.vector(value), scale, r + 1)
  }
  list(psi = psi, by = function() by)
}

# As psi_order(): of y = A x, A the diagonal matrix `axes` of the sample.
reflected_psi_order <- function(sample, g, order, run) {
  unit <- diag(axes_of_sample(sample))
  value <- reflected_functionals(sample, g / unit, order, run)
  exponents <- tuple_exponents(index_tuples(length(unit), order), length(unit))
  structure(as.vector(value) / (prod(unit) * apply(exponents, 1L, function(r) prod(unit^r))), by = attr(value, "by"))
}
