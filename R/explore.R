# Pages with a slider over bandwidths: SVG that is drawn here, and a few lines of JavaScript that show one drawing.

#' A page with a slider over bandwidths
#'
#' A picture of a density whose bandwidth a slider changes, beside the curve of least squares cross-validation. It is
#' one file of HTML, which needs no server and no network: all estimates are computed before and are in it. In a report
#' of R Markdown or Quarto the slider is in the text where the result is printed.
#'
#' A density of one variable is a curve with marks for the data. One of two variables is drawn as the regions that have
#' 25, 50, 75 and 95 % of the probability, and the slider scales its bandwidth matrix. Every estimate is that of [kde()]
#' with its bandwidth, at the points of the grid of `fhat`.
#'
#' The curve is [lscv()] with the bandwidths of the slider. For bounded data that are transformed it is that of the
#' transformed values. It is left out where [lscv()] has none: for `bounds` and a `period`, and for kernels whose
#' convolution with themselves it does not know.
#'
#' @param fhat a density of one or two variables on a grid, made by [kde()] from data.
#' @param factor multiples of the bandwidth of `fhat`, at least two. In two dimensions its matrix is multiplied by their
#'   squares.
#' @param file the name of the file.
#' @param threads the number of threads, see [kestrel_threads()].
#' @param x an object made by `explore()`.
#' @param row.names,optional not used; arguments of the generic.
#' @param ... nothing: other arguments are an error.
#' @return An object of class `"kestrel_explorer"`, a list:
#'   \item{table}{a data frame with a row for each bandwidth: `factor`, `h`, and `lscv`, NA where there is none. In two
#'     dimensions `h` is the fourth root of the determinant of the matrix}
#'   \item{html}{the picture, for a page of one's own}
#'   \item{file}{the file, with its full path}
#'   and `names`, `n`, `call` and `seconds`.
#'
#'   `as.data.frame()` returns `table`. `print()` returns its argument invisibly, and opens the file in a browser if the
#'   session is interactive.
#' @section Units: `h` is in the units of the variable, `lscv` in 1 / volume.
#' @section Errors: Errors of class `kestrel_error_input` are for a density that is not on a grid, has more than two
#'   variables or no data, for factors that are not positive, and for a file that cannot be written.
#' @section Cost: That of [kde()] and of [lscv()] for each bandwidth. The file has about 10 bytes for each point of a
#'   curve, 160 kB by default, and about 600 kB in two dimensions.
#' @references Marron, J.S. & Chung, S.S. (2001) Presentation of smoothers: the family approach. *Computational
#'   Statistics* **16**, 195-207.
#' @seealso [sizer()] and [modetree()] for all bandwidths in one picture
#' @examples
#' seen <- explore(kde(faithful$eruptions), file = tempfile(fileext = ".html"))
#' seen
#' head(as.data.frame(seen))
#' @export
explore <- function(fhat, factor = 5^(-20:14 / 20), file = tempfile(fileext = ".html"), ..., threads = NULL) {
  check_arguments("explore", given_names(...))
  started <- proc.time()[["elapsed"]]
  fhat <- check_estimate(fhat)
  d <- dimension(fhat)
  if (!fhat$gridded || d > 2L || !has_data(fhat)) {
    abort_input("`fhat` must be an estimate of one or two variables on a grid, with its data.")
  }
  check_rows(factor, "factor")
  factor <- sort(unique(c(1, check_positives(factor, "factor"))))
  if (length(factor) < 2L) abort_input("`factor` must have a number other than 1.")
  if (!is_file_name(file)) abort_input("`file` must be the name of a file, not ", describe_value(file), ".")
  target <- check_target(file, "file")
  run <- run_options(threads)
  estimates <- lapply(factor, scaled_estimate, fhat = fhat, run = run)
  table <- data.frame(factor, h = factor * mean_bandwidth(fhat$H), lscv = lscv_of(fhat, factor, run))
  html <- explorer(fhat, estimates, table)
  page <- enc2utf8(page_around(html, if (d == 1L) variable_label(fhat) else paste(fhat$names, collapse = " and ")))
  write_whole(target, nchar(page, "bytes"), function(temporary) {
    written(target, with_connection(temporary, "wb", function(to) writeBin(charToRaw(page), to)))
  })
  structure(list(table = table, html = html, file = target$path, names = fhat$names, n = sample_size(fhat),
                 call = match.call(), seconds = proc.time()[["elapsed"]] - started), class = "kestrel_explorer")
}

