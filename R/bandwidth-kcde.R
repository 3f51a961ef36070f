# Plug-in bandwidths of distribution functions.

#' Plug-in bandwidths for distribution functions
#'
#' Selects the bandwidth of [kcde()] that minimises an estimate of the asymptotic mean integrated squared error of a
#' distribution function: in one dimension (`hpi.kcde`), or as a full (`Hpi.kcde`) or a diagonal matrix
#' (`Hpi.diag.kcde`).
#'
#' In one dimension the terms of the error that depend on h are (Polansky & Baker 2000)
#' \deqn{-h / (n \sqrt\pi) - h^4 \psi_2 / 4, h = (-n \sqrt\pi \psi_2)^{-1/3},}{-h / (n sqrt(pi)) - h^4 psi_2 / 4, h =
#' (-n sqrt(pi) psi_2)^(-1/3),}
#' where psi_2 = E f''(X) is estimated by [psi()]. The bandwidth of this estimate comes from psi_4, and so on. After
#' `nstage` stages a normal density is assumed. In several dimensions the criterion is that of \pkg{ks} (Duong 2016),
#' \deqn{-tr(H^{1/2}) / (n \sqrt\pi) - tr(H^2 \Psi_2) / 4,}{-tr(H^(1/2)) / (n sqrt(pi)) - tr(H^2 Psi_2) / 4,}
#' where Psi_2 is the matrix of the functionals of order two. Its minimum is known, and no search is needed:
#' \deqn{H = (-n \sqrt\pi \Psi_2)^{-2/3},}{H = (-n sqrt(pi) Psi_2)^(-2/3),}
#' and with a diagonal H the same for each diagonal element. With `nstage = 2` the pilot bandwidth of Psi_2 is the one
#' at which its leading bias vanishes for normal data,
#' \deqn{G = 2 (2 / (n (d + 2)))^{2/(d+4)} S,}{G = 2 (2 / (n (d + 2)))^(2/(d+4)) S,}
#' where S is the sample covariance. For `Hpi.diag.kcde()` it is the diagonal matrix at which this bias is least. With
#' `nstage = 1` Psi_2 is that of the normal density.
#'
#' The minimum of the criterion for several dimensions does not follow a change of units. So the data are first divided
#' by their standard deviations, as in \pkg{ks}. Then H follows the units.
#'
#' The functionals are summed over all pairs exactly. With `binned = FALSE` those of \pkg{ks} are the same, but its
#' searches may end above the minimum.
#'
#' @inheritParams hpi
#' @param x for `hpi.kcde` a numeric vector, or a matrix or data frame with one column; for the others a matrix or data
#'   frame with n rows and d columns.
#' @param pilot `"dunconstr"` or `"dscalar"`, as in \pkg{ks}, where they have no effect either.
#' @param Hstart,optim.fun accepted for scripts written for \pkg{ks}, without effect: H is not searched for.
#' @param pre TRUE: the data are divided by their standard deviations.
#' @param amise if TRUE, a list with the value of the criterion and a record of the stages is returned.
#' @return `hpi.kcde` returns a positive number in the units of `x`, the others a d x d matrix in squares of these
#'   units. With `amise = TRUE` they return a list: `h` (d = 1), `H`, `PI` (the terms above at the minimum) and the
#'   stages. The stages are `psi2` and, for d = 1, `g2`, `psi4` and `g4`, otherwise `G`. Those that `nstage = 1` leaves
#'   out are NA. For d > 1 everything except H is for data in units of their standard deviations.
#' @section Errors: The errors of [hpi()] and of \code{\link{Hpi}()}, and of class `kestrel_error_input` for a `pilot`
#'   or `optim.fun` that is unknown, and a `pre` that is not TRUE.
#' @section Warnings: A warning of class `kestrel_warning_search` says if the search for a diagonal pilot G did not
#'   converge.
#' @section Cost: O(n) for each functional, as in [hpi()] and \code{\link{Hpi}()}.
#' @references Duong, T. (2016) Non-parametric smoothed estimation of multivariate cumulative distribution and survival
#'   functions, and receiver operating characteristic curves. *Journal of the Korean Statistical Society* **45**, 33-50.
#'
#'   Polansky, A.M. & Baker, E.R. (2000) Multistage plug-in bandwidth selection for kernel distribution function
#'   estimates. *Journal of Statistical Computation and Simulation* **65**, 63-80.
#' @seealso [kcde()], [hpi()] and \code{\link{Hpi}()} for densities
#' @examples
#' hpi.kcde(faithful$eruptions)
#' Hpi.kcde(faithful)
#' Hpi.diag.kcde(faithful)
#' @export
hpi.kcde <- function(x, nstage = 2, binned, amise = FALSE, ..., w = NULL, na.action = stats::na.fail, threads = NULL,
                     verbose = NULL) {
  check_arguments("hpi.kcde", given_names(...), "binned")
  amise <- check_flag(amise, "amise")
  nstage <- check_stages(nstage)
  sample <- selector_sample(x, w, na.action)
  check_one_column(sample, "hpi.kcde", "Hpi.kcde")
  run <- line_run(threads, "cpu")
  found <- with_search_progress(asked_verbose(verbose), "Plug-in bandwidth", function(progress) {
    plug_in_1d_kcde(sample, nstage, replace(run, "progress", list(progress)))
  })
  if (amise) as_record(found, "Plug-in bandwidth of a distribution function") else found$h
}

