# Distribution functions of mixed data beside np 0.60 and the oracle of helper-mixed-distribution.R.

distribution_frame <- with_seed(20261126, data.frame(
  a = round(rnorm(25), 2), z = factor(sample(c("p", "q", "r"), 25, TRUE)), b = runif(25, -1, 5),
  o = ordered(sample(1:4, 25, TRUE)), f = ordered(sample(1:2, 25, TRUE))
))
ordered_frame <- distribution_frame[c("a", "b", "o", "f")]

distribution_task <- function(h, lambda, ...) {
  utils::modifyList(list(h = h, lambda = lambda, ckertype = "gaussian", ckerorder = 2L, ukertype = "aitchisonaitken",
                         okertype = "liracine", method = "cv.cdf"), list(...))
}

# np 0.60-18, with `d <- faithful[1:40, ]` and `m <- data.frame(mpg = mtcars$mpg, gear = ordered(mtcars$gear))`, each
# with nmulti = 1. Its normal distribution function is accurate to 2e-9.
np_distribution <- list(
  list(call = quote(npudistbw(dat = d)), bw = c(0.221116236406, 1.16629575367), fval = 0.178017666799),
  list(call = quote(npudistbw(dat = d, do.full.integral = TRUE)), bw = c(0.197119380395, 2.9187760558),
       fval = 0.17360404998),
  list(call = quote(npudistbw(dat = m)), bw = c(3.35159341388, 0.0342424756958), fval = 0.181310551452),
  list(call = quote(npudistbw(dat = m["gear"])), bw = 0.187371526984, fval = 0.174896037889),
  list(call = quote(npudistbw(dat = c(1.3, 2, 2.7, 4, 4.4, 6.1, 9), gdat = c(2, 3, 5))), bw = 10.1600263341326,
       fval = 0.246315273408432),
  list(call = quote(npudistbw(dat = c(1.3, 2, 2.7, 4, 4.4, 6.1, 9), ngrid = 10)), bw = 3.54688298411573,
       fval = 0.206534021320472),
  list(call = quote(npcdistbw(xdat = d$waiting, ydat = d$eruptions)), bw = c(0.232459562258, 5.56035798197),
       fval = 0.0921458639807),
  list(call = quote(npcdistbw(xdat = d$waiting, ydat = d$eruptions, do.full.integral = TRUE)),
       bw = c(0.188753064463, 5.52599932448), fval = 0.0835798851951)
)
np_environment <- list2env(list(
  d = datasets::faithful[1:40, ],
  m = data.frame(mpg = datasets::mtcars$mpg, gear = ordered(datasets::mtcars$gear))
), parent = environment())
bandwidths_in <- function(bws) if (is.null(bws$ybw)) bws$bw else c(bws$ybw, bws$xbw)

test_that("objectives are np's at np's bandwidths, and the search finds no worse ones", {
  for (one in np_distribution) {
    at <- one$call
    at$bws <- one$bw
    at$bandwidth.compute <- FALSE
    expect_equal(eval(at, np_environment)$fval, one$fval, tolerance = 1e-7, info = deparse(one$call))
    found <- eval(one$call, np_environment)
    expect_lte(found$fval, one$fval * (1 + 1e-8))
    expect_equal(bandwidths_in(found), one$bw, tolerance = 2e-3, info = deparse(one$call))
  }
})

test_that("normal references are np's", {
  d <- np_environment$d
  expect_equal(npudistbw(dat = d, bwmethod = "normal-reference")$bw, c(0.532638703532, 6.375578289861))
  conditional <- npcdistbw(xdat = d$waiting, ydat = d$eruptions, bwmethod = "normal-reference")
  expect_equal(c(conditional$ybw, conditional$xbw), c(0.985014716958, 7.8751442972))
  # np's unit has the power 1 / (P + 1) for any number of columns.
  expect_equal(npudistbw(dat = cbind(d, u = (1:40)^2), bwmethod = "normal-reference", ckerorder = 4)$nconfac, 40^-0.2)
})

