# kde_synopsis(): answers without the table.

# row_boxes() and related functions.
source(system.file("query", "boxes.R", package = "kestrel"), local = TRUE)

test_that("a synopsis answers as the estimate of its rows does, and keeps nothing else", {
  table <- quakes[c("depth", "mag")]
  synopsis <- with_seed(321, kde_synopsis(table, size = 100))
  expect_identical(dim(synopsis$x), c(100L, 2L))
  expect_identical(synopsis$N, 1000L)
  expect_identical(synopsis$ranges, unname(sapply(table, range)))
  expect_true(all(do.call(paste, as.data.frame(synopsis$x)) %in% do.call(paste, as.list(unname(table)))))
  expect_equal(synopsis$H, Hpi.diag(synopsis$x), ignore_attr = TRUE)
  fhat <- kde(synopsis$x, H = synopsis$H, eval.points = synopsis$x)
  inside <- kde_query(synopsis, c(100, 4.5), c(300, 5), "mean", "depth")
  expect_equal(inside, kde_query(fhat, c(100, 4.5), c(300, 5), "mean", 1, N = 1000), tolerance = 1e-14)
  expect_identical(kde_query(synopsis, depth >= 100 & depth <= 300 & between(mag, 4.5, 5), mean(depth)), inside)
  expect_lt(as.numeric(object.size(synopsis)), 8 * 200 + 3000)
  # the same seed gives the same rows; a small table is kept completely
  expect_identical(with_seed(321, kde_synopsis(table, size = 100)), synopsis)
  expect_identical(kde_synopsis(table[1:50, ], size = 100)$x, unname(as.matrix(table[1:50, ])))
  # a bandwidth matrix with correlations, if it is asked for
  H <- matrix(c(900, -1, -1, 0.01), 2)
  correlated <- with_seed(321, kde_synopsis(table, size = 100, H = H))
  same <- kde(correlated$x, H = H, eval.points = correlated$x)
  expect_equal(kde_query(correlated, depth < 200 & mag < 5)$count,
               kde_query(same, c(-Inf, -Inf), c(200, 5), N = 1000)$count)
  line <- kde_synopsis(quakes$mag, h = 0.2, kernel = "biweight")
  expect_identical(c(line$names, line$kernel), c("x", "biweight"))
  expect_equal(line$H, matrix(0.04))
})

test_that("rows are drawn evenly: each as likely as any, from all parts of the table", {
  table <- with_seed(324, matrix(round(rnorm(120), 1), 60)) # ties
  # 1500 draws show chances that differ by a seventh: cells of unequal sizes differ by more.
  draws <- with_seed(325, replicate(1500, even_rows(table, 25)))
  expect_identical(dim(draws), c(25L, 1500L))
  expect_false(any(apply(draws, 2, anyDuplicated) > 0))
  times <- tabulate(draws, 60)
  expect_lt(max(abs(times - 1500 * 25 / 60)), 4.5 * sqrt(1500 * 25 / 60 * 35 / 60))
  for (size in c(1, 2, 7, 59)) expect_length(unique(with_seed(326, even_rows(table, size))), size)
  # Counts vary less than those of a simple random sample.
  table <- with_seed(327, matrix(rnorm(4000), 2000))
  boxes <- with_seed(328, row_boxes(table, 50))
  error <- function(draw) mean((replicate(25, count_rows(table[draw(), ], boxes)) - boxes$count / 10)^2)
  simple <- with_seed(329, error(function() sample.int(2000, 200)))
  expect_lt(with_seed(329, error(function() even_rows(table, 200))), simple / 2)
})

test_that("large tables are cut into cells", {
  # The first cut multiplies 66,000 rows by 33,000 cells, which exceeds R's integers.
  table <- matrix(seq(0, 1, length.out = 66000))
  synopsis <- with_seed(330, kde_synopsis(table, size = 65999, h = 0.1))
  expect_identical(dim(synopsis$x), c(65999L, 1L))
  expect_identical(anyDuplicated(synopsis$x), 0L)
})

test_that("a synopsis comes back from a file as it was", {
  synopsis <- with_seed(322, kde_synopsis(quakes[c("depth", "mag")], size = 50))
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(synopsis, file)
  expect_identical(readRDS(file), synopsis)
  expect_identical(kde_query(readRDS(file), depth > 100), kde_query(synopsis, depth > 100))
})

