#' Kernel density estimate
#'
#' The kernel density estimate of a sample, on a grid or at given points, in any dimension, with a choice of kernels:
#' \deqn{\hat f(x; H) = n^{-1} \sum_i w_i K_H(x - x_i), K_H(u) = |H|^{-1/2} K(H^{-1/2} u).}{fhat(x; H) = 1/n sum_i w_i
#' K_H(x - x_i), K_H(u) = |H|^(-1/2) K(H^(-1/2) u).}
#'
#' @section Groups of arguments: The usage has three groups, one after another.
#'
#'   - The arguments from `x` to `verbose` are those of [ks::kde()] and have the same meaning. Most calls need only `x`,
#'     `H` or `h`, `eval.points` and `w`.
#'   - The arguments `step`, `bounds`, `period`, `kernel`, `kernel_type` and `na.action` are new in kestrel.
#'   - The arguments `tol`, `engine`, `backend`, `precision` and `threads` say how to compute the sums, see [engines].
#'     None of them changes the estimate by more than the error that is allowed.
#'
#' @section Exactness:
#' Every estimate is the sum above. Nothing is binned, and no error depends on the grid. The difference from the sum in
#' exact arithmetic is at most `tol` of the largest value that the estimate has anywhere, and no value is negative. For
#' bounded data this holds on the scale that the kernel works on. With `bounds` or a `period` the sum is over all
#' images.
#'
#' Rounding may exceed 1e-12 if variables are correlated in `H` by more than about 1 - 4e-7, and for
#' `engine = "fourier"` with data that extend over very many bandwidths ([engines]). A warning of class
#' `kestrel_warning_rounding` then gives the error, which is also in the field `tol`.
#'
#' @section Bandwidth: `H` has the scale of a covariance, and `h` the scale of a standard deviation. In one dimension H
#' = h^2, and in several dimensions `h` means H = h^2 I. If neither is given, the Gaussian kernel takes the plug-in
#' bandwidth. That is [hpi()] in one dimension, \code{\link{Hpi}()} in several, and [Hpi.diag()] for product kernels.
#'
#' The compact kernels take H = h^2 S by default, where S is the sample covariance. This h is asymptotically optimal for
#' normal data (Wand & Jones 1995, section 4.3):
#' \deqn{h^{d+4} = 4 (2 \sqrt\pi)^d R(K) / ((d + 2) \mu_2(K)^2 n).}{h^(d+4) = 4 (2 sqrt(pi))^d R(K) / ((d + 2)
#' mu2(K)^2 n).}
#' R(K) is the integral of K^2, and mu2(K) is the second moment of K. For the radial Epanechnikov kernel this is the h
#' of Lopez-Novoa (2015). Product kernels and estimates with `bounds` use only the diagonal of S.
#'
#' With `bounds` or a `period` the default of the Gaussian kernel is the rule of [hpi()], or of [Hpi.diag()] with the
#' pilot `"samse"`, for the estimate with images: each observation is also paired with the images of the others. Without
#' these the rule takes the edge of the data at a bound for a steep slope, and is too small. For 1,000 uniform numbers
#' the usual `hpi()` is half as large, and the mean integrated squared error of the estimate by reflection twice as
#' large (by simulation).
#'
#' @section Grid:
#' The default grid has 401 points in one dimension, 151 x 151 in two and 51 x 51 x 51 in three. It extends from
#' min - supp sqrt(H_kk) to max + supp sqrt(H_kk).
#'
#' In four dimensions and more the estimate is at the data by default, and a message says so. It is on a grid if
#' `gridsize`, `gridtype`, `xmin`, `xmax`, `supp` or `step` is given, or an engine that only takes grids. The grid then
#' has 21 points on each axis by default.
#'
#' For bounded data (below) these limits apply on the scale of the bandwidth, and a grid on the unit interval spans all
#' of it. If a grid needs more memory than is available (`options(kestrel.memory_limit = bytes)` sets a limit), it is
#' refused before anything is allocated. [kde_stream()] takes larger grids. With a compact kernel there is a warning if
#' the grid is too coarse for the bandwidth, or if no kernel reaches it.
#'
#' @section Bounds: With `bounds` the density is 0 outside of them, and what kernels have beyond a bound is reflected
#' at it (Silverman 1986, section 2.10). Between two bounds it is reflected as often as it takes. So the estimate is the
#' sum of the kernels of the observations and of all their images, and integrates to one between the bounds. The grid
#' ends at them, too. At a bound the estimate has slope zero, and where the true density has another slope there, its
#' bias is of order h, not h^2. [kde.boundary()] has kernels without this bias.
#'
#' Variables with bounds must have no covariance with others in `H`, because a kernel would otherwise change when it is
#' reflected. Variables without bounds may have any among themselves. `bounds` are on the scale of the data, so that
#' they do not go together with `positive` and `unit.interval`. [pkde()], [qkde()], [rkde()], [kde_query()],
#' [marginal()] and contour levels know them.
#'
#' @section Periods: A `period` is for hours of the day, directions or longitudes. The density is that of the estimate
#' on the line, wrapped: the sum over all whole periods of its values there, which is the sum of the kernels of the
#' observations moved by whole periods. It integrates to one over a period. Points may be anywhere, the grid spans one
#' period, and observations elsewhere are moved into it, with a message. A period begins at 0, or at the lower bound of
#' the variable if `bounds` has one; with it begin the distribution function and the boxes of [kde_query()]. Variables
#' with a period may have any covariances in `H`. The default bandwidth does not depend on where the period begins. Its
#' scale is that of the data cut opposite to their mean direction. It is a plug-in bandwidth whose functionals are those
#' of the wrapped sample. Oliveira, Crujeiras & Rodriguez-Casal (2012) take them from a mixture of von Mises densities
#' instead, which must be fitted and whose size must be chosen.
#'
#' @section Bounded data: With `positive = TRUE` the data are transformed to log(x + adj.positive), and with
#' `unit.interval = TRUE` to their normal quantiles. The bandwidth applies on that scale. The density is zero outside of
#' (0, 1), and below -adj.positive. Only with `adj.positive = 0`, which is for data without zeros, is the whole density
#' on the positive half line. The grid of positive data never begins below zero.
#'
#' @section Errors: All errors have the class `kestrel_error`.
#'
#'   - `kestrel_error_input` is for every argument that is not valid. Examples are missing or infinite values, a matrix
#'     `H` that is not symmetric and positive definite, a product kernel with an `H` that is not diagonal, and more than
#'     256 columns. It is also for data beyond `bounds`, which are counted, and for bounds that leave no room.
#'   - `kestrel_error_memory` is for a grid that is too large, including the Fourier grid of `engine = "fourier"`, and
#'     for a GPU that you asked for and that has too little memory. It is also for too many images between bounds that
#'     are close to each other.
#'   - `kestrel_error_backend` is for a backend that this build or machine lacks, or that does not take the task.
#'
#' @section Cost: Direct sums take O(n m d) for m points, on all threads. [engines] has the cost of the faster
#'   algorithms. The contour levels of a grid take up to 80 bytes for each observation (measured in two dimensions).
#'   With `bounds` or a `period` the images of the points, or those of the observations if they are fewer, are
#'   additional points or observations. Those of the Gaussian kernel reach 9 bandwidths beyond a bound. For large
#'   samples this takes up to half as much time again.
#'
#' @param x a numeric vector (d = 1), a matrix or data frame with n rows and d columns, or a sketch made by
#'   [kde_sketch()]. Also points of package \pkg{sf}, see [maps], data frames with groups, see [kde-groups], and tables
#'   of databases, see [kde-tables].
#' @param H bandwidth matrix, d x d, symmetric and positive definite; a number when d = 1. Or a formula of the variables
#'   of the data frame `x`, such as `~ x + y | group`, see [kde-groups].
#' @param h scalar bandwidth, a positive number.
#' @param gridsize number of grid points, one number or one for each axis, at least 2. In one dimension equal numbers
#'   for several axes mean that number.
#' @param gridtype spacing of the grid, one name or one for each axis: `"linear"`, `"sqrt"` (equal steps of the square
#'   root), `"exp"` (of the exponential) or `"quantile"` (normal quantiles from 1 to 99 per cent, stretched to the
#'   limits).
#' @param xmin,xmax lower and upper limits of the grid, one number for each axis.
#' @param supp how far the grid extends beyond the data, in units of sqrt(H_kk); 1 for compact kernels if not given.
#' @param eval.points points to estimate at instead of a grid: a vector (d = 1; for d > 1 a vector of length d is one
#'   point), or a matrix or data frame with d columns. Columns with names are matched to the variables by name, in any
#'   order, and other names are an error. Columns without names are taken in their order.
#' @param binned accepted for scripts written for \pkg{ks}, without effect: no estimate is binned.
#' @param bgridsize used as `gridsize` if that is not given.
#' @param positive TRUE for data on the positive half line (in every column).
#' @param adj.positive the number that is added before logarithms are taken, one for each column; the absolute value of
#'   each column's minimum if not given.
#' @param w weights, one for each row of `x`, non-negative and not all zero; they are rescaled to sum to n.
#' @param compute.cont if TRUE and the estimate is on a grid or at the data, compute the 1 % to 99 % contour levels.
#' @param approx.cont if TRUE, the contour levels take the density at the data by linear interpolation in the grid; if
#'   FALSE, exactly.
#' @param unit.interval TRUE for data strictly between 0 and 1 (d = 1).
#' @param density accepted for scripts written for \pkg{ks}, without effect: no estimate is negative.
#' @param verbose if TRUE, say what is going to be computed, how and for about how long, and show progress. If NULL,
#'   `options(kestrel.verbose=)` decides, or else interactive sessions show a bar after a second. FALSE and
#'   [suppressMessages()] silence it.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @param step distance of grid points, one number or one for each axis, in place of `gridsize`: the grid runs from
#'   `xmin` in steps up to `xmax`.
#' @param bounds lower and upper bounds of the variables: a matrix or data frame with a row for each column of `x`, or
#'   two numbers for one variable. They may be infinite. Rows with names are matched to the variables by name.
#' @param period the periods of the variables, one number for each column, NA for those without one.
#' @param .by columns of a data frame `x` whose values make [groups][kde-groups], as in \pkg{dplyr}: a name, several
#'   as in `c(a, b)`, or a character vector.
#' @param kernel `"gaussian"`, `"epanechnikov"`, `"uniform"`, `"triangular"`, `"biweight"`, `"triweight"`, `"tricube"`,
#'   (1 - |u|^3)^3, or `"cosine"`.
#' @param kernel_type `"radial"`, a function of the distance, or `"product"` of one-dimensional kernels, which needs a
#'   diagonal `H`.
#' @param na.action [stats::na.fail], an error when data are missing, or [stats::na.omit], which leaves their rows out.
#' @param tol the error that is allowed, relative to the largest value of the estimate.
#' @param engine the algorithm for the sums: `"auto"` chooses the fastest, and `"direct"`, `"kdtree"`, `"sweep"`,
#'   `"fgt"`, `"fourier"` and `"scanline"` force one, see [engines].
#' @param backend `"cpu"`, `"cuda"` (an NVIDIA GPU) or `"auto"` (a GPU if it is much faster), see [engines].
#' @param precision `"double"`, or `"single"` to let a GPU compute in single precision, see [engines].
#' @param threads the number of threads. The default is [kestrel_threads()], which also describes the maximum.
#' @return An object of class `c("kestrel_kde", "kde")`, a list with the fields of \pkg{ks}. The class has two names, so
#'   that \pkg{ks} and kestrel can be loaded together and each has its own methods. A script that asks
#'   `if (class(fhat) == "kde")`, an error in R for two names, must ask `if (inherits(fhat, "kde"))`. The fields are:
#'   \item{x}{the data, a vector or an n x d matrix}
#'   \item{eval.points}{the points: on a grid a vector (d = 1) or a list of d axes, otherwise as given}
#'   \item{estimate}{the density there, in units of 1 / volume: a d-dimensional array for a grid, otherwise a vector}
#'   \item{h}{the scalar bandwidth (d = 1 only)}
#'   \item{H}{the bandwidth matrix; a number when d = 1}
#'   \item{gridtype, gridded, binned}{how the points were made; `binned` is FALSE}
#'   \item{names}{names of the columns}
#'   \item{w}{the weights, summing to n}
#'   \item{type}{`"kde"`}
#'   \item{cont}{contour levels, named by the probability below them}
#'   and fields that are new in kestrel:
#'   \item{kernel, kernel_type}{as asked for}
#'   \item{engine, backend, device, precision}{how the estimate was computed; `device` is the GPU's name}
#'   \item{tol}{as given, or the bound on the rounding error if that is larger}
#'   \item{n_eff}{effective sample size (sum w)^2 / sum w^2}
#'   \item{call, seconds}{the call, and the elapsed time}
#'   \item{transform}{for bounded data, the transformation; with `bounds` or a `period` a list of `type = "images"`,
#'     `lower`, `upper` and `period`, which is 0 for variables without one}
#'   \item{selector}{how the bandwidth was found, if it was not given: `objective`, `convergence`, `evaluations`,
#'     `engine`, `backend`, `device`, `seconds`}
#'   \item{na.action}{the rows left out, if any}
#'   \item{sketch, n}{a sketch, which stands for the data, and its number of values. `x` and `w` are then empty, and the
#'     contour levels are those of the values on the grid}
#' @references Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall.
#'
#'   Silverman, B.W. (1986) *Density Estimation for Statistics and Data Analysis*. Chapman & Hall.
#'
#'   Chacon, J.E. & Duong, T. (2018) *Multivariate Kernel Smoothing and Its Applications*. Chapman & Hall/CRC.
#'
#'   Lopez-Novoa, U. (2015) *Contributions to the Efficient Use of General Purpose Coprocessors: Kernel Density
#'   Estimation as Case Study*. PhD thesis, University of the Basque Country, ch. 6 and 8.
#'
#'   Oliveira, M., Crujeiras, R.M. & Rodriguez-Casal, A. (2012) A plug-in rule for bandwidth selection in circular
#'   density estimation. *Comput. Statist. Data Anal.* **56**, 3898-3908.
#' @seealso [print.kestrel_kde()] and the other methods, [contourLevels()], [dkde()], [marginal()], [Hpi()]; [engines]
#' @examples
#' fhat <- kde(faithful)
#' fhat
#' plot(fhat)
#'
#' # contours: the height that encloses 95 % of the probability, and regions of 50 and 95 %
#' contourLevels(fhat, cont = 95)
#' plot(fhat, cont = c(50, 95))
#'
#' # the density at new points
#' predict(fhat, x = rbind(c(2, 55), c(4.5, 80)))
#'
#' # weights: earthquakes that more stations reported count more
#' kde(quakes$mag, w = quakes$stations)
#'
#' # at two points, with another kernel, on two threads
#' fhat <- kde(faithful$eruptions, h = 0.3, eval.points = c(2, 4.5), kernel = "epanechnikov",
#'             threads = 2)
#' fhat$estimate
#'
#' # positive data, on the scale of logarithms, and by reflection at 4, below which none were recorded
#' fhat <- kde(quakes$mag - 3.9, positive = TRUE, adj.positive = 0)
#' plot(fhat)
#' fhat <- kde(quakes$mag, bounds = c(4, Inf))
#' plot(fhat)
#'
#' # hours of a day, most of them about midnight
#' kde(c(22.5, 23, 23.4, 23.9, 0.2, 0.5, 1.3), period = 24, eval.points = c(0, 12))$estimate
#' @export
kde <- function(x, H, h, gridsize, gridtype, xmin, xmax, supp = 3.7, eval.points, binned, bgridsize, positive = FALSE,
                adj.positive, w, compute.cont = TRUE, approx.cont = TRUE, unit.interval = FALSE, density = FALSE,
                verbose = NULL, ..., step = NULL, bounds = NULL, period = NULL, .by = NULL, kernel = "gaussian",
                kernel_type = c("radial", "product"), na.action = stats::na.fail, tol = 1e-12, engine = "auto",
                backend = "auto", precision = c("double", "single"), threads = NULL) {
  check_arguments("kde", given_names(...), c("binned", "density"))
  started <- proc.time()[["elapsed"]]
  by <- if (!missing(.by)) columns_named(substitute(.by), x, parent.frame())
  further <- if (inherits(x, "tbl_sql")) table_density else
    if (asks_for_groups(x, if (!missing(H)) H, by)) grouped_density else if (is_spatial(x)) spatial_density
  if (!is.null(further)) {
    call <- match.call()
    given <- as.list(call)[setdiff(names(call), c("", ".by"))]
    return(further(c(lapply(given, eval, parent.frame()), if (!is.null(by)) list(by = by)), call))
  }
  # missing() is called only here. From here on NULL means that an argument was not given.
  grid <- given_grid(step = step, streamed = FALSE)
  points <- if (!missing(eval.points)) eval.points
  given <- list(H = if (!missing(H)) H, h = if (!missing(h)) h)
  adj.positive <- if (!missing(adj.positive)) adj.positive
  compute.cont <- check_flag(compute.cont, "compute.cont")
  approx.cont <- check_flag(approx.cont, "approx.cont")
  check_flag(density, "density")
  verbose <- asked_verbose(verbose)
  kernel <- check_choice(kernel, kernel_names(), "kernel")
  kernel_type <- check_choice(kernel_type, c("radial", "product"), "kernel_type")
  run <- density_options(threads, backend, engine, tol, cuda = TRUE, precision = precision)
  check_cuda_engine(run, c("direct", "scanline"))
  if (is_sketch(x)) {
    wanted <- list(w = if (!missing(w)) w, kernel = kernel, kernel_type = kernel_type, cont = compute.cont,
                   bounded = c(positive = check_flag(positive, "positive"),
                               unit.interval = check_flag(unit.interval, "unit.interval")),
                   bounds = bounds, period = period)
    fhat <- sketch_density(x, given, grid, points, wanted, run, verbose)
    fhat$call <- match.call()
    fhat$seconds <- proc.time()[["elapsed"]] - started
    return(fhat)
  }
  sample <- check_sample(x, if (!missing(w)) w, na.action)
  check_columns(sample$x)
  at_data <- is.null(points) && ncol(sample$x) > most_on_grids && !asks_for_grid(grid) && run$engine != "scanline"
  transform <- choose_transform(sample$x, sample$names, check_flag(positive, "positive"), adj.positive,
                                check_flag(unit.interval, "unit.interval"), bounds, period)
  if (has_images(transform)) sample <- wrapped_sample(sample, transform)
  points <- if (at_data) sample$x else in_order_of(points, sample$names, "eval.points")
  line <- list(x = if (has_images(transform)) sample$x else points_to_line(transform, sample$x), w = sample$w,
               names = sample$names)
  # The search, the estimate and its contours share it.
  line <- with_data(line)
  check_engine(run$engine, ncol(line$x), kernel, is.null(points))
  # Checked before the search for a bandwidth, which may take long.
  if (is.null(points)) grid <- check_grid(grid, ncol(line$x)) else check_points(points, ncol(line$x), "eval.points")
  bandwidth <- resolve_bandwidth(given, line, kernel, kernel_type == "product", selecting(run, ncol(line$x)), verbose,
                                 followed = is_auto(run$engine) && run$backend != "cuda", transform = transform)
  check_H_with_images(bandwidth$H, transform, sample$names)
  fhat <- new_density(sample, bandwidth$H, kernel, kernel_type, transform, run)
  fhat$.sample <- line$data
  fhat <- if (is.null(points)) {
    estimate_on_grid(fhat, grid_for(fhat, grid), run, verbose)
  } else {
    estimate_at_points(fhat, points, run, verbose)
  }
  if (at_data) inform_at_data(ncol(sample$x))
  if (compute.cont && (fhat$gridded || at_data)) {
    # An engine for grids may not take the data as points.
    fhat$cont <- with_progress(verbose, "Density at the data", function(progress) {
      run$progress <- progress
      contour_levels(fhat, (99:1) / 100, approx.cont, replace(run, "engine", "auto"))
    })
  }
  fhat$.sample <- NULL
  fhat$selector <- bandwidth$selector
  fhat$na.action <- sample$na.action
  fhat$call <- match.call()
  fhat$seconds <- proc.time()[["elapsed"]] - started
  fhat
}

