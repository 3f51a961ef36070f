# Densities between bounds by kernels that change near them.

#' Kernel density estimate with boundary kernels
#'
#' The density of data between bounds, in one to three dimensions, by kernels that change near the bounds: beta kernels,
#' which have no mass beyond them, or linear boundary kernels. [kde()] with `bounds` is simpler, but has at a bound the
#' slope zero. These kernels follow the slope of the density there.
#'
#' @section Kernels:
#'   - `"beta"`, the second form of Chen (1999): at u between 0 and 1 the kernel is the beta density with the shapes u /
#'     b and (1 - u) / b, and shapes between 1 and 2 near the ends. Here b is H_kk over the squared distance of the
#'     bounds, so that h is at most half of this distance. The kernel is not negative. An observation on a bound counts
#'     there only.
#'   - `"linear"` (Jones 1993; Hazelton & Marshall 2009): the normal density times a linear function, for which the
#'     kernel integrates to one within the bounds and has mean zero there. Bounds may be infinite. Where a steep density
#'     is near zero at a bound, the estimate may be negative.
#'
#'   In several dimensions both are products of kernels for each variable, so that H is diagonal; a linear kernel is
#'   that product times a linear function of all variables. The sums do not quite integrate to one. They are divided by
#'   their integral between the bounds, the field `mass`, so that the estimate does, to 1e-12.
#' @section Bandwidth: If neither `H` nor `h` is given, one variable with beta kernels takes [hbeta()], and several take
#'   its closed form with the rate of their number, b^((d + 4) / 2) in place of b^(5/2). Linear boundary kernels take
#'   the default of [kde()] with `bounds`.
#' @inheritParams kde
#' @param x a numeric vector (d = 1), or a matrix or data frame with n rows and d columns, at most three.
#' @param H,h the bandwidth; a matrix must be diagonal.
#' @param xmin,xmax the bounds, one number for each column, which also limit the grid; those of the data if not given.
#'   With linear kernels they may be infinite.
#' @param supp how far the grid extends beyond the data where a bound is infinite, in units of sqrt(H_kk).
#' @param boundary.supp accepted for scripts written for \pkg{ks}, without effect: the kernels change wherever a bound
#'   is within reach.
#' @param boundary.kernel `"beta"` or `"linear"`.
#' @return An object of class `c("kestrel_bkde", "kde")`, a list with the fields of \pkg{ks}:
#'   \item{x, eval.points, estimate, h, H, gridtype, gridded, binned, names, w, type, cont}{as in [kde()]}
#'   and with \item{boundary.kernel, xmin, xmax}{the kernel, and the bounds}
#'   \item{mass}{what the sums were divided by}
#'   \item{n_eff, na.action, tol, call, seconds}{as in [kde()]}
#' @section Units: Densities are in 1 / volume.
#' @section Errors: Errors of class `kestrel_error_input` are those of [kde()], and
#'
#'   - for more than three columns, and a matrix that is not diagonal;
#'   - for data beyond the bounds, which are counted, and for bounds that leave no room;
#'   - with beta kernels for infinite bounds, and for a bandwidth above half of their distance or below 1e-7 of it;
#'   - with linear kernels for a bandwidth above 1e6 times the distance of the bounds.
#' @section Cost: With linear kernels the estimate takes d + 1 sums that cost as much as [kde()] at as many points. With
#'   beta kernels it takes O(n + m) for m points in one dimension. The observations are moved to 20 points of each cell,
#'   which is a few standard deviations of a kernel wide. There they give the same sums to 1e-13. In several
#'   dimensions these are 20^d points, and moving an observation takes 0.02 microseconds in one dimension, 0.5 in two
#'   and 10 in three. All kernels are computed where that takes less time: O(n m) for m points, or O(n m) additions and
#'   O(n (m_1 + ... + m_d)) kernels for a grid.
#' @references Chen, S.X. (1999) Beta kernel estimators for density functions. *Computational Statistics & Data
#'   Analysis* **31**, 131-145.
#'
#'   Hazelton, M.L. & Marshall, J.C. (2009) Linear boundary kernels for bivariate density estimation. *Statistics &
#'   Probability Letters* **79**, 999-1003.
#'
#'   Jones, M.C. (1993) Simple boundary correction for kernel density estimation. *Statistics and Computing* **3**,
#'   135-146.
#' @seealso [kde()] with `bounds`, [hbeta()], [kde.truncate()], and the [methods][kestrel_bkde-methods]
#' @examples
#' set.seed(1)
#' x <- rbeta(500, 1, 3)
#' fhat <- kde.boundary(x, xmin = 0, xmax = 1)
#' fhat
#' plot(fhat)
#' predict(fhat, c(0, 0.1))
#'
#' # a bound on one side
#' kde.boundary(rexp(500), xmin = 0, xmax = Inf, boundary.kernel = "linear")
#' @export
kde.boundary <- function(x, H, h, gridsize, gridtype, xmin, xmax, supp = 3.7, eval.points, binned, bgridsize, w,
                         compute.cont = TRUE, approx.cont = TRUE, boundary.supp, boundary.kernel = "beta",
                         verbose = NULL, ..., na.action = stats::na.fail, threads = NULL) {
  check_arguments("kde.boundary", given_names(...), c("binned", "boundary.supp"))
  started <- proc.time()[["elapsed"]]
  flags <- list(cont = check_flag(compute.cont, "compute.cont"), approx = check_flag(approx.cont, "approx.cont"))
  kernel <- check_choice(boundary.kernel, c("beta", "linear"), "boundary.kernel")
  verbose <- asked_verbose(verbose)
  run <- run_options(threads)
  sample <- check_sample(x, if (!missing(w)) w, na.action)
  d <- ncol(sample$x)
  if (d > most_on_grids) {
    abort_input("`x` must have at most ", most_on_grids, " columns for boundary kernels, not ", d, ".")
  }
  given <- list(H = if (!missing(H)) H, h = if (!missing(h)) h)
  bounds <- boundary_limits(sample, if (!missing(xmin)) xmin, if (!missing(xmax)) xmax, kernel == "beta")
  grid <- given_grid(supp = supp, streamed = FALSE)
  points <- if (!missing(eval.points)) in_order_of(eval.points, sample$names, "eval.points")
  # Its limits are the bounds.
  if (is.null(points)) grid <- check_grid(grid[setdiff(names(grid), c("xmin", "xmax"))], d) else
    check_points(points, d, "eval.points")
  fhat <- new_boundary_density(with_data(sample), kernel, bounds)
  fhat$H <- boundary_bandwidth(fhat, given, run, verbose)
  if (d == 1L) fhat$h <- sqrt(fhat$H)
  fhat <- with_progress(verbose, "Density with boundary kernels", function(progress) {
    run <- c(run, progress = progress)
    fhat$mass <- if (kernel == "beta") beta_mass(fhat) else linear_mass(fhat)
    if (fhat$mass == 0) {
      abort_input("`x` must have an observation between the bounds for beta kernels, since those on a bound have no ",
                  "mass.")
    }
    fhat <- if (is.null(points)) boundary_on_grid(fhat, grid, run) else own_at_points(fhat, points, run)
    if (flags$cont && fhat$gridded) fhat$cont <- contour_levels(plain_density(fhat), (99:1) / 100, flags$approx, run)
    fhat
  })
  fhat$.sample <- NULL
  fhat$na.action <- sample$na.action
  fhat$call <- match.call()
  fhat$seconds <- proc.time()[["elapsed"]] - started
  fhat
}