test_that("nothing is beyond the range of the table, and everything within", {
  synopsis <- with_seed(323, kde_synopsis(quakes[c("depth", "mag")], size = 100))
  ranges <- synopsis$ranges
  expect_equal(kde_query(synopsis, ranges[1, ], ranges[2, ])$count, 1000, tolerance = 1e-14)
  expect_equal(unlist(kde_query(synopsis)), c(count = 1000, lower = 1000, upper = 1000), tolerance = 1e-14)
  beyond <- kde_query(synopsis, depth > ranges[2, 1] + 1)
  expect_identical(unlist(beyond), c(count = 0, lower = 0, upper = 0))
  expect_identical(kde_query(synopsis, mag < 1, sum(mag))$sum, 0)
  cut <- 200
  expect_equal(kde_query(synopsis, depth <= cut)$count + kde_query(synopsis, depth > cut)$count, 1000,
               tolerance = 1e-14)
})

# Intervals of the counts of 1,000 boxes hold the truth as often as promised, and are at most twice as wide as binomial
# ones.
expect_intervals <- function(table, size, seed) {
  synopsis <- with_seed(seed, kde_synopsis(table, size = size))
  boxes <- with_seed(seed + 1, row_boxes(table, 1000))
  answer <- kde_query(synopsis, boxes$lower, boxes$upper)
  held <- mean(answer$lower <= boxes$count & boxes$count <= answer$upper)
  expect_gte(held, 0.95)
  p <- boxes$count / nrow(table)
  expect_true(all(p >= 0.01 & p <= 0.2))
  width <- mean(answer$upper - answer$lower)
  binomial <- mean(2 * qnorm(0.975) * nrow(table) * sqrt(p * (1 - p) / size))
  expect_lte(width, 2 * binomial)
  cat(sprintf("%s of %d rows: %.0f %% held, mean width %.0f rows, %.2f times the binomial one\n",
              paste(names(table), collapse = ", "), nrow(table), 100 * held, width, width / binomial))
}

test_that("intervals of counts hold at their level on quakes", {
  expect_snapshot_output({
    expect_intervals(quakes[c("depth", "mag")], 200, 331)
    expect_intervals(quakes[c("lat", "long")], 200, 333)
  })
})

test_that("intervals of counts hold at their level on diamonds", {
  skip_if_not_installed("ggplot2")
  diamonds <- as.data.frame(ggplot2::diamonds)[c("carat", "depth", "price")]
  expect_snapshot_output(expect_intervals(diamonds, 540, 335))
})

test_that("q-errors on diamonds are those of a good synopsis, below a histogram's", {
  skip_if_not_installed("ggplot2")
  diamonds <- as.data.frame(ggplot2::diamonds)[c("carat", "depth", "price")]
  tuning <- with_seed(341, row_boxes(diamonds, 400))[c("lower", "upper")]
  boxes <- with_seed(342, row_boxes(diamonds, 1000))
  synopsis <- with_seed(343, kde_synopsis(diamonds, size = 539))
  tuned <- with_seed(343, kde_synopsis(diamonds, size = 539, tune_queries = tuning))
  bytes <- length(serialize(tuned, NULL))
  found <- q_error(data.frame(
    synopsis = kde_query(synopsis, boxes$lower, boxes$upper)$count,
    tuned = kde_query(tuned, boxes$lower, boxes$upper)$count,
    histogram = histogram_counts(equi_width_histogram(diamonds, bytes), boxes)
  ), boxes$count)$table
  expect_true(all(found[c("synopsis", "tuned"), "median"] <= 1.15))
  expect_true(all(found[c("synopsis", "tuned"), "95%"] <= 2))
  expect_lt(max(found[c("synopsis", "tuned"), "median"]), found["histogram", "median"])
})

test_that("boxes for tests hold the rows that they say", {
  boxes <- with_seed(337, row_boxes(quakes[c("depth", "mag")], 50))
  inside <- vapply(seq_len(50), function(i) {
    sum(quakes$depth >= boxes$lower[i, 1] & quakes$depth <= boxes$upper[i, 1] &
          quakes$mag >= boxes$lower[i, 2] & quakes$mag <= boxes$upper[i, 2])
  }, 0)
  expect_equal(boxes$count, inside)
  expect_equal(count_rows(quakes[c("depth", "mag")], boxes), inside)
  # a histogram with a cell for every value gives the table's counts
  line <- data.frame(x = rep(0:9, 1:10))
  cells <- equi_width_histogram(line, 4 * 10)
  expect_equal(as.vector(cells$counts), 1:10)
  edges <- list(lower = cbind(0.9 * c(0, 3)), upper = cbind(0.9 * c(2, 10)))
  expect_equal(histogram_counts(cells, edges), c(3, 49))
})

