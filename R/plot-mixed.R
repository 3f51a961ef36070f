# Plots of fits of several regressors or of factors: partial plots, in each of which one regressor varies while the
# others stay at their medians or most frequent levels, and a surface for two numeric regressors.

#' @rdname plot.kestrel_reg
#' @export
plot.kestrel_mixed <- function(x, band = TRUE, drawpoints = FALSE, col = NULL, xlab = NULL, ylab = NULL, main = NULL,
                               gradients = FALSE, lwd = 2, lty = 1, neval = 50, xtrim = 0, xq = 0.5,
                               common.scale = TRUE, perspective = TRUE, plot.par.mfrow = TRUE,
                               plot.behavior = c("plot", "plot-data", "data"), plot.errors.style = c("band", "bar"),
                               theta = 40, phi = 20, zlab = NULL, ...) {
  check_object(x, "x", "kestrel_reg")
  asked <- errors_asked_for(...)
  more <- list(...)
  look <- list(band = if (is.null(asked)) check_flag(band, "band") else asked,
               drawpoints = check_flag(drawpoints, "drawpoints"), gradients = check_flag(gradients, "gradients"),
               common = check_flag(common.scale, "common.scale"),
               style = check_choice(plot.errors.style, c("band", "bar"), "plot.errors.style"),
               col = if (is.null(col)) colours$curve else check_graphical(col, "col"), xlab = xlab, main = main,
               mfrow = check_flag(plot.par.mfrow, "plot.par.mfrow"), lwd = lwd, lty = lty)
  behavior <- check_choice(plot.behavior, c("plot", "plot-data", "data"), "plot.behavior")
  bws <- x$bws
  neval <- check_count(neval, "neval", 2L)
  xtrim <- check_share(xtrim, "xtrim")
  held <- held_values(bws, xq)
  surface <- check_flag(perspective, "perspective") && has_surface(bws) && !look$gradients
  run <- run_options()
  if (surface) {
    theta <- check_graphical(theta, "theta")
    phi <- check_graphical(phi, "phi")
    more <- more[!of_np_plot(names(more))]
    more <- parameters_for(more[!names(more) %in% c("theta", "phi")], "persp")
    values_at <- function(points) mixed_values_at(x, points, TRUE, run, FALSE)
    panels <- list(surface_of(bws, neval, xtrim, values_at))
  } else {
    more <- check_parameters(c(more[!of_np_plot(names(more))], list(lwd = lwd, lty = lty)))
    values_at <- function(points) mixed_values_at(x, points, look$band, run, look$gradients)
    panels <- lapply(seq_len(bws$ndim), function(k) panel_of(bws, k, held, neval, xtrim, values_at))
  }
  data <- data_of_panels(x, panels, look$gradients, isTRUE(asked), surface)
  if (behavior == "data") return(data)
  if (surface) {
    draw_fitted_surface(panels[[1L]], bws, list(col = look$col, xlab = xlab, ylab = ylab, main = main, theta = theta,
                                         phi = phi, zlab = given_or(zlab, response_label(bws))), more)
  } else {
    usual <- paste0(if (look$gradients) "Gradient of ", response_label(bws))
    draw_panels(bws, panels, look, given_or(ylab, usual), more, x$level)
  }
  if (behavior == "plot") invisible(x) else data
}

# Where the regressors that do not vary stay: at the quantile `xq` of numbers and ordered factors, one for all or one
# each, and at the most frequent level of factors.
held_values <- function(bws, xq) {
  xq <- plain(xq)
  if (!is_numbers(xq) || !length(xq) %in% c(1L, bws$ndim) || anyNA(xq) || any(xq < 0 | xq > 1)) {
    abort_input("`xq` must be a number from 0 to 1, or one for each of the ", bws$ndim, " regressors, not ",
                describe_value(xq), ".")
  }
  columns <- unclass(bws$x)
  lapply(seq_along(columns), function(k) {
    column <- columns[[k]]
    share <- rep_len(xq, length(columns))[k]
    if (!is.factor(column)) return(in_dates(stats::quantile(numbers_of(column), share, names = FALSE), column))
    codes <- as.integer(column)
    code <- if (is.ordered(column)) stats::quantile(codes, share, type = 1, names = FALSE) else
      which.max(tabulate(codes))
    factor(levels(column)[code], levels(column), ordered = is.ordered(column))
  })
}

frame_of <- function(columns, names) {
  structure(stats::setNames(columns, names), class = "data.frame", row.names = .set_row_names(length(columns[[1L]])))
}

# The fit as the k-th regressor varies: `at` are its values.
panel_of <- function(bws, k, held, neval, xtrim, values_at) {
  column <- bws$x[[k]]
  at <- if (is.factor(column)) {
    factor(levels(column), levels(column), ordered = is.ordered(column))
  } else {
    ends <- plot_ends(numbers_of(column), xtrim)
    in_dates(seq(ends[1L], ends[2L], length.out = neval), column)
  }
  columns <- lapply(held, rep, length(at))
  columns[[k]] <- at
  points <- frame_of(columns, bws$xnames)
  c(list(at = at, points = points, k = k), values_at(points))
}