test_that("distribution functions are np's", {
  # npudist(bws = npudistbw(dat = o, bws = 0.3, bandwidth.compute = FALSE), tdat = o, edat = o)$dist for the levels of o
  o <- data.frame(o = ordered(c(1, 2, 4, 7)))
  expect_equal(npudist(bws = 0.3, tdat = o)$dist, c(0.25533250, 0.44277500, 0.69075000, 0.94056775), tolerance = 1e-9)
  x <- c(1.3, 2, 2.7, 4)
  expect_equal(npudist(bws = 0.7, tdat = x, edat = c(0.5, 2.2, 3))$dist,
               c(0.0358620178405, 0.4389423361042, 0.6645758057941), tolerance = 1e-7)
  d <- np_environment$d
  fit <- npcdist(bws = c(0.3, 5), txdat = d$waiting, tydat = d$eruptions, exdat = c(60, 70, 80), eydat = 2:4,
                 gradients = TRUE)
  expect_equal(fit$condist, c(0.481907559859, 0.158683167006, 0.398087595836), tolerance = 1e-7)
  expect_equal(as.vector(fit$congrad), c(-0.0276357918029, -0.0485323521565, -0.0101068421538), tolerance = 1e-7)
})

# ---- The engine beside the oracle ---------------------------------------------------------------------------------

expect_distribution <- function(data, task, info, given, grid, gradient = FALSE) {
  run <- run_options(1L, "cpu")
  of <- c(task, list(given = as.integer(given)))
  data$y <- numeric(0)
  sample <- mixed_cpp(data, run)
  for (points in list(NULL, grid)) {
    found <- mixed_distribution_objective_cpp(sample, of, points, TRUE, run)
    reference <- distribution_objective(data, task, points, given)
    expect_equal(found$value, reference$value, tolerance = 1e-10, info = info)
    expect_equal(found$unsupported, reference$unsupported, info = info)
    if (gradient) {
      expect_equal(found$gradient, distribution_gradient(data, task, points, given), tolerance = 1e-6, info = info)
    }
  }
  fit <- distribution_fit(data, task, given = given)
  found <- mixed_distribution_cpp(sample, of, NULL, FALSE, run)
  supported <- is.finite(fit$value)
  expect_equal(found$density[supported], fit$value[supported], tolerance = 1e-10, info = info)
  expect_equal(found$se[supported], fit$se[supported], tolerance = 1e-8, info = info)
}

test_that("objectives and distribution functions are the oracle's for every kernel and order", {
  conditional <- mixed_data(distribution_frame, numeric(25))
  alone <- mixed_data(ordered_frame, numeric(25))
  given <- c(FALSE, TRUE, TRUE, FALSE, TRUE)
  for (ckertype in kernel_names()) {
    for (order in if (ckertype %in% c("gaussian", "epanechnikov")) c(2L, 4L, 6L, 8L) else 2L) {
      okertype <- c("liracine", "wangvanryzin", "racineliyan", "liracine")[order / 2]
      task <- distribution_task(c(0.903, 1.417), c(0.2, 0.4), ckertype = ckertype, ckerorder = order,
                                okertype = okertype)
      smooth <- ckertype == "gaussian" && order == 2L
      expect_distribution(alone, task, paste(ckertype, order), rep(FALSE, 4), lapply(alone[1:3], head, 7), smooth)
      task$lambda <- c(0.3, task$lambda)
      expect_distribution(conditional, task, paste(ckertype, order, "given"), given, lapply(conditional[1:3], head, 7),
                          smooth)
    }
  }
})

# ---- Properties ---------------------------------------------------------------------------------------------------

test_that("distribution functions are integrals of densities", {
  frame <- np_environment$m
  x <- seq(-40, 80, by = 0.05)
  for (okertype in c("liracine", "wangvanryzin", "racineliyan")) {
    for (ckertype in c("gaussian", "epanechnikov")) {
      at <- function(x, level) data.frame(mpg = x, gear = ordered(level, levels(frame$gear)))
      density <- function(level) {
        sum(npudens(bws = c(2, 0.3), tdat = frame, edat = at(x[x < 20], level), okertype = okertype,
                    ckertype = ckertype)$dens) * 0.05
      }
      below <- function(level) {
        npudist(bws = c(2, 0.3), tdat = frame, edat = at(19.975, level), okertype = okertype, ckertype = ckertype)$dist
      }
      expect_equal(below(4) - below(3), density(4), tolerance = 1e-4, info = paste(okertype, ckertype))
    }
  }
  # Racine, Li and Yan's kernel has all its probability in the levels.
  expect_equal(npudist(bws = 0.4, tdat = frame["gear"], edat = ordered(5, 3:5), okertype = "racineliyan")$dist, 1)
})

