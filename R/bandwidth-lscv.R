# Least squares cross-validation: the objective, and in one dimension its global minimum over a range of bandwidths.

# The kernels whose convolution with themselves an engine knows.
lscv_kernels <- function() c("gaussian", polynomial_kernels())

#' Least squares cross-validation: the objective
#'
#' An estimate of the integrated squared error of a density estimate, less the integral of the squared density, as a
#' function of the bandwidth; [hlscv()] and \code{\link{Hlscv}()} find its minimum. In one dimension, with p_i = w_i /
#' sum(w),
#' \deqn{LSCV(h) = \sum_{i,j} p_i p_j (K*K)_h(x_i - x_j) - 2 c \sum_{i \ne j} p_i p_j K_h(x_i - x_j),}{LSCV(h) = sum_ij
#' p_i p_j (K*K)_h(x_i - x_j) - 2 c sum_(i != j) p_i p_j K_h(x_i - x_j),}
#' K_h(u) = K(u/h)/h, and K*K the convolution of the kernel with itself. The first sum is the integral of the squared
#' estimate.
#'
#' With `form = "unbiased"`, c = 1 / (1 - sum_i p_i^2), which makes the second sum an unbiased estimate of the integral
#' of the true density times its expected estimate. For equal weights the sums have the divisors n^2 and n(n - 1):
#' \deqn{n^{-2} \sum_{i,j} (K*K)_h(x_i - x_j) - 2 / (n (n-1)) \sum_{i \ne j} K_h(x_i - x_j).}{n^-2 sum_ij (K*K)_h(x_i -
#' x_j) - 2 / (n (n - 1)) sum_(i != j) K_h(x_i - x_j).}
#' With `form = "paper"`, c = 1: the divisor is n^2 in both, as in Andrzejewski et al. (2013, eq. 24) and
#' [stats::bw.ucv()].
#'
#' In several dimensions the kernel is Gaussian, K_H the N(0, H) density, and K_H*K_H = K_2H.
#'
#' @inheritParams kde
#' @param x a numeric vector, matrix or data frame, one observation a row, or a sketch made by
#'   [kde_sketch()].
#' @param H,h the bandwidths, one of the two. `h` is a vector of positive numbers in the units of `x`: half the width of
#'   the support of a compact kernel, and the standard deviation of the Gaussian one. `H` is one matrix, in squared
#'   units of `x` (h^2 in one dimension). In several dimensions `h` means h^2 times the identity matrix.
#' @param w weights, one for each observation, non-negative; observations of weight 0 are left out.
#' @param form `"unbiased"` or `"paper"`.
#' @param kernel `"gaussian"`; in one dimension also `"epanechnikov"`, `"uniform"`, `"triangular"`, `"biweight"`,
#'   `"triweight"` or `"tricube"`.
#' @param backend `"cpu"`, `"cuda"` (sums over all pairs on an NVIDIA GPU, with the Gaussian kernel) or `"auto"`, see
#'   [engines].
#' @param precision `"double"`, or `"single"` to let a GPU compute in single precision, see [engines]. The error is then
#'   at most 1e-5 of the largest of the terms whose sum is the value.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @return A vector as long as `h`, or one number for `H`, in units of x^-d. The error of each value is below 1e-12 (in
#'   three dimensions 1e-9) of the sum of the absolute values of its terms, in single precision 1e-5.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - data that are missing, infinite or not numeric, fewer than two observations, and more than 256 columns;
#'   - bandwidths that are not positive or below 1e-300 of the largest value;
#'   - a matrix that is not symmetric positive definite;
#'   - weights that leave one observation in effect;
#'   - an unknown kernel.
#'
#'   The class is `kestrel_error_backend` for a backend that this build or machine lacks or that does not take the task.
#'   It is `kestrel_error_memory` if the memory of a GPU that was asked for does not suffice. In two and three
#'   dimensions and above 50,000 observations it is also for bandwidths that need a grid of more than 1 GB. [engines]
#'   has the limits of a GPU.
#' @section Cost: In one dimension the Gaussian kernel takes O(n) to prepare, and then some microseconds a bandwidth for
#'   any n. The compact kernels take O(n log n), and then O(n) a bandwidth. In two and three dimensions the cost is
#'   O(n), and then a time for each bandwidth that does not depend on n. In more dimensions, for less than 2,000
#'   observations (in three dimensions 7,500) and on a GPU it is O(n^2 d).
#'
#'   Memory is O(n), measured 100 to 700 bytes for each observation. In two and three dimensions a grid of at most 1 GB
#'   is added, which grows with the spread of the data in bandwidths. For 200,000 normal observations of two variables
#'   the total is 0.06 GB at the normal reference and 0.8 GB at a thousandth of the standard deviations. For three
#'   variables it is 0.3 GB at the normal reference.
#' @references Rudemo, M. (1982) Empirical choice of histograms and kernel density estimators. *Scandinavian Journal of
#'   Statistics* **9**, 65-78.
#'
#'   Bowman, A.W. (1984) An alternative method of cross-validation for the smoothing of density estimates. *Biometrika*
#'   **71**, 353-360.
#'
#'   Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall, section 3.3.
#'
#'   Andrzejewski, W., Gramacki, A. & Gramacki, J. (2013) Graphics processing units in acceleration of bandwidth
#'   selection for kernel density estimation. *International Journal of Applied Mathematics and Computer Science*
#'   **23**, 869-885.
#' @seealso [hlscv()], \code{\link{Hlscv}()}, [psi()]
#' @examples
#' h <- seq(0.05, 1, by = 0.01)
#' plot(h, lscv(faithful$eruptions, h = h), type = "l")
#' lscv(faithful$eruptions, H = 0.1^2)
#' lscv(faithful, H = Hns(faithful))
#' @export
lscv <- function(x, H, h, form = c("unbiased", "paper"), ..., w = NULL, kernel = "gaussian", na.action = stats::na.fail,
                 backend = "auto", precision = c("double", "single"), threads = NULL, verbose = NULL) {
  check_arguments("lscv", given_names(...))
  verbose <- asked_verbose(verbose)
  form <- check_choice(form, c("unbiased", "paper"), "form")
  kernel <- check_choice(kernel, lscv_kernels(), "kernel")
  sample <- check_sample_or_sketch(x, w, na.action)
  check_columns(sample$x)
  given <- list(H = if (!missing(H)) H, h = if (!missing(h)) h)
  if (ncol(sample$x) > 1L) {
    run <- run_options(threads, backend, cuda = TRUE, precision = precision)
    return(with_progress(verbose, "Cross-validation", function(progress) {
      lscv_matrices(sample, given$H, given$h, form, kernel, replace(run, "progress", list(progress)))
    }))
  }
  h <- lscv_bandwidths(given$H, given$h)
  check_beside(h, sample$x, if (missing(H)) "h" else "H")
  sample <- lscv_sample(sample)
  run <- check_sketch_run(sample, line_run(threads, backend, precision, kernel), kernel)
  with_wide_cells_refused(sample, with_progress(verbose, "Cross-validation", function(progress) {
    lscv_curve(sample, h, form, kernel, replace(run, "progress", list(progress)))
  }))
}

