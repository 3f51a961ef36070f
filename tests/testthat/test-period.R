# kde(period = ): densities of periodic variables, beside sums over many periods in plain R.

# The sum over 1e3 periods (2 * times + 1) to either side of those of kde() at the origin.
wrapped_sums <- function(points, x, H, period, w = rep(1, nrow(x)), kernel = "gaussian", times = 500) {
  moves <- as.matrix(expand.grid(lapply(period, function(p) if (p > 0) p * (-times:times) else 0)))
  rowSums(vapply(seq_len(nrow(moves)), function(i) {
    reference_sums(points + rep(moves[i, ], each = nrow(points)), x, w, H, kernel)
  }, numeric(nrow(points)))) / sum(w)
}

test_that("it is the sum over all periods, at points and on grids, for any H", {
  with_seed(1, {
    hours <- c(0, 24, 24 * runif(28))
    x <- cbind(hours, rnorm(30), rexp(30))
    w <- rexp(30)
    for (h in c(0.4, 5, 30, 70)) {
      at <- as.matrix(c(0, 3.7, 24, -1, 100))
      fhat <- kde(hours, h = h, w = w, period = 24, eval.points = at[, 1])
      expect_close_to_reference(fhat$estimate, wrapped_sums(at %% 24, x[, 1, drop = FALSE], as.matrix(h^2), 24, w))
      fhat <- kde(hours, h = h, w = w, period = 24, gridsize = 9)
      at <- as.matrix(fhat$eval.points)
      expect_close_to_reference(fhat$estimate, wrapped_sums(at, x[, 1, drop = FALSE], as.matrix(h^2), 24, w))
    }
    H <- matrix(c(4, 1, 1, 2), 2)
    points <- cbind(c(0, 24, 23), c(0, 0, 1))
    for (kernel in c("gaussian", "epanechnikov", "uniform")) {
      reference <- wrapped_sums(points, x[, 1:2], H, c(24, 0), w, kernel, times = 4)
      fhat <- kde(x[, 1:2], H = H, w = w, period = c(24, NA), kernel = kernel, eval.points = points)
      expect_close_to_reference(fhat$estimate, reference, info = kernel)
    }
    # With a bound of another variable.
    bounds <- rbind(c(-Inf, Inf), c(-Inf, Inf), c(0, Inf))
    fhat <- kde(x, H = diag(c(4, 1, 0.3)), period = c(24, NA, NA), bounds = bounds, gridsize = 4, compute.cont = FALSE)
    images <- reference_images(x, bounds)
    reference <- wrapped_sums(as.matrix(expand.grid(axes_of(fhat))), images$x, diag(c(4, 1, 0.3)), c(24, 0, 0),
                              times = 3) * nrow(images$x) / 30
    expect_close_to_reference(fhat$estimate, reference)
    expect_identical(range(axes_of(fhat)[[1]]), c(0, 24))
  })
})

test_that("nothing depends on where the period begins", {
  x <- with_seed(2, (24 + rnorm(40, 0, 3)) %% 24)
  here <- kde(x, period = 24)
  expect_equal(here$estimate[1], here$estimate[401])
  expect_message(there <- kde(x, period = 24, bounds = c(-12, Inf)), "whole periods are added")
  expect_equal(there$h, here$h)
  expect_identical(range(there$eval.points), c(-12, 12))
  expect_close_to_reference(predict(there, x), predict(here, x))
  expect_close_to_reference(predict(here, x + 240), predict(here, x))
  turned <- kde((x + 7) %% 24, period = 24)
  expect_equal(turned$h, here$h)
  expect_close_to_reference(predict(turned, x + 7), predict(here, x))
  # The bandwidth is that of the data in one piece, which the cut at 0 does not have.
  one_piece <- (x + 12) %% 24
  expect_equal(here$h, hpi(one_piece), tolerance = 1e-2)
  expect_lt(here$h, 0.9 * hpi(x))
  expect_identical(kde(x, period = 24, kernel = "biweight")$h, kde(one_piece, kernel = "biweight")$h)
})

test_that("it integrates to one, and probabilities, draws, queries and files know the period", {
  x <- with_seed(3, (24 + rnorm(50, 0, 4)) %% 24)
  fhat <- kde(x, period = 24)
  expect_lt(abs(integrate(function(t) predict(fhat, t), 0, 24, rel.tol = 1e-13, subdivisions = 2000)$value - 1), 1e-12)
  expect_equal(summary(fhat)$mass, 1, tolerance = 1e-12)
  expect_identical(pkde(c(-3, 0, 24, 30), fhat), c(0, 0, 1, 1))
  below <- integrate(function(t) predict(fhat, t), 0, 7, rel.tol = 1e-12)$value
  expect_equal(pkde(7, fhat), below, tolerance = 1e-11)
  expect_equal(qkde(below, fhat), 7, tolerance = 1e-9)
  expect_equal(kde_query(fhat, 0, 7)$count, 50 * below, tolerance = 1e-11)
  draws <- with_seed(4, rkde(3000, fhat))
  expect_true(all(draws >= 0 & draws <= 24))
  expect_gt(ks.test(draws, function(q) pkde(q, fhat))$p.value, 1e-3)
  plane <- kde(cbind(x, a = with_seed(5, rnorm(50))), period = c(24, NA), gridsize = 9)
  alone <- kde(x, h = sqrt(plane$H[1, 1]), period = 24)
  expect_close_to_reference(marginal(plane, 1)$estimate, predict(alone, seq(0, 24, 3)))
  expect_null(marginal(plane, 2)$transform)
  skip_if_not_installed("ncdf4")
  file <- tempfile(fileext = ".nc")
  write_pdf(fhat, file)
  expect_identical(read_pdf(file)$transform, fhat$transform)
  unlink(file)
})

test_that("prints say the period, and refusals what is wrong", {
  x <- faithful$eruptions
  expect_snapshot_output(shown(kde(x, h = 0.3, period = 6)))
  plane <- kde(faithful, h = 3, period = c(NA, 100), bounds = cbind(c(0, -Inf), Inf), gridsize = 5)
  expect_snapshot_output(shown(plane))
  expect_snapshot(fhat <- kde(x, h = 0.3, period = 3))
  expect_snapshot(error = TRUE, {
    kde(x, period = 0)
    kde(x, period = "a")
    kde(faithful, period = 1:3)
    kde(x, period = 6, bounds = c(0, 7))
    kde(faithful, period = c(6, NA), bounds = cbind(c(0, 0), c(7, 100)))
    kde(x, period = 6, positive = TRUE)
    kde(x, period = 6, h = 1, xmin = -1)
  })
  expect_identical(kde(x, period = NA)$estimate, kde(x)$estimate)
  expect_identical(kde(x, period = Inf)$estimate, kde(x)$estimate)
})
