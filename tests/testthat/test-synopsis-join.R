# kde_join().

orders <- with_seed(1, data.frame(id = ceiling(50 * rbeta(3000, 2, 4)), price = rexp(3000)))
visits <- with_seed(2, data.frame(of = ceiling(60 * rbeta(4000, 3, 3)), kind = sample(c("u", "v"), 4000, TRUE)))
true_size <- function(lower = 1, upper = 60) {
  keys <- seq(lower, upper)
  sum(tabulate(orders$id, 60)[keys] * as.numeric(tabulate(visits$of, 60)[keys]))
}

test_that("the size is the sum of the products of reflected densities at the keys", {
  x <- with_seed(3, kde_synopsis(orders, size = 40, H = diag(c(4, 1))))
  y <- with_seed(4, kde_synopsis(visits, size = 30, h = 3))
  rows_at <- function(s, k, h) {
    ends <- s$ranges[, 1] + c(-0.5, 0.5)
    w <- if (is.null(s$w)) rep(1, nrow(s$x)) else s$w
    of_images <- function(v) {
      images <- cbind(s$x[, 1], 2 * ends[1] - s$x[, 1], 2 * ends[2] - s$x[, 1])
      sum(w * rowSums(dnorm((v - images) / h))) / (nrow(s$x) * h)
    }
    s$N * ifelse(k > ends[1] & k < ends[2], vapply(k, of_images, 0), 0)
  }
  # images of images are beyond reach
  expected <- function(keys) sum(rows_at(x, keys, 2) * rows_at(y, keys, 3))
  keys <- seq(max(x$ranges[1, 1], y$ranges[1, 1]), min(x$ranges[2, 1], y$ranges[2, 1]))
  found <- kde_join(x, y, c("id", "of"))
  expect_equal(found$count, expected(keys), tolerance = 1e-10)
  parts <- kde_join(x, y, c("id", "of"), lower = c(5, 20, 61, 20), upper = c(9, 20, 99, Inf))
  expect_equal(parts$count, c(expected(5:9), expected(20), 0, expected(keys[keys >= 20])), tolerance = 1e-10)
  expect_identical(unlist(parts[3, ], use.names = FALSE), c(0, 0, 0))
  expect_equal(kde_join(y, x, c("of", "id")), found)
  # smoothing by the root of 2 more, and half a quantile for each standard error
  wide <- kde_join(x, y, c("id", "of"), level = 0.99)
  bias <- abs(sum(rows_at(x, keys, sqrt(8)) * rows_at(y, keys, sqrt(18))) - expected(keys))
  half <- c(found$upper, wide$upper) - found$count - bias
  expect_equal(half[2] / half[1], qnorm(0.995) / qnorm(0.975), tolerance = 1e-8)
})

test_that("intervals hold the true size", {
  held <- with_seed(5, replicate(40, {
    x <- kde_synopsis(orders$id[sample(3000)], size = 150, h = 1.5)
    y <- kde_synopsis(visits$of[sample(4000)], size = 150, h = 2)
    found <- kde_join(x, y, "x", level = 0.9)
    c(found$lower <= true_size() && true_size() <= found$upper, found$count / true_size())
  }))
  expect_gt(mean(held[1, ]), 0.85)
  expect_lt(abs(mean(held[2, ]) - 1), 0.05)
})

test_that("dates, steps of other lengths, and many keys", {
  days <- function(seed) {
    with_seed(seed, kde_synopsis(data.frame(day = as.Date("2020-01-01") + sample(0:99, 500, TRUE)), size = 100, h = 20))
  }
  found <- kde_join(days(6), days(7), "day")
  expect_equal(found$count, 500 * 500 / 100, tolerance = 0.05)
  # uniform keys: N M / keys, by the midpoint rule when they are many
  many <- function(seed) with_seed(seed, kde_synopsis(c(0, runif(1e4), 1), size = 500, h = 0.2))
  expect_equal(kde_join(many(8), many(9), "x", spacing = 1e-7)$count, 10002^2 * 1e-7, tolerance = 0.02)
})

test_that("what kde_join() refuses", {
  x <- with_seed(3, kde_synopsis(orders, size = 40, h = 1))
  y <- with_seed(4, kde_synopsis(visits, size = 30, h = 3))
  day <- kde_synopsis(data.frame(id = as.Date("2020-01-01") + 0:9), h = 1)
  expect_snapshot(error = TRUE, {
    kde_join(x, 3, "id")
    kde_join(x, y, "id")
    kde_join(x, y, c("id", "kind"))
    kde_join(x, y)
    kde_join(x, day, "id")
    kde_join(x, kde_synopsis(visits, size = 30, kernel = "uniform"), c("id", "of"))
    kde_join(x, x, "id", lower = 3, upper = 2)
    kde_join(x, x, "id", spacing = 0)
    kde_join(x, x, "id", step = 1)
  })
})