test_that("gradients are differences, and effects those of levels", {
  frame <- transform(datasets::mtcars, am = factor(am), gear = ordered(gear))
  bw <- npcdistbw(mpg ~ wt + am + gear, data = frame, bws = c(2, 0.5, 0.2, 0.3), bandwidth.compute = FALSE)
  fit <- npcdist(bw, gradients = TRUE)
  x <- frame[c("wt", "am", "gear")]
  at <- function(x) predict(fit, exdat = x, eydat = frame["mpg"])
  step <- 1e-4
  slope <- (at(transform(x, wt = wt + step)) - at(transform(x, wt = wt - step))) / (2 * step)
  expect_equal(fit$congrad[, 1], slope, tolerance = 1e-6)
  expect_equal(fit$congrad[, 2], at(x) - at(transform(x, am = factor(rep("0", 32), c("0", "1")))), tolerance = 1e-12)
  expect_identical(gradients(npcdist(bw)), fit$congrad)
})

test_that("standard errors are those of a simulation", {
  # 200 samples: the standard error of a standard deviation is 5 %.
  found <- with_seed(20261128, t(replicate(200, {
    x <- stats::rnorm(150)
    y <- x + stats::rnorm(150)
    fit <- npcdist(bws = c(0.5, 0.4), txdat = x, tydat = y, exdat = 0.5, eydat = 1)
    one <- npudist(bws = 0.4, tdat = x, edat = 0.3)
    c(fit$condist, fit$conderr, one$dist, one$derr)
  })))
  expect_equal(mean(found[, 2]), stats::sd(found[, 1]), tolerance = 0.15)
  expect_equal(mean(found[, 4]), stats::sd(found[, 3]), tolerance = 0.15)
})

test_that("a variable of x that does not matter is smoothed out", {
  frame <- with_seed(5, data.frame(y = stats::rnorm(80), x = stats::rnorm(80),
                                   z = factor(sample(c("a", "b"), 80, TRUE))))
  frame$y <- frame$y + 2 * frame$x
  expect_message(bw <- npcdistbw(y ~ x + z, data = frame), class = "kestrel_message")
  expect_equal(bw$xbw[2], 0.5)
  one <- npcdistbw(y ~ x, data = frame)
  expect_equal(c(bw$ybw, bw$xbw[1]), c(one$ybw, one$xbw), tolerance = 1e-3)
})

test_that("scaled bandwidths, starts, edited objects, formulas and other data are the same functions", {
  frame <- np_environment$m
  bw <- npudistbw(~ mpg + gear, data = frame)
  scaled <- npudistbw(dat = frame, bwscaling = TRUE)
  expect_equal(scaled$bandwidth$x, bw$bw, tolerance = 1e-4)
  expect_equal(scaled$bw, bw$sfactor$x, tolerance = 1e-4)
  expect_equal(npudist(scaled)$dist, npudist(bw)$dist, tolerance = 1e-4)
  expect_equal(npudistbw(dat = frame, bws = c(3, 0.1), nmulti = 1)$fval, bw$fval, tolerance = 1e-9)
  edited <- bw
  edited$bw[1] <- 5
  fit <- npudist(edited)
  expect_equal(fit$dist, npudist(bws = edited$bw, tdat = frame)$dist, tolerance = 1e-14)
  expect_equal(predict(fit, edat = frame[3:1, ]), fit$dist[3:1], tolerance = 1e-14)
  expect_equal(npudist(bw, tdat = frame[1:10, ])$ntrain, 10)
  expect_identical(npudistbw(bws = bw, dat = frame, bandwidth.compute = FALSE)$bw, bw$bw)
  expect_equal(npudist(~ mpg + gear, frame)$dist, npudist(bw)$dist)
  expect_equal(npudistbw(~ mpg, frame, gdata = c(15, 20))$fval, npudistbw(dat = frame$mpg, gdat = c(15, 20))$fval)
  expect_equal(formula(fit), ~ mpg + gear, ignore_attr = TRUE)
  expect_named(as.data.frame(fit), c("mpg", "gear", "dist", "derr"))
  two <- npcdist(mpg + hp ~ factor(cyl), data = mtcars, bws = c(2, 30, 0.2))
  expect_equal(predict(two, data.frame(mpg = 20, hp = 100, cyl = 4)),
               predict(two, exdat = factor(4, c(4, 6, 8)), eydat = data.frame(mpg = 20, hp = 100)))
  expect_equal(npcdist(two$bws, txdat = factor(rep(4, 9), c(4, 6, 8)), tydat = mtcars[1:9, c("mpg", "hp")])$ntrain, 9)
  expect_named(as.data.frame(two), c("mpg", "hp", "factor(cyl)", "condist", "conderr"))
  expect_named(predict(two, se.fit = TRUE), c("fit", "se.fit", "df"))
})

