#' A small substitute for a table, for queries
#'
#' Keeps some of a table's rows, drawn evenly from all parts of it, and a bandwidth. With these [kde_query()] answers
#' counts, sums, means and variances of boxes without the table (Andrzejewski, Gramacki & Gramacki 2013, section 4.3).
#' The table is in memory or in a database. The object is a plain list without environments, so that [saveRDS()] and
#' [readRDS()] restore it exactly. It does not keep the connection.
#'
#' @section Columns: Columns of numbers, dates and times are variables, which have a density. Columns of texts, factors,
#' and of TRUE and FALSE are labels, which have categories. A synopsis keeps the exact counts of the 1,000 commonest
#' categories of each label, and one count of all others. Its rows get weights, so that the weighted counts of
#' categories are those of the table (raking, Deming & Stephan 1940). A table must have at least one variable. Text
#' columns of a database must have at most 100,000 categories: name the columns that you need.
#'
#' @section Rows: The table is cut into `size` cells with equal numbers of rows, at most 5,000, by halving at the
#' quantiles of one variable after another (a k-d tree, Bentley 1975), labels included. One row of each cell is drawn,
#' or as many of each, by systematic sampling (Cochran 1977, ch. 8) along the tree, in random order within cells. So
#' every row is equally likely to be kept. Only cells at a box's edges make its count vary, and errors are about half as
#' large as with a simple random sample. The intervals of [kde_query()] assume a simple random sample, so they are wider
#' than necessary.
#'
#' @section Databases: `data` is a connection of package \pkg{DBI} or a `tbl` of package \pkg{dbplyr}. The table is read
#' by one query for the named columns, in chunks of 100,000 rows. A simple random sample is kept meanwhile (a reservoir,
#' Fan, Muller & Rezucha 1962): eight times `size` rows, or as many as have about a million values. The rows of the
#' synopsis are then drawn from these as above. The query also counts rows and categories. Package \pkg{RPostgreSQL}
#' holds the whole result of such a query in memory.
#'
#' A table of PostgreSQL is not read so. The server samples eight times `size` rows, but at most 20,000 more than
#' `size`, by `TABLESAMPLE BERNOULLI` with a seed from R's generator, and only these are sent. It then counts the rows
#' and categories of the whole table and finds the ranges. How many rows there are is first the planner's estimate: if
#' that was too high, the sample is drawn again. A synopsis of more than 20,000 rows is a simple random sample. Queries
#' and views cannot be sampled so. If the table changes meanwhile, use a transaction that is `REPEATABLE READ`.
#'
#' Names of tables and columns are quoted by \pkg{DBI}. A `table` that begins with `SELECT`, `WITH` or `VALUES` is sent
#' as it is. After an error or an interrupt no result is left open.
#'
#' @section Bandwidth: The bandwidth is selected from the rows that are kept, by [hpi()], or by [Hpi.diag()] for several
#' variables, because a diagonal matrix makes answers fast. Other kernels take their normal reference, as in [kde()].
#' With `tune_queries` the bandwidth is multiplied by a factor between 1/64 and 4. The factor minimises the mean of the
#' squared logarithms of the q-errors on every other query. The table itself gives the true counts. `tuning` then has
#' the factor, and the distribution of the q-errors on the queries that were held out, before and after.
#'
#' @section Ranges:
#' The supports of kernels extend beyond the smallest and the largest value of a variable, where there are no rows.
#' Limits at or beyond the range of the table therefore count as none, and boxes beyond it have no mass.
#'
#' @section Bounds: Near an end of a variable where many rows are, such as 0 of waiting times, a kernel has mass beyond
#' it, and counts of boxes there are too small. With `bounds` or a `period` the density is that of [kde()] with these:
#' what kernels have beyond a bound is reflected at it, or comes in at the other end of the period. Counts, sums, means,
#' variances and quantiles are those of this density, and so are what [learn()] and `tune_queries` learn from. The
#' bandwidth is then selected for it, for at most three variables. Rows of `bounds` are those of the variables, labels
#' left out. Dates are numbers of days there, and times numbers of seconds.
#'
#' @param data the table: a numeric vector, a matrix, a data frame, a connection of \pkg{DBI}, or a `tbl` of
#'   \pkg{dbplyr}.
#' @param table the name of a table of the database, an `Id()` of \pkg{DBI}, or a query that begins with `SELECT`.
#' @param columns the names of the columns to keep; all if NULL.
#' @param size how many rows to keep; all of a smaller table. Draws are R's, see [set.seed()].
#' @param h,H,kernel as in [kde()]; kernels other than the Gaussian are product kernels, with a diagonal `H`. Selected
#'   from the rows that are kept if neither `h` nor `H` is given.
#' @param bounds,period as in [kde()]: bounds and periods of the variables.
#' @param tune_queries a list with `lower` and `upper`, limits of at least 10 boxes as in [kde_query()].
#' @param key the name of a column of numbers, dates or times that increases from row to row as rows are inserted, and
#'   is different for each. Its values in the rows that are kept let [refresh()] find what was inserted and deleted.
#' @param na.action [stats::na.fail], an error when values are missing, or [stats::na.omit], which leaves out the rows.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @param x an object made by `kde_synopsis()`.
#' @param ... no further arguments of `kde_synopsis()`: other names are an error, which says what may have been meant.
#'   In `plot()`, graphical parameters.
#' @return An object of class `"kestrel_synopsis"`, a list:
#'   \item{version}{of this form, which is checked when it is used}
#'   \item{x}{the rows that are kept, a matrix of the variables}
#'   \item{w}{the weights of these rows, with mean 1; NULL without labels}
#'   \item{H, kernel}{the bandwidth matrix and the kernel}
#'   \item{N, names}{the number of rows of the table, and the names of its variables}
#'   \item{types}{of the variables: `"number"`, `"Date"` or `"POSIXct"`}
#'   \item{labels}{for each label a list of `levels`, its commonest categories, `counts` of them in the table, `other`,
#'     the number of rows with others, and `codes`, the numbers of the levels in the rows that are kept, 0 for others}
#'   \item{ranges}{a matrix of the smallest and the largest value of each variable}
#'   \item{tuning}{NULL, or a list of `factor`, `queries` (how many were held out) and `errors` (the table of
#'     [q_error()] on these)}
#'   \item{transform}{with `bounds` or a `period` a list, as in [kde()]}
#'   \item{source, key}{of a database: a list of what was read (`from`, `columns`, `is_table`, `na.action`), and NULL or
#'     a list of the key's `name`, `type`, `values` in the rows that are kept, and `last`, its largest value in the
#'     table}
#'   \item{history, learning}{after [learn()] or [refresh()]}
#'   `print()` shows it with the bytes that it takes in a file, uncompressed. `plot()` shows the q-errors of the queries
#'   that it has learned from. Both return it invisibly.
#' @section Units: `x`, `ranges` and the limits of queries are in those of the variables, `H` in their squares. Dates
#'   are numbers of days, times of seconds.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - tables without rows, columns of other types, and missing values;
#'   - rows beyond `bounds`, which are counted, and bounds that leave no room;
#'   - a `size` that is not a count, bandwidths as in [kde()], and `tune_queries` that are not boxes;
#'   - tables and columns that the database does not have, and all other errors of the database.
#' @section Cost: O(N log N log(size)) for a table in memory, that of the bandwidth for `size` rows, and with
#'   `tune_queries` some 30 times that of their answers. A database takes the time to send all rows, about a second for
#'   a million rows of three columns from SQLite; PostgreSQL that of two scans on the server.
#' @references Andrzejewski, W., Gramacki, A. & Gramacki, J. (2013) Density estimations for approximate query processing
#'   on SIMD architectures.
#'
#'   Bentley, J. L. (1975) Multidimensional binary search trees used for associative searching. *Communications of the
#'   ACM* **18**, 509-517.
#'
#'   Cochran, W. G. (1977) *Sampling Techniques*, 3rd edition. Wiley.
#'
#'   Deming, W. E. & Stephan, F. F. (1940) On a least squares adjustment of a sampled frequency table when the expected
#'   marginal totals are known. *Annals of Mathematical Statistics* **11**, 427-444.
#'
#'   Fan, C. T., Muller, M. E. & Rezucha, I. (1962) Development of sampling plans by using sequential (item by item)
#'   selection techniques and digital computers. *Journal of the American Statistical Association* **57**, 387-402.
#' @seealso [kde_query()], [q_error()]
#' @examples
#' set.seed(1)
#' synopsis <- kde_synopsis(quakes[c("depth", "mag")], size = 200)
#' synopsis
#' kde_query(synopsis, depth > 300 & mag < 5)
#' sum(quakes$depth > 300 & quakes$mag < 5)
#'
#' # the same of a table in a database
#' if (requireNamespace("RSQLite", quietly = TRUE)) {
#'   con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
#'   DBI::dbWriteTable(con, "quakes", quakes)
#'   print(kde_synopsis(con, "quakes", columns = c("depth", "mag"), size = 200))
#'   DBI::dbDisconnect(con)
#' }
#' @export
kde_synopsis <- function(data, ...) UseMethod("kde_synopsis")

