# SiZer maps beside sums over all pairs in plain R.

# The derivative of order 1 or 2 at each point, its standard error and the effective sample size.
plain_row <- function(x, at, h, order, w = rep(1, length(x))) {
  n <- sum(w)^2 / sum(w^2)
  p <- w / sum(w)
  rows <- lapply(at, function(point) {
    u <- (point - x) / h
    kernel <- (if (order == 1) -u else u^2 - 1) * dnorm(u) / h^(order + 1)
    value <- sum(p * kernel)
    c(value, sqrt(sum(p * (kernel - value)^2) / (n - 1)), n * sum(p * exp(-u^2 / 2)))
  })
  do.call(rbind, rows)
}

samples_of_maps <- with_seed(1, list(
  usual = rnorm(40), clusters = c(rnorm(20), rnorm(15, 6, 0.2)), ties = rep(c(0, 0.1, 5), c(17, 9, 1)), two = c(-1, 3),
  outlier = c(rnorm(20), 1e6), far = 1e9 + rnorm(30), small = 1e-9 * rnorm(30)
))

test_that("derivatives, standard errors and sample sizes are those of sums over pairs", {
  for (name in names(samples_of_maps)) for (order in 1:2) for (weighted in c(FALSE, TRUE)) {
    x <- samples_of_maps[[name]]
    w <- if (weighted) rep(c(1, 5, 0.5, 2), length.out = length(x))
    h <- diff(range(x)) * c(0.01, 0.1, 1, 10)
    map <- sizer(x, h = h, deriv.order = order, gridsize = 17, w = w)
    expect_equal(map$h, h)
    for (k in seq_along(h)) {
      row <- plain_row(x, map$eval.points, h[k], order, if (weighted) w else rep(1, length(x)))
      # Relative to the largest terms of the sums; far data lose digits of the points themselves.
      scale <- h[k]^-(order + 1)
      error <- c(max(abs(map$derivative[, k] - row[, 1])) / scale,
                 max(abs(map$std.error[, k]^2 - row[, 2]^2)) / scale^2, max(abs(map$ess[, k] - row[, 3])) / length(x))
      expect_lt(max(error), if (name == "far") 1e-6 else 1e-12, label = paste(name, order, weighted, k))
    }
  }
})

test_that("rows have the quantiles of the papers, and signs beyond them", {
  x <- faithful$eruptions
  for (order in 1:2) for (method in c("extremes", "blocks")) {
    map <- sizer(x, h = c(0.02, 0.2, 1), deriv.order = order, gridsize = 101, signif.level = 0.1, method = method)
    for (k in 1:3) {
      ess <- map$ess[map$ess[, k] >= 5, k]
      q <- if (method == "blocks") {
        qnorm((1 + 0.9^(mean(ess) / 272)) / 2)
      } else {
        step <- diff(map$eval.points[1:2])
        index <- 2 * pnorm(sqrt((2 * order + 1) * log(length(ess))) * step / (2 * map$h[k])) - 1
        qnorm(0.95^(1 / max(1, length(ess) * index)))
      }
      expect_equal(map$quantile[k], q, tolerance = 1e-12)
      # What is not correlated with the derivative sets the limits.
      curved <- if (order == 1) 0 else 2 / 3 * 272 * sqrt(2 * pi) * map$h[k]^3 * map$derivative[, k]
      limits <- tail_limits(q, map$ess[, k] + curved, 1L, order)
      ratio <- map$derivative[, k] / map$std.error[, k]
      sign <- ifelse(map$ess[, k] < 5, NA, (ratio > limits$above) - (ratio < -limits$below))
      expect_identical(as.numeric(map$estimate[, k]), as.numeric(sign))
    }
  }
  # The extremal index is that of the correlations of the derivative: simulated rows of independent normal weights.
  h <- 0.05
  at <- seq(0, 1, by = 1 / 100)
  kernel <- outer(at, seq(-0.3, 1.3, by = 0.005), function(x, u) (x - u) * dnorm(x, u, h))
  largest <- with_seed(1, apply(abs(kernel %*% matrix(rnorm(321 * 2000), 321)) / sqrt(rowSums(kernel^2)), 2, max))
  beyond <- mean(largest > row_quantile(rep(9, 101), 1, 0.01 / h, 1L, 0.05, "extremes"))
  expect_lt(abs(beyond - 0.05), 0.02)
  # One mode: up, then down. No point has enough data.
  map <- sizer(x, h = 4)
  expect_identical(rle(map$estimate[map$estimate[, 1] != 0, 1])$values, c(1, -1))
  few <- sizer(1:4, length = 3, gridsize = 5)
  expect_true(all(is.na(few$estimate)) && all(is.na(few$quantile)))
})

