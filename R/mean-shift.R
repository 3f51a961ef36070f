# Clusters by mean shift: every point climbs to a mode of the density.

#' Clusters by mean shift
#'
#' Every point moves uphill on the kernel density estimate with the Gaussian kernel, to a mode. Points that reach the
#' same mode are a cluster. A step goes to the mean of the observations, weighted by their kernels at the point
#' (Fukunaga & Hostetler 1975; Comaniciu & Meer 2002).
#'
#' Every step sums all observations, without binning. Near a mode, where the Hessian matrix is negative
#' definite, steps are those of Newton's method, so that points arrive at the mode to `tol.iter` and do not stop on
#' their way. \pkg{ks} stops where a step is short, and may give points on the way to one mode labels of their own.
#'
#' End points that are linked by distances of at most `tol.clust` are one cluster. Clusters of fewer points than
#' `min.clust.size` are merged with the one whose mode is nearest. Labels are in the order of the sizes of the clusters,
#' the largest first.
#'
#' @inheritParams kdde
#' @param y the points to move, a matrix or data frame with the columns of `x`; the observations by default.
#' @param max.iter the most steps of a point.
#' @param tol.iter a step so short, in the units of `x`, is the last; 1e-6 times the least of the standard deviations of
#'   the kernel by default.
#' @param tol.clust the distance that links two end points; by default a hundredth of the largest interquartile range of
#'   the columns of `x`, as in \pkg{ks}.
#' @param min.clust.size the size below which a cluster is merged, 1 % of the points by default.
#' @param merge FALSE to keep small clusters.
#' @param keep.path whether to keep the steps of each point.
#' @return An object of class `c("kestrel_kms", "kms")`, a list with
#'   \item{x, y, H, names, w}{the observations, the points as given, the bandwidth matrix, the names of the columns, and
#'     the weights}
#'   \item{end.points}{where the points have ended, a row for each}
#'   \item{label}{the cluster of each point}
#'   \item{nclust, nclust.table}{the number of clusters and their sizes}
#'   \item{mode}{the modes, a row for each cluster: the mean of its end points, before clusters were merged}
#'   \item{tol.iter, tol.clust, min.clust.size}{as used}
#'   \item{path}{with `keep.path`, a list with a matrix for each point, its steps from the first on}
#'   \item{steps}{the number of steps of each point}
#'   \item{na.action, call, seconds}{as in [kde()]}
#' @section Errors: Errors of class `kestrel_error_input` are those of [kdde()], for points of `y` that no observation
#'   reaches (38 bandwidths), and for tolerances that are not positive. A warning of class `kestrel_warning_search`
#'   counts points that were still moving after `max.iter` steps.
#' @section Accuracy: Steps are exact to 1e-12 of a bandwidth if they are summed pair by pair. If observations times
#'   points are a million or more in one or two variables, or four million in three, the density and its derivatives
#'   are read off grids, and steps are exact to 1e-7 of a bandwidth. Where the density is below 1e-6 of its maximum
#'   they are summed pair by pair again. The same bits for every number of threads.
#' @section Cost: Mostly 10 to 100 steps for each point. In one to three variables O(n + N log N) to make grids of N
#'   cells, some for each bandwidth, and O(m) a step, for the points that still move. Otherwise O(n m d^2) a step. All
#'   threads are used. The memory is O(n + m), and the grids: at most 1 GB.
#' @references Comaniciu, D. & Meer, P. (2002) Mean shift: a robust approach toward feature space analysis. *IEEE
#'   Transactions on Pattern Analysis and Machine Intelligence* **24**, 603-619.
#'
#'   Fukunaga, K. & Hostetler, L. (1975) The estimation of the gradient of a density function, with applications in
#'   pattern recognition. *IEEE Transactions on Information Theory* **21**, 32-40.
#' @seealso [kdde()], \code{\link{Hpi}()}, whose `deriv.order = 1` is the default
#' @examples
#' clusters <- kms(faithful)
#' clusters
#' plot(clusters)
#' @export
kms <- function(x, y, H, max.iter = 400, tol.iter, tol.clust, min.clust.size, merge = TRUE, keep.path = FALSE,
                verbose = NULL, ..., w = NULL, na.action = stats::na.fail, threads = NULL) {
  check_arguments("kms", given_names(...))
  started <- proc.time()[["elapsed"]]
  verbose <- asked_verbose(verbose)
  most <- check_count(max.iter, "max.iter")
  merge <- check_flag(merge, "merge")
  keep <- check_flag(keep.path, "keep.path")
  sample <- check_sample(x, w, na.action)
  d <- ncol(sample$x)
  check_columns(sample$x)
  points <- if (missing(y)) sample$x else check_points(in_order_of(y, sample$names, "y"), d, "y")
  if (nrow(points) == 0L) abort_input("`y` must have at least one point, not 0.")
  sizes <- list(iter = if (!missing(tol.iter)) check_positive(tol.iter, "tol.iter"),
                clust = if (!missing(tol.clust)) check_positive(tol.clust, "tol.clust"),
                least = if (missing(min.clust.size)) round(0.01 * nrow(points)) else
                  check_count(min.clust.size, "min.clust.size", 0L))
  line <- with_data(list(x = sample$x, w = sample$w, names = sample$names))
  run <- run_options(threads)
  H <- derivative_bandwidth(list(H = if (!missing(H)) H), line, 1L, run, verbose)
  fhat <- new_derivative(sample, unname(H), 1L, FALSE)
  fhat$.sample <- line$data
  if (is.null(sizes$iter)) sizes$iter <- 1e-6 * min(sqrt(diag(as.matrix(H))))
  if (is.null(sizes$clust)) sizes$clust <- widest_iqr(sample$x, run) / 100
  found <- with_progress(verbose, "Mean shift", function(progress) {
    climb(fhat, unname(points), sizes$iter, most, keep, c(run, progress = progress))
  })
  warn_moving(found$moving, nrow(points), most)
  label <- linked_labels(found$end, sizes$clust)
  clusters <- clusters_of(found$end, label, if (merge) sizes$least else 0)
  dimnames(clusters$mode) <- list(NULL, colnames(sample$x))
  made <- list(x = if (d > 1L) sample$x else as.vector(sample$x), y = points, end.points = found$end,
               H = if (d > 1L) H else H[1L, 1L],
               label = clusters$label, nclust = nrow(clusters$mode), nclust.table = table(clusters$label, dnn = NULL),
               mode = clusters$mode, tol.iter = sizes$iter, tol.clust = sizes$clust, min.clust.size = sizes$least,
               names = sample$names, w = sample$w, steps = found$steps)
  if (keep) made$path <- found$path
  made$na.action <- sample$na.action
  structure(c(made, list(call = match.call(), seconds = proc.time()[["elapsed"]] - started)),
            class = c("kestrel_kms", "kms"))
}

