# Synopses of tables in databases, by package DBI.

#' @rdname kde_synopsis
#' @export
kde_synopsis.DBIConnection <- function(data, table, columns = NULL, size = 5000, h, H, ..., key = NULL, bounds = NULL,
                                       period = NULL, kernel = "gaussian", na.action = stats::na.fail,
                                       verbose = NULL) {
  check_arguments("kde_synopsis", given_names(...))
  if (missing(table)) abort_input("`table` must be the name of a table or a SELECT.")
  source <- table_source(data, table)
  given <- list(H = if (!missing(H)) H, h = if (!missing(h)) h, kernel = kernel, bounds = bounds,
                period = period)
  database_synopsis(data, source, columns, size, key, given, na.action, verbose)
}

#' @rdname kde_synopsis
#' @exportS3Method kde_synopsis tbl_sql
kde_synopsis.tbl_sql <- function(data, columns = NULL, size = 5000, h, H, ..., key = NULL, bounds = NULL,
                                 period = NULL, kernel = "gaussian", na.action = stats::na.fail, verbose = NULL) {
  check_arguments("kde_synopsis", given_names(...))
  given <- list(H = if (!missing(H)) H, h = if (!missing(h)) h, kernel = kernel, bounds = bounds,
                period = period)
  database_synopsis(dbplyr::remote_con(data), lazy_source(data), columns, size, key, given, na.action, verbose)
}

rows_of_database_within <- function(table, transform, con, source, na.action) {
  rows_within(table, transform, function(bounds) {
    names <- quoted_columns(con, table$names)
    beyond <- function(sign, side) {
      unlist(lapply(which(is.finite(bounds[, side])), function(k) {
        paste(names[k], sign, key_text(bounds[k, side], table$types[k], con))
      }))
    }
    where <- c(where_complete(con, unique(c(source$columns, source$key)), na.action),
               paste0("(", paste(c(beyond("<", 1L), beyond(">", 2L)), collapse = " OR "), ")"))
    sql <- select_sql("count(*)", source$from, where)
    as.numeric(plain(asking_database(DBI::dbGetQuery(con, sql))[[1L]]))
  })
}

# What follows FROM: `from`, with all names quoted, and whether it is a table, of which PostgreSQL can sample blocks.
table_source <- function(con, table) {
  named <- inherits(table, "Id")
  if (!named && !is_file_name(without_class(table))) {
    abort_input("`table` must be the name of a table or a SELECT, not ", describe_value(table), ".")
  }
  if (!named && grepl("^\\s*(select|with|values)\\b", table, ignore.case = TRUE)) {
    return(list(from = paste0("(", sub("[;[:space:]]+$", "", table), ") AS kestrel_rows"), is_table = FALSE))
  }
  name <- if (named) table else as.vector(without_class(table))
  list(from = as.character(DBI::dbQuoteIdentifier(con, name)), is_table = TRUE)
}

# The same of a `tbl`, which is a table or a pipeline of verbs.
lazy_source <- function(data) {
  sql <- asking_database(as.character(dbplyr::sql_render(data)))
  plain <- "^SELECT \\*\\s+FROM\\s+"
  if (!is.null(dbplyr::remote_name(data)) && grepl(plain, sql)) {
    return(list(from = sub(plain, "", sql), is_table = TRUE))
  }
  list(from = paste0("(", sql, ") AS kestrel_rows"), is_table = FALSE)
}

database_synopsis <- function(con, source, columns, size, key, given, na.action, verbose) {
  verbose <- asked_verbose(verbose)
  size <- check_count(size, "size")
  na.action <- check_na_action(na.action)
  given$kernel <- check_choice(given$kernel, kernel_names(), "kernel")
  source$columns <- check_database_columns(con, source, columns, "columns")
  if (!is.null(key)) source$key <- check_key(con, source, key)
  table <- sample_of_table(con, source, size, na.action)
  given <- check_synopsis_bandwidth(given, table$names)
  table <- rows_of_database_within(table, given$transform, con, source, na.action)
  synopsis <- new_synopsis(table$kept, table, given, verbose)
  synopsis$source <- list(from = source$from, columns = source$columns, is_table = source$is_table,
                          na.action = na.action)
  synopsis$key <- table$key
  synopsis
}

