# Regression with several regressors and factors beside np 0.60 (np_mixed.csv) and the oracle of helper-mixed.R.

np_mixed <- utils::read.csv(test_path("fixtures", "np_mixed.csv"), colClasses = c(
  bw = "character", rows = "character", mean = "character", merr = "character", grad1 = "character"
))
parts_of <- function(text) as.numeric(strsplit(text, ";")[[1]])
np_mixed_data <- list(iris = datasets::iris, warpbreaks = datasets::warpbreaks,
                      mtcars = transform(datasets::mtcars, cyl = factor(cyl), gear = ordered(gear)))
selected <- which(np_mixed$what == "selected")
info_of <- function(row) paste(row$formula, row$what, row$regtype, row$bwmethod, row$ukertype)

# A row's call of `f`.
np_mixed_call <- function(row, f, ...) {
  f(stats::as.formula(row$formula), np_mixed_data[[row$set]], regtype = row$regtype, bwmethod = row$bwmethod,
    ckertype = row$ckertype, ckerorder = row$ckerorder, ukertype = row$ukertype, okertype = row$okertype, ...)
}

test_that("np's objectives and fits are the oracle's", {
  for (k in seq_len(nrow(np_mixed))) {
    row <- np_mixed[k, ]
    frame <- stats::model.frame(stats::as.formula(row$formula), np_mixed_data[[row$set]])
    order <- mixed_order(frame[-1])
    bw <- parts_of(row$bw)
    task <- c(as.list(row[c("ckertype", "ckerorder", "ukertype", "okertype", "regtype")]),
              list(method = row$bwmethod, h = bw[order$continuous], lambda = bw[c(order$unordered, order$ordered)]))
    data <- mixed_data(frame[-1], frame[[1]])
    if (k %in% selected) {
      expect_equal(mixed_oracle_objective(data, task)$value, row$fval, tolerance = 1e-9, info = info_of(row))
    }
    fit <- mixed_oracle_fit(data, task)
    at <- parts_of(row$rows)
    expect_equal(fit$mean[at], parts_of(row$mean), tolerance = 1e-9, info = info_of(row))
    if (ncol(fit$grad) > 0) {
      expect_equal(fit$grad[at, 1], parts_of(row$grad1), tolerance = 1e-8, info = info_of(row))
    }
  }
})

test_that("objectives are no higher than np's, and bandwidths are np's where np found the same minimum", {
  same <- 0
  for (k in selected) {
    row <- np_mixed[k, ]
    bw <- suppressMessages(np_mixed_call(row, npregbw))
    expect_lte(bw$fval, row$fval + 1e-9 * abs(row$fval), label = info_of(row))
    if (bw$fval < row$fval - 1e-5 * abs(row$fval)) next
    same <- same + 1
    # Where a regressor is smoothed out or a factor splits the data, np ends near the limit.
    of <- parts_of(row$bw)
    inside <- bw$bw > 1e-6 & bw$bw < 1e6
    expect_equal(bw$bw[inside], of[inside], tolerance = 2e-3, info = info_of(row))
  }
  expect_gte(same, 7)
})

test_that("fits at np's bandwidths are np's, and so are gradients and effects", {
  for (k in seq_len(nrow(np_mixed))) {
    row <- np_mixed[k, ]
    fit <- np_mixed_call(row, npreg, bws = parts_of(row$bw), gradients = TRUE)
    at <- parts_of(row$rows)
    expect_equal(fit$mean[at], parts_of(row$mean), tolerance = 1e-9, info = info_of(row))
    expect_equal(fit$grad[at, 1], parts_of(row$grad1), tolerance = 1e-8, info = info_of(row))
    expect_equal(c(fit$R2, fit$MSE), c(row$R2, row$MSE), tolerance = 1e-9, info = info_of(row))
  }
})

# ---- The engine beside the oracle ---------------------------------------------------------------------------------

mixed_frame <- with_seed(20261125, data.frame(
  a = round(rnorm(40), 2), z = factor(sample(c("p", "q", "r"), 40, TRUE), c("p", "q", "r", "none")),
  b = runif(40, -1, 5), o = ordered(sample(1:4, 40, TRUE)), f = factor(sample(c("u", "v"), 40, TRUE))
))
mixed_y <- with_seed(20261126, {
  sin(mixed_frame$a) + 0.2 * mixed_frame$b + as.integer(mixed_frame$z) + rnorm(40, sd = 0.3)
})

