# Copulas of mixed data beside np 0.60, and sums of products of kernels in plain R.

test_that("copulas and their densities at the observations are np's", {
  expect_np_values("npcopula")
})

copula_bw <- function(of, ...) of(dat = faithful[1:50, ], bws = c(0.3, 4), bandwidth.compute = FALSE, ...)

copula_u <- cbind(c(0.1, 0.5, 0.9), c(0.2, 0.6, 0.8))

test_that("copulas of numbers are the distribution function at quantiles, at all combinations", {
  made <- npcopula(copula_bw(npudistbw), u = copula_u)
  expect_named(made, c("copula", "u1", "u2", "eruptions", "waiting"))
  expect_equal(made[c("u1", "u2")], expand.grid(u1 = copula_u[, 1], u2 = copula_u[, 2], KEEP.OUT.ATTRS = FALSE))
  x <- faithful[1:50, ]
  below <- function(at, k, h) stats::pnorm((at - x[[k]]) / h)
  for (i in c(1, 5, 9)) {
    first <- below(made$eruptions[i], 1, 0.3)
    second <- below(made$waiting[i], 2, 4)
    expect_equal(c(mean(first), mean(second), mean(first * second)), c(made$u1[i], made$u2[i], made$copula[i]),
                 tolerance = 1e-12)
  }
  # A copula is at most its least argument.
  expect_true(all(made$copula <= pmin(made$u1, made$u2)))
  density <- npcopula(copula_bw(npudensbw), u = copula_u)
  of <- function(at, k, h) stats::dnorm((at - x[[k]]) / h)
  one <- of(density$eruptions[4], 1, 0.3)
  other <- of(density$waiting[4], 2, 4)
  expect_equal(density$copula[4], mean(one * other) / mean(one) / mean(other), tolerance = 1e-12)
})

test_that("an ordered factor has the first level that reaches the argument, or the last", {
  mt <- transform(mtcars, gear = ordered(gear))
  bw <- npudistbw(dat = mt[c("mpg", "gear")], bws = c(2, 0.3), bandwidth.compute = FALSE)
  made <- npcopula(bw, u = cbind(c(0.1, 0.5, 0.9), c(0.2, 0.6, 1)))
  level <- made$gear[c(1, 4, 7)]
  reached <- npudist(bws = 0.3, tdat = mt["gear"], edat = data.frame(gear = ordered(3:5)))$dist
  expect_identical(as.character(level), c("3", as.character(3:5)[which(reached >= 0.6)[1]], "5"))
  expect_equal(made$copula, npudist(bw, edat = made[c("mpg", "gear")])$dist)
})

test_that("without arguments the copula is that of the observations, of any data", {
  bw <- copula_bw(npudistbw)
  made <- npcopula(bw)
  expect_equal(made$copula, npudist(bw)$dist)
  expect_equal(made$u2, npudist(bws = 4, tdat = faithful["waiting"][1:50, , drop = FALSE])$dist)
  other <- npudistbw(dat = faithful, bws = c(0.3, 4), bandwidth.compute = FALSE)
  expect_equal(npcopula(bw, faithful), npcopula(other))
  expect_equal(npcopula(npudistbw(~ eruptions + waiting, data = faithful[1:50, ], bws = c(0.3, 4),
                                  bandwidth.compute = FALSE), faithful), npcopula(other))
  scaled <- copula_bw(npudistbw, bwscaling = TRUE)
  expect_equal(npcopula(scaled)$u1, npudist(bws = scaled$bandwidth$x[1], tdat = faithful$eruptions[1:50])$dist)
  expect_equal(npcopula(bw, u = c(0.3, 0.4)), npcopula(bw, u = data.frame(0.3, 0.4)), ignore_attr = TRUE)
})

test_that("where no density is above 0 the copula density is NA, and one warning says so", {
  bw <- npudensbw(dat = faithful[1:9, ], bws = c(0.1, 1), bandwidth.compute = FALSE, ckertype = "uniform")
  expect_snapshot_output(say(expect_warning(made <- npcopula(bw, u = cbind(c(0, 0.5), c(0, 0.5))),
                                            class = "kestrel_warning_support")))
  expect_identical(is.na(made$copula), c(TRUE, TRUE, TRUE, FALSE))
})

test_that("mistakes are refused", {
  bw <- copula_bw(npudistbw)
  mixed <- npudensbw(dat = data.frame(a = 1:4, z = factor(1:2)), bws = c(2, 0.3), bandwidth.compute = FALSE)
  given <- npcdensbw(xdat = 1:5, ydat = 1:5, bws = 1:2, bandwidth.compute = FALSE)
  expect_refused(
    npcopula(), npcopula(1), npcopula(mixed), npcopula(given),
    npcopula(bw, 1:3), npcopula(bw, data.frame(a = 1)), npcopula(bw, transform(faithful, waiting = NA)),
    npcopula(bw, u = c(0.5, 2)), npcopula(bw, u = 0.5), npcopula(bw, u = "a"), npcopula(bw, er.quasi.inv = -1),
    npcopula(bw, u = cbind(NA, 0.5)), npcopula(bw, faithful, NULL, 10, 1, 1)
  )
})
