# Kernel estimates of the derivatives of a density, and of its curvature.

#' Kernel estimate of derivatives of a density
#'
#' All partial derivatives of one order of the kernel density estimate with the Gaussian kernel, at points or on a grid:
#' \deqn{D^{r} \hat f(x; H) = \sum_i w_i D^{r} K_H(x - x_i) / \sum_i w_i.}{D^r fhat(x; H) = sum_i w_i D^r K_H(x - x_i)
#' / sum_i w_i.}
#'
#' The derivative of order r of a function of d variables has d^r components, of which many are the same. They are in
#' the order of the Kronecker product of the operator D = (d/dx_1, ..., d/dx_d) with itself, r times, as in \pkg{ks}.
#' The rows of `deriv.ind` tell how often each variable is differentiated: (2, 0), (1, 1), (1, 1), (0, 2) for r = 2 and
#' d = 2. `deriv.vec = FALSE` gives each different component once.
#'
#' The default bandwidth is that of [hpi()] or \code{\link{Hpi}()} with the same `deriv.order`. It is larger than that
#' of the density, because derivatives of narrow kernels vary more.
#'
#' On a grid \pkg{ks} moves every observation to a grid point, also with `binned = FALSE`: on its default grid second
#' derivatives of `faithful` differ by 3 % of the largest. At points, and here, nothing is moved.
#'
#' @inheritParams kde
#' @param deriv.order the order r of the derivatives, 0 to 8; 0 is the density itself.
#' @param gridsize,gridtype,xmin,xmax,supp,eval.points,step the grid, or the points, as in [kde()].
#' @param positive,adj.positive FALSE, and nothing: derivatives are not there on the scale of logarithms.
#' @param deriv.vec TRUE for all d^r components, FALSE for each different one once.
#' @param engine `"direct"`, which sums pair by pair, `"fgt"`, in linear time for one variable, `"fourier"`, in linear
#'   time for two or three, or `"auto"`, the one that is expected to take less time.
#' @param backend `"cpu"`, `"cuda"` (an NVIDIA GPU, which sums pair by pair, for at most 18 variables) or `"auto"` (a
#'   GPU if it is much faster), see [engines].
#' @return An object of class `c("kestrel_kdde", "kdde")`, a list with
#'   \item{x, eval.points, h, H, gridtype, gridded, binned, names, w, n_eff, na.action, call, seconds}{as in [kde()]}
#'   \item{estimate}{for one variable, or r = 0, as in [kde()]; otherwise on a grid a list of arrays, one for each
#'     component, and at points a matrix with a column for each. In units of x^-(r + 1) for one variable, and of
#'     1 / (volume x^r) in general.}
#'   \item{deriv.order, deriv.ind}{r, and a matrix with a row for each component; for one variable it is r}
#'   \item{type}{`"kdde"`}
#'   \item{engine, backend, device, tol}{how it was computed, with the name of the GPU if one was used, and the error
#'     relative to the largest sum of |terms|}
#' @section Accuracy: The error is below 1e-12 of the largest sum of the absolute values of the terms. In regions
#'   where the density is smooth on the scale of H terms cancel, and derivatives of high order have fewer digits.
#'   Engine `"fourier"` gives 0 where no observation is near. With variables that are strongly correlated in H
#'   rounding counts, as in [kde()]. A warning of class `kestrel_warning_rounding` says how much. The same bits for
#'   every number of threads. Those of a GPU differ from those of the CPU within this error.
#' @section Errors: Errors of class `kestrel_error_input` are those of [kde()], and for an order that is not there, for
#'   an engine that does not take the task, for `positive = TRUE`, and for a default bandwidth of an order above 2. They
#'   are also for data in units in which derivatives are out of the range of numbers. The class is
#'   `kestrel_error_memory` for a grid that does not fit, and `kestrel_error_backend` for `backend = "cuda"` where a GPU
#'   cannot be used.
#' @section Cost: For one variable O(n + m) with engine `"fgt"`, n observations and m points: a tenth of a second for a
#'   million of each. For two and three O(n + m M + N log N M) with engine `"fourier"`, M = C(d + r - 1, r) different
#'   derivatives, N cells of a grid with some cells for each bandwidth. If the points are a grid, N log N counts once,
#'   and products of matrices take the place of the other transforms. Otherwise O(n m C(d + r, r)): some nanoseconds
#'   for each pair of an observation and a point, on all threads. Memory: the result, and two such grids.
#' @references Chacon, J.E., Duong, T. & Wand, M.P. (2011) Asymptotics for general multivariate kernel density
#'   derivative estimators. *Statistica Sinica* **21**, 807-840.
#' @seealso [kcurv()] for the curvature, [kde()]
#' @examples
#' # where the density of eruptions rises and falls
#' slope <- kdde(faithful$eruptions, deriv.order = 1)
#' plot(slope)
#' predict(slope, c(2, 3, 4))
#'
#' gradient <- kdde(faithful, deriv.order = 1, gridsize = c(31, 31))
#' gradient$deriv.ind
#' plot(gradient)
#' @export
kdde <- function(x, H, h, deriv.order = 0, gridsize, gridtype, xmin, xmax, supp = 3.7, eval.points, binned, bgridsize,
                 positive = FALSE, adj.positive, w, deriv.vec = TRUE, verbose = NULL, ..., step = NULL,
                 na.action = stats::na.fail, engine = c("auto", "direct", "fgt", "fourier"),
                 backend = c("auto", "cpu", "cuda"), threads = NULL) {
  check_arguments("kdde", given_names(...), "binned")
  started <- proc.time()[["elapsed"]]
  grid <- given_grid(step = step, streamed = FALSE)
  points <- if (!missing(eval.points)) eval.points
  given <- list(H = if (!missing(H)) H, h = if (!missing(h)) h)
  verbose <- asked_verbose(verbose)
  order <- check_order_of_derivative(deriv.order)
  whole <- check_flag(deriv.vec, "deriv.vec")
  if (check_flag(positive, "positive") || !missing(adj.positive)) {
    abort_input("`positive` must be FALSE for kdde(): derivatives are not there on the scale of logarithms.")
  }
  run <- c(run_options(threads, backend, cuda = TRUE),
           engine = check_choice(engine, c("auto", "direct", "fgt", "fourier"), "engine"))
  check_cuda_engine(run)
  sample <- check_sample(x, if (!missing(w)) w, na.action)
  d <- ncol(sample$x)
  check_columns(sample$x)
  check_engine_of_derivative(run$engine, d)
  at_data <- is.null(points) && d > most_on_grids && !asks_for_grid(grid)
  points <- if (at_data) sample$x else in_order_of(points, sample$names, "eval.points")
  if (is.null(points)) grid <- check_grid(grid, d) else check_points(points, d, "eval.points")
  check_components(order, d, if (whole) d^order else choose(d + order - 1, order))
  line <- with_data(list(x = sample$x, w = sample$w, names = sample$names))
  H <- derivative_bandwidth(given, line, order, run, verbose)
  fhat <- new_derivative(sample, H, order, whole)
  fhat$.sample <- line$data
  fhat <- with_progress(verbose, "Derivatives of a density", function(progress) {
    run <- c(run, progress = progress)
    if (is.null(points)) derivatives_on_grid(fhat, grid_for(fhat, grid), run) else
      derivatives_at_points(fhat, points, run)
  })
  if (at_data) inform_at_data(d)
  fhat$.sample <- NULL
  fhat$na.action <- sample$na.action
  fhat$call <- match.call()
  fhat$seconds <- proc.time()[["elapsed"]] - started
  fhat
}

