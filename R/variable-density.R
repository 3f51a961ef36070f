# Density estimates with bandwidths that vary: by the point (balloon) or by the observation (sample point).

#' Kernel density estimates with bandwidths that vary
#'
#' `kde.balloon()` has a bandwidth for each point where the density is estimated, and `kde.sp()` one for each
#' observation:
#' \deqn{\hat f_B(x) = n^{-1} \sum_i w_i K_{h(x)}(x - x_i), \hat f_S(x) = n^{-1} \sum_i w_i K_{h_i}(x - x_i).}{f_B(x) =
#' 1/n sum_i w_i K_h(x)(x - x_i), f_S(x) = 1/n sum_i w_i K_h_i(x - x_i).}
#' K_h is the normal density with covariance h^2 I, or another radial kernel, h^-d K(u / h). For `kde.sp()` this is in
#' units of the standard deviations of the columns.
#'
#' @section Bandwidths: Both minimise the asymptotic mean squared error at a point, with densities and derivatives that
#'   a pilot estimate with the bandwidth matrix `H` has there (Chacon & Duong 2018, sections 4.1 and 4.2). With
#'   g = 1 / f:
#'
#'   - balloon: h(x)^(d+4) = d f(x) / ((4 pi)^(d/2) n tr(D^2 f(x))^2);
#'   - sample point: h_i = b_i f(x_i)^(-1/2), the square root law of Abramson (1982), with
#'     b^(d+8) = 8 d f^(1+d/2) / ((4 pi)^(d/2) n L^2), L the Laplacian of the Laplacian of g at x_i.
#'
#'   With weights n is the effective sample size. Where the bandwidth of a point is infinite, the balloon estimate is 0.
#'   An observation with L = 0 takes the largest bandwidth of the others.
#'
#'   Other kernels have these bandwidths times the ratio of canonical bandwidths (Marron & Nolan 1988), with which they
#'   smooth as much.
#'
#'   \pkg{ks} squares (4 pi)^(d/2), too, so that its balloon bandwidths are 0.66 of these for d = 2. It takes b_i for
#'   h_i, so that kernels are narrowest where there are few data. It ignores `H` and `w` in `kde.sp()`.
#'   `hs = sqrt(fit$H)` takes the bandwidths of a result `fit` of \pkg{ks}.
#' @section Computation: For given bandwidths the error is below 1e-12 of the largest value.
#'
#'   - With the Gaussian kernel bandwidths are in ranges of a factor of 2. In each of these the kernel is the polynomial
#'     in log h through its values at 20 Chebyshev points, which leaves 6e-15 of the largest kernel. So the estimate is
#'     made of 20 sums with one bandwidth each (40 for `kde.sp()`), by the engine that [kde()] chooses: `"direct"`,
#'     `"fgt"` or `"fourier"`, or a GPU. `engine` and `backend` force one. Up to 20 different bandwidths in a range take
#'     a sum each.
#'   - On grids of two and three dimensions `kde.sp()` with the Gaussian kernel, `engine = "auto"` and no GPU asked for
#'     sums products of one factor for each axis, as they are.
#'   - Compact kernels are no smooth functions of h, and classes of bandwidths would not be exact. There are three
#'     engines for them, and `"auto"` takes the one that should be fastest.
#'
#'     `"scanline"` is for `kde.sp()` on grids with equal steps. It adds each observation to the rows of the grid that
#'     its own kernel crosses, as S-KDE does it (Lopez-Novoa 2015). An Epanechnikov kernel that covers more than a dozen
#'     points of a row is only added at both ends of its run of points. These sums are in integers of 128 bits, with a
#'     unit for each factor of 2 of the bandwidths.
#'
#'     `"kdtree"` leaves out nodes of a tree of the observations that are out of reach of a point. If a node is wholly
#'     within reach and the kernel is a polynomial of few terms, the node's sum is one polynomial of the point.
#'     `"direct"` is the plain sum of all pairs, on the CPU or a GPU.
#' @inheritParams kde
#' @param x a numeric vector (d = 1), or a matrix or data frame with n rows and d columns, at most three.
#' @param H,h the bandwidth of the pilot estimate; that of \code{\link{Hns}()} if not given, with `deriv.order = 2` for
#'   `kde.balloon()` and 4 for `kde.sp()`.
#' @param hs bandwidths of the observations, in units of the standard deviations of the columns, one for each row of
#'   `x`; then there is no pilot estimate.
#' @param kernel a kernel of [kde()]. The pilot estimate is by the Gaussian one.
#' @param engine as in [kde()] for the Gaussian kernel; `"auto"`, `"direct"`, `"kdtree"` or `"scanline"` for compact
#'   ones. The pilot estimate chooses its own.
#' @param backend as in [kde()]. On a GPU compact kernels take the engine `"direct"`.
#' @param precision as in [kde()], for compact kernels. The Gaussian kernel is computed in double precision, and so are
#'   data that span more than 1e7 of the smallest bandwidth.
#' @return An object of class `c("kestrel_vkde", "kde")`, a list with the fields of \pkg{ks}:
#'   \item{x, eval.points, estimate, gridtype, gridded, binned, names, w, type, cont}{as in [kde()]}
#'   \item{H}{h^2: an array of those of the points of a grid, or a vector of those of points or of observations}
#'   and with \item{variable}{`"balloon"` or `"sample point"`}
#'   \item{pilot}{the bandwidth matrix of the pilot estimate, which also sets the limits of the grid}
#'   \item{scale}{the standard deviations of the columns for `kde.sp()`, and 1 for `kde.balloon()`}
#'   \item{mass}{what the balloon estimate was divided by: its integral over the grid, or 1 at points}
#'   \item{kernel, engine, backend, precision}{as asked for}
#'   \item{n_eff, na.action, tol, call, seconds}{as in [kde()]}
#' @section Units: Densities are in 1 / volume.
#' @section Errors: Errors of class `kestrel_error_input` are those of [kde()], for more than three columns, and for
#'   `hs` that are not a positive number for each row, or that are given with `H` or `h`.
#' @section Cost: On grids of two and three dimensions `kde.sp()` takes O(n m), m the points within 10 bandwidths of
#'   an observation: a fifth of a nanosecond or so for each. Otherwise there are twenty sums of [kde()] for each
#'   factor of 2 of the bandwidths, and mostly three to six factors. `kde.sp()` has forty, each with half of the data.
#'
#'   With compact kernels `"scanline"` takes O(n r + m k) for Epanechnikov kernels, r the rows of the grid that a kernel
#'   crosses and k the factors of 2, and O(n) times the points that a kernel covers for the others. `"kdtree"` takes
#'   O(n log n) and for each of m points the pairs at the edge of a support, or all in reach for kernels without
#'   polynomials; `"direct"` O(n m). All run on all threads. On an H200 a pair takes 0.4 to 1.6 picoseconds, and on a
#'   thread of the CPU 3 to 9 nanoseconds.
#'
#'   Before them come the derivatives of the pilot estimate by [kdde()], of order 2 at the points, or of orders up to
#'   4 at the observations.
#' @references Abramson, I.S. (1982) On bandwidth variation in kernel estimates: a square root law. *Annals of
#'   Statistics* **10**, 1217-1223.
#'
#'   Chacon, J.E. & Duong, T. (2018) *Multivariate Kernel Smoothing and its Applications*. Chapman & Hall.
#'
#'   Lopez-Novoa, U. (2015) *Contributions to the Efficient Use of General Purpose Coprocessors: Kernel Density
#'   Estimation as Case Study*. PhD thesis, University of the Basque Country.
#'
#'   Marron, J.S. & Nolan, D. (1988) Canonical kernels for density estimation. *Statistics & Probability Letters* **7**,
#'   195-199.
#'
#'   Terrell, G.R. & Scott, D.W. (1992) Variable kernel density estimation. *Annals of Statistics* **20**, 1236-1265.
#' @seealso [kde()]
#' @examples
#' fhat <- kde.sp(faithful, gridsize = c(41, 41))
#' fhat
#' plot(fhat)
#' predict(fhat, c(4, 80))
#'
#' balloon <- kde.balloon(scale(faithful), gridsize = c(41, 41))
#' range(sqrt(balloon$H))
#' @export
kde.balloon <- function(x, H, h, gridsize, gridtype, xmin, xmax, supp = 3.7, eval.points, binned, bgridsize, w,
                        compute.cont = TRUE, approx.cont = TRUE, verbose = NULL, ..., kernel = "gaussian",
                        na.action = stats::na.fail, engine = "auto", backend = "auto",
                        precision = c("double", "single"), threads = NULL) {
  check_arguments("kde.balloon", given_names(...), "binned")
  asked <- list(H = if (!missing(H)) H, h = if (!missing(h)) h, x = x, w = if (!missing(w)) w, na.action = na.action,
                points = if (!missing(eval.points)) eval.points, grid = given_grid(supp = supp, streamed = FALSE),
                cont = compute.cont, approx = approx.cont, verbose = verbose, threads = threads, kernel = kernel,
                engine = engine, backend = backend, precision = precision)
  variable_density("balloon", asked, match.call())
}

