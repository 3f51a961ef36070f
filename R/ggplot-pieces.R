# What pictures by ggplot2 are made of: layers, scales, and pictures of one form.

# Aesthetics by the names of columns.
by_columns <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

picture <- function(layers, labels, rest = list()) list(layers = layers, labels = labels, rest = rest)

# In one colour if none is mapped.
curve_layer <- function(frame, x, y, ...) {
  plain <- if (...length() == 0L) list(colour = colours$curve)
  do.call(ggplot2::geom_line, c(list(by_columns(x = x, y = y, ...), frame, inherit.aes = FALSE), plain))
}

contour_layer <- function(frame, names, value, colour) {
  ggplot2::geom_contour(by_columns(x = names[1L], y = names[2L], z = value, colour = colour), frame,
                        inherit.aes = FALSE)
}

# Contour lines in the colours of their levels.
level_layer <- function(frame, names, value) {
  colour <- quote(ggplot2::after_stat(level))
  columns <- lapply(list(x = names[1L], y = names[2L], z = value), as.name)
  aesthetics <- do.call(ggplot2::aes, c(columns, colour = colour))
  ggplot2::geom_contour(aesthetics, frame, inherit.aes = FALSE)
}

band_layer <- function(frame, x, lower, upper) {
  ggplot2::geom_ribbon(by_columns(x = x, ymin = lower, ymax = upper), frame, inherit.aes = FALSE, fill = colours$curve,
                       alpha = 0.25)
}

region_layer <- function(frame) {
  ggplot2::geom_polygon(by_columns(x = "x", y = "y", group = "group", subgroup = "subgroup", fill = "probability"),
                        frame, inherit.aes = FALSE)
}

# Light for large regions, and dark for small ones.
region_scale <- function(cont) {
  cont <- sort(unique(cont), decreasing = TRUE)
  ggplot2::scale_fill_manual(values = stats::setNames(fill_colours(length(cont)), paste0(cont, "%")))
}

need_grid <- function(x) {
  if (!x$gridded) abort_input("`object` must be an estimate on a grid to be drawn, not one at points.")
}

density_picture <- function(fhat, cont) {
  cont <- check_content(cont)
  d <- dimension(fhat)
  if (d <= 2L) need_grid(fhat) else if (!fhat$gridded) fhat <- known_as("object", with_axes(fhat))
  if (d == 1L) {
    frame <- as.data.frame(fhat)
    return(picture(list(curve_layer(frame, names(frame)[1L], "estimate")), list(x = fhat$names, y = "density")))
  }
  if (d == 2L) {
    return(picture(list(region_layer(region_bands(fhat, cont, 1L))), list(x = fhat$names[1L], y = fhat$names[2L]),
                   list(region_scale(cont))))
  }
  pairs <- utils::combn(d, 2L)
  bands <- lapply(seq_len(ncol(pairs)), function(k) {
    pair <- pairs[, k]
    title <- paste(fhat$names[pair], collapse = ", ")
    cbind(region_bands(marginal_of(fhat, pair, run_options()), cont, k), pair = title)
  })
  bands <- do.call(rbind, bands)
  bands$pair <- factor(bands$pair, unique(bands$pair))
  picture(list(region_layer(bands)), list(x = NULL, y = NULL),
          list(region_scale(cont), ggplot2::facet_wrap("pair", scales = "free")))
}

# Values on a grid that have no regions of highest density.
surface_picture <- function(x, frame, value, label) {
  need_grid(x)
  names <- names(frame)[seq_along(x$names)]
  if (length(names) == 1L) return(picture(list(curve_layer(frame, names, value)), list(x = x$names, y = label)))
  if (length(names) > 2L) abort_input("`object` must be of one or two variables to be drawn, not ", length(names), ".")
  picture(list(level_layer(frame, names, value)), list(x = x$names[1L], y = x$names[2L], colour = label))
}

# One panel for each variable of a model.
partial_picture <- function(x, variables, label) {
  panels <- graphics::plot(x, plot.behavior = "data", plot.errors.method = "asymptotic", perspective = FALSE)
  rows <- lapply(seq_along(panels), function(k) panel_rows(unclass(panels[[k]]), k))
  numeric <- vapply(rows, function(one) is.numeric(one$at), NA)
  names <- vapply(rows, function(one) as.character(one$variable[1L]), "")
  shown <- if (is.null(variables)) (if (any(numeric)) numeric else !numeric) else names %in% variables
  unknown <- setdiff(variables, names)
  if (length(unknown) > 0L || !any(shown) || length(unique(numeric[shown])) > 1L) {
    abort_input("`variables` must be names of numbers or of factors, but not of both, among ", quoted(names), ", not ",
                describe_value(variables), ".")
  }
  frame <- do.call(rbind, rows[shown])
  frame$variable <- factor(frame$variable, names[shown])
  with_band <- any(!is.na(frame$lower))
  layers <- if (is.numeric(frame$at)) {
    list(if (with_band) band_layer(frame, "at", "lower", "upper"), curve_layer(frame, "at", "value"))
  } else if (with_band) {
    list(ggplot2::geom_pointrange(by_columns(x = "at", y = "value", ymin = "lower", ymax = "upper"), frame,
                                  inherit.aes = FALSE, colour = colours$curve))
  } else {
    list(ggplot2::geom_point(by_columns(x = "at", y = "value"), frame, inherit.aes = FALSE, colour = colours$curve))
  }
  several <- sum(shown) > 1L
  picture(Filter(Negate(is.null), layers), list(x = if (several) NULL else names[shown], y = label),
          if (several) list(ggplot2::facet_wrap("variable", scales = "free_x")) else list())
}