# At least 1e-9 of the largest distance, so that data with many ties have a number, too.
widest_iqr <- function(x, run) {
  widths <- vapply(seq_len(ncol(x)), function(k) diff(unname(quantiles_cpp(x[, k], numeric(0), c(0.25, 0.75), run))), 0)
  max(widths, 1e-7 * diff(ranges_cpp(x)))
}

# The points after their steps, until these are shorter than `tolerance`. Steps of different points do not depend on
# each other.
climb <- function(fhat, points, tolerance, most, keep, run) {
  found <- mean_shift_cpp(task_at_points(fhat, points), tolerance, most, keep, run)
  check_reached(found$out_of_reach, nrow(points))
  found
}

warn_moving <- function(moving, count, most) {
  if (moving == 0L) return(invisible())
  warn_search(moving, " of ", count, " points ", if (moving == 1L) "was" else "were", " still moving after ", most,
              " steps: `max.iter` allows more.")
}

check_reached <- function(out_of_reach, count) {
  if (out_of_reach == 0) return(invisible())
  abort_input("`y` must be points within reach of the observations, 38 bandwidths, but ", out_of_reach, " of ", count,
              " are not.")
}

# Labels of points that are linked by distances of at most `tolerance`, in units of the extent of all points, so that no
# square overflows.
linked_labels <- function(points, tolerance) {
  lowest <- apply(points, 2L, min)
  half <- points / 2 - rep(lowest / 2, each = nrow(points))
  extent <- max(half)
  if (extent == 0) return(rep(1L, nrow(points)))
  at <- half / extent
  tolerance <- max(tolerance / 2 / extent, 1e-300)
  # Points in one cell are at most half the tolerance apart.
  key <- do.call(paste, as.data.frame(floor(at / (tolerance / (2 * sqrt(ncol(points)))))))
  first <- which(!duplicated(key))
  cell <- match(key, key[first])
  if (length(first) == 1L) return(cell)
  distances <- stats::dist(at[first, , drop = FALSE])
  label <- stats::cutree(stats::hclust(distances, "single"), h = tolerance)
  # If the first points of two cells are too far apart, others may not be.
  near <- which(as.matrix(distances) <= 2 * tolerance, arr.ind = TRUE)
  for (k in which(near[, 1L] < near[, 2L])) {
    both <- label[near[k, ]]
    if (both[1L] == both[2L]) next
    a <- at[cell == near[k, 1L], , drop = FALSE]
    b <- at[cell == near[k, 2L], , drop = FALSE]
    gaps <- vapply(seq_len(nrow(a)), function(i) min(rowSums((b - rep(a[i, ], each = nrow(b)))^2)), 0)
    if (min(gaps) <= tolerance^2) label[label == both[2L]] <- both[1L]
  }
  match(label, unique(label))[cell]
}

