#' Kernel density estimate
#'
#' The kernel density estimate of a sample, on a grid or at given points, in any dimension, with any of seven kernels:
#' \deqn{\hat f(x; H) = n^{-1} \sum_i w_i K_H(x - x_i), K_H(u) = |H|^{-1/2} K(H^{-1/2} u).}{fhat(x; H) = 1/n sum_i w_i
#' K_H(x - x_i), K_H(u) = |H|^(-1/2) K(H^(-1/2) u).}
#'
#' @section Exactness:
#' Every estimate is the sum above: nothing is binned, and no error depends on the grid. Its difference from the sum in
#' exact arithmetic is at most `tol` of the largest value that the estimate has anywhere, and no value is negative. For
#' bounded data this is so on the scale that the kernel works on.
#'
#' @section Bandwidth:
#' `H` has the scale of a covariance, `h` that of a standard deviation: in one dimension H = h^2, in several `h` means
#' H = h^2 I. When neither is given, the Gaussian kernel takes the plug-in bandwidth, [hpi()] or [Hpi()]
#' ([Hpi.diag()] for a product kernel). The compact kernels take H = h^2 S, S the sample covariance, with the h that is
#' asymptotically optimal for normal data (Wand & Jones 1995, section 4.3):
#' \deqn{h^{d+4} = 4 (2 \sqrt\pi)^d R(K) / ((d + 2) \mu_2(K)^2 n),}{h^(d+4) = 4 (2 sqrt(pi))^d R(K) / ((d + 2)
#' mu2(K)^2 n),}
#' R(K) the integral of K^2, mu2 its second moment; for the radial Epanechnikov kernel this is the h of Lopez-Novoa
#' (2015). For product kernels only the diagonal of S is used.
#'
#' @section Grid:
#' 401 points in one dimension, 151 x 151 in two, 51 x 51 x 51 in three, 21 on each axis in more, from
#' min - supp sqrt(H_kk) to max + supp sqrt(H_kk). A grid that needs more memory than there is
#' (`options(kestrel.memory_limit = bytes)`) is refused before it is allocated; [kde_stream()] takes larger ones. Of
#' compact kernels, a grid that is too coarse for the bandwidth or out of reach of all samples is warned of.
#'
#' @section Bounded data:
#' With `positive = TRUE` the data are taken to log(x + adj.positive), with `unit.interval = TRUE` to their normal
#' quantiles; the bandwidth applies there. The density outside of the sample space is zero.
#'
#' @section Errors: all of class `kestrel_error`. `kestrel_error_input` for every argument that is not what it should
#'   be: missing or infinite values, a matrix `H` that is not symmetric and positive definite, a product kernel with an
#'   `H` that is not diagonal, and so on; `kestrel_error_memory` for a grid too large, also that of
#'   engine = "fourier"; `kestrel_error_backend` for a backend that this build or machine lacks.
#' @section Cost: O(n m d) for m points by direct sums, on all threads. In one dimension at most about 0.2 microseconds
#'   for each observation and each point, where that is less. With the Gaussian kernel in two and three dimensions,
#'   where that is less, at most about 0.2 and 1.3 microseconds for each observation, 0.2 and 1 for each point, and 0.05
#'   for each cell of a grid whose cells are about 0.3 bandwidths wide. A compact kernel on a grid with equal steps:
#'   about 0.1 microseconds for each observation and 0.02 for each row of the grid that its kernel crosses (the radial
#'   Epanechnikov kernel; the others for each eight points it covers), and 5 nanoseconds for each point of the grid; in
#'   memory the estimate and a sorted copy of the data.
#'
#' @param x a numeric vector (d = 1), or a matrix or data frame with n rows and d columns.
#' @param H bandwidth matrix, d x d, symmetric and positive definite; a number when d = 1.
#' @param h scalar bandwidth, a positive number.
#' @param gridsize number of grid points, one number or one for each axis, at least 2.
#' @param gridtype spacing of the grid, one or one for each axis: `"linear"`, `"sqrt"` (equal steps of the square root),
#'   `"exp"` (of the exponential) or `"quantile"` (normal quantiles from 1 to 99 per cent, stretched to the limits).
#' @param xmin,xmax lower and upper limits of the grid, one number for each axis.
#' @param supp how far the grid extends beyond the data, in units of sqrt(H_kk); 1 for compact kernels if not given.
#' @param eval.points points to estimate at instead of a grid: a vector (d = 1; for d > 1 a vector of length d is one
#'   point), or a matrix or data frame with d columns.
#' @param binned accepted for scripts written for \pkg{ks}, without effect: no estimate is binned.
#' @param bgridsize taken for `gridsize` when that is not given.
#' @param positive TRUE for data on the positive half line (in every column).
#' @param adj.positive what is added before logarithms are taken, one number for each column; the absolute value of
#'   each column's minimum if not given.
#' @param w weights, one for each row of `x`, non-negative and not all zero; they are rescaled to sum to n.
#' @param compute.cont if TRUE and the estimate is on a grid, compute the 1 % to 99 % contour levels.
#' @param approx.cont if TRUE, the contour levels take the density at the data by linear interpolation in the grid; if
#'   FALSE, exactly.
#' @param unit.interval TRUE for data strictly between 0 and 1 (d = 1).
#' @param density accepted for scripts written for \pkg{ks}, without effect: no estimate is negative.
#' @param verbose if TRUE, say what is going to be computed, how and for about how long, and show progress.
#' @param kernel `"gaussian"`, `"epanechnikov"`, `"uniform"`, `"triangular"`, `"biweight"`, `"triweight"` or `"cosine"`.
#' @param kernel_type `"radial"`, a function of the distance, or `"product"` of one-dimensional kernels, which needs a
#'   diagonal `H`.
#' @param tol the error that is allowed, relative to the largest value of the estimate.
#' @param engine how sums are computed: `"auto"`, the cheapest of those that take the task; `"direct"`, every
#'   observation at every point; in one dimension also `"sweep"`, windows of the sorted observations, for the kernels
#'   uniform, triangular, epanechnikov, biweight and triweight, and `"cells"`, expansions of the Gaussian kernel in
#'   cells; for the Gaussian kernel in two and three dimensions also `"fourier"`, fast Fourier transforms on a grid of
#'   at most 1 GB; for the compact kernels on grids with equal steps, in up to six dimensions, `"runs"`, the points that
#'   each observation reaches, row by row, in exact integers (S-KDE: Lopez-Novoa 2015, ch. 6). All keep to `tol`
#'   (`"fourier"` to 1e-13 where it is less, and where it is asked for by name with data that span more than 5,000
#'   bandwidths only to 2e-16 times their number). At points more than 8 bandwidths from all data `"cells"` may give
#'   zero where `"direct"` has digits left; values below 100 `tol` of the largest have an error of at most 1 per cent
#'   by `"fourier"`.
#' @param backend `"auto"`, `"cpu"` or `"cuda"`; this version is built without CUDA.
#' @param threads the number of threads; [kestrel_threads()] if NULL.
#' @param na.action [stats::na.fail], an error when data are missing, or [stats::na.omit], which leaves their rows out.
#' @param step distance of grid points, one number or one for each axis, in place of `gridsize`: the grid runs from
#'   `xmin` in steps up to `xmax`.
#' @return An object of class `c("kestrel_kde", "kde")`, a list with the fields of \pkg{ks}:
#'   \item{x}{the data, a vector or an n x d matrix}
#'   \item{eval.points}{the points: a vector (d = 1), for a grid a list of d axes, otherwise as given}
#'   \item{estimate}{the density there, in units of 1 / volume: a d-dimensional array for a grid, otherwise a vector}
#'   \item{h}{the scalar bandwidth (d = 1 only)}
#'   \item{H}{the bandwidth matrix; a number when d = 1}
#'   \item{gridtype, gridded, binned}{how the points were made; `binned` is FALSE}
#'   \item{names}{names of the columns}
#'   \item{w}{the weights, summing to n}
#'   \item{type}{`"kde"`}
#'   \item{cont}{contour levels, named by the probability below them}
#'   and further `kernel`, `kernel_type`, `engine`, `backend`, `tol`, `n_eff` (effective sample size
#'   (sum w)^2 / sum w^2), `call`, `seconds` (elapsed), and where they apply `transform`, `selector` (how the bandwidth
#'   was found: `objective`, `convergence`, `evaluations`, `engine`, `seconds`) and `na.action` (the rows left out).
#' @references Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall.
#'
#'   Chacon, J.E. & Duong, T. (2018) *Multivariate Kernel Smoothing and Its Applications*. Chapman & Hall/CRC.
#'
#'   Lopez-Novoa, U. (2015) *Contributions to the Efficient Use of General Purpose Coprocessors: Kernel Density
#'   Estimation as Case Study*. PhD thesis, University of the Basque Country, ch. 6 and 8.
#' @seealso [print.kestrel_kde()] and the other methods, [contourLevels()], [dkde()], [marginal()], [Hpi()]
#' @examples
#' fhat <- kde(faithful)
#' fhat
#' plot(fhat)
#'
#' # at two points, with another kernel, on two threads
#' fhat <- kde(faithful$eruptions, h = 0.3, eval.points = c(2, 4.5), kernel = "epanechnikov",
#'             threads = 2)
#' fhat$estimate
#'
#' # positive data
#' fhat <- kde(quakes$mag - 3.9, positive = TRUE, adj.positive = 0)
#' plot(fhat)
#' @export
kde <- function(x, H, h, gridsize, gridtype, xmin, xmax, supp = 3.7, eval.points, binned, bgridsize,
                positive = FALSE, adj.positive, w, compute.cont = TRUE, approx.cont = TRUE, unit.interval = FALSE,
                density = FALSE, verbose = FALSE, kernel = "gaussian", kernel_type = c("radial", "product"),
                tol = 1e-12, engine = "auto", backend = "auto", threads = NULL, na.action = stats::na.fail,
                step = NULL) {
  started <- proc.time()[["elapsed"]]
  # The one place that asks what is missing: from here on NULL means not given.
  grid <- list(gridsize = if (!missing(gridsize)) gridsize else if (!missing(bgridsize)) bgridsize,
               gridtype = if (!missing(gridtype)) gridtype, xmin = if (!missing(xmin)) xmin,
               xmax = if (!missing(xmax)) xmax, supp = if (!missing(supp)) supp, step = step)
  points <- if (!missing(eval.points)) eval.points
  given <- list(H = if (!missing(H)) H, h = if (!missing(h)) h)
  adj.positive <- if (!missing(adj.positive)) adj.positive
  check_flag(compute.cont, "compute.cont")
  check_flag(approx.cont, "approx.cont")
  check_flag(density, "density")
  check_flag(verbose, "verbose")
  kernel <- check_choice(kernel, kernel_names, "kernel")
  kernel_type <- check_choice(kernel_type, c("radial", "product"), "kernel_type")
  run <- density_options(threads, backend, engine, tol)
  sample <- check_sample(x, if (!missing(w)) w, na.action)
  transform <- choose_transform(sample$x, sample$names, check_flag(positive, "positive"), adj.positive,
                                check_flag(unit.interval, "unit.interval"))
  line <- list(x = points_to_line(transform, sample$x), w = sample$w, names = sample$names)
  check_engine(run$engine, ncol(line$x), kernel, is.null(points))
  # The engine is that of the density.
  bandwidth <- resolve_bandwidth(given, line, kernel, kernel_type == "product", run[names(run) != "engine"])
  fhat <- new_density(sample, bandwidth$H, kernel, kernel_type, transform, run)
  fhat <- if (is.null(points)) {
    estimate_on_grid(fhat, grid_for(fhat, grid), run, verbose)
  } else {
    estimate_at_points(fhat, points, run, verbose)
  }
  if (compute.cont && fhat$gridded) fhat$cont <- contour_levels(fhat, (99:1) / 100, approx.cont)
  fhat$selector <- bandwidth$selector
  fhat$na.action <- sample$na.action
  fhat$call <- match.call()
  fhat$seconds <- proc.time()[["elapsed"]] - started
  fhat
}