#' @rdname kde_synopsis
#' @export
kde_synopsis.default <- function(data, size = 5000, h, H, tune_queries = NULL, ..., bounds = NULL, period = NULL,
                                 kernel = "gaussian", na.action = stats::na.fail, verbose = NULL) {
  check_arguments("kde_synopsis", given_names(...))
  verbose <- asked_verbose(verbose)
  table <- columns_of_table(data, check_na_action(na.action))
  size <- check_count(size, "size")
  given <- check_synopsis_bandwidth(list(H = if (!missing(H)) H, h = if (!missing(h)) h, kernel = kernel,
                                         bounds = bounds, period = period), table$names)
  table <- rows_within(table, given$transform)
  kept <- keep_rows(table, size)
  synopsis <- new_synopsis(kept, table, given, verbose)
  if (!is.null(tune_queries)) synopsis <- tuned_synopsis(synopsis, table, tune_queries, verbose)
  synopsis
}

# Checks what does not depend on which rows are drawn, and adds the `transform` of the bounds. `names`: the variables.
check_synopsis_bandwidth <- function(given, names) {
  d <- length(names)
  given$kernel <- check_choice(given$kernel, kernel_names(), "kernel")
  H <- known_as("data", check_bandwidth(given, d, product = FALSE))
  # Only a matrix from the user has correlations, and only with the Gaussian kernel.
  if (is_compact(given$kernel) && !is.null(H) && !is_diagonal(H)) {
    abort_input("`H` must be diagonal for kernels other than \"gaussian\", but it has elements off the diagonal.")
  }
  if (!is.null(given$bounds) || !is.null(given$period)) {
    given$transform <- known_as("data", images_transform(names, given$bounds, given$period))
    if (!is.null(H)) check_H_with_images(H, given$transform, names)
  }
  given
}

