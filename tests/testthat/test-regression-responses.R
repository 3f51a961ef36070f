# Responses at the points of a fit, and bandwidth objects as `bws` of npregbw().

x <- c(1, 2, 2.5, 4, 5.5, 6, 7.25, 9)
y <- c(2, 3, 3.5, 5, -1, 6.5, 0, 8)
d <- data.frame(x = x, y = y)
new <- data.frame(x = c(1.5, 3, 5, 8, 8.5), y = c(2, 0, -1, 3, 7))
measures <- c("R2", "MSE", "MAE", "MAPE", "CORR", "SIGN")

# The definitions, as np's help page has them, of the points that have a response.
measures_of <- function(y, fit) {
  relative <- ifelse(y == 0, 1 / 2, abs((y - fit) / y))
  list(R2 = sum((y - mean(y)) * (fit - mean(y)))^2 / sum((y - mean(y))^2) / sum((fit - mean(y))^2),
       MSE = mean((y - fit)^2), MAE = mean(abs(y - fit)), MAPE = mean(relative), CORR = abs(stats::cor(y, fit)),
       SIGN = mean(y * fit >= 0))
}

test_that("measures of a fit are those of responses at the points, however these are given", {
  bw <- npregbw(y ~ x, d, bws = 2, bandwidth.compute = FALSE)
  fit <- npreg(bw, exdat = new$x, eydat = new$y)
  expect_equal(fit[measures], measures_of(new$y, fit$mean), tolerance = 1e-14)
  expect_identical(fit$eydat, new$y)
  without <- npreg(bw, exdat = new$x)
  expect_identical(fit[c("mean", "merr", "resid", "loo", "edf")], without[c("mean", "merr", "resid", "loo", "edf")])
  expect_identical(without[measures], npreg(bw)[measures])
  for (other in list(
    npreg(bw, newdata = new, y.eval = TRUE), npreg(y ~ x, d, bws = 2, newdata = new, y.eval = TRUE),
    npreg(y ~ x, d, bws = 2, exdat = new$x, eydat = new$y), npreg(2, x, y, new$x, new$y),
    npreg(txdat = x, tydat = y, exdat = new["x"], eydat = new["y"], bws = 2),
    npreg(bws = bw, newdata = new["x"], eydat = new$y), npreg(y ~ x, data = d, bws = bw, newdata = new, y.eval = TRUE),
    npreg(txdat = x, tydat = y, newdata = new$x, eydat = as.integer(new$y), bws = 2), npreg(bw, x, y, new$x, new$y)
  )) expect_identical(other[measures], fit[measures])
  logs <- npreg(log(y) ~ x, d[1:4, ], bws = 2, newdata = new[c(1, 4:5), ], y.eval = TRUE)
  expect_equal(logs[measures], measures_of(log(new$y[c(1, 4:5)]), logs$mean), tolerance = 1e-14)
})

test_that("measures without units are the same in all units", {
  fit <- y[8:1]
  none <- c("R2", "MAPE", "CORR", "SIGN")
  for (unit in 2^c(-1000, 1000)) expect_identical(measures_at(y * unit, fit * unit)[none], measures_at(y, fit)[none])
  # A fit that is constant, and one response that is very large.
  far <- npreg(bws = 1e9, txdat = x, tydat = y, exdat = new$x, eydat = c(new$y[-1], 1e300))
  expect_equal(far$R2, 0)
  expect_identical(far$MSE, Inf)
})

test_that("fits say what they were made of, as np's do", {
  bw <- npregbw(y ~ x, d, bws = 2, bandwidth.compute = FALSE)
  expect_identical(bw[c("nobs", "ndim", "ncon", "nuno", "nord")], list(nobs = 8L, ndim = 1L, ncon = 1L, nuno = 0L,
                                                                       nord = 0L))
  expect_identical(npreg(bw)[c("ntrain", "trainiseval", "ndim")], list(ntrain = 8L, trainiseval = TRUE, ndim = 1L))
  expect_identical(npreg(bw, exdat = 1:2)[c("ntrain", "trainiseval")], list(ntrain = 8L, trainiseval = FALSE))
})

test_that("measures leave out points without a response or a fit, and are NA where they are not defined", {
  gaps <- data.frame(x = c(NA, 30, new$x, 4), y = c(1, 2, new$y, NA))
  expect_warning(fit <- npreg(y ~ x, d, bws = 1, ckertype = "epanechnikov", newdata = gaps, y.eval = TRUE),
                 "1 of 8 points have no observation")
  expect_equal(fit[measures], measures_of(new$y, fit$mean[3:7]), tolerance = 1e-14)
  expect_identical(fit$eydat, gaps$y)
  one <- npreg(y ~ x, d, bws = 2, exdat = 3, eydat = 4)
  expect_equal(one[measures], list(R2 = NA_real_, MSE = (4 - one$mean)^2, MAE = 4 - one$mean,
                                   MAPE = (4 - one$mean) / 4, CORR = NA_real_, SIGN = 1))
  none <- npreg(y ~ x, d, bws = 2, exdat = 3, eydat = NA)
  expect_true(all(is.na(unlist(none[measures]))))
  expect_identical(npreg(y ~ x, d, bws = Inf, exdat = 2:4, eydat = c(1, 5, 2))$CORR, NA_real_)
  # A mean of their own is no fit.
  flat <- npreg(txdat = x, tydat = rep(3, 8), exdat = 2:4, eydat = c(1, 5, 3), bws = 2)
  expect_identical(flat[c("R2", "CORR")], list(R2 = NA_real_, CORR = NA_real_))
})

