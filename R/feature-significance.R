# Regions where the gradient or the curvature of a density is significant.

#' Significant features of a density
#'
#' Tests at every point whether the gradient (`deriv.order = 1`) or the curvature (`deriv.order = 2`) of the density is
#' zero, and marks where it is not (Duong, Cowling, Koch & Wand 2008). A region of significant curvature is one where
#' the Hessian matrix is negative definite, too: a significant modal region.
#'
#' With b the different derivatives of that order of the kernel estimate, and S its covariance for a density of 1, the
#' statistic is W = b' S^-1 b / f, f the density estimate with the same bandwidth. S has the elements
#' \deqn{n^{-1} \int D^{a} K_H D^{b} K_H.}{1/n times the integrals of D^a K_H D^b K_H.}
#' W is compared with the chi-squared distribution with as many degrees of freedom as there are derivatives. The
#' procedure of Hochberg (1988) takes all points that are tested together, so that the probability of any false region
#' is at most `signif.level`. Points beyond the region of highest density that holds 99 % of the sample are not tested,
#' nor are, for `deriv.order = 2`, those where the Hessian matrix is not negative definite.
#'
#' \pkg{ks} has `deriv.order = 2` only. It asks whether b is negative definite after it was multiplied by S^(-1/2), and
#' rejects only P values that are below their own limit, where Hochberg's procedure also rejects all smaller ones.
#'
#' @inheritParams kdde
#' @param deriv.order 1 for the gradient, 2 for the curvature.
#' @param gridsize,gridtype,xmin,xmax,supp,eval.points the grid, or the points, as in [kde()].
#' @param w weights as in [kde()]; n is the effective sample size.
#' @param signif.level the level of all tests together.
#' @param x,object a result of `kfs()`; for `kfs()` the data as in [kde()].
#' @param row.names,optional not used; arguments of the generic.
#' @param col,xlab,ylab,main,drawpoints the colour of the regions, labels, a title, and whether the data are drawn.
#' @param ... no further arguments of `kfs()`: other names are an error. For `plot()` graphical parameters.
#' @return `kfs()`: an object of class `c("kestrel_kfs", "kfs")`, a list with the fields of [kdde()] but for `estimate`:
#'   \item{estimate}{1 where the feature is significant, otherwise 0}
#'   \item{p.value}{the P value of each point, before Hochberg's procedure; NA where there was no test}
#'   \item{density}{the density estimate}
#'   \item{signif.level}{as given}
#'   `as.data.frame()` returns a row for each point, with its coordinates, `estimate` and `p.value`. The other methods
#'   return their argument invisibly.
#' @section Units: `density` is in 1 / volume. P values have none.
#' @section Errors: Errors of class `kestrel_error_input` are those of [kdde()], for an order other than 1 and 2, and
#'   for a `signif.level` that is not between 0 and 1. Plots are of grids of one or two dimensions.
#' @section Cost: That of [kdde()] and [kde()], and O(m d^6) for m points.
#' @references Duong, T., Cowling, A., Koch, I. & Wand, M.P. (2008) Feature significance for multivariate kernel density
#'   estimation. *Computational Statistics and Data Analysis* **52**, 4225-4242.
#'
#'   Hochberg, Y. (1988) A sharper Bonferroni procedure for multiple tests of significance. *Biometrika* **75**,
#'   800-802.
#' @seealso [kdde()], [kcurv()]
#' @examples
#' modes <- kfs(faithful, gridsize = c(41, 41))
#' modes
#' plot(modes)
#' plot(kfs(faithful$eruptions, deriv.order = 1))
#' @export
kfs <- function(x, H, h, deriv.order = 2, gridsize, gridtype, xmin, xmax, supp = 3.7, eval.points, binned, bgridsize,
                positive = FALSE, adj.positive, w, verbose = NULL, signif.level = 0.05, ..., na.action = stats::na.fail,
                threads = NULL) {
  check_arguments("kfs", given_names(...), "binned")
  started <- proc.time()[["elapsed"]]
  level <- check_level(signif.level, "signif.level")
  order <- check_count(deriv.order, "deriv.order")
  if (order > 2L) abort_input("`deriv.order` must be 1 or 2 for kfs(), not ", order, ".")
  if (check_flag(positive, "positive") || !missing(adj.positive)) {
    abort_input("`positive` must be FALSE for kfs(): derivatives are not there on the scale of logarithms.")
  }
  given <- c(list(x = x, deriv.order = order, deriv.vec = FALSE, verbose = verbose, na.action = na.action,
                  threads = threads), given_grid(supp = supp), if (!missing(H)) list(H = H),
             if (!missing(h)) list(h = h), if (!missing(w)) list(w = w),
             if (!missing(eval.points)) list(eval.points = eval.points))
  found <- do.call(kdde, given, quote = TRUE)
  run <- run_options(threads)
  fhat <- density_beside(found, run)
  b <- if (is.list(found$estimate)) vapply(found$estimate, as.vector, numeric(length(found$estimate[[1L]]))) else
    matrix(found$estimate, length(fhat$estimate))
  tested <- fhat$estimate > contour_levels(fhat, 0.01, TRUE, run)
  if (order == 2L) tested <- tested & eliminated(many_matrices(-b))$definite
  p <- rep(NA_real_, nrow(b))
  statistic <- feature_statistic(b[tested, , drop = FALSE], fhat$estimate[tested], found, order)
  p[tested] <- stats::pchisq(statistic, ncol(b), lower.tail = FALSE)
  significant <- stats::p.adjust(p, "hochberg") <= level
  shaped <- function(values) {
    if (found$gridded && length(found$names) > 1L) array(values, dim(fhat$estimate)) else values
  }
  found$estimate <- shaped(as.integer(!is.na(significant) & significant))
  found$type <- "kfs"
  found <- c(unclass(found), list(p.value = shaped(p), density = fhat$estimate, signif.level = level))
  found$call <- match.call()
  found$seconds <- proc.time()[["elapsed"]] - started
  structure(found, class = c("kestrel_kfs", "kfs"))
}