# Errors of a database as errors of the argument.
asking_database <- function(code, name = "data") {
  catching_errors(code, function(e) {
    abort_input("`", name, "` must be a connection that answers, but the database says: ",
                trimws(conditionMessage(e)), ".")
  })
}

# The names of the columns that are read; all of the table for NULL.
check_database_columns <- function(con, source, columns, name) {
  known <- database_columns(con, source)
  if (is.null(columns)) return(known)
  columns <- without_class(columns)
  if (!is.character(columns) || length(columns) == 0L || anyNA(columns) || anyDuplicated(columns) > 0L) {
    abort_input("`", name, "` must be different names of columns, not ", describe_value(columns), ".")
  }
  lacking <- setdiff(columns, known)
  if (length(lacking) > 0L) {
    abort_input("`", name, "` must be columns of the table, but ", quoted(lacking[1L]), " is none; it has ",
                quoted(known), ".")
  }
  as.vector(columns)
}

database_columns <- function(con, source) {
  asking_database({
    result <- DBI::dbSendQuery(con, paste("SELECT * FROM", source$from, "WHERE 1 = 0"))
    on.exit(suspendInterrupts(DBI::dbClearResult(result)))
    as.character(DBI::dbColumnInfo(result)$name)
  })
}

check_key <- function(con, source, key) {
  key <- check_column_name(key, "key")
  if (!key %in% database_columns(con, source)) {
    abort_input("`key` must be a column of the table, but ", quoted(key), " is none.")
  }
  key
}

quoted_columns <- function(con, columns) as.character(DBI::dbQuoteIdentifier(con, columns))

# The rows of a query that have no missing values.
where_complete <- function(con, columns, na.action) {
  if (na.action == "na.omit") paste(quoted_columns(con, columns), "IS NOT NULL", collapse = " AND ")
}

select_sql <- function(what, from, where = NULL) {
  where <- Filter(Negate(is.null), where)
  paste("SELECT", paste(what, collapse = ", "), "FROM", from,
        if (length(where) > 0L) paste("WHERE", paste(where, collapse = " AND ")))
}

# A sample of `size` rows: `kept`, with the fields of a table (columns_of_table()) that a synopsis keeps.
sample_of_table <- function(con, source, size, na.action, where = NULL) {
  columns <- unique(c(source$columns, source$key))
  sampled <- if (source$is_table && is_postgres(con) && !is_view(con, source)) {
    sample_of_postgres(con, source, columns, size, na.action, where)
  } else {
    sql <- select_sql(quoted_columns(con, columns), source$from, c(where_complete(con, columns, na.action), where))
    numbered_labels(check_some_rows(read_rows(con, sql, rows_of_pool(size, length(columns)), na.action), na.action))
  }
  key <- take_key(sampled, source)
  table <- key$table
  table$kept <- keep_rows(table, size)
  if (!is.null(source$key)) {
    table$key <- list(name = source$key, values = key$values[table$kept$rows], last = key$last, type = key$type)
  }
  table
}

# The rows of the evenly drawn sample are chosen among so many random ones: with all rows of a table its errors are half
# as large as those of a random sample, and with eight times as many rows as it has nearly so.
rows_of_pool <- function(size, columns) max(8 * size, 2^20 %/% columns)

read_rows <- function(con, sql, capacity, na.action) {
  result <- asking_database(DBI::dbSendQuery(con, sql))
  on.exit(suspendInterrupts(catching_errors(DBI::dbClearResult(result), function(e) NULL)))
  gather_rows(result, capacity, na.action)
}

# The table without the key, unless this is one of the columns, and the key's values.
take_key <- function(table, source) {
  if (is.null(source$key)) return(list(table = table))
  at <- match(source$key, table$names)
  if (is.na(at)) abort_input("`key` must be a column of numbers, dates or times, but ", quoted(source$key), " is not.")
  key <- list(values = table$x[, at], last = table$ranges[2L, at], type = table$types[at])
  if (!source$key %in% source$columns) {
    if (length(table$names) == 1L) abort_input("`columns` must have one of numbers, dates or times beside the key.")
    table$x <- table$x[, -at, drop = FALSE]
    table$names <- table$names[-at]
    table$types <- table$types[-at]
    table$ranges <- table$ranges[, -at, drop = FALSE]
  }
  c(list(table = table), key)
}

