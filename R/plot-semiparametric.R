# Partial plots of models without standard errors of the fit: one for each column, in which this column varies.

# `columns`, with their `names`: the regressors; `y`: the responses, of the name `label`. value_at(points) returns fits.
# `asked`: the arguments of the plot.
plot_partial <- function(x, columns, names, label, y, value_at, asked, ...) {
  kinds <- unname(kinds_of(columns))
  core <- list(x = frame_of(columns, names), y = y, xnames = names, ynames = label, icon = kinds == "continuous",
               ndim = length(columns), call = x$call)
  look <- list(band = FALSE, drawpoints = check_flag(asked$drawpoints, "drawpoints"), gradients = FALSE,
               common = check_flag(asked$common, "common.scale"), style = "band",
               col = if (is.null(asked$col)) colours$curve else check_graphical(asked$col, "col"), xlab = asked$xlab,
               main = asked$main, mfrow = check_flag(asked$mfrow, "plot.par.mfrow"), lwd = 2, lty = 1)
  behavior <- check_choice(asked$behavior, c("plot", "plot-data", "data"), "plot.behavior")
  neval <- check_count(asked$neval, "neval", 2L)
  xtrim <- check_share(asked$xtrim, "xtrim")
  held <- held_values(core, asked$xq)
  more <- list(...)
  more <- check_parameters(more[!of_np_plot(names(more))])
  panels <- lapply(seq_len(core$ndim), function(k) {
    panel_of(core, k, held, neval, xtrim, function(points) list(mean = value_at(points)))
  })
  data <- lapply(panels, function(panel) list(eval = panel$points, mean = panel$mean))
  names(data) <- paste0("r", seq_along(data))
  if (behavior == "data") return(data)
  draw_panels(core, panels, look, given_or(asked$ylab, label), more, NULL)
  if (behavior == "plot") invisible(x) else data
}
