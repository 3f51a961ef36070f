# pdf_score(): the mass that densities have in common.

score_data <- function(n = 60, d = 2, shift = 0) {
  with_seed(900 + d, {
    x <- matrix(rnorm(n * d), n, dimnames = list(NULL, c("u", "v", "t", "s", "r", "q")[seq_len(d)]))
    y <- matrix(rnorm(n * d, sd = 1.3), n, dimnames = dimnames(x))
    list(x = scale(x, scale = FALSE)[, ], y = scale(y, scale = FALSE)[, ] + shift)
  })
}

# Estimates on one grid, their values replaced by the densities of N(0, S).
true_normal <- function(S, axes) {
  fhat <- kde(matrix(c(-1, 1, 0, 1, 1, -2, 0.5, 0.2), 4), H = diag(2), kernel = "epanechnikov", compute.cont = FALSE,
              xmin = vapply(axes, min, 0), xmax = vapply(axes, max, 0), gridsize = lengths(axes))
  z <- as.matrix(expand.grid(axes))
  fhat$estimate[] <- exp(-rowSums((z %*% solve(S)) * z) / 2) / (2 * pi * sqrt(det(S)))
  fhat
}

test_that("the score is that of the plain version, at every point of the grid", {
  for (d in 1:6) {
    data <- score_data(30, d)
    h <- c(1.4, 1.4, 1.4, 2.5, 3, 3.5)[d]
    score <- pdf_score(data$x, data$y, h = h, gridsize = c(60, 15, 9, 6, 5, 5)[d])
    expect_true(score$score > 0.1 && score$score < 0.99, info = d)
    points <- as.matrix(expand.grid(score$axes))
    f <- reference_density(points, data$x, h^2 * cov(as.matrix(data$x)), kernel = "epanechnikov")
    g <- reference_density(points, data$y, h^2 * cov(as.matrix(data$y)), kernel = "epanechnikov")
    expect_equal(score$score, c(model = reference_score(score$axes, f, g)), tolerance = 1e-11)
    if (d == 3) {
      cells <- lapply(score$axes, function(axis) reference_cells(list(axis)))
      marginal_of <- function(values, dims) {
        values <- array(values, lengths(score$axes)) * Reduce(outer, lapply(1:3, function(k) {
          if (k %in% dims) rep(1, length(cells[[k]])) else cells[[k]]
        }))
        apply(values, dims, sum)
      }
      for (k in 1:3) {
        expected <- reference_score(score$axes[k], marginal_of(f, k), marginal_of(g, k))
        expect_equal(score$variables[[1, k]], expected, tolerance = 1e-11)
      }
      pairs <- list(c(1, 2), c(1, 3), c(2, 3))
      for (p in 1:3) {
        expected <- reference_score(score$axes[pairs[[p]]], as.vector(marginal_of(f, pairs[[p]])),
                                    as.vector(marginal_of(g, pairs[[p]])))
        expect_equal(score$pairs[[1, p]], expected, tolerance = 1e-11)
      }
      expect_identical(colnames(score$pairs), c("u, v", "u, t", "v, t"))
    }
  }
})

test_that("three normal densities as in fig. 1 of Lopez-Novoa (2015, ch. 8): margins alike, joint density not", {
  axes <- rep(list(seq(-6, 6, length.out = 241)), 2)
  S <- matrix(c(1, 0.75, 0.75, 1), 2)
  first <- true_normal(S, axes)
  third <- true_normal(S * c(1, -1, -1, 1), axes)
  score <- pdf_score(first, list(second = first, third = third))
  # The first density exceeds the third where the signs are equal: the score is twice P(signs differ).
  expect_equal(score$score, c(second = 1, third = 1 - 2 * asin(0.75) / pi), tolerance = 1e-3)
  expect_true(all(score$variables > 0.999))
  # Also by adaptive quadrature over the quarter where both are positive and the third is the smaller one.
  f <- function(x, y) exp(-(x^2 + 1.5 * x * y + y^2) / (2 * (1 - 0.75^2))) / (2 * pi * sqrt(1 - 0.75^2))
  inner <- Vectorize(function(y) stats::integrate(f, 0, Inf, y = y, rel.tol = 1e-9)$value)
  expect_equal(4 * stats::integrate(inner, 0, Inf, rel.tol = 1e-8)$value, 1 - 2 * asin(0.75) / pi, tolerance = 1e-7)
})

