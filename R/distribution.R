#' Density, distribution function, quantiles and random numbers of an estimate
#'
#' `dkde()` computes the density of an estimate at any points, `pkde()` its distribution function P(X <= q), and
#' `qkde()` its quantile function (d = 1). `rkde()` draws from it.
#'
#' The distribution function is the weighted mean of the kernel's own distribution function, not an integral over a
#' grid. In one dimension it has a closed form for all kernels, and [kcde()] states its error. In several dimensions it
#' is the probability of a box, and [kde_query()] states its error. A draw is an observation, chosen with probability
#' proportional to its weight, plus a draw from the kernel (Silverman 1986, section 6.4). For a radial compact kernel
#' that is a uniform direction times a radius r: r^2 has the distribution Beta(d/2, p + 1) for a kernel proportional to
#' (1 - r^2)^p. With the Gaussian kernel a seed gives the draws of \pkg{ks}: x + z H^(1/2) with the symmetric root, z
#' standard normal numbers row by row.
#'
#' The density may be 0 at a point, for example beyond the support of a compact kernel, or so small that a double cannot
#' hold it. Then `log(dkde())` is `-Inf`, and so is a log-likelihood. A criterion that leaves out one observation at a
#' time must expect this at isolated observations. For estimates on the positive half line or the unit interval
#' everything is transformed back. With `bounds` draws are reflected at them, and the error of `pkde()` in one dimension
#' is 1e-14 everywhere, also of small probabilities.
#'
#' A quantile q solves `pkde(q) = p`. Its error is about 1e-14 h, plus the error of `pkde(q)` divided by the density at
#' q. So quantiles have fewer digits where the density is tiny. In the upper tail and between clusters the error of
#' `pkde(q)` is 1e-14. In the lower tail below p = 1e-33, with the Gaussian kernel, it is a growing share of p
#' (quantiles for p = 1e-300 are good to 1e-5 h).
#'
#' @param x,q points: a numeric vector (d = 1; for d > 1 a vector of length d is one point), or a matrix or data frame
#'   with d columns. Columns with names are matched to the variables by them, in any order, and other names are an
#'   error. `q` may be infinite: P(X1 <= 3, X2 <= Inf) is P(X1 <= 3).
#' @param p probabilities, between 0 and 1.
#' @param n number of draws, a whole number of at least 1.
#' @param fhat an object made by [kde()], or by [ks::kde()] with one bandwidth and no transform of the data.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @param positive TRUE to draw on the scale of logarithms. That is the scale of an `fhat` made with `positive = TRUE`.
#'   For another `fhat` it gives what \pkg{ks} gives: an observation times the exponential of a draw from the kernel. In
#'   several dimensions \pkg{ks} returns the logarithms of these numbers.
#' @return `dkde()`, `pkde()`, `qkde()`: a numeric vector, one value for each point or probability. `rkde()`: a vector
#'   of `n` draws (d = 1) or an n x d matrix.
#' @section Units: Points, quantiles and draws are in those of the variables, densities in 1 / volume (1 over the
#'   product of these units). Probabilities have no unit.
#' @section Errors: Errors of class `kestrel_error_input` are for an `fhat` that is not an estimate, for probabilities
#'   out of range, and for points that are missing or, in `dkde()`, infinite. In `qkde()` they are also for an `fhat`
#'   with more than one dimension, and in `pkde()` for one that [kde_query()] refuses.
#' @section Cost: One pass over the observations. After that the steps for each point of `pkde()` hardly grow with n.
#'   For a million observations, a thousand points take hundredths of a second, and with the Gaussian kernel a million
#'   points take a tenth. A compact kernel also needs the observations within a hundredth of h of a point and of the
#'   points h to either side. A quantile costs as much as about ten such points. A hundred thousand quantiles with the
#'   Gaussian kernel take five hundredths of a second. A draw costs O(1). In several dimensions a point of `pkde()` costs
#'   as much as a box of [kde_query()].
#' @references Silverman, B.W. (1986) *Density Estimation for Statistics and Data Analysis*. Chapman & Hall.
#' @examples
#' fhat <- kde(faithful$eruptions)
#' dkde(c(2, 3, 4.5), fhat)
#' pkde(3, fhat)
#' qkde(c(0.25, 0.5, 0.75), fhat)
#' set.seed(1)
#' rkde(5, fhat)
#' @export
dkde <- function(x, fhat, ..., verbose = NULL) {
  check_arguments("dkde", given_names(...))
  verbose <- asked_verbose(verbose)
  fhat <- check_estimate(fhat)
  points <- check_points(in_order_of(x, fhat$names, "x"), dimension(fhat), "x")
  with_progress(verbose, "Density at points", function(progress) {
    density_at(fhat, points, c(run_options(), progress = progress))
  })
}