test_that("tuning finds the factor, judged on queries held out", {
  table <- quakes[c("depth", "mag")]
  boxes <- with_seed(351, row_boxes(table, 60))[c("lower", "upper")]
  plain <- with_seed(352, kde_synopsis(table, size = 200, H = diag(c(200, 1)^2)))
  tuned <- with_seed(352, kde_synopsis(table, size = 200, H = diag(c(200, 1)^2), tune_queries = boxes))
  expect_identical(tuned$x, plain$x)
  expect_equal(tuned$H, tuned$tuning$factor^2 * plain$H, tolerance = 1e-12)
  # bandwidths far too large: the factor is below 1, and the held-out queries improve
  expect_lt(tuned$tuning$factor, 0.5)
  median <- tuned$tuning$errors[, "median"]
  expect_lt(median[["tuned"]], median[["selected"]])
  held <- lapply(boxes, function(limits) limits[seq(2, 60, 2), ])
  judged <- q_error(kde_query(tuned, held$lower, held$upper)$count, count_rows(table, held))
  expect_equal(tuned$tuning$errors["tuned", ], judged$table[1, ])
  # bandwidths for which no factor is large enough: the factor stays in its range
  narrow <- with_seed(352, kde_synopsis(table, size = 100, H = diag(c(0.2, 0.001)^2), tune_queries = boxes))
  expect_lte(narrow$tuning$factor, 4 * (1 + 1e-14))
  # without lower limits
  free <- list(lower = NULL, upper = boxes$upper)
  expect_identical(with_seed(352, kde_synopsis(table, 200, H = plain$H, tune_queries = free))$tuning$queries, 30L)
})

test_that("print, and bad input", {
  table <- quakes[c("depth", "mag")]
  expect_snapshot_output({
    shown(with_seed(361, kde_synopsis(table, size = 100, H = diag(c(900, 0.01)))))
    shown(kde_synopsis(quakes$mag, h = 0.2, kernel = "biweight"))
    shown(with_seed(361, kde_synopsis(table, size = 100, H = matrix(c(900, -1, -1, 0.01), 2))))
    boxes <- with_seed(362, row_boxes(table, 20, c(0.05, 0.2))[c("lower", "upper")])
    shown(with_seed(361, kde_synopsis(table, size = 100, H = diag(c(900, 0.01)), tune_queries = boxes)))
  })
  expect_refused(
    kde_synopsis("a"),
    kde_synopsis(c(1, NA, 3)),
    kde_synopsis(numeric(0)),
    kde_synopsis(table, size = 0),
    kde_synopsis(table, kernel = "normal"),
    kde_synopsis(table, h = -1),
    kde_synopsis(table, H = matrix(c(1, 0.5, 0.5, 1), 2), kernel = "epanechnikov"),
    kde_synopsis(table, H = diag(3)),
    kde_synopsis(table, size = 1),
    kde_synopsis(cbind(a = 1:50, b = 3)),
    kde_synopsis(cbind(x = 3, y = 1:50)),
    with_seed(363, kde_synopsis(cbind(a = 1:10000, x = c(1, rep(0, 9999))), size = 20)),
    kde_synopsis(table, h = 1, tune_queries = 5),
    kde_synopsis(table, h = 1, tune_queries = list(lower = c(0, 0))),
    kde_synopsis(table, h = 1, tune_queries = list(lower = c(0, 0), upper = c(1, 1))),
    kde_synopsis(table, h = 1, tune_queries = list(lower = c(2, 0), upper = c(1, 1)))
  )
})

