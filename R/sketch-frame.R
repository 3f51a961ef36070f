# Sketches as bytes and as tables: to keep them, and to let a database compute them.

# The moments of a cell, the most values that a cell keeps, and the exponents of the quanta of a moment and of those
# that `hi` counts (src/core/sketch/).
moments_of_cell <- 16L
most_kept <- 16L
quantum_bits <- 44L
low_bits <- 22L
# What a table has as the order of a counter of ties.
order_of_ties <- -1

#' Sketches as tables and as bytes
#'
#' A sketch as a data frame, and back. The rows are of four kinds, and `as_sketch()` takes them in any order:
#'
#' - a moment of a cell that has moments, with the cell's `key`, the `order` of the moment, and the moment in `hi` and
#'   `lo`;
#' - a counter of tied values, with its number as the `key`, -1 as the `order`, and what was counted in `hi` and `lo`;
#' - a value of another cell, with the cell's `key`, and the value in `value`;
#' - two rows without a key, with the least and the largest value in `value`.
#'
#' Of several columns it has a column `part` for the kind of a row. The parts "row" and "range" have their numbers in
#' `value1`, `value2` and so on. A "sum" is one of a tile, whose key is in `key1`, `key2` and so on. A "cell" is one of
#' the grid, in units of 2^-42, with its key. A "tie" is a counter of tied rows, with its number in `key1`.
#'
#' With W the width of the cells, the key of a value x is k = floor(x / W). The moment of order a is the sum of
#' floor(2^44 t^a + 1/2) over the values of the cell, where t = 2 (x / W - k) - 1. It is hi 2^22 + lo.
#'
#' Each value of a cell that has moments adds 1 or -1 to one of 65,536 counters. Which one, and the sign, follow from k
#' and from floor(2^44 t + 1/2) by a hash, so that equal values add up (Charikar, Chen & Farach-Colton 2004). Counters
#' of zero may be left out.
#'
#' A database can compute such a table: [sketch_sql()] writes the query. In two parts the sums of whole numbers do not
#' leave the range of integers of 64 bits. What is missing in a row is NA.
#'
#' The field `bytes` of a sketch is a raw vector, which `as_sketch()` reads, too. It has a version and a checksum, and
#' is the same on every machine. `writeBin(s$bytes, file)` writes it, and `as_sketch(readBin(file, "raw",
#' file.size(file)))` reads it again. [saveRDS()] keeps a sketch as any other object.
#'
#' @param x for `as_sketch()`, a data frame as `as.data.frame()` returns, the raw vector `bytes` of a sketch, or a
#'   sketch; for `as.data.frame()`, a sketch.
#' @param plan for a data frame: the plan of the sketch, see [sketch_plan()].
#' @param row.names,optional not used; arguments of the generic.
#' @param ... no further arguments.
#' @return `as_sketch()` returns a sketch, see [kde_sketch()], with the same bytes as one made from the rows.
#'   `as.data.frame()` returns a data frame with the columns `key`, `order`, `hi`, `lo` and `value`, or for
#'   several columns those above.
#' @section Units: `value` is in the units of the variable; keys, orders and sums have none.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - tables with other columns, and cells without all of their moments;
#'   - numbers that no values have as sums;
#'   - sketches and plans with weights or a response, which are no tables;
#'   - cells with 2^31 values or more, which are too many for a table;
#'   - bytes that were damaged, changed or cut short, or are of another version.
#' @section Cost: O(cells).
#' @references Greengard, L. & Strain, J. (1991) The fast Gauss transform. *SIAM J. Sci. Stat. Comput.* **12**, 79-94.
#'
#'   Charikar, M., Chen, K. & Farach-Colton, M. (2004) Finding frequent items in data streams. *Theor. Comput. Sci.*
#'   **312**, 3-15.
#' @seealso [kde_sketch()], [sketch_sql()]
#' @examples
#' plan <- sketch_plan(faithful$eruptions, hmin = 0.5)
#' s <- kde_sketch(faithful$eruptions, plan)
#' table <- as.data.frame(s)
#' head(table, 3)
#' identical(as_sketch(table, plan), s)
#'
#' # in a file
#' file <- tempfile()
#' writeBin(s$bytes, file)
#' identical(as_sketch(readBin(file, "raw", file.size(file))), s)
#' unlink(file)
#' @export
as_sketch <- function(x, plan = NULL, ...) {
  check_arguments("as_sketch", given_names(...))
  if (is_sketch(x)) {
    check_sketch(x)
    return(x)
  }
  if (is.raw(x)) {
    known_sketch("x", unpack_sketch_cpp(x))
    return(new_sketch(as.vector(x)))
  }
  if (!is_frame(x)) {
    abort_input("`x` must be a data frame as as.data.frame() makes of a sketch, or the bytes of one, not ",
                describe_value(x), ".")
  }
  if (is.null(plan)) abort_input("`plan` must be given for a data frame.")
  check_object(plan, "plan", "kestrel_sketch_plan")
  check_unweighted(plan, "plan")
  if (length(plan$column) > 1L) {
    return(new_sketch(known_sketch("x", grid_of_table_cpp(core_plan(plan), grid_of_frame(x, length(plan$column))))))
  }
  parts <- parts_of_table(x)
  new_sketch(known_sketch("x", sketch_of_parts_cpp(core_plan(plan), parts)))
}