test_that("the same from data", {
  with_seed(77, {
    S <- matrix(c(1, 0.75, 0.75, 1), 2)
    g <- list(exact_normal(4000, S), exact_normal(4000, S), exact_normal(4000, S * c(1, -1, -1, 1)))
  })
  score <- pdf_score(g[[1]], list(G2 = g[[2]], G3 = g[[3]]))
  expect_gt(score$score[["G2"]], 0.95)
  expect_lt(abs(score$score[["G3"]] - (1 - 2 * asin(0.75) / pi)), 0.01)
  expect_true(all(score$variables > 0.97))
})

test_that("a score is one for a density and itself, symmetric, within [0, 1], and zero apart", {
  data <- score_data(200, 3)
  expect_equal(pdf_score(data$x, data$x)$score[[1]], 1, tolerance = 0.01)
  expect_lte(pdf_score(data$x, data$x)$score[[1]], 1)
  there <- pdf_score(data$x, data$y, h = 0.7, gridsize = 20)$score
  back <- pdf_score(data$y, data$x, h = 0.7, gridsize = 20)$score
  expect_same_bits(there, back)
  # The default bandwidth is that of the observations.
  few <- data$y[1:50, ]
  expect_identical(suppressWarnings(pdf_score(data$x, few, gridsize = 20))$h, reference_scale(200, 3L, "epanechnikov"))
  expect_identical(suppressWarnings(pdf_score(few, data$x, gridsize = 20))$h, reference_scale(50, 3L, "epanechnikov"))
  apart <- suppressWarnings(pdf_score(data$x, data$y + 100, h = 0.7, gridsize = 30))
  expect_identical(apart$score, c(model = 0))
})

test_that("it does not change with the order of variables, nor with their units", {
  data <- score_data(80, 3)
  size <- c(12, 15, 18)
  score <- pdf_score(data$x, data$y, h = 0.9, gridsize = size)
  turned <- pdf_score(data$x[, c(3, 1, 2)], data$y, h = 0.9, gridsize = size[c(3, 1, 2)])
  expect_equal(turned$score, score$score, tolerance = 1e-12)
  expect_equal(turned$variables[1, c("u", "v", "t")], score$variables[1, ], tolerance = 1e-12)
  unit <- rep(c(1000, 0.01, 1), each = 80)
  expect_equal(pdf_score(data$x * unit, data$y * unit, h = 0.9, gridsize = size)$score, score$score, tolerance = 1e-10)
})

test_that("progress rises to the end and changes nothing", {
  data <- score_data(60, 2)
  score_with <- function(verbose) {
    with_seed(5, pdf_score(data$x, list(one = data$y, two = data$x), sensitivity = 0.7, B = 3, gridsize = 15,
                           verbose = verbose))
  }
  quiet <- score_with(FALSE)
  seen <- numeric(0)
  watched <- function(verbose, label, body) {
    if (!verbose) return(body(NULL))
    expect_identical(label, "PDF score")
    body(function(fraction) seen <<- c(seen, fraction))
  }
  with_binding("with_progress", watched, expect_message(score <- score_with(TRUE), "^2 models, grid 15 x 15[.]"))
  # The data, one more bandwidth and three replicates, with three densities each.
  expect_true(all((seq_len(15) / 15) %in% seen))
  expect_false(is.unsorted(seen))
  expect_identical(score[c("table", "replicates", "sensitivity")], quiet[c("table", "replicates", "sensitivity")])
  # Also with the bar itself.
  expect_message(expect_identical(score_with(TRUE)$score, quiet$score), "2 models")
})

test_that("any number of threads gives the same bits", {
  data <- score_data(200, 3)
  runs <- lapply(1:3, function(threads) {
    with_seed(4, pdf_score(data$x, data$y, B = 3, gridsize = 15, threads = threads))
  })
  for (run in runs[-1]) {
    expect_same_bits(run$score, runs[[1]]$score)
    expect_same_bits(run$replicates, runs[[1]]$replicates)
  }
})

