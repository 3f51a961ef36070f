# The search for the bandwidth matrix that minimises a criterion, over H = S L L' S' with S the Cholesky factor of a
# start and L lower triangular with logarithms of its diagonal as parameters: every step is positive definite, none is
# rejected.

# The parameters theta of L: logarithms of the diagonal, then the entries below it.
factor_from <- function(theta, d, diagonal) {
  L <- diag(exp(theta[seq_len(d)]), d)
  if (!diagonal) L[lower.tri(L)] <- theta[-seq_len(d)]
  L
}

# `criterion(H)` is a number with its gradient D by H, dF = tr(D dH), as an attribute. It is infinite where the search
# must not go; if memory is the reason, the attribute `refused` is the condition. The quasi-Newton search of the PORT
# library asks for the value and the gradient at a point separately. `tolerance` is relative, of the value.
minimise_over_matrices <- function(criterion, start, diagonal, tolerance = 1e-15) {
  d <- nrow(start)
  first <- criterion(start)
  # L takes the variables one after the other. The criterion decides their order, so that the order of the columns does
  # not decide which of several minima is found.
  order <- order(diag(attr(first, "gradient")) * diag(start))
  back <- order(order)
  start <- start[order, order, drop = FALSE]
  S <- if (diagonal) diag(sqrt(diag(start)), d) else lower_root_cpp(unname(start))
  evaluations <- 0L
  refused <- NULL
  last <- list(theta = NULL)
  matrix_at <- function(L) tcrossprod(S %*% L)[back, back, drop = FALSE]
  at <- function(theta) {
    if (!identical(theta, last$theta)) {
      L <- factor_from(theta, d, diagonal)
      value <- if (evaluations == 0L) first else criterion(matrix_at(L))
      if (!is.null(attr(value, "refused"))) refused <<- attr(value, "refused")
      slope <- 2 * crossprod(S, attr(value, "gradient")[order, order]) %*% S %*% L
      evaluations <<- evaluations + 1L
      last <<- list(theta = theta, value = as.numeric(value),
                    gradient = c(diag(slope) * diag(L), if (!diagonal) slope[lower.tri(slope)]))
    }
    last
  }
  theta <- numeric(if (diagonal) d else d * (d + 1) / 2)
  size <- abs(at(theta)$value)
  unit <- curvature_at(theta, d, at)
  if (!is.finite(size) || size == 0) size <- 1
  worst <- 1e6 * size # PORT does not take infinite values
  found <- stats::nlminb(theta, function(t) min(at(t)$value, worst) / unit, function(t) at(t)$gradient / unit,
                         control = list(iter.max = 500, eval.max = 1000, rel.tol = tolerance, x.tol = 1e-12,
                                        sing.tol = 1e-30))
  best <- at(found$par)
  steepest <- max(abs(best$gradient)) / max(abs(best$value), 1e-3 * size)
  H <- matrix_at(factor_from(found$par, d, diagonal))
  # Where the criterion is infinite, its gradient means nothing.
  converged <- is.finite(best$value) && steepest < 1e-5
  list(H = H, value = best$value, convergence = if (converged) 0L else 1L, evaluations = evaluations, refused = refused,
       message = sprintf("relative gradient %.1e after %d evaluations", steepest, evaluations))
}

# The second derivative of the criterion along the log diagonal. In units of it a search begins with steps of the right
# length. Otherwise PORT's first steps are wrong: near the minimum the criterion is flat, more so for larger n.
curvature_at <- function(theta, d, at) {
  along <- seq_along(theta) <= d
  step <- 0.05
  slope <- function(t) sum(at(theta + t * along)$gradient[along])
  curvature <- (slope(step) - slope(0)) / (step * d)
  if (is.finite(curvature) && curvature > 0) return(curvature)
  value <- abs(at(theta)$value)
  if (is.finite(value) && value > 0) value else 1
}