check_one_given <- function(H, h) {
  if (is.null(H) && is.null(h)) abort_input("`h` or `H` must be given.")
  if (!is.null(H) && !is.null(h)) abort_input("`h` and `H` must not both be given.")
}

lscv_bandwidths <- function(H, h) {
  check_one_given(H, h)
  if (is.null(H)) check_positives(h, "h") else sqrt(check_H(H, 1L)[1L, 1L])
}

# The observations of positive weight, sorted for the curve and for finding ties. Sorted by value and then by weight, so
# that the order of the rows affects no bit of the result.
lscv_sample <- function(sample) {
  if (is_of_sketch(sample) && length(sample$w) > 1L) return(sample)
  used <- rows_with_weight(sample)
  n <- length(used$w)
  left_out <- length(sample$w) - n
  if (n < 2L) {
    abort_input("`x` must have at least two observations for cross-validation, not ", n,
                if (left_out > 0L) paste0(" (observations of weight 0 left out: ", left_out, ")"), ".")
  }
  sums <- weight_sums_cpp(used$w)
  check_effective_size(used$w, sums)
  if (sums$max == 1 && sums$squares == n) return(with_data(list(x = sorted_cpp(used$x), w = used$w)))
  heard()
  sorted <- order_cpp(used$x, used$w)
  heard()
  with_data(list(x = used$x[sorted], w = scale_weights(used$w[sorted])))
}

# LSCV at every h. For the Gaussian kernel cells are worth their cost as soon as several bandwidths share them.
lscv_curve <- function(sample, h, form, kernel, run, engine = "auto") {
  lscv_at(line_pairs(sample, run, if (length(h) == 1L) h, kernel, engine), h, form, run)
}

lscv_at <- function(pairs, h, form, run) lscv_curve_cpp(pairs, list(S = matrix(1), h = h, form = form), run)

