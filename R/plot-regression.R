#' Plot a kernel regression or its cross-validation curve
#'
#' The plot of a fit shows the data, the curve and its confidence band. The plot of a bandwidth is that of its fit, as
#' in \pkg{np}, or with `what = "cv"` shows the objective over the bandwidths of the scan or the grid, with its
#' minimum. There the background is grey where some observations have no neighbour. `npplot()` is `plot()` of a
#' bandwidth.
#'
#' With several regressors, or a factor, there is a plot for each regressor, of the fit as it varies. The others stay at
#' their medians, factors at their most frequent level, or at the quantiles `xq`. A factor has a dot and a bar for each
#' level. For two numbers, none of them a date, the plot is a surface, unless `perspective = FALSE` or `gradients =
#' TRUE`.
#'
#' The curve of a fit is computed at 501 points over the range of the data, for any points at which the fit was
#' evaluated. It has gaps where there is no observation within the bandwidth. If there are more than 1,000 observations,
#' one is drawn for each small part of the plot. It is darker if it stands for more observations.
#'
#' `lines()` adds the curve of a fit to an existing plot. `points()` adds its values at the points where it was
#' evaluated.
#'
#' @param x,bws an object made by [npreg()] or by [npregbw()]; for `npplot()` by [npregbw()],
#'   or by [npudensbw()] or [npcdensbw()], whose plots are [those of densities][plot.kestrel_dens()].
#' @param what for a bandwidth: its `"fit"`, or the curve of the objective, `"cv"`.
#' @param band if TRUE, draw the confidence band.
#' @param drawpoints if TRUE, draw the data.
#' @param add if TRUE, add curve and band to a plot.
#' @param col colour of the curve; a blue if NULL.
#' @param xlab,ylab,main labels. If NULL they are the names of the variables, and for vectors the expressions in the
#'   call.
#' @param gradients if TRUE, draw the gradient and its band, without the data. For a factor these are its effects.
#' @param type,lwd,lty type, width and line type of the curve, as in [graphics::lines()].
#' @param neval the number of points of the curve, by default 501, or 50 if they are returned or there are several
#'   regressors. A surface has so many in each direction.
#' @param xtrim the share of the data beyond the curve, at each end.
#' @param xq where the regressors stay that do not vary: a quantile for all, or one for each. It has no effect on
#'   factors without an order.
#' @param common.scale if TRUE, the plots of all regressors have the same y axis.
#' @param perspective if FALSE, two numbers have a plot each.
#' @param plot.par.mfrow if FALSE, do not set `par(mfrow = )`, as within a [graphics::layout()] of one's own.
#' @param theta,phi,zlab angles and the label of the third axis of a surface, as in [graphics::persp()].
#' @param plot.behavior `"plot"` draws, `"data"` returns what would be drawn, and `"plot-data"` does both.
#' @param plot.errors.style `"band"`, or `"bar"` for up to 25 bars.
#' @param random.seed accepted for scripts written for \pkg{np}, without effect.
#' @param ... for a bandwidth the arguments of the plot of a fit. Otherwise further graphical parameters of the empty
#'   plot. `pch` and `cex` are those of the observations, whose colour is `col.pt`. `lines()` and `points()` take the
#'   parameters of [graphics::lines()]. A plot of a fit also takes the arguments of \pkg{np} for a band:
#'   `plot.errors.method` or `errors`, which are `"asymptotic"`, `"bootstrap"` or `"none"`. Both kinds of errors are
#'   the standard errors of the fit. Its other arguments that begin with `plot.errors.`, and `view`, have no effect, nor
#'   have those for several regressors where there is one.
#' @return `x`, invisibly. With `plot.behavior = "data"` or `"plot-data"` a list, as in \pkg{np}. Its entry `r1` has the
#'   curve: `eval` and `mean`, or for gradients the entry `rg1` with `grad`. With several regressors there are `r2`,
#'   `r3`, ..., too. If errors are asked for by np's arguments,
#'   `merr` or `gerr` has two columns, -2 and 2 standard errors.
#' @section Errors: Errors of class `kestrel_error_input` are for flags that are not TRUE or FALSE, and for
#'   arguments of np with an unknown value. They are also for graphical parameters that R does not
#'   know or cannot draw with, for `add` without a plot, and for a bandwidth whose objective is infinite.
#' @section Units: The axes of a fit have the units of the regressor and of the response. A bandwidth has the units of
#'   the regressor. `"cv.ls"` has the square of the response's units, and `"cv.aic"` has no unit.
#' @section Cost: for a fit that of [predict()][predict.kestrel_reg] at 501 points, with several regressors at 50 for
#'   each, and for a surface at 2500.
#' @references Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 2.
#'
#'   Rohlfs, C. & Zahran, M. (2017) Optimal bandwidth selection for kernel regression using a fast grid search and a
#'   GPU. *IEEE International Parallel and Distributed Processing Symposium Workshops*, 550-556 (the curve over a grid).
#' @examples
#' bw <- npregbw(waiting ~ eruptions, data = faithful)
#' plot(bw)
#' plot(bw, what = "cv")
#' head(plot(bw, plot.behavior = "data")$r1$mean)
#' lines(npreg(waiting ~ eruptions, data = faithful, bws = 2), lty = 2)
#'
#' plot(npreg(mpg ~ wt + factor(cyl), data = mtcars))
#' plot(npreg(mpg ~ wt + hp, data = mtcars), theta = 50)
#' @export
plot.kestrel_reg <- function(x, band = TRUE, drawpoints = TRUE, add = FALSE, col = NULL, xlab = NULL, ylab = NULL,
                             main = NULL, gradients = FALSE, type = "l", lwd = 2, lty = 1, neval = NULL, xtrim = 0,
                             plot.behavior = c("plot", "plot-data", "data"), plot.errors.style = c("band", "bar"),
                             ...) {
  check_object(x, "x", "kestrel_reg")
  asked <- errors_asked_for(...)
  band <- if (is.null(asked)) check_flag(band, "band") else asked
  drawpoints <- check_flag(drawpoints, "drawpoints")
  add <- check_flag(add, "add")
  gradients <- check_flag(gradients, "gradients")
  behavior <- check_choice(plot.behavior, c("plot", "plot-data", "data"), "plot.behavior")
  style <- check_choice(plot.errors.style, c("band", "bar"), "plot.errors.style")
  type <- check_choice(type, c("l", "p", "b", "o", "s", "h", "n"), "type")
  col <- if (is.null(col)) colours$curve else check_graphical(col, "col")
  more <- list(...)
  more <- more[!of_np_plot(names(more))]
  col.pt <- check_graphical(more$col.pt, "col.pt")
  more <- check_parameters(c(more[names(more) != "col.pt"], list(lwd = lwd, lty = lty)))
  bws <- x$bws
  # As many points as in np where they are returned.
  if (is.null(neval) && behavior != "plot") neval <- 50L
  curve <- curve_to_draw(x, neval, xtrim, band, gradients)
  data <- data_of_plot(x, curve, gradients, isTRUE(asked))
  if (behavior == "data") return(data)
  at <- curve$at
  value <- if (gradients) curve$grad else curve$mean
  half <- stats::qnorm((1 + x$level) / 2) * (if (gradients) curve$gerr else curve$se)
  if (add) {
    check_plot_to_add_to()
  } else {
    drawpoints <- drawpoints && !gradients
    seen <- c(if (drawpoints) bws$y, value, if (band) c(value - half, value + half))
    note <- if (band) paste0("Band: ", format(100 * x$level), " % confidence at each point")
    empty_plot(in_dates(bws$x, bws$dates), seen[is.finite(seen)], more[!names(more) %in% c("lwd", "lty")], main = main,
               xlab = given_or(xlab, regressor_label(bws)),
               ylab = given_or(ylab, paste0(if (gradients) "Gradient of ", response_label(bws))), note = note)
    if (drawpoints) {
      look <- c(list(col = given_or(col.pt, data_colour())), look_of(more, pch = 16, cex = 0.6))
      drawing_with(more, draw_points(bws$x, bws$y, look))
    }
  }
  if (band && style == "band") draw_band(at, value - half, value + half, grDevices::adjustcolor(col, 0.25))
  if (band && style == "bar") {
    few <- round(seq(1, length(at), length.out = min(25, length(at))))
    graphics::segments(at[few], (value - half)[few], at[few], (value + half)[few], col = col)
  }
  look <- look_of(more, lwd = 2, lty = 1)
  drawing_with(more, {
    # A light edge, for curves that cross dense data.
    if (type == "l" && look$lty[1L] %in% c(1, "solid")) {
      graphics::lines(at, value, col = "white", lwd = max(look$lwd) + 2)
    }
    do.call(graphics::lines, c(list(at, value, col = col, type = type), look))
  })
  if (behavior == "plot") invisible(x) else data
}

