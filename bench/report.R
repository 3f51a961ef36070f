# Tables and plots of bench/report.Rmd, from the rows that bench/README.md describes.

library(ggplot2)
theme_set(theme_bw(base_size = 11) + theme(legend.position = "bottom", legend.title = element_blank(),
                                           panel.grid.minor = element_blank()))
origins <- c("measured here", "published")

read_rows <- function(file) utils::read.csv(file, comment.char = "#")
read_head <- function(file) sub("^# ", "", grep("^#", readLines(file), value = TRUE))

# `what`, evaluated only if there is something to show: results may lack some scripts or sections.
absent <- "not in these results"
where_any <- function(there, what) if (isTRUE(there)) what else knitr::asis_output(paste0("*(", absent, ")*\n\n"))

# ---- tables
axis_number <- function(x) {
  ifelse(is.na(x), "", vapply(x, format, "", big.mark = ",", scientific = FALSE, trim = TRUE, digits = 3L))
}
short_number <- function(x, digits = 3L) {
  plain <- is.na(x) | x == 0 | (abs(x) >= 1e-4 & abs(x) < 1e7)
  ifelse(is.na(x), "", trimws(ifelse(plain, formatC(signif(x, digits), digits = digits, format = "fg", big.mark = ","),
                                     formatC(x, digits = digits, format = "g"))))
}
one_number <- function(x) if (length(x)) short_number(x[1L]) else paste0("(", absent, ")")
whole_number <- function(x) ifelse(is.na(x), "", format(x, big.mark = ",", scientific = FALSE, trim = TRUE))
seconds_table <- function(rows) {
  rows <- rows[rows$quantity == "seconds", ]
  data.frame(program = paste0(rows$contender, ifelse(is.na(rows$share) | rows$share < 1, "*", "")),
             n = whole_number(rows$n), d = whole_number(rows$d), m = whole_number(rows$m), h = whole_number(rows$h),
             seconds = short_number(rows$value), published = short_number(rows$published))
}
# One line for each contender of a task: seconds, memory, error.
peers_table <- function(rows) {
  key <- paste(rows$task, rows$d, rows$n, rows$contender)
  of <- function(quantity) {
    at <- rows[rows$quantity == quantity, ]
    short_number(at$value[match(unique(key), key[rows$quantity == quantity])])
  }
  first <- rows[match(unique(key), key), ]
  data.frame(task = first$task, d = first$d, n = whole_number(first$n), m = whole_number(first$m),
             contender = first$contender, s = of("seconds"), MB = of("MB"), error = of("error"))
}
# Cells: seconds here and, in brackets, the published ones; rows n, columns h. No rows if there is no cell.
grid_of_seconds <- function(rows, contender) {
  rows <- rows[rows$contender == contender & rows$quantity == "seconds" & !is.na(rows$h), ]
  if (nrow(rows) == 0L) return(data.frame())
  cell <- function(n, h) {
    at <- rows[rows$n == n & rows$h == h, ]
    if (nrow(at) == 0L) return("")
    here <- at$value[!is.na(at$value)]
    theirs <- at$published[!is.na(at$published)]
    paste0(short_number(c(here, NA)[1L]), if (length(theirs)) paste0(" (", theirs[1L], ")"))
  }
  n <- sort(unique(rows$n))
  h <- sort(unique(rows$h))
  cells <- matrix(mapply(cell, rep(n, length(h)), rep(h, each = length(n))), length(n))
  data.frame(n = whole_number(n), `colnames<-`(cells, paste("k =", h)), check.names = FALSE)
}

# ---- data for plots: a line for each measured value and one for each published one
both_origins <- function(rows) {
  measured <- rows[!is.na(rows$value), ]
  theirs <- rows[!is.na(rows$published), ]
  theirs$value <- theirs$published
  out <- rbind(measured, theirs)
  out$origin <- factor(rep(origins, c(nrow(measured), nrow(theirs))), origins)
  out
}
# A line for each contender: at the n of a task with most contenders, seconds and error of those that have both.
peers_cloud <- function(rows) {
  rows <- rows[rows$quantity %in% c("seconds", "error"), c("task", "d", "n", "contender", "quantity", "value")]
  if (length(unique(rows$quantity)) < 2L) return(data.frame())
  wide <- reshape(rows, idvar = c("task", "d", "n", "contender"), timevar = "quantity", direction = "wide")
  wide$panel <- paste0(wide$task, ", d = ", wide$d)
  crowd <- aggregate(list(count = wide$contender), wide[c("panel", "n")], length)
  crowd <- crowd[order(-crowd$count, -crowd$n), ]
  crowd <- crowd[!duplicated(crowd$panel), ]
  wide <- merge(wide, crowd[c("panel", "n")])
  wide$package <- sub("::.*", "", wide$contender)
  wide[!is.na(wide$value.error), ]
}
# The ratio of the times of `above` to that of `below`, row by row with the same n, d, m and h.
speed_ups <- function(rows, above, below) {
  rows <- rows[rows$quantity == "seconds" & !is.na(rows$value), ]
  key <- paste(rows$n, rows$d, rows$m, rows$h)
  one <- function(pair) {
    upper <- rows[rows$contender == pair[1L], ]
    lower <- rows[rows$contender == pair[2L], ]
    at <- match(key[rows$contender == pair[1L]], key[rows$contender == pair[2L]])
    upper$value <- upper$value / lower$value[at]
    upper$contender <- rep(paste(pair[1L], "over", pair[2L]), nrow(upper))
    upper[!is.na(upper$value), ]
  }
  do.call(rbind, Map(function(a, b) one(c(a, b)), above, below))
}

