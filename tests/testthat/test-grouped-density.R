# kde() of formulas, grouped data frames and their groups.

skip_if_not_installed("ggplot2")
skip_if_not_installed("dplyr")
skip_if_not_installed("generics")

some <- iris[c(1:20, 51:75, 101:130), c("Petal.Length", "Petal.Width", "Species")]
rownames(some) <- NULL

test_that("each group is the estimate of its rows", {
  by <- kde(some, ~ Petal.Length + Petal.Width | Species, gridsize = 9)
  expect_named(by$estimates, levels(some$Species))
  expect_identical(by$n, c(20L, 25L, 30L))
  for (name in names(by$estimates)) {
    alone <- kde(some[some$Species == name, 1:2], gridsize = 9)
    same <- setdiff(names(alone), c("call", "seconds", "selector"))
    expect_equal(unclass(by$estimates[[name]])[same], unclass(alone)[same])
  }
  # Weights are taken as they stand in the whole frame.
  w <- seq_len(nrow(some))
  weighted <- kde(some, ~ Petal.Length | Species, h = 0.2, w = w, gridsize = 9)
  expect_identical(weighted$estimates$virginica$estimate,
                   kde(some$Petal.Length[46:75], h = 0.2, w = w[46:75], gridsize = 9)$estimate)
})

test_that("variables are found as in formulas", {
  unit <- 2
  logs <- kde(mtcars, ~ log(hp) + I(wt * unit), gridsize = 5)
  expect_identical(logs$names, c("log(hp)", "I(wt * unit)"))
  expect_equal(logs$estimate, kde(cbind(log(mtcars$hp), mtcars$wt * 2), gridsize = 5)$estimate)
  two <- kde(mtcars, ~ mpg | cyl + am, h = 2, gridsize = 5)
  expect_named(two$groups, c("cyl", "am"))
  expect_identical(names(two$estimates)[1:2], c("4, 0", "4, 1"))
  grouped <- kde(dplyr::group_by(mtcars[c("mpg", "cyl", "am")], cyl, am), h = 2, gridsize = 5)
  expect_equal(as.data.frame(grouped), as.data.frame(two))
  keys <- c("cyl", "am")
  expect_equal(as.data.frame(kde(mtcars, ~ mpg, .by = c(cyl, am), h = 2, gridsize = 5)), as.data.frame(two))
  # Names with commas are names of different groups, and columns may have any names.
  commas <- data.frame(x = c(1:3, 7:9), sep = rep(c("a, b", "a"), each = 3), collapse = rep(c("c", "b, c"), each = 3))
  by_commas <- kde(commas, ~ x | sep + collapse, h = 1, gridsize = 5)
  expect_identical(names(by_commas$estimates), c("a, \"b, c\"", "\"a, b\", c"))
  expect_identical(by_commas$n, c(3L, 3L))
  expect_equal(as.data.frame(kde(mtcars[c("mpg", keys)], .by = keys, h = 2, gridsize = 5)), as.data.frame(two))
  expect_s3_class(kde(mtcars$mpg, .by = NULL, gridsize = 5), "kestrel_kde")
})

test_that("bandwidths may be one for each group, or functions", {
  widths <- function(...) vapply(kde(some, ~ Petal.Length | Species, gridsize = 5, ...)$estimates, `[[`, 0, "h")
  expect_identical(unname(widths(h = 1:3)), c(1, 2, 3))
  expect_identical(unname(widths(h = list(1, 2, 3))), c(1, 2, 3))
  expect_equal(widths(h = function(x) hns(x)), vapply(split(some$Petal.Length, some$Species), hns, 0))
})

