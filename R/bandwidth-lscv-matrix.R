# Least squares cross-validation of a bandwidth matrix: full, diagonal, or a multiple of the covariance.

#' Bandwidth matrices by least squares cross-validation
#'
#' The bandwidth matrix H that minimises [lscv()]: over all symmetric positive definite matrices, over diagonal ones, or
#' over the multiples h^2 of the sample covariance. The sums over all pairs are exact, never binned.
#'
#' The search runs over the Cholesky factor of H, its diagonal in logarithms, by a quasi-Newton method
#' ([stats::nlminb()]) with the analytic gradient. It begins at the best of several multiples of the covariance, one of
#' which is the normal reference. If LSCV is about as low at the best of several multiples of its diagonal, a second
#' search begins there. Both searches are rough at first, and the better one goes on until it converges. With
#' `optim.fun = "nelder-mead"` the last search is by the method of Nelder and Mead on the entries of H, as in
#' Andrzejewski et al. (2013). `"optim"` and `"nlm"`, the names of `ks`, both mean the quasi-Newton method.
#'
#' `type = "scalar"` looks at 150 bandwidths between h0/4 and 4 h0, with h0 = (4 / ((d + 2) n))^(1 / (d + 4)). Then it
#' searches between the neighbours of the best one.
#'
#' If the data lie in clusters far narrower than they are apart, the normal reference is far too large. The numbers of
#' neighbours in cells of ever smaller sides show this, down to the nearest pairs that are not tied. The search then
#' also tries the scales of the clusters: S in the limits below is the covariance within cells that separate them, and
#' h_0 half of the best side of a cell. It goes on at the scale where LSCV is lowest. With `type = "scalar"`
#' the bandwidths then begin at a quarter of that h_0, and there are as many for each doubling as otherwise.
#'
#' For derivatives of order r >= 1 the criterion is an unbiased estimate of the integrated squared error of all of
#' them, less a constant (Chacon & Duong 2013, section 3.1). In place of K_2H and K_H it has their Laplacian, taken r
#' times, with the sign (-1)^r. h_0 is then (4 / ((d + 2r + 2) n))^(1 / (d + 2r + 4)). Clusters are not looked for.
#' Columns in other units change the result, because the Laplacian adds derivatives by all of them. This criterion
#' varies far more from sample to sample than that of the density, and its least value is often at a matrix that is
#' nearly singular. The limits below are therefore a = 1/4 and b = 2. Plug-in matrices, \code{\link{Hpi}()}, are the
#' better choice.
#'
#' If many observations are tied, in all columns or in some, LSCV falls without limit as H shrinks. The search is
#' therefore limited to matrices H with \eqn{a^2 h_0^2 S \le H \le b^2 h_0^2 S}{a^2 h0^2 S <= H <= b^2 h0^2 S} as
#' quadratic forms, S the sample covariance, a = 1/32 (1/4 when tied pairs make LSCV fall without limit) and b = 8.
#' There is a warning for a minimum at the edge of this range, and for a search that did not converge.
#' With `Hstart` the range is always that of the whole covariance.
#'
#' The Fourier engine may not have enough memory for a bandwidth matrix. If it was not asked for, direct sums replace it
#' for up to 50,000 observations. Otherwise such matrices are left out of the search. There is a warning if a start is
#' among them or the search did not converge, and an error if all starts are among them.
#'
#' @inheritParams kde
#' @param x a matrix or data frame of observations, one a row, two columns or more, or a sketch of two or three
#'   variables made by [kde_sketch()].
#' @param Hstart a matrix to start from instead. A diagonal search uses only its diagonal, and `"scalar"` does not use
#'   it.
#' @param binned,bgridsize accepted for compatibility and without effect: nothing is ever binned.
#' @param amise if TRUE, return a record of the search, not the matrix alone.
#' @param deriv.order the order r of the density derivative that the bandwidth is for, at most 3; 0 is the density.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @param optim.fun `"optim"`, `"nlm"` or `"nelder-mead"`.
#' @param trunc accepted for compatibility and without effect: the range of the search is that of the details.
#' @param w weights, one for each observation, non-negative; observations of weight 0 are left out.
#' @param type `"full"`, `"diag"` or `"scalar"`.
#' @param engine `"auto"`, `"fourier"` (two or three columns) or `"direct"`, see [engines]. Above 16 columns `"direct"`
#'   must be asked for, by this name or by `backend = "cuda"`.
#' @param backend `"cpu"`, `"cuda"` (direct sums on an NVIDIA GPU) or `"auto"`, see [engines].
#' @return The d x d matrix H, in squared units of `x`. With `type = "scalar"` it carries the curve as `attr(, "path")`,
#'   a data frame of `h` and `objective`. With `amise = TRUE` a list: `H`, `LSCV` and `objective` (its value there),
#'   `convergence` (0 if the search converged inside the range), `evaluations`, `engine`, `backend`, `device` (the GPU's
#'   name), `seconds` and, for `"scalar"`, `h` and `path`.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - data that are missing, infinite or not numeric;
#'   - fewer than two columns, or no more rows than columns;
#'   - columns that are constant or linearly dependent, which the message names.
#'
#'   The class is `kestrel_error_memory` if the Fourier engine would need more than 1 GB for every start, or if the
#'   memory of a GPU that was asked for does not suffice. It is `kestrel_error_backend` for a backend that this build or
#'   machine lacks or that does not take the task. [engines] has the limits of a GPU.
#' @section Cost: The engine `"fourier"` takes O(n) to prepare. Each of some tens of evaluations then takes a time that
#'   does not depend on n. With `"direct"` each evaluation takes O(n^2 d^2), or in two and three
#'   dimensions O(n log n) and the pairs within reach if these are few. Memory is O(n), and `"fourier"` adds a grid
#'   of at most 1 GB. For 200,000 normal observations it takes 0.05 GB in two and 0.3 GB in three dimensions.
#' @references Rudemo, M. (1982) Empirical choice of histograms and kernel density estimators. *Scandinavian Journal of
#'   Statistics* **9**, 65-78.
#'
#'   Duong, T. & Hazelton, M.L. (2005) Cross-validation bandwidth matrices for multivariate kernel density estimation.
#'   *Scandinavian Journal of Statistics* **32**, 485-506.
#'
#'   Andrzejewski, W., Gramacki, A. & Gramacki, J. (2013) Graphics processing units in acceleration of bandwidth
#'   selection for kernel density estimation. *International Journal of Applied Mathematics and Computer Science*
#'   **23**, 869-885.
#'
#'   Chacon, J.E. & Duong, T. (2013) Data-driven density derivative estimation, with applications to nonparametric
#'   clustering and bump hunting. *Electronic Journal of Statistics* **7**, 499-532.
#' @seealso [lscv()] for the objective, [hlscv()] for one column, [Hpi()]
#' @examples
#' x <- as.matrix(iris[, 1:2]) + 0.05 * cos(1:300) # iris is rounded to 0.1
#' Hlscv(x)
#' Hlscv.diag(x)
#' path <- attr(Hlscv(x, type = "scalar"), "path")
#' plot(path, type = "l", log = "x", ylab = "LSCV")
#' @rdname Hlscv-matrix
#' @export
Hlscv <- function(x, Hstart, binned, bgridsize, amise = FALSE, deriv.order = 0, verbose = NULL, optim.fun = "optim",
                  trunc, ..., type = c("full", "diag", "scalar"), w = NULL, na.action = stats::na.fail,
                  engine = c("auto", "fourier", "direct"), backend = "auto", threads = NULL) {
  check_arguments("Hlscv", given_names(...), c("binned", "bgridsize", "trunc"))
  verbose <- asked_verbose(verbose)
  type <- check_choice(type, c("full", "diag", "scalar"), "type")
  task <- matrix_task(x, w, na.action, if (!missing(Hstart)) Hstart, amise, deriv.order, optim.fun, "hlscv",
                      most = most_in_lscv, sketch = TRUE)
  select_by_lscv(task, type, verbose, matrix_run(threads, backend, engine))
}

