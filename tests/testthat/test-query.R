# kde_query(): answers from a density.

line_boxes <- list(c(-Inf, Inf), c(-Inf, 0.3), c(0.3, Inf), c(-1, 1.5), c(0.7, 0.7 + 1e-6), c(3, 4), c(-2.5, -2.49))

test_that("the oracle itself: moments of one kernel that are known", {
  for (kernel in all_kernels) {
    second <- kernel_constants(kernel, 1L)$second_moment
    whole <- reference_query(2, 0.5, -Inf, Inf, kernel = kernel)
    expect_equal(unlist(whole), c(share = 1, sum = 2, mean = 2, var = 0.25 * second), tolerance = 1e-12, info = kernel)
  }
  # half a normal density
  half <- reference_query(0, 1, 0, Inf)
  expect_equal(unlist(half), c(share = 0.5, sum = 1 / sqrt(2 * pi), mean = sqrt(2 / pi), var = 1 - 2 / pi),
               tolerance = 1e-12)
  # in two dimensions both oracles agree, and P(X > 0, Y > 0) is 1/4 + asin(rho) / (2 pi)
  x <- rbind(c(0, 0), c(1, -0.5))
  for (kernel in c("gaussian", "uniform")) {
    if (kernel == "gaussian") {
      expect_equal(reference_query_2d(x, diag(c(1, 4)), c(-0.5, -1), c(1, 2), of = 2),
                   reference_query(x, c(1, 2), c(-0.5, -1), c(1, 2), of = 2), tolerance = 1e-10)
    }
    quadrant <- reference_query_2d(matrix(0, 1, 2), matrix(c(1, 0.6, 0.6, 1), 2), c(0, 0), c(Inf, Inf), kernel = kernel)
    expect_equal(quadrant$share, 0.25 + asin(0.6) / (2 * pi), tolerance = 1e-10, info = kernel)
  }
})

test_that("closed forms on a line agree with quadrature, for every kernel, weighted", {
  x <- with_seed(301, c(rnorm(8), 0.7, 4))
  w <- with_seed(302, runif(10))
  for (kernel in all_kernels) {
    fhat <- kde(x, h = 0.6, w = w, kernel = kernel, compute.cont = FALSE)
    for (box in line_boxes) {
      reference <- reference_query(x, 0.6, box[1], box[2], w = w, kernel = kernel)
      if (reference$share > 0) expect_query(fhat, box[1], box[2], reference, info = paste(kernel, deparse(box)))
    }
  }
})

test_that("a box far from the data, and data far from zero", {
  fhat <- kde(c(0, 1), h = 0.5)
  for (box in list(c(5, Inf), c(-8, -7), c(6, 6.01))) {
    expect_query(fhat, box[1], box[2], reference_query(c(0, 1), 0.5, box[1], box[2]), tol = 1e-9, info = deparse(box))
  }
  # differences of these are exact, so all answers are those of the data shifted to zero
  x <- with_seed(303, round(rnorm(20) * 1024) / 1024)
  far <- queried(kde(2^30 + x, h = 0.25), 2^30 - 0.5, 2^30 + 0.75)
  near <- queried(kde(x, h = 0.25), -0.5, 0.75)
  expect_equal(far$share, near$share, tolerance = 1e-14)
  expect_lt(abs(far$mean - 2^30 - near$mean), 2^-22) # the spacing of doubles there
  expect_equal(far$var, near$var, tolerance = 1e-9)
})

test_that("product kernels in several dimensions agree with quadrature", {
  x <- with_seed(304, matrix(rnorm(24), 8, 3, dimnames = list(NULL, c("a", "b", "c"))))
  w <- with_seed(305, runif(8))
  h <- c(0.5, 1, 2)
  boxes <- list(list(c(-0.5, -Inf, -1), c(1, Inf, 2)), list(c(0, 0, 0), c(0.1, 3, Inf)))
  for (kernel in all_kernels) for (box in boxes) for (of in 1:3) {
    fhat <- kde(x, H = diag(h^2), w = w, kernel = kernel, kernel_type = "product", eval.points = x)
    reference <- reference_query(x, h, box[[1]], box[[2]], of, w, kernel)
    if (reference$share > 0) expect_query(fhat, box[[1]], box[[2]], reference, of, info = paste(kernel, of))
  }
})

