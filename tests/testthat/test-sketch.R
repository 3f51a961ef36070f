# Sketches: sums over parts of the data, beside the same of all data in memory and beside plain R.

# The table of a sketch, from its definition.
reference_sketch <- function(x, exponent) {
  y <- x * 2^-exponent
  key <- floor(y)
  full <- key %in% names(which(table(key) > 16))
  t <- (2 * (y - key) - 1)[full]
  power <- rep(1, length(t))
  sums <- NULL
  for (order in 0:15) {
    quanta <- floor(2^44 * power + 0.5)
    hi <- floor(quanta / 2^22)
    of_cells <- rowsum(cbind(hi = hi, lo = quanta - 2^22 * hi), key[full])
    sums <- rbind(sums, cbind(key = as.numeric(rownames(of_cells)), order, of_cells))
    power <- power * t
  }
  kept <- sort(x[!full])
  list(sums = sums[order(sums[, "key"], sums[, "order"]), ], kept = kept)
}

sketch_lines <- function() {
  list(
    normal = rnorm(3000), skewed = rexp(2000), offset = 1e9 + rnorm(2000), outliers = c(rnorm(2000), 1e6, -3e6),
    ties = round(rnorm(2000), 1), decades = 10^runif(1000, -5, 10), clusters = c(rnorm(999), 50 + rnorm(999) / 100),
    two = c(1, 3.5), few = rnorm(40)
  )
}

test_that("a sketch is the table of its definition", {
  for (x in list(with_seed(1, rnorm(4000)), with_seed(2, 1e9 + rexp(1000)), c(rep(-0.25, 20), -1e-20, 0, 0.5))) {
    plan <- sketch_plan(x, hmin = sd(x))
    frame <- as.data.frame(kde_sketch(x, plan))
    wanted <- reference_sketch(x, plan$exponent)
    frame <- frame[is.na(frame$order) | frame$order >= 0, ]
    is_sum <- !is.na(frame$order)
    got <- frame[is_sum, c("key", "order", "hi", "lo")]
    # The reference does not carry from lo to hi.
    expect_equal(got$hi * 2^22 + got$lo, wanted$sums[, "hi"] * 2^22 + wanted$sums[, "lo"], ignore_attr = TRUE,
                 tolerance = 1e-15)
    expect_identical((got$lo - wanted$sums[, "lo"]) %% 2^22, rep(0, nrow(got)), ignore_attr = TRUE)
    expect_identical(got$key, as.vector(wanted$sums[, "key"]))
    expect_identical(frame$value[!is_sum & !is.na(frame$key)], wanted$kept)
    expect_identical(frame$value[is.na(frame$key)], range(x))
  }
})

test_that("partitions, orders, threads and instruction sets change no byte", {
  x <- with_seed(3, c(rnorm(2e5), rcauchy(2e3)))
  plan <- sketch_plan(x)
  whole <- kde_sketch(x, plan, threads = 1)
  before <- options(kestrel.isa = "auto")
  on.exit(options(before))
  with_seed(4, for (round in 1:6) {
    options(kestrel.isa = sample(kestrel_info()$isa_available, 1L))
    parts <- split(sample(x), sample(c(2, 5, 17)[round %% 3 + 1], length(x), TRUE))
    sketches <- lapply(unname(parts), kde_sketch, plan = plan, threads = round %% 2 + 1)
    sketches <- c(sample(sketches), list(kde_sketch(numeric(0), plan)))
    all <- if (round %% 2) do.call(c, sketches) else Reduce(`+`, sketches)
    expect_identical(all, whole)
  })
  expect_identical(update(kde_sketch(x[1:7], plan), x[-(1:7)]), whole)
})

