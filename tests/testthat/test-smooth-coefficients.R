# Regressions with smooth coefficients beside np 0.60 and weighted least squares.

sc_cars <- semiparametric_data()$mt
sc_bw <- npscoefbw(mpg ~ hp + qsec | wt + am, data = sc_cars, bws = c(0.5, 0.3), bandwidth.compute = FALSE)

test_that("fits, coefficients, measures and objectives are np's", {
  expect_np_values("npscoef")
  expect_np_values("npscoefbw")
})

test_that("searches find values no higher than np's", {
  rows <- utils::read.csv(test_path("fixtures", "np_semiparametric.csv"), colClasses = "character")
  rows <- rows[startsWith(rows$call, "npscoefbw("), ]
  expect_identical(nrow(rows), 2L)
  expect_lte(npscoefbw(mpg ~ hp + qsec | wt, data = sc_cars)$fval, as.numeric(rows$values[1]) * (1 + 1e-8))
  expect_lte(npscoefbw(mpg ~ hp | wt + am, data = sc_cars)$fval, as.numeric(rows$values[2]) * (1 + 1e-8))
})

sc_frame <- with_seed(20261206, data.frame(
  x = stats::rnorm(30), v = stats::runif(30), z = round(stats::rnorm(30), 1),
  f = factor(sample(c("p", "q", "r"), 30, TRUE)), o = ordered(sample(1:3, 30, TRUE))
))
sc_y <- with_seed(20261207, sc_frame$x * sin(sc_frame$z) + sc_frame$v + stats::rnorm(30, sd = 0.2))

# The fit at a point: coefficients, and the weights of the responses in them and in the fit.
sc_oracle <- function(x, weights, at) {
  x <- cbind(1, x)
  lines <- solve(crossprod(x, weights * x), t(weights * x))
  list(beta = lines, mean = as.vector(c(1, at) %*% lines))
}

test_that("fits, coefficients and their errors are weighted least squares for every kernel", {
  x <- as.matrix(sc_frame[c("x", "v")])
  data <- mixed_data(sc_frame[c("z", "f", "o")], sc_y)
  for (kernel in list(c("gaussian", 2, "aitchisonaitken", "liracine"), c("gaussian", 4, "liracine", "wangvanryzin"),
                      c("epanechnikov", 2, "aitchisonaitken", "racineliyan"),
                      c("uniform", 2, "aitchisonaitken", "liracine"))) {
    h <- if (kernel[2] == 4) 3 else 2.03
    task <- mixed_task_of(h, c(0.3, 0.4), ckertype = kernel[1], ckerorder = as.integer(kernel[2]),
                          ukertype = kernel[3], okertype = kernel[4])
    fit <- npscoef(c(h, 0.3, 0.4), x, sc_y, sc_frame[c("z", "f", "o")], betas = TRUE, ckertype = kernel[1],
                   ckerorder = as.numeric(kernel[2]), ukertype = kernel[3], okertype = kernel[4])
    w <- weight_matrix(data, task)
    inside <- lapply(1:30, function(i) sc_oracle(x, w[i, ], x[i, ]))
    loo <- vapply(1:30, function(i) sum(sc_oracle(x, replace(w[i, ], i, 0), x[i, ])$mean * sc_y), 0)
    e2 <- (sc_y - loo)^2
    info <- paste(kernel, collapse = " ")
    expect_equal(fit$mean, vapply(inside, function(one) sum(one$mean * sc_y), 0), tolerance = 1e-9, info = info)
    expect_equal(fit$merr, vapply(inside, function(one) sqrt(sum(one$mean^2 * e2)), 0), tolerance = 1e-8, info = info)
    expect_equal(unname(fit$beta), t(vapply(inside, function(one) as.vector(one$beta %*% sc_y), numeric(3))),
                 tolerance = 1e-8, info = info)
    expect_equal(unname(fit$beta.err), t(vapply(inside, function(one) sqrt(as.vector(one$beta^2 %*% e2)), numeric(3))),
                 tolerance = 1e-7, info = info)
    expect_equal(fit$bws$fval, mean(e2), tolerance = 1e-9, info = info)
    out <- npscoef(fit$bws, leave.one.out = TRUE, betas = TRUE)
    expect_equal(out$mean, loo, tolerance = 1e-9)
    expect_equal(rowSums(out$beta * cbind(1, x)), loo, tolerance = 1e-9)
  }
})

