# Bandwidths that are distances to nearest neighbours: beside the oracle, beside np, and what users see.

# With the Gaussian kernel and another one for each shape, in turn.
each_neighbour_case <- function(body) {
  problems <- list()
  others <- setdiff(regression_kernels, "gaussian")
  shapes <- neighbour_shapes()
  for (k in seq_along(shapes)) for (kernel in c("gaussian", others[k %% length(others) + 1L])) {
    for (regtype in c("lc", "ll")) for (type in neighbour_types) {
      s <- shapes[[k]]
      problems <- c(problems, body(s, kernel, regtype, type, paste(s$name, kernel, regtype, type)))
    }
  }
  expect_no_problem(problems)
}

test_that("objectives are those of the oracle for every kernel and type", {
  each_neighbour_case(function(s, kernel, regtype, type, info) {
    k <- numbers_of_neighbours(s$x)
    run <- run_options(1L, "cpu")
    actual <- regression_sums(observations_of(s, run), k, neighbour_asked(kernel, regtype, type), run)
    unlist(lapply(seq_along(k), function(i) {
      reference <- reference_neighbour_cv(s$x, s$y, k[i], kernel, regtype, type, s$w)
      info <- paste(info, "k =", k[i])
      c(reference_problem(actual$squares[i], reference$squares, info = paste(info, "squares")),
        reference_problem(actual$trace[i], reference$trace, info = paste(info, "trace")),
        reference_problem(actual$insample[i], reference$insample, info = paste(info, "in sample"),
                          scale = reference$insample + 1e-3 * reference$squares),
        reference_problem(actual$unsupported[i], reference$unsupported, tol = 0, info = paste(info, "unsupported")))
    }))
  })
})

test_that("residuals, fits, gradients and their errors are those of the oracle", {
  each_neighbour_case(function(s, kernel, regtype, type, info) {
    k <- numbers_of_neighbours(s$x)
    k <- k[ceiling(length(k) / 2)]
    run <- run_options(1L, "cpu")
    bws <- neighbour_bws(s, k, neighbour_asked(kernel, regtype, type))
    data <- observations_of(bws, run)
    found <- with_fit(data, k, bws, c(errors = TRUE, gradients = TRUE), run)$fit
    reference <- reference_neighbour_residuals(s$x, s$y, k, kernel, regtype, type, s$w)
    alone <- is.nan(reference$loo)
    scale <- max(abs(reference$loo[!alone]), diff(range(s$y)))
    problems <- c(if (!identical(is.na(found$loo), alone)) paste(info, "other points without fit"),
                  reference_problem((s$y - found$loo)[!alone], reference$loo[!alone], 1e-11, scale, info),
                  reference_problem(found$resid, reference$insample, 1e-11, scale, paste(info, "in sample")))
    points <- c(utils::head(s$x, 9), s$x[1:2] + 0.3 * diff(range(s$x)), min(s$x) - 1, max(s$x) + 0.7)
    error2 <- s$y^2 / max(s$y^2) + 0.1
    at <- values_at(list(bws = bws, error2 = error2), points, TRUE, run, data, TRUE)
    local <- Map(function(point, h) {
      if (anyNA(h)) return(list(value = NaN, smoother = NaN, slope = NaN, distinct = 0))
      reference_neighbour_fit(point, s$x, s$y, s$w, h, kernel, regtype)
    }, points, reference_bandwidths(points, s$x, k, type))
    of <- function(field) vapply(local, function(one) if (is.null(one[[field]])) NaN else one[[field]], 0)
    squares <- function(field) vapply(local, function(one) sum(one[[field]]^2 * error2), 0)
    mean <- of("value")
    there <- !is.nan(mean)
    sloped <- there & of("distinct") > (regtype == "ll")
    # Terms of a derivative may be far larger than their sum.
    terms <- pmax(of("terms"), 1e-300)
    c(problems,
      if (!identical(is.na(at$mean), !there)) paste(info, "other points without a fit"),
      reference_problem(at$mean[there], mean[there], 1e-11, max(abs(s$y), abs(mean[there])), paste(info, "at points")),
      reference_problem(at$se[there]^2, squares("smoother")[there], 1e-11, info = paste(info, "variance")),
      reference_problem((at$grad / terms)[sloped], (of("change") / terms)[sloped], 1e-11, diff(range(s$y)),
                        paste(info, "gradient")),
      reference_problem((at$gerr / terms)[sloped], (sqrt(squares("slope")) / terms)[sloped], 1e-11, 1,
                        paste(info, "error of the gradient")))
  })
})