test_that("selectors and densities are those of the data", {
  lines <- with_seed(5, sketch_lines())
  for (name in names(lines)) {
    x <- lines[[name]]
    plan <- sketch_plan(x)
    parts <- split(x, rep(1:3, length.out = length(x)))
    s <- do.call(c, lapply(unname(parts), kde_sketch, plan = plan))
    expect_no_problem(list(
      reference_problem(hns(s), hns(x), info = paste(name, "hns")),
      reference_problem(hns(s, 2), hns(x, 2), info = paste(name, "hns")),
      reference_problem(hpi(s, scalest = "stdev"), hpi(x, scalest = "stdev"), 1e-11, info = paste(name, "hpi")),
      reference_problem(hpi(s), hpi(x), 1e-3, info = paste(name, "hpi, minim")),
      reference_problem(summary(s)$sd, sd(x), 1e-12, info = paste(name, "sd"))
    ))
    ours <- suppressWarnings(hlscv(s, amise = TRUE))
    theirs <- suppressWarnings(hlscv(x, amise = TRUE))
    expect_no_problem(reference_problem(ours$curve$objective, theirs$curve$objective, 1e-11,
                                        info = paste(name, "LSCV")))
    expect_equal(ours$ties, theirs$ties, info = name)
    g <- hns(x) * c(0.5, 1)
    expect_no_problem(list(
      reference_problem(psi(s, g, 6), psi(x, g, 6), 1e-11, info = paste(name, "psi")),
      reference_problem(lscv(s, h = g), lscv(x, h = g), 1e-11, info = paste(name, "lscv"))
    ))
    h <- max(hpi(s), 4 * plan$hmin)
    at <- c(x[1:2], mean(x), max(x) + h)
    expect_no_problem(list(
      reference_problem(kde(s, h = h)$estimate, kde(x, h = h)$estimate, 1e-12, info = paste(name, "kde")),
      reference_problem(predict(kde(s, h = h), at), predict(kde(x, h = h), at), 1e-12, info = paste(name, "predict"))
    ))
  }
  # Of smoothed cross-validation the criterion is a small difference of its terms.
  x <- lines$normal
  expect_equal(hscv(kde_sketch(x, sketch_plan(x))), hscv(x), tolerance = 1e-6)
  expect_equal(hlscv(kde_sketch(x, sketch_plan(x)), deriv.order = 1), hlscv(x, deriv.order = 1), tolerance = 1e-6)
})

test_that("weights", {
  n <- 3000
  kinds <- with_seed(10, list(some = rexp(n), zeros = rep(0:2, length.out = n), decades = 10^runif(n, -6, 6)))
  x <- with_seed(11, rnorm(n))
  for (name in names(kinds)) {
    rows <- data.frame(x, w = kinds[[name]], other = "a")
    plan <- sketch_plan(rows, column = "x", w = "w", hmin = 0.1)
    parts <- split(rows, rep(1:3, length.out = n))
    s <- do.call(c, lapply(unname(rev(parts)), kde_sketch, plan = plan))
    expect_identical(s, kde_sketch(rows, plan))
    expect_identical(s, kde_sketch(rows[rows$w > 0, ], plan))
    w <- rows$w
    both <- function(take, ...) {
      reference_problem(take(s, ...), take(x, ..., w = w), 1e-11, info = paste(name, deparse(substitute(take))))
    }
    expect_no_problem(list(
      both(hns), both(hpi, scalest = "stdev"), both(lscv, h = c(0.2, 0.7)), both(psi, g = 0.3, r = 6),
      reference_problem(summary(s)$n_eff, sum(w)^2 / sum(w^2)),
      reference_problem(kde(s, h = 0.5)$estimate, kde(x[w > 0], h = 0.5, w = w[w > 0])$estimate)
    ))
    expect_equal(kde(s, h = 0.5)$n_eff, sum(w)^2 / sum(w^2))
    suppressWarnings(expect_equal(hlscv(s, deriv.order = 1), hlscv(x, deriv.order = 1, w = w), tolerance = 1e-6))
  }
  # few enough to be kept
  few <- data.frame(x = c(1, 2.5, 2.5, 7), w = c(1, 2, 0, 4))
  s <- kde_sketch(few, sketch_plan(few, column = "x", w = "w"))
  expect_equal(hpi(s), hpi(few$x, w = few$w))
  expect_equal(suppressWarnings(hlscv(s)), suppressWarnings(hlscv(few$x, w = few$w)))
  expect_identical(as_sketch(s$bytes), s)
  plan <- sketch_plan(few, column = "x", w = "w", hmin = 1)
  expect_identical(kde_sketch(rbind(few, c(1, NA), c(NA, 1)), plan, na.action = na.omit), kde_sketch(few, plan))
  light <- transform(few, w = w / 2^12)
  bounded <- sketch_plan(few, column = "x", w = "w", hmin = 1, bounded = TRUE)
  expect_identical(update(kde_sketch(few[1:2, ], bounded), few[-(1:2), ]), kde_sketch(few, bounded))
  expect_identical(as_sketch(kde_sketch(few, bounded)$bytes), kde_sketch(few, bounded))
  expect_identical(sketch_plan(few, column = "x", bounded = TRUE), sketch_plan(few, column = "x"))
  expect_snapshot_output({
    print(plan)
    print(bounded)
    print(s)
    print(kde(s, h = 1)$n_eff)
  })
  expect_refused(
    sketch_plan(few, column = "x", w = "v"),
    sketch_plan(few, column = "x", w = 1:4),
    sketch_plan(transform(few, w = 0), column = "x", w = "w"),
    kde_sketch(few["x"], plan),
    kde_sketch(1:4, plan),
    kde_sketch(transform(few, w = -w), plan),
    kde_sketch(transform(few, w = 1e9 * w), plan),
    kde_sketch(transform(few, w = w / c(1, 0, 1, 1)), plan),
    kde_sketch(transform(few, w = c(1, NA, 1, 1)), plan),
    s + kde_sketch(few, sketch_plan(light, column = "x", w = "w")),
    kde_sketch(few, plan) + kde_sketch(few, sketch_plan(few, column = "x", hmin = 1)),
    kde_sketch(few, plan) + kde_sketch(few, bounded),
    sketch_plan(few, column = "x", w = "w", bounded = 1),
    hns(kde_sketch(light, plan)),
    as.data.frame(s),
    as_sketch(data.frame(), plan),
    sketch_sql(plan, "t")
  )
})

