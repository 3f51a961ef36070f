# Smoothed cross-validation of a bandwidth matrix (Duong & Hazelton 2005).

#' Bandwidth matrices by smoothed cross-validation
#'
#' The bandwidth matrix H that minimises the criterion of smoothed cross-validation,
#' \deqn{SCV(H) = (4\pi)^{-d/2} |H|^{-1/2} / n + \sum_{i,j} p_i p_j (K_{2H+2G} - 2 K_{H+2G} + K_{2G})(x_i - x_j),}{
#' SCV(H) = (4 pi)^(-d/2) |H|^(-1/2) / n + sum_ij p_i p_j (K_(2H+2G) - 2 K_(H+2G) + K_2G)(x_i - x_j),}
#' with a pilot matrix G. The sums over all pairs are exact, never binned.
#'
#' G is g^2 I for data that are sphered or scaled as in [Hpi()], or any matrix. The default for two columns is the pilot
#' `"samse"` (Duong & Hazelton 2005), as in \pkg{ks}, and for more columns `"dscalar"` (Chacon & Duong 2011).
#' `"unconstr"` is the full matrix of the same paper. It is found by a separate search on the sphered data, for any
#' `pre`.
#'
#' With `"dscalar"` and `nstage = 2`, and with `"unconstr"`, the criterion is that of `ks::Hscv(binned = FALSE)`, whose
#' search may end above the minimum. As there, the last g of `"dscalar"` is the theory's for n / 4 observations. With
#' `"dscalar"` and `nstage = 1` the formula of the second stage is used, with functionals of a normal density. The rate
#' is n^(-1/(d+6)) as in the theory, while \pkg{ks} has n^(-1/(d+8)) and other constants. For `"samse"` \pkg{ks} always
#' takes a binned plug-in matrix. Here it is exact.
#'
#' For derivatives of order r >= 1 the criterion has the Laplacian of each K_M, taken r times, with the sign (-1)^r, and
#' in place of the first term n^(-1) times that of K_2H at zero. The data are sphered or scaled for it, as in \pkg{ks}.
#'
#' The search is that of [Hlscv()]. It starts from the normal reference and stays between 1/32 and 8 times its
#' bandwidths. There is a warning for a minimum at the edge of this range, and for a search that did not converge.
#'
#' @inheritParams Hlscv
#' @param nstage 1 or 2, how often functionals of derivatives are estimated before those of a normal density are used.
#' @param pre how the data are transformed before g is found: `"sphere"` or `"scale"`, for a diagonal matrix only
#'   `"scale"`.
#' @param pilot `"samse"`, `"dscalar"` or, except for a diagonal matrix, `"unconstr"` (at most ten columns).
#' @param Hstart a matrix to start from, in the units of `x`.
#' @param deriv.order the order r of the density derivative that the bandwidth is for, at most 2; 0 is the density. For
#'   r > 0 the pilot is `"dscalar"`.
#' @param engine the engine of the criterion and of the functionals of its pilot: `"auto"`, `"fourier"` (two or three
#'   columns) or `"direct"`, see [engines]. Above 16 columns `"direct"` must be asked for, by this name or by
#'   `backend = "cuda"`.
#' @return The d x d matrix H, in squared units of `x`. With `amise = TRUE` a list:
#'   \item{H}{the matrix}
#'   \item{SCV.star}{the criterion for the data sphered or scaled; for `x` with `"unconstr"`, as in \pkg{ks}}
#'   \item{objective}{the criterion for `x`; for derivatives that for the data sphered or scaled}
#'   \item{convergence}{0 if the search converged inside the range}
#'   \item{evaluations, seconds}{the effort of the search}
#'   \item{engine, backend, device}{how the sums were computed; `device` is the GPU's name}
#'   \item{pilot}{the name of the pilot}
#'   \item{g}{the scalar pilot bandwidths for the data sphered or scaled, first stage first}
#'   \item{G}{the pilot matrix, in squared units of `x`}
#' @section Errors: The errors of [Hlscv()]. Errors of class `kestrel_error_input` are also for a pilot that is unknown
#'   or not available.
#' @section Cost: The cost of [Hlscv()], and for the pilot that of [Hpi()].
#' @references Duong, T. & Hazelton, M.L. (2005) Cross-validation bandwidth matrices for multivariate kernel density
#'   estimation. *Scandinavian Journal of Statistics* **32**, 485-506.
#'
#'   Chacon, J.E. & Duong, T. (2011) Unconstrained pilot selectors for smoothed cross validation. *Australian & New
#'   Zealand Journal of Statistics* **53**, 331-351.
#' @seealso [Hlscv()], [Hpi()], [hscv()]
#' @examples
#' Hscv(faithful)
#' Hscv.diag(faithful)
#' @rdname Hscv-matrix
#' @export
Hscv <- function(x, nstage = 2, pre = "sphere", pilot, Hstart, binned, bgridsize, amise = FALSE, deriv.order = 0,
                 verbose = NULL, optim.fun = "optim", ..., w = NULL, na.action = stats::na.fail,
                 engine = c("auto", "fourier", "direct"), backend = "auto", threads = NULL) {
  check_arguments("Hscv", given_names(...), c("binned", "bgridsize"))
  verbose <- asked_verbose(verbose)
  task <- matrix_task(x, w, na.action, if (!missing(Hstart)) Hstart, amise, deriv.order, optim.fun, "hscv",
                      most = most_in_scv, sketch = TRUE)
  select_by_scv(task, nstage, pre, if (!missing(pilot)) pilot, verbose, matrix_run(threads, backend, engine),
                diagonal = FALSE)
}

