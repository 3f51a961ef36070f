# Conditions of kde_query() with labels, |, ! and dates, and intervals of sums, means, variances and quantiles.

# All rows of a table are kept, and kernels are so narrow that each is on one side of all limits. Counts are then those
# of the rows.
points_table <- with_seed(1, data.frame(
  a = sample(0:9, 80, TRUE), b = sample(0:9, 80, TRUE), day = as.Date("2020-01-01") + sample(0:9, 80, TRUE),
  at = as.POSIXct("2020-01-01", tz = "UTC") + 3600 * sample(0:48, 80, TRUE),
  kind = sample(c("u", "v", "w"), 80, TRUE), flag = sample(c(TRUE, FALSE), 80, TRUE)
))
points_synopsis <- kde_synopsis(points_table, h = 1e-3)
between <- function(x, low, high) x >= low & x <= high

# A random condition of the grammar, whose limits are between values.
random_condition <- function(depth) {
  if (depth > 0 && runif(1) < 0.8) {
    if (runif(1) < 0.25) return(bquote(!.(random_condition(depth - 1))))
    join <- as.name(sample(c("&", "|", "&&", "||")[1:2], 1))
    return(as.call(list(join, random_condition(depth - 1), random_condition(depth - 1))))
  }
  cut <- function() sample(0:9, 1) + 0.5
  switch(sample(6, 1), bquote(a < .(cut())), bquote(.(cut()) <= b), bquote(between(b, .(cut()), .(cut() + 3))),
         bquote(kind %in% .(sample(c("u", "v", "w"), 2))), bquote(kind != .(sample(c("u", "v"), 1))), quote(flag))
}

test_that("conditions hold the rows that R finds", {
  conditions <- with_seed(2, replicate(100, random_condition(3)))
  problems <- lapply(conditions, function(condition) {
    truth <- with(points_table, eval(condition))
    if (!any(truth)) return() # some exclude themselves
    for (fun in list(NULL, quote(sum(a)), quote(mean(a)), quote(var(a)))) {
      answer <- eval(as.call(c(quote(kde_query), quote(points_synopsis), condition, fun)))
      inside <- points_table$a[truth]
      expected <- if (is.null(fun)) sum(truth) else
        switch(as.character(fun[[1]]), sum = sum(inside), mean = mean(inside), var = mean((inside - mean(inside))^2))
      wrong <- abs(answer[[1]] - expected) > 1e-5 || answer$lower > expected + 1e-5 || answer$upper < expected - 1e-5
      if (wrong) return(paste(deparse(condition), deparse(fun), answer[[1]], expected, collapse = " "))
    }
  })
  expect_no_problem(problems)
})

test_that("dates, times, flags and vectors of limits", {
  s <- points_synopsis
  count <- function(...) kde_query(s, ...)$count
  day <- as.Date("2020-01-04")
  rows <- function(...) sum(with(points_table, ...))
  expect_equal(count(day > "2020-01-04"), rows(day > as.Date("2020-01-04")) + rows(day == as.Date("2020-01-04")) * 0.5)
  expect_equal(count(day <= as.Date("2020-01-04") - 0.5), rows(day < as.Date("2020-01-04")))
  expect_equal(count(at > as.POSIXct("2020-01-02 12:30:00", tz = "UTC")),
               rows(at > as.POSIXct("2020-01-02 12:30:00", tz = "UTC")))
  expect_equal(count(at < "2020-01-02 00:30:00"), rows(at < as.POSIXct("2020-01-02 00:30:00", tz = "UTC")))
  u <- factor("u")
  expect_equal(count(flag == TRUE & kind == u), rows(flag & kind == "u"))
  expect_equal(count(!flag), rows(!flag))
  several <- count(a < c(2.5, 4.5) | kind == "u")
  expect_equal(several, c(rows(a < 2.5 | kind == "u"), rows(a < 4.5 | kind == "u")))
  limits <- list(of = list(low = 2.5))
  expect_equal(count(a > limits$of[["low"]]), rows(a > 2.5))
  expect_equal(count(a > c(-1, 1)[2] * 5 / 2), rows(a > 2.5))
  expect_equal(count(a < 3.5 | a >= 3.5), 80)
  # functions of the same name elsewhere are not called
  c <- function(...) stop("called")
  expect_equal(count(a > c(2.5)), rows(a > 2.5))
})

