# kde_synopsis() of tables in databases, and of tables with labels, dates and times.

local_sqlite <- function(env = parent.frame()) {
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  do.call(on.exit, list(bquote(DBI::dbDisconnect(.(con))), add = TRUE), envir = env)
  con
}

# Numbers, a label whose shares depend on them, dates, times, TRUE and FALSE, and a number for each row.
mixed_table <- function(n, seed) {
  with_seed(seed, {
    x <- rnorm(n)
    data.frame(id = seq_len(n), x = x, k = rpois(n, 4), day = as.Date("2020-01-01") + floor(runif(n, 0, 100)),
               at = as.POSIXct("2020-01-01", tz = "UTC") + 1000 * seq_len(n), hot = x > 0.5,
               kind = ifelse(x + rnorm(n) > 1.5, "rare", sample(c("a", "b"), n, TRUE)))
  })
}

test_that("columns of all types become variables and labels", {
  table <- mixed_table(400, 1)
  table$kind <- factor(table$kind)
  s <- with_seed(2, kde_synopsis(table, size = 50, h = 1))
  expect_identical(s$names, c("id", "x", "k", "day", "at"))
  expect_identical(s$types, c("number", "number", "number", "Date", "POSIXct"))
  expect_identical(s$ranges, unname(sapply(table[s$names], function(v) range(as.numeric(v)))))
  counts <- sort(table(as.character(table$kind)), decreasing = TRUE)
  expect_identical(s$labels$kind$levels, names(counts))
  expect_identical(s$labels$kind$counts, as.numeric(counts))
  expect_identical(s$labels$hot$levels, c("FALSE", "TRUE"))
  # each row that is kept is one of the table, with its categories
  rows <- s$x[, 1]
  expect_identical(s$x[, 2], table$x[rows])
  expect_identical(s$labels$kind$levels[s$labels$kind$codes], as.character(table$kind)[rows])
  expect_identical(s$labels$hot$levels[s$labels$hot$codes], as.character(table$hot)[rows])
  # weighted counts of categories are in proportion to those of the table
  for (label in s$labels) {
    expect_equal(as.vector(tapply(s$w, label$codes, sum)), 50 * label$counts / 400, tolerance = 1e-10)
  }
  # a text column of many categories keeps the commonest
  many <- data.frame(x = 1:5000, name = c(rep("common", 2001), paste0("n", 1:2999)))
  label <- with_seed(3, kde_synopsis(many, size = 10, h = 1))$labels$name
  expect_identical(c(length(label$levels), label$counts[1:2], label$other), c(1000, 2001, 1, 5000 - 2001 - 999))
  expect_identical(label$levels[1:3], c("common", "n1", "n10"))
})

test_that("a table in SQLite gives what it gives in memory", {
  table <- mixed_table(300, 4)
  con <- local_sqlite()
  DBI::dbWriteTable(con, "my \"table\"", table)
  columns <- c("x", "k", "kind")
  s <- kde_synopsis(con, "my \"table\"", columns, size = 300, H = diag(c(0.1, 9)))
  whole <- kde_synopsis(table[columns], size = 300, H = diag(c(0.1, 9)))
  expect_identical(s[names(s) != "source"], whole[names(whole) != "source"], ignore_attr = TRUE)
  expect_identical(s$source$columns, columns)
  # the same of an Id, a SELECT and a tbl
  same <- function(...) expect_identical(kde_synopsis(..., H = diag(c(0.1, 9)), size = 300)$x, s$x)
  same(con, DBI::Id(table = "my \"table\""), columns)
  same(con, "select x, k, kind from \"my \"\"table\"\"\";")
  skip_if_not_installed("dbplyr")
  tbl <- dplyr::tbl(con, "my \"table\"")
  same(tbl, columns)
  expect_identical(kde_synopsis(tbl, columns)$source$is_table, TRUE)
  some <- kde_synopsis(dplyr::select(dplyr::filter(tbl, x > 0), x, kind), h = 0.1)
  expect_identical(c(some$names, names(some$labels), some$source$is_table), c("x", "kind", "FALSE"))
  expect_equal(some$N, sum(table$x > 0))
  # with missing values left out
  DBI::dbExecute(con, "UPDATE \"my \"\"table\"\"\" SET x = NULL WHERE id <= 10")
  expect_identical(kde_synopsis(con, "my \"table\"", "x", na.action = na.omit)$x[, 1], table$x[-(1:10)])
})

test_that("the reservoir is a simple random sample of all chunks", {
  old <- options(kestrel.poll = 0)
  on.exit(options(old))
  chunks <- function(n, sizes) {
    ends <- cumsum(sizes)
    at <- 0
    function(reset) {
      if (reset) return(at <<- 0)
      at <<- at + 1
      if (at <= length(sizes)) data.frame(x = ends[at] - sizes[at] + as.numeric(seq_len(sizes[at])))
    }
  }
  draws <- with_seed(5, replicate(2000, gather_rows(chunks(40, c(3, 0, 20, 17)), 8, "na.fail")$rows[, 1]))
  expect_identical(dim(draws), c(8L, 2000L))
  expect_false(any(apply(draws, 2, anyDuplicated) > 0))
  times <- tabulate(draws, 40)
  expect_lt(max(abs(times - 400)), 4.5 * sqrt(400 * 32 / 40))
  whole <- gather_rows(chunks(40, c(3, 0, 20, 17)), 40, "na.fail")
  expect_identical(whole$rows[, 1], as.numeric(1:40))
  expect_identical(c(whole$N, whole$ranges), c(40, 1, 40))
})

