# Bandwidths of several regressors that are distances to nearest neighbours, beside np 0.60 (np_mixed_neighbours.csv),
# the oracle of helper-mixed.R, and one regressor.

np_rows <- utils::read.csv(test_path("fixtures", "np_mixed_neighbours.csv"), colClasses = c(
  bw = "character", rows = "character", mean = "character", grad1 = "character"
))
numbers_in <- function(text) as.numeric(strsplit(text, ";")[[1]])
sets <- list(iris = datasets::iris, mtcars = transform(datasets::mtcars, cyl = factor(cyl), gear = ordered(gear)))
called <- function(row, f, ...) {
  f(stats::as.formula(row$formula), sets[[row$set]], regtype = row$regtype, bwtype = row$bwtype,
    bwmethod = row$bwmethod, ckertype = row$ckertype, ckerorder = row$ckerorder, ...)
}
row_text <- function(row) paste(row$formula, row$what, row$bwtype, row$regtype, row$bwmethod, row$ckertype)

test_that("objectives, fits, gradients and measures at np's bandwidths are np's", {
  for (k in seq_len(nrow(np_rows))) {
    row <- np_rows[k, ]
    fit <- suppressWarnings(called(row, npreg, bws = numbers_in(row$bw), gradients = TRUE))
    at <- numbers_in(row$rows)
    expect_equal(fit$mean[at], numbers_in(row$mean), tolerance = 1e-9, info = row_text(row))
    expect_equal(fit$grad[at, 1], numbers_in(row$grad1), tolerance = 1e-8, info = row_text(row))
    expect_equal(c(fit$R2, fit$MSE), c(row$R2, row$MSE), tolerance = 1e-9, info = row_text(row))
    if (row$what == "selected") {
      expect_equal(fit$bws$fval, row$fval, tolerance = 1e-9, info = row_text(row))
    }
  }
})

test_that("objectives that searches reach are no higher than np's", {
  for (k in which(np_rows$what == "selected")) {
    row <- np_rows[k, ]
    bw <- suppressMessages(called(row, npregbw))
    expect_lte(bw$fval, row$fval + 1e-6 * abs(row$fval), label = row_text(row))
  }
})

neighbour_frame <- with_seed(20261128, data.frame(
  a = round(rnorm(30), 1), b = runif(30, -1, 5), z = factor(sample(c("p", "q"), 30, TRUE)),
  o = ordered(sample(1:3, 30, TRUE))
))
neighbour_y <- with_seed(20261129, sin(neighbour_frame$a) + 0.2 * neighbour_frame$b + rnorm(30, sd = 0.3))
neighbour_data <- mixed_data(neighbour_frame, neighbour_y)
neighbour_weights <- with_seed(20261130, {
  w <- runif(30, 0.2, 2) * (seq_len(30) %% 6 != 2)
  w * sum(w > 0) / sum(w)
})