test_that("a Gaussian kernel with any bandwidth matrix agrees with nested quadrature", {
  x <- with_seed(306, matrix(rnorm(6), 3))
  w <- c(1, 2, 0.5)
  for (rho in c(0.3, -0.95)) {
    H <- matrix(c(1, rho * 2, rho * 2, 4), 2) / 4
    fhat <- kde(x, H = H, w = w, eval.points = x)
    # Every pair of a correlation, a box and a variable.
    for (of in 1:2) {
      box <- list(list(c(-0.5, -1), c(1, 0.5)), list(c(0, -Inf), c(Inf, 0.2)))[[if (rho > 0) of else 3 - of]]
      reference <- reference_query_2d(x, H, box[[1]], box[[2]], of, w)
      expect_query(fhat, box[[1]], box[[2]], reference, of, info = paste(rho, of))
    }
  }
  # the orthant probability of three normal variables: 1/8 + the sum of asin(rho) / (4 pi)
  H <- matrix(0.5, 3, 3) + diag(0.5, 3)
  fhat <- kde(matrix(0, 1, 3), H = H, eval.points = matrix(0, 1, 3))
  expect_equal(kde_query(fhat, c(0, 0, 0))$count, 1 / 8 + 3 * asin(0.5) / (4 * pi), tolerance = 1e-12)
  # small correlations in five dimensions, for two and for three variables that are independent of each other
  H <- diag(5)
  H[1, 2] <- H[2, 1] <- 0.1
  H[3, 4] <- H[4, 3] <- 0.05
  H[3, 5] <- H[5, 3] <- -0.08
  H[4, 5] <- H[5, 4] <- 0.02
  fhat <- kde(matrix(0, 1, 5), H = H, eval.points = matrix(0, 1, 5))
  expect_equal(kde_query(fhat, rep(0, 5))$count,
               (1 / 4 + asin(0.1) / (2 * pi)) * (1 / 8 + sum(asin(c(0.05, -0.08, 0.02))) / (4 * pi)), tolerance = 1e-12)
})

test_that("radial polynomial kernels with any bandwidth matrix agree with nested quadrature", {
  x <- with_seed(316, matrix(rnorm(6), 3))
  w <- c(1, 2, 0.5)
  for (kernel in c("epanechnikov", "triweight")) for (rho in c(0, 0.8)) {
    H <- matrix(c(1, rho * 2, rho * 2, 4), 2)
    fhat <- kde(x, H = H, w = w, eval.points = x, kernel = kernel)
    for (of in 1:2) {
      box <- list(list(c(-0.5, -1), c(1, 0.5)), list(c(0, -Inf), c(Inf, 0.2)))[[if (rho > 0) of else 3 - of]]
      reference <- reference_query_2d(x, H, box[[1]], box[[2]], of, w, kernel)
      expect_query(fhat, box[[1]], box[[2]], reference, of, info = paste(kernel, rho, of))
    }
  }
  # three dimensions: an orthant of any elliptical kernel
  H <- matrix(0.5, 3, 3) + diag(0.5, 3)
  fhat <- kde(matrix(0, 1, 3), H = H, eval.points = matrix(0, 1, 3), kernel = "epanechnikov")
  expect_equal(kde_query(fhat, c(0, 0, 0))$count, 1 / 8 + 3 * asin(0.5) / (4 * pi), tolerance = 1e-11)
})

test_that("the number of threads does not change an answer", {
  x <- with_seed(317, matrix(rnorm(4000), ncol = 2))
  fhat <- kde(x, H = diag(2) / 9, eval.points = x[1:2, ])
  lower <- x[1:500, ] - 0.7
  upper <- x[1:500, ] + 0.5
  old <- kestrel_threads(1)
  on.exit(kestrel_threads(old))
  one <- kde_query(fhat, lower, upper, "var", 1)
  kestrel_threads(2)
  expect_identical(kde_query(fhat, lower, upper, "var", 1), one)
  expect_identical(kde_query(fhat, lower, upper, "var", 1, threads = 1), one)
})

