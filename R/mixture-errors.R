# Errors of kernel estimates of normal mixtures.

#' Errors of a kernel estimate of a normal mixture
#'
#' The mean integrated squared error of a Gaussian kernel density estimate when the density is a normal mixture, exact
#' (`mise.mixt`) and asymptotic (`amise.mixt`), and the integrated squared error of the estimate from a sample
#' (`ise.mixt`).
#'
#' With \eqn{\Omega_a}{Omega_a} the matrix of normal densities with covariances a H + Sigma_k + Sigma_l at mu_k - mu_l,
#' and p the proportions (Wand & Jones 1995, section 4.4), \deqn{MISE(H) = (4\pi)^{-d/2} |H|^{-1/2} / n + p' ((1 - 1/n)
#' \Omega_2 - 2 \Omega_1 + \Omega_0) p.}{MISE(H) = (4 pi)^(-d/2) |H|^(-1/2) / n + p' ((1 - 1/n) Omega_2 - 2 Omega_1 +
#' Omega_0) p.}
#'
#' @inheritParams mixtures
#' @param H bandwidth matrix, d x d; in one dimension `h` and `sigmas` take the place of `H` and `Sigmas`.
#' @param h bandwidth, a positive number.
#' @param samp sample size.
#' @param x for `ise.mixt` the sample, a vector (d = 1), or a matrix or data frame with d columns.
#' @param deriv.order only 0, the density itself.
#' @param binned,bgridsize accepted for scripts written for \pkg{ks}, without effect: the sums are exact.
#' @param threads the number of threads, all by default.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @return A number.
#' @section Units: In 1 / volume.
#' @section Errors: Errors of class `kestrel_error_input` are for a mixture that is not one (see [mixtures]), for a
#'   bandwidth that is missing or not positive definite, and for data of another dimension.
#' @section Cost: O(k^2 d^3) for k components. `ise.mixt` costs as much as [kde()] at the data.
#' @references Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall, section 4.4.
#'
#'   Marron, J.S. & Wand, M.P. (1992) Exact mean integrated squared error. *Annals of Statistics* **20**, 712-736.
#' @examples
#' mus <- c(0, 3)
#' sigmas <- c(1, 0.5)
#' props <- c(0.4, 0.6)
#' mise.mixt(h = 0.3, mus = mus, sigmas = sigmas, props = props, samp = 100)
#' amise.mixt(h = 0.3, mus = mus, sigmas = sigmas, props = props, samp = 100)
#' set.seed(1)
#' x <- rnorm.mixt(100, mus, sigmas, props)
#' ise.mixt(x, h = hpi(x), mus = mus, sigmas = sigmas, props = props)
#' @export
mise.mixt <- function(H, mus, Sigmas, props, samp, h, sigmas, deriv.order = 0, ...) {
  check_arguments("mise.mixt", given_names(...))
  check_derivative_order(deriv.order, offered = FALSE)
  known <- known_density(if (!missing(H)) H, if (!missing(h)) h, mus, if (!missing(Sigmas)) Sigmas,
                         if (!missing(sigmas)) sigmas, props)
  exact_mise(known$H, known$mixture, check_count(samp, "samp"))
}

#' @rdname mise.mixt
#' @export
amise.mixt <- function(H, mus, Sigmas, props, samp, h, sigmas, deriv.order = 0, ...) {
  check_arguments("amise.mixt", given_names(...))
  check_derivative_order(deriv.order, offered = FALSE)
  known <- known_density(if (!missing(H)) H, if (!missing(h)) h, mus, if (!missing(Sigmas)) Sigmas,
                         if (!missing(sigmas)) sigmas, props)
  mean_square(known$H) / check_count(samp, "samp") + curvature_of(known$H, known$mixture) / 4
}

