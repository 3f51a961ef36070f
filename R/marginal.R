#' Marginal density
#'
#' Computes the density of some of the variables of an estimate, in the order of `dims`.
#'
#' The marginal of a Gaussian or a product kernel is again such a kernel, with `H[dims, dims]`. So the marginal density
#' is computed from the data, exactly, on the axes of `fhat` (or the columns of its points). The marginal of a radial
#' compact kernel is another kernel. For these kernels, and if [read_pdf()] found no data, the gridded estimate is
#' integrated over the axes that are left out, by the trapezoid rule (Lopez-Novoa 2015, ch. 8). The result is then known
#' on the grid only.
#'
#' @param fhat an object made by [kde()], or by [ks::kde()] with one bandwidth and no transform of the data.
#' @param dims which variables to keep: numbers of columns, or names.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @return An object of class `c("kestrel_kde", "kde")`, see [kde()]. `kernel_type` is `"integrated"` if the grid was
#'   integrated. [predict()][predict.kestrel_kde] and [rkde()] refuse such an object.
#' @section Units: Values are in 1 over the product of the units of the variables that are kept.
#' @section Errors: Errors of class `kestrel_error_input` are for `dims` that are unknown or repeated, and for a radial
#'   compact kernel when `fhat` is not on a grid.
#' @section Cost: O(n m) for m points of the marginal, or O(grid points) where the grid is integrated.
#' @references Lopez-Novoa, U. (2015) *Contributions to the Efficient Use of General Purpose Coprocessors: Kernel
#'   Density Estimation as Case Study*. PhD thesis, University of the Basque Country, ch. 8.
#' @examples
#' fhat <- kde(iris[, 1:3], gridsize = 21)
#' marginal(fhat, c("Sepal.Length", "Petal.Length"))
#' plot(marginal(fhat, 3))
#' @export
marginal <- function(fhat, dims, ..., verbose = NULL) {
  check_arguments("marginal", given_names(...))
  verbose <- asked_verbose(verbose)
  started <- proc.time()[["elapsed"]]
  fhat <- check_estimate(fhat)
  dims <- check_dims(fhat, dims)
  result <- with_progress(verbose, "Marginal density", function(progress) {
    marginal_of(fhat, dims, c(run_options(), progress = progress))
  })
  result$call <- match.call()
  result$seconds <- proc.time()[["elapsed"]] - started
  result
}

# `run`: how to sum a marginal from the data.
marginal_of <- function(fhat, dims, run) {
  compact <- is_compact(fhat$kernel) && fhat$kernel_type != "product"
  on_grid_only <- !has_data(fhat) || fhat$kernel_type == "integrated"
  integrated <- on_grid_only || (compact && length(dims) < dimension(fhat))
  if (integrated) integrated_marginal(fhat, dims) else summed_marginal(fhat, dims, run)
}

# An estimate at points as one on a grid without values: marginals that are computed from the data need its axes only.
with_axes <- function(fhat) {
  d <- dimension(fhat)
  if (d <= most_on_grids || is_compact(fhat$kernel) && fhat$kernel_type != "product") {
    abort_input("`x` must be an estimate on a grid to be plotted, not one at points: `gridsize` of kde() makes one.")
  }
  grid <- grid_for(fhat, check_grid(list(gridsize = 101L, streamed = TRUE), d))
  replace(fhat, c("eval.points", "gridtype", "gridded"), list(grid$axes, grid$gridtype, TRUE))
}

check_dims <- function(fhat, dims) {
  d <- dimension(fhat)
  dims <- plain(dims)
  if (is.character(dims)) dims <- without_class(dims)
  if (is.character(dims) && all(dims %in% fhat$names)) dims <- match(dims, fhat$names)
  fine <- is_numbers(dims) && length(dims) > 0L && length(dims) <= d
  if (!fine || !all(dims %in% seq_len(d)) || anyDuplicated(as.vector(dims)) > 0L) {
    abort_input("`dims` must be different columns among 1 to ", d, " (", quoted(fhat$names), "), not ",
                describe_value(dims), ".")
  }
  as.integer(dims)
}

# The estimate's frame for some of its variables: data, bandwidth and names, without values.
marginal_frame <- function(fhat, dims) {
  sample <- list(x = sample_matrix(fhat)[, dims, drop = FALSE], w = fhat$w, names = fhat$names[dims])
  H <- as.matrix(fhat$H)[dims, dims, drop = FALSE]
  frame <- new_density(sample, H, fhat$kernel, fhat$kernel_type, subset_transform(fhat$transform, dims),
                       fhat[c("engine", "backend", "tol")])
  frame$n_eff <- fhat$n_eff
  frame$n <- fhat$n
  frame
}

summed_marginal <- function(fhat, dims, run) {
  result <- marginal_frame(fhat, dims)
  run$engine <- "auto"
  run$tol <- fhat$tol
  if (fhat$gridded) {
    result <- estimate_on_grid(result, list(axes = axes_of(fhat)[dims], gridtype = fhat$gridtype[dims]), run)
    if (!is.null(fhat$cont)) result$cont <- contour_levels(result, (99:1) / 100, approx = TRUE)
    return(result)
  }
  points <- check_points(fhat$eval.points, dimension(fhat), "eval.points")[, dims, drop = FALSE]
  estimate_at_points(result, if (length(dims) == 1L) as.vector(points) else points, run)
}

integrated_marginal <- function(fhat, dims) {
  if (!fhat$gridded) abort_input("`fhat` must be on a grid for the marginal of a radial ", fhat$kernel, " kernel.")
  axes <- axes_of(fhat)
  kept <- aperm(as.array(fhat$estimate), c(dims, setdiff(seq_along(axes), dims)))
  # 1 if no axis is left out; the values are then those of `fhat` in another order.
  weights <- Reduce(outer, lapply(axes[-dims], trapezoid_weights), 1)
  estimate <- check_densities(drop(matrix(kept, ncol = length(weights)) %*% as.vector(weights)))
  result <- marginal_frame(fhat, dims)
  if (length(dims) < length(axes)) {
    result$kernel_type <- "integrated"
    # The CPU integrates, whatever the estimate was computed on.
    result$backend <- "cpu"
    result$precision <- "double"
  } else {
    result$device <- fhat$device
    result$precision <- fhat$precision
  }
  one <- length(dims) == 1L
  result$eval.points <- if (one) axes[[dims]] else axes[dims]
  result$estimate <- on_axes(estimate, axes[dims])
  result$gridtype <- fhat$gridtype[dims]
  result$gridded <- TRUE
  if (!is.null(fhat$cont)) result$cont <- contour_levels(result, (99:1) / 100, approx = TRUE)
  result
}
