#' Plot a density estimate
#'
#' One dimension: the curve with a rug of the data. Two: regions of highest density, filled, that hold given percentages
#' of the sample (see [contourLevels()]). Three and more: the marginal densities, one variable on the diagonal, pairs
#' off it.
#'
#' @param x an object made by [kde()] on a grid.
#' @param cont percentages of the regions (d > 1).
#' @param col line colour (d = 1) or fill colours (d > 1), one for each of `cont`, the smallest region last.
#' @param drawpoints if TRUE, show the data: a rug (d = 1) or points (d > 1).
#' @param display accepted for scripts written for \pkg{ks}, without effect: there is one display for each d.
#' @param add if TRUE, add to a plot (d = 1, 2).
#' @param xlab,ylab,main labels; `main` only in one and two dimensions.
#' @param ... further graphical parameters: for the curve (d = 1), or for the empty plot (d = 2).
#' @return `x`, invisibly.
#' @section Errors: of class `kestrel_error_input` when the estimate is not on a grid.
#' @section Cost: O(grid points); for d > 2 the d(d+1)/2 marginals are computed first (see [marginal()]).
#' @examples
#' plot(kde(faithful$eruptions))
#' plot(kde(faithful), drawpoints = TRUE)
#' plot(kde(iris[, 1:3], gridsize = 31))
#' @export
plot.kestrel_kde <- function(x, cont = c(95, 75, 50, 25), col = NULL, drawpoints = dimension(x) < 2L, add = FALSE,
                             xlab = NULL, ylab = NULL, main = NULL, display, ...) {
  if (!x$gridded) abort_input("`x` must be an estimate on a grid to be plotted, not one at given points.")
  check_between(cont, 100, "cont")
  check_flag(drawpoints, "drawpoints")
  check_flag(add, "add")
  d <- dimension(x)
  cont <- sort(unique(cont), decreasing = TRUE)
  if (is.null(col)) col <- if (d == 1L) "#1F5A7A" else fill_colours(length(cont))
  if (d == 1L) {
    plot_curve(x, col, drawpoints, add, xlab, ylab, main, ...)
  } else if (d == 2L) {
    plot_regions(x, cont, col, drawpoints, add, xlab, ylab, main, ...)
  } else {
    plot_pairs(x, cont, col, drawpoints)
  }
  invisible(x)
}

# Light enough for dark labels on the smallest region.
fill_colours <- function(n) grDevices::hcl.colors(2L * n, "Blues 3", rev = TRUE)[seq_len(n) + 1L]

plot_curve <- function(fhat, col, drawpoints, add, xlab, ylab, main, ...) {
  if (!add) {
    graphics::plot(range(fhat$eval.points), c(0, max(fhat$estimate)), type = "n", las = 1, bty = "l",
                   xlab = if (is.null(xlab)) fhat$names else xlab, ylab = "", main = main, ...)
    title_beside_labels(if (is.null(ylab)) "Density" else ylab)
  }
  graphics::lines(fhat$eval.points, fhat$estimate, col = col, lwd = 2)
  # Many observations would paint the axis black; the strokes become transparent instead.
  if (drawpoints) {
    strength <- max(0.05, min(0.8, 100 / length(fhat$x)))
    graphics::rug(fhat$x, ticksize = 0.03, quiet = TRUE, col = grDevices::adjustcolor(col[1L], strength))
  }
}

# A title of the y axis that stands clear of its labels, which are as long as the numbers are.
title_beside_labels <- function(text) {
  room <- max(graphics::strwidth(format(graphics::axTicks(2)), units = "inches", cex = graphics::par("cex.axis")))
  line <- graphics::par("mgp")[2L] + 0.5 + room / graphics::par("csi")
  graphics::title(ylab = text, line = max(graphics::par("mgp")[1L], min(line, graphics::par("mar")[2L] - 1)))
}

plot_regions <- function(fhat, cont, col, drawpoints, add, xlab, ylab, main, ...) {
  if (!add) {
    seen <- visible_limits(fhat, cont)
    graphics::plot(seen[[1L]], seen[[2L]], type = "n", las = 1, bty = "l", main = main,
                   xlab = if (is.null(xlab)) fhat$names[1L] else xlab,
                   ylab = if (is.null(ylab)) fhat$names[2L] else ylab, ...)
  }
  draw_regions(fhat, cont, col)
  if (drawpoints) draw_points(fhat)
}