# The bounds of each variable, those of the data where none are given.
boundary_limits <- function(sample, xmin, xmax, finite) {
  d <- ncol(sample$x)
  ranges <- ranges_cpp(sample$x)
  one <- function(value, of_data, name) {
    if (is.null(value)) return(of_data)
    value <- plain(value)
    if (!is_numbers(value) || !length(value) %in% c(1L, d) || anyNA(value) || finite && any(is.infinite(value))) {
      abort_input("`", name, "` must be ", if (d > 1L) paste(d, "numbers, one for each column of `x`") else "a number",
                  if (finite) ", finite for beta kernels", ", not ", describe_value(value), ".")
    }
    rep(as.numeric(value), length.out = d)
  }
  lower <- one(xmin, ranges[1L, ], "xmin")
  upper <- one(xmax, ranges[2L, ], "xmax")
  bounds <- check_room(cbind(lower, upper), sample$names, "`xmin` and `xmax`")
  check_within(sample$x, bounds, "`xmin` and `xmax`")
  list(lower = lower, upper = upper)
}

# An object without an estimate.
new_boundary_density <- function(sample, kernel, bounds) {
  frame <- unclass(gaussian_density(sample, diag(ncol(sample$x))))
  kept <- frame[c("x", "eval.points", "estimate", "gridtype", "gridded", "binned", "names", "w", "type", "cont")]
  fhat <- c(kept, list(H = NULL, boundary.kernel = kernel, xmin = bounds$lower, xmax = bounds$upper, mass = 1,
                       n_eff = frame$n_eff, tol = frame$tol))
  fhat$.sample <- sample
  structure(fhat, class = c("kestrel_bkde", "kde"))
}

