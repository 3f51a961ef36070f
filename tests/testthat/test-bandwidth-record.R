# What selectors return with amise = TRUE.

test_that("records are lists as in ks that print in a few lines, and plot if they have a curve", {
  x <- as.matrix(iris[, 1:2]) + 0.05 * cos(1:300) # no ties
  records <- list(hpi(precip, amise = TRUE), hlscv(precip, amise = TRUE), hscv(precip, amise = TRUE),
                  Hpi(faithful, amise = TRUE), Hlscv(x, amise = TRUE), Hlscv(x, type = "scalar", amise = TRUE),
                  Hscv(x, amise = TRUE), hpi.kcde(precip, amise = TRUE), Hpi.kcde(faithful, amise = TRUE))
  expect_snapshot_output(for (record in records) shown(record))
  for (record in records) expect_type(record, "list")
  for (record in records[c(2, 3, 6)]) expect_gt(drawn(expect_invisible(plot(record, main = "LSCV"))), 3)
  expect_refused(
    plot(records[[1]]),
    plot(records[[2]], col.main = "nosuch"),
    print(replace(records[[2]], "h", "a")),
    plot(replace(records[[2]], "curve", list(data.frame(h = -1, objective = 2))))
  )
})