# All that the engine and the oracle say of a task.
engine_fit <- function(data, task, points = NULL, error2 = numeric(0), threads = 1L) {
  run <- run_options(threads, "cpu")
  sample <- mixed_cpp(data, run)
  found <- mixed_fit_cpp(sample, task, points, error2, TRUE, run)
  if (is.null(points)) found$loo <- data$y + found$deviation
  c(found, objective = list(mixed_objective_cpp(sample, task, TRUE, run)))
}

expect_engine <- function(data, task, info, tolerance = 1e-10) {
  found <- engine_fit(data, task, error2 = seq_along(data$y) / 7)
  for (method in c("cv.ls", "cv.aic")) {
    task$method <- method
    run <- run_options(1L, "cpu")
    objective <- mixed_objective_cpp(mixed_cpp(data, run), task, TRUE, run)
    reference <- mixed_oracle_objective(data, task)
    expect_equal(objective$value, reference$value, tolerance = tolerance, info = paste(info, method))
    expect_equal(objective$unsupported, reference$unsupported, info = paste(info, method))
  }
  reference <- mixed_oracle_fit(data, task, error2 = seq_along(data$y) / 7)
  for (part in c("mean", "se", if (length(task$h) > 0) c("grad", "gerr"), "loo")) {
    expect_equal(unname(found[[part]]), replace(reference[[part]], is.na(reference[[part]]), NA), tolerance = tolerance,
                 info = paste(info, part))
  }
}

test_that("the engine's fits and objectives are the oracle's for every kernel, order and type", {
  data <- mixed_data(mixed_frame, mixed_y)
  # Local linear fits of kernels with negative weights are wide, so that their moments are definite.
  wide <- list(gaussian = c(0.9, 1.4), epanechnikov = c(0.9, 1.6), uniform = c(1.703, 2.503),
               biweight = c(2.1, 2.9), triweight = c(2.3, 3.2), triangular = c(1.903, 2.703), tricube = c(2.1, 2.9),
               cosine = c(1.9, 2.7))
  for (regtype in c("lc", "ll")) {
    for (ckertype in names(wide)) {
      for (order in if (ckertype %in% c("gaussian", "epanechnikov")) c(2L, 4L, 6L, 8L) else 2L) {
        widen <- if (order == 2) 1 else if (regtype == "lc") 2 else 6
        task <- mixed_task_of(wide[[ckertype]] * widen, c(0.3, 0.2, 0.4), ckertype = ckertype,
                              ckerorder = order, regtype = regtype)
        expect_engine(data, task, paste(regtype, ckertype, order), 1e-9)
      }
    }
    for (ukertype in c("aitchisonaitken", "liracine")) {
      for (okertype in c("liracine", "wangvanryzin", "racineliyan")) {
        task <- mixed_task_of(c(0.7, 1.1), c(0.3, 0.2, 0.4), ukertype = ukertype, okertype = okertype,
                              regtype = regtype)
        expect_engine(data, task, paste(regtype, ukertype, okertype))
      }
    }
  }
})

# Weights of three decades, some of them zero.
mixed_weighted <- with_seed(20261127, {
  w <- 10^runif(40, -2, 1) * (seq_len(40) %% 6 != 2)
  c(mixed_data(mixed_frame, mixed_y), list(w = w * sum(w > 0) / sum(w)))
})

test_that("weighted fits and objectives are the oracle's", {
  for (regtype in c("lc", "ll")) {
    for (ckertype in c("gaussian", "epanechnikov")) {
      task <- mixed_task_of(c(0.9, 1.4), c(0.3, 0.2, 0.4), ckertype = ckertype, regtype = regtype)
      expect_engine(mixed_weighted, task, paste(regtype, ckertype), 1e-9)
    }
  }
  narrow <- mixed_task_of(c(0.05, Inf), c(0, 0, 0.4), ckertype = "epanechnikov")
  expect_engine(mixed_weighted, narrow, "observations without neighbours", 1e-9)
  # In a direction in which neighbours do not differ the slope is that of the weighted plane.
  level <- mixed_weighted
  level$x[level$unordered[, 1] == 1, 2] <- 2
  expect_engine(level, mixed_task_of(c(0.9, 1.4), c(0, 0.2, 0.4), regtype = "ll"), "a level in a plane", 1e-8)
})

