# Integrated density derivative functionals psi_r = E f^(r)(X), r a multi-index of even order, and the integrals of
# iterated Laplacians eta_2m = E (nabla^2)^m f(X), for Gaussian kernels (Wand & Jones 1995, sections 3.5 and 4.7; Chacon
# & Duong 2010). A multi-index is stored as the sorted tuple of the coordinates that it differentiates: in two
# dimensions (3, 1) is 1, 1, 1, 2.

# All sorted tuples of `order` coordinates out of d, one a row. One selection asks for the same tables many times, so
# small ones are kept.
index_tuples <- function(d, order) {
  name <- paste(d, order)
  known <- index_tables[[name]]
  if (!is.null(known)) return(known)
  tuples <- matrix(0L, 1L, 0L)
  for (size in seq_len(order)) {
    last <- if (size == 1L) 1L else tuples[, size - 1L]
    repeats <- d - last + 1L
    rows <- rep(seq_len(nrow(tuples)), repeats)
    tuples <- unname(cbind(tuples[rows, , drop = FALSE], last[rows] + sequence(repeats) - 1L))
  }
  if (length(tuples) <= 1e4) assign(name, tuples, envir = index_tables)
  tuples
}

index_tables <- new.env(parent = emptyenv())

# The same multi-indices as rows of exponents (r_1, ..., r_d).
tuple_exponents <- function(tuples, d) {
  exponents <- vapply(seq_len(d), function(k) rowSums(tuples == k), numeric(nrow(tuples)))
  matrix(as.integer(exponents), nrow(tuples), d)
}

# How many of the d^|r| ordered tuples a multi-index represents.
tuple_counts <- function(exponents) {
  factorial(rowSums(exponents)) / apply(exponents, 1L, function(r) prod(factorial(r)))
}

# Sorts each row, all rows at once, by exchanging neighbours.
sort_rows <- function(tuples) {
  for (last in rev(seq_len(ncol(tuples))[-1L])) {
    for (k in seq_len(last - 1L)) {
      wrong <- which(tuples[, k] > tuples[, k + 1L])
      tuples[wrong, k:(k + 1L)] <- tuples[wrong, (k + 1L):k]
    }
  }
  tuples
}

# Row numbers, in index_tuples(d, ncol(tuples)), of tuples in any order. With a base above all exponents, sums of its
# powers tell tuples apart whatever their order, as long as they are exact; else the columns of sorted tuples are
# digits.
tuple_positions <- function(tuples, d) {
  width <- ncol(tuples)
  base <- width + 1
  key <- if (width * base^(d - 1) < 2^53) {
    function(tuples) rowSums(base^(tuples - 1))
  } else {
    function(tuples) as.vector((sort_rows(tuples) - 1) %*% d^(seq_len(width) - 1))
  }
  match(key(tuples), key(index_tuples(d, width)))
}

# He_r(0) for the product of probabilists' Hermite polynomials.
hermite_at_zero <- function(exponents) {
  apply(exponents, 1L, function(r) {
    if (any(r %% 2L == 1L)) 0 else prod((-1)^(r / 2) * factorial(r) / (2^(r / 2) * factorial(r / 2)))
  })
}

# psi_r(g) for all multi-indices of one order, in the order of index_tuples(): sum_ij p_i p_j phi_g^(r)(x_i - x_j), p =
# w / sum(w), the pairs i = j included. By run$engine if the user of a selector asked for one, else by the faster one.
# The attribute `by` has the engine, the backend and the device.
psi_order <- function(sample, g, order, run) {
  if (!is.null(sample$transform)) return(reflected_psi_order(sample, g, order, run))
  pairs <- functional_pairs(sample, g, run)
  psi <- refusing_memory(psi_cpp(pairs, list(g = g, order = as.integer(order)), run))
  structure(psi, by = pairs_by_cpp(pairs))
}

# eta_order(g): the same sum with iterated Laplacians, in two dimensions or more.
eta <- function(sample, g, order, run) {
  pairs <- functional_pairs(sample, g, run)
  refusing_memory(eta_cpp(pairs, list(g = g, order = as.integer(order)), run))
}

functional_pairs <- function(sample, g, run) {
  d <- ncol(sample$x)
  engine <- if (run$backend == "cuda") "direct" else if (is_auto(run$engine)) "auto" else run$engine
  # A grid is made for the range that this sum needs, and those that are expected to follow.
  matrix_pairs(sample, engine, run, "functional",
               range = range(c(0.8, 1.25) * relative_bandwidths(diag(g^2, d), sample$cov), sample$expected))
}

# psi_r(g) in one dimension for every g: both are sum_ij p_i p_j phi_g^(r)(x_i - x_j), p = w / sum(w).
psi_1d <- function(pairs, g, r, run) eta_cpp(pairs, list(g = g, order = r), run)

# The derivative phi^(r) at 0.
gaussian_at_zero <- function(r) hermite_at_zero(matrix(r)) / sqrt(2 * pi)

# The g at which the leading bias of psi_r(g), g^2 psi_(r + 2) / 2, and the diagonal terms, phi^(r)(0) / (n g^(r + 1)),
# cancel (Wand & Jones 1995, section 3.5).
balanced_bandwidth <- function(r, psi_ahead, n) (-2 * gaussian_at_zero(r) / (psi_ahead * n))^(1 / (r + 3))

