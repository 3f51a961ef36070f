# Density estimates with bandwidths that vary, beside sums in plain R.

# sum_j w_j N(e; x_j, (h_j scale)^2) / n for rows of points; h is one number for each observation, or for each point
# with by_point.
plain_variable <- function(x, points, h, scale = rep(1, ncol(x)), w = rep(1, nrow(x)), by_point = FALSE) {
  vapply(seq_len(nrow(points)), function(i) {
    width <- if (by_point) h[i] else h
    u <- (rep(points[i, ], each = nrow(x)) - x) / rep(scale, each = nrow(x)) / width
    sum(w / sum(w) * exp(-rowSums(u^2) / 2) / (sqrt(2 * pi) * width)^ncol(x)) / prod(scale)
  }, 0)
}

grid_matrix <- function(fhat) unname(as.matrix(expand.grid(axes_of(fhat))))

# One over the density of a pilot estimate, and the Laplacian of its Laplacian by differences.
plain_bilaplacian <- function(x, at, H, step) {
  of <- function(points) 1 / plain_kdde(x, points, H, integer(0))$value
  laplacian <- function(points) {
    d <- ncol(points)
    sums <- -2 * d * of(points)
    for (k in seq_len(d)) for (sign in c(-1, 1)) {
      moved <- points
      moved[, k] <- moved[, k] + sign * step
      sums <- sums + of(moved)
    }
    sums / step^2
  }
  d <- ncol(at)
  sums <- -2 * d * laplacian(at)
  for (k in seq_len(d)) for (sign in c(-1, 1)) {
    moved <- at
    moved[, k] <- moved[, k] + sign * step
    sums <- sums + laplacian(moved)
  }
  sums / step^2
}

test_that("sample point estimates are the sums, on grids and at points, in one to three dimensions", {
  set.seed(1)
  for (d in 1:3) {
    x <- matrix(rnorm(400 * d), ncol = d) %*% diag((1:d)^2, d)
    w <- rexp(400)
    h <- exp(runif(400, -3, 1.5))
    scale <- sqrt(diag(cov.wt(x, w / sum(w))$cov))
    scale <- scale * sqrt((1 - sum((w / sum(w))^2)) / (1 - 1 / (sum(w)^2 / sum(w^2))))
    fhat <- kde.sp(x, hs = h, w = w, gridsize = rep(9, d))
    expect_equal(fhat$scale, scale)
    reference <- plain_variable(x, grid_matrix(fhat), h, scale, w)
    expect_close_to_reference(fhat$estimate, reference)
    points <- x[1:50, , drop = FALSE] + 0.1
    reference <- plain_variable(x, points, h, scale, w)
    expect_close_to_reference(kde.sp(x, hs = h, w = w, eval.points = points)$estimate, reference)
    expect_close_to_reference(predict(fhat, points), reference)
  }
})

test_that("so they are with many observations in a range of bandwidths, and with few bandwidths", {
  set.seed(2)
  x <- matrix(rnorm(4000), ncol = 2)
  for (h in list(exp(rnorm(2000, -1)), rep(c(0.1, 0.2, 0.4), length.out = 2000), rep(0.3, 2000))) {
    fhat <- kde.sp(x, hs = h, gridsize = c(31, 21))
    expect_close_to_reference(fhat$estimate, plain_variable(x, grid_matrix(fhat), h, fhat$scale))
    expect_same_bits(kde.sp(x, hs = h, gridsize = c(31, 21), threads = 3)$estimate, fhat$estimate)
    points <- x[1:30, ] + 0.05
    at_points <- predict(fhat, points)
    expect_close_to_reference(at_points, plain_variable(x, points, h, fhat$scale), scale = max(fhat$estimate))
    expect_same_bits(predict(fhat, points, threads = 3), at_points)
  }
})

test_that("the polynomials leave 6e-15 of a kernel, and are exact at their points", {
  points <- chebyshev_points(c(0, widest_log_range))
  t <- seq(0, widest_log_range, length.out = 301)
  s <- c(0, exp(seq(-5, 9, length.out = 500)))
  for (d in 1:3) {
    kernel <- function(t) exp(-d * t - outer(exp(-2 * t), s) / 2)
    expect_lt(max(abs(chebyshev_polynomials(points, t) %*% kernel(points$at) - kernel(t))), 6e-15)
  }
  expect_identical(chebyshev_polynomials(points, points$at), diag(chebyshev_count))
  expect_identical(lengths(bandwidth_ranges(c(1, 1, 8, 100))), c(`1` = 2L, `3` = 1L, `7` = 1L))
})

