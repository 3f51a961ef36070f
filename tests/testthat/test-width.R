# Printed output fits in 80 columns, whatever the names, numbers and calls are.

long <- paste0("a_rather_long_name_of_a_variable_", 1:6)
set.seed(1)
wide <- as.data.frame(matrix(rnorm(240) * rep(10^c(-6, 6, 0, -3, 3, 9), each = 40) + 12345.678, 40,
                             dimnames = list(NULL, long)))
endless_name_of_the_data_frame_that_is_used_in_all_the_calls_below_and_does_not_fit_a_line_of_eighty <- wide

expect_narrow <- function(object) {
  before <- options(width = 80)
  on.exit(options(before))
  for (seen in list(object, summary)) {
    lines <- capture.output(print(if (is.function(seen)) seen(object) else seen))
    expect_true(all(nchar(lines) <= 80), info = paste(lines[nchar(lines) > 80], collapse = "\n"))
  }
}

test_that("densities", {
  data <- endless_name_of_the_data_frame_that_is_used_in_all_the_calls_below_and_does_not_fit_a_line_of_eighty
  expect_narrow(kde(
    endless_name_of_the_data_frame_that_is_used_in_all_the_calls_below_and_does_not_fit_a_line_of_eighty[, 1],
    w = rep(c(1, 2), 20), gridsize = 1e5
  ))
  expect_narrow(kde(data, H = diag(apply(data, 2, var)), gridsize = 5))
  expect_narrow(kde(data, H = cov(data), eval.points = data[rep(1:40, 25), ]))
  expect_narrow(do.call(kde, list(data[, 1:3], H = cov(data[, 1:3]), gridsize = 20)))
  expect_narrow(kde(exp(matrix(rnorm(400), 50)), H = diag(8), eval.points = matrix(1, 1, 8), positive = TRUE))
})

test_that("slabs, synopses and q-errors", {
  expect_narrow(kde_stream(wide[, 1:4], kernel = "epanechnikov", gridsize = 20,
                           to = function(slab) NULL))
  folder <- file.path(tempdir(), paste(rep("a_folder_with_a_long_name", 4), collapse = "_"))
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  expect_narrow(kde_stream(wide[, 1:2], gridsize = 20, to = file.path(folder, "density")))
  expect_narrow(kde_synopsis(wide, size = 30, H = diag(apply(wide, 2, var))))
  counts <- as.data.frame(matrix(c(1, 1e6, 1e9, 123456789), 4, 6, dimnames = list(NULL, long)))
  expect_narrow(q_error(counts, 1 + 1:4))
})

test_that("smoothed bootstraps", {
  expect_narrow(suppressWarnings(Hboot(wide[, 1:3], B = 3, gridsize = 8, h = c(1e-3, 1.23456789, 1e3))))
  expect_narrow(suppressWarnings(Hboot(wide, B = 2, gridsize = 4, h = 1:12 / 3)))
  expect_narrow(suppressWarnings(hboot(1e6 * wide[, 1], B = 3, gridsize = 50)))
})

test_that("regressions", {
  data <- data.frame(x = 1e6 * (1:40) + 0.123456, y = 1e-9 * sin(1:40))
  names(data) <- long[1:2]
  bw <- suppressWarnings(npregbw(a_rather_long_name_of_a_variable_2 ~ a_rather_long_name_of_a_variable_1, data))
  expect_narrow(bw)
  expect_narrow(suppressWarnings(npregbw(a_rather_long_name_of_a_variable_2 ~ a_rather_long_name_of_a_variable_1, data,
                                         regtype = "ll", ckertype = "gaussian", bwmethod = "cv.aic", bw.scale = "np",
                                         w = rep(1:2, 20), refine = TRUE)))
  expect_narrow(npreg(bw))
  expect_narrow(suppressWarnings(npreg(bw, exdat = c(1, 2e6))))
})

test_that("scores", {
  models <- setNames(rep(list(wide + 0.1), 12), paste0(long[1], "_model_", 1:12))
  bandwidths <- c(0.5, 1.123456789, 1.1234567)
  expect_narrow(suppressWarnings(pdf_score(wide, models, gridsize = 4, sensitivity = bandwidths, B = 2)))
  expect_narrow(suppressWarnings(pdf_score(wide[, 1], wide[, 1], gridsize = 50)))
})

test_that("names longer than a line", {
  endless <- paste0(strrep("a_name_without_end_", 5), 1:6)
  named <- function(frame) setNames(frame, endless[seq_along(frame)])
  expect_narrow(kde(named(wide[1:2]), gridsize = 5))
  expect_narrow(kde_synopsis(named(wide[1:2]), size = 30, H = diag(2)))
  expect_narrow(suppressWarnings(npregbw(named(wide[1]), named(wide[2])[[1]])))
  expect_narrow(q_error(named(data.frame(1, 2)), 1))
  score <- suppressWarnings(pdf_score(named(wide[1:3]), named(list(named(wide[1:3]), named(wide[2:4]))), gridsize = 5))
  expect_narrow(score)
  # Two names with the same beginning are told apart by their end.
  expect_match(capture.output(print(score)), "a_name_without_end_a_name_wi[.][.][.].*_2 ", all = FALSE)
})

test_that("the session", {
  expect_narrow(kestrel_info())
})
