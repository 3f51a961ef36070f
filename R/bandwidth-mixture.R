# Bandwidths whose reference density is a normal mixture that is fitted to the data.

#' Normal mixture reference bandwidths
#'
#' The bandwidth of a Gaussian kernel that minimises the asymptotic or exact mean integrated squared error, as if the
#' density were a normal mixture that package \pkg{mclust} fits to the data. It is a scalar (`hnm`), a full matrix
#' (`Hnm`) or a diagonal one (`Hnm.diag`).
#'
#' The number of components is the one of `G` with the best BIC. Their covariance matrices are unconstrained, and
#' diagonal for `Hnm.diag`. The error is that of [amise.mixt()] or [mise.mixt()].
#'
#' @inheritParams hns
#' @param deriv.order the order r of the derivatives that the bandwidth is for, 0 to 8.
#' @param G numbers of components to try.
#' @param subset.ind rows of `x` to which the mixture is fitted; all if not given.
#' @param mise.flag TRUE for the exact error.
#' @param verbose accepted for scripts written for \pkg{ks}, without effect.
#' @param ... more arguments of `mclust::Mclust()`: `prior`, `control`, `initialization` and `warn`.
#' @return `hnm`: a positive number, in the units of `x`. `Hnm`, `Hnm.diag`: a d x d matrix, in their squares.
#' @section Errors: Errors of class `kestrel_error_input` are for data that are missing, infinite, not numeric or
#'   constant, for rows that are not in `x`, if \pkg{mclust} is not installed, and if it does not fit a mixture.
#' @section Warnings: A warning of class `kestrel_warning_search` says if the search for the bandwidth did not converge.
#' @section Cost: That of \pkg{mclust}, O(n^2) in memory for its first clusters: `subset.ind` makes it less. The search
#'   does not touch the data.
#' @references Cwik, J. & Koronacki, J. (1997) A combined adaptive-mixtures/plug-in estimator of multivariate
#'   probability densities. *Computational Statistics & Data Analysis* **26**, 199-218.
#' @seealso [hns()], [mise.mixt()]
#' @examplesIf requireNamespace("mclust", quietly = TRUE)
#' hnm(faithful$eruptions, G = 1:3)
#' Hnm(faithful, G = 2)
#' @export
hnm <- function(x, deriv.order = 0, G = 1:9, subset.ind, mise.flag = FALSE, verbose = NULL, ...) {
  check_known("hnm", given_names(...), c(names(formals(hnm)), mclust_arguments))
  asked <- check_mixture_reference(x, deriv.order, G, if (!missing(subset.ind)) subset.ind, mise.flag, verbose, TRUE)
  sqrt(mixture_bandwidth(asked, "V", FALSE, list(...))[[1L]])
}

#' @rdname hnm
#' @export
Hnm <- function(x, deriv.order = 0, G = 1:9, subset.ind, mise.flag = FALSE, verbose = NULL, ...) {
  check_known("Hnm", given_names(...), c(names(formals(Hnm)), mclust_arguments))
  asked <- check_mixture_reference(x, deriv.order, G, if (!missing(subset.ind)) subset.ind, mise.flag, verbose)
  mixture_bandwidth(asked, "VVV", FALSE, list(...))
}

#' @rdname hnm
#' @export
Hnm.diag <- function(x, deriv.order = 0, G = 1:9, subset.ind, mise.flag = FALSE, verbose = NULL, ...) {
  check_known("Hnm.diag", given_names(...), c(names(formals(Hnm.diag)), mclust_arguments))
  asked <- check_mixture_reference(x, deriv.order, G, if (!missing(subset.ind)) subset.ind, mise.flag, verbose)
  mixture_bandwidth(asked, "VVI", TRUE, list(...))
}

# More arguments of mclust::Mclust().
mclust_arguments <- c("prior", "control", "initialization", "warn")

