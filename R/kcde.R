#' Kernel estimate of a distribution or survival function
#'
#' The distribution function of the kernel density estimate, P(X <= x) in every variable, or its survival function,
#' P(X > x) in every variable. It is computed on a grid or at given points, in one to three dimensions:
#' \deqn{\hat F(x; H) = \sum_i w_i C_H(x - x_i) / \sum_i w_i.}{Fhat(x; H) = sum_i w_i C_H(x - x_i) / sum_i w_i.}
#' C_H is the distribution function of the kernel (Duong 2016).
#'
#' @section Exactness:
#' Nothing is binned or summed over a grid: C is the kernel's own distribution function. The survival function is
#' summed by itself, not as a difference from 1. The errors depend on the kernel:
#' * Gaussian in one dimension: at most 1e-13 of the value up to 12 h beyond the data, so that small probabilities keep
#'   their digits. Farther away the error grows, to 2e-4 of the value where that is 1e-307.
#' * Gaussian in several dimensions with a diagonal `H`: about 1e-14 of the value for each dimension. At points z
#'   bandwidths away from the nearest sample 6e-16 z^2 of the value is added, which is 8e-13 for z = 37. Farther away
#'   the value itself has lost digits, because it is below 2e-308.
#' * Gaussian with correlations: an absolute error of at most 2e-13 for each dimension.
#' * Compact kernels in one dimension and products: an absolute error of about 1e-14 for each dimension.
#' * Radial compact kernels: 1e-11 of the mass of the kernels that are cut.
#'
#' In several dimensions P(X > x) is not 1 - P(X <= x).
#'
#' @section Bandwidth:
#' `H` and `h` have the scales of [kde()]: `H` that of a covariance, `h` that of a standard deviation. If neither is
#' given, the Gaussian kernel takes the plug-in bandwidth for distribution functions, which is smaller than that for
#' densities. It is [hpi.kcde()] or \code{\link{Hpi.kcde}()}, and [Hpi.diag.kcde()] for a product kernel. The compact
#' kernels divide it by the second moment of the kernel, so that they have the same variance.
#'
#' @section Bounded data:
#' With `positive = TRUE` the data are transformed to log(x + adj.positive), and the bandwidth applies on that scale.
#'
#' @inheritParams kde
#' @param x a numeric vector, or a matrix or data frame with n rows and one to three columns.
#' @param supp how far the grid extends beyond the data, in units of sqrt(H_kk); 1 for compact kernels if not given.
#' @param eval.points points to estimate at instead of a grid: a vector (d = 1; for d > 1 a vector of length d is one
#'   point), or a matrix or data frame with d columns. Columns with names are matched to the variables by them, in any
#'   order, and other names are an error; columns without names are taken as they stand. Coordinates may be infinite:
#'   P(X1 <= 3, X2 <= Inf) is P(X1 <= 3).
#' @param tail.flag `"lower.tail"`, the distribution function, or `"upper.tail"`, the survival function.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @param kernel `"gaussian"`, or one of the compact kernels of [kde()].
#' @param kernel_type `"radial"` or `"product"`, as in [kde()]. In two and three dimensions `"triangular"`, `"tricube"`
#'   and `"cosine"` must be products.
#' @return An object of class `c("kestrel_kcde", "kcde")`, a list with the fields of \pkg{ks}:
#'   \item{x}{the data, a vector or an n x d matrix}
#'   \item{eval.points}{the points: a vector (d = 1), for a grid a list of d axes, otherwise as given}
#'   \item{estimate}{the probabilities there: a d-dimensional array for a grid, otherwise a vector}
#'   \item{h}{the scalar bandwidth (d = 1 only)}
#'   \item{H}{the bandwidth matrix; a number when d = 1}
#'   \item{gridtype, gridded, binned}{how the points were made; `binned` is FALSE}
#'   \item{names}{names of the columns}
#'   \item{w}{the weights, summing to n}
#'   \item{type}{`"kcde"`}
#'   \item{cont}{on a grid, the contour levels of the density with this bandwidth, as in \pkg{ks}: see [kde()]}
#'   \item{tail}{the `tail.flag`}
#'   and further `kernel`, `kernel_type`, `n_eff` (effective sample size), `call`, `seconds` (elapsed), and where they
#'   apply `transform` and `na.action` (the rows left out).
#' @section Units: Points are in those of the variables, probabilities have none.
#' @section Errors: The errors of [kde()]. Errors of class `kestrel_error_input` are also for more than three columns,
#'   an unknown `tail.flag`, and the three kernels that must be products. At points they are also for a bandwidth
#'   matrix whose correlation takes more than 1e5 terms (see [kde_query()]). The class is `kestrel_error_memory` for a
#'   grid that is too large, and for a grid with such a matrix that would need more than 1 GB to work with.
#' @section Cost:
#'   - In one dimension the cost is that of [pkde()].
#'   - Grids with a diagonal `H` take O(n) for each point, and less for points beyond the reach of the data. The default
#'     grid takes 0.1 seconds for 30,000 observations in two dimensions and for 10,000 in three.
#'   - Grids with correlations take O(n) and a fast Fourier transform. For few observations they take the cost of a
#'     diagonal `H` times the number of terms of the mixture, see [kde_query()].
#'   - Points each take the cost of a box of [kde_query()], and so do the points of a grid with a radial compact kernel.
#'     That is about 10 microseconds in two dimensions, and 1 millisecond in three, for each kernel that the limits of a
#'     point cut. With correlations 200,000 observations at as many points take a tenth of a second in two dimensions.
#' @references Duong, T. (2016) Non-parametric smoothed estimation of multivariate cumulative distribution and survival
#'   functions, and receiver operating characteristic curves. *Journal of the Korean Statistical Society* **45**, 33-50.
#' @seealso [predict.kestrel_kcde()] and the other methods, [pkde()] for the distribution function of an estimate by
#'   [kde()], [hpi.kcde()]
#' @examples
#' Fhat <- kcde(faithful$eruptions)
#' Fhat
#' plot(Fhat)
#'
#' # both eruptions longer than 3 minutes and waiting times longer than 70
#' kcde(faithful, eval.points = c(3, 70), tail.flag = "upper.tail")$estimate
#' @export
kcde <- function(x, H, h, gridsize, gridtype, xmin, xmax, supp = 3.7, eval.points, binned, bgridsize, positive = FALSE,
                 adj.positive, w, verbose = NULL, tail.flag = c("lower.tail", "upper.tail"), ..., kernel = "gaussian",
                 kernel_type = c("radial", "product"), na.action = stats::na.fail, threads = NULL) {
  check_arguments("kcde", given_names(...), "binned")
  started <- proc.time()[["elapsed"]]
  # The only place that asks what is missing: from here on NULL means not given.
  grid <- given_grid()
  points <- if (!missing(eval.points)) eval.points
  given <- list(H = if (!missing(H)) H, h = if (!missing(h)) h)
  adj.positive <- if (!missing(adj.positive)) adj.positive
  verbose <- asked_verbose(verbose)
  tail <- check_choice(tail.flag, known_tails, "tail.flag")
  kernel <- check_choice(kernel, kernel_names(), "kernel")
  kernel_type <- check_choice(kernel_type, c("radial", "product"), "kernel_type")
  run <- run_options(threads)
  sample <- check_sample(x, if (!missing(w)) w, na.action)
  d <- ncol(sample$x)
  check_orthant_kernel(kernel, kernel_type, d)
  transform <- choose_transform(sample$x, sample$names, check_flag(positive, "positive"), adj.positive, FALSE)
  points <- in_order_of(points, sample$names, "eval.points")
  if (is.null(points)) grid <- check_grid(grid, d) else check_points(points, d, "eval.points", limits = TRUE)
  # The search and the estimate share it.
  line <- with_data(list(x = points_to_line(transform, sample$x), w = sample$w, names = sample$names))
  H <- distribution_bandwidth(given, line, kernel, kernel_type == "product", run, verbose)
  fhat <- new_distribution(sample, H, kernel, kernel_type, transform, tail)
  fhat$.sample <- line$data
  fhat <- with_progress(verbose, "Distribution function", function(progress) {
    run <- c(run, progress = progress)
    if (is.null(points)) distribution_on_grid(fhat, grid_for(fhat, grid), run) else
      distribution_at_points(fhat, points, run)
  })
  if (fhat$gridded) fhat$cont <- contours_of_density(fhat, run)
  fhat$.sample <- NULL
  fhat$na.action <- sample$na.action
  fhat$call <- match.call()
  fhat$seconds <- proc.time()[["elapsed"]] - started
  fhat
}