table_columns <- c("key", "order", "hi", "lo", "value")

# Of several columns the rows are of five kinds, named by `part`: "row", the values of a row that is kept; "range", the
# two limits of all values; "sum", a sum of a full tile, with the tile's key and an order; "cell", a cell of the grid
# with its key; "tie", a counter of ties. The orders are 0 the number of rows, 1 and 2 the weights and their squares,
# and then the positions and their products.
grid_parts <- c("row", "range", "sum", "cell", "tie")

frame_of_grid <- function(x, info) {
  d <- length(info$column)
  table <- grid_table_cpp(x$bytes)
  sums <- 3L + d + d * (d + 1L) / 2L
  tiles <- ncol(table$tile)
  range <- if (info$n > 0) info$range else matrix(0, 0L, d)
  values <- rbind(unname(table$rows), range)
  keys <- rbind(t(table$tile)[rep(seq_len(tiles), each = sums), , drop = FALSE], t(table$cell))
  ties <- rows_of_ties(table$ties)
  of_ties <- cbind(ties$key, matrix(NA_real_, length(ties$key), d - 1L))
  whole <- cbind(table$sums, table$cells, rbind(ties$hi, ties$lo))
  none <- function(rows) matrix(NA_real_, rows, d)
  frame <- data.frame(
    part = rep(grid_parts, c(nrow(table$rows), nrow(range), tiles * sums, ncol(table$cell), nrow(of_ties))),
    key = rbind(none(nrow(values)), keys, of_ties),
    order = c(rep(NA_real_, nrow(values)), rep(seq_len(sums) - 1, tiles),
              rep(NA_real_, ncol(table$cell) + nrow(of_ties))),
    hi = c(rep(NA_real_, nrow(values)), whole[1L, ]), lo = c(rep(NA_real_, nrow(values)), whole[2L, ]),
    value = rbind(values, none(nrow(keys) + nrow(of_ties)))
  )
  names(frame) <- grid_columns(d)
  frame
}

# The counters that are not zero as rows of a table. If all are zero there is one, since a table without counters is
# that of a sketch that has kept all values.
rows_of_ties <- function(ties) {
  used <- which(ties != 0)
  if (length(ties) > 0L && length(used) == 0L) used <- 1L
  high <- floor(ties[used] / 2^low_bits)
  list(key = used - 1, hi = high, lo = ties[used] - high * 2^low_bits)
}

