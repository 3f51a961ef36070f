# Conditional densities beside np 0.60 (np_density.csv) and the oracle of helper-mixed-density.R.

np_conditional <- utils::read.csv(test_path("fixtures", "np_density.csv"), colClasses = c(
  bw = "character", rows = "character", fitted = "character"
))
np_conditional <- np_conditional[grepl("^npcdens", np_conditional$set), ]
numbers_of_text <- function(text) as.numeric(strsplit(text, ";")[[1]])
cylinders <- data.frame(cyl = factor(datasets::mtcars$cyl), wt = datasets::mtcars$wt)
conditional_data <- function(row) if (grepl("cyl", row$set)) cylinders else datasets::faithful

test_that("np's objectives and conditional densities are the oracle's", {
  for (k in which(np_conditional$method != "normal-reference")) {
    row <- np_conditional[k, ]
    frame <- conditional_data(row)
    order <- mixed_order(frame)
    columns <- c(order$continuous, order$unordered)
    bw <- numbers_of_text(row$bw)
    task <- list(h = bw[order$continuous], lambda = bw[order$unordered], ckertype = "gaussian", ckerorder = 2L,
                 ukertype = "aitchisonaitken", okertype = "liracine", method = row$method)
    data <- mixed_data(frame, numeric(nrow(frame)))
    given <- columns == 2
    expect_equal(-density_objective(data, task, given)$value, row$fval, tolerance = 1e-9, info = row$set)
    fit <- density_fit(data, task, given = given)$density
    expect_equal(fit[numbers_of_text(row$rows)], numbers_of_text(row$fitted), tolerance = 1e-9, info = row$set)
  }
})

test_that("a likelihood has a maximum near the splitting factor, and it is found", {
  # np 0.60, commit 75fba133: npcdensbw(y ~ x + z, nmulti = 1)$fval is -192.0780 at 0.2253, 0.1755, 0.00692; where z
  # splits the data another maximum is -193.67.
  set.seed(1)
  data <- data.frame(x = rnorm(500), z = factor(sample(letters[1:3], 500, TRUE)))
  data$y <- sin(data$x) + as.integer(data$z) * 0.3 + rnorm(500) * 0.3
  bw <- npcdensbw(y ~ x + z, data, nmulti = 1)
  expect_gt(bw$fval, -192.07805)
  expect_equal(c(bw$ybw, bw$xbw), c(0.2253352, 0.1755246, 0.006921529), tolerance = 1e-3)
})

test_that("objectives are no worse than np's, with np's bandwidths where np found the same maximum", {
  for (k in seq_len(nrow(np_conditional))) {
    row <- np_conditional[k, ]
    # cv.ls of tied data has no largest value.
    if (row$method == "cv.ls" && row$set == "npcdens eruptions|waiting") next
    frame <- conditional_data(row)
    bw <- npcdensbw(xdat = frame[2], ydat = frame[1], bwmethod = row$method)
    of <- numbers_of_text(row$bw)
    found <- c(bw$ybw, bw$xbw)
    if (row$method == "normal-reference") {
      expect_equal(found, of, tolerance = 1e-10)
      next
    }
    expect_gte(bw$fval, row$fval - 1e-9 * abs(row$fval))
    inside <- found > 1e-5
    expect_equal(found[inside], of[inside], tolerance = 2e-4, info = row$set)
  }
})

test_that("conditional densities at np's bandwidths are np's, and so are their likelihoods", {
  for (k in seq_len(nrow(np_conditional))) {
    row <- np_conditional[k, ]
    frame <- conditional_data(row)
    fit <- npcdens(bws = numbers_of_text(row$bw), txdat = frame[2], tydat = frame[1])
    expect_equal(fit$condens[numbers_of_text(row$rows)], numbers_of_text(row$fitted), tolerance = 1e-9)
    expect_equal(fit$log_likelihood, row$loglik, tolerance = 1e-9)
  }
})

test_that("a conditional density is a ratio of densities, and integrates to one", {
  fit <- npcdens(bws = c(0.3, 5), txdat = faithful$waiting, tydat = faithful$eruptions)
  joint <- npudens(bws = c(0.3, 5), tdat = faithful)$dens
  below <- npudens(bws = 5, tdat = faithful$waiting)$dens
  expect_equal(fit$condens, joint / below, tolerance = 1e-12)
  y <- seq(-1, 8, by = 0.01)
  at <- predict(fit, exdat = rep(70, length(y)), eydat = y)
  expect_equal(sum(at) * 0.01, 1, tolerance = 1e-6)
  levels <- npcdens(bws = c(0.2, 0.4), txdat = cylinders$wt, tydat = cylinders$cyl)
  three <- predict(levels, exdat = rep(3, 3), eydat = factor(c(4, 6, 8)))
  expect_equal(sum(three), 1, tolerance = 1e-12)
})