# The values of the k-th panel of a plot: `at` of its variable, `value`, and the ends of a band of 95 %, NA without one.
panel_rows <- function(panel, k) {
  points <- unclass(if (is.null(panel$eval)) panel$xeval else panel$eval)
  value <- panel[[intersect(c("mean", "dens", "dist", "condens", "condist", "quantile"), names(panel))]]
  # np's regressions have two standard errors on either side.
  error <- if (is.null(panel$merr)) panel[[intersect(c("derr", "conderr", "quanterr"), names(panel))[1L]]] else
    if (nrow(panel$merr) > 0L) panel$merr[, 2L] / 2
  half <- if (is.null(error)) NA_real_ else stats::qnorm(0.975) * as.vector(error)
  at <- points[[k]]
  data.frame(variable = names(points)[k], at = if (is.factor(at)) as.character(at) else as.numeric(at),
             value = as.vector(value), lower = as.vector(value) - half, upper = as.vector(value) + half)
}

regression_picture <- function(x, variables) {
  check_object(x, "x", "kestrel_reg")
  if (is_mixed_object(x$bws)) return(partial_picture(x, variables, x$bws$ynames))
  curve <- curve_to_draw(x, errors = TRUE)
  half <- stats::qnorm((1 + x$level) / 2) * curve$se
  frame <- data.frame(x = in_dates(curve$at, x$bws$dates), y = curve$mean, lower = curve$mean - half,
                      upper = curve$mean + half)
  data <- data.frame(x = in_dates(x$bws$x, x$bws$dates), y = x$bws$y)
  picture(list(ggplot2::geom_point(by_columns(x = "x", y = "y"), data, inherit.aes = FALSE, size = 0.8),
               band_layer(frame, "x", "lower", "upper"), curve_layer(frame, "x", "y")),
          list(x = x$bws$xnames, y = x$bws$ynames))
}

# Points on a line have no heights that an axis could show.
no_heights <- function(d) if (d == 1L) list(ggplot2::scale_y_continuous(breaks = NULL)) else list()

# Points of the first two variables, or of one on a line, coloured by `by`.
labelled_points <- function(frame, d, by) {
  if (d == 1L) {
    frame$at <- 0
    names(frame)[1L] <- "x"
  } else {
    names(frame)[1:2] <- c("x", "at")
  }
  frame$by <- factor(frame[[by]])
  ggplot2::geom_point(by_columns(x = "x", y = "at", colour = "by"), frame, inherit.aes = FALSE)
}

# A criterion by bandwidth, with a line at the one that was chosen.
criterion_picture <- function(frame, names, best, label, logarithmic) {
  picture(list(curve_layer(frame, names[1L], names[2L]),
               ggplot2::geom_vline(xintercept = best, colour = colours$mark, linetype = 2)),
          list(x = "bandwidth", y = label), if (logarithmic) list(ggplot2::scale_x_log10()) else list())
}

# Values on a grid of which some are marked: on a line the curve of `value` with points, in the plane tiles. `kinds`:
# the names of the marks.
marked_picture <- function(x, frame, mark, kinds, label, value = NULL) {
  need_grid(x)
  d <- length(x$names)
  if (d > 2L) abort_input("`object` must be of one or two variables to be drawn, not ", d, ".")
  names <- names(frame)
  frame$mark <- factor(frame[[mark]], names(kinds), kinds)
  marked <- frame[frame[[mark]] != 0, , drop = FALSE]
  if (d == 2L) {
    # Axes are those of the whole grid.
    whole <- ggplot2::geom_blank(by_columns(x = names[1L], y = names[2L]), frame, inherit.aes = FALSE)
    step <- vapply(frame[names[1:2]], function(at) min(diff(sort(unique(at)))), 0)
    tiles <- ggplot2::geom_tile(by_columns(x = names[1L], y = names[2L], fill = "mark"), marked, inherit.aes = FALSE,
                                width = step[[1L]], height = step[[2L]])
    return(picture(list(whole, tiles), list(x = x$names[1L], y = x$names[2L], fill = NULL)))
  }
  if (is.null(value)) {
    frame$density <- as.vector(x$density)
    marked$density <- frame$density[as.integer(rownames(marked))]
    value <- "density"
  }
  picture(list(curve_layer(frame, names[1L], value),
               ggplot2::geom_point(by_columns(x = names[1L], y = value, colour = "mark"), marked, inherit.aes = FALSE)),
          list(x = x$names[1L], y = if (value == "density") value else label, colour = NULL))
}