test_that("the estimate of a sketch is an estimate without data", {
  x <- with_seed(6, rnorm(5000))
  s <- kde_sketch(data.frame(speed = x), sketch_plan(data.frame(speed = x), hmin = 0.2))
  fhat <- kde(s, h = 0.9, gridsize = 50)
  of_data <- kde(x, h = 0.9, gridsize = 50)
  expect_identical(fhat$names, "speed")
  expect_identical(fhat$n, 5000)
  expect_equal(fhat$cont, grid_levels(list(fhat$eval.points), fhat$estimate, (99:1) / 100))
  expect_equal(kde(s, h = 0.9, eval.points = c(-1, 2))$estimate, predict(of_data, c(-1, 2)))
  expect_equal(dkde(0.5, fhat), dkde(0.5, of_data))
  expect_identical(unserialize(serialize(fhat, NULL)), fhat)
  expect_refused(
    kde(s, h = 0.3, w = 1:2),
    kde(s, h = 0.3, kernel = "uniform"),
    kde(s, h = 0.3, positive = TRUE), kde(s, h = 0.3, bounds = c(2, 9)),
    kde(s, h = 0.3, engine = "direct"),
    kde(s, h = 0.1),
    kde(s),
    pkde(0, fhat),
    contourLevels(kde(s, h = 0.9, eval.points = 0), cont = 50),
    hlscv(s, kernel = "uniform"),
    hlscv(s, hmin = 1e-5),
    Hpi(s),
    psi(s, 1e-3, 4),
    lscv(s, H = diag(2)),
    lscv(kde_sketch(1, sketch_plan(1, hmin = 1)), h = 1)
  )
  expect_error(kde(s, h = 0.3, backend = "cuda"), class = "kestrel_error_backend")
  expect_error(hpi(s, backend = "cuda"), class = "kestrel_error_backend")
})

test_that("several processes", {
  skip_on_cran()
  skip_if_not_installed("future.apply")
  x <- with_seed(9, rnorm(1000))
  plan <- sketch_plan(x)
  old <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(old))
  parts <- future.apply::future_lapply(split(x, rep(1:4, 250)), kde_sketch, plan = plan)
  expect_identical(do.call(c, parts), kde_sketch(x, plan))
  # A worker that loads kestrel on the way draws no random numbers, which would be a warning.
  future::plan(future::multisession, workers = 2, gc = TRUE)
  expect_silent(future.apply::future_lapply(1:2, function(k) kestrel::kde_sketch(k, plan)))
})

