# Bandwidths of beta kernels.

#' Bandwidth of beta kernels
#'
#' The bandwidth of a density of [kde.boundary()] with beta kernels between two bounds: in closed form for a beta
#' distribution with the mean and the variance of the data, or by least squares cross-validation.
#'
#' On the unit interval, to which `xmin` and `xmax` are moved, the beta kernel has the variance b u (1 - u) at u. The
#' bandwidth h is sqrt(b) times their distance. For the density f of u the asymptotic mean integrated squared error (Chen 1999) is
#' \deqn{\frac{b^2}{4} \int (u (1 - u) f''(u))^2 du + \frac{1}{2 n \sqrt{\pi b}} \int (u (1 - u))^{-1/2} f(u) du,}{b^2 / 4
#' int (u (1 - u) f''(u))^2 du + 1 / (2 n sqrt(pi b)) int (u (1 - u))^(-1/2) f(u) du,}
#' so that the best b^(5/2) is the second integral / (2 sqrt(pi) n) over the first one. For the beta distribution with
#' the shapes p and q both are beta functions. The second is Beta(p - 1/2, q - 1/2) / Beta(p, q). The first is the sum of
#' c_k Beta(2p - 3 + k, 2q + 1 - k) / Beta(p, q)^2 for k = 0 to 4. Here c = (A^2, 2AB, B^2 + 2AC, 2BC, C^2), A =
#' (p - 1)(p - 2), B = -2 (p - 1)(q - 1), and C = (q - 1)(q - 2).
#'
#' The first is infinite for shapes below 3/2 that are not 1, and shapes below 2 are taken as 2. For densities with
#' shapes from 1 on, the mean integrated squared error was at most 1.6 times the least one in simulations, but for uniform
#' data. For densities that are infinite at a bound it is up to twice the least one, and cross-validation is better.
#'
#' @param x a numeric vector.
#' @param xmin,xmax the bounds; those of the data if not given.
#' @param method `"reference"`, the closed form, or `"lscv"`, the b between 1/32 and 16 times the reference, at most 1/4,
#'   that minimises the least squares cross-validation criterion of the kernels (Bowman 1984).
#' @param w weights, one for each observation, as in [kde()].
#' @param na.action as in [kde()].
#' @param verbose if TRUE, show progress, as in [kde()].
#' @param ... no further arguments.
#' @return A positive number, h, in the units of `x`: at most half of the distance of the bounds.
#' @section Errors: Errors of class `kestrel_error_input` are for data that are missing, constant, not numeric or beyond
#'   the bounds, and for more than one column.
#' @section Cost: O(n) for the closed form. About thirty evaluations of the criterion, each of which takes n kernels at
#'   some hundred points.
#' @references Bowman, A.W. (1984) An alternative method of cross-validation for the smoothing of density estimates.
#'   *Biometrika* **71**, 353-360.
#'
#'   Chen, S.X. (1999) Beta kernel estimators for density functions. *Computational Statistics & Data Analysis* **31**,
#'   131-145.
#' @seealso [kde.boundary()]
#' @examples
#' set.seed(1)
#' x <- rbeta(300, 1, 3)
#' hbeta(x, 0, 1)
#' hbeta(x, 0, 1, method = "lscv")
#' @export
hbeta <- function(x, xmin, xmax, method = c("reference", "lscv"), ..., w = NULL, na.action = stats::na.fail,
                  verbose = NULL) {
  check_arguments("hbeta", given_names(...))
  method <- check_choice(method, c("reference", "lscv"), "method")
  verbose <- asked_verbose(verbose)
  sample <- check_sample(x, w, na.action)
  check_one_column(sample, "hbeta")
  bounds <- boundary_limits(sample, if (!missing(xmin)) xmin, if (!missing(xmax)) xmax, finite = TRUE)
  sample <- with_covariance(sample)
  width <- bounds$upper - bounds$lower
  b <- beta_reference((sample$x[, 1L] - bounds$lower) / width, sample$w, sample$n)
  if (method == "lscv") {
    b <- with_search_progress(verbose, "Cross-validation", function(progress) {
      beta_lscv((sample$x[, 1L] - bounds$lower) / width, sample$w, b, progress)
    })
  }
  sqrt(b) * width
}

# b for values on the unit interval; `d`: the number of variables, which sets the rate.
beta_reference <- function(u, w, n, d = 1L) {
  mean <- sum(w * u) / sum(w)
  variance <- sum(w * (u - mean)^2) / sum(w)
  both <- mean * (1 - mean) / variance - 1
  p <- max(mean * both, 2)
  q <- max((1 - mean) * both, 2)
  A <- (p - 1) * (p - 2)
  B <- -2 * (p - 1) * (q - 1)
  C <- (q - 1) * (q - 2)
  factors <- c(A^2, 2 * A * B, B^2 + 2 * A * C, 2 * B * C, C^2)
  k <- 0:4
  curvature <- sum(factors * exp(lbeta(2 * p - 3 + k, 2 * q + 1 - k) - 2 * lbeta(p, q)))
  roughness <- exp(lbeta(p - 0.5, q - 0.5) - lbeta(p, q)) / (2 * sqrt(pi))
  min((roughness / (n * curvature))^(2 / (d + 4)), largest_b)
}

# Beyond it the ends, where kernels have other shapes, would meet.
largest_b <- 1 / 4

# The integral of the squared density less twice the mean of the density at each observation without it. The density at
# the observations is interpolated between the nodes of the integral.
beta_lscv <- function(u, w, reference, progress) {
  p <- w / sum(w)
  # On a bound there is a density only of the observations there.
  between <- which(u > 0 & u < 1)
  if (length(between) == 0L) abort_input("`x` must have values between the bounds for method = \"lscv\".")
  own_share <- sum(p^2)
  criterion <- function(log_b) {
    b <- exp(log_b)
    nodes <- panel_nodes(beta_breaks(b))
    density <- 0
    for (rows in beta_parts(length(u), length(nodes$at), 0)) {
      heard()
      density <- density + drop(crossprod(p[rows], beta_kernels(u[rows], nodes$at, b)))
    }
    shapes <- beta_shapes(u[between], b)
    own <- p[between] * stats::dbeta(u[between], shapes$p, shapes$q)
    others <- sum(p[between] * (from_panels(nodes, density, u[between]) - own)) / (1 - own_share)
    sum(nodes$weight * density^2) - 2 * others
  }
  criterion <- counted(criterion, progress)
  # It may have several minima: the best of a grid, and then the minimum between its neighbours.
  grid <- seq(log(reference / 32), log(min(16 * reference, largest_b)), length.out = 13L)
  values <- vapply(grid, criterion, 0)
  best <- which.min(values)
  ends <- grid[c(max(best - 1L, 1L), min(best + 1L, length(grid)))]
  near <- stats::optimize(criterion, ends, tol = 1e-3)
  exp(if (near$objective < values[best]) near$minimum else grid[best])
}