test_that("gradients of the objective are differences", {
  core <- scoef_core(npscoefbw(as.matrix(sc_frame[c("x", "v")]), sc_y, sc_frame[c("z", "f", "o")], c(0.8, 0.3, 0.4),
                               FALSE))
  run <- run_options(1L, "cpu")
  sample <- mixed_sample(core, run)
  for (order in c(2L, 4L)) {
    at <- function(log_h, f, o, gradient = FALSE) {
      task <- replace(mixed_task(core, c(exp(log_h), f, o)), "ckerorder", list(order))
      mixed_coefficient_objective_cpp(sample, task, core_design(core), gradient, run)
    }
    start <- c(if (order == 2L) 0 else 1, 0.3, 0.4)
    found <- at(start[1], start[2], start[3], TRUE)$gradient
    differences <- vapply(1:3, function(k) {
      slope <- function(step) {
        ends <- lapply(c(1, -1), function(sign) as.list(replace(start, k, start[k] + sign * step)))
        (do.call(at, ends[[1]])$value - do.call(at, ends[[2]])$value) / 2 / step
      }
      (4 * slope(5e-4) - slope(1e-3)) / 3
    }, 0)
    expect_equal(found, differences, tolerance = 1e-6)
  }
})

test_that("results have the same bits on any number of threads, and do not depend on units and order", {
  one <- npscoef(sc_bw, betas = TRUE)
  expect_identical(npscoef(sc_bw, betas = TRUE, threads = 3)$beta, npscoef(sc_bw, betas = TRUE, threads = 1)$beta)
  rows <- 32:1
  turned <- npscoef(c(0.5, 0.3), sc_cars[rows, c("hp", "qsec")], sc_cars$mpg[rows], sc_cars[rows, c("wt", "am")])
  expect_equal(turned$mean, one$mean[rows], tolerance = 1e-12)
  far <- transform(sc_cars, hp = 1e6 * hp + 1e9, qsec = qsec / 1000)
  other <- npscoef(c(0.5, 0.3), far[c("hp", "qsec")], far$mpg, far[c("wt", "am")], betas = TRUE)
  expect_equal(other$mean, one$mean, tolerance = 1e-7)
  expect_equal(1e6 * other$beta[, 2], one$beta[, 2], tolerance = 1e-6)
})

test_that("an infinite bandwidth gives the coefficients of least squares everywhere", {
  frame <- with_seed(20261208, data.frame(x = stats::rnorm(60), z = stats::rnorm(60)))
  y <- with_seed(20261209, 1 + 2 * frame$x + stats::rnorm(60))
  fit <- npscoef(1e12, frame["x"], y, frame["z"], betas = TRUE)
  straight <- stats::lm(y ~ frame$x)
  expect_equal(unname(fit$beta), matrix(stats::coef(straight), 60, 2, TRUE), tolerance = 1e-10, ignore_attr = TRUE)
  expect_equal(fit$mean, unname(stats::fitted(straight)), tolerance = 1e-12)
  expect_message(bw <- npscoefbw(frame["x"], y, frame["z"]), "smoothed out")
  expect_gt(bw$bw, 1e8)
})