# Whether a fit is a surface over two numbers. Such a plot has no axes for dates.
has_surface <- function(bws) {
  bws$ncon == 2L && bws$ndim == 2L && !any(vapply(unclass(bws$x)[1:2], is_date, NA))
}

surface_of <- function(bws, neval, xtrim, values_at) {
  axes <- lapply(unclass(bws$x), function(column) {
    ends <- plot_ends(column, xtrim)
    seq(ends[1L], ends[2L], length.out = neval)
  })
  points <- frame_of(list(rep(axes[[1L]], neval), rep(axes[[2L]], each = neval)), bws$xnames)
  c(list(axes = axes, points = points), values_at(points))
}

# What np's plots return: r1, r2, ..., or rg1, ... for gradients, each with all points of its panel.
data_of_panels <- function(x, panels, gradients, errors, surface) {
  twice <- function(error) if (errors) cbind(-2 * error, 2 * error) else matrix(0, 0L, 2L)
  made <- lapply(panels, function(panel) {
    data <- list(bw = x$bw, bws = x$bws, eval = panel$points, mean = panel$mean,
                 merr = if (gradients) panel$se else twice(panel$se), bias = numeric(0), ntrain = x$nobs,
                 trainiseval = FALSE, gradients = gradients)
    if (gradients) data[c("grad", "gerr")] <- list(panel$grad[, panel$k], twice(panel$gerr[, panel$k]))
    structure(data, class = c("kestrel_curve", "npregression"))
  })
  stats::setNames(made, paste0(if (gradients) "rg" else "r", seq_along(made)))
}

draw_panels <- function(bws, panels, look, ylab, more, level) {
  drawn <- lapply(panels, function(panel) {
    value <- if (look$gradients) panel$grad[, panel$k] else panel$mean
    half <- if (look$band) {
      stats::qnorm((1 + level) / 2) * (if (look$gradients) panel$gerr[, panel$k] else panel$se)
    }
    list(value = value, lower = if (look$band) value - half, upper = if (look$band) value + half)
  })
  points <- look$drawpoints && !look$gradients
  if (look$mfrow && length(panels) > 1L) {
    before <- graphics::par(mfrow = grDevices::n2mfrow(length(panels)))
    on.exit(graphics::par(before))
  }
  all <- unlist(c(drawn, if (points) list(bws$y)))
  for (k in seq_along(panels)) {
    seen <- if (look$common) all else c(unlist(drawn[[k]]), if (points) bws$y)
    seen <- seen[is.finite(seen)]
    draw_panel(bws, panels[[k]]$at, drawn[[k]], if (length(seen) > 0L) range(seen) else c(0, 1), k, look, ylab, more,
               points)
  }
}

# A curve over numbers, or a dot for each level.
draw_panel <- function(bws, at, values, seen, k, look, ylab, more, points) {
  levelled <- is.factor(at)
  place <- if (levelled) seq_along(at) else numbers_of(at)
  frame <- more[!names(more) %in% c("lwd", "lty", "pch", "cex", "col.pt")]
  if (levelled) frame <- utils::modifyList(list(xaxt = "n", xlim = c(0.5, length(at) + 0.5)), frame)
  empty_plot(if (levelled) place else at, seen, frame, main = look$main,
             xlab = given_or(look$xlab, bws$xnames[k]), ylab = ylab)
  if (levelled) graphics::axis(1L, place, levels(at))
  if (points) {
    x <- bws$x[[k]]
    draw_points(as.numeric(x), bws$y, c(list(col = given_or(more$col.pt, data_colour())),
                                        look_of(more, pch = 16, cex = 0.6)))
  }
  lines <- look_of(more, lwd = look$lwd, lty = look$lty)
  if (!is.null(values$lower)) {
    if (levelled || look$style == "bar") {
      few <- if (levelled) place else round(seq(1, length(at), length.out = min(25, length(at))))
      graphics::segments(place[few], values$lower[few], place[few], values$upper[few], col = look$col)
    } else {
      draw_band(place, values$lower, values$upper, grDevices::adjustcolor(look$col, 0.25))
    }
  }
  drawing_with(more, {
    if (levelled) graphics::points(place, values$value, pch = 19, col = look$col) else
      do.call(graphics::lines, c(list(place, values$value, col = look$col), lines))
  })
}

draw_fitted_surface <- function(panel, bws, style, more) {
  z <- matrix(panel$mean, length(panel$axes[[1L]]))
  usual <- list(col = colours$shade, border = style$col, ticktype = "detailed", shade = NULL, expand = 0.7,
                xlab = given_or(style$xlab, bws$xnames[1L]), ylab = given_or(style$ylab, bws$xnames[2L]),
                zlab = style$zlab, main = style$main, theta = style$theta, phi = style$phi)
  drawing_with(more, do.call(graphics::persp, c(unname(panel$axes), list(z), utils::modifyList(usual, more)),
                             quote = TRUE))
}
