# Copulas of numbers and ordered factors.

#' Kernel copula and copula density of mixed data
#'
#' The copula of numbers and ordered factors, from a kernel distribution function, or its density, from a kernel density
#' (Racine 2015). Names and arguments are those of package \pkg{np}. [kcopula()] has copulas on grids.
#'
#' F_k is the distribution function of variable k alone, with the bandwidth and kernel of this variable in `bws`. The
#' copula is
#' \deqn{C(u) = F(F_1^{-1}(u_1), ..., F_d^{-1}(u_d))}{C(u) = F(F_1^(-1)(u_1), ..., F_d^(-1)(u_d))}
#' for the bandwidths of a distribution function. For those of a density it is the density there, divided by the product
#' of the densities of each variable. Without `u` it is given at the observations, at which u_k = F_k(x_k). With `u` it
#' is given at all combinations of the entries of its columns.
#'
#' The inverse of F_k is that of [npquantile()], with `er.quasi.inv` as `f`, and for an ordered factor the first level
#' at which F_k reaches u_k, or the last one.
#'
#' Values at the observations are those of \pkg{np} 0.60. These are the differences:
#'
#'   - \pkg{np} looks up inverses among `n.quasi.inv` points, and so has the copula of larger arguments than `u`. In the
#'     example its C(0.9, 0.2) is 0.2051, more than 0.2, which no copula is there.
#'   - `u` is returned as it was given. \pkg{np} returns it cut to the values that F_k has at these points.
#'   - `u` may be a vector of d numbers, where \pkg{np} ends in an error.
#'   - Densities of variables below 2.2e-16 count as they are. \pkg{np} divides by 2.2e-16.
#'   - The bandwidths of the variables alone are right for `bwscaling = TRUE`, too.
#'
#' @param bws a bandwidth object of [npudistbw()], for the copula, or of [npudensbw()], for its density.
#' @param data a data frame with the variables of `bws`, as `newdata` of [npudist()]. If not given, the data of `bws`.
#' @param u numbers from 0 to 1: a matrix or data frame with a column for each variable, or a vector of one row. At most
#'   as many combinations as memory allows.
#' @param n.quasi.inv has no effect: inverses are not looked up. \pkg{np}'s argument.
#' @param er.quasi.inv by how many times its length the range of a number is extended, beyond which there are no
#'   inverses.
#' @param threads,verbose as in [npregbw()].
#' @param ... no further arguments.
#' @return A data frame with the columns
#'   \item{copula}{the copula or its density}
#'   \item{u1, u2, ...}{its arguments}
#'   and, with `u`, the variables at these arguments. The density is NA where all densities are 0.
#' @section Units: Copulas and arguments have none, and variables those of the data.
#' @section Errors: Errors of class `kestrel_error_input` are for bandwidths of other estimates, for factors without an
#'   order, for missing values in `data`, and for a `u` outside of \[0, 1\] or with other columns.
#' @section Cost: O(n d) for each observation or combination, and for inverses as [npquantile()].
#' @references Racine, J.S. (2015) Mixed data kernel copulas. *Empirical Economics* **48**, 37-59.
#' @seealso [npudistbw()], [npudensbw()]
#' @examples
#' bw <- npudistbw(~ eruptions + waiting, data = faithful, bws = c(0.1, 2),
#'                 bandwidth.compute = FALSE)
#' head(npcopula(bw))
#'
#' script <- function(npcopula, npudistbw) {
#'   bw <- npudistbw(~ eruptions + waiting, data = faithful, bws = c(0.3, 4),
#'                   bandwidth.compute = FALSE)
#'   npcopula(bw, faithful, u = cbind(c(0.1, 0.9), c(0.2, 0.8)))
#' }
#' script(npcopula, npudistbw) # and script(np::npcopula, np::npudistbw)
#' @export
npcopula <- function(bws, data, u = NULL, n.quasi.inv = 1000, er.quasi.inv = 1, ..., threads = NULL, verbose = NULL) {
  check_arguments("npcopula", given_names(...))
  if (missing(bws) || !inherits(bws, "kestrel_densbw") || inherits(bws, "kestrel_condensbw")) {
    abort_input("`bws` must be a bandwidth object of npudistbw() or npudensbw()",
                if (!missing(bws)) paste0(", not ", describe_value(bws)), ".")
  }
  check_object(bws, "bws", "kestrel_densbw")
  if (!missing(n.quasi.inv)) inform_ignored("n.quasi.inv", "inverses are not looked up in a grid")
  f <- check_extension(er.quasi.inv, "er.quasi.inv")
  if (bws$nuno > 0L) {
    abort_input("`bws` must be of numbers and ordered factors, not of the factor `", bws$xnames[bws$iuno][1L], "`.")
  }
  verbose <- asked_verbose(verbose)
  if (!is.null(u)) u <- copula_arguments(u, bws$ndim)
  if (!missing(data)) bws <- with_data_of(bws, data, threads, verbose)
  with_progress(verbose, "Copula", function(progress) {
    copula_values(density_core(bws), density_raw(bws), u, f, c(run_options(threads, "cpu"), progress = progress))
  })
}

