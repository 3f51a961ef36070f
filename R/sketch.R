# Sketches of one to three variables: sums over their values that parts of the data add to, in any order. The core keeps
# a sketch as bytes (src/core/sketch/), and so does R. R holds a pointer to it only while it grows, chunk by chunk.

#' @rdname sketch_plan
#' @export
kde_sketch <- function(source, plan, ..., na.action = stats::na.fail, threads = NULL) {
  check_arguments("kde_sketch", given_names(...))
  if (missing(plan)) abort_input("`plan` must be a plan made by sketch_plan().")
  check_object(plan, "plan", "kestrel_sketch_plan")
  sketch <- new_sketch_cpp(core_plan(plan))
  add_source(sketch, source, plan, check_na_action(na.action), run_options(threads))
}

# The sketch of a pointer, to which all chunks of a source have been added.
add_source <- function(sketch, source, plan, na.action, run) {
  columns <- Filter(nzchar, c(plan$column, plan$weight, plan$response))
  each_chunk(source, if (all(nzchar(plan$column))) columns, function(chunk, k) {
    add <- function(x, w, refused) {
      if (length(x) == 0L) return(TRUE)
      tryCatch({
        add_to_sketch_cpp(sketch, x, w, run)
        TRUE
      }, kestrel_core_sketch = refused)
    }
    # The core checks all values before it adds any. What is wrong with them is only looked up if it refuses them.
    plain <- !any(nzchar(c(plan$weight, plan$response)))
    if (plain && add(columns_of_chunk(chunk, plan$column, k)$x, NULL, function(e) FALSE)) return()
    rows <- rows_of_source(chunk, plan, k, na.action)
    add(rows$x, rows$w, function(e) refuse_far(rows$x, plan, k, e))
    NULL
  }, so_far = function() sketch_from(sketch, run))
  sketch_from(sketch, run)
}

# Values that are too large for the cells.
refuse_far <- function(x, plan, k, e) {
  largest <- apply(abs(matrix(ranges_cpp(x), nrow = 2L)), 2L, max)
  farthest <- if (length(plan$exponent) > 1L) 50 else 1000
  far <- which(log2(largest) >= farthest + plan$exponent)
  if (length(far) == 0L) stop(e)
  abort_input("`source` must have values below 2^", farthest, " cells, which are ",
              width_text(plan$exponent[far[1L]]), " wide, but chunk ", k, " reaches ",
              describe_value(largest[far[1L]]), ".")
}

sketch_from <- function(pointer, run) new_sketch(sketch_bytes_cpp(pointer, run))

new_sketch <- function(bytes) structure(list(bytes = bytes), class = "kestrel_sketch")

is_sketch <- function(x) inherits(x, "kestrel_sketch")

check_sketch <- function(x, name = "x") {
  sketch_info_cpp(unpacked_sketch(x, name))
}

unpacked_sketch <- function(x, name = "x") {
  check_object(x, name, "kestrel_sketch")
  known_sketch(name, unpack_sketch_cpp(x$bytes))
}

# The core's words for bytes that are no sketch.
known_sketch <- function(name, code) {
  tryCatch(code, kestrel_core_sketch = function(e) {
    abort_input("`", name, "` must be a sketch as it was made: ", conditionMessage(e), ".")
  })
}

#' Methods for sketches
#'
#' Sketches made by [kde_sketch()] with one plan are added by `c()` or `+`, and `update()` adds the rows of another
#' source to a sketch. `print()` and `summary()` say what a sketch holds, and `plot()` draws its density, [kde()] with
#' the plug-in bandwidth.
#'
#' @param x,object,e1,e2 a sketch made by [kde_sketch()], or a plan made by [sketch_plan()].
#' @param ... for `c()`, further sketches; for `plot()`, further arguments of [plot.kestrel_kde()].
#' @param na.action,threads as in [kde_sketch()].
#' @param source the rows that are added, see [next_chunk()].
#' @return `c()`, `+` and `update()` return a sketch. `summary()` returns a list of class `"summary.kestrel_sketch"`:
#'   \item{n, range, mean, sd}{of the values, without a rounding error that grows with n; `sd` has the divisor n - 1,
#'     with weights `n_eff` - 1. They are NA for values that are not there. Of several columns `range` is a matrix with
#'     two rows}
#'   \item{column, width}{the names of the columns, and the widths of the cells}
#'   \item{response}{the name of the response, or ""}
#'   \item{weight, n_eff}{the name of the weights, or "", and the effective sample size (sum w)^2 / sum w^2}
#'   \item{cells}{a vector: how many cells, of several columns tiles, are `full`, and how many values the others have
#'     `kept`}
#'   \item{least}{the least bandwidths that the cells serve, of `sums` over pairs and of a `density`; of several columns
#'     those of sums, along each axis}
#'   \item{ties}{how many other values or rows each one is equal to, on the average; an estimate unless all are kept,
#'     see [kde_sketch()]}
#'   \item{bytes}{the size}
#'   `print()` and `plot()` return their argument invisibly.
#' @section Units: The range, the mean, the standard deviation and bandwidths are in the units of the variable.
#' @section Errors: Errors of class `kestrel_error_input` are for sketches with different plans, the message says how
#'   they differ, for objects that are no sketches, and for those of a source, see [kde_sketch()].
#' @section Cost: O(cells) for each sketch. `plot()` also costs a bandwidth.
#' @references Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall.
#' @examples
#' plan <- sketch_plan(faithful, column = "eruptions")
#' s <- kde_sketch(faithful[1:100, ], plan) + kde_sketch(faithful[101:200, ], plan)
#' s <- update(s, faithful[201:272, ])
#' summary(s)
#' plot(s)
#' @name kestrel_sketch-methods
#' @aliases print.kestrel_sketch
NULL

