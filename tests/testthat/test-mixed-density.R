# Densities of mixed data beside np 0.60 (np_density.csv) and the oracle of helper-mixed-density.R.

np_density <- utils::read.csv(test_path("fixtures", "np_density.csv"), colClasses = c(
  bw = "character", rows = "character", fitted = "character"
))
parts_of_text <- function(text) as.numeric(strsplit(text, ";")[[1]])
np_density_data <- list(
  "npudens faithful" = datasets::faithful,
  "npudens iris2" = datasets::iris[c("Petal.Length", "Species")],
  "npudens mtmix" = transform(datasets::mtcars[c("mpg", "cyl", "gear")], cyl = factor(cyl), gear = ordered(gear))
)
density_rows <- which(np_density$set %in% names(np_density_data))
# cv.ls of tied data has no largest value: there np's bandwidths are nearly 0.
bounded <- !(np_density$method == "cv.ls" & np_density$set != "npudens mtmix")

density_task_of <- function(h, lambda, ...) {
  utils::modifyList(list(h = h, lambda = lambda, ckertype = "gaussian", ckerorder = 2L, ukertype = "aitchisonaitken",
                         okertype = "liracine", method = "cv.ml"), list(...))
}

test_that("np's objectives and densities are the oracle's", {
  for (k in intersect(density_rows, which(np_density$method != "normal-reference"))) {
    row <- np_density[k, ]
    frame <- np_density_data[[row$set]]
    order <- mixed_order(frame)
    bw <- parts_of_text(row$bw)
    data <- mixed_data(frame, numeric(nrow(frame)))
    task <- density_task_of(bw[order$continuous], bw[c(order$unordered, order$ordered)], method = row$method)
    expect_equal(-density_objective(data, task)$value, row$fval, tolerance = 1e-9, info = paste(row$set, row$method))
    fit <- density_fit(data, task)$density
    expect_equal(fit[parts_of_text(row$rows)], parts_of_text(row$fitted), tolerance = 1e-9)
  }
})

test_that("objectives are no worse than np's, with np's bandwidths where np found the same maximum", {
  for (k in intersect(density_rows, which(bounded))) {
    row <- np_density[k, ]
    bw <- npudensbw(dat = np_density_data[[row$set]], bwmethod = row$method)
    of <- parts_of_text(row$bw)
    if (row$method == "normal-reference") {
      expect_equal(bw$bw, of, tolerance = 1e-10)
      expect_identical(bw$fval, NA_real_)
      next
    }
    expect_gte(bw$fval, row$fval - 1e-9 * abs(row$fval))
    inside <- bw$bw > 1e-5 & of > 1e-5
    same <- bw$fval - row$fval < 1e-9 * abs(row$fval)
    if (same) expect_equal(bw$bw[inside], of[inside], tolerance = 1e-4, info = row$set)
  }
})

test_that("densities at np's bandwidths are np's, and so are their likelihoods", {
  for (k in density_rows) {
    row <- np_density[k, ]
    fit <- npudens(bws = parts_of_text(row$bw), tdat = np_density_data[[row$set]], bwmethod = "cv.ml")
    expect_equal(fit$dens[parts_of_text(row$rows)], parts_of_text(row$fitted), tolerance = 1e-9)
    expect_equal(fit$log_likelihood, row$loglik, tolerance = 1e-9)
  }
})

# ---- Numbers alone, by engines ------------------------------------------------------------------------------------

# The product of normal densities with standard deviations s at all differences.
normal_products <- function(frame, s) {
  Reduce(`*`, Map(function(x, s) stats::dnorm(outer(x, x, "-"), sd = s), frame, s))
}