#' @rdname mise.mixt
#' @export
ise.mixt <- function(x, H, mus, Sigmas, props, h, sigmas, deriv.order = 0, binned = FALSE, bgridsize, ...,
                     threads = NULL, verbose = NULL) {
  check_arguments("ise.mixt", given_names(...), c("binned", "bgridsize"))
  check_derivative_order(deriv.order, offered = FALSE)
  verbose <- asked_verbose(verbose)
  known <- known_density(if (!missing(H)) H, if (!missing(h)) h, mus, if (!missing(Sigmas)) Sigmas,
                         if (!missing(sigmas)) sigmas, props)
  sample <- check_sample(x)
  check_points(sample$x, ncol(known$H), "x", of = "mus")
  run <- run_options(threads)
  own <- with_progress(verbose, "Sums over pairs", function(progress) {
    cross_mean(sample, sample$x, 2 * known$H, replace(run, "progress", list(progress)))
  })
  smoothed <- known$mixture
  smoothed$Sigmas <- lapply(smoothed$Sigmas, function(Sigma) Sigma + known$H)
  own - 2 * mean(mixture_density(sample$x, smoothed, normal_density)) + mixture_products(known$H, known$mixture, 0)
}

# H and the mixture, in one dimension of `h` and `sigmas`.
known_density <- function(H, h, mus, Sigmas, sigmas, props) {
  line <- is.null(Sigmas)
  if (line && is.null(sigmas)) abort_input("`Sigmas` must be given, or `sigmas` in one dimension.")
  mixture <- if (line) check_line_mixture(mus, sigmas, props) else check_mixture(mus, Sigmas, props)
  H <- check_bandwidth(list(H = H, h = h), ncol(mixture$mus), FALSE)
  if (is.null(H)) abort_input("`", if (line) "h" else "H", "` must be given.")
  list(H = H, mixture = mixture)
}

# The integral of the squared kernel.
mean_square <- function(H) normal_at_zero(2 * H)

exact_mise <- function(H, mixture, n) {
  products <- vapply(0:2, function(a) mixture_products(H, mixture, a), 0)
  mean_square(H) / n + (1 - 1 / n) * products[3L] - 2 * products[2L] + products[1L]
}

# p' Omega_a p.
mixture_products <- function(H, mixture, a) {
  over_pairs(mixture, function(difference, Sigma) {
    mixture_density(t(difference), list(mus = matrix(0, 1L, nrow(H)), Sigmas = list(a * H + Sigma), props = 1),
                    normal_density)
  })
}

# The integral of tr(H D^2 f)^2 (Wand & Jones 1995, section 4.4).
curvature_of <- function(H, mixture) {
  over_pairs(mixture, function(difference, Sigma) {
    A <- chol2inv(chol(Sigma))
    along <- tcrossprod(A %*% difference)
    HA <- H %*% A
    turned <- HA %*% H %*% (A - 2 * along)
    density <- mixture_density(t(difference), list(mus = matrix(0, 1L, nrow(H)), Sigmas = list(Sigma), props = 1),
                               normal_density)
    density * (2 * sum(diag(turned)) + sum(diag(HA - H %*% along))^2)
  })
}

# sum_kl p_k p_l term(mu_k - mu_l, Sigma_k + Sigma_l).
over_pairs <- function(mixture, term) {
  k <- length(mixture$props)
  total <- 0
  for (i in seq_len(k)) for (j in seq_len(i)) {
    value <- term(mixture$mus[i, ] - mixture$mus[j, ], mixture$Sigmas[[i]] + mixture$Sigmas[[j]])
    total <- total + (if (i == j) 1 else 2) * mixture$props[i] * mixture$props[j] * value
  }
  total
}

# The mean over `points` of the density of a sample with bandwidth H: (n m)^-1 sum_ij K_H(x_i - y_j).
cross_mean <- function(sample, points, H, run, w = NULL) {
  values <- density_at(gaussian_density(sample, H), points, run)
  if (is.null(w)) mean(values) else sum(w * values) / sum(w)
}
