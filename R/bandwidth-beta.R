# Bandwidths of beta kernels.

#' Bandwidth of beta kernels
#'
#' The bandwidth of a density of [kde.boundary()] with beta kernels between two bounds: in closed form for a beta
#' distribution with the mean and the variance of the data, or by least squares cross-validation.
#'
#' On the unit interval, to which `xmin` and `xmax` are moved, the beta kernel has the variance b u (1 - u) at u. The
#' bandwidth h is sqrt(b) times their distance. For the density f of u the asymptotic mean integrated squared error
#' (Chen 1999) is
#' \deqn{\frac{b^2}{4} \int (u (1 - u) f''(u))^2 du + \frac{1}{2 n \sqrt{\pi b}} \int (u (1 - u))^{-1/2} f(u) du,}{b^2 /
#' 4 int (u (1 - u) f''(u))^2 du + 1 / (2 n sqrt(pi b)) int (u (1 - u))^(-1/2) f(u) du,}
#' so that the best b^(5/2) is the second integral / (2 sqrt(pi) n) over the first one. For the beta distribution with
#' the shapes p and q the second is Beta(p - 1/2, q - 1/2) / Beta(p, q). The first is a multiple of a moment of the beta
#' distribution with the shapes 2p - 3 and 2q - 3.
#'
#' The first is infinite for shapes below 3/2 that are not 1, and shapes below 2 are taken as 2. For densities with
#' shapes from 1 on, the mean integrated squared error was at most 1.6 times the least one in simulations, but for
#' uniform data. For densities that are infinite at a bound it is up to twice the least one, and cross-validation is
#' better.
#'
#' @param x a numeric vector.
#' @param xmin,xmax the bounds; those of the data if not given.
#' @param method `"reference"`, the closed form, or `"lscv"`, the b between 1/32 and 16 times the reference, at most
#'   1/4, that minimises the least squares cross-validation criterion of the kernels (Bowman 1984).
#' @param w weights, one for each observation, as in [kde()].
#' @param na.action as in [kde()].
#' @param verbose if TRUE, show progress, as in [kde()].
#' @param ... no further arguments.
#' @return A positive number, h, in the units of `x`: at most half of the distance of the bounds.
#' @section Errors: Errors of class `kestrel_error_input` are for data that are missing, constant, not numeric or beyond
#'   the bounds, and for more than one column.
#' @section Cost: O(n) for the closed form. About thirty evaluations of the criterion, each of which takes O(n) and the
#'   density at some hundred points, a second or so for a million values.
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
  if (variance == 0) abort_input("`xmin` and `xmax` must not be so far apart that `x` has no digits between them.")
  both <- mean * (1 - mean) / variance - 1
  error <- if (both > 1e8) normal_error(mean, variance) else beta_error(max(mean * both, 2), max((1 - mean) * both, 2))
  min((error$spread / (n * error$curvature))^(2 / (d + 4)), largest_b)
}

# The two integrals of the AMISE for the beta density with the shapes p and q. With s = p + q - 2, the mode m and v =
# m (1 - m), the second derivative is f s ((s - 1)(u - m)^2 - v) / (u (1 - u))^2. And f^2 / (u (1 - u))^2 is a multiple
# of the beta density with the shapes 2p - 3 and 2q - 3. So the curvature is one of its moments.
beta_error <- function(p, q) {
  s <- p + q - 2
  v <- (p - 1) * (q - 1) / s^2
  a <- 2 * p - 3
  b <- 2 * q - 3
  total <- a + b
  variance <- a * b / (total^2 * (total + 1))
  skewness <- 2 * (b - a) * sqrt(total + 1) / ((total + 2) * sqrt(a * b))
  excess <- 6 * ((a - b)^2 * (total + 1) - a * b * (total + 2)) / (a * b * (total + 2) * (total + 3))
  # About m, which is not its mean.
  off <- (p - q) / (total * s)
  second <- variance + off^2
  fourth <- (3 + excess) * variance^2 + 4 * skewness * variance^1.5 * off + 6 * variance * off^2 + off^4
  list(curvature = s^2 * ((s - 1)^2 * fourth - 2 * (s - 1) * v * second + v^2) * exp(lbeta(a, b) - 2 * lbeta(p, q)),
       spread = exp(lbeta(p - 0.5, q - 0.5) - lbeta(p, q)) / (2 * sqrt(pi)))
}

# Their limits for a narrow density, which is normal.
normal_error <- function(mean, variance) {
  v <- mean * (1 - mean)
  list(curvature = 3 * v^2 / (8 * sqrt(pi) * variance^2.5), spread = 1 / (2 * sqrt(pi * v)))
}

# Beyond it the ends, where kernels have other shapes, would meet.
largest_b <- 1 / 4

# The integral of the squared density less twice the mean of the density at each observation without it. The density is
# smooth on the panels of the integral, so that the observations can be moved to the nodes of these. What an observation
# has at its own place is smooth on cells (src/core/beta/README.md).
beta_lscv <- function(u, w, reference, progress) {
  p <- w / sum(w)
  # On a bound there is a density only of the observations there.
  between <- which(u > 0 & u < 1)
  if (length(between) == 0L) abort_input("`x` must have values between the bounds for method = \"lscv\".")
  # The panels of its criterion are at most some millions.
  if (reference < 1e-12) abort_input("`xmin` and `xmax` must be nearer to the data for method = \"lscv\".")
  own_share <- sum(p^2)
  run <- run_options()
  x <- as.matrix(u)
  criterion <- function(log_b) {
    heard()
    b <- exp(log_b)
    breaks <- beta_breaks(b)
    nodes <- panel_nodes(breaks, reached_panels(breaks, u, b))
    density <- beta_sums_cpp(x, p, b, as.matrix(nodes$at), list(), run)
    moved <- on_panels(nodes, moved_to_panels_cpp(breaks, u[between], p[between]))
    heard()
    at <- beta_nodes_cpp(u[between], b)
    shapes <- beta_shapes(at, b)
    own <- beta_interpolated_cpp(u[between], b, stats::dbeta(at, shapes$p, shapes$q))
    others <- (sum(moved * density) - sum(p[between]^2 * own)) / (1 - own_share)
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
