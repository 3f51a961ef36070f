# The data in plots: all of up to 1,000 observations, and of more one for each small part of the plot, darker the more
# are there. So no observation that lies alone is left out or faint, and dense data are no solid block.

most_drawn <- 1000L

# Which observations are drawn at `at`, a list of x or of x and y, and how many each of them stands for. A part is
# 1 / `parts` of the width, and of the height.
observations_to_draw <- function(at, parts) {
  n <- length(at[[1L]])
  if (n <= most_drawn) return(list(rows = seq_len(n), count = 1))
  usr <- graphics::par("usr")
  logarithmic <- c(graphics::par("xlog"), graphics::par("ylog"))
  last <- integer(parts^length(at))
  count <- integer(length(last))
  for (rows in parts_of(n)) {
    heard()
    part <- 0
    for (k in seq_along(at)) {
      values <- at[[k]][rows]
      if (logarithmic[k]) values <- log10(replace(values, values <= 0, NA))
      place <- floor((values - usr[2L * k - 1L]) / (usr[2L * k] - usr[2L * k - 1L]) * parts)
      part <- part * parts + replace(place, place < 0 | place >= parts, NA)
    }
    seen <- which(!is.na(part))
    last[part[seen] + 1] <- rows[seen]
    count <- count + tabulate(part[seen] + 1, length(last))
  }
  list(rows = last[count > 0L], count = count[count > 0L])
}

# The opacity of what stands for `count` of n observations.
opacity_of <- function(count, n, most) {
  single <- max(0.2, min(most, 150 / n))
  single + (most - single) * sqrt((count - 1) / max(count - 1, 1))
}

with_opacity <- function(col, opacity) {
  part <- grDevices::col2rgb(col, alpha = TRUE)
  grDevices::rgb(part[1L, ], part[2L, ], part[3L, ], part[4L, ] * opacity, maxColorValue = 255)
}

draw_rug <- function(x, col) {
  drawn <- observations_to_draw(list(x), 500L)
  foot <- graphics::grconvertY(c(0, 0.03), "npc")
  at <- x[drawn$rows]
  graphics::segments(at, rep(foot[1L], length(at)), at, rep(foot[2L], length(at)),
                     col = with_opacity(rep_len(col, length(x))[drawn$rows], opacity_of(drawn$count, length(x), 0.8)))
}

# `look`: col, pch and cex, one for all observations or one for each.
draw_points <- function(x, y, look) {
  drawn <- observations_to_draw(list(x, y), 150L)
  look <- lapply(look, function(values) rep_len(values, length(x))[drawn$rows])
  look$col <- with_opacity(look$col, opacity_of(drawn$count, length(x), 0.6))
  do.call(graphics::points, c(list(x[drawn$rows], y[drawn$rows]), look))
}