# The table, or the rows that are kept of one, with values of periodic variables within their periods. `outside()`
# counts the rows of a table in a database that are beyond bounds.
rows_within <- function(table, transform, outside = NULL) {
  if (!has_images(transform)) return(table)
  bounds <- reflecting_bounds(transform)
  kept <- !is.null(table$kept)
  if (kept && any(table$ranges[1L, ] < bounds[, 1L] | table$ranges[2L, ] > bounds[, 2L])) {
    abort_within("data", "`bounds`", outside(bounds), table$N, length(table$names))
  }
  x <- if (kept) table$kept$x else table$x
  if (!kept) check_within(x, bounds, "`bounds`", "data")
  x <- wrapped_sample(list(x = x, names = table$names), transform)$x
  if (kept) table$kept$x <- x else table$x <- x
  for (k in which(is_periodic(transform))) {
    ends <- c(transform$lower[k], transform$upper[k])
    beyond <- table$ranges[1L, k] < ends[1L] || table$ranges[2L, k] > ends[2L]
    if (beyond) table$ranges[, k] <- if (kept) ends else range(x[, k])
  }
  table
}

# The synopsis of the rows `kept`. `table`: `N`, `ranges`, `names`, `types` and `labels` of the whole table.
new_synopsis <- function(kept, table, given, verbose) {
  names <- table$names
  if (is.null(given$H) && is.null(given$h)) check_kept(kept$x, table$ranges, names, table$N)
  H <- known_as("data", synopsis_bandwidth(given, kept$x, names, given$kernel, verbose))
  labels <- kept_labels(table$labels, kept$codes)
  synopsis <- structure(list(version = synopsis_version, x = kept$x, w = label_weights(labels, nrow(kept$x)),
                             H = unname(H), kernel = given$kernel, N = table$N, names = names, types = table$types,
                             labels = labels, ranges = table$ranges, tuning = NULL), class = "kestrel_synopsis")
  synopsis$transform <- given$transform
  synopsis
}

