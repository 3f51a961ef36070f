# SiZer maps of two variables beside sums over all pairs in plain R.

# At each point the derivatives of the estimate in units of the standard deviations, their covariance and the effective
# sample size.
plain_layer <- function(x, at, h, order, w) {
  n <- sum(w)^2 / sum(w^2)
  p <- w / sum(w)
  lapply(seq_len(nrow(at)), function(i) {
    u <- (rep(at[i, ], each = nrow(x)) - x) / h
    phi <- dnorm(u[, 1]) * dnorm(u[, 2]) / h^2
    kernel <- phi * if (order == 1) -u else cbind(u[, 1]^2 - 1, u[, 1] * u[, 2], u[, 2]^2 - 1)
    value <- colSums(p * kernel)
    centred <- kernel - rep(value, each = nrow(x))
    list(value = value, covariance = crossprod(centred, p * centred) / (n - 1),
         ess = n * sum(p * phi) * 2 * pi * h^2)
  })
}

plane_sample <- with_seed(3, cbind(a = rnorm(40, 0, 10), b = rexp(40)))

test_that("derivatives, statistics and kinds are those of sums over pairs", {
  for (order in 1:2) for (weighted in c(FALSE, TRUE)) {
    w <- if (weighted) rep(c(1, 5, 0.5, 2), 10) else rep(1, 40)
    map <- sizer(plane_sample, h = c(0.2, 0.5, 2), deriv.order = order, gridsize = c(5, 4), w = if (weighted) w,
                 signif.level = 0.3)
    unit <- map$scale
    expect_equal(unit, unname(sqrt(diag(cov.wt(plane_sample, w)$cov))), tolerance = if (weighted) 0.1 else 1e-12)
    at <- as.matrix(expand.grid(map$eval.points)) / rep(unit, each = 20)
    for (k in 1:3) {
      h <- map$h[k]
      plain <- plain_layer(plane_sample / rep(unit, each = 40), at, h, order, w)
      exponents <- if (order == 1) rbind(1:0, 0:1) else rbind(c(2, 0), c(1, 1), c(0, 2))
      for (j in seq_len(nrow(exponents))) {
        value <- vapply(plain, function(one) one$value[j], 0) / h^order / prod(unit^(exponents[j, ] + 1))
        expect_equal(as.vector(map$derivative[, , j, k]), value, tolerance = 1e-10)
      }
      expect_equal(as.vector(map$ess[, , k]), vapply(plain, `[[`, 0, "ess"), tolerance = 1e-10)
      # What is not correlated with the derivative sets the limits.
      curved <- if (order == 1) 0 else vapply(plain, function(one) sum(one$value[c(1, 3)]), 0)
      size <- as.vector(map$ess[, , k]) + map$n_eff * pi * h^2 * curved
      limits <- if (any(map$ess[, , k] >= 5)) tail_limits(map$quantile[k], size, 2L, order)
      for (i in which(map$ess[, , k] >= 5)) {
        one <- plain[[i]]
        cell <- arrayInd(i, c(5, 4))
        kind <- map$estimate[cell[1], cell[2], k]
        if (order == 1) {
          size <- sqrt(sum(one$value * solve(one$covariance, one$value)))
          expect_equal(map$statistic[cell[1], cell[2], k], size, tolerance = 1e-8)
          expect_identical(kind == 1, size > limits$above[i])
        } else {
          found <- eigen(matrix(one$value[c(1, 2, 2, 3)], 2))
          size <- vapply(2:1, function(j) {
            v <- found$vectors[, j]
            a <- c(v[1]^2, 2 * v[1] * v[2], v[2]^2)
            found$values[j] / sqrt(sum(a * (one$covariance %*% a)))
          }, 0)
          expect_equal(map$statistic[cell[1], cell[2], , k], size, tolerance = 1e-7)
          above <- limits$above[i]
          below <- limits$below[i]
          expect_identical(as.numeric(kind), if (size[1] > above) 1 else if (size[2] < -below) 5 else
            if (size[1] < -below && size[2] > above) 3 else if (size[1] < -below) 4 else if (size[2] > above) 2 else 0)
        }
      }
      expect_true(all(is.na(map$estimate[, , k]) == (map$ess[, , k] < 5)))
    }
  }
})

test_that("quantiles are those of smoothed noise", {
  # Simulated fields of independent normal weights: the share of fields whose largest statistic is beyond the quantile.
  h <- 0.1
  at <- seq(0, 1, by = 0.025)
  u <- seq(-0.3, 1.3, by = 0.04)
  of <- function(order) {
    z <- outer(at, u, `-`) / h
    switch(order + 1, dnorm(z), -z * dnorm(z), (z^2 - 1) * dnorm(z))
  }
  largest <- function(order, noise) {
    field <- function(a, b) of(a) %*% noise %*% t(of(b)) / sqrt(outer(rowSums(of(a)^2), rowSums(of(b)^2)))
    if (order == 1) return(max(sqrt(field(1, 0)^2 + field(0, 1)^2)))
    b <- cbind(sqrt(3) * as.vector(field(2, 0)), as.vector(field(1, 1)), sqrt(3) * as.vector(field(0, 2)))
    max(abs((b[, 1] + b[, 3]) / 2) + sqrt(((b[, 1] - b[, 3]) / 2)^2 + b[, 2]^2)) / sqrt(3)
  }
  for (order in 1:2) {
    found <- with_seed(order, replicate(300, largest(order, matrix(rnorm(length(u)^2), length(u)))))
    q <- plane_quantile(matrix(TRUE, 41, 41), rep(9, 41^2), 1, c(0.025, 0.025) / h, order, 0.1, "extremes")
    # Three standard errors of the share.
    expect_lt(abs(mean(found > q) - 0.1), 0.052)
    # Far apart, points are independent.
    far <- plane_quantile(matrix(TRUE, 5, 5), rep(9, 25), 1, c(9, 9), order, 0.1, "extremes")
    share <- if (order == 1) pchisq(far^2, 2, lower.tail = FALSE) else 2 / sqrt(3) * exp(-far^2 / 2)
    expect_equal((1 - share)^25, 0.9, tolerance = 1e-6)
    blocks <- plane_quantile(matrix(TRUE, 5, 5), rep(10, 25), 250, c(1, 1), order, 0.1, "blocks")
    expect_equal(blocks, far, tolerance = 1e-6)
  }
})