# The object without an estimate.
new_density <- function(sample, H, kernel, kernel_type, transform, run) {
  d <- ncol(sample$x)
  fhat <- list(x = if (d == 1L) as.vector(sample$x) else sample$x, eval.points = NULL, estimate = NULL)
  if (d == 1L) fhat$h <- sqrt(H[1L, 1L])
  fhat <- c(fhat, list(H = if (d == 1L) H[1L, 1L] else H, gridtype = NULL, gridded = FALSE, binned = FALSE,
                       names = sample$names, w = sample$w, type = "kde", cont = NULL, kernel = kernel,
                       kernel_type = kernel_type, engine = run$engine, backend = run$backend, tol = run$tol,
                       n_eff = effective_size(sample$w), transform = transform))
  structure(fhat, class = c("kestrel_kde", "kde"))
}

# H as given by the user or selected from the data, on the scale that the kernel works on.
resolve_bandwidth <- function(given, sample, kernel, product, run) {
  d <- ncol(sample$x)
  if (!is.null(given$H) && !is.null(given$h)) abort_input("`h` and `H` must not both be given.")
  if (!is.null(given$h)) return(list(H = diag(check_positives(given$h, "h", one = TRUE)^2, d)))
  if (!is.null(given$H)) {
    H <- check_H(given$H, d)
    if (product && any(H[lower.tri(H)] != 0)) {
      abort_input("`H` must be diagonal for kernel_type = \"product\", but it has elements off the diagonal.")
    }
    return(list(H = H))
  }
  sample <- selector_sample(sample$x, sample$w)
  if (is_compact(kernel)) {
    scale <- if (product) diag(diag(sample$cov), d) else sample$cov
    return(list(H = reference_scale(sample$n, d, kernel, product)^2 * scale))
  }
  selector <- if (d == 1L) {
    plug_in_1d(sample, 2L, "stdev", run)
  } else {
    select_matrix(sample, 2L, NULL, if (product) "scale" else "sphere", NULL, product, run)
  }
  list(H = selector$H, selector = selector[c("objective", "convergence", "evaluations", "engine", "seconds")])
}