# The data and the largest region, without the empty rest of the grid.
visible_limits <- function(fhat, cont) {
  axes <- axes_of(fhat)
  above <- fhat$estimate >= min(contour_levels(fhat, 1 - cont / 100, approx = TRUE))
  lapply(1:2, function(k) range(fhat$x[, k], axes[[k]][apply(above, k, any)]))
}

draw_regions <- function(fhat, cont, col, labels = TRUE) {
  axes <- axes_of(fhat)
  levels <- contour_levels(fhat, 1 - cont / 100, approx = TRUE)
  # Two regions of one level (discrete data) are one region.
  distinct <- !duplicated(levels)
  top <- max(fhat$estimate, levels) * (1 + 1e-9)
  graphics::.filled.contour(axes[[1L]], axes[[2L]], fhat$estimate, c(levels[distinct], top), col[distinct])
  graphics::contour(axes[[1L]], axes[[2L]], fhat$estimate, levels = levels[distinct], add = TRUE,
                    labels = paste0(cont, "%")[distinct], drawlabels = labels, col = "#17445C", lwd = 0.8,
                    labcex = 0.75, vfont = NULL)
}

draw_points <- function(fhat) {
  strength <- max(0.08, min(0.6, 150 / nrow(fhat$x)))
  graphics::points(fhat$x[, 1L], fhat$x[, 2L], pch = 16, cex = 0.5, col = grDevices::adjustcolor("#222222", strength))
}

# A d x d matrix of panels that share their axes by column and row.
plot_pairs <- function(fhat, cont, col, drawpoints) {
  d <- dimension(fhat)
  fhat <- refine_axes(fhat)
  pairs <- lapply(seq_len(d), function(row) lapply(seq_len(row - 1L), function(column) marginal(fhat, c(column, row))))
  before <- graphics::par(mfrow = c(d, d), mar = c(0.4, 0.4, 0.4, 0.4), oma = c(5, 4.5, 1.5, 1), las = 1,
                          mgp = c(3, 0.6, 0))
  on.exit(graphics::par(before))
  for (row in seq_len(d)) {
    for (column in seq_len(d)) {
      if (row == column) {
        draw_diagonal_panel(marginal(fhat, row))
      } else {
        pair <- if (row > column) pairs[[row]][[column]] else transposed(pairs[[column]][[row]])
        draw_pair_panel(pair, cont, col, drawpoints)
        if (column == 1L) graphics::axis(2)
      }
      if (row == d) graphics::axis(1)
    }
  }
  graphics::mtext(paste0("Regions of ", paste(sort(cont), collapse = ", "), " % of the sample"), side = 1, line = 3.4,
                  outer = TRUE, cex = 0.8)
}

# Marginals computed from the data need not be as coarse as a grid in d dimensions has to be.
refine_axes <- function(fhat) {
  fhat$cont <- NULL
  if (is_compact(fhat$kernel) && fhat$kernel_type != "product") return(fhat)
  fhat$eval.points <- lapply(fhat$eval.points, function(axis) {
    if (length(axis) >= 101L) axis else seq(axis[1L], axis[length(axis)], length.out = 101L)
  })
  fhat
}

transposed <- function(fhat) {
  fhat$x <- fhat$x[, 2:1]
  fhat$eval.points <- rev(fhat$eval.points)
  fhat$estimate <- t(fhat$estimate)
  fhat
}

draw_diagonal_panel <- function(fhat) {
  graphics::plot(range(fhat$eval.points), c(0, 1.25 * max(fhat$estimate)), type = "n", axes = FALSE, xlab = "",
                 ylab = "")
  graphics::polygon(c(fhat$eval.points, rev(fhat$eval.points)), c(fhat$estimate, 0 * fhat$estimate), border = NA,
                    col = "#DCEAF2")
  graphics::lines(fhat$eval.points, fhat$estimate, col = "#1F5A7A", lwd = 1.5)
  graphics::mtext(fhat$names, side = 3, line = -1.4, cex = 0.8, font = 2)
  graphics::box(col = "grey70")
}

draw_pair_panel <- function(fhat, cont, col, drawpoints) {
  axes <- axes_of(fhat)
  graphics::plot(range(axes[[1L]]), range(axes[[2L]]), type = "n", axes = FALSE, xlab = "", ylab = "")
  draw_regions(fhat, cont, col, labels = FALSE)
  if (drawpoints) draw_points(fhat)
  graphics::box(col = "grey70")
}