# And back, of whole numbers.
ties_of_rows <- function(key, hi, lo) {
  if (length(key) == 0L) return(numeric(0))
  count <- tie_hash_cpp()$counters
  if (any(key < 0 | key >= count | key != round(key)) || anyDuplicated(key) > 0L) {
    abort_input("`x` must have every counter of ties once, with a number from 0 to ", count - 1, ".")
  }
  ties <- hi * 2^low_bits + lo
  if (any(abs(ties) >= 2^53)) abort_input("`x` must have counters of ties below 2^53.")
  replace(numeric(count), key + 1, ties)
}

grid_columns <- function(d) {
  c("part", paste0("key", seq_len(d)), "order", "hi", "lo", paste0("value", seq_len(d)))
}

# What such a table says, as src/rcpp_sketch.cpp takes it.
grid_of_frame <- function(x, d) {
  lacking <- setdiff(grid_columns(d), names(x))
  if (length(lacking) > 0L) {
    abort_input("`x` must have the columns ", quoted(grid_columns(d)), "; it lacks ", quoted(lacking), ".")
  }
  part <- as.character(unclass(x)[["part"]])
  odd <- which(!part %in% grid_parts)
  if (length(odd) > 0L) {
    abort_input("`x` must have ", quoted(grid_parts), " in its column `part`; row ", odd[1L], " has ",
                describe_value(part[odd[1L]]), ".")
  }
  columns <- lapply(unclass(x)[setdiff(grid_columns(d), "part")], table_numbers)
  of <- function(kind, names) {
    found <- vapply(columns[names], `[`, numeric(sum(part == kind)), part == kind)
    found <- matrix(found, ncol = length(names))
    if (!all(is.finite(found))) abort_input("`x` must have finite numbers in the rows of part ", quoted(kind), ".")
    found
  }
  keys <- paste0("key", seq_len(d))
  values <- paste0("value", seq_len(d))
  sums <- of("sum", c(keys, "order", "hi", "lo"))
  cells <- of("cell", c(keys, "hi", "lo"))
  ties <- of("tie", c("key1", "hi", "lo"))
  whole <- c(sums, cells, ties)
  if (any(abs(whole) >= 2^53 | whole != round(whole))) {
    abort_input("`x` must have whole numbers below 2^53 as keys, orders and in `hi` and `lo`.")
  }
  sums <- sums[do.call(order, lapply(seq_len(d + 1L), function(k) sums[, k])), , drop = FALSE]
  each <- 3L + d + d * (d + 1L) / 2L
  tiles <- nrow(sums) / each
  if (tiles != round(tiles) || !identical(sums[, d + 1L], rep(as.numeric(seq_len(each) - 1), tiles)) ||
      any(sums[, seq_len(d)] != sums[rep(seq(1, by = each, length.out = tiles), each = each), seq_len(d)])) {
    abort_input("`x` must have ", each, " sums of every tile, of the orders 0 to ", each - 1L, ".")
  }
  if (anyDuplicated(cells[, seq_len(d), drop = FALSE]) > 0L) abort_input("`x` must have every cell once.")
  range <- of("range", values)
  range <- if (nrow(range) > 0L) apply(range, 2L, function(values) c(min(values), max(values))) + 0 else
    matrix(c(Inf, -Inf), 2L, d)
  list(rows = t(of("row", values)) + 0, tile = t(sums[seq(1, by = each, length.out = tiles), seq_len(d)]),
       sums = t(sums[, d + 2:3]), cell = t(cells[, seq_len(d)]), cells = t(cells[, d + 1:2]),
       ties = ties_of_rows(ties[, 1L], ties[, 2L], ties[, 3L]), range = range)
}

