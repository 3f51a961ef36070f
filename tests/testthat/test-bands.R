# Confidence bands of densities and distribution functions: limits by plain R, the moments of the bootstrap in closed
# form, and what must not change them. Coverage is in bench/coverage.R.

limits <- function(fhat, at, interval = "pointwise", ..., seed = 1) {
  with_seed(seed, predict(fhat, at, interval = interval, ...))
}

# The estimates of the bootstrap as band_at() makes them: the first column is their expectation.
replicates_of <- function(fhat, at, B = 500, seed = 1) {
  with_seed(seed, lattice_replicates(estimate_on_line(fhat), at, fhat$h, B, run_options()))
}

normal_mean <- function(at, x, h, w = rep(1, length(x))) {
  vapply(at, function(one) sum(w * dnorm(one, x, h)) / sum(w), 0)
}

awkward <- with_seed(1, list(one = 3, two = c(-1, 2), ties = rep(c(0, 0.1, 5), c(7, 2, 1)), far = rnorm(20) + 1e9,
                             outlier = c(rnorm(30), 1e6), usual = rnorm(60)))

test_that("products of kernels have the expectations of the smoothed bootstrap", {
  x <- awkward$usual
  h <- 0.3
  line <- estimate_on_line(kde(x, h = h, eval.points = 0))
  u <- lattice_of(line, h)$at
  p <- line_density(line, u, h, run_options())
  p <- p / sum(p)
  expect_close_to_reference(p, normal_mean(u, x, h) * h / 8, tol = 1e-11)
  # E N(y; X, h) N(z; X, h) for X from the estimate: a normal density of y - z times one of their mean.
  for (y in c(-1, 0.2)) for (z in c(-0.9, 0.2, 0.7)) {
    exact <- dnorm(y - z, 0, h * sqrt(2)) * normal_mean((y + z) / 2, x, h * sqrt(1.5))
    expect_close_to_reference(sum(p * dnorm(y, u, h) * dnorm(z, u, h)), exact)
  }
  # Order 30 at one point: N(0; u, h)^30 is a multiple of N(0; u, h / sqrt(30)).
  exact <- normal_mean(0, x, h * sqrt(31 / 30)) * (2 * pi * h^2)^(-29 / 2) / sqrt(30)
  expect_close_to_reference(sum(p * dnorm(0, u, h)^30), exact)
})

test_that("replicates have the mean and the variance of the corrected estimate", {
  h <- 0.3
  at <- c(-0.5, 0.1, 0.4)
  for (name in c("one", "ties", "usual", "far", "outlier")) {
    x <- awkward[[name]]
    here <- at + x[1]
    values <- replicates_of(kde(x, h = h, eval.points = here), here, B = 4000)
    mean <- 2 * normal_mean(here, x, h * sqrt(2)) - normal_mean(here, x, h * sqrt(3))
    # Offsets of 1e9 leave seven digits of a bandwidth.
    expect_close_to_reference(values[, 1], mean, tol = if (name == "far") 1e-6 else 1e-12, info = name)
    # E (2 K_h - K_wide)^2, term by term as above.
    product <- function(a, b) {
      v <- a^2 * b^2 / (a^2 + b^2)
      dnorm(0, 0, sqrt(a^2 + b^2)) * normal_mean(here, x, sqrt(h^2 + v))
    }
    wide <- sqrt(2) * h
    variance <- (4 * product(h, h) - 4 * product(h, wide) + product(wide, wide) - mean^2) / length(x)
    expect_lt(max(abs(rowMeans(values[, -1]) - mean) / sqrt(variance / 4000)), 4, label = name)
    squares <- (values[, -1] - mean)^2
    expect_lt(max(abs(rowMeans(squares) - variance) / apply(squares, 1, sd) * sqrt(4000)), 4, label = name)
  }
  # The distribution function.
  x <- awkward$usual
  values <- replicates_of(kcde(x, h = h, eval.points = at), at, B = 4000)
  mean_below <- function(h) vapply(at, function(one) mean(pnorm(one, x, h)), 0)
  expect_close_to_reference(values[, 1], 2 * mean_below(h * sqrt(2)) - mean_below(h * sqrt(3)))
})

