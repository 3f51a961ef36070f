# Synopses and sketches of tables of PostgreSQL, on the server that tools/with-postgres.sh starts.

connect <- function() {
  DBI::dbConnect(RPostgreSQL::PostgreSQL(), host = "127.0.0.1", port = as.integer(Sys.getenv("KESTREL_TEST_PORT")),
                 user = "kestrel", dbname = "postgres")
}

con <- connect()
DBI::dbExecute(con, "SET client_min_messages = warning")
DBI::dbExecute(con, paste(
  "CREATE TABLE \"my \"\"rows\" AS SELECT i AS id, (i * 7919) % 1000 / 10.0::float8 AS x, (i % 5)::bigint AS \"K\",",
  "CASE WHEN i % 4 = 0 THEN 'four' ELSE 'other' END AS kind, i % 3 = 0 AS flag,",
  "DATE '2020-01-01' + i % 100 AS day, TIMESTAMP '2020-01-01' + i * INTERVAL '1 minute' AS at",
  "FROM generate_series(1, 20000) AS i"
))

test_that("the server samples, counts and finds the ranges", {
  set.seed(1)
  s <- kde_synopsis(con, "my \"rows", c("x", "K", "kind", "flag", "day", "at"), size = 500, key = "id", h = 1)
  expect_identical(s$N, 20000)
  expect_identical(dim(s$x), c(500L, 4L))
  expect_identical(s$names, c("x", "K", "day", "at"))
  expect_identical(s$types, c("number", "number", "Date", "POSIXct"))
  expect_equal(s$ranges[, 1:2], cbind(c(0, 99.9), c(0, 4)))
  expect_equal(s$ranges[, 3], as.numeric(as.Date("2020-01-01")) + c(0, 99))
  expect_identical(s$labels$kind[c("levels", "counts", "other")], list(levels = c("other", "four"),
                                                                       counts = c(15000, 5000), other = 0))
  expect_identical(s$labels$flag$levels, c("FALSE", "TRUE"))
  # each row that is kept is one of the table
  id <- s$key$values
  expect_false(anyDuplicated(id) > 0)
  expect_equal(s$x[, 1], (id * 7919) %% 1000 / 10)
  expect_identical(s$x[, 2], id %% 5)
  expect_identical(s$labels$kind$levels[s$labels$kind$codes], ifelse(id %% 4 == 0, "four", "other"))
  expect_identical(s$labels$flag$levels[s$labels$flag$codes], ifelse(id %% 3 == 0, "TRUE", "FALSE"))
  expect_identical(s$key$last, 20000)
  # R's generator gives the seed of the server's
  set.seed(1)
  again <- kde_synopsis(con, "my \"rows", c("x", "K", "kind", "flag", "day", "at"), size = 500, key = "id", h = 1)
  expect_identical(again, s)
})

test_that("rows are as likely as any, and a query, a tbl and a small table give the same", {
  set.seed(2)
  times <- tabulate(replicate(40, kde_synopsis(con, "my \"rows", "x", size = 500, key = "id", h = 1)$key$values),
                    20000)
  # 20 parts of the table have 1,000 draws each, but for a binomial error
  parts <- tapply(times, rep(1:20, each = 1000), sum)
  expect_lt(max(abs(parts - 1000)), 4.5 * sqrt(1000))
  query <- kde_synopsis(con, "SELECT x, kind FROM \"my \"\"rows\" WHERE id <= 300;", h = 1)
  expect_identical(c(query$N, nrow(query$x)), c(300, 300))
  expect_identical(query$x[, 1], (1:300 * 7919) %% 1000 / 10)
  # dbplyr warns that the package of the connection uses an old interface
  whole <- suppressWarnings(kde_synopsis(dplyr::tbl(con, "my \"rows"), "x", size = 1e5, h = 1))
  expect_identical(sort(whole$x[, 1]), sort((1:20000 * 7919) %% 1000 / 10))
  expect_true(whole$source$is_table)
  # a view is read as a query is
  DBI::dbExecute(con, "CREATE VIEW \"some rows\" AS SELECT x, kind FROM \"my \"\"rows\" WHERE id <= 300")
  view <- kde_synopsis(con, "some rows", h = 1)
  expect_identical(view[c("N", "x", "ranges")], query[c("N", "x", "ranges")])
  # large samples are simple random ones
  DBI::dbExecute(con, "CREATE TABLE long AS SELECT i::float8 AS x FROM generate_series(1, 40000) AS i")
  large <- kde_synopsis(con, "long", size = 25000, h = 1)
  expect_identical(dim(large$x), c(25000L, 1L))
  expect_lt(abs(mean(large$x) - 20000.5), 4.5 * 40000 / sqrt(12) * sqrt(1 / 25000 - 1 / 40000))
})

