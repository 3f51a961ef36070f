# Conditional modes beside np 0.60, and from densities.

test_that("modes, their probabilities and measures are np's", {
  expect_np_values("npconmode")
})

mode_cars <- semiparametric_data()$mt
mode_bw <- npcdensbw(cyl ~ wt + am, data = mode_cars, bws = c(0.1, 0.4, 0.3), bandwidth.compute = FALSE)

test_that("probabilities are densities, and modes the largest", {
  mode <- npconmode(mode_bw)
  for (level in levels(mode_cars$cyl)) {
    at <- npcdens(mode_bw, exdat = mode_cars[c("wt", "am")], eydat = factor(rep(level, 32), levels(mode_cars$cyl)))
    expect_equal(mode$probabilities[, level], at$condens)
    expect_equal(mode$conderr[mode$conmode == level], at$conderr[mode$conmode == level])
  }
  expect_identical(as.integer(mode$conmode), max.col(mode$probabilities))
  expect_equal(rowSums(mode$probabilities), rep(1, 32))
  expect_identical(fitted(mode), mode$condens)
  # Pagan & Ullah (1999): the sum of the diagonal minus the squares of the rest.
  share <- table(mode_cars$cyl, mode$conmode) / 32
  expect_equal(mode$fit.mcfadden, sum(diag(share)) - sum(share^2) + sum(diag(share)^2))
})

test_that("formulas, densities, data and points are taken alike", {
  mode <- npconmode(mode_bw)
  expect_identical(npconmode(npcdens(mode_bw))$condens, mode$condens)
  expect_identical(npconmode(c(0.1, 0.4, 0.3), mode_cars[c("wt", "am")], mode_cars$cyl)$condens, mode$condens)
  expect_identical(npconmode(mode_bw, mode_cars[1:20, c("wt", "am")], mode_cars$cyl[1:20])$ntrain, 20L)
  expect_equal(npconmode(cyl ~ wt, mode_cars, nmulti = 1)$xbw, npcdensbw(cyl ~ wt, mode_cars, nmulti = 1)$xbw)
  at <- npconmode(mode_bw, newdata = mode_cars[1:5, ])
  expect_equal(at$condens, mode$condens[1:5])
  expect_identical(at$CCR.overall, mean(mode$conmode[1:5] == mode_cars$cyl[1:5]))
  expect_identical(npconmode(mode_bw, newdata = mode_cars[1:5, c("am", "wt")])$CCR.overall, NA)
  given <- npconmode(mode_bw, exdat = mode_cars[1:5, c("wt", "am")], eydat = mode_cars$cyl[1:5])
  expect_identical(given$confusion.matrix, at$confusion.matrix)
  expect_equal(predict(mode, mode_cars[1:5, ]), mode$conmode[1:5])
  expect_equal(predict(mode, exdat = mode_cars[1:5, c("wt", "am")], type = "prob"), mode$probabilities[1:5, ])
  logs <- npconmode(factor(cyl) ~ log(wt), mtcars, nmulti = 1)
  expect_equal(predict(logs, mtcars[1:3, ]), logs$conmode[1:3])
})

test_that("missing values and points without observations have no mode", {
  frame <- mode_cars
  frame$wt[3] <- NA
  bw <- suppressMessages(npcdensbw(cyl ~ wt, data = frame, bws = c(0.1, 0.4), bandwidth.compute = FALSE,
                                   cxkertype = "uniform", cykertype = "uniform", na.action = stats::na.exclude))
  mode <- npconmode(bw)
  expect_identical(which(is.na(predict(mode))), 3L)
  expect_length(fitted(mode), 32)
  expect_warning(at <- predict(mode, data.frame(wt = c(2, NA, 50))), class = "kestrel_warning_support")
  expect_identical(is.na(at), c(FALSE, TRUE, TRUE))
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    mode <- npconmode(mode_bw)
    shown(mode)
    shown(summary(mode))
    shown(summary(npconmode(mode_bw, newdata = mode_cars[1:5, ])))
    shown(summary(npconmode(mode_bw, newdata = mode_cars[1:5, c("wt", "am")])))
  })
  uniform <- npcdensbw(cyl ~ wt, data = mode_cars, bws = c(0.1, 0.4), bandwidth.compute = FALSE, cxkertype = "uniform",
                       cykertype = "uniform")
  expect_snapshot_output(say(expect_warning(npconmode(uniform, exdat = 99), class = "kestrel_warning_support")))
})

test_that("mistakes are refused", {
  expect_refused(
    npconmode(), npconmode(1), npconmode("a", 1:3, factor(1:3)), npconmode(c(1, 1), 1:9, 1:9),
    npconmode(npcdensbw(eruptions ~ waiting, faithful)), npconmode(mode_bw, eydat = 1), npconmode(mode_bw, txdat = 1),
    npconmode(mode_bw, newdata = mode_cars, exdat = mode_cars), npconmode(mode_bw, newdata = mode_cars["am"]),
    npconmode(mode_bw, exdat = mode_cars[1:2, c("wt", "am")], eydat = mode_cars$cyl[1:3]),
    npconmode(mode_bw, bandwidth = 1), predict(npconmode(mode_bw), type = "mode"),
    print(structure(list(), class = "kestrel_conmode"))
  )
})
