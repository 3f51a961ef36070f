# Plans of sketches: the widths of cells and the units that all parts of a sketch share.

#' Sketches: densities and bandwidths of more data than memory
#'
#' A sketch holds what the Gaussian density estimates and bandwidth selectors of one to three variables need of the
#' data:
#' sums over cells in place of the rows. Sketches of parts of the data are made one chunk at a time, in other
#' processes, on
#' other machines or by a database, and are then added. [hns()], [hpi()], [hlscv()], [hscv()], their criteria [lscv()]
#' and [psi()], and [kde()] take a sketch in place of the data. For two and three variables so do
#' \code{\link{Hns}()}, \code{\link{Hpi}()},
#' \code{\link{Hlscv}()}, \code{\link{Hscv}()}, the functions of these names that end in `.diag`, [lscv()] and [kde()].
#'
#' ```
#' plan  <- sketch_plan(source)                                     # once, from a pilot
#' parts <- future.apply::future_lapply(sources, kde_sketch, plan = plan)
#' s     <- do.call(c, parts)
#' kde(s, h = hlscv(s))
#' ```
#'
#' The vignette "More data than memory" shows this.
#'
#' @section Same bits: A sketch is a function of the values as a set: how they were cut into parts, the order of the
#' rows and of additions, the number of threads and the instruction set change no byte of it. The reason is that no data
#' decide where the cells are. They have a width 2^e, which the plan fixes, and begin at multiples of it. What is summed
#' in a cell is rounded once for each value, to whole numbers, and their sums are exact.
#'
#' A cell with at most 16 values keeps them. Of a cell with more the sketch has 16 moments, the sums of t^0, ..., t^15,
#' where t is the position in the cell, from -1 to 1, rounded to a multiple of 2^-44.
#'
#' @section Two and three variables: A sketch of several columns is the grid of a non-uniform Fourier transform, as the
#' engine `"fourier"` makes it of data in memory (see [engines]). Each row adds the values of a window to the 14 cells
#' nearest to it along each axis, rounded to multiples of 2^-42. A tile of 16 x 32 cells, or 16 x 16 x 32, keeps its
#' rows as long as there are at most 256, or 1024. Only when all parts have been added, the grid's box and its period
#' are chosen. If no tile has more rows than it keeps, the sketch stands for the data themselves.
#'
#' @section Bounds: A sketch also serves the density with `bounds` or a `period` of [kde()], since that is the sum of
#' what the estimate on the whole line has at the images of a point. Bandwidths of one variable are selected by [kde()]
#' and [hlscv()] as for data in memory: an image of a cell is a cell again, so that pairs of values and images are
#' summed as pairs of values are. Cells are moved by whole periods into one, which leaves tied values in several periods
#' uncounted.
#'
#' With `bounds` of several variables [kde()] selects `H` as for data in memory: the Fourier modes of reflected data are
#' those of the data with another sign. The period of the grid is then about twice the range of a variable with a bound,
#' so that three variables may need more than its 4 GB, which an error says.
#'
#' With a `period` of several variables the pilot bandwidths follow from the covariance in a period around the mean
#' direction. It is that of data in memory, unless rows of full tiles are within seven cells of the ends of this period.
#' Of such rows only the cell is known, so that `H` may then differ in its fifth digit. A period must have at least 14
#' cells. The grid spans all values, so it is best to move values in many periods into one first.
#'
#' With weights and `bounds` [hlscv()] leaves out pairs of a value with its own reflected images. Their distances depend
#' on where the value is, and their weights are squared. With `bounded = TRUE` a cell has the moments of squared weights
#' that such sums need. Without it [hlscv()] refuses these sketches, unless they have kept all values.
#'
#' @section Plans: Only sketches with one plan can be added. A plan is the width of the cells and the name of the
#' column. The width follows from `hmin`, the least bandwidth of a kernel for which sums over all pairs will be needed:
#' the cells are at most an eighth of it wide. Selectors need sums for bandwidths somewhat below those that they choose,
#' and [hlscv()] for a quarter of the normal reference. A density can be computed for bandwidths from 4 `hmin` on. If no
#' cell has more than 16 values, all bandwidths can be used, because the sketch has all of the values.
#'
#' For several columns `hmin` has a number for each column, or one for all: the least standard deviation of a kernel
#' along the axis, if the other coordinates are given. Cells are at most a third of it wide. Functionals and densities
#' take kernels somewhat wider, by up to a quarter. The axes are those of the data, so that strongly correlated columns
#' take more cells.
#'
#' If `hmin` is not given, it is an eighth of the plug-in bandwidth [hpi()] of the pilot, or of the bandwidth of its
#' regression if that is less, carried over to a billion rows by the rate n^(-1/5). For two columns it is half of the
#' plug-in bandwidth \code{\link{Hpi}()}, carried over to a billion rows, and for three columns all of it, carried over
#' to ten million rows, since three-dimensional grids grow fast. The pilot
#' is the first chunk of the source, or 100,000 of its rows at equal distances if it has
#' more. It need not have the range of the data, but it should have their scale: if a source is sorted, its first chunk
#' has not, and `hmin` should be given. An `hmin` that is too small costs memory, and one that is too large ends in an
#' error of the selector, which says so.
#'
#' Weights are counted in a unit, a power of two, which is four to eight times their mean in the pilot. They must be
#' below 2^24 units. They are rounded to multiples of 2^-44 units, so that weights of more than 12 decades keep enough
#' digits. If the mean of all weights is below 2^-10 units, the pilot was no guide, and the sketch is refused.
#'
#' @section Regression: With a response `y` a sketch of one column also serves [npregbw()]. Beside its own moments a
#' cell then has those of x with y and with y^2, or it keeps the values with their responses. Responses are measured
#' from an origin near the pilot's mean, in a unit of four to eight of its standard deviations. They are rounded to
#' multiples of 2^-44 units. They must be within 2^24 units. Rounding changes a mean of squared residuals by about
#' 2^-44 / sqrt(n) squared units, at random: with a residual standard deviation of a tenth of a unit and a million
#' rows, that is 1e-14 of it. There are no weights.
#'
#' @section What a sketch cannot do: It takes three columns at most. The kernel is Gaussian. Quantiles are known to
#' the width of a cell, unless the cell keeps its values. So `hpi(s)` may differ a little from that of the data if the
#' interquartile range decides on its scale, which is known to the width of a cell. `hpi(s, scalest = "stdev")` is
#' exact, like the other selectors: their criteria differ from those of the data in memory by at most 1e-12 of the sum
#' of the absolute values of the terms. For three columns it is at most 1e-9, as for the engine `"fourier"`.
#'
#' [hlscv()] and \code{\link{Hlscv}()} warn if tied values leave cross-validation without a minimum. Of values that
#' cells do not keep, a sketch has an estimate of the tied pairs (Charikar, Chen & Farach-Colton 2004). Each value adds
#' 1 or -1 to one of 65,536 counters, as a hash of the value has it, and the sum of their squares estimates the sum of
#' the squared numbers of equal values, or of their weights. Its standard error is at most 0.55 percent. Fewer tied
#' pairs than three standard errors count as none: for values of which few are equal that is 0.017 pairs a value. Values
#' that differ by less than 2^-44 of the width of a cell count as equal.
#'
#' Of several columns a density has an error of at most `tol` times its largest value everywhere, also where it is
#' small. \code{\link{Hlscv}()} does not look for clusters. A grid of more than 4 GB is refused. It covers all rows and
#' what is within reach of the widest kernel. If a few rows are far away, it leaves them out. So a kernel that is
#' thousands of times as wide as a cell is refused, as `pilot = "amse"` may need it.
#'
#' @section Missing values and errors on the way: Missing values are an error that names the chunk and its row, or are
#' left out with `na.action = na.omit`. If a source fails on the way, the error has the fields `chunk`, the number of
#' the chunk that failed, and `sketch`, the sketch of all chunks before. With [try()] or [tryCatch()] it can be kept.
#'
#' @section Units: `hmin` and bandwidths are in the units of the variable.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - a pilot of fewer than two rows, or whose values are all equal, without `hmin`;
#'   - an `hmin` that is not positive, or outside of 1e-280 to 1e280;
#'   - chunks that are not numeric, that lack the column, or have missing or infinite values, and a source that fails;
#'   - `y` together with `w` or with several columns, and responses that are too far from those of the pilot;
#'   - values that are 2^1000 cells from zero, or more, for several columns 2^50, and weights that are negative or
#'   too large;
#'   - sketches with different plans, and sketches that were changed or damaged.
#'
#' @section Cost: About 30 ns for a row on one thread, with weights twice that, with a response four times that. With
#'   several threads it is less for chunks of more than 131,072 rows. A sketch has at most 264 bytes for each cell that
#'   holds a value, with weights 296, with a response 776, and 0.7 MB for counters of ties, with weights 1.7 MB, unless
#'   all values are kept. For a billion normal values and the default `hmin` that is 14 MB, and more if tails are heavy.
#'   With `bounded = TRUE` a cell has at most 536 bytes, and a row takes a twentieth more time. Adding sketches takes a
#'   few milliseconds each.
#'
#'   Of two columns a row takes about 0.3 microseconds on one thread, of three columns one microsecond. A sketch has
#'   8 bytes for each cell that a full tile reaches, and the rows of other tiles. For a billion normal rows of two
#'   columns and the default `hmin` that is 60 MB. A selector then takes a transform of the grid for each range of
#'   bandwidths.
#' @param source where the data come from: a numeric vector, or a matrix or data frame with the columns. It may also be
#'   the name of a file of comma-separated values or of a netCDF file, a function that returns one chunk after the
#'   other, a result of \pkg{DBI}, or an object of \pkg{ff}, \pkg{bigmemory} or \pkg{arrow}. [next_chunk()] has the
#'   details, and says how to add others.
#' @param hmin the least bandwidth for which sums over all pairs will be needed, a positive number, or one for each
#'   column, see below; chosen from a pilot if NULL.
#' @param column the names of the columns of the source, one to three. They may be left out for a source of as many
#'   columns, beside that of the weights.
#' @param y the name of a column of responses, for a regression on the one column.
#' @param w the name of a column of weights, if there are any. They are not negative, and rows of weight 0 are left out.
#' @param bounded whether [hlscv()] will be asked for `bounds` of one weighted column. Cells then also have the moments
#'   of squared weights. Without weights, and for several columns, it has no effect: these sketches need nothing more
#'   for bounds.
#' @param plan a plan made by `sketch_plan()`.
#' @param na.action [stats::na.fail], an error when values are missing, or [stats::na.omit], which leaves them out.
#' @param threads the number of threads. The default is [kestrel_threads()].
#' @param ... for `c()`, sketches; otherwise no further arguments: other names are an error.
#' @return `sketch_plan()`: an object of class `"kestrel_sketch_plan"`, a list:
#'   \item{exponent}{e of the width 2^e of the cells, for each column}
#'   \item{column}{the names of the columns}
#'   \item{hmin}{the least bandwidths that such cells serve}
#'   \item{weight, weight_exponent}{the name of the weights, or "", and the exponent of their unit}
#'   \item{response, response_exponent, response_origin}{the name of the response, or "", the exponent of its unit, and
#'     what it is counted from}
#'   \item{bounded}{whether there are moments of squared weights}
#'
#'   `kde_sketch()`: an object of class `"kestrel_sketch"`, a list with `bytes`, a raw vector that is the same on every
#'   machine. Of several columns it is the same wherever a long double has 64 bits, as on x86-64: elsewhere the window
#'   of the grid is rounded differently. Any machine reads it. [kestrel_sketch-methods] has its methods, and
#'   [as_sketch()] reads the bytes.
#' @references Greengard, L. & Strain, J. (1991) The fast Gauss transform. *SIAM J. Sci. Stat. Comput.* **12**, 79-94.
#'   (The moments of cells.)
#'
#'   Barnett, A.H., Magland, J. & af Klinteberg, L. (2019) A parallel nonuniform fast Fourier transform library based on
#'   an "exponential of semicircle" kernel. *SIAM J. Sci. Comput.* **41**, C479-C504. (The grids.)
#'
#'   Charikar, M., Chen, K. & Farach-Colton, M. (2004) Finding frequent items in data streams. *Theor. Comput. Sci.*
#'   **312**, 3-15. (The counters of ties.)
#' @seealso [kestrel_sketch-methods], [next_chunk()], [sketch_sql()]
#' @examples
#' # three parts of the data, in any order
#' x <- faithful$eruptions
#' plan <- sketch_plan(x)
#' parts <- lapply(split(x, rep(1:3, length.out = length(x))), kde_sketch, plan = plan)
#' s <- do.call(c, rev(unname(parts)))
#' s
#' identical(s, kde_sketch(x, plan))
#'
#' # a bandwidth and a density of all of them
#' hscv(s)
#' plot(kde(s, h = hscv(s)))
#'
#' # a regression
#' plan <- sketch_plan(faithful, column = "eruptions", y = "waiting")
#' npregbw(kde_sketch(faithful, plan))
#'
#' # two columns
#' plan <- sketch_plan(faithful)
#' s <- kde_sketch(faithful[1:100, ], plan) + kde_sketch(faithful[101:272, ], plan)
#' Hpi(s)
#' @export
sketch_plan <- function(source, hmin = NULL, column = NULL, ..., y = NULL, bounded = FALSE, w = NULL) {
  check_arguments("sketch_plan", given_names(...))
  if (!is.null(column)) column <- check_column_names(column)
  if (!is.null(w)) w <- check_column_name(w, "w")
  if (!is.null(y)) y <- check_column_name(y, "y")
  if (!is.null(w) && !is.null(y)) abort_input("`w` must not be given together with `y`.")
  bounded <- check_flag(bounded, "bounded")
  if (!is.null(hmin)) hmin <- check_positives(hmin, "hmin", limits = c(1e-280, 1e280))
  needed <- is.null(column) || is.null(hmin) || !is.null(w) || !is.null(y)
  pilot <- if (needed) pilot_of(source, column, w, y) else list(column = column)
  d <- length(pilot$column)
  if (d > 1L && !is.null(y)) abort_input("`y` must be NULL for several columns, not ", quoted(y), ".")
  if (is.null(hmin)) hmin <- least_of_pilot(pilot)
  if (!length(hmin) %in% c(1L, d)) {
    abort_input("`hmin` must be a number, or one for each of the ", d, " columns, not ", length(hmin), ".")
  }
  exponent <- sketch_exponents_cpp(rep_len(hmin, d))
  if (d > 1L && any(abs(exponent) > 400)) {
    abort_input("`hmin` must be from 1e-115 to 1e115 for several columns, not ", describe_value(hmin[1L]), ".")
  }
  of_response <- response_scale(pilot$y)
  structure(list(exponent = exponent, column = pilot$column, hmin = sketch_least_cpp(exponent),
                 weight = if (is.null(w)) "" else w, weight_exponent = weight_exponent(pilot$w),
                 response = if (is.null(y)) "" else y, response_exponent = of_response$exponent,
                 response_origin = of_response$origin, bounded = bounded && d == 1L && !is.null(w)),
            class = "kestrel_sketch_plan")
}