# Of the form of a synopsis in files. A change of its fields raises it.
synopsis_version <- 1

# At most `size` rows of a table that is in memory.
keep_rows <- function(table, size) {
  n <- nrow(table$x)
  # Rows with one category are near each other in the tree, so that its share varies less.
  places <- if (length(table$codes) > 0L) do.call(cbind, c(list(table$x), table$codes)) else table$x
  rows <- if (size < n) even_rows(places, size) else seq_len(n)
  list(x = unname(table$x[rows, , drop = FALSE]), codes = lapply(table$codes, `[`, rows), rows = rows)
}

# `size` rows by systematic sampling from cells of a k-d tree.
even_rows <- function(table, size) {
  if (size == 0) return(integer(0))
  n <- nrow(table)
  at <- floor((seq_len(size) - 1 + stats::runif(1L)) * n / size) + 1
  order_by_cells(table, min(size, most_cells))[pmin(at, n)] # `at` may be n + 1 by rounding
}

# More cells take longer than they are worth.
most_cells <- 5000

# The rows ordered by the cells of a tree, those of one cell in random order. If they were ordered by the table or by a
# variable, one draw would take rows at the same side of all cells.
order_by_cells <- function(table, cells) {
  rows <- seq_len(nrow(table))
  # Parts of `rows` to be cut into cells, by the variable `by` first, the next one last.
  parts <- list(list(first = 1, last = nrow(table), cells = cells, by = 1L))
  while (length(parts) > 0L) {
    part <- parts[[length(parts)]]
    parts[[length(parts)]] <- NULL
    size <- part$last - part$first + 1
    within <- seq(part$first, length.out = size)
    if (part$cells == 1L) {
      rows[within] <- rows[within][sample.int(size)]
      next
    }
    heard()
    rows[within] <- rows[within][order_cpp(table[rows[within], part$by], numeric(0))]
    heard()
    cells_below <- part$cells %/% 2L
    middle <- part$first + round(size * cells_below / part$cells)
    by <- part$by %% ncol(table) + 1L
    parts <- c(parts, list(list(first = middle, last = part$last, cells = part$cells - cells_below, by = by),
                           list(first = part$first, last = middle - 1, cells = cells_below, by = by)))
  }
  rows
}

synopsis_bandwidth <- function(given, kept, names, kernel, verbose) {
  d <- ncol(kept)
  product <- is_compact(kernel) || is.null(given$H)
  sample <- list(x = kept, w = rep(1, nrow(kept)), names = names)
  resolve_bandwidth(given, sample, kernel, product, selecting(run_options(), d), verbose,
                    transform = given$transform)$H
}

# A column may vary in the table, but not among the rows that were drawn.
check_kept <- function(kept, ranges, names, N) {
  if (nrow(kept) <= ncol(kept) && nrow(kept) < N) {
    abort_input("`size` must be above ", ncol(kept), ", the number of columns, when no bandwidth is given, not ",
                nrow(kept), ".")
  }
  constant <- apply(kept, 2L, function(column) all(column == column[1L])) & ranges[1L, ] < ranges[2L, ]
  if (!any(constant)) return()
  abort_input("The rows kept of `data` must vary in every column when no bandwidth is given; constant: ",
              quoted(names[constant]), ".")
}

row_weights <- function(synopsis) if (is.null(synopsis$w)) rep(1, nrow(synopsis$x)) else synopsis$w

# The estimate that a synopsis represents, without values, in the form for kde_query().
synopsis_density <- function(synopsis) {
  sample <- list(x = synopsis$x, w = row_weights(synopsis), names = synopsis$names)
  type <- if (is_compact(synopsis$kernel)) "product" else "radial"
  new_density(sample, synopsis$H, synopsis$kernel, type, synopsis$transform, list(engine = "direct", backend = "cpu"))
}

