# Printing and plotting of PDF scores.

score_lines <- function(score) {
  n <- format(score$n, big.mark = ",", trim = TRUE)
  sizes <- unique(n[-1L][order(score$n[-1L])])
  models <- length(score$score)
  c(
    paste0("PDF score, d = ", length(score$axes), ", of ", models, if (models == 1L) " model" else " models"),
    call_lines(score$call),
    label_line("n", paste0(n[1L], " observed, ", paste(unique(sizes[c(1L, length(sizes))]), collapse = " to "),
                            " modelled")),
    label_line("variables", paste0(paste(score$names, collapse = ", "), if (score$centred) ", models centred")),
    if (!is.null(score$h)) label_line("bandwidth", paste0("h = ", format_short(score$h), ", H = h^2 S of each")),
    label_line("grid", axes_text(score$axes)),
    if (!is.null(score$replicates)) {
      label_line("interval", paste0(format(100 * score$level), " %, ", nrow(score$replicates), " replicates"))
    }
  )
}

print_frame <- function(frame) {
  names(frame) <- shorten(names(frame), 60L)
  frame$model <- shorten(frame$model, 60L)
  # In the middle of capture.output() a limit of time could leave the session without output.
  text <- suspendInterrupts(utils::capture.output(print(frame, row.names = FALSE, width = 78L)))
  cat(paste0("  ", text), sep = "\n")
}

# Zeros are shown without a sign.
three_digits <- function(values) formatC(round(values, 3L) + 0, format = "f", digits = 3L)

print_scores <- function(score) {
  cat(score_lines(score), "", sep = "\n")
  table <- plain_columns(score$table)
  scores <- intersect(c("score", "corrected", "lower", "upper"), names(table))
  table[scores] <- lapply(table[scores], three_digits)
  print_frame(table)
}

#' @export
print.kestrel_score <- function(x, ...) {
  check_object(x, "x", "kestrel_score")
  print_scores(x)
  if (!is.null(x$sensitivity)) print_sensitivity(x)
  invisible(x)
}

# Like table 2 of Lopez-Novoa (2015, ch. 8): for each bandwidth the scores and, in brackets, the ranks.
print_sensitivity <- function(score) {
  wide <- data.frame(model = score$table$model)
  bandwidths <- unique(score$sensitivity$h)
  labels <- format_short(bandwidths)
  # Bandwidths that look equal with four digits are shown with all of them.
  alike <- labels %in% labels[duplicated(labels)]
  labels[alike] <- vapply(bandwidths[alike], format, "", digits = 15)
  for (k in seq_along(bandwidths)) {
    part <- plain_columns(score$sensitivity)[score$sensitivity$h == bandwidths[k], ]
    part <- part[match(wide$model, part$model), ]
    wide[[paste("h =", labels[k])]] <- sprintf("%.3f (%.0f)", part$score, part$rank)
  }
  cat("\nScore (rank) by bandwidth:\n")
  print_frame(wide)
}

#' @export
summary.kestrel_score <- function(object, ...) {
  check_object(object, "object", "kestrel_score")
  structure(list(score = object), class = "summary.kestrel_score")
}

#' @export
print.summary.kestrel_score <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_score")
  score <- x$score
  print_scores(score)
  by_model <- function(title, values) {
    cat("\n", title, ":\n", sep = "")
    values <- values[score$table$model, , drop = FALSE]
    shown <- as.data.frame(matrix(three_digits(values), nrow(values)))
    names(shown) <- colnames(values)
    print_frame(cbind(model = score$table$model, shown))
  }
  if (!is.null(score$pairs)) {
    by_model("Scores of single variables", score$variables)
    by_model("Scores of pairs", score$pairs)
  }
  by_model("Differences of means, in standard deviations", score$bias)
  if (!is.null(score$sensitivity)) print_sensitivity(score)
  invisible(x)
}

#' @export
as.data.frame.kestrel_score <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_score")$table
}

#' Plot PDF scores
#'
#' For one model the plot shows the marginal densities of every pair of variables, with the score of the pair
#' (Lopez-Novoa 2015, ch. 8, figs. 4 to 6). The observations are shaded, and the model has contour lines. Both are drawn
#' at the borders of the regions of highest density that hold 95, 75, 50 and 25 % of the probability. In one dimension
#' both densities are drawn. For several models the plot shows their scores in order. If there are intervals, it shows
#' the corrected scores with them.
#'
#' @param x an object made by [pdf_score()].
#' @param model the name or number of a model; if NULL, all where there are several.
#' @param ... further graphical parameters of the empty plots; `col`, `lty` and `lwd` are also those of the lines, `pch`
#'   and `cex` of the points.
#' @return `x`, invisibly.
#' @section Errors: Errors of class `kestrel_error_input` are for a model that is not one of `x`, and for graphical
#'   parameters that R does not know or cannot draw with.
#' @section Units: Axes in those of the variables; levels are of densities in 1 / volume; scores have no unit.
#' @section Cost: O(grid points) for each pair of variables: the marginal densities are in `x`.
#' @references Lopez-Novoa, U. (2015) *Contributions to the Efficient Use of General Purpose Coprocessors: Kernel
#'   Density Estimation as Case Study*. PhD thesis, University of the Basque Country, ch. 8.
#' @examples
#' obs <- iris[51:100, 1:3]
#' models <- list(virginica = iris[101:150, 1:3], setosa = iris[1:50, 1:3])
#' score <- pdf_score(obs, models, center = TRUE, gridsize = 25)
#' plot(score)
#' plot(score, model = "virginica")
#' @export
plot.kestrel_score <- function(x, model = NULL, ...) {
  check_object(x, "x", "kestrel_score")
  known <- names(x$score)
  if (is.null(model) && length(known) > 1L) {
    plot_ranking(x, list(...))
    return(invisible(x))
  }
  if (is.null(model)) model <- known
  model <- plain(model)
  if (is_number(model) && model %in% seq_along(known)) model <- known[model]
  plot_marginals(x, check_choice(model, known, "model"), list(...))
  invisible(x)
}