#' @rdname Hscv-matrix
#' @export
Hscv.diag <- function(x, nstage = 2, pre = "scale", pilot, Hstart, binned, bgridsize, amise = FALSE, deriv.order = 0,
                      verbose = NULL, optim.fun = "optim", ..., w = NULL, na.action = stats::na.fail,
                      engine = c("auto", "fourier", "direct"), backend = "auto", threads = NULL) {
  check_arguments("Hscv.diag", given_names(...), c("binned", "bgridsize"))
  verbose <- asked_verbose(verbose)
  task <- matrix_task(x, w, na.action, if (!missing(Hstart)) Hstart, amise, deriv.order, optim.fun, "hscv",
                      most = most_in_scv, sketch = TRUE)
  select_by_scv(task, nstage, pre, if (!missing(pilot)) pilot, verbose, matrix_run(threads, backend, engine),
                diagonal = TRUE)
}

# Functionals of order 2 r + 6 are there up to 10.
most_in_scv <- 2L

select_by_scv <- function(task, nstage, pre, pilot, verbose, run, diagonal) {
  nstage <- check_stages(nstage)
  pre <- check_pre(pre, diagonal)
  sample <- task$sample
  d <- ncol(sample$x)
  pilot <- check_pilot(pilot, d, diagonal, task$order)
  check_selector_engine(d, run$engine)
  unit <- near_units(sample$cov)
  area <- outer(unit, unit)
  sample <- in_units(sample, unit)
  root <- pre_transform(sample$cov, if (pilot == "unconstr") "sphere" else pre)
  inverse <- inverse_root(root)
  star <- transformed_sample(expecting(sample, scv = TRUE), inverse)
  # The matrix to compare with, as in select_by_lscv(). The pilots follow correlations.
  spread <- if (diagonal) star$cov * diag(d) else star$cov
  star$order <- task$order
  h0 <- reference_of(star)
  limits <- h0 * c(1 / 32, 8)
  start <- if (is.null(task$Hstart)) {
    h0^2 * spread
  } else {
    check_start(inverse %*% (task$Hstart / area) %*% t(inverse), spread, limits)
  }
  found <- with_search_progress(verbose, "Smoothed cross-validation", function(progress) {
    run$progress <- progress
    with_wide_cells_refused(star, {
      pilots <- scv_pilots(star, nstage, pilot, run, task$order)
      criteria <- criteria_for(replace(star, "cov", list(spread)), run$engine, run)
      criterion <- counted(function(H) criteria$scv(H, pilots$G, gradient = TRUE), progress)
      c(minimise_within(limits, spread, "SCV", criterion, list(start), diagonal, task$optim.fun), pilots,
        by = list(criteria$by()))
    })
  })
  if (length(found$remarks) > 0L) warn_search(paste(found$remarks, collapse = " "))
  H <- moved_back(found$H, root) * area
  dimnames(H) <- dimnames(sample$cov)
  if (!task$amise) return(H)
  # The Laplacian of derivatives is that of the transformed data, as in ks.
  objective <- if (task$order > 0L) found$value else per_volume(found$value / det(root), unit)
  record <- c(list(H = H, SCV.star = if (pilot == "unconstr") objective else found$value, objective = objective,
                   convergence = found$convergence, evaluations = found$evaluations), found$by,
              list(seconds = proc.time()[["elapsed"]] - task$started, pilot = pilot, g = found$g,
                   G = moved_back(found$G, root) * area))
  as_record(record, "Bandwidth matrix by smoothed cross-validation")
}
