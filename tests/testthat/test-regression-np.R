# np's scripts: its values, its arguments and what its methods return. np_regression.csv has results of np 0.60-18.

np_values <- utils::read.csv(test_path("fixtures", "np_regression.csv"), colClasses = c(
  rows = "character", mean = "character", merr = "character", grad1 = "character"
))
parts_of <- function(text) as.numeric(strsplit(text, ";")[[1]])
np_data <- list(mcycle = MASS::mcycle, cars = datasets::cars, faithful = datasets::faithful)

# A row's call of `f`.
np_call <- function(row, f, ...) {
  f(stats::as.formula(row$formula), np_data[[row$set]], regtype = row$regtype, bwmethod = row$bwmethod,
    ckertype = row$ckertype, ckerorder = row$ckerorder, ...)
}

test_that("bandwidths are np's, and objectives no higher", {
  lower <- 0
  for (k in which(np_values$what == "selected")) {
    row <- np_values[k, ]
    bw <- np_call(row, npregbw)
    info <- paste(row$set, row$regtype, row$bwmethod, row$ckertype, row$ckerorder)
    expect_lte(bw$fval, row$fval + 1e-9 * abs(row$fval), label = info)
    # np ended in another minimum.
    if (bw$fval < row$fval - 1e-6 * abs(row$fval)) {
      lower <- lower + 1
      next
    }
    # The curve of the uniform kernel is constant between distances.
    if (row$ckertype == "uniform") expect_equal(floor(bw$bw), floor(row$bw)) else
      expect_equal(bw$bw, row$bw, tolerance = 1e-4, info = info)
  }
  expect_identical(lower, 1)
})

test_that("fits, gradients and their measures are np's", {
  for (k in seq_len(nrow(np_values))) {
    row <- np_values[k, ]
    fit <- np_call(row, npreg, bws = row$bw, gradients = row$ckertype == "gaussian")
    info <- paste(row$set, row$what, row$regtype, row$bwmethod, row$ckertype, row$ckerorder)
    at <- parts_of(row$rows)
    expect_close_to_reference(fit$mean[at], parts_of(row$mean), 1e-6, info = info)
    expect_equal(c(fit$R2, fit$MSE), c(row$R2, row$MSE), tolerance = 1e-6, info = info)
    if (row$ckertype == "gaussian") expect_close_to_reference(fit$grad[at, 1], parts_of(row$grad1), 1e-6, info = info)
  }
})

x <- c(1, 2, 2.5, 4, 5.5, 6, 7.25, 9)
y <- c(2, 3, 3.5, 5, -1, 6.5, 0, 8)
d <- data.frame(x = x, y = y)

test_that("measures of a fit are those of their definitions", {
  for (w in list(NULL, rep(1:2, 4))) {
    fit <- npreg(txdat = x, tydat = y, bws = 1, w = w)
    share <- if (is.null(w)) rep(1 / 8, 8) else w / sum(w)
    relative <- abs(fit$resid / y)
    relative[7] <- 1 / 2
    expect_equal(fit$MAE, sum(share * abs(fit$resid)))
    expect_equal(fit$MAPE, sum(share * relative))
    expect_equal(fit$CORR, abs(stats::cov.wt(cbind(y, fit$mean), share, cor = TRUE)$cor[1, 2]))
    expect_equal(fit$SIGN, sum(share[y * fit$mean >= 0]))
  }
  expect_identical(npreg(txdat = x, tydat = rep(3, 8), bws = 1)[c("CORR", "SIGN")], list(CORR = NA_real_, SIGN = 1))
})