test_that("prints say that measures are of responses at points", {
  bw <- npregbw(y ~ x, d, bws = 2, bandwidth.compute = FALSE)
  expect_snapshot_output({
    shown(npreg(bw, newdata = new, y.eval = TRUE))
    shown(summary(npreg(bw, newdata = new, y.eval = TRUE)))
  })
})

test_that("y.eval and eydat where they have no effect", {
  rm(list = ls(informed_of), envir = informed_of)
  fit <- npreg(y ~ x, d, bws = 2)
  expect_message(expect_identical(npreg(2, x, y, eydat = 1:3)$MSE, fit$MSE), "`eydat` has no effect")
  expect_silent(expect_identical(npreg(y ~ x, d, bws = 2, y.eval = TRUE)$MSE, fit$MSE))
  expect_message(expect_identical(predict(fit, newdata = new, y.eval = TRUE), predict(fit, newdata = new)),
                 "`y.eval` has no effect")
})

test_that("responses that are refused", {
  bw <- npregbw(y ~ x, d, bws = 2, bandwidth.compute = FALSE)
  expect_refused(
    npreg(bw, exdat = 1:3, eydat = 1:2),
    npreg(bw, exdat = 1:3, eydat = c(1, Inf, 2)),
    npreg(bw, exdat = 1:3, eydat = letters[1:3]),
    npreg(bw, exdat = 1:3, eydat = list(1, 2, 3)),
    npreg(bw, newdata = new["x"], y.eval = TRUE),
    npreg(bw, newdata = new, y.eval = TRUE, eydat = new$y),
    npreg(bw, newdata = new, y.eval = NA),
    npreg(bw, newdata = transform(new, y = letters[1:5]), y.eval = TRUE),
    npreg(bw, newdata = transform(new, y = Inf), y.eval = TRUE),
    npreg(bw, exdat = 1:3, y.eval = TRUE),
    npreg(2, x, y, newdata = new$x, y.eval = TRUE),
    npreg(bw, 1, 2, 3, 4, TRUE, TRUE, 5)
  )
})

test_that("a bandwidth object as bws of npregbw() decides on everything but the data, as in np", {
  bw <- npregbw(y ~ x, d, regtype = "ll", bwmethod = "cv.aic", ckertype = "epanechnikov", bw.scale = "support")
  fields <- c("bw", "fval", "h", "regtype", "method", "ckertype", "bw.scale", "search")
  for (again in list(npregbw(y ~ x, d, bws = bw), npregbw(x, y, bw), npregbw(xdat = x, ydat = y, bws = bw, nmulti = 2),
                     npregbw(y ~ x, d, bws = bw, regtype = "ll", tol = 0.1), update(bw, bws = bw))) {
    expect_identical(again[fields], bw[fields])
  }
  some <- npregbw(y ~ x, d[-3, ], bws = bw)
  expect_identical(some[fields], npregbw(y ~ x, d[-3, ], regtype = "ll", bwmethod = "cv.aic", ckertype = "epanechnikov",
                                         bw.scale = "support")[fields])
  bw$bw <- 4
  kept <- npregbw(y ~ x, d[-3, ], bws = bw, bandwidth.compute = FALSE)
  expect_identical(kept[c("bw", "search", "regtype")], list(bw = 4, search = "none", regtype = "ll"))
  expect_identical(npreg(y ~ x, d[-3, ], bws = bw)$mean, npreg(kept)$mean)
  scaled <- npregbw(y ~ x, d, bwscaling = TRUE)
  expect_identical(npregbw(y ~ x, d[-3, ], bws = scaled)$bw, npregbw(y ~ x, d[-3, ], bwscaling = TRUE)$bw)
  # The same choice beside it, as in scripts.
  expect_identical(npreg(scaled, regtype = "lc", ckertype = "gaussian")$mean, npreg(scaled)$mean)
  expect_refused(
    npregbw(y ~ x, d, bws = bw, regtype = "lc"),
    npregbw(y ~ x, d, bws = bw, ckerorder = "four"),
    npregbw(bws = bw),
    npregbw(y ~ x, d, bws = npregbw(y ~ x, d, w = y + 2)),
    npreg(y ~ x, d, bws = npregbw(y ~ x, d, w = y + 2)),
    npreg(bw, regtype = "lc"),
    npreg(bw, bw.scale = "np"),
    npreg(bw, nbw = 10),
    npregbw(y ~ x, d, bws = npreg(bw)),
    npregbw(y ~ x, d, bws = structure(unclass(bw)["bw"], class = "kestrel_regbw"))
  )
})