test_that("a sketch is read from its bytes and from files", {
  s <- kde_sketch(faithful, sketch_plan(faithful, hmin = 2, column = "eruptions"))
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(s, file)
  expect_identical(readRDS(file), s)
  writeBin(s$bytes, file)
  expect_identical(as_sketch(readBin(file, "raw", 1e6)), s)
  expect_identical(as_sketch(s), s)
  changed <- structure(list(bytes = replace(s$bytes, 500, as.raw(1))), class = "kestrel_sketch")
  frame <- as.data.frame(s)
  plan <- sketch_plan(faithful, hmin = 2, column = "eruptions")
  expect_refused(
    print(changed),
    changed + s,
    s + changed,
    hns(changed),
    update(changed, faithful),
    kde(changed, h = 1),
    as_sketch(s$bytes[1:100]),
    as_sketch(s$bytes[-1]),
    as_sketch(replace(s$bytes, 9, as.raw(1))),
    as_sketch(raw(0)),
    as_sketch(1:3),
    as_sketch(frame),
    as_sketch(frame, list()),
    as_sketch(frame[-1, ], plan),
    as_sketch(frame[, -1], plan),
    as_sketch(transform(frame, hi = hi + 0.5), plan),
    as_sketch(transform(frame, hi = -hi), plan),
    as_sketch(transform(frame, lo = "a"), plan),
    as_sketch(frame[!is.na(frame$order) | is.na(frame$key), ], plan),
    as_sketch(frame[!is.na(frame$key), ], plan),
    as_sketch(rbind(frame, data.frame(key = 1, order = NA, hi = NA, lo = NA, value = NA)), plan),
    as_sketch(frame[is.na(frame$order) | frame$order >= 0, ], plan),
    as_sketch(rbind(frame, data.frame(key = 65536, order = -1, hi = 0, lo = 1, value = NA)), plan),
    as_sketch(rbind(frame, frame[which(frame$order == -1)[1L], ]), plan),
    as_sketch(transform(frame, hi = replace(hi, which(order == -1)[1L], 2^40)), plan),
    as_sketch(transform(frame, lo = replace(lo, which(order == -1)[1L], 1000)), plan)
  )
})

test_that("tied values of full cells count as they do in memory", {
  x <- with_seed(12, list(rounded = round(rnorm(1e5), 2), continuous = rnorm(1e5), thousandths = round(rnorm(1e5), 3)))
  for (name in names(x)) {
    s <- kde_sketch(x[[name]], sketch_plan(x[[name]], hmin = 0.01))
    expect_gt(summary(s)$cells[["full"]], 400)
    theirs <- with_remarks(hlscv(x[[name]], amise = TRUE))
    ours <- with_remarks(hlscv(s, amise = TRUE))
    expect_identical(without_pairs(ours$remarks), without_pairs(theirs$remarks), info = name)
    expect_length(ours$remarks, as.integer(name != "continuous"))
    wanted <- theirs$value$ties
    if (name == "continuous") expect_identical(c(ours$value$ties, wanted), numeric(2))
    # Four standard errors.
    expect_lte(abs(ours$value$ties - wanted), 4 * sqrt(2 / 65536) * (wanted + 1))
    expect_identical(summary(s)$ties, ours$value$ties)
    expect_identical(as_sketch(as.data.frame(s), sketch_plan(x[[name]], hmin = 0.01)), s)
  }
  rows <- data.frame(x = x$rounded, w = with_seed(13, rexp(1e5)))
  s <- kde_sketch(rows, sketch_plan(rows, column = "x", w = "w", hmin = 0.01))
  theirs <- with_remarks(hlscv(rows$x, w = rows$w, amise = TRUE))
  ours <- with_remarks(hlscv(s, amise = TRUE))
  expect_identical(without_pairs(ours$remarks), without_pairs(theirs$remarks))
  expect_lte(abs(ours$value$ties - theirs$value$ties), 4 * sqrt(2 / 65536) * (theirs$value$ties + 1))
})