test_that("the engine's fits, objectives and gradients by lambda are the oracle's", {
  run <- run_options(1L, "cpu")
  points <- mixed_data(neighbour_frame[c(3, 9, 21), ], 1:3)[c("x", "unordered", "ordered")]
  points$x <- points$x + c(0.33, -2, 9)
  for (data in list(neighbour_data, c(neighbour_data, list(w = neighbour_weights)))) {
    for (bwtype in neighbour_types) for (ckertype in kernel_names()) for (regtype in c("lc", "ll")) {
      # Near the edge these have weights so small that a line among few neighbours may be singular or not.
      if (regtype == "ll" && !ckertype %in% c("gaussian", "epanechnikov", "uniform")) next
      # Windows without neighbours, and lines through few, for compact kernels.
      task <- mixed_task_of(c(6, 12), c(0.3, 0.4), ckertype = ckertype, regtype = regtype, bwtype = bwtype)
      if (regtype == "ll" && ckertype != "gaussian") task$h <- c(12, 21)
      info <- paste(bwtype, ckertype, regtype, length(data$w))
      sample <- mixed_cpp(data, run)
      for (method in c("cv.ls", "cv.aic")) {
        task$method <- method
        found <- mixed_objective_cpp(sample, task, TRUE, run)
        wanted <- mixed_oracle_objective(data, task)
        expect_equal(found$value, wanted$value, tolerance = 1e-9, info = info)
        expect_equal(found$unsupported, wanted$unsupported, info = info)
        by_lambda <- function(k, step) {
          task$lambda[k] <- task$lambda[k] + step
          mixed_objective_cpp(sample, task, FALSE, run)$value
        }
        if (found$value == Inf) next
        slopes <- vapply(1:2, function(k) (by_lambda(k, 1e-4) - by_lambda(k, -1e-4)) / 2e-4, 0)
        expect_equal(found$gradient[3:4], slopes, tolerance = 1e-5, info = info)
      }
      for (at in list(NULL, points)) {
        found <- mixed_fit_cpp(sample, task, at, rep(2, 30), TRUE, run)
        wanted <- mixed_oracle_fit(data, task, at, rep(2, 30))
        for (part in c("mean", "se", "grad", "gerr")) {
          expect_equal(unname(found[[part]]), replace(wanted[[part]], is.na(wanted[[part]]), NA), tolerance = 1e-8,
                       info = paste(info, part))
        }
      }
    }
  }
})

test_that("one column with a constant factor has the fits and the best number of one regressor", {
  d <- data.frame(x = neighbour_frame$b, one = factor(rep("a", 30)), y = neighbour_y)
  for (bwtype in neighbour_types) for (regtype in c("lc", "ll")) {
    one <- npregbw(y ~ x, d, bwtype = bwtype, regtype = regtype)
    two <- suppressMessages(npregbw(y ~ x + one, d, bwtype = bwtype, regtype = regtype))
    expect_equal(two$fval, one$fval, tolerance = 1e-11)
    expect_identical(two$bw[1], one$bw)
    fields <- c("mean", "merr", "loo", "R2", "edf")
    expect_equal(unclass(npreg(two))[fields], unclass(npreg(one))[fields], tolerance = 1e-10)
    at <- data.frame(x = c(-9, 0.123, 4), one = "a")
    expect_equal(predict(npreg(two), at), predict(npreg(one), at), tolerance = 1e-10)
    expect_equal(gradients(npreg(two, newdata = at))[, 1], gradients(npreg(one, newdata = at))[, 1], tolerance = 1e-9)
  }
})

test_that("the search finds the least of all pairs of numbers", {
  frame <- neighbour_frame[c("a", "b")]
  for (bwtype in neighbour_types) for (regtype in c("lc", "ll")) {
    most <- most_neighbours(list(x = frame, icon = c(TRUE, TRUE)), run_options())
    all <- expand.grid(seq_len(most[1]), seq_len(most[2]))
    run <- run_options(1L, "cpu")
    sample <- mixed_cpp(mixed_data(frame, neighbour_y), run)
    value <- apply(all, 1, function(k) {
      mixed_objective_cpp(sample, mixed_task_of(as.numeric(k), numeric(0), regtype = regtype, bwtype = bwtype), FALSE,
                          run)$value
    })
    bw <- suppressMessages(npregbw(frame, neighbour_y, bwtype = bwtype, regtype = regtype))
    expect_equal(bw$fval, min(value), tolerance = 1e-12, info = paste(bwtype, regtype))
  }
})