#' @rdname dkde
#' @export
pkde <- function(q, fhat, ..., verbose = NULL) {
  check_arguments("pkde", given_names(...))
  verbose <- asked_verbose(verbose)
  fhat <- check_estimate(fhat)
  check_summable(fhat)
  if (dimension(fhat) > 1L) {
    points <- check_points(in_order_of(q, fhat$names, "q"), dimension(fhat), "q", limits = TRUE)
  } else {
    q <- plain(q)
    if (!is_numbers(q) || anyNA(q)) abort_input("`q` must be numbers, none missing, not ", describe_value(q), ".")
    check_rows(q, "q")
    points <- matrix(as.double(q))
  }
  with_progress(verbose, "Distribution function", function(progress) {
    probability_at(fhat, points, "lower.tail", c(run_options(), progress = progress), "fhat")
  })
}

#' @rdname dkde
#' @export
qkde <- function(p, fhat, ..., verbose = NULL) {
  check_arguments("qkde", given_names(...))
  verbose <- asked_verbose(verbose)
  fhat <- check_one_dimension(fhat, "qkde")
  p <- check_between(p, 1, "p")
  quantile <- with_progress(verbose, "Quantiles", function(progress) {
    run <- c(run_options(), progress = progress)
    if (has_images(fhat$transform)) return(reflected_quantiles(fhat, p, run))
    distribution_quantiles_cpp(data_on_line(fhat), line_task(fhat, p), run)
  })
  from_line(fhat$transform, quantile, 1L)
}

# What is asked of an estimate on the line where its kernel works. src/rcpp_distribution.cpp reads it.
line_task <- function(fhat, at) {
  h <- if (has_images(fhat$transform)) sqrt(summed_H(fhat)[1L]) else fhat$h
  list(at = as.double(at), kernel = fhat$kernel, h = h)
}

#' @rdname dkde
#' @export
rkde <- function(n, fhat, positive = FALSE, ...) {
  check_arguments("rkde", given_names(...))
  fhat <- check_estimate(fhat)
  check_summable(fhat)
  n <- check_count(n, "n")
  if (check_flag(positive, "positive")) fhat <- on_logarithms(fhat)
  d <- dimension(fhat)
  check_draws_memory(n, d)
  x <- if (keeps_units(fhat$transform)) fhat$x else points_to_line(fhat$transform, sample_matrix(fhat))
  draws <- kernel_draws_cpp(x, drawn_rows(n, fhat$w), fhat$kernel, fhat$kernel_type, root_of_draws(fhat))
  dim(draws) <- c(n, d)
  draws <- if (has_images(fhat$transform)) folded(fhat$transform, draws) else points_from_line(fhat$transform, draws)
  if (d == 1L) dim(draws) <- NULL else dimnames(draws) <- list(NULL, fhat$names)
  draws
}

# With positive = TRUE the kernel works on the logarithms of the data, as in ks also if the estimate was made without.
on_logarithms <- function(fhat) {
  if (identical(fhat$transform$type, "log")) return(fhat)
  if (!is.null(fhat$transform)) {
    abort_input("`positive` must be FALSE for an estimate ", if (has_images(fhat$transform)) "with bounds." else
                "on the unit interval.")
  }
  if (min(ranges_cpp(fhat$x)) <= 0) {
    abort_input("`positive` must be FALSE for an estimate whose data are not all above 0.")
  }
  fhat$transform <- list(type = "log", adj = rep(0, dimension(fhat)))
  fhat
}

# The root of H by which noise is multiplied. For the Gaussian kernel it is the symmetric one, so that a seed gives the
# draws of ks (noise by mvtnorm::rmvnorm()), unless that has lost its digits, as it does for very different units.
root_of_draws <- function(fhat) {
  lower <- bandwidth_root(fhat)
  if (is_compact(fhat$kernel) || ncol(lower) == 1L) return(lower)
  H <- unname(summed_H(fhat))
  root <- matrix_root(H)
  size <- sqrt(diag(H))
  if (max(abs(root %*% root - H) / outer(size, size)) < 1e-12) root else lower
}

# n rows, with probabilities proportional to w. They are those of sample.int(replace = TRUE, prob = w), which has two
# methods for more than 200 rows; drawn_rows_cpp() has the one that it takes if more than 200 of them have at least a
# tenth of the mean weight.
drawn_rows <- function(n, w) {
  if (length(w) > 200L) return(drawn_rows_cpp(w, n))
  in_parts(n, part_size, function(rows) sample.int(length(w), length(rows), replace = TRUE, prob = w))
}

# Memory for the rows and the draws, and for computing the radii of these.
check_draws_memory <- function(n, d) {
  needed <- 8 * n * (4 * d + 1)
  check_fits(needed, "`n` must be few enough for the draws to fit in memory: ", format(n, big.mark = ","), " in ", d,
             if (d == 1L) " dimension" else " dimensions", " need ")
}

check_one_dimension <- function(fhat, name) {
  fhat <- check_estimate(fhat)
  check_summable(fhat)
  d <- dimension(fhat)
  if (d > 1L) abort_input("`fhat` must have one dimension for ", name, "(), not ", d, ".")
  fhat
}