sample_matrix <- function(fhat) if (is.matrix(fhat$x)) fhat$x else matrix(fhat$x, ncol = 1L)

dimension <- function(fhat) if (is.matrix(fhat$x)) ncol(fhat$x) else 1L

axes_of <- function(fhat) if (is.list(fhat$eval.points)) fhat$eval.points else list(fhat$eval.points)

# The axes that `grid`, the arguments of kde(), ask for.
grid_for <- function(fhat, grid) {
  x <- sample_matrix(fhat)
  if (is.null(grid$supp)) grid$supp <- if (is_compact(fhat$kernel)) 1 else 3.7
  bounds <- transform_bounds(fhat$transform)
  limits <- grid_limits(x, as.matrix(fhat$H), check_positive(grid$supp, "supp"), grid$xmin, grid$xmax, bounds)
  # As in ks, a grid on the unit interval spans all of it, without its ends.
  if (identical(fhat$transform$type, "probit") && is.null(grid$step)) {
    size <- check_gridsize(grid$gridsize, 1L)
    if (is.null(grid$xmin)) limits$lower <- 1 / (size + 1)
    if (is.null(grid$xmax)) limits$upper <- size / (size + 1)
  }
  grid_axes(limits, grid$gridsize, grid$gridtype, grid$step, isTRUE(grid$streamed))
}

