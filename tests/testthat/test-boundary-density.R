# kde.boundary(), hbeta() and kde.truncate(), beside sums and integrals in plain R.

steady_lines <- function(code) sub("(seconds +).*", "\\1<time>", capture.output(code))

# Chen's second form (1999, section 3), from its formulas.
chen_kernels <- function(x, u, b) {
  # 1 at the end, up to rounding.
  rho <- function(u) pmax(2 * b^2 + 2.5 - sqrt(4 * b^4 + 6 * b^2 + 2.25 - u^2 - u / b), 1)
  p <- ifelse(u < 2 * b, rho(pmin(u, 2 * b)), u / b)
  q <- ifelse(u > 1 - 2 * b, rho(pmin(1 - u, 2 * b)), (1 - u) / b)
  vapply(seq_along(u), function(i) dbeta(x, p[i], q[i]), numeric(length(x)))
}

# The linear boundary kernel in d variables, with moments by integrate() and the system of Hazelton & Marshall (2009).
linear_kernels <- function(x, points, h, lower, upper) {
  d <- ncol(x)
  vapply(seq_len(nrow(points)), function(i) {
    moment <- function(k, power) {
      from <- max((points[i, k] - upper[k]) / h[k], -15)
      to <- min((points[i, k] - lower[k]) / h[k], 15)
      integrate(function(u) u^power * dnorm(u), from, to, rel.tol = 1e-13, subdivisions = 500)$value
    }
    moments <- vapply(seq_len(d), function(k) vapply(0:2, function(power) moment(k, power), 0), numeric(3))
    # E of (1, u)(1, u)' under the product.
    exponents <- rbind(0, diag(d))
    M <- outer(seq_len(d + 1), seq_len(d + 1), Vectorize(function(a, b) {
      prod(moments[cbind(exponents[a, ] + exponents[b, ] + 1, seq_len(d))])
    }))
    c <- solve(M, c(1, numeric(d)))
    u <- (rep(points[i, ], each = nrow(x)) - x) / rep(h, each = nrow(x))
    (c[1] + drop(u %*% c[-1])) * exp(rowSums(dnorm(u, log = TRUE))) / prod(h)
  }, numeric(nrow(x)))
}

boundary_data <- function(n, d) cbind(rbeta(n, 1, 3), 10 + 5 * rbeta(n, 2, 1), rexp(n))[, seq_len(d), drop = FALSE]
lower_bounds <- c(0, 10, 0)
upper_bounds <- c(1, 15, Inf)
unit_integral <- function(f, breaks) {
  sum(vapply(seq_along(breaks)[-1], function(k) {
    integrate(f, breaks[k - 1], breaks[k], rel.tol = 1e-13, subdivisions = 2000, stop.on.error = FALSE)$value
  }, 0))
}

test_that("linear boundary kernels have their moments, at points and on grids", {
  with_seed(1, {
    for (d in 1:3) for (wide in c(1, 8)) {
      k <- seq_len(d)
      x <- boundary_data(30, d)
      w <- rexp(30)
      h <- wide * c(0.1, 0.6, 0.3)[k]
      points <- rbind(x[1:6, , drop = FALSE], lower_bounds[k])
      fhat <- kde.boundary(x, H = diag(h^2, d), w = w, xmin = lower_bounds[k], xmax = upper_bounds[k],
                           boundary.kernel = "linear", eval.points = points)
      kernels <- linear_kernels(x, points, h, lower_bounds[k], upper_bounds[k])
      expect_close_to_reference(fhat$estimate * fhat$mass, colSums(w * kernels) / sum(w), tol = 1e-11)
      on_grid <- kde.boundary(x, H = diag(h^2, d), w = w, xmin = lower_bounds[k], xmax = upper_bounds[k],
                              boundary.kernel = "linear", gridsize = 5, threads = 2)
      expect_close_to_reference(on_grid$estimate, predict(on_grid, expand.grid(axes_of(on_grid))))
      expect_identical(on_grid$mass, fhat$mass)
    }
  })
})