# ---- PostgreSQL ---------------------------------------------------------------------------------------------------

is_postgres <- function(con) inherits(con, c("PostgreSQLConnection", "PqConnection"))

# Whether a name is that of a view, or of a table of another server, which have no blocks to sample.
is_view <- function(con, source) {
  name <- DBI::dbQuoteString(con, source$from)
  sql <- paste0("SELECT relkind::text FROM pg_class WHERE oid = to_regclass(", name, ")")
  kind <- asking_database(DBI::dbGetQuery(con, sql))[[1L]]
  length(kind) > 0L && kind[1L] %in% c("v", "f")
}

# Rows that the server samples, so that only these are sent. It also counts rows and categories, and finds the ranges.
# The sample comes first, sized from the planner's estimate of the number of rows. So the scan that counts all rows only
# looks for values beyond the ranges of the sample, which takes less time than the ranges of all rows. If the estimate
# was too high, there are too few rows, and the sample is drawn again. Of the rows that a condition selects, such as
# those after a key, the planner knows too little: they are counted first.
sample_of_postgres <- function(con, source, columns, size, na.action, where) {
  complete <- c(where_complete(con, columns, na.action), where)
  kinds <- postgres_kinds(con, source, columns)
  drawn <- if (is.null(where)) {
    sampled_rows(con, source, columns, size, complete, share_of_blocks(size, likely_rows(con, source)))
  }
  whole <- postgres_whole(con, source, columns, kinds, complete, na.action, drawn)
  if (is.null(drawn) || nrow(drawn$rows) < min(size, whole$N)) {
    drawn <- enough_rows(con, source, columns, size, complete, whole$N)
  }
  finish_postgres(con, source, numbered_labels(drawn), whole, complete)
}

# The planner's estimate of the number of rows, from the size of the table and its statistics.
likely_rows <- function(con, source) {
  plan <- asking_database(DBI::dbGetQuery(con, paste("EXPLAIN SELECT 1 FROM", source$from)))[[1L]][1L]
  as.numeric(sub(".*rows=([0-9]+).*", "\\1", plan))
}

# The number of rows, and the least and the largest value of each column that has an order. Those of the rows `drawn`
# are known, and the server only looks for values beyond them. NULL if no rows were drawn.
postgres_whole <- function(con, source, columns, kinds, where, na.action, drawn) {
  names <- quoted_columns(con, columns)
  numbers <- which(kinds != "text")
  ends <- unlist(lapply(numbers, function(k) {
    least <- paste0("min(", names[k], ")")
    largest <- paste0("max(", names[k], ")")
    # A time as text has no fraction of a second.
    if (is.null(drawn) || !kinds[k] %in% c("number", "Date")) return(c(least, largest))
    limits <- key_text(drawn$ranges[, k], kinds[k], con)
    paste0(c(least, largest), " FILTER (WHERE ", names[k], c(" < ", " > "), limits, ")")
  }))
  nulls <- paste0("count(*) FILTER (WHERE ", paste(names, "IS NULL", collapse = " OR "), ")")
  what <- c("count(*)", if (na.action == "na.fail") nulls else "0", ends)
  row <- asking_database(DBI::dbGetQuery(con, select_sql(paste(what, "AS", paste0("v", seq_along(what))), source$from,
                                                         where)))
  N <- as.numeric(plain(row[[1L]]))
  if (N == 0) check_some_rows(NULL, na.action)
  if (as.numeric(plain(row[[2L]])) > 0) abort_nulls(con, source, columns, where, N)
  # No row beyond a limit is NULL, which a driver may return as a missing value of any type.
  ends <- vapply(row[-(1:2)], function(end) {
    if (is.double(end) && is.nan(end) || !is.na(end)) column_values(end)$values else NA_real_
  }, 0)
  infinite <- which(is.nan(ends) | is.infinite(ends))
  if (length(infinite) > 0L) {
    at <- ceiling(infinite[1L] / 2)
    abort_input("`data` must be finite, but a value of ", quoted(columns[numbers][at]), " is not.")
  }
  ends <- matrix(ends, 2L, dimnames = list(NULL, columns[numbers]))
  if (!is.null(drawn)) ends[] <- apply(rbind(ends, drawn$ranges[, numbers, drop = FALSE]), 2L, range, na.rm = TRUE)
  list(N = N, ranges = ends)
}

