# Numbers near the ends of their range: a result in the units of the data, or an error that names usable units.

clusters <- function() {
  with_seed(5, {
    x <- matrix(rnorm(120), 40)
    x[21:40, ] <- x[21:40, ] + 3
    x
  })
}

selectors <- list(
  Hlscv = Hlscv, Hlscv.diag = Hlscv.diag, scalar = function(x) Hlscv(x, type = "scalar"), Hscv = Hscv,
  Hscv.diag = Hscv.diag, Hpi = Hpi, Hpi.diag = Hpi.diag, unconstr = function(x) Hpi(x, pilot = "unconstr")
)

test_that("bandwidth matrices follow a power of two to the bit, however small or large", {
  x <- clusters()
  for (name in names(selectors)) {
    H <- selectors[[name]](x)
    for (power in c(-480, -300, 9, 480)) {
      expect_same_bits(selectors[[name]](x * 2^power), H * 4^power, info = paste(name, power))
    }
  }
})

test_that("bandwidth matrices follow units that differ between columns", {
  x <- clusters()
  unit <- 2^c(-400, 0, 200)
  for (name in names(selectors)) {
    H <- selectors[[name]](x)
    scaled <- selectors[[name]](x * rep(unit, each = 40)) / outer(unit, unit)
    expect_close_to_reference(scaled, H, tol = 1e-5, info = name)
  }
  expect_true(all(diag(Hpi(cbind(x[, 1], 1e20 * x[, 2]))) > 0))
})

test_that("objectives are those of the units of the data", {
  x <- clusters()
  for (selector in list(Hlscv, Hscv, Hpi)) {
    found <- selector(x, amise = TRUE)
    small <- selector(x * 2^-100, amise = TRUE)
    expect_identical(small$objective, found$objective * 2^300)
  }
  paths <- lapply(list(x, x * 2^-100), function(x) attr(Hlscv(x, type = "scalar"), "path"))
  expect_identical(paths[[2]]$objective, paths[[1]]$objective * 2^300)
  expect_identical(lscv(x * 2^-100, H = diag(2^-200, 3)), lscv(x, H = diag(3)) * 2^300)
  # The square of the determinant of H would be out of range.
  y <- x[, 1:2] * 2^500
  expect_identical(lscv(y, H = diag(2^1000, 2)), lscv(x[, 1:2], H = diag(2)) * 2^-1000)
})

test_that("LSCV of columns in very different units is that of sums over all pairs", {
  # Many enough for a grid, for which there is no memory.
  x <- with_seed(6, cbind(rnorm(2000), rnorm(2000) * 1e25))
  # No pair of two rows is in reach: the terms i = j of int fhat^2 are left.
  expect_equal(lscv(x, h = 0.04), 1 / (4 * pi * 0.04^2 * 2000), tolerance = 1e-12)
})

test_that("units in which a density or a criterion is no number are refused", {
  x <- clusters()
  expect_refused(
    lscv(x * 1e-140, H = diag(1e-280, 3)),
    lscv(x, h = c(1, 1e-150)),
    kde(x * 1e-140, H = diag(1e-280, 3)),
    kde(x * 1e140, H = diag(1e280, 3), eval.points = x),
    kde(exp(x) * 1e-140, H = diag(3), positive = TRUE, adj.positive = rep(0, 3), eval.points = exp(x) * 1e-140),
    kde(exp(x) * 1e-140, H = diag(3), positive = TRUE, adj.positive = rep(0, 3), gridsize = 3, xmin = rep(1e-141, 3),
        xmax = rep(1e-139, 3)),
    kde(x[, 1], h = 1, gridtype = "sqrt"),
    kde(x[, 1], h = 1, gridtype = "exp", xmin = 0, xmax = 800),
    kde(x[, 1], h = 1, xmin = -1e308, xmax = 1e308)
  )
})

test_that("more replicates or draws than there is memory for are refused", {
  old <- options(kestrel.memory_limit = 1e8)
  on.exit(options(old))
  expect_snapshot_error(hboot(clusters()[, 1], B = 1e6), class = "kestrel_error_memory")
  expect_snapshot_error(rkde(1e8, kde(clusters(), H = diag(3), gridsize = 2)), class = "kestrel_error_memory")
})

test_that("an estimate of no points or of zeros is shown without a warning", {
  x <- clusters()[, 1:2]
  fhat <- kde(x, H = diag(2), eval.points = x[0, ])
  expect_silent(lines <- capture.output(print(fhat)))
  expect_false(any(grepl("estimate ", lines)))
  away <- suppressWarnings(kde(x, H = diag(2), xmin = c(90, 90), xmax = c(99, 99), gridsize = 5, kernel = "uniform"))
  flat <- kde(cbind(1e-200 * (1:5), 1e-200 * (5:1)), H = diag(2), gridsize = 2)
  for (fhat in list(away, flat)) {
    for (display in c("filled.contour", "slice")) expect_warning(drawn(plot(fhat, display = display)), NA)
  }
})

test_that("regions between points of a coarse grid, and of an estimate that is all but flat, are drawn", {
  x <- clusters()
  coarse <- kde(x[, 1], h = 0.1, gridsize = 2)
  expect_gt(contourLevels(coarse, cont = 1, approx = FALSE), max(coarse$estimate))
  expect_gt(drawn(plot(coarse, cont = c(1, 50), approx.cont = FALSE)), 0)
  flat <- kde(x[, 1:2] * 1e-9, H = diag(0.1, 2), gridsize = 3, xmin = c(-1e-9, -1e-9), xmax = c(1e-9, 1e-9))
  expect_lt(diff(range(flat$estimate)), 1e-15)
  expect_gt(drawn(plot(flat)), 0)
})

test_that("weights of a regression whose squares are no numbers are refused", {
  x <- seq(0, 1, length.out = 20)
  expect_refused(npregbw(x, x^2, w = c(1e300, rep(1, 19))), npreg(x, x^2, bws = 0.3, w = c(1, rep(1e-101, 19))))
})

test_that("se() of what is no fit is refused", {
  expect_refused(se(1:3), se(NULL), se(kde))
})

test_that("starts far from the data's bandwidths and a million levels are refused", {
  x <- clusters()
  expect_refused(
    Hpi(x, Hstart = diag(1e266, 3)),
    Hpi.diag(x, Hstart = diag(1e-266, 3)),
    contourLevels(kde(x[, 1], h = 1), nlevels = 1e9)
  )
})

test_that("a marginal without mass has levels of zero, whatever its units", {
  for (unit in c(1e-60, 1, 1e60)) {
    x <- cbind(c(1, 2, 3), c(2, 1, 3), c(1, 3, 2)) * unit
    # On the logarithmic scale the data are farther from the grid's points than the bandwidth.
    fhat <- suppressWarnings(kde(x, H = diag(1e-9, 3), kernel = "uniform", positive = TRUE, gridsize = 4))
    expect_identical(max(fhat$estimate), 0)
    expect_true(all(marginal(fhat, c(3, 1))$cont == 0))
  }
})
