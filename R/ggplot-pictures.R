# autoplot() and autolayer() of ggplot2. A picture is a list of `layers`, `labels` and what else is added (`rest`).

#' Pictures by ggplot2
#'
#' Methods of `autoplot()` and `autolayer()` of package \pkg{ggplot2}, for estimates, fits, bandwidths and tests.
#' `autoplot()` returns a whole picture, to which scales, themes and further layers can be added. `autolayer()` returns
#' its layers, to be added to another picture.
#'
#' A density of one variable is a curve. That of two is drawn as regions of highest density, and that of more as such
#' regions for each pair of variables (see [marginal()]). Derivatives, distribution functions, copulas and the densities
#' of classes have contour lines where they are of two variables. A regression of one variable is a curve with its
#' confidence band and the data. Of several variables there is a panel for each, along which the others stay as in
#' [plot.kestrel_reg()]. Such panels show numbers or factors, so that `variables` says which, where there are both.
#' A test is a histogram of the statistics of its bootstrap samples or permutations, with a line at the statistic of the
#' data. Without them it is the normal density by which the test is made, and there is no picture where there is none,
#' as in [npunitest()]. A bandwidth of one regressor, and a page made by [explore()], are curves of the criterion.
#' [kde_risk()] has contour lines of the log ratio, and dashed ones around the tolerance regions.
#'
#' There are no pictures of [sketch_plan()], [kde_stream()], selections of a synopsis and [kestrel_info()], which hold
#' no estimate. There is none of what plots return with `plot.behavior = "data"` either: its fit has one.
#'
#' @param object an object of this package.
#' @param cont percentages of the regions of a density of two or more variables, as in [contourLevels()].
#' @param level the level of the tolerance regions of [kde_risk()], as in its `plot()`.
#' @param variables names of the variables that have a panel; if NULL the numbers, or the factors where there are no
#'   numbers.
#' @param ... no further arguments: other names are an error.
#' @return `autoplot()` an object of class `"ggplot"`, `autolayer()` a list of layers.
#' @section Units: Axes are in the units of the variables, densities in 1 / volume.
#' @section Errors: Errors of class `kestrel_error_input` are for objects that have been edited, for estimates that are
#'   not on a grid, and for `variables` that are not in the model or are of both kinds. They are also for tests without
#'   a distribution of their statistic, and for bandwidths and pages without a criterion. In more than two dimensions
#'   they are for distribution functions, copulas, derivatives, classes, groups, histograms and regions of a test.
#' @section Cost: That of the `plot()` methods.
#' @references Wickham, H. (2016) *ggplot2: Elegant Graphics for Data Analysis*. Springer.
#' @seealso [stat_kestrel_density()] for layers that estimate from a picture's own data
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' library(ggplot2)
#' fhat <- kde(faithful)
#' autoplot(fhat) + theme_minimal()
#' ggplot(faithful, aes(eruptions, waiting)) +
#'   geom_point() +
#'   autolayer(npreg(waiting ~ eruptions, data = faithful))
#' @name ggplot-pictures
NULL

autoplot_object <- function(object, ...) {
  picture <- picture_of("autoplot", object, ...)
  ggplot2::ggplot() + picture$layers + do.call(ggplot2::labs, picture$labels) + picture$rest
}

autolayer_object <- function(object, ...) picture_of("autolayer", object, ...)$layers

picture_of <- function(called, object, ...) {
  make <- entry_for(pictures, object)
  check_known(called, given_names(...), c("object", "...", setdiff(names(formals(make)), "x")))
  known_as("object", make(object, ...))
}

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

