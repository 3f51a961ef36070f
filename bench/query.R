# Answers from a density: the time of 10,000 boxes in three dimensions with a synopsis of 5,000 rows on one thread, and
# q-errors on 1,000 boxes of the diamonds of ggplot2 (carat, depth, price) with a synopsis of 1 % of the rows, compared
# with uniform sampling and an equi-width histogram of the same number of bytes.
#
#   Rscript bench/query.R [--short] [errors time]
#   tools/with-postgres.sh Rscript bench/query.R [--short] [errors time server_sample server_errors server_times
#     server_drift]
#
# kestrel and ggplot2 must be installed; the second command adds sections on a table of a PostgreSQL server. Boxes lie
# around random rows and hold 1 to 20 % of all rows. The bytes are those of the synopsis in a file, as it prints them:
# rows of a sample take 8 for each variable, the counts of a histogram 4.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
source(file.path(here, "harness.R"))
compile("clock.cpp")
source(system.file("query", "boxes.R", package = "kestrel"), local = TRUE)

bench_errors <- function(seeds = sized(1:5, 1L)) {
  table <- as.matrix(as.data.frame(ggplot2::diamonds)[c("carat", "depth", "price")])
  size <- round(nrow(table) / 100)
  for (seed in seeds) {
    set.seed(seed)
    tuning <- row_boxes(table, 400)[c("lower", "upper")]
    boxes <- row_boxes(table, 1000)
    set.seed(seed)
    synopsis <- kde_synopsis(table, size = size)
    set.seed(seed)
    tuned <- kde_synopsis(table, size = size, tune_queries = tuning)
    bytes <- length(serialize(tuned, NULL))
    sampled <- table[sample.int(nrow(table), floor(bytes / (8 * ncol(table)))), ]
    answer <- kde_query(tuned, boxes$lower, boxes$upper)
    found <- q_error(data.frame(
      synopsis = kde_query(synopsis, boxes$lower, boxes$upper)$count, tuned = answer$count,
      sampling = count_rows(sampled, boxes) * nrow(table) / nrow(sampled),
      histogram = histogram_counts(equi_width_histogram(table, bytes), boxes)
    ), boxes$count)
    share <- boxes$count / nrow(table)
    width <- 2 * qnorm(0.975) * nrow(table) * sqrt(share * (1 - share) / size)
    cat(sprintf("seed %d: %d rows, %.0f bytes, factor %.3g; interval: holds %.1f %%, %.2f binomial widths\n", seed,
                size, bytes, tuned$tuning$factor,
                100 * mean(answer$lower <= boxes$count & boxes$count <= answer$upper),
                mean(answer$upper - answer$lower) / mean(width)))
    print(found)
    for (level in c("median", "95%")) {
      keep(paste("counts of boxes of diamonds, seed", seed), rownames(found$table), paste("q-error,", level),
           found$table[, level], d = 3L, n = nrow(table), m = nrow(boxes$lower))
    }
  }
}

bench_time <- function(m = 10000, n = 5000) {
  set.seed(1)
  table <- matrix(stats::rnorm(1e5 * 3), 1e5)
  synopsis <- kde_synopsis(table, size = n)
  boxes <- row_boxes(table, m)
  for (fun in c("count", "mean")) {
    times <- race(list(query = function() {
      kde_query(synopsis, boxes$lower, boxes$upper, fun, if (fun == "mean") 1)
    }), rounds = 1L)
    seconds <- middle(times)
    keep(paste("boxes,", fun), "kde_query", "seconds", seconds, d = 3L, n = n, m = m)
    cat(sprintf("%s of %d boxes, synopsis of %d rows, d = 3, one thread: %.2f s%s\n", fun, m, n, seconds,
                if (fun == "count") " (to reach: 0.6 s)" else ""))
  }
}

# ---- PostgreSQL: sections that run within `tools/with-postgres.sh Rscript bench/query.R server_...`

connect_server <- function() {
  con <- DBI::dbConnect(RPostgreSQL::PostgreSQL(), host = "127.0.0.1",
                        port = as.integer(Sys.getenv("KESTREL_TEST_PORT")), user = "kestrel", dbname = "postgres")
  DBI::dbExecute(con, "SET client_min_messages = warning")
  con
}

server_size <- sized(1e7, 1e6)
server_columns <- c("x", "y", "z")
whole_number <- function(value) format(value, scientific = FALSE)

# Rows number `from` to `to`: x is uniform, and y and z depend on it.
generated_rows <- function(from, to, shift = 0) {
  sprintf(paste("SELECT i AS id, x, x / 10 + noise + %g AS y, exp(x / 50 + random()) AS z FROM (SELECT i,",
                "random() * 100 AS x, sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) AS noise",
                "FROM generate_series(%s::bigint, %s) AS i) AS s"), shift, whole_number(from), whole_number(to))
}

