# Sketches of two and three variables, beside the same of all data in memory. The core's tests compare their cells and
# sums with long double, and every partition and instruction set (tests/cpp/sketch/test-grid-sketch.cpp).

grid_samples <- function() {
  n <- 3000
  pair <- function(x, y) cbind(a = x, b = y)
  normal <- pair(rnorm(n), rnorm(n))
  list(
    normal = normal, correlated = normal %*% matrix(c(1, 0, 0.8, 0.6), 2L, dimnames = list(NULL, c("a", "b"))),
    offset = 1e9 + normal, skewed = pair(rexp(n), rnorm(n)), ties = round(normal, 1),
    outliers = rbind(normal, c(60, -60)), far = rbind(normal, c(1e6, -1e6), c(-3e6, 0)),
    decades = normal * rep(c(1e-9, 1e6), each = n)
  )
}

# Cells for bandwidths not much below the plug-in's.
plan_for <- function(x, by = 1, H = Hpi(x)) {
  sketch_plan(x, hmin = by * sqrt(diag(H) / diag(solve(cov2cor(H)))))
}

in_three_parts <- function(x, plan) {
  part <- rep(1:3, length.out = nrow(x))
  do.call(c, lapply(3:1, function(k) kde_sketch(x[part == k, , drop = FALSE], plan)))
}

test_that("tied rows of full tiles count as they do in memory", {
  rows <- with_seed(9, cbind(a = rnorm(6e4), b = rnorm(6e4)))
  for (digits in list(NA, 1)) {
    x <- if (is.na(digits)) rows else round(rows, digits)
    s <- kde_sketch(x, sketch_plan(x, hmin = 0.03))
    expect_gt(summary(s)$cells[["full"]], 10)
    theirs <- with_remarks(Hlscv(x, type = "scalar"))
    ours <- with_remarks(Hlscv(s, type = "scalar"))
    expect_identical(without_pairs(ours$remarks), without_pairs(theirs$remarks))
    expect_length(ours$remarks, as.integer(!is.na(digits)))
    pairs <- sum(as.numeric(table(paste(x[, 1L], x[, 2L])))^2) - 6e4
    expect_lte(abs(summary(s)$ties - pairs / 6e4), 4 * sqrt(2 / 65536) * (pairs / 6e4 + 1))
    expect_identical(as_sketch(as.data.frame(s), sketch_plan(x, hmin = 0.03)), s)
  }
})

test_that("selectors and densities are those of the data", {
  samples <- with_seed(1, grid_samples())
  for (name in names(samples)) {
    x <- samples[[name]]
    pilot <- Hpi(x)
    plan <- plan_for(x, H = pilot)
    s <- in_three_parts(x, plan)
    expect_gt(summary(s)$cells[["full"]], 0)
    expect_identical(s, kde_sketch(x, plan))
    # Searches end where steps no longer change a criterion, which is flat at its minimum.
    same <- function(take, tolerance, ...) {
      reference_problem(take(s, ...), take(x, ...), tolerance, info = paste(name, deparse(substitute(take))))
    }
    H <- 2 * pilot
    at <- rbind(x[1:5, ], colMeans(x))
    expect_no_problem(list(
      same(Hns, 1e-12), same(Hns, 1e-12, deriv.order = 1), same(Hpi.diag, 1e-6),
      reference_problem(Hpi(s), pilot, 1e-6, info = paste(name, "Hpi")),
      if (match(name, names(samples)) %% 2 == 1) same(Hscv, 1e-6) else same(Hscv.diag, 1e-6),
      same(lscv, 1e-11, H = H),
      reference_problem(kde(s, H = H, eval.points = at)$estimate, kde(x, H = H, eval.points = at)$estimate, 1e-11,
                        info = paste(name, "kde")),
      reference_problem(summary(s)$sd, apply(x, 2L, sd), 1e-12, info = paste(name, "sd"))
    ))
  }
  x <- samples$correlated
  s <- kde_sketch(x, plan_for(x, 0.7))
  expect_gt(summary(s)$cells[["full"]], 0)
  expect_equal(Hlscv(s), Hlscv(x), tolerance = 1e-6)
  expect_equal(Hlscv.diag(s), Hlscv.diag(x), tolerance = 1e-6)
  expect_equal(Hlscv(s, type = "scalar"), Hlscv(x, type = "scalar"), tolerance = 1e-6, ignore_attr = "path")
  expect_equal(Hpi(s, pilot = "unconstr"), Hpi(x, pilot = "unconstr"), tolerance = 1e-6)
  ours <- kde(s)
  theirs <- kde(x, xmin = sapply(ours$eval.points, min), xmax = sapply(ours$eval.points, max))
  expect_equal(ours$H, theirs$H, tolerance = 1e-6)
  expect_equal(ours$estimate, theirs$estimate, tolerance = 1e-6)
  expect_equal(predict(ours, x[1:3, ]), predict(theirs, x[1:3, ]), tolerance = 1e-6)
  expect_equal(unname(ours$cont), unname(theirs$cont), tolerance = 0.1)
})