known_tails <- c("lower.tail", "upper.tail")

check_orthant_kernel <- function(kernel, kernel_type, d) {
  if (d > 3L) abort_input("`x` must have at most three columns for kcde(), not ", d, ".")
  if (d > 1L && is_radial(kernel, kernel_type) && kernel_row(kernel)$inner != 2L) {
    abort_input("`kernel_type` must be \"product\" for kernel = \"", kernel, "\" and ", d, " columns, not \"",
                kernel_type, "\".")
  }
}

is_radial <- function(kernel, kernel_type) is_compact(kernel) && kernel_type != "product"

# H as given, or that of the plug-in selector.
distribution_bandwidth <- function(given, sample, kernel, product, run, verbose) {
  d <- ncol(sample$x)
  H <- check_bandwidth(given, d, product)
  if (!is.null(H)) return(H)
  inform_weighted(sample$w)
  sample <- with_covariance(sample)
  found <- with_search_progress(verbose, "Plug-in bandwidth", function(progress) {
    run <- replace(run, "progress", list(progress))
    if (d == 1L) plug_in_1d_kcde(sample, 2L, run) else plug_in_matrix_kcde(sample, 2L, product, run)
  })
  unname(found$H) / kernel_constants(kernel, d, product)$second_moment
}

# An object without an estimate.
new_distribution <- function(sample, H, kernel, kernel_type, transform, tail) {
  frame <- unclass(new_density(sample, H, kernel, kernel_type, transform, list()))
  frame$type <- "kcde"
  kept <- setdiff(names(frame), c("cont", "engine", "backend", "tol"))
  structure(c(frame[kept], tail = tail), class = c("kestrel_kcde", "kcde"))
}

