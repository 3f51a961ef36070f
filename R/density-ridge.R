# Ridges of a density: points climb to them across, but not along.

#' Ridges of a density
#'
#' Moves points to the ridges of the kernel density estimate with the Gaussian kernel, by the mean shift of a subspace
#' (Ozertem & Erdogmus 2011). A ridge of dimension p is where the gradient has no part in the d - p eigenvectors of the
#' Hessian matrix that belong to its smallest eigenvalues, and these are negative. For p = 1 ridges are curves, such as
#' filaments.
#'
#' A step is that of [kms()] to the weighted mean of the observations, within the subspace of these d - p eigenvectors.
#' All observations are summed in every step, and each point ends when its own step is at most `tol.iter`. With
#' `pre = TRUE` eigenvectors are those of the data divided by their standard deviations. Points where the density is
#' below `density.cutoff` are left out, and for p = 1 also points that end in groups of at most `min.seg.size`, linked
#' by distances of a hundredth of the largest interquartile range.
#'
#' Segments are clusters of end points by single linkage. Their number is `k`, or else the one from 2 to `kmax` with the
#' largest index of Calinski & Harabasz (1974). In a segment each point is followed by the nearest that is left.
#'
#' \pkg{ks} interpolates the Hessian matrix in a grid, ignores `w`, takes a given `H` for that of scaled data, and lets
#' all points move until the last has arrived. It projects the step of [kms()] on the eigenvectors. Unless H is a
#' multiple of the identity matrix, this ends beside the ridge, because that step is H times the gradient.
#'
#' @inheritParams kms
#' @param x a matrix or data frame with two or three columns; for `kdr.segment()` and the methods a result of `kdr()`.
#' @param y the points to move, a matrix or data frame with the columns of `x`; those of a grid if not given.
#' @param H the bandwidth matrix, in the units of `x`; \code{\link{Hpi}()} with `deriv.order = 2` if not given.
#' @param p the dimension of the ridge, 1 to d - 1.
#' @param tol.iter a step so short is the last, in units of the columns' standard deviations if `pre`; by default a
#'   thousandth of the least interquartile range.
#' @param segment whether to make segments.
#' @param k,kmax the number of segments, or the largest number that is tried.
#' @param min.seg.size segments of so few points are left out; by default a thousandth of the number of rows of `y`.
#' @param gridsize,xmin,xmax the grid of `y`, as in [kde()]; 3.7 standard deviations of the kernel beyond the data.
#' @param binned,bgridsize accepted for scripts written for \pkg{ks}, without effect: the sums are exact.
#' @param fhat an estimate of the density of `x`; [kde()] of `x` if not given.
#' @param density.cutoff the least density of a point of `y`; the level of the contour of 99 % if not given.
#' @param pre TRUE to take eigenvectors in units of the standard deviations of the columns.
#' @param object a result of `kdr()`.
#' @param row.names,optional not used; arguments of the generic.
#' @param type `"p"` for points, or `"l"` for a line for each segment.
#' @param add TRUE to add to a plot of two variables.
#' @param col colours of the segments.
#' @param pch,cex symbols and their size.
#' @return `kdr()` and `kdr.segment()`: an object of class `c("kestrel_kdr", "kdr")`, a list with
#'   \item{x, H, names, w}{the observations, the bandwidth matrix, the names of the columns, and the weights}
#'   \item{y}{the points before they moved, in the order of `end.points`}
#'   \item{end.points}{a data frame with a row for each point, and its `segment`}
#'   \item{p, tol.iter, min.seg.size, k}{as used; `k` is the number of clusters, before small ones were left out}
#'   \item{steps}{the number of steps of each point}
#'   \item{path}{with `keep.path`, a list with the steps of each point}
#'   \item{binned, type, na.action, call, seconds}{as in [kde()]}
#'   `as.data.frame()` returns the end points. The other methods return their argument invisibly.
#' @section Units: Those of the variables.
#' @section Errors: Errors of class `kestrel_error_input` are those of [kms()], for other numbers of columns than two
#'   and three, for p below 1 and above d - 1, and if no point of `y` has a density above the cutoff. In three
#'   dimensions they are also for an `H` whose eigenvalues, in the units of `pre`, have a ratio above 1e12. A warning of
#'   class `kestrel_warning_search` counts points that were still moving after `max.iter` steps.
#' @section Cost: O(n m) a step, m the points that still move, on all threads, and in three dimensions the eigenvectors
#'   of m matrices in R. Segments take O(m^2) time and O(m) memory.
#' @references Calinski, T. & Harabasz, J. (1974) A dendrite method for cluster analysis. *Communications in Statistics*
#'   **3**, 1-27.
#'
#'   Ozertem, U. & Erdogmus, D. (2011) Locally defined principal curves and surfaces. *Journal of Machine Learning
#'   Research* **12**, 1249-1286.
#' @seealso [kms()], [kdde()]
#' @examples
#' ridge <- kdr(faithful, gridsize = c(21, 21))
#' ridge
#' plot(faithful, col = "grey")
#' plot(ridge, add = TRUE)
#' @export
kdr <- function(x, y, H, p = 1, max.iter = 400, tol.iter, segment = TRUE, k, kmax, min.seg.size, keep.path = FALSE,
                gridsize, xmin, xmax, binned, bgridsize, w, fhat, density.cutoff, pre = TRUE, verbose = NULL, ...,
                na.action = stats::na.fail, threads = NULL) {
  check_arguments("kdr", given_names(...), "binned")
  started <- proc.time()[["elapsed"]]
  flags <- list(segment = check_flag(segment, "segment"), path = check_flag(keep.path, "keep.path"),
                pre = check_flag(pre, "pre"))
  verbose <- asked_verbose(verbose)
  grid <- given_grid(supp = 3.7, streamed = FALSE)
  asked <- check_segments(if (!missing(k)) k, if (!missing(kmax)) kmax, if (!missing(min.seg.size)) min.seg.size)
  sample <- check_sample(x, if (!missing(w)) w, na.action)
  d <- ncol(sample$x)
  if (!d %in% 2:3) abort_input("`x` must have two or three columns for kdr(), not ", d, ".")
  asked <- c(asked, p = check_count(p, "p"), most = check_count(max.iter, "max.iter"),
             tol = if (!missing(tol.iter)) check_positive(tol.iter, "tol.iter"),
             cutoff = if (!missing(density.cutoff)) check_positive(density.cutoff, "density.cutoff"))
  if (asked$p >= d) abort_input("`p` must be below the number of columns of `x`, ", d, ", not ", asked$p, ".")
  points <- if (!missing(y)) check_points(in_order_of(y, sample$names, "y"), d, "y")
  if (is.null(points)) grid <- check_grid(grid, d)
  run <- run_options(threads)
  line <- with_data(sample)
  H <- unname(derivative_bandwidth(list(H = if (!missing(H)) H), line, 2L, run, verbose))
  if (is.null(points)) points <- as.matrix(grid_points(grid_axes(grid_limits(sample$x, H, grid), grid)$axes))
  if (is.null(asked$least)) asked$least <- round(0.001 * nrow(points))
  density <- if (missing(fhat)) kde(sample$x, w = sample$w, verbose = verbose, threads = threads) else
    check_estimate(fhat)
  points <- points_above(unname(points), density, asked$cutoff, run)
  unit <- if (flags$pre) sqrt(unname(diag(with_covariance(line)$cov))) else rep(1, d)
  scaled <- list(x = sample$x / rep(unit, each = nrow(sample$x)), w = sample$w, names = sample$names)
  H_scaled <- H / outer(unit, unit)
  if (d == 3L) check_digits_of_ridges(H_scaled, flags$pre)
  if (is.null(asked$tol)) asked$tol <- 1e-3 * min(apply(scaled$x, 2L, stats::IQR), 1e3 * min(sqrt(diag(H)) / unit))
  found <- with_progress(verbose, "Density ridges", function(progress) {
    ascend(new_derivative(with_data(scaled), H_scaled, 2L, FALSE), points / rep(unit, each = nrow(points)),
           asked, flags$path, c(run, progress = progress))
  })
  made <- list(x = sample$x, y = points, end.points = found$end * rep(unit, each = nrow(points)), H = H, p = asked$p,
               tol.iter = asked$tol, min.seg.size = asked$least, names = sample$names, w = sample$w,
               steps = found$steps, binned = FALSE, type = "kdr")
  if (flags$path) made$path <- lapply(found$path, function(at) at * rep(unit, each = nrow(at)))
  if (asked$p == 1L) made <- without_strays(made, widest_iqr(sample$x, run) / 100)
  made <- if (flags$segment) in_segments(made, asked) else in_segments(made, replace(asked, "k", 1L), sorted = FALSE)
  made$na.action <- sample$na.action
  structure(c(made, list(call = match.call(), seconds = proc.time()[["elapsed"]] - started)),
            class = c("kestrel_kdr", "kdr"))
}

