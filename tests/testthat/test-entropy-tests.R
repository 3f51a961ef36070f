# Tests by entropies beside np 0.60, whose integrals have errors of 5e-7, and quadrature by stats::integrate().

entropy_x <- faithful$eruptions[1:40]
entropy_y <- faithful$eruptions[61:120] + 0.3

test_that("statistics and bandwidths are np's", {
  expect_np_values("npunitest", 2e-6)
  expect_np_values("npsymtest", 2e-6)
  # np selects bandwidths by a search that ends earlier.
  expect_np_values("npdeptest", 5e-5)
})

entropy_density <- function(data, h) function(at) rowMeans(stats::dnorm(outer(at, data, `-`) / h)) / h

entropy_of <- function(f, g) {
  stats::integrate(function(t) (sqrt(f(t)) - sqrt(g(t)))^2 / 2, -10, 20, rel.tol = 1e-11, subdivisions = 5000L)$value
}

summed <- function(f, g, at) mean((1 - sqrt(g(at) / f(at)))^2) / 2

test_that("statistics of two samples are integrals and sums, also those of bootstrap samples", {
  run <- run_options(1L, "cpu")
  for (method in c("integration", "summation")) {
    of <- function(x, y) {
      f <- entropy_density(x, 0.3)
      g <- entropy_density(y, 0.2)
      if (method == "integration") entropy_of(f, g) else summed(f, g, x)
    }
    test <- npunitest(entropy_x, entropy_y, method, bw.x = 0.3, bw.y = 0.2, boot.num = 9)
    expect_equal(test$Srho, of(entropy_x, entropy_y), tolerance = 1e-9)
    from <- if (method == "integration") c(entropy_x, entropy_y) else entropy_x
    drawn <- matrix(from[floor(replicate_draws_cpp(100L, 9L, 0, 42, run) * length(from)) + 1], 100)
    expect_equal(test$Srho.bootstrap, apply(drawn, 2, function(d) of(d[1:40], d[41:100])), tolerance = 1e-9)
    expect_equal(test$P, mean(test$Srho.bootstrap > test$Srho))
  }
})

test_that("symmetry is about the mean, of data in units of their standard deviation", {
  run <- run_options(1L, "cpu")
  z <- as.vector(scale(entropy_x))
  for (method in c("integration", "summation")) {
    of <- function(x) {
      f <- entropy_density(x, 0.2)
      g <- entropy_density(2 * mean(x) - x, 0.2)
      if (method == "integration") entropy_of(f, g) else summed(f, g, x)
    }
    test <- npsymtest(entropy_x, method, bw = 0.2, boot.num = 9)
    expect_equal(test$Srho, of(z), tolerance = 1e-8)
    drawn <- matrix(c(z, -z)[floor(replicate_draws_cpp(40L, 9L, 0, 42, run) * 80) + 1], 40)
    expect_equal(test$Srho.bootstrap, apply(drawn, 2, of), tolerance = 1e-8)
    expect_equal(test$data.rotate, -z)
  }
  expect_equal(npsymtest(entropy_x, boot.num = 9)$bw, stats::bw.SJ(z))
  expect_equal(npsymtest(1e6 * entropy_x + 1e8, boot.num = 9)$Srho, npsymtest(entropy_x, boot.num = 9)$Srho,
               tolerance = 1e-6)
})

test_that("dependence is the distance from the product of both densities", {
  x <- faithful$eruptions[1:25]
  y <- faithful$waiting[1:25]
  run <- run_options(1L, "cpu")
  of <- function(x, share) {
    at <- lapply(list(x, y), function(v) range(v) + c(-1, 1) * 12 * if (max(v) > 10) 4 else 0.3)
    step <- c(0.3, 4) / share
    grid <- expand.grid(seq(at[[1]][1], at[[1]][2], by = step[1]), seq(at[[2]][1], at[[2]][2], by = step[2]))
    both <- rowMeans(stats::dnorm(outer(grid[[1]], x, `-`) / 0.3) * stats::dnorm(outer(grid[[2]], y, `-`) / 4)) / 1.2
    apart <- entropy_density(x, 0.25)(grid[[1]]) * entropy_density(y, 3)(grid[[2]])
    sum((sqrt(both) - sqrt(apart))^2) / 2 * prod(step)
  }
  test <- npdeptest(x, y, boot.num = 9, bw.data.x = 0.25, bw.data.y = 3, bw.joint = c(0.3, 4))
  expect_equal(test$Srho, of(x, 10), tolerance = 1e-6)
  rows <- floor(replicate_draws_cpp(25L, 9L, 0, 42, run)[, 2] * 25) + 1
  expect_equal(test$Srho.bootstrap.vec[2], of(x[rows], 10), tolerance = 1e-6)
  summation <- npdeptest(x, y, "summation", boot.num = 9, bw.data.x = 0.25, bw.data.y = 3, bw.joint = c(0.3, 4))
  sums <- function(x) {
    both <- rowMeans(stats::dnorm(outer(x, x, `-`) / 0.3) * stats::dnorm(outer(y, y, `-`) / 4)) / 1.2
    mean((1 - sqrt(entropy_density(x, 0.25)(x) * entropy_density(y, 3)(y) / both))^2) / 2
  }
  expect_equal(summation$Srho, sums(x), tolerance = 1e-12)
  expect_equal(summation$Srho.bootstrap.vec[2], sums(x[rows]), tolerance = 1e-12)
  chosen <- npdeptest(x, y, bootstrap = FALSE)
  expect_equal(chosen$bw.joint, npudensbw(dat = data.frame(x, y))$bw)
  expect_identical(chosen$P, NA_real_)
})