test_that("three variables", {
  x <- with_seed(2, matrix(rnorm(9000), 3000))
  s <- in_three_parts(x, sketch_plan(x, hmin = 0.4))
  expect_gt(summary(s)$cells[["full"]], 0)
  H <- 0.5^2 * diag(3) + 0.02
  expect_equal(lscv(s, H = H), lscv(x, H = H), tolerance = 1e-9)
  expect_equal(Hns(s), Hns(x), tolerance = 1e-11)
  at <- rbind(x[1:3, ], 0)
  expect_equal(kde(s, H = H, eval.points = at)$estimate, kde(x, H = H, eval.points = at)$estimate, tolerance = 1e-9)
})

test_that("weights", {
  n <- 2000
  rows <- with_seed(3, data.frame(a = rnorm(n), b = rexp(n), w = rexp(n)^2, other = "c"))
  rows$w[1:9] <- 0
  x <- as.matrix(rows[c("a", "b")])
  plan <- sketch_plan(rows, column = c("a", "b"), w = "w", hmin = c(0.3, 0.3))
  s <- in_three_parts(rows, plan)
  expect_identical(s, kde_sketch(rows[rows$w > 0, ], plan))
  expect_no_problem(list(
    reference_problem(Hns(s), Hns(x, w = rows$w), 1e-11),
    reference_problem(Hpi(s), Hpi(x, w = rows$w), 1e-6),
    reference_problem(lscv(s, H = diag(0.2, 2)), lscv(x, H = diag(0.2, 2), w = rows$w), 1e-11),
    reference_problem(kde(s, H = diag(0.3, 2), eval.points = x[10:12, ])$estimate,
                      kde(x, H = diag(0.3, 2), eval.points = x[10:12, ], w = rows$w)$estimate, 1e-11)
  ))
  expect_snapshot_output({
    print(plan)
    print(s)
  })
})

test_that("few rows are kept, and serve every bandwidth and engine", {
  x <- as.matrix(faithful)
  s <- kde_sketch(faithful, sketch_plan(faithful))
  expect_identical(summary(s)$cells[["full"]], 0)
  expect_equal(Hlscv(s), Hlscv(x), tolerance = 1e-6)
  expect_equal(lscv(s, H = diag(c(1e-4, 1e-2))), lscv(x, H = diag(c(1e-4, 1e-2))))
  expect_snapshot_output(print(s))
  unnamed <- kde_sketch(unname(x), sketch_plan(unname(x)))
  expect_snapshot_output(print(unnamed))
  expect_equal(Hns(unnamed), unname(Hns(x)), ignore_attr = TRUE)
})