# Nelder & Mead (1965) on vech(H), as in Andrzejewski et al. (2013), section 2.3.3: the value of matrices that are not
# positive definite is infinite.
minimise_vech <- function(criterion, start, diagonal) {
  d <- nrow(start)
  scale <- sqrt(diag(start))
  unit <- outer(scale, scale)
  entries <- if (diagonal) function(M) diag(M) else vech
  matrix_of <- function(theta) (if (diagonal) diag(theta, d) else invvech(theta)) * unit
  evaluations <- 0L
  refused <- NULL
  value <- function(theta) {
    evaluations <<- evaluations + 1L
    H <- matrix_of(theta)
    if (is.null(lower_root_cpp(unname(H)))) return(Inf)
    found <- criterion(H)
    if (!is.null(attr(found, "refused"))) refused <<- attr(found, "refused")
    as.numeric(found)
  }
  found <- list(par = entries(start / unit), value = Inf, convergence = 1L)
  # Restarted where it ended, since a simplex may collapse. optim() must start from a finite value.
  for (round in if (value(found$par) < Inf) 1:20) {
    before <- found$value
    found <- stats::optim(found$par, value, method = "Nelder-Mead",
                          control = list(maxit = 500 * length(found$par), reltol = 1e-12))
    if (found$convergence == 0L && before - found$value <= 1e-10 * abs(found$value)) break
  }
  list(H = matrix_of(found$par), value = found$value, convergence = if (found$convergence == 0L) 0L else 1L,
       evaluations = evaluations, refused = refused,
       message = sprintf("%d evaluations of Nelder and Mead's search", evaluations))
}

search_methods <- c("optim", "nlm", "nelder-mead")

# From several starts: searches roughly from each, with a criterion that may be confined to a smaller range, and then to
# the end from the best. "optim" and "nlm", names of ks, are one search. If no start has enough memory, ends in that
# error. If one of them has not, or matrices in a search that did not converge, `refused` is that condition.
minimise_criterion <- function(criterion, starts, diagonal, optim.fun, confined) {
  roughly <- function(start) minimise_over_matrices(confined, start, diagonal, tolerance = 1e-3)
  rough <- if (length(starts) > 1L) lapply(starts, roughly)
  values <- vapply(rough, `[[`, 0, "value")
  start <- if (is.null(rough)) starts[[1L]] else rough[[which.min(values)]]$H
  best <- (if (optim.fun == "nelder-mead") minimise_vech else minimise_over_matrices)(criterion, start, diagonal)
  if (best$value == Inf && !is.null(best$refused)) stop(best$refused)
  if (best$convergence == 0L) best["refused"] <- list(NULL)
  if (any(values == Inf) && is.null(best$refused)) best$refused <- rough[[which(values == Inf)[1L]]]$refused
  best$evaluations <- best$evaluations + sum(vapply(rough, `[[`, 0L, "evaluations"))
  best
}

# The minimum between limits of the bandwidths relative to S, with `remarks` if it may not be one. At the edge of the
# range a search counts as not converged. `name` is the criterion's.
minimise_within <- function(limits, S, name, criterion, starts, diagonal, optim.fun, usual = limits) {
  within <- function(limits) within_limits(criterion, S, limits)
  best <- minimise_criterion(within(limits), starts, diagonal, optim.fun, within(usual))
  reached <- relative_bandwidths(best$H, S)
  at_edge <- reached[1L] < 1.05 * limits[1L] || reached[2L] > limits[2L] / 1.05
  best$remarks <- c(
    if (at_edge) paste0("The least value of ", name, " is at the edge of the range of bandwidth matrices.")
    else if (best$convergence != 0L) {
      paste0("The search for the least value of ", name, " did not converge: ", best$message, ".")
    },
    if (!is.null(best$refused)) {
      paste0("Bandwidth matrices were left out of the search",
             if (!inherits(best$refused, "kestrel_core_unfit")) " for lack of memory", ": ",
             conditionMessage(best$refused))
    }
  )
  if (at_edge) best$convergence <- 1L
  best
}
