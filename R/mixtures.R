# Densities that are known: mixtures of normal and of t distributions, in the form of ks. Matrices of the components are
# stacked, one below the other.

#' Mixtures of normal and t distributions
#'
#' Random numbers, densities and moments of mixtures, as test densities for estimators.
#'
#' The parameters have the forms of \pkg{ks}. In one dimension `mus` and `sigmas` are vectors with an entry for each of
#' the k components. In several dimensions `mus` is a k x d matrix (a vector for one component), and `Sigmas` is a
#' (k d) x d matrix of the k covariance matrices, one below the other. A seed gives the draws of \pkg{ks}.
#'
#' @param x points: a vector (d = 1; for d > 1 a vector of length d is one point), or a matrix or data frame with d
#'   columns.
#' @param n number of draws.
#' @param mus means.
#' @param sigmas standard deviations, positive.
#' @param Sigmas covariance matrices; for `dmvt.mixt()` and `rmvt.mixt()` scale matrices, whose covariances are
#'   dfs / (dfs - 2) times as large.
#' @param props proportions, which add to one.
#' @param dfs degrees of freedom, one for each component.
#' @param mixt.label TRUE to return the number of the component of each draw, too, in a last column.
#' @param verbose accepted for scripts written for \pkg{ks}, without effect.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @return `rnorm.mixt()`: a vector of n draws; the others of this kind: an n x d matrix; with labels a matrix with one
#'   more column. The densities: a vector. `moments.mixt()`: a list of `mean` and `var`.
#' @section Units: Densities are in 1 / volume.
#' @section Errors: Errors of class `kestrel_error_input` are for proportions that are negative or do not add to one,
#'   for means, deviations and matrices of another number or size, and for matrices that are not symmetric and positive
#'   definite.
#' @section Cost: O(n k d^2).
#' @references Marron, J.S. & Wand, M.P. (1992) Exact mean integrated squared error. *Annals of Statistics* **20**,
#'   712-736.
#' @seealso [mise.mixt()], [plotmixt()]
#' @examples
#' mus <- rbind(c(-1, 0), c(1, 0.5))
#' Sigmas <- rbind(diag(2) / 4, matrix(c(1, 0.5, 0.5, 1) / 3, 2))
#' set.seed(1)
#' x <- rmvnorm.mixt(500, mus, Sigmas, c(0.4, 0.6))
#' dmvnorm.mixt(c(0, 0), mus, Sigmas, c(0.4, 0.6))
#' moments.mixt(mus, Sigmas, c(0.4, 0.6))
#' @name mixtures
NULL

#' @rdname mixtures
#' @export
rnorm.mixt <- function(n = 100, mus = 0, sigmas = 1, props = 1, mixt.label = FALSE, ...) {
  check_arguments("rnorm.mixt", given_names(...))
  n <- check_count(n, "n")
  labelled <- check_flag(mixt.label, "mixt.label")
  mixture <- check_line_mixture(mus, sigmas, props)
  draws <- mixture_draws(n, mixture, function(count, k) {
    matrix(stats::rnorm(count, mixture$mus[k, 1L], sqrt(mixture$Sigmas[[k]])))
  }, labelled)
  if (labelled) draws else as.vector(draws)
}

#' @rdname mixtures
#' @export
dnorm.mixt <- function(x, mus = 0, sigmas = 1, props = 1, ...) {
  check_arguments("dnorm.mixt", given_names(...))
  mixture <- check_line_mixture(mus, sigmas, props)
  mixture_density(check_points(x, 1L, "x", of = "mus"), mixture, normal_density)
}

#' @rdname mixtures
#' @export
rmvnorm.mixt <- function(n = 100, mus = c(0, 0), Sigmas = diag(2), props = 1, mixt.label = FALSE, ...) {
  check_arguments("rmvnorm.mixt", given_names(...))
  n <- check_count(n, "n")
  labelled <- check_flag(mixt.label, "mixt.label")
  mixture <- check_mixture(mus, Sigmas, props)
  mixture_draws(n, mixture, function(count, k) {
    sweep(normal_noise(count, mixture$Sigmas[[k]]), 2L, mixture$mus[k, ], "+")
  }, labelled)
}

#' @rdname mixtures
#' @export
dmvnorm.mixt <- function(x, mus, Sigmas, props = 1, verbose = NULL, ...) {
  check_arguments("dmvnorm.mixt", given_names(...))
  asked_verbose(verbose)
  mixture <- check_mixture(mus, Sigmas, props)
  mixture_density(check_points(x, ncol(mixture$mus), "x", of = "mus"), mixture, normal_density)
}

#' @rdname mixtures
#' @export
rmvt.mixt <- function(n = 100, mus = c(0, 0), Sigmas = diag(2), dfs = 7, props = 1, ...) {
  check_arguments("rmvt.mixt", given_names(...))
  n <- check_count(n, "n")
  mixture <- check_mixture(mus, Sigmas, props)
  dfs <- check_freedom(dfs, length(mixture$props))
  mixture_draws(n, mixture, function(count, k) {
    noise <- normal_noise(count, mixture$Sigmas[[k]])
    sweep(noise / sqrt(stats::rchisq(count, dfs[k]) / dfs[k]), 2L, mixture$mus[k, ], "+")
  }, FALSE)
}