test_that("the whole space holds N, and disjoint boxes add up", {
  x <- with_seed(307, matrix(rnorm(60), 20) %*% matrix(c(1, 0.5, 0, 0, 1, 0.3, 0, 0, 1), 3))
  colnames(x) <- c("a", "b", "c")
  cuts <- c(-Inf, -1, 0.2, 0.21, Inf)
  for (H in list(diag(3) / 4, cov(x[, 1:2]) / 4)) {
    d <- ncol(H)
    fhat <- kde(x[, 1:d], H = H, eval.points = x[, 1:d])
    expect_equal(kde_query(fhat)$count, 20, tolerance = 1e-14)
    expect_equal(kde_query(fhat, N = 1e6)$count, 1e6, tolerance = 1e-14)
    cells <- as.matrix(expand.grid(rep(list(1:4), d)))
    from <- matrix(cuts[cells], ncol = d)
    to <- matrix(cuts[cells + 1], ncol = d)
    expect_equal(sum(kde_query(fhat, from, to)$count), 20, tolerance = 1e-13)
    parts <- kde_query(fhat, from, to, "sum", of = "b")$sum
    expect_equal(sum(parts), kde_query(fhat, fun = "sum", of = "b")$sum, tolerance = 1e-11)
    expect_equal(sum(parts) / 20, mean(x[, "b"]), tolerance = 1e-11)
  }
  expect_equal(kde_query(kde(x[, 1], h = 0.3), c(-1, 0), c(0, 1))$count,
               20 * diff(pkde(c(-1, 0, 1), kde(x[, 1], h = 0.3))), tolerance = 1e-13)
})

test_that("bounded data: counts of the box where the kernel works", {
  x <- with_seed(308, rexp(30))
  fhat <- kde(x, h = 0.4, positive = TRUE, adj.positive = 0)
  expect_equal(kde_query(fhat, c(-1, 0.5), c(0.5, 2))$count, 30 * diff(pkde(c(-1, 0.5, 2), fhat)), tolerance = 1e-13)
  expect_identical(kde_query(fhat, -2, -1)$count, 0)
})

test_that("boxes without mass: zero rows, no mean", {
  fhat <- kde(c(1, 2, 3), h = 0.5, kernel = "epanechnikov")
  expect_identical(kde_query(fhat, 10, 11)$count, 0)
  expect_identical(kde_query(fhat, 10, 11, "sum", "x")$sum, 0)
  expect_identical(kde_query(fhat, 10, 11, "mean", "x")$mean, NA_real_)
  expect_identical(kde_query(fhat, 10, 11, "var", "x")$var, NA_real_)
  expect_identical(kde_query(fhat, 2, 2)$count, 0)
})

test_that("forms of boxes: vectors, matrices, data frames, by name", {
  x <- with_seed(309, cbind(a = rnorm(20), b = rnorm(20)))
  fhat <- kde(x, H = diag(2) / 4, eval.points = x)
  one <- kde_query(fhat, c(-1, 0), c(1, 2))
  expect_s3_class(one, "data.frame")
  expect_named(one, c("count", "lower", "upper"))
  expect_identical(rownames(one), "1")
  expect_named(kde_query(fhat, c(-1, 0), c(1, 2), "mean", "b"), c("mean", "lower", "upper", "count"))
  expect_identical(kde_query(fhat, rbind(c(-1, 0), c(-1, 0)), c(1, 2)), one[c(1, 1), ], ignore_attr = TRUE)
  expect_identical(kde_query(fhat, data.frame(b = 0, a = -1), c(a = 1, b = 2)), one)
  expect_identical(kde_query(fhat, c(b = 0)), kde_query(fhat, c(-Inf, 0), c(Inf, Inf)))
  expect_identical(kde_query(fhat, upper = c(a = 1)), kde_query(fhat, c(-Inf, -Inf), c(1, Inf)))
  expect_identical(nrow(kde_query(fhat, matrix(0, 0, 2))), 0L)
  expect_identical(kde_query(fhat, NULL, c(1, 2)), kde_query(fhat, upper = c(1, 2)))
  expect_identical(kde_query(fhat, c(-1, 0), NULL), kde_query(fhat, c(-1, 0)))
  expect_identical(kde_query(fhat, NULL, NULL), kde_query(fhat))
})