test_that("print, summary and plot, and bad input", {
  s <- kde_sketch(faithful, sketch_plan(faithful, column = "waiting"))
  dense <- kde_sketch(rep(faithful$waiting, 400) + 0:9 / 10, sketch_plan(1, hmin = 0.1, column = "x"))
  none <- kde_sketch(numeric(0), sketch_plan(1, hmin = 1))
  expect_snapshot_output({
    print(sketch_plan(faithful, column = "waiting"))
    shown(s)
    shown(dense)
    shown(none)
    shown(kde_sketch(3, sketch_plan(1, hmin = 1)))
    shown(kde(dense, h = 2))
    print(unclass(summary(s))[c("n", "mean", "sd")])
  })
  expect_gt(drawn(plot(dense)), 3)
  same <- sketch_plan(c(2, 2, 2), hmin = 1)
  calls <- 0
  changing <- function(reset) {
    calls <<- if (reset) 0 else calls + 1
    if (calls < 3) stats::setNames(data.frame(1, 2), c("a", if (calls == 1) "b" else "c"))
  }
  expect_refused(
    sketch_plan(numeric(0)),
    sketch_plan(1),
    sketch_plan(c(2, 2, 2)),
    sketch_plan(letters),
    sketch_plan(list(1)),
    sketch_plan("nowhere.csv"),
    sketch_plan(iris[1:4]),
    sketch_plan(faithful, column = "mag"),
    sketch_plan(faithful, column = 3),
    sketch_plan(1, hmin = 0),
    sketch_plan(1, hmin = 1e-300),
    sketch_plan(function(reset) NULL),
    kde_sketch(1:3),
    kde_sketch(1:3, plan = 1),
    kde_sketch(iris, sketch_plan(iris, hmin = 1, column = "Species")),
    kde_sketch(c(1, NA), same),
    kde_sketch(c(1, NA), same, na.action = identity),
    kde_sketch(c(1, Inf), same),
    kde_sketch(1e305, same),
    kde_sketch(changing, sketch_plan(1, hmin = 1, column = "b")),
    kde_sketch(quote(x), same),
    next_chunk(NULL),
    next_chunk(sin),
    next_chunk(function() 1),
    dense + s,
    c(s, kde_sketch(faithful, sketch_plan(faithful, 0.02, "eruptions"))),
    c(s, 1),
    s + 1,
    update(s),
    hns(none),
    hns(kde_sketch(3, same)),
    hns(kde_sketch(c(2, 2, 2), same)),
    hpi(s, w = 1:2),
    hns(kde_sketch(c(1, 2, 4) * 1e40, sketch_plan(c(1, 2, 4) * 1e40)), w = 1),
    hpi(kde_sketch(c(1, 2, 4) * 1e40, sketch_plan(c(1, 2, 4) * 1e40)))
  )
})

test_that("sketches know bounds and periods, as data in memory do", {
  x <- with_seed(61, c(rexp(20000), 0, 0))
  for (plan in list(sketch_plan(x, hmin = 0.002), sketch_plan(x, hmin = 0.02))) {
    s <- kde_sketch(x, plan)
    at <- c(-1, 0, 0.01, 0.3, 2, 30)
    whole <- kde(s, h = 0.3, bounds = c(0, Inf), eval.points = at)
    expect_close_to_reference(whole$estimate, kde(x, h = 0.3, bounds = c(0, Inf), eval.points = at)$estimate)
    expect_close_to_reference(predict(whole, x = at), whole$estimate)
    grid <- kde(s, h = 0.3, bounds = c(0, Inf), gridsize = 31)
    expect_close_to_reference(grid$estimate, kde(x, h = 0.3, bounds = c(0, Inf), gridsize = 31)$estimate)
    expect_identical(grid$eval.points[1], 0)
    expect_same_bits(kde(s, h = 0.3, bounds = c(-Inf, Inf), gridsize = 31)$estimate,
                     kde(s, h = 0.3, gridsize = 31)$estimate)
    # Two bounds, which are no multiples of a cell.
    both <- list(h = 0.4, bounds = c(-0.123, max(x) + 0.045), eval.points = c(-0.123, 0, 1, max(x)))
    expect_close_to_reference(do.call(kde, c(list(s), both))$estimate, do.call(kde, c(list(x), both))$estimate)
    # Values beyond the period, which starts at 1.
    wrapped <- list(h = 0.2, period = 2.5, bounds = c(1, 3.5), eval.points = c(1, 1.2, 3.4, 7))
    expect_close_to_reference(do.call(kde, c(list(s), wrapped))$estimate,
                              quietly(do.call(kde, c(list(x), wrapped)))$estimate)
  }
  # The quartiles of a sketch, which set the scale, are known to the width of a cell.
  s <- kde_sketch(x, sketch_plan(x, hmin = 0.02))
  expect_equal(kde(s, bounds = c(0, Inf))$h, kde(x, bounds = c(0, Inf))$h, tolerance = 1e-3)
  expect_equal(kde(s, period = 3)$h, quietly(kde(x, period = 3))$h, tolerance = 1e-3)
  expect_snapshot(error = TRUE, {
    kde(s, h = 0.3, bounds = c(1, Inf))
    kde(s, period = 0.002)
  })
})