# The fit at `neval` points to draw, by default 501, which are `at`.
curve_to_draw <- function(x, neval = NULL, xtrim = 0, errors = FALSE, gradients = FALSE) {
  count <- if (is.null(neval)) 501L else check_count(neval, "neval", 2L)
  xtrim <- check_share(xtrim, "xtrim")
  ends <- plot_ends(x$bws$x, xtrim)
  at <- seq(ends[1L], ends[2L], length.out = count)
  c(list(at = at), values_at(x, at, errors, run_options(), gradients = gradients))
}

# A share of the data beyond each end.
check_share <- function(value, name) {
  value <- plain(value)
  if (!is_number(value) || value < 0 || value >= 0.5) {
    abort_input("`", name, "` must be a number from 0 to below 0.5, not ", describe_value(value), ".")
  }
  value
}

plot_ends <- function(x, xtrim) {
  if (xtrim > 0) stats::quantile(x, c(xtrim, 1 - xtrim), names = FALSE) else ranges_cpp(x)
}

# What np's plots return: in a list an object whose standard errors are two columns, the distances of a band of twice
# their length from the curve.
data_of_plot <- function(x, curve, gradients, errors) {
  twice <- function(error) if (errors) cbind(-2 * error, 2 * error) else matrix(0, 0L, 2L)
  at <- in_dates(curve$at, x$bws$dates)
  made <- list(bw = x$bw, bws = x$bws, eval = stats::setNames(data.frame(at), x$xnames), mean = curve$mean,
               merr = if (gradients) curve$se else twice(curve$se), bias = numeric(0), ntrain = x$nobs,
               trainiseval = FALSE, gradients = gradients)
  if (gradients) made[c("grad", "gerr")] <- list(curve$grad, twice(curve$gerr))
  stats::setNames(list(structure(made, class = c("kestrel_curve", "npregression"))), if (gradients) "rg1" else "r1")
}