# What a table of a sketch says, as src/rcpp_sketch.cpp takes it.
parts_of_table <- function(table) {
  lacking <- setdiff(table_columns, names(table))
  if (length(lacking) > 0L) {
    abort_input("`x` must have the columns ", quoted(table_columns), "; it lacks ", quoted(lacking), ".")
  }
  columns <- lapply(unclass(table)[table_columns], table_numbers)
  known <- lapply(columns, Negate(is.na))
  is_sum <- known$key & known$order & known$hi & known$lo & !known$value
  is_kept <- known$key & !known$order & known$value
  is_range <- !known$key & !known$order & known$value
  odd <- which(!(is_sum | is_kept | is_range))
  # A database returns two rows without values for the range of an empty table.
  odd <- odd[Reduce(`|`, lapply(known, `[`, odd), logical(length(odd)))]
  if (length(odd) > 0L) {
    abort_input("`x` must have moments, values and the range of a sketch in its rows; row ", odd[1L],
                " is none of these.")
  }
  sums <- lapply(columns[c("key", "order", "hi", "lo")], `[`, is_sum)
  whole <- c(sums$hi, sums$lo)
  if (any(abs(whole) >= 2^53 | whole != round(whole))) {
    abort_input("`x` must have whole numbers below 2^53 in `hi` and `lo`.")
  }
  is_tie <- sums$order == order_of_ties
  ties <- do.call(ties_of_rows, lapply(sums[c("key", "hi", "lo")], `[`, is_tie))
  sums <- lapply(sums, `[`, !is_tie)
  sorted <- order(sums$key, sums$order)
  sums <- lapply(sums, `[`, sorted)
  keys <- unique(sums$key)
  if (!identical(sums$order, rep(as.numeric(seq_len(moments_of_cell) - 1), length(keys)))) {
    abort_input("`x` must have ", moments_of_cell, " moments of every cell, of the orders 0 to ", moments_of_cell - 1L,
                ".")
  }
  range <- columns$value[is_range]
  list(kept = sort(columns$value[is_kept]) + 0, key = keys, hi = sums$hi, lo = sums$lo, ties = ties,
       range = if (length(range) > 0L) range(range) + 0 else c(Inf, -Inf))
}

# A column of a table from a database, where integers may have a class of package bit64 or be texts, and columns without
# values be logical.
table_numbers <- function(column) {
  if (inherits(column, "integer64")) column <- as.character(column)
  column <- plain(column)
  if (is.character(column)) column <- suppressWarnings(as.numeric(column))
  if (is.logical(column) && all(is.na(column))) column <- as.numeric(column)
  if (!is_numbers(column)) abort_input("`x` must have numeric columns.")
  column <- as.numeric(column)
  column[is.nan(column)] <- NA_real_
  column
}

#' @rdname as_sketch
#' @export
as.data.frame.kestrel_sketch <- function(x, row.names = NULL, optional = FALSE, ...) {
  info <- check_sketch(x)
  check_unweighted(info, "x")
  if (length(info$column) > 1L) return(frame_of_grid(x, info))
  parts <- sketch_parts_cpp(x$bytes)
  cells <- length(parts$key)
  if (cells > 0L && max(parts$hi[1L, ]) >= 2^53) {
    abort_input("`x` must have less than 2^31 values in each cell to be a table.")
  }
  kept <- length(parts$kept)
  range <- if (info$n > 0) info$range
  ties <- rows_of_ties(parts$ties)
  counters <- length(ties$key)
  none <- rep(NA_real_, kept + length(range))
  data.frame(
    key = c(rep(parts$key, each = moments_of_cell), ties$key, floor(parts$kept * 2^-info$exponent),
            rep(NA_real_, length(range))),
    order = c(rep(seq(0, moments_of_cell - 1), cells), rep(order_of_ties, counters), none),
    hi = c(parts$hi, ties$hi, none),
    lo = c(parts$lo, ties$lo, none),
    value = c(rep(NA_real_, moments_of_cell * cells + counters), parts$kept, range)
  )
}