# Of one column, or of at `most` three or six that differ.
check_column_names <- function(columns, most = 3L) {
  names <- without_class(columns)
  if (!is.character(names) || !length(names) %in% seq_len(most) || anyDuplicated(names) > 0L) {
    abort_input("`column` must be the names of one to ", number_words[[most]], " columns, all different, not ",
                describe_value(columns), ".")
  }
  vapply(names, check_column_name, "", argument = "column", USE.NAMES = FALSE)
}

# Of columns, in messages.
number_words <- c("one", "two", "three", "four", "five", "six")

check_column_name <- function(column, argument) {
  name <- without_class(column)
  if (!is.character(name) || length(name) != 1L || is.na(name) || !nzchar(name)) {
    abort_input("`", argument, "` must be the name of a column, not ", describe_value(column), ".")
  }
  enc2utf8(readable(name))
}

# The bandwidths that selectors try are about those of the pilot if it had so many rows as this, for one to three
# columns.
rows_planned_for <- c(1e9, 1e9, 1e7)

# Of several columns, along each of them, given the others.
least_of_pilot <- function(pilot) {
  d <- length(pilot$column)
  if (d > 1L) {
    inverse <- chol2inv(chol(known_as("source", Hpi(pilot$x, w = pilot$w))))
    at_planned <- (nrow(pilot$x) / rows_planned_for[d])^(1 / (d + 4)) / sqrt(diag(inverse))
    # Cross-validation of two columns has some room below the plug-in.
    return(at_planned / c(1, 2, 1)[d])
  }
  h <- known_as("source", hpi(pilot$x, w = pilot$w))
  if (!is.null(pilot$y)) {
    h <- min(h, known_as("source", suppressMessages(npregbw(xdat = pilot$x, ydat = pilot$y)))$bw)
  }
  # Cross-validation begins at a quarter of the normal reference, which may be below h.
  h * (length(pilot$x) / rows_planned_for[1L])^(1 / 5) / 8
}

