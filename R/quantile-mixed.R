# Quantiles of distribution functions of one variable.

#' Quantiles by a kernel distribution function
#'
#' Quantiles of a number by the inverse of its kernel distribution function ([npudist()]). Names and arguments are those
#' of package \pkg{np}. [qkde()] has quantiles of a density of [kde()].
#'
#' The quantile is the least x with F(x) >= tau, found by Newton's steps within a bracket to the last digits. \pkg{np}
#' 0.60 takes the least of a grid of `num.eval` points, which is up to a step of the grid too large. Quantiles are cut
#' to the range of the data, extended by `f` times its length to both sides, as in \pkg{np}. So the quantile of 0 is the
#' lower end, and that of 1, of the Gaussian kernel, the upper one. There \pkg{np} has the point at which the computed
#' distribution function rounds to 1. With kernels of higher order F is not monotone, and the result is some x at which
#' it crosses tau.
#'
#' @param x the data, a numeric vector or dates.
#' @param tau probabilities from 0 to 1.
#' @param num.eval has no effect: quantiles are not looked up in a grid. \pkg{np}'s argument.
#' @param bws a bandwidth object of [npudistbw()] of one number, whose bandwidth and kernel are taken, or a bandwidth.
#'   If NULL, [npudistbw()] selects it.
#' @param f by how many times the length of their range the range of the data is extended.
#' @param na.action what to do with missing values, as in [npudistbw()].
#' @param threads,verbose as in [npregbw()].
#' @param ... arguments of [npudistbw()]: `bwmethod`, `ckertype` and others.
#' @return A vector with one quantile for each of `tau`, with names such as `"25%"`.
#' @section Units: Quantiles are in the units of `x`.
#' @section Errors: Errors of class `kestrel_error_input` are for data that are not numbers, probabilities outside of
#'   \[0, 1\], bandwidth objects of other data, and for errors of [npudistbw()].
#' @section Cost: A quantile takes about ten evaluations of the distribution function, O(n) each. Unless `bws` is given,
#'   the cost of [npudistbw()] is added.
#' @references Li, C., Li, H. & Racine, J.S. (2017) Cross-validated mixed datatype bandwidth selection for nonparametric
#'   cumulative distribution/survivor functions. *Econometric Reviews* **36**, 970-987.
#' @seealso [npqreg()] for quantiles given other variables.
#' @examples
#' npquantile(faithful$eruptions)
#' npquantile(faithful$eruptions, tau = 1:3 / 4, bws = 0.1)
#' @export
npquantile <- function(x = NULL, tau = c(0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99), num.eval = 10000, bws = NULL, f = 1,
                       ..., na.action = stats::na.omit, threads = NULL, verbose = NULL) {
  of_bandwidths <- setdiff(npudistbw_arguments(), c("dat", "bandwidth.compute"))
  check_known("npquantile", Filter(nzchar, given_names(...)), c(names(formals(npquantile)), of_bandwidths))
  check_named("npquantile", given_names(...), "f")
  if (!missing(num.eval)) inform_ignored("num.eval", "quantiles are not looked up in a grid")
  if (is.null(x)) abort_input("`x` must be given: a numeric vector.")
  tau <- check_probabilities(tau, "tau")
  f <- check_extension(f, "f")
  variable <- as_variable(named_column(x, "x"), "x", dates = TRUE)
  verbose <- asked_verbose(verbose)
  x <- frame_of(list(in_dates(variable$value, variable$dates)), variable$name)
  object <- inherits(bws, "kestrel_densbw")
  if (object && (!inherits(bws, "kestrel_distbw") || check_object(bws, "bws", "kestrel_densbw")$ncon != 1L ||
                   bws$ndim != 1L)) {
    abort_input("`bws` must be a bandwidth object of npudistbw() of one number.")
  }
  bw <- if (object) {
    check_beside_object(bws, npudistbw.default, ...)
    do.call(npudistbw.default, c(list(x, density_raw(bws), bandwidth.compute = FALSE, na.action = na.action,
                                      threads = threads, verbose = verbose),
                                 replace(choices_of(bws, NULL), "bwscaling", FALSE)))
  } else {
    npudistbw.default(x, bws, bandwidth.compute = is.null(bws), ..., na.action = na.action, threads = threads,
                      verbose = verbose)
  }
  core <- density_core(bw)
  value <- margin_quantiles(core, density_raw(bw), tau, f, run_options(threads, "cpu"))
  stats::setNames(in_dates(value, variable$dates), paste0(tau * 100, "%"))
}

check_probabilities <- function(value, name) {
  value <- plain(value)
  bad <- !is_numbers(value) || length(value) == 0L || anyNA(value)
  first <- if (!bad) value[value < 0 | value > 1][1L] else value
  if (bad || !is.na(first)) abort_input("`", name, "` must be between 0 and 1, not ", describe_value(first), ".")
  value
}

check_extension <- function(value, name) {
  value <- plain(value)
  if (!is_number(value) || value < 0) {
    abort_input("`", name, "` must be a number that is not negative, not ", describe_value(value), ".")
  }
  as.numeric(value)
}

# The distribution function (or, with `distribution = FALSE`, the density) of one column of a core.
margin_of <- function(core, k, distribution = TRUE) {
  c(core[c("nobs", "ckertype", "ckerorder", "ukertype", "okertype")],
    list(x = frame_of(unclass(core$x)[k], core$xnames[k]), given = FALSE, ndim = 1L, ncon = as.integer(core$icon[k]),
         nuno = as.integer(core$iuno[k]), nord = as.integer(core$iord[k]), icon = core$icon[k], iuno = core$iuno[k],
         iord = core$iord[k], xnames = core$xnames[k], distribution = distribution,
         method = if (distribution) "cv.cdf" else "cv.ml"))
}

# Quantiles of a core of one number, cut to the range of the data extended by `f` times its length.
margin_quantiles <- function(core, h, probs, f, run) {
  x <- numbers_of(core$x[[1L]])
  sample <- density_sample(core, run)
  task <- density_task(core, h)
  somewhere <- mixed_points(list(x[1L]), core)
  ends <- range(x) + c(-1, 1) * f * diff(range(x))
  reach <- if (core$ckertype == "gaussian") Inf else h * np_scale(core$ckertype)
  value <- vapply(probs, function(tau) {
    if (tau == 0) return(-Inf)
    if (tau == 1) return(max(x) + reach)
    mixed_quantile_cpp(sample, task, somewhere, tau, run)$quantile
  }, 0)
  pmin(pmax(value, ends[1L]), ends[2L])
}

# The first level at which the distribution function of an ordered factor reaches probabilities, or the last level.
margin_levels <- function(core, lambda, probs, run) {
  levels <- factor(levels(core$x[[1L]]), levels(core$x[[1L]]), ordered = TRUE)
  reached <- density_values_at(core, lambda, frame_of(list(levels), core$xnames), run)$density
  levels[vapply(probs, function(tau) c(which(reached >= tau), length(levels))[1L], 0L)]
}