test_that("conditions are boxes", {
  x <- with_seed(310, cbind(price = rexp(30, 1e-3), carat = rexp(30)))
  fhat <- kde(x, H = diag(c(1e5, 0.1)), eval.points = x)
  low <- 1000
  box <- kde_query(fhat, c(1000, -Inf), c(2000, 1), "mean", "price")
  # strict limits are numbers next to the given one
  expect_same <- function(actual, expected) expect_equal(actual, expected, tolerance = 1e-12)
  expect_identical(kde_query(fhat, price >= 1000 & price <= 2000 & carat <= 1, mean(price)), box)
  expect_same(kde_query(fhat, price > 1000 & price <= 2000 & carat < 1, mean(price)), box)
  expect_identical(kde_query(fhat, (low <= price) & (2 * low >= price && 1 >= carat), mean(price)), box)
  expect_identical(kde_query(fhat, between(price, low, 2000) & carat <= 1, mean(price)), box)
  expect_identical(kde_query(fhat, dplyr::between(price, low, 2000) & carat <= 1, mean(price)), box)
  expect_same(kde_query(fhat, price > 500 & price > 1000 & price < 2000 & price < 1e9 & 1 > carat, mean(price)), box)
  expect_identical(kde_query(fhat, price >= 1000), kde_query(fhat, c(1000, -Inf)))
  expect_identical(kde_query(fhat, price >= 1000, n()), kde_query(fhat, c(1000, -Inf)))
  many <- c(100, 1000)
  expect_same(kde_query(fhat, price > many & carat < 1, var(carat)),
              kde_query(fhat, cbind(price = many, carat = -Inf), c(Inf, 1), "var", "carat"))
  expect_same(kde_query(fhat, price > -Inf & carat < Inf), kde_query(fhat))
  # values are looked up where the call is made
  f <- function(fhat, limit) kde_query(fhat, price > limit)
  expect_identical(f(fhat, 1000), kde_query(fhat, price > 1000))
  # limits of one variable may have names
  line <- kde(x[, "price"], h = 300)
  limits <- stats::quantile(x[, "price"], c(0.1, 0.5))
  expect_identical(kde_query(line, limits), kde_query(line, unname(limits)))
  # a column of a table is not a variable of the estimate
  table <- data.frame(price = c(900, 1100))
  expect_identical(kde_query(fhat, table[["price"]][1] + table$price[2] / 11 < price), kde_query(fhat, price > 1000))
  expect_identical(kde_query(fhat, price > base::c(table$price - 100)[2]), kde_query(fhat, price > 1000))
  # a computed box is not a condition
  expect_identical(kde_query(fhat, -c(1, 2) + 1, c(1000, 2)), kde_query(fhat, c(0, -1), c(1000, 2)))
})