# `line`: for one column.
check_mixture_reference <- function(x, deriv.order, G, rows, exact, verbose, line = FALSE) {
  order <- check_order_of_derivative(deriv.order)
  asked_verbose(verbose)
  exact <- check_flag(exact, "mise.flag")
  sample <- selector_sample(x, NULL)
  if (line) check_one_column(sample, "hnm", "Hnm")
  n <- nrow(sample$x)
  # A sequence of billions is no memory as long as nothing reads it.
  if (length(G) > n) abort_input("`G` must be at most ", n, " numbers, one for each observation, not ", length(G), ".")
  counts <- plain(G)
  if (!is_numbers(counts) || length(counts) == 0L || !all(is.finite(counts)) ||
        any(counts < 1 | counts != round(counts))) {
    abort_input("`G` must be whole numbers, at least 1, not ", describe_value(G), ".")
  }
  if (any(counts > n)) abort_input("`G` must be at most ", n, ", the number of observations, not ", max(counts), ".")
  used <- if (is.null(rows)) seq_len(n) else rows_among(rows, n, "subset.ind")
  # Unlike requireNamespace(), this lets the error of a time limit pass.
  catching_errors(loadNamespace("mclust"), function(e) {
    abort_input("Package mclust must be installed to fit a normal mixture.")
  })
  list(sample = sample, used = used, G = as.vector(counts), exact = exact, order = order)
}

# The numbers of rows, which may come as TRUE and FALSE.
rows_among <- function(rows, n, name) {
  given <- rows
  rows <- if (is.logical(rows) && length(rows) == n && !anyNA(rows)) which(rows) else plain(rows)
  if (!is_numbers(rows) || length(rows) == 0L || !all(rows %in% seq_len(n))) {
    abort_input("`", name, "` must be rows of `x`, 1 to ", n, ", not ", describe_value(given), ".")
  }
  as.vector(rows)
}

# The units of a search: standard deviations. The squares of derivatives by several variables add up, so that these
# have one unit, the geometric mean.
mixture_scale <- function(variance, order) {
  scale <- sqrt(diag(variance))
  if (order == 0L) scale else rep(exp(mean(log(scale))), length(scale))
}

# The mixture is fitted to deviations from the mean, in which mclust keeps its digits.
mixture_bandwidth <- function(asked, model, diagonal, more) {
  sample <- asked$sample
  d <- ncol(sample$x)
  scale <- mixture_scale(sample$cov, asked$order)
  z <- sweep(unname(sample$x), 2L, colMeans(sample$x))
  fit <- catching_errors(do.call(fit_of_mclust, c(list(z[asked$used, , drop = FALSE], G = asked$G, modelNames = model,
                                                       verbose = FALSE), more)),
                         function(e) abort_input("mclust must fit a mixture, but it says: ", conditionMessage(e), "."))
  if (is.null(fit$parameters)) abort_input("mclust must fit a mixture of `G` components to `x`, but it finds none.")
  found <- fit$parameters
  k <- length(found$pro)
  Sigmas <- if (d == 1L) lapply(rep_len(found$variance$sigmasq, k), matrix) else
    lapply(seq_len(k), function(j) matrix(found$variance$sigma[, , j], d))
  area <- outer(scale, scale)
  mixture <- list(mus = t(matrix(found$mean, d, k) / scale), Sigmas = lapply(Sigmas, function(Sigma) Sigma / area),
                  props = found$pro)
  n <- nrow(sample$x)
  start <- reference_h(n, d, asked$order)^2 * unname(sample$cov) / area
  if (diagonal) start <- diag(diag(start), d)
  H <- best_for_mixture(mixture, n, asked$order, asked$exact, start, diagonal)
  structure(H * area, dimnames = dimnames(sample$cov))
}

# The matrix with the least error for estimates of a mixture from n observations.
best_for_mixture <- function(mixture, n, order, exact, start, diagonal) {
  criterion <- if (exact) mise_criterion(mixture, n, order) else mixture_amise(mixture, n, order)
  best <- minimise_over_matrices(criterion, start, diagonal)
  if (best$convergence != 0L) {
    warn_search("The search for the bandwidth matrix did not converge: ", best$message, ".")
  }
  best$H
}

# Mclust() looks for a function of its package by name where it is called.
fit_of_mclust <- function(...) {
  mclustBIC <- mclust::mclustBIC
  eval(as.call(c(quote(mclust::Mclust), list(...))))
}

