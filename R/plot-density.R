#' Plot a density estimate
#'
#' In one dimension the plot shows the curve, with a rug of the data. In two dimensions it shows filled regions of
#' highest density that contain given percentages of the sample (see [contourLevels()]). In three and more dimensions it
#' shows the marginal densities of single variables on the diagonal and of pairs off the diagonal.
#'
#' If there are more than 1,000 observations, one is drawn for each small part of the plot. It is darker if it stands
#' for more observations. `lines()` adds the curve of an estimate of one variable to an existing plot, and `points()`
#' adds its values.
#'
#' @param x an object made by [kde()] on a grid. For d > 3 and the Gaussian or a product kernel the estimate may also be
#'   at points.
#' @param cont percentages of the regions. In one dimension they are drawn only if given, as lines along the axis that
#'   are thicker for smaller regions. In an image they are also drawn only if given.
#' @param col line colour (d = 1) or fill colours (d > 1), one for each of `cont`, the smallest region last. If one
#'   colour is given for several regions, its shades are used. If there is one more colour than regions, the first is
#'   left out, because in \pkg{ks} it is the colour of the background. For `display = "slice"` these are the colours of
#'   the lines, and for `"persp"` this is the colour of the surface.
#' @param drawpoints if TRUE, show the data: a rug (d = 1) or points (d > 1).
#' @param add if TRUE, add to a plot (d = 1, 2).
#' @param xlab,ylab,zlab,main labels. If NULL they are the names of the variables, and for a vector, or a matrix
#'   without names, the expression in the call. In two dimensions `zlab` is for `"persp"` and the key of `"image"`. In
#'   more they are the labels of the first three variables.
#' @param display in two dimensions `"filled.contour"`, `"slice"` (lines only, the default with `add = TRUE`), `"image"`
#'   (colours with a key) or `"persp"`. In other dimensions there is one display, and the names in \pkg{ks} are accepted
#'   without effect.
#' @param abs.cont levels of the density, in place of `cont` (d = 1, 2).
#' @param approx.cont as `approx` of [contourLevels()].
#' @param col.fun a function of a number that returns as many colours, in place of `col`.
#' @param col.cont,col.pt colours of contour lines (d = 1: of the lines along the axis) and of the data. If `col.cont`
#'   is NULL, lines are dark blue, and lines along the axis are lighter for larger regions. If `col.pt` is NULL, the
#'   data have the colour of the curve (d = 1), or are dark grey, or orange on an image.
#' @param drawlabels if TRUE, label contour lines (d = 2).
#' @param lwd width of the curve, of contour lines or of the lines on a surface.
#' @param alpha opacity of fill colours, from 0 to 1.
#' @param d strength of the perspective, as in [graphics::persp()], for `display = "persp"`.
#' @param interval,level,method,B for estimates of one variable: a confidence band, see [bands].
#' @param ... further graphical parameters of the empty plot or of [graphics::persp()]. `lty` also applies to the curve
#'   or the contour lines, and `pch` and `cex` to the data. `lines()` and `points()` take the parameters of
#'   [graphics::lines()]. Other arguments of plots in \pkg{ks} are accepted without effect.
#' @return `x`, invisibly.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - an estimate that must be on a grid and is not;
#'   - an unknown `display`, `cont` outside of 0 to 100, `abs.cont` that is not positive, and flags that are not TRUE or
#'     FALSE;
#'   - colours, widths, labels and other graphical parameters that R does not know or cannot draw with;
#'   - a window that is too small for any plot;
#'   - `add`, `lines()` and `points()` without a plot;
#'   - `lines()` and `points()` of an estimate of several variables.
#' @section Units: Axes are in the units of the variables. Densities and `abs.cont` are in 1 / volume.
#' @section Cost: A plot takes O(grid points). For d > 2 the d(d+1)/2 marginal densities are computed first (see
#'   [marginal()]).
#' @references Hyndman, R.J. (1996) Computing and graphing highest density regions. *American Statistician* **50**,
#'   120-126.
#' @examples
#' plot(kde(faithful$eruptions), cont = c(50, 95))
#' lines(kde(faithful$eruptions, h = 0.6), lty = 2)
#' fhat <- kde(faithful)
#' plot(fhat, drawpoints = TRUE)
#' plot(fhat, display = "persp", theta = 30)
#' plot(kde(iris[, 1:3], gridsize = 31))
#' @export
plot.kestrel_kde <- function(x, cont = c(95, 75, 50, 25), col = NULL, drawpoints = dimension(x) < 2L, add = FALSE,
                             xlab = NULL, ylab = NULL, main = NULL, display = NULL, abs.cont = NULL,
                             approx.cont = TRUE, col.fun = NULL, col.cont = NULL, col.pt = NULL,
                             drawlabels = TRUE, lwd = NULL, zlab = NULL, alpha = 1, d = 4,
                             interval = c("none", "pointwise", "simultaneous"), level = 0.95,
                             method = c("bootstrap", "asymptotic"), B = 500, ...) {
  check_estimate(x, "x")
  band <- asked_band(x, interval, level, method, B, "x")
  given <- x
  if (!x$gridded) x <- with_axes(x)
  variables <- dimension(x)
  style <- check_style(list(col = col, col.fun = col.fun, col.cont = col.cont, col.pt = col.pt, lwd = lwd,
                            alpha = alpha, drawpoints = drawpoints, drawlabels = drawlabels, add = add, xlab = xlab,
                            ylab = ylab, zlab = if (variables > 2L) zlab else given_or(zlab, "Density"),
                            main = main, d = d), list(...))
  style$drawpoints <- style$drawpoints && has_data(x)
  style$approx <- check_flag(approx.cont, "approx.cont")
  style$display <- check_display(display, variables, style$add)
  more <- parameters_for(list(...), style$display)
  if (variables > 2L && !is.null(abs.cont)) {
    abort_input("`abs.cont` must not be given for the marginals of ", variables, " variables.")
  }
  marked <- variables > 1L && style$display != "image" || !missing(cont) || !is.null(abs.cont)
  cont <- check_content(cont)
  regions <- if (marked && variables <= 2L) plotted_regions(x, cont, abs.cont, style$approx)
  switch(min(variables, 3L), plot_curve(x, regions, style, more, drawn_band(x, band)),
         plot_plane(x, regions, style, more), plot_pairs(x, cont, style, more))
  invisible(given)
}