# Labels by size, and the modes. Clusters below `least` join the one with the nearest mode.
clusters_of <- function(points, label, least) {
  sizes <- tabulate(label)
  mode <- rowsum(points, label) / sizes
  large <- which(sizes >= min(least, max(sizes)))
  joined <- vapply(seq_along(sizes), function(k) {
    if (k %in% large) return(k)
    large[which.min(rowSums((mode[large, , drop = FALSE] - rep(mode[k, ], each = length(large)))^2))]
  }, 0L)
  label <- joined[label]
  by_size <- order(-tabulate(label, length(sizes)))[seq_along(large)]
  list(label = match(label, by_size), mode = unname(mode[by_size, , drop = FALSE]))
}

#' @rdname kms
#' @export
print.kestrel_kms <- function(x, ...) {
  check_object(x, "x", "kestrel_kms")
  cat(c(paste0("Clusters by mean shift, d = ", length(x$names)), call_lines(x$call),
        label_line("n", format(nrow(x$y), big.mark = ",")), label_line("variables", paste(x$names, collapse = ", ")),
        if (length(x$names) == 1L) label_line("bandwidth", paste0("h = ", format_short(sqrt(x$H)))) else
          matrix_lines(x$H),
        label_line("clusters", x$nclust),
        vapply(seq_len(min(x$nclust, 20L)), function(k) {
          label_line("", paste0(k, ": ", format(x$nclust.table[[k]], big.mark = ","), " at ",
                                paste(format_short(x$mode[k, ]), collapse = ", ")))
        }, ""),
        if (x$nclust > 20L) label_line("", "..."),
        label_line("steps", paste(range(x$steps), collapse = " to "))), sep = "\n")
  invisible(x)
}

#' @rdname kms
#' @param object a result of `kms()`.
#' @export
summary.kestrel_kms <- function(object, ...) print(object)

#' @rdname kms
#' @param col the colours of the clusters.
#' @param pch,cex symbols and their size.
#' @export
plot.kestrel_kms <- function(x, ..., col = NULL, pch = 16, cex = 0.6) {
  check_object(x, "x", "kestrel_kms")
  look <- check_graphicals(list(col = col, pch = pch, cex = cex))
  more <- check_parameters(list(...))
  col <- given_or(look$col, kind_colours(x$nclust))
  col <- rep(col, length.out = x$nclust)
  d <- length(x$names)
  given <- list(col = col[x$label], pch = look$pch, cex = look$cex)
  drawing_with(more, {
    if (d == 1L) {
      do.call(graphics::plot, c(list(x$y[, 1L], x$label, xlab = x$names, ylab = "Cluster", yaxt = "n"), given, more))
      graphics::axis(2, seq_len(x$nclust))
    } else if (d == 2L) {
      do.call(graphics::plot, c(list(x$y[, 1L], x$y[, 2L], xlab = x$names[1L], ylab = x$names[2L]), given, more))
      graphics::points(x$mode[, 1L], x$mode[, 2L], pch = 3, cex = 2, lwd = 2, col = colours$data)
    } else {
      do.call(graphics::pairs, c(list(x$y, labels = x$names), given, more))
    }
  })
  invisible(x)
}
