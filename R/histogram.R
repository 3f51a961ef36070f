# Histograms as density estimates.

#' Histogram density estimate
#'
#' A histogram with bins of equal width on each axis, as a density: counts divided by n and the volume of a bin.
#'
#' If `binw` is not given it is the normal reference width (Scott 1992, section 3.4),
#' \deqn{2 \cdot 3^{1/(d+2)} \pi^{d/(2d+4)} s_k n^{-1/(d+2)},}{2 3^(1/(d+2)) pi^(d/(2d+4)) s_k n^(-1/(d+2)),}
#' s_k the standard deviation. \pkg{ks} has the power 1/(d+2) of pi, which is another number unless d = 2. The number of
#' bins is the range divided by `binw`, rounded, and the bins fill the range. Bins include their upper end, and the
#' first also its lower end. In one dimension, as in [graphics::hist()], a point within 1e-7 of a width above an end
#' counts as on it, so that rounding does not decide about rounded data.
#'
#' In several dimensions \pkg{ks} divides by `binw` and not by the width that fills the range, so that its histograms do
#' not integrate to one.
#'
#' @param x a numeric vector (d = 1), or a matrix or data frame with n rows and d columns; in `plot()` and `print()` an
#'   object made by `histde()`.
#' @param binw widths of the bins, one number or one for each axis.
#' @param xmin,xmax ends of the bins, one number for each axis; a tenth of the range beyond the data if not given.
#' @param adj share of a width by which all bins are moved down, with one more bin at the upper end.
#' @param object an object made by `histde()`.
#' @param newdata points, in the forms of `x`.
#' @param xlab,ylab,main,col labels of the axes, a title and the colour of the bars (in two dimensions of the fullest
#'   bin).
#' @param border,drawpoints the colour of the edges of bars, and whether the data are drawn.
#' @param ... no further arguments of `histde()`: other names are an error. For `plot()` graphical parameters. In
#'   `predict()`, `x` is another name of `newdata`, as in \pkg{ks}.
#' @return `histde()`: an object of class `c("kestrel_histde", "histde")`, a list with the fields of \pkg{ks}:
#'   \item{x, names}{the data, and the names of the columns}
#'   \item{estimate}{the densities: a vector, or an array with d dimensions}
#'   \item{eval.points}{the ends of the bins: a vector, or a list of d}
#'   \item{binw, nbin}{the widths and the numbers of bins}
#'   and `call`. `predict()` returns the densities at points, 0 outside of the bins. `print()` and `plot()` return their
#'   argument invisibly.
#' @section Units: Densities are in 1 / volume.
#' @section Errors: Errors of class `kestrel_error_input` are for data that are missing, infinite or not numeric, for
#'   constant columns where `binw` is not given, for widths that are not positive and an `xmin` that is not below
#'   `xmax`. The class is `kestrel_error_memory` for more bins than fit in memory.
#' @section Cost: O(n d).
#' @references Scott, D.W. (1992) *Multivariate Density Estimation*. Wiley.
#' @seealso [kde()]
#' @examples
#' fhat <- histde(faithful$eruptions)
#' fhat
#' plot(fhat)
#' predict(histde(faithful), c(2, 50))
#' @export
histde <- function(x, binw, xmin, xmax, adj = 0, ...) {
  check_arguments("histde", given_names(...))
  sample <- check_sample(x)
  d <- ncol(sample$x)
  n <- nrow(sample$x)
  adj <- check_between(adj, 1, "adj")
  if (length(adj) != 1L) abort_input("`adj` must be one number, not ", describe_value(adj), ".")
  if (missing(binw)) {
    scale <- sqrt(diag(selector_sample(x, NULL)$cov))
    binw <- 2 * 3^(1 / (d + 2)) * pi^(d / (2 * d + 4)) * scale * n^(-1 / (d + 2))
  } else {
    binw <- check_per_axis(binw, d, "binw")
    if (any(binw <= 0)) abort_input("`binw` must be positive, not ", describe_value(binw), ".")
  }
  binw <- unname(binw)
  ranges <- ranges_cpp(sample$x)
  margin <- 0.1 * (ranges[2L, ] - ranges[1L, ])
  lower <- if (missing(xmin)) ranges[1L, ] - margin else check_per_axis(xmin, d, "xmin")
  upper <- if (missing(xmax)) ranges[2L, ] + margin else check_per_axis(xmax, d, "xmax")
  check_limits(lower, upper)
  count <- pmax(1, round((upper - lower) / binw))
  check_memory(count, 16 * prod(count), "binw")
  width <- (upper - lower) / count
  more <- if (adj > 0) 1 else 0
  ends <- lapply(seq_len(d), function(k) lower[k] - adj * width[k] + width[k] * seq(0, count[k] + more))
  counts <- counts_in_bins(sample$x, ends)
  estimate <- counts / (n * prod(width))
  structure(list(x = if (d == 1L) as.vector(sample$x) else sample$x,
                 estimate = if (d == 1L) as.vector(estimate) else estimate,
                 eval.points = if (d == 1L) ends[[1L]] else ends, binw = binw, nbin = count + more,
                 names = sample$names, call = match.call()), class = c("kestrel_histde", "histde"))
}