#' @rdname Hlscv-matrix
#' @export
Hlscv.diag <- function(x, Hstart, binned, bgridsize, amise = FALSE, deriv.order = 0, verbose = NULL,
                       optim.fun = "optim", trunc, ..., w = NULL, na.action = stats::na.fail,
                       engine = c("auto", "fourier", "direct"), backend = "auto", threads = NULL) {
  check_arguments("Hlscv.diag", given_names(...), c("binned", "bgridsize", "trunc"))
  verbose <- asked_verbose(verbose)
  task <- matrix_task(x, w, na.action, if (!missing(Hstart)) Hstart, amise, deriv.order, optim.fun, "hlscv",
                      most = most_in_lscv, sketch = TRUE)
  select_by_lscv(task, "diag", verbose, matrix_run(threads, backend, engine))
}

#' @rdname Hlscv-matrix
#' @export
Hucv <- function(x, ...) Hlscv(x, ...)

#' @rdname Hlscv-matrix
#' @export
Hucv.diag <- function(x, ...) Hlscv.diag(x, ...)

# The sums of derivatives that the gradient needs are there up to order 8.
most_in_lscv <- 3L

check_order_of_lscv <- function(order, d) {
  if (order == 0L || choose(d + 2 * order + 1, 2 * order + 2) <= most_derivatives) return(invisible())
  abort_input("`deriv.order` must be lower for ", d, " columns, not ", order, ": more than ",
              format(most_derivatives, big.mark = ","), " derivatives would enter the gradient of LSCV.")
}