test_that("where neighbours do not differ, coefficients are those of all observations", {
  frame <- data.frame(x = c(1:8, 3, 3, 3, 3), z = rep(c(1, 50), c(8, 4)))
  y <- c(2 * (1:8) + c(1, -1) / 3, 9, 10, 11, 12)
  fit <- npscoef(1, frame["x"], y, frame["z"], betas = TRUE)
  expect_identical(fit$n.ridged, 4L)
  expect_equal(fit$beta[9, 2], stats::coef(stats::lm(y ~ frame$x))[[2]], tolerance = 1e-10, ignore_attr = TRUE)
  expect_equal(fit$mean[9:12], rep(10.5, 4), tolerance = 1e-12)
})

test_that("standard errors are those of a simulation", {
  # 200 samples: the standard error of a standard deviation is 5 %.
  z <- (1:150) / 150
  found <- with_seed(20261210, t(replicate(200, {
    x <- stats::rnorm(150)
    fit <- npscoef(0.08, x, (1 + z) * x + stats::rnorm(150), z, exdat = 0.5, ezdat = 0.4, betas = TRUE)
    c(fit$mean, fit$merr, fit$beta[2], fit$beta.err[2])
  })))
  expect_equal(mean(found[, 2]), stats::sd(found[, 1]), tolerance = 0.15)
  expect_equal(mean(found[, 4]), stats::sd(found[, 3]), tolerance = 0.15)
})

test_that("formulas, points, responses and missing values are taken as in npreg()", {
  fit <- npscoef(mpg ~ log(hp) | wt + am, data = sc_cars, nmulti = 1)
  expect_equal(predict(fit), fitted(fit))
  expect_equal(predict(fit, sc_cars[3:1, ]), fitted(fit)[3:1])
  expect_equal(predict(fit, sc_cars[3:1, ], se.fit = TRUE)$se.fit, se(fit)[3:1])
  expect_equal(residuals(fit), sc_cars$mpg - fitted(fit))
  expect_equal(rowSums(coef(fit) * cbind(1, log(sc_cars$hp))), fitted(fit))
  at <- npscoef(fit$bws, newdata = sc_cars[1:9, ], y.eval = TRUE, residuals = TRUE)
  expect_equal(at$MSE, mean((sc_cars$mpg[1:9] - at$mean)^2))
  expect_equal(coef(at, errors = TRUE), coef(fit, errors = TRUE)[1:9, ])
  same <- npscoef(mpg ~ wt, data = sc_cars, nmulti = 1)
  expect_identical(same$znames, "wt")
  expect_equal(predict(same, data.frame(wt = 3)), predict(same, exdat = 3))
  scaled <- npscoefbw(mpg ~ hp | wt, sc_cars, bwscaling = TRUE)
  expect_equal(scaled$bandwidth$z, npscoefbw(mpg ~ hp | wt, sc_cars)$bw, tolerance = 1e-5)
  edited <- scaled
  edited$bw <- 2 * edited$bw
  expect_equal(npscoef(edited)$mean, npscoef(2 * scaled$bandwidth$z, sc_cars["hp"], sc_cars$mpg, sc_cars["wt"])$mean)
  frame <- sc_cars
  frame$hp[4] <- NA
  left <- suppressMessages(npscoef(mpg ~ hp | wt, frame, na.action = stats::na.exclude))
  expect_identical(which(is.na(residuals(left))), 4L)
  expect_identical(npscoef(mpg ~ hp | wt, mtcars, subset = cyl < 8)$ntrain, 18L)
  factors <- npscoef(0.5, sc_cars["cyl"], sc_cars$mpg, sc_cars["wt"], betas = TRUE)
  expect_identical(colnames(factors$beta), c("Intercept", "cyl6", "cyl8"))
  uniform <- npscoefbw(mpg ~ hp | wt, sc_cars, bws = 2, bandwidth.compute = FALSE, ckertype = "uniform")
  expect_warning(far <- predict(npscoef(uniform), data.frame(hp = 1, wt = c(99, NA, 3))),
                 class = "kestrel_warning_support")
  expect_identical(is.na(far), c(TRUE, TRUE, FALSE))
})

