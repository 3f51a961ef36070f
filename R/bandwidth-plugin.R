# Plug-in bandwidth matrices: the search for the H that minimises the AMISE estimated with a pilot bandwidth.

#' Plug-in bandwidth matrices
#'
#' The bandwidth matrix H that minimises an estimate of the asymptotic mean integrated squared error,
#' \deqn{AMISE(H) = (4 \pi)^{-d/2} |H|^{-1/2} / n + (vec' H)^{\otimes 2} \psi_4 / 4.}{AMISE(H) = (4 pi)^(-d/2)
#' |H|^(-1/2) / n + (vec'H x vec'H) psi_4 / 4.}
#' `Hpi` searches all positive definite matrices, and `Hpi.diag` the diagonal ones. psi_4, the fourth order density
#' derivative functionals, are kernel sums over all pairs of observations.
#'
#' The data are first divided by their standard deviations (`pre = "scale"`) and, with `pre = "sphere"`, then multiplied
#' by R^(-1/2), the symmetric root, R the sample correlation matrix, so that one scalar g can serve as pilot bandwidth.
#' The pilot bandwidth minimises the sum, over all functionals of one order, of the asymptotic squared error.
#' `pilot = "samse"` (Duong & Hazelton 2003) sums only over the functionals with even exponents, and `"dscalar"` (Chacon
#' & Duong 2010) over all. `"amse"` (Wand & Jones 1994) has a bandwidth for each functional, so that the estimated error
#' may have no minimum, of which a warning tells; it is made for `pre = "scale"`. `"unconstr"`, of the same paper, is a
#' full matrix G. It is found by a separate search on the sphered data, for any `pre`.
#'
#' H follows the units and the order of the columns. The root S^(-1/2) of the sample covariance S would also sphere the
#' data, but it would rotate them with every change of units. A rotation changes the sum of `"samse"`, but not the sums
#' of the other pilots.
#'
#' With `binned = FALSE` the criterion of `ks::Hpi()` is the same, but its search may end above the minimum. There are
#' two exceptions. For `"samse"` with two stages \pkg{ks} (1.14 to 1.15) reads the estimates of psi_6 in the wrong order
#' and spheres by S^(-1/2), so its H depends on the order and the units of the columns. For `"dscalar"` with one stage
#' it has the rate n^(-1/(d+8)) and another constant. Here g is as in the theory, for sphered data
#' \deqn{g = \sqrt 2 (2 / (n (d + 4)))^{1/(d+6)}.}{g = sqrt(2) (2 / (n (d + 4)))^(1/(d+6)).}
#' This makes it the same as `"unconstr"`. With two stages `"dscalar"` keeps a constant of \pkg{ks}: in the squared
#' error of psi_6 the product term is 64 times that of the theory, which makes g and H smaller.
#'
#' For derivatives of order r (`deriv.order`, 1 or 2) the criterion is the AMISE of all derivatives of this order, on
#' the sphered or scaled data (Chacon, Duong & Wand 2011). Its functionals are psi_(2r+4), and the pilot is `"dscalar"`,
#' with the constants of \pkg{ks}. For r = 1 a term of the second stage has the wrong sign there. This is kept, so that
#' scripts give the same H.
#'
#' The search runs over the logarithm of the Cholesky factor, so that every step is positive definite, with an analytic
#' gradient ([stats::nlminb()]). It warns when it did not converge.
#'
#' With `bounds` or a `period` the functionals are those of the estimate that [kde()] makes with them: pairs of an
#' observation with images of others count. `H` is diagonal, as kernels at bounds must be, and has the pilot `"samse"`.
#' It is the default bandwidth of [kde()].
#'
#' @inheritParams hpi
#' @param x a numeric matrix or data frame with n rows and d columns, or a sketch of two or three variables made by
#'   [kde_sketch()].
#' @param pilot `"samse"` (the default for d = 2), `"dscalar"` (the default otherwise), `"amse"` (d = 2) or, for `Hpi`,
#'   `"unconstr"` (at most ten columns).
#' @param pre `"sphere"` or `"scale"`; `Hpi.diag` takes `"scale"` only.
#' @param Hstart where the search starts, a d x d matrix; the normal reference bandwidth if not given.
#' @param deriv.order the order of the derivatives that the matrix is for: 0, the density itself, 1 or 2.
#' @param amise if TRUE, a list with the value of the objective and a record of the search is returned.
#' @param optim.fun `"optim"` or `"nlm"`, as in \pkg{ks}; the search is the same.
#' @param bounds,period as in [kde()], for `deriv.order = 0` and at most three columns.
#' @param w weights, one for each row of `x`, non-negative. They enter the sums, the diagonal terms and, through the
#'   effective sample size, the rates.
#' @param backend `"cpu"`, `"cuda"` (direct sums on an NVIDIA GPU, in up to 32 dimensions) or `"auto"`, decided for each
#'   sum over all pairs, see [engines].
#' @return A d x d matrix. With `amise = TRUE` a list:
#'   \item{H}{the matrix, in squared units of `x`}
#'   \item{PI.star}{the minimal AMISE for the sphered or scaled data; for `x` with `"unconstr"`, as in \pkg{ks}}
#'   \item{objective}{the AMISE in the units of `x`}
#'   \item{convergence}{0 if the search converged}
#'   \item{evaluations, seconds}{the effort of the search}
#'   \item{engine, backend, device}{how psi_4 was computed; `device` is the GPU's name}
#'   \item{pilot}{the name of the pilot}
#'   \item{g}{the scalar pilot bandwidths on the sphered or scaled data, first stage first}
#'   \item{G}{the pilot matrix of psi_4, in squared units of `x`; NA with `pilot = "amse"`, where each functional has a
#'     pilot of its own}
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - data that are missing, infinite or not numeric, and n that is not larger than d;
#'   - columns that are constant or linearly dependent, which the message names;
#'   - variances outside of 1e-300 to 1e300;
#'   - weights that leave one observation in effect;
#'   - data outside of `bounds`, and other pilots than `"samse"` with `bounds` or a `period`;
#'   - a pilot that is unknown or not available, and `pre = "sphere"` in `Hpi.diag`.
#'
#'   The class is `kestrel_error_memory` if the Fourier engine would need more than 1 GB, above 50,000 observations, or
#'   if the memory of a GPU that was asked for does not suffice. It is `kestrel_error_backend` for a backend that this
#'   build or machine lacks or that does not take the task. [engines] has the limits of a GPU, which apply to the data
#'   after they are sphered or scaled.
#' @section Cost: Each stage takes O(n) with the engine `"fourier"`, in two and three dimensions, and O(n^2) with
#'   `"direct"`. Direct sums take the moments of every pair up to order four, and up to order six in the first stage of
#'   `"samse"` and `"unconstr"`. The searches do not touch the data.
#' @references Wand, M.P. & Jones, M.C. (1994) Multivariate plug-in bandwidth selection. *Computational Statistics*
#'   **9**, 97-116.
#'
#'   Chacon, J.E. & Duong, T. (2010) Multivariate plug-in bandwidth selection with unconstrained pilot
#'   bandwidth matrices. *Test* **19**, 375-398.
#'
#'   Chacon, J.E., Duong, T. & Wand, M.P. (2011) Asymptotics for general multivariate kernel density derivative
#'   estimators. *Statistica Sinica* **21**, 807-840.
#'
#'   Duong, T. & Hazelton, M.L. (2003) Plug-in bandwidth matrices for bivariate kernel density estimation. *Journal of
#'   Nonparametric Statistics* **15**, 17-30.
#'
#'   Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall, section 4.7.
#' @seealso [hpi()] for one dimension, [Hns()], [kde()]
#' @examples
#' Hpi(faithful)
#' Hpi.diag(faithful)
#' Hpi.diag(faithful, bounds = cbind(c(1.5, 43), Inf)) # that of kde() with these bounds
#' Hpi(faithful, pilot = "dscalar", amise = TRUE)$objective
#' @rdname Hpi-matrix
#' @export
Hpi <- function(x, nstage = 2, pilot, pre = "sphere", Hstart, binned, bgridsize, amise = FALSE, deriv.order = 0,
                verbose = NULL, optim.fun = "optim", ..., w = NULL, na.action = stats::na.fail, backend = "auto",
                threads = NULL) {
  check_arguments("Hpi", given_names(...), c("binned", "bgridsize"))
  verbose <- asked_verbose(verbose)
  task <- matrix_task(x, w, na.action, if (!missing(Hstart)) Hstart, amise, deriv.order, optim.fun, "hpi",
                      plug_in_searches, offered = TRUE, sketch = TRUE)
  select_by_plug_in(task, nstage, pre, if (!missing(pilot)) pilot, verbose, run_options(threads, backend, cuda = TRUE),
                    diagonal = FALSE)
}