estimate_on_grid <- function(fhat, grid, run, verbose = FALSE) {
  fhat <- estimate_task(fhat, task_on_axes(fhat, grid$axes), run, verbose, "Density on a grid")
  d <- length(grid$axes)
  fhat$eval.points <- if (d == 1L) grid$axes[[1L]] else grid$axes
  fhat$gridtype <- grid$gridtype
  fhat$gridded <- TRUE
  warn_sparse(fhat, grid$axes, max(fhat$estimate))
  fhat
}

# A compact kernel may reach no point of a grid from most samples, or from all.
warn_sparse <- function(fhat, axes, largest) {
  if (largest == 0) {
    warn_grid("The grid is out of reach of all samples: the estimate is zero at every point.")
  } else if (is_compact(fhat$kernel) && is.null(fhat$transform)) {
    reached <- points_reached(fhat, axes)
    if (reached < 1) {
      # Not how many samples it misses: those that lie on its points, as rounded data may, all count.
      warn_grid("The grid is too coarse for the bandwidth: a kernel covers ", format(reached, digits = 2),
                " points on average, so that samples may fall between points and not count.")
    }
  }
}

# Points of a grid within the support of one kernel, on average.
points_reached <- function(fhat, axes) {
  d <- length(axes)
  step <- vapply(axes, function(axis) (axis[length(axis)] - axis[1L]) / (length(axis) - 1), 0)
  unit <- if (fhat$kernel_type == "product") 2^d else pi^(d / 2) / gamma(d / 2 + 1)
  unit * prod(diag(bandwidth_root(fhat)) / step)
}