test_that("missing values and points without neighbours follow the one policy", {
  frame <- np_environment$m
  frame$mpg[2] <- NA
  fit <- suppressMessages(npudist(~ mpg + gear, frame, na.action = stats::na.exclude))
  expect_length(fitted(fit), 32)
  expect_identical(which(is.na(se(fit))), 2L)
  far <- npcdist(bws = c(0.3, 5), txdat = faithful$waiting, tydat = faithful$eruptions, cxkertype = "epanechnikov",
                 cykertype = "epanechnikov")
  expect_warning(at <- predict(far, exdat = c(70, 1000, NA), eydat = c(3, 3, 3)), class = "kestrel_warning_support")
  expect_identical(is.na(at), c(FALSE, TRUE, TRUE))
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    fit <- npudist(~ mpg + ordered(gear), data = mtcars, nmulti = 1)
    shown(fit)
    shown(summary(fit))
    shown(fit$bws)
    shown(summary(fit$bws))
    conditional <- npcdist(mpg ~ wt + factor(cyl), data = mtcars, nmulti = 1)
    shown(conditional)
    shown(summary(conditional))
    shown(conditional$bws)
    shown(summary(conditional$bws))
    shown(npudistbw(dat = faithful, bwmethod = "normal-reference"))
  })
  expect_snapshot_output(say(
    expect_message(npudistbw(dat = rep(0:1, c(30, 1))), class = "kestrel_message"),
    expect_message(npcdistbw(xdat = rep(1:2, 10), ydat = rep(1:5, each = 4)), class = "kestrel_message"),
    expect_warning(predict(conditional, data.frame(wt = 1e9, cyl = 4, mpg = 20)), class = "kestrel_warning_support")
  ))
})

test_that("mistakes are refused", {
  bw <- npudistbw(dat = faithful, bws = c(0.3, 5), bandwidth.compute = FALSE)
  conditional <- npcdistbw(eruptions ~ waiting, faithful, bws = c(0.3, 5), bandwidth.compute = FALSE)
  expect_refused(
    npudistbw(mpg ~ cyl, data = mtcars), npudistbw(~ factor(cyl), data = mtcars), npudistbw(dat = letters),
    npudistbw(dat = rep(1, 5)), npudistbw(dat = c(1, Inf, 3)), npudistbw(dat = faithful, bws = 1), npudistbw(),
    npudistbw(dat = faithful, bwmethod = "cv.ls"), npudistbw(dat = faithful, ngrid = 1),
    npudistbw(dat = faithful, do.full.integral = 2), npudistbw(dat = faithful, gdat = 1:3),
    npudistbw(dat = faithful, gdat = faithful[0, ]), npudistbw(dat = 1:5, gdat = 3, do.full.integral = TRUE),
    npudistbw(dat = ordered(1:3), gdat = ordered(4)), npudistbw(dat = faithful, bwtype = "adaptive_nn"),
    npudist(bws = c(1, -1), tdat = faithful), npudist(bw, edat = 1:3), npudist(bw, bwmethod = "normal-reference"),
    npudist(conditional), npudist(npudensbw(dat = 1:5)), npudens(bw), npcdens(conditional),
    npudist(structure(list(), class = c("kestrel_distbw", "kestrel_densbw"))), predict(npudist(bw), 1, exdat = 2),
    npcdistbw(factor(cyl) ~ wt, data = mtcars), npcdistbw(eruptions ~ 1, data = faithful),
    npcdistbw(xdat = 1:5, ydat = 1:4), npcdistbw(xdat = 1:5, ydat = 1:5, cykerorder = 4),
    npcdistbw(xdat = 1:5, ydat = 1:5, bwmethod = "cv.ml"), npcdistbw(xdat = 1:5, ydat = 1:5, gydat = "a"),
    npcdist(bws = c(1, 1)), npcdist(conditional, txdat = 1:5), npcdist(conditional, exdat = 1),
    npcdist(conditional, cxkertype = "uniform"), npcdist(bw), npcdist(npcdensbw(xdat = 1:5, ydat = 1:5)),
    npcdist(replace(conditional, "xbw", list(-1)))
  )
})