#' @rdname Hpi-matrix
#' @export
Hpi.diag <- function(x, nstage = 2, pilot, pre = "scale", Hstart, binned, bgridsize, amise = FALSE, deriv.order = 0,
                     verbose = NULL, optim.fun = "optim", ..., bounds = NULL, period = NULL, w = NULL,
                     na.action = stats::na.fail, backend = "auto", threads = NULL) {
  check_arguments("Hpi.diag", given_names(...), c("binned", "bgridsize"))
  verbose <- asked_verbose(verbose)
  task <- matrix_task(x, w, na.action, if (!missing(Hstart)) Hstart, amise, deriv.order, optim.fun, "hpi",
                      plug_in_searches, offered = TRUE, sketch = TRUE, bounds = bounds, period = period)
  select_by_plug_in(task, nstage, pre, if (!missing(pilot)) pilot, verbose, run_options(threads, backend, cuda = TRUE),
                    diagonal = TRUE)
}

# Both names mean the same search: the criterion is cheap and has one minimum.
plug_in_searches <- c("optim", "nlm")

select_by_plug_in <- function(task, nstage, pre, pilot, verbose, run, diagonal) {
  nstage <- check_stages(nstage)
  check_plug_in_order(task$order, 2L)
  pre <- check_pre(pre, diagonal)
  d <- ncol(task$sample$x)
  transform <- task$sample$transform
  if (has_images(transform)) check_pilot_with_images(pilot, d)
  pilot <- check_pilot(pilot, d, diagonal, task$order, amse = TRUE)
  found <- with_search_progress(verbose, "Plug-in bandwidth", function(progress) {
    run$progress <- progress
    if (has_images(transform)) {
      return(reflected_plug_in(task$sample, transform, run, nstage, Hstart = task$Hstart))
    }
    select_matrix(task$sample, nstage, pilot, pre, task$Hstart, diagonal, run, task$order)
  })
  if (task$amise) as_record(found, "Plug-in bandwidth matrix") else found$H
}

