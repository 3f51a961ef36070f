# npregbw() and npreg() with several regressors, factors and ordered factors: data, search, methods, plots, messages.

cars_of <- transform(datasets::mtcars, cyl = factor(cyl), gear = ordered(gear), am = am == 1)
quiet <- function(code) suppressMessages(code)
given <- function(columns, bws, ...) {
  npregbw(xdat = cars_of[columns], ydat = cars_of$mpg, bws = bws, bandwidth.compute = FALSE, ...)
}

test_that("formulas and data give the same, with np's fields", {
  by_formula <- quiet(npregbw(mpg ~ log(hp) + cyl + gear, cars_of))
  frame <- data.frame(a = log(cars_of$hp), cars_of[c("cyl", "gear")])
  by_data <- quiet(npregbw(frame, cars_of$mpg))
  expect_identical(by_formula$bw, by_data$bw)
  expect_identical(unclass(by_formula)[c("ndim", "ncon", "nuno", "nord", "icon", "iuno", "iord", "nobs")],
                   list(ndim = 3L, ncon = 1L, nuno = 1L, nord = 1L, icon = c(TRUE, FALSE, FALSE),
                        iuno = c(FALSE, TRUE, FALSE), iord = c(FALSE, FALSE, TRUE), nobs = 32L))
  expect_identical(by_formula$xnames, c("log(hp)", "cyl", "gear"))
  expect_identical(c(by_formula$ynames, by_data$ynames), c("mpg", "y"))
  expect_length(by_formula$fval.history, 3L)
  expect_identical(dim(by_formula$starts), c(3L, 3L))
  # np: sd is the least of three measures of spread, and powers of n depend on the number of continuous columns.
  expect_equal(by_formula$sfactor$x, by_formula$bw / c(by_formula$sdev * 32^(-1 / 5), 32^(-2 / 5), 32^(-2 / 5)))
  matrix <- quiet(npregbw(as.matrix(datasets::mtcars[c("wt", "hp")]), cars_of$mpg))
  expect_identical(matrix$bw, quiet(npregbw(mpg ~ wt + hp, cars_of))$bw)
  expect_identical(quiet(npregbw(factor(cars_of$gear, ordered = FALSE), cars_of$mpg))$xnames, "x")
  logical <- quiet(npregbw(mpg ~ am, cars_of))
  expect_identical(logical$bw, quiet(npregbw(mpg ~ factor(am), cars_of))$bw)
  expect_equal(predict(logical, data.frame(am = TRUE)), predict(logical, data.frame(am = "TRUE")))
  expect_identical(npreg(bws = c(1, 9), txdat = cars_of[c("wt", "hp")], tydat = cars_of$mpg)$mean,
                   npreg(mpg ~ wt + hp, cars_of, bws = c(1, 9))$mean)
  expect_identical(formula(by_data), y ~ a + cyl + gear, ignore_attr = TRUE)
})

test_that("the user's random numbers are not touched, and results are the same every time", {
  set.seed(5)
  before <- .Random.seed
  first <- quiet(npregbw(mpg ~ wt + cyl, cars_of))
  expect_identical(.Random.seed, before)
  expect_identical(quiet(npregbw(mpg ~ wt + cyl, cars_of, threads = 3))$bw, first$bw)
})

test_that("rows, columns and levels may be permuted", {
  for (regtype in c("lc", "ll")) {
    first <- quiet(npregbw(mpg ~ wt + hp + cyl, cars_of, regtype = regtype))
    rows <- quiet(npregbw(mpg ~ wt + hp + cyl, cars_of[32:1, ], regtype = regtype))
    columns <- quiet(npregbw(mpg ~ cyl + hp + wt, cars_of, regtype = regtype))
    levels <- quiet(npregbw(mpg ~ wt + hp + factor(cyl, c("8", "4", "6")), cars_of, regtype = regtype))
    inside <- first$bw < 1e6
    for (other in list(rows$bw, rev(columns$bw), levels$bw)) {
      expect_equal(other[inside], first$bw[inside], tolerance = 1e-5, info = regtype)
    }
    expect_equal(c(rows$fval, columns$fval, levels$fval), rep(first$fval, 3), tolerance = 1e-9)
    fit <- npreg(first)
    expect_equal(npreg(rows)$mean[32:1], fit$mean, tolerance = 1e-6)
    expect_equal(npreg(columns)$mean, fit$mean, tolerance = 1e-6)
  }
})

