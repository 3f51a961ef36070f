# Methods for estimates of derivatives and of the curvature.

#' Print, predict, convert and plot estimates of derivatives
#'
#' @param x,object a result of [kdde()] or [kcurv()].
#' @param newdata points to predict at, a matrix or data frame with the columns of the data, or a vector for one
#'   variable; in `predict()` `x` is its name in \pkg{ks}.
#' @param row.names,optional ignored.
#' @param which.deriv.ind the component to draw or to compute levels for, a row of `deriv.ind`.
#' @param prob,cont levels as quantiles of the values at the observations, or as the percentage beyond that is inside.
#' @param nlevels without `prob` and `cont`, about how many levels.
#' @param approx accepted as in \pkg{ks}; values at the observations are computed.
#' @param display for two variables: `"quiver"`, arrows along the gradient (the default for first derivatives),
#'   `"filled.contour"`, regions of large values by sign, or `"slice"`, their contour lines.
#' @param xlab,ylab,main labels; the names of the variables and the component by default.
#' @param col the colours of positive and of negative values, or of the curve.
#' @param lwd,lty width and type of lines.
#' @param backend,threads,verbose see [kdde()].
#' @param ... for `plot()` further graphical parameters, and none otherwise.
#' @return `predict()` has a vector, or a matrix with a column for each row of `deriv.ind`. `as.data.frame()` has the
#'   points and a column for each component, `estimate` or named by the variables that are differentiated. For
#'   components with negative values `contourLevels()` has two rows, the levels of the negative and of the positive
#'   values; a row is NA without such values. `print()` and `plot()` return `x`.
#' @section Errors: Of class `kestrel_error_input` for objects that are not as [kdde()] made them, for other columns,
#'   and for a plot of more than two variables.
#' @section Units: Those of [kdde()] and [kcurv()].
#' @section Cost: `predict()` and `contourLevels()` cost a call of [kdde()] at these points.
#' @references Chacon, J.E. & Duong, T. (2018) *Multivariate Kernel Smoothing and its Applications*. Chapman & Hall,
#'   chapter 5.
#' @seealso [kdde()], [kcurv()]
#' @examples
#' second <- kdde(faithful, deriv.order = 2, gridsize = c(31, 31))
#' second
#' head(as.data.frame(second))
#' plot(second, which.deriv.ind = 4)
#' contourLevels(second, cont = c(25, 50))
#' @name kdde-methods
NULL

#' @rdname kdde-methods
#' @export
print.kestrel_kdde <- function(x, ...) {
  check_object(x, "x", "kestrel_kdde")
  single <- is_single(x)
  first <- replace(x, "estimate", list(component(x, 1L)))
  lines <- density_lines(first, derivative_title(x))
  if (!single) {
    ranges <- vapply(seq_len(nrow(x$deriv.ind)), function(k) {
      paste(format_short(range(component(x, k))), collapse = " to ")
    }, "")
    shown <- !duplicated(component_names(x))
    lines <- c(utils::head(lines, -1L),
               label_line("estimate", paste0(component_names(x)[shown], ": ", ranges[shown], collapse = ", ")))
  }
  cat(lines, sep = "\n")
  invisible(x)
}

derivative_title <- function(fhat) {
  if (fhat$type == "kcurv") return("Summary curvature of a kernel density estimate")
  paste("Kernel estimate of derivatives of order", fhat$deriv.order, "of a density")
}

# The values of one component, an array on a grid.
component <- function(fhat, k) {
  if (is_single(fhat)) return(fhat$estimate)
  if (fhat$gridded) fhat$estimate[[k]] else fhat$estimate[, k]
}

# "(2, 0)": how often each variable is differentiated.
component_names <- function(fhat) {
  apply(matrix(fhat$deriv.ind, ncol = dimension(fhat)), 1L, function(r) paste0("(", paste(r, collapse = ", "), ")"))
}

