# Single index models beside np 0.60 and sums over pairs.

index_bw <- function(...) {
  npindexbw(mpg ~ wt + hp + qsec, data = mtcars, bws = c(1, 0.02, 0.1, 0.4), bandwidth.compute = FALSE, ...)
}

test_that("fits, gradients, measures and objectives are np's", {
  expect_np_values("npindex")
  expect_np_values("npindexbw")
})

test_that("searches find values no higher than np's", {
  rows <- utils::read.csv(test_path("fixtures", "np_semiparametric.csv"), colClasses = "character")
  rows <- rows[rows$part == "x$fval" & startsWith(rows$call, "npindexbw("), ]
  expect_identical(nrow(rows), 2L)
  expect_lte(npindexbw(mpg ~ wt + hp, data = mtcars)$fval, as.numeric(rows$values[1]) * (1 + 1e-8))
  expect_lte(npindexbw(am ~ wt + hp, data = mtcars, method = "kleinspady")$fval,
             as.numeric(rows$values[2]) * (1 + 1e-8))
})

# The objective from the matrix of weights of the index.
index_oracle <- function(x, y, beta, task, binary) {
  index <- x %*% beta
  data <- list(x = index, unordered = matrix(0L, length(y), 0), ordered = matrix(0, length(y), 0), y = y)
  k <- weight_matrix(data, task)
  diag(k) <- 0
  loo <- as.vector(k %*% y / rowSums(k))
  if (!binary) return(mean((y - loo)^2))
  p <- pmin(pmax(loo, sqrt(.Machine$double.eps)), 1 - sqrt(.Machine$double.eps))
  -mean(y * log(p) + (1 - y) * log(1 - p))
}

test_that("objectives are sums over pairs for every kernel", {
  x <- as.matrix(mtcars[c("wt", "hp", "qsec")])
  for (kernel in list(list("gaussian", 2), list("gaussian", 4), list("epanechnikov", 2), list("uniform", 2))) {
    task <- mixed_task_of(3.1, numeric(0), ckertype = kernel[[1]], ckerorder = kernel[[2]])
    for (binary in c(FALSE, TRUE)) {
      if (binary && kernel[[2]] == 4) next
      y <- if (binary) mtcars$am else mtcars$mpg
      found <- npindexbw(x, y, c(1, 0.02, 0.1, 3.1), FALSE, ckertype = kernel[[1]], ckerorder = kernel[[2]],
                         method = if (binary) "kleinspady" else "ichimura")
      expect_equal(found$fval, index_oracle(x, y, c(1, 0.02, 0.1), task, binary), tolerance = 1e-10,
                   info = paste(kernel[[1]], binary))
    }
  }
})

test_that("the result is a minimum, which units and the order of rows do not change", {
  frame <- with_seed(20261203, data.frame(a = stats::rnorm(80), b = stats::rnorm(80), c = stats::runif(80)))
  y <- with_seed(20261204, sin(frame$a - 2 * frame$b + frame$c) + stats::rnorm(80, sd = 0.2))
  bw <- npindexbw(frame, y)
  expect_equal(unname(bw$beta), c(1, -2, 1), tolerance = 0.2)
  at <- function(beta, h) npindexbw(frame, y, c(1, beta, h), FALSE)$fval
  for (k in 1:3) {
    for (step in c(0.99, 1.01)) {
      moved <- replace(c(bw$beta[-1], bw$bw), k, step * c(bw$beta[-1], bw$bw)[k])
      expect_gt(at(moved[1:2], moved[3]), bw$fval)
    }
  }
  expect_equal(npindexbw(frame[80:1, ], rev(y))$beta, bw$beta, tolerance = 1e-3)
  scaled <- npindexbw(transform(frame, b = 1000 * b), y)
  expect_equal(scaled$beta * c(1, 1000, 1), bw$beta, tolerance = 1e-3)
  expect_equal(scaled$fval, bw$fval, tolerance = 1e-6)
  again <- npindexbw(frame, y, bws = c(bw$beta, bw$bw), only.optimize.beta = TRUE, nmulti = 1)
  expect_identical(again$bw, bw$bw)
  expect_equal(again$beta, bw$beta, tolerance = 1e-3)
  for (method in c("BFGS", "CG")) {
    expect_equal(npindexbw(frame, y, optim.method = method)$fval, bw$fval, tolerance = 1e-5)
  }
})

