# npregbw() and npreg(): the sums against the oracle, the reference values, and the properties every regression has.

test_that("objectives are those of the oracle, for every kernel, local constant and linear, on awkward data", {
  problems <- list()
  shapes <- regression_shapes()
  for (i in seq_along(shapes)) for (kernel in regression_kernels) for (regtype in c("lc", "ll")) {
    s <- shapes[[i]]
    actual <- shape_cv(s, kernel, regtype)
    # Every other bandwidth; the next kernel and the next shape have those between.
    for (k in seq(1 + (i + match(kernel, regression_kernels)) %% 2, length(s$h), by = 2)) {
      reference <- reference_regression_cv(s$x, s$y, s$h[k], kernel, regtype, s$w)
      info <- paste(s$name, kernel, regtype, "h =", format(s$h[k], digits = 17))
      problems <- c(problems, reference_problem(actual$squares[k], reference$squares, info = paste(info, "squares")),
                    reference_problem(actual$trace[k], reference$trace, info = paste(info, "trace")),
                    reference_problem(actual$insample[k], reference$insample, info = paste(info, "in sample"),
                                      scale = reference$insample + 1e-3 * reference$squares),
                    reference_problem(actual$unsupported[k], reference$unsupported, tol = 0,
                                      info = paste(info, "unsupported")))
    }
  }
  expect_no_problem(problems)
})

test_that("leave-one-out fits, residuals and the trace are those of the oracle, in the order of the data", {
  problems <- list()
  for (s in regression_shapes()) for (kernel in regression_kernels) for (regtype in c("lc", "ll")) {
    h <- s$h[2]
    actual <- fit_of_shape(shape_bws(s, h, kernel, regtype), run_options(1))
    reference <- reference_residuals(s$x, s$y, h, kernel, regtype, s$w)
    info <- paste(s$name, kernel, regtype)
    alone <- is.nan(reference$loo)
    if (!identical(is.na(actual$loo), alone)) problems <- c(problems, paste(info, "other points without fit"))
    scale <- max(abs(reference$loo[!alone]), diff(range(s$y)))
    problems <- c(problems,
                  reference_problem((s$y - actual$loo)[!alone], reference$loo[!alone], 1e-11, scale, info),
                  reference_problem(actual$resid, reference$insample, 1e-11, scale, paste(info, "in sample")),
                  reference_problem(actual$trace, sum(reference$leverage), 1e-11, info = paste(info, "trace")))
  }
  expect_no_problem(problems)
})

test_that("fits and their errors at points are those of the oracle, NA where there is no neighbour", {
  problems <- list()
  for (s in regression_shapes()) for (kernel in regression_kernels) for (regtype in c("lc", "ll")) {
    h <- s$h[3]
    points <- c(s$x[1:9], s$x[1:9] + 0.3 * h, min(s$x) - 0.5 * h, max(s$x) + 50 * h)
    error2 <- s$y^2 / max(s$y^2) + 0.1
    fit <- list(bws = shape_bws(s, h, kernel, regtype), error2 = error2)
    actual <- values_at(fit, points, TRUE, run_options(1))
    mean <- reference_fit(points, s$x, s$y, h, kernel, regtype, s$w)
    variance <- reference_variance(points, s$x, s$y, h, kernel, regtype, error2, s$w)
    info <- paste(s$name, kernel, regtype)
    there <- !is.nan(mean)
    if (!identical(is.na(actual$mean), !there)) problems <- c(problems, paste(info, "other points without fit"))
    problems <- c(problems, reference_problem(actual$mean[there], mean[there], 1e-11, max(abs(s$y)), info),
                  reference_problem(actual$se[there]^2, variance[there], 1e-11, info = paste(info, "variance")))
  }
  expect_no_problem(problems)
  expect_identical(values_at(fit, numeric(0), TRUE, run_options(1)), list(mean = numeric(0), se = numeric(0)))
})