#' @rdname kde.balloon
#' @export
kde.sp <- function(x, H, h, gridsize, gridtype, xmin, xmax, supp = 3.7, eval.points, binned, bgridsize, w,
                   compute.cont = TRUE, approx.cont = TRUE, verbose = NULL, ..., hs = NULL, kernel = "gaussian",
                   na.action = stats::na.fail, engine = "auto", backend = "auto",
                   precision = c("double", "single"), threads = NULL) {
  check_arguments("kde.sp", given_names(...), "binned")
  asked <- list(H = if (!missing(H)) H, h = if (!missing(h)) h, x = x, w = if (!missing(w)) w, na.action = na.action,
                points = if (!missing(eval.points)) eval.points, grid = given_grid(supp = supp, streamed = FALSE),
                cont = compute.cont, approx = approx.cont, verbose = verbose, threads = threads, kernel = kernel,
                engine = engine, backend = backend, precision = precision, hs = hs)
  variable_density("sample point", asked, match.call())
}

# `asked`: the arguments, NULL for those that were not given.
variable_density <- function(variable, asked, call) {
  started <- proc.time()[["elapsed"]]
  flags <- list(cont = check_flag(asked$cont, "compute.cont"), approx = check_flag(asked$approx, "approx.cont"))
  verbose <- asked_verbose(asked$verbose)
  asked$kernel <- check_choice(asked$kernel, kernel_names(), "kernel")
  run <- density_options(asked$threads, asked$backend, asked$engine, 1e-12, cuda = TRUE, precision = asked$precision)
  check_cuda_engine(run, "direct")
  sample <- check_sample(asked$x, asked$w, asked$na.action)
  d <- ncol(sample$x)
  if (d > 3L) abort_input("`x` must have at most three columns for bandwidths that vary, not ", d, ".")
  check_columns(sample$x)
  check_variable_engine(run, variable, d, asked$kernel, is.null(asked$points))
  points <- in_order_of(asked$points, sample$names, "eval.points")
  grid <- if (is.null(points)) check_grid(asked$grid, d)
  if (!is.null(points)) check_points(points, d, "eval.points")
  fhat <- new_variable_density(variable, asked, with_data(sample))
  fhat[how_computed] <- run[how_computed]
  if (!is.null(grid)) grid <- grid_for(plain_density(fhat), grid)
  fhat <- with_progress(verbose, "Density with bandwidths that vary", function(progress) {
    run <- c(run, progress = progress)
    if (variable == "sample point" && is.null(fhat$H)) fhat$H <- sample_bandwidths(fhat, run)^2
    fhat <- if (is.null(grid)) variable_at_points(fhat, points, run) else variable_on_grid(fhat, grid, run)
    if (flags$cont && fhat$gridded) fhat$cont <- contour_levels(plain_density(fhat), (99:1) / 100, flags$approx, run)
    fhat
  })
  fhat$.sample <- NULL
  fhat$na.action <- sample$na.action
  fhat$call <- call
  fhat$seconds <- proc.time()[["elapsed"]] - started
  fhat
}

