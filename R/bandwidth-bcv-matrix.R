# Biased cross-validation of a bandwidth matrix.

#' Bandwidth matrices by biased cross-validation
#'
#' The bandwidth matrix H that minimises an estimate of the asymptotic mean integrated squared error whose curvature is
#' that of the estimate itself (Sain, Baggerly & Scott 1994),
#' \deqn{BCV(H) = (4 \pi)^{-d/2} |H|^{-1/2} / n + (n (n-1))^{-1} \sum_{i \ne j} (tr H D^2)^2 \phi_{cH}(x_i - x_j) /
#' 4.}{BCV(H) = (4 pi)^(-d/2) |H|^(-1/2) / n + (n (n - 1))^(-1) sum_(i != j) (tr H D^2)^2 phi_cH(x_i - x_j) / 4.}
#' D^2 is the matrix of second derivatives. With `whichbcv = 1` c is 1, and with `whichbcv = 2` it is 2.
#'
#' For large H the criterion goes to 0. So the search ends at the oversmoothed matrix of Terrell (1990), relative to the
#' covariance S along every direction. It is
#' \deqn{k S, k = (((d + 8)^{(d+6)/2} \pi^{d/2} R) / (16 n (d + 2) \Gamma(d/2 + 4)))^{2/(d+4)},}{k S, k = (((d +
#' 8)^((d+6)/2) pi^(d/2) R) / (16 n (d + 2) Gamma(d/2 + 4)))^(2/(d+4)),}
#' with R = (4 pi)^(-d/2). If the criterion is least at that edge, a warning says so.
#'
#' \pkg{ks} (1.14) divides the sum by n (n - 1) twice. Its curvature has no weight, and its H is at the edge.
#'
#' @inheritParams Hlscv
#' @param x a matrix or data frame with n rows and two to ten columns.
#' @param whichbcv 1 or 2.
#' @param Hstart where the search starts, a d x d matrix; otherwise from several multiples of the covariance and of its
#'   diagonal.
#' @param binned accepted for scripts written for \pkg{ks}, without effect: the sums are exact.
#' @param amise if TRUE, a list with the value of the criterion and a record of the search is returned.
#' @return A d x d matrix, in squared units of `x`. With `amise = TRUE` a list of `H`, `BCV`, `objective` (the same
#'   value), `convergence` (0 if the search converged), `evaluations`, `engine`, `backend` and `seconds`.
#' @section Errors: Those of \code{\link{Hlscv}()}, and of class `kestrel_error_input` for a `whichbcv` that is not 1 or
#'   2, and more than ten columns.
#' @section Cost: Each step of the search takes the functionals of orders four and six, as \code{\link{Hpi}()} does
#'   once: O(n) in two and three dimensions, and O(n^2) in more.
#' @references Sain, S.R., Baggerly, K.A. & Scott, D.W. (1994) Cross-validation of multivariate densities. *Journal of
#'   the American Statistical Association* **89**, 807-817.
#'
#'   Terrell, G.R. (1990) The maximal smoothing principle in density estimation. *Journal of the American Statistical
#'   Association* **85**, 470-477.
#' @seealso \code{\link{Hlscv}()}, \code{\link{Hpi}()}
#' @examples
#' Hbcv(faithful)
#' Hbcv.diag(faithful, whichbcv = 2)
#' @rdname Hbcv-matrix
#' @export
Hbcv <- function(x, whichbcv = 1, Hstart, binned = FALSE, amise = FALSE, verbose = NULL, ..., w = NULL,
                 na.action = stats::na.fail, threads = NULL) {
  check_arguments("Hbcv", given_names(...), "binned")
  verbose <- asked_verbose(verbose)
  task <- matrix_task(x, w, na.action, if (!missing(Hstart)) Hstart, amise, 0, "optim", "hpi")
  select_by_bcv(task, whichbcv, verbose, run_options(threads), diagonal = FALSE)
}

#' @rdname Hbcv-matrix
#' @export
Hbcv.diag <- function(x, whichbcv = 1, Hstart, binned = FALSE, amise = FALSE, verbose = NULL, ..., w = NULL,
                      na.action = stats::na.fail, threads = NULL) {
  check_arguments("Hbcv.diag", given_names(...), "binned")
  verbose <- asked_verbose(verbose)
  task <- matrix_task(x, w, na.action, if (!missing(Hstart)) Hstart, amise, 0, "optim", "hpi")
  select_by_bcv(task, whichbcv, verbose, run_options(threads), diagonal = TRUE)
}

