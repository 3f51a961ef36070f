# Smoothed cross-validation of a bandwidth matrix (Duong & Hazelton 2005).

#' Bandwidth matrices by smoothed cross-validation
#'
#' The bandwidth matrix H at which the criterion of smoothed cross-validation is least,
#' \deqn{SCV(H) = (4\pi)^{-d/2} |H|^{-1/2} / n + \sum_{i,j} p_i p_j (K_{2H+2G} - 2 K_{H+2G} + K_{2G})(x_i - x_j),}{SCV(H)
#' = (4 pi)^(-d/2) |H|^(-1/2) / n + sum_ij p_i p_j (K_(2H+2G) - 2 K_(H+2G) + K_2G)(x_i - x_j),}
#' with a pilot matrix G = g^2 I for data that are sphered or scaled. The sums over all pairs are exact, never binned.
#'
#' The pilot `"samse"` (Duong & Hazelton 2005) is for two columns the default, as in `ks`, `"dscalar"` (Chacon & Duong
#' 2011) for more. With `"dscalar"` the values agree with `ks::Hscv(binned = FALSE)` for `nstage = 2`; for `nstage = 1`
#' the formula of the second stage is used, which is not that of \pkg{ks}. For `"samse"` \pkg{ks} takes a binned plug-in
#' matrix whatever is asked for, where this is an exact one. The search is that of [Hlscv()], from the normal reference.
#'
#' @inheritParams Hlscv
#' @param nstage 1 or 2, how often functionals of derivatives are estimated before those of a normal density are used.
#' @param pre `"sphere"` or, for a diagonal matrix the only one, `"scale"`: what is done to the data before g is found.
#' @param pilot `"samse"` or `"dscalar"`.
#' @param Hstart a matrix to start from, in the units of `x`.
#' @return The d x d matrix H, in squared units of `x`; with `amise = TRUE` a list: `H`, `SCV.star` (the criterion for
#'   the data sphered or scaled), `objective` (for `x`), `convergence`, `evaluations`, `engine`, `seconds`, `pilot`, `g`.
#' @section Errors: as [Hlscv()].
#' @section Cost: as [Hlscv()].
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
                 verbose = FALSE, optim.fun = "optim", w = NULL) {
  select_by_scv(x, nstage, check_choice(pre, c("sphere", "scale"), "pre"), if (missing(pilot)) NULL else pilot,
                if (missing(Hstart)) NULL else Hstart, amise, deriv.order, verbose, optim.fun, w, diagonal = FALSE)
}

#' @rdname Hscv-matrix
#' @export
Hscv.diag <- function(x, nstage = 2, pre = "scale", pilot, Hstart, binned, bgridsize, amise = FALSE, deriv.order = 0,
                      verbose = FALSE, optim.fun = "optim", w = NULL) {
  if (identical(pre, "sphere")) {
    abort_input("`pre` must be \"scale\" for a diagonal bandwidth matrix, not \"sphere\", which rotates the axes.")
  }
  select_by_scv(x, nstage, check_choice(pre, "scale", "pre"), if (missing(pilot)) NULL else pilot,
                if (missing(Hstart)) NULL else Hstart, amise, deriv.order, verbose, optim.fun, w, diagonal = TRUE)
}

