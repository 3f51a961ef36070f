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
    frame <- plain_columns(as.data.frame(x))
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