test_that("a regressor that says nothing, a constant factor and an empty level change nothing", {
  base <- npreg(given(c("wt", "cyl"), c(0.5, 0.2)))
  with <- function(column, bw, ...) {
    npreg(bws = c(0.5, 0.2, bw), txdat = cbind(cars_of[c("wt", "cyl")], column), tydat = cars_of$mpg, ...)
  }
  for (bw in c(1e9, 1e15, Inf)) expect_equal(with(cars_of$hp, bw)$mean, base$mean, tolerance = 1e-13)
  expect_identical(with(factor(rep("one", 32)), 0)$mean, base$mean)
  expect_equal(with(cars_of$gear, 1)$mean, base$mean)
  expect_equal(with(factor(cars_of$gear, ordered = FALSE), 2 / 3)$mean, base$mean)
  # An empty level counts in lambda / (c - 1), as in np.
  wider <- transform(cars_of, cyl = factor(cyl, c("4", "6", "8", "10")))
  odds <- function(lambda, c) lambda / (c - 1) / (1 - lambda)
  wide <- stats::uniroot(function(lambda) odds(lambda, 4) - odds(0.2, 3), c(0, 0.7), tol = 1e-14)$root
  expect_equal(npreg(mpg ~ wt + cyl, wider, bws = c(0.5, wide))$mean, base$mean, tolerance = 1e-10)
})

test_that("regressors without a relation to the response are smoothed out, and the remark says so", {
  set.seed(3)
  d <- data.frame(x = runif(80), noise = rnorm(80), z = factor(sample(letters[1:3], 80, TRUE)))
  d$y <- sin(5 * d$x) + rnorm(80) / 5
  expect_message(bw <- npregbw(y ~ x + noise + z, d), "`noise` and `z` are smoothed out")
  expect_gt(bw$bw[2], 1e8)
  expect_equal(bw$bw[3], 2 / 3)
  # The same as without them.
  alone <- npregbw(y ~ x, d)
  expect_equal(bw$bw[1], alone$bw, tolerance = 1e-4)
  expect_equal(bw$fval, alone$fval, tolerance = 1e-10)
})