test_that("beta kernels are Chen's", {
  with_seed(2, {
    for (d in 1:3) for (h in c(0.02, 0.1, 0.5)) {
      k <- seq_len(d)
      x <- cbind(rbeta(40, 1, 3), 10 + 5 * rbeta(40, 2, 1), -rbeta(40, 2, 2))[, k, drop = FALSE]
      lower <- c(0, 10, -1)[k]
      width <- c(1, 5, 1)[k]
      w <- rexp(40)
      fhat <- kde.boundary(x, H = diag((h * width)^2, d), w = w, xmin = lower, xmax = lower + width,
                           gridsize = c(9, 5, 4)[d])
      kernels <- lapply(k, function(j) {
        at <- (axes_of(fhat)[[j]] - lower[j]) / width[j]
        chen_kernels((x[, j] - lower[j]) / width[j], at, h^2)
      })
      which <- as.matrix(expand.grid(lapply(kernels, function(one) seq_len(ncol(one)))))
      reference <- apply(which, 1, function(at) {
        sum(w * Reduce(`*`, lapply(k, function(j) kernels[[j]][, at[j]]))) / sum(w) / prod(width)
      })
      expect_close_to_reference(fhat$estimate * fhat$mass, reference)
      expect_close_to_reference(predict(fhat, expand.grid(axes_of(fhat))), fhat$estimate)
    }
  })
})

test_that("beta kernels of many observations are summed from nodes of cells", {
  with_seed(21, {
    # Values close to the ends, on them, and tied; narrow and wide kernels.
    u <- c(0, 0, 1, 1e-300, 1e-9, 1 - 1e-9, 0.5, 0.5, rbeta(300, 0.3, 2), rbeta(300, 40, 3), runif(600))
    w <- rexp(length(u))
    at <- c(0, 1e-12, 1e-6, 1e-3, 0.01, seq(0.05, 0.95, 0.09), 0.999, 1)
    for (b in c(1e-8, 1e-4, 0.01, 0.1, 0.25)) {
      found <- beta_sums_cpp(as.matrix(u), w, b, as.matrix(at), list(), run_options())
      kernels <- chen_kernels(u, at, b)
      # Relative to the kernels' largest values, over the observations in reach. Rounding of u counts eps / sqrt(b).
      largest <- apply(chen_kernels(c(seq(0, 1, length.out = 2001), at), at, b), 2, max)
      reached <- colSums(w * (kernels > 1e-17 * rep(largest, each = length(u))))
      allowed <- largest * (1e-13 * reached + 1e-16 * sum(w)) + 1e-14 / sqrt(b) * found
      expect_lte(max(abs(found - colSums(w * kernels)) / allowed), 1, label = paste("error for b =", b))
      expect_same_bits(beta_sums_cpp(as.matrix(u), w, b, matrix(0, 0, 1), list(at), run_options(3)), found)
      expect_close_to_reference(beta_masses(rep(u, 4), b), rep(all_beta_masses(u, b), 4), tol = 1e-11)
    }
    for (d in 2:3) {
      x <- matrix(u[seq_len(60 * d)], 60)
      w <- w[1:60]
      b <- c(0.01, 0.1, 0.2)[seq_len(d)]
      axes <- list(c(0, 0.02, 0.6), c(0, 0.3, 0.9, 1), c(0.001, 0.7))[seq_len(d)]
      points <- as.matrix(expand.grid(axes))
      reference <- all_beta_kernels(x, w, b, points)
      expect_close_to_reference(beta_sums_cpp(x, w, b, points, list(), run_options()), reference)
      expect_close_to_reference(beta_sums_cpp(x, w, b, matrix(0, 0, d), axes, run_options(2)), reference)
    }
    # kde.boundary() chooses the cells for many observations.
    x <- cbind(rbeta(3000, 1, 3), runif(3000))
    for (d in 1:2) {
      fhat <- kde.boundary(x[, seq_len(d)], h = 0.2, xmin = 0, xmax = 1, gridsize = 31)
      axes <- axes_of(fhat)
      expect_true(takes_beta_cells(x[, seq_len(d), drop = FALSE], rep(0.04, d), axes))
      reference <- all_beta_kernels(x[, seq_len(d), drop = FALSE], fhat$w, rep(0.04, d), axes) / 3000
      expect_close_to_reference(fhat$estimate * fhat$mass, reference)
    }
  })
})

