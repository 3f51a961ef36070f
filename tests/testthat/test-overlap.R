# Overlap of home ranges.

skip_if_not_installed("isoband")
skip_if_not_installed("sf")

test_that("indices are those of normal densities", {
  # Densities of one observation are normal ones, d apart: integrals in closed form.
  d <- 1.2
  normal <- function(at) kde(cbind(at, 0), H = diag(2), gridsize = 11, supp = 8)
  found <- kde_overlap(normal(0), normal(d))
  expect_equal(found$BA, exp(-d^2 / 8), tolerance = 1e-8)
  expect_equal(found$VI, 2 * pnorm(-d / 2), tolerance = 1e-3)
  # The home range of one observation is a point.
  expect_identical(found$UDOI, 0)
})

test_that("ranges and their probabilities are those of their estimates", {
  set.seed(8)
  x <- cbind(rnorm(200), rnorm(200))
  first <- kde(x, H = diag(2) / 9, gridsize = 61)
  second <- kde(x + 1, H = diag(2) / 9, gridsize = 61)
  same <- kde_overlap(first, first)
  expect_equal(unlist(same[c("HR12", "HR21", "VI", "BA")], use.names = FALSE), rep(1, 4), tolerance = 1e-4)
  expect_equal(same$PHR12, unname(contourProbs(first, cont = 95)), tolerance = 0.01)
  found <- kde_overlap(first, second, gridsize = 201)
  turned <- kde_overlap(second, first, gridsize = 201)
  expect_equal(found$HR12, turned$HR21, tolerance = 1e-12)
  expect_equal(found$PHR12, turned$PHR21, tolerance = 1e-12)
  # By counting points of a fine grid.
  at <- as.matrix(expand.grid(seq(-5, 6, length.out = 301), seq(-5, 6, length.out = 301)))
  cell <- (11 / 300)^2
  f <- list(predict(first, at), predict(second, at))
  within <- Map(function(f, fhat) f >= contourLevels(fhat, cont = 95), f, list(first, second))
  both <- sum(within[[1]] & within[[2]])
  expect_equal(found$HR12, both / sum(within[[1]]), tolerance = 0.005)
  expect_equal(found$PHR12, sum(f[[2]][within[[1]]]) * cell, tolerance = 0.005)
  expect_equal(found$UDOI, both * cell * sum(f[[1]] * f[[2]]) * cell, tolerance = 0.005)
  far <- kde_overlap(first, kde(x + 100, H = diag(2) / 9, gridsize = 61), gridsize = 21)
  expect_equal(unlist(far, use.names = FALSE), rep(0, 7))
})

test_that("indices and areas are near those of adehabitatHR", {
  places <- cbind((quakes$long - 175) * 100, (quakes$lat + 20) * 110)
  east <- function(rows) places[rows, ][places[rows, 1L] > 500, ]
  ranges <- lapply(list(east(1:60 * 5), east(1:60 * 5 + 300)), kde, h = 60, gridsize = 201)
  found <- kde_overlap(ranges[[1L]], ranges[[2L]], of = "density")
  # kerneloverlap(h = 60, grid = 400, extent = 1, percent = 95) and kernel.area() of adehabitatHR 0.4.22. It counts
  # cells and evaluates the density at one corner of each. [1, 2] and [2, 1] of its matrices are those of 12 and 21.
  known <- c(HR12 = 0.702779, HR21 = 0.527594, PHR12 = 0.457614, PHR21 = 0.811821, VI = 0.429316, BA = 0.662023,
             UDOI = 0.418963)
  expect_equal(unlist(found), known, tolerance = 2e-3)
  areas <- vapply(ranges, function(fhat) sf::st_as_sf(fhat, cont = c(50, 95), of = "density")$area, c(0, 0))
  expect_equal(areas, cbind(c(669185.9, 166413.8), c(891384.8, 234203.3)), tolerance = 2e-3)
})

test_that("estimates that do not fit are refused", {
  fhat <- kde(faithful, gridsize = 9)
  there <- replace(fhat, "crs", list(sf::st_crs(3857)))
  expect_refused(
    kde_overlap(fhat, kde(faithful$eruptions)),
    kde_overlap(there, replace(fhat, "crs", list(sf::st_crs(32601)))),
    kde_overlap(fhat, fhat, cont = c(50, 95)),
    kde_overlap(fhat, fhat, gridsize = 1),
    kde_overlap(fhat, fhat, of = "volume")
  )
})