# The estimate on the same grid with another bandwidth.
scaled_estimate <- function(by, fhat, run) {
  heard()
  fhat$H <- by^2 * fhat$H
  estimate_task(fhat, task_on_axes(fhat, axes_of(fhat)), run, FALSE, "")
}

lscv_of <- function(fhat, factor, run) {
  d <- dimension(fhat)
  if (has_images(fhat$transform) || !fhat$kernel %in% (if (d == 1L) lscv_kernels() else "gaussian")) return(NA_real_)
  x <- points_to_line(fhat$transform, sample_matrix(fhat))
  at <- function(...) {
    known_as("fhat", lscv(x, ..., w = fhat$w, kernel = fhat$kernel, threads = run$threads, verbose = FALSE))
  }
  if (d == 1L) at(h = factor * sqrt(fhat$H)) else vapply(factor, function(by) at(H = by^2 * fhat$H), 0)
}

page_around <- function(html, names) {
  title <- html_text(paste("Density of", names))
  paste0("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>", title,
         "</title>\n<style>:root{color-scheme:light dark} body{font-family:sans-serif;max-width:64rem;",
         "margin:1rem auto;padding:0 .8rem}</style>\n</head>\n<body>\n<h1>", title, "</h1>\n", html,
         "\n</body>\n</html>\n")
}