check_pilot_with_images <- function(pilot, d) {
  if (d > most_on_grids) {
    abort_input("`x` must have at most ", most_on_grids, " columns with `bounds` or `period`, not ", d, ".")
  }
  if (!is.null(pilot) && check_choice(pilot, c(known_pilots, "amse"), "pilot") != "samse") {
    abort_input("`pilot` must be \"samse\" with `bounds` or `period`, not \"", pilot, "\".")
  }
}

# The selector itself, in units near those of the data.
select_matrix <- function(sample, nstage, pilot, pre, Hstart, diagonal, run, order = 0L) {
  started <- proc.time()[["elapsed"]]
  unit <- near_units(sample$cov)
  area <- outer(unit, unit)
  if (!is.null(Hstart)) Hstart <- Hstart / area
  found <- with_wide_cells_refused(sample, {
    search_plug_in(in_units(sample, unit), nstage, pilot, pre, Hstart, diagonal, run, order)
  })
  # A sum of squared derivatives has a meaning in one system of coordinates only, that of the sphered or scaled data.
  objective <- if (order > 0L) found$PI.star else per_volume(found$objective, unit)
  H <- structure(found$H * area, dimnames = dimnames(sample$cov))
  c(list(H = H, PI.star = if (pilot == "unconstr") objective else found$PI.star, objective = objective),
    found[c("convergence", "evaluations")], found$by,
    list(seconds = proc.time()[["elapsed"]] - started, pilot = pilot, g = found$g, G = found$G * area))
}

