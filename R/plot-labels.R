# Labels of contour lines. Those of graphics::contour() are lost on dark regions and beside points; these stand upright
# on a ground of their own, clear of each other.

# Draws `text[k]` on the lines of level k, the levels in increasing order: on the longest of each level, and on others
# that are long enough.
label_contours <- function(axes, z, level, text, col) {
  lines <- grDevices::contourLines(axes[[1L]], axes[[2L]], z, levels = level)
  lines <- lapply(lines, line_in_inches)
  of_level <- vapply(lines, function(line) match(line$level, level), 1L)
  every <- list(x = unlist(lapply(lines, `[[`, "x")), y = unlist(lapply(lines, `[[`, "y")),
                line = rep(seq_along(lines), vapply(lines, function(line) length(line$x), 1L)))
  size <- c(max(graphics::strwidth(text, "inches", cex = 0.75)), graphics::strheight("0", "inches", cex = 0.75)) +
    0.3 * graphics::strheight("0", "inches", cex = 0.75)
  taken <- matrix(0, 0L, 2L)
  for (k in rev(seq_along(level))) {
    own <- which(of_level == k)
    own <- own[order(-vapply(lines[own], `[[`, 0, "length"))]
    for (one in utils::head(own, 4L)) {
      if (one != own[1L] && lines[[one]]$length < 8 * size[1L]) next
      at <- place_on_line(lines[[one]], lapply(every[1:2], `[`, every$line != one), taken, size)
      if (is.null(at)) next
      taken <- rbind(taken, at)
      draw_label(at, text[k], size, rep_len(col, length(level))[k])
    }
  }
}

line_in_inches <- function(line) {
  x <- graphics::grconvertX(line$x, "user", "inches")
  y <- graphics::grconvertY(line$y, "user", "inches")
  list(x = x, y = y, level = line$level, length = sum(sqrt(diff(x)^2 + diff(y)^2)))
}

# The place on a line where a label lies on as little as possible of the others, inside the plot and on no label that is
# there; NULL if there is none.
place_on_line <- function(line, others, taken, size) {
  at <- unique(round(seq(1, length(line$x), length.out = 41L)))
  inside <- function(place, ends, half) place > ends[1L] + half & place < ends[2L] - half
  near <- function(x, y, points, factor) {
    abs(points[[1L]] - x) < factor * size[1L] & abs(points[[2L]] - y) < factor * size[2L]
  }
  free <- inside(line$x[at], graphics::grconvertX(0:1, "npc", "inches"), size[1L] / 2) &
    inside(line$y[at], graphics::grconvertY(0:1, "npc", "inches"), size[2L] / 2)
  for (k in seq_len(nrow(taken))) free <- free & !near(line$x[at], line$y[at], as.list(taken[k, ]), 1.2)
  at <- at[free]
  if (length(at) == 0L) return(NULL)
  covered <- vapply(at, function(k) sum(near(line$x[k], line$y[k], others, 0.6)), 1L)
  best <- at[which.min(covered)]
  c(line$x[best], line$y[best])
}

# Light for dark text, dark for light text.
ground_for <- function(col) {
  lightness <- sum(c(0.3, 0.6, 0.1) * grDevices::col2rgb(col)) / 255
  if (!is.na(col) && lightness > 0.6) "grey20" else "white"
}

draw_label <- function(at, text, size, col) {
  x <- graphics::grconvertX(at[1L] + c(-0.5, 0, 0.5) * size[1L], "inches")
  y <- graphics::grconvertY(at[2L] + c(-0.5, 0, 0.5) * size[2L], "inches")
  graphics::rect(x[1L], y[1L], x[3L], y[3L], col = grDevices::adjustcolor(ground_for(col), 0.8), border = NA)
  graphics::text(x[2L], y[2L], text, cex = 0.75, col = col)
}
