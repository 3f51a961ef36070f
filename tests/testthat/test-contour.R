# Contour levels: quantiles of the density at the observations, weighted.

# Akinshin (2023): the mean of the weighted quantile function over [p (n-1)/n, p (n-1)/n + 1/n] with the effective n,
# from a hundred thousand points of that window instead of a closed form.
reference_levels <- function(values, w, prob) {
  n <- sum(w)^2 / sum(w^2)
  sorted <- order(values)
  mass <- cumsum(w[sorted]) / sum(w)
  vapply(prob, function(p) {
    window <- p * (n - 1) / n + (seq_len(1e5) - 0.5) / 1e5 / n
    mean(values[sorted][pmin(findInterval(window, mass, left.open = TRUE) + 1, length(values))])
  }, 0)
}

test_that("levels are the quantiles of the exact density at the observations", {
  x <- as.matrix(faithful)
  fit <- kde(x, H = Hns(x))
  at_data <- reference_density(x, x, Hns(x))
  prob <- c(0, 0.05, 0.5, 0.77, 1)
  expect_equal(contourLevels(fit, prob = prob, approx = FALSE), quantile(at_data, prob), tolerance = 1e-12)
  expect_equal(contourLevels(fit, cont = c(25, 50, 99), approx = FALSE), quantile(at_data, c(0.75, 0.5, 0.01)),
               tolerance = 1e-12)
  expect_equal(contourLevels(fit, cont = c(25, 50)), quantile(at_data, c(0.75, 0.5)), tolerance = 5e-3)
  points <- kde(x, H = Hns(x), eval.points = x[1:9, ])
  expect_equal(contourLevels(points, cont = 50), quantile(at_data, 0.5), tolerance = 1e-12)
})

test_that("levels agree with those of ks in one to three dimensions", {
  skip_if_not_installed("ks")
  for (d in 1:3) {
    x <- as.matrix(iris[, seq_len(d)])
    if (d == 1) x <- x[, 1]
    bandwidth <- if (d == 1) list(h = 0.3) else list(H = Hns(x))
    ours <- do.call(kde, c(list(x), bandwidth))
    peer <- do.call(ks::kde, c(list(x), bandwidth))
    expect_equal(contourLevels(ours, cont = c(5, 50, 95), approx = FALSE),
                 ks::contourLevels(peer, cont = c(5, 50, 95), approx = FALSE),
                 tolerance = if (d == 1) 1e-3 else 1e-10) # in one dimension ks bins in any case
    expect_equal(contourLevels(ours, cont = c(5, 50, 95)), ks::contourLevels(peer, cont = c(5, 50, 95)),
                 tolerance = 0.02)
    expect_equal(ours$cont, peer$cont, tolerance = 0.02) # ks interpolates in a binned grid
    expect_equal(contourLevels(ours), ks::contourLevels(ours))
  }
})

test_that("levels use the weights", {
  x <- with_seed(61, matrix(rnorm(400), 200))
  w <- ifelse(x[, 1] > 0, 3, 0.5)
  fit <- kde(x, H = 0.2 * diag(2), w = w)
  at_data <- reference_density(x, x, 0.2 * diag(2), w)
  prob <- c(0.1, 0.5, 0.9)
  levels <- contourLevels(fit, prob = prob, approx = FALSE)
  expect_equal(unname(levels), reference_levels(at_data, w, prob), tolerance = 1e-4)
  expect_named(levels, c("10%", "50%", "90%"))
  unweighted <- quantile(at_data, prob)
  expect_gt(max(abs(levels / unweighted - 1)), 0.05)
  equal <- kde(x, H = 0.2 * diag(2), w = rep(5, 200))
  expect_equal(contourLevels(equal, prob = prob), contourLevels(kde(x, H = 0.2 * diag(2)), prob = prob),
               tolerance = 1e-12)
})