test_that("balloon estimates have the bandwidths of their points", {
  set.seed(3)
  for (d in 1:3) {
    x <- matrix(rnorm(150 * d), ncol = d)
    w <- rexp(150)
    points <- x[1:60, , drop = FALSE] * 1.2
    H <- as.matrix(0.3 * diag(d) + 0.1)
    n <- sum(w)^2 / sum(w^2)
    f <- plain_kdde(x, points, H, integer(0), w)$value
    laplacian <- Reduce(`+`, lapply(1:d, function(k) plain_kdde(x, points, H, c(k, k), w)$value))
    h <- (d * f / ((4 * pi)^(d / 2) * n * laplacian^2))^(1 / (d + 4))
    fhat <- kde.balloon(x, H = H, w = w, eval.points = points)
    expect_equal(sqrt(fhat$H), h, tolerance = 1e-8)
    reference <- plain_variable(x, points, sqrt(fhat$H), w = w, by_point = TRUE)
    expect_close_to_reference(fhat$estimate, reference)
    expect_identical(fhat$mass, 1)
    on_grid <- kde.balloon(x, H = H, w = w, gridsize = rep(11, d))
    expect_equal(grid_integral(axes_of(on_grid), on_grid$estimate), 1)
    expect_close_to_reference(predict(on_grid, grid_matrix(on_grid)), as.vector(on_grid$estimate))
    expect_close_to_reference(predict(on_grid, points) * on_grid$mass, reference)
  }
  # Out of reach of all observations the bandwidth is infinite and the density 0.
  expect_identical(kde.balloon(c(1, 2, 4), h = 1, eval.points = c(2, 1e3))$estimate[2], 0)
})

test_that("sample point bandwidths are Abramson's, with the least error at each observation", {
  set.seed(4)
  for (d in 1:2) {
    x <- matrix(rnorm(120 * d), ncol = d)
    x <- x / rep(apply(x, 2L, sd), each = 120)
    H <- as.matrix(0.4 * diag(d) + 0.1)
    f <- plain_kdde(x, x, H, integer(0))$value
    bias <- plain_bilaplacian(x, x, H, 2e-3)
    h <- (8 * d * f^(1 + d / 2) / ((4 * pi)^(d / 2) * 120 * bias^2))^(1 / (d + 8)) / sqrt(f)
    found <- sqrt(kde.sp(x, H = H, gridsize = rep(5, d))$H)
    # Differences lose digits where the bias is about zero.
    expect_lt(median(abs(found / h - 1)), 1e-4)
    expect_lt(max(abs((found / h)^-(d + 8) - 1) * abs(bias)) / max(abs(bias)), 1e-2)
  }
})

test_that("units of the columns, rows and weights do not matter", {
  set.seed(5)
  x <- matrix(rnorm(160), ncol = 2)
  fhat <- kde.sp(x, gridsize = c(9, 9))
  in_units <- kde.sp(x %*% diag(c(1024, 1 / 64)), gridsize = c(9, 9))
  expect_equal(in_units$estimate * 16, fhat$estimate, tolerance = 1e-9)
  copied <- kde.sp(x[rep(1:80, rep(1:2, 40)), ], gridsize = c(9, 9), hs = rep(sqrt(fhat$H), rep(1:2, 40)))
  weighted <- kde.sp(x, gridsize = c(9, 9), hs = sqrt(fhat$H) * copied$scale[1] / fhat$scale[1], w = rep(1:2, 40))
  expect_equal(dim(copied$estimate), dim(weighted$estimate))
})

test_that("with the bandwidths of ks, estimates are those of ks", {
  skip_if_not_installed("ks")
  set.seed(6)
  x <- cbind(rnorm(60), rnorm(60, 0, 3))
  theirs <- ks::kde.sp(x, gridsize = c(15, 15), binned = FALSE)
  ours <- kde.sp(x, hs = sqrt(theirs$H), gridsize = c(15, 15), xmin = vapply(theirs$eval.points, min, 0),
                 xmax = vapply(theirs$eval.points, max, 0))
  # ks leaves out observations farther away than 3.7 bandwidths.
  expect_lt(max(abs(ours$estimate - theirs$estimate)) / max(ours$estimate), 2e-3)
  # The bandwidths of ks lack f^(-1/2), for balloons their ratio is (4 pi)^(1/6): it squares (4 pi)^(d/2), too. It
  # moves observations to grid points for the pilot's derivatives, and interpolates these.
  sample <- kde.sp(x, gridsize = c(5, 5))
  f <- kde(sweep(x, 2, sample$scale, "/"), H = Hns(sweep(x, 2, sample$scale, "/"), 4),
           eval.points = sweep(x, 2, sample$scale, "/"))$estimate
  expect_lt(median(abs(sqrt(sample$H * f / theirs$H) - 1)), 0.05)
  theirs <- ks::kde.balloon(x, gridsize = c(9, 9), binned = FALSE)
  expect_lt(abs(median(sqrt(kde.balloon(x, gridsize = c(9, 9))$H / theirs$H), na.rm = TRUE) /
                  (4 * pi)^(1 / 6) - 1), 0.05)
})

