# Regression with several regressors and factors beside np 0.60 (np_mixed.csv) and the oracle of helper-mixed.R.

np_mixed <- utils::read.csv(test_path("fixtures", "np_mixed.csv"), colClasses = c(
  bw = "character", rows = "character", mean = "character", merr = "character", grad1 = "character"
))
parts_of <- function(text) as.numeric(strsplit(text, ";")[[1]])
np_mixed_data <- list(iris = datasets::iris, warpbreaks = datasets::warpbreaks,
                      mtcars = transform(datasets::mtcars, cyl = factor(cyl), gear = ordered(gear)))

# The engine's data and task of a row.
np_mixed_task <- function(row) {
  frame <- stats::model.frame(stats::as.formula(row$formula), np_mixed_data[[row$set]])
  data <- mixed_data(frame[-1], frame[[1]])
  bw <- parts_of(row$bw)[data$columns]
  p <- ncol(data$x)
  task <- c(as.list(row[c("ckertype", "ckerorder", "ukertype", "okertype", "regtype")]),
            list(method = row$bwmethod, h = bw[seq_len(p)], lambda = bw[seq_along(bw) > p]))
  list(data = data, task = task)
}

test_that("np's objectives and fits are the oracle's", {
  for (k in seq_len(nrow(np_mixed))) {
    row <- np_mixed[k, ]
    call <- np_mixed_task(row)
    info <- paste(row$formula, row$what, row$regtype, row$bwmethod, row$ukertype)
    if (row$what == "selected") {
      # np counts the squared responses of the observations without neighbours.
      expect_equal(mixed_oracle_objective(call$data, call$task)$value, row$fval, tolerance = 1e-9, info = info)
    }
    fit <- mixed_oracle_fit(call$data, call$task)
    at <- parts_of(row$rows)
    expect_equal(fit$mean[at], parts_of(row$mean), tolerance = 1e-9, info = info)
    if (ncol(fit$grad) > 0) expect_equal(fit$grad[at, 1], parts_of(row$grad1), tolerance = 1e-8, info = info)
  }
})
