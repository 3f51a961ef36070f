# Modes by bandwidth: counts and critical bandwidths beside sums in plain R on fine grids and closed forms.

# The number of modes on a grid 60 times as fine as the bandwidth, wherever there are observations.
plain_nmodes <- function(x, h, w = rep(1, length(x))) {
  near <- outer(seq(-9, 9, by = 1 / 60), unique(x), function(u, one) one + h * u)
  if (diff(range(x)) < 40 * h) near <- seq(min(x) - h / 9, max(x) + h / 9, by = h / 60)
  at <- sort(unique(pmin(pmax(as.vector(near), min(x) - h / 9), max(x) + h / 9)))
  distance <- outer(at, x, "-") / h
  slope <- as.vector(-(distance * exp(-distance^2 / 2)) %*% w)
  side <- sign(slope[slope != 0])
  sum(side[-length(side)] > 0 & side[-1] < 0)
}

samples_of_modes <- with_seed(1, list(
  usual = rnorm(25), clusters = c(rnorm(10), rnorm(8, 6, 0.2)), ties = rep(c(0, 0.1, 5), c(7, 2, 1)), two = c(-1, 3),
  even = 1:8, outlier = c(rnorm(10), 1e6), far = 1e7 + rnorm(12)
))

test_that("counts are those of the derivative on a fine grid", {
  for (name in names(samples_of_modes)) {
    x <- samples_of_modes[[name]]
    h <- c(0.03, 0.2, 1, 4)
    expect_identical(nmodes(x, h), vapply(h, function(one) plain_nmodes(x, one), 0L), info = name)
  }
  x <- samples_of_modes$clusters
  w <- rep(c(0, 1, 5), 6)
  expect_identical(nmodes(x, 0.3, w = w), plain_nmodes(x, 0.3, w))
})

test_that("critical bandwidths separate the counts and are exact", {
  # Two equal components have two modes if they are more than two standard deviations apart.
  expect_equal(bw.crit(c(0, 1)), 1 / 2, tolerance = 1e-8)
  expect_equal(bw.crit(c(10, 10, 40, 40)), 15, tolerance = 1e-8)
  # Unequal weights p and 1 - p of components at distance 1: at a fold both derivatives vanish, which is
  # |log(1 - p) - log(p)| = 2 log(d - s) + 2 d s for 2 d = 1 / h and s = sqrt(d^2 - 1) (Robertson & Fryer 1969).
  h <- uniroot(function(h) {
    d <- 1 / (2 * h)
    2 * log(d - sqrt(d^2 - 1)) + 2 * d * sqrt(d^2 - 1) - log(3)
  }, c(0.2, 0.4999), tol = 1e-14)$root
  expect_equal(bw.crit(c(0, 0, 0, 1)), h, tolerance = 1e-8)
  expect_equal(bw.crit(c(0, 1), w = c(1, 3)), h, tolerance = 1e-8)
  for (name in c("usual", "even")) for (modes in 1:2) {
    x <- samples_of_modes[[name]]
    h <- bw.crit(x, modes)
    expect_lte(plain_nmodes(x, h * (1 + 1e-3)), modes)
    expect_gt(plain_nmodes(x, h * (1 - 1e-3)), modes)
    expect_gt(nmodes(x, h * (1 - 1e-7)), modes)
  }
  # Units, order, threads, weights.
  x <- samples_of_modes$usual
  h <- bw.crit(x, 2, threads = 1)
  expect_equal(bw.crit(1e6 * x + 3, 2), 1e6 * h, tolerance = 1e-8)
  expect_equal(bw.crit(rev(-x), 2), h, tolerance = 1e-8)
  expect_same_bits(bw.crit(x, 2, threads = 3), h)
  expect_same_bits(bw.crit(x, 2, w = rep(3, 25)), h)
})

test_that("the test draws from the estimate with the critical bandwidth", {
  x <- samples_of_modes$usual
  test <- with_seed(1, modetest(x, mod0 = 2, B = 300))
  h <- bw.crit(x, 2)
  expect_equal(test$statistic[[1]], h)
  # Silverman's samples, in plain R.
  share <- with_seed(2, mean(replicate(80, {
    drawn <- sample(x, replace = TRUE) + h * rnorm(25)
    plain_nmodes((drawn - mean(x)) / sqrt(1 + h^2 / var(x)), h) > 2
  })))
  expect_lt(abs(share - test$p.value), 4 * sqrt(share * (1 - share) * (1 / 80 + 1 / 300)))
  expect_identical(with_seed(1, modetest(x, 2, 300, threads = 3))$replicates, test$replicates)
  expect_lt(with_seed(1, modetest(faithful$eruptions, B = 100))$p.value, 0.02)
  expect_snapshot_output(print(with_seed(1, modetest(faithful$eruptions, mod0 = 2, B = 100))))
})

test_that("a tree has the modes of each bandwidth, joined to branches", {
  x <- faithful$eruptions
  tree <- modetree(x, h = c(0.06, 0.3, 1))
  expect_identical(tree$h, c(1, 0.3, 0.06))
  expect_identical(tree$counts, nmodes(x, tree$h))
  expect_identical(as.vector(table(factor(tree$modes$h, rev(tree$h)))), rev(tree$counts))
  # Modes are maxima: the slope is rounding, relative to the curvature.
  for (h in tree$h) {
    at <- tree$modes$mode[tree$modes$h == h]
    slope <- kdde(x, h = h, deriv.order = 1, eval.points = at)$estimate
    curvature <- kdde(x, h = h, deriv.order = 2, eval.points = at)$estimate
    expect_lt(max(abs(slope / curvature)) / h, 1e-10)
    expect_true(all(curvature < 0))
    expect_close_to_reference(tree$modes$density[tree$modes$h == h], kde(x, h = h, eval.points = at)$estimate)
  }
  expect_equal(tree$critical, vapply(1:4, function(k) bw.crit(x, k), 0))
  expect_identical(nearest_pairs(c(1, 5), c(0.9, 1.2, 6)), c(1L, NA, 2L))
  expect_identical(tree$branches$parent[1:2], 0:1)
  usual <- modetree(x, length = 7)
  expect_equal(range(usual$h), c(hpi(x) / 4, 1.25 * bw.crit(x)))
  expect_snapshot_output(shown(tree))
  expect_snapshot_output(cat(steady(capture.output(summary(tree))), sep = "\n"))
})

test_that("bad input is refused", {
  expect_refused(
    nmodes(faithful$eruptions),
    nmodes(faithful$eruptions, h = -1),
    nmodes(faithful, h = 1),
    nmodes(c(1, 1), h = 1),
    bw.crit(c(1, 2, 2), mod0 = 2),
    bw.crit(c(1, NA)),
    bw.crit(c(1, 2), mod0 = 0.5),
    modetest(c(1, 2), B = 0),
    modetest(c(1, 2), sides = 2),
    modetree(c(1, 2), length = 1),
    modetree(c(1, 2), h = c(1, 1)),
    nmodes(1:3, h = 1:3e9),
    modetree(1:3, h = 1:3e9)
  )
})