# Gaussian kernels take engines of sums with one bandwidth at points anywhere, compact ones those of the core for
# bandwidths that vary.
check_variable_engine <- function(run, variable, d, kernel, gridded) {
  if (!is_compact(kernel)) return(check_engine(run$engine, d, kernel, FALSE))
  fitting <- c("auto", "direct", "kdtree", if (variable == "sample point" && gridded) "scanline")
  if (!run$engine %in% fitting) {
    abort_input("`engine` must be one of ", quoted(fitting, '"'), " for ", variable, " estimates ",
                if (gridded) "on a grid" else "at points", " with compact kernels, not \"", run$engine, "\".")
  }
}

# An object without an estimate.
new_variable_density <- function(variable, asked, sample) {
  d <- ncol(sample$x)
  frame <- unclass(gaussian_density(sample, diag(d)))
  kept <- frame[c("x", "eval.points", "estimate", "gridtype", "gridded", "binned", "names", "w", "type", "cont")]
  given <- check_bandwidth(asked, d, FALSE)
  fhat <- c(kept, list(H = NULL, variable = variable, pilot = given, scale = rep(1, d), mass = 1, n_eff = frame$n_eff,
                       tol = 1e-12, kernel = asked$kernel))
  if (!is.null(asked$hs)) {
    if (!is.null(given)) {
      abort_input("`hs` must not be given together with `H` or `h`, which are of the pilot estimate.")
    }
    fhat$H <- check_length(check_positives(asked$hs, "hs"), nrow(sample$x), "hs", "the sample")^2
  }
  if (is.null(given)) fhat$pilot <- unname(Hns(sample$x, if (variable == "balloon") 2 else 4, w = sample$w))
  if (variable == "sample point") fhat$scale <- sqrt(unname(diag(with_covariance(sample)$cov)))
  fhat$.sample <- sample
  structure(fhat, class = c("kestrel_vkde", "kde"))
}