html_text <- function(text) gsub("<", "&lt;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE)

# The colours are readable on white and on black; the rest has the colour of the text around it.
explorer_style <- paste0(
  "<style>.kestrel-explorer .panels{display:flex;flex-wrap:wrap;gap:16px} ",
  ".kestrel-explorer svg{flex:1 1 280px;min-width:0;max-width:100%;height:auto;font-size:13px} ",
  ".kestrel-explorer text{fill:currentColor} .kestrel-explorer .curve{fill:none;stroke:#3A86B0;stroke-width:2} ",
  ".kestrel-explorer .region{fill:#3A86B0;fill-opacity:.25;fill-rule:evenodd;stroke:#3A86B0} ",
  ".kestrel-explorer :is(.axis,.data){stroke:currentColor;stroke-opacity:.5;stroke-linecap:round;fill:none} ",
  ".kestrel-explorer .points{stroke-width:3} .kestrel-explorer .now{fill:#D0533A} ",
  ".kestrel-explorer .least{stroke:#D0533A;stroke-dasharray:4 3} .kestrel-explorer input{flex:1 1 180px} ",
  ".kestrel-explorer label{display:flex;gap:12px;align-items:center;flex-wrap:wrap}</style>"
)

# Shows the k-th drawing, and moves the mark on the curve of cross-validation.
explorer_script <- paste0(
  "<script>(function(box){var slider=box.querySelector('input'),said=box.querySelector('output'),",
  "drawn=box.querySelectorAll('[data-label]'),mark=box.querySelector('.now');slider.oninput=function(){",
  "drawn.forEach(function(one,k){one.style.display=k==slider.value?'':'none'});var one=drawn[slider.value];",
  "said.textContent=one.dataset.label;if(mark){mark.setAttribute('cx',one.dataset.x);",
  "mark.setAttribute('cy',one.dataset.y)}}})(document.currentScript.parentNode)</script>"
)

# A picture, and the edges of the panel in it.
edges <- list(width = 480, height = 340, left = 62, right = 468, top = 12, bottom = 294)

explorer <- function(fhat, estimates, table) {
  first <- which(table$factor == 1)
  on_line <- dimension(fhat) == 1L
  with_curve <- !anyNA(table$lscv)
  curve <- if (with_curve) panel(range(log(table$h)), grDevices::extendrange(table$lscv))
  marks <- if (with_curve) cbind(curve$x(log(table$h)), curve$y(table$lscv)) else matrix(0, nrow(table), 2L)
  axes <- axes_of(fhat)
  heights <- if (on_line) c(0, max(vapply(estimates, function(one) max(one$estimate), 0))) else range(axes[[2L]])
  ground <- panel(range(axes[[1L]]), heights)
  labels <- vapply(estimates, function(one) {
    paste("h =", paste(format_short(sqrt(diag(as.matrix(one$H)))), collapse = ", "))
  }, "")
  drawn <- paste0("<g data-label=\"", labels, "\" data-x=\"", marks[, 1L], "\" data-y=\"", marks[, 2L], "\"",
                  ifelse(seq_along(labels) == first, "", " style=\"display:none\""), ">",
                  vapply(estimates, drawing_of, "", panel = ground), "</g>")
  density <- svg_of("The estimate with the bandwidth of the slider", c(
    path_of(if (on_line) "data" else "data points", data_marks(fhat, ground)),
    if (on_line) axes_of_panel(ground, variable_label(fhat), "density") else
      c(axes_of_panel(ground, fhat$names[1L], fhat$names[2L]),
        text_of(edges$right, 24, "regions of 25, 50, 75, 95 %", "end")),
    drawn
  ))
  scores <- if (with_curve) svg_of("The curve of cross-validation by bandwidth", c(
    axes_of_panel(curve, if (on_line) "bandwidth h" else "bandwidth, det(H)^(1/4)", "LSCV", log = TRUE),
    path_of("least", paste0("M", marks[which.min(table$lscv), 1L], " ", edges$top, "V", edges$bottom)),
    path_of("curve", line_path(marks)),
    sprintf("<circle class=\"now\" r=\"5\" cx=\"%s\" cy=\"%s\"/>", marks[first, 1L], marks[first, 2L])
  ))
  slider <- sprintf(paste0("<label>Bandwidth <input type=\"range\" min=\"0\" max=\"%d\" value=\"%d\" ",
                           "autocomplete=\"off\"><output>%s</output></label>"), nrow(table) - 1L, first - 1L,
                    labels[first])
  paste(c("<div class=\"kestrel-explorer\">", explorer_style, slider, "<div class=\"panels\">", density, scores,
          "</div>", explorer_script, "</div>"), collapse = "\n")
}

# Limits of a panel, and the places of coordinates in it, to a tenth of a pixel.
panel <- function(xlim, ylim) {
  scale <- function(limits, from, to) {
    if (diff(limits) == 0) limits <- limits + c(-0.5, 0.5)
    function(at) round(from + (at - limits[1L]) / diff(limits) * (to - from), 1L)
  }
  list(xlim = xlim, ylim = ylim, x = scale(xlim, edges$left, edges$right), y = scale(ylim, edges$bottom, edges$top))
}

svg_of <- function(about, parts) {
  paste0("<svg viewBox=\"0 0 ", edges$width, " ", edges$height, "\" role=\"img\" aria-label=\"", about, "\">\n",
         paste(parts, collapse = "\n"), "\n</svg>")
}

path_of <- function(class, d) paste0("<path class=\"", class, "\" d=\"", d, "\"/>")

text_of <- function(x, y, label, anchor = "middle", more = "") {
  sprintf("<text x=\"%s\" y=\"%s\" text-anchor=\"%s\"%s>%s</text>", x, y, anchor, more, html_text(label))
}

line_path <- function(places) paste0("M", paste(places[, 1L], places[, 2L], collapse = "L"))

# Ticks and labels of both axes; the first may be one of logarithms.
axes_of_panel <- function(panel, xlab, ylab, log = FALSE) {
  inside <- function(ticks, limits) ticks[ticks >= limits[1L] & ticks <= limits[2L]]
  x <- if (log) grDevices::axisTicks(panel$xlim / log(10), TRUE, nint = 4) else pretty(panel$xlim)
  at_x <- inside(if (log) log(x) else x, panel$xlim)
  x <- if (log) exp(at_x) else at_x
  y <- inside(pretty(panel$ylim), panel$ylim)
  middle <- (edges$top + edges$bottom) / 2
  c(path_of("axis", paste(c(sprintf("M%s %sV%sH%s", edges$left, edges$top, edges$bottom, edges$right),
                            sprintf("M%s %sv5", panel$x(at_x), edges$bottom),
                            sprintf("M%s %sh-5", edges$left, panel$y(y))), collapse = "")),
    text_of(panel$x(at_x), edges$bottom + 19, format_short(x)),
    text_of(edges$left - 8, panel$y(y) + 4, format_short(y), "end"),
    text_of((edges$left + edges$right) / 2, edges$height - 8, xlab),
    text_of(12, middle, ylab, more = sprintf(" transform=\"rotate(-90 12 %s)\"", middle)))
}

# A curve, or the borders of the regions of highest density.
drawing_of <- function(fhat, panel) {
  path <- function(x, y) line_path(cbind(panel$x(x), panel$y(y)))
  if (dimension(fhat) == 1L) return(path_of("curve", path(fhat$eval.points, fhat$estimate)))
  # Zeros around the grid close the lines at its edges.
  axes <- lapply(axes_of(fhat), function(axis) {
    edge <- 1e-9 * diff(range(axis))
    c(axis[1L] - edge, axis, axis[length(axis)] + edge)
  })
  z <- rbind(0, cbind(0, fhat$estimate, 0), 0)
  paste(vapply(contour_levels(fhat, c(5, 25, 50, 75) / 100, TRUE), function(level) {
    rings <- grDevices::contourLines(axes[[1L]], axes[[2L]], z, levels = level)
    path_of("region", paste(sprintf("%sZ", vapply(rings, function(ring) path(ring$x, ring$y), "")), collapse = ""))
  }, ""), collapse = "")
}

# Lines below a curve, or points; those at one place once.
data_marks <- function(fhat, panel) {
  x <- sample_matrix(fhat)
  within <- function(at, limits) at >= limits[1L] & at <= limits[2L]
  on_line <- ncol(x) == 1L
  x <- x[within(x[, 1L], panel$xlim) & (on_line | within(x[, ncol(x)], panel$ylim)), , drop = FALSE]
  places <- unique(cbind(panel$x(x[, 1L]), if (on_line) panel$y(0) - 6 else panel$y(x[, 2L])))
  paste(sprintf(if (on_line) "M%s %sv6" else "M%s %sh.1", places[, 1L], places[, 2L]), collapse = "")
}

#' @rdname explore
#' @export
print.kestrel_explorer <- function(x, ...) {
  check_object(x, "x", "kestrel_explorer")
  cat("Density with a slider over bandwidths", call_lines(x$call), label_line("n", format(x$n, big.mark = ",")),
      label_line("variables", paste(x$names, collapse = ", ")),
      label_line("bandwidths", paste0(nrow(x$table), " from ", format_short(min(x$table$h)), " to ",
                                      format_short(max(x$table$h)))),
      if (!anyNA(x$table$lscv)) label_line("least LSCV", paste("at", format_short(x$table$h[which.min(x$table$lscv)]))),
      label_line("file", x$file), sep = "\n")
  if (interactive()) utils::browseURL(x$file)
  invisible(x)
}

#' @rdname explore
#' @export
as.data.frame.kestrel_explorer <- function(x, row.names = NULL, optional = FALSE, ...) {
  plain_columns(check_object(x, "x", "kestrel_explorer")$table)
}

# In a report of HTML the picture, and in others what print() writes.
knit_explorer <- function(x, ...) {
  check_object(x, "x", "kestrel_explorer")
  if (!knitr::is_html_output()) return(knitr::normal_print(x))
  knitr::asis_output(paste0("\n\n```{=html}\n", x$html, "\n```\n\n"))
}
