# learn() and refresh().

# row_boxes() and related functions.
source(system.file("query", "boxes.R", package = "kestrel"), local = TRUE)

table <- with_seed(1, data.frame(a = rnorm(400), b = rexp(400), kind = sample(c("u", "v"), 400, TRUE)))
boxes <- with_seed(2, row_boxes(table[c("a", "b")], 60))
wide <- with_seed(3, kde_synopsis(table, size = 80, H = diag(2)))

test_that("gradients are those of the loss, and karma what a row changes", {
  loss <- function(log_h, q) {
    answer <- kde_query(replace(wide, "H", list(diag(exp(2 * log_h)))), boxes$lower[q, ], boxes$upper[q, ])$count
    log(max(answer, 1) / boxes$count[q])^2
  }
  for (q in 1:4) {
    within <- lapply(boxes[1:2], function(limits) limits[q, , drop = FALSE])
    within <- within_ranges(within, wide$ranges)
    found <- query_gradient(wide, c(0.8, 0.5), within$lower[1, ], within$upper[1, ], boxes$count[q])
    expect_equal(found$error^2, loss(log(c(0.8, 0.5)), q), tolerance = 1e-10)
    step <- 1e-5
    numeric <- vapply(1:2, function(k) {
      e <- step * (1:2 == k)
      (loss(log(c(0.8, 0.5)) + e, q) - loss(log(c(0.8, 0.5)) - e, q)) / (2 * step)
    }, 0)
    expect_equal(found$gradient, numeric, tolerance = 1e-6)
    # the estimate without the row
    w <- wide$w[-7]
    mass <- pnorm(within$upper[1, 1], wide$x[-7, 1], 0.8) - pnorm(within$lower[1, 1], wide$x[-7, 1], 0.8)
    mass <- mass * (pnorm(within$upper[1, 2], wide$x[-7, 2], 0.5) - pnorm(within$lower[1, 2], wide$x[-7, 2], 0.5))
    without <- log(400 * sum(w * mass) / sum(w) / boxes$count[q])^2
    share <- exp(found$error) * boxes$count[q] / 400
    expect_equal(found$karma[7], 80 * share * (without - found$error^2), tolerance = 1e-8)
  }
  # a box without rows or mass
  none <- query_gradient(wide, c(0.1, 0.1), c(50, 50), c(51, 51), 0)
  expect_identical(c(none$error, none$gradient), c(0, 0, 0))
})

test_that("learning makes errors on other queries smaller, whether at once or in parts", {
  known <- lapply(boxes[1:2], function(limits) limits[1:40, ])
  learned <- learn(wide, known, boxes$count[1:40], rate = 0.3)
  error <- function(s) q_error(kde_query(s, boxes$lower[41:60, ], boxes$upper[41:60, ])$count, boxes$count[41:60])
  expect_lt(error(learned)$table[, "median"], error(wide)$table[, "median"] / 1.1)
  expect_identical(learned$history$queries, rep(10L, 4))
  expect_true(all(learned$learning$karma <= 3))
  part <- function(s, rows) learn(s, lapply(known, function(limits) limits[rows, ]), boxes$count[rows], rate = 0.3)
  expect_equal(part(part(wide, 1:20), 21:40), learned)
  first <- q_error(kde_query(wide, boxes$lower[1:10, ], boxes$upper[1:10, ])$count, boxes$count[1:10])$table
  expect_equal(unlist(learned$history[1, c("median", "largest")], use.names = FALSE), first[, c("median", "max")],
               ignore_attr = TRUE)
  expect_snapshot_output(shown(learned))
  expect_gt(drawn(plot(learned)), 0)
})

test_that("a table that has grown may leave none of the old rows", {
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  DBI::dbWriteTable(con, "t", data.frame(id = 1:3, x = 1:3))
  s <- kde_synopsis(con, "t", "x", h = 1, key = "id")
  DBI::dbWriteTable(con, "t", data.frame(id = 4:1000, x = 4:1000), append = TRUE)
  # each old row is among the 3 of 1,000 with probability 0.003
  fresh <- with_seed(1, refresh(s, con))
  expect_true(all(fresh$key$values > 3))
  expect_identical(c(fresh$N, anyDuplicated(fresh$key$values), nrow(fresh$x)), c(1000, 0, 3))
})