test_that("rows of weight zero are no neighbours, and the order of rows and columns does not matter", {
  w <- neighbour_weights
  for (bwtype in neighbour_types) {
    fit <- function(frame, y, w, bws, ...) npreg(bws, frame, y, w = w, bwtype = bwtype, gradients = TRUE, ...)
    whole <- fit(neighbour_frame, neighbour_y, w, c(5, 8, 0.2, 0.3))
    without <- fit(neighbour_frame[w > 0, ], neighbour_y[w > 0], w[w > 0], c(5, 8, 0.2, 0.3))
    expect_equal(whole$mean[w > 0], without$mean, tolerance = 1e-12)
    expect_equal(whole$grad[w > 0, ], without$grad, tolerance = 1e-11)
    expect_equal(predict(without, neighbour_frame[w == 0, ]), whole$mean[w == 0], tolerance = 1e-12)
    expect_equal(whole$bws$fval, without$bws$fval, tolerance = 1e-12)
    back <- fit(neighbour_frame[30:1, 4:1], rev(neighbour_y), rev(w), c(0.3, 0.2, 8, 5))
    expect_equal(rev(back$mean), whole$mean, tolerance = 1e-12)
    # The same bits on any number of threads.
    expect_identical(fit(neighbour_frame, neighbour_y, w, c(5, 8, 0.2, 0.3), threads = 3)$mean, whole$mean)
  }
})

test_that("objects, prints and plots", {
  bw <- npregbw(neighbour_frame, neighbour_y, c(7, 9, 0.2, 0.3), FALSE, bwtype = "generalized_nn")
  edited <- bw
  edited$bw[2] <- 12
  expect_identical(npreg(edited)$mean, npreg(c(7, 12, 0.2, 0.3), neighbour_frame, neighbour_y,
                                             bwtype = "generalized_nn")$mean)
  expect_identical(predict(npreg(bw), neighbour_frame[3:5, ]), npreg(bw)$mean[3:5])
  expect_gt(drawn(plot(bw)), 10)
  rm(list = ls(informed_of), envir = informed_of) # said once in a session
  expect_message(npregbw(neighbour_frame["b"], neighbour_y, 5, bwtype = "adaptive_nn"), "bws")
  expect_snapshot_output({
    shown(bw)
    shown(summary(bw))
    shown(npreg(bw))
    say(tryCatch(npregbw(data.frame(a = 1:12, z = gl(2, 6)), rep(c(1, 2), 6) + 0, bwtype = "adaptive_nn"),
                 message = identity))
    say(tryCatch(npregbw(data.frame(a = 1:12, b = (1:12)^2), 1:12 + 0, c(1, 1), FALSE, bwtype = "adaptive_nn",
                         ckertype = "uniform"), warning = identity))
  })
})

test_that("a search may have starts at which the criterion is infinite", {
  x <- data.frame(b = c(0.43, 0.24, 0.63, 0.76, 0.22, 0.87, 0.47, 0.80), z = factor(c(1, 1, 2, 2, 2, 3, 3, 2)),
                  d = c(76, 69, 73, 68, 67, 71, 66, 63))
  y <- c(-1.00, 0.29, 1.02, -0.90, -0.05, 0.92, 0.98, -0.52)
  expect_no_warning(bw <- suppressMessages(npregbw(x, y, regtype = "ll", bwmethod = "cv.aic",
                                                   bwtype = "adaptive_nn")))
  expect_identical(is.finite(bw$fval.history), c(TRUE, TRUE, FALSE))
  expect_equal(bw$fval, min(bw$fval.history))
})

test_that("refusals", {
  small <- neighbour_frame[1:12, ]
  y <- neighbour_y[1:12]
  choose <- function(...) npregbw(small, y, ..., bwtype = "generalized_nn")
  expect_refused(
    choose(c(2.5, 3, 0.1, 0.1), FALSE),
    choose(c(0, 3, 0.1, 0.1), FALSE),
    choose(c(3, 3, 0.9, 0.1), FALSE),
    choose(c(3, 30, 0.1, 0.1), FALSE),
    choose(c(12, 3, 0.1, 0.1)),
    choose(bwscaling = TRUE),
    choose(nbw = 9),
    npregbw(data.frame(a = 1:2, b = 1:2), 1:2, bwtype = "generalized_nn", ckertype = "uniform"),
    npsigtest(choose(c(3, 4, 0.1, 0.1), FALSE)),
    npksum(choose(c(3, 4, 0.1, 0.1), FALSE))
  )
})
