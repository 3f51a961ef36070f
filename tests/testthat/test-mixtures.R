# Mixtures, and errors of estimates of them, against ks and numerical integrals.

mus <- rbind(c(0, 0), c(3, 1))
Sigmas <- rbind(matrix(c(1, 0.5, 0.5, 2), 2), diag(2) / 4)
props <- c(0.4, 0.6)

test_that("a seed gives the draws of ks", {
  skip_if_not_installed("ks")
  same <- function(ours, theirs) {
    expect_equal(with_seed(5, ours()), with_seed(5, theirs()), tolerance = 1e-12)
  }
  same(function() rnorm.mixt(20), function() ks::rnorm.mixt(20))
  for (label in c(FALSE, TRUE)) {
    same(function() rnorm.mixt(20, c(-1, 2), c(1, 0.5), props, label),
         function() ks::rnorm.mixt(20, c(-1, 2), c(1, 0.5), props, label))
    same(function() rmvnorm.mixt(20, mus, Sigmas, props, label), function() {
      ks::rmvnorm.mixt(20, mus, Sigmas, props, label)
    })
  }
  same(function() rmvnorm.mixt(20, c(0, 1), Sigmas[1:2, ]), function() ks::rmvnorm.mixt(20, c(0, 1), Sigmas[1:2, ]))
  same(function() rmvt.mixt(20, mus, Sigmas, c(7, 3), props), function() ks::rmvt.mixt(20, mus, Sigmas, c(7, 3), props))
  same(function() rmvt.mixt(20, c(0, 1), Sigmas[1:2, ], 7), function() ks::rmvt.mixt(20, c(0, 1), Sigmas[1:2, ], 7))
})

test_that("densities are those of ks", {
  skip_if_not_installed("ks")
  x <- with_seed(6, matrix(rnorm(20), 10))
  expect_equal(dnorm.mixt(x[, 1], c(-1, 2), c(1, 0.5), props), ks::dnorm.mixt(x[, 1], c(-1, 2), c(1, 0.5), props),
               tolerance = 1e-13)
  expect_equal(dmvnorm.mixt(x, mus, Sigmas, props), ks::dmvnorm.mixt(x, mus, Sigmas, props), tolerance = 1e-13)
  expect_equal(dmvnorm.mixt(c(1, 1), mus, Sigmas, props), ks::dmvnorm.mixt(c(1, 1), mus, Sigmas, props),
               tolerance = 1e-13)
  expect_equal(dmvt.mixt(x, mus, Sigmas, c(3, 4), props), ks::dmvt.mixt(x, mus, Sigmas, c(3, 4), props),
               tolerance = 1e-13)
  expect_equal(dmvnorm.mixt(1e9 + x, 1e9 + mus, Sigmas, props), dmvnorm.mixt(x, mus, Sigmas, props), tolerance = 1e-5)
})

test_that("moments are those of the density", {
  found <- moments.mixt(mus, Sigmas, props)
  at <- expand.grid(x = seq(-9, 9, by = 0.1), y = seq(-11, 11, by = 0.1))
  f <- dmvnorm.mixt(at, mus, Sigmas, props) * 0.01
  mean <- colSums(f * at)
  expect_equal(found$mean, unname(mean), tolerance = 1e-8)
  expect_equal(found$var, unname(crossprod(sqrt(f) * as.matrix(sweep(at, 2, mean)))), tolerance = 1e-8)
})