estimate_at_points <- function(fhat, points, run, verbose = FALSE) {
  checked <- check_points(points, dimension(fhat), "eval.points")
  fhat <- estimate_task(fhat, task_at_points(fhat, checked), run, verbose, "Density at points")
  fhat$eval.points <- points
  fhat$gridded <- FALSE
  fhat
}

estimate_task <- function(fhat, task, run, verbose, label) {
  plan <- plan_run(fhat, task, run, verbose)
  fhat$engine <- plan$engine
  fhat$estimate <- with_progress(verbose, label, function(progress) {
    run$progress <- progress
    run_task(fhat, task, run, plan)
  })
  fhat
}

# The lower factor L of H = L L'.
bandwidth_root <- function(fhat) t(chol(as.matrix(fhat$H)))

check_summable <- function(fhat) {
  if (fhat$kernel_type == "integrated") {
    abort_input("`fhat` must be an estimate from data, not a marginal that was integrated over a grid.")
  }
}

# What is to be summed, on the line: samples and points without those outside of the sample space. `points` is a matrix,
# or `axes` a list; `m` is the number of points with those outside; `complete(values)` is the estimate at all of these.
task_at_points <- function(fhat, points) {
  check_summable(fhat)
  line <- points_to_line(fhat$transform, points)
  inside <- rowSums(is.infinite(line)) == 0
  line <- unname(line[inside, , drop = FALSE])
  complete <- function(value) {
    if (is.null(fhat$transform)) return(value)
    for (k in seq_len(ncol(line))) value <- value * line_slope(fhat$transform, line[, k])
    estimate <- numeric(nrow(points))
    estimate[inside] <- value
    estimate
  }
  list(x = unname(points_to_line(fhat$transform, sample_matrix(fhat))), points = line, axes = list(), m = nrow(points),
       complete = complete)
}