# The density with the bandwidth of an estimate of derivatives, at its points.
density_beside <- function(found, run) {
  fhat <- gaussian_density(variable_sample(found), as.matrix(found$H))
  if (!found$gridded) return(estimate_at_points(fhat, found$eval.points, run))
  estimate_on_grid(fhat, list(axes = axes_of(found), gridtype = found$gridtype), run)
}

# b' S^-1 b / f, in units of the deviations of the kernel. The integrals of D^a K_H D^b K_H are those of psi_normal()
# for a + b, with the sign (-1)^|b|.
feature_statistic <- function(b, f, found, order) {
  if (nrow(b) == 0L) return(numeric(0))
  d <- length(found$names)
  H <- as.matrix(found$H)
  unit <- sqrt(diag(H))
  tuples <- index_tuples(d, order)
  psi <- (-1)^order * psi_normal(H / outer(unit, unit), 2L * order)
  covariance <- matrix(0, nrow(tuples), nrow(tuples))
  for (k in seq_len(nrow(tuples))) {
    both <- cbind(tuples, tuples[rep(k, nrow(tuples)), , drop = FALSE])
    covariance[, k] <- psi[tuple_positions(both, d)]
  }
  per_unit <- apply(tuples, 1L, function(axes) prod(unit[axes]))
  heights <- rep(sqrt(prod(unit)) / sqrt(f), each = ncol(b))
  found$n_eff * colSums(forwardsolve(t(chol(covariance)), t(b) * per_unit * heights)^2)
}

#' @rdname kfs
#' @export
print.kestrel_kfs <- function(x, ...) {
  check_object(x, "x", "kestrel_kfs")
  cat(feature_lines(x), sep = "\n")
  invisible(x)
}

feature_lines <- function(object) {
  frame <- density_lines(replace(object, "estimate", list(0)), paste("Regions of significant", feature_name(object)))
  tested <- !is.na(object$p.value)
  c(utils::head(frame, -1L), label_line("level", format_short(object$signif.level)),
    label_line("tested", paste(format(sum(tested), big.mark = ","), "of", format(length(tested), big.mark = ","),
                               "points")),
    label_line("significant", format(sum(object$estimate), big.mark = ",")))
}

feature_name <- function(object) if (object$deriv.order == 2L) "curvature of a density" else "gradient of a density"

#' @rdname kfs
#' @export
summary.kestrel_kfs <- function(object, ...) print(object)

#' @rdname kfs
#' @export
as.data.frame.kestrel_kfs <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_kfs")
  cbind(points_frame(x, c("estimate", "p.value")), estimate = as.vector(x$estimate), p.value = as.vector(x$p.value))
}

#' @rdname kfs
#' @export
plot.kestrel_kfs <- function(x, xlab = NULL, ylab = NULL, main = NULL, col = NULL, drawpoints = TRUE, ...) {
  check_object(x, "x", "kestrel_kfs")
  d <- length(x$names)
  if (!x$gridded || d > 2L) abort_input("`x` must be on a grid of one or two dimensions to be plotted.")
  col <- given_or(check_graphical(col, "col"), colours$mark)[1L]
  drawpoints <- check_flag(drawpoints, "drawpoints")
  more <- list(...)
  axes <- axes_of(x)
  labels <- if (d == 1L) c(variable_label(x), "Density") else plane_labels(x)
  empty_plot(axes[[1L]], if (d == 1L) range(0, x$density) else axes[[2L]], more, main = main,
             xlab = given_or(xlab, labels[1L]), ylab = given_or(ylab, labels[2L]),
             note = paste("Significant", sub(" of a density", "", feature_name(x))))
  drawing_with(more, if (d == 1L) {
    if (drawpoints) draw_rug(x$x, colours$curve)
    graphics::lines(axes[[1L]], x$density, col = colours$curve, lwd = 2)
    draw_region_on_axis(x, 0.5, 0, 6, col)
  } else {
    graphics::image(axes[[1L]], axes[[2L]], x$estimate, add = TRUE, zlim = c(0.5, 1.5),
                    col = grDevices::adjustcolor(col, 0.5))
    if (drawpoints) graphics::points(x$x[, 1L], x$x[, 2L], pch = 16, cex = 0.5, col = colours$data)
  })
  invisible(x)
}