test_that("weights", {
  d <- cars_of[c("mpg", "wt", "hp", "cyl")]
  w <- rep(c(3, 1, 2, 0), 8)
  bws <- c(0.4, 50, 0.2)
  fields <- c("mean", "grad")
  some <- d[c(1, 4, 9, 12), ]
  at <- function(data, w = NULL, points = some, ...) {
    npreg(mpg ~ wt + hp + cyl, data, bws = bws, w = w, newdata = points, gradients = TRUE, ...)
  }
  for (regtype in c("lc", "ll")) {
    weighted <- at(d, w, regtype = regtype)
    # Weights of 3 are three copies in fits.
    copies <- at(d[rep(1:32, w), ], regtype = regtype)
    expect_equal(weighted[fields], copies[fields], tolerance = 1e-11, ignore_attr = TRUE)
    # Rows of weight zero are not there, but have a fit.
    left <- at(d[w > 0, ], w[w > 0], regtype = regtype)
    expect_equal(unclass(weighted)[c(fields, "merr", "gerr")], unclass(left)[c(fields, "merr", "gerr")],
                 tolerance = 1e-12)
    whole <- npreg(weighted$bws, gradients = TRUE)
    rest <- npreg(left$bws)
    expect_equal(whole$mean[w > 0], rest$mean, tolerance = 1e-12)
    expect_equal(whole$loo[w > 0], rest$loo, tolerance = 1e-12)
    expect_equal(whole$loo[w == 0], whole$mean[w == 0], tolerance = 1e-12)
    expect_equal(unclass(whole)[c("R2", "MSE", "MAE", "MAPE", "CORR", "SIGN", "edf")],
                 unclass(rest)[c("R2", "MSE", "MAE", "MAPE", "CORR", "SIGN", "edf")], tolerance = 1e-11)
    expect_identical(c(whole$nobs, length(whole$resid)), c(24L, 32L))
    # So are measures of the fit, those of the copies.
    measures <- c("R2", "MSE", "MAE", "MAPE", "CORR", "SIGN")
    expect_equal(unclass(whole)[measures], unclass(npreg(copies$bws))[measures], tolerance = 1e-11)
    # Weights in any units, and equal ones like none.
    expect_equal(at(d, 7e9 * w, regtype = regtype)[fields], weighted[fields], tolerance = 1e-13)
    expect_equal(at(d, rep(5, 32), regtype = regtype)$mean, at(d, regtype = regtype)$mean, tolerance = 1e-13)
    for (method in c("cv.ls", "cv.aic")) {
      search <- function(...) quiet(npregbw(mpg ~ wt + hp + cyl, ..., regtype = regtype, bwmethod = method, nmulti = 2))
      bw <- search(d, w = w)
      without <- search(d[w > 0, ], w = w[w > 0])
      expect_equal(bw$fval, without$fval, tolerance = 1e-9)
      expect_equal(bw$bw, without$bw, tolerance = 1e-4)
      expect_equal(search(d, w = rep(5, 32))$fval, search(d)$fval, tolerance = 1e-9)
    }
  }
  # As with one regressor, an observation is left out with its whole weight.
  one <- npregbw(mpg ~ wt, d, w = w, bws = 0.4, bandwidth.compute = FALSE)
  two <- npregbw(mpg ~ wt + hp, d, w = w, bws = c(0.4, Inf), bandwidth.compute = FALSE)
  expect_equal(two$fval, one$fval, tolerance = 1e-12)
  expect_equal(npreg(two)[c("mean", "merr", "loo", "R2", "MSE")], npreg(one)[c("mean", "merr", "loo", "R2", "MSE")],
               tolerance = 1e-12, ignore_attr = TRUE)
  # Missing weights are missing rows.
  expect_message(gone <- npreg(mpg ~ wt + cyl, d, w = replace(w, 2, NA), bws = bws[-2]), "1 of 32 rows")
  expect_identical(gone$nobs, 23L)
  # Many rows, of which a part finds the starts.
  set.seed(9)
  many <- data.frame(a = rnorm(450), b = runif(450))
  many$y <- sin(2 * many$a) + rnorm(450) / 3
  heavy <- rep(c(0, 1, 2), 150)
  expect_equal(quiet(npregbw(y ~ a + b, many, w = heavy, nmulti = 1))$fval,
               quiet(npregbw(y ~ a + b, many[heavy > 0, ], w = heavy[heavy > 0], nmulti = 1))$fval, tolerance = 1e-9)
  expect_snapshot_output(shown(npreg(mpg ~ wt + cyl, d, w = w, bws = c(0.4, 0.2))))
})

test_that("searches with every kernel end no higher than where they start", {
  for (ckertype in kernel_names()) {
    for (order in if (ckertype %in% c("gaussian", "epanechnikov")) c(2, 4) else 2) {
      start <- c(1, 40, 0.4)
      bw <- quiet(npregbw(mpg ~ wt + hp + cyl, cars_of, bws = start, ckertype = ckertype, ckerorder = order))
      at_start <- suppressWarnings(given(c("wt", "hp", "cyl"), start, ckertype = ckertype, ckerorder = order))
      expect_lte(bw$fval, if (at_start$n.unsupported == 0) at_start$fval else Inf)
      expect_identical(bw$n.unsupported, 0L)
      expect_true(all(is.finite(bw$bw)))
    }
  }
})