select_by_lscv <- function(task, type, verbose, run) {
  check_order_of_lscv(task$order, ncol(task$sample$x))
  unit <- near_units(task$sample$cov)
  # Derivatives by different variables are added, so that these keep their units relative to each other.
  if (task$order > 0L) {
    if (max(unit) > 1e20 * min(unit)) {
      abort_input("`x` must have columns in units of about the same size for deriv.order > 0; their standard ",
                  "deviations are from ", format_short(min(unit)), " to ", format_short(max(unit)), ": rescale it.")
    }
    unit <- rep(max(unit), length(unit))
  }
  area <- outer(unit, unit)
  sample <- in_units(task$sample, unit)
  sample$order <- task$order
  # Diagonal matrices do not follow correlations, so they are compared with the covariance without these.
  if (type == "diag") sample <- without_correlations(sample)
  Hstart <- if (!is.null(task$Hstart)) task$Hstart / area
  range <- if (type != "scalar") search_range(sample, Hstart)
  found <- with_search_progress(verbose, "Cross-validation", function(progress) {
    run$progress <- progress
    criteria_of <- function(sample) {
      bandwidths <- if (type == "scalar") 150
      criteria <- if (isTRUE(sample$near) && run$engine == "auto") {
        criteria_for(sample, "direct", replace(run, "backend", "cpu"), bandwidths)
      } else {
        criteria_for(sample, run$engine, run, bandwidths)
      }
      criteria$lscv <- counted(criteria$lscv, progress)
      criteria$lscv_multiples <- counted(criteria$lscv_multiples, progress)
      criteria
    }
    with_wide_cells_refused(sample, if (type == "scalar") {
      lscv_along_covariance(sample, criteria_of(sample))
    } else {
      lscv_over_matrices(sample, criteria_of, range, Hstart, type == "diag", task$optim.fun)
    })
  })
  path <- attr(found$H, "path")
  in_x <- function(value) per_volume(value, c(unit, rep(unit[1L], 2L * task$order)))
  if (!is.null(path)) path$objective <- in_x(path$objective)
  found$H <- structure(found$H * area, dimnames = dimnames(sample$cov), path = path)
  found$value <- in_x(found$value)
  if (!task$amise) return(found$H)
  record <- c(found[c("H", "h")[c(TRUE, type == "scalar")]],
              list(LSCV = found$value, objective = found$value, convergence = found$convergence,
                   evaluations = found$evaluations),
              found$by, list(seconds = proc.time()[["elapsed"]] - task$started),
              if (type == "scalar") list(path = path))
  as_record(record, "Bandwidth matrix by least squares cross-validation")
}