# All combinations of the columns of `u`, a data frame.
copula_arguments <- function(u, d) {
  u <- known_as("u", check_points(u, d, "u", of = "bws"))
  check_probabilities(u, "u")
  check_memory(rep(nrow(u), d), 16 * d * nrow(u)^d, "u")
  asplit(u, 2L)
}

# The bandwidth object with other data.
with_data_of <- function(bws, data, threads, verbose) {
  core <- density_core(bws)
  x <- known_as("data", of = "newdata", {
    suppressWarnings(mixed_evaluation_points(core, plain_points(data), NULL), classes = "kestrel_warning_support")
  })
  columns <- unclass(x)[seq_len(core$ndim)]
  if (anyNA(columns, recursive = TRUE)) {
    abort_input("`data` must have only levels that the data of `bws` have, and no missing values.")
  }
  of <- if (is_distribution(core)) npudistbw.default else npudensbw.default
  do.call(of, c(list(frame_of(columns, core$xnames), density_raw(bws), bandwidth.compute = FALSE, threads = threads,
                     verbose = verbose), replace(choices_of(bws, NULL), "bwscaling", FALSE)))
}

# At the data for u = NULL, or at all combinations of the vectors in `u`.
copula_values <- function(core, raw, u, f, run) {
  d <- core$ndim
  distribution <- is_distribution(core)
  margins <- lapply(seq_len(d), function(k) margin_of(core, k))
  points <- if (is.null(u)) {
    unclass(core$x)[seq_len(d)]
  } else {
    lapply(seq_len(d), function(k) {
      if (core$iord[k]) return(margin_levels(margins[[k]], raw[k], u[[k]], run))
      in_dates(margin_quantiles(margins[[k]], raw[k], as.vector(u[[k]]), f, run), core$x[[k]])
    })
  }
  one <- function(k, as) {
    at <- frame_of(points[k], core$xnames[k])
    density_values_at(if (as == "distribution") margins[[k]] else margin_of(core, k, FALSE), raw[k], at, run)$density
  }
  reached <- if (is.null(u)) lapply(seq_len(d), one, "distribution") else lapply(u, as.vector)
  alone <- if (!distribution) lapply(seq_len(d), one, "density")
  if (!is.null(u)) {
    spread <- function(columns) {
      rows <- unclass(expand.grid(lapply(columns, seq_along), KEEP.OUT.ATTRS = FALSE))
      lapply(seq_len(d), function(k) columns[[k]][rows[[k]]])
    }
    points <- spread(points)
    reached <- spread(reached)
    if (!distribution) alone <- spread(alone)
  }
  copula <- density_values_at(core, raw, frame_of(points, core$xnames), run)$density
  if (!distribution) {
    # One by one, because their product may underflow.
    for (density in alone) copula <- ifelse(density == 0, NA_real_, copula / density)
    warn_without_density(sum(is.na(copula)), length(copula))
  }
  made <- c(list(copula), reached, if (!is.null(u)) points)
  frame_of(made, c("copula", paste0("u", seq_len(d)), if (!is.null(u)) core$xnames))
}

warn_without_density <- function(lost, count) {
  if (lost == 0L) return(invisible())
  warn_support(lost, " of ", count, " points ", if (lost == 1L) "has" else "have", " a variable whose density is 0: ",
               if (lost == 1L) "its" else "their", " copula density is NA.")
}
