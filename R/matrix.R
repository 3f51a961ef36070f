# Small functions of matrices.

is_diagonal <- function(H) all(H[row(H) != col(H)] == 0)

matrix_power <- function(S, power) {
  parts <- eigen(unname(S), symmetric = TRUE)
  parts$vectors %*% (parts$values^power * t(parts$vectors))
}

# Matrices that stand one below the other, as a list.
stacked_matrices <- function(all) {
  d <- ncol(all)
  lapply(seq_len(nrow(all) / d), function(k) unname(all[(k - 1L) * d + seq_len(d), , drop = FALSE]))
}

# Many symmetric d x d matrices at once, in a loop over entries: A[[i]][[j]] has the entries (i, j) of all. `definite`:
# whether all pivots of elimination are positive; only then `determinant` has a meaning.
eliminated <- function(A) {
  d <- length(A)
  count <- length(A[[1L]][[1L]])
  definite <- rep(TRUE, count)
  determinant <- rep(1, count)
  for (k in seq_len(d)) {
    definite <- definite & A[[k]][[k]] > 0
    A[[k]][[k]][!definite] <- 1
    determinant <- determinant * A[[k]][[k]]
    for (i in seq_len(d)[seq_len(d) > k]) {
      factor <- A[[i]][[k]] / A[[k]][[k]]
      for (j in k:d) A[[i]][[j]] <- A[[i]][[j]] - factor * A[[k]][[j]]
    }
  }
  list(definite = definite, determinant = determinant)
}

# Many symmetric matrices in that form, from columns with their entries in the order of vech().
many_matrices <- function(entries) {
  at <- invvech(seq_len(ncol(entries)))
  lapply(seq_len(nrow(at)), function(i) lapply(seq_len(nrow(at)), function(j) entries[, at[i, j]]))
}

# The 2d-th root of det(H).
mean_bandwidth <- function(H) {
  H <- as.matrix(H)
  exp(sum(log(diag(as.matrix(lower_root_cpp(H))))) / nrow(H))
}

# The symmetric root.
matrix_root <- function(A) {
  parts <- eigen(A, symmetric = TRUE)
  parts$vectors %*% (sqrt(pmax(parts$values, 0)) * t(parts$vectors))
}

# A^(-1/2) = L^-T U for A = L L', where U is the orthogonal factor of the polar decomposition L' = U A^(1/2) (Golub &
# Van Loan 2013, section 9.4.3). Variables in very different units lose no digits, unlike in the inverse of
# matrix_root(). The order from large to small is one in which svd() keeps the digits of such a matrix.
inverse_symmetric_root <- function(A) {
  order <- order(diag(A), decreasing = TRUE)
  upper <- chol(A[order, order, drop = FALSE])
  parts <- svd(upper)
  inverse <- backsolve(upper, parts$u %*% t(parts$v))
  inverse[order(order), order(order), drop = FALSE]
}

#' Matrices as vectors
#'
#' `vech()` stacks the lower triangle of a symmetric matrix column by column, and `vec()` the columns of any matrix.
#' `invvech()` and `invvec()` are their inverses.
#'
#' @param x for `vech()` a square matrix, and for `vec()` a matrix. For `invvech()` a vector of length d(d+1)/2, and for
#'   `invvec()` a vector.
#' @param byrow TRUE to stack rows in place of columns.
#' @param ncol,nrow the size of the matrix; a square one if neither is given.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @return `vech()` returns a vector of length d(d+1)/2, and `invvech()` a symmetric d x d matrix. `vec()` returns a
#'   vector, and `invvec()` a matrix.
#' @section Units: The units of `x`.
#' @section Errors: Errors of class `kestrel_error_input` are raised if `x` is not a numeric matrix (for `vech()` a
#'   square one), or if its length is not that of such a matrix.
#' @section Cost: O(d^2).
#' @references Henderson, H.V. & Searle, S.R. (1979) Vec and vech operators for matrices, with some uses in Jacobians
#'   and multivariate statistics. *Canadian Journal of Statistics* **7**, 65-81.
#' @examples
#' H <- invvech(c(1, 0.5, 2))
#' H
#' vech(H)
#' vec(H)
#' invvec(1:6, ncol = 2, nrow = 3)
#' @export
vech <- function(x, ...) {
  check_arguments("vech", given_names(...))
  x <- if (is_frame(x)) as_points(x, "x") else plain(x)
  if (is_numbers(x) && length(x) == 1L) x <- as.matrix(x)
  if (!is_numbers(x) || !is.matrix(x) || nrow(x) != ncol(x)) {
    abort_input("`x` must be a square numeric matrix, not ", describe_value(x), ".")
  }
  as.vector(x[lower.tri(x, diag = TRUE)])
}

#' @rdname vech
#' @export
invvech <- function(x, ...) {
  check_arguments("invvech", given_names(...))
  x <- plain(x)
  d <- (sqrt(8 * length(without_class(x)) + 1) - 1) / 2
  if (!is_numbers(x) || length(x) == 0L || d != round(d)) {
    abort_input("`x` must be a numeric vector of length d(d+1)/2, such as 1, 3, 6 or 10, not ",
                if (is_numbers(x)) paste("of length", length(x)) else describe_value(x), ".")
  }
  H <- matrix(0, d, d)
  ends <- cumsum(d:1)
  for (k in seq_len(d)) H[k:d, k] <- H[k, k:d] <- x[(ends[k] - d + k):ends[k]]
  H
}