#' @rdname kestrel_sketch-methods
#' @export
c.kestrel_sketch <- function(...) {
  sketches <- unname(Filter(Negate(is.null), list(...)))
  infos <- Map(check_sketch, sketches, argument_names(length(sketches)))
  for (k in seq_along(infos)) check_same_plan(infos[[1L]], infos[[k]], k)
  new_sketch(merge_sketches_cpp(lapply(sketches, `[[`, "bytes"), run_options(1L)))
}

argument_names <- function(count) if (count > 0L) paste0("..", seq_len(count))

#' @rdname kestrel_sketch-methods
#' @export
`+.kestrel_sketch` <- function(e1, e2) {
  if (missing(e2)) return(e1)
  check_sketch(e1, "e1")
  check_sketch(e2, "e2")
  c(e1, e2)
}

#' @rdname kestrel_sketch-methods
#' @export
update.kestrel_sketch <- function(object, source, ..., na.action = stats::na.fail, threads = NULL) {
  check_arguments("update", given_names(...))
  info <- check_sketch(object, "object")
  if (missing(source)) abort_input("`source` must be the rows to add.")
  add_source(read_sketch_cpp(object$bytes), source, info, check_na_action(na.action), run_options(threads))
}

#' @rdname kestrel_sketch-methods
#' @export
summary.kestrel_sketch <- function(object, ...) {
  info <- check_sketch(object, "object")
  variances <- if (length(info$column) > 1L) diag(as.matrix(info$variance)) else info$variance
  none <- info$n == 0
  missing <- rep(NA_real_, length(info$column))
  named <- function(value) {
    if (length(value) > 1L && all(nzchar(info$column))) stats::setNames(value, info$column) else value
  }
  range <- if (none) rbind(missing, missing, deparse.level = 0) else rbind(info$range)
  if (length(info$column) == 1L) range <- as.vector(range) else colnames(range) <- names(named(missing))
  structure(list(n = info$n, range = range, mean = named(if (none) missing else info$mean),
                 sd = named(if (info$n > 1) sqrt(variances * (info$n_eff / (info$n_eff - 1))) else missing),
                 column = info$column, width = named(2^info$exponent), weight = info$weight, response = info$response,
                 n_eff = if (none) 0 else info$n_eff, cells = c(full = info$full, kept = info$kept),
                 least = if (length(info$column) > 1L) named(info$sums) else
                   c(sums = info$sums, density = info$density),
                 ties = if (none) 0 else info$tied / info$n, bytes = length(object$bytes)),
            class = "summary.kestrel_sketch")
}

#' @export
print.summary.kestrel_sketch <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_sketch")
  count <- function(value) format(value, big.mark = ",", scientific = FALSE)
  d <- length(x$column)
  served <- if (all(x$least == 0)) "all: every value is kept" else if (d > 1L) {
    paste("from", paste(vapply(x$least, format_short, ""), collapse = " x "), "on, along each axis given the others")
  } else {
    paste0("sums from ", format_short(x$least[["sums"]]), ", densities from ", format_short(x$least[["density"]]),
           " on")
  }
  ranges <- if (d == 1L) matrix(x$range) else x$range
  labels <- if (d == 1L) "" else if (all(nzchar(x$column))) x$column else paste("column", seq_len(d))
  of_columns <- function(k) {
    c(label_line("range", paste0(paste(format(ranges[, k], digits = 7, trim = TRUE), collapse = " to "),
                                 if (d > 1L) paste0(" of ", labels[k]))),
      label_line("mean", paste0(format_short(x$mean[[k]], 7), ", standard deviation ", format_short(x$sd[[k]], 7))))
  }
  value <- if (d > 1L) "row" else "value"
  cat(
    paste0("Sketch of ", column_text(x$column)),
    label_line("n", paste0(count(x$n), if (nzchar(x$weight)) {
      paste0(", weighted by ", quoted(x$weight), ": effective n ", format_short(x$n_eff))
    })),
    if (nzchar(x$response)) label_line("response", x$response),
    if (x$n > 0) unlist(lapply(seq_len(d), of_columns)),
    label_line("cells", paste0(paste(vapply(x$width, format_short, ""), collapse = " x "), " wide: ",
                               count(x$cells[["full"]]), if (d > 1L) " tiles of a grid; " else " with moments; ",
                               count(x$cells[["kept"]]), " ", value, if (x$cells[["kept"]] != 1) "s", " in others")),
    label_line("bandwidths", served),
    if (x$ties > 0) label_line("ties", paste0(format_short(x$ties), " tied pairs a ", value)),
    label_line("size", format_bytes(x$bytes)), sep = "\n"
  )
  invisible(x)
}

#' @rdname kestrel_sketch-methods
#' @export
print.kestrel_sketch <- function(x, ...) {
  check_sketch(x)
  print(summary(x))
  invisible(x)
}

#' @rdname kestrel_sketch-methods
#' @export
plot.kestrel_sketch <- function(x, ...) {
  check_sketch(x)
  plot(kde(x), ...)
  invisible(x)
}