test_that("a local linear fit to two neighbours is the line through them, however little weight one has", {
  x <- c(0, 1, 3)
  y <- c(2, -1, 4)
  # Lines through the other two points, at 0, 1 and 3.
  line <- c(-3.5, 2 + 2 / 3, -7)
  for (kernel in regression_kernels) for (h in 3 * (1 + c(1e-2, 1e-5, 1e-10, .Machine$double.eps))) {
    if (kernel == "gaussian") h <- h / 30
    bws <- shape_bws(list(x = x, y = y, w = rep(1, 3)), h, kernel, "ll")
    expect_equal(fit_of_shape(bws, run_options(1))$loo, line, tolerance = 1e-12, info = paste(kernel, h))
  }
})

test_that("any number of threads gives the same bits", {
  s <- with_seed(51, regression_shape("many", c(rnorm(1500), round(rnorm(500), 1)), h = c(0.01, 0.1, 0.5, 2, 9)))
  for (kernel in regression_kernels) for (regtype in c("lc", "ll")) {
    one <- shape_cv(s, kernel, regtype)
    bws <- shape_bws(s, 0.1, kernel, regtype)
    fit <- function(threads) {
      unlist(values_at(list(bws = bws, error2 = s$y^2), s$x + 0.01, TRUE, run_options(threads)))
    }
    left_out <- function(threads) unlist(fit_of_shape(bws, run_options(threads)))
    for (threads in 2:3) {
      expect_same_bits(unlist(shape_cv(s, kernel, regtype, threads)), unlist(one), paste(kernel, regtype))
      expect_same_bits(fit(threads), fit(1L), paste(kernel, regtype, "fit"))
      expect_same_bits(left_out(threads), left_out(1L), paste(kernel, regtype, "leave one out"))
    }
  }
})

# The reference values were computed with a fit of 0 for observations without a neighbour, so they contain their
# squares.
without_neighbour <- function(data, h) {
  alone <- vapply(data$x, function(point) sum(abs(data$x - point) < h) == 1, NA)
  sum(data$y[alone]^2) / length(data$x)
}

test_that("cross-validation values are the reference values and those of np", {
  direct <- utils::read.csv(test_path("fixtures", "nw_loocv.csv"))
  reference <- rbind(direct[c("data", "h", "CV_mean", "n_no_neighbour")],
                     with(utils::read.csv(test_path("fixtures", "np_cv_reference.csv")),
                          data.frame(data, h = h_support, CV_mean = np_npksum_notree_CV, n_no_neighbour)))
  for (name in unique(reference$data)) {
    data <- regression_data(name)
    rows <- reference[reference$data == name, ]
    rows <- rows[order(rows$h), ]
    # Each bandwidth occurs several times in the values, once in the grid.
    bw <- suppressWarnings(npregbw(xdat = data$x, ydat = data$y, bws = rows$h,
                                   ckertype = "epanechnikov", bw.scale = "support"))
    at <- match(rows$h, bw$grid)
    expect_identical(bw$n.unsupported[at], rows$n_no_neighbour, label = name)
    expect_no_problem(Map(function(cv, h, expected) {
      reference_problem(cv + without_neighbour(data, h), expected, info = paste(name, h))
    }, bw$cv[at], rows$h, rows$CV_mean))
    # The same in np's units.
    np <- suppressWarnings(npregbw(xdat = data$x, ydat = data$y, bws = rows$h / sqrt(5), bw.scale = "np",
                                   ckertype = "epanechnikov"))
    expect_equal(np$cv, bw$cv, tolerance = 1e-9)
    expect_equal(np$bw * sqrt(5), bw$bw, tolerance = 1e-14)
  }
})