test_that("with bounds and periods it answers as the density with images does", {
  table <- with_seed(351, data.frame(wait = rexp(3000), hour = (rnorm(3000, 1, 2)) %% 24, share = rbeta(3000, 1, 2)))
  bounds <- cbind(c(0, -Inf, 0), c(Inf, Inf, 1))
  period <- c(NA, 24, NA)
  s <- with_seed(352, kde_synopsis(table, size = 300, H = diag(c(0.04, 1, 0.01)), bounds = bounds, period = period))
  lower <- rbind(c(0, 22, 0), c(0.5, -Inf, 0.9), c(-Inf, 0, 0.2), c(-1, 23, -1))
  upper <- rbind(c(0.1, 24, 0.1), c(2, 5, Inf), c(0.05, 24, 0.3), c(0.2, 24, 0.05))
  # The kernels of all images of the rows, and the means of their first variable there.
  images <- reference_images(s$x[, c(1, 3)], bounds[c(1, 3), ])
  turns <- rep(-3:3, each = length(images$row))
  x <- cbind(rep(images$x[, 1], 7), s$x[images$row, 2] + 24 * turns, rep(images$x[, 2], 7))
  h <- c(0.2, 1, 0.1)
  ends <- function(value, k) min(max(value, 0), c(Inf, 24, 1)[k])
  for (box in seq_len(nrow(lower))) {
    from <- mapply(ends, lower[box, ], 1:3)
    to <- mapply(ends, upper[box, ], 1:3)
    masses <- vapply(1:3, function(k) pnorm(to[k], x[, k], h[k]) - pnorm(from[k], x[, k], h[k]), numeric(nrow(x)))
    mass <- sum(apply(masses, 1, prod)) / 300
    edges <- dnorm(from[1], x[, 1], 0.2) - dnorm(to[1], x[, 1], 0.2)
    total <- sum((x[, 1] * masses[, 1] + 0.04 * edges) * masses[, 2] * masses[, 3]) / 300
    expect_equal(kde_query(s, lower[box, ], upper[box, ])$count, 3000 * mass, tolerance = 1e-10)
    expect_equal(kde_query(s, lower[box, ], upper[box, ], "mean", 1)$mean, total / mass, tolerance = 1e-9)
    expect_equal(kde_query(s, lower[box, ], upper[box, ], "sum", 1)$sum, 3000 * total, tolerance = 1e-9)
  }
  expect_equal(kde_query(s)$count, 3000)
  # Without bounds counts near an end, but not up to it, are too small.
  free <- with_seed(352, kde_synopsis(table, size = 300, H = diag(c(0.04, 1, 0.01))))
  near <- sum(table$wait > 0.001 & table$wait < 0.1)
  expect_lt(abs(kde_query(s, between(wait, 0.001, 0.1))$count / near - 1), 0.2)
  expect_lt(kde_query(free, between(wait, 0.001, 0.1))$count / near, 0.7)
  expect_identical(kde_synopsis(table["wait"], size = 300, h = 1, bounds = cbind(-Inf, Inf))$transform, NULL)
  # The bandwidth is that of the density with images.
  line <- with_seed(353, kde_synopsis(table$wait, size = 200, bounds = c(0, Inf)))
  expect_equal(sqrt(line$H[1, 1]), kde(line$x[, 1], bounds = c(0, Inf))$h)
  # Gradients are those of the answers.
  learned <- learn(s, list(lower = lower[1:3, ], upper = upper[1:3, ]), c(9, 80, 20))
  expect_true(all(is.finite(learned$H)))
  q <- 2
  loss <- function(log_h) {
    answer <- kde_query(replace(s, "H", list(diag(exp(2 * log_h)))), lower[q, ], upper[q, ])$count
    log(max(answer, 1) / 80)^2
  }
  within <- within_ranges(list(lower = lower[q, , drop = FALSE], upper = upper[q, , drop = FALSE]), s$ranges)
  slope <- vapply(1:3, function(k) {
    (loss(log(h) + 1e-5 * (1:3 == k)) - loss(log(h) - 1e-5 * (1:3 == k))) / 2e-5
  }, 0)
  expect_equal(query_gradient(s, h, within$lower[1, ], within$upper[1, ], 80)$gradient, slope, tolerance = 1e-6)
  expect_snapshot({
    s
  })
  expect_snapshot(error = TRUE, {
    kde_synopsis(table, size = 9, h = 1, bounds = cbind(c(0.5, 0, 0), Inf))
    kde_synopsis(table, size = 9, h = 1, bounds = c(0, 1))
    kde_synopsis(table, size = 9, h = 1, period = -1)
    kde_synopsis(table, size = 9, H = diag(3) + 0.1, bounds = bounds)
  })
})