test_that("densities of numbers are sums of normal densities with every engine", {
  h <- c(0.3, 4, 0.2)
  engines <- character(0)
  for (d in 1:3) {
    n <- c(700, 1500, 500)[d]
    frame <- with_seed(d, data.frame(a = rnorm(n), b = 10 * rexp(n), c = runif(n))[seq_len(d)])
    at <- function(method) {
      npudensbw(dat = frame, bws = h[seq_len(d)], bandwidth.compute = FALSE, bwmethod = method)
    }
    kernels <- normal_products(frame, h[seq_len(d)])
    fit <- npudens(at("cv.ml"))
    expect_equal(fit$dens, rowMeans(kernels), tolerance = 1e-11)
    expect_equal(fit$derr, sqrt((rowMeans(kernels^2) - rowMeans(kernels)^2) / (n - 1)), tolerance = 1e-9)
    diag(kernels) <- 0
    expect_equal(at("cv.ml")$fval, sum(log(rowSums(kernels) / (n - 1))), tolerance = 1e-11)
    square <- mean(normal_products(frame, sqrt(2) * h[seq_len(d)]))
    expect_equal(at("cv.ls")$fval, 2 * sum(kernels) / (n * (n - 1)) - square, tolerance = 1e-11)
    engines <- c(engines, at("cv.ml")$engine, at("cv.ls")$engine)
  }
  expect_setequal(engines, c("nodes", "fgt", "fourier", "direct"))
})

test_that("bandwidths of numbers do not depend on the number of threads or on units", {
  frame <- with_seed(2, data.frame(a = rnorm(1000), b = rexp(1000)))
  for (method in c("cv.ml", "cv.ls")) {
    one <- npudensbw(dat = frame, bwmethod = method, nmulti = 1, threads = 1)
    expect_identical(npudensbw(dat = frame, bwmethod = method, nmulti = 1, threads = 3)$bw, one$bw)
    other <- npudensbw(dat = data.frame(a = 1e120 * frame$a, b = frame$b / 1e120), bwmethod = method, nmulti = 1)
    expect_equal(other$bw, one$bw * c(1e120, 1e-120), tolerance = 1e-6)
  }
})

# ---- The engine beside the oracle ---------------------------------------------------------------------------------

density_frame_of <- with_seed(20261126, data.frame(
  a = round(rnorm(30), 2), z = factor(sample(c("p", "q", "r"), 30, TRUE), c("p", "q", "r", "none")),
  b = runif(30, -1, 5), o = ordered(sample(1:4, 30, TRUE)), f = factor(sample(c("u", "v"), 30, TRUE))
))

engine_density <- function(data, task, given = !density_parts(data)) {
  run <- run_options(1L, "cpu")
  task$given <- as.integer(given)
  sample <- mixed_cpp(data, run)
  list(objective = mixed_density_objective_cpp(sample, task, TRUE, run),
       fit = mixed_density_cpp(sample, task, NULL, FALSE, run))
}

expect_density <- function(data, task, info, given = !density_parts(data), gradient = FALSE) {
  data$y <- numeric(0)
  for (method in c("cv.ml", "cv.ls")) {
    task$method <- method
    found <- engine_density(data, task, given)
    reference <- density_objective(data, task, given)
    expect_equal(found$objective$value, reference$value, tolerance = 1e-9, info = paste(info, method))
    expect_equal(found$objective$unsupported, reference$unsupported, info = paste(info, method))
    if (gradient) {
      expect_equal(found$objective$gradient, density_gradient(data, task, given), tolerance = 1e-6,
                   info = paste(info, method))
    }
  }
  fit <- density_fit(data, task, given = given)
  supported <- is.finite(fit$density)
  expect_equal(found$fit$density[supported], fit$density[supported], tolerance = 1e-10, info = info)
  expect_equal(found$fit$se[supported], fit$se[supported], tolerance = 1e-8, info = info)
}

conditions <- list(none = rep(FALSE, 5), mixed = c(FALSE, TRUE, FALSE, TRUE, FALSE))