test_that("maps do not depend on units, order, threads and the scale of weights", {
  x <- samples_of_maps$clusters
  map <- sizer(x, length = 7, gridsize = 41, xmin = -3, xmax = 8)
  values <- c("derivative", "std.error", "ess", "estimate", "quantile")
  threes <- sizer(x, length = 7, gridsize = 41, xmin = -3, xmax = 8, threads = 3)
  for (value in values) expect_same_bits(threes[[value]], map[[value]], info = value)
  expect_equal(unclass(sizer(rev(x), length = 7, gridsize = 41, xmin = -3, xmax = 8, w = rep(3, 35)))[values],
               unclass(map)[values], tolerance = 1e-10)
  scaled <- sizer(100 - 1e3 * x, length = 7, gridsize = 41, xmin = 100 - 8e3, xmax = 3100)
  expect_equal(scaled$h, 1e3 * map$h)
  expect_equal(scaled$estimate[41:1, ], -map$estimate)
  expect_equal(scaled$std.error[41:1, ] * 1e6, map$std.error, tolerance = 1e-8)
  usual <- sizer(x)
  expect_equal(range(usual$h), c(2 / 400, 1) * diff(range(x)))
  expect_equal(range(usual$eval.points), range(x))
  expect_identical(dim(usual$estimate), c(401L, 41L))
})

test_that("maps have tables, prints and pictures", {
  map <- sizer(faithful$eruptions, length = 5, gridsize = 61)
  frame <- as.data.frame(map)
  expect_identical(names(frame), c("x", "h", "derivative", "std.error", "ess", "estimate"))
  expect_identical(frame$estimate, as.vector(map$estimate))
  expect_identical(frame[62, "h"], map$h[2])
  expect_identical(frame[62, "x"], map$eval.points[1])
  expect_snapshot_output(shown(map))
  expect_snapshot_output(cat(steady(capture.output(summary(map))), sep = "\n"))
  expect_snapshot_output(shown(sizer(faithful["waiting"], h = c(2, 5), deriv.order = 2, w = faithful$eruptions)))
  skip_if_not_installed("ggplot2")
  drawn <- ggplot2::layer_data(ggplot2::autoplot(map))
  expect_identical(nrow(drawn), 305L)
  expect_equal(sort(unique(10^drawn$y)), map$h)
  expect_identical(unique(drawn$fill[which(map$estimate == 1)]), map_colours[1L])
})

test_that("bad input is refused", {
  x <- faithful$eruptions
  expect_refused(
    sizer(cbind(faithful, 1:272)),
    sizer(c(1, 1)),
    sizer(x, h = 0),
    sizer(x, h = c(1, 36)),
    sizer(x, deriv.order = 3),
    sizer(x, signif.level = 1),
    sizer(x, method = "bonferroni"),
    sizer(x, gridsize = 1),
    sizer(x, length = 1),
    sizer(x, xmin = 3, xmax = 2),
    sizer(1e-110 * x, deriv.order = 2),
    sizer(x, bw = 1)
  )
  old <- options(kestrel.memory_limit = 1e6)
  on.exit(options(old))
  expect_error(sizer(x, length = 1e9), "`length` must give a grid that fits", class = "kestrel_error_memory")
  expect_error(sizer(x, gridsize = 1e9), "`gridsize` must give a grid that fits", class = "kestrel_error_memory")
})