displays_of_plane <- c("filled.contour", "slice", "image", "persp")

check_display <- function(display, d, add) {
  if (is.null(display)) return(if (add) "slice" else "filled.contour")
  # Its name in ks before 1.14.
  if (identical(display, "filled.contour2")) display <- "filled.contour"
  check_choice(display, if (d == 2L) displays_of_plane else c(displays_of_plane, "plot3D", "rgl"), "display")
}

# The levels to draw, lowest first, and their labels.
plotted_regions <- function(fhat, cont, abs.cont, approx) {
  if (is.null(abs.cont)) {
    cont <- sort(unique(cont), decreasing = TRUE)
    # The levels of an almost flat estimate differ only by rounding.
    level <- cummax(contour_levels(fhat, 1 - cont / 100, approx))
    # Two regions with the same level (discrete data) are one region.
    return(list(level = level[!duplicated(level)], label = paste0(cont, "%")[!duplicated(level)]))
  }
  level <- sort(unique(check_positives(abs.cont, "abs.cont")))
  list(level = level, label = format_short(level), absolute = TRUE)
}

# One colour for each region. The default is `otherwise`, a function of their number.
region_colours <- function(style, count, otherwise) {
  col <- style[["col"]]
  if (is.null(col)) col <- if (is.null(style$col.fun)) otherwise(count) else colours_by(style$col.fun, count)
  if (length(col) == count + 1L && count > 0L) col <- col[-1L]
  rep(col, length.out = count)
}

region_fills <- function(style, count) {
  if (length(style[["col"]]) == 1L && count > 1L) {
    style[["col"]] <- shades_of(style[["col"]], count + 1L)
  }
  col <- region_colours(style, count, fill_colours)
  if (style$alpha < 1) grDevices::adjustcolor(col, style$alpha) else col
}