test_that("objectives and densities are the oracle's for every kernel and order", {
  data <- mixed_data(density_frame_of, numeric(30))
  for (given in conditions) {
    for (ckertype in kernel_names()) {
      # The tests of the core have all orders.
      orders <- if (any(given)) 4L else c(2L, 8L)
      for (order in if (ckertype %in% c("gaussian", "epanechnikov")) orders else 2L) {
        task <- density_task_of(c(1.903, 2.417), c(0.3, 0.2, 0.4), ckertype = ckertype, ckerorder = order)
        expect_density(data, task, paste(ckertype, order), given)
      }
    }
    for (ukertype in c("aitchisonaitken", "liracine")) {
      for (okertype in c("liracine", "wangvanryzin", "racineliyan")) {
        task <- density_task_of(c(0.7, 1.1), c(0.3, 0.2, 0.4), ukertype = ukertype, okertype = okertype)
        expect_density(data, task, paste(ukertype, okertype), given, TRUE)
      }
    }
  }
})

test_that("awkward samples have the oracle's objectives", {
  of <- function(x, z, o) {
    frame <- data.frame(x = x, z = z, o = o)
    mixed_data(frame, numeric(nrow(frame)))
  }
  n <- 20
  x <- with_seed(3, stats::rnorm(n))
  z <- factor(rep(c("a", "b"), n / 2))
  o <- ordered(rep(1:4, n / 4))
  samples <- list(
    three = of(x[1:3], z[1:3], o[1:3]), ties = of(round(x), z, o),
    constant = of(x, factor(rep("a", n), c("a", "b")), o),
    empty = of(x, factor(z, c("a", "b", "none")), o), outlier = of(replace(x, 4, 1e6), z, o)
  )
  for (name in names(samples)) {
    for (given in list(rep(FALSE, 3), c(TRUE, FALSE, FALSE), c(FALSE, TRUE, FALSE))) {
      if (name == "outlier" && given[1]) next # no neighbour for what is given: tested below
      expect_density(samples[[name]], density_task_of(0.8, c(0.2, 0.3)), name, given)
    }
  }
})

test_that("an observation far from all others has np's least density, and decides on the bandwidth", {
  x <- c(with_seed(4, stats::rnorm(20)), 1e6)
  bw <- npudensbw(dat = x, bws = 1, bandwidth.compute = FALSE)
  expect_identical(bw$n.unsupported, 1L)
  rest <- npudensbw(dat = x[1:20], bws = 1, bandwidth.compute = FALSE)
  expect_equal(bw$fval, rest$fval + 20 * log(19 / 20) + log(.Machine$double.xmin), tolerance = 1e-12)
})

# ---- Properties ---------------------------------------------------------------------------------------------------

test_that("densities integrate to one, and weights of levels sum to one", {
  frame <- data.frame(x = with_seed(5, stats::rnorm(15)), z = factor(rep(c("a", "b", "c"), 5)),
                      o = ordered(rep(1:3, each = 5)))
  x <- seq(-12, 12, by = 0.02)
  points <- expand.grid(x = x, z = levels(frame$z), o = levels(frame$o))
  points$o <- ordered(points$o, levels(frame$o))
  for (ckertype in c("gaussian", "epanechnikov")) {
    for (order in c(2, 4, 6, 8)) {
      fit <- npudens(tdat = frame, bws = c(0.9, 0.3, 0.4), edat = points, ckertype = ckertype, ckerorder = order,
                     ukertype = if (order == 2) "liracine" else "aitchisonaitken", okertype = "racineliyan")
      expect_equal(sum(fit$dens) * 0.02, 1, tolerance = 1e-5, info = paste(ckertype, order))
    }
  }
})