# H as given or selected; a number for one variable.
boundary_bandwidth <- function(fhat, given, run, verbose) {
  sample <- fhat$.sample
  d <- ncol(sample$x)
  beta <- fhat$boundary.kernel == "beta"
  H <- check_bandwidth(given, d, FALSE)
  if (!is.null(H) && !is_diagonal(H)) abort_input("`H` must be diagonal, as boundary kernels are products.")
  width <- fhat$xmax - fhat$xmin
  if (is.null(H) && beta) {
    inform_weighted(fhat$w)
    n <- with_covariance(sample)$n
    b <- vapply(seq_len(d), function(k) {
      beta_reference((sample$x[, k] - fhat$xmin[k]) / width[k], sample$w, n, d)
    }, 0)
    H <- diag(b * width^2, d)
  }
  if (is.null(H)) {
    transform <- list(type = "images", lower = fhat$xmin, upper = fhat$xmax, period = numeric(d))
    H <- resolve_bandwidth(list(), sample, "gaussian", TRUE, selecting(c(run, engine = "auto"), d), verbose,
                           transform = if (any(is_bounded(transform))) transform)$H
  }
  if (!beta && any(sqrt(diag(H)) > 1e6 * width)) {
    abort_input("`xmin` and `xmax` must be at least 1e-6 bandwidths apart for linear kernels.")
  }
  # Narrower kernels would lose their digits on the unit interval.
  if (beta && any(sqrt(diag(H)) < 1e-7 * width)) {
    abort_input("`xmin` and `xmax` must be at most 1e7 bandwidths apart for beta kernels.")
  }
  wide <- which(sqrt(diag(H)) > sqrt(largest_b) * width * (1 + 1e-12))
  if (beta && length(wide) > 0L) {
    abort_input("`", if (is.null(given$H)) "h" else "H", "` must be a bandwidth of at most half of `xmax` - `xmin`, ",
                describe_value(width[wide[1L]] / 2), ", for beta kernels, not ",
                describe_value(sqrt(H[wide[1L], wide[1L]])), ".")
  }
  if (d == 1L) H[1L, 1L] else H
}

bounded_h <- function(fhat) sqrt(diag(as.matrix(fhat$H)))

bounded_sample <- function(fhat) {
  if (!is.null(fhat$.sample)) return(fhat$.sample)
  with_data(list(x = sample_matrix(fhat), w = fhat$w, names = fhat$names))
}

boundary_on_grid <- function(fhat, grid, run) {
  margin <- grid$supp * bounded_h(fhat)
  ranges <- ranges_cpp(fhat$x)
  lower <- ifelse(is.finite(fhat$xmin), fhat$xmin, ranges[1L, ] - margin)
  upper <- ifelse(is.finite(fhat$xmax), fhat$xmax, ranges[2L, ] + margin)
  made <- grid_axes(list(lower = lower, upper = upper), grid)
  # Steps that add up may exceed a bound by rounding.
  axes <- lapply(seq_along(made$axes), function(k) pmin(made$axes[[k]], fhat$xmax[k]))
  values <- boundary_values(fhat, list(axes = axes), run)
  fhat$eval.points <- if (length(axes) == 1L) axes[[1L]] else axes
  fhat$estimate <- on_axes(values, axes)
  fhat$gridtype <- made$gridtype
  fhat$gridded <- TRUE
  fhat
}

own_at_points <- function(fhat, points, run) {
  checked <- check_points(points, length(fhat$names), "eval.points")
  fhat$eval.points <- points
  fhat$gridded <- FALSE
  fhat$estimate <- own_density_at(fhat, checked, run)
  fhat
}

# Within the bounds.
boundary_values <- function(fhat, at, run) {
  (if (fhat$boundary.kernel == "beta") beta_sums(fhat, at, run) else linear_sums(fhat, at, run)) / fhat$mass
}

# The estimate at the rows of a matrix; 0 beyond the bounds.
boundary_density_at <- function(fhat, points, run) {
  points <- unname(points)
  inside <- rowSums(points < rep(fhat$xmin, each = nrow(points)) | points > rep(fhat$xmax, each = nrow(points))) == 0
  value <- numeric(nrow(points))
  if (any(inside)) value[inside] <- boundary_values(fhat, list(points = points[inside, , drop = FALSE]), run)
  value
}