# The objective at one matrix, or at multiples of the identity matrix.
lscv_matrices <- function(sample, H, h, form, kernel, run) {
  if (kernel != "gaussian") abort_input("`kernel` must be \"gaussian\" for more than one column, not \"", kernel, "\".")
  check_one_given(H, h)
  used <- rows_with_weight(sample)
  n <- length(used$w)
  d <- ncol(sample$x)
  if (n < 2L) abort_input("`x` must have at least two observations for cross-validation, not ", n, ".")
  name <- if (is.null(H)) "h" else "H"
  S <- if (is.null(H)) diag(d) else check_H(H, d)
  h <- if (is.null(H)) check_positives(h, "h") else 1
  fourier <- run$backend != "cuda" && plan_pairs_cpp(n, d, "once") == "fourier"
  # The grid follows the covariance. If there is none, or a singular one, or one so unlike S that no grid has memory for
  # both, sums are direct.
  if (is_spread(sample)) fourier <- TRUE
  spread <- if (fourier) tryCatch(with_covariance(sample), kestrel_error_input = function(e) NULL)
  if (is.null(spread) && is_spread(sample)) with_covariance(sample)
  reached <- if (!is.null(spread)) relative_bandwidths(S, spread$cov)
  fourier <- is_spread(sample) || !is.null(spread) && reached[2L] < 1e6 * reached[1L]
  sample <- if (fourier) {
    spread
  } else {
    plain <- list(x = used$x, w = used$w, n = check_effective_size(used$w, sums_of_weights(used)), cov = diag(d),
                  mean = matrix(0, 2L, d))
    if (is_of_sketch(sample)) c(plain, sample[c("data", "sketch")]) else with_data(plain)
  }
  unit <- near_units(S)
  # A matrix near the largest numbers may round to a singular one in other units.
  scaled <- check_definite(S / outer(unit, unit), name)
  sample <- in_units(sample, unit)
  criteria <- criteria_for(sample, if (fourier) "auto" else "direct", run, bandwidths = length(h))
  value <- per_volume(with_wide_cells_refused(sample, criteria$lscv_multiples(scaled, h, form)), unit)
  if (!all(is.finite(value))) {
    abort_input("`", name, "` must be such that LSCV, in 1 / volume, is within the range of numbers: rescale `x`.")
  }
  value
}

# Bandwidths h with H = h^2 S; h0 is that of the normal reference. For clusters they go down to a quarter of theirs.
lscv_along_covariance <- function(sample, criteria) {
  h0 <- reference_of(sample)
  ties <- count_ties(sample, "gaussian", order_of(sample))
  range <- c(max(h0 / 4, 1.01 * served_from(sample)), 4 * h0)
  if (!ties$unbounded && order_of(sample) == 0L && is_clustered(sample)) {
    range[1L] <- min(range[1L], reference_of_cells(scan_of_cells(sample, 8)) / 4)
  }
  size <- ceiling(150 * log(range[2L] / range[1L]) / log(16))
  found <- minimise_curve(function(h) criteria$lscv_multiples(sample$cov, h), range, size)
  warn_minimum("LSCV", found, ties)
  found$H <- structure(found$h^2 * sample$cov, path = found$curve)
  found$value <- found$objective
  c(found, by = list(criteria$by()))
}

# What a search over matrices starts from: the sample, and the ties and the clusters on which its range depends. Checks
# `Hstart` against that range.
search_range <- function(sample, Hstart) {
  ties <- count_ties(sample, "gaussian", order_of(sample))
  if (!is.null(Hstart)) check_start(Hstart, sample$cov, search_limits(sample, ties))
  searched <- is.null(Hstart) && !ties$unbounded && order_of(sample) == 0L
  list(ties = ties, clustered = searched && is_clustered(sample))
}

# Relative to the covariance of the sample. LSCV of derivatives has minima at matrices that are nearly singular, which
# fit chance distances of few pairs.
search_limits <- function(sample, ties) {
  reference_of(sample) * if (order_of(sample) > 0L) c(1 / 4, 2) else c(if (ties$unbounded) 1 / 4 else 1 / 32, 8)
}

lscv_over_matrices <- function(sample, criteria_of, range, Hstart, diagonal, optim.fun) {
  best <- search_matrices(sample, criteria_of, Hstart, diagonal, optim.fun, range)
  ties <- range$ties
  falling <- if (ties$unbounded) {
    paste0("LSCV falls without limit as H goes to 0, because `x` has ", format(ties$per_observation, digits = 3),
           " tied pairs an observation.")
  }
  remarks <- c(falling, best$remarks)
  if (length(remarks) > 0L) warn_search(paste(remarks, collapse = " "))
  best
}