test_that("formula and default methods agree, whatever the order and names of arguments", {
  bw <- suppressWarnings(npregbw(y ~ x, data = d, nbw = 50))
  fields <- c("bw", "fval", "grid", "cv", "n.unsupported", "x", "y", "w", "nobs", "xnames", "ynames")
  for (other in suppressWarnings(list(
    npregbw(formula = y ~ x, data = d, nbw = 50), npregbw(data = d, formula = y ~ x, nbw = 50),
    npregbw(data = d, y ~ x, nbw = 50), npregbw(y ~ x, nbw = 50), npregbw(xdat = x, ydat = y, nbw = 50),
    npregbw(ydat = y, xdat = x, nbw = 50), npregbw(x, y, nbw = 50), npregbw(d["x"], d["y"], nbw = 50),
    npregbw(cbind(x), cbind(y), nbw = 50), npregbw(y ~ x, rbind(d, d[1, ]), subset = 1:8, nbw = 50)
  ))) expect_identical(other[fields], bw[fields])
  fit <- npreg(bw)
  fields <- c("bw", "mean", "merr", "lower", "upper", "resid", "loo", "R2", "MSE", "nobs")
  for (other in suppressWarnings(list(
    npreg(bws = bw), npreg(y ~ x, data = d, nbw = 50), npreg(formula = y ~ x, data = d, nbw = 50),
    npreg(txdat = x, tydat = y, nbw = 50), npreg(bws = y ~ x, data = d, nbw = 50), npreg(bws = y ~ x, d, nbw = 50),
    npreg(bw, txdat = x, tydat = y), npreg(d$y ~ d$x, nbw = 50), npreg(y ~ d[, "x"], data = list(y = y), nbw = 50),
    npreg(bws = bw$bw, txdat = x, tydat = y), npreg(tydat = y, txdat = x, bws = bw$grid), npreg(y ~ x, bws = bw$bw),
    npreg(bw, gradients = FALSE, residuals = TRUE), npreg(bw, x, y), npreg(bw$bw, x, y), npreg(bw = bw),
    npreg(bws = bw, data = d), npreg(x, y, nbw = 50), npreg(d["x"], d["y"], nbw = 50),
    npreg(bws = bw$bw, xdat = x, ydat = y), npreg(bw = bw$bw, xdat = x, tydat = y), do.call(npreg, list(bw)),
    do.call("npreg", list(bws = bw$bw, txdat = x, tydat = y)), do.call(npreg, list(y ~ x, data = d, nbw = 50)),
    do.call(npreg, list(quote(y ~ x), quote(d), nbw = 50)), update(npreg(y ~ x, d), nbw = 50)
  ))) expect_identical(other[fields], fit[fields])
  expect_equal(npreg(bw, x, y, x[2:3])$mean, fit$mean[2:3], tolerance = 1e-14)
  expect_equal(npreg(bw$bw, x, y, x[2:3])$mean, fit$mean[2:3], tolerance = 1e-14)
  wrapped <- function(table, ...) npreg(y ~ x, data = table, ...)
  expect_identical(suppressWarnings(wrapped(d, nbw = 50))$mean, fit$mean)
  expect_identical(wrapped(d, bws = 3)$bw, 3)
})

test_that("incomplete rows are left out and counted, and na.exclude keeps their positions", {
  gaps <- rbind(d, d[1, ])
  gaps$x[9] <- NA
  gaps$y[2] <- NA
  expect_message(fit <- npreg(y ~ x, gaps, bws = 4, na.action = na.exclude), "2 of 9 rows have missing values")
  same <- npreg(y ~ x, d[-2, ], bws = 4)
  expect_identical(fit$mean, same$mean)
  for (value in list(fitted(fit), residuals(fit), se(fit), predict(fit), predict(fit, se.fit = TRUE)$se.fit,
                     predict(fit, interval = "confidence")[, "upr"])) {
    expect_identical(which(is.na(value)), c(2L, 9L))
  }
  expect_identical(fitted(fit)[-c(2, 9)], fitted(same))
  expect_equal(fitted(fit) + residuals(fit), gaps$y + 0 * gaps$x)
  expect_identical(nobs(fit), 7L)
  expect_identical(nobs(fit$bws), 7L)
  suppressMessages({
    weighted <- npreg(y ~ x, d, bws = 4, w = replace(x, 5, NA), na.action = na.exclude)
    defaults <- list(npreg(y ~ x, gaps, bws = 4), npreg(txdat = gaps$x, tydat = gaps$y, bws = 4),
                     npreg(fit$bws, gaps$x, gaps$y))
    # np's formula methods ask the option, the others do not.
    old <- options(na.action = "na.exclude")
    on.exit(options(old))
    by_option <- npreg(y ~ x, gaps, bws = 4)
    options(na.action = "na.fail")
    defaults <- c(defaults, list(npreg(txdat = gaps$x, tydat = gaps$y, bws = 4)))
    expect_error(npreg(y ~ x, gaps, bws = 4), "must not have missing values", class = "kestrel_error_input")
  })
  expect_identical(which(is.na(fitted(weighted))), 5L)
  for (default in defaults) {
    expect_identical(fitted(default), fitted(same))
    expect_identical(default$bws[c("rows.omit", "nobs.omit")], list(rows.omit = c(2L, 9L), nobs.omit = 2L))
  }
  expect_identical(fitted(by_option), fitted(fit))
})

