# Small functions of matrices.

is_diagonal <- function(H) all(H[row(H) != col(H)] == 0)

#' Symmetric matrices as vectors
#'
#' `vech()` stacks the lower triangle of a symmetric matrix column by column; `invvech()` is its inverse.
#'
#' @param x for `vech()` a square matrix; for `invvech()` a vector of length d(d+1)/2.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @return `vech()` returns a vector of length d(d+1)/2, and `invvech()` a symmetric d x d matrix.
#' @section Units: The units of `x`.
#' @section Errors: Errors of class `kestrel_error_input` are raised if `x` is not a square numeric matrix, or if its
#'   length is not d(d+1)/2 for any d.
#' @section Cost: O(d^2).
#' @references Henderson, H.V. & Searle, S.R. (1979) Vec and vech operators for matrices, with some uses in Jacobians
#'   and multivariate statistics. *Canadian Journal of Statistics* **7**, 65-81.
#' @examples
#' H <- invvech(c(1, 0.5, 2))
#' H
#' vech(H)
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
