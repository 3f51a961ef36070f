# Smoothed cross-validation in one dimension (Jones, Marron & Park 1991).

#' Smoothed cross-validation bandwidth in one dimension
#'
#' The bandwidth of a Gaussian kernel that minimises an estimate of the mean integrated squared error in which the
#' squared bias is that of a pilot estimate with bandwidth g:
#' \deqn{SCV(h) = R(K) / (n h) + n^{-2} \sum_{i,j} \{\phi_{\sqrt{2h^2 + 2g^2}} - 2 \phi_{\sqrt{h^2 + 2g^2}} +
#' \phi_{\sqrt 2 g}\}(x_i - x_j).}{SCV(h) = R(K) / (n h) + n^-2 sum_ij {phi_s2 - 2 phi_s1 + phi_s0}(x_i - x_j),  sk^2 =
#' k h^2 + 2 g^2.}
#' Here phi_s is the N(0, s^2) density. The pilot bandwidth is g = C n^(-23/45) h^-2 (Jones, Marron & Park 1991), which
#' gives the relative rate n^(-1/2). The constant
#' \deqn{C = (441 / (64 \pi))^{1/18} (4 \pi)^{-1/5} \psi_4^{-2/5} \psi_8^{-1/9}}{C = (441 / (64 pi))^(1/18)
#' (4 pi)^(-1/5) psi_4^(-2/5) psi_8^(-1/9)}
#' takes the functionals [psi()] from pilot estimates. With `nstage = 2` their bandwidths rest on estimates of psi_6
#' and psi_10, with `nstage = 1` on the values for a normal density.
#'
#' The minimum is the global one over \[0.1, 2\] times the normal reference bandwidth [hns()], the range of \pkg{ks}.
#' The criterion is computed on a grid of 200 bandwidths, equally spaced in their logarithm. A search follows in every
#' interval that could hold the minimum. The sums are exact, and the values agree with `ks::hscv(binned = FALSE)` to
#' the accuracy of its search.
#'
#' @inheritParams hpi
#' @param nstage number of stages of the pilot estimates, 1 or 2.
#' @param x as for [hpi()]. Of a sketch the criterion is computed only for those h whose pilot bandwidth its cells
#'   serve. These are all but the largest ones.
#' @param plot if TRUE, the criterion is drawn against h.
#' @param amise if TRUE, a list with the value of the criterion and a record of the search is returned.
#' @param backend as in [hlscv()].
#' @return A positive number in the units of `x`. With `amise = TRUE` a list:
#'   \item{h}{the bandwidth}
#'   \item{objective}{SCV(h), in units of 1/x}
#'   \item{convergence}{0, or 1 if the minimum is at an end of the range}
#'   \item{evaluations, seconds}{the effort of the search}
#'   \item{engine, backend, device}{how the sums were computed; `device` is the GPU's name}
#'   \item{curve}{a data frame: `h` and `objective` on the grid}
#'   \item{C}{the constant, in the units of `x` cubed; Inf or 0 if it is beyond the range of numbers}
#'   \item{g}{the pilot bandwidth at h}
#' @section Errors: The errors of [hpi()]. Errors of class `kestrel_error_input` are also for more than one column.
#' @section Warnings: Warnings of class `kestrel_warning_search` are for a minimum at an end of the range.
#' @section Cost: O(n) to prepare each sum over pairs, and then some microseconds a bandwidth for any n. On a GPU the
#'   cost is O(n^2) for each of about 600 bandwidths.
#' @references Jones, M.C., Marron, J.S. & Park, B.U. (1991) A simple root n bandwidth selector. *Annals of Statistics*
#'   **19**, 1919-1932.
#'
#'   Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall, section 3.7.
#' @seealso [hpi()], [hlscv()], [psi()]
#' @examples
#' hscv(faithful$eruptions)
#' hscv(precip, nstage = 1, plot = TRUE)
#' @export
hscv <- function(x, nstage = 2, binned, bgridsize, plot = FALSE, ..., amise = FALSE, w = NULL,
                 na.action = stats::na.fail, backend = "auto", threads = NULL, verbose = NULL) {
  check_arguments("hscv", given_names(...), c("binned", "bgridsize"))
  verbose <- asked_verbose(verbose)
  started <- proc.time()[["elapsed"]]
  nstage <- check_stages(nstage)
  plot <- check_flag(plot, "plot")
  amise <- check_flag(amise, "amise")
  sample <- selector_sample(x, w, na.action, sketch = TRUE)
  check_one_column(sample, "hscv", "Hscv")
  scale <- sqrt(sample$cov[1L, 1L])
  run <- check_sketch_run(sample, line_run(threads, backend))
  # In units of the standard deviation, so that no power of it overflows. The cells of a sketch stay as they are.
  unit <- if (is_of_sketch(sample)) c(sample, scale = scale) else c(standardised(sample, scale), scale = 1)
  range <- c(0.1, 2) * reference_scale(unit$n, 1L, "gaussian")
  search <- function(progress) {
    run$progress <- progress
    constant <- scv_constant(unit, nstage, run)
    # The curve is worth its cells, which serve all of its bandwidths.
    pairs <- line_pairs(unit, run)
    served <- served_pilots(unit, constant)
    curve <- counted(function(h) {
      value <- rep(Inf, length(h))
      value[served(h)] <- scv_curve(pairs, unit$n, h[served(h)], constant, run, unit$scale)
      value
    }, progress)
    found <- minimise_curve(curve, range, 200L)
    if (!served(1.05 * found$h) && found$h < range[2L]) abort_wide(sample$sketch)
    found$curve <- found$curve[is.finite(found$curve$objective), ]
    c(found, constant = constant, by = list(pairs_by_cpp(pairs)))
  }
  found <- with_wide_cells_refused(sample, with_search_progress(verbose, "Smoothed cross-validation", search))
  found$h <- found$h * scale
  found$objective <- found$objective / scale
  found$curve <- data.frame(h = found$curve$h * scale, objective = found$curve$objective / scale)
  warn_minimum("SCV", found)
  if (plot) draw_objective(found, "SCV(h)")
  if (!amise) return(found$h)
  record <- c(list(h = found$h, objective = found$objective, convergence = found$convergence,
                   evaluations = found$evaluations), found$by,
              list(seconds = proc.time()[["elapsed"]] - started, curve = found$curve,
                   C = times_power(found$constant, scale, 3),
                   g = scv_pilot(unit$n, found$h / scale, found$constant) * scale))
  as_record(record, "Bandwidth by smoothed cross-validation")
}