select_by_bcv <- function(task, whichbcv, verbose, run, diagonal) {
  which <- check_count(whichbcv, "whichbcv")
  if (which > 2L) abort_input("`whichbcv` must be 1 or 2, not ", describe_value(whichbcv), ".")
  d <- ncol(task$sample$x)
  if (d > unconstrained_dimensions) {
    abort_input("`x` must have at most ", unconstrained_dimensions, " columns for biased cross-validation, not ", d,
                ".")
  }
  unit <- near_units(task$sample$cov)
  area <- outer(unit, unit)
  sample <- in_units(task$sample, unit)
  if (diagonal) sample <- without_correlations(sample)
  limits <- c(reference_scale(sample$n, d, "gaussian") / 32, sqrt(oversmoothed_multiple(sample$n, d)))
  starts <- bcv_starts(sample, diagonal)
  if (!is.null(task$Hstart)) {
    starts <- list(task$Hstart / area)
    check_start(starts[[1L]], sample$cov, limits)
  }
  engine <- NULL
  found <- with_search_progress(verbose, "Cross-validation", function(progress) {
    run$progress <- progress
    criterion <- bcv_criterion(sample, which, run, function(by) engine <<- by)
    minimise_within(limits, sample$cov, "BCV", counted(criterion, progress), starts, diagonal, "optim")
  })
  if (length(found$remarks) > 0L) warn_search(paste(found$remarks, collapse = " "))
  H <- structure(found$H * area, dimnames = dimnames(sample$cov))
  if (!task$amise) return(H)
  value <- per_volume(found$value, unit)
  record <- c(list(H = H, BCV = value, objective = value), found[c("convergence", "evaluations")], engine,
              list(seconds = proc.time()[["elapsed"]] - task$started))
  as_record(record, "Bandwidth matrix by biased cross-validation")
}

# Terrell (1990), theorem 3, for the Gaussian kernel.
oversmoothed_multiple <- function(n, d) {
  ((d + 8)^((d + 6) / 2) * pi^(d / 2) * (4 * pi)^(-d / 2) / (16 * n * (d + 2) * gamma(d / 2 + 4)))^(2 / (d + 4))
}

bcv_starts <- function(sample, diagonal) {
  h <- reference_scale(sample$n, ncol(sample$x), "gaussian") * c(1 / 4, 1 / 2, 1)
  shapes <- c(if (!diagonal) list(sample$cov), list(diag(diag(sample$cov))))
  unlist(lapply(shapes, function(S) lapply(h, function(h) unname(h^2 * S))), recursive = FALSE)
}

# BCV with its gradient. In coordinates in which H is the identity, (tr H D^2)^2 is the iterated Laplacian. As
# dphi_cH / dH = c D^2 phi_cH / 2, the gradient needs the functionals of order six.
bcv_criterion <- function(sample, c, run, said) {
  d <- ncol(sample$x)
  p2 <- 1 / sample$n
  function(H) {
    root <- lower_root_cpp(unname(H))
    inverse <- inverse_root(root)
    by_H <- transformed_sample(sample, inverse)
    # Without the terms i = j.
    psi <- function(order) {
      all <- psi_order(by_H, sqrt(c), order, run)
      said(attr(all, "by"))
      (as.vector(all) - p2 * normal_derivatives(diag(c, d), order)) / (1 - p2)
    }
    by_pair <- psi_contracted(psi(4L), d, 2L)
    ahead <- psi_contracted(psi_contracted(psi(6L), d, 4L), d, 2L)
    volume <- prod(diag(root))
    variance <- (4 * pi)^(-d / 2) / (sample$n * volume)
    bias <- psi_contracted(by_pair, d, 0L) / (4 * volume)
    slope <- as_symmetric(2 * by_pair + c / 2 * ahead, d) / (4 * volume) - variance / 2 * diag(d)
    gradient <- t(inverse) %*% slope %*% inverse
    structure(variance + bias, gradient = (gradient + t(gradient)) / 2)
  }
}