plot_curve <- function(fhat, regions, style, more, band = NULL) {
  if (style$add) {
    check_plot_to_add_to()
  } else {
    empty_plot(visible_range(fhat), height_range(c(fhat$estimate, band$upper), more), more,
               main = style$main, xlab = given_or(style$xlab, variable_label(fhat)),
               ylab = given_or(style$ylab, "Density"), note = c(region_note(regions), band$note))
  }
  # Without a zero they are above the rug.
  foot <- if (graphics::par("ylog")) graphics::grconvertY(0.05, "npc") else 0
  bars <- bar_colours(style, length(regions$level))
  col <- if (is.null(style[["col"]])) region_colours(style, 1L, function(n) colours$curve) else style[["col"]][1L]
  if (!is.null(band)) draw_band(fhat$eval.points, band$lower, band$upper, grDevices::adjustcolor(col, 0.25))
  if (style$drawpoints) draw_rug(fhat$x, given_or(style$col.pt, col))
  for (k in seq_along(regions$level)) draw_region_on_axis(fhat, regions$level[k], foot, 2 + 2 * k, bars[k])
  drawing_with(more, graphics::lines(fhat$eval.points, fhat$estimate, col = col, lwd = given_or(style$lwd, 2),
                                     lty = given_or(style$lty, 1)))
}

# Where the data are and the density is not negligible: a grid on the scale of logarithms may extend far beyond.
visible_range <- function(fhat) {
  if (keeps_units(fhat$transform)) return(fhat$eval.points)
  range(fhat$x, fhat$eval.points[fhat$estimate >= 1e-3 * max(fhat$estimate)])
}

# The note that explains the bars on the axis.
region_note <- function(regions) {
  count <- length(regions$level)
  if (count == 0L) return(NULL)
  if (isTRUE(regions$absolute)) return(paste("Bars: density at least", and_list(regions$label)))
  paste0("Bars: region", if (count > 1L) "s", " of highest density with ", and_list(rev(regions$label)),
         " of the sample")
}

# The name of a variable. A vector has no name, so its label is the expression in the call.
variable_label <- function(fhat) label_from_call(fhat$names, "x", fhat$call, "x")

# The labels of a plane. The columns of a matrix without names are called "x[, 1]". The label has the expression in the
# call in place of x.
plane_labels <- function(fhat) {
  matrix <- label_from_call("x", "x", fhat$call, "x")
  unnamed <- grepl("^x\\[, [12]\\]$", fhat$names) & make.names(matrix) == matrix
  ifelse(unnamed, paste0(matrix, substring(fhat$names, 2L)), fhat$names)
}

# Bars on each other are told apart by their colours.
bar_colours <- function(style, count) {
  if (count == 0L || !identical(style$col.cont, colours$ink)) return(rep(style$col.cont, length.out = count))
  grDevices::colorRampPalette(c(colours$bar, colours$ink))(count + 1L)[-1L]
}

# Where the density is at least `level`.
draw_region_on_axis <- function(fhat, level, foot, lwd, col) {
  runs <- rle(fhat$estimate >= level)
  if (!any(runs$values)) return(invisible())
  last <- cumsum(runs$lengths)
  first <- last - runs$lengths + 1L
  graphics::segments(fhat$eval.points[first[runs$values]], foot, fhat$eval.points[last[runs$values]], foot,
                     lwd = lwd, col = col, lend = 1)
}

plot_plane <- function(fhat, regions, style, more) {
  axes <- axes_of(fhat)
  names <- plane_labels(fhat)
  labels <- list(xlab = given_or(style$xlab, names[1L]), ylab = given_or(style$ylab, names[2L]))
  if (style$display == "persp") return(draw_surface(fhat, style, labels, more))
  image <- style$display == "image"
  if (style$add) {
    check_plot_to_add_to()
  } else {
    seen <- if (image) axes else visible_limits(fhat, regions)
    if (image) more <- utils::modifyList(list(xaxs = "i", yaxs = "i"), more)
    do.call(empty_plot, c(unname(seen), list(more, main = style$main, above = if (image) 2 else 0), labels),
            quote = TRUE)
  }
  fhat <- on_the_axes(fhat)
  drawing_with(more, {
    if (image) draw_image(fhat, style)
    if (style$display == "filled.contour") draw_regions(fhat, regions, style)
    # Drawn before the lines, whose labels would get lost among them.
    if (style$drawpoints) draw_points(fhat$x[, 1L], fhat$x[, 2L], point_look(style))
    draw_lines(fhat, regions, style)
  })
}