test_that("a grid is that of Rohlfs & Zahran, its minima those of the reference", {
  reference <- utils::read.csv(test_path("fixtures", "nw_loocv_argmin.csv"))
  for (r in seq_len(nrow(reference))) {
    data <- regression_data(reference$data[r])
    bw <- suppressWarnings(npregbw(xdat = data$x, ydat = data$y, nbw = reference$k[r],
                                   ckertype = "epanechnikov", bw.scale = "support"))
    expect_equal(bw$grid, diff(range(data$x)) * seq_len(reference$k[r]) / reference$k[r], tolerance = 1e-15)
    expect_identical(bw$bw, bw$grid[reference$j[r]])
    expect_close_to_reference(bw$fval, reference$CV_mean[r])
  }
})

test_that("the grid of the simulation of Rohlfs & Zahran, and the search for the global minimum", {
  reference <- utils::read.csv(test_path("fixtures", "nw_rz_global.csv"))
  for (r in seq_len(nrow(reference))) {
    data <- with_seed(20240101, {
      x <- runif(reference$n[r])
      list(x = x, y = 0.5 * x + 10 * x^2 + runif(reference$n[r], 0, 0.5))
    })
    for (k in c(5, 10, 50)) {
      bw <- suppressWarnings(npregbw(xdat = data$x, ydat = data$y, nbw = k,
                                     ckertype = "epanechnikov", bw.scale = "support"))
      expect_equal(bw$bw, reference[[paste0("h_grid", k)]][r], tolerance = 1e-14)
      expect_close_to_reference(bw$fval, reference[[paste0("CV_grid", k)]][r], tol = 1e-10)
    }
    at_global <- npregbw(xdat = data$x, ydat = data$y, bws = reference$h_global[r], bandwidth.compute = FALSE,
                         ckertype = "epanechnikov", bw.scale = "support")
    expect_close_to_reference(at_global$fval, reference$CV_direct[r])
    best <- npregbw(xdat = data$x, ydat = data$y, ckertype = "epanechnikov", bw.scale = "support")
    expect_lte(best$fval, reference$CV_direct[r] * (1 + 1e-8))
  }
})

test_that("refinement finds the minimum between bandwidths of the grid, not the nearest of several", {
  mcycle <- MASS::mcycle
  bw <- npregbw(accel ~ times, data = mcycle, regtype = "ll", nbw = 50, refine = TRUE,
                ckertype = "epanechnikov", bw.scale = "support")
  near <- npregbw(accel ~ times, data = mcycle, regtype = "ll", bws = seq(1.2, 3.3, by = 0.001),
                  ckertype = "epanechnikov", bw.scale = "support")
  # The curve jumps at its minimum, where an observation leaves the windows of others.
  expect_lte(bw$fval, min(near$cv[near$n.unsupported == 0]) * (1 + 1e-7))
})

# The bandwidths between the neighbours of the best of a grid, in `steps` equal steps, and at and just above every
# distance of two observations there; below the first of the grid down to where observations lose their neighbours.
in_bracket <- function(bw, steps) {
  allowed <- which(bw$unsupported == "exclude" | bw$n.unsupported == 0)
  best <- max(allowed[bw$cv[allowed] == min(bw$cv[allowed])])
  ends <- c(if (best == 1 && bw$unsupported == "reject") 0 else bw$grid[max(best - 1, 1)],
            bw$grid[min(best + 1, length(bw$grid))])
  distance <- unique(as.vector(stats::dist(bw$x)))
  h <- c(seq(ends[1], ends[2], length.out = steps), distance, distance * (1 + .Machine$double.eps))
  h[h > 0 & h >= ends[1] & h <= ends[2]]
}

# The least objective of the bandwidths h that are allowed.
least_of <- function(bw, h) {
  at <- suppressWarnings(npregbw(xdat = bw$x, ydat = bw$y, bws = h, regtype = bw$regtype, bwmethod = bw$method,
                                 ckertype = bw$ckertype, unsupported = bw$unsupported, bw.scale = "support"))
  min(at$cv[at$unsupported == "exclude" | at$n.unsupported == 0], na.rm = TRUE)
}