test_that("sources, bytes and refusals", {
  x <- with_seed(4, cbind(a = rnorm(2000), b = rnorm(2000)))
  plan <- sketch_plan(x, hmin = 0.2)
  s <- kde_sketch(x, plan)
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  utils::write.csv(data.frame(x, other = "c"), file, row.names = FALSE)
  read <- utils::read.csv(file)
  expect_identical(kde_sketch(file, plan), kde_sketch(read, plan))
  k <- 0
  chunks <- function(reset = FALSE) {
    if (reset) k <<- 0 else if (k < 4) x[500 * (k <<- k + 1) - 499:0, 2:1]
  }
  expect_identical(kde_sketch(chunks, plan), s)
  expect_identical(update(kde_sketch(x[1:7, ], plan), rbind(x[-(1:7), ], c(NA, 1)), na.action = na.omit), s)
  expect_identical(as_sketch(s$bytes), s)
  expect_identical(s + kde_sketch(x[0L, ], plan), s)
  frame <- as.data.frame(s)
  expect_identical(as_sketch(frame[rev(seq_len(nrow(frame))), ], plan), s)
  empty <- kde_sketch(x[0L, ], plan)
  expect_identical(as_sketch(as.data.frame(empty), plan), empty)
  line <- kde_sketch(x[, "a"], sketch_plan(x[, "a"], column = "a"))
  fine <- Hns(x) / 100
  expect_error(Hpi(s, backend = "cuda"), class = "kestrel_error_backend")
  expect_refused(
    sketch_plan(x, column = c("a", "a")),
    sketch_plan(x, column = c("a", "c")),
    sketch_plan(cbind(x, x)),
    sketch_plan(x, hmin = 1:3),
    sketch_plan(x, hmin = 1e200),
    kde_sketch(x[, 1L], plan),
    kde_sketch(unname(x), plan),
    kde_sketch(rbind(x, c(1, NA)), plan),
    kde_sketch(rbind(x, c(1, 1e20)), plan),
    kde_sketch(data.frame(a = 1, b = "z"), plan),
    s + line,
    s + kde_sketch(x, sketch_plan(x, hmin = c(0.2, 0.4))),
    as_sketch(s$bytes[-1L]),
    as_sketch(replace(s$bytes, 200L, !s$bytes[200L])),
    as_sketch(data.frame(key = 1), plan),
    as_sketch(transform(frame, part = "none"), plan),
    as_sketch(frame[frame$part != "cell" | frame$key1 %% 2 == 0, ], sketch_plan(x, hmin = 0.4)),
    as_sketch(frame[-which(frame$part == "sum")[1L], ], plan),
    as_sketch(transform(frame, hi = ifelse(part == "cell", -hi, hi)), plan),
    as_sketch(rbind(frame, frame[frame$part == "cell", ]), plan),
    as_sketch(transform(frame, value1 = ifelse(part == "row", NA, value1)), plan),
    sketch_sql(plan, "t"),
    Hpi(kde_sketch(x[0L, ], plan)),
    Hpi(kde_sketch(x[1L, , drop = FALSE], plan)),
    Hpi(kde_sketch(x[rep(1L, 999), ], plan)),
    Hpi(s, w = 1:3),
    Hlscv(s, engine = "direct"),
    hpi(s),
    lscv(s, H = fine),
    kde(s, H = fine),
    kde(s, H = Hns(x), kernel = "epanechnikov"),
    kde(s, H = Hns(x), engine = "direct"),
    kde(s, H = Hns(x), positive = TRUE),
    kdde(s)
  )
})

test_that("sketches of several columns know bounds and periods", {
  x <- with_seed(71, cbind(rexp(20000), runif(20000)))
  s <- kde_sketch(x, sketch_plan(x, hmin = c(0.1, 0.05)))
  expect_gt(summary(s)$cells[["full"]], 5)
  H <- diag(c(0.04, 0.01))
  bounds <- cbind(c(0, 0), c(Inf, 1))
  at <- rbind(c(0, 0), c(0.5, 1), c(1, 0.3), c(3, 0.99), c(-1, 0.5), c(40, 0.5))
  fhat <- kde(s, H = H, bounds = bounds, gridsize = c(13, 12))
  same <- kde(x, H = H, bounds = bounds, gridsize = c(13, 12))
  expect_close_to_reference(fhat$estimate, same$estimate)
  expect_close_to_reference(predict(fhat, x = at), predict(same, x = at))
  turned <- list(H = H, period = c(NA, 0.7), eval.points = at)
  expect_close_to_reference(do.call(kde, c(list(s), turned))$estimate,
                            quietly(do.call(kde, c(list(x), turned)))$estimate)
  expect_snapshot(error = TRUE, {
    kde(s, period = c(NA, 0.2))
    kde(s, H = H + 0.001, bounds = bounds)
    kde(s, H = H, bounds = cbind(c(0, 0.5), Inf))
  })
})

