# Bandwidths in closed form, and the direct plug-in bandwidth in one dimension.

# The sample of a selector: rows of positive weight, their effective number, covariance, mean (for C++) and names.
# Weights enter the rates and divisors through n_eff = (sum w)^2 / sum w^2, Kish's effective sample size. `data` is the
# core's sample of x and w, whose Fourier grid is laid in units of `root`, a root of its covariance. A selector may work
# with y = axes (x - mean); `cov` is then that of y.
# `sketch`: whether x may be a sketch.
selector_sample <- function(x, w, na.action = stats::na.fail, sketch = FALSE) {
  with_covariance(if (sketch) check_sample_or_sketch(x, w, na.action) else check_sample(x, w, na.action))
}

with_covariance <- function(sample) {
  sums <- sums_of_weights(sample)
  left_out <- length(sample$w) - sums$positive
  used <- rows_with_weight(sample, sums)
  if (left_out > 0) sums <- weight_sums_cpp(used$w)
  n_eff <- check_effective_size(used$w, sums)
  data <- if (is.null(used$data)) sample_cpp(used$x, used$w) else used$data
  found <- sample_covariance_cpp(data)
  cov <- found$cov * (n_eff / (n_eff - 1))
  if (!is.null(colnames(used$x))) dimnames(cov) <- rep(list(colnames(used$x)), 2L)
  check_spread(used$x, sample$names, cov, left_out, length(used$w))
  list(x = used$x, w = used$w, n = n_eff, cov = cov, names = sample$names, data = data, mean = found$mean,
       root = lower_root_cpp(unname(cov)), sketch = used$sketch)
}

# The sample of y = inverse x, on which a selector works. Only direct sums compute y.
transformed_sample <- function(sample, inverse) {
  cov <- inverse %*% sample$cov %*% t(inverse)
  sample$cov <- (cov + t(cov)) / 2
  sample$axes <- inverse %*% axes_of_sample(sample)
  sample
}

axes_of_sample <- function(sample) if (is.null(sample$axes)) diag(ncol(sample$x)) else sample$axes

# A sample of one variable in deviations from the mean, in units of a scale.
standardised <- function(sample, scale) {
  x <- divided_cpp(sample$x, sample$mean, scale)
  list(x = x, w = sample$w, n = sample$n, data = sample_cpp(x, sample$w))
}

# The sample compared with its covariance without correlations, which diagonal matrices do not follow.
without_correlations <- function(sample) {
  d <- ncol(sample$x)
  sample$cov <- sample$cov * diag(d)
  sample$root <- diag(sqrt(rowSums(sample$root^2)), d)
  sample
}

# Powers of two near the standard deviations. In these units a sample keeps every digit, and products and quotients of
# its variances neither overflow nor underflow.
near_units <- function(cov) unname(2^round(log2(diag(cov)) / 2))

# The sample in such units. If they are so far from one that powers of its root would be out of the range of numbers,
# the data are divided.
in_units <- function(sample, unit) {
  if (all(abs(log2(unit)) <= 64)) {
    sample$axes <- axes_of_sample(sample) / unit
    sample$cov <- sample$cov / outer(unit, unit)
    return(sample)
  }
  if (is_of_sketch(sample)) abort_input("`x` must be in units nearer to 1 if it is a sketch: rescale its columns.")
  sample <- divided_sample(sample, sample$mean, unit)
  sample$root <- lower_root_cpp(unname(sample$cov))
  sample
}

# (x - mean) / unit in place of x.
divided_sample <- function(sample, mean, unit) {
  sample$x <- divided_cpp(sample$x, mean, unit)
  sample$mean <- 0 * mean
  sample$data <- sample_cpp(sample$x, sample$w)
  sample$cov <- sample$cov / outer(unit, unit)
  sample
}

# value * unit^power, in two steps, since one factor may be out of range where their product is not.
times_power <- function(value, unit, power) {
  half <- trunc(power / 2)
  product <- value * unit^half * unit^(power - half)
  product[value == 0] <- 0 # not 0 * Inf
  product
}

# Converts values per volume in such units to values per volume.
per_volume <- function(value, unit) times_power(value, 2, -sum(log2(unit)))

# `more` is the name of the function for several columns, if there is one.
check_one_column <- function(sample, name, more = NULL) {
  if (ncol(sample$x) > 1L) {
    abort_input("`x` must have one column for ", name, "(), not ", ncol(sample$x),
                if (!is.null(more)) paste0("; ", more, "() takes more"), ".")
  }
}

check_derivative_order <- function(deriv.order, offered = TRUE) {
  r <- check_count(deriv.order, "deriv.order", 0L)
  if (!offered && r > 0L) abort_input("`deriv.order` must be 0, the density itself, not ", r, ".")
  r
}