# The data of an object as check_sample() has them.
variable_sample <- function(fhat) {
  if (!is.null(fhat$.sample)) return(fhat$.sample)
  list(x = sample_matrix(fhat), w = fhat$w, names = fhat$names, is_vector = !is.matrix(fhat$x))
}

# The sample and points in units of the scale.
scaled_columns <- function(fhat, x) {
  if (all(fhat$scale == 1)) return(x)
  x / rep(fhat$scale, each = nrow(x))
}

scaled_sample <- function(fhat) {
  sample <- variable_sample(fhat)
  with_data(list(x = scaled_columns(fhat, sample$x), w = sample$w, names = sample$names))
}

variable_on_grid <- function(fhat, grid, run) {
  fhat$eval.points <- if (length(grid$axes) == 1L) grid$axes[[1L]] else grid$axes
  fhat$gridtype <- grid$gridtype
  fhat$gridded <- TRUE
  if (fhat$variable == "balloon") {
    at <- as.matrix(grid_points(grid$axes))
    dimnames(at) <- NULL
    h <- balloon_bandwidths(fhat, at, run)
    fhat$H <- on_axes(h^2, grid$axes)
    values <- on_axes(balloon_at(fhat, at, h, run), grid$axes)
    # As in ks.
    fhat$mass <- grid_integral(grid$axes, values)
    if (fhat$mass == 0) {
      warn_grid("The grid is out of reach of all samples: the estimate is zero at every point.")
      fhat$mass <- 1
    }
    fhat$estimate <- values / fhat$mass
  } else {
    axes <- Map(`/`, grid$axes, fhat$scale)
    fhat$estimate <- on_axes(sample_point_at(fhat, list(axes = axes), run), axes)
  }
  fhat
}