test_that("gradients of objectives are differences of the oracle's", {
  rows <- 1:24
  data <- mixed_data(mixed_frame[rows, ], mixed_y[rows])
  w <- mixed_weighted$w[rows]
  for (data in list(data, c(data, list(w = w * sum(w > 0) / sum(w))))) {
    run <- run_options(1L, "cpu")
    for (regtype in c("lc", "ll")) {
      for (method in c("cv.ls", "cv.aic")) {
        for (kernel in list(list("gaussian", 2L), list("gaussian", 6L), list("epanechnikov", 4L))) {
          task <- mixed_task_of(c(1.9, 3.1) * (if (kernel[[2]] == 2) 1 else 4), c(0.3, 0.2, 0.4), regtype = regtype,
                                method = method, ckertype = kernel[[1]], ckerorder = kernel[[2]],
                                okertype = "wangvanryzin")
          found <- mixed_objective_cpp(mixed_cpp(data, run), task, TRUE, run)$gradient
          expect_equal(found, mixed_oracle_gradient(data, task), tolerance = 1e-6,
                       info = paste(regtype, method, kernel[[1]], kernel[[2]]))
        }
      }
    }
  }
})

test_that("the engine's fits are the oracle's at points, at limits of bandwidths and for awkward data", {
  data <- mixed_data(mixed_frame, mixed_y)
  points <- mixed_data(mixed_frame[c(3, 9, 21), ], 1:3)[c("x", "unordered", "ordered")]
  points$x <- points$x + c(0.3, -9, 2)
  for (regtype in c("lc", "ll")) {
    task <- mixed_task_of(c(0.7, 1.1), c(0.3, 0.2, 0.4), regtype = regtype)
    found <- engine_fit(data, task, points, rep(2, 40))
    reference <- mixed_oracle_fit(data, task, points, rep(2, 40))
    for (part in c("mean", "se", "grad", "gerr")) {
      expect_equal(unname(found[[part]]), reference[[part]], tolerance = 1e-9, info = paste(regtype, part))
    }
    limits <- list(list(c(Inf, 1), c(0.3, 0.2, 0.4)), list(c(0.5, Inf), c(0.75, 0.5, 1)),
                   list(c(0.5, 1), c(0, 0.2, 0.4)), list(c(Inf, Inf), c(0.1, 0, 1)), list(c(0.4, 0.8), c(0, 0, 0.5)))
    for (limit in limits) {
      task <- mixed_task_of(limit[[1]], limit[[2]], regtype = regtype)
      expect_engine(data, task, paste(regtype, describe_value(unlist(limit))), 1e-8)
    }
    few <- mixed_data(data.frame(a = c(1, 2, 4), z = factor(c("p", "q", "p"))), c(3, 1, 2))
    expect_engine(few, mixed_task_of(0.8, 0.3, regtype = regtype), paste(regtype, "n = 3"), 1e-8)
    tied <- mixed_data(data.frame(a = rep(c(1, 2, 5), each = 5), b = rep(c(0, 1, 4), 5)), sin(1:15))
    expect_engine(tied, mixed_task_of(c(0.6, 0.7), numeric(0), regtype = regtype), paste(regtype, "ties"), 1e-8)
  }
  factors <- mixed_data(datasets::warpbreaks[2:3], datasets::warpbreaks$breaks)
  expect_engine(factors, mixed_task_of(numeric(0), c(0.1, 0.2), regtype = "ll"), "factors alone")
})

test_that("the bits are the same for any number of threads", {
  data <- mixed_data(mixed_frame[rep(1:40, 8), ], rep(mixed_y, 8) + (1:320) / 99)
  task <- mixed_task_of(c(0.7, 1.1), c(0.3, 0.2, 0.4), regtype = "ll")
  expect_identical(engine_fit(data, task, threads = 3L), engine_fit(data, task))
})