test_that("three observations, ties and a lone observation have bandwidths", {
  three <- data.frame(a = c(1, 2, 4), z = factor(c("p", "q", "p")), y = c(3, 1, 2))
  expect_true(is.finite(quiet(npregbw(y ~ a + z, three))$fval))
  tied <- data.frame(a = rep(1:3, 5), z = factor(rep(1:5, each = 3)), y = sin(1:15))
  # Weights by a and by z go to 0 together, along a curve: the search may say that it did not converge.
  for (regtype in c("lc", "ll")) {
    bw <- suppressWarnings(quiet(npregbw(y ~ a + z, tied, regtype = regtype)))
    expect_lt(bw$fval, quiet(npregbw(y ~ z, tied, regtype = regtype))$fval)
  }
  lone <- rbind(tied, list(1000, "1", 0))
  far <- quiet(npregbw(y ~ a + z, lone, ckertype = "epanechnikov"))
  expect_identical(far$n.unsupported, 0L)
  expect_gt(far$bw[1], 997 / sqrt(5))
  # A level of its own: with lambda = 0 it would have no neighbour.
  own <- data.frame(z = factor(c(rep(1:2, each = 6), 3)), y = c(sin(1:6), 5 + sin(1:6), 5))
  expect_gt(quiet(npregbw(y ~ z, own))$bw, 0)
  expect_identical(quiet(npregbw(y ~ z, own, unsupported = "exclude"))$n.unsupported, 1L)
})

test_that("missing values are left out by the one policy", {
  gaps <- cars_of
  gaps$wt[2] <- NA
  gaps$cyl[5] <- NA
  gaps$mpg[9] <- NA
  given_in <- function(data) npregbw(mpg ~ wt + cyl, data, bws = c(0.5, 0.2), bandwidth.compute = FALSE)
  expect_message(bw <- given_in(gaps), "3 of 32 rows have missing values and are left out.", fixed = TRUE)
  expect_identical(bw$nobs.omit, 3L)
  expect_equal(bw$fval, given_in(gaps[-c(2, 5, 9), ])$fval)
  fit <- quiet(npreg(mpg ~ wt + cyl, gaps, bws = c(0.5, 0.2), na.action = na.exclude))
  expect_identical(which(is.na(fitted(fit))), c(2L, 5L, 9L))
  expect_identical(length(residuals(fit)), 32L)
  expect_refused(npregbw(mpg ~ wt + cyl, gaps, na.action = na.fail))
})

test_that("fits are the oracle's, with their errors, effects and measures", {
  columns <- c("wt", "cyl", "gear")
  for (regtype in c("lc", "ll")) {
    fit <- npreg(given(columns, c(0.6, 0.3, 0.4), regtype = regtype), gradients = TRUE)
    data <- mixed_data(cars_of[columns], cars_of$mpg)
    task <- mixed_task_of(0.6, c(0.3, 0.4), regtype = regtype)
    inside <- mixed_oracle_fit(data, task)
    errors <- cars_of$mpg - inside$loo
    reference <- mixed_oracle_fit(data, task, error2 = errors^2)
    expect_equal(fit$mean, reference$mean, tolerance = 1e-11)
    expect_equal(fit$merr, reference$se, tolerance = 1e-9)
    expect_equal(fit$loo, reference$loo, tolerance = 1e-10)
    expect_equal(fit$resid, cars_of$mpg - reference$mean, tolerance = 1e-9)
    expect_equal(fit$edf, sum(reference$leverage), tolerance = 1e-10)
    expect_equal(fit$grad[, 1], reference$grad[, 1], tolerance = 1e-9)
    expect_equal(fit$gerr[, 1], reference$gerr[, 1], tolerance = 1e-9)
    # Effects: against the first level of cyl; against the level below of gear.
    moved <- function(column, codes) {
      points <- data[c("x", "unordered", "ordered")]
      points[[column]][] <- codes
      mixed_oracle_fit(data, task, points, errors^2)
    }
    first <- moved("unordered", 1L)
    expect_equal(fit$grad[, 2], reference$mean - first$mean, tolerance = 1e-8)
    expect_equal(fit$gerr[, 2], ifelse(data$unordered[, 1] == 1, 0, sqrt(reference$se^2 + first$se^2)),
                 tolerance = 1e-8)
    code <- data$ordered[, 1]
    below <- moved("ordered", ifelse(code == 1, 2, code - 1))
    expect_equal(fit$grad[, 3], (reference$mean - below$mean) * ifelse(code == 1, -1, 1), tolerance = 1e-8)
    expect_equal(fit$MSE, mean(fit$resid^2))
    off <- fit$mean - mean(cars_of$mpg)
    centred <- cars_of$mpg - mean(cars_of$mpg)
    expect_equal(fit$R2, sum(off * centred)^2 / (sum(off^2) * sum(centred^2)))
  }
})