# Zero and less have no place on a logarithmic axis.
on_the_axes <- function(fhat) {
  for (k in which(c(graphics::par("xlog"), graphics::par("ylog")))) {
    kept <- fhat$eval.points[[k]] > 0
    fhat$eval.points[[k]] <- fhat$eval.points[[k]][kept]
    fhat$estimate <- if (k == 1L) fhat$estimate[kept, , drop = FALSE] else fhat$estimate[, kept, drop = FALSE]
  }
  fhat
}

point_look <- function(style) {
  usual <- if (style$display == "image") colours$on_both else data_colour()
  list(col = given_or(style$col.pt, usual), pch = given_or(style$pch, 16), cex = given_or(style$cex, 0.5))
}

draw_image <- function(fhat, style) {
  axes <- axes_of(fhat)
  col <- style[["col"]]
  if (is.null(col)) col <- if (is.null(style$col.fun)) scale_colours(64L) else colours_by(style$col.fun, 64L)
  if (length(col) == 1L) col <- shades_of(col, 64L)
  top <- given_or(style$top, max(fhat$estimate))
  limits <- c(0, if (top > 0) top else 1)
  even <- all(fhat$gridtype == "linear") && !graphics::par("xlog") && !graphics::par("ylog")
  graphics::image(axes[[1L]], axes[[2L]], fhat$estimate, add = TRUE, col = col, zlim = limits, useRaster = even)
  if (!style$add) draw_key(col, limits, style$zlab, style$main, axes[[1L]])
}

# The data and the largest region, without the empty rest of the grid.
visible_limits <- function(fhat, regions) {
  seen <- limits_inside(axes_of(fhat), fhat$estimate >= regions$level[1L])
  lapply(1:2, function(k) c(fhat$x[, k], seen[[k]]))
}

# If the estimate is zero everywhere there is no region; if it is constant there is no line.
draw_regions <- function(fhat, regions, style) {
  if (max(fhat$estimate) == 0) return(invisible())
  fill_levels(axes_of(fhat), fhat$estimate, regions$level, region_fills(style, length(regions$level)))
}

draw_lines <- function(fhat, regions, style) {
  if (length(regions$level) == 0L || diff(range(fhat$estimate)) == 0) return(invisible())
  axes <- axes_of(fhat)
  of_lines <- style$display == "slice"
  col <- if (of_lines) region_colours(style, length(regions$level), function(n) style$col.cont) else style$col.cont
  draw <- function(col, lwd) {
    graphics::contour(axes[[1L]], axes[[2L]], fhat$estimate, levels = regions$level, add = TRUE, drawlabels = FALSE,
                      col = col, lwd = lwd, lty = given_or(style$lty, 1))
  }
  lwd <- given_or(style$lwd, 0.8)
  # Lines have a light edge, so that one sees them in the dark parts of an image.
  if (style$display == "image") draw("white", lwd + 2)
  draw(col, lwd)
  if (style$drawlabels) label_contours(axes, fhat$estimate, regions$level, regions$label, col)
}

# At most about fifty lines are drawn in each direction, which one can still tell apart.
draw_surface <- function(fhat, style, labels, more) {
  axes <- axes_of(fhat)
  kept <- lapply(axes, function(axis) seq(1L, length(axis), by = ceiling(length(axis) / 51)))
  height <- fhat$estimate[kept[[1L]], kept[[2L]]]
  col <- if (is.null(style[["col"]])) colours$shade else style[["col"]][1L]
  labels$zlab <- style$zlab
  # The labels are farther out, so that they do not touch the numbers at the axes.
  lines <- if (min(graphics::par("fin")) < 4.5) "\n\n" else "\n"
  labels <- lapply(labels, function(text) paste0(lines, text))
  shown <- list(axes[[1L]][kept[[1L]]], axes[[2L]][kept[[2L]]], height,
                zlim = if (is.null(style$top)) surface_limits(height, fhat$estimate) else c(0, style$top),
                theta = -30, phi = 40, d = style$d, ticktype = "detailed", shade = 0.1, main = style$main,
                border = grDevices::adjustcolor(colours$ink, 0.5),
                col = grDevices::adjustcolor(col, style$alpha), lwd = given_or(style$lwd, 0.4),
                cex.axis = 0.7, nticks = 4)
  shown <- c(shown, labels)
  before <- graphics::par(mar = c(1.5, 1.5, if (is.null(style$main)) 0.5 else 1.3 + 1.2 * title_lines(style$main), 1))
  on.exit(graphics::par(before))
  drawing_with(more, do.call(graphics::persp, utils::modifyList(shown, more), quote = TRUE))
}

