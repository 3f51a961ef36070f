#' The q-error of approximate counts
#'
#' The q-error is the factor by which an estimate of a count differs from the truth: max(estimate / truth, truth /
#' estimate). It is the usual measure for estimates of selectivity (Moerkotte, Neumann & Steidl 2009). An exact estimate
#' has the q-error 1.
#'
#' @param estimate estimated counts, a vector; or a data frame or matrix with a column for each way to estimate them.
#' @param truth the true counts, one for each estimate.
#' @param least smaller counts, estimated or true, are raised to this number, so that nothing is divided by zero. The
#'   default is one row.
#' @param x an object made by `q_error()`.
#' @param ... further graphical parameters of the empty plot; `col`, `lty` and `lwd`, one for each way, are also those
#'   of the lines. `q_error()` has no further arguments.
#' @return An object of class `"kestrel_q_error"`, a list:
#'   \item{errors}{a matrix with a row for each count and a column for each way to estimate}
#'   \item{table}{a row for each way, with the median, the 95 and 99 % quantiles and the maximum}
#'   `print()` shows the table, and `plot()` the share of counts below each error. Both return their argument invisibly.
#' @section Units: Counts are rows; errors are ratios, without a unit.
#' @section Errors: Errors of class `kestrel_error_input` are for counts that are missing, infinite or negative, and for
#'   a different number of estimates and true counts. In `plot()` they are also for graphical parameters that R
#'   does not know or cannot draw with.
#' @section Cost: O(m log m) for m counts.
#' @references Moerkotte, G., Neumann, T. & Steidl, G. (2009) Preventing bad plans by bounding the impact of cardinality
#'   estimation errors. *Proceedings of the VLDB Endowment* **2**, 982-993.
#' @seealso [kde_query()]
#' @examples
#' rows <- seq(1, 272, by = 5)
#' fhat <- kde(faithful[rows, ], H = Hpi.diag(faithful[rows, ]))
#' limits <- seq(45, 95, by = 5)
#' truth <- vapply(limits, function(limit) sum(faithful$waiting < limit), 0)
#' found <- q_error(data.frame(
#'   density = kde_query(fhat, waiting < limits, N = 272)$count,
#'   sample = vapply(limits, function(limit) mean(faithful$waiting[rows] < limit) * 272, 0)
#' ), truth)
#' found
#' plot(found)
#' @export
q_error <- function(estimate, truth, least = 1, ...) {
  check_arguments("q_error", given_names(...))
  estimate <- check_counts(estimate, "estimate")
  truth <- check_counts(truth, "truth")
  least <- check_positive(least, "least")
  if (ncol(truth) != 1L || nrow(truth) != nrow(estimate)) {
    abort_input("`truth` must be a vector of ", nrow(estimate), " counts, one for each estimate, not ",
                if (ncol(truth) == 1L) nrow(truth) else describe_value(unname(truth)), ".")
  }
  heard()
  ratio <- pmax(estimate, least) / pmax(truth[, 1L], least)
  heard()
  errors <- pmax(ratio, 1 / ratio)
  if (is.null(colnames(errors))) {
    colnames(errors) <- if (ncol(errors) == 1L) "estimate" else paste0("estimate ", seq_len(ncol(errors)))
  }
  table <- t(vapply(seq_len(ncol(errors)), function(k) {
    quantiles_cpp(errors[, k], numeric(0), c(0.5, 0.95, 0.99, 1), run_options())
  }, numeric(4)))
  rownames(table) <- colnames(errors)
  colnames(table) <- c("median", "95%", "99%", "max")
  structure(list(errors = errors, table = table), class = "kestrel_q_error")
}

check_counts <- function(counts, name) {
  counts <- check_finite(as_points(counts, name), name)
  if (length(counts) == 0L) abort_input("`", name, "` must have at least one count, not none.")
  if (any(counts < 0)) abort_input("`", name, "` must not be negative, but ", sum(counts < 0), " are.")
  counts
}

#' @rdname q_error
#' @export
print.kestrel_q_error <- function(x, ...) {
  check_object(x, "x", "kestrel_q_error")
  cat("q-errors of ", format(nrow(x$errors), big.mark = ","), " counts\n", sep = "")
  cells <- rbind(colnames(x$table), matrix(format_short(x$table), nrow(x$table)))
  cells <- cbind(format(c("", shorten(rownames(x$table), 40L))), apply(cells, 2L, format, justify = "right"))
  cat(paste0("  ", apply(cells, 1L, paste, collapse = "  ")), sep = "\n")
  invisible(x)
}

#' @rdname q_error
#' @export
plot.kestrel_q_error <- function(x, ...) {
  check_object(x, "x", "kestrel_q_error")
  ways <- colnames(x$errors)
  m <- nrow(x$errors)
  col <- kind_colours(length(ways))
  more <- list(...)
  empty_plot(range(x$errors, 2), c(0, 1), more, log = "x", xlab = "q-error",
             ylab = "Share of counts with at most this error")
  look <- lapply(look_of(more, col = col, lwd = 2, lty = 1), rep_len, length(ways))
  ends <- plot_corners()[1:2]
  for (k in seq_along(ways)) {
    errors <- sorted_cpp(x$errors[, k])
    for (part in parts_of(m)) {
      heard()
      # Begins at the end of the part before; the first of all at no share, and the last goes on at the whole.
      rows <- max(part[1L] - 1, 0):part[length(part)]
      from <- if (rows[1L] == 0) ends[1L]
      to <- if (rows[length(rows)] == m) ends[2L]
      drawing_with(more, graphics::lines(c(from, errors[rows], to), c(rows, if (!is.null(to)) m) / m, type = "s",
                                         lwd = look$lwd[k], col = look$col[k], lty = look$lty[k]))
    }
  }
  if (length(ways) > 1L) do.call(graphics::legend, c(list("bottomright", ways, bty = "n"), look))
  invisible(x)
}