refined_samples <- function() {
  lynx <- as.numeric(datasets::lynx)
  list(lynx = list(x = seq_along(lynx), y = lynx), lag = list(x = lynx[-114], y = lynx[-1]),
       cars = list(x = cars$speed, y = cars$dist), faithful = list(x = faithful$eruptions, y = faithful$waiting),
       rounded = list(x = round(faithful$eruptions, 1), y = faithful$waiting),
       ozone = regression_data("airquality.Ozone_Temp"), mcycle = list(x = MASS::mcycle$times, y = MASS::mcycle$accel))
}

test_that("with the uniform kernel refinement finds the least value between two bandwidths of the grid", {
  for (s in refined_samples()) for (regtype in c("lc", "ll")) for (method in c("cv.ls", "cv.aic")) {
    for (unsupported in c("reject", "exclude")) {
      bw <- suppressWarnings(npregbw(s$x, s$y, nbw = 20, ckertype = "uniform", regtype = regtype, bwmethod = method,
                                     unsupported = unsupported, refine = TRUE, bw.scale = "support"))
      expect_equal(bw$fval, least_of(bw, in_bracket(bw, 2)), tolerance = 1e-12)
    }
  }
})

test_that("refinement sees both sides of a jump, and its bandwidth is on the right one", {
  # At h = 2 the first year's window has one neighbour, above it two: a line in place of a mean.
  s <- refined_samples()$lynx
  refined <- function(...) suppressWarnings(npregbw(s$x, s$y, regtype = "ll", nbw = 20, refine = TRUE, ...))
  bw <- refined(ckertype = "triangular", bw.scale = "support")
  expect_lte(bw$fval, 434219)
  expect_lte(bw$fval, least_of(bw, in_bracket(bw, 100)) * (1 + 1e-9))
  for (bw.scale in c("support", "np")) {
    bw <- refined(ckertype = "epanechnikov", bw.scale = bw.scale)
    again <- npregbw(s$x, s$y, bws = bw$bw, bandwidth.compute = FALSE, bw.scale = bw.scale, regtype = "ll",
                     ckertype = "epanechnikov")
    expect_identical(again[c("h", "fval", "n.unsupported")], c(bw[c("h", "fval")], list(n.unsupported = 0L)))
  }
})

test_that("refinement takes data of which every observation is tied", {
  x <- rep(c(1, 2, 3, 5), each = 3)
  for (kernel in regression_kernels) {
    # At the first of the grid, which is the best, windows hold ties only: every bandwidth below supports all.
    bw <- suppressWarnings(npregbw(x, 10 * x + rep(c(-1, 0, 1), 4), bws = c(0.1, 4, 8), ckertype = kernel,
                                   refine = TRUE, bw.scale = "support"))
    expect_identical(which.min(bw$cv), 1L)
    expect_gt(bw$bw, 0)
    expect_lte(bw$fval, bw$cv[1])
  }
})

test_that("refinement with the uniform kernel is better than a scan where distances are too many to try them all", {
  s <- with_seed(53, {
    x <- rnorm(3000)
    list(x = x, y = sin(3 * x) + rnorm(3000))
  })
  bw <- npregbw(s$x, s$y, bws = seq(0.1, 1, by = 0.1), ckertype = "uniform", unsupported = "exclude", refine = TRUE,
                bw.scale = "support")
  best <- which.min(bw$cv)
  expect_lt(bw$fval, least_of(bw, seq(bw$grid[best - 1], bw$grid[best + 1], length.out = 97)))
})

test_that("refinement is never worse, stays in its bracket and respects support", {
  for (method in c("cv.ls", "cv.aic")) for (regtype in c("lc", "ll")) {
    coarse <- suppressWarnings(npregbw(dist ~ speed, cars, nbw = 9, bwmethod = method, regtype = regtype,
                                       ckertype = "epanechnikov", bw.scale = "support"))
    fine <- suppressWarnings(npregbw(dist ~ speed, cars, nbw = 9, bwmethod = method, regtype = regtype, refine = TRUE,
                                     ckertype = "epanechnikov", bw.scale = "support"))
    expect_lte(fine$fval, coarse$fval)
    expect_identical(fine$cv, coarse$cv)
    expect_lt(abs(fine$bw - coarse$bw), coarse$grid[1])
    at <- npregbw(dist ~ speed, cars, bws = fine$bw, bandwidth.compute = FALSE, bwmethod = method, regtype = regtype,
                  ckertype = "epanechnikov", bw.scale = "support")
    expect_equal(at$fval, fine$fval, tolerance = 1e-12)
    expect_identical(at$n.unsupported, 0L)
  }
})