# An object without an estimate.
new_density <- function(sample, H, kernel, kernel_type, transform, run) {
  d <- ncol(sample$x)
  # As in ks, a column stays one.
  x <- if (d > 1L || isFALSE(sample$is_vector)) sample$x else if (is.null(sample$vector)) as.vector(sample$x) else
    sample$vector
  fhat <- list(x = x, eval.points = NULL, estimate = NULL)
  if (d == 1L) fhat$h <- sqrt(H[1L, 1L])
  fhat <- c(fhat, list(H = if (d == 1L) H[1L, 1L] else H, gridtype = NULL, gridded = FALSE, binned = FALSE,
                       names = sample$names, w = sample$w, type = "kde", cont = NULL, kernel = kernel,
                       kernel_type = kernel_type, engine = run$engine, backend = run$backend, tol = run$tol,
                       n_eff = effective_size(weight_sums_cpp(sample$w)), transform = transform))
  structure(fhat, class = c("kestrel_kde", "kde"))
}

# A Gaussian one without a transform, for sums inside of other functions.
gaussian_density <- function(sample, H) {
  new_density(sample, H, "gaussian", "radial", NULL, list(engine = "auto", backend = "cpu", tol = 1e-12))
}

# H from `h` or `H`, of which a user may give one. NULL if neither is given.
check_bandwidth <- function(given, d, product) {
  if (!is.null(given$H) && !is.null(given$h)) abort_input("`h` and `H` must not both be given.")
  if (!is.null(given$h)) return(diag(check_positives(given$h, "h", one = TRUE)^2, d))
  if (is.null(given$H)) return(NULL)
  H <- check_H(given$H, d)
  if (product && !is_diagonal(H)) {
    abort_input("`H` must be diagonal for kernel_type = \"product\", but it has elements off the diagonal.")
  }
  H
}