variable_at_points <- function(fhat, points, run) {
  checked <- check_points(points, length(fhat$names), "eval.points")
  fhat$eval.points <- points
  fhat$gridded <- FALSE
  if (fhat$variable == "balloon") fhat$H <- balloon_bandwidths(fhat, checked, run)^2
  fhat$estimate <- variable_density_at(fhat, checked, run)
  fhat
}

# The estimate at the rows of a matrix.
variable_density_at <- function(fhat, points, run) {
  if (nrow(points) == 0L) return(numeric(0))
  points <- unname(points)
  if (fhat$variable == "balloon") {
    return(balloon_at(fhat, points, balloon_bandwidths(fhat, points, run), run) / fhat$mass)
  }
  sample_point_at(fhat, list(points = scaled_columns(fhat, points)), run)
}

balloon_at <- function(fhat, points, h, run) {
  sample <- variable_sample(fhat)
  if (is.null(sample$data)) sample <- with_data(sample)
  values <- numeric(length(h))
  reached <- which(is.finite(h))
  if (length(reached) == 0L) return(values)
  check_varying_bandwidths(h[reached], ncol(points))
  points <- points[reached, , drop = FALSE]
  run <- as_asked(fhat, run)
  sums <- if (is_compact(fhat$kernel)) compact_sums(fhat, sample, h[reached], TRUE, list(points = points), run) else
    sums_by_point(sample, h[reached], points, run)
  values[reached] <- sums / nrow(sample$x)
  values
}

# Their squares, and densities of such kernels, must be within the range of numbers.
check_varying_bandwidths <- function(h, d) {
  if (all(h^2 >= .Machine$double.xmin & abs(max(d, 2) * log10(h)) < 300)) return(invisible())
  abort_input("`x` must be in units in which densities, in 1 / volume, are within the range of numbers; its ",
              "bandwidths are from ", format_short(min(h)), " to ", format_short(max(h)), ": rescale it.")
}

sample_point_at <- function(fhat, at, run) {
  sample <- scaled_sample(fhat)
  check_varying_bandwidths(sqrt(fhat$H), ncol(sample$x))
  h <- sqrt(fhat$H)
  run <- as_asked(fhat, run)
  sums <- if (is_compact(fhat$kernel)) {
    compact_sums(fhat, sample, h, FALSE, at, run)
  } else if (length(at$axes) > 1L && run$engine == "auto" && run$backend != "cuda") {
    variable_grid_cpp(sample$data, h, at$axes, run)
  } else {
    sums_by_sample(sample, h, at, run)
  }
  sums / (nrow(sample$x) * prod(fhat$scale))
}

# `at`: list(points = ) or list(axes = ). An object on a grid by the engine "scanline" has another one at points.
compact_sums <- function(fhat, sample, h, by_point, at, run) {
  if (is.null(at$axes) && run$engine == "scanline") run$engine <- "auto"
  points <- if (is.null(at$axes)) at$points else matrix(0, 0L, length(at$axes))
  axes <- if (is.null(at$axes)) list() else at$axes
  refused_in_words(variable_compact_cpp(sample$data, h, by_point, fhat$kernel, points, axes, run))
}

# The fields of an estimate that say how its sums were asked for.
how_computed <- c("engine", "backend", "precision")

# The run with these; objects from files may have none. The polynomials of Gaussian kernels need every digit.
as_asked <- function(fhat, run) {
  run$engine <- if (is.null(fhat$engine)) "auto" else fhat$engine
  run$backend <- if (is.null(fhat$backend)) "cpu" else fhat$backend
  run$precision <- if (is.null(fhat$precision) || !is_compact(fhat$kernel)) "double" else fhat$precision
  run
}