# persp() refuses a flat surface. A surface whose heights differ only by rounding is drawn in a box that begins at zero.
surface_limits <- function(height, estimate) {
  top <- max(estimate)
  if (diff(range(height)) > 1e-12 * top) range(height) else c(0, if (top > 0) top else 1)
}

# A d x d matrix of panels that share their axes by column and row.
plot_pairs <- function(fhat, cont, style, more) {
  d <- dimension(fhat)
  check_panel_parameters(more, c("asp", "log", "xlim", "ylim"), d)
  fhat <- refine_axes(fhat)
  run <- run_options()
  of_variables <- function(dims) marginal_of(fhat, dims, run)
  pairs <- lapply(seq_len(d), function(row) lapply(seq_len(row - 1L), function(column) of_variables(c(column, row))))
  before <- graphics::par(mfrow = c(d, d), mar = c(0.4, 0.4, 0.4, 0.4), las = 1, mgp = c(3, 0.6, 0),
                          oma = c(5, 4.5, if (is.null(style$main)) 1.5 else 2.8 + 1.2 * title_lines(style$main), 4.5))
  on.exit(graphics::par(before))
  for (row in seq_len(d)) {
    for (column in seq_len(d)) {
      if (row == column) {
        label <- if (row < 4L) style[[c("xlab", "ylab", "zlab")[row]]]
        draw_diagonal_panel(of_variables(row), given_or(label, fhat$names[row]), style, more)
      } else {
        pair <- if (row > column) pairs[[row]][[column]] else transposed(pairs[[column]][[row]])
        draw_pair_panel(pair, plotted_regions(pair, cont, NULL, style$approx), style, more)
        if (column == 1L) axis_of_panel(2, more)
        # The panel at the left shows a density; its row has its numbers at the right.
        if (row == 1L && column == d) axis_of_panel(4, more)
      }
      if (row == d) axis_of_panel(1, more)
    }
  }
  several <- length(cont) > 1L
  caption(paste0("Region", if (several) "s", " of ", and_list(sort(cont)), " % of the sample"), 1, 3.4,
          outer = TRUE)
  if (!is.null(style$main)) {
    graphics::title(main = style$main, outer = TRUE, line = 1.5, cex.main = 1.2 / graphics::par("cex"))
  }
}

# Marginals that are computed from the data can be finer than a grid in d dimensions.
refine_axes <- function(fhat) {
  fhat$cont <- NULL
  if (is_compact(fhat$kernel) && fhat$kernel_type != "product" || !has_data(fhat)) return(fhat)
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

# An empty panel over the whole axes.
empty_panel <- function(x, y, more) {
  usual <- list(type = "n", axes = FALSE, xlab = "", ylab = "")
  more <- more[!names(more) %in% c(names(usual), "main", "sub")]
  drawing_with(more, do.call(graphics::plot, c(list(range(x), range(y)), usual, more), quote = TRUE))
}

draw_diagonal_panel <- function(fhat, label, style, more) {
  empty_panel(fhat$eval.points, c(0, 1.25 * max(fhat$estimate)), more)
  draw_area(fhat$eval.points, 0 * fhat$estimate, fhat$estimate, colours$shade)
  drawing_with(more, graphics::lines(fhat$eval.points, fhat$estimate, col = colours$curve,
                                     lwd = given_or(style$lwd, 1.5), lty = given_or(style$lty, 1)))
  if (is.list(label)) label <- label[[1L]]
  width <- graphics::strwidth(label, units = "inches", cex = 0.8 / graphics::par("cex"), font = 2)
  graphics::mtext(label, side = 3, line = -1.4, cex = 0.8 * min(1, graphics::par("pin")[1L] / width), font = 2)
  graphics::box(col = colours$frame)
}

draw_pair_panel <- function(fhat, regions, style, more) {
  axes <- axes_of(fhat)
  empty_panel(axes[[1L]], axes[[2L]], more)
  draw_regions(fhat, regions, style)
  drawing_with(more, {
    if (style$drawpoints) draw_points(fhat$x[, 1L], fhat$x[, 2L], point_look(style))
    draw_lines(fhat, regions, replace(style, c("drawlabels", "display"), list(FALSE, "filled.contour")))
  })
  graphics::box(col = colours$frame)
}