#' @rdname kdde-methods
#' @export
predict.kestrel_kdde <- function(object, newdata, ..., x, backend = "auto", threads = NULL, verbose = NULL) {
  check_object(object, "object", "kestrel_kdde")
  verbose <- asked_verbose(verbose)
  points <- points_to_predict(newdata, x, ...)
  points <- check_points(in_order_of(points$value, object$names, points$name), dimension(object), points$name)
  with_progress(verbose, "Derivatives of a density", function(progress) {
    run <- c(run_options(threads, backend, cuda = TRUE), engine = "auto", progress = progress)
    derivatives_at_points(object, points, run)$estimate
  })
}

#' @rdname kdde-methods
#' @export
as.data.frame.kestrel_kdde <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_kdde")
  names <- derivative_columns(x)
  values <- lapply(as.integer(names(names)), function(k) as.vector(component(x, k)))
  cbind(points_frame(x, names), stats::setNames(values, names))
}

# The names of the columns of derivatives that differ, named by their numbers.
derivative_columns <- function(fhat) {
  if (is_single(fhat)) return(c("1" = "estimate"))
  shown <- which(!duplicated(component_names(fhat)))
  stats::setNames(vapply(shown, function(k) {
    paste(c("D", rep(fhat$names, fhat$deriv.ind[k, ])), collapse = ".")
  }, ""), shown)
}

check_component <- function(fhat, which) {
  most <- if (is_single(fhat)) 1L else nrow(fhat$deriv.ind)
  k <- check_count(which, "which.deriv.ind")
  if (k > most) abort_input("`which.deriv.ind` must be at most ", most, ", not ", k, ".")
  k
}

#' @rdname kdde-methods
#' @export
#' @rawNamespace S3method(ks::contourLevels, kestrel_kdde)
contourLevels.kestrel_kdde <- function(x, prob, cont, nlevels = 5, approx = TRUE, which.deriv.ind = 1, ...) {
  check_arguments("contourLevels", given_names(...))
  check_object(x, "x", "kestrel_kdde")
  check_flag(approx, "approx")
  k <- check_component(x, which.deriv.ind)
  if (!missing(prob) && !missing(cont)) abort_input("`prob` and `cont` must not both be given.")
  if (missing(prob) && missing(cont)) return(pretty(component(x, k), n = check_count(nlevels, "nlevels")))
  signed_levels(x, k, if (missing(prob)) (100 - check_content(cont)) / 100 else check_between(prob, 1, "prob"))
}

# Quantiles of the values at the observations, of those of each sign.
signed_levels <- function(fhat, k, prob) {
  at_data <- derivatives_at_points(fhat, sample_matrix(fhat), c(run_options(), engine = "auto"))
  value <- component(at_data, k)
  of_sign <- function(sign) {
    chosen <- sign * value > 0
    if (!any(chosen)) return(weighted_quantile(0, numeric(0), prob) * NA_real_)
    sign * weighted_quantile(sign * value[chosen], fhat$w[chosen], prob)
  }
  if (fhat$type == "kcurv") return(of_sign(1))
  rbind(of_sign(-1), of_sign(1))
}

#' @rdname kdde-methods
#' @export
plot.kestrel_kdde <- function(x, which.deriv.ind = 1, cont = c(25, 50, 75), display = NULL, xlab = NULL, ylab = NULL,
                              main = NULL, col = NULL, lwd = NULL, lty = NULL, ...) {
  check_object(x, "x", "kestrel_kdde")
  d <- dimension(x)
  if (!x$gridded) abort_input("`x` must be an estimate on a grid to be plotted, not one at given points.")
  if (d > 2L) abort_input("`x` must have one or two dimensions to be plotted, not ", d, ".")
  k <- check_component(x, which.deriv.ind)
  gradient <- d == 2L && x$deriv.order == 1L
  displays <- c(if (gradient) "quiver", "filled.contour", "slice")
  display <- if (d == 2L) check_choice(if (is.null(display)) displays[1L] else display, displays, "display")
  look <- check_graphicals(list(col = col, lwd = lwd, lty = lty))
  more <- check_parameters(list(...))
  if (d == 1L) {
    plot_derivative_curve(x, look, xlab, ylab, main, more)
  } else {
    names <- plane_labels(x)
    axes <- axes_of(x)
    if (is.null(main) && !is_single(x) && display != "quiver") main <- derivative_text(x, k)
    empty_plot(axes[[1L]], axes[[2L]], more, main = main, xlab = given_or(xlab, names[1L]),
               ylab = given_or(ylab, names[2L]))
    drawing_with(more, {
      if (display == "quiver") draw_arrows(x, look) else draw_signed(x, k, check_content(cont), display, look)
    })
  }
  invisible(x)
}

