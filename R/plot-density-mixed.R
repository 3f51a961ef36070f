#' Plot a kernel density or distribution function of mixed data
#'
#' With one column the plot shows the density with its confidence band, and with two numbers a surface, unless one of
#' them is a date. Otherwise there is a plot for each column, along which the others stay at their medians or most
#' frequent levels, as in \pkg{np}. For a conditional density these are the variables of y and then those of x.
#'
#' @param x an object made by [npudens()], [npcdens()], [npudist()] or [npcdist()], or bandwidths of these.
#' @param band if TRUE, draw the confidence band, density -+ 1.96 standard errors.
#' @param col colour of the curve; a blue if NULL.
#' @param xlab,ylab,zlab,main labels. If NULL they are the names of the columns.
#' @param lwd,lty width and line type of the curve.
#' @param neval the number of points along a column of numbers.
#' @param xtrim the share of the data beyond the curve, at each end.
#' @param xq where columns stay that do not vary: the quantile of numbers and ordered factors, one for all or one each.
#' @param common.scale if TRUE, all plots have the same vertical axis.
#' @param perspective if FALSE, draw two curves for two columns of numbers.
#' @param plot.par.mfrow if TRUE, several plots share the page.
#' @param plot.behavior `"plot"` draws, `"data"` returns what would be drawn, and `"plot-data"` does both.
#' @param plot.errors.style `"band"`, or `"bar"` for up to 25 bars.
#' @param theta,phi the angles of the surface, as in [graphics::persp()].
#' @param ... further graphical parameters, and the arguments of \pkg{np} for a band, as in [plot.kestrel_reg()].
#' @return `x`, invisibly. With `plot.behavior = "data"` or `"plot-data"` a list with an entry for each plot, `d1`,
#'   `d2`, ..., with the points `eval`, `dens` and `derr` there, as in \pkg{np}. For a conditional density they are
#'   `cd1`, ..., with `condens` and `conderr`. Those of a distribution function are `dist` and `condist`.
#' @section Units: The vertical axis is in the reciprocal of the product of the units of the numbers, and the others in
#'   the units of the columns.
#' @section Errors: Errors of class `kestrel_error_input` are for arguments of another type, and for graphical
#'   parameters that R does not know or cannot draw with.
#' @section Cost: That of [predict()][predict.kestrel_dens] at the points that are drawn: 50 for each column of numbers,
#'   or 2,500 for a surface.
#' @references Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 4.
#' @examples
#' plot(npudens(~ mpg + factor(cyl), data = mtcars))
#' plot(npudens(~ eruptions + waiting, data = faithful))
#' @export
plot.kestrel_dens <- function(x, band = TRUE, col = NULL, xlab = NULL, ylab = NULL, main = NULL, lwd = 2, lty = 1,
                              neval = 50, xtrim = 0, xq = 0.5, common.scale = TRUE, perspective = TRUE,
                              plot.par.mfrow = TRUE, plot.behavior = c("plot", "plot-data", "data"),
                              plot.errors.style = c("band", "bar"), theta = 40, phi = 20, zlab = NULL, ...) {
  check_object(x, "x", "kestrel_dens")
  core <- density_core(x$bws)
  raw <- density_raw(x$bws)
  run <- run_options()
  values_at <- function(points) stats::setNames(density_values_at(core, raw, points, run), c("mean", "se"))
  label <- estimated(core)
  label <- if (any(core$given)) paste("Conditional", label) else sub("^(.)", "\\U\\1", label, perl = TRUE)
  behavior <- check_choice(plot.behavior, c("plot", "plot-data", "data"), "plot.behavior")
  panels <- partial_panels(core, values_at, label, list(
    band = band, col = col, xlab = xlab, ylab = ylab, main = main, lwd = lwd, lty = lty, neval = neval, xtrim = xtrim,
    xq = xq, common.scale = common.scale, perspective = perspective, plot.par.mfrow = plot.par.mfrow,
    plot.errors.style = plot.errors.style, theta = theta, phi = phi, zlab = zlab, drawpoints = FALSE
  ), behavior != "data", ...)
  if (behavior == "plot") invisible(x) else data_of_density_panels(x, panels)
}

# Partial plots along the columns of a core, or a surface over two of numbers; `values_at` gives `mean` and `se` at
# points. The arguments of a plot, `given`, are checked here.
partial_panels <- function(core, values_at, label, given, draw, ...) {
  asked <- errors_asked_for(...)
  more <- list(...)
  flag <- function(name) check_flag(given[[name]], name)
  look <- list(band = if (is.null(asked)) flag("band") else asked, gradients = FALSE, common = flag("common.scale"),
               drawpoints = flag("drawpoints"),
               style = check_choice(given$plot.errors.style, c("band", "bar"), "plot.errors.style"),
               col = if (is.null(given$col)) colours$curve else check_graphical(given$col, "col"), xlab = given$xlab,
               main = given$main, mfrow = flag("plot.par.mfrow"), lwd = given$lwd, lty = given$lty)
  neval <- check_count(given$neval, "neval", 2L)
  xtrim <- check_share(given$xtrim, "xtrim")
  held <- held_values(core, given$xq)
  if (flag("perspective") && has_surface(core)) {
    style <- list(col = look$col, xlab = given$xlab, ylab = given$ylab, main = given$main,
                  theta = check_graphical(given$theta, "theta"), phi = check_graphical(given$phi, "phi"),
                  zlab = given_or(given$zlab, label))
    more <- more[!of_np_plot(names(more)) & !names(more) %in% c("theta", "phi")]
    more <- parameters_for(more, "persp")
    panels <- list(surface_of(core, neval, xtrim, values_at))
    if (draw) draw_fitted_surface(panels[[1L]], core, style, more)
  } else {
    more <- check_parameters(c(more[!of_np_plot(names(more))], list(lwd = look$lwd, lty = look$lty)))
    panels <- lapply(seq_len(core$ndim), function(k) panel_of(core, k, held, neval, xtrim, values_at))
    if (draw) draw_panels(core, panels, look, given_or(given$ylab, label), more, 0.95)
  }
  panels
}

data_of_density_panels <- function(x, panels) {
  value <- density_field(x)
  made <- lapply(panels, function(panel) {
    c(list(bw = density_core(x$bws)$bw, bws = x$bws, eval = panel$points, ntrain = x$ntrain, trainiseval = FALSE),
      stats::setNames(panel[c("mean", "se")], c(value, error_field(x))))
  })
  stats::setNames(made, paste0(if (value %in% c("dens", "dist")) "d" else "cd", seq_along(made)))
}

#' @rdname plot.kestrel_dens
#' @export
plot.kestrel_densbw <- function(x, ...) {
  check_object(x, "x", "kestrel_densbw")
  fit <- if (inherits(x, "kestrel_condensbw")) {
    estimate_conditional(x, NULL, FALSE, NULL, FALSE, x$call)
  } else {
    estimate_density(x, NULL, NULL, FALSE, x$call)
  }
  drawn <- plot.kestrel_dens(fit, ...)
  if (inherits(drawn, "kestrel_dens")) invisible(x) else drawn
}
