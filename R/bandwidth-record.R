# What a selector returns with amise = TRUE: the list of ks with a record of the search.

as_record <- function(found, title) structure(found, class = "kestrel_record", title = title)

#' Records of bandwidth selectors
#'
#' Printing and plotting of the lists that the selectors return with `amise = TRUE`. They have the fields of \pkg{ks}
#' and those that the help of each selector names.
#'
#' @param x the list that [hpi()], [hlscv()], [hscv()], [hpi.kcde()], \code{\link{Hpi}()}, \code{\link{Hlscv}()},
#'   \code{\link{Hscv}()} or \code{\link{Hpi.kcde}()} returned with `amise = TRUE`.
#' @param xlab,ylab,main labels.
#' @param ... further graphical parameters of the empty plot; `col`, `lty` and `lwd` are also those of the line, `pch`
#'   and `cex` of the point. Not used by `print()`.
#' @return `x`, invisibly.
#' @section Units: Bandwidths are in the units of the data, in a curve of \code{\link{Hlscv}()} without a unit; the
#'   criterion is in 1 / volume.
#' @section Errors: `plot()` raises an error of class `kestrel_error_input` for a record without a curve. Only the
#'   records of [hlscv()], [hscv()] and \code{\link{Hlscv}(type = "scalar")} have one.
#' @section Cost: O(bandwidths): the curve is in `x`.
#' @references Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall.
#' @examples
#' found <- hscv(faithful$eruptions, amise = TRUE)
#' found
#' plot(found)
#' found$objective
#' @name kestrel_record-methods
#' @aliases print.kestrel_record
NULL

#' @rdname kestrel_record-methods
#' @export
print.kestrel_record <- function(x, ...) {
  check_object(x, "x", "kestrel_record")
  fields <- unclass(x)
  title <- attr(x, "title")
  curve <- curve_of(fields)
  by <- if (!is.null(fields$engine)) paste0(fields$engine, " on ", backend_text(fields), ", ",
                                            format_short(fields$seconds), " s")
  shown <- c(if (is.character(title)) title[1L] else "Bandwidth",
             if (!is.null(fields$h)) label_line("bandwidth", paste0("h = ", format_short(fields$h))),
             if (length(fields$H) > 1L) matrix_lines(fields$H),
             if (!is.null(fields$objective)) label_line("objective", format_short(fields$objective)),
             if (!is.null(fields$convergence)) label_line("search", search_text(fields)),
             if (!is.null(curve)) {
               label_line("curve", paste0(nrow(curve), " bandwidths from ", format_short(min(curve$h)), " to ",
                                          format_short(max(curve$h)), ", see plot()"))
             },
             if (!is.null(by)) label_line("engine", by),
             label_line("fields", paste(names(fields), collapse = ", ")))
  cat(shown, sep = "\n")
  invisible(x)
}

search_text <- function(fields) {
  paste0(if (fields$convergence == 0) "converged" else "not converged, or at an end of the range", ", ",
         fields$evaluations, if (fields$evaluations == 1) " evaluation" else " evaluations")
}

# A data frame of h and objective, NULL without one.
curve_of <- function(fields) {
  curve <- if (is.null(fields[["curve"]])) fields[["path"]] else fields[["curve"]]
  if (!is.null(curve)) plain_columns(curve)
}

#' @rdname kestrel_record-methods
#' @export
plot.kestrel_record <- function(x, xlab = "Bandwidth h", ylab = "Criterion", main = NULL, ...) {
  check_object(x, "x", "kestrel_record")
  curve <- curve_of(unclass(x))
  if (is.null(curve)) {
    abort_input("`x` must have a curve to be plotted, as those of hlscv(), hscv() and Hlscv(type = \"scalar\") have.")
  }
  more <- list(...)
  empty_plot(range(curve$h), range(curve$objective), more, log = "x", xlab = xlab, ylab = ylab, main = main,
             note = paste0("Point: minimum at h = ", format_short(x[["h"]])))
  drawing_with(more, {
    do.call(graphics::lines, c(list(curve$h, curve$objective), look_of(more, col = colours$curve, lwd = 2, lty = 1)))
    do.call(graphics::points, c(list(x[["h"]], x[["objective"]]),
                                look_of(more, col = colours$curve, pch = 16, cex = 1)))
  })
  invisible(x)
}