test_that("limits have the probabilities of normal quantiles where there are few data", {
  # Samples of a Poisson process of constant intensity, in plain R.
  for (d in 1:2) for (order in 1:2) for (size in c(8, 40)) {
    ratio <- with_seed(10 * d + order, {
      n <- rpois(20000, size * 10^d / (2 * pi)^(d / 2))
      from <- rep(seq_along(n), n)
      u <- matrix(runif(d * sum(n), -5, 5), ncol = d)
      y <- (if (order == 1) u[, 1] else u[, 1]^2 - 1) * exp(-rowSums(u^2) / 2)
      as.vector(rowsum(y, from)) / sqrt(as.vector(rowsum(y^2, from)))
    })
    for (z in c(2, 2.6)) {
      limits <- tail_limits(z, size, d, order)
      p <- pnorm(-z)
      # Three standard errors of the share, and a tenth of it.
      allowed <- 3 * sqrt(p / length(ratio)) + p / 10
      expect_lt(abs(mean(ratio > limits$above) - p), allowed, label = paste(d, order, size, z, "above"))
      expect_lt(abs(mean(ratio < -limits$below) - p), allowed, label = paste(d, order, size, z, "below"))
    }
  }
  expect_equal(unlist(tail_limits(4, 1e8, 2, 2)), c(above = 4, below = 4), tolerance = 2e-3)
})

test_that("maps find peaks, ridges and holes, in any units and with any threads", {
  x <- with_seed(4, rbind(cbind(rnorm(500, -4), rnorm(500, -4)), cbind(rnorm(500, 4), rnorm(500, 4))))
  map <- sizer(x, h = c(0.2, 0.4), deriv.order = 2, gridsize = 21, xmin = c(-5, -5), xmax = c(5, 5))
  expect_identical(map$estimate[cbind(c(3, 19), c(3, 19), 1)], c(5L, 5L))
  ring <- with_seed(5, {
    angle <- runif(2000, 0, 2 * pi)
    cbind(cos(angle), sin(angle)) * rnorm(2000, 1, 0.1)
  })
  map <- sizer(ring, h = 0.6, deriv.order = 2, gridsize = c(21, 21), xmin = c(-1, -1), xmax = c(1, 1))
  expect_identical(map$estimate[11, 11, 1], 1L)
  expect_true(map$estimate[21, 11, 1] %in% 4:5)
  three <- sizer(ring, h = 0.6, deriv.order = 2, gridsize = c(21, 21), xmin = c(-1, -1), xmax = c(1, 1), threads = 3)
  for (value in c("derivative", "statistic", "ess")) expect_same_bits(three[[value]], map[[value]], info = value)
  scaled <- sizer(cbind(1e3 - 1e3 * ring[, 1], 1e-3 * ring[, 2]), h = 0.6, deriv.order = 2, gridsize = c(21, 21),
                  xmin = c(0, -1e-3), xmax = c(2e3, 1e-3))
  expect_identical(scaled$estimate[21:1, , ], map$estimate[, , 1])
  slopes <- sizer(ring, h = 0.2, gridsize = 15)
  expect_true(all(slopes$estimate[!is.na(slopes$estimate)] %in% 0:1) && any(slopes$estimate == 1, na.rm = TRUE))
  few <- sizer(ring[1:4, ], length = 2, gridsize = 5)
  expect_true(all(is.na(few$estimate)) && all(is.na(few$quantile)))
})

test_that("maps are printed, and bad input is refused", {
  shown <- function(map) replace(map, "seconds", 0.1)
  map <- sizer(faithful, length = 3, gridsize = c(9, 8))
  curved <- sizer(faithful, length = 3, deriv.order = 2, gridsize = 9, w = rep(1:2, 136), method = "blocks")
  expect_snapshot({
    shown(map)
    summary(shown(curved))
    head(as.data.frame(map), 3)
    names(as.data.frame(curved))
  })
  expect_identical(nrow(as.data.frame(map)), 9L * 8L * 3L)
  expect_snapshot(error = TRUE, {
    sizer(matrix(rnorm(30), 10))
    sizer(faithful, h = 1e9)
    sizer(faithful, h = -1)
    sizer(faithful, gridsize = 1)
    sizer(faithful, gridsize = c(9, 2.5))
    sizer(faithful, xmin = c(1, 1), xmax = c(2, 0))
    sizer(cbind(1:9, 1))
    print(replace(map, "estimate", 2))
  })
})