# Those of core/kernel/derivative.hpp.
highest_derivative <- 8L
most_derivatives <- 1500

# Refuses an order with more different derivatives than the core takes, and values of all `components` at so many
# `points` that do not fit in memory.
check_components <- function(order, d, components, points = 0) {
  different <- choose(d + order - 1, order)
  if (different > most_derivatives) {
    abort_input("`deriv.order` must be lower for ", d, " variables, not ", order, ": there are ",
                format(different, big.mark = ",", scientific = FALSE), " different derivatives, more than ",
                format(most_derivatives, big.mark = ","), ".")
  }
  check_fits(8 * (components * (d + order) + points * (components + different)), "`deriv.order` must be lower: ",
             format(components, big.mark = ",", scientific = FALSE), " components need ",
             hint = if (components > different) " deriv.vec = FALSE leaves out those that are the same.")
}

# The core's plan_derivatives() takes the same.
check_engine_of_derivative <- function(engine, d) {
  takes <- c("auto", "direct", if (d == 1L) "fgt", if (d %in% 2:3) "fourier")
  if (engine %in% takes) return(invisible())
  abort_input("`engine` must be one of ", quoted(takes, "\""), " for ", d, " variable", if (d > 1L) "s", ", not \"",
              engine, "\".")
}

check_order_of_derivative <- function(order) {
  r <- check_derivative_order(order)
  if (r > highest_derivative) {
    abort_input("`deriv.order` must be at most ", highest_derivative, ", not ", r, ".")
  }
  r
}