# What responses are counted from, and the exponent of their unit. The unit is four to eight standard deviations of the
# pilot's, and the origin is near their mean, with few digits.
response_scale <- function(y) {
  if (is.null(y)) return(list(exponent = 0L, origin = 0))
  middle <- y[1L] + mean(y - y[1L])
  spread <- sqrt(mean((y - middle)^2))
  if (!is.finite(spread) || spread > 0 && abs(log2(spread)) > 390) {
    abort_input("`source` must have responses with a standard deviation from 1e-117 to 1e117, not ",
                describe_value(spread), ".")
  }
  exponent <- if (spread > 0) as.integer(floor(log2(spread))) + 3L else 0L
  list(exponent = exponent, origin = round(middle * 2^-exponent * 8) / 8 * 2^exponent)
}

# Of the unit of weights: between an eighth and a quarter of it is the mean of the pilot's. Few weights are then above
# it, and these cost more time.
weight_exponent <- function(w) if (is.null(w)) 0L else as.integer(floor(log2(mean(w)))) + 3L

# A plan as src/rcpp_sketch.cpp takes it.
core_plan <- function(plan) {
  list(exponent = as.integer(plan$exponent), column = plan$column, weight = plan$weight,
       weight_exponent = as.integer(plan$weight_exponent), response = plan$response,
       response_exponent = as.integer(plan$response_exponent), response_origin = plan$response_origin,
       bounded = plan$bounded)
}