test_that("methods work by group", {
  by <- kde(some, ~ Petal.Length + Petal.Width | Species, gridsize = 9)
  at <- cbind(c(1.5, 4), c(0.2, 1.3))
  expect_identical(predict(by, at)[, "versicolor"], predict(by$estimates$versicolor, at))
  rows <- predict(by, some)
  own <- unlist(lapply(names(by$estimates), function(name) {
    predict(by$estimates[[name]], some[some$Species == name, 1:2])
  }))
  expect_equal(rows, own, tolerance = 1e-12)
  frame <- as.data.frame(by)
  expect_named(frame, c("Species", "Petal.Length", "Petal.Width", "estimate"))
  expect_identical(frame$estimate[82:162], as.vector(by$estimates$versicolor$estimate))
  # A row for each point of each group's own grid, in the order of the groups.
  tidied <- generics::tidy(by)
  expect_s3_class(tidied, "tbl_df")
  for (name in levels(some$Species)) {
    alone <- kde(some[some$Species == name, 1:2], gridsize = 9)
    rows_of <- tidied[tidied$Species == name, ]
    expect_identical(rows_of$Petal.Length, rep(alone$eval.points[[1L]], 9L))
    expect_identical(rows_of$Petal.Width, rep(alone$eval.points[[2L]], each = 9L))
    expect_identical(rows_of$estimate, as.vector(alone$estimate))
  }
  expect_identical(tidied$Species, rep(factor(levels(some$Species), levels(some$Species)), each = 81L))
  expect_identical(generics::glance(by)$nobs, c(20L, 25L, 30L))
  expect_identical(generics::glance(by)$h, unname(vapply(by$estimates, function(fhat) det(fhat$H)^(1 / 4), 0)))
  expect_identical(generics::augment(by)$.fitted, rows)
  expect_identical(nobs(by), 75L)
  expect_snapshot_output({
    shown(by)
    shown(kde(some, ~ Petal.Length | Species, h = 0.2))
  })
  expect_gt(drawn(plot(by)), 0)
  line <- ggplot2::layer_data(ggplot2::autoplot(kde(some, ~ Petal.Length | Species, h = 0.2, gridsize = 5)))
  expect_identical(line$y[1:5], kde(some$Petal.Length[1:20], h = 0.2, gridsize = 5)$estimate)
})

test_that("groups that are too small are named and left out", {
  few <- some[c(1:20, 21, 46:60), ]
  warned <- expect_warning(by <- kde(few, ~ Petal.Length + Petal.Width | Species), class = "kestrel_warning_groups")
  expect_named(by$estimates, c("setosa", "virginica"))
  expect_identical(by$left.out, "versicolor")
  empty <- expect_warning(kde(some[1:45, ], ~ Petal.Length | Species), class = "kestrel_warning_groups")
  expect_identical(length(kde(few, ~ Petal.Length + Petal.Width | Species, h = 1)$estimates), 3L)
  expect_snapshot_output(say(warned, empty))
})

test_that("formulas and groups that do not fit are refused", {
  constant <- data.frame(x = c(1, 1, 1, 2, 3, 4), g = rep(c("a", "b"), each = 3))
  gone <- data.frame(x = 1:4, g = c("a", NA, "b", "b"))
  by <- kde(some, ~ Petal.Length + Petal.Width | Species, gridsize = 5)
  expect_refused(
    kde(as.matrix(some[1:2]), ~ Petal.Length | Species),
    kde(some, Petal.Length ~ Petal.Width),
    kde(some, ~ height | Species),
    kde(some, ~ Species),
    kde(some, ~ mean(Petal.Length) | Species),
    kde(constant, ~ x | g),
    kde(gone, ~ x | g),
    kde(data.frame(x = 1:3, g = 1:3), ~ x | g),
    kde(some, ~ Petal.Length | Species, h = 1:2),
    kde(some, ~ Petal.Length | Species, w = 1:3),
    kde(some, ~ Petal.Length, .by = height),
    kde(some, ~ Petal.Length, .by = 4),
    kde(some, ~ Petal.Length | Species, .by = Species),
    kde(dplyr::group_by(some, Species), .by = Species),
    kde(some$Petal.Length, .by = "Species"),
    predict(by),
    predict(by, data.frame(Petal.Length = 1, Petal.Width = 1, Species = "rose")),
    predict(by, data.frame(Petal.Length = 1, Species = "setosa")),
    plot(kde(iris, ~ Sepal.Length + Petal.Length + Petal.Width | Species, h = 1, gridsize = 5)),
    print(replace(by, "n", list(1)))
  )
})
