# Regressions of sketches, beside those of the data in memory.

sketched_rows <- with_seed(1, {
  x <- c(rnorm(5900), rt(100, 2))
  data.frame(y = 5 + sin(2 * x) + rnorm(6000) / 3, x = x, other = 1)
})
sketched_plan <- sketch_plan(sketched_rows, column = "x", y = "y", hmin = 0.08)
sketched <- kde_sketch(sketched_rows, sketched_plan)

test_that("partitions change no byte", {
  parts <- with_seed(2, split(sketched_rows[sample(6000), ], sample(7, 6000, TRUE)))
  sketches <- lapply(unname(parts), kde_sketch, plan = sketched_plan, threads = 1)
  expect_identical(do.call(c, rev(sketches)), sketched)
  expect_identical(as_sketch(sketched$bytes), sketched)
  expect_identical(update(sketches[[1L]], do.call(rbind, parts[-1L])), sketched)
  missing <- rbind(sketched_rows, data.frame(y = c(NA, 1), x = c(1, NA), other = 1))
  expect_identical(kde_sketch(missing, sketched_plan, na.action = na.omit), sketched)
  x <- sketched_rows["x"]
  alone <- kde_sketch(x, sketch_plan(x, hmin = 0.08))
  expect_identical(hpi(sketched, scalest = "stdev"), hpi(alone, scalest = "stdev"))
  expect_identical(kde(sketched, h = 0.4)$estimate, kde(alone, h = 0.4)$estimate)
})

test_that("bandwidths, curves and fits are those of the data", {
  rows <- sketched_rows[c(1:1960, 5961:6000), ]
  sketched <- kde_sketch(rows, sketched_plan)
  for (regtype in c("lc", "ll")) {
    for (method in c("cv.ls", "cv.aic")) {
      ours <- npregbw(sketched, regtype = regtype, bwmethod = method)
      theirs <- npregbw(xdat = rows$x, ydat = rows$y, regtype = regtype, bwmethod = method)
      expect_equal(ours$bw, theirs$bw, tolerance = 1e-5)
      at_ours <- npregbw(xdat = rows$x, ydat = rows$y, bws = ours$bw, bandwidth.compute = FALSE, regtype = regtype,
                         bwmethod = method)
      expect_equal(ours$fval, at_ours$fval, tolerance = 1e-12)
    }
    grid <- c(0.05, 0.07, 0.3, 20)
    # The least value may be at an end.
    ours <- suppressWarnings(npregbw(sketched, grid, regtype = regtype))
    theirs <- suppressWarnings(npregbw(xdat = rows$x, ydat = rows$y, bws = grid, regtype = regtype))
    expect_lt(max(abs(ours$cv / theirs$cv - 1)), 1e-12)
    at <- c(-1, 0, 0.5, max(rows$x), max(rows$x) + 0.5)
    ours <- npregbw(sketched, 0.3, bandwidth.compute = FALSE, regtype = regtype)
    theirs <- npregbw(xdat = rows$x, ydat = rows$y, bws = 0.3, bandwidth.compute = FALSE, regtype = regtype)
    expect_equal(predict(ours, c(at, NA)), c(predict(theirs, exdat = at), NA), tolerance = 1e-10)
    expect_identical(predict(ours, data.frame(x = at)), predict(ours, at))
  }
  kept <- kde_sketch(rows[1:40, ], sketched_plan)
  expect_equal(npregbw(kept)$bw, npregbw(y ~ x, rows[1:40, ])$bw)
})

test_that("a plan follows from a pilot", {
  plan <- sketch_plan(sketched_rows, column = "x", y = "y")
  expect_lt(plan$hmin, npregbw(y ~ x, sketched_rows)$bw / 8)
  expect_identical(2^plan$response_exponent, 2^(floor(log2(sd(sketched_rows$y))) + 3))
  # Responses that do not depend on x, and equal ones.
  noise <- with_seed(5, data.frame(x = runif(4000), y = rnorm(4000), c = 7))
  s <- kde_sketch(noise, sketch_plan(noise, column = "x", y = "y", hmin = 0.05))
  expect_message(bw <- npregbw(s), "infinite")
  expect_equal(predict(bw, 0.5), mean(noise$y), tolerance = 1e-12)
  s <- kde_sketch(noise, sketch_plan(noise, column = "x", y = "c", hmin = 0.05))
  expect_equal(npregbw(s, 0.1, bandwidth.compute = FALSE)$fval, 0)
  # Tied rows, whose responses have no spread in their cells.
  tied <- data.frame(x = rep(1:9, 20), y = rep((1:9)^2, 20))
  s <- kde_sketch(tied, sketch_plan(tied, column = "x", y = "y", hmin = 4))
  for (regtype in c("lc", "ll")) {
    fval <- function(...) npregbw(..., bws = 5, bandwidth.compute = FALSE, regtype = regtype)$fval
    expect_equal(fval(s), fval(xdat = tied$x, ydat = tied$y), tolerance = 1e-11)
  }
})

test_that("prints and refusals", {
  bw <- npregbw(sketched, 0.3, bandwidth.compute = FALSE)
  expect_snapshot_output({
    print(sketched_plan)
    print(sketched)
    print(bw)
    print(suppressWarnings(npregbw(sketched, c(0.05, 0.1, 0.4), regtype = "ll")))
  })
  expect_warning(npregbw(sketched, c(0.2, 0.4)), class = "kestrel_warning_search")
  plain <- kde_sketch(sketched_rows["x"], sketch_plan(sketched_rows["x"], hmin = 0.08))
  wide <- kde_sketch(sketched_rows, sketch_plan(sketched_rows, column = "x", y = "y", hmin = 8))
  expect_refused(
    sketch_plan(sketched_rows, column = "x", y = "z"),
    sketch_plan(sketched_rows, column = "x", y = 1),
    sketch_plan(sketched_rows, column = "x", y = "y", w = "other"),
    sketch_plan(sketched_rows, column = c("x", "other"), y = "y"),
    sketch_plan(data.frame(x = 1:3, y = Inf), column = "x", y = "y"),
    sketch_plan(data.frame(x = 1:3, y = c(0, 1e200, 1)), column = "x", y = "y"),
    kde_sketch(sketched_rows["x"], sketched_plan),
    kde_sketch(data.frame(x = 1, y = 1e12), sketched_plan),
    kde_sketch(data.frame(x = 1, y = NA), sketched_plan),
    sketched + plain,
    as.data.frame(sketched),
    as_sketch(data.frame(), sketched_plan),
    sketch_sql(sketched_plan, "t"),
    as_sketch(sketched$bytes[-1L]),
    as_sketch(replace(sketched$bytes, 300L, !sketched$bytes[300L])),
    npregbw(plain),
    npregbw(kde_sketch(sketched_rows[1L, ], sketched_plan)),
    npregbw(wide),
    npregbw(sketched, 1e-3, bandwidth.compute = FALSE),
    npregbw(sketched, -1),
    npregbw(sketched, bandwidth.compute = FALSE),
    npregbw(sketched, ckertype = "uniform"),
    predict(bw),
    predict(bw, "a"),
    predict(bw, Inf),
    predict(bw, data.frame(z = 1))
  )
})