# H as given by the user or selected from the data, on the scale on which the kernel works. followed: whether an
# estimate of the same sample will follow.
resolve_bandwidth <- function(given, sample, kernel, product, run, verbose = FALSE, followed = FALSE,
                              transform = NULL) {
  d <- ncol(sample$x)
  H <- check_bandwidth(given, d, product)
  if (!is.null(H)) return(list(H = H))
  inform_weighted(sample$w)
  if (has_images(transform)) sample <- selectable_sample(sample, transform)
  sample <- with_covariance(sample)
  if (is_compact(kernel)) {
    scale <- if (product || has_images(transform)) diag(diag(sample$cov), d) else sample$cov
    return(list(H = reference_scale(sample$n, d, kernel, product)^2 * scale))
  }
  selector <- with_search_progress(verbose, "Plug-in bandwidth", function(progress) {
    run$progress <- progress
    if (has_images(transform)) return(reflected_plug_in(sample, transform, run))
    if (d == 1L) return(plug_in_1d(sample, 2L, "minim", run))
    sample$phases <- followed
    select_matrix(sample, 2L, default_pilot(d), if (product) "scale" else "sphere", NULL, product, run)
  })
  kept <- c("objective", "convergence", "evaluations", "engine", "backend", "device", "seconds")
  list(H = selector$H, selector = selector[intersect(kept, names(selector))])
}