test_that("the server's estimate of the number of rows may be wrong, and ends beyond the sample are found", {
  DBI::dbExecute(con, paste("CREATE TABLE grown AS SELECT i::float8 / 7 AS x, i::numeric AS y, i::real AS z,",
                            "DATE '2020-01-01' + i AS day FROM generate_series(1, 40) AS i"))
  DBI::dbExecute(con, "ALTER TABLE grown SET (autovacuum_enabled = false)")
  DBI::dbExecute(con, "ANALYZE grown")
  DBI::dbExecute(con, paste("INSERT INTO grown SELECT i::float8 / 7, i, i, DATE '2020-01-01' + i % 1000",
                            "FROM generate_series(41, 30000) AS i"))
  DBI::dbExecute(con, "INSERT INTO grown VALUES (-1e300, 1e20, -0.1, DATE '1900-01-01')")
  DBI::dbExecute(con, "INSERT INTO grown VALUES (1e300, 0.1, 1e30, DATE '2100-01-01')")
  expected <- rbind(c(-1e300, 0.1, -0.1, as.Date("1900-01-01")), c(1e300, 1e20, 1e30, as.Date("2100-01-01")))
  # statistics as they were, of one row, of none, and of far too many
  for (change in c("ANALYZE", "1", "-1", "1e9")) {
    if (change != "ANALYZE") {
      DBI::dbExecute(con, paste("UPDATE pg_class SET reltuples =", change, "WHERE relname = 'grown'"))
    }
    set.seed(5)
    s <- kde_synopsis(con, "grown", size = 500, h = 1)
    expect_identical(list(s$N, dim(s$x)), list(30002, c(500L, 4L)), info = change)
    # of reals the driver has seven digits
    expect_equal(unname(s$ranges), expected, tolerance = 1e-6, info = change)
    expect_identical(s$ranges[, 1], c(-1e300, 1e300), info = change)
  }
  DBI::dbExecute(con, "DELETE FROM grown WHERE y <> 0.1")
  expect_identical(kde_synopsis(con, "grown", size = 5, h = 1)$N, 1)
})

test_that("bad tables are refused, and the connection works on", {
  DBI::dbExecute(con, "CREATE TABLE nulls AS SELECT NULLIF(i % 3, 0)::float8 AS x FROM generate_series(1, 30) AS i")
  DBI::dbExecute(con, "CREATE TABLE none (x float8)")
  DBI::dbExecute(con, "CREATE TABLE wide AS SELECT 'NaN'::float8 AS x UNION ALL SELECT 1")
  refused <- function(code) tryCatch(code, kestrel_error_input = conditionMessage)
  expect_match(refused(kde_synopsis(con, "nulls")), "10 of 30 rows have one in `x`", fixed = TRUE)
  expect_identical(kde_synopsis(con, "nulls", na.action = na.omit)$N, 20)
  expect_match(refused(kde_synopsis(con, "none")), "at least one row, but it has none")
  expect_match(refused(kde_synopsis(con, "wide")), "finite, but a value of `x` is not", fixed = TRUE)
  expect_match(refused(kde_synopsis(con, "x\"; DROP TABLE nulls; --")), "the database says")
  expect_match(refused(kde_synopsis(con, "nulls", columns = "\"; DROP TABLE nulls; --")), "is none; it has `x`")
  # a connection that the server closes
  other <- connect()
  pid <- DBI::dbGetQuery(other, "SELECT pg_backend_pid() AS pid")$pid
  DBI::dbGetQuery(con, paste0("SELECT pg_terminate_backend(", pid, ")"))
  expect_error(kde_synopsis(other, "nulls"), class = "kestrel_error_input")
  expect_identical(DBI::dbGetQuery(con, "SELECT count(*) AS n FROM nulls")$n, 30)
})

test_that("the server computes the sketch of a column, byte for byte", {
  set.seed(3)
  kinds <- list(normal = c(rnorm(5000, -1), rep(0.25, 40), 1e9, -1e5), rounded = round(rnorm(20000, -20), 2),
                far = -3e9 + round(runif(2000), 1), few = c(-1.5, 2))
  for (name in names(kinds)) {
    DBI::dbWriteTable(con, name, data.frame(x = kinds[[name]]), row.names = FALSE)
    # the driver writes 15 digits
    x <- DBI::dbGetQuery(con, paste("SELECT x FROM", name))$x
    for (hmin in c(0.02, 3)) {
      plan <- sketch_plan(data.frame(x = x), hmin = hmin)
      expect_identical(as_sketch(DBI::dbGetQuery(con, sketch_sql(plan, name)), plan), kde_sketch(x, plan))
    }
  }
})
