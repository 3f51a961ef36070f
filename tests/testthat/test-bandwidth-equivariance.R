# The order, units and signs of the columns must change every selector's bandwidth as they change the data, and in no
# other way.

with_pilots <- function(select, pilots, pre) {
  cases <- expand.grid(pilot = pilots, pre = pre, nstage = 1:2, stringsAsFactors = FALSE)
  Map(function(pilot, pre, nstage) function(x) select(x, nstage = nstage, pilot = pilot, pre = pre),
      cases$pilot, cases$pre, cases$nstage)
}

of_matrices <- c(
  list(Hns = Hns, derivative = function(x) Hns(x, deriv.order = 2), Hns.diag = Hns.diag, Hlscv = Hlscv,
       nelder_mead = function(x) Hlscv(x, optim.fun = "nelder-mead"), Hlscv.diag = Hlscv.diag,
       scalar = function(x) Hlscv(x, type = "scalar"), Hpi = Hpi, Hpi.diag = Hpi.diag, Hscv = Hscv,
       Hscv.diag = Hscv.diag, kde = function(x) kde(x, eval.points = x)$H,
       product = function(x) kde(x, kernel_type = "product", eval.points = x)$H,
       compact = function(x) kde(x, kernel = "epanechnikov", eval.points = x)$H),
  Hpi = with_pilots(Hpi, known_pilots, c("sphere", "scale")),
  Hscv = with_pilots(Hscv, known_pilots, c("sphere", "scale")),
  Hpi.diag = with_pilots(Hpi.diag, c("samse", "dscalar"), "scale"),
  Hscv.diag = with_pilots(Hscv.diag, c("samse", "dscalar"), "scale")
)

of_numbers <- list(
  hns = hns, derivative = function(x) hns(x, deriv.order = 2), hpi = hpi,
  one_stage = function(x) hpi(x, nstage = 1), stdev = function(x) hpi(x, scalest = "stdev"), hlscv = hlscv,
  triweight = function(x) hlscv(x, kernel = "triweight"), hscv = hscv, hscv_one = function(x) hscv(x, nstage = 1),
  kde = function(x) kde(x)$h, compact = function(x) kde(x, kernel = "biweight")$h
)

# Correlated and asymmetric, so that functionals differ from axis to axis.
columns_of <- function(d) with_seed(97, exp(with_correlation(matrix(rnorm(60 * d), 60), 0.6) * rep(1:d / 3, each = 60)))

test_that("bandwidth matrices follow the units, the signs and the order of the columns", {
  for (d in 2:3) {
    x <- columns_of(d)
    units <- c(-37.3, 1e-5, 313)[1:d]
    turned <- c(d, seq_len(d - 1))
    for (name in names(of_matrices)) {
      select <- function(x) matrix(quietly(of_matrices[[name]](x)), d)
      H <- select(x)
      scale <- (units * sqrt(diag(H)))[turned]
      expect_equal(select((x * rep(units, each = 60))[, turned]) / outer(scale, scale), cov2cor(H)[turned, turned],
                   tolerance = 1e-4, info = paste(name, d))
    }
  }
})

# With few observations LSCV has several minima.
test_that("the order of the columns does not decide which minimum is found", {
  for (seed in c(4, 6, 10, 57, 117)) {
    x <- with_seed(seed, matrix(rnorm(60), 20))
    H <- quietly(Hlscv(x))
    scale <- sqrt(diag(H))
    turned <- c(3, 1, 2)
    expect_equal(quietly(Hlscv(x[, turned])) / outer(scale[turned], scale[turned]), cov2cor(H)[turned, turned],
                 tolerance = 1e-4, info = seed)
  }
})

test_that("bandwidths follow the units and the sign of the data", {
  x <- columns_of(2)[, 2]
  for (name in names(of_numbers)) {
    select <- function(x) quietly(of_numbers[[name]](x))
    for (unit in c(-37.3, 1e-5)) expect_equal(select(x * unit), abs(unit) * select(x), tolerance = 1e-6, info = name)
  }
})

# Replicates are drawn along the axes of a Cholesky factor, so permuted columns have other replicates.
test_that("bootstrap bandwidths follow the units", {
  x <- columns_of(2)
  boot <- function(select, ...) with_seed(98, quietly(select(..., B = 3, gridsize = 30)))
  for (unit in list(c(37.3, 1e-5), c(1e-5, 8))) {
    expect_equal(boot(Hboot, x * rep(unit, each = 60))$H / outer(unit, unit), boot(Hboot, x)$H, tolerance = 1e-10)
    expect_equal(boot(hboot, x[, 1] * unit[1])$h, unit[1] * boot(hboot, x[, 1])$h, tolerance = 1e-10)
  }
})

test_that("the bandwidth of a regression follows the units and signs of both variables", {
  x <- with_seed(99, runif(60))
  y <- sin(6 * x) + cos(seq_along(x)) / 4
  for (regtype in c("lc", "ll")) {
    select <- function(x, y) npregbw(x, y, regtype = regtype, nbw = 40)
    found <- select(x, y)
    for (unit in c(-1e-140, 1e-5, 1e140)) {
      turned <- select(x, unit * y)
      expect_identical(turned$bw, found$bw)
      expect_equal(turned$cv / unit^2, found$cv, tolerance = 1e-10)
      expect_equal(select(unit * x, y)$bw, abs(unit) * found$bw, tolerance = 1e-12)
    }
  }
})
