#' Plot a kernel regression or its cross-validation curve
#'
#' The plot of a fit shows the data, the curve and its confidence band. The plot of a bandwidth shows the objective over
#' the grid with its minimum. The background is grey where some observations have no neighbour.
#'
#' The curve of a fit is computed at 501 points over the range of the data, for any points at which the fit was
#' evaluated. It has gaps where there is no observation within the bandwidth. If there are more than 1,000 observations,
#' one is drawn for each small part of the plot. It is darker if it stands for more observations.
#'
#' `lines()` adds the curve of a fit to an existing plot. `points()` adds its values at the points where it was
#' evaluated.
#'
#' @param x an object made by [npreg()] or by [npregbw()].
#' @param band if TRUE, draw the confidence band.
#' @param drawpoints if TRUE, draw the data.
#' @param add if TRUE, add curve and band to a plot.
#' @param col colour of the curve; a blue if NULL.
#' @param xlab,ylab,main labels. If NULL they are the names of the variables, and for vectors the expressions in the
#'   call.
#' @param ... further graphical parameters of the empty plot. `lty` and `lwd` also apply to the curve, and `pch` and
#'   `cex` to the observations, whose colour is `col.pt`. `lines()` and `points()` take the parameters of
#'   [graphics::lines()]. A plot of a fit also takes the arguments of \pkg{np} for a band: `plot.errors.method` or
#'   `errors`, which are `"asymptotic"` or `"none"`. Its other arguments that begin with `plot.errors.`, `neval`,
#'   `common.scale`, `perspective` and `plot.par.mfrow` have no effect. `gradients`, `plot.behavior` and `xtrim` must
#'   have np's defaults.
#' @return `x`, invisibly.
#' @section Errors: Errors of class `kestrel_error_input` are for flags that are not TRUE or FALSE, for `type`, and for
#'   arguments of np with a value that is not drawn here. They are also for graphical parameters that R does not
#'   know or cannot draw with, for `add` without a plot, and for a bandwidth whose objective is infinite.
#' @section Units: The axes of a fit have the units of the regressor and of the response. A bandwidth has the units of
#'   the regressor. `"cv.ls"` has the square of the response's units, and `"cv.aic"` has no unit.
#' @section Cost: for a fit that of [predict()][predict.kestrel_reg] at 501 points.
#' @references Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 2.
#'
#'   Rohlfs, C. & Zahran, M. (2017) Optimal bandwidth selection for kernel regression using a fast grid search and a
#'   GPU. *IEEE International Parallel and Distributed Processing Symposium Workshops*, 550-556 (the curve over a grid).
#' @examples
#' bw <- npregbw(waiting ~ eruptions, data = faithful)
#' plot(bw)
#' plot(npreg(bw))
#' lines(npreg(waiting ~ eruptions, data = faithful, bws = 2), lty = 2)
#' @export
plot.kestrel_reg <- function(x, band = TRUE, drawpoints = TRUE, add = FALSE, col = NULL, xlab = NULL, ylab = NULL,
                             main = NULL, ...) {
  check_object(x, "x", "kestrel_reg")
  check_drawing_arguments(...)
  band <- band_asked_for(check_flag(band, "band"), ...)
  drawpoints <- check_flag(drawpoints, "drawpoints")
  add <- check_flag(add, "add")
  col <- if (is.null(col)) colours$curve else check_graphical(col, "col")
  more <- list(...)
  more <- more[!of_np_plot(names(more))]
  col.pt <- check_graphical(more$col.pt, "col.pt")
  more <- check_parameters(more[names(more) != "col.pt"])
  bws <- x$bws
  at <- curve_points(bws)
  curve <- values_at(x, at, band, run_options())
  half <- stats::qnorm((1 + x$level) / 2) * curve$se
  if (add) {
    check_plot_to_add_to()
  } else {
    seen <- c(if (drawpoints) bws$y, curve$mean, if (band) c(curve$mean - half, curve$mean + half))
    seen <- seen[is.finite(seen)]
    note <- if (band) paste0("Band: ", format(100 * x$level), " % confidence at each point")
    empty_plot(bws$x, seen, more, main = main, xlab = given_or(xlab, regressor_label(bws)),
               ylab = given_or(ylab, response_label(bws)), note = note)
    if (drawpoints) {
      look <- c(list(col = given_or(col.pt, data_colour())), look_of(more, pch = 16, cex = 0.6))
      drawing_with(more, draw_points(bws$x, bws$y, look))
    }
  }
  if (band) draw_band(at, curve$mean - half, curve$mean + half, grDevices::adjustcolor(col, 0.25))
  look <- look_of(more, lwd = 2, lty = 1)
  drawing_with(more, {
    # A light edge, for curves that cross dense data.
    if (look$lty[1L] %in% c(1, "solid")) graphics::lines(at, curve$mean, col = "white", lwd = max(look$lwd) + 2)
    do.call(graphics::lines, c(list(at, curve$mean, col = col), look))
  })
  invisible(x)
}