test_that("a synopsis with a key follows inserts and deletes", {
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  rows <- data.frame(id = 1:3000, x = as.numeric(1:3000), kind = rep(c("u", "v", "v"), 1000))
  DBI::dbWriteTable(con, "t", rows)
  s <- with_seed(4, kde_synopsis(con, "t", c("x", "kind"), size = 300, h = 1, key = "id"))
  # nothing has changed
  expect_identical(sort(with_seed(5, refresh(s, con))$x[, 1]), sort(s$x[, 1]))
  # every fifth row deleted, 2,000 rows with another category inserted
  DBI::dbExecute(con, "DELETE FROM t WHERE id % 5 = 0")
  DBI::dbWriteTable(con, "t", data.frame(id = 3001:5000, x = 3001:5000, kind = "w"), append = TRUE)
  fresh <- with_seed(6, refresh(s, con))
  expect_identical(fresh$N, 4400)
  expect_identical(fresh$key$last, 5000)
  expect_identical(fresh$x[, 1], fresh$key$values)
  expect_identical(fresh$labels$kind$levels, c("w", "v", "u"))
  expect_identical(fresh$labels$kind$counts, as.numeric(c(2000, 1600, 800)))
  id <- fresh$key$values
  expect_false(any(id <= 3000 & id %% 5 == 0) || anyDuplicated(id) > 0)
  expect_identical(fresh$labels$kind$levels[fresh$labels$kind$codes],
                   ifelse(id > 3000, "w", ifelse(id %% 3 == 1, "u", "v")))
  expect_identical(fresh$ranges, matrix(c(1, 5000)))
  # old rows are kept, and new ones accepted in proportion
  expect_true(all(id[id <= 3000] %in% s$key$values))
  expect_lt(abs(mean(id > 3000) - 2000 / 4400), 4.5 * sqrt(0.25 / length(id)))
  expect_identical(fresh$history$replaced, sum(id > 3000))
  # rows that mislead are replaced
  fresh$learning <- list(squares = 0, karma = ifelse(seq_along(id) <= 20, -5, 0))
  again <- with_seed(7, refresh(fresh, con))
  expect_lte(sum(again$key$values %in% id[1:20]), 3)
  expect_true(all(again$learning$karma == 0))
  # without a key, or with hardly any row left, all are drawn anew
  plain <- with_seed(8, refresh(replace(s, "key", list(NULL)), con))
  expect_identical(c(plain$N, nrow(plain$x)), c(4400, 300))
  DBI::dbExecute(con, "DELETE FROM t WHERE id <= 3000")
  moved <- with_seed(9, refresh(s, con))
  expect_true(all(moved$x[, 1] > 3000))
  expect_identical(moved$H, s$H)
  expect_snapshot_output(shown(moved))
  DBI::dbExecute(con, "CREATE TABLE u AS SELECT x, kind FROM t")
  lost <- s
  lost$source$from <- "u"
  none <- s
  none$source$from <- "no_such"
  expect_refused(
    refresh(1, con),
    refresh(wide, con),
    refresh(s),
    refresh(s, 3),
    refresh(lost, con),
    refresh(none, con)
  )
  DBI::dbExecute(con, "DELETE FROM t")
  expect_refused(refresh(s, con))
})

test_that("what learn() and plot() refuse", {
  known <- list(lower = c(0, 0), upper = c(1, 1))
  expect_refused(
    learn(1, known, 3),
    learn(kde_synopsis(1:9, h = 1, kernel = "biweight"), list(lower = 1, upper = 2), 3),
    learn(kde_synopsis(quakes[1:2], size = 9, H = matrix(c(2, 1, 1, 2), 2)), known, 3),
    learn(wide, 3, 3),
    learn(wide, known, c(3, 4)),
    learn(wide, known, -1),
    learn(wide, known, 3, batch = 0),
    learn(wide, known, 3, rate = 0),
    learn(wide, known, 3, epochs = 3),
    learn(wide, list(lower = c(3, 0), upper = c(1, 1)), 3),
    plot(wide)
  )
})