# The AMISE is quadratic in H, but for the variance; its matrix by values at pairs of coordinates.
mixture_amise <- function(mixture, n, order = 0L) {
  d <- ncol(mixture$mus)
  entries <- which(lower.tri(diag(d), diag = TRUE), arr.ind = TRUE)
  basis <- lapply(seq_len(nrow(entries)), function(e) {
    E <- matrix(0, d, d)
    E[entries[e, 1L], entries[e, 2L]] <- E[entries[e, 2L], entries[e, 1L]] <- 1
    E
  })
  count <- length(basis)
  single <- vapply(basis, curvature_of, 0, mixture, order)
  product <- diag(single, count)
  for (i in seq_len(count)) for (j in seq_len(i - 1L)) {
    both <- curvature_of(basis[[i]] + basis[[j]], mixture, order)
    product[i, j] <- product[j, i] <- (both - single[i] - single[j]) / 2
  }
  function(H) {
    H <- unname(H)
    slope <- drop(product %*% vech(H))
    # A pair off the diagonal is one entry of vech().
    gradient <- invvech(slope / ifelse(entries[, 1L] == entries[, 2L], 2, 4))
    structure(mean_square(H, order) / n + sum(slope * vech(H)) / 4,
              gradient = gradient + mean_square_slope(H, order) / n)
  }
}

# The derivative of mean_square() by H.
mean_square_slope <- function(H, order) {
  if (order == 0L) return(-mean_square(H) / 2 * chol2inv(chol(H)))
  2 * laplacian_slope(numeric(nrow(H)), 2 * H, order)
}

# The MISE with its gradient: the derivative of phi_(aH + S)(u) by H is a (A u u' A - A) phi / 2, A = (aH + S)^-1.
mise_criterion <- function(mixture, n, order = 0L) {
  function(H) {
    H <- unname(H)
    d <- nrow(H)
    slope_of <- function(a) {
      over_pairs(mixture, function(difference, Sigma) {
        S <- a * H + Sigma
        if (order > 0L) return(a * laplacian_slope(difference, S, order))
        A <- chol2inv(chol(S))
        density <- mixture_density(t(difference), list(mus = matrix(0, 1L, d), Sigmas = list(S), props = 1),
                                   normal_density)
        if (density == 0) return(0 * A)
        a * (tcrossprod(A %*% difference) - A) * density / 2
      })
    }
    gradient <- mean_square_slope(H, order) / n + (1 - 1 / n) * slope_of(2) - 2 * slope_of(1)
    structure(exact_mise(H, mixture, n, order), gradient = gradient)
  }
}

#' Bandwidths with the least error for a normal mixture
#'
#' The bandwidth of a Gaussian kernel with the least mean integrated squared error when the density is a normal mixture
#' that is known. The error is exact (`hmise.mixt`, `Hmise.mixt`, `Hmise.mixt.diag`) or asymptotic (`hamise.mixt` and so
#' on). The bandwidth is a scalar, a full matrix or a diagonal one. It is the best that a selector can find, which
#' simulations compare with.
#'
#' The error is that of [mise.mixt()] or [amise.mixt()], which is minimised from one start with its gradient. The exact
#' error may have several minima (Marron & Wand 1992, section 5).
#'
#' @inheritParams mixtures
#' @param samp sample size.
#' @param hstart,Hstart where the search begins; by default the normal reference for the variance of the mixture, or
#'   that of its narrowest component if the mixture is more than 10,000 times as wide.
#' @param deriv.order the order r of the derivatives that the bandwidth is for, 0 to 8.
#' @return `hmise.mixt`, `hamise.mixt`: a positive number. The others: a d x d matrix.
#' @section Units: Of the mixture, and for matrices of their squares.
#' @section Errors: Errors of class `kestrel_error_input` are for a mixture that is not one (see [mixtures]), for
#'   components more than 1e300 standard deviations apart, and for a start that is not a bandwidth of its dimension.
#' @section Warnings: A warning of class `kestrel_warning_search` says if the search did not converge.
#' @section Cost: O(k^2 d^3) for each evaluation of the error, k components, and more for derivatives.
#' @references Marron, J.S. & Wand, M.P. (1992) Exact mean integrated squared error. *Annals of Statistics* **20**,
#'   712-736.
#'
#'   Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall, section 4.4.
#' @seealso [mise.mixt()], [hnm()]
#' @examples
#' mus <- c(0, 3)
#' sigmas <- c(1, 0.5)
#' props <- c(0.4, 0.6)
#' best <- hmise.mixt(mus = mus, sigmas = sigmas, props = props, samp = 100)
#' best
#' h <- seq(0.1, 1, by = 0.02)
#' error_of <- function(h) mise.mixt(h = h, mus = mus, sigmas = sigmas, props = props, samp = 100)
#' plot(h, sapply(h, error_of), type = "l", ylab = "error")
#' abline(v = best, lty = 2)
#' @name hmise.mixt
NULL