# The Hessian matrix is about as ill-conditioned as H, and eigen() finds the vectors of its small eigenvalues with
# errors in proportion to the largest.
check_digits_of_ridges <- function(H, pre) {
  values <- eigen(H, symmetric = TRUE, only.values = TRUE)$values
  ratio <- values[1L] / max(values[3L], 0)
  if (ratio <= 1e12) return(invisible())
  abort_input("`H` must have eigenvalues with a ratio of at most 1e12 in three dimensions, not ", format_short(ratio),
              if (!pre) ": use `pre = TRUE` or rescale `x`", ".")
}

# The points with a density above the cutoff.
points_above <- function(points, density, cutoff, run) {
  if (dimension(density) != ncol(points)) {
    abort_input("`fhat` must be an estimate in ", ncol(points), " dimensions, not ", dimension(density), ".")
  }
  if (is.null(cutoff)) cutoff <- contour_levels(density, 0.01, TRUE, run)
  above <- density_at(density, points, run) > cutoff
  if (any(above)) return(points[above, , drop = FALSE])
  abort_input("`y` must have points where the density is above `density.cutoff`, ", format_short(unname(cutoff)), ".")
}

# The points after their steps, until these are shorter than the tolerance.
ascend <- function(fhat, points, asked, keep, run) {
  root <- bandwidth_root(fhat)
  steps <- integer(nrow(points))
  path <- if (keep) lapply(seq_len(nrow(points)), function(i) points[i, , drop = FALSE])
  moving <- seq_len(nrow(points))
  for (step in seq_len(asked$most)) {
    shift <- ridge_shift(fhat, points[moving, , drop = FALSE], root, asked$p, run)
    points[moving, ] <- points[moving, ] + shift
    steps[moving] <- step
    if (keep) for (i in moving) path[[i]] <- rbind(path[[i]], points[i, ])
    moving <- moving[sqrt(rowSums(shift^2)) > asked$tol]
    if (length(moving) == 0L) break
  }
  warn_moving(length(moving), nrow(points), asked$most)
  list(end = points, steps = steps, path = path)
}