abort_nulls <- function(con, source, columns, where, N) {
  counted <- asking_database(DBI::dbGetQuery(con, select_sql(paste0("count(", quoted_columns(con, columns), ") AS v",
                                                                    seq_along(columns)), source$from, where)))
  counts <- vapply(counted, function(count) as.numeric(plain(count)), 0)
  at <- which.max(counts < N)
  abort_input("`data` must not have missing values, but ", format(N - counts[[at]], big.mark = ","), " of ",
              format(N, big.mark = ","), " rows have one in ", quoted(columns[at]),
              "; na.action = na.omit leaves such rows out.")
}

# "text" for columns with categories, by the values of one row.
postgres_kinds <- function(con, source, columns) {
  names <- quoted_columns(con, columns)
  row <- asking_database(DBI::dbGetQuery(con, paste(select_sql(names, source$from), "LIMIT 1")))
  if (nrow(row) == 0L) abort_input("`data` must have at least one row, but it has none.")
  vapply(seq_along(columns), function(k) {
    read <- column_values(row[[k]])
    if (is.null(read)) {
      abort_input("`data` must have columns of numbers, dates, times, texts or TRUE and FALSE; not so: ",
                  quoted(columns[k]), ", which is ", kind_of(row[[k]]), ".")
    }
    read$kind
  }, "")
}

# A random share of the rows, of which at most rows_of_blocks() are kept; NULL for none. Rows with missing values are
# left out here, and counted with all rows.
sampled_rows <- function(con, source, columns, size, where, share) {
  sample <- if (share < 1) {
    paste0(" TABLESAMPLE BERNOULLI (", format(100 * share, digits = 15, scientific = FALSE), ") REPEATABLE (",
           sample.int(.Machine$integer.max, 1L), ")")
  }
  sql <- select_sql(quoted_columns(con, columns), paste0(source$from, sample), where)
  read_rows(con, sql, rows_of_blocks(size), "na.omit")
}

# The same of N rows. If there are too few, a larger share is tried.
enough_rows <- function(con, source, columns, size, where, N) {
  share <- share_of_blocks(size, N)
  repeat {
    rows <- sampled_rows(con, source, columns, size, where, share)
    if (!is.null(rows) && (share >= 1 || rows$N >= min(size, N))) return(rows)
    if (share >= 1) check_some_rows(rows, "na.fail")
    share <- 2 * share
  }
}

# The share that gives more than enough of N rows with near certainty.
share_of_blocks <- function(size, N) {
  wanted <- min(rows_of_blocks(size), N)
  if (N > 0) (wanted + 4 * sqrt(wanted)) / N else 1
}

# Fewer than of a cursor, because the server has to send them. Large samples have small errors without more rows to
# choose from, and with a fifth more they would hardly be smaller.
rows_of_blocks <- function(size) if (size > 20000) size else size + min(7 * size, 20000)

# The sample with the counts and ranges of the whole table.
finish_postgres <- function(con, source, sampled, whole, where) {
  for (name in names(sampled$labels)) {
    counted <- postgres_counts(con, source, name, where)
    label <- label_of(counted$levels, counted$counts, whole$N)
    # A category that has come since the rows were counted is one of the others.
    number <- match(sampled$labels[[name]]$levels, label$levels, nomatch = 0L)
    sampled$codes[[name]] <- c(0L, number)[sampled$codes[[name]] + 1L]
    sampled$labels[[name]] <- label[c("levels", "counts", "other")]
  }
  at <- match(sampled$names, colnames(whole$ranges))
  # The table may have changed between the two statements.
  sampled$ranges <- apply(rbind(sampled$ranges, unname(whole$ranges[, at, drop = FALSE])), 2L, range)
  sampled$N <- max(whole$N, nrow(sampled$x))
  sampled
}

postgres_counts <- function(con, source, column, where) {
  name <- quoted_columns(con, column)
  sql <- paste(select_sql(c(name, "count(*) AS n"), source$from, where), "GROUP BY", name,
               "ORDER BY 2 DESC LIMIT", most_categories)
  counted <- asking_database(DBI::dbGetQuery(con, sql))
  list(levels = column_values(counted[[1L]])$values, counts = as.numeric(plain(counted[[2L]])))
}