test_that("limits are those that the help describes", {
  at <- c(-3, -0.5, 0, 1, 9)
  x <- awkward$usual
  fhat <- kde(x)
  h <- fhat$h
  values <- replicates_of(fhat, at)
  root <- function(value) sqrt(pmax(value, 0))
  distance <- abs(root(values[, -1]) - root(values[, 1]))
  centre <- root(2 * normal_mean(at, x, h) - normal_mean(at, x, sqrt(2) * h))
  kernel <- function(u) 2 * dnorm(u) - dnorm(u, 0, sqrt(2))
  first <- integrate(function(u) kernel(u)^2, -Inf, Inf, rel.tol = 1e-10)$value / h
  least <- sqrt(pmax(first - pmax(centre, 0)^2, first / 2) / 240)
  half <- vapply(1:5, function(k) max(quantile(distance[k, ], 0.9), least[k] * qnorm(0.95)), 0)
  expect_equal(unname(limits(fhat, at, level = 0.9)),
               cbind(predict(fhat, at), pmax(centre - half, 0)^2, (centre + half)^2), tolerance = 1e-9)
  scale <- pmax(sqrt(rowMeans(distance^2)), least)
  half <- scale * quantile(apply(distance / scale, 2, max), 0.9)
  expect_equal(unname(limits(fhat, at, "simultaneous", level = 0.9)[, -1]),
               cbind(pmax(centre - half, 0)^2, (centre + half)^2), tolerance = 1e-9)
  Fhat <- kcde(x)
  values <- replicates_of(Fhat, at)
  half <- quantile(apply(abs(values[, -1] - values[, 1]), 2, max), 0.95)
  mean_below <- function(h) vapply(at, function(one) mean(pnorm(one, x, h)), 0)
  centre <- 2 * mean_below(Fhat$h) - mean_below(sqrt(2) * Fhat$h)
  expect_equal(unname(limits(Fhat, at, "simultaneous")[, -1]), cbind(pmax(centre - half, 0), pmin(centre + half, 1)),
               tolerance = 1e-9)
  arcs <- function(p) asin(sqrt(pmin(pmax(p, 0), 1)))
  half <- apply(abs(arcs(values[, -1]) - arcs(values[, 1])), 1, quantile, 0.95)
  expect_equal(unname(limits(Fhat, at)[, -1]),
               cbind(sin(pmax(arcs(centre) - half, 0))^2, sin(pmin(arcs(centre) + half, pi / 2))^2), tolerance = 1e-9)
})

test_that("asymptotic limits are those that the help describes", {
  at <- c(-3, -0.5, 0, 1, 9)
  x <- awkward$usual
  for (kernel in c("gaussian", "epanechnikov", "triangular", "cosine", "uniform")) {
    fhat <- kde(x, kernel = kernel)
    h <- fhat$h * 60^(-1 / 20)
    centre <- kde(x, h = h, kernel = kernel, eval.points = at)$estimate
    first <- kernel_constants(kernel, 1)$roughness / h
    error <- sqrt(pmax(first - centre, first / 2) / 240)
    half <- qnorm(0.975) * error
    expect_equal(unname(limits(fhat, at, method = "asymptotic")),
                 cbind(predict(fhat, at), pmax(sqrt(centre) - half, 0)^2, (sqrt(centre) + half)^2))
    if (kernel == "uniform") next
    # Their slope roughness by quadrature between the kinks.
    one <- function(u) kde(0, h = 1, kernel = kernel, eval.points = u, compute.cont = FALSE)$estimate
    slope <- function(u) (one(u + 1e-5) - one(u - 1e-5)) / 2e-5
    end <- if (kernel == "gaussian") 12 else 1 - 1e-4
    ratio <- integrate(function(u) slope(u)^2, 1e-4, end)$value / integrate(function(u) one(u)^2, 0, end)$value
    expect_equal(slope_roughness(kernel), ratio, tolerance = 1e-3)
    length <- 12 * sqrt(slope_roughness(kernel)) / h
    c <- tube_quantile(0.95, length)
    expect_equal(length / pi * exp(-c^2 / 2) + 2 * pnorm(-c), 0.05, tolerance = 1e-6)
    expect_equal(unname(limits(fhat, at, "simultaneous", method = "asymptotic")[, 3]), (sqrt(centre) + c * error)^2)
  }
  Fhat <- kcde(x, h = 0.3)
  p <- predict(Fhat, at)
  expect_equal(unname(limits(Fhat, at, method = "asymptotic")[3, -1]),
               sin(asin(sqrt(p[3])) + c(-1, 1) * qnorm(0.975) / (2 * sqrt(60)))^2)
  # Kolmogorov's table.
  expect_equal(kolmogorov_quantile(0.95), 1.3581, tolerance = 1e-4)
  expect_equal(kolmogorov_quantile(0.1), 0.5712, tolerance = 1e-3)
  # Less what smoothing takes from the maximum.
  of_level <- (1:99) / 100
  width <- 0.1 * colMeans(outer(x, qkde(of_level, kde(x, h = 0.1)), dnorm, sd = 0.1))
  place <- exp(-1.3581^2 / (2 * of_level * (1 - of_level))) / (of_level * (1 - of_level))^1.5
  q <- kolmogorov_quantile(0.95) - 1.19 * weighted.mean(sqrt(width), place)
  narrow <- kcde(x, h = 0.1)
  expect_equal(unname(limits(narrow, at, "simultaneous", method = "asymptotic")[3, -1]),
               predict(narrow, at[3]) + c(-1, 1) * q / sqrt(60), tolerance = 1e-6)
  # A narrow compact kernel takes hardly anything, a wide one leaves the width at the median.
  half <- function(h, kernel = "epanechnikov") {
    diff(limits(kcde(x, h = h, kernel = kernel), at[3], "simultaneous", method = "asymptotic")[1, 2:3]) / 2 * sqrt(60)
  }
  expect_lt(abs(half(1e-6) - kolmogorov_quantile(0.95)), 0.2)
  expect_equal(unname(half(50)), qnorm(0.975) / 2)
})