#' @rdname mixtures
#' @export
dmvt.mixt <- function(x, mus, Sigmas, dfs, props, ...) {
  check_arguments("dmvt.mixt", given_names(...))
  mixture <- check_mixture(mus, Sigmas, props)
  dfs <- check_freedom(dfs, length(mixture$props))
  mixture_density(check_points(x, ncol(mixture$mus), "x", of = "mus"), mixture, t_density(dfs))
}

#' @rdname mixtures
#' @export
moments.mixt <- function(mus, Sigmas, props, ...) {
  check_arguments("moments.mixt", given_names(...))
  weighted_moments(check_mixture(mus, Sigmas, props))
}

weighted_moments <- function(mixture) {
  mean <- colSums(mixture$props * mixture$mus)
  around <- sweep(mixture$mus, 2L, mean)
  list(mean = mean, var = weighted_matrices(mixture) + crossprod(sqrt(mixture$props) * around))
}

weighted_matrices <- function(mixture) Reduce(`+`, Map(`*`, mixture$Sigmas, mixture$props))

# ---- The form of a mixture: mus, k x d; Sigmas, a list of k matrices; props.
check_props <- function(props) {
  props <- plain(props)
  if (is_numbers(props) && length(props) > 1e6) {
    abort_input("`props` must be at most a million proportions, not ", length(props), ".")
  }
  if (!is_numbers(props) || length(props) == 0L || !all(is.finite(props)) || any(props < 0) ||
        abs(sum(props) - 1) > 1e-8) {
    abort_input("`props` must be proportions, not negative, that add to one, not ", describe_value(props), ".")
  }
  as.numeric(props)
}

check_line_mixture <- function(mus, sigmas, props) {
  props <- check_props(props)
  k <- length(props)
  mus <- check_length(mus, k, "mus", "`props`")
  sigmas <- check_positives(sigmas, "sigmas")
  check_length(sigmas, k, "sigmas", "`props`")
  list(mus = matrix(mus, k), Sigmas = lapply(sigmas, function(sigma) matrix(sigma^2)), props = props)
}

check_mixture <- function(mus, Sigmas, props) {
  props <- check_props(props)
  k <- length(props)
  Sigmas <- plain(Sigmas)
  if (is_numbers(Sigmas) && length(dim(Sigmas)) < 2L && length(Sigmas) == k) Sigmas <- matrix(Sigmas, k)
  if (!is_numbers(Sigmas) || !is.matrix(Sigmas) || length(Sigmas) == 0L || nrow(Sigmas) != k * ncol(Sigmas)) {
    abort_input("`Sigmas` must be ", k, " square matri", if (k == 1L) "x" else "ces, one below the other", ", not ",
                describe_value(Sigmas), ".")
  }
  d <- ncol(Sigmas)
  mus <- plain_points(mus)
  if (is_numbers(mus) && length(dim(mus)) < 2L && length(mus) == k * d) mus <- matrix(mus, k, byrow = d > 1L)
  mus <- check_points(mus, d, "mus", of = "Sigmas")
  if (nrow(mus) != k) abort_input("`mus` must have a row for each of the ", k, " components, not ", nrow(mus), ".")
  list(mus = unname(mus), Sigmas = lapply(stacked_matrices(Sigmas), check_H, d, "Sigmas"), props = props)
}

check_freedom <- function(dfs, k) check_length(check_positives(dfs, "dfs"), k, "dfs", "`props`")

# ---- Draws and densities
# In the order of ks: the components, the draws of one after another, and a permutation.
mixture_draws <- function(n, mixture, draw, labelled) {
  k <- length(mixture$props)
  count <- if (k == 1L) n else tabulate(sample.int(k, n, replace = TRUE, prob = mixture$props), k)
  draws <- do.call(rbind, lapply(which(count > 0L), function(j) draw(count[j], j)))
  if (labelled) draws <- cbind(draws, rep(seq_len(k), count))
  draws[sample.int(n), , drop = FALSE]
}

# Normal numbers row by row times the symmetric root, as mvtnorm::rmvnorm() has them.
normal_noise <- function(n, Sigma) {
  noise <- in_parts(n * ncol(Sigma), part_size, function(part) stats::rnorm(length(part)))
  heard()
  noise <- matrix(noise, n, byrow = TRUE)
  heard()
  noise %*% matrix_root(Sigma)
}

normal_density <- function(squares, volume, d, k) exp(-squares / 2) / ((2 * pi)^(d / 2) * volume)

