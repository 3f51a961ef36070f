# The examples on np's help pages of npreg, npregbw, np.plot, gradients and se, and of its page of questions, with other
# data of the same form, since np's are in np. What differs is in vignettes/coming-from-ks-and-np.Rmd.

help_values <- utils::read.csv(test_path("fixtures", "np_help.csv"), colClasses = "character")
here <- list2env(np_help_data(), parent = environment())

test_that("statements of np's help pages give np's numbers", {
  numbers <- function(text) as.numeric(strsplit(text, " ")[[1]])
  for (call in unique(help_values$call)) {
    rows <- help_values[help_values$call == call, ]
    suppressMessages(drawn(value <- eval(str2lang(call), here)))
    # Bandwidths that are searched for are right to the accuracy of np's search, which is 1e-4, and with them the rest.
    tolerance <- if (grepl("bws = (c\\()?[0-9.]+", call)) 1e-10 else 1e-4
    for (k in seq_len(nrow(rows))) {
      part <- eval(str2lang(paste0("value", rows$part[k])))
      ours <- as.numeric(unlist(part))[numbers(rows$entries[k])]
      expect_equal(ours, numbers(rows$values[k]), tolerance = tolerance, info = paste(call, rows$part[k]))
    }
  }
  expect_identical(length(unique(help_values$call)), 28L)
})

test_that("objectives of np's help pages are no higher than np's", {
  rows <- help_values[help_values$part == "$fval", ]
  for (k in seq_len(nrow(rows))) {
    theirs <- as.numeric(rows$values[k])
    expect_lte(eval(str2lang(rows$call[k]), here)$fval, theirs + 1e-9 * abs(theirs))
  }
})

test_that("what the pages do with the results works", {
  attach(np_help_data(), name = "np_help", warn.conflicts = FALSE)
  on.exit(detach("np_help"))
  for (bw in list(npregbw(logwage ~ age, regtype = "ll", bwmethod = "cv.aic"),
                  npregbw(xdat = age, ydat = logwage, regtype = "ll", bwmethod = "cv.aic"))) {
    model <- npreg(bws = bw, gradients = TRUE)
    expect_output(print(summary(model)), "R-squared")
    expect_gt(drawn({
      plot(bw, plot.errors.method = "asymptotic")
      graphics::points(age, logwage, cex = .2, col = "red")
      plot(bw, plot.errors.method = "asymptotic", gradient = TRUE)
      plot(bw)
      npplot(bws = bw)
    }), 10)
    suppressMessages(drawn({
      plot.out <- plot(bw, perspective = FALSE, plot.errors.method = "bootstrap", plot.errors.boot.num = 25,
                       plot.behavior = "plot-data")
      grad.out <- plot(bw, perspective = FALSE, plot.errors.method = "bootstrap", plot.errors.boot.num = 25,
                       plot.behavior = "plot-data", gradients = TRUE)
    }))
    lower <- fitted(plot.out$r1) + se(plot.out$r1)[, 1]
    expect_identical(dim(cbind(lower, se(plot.out$r1), plot.out$r1$eval[, 1])), c(50L, 4L))
    expect_identical(dim(cbind(gradients(grad.out$rg1), gradients(grad.out$rg1, errors = TRUE))), c(50L, 3L))
    expect_identical(fitted(grad.out$rg1), fitted(plot.out$r1))
  }
  for (bw in list(npregbw(formula = gdp ~ year, bws = c(1.06), bandwidth.compute = FALSE, bwscaling = TRUE),
                  npregbw(xdat = year, ydat = gdp, bws = c(1.06), bandwidth.compute = FALSE, bwscaling = TRUE))) {
    expect_output(print(summary(bw)), "scale factor +1.06")
  }
  # "Restart search with default tolerances using those bandwidths."
  rough <- suppressMessages(npregbw(logwage ~ age, ftol = .01, tol = .01))
  expect_identical(npregbw(logwage ~ age, bws = rough)$bw, npregbw(logwage ~ age)$bw)
})

test_that("the examples of several regressors run", {
  # np cuts the distances of the doses, 0.5, 1 and 2, to whole numbers.
  by_formula <- npregbw(formula = len ~ factor(supp) + ordered(dose), ToothGrowth)
  frame <- data.frame(supp = factor(ToothGrowth$supp), dose = ordered(ToothGrowth$dose))
  expect_identical(npregbw(frame, ToothGrowth$len)$bw, by_formula$bw)
  expect_lt(by_formula$fval, 28.9807266925)
  # np ends in another minimum.
  expect_lt(suppressMessages(npregbw(mpg ~ wt + hp, mtcars, regtype = "ll", bwmethod = "cv.aic"))$fval, 2.9435426019)
  expect_identical(suppressMessages(npreg(xdat = mtcars[c("wt", "hp")], ydat = mtcars$mpg))$mean,
                   suppressMessages(npreg(mpg ~ wt + hp, mtcars))$mean)
})