test_that("errors of estimates are those of ks and of integrals", {
  skip_if_not_installed("ks")
  H <- matrix(c(0.2, 0.05, 0.05, 0.3), 2)
  x <- with_seed(7, rmvnorm.mixt(40, mus, Sigmas, props))
  expect_equal(mise.mixt(H, mus, Sigmas, props, 50), as.numeric(ks::mise.mixt(H, mus, Sigmas, props, 50)),
               tolerance = 1e-12)
  expect_equal(amise.mixt(H, mus, Sigmas, props, 50), as.numeric(ks::amise.mixt(H, mus, Sigmas, props, 50)),
               tolerance = 1e-10)
  expect_equal(ise.mixt(x, H, mus, Sigmas, props), as.numeric(ks::ise.mixt(x, H, mus, Sigmas, props)),
               tolerance = 1e-10)
  at <- expand.grid(x = seq(-9, 9, by = 0.1), y = seq(-11, 11, by = 0.1))
  direct <- sum((kde(x, H = H, eval.points = at)$estimate - dmvnorm.mixt(at, mus, Sigmas, props))^2) * 0.01
  expect_equal(ise.mixt(x, H, mus, Sigmas, props), direct, tolerance = 1e-8)
  line <- list(mus = c(0, 3), sigmas = c(1, 0.5), props = props, h = 0.3)
  with_line <- function(f, ...) as.numeric(do.call(f, c(list(...), line)))
  expect_equal(with_line(mise.mixt, samp = 50), with_line(ks::mise.mixt, samp = 50), tolerance = 1e-12)
  expect_equal(with_line(amise.mixt, samp = 50), with_line(ks::amise.mixt, samp = 50), tolerance = 1e-10)
  u <- with_seed(8, rnorm.mixt(30, c(0, 3), c(1, 0.5), props))
  expect_equal(with_line(ise.mixt, x = u), with_line(ks::ise.mixt, x = u), tolerance = 1e-10)
  off <- function(v) (kde(u, h = 0.3, eval.points = v)$estimate - dnorm.mixt(v, c(0, 3), c(1, 0.5), props))^2
  expect_equal(with_line(ise.mixt, x = u), integrate(off, -9, 12, rel.tol = 1e-9, subdivisions = 500)$value,
               tolerance = 1e-7)
})

test_that("the normal mixture reference has the least error of its mixture", {
  skip_if_not_installed("ks")
  skip_if_not_installed("mclust")
  x <- as.matrix(faithful)
  expect_equal(hnm(x[, 1]), ks::hnm(x[, 1]), tolerance = 1e-3)
  expect_equal(hnm(x[, 1], mise.flag = TRUE), ks::hnm(x[, 1], mise.flag = TRUE), tolerance = 1e-3)
  expect_equal(unname(Hnm(x)), ks::Hnm(x), tolerance = 2e-3)
  expect_equal(unname(Hnm(x, mise.flag = TRUE)), ks::Hnm(x, mise.flag = TRUE), tolerance = 2e-3)
  expect_equal(unname(Hnm.diag(x)), ks::Hnm.diag(x), tolerance = 2e-3)
  expect_equal(Hnm(x, G = 1), Hns(x), tolerance = 1e-2) # mclust divides the covariance by n
  expect_equal(hnm(1e9 + x[, 1], G = 2), hnm(x[, 1], G = 2), tolerance = 1e-6)
  expect_equal(Hnm(x, G = 2, subset.ind = 1:100), Hnm(x[1:100, ], G = 2) * (100 / 272)^(1 / 3), tolerance = 1e-2)
})

test_that("bandwidths for a known mixture are those of ks, and have the least error", {
  line <- list(mus = c(0, 3), sigmas = c(1, 0.5), props = c(0.4, 0.6), samp = 200)
  plane <- list(mus = mus, Sigmas = Sigmas, props = props, samp = 200)
  for (r in 0:2) {
    h <- do.call(hmise.mixt, c(line, deriv.order = r))
    error <- function(h) do.call(mise.mixt, c(line, list(h = h, deriv.order = r)))
    expect_equal(optimise(error, c(h / 2, 2 * h), tol = 1e-9)$minimum, h, tolerance = 1e-6)
    asymptotic <- function(h) do.call(amise.mixt, c(line, list(h = h, deriv.order = r)))
    h <- do.call(hamise.mixt, c(line, deriv.order = r))
    expect_equal(optimise(asymptotic, c(h / 2, 2 * h), tol = 1e-9)$minimum, h, tolerance = 1e-6)
  }
  expect_equal(do.call(hmise.mixt, c(line, hstart = 0.9)), do.call(hmise.mixt, line), tolerance = 1e-6)
  one <- list(mus = c(5, -2), Sigmas = diag(c(4, 9)), props = 1, samp = 100)
  expect_equal(do.call(Hamise.mixt, c(one, deriv.order = 1)), (4 / (100 * 6))^(2 / 8) * diag(c(4, 9)), tolerance = 1e-7)
  skip_if_not_installed("ks")
  for (name in c("hmise.mixt", "hamise.mixt")) {
    theirs <- getExportedValue("ks", name)
    expect_equal(do.call(name, line), do.call(theirs, line), tolerance = 1e-4, info = name)
  }
  # Every pair of a criterion, a form of the matrix and an order.
  orders <- c(Hmise.mixt = 0, Hmise.mixt.diag = 1, Hamise.mixt = 1, Hamise.mixt.diag = 0)
  for (name in names(orders)) {
    r <- orders[[name]]
    theirs <- suppressWarnings(do.call(getExportedValue("ks", name), c(plane, deriv.order = r)))
    ours <- do.call(name, c(plane, deriv.order = r))
    expect_equal(ours, theirs, tolerance = 5e-3, info = paste(name, r))
    # The search of ks ends early.
    error <- function(H) {
      do.call(if (startsWith(name, "Hm")) mise.mixt else amise.mixt, c(list(H), plane, deriv.order = r))
    }
    expect_lte(error(ours), error(theirs) * (1 + 1e-10))
  }
  skip_if_not_installed("mclust")
  expect_equal(unname(Hnm(faithful, G = 2, deriv.order = 1)), ks::Hnm(as.matrix(faithful), G = 2, deriv.order = 1),
               tolerance = 5e-3)
})