# `density`: of squared distances in units of component k, whose matrix has a root of this volume.
t_density <- function(dfs) {
  function(squares, volume, d, k) {
    df <- dfs[k]
    exp(lgamma((df + d) / 2) - lgamma(df / 2) - d / 2 * log(df * pi) - (df + d) / 2 * log1p(squares / df)) / volume
  }
}

mixture_density <- function(points, mixture, density) {
  d <- ncol(points)
  total <- numeric(nrow(points))
  for (k in seq_along(mixture$props)) {
    root <- lower_root_cpp(mixture$Sigmas[[k]])
    squares <- colSums(forwardsolve(root, t(points) - mixture$mus[k, ])^2)
    total <- total + mixture$props[k] * density(squares, prod(diag(root)), d, k)
    heard()
  }
  total
}

# ---- Plot
#' Plot of a mixture
#'
#' Draws the density of a normal or t mixture in one or two dimensions, as [plot()][plot.kestrel_kde] draws an estimate.
#'
#' @inheritParams mixtures
#' @param dist `"normal"` or `"t"`.
#' @param draw FALSE to draw nothing.
#' @param deriv.order,which.deriv.ind only 0 and 1, the density itself.
#' @param binned accepted for scripts written for \pkg{ks}, without effect.
#' @param ... more arguments of [plot()][plot.kestrel_kde]. In two dimensions contours of `cont` hold that share of the
#'   probability on the grid.
#' @return A list of `eval.points` (a vector, or in two dimensions a list of two axes), `estimate` (the density there)
#'   and `names`, invisibly if it is drawn.
#' @section Units: Densities are in 1 / volume.
#' @section Errors: Those of [mixtures] and of [plot()][plot.kestrel_kde], and of class `kestrel_error_input` for more
#'   than two dimensions.
#' @section Cost: O(k) for each point of the grid, which has 401 or 151 x 151 points.
#' @references Marron, J.S. & Wand, M.P. (1992) Exact mean integrated squared error. *Annals of Statistics* **20**,
#'   712-736.
#' @examples
#' plotmixt(mus = c(0, 3), sigmas = c(1, 0.5), props = c(0.4, 0.6))
#' plotmixt(mus = rbind(c(-1, 0), c(1, 1)), Sigmas = rbind(diag(2), diag(2) / 4), props = c(0.5, 0.5))
#' @export
plotmixt <- function(mus, sigmas, Sigmas, props, dfs, dist = "normal", draw = TRUE, deriv.order = 0,
                     which.deriv.ind = 1, binned = TRUE, ...) {
  check_derivative_order(deriv.order, offered = FALSE)
  if (check_count(which.deriv.ind, "which.deriv.ind") != 1L) {
    abort_input("`which.deriv.ind` must be 1, the density itself, not ", describe_value(which.deriv.ind), ".")
  }
  check_flag(binned, "binned")
  dist <- check_choice(dist, c("normal", "t"), "dist")
  draw <- check_flag(draw, "draw")
  line <- missing(Sigmas)
  if (line && missing(sigmas)) abort_input("`Sigmas` must be given, or `sigmas` in one dimension.")
  mixture <- if (line) check_line_mixture(mus, sigmas, props) else check_mixture(mus, Sigmas, props)
  d <- ncol(mixture$mus)
  if (d > 2L) abort_input("`mus` must have one or two columns to be drawn, not ", d, ".")
  if (dist == "t" && missing(dfs)) abort_input("`dfs` must be given for dist = \"t\".")
  dfs <- if (dist == "t") check_freedom(dfs, length(mixture$props))
  axes <- axes_of_mixture(mixture, if (dist == "t") 6 else 3.7)
  points <- as.matrix(grid_points(axes))
  estimate <- if (dist == "t") mixture_density(points, mixture, t_density(dfs)) else
    mixture_density(points, mixture, normal_density)
  names <- c("x", "y")[seq_len(d)]
  shown <- list(eval.points = if (d == 1L) axes[[1L]] else axes,
                estimate = on_axes(estimate, axes), names = names)
  if (!draw) return(shown)
  # A density without data, which contours take from the grid.
  fhat <- new_density(list(x = matrix(0, 0L, d), w = numeric(0), names = names), diag(d), "gaussian", "integrated",
                      NULL, list(engine = "direct", backend = "cpu", tol = 1e-12))
  fhat[c("eval.points", "estimate")] <- shown[c("eval.points", "estimate")]
  fhat$gridtype <- rep("linear", d)
  fhat$gridded <- TRUE
  fhat$seconds <- 0
  fhat$n <- 1L
  fhat$n_eff <- 1
  fhat$call <- quote(plotmixt())
  plot(fhat, ...)
  invisible(shown)
}

axes_of_mixture <- function(mixture, reach) {
  lapply(seq_len(ncol(mixture$mus)), function(k) {
    sd <- sqrt(vapply(mixture$Sigmas, function(Sigma) Sigma[k, k], 0))
    seq(min(mixture$mus[, k] - reach * sd), max(mixture$mus[, k] + reach * sd),
        length.out = default_gridsize(ncol(mixture$mus))[k])
  })
}
