# What npregbw() says of bandwidths that few observations decide, and of those below the step of tied data.

test_that("an observation that decides the bandwidth is named", {
  data <- with_seed(71, data.frame(a = round(runif(400), 3)))
  data$y <- with_seed(72, sin(12 * data$a) + rnorm(400, sd = 0.1))
  # One far from all others, beside a row that is left out.
  data <- rbind(data[1:100, ], NA, data.frame(a = 1.5, y = 0), data[101:400, ])
  expect_snapshot({
    bw <- npregbw(y ~ a, data, na.action = na.omit)
    bw$remarks
    few <- npregbw(y ~ a, rbind(data, data.frame(a = 2.2, y = 0)), na.action = na.omit)
  })
  expect_message(excluded <- quietly(npregbw(y ~ a, data, na.action = na.omit, unsupported = "exclude")), NA)
  expect_lt(excluded$bw, bw$bw)
  expect_identical(excluded$remarks, character(0))
  expect_snapshot_output(shown(bw))
  # A single bandwidth is the user's own decision, and without the observation there is none.
  expect_message(quietly(npregbw(y ~ a, data[-102, ], na.action = na.omit)), NA)
  expect_silent(npregbw(data$a[1:100], data$y[1:100], bws = 0.1))
})

test_that("a minimum that does not reach from one value of x to the next is named", {
  x <- rep(1:20, each = 20)
  y <- with_seed(73, rnorm(20)[x] + rnorm(400, sd = 0.02))
  expect_snapshot({
    compact <- npregbw(x, y, nbw = 100)
    gaussian <- quietly(npregbw(x, y, nbw = 100, ckertype = "gaussian"))
  })
  smooth <- with_seed(74, x / 10 + rnorm(400))
  expect_silent(npregbw(x, smooth))
})