test_that("nothing else changes limits", {
  x <- awkward$usual
  at <- c(-2, 0, 0.5, 7)
  fhat <- kde(x, h = 0.3)
  usual <- limits(fhat, at)
  expect_same_bits(with_threads(3, limits(fhat, at)), with_threads(1, limits(fhat, at)))
  expect_close_to_reference(limits(fhat, rev(at)), usual[4:1, ])
  expect_false(identical(limits(fhat, at, seed = 2), usual))
  expect_close_to_reference(limits(kde(rev(x), h = 0.3), at), usual)
  expect_same_bits(limits(kde(x, h = 0.3, w = rep(3, 60)), at), usual)
  expect_close_to_reference(limits(kde(c(x, 90), h = 0.3, w = rep(1:0, c(60, 1))), at), usual)
  expect_same_bits(limits(kde(x, h = 0.3, bounds = c(-Inf, Inf)), at), usual)
  shown <- as.data.frame(fhat, interval = "pointwise", method = "asymptotic")
  expect_named(shown, c("x", "estimate", "lower", "upper"))
  expect_equal(unname(as.matrix(shown[-1])), unname(limits(fhat, fhat$eval.points, method = "asymptotic")))
  Fhat <- kcde(x, h = 0.3, gridsize = 5)
  upper <- kcde(x, h = 0.3, gridsize = 5, tail.flag = "upper.tail")
  expect_equal(with_seed(1, as.data.frame(upper, interval = "pointwise"))[3:4],
               setNames(1 - with_seed(1, as.data.frame(Fhat, interval = "pointwise"))[4:3], c("lower", "upper")))
  expect_named(as.data.frame(Fhat), c("x", "estimate"))
})

test_that("awkward samples have limits, wherever they are asked for", {
  for (name in names(awkward)) for (h in c(1e-4, 0.3, 1e4)) for (interval in c("pointwise", "simultaneous")) {
    # Steps of 1e-5 are not numbers about 1e9.
    if (name == "far" && h == 1e-4) next
    x <- awkward[[name]]
    at <- c(-Inf, x[1], mean(x), Inf)
    for (fhat in list(kde(x, h = h, eval.points = 0), kcde(x, h = h, eval.points = 0))) {
      points <- if (inherits(fhat, "kestrel_kde")) at[2:3] else at
      for (method in c("bootstrap", "asymptotic")) {
        band <- limits(fhat, points, interval, method = method, B = 40)
        expect_true(all(is.finite(band)) && all(band[, 2] >= 0) && all(band[, 2] <= band[, 3]),
                    info = paste(name, h, interval, method))
      }
    }
  }
})