#' @rdname vech
#' @export
vec <- function(x, byrow = FALSE, ...) {
  check_arguments("vec", given_names(...))
  byrow <- check_flag(byrow, "byrow")
  x <- if (is_frame(x)) as_points(x, "x") else plain(x)
  if (!is_numbers(x) || length(dim(x)) > 2L) abort_input("`x` must be a numeric matrix, not ", describe_value(x), ".")
  as.vector(if (byrow && is.matrix(x)) t(x) else x)
}

#' @rdname vech
#' @export
invvec <- function(x, ncol, nrow, byrow = FALSE, ...) {
  check_arguments("invvec", given_names(...))
  byrow <- check_flag(byrow, "byrow")
  size <- list(ncol = if (!missing(ncol)) check_count(ncol, "ncol"),
               nrow = if (!missing(nrow)) check_count(nrow, "nrow"))
  x <- plain(x)
  if (!is_numbers(x) || length(x) == 0L) abort_input("`x` must be a numeric vector, not ", describe_value(x), ".")
  if (is.null(size$ncol)) size$ncol <- if (is.null(size$nrow)) sqrt(length(x)) else length(x) / size$nrow
  if (is.null(size$nrow)) size$nrow <- length(x) / size$ncol
  if (size$ncol * size$nrow != length(x) || any(unlist(size) %% 1 != 0)) {
    abort_input("`x` must have the length of a ", if (missing(ncol) && missing(nrow)) "square matrix" else
                "matrix of that size", ", not ", length(x), ".")
  }
  matrix(as.numeric(x), nrow = size$nrow, ncol = size$ncol, byrow = byrow)
}

#' Square root of a matrix
#'
#' The symmetric matrix whose square is a given symmetric and positive semidefinite matrix.
#'
#' @param A a symmetric and positive semidefinite matrix, or a number that is not negative.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @return A matrix of the size of `A`.
#' @section Units: The square root of those of `A`.
#' @section Errors: Errors of class `kestrel_error_input` are for an `A` that is not a symmetric matrix of finite
#'   numbers or has a negative eigenvalue.
#' @section Cost: O(d^3), the eigenvalues of `A`.
#' @references Golub, G.H. & Van Loan, C.F. (2013) *Matrix Computations*. Johns Hopkins University Press, section 9.4.
#' @examples
#' H <- matrix(c(2, 1, 1, 2), 2)
#' matrix.sqrt(H) %*% matrix.sqrt(H)
#' @export
matrix.sqrt <- function(A, ...) {
  check_arguments("matrix.sqrt", given_names(...))
  A <- plain(A)
  if (is_numbers(A) && length(A) == 1L) A <- matrix(as.numeric(A), 1L, 1L)
  if (!is_numbers(A) || !is.matrix(A) || nrow(A) != ncol(A) || length(A) == 0L) {
    abort_input("`A` must be a square numeric matrix, not ", describe_value(A), ".")
  }
  check_finite(A, "A")
  size <- max(abs(A))
  if (any(abs(A - t(A)) > 1e-10 * size)) abort_input("`A` must be symmetric, but `A` and its transpose differ.")
  smallest <- min(eigen(A, symmetric = TRUE, only.values = TRUE)$values)
  if (smallest < -1e-12 * size) {
    abort_input("`A` must be positive semidefinite; its smallest eigenvalue is ", format(smallest, digits = 3), ".")
  }
  structure(matrix_root(unname(A)), dimnames = dimnames(A))
}

#' Data without correlations
#'
#' `pre.sphere()` multiplies the data by the inverse root of their covariance, so that this becomes the identity matrix.
#' `pre.scale()` divides every column by its standard deviation.
#'
#' @param x a matrix or data frame with n rows and d columns, or a vector.
#' @param mean.centred TRUE to subtract the means first.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @return A matrix of the size of `x`. `pre.sphere()` mixes the columns, so it has no names for them.
#' @section Units: None: the data are in standard deviations.
#' @section Errors: Errors of class `kestrel_error_input` are for data that are missing, infinite or not numeric, n that
#'   is not larger than d, and columns that are constant or linearly dependent.
#' @section Cost: O(n d^2).
#' @references Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall, section 4.6.
#' @examples
#' var(pre.sphere(faithful))
#' var(pre.scale(faithful))
#' @export
pre.sphere <- function(x, mean.centred = FALSE, ...) {
  check_arguments("pre.sphere", given_names(...))
  sample <- sample_to_scale(x, check_flag(mean.centred, "mean.centred"))
  x <- sample$x %*% inverse_symmetric_root(unname(sample$cov))
  if (is.null(rownames(x))) unname(x) else structure(x, dimnames = list(rownames(x), NULL))
}

#' @rdname pre.sphere
#' @export
pre.scale <- function(x, mean.centred = FALSE, ...) {
  check_arguments("pre.scale", given_names(...))
  sample <- sample_to_scale(x, check_flag(mean.centred, "mean.centred"))
  sweep(sample$x, 2L, sqrt(diag(sample$cov)), "/")
}

sample_to_scale <- function(x, centred) {
  sample <- selector_sample(x, NULL)
  if (centred) sample$x <- sweep(sample$x, 2L, colMeans(sample$x))
  sample
}