test_that("components far apart do not meet, and bandwidths are those of narrow ones", {
  apart <- function(f, by, ...) f(mus = c(0, by), sigmas = c(1, 0.5), props = c(0.4, 0.6), samp = 200, ...)
  for (by in c(1e7, 1e160, 1e300)) {
    for (f in list(mise.mixt, amise.mixt)) for (r in 0:1) {
      expect_equal(apart(f, by, h = 0.3, deriv.order = r), apart(f, 1000, h = 0.3, deriv.order = r), tolerance = 1e-12)
    }
    for (f in list(hmise.mixt, hamise.mixt)) for (r in 0:1) {
      expect_equal(apart(f, by, deriv.order = r), apart(f, 100, deriv.order = r), tolerance = 1e-6)
    }
  }
  plane <- function(by, f) f(mus = rbind(c(0, 0), by), Sigmas = Sigmas, props = props, samp = 200)
  for (f in list(Hmise.mixt, Hamise.mixt)) {
    expect_equal(plane(c(1e10, 1e10), f), plane(c(100, 100), f), tolerance = 1e-6)
  }
  expect_refused(hmise.mixt(mus = c(0, 1e300), sigmas = c(1, 1) * 1e-100, props = props, samp = 9))
})

test_that("the gradients of both criteria are those of differences", {
  mixture <- check_mixture(mus, Sigmas, props)
  H <- matrix(c(0.2, 0.05, 0.05, 0.3), 2)
  for (criterion in c(lapply(0:2, function(r) mixture_amise(mixture, 50, r)),
                      lapply(0:2, function(r) mise_criterion(mixture, 50, r)))) {
    gradient <- attr(criterion(H), "gradient")
    for (k in 1:2) for (l in 1:k) {
      step <- matrix(0, 2, 2)
      step[k, l] <- step[l, k] <- 1e-5
      slope <- (as.numeric(criterion(H + step)) - as.numeric(criterion(H - step))) / 2e-5
      expect_equal(sum(gradient * (step != 0)), slope, tolerance = 1e-5)
    }
  }
  expect_equal(as.numeric(mixture_amise(mixture, 50)(H)), amise.mixt(H, mus, Sigmas, props, 50), tolerance = 1e-12)
  expect_equal(as.numeric(mise_criterion(mixture, 50)(H)), mise.mixt(H, mus, Sigmas, props, 50), tolerance = 1e-12)
})

test_that("a mixture is drawn, and its values returned", {
  expect_gt(drawn(plotmixt(mus = c(0, 3), sigmas = c(1, 0.5), props = props, cont = 50)), 0)
  expect_gt(drawn(shown <- plotmixt(mus = mus, Sigmas = Sigmas, props = props, dfs = c(3, 4), dist = "t")), 0)
  expect_equal(as.vector(shown$estimate), dmvt.mixt(expand.grid(shown$eval.points), mus, Sigmas, c(3, 4), props))
  expect_visible(plotmixt(mus = mus, Sigmas = Sigmas, props = props, draw = FALSE))
})