pictures <- c(pictures_of_tests, list(
  kestrel_kde = function(x, cont = c(25, 50, 75, 95)) density_picture(check_estimate(x, "object"), cont),
  kestrel_bkde = function(x, cont = c(25, 50, 75, 95)) {
    density_picture(plain_density(check_object(x, "object", "kestrel_bkde")), cont)
  },
  kestrel_vkde = function(x, cont = c(25, 50, 75, 95)) {
    density_picture(plain_density(check_object(x, "object", "kestrel_vkde")), cont)
  },
  kestrel_kcde = function(x) surface_picture(x, as.data.frame(x), "estimate", "probability"),
  kestrel_kcopula = function(x) surface_picture(x, as.data.frame(x), "estimate", "probability"),
  kestrel_kdde = function(x) {
    frame <- as.data.frame(x)
    d <- length(x$names)
    need_grid(x)
    shown <- names(frame)[-seq_len(d)]
    if (length(shown) == 1L) return(surface_picture(x, frame, shown, "derivative"))
    if (d > 2L) abort_input("`object` must be of one or two variables to be drawn, not ", d, ".")
    rows <- do.call(rbind, lapply(shown, function(name) {
      data.frame(x = frame[[1L]], y = frame[[2L]], value = frame[[name]], component = factor(name, shown))
    }))
    picture(list(level_layer(rows, c("x", "y"), "value")),
            list(x = x$names[1L], y = x$names[2L], colour = "derivative"), list(ggplot2::facet_wrap("component")))
  },
  kestrel_kfs = function(x) marked_picture(x, as.data.frame(x), "estimate", c("1" = "significant"), NULL),
  kestrel_sizer = function(x) {
    frame <- as.data.frame(x)
    kinds <- map_kinds(x)
    frame$kind <- factor(kinds[kinds_on_map(x)], kinds)
    picture(list(ggplot2::geom_tile(by_columns(x = names(frame)[1L], y = "h", fill = "kind"), frame,
                                    inherit.aes = FALSE)),
            list(x = x$names, y = "bandwidth", fill = if (x$deriv.order == 1L) "gradient" else "curvature"),
            list(ggplot2::scale_y_log10(), ggplot2::scale_fill_manual(values = stats::setNames(map_colours, kinds))))
  },
  kestrel_sizer_plane = function(x) {
    frame <- as.data.frame(x)
    kinds <- plane_kinds(x)
    frame$kind <- factor(kinds[kinds_on_plane(x)], kinds)
    picture(list(ggplot2::geom_tile(by_columns(x = names(frame)[1L], y = names(frame)[2L], fill = "kind"), frame,
                                    inherit.aes = FALSE)),
            list(x = x$names[1L], y = x$names[2L], fill = if (x$deriv.order == 1L) "gradient" else "curvature"),
            list(ggplot2::facet_wrap("h", labeller = ggplot2::label_both),
                 ggplot2::scale_fill_manual(values = stats::setNames(plane_colours(x), kinds))))
  },
  kestrel_loctest = function(x) {
    frame <- as.data.frame(x)
    kinds <- c("-1" = "first is smaller", "1" = "first is larger")
    marked_picture(c(unclass(x), gridded = TRUE), frame, "significant", kinds, "difference", "fhat.diff")
  },
  kestrel_risk = function(x, level = 0.05) {
    frame <- as.data.frame(x)
    level <- check_level(level)
    shown <- surface_picture(x, frame[is.finite(frame$estimate), ], "estimate", "log ratio")
    regions <- if (length(x$names) == 1L) {
      marked <- frame[is.finite(frame$estimate) & (frame$p.value <= level | frame$p.value >= 1 - level), ]
      ggplot2::geom_point(by_columns(x = names(frame)[1L], y = "estimate"), marked, inherit.aes = FALSE,
                          colour = colours$mark, size = 0.8)
    } else {
      ggplot2::geom_contour(by_columns(x = names(frame)[1L], y = names(frame)[2L], z = "p.value"),
                            frame[!is.na(frame$p.value), ], inherit.aes = FALSE, breaks = c(level, 1 - level),
                            colour = colours$mark, linetype = 2)
    }
    shown$layers <- c(shown$layers, list(regions))
    shown
  },
  kestrel_kms = function(x) {
    frame <- as.data.frame(x)
    d <- length(x$names)
    picture(list(labelled_points(frame, d, names(frame)[d + 1L])),
            list(x = x$names[1L], y = if (d > 1L) x$names[2L], colour = "cluster"), no_heights(d))
  },
  kestrel_kdr = function(x) {
    frame <- stats::setNames(as.data.frame(x)[c(1:2, length(x$names) + 1L)], c("x", "y", "segment"))
    picture(list(ggplot2::geom_path(by_columns(x = "x", y = "y", group = "segment"), frame, inherit.aes = FALSE,
                                    colour = colours$curve)),
            list(x = x$names[1L], y = x$names[2L]))
  },
  kestrel_kda = function(x) {
    frame <- as.data.frame(x)
    need_grid(x)
    d <- length(x$names)
    if (d > 2L) abort_input("`object` must be of one or two variables to be drawn, not ", d, ".")
    names <- names(frame)
    layer <- if (d == 1L) curve_layer(frame, names[1L], "estimate", colour = "group") else
      contour_layer(frame, names[1:2], "estimate", colour = "group")
    picture(list(layer), list(x = x$names[1L], y = if (d == 1L) "density" else x$names[2L], colour = "group"))
  },
  kestrel_kde_groups = function(x, cont = 95) {
    check_groups(x, "x")
    d <- length(x$names)
    cont <- check_content(cont)
    if (d > 2L) abort_input("`object` must be of one or two variables to be drawn, not ", d, ".")
    lapply(x$estimates, need_grid)
    group <- paste(names(x$groups), collapse = ", ")
    rows <- lapply(names(x$estimates), function(name) {
      fhat <- x$estimates[[name]]
      frame <- if (d == 1L) stats::setNames(as.data.frame(fhat), c("x", "y")) else region_lines(fhat, cont, name)
      cbind(frame, name = factor(name, names(x$estimates)))
    })
    rows <- do.call(rbind, rows)
    layer <- if (d == 1L) {
      curve_layer(rows, "x", "y", colour = "name")
    } else {
      ggplot2::geom_path(by_columns(x = "x", y = "y", group = "group", colour = "name"), rows, inherit.aes = FALSE)
    }
    picture(list(layer), list(x = x$names[1L], y = if (d == 1L) "density" else x$names[2L], colour = group))
  },
  kestrel_kroc = function(x) {
    guess <- ggplot2::geom_abline(slope = 1, intercept = 0, colour = colours$faint, linetype = 2)
    picture(list(guess, curve_layer(as.data.frame(x), "fpr", "tpr")),
            list(x = "false positive rate", y = "true positive rate"))
  },
  kestrel_histde = function(x) {
    frame <- as.data.frame(x)
    d <- length(x$names)
    if (d > 2L) abort_input("`object` must be of one or two variables to be drawn, not ", d, ".")
    frame <- stats::setNames(frame, c(c("x0", "x1", "y0", "y1")[seq_len(2L * d)], "estimate"))
    frame$none <- 0
    layer <- if (d == 1L) {
      ggplot2::geom_rect(by_columns(xmin = "x0", xmax = "x1", ymin = "none", ymax = "estimate"), frame,
                         inherit.aes = FALSE, fill = colours$shade, colour = colours$curve)
    } else {
      ggplot2::geom_rect(by_columns(xmin = "x0", xmax = "x1", ymin = "y0", ymax = "y1", fill = "estimate"), frame,
                         inherit.aes = FALSE)
    }
    picture(list(layer), list(x = x$names[1L], y = if (d == 1L) "density" else x$names[2L],
                              fill = if (d == 2L) "density"))
  },
  kestrel_reg = function(x, variables = NULL) regression_picture(x, variables),
  kestrel_regbw = function(x, variables = NULL) {
    check_object(x, "object", "kestrel_regbw")
    if (is_mixed_object(x)) return(regression_picture(npreg(x), variables))
    frame <- as.data.frame(x)
    frame <- frame[is.finite(frame$cv) & (x$unsupported != "reject" | frame$n.unsupported == 0L), , drop = FALSE]
    criterion_picture(frame, c("bw", "cv"), x$bw, x$method, x$search == "global")
  },
  kestrel_sketch_regbw = function(x) {
    frame <- as.data.frame(check_object(x, "object", "kestrel_sketch_regbw"))
    criterion_picture(frame[is.finite(frame$cv), ], c("bw", "cv"), x$bw, x$method, x$search == "global")
  },
  kestrel_explorer = function(x) {
    frame <- as.data.frame(x)
    if (anyNA(frame$lscv)) abort_input("`object` must have a curve of cross-validation to be drawn.")
    criterion_picture(frame, c("h", "lscv"), frame$h[which.min(frame$lscv)], "LSCV", TRUE)
  },
  kestrel_dens = function(x, variables = NULL) partial_picture(x, variables, estimated(density_core(x$bws))),
  kestrel_densbw = function(x, variables = NULL) partial_picture(x, variables, estimated(density_core(x))),
  kestrel_qreg = function(x, variables = NULL) partial_picture(x, variables, x$ynames),
  kestrel_plreg = function(x, variables = NULL) partial_picture(x, variables, x$bws$ynames),
  kestrel_sc = function(x, variables = NULL) partial_picture(x, variables, x$bws$ynames),
  kestrel_si = function(x) {
    check_object(x, "object", "kestrel_si")
    shown <- regression_picture(x$link, NULL)
    shown$labels <- list(x = "index", y = x$bws$ynames)
    shown
  },
  kestrel_score = function(x) {
    frame <- as.data.frame(x)
    frame$model <- factor(frame$model, rev(frame$model))
    layer <- if (is.null(frame$corrected)) {
      ggplot2::geom_point(by_columns(x = "score", y = "model"), frame, inherit.aes = FALSE, colour = colours$curve)
    } else {
      ggplot2::geom_pointrange(by_columns(x = "corrected", xmin = "lower", xmax = "upper", y = "model"), frame,
                               inherit.aes = FALSE, colour = colours$curve)
    }
    picture(list(layer), list(x = "score", y = NULL))
  },
  kestrel_boot = function(x) {
    frame <- as.data.frame(x)
    picture(list(band_layer(frame, "h", "lower", "upper"), curve_layer(frame, "h", "median"),
                 ggplot2::geom_vline(xintercept = x$h, colour = colours$mark, linetype = 2)),
            list(x = "bandwidth", y = "squared error"), list(ggplot2::scale_x_log10()))
  },
  kestrel_record = function(x) {
    frame <- as.data.frame(x)
    if (is.null(frame$objective)) abort_input("`object` must have a record of bandwidths that were tried to be drawn.")
    picture(list(curve_layer(frame[is.finite(frame$objective), ], "h", "objective")),
            list(x = "bandwidth", y = "objective"), list(ggplot2::scale_x_log10()))
  },
  kestrel_modetree = function(x) {
    branches <- ggplot2::geom_path(by_columns(x = "mode", y = "h", group = "branch"), as.data.frame(x),
                                   inherit.aes = FALSE, colour = colours$curve)
    forks <- ggplot2::geom_segment(by_columns(x = "mode", y = "h", xend = "to", yend = "h"), tree_forks(x),
                                   inherit.aes = FALSE, colour = colours$curve, linetype = 2)
    picture(list(branches, forks), list(x = x$names, y = "bandwidth"), list(ggplot2::scale_y_log10()))
  },
  kestrel_sketch = function(x, cont = c(25, 50, 75, 95)) density_picture(kde(x), cont),
  kestrel_synopsis = function(x) {
    learned <- learned_batches(x)
    batches <- learned$batches
    rows <- data.frame(queries = batches$queries, error = c(batches$median, batches$largest),
                       of = factor(rep(c("median", "largest"), each = nrow(batches)), c("median", "largest")))
    layers <- list(ggplot2::geom_vline(xintercept = learned$refreshed, colour = colours$frame),
                   curve_layer(rows, "queries", "error", colour = "of"),
                   ggplot2::geom_point(by_columns(x = "queries", y = "error", colour = "of"), rows,
                                       inherit.aes = FALSE))
    picture(layers, list(x = "queries", y = label_of_learning, colour = NULL), list(ggplot2::scale_y_log10()))
  },
  kestrel_ksum = function(x) {
    frame <- as.data.frame(x)
    if (length(frame) != 2L || !is.numeric(frame[[1L]])) {
      abort_input("`object` must be one kernel sum at points of one number to be drawn.")
    }
    picture(list(curve_layer(frame, names(frame)[1L], "ksum")), list(x = x$xnames, y = "kernel sum"))
  },
  kestrel_conmode = function(x) {
    frame <- as.data.frame(x)
    names <- x$bws$xnames
    picture(list(labelled_points(frame, min(2L, length(names)), "conmode")),
            list(x = names[1L], y = if (length(names) > 1L) names[2L], colour = x$bws$ynames),
            no_heights(length(names)))
  },
  kestrel_scbw = function(x, variables = NULL) pictures$kestrel_sc(npscoef(x), variables),
  kestrel_plbw = function(x, variables = NULL) pictures$kestrel_plreg(npplreg(x), variables),
  kestrel_sibw = function(x) pictures$kestrel_si(npindex(x)),
  kestrel_q_error = function(x) {
    frame <- as.data.frame(x)
    rows <- data.frame(estimator = rep(factor(names(frame), names(frame)), each = nrow(frame)),
                       error = unlist(frame, use.names = FALSE))
    picture(list(ggplot2::geom_boxplot(by_columns(x = "estimator", y = "error"), rows, inherit.aes = FALSE)),
            list(x = NULL, y = "q-error"), list(ggplot2::scale_y_log10()))
  }
))

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
