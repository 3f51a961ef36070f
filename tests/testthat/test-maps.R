# Points and polygons of sf, rasters of terra and stars, and estimates within polygons.

skip_if_not_installed("sf")
skip_if_not_installed("terra")
skip_if_not_installed("stars")
skip_if_not_installed("isoband")

set.seed(5)
meters <- sf::st_crs(3857)
places <- cbind(X = rnorm(60, 500, 100), Y = rnorm(60, 300, 50))
points <- sf::st_as_sf(as.data.frame(places), coords = c("X", "Y"), crs = meters)

test_that("points have the estimate of their coordinates", {
  fhat <- kde(points, gridsize = 21)
  plain <- kde(places, gridsize = 21)
  expect_identical(fhat$estimate, plain$estimate)
  expect_identical(fhat$names, c("X", "Y"))
  expect_identical(fhat$crs, meters)
  expect_identical(kde(sf::st_geometry(points), gridsize = 21)$estimate, plain$estimate)
  points$kind <- rep(c("a", "b"), 30)
  by <- kde(points, ~ geometry | kind, gridsize = 21)
  expect_identical(by$estimates$b$estimate, kde(places[c(FALSE, TRUE), ], gridsize = 21)$estimate)
  expect_identical(by$estimates$b$crs, meters)
  regions <- sf::st_as_sf(by, cont = 50)
  expect_identical(regions$kind, c("a", "b"))
  expect_identical(sf::st_crs(regions), meters)
})

test_that("regions have the area and the probability of their density", {
  fhat <- kde(points, H = diag(c(900, 400)), gridsize = 201)
  regions <- sf::st_as_sf(fhat, cont = c(95, 50))
  expect_named(regions, c("probability", "level", "area", "geometry"))
  expect_identical(regions$probability, c(0.95, 0.5))
  expect_equal(regions$level, unname(contourLevels(fhat, cont = c(95, 50))), tolerance = 1e-14)
  expect_equal(as.numeric(regions$area), unname(contourSizes(fhat, cont = c(95, 50))), tolerance = 0.01)
  held <- lengths(sf::st_intersects(regions, points))
  expect_equal(held / 60, c(0.95, 0.5), tolerance = 0.04)
  # The density of one observation is a normal one: its regions are ellipses, pi sqrt(det(H)) r^2.
  normal <- kde(cbind(0, 0), H = matrix(c(4, 1, 1, 1), 2), gridsize = 401)
  r <- c(2, 1)
  levels <- exp(-r^2 / 2) / (2 * pi * sqrt(3))
  shapes <- kestrel:::region_geometry(kestrel:::plane_of(normal, "x"), levels)
  expect_equal(sf::st_area(shapes), pi * sqrt(3) * r^2, tolerance = 2e-4)
  # Those of 95 and 50 % of its integral: pi sqrt(det(H)) times a quantile of the chi-squared distribution.
  shares <- sf::st_as_sf(normal, cont = c(95, 50), of = "density")
  expect_equal(shares$area, pi * sqrt(3) * qchisq(shares$probability, 2), tolerance = 2e-3)
  expect_equal(shares$level, (1 - shares$probability) / (2 * pi * sqrt(3)), tolerance = 2e-3)
  # Two normal densities that are far apart.
  apart <- kde(rbind(c(0, 0), c(40, 0)), H = matrix(c(4, 1, 1, 1), 2), gridsize = c(801, 201))
  two <- sf::st_as_sf(apart, cont = 90, of = "density")
  expect_equal(two$area, 2 * pi * sqrt(3) * qchisq(0.9, 2), tolerance = 2e-3)
  expect_length(sf::st_geometry(two)[[1L]], 2L)
})

test_that("rasters have the density at the middle of their cells", {
  fhat <- kde(points, gridsize = c(12, 9))
  raster <- terra::rast(fhat)
  expect_identical(dim(raster), c(9, 12, 1))
  at <- rbind(c(3, 2), c(12, 9), c(1, 5))
  xy <- cbind(fhat$eval.points[[1L]][at[, 1L]], fhat$eval.points[[2L]][at[, 2L]])
  expect_equal(terra::extract(raster, xy)$estimate, fhat$estimate[at], tolerance = 1e-15)
  expect_match(terra::crs(raster), "Pseudo-Mercator")
  made <- stars::st_as_stars(fhat)
  there <- sf::st_as_sf(as.data.frame(xy), coords = c("V1", "V2"), crs = meters)
  expect_equal(stars::st_extract(made, there)$estimate, fhat$estimate[at], tolerance = 1e-15)
  # Without a system.
  expect_equal(terra::extract(terra::rast(kde(places, gridsize = c(12, 9))), xy)$estimate, fhat$estimate[at],
               tolerance = 1e-15)
})

