# Sizes and probabilities of regions of highest density, their points, and histograms.

eruptions <- faithful$eruptions
plane <- as.matrix(faithful)
H <- matrix(c(0.06, 0.6, 0.6, 11), 2)

test_that("sizes are those of ks, and probabilities those of the normal density", {
  skip_if_not_installed("ks")
  fit <- kde(plane, H = H)
  expect_equal(contourSizes(fit), ks::contourSizes(fit), tolerance = 1e-3)
  expect_equal(contourSizes(fit, abs.cont = c(0.01, 0.02)), ks::contourSizes(fit, abs.cont = c(0.01, 0.02)),
               tolerance = 1e-3)
  normal <- kde(matrix(0, 1, 2), H = diag(2), gridsize = 301, xmin = c(-6, -6), xmax = c(6, 6))
  # The region f >= c / (2 pi) is a disc of squared radius -2 log(c), and of probability 1 - c.
  level <- c(0.1, 0.5) / (2 * pi)
  expect_equal(contourSizes(normal, abs.cont = level), -2 * pi * log(c(0.1, 0.5)), tolerance = 1e-2)
  expect_equal(contourProbs(normal, abs.cont = level), c(0.9, 0.5), tolerance = 1e-2)
  line <- kde(0, h = 1, gridsize = 2001, xmin = -6, xmax = 6)
  expect_equal(contourProbs(line, abs.cont = dnorm(1)), diff(pnorm(c(-1, 1))), tolerance = 1e-2)
  expect_equal(contourSizes(line, abs.cont = dnorm(1)), 2, tolerance = 1e-2)
  expect_named(contourProbs(fit, cont = c(25, 50)), c("75%", "50%"))
  expect_length(contourSizes(kde(iris[, 1:3], H = diag(3), gridsize = 9), cont = 50), 1)
})

test_that("the support is the points inside, or their hull", {
  skip_if_not_installed("ks")
  fit <- kde(plane, H = H, gridsize = 41)
  for (hull in c(FALSE, TRUE)) {
    ours <- ksupp(fit, convex.hull = hull)
    theirs <- as.data.frame(unclass(ks::ksupp(fit, convex.hull = hull))[1:2])
    expect_s3_class(ours, "ksupp")
    expect_named(ours, c("eruptions", "waiting"))
    sorted <- function(points) unname(as.matrix(points[order(points[[1]], points[[2]]), ]))
    expect_equal(sorted(as.data.frame(unclass(ours))), sorted(theirs), tolerance = 1e-12)
  }
  line <- kde(eruptions, h = 0.3)
  inside <- line$eval.points[line$estimate >= contourLevels(line, cont = 95)]
  expect_equal(ksupp(line)$x, range(inside))
  expect_equal(ksupp(line, convex.hull = FALSE)$x, inside)
  expect_identical(nrow(ksupp(fit, abs.cont = 99)), 0L)
})

test_that("histograms are counts in bins", {
  fit <- histde(eruptions, xmin = 1, xmax = 6, binw = 0.5)
  counts <- graphics::hist(eruptions, breaks = seq(1, 6, by = 0.5), plot = FALSE)
  expect_equal(fit$estimate, counts$density)
  expect_equal(fit$eval.points, counts$breaks)
  expect_equal(predict(fit, c(1, 1.5, 1.6, 6, 7, 0)), c(counts$density[c(1, 1, 2, 10)], 0, 0))
  moved <- histde(eruptions, xmin = 1, xmax = 6, binw = 0.5, adj = 0.5)
  expect_equal(moved$eval.points, seq(0.75, 6.25, by = 0.5))
  expect_equal(sum(moved$estimate) * 0.5, 1)
  flat <- histde(plane)
  expect_equal(flat$binw, unname(2 * 3^(1 / 4) * pi^(1 / 4) * apply(plane, 2, sd) * 272^(-1 / 4)))
  width <- vapply(flat$eval.points, function(ends) diff(ends)[1], 0)
  table <- table(cut(plane[, 1], flat$eval.points[[1]], include.lowest = TRUE),
                 cut(plane[, 2], flat$eval.points[[2]], include.lowest = TRUE))
  expect_equal(as.vector(flat$estimate), as.vector(table) / 272 / prod(width))
  expect_equal(predict(flat, plane[1:5, ]), flat$estimate[cbind(
    findInterval(plane[1:5, 1], flat$eval.points[[1]], left.open = TRUE),
    findInterval(plane[1:5, 2], flat$eval.points[[2]], left.open = TRUE)
  )])
  space <- histde(iris[, 1:3])
  expect_equal(sum(space$estimate) * prod(vapply(space$eval.points, function(ends) diff(ends)[1], 0)), 1)
})

test_that("histograms in two dimensions are those of ks", {
  skip_if_not_installed("ks")
  ours <- histde(plane)
  theirs <- ks::histde(plane)
  expect_equal(ours$eval.points, theirs$eval.points, tolerance = 1e-12)
  # ks divides by the width before it is made to fill the range.
  off <- prod(ours$binw) / prod(vapply(ours$eval.points, function(ends) diff(ends)[1], 0))
  expect_equal(unname(ours$estimate), unname(theirs$estimate) * off, tolerance = 1e-12)
  # Not at the ends of bins.
  expect_equal(predict(ours, plane + 1e-3), unname(predict(theirs, x = plane + 1e-3)) * off, tolerance = 1e-12)
  expect_equal(histde(eruptions, binw = 0.744)$estimate, ks::histde(eruptions, binw = 0.744)$estimate,
               tolerance = 1e-12)
})

test_that("prints are short, and plots are drawn", {
  expect_snapshot_output({
    shown(histde(eruptions))
    shown(histde(plane))
  })
  expect_gt(drawn(plot(histde(eruptions), col = 3)), 0)
  expect_gt(drawn(plot(histde(plane))), 0)
})

test_that("mistakes are refused", {
  fit <- kde(plane, H = H, gridsize = 9)
  space <- kde(iris[, 1:3], H = diag(3), gridsize = 3)
  at <- kde(plane, H = H, eval.points = plane[1:3, ])
  expect_refused(
    contourSizes(at), contourSizes(fit, cont = 200), contourProbs(fit, abs.cont = -1), contourProbs(3), ksupp(at),
    ksupp(fit, cont = c(5, 50)), ksupp(fit, abs.cont = 1:2), ksupp(space), ksupp(fit, convex.hull = NA),
    contourSizes(fit, approx = 2), histde("a"), histde(c(1, 1)), histde(eruptions, binw = 0), histde(plane, binw = 1:3),
    histde(eruptions, xmin = 9), histde(eruptions, adj = 2), histde(c(1, NA)), predict(histde(plane), 1:3),
    plot(histde(iris[, 1:3])), histde(eruptions, breaks = 3)
  )
  expect_error(histde(eruptions, binw = 1e-300), class = "kestrel_error_memory")
})
