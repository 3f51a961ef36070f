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
#' @param deriv.order only 0, the density itself.
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
  check_derivative_order(deriv.order, offered = FALSE)
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
  if (!requireNamespace("mclust", quietly = TRUE)) {
    abort_input("Package mclust must be installed to fit a normal mixture.")
  }
  list(sample = sample, used = used, G = as.vector(counts), exact = exact)
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

# The mixture is fitted to deviations from the mean, in which mclust keeps its digits, and the search works in standard
# deviations.
mixture_bandwidth <- function(asked, model, diagonal, more) {
  sample <- asked$sample
  d <- ncol(sample$x)
  scale <- sqrt(diag(sample$cov))
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
  criterion <- if (asked$exact) mise_criterion(mixture, n) else mixture_amise(mixture, n)
  start <- reference_scale(n, d, "gaussian")^2 * if (diagonal) diag(d) else stats::cov2cor(unname(sample$cov))
  best <- minimise_over_matrices(criterion, start, diagonal)
  if (best$convergence != 0L) {
    warn_search("The search for the bandwidth matrix did not converge: ", best$message, ".")
  }
  structure(best$H * area, dimnames = dimnames(sample$cov))
}

# Mclust() looks for a function of its package by name where it is called.
fit_of_mclust <- function(...) {
  mclustBIC <- mclust::mclustBIC
  eval(as.call(c(quote(mclust::Mclust), list(...))))
}

# The AMISE is quadratic in H; its matrix by values at pairs of coordinates.
mixture_amise <- function(mixture, n) {
  d <- ncol(mixture$mus)
  entries <- which(lower.tri(diag(d), diag = TRUE), arr.ind = TRUE)
  basis <- lapply(seq_len(nrow(entries)), function(e) {
    E <- matrix(0, d, d)
    E[entries[e, 1L], entries[e, 2L]] <- E[entries[e, 2L], entries[e, 1L]] <- 1
    E
  })
  count <- length(basis)
  single <- vapply(basis, curvature_of, 0, mixture)
  product <- diag(single, count)
  for (i in seq_len(count)) for (j in seq_len(i - 1L)) {
    product[i, j] <- product[j, i] <- (curvature_of(basis[[i]] + basis[[j]], mixture) - single[i] - single[j]) / 2
  }
  function(H) {
    variance <- mean_square(unname(H)) / n
    slope <- drop(product %*% vech(unname(H)))
    # A pair off the diagonal is one entry of vech().
    gradient <- invvech(slope / ifelse(entries[, 1L] == entries[, 2L], 2, 4))
    structure(variance + sum(slope * vech(unname(H))) / 4, gradient = gradient - variance / 2 * chol2inv(chol(H)))
  }
}

# The MISE with its gradient: the derivative of phi_(aH + S)(u) by H is a (A u u' A - A) phi / 2, A = (aH + S)^-1.
mise_criterion <- function(mixture, n) {
  function(H) {
    H <- unname(H)
    d <- nrow(H)
    slope_of <- function(a) {
      over_pairs(mixture, function(difference, Sigma) {
        S <- a * H + Sigma
        A <- chol2inv(chol(S))
        density <- mixture_density(t(difference), list(mus = matrix(0, 1L, d), Sigmas = list(S), props = 1),
                                   normal_density)
        a * (tcrossprod(A %*% difference) - A) * density / 2
      })
    }
    gradient <- -mean_square(H) / (2 * n) * chol2inv(chol(H)) + (1 - 1 / n) * slope_of(2) - 2 * slope_of(1)
    structure(exact_mise(H, mixture, n), gradient = gradient)
  }
}