test_that("levels of ordered factors that are numbers have the distances of the numbers", {
  d <- data.frame(dose = ordered(datasets::ToothGrowth$dose), len = datasets::ToothGrowth$len)
  fit <- npreg(len ~ dose, d, bws = 0.3)
  means <- tapply(d$len, d$dose, mean)
  at <- c(0.5, 1, 2)
  by_hand <- vapply(at, function(a) sum(0.3^abs(at - a) * means) / sum(0.3^abs(at - a)), 0)
  expect_equal(unname(tapply(fit$mean, d$dose, mean))[1:3], by_hand, ignore_attr = TRUE)
  named <- npreg(len ~ factor(dose, labels = c("low", "middle", "high"), ordered = TRUE), d, bws = 0.3)
  by_hand <- vapply(1:3, function(a) sum(0.3^abs(1:3 - a) * means) / sum(0.3^abs(1:3 - a)), 0)
  expect_equal(unname(tapply(named$mean, d$dose, mean))[1:3], by_hand, ignore_attr = TRUE)
})

test_that("predictions are NA where values are missing or levels unknown, which one warning counts", {
  fit <- npreg(given(c("wt", "cyl", "gear"), c(0.5, 0.2, 0.3)))
  at <- data.frame(gear = c(3, 4, 4, 5), wt = c(2, NA, 3, 3), cyl = c("4", "6", "5", "8"))
  expect_warning(found <- predict(fit, at, se.fit = TRUE),
                 "1 of 4 points has a level of `cyl` that the data lack: its fit is NA.", fixed = TRUE)
  expect_identical(is.na(found$fit), c(FALSE, TRUE, TRUE, FALSE))
  expect_identical(is.na(found$se.fit), c(FALSE, TRUE, TRUE, FALSE))
  same <- which(cars_of$cyl == "4" & cars_of$gear == "4")[1]
  expect_equal(predict(fit, cars_of[same, ]), fit$mean[same])
  expect_equal(predict(fit), fit$mean)
  band <- predict(fit, cars_of[1:3, ], interval = "confidence", level = 0.5)
  expect_equal(band[, "upr"] - band[, "fit"], stats::qnorm(0.75) * fit$merr[1:3], ignore_attr = TRUE)
  # A compact kernel, and a level without observations where the factor splits the data.
  narrow <- suppressWarnings(npreg(given(c("wt", "cyl"), c(0.05, 0.2), ckertype = "epanechnikov"), se = FALSE))
  expect_warning(predict(narrow, data.frame(wt = 50, cyl = "4")),
                 "1 of 1 points has no observation within the bandwidths")
})

test_that("objects may be edited, and given other data", {
  bw <- given(c("wt", "cyl"), c(0.5, 0.2))
  bw$bw[1] <- 2
  expect_identical(npreg(bw)$mean, npreg(given(c("wt", "cyl"), c(2, 0.2)))$mean)
  expect_identical(npreg(bw)$bws$bandwidth$x, c(2, 0.2))
  half <- npreg(bw, txdat = cars_of[1:16, c("wt", "cyl")], tydat = cars_of$mpg[1:16])
  expect_identical(half$mean, npreg(bws = c(2, 0.2), txdat = cars_of[1:16, c("wt", "cyl")],
                                    tydat = cars_of$mpg[1:16])$mean)
  expect_identical(npregbw(mpg ~ wt + cyl, cars_of, bws = bw, bandwidth.compute = FALSE)$bw, c(2, 0.2))
  scaled <- quiet(npregbw(mpg ~ wt + cyl, cars_of, bwscaling = TRUE))
  plain <- quiet(npregbw(mpg ~ wt + cyl, cars_of))
  expect_equal(scaled$bw, plain$sfactor$x)
  expect_equal(scaled$bandwidth, plain$bandwidth)
  expect_equal(npreg(scaled)$mean, npreg(plain)$mean)
  expect_identical(quiet(update(scaled, bwscaling = FALSE))$bw, plain$bw)
  expect_identical(npreg(mpg ~ wt + cyl, cars_of, bws = c(0.5, 0.2), exdat = cars_of[2:3, c("cyl", "wt")])$mean,
                   npreg(given(c("wt", "cyl"), c(0.5, 0.2)))$mean[2:3])
  measured <- npreg(given(c("wt", "cyl"), c(0.5, 0.2)), exdat = cars_of[c("wt", "cyl")], eydat = cars_of$mpg)
  expect_equal(measured$MSE, npreg(given(c("wt", "cyl"), c(0.5, 0.2)))$MSE)
})