# The same for a grid: the estimate is an array.
task_on_axes <- function(fhat, axes) {
  check_summable(fhat)
  line <- lapply(seq_along(axes), function(k) to_line(fhat$transform, axes[[k]], k))
  inside <- lapply(line, is.finite)
  line <- Map(`[`, line, inside)
  complete <- function(value) {
    if (is.null(fhat$transform)) return(value)
    slope <- Reduce(outer, lapply(line, function(axis) line_slope(fhat$transform, axis)))
    estimate <- array(0, lengths(axes))
    estimate <- do.call(`[<-`, c(list(estimate), inside, list(value = value * as.vector(slope))))
    if (length(axes) > 1L) estimate else as.vector(estimate)
  }
  list(x = unname(points_to_line(fhat$transform, sample_matrix(fhat))), points = matrix(0, 0L, length(axes)),
       axes = unname(line), m = prod(lengths(axes)), complete = complete)
}

# Which engine runs, and what it needs to know; says so when verbose.
plan_run <- function(fhat, task, run, verbose = FALSE) {
  d <- ncol(task$x)
  gridded <- length(task$axes) > 0L
  engine <- check_engine(if (is.null(run$engine)) "auto" else run$engine, d, fhat$kernel, gridded)
  extent <- if (d %in% 2:3 && fhat$kernel == "gaussian" && engine != "direct") {
    density_extent_cpp(task$x, fhat$w, task$points, task$axes, bandwidth_root(fhat), run$threads, run$isa)
  }
  grid <- regular_grid(fhat, task)
  if (engine == "runs" && is.null(grid)) abort_irregular()
  plan <- refusing_memory(plan_cpp(
    length(fhat$w), task$m, d, if (d == 1L) diff(range(task$x)) / fhat$h else 0, extent, grid, fhat$kernel,
    fhat$kernel_type == "product", engine, if (is.null(run$tol)) fhat$tol else run$tol, run$threads, run$isa
  ))
  if (gridded) check_memory(lengths(task$axes), plan$bytes + 8 * task$m)
  if (verbose) {
    message(sprintf("%s samples, %s points: engine %s (%s), about %s and %.2g s on %d thread%s.",
                    format(length(fhat$w), big.mark = ","), format(task$m, big.mark = ","), plan$engine, plan$reason,
                    format_bytes(plan$bytes), plan$seconds, run$threads, if (run$threads == 1L) "" else "s"))
  }
  c(plan, extent = extent)
}

# The grid of a task for the engine "runs", NULL where it does not take it.
regular_grid <- function(fhat, task) {
  if (length(task$axes) == 0L || any(lengths(task$axes) == 0L)) return(NULL)
  if (fits_runs(length(task$axes), fhat$kernel)) {
    regular_grid_cpp(task$axes, bandwidth_root(fhat), fhat$kernel_type == "product")
  }
}

abort_irregular <- function() {
  abort_input("`engine` must not be \"runs\" for a grid whose steps are not equal to 5e-7 of a step.")
}

# The estimate at all points of a task, zero outside of the sample space. Large grids are copied nowhere on the way:
# sums without a name are divided in place.
run_task <- function(fhat, task, run, plan) task$complete(kernel_sums(fhat, task, run, plan) / nrow(task$x))

kernel_sums <- function(fhat, task, run, plan) {
  root <- bandwidth_root(fhat)
  product <- fhat$kernel_type == "product"
  sums <- if (any(lengths(task$axes) == 0L)) {
    numeric(0)
  } else if (plan$engine == "fourier") {
    density_fourier_cpp(task$x, fhat$w, task$points, task$axes, root, plan$extent, plan$tol, run$threads, run$isa,
                        run$progress)
  } else if (length(task$axes)) {
    density_grid_cpp(task$x, fhat$w, task$axes, root, fhat$kernel, product, plan$engine, run$threads, run$isa,
                     run$progress)
  } else {
    density_points_cpp(task$x, fhat$w, task$points, root, fhat$kernel, product, plan$engine, run$threads, run$isa,
                       run$progress)
  }
  if (length(task$axes) > 1L) dim(sums) <- lengths(task$axes)
  sums
}

# The estimate at the rows of a matrix.
density_at <- function(fhat, points, run) {
  task <- task_at_points(fhat, points)
  run_task(fhat, task, run, plan_run(fhat, task, run))
}