test_that("methods, prints and refusals", {
  fhat <- kde.sp(faithful, gridsize = c(21, 21))
  balloon <- kde.balloon(faithful$eruptions, gridsize = 51)
  fhat$seconds <- balloon$seconds <- 0
  expect_snapshot(print(fhat))
  expect_snapshot(summary(balloon))
  expect_identical(names(as.data.frame(fhat)), c("eruptions", "waiting", "estimate"))
  expect_identical(names(as.data.frame(balloon)), c("x", "estimate", "h"))
  expect_equal(contourLevels(fhat, cont = 50), fhat$cont["50%"])
  expect_equal(contourLevels(fhat, cont = 50, approx = FALSE), median(predict(fhat, faithful)), ignore_attr = TRUE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(fhat))
  expect_invisible(plot(balloon, cont = 50))
  expect_refused(kde.sp(iris[, 1:4]))
  expect_refused(kde.sp(faithful, hs = 1:3))
  expect_refused(kde.sp(faithful, hs = rep(1, 272), H = diag(2)))
  expect_refused(kde.balloon(faithful, hs = 1))
  expect_refused(kde.balloon(faithful, H = diag(2), h = 1))
  expect_refused(plot(kde.sp(faithful, eval.points = faithful)))
  expect_refused(dkde(1, balloon))
  expect_warning(kde.balloon(c(1, 2, 4), h = 1, xmin = 1e3, xmax = 2e3), class = "kestrel_warning_grid")
})

test_that("every engine has the same sums, and compact kernels have theirs", {
  set.seed(21)
  profile <- list(
    uniform = function(r) 1, epanechnikov = function(r) 1 - r^2, triangular = function(r) 1 - r,
    biweight = function(r) (1 - r^2)^2, triweight = function(r) (1 - r^2)^3, tricube = function(r) (1 - r^3)^3,
    cosine = function(r) cos(pi / 2 * r)
  )
  for (d in 1:3) {
    x <- matrix(rnorm(150 * d), ncol = d)
    x[1:3, ] <- x[4:6, ]
    w <- rexp(150)
    h <- exp(rnorm(150, 0, 0.7))
    at <- matrix(rnorm(20 * d), ncol = d)
    reference <- kde.sp(x, hs = h, w = w, eval.points = at)
    balloon <- kde.balloon(x, w = w, eval.points = at)
    for (engine in c("direct", if (d == 1) "fgt" else "fourier")) {
      at_points <- kde.sp(x, hs = h, w = w, eval.points = at, engine = engine)
      expect_close_to_reference(at_points$estimate, reference$estimate)
      expect_close_to_reference(kde.sp(x, hs = h, w = w, gridsize = 7, engine = engine, compute.cont = FALSE)$estimate,
                                kde.sp(x, hs = h, w = w, gridsize = 7, compute.cont = FALSE)$estimate)
      expect_close_to_reference(kde.balloon(x, w = w, eval.points = at, engine = engine)$estimate, balloon$estimate)
    }
    # Kernels that integrate to one: the surface of the sphere times the integral of the profile.
    surface <- 2 * pi^(d / 2) / gamma(d / 2)
    for (kernel in names(profile)) {
      k <- profile[[kernel]]
      constant <- 1 / (surface * integrate(function(r) k(r) * r^(d - 1) + 0 * r, 0, 1, rel.tol = 1e-12)$value)
      plain <- function(points, scale, h, by_point) {
        vapply(seq_len(nrow(points)), function(i) {
          width <- if (by_point) h[i] else h
          r <- sqrt(rowSums(((rep(points[i, ], each = 150) - x) / rep(scale, each = 150))^2)) / width
          sum(w / sum(w) * ifelse(r < 1, k(pmin(r, 1)), 0) * constant / width^d) / prod(scale)
        }, 0)
      }
      for (engine in c("auto", "direct", "kdtree", "scanline")) {
        info <- paste(kernel, engine)
        fhat <- kde.sp(x, hs = h, w = w, gridsize = 4 + 1:d, kernel = kernel, engine = engine, compute.cont = FALSE)
        expect_close_to_reference(fhat$estimate, plain(grid_matrix(fhat), fhat$scale, h, FALSE), info = info)
        expect_close_to_reference(predict(fhat, at), plain(at, fhat$scale, h, FALSE), info = info)
        same <- kde.sp(x, hs = h, w = w, gridsize = 4 + 1:d, kernel = kernel, engine = engine, compute.cont = FALSE,
                       threads = 3)
        expect_same_bits(same$estimate, fhat$estimate)
        if (engine == "scanline") next
        of_points <- kde.balloon(x, w = w, eval.points = at, kernel = kernel, engine = engine)
        expect_equal(sqrt(of_points$H / balloon$H), rep(canonical_ratio(kernel, d), 20))
        expect_close_to_reference(of_points$estimate, plain(at, rep(1, d), sqrt(of_points$H), TRUE), info = info)
      }
    }
  }
  expect_output(print(kde.sp(faithful, gridsize = 9, kernel = "biweight")), "biweight")
  expect_snapshot(error = TRUE, {
    kde.sp(faithful, kernel = "none")
    kde.sp(faithful, kernel = "biweight", engine = "fourier")
    kde.sp(faithful, kernel = "biweight", engine = "scanline", eval.points = faithful)
    kde.balloon(faithful, kernel = "biweight", engine = "scanline")
    kde.sp(1e12 + 1:9, hs = rep(0.1, 9), kernel = "biweight", engine = "scanline")
    kde.balloon(faithful, engine = "scanline")
    kde.balloon(faithful$eruptions, engine = "fourier")
    kde.sp(faithful, kernel = "biweight", engine = "kdtree", backend = "cuda")
  })
})