test_that("bandwidths and fits are printed", {
  expect_snapshot_output({
    bw <- npregbw(mpg ~ wt + cyl + gear, cars_of)
    shown(bw)
    shown(summary(bw))
    shown(npreg(bw))
    shown(summary(npreg(bw)))
    shown(given(c("cyl", "gear"), c(0.2, 0.3), regtype = "ll", ukertype = "liracine"))
    print(head(as.data.frame(npreg(bw)), 2))
  })
})

test_that("what cannot be is refused", {
  expect_refused(
    npregbw(mpg ~ wt * hp, cars_of),
    npregbw(mpg ~ wt + wt:cyl, cars_of),
    npregbw(~ wt + cyl, cars_of),
    npregbw(mpg ~ wt + as.character(cyl), cars_of),
    npregbw(mpg ~ wt + as.difftime(hp, units = "mins"), cars_of),
    npregbw(mpg ~ wt + poly(hp, 2), cars_of),
    npregbw(mpg ~ wt + I(0 * hp), cars_of),
    npregbw(mpg ~ wt + I(2 * wt), cars_of, regtype = "ll"),
    npregbw(mpg ~ wt + I(hp / 0), cars_of),
    npregbw(cyl ~ wt + hp, cars_of),
    npregbw(list(a = 1:3, b = 1:3), 1:3),
    npregbw(cars_of[c("wt", "cyl")], cars_of$mpg[-1]),
    npregbw(cars_of[1, c("wt", "cyl")], cars_of$mpg[1]),
    npregbw(data.frame(a = 1:3, z = structure(1:3, class = "factor", levels = c("a", "b"))), 1:3),
    npregbw(mpg ~ wt + cyl, cars_of, w = hp - 100),
    npregbw(mpg ~ wt + cyl, cars_of, w = 0 * hp),
    npregbw(mpg ~ wt + cyl, cars_of, w = hp * c(1, rep(0, 31))),
    npregbw(mpg ~ wt + cyl, cars_of, w = ifelse(wt == 3.44, 1, 0)),
    npregbw(cars_of[c("wt", "cyl")], cars_of$mpg, w = 1:31),
    npregbw(cars_of[c("wt", "cyl")], cars_of$mpg, w = c(NA, 1:31), na.action = na.fail),
    npregbw(cars_of[c("wt", "cyl")], cars_of$mpg, w = c(1, rep(1e-101, 31))),
    npsigtest(npregbw(mpg ~ wt + cyl, cars_of, w = hp, bws = c(1, 0.2), bandwidth.compute = FALSE)),
    npregbw(mpg ~ wt + cyl, cars_of, nbw = 9),
    npregbw(mpg ~ wt + cyl, cars_of, refine = TRUE),
    npregbw(mpg ~ wt + cyl, cars_of, bw.scale = "support"),
    npregbw(mpg ~ wt + cyl, cars_of, ckertype = "normal"),
    npregbw(mpg ~ wt + cyl, cars_of, ckerorder = 3),
    npregbw(mpg ~ wt + cyl, cars_of, ukertype = "li"),
    npregbw(mpg ~ wt + gear, cars_of, okertype = "nliracine"),
    npregbw(mpg ~ wt + cyl, cars_of, nmulti = -1),
    npregbw(mpg ~ wt + cyl, cars_of, bandwidth.compute = FALSE),
    given(c("wt", "cyl"), 1),
    given(c("wt", "cyl"), c(0, 0.2)),
    given(c("wt", "cyl"), c(1, 0.7)),
    given(c("wt", "cyl"), c(1, NA)),
    given(c("wt", "cyl"), "a")
  )
  fit <- npreg(given(c("wt", "cyl"), c(0.5, 0.2)))
  expect_refused(
    predict(fit, data.frame(wt = 1)),
    predict(fit, 3),
    predict(fit, data.frame(wt = Inf, cyl = "4")),
    predict(fit, data.frame(wt = "a", cyl = "4")),
    predict(fit, data.frame(wt = 1, cyl = I(list(4)))),
    npreg(fit$bws, ukertype = "liracine"),
    npreg(fit$bws, exdat = cars_of[1:2, ], eydat = 1),
    lines(fit),
    points(fit),
    plot(fit$bws, what = "cv"),
    plot(fit, xq = 2),
    plot(fit, neval = 1),
    plot(fit, nosuch = 2)
  )
})