sample_matrix <- function(fhat) if (is.matrix(fhat$x)) fhat$x else matrix(fhat$x, ncol = 1L)

# FALSE for a density from a file that has no data.
has_data <- function(fhat) length(fhat$w) > 0L

sample_size <- function(fhat) {
  if (has_data(fhat)) return(length(fhat$w))
  if (fhat$n <= .Machine$integer.max) as.integer(fhat$n) else fhat$n
}

dimension <- function(fhat) if (is.matrix(fhat$x)) ncol(fhat$x) else 1L

axes_of <- function(fhat) if (is.list(fhat$eval.points)) fhat$eval.points else list(fhat$eval.points)

# The axes of a grid; `grid` has the arguments of kde() as check_grid() returns them.
grid_for <- function(fhat, grid) {
  if (is.null(grid$supp)) grid$supp <- if (is_compact(fhat$kernel)) 1 else 3.7
  limits <- grid_limits(fhat$x, as.matrix(fhat$H), grid, fhat$transform)
  # As in ks, a grid on the unit interval spans all of it, without its ends.
  if (identical(fhat$transform$type, "probit") && is.null(grid$step)) {
    if (is.null(grid$xmin)) limits$lower <- 1 / (grid$gridsize + 1)
    if (is.null(grid$xmax)) limits$upper <- grid$gridsize / (grid$gridsize + 1)
  }
  grid_axes(limits, grid)
}

