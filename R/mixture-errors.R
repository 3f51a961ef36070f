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
#' For derivatives of order r the error is the integral of the squares of all d^r derivatives (Chacon, Duong & Wand
#' 2011). Then \eqn{(-1)^r \Delta^r}{(-1)^r D^2r}, with the Laplacian \eqn{\Delta}{D^2}, is applied to every normal
#' density above, and to the first term as the density with covariance 2 H at 0, divided by n.
#'
#' @inheritParams mixtures
#' @param H bandwidth matrix, d x d; in one dimension `h` and `sigmas` take the place of `H` and `Sigmas`.
#' @param h bandwidth, a positive number.
#' @param samp sample size.
#' @param x for `ise.mixt` the sample, a vector (d = 1), or a matrix or data frame with d columns.
#' @param deriv.order the order r of the derivatives, 0 to 8; for `ise.mixt` to 4.
#' @param binned,bgridsize accepted for scripts written for \pkg{ks}, without effect: the sums are exact.
#' @param threads the number of threads, all by default.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @return A number.
#' @section Units: In 1 / volume, and for derivatives in 1 / (volume x^(2r)).
#' @section Errors: Errors of class `kestrel_error_input` are for a mixture that is not one (see [mixtures]), for a
#'   bandwidth that is missing or not positive definite, and for data of another dimension.
#' @section Cost: O(k^2 d^3) for k components. `ise.mixt` costs as much as [kde()] at the data.
#' @references Chacon, J.E., Duong, T. & Wand, M.P. (2011) Asymptotics for general multivariate kernel density
#'   derivative estimators. *Statistica Sinica* **21**, 807-840.
#'
#'   Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall, section 4.4.
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
  order <- check_order_of_derivative(deriv.order)
  known <- known_density(if (!missing(H)) H, if (!missing(h)) h, mus, if (!missing(Sigmas)) Sigmas,
                         if (!missing(sigmas)) sigmas, props)
  exact_mise(known$H, known$mixture, check_count(samp, "samp"), order)
}

#' @rdname mise.mixt
#' @export
amise.mixt <- function(H, mus, Sigmas, props, samp, h, sigmas, deriv.order = 0, ...) {
  check_arguments("amise.mixt", given_names(...))
  order <- check_order_of_derivative(deriv.order)
  known <- known_density(if (!missing(H)) H, if (!missing(h)) h, mus, if (!missing(Sigmas)) Sigmas,
                         if (!missing(sigmas)) sigmas, props)
  mean_square(known$H, order) / check_count(samp, "samp") + curvature_of(known$H, known$mixture, order) / 4
}

#' @rdname mise.mixt
#' @export
ise.mixt <- function(x, H, mus, Sigmas, props, h, sigmas, deriv.order = 0, binned = FALSE, bgridsize, ...,
                     threads = NULL, verbose = NULL) {
  check_arguments("ise.mixt", given_names(...), c("binned", "bgridsize"))
  order <- check_order_of_derivative(deriv.order)
  if (2L * order > highest_derivative) {
    abort_input("`deriv.order` must be at most ", highest_derivative / 2L, " for ise.mixt(), not ", order, ".")
  }
  verbose <- asked_verbose(verbose)
  known <- known_density(if (!missing(H)) H, if (!missing(h)) h, mus, if (!missing(Sigmas)) Sigmas,
                         if (!missing(sigmas)) sigmas, props)
  sample <- check_sample(x)
  check_points(sample$x, ncol(known$H), "x", of = "mus")
  run <- run_options(threads)
  own <- with_progress(verbose, "Sums over pairs", function(progress) {
    run <- replace(run, "progress", list(progress))
    if (order == 0L) cross_mean(sample, sample$x, 2 * known$H, run) else
      mean_laplacian(sample, 2 * known$H, order, run)
  })
  mixture <- known$mixture
  cross <- vapply(seq_along(mixture$props), function(k) {
    mean(laplacian_of_normal(t(sample$x) - mixture$mus[k, ], mixture$Sigmas[[k]] + known$H, order))
  }, 0)
  own - 2 * sum(mixture$props * cross) + mixture_products(known$H, mixture, 0, order)
}