plot_ranking <- function(score, more) {
  table <- plain_columns(score$table)
  place <- rev(seq_len(nrow(table)))
  widest <- max(graphics::strwidth(table$model, units = "inches"))
  # Names take at most half of the width.
  size <- min(1, 0.5 * graphics::par("din")[1L] / widest)
  before <- graphics::par(mar = c(4.5, max(4, size * widest / graphics::par("csi") + 1.5), 2.5, 1))
  on.exit(graphics::par(before))
  note <- if (!is.null(table$lower)) {
    paste0("Point: corrected score. Line: ", format(100 * score$level), " % interval of ", nrow(score$replicates),
           " replicates")
  }
  empty_plot(c(0, 1), c(0.5, nrow(table) + 0.5), more, yaxt = "n", xlab = "PDF score", note = note)
  graphics::axis(2, place, table$model, las = 1, tick = FALSE, cex.axis = size)
  graphics::abline(h = place, col = colours$pale)
  shown <- if (is.null(table$corrected)) table$score else table$corrected
  drawing_with(more, {
    if (!is.null(table$lower)) {
      look <- look_of(more, col = colours$curve, lwd = 2, lty = 1)
      do.call(graphics::segments, c(list(table$lower, place, table$upper, place), look))
    }
    do.call(graphics::points, c(list(shown, place), look_of(more, col = colours$curve, pch = 16, cex = 1)))
  })
}

# Up to three panels in one row.
plot_marginals <- function(score, model, more) {
  d <- length(score$axes)
  if (d == 1L) return(plot_both_curves(score, model, more))
  pairs <- utils::combn(d, 2L)
  if (d > 2L) check_panel_parameters(more, c("asp", "log", "main", "xlim", "ylim"), d)
  columns <- min(3L, ncol(pairs))
  before <- graphics::par(mfrow = c(ceiling(ncol(pairs) / columns), columns), mar = c(3.8, 3.8, 2.2, 0.8),
                          oma = c(0, 0, 0, 0), mgp = c(2.4, 0.7, 0))
  on.exit(graphics::par(before))
  # In lines of the captions, which are not smaller where there are more panels.
  line <- 1 / graphics::par("cex")
  graphics::par(oma = c(2.8 * line, 0, 0, 0))
  for (p in seq_len(ncol(pairs))) {
    which <- paste(pairs[, p], collapse = ",")
    draw_two_densities(score$axes[pairs[, p]], score$marginals$obs[[which]], score$marginals$models[[model]][[which]],
                       score$names[pairs[, p]], more)
    if (is.null(more$main) && !isFALSE(more$ann)) {
      graphics::title(main = paste("Score", three_digits(score$pairs[model, p])), font.main = 1, cex.main = 1)
    }
  }
  caption(paste0("Shaded: observations. Lines: ", model), 1, 0.3 * line, outer = TRUE)
  caption(paste0("Regions of 25, 50, 75 and 95 %. Joint score ", three_digits(score$score[[model]])), 1, 1.4 * line,
          outer = TRUE)
}

# The regions of highest density that hold 95, 75, 50 and 25 per cent: of the first density shaded, of the second as
# lines.
draw_two_densities <- function(axes, shaded, lines, names, more) {
  outside <- c(0.05, 0.25, 0.5, 0.75)
  levels <- grid_levels(axes, shaded, outside)
  line_levels <- grid_levels(axes, lines, outside)
  # A density whose support does not meet the grid is zero everywhere and has no levels.
  some <- c(max(shaded), max(lines)) > 0
  seen <- (some[1L] & shaded >= levels[1L]) | (some[2L] & lines >= line_levels[1L])
  limits <- limits_inside(axes, seen)
  empty_plot(limits[[1L]], limits[[2L]], more, xlab = names[1L], ylab = names[2L])
  if (some[1L]) {
    distinct <- !duplicated(levels)
    fill_levels(axes, shaded, levels[distinct], fill_colours(length(levels))[distinct])
  }
  if (some[2L]) {
    drawing_with(more, do.call(graphics::contour, c(
      list(axes[[1L]], axes[[2L]], lines, levels = unique(line_levels), add = TRUE, drawlabels = FALSE),
      look_of(more, col = colours$other, lwd = 1, lty = 1)
    )))
  }
  graphics::box()
}

plot_both_curves <- function(score, model, more) {
  axis <- score$axes[[1L]]
  obs <- score$marginals$obs[[1L]]
  other <- score$marginals$models[[model]][[1L]]
  empty_plot(range(axis), height_range(c(obs, other), more), more,
             xlab = label_from_call(score$names, "x", score$call, "obs"),
             ylab = "Density",
             note = paste0("Shaded: observations. Line: ", model, ", score ", three_digits(score$score[[model]])))
  draw_area(axis, 0 * obs, obs, colours$shade)
  look <- look_of(more, col = colours$other, lwd = 2, lty = 1)
  drawing_with(more, do.call(graphics::lines, c(list(axis, other), look)))
}
