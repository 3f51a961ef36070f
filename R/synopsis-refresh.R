# A synopsis after its table in a database has changed.

#' @rdname learn
#' @export
refresh <- function(synopsis, con, ...) {
  check_arguments("refresh", given_names(...))
  check_object(synopsis, "synopsis", "kestrel_synopsis")
  if (is.null(synopsis$source)) abort_input("`synopsis` must be one of a table in a database.")
  if (missing(con) || !inherits(con, "DBIConnection")) abort_input("`con` must be a connection of package DBI.")
  known_as("con", refreshed(synopsis, con), of = "data")
}

refreshed <- function(synopsis, con) {
  source <- synopsis$source
  source$key <- synopsis$key$name
  check_database_columns(con, source, unique(c(source$columns, source$key)), "synopsis")
  size <- nrow(synopsis$x)
  merged <- if (!is.null(source$key)) merged_rows(synopsis, con, source, size)
  if (is.null(merged)) {
    merged <- sample_of_table(con, source, size, source$na.action)
    merged$karma <- rep(0, nrow(merged$kept$x))
    merged$replaced <- nrow(merged$kept$x)
  }
  same <- identical(merged$names, synopsis$names) && identical(merged$types, synopsis$types) &&
    identical(names(merged$labels), names(synopsis$labels))
  if (!same) abort_input("`synopsis` must have the columns of its table, but their types have changed.")
  merged <- rows_of_database_within(merged, synopsis$transform, con, source, source$na.action)
  labels <- kept_labels(merged$labels, merged$kept$codes)
  fields <- list(x = merged$kept$x, w = label_weights(labels, nrow(merged$kept$x)), N = merged$N, labels = labels,
                 ranges = merged$ranges, key = merged$key)
  for (name in names(fields)) synopsis[name] <- fields[name]
  if (!is.null(synopsis$learning)) synopsis$learning$karma <- merged$karma
  synopsis$history <- add_event(synopsis, "refresh", 0, NA_real_, NA_real_, merged$replaced)
  synopsis
}

# The rows of the synopsis that are still in the table, and some of the new ones; NULL if all have to be drawn anew.
merged_rows <- function(synopsis, con, source, size) {
  alive <- keys_alive(synopsis$key, con, source)
  key <- quoted_columns(con, source$key)
  newer <- paste(key, ">", key_text(synopsis$key$last, synopsis$key$type, con))
  columns <- unique(c(source$columns, source$key))
  complete <- where_complete(con, columns, source$na.action)
  count <- function(where) {
    sql <- select_sql("count(*)", source$from, c(complete, where))
    as.numeric(plain(asking_database(DBI::dbGetQuery(con, sql))[[1L]]))
  }
  N <- count(NULL)
  fresh <- count(newer)
  if (N == 0) abort_input("`synopsis` must be of a table with rows, but it has none now.")
  old <- N - fresh
  # As many rows as those that are left can stand for.
  size <- min(size, if (old > 0) floor(sum(alive) * N / old) else 0, N)
  if (size < nrow(synopsis$x) / 2 || size < 1) return(NULL)
  accepted <- stats::rhyper(1L, fresh, old, size)
  accepted <- max(accepted, size - sum(alive))
  left <- which(alive)
  if (size - accepted < length(left)) left <- left[even_rows(synopsis$x[left, , drop = FALSE], size - accepted)]
  karma <- if (is.null(synopsis$learning)) rep(0, nrow(synopsis$x)) else synopsis$learning$karma
  left <- left[karma[left] >= -largest_karma]
  drawn <- function(count, where) {
    if (count > 0) sample_of_table(con, source, count, source$na.action, where)
  }
  parts <- list(drawn(accepted, newer), drawn(size - accepted - length(left), NULL))
  whole <- drawn(1L, NULL)
  join_rows(synopsis, left, Filter(Negate(is.null), parts), whole, karma)
}

# The rows `left` of the synopsis and those of samples, numbered by the categories of the whole table.
join_rows <- function(synopsis, left, samples, whole, karma) {
  levels_of <- function(labels, codes) Map(function(label, code) c(NA, label$levels)[code + 1L], labels, codes)
  old <- levels_of(synopsis$labels, lapply(synopsis$labels, function(label) label$codes[left]))
  texts <- c(list(old), lapply(samples, function(sample) levels_of(sample$labels, sample$kept$codes)))
  codes <- lapply(names(whole$labels), function(name) {
    match(unlist(lapply(texts, `[[`, name)), whole$labels[[name]]$levels, nomatch = 0L)
  })
  whole$kept <- list(x = do.call(rbind, c(list(synopsis$x[left, , drop = FALSE]),
                                          lapply(samples, function(sample) sample$kept$x))),
                     codes = stats::setNames(codes, names(whole$labels)))
  values <- unlist(c(list(synopsis$key$values[left]), lapply(samples, function(sample) sample$key$values)))
  # A row that was drawn twice stands once.
  once <- !duplicated(values)
  whole$kept <- list(x = whole$kept$x[once, , drop = FALSE], codes = lapply(whole$kept$codes, `[`, once))
  whole$key$values <- values[once]
  whole$karma <- c(karma[left], rep(0, length(values) - length(left)))[once]
  whole$replaced <- sum(once) - length(left)
  whole
}

# Numbers of a variable, such as a key, as literals of SQL.
key_text <- function(values, type, con) {
  # With all digits.
  if (type == "number") sprintf("%.17g", values) else as.character(DBI::dbQuoteLiteral(con, shown_values(values, type)))
}

# Whether the rows that are kept are still in the table.
keys_alive <- function(key, con, source) {
  name <- quoted_columns(con, key$name)
  found <- lapply(split(key$values, (seq_along(key$values) - 1) %/% 500), function(values) {
    among <- paste0(name, " IN (", paste(key_text(values, key$type, con), collapse = ", "), ")")
    rows <- asking_database(DBI::dbGetQuery(con, select_sql(name, source$from, among)))
    if (nrow(rows) > 0L) column_values(rows[[1L]])$values
  })
  key$values %in% unlist(found)
}