test_that("both integrate to one", {
  x <- with_seed(3, c(0.5, rbeta(50, 1, 3)))
  for (h in c(0.03, 0.2, 0.5)) {
    fhat <- kde.boundary(x, h = h, xmin = 0, xmax = 1, boundary.kernel = "linear")
    expect_lt(abs(unit_integral(function(t) predict(fhat, t), c(0, 0.25, 0.5, 0.75, 1)) - 1), 1e-12)
    fhat <- kde.boundary(x, h = h, xmin = 0, xmax = 1)
    breaks <- sort(unique(c(0, 2 * h^2 * c(1e-3, 1e-2, 0.1, 1), 0.5, 1 - 2 * h^2, 1)))
    expect_lt(abs(unit_integral(function(t) predict(fhat, t), breaks) - 1), 1e-12)
    expect_gte(min(fhat$estimate), 0)
  }
  one_side <- kde.boundary(x, h = 0.1, xmin = 0, xmax = Inf, boundary.kernel = "linear")
  expect_lt(abs(unit_integral(function(t) predict(one_side, t), c(0, 0.25, 0.5, 1, 2)) - 1), 1e-12)
  # Far from the bounds the kernels are normal densities, and a bound at infinity is none.
  far <- kde.boundary(x, h = 0.1, xmin = -Inf, xmax = Inf, boundary.kernel = "linear", eval.points = 0:9 / 9)
  expect_close_to_reference(far$estimate, reference_density(0:9 / 9, x, 0.01))
  expect_close_to_reference(far$mass, 1)
  # Products of integrals in two dimensions: the trapezoid rule on a fine grid has an error of the square of its step.
  plane <- cbind(x, rev(x))
  for (kernel in c("beta", "linear")) {
    fhat <- kde.boundary(plane, H = diag(2) * 0.04, xmin = 0, xmax = 1, boundary.kernel = kernel, gridsize = 161)
    expect_equal(grid_integral(axes_of(fhat), fhat$estimate), 1, tolerance = 1e-3)
  }
})

test_that("awkward shapes: one observation, bounds at data, ties, zero weights, far offsets, mirrored data", {
  for (kernel in c("beta", "linear")) {
    at <- seq(0, 1, 0.125)
    call <- function(x, offset = 0, ...) {
      kde.boundary(x + offset, h = 0.25, xmin = offset, xmax = offset + 1, boundary.kernel = kernel,
                   eval.points = at + offset, ...)
    }
    for (x in list(0.25, c(0.25, 0.25), c(0, 0.5, 1), c(0.125, 0.5, 0.5, 0.75))) {
      expect_close_to_reference(rev(call(1 - x)$estimate), call(x)$estimate)
      expect_close_to_reference(call(x, 2^30)$estimate, call(x)$estimate)
    }
    x <- c(0.125, 0.5, 0.75)
    expect_close_to_reference(call(c(x, 0.3), w = c(1, 1, 1, 0))$estimate, call(x)$estimate)
    expect_identical(predict(call(x), c(-1e-9, 1 + 1e-9)), c(0, 0))
    expect_same_bits(call(x, threads = 3)$estimate, call(x)$estimate)
    expect_identical(kde.boundary(x, h = 0.2, boundary.kernel = kernel)$eval.points, seq(0.125, 0.75, length.out = 401))
  }
  # At the ends no shape is below 1, where a kernel would be infinite.
  for (h in seq(0.02, 0.5, length.out = 97)) {
    ends <- kde.boundary(c(0, 0.4, 1), h = h, xmin = 0, xmax = 1, eval.points = 0:1)
    own <- dbeta(0, 1, 1 / h^2) # of the observation there
    expect_close_to_reference(ends$estimate * ends$mass, (own + dbeta(c(0.4, 0.6), 1, 1 / h^2)) / 3)
  }
  # Narrow kernels are integrated one by one, those of wide ones over the whole interval.
  u <- c(0, 1e-9, 1e-4, 0.003, 0.2, 0.19999, 0.2001, 0.5, 0.77, 0.9999, 1)
  for (b in c(0.99e-3, 1e-5, 1e-9)) {
    mass <- vapply(u, function(one) {
      sd <- sqrt(b * one * (1 - one)) + 3 * b
      ends <- pmin(pmax(one + c(-40, -5, 0, 5, 40) * sd, 0), 1)
      breaks <- sort(unique(c(ends, 2 * b, 1 - 2 * b, 1e-3 * b)))
      unit_integral(function(t) chen_kernels(one, t, b)[seq_along(t)], breaks)
    }, 0)
    expect_close_to_reference(beta_masses(u, b), mass, tol = 1e-10, info = b)
  }
  expect_close_to_reference(beta_masses(u, 1e-3 * (1 - 1e-15)), beta_masses(u, 1e-3), tol = 1e-11)
  # The kernels of tiny bandwidths by dbeta().
  fhat <- kde.boundary(c(0.2, 0.6), h = 0.01, xmin = 0, xmax = 1, eval.points = c(0.2, 0.21, 0.6))
  expect_close_to_reference(fhat$estimate * fhat$mass, colMeans(chen_kernels(c(0.2, 0.6), c(0.2, 0.21, 0.6), 1e-4)),
                            tol = 1e-11)
})