test_that("bandwidths of sketches of several columns with bounds or periods are those of data in memory", {
  # The least value of a criterion has more digits than the place.
  expect_same_criterion <- function(x, hmin, bounds, tolerance = 1e-11, w = NULL, period = NULL, info) {
    source <- if (is.null(w)) x else cbind(x, w = w)
    s <- kde_sketch(source, sketch_plan(source, hmin = hmin, w = if (!is.null(w)) "w"))
    expect_gt(summary(s)$cells[["full"]], 0)
    select <- function(x, ...) {
      quietly(kde(x, bounds = bounds, period = period, gridsize = 3, compute.cont = FALSE, ...))$selector
    }
    expect_equal(select(s)$objective, select(x, w = w)$objective, tolerance = tolerance, info = info)
  }
  with_seed(72, {
    x <- cbind(a = rexp(20000), b = runif(20000))
    w <- rexp(20000)
    hmin <- c(0.05, 0.02)
    expect_same_criterion(x, hmin, cbind(c(0, 0), c(Inf, 1)), info = "three bounds")
    expect_same_criterion(x, hmin, cbind(c(0, 0), c(Inf, 1)), w = w, info = "weights")
    expect_same_criterion(-x, hmin, cbind(c(-Inf, -1.01), c(0.03, Inf)), info = "upper")
    expect_same_criterion(x, hmin, cbind(c(-Inf, 0), Inf), info = "one bound")
    expect_same_criterion(1e6 + 0.3 + x, hmin, cbind(1e6 + c(0.3, 0.3), 1e6 + c(Inf, 1.4)), info = "offset")
    expect_same_criterion(round(x, 1), hmin, cbind(c(0, 0), c(Inf, 1)), info = "ties")
    far <- cbind(c(150, 150.02, 150.01), c(0.001, 0.004, 1))
    expect_same_criterion(rbind(x, far), hmin, cbind(c(0, 0), c(Inf, 1)), info = "outliers")
    expect_same_criterion(cbind(runif(30000), 0.3 * rexp(30000), 0.3 * rnorm(30000)), c(0.07, 0.03, 0.07),
                          cbind(c(0, 0, -Inf), c(1, Inf, Inf)), tolerance = 1e-8, info = "three columns")
    # Around the beginning of the period, and away from its middle.
    hours <- cbind(a = rnorm(20000, 0, 1.5) %% 24, b = 1e6 + rexp(20000))
    hours <- rbind(hours, cbind(c(11.9, 12, 12.2), 1e6 + 9))
    with_weights <- rexp(nrow(hours))
    hmin <- c(0.1, 0.05)
    expect_same_criterion(hours, hmin, NULL, period = c(24, NA), info = "period")
    expect_same_criterion(hours, hmin, NULL, period = c(24, NA), w = with_weights, info = "period, weights")
    expect_same_criterion(hours, hmin, cbind(c(0, 1e6), c(24, Inf)), period = c(24, NA), info = "period and bound")
    turns <- 24 * rep(c(0, 3), length.out = nrow(hours))
    expect_same_criterion(hours + cbind(turns, 0), hmin, NULL, period = c(24, NA), info = "turns")
    expect_same_criterion(cbind((0.3 * rnorm(30000)) %% 3, 0.3 * rexp(30000), 0.3 * rnorm(30000)),
                          c(0.07, 0.03, 0.07), NULL, period = c(3, NA, NA), tolerance = 1e-8,
                          info = "period, three columns")
    # Everywhere, so that cells are divided between the ends.
    angles <- 360 * cbind(rbeta(3e5, 2, 2), runif(3e5))
    expect_same_criterion(angles, c(6, 6), NULL, period = c(360, 360), tolerance = 1e-5, info = "two periods")
  })
  spread <- with_seed(73, cbind(exp(2 * rnorm(20000)), runif(20000)))
  expect_snapshot(error = TRUE, {
    kde(kde_sketch(x, sketch_plan(x, hmin = 0.2)), bounds = cbind(c(0, 0), Inf))
    kde(kde_sketch(spread, sketch_plan(spread, hmin = c(0.05, 0.02))), bounds = cbind(c(0, 0), Inf))
  })
})