# The mean over the sample of (-Laplacian)^r of its density with bandwidth H.
mean_laplacian <- function(sample, H, order, run) {
  d <- ncol(H)
  tuples <- index_tuples(d, order)
  derivatives <- pilot_derivatives(with_data(sample), H, 2L * order, sample$x, run)
  twice <- tuple_positions(cbind(tuples, tuples), d)
  (-1)^order * sum(tuple_counts(tuple_exponents(tuples, d)) * colMeans(derivatives[, twice, drop = FALSE]))
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

# The integral of the squared derivatives of the kernel.
mean_square <- function(H, order = 0L) {
  if (order == 0L) normal_at_zero(2 * H) else laplacian_of_normal(matrix(0, nrow(H), 1L), 2 * H, order)
}

exact_mise <- function(H, mixture, n, order = 0L) {
  products <- vapply(0:2, function(a) mixture_products(H, mixture, a, order), 0)
  mean_square(H, order) / n + (1 - 1 / n) * products[3L] - 2 * products[2L] + products[1L]
}

# p' Omega_a p.
mixture_products <- function(H, mixture, a, order = 0L) {
  over_pairs(mixture, function(difference, Sigma) laplacian_of_normal(difference, a * H + Sigma, order))
}

# (-Laplacian)^r of the N(0, Sigma) density, for columns of points.
laplacian_of_normal <- function(points, Sigma, order) {
  (-1)^order * operator_on_normal(points, Sigma, diag(nrow(Sigma)), order)
}

# tr(A D^2)^m of the N(0, Sigma) density, for columns of points: the derivative of order m of the N(0, Sigma + 2 u A)
# density by u, at 0. With the eigenvalues a of L^-1 A L^-T, Sigma = L L', and y the points in units of L along the
# eigenvectors, its logarithm has the derivatives (k - 1)! sum (-2 a)^k (1 - k y^2) / 2.
operator_on_normal <- function(points, Sigma, A, m) {
  points <- as.matrix(points)
  root <- lower_root_cpp(unname(Sigma))
  parts <- eigen(forwardsolve(root, t(forwardsolve(root, A))), symmetric = TRUE)
  y <- crossprod(parts$vectors, forwardsolve(root, points))^2
  value <- list(normal_at_zero(Sigma) * exp(-colSums(y) / 2))
  # Far points, whose squares may be infinite, have derivatives of 0.
  y[, value[[1L]] == 0] <- 0
  slope <- lapply(seq_len(m), function(k) factorial(k - 1) / 2 * colSums((-2 * parts$values)^k * (1 - k * y)))
  for (r in seq_len(m)) {
    terms <- lapply(seq_len(r), function(k) choose(r - 1, k - 1) * slope[[k]] * value[[r - k + 1L]])
    value[[r + 1L]] <- Reduce(`+`, terms)
  }
  value[[m + 1L]]
}

# The integral of the squared derivatives of tr(H D^2 f) (Chacon, Duong & Wand 2011, section 4).
curvature_of <- function(H, mixture, order = 0L) {
  over_pairs(mixture, function(difference, Sigma) {
    if (order == 0L) return(operator_on_normal(difference, Sigma, H, 2L))
    (-1)^order * laplacian_with(difference, Sigma, H, 2L, order)
  })
}

# tr(H D^2)^p times the Laplacian to the power r, of the N(0, Sigma) density: but for a number, the coefficient of b^p,
# a polynomial in b, in tr((I + b H) D^2)^(r + p).
laplacian_with <- function(difference, Sigma, H, p, order) {
  m <- order + p
  size <- max(abs(H))
  b <- cos(pi * (seq_len(m + 1L) - 0.5) / (m + 1L))
  values <- vapply(b, function(b) operator_on_normal(difference, Sigma, diag(nrow(H)) + b * H / size, m), 0)
  solve(outer(b, 0:m, `^`), values)[p + 1L] / choose(m, p) * size^p
}

# The derivative by Sigma of (-Laplacian)^r of the N(0, Sigma) density, a matrix: half of its second derivatives.
laplacian_slope <- function(difference, Sigma, order) {
  slope <- diag(nrow(Sigma))
  for (i in seq_len(nrow(Sigma))) for (j in seq_len(i)) {
    E <- matrix(0, nrow(Sigma), nrow(Sigma))
    E[i, j] <- E[j, i] <- 1
    value <- (-1)^order * laplacian_with(difference, Sigma, E, 1L, order)
    slope[i, j] <- slope[j, i] <- if (i == j) value / 2 else value / 4
  }
  slope
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
