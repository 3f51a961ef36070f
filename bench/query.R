# Answers from a density: the time of 10,000 boxes in three dimensions with a synopsis of 5,000 rows on one thread, and
# q-errors on 1,000 boxes of the diamonds of ggplot2 (carat, depth, price) with a synopsis of 1 % of the rows, compared
# with uniform sampling and an equi-width histogram of the same number of bytes.
#
#   Rscript bench/query.R [--short] [errors time postgres drift]
#
# kestrel and ggplot2 must be installed. Boxes lie around random rows and hold 1 to 20 % of all rows. The bytes are
# those of the synopsis in a file, as it prints them: rows of a sample take 8 for each variable, the counts of a
# histogram 4.

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
                if (fun == "count") " (to reach: 1 s)" else ""))
  }
}

# A server of PostgreSQL on KESTREL_TEST_PORT, as tools/test-database.sh starts one: the time of a sample of 1 % of
# `rows` rows beside TABLESAMPLE alone, and q-errors beside the planner's estimates.
bench_postgres <- function(rows = sized(1e7, 1e6), m = 1000) {
  port <- Sys.getenv("KESTREL_TEST_PORT")
  if (!nzchar(port)) return(cat("no server: set KESTREL_TEST_PORT\n"))
  con <- DBI::dbConnect(RPostgreSQL::PostgreSQL(), host = "127.0.0.1", port = as.integer(port), user = "kestrel",
                        dbname = "postgres")
  on.exit(DBI::dbDisconnect(con))
  DBI::dbExecute(con, "SET client_min_messages = warning")
  DBI::dbExecute(con, "DROP TABLE IF EXISTS bench_rows")
  DBI::dbExecute(con, paste("CREATE TABLE bench_rows AS SELECT i AS id, random() * 100 AS x, random() * 10 + i % 7",
                            "AS y, exp(random() * 3) AS z FROM generate_series(1,", format(rows, scientific = FALSE),
                            ") AS i"))
  DBI::dbExecute(con, "ANALYZE bench_rows")
  set.seed(1)
  times <- race(list(
    kde_synopsis = function() kde_synopsis(con, "bench_rows", c("x", "y", "z"), size = rows / 100, h = 1),
    TABLESAMPLE = function() DBI::dbGetQuery(con, "SELECT x, y, z FROM bench_rows TABLESAMPLE BERNOULLI (1)")
  ), rounds = 3L, clock = function() proc.time()[["elapsed"]])
  keep_times(times, "1 % of a table of PostgreSQL", d = 3L, n = rows)
  cat(sprintf("1 %% of %.0f rows of PostgreSQL: %s (to reach: 3 times)\n", rows,
              paste(colnames(times), sprintf("%.2f s", middle(times)), collapse = ", ")))
  table <- as.data.frame(ggplot2::diamonds)[c("carat", "depth", "price")]
  DBI::dbExecute(con, "DROP TABLE IF EXISTS bench_diamonds")
  DBI::dbWriteTable(con, "bench_diamonds", table, row.names = FALSE)
  boxes <- row_boxes(table, m)
  where <- vapply(seq_len(m), function(i) {
    paste(names(table), "BETWEEN", sprintf("%.17g", boxes$lower[i, ]), "AND", sprintf("%.17g", boxes$upper[i, ]),
          collapse = " AND ")
  }, "")
  planned <- function() {
    vapply(where, function(condition) {
      plan <- DBI::dbGetQuery(con, paste("EXPLAIN SELECT * FROM bench_diamonds WHERE", condition))[[1L]][1L]
      as.numeric(sub(".*rows=([0-9]+).*", "\\1", plan))
    }, 0, USE.NAMES = FALSE)
  }
  DBI::dbExecute(con, "ANALYZE bench_diamonds")
  plain <- planned()
  DBI::dbExecute(con, "CREATE STATISTICS bench_joint (dependencies, mcv) ON carat, depth, price FROM bench_diamonds")
  DBI::dbExecute(con, "ANALYZE bench_diamonds")
  synopsis <- kde_synopsis(con, "bench_diamonds", size = 5000)
  found <- q_error(data.frame(synopsis = kde_query(synopsis, boxes$lower, boxes$upper)$count, planner = plain,
                              `extended statistics` = planned(), check.names = FALSE), boxes$count)
  print(found)
  for (level in c("median", "95%")) {
    keep("counts of boxes of diamonds in PostgreSQL", rownames(found$table), paste("q-error,", level),
         found$table[, level], d = 3L, n = nrow(table), m = m)
  }
}

# After half of the rows have moved: errors of a synopsis as it was, refreshed, and with 200 queries learned after that,
# beside those of a synopsis made anew.
bench_drift <- function(N = 1e5, size = 5000, m = 500) {
  set.seed(1)
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  before <- data.frame(id = seq_len(N), x = stats::rnorm(N), y = stats::rnorm(N), z = stats::rnorm(N))
  DBI::dbWriteTable(con, "moving", before)
  old <- kde_synopsis(con, "moving", c("x", "y", "z"), size = size, key = "id")
  DBI::dbExecute(con, "DELETE FROM moving WHERE id % 2 = 0")
  moved <- data.frame(id = N + seq_len(N / 2), x = stats::rnorm(N / 2, 3, 0.5), y = stats::rnorm(N / 2, 2, 0.5),
                      z = stats::rnorm(N / 2))
  DBI::dbWriteTable(con, "moving", moved, append = TRUE)
  after <- rbind(before[before$id %% 2 == 1, ], moved)[c("x", "y", "z")]
  known <- row_boxes(after, 200)
  boxes <- row_boxes(after, m)
  refreshed <- refresh(old, con)
  learned <- learn(refreshed, known[c("lower", "upper")], known$count)
  fresh <- kde_synopsis(con, "moving", c("x", "y", "z"), size = size)
  found <- q_error(vapply(list(old = old, refreshed = refreshed, learned = learned, fresh = fresh), function(s) {
    kde_query(s, boxes$lower, boxes$upper)$count
  }, numeric(m)), boxes$count)
  print(found)
  keep("counts after a drift", rownames(found$table), "q-error, median", found$table[, "median"], d = 3L, n = N, m = m)
}

run_sections(list(errors = bench_errors, time = bench_time, postgres = bench_postgres, drift = bench_drift))