# By how much wider kernels smooth as much as the Gaussian one.
canonical_ratio <- function(kernel, d) reference_scale(1, d, kernel) / reference_scale(1, d, "gaussian")

# ---- Bandwidths ---------------------------------------------------------------------------------------------------

# The different derivatives of an order of a pilot estimate, a column for each.
pilot_derivatives <- function(sample, H, order, points, run) {
  pilot <- new_derivative(sample, H, order, FALSE)
  pilot$.sample <- sample$data
  run[c("engine", "backend")] <- c("auto", "cpu")
  derivatives_of(pilot, task_at_points(pilot, points), run)$values
}

# Chacon & Duong (2018, section 4.1). Infinite where the Laplacian is zero, or the density is.
balloon_bandwidths <- function(fhat, points, run) {
  sample <- variable_sample(fhat)
  if (is.null(sample$data)) sample <- with_data(sample)
  d <- ncol(points)
  f <- pilot_derivatives(sample, fhat$pilot, 0L, points, run)[, 1L]
  second <- pilot_derivatives(sample, fhat$pilot, 2L, points, run)
  laplacian <- rowSums(second[, vech(diag(d)) == 1, drop = FALSE])
  h <- (d * (f / laplacian) / laplacian / ((4 * pi)^(d / 2) * fhat$n_eff))^(1 / (d + 4))
  h[is.na(h)] <- Inf
  h * canonical_ratio(fhat$kernel, d)
}

# Abramson's, in units of the scale: see the help of kde.sp().
sample_bandwidths <- function(fhat, run) {
  sample <- scaled_sample(fhat)
  d <- ncol(sample$x)
  H <- fhat$pilot / outer(fhat$scale, fhat$scale)
  of <- lapply(0:4, function(order) pilot_derivatives(sample, H, order, sample$x, run))
  f <- of[[1L]][, 1L]
  bias <- reciprocal_bilaplacian(of, d)
  h <- (8 * d * f^(1 + d / 2) / bias / bias / ((4 * pi)^(d / 2) * fhat$n_eff))^(1 / (d + 8)) / sqrt(f)
  usable <- is.finite(h) & h > 0
  if (!any(usable)) abort_input("`hs` must be given: the pilot estimate has no bandwidth for any observation.")
  h[!usable] <- max(h[usable])
  h * canonical_ratio(fhat$kernel, d)
}

# The Laplacian of the Laplacian of 1 / f, from the derivatives of f of orders 0 to 4. With g = D f, S = D^2 f, l the
# Laplacian of f: 24 |g|^4 / f^5 - (12 |g|^2 l + 24 g'S g) / f^4 + (2 l^2 + 4 |S|^2 + 8 g'D l) / f^3 - D^2 l / f^2.
reciprocal_bilaplacian <- function(of, d) {
  column <- function(...) {
    variables <- c(...)
    of[[length(variables) + 1L]][, tuple_positions(matrix(sort(variables), 1L), d)]
  }
  sum_over <- function(term) Reduce(`+`, lapply(seq_len(d), term))
  f <- of[[1L]][, 1L]
  slope <- sum_over(function(i) column(i)^2)
  laplacian <- sum_over(function(i) column(i, i))
  along <- sum_over(function(i) sum_over(function(j) column(i) * column(i, j) * column(j)))
  squares <- sum_over(function(i) sum_over(function(j) column(i, j)^2))
  rising <- sum_over(function(i) column(i) * sum_over(function(j) column(i, j, j)))
  fourth <- sum_over(function(i) sum_over(function(j) column(i, i, j, j)))
  24 * (slope / f)^2 / f^3 - (12 * slope * laplacian + 24 * along) / f^4 +
    (2 * laplacian^2 + 4 * squares + 8 * rising) / f^3 - fourth / f^2
}