test_that("gradients are differences, and effects those of levels", {
  frame <- transform(datasets::mtcars, cyl = factor(cyl), gear = ordered(gear), am = factor(am))
  bw <- npcdensbw(mpg ~ wt + am + gear, data = frame, bws = c(2, 0.5, 0.2, 0.3), bandwidth.compute = FALSE)
  fit <- npcdens(bw, gradients = TRUE)
  x <- frame[c("wt", "am", "gear")]
  at <- function(x) predict(fit, exdat = x, eydat = frame["mpg"])
  step <- 1e-4
  slope <- (at(transform(x, wt = wt + step)) - at(transform(x, wt = wt - step))) / (2 * step)
  expect_equal(fit$congrad[, 1], slope, tolerance = 1e-6)
  expect_equal(fit$congrad[, 2], at(x) - at(transform(x, am = factor(rep("0", 32), c("0", "1")))), tolerance = 1e-12)
  lower <- transform(x, gear = ordered(ifelse(gear == "5", 4, ifelse(gear == "4", 3, 4)), 3:5))
  expect_equal(fit$congrad[, 3], (at(x) - at(lower)) * ifelse(x$gear == "3", -1, 1), tolerance = 1e-12)
  expect_identical(gradients(fit), fit$congrad)
  expect_identical(gradients(npcdens(bw), errors = TRUE), fit$congerr)
})

test_that("standard errors of densities and gradients are those of a simulation", {
  # 300 samples: the standard error of a standard deviation is 4 %.
  found <- with_seed(20261128, t(replicate(300, {
    x <- stats::rnorm(150)
    y <- x + stats::rnorm(150)
    fit <- npcdens(bws = c(0.5, 0.4), txdat = x, tydat = y, exdat = 0.5, eydat = 1, gradients = TRUE)
    c(fit$condens, fit$conderr, fit$congrad, fit$congerr)
  })))
  expect_equal(mean(found[, 2]), stats::sd(found[, 1]), tolerance = 0.15)
  expect_equal(mean(found[, 4]), stats::sd(found[, 3]), tolerance = 0.15)
})

test_that("a variable that does not matter is smoothed out, and the density is that without it", {
  frame <- with_seed(20261129, data.frame(y = stats::rnorm(80), x = stats::rnorm(80),
                                          z = factor(sample(c("a", "b"), 80, TRUE))))
  frame$y <- frame$y + 2 * frame$x
  expect_message(bw <- npcdensbw(y ~ x + z, data = frame), class = "kestrel_message")
  expect_equal(bw$xbw[2], 0.5)
  one <- npcdensbw(y ~ x, data = frame)
  expect_equal(c(bw$ybw, bw$xbw[1]), c(one$ybw, one$xbw), tolerance = 1e-4)
  expect_equal(bw$fval, one$fval, tolerance = 1e-8)
})

test_that("formulas, edited objects, scales and other data are the same densities", {
  bw <- npcdensbw(eruptions ~ waiting, data = faithful)
  expect_equal(npcdens(eruptions ~ waiting, faithful)$condens, npcdens(bw)$condens)
  scaled <- npcdensbw(eruptions ~ waiting, data = faithful, bwscaling = TRUE)
  expect_equal(c(scaled$bandwidth$y, scaled$bandwidth$x), c(bw$ybw, bw$xbw), tolerance = 1e-4)
  expect_equal(npcdens(scaled)$condens, npcdens(bw)$condens, tolerance = 1e-4)
  edited <- bw
  edited$xbw <- 9
  expect_equal(npcdens(edited)$condens,
               npcdens(bws = c(bw$ybw, 9), txdat = faithful$waiting, tydat = faithful$eruptions)$condens)
  expect_equal(npcdens(bw, txdat = faithful[1:9, "waiting"], tydat = faithful[1:9, "eruptions"])$ntrain, 9)
  two <- npcdens(mpg + hp ~ factor(cyl), data = mtcars, bws = c(2, 30, 0.2))
  expect_identical(two$ynames, c("mpg", "hp"))
  expect_equal(predict(two, data.frame(mpg = 20, hp = 100, cyl = 4)),
               predict(two, exdat = factor(4, c(4, 6, 8)), eydat = data.frame(mpg = 20, hp = 100)))
  all <- npcdensbw(mpg ~ ., data = mtcars[c("mpg", "wt", "hp")], bws = c(2, 0.5, 30), bandwidth.compute = FALSE)
  expect_identical(all$xnames, c("wt", "hp"))
  expect_equal(formula(two), mpg + hp ~ factor(cyl), ignore_attr = TRUE)
  expect_identical(nobs(two), 32L)
  expect_named(as.data.frame(two), c("mpg", "hp", "factor(cyl)", "condens", "conderr"))
  expect_identical(npcdensbw(eruptions ~ waiting, faithful, bws = bw, bandwidth.compute = FALSE)$xbw, bw$xbw)
})