# H as given, or that of the plug-in selector for derivatives of this order.
derivative_bandwidth <- function(given, sample, order, run, verbose) {
  d <- ncol(sample$x)
  H <- check_bandwidth(given, d, FALSE)
  if (!is.null(H)) return(H)
  check_plug_in_order(order, 2L, if (d == 1L) "h" else "H")
  sample <- with_covariance(sample)
  found <- with_search_progress(verbose, "Plug-in bandwidth", function(progress) {
    run <- replace(selecting(run, d), "progress", list(progress))
    if (d == 1L) return(plug_in_1d(sample, 2L, "minim", run, order = order))
    select_matrix(sample, 2L, default_pilot(d, order), "sphere", NULL, FALSE, run, order)
  })
  found$H
}

# An object without an estimate.
new_derivative <- function(sample, H, order, whole) {
  frame <- unclass(new_density(sample, H, "gaussian", "radial", NULL, list()))
  d <- ncol(sample$x)
  frame$type <- "kdde"
  frame$tol <- 1e-12
  kept <- setdiff(names(frame), c("cont", "engine", "backend", "device", "transform"))
  of_derivatives <- list(deriv.order = order,
                         deriv.ind = if (d == 1L) order else derivative_exponents(d, order, whole))
  structure(c(frame[kept], of_derivatives), class = c("kestrel_kdde", "kdde"))
}

# The exponents of all components, each different one once unless `whole`.
derivative_exponents <- function(d, order, whole) {
  once <- tuple_exponents(index_tuples(d, order), d)
  if (whole) once[component_positions(d, order), , drop = FALSE] else once
}

# Where each of the d^order components stands among the different ones. The last factor of a Kronecker product is the
# fastest.
component_positions <- function(d, order) {
  if (order == 0L) return(1L)
  tuple_positions(unname(as.matrix(expand.grid(rep(list(seq_len(d)), order))))[, order:1, drop = FALSE], d)
}

# Columns: the different components, at the points of a task of R/density-task.R.
derivatives_of <- function(fhat, task, run) {
  check_volume(fhat)
  found <- derivatives_cpp(task, fhat$deriv.order, run)
  if (!all_finite_cpp(found$values)) abort_derivatives(fhat$deriv.order)
  found
}

abort_derivatives <- function(order) {
  abort_input("`x` must be in units in which derivatives, in 1 / (volume x^", order,
              "), are within the range of numbers: rescale it.")
}

# The components of an object, or the curvature, from the different derivatives of its order.
components_of <- function(fhat, values) {
  if (fhat$type == "kcurv") return(as.matrix(summary_curvature(values)))
  d <- dimension(fhat)
  if (ncol(values) == 1L || nrow(fhat$deriv.ind) == ncol(values)) return(values)
  values[, component_positions(d, fhat$deriv.order), drop = FALSE]
}

# Whether the estimate is one number for each point.
is_single <- function(fhat) fhat$type == "kcurv" || dimension(fhat) == 1L || fhat$deriv.order == 0L

# With what derivatives_cpp() says about how they were computed.
with_place <- function(fhat, found) {
  fhat$engine <- found$engine
  fhat$backend <- found$place$backend
  fhat$device <- found$place$device
  fhat
}