test_that("plots show distribution functions along each column, or a surface, and return them", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fit <- npudist(bws = c(2, 0.3), tdat = np_environment$m)
  expect_identical(plot(fit), fit)
  data <- plot(fit, plot.behavior = "data", neval = 7)
  expect_named(data, c("d1", "d2"))
  expect_length(data$d1$dist, 7)
  surface <- plot(npcdistbw(eruptions ~ waiting, faithful, bws = c(0.3, 5), bandwidth.compute = FALSE),
                  plot.behavior = "plot-data", neval = 5)
  expect_length(surface$cd1$condist, 25)
})

test_that("numbers given one number are summed at nodes, other data pair by pair", {
  frame <- with_seed(20261203, data.frame(y = stats::rnorm(300), u = stats::runif(300), x = stats::rnorm(300)))
  frame$x[1:20] <- frame$x[21:40]
  grid <- data.frame(y = seq(-2, 2, 0.5), u = seq(0.1, 0.9, 0.1))
  expect_nodes <- function(of) {
    names <- c(of, "x")
    h <- c(y = 0.3, u = 0.2, x = 0.4)[names]
    found <- npcdistbw(xdat = frame$x, ydat = frame[of], bws = unname(h), bandwidth.compute = FALSE, gydat = grid[of])
    expect_identical(found$engine, "nodes")
    points <- mixed_data(cbind(grid[of], x = 0), numeric(9))
    wanted <- distribution_objective(mixed_data(frame[names], numeric(300)), distribution_task(unname(h), numeric(0)),
                                     points, c(rep(FALSE, length(of)), TRUE))
    expect_equal(found$fval, wanted$value, tolerance = 1e-12)
  }
  expect_nodes("y")
  expect_nodes(c("y", "u"))
  expect_identical(npcdistbw(y ~ x, frame)$engine, "nodes")
  expect_identical(npcdistbw(y ~ x + u, frame[1:50, ], bws = c(1, 1, 1), bandwidth.compute = FALSE)$engine, "direct")
  expect_identical(npcdistbw(y ~ x, frame[1:50, ], bws = c(1, 1), bandwidth.compute = FALSE, cxkerorder = 4,
                             cykerorder = 4)$engine, "direct")
})

test_that("one column of numbers is summed at nodes, other data pair by pair", {
  x <- with_seed(20261204, round(stats::rnorm(400), 2))
  data <- mixed_data(data.frame(x = x), numeric(400))
  for (order in c(2L, 4L, 6L, 8L)) {
    task <- distribution_task(0.3, numeric(0), ckerorder = order)
    grid <- seq(-2, 2, 0.5)
    bw <- npudistbw(dat = x, bws = 0.3, bandwidth.compute = FALSE, gdat = grid, ckerorder = order)
    expect_identical(bw$engine, "nodes")
    expect_equal(bw$fval, distribution_objective(data, task, mixed_data(data.frame(x = grid), numeric(9)))$value,
                 tolerance = 1e-12)
    points <- c(seq(-6, 6, 0.01), NA)
    fit <- npudist(bw, edat = points)
    wanted <- distribution_fit(data, task, mixed_data(data.frame(x = points[-1202]), numeric(1201)))
    expect_equal(fit$dist, c(wanted$value, NA), tolerance = 1e-12)
    expect_equal(fit$derr, c(wanted$se, NA), tolerance = 1e-11)
  }
  other <- npudistbw(dat = x[1:50], bws = 0.3, bandwidth.compute = FALSE, ckertype = "uniform")
  expect_identical(other$engine, "direct")
})

test_that("the search ends at a least value inside, though most of the criterion does not depend on bandwidths", {
  x <- with_seed(1, stats::rnorm(500))
  y <- x + with_seed(2, stats::rnorm(500))
  bw <- npcdistbw(xdat = x, ydat = y, nmulti = 1)
  for (factor in c(1e-4, 0.7, 1.4)) {
    other <- npcdistbw(xdat = x, ydat = y, bws = c(bw$ybw * factor, bw$xbw), bandwidth.compute = FALSE)
    expect_gt(other$fval, bw$fval)
  }
})
