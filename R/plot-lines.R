# lines() and points(): estimates of one variable, and fits, in a plot that is there.

#' @rdname plot.kestrel_kde
#' @export
lines.kestrel_kde <- function(x, ...) {
  add_estimate(check_estimate(x, "x"), graphics::lines, list(...), lwd = 2, lty = 1)
}

#' @rdname plot.kestrel_kde
#' @export
points.kestrel_kde <- function(x, ...) {
  add_estimate(check_estimate(x, "x"), graphics::points, list(...), pch = 16, cex = 0.6)
}

#' @rdname kestrel_kcde-methods
#' @export
lines.kestrel_kcde <- function(x, ...) {
  add_estimate(check_object(x, "x", "kestrel_kcde"), graphics::lines, list(...), lwd = 2, lty = 1)
}

#' @rdname kestrel_kcde-methods
#' @export
points.kestrel_kcde <- function(x, ...) {
  add_estimate(check_object(x, "x", "kestrel_kcde"), graphics::points, list(...), pch = 16, cex = 0.6)
}

# By `draw`, with `...` as its look unless the user wants another.
add_estimate <- function(fhat, draw, more, ...) {
  if (dimension(fhat) != 1L) {
    abort_input("`x` must have one dimension, not ", dimension(fhat), ": plot(x, add = TRUE) adds lines of equal ",
                "height in two.")
  }
  at <- as.vector(fhat$eval.points)
  ranks <- order(at)
  add_curve(at[ranks], as.vector(fhat$estimate)[ranks], draw, more, ...)
  invisible(fhat)
}

add_curve <- function(x, y, draw, more, ...) {
  if (length(of_frame <- intersect(names(more), setdiff(frame_parameters, drawn_parameters))) > 0L) {
    abort_input("`", of_frame[1L], "` must not be given: it is for the plot to which `x` is added.")
  }
  look <- utils::modifyList(list(col = colours$curve, ...), check_parameters(more, drawn_parameters))
  check_plot_to_add_to(added = TRUE)
  drawing_with(more, do.call(draw, c(list(x, y), look), quote = TRUE))
}

#' @rdname plot.kestrel_reg
#' @export
lines.kestrel_reg <- function(x, ...) {
  check_single(check_object(x, "x", "kestrel_reg"))
  curve <- curve_to_draw(x)
  add_curve(curve$at, curve$mean, graphics::lines, list(...), lwd = 2, lty = 1)
  invisible(x)
}

#' @rdname plot.kestrel_reg
#' @export
points.kestrel_reg <- function(x, ...) {
  check_single(check_object(x, "x", "kestrel_reg"))
  add_curve(plain_columns(x$eval)[[1L]], x$mean, graphics::points, list(...), pch = 16, cex = 0.6)
  invisible(x)
}

# Lines and points are of one regressor.
check_single <- function(x) {
  if (!is_mixed_object(x$bws)) return(invisible(x))
  abort_input("`x` must have one numeric regressor, not ", x$ndim, if (x$ndim == 1L) " factor" else " regressors",
              ": plot(x, plot.behavior = \"data\") returns the curves of its plot.")
}