test_that("covariances are those of the help, with deviations from the mean of x at the index", {
  x <- as.matrix(mtcars[c("wt", "hp", "qsec")])
  for (binary in c(FALSE, TRUE)) {
    y <- if (binary) mtcars$am else mtcars$mpg
    fit <- npindex(c(1, 0.02, 0.1, 0.4), x, y, method = if (binary) "kleinspady" else "ichimura", gradients = TRUE)
    index <- as.vector(x %*% fit$beta)
    u <- outer(index, index, `-`) / 0.4
    k <- stats::dnorm(u)
    smooth <- function(v) k %*% v / rowSums(k)
    g <- as.vector(smooth(y))
    slope <- as.vector((-(u * k / 0.4) %*% y + g * rowSums(u * k / 0.4)) / rowSums(k))
    expect_equal(fit$grad[, 1], slope, tolerance = 1e-9)
    j <- slope * (x - smooth(x))[, -1]
    bread <- solve(crossprod(j))
    expected <- if (binary) solve(crossprod(j / sqrt(g * (1 - g)))) else bread %*% crossprod(j * (y - g)) %*% bread
    expect_equal(vcov(fit)[-1, -1], expected, tolerance = 1e-7, ignore_attr = TRUE)
    moved <- npindex(c(1, 0.02, 0.1, 0.4), x + 100, y, method = if (binary) "kleinspady" else "ichimura",
                     gradients = TRUE)
    expect_equal(vcov(moved), vcov(fit), tolerance = 1e-6)
    other <- npindex(c(1, 0.1, 0.02, 0.4), x[, c(1, 3, 2)], y, method = if (binary) "kleinspady" else "ichimura",
                     gradients = TRUE)
    expect_equal(vcov(other)[3:2, 3:2], vcov(fit)[2:3, 2:3], tolerance = 1e-8)
  }
})

test_that("standard errors of coefficients are those of a simulation", {
  # 40 samples: the standard error of a median absolute deviation is 18 %.
  found <- with_seed(20261205, t(replicate(40, {
    x <- cbind(a = stats::rnorm(100), b = stats::rnorm(100))
    y <- sin(x[, 1] + x[, 2]) + stats::rnorm(100, sd = 0.3)
    fit <- npindex(npindexbw(x, y, nmulti = 1), gradients = TRUE)
    c(fit$beta[2], coef(fit, errors = TRUE)[2])
  })))
  expect_lt(abs(stats::median(found[, 1]) - 1), 0.1)
  expect_equal(stats::median(found[, 2]), stats::mad(found[, 1]), tolerance = 0.35)
})

test_that("formulas, points, responses and missing values are taken as in npreg()", {
  fit <- npindex(mpg ~ log(wt) + hp, data = mtcars, errors = TRUE, gradients = TRUE)
  expect_equal(predict(fit), fitted(fit))
  expect_equal(predict(fit, mtcars[3:1, ]), fitted(fit)[3:1])
  expect_equal(predict(fit, mtcars[3:1, ], se.fit = TRUE)$se.fit, se(fit)[3:1])
  expect_equal(residuals(fit), mtcars$mpg - fitted(fit))
  expect_equal(gradients(fit), fit$grad)
  expect_equal(gradients(fit, errors = TRUE), fit$gerr)
  at <- npindex(fit$bws, newdata = mtcars[1:9, ], y.eval = TRUE, residuals = TRUE)
  expect_equal(at$MSE, mean((mtcars$mpg[1:9] - at$mean)^2))
  expect_equal(at$resid, mtcars$mpg[1:9] - at$mean)
  expect_equal(gradients(at)[2, ], fit$grad[2, ])
  frame <- mtcars
  frame$wt[4] <- NA
  left <- suppressMessages(npindex(mpg ~ wt + hp, frame, na.action = stats::na.exclude))
  expect_identical(which(is.na(residuals(left))), 4L)
  few <- npindex(mpg ~ wt + hp, mtcars, subset = cyl < 8)
  expect_identical(few$ntrain, 18L)
  factors <- npindex(c(1, 2, 0.5), data.frame(wt = mtcars$wt, am = factor(mtcars$am)), mtcars$mpg)
  numbers <- npindex(c(1, 2, 0.5), mtcars[c("wt", "am")], mtcars$mpg)
  expect_equal(factors$mean, numbers$mean)
  expect_equal(npindex(numbers$bws, mtcars[1:20, c("wt", "am")], mtcars$mpg[1:20])$ntrain, 20L)
  expect_warning(far <- predict(npindex(c(1, 2, 2), mtcars[c("wt", "am")], mtcars$mpg, ckertype = "uniform"),
                                exdat = data.frame(wt = c(99, NA, 3), am = c(1, 1, 1))),
                 class = "kestrel_warning_support")
  expect_identical(is.na(far), c(TRUE, TRUE, FALSE))
})

