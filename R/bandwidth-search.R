# The search for the bandwidth matrix that minimises a criterion, over H = S L L' S' with S the Cholesky factor of a
# start and L lower triangular, its diagonal in logarithms: every step is positive definite, nothing is rejected.

# Parameters theta of L: log of the diagonal, and what is below it.
factor_from <- function(theta, d, diagonal) {
  L <- diag(exp(theta[seq_len(d)]), d)
  if (!diagonal) L[lower.tri(L)] <- theta[-seq_len(d)]
  L
}

# `criterion(H)` is a number with its gradient D by H, dF = tr(D dH), as an attribute; infinite where it is not to go.
# The quasi-Newton search of the PORT library, which asks for the value and the gradient at one place one after the
# other. `tolerance` is relative, of the value.
minimise_over_matrices <- function(criterion, start, diagonal, tolerance = 1e-15) {
  d <- nrow(start)
  S <- if (diagonal) diag(sqrt(diag(start)), d) else t(chol(start))
  unit <- abs(as.numeric(criterion(tcrossprod(S))))
  if (!is.finite(unit) || unit == 0) unit <- 1
  evaluations <- 1L
  last <- list(theta = NULL)
  at <- function(theta) {
    if (!identical(theta, last$theta)) {
      L <- factor_from(theta, d, diagonal)
      value <- criterion(tcrossprod(S %*% L))
      slope <- 2 * crossprod(S, attr(value, "gradient")) %*% S %*% L
      evaluations <<- evaluations + 1L
      last <<- list(theta = theta, value = min(as.numeric(value) / unit, 1e6),
                    gradient = c(diag(slope) * diag(L), if (!diagonal) slope[lower.tri(slope)]) / unit)
    }
    last
  }
  theta <- numeric(if (diagonal) d else d * (d + 1) / 2)
  found <- stats::nlminb(theta, function(t) at(t)$value, function(t) at(t)$gradient,
                         control = list(iter.max = 500, eval.max = 1000, rel.tol = tolerance, x.tol = 1e-12,
                                        sing.tol = 1e-30))
  best <- at(found$par)
  steepest <- max(abs(best$gradient)) / max(abs(best$value), 1e-3)
  H <- tcrossprod(S %*% factor_from(found$par, d, diagonal))
  # Where the criterion is infinite the gradient says nothing.
  converged <- steepest < 1e-5 && best$value < 1e6
  list(H = H, value = best$value * unit, convergence = if (converged) 0L else 1L, evaluations = evaluations,
       message = sprintf("relative gradient %.1e after %d evaluations", steepest, evaluations))
}

# Nelder & Mead (1965) on vech(H), as Andrzejewski et al. (2013), section 2.3.3, do: matrices that are not positive
# definite count as infinitely bad.
minimise_vech <- function(criterion, start, diagonal) {
  d <- nrow(start)
  scale <- sqrt(diag(start))
  unit <- outer(scale, scale)
  entries <- if (diagonal) function(M) diag(M) else vech
  matrix_of <- function(theta) (if (diagonal) diag(theta, d) else invvech(theta)) * unit
  evaluations <- 0L
  value <- function(theta) {
    evaluations <<- evaluations + 1L
    H <- matrix_of(theta)
    if (inherits(try(chol(H), silent = TRUE), "try-error")) return(Inf)
    as.numeric(criterion(H))
  }
  found <- list(par = entries(start / unit), value = Inf, convergence = 1L)
  # Started anew where it ended, as a simplex may collapse.
  for (round in 1:20) {
    before <- found$value
    found <- stats::optim(found$par, value, method = "Nelder-Mead",
                          control = list(maxit = 500 * length(found$par), reltol = 1e-12))
    if (found$convergence == 0L && before - found$value <= 1e-10 * abs(found$value)) break
  }
  list(H = matrix_of(found$par), value = found$value, convergence = if (found$convergence == 0L) 0L else 1L,
       evaluations = evaluations, message = sprintf("%d evaluations of Nelder and Mead's search", evaluations))
}

search_methods <- c("optim", "nlm", "nelder-mead")

# From several starts: each of them roughly, and the best to the end. "optim" and "nlm", ks's names, are one search here.
minimise_criterion <- function(criterion, starts, diagonal, optim.fun) {
  starts <- unique(starts)
  rough <- if (length(starts) > 1L) lapply(starts, minimise_over_matrices, criterion = criterion, diagonal = diagonal,
                                           tolerance = 1e-3)
  start <- if (is.null(rough)) starts[[1L]] else rough[[which.min(vapply(rough, `[[`, 0, "value"))]]$H
  best <- (if (optim.fun == "nelder-mead") minimise_vech else minimise_over_matrices)(criterion, start, diagonal)
  best$evaluations <- best$evaluations + sum(vapply(rough, `[[`, 0L, "evaluations"))
  best
}