test_that("at a bound they follow the density, where others do not", {
  x <- with_seed(4, rexp(5000))
  linear <- kde.boundary(x, xmin = 0, xmax = Inf, boundary.kernel = "linear")
  plain <- kde(x, h = linear$h)
  expect_lt(abs(predict(linear, 0) - 1), 0.1)
  expect_lt(abs(predict(kde(x, h = linear$h, bounds = c(0, Inf)), 0) - 1), 0.2)
  expect_lt(predict(plain, 0), 0.6)
  expect_identical(linear$h, kde(x, bounds = c(0, Inf))$h)
  u <- with_seed(5, runif(5000))
  expect_lt(max(abs(kde.boundary(u, xmin = 0, xmax = 1)$estimate - 1)), 0.2)
})

test_that("the reference bandwidth minimises the error of a beta density, and cross-validation its criterion", {
  # Moments of a beta distribution with shapes 3 and 4, exactly.
  u <- qbeta((seq_len(4000) - 0.5) / 4000, 3, 4)
  second <- function(t) { # of its density
    f <- dbeta(t, 3, 4)
    f * ((2 / t - 3 / (1 - t))^2 - 2 / t^2 - 3 / (1 - t)^2)
  }
  curvature <- integrate(function(t) (t * (1 - t) * second(t))^2, 0, 1, rel.tol = 1e-10)$value
  spread <- integrate(function(t) dbeta(t, 3, 4) / sqrt(t * (1 - t)), 0, 1, rel.tol = 1e-10)$value / (2 * sqrt(pi))
  expect_equal(hbeta(u, 0, 1), (spread / (4000 * curvature))^(1 / 5), tolerance = 1e-3)
  expect_equal(hbeta(10 * u + 5, 5, 15), 10 * hbeta(u, 0, 1))
  for (shapes in list(c(2, 2), c(2, 7), c(40, 3), c(300, 900))) {
    p <- shapes[1]
    q <- shapes[2]
    of <- function(t) dbeta(t, p, q) * (((p - 1) / t - (q - 1) / (1 - t))^2 - (p - 1) / t^2 - (q - 1) / (1 - t)^2)
    ends <- c(0, qbeta(c(1e-6, 0.5, 1 - 1e-6), p, q), 1)
    found <- beta_error(p, q)
    expect_equal(found$curvature, unit_integral(function(t) (t * (1 - t) * of(t))^2, ends))
    expect_equal(found$spread, unit_integral(function(t) dbeta(t, p, q) / sqrt(t * (1 - t)), ends) / (2 * sqrt(pi)))
  }
  # A narrow density is nearly normal.
  narrow <- normal_error(0.3, 0.21 / (1e7 + 1))
  expect_equal(beta_error(0.3e7, 0.7e7), narrow, tolerance = 1e-5)
  expect_equal(kde.boundary(u, xmin = 0, xmax = 1)$h, hbeta(u, 0, 1))
  # The mean integrated squared error of a small sample, by the exact mean and variance of kernels.
  x <- with_seed(6, rbeta(60, 1, 2))
  w <- with_seed(6, rexp(60))
  p <- w / sum(w)
  criterion <- function(b) {
    f <- function(t) colSums(p * chen_kernels(x, t, b))
    kernels <- chen_kernels(x, x, b)
    others <- sum(p * (colSums(p * kernels) - p * diag(kernels))) / (1 - sum(p^2))
    unit_integral(function(t) f(t)^2, sort(unique(c(0, 2 * b * c(1e-2, 0.1, 1), 0.5, 1 - 2 * b, 1)))) - 2 * others
  }
  h <- hbeta(x, 0, 1, method = "lscv", w = w)
  expect_gt(criterion(0.95 * h^2), criterion(h^2))
  expect_gt(criterion(min(1.05 * h^2, 0.25)), criterion(h^2) - 1e-9)
  grid <- exp(seq(log(0.002), log(0.25), length.out = 25))
  expect_lte(criterion(h^2), min(vapply(grid, criterion, 0)) + 1e-6)
})