#' Normal reference bandwidths
#'
#' The bandwidths of a Gaussian kernel that minimise the asymptotic mean integrated squared error when the data are
#' normal: a scalar (`hns`), a full matrix (`Hns`) and a diagonal one (`Hns.diag`).
#'
#' With S the sample covariance (divisor n - 1) and r the derivative order,
#' \deqn{H = (4 / (n (d + 2r + 2)))^{2/(d + 2r + 4)} S,}{H = (4 / (n (d + 2r + 2)))^(2/(d + 2r + 4)) S,}
#' and `hns` is the square root of this for d = 1. `Hns.diag` is h^2 diag(S) with
#' \deqn{h^{d+4} = 4 d |\Delta|^{1/2} / (n (2 tr \Delta^{-2} + tr^2 \Delta^{-1})),}{h^(d+4) = 4 d |D|^(1/2) / (n (2 tr
#' D^-2 + (tr D^-1)^2)),}
#' D the sample correlation matrix: it takes into account the correlation, which a diagonal H cannot follow.
#'
#' @inheritParams kde
#' @param x a numeric vector (d = 1), or a matrix or data frame with n rows and d columns, or a sketch made by
#'   [kde_sketch()].
#' @param deriv.order the order r of the density derivative that the bandwidth is for; 0 is the density.
#' @param w weights, one for each row of `x`, non-negative; they enter through the weighted covariance and the
#'   effective sample size (sum w)^2 / sum w^2 in place of n.
#' @return `hns`: a positive number, in the units of `x`. `Hns`, `Hns.diag`: a d x d matrix, in their squares.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - data that are missing, infinite or not numeric, and n that is not larger than d;
#'   - columns that are constant or linearly dependent, which the message names;
#'   - variances outside of 1e-300 to 1e300;
#'   - weights that leave one observation in effect.
#' @section Cost: One pass over the data, O(n d^2).
#' @references Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall, sections 3.2 and 4.7.
#'
#'   Chacon, J.E. & Duong, T. (2018) *Multivariate Kernel Smoothing and Its Applications*. Chapman & Hall/CRC.
#' @seealso [hpi()], \code{\link{Hpi}()}
#' @examples
#' hns(faithful$eruptions)
#' Hns(faithful)
#' Hns.diag(faithful)
#' @export
hns <- function(x, deriv.order = 0, ..., w = NULL, na.action = stats::na.fail) {
  check_arguments("hns", given_names(...))
  r <- check_derivative_order(deriv.order)
  sample <- selector_sample(x, w, na.action, sketch = TRUE)
  check_one_column(sample, "hns", "Hns")
  reference_h(sample$n, 1L, r) * sqrt(sample$cov[1L, 1L])
}

#' @rdname hns
#' @export
Hns <- function(x, deriv.order = 0, ..., w = NULL, na.action = stats::na.fail) {
  check_arguments("Hns", given_names(...))
  r <- check_derivative_order(deriv.order)
  sample <- selector_sample(x, w, na.action, sketch = TRUE)
  d <- ncol(sample$x)
  reference_h(sample$n, d, r)^2 * sample$cov
}

# The h for which h^2 S is the normal reference bandwidth for derivatives of order r (Chacon, Duong & Wand 2011, 3.2).
reference_h <- function(n, d, r) (4 / (n * (d + 2 * r + 2)))^(1 / (d + 2 * r + 4))

#' @rdname hns
#' @export
Hns.diag <- function(x, ..., w = NULL, na.action = stats::na.fail) {
  check_arguments("Hns.diag", given_names(...))
  sample <- selector_sample(x, w, na.action)
  d <- ncol(sample$x)
  correlation <- stats::cov2cor(sample$cov)
  inverse <- solve(correlation)
  curvature <- 2 * sum(inverse^2) + sum(diag(inverse))^2
  # The determinant of many columns may underflow.
  log_root <- as.numeric(determinant(correlation)$modulus) / 2
  h <- exp((log(4 * d / (sample$n * curvature)) + log_root) / (d + 4))
  structure(h^2 * diag(diag(sample$cov), d), dimnames = dimnames(sample$cov))
}

