# The frame of all plots: axes, labels that fit, notes and keys above the plot.

given_or <- function(value, otherwise) if (is.null(value)) otherwise else value

# A plot with axes only; `more` are the dots of a method, which win over labels and defaults. `note` says in words what
# is drawn, and `above` is how many lines of the upper margin this, a key or a label takes.
empty_plot <- function(x, y, more, ..., note = NULL, above = length(note)) {
  more <- check_parameters(more)
  usual <- c(list(type = "n", bty = "l"), check_graphicals(list(...)))
  shown <- utils::modifyList(usual, more, keep.null = TRUE)
  x <- limits_on(x, shown$log, "x")
  y <- limits_on(y, shown$log, "y")
  size <- given_or(shown$cex.axis, graphics::par("cex.axis"))
  if (is.null(shown$las)) shown$las <- label_direction(given_or(shown$ylim, y), grepl("y", shown$log), size)
  titles <- shown[c("main", "ylab")]
  shown$ylab <- ""
  room <- room_above(above, titles$main)
  if (!room) note <- NULL
  raised <- above > 0 && room
  if (raised) shown$main <- NULL
  drawing_with(more, do.call(graphics::plot, c(list(x, y), shown), quote = TRUE))
  if (isFALSE(shown$ann) || !graphics::par("ann")) return(invisible())
  look <- more[names(more) %in% c("cex.lab", "col.lab", "font.lab", "cex.main", "col.main", "font.main", "family")]
  drawing_with(more, {
    line <- line_beside_labels(shown$las, given_or(shown$cex.lab, graphics::par("cex.lab")), size)
    do.call(graphics::title, c(list(ylab = titles$ylab, line = line), look), quote = TRUE)
    if (raised && !is.null(titles$main)) {
      line <- max(graphics::par("mar")[3L] / 2 - 0.4, above + 0.5)
      do.call(graphics::title, c(list(main = titles$main, line = line), look), quote = TRUE)
    }
    for (k in seq_along(note)) write_note(note[k], above - k + 1)
  })
}

# The ends of an axis, which may be dates; zero and less are not on a logarithmic one.
limits_on <- function(values, log, axis) {
  positive <- numbers_of(values) > 0
  range(if (grepl(axis, given_or(log, "")) && any(positive)) values[positive] else values)
}

# How the numbers at the left axis are written, as par("las"): horizontally where there is room. Plots beside each other
# have them along the axis, so that all look alike. A direction that the user has set counts if there is room.
label_direction <- function(y, logarithmic, size) {
  wanted <- graphics::par("las")
  if (wanted == 3 || !labels_fit(y, isTRUE(logarithmic), size)) return(if (wanted == 3) 3 else 0)
  alone <- prod(graphics::par("mfrow")) == 1
  if (wanted > 0) wanted else if (alone) 1 else 0
}

# Whether the upper margin has that many lines, below a title if there is one.
room_above <- function(lines, main) {
  lines + (if (is.null(main)) 0 else 1.4 + 1.2 * (title_lines(main) - 1)) <= graphics::par("mar")[3L] + 0.2
}

# Of text only; a list begins with it.
title_lines <- function(main) {
  if (is.list(main)) main <- main[[1L]]
  if (is.character(main)) sum(lengths(strsplit(main, "\n", fixed = TRUE))) else 1L
}

# Whether the numbers at the left axis, written horizontally, leave room for its title.
labels_fit <- function(y, logarithmic, size) {
  room <- graphics::par("mai")[2L] - (graphics::par("mgp")[2L] + 1.5) * graphics::par("csi")
  logarithmic <- logarithmic && all(y > 0)
  ends <- if (logarithmic) log10(y) else y
  ticks <- grDevices::axisTicks(range(ends) + c(-0.04, 0.04) * diff(range(ends)), logarithmic)
  label_width(ticks, size) <= room
}

label_width <- function(labels, size) max(graphics::strwidth(format(labels), units = "inches", cex = size))