search_matrices <- function(sample, criteria_of, Hstart, diagonal, optim.fun, range) {
  from <- function(sample) {
    criteria <- criteria_of(sample)
    starts <- if (is.null(Hstart)) matrix_starts(sample, criteria, diagonal) else list(Hstart)
    list(sample = sample, criteria = criteria, starts = starts)
  }
  begun <- from(sample)
  if (range$clustered) {
    all <- lapply(c(list(begun), lapply(at_scales_of_clusters(sample, diagonal), from)), from_best_start)
    begun <- all[[which.min(vapply(all, `[[`, 0, "value"))]]
  }
  criterion <- function(H) begun$criteria$lscv(H, gradient = TRUE)
  found <- minimise_within(search_limits(begun$sample, range$ties), begun$sample$cov, "LSCV", criterion, begun$starts,
                           diagonal, optim.fun, usual_range(begun$sample))
  c(found, by = list(begun$criteria$by()))
}

from_best_start <- function(begun) {
  value <- vapply(begun$starts, function(H) unless_memory(as.numeric(begun$criteria$lscv(H)), function(e) Inf), 0)
  best <- which.min(value)
  replace(begun, c("starts", "value"), list(begun$starts[best], value[best]))
}

# The starts of a search: the best of some multiples of the covariance, up to the normal reference, and the best
# multiple of its diagonal, if any is in the usual range, for which a grid is made.
matrix_starts <- function(sample, criteria, diagonal) {
  h0 <- reference_of(sample)
  usual <- usual_range(sample) * c(1.1, 1 / 1.1)
  best_multiple <- function(S) {
    reached <- relative_bandwidths(S, sample$cov)
    range <- c(usual[1L] / reached[1L], min(h0 / reached[1L], usual[2L] / reached[2L]))
    if (range[1L] > range[2L]) return(NULL)
    h <- seq(range[1L], range[2L], length.out = 4L)
    # Without memory for these values, the search from this start decides whether there is memory for it.
    best <- unless_memory(which.min(criteria$lscv_multiples(S, h)), function(e) length(h))
    h[best]^2 * S
  }
  axes <- diag(diag(sample$cov))
  starts <- Filter(Negate(is.null), c(if (!diagonal) list(best_multiple(sample$cov)), list(best_multiple(axes))))
  # The cells of a sketch may serve wider bandwidths only.
  if (length(starts) > 0L) starts else list(usual[1L]^2 * if (diagonal) axes else sample$cov)
}

# The smallest and the largest h with H = h^2 S along some direction, each by the largest singular value of a matrix:
# the smallest one of either would have no digits where units differ by 1e16.
relative_bandwidths <- function(H, S) {
  of_H <- lower_root_cpp(unname(H))
  of_S <- lower_root_cpp(unname(S))
  if (is.null(of_H) || is.null(of_S)) return(c(0, Inf))
  largest <- function(of, relative_to) max(svd(forwardsolve(relative_to, of), 0L, 0L)$d)
  c(1 / largest(of_S, of_H), largest(of_H, of_S))
}

check_start <- function(H, S, limits) {
  reached <- relative_bandwidths(H, S)
  if (reached[1L] >= limits[1L] && reached[2L] <= limits[2L]) return(invisible(H))
  shown <- vapply(c(limits, reached), format, "", digits = 3)
  abort_input("`Hstart` must be in the range of the search, h^2 times the covariance with h from ", shown[1L], " to ",
              shown[2L], " along every direction, not from ", shown[3L], " to ", shown[4L], ".")
}

# Makes a criterion infinite outside a range of bandwidths relative to S, or where a grid would need too much memory, so
# that a search takes back a step to there.
within_limits <- function(criterion, S, limits) {
  function(H) {
    reached <- relative_bandwidths(H, S)
    if (!all(is.finite(reached)) || reached[1L] < limits[1L] || reached[2L] > limits[2L]) {
      return(structure(Inf, gradient = 0 * H))
    }
    unless_memory(criterion(H), function(e) structure(Inf, gradient = 0 * H, refused = e))
  }
}

# `code`, or otherwise(condition) if that needs too much memory, or if the cells of a sketch do not serve it. An error
# about the memory of a GPU that was asked for is passed on.
unless_memory <- function(code, otherwise) {
  tryCatch(code, kestrel_core_unfit = otherwise, kestrel_error_memory = function(e) {
    if (inherits(e, "kestrel_error_backend")) stop(e)
    otherwise(e)
  })
}