# The number of the bin on each axis, 0 outside.
bins_of <- function(points, ends) {
  heard()
  vapply(seq_along(ends), function(k) {
    last <- length(ends[[k]])
    fuzz <- (length(ends) == 1L) * 1e-7 * (ends[[k]][last] - ends[[k]][1L]) / (last - 1L)
    at <- ends[[k]] + c(-fuzz, rep(fuzz, last - 1L))
    bin <- findInterval(points[, k], at, left.open = TRUE)
    bin[points[, k] == at[1L]] <- 1L
    ifelse(bin == last, 0L, bin)
  }, integer(nrow(points)))
}

counts_in_bins <- function(points, ends) {
  sizes <- lengths(ends) - 1L
  bins <- matrix(bins_of(points, ends), nrow(points))
  inside <- bins[rowSums(bins == 0L) == 0, , drop = FALSE]
  cell <- 1 + drop((inside - 1) %*% cumprod(c(1, sizes[-length(sizes)])))
  heard()
  array(tabulate(cell, prod(sizes)), sizes)
}

#' @rdname histde
#' @export
predict.kestrel_histde <- function(object, newdata, ..., x) {
  check_object(object, "object", "kestrel_histde")
  points <- points_to_predict(newdata, x, ...)
  d <- length(object$names)
  points <- check_points(in_order_of(points$value, object$names, points$name), d, points$name)
  ends <- axes_of(object)
  bins <- matrix(bins_of(points, ends), nrow(points))
  inside <- rowSums(bins == 0L) == 0
  value <- numeric(nrow(points))
  value[inside] <- as.array(object$estimate)[bins[inside, , drop = FALSE]]
  value
}

#' @rdname histde
#' @export
print.kestrel_histde <- function(x, ...) {
  check_object(x, "x", "kestrel_histde")
  cat(paste0("Histogram density estimate, d = ", length(x$names)), call_lines(x$call),
      label_line("n", format(NROW(x$x), big.mark = ",")),
      label_line("variables", paste(x$names, collapse = ", ")),
      label_line("bins", axes_text(axes_of(x))),
      label_line("estimate", paste(format_short(range(x$estimate)), collapse = " to ")), sep = "\n")
  invisible(x)
}

#' @rdname histde
#' @export
plot.kestrel_histde <- function(x, xlab = NULL, ylab = NULL, main = NULL, col = NULL, border = NULL,
                                drawpoints = FALSE, ...) {
  check_object(x, "x", "kestrel_histde")
  drawpoints <- check_flag(drawpoints, "drawpoints")
  border <- given_or(check_graphical(border, "border"), colours$curve)
  d <- length(x$names)
  if (d > 2L) abort_input("`x` must have one or two dimensions to be plotted, not ", d, ".")
  more <- list(...)
  col <- given_or(check_graphical(col, "col"), if (d == 1L) colours$shade else colours$curve)[1L]
  ends <- axes_of(x)
  names <- if (d == 1L) c(variable_label(x), "Density") else plane_labels(x)
  empty_plot(ends[[1L]], if (d == 1L) c(0, x$estimate) else ends[[2L]], more, xlab = given_or(xlab, names[1L]),
             ylab = given_or(ylab, names[2L]), main = main)
  drawing_with(more, if (d == 1L) {
    graphics::rect(ends[[1L]][-length(ends[[1L]])], 0, ends[[1L]][-1L], x$estimate, col = col, border = border)
    if (drawpoints) draw_rug(x$x, colours$curve)
  } else {
    graphics::image(ends[[1L]], ends[[2L]], x$estimate, add = TRUE, col = shades_of(col, 64L))
    if (drawpoints) graphics::points(x$x[, 1L], x$x[, 2L], pch = 16, cex = 0.5, col = colours$data)
  })
  invisible(x)
}
