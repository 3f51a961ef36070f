# What npregbw() says of bandwidths that few observations decide, and of those below the step of tied data.

test_that("an observation that decides the bandwidth is named", {
  data <- with_seed(71, data.frame(a = round(runif(400), 3)))
  data$y <- with_seed(72, sin(12 * data$a) + rnorm(400, sd = 0.1))
  # One far from all others, beside a row that is left out.
  data <- rbind(data[1:100, ], NA, data.frame(a = 1.5, y = 0), data[101:400, ])
  on_grid <- function(data, ...) {
    suppressWarnings(npregbw(y ~ a, data, nbw = 50, ckertype = "epanechnikov", bw.scale = "support", ...))
  }
  expect_snapshot({
    bw <- on_grid(data)
    bw$remarks
    few <- on_grid(rbind(data, data.frame(a = 2.2, y = 0)))
    global <- npregbw(y ~ a, data)
  })
  expect_message(excluded <- on_grid(data[-101, ], unsupported = "exclude"), NA)
  expect_lt(excluded$bw, bw$bw)
  expect_identical(excluded$remarks, character(0))
  expect_snapshot_output(shown(bw))
  # A single bandwidth is the user's own decision, and without the observation there is none.
  expect_silent(npregbw(y ~ a, data[-(101:102), ]))
  expect_silent(npregbw(data$a[1:100], data$y[1:100], bws = 0.1, bandwidth.compute = FALSE))
})

test_that("a minimum that does not reach from one value of x to the next is named", {
  x <- rep(1:20, each = 20)
  y <- with_seed(73, rnorm(20)[x] + rnorm(400, sd = 0.02))
  expect_snapshot({
    compact <- npregbw(x, y, nbw = 100, ckertype = "epanechnikov", bw.scale = "support")
    gaussian <- npregbw(x, y)
  })
  smooth <- with_seed(74, x / 10 + rnorm(400))
  expect_silent(npregbw(x, smooth))
})

test_that("a minimum at infinity is found and named: the mean, or the straight line", {
  x <- 1:60 / 7
  noise <- with_seed(75, rnorm(60))
  expect_snapshot({
    mean <- npregbw(x, noise)
    line <- npregbw(x, x + noise, regtype = "ll", bwmethod = "cv.aic", ckertype = "biweight")
    constant <- npregbw(x, rep(2, 60))
  })
  expect_gt(drawn(plot(line, what = "cv")), 5)
  expect_close_to_reference(npreg(mean)$mean, rep(mean(noise), 60))
  expect_close_to_reference(npreg(line)$mean, unname(fitted(lm(x + noise ~ x))))
  expect_close_to_reference(mean$fval, mean((noise - mean(noise))^2) * (60 / 59)^2)
})

test_that("a search survives that tries a bandwidth twice", {
  expect_identical(vertex_of(c(1, 1, 2), c(3, 3, 4)), NA_real_)
  expect_equal(vertex_of(c(1, 2, 3), c(2, 1, 2)), 2)
})