test_that("plots return what they draw, with the other regressors at medians and modes", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fit <- npreg(given(c("wt", "cyl", "gear"), c(0.5, 0.2, 0.3)))
  data <- plot(fit, plot.behavior = "data", neval = 5, plot.errors.method = "asymptotic")
  expect_named(data, c("r1", "r2", "r3"))
  expect_equal(data$r1$eval$wt, seq(min(cars_of$wt), max(cars_of$wt), length.out = 5))
  expect_identical(as.character(unique(data$r1$eval$cyl)), "8")
  expect_identical(as.character(unique(data$r1$eval$gear)), "4")
  expect_equal(unique(data$r2$eval$wt), stats::median(cars_of$wt))
  expect_identical(as.character(data$r2$eval$cyl), c("4", "6", "8"))
  expect_equal(data$r3$mean, predict(fit, data$r3$eval))
  expect_equal(data$r3$merr[, 2], 2 * predict(fit, data$r3$eval, se.fit = TRUE)$se.fit)
  slopes <- plot(fit, plot.behavior = "data", gradients = TRUE)
  expect_named(slopes, c("rg1", "rg2", "rg3"))
  expect_equal(slopes$rg2$grad[1], 0)
  surface <- plot(npreg(given(c("wt", "hp"), c(0.5, 30))), plot.behavior = "data", neval = 4)
  expect_named(surface, "r1")
  expect_identical(dim(surface$r1$eval), c(16L, 2L))
  expect_identical(plot(fit, plot.errors.style = "bar", drawpoints = TRUE, common.scale = FALSE), fit)
  expect_identical(plot(fit$bws, gradients = TRUE), fit$bws)
  expect_identical(npplot(given(c("wt", "hp"), c(0.5, 30)), perspective = FALSE)$ndim, 2L)
})

# At lambda = 0 some observations have no neighbour, and the objective is infinite. Descents used to end beside it.
test_that("a search does not end beside a factor that splits the data", {
  # Data of which a search ended 26 % too high.
  set.seed(5)
  n <- sample(c(20, 40, 80), 1)
  x <- rnorm(n)
  runif(n)
  z <- factor(sample(letters[1:sample(2:6, 1)], n, TRUE))
  sample(1:4, n, TRUE)
  y <- sin(x) + as.integer(z) * 0.8 + rnorm(n) * 0.3
  for (kernel in c("gaussian", "epanechnikov")) for (regtype in c("lc", "ll")) {
    at <- function(h, lambda) {
      suppressWarnings(npregbw(y ~ x + z, bws = c(h, lambda), bandwidth.compute = FALSE, ckertype = kernel,
                               regtype = regtype))
    }
    found <- suppressMessages(npregbw(y ~ x + z, ckertype = kernel, regtype = regtype))
    for (h in 2^seq(-2, 3, by = 0.5) * sd(x)) for (lambda in c(1e-6, 0.01, 0.05, 0.1, 0.2, 0.4, 0.7)) {
      other <- at(h, lambda)
      if (other$n.unsupported == 0L) expect_gte(other$fval, found$fval * (1 - 1e-6))
    }
  }
})
