# Densities of tables in databases: kde() of a `tbl` of dbplyr, by sketches.

#' Densities of tables in databases
#'
#' [kde()] takes a `tbl` of package \pkg{dbplyr} in place of data. The rows are read in chunks and become a sketch, see
#' [kde_sketch()], so that they are never in memory together. A `tbl` that is grouped by `group_by()` of package
#' \pkg{dplyr} has a density for each group, as a grouped data frame has ([kde-groups]).
#'
#' The columns of the `tbl` are the variables, one to three numbers: choose them by `select()`. The plan of the sketch
#' comes from the first 100,000 rows, or from `h` or `H` if that is given. Rows with missing values are an error, or
#' are left out with `na.action = na.omit`.
#'
#' @return As for sketches: `kde()` returns an object of class `"kestrel_kde"` whose data are a `sketch`. With groups it
#'   returns an object of class `"kestrel_kde_groups"`. Groups whose rows are too few for a bandwidth are left out.
#' @section Units: Those of [kde()].
#' @section Errors: Errors of class `kestrel_error_input` are for columns that are not numbers, for missing values in
#'   groups, for arguments that sketches do not know (see [kde_sketch()]), and for all errors of the database.
#' @section Cost: The table is read twice, the first time until the first chunk is complete. With groups this is done
#'   for each group, by a query with a `WHERE`.
#' @references Greengard, L. & Strain, J. (1991) The fast Gauss transform. *SIAM J. Sci. Stat. Comput.* **12**, 79-94.
#' @seealso [kde()], [kde_sketch()], [kde_synopsis()]
#' @examples
#' if (requireNamespace("dbplyr", quietly = TRUE) && requireNamespace("RSQLite", quietly = TRUE)) {
#'   con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
#'   DBI::dbWriteTable(con, "quakes", cbind(quakes, deep = as.integer(quakes$depth > 300)))
#'   table <- dplyr::tbl(con, "quakes")
#'   print(kde(dplyr::select(table, mag)))
#'   print(kde(dplyr::group_by(dplyr::select(table, mag, deep), deep)))
#'   DBI::dbDisconnect(con)
#' }
#' @name kde-tables
NULL

# kde() of a `tbl`; `arguments` of a call, evaluated.
table_density <- function(arguments, call) {
  started <- proc.time()[["elapsed"]]
  table <- arguments$x
  con <- dbplyr::remote_con(table)
  source <- lazy_source(table)
  by <- dplyr::group_vars(table)
  columns <- setdiff(database_columns(con, source), by)
  if (!length(columns) %in% 1:3) {
    abort_input("`x` must have one to three columns of numbers beside its groups: select() them; it has ",
                quoted(columns), ".")
  }
  na.action <- if (is.null(arguments$na.action)) stats::na.fail else arguments$na.action
  rest <- arguments[!names(arguments) %in% c("x", "na.action")]
  one <- function(where) {
    made <- do.call(kde, c(list(x = sketch_of_table(con, source, columns, where, rest, na.action)), rest), quote = TRUE)
    replace(made, "call", list(call))
  }
  if (length(by) == 0L) return(one(NULL))
  keys <- paste(quoted_columns(con, by), collapse = ", ")
  sql <- paste(select_sql(c(keys, "count(*) AS kestrel_n"), source$from), "GROUP BY", keys, "ORDER BY", keys)
  groups <- asking_database(DBI::dbGetQuery(con, sql), "x")
  n <- as.numeric(plain(groups$kestrel_n))
  groups <- groups_frame(groups[by])
  names <- do.call(paste, c(unname(lapply(groups, as.character)), sep = ", "))
  least <- if (is.null(arguments$h) && is.null(arguments$H)) length(columns) + 1L else 1L
  large <- n >= least
  if (!any(large)) abort_input("`x` must have a group with at least ", least, " rows; the largest has ", max(0, n), ".")
  if (!all(large)) warn_small_groups(names[!large], least)
  estimates <- lapply(stats::setNames(which(large), names[large]), function(k) {
    in_group(names[k], one(where_group(con, groups[k, , drop = FALSE])))
  })
  groups <- groups[large, , drop = FALSE]
  rownames(groups) <- NULL
  structure(list(groups = groups, estimates = estimates, names = estimates[[1L]]$names, n = n[large],
                 left.out = names[!large], call = call, seconds = proc.time()[["elapsed"]] - started),
            class = "kestrel_kde_groups")
}

where_group <- function(con, group) {
  values <- vapply(group, function(value) as.character(DBI::dbQuoteLiteral(con, value)), "")
  paste(quoted_columns(con, names(group)), "=", values)
}

# Of two results, since a result is read once. A bandwidth that is given says how narrow the cells must be. On the line
# a density needs four times `hmin`, and of several columns up to a quarter more.
sketch_of_table <- function(con, source, columns, where, given, na.action) {
  sql <- select_sql(quoted_columns(con, columns), source$from, where)
  reading <- function(code) {
    result <- asking_database(DBI::dbSendQuery(con, sql), "x")
    on.exit(suspendInterrupts(catching_errors(DBI::dbClearResult(result), function(e) NULL)))
    known_as("x", code(result), of = "source")
  }
  H <- check_bandwidth(given[c("H", "h")], length(columns), FALSE)
  hmin <- if (!is.null(H)) 1 / sqrt(diag(chol2inv(chol(H)))) / if (length(columns) == 1L) 4 else 1.25
  plan <- reading(function(result) sketch_plan(result, hmin = hmin, column = columns))
  reading(function(result) kde_sketch(result, plan, na.action = na.action))
}