# Limits at or beyond the range of the table are no limits; a box entirely beyond it is empty.
within_ranges <- function(boxes, ranges) {
  for (k in seq_len(ncol(boxes$lower))) {
    lowest <- ranges[1L, k]
    largest <- ranges[2L, k]
    empty <- boxes$lower[, k] > largest | boxes$upper[, k] < lowest
    boxes$lower[boxes$lower[, k] <= lowest, k] <- -Inf
    boxes$upper[boxes$upper[, k] >= largest, k] <- Inf
    boxes$lower[empty, k] <- boxes$upper[empty, k] <- -Inf
  }
  boxes
}

# The synopsis with its bandwidth times the best factor; every other query is held out to judge it.
tuned_synopsis <- function(synopsis, table, queries, verbose) {
  table <- table$x
  boxes <- check_known_boxes(queries, synopsis$names, "tune_queries")
  m <- nrow(boxes$lower)
  if (m < 10L) abort_input("`tune_queries` must have at least 10 boxes, not ", m, ".")
  run <- run_options()
  truth <- nrow(table) * query_rows_cpp(sample_cpp(table, ones_cpp(nrow(table))), boxes$lower, boxes$upper, run)
  H <- synopsis$H
  counts <- function(log_factor, rows) {
    synopsis$H <- exp(2 * log_factor) * H
    cells <- list(c(lapply(boxes, function(limits) limits[rows, , drop = FALSE]), list(sets = list())))
    answer_cells(query_source(synopsis), cells, list(fun = "count"), synopsis$N, 0.95, run)$count
  }
  learnt <- seq(1L, m, by = 2L)
  held <- seq(2L, m, by = 2L)
  loss <- function(log_factor) mean(log(q_error(counts(log_factor, learnt), truth[learnt])$errors)^2)
  # The loss may have several minima: takes the best of a grid, and then the minimum between its neighbours.
  best <- with_search_progress(verbose, "Tuning", function(progress) {
    loss <- counted(loss, progress)
    grid <- log(2) * seq(-6, 2, by = 0.5)
    losses <- vapply(grid, loss, 0)
    first <- grid[which.min(losses)]
    between <- pmin(pmax(first + c(-0.5, 0.5) * log(2), min(grid)), max(grid))
    near <- stats::optimize(loss, between, tol = 0.01)
    if (near$objective < min(losses)) near$minimum else first
  })
  judged <- q_error(cbind(selected = counts(0, held), tuned = counts(best, held)), truth[held])
  synopsis$tuning <- list(factor = exp(best), queries = length(held), errors = judged$table)
  synopsis$H <- exp(2 * best) * H
  synopsis
}

#' @rdname kde_synopsis
#' @export
print.kestrel_synopsis <- function(x, ...) {
  check_object(x, "x", "kestrel_synopsis")
  d <- ncol(x$x)
  cat(
    paste0("Synopsis of a table, d = ", d),
    label_line("rows", paste(format(nrow(x$x), big.mark = ","), "of", format(x$N, big.mark = ","))),
    label_line("variables", paste(x$names, variable_ranges(x), collapse = ", ")),
    if (length(x$labels) > 0L) label_line("categories", paste(names(x$labels), label_texts(x$labels), collapse = ", ")),
    if (has_images(x$transform)) label_line("bounds", images_text(x$transform)),
    label_line("kernel", if (d > 1L && is_compact(x$kernel)) paste0(x$kernel, ", product") else x$kernel),
    label_line("bandwidths", paste(format_short(sqrt(diag(x$H))), collapse = ", ")),
    if (!is_diagonal(x$H)) label_line("", "(with correlations)"),
    if (!is.null(x$tuning)) {
      label_line("tuned", paste0("by the factor ", format_short(x$tuning$factor), ": median q-error of ",
                                 x$tuning$queries, " other queries ",
                                 paste(format_short(x$tuning$errors[, "median"]), collapse = " -> ")))
    },
    if (!is.null(x$history)) label_line("history", history_text(x$history)),
    label_line("size", format_bytes(length(serialize(x, NULL)))), sep = "\n"
  )
  invisible(x)
}