test_that("selectors of sketches with bounds and periods minimise the criteria of data in memory", {
  n <- 20000
  expect_same_criterion <- function(x, hmin, hmax, ..., w = NULL, full = TRUE, info) {
    source <- if (is.null(w)) x else data.frame(x = x, w = w)
    s <- kde_sketch(source, sketch_plan(source, hmin = hmin, w = if (!is.null(w)) "w", bounded = TRUE))
    expect_identical(summary(s)$cells[["full"]] > 0, full, info = info)
    select <- function(x, ...) quietly(hlscv(x, ..., hmin = hmin, hmax = hmax, amise = TRUE))
    expect_close_to_reference(select(s, ...)$curve$objective, select(x, ..., w = w)$curve$objective, info = info)
  }
  with_seed(81, {
    w <- rexp(n)
    half <- abs(rnorm(n))
    expect_same_criterion(half, 0.02, 0.4, bounds = c(0, Inf), info = "lower")
    expect_same_criterion(-half, 0.02, 0.4, bounds = c(-Inf, 0.3), info = "upper")
    # Kernels far wider than the bounds.
    expect_same_criterion(runif(n), 0.02, 6, bounds = c(0, 1), info = "two bounds")
    expect_same_criterion(1e9 + half, 0.02, 0.4, bounds = c(1e9, Inf), info = "offset")
    expect_same_criterion(c(half, 1e7), 0.02, 0.4, bounds = c(-0.01, Inf), info = "outlier")
    expect_same_criterion(abs(rcauchy(n)), 0.02, 0.4, bounds = c(0, Inf), info = "heavy tail")
    expect_same_criterion(round(half, 1), 0.02, 0.4, bounds = c(0, Inf), info = "ties")
    expect_same_criterion(half[1:50], 0.02, 0.4, bounds = c(0, Inf), full = FALSE, info = "few")
    expect_same_criterion(half[1:50], 0.02, 0.4, bounds = c(0, Inf), w = w[1:50], full = FALSE, info = "few, weights")
    expect_same_criterion(half, 0.02, 0.4, bounds = c(0, Inf), w = w, info = "weights")
    expect_same_criterion(runif(n), 0.02, 6, bounds = c(0, 1), w = w, info = "two bounds, weights")
    # Some of them are above a unit, near the bound and elsewhere.
    expect_same_criterion(c(1e7, half[-1]), 0.02, 0.4, bounds = c(0, Inf), w = w^4, info = "heavy weights")
    expect_same_criterion(1e9 - half, 0.02, 0.4, bounds = c(-Inf, 1e9), w = 1e20 * w, info = "offset, weights")
    expect_same_criterion(half, 0.02, 0.4, bounds = c(0, Inf), w = rep(0:1, n / 2), info = "zero weights")
    expect_same_criterion(24 * runif(n), 0.3, 60, period = 24, info = "period")
    expect_same_criterion(c(1, 7), 0.3, 60, period = 24, full = FALSE, info = "two values")
    # Cells that lie off each other after whole periods.
    expect_same_criterion(rnorm(n, 0, 20), 0.3, 3, period = 7.3, bounds = c(1, Inf), info = "turns")
    expect_same_criterion(1e9 + rnorm(n, 0, 20), 0.3, 3, period = 7.3, info = "turns far away")
    expect_same_criterion(rnorm(n, 0, 20), 0.3, 3, period = 7.3, w = w, info = "turns, weights")
    x <- data.frame(x = half, w = w)
  })
  s <- kde_sketch(x, sketch_plan(x, hmin = 0.02, w = "w"))
  expect_equal(quietly(kde(s, bounds = c(0, Inf))$h), quietly(kde(half, w = w, bounds = c(0, Inf))$h), tolerance = 1e-3)
  expect_snapshot(error = TRUE, {
    hlscv(s, bounds = c(0, Inf))
    hlscv(kde_sketch(half, sketch_plan(half, hmin = 0.5)), bounds = c(0, Inf))
    hlscv(kde_sketch(half, sketch_plan(half, hmin = 0.02)), period = 9, hmin = 0.01)
  })
})