test_that("a table of several chunks, an error in one of them, and what a database refuses", {
  con <- local_sqlite()
  DBI::dbExecute(con, paste("CREATE TABLE t AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r",
                            "WHERE i < 120000)",
                            "SELECT i, i % 7 AS k, CASE WHEN i % 3 THEN 'a' ELSE 'b' END AS l FROM r"))
  s <- with_seed(6, kde_synopsis(con, "t", c("k", "l"), size = 20, h = 1, key = "i"))
  expect_identical(s$labels$l$counts, c(80000, 40000))
  expect_identical(c(s$N, s$key$last, s$names), c("120000", "120000", "k"))
  expect_identical(s$x[, 1], s$key$values %% 7)
  DBI::dbExecute(con, "CREATE TABLE none (x REAL)")
  DBI::dbExecute(con, "CREATE TABLE empty AS SELECT NULL AS x FROM t LIMIT 3")
  DBI::dbExecute(con, "CREATE TABLE mixed AS SELECT CAST(i AS REAL) AS x, x'00ff' AS b, 'u' || i AS u FROM t")
  gone <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  DBI::dbDisconnect(gone)
  half <- "SELECT CASE WHEN i > 110000 THEN abs(-9223372036854775807 - 1) ELSE i END AS x FROM t"
  expect_refused(
    kde_synopsis(con),
    kde_synopsis(con, 5),
    kde_synopsis(con, "no_such"),
    kde_synopsis(con, "t\"; DROP TABLE t; --"),
    kde_synopsis(con, "t", columns = "dropped"),
    kde_synopsis(con, "t", columns = "k; DROP TABLE t"),
    kde_synopsis(con, "t", columns = c("k", "k")),
    kde_synopsis(con, "t", columns = "l"),
    kde_synopsis(con, "t", key = "dropped"),
    kde_synopsis(con, "t", columns = "k", key = "l"),
    kde_synopsis(con, "t", key = 3),
    kde_synopsis(con, "t", size = 0),
    kde_synopsis(con, "t", sizes = 10),
    kde_synopsis(con, "none"),
    kde_synopsis(con, "empty"),
    kde_synopsis(con, "empty", na.action = na.omit),
    kde_synopsis(con, "mixed", columns = "b"),
    kde_synopsis(con, "mixed", columns = c("x", "u")),
    kde_synopsis(con, half),
    kde_synopsis(con, "SELECT nothing FROM t"),
    kde_synopsis(data.frame(x = 1:3, y = I(list(1, 2, 3)))),
    kde_synopsis(data.frame(x = c("a", "b"))),
    kde_synopsis(stats::setNames(data.frame(1:2, 3:4, c("a", "b")), c("x", "x", "y"))),
    kde_synopsis(data.frame(x = 1:2, y = c("a", NA))),
    kde_synopsis(data.frame(x = c(1, Inf), y = "a"))
  )
  expect_error(kde_synopsis(gone, "t"), class = "kestrel_error_input")
  # nothing is left open: SQLite would warn of it
  expect_warning(DBI::dbGetQuery(con, "SELECT count(*) FROM t"), NA)
})

test_that("synopses of other versions and changed ones are refused", {
  s <- with_seed(7, kde_synopsis(mixed_table(60, 8), size = 20, h = 1))
  edit <- function(...) utils::modifyList(s, list(...))
  relabelled <- s
  relabelled$labels$kind$codes <- rep(9L, 20)
  expect_refused(
    print(edit(version = 2)),
    print(edit(w = 1:3)),
    print(edit(types = rep("day", 5))),
    print(relabelled),
    print(edit(labels = 3)),
    print(edit(source = list(from = 3)))
  )
  expect_snapshot_output(shown(s))
})

test_that("bounds of tables in databases are those of all rows, and hold after a refresh", {
  table <- with_seed(81, data.frame(id = 1:500, wait = rexp(500), hour = runif(500, 20, 50)))
  con <- local_sqlite()
  DBI::dbWriteTable(con, "t", table)
  columns <- c("wait", "hour")
  given <- list(columns = columns, size = 500, H = diag(c(0.04, 1)), bounds = cbind(c(0, 0), Inf), period = c(NA, 24))
  s <- quietly(do.call(kde_synopsis, c(list(con, "t"), given, key = "id")))
  whole <- quietly(do.call(kde_synopsis, c(list(table[columns]), given[-1])))
  expect_identical(s$x, whole$x)
  expect_identical(s$transform, whole$transform)
  expect_equal(kde_query(s, wait < 0.1 & hour > 22), kde_query(whole, wait < 0.1 & hour > 22))
  expect_snapshot(error = TRUE, kde_synopsis(con, "t", "wait", size = 9, h = 1, bounds = c(0.5, 1)))
  DBI::dbExecute(con, "INSERT INTO t VALUES (501, -3, 25)")
  expect_snapshot(error = TRUE, refresh(s, con))
  DBI::dbExecute(con, "UPDATE t SET wait = 3 WHERE id = 501")
  again <- with_seed(82, quietly(refresh(s, con)))
  expect_true(all(again$x[, 2] >= 0 & again$x[, 2] <= 24))
  expect_equal(kde_query(again)$count, 501)
})