test_that("a bandwidth object may be edited", {
  bw <- npregbw(y ~ x, d)
  bw$bw <- 4
  fields <- c("bw", "mean", "merr", "resid", "loo")
  expect_identical(npreg(bw)[fields], npreg(y ~ x, d, bws = 4)[fields])
  expect_identical(predict(bw, d[2:3, ]), predict(npreg(y ~ x, d, bws = 4), d[2:3, ]))
  expect_identical(npreg(bw)$bws[c("h", "fval", "xnames", "formula")],
                   npreg(y ~ x, d, bws = 4)$bws[c("h", "fval", "xnames", "formula")])
  expect_output(print(bw), "h = 4 ")
  bw$ckertype <- "epanechnikov"
  bw$regtype <- "ll"
  expect_identical(npreg(bw)[fields], npreg(y ~ x, d, bws = 4, ckertype = "epanechnikov", regtype = "ll")[fields])
  weighted <- npregbw(y ~ x, d, w = x)
  weighted$bw <- Inf
  expect_equal(npreg(weighted)$mean, rep(stats::weighted.mean(y, x), 8), tolerance = 1e-14)
})

test_that("an infinite bandwidth smooths out", {
  for (kernel in regression_kernels) {
    expect_close_to_reference(npreg(y ~ x, d, bws = Inf, ckertype = kernel)$mean, rep(mean(y), 8))
    line <- npreg(y ~ x, d, bws = Inf, ckertype = kernel, regtype = "ll")
    expect_close_to_reference(line$mean, unname(fitted(lm(y ~ x))))
    expect_identical(line$bw, Inf)
    expect_equal(npregbw(y ~ x, d, bws = c(1e13, Inf), ckertype = kernel)$cv[2], mean((y - mean(y))^2) * (8 / 7)^2,
                 tolerance = 1e-12)
  }
})

test_that("bwscaling, and the fields that np's bandwidths have", {
  bw <- npregbw(dist ~ speed, cars)
  scaled <- npregbw(dist ~ speed, cars, bwscaling = TRUE)
  # np 0.60.
  expect_equal(c(bw$sfactor$x, bw$bandwidth$x, bw$sdev, bw$nconfac), c(0.6867886, 1.629753, 5.1890, 0.4573),
               tolerance = 1e-4)
  expect_equal(scaled[c("h", "sfactor", "bandwidth", "fval")], bw[c("h", "sfactor", "bandwidth", "fval")],
               tolerance = 1e-7)
  expect_identical(scaled$bw, scaled$sfactor$x)
  expect_equal(npreg(scaled)$mean, npreg(bw)$mean, tolerance = 1e-7)
  fixed <- npregbw(dist ~ speed, cars, bws = 1.06, bwscaling = TRUE, bandwidth.compute = FALSE, ckertype = "biweight")
  expect_equal(fixed$h, 1.06 * fixed$sdev * fixed$nconfac)
  expect_identical(fixed$search, "none")
  expect_identical(bw$formula, dist ~ speed, ignore_formula_env = TRUE)
  expect_null(npregbw(cars$speed, cars$dist)$formula)
})

test_that("a number as bws is np's start, and arguments of its search have no effect, which one message says", {
  rm(list = ls(informed_of), envir = informed_of)
  plain <- npregbw(dist ~ speed, cars)
  expect_message(started <- npregbw(dist ~ speed, cars, bws = 7), "`bws` has no effect")
  expect_identical(started[c("bw", "fval", "grid")], plain[c("bw", "fval", "grid")])
  said <- capture_messages(npregbw(dist ~ speed, cars, nmulti = 5, itmax = 100, tol = 0.1, remin = FALSE))
  expect_identical(said, paste("`nmulti`, `itmax`, `tol`, `remin` have no effect: the search finds the least value of",
                               "the whole curve.\n"))
  expect_message(npreg(bws = plain, data = cars), "`data` has no effect")
})

test_that("points to evaluate at, and their names, are as in np", {
  bw <- npregbw(y ~ x, d)
  g <- c(2.2, 5)
  at <- npreg(bw, exdat = g)
  expect_identical(at$eval, data.frame(g = g))
  expect_identical(fitted(at), at$mean)
  expect_identical(names(as.data.frame(at))[1], "x")
  expect_identical(npreg(bws = bw, newdata = data.frame(x = g))$eval, data.frame(x = g))
  expect_identical(npreg(bw, exdat = data.frame(x = g))$eval, data.frame(x = g))
  expect_identical(npreg(bws = bw, newdata = data.frame(x = g), data = d)$mean, at$mean)
  expect_identical(predict(npreg(bw), newdata = data.frame(x = g), type = "response", se.fit = TRUE),
                   list(fit = at$mean, se.fit = at$merr))
  far <- npreg(txdat = x, tydat = y, exdat = g, bws = 300)
  expect_equal(far$mean, reference_fit(g, x, y, 300, "gaussian", "lc"), tolerance = 1e-13)
  expect_equal(gradients(far, errors = TRUE), npreg(bws = 300, txdat = x, tydat = y, exdat = g, gradients = TRUE)$gerr)
})