# The step to the weighted mean within the subspace U of the eigenvectors of the Hessian matrix with the smallest
# eigenvalues (Ozertem & Erdogmus 2011, table 3), U (U' H^-1 U)^-1 U' g with g = D f / f: it does not go downhill, and
# ends where U' g is zero. With the sums S_k of moments_cpp() in units of L, H = L L', g is -L^-T S_1 / S_0, and the
# Hessian matrix is a multiple of L^-T (S_2 / S_0 - I) L^-1.
ridge_shift <- function(fhat, points, root, p, run) {
  d <- ncol(points)
  sums <- moments_cpp(task_at_points(fhat, points), 2L, run)
  check_reached(sum(sums[, 1L] == 0), nrow(points))
  inverse <- forwardsolve(root, diag(d))
  slope <- -(sums[, 1L + seq_len(d), drop = FALSE] / sums[, 1L]) %*% inverse
  second <- sums[, -seq_len(d + 1L), drop = FALSE] / sums[, 1L]
  # vech(L^-T M L^-1) for every row, as a linear map of vech(M).
  map <- vapply(seq_len(ncol(second)), function(t) {
    vech(crossprod(inverse, invvech(1 * (seq_len(ncol(second)) == t))) %*% inverse)
  }, numeric(ncol(second)))
  hessian <- (second - rep(vech(diag(d)), each = nrow(points))) %*% t(map)
  if (d == 2L) return(across_in_plane(hessian, slope, inverse))
  across <- vapply(seq_len(nrow(points)), function(i) {
    if (i %% 1000L == 0L) heard()
    vectors <- eigen(invvech(hessian[i, ]), symmetric = TRUE)$vectors[, (p + 1L):d, drop = FALSE]
    drop(vectors %*% solve(crossprod(inverse %*% vectors), crossprod(vectors, slope[i, ])))
  }, numeric(d))
  t(across)
}