#' The query that lets a database compute a sketch
#'
#' Writes the `SELECT` that computes the sketch of a column in PostgreSQL or SQLite. Its result, passed to
#' [as_sketch()], is the sketch that [kde_sketch()] makes of the rows, byte for byte: the query adds whole numbers, so
#' that neither the order of the rows nor parallel workers change a bit.
#'
#' The query reads the table three times and returns cells and counters of tied values, not the rows. To fetch one
#' column is cheaper for the server as a rule. The query is for tables that are far away, wide or protected. Rows where
#' the column is NULL are left out. The column must be a double; other numbers are converted to doubles.
#'
#' @param plan a plan made by [sketch_plan()].
#' @param table,column the names of the table, which may have a schema before a dot, and of the column; by default the
#'   column of the plan. They are written between quotes, so that no name can be another statement.
#' @param ... no further arguments.
#' @return A string, one `SELECT` without a semicolon.
#' @section Units: None; `value` in its result is in those of the column.
#' @section Errors: Errors of class `kestrel_error_input` are for an object that is no plan, and for names that are no
#'   strings. A value that is infinite, or 2^53 cells from zero or more, is an error of the database or of
#'   [as_sketch()].
#' @section Cost: That of writing a string. PostgreSQL 15 took 25 microseconds a row on one core. The tests of kestrel
#'   compare SQLite and PostgreSQL 15 with R.
#' @references Greengard, L. & Strain, J. (1991) The fast Gauss transform. *SIAM J. Sci. Stat. Comput.* **12**, 79-94.
#' @seealso [as_sketch()]
#' @examples
#' plan <- sketch_plan(faithful, hmin = 0.5, column = "eruptions")
#' query <- sketch_sql(plan, "faithful")
#' cat(substr(query, 1, 300))
#' if (requireNamespace("RSQLite", quietly = TRUE)) {
#'   db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
#'   DBI::dbWriteTable(db, "faithful", faithful)
#'   s <- as_sketch(DBI::dbGetQuery(db, query), plan)
#'   print(identical(s, kde_sketch(faithful, plan)))
#'   DBI::dbDisconnect(db)
#' }
#' @export
sketch_sql <- function(plan, table, column = plan$column, ...) {
  check_arguments("sketch_sql", given_names(...))
  check_object(plan, "plan", "kestrel_sketch_plan")
  check_unweighted(plan, "plan")
  if (length(plan$column) > 1L) {
    abort_input("`plan` must be of one column for a query, not of ", column_text(plan$column), ".")
  }
  table <- paste(vapply(strsplit(check_sql_name(if (!missing(table)) table, "table"), ".", fixed = TRUE)[[1L]],
                        sql_quoted, ""), collapse = ".")
  column <- sql_quoted(check_sql_name(column, "column"))
  orders <- seq_len(moments_of_cell - 1L)
  x <- paste0("CAST(", column, " AS DOUBLE PRECISION)")
  powers <- vapply(orders, function(a) paste(rep("t", a), collapse = " * "), "")
  quanta <- sql_number(2^quantum_bits)
  half <- 2^low_bits
  of_each <- function(...) paste0(..., collapse = "")
  paste0(
    "WITH samples AS (SELECT ", x, " AS x, ", x, sql_scaled(plan$exponent), " AS y FROM ", table, " WHERE ", column,
    " IS NOT NULL),\n",
    "placed AS (SELECT x, y, ", sql_floor("y"), " AS k FROM samples),\n",
    "positions AS (SELECT k, 2.0 * (y - k) - 1.0 AS t FROM placed),\n",
    "quanta AS (SELECT k", of_each(", ", sql_floor(paste0("(", powers, " * ", quanta, " + 0.5)")), " AS q", orders),
    " FROM positions),\n",
    "cells AS (SELECT k, COUNT(*) AS n",
    of_each(", SUM(q", orders, " >> ", low_bits, ") AS hi", orders, ", SUM(q", orders, " & ", half - 1, ") AS lo",
            orders),
    " FROM quanta GROUP BY k),\n", sql_hashes(), "\n",
    "SELECT k AS \"key\", 0 AS \"order\", n * ", half, " AS hi, 0 AS lo, CAST(NULL AS DOUBLE PRECISION) AS value ",
    "FROM cells WHERE n > ", most_kept, "\n",
    of_each("UNION ALL SELECT k, ", orders, ", hi", orders, ", lo", orders, ", NULL FROM cells WHERE n > ", most_kept,
            "\n"),
    sql_counters(), "\n",
    "UNION ALL SELECT placed.k, NULL, NULL, NULL, placed.x FROM placed JOIN cells ON cells.k = placed.k ",
    "WHERE cells.n <= ", most_kept, "\n",
    "UNION ALL SELECT NULL, NULL, NULL, NULL, MIN(x) FROM samples\n",
    "UNION ALL SELECT NULL, NULL, NULL, NULL, MAX(x) FROM samples"
  )
}

