# Probability contours: the level of the p % contour is the (1 - p/100) quantile of the density at the data.

#' Contour levels of a density estimate
#'
#' The region of highest density that holds p % of the probability is fhat(x) >= level. The level is estimated by a
#' quantile of the density at the observations, so that the region holds p % of the sample's weight (Hyndman 1996). The
#' quantiles are of type 7 (see [stats::quantile()]). With weights they are generalised (Akinshin 2023), with the same
#' result for equal weights. Two kinds of estimates use the points of the grid instead, weighted by the probability
#' around them: those for which [read_pdf()] found no data, and integrated marginal densities with data beyond their
#' grid (see [marginal()]).
#'
#' @param x an object made by [kde()]. The default method passes other objects to \pkg{ks} if that is loaded.
#' @param prob probabilities of lying below the level, between 0 and 1.
#' @param cont percentages of the region's content, between 0 and 100: `cont = 25` is `prob = 0.75`. Values that are all
#'   below 1 look like shares and are refused. Give `prob` or `cont`. Without either, round levels over the range of the
#'   estimate are returned.
#' @param nlevels about how many levels when neither `prob` nor `cont` is given.
#' @param approx if TRUE and the estimate is on a grid, compute the density at the data by linear interpolation in the
#'   grid, O(n 2^d). At observations outside of the grid it is exact. If FALSE, compute it exactly everywhere, O(n^2 d).
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @return A numeric vector of levels, in the units of the density, named by the probability below them (as in
#'   \pkg{ks}: the level of `cont = 25` is named 75%).
#' @section Errors: Errors of class `kestrel_error_input` are raised if `prob` or `cont` is out of range, or if both are
#'   given.
#' @section Cost: O(n) for the quantiles. The density at n observations costs O(n 2^d) by interpolation, or as much as
#'   [predict()][predict.kestrel_kde].
#' @references Hyndman, R.J. (1996) Computing and graphing highest density regions. *American Statistician* **50**,
#'   120-126.
#'
#'   Akinshin, A. (2023) Weighted quantile estimators. arXiv:2304.07265.
#' @examples
#' fhat <- kde(faithful)
#' contourLevels(fhat, cont = c(25, 50, 75))
#' @export
contourLevels <- function(x, ...) UseMethod("contourLevels")

#' @rdname contourLevels
#' @export
contourLevels.default <- function(x, ...) {
  if (!isNamespaceLoaded("ks") || !inherits(x, "kde")) {
    abort_input("`x` must be an estimate made by kde(), not ", describe_value(x), ".")
  }
  utils::getFromNamespace("contourLevels", "ks")(x, ...)
}

#' @rdname contourLevels
#' @export
#' @rawNamespace S3method(ks::contourLevels, kestrel_kde)
contourLevels.kestrel_kde <- function(x, prob, cont, nlevels = 5, approx = TRUE, ..., verbose = NULL) {
  check_arguments("contourLevels", given_names(...))
  check_estimate(x, "x")
  verbose <- asked_verbose(verbose)
  prob <- if (!missing(prob)) prob
  cont <- if (!missing(cont)) cont
  if (!is.null(prob) && !is.null(cont)) abort_input("`prob` and `cont` must not both be given.")
  if (is.null(prob) && is.null(cont)) {
    count <- check_count(nlevels, "nlevels")
    if (count > 1e6) {
      abort_input("`nlevels` must be at most a million, not ", describe_value(nlevels), ".")
    }
    return(pretty(x$estimate, n = count))
  }
  if (is.null(prob)) {
    prob <- (100 - check_content(cont)) / 100
  } else {
    prob <- check_between(prob, 1, "prob")
  }
  approx <- check_flag(approx, "approx")
  with_progress(verbose, "Density at the data", function(progress) {
    contour_levels(x, prob, approx, c(run_options(), progress = progress))
  })
}

check_between <- function(value, max, name) {
  value <- plain(value)
  if (!is_numbers(value) || length(value) == 0L || anyNA(value) || any(value < 0 | value > max)) {
    abort_input("`", name, "` must be numbers between 0 and ", max, ", not ", describe_value(value), ".")
  }
  value
}

# Percentages. Who gives a share means 0.95 to be 95 %, so that values up to one are refused unless they are whole, as
# those of 1:99 are, or there are larger ones.
check_content <- function(cont) {
  cont <- check_between(cont, 100, "cont")
  if (max(cont) <= 1 && any(cont %% 1 > 0)) {
    abort_input("`cont` must be in per cent, as in cont = ", describe_value(100 * cont), ", not ",
                describe_value(cont), ".")
  }
  cont
}

# `run`: how to compute the density at the data, if that is needed.
contour_levels <- function(fhat, prob, approx, run = run_options()) {
  if (!has_data(fhat)) {
    if (!fhat$gridded) abort_input("`x` must be an estimate on a grid, if it is one of a sketch.")
    return(grid_levels(axes_of(fhat), fhat$estimate, prob, run))
  }
  if (!approx || !fhat$gridded) {
    density <- if (is_at_data(fhat)) fhat$estimate else density_at(fhat, sample_matrix(fhat), run)
    return(weighted_quantile(density, fhat$w, prob, run))
  }
  density <- interpolate_cpp(axes_of(fhat), fhat$estimate, fhat$x, run)
  # Computed exactly where the grid does not reach: a grid may zoom in on part of the data.
  if (length(density$beyond)) {
    # An integrated density is unknown there.
    if (fhat$kernel_type == "integrated") return(grid_levels(axes_of(fhat), fhat$estimate, prob, run))
    density$value[density$beyond] <- density_at(fhat, sample_matrix(fhat)[density$beyond, , drop = FALSE], run)
  }
  weighted_quantile(density$value, fhat$w, prob, run)
}

# The levels of a density that is known on a grid only. Its points stand in for data, weighted by the mass around them,
# or equally if there is none. Cells and values are taken relative to their maxima, since volumes, and squares of
# masses, may overflow or underflow.
grid_levels <- function(axes, values, prob, run = run_options()) {
  cells <- Reduce(outer, lapply(axes, function(axis) trapezoid_weights(axis) / max(trapezoid_weights(axis))))
  mass <- as.vector(values * 2^-floor(log2(max(values, .Machine$double.xmin))) * cells)
  weighted_quantile(as.vector(values), if (any(mass > 0)) mass else numeric(0), prob, run)
}

# Quantiles of type 7 (Hyndman & Fan 1996) of a weighted sample (Akinshin 2023), named as those of stats::quantile(). No
# weights are equal weights.
weighted_quantile <- function(x, w, prob, run = run_options()) {
  levels <- stats::quantile(0, prob) # for the names
  levels[] <- quantiles_cpp(x, w, prob, run)
  levels
}