select_by_scv <- function(x, nstage, pre, pilot, Hstart, amise, deriv.order, verbose, optim.fun, w, diagonal) {
  started <- proc.time()[["elapsed"]]
  check_derivative_order(deriv.order, offered = FALSE)
  check_flag(amise, "amise")
  optim.fun <- check_choice(optim.fun, search_methods, "optim.fun")
  nstage <- check_stages(nstage)
  sample <- selector_sample(x, w)
  d <- ncol(sample$x)
  if (d < 2L) abort_input("`x` must have at least two columns for a bandwidth matrix; hscv() takes one.")
  if (d > 16L) abort_input("`x` must have at most 16 columns for smoothed cross-validation, not ", d, ".")
  pilot <- check_choice(if (is.null(pilot)) default_pilot(d) else pilot, known_pilots, "pilot")
  root <- pre_transform(sample$cov, pre)
  inverse <- inverse_root(root, pre)
  star <- transformed_sample(sample, inverse)
  # What matrices are compared with, as in select_by_lscv(). The pilots follow correlations.
  spread <- if (diagonal) star$cov * diag(d) else star$cov
  h0 <- reference_scale(star$n, d, "gaussian")
  limits <- h0 * c(1 / 32, 8)
  start <- if (is.null(Hstart)) h0^2 * spread else {
    check_start(inverse %*% check_H(Hstart, d, "Hstart") %*% inverse, spread, limits)
  }
  found <- with_progress(check_flag(verbose, "verbose"), "Smoothed cross-validation", function(progress) {
    run <- run_options(progress = progress)
    g <- if (pilot == "samse") samse_scv_pilot(star, nstage, run) else {
      unlist(dscalar_pilots(star, nstage, run, scv_factors(d)))
    }
    criteria <- criteria_for(replace(star, "cov", list(spread)), "auto", run)
    G <- diag(g[length(g)]^2, d)
    criterion <- within_limits(function(H) criteria$scv(H, G, gradient = TRUE), spread, limits)
    c(minimise_criterion(criterion, list(start), diagonal, optim.fun),
      list(g = g, engine = criteria$engine))
  })
  if (found$convergence != 0L) {
    warn_search("The search for the least value of SCV did not converge: ", found$message, ".")
  }
  H <- root %*% found$H %*% root
  H <- (H + t(H)) / 2
  dimnames(H) <- dimnames(sample$cov)
  if (!amise) return(H)
  list(H = H, SCV.star = found$value, objective = found$value / det(root), convergence = found$convergence,
       evaluations = found$evaluations, engine = found$engine, seconds = proc.time()[["elapsed"]] - started, pilot = pilot,
       g = found$g)
}

# The g that minimises the leading squared error of the SCV criterion's pilot, summed over the entries of H, at the
# plug-in H of one stage (Duong & Hazelton 2005, eq. 10): like pilot_bandwidth(), with functionals of order six.
samse_scv_pilot <- function(star, nstage, run) {
  d <- ncol(star$x)
  H <- one_stage_matrix(star, run)
  g6 <- if (nstage == 2L) samse_pilot(psi_normal(star$cov, 8L), d, 6L, star$n)
  psi6 <- if (nstage == 2L) psi_order(star, g6, 6L, run) else psi_normal(star$cov, 6L)
  tuples <- as.matrix(expand.grid(rep(list(seq_len(d)), 6L)))
  full <- array(psi6[tuple_positions(unname(tuples), d)], rep(d, 6L))
  # The first and the last index contracted with H, and all others with themselves.
  outer_pair <- matrix(full, d)
  moved <- matrix(H %*% outer_pair, d^5) %*% H
  squared_bias <- sum(matrix(full, d^5) * moved) / 4
  by_matrices <- outer(outer(H, H), diag(d))
  cross <- 3 / 4 * (4 * pi)^(-d / 2) * sum(by_matrices * full)
  diagonal <- (4 * pi)^(-d) * (4 * sum(H * H) + (d + 8) * sum(diag(H))^2) / 64
  slope <- (d + 2) * cross
  g <- (2 * (d + 4) * diagonal /
          ((sqrt(slope^2 + 8 * (d + 4) * squared_bias * diagonal) - slope) * star$n))^(1 / (d + 6))
  c(g6, g)
}

# The plug-in matrix of one stage, for data that are sphered once more.
one_stage_matrix <- function(star, run) {
  d <- ncol(star$x)
  root <- pre_transform(star$cov, "sphere")
  twice <- transformed_sample(list(centred = star$x, w = star$w, n = star$n, cov = star$cov), inverse_root(root, "sphere"))
  g4 <- samse_pilot(psi_normal(twice$cov, 6L), d, 4L, star$n)
  psi4 <- psi_order(twice, g4, 4L, run)
  best <- minimise_over_matrices(amise_criterion(psi4, star$n, d), reference_scale(star$n, d, "gaussian")^2 * twice$cov,
                                 diagonal = FALSE)
  root %*% best$H %*% root
}
