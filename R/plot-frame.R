# The frame of all plots: axes, labels that fit, captions.

# Arguments of plots in ks that have no meaning here; those of the second kind have one for a surface only.
ks_plot_arguments <- c("alphavec", "colors", "cont.lwd", "jitter", "kdde.flag", "lwd.fc", "size", "thin", "type")
ks_surface_arguments <- c("axes", "border", "box", "d", "phi", "theta", "ticktype", "zlim")

# A plot with axes only; `more` are the dots of a method.
empty_plot <- function(x, y, more, ..., ylab = "") {
  more <- check_graphicals(more[!names(more) %in% c(ks_plot_arguments, ks_surface_arguments)])
  labels <- check_graphicals(list(..., ylab = ylab))
  shown <- c(list(x, y, type = "n", las = if (labels_fit(y)) 1 else 0, bty = "l"), replace(labels, "ylab", ""))
  drawing_with(more, do.call(graphics::plot, utils::modifyList(shown, more, keep.null = TRUE), quote = TRUE))
  title_beside_labels(labels$ylab)
}

# Whether the numbers at the left axis, written horizontally, leave room for its title. Otherwise they are written along
# it.
labels_fit <- function(y) {
  room <- graphics::par("mai")[2L] - (graphics::par("mgp")[2L] + 1.5) * graphics::par("csi")
  label_width(pretty(y)) <= room
}

label_width <- function(labels) {
  max(graphics::strwidth(format(labels), units = "inches", cex = graphics::par("cex.axis")))
}

# The title of the y axis, clear of its labels, which are as long as the numbers.
title_beside_labels <- function(text) {
  usual <- graphics::par("mgp")[1L]
  line <- graphics::par("mgp")[2L] + 0.5 + label_width(graphics::axTicks(2)) / graphics::par("csi")
  widest <- graphics::par("mar")[2L] - 1
  graphics::title(ylab = text, line = if (line <= widest) max(usual, line) else usual)
}

# For each axis the range where something is inside, with one step more for its outline; the whole axis if nothing is
# inside.
limits_inside <- function(axes, inside) {
  lapply(seq_along(axes), function(k) {
    last <- length(axes[[k]])
    ends <- if (any(inside)) range(which(apply(inside, k, any))) + c(-1L, 1L) else c(1L, last)
    axes[[k]][pmin(pmax(ends, 1L), last)]
  })
}

# Text below or above all panels, small enough to fit.
caption <- function(text, side, line, outer = FALSE) {
  room <- if (outer) graphics::par("din")[1L] else graphics::par("fin")[1L]
  width <- max(graphics::strwidth(text, units = "inches", cex = 0.85))
  graphics::mtext(text, side = side, outer = outer, line = line, cex = 0.8 * min(1, room / width))
}