# The hash of the values of cells that have moments (src/simd/sketch/tie_hash.hpp). The remainder of a negative number
# is negative.
sql_hashes <- function() {
  hash <- lapply(tie_hash_cpp(), format, scientific = FALSE, trim = TRUE)
  f <- hash$factors
  p <- hash$prime
  rest <- function(...) paste0("(", ..., ") % ", p)
  modulo <- function(bits) format(2^as.numeric(bits) - 1, scientific = FALSE)
  powers <- hash$polynomial[1L]
  for (next_one in hash$polynomial[-1L]) powers <- rest(powers, " * v + ", next_one)
  paste0(
    "places AS (SELECT positions.k AS k, ", sql_floor(paste0("(t * ", sql_number(2^quantum_bits), " + 0.5)")), " + ",
    format(2^quantum_bits, scientific = FALSE),
    " AS place FROM positions JOIN cells ON cells.k = positions.k WHERE cells.n > ", most_kept, "),\n",
    "sums AS (SELECT ", rest("(k % ", p, " + ", p, ") % ", p, " * ", f[1L]), " + ", f[2L], " * (place >> ",
    hash$low_bits, ") + ", f[3L], " * (place & ", modulo(hash$low_bits), ") AS s FROM places),\n",
    "roots AS (SELECT s >> ", hash$root_bits, " AS above, ((s >> ", hash$root_bits, ") + (s & ",
    modulo(hash$root_bits), ")) & ", modulo(hash$bits), " AS v FROM sums),\n",
    "hashes AS (SELECT above, ", powers, " AS hash FROM roots)"
  )
}

sql_counters <- function() {
  number <- paste("hash >>", tie_hash_cpp()$sign_bits)
  paste0("UNION ALL SELECT ", number, ", ", order_of_ties, ", 0, SUM(1 - 2 * ((hash + above) & 1)), NULL FROM hashes ",
         "GROUP BY ", number)
}

# Tables have no place for weights and responses.
check_unweighted <- function(plan, argument) {
  if (nzchar(plan$weight)) {
    abort_input("`", argument, "` must be without weights to be a table, not with ", quoted(plan$weight), ".")
  }
  if (nzchar(plan$response)) {
    abort_input("`", argument, "` must be without a response to be a table, not with ", quoted(plan$response), ".")
  }
}

check_sql_name <- function(name, argument) {
  given <- without_class(name)
  if (!is.character(given) || length(given) != 1L || is.na(given) || !nzchar(given)) {
    abort_input("`", argument, "` must be the name of a ", argument, ", not ", describe_value(name), ".")
  }
  given
}

sql_quoted <- function(name) paste0("\"", gsub("\"", "\"\"", name, fixed = TRUE), "\"")

# With a point, so that it is no integer; all digits.
sql_number <- function(value) {
  sub("^([-0-9]+)$", "\\1.0", format(value, digits = 17, scientific = abs(log2(value)) > 52))
}

# Divided by the width of the cells. Only whole powers of two are written, because not every database reads fractions
# to their last digit.
sql_scaled <- function(exponent) {
  if (exponent > 0) paste0(" / ", sql_number(2^exponent)) else paste0(" * ", sql_number(2^-exponent))
}

# PostgreSQL rounds to the nearest integer, SQLite truncates. Of both it is the integer below or above.
sql_floor <- function(value) {
  paste0("CAST(", value, " AS BIGINT) - CASE WHEN CAST(", value, " AS BIGINT) > ", value, " THEN 1 ELSE 0 END")
}