test_that("what kernels have beyond a polygon is put back inside", {
  # A rectangle, where the mass of a kernel is a product of normal probabilities, with a hole.
  outer <- rbind(c(0, 0), c(4, 0), c(4, 2), c(0, 2))
  hole <- rbind(c(1, 0.5), c(1, 1), c(2, 1), c(2, 0.5))
  corners <- rbind(outer, NA, hole)
  x <- cbind(runif(300, 0, 4), runif(300, 0, 2))
  x <- x[!(x[, 1L] >= 1 & x[, 1L] <= 2 & x[, 2L] >= 0.5 & x[, 2L] <= 1), ]
  w <- seq_len(nrow(x))
  h <- c(0.3, 0.2)
  box <- function(lower, upper) {
    (pnorm(upper[1L], x[, 1L], h[1L]) - pnorm(lower[1L], x[, 1L], h[1L])) *
      (pnorm(upper[2L], x[, 2L], h[2L]) - pnorm(lower[2L], x[, 2L], h[2L]))
  }
  mass <- box(c(0, 0), c(4, 2)) - box(c(1, 0.5), c(2, 1))
  fhat <- kde(x, H = diag(h^2), w = w, gridsize = 41)
  within <- kde.truncate(fhat, corners, edge.correct = TRUE)
  at <- rbind(c(0.01, 0.01), c(3, 1), c(1.5, 0.75), c(5, 1), c(2.1, 0.7))
  expected <- apply(at, 1L, function(u) {
    sum(w / sum(w) / mass * dnorm(u[1L], x[, 1L], h[1L]) * dnorm(u[2L], x[, 2L], h[2L]))
  })
  expected[3:4] <- 0
  expect_equal(predict(within, at), expected, tolerance = 1e-12)
  expect_identical(within$w, fhat$w)
  # The direction of rings does not matter, nor does a bandwidth with correlations of a rotated polygon.
  backwards <- rbind(outer[4:1, ], NA, hole[4:1, ])
  expect_equal(predict(kde.truncate(fhat, backwards, edge.correct = TRUE), at), expected, tolerance = 1e-12)
  turn <- matrix(c(0.8, 0.6, -0.6, 0.8), 2)
  turned <- kde.truncate(kde(x %*% turn, H = t(turn) %*% diag(h^2) %*% turn, w = w, gridsize = 41),
                         corners %*% turn, edge.correct = TRUE)
  expect_equal(predict(turned, at %*% turn), expected, tolerance = 1e-12)
  expect_match(capture.output(print(within)), "a polygon of 8 corners", all = FALSE)
})

test_that("estimates at the data are those of spatstat", {
  x <- cbind((1:12 * 7) %% 10 + 0.4, (1:12 * 3) %% 9 + 0.3)
  # density.ppp(sigma = 1.5, diggle = TRUE, at = "points", leaveoneout = FALSE) / 12 of spatstat.explore 3.0-6.
  known <- c(0.01601477482836, 0.0141360447995873, 0.0276441117277671, 0.0178047203859479, 0.0184015886651103,
             0.0336365937875955, 0.0149211873420073, 0.0190616856410123, 0.0323631392566827, 0.0120690677324837,
             0.0158674522976481, 0.0247152930398216)
  within <- kde.truncate(kde(x, h = 1.5, gridsize = 9), cbind(c(0, 11, 11, 0), c(0, 0, 10, 10)), edge.correct = TRUE)
  expect_equal(predict(within, x), known, tolerance = 1e-13)
})

test_that("polygons of sf are boundaries", {
  square <- function(lower, upper) {
    rbind(c(lower, lower), c(upper, lower), c(upper, upper), c(lower, upper), c(lower, lower))
  }
  ring <- sf::st_sfc(sf::st_polygon(list(square(0, 10), square(4, 6))), sf::st_polygon(list(square(20, 22))),
                     crs = meters)
  x <- rbind(cbind(runif(30, 0, 10), runif(30, 0, 3)), c(21, 21))
  spots <- sf::st_as_sf(as.data.frame(x), coords = 1:2, crs = meters)
  fhat <- kde(spots, H = diag(2), gridsize = 61)
  within <- kde.truncate(fhat, ring, edge.correct = TRUE)
  corners <- rbind(square(0, 10)[-5, ], NA, square(4, 6)[-5, ], NA, square(20, 22)[-5, ])
  expect_equal(predict(within, x), predict(kde.truncate(fhat, corners, edge.correct = TRUE), x), tolerance = 1e-12)
  expect_identical(predict(within, rbind(c(5, 5), c(15, 15))), c(0, 0))
  regions <- sf::st_as_sf(within, cont = 90)
  expect_true(all(sf::st_covered_by(regions, sf::st_buffer(sf::st_union(ring), 1e-6), sparse = FALSE)))
  expect_identical(sf::st_crs(regions), meters)
})

test_that("geometries that do not fit are refused", {
  degrees <- sf::st_as_sf(quakes, coords = c("long", "lat"), crs = 4326)
  line <- sf::st_sfc(sf::st_linestring(cbind(1:3, 1:3)))
  square <- sf::st_sfc(sf::st_polygon(list(rbind(c(0, 0), c(9, 0), c(9, 9), c(0, 0)))))
  bow <- sf::st_sfc(sf::st_polygon(list(rbind(c(0, 0), c(9, 9), c(9, 0), c(0, 9), c(0, 0)))), crs = meters)
  fhat <- kde(points, gridsize = 5)
  expect_refused(
    kde(degrees),
    kde(line),
    kde(sf::st_sfc(sf::st_point())),
    kde(points, ~ geometry + 1),
    sf::st_as_sf(kde(faithful$eruptions)),
    sf::st_as_sf(kde(places, eval.points = places)),
    sf::st_as_sf(fhat, cont = 0.5),
    sf::st_as_sf(fhat, of = "volume"),
    sf::st_as_sf(kde(places, gridsize = 9, supp = 0.1), cont = 99, of = "density"),
    terra::rast(kde(places, gridsize = 5, gridtype = "quantile")),
    stars::st_as_stars(kde(faithful$eruptions)),
    kde.truncate(fhat, square),
    kde.truncate(fhat, bow),
    kde.truncate(fhat, points),
    kde.truncate(fhat, rbind(c(0, 0), c(1, 1), NA, c(1, 0))),
    kde.truncate(fhat, rbind(c(0, 0), c(500, 0), c(500, 500)), edge.correct = TRUE),
    kde.truncate(kde(places, kernel = "epanechnikov", gridsize = 9), places, edge.correct = TRUE)
  )
})