#' Plug-in bandwidth in one dimension
#'
#' The direct plug-in bandwidth of a Gaussian kernel. The unknown curvature of the density, psi_4 = E f''''(X), is
#' itself estimated by a kernel sum over all pairs of observations. The bandwidth of that sum comes from psi_6, and so
#' on. After `nstage` stages a normal density is assumed.
#'
#' The standard deviation of skewed or heavy-tailed data is large, and a bandwidth that starts from it is too large.
#' The interquartile range does not follow the tails (Janssen, Marron, Veraverbeke & Sarle 1995).
#'
#' With `bounds` or a `period` the functionals are those of the estimate that [kde()] makes with them: pairs of an
#' observation with images of others count. This is the default bandwidth of [kde()].
#'
#' The functionals are summed over all pairs exactly. \pkg{ks} and \pkg{KernSmooth} put the data into 401 bins first,
#' so their numbers differ from these, by less than one per cent as a rule.
#'
#' @inheritParams kde
#' @param x a numeric vector, a matrix or data frame with one column, or a sketch of one made by [kde_sketch()].
#' @param nstage number of stages, 1 or 2.
#' @param binned,bgridsize accepted for scripts written for \pkg{ks}, without effect: the sums are exact.
#' @param deriv.order the order of the derivative that the bandwidth is for: 0, the density itself, to 2, or 3 with
#'   one stage.
#' @param scalest scale of the normal density of the last stage: `"minim"`, the smaller of the standard deviation and
#'   the interquartile range / 1.349, as in \pkg{KernSmooth} and \pkg{ks}, or `"stdev"`, the standard deviation. It is
#'   the standard deviation also if the interquartile range is 0.
#' @param w weights, one for each observation, non-negative. They enter the sums, the diagonal terms and, through the
#'   effective sample size, the rates.
#' @param amise if TRUE, a list with the estimated error and a record of the stages is returned.
#' @param bounds,period as in [kde()], for `deriv.order = 0`.
#' @param backend as in [hlscv()].
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @param precision `"double"`, or `"single"` to let a GPU compute in single precision, see [engines].
#' @return A positive number in the units of `x`. With `amise = TRUE` a list:
#'   \item{h}{the bandwidth}
#'   \item{H}{its square, a 1 x 1 matrix}
#'   \item{objective}{the estimated asymptotic mean integrated squared error at h, in units of 1/x}
#'   \item{convergence}{0}
#'   \item{evaluations, seconds}{the effort}
#'   \item{engine, backend, device}{how the sums were computed; `device` is the GPU's name}
#'   \item{scale, psi8, g1, psi6, g2, psi4}{the stages; NA if `nstage = 1` leaves them out, and Inf or 0 if they are
#'     beyond the range of numbers in the units of `x`}
#' @section Errors: Errors of class `kestrel_error_input` are for data that are missing, infinite, constant or not
#'   numeric, or have a variance outside of 1e-300 to 1e300. They are also for weights that leave one observation in
#'   effect, and for data outside of `bounds`. The class is `kestrel_error_backend` for a backend that this build or
#'   machine lacks or that does not take the task. It is `kestrel_error_memory` if the memory of a GPU that was asked
#'   for does not suffice: at most 68 bytes for each observation and 128 MiB. [engines] has the limits of a GPU.
#' @section Cost: O(n) for each stage, by moments of the observations in cells. For a few hundred observations, where it
#'   is less, and on a GPU the cost is O(n^2).
#' @references Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall, section 3.6.
#'
#'   Janssen, P., Marron, J.S., Veraverbeke, N. & Sarle, W. (1995) Scale measures for bandwidth selection. *Journal of
#'   Nonparametric Statistics* **5**, 359-380.
#'
#'   Andrzejewski, W., Gramacki, A. & Gramacki, J. (2013) Graphics processing units in acceleration of bandwidth
#'   selection for kernel density estimation. *International Journal of Applied Mathematics and Computer Science*
#'   **23**, 869-885.
#' @seealso [Hpi()] for several dimensions, [kde()]
#' @examples
#' hpi(faithful$eruptions)
#' hpi(islands)
#' hpi(islands, scalest = "stdev")
#' hpi(islands, bounds = c(0, Inf)) # that of kde(islands, bounds = c(0, Inf))
#' @export
hpi <- function(x, nstage = 2, binned, bgridsize, deriv.order = 0, ..., scalest = c("minim", "stdev"), amise = FALSE,
                bounds = NULL, period = NULL, w = NULL, na.action = stats::na.fail, backend = "auto",
                precision = c("double", "single"), threads = NULL, verbose = NULL) {
  check_arguments("hpi", given_names(...), c("binned", "bgridsize"))
  order <- check_derivative_order(deriv.order)
  amise <- check_flag(amise, "amise")
  nstage <- check_stages(nstage)
  check_plug_in_order(order, nstage)
  scalest <- check_choice(scalest, c("minim", "stdev"), "scalest")
  given <- check_sample_or_sketch(x, w, na.action)
  check_one_column(given, "hpi", if (is.null(bounds) && is.null(period)) "Hpi" else "Hpi.diag")
  sample <- sample_with_images(given, bounds, period, order)
  run <- line_run(threads, backend, precision)
  found <- with_search_progress(asked_verbose(verbose), "Plug-in bandwidth", function(progress) {
    run$progress <- progress
    if (has_images(sample$transform)) return(reflected_plug_in(sample, sample$transform, run, nstage, scalest))
    plug_in_1d(sample, nstage, scalest, run, order = order)
  })
  if (amise) as_record(found, "Plug-in bandwidth") else found$h
}