# In two dimensions. For the matrix (a, b; b, c) the eigenvector of the larger eigenvalue has half the angle of
# (a - c, 2 b), and the other one is at a right angle to it.
across_in_plane <- function(hessian, slope, inverse) {
  angle <- atan2(2 * hessian[, 2L], hessian[, 1L] - hessian[, 3L]) / 2 + pi / 2
  direction <- cbind(cos(angle), sin(angle))
  direction * (rowSums(direction * slope) / rowSums((direction %*% t(inverse))^2))
}

#' @rdname kdr
#' @export
print.kestrel_kdr <- function(x, ...) {
  check_object(x, "x", "kestrel_kdr")
  sizes <- tabulate(x$end.points$segment)
  cat(c(paste0("Ridges of dimension ", x$p, " of a density, d = ", length(x$names)), call_lines(x$call),
        label_line("n", format(length(x$w), big.mark = ",")), label_line("variables", paste(x$names, collapse = ", ")),
        matrix_lines(x$H), label_line("points", format(nrow(x$end.points), big.mark = ",")),
        label_line("segments", paste(format(utils::head(sizes, 20L), big.mark = ",", trim = TRUE), collapse = ", ")),
        label_line("steps", paste(range(x$steps), collapse = " to "))), sep = "\n")
  invisible(x)
}

#' @rdname kdr
#' @export
summary.kestrel_kdr <- function(object, ...) print(object)

#' @rdname kdr
#' @export
as.data.frame.kestrel_kdr <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_kdr")
  x$end.points
}

#' @rdname kdr
#' @export
plot.kestrel_kdr <- function(x, ..., type = c("p", "l"), add = FALSE, col = NULL, pch = 16, cex = 0.6) {
  check_object(x, "x", "kestrel_kdr")
  type <- check_choice(type, c("p", "l"), "type")
  add <- check_flag(add, "add")
  look <- check_graphicals(list(col = col, pch = pch, cex = cex))
  more <- check_parameters(list(...))
  at <- x$end.points
  count <- max(at$segment)
  col <- rep(given_or(look$col, kind_colours(count)), length.out = count)
  if (length(x$names) > 2L) {
    if (add) abort_input("`add` must be FALSE for three variables.")
    drawing_with(more, do.call(graphics::pairs, c(list(at[x$names], col = col[at$segment], pch = look$pch,
                                                       cex = look$cex), more)))
    return(invisible(x))
  }
  if (add) check_plot_to_add_to() else empty_plot(at[[1L]], at[[2L]], more, xlab = x$names[1L], ylab = x$names[2L])
  drawing_with(more, for (one in seq_len(count)) {
    graphics::points(at[at$segment == one, 1:2], type = type, col = col[one], pch = look$pch, cex = look$cex)
  })
  invisible(x)
}