# The table `bench_rows`, made by the first section that needs it.
server_rows <- function(con) {
  if (DBI::dbExistsTable(con, "bench_rows")) return()
  DBI::dbExecute(con, "DO 'BEGIN PERFORM setseed(0.5); END'")
  DBI::dbExecute(con, paste("CREATE TABLE bench_rows AS", generated_rows(1, server_size)))
  DBI::dbExecute(con, "VACUUM ANALYZE bench_rows")
}

# Boxes about rows of a sample of a table, with the counts of all its rows.
counted_boxes <- function(table, m) {
  boxes <- row_boxes(table[sample.int(nrow(table), min(nrow(table), 2e4)), ], m)
  sample <- of_kestrel("sample_cpp")(table, of_kestrel("ones_cpp")(nrow(table)))
  held <- of_kestrel("query_rows_cpp")(sample, boxes$lower, boxes$upper, of_kestrel("run_options")(all_threads))
  replace(boxes, "count", list(held * nrow(table)))
}

server_table <- function(con, name, columns) {
  as.matrix(DBI::dbGetQuery(con, paste("SELECT", paste(columns, collapse = ", "), "FROM", name)))
}

where_box <- function(boxes, i) {
  paste(colnames(boxes$lower), "BETWEEN", sprintf("%.17g", boxes$lower[i, ]), "AND",
        sprintf("%.17g", boxes$upper[i, ]), collapse = " AND ")
}

keep_errors <- function(found, task, n) {
  print(found)
  for (level in c("median", "95%")) {
    keep(task, rownames(found$table), paste("q-error,", level), found$table[, level], d = 3L, n = n,
         m = nrow(found$errors))
  }
}

# The time of a sample of 1 % of the rows beside the server's TABLESAMPLE of the same columns, with the rows fetched
# into R and without.
bench_server_sample <- function(rounds = 7L) {
  con <- connect_server()
  on.exit(DBI::dbDisconnect(con))
  server_rows(con)
  tablesample <- "SELECT x, y, z FROM bench_rows TABLESAMPLE BERNOULLI (1)"
  set.seed(1)
  times <- race(list(
    kde_synopsis = function() kde_synopsis(con, "bench_rows", server_columns, size = server_size / 100, h = 1),
    `TABLESAMPLE, fetched` = function() DBI::dbGetQuery(con, tablesample),
    `TABLESAMPLE, on the server` = function() DBI::dbGetQuery(con, paste("EXPLAIN (ANALYZE, TIMING OFF)", tablesample)),
    `count(*)` = function() DBI::dbGetQuery(con, "SELECT count(*) FROM bench_rows")
  ), rounds, wall_seconds)
  keep_times(times, "1 % of a table of PostgreSQL", d = 3L, n = server_size)
  ratios <- c(times_of(times, 1, 2), times_of(times, 1, 3))
  keep("1 % of a table of PostgreSQL", paste("kde_synopsis /", colnames(times)[2:3]), "times", ratios, d = 3L,
       n = server_size)
  cat(sprintf("1 %% of %s rows: %s; %.1f and %.1f times (to reach: 3)\n", figure(server_size),
              paste(colnames(times), sprintf("%.2f s", middle(times)), collapse = ", "), ratios[1], ratios[2]))
}

# q-errors beside the planner's estimates, with and without extended statistics.
bench_server_errors <- function(m = 1000) {
  con <- connect_server()
  on.exit(DBI::dbDisconnect(con))
  server_rows(con)
  DBI::dbExecute(con, "DROP TABLE IF EXISTS bench_diamonds")
  # Integers as doubles: the planner has no statistics for an integer that is compared with a fraction.
  diamonds <- data.frame(lapply(ggplot2::diamonds[c("carat", "depth", "price")], as.double))
  DBI::dbWriteTable(con, "bench_diamonds", diamonds, row.names = FALSE)
  planned <- function(name, boxes) {
    vapply(seq_len(m), function(i) {
      plan <- DBI::dbGetQuery(con, paste("EXPLAIN SELECT * FROM", name, "WHERE", where_box(boxes, i)))[[1L]][1L]
      as.numeric(sub(".*rows=([0-9]+).*", "\\1", plan))
    }, 0)
  }
  # 1 % of the diamonds are few: a box of 1 % of the rows has five of them.
  for (case in list(list("bench_diamonds", 539), list("bench_diamonds", 5000), list("bench_rows", 5000))) {
    name <- case[[1L]]
    size <- case[[2L]]
    columns <- if (name == "bench_rows") server_columns else c("carat", "depth", "price")
    table <- server_table(con, name, columns)
    set.seed(1)
    boxes <- counted_boxes(table, m)
    sampled <- table[sample.int(nrow(table), size), ]
    synopsis <- kde_synopsis(con, name, columns, size = size)
    tuning <- counted_boxes(table, 200)
    learned <- learn(synopsis, tuning[c("lower", "upper")], tuning$count)
    DBI::dbExecute(con, paste("ANALYZE", name))
    plain <- planned(name, boxes)
    DBI::dbExecute(con, paste0("CREATE STATISTICS ", name, "_joint (dependencies, mcv) ON ",
                               paste(columns, collapse = ", "), " FROM ", name))
    DBI::dbExecute(con, paste("ANALYZE", name))
    found <- q_error(data.frame(
      kde_synopsis = kde_query(synopsis, boxes$lower, boxes$upper)$count,
      `after learn()` = kde_query(learned, boxes$lower, boxes$upper)$count,
      `rows of a sample` = count_rows(sampled, boxes) * nrow(table) / size,
      planner = plain, `planner, extended statistics` = planned(name, boxes), check.names = FALSE
    ), boxes$count)
    DBI::dbExecute(con, paste0("DROP STATISTICS ", name, "_joint"))
    keep_errors(found, paste0("counts of boxes in PostgreSQL, ", if (name == "bench_rows") "generated" else "diamonds",
                              ", ", size, " rows"), nrow(table))
  }
}