estimate_on_grid <- function(fhat, grid, run, verbose = FALSE) {
  fhat <- estimate_task(fhat, task_on_axes(fhat, grid$axes), run, verbose, "Density on a grid")
  d <- length(grid$axes)
  fhat$eval.points <- if (d == 1L) grid$axes[[1L]] else grid$axes
  fhat$gridtype <- grid$gridtype
  fhat$gridded <- TRUE
  warn_sparse(fhat, grid$axes, max(ranges_cpp(fhat$estimate)[2L, ]))
  fhat
}

estimate_at_points <- function(fhat, points, run, verbose = FALSE) {
  checked <- check_points(points, dimension(fhat), "eval.points")
  fhat <- estimate_task(fhat, task_at_points(fhat, checked), run, verbose, "Density at points")
  fhat$eval.points <- points
  fhat$gridded <- FALSE
  fhat
}

estimate_task <- function(fhat, task, run, verbose, label) {
  ran <- with_progress(verbose, label, function(progress) {
    # Without progress the estimate is a part of a task whose progress is already shown.
    if (!is.null(progress)) run$progress <- progress
    run_density(fhat, task, run, verbose)
  })
  fhat$engine <- ran$plan$engine
  fhat$backend <- ran$plan$backend
  fhat$device <- ran$plan$device
  fhat$precision <- ran$precision
  fhat$estimate <- ran$estimate
  with_rounding(fhat, ran$plan$rounding)
}
