# kde() of tables in databases.

skip_if_not_installed("RSQLite")
skip_if_not_installed("dbplyr")

con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
rows <- with_seed(1, data.frame(a = rnorm(3000), b = rexp(3000), g = sample(c("it's", "v"), 3000, TRUE), k = 1:3000))
DBI::dbWriteTable(con, "t", rows)
table <- dplyr::tbl(con, "t")

test_that("the density is that of the sketch of the rows", {
  found <- kde(dplyr::select(table, a), h = 0.3, eval.points = c(-1, 0, 2))
  expect_equal(found$estimate, kde(rows$a, h = 0.3, eval.points = c(-1, 0, 2))$estimate, tolerance = 1e-11)
  expect_identical(found$n, 3000)
  expect_true("sketch" %in% names(found))
  two <- kde(dplyr::select(dplyr::filter(table, k <= 2000), a, b), H = diag(c(0.2, 0.3)),
             eval.points = cbind(c(0, 1), c(1, 2)))
  expect_equal(two$estimate, kde(as.matrix(rows[1:2000, 1:2]), H = diag(c(0.2, 0.3)),
                                 eval.points = cbind(c(0, 1), c(1, 2)))$estimate, tolerance = 1e-11)
  expect_equal(kde(dplyr::select(table, a))$h, hpi(rows$a), tolerance = 1e-3)
})

test_that("groups have densities of their own", {
  found <- kde(dplyr::group_by(dplyr::select(table, b, g), g), h = 0.2, xmin = 0, xmax = 5)
  same <- kde(rows, ~ b | g, h = 0.2, xmin = 0, xmax = 5)
  expect_identical(found$groups, same$groups)
  expect_identical(found$n, as.numeric(same$n))
  for (g in names(same$estimates)) {
    expect_equal(found$estimates[[g]]$estimate, same$estimates[[g]]$estimate, tolerance = 1e-11)
  }
  DBI::dbWriteTable(con, "few", data.frame(x = c(1, 2, 3, 9), g = c(1L, 1L, 1L, 2L)))
  few <- dplyr::group_by(dplyr::tbl(con, "few"), g)
  expect_warning(left <- kde(few), class = "kestrel_warning_groups")
  expect_identical(left$left.out, "2")
  expect_identical(left$groups$g, 1L)
})

test_that("what a table must have", {
  DBI::dbWriteTable(con, "holes", data.frame(x = c(1, NA, 2, 4), g = c("a", NA, "b", "b")))
  holes <- dplyr::tbl(con, "holes")
  expect_identical(kde(dplyr::select(holes, x), na.action = na.omit)$n, 3)
  expect_snapshot(error = TRUE, {
    kde(dplyr::select(holes, x))
    kde(dplyr::group_by(holes, g))
    kde(table)
    kde(dplyr::select(table, g))
    kde(dplyr::select(table, a), kernel = "uniform")
    kde(dplyr::select(table, a), h = -1)
    kde(dplyr::group_by(dplyr::select(table, k, a, b, g), g, k))
    kde(dplyr::tbl(con, dplyr::sql("SELECT abs(-9223372036854775807 - k) AS x FROM t")))
  })
})

DBI::dbDisconnect(con)