test_that("the order of rows, columns and levels does not matter", {
  frame <- np_density_data[["npudens mtmix"]]
  bw <- npudensbw(dat = frame)
  rows <- npudensbw(dat = frame[32:1, ])
  expect_equal(rows$bw, bw$bw, tolerance = 1e-5)
  columns <- npudensbw(dat = frame[3:1])
  expect_equal(rev(columns$bw), bw$bw, tolerance = 1e-5)
  expect_equal(columns$fval, bw$fval, tolerance = 1e-10)
  levels <- transform(frame, cyl = factor(cyl, c("8", "4", "6")))
  expect_equal(npudensbw(dat = levels)$bw, bw$bw, tolerance = 1e-5)
  fixed <- npudens(bws = c(2, 0.1, 0.2), tdat = frame)
  expect_equal(npudens(bws = c(2, 0.1, 0.2), tdat = frame[32:1, ])$dens, rev(fixed$dens), tolerance = 1e-13)
})

test_that("other units change bandwidths and densities as they must", {
  frame <- np_density_data[["npudens mtmix"]]
  one <- npudens(tdat = frame)
  frame$mpg <- 1024 * frame$mpg
  other <- npudens(tdat = frame)
  expect_equal(other$bw / c(1024, 1, 1), one$bw, tolerance = 1e-4)
  expect_equal(1024 * other$dens, one$dens, tolerance = 1e-5)
})

test_that("standard errors are those of a simulation", {
  # 200 samples: the standard error of a standard deviation is 5 %.
  levels <- c("a", "b", "c")
  point <- data.frame(x = 0.3, z = factor("b", levels))
  found <- with_seed(20261127, t(replicate(200, {
    frame <- data.frame(x = stats::rnorm(200), z = factor(sample(levels, 200, TRUE, c(5, 3, 2)), levels))
    fit <- npudens(bws = c(0.5, 0.3), tdat = frame, edat = point)
    c(fit$dens, fit$derr)
  })))
  expect_equal(mean(found[, 2]), stats::sd(found[, 1]), tolerance = 0.15)
})

test_that("scaled bandwidths, starts, edited objects and points are the same densities", {
  frame <- np_density_data[["npudens mtmix"]]
  bw <- npudensbw(dat = frame)
  scaled <- npudensbw(dat = frame, bwscaling = TRUE)
  expect_equal(scaled$bandwidth$x, bw$bw, tolerance = 1e-5)
  expect_equal(scaled$bw, bw$sfactor$x, tolerance = 1e-5)
  expect_equal(npudens(scaled)$dens, npudens(bw)$dens, tolerance = 1e-5)
  expect_equal(npudensbw(dat = frame, bws = c(3, 0.1, 0.1), nmulti = 1)$fval, bw$fval, tolerance = 1e-9)
  edited <- bw
  edited$bw[1] <- 5
  fit <- npudens(edited)
  expect_equal(fit$dens, npudens(bws = edited$bw, tdat = frame)$dens, tolerance = 1e-14)
  expect_equal(predict(fit, edat = frame[3:1, ]), fit$dens[3:1], tolerance = 1e-14)
  expect_equal(npudens(bw, tdat = frame[1:10, ])$ntrain, 10)
  expect_identical(npudensbw(bws = bw, dat = frame, bandwidth.compute = FALSE)$bw, bw$bw)
})

test_that("formulas, vectors and matrices are the same data", {
  bw <- npudensbw(~ eruptions + waiting, data = faithful)
  expect_equal(npudensbw(dat = as.matrix(faithful))$bw, bw$bw)
  expect_equal(npudens(~ eruptions + waiting, faithful)$dens, npudens(bw)$dens)
  expect_equal(npudens(~ eruptions, faithful)$dens, npudens(tdat = faithful$eruptions)$dens)
  logs <- npudens(~ log(eruptions), faithful)
  expect_equal(predict(logs, data.frame(eruptions = 2)), npudens(logs$bws, edat = log(2))$dens)
  expect_equal(update(logs, bws = 0.3)$bw, 0.3)
  expect_equal(formula(logs), ~ log(eruptions), ignore_attr = TRUE)
  expect_identical(nobs(logs), 272L)
})