# What the plans of two sketches do not have in common, in words.
check_same_plan <- function(first, other, k) {
  if (length(first$column) == length(other$column) && any(first$exponent != other$exponent)) {
    abort_input("Sketches that are added must have the same plan: the cells of the first are ",
                width_text(first$exponent), " wide, and those of number ", k, " are ", width_text(other$exponent),
                " wide.")
  }
  if (!identical(first$column, other$column)) {
    abort_input("Sketches that are added must have the same plan: the first is of ", column_text(first$column),
                ", and number ", k, " is of ", column_text(other$column), ".")
  }
  if (weight_text(first) != weight_text(other)) {
    abort_input("Sketches that are added must have the same plan: the first has ", weight_text(first), ", and number ",
                k, " has ", weight_text(other), ".")
  }
  if (response_text(first) != response_text(other)) {
    abort_input("Sketches that are added must have the same plan: the first has ", response_text(first),
                ", and number ", k, " has ", response_text(other), ".")
  }
}

response_text <- function(plan) {
  if (!nzchar(plan$response)) return("no response")
  paste0("the response ", quoted(plan$response), " from ", describe_value(plan$response_origin), " in units of ",
         width_text(plan$response_exponent))
}

weight_text <- function(plan) {
  if (!nzchar(plan$weight)) return("no weights")
  paste0("the weights ", quoted(plan$weight), " in units of ", width_text(plan$weight_exponent),
         if (plan$bounded) ", with their squares for bounds")
}