test_that("a truncated density is zero outside of the polygon and integrates to one over its grid", {
  x <- with_seed(7, cbind(a = rbeta(80, 1, 2), b = rbeta(80, 2, 1)))
  fhat <- kde(x, gridsize = c(51, 41))
  triangle <- rbind(c(0, 0), c(1, 0), c(0, 1))
  within <- kde.truncate(fhat, triangle)
  grid <- expand.grid(axes_of(fhat))
  inside <- grid[, 1] >= 0 & grid[, 2] >= 0 & rowSums(grid) <= 1
  expect_identical(as.vector(within$estimate > 0), inside)
  expect_equal(grid_integral(axes_of(within), within$estimate), 1)
  expect_equal(within$estimate[inside] * within$mass, fhat$estimate[inside])
  points <- rbind(c(0.1, 0.3), c(0.5, 0.5), c(0.6, 0.6), c(0, 0), c(1, 0), c(-0.1, 0.2))
  expect_equal(predict(within, points) * within$mass, predict(fhat, points) * c(1, 1, 0, 1, 1, 0))
  # In either direction, closed or not, and where a corner is level with the points.
  expect_identical(kde.truncate(fhat, triangle[c(3:1, 3), ])$estimate, within$estimate)
  star <- rbind(c(0, 0), c(2, 0), c(2, 2), c(1, 1), c(0, 2))
  expect_identical(is_within(rbind(c(0.5, 1), c(1, 1), c(1, 1.5), c(1.5, 1), c(3, 1), c(-1, 0), c(-1, 2)), star),
                   c(TRUE, TRUE, FALSE, TRUE, FALSE, FALSE, FALSE))
  # Half of the data within have a density above the median level.
  at_data <- predict(within, x)
  expect_equal(unname(contourLevels(within, cont = 50, approx = FALSE)), median(at_data[at_data > 0]))
  bounded <- kde.truncate(kde(x, bounds = cbind(c(0, 0), c(1, 1)), gridsize = 31), triangle)
  expect_equal(predict(bounded, c(0.2, 0.2)) * bounded$mass, predict(bounded$untruncated, c(0.2, 0.2)))
})

test_that("the methods print, summarise, draw and convert", {
  x <- faithful$eruptions
  fhat <- kde.boundary(x, h = 0.3, xmin = 1.6, xmax = Inf, boundary.kernel = "linear")
  expect_snapshot_output(cat(steady_lines(summary(fhat)), sep = "\n"))
  plane <- kde.boundary(faithful, H = diag(c(0.1, 30)), xmin = c(1, 40), xmax = c(6, 100), gridsize = 21)
  expect_snapshot_output(cat(steady_lines(print(plane)), sep = "\n"))
  triangle <- kde.truncate(kde(faithful, gridsize = 21), cbind(c(1, 5, 5), c(40, 40, 90)))
  expect_snapshot_output(cat(steady_lines(summary(triangle)), sep = "\n"))
  expect_gt(drawn(plot(fhat, cont = 50)), 3)
  expect_gt(drawn(plot(plane)), 10)
  expect_identical(as.data.frame(plane)$estimate, as.vector(plane$estimate))
  expect_identical(names(as.data.frame(plane)), c("eruptions", "waiting", "estimate"))
  expect_identical(contourLevels(plane, cont = 1:99), rev(plane$cont)[99:1])
})

test_that("bad arguments are refused", {
  x <- c(0.1, 0.4, 0.9)
  fhat <- kde(faithful, gridsize = 5)
  expect_snapshot(error = TRUE, {
    kde.boundary(x, xmin = 0.2, xmax = 1)
    kde.boundary(x, xmin = 1, xmax = 0)
    kde.boundary(x, xmin = 0, xmax = Inf)
    kde.boundary(x, xmin = "0")
    kde.boundary(x, xmin = 0, xmax = 1, h = 0.6)
    kde.boundary(x, xmin = -1e9, xmax = 1e9, h = 0.6)
    kde.boundary(faithful, H = Hns(faithful))
    kde.boundary(iris[1:4])
    kde.boundary(x, boundary.kernel = "gamma")
    kde.boundary(rep(1, 5), h = 1)
    kde.boundary(c(0, 0, 1))
    hbeta(c(0, 1), method = "lscv")
    hbeta(faithful)
    hbeta(x, 0, 1, method = "plugin")
    hbeta(0.5, 0, 1)
    kde.truncate(kde(x, h = 1), cbind(1:3, 1))
    kde.truncate(fhat, c(0, 1))
    kde.truncate(fhat, cbind(1:3, c(1, 2, NA)))
    kde.truncate(fhat, cbind(c(100, 101, 101), c(0, 0, 1)))
    kde.truncate(fhat)
    plot(kde.boundary(x, h = 0.2, eval.points = 0.5))
  })
})