#' @rdname hpi.kcde
#' @export
Hpi.kcde <- function(x, nstage = 2, pilot, Hstart, binned, bgridsize, amise = FALSE, verbose = NULL,
                     optim.fun = "optim", pre = TRUE, ..., w = NULL, na.action = stats::na.fail, threads = NULL) {
  check_arguments("Hpi.kcde", given_names(...), c("pilot", "Hstart", "binned", "bgridsize"))
  verbose <- asked_verbose(verbose)
  task <- matrix_task(x, w, na.action, if (!missing(Hstart)) Hstart, amise, 0, optim.fun, "hpi.kcde", plug_in_searches)
  select_for_distribution(task, nstage, if (!missing(pilot)) pilot, pre, verbose, run_options(threads),
                          diagonal = FALSE)
}

#' @rdname hpi.kcde
#' @export
Hpi.diag.kcde <- function(x, nstage = 2, pilot, Hstart, binned, bgridsize, amise = FALSE, verbose = NULL,
                          optim.fun = "optim", pre = TRUE, ..., w = NULL, na.action = stats::na.fail, threads = NULL) {
  check_arguments("Hpi.diag.kcde", given_names(...), c("pilot", "Hstart", "binned", "bgridsize"))
  verbose <- asked_verbose(verbose)
  task <- matrix_task(x, w, na.action, if (!missing(Hstart)) Hstart, amise, 0, optim.fun, "hpi.kcde", plug_in_searches)
  select_for_distribution(task, nstage, if (!missing(pilot)) pilot, pre, verbose, run_options(threads),
                          diagonal = TRUE)
}

#' Normal reference bandwidths for distribution functions
#'
#' The bandwidths of [kcde()] that suit normal data: a scalar (`hns.kcde`) and a matrix (`Hns.kcde`).
#'
#' With n observations, standard deviation s, and sample correlation matrix R of data in standard deviations (Duong
#' 2016) \deqn{h = (4 / n)^{1/3} s, H = (4 |R|^{1/2} tr(R^{1/2}) / (n d))^{2/3} R,}{h = (4 / n)^(1/3) s, H = (4
#' |R|^(1/2) tr(R^(1/2)) / (n d))^(2/3) R,} taken back to the units of `x`. \pkg{ks} has the covariance in place of R
#' and its trace in place of d. Its H changes with the units of the columns, and is the same for columns of standard
#' deviation one.
#'
#' @inheritParams hns
#' @param x for `hns.kcde` a numeric vector, or a matrix or data frame with one column; for `Hns.kcde` a matrix or data
#'   frame with n rows and d columns.
#' @return `hns.kcde`: a positive number, in the units of `x`. `Hns.kcde`: a d x d matrix, in their squares.
#' @section Errors: Those of [hns()].
#' @section Cost: One pass over the data, O(n d^2).
#' @references Duong, T. (2016) Non-parametric smoothed estimation of multivariate cumulative distribution and survival
#'   functions, and receiver operating characteristic curves. *Journal of the Korean Statistical Society* **45**, 33-50.
#' @seealso [hpi.kcde()], [hns()]
#' @examples
#' hns.kcde(faithful$eruptions)
#' Hns.kcde(faithful)
#' @export
hns.kcde <- function(x, ..., w = NULL, na.action = stats::na.fail) {
  check_arguments("hns.kcde", given_names(...))
  sample <- selector_sample(x, w, na.action)
  check_one_column(sample, "hns.kcde", "Hns.kcde")
  (4 / sample$n)^(1 / 3) * sqrt(sample$cov[[1L]])
}

#' @rdname hns.kcde
#' @export
Hns.kcde <- function(x, ..., w = NULL, na.action = stats::na.fail) {
  check_arguments("Hns.kcde", given_names(...))
  sample <- selector_sample(x, w, na.action)
  d <- ncol(sample$x)
  R <- stats::cov2cor(unname(sample$cov))
  # The determinant of many columns may underflow.
  volume <- exp(as.numeric(determinant(R)$modulus) / 2)
  (4 * volume * sum(diag(matrix_root(R))) / (sample$n * d))^(2 / 3) * sample$cov
}