test_that("tests find differences, and none where there are none", {
  draws <- with_seed(20261211, list(a = stats::rnorm(80), b = stats::rnorm(80), c = stats::rexp(80)))
  expect_gt(npunitest(draws$a, draws$b, boot.num = 99)$P, 0.05)
  expect_lt(npunitest(draws$a, draws$c, boot.num = 99)$P, 0.02)
  expect_gt(npsymtest(draws$a, boot.num = 99)$P, 0.05)
  expect_lt(npsymtest(draws$c, boot.num = 99)$P, 0.05)
  expect_gt(npdeptest(draws$a, draws$b, "summation", boot.num = 99)$P, 0.05)
  expect_lt(npdeptest(draws$a, draws$a^2 + draws$b / 5, "summation", boot.num = 99)$P, 0.02)
})

test_that("the same seed gives the same bits on any number of threads, whatever the session draws", {
  calls <- list(
    function(...) npunitest(entropy_x, entropy_y, boot.num = 19, ...),
    function(...) npsymtest(entropy_x, boot.num = 19, ...),
    function(...) npdeptest(entropy_x, entropy_x^2, "summation", boot.num = 19, ...)
  )
  for (of in calls) {
    one <- of(threads = 1)
    with_seed(1, state <- .Random.seed)
    other <- with_seed(1, {
      found <- of(threads = 3)
      expect_identical(.Random.seed, state)
      found
    })
    values <- function(test) c(test$Srho.bootstrap, test$Srho.bootstrap.vec)
    expect_identical(values(other), values(one))
    expect_false(identical(values(of(random.seed = 1)), values(one)))
  }
})

test_that("gaps in the data cost no points", {
  far <- c(entropy_x, entropy_x + 1e9)
  test <- npunitest(far, far + 0.1, bw.x = 0.3, bw.y = 0.3, bootstrap = FALSE)
  expect_equal(test$Srho, npunitest(entropy_x, entropy_x + 0.1, bw.x = 0.3, bw.y = 0.3, bootstrap = FALSE)$Srho,
               tolerance = 1e-5)
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    shown(npunitest(entropy_x, entropy_y, boot.num = 19))
    test <- npsymtest(entropy_x, boot.num = 19)
    shown(test)
    shown(summary(test))
    shown(npdeptest(entropy_x, entropy_x^2, bootstrap = FALSE, method = "summation", bw.data.x = 1, bw.data.y = 1,
                    bw.joint = c(1, 1)))
  })
})

test_that("mistakes are refused", {
  expect_refused(
    npunitest(), npunitest(1:3), npunitest(letters, 1:3), npunitest(1:2, 1:5), npunitest(rep(1, 5), 1:5),
    npunitest(c(1, NA, 3), 1:5), npunitest(1:5, 1:5, bw.x = -1), npunitest(1:5, 1:5, boot.num = 1),
    npunitest(1:5, 1:5, method = "sum"), npunitest(1:5, 1:5, ckertype = "uniform"),
    npunitest(1:5, 1:5, bw.x = 1e-12, bw.y = 1), npunitest(rep(1:2, c(50, 1)), 1:5), npsymtest(),
    npsymtest(1:5, bw = 0),
    npsymtest(1:9, boot.method = "geom"), npdeptest(1:5, 1:4), npdeptest(1:5, 1:5, bw.joint = 1),
    npdeptest(1:5, 1:5, bootstrap = NA), print(structure(list(), class = "kestrel_srho"))
  )
})