# Seconds for one count of a box: of a synopsis, and by the server.
bench_server_times <- function(m = 4) {
  con <- connect_server()
  on.exit(DBI::dbDisconnect(con))
  server_rows(con)
  set.seed(1)
  synopsis <- kde_synopsis(con, "bench_rows", server_columns, size = 5000)
  boxes <- row_boxes(DBI::dbGetQuery(con, "SELECT x, y, z FROM bench_rows LIMIT 10000"), m)
  counts <- function(sample) {
    function() {
      for (i in seq_len(m)) {
        DBI::dbGetQuery(con, paste0("SELECT count(*) FROM bench_rows ", sample, " WHERE ", where_box(boxes, i)))
      }
    }
  }
  times <- race(list(kde_query = function() kde_query(synopsis, boxes$lower, boxes$upper),
                     `one box by kde_query` = function() kde_query(synopsis, boxes$lower[1, ], boxes$upper[1, ]),
                     `count(*) without an index` = counts(""),
                     `count(*), TABLESAMPLE BERNOULLI (1)` = counts("TABLESAMPLE BERNOULLI (1)"),
                     `count(*), TABLESAMPLE SYSTEM (1)` = counts("TABLESAMPLE SYSTEM (1)")), 3L, wall_seconds)
  DBI::dbExecute(con, "CREATE INDEX bench_index ON bench_rows (x, y, z)")
  DBI::dbExecute(con, "VACUUM ANALYZE bench_rows")
  times <- cbind(times, race(list(`count(*) with an index` = counts("")), 3L, wall_seconds))
  DBI::dbExecute(con, "DROP INDEX bench_index")
  of_one <- colnames(times) != "one box by kde_query"
  times[, of_one] <- times[, of_one] / m
  keep_times(times, "one box of a table of PostgreSQL", d = 3L, n = server_size, m = 1)
  print(signif(middle(times), 3))
}

# After half of the rows have moved: errors of a synopsis as it was, of that with 200 queries learned, refreshed, and
# with the queries learned after that, beside those of a synopsis made anew.
bench_server_drift <- function(m = 1000) {
  con <- connect_server()
  on.exit(DBI::dbDisconnect(con))
  DBI::dbExecute(con, "DROP TABLE IF EXISTS bench_moving")
  N <- server_size
  DBI::dbExecute(con, paste("CREATE TABLE bench_moving AS", generated_rows(1, N)))
  DBI::dbExecute(con, "ALTER TABLE bench_moving ADD PRIMARY KEY (id)")
  set.seed(1)
  old <- kde_synopsis(con, "bench_moving", server_columns, size = 5000, key = "id")
  DBI::dbExecute(con, "DELETE FROM bench_moving WHERE id % 2 = 0")
  DBI::dbExecute(con, paste("INSERT INTO bench_moving", generated_rows(N + 1, 1.5 * N, shift = 8)))
  DBI::dbExecute(con, "VACUUM ANALYZE bench_moving")
  table <- server_table(con, "bench_moving", server_columns)
  known <- counted_boxes(table, 200)
  boxes <- counted_boxes(table, m)
  learned <- function(synopsis) learn(synopsis, known[c("lower", "upper")], known$count)
  refreshed <- refresh(old, con)
  kept <- list(old = old, `old, learned` = learned(old), refreshed = refreshed,
               `refreshed, learned` = learned(refreshed),
               fresh = kde_synopsis(con, "bench_moving", server_columns, size = 5000))
  DBI::dbExecute(con, "DROP TABLE bench_moving")
  found <- q_error(vapply(kept, function(synopsis) kde_query(synopsis, boxes$lower, boxes$upper)$count, numeric(m)),
                   boxes$count)
  keep_errors(found, "counts of boxes after a drift", N)
}

run_sections(c(list(errors = bench_errors, time = bench_time), if (nzchar(Sys.getenv("KESTREL_TEST_PORT"))) {
  list(server_sample = bench_server_sample, server_errors = bench_server_errors, server_times = bench_server_times,
       server_drift = bench_server_drift)
}))