#' @rdname hmise.mixt
#' @export
hmise.mixt <- function(mus, sigmas, props, samp, hstart, deriv.order = 0, ...) {
  check_arguments("hmise.mixt", given_names(...))
  h_for_mixture(check_line_mixture(mus, sigmas, props), samp, if (!missing(hstart)) hstart, deriv.order, TRUE)
}

#' @rdname hmise.mixt
#' @export
hamise.mixt <- function(mus, sigmas, props, samp, hstart, deriv.order = 0, ...) {
  check_arguments("hamise.mixt", given_names(...))
  h_for_mixture(check_line_mixture(mus, sigmas, props), samp, if (!missing(hstart)) hstart, deriv.order, FALSE)
}

#' @rdname hmise.mixt
#' @export
Hmise.mixt <- function(mus, Sigmas, props, samp, Hstart, deriv.order = 0, ...) {
  check_arguments("Hmise.mixt", given_names(...))
  H_for_mixture(check_mixture(mus, Sigmas, props), samp, if (!missing(Hstart)) Hstart, deriv.order, TRUE, FALSE)
}

#' @rdname hmise.mixt
#' @export
Hmise.mixt.diag <- function(mus, Sigmas, props, samp, Hstart, deriv.order = 0, ...) {
  check_arguments("Hmise.mixt.diag", given_names(...))
  H_for_mixture(check_mixture(mus, Sigmas, props), samp, if (!missing(Hstart)) Hstart, deriv.order, TRUE, TRUE)
}

#' @rdname hmise.mixt
#' @export
Hamise.mixt <- function(mus, Sigmas, props, samp, Hstart, deriv.order = 0, ...) {
  check_arguments("Hamise.mixt", given_names(...))
  H_for_mixture(check_mixture(mus, Sigmas, props), samp, if (!missing(Hstart)) Hstart, deriv.order, FALSE, FALSE)
}

#' @rdname hmise.mixt
#' @export
Hamise.mixt.diag <- function(mus, Sigmas, props, samp, Hstart, deriv.order = 0, ...) {
  check_arguments("Hamise.mixt.diag", given_names(...))
  H_for_mixture(check_mixture(mus, Sigmas, props), samp, if (!missing(Hstart)) Hstart, deriv.order, FALSE, TRUE)
}

h_for_mixture <- function(mixture, samp, hstart, order, exact) {
  start <- if (!is.null(hstart)) matrix(check_positives(hstart, "hstart", one = TRUE)^2)
  sqrt(known_mixture_bandwidth(mixture, samp, start, order, exact, FALSE)[[1L]])
}

H_for_mixture <- function(mixture, samp, Hstart, order, exact, diagonal) {
  start <- if (!is.null(Hstart)) check_H(Hstart, ncol(mixture$mus), "Hstart", of = "mus")
  known_mixture_bandwidth(mixture, samp, start, order, exact, diagonal)
}

# That of the mixture, or that of its narrowest component where this is too narrow for a search from the former to find.
covariance_to_begin_with <- function(mixture, variance) {
  present <- mixture$Sigmas[mixture$props > 0]
  narrow <- vapply(present, function(Sigma) min(diag(Sigma) / diag(variance)), 0)
  if (min(narrow) > 1e-8) variance else present[[which.min(narrow)]]
}

known_mixture_bandwidth <- function(mixture, samp, start, order, exact, diagonal) {
  n <- check_count(samp, "samp")
  order <- check_order_of_derivative(order)
  moments <- weighted_moments(mixture)
  variance <- covariance_to_begin_with(mixture, moments$var)
  scale <- mixture_scale(variance, order)
  area <- outer(scale, scale)
  mixture$mus <- t((t(mixture$mus) - moments$mean) / scale)
  if (!all(is.finite(mixture$mus))) abort_input("`mus` must be at most 1e300 standard deviations of a component apart.")
  mixture$Sigmas <- lapply(mixture$Sigmas, function(Sigma) unname(Sigma) / area)
  if (is.null(start)) start <- reference_h(n, length(scale), order)^2 * variance
  start <- unname(start) / area
  if (diagonal) start <- diag(diag(start), length(scale))
  best_for_mixture(mixture, n, order, exact, start, diagonal) * area
}