# E[Z^r] for Z ~ N(0, P), by Isserlis' recursion, for every sorted tuple of one order.
normal_moments <- function(P, order) {
  d <- nrow(P)
  values <- 1
  for (size in seq_len(order / 2) * 2) {
    tuples <- index_tuples(d, size)
    total <- numeric(nrow(tuples))
    for (j in seq_len(size)[-1L]) {
      rest <- tuples[, -c(1L, j), drop = FALSE]
      smaller <- if (size == 2L) 1 else values[tuple_positions(rest, d)]
      total <- total + P[cbind(tuples[, 1L], tuples[, j])] * smaller
    }
    values <- total
  }
  values
}

# Derivatives of the N(0, Sigma) density at zero: phi(0) (-1)^m E[Z^r], Z ~ N(0, Sigma^-1).
normal_derivatives <- function(Sigma, order) {
  d <- nrow(Sigma)
  (2 * pi)^(-d / 2) / sqrt(det(Sigma)) * (-1)^(order / 2) * normal_moments(solve(Sigma), order)
}

# psi_r of the normal density with covariance Sigma is the derivative at zero of the N(0, 2 Sigma) density.
psi_normal <- function(Sigma, order) normal_derivatives(2 * Sigma, order)

# For every tuple r of one order the sum over i of psi_(r + 2 e_i); psi is given for the next even order.
psi_contracted <- function(psi, d, order) {
  tuples <- index_tuples(d, order)
  total <- numeric(nrow(tuples))
  for (i in seq_len(d)) total <- total + psi[tuple_positions(cbind(tuples, i, i), d)]
  total
}

psi_orders <- seq(0, 10, by = 2)

#' Integrated density derivative functionals in one dimension
#'
#' The kernel estimate of the functional psi_r, the integral of f^(r)(x) f(x), from which plug-in bandwidths are
#' computed. With a Gaussian kernel of standard deviation g it is
#' \deqn{\hat\psi_r(g) = \sum_{i,j} p_i p_j \phi_g^{(r)}(x_i - x_j), p_i = w_i / \sum w.}{psi_r(g) = sum_ij p_i p_j
#' phi_g^(r)(x_i - x_j), p_i = w_i / sum(w).}
#' For equal weights it is n^-2 times the sum over all pairs. The terms i = j, phi_g^(r)(0), are included.
#'
#' @inheritParams lscv
#' @param backend as in [hlscv()].
#' @param g a vector of bandwidths, positive, in the units of `x`.
#' @param r the order of the derivative: 0, 2, 4, 6, 8 or 10. (psi_r is 0 for odd r.)
#' @return A vector as long as `g`, in units of x^-(r+1). The error of each value is below 1e-12 of the sum of the
#'   absolute values of its terms, in single precision 1e-5.
#' @section Errors: Errors of class `kestrel_error_input` are for data that are missing, infinite or not numeric, for
#'   more than one column and for another `r`. They are also for a `g` that is not positive, is below 1e-300 of the
#'   largest value, or at which psi_r is out of the range of numbers. The class is `kestrel_error_backend` for a backend
#'   that this build or machine lacks or that does not take the task. It is `kestrel_error_memory` if the memory of a
#'   GPU that was asked for does not suffice: at most 68 bytes for each observation and 128 MiB. [engines] has the
#'   limits of a GPU.
#' @section Cost: O(n) to prepare, then some microseconds a bandwidth. For a few hundred observations, where it is less,
#'   and on a GPU the cost is O(n^2) a bandwidth.
#' @references Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall, section 3.5.
#' @seealso [hpi()], [hscv()], [lscv()]
#' @examples
#' # the plug-in bandwidth from its last functional
#' x <- faithful$eruptions
#' found <- hpi(x, amise = TRUE)
#' (1 / (2 * sqrt(pi) * psi(x, found$g2, 4) * length(x)))^(1 / 5)
#' hpi(x)
#' @export
psi <- function(x, g, r, ..., w = NULL, na.action = stats::na.fail, backend = "auto", precision = c("double", "single"),
                threads = NULL, verbose = NULL) {
  check_arguments("psi", given_names(...))
  verbose <- asked_verbose(verbose)
  r <- plain(r)
  if (!is_number(r) || !r %in% psi_orders) {
    abort_input("`r` must be one of ", paste(psi_orders, collapse = ", "), ", not ", describe_value(r), ".")
  }
  g <- check_positives(g, "g")
  sample <- check_sample_or_sketch(x, w, na.action)
  check_one_column(sample, "psi")
  check_beside(g, sample$x, "g")
  used <- rows_with_weight(sample)
  run <- check_sketch_run(sample, line_run(threads, backend, precision))
  with_wide_cells_refused(sample, with_progress(verbose, "Sums over pairs", function(progress) {
    psi_of_any_size(used, g, as.integer(r), replace(run, "progress", list(progress)))
  }))
}

# psi_1d() in units, powers of two, near the bandwidths, so that no power of them overflows or underflows. Bandwidths
# far from each other are taken in groups. A sketch, whose values are not known, has none that are very small or large.
psi_of_any_size <- function(sample, g, r, run) {
  unit <- if (is_of_sketch(sample)) rep(1, length(g)) else 2^(32 * round(log2(g) / 32))
  bare <- numeric(length(g))
  for (one in unique(unit)) {
    part <- if (is_of_sketch(sample)) sample else
      with_data(list(x = if (one == 1) sample$x else sample$x / one, w = sample$w))
    here <- g[unit == one] / one
    bare[unit == one] <- psi_1d(line_pairs(part, run, min(here)), here, r, run)
  }
  value <- times_power(bare, unit, -(r + 1))
  out <- !is.finite(value) | abs(value) < .Machine$double.xmin & bare != 0
  if (any(out)) {
    abort_input("`g` must be such that psi, in x^-", r + 1L, ", is within the range of numbers, not ",
                describe_value(g[out][1L]), ": rescale `x`.")
  }
  value
}