test_that("intervals of an estimate from a sample: their definition", {
  x <- with_seed(311, cbind(a = rnorm(40), b = rnorm(40)))
  w <- rep(c(1, 3), 20)
  fhat <- kde(x, H = diag(2) / 4, w = w, eval.points = x)
  answer <- kde_query(fhat, c(-0.5, -1), c(1, 2), N = 1000, level = 0.9)
  q <- sum(w[x[, 1] >= -0.5 & x[, 1] <= 1 & x[, 2] >= -1 & x[, 2] <= 2]) / 80
  p <- answer$count / 1000
  n <- sum(w)^2 / sum(w^2)
  # Wilson's limits are the shares that differ from q by z of their own standard deviations
  limit <- function(range) {
    uniroot(function(t) (q - t)^2 - qnorm(0.95)^2 * (1 - n / 1000) * t * (1 - t) / n, range, tol = 1e-14)$root
  }
  error <- max(abs(c(limit(c(0, q)), limit(c(q, 1))) - p))
  expect_equal(c(answer$lower, answer$upper), 1000 * (p + c(-1, 1) * error), tolerance = 1e-10)
  # the higher the level, the wider the interval; it ends at no and at all rows
  wide <- kde_query(fhat, c(-0.5, -1), c(1, 2), N = 1000, level = 0.99)
  expect_true(wide$lower < answer$lower && wide$upper > answer$upper)
  edges <- kde_query(fhat, rbind(c(-9, -9), c(-9, 2.9)), rbind(c(9, 1.5), c(-3, 9)), N = 1000)
  expect_identical(c(edges$upper[1], edges$lower[2]), c(1000, 0))
  # for the whole table only the effect of smoothing remains
  whole <- kde_query(kde(x, H = diag(2) / 4, eval.points = x), c(-0.5, -1), c(1, 2))
  inside <- sum(x[, 1] >= -0.5 & x[, 1] <= 1 & x[, 2] >= -1 & x[, 2] <= 2)
  expect_equal(c(whole$lower, whole$upper), whole$count + c(-1, 1) * abs(whole$count - inside), tolerance = 1e-12)
  # The estimate is inside, not at an end.
  boxes <- kde_query(kde(faithful), eruptions > c(2, 3, 4) & waiting < 80)
  expect_true(all(boxes$lower < boxes$count & boxes$count < boxes$upper))
})

test_that("rows on a limit are in the box or not, as the condition says", {
  fhat <- kde(rep(-1:3, 10), h = 0.2)
  # for the whole table the interval ends at the rows in the box
  nearer <- function(answer, rows) unlist(answer[c("lower", "upper")])[[if (rows < answer$count) "lower" else "upper"]]
  expect_rows <- function(answer, rows) expect_equal(nearer(answer, rows), rows)
  expect_rows(kde_query(fhat, x < 2), 30)
  expect_rows(kde_query(fhat, x <= 2), 40)
  expect_rows(kde_query(fhat, 0 < x & x < 3), 20)
  expect_rows(kde_query(fhat, between(x, 0, 2)), 30)
  expect_rows(kde_query(fhat, -1, 1), 30)
  expect_equal(kde_query(fhat, x < 2)$count, kde_query(fhat, x <= 2)$count, tolerance = 1e-12)
})

test_that("bad input is refused", {
  x <- with_seed(314, cbind(price = rexp(30), carat = rexp(30)))
  fhat <- kde(x, H = diag(2), eval.points = x)
  positive <- kde(x[, 1], h = 1, positive = TRUE)
  radial <- kde(x, H = diag(2), eval.points = x, kernel = "cosine")
  wide <- kde(cbind(x, x), H = diag(4), eval.points = cbind(x, x), kernel = "epanechnikov")
  narrow <- suppressWarnings(kde(x, H = matrix(c(1, 1 - 1e-13, 1 - 1e-13, 1), 2), eval.points = x))
  six <- cbind(x, x, x)
  six <- kde(six, H = 0.5^abs(outer(1:6, 1:6, "-")), eval.points = six)
  frame <- data.frame(price = "cheap", carat = 1)
  expect_refused(
    kde_query(1, 0, 1),
    kde_query(kde_synopsis(c(0, 1, 1e200), h = 1), 0, 1),
    kde_query(fhat, c(1, 2), c(0, 3)),
    kde_query(fhat, 1, 2),
    kde_query(fhat, c(1, NA), c(2, 3)),
    kde_query(fhat, c(1, 0), matrix(0, 2, 3)),
    kde_query(fhat, matrix(0, 2, 2), matrix(1, 3, 2)),
    kde_query(fhat, c(depth = 1)),
    kde_query(fhat, frame),
    kde_query(fhat, "a"),
    kde_query(fhat, c(0, 0), c(1, 1), "median"),
    kde_query(fhat, c(0, 0), c(1, 1), "mean"),
    kde_query(fhat, c(0, 0), c(1, 1), "mean", "depth"),
    kde_query(fhat, c(0, 0), c(1, 1), "mean", 3),
    kde_query(fhat, c(0, 0), c(1, 1), "count", "price"),
    kde_query(fhat, N = -1),
    kde_query(fhat, level = 1),
    kde_query(fhat, threads = 0),
    kde_query(positive, 1, 2, "mean", 1),
    kde_query(radial, c(0, 0), c(1, 1)),
    kde_query(wide, rep(0, 4), rep(1, 4)),
    kde_query(narrow, c(0, 0), c(1, 1)),
    kde_query(six, rep(0, 6), rep(1, 6))
  )
})