test_that("margins are summed up by the threads and the backend of the score", {
  data <- score_data(60, 2)
  fhat <- kde(data$x, gridsize = 20)
  runs <- list()
  sums <- summed_marginal
  noted <- function(fhat, dims, run) {
    runs <<- c(runs, list(run[c("threads", "backend")]))
    sums(fhat, dims, run)
  }
  with_threads(2L, with_binding("summed_marginal", noted, pdf_score(fhat, fhat, threads = 1)))
  expect_identical(runs, rep(list(list(threads = 1L, backend = "cpu")), 4))
})

test_that("margins never have less in common than the joint density", {
  data <- score_data(50, 4)
  score <- suppressWarnings(pdf_score(data$x, data$y, h = 1.5, gridsize = 11))
  expect_true(all(score$pairs >= score$score))
  for (p in seq_len(ncol(score$pairs))) {
    expect_true(all(score$variables[1, strsplit(colnames(score$pairs)[p], ", ")[[1]]] >= score$pairs[1, p]))
  }
})

test_that("there is a warning for a mean that is off, and centring moves the models", {
  data <- score_data(60, 2)
  off <- data$y + rep(c(0, 0.2 * sd(data$x[, 2])), each = 60)
  expect_warning(score <- pdf_score(data$x, list(good = data$y, bad = off)), "`bad` by 0.2 .* of `v`",
                 class = "kestrel_warning_bias")
  expect_equal(score$bias, rbind(good = c(u = 0, v = 0), bad = c(0, 0.2)), tolerance = 1e-12)
  expect_no_warning(pdf_score(data$x, data$y + rep(c(0.049, -0.049) * apply(data$x, 2, sd), each = 60)))
  expect_no_warning(centred <- pdf_score(data$x, list(good = data$y, bad = off), center = TRUE))
  expect_equal(centred$score[["bad"]], centred$score[["good"]], tolerance = 1e-10)
  expect_equal(centred$bias, score$bias)
})

test_that("several models are ranked, and at other bandwidths, too", {
  data <- score_data(100, 2)
  models <- list(far = data$x * 3, same = data$x, near = data$x * 1.2)
  score <- pdf_score(data$x, models, h = 0.6, sensitivity = c(0.4, 0.8))
  expect_identical(score$table$model, c("same", "near", "far"))
  expect_identical(score$table$rank, 1:3)
  expect_identical(score$table$score, unname(score$score[c("same", "near", "far")]))
  expect_identical(names(score$sensitivity), c("model", "h", "score", "rank"))
  expect_identical(unique(score$sensitivity$h), c(0.4, 0.6, 0.8))
  for (h in c(0.4, 0.8)) {
    part <- score$sensitivity[score$sensitivity$h == h, ]
    alone <- pdf_score(data$x, models, h = h, xmin = vapply(score$axes, min, 0), xmax = vapply(score$axes, max, 0))
    expect_equal(part$score, unname(alone$score), tolerance = 1e-12)
    expect_identical(part$rank, unname(rank(-alone$score, ties.method = "min")))
  }
})

test_that("there is one warning for a grid too coarse for a further bandwidth", {
  data <- score_data(60, 2)
  warned <- character(0)
  withCallingHandlers(pdf_score(data$x, list(a = data$y, b = data$x), h = 0.8, sensitivity = c(0.01, 0.02, 1)),
                      kestrel_warning_grid = function(w) {
                        warned <<- c(warned, conditionMessage(w))
                        invokeRestart("muffleWarning")
                      })
  expect_match(warned, "too coarse for `sensitivity`, 0.01: a kernel covers 0[.]")
  expect_length(warned, 1)
  expect_no_warning(pdf_score(data$x, data$y, h = 0.8, sensitivity = 1))
})