test_that("numbers of neighbours and objectives are np's, and so are fits and gradients", {
  values <- utils::read.csv(test_path("fixtures", "np_neighbours.csv"),
                            colClasses = c(rows = "character", at = "character"))
  parts_of <- function(text) as.numeric(strsplit(text, ";")[[1]])
  sets <- list(mcycle = MASS::mcycle, cars = datasets::cars, faithful = datasets::faithful)
  for (k in seq_len(nrow(values))) {
    row <- values[k, ]
    info <- paste(row$set, row$what, row$bwtype, row$regtype, row$bwmethod, row$ckertype)
    call <- function(f, ...) {
      f(stats::as.formula(row$formula), sets[[row$set]], bwtype = row$bwtype, regtype = row$regtype,
        bwmethod = row$bwmethod, ckertype = row$ckertype, ...)
    }
    fit <- call(npreg, bws = row$bw, gradients = TRUE)
    expect_close_to_reference(fit$mean[parts_of(row$rows)], parts_of(row$mean), 1e-9, info = info)
    expect_close_to_reference(fit$grad[parts_of(row$rows)], parts_of(row$grad), 1e-9, info = info)
    expect_close_to_reference(npreg(fit$bws, exdat = parts_of(row$at))$mean, parts_of(row$mean_at), 1e-9, info = info)
    expect_equal(c(fit$R2, fit$MSE), c(row$R2, row$MSE), tolerance = 1e-10, info = info)
    if (row$what != "selected") next
    expect_equal(fit$bws$fval, row$fval, tolerance = 1e-12, info = info)
    found <- call(npregbw)
    expect_identical(found$bw, as.numeric(row$bw), info = info)
  }
})

test_that("the least objective of all numbers of neighbours is found", {
  for (n in c(40, 501)) {
    d <- with_seed(86, data.frame(x = round(rnorm(n), 2)))
    d$y <- with_seed(87, sin(3 * d$x) + rnorm(n) / 3)
    for (type in neighbour_types) {
      bw <- npregbw(y ~ x, d, bwtype = type, regtype = "ll")
      all <- npregbw(y ~ x, d, bwtype = type, regtype = "ll", bws = seq_len(reference_most_neighbours(d$x)))
      expect_identical(bw[c("bw", "fval")], all[c("bw", "fval")])
      expect_identical(max(bw$grid), max(all$grid))
      if (n == 40) expect_identical(bw[c("grid", "cv")], all[c("grid", "cv")])
      # Between the neighbours of the best of a grid.
      rough <- npregbw(y ~ x, d, bwtype = type, regtype = "ll", bws = seq(1, 31, 6), refine = TRUE)
      expect_lte(rough$fval, min(rough$cv))
      expect_true(all(all$cv[abs(all$grid - rough$bw) == 1] >= rough$fval))
    }
  }
})