# The C of the pilot bandwidth, for data of standard deviation one. The bandwidths of psi_6 and psi_10 are those that
# are asymptotically optimal for normal data.
scv_constant <- function(unit, nstage, run) {
  n <- unit$n
  start <- function(r) (2 / ((r + 1) * n))^(1 / (r + 3)) * sqrt(2)
  psi <- function(g, r) {
    g <- g * unit$scale
    times_power(psi_1d(line_pairs(unit, run, g), g, r, run), unit$scale, r + 1)
  }
  ahead <- function(r) if (nstage == 2L) psi(start(r), r) else psi_normal(matrix(1), r)
  estimated <- function(r) psi(balanced_bandwidth(r, ahead(r + 2L), n), r)
  (441 / (64 * pi))^(1 / 18) * (4 * pi)^(-1 / 5) * estimated(4L)^(-2 / 5) * estimated(8L)^(-1 / 9)
}

# Whether the cells serve the pilot of a bandwidth, those of a sketch. The pilots of large bandwidths are so small that
# they alone would need narrower cells.
served_pilots <- function(unit, constant) {
  if (!is_of_sketch(unit)) return(function(h) rep(TRUE, length(h)))
  least <- unit$sketch$sums / unit$scale * (1 + 1e-9)
  function(h) sqrt(2) * scv_pilot(unit$n, h, constant) >= least
}

scv_pilot <- function(n, h, constant) constant * n^(-23 / 45) * h^-2

# The criterion of Hscv() in one dimension, with its pilot for every h, in units of `scale`.
scv_curve <- function(pairs, n, h, constant, run, scale) {
  task <- list(H = (h * scale)^2, G = (scv_pilot(n, h, constant) * scale)^2, gradient = FALSE)
  scv_cpp(pairs, task, run) * scale
}

draw_objective <- function(found, label) {
  curve <- found$curve
  empty_plot(range(curve$h), range(curve$objective), list(), xlab = "Bandwidth h", ylab = label,
             note = paste0("Broken line: minimum at h = ", format_short(found$h)))
  graphics::abline(v = found$h, lty = 2, col = colours$faint)
  graphics::lines(curve$h, curve$objective, col = colours$curve, lwd = 2)
}