test_that("errors of derivatives are those of ks, and of an integral", {
  H <- matrix(c(0.2, 0.05, 0.05, 0.3), 2)
  x <- with_seed(7, rmvnorm.mixt(40, mus, Sigmas, props))
  # The integral of the squares of all second derivatives, D_12 f counted twice.
  at <- as.matrix(expand.grid(seq(-9, 9, by = 0.1), seq(-11, 11, by = 0.1)))
  parts <- list(c(1, 1), c(1, 2), c(1, 2), c(2, 2))
  squares <- vapply(parts, function(axes) {
    truth <- 0
    for (k in 1:2) {
      truth <- truth + props[k] * plain_kdde(mus[k, , drop = FALSE], at, Sigmas[2 * k + (-1:0), ], axes)$value
    }
    sum((plain_kdde(x, at, H, axes)$value - truth)^2) * 0.01
  }, 0)
  expect_equal(ise.mixt(x, H, mus, Sigmas, props, deriv.order = 2), sum(squares), tolerance = 1e-8)
  skip_if_not_installed("ks")
  line <- list(mus = c(0, 3), sigmas = c(1, 0.5), props = props, h = 0.3, samp = 50)
  for (r in 1:3) for (name in c("mise.mixt", "amise.mixt")) {
    both <- lapply(c("kestrel", "ks"), getExportedValue, name = name)
    expect_equal(both[[1]](H, mus, Sigmas, props, 50, deriv.order = r),
                 as.numeric(both[[2]](H, mus, Sigmas, props, 50, deriv.order = r)), tolerance = 1e-11)
    expect_equal(do.call(both[[1]], c(line, deriv.order = r)),
                 as.numeric(do.call(both[[2]], c(line, deriv.order = r))), tolerance = 1e-11)
  }
  for (r in 1:3) {
    expect_equal(ise.mixt(x, H, mus, Sigmas, props, deriv.order = r),
                 as.numeric(ks::ise.mixt(x, H, mus, Sigmas, props, deriv.order = r)), tolerance = 1e-10)
  }
})

test_that("mistakes in mixtures are refused", {
  x <- faithful$eruptions
  expect_refused(
    dnorm.mixt(x, c(0, 1), c(1, 1), c(0.4, 0.4)), dnorm.mixt(x, 0, c(1, 1), props), dnorm.mixt(x, c(0, 1), -1:0, props),
    dnorm.mixt(x, 0, 1, -1), dnorm.mixt(x, c(0, NA), c(1, 1), props), rnorm.mixt(0), rnorm.mixt(5, mixt.label = 2),
    dmvnorm.mixt(c(1, 1), mus, diag(2), props), dmvnorm.mixt(1:3, mus, Sigmas, props),
    dmvnorm.mixt(c(1, 1), mus, -Sigmas, props), dmvnorm.mixt(c(1, 1), "a", Sigmas, props),
    dmvt.mixt(c(1, 1), mus, Sigmas, 3, props), rmvt.mixt(3, mus, Sigmas, c(0, 1), props),
    mise.mixt(mus = mus, Sigmas = Sigmas, props = props, samp = 9), mise.mixt(diag(2), mus, props = props, samp = 9),
    mise.mixt(diag(2), mus, Sigmas, props, 0), amise.mixt(diag(2), mus, Sigmas, props, 9, deriv.order = 9),
    ise.mixt(x, diag(2), mus, Sigmas, props), ise.mixt(faithful, diag(2), mus, Sigmas, props, deriv.order = 5),
    plotmixt(diag(3), Sigmas = rbind(diag(3), diag(3), diag(3)),
                                                       props = c(0.2, 0.3, 0.5)),
    plotmixt(0, 1, props = 1, dist = "t"), plotmixt(0, 1, props = 1, col.fn = 3), moments.mixt(mus, Sigmas, 1),
    hnm(x, G = 0), hnm(faithful), Hnm(faithful, subset.ind = 0), Hnm(faithful, deriv.order = 9),
    hmise.mixt(0, 1, 1, 0), hmise.mixt(0, 1, 1, 9, hstart = -1), Hmise.mixt(mus, Sigmas, props, 9, Hstart = diag(3)),
    Hamise.mixt(mus, Sigmas, props, 9, deriv.order = 9)
  )
})