# Spheres or scales the data, finds a pilot matrix G, estimates psi_4 with it, and minimises. In coordinates in which G
# is the identity, the functionals are those of the standard normal kernel, whatever G is. For derivatives of order r G
# is scalar, and the functionals are those of order 2r + 4, r pairs of whose indices are contracted.
search_plug_in <- function(sample, nstage, pilot, pre, Hstart, diagonal, run, order) {
  d <- ncol(sample$x)
  sample <- expecting(sample)
  root <- pre_transform(sample$cov, if (pilot == "unconstr") "sphere" else pre)
  inverse <- inverse_root(root)
  star <- transformed_sample(sample, inverse)
  if (pilot == "amse") {
    separate <- amse_functionals(star, nstage, run)
    pilots <- list(g = separate$g, G = matrix(NA_real_, d, d))
    pilot_root <- diag(d)
    psi4 <- separate$psi4
  } else {
    pilots <- plug_in_pilots(star, nstage, pilot, run, order)
    pilot_root <- lower_root_cpp(unname(pilots$G))
    psi4 <- NULL
  }
  total <- root %*% pilot_root
  inverse <- inverse_root(pilot_root) %*% inverse
  by_pilot <- transformed_sample(sample, inverse)
  if (is.null(psi4)) psi4 <- psi_order(by_pilot, 1, 2L * order + 4L, run)
  by <- attr(psi4, "by")
  psi4 <- (-1)^order * contracted_to_four(psi4, d, order)
  h0 <- reference_scale(sample$n, d, "gaussian")
  start <- if (is.null(Hstart)) {
    h0^2 * by_pilot$cov
  } else {
    # Starts farther away would take the criterion out of the range of numbers.
    inverse %*% check_start(Hstart, sample$cov, h0 * c(1e-4, 1e4)) %*% t(inverse)
  }
  best <- minimise_over_matrices(amise_criterion(psi4, sample$n, d, order), start, diagonal)
  if (best$convergence != 0L) {
    warn_search("The search for the plug-in bandwidth matrix did not converge: ", best$message, ".")
  }
  list(H = moved_back(best$H, total), PI.star = best$value / det(pilot_root) / pilot_root[1L, 1L]^(2 * order),
       objective = best$value / det(total), convergence = best$convergence, evaluations = best$evaluations,
       by = by, g = pilots$g, G = moved_back(pilots$G, root))
}

contracted_to_four <- function(psi, d, order) {
  for (r in rev(seq_len(order))) psi <- psi_contracted(psi, d, 2L * r + 2L)
  psi
}

# The functionals of order four as the matrix Psi of the quadratic form (vec'H) Psi (vec H).
psi_matrix <- function(psi4, d) {
  pairs <- as.matrix(expand.grid(seq_len(d), seq_len(d)))
  quads <- cbind(pairs[rep(seq_len(d^2), d^2), , drop = FALSE], pairs[rep(seq_len(d^2), each = d^2), , drop = FALSE])
  matrix(psi4[tuple_positions(unname(quads), d)], d^2)
}

# AMISE of H given the functionals of order four (Wand & Jones 1995, eq. 4.9), with its gradient. For derivatives of
# order r the variance is n^-1 times the integral of |D^r K_H|^2 (Chacon, Duong & Wand 2011, theorem 2). That is (4
# pi)^(-d/2) |H|^(-1/2) E (z'z)^r, z ~ N(0, A), A = (2 H)^-1, with E z'z = tr A and E (z'z)^2 = (tr A)^2 + 2 tr A^2.
amise_criterion <- function(psi4, n, d, order = 0L) {
  Psi <- psi_matrix(psi4, d)
  function(H) {
    root <- t(lower_root_cpp(unname(H)))
    volume <- (4 * pi)^(-d / 2) / (n * prod(diag(root)))
    inverse <- chol2inv(root)
    moment <- moment_of_squares(inverse / 2, order)
    variance <- volume * moment$value
    curved <- matrix(Psi %*% as.vector(H), d)
    gradient <- curved / 2 - variance / 2 * inverse + volume * moment$by_H
    structure(variance + sum(curved * H) / 4, gradient = (gradient + t(gradient)) / 2)
  }
}

# E (z'z)^order, z ~ N(0, A), and its derivative by H, A = (2 H)^-1, so that dA = -2 A dH A.
moment_of_squares <- function(A, order) {
  trace <- sum(diag(A))
  switch(order + 1L,
    list(value = 1, by_H = 0),
    list(value = trace, by_H = -2 * A %*% A),
    list(value = trace^2 + 2 * sum(A * A), by_H = -4 * trace * A %*% A - 8 * A %*% A %*% A)
  )
}