test_that("missing values follow the one policy", {
  frame <- np_density_data[["npudens mtmix"]]
  frame$mpg[2] <- NA
  fit <- suppressMessages(npudens(~ mpg + cyl, frame, na.action = stats::na.exclude))
  expect_length(fitted(fit), 32)
  expect_identical(which(is.na(se(fit))), 2L)
  expect_identical(fit$rows.omit, 2L)
  expect_error(npudens(~ mpg + cyl, frame, na.action = stats::na.fail), class = "kestrel_error_input")
  points <- data.frame(mpg = c(NA, 20, 20), cyl = c("4", "5", "4"))
  expect_warning(at <- predict(fit, points), class = "kestrel_warning_support")
  expect_identical(is.na(at), c(TRUE, TRUE, FALSE))
})

test_that("cv.ls of tied data warns where it has no largest value", {
  expect_warning(npudensbw(dat = rep(0:1, 20), bwmethod = "cv.ls"), class = "kestrel_warning_search")
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    fit <- npudens(~ mpg + factor(cyl) + ordered(gear), data = mtcars, nmulti = 1)
    shown(fit)
    shown(summary(fit))
    shown(fit$bws)
    shown(summary(fit$bws))
    shown(npudens(bws = c(0.3, 4), tdat = faithful, edat = faithful[1:3, ]))
    shown(suppressMessages(npudensbw(dat = faithful, bwmethod = "normal-reference", ckertype = "uniform")))
  })
  expect_snapshot_output(say(
    expect_warning(npudensbw(dat = rep(0:1, 20), bwmethod = "cv.ls"), class = "kestrel_warning_search"),
    expect_message(npudensbw(dat = c(1:200, 1e7)), class = "kestrel_message"),
    expect_message(npudensbw(dat = faithful, bwmethod = "normal-reference", ckertype = "uniform"),
                   class = "kestrel_message"),
    expect_warning(predict(npudens(~ factor(cyl), mtcars), data.frame(cyl = c(4, 5))),
                   class = "kestrel_warning_support")
  ))
})

test_that("mistakes are refused", {
  bw <- npudensbw(dat = faithful)
  expect_refused(
    npudensbw(mpg ~ cyl, data = mtcars), npudensbw(~ 1, data = mtcars), npudensbw(~ a:b, data = mtcars),
    npudensbw(dat = letters), npudensbw(dat = rep(1, 5)), npudensbw(dat = 1), npudensbw(dat = c(1, Inf, 3)),
    npudensbw(dat = faithful, bws = 1), npudensbw(dat = faithful, bandwidth.compute = FALSE), npudensbw(),
    npudensbw(dat = faithful, bwmethod = "cv.aic"), npudensbw(dat = faithful, bwtype = "adaptive_nn"),
    npudensbw(dat = faithful, ckerorder = 3), npudensbw(dat = faithful, data = faithful),
    npudensbw(dat = faithful, kernel = "gaussian"), npudens(bws = c(1, -1), tdat = faithful), npudens(bws = 1),
    npudens(bw, edat = 1:3), npudens(bw, bwmethod = "cv.ls"), npudens(bw, newdata = faithful, edat = faithful),
    predict(npudens(bw), newdata = data.frame(a = 1)), predict(npudens(bw), 1, exdat = 2),
    npudens(structure(list(), class = "kestrel_densbw")), plot(npudens(bw), xtrim = 2), npudensbw(dat = seq(1, 3e9))
  )
})

test_that("plots show densities along each column, or a surface, and return them", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fit <- npudens(~ mpg + factor(cyl), data = mtcars)
  expect_identical(plot(fit), fit)
  data <- plot(fit, plot.behavior = "data", neval = 7)
  expect_named(data, c("d1", "d2"))
  expect_length(data$d1$dens, 7)
  expect_equal(data$d2$dens, predict(fit, data.frame(mpg = stats::median(mtcars$mpg), cyl = c(4, 6, 8))))
  surface <- plot(npudensbw(dat = faithful), plot.behavior = "plot-data", neval = 5)
  expect_length(surface$d1$dens, 25)
})