# Where the curve of a fit is computed.
curve_points <- function(bws) seq(min(bws$x), max(bws$x), length.out = 501L)

# Vectors have no names; then the call says what they were.
regressor_label <- function(bws) label_from_call(bws$xnames, "x", bws$call, c("xdat", "txdat"))

response_label <- function(bws) label_from_call(bws$ynames, "y", bws$call, c("ydat", "tydat"))

# np's arguments that would change the plot, with their values for what is drawn here.
np_plot_fixed_arguments <- list(gradients = FALSE, plot.behavior = "plot", xtrim = 0)

check_drawing_arguments <- function(...) {
  check_fixed_arguments(np_plot_fixed_arguments, ...)
  if ("type" %in% given_names(...)) abort_input("`type` must not be given: the plot has points and lines of its own.")
}

# Arguments of np's plots about errors, about the number of points, and about several regressors.
of_np_plot <- function(names) {
  names %in% c("errors", "neval", "common.scale", "perspective", "plot.par.mfrow", names(np_plot_fixed_arguments)) |
    startsWith(as.character(names), "plot.errors.")
}

# Whether a band is wanted, by np's arguments if they are given.
band_asked_for <- function(band, ...) {
  for (name in intersect(c("plot.errors.method", "errors"), given_names(...))) {
    band <- check_choice(...elt(match(name, given_names(...))), c("none", "asymptotic"), name) == "asymptotic"
  }
  band
}

# One polygon for each run of points with a band.
draw_band <- function(at, lower, upper, col) {
  known <- !is.na(lower)
  for (run in split(which(known), cumsum(!known)[known])) {
    draw_area(at[run], lower[run], upper[run], col)
  }
}

#' @rdname plot.kestrel_reg
#' @export
plot.kestrel_regbw <- function(x, col = NULL, xlab = NULL, ylab = NULL, main = NULL, ...) {
  check_object(x, "x", "kestrel_regbw")
  check_drawing_arguments(...)
  of_fit <- Filter(of_np_plot, given_names(...))
  if (length(of_fit) > 0L) {
    abort_input("`", of_fit[1L], "` must go with a fit: plot(npreg(x)) draws it, and this the objective over the grid.")
  }
  col <- if (is.null(col)) colours$curve else check_graphical(col, "col")
  known <- is.finite(x$cv)
  if (!any(known) || !is.finite(x$fval)) abort_input("`x` must have a finite objective to be plotted.")
  if (is.null(xlab)) xlab <- if (x$bw.scale == "np") "Bandwidth (as np counts)" else "Bandwidth"
  # The values of rejected bandwidths mean nothing, and may be so large that nothing else would be visible.
  counts <- known & (x$unsupported != "reject" | x$n.unsupported == 0L)
  more <- list(...)
  # The first line above the plot is for the label of the minimum.
  some <- any(x$n.unsupported > 0L)
  empty_plot(range(x$grid, x$bw), range(x$cv[counts], x$fval), more, xlab = xlab, main = main,
             ylab = given_or(ylab, objective_name(x)), above = if (some) 2 else 1,
             note = if (some) "Grey: observations without a neighbour")
  draw_unsupported(x)
  drawing_with(more, {
    do.call(graphics::lines, c(list(x$grid[known], x$cv[known], col = col), look_of(more, lty = 1, lwd = 1)))
    do.call(graphics::points, c(list(x$grid[known], x$cv[known]), look_of(more, pch = 16, cex = 0.6),
                                list(col = ifelse(x$n.unsupported[known] > 0L, colours$faint, col))))
  })
  graphics::segments(x$bw, plot_corners()[3L], x$bw, x$fval, lty = 2, col = colours$mark)
  graphics::points(x$bw, x$fval, pch = 21, cex = 1.3, bg = colours$mark, col = "white")
  if (!isFALSE(more$ann) && graphics::par("ann")) {
    graphics::mtext(paste0("h = ", format_short(x$bw)), side = 3, line = 0.2, at = x$bw, col = colours$mark,
                    cex = 0.8 * graphics::par("cex"))
  }
  invisible(x)
}

objective_name <- function(bws) if (bws$method == "cv.ls") "Mean squared leave-one-out error" else "Corrected AIC"

# Observations without a neighbour only become fewer with h, so these bandwidths are the first of the grid.
draw_unsupported <- function(bws) {
  lost <- sum(bws$n.unsupported > 0L)
  if (lost == 0L) return(invisible())
  usr <- plot_corners()
  edge <- if (lost < length(bws$grid)) mean(bws$grid[lost + 0:1]) else usr[2L]
  graphics::rect(usr[1L], usr[3L], edge, usr[4L], col = colours$pale, border = NA)
}
