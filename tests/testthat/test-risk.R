# Log ratios of the densities of two samples.

skip_if_not_installed("sf")

cases <- as.matrix(quakes[quakes$depth > 500 & quakes$mag > 4.6, 1:2])
controls <- as.matrix(quakes[quakes$depth < 200 & quakes$mag > 4.9, 1:2])

test_that("the log ratio is that of two estimates with one bandwidth", {
  H <- matrix(c(2, 0.3, 0.3, 1), 2)
  risk <- kde_risk(cases, controls, H = H, gridsize = c(8, 7))
  at <- as.matrix(expand.grid(risk$eval.points))
  f <- lapply(list(cases, controls, rbind(cases, controls)), function(x) {
    predict(kde(x, H = H, gridsize = 3), unname(at))
  })
  expect_equal(as.vector(risk$estimate), log(f[[1]] / f[[2]]), tolerance = 1e-9)
  variance <- 1 / (4 * pi * sqrt(det(H))) * (1 / nrow(cases) + 1 / nrow(controls)) / f[[3]]
  expect_equal(as.vector(risk$p.value), pnorm(as.vector(risk$estimate) / sqrt(variance), lower.tail = FALSE),
               tolerance = 1e-9)
  expect_equal(risk$H, H)
  frame <- as.data.frame(risk)
  expect_identical(frame$estimate, as.vector(risk$estimate))
  line <- kde_risk(cases[, 1], controls[, 1], gridsize = 9)
  expect_equal(line$H, kde(c(cases[, 1], controls[, 1]), gridsize = 2)$H)
  there <- function(x) sf::st_as_sf(as.data.frame(x), coords = 1:2, crs = 3857)
  mapped <- kde_risk(there(cases), there(controls), H = H, gridsize = c(8, 7))
  expect_identical(mapped$estimate, risk$estimate)
  expect_identical(mapped$crs, sf::st_crs(3857))
})

test_that("permutations count labels that are drawn anew", {
  x <- cbind(c(1, 2, 2.5, 4))
  y <- cbind(c(2, 3, 3.5))
  risk <- kde_risk(x, y, h = 0.7, gridsize = 5, B = 0)
  set.seed(3)
  drawn <- kde_risk(x, y, h = 0.7, gridsize = 5, B = 400)
  # All choices of four out of seven.
  all <- c(x, y)
  at <- risk$eval.points
  ratio <- function(first) {
    log(colMeans(dnorm(outer(all[first], at, "-") / 0.7))) - log(colMeans(dnorm(outer(all[-first], at, "-") / 0.7)))
  }
  each <- apply(combn(7, 4), 2, ratio)
  exact <- rowMeans(each >= risk$estimate - 1e-9 * abs(risk$estimate))
  expect_equal(drawn$p.value, exact, tolerance = 0.15)
  # Those that were drawn.
  set.seed(3)
  chosen <- apply(combn(7, 4), 2, paste, collapse = " ")
  sets <- replicate(400, match(paste(sort(sample.int(7, 4)), collapse = " "), chosen))
  count <- rowSums((each >= risk$estimate - 1e-9 * abs(risk$estimate))[, sets])
  expect_equal(drawn$p.value, (1 + count) / 401, tolerance = 1e-14)
})

test_that("prints and pictures", {
  risk <- kde_risk(cases, controls, h = 1.5, gridsize = 9)
  expect_snapshot_output({
    shown(risk)
    shown(kde_risk(1:9, 3:12, h = 1, gridsize = 9))
  })
  expect_gt(drawn(plot(risk)), 0)
  expect_gt(drawn(plot(kde_risk(1:9, 3:12, h = 1, gridsize = 9))), 0)
})

test_that("samples that do not fit are refused", {
  there <- sf::st_as_sf(as.data.frame(cases), coords = 1:2, crs = 3857)
  elsewhere <- sf::st_as_sf(as.data.frame(cases), coords = 1:2, crs = 32601)
  expect_refused(
    kde_risk(cases, controls[, 1]),
    kde_risk(iris[1:3], iris[1:3]),
    kde_risk(cases, c(1, NA)),
    kde_risk(there, elsewhere),
    kde_risk(cases, controls, B = -1),
    kde_risk(cases, controls, H = diag(3)),
    plot(kde_risk(1:9, 3:12, h = 1, gridsize = 9), level = 5),
    print(replace(kde_risk(1:9, 3:12, h = 1, gridsize = 9), "n1", list(0)))
  )
})

test_that("there are levels where one density is zero, and none where both are", {
  x <- with_seed(701, rnorm(20))
  for (B in c(0, 9)) {
    risk <- with_seed(702, kde_risk(x, x + 1000, h = 1, gridsize = 300, B = B))
    infinite <- is.infinite(risk$estimate)
    expect_true(any(infinite & risk$estimate > 0) && any(infinite & risk$estimate < 0), info = B)
    expect_false(any(is.nan(risk$p.value)), info = B)
    expect_identical(is.na(risk$p.value), is.na(risk$estimate), info = B)
    expect_true(all(risk$p.value[infinite & risk$estimate < 0] == 1), info = B)
  }
})