# "D_12 f": the component by the numbers of its variables.
derivative_text <- function(fhat, k) {
  paste0("D", paste(rep(seq_len(dimension(fhat)), fhat$deriv.ind[k, ]), collapse = ""), " f")
}

plot_derivative_curve <- function(fhat, look, xlab, ylab, main, more) {
  label <- if (fhat$type == "kcurv") "Curvature" else paste("Derivative of order", fhat$deriv.order)
  empty_plot(fhat$eval.points, range(0, fhat$estimate), more, main = main,
             xlab = given_or(xlab, variable_label(fhat)), ylab = given_or(ylab, label))
  col <- given_or(look$col, colours$curve)[1L]
  graphics::abline(h = 0, col = colours$frame)
  draw_rug(fhat$x, col)
  drawing_with(more, graphics::lines(fhat$eval.points, fhat$estimate, col = col, lwd = given_or(look$lwd, 2),
                                     lty = given_or(look$lty, 1)))
}

# Regions beyond the levels of each sign, or the contour lines of these levels.
draw_signed <- function(fhat, k, cont, display, look) {
  axes <- axes_of(fhat)
  value <- component(fhat, k)
  levels <- signed_levels(fhat, k, (100 - cont) / 100)
  levels <- if (is.matrix(levels)) list(-1 * levels[1L, ], levels[2L, ]) else list(numeric(0), levels)
  col <- rep(given_or(look$col, c(colours$curve, colours$mark)), length.out = 2L)
  for (sign in 1:2) {
    level <- sort(unique(levels[[3L - sign]]))
    if (length(level) == 0L) next
    shown <- if (sign == 1L) value else -value
    if (display == "filled.contour") {
      fill_levels(axes, shown, level, shades_of(col[sign], length(level) + 1L)[-1L])
    }
    graphics::contour(axes[[1L]], axes[[2L]], shown, levels = level, add = TRUE, drawlabels = FALSE, col = col[sign],
                      lwd = given_or(look$lwd, 0.8), lty = given_or(look$lty, sign))
  }
}

# The longest arrow is as long as the gap between two.
draw_arrows <- function(fhat, look) {
  axes <- axes_of(fhat)
  chosen <- lapply(axes, function(axis) unique(round(seq(1, length(axis), length.out = min(25L, length(axis))))))
  slope <- lapply(1:2, function(k) component(fhat, k)[chosen[[1L]], chosen[[2L]]])
  gap <- vapply(1:2, function(k) mean(diff(axes[[k]][chosen[[k]]])), 0)
  # In units of the gaps, so that arrows point uphill in the picture.
  step <- lapply(1:2, function(k) slope[[k]] * gap[k])
  longest <- max(sqrt(step[[1L]]^2 + step[[2L]]^2))
  if (longest == 0) return(invisible())
  from <- grid_points(list(axes[[1L]][chosen[[1L]]], axes[[2L]][chosen[[2L]]]))
  to <- lapply(1:2, function(k) from[[k]] + as.vector(step[[k]]) / longest * gap[k])
  long <- sqrt(step[[1L]]^2 + step[[2L]]^2) > 0.02 * longest
  graphics::arrows(from[[1L]][long], from[[2L]][long], to[[1L]][long], to[[2L]][long], length = 0.04,
                   col = given_or(look$col, colours$curve)[1L], lwd = given_or(look$lwd, 1),
                   lty = given_or(look$lty, 1))
}