test_that("the k-th neighbour is at the k-th of the different distances that are not the least", {
  x <- c(0, 0, 1, 2, 4, 8)
  y <- c(1, 3, 2, 5, 4, 9)
  # At 1 the distances are 0, 1 (of three observations), 3 and 7. A uniform window is open.
  fit <- function(point, k, type) {
    suppressWarnings(npreg(txdat = x, tydat = y, exdat = point, bws = k, bwtype = type, ckertype = "uniform"))$mean
  }
  at <- function(point, k) fit(point, k, "generalized_nn")
  expect_equal(c(at(1, 1), at(1, 2), at(1, 3)), c(2, mean(y[1:4]), mean(y[1:5])))
  # At 3 they are 1 (two), 2, 3 and 5: the nearest does not count.
  expect_equal(c(at(3, 1), at(3, 2)), c(mean(y[4:5]), mean(y[3:5])))
  # Observations have bandwidths 1, 1, 1, 1, 2, 4 at k = 1, and reach less far.
  expect_equal(fit(5.5, 1, "adaptive_nn"), (y[5] / 2 + y[6] / 4) / (1 / 2 + 1 / 4))
  expect_identical(regression_neighbours_cpp(observations_of(list(x = x, y = y, w = rep(1, 6)), run_options(1))$sorted,
                                             10, run_options(1)), 3)
})

test_that("with neighbours an observation of weight 3 is three of weight 1, and weights change no distance", {
  d <- with_seed(88, data.frame(x = rnorm(25), y = rnorm(25), w = rep(c(1, 3, 2, 1, 1), 5)))
  copies <- d[rep(1:25, d$w), ]
  kernels <- c("gaussian", "epanechnikov", "uniform")
  for (type in neighbour_types) for (kernel in kernels) for (regtype in c("lc", "ll")) {
    suppressWarnings(weighted <- npreg(y ~ x, d, w = w, bws = 6, bwtype = type, ckertype = kernel, regtype = regtype))
    suppressWarnings(several <- npreg(y ~ x, copies, bws = 6, bwtype = type, ckertype = kernel, regtype = regtype))
    expect_equal(weighted$mean[rep(1:25, d$w)], several$mean, tolerance = 1e-12)
  }
})

test_that("any number of threads and every instruction set give the fits of one thread", {
  s <- with_seed(89, regression_shape("many", c(rnorm(600), round(rnorm(200), 1)), h = 1))
  for (type in neighbour_types) for (kernel in c("gaussian", "tricube")) for (regtype in c("lc", "ll")) {
    all <- function(threads) {
      run <- run_options(threads, "cpu")
      asked <- neighbour_asked(kernel, regtype, type)
      bws <- neighbour_bws(s, 17, asked)
      data <- observations_of(bws, run)
      c(regression_sums(data, c(3, 17, 300), asked, run),
        with_fit(data, 17, bws, c(errors = TRUE, gradients = TRUE), run)$fit[c("mean", "se", "grad", "gerr", "loo")],
        values_at(list(bws = bws, error2 = s$y^2), s$x + 0.01, TRUE, run))
    }
    one <- unlist(all(1L))
    for (threads in 2:3) expect_same_bits(unlist(all(threads)), one, paste(type, kernel, regtype, threads))
    for (isa in instruction_sets()) {
      expect_no_problem(Map(reference_problem, with_isa(isa, all(1L)), all(1L), 1e-11, info = isa))
    }
  }
})

x <- c(1, 2, 2.5, 4, 5.5, 6, 7.25, 9)
y <- c(2, 3, 3.5, 5, -1, 6.5, 0, 8)
d <- data.frame(x = x, y = y)