test_that("plots show the fit over the index", {
  fit <- npindex(index_bw())
  expect_gt(drawn(plot(fit)), 10)
  data <- plot(fit, plot.behavior = "data", neval = 5)
  expect_length(data$r1$mean, 5)
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    bw <- index_bw()
    shown(bw)
    shown(summary(bw))
    fit <- npindex(bw, gradients = TRUE)
    shown(fit)
    shown(summary(fit))
    shown(summary(npindex(c(1, -0.005, 0.3), mtcars[c("wt", "hp")], mtcars$am, method = "kleinspady")))
    shown(npindex(bw, newdata = mtcars[1:3, ]))
  })
})

test_that("mistakes are refused", {
  bw <- index_bw()
  expect_refused(
    npindexbw(), npindexbw(mpg ~ wt, data = mtcars), npindexbw(~ wt + hp, data = mtcars), npindexbw(1:5, 1:5),
    npindexbw(cbind(1:5, 2 * (1:5)), 1:5), npindexbw(mtcars[c("wt", "hp")], 1:5), npindexbw(mtcars[1:2, 1:3], 1:2),
    npindexbw(mpg ~ wt + hp, data = mtcars, method = "kleinspady"), npindexbw(mpg ~ wt + hp, mtcars, method = "probit"),
    npindexbw(mpg ~ wt + hp, mtcars, bws = 1), npindexbw(mpg ~ wt + hp, mtcars, bws = c(2, 1, 1)),
    npindexbw(mpg ~ wt + hp, mtcars, bws = c(1, 1, -1)), npindexbw(mpg ~ wt + hp, mtcars, bandwidth.compute = FALSE),
    npindexbw(mpg ~ wt + hp, mtcars, only.optimize.beta = TRUE), npindexbw(mpg ~ wt + hp, mtcars, optim.maxit = 0),
    npindexbw(mpg ~ wt + hp, mtcars, optim.method = "SANN"), npindexbw(mpg ~ wt + hp, mtcars, bwtype = "fixed"),
    npindex(), npindex(1), npindex(bw, gradients = 1), npindex(bw, txdat = 1), npindex(bw, newdata = mtcars["wt"]),
    npindex(bw, newdata = mtcars, exdat = 1), npindex(bw, regtype = "ll"), vcov(npindex(bw)),
    npindexbw(mpg ~ wt + hp + qsec, mtcars, bws = bw, ckertype = "uniform"),
    npindex(structure(list(), class = "kestrel_sibw")), predict(npindex(bw), se.fit = 2),
    print(structure(list(), class = "kestrel_si"))
  )
  expect_snapshot_output(say(
    expect_warning(npindexbw(mpg ~ wt + hp, mtcars, optim.maxit = 1, nmulti = 1), class = "kestrel_warning_search"),
    expect_warning(npindexbw(mpg ~ wt + hp, mtcars, c(1, 1, 1e-3), FALSE, ckertype = "uniform"),
                   class = "kestrel_warning_support"),
    expect_warning(npindex(c(1, 2, 9), mtcars[c("wt", "am")], mtcars$mpg, exdat = data.frame(wt = 99, am = 1),
                           ckertype = "uniform"), class = "kestrel_warning_support")
  ))
})