test_that("bounds, periods and transformed data are as without, at images and slopes", {
  x <- abs(awkward$usual)
  at <- c(-1, 0, 0.2, 1)
  fhat <- kde(x, h = 0.4, bounds = c(0, Inf))
  values <- replicates_of(fhat, at[-1], B = 4000)
  both <- c(x, -x)
  mean <- 2 * (2 * normal_mean(at[-1], both, 0.4 * sqrt(2)) - normal_mean(at[-1], both, 0.4 * sqrt(3)))
  expect_close_to_reference(values[, 1], mean)
  expect_identical(limits(fhat, at)[1, ], c(fit = 0, lwr = 0, upr = 0))
  # Mirror images have the same moments; their draws differ.
  mirrored <- kde(-x, h = 0.4, bounds = c(-Inf, 0))
  expect_close_to_reference(replicates_of(mirrored, -at[-1], B = 1)[, 1], mean)
  # Between two bounds, wide kernels included.
  for (h in c(0.05, 0.4, 20)) {
    values <- replicates_of(kde(x, h = h, bounds = c(0, 4)), c(0, 1, 3.9), B = 2)
    images <- reference_images(as.matrix(x), cbind(0, 4), times = 60)$x[, 1]
    of <- function(h) length(images) / length(x) * normal_mean(c(0, 1, 3.9), images, h)
    if (h < 1) expect_close_to_reference(values[, 1], 2 * of(h * sqrt(2)) - of(h * sqrt(3)), tol = 1e-11)
    if (h > 1) expect_close_to_reference(values[, 1], rep(1 / 4, 3))
  }
  # A period: everything turns with the data, but for the draws.
  hours <- (awkward$usual * 4) %% 24
  fhat <- kde(hours, h = 1, period = 24)
  moved <- c(hours - 24, hours, hours + 24)
  mean <- 3 * (2 * normal_mean(c(0, 3, 23), moved, sqrt(2)) - normal_mean(c(0, 3, 23), moved, sqrt(3)))
  expect_close_to_reference(replicates_of(fhat, c(0, 3, 23), B = 1)[, 1], mean)
  expect_close_to_reference(limits(fhat, c(24, 27, -1)), limits(fhat, c(0, 3, 23)))
  # On the scale of logarithms.
  fhat <- kde(exp(x), h = 0.4, positive = TRUE, adj.positive = 0)
  on_logs <- kde(x, h = 0.4)
  expect_close_to_reference(limits(fhat, c(1, 2, 5)), limits(on_logs, log(c(1, 2, 5))) / c(1, 2, 5), tol = 1e-11)
  expect_identical(limits(fhat, c(-1, 0))[, "upr"], c(0, 0))
  expect_close_to_reference(limits(kcde(exp(x), h = 0.4, positive = TRUE, adj.positive = 0), c(1, 2, 5)),
                            limits(kcde(x, h = 0.4), log(c(1, 2, 5))), tol = 1e-11)
})

test_that("bad input is refused", {
  fhat <- kde(faithful$eruptions, gridsize = 11)
  compact <- kde(faithful$eruptions, kernel = "uniform", gridsize = 11)
  bounded <- kde(faithful$eruptions, bounds = c(1, Inf), gridsize = 11)
  plane <- kde(faithful, gridsize = 5)
  sketched <- kde(kde_sketch(faithful$eruptions, sketch_plan(faithful$eruptions, hmin = 0.2)), gridsize = 11)
  Fhat <- kcde(faithful$eruptions, gridsize = 11)
  expect_refused(
    predict(fhat, 2, interval = "confidence"),
    predict(fhat, 2, interval = "pointwise", level = 95),
    predict(fhat, 2, interval = "pointwise", method = "normal"),
    predict(fhat, 2, interval = "pointwise", B = 0),
    predict(compact, 2, interval = "pointwise"),
    predict(compact, 2, interval = "simultaneous", method = "asymptotic"),
    plot(bounded, interval = "pointwise", method = "asymptotic"),
    as.data.frame(plane, interval = "pointwise"),
    plot(sketched, interval = "pointwise"),
    predict(Fhat, 2, interval = "both"),
    as.data.frame(Fhat, interval = "pointwise", B = NA)
  )
  expect_error(predict(fhat, 2, interval = "pointwise", B = 2e9), class = "kestrel_error_memory")
})

test_that("almost all bands of a normal density contain it", {
  covered <- with_seed(1, replicate(60, {
    x <- rnorm(200)
    at <- seq(-2, 2, by = 0.5)
    band <- predict(kde(x, eval.points = 0), at, interval = "simultaneous", B = 200)
    all(dnorm(at) >= band[, "lwr"] & dnorm(at) <= band[, "upr"])
  }))
  # For a level of 0.95, 51 or fewer have the probability 0.0003, and 60 that of 0.05.
  expect_gt(sum(covered), 51)
})

test_that("95 % of pointwise bands contain two known densities, within 1.5 points", {
  # On average over points. The average of 120 samples has a standard error of 0.7 points; bench/coverage.R has more.
  at <- seq(-1.75, 1.75, by = 0.25)
  covered <- function(draw, truth) {
    with_seed(2, mean(replicate(120, {
      band <- predict(kde(draw(500), eval.points = 0), at, interval = "pointwise", B = 200)
      mean(truth >= band[, "lwr"] & truth <= band[, "upr"])
    })))
  }
  expect_lt(abs(covered(rnorm, dnorm(at)) - 0.95), 0.015)
  modes <- function(n) rnorm(n, sample(c(-1, 1), n, TRUE), 2 / 3)
  expect_lt(abs(covered(modes, (dnorm(at, -1, 2 / 3) + dnorm(at, 1, 2 / 3)) / 2) - 0.95), 0.015)
})