test_that("counts of categories are exact, and bound others", {
  table <- with_seed(3, data.frame(x = rnorm(3000), kind = sample(letters[1:4], 3000, TRUE, c(0.6, 0.3, 0.0995, 5e-4)),
                                   flag = runif(3000) < 0.3))
  s <- with_seed(4, kde_synopsis(table, size = 100))
  expect_identical(unlist(kde_query(s, kind == "b"), use.names = FALSE), rep(as.numeric(sum(table$kind == "b")), 3))
  expect_identical(kde_query(s, kind %in% c("a", "d") | kind == "b")$count, as.numeric(sum(table$kind != "c")))
  expect_identical(kde_query(s, kind != "d", N = 6000)$upper, 2 * sum(table$kind != "d"))
  expect_lte(kde_query(s, kind == "d" & x < 10)$upper, sum(table$kind == "d"))
  answer <- kde_query(s, kind == "a" & flag & x < 0.3)
  truth <- sum(table$kind == "a" & table$flag & table$x < 0.3)
  expect_true(answer$lower <= truth && truth <= answer$upper)
  # labels and boxes add up
  parts <- c(kde_query(s, kind == "a" & x < 0)$count, kde_query(s, kind != "a" & x < 0)$count)
  expect_equal(sum(parts), kde_query(s, x < 0)$count, tolerance = 1e-12)
})

test_that("quantiles are those of the density in the box", {
  x <- with_seed(5, rnorm(40))
  fhat <- kde(x, h = 0.4)
  expect_equal(kde_query(fhat, -Inf, Inf, "quantile", "x", prob = 0.3)$quantile, qkde(0.3, fhat), tolerance = 1e-9)
  middle <- kde_query(fhat, x > -1 & x < 1, median(x))$quantile
  expect_equal(pkde(middle, fhat), mean(pkde(c(-1, 1), fhat)), tolerance = 1e-9)
  several <- kde_query(fhat, x > c(0, 1), quantile(x, 1 / 2 + 1 / 4))$quantile
  expect_equal(pkde(several, fhat), 0.25 * pkde(c(0, 1), fhat) + 0.75, tolerance = 1e-9)
  expect_identical(kde_query(kde(x, h = 0.4, kernel = "uniform"), 50, 60, "quantile", "x")$quantile, NA_real_)
})

test_that("intervals of means, sums, variances and quantiles hold at about their level", {
  table <- with_seed(6, data.frame(x = rexp(2000), y = rnorm(2000)))
  inside <- table$x[table$x > 0.5 & table$y < 1]
  truth <- c(mean = mean(inside), sum = sum(inside), var = var(inside), quantile = median(inside))
  held <- with_seed(7, replicate(60, {
    rows <- sample(2000, 150)
    fhat <- kde(as.matrix(table[rows, ]), H = diag(c(0.01, 0.01)), eval.points = t(c(0, 0)))
    vapply(names(truth), function(fun) {
      answer <- kde_query(fhat, c(0.5, -Inf), c(Inf, 1), fun, "x", N = 2000)
      answer$lower <= truth[fun] && truth[fun] <= answer$upper
    }, NA)
  }))
  # 60 draws at the level 0.95 have fewer than 52 with probability 0.004; those of variances are not normal
  expect_true(all(rowSums(held) >= c(52, 52, 48, 52)))
  # hardly any rows: the limits of the box, and the range of the table
  s <- with_seed(8, kde_synopsis(table, size = 50))
  few <- kde_query(s, x > 5 & x < 5.5, mean(x))
  expect_identical(unlist(few[c("lower", "upper")], use.names = FALSE), c(5 + 5 * .Machine$double.eps,
                                                                        5.5 - 5.5 * .Machine$double.eps))
  expect_identical(kde_query(s, x < -1, mean(x))$mean, NA_real_)
  expect_identical(unlist(kde_query(s, x < -1, sum(x)), use.names = FALSE), c(0, 0, 0, 0))
})

test_that("what the grammar does not have is refused, by name and before anything is evaluated", {
  s <- points_synopsis
  expect_refused(
    kde_query(s, kind > "u"),
    kde_query(s, kind == "x"),
    kde_query(s, kind == c("u", "v")),
    kde_query(s, kind %in% 3),
    kde_query(s, "u" %in% kind),
    kde_query(s, kind == "u" & kind == "v"),
    kde_query(s, kind == flag),
    kde_query(s, !kind),
    kde_query(s, a == 3),
    kde_query(s, a %in% 1:3),
    kde_query(s, day > 3),
    kde_query(s, day > "yesterday"),
    kde_query(s, at > 3),
    kde_query(s, a > as.Date("2020-01-01")),
    kde_query(s, kind == toupper("U")),
    kde_query(s, is.na(a) | a < 3),
    kde_query(s, a < 3 & startsWith(kind, "u")),
    kde_query(s, a > {
      1
    }),
    kde_query(s, a > points_synopsis),
    kde_query(s, a > 1, mean(kind)),
    kde_query(s, a > 1, quantile(a)),
    kde_query(s, a > 1, quantile(a, 2)),
    kde_query(s, a > 1, quantile(a, runif(1))),
    kde_query(s, (a < 1 | a > 2) & (a < 3 | a > 4) & (a < 5 | a > 6) & (a < 7 | a > 8) & (b < 1 | b > 2) &
                (b < 3 | b > 4) & (b < 5 | b > 6))
  )
})