test_that("the corrected AIC is that of the hat matrix", {
  for (regtype in c("lc", "ll")) {
    bw <- suppressWarnings(npregbw(dist ~ speed, data = cars, bwmethod = "cv.aic", regtype = regtype, nbw = 8,
                                   ckertype = "epanechnikov", bw.scale = "support"))
    for (k in c(1, 4, 8)) {
      hat <- vapply(1:50, function(j) {
        suppressWarnings(npreg(txdat = cars$speed, tydat = as.numeric(1:50 == j), bws = bw$grid[k],
                               regtype = regtype, ckertype = "epanechnikov", bw.scale = "support")$mean)
      }, numeric(50))
      trace <- sum(diag(hat))
      s2 <- mean((cars$dist - hat %*% cars$dist)^2)
      expect_equal(bw$cv[k], log(s2) + (1 + trace / 50) / (1 - (trace + 2) / 50), tolerance = 1e-12)
    }
    expect_equal(bw$fval, min(bw$cv[bw$n.unsupported == 0]))
  }
  expect_equal(npreg(dist ~ speed, cars, bws = 5, ckertype = "epanechnikov", bw.scale = "support")$edf,
               reference_regression_cv(cars$speed, cars$dist, 5, "epanechnikov", "lc")$trace, tolerance = 1e-13)
})

# At the bandwidths used below every observation has at least two neighbours.
even <- with_seed(50, regression_shape("even", sample(60) / 10 + runif(60, -0.04, 0.04), w = runif(60, 0.2, 2)))

test_that("a fit has the values, errors and bands of their definitions", {
  s <- even
  for (regtype in c("lc", "ll")) for (kernel in c("epanechnikov", "gaussian")) {
    fit <- npreg(bws = 0.6, txdat = s$x, tydat = s$y, w = s$w, regtype = regtype, ckertype = kernel, level = 0.9,
                 bw.scale = "support")
    reference <- reference_residuals(s$x, s$y, 0.6, kernel, regtype, s$w)
    expect_no_problem(reference_problem(fit$resid, reference$insample, 1e-11, 1))
    expect_no_problem(reference_problem(fit$loo, s$y - reference$loo, 1e-11, 1))
    variance <- reference_variance(s$x, s$x, s$y, 0.6, kernel, regtype, reference$loo^2, s$w)
    expect_close_to_reference(fit$merr, sqrt(variance), 1e-11)
    expect_equal(fit$upper - fit$mean, stats::qnorm(0.95) * fit$merr, tolerance = 1e-12)
    expect_equal(fit$mean - fit$lower, stats::qnorm(0.95) * fit$merr, tolerance = 1e-12)
    expect_equal(fit$MSE, sum(s$w * fit$resid^2) / sum(s$w), tolerance = 1e-12)
    expect_equal(fit$bws$fval, sum(s$w * reference$loo^2) / sum(s$w), tolerance = 1e-12)
    expect_equal(fit$edf, sum(reference$leverage), tolerance = 1e-12)
  }
  fit <- npreg(dist ~ speed, cars, bws = 4, ckertype = "epanechnikov", bw.scale = "support")
  from <- cars$dist - mean(cars$dist)
  fitted <- fit$mean - mean(cars$dist)
  expect_equal(fit$R2, sum(from * fitted)^2 / (sum(from^2) * sum(fitted^2)), tolerance = 1e-14)
  # Whatever the units of y; none where the fit is constant.
  for (unit in c(1e-100, 1e150)) {
    expect_equal(npreg(txdat = cars$speed, tydat = unit * cars$dist, bws = 4,
                       ckertype = "epanechnikov", bw.scale = "support")$R2, fit$R2, tolerance = 1e-12)
  }
  expect_identical(npreg(dist ~ speed, cars, bws = 100, ckertype = "uniform", bw.scale = "support")$R2, NA_real_)
  expect_identical(npreg(I(0 * dist + 3) ~ speed, cars, bws = 4,
                         ckertype = "epanechnikov", bw.scale = "support")$R2, NA_real_)
  expect_equal(npreg(dist ~ speed, cars, bws = 4, se = FALSE,
                     ckertype = "epanechnikov", bw.scale = "support")[c("mean", "merr", "lower")],
               list(mean = fit$mean, merr = rep(NA_real_, 50), lower = rep(NA_real_, 50)))
})