test_that("points without neighbours and missing values are NA", {
  fit <- npcdens(bws = c(0.3, 5), txdat = faithful$waiting, tydat = faithful$eruptions, cxkertype = "epanechnikov",
                 cykertype = "epanechnikov")
  expect_warning(at <- predict(fit, exdat = c(70, 1000, NA), eydat = c(3, 3, 3)), class = "kestrel_warning_support")
  expect_identical(is.na(at), c(FALSE, TRUE, TRUE))
  frame <- cylinders
  frame$wt[3] <- NA
  excluded <- suppressMessages(npcdens(cyl ~ wt, frame, na.action = stats::na.exclude))
  expect_length(fitted(excluded), 32)
  expect_identical(which(is.na(se(excluded))), 3L)
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    fit <- npcdens(cyl ~ wt, data = cylinders, nmulti = 1)
    shown(fit)
    shown(summary(fit))
    shown(fit$bws)
    shown(summary(fit$bws))
    shown(npcdens(bws = c(0.3, 4), txdat = faithful[2], tydat = faithful[1], exdat = c(60, 70), eydat = c(2, 3)))
  })
  frame <- with_seed(20261129, data.frame(y = stats::rnorm(60), z = factor(sample(c("a", "b"), 60, TRUE))))
  expect_snapshot_output(say(
    expect_message(npcdensbw(y ~ z, data = frame), class = "kestrel_message"),
    expect_warning(predict(fit, exdat = 1e9, eydat = factor(4)), class = "kestrel_warning_support")
  ))
})

test_that("mistakes are refused", {
  bw <- npcdensbw(eruptions ~ waiting, data = faithful)
  expect_refused(
    npcdensbw(~ eruptions, data = faithful), npcdensbw(eruptions ~ 1, data = faithful),
    npcdensbw(eruptions ~ eruptions, data = faithful), npcdensbw(xdat = 1:5), npcdensbw(xdat = 1:5, ydat = 1:4),
    npcdensbw(xdat = 1:5, ydat = 1:5, bws = 1), npcdensbw(xdat = 1:5, ydat = 1:5, cxkertype = "epanechnikov"),
    npcdensbw(xdat = 1:5, ydat = 1:5, cykerorder = 3), npcdensbw(xdat = 1:5, ydat = 1:5, uykertype = "gaussian"),
    npcdensbw(xdat = 1:5, ydat = 1:5, bwmethod = "cv.ls.np"), npcdensbw(xdat = 1:5, ydat = 1:5, ckertype = "uniform"),
    npcdens(bws = c(1, 1)), npcdens(bw, txdat = 1:5), npcdens(bw, exdat = 1), npcdens(bw, exdat = 1:2, eydat = 1),
    npcdens(bw, newdata = faithful, exdat = 1), npcdens(bw, cxkertype = "uniform"), npcdens(bw, gradients = 2),
    npcdens(structure(list(), class = c("kestrel_condensbw", "kestrel_densbw"))),
    npcdens(replace(bw, "xbw", list(-1))), predict(npcdens(bw), edat = 1)
  )
})

test_that("plots show conditional densities along each variable, or a surface, and return them", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fit <- npcdens(cyl ~ wt, data = cylinders)
  expect_identical(plot(fit), fit)
  data <- plot(fit, plot.behavior = "data", neval = 7)
  expect_named(data, c("cd1", "cd2"))
  expect_length(data$cd2$condens, 7)
  surface <- plot(npcdensbw(eruptions ~ waiting, data = faithful), plot.behavior = "plot-data", neval = 5)
  expect_length(surface$cd1$condens, 25)
})