distribution_on_grid <- function(fhat, grid, run) {
  d <- length(grid$axes)
  fhat$estimate <- probability_on_axes(fhat, grid$axes, fhat$tail, run)
  fhat$eval.points <- if (d == 1L) grid$axes[[1L]] else grid$axes
  fhat$gridtype <- grid$gridtype
  fhat$gridded <- TRUE
  fhat
}

# The contour levels of the density, as in ks.
contours_of_density <- function(fhat, run) {
  density <- structure(c(unclass(fhat), tol = 1e-12), class = c("kestrel_kde", "kde"))
  density$estimate <- run_density(density, task_on_axes(density, axes_of(fhat)), run)$estimate
  contour_levels(density, (99:1) / 100, approx = TRUE, run)
}

distribution_at_points <- function(fhat, points, run) {
  checked <- check_points(points, dimension(fhat), "eval.points", limits = TRUE)
  fhat$estimate <- probability_at(fhat, checked, fhat$tail, run, "H")
  fhat$eval.points <- points
  fhat
}

# P(X <= q), or P(X > q) for the upper tail, in every variable, at the rows of a matrix. `name`: the argument of the
# user that messages are about.
probability_at <- function(fhat, points, tail, run, name) {
  # Limits beyond the bounds are those at the bounds, also of a period.
  at <- unname(if (has_images(fhat$transform)) points else points_to_line(fhat$transform, points))
  if (ncol(at) == 1L && has_images(fhat$transform)) return(reflected_probability(fhat, at[, 1L], run))
  if (ncol(at) == 1L) return(line_probability(fhat, at[, 1L], tail, run))
  check_distances(fhat, if (name == "H") "x" else name)
  open <- matrix(if (tail == "upper.tail") Inf else -Inf, nrow(at), ncol(at))
  ends <- if (tail == "upper.tail") list(at, open) else list(open, at)
  box_answers(fhat, data_on_line(fhat), ends[[1L]], ends[[2L]], NULL, run, name)$share
}

# The same at all points of a grid.
probability_on_axes <- function(fhat, axes, tail, run) {
  line <- lapply(seq_along(axes), function(k) to_line(fhat$transform, axes[[k]], k))
  if (length(axes) == 1L) return(line_probability(fhat, line[[1L]], tail, run))
  check_distances(fhat, "x")
  task <- list(axes = line, root = bandwidth_root(fhat), kernel = fhat$kernel, kernel_type = fhat$kernel_type,
               upper = tail == "upper.tail")
  # The mass of a ball in an orthant is no product.
  if (is_radial(fhat$kernel, fhat$kernel_type)) {
    points <- as.matrix(grid_points(axes))
    return(on_axes(probability_at(fhat, points, tail, run, "H"), axes))
  }
  shares <- tryCatch(query_orthants_cpp(data_on_line(fhat), task, run), kestrel_core_memory = function(e) {
    abort_memory("`H` must have less correlation: ", conditionMessage(e), ".")
  })
  on_axes(shares, axes)
}

# The same at points of the line where the kernel works. The survival function is the distribution function of the
# mirror image, where small values have their digits.
line_probability <- function(fhat, at, tail, run) {
  if (tail == "lower.tail") return(distribution_cpp(data_on_line(fhat), line_task(fhat, at), run))
  mirrored <- sample_cpp(-to_line(fhat$transform, fhat$x, 1L), fhat$w)
  distribution_cpp(mirrored, line_task(fhat, -at), run)
}