# ---- plots, if there are rows
curves <- function(rows, x, y, facet = NULL) where_any(nrow(rows) > 0L, some_curves(rows, x, y, facet))
some_curves <- function(rows, x, y, facet) {
  plot <- ggplot(both_origins(rows), aes(.data[[x]], value, colour = contender, linetype = origin, shape = origin)) +
    geom_line() + geom_point(size = 2) + scale_x_log10(labels = axis_number) + scale_y_log10(labels = axis_number) +
    scale_shape_manual(values = c(16, 1), drop = FALSE) + scale_linetype_manual(values = c(1, 2), drop = FALSE) +
    labs(x = x, y = y) + guides(colour = guide_legend(ncol = 2), linetype = guide_legend(ncol = 1),
                                shape = guide_legend(ncol = 1))
  if (is.null(facet)) return(plot)
  plot + if (length(facet) == 1L) facet_wrap(facet, labeller = label_both)
    else facet_grid(reformulate(facet[2L], facet[1L]), labeller = label_both)
}
bars <- function(rows, y) where_any(nrow(rows) > 0L, some_bars(rows, y))
some_bars <- function(rows, y) {
  ggplot(both_origins(rows), aes(value, contender, fill = origin)) +
    geom_col(position = position_dodge(preserve = "single"), width = 0.7) + facet_wrap("d", labeller = label_both) +
    scale_x_log10(labels = axis_number) + scale_fill_manual(values = c("#1f6f8b", "grey70")) + labs(x = y, y = NULL)
}

# `kernels`: kernel, d, intensity in operations a byte, rate in operations a second. `slopes`: bytes a second, by name.
roofline <- function(kernels, peaks, slopes) {
  where_any(nrow(kernels) > 0L && length(peaks) > 0L && length(slopes) > 0L, some_roofs(kernels, peaks, slopes))
}
some_roofs <- function(kernels, peaks, slopes) {
  ends <- c(0.4, 2) * range(kernels$intensity, min(peaks) / max(slopes))
  intensity <- exp(seq(log(ends[1L]), log(ends[2L]), length.out = 200L))
  roofs <- expand.grid(peak = names(peaks), slope = names(slopes), stringsAsFactors = FALSE)
  lines <- do.call(rbind, lapply(seq_len(nrow(roofs)), function(i) {
    data.frame(intensity, rate = pmin(peaks[[roofs$peak[i]]], intensity * slopes[[roofs$slope[i]]]),
               roof = paste(roofs$peak[i], roofs$slope[i], sep = ", "))
  }))
  ggplot(kernels, aes(intensity, rate)) +
    geom_line(aes(group = roof, linetype = roof), lines) + geom_point(aes(colour = kernel), size = 2.5) +
    geom_text(aes(label = ifelse(is.na(d), "", d)), vjust = 1.8, size = 3, check_overlap = TRUE) +
    scale_x_log10(labels = axis_number) + scale_y_log10(labels = function(x) axis_number(x / 1e9)) +
    labs(x = "operations a byte", y = "1e9 operations a second") +
    guides(colour = guide_legend(ncol = 2), linetype = guide_legend(ncol = 1))
}
cpu_kernels <- function(rows) {
  rate <- rows[rows$quantity == "flops/s" & rows$section == "kernels", ]
  intensity <- rows[rows$quantity == "flops/byte", ]
  data.frame(kernel = rate$task, d = rate$d, rate = rate$value, intensity = intensity$value)
}
gpu_kernels <- function(gpu, precision) {
  gpu <- gpu[!is.na(gpu$flops) & !is.na(gpu$bytes) & gpu$precision == precision, ]
  data.frame(kernel = trimws(ifelse(gpu$part == "sums", paste0(gpu$what, ", by ", gpu$way), gpu$what)), d = gpu$d,
             rate = ifelse(gpu$unit == "s", gpu$count * gpu$flops / gpu$value, gpu$value * gpu$flops),
             intensity = gpu$flops / gpu$bytes)
}