test_that("calls made by other functions work", {
  search <- function(form, table, ...) npregbw(form, data = table, ...)
  through <- function(...) search(...)
  bw <- npregbw(y ~ x, d)
  for (other in list(search(y ~ x, d), through(y ~ x, table = d), do.call(npregbw, list(y ~ x, d)),
                     do.call("npregbw", list(formula = stats::as.formula("y ~ x"), data = quote(d))),
                     eval(bquote(npregbw(.(stats::reformulate("x", "y")), data = d))),
                     update(npregbw(y ~ x, d, regtype = "ll"), regtype = "lc"))) {
    expect_identical(other[c("bw", "fval", "xnames", "formula")], bw[c("bw", "fval", "xnames", "formula")],
                     ignore_formula_env = TRUE)
    expect_identical(npreg(bws = other)$mean, npreg(bw)$mean)
  }
  local <- function() {
    inside <- d
    fit <- npreg(y ~ x, data = inside, bws = 2)
    c(predict(fit, newdata = inside[1:2, ]), fitted(update(fit, bws = 3))[1])
  }
  expect_equal(local(), c(fitted(npreg(y ~ x, d, bws = 2))[1:2], fitted(npreg(y ~ x, d, bws = 3))[1]),
               tolerance = 1e-14)
})

# npregbw(dist ~ speed, cars, ckertype = "epanechnikov", ckerorder = , regtype = , bwmethod = , nmulti = 5) of np 0.60.
test_that("Epanechnikov kernels of higher order have np's values", {
  rows <- utils::read.table(header = TRUE, text = "
    ckerorder regtype bwmethod bw fval first middle
    4 lc cv.ls 3.584909655 250.7105071 4.877992353 40.71473004
    4 lc cv.aic 4.279925719 6.604993869 2.031299611 39.72991787
    4 ll cv.ls 12.25193457 241.501323 6.148884069 40.95057752
    4 ll cv.aic 9.31972707 6.532066361 -3.379036866 40.62710398
    6 lc cv.ls 4.98623507 247.4080321 6.124574278 40.70485033
    6 ll cv.ls 5.655512676 227.4031084 5.384430241 39.17274042
    8 ll cv.ls 7.332125075 231.5218886 4.760926901 36.75647414
    8 ll cv.aic 24.53070582 6.546124017 3.221802221 41.00901274")
  lower <- 0
  for (k in seq_len(nrow(rows))) {
    row <- rows[k, ]
    by_np <- function(f, ...) {
      suppressMessages(f(dist ~ speed, cars, ckertype = "epanechnikov", ckerorder = row$ckerorder,
                         regtype = row$regtype, bwmethod = row$bwmethod, ...))
    }
    fit <- by_np(npreg, bws = row$bw)
    expect_equal(fit$mean[c(1, 25)], c(row$first, row$middle), tolerance = 1e-6)
    expect_equal(fit$bws$fval, row$fval, tolerance = 1e-7)
    bw <- by_np(npregbw)
    expect_lte(bw$fval, row$fval * (1 + 1e-9))
    if (bw$fval < row$fval - 1e-6 * row$fval) lower <- lower + 1 else expect_equal(bw$bw, row$bw, tolerance = 1e-4)
  }
  # np ends in another minimum twice.
  expect_identical(lower, 2)
  # A vector and a column of a data frame are the same regressor, which has a name, predictions and no grid.
  a <- npregbw(cars$speed, cars$dist, ckertype = "epanechnikov", ckerorder = 4)
  expect_identical(a$bw, npregbw(cars["speed"], cars$dist, ckertype = "epanechnikov", ckerorder = 4)$bw)
  expect_identical(predict(npreg(a), data.frame(x = c(5, 20))), npreg(a, exdat = c(5, 20))$mean)
  expect_refused(npregbw(cars$speed, cars$dist, ckertype = "epanechnikov", ckerorder = 4, nbw = 5))
})