#' Bandwidths by cross-validation in one dimension
#'
#' `hlscv`: the bandwidth in a range that minimises the least squares cross-validation criterion [lscv()], in its
#' unbiased form. LSCV often has several local minima. So it is first computed on a dense grid over the whole range. The
#' grid has 400 bandwidths, equally spaced in their logarithm, or 100 for compact kernels and more than 10,000
#' observations, and with `bounds` or a `period`. A search follows in every interval of the grid that could hold the
#' minimum.
#'
#' By default the range is \[h0/4, 4 h0\], with h0 the normal reference bandwidth of the kernel. A minimum at an end of
#' the range is returned with a warning. If many data are tied, LSCV falls to minus infinity as h goes to 0. This
#' happens if the number of tied pairs (i, j), i != j, is above R(K) / (2 K(0) - R(K)) n, which is 0.547 n for the
#' Gaussian kernel. Then the result is only the minimum of the range, and a warning says how many ties there are.
#'
#' For a derivative of order r, with phi_h the N(0, h^2) density, the criterion is that of Chacon & Duong (2013), an
#' estimate of the integrated squared error of the derivative of the estimate:
#' \deqn{LSCV_r(h) = (-1)^r \{ \sum_{i,j} p_i p_j \phi^{(2r)}_{\sqrt 2 h}(x_i - x_j) - 2 c \sum_{i \ne j} p_i p_j
#' \phi^{(2r)}_h(x_i - x_j) \}.}{LSCV_r(h) = (-1)^r {sum_ij p_i p_j phi^(2r)_(sqrt(2) h)(x_i - x_j) - 2 c sum_(i != j)
#' p_i p_j phi^(2r)_h(x_i - x_j)}.}
#' Then h0 is [hns()] with the same `deriv.order`, and the limit for tied pairs is lower. A few near pairs decide the
#' values at small h. So for r > 0 the result is the largest local minimum of the range (Hall & Marron 1991), if there
#' is one.
#'
#' With `bounds` or a `period` the criterion is that of the estimate that [kde()] makes with them. Pairs of an
#' observation with images of another count, and an observation is left out with its images.
#'
#' For the uniform kernel the criterion jumps at every h that is the distance of two observations, so its minimum is
#' only known to the resolution of the grid.
#'
#' \pkg{ks} minimises the binned criterion of [stats::bw.ucv()], with n^2 for n(n-1), by default.
#'
#' @inheritParams lscv
#' @param x a numeric vector, a matrix or data frame with one column, or a sketch of one made by [kde_sketch()].
#' @param binned,bgridsize,bw.ucv accepted for scripts written for \pkg{ks}, without effect: the sums are exact.
#' @param amise if TRUE, a list with the value of the criterion and a record of the search is returned.
#' @param deriv.order the order r of the derivative that the bandwidth is for, 0 to 5; above 0 for the Gaussian kernel.
#' @param w weights, one for each observation, non-negative. They enter the sums, the diagonal terms and, through the
#'   effective sample size (sum w)^2 / sum w^2, the normal reference.
#' @param hmin,hmax the range of bandwidths; h0/4 and 4 h0 if not given.
#' @param bounds,period as in [kde()], for the Gaussian kernel and `deriv.order = 0`.
#' @param backend `"cpu"`, `"cuda"` (sums over all pairs on an NVIDIA GPU, with the Gaussian kernel) or `"auto"`, which
#'   is the CPU here, see [engines].
#' @return A positive number in the units of `x`: the standard deviation of the Gaussian kernel, half the width of the
#'   support of the others. With `amise = TRUE` a list:
#'   \item{h}{the bandwidth}
#'   \item{LSCV, objective}{its criterion; \pkg{ks} has the first name}
#'   \item{convergence}{0, or 1 if the minimum is at an end of the range}
#'   \item{evaluations, seconds}{the effort of the search}
#'   \item{engine, backend, device}{how the sums were computed; `device` is the GPU's name}
#'   \item{curve}{a data frame: `h` and `objective` on the grid}
#'   \item{ties}{the number of tied pairs for each observation}
#' @section Errors: The errors of [hpi()]. Errors of class `kestrel_error_input` are also for more than one column, an
#'   unknown kernel, and an `hmin` that is not below `hmax`.
#' @section Warnings: Warnings of class `kestrel_warning_search` are for a minimum at an end of the range and for ties
#'   as above.
#' @section Cost: The cost of [lscv()] for about 450 bandwidths, on a GPU O(n^2) for each. With `bounds` or a `period`
#'   there are about 150, and each takes a pass over the data, too. A million values took 1.3 seconds, and a sketch of
#'   them 0.4.
#' @references Rudemo, M. (1982) Empirical choice of histograms and kernel density estimators. *Scandinavian Journal of
#'   Statistics* **9**, 65-78.
#'
#'   Chacon, J.E. & Duong, T. (2013) Data-driven density derivative estimation, with applications to nonparametric
#'   clustering and bump hunting. *Electronic Journal of Statistics* **7**, 499-532.
#'
#'   Hall, P. & Marron, J.S. (1991) Local minima in cross-validation functions. *Journal of the Royal Statistical
#'   Society B* **53**, 245-252.
#' @seealso [lscv()], [hpi()], [hscv()]
#' @examples
#' hlscv(precip, kernel = "epanechnikov")
#' found <- suppressWarnings(hlscv(faithful$waiting, amise = TRUE)) # whole minutes: there are ties
#' plot(found$curve, type = "l", log = "x")
#' abline(v = found$h)
#' @export
hlscv <- function(x, binned, bgridsize, amise = FALSE, deriv.order = 0, bw.ucv, ..., hmin = NULL, hmax = NULL,
                  bounds = NULL, period = NULL, w = NULL, kernel = "gaussian", na.action = stats::na.fail,
                  backend = "auto", threads = NULL, verbose = NULL) {
  check_arguments("hlscv", given_names(...), c("binned", "bgridsize", "bw.ucv"))
  verbose <- asked_verbose(verbose)
  started <- proc.time()[["elapsed"]]
  order <- check_lscv_order(deriv.order)
  amise <- check_flag(amise, "amise")
  kernel <- check_choice(kernel, if (order > 0L) "gaussian" else lscv_kernels(), "kernel")
  given <- check_sample_or_sketch(x, w, na.action)
  check_one_column(given, "hlscv", "Hlscv")
  if (is_compact(kernel) && !(is.null(bounds) && is.null(period))) {
    abort_input("`kernel` must be \"gaussian\" with `bounds` or `period`, not \"", kernel, "\".")
  }
  moments <- sample_with_images(given, bounds, period, order)
  reflected <- has_images(moments$transform)
  if (reflected) check_own_images(moments)
  h0 <- (if (order > 0L) reference_h(moments$n, 1L, order) else reference_scale(moments$n, 1L, kernel)) *
    sqrt(moments$cov[1L, 1L])
  range <- check_range(hmin, hmax, h0)
  sample <- lscv_sample(moments)
  run <- check_sketch_run(moments, line_run(threads, backend, kernel = kernel), kernel)
  of <- if (reflected) reflected_lscv(moments, h0, run) else
    if (order > 0L) derivative_lscv(moments, order, h0, run) else density_lscv(sample, kernel, run)
  size <- if (reflected || is_compact(kernel) && length(sample$x) > 1e4) 100L else 400L
  found <- with_wide_cells_refused(moments, with_search_progress(verbose, "Cross-validation", function(progress) {
    curve <- counted(of$curve, progress)
    minimise_curve(curve, if (order > 0L) range_of_last_minimum(curve, range, size) else range, size)
  }))
  ties <- count_ties(sample, kernel, order)
  warn_minimum("LSCV", found, ties)
  if (!amise) return(found$h)
  record <- c(list(h = found$h, LSCV = found$objective, objective = found$objective, convergence = found$convergence,
                   evaluations = found$evaluations), of$by(),
              list(seconds = proc.time()[["elapsed"]] - started, curve = found$curve, ties = ties$per_observation))
  as_record(record, "Bandwidth by least squares cross-validation")
}