# The line of the title of the y axis, clear of its labels, which are as long as the numbers where they are horizontal.
line_beside_labels <- function(las, size, label_size) {
  usual <- graphics::par("mgp")[1L]
  if (las %in% c(0, 3)) return(usual)
  line <- graphics::par("mgp")[2L] + 0.5 + label_width(graphics::axTicks(2), label_size) / graphics::par("csi")
  # A larger title needs more of the margin.
  widest <- graphics::par("mar")[2L] - size
  if (line > widest) max(usual, widest) else min(max(usual, line), widest)
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

# An axis of one of several panels. Numbers at its ends would meet those of the next panel.
axis_of_panel <- function(side, more) {
  at <- graphics::axTicks(side)
  horizontal <- side %% 2 == 1
  usr <- graphics::par("usr")[if (horizontal) 1:2 else 3:4]
  share <- (at - usr[1L]) / diff(usr)
  look <- more[names(more) %in% c("cex.axis", "col.axis", "family", "font.axis", "las", "tck", "tcl")]
  labels <- ifelse(share > 0.07 & share < 0.93, format(at, trim = TRUE), "")
  drawing_with(look, do.call(graphics::axis, c(list(side, at = at, labels = labels), look)))
}

# Text below or above all panels, small enough to fit.
caption <- function(text, side, line, outer = FALSE) {
  room <- if (outer) graphics::par("din")[1L] else graphics::par("fin")[1L]
  middle <- graphics::par("mai")[2L] + graphics::par("pin")[1L] / 2
  width <- max(graphics::strwidth(text, units = "inches", cex = 0.85))
  # mtext() does not follow the smaller text of plots with several panels.
  size <- if (outer) 1 else graphics::par("cex")
  # Above the middle of the plot, or where that would cut it off, of the whole figure.
  off <- !outer && width > 2 * min(middle, room - middle)
  graphics::mtext(text, side = side, outer = outer, line = line, col = graphics::par("col.lab"),
                  cex = 0.8 * min(1, room / width) * size, at = if (off) graphics::grconvertX(0.5, "nfc") else NA)
}

# What is drawn, in words in the k-th line above the plot.
write_note <- function(text, k) caption(text, 3, 0.2 + 0.85 * (k - 1))

# The key of an image: its colours with their values, above the plot or, without room there, inside at the top.
draw_key <- function(col, limits, title, main, axis) {
  line <- graphics::par("csi") * graphics::par("mex") * graphics::par("cex") / graphics::par("pin")[2L]
  above <- room_above(2, main)
  base <- 1 + line * if (above) 0.4 else -2
  # Inside it lies on the colour of small values.
  ink <- if (above) graphics::par("col.lab") else ground_for(col[1L])
  # With `asp` the image may be narrower than the plot: the key ends where it does, if its numbers fit.
  ends <- pmin(pmax(range(graphics::grconvertX(range(axis), "user", "npc")), 0), 1)
  right <- max(ends[2L], 0.6)
  left <- right - max(0.6 * diff(ends), 0.4)
  across <- function(share) graphics::grconvertX(left + share * (right - left), "npc")
  up <- function(lines) graphics::grconvertY(base + lines * line, "npc")
  before <- graphics::par(xpd = NA)
  on.exit(graphics::par(before))
  graphics::rasterImage(grDevices::as.raster(matrix(col, 1L)), across(0), up(0), across(1), up(0.5),
                        interpolate = FALSE)
  graphics::rect(across(0), up(0), across(1), up(0.5), border = colours$frame)
  at <- pretty(limits, 4)
  at <- at[at >= limits[1L] & at <= limits[2L]]
  graphics::text(across((at - limits[1L]) / diff(limits)), up(1.1), format(at, trim = TRUE), cex = 0.7, col = ink)
  graphics::text(across(-0.025), up(0.25), title, cex = 0.8, adj = c(1, 0.5), col = ink)
}

and_list <- function(texts) {
  last <- length(texts)
  if (last < 2L) texts else paste(paste(texts[-last], collapse = ", "), "and", texts[last])
}

# `name`, or what the call has in place of one of `arguments` if the name is only a stand-in.
label_from_call <- function(name, stand_in, call, arguments) {
  if (!identical(name, stand_in) || !is.call(call)) return(name)
  given <- as.list(call)[arguments]
  given <- Find(function(one) is.name(one) || is.call(one), given)
  if (is.null(given)) return(name)
  text <- deparse(given, width.cutoff = 500L)
  if (length(text) == 1L && nchar(text) <= 40L) text else name
}

# The limits of the plot in the units of the data, for logarithmic axes too.
plot_corners <- function() {
  usr <- graphics::par("usr")
  logarithmic <- rep(c(graphics::par("xlog"), graphics::par("ylog")), each = 2L)
  ifelse(logarithmic, 10^usr, usr)
}

# The axis of densities begins at zero, which a logarithmic one does not have.
height_range <- function(height, more) {
  top <- max(height)
  c(if (grepl("y", given_or(more$log, ""))) top / 1e4 else 0, top)
}

# The area between two curves, which ends where a logarithmic axis does.
draw_area <- function(x, lower, upper, col) {
  if (graphics::par("ylog")) lower <- pmax(lower, plot_corners()[3L])
  graphics::polygon(c(x, rev(x)), c(lower, rev(upper)), border = NA, col = col)
}

# Where z is at least each of the levels, in their colours.
fill_levels <- function(axes, z, level, col) {
  graphics::.filled.contour(axes[[1L]], axes[[2L]], z, c(level, max(z, level) * (1 + 1e-9)), col)
}