#' @export
fitted.kestrel_curve <- function(object, ...) check_object(object, "object", "kestrel_curve")$mean

#' @export
se.kestrel_curve <- function(object, ...) check_object(object, "object", "kestrel_curve")$merr

#' @export
gradients.kestrel_curve <- function(x, errors = FALSE, ...) {
  check_object(x, "x", "kestrel_curve")[[if (check_flag(errors, "errors")) "gerr" else "grad"]]
}

# Vectors have no names; then the call says what they were.
regressor_label <- function(bws) label_from_call(bws$xnames, "x", bws$call, c("xdat", "txdat"))

response_label <- function(bws) label_from_call(bws$ynames, "y", bws$call, c("ydat", "tydat"))

# Arguments of np's plots about errors and about several regressors.
of_np_plot <- function(names) {
  names %in% c("errors", "common.scale", "perspective", "plot.par.mfrow", "view", "theta", "phi", "zlim", "zlab",
               "border", "random.seed", "xq", "plot.bxp", "plot.bxp.out") |
    startsWith(as.character(names), "plot.errors.")
}

# Whether errors are wanted, by np's arguments; NULL if these are not given.
errors_asked_for <- function(...) {
  for (name in intersect(c("plot.errors.method", "errors"), given_names(...))) {
    method <- check_choice(...elt(match(name, given_names(...))), c("none", "bootstrap", "asymptotic"), name)
    if (method == "bootstrap") {
      inform_once("bootstrap", "`", name, "` = \"bootstrap\" draws the standard errors of the fit: like a bootstrap ",
                  "of pairs they do not assume a constant variance.")
    }
    return(method != "none")
  }
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
plot.kestrel_regbw <- function(x, what = c("fit", "cv"), ...) {
  check_object(x, "x", "kestrel_regbw")
  if (check_choice(what, c("fit", "cv"), "what") == "cv") {
    if (is_mixed_object(x)) abort_input("`what` must be \"fit\" for several regressors or factors, not \"cv\".")
    return(plot_objective(x, ...))
  }
  fit <- npreg.kestrel_regbw(x, se = FALSE)
  drawn <- if (is_mixed_object(x)) plot.kestrel_mixed(fit, ...) else plot.kestrel_reg(fit, ...)
  if (inherits(drawn, "kestrel_reg")) invisible(x) else drawn
}

#' @rdname plot.kestrel_reg
#' @export
npplot <- function(bws, ..., random.seed = 42) {
  if (inherits(bws, c("kestrel_densbw", "kestrel_dens"))) return(graphics::plot(bws, ...))
  check_object(bws, "bws", "kestrel_regbw")
  plot.kestrel_regbw(bws, ...)
}

# The objective over the bandwidths that were evaluated.
plot_objective <- function(x, col = NULL, xlab = NULL, ylab = NULL, main = NULL, ...) {
  col <- if (is.null(col)) colours$curve else check_graphical(col, "col")
  known <- is.finite(x$cv)
  if (!any(known) || !is.finite(x$fval)) abort_input("`x` must have a finite objective to be plotted.")
  if (is.null(xlab)) xlab <- if (is_nearest(x)) "Neighbours" else if (x$scaling) "Scale factor" else "Bandwidth"
  # The values of rejected bandwidths mean nothing, and may be so large that nothing else would be visible.
  counts <- known & (x$unsupported != "reject" | x$n.unsupported == 0L)
  more <- list(...)
  # The bandwidths of a scan are in equal ratios. One that stands for an infinite bandwidth is beyond them.
  if (x$search == "global") more <- utils::modifyList(list(log = "x"), more)
  mark <- min(x$bw, max(x$grid))
  # The first line above the plot is for the label of the minimum.
  some <- any(x$n.unsupported > 0L)
  empty_plot(range(x$grid, mark), range(x$cv[counts], x$fval), more, xlab = xlab, main = main,
             ylab = given_or(ylab, objective_name(x)), above = if (some) 2 else 1,
             note = if (some) "Grey: observations without a neighbour")
  draw_unsupported(x)
  drawing_with(more, {
    do.call(graphics::lines, c(list(x$grid[known], x$cv[known], col = col), look_of(more, lty = 1, lwd = 1)))
    do.call(graphics::points, c(list(x$grid[known], x$cv[known]), look_of(more, pch = 16, cex = 0.6),
                                list(col = ifelse(x$n.unsupported[known] > 0L, colours$faint, col))))
  })
  graphics::segments(mark, plot_corners()[3L], mark, x$fval, lty = 2, col = colours$mark)
  graphics::points(mark, x$fval, pch = 21, cex = 1.3, bg = colours$mark, col = "white")
  if (!isFALSE(more$ann) && graphics::par("ann")) {
    graphics::mtext(paste0(if (is_nearest(x)) "k = " else "h = ", format_short(x$bw)), side = 3, line = 0.2, at = mark,
                    col = colours$mark,
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