test_that("plots show fits and coefficients, and return them", {
  fit <- npscoef(sc_bw)
  expect_gt(drawn(plot(fit)), 20)
  expect_gt(drawn(plot(fit, coef = TRUE)), 20)
  data <- plot(fit, plot.behavior = "data", neval = 5)
  expect_equal(data$r1$mean, predict(fit, data$r1$eval))
  curves <- plot(fit, coef = TRUE, plot.behavior = "data", neval = 5)
  expect_named(curves, c("Intercept", "hp", "qsec"))
  at <- npscoef(sc_bw, newdata = cbind(curves$hp$r1$eval, hp = 1, qsec = 1))
  expect_equal(curves$hp$r1$mean, unname(coef(at)[, 2]))
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    shown(sc_bw)
    shown(summary(npscoefbw(mpg ~ hp | wt + am, data = sc_cars, nmulti = 1)))
    fit <- npscoef(sc_bw)
    shown(fit)
    shown(summary(fit))
    shown(npscoef(sc_bw, newdata = sc_cars[1:3, ]))
  })
})

test_that("mistakes are refused, and doubts said", {
  expect_refused(
    npscoefbw(), npscoefbw(~ hp | wt, data = mtcars), npscoefbw(mpg ~ 1 | wt, data = mtcars), npscoefbw(1:5, 1:4),
    npscoefbw(1:5, 1:5, letters[1:5]), npscoefbw(cbind(1:9, 2 * (1:9)), 1:9), npscoefbw(rep(1, 9), 1:9, 1:9),
    npscoefbw(1:2, 1:2), npscoefbw(matrix(stats::rnorm(40 * 33), 40), 1:40, 1:40), npscoefbw(1:9, 1:9, bws = c(1, 2)),
    npscoefbw(1:9, 1:9, bws = -1), npscoefbw(1:9, 1:9, bandwidth.compute = FALSE),
    npscoefbw(1:9, 1:9, bwmethod = "cv.aic"), npscoefbw(1:9, 1:9, cv.iterate = TRUE),
    npscoefbw(1:9, 1:9, bwtype = "adaptive_nn"), npscoefbw(1:9, 1:9, kernel = 1),
    npscoefbw(1:9, 1:9, ckertype = "normal"),
    npscoefbw(mpg ~ hp | wt + am, sc_cars, bws = sc_bw, ckertype = "uniform"),
    npscoef(), npscoef(1), npscoef(sc_bw, betas = 1), npscoef(sc_bw, txdat = 1), npscoef(sc_bw, exdat = 1),
    npscoef(sc_bw, ezdat = 1), npscoef(sc_bw, newdata = mtcars["wt"]), npscoef(sc_bw, newdata = mtcars, exdat = 1),
    npscoef(sc_bw, newdata = sc_cars, leave.one.out = TRUE), npscoef(sc_bw, regtype = "ll"),
    npscoef(structure(list(), class = "kestrel_scbw")), coef(npscoef(sc_bw), errors = 2),
    plot(npscoef(sc_bw), neval = 1), print(structure(list(), class = "kestrel_sc"))
  )
  frame <- data.frame(x = c(1:8, 3, 3, 3, 3), z = rep(c(1, 50), c(8, 4)) + (1:12) / 100)
  expect_snapshot_output(say(
    expect_message(npscoefbw(frame["x"], frame$x^2 + frame$z, frame["z"], nmulti = 1), class = "kestrel_message"),
    expect_warning(npscoefbw(1:9, (1:9)^2, bws = 0.5, bandwidth.compute = FALSE, ckertype = "uniform"),
                   class = "kestrel_warning_support"),
    expect_warning(npscoef(sc_bw, exdat = sc_cars[1, c("hp", "qsec")], ezdat = data.frame(wt = 1e9, am = "1")),
                   class = "kestrel_warning_support")
  ))
})