test_that("estimates on one grid give what their data do", {
  data <- score_data(60, 2)
  score <- pdf_score(data$x, data$y, h = 0.8, gridsize = 30)
  on_grid <- function(x) {
    kde(x, H = 0.8^2 * cov(x), kernel = "epanechnikov", gridsize = 30, xmin = vapply(score$axes, min, 0),
        xmax = vapply(score$axes, max, 0))
  }
  estimates <- pdf_score(on_grid(data$x), on_grid(data$y))
  expect_equal(estimates$score, score$score, tolerance = 1e-12)
  expect_equal(estimates$variables, score$variables, tolerance = 1e-12)
  expect_equal(estimates$bias, score$bias, tolerance = 1e-12)
  # Also for a Gaussian kernel.
  gauss <- kde(data$x, gridsize = 60)
  expect_equal(pdf_score(gauss, gauss)$score[[1]], 1, tolerance = 1e-3)
})

test_that("estimates with the same variables in another order are refused", {
  data <- score_data(60, 2)
  on_grid <- function(x) kde(x, kernel = "epanechnikov", gridsize = 30, xmin = c(-6, -6), xmax = c(6, 6))
  obs <- on_grid(data$x)
  turned <- on_grid(data$x[, 2:1])
  expect_error(pdf_score(obs, list(a = obs, b = turned)), "`model.b` must have .* `u`, `v`, not `v`, `u`; marginal",
               class = "kestrel_error_input")
  # In the order of `obs` the score is one; without names there is nothing to compare.
  expect_equal(pdf_score(obs, marginal(turned, 2:1))$score[[1]], pdf_score(obs, obs)$score[[1]], tolerance = 1e-12)
  expect_silent(pdf_score(obs, on_grid(unname(data$x))))
  one <- function(x) kde(x, gridsize = 30, xmin = -6, xmax = 6)
  expect_silent(pdf_score(one(data$x[, 1, drop = FALSE]), one(data$x[, 1])))
  expect_error(pdf_score(one(data$x[, 1, drop = FALSE]), one(data$x[, 2, drop = FALSE])), "`u`, not `v`",
               class = "kestrel_error_input")
})

test_that("the interval is the basic bootstrap's", {
  data <- score_data(60, 2)
  score <- with_seed(8, pdf_score(data$x, data$y, B = 40, level = 0.9, gridsize = 20))
  expect_identical(dim(score$replicates), c(40L, 1L))
  q <- quantile(score$replicates[, 1], c(0.95, 0.05), names = FALSE)
  expect_equal(c(score$table$lower, score$table$upper), pmin(pmax(2 * score$score[[1]] - q, 0), 1), tolerance = 1e-14)
  # The first replicate, computed by hand.
  set.seed(8)
  rows <- replicate(2, sample.int(60, 60, replace = TRUE, prob = rep(1, 60)))
  points <- as.matrix(expand.grid(score$axes))
  f <- reference_density(points, data$x[rows[, 1], ], score$h^2 * cov(data$x), kernel = "epanechnikov")
  g <- reference_density(points, data$y[rows[, 2], ], score$h^2 * cov(data$y), kernel = "epanechnikov")
  expect_equal(score$replicates[[1, 1]], reference_score(score$axes, f, g), tolerance = 1e-11)
})

test_that("rows with missing values are left out when asked", {
  data <- score_data(60, 2)
  holes <- list(x = rbind(data$x, c(NA, 1)), y = rbind(c(0, NaN), data$y))
  score <- pdf_score(holes$x, holes$y, gridsize = 20, na.action = na.omit)
  expect_identical(score$score, pdf_score(data$x, data$y, gridsize = 20)$score)
  expect_identical(score$n, c(obs = 60L, model = 60L))
})

test_that("six variables are enough", {
  x <- with_seed(2, matrix(rnorm(60 * 6), 60))
  score <- suppressWarnings(pdf_score(x, x * 1.1, gridsize = 6))
  expect_length(score$axes, 6)
  expect_identical(dim(score$pairs), c(1L, 15L))
  expect_true(score$score > 0 && score$score <= 1)
})

test_that("a grid above memory is refused with its size", {
  old <- options(kestrel.memory_limit = 1e5)
  on.exit(options(old))
  data <- score_data(30, 3)
  expect_error(pdf_score(data$x, data$y), "51 x 51 x 51 points need", class = "kestrel_error_memory")
})