derivatives_on_grid <- function(fhat, grid, run) {
  d <- length(grid$axes)
  check_components(fhat$deriv.order, d, NROW(fhat$deriv.ind), prod(lengths(grid$axes)))
  found <- derivatives_of(fhat, task_on_axes(fhat, grid$axes), run)
  values <- components_of(fhat, found$values)
  parts <- lapply(seq_len(ncol(values)), function(k) on_axes(values[, k], grid$axes))
  fhat$estimate <- if (is_single(fhat)) parts[[1L]] else parts
  fhat$eval.points <- if (d == 1L) grid$axes[[1L]] else grid$axes
  fhat$gridtype <- grid$gridtype
  fhat$gridded <- TRUE
  with_rounding(with_place(fhat, found))
}

derivatives_at_points <- function(fhat, points, run) {
  checked <- check_points(points, dimension(fhat), "eval.points")
  check_components(fhat$deriv.order, ncol(checked), NROW(fhat$deriv.ind), nrow(checked))
  found <- derivatives_of(fhat, task_at_points(fhat, checked), run)
  values <- components_of(fhat, found$values)
  fhat$estimate <- if (is_single(fhat)) values[, 1L] else values
  fhat$eval.points <- points
  fhat$gridded <- FALSE
  with_rounding(with_place(fhat, found))
}

#' Summary curvature of a density
#'
#' The summary curvature of Chacon & Duong (2018) from an estimate of the second derivatives. Where the Hessian matrix
#' D^2 f is negative definite, as around modes, it is the absolute value of the determinant of D^2 f. It is 0 elsewhere.
#'
#' @param fhat a result of [kdde()] with `deriv.order = 2`.
#' @param compute.cont whether to compute the levels of contours that hold 1 % to 99 % of the observations with positive
#'   curvature, the field `cont`.
#' @param ... nothing.
#' @return An object of class `c("kestrel_kdde", "kcurv")`, like that of [kdde()], with `type = "kcurv"`. The field
#'   `estimate` has one value for each point, in units of (1 / (volume x^2))^d.
#' @section Errors: Of class `kestrel_error_input` for anything but second derivatives made by [kdde()].
#' @section Cost: O(m d^3) for m points, and for `cont` that of [predict()][predict.kestrel_kdde] at the data.
#' @references Chacon, J.E. & Duong, T. (2018) *Multivariate Kernel Smoothing and its Applications*. Chapman & Hall,
#'   section 5.4.
#' @seealso [kdde()]
#' @examples
#' curvature <- kcurv(kdde(faithful, deriv.order = 2, gridsize = c(41, 41)))
#' plot(curvature)
#' @export
kcurv <- function(fhat, compute.cont = TRUE, ...) {
  check_arguments("kcurv", given_names(...))
  check_object(fhat, "fhat", "kestrel_kdde")
  compute.cont <- check_flag(compute.cont, "compute.cont")
  if (fhat$deriv.order != 2L || fhat$type != "kdde") {
    abort_input("`fhat` must be a result of kdde() with deriv.order = 2, not of ", if (fhat$type == "kdde")
                paste("order", fhat$deriv.order) else "kcurv()", ".")
  }
  d <- dimension(fhat)
  values <- if (is.list(fhat$estimate)) vapply(fhat$estimate, as.vector, numeric(length(fhat$estimate[[1L]]))) else
    as.matrix(fhat$estimate)
  different <- derivative_exponents(d, 2L, FALSE)
  first <- match(apply(different, 1L, paste, collapse = " "),
                 apply(matrix(fhat$deriv.ind, ncol = d), 1L, paste, collapse = " "))
  curvature <- summary_curvature(values[, first, drop = FALSE])
  fhat$estimate <- if (fhat$gridded) on_axes(curvature, axes_of(fhat)) else curvature
  fhat$type <- "kcurv"
  class(fhat) <- c("kestrel_kdde", "kcurv")
  if (compute.cont) fhat$cont <- curvature_levels(fhat, (99:1) / 100)
  fhat
}

# |det D^2 f| where D^2 f is negative definite. Columns: the different second derivatives.
summary_curvature <- function(values) {
  found <- eliminated(many_matrices(-values))
  ifelse(found$definite, found$determinant, 0)
}

# Of the curvature at the observations where it is positive. NULL if it is nowhere.
curvature_levels <- function(fhat, prob) {
  at_data <- derivatives_at_points(fhat, sample_matrix(fhat), c(run_options(), engine = "auto"))$estimate
  if (!any(at_data > 0)) return(NULL)
  weighted_quantile(at_data[at_data > 0], fhat$w[at_data > 0], prob)
}