test_that("a leave-one-out fit is the fit to the data without that observation", {
  s <- even
  for (regtype in c("lc", "ll")) for (kernel in regression_kernels) {
    arguments <- list(bws = 0.7, regtype = regtype, ckertype = kernel, se = FALSE)
    fit <- function(keep, at) {
      do.call(npreg, c(arguments, list(txdat = s$x[keep], tydat = s$y[keep], w = s$w[keep], exdat = at)))
    }
    all <- fit(seq_along(s$x), s$x)
    for (i in 1:8) expect_equal(fit(-i, s$x[i])$mean, all$loo[i], tolerance = 1e-11)
  }
})

test_that("an observation without a neighbour takes the root mean square of the other residuals for its error", {
  x <- c(1, 1.5, 2, 2.5, 9)
  y <- c(1, 3, 2, 5, 40)
  fit_at <- function(bws) npreg(bws = bws, txdat = x, tydat = y, ckertype = "epanechnikov", bw.scale = "support")
  expect_warning(fit <- fit_at(1), "1 of 5 observations has no neighbour", class = "kestrel_warning_support")
  errors <- reference_residuals(x, y, 1, "epanechnikov", "lc")$loo
  expect_identical(fit$mean[5], 40)
  expect_identical(fit$loo[5], NA_real_)
  expect_equal(fit$merr[5], sqrt(mean(errors[1:4]^2)), tolerance = 1e-13)
  expect_identical(fit$n.unsupported, 1L)
  expect_equal(fit$bws$fval, sum(errors[1:4]^2) / 5, tolerance = 1e-13)
  expect_warning(all_alone <- fit_at(0.1), "5 of 5")
  expect_identical(all_alone$bws$fval, NA_real_)
  expect_identical(all_alone$merr, rep(NA_real_, 5))
})

test_that("weight 3 is three copies for the fit at a point, weight 0 no observation", {
  s <- even
  w <- rep(c(1, 3, 0, 2), 15)
  at <- seq(1, 5, by = 0.5)
  for (regtype in c("lc", "ll")) for (kernel in regression_kernels) {
    copies <- npreg(bws = 0.5, txdat = rep(s$x, w), tydat = rep(s$y, w), regtype = regtype, ckertype = kernel,
                    exdat = at, bw.scale = "support")
    weighted <- suppressWarnings(npreg(bws = 0.5, txdat = s$x, tydat = s$y, w = 10 * w, regtype = regtype,
                                       ckertype = kernel, exdat = at, bw.scale = "support"))
    expect_equal(weighted$mean, copies$mean, tolerance = 1e-12)
    dropped <- suppressWarnings(npreg(bws = 0.5, txdat = s$x[w > 0], tydat = s$y[w > 0], w = w[w > 0],
                                      regtype = regtype, ckertype = kernel, exdat = at, bw.scale = "support"))
    for (field in c("mean", "merr", "R2", "MSE", "edf", "nobs")) expect_equal(weighted[[field]], dropped[[field]])
    expect_equal(weighted$loo[w > 0], dropped$loo)
    expect_equal(weighted$bws$fval, dropped$bws$fval)
  }
  at_zero <- suppressWarnings(npreg(bws = 0.5, txdat = s$x, tydat = s$y, w = w,
                                    ckertype = "epanechnikov", bw.scale = "support"))
  expect_identical(at_zero$loo[w == 0], at_zero$mean[w == 0])
})