# The functionals that the criterion is made of are there up to psi_10.
check_lscv_order <- function(deriv.order) {
  r <- check_derivative_order(deriv.order)
  if (2L * r > max(psi_orders)) abort_input("`deriv.order` must be at most ", max(psi_orders) / 2, ", not ", r, ".")
  r
}

# The criterion for every h, and where its sums were computed.
density_lscv <- function(sample, kernel, run) {
  pairs <- line_pairs(sample, run, kernel = kernel)
  list(curve = function(h) lscv_at(pairs, h, "unbiased", run), by = function() pairs_by_cpp(pairs))
}

# Chacon & Duong (2013, section 3.1), by psi_2r(h) less its diagonal terms. In units of the standard deviation.
derivative_lscv <- function(sample, order, h0, run) {
  scale <- sqrt(sample$cov[1L, 1L])
  functionals <- line_functionals(sample, scale, h0 / scale, run)
  sums <- sums_of_weights(sample)
  diagonal <- sums$squares / sums$sum^2
  curve <- function(h) {
    h <- h / scale
    own <- diagonal * gaussian_at_zero(2L * order) / h^(2L * order + 1L)
    squared <- functionals$psi(sqrt(2) * h, 2L * order)
    value <- squared - 2 / (1 - diagonal) * (functionals$psi(h, 2L * order) - own)
    times_power((-1)^order * value, scale, -(2L * order + 1L))
  }
  list(curve = curve, by = functionals$by)
}