width_text <- function(exponent) paste0("2^", exponent, collapse = " x ")

column_text <- function(column) {
  if (all(nzchar(column))) return(quoted(column))
  if (length(column) == 1L) "a column without a name" else paste(length(column), "columns without names")
}

#' @rdname kestrel_sketch-methods
#' @export
print.kestrel_sketch_plan <- function(x, ...) {
  check_object(x, "x", "kestrel_sketch_plan")
  cat(
    paste0("Plan of sketches of ", column_text(x$column)),
    label_line("cells", paste0(width_text(x$exponent), " = ",
                               paste(vapply(2^x$exponent, format_short, ""), collapse = " x "), " wide")),
    if (nzchar(x$weight)) {
      label_line("weights", paste0(quoted(x$weight), ", up to ", format_short(2^(x$weight_exponent + 24)),
                                   if (x$bounded) ", with their squares for bounds"))
    },
    if (nzchar(x$response)) {
      far <- 2^(x$response_exponent + 24)
      label_line("response", paste0(quoted(x$response), ", within ", format_short(far), " of ",
                                    format_short(x$response_origin)))
    },
    label_line("bandwidths", if (length(x$hmin) > 1L) {
      paste("from", paste(vapply(x$hmin, format_short, ""), collapse = " x "), "on, along each axis given the others")
    } else {
      paste0("sums from ", format_short(x$hmin), ", densities from ", format_short(4 * x$hmin), " on")
    }), sep = "\n"
  )
  invisible(x)
}