test_that("bad input is refused", {
  data <- score_data(30, 2)
  fhat <- kde(data$x, gridsize = 10)
  other <- kde(data$x, gridsize = 11)
  at <- kde(data$x, eval.points = data$x)
  renamed <- data$y
  colnames(renamed) <- c("u", "w")
  alike <- data$y
  colnames(alike) <- c("u", "u")
  expect_refused(
    pdf_score(data$x),
    pdf_score(c(1, NA, 2), 1:3),
    pdf_score(data$x, replace(data$y, 3, NA)),
    pdf_score(data$x, list(a = data$y, b = replace(data$y, 3, NA))),
    pdf_score(data$x, data$y[, 1]),
    pdf_score(data$x, renamed),
    pdf_score(alike, alike),
    pdf_score(data$x, alike),
    pdf_score(data$x, list()),
    pdf_score(data$x, "a"),
    pdf_score(data$x, cbind(u = 1, v = 1:9)),
    pdf_score(data$x, list(a = data$y, a = data$y)),
    pdf_score(matrix(rnorm(70), 10), matrix(rnorm(70), 10)),
    pdf_score(data$x, data$y, h = -1),
    pdf_score(data$x, data$y, sensitivity = 0),
    pdf_score(data$x, data$y, B = 1),
    pdf_score(data$x, data$y, B = 9, level = 1),
    pdf_score(data$x, data$y, center = NA),
    pdf_score(fhat, data$y),
    pdf_score(data$x, fhat),
    pdf_score(fhat, other),
    pdf_score(fhat, at),
    pdf_score(fhat, fhat, h = 0.5),
    pdf_score(fhat, fhat, center = TRUE),
    plot(pdf_score(data$x, data$y, gridsize = 10), model = "none")
  )
})

test_that("print, summary, as.data.frame and plots", {
  data <- score_data(100, 3)
  models <- list(near = data$x * 1.2, far = data$y * 2)
  several <- with_seed(1, pdf_score(data$x, models, h = 0.8, gridsize = 20, sensitivity = c(0.6, 1), B = 5))
  one <- pdf_score(data$x[, 1], data$y[, 1], gridsize = 50)
  expect_snapshot_output(shown(several))
  expect_snapshot_output(shown(summary(several)))
  expect_snapshot_output(shown(one))
  expect_identical(as.data.frame(several), several$table)
  expect_gt(drawn(plot(several)), 3)
  expect_gt(drawn(plot(several, model = "far")), 9)
  expect_gt(drawn(plot(several, model = 1)), 9)
  expect_gt(drawn(plot(one)), 3)
  # Graphical parameters that the plots set themselves are accepted.
  expect_gt(drawn(plot(one, las = 0, bty = "n", xlab = "u")), 3)
  expect_gt(drawn(plot(several, las = 0, xlab = "S")), 3)
  expect_gt(drawn(plot(several, model = 1, bty = "n", xlab = "")), 9)
  # Densities that are zero on the grid.
  for (limits in list(c(90, 99), c(-4, 4))) {
    apart <- suppressWarnings(pdf_score(data$x[, 1:2], data$y[, 1:2] + 100, h = 0.8, gridsize = 9,
                                        xmin = rep(limits[1], 2), xmax = rep(limits[2], 2)))
    expect_identical(apart$score[[1]], 0)
    expect_gt(drawn(plot(apart)), 3)
  }
  # Bandwidths that agree in four digits have a column each.
  alike <- pdf_score(data$x[, 1], data$y[, 1], h = 0.512345, sensitivity = 0.5123, gridsize = 50)
  expect_output(print(alike), "h = 0.5123 +h = 0.512345")
})

test_that("the corrected score is within its interval, on the side of the score where replicates are not", {
  x <- with_seed(75, matrix(rnorm(300), ncol = 3))
  score <- with_seed(76, pdf_score(x[1:50, ], list(a = x[51:100, ], b = x[51:100, ] + 0.3), center = TRUE, B = 40,
                                   gridsize = 15))
  table <- score$table
  expect_true(all(table$lower <= table$corrected & table$corrected <= table$upper))
  middle <- apply(score$replicates, 2, median)[table$model]
  expect_equal(table$corrected, pmin(unname(2 * score$score[table$model] - middle), 1), tolerance = 1e-12)
})