test_that("rows of weight zero do not enter the levels", {
  x <- with_seed(62, rnorm(100))
  fit <- kde(c(x, rep(50, 40)), h = 0.3, w = rep(1:0, c(100, 40)))
  expect_equal(contourLevels(fit, cont = 50, approx = FALSE),
               contourLevels(kde(x, h = 0.3), cont = 50, approx = FALSE), tolerance = 1e-12)
  uneven <- with_seed(63, runif(100))
  fit <- kde(c(x, rep(50, 40)), h = 0.3, w = c(uneven, rep(0, 40)))
  clean <- kde(x, h = 0.3, w = uneven)
  expect_equal(contourLevels(fit, cont = 50, approx = FALSE), contourLevels(clean, cont = 50, approx = FALSE),
               tolerance = 1e-12)
})

test_that("the p % region holds p % of the weight", {
  x <- with_seed(64, matrix(rnorm(2000), 1000))
  w <- with_seed(65, runif(1000))
  fit <- kde(x, H = 0.1 * diag(2), w = w)
  at_data <- predict(fit, x = x)
  for (p in c(20, 50, 80)) {
    level <- contourLevels(fit, cont = p, approx = FALSE)
    expect_equal(sum(w[at_data >= level]) / sum(w), p / 100, tolerance = 0.01)
  }
})

test_that("cont of the object holds the levels of 99 to 1 per cent regions, 1 % the highest", {
  fit <- kde(faithful$eruptions, h = 0.3, approx.cont = FALSE)
  expect_length(fit$cont, 99)
  expect_equal(fit$cont, contourLevels(fit, cont = 1:99, approx = FALSE), tolerance = 1e-14)
  expect_false(is.unsorted(rev(fit$cont)))
  expect_null(kde(faithful$eruptions, h = 0.3, compute.cont = FALSE)$cont)
})

test_that("the density at the data is computed where the estimate was", {
  fhat <- kde(faithful, gridsize = 10)
  with_cuda_object("/nowhere/libkestrel_cuda.so", {
    run <- run_options(backend = "cuda", cuda = TRUE)
    expect_error(contour_levels(fhat, 0.5, FALSE, run), "could not be loaded", class = "kestrel_error_backend")
  })
  # By an engine that takes points, whatever engine the grid has.
  of_grid <- kde(faithful, H = diag(2), kernel = "biweight", engine = "scanline", approx.cont = FALSE, gridsize = 30)
  expect_equal(of_grid$cont, contourLevels(of_grid, prob = (99:1) / 100, approx = FALSE))
})

test_that("levels of a density without data follow its units, however small or large", {
  set.seed(3)
  values <- outer(rexp(5), rexp(4))
  axes <- list(1:5, 1:4)
  prob <- c(0.1, 0.5, 0.9)
  for (unit in 2^c(-700, 700)) {
    expect_same_bits(grid_levels(axes, values * unit, prob), grid_levels(axes, values, prob) * unit)
  }
})

test_that("quantiles are those of the standard library, of ties and rounded shares too", {
  prob <- c(0, 0.25, 1 / 3, 0.5, 0.999, 1)
  for (x in list(5, c(2, 1), with_seed(71, rnorm(1000)), with_seed(72, round(rnorm(1000), 1)))) {
    expect_identical(weighted_quantile(x, rep(1, length(x)), prob), quantile(x, prob))
  }
})

test_that("shares in place of percentages are refused", {
  fhat <- kde(faithful$eruptions, h = 0.3)
  expect_refused(
    contourLevels(fhat, cont = 0.95),
    contourLevels(fhat, cont = c(0.5, 0.9)),
    plot(fhat, cont = 0.95),
    plot(kde(faithful, h = 1, gridsize = 5), cont = c(0, 0.95))
  )
  # One is one per cent, and so are values among larger ones.
  levels <- contourLevels(fhat, prob = c(0.99, 0.995, 0.5))
  expect_equal(contourLevels(fhat, cont = 1), levels[1])
  expect_equal(contourLevels(fhat, cont = c(1, 0.5, 50)), levels)
})