# From the largest local maximum below the largest local minimum on (Hall & Marron 1991). With more derivatives the sums
# vary more at small h, where a few near pairs decide the global minimum.
range_of_last_minimum <- function(curve, range, size) {
  h <- exp(seq(log(range[1L]), log(range[2L]), length.out = size))
  turns <- diff(sign(diff(curve(h))))
  lowest <- max(which(turns > 0), 0)
  below <- which(turns[seq_len(lowest)] < 0)
  c(if (length(below) > 0L) h[max(below) + 1L] else range[1L], range[2L])
}

check_range <- function(hmin, hmax, h0) {
  range <- c(if (is.null(hmin)) h0 / 4 else check_positives(hmin, "hmin", one = TRUE),
             if (is.null(hmax)) 4 * h0 else check_positives(hmax, "hmax", one = TRUE))
  if (range[1L] < range[2L]) return(range)
  if (is.null(hmin)) abort_input("`hmax` must be above h0/4 = ", describe_value(h0 / 4),
                                 ", where the range begins, not ", describe_value(hmax), ".")
  abort_input("`hmin` must be below ", if (is.null(hmax)) "4 h0 = " else "`hmax`, ", describe_value(range[2L]),
              ", not ", describe_value(hmin), ".")
}

# The global minimum of a smooth curve over a range of h: a dense grid, equally spaced in log h, and a search between
# the neighbours of every local minimum of the grid that could be the lowest. Between equally spaced points a parabola
# lies at most an eighth of its second difference below the lowest point; the whole difference is allowed for.
minimise_curve <- function(curve, range, size) {
  h <- exp(seq(log(range[1L]), log(range[2L]), length.out = size))
  h[c(1L, size)] <- range
  value <- curve(h)
  before <- value[c(2L, seq_len(size - 1L))]
  after <- value[c(seq_len(size - 1L) + 1L, size - 1L)]
  possible <- value <= before & value <= after & value - pmax(before + after - 2 * value, 0) <= min(value)
  best <- list(h = h[which.min(value)], objective = min(value))
  evaluations <- size
  for (i in which(possible)) {
    bracket <- log(h[c(max(i - 1L, 1L), min(i + 1L, size))] / h[i])
    # In log(h / h_i), so that the tolerance is relative to h.
    found <- stats::optimize(function(t) {
      evaluations <<- evaluations + 1L
      curve(h[i] * exp(t))
    }, bracket, tol = 1e-8)
    if (found$objective < best$objective) best <- list(h = h[i] * exp(found$minimum), objective = found$objective)
  }
  best$end <- if (best$h %in% range) c("lower", "upper")[match(best$h, range)]
  c(best, list(convergence = if (is.null(best$end)) 0L else 1L, evaluations = evaluations,
               curve = data.frame(h = h, objective = value)))
}

# One warning for all remarks about a minimum.
warn_minimum <- function(name, found, ties = NULL) {
  range <- vapply(range(found$curve$h), format, "", digits = 4)
  without_limit <- if (isTRUE(ties$unbounded)) {
    paste0(name, " falls without limit as h goes to 0, because `x` has ", format(ties$per_observation, digits = 3),
           " tied pairs an observation (it does so above ", format(ties$threshold, digits = 3),
           "): the minimum is that of the range from ", range[1L], " to ", range[2L], ".")
  }
  at_end <- if (!is.null(found$end)) {
    paste0("The least value of ", name, " is at the ", found$end, " end of the range of bandwidths, h = ",
           range[match(found$end, c("lower", "upper"))], ".")
  }
  remarks <- c(without_limit, at_end)
  if (length(remarks) > 0L) warn_search(paste(remarks, collapse = " "))
}

# The name that ks gives the criterion without bias, for the same selector.
#' @rdname hlscv
#' @export
hucv <- function(x, ...) hlscv(x, ...)