test_that("constants are reproduced, and straight lines by local linear fits", {
  x <- even$x
  for (kernel in regression_kernels) {
    flat <- npreg(bws = 0.9, txdat = x, tydat = rep(7.25, 60), ckertype = kernel, bw.scale = "support")
    expect_equal(flat$loo, rep(7.25, 60), tolerance = 1e-14)
    expect_identical(flat$R2, NA_real_)
    line <- npreg(bws = 0.9, txdat = x, tydat = 3 - 2 * x, ckertype = kernel, regtype = "ll", bw.scale = "support")
    expect_equal(line$mean, 3 - 2 * x, tolerance = 1e-13)
    expect_equal(line$loo, 3 - 2 * x, tolerance = 1e-11)
  }
})

test_that("a regressor in the smallest and largest units has the same fit, a constant of any size is one", {
  s <- even
  for (regtype in c("lc", "ll")) for (kernel in regression_kernels) {
    fit <- function(unit) {
      npreg(bws = 0.9 * unit, txdat = s$x * unit, tydat = s$y, ckertype = kernel, regtype = regtype,
            bw.scale = "support")
    }
    for (exponent in c(-960, 990)) {
      expect_equal(fit(2^exponent)[c("mean", "merr", "loo")], fit(1)[c("mean", "merr", "loo")], tolerance = 1e-12)
    }
  }
  for (nbw in list(NULL, 50)) expect_identical(quietly(npregbw(s$x, rep(1e200, 60), nbw = nbw))$fval, 0)
})

test_that("the order of rows does not matter, and units scale through", {
  s <- even
  turned <- with_seed(52, sample(60))
  for (regtype in c("lc", "ll")) for (kernel in regression_kernels) {
    bandwidth <- function(x, y, ...) {
      suppressWarnings(npregbw(xdat = x, ydat = y, regtype = regtype, ckertype = kernel, nbw = 12, ...,
                               bw.scale = "support"))
    }
    bw <- bandwidth(s$x, s$y)
    permuted <- bandwidth(s$x[turned], s$y[turned])
    expect_equal(permuted$cv, bw$cv, tolerance = 1e-13)
    expect_identical(permuted[c("bw", "n.unsupported")], bw[c("bw", "n.unsupported")])
    scaled <- bandwidth(1024 * s$x, 2^-40 * s$y)
    expect_identical(scaled[c("bw", "n.unsupported")], list(bw = 1024 * bw$bw, n.unsupported = bw$n.unsupported))
    expect_equal(scaled$cv, 2^-80 * bw$cv, tolerance = 1e-13)
    expect_equal(bandwidth(-s$x, s$y)$cv, bw$cv, tolerance = 1e-13)
    expect_equal(bandwidth(s$x, 100 + s$y)$cv, bw$cv, tolerance = 1e-12)
    # In multiples of 1/8, so that a shift by 1e6 is exact.
    eighths <- round(8 * s$x) / 8
    expect_equal(bandwidth(1e6 + eighths, s$y)$cv, bandwidth(eighths, s$y)$cv, tolerance = 1e-13)
  }
})

test_that("a fit on the CPU sweeps, wherever its bandwidth is from", {
  bw <- npregbw(dist ~ speed, cars, ckertype = "epanechnikov", bw.scale = "support")
  expect_identical(bw$engine, "sweep")
  bw[c("engine", "backend")] <- list("blocks", "cuda")
  expect_identical(npreg(bw)[c("engine", "backend")], list(engine = "sweep", backend = "cpu"))
  expect_identical(regression_engine("biweight", "cuda"), "blocks")
  expect_identical(regression_engine("gaussian", "cuda"), "direct")
})