check_stages <- function(nstage) {
  nstage <- plain(nstage)
  if (!is_number(nstage) || !nstage %in% 1:2) abort_input("`nstage` must be 1 or 2, not ", describe_value(nstage), ".")
  as.integer(nstage)
}

# The orders of derivatives for which the functionals of a plug-in rule, up to psi_10, are there.
check_plug_in_order <- function(order, nstage, also = NULL) {
  most <- 4L - nstage
  if (order <= most) return(invisible())
  abort_input("`deriv.order` must be at most ", most, " for a plug-in bandwidth with ",
              if (nstage == 1L) "one stage" else "two stages", ", not ", order,
              if (!is.null(also)) paste0("; `", also, "` gives a bandwidth"), ".")
}

# The two-stage direct plug-in rule (Wand & Jones 1995, section 3.6), in units of the scale of the data. Each bandwidth
# g for psi_s balances the leading bias and the diagonal terms. For a derivative of order r the AMISE is R(phi^(r)) / (n
# h^(2r + 1)) + h^4 |psi_(2r + 4)| / 4 (Wand & Jones 1995, section 2.12). Here 1 / R(phi^(r)) is 2 sqrt(pi) 4^r r! /
# (2r)!.
plug_in_1d <- function(sample, nstage, scalest, run, engine = "auto", order = 0L) {
  started <- proc.time()[["elapsed"]]
  n <- sample$n
  scale <- sqrt(sample$cov[1L, 1L])
  if (scalest == "minim") scale <- lesser_scale(sample, scale, run)
  two <- nstage == 2L
  last <- 2L * order + 4L
  normal <- psi_normal(matrix(1), last + if (two) 4L else 2L)
  g1 <- if (two) balanced_bandwidth(last + 2L, normal, n) else NA_real_
  run <- check_sketch_run(sample, run)
  functionals <- line_functionals(sample, scale, if (two) g1 else balanced_bandwidth(last, normal, n), run, engine)
  ahead <- if (two) functionals$psi(g1, last + 2L) else normal
  g2 <- balanced_bandwidth(last, ahead, n)
  psi <- functionals$psi(g2, last)
  roughness <- 2 * sqrt(pi) * 4^order * factorial(order) / factorial(2 * order)
  h <- ((2 * order + 1) / (roughness * abs(psi) * n))^(1 / (2 * order + 5))
  # The objective is the AMISE, in the units of the squared derivative times x.
  amise <- times_power(1 / (roughness * n * h^(2 * order + 1)) + h^4 * abs(psi) / 4, scale, -(2 * order + 1))
  found <- list(h = h * scale, H = matrix((h * scale)^2, 1L, 1L),
                times_power(if (two) normal else NA_real_, scale, -(last + 5)), g1 = g1 * scale,
                times_power(ahead, scale, -(last + 3)), g2 = g2 * scale, times_power(psi, scale, -(last + 1)),
                scale = scale, objective = amise, convergence = 0L, evaluations = 1L)
  names(found)[c(3L, 5L, 7L)] <- paste0("psi", last + c(4L, 2L, 0L))
  c(found, functionals$by(), list(seconds = proc.time()[["elapsed"]] - started))
}

# The smaller of the standard deviation and the interquartile range / 1.349, that of normal data, if it is not 0.
lesser_scale <- function(sample, sd, run) {
  prob <- c(0.25, 0.75)
  quartiles <- if (is_of_sketch(sample)) sketch_quartiles(sample, prob) else
    weighted_quantile(standardised(sample, 1)$x, sample$w, prob, run)
  robust <- diff(unname(quartiles)) / 1.349
  if (robust > 0) min(sd, robust) else sd
}

# Says once in a session that weights, which ks leaves out of its default bandwidths, enter ours.
inform_weighted <- function(w) {
  if (effective_size(weight_sums_cpp(w)) > length(w) * (1 - 1e-12)) return(invisible())
  inform_once("weighted bandwidth", "`w` enters the default bandwidth, which ks computes without weights: `h` or `H` ",
              "takes that of a selector called without `w`.")
}