test_that("conditions that are no box are refused", {
  x <- with_seed(315, cbind(price = rexp(30), carat = rexp(30)))
  fhat <- kde(x, H = diag(2), eval.points = x)
  frame <- data.frame(price = 1)
  expect_refused(
    kde_query(fhat, price == 1),
    kde_query(fhat, price != 1),
    kde_query(fhat, cut %in% c("Good", "Fair")),
    kde_query(fhat, price > carat),
    kde_query(fhat, price > 2 * carat),
    kde_query(fhat, price > max(carat$price)),
    kde_query(fhat, price > stop("evaluated") & carat < 1),
    kde_query(fhat, carat < 1 & price > system("touch evaluated")),
    kde_query(fhat, price > (function() 1)()),
    kde_query(fhat, price > kestrel::c(1)),
    kde_query(fhat, price > x[1, ]),
    kde_query(fhat, price > fhat$x[[2]](1)),
    kde_query(fhat, price > frame$no_column),
    kde_query(fhat, price > as.Date("2020-01-01")),
    kde_query(fhat, grepl("a", price) | carat < 1),
    kde_query(fhat, !carat),
    kde_query(fhat, price < Inf & price > Inf),
    kde_query(fhat, price / 2 > 1),
    kde_query(fhat, depth > 1),
    kde_query(fhat, between(depth, 1, 2)),
    kde_query(fhat, between(price, 1)),
    kde_query(fhat, price > "a"),
    kde_query(fhat, price > NA),
    kde_query(fhat, price > no_such_limit),
    kde_query(fhat, price > 1 & TRUE),
    kde_query(fhat, price > 2 & price < 1),
    kde_query(fhat, price > c(0, 1) & price <= 1),
    kde_query(fhat, price > 1:2 & carat < 1:3),
    kde_query(fhat, price > 1, mean(price / carat)),
    kde_query(fhat, price > 1, mean(depth)),
    kde_query(fhat, price > 1, mean(price, na.rm = TRUE)),
    kde_query(fhat, price > 1, count(price)),
    kde_query(fhat, price > 1, 3),
    kde_query(fhat, price > 1, mean(price), fun = "sum")
  )
})

test_that("q-errors: definition, table and picture", {
  found <- q_error(c(10, 20, 0, 5), c(20, 10, 1, 5))
  expect_identical(found$errors[, 1], c(2, 2, 1, 1))
  expect_identical(as.vector(found$table), c(1.5, 2, 2, 2))
  # counts below one row count as one row
  expect_identical(unname(q_error(0.2, 0)$errors[1, 1]), 1)
  expect_identical(unname(q_error(50, 0)$errors[1, 1]), 50)
  several <- q_error(data.frame(synopsis = c(1, 2, 3), sample = c(1, 4, 30)), c(1, 2, 3))
  expect_equal(several$table, rbind(synopsis = c(median = 1, `95%` = 1, `99%` = 1, max = 1),
                                    sample = c(median = 2, `95%` = 9.2, `99%` = 9.84, max = 10)))
  expect_snapshot_output(shown(several))
  expect_gt(drawn(plot(several)), 0)
  expect_refused(
    q_error("a", 1),
    q_error(1:2, 1),
    q_error(-1, 1),
    q_error(1, -1),
    q_error(NA_real_, 1),
    q_error(numeric(0), numeric(0))
  )
})