test_that("arguments without meaning for neighbours are refused", {
  bw <- npregbw(y ~ x, d, bwtype = "generalized_nn")
  edited <- replace(bw, "bw", list(2.5))
  other <- replace(bw, "type", list("nearest"))
  expect_refused(
    npregbw(x, y, bwtype = "nearest"),
    npregbw(x, y, bwtype = "generalized_nn", bws = 2.5, bandwidth.compute = FALSE),
    npregbw(x, y, bwtype = "generalized_nn", bws = c(0, 2)),
    npregbw(x, y, bwtype = "generalized_nn", bws = c(1, NaN)),
    npregbw(x, y, bwtype = "generalized_nn", bws = Inf),
    npregbw(x, y, bwtype = "adaptive_nn", bws = "all"),
    npregbw(x, y, bwtype = "adaptive_nn", bws = 8, bandwidth.compute = FALSE),
    npregbw(round(x), y, bwtype = "adaptive_nn", bws = 6, bandwidth.compute = FALSE),
    npregbw(rep(1, 8), y, bwtype = "adaptive_nn"),
    npregbw(x, y, bwtype = "adaptive_nn", nbw = 5),
    npregbw(x, y, bwtype = "adaptive_nn", bwmax = 5),
    npregbw(x, y, bwtype = "adaptive_nn", bwscaling = TRUE),
    npregbw(x, y, bwtype = "generalized_nn", bws = 3, bandwidth.compute = FALSE, refine = TRUE),
    npregbw(c(x, 1000), c(y, 1), bwtype = "adaptive_nn", ckertype = "biweight", bws = 2:3),
    npregbw(x[1:3], y[1:3], bwtype = "adaptive_nn", bwmethod = "cv.aic"),
    npreg(bw, bwtype = "adaptive_nn"),
    npreg(edited),
    print(other)
  )
  expect_error(npregbw(x, y, bwtype = "generalized_nn", backend = "cuda"), class = "kestrel_error_backend")
  expect_warning(fit <- npreg(y ~ x, d, bws = 1, bwtype = "generalized_nn", ckertype = "uniform"),
                 "8 of 8 observations have no other one within the bandwidth at k = 1")
  expect_identical(fit$mean, y)
  # Halfway there is one distance only.
  expect_warning(none <- npreg(txdat = c(0, 10), tydat = 1:2, bws = 1, bwtype = "generalized_nn", exdat = c(3, 5)),
                 "1 of 2 points have fewer than k = 1 neighbours")
  expect_identical(is.na(none$mean), c(FALSE, TRUE))
})

test_that("fits with neighbours can be printed, predicted, edited, updated and plotted", {
  rm(list = ls(informed_of), envir = informed_of)
  expect_message(bw <- npregbw(dist ~ speed, cars, bwtype = "adaptive_nn", regtype = "ll", bws = 3),
                 "`bws` has no effect")
  # np 0.60.
  expect_identical(bw[c("bw", "type", "search")], list(bw = 5, search = "global", type = "adaptive_nn")[c(1, 3, 2)])
  expect_equal(npregbw(dist ~ speed, cars, bwtype = "generalized_nn")$sfactor$x, 0.421, tolerance = 1e-3)
  expect_identical(bw$bandwidth$x, 5)
  fit <- npreg(bw)
  expect_snapshot_output({
    shown(bw)
    shown(summary(bw))
    shown(fit)
    shown(summary(fit))
    shown(suppressWarnings(npregbw(dist ~ speed, cars, bwtype = "generalized_nn", bws = 2:6)))
  })
  same <- npreg(dist ~ speed, cars, bws = 5, bwtype = "adaptive_nn", regtype = "ll")
  expect_identical(fitted(fit), fitted(same))
  new <- data.frame(speed = c(7, 9.3, NA))
  expect_identical(predict(fit, new), c(npreg(bw, exdat = c(7, 9.3))$mean, NA))
  expect_identical(predict(bw, new), predict(fit, new))
  expect_equal(fitted(fit) + residuals(fit), cars$dist)
  expect_equal(predict(fit, cars[1:3, ], se.fit = TRUE)$se.fit, se(fit)[1:3], tolerance = 1e-13)
  expect_equal(gradients(fit), npreg(bw, exdat = cars$speed, gradients = TRUE)$grad, tolerance = 1e-13)
  bw$bw <- 9
  expect_identical(npreg(bw)$mean, npreg(dist ~ speed, cars, bws = 9, bwtype = "adaptive_nn", regtype = "ll")$mean)
  expect_identical(update(same, bwtype = "generalized_nn", bws = 4)$mean,
                   npreg(dist ~ speed, cars, bws = 4, bwtype = "generalized_nn", regtype = "ll")$mean)
  expect_gt(drawn(plot(fit)), 10)
  expect_gt(drawn(plot(bw, what = "cv")), 10)
  expect_message(npregbw(1:6, c(1, 4, 2, 3, 9, 0), bwtype = "generalized_nn"), "the largest number of neighbours")
})