select_for_distribution <- function(task, nstage, pilot, pre, verbose, run, diagonal) {
  nstage <- check_stages(nstage)
  if (!is.null(pilot)) check_choice(pilot, c("dunconstr", "dscalar"), "pilot")
  if (!check_flag(pre, "pre")) {
    abort_input("`pre` must be TRUE, not FALSE: without it, H would depend on the units of the columns.")
  }
  found <- with_search_progress(verbose, "Plug-in bandwidth", function(progress) {
    plug_in_matrix_kcde(task$sample, nstage, diagonal, replace(run, "progress", list(progress)))
  })
  if (task$amise) as_record(found, "Plug-in bandwidth matrix of a distribution function") else found$H
}

# The h that minimises -h / (n sqrt(pi)) - h^4 psi2 / 4; for a matrix, S in place of -psi2, the power of that.
distribution_scale <- function(n) (n * sqrt(pi))^(-1 / 3)

# In units of the standard deviation, so that no power of it overflows.
plug_in_1d_kcde <- function(sample, nstage, run) {
  n <- sample$n
  scale <- sqrt(sample$cov[1L, 1L])
  two <- nstage == 2L
  normal <- function(r) psi_normal(matrix(1), r)
  g4 <- if (two) balanced_bandwidth(4L, normal(6L), n) else NA_real_
  psi <- line_functionals(sample, scale, if (two) g4 else balanced_bandwidth(2L, normal(4L), n), run)$psi
  psi4 <- if (two) psi(g4, 4L) else normal(4L)
  g2 <- balanced_bandwidth(2L, psi4, n)
  psi2 <- psi(g2, 2L)
  h <- distribution_scale(n) * (-psi2)^(-1 / 3)
  list(h = h * scale, H = matrix((h * scale)^2, 1L, 1L), PI = (-h / (n * sqrt(pi)) - h^4 * psi2 / 4) * scale,
       psi2 = times_power(psi2, scale, -3), g2 = g2 * scale, psi4 = times_power(psi4, scale, -5), g4 = g4 * scale)
}

plug_in_matrix_kcde <- function(sample, nstage, diagonal, run) {
  n <- sample$n
  d <- ncol(sample$x)
  # Powers of two first, because variances of the data may be out of the range of numbers.
  unit <- near_units(sample$cov)
  sample <- in_units(sample, unit)
  deviation <- sqrt(diag(sample$cov))
  star <- transformed_sample(sample, diag(1 / deviation, d))
  G <- if (nstage == 2L) distribution_pilot(star, diagonal)
  S <- if (nstage == 2L) -functionals_of_order_two(star, G, run) else -as_symmetric(psi_normal(star$cov, 2L), d)
  H <- if (diagonal) diag(diag(S)^(-2 / 3), d) else matrix_power(S, -2 / 3)
  H <- distribution_scale(n)^2 * H
  in_data <- outer(deviation * unit, deviation * unit)
  list(H = structure(H * in_data, dimnames = dimnames(sample$cov)),
       PI = -sum(diag(matrix_power(H, 1 / 2))) / (n * sqrt(pi)) + sum(H %*% H * S) / 4, psi2 = -S,
       G = if (nstage == 2L) G else NA_real_)
}

# The G that minimises the squared leading bias of Psi_2 for normal data: a multiple of the covariance removes all of
# it, a diagonal matrix does not.
distribution_pilot <- function(star, diagonal) {
  d <- ncol(star$x)
  G <- 2 * (2 / (star$n * (d + 2)))^(2 / (d + 4)) * unname(star$cov)
  if (!diagonal) return(G)
  bias <- functional_bias(psi_normal(star$cov, 4L), star$n, d, 2L)
  best <- minimise_over_matrices(bias, diag(diag(G), d), diagonal = TRUE)
  if (best$convergence != 0L) {
    warn_search("The search for the pilot bandwidth matrix did not converge: ", best$message, ".")
  }
  best$H
}

# Psi_2 with the pilot bandwidth G: in coordinates in which G is the identity, and back.
functionals_of_order_two <- function(sample, G, run) {
  d <- ncol(sample$x)
  root <- lower_root_cpp(unname(G))
  inverse <- inverse_root(root)
  by_pilot <- transformed_sample(sample, inverse)
  t(inverse) %*% as_symmetric(psi_order(by_pilot, 1, 2L, run), d) %*% inverse / prod(diag(root))
}

# Functionals of order two, in the order of index_tuples(), as a matrix.
as_symmetric <- function(psi2, d) {
  entries <- as.matrix(expand.grid(seq_len(d), seq_len(d)))
  matrix(psi2[tuple_positions(unname(entries), d)], d)
}
