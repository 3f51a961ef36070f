# print, summary, plot, predict, as.data.frame.

test_that("print and summary say what was estimated and how", {
  x <- as.matrix(faithful)
  line <- kde(faithful$eruptions, h = 0.25)
  # which engine is cheaper depends on the instruction set
  plane <- kde(faithful, H = matrix(c(0.06, 0.6, 0.6, 11), 2), engine = "direct")
  weighted <- kde(x, h = 1, w = rep(1:2, 136), kernel = "epanechnikov", kernel_type = "product", gridsize = c(20, 30))
  points <- kde(x, H = diag(c(0.1, 9)), eval.points = x[1:3, ], kernel = "cosine")
  wide <- kde(as.matrix(mtcars), H = diag(1:11), eval.points = as.matrix(mtcars))
  positive <- kde(faithful$eruptions, h = 0.2, positive = TRUE, adj.positive = 0)
  long_call <- kde(x = as.matrix(faithful[c("eruptions", "waiting")]),
                   H = matrix(c(0.063, 0.6, 0.6, 11.2), nrow = 2, ncol = 2),
                   gridsize = c(40, 40), xmin = c(1, 40), xmax = c(6, 100), compute.cont = FALSE,
                   engine = "direct")
  expect_snapshot_output({
    shown(line)
    shown(plane)
    shown(weighted)
    shown(points)
    shown(wide)
    shown(positive)
    shown(long_call)
    shown(summary(line))
    shown(summary(plane))
    shown(summary(weighted))
    shown(summary(points))
  })
})

test_that("summary holds the contour levels and the mass on the grid", {
  fit <- kde(faithful, H = Hns(faithful))
  result <- summary(fit)
  expect_s3_class(result, "summary.kestrel_kde")
  expect_equal(unname(result$levels), unname(contourLevels(fit, cont = c(25, 50, 75, 95))), tolerance = 1e-14)
  expect_equal(result$mass, 1, tolerance = 1e-3)
  expect_null(summary(kde(faithful, H = Hns(faithful), eval.points = faithful[1:3, ]))$mass)
})

test_that("predict is exact anywhere, also outside of the grid, by newdata and by x", {
  x <- as.matrix(faithful)
  fit <- kde(x, H = Hns(x), gridsize = 5)
  points <- rbind(c(3.1, 66.6), c(0, 20), c(5.5, 120))
  reference <- reference_density(points, x, Hns(x))
  expect_close_to_reference(predict(fit, newdata = points), reference)
  expect_identical(predict(fit, x = points), predict(fit, newdata = points))
  expect_identical(predict(fit, points), predict(fit, newdata = as.data.frame(points)))
  for (i in 1:3) expect_equal(predict(fit, newdata = points[i, ]), reference[i], tolerance = 1e-10)
  line <- kde(x[, 1], h = 0.1, kernel = "triangular", xmin = 2, xmax = 2.5)
  expect_close_to_reference(predict(line, newdata = c(1.7, 2.2, 5, 9)),
                            reference_density(c(1.7, 2.2, 5, 9), x[, 1], 0.01, kernel = "triangular"))
  expect_identical(predict(line, newdata = 9), 0)
})

test_that("columns of points with the variables' names may be in any order", {
  fit <- kde(faithful, H = Hns(faithful), gridsize = 3)
  points <- faithful[1:4, ]
  expected <- predict(fit, points)
  expect_identical(predict(fit, points[2:1]), expected)
  expect_identical(predict(fit, as.matrix(points)[, 2:1]), expected)
  expect_identical(dkde(points[2:1], fit), expected)
  expect_identical(predict(fit, c(waiting = 79, eruptions = 3.6)), expected[1])
  at <- kde(faithful, H = Hns(faithful), eval.points = points[2:1])
  expect_identical(at$estimate, expected)
  expect_identical(as.data.frame(at)[1:2], as.data.frame(as.matrix(points), row.names = FALSE)[1:2], ignore_attr = TRUE)
  # Names that R made up are none.
  expect_identical(predict(fit, setNames(points, c("Var1", "Var2"))), expected)
  expect_identical(predict(fit, unname(as.matrix(points))), expected)
  expect_identical(predict(fit, faithful[0, ]), numeric(0))
})

test_that("points whose columns have the names of other variables are refused", {
  fit <- kde(faithful, H = Hns(faithful), gridsize = 3)
  other <- data.frame(a = 1, b = 2)
  regression <- npreg(bws = 1, txdat = faithful[1], tydat = faithful[2])
  expect_refused(
    predict(fit, other),
    predict(fit, c(a = 1, b = 2)),
    dkde(other, fit),
    pkde(as.matrix(other), fit),
    kde(faithful, eval.points = other),
    kcde(faithful, H = Hns(faithful), eval.points = other),
    predict(kcde(faithful, H = Hns(faithful), gridsize = 3), other),
    predict(kde(faithful["waiting"], h = 1), faithful["eruptions"]),
    kde_query(fit, other),
    npreg(bws = 1, txdat = faithful[1], tydat = faithful[2], exdat = other["a"]),
    predict(regression, other["a"]),
    predict(npreg(waiting ~ log(eruptions), faithful, bws = 1), exdat = faithful["eruptions"])
  )
})

test_that("unknown arguments of methods are refused", {
  fit <- kde(faithful, H = Hns(faithful), gridsize = 3)
  expect_refused(
    predict(fit, c(3, 70), threads = 2),
    predict(fit, newdata = c(3, 70), x = c(4, 80)),
    contourLevels(fit, probs = 0.5),
    kde(faithful[0, ])
  )
  expect_identical(predict(fit, x = c(3, 70), zero.flag = TRUE), predict(fit, x = c(3, 70)))
})

test_that("as.data.frame has a row a point, its coordinates under the variables' names", {
  fit <- kde(faithful, H = Hns(faithful), gridsize = c(4, 3))
  frame <- as.data.frame(fit)
  expect_named(frame, c("eruptions", "waiting", "estimate"))
  expect_identical(nrow(frame), 12L)
  expect_identical(frame$estimate, as.vector(fit$estimate))
  expect_identical(frame$eruptions[1:4], fit$eval.points[[1]])
  expect_close_to_reference(frame$estimate, predict(fit, newdata = as.matrix(frame[1:2])))
  line <- as.data.frame(kde(faithful$eruptions, h = 0.3))
  expect_named(line, c("x", "estimate"))
  expect_identical(nrow(line), 401L)
  points <- as.data.frame(kde(faithful, H = Hns(faithful), eval.points = faithful[1:6, ]))
  expect_identical(points$waiting, faithful$waiting[1:6])
  same <- as.data.frame(kde(cbind(estimate = 1:3, b = c(1, 5, 2)), H = diag(2), gridsize = 3))
  expect_named(same, c("estimate.1", "b", "estimate"))
})

test_that("plot draws in one, two and three dimensions and returns its object invisibly", {
  line <- kde(faithful$eruptions, h = 0.3)
  plane <- kde(faithful, H = Hns(faithful), gridsize = 30)
  space <- kde(iris[, 1:3], H = Hns(iris[, 1:3]), gridsize = 12)
  for (fit in list(line, plane, space)) {
    expect_gt(drawn(returned <- withVisible(plot(fit))), 5)
    expect_false(returned$visible)
    expect_identical(returned$value, fit)
  }
  expect_gt(drawn(plot(plane, cont = c(10, 50), drawpoints = TRUE, xlab = "a", ylab = "b", main = "c")),
            drawn(plot(plane, cont = 50)))
  expect_gt(drawn(plot(line)), drawn(plot(line, drawpoints = FALSE)))
  expect_gt(drawn({
    plot(line)
    plot(kde(faithful$eruptions, h = 0.1), add = TRUE, col = "red")
  }), drawn(plot(line)))
  radial <- kde(iris[, 1:3], kernel = "epanechnikov", gridsize = 12)
  expect_gt(drawn(plot(radial)), 5)
  expect_error(drawn(plot(kde(faithful, H = Hns(faithful), eval.points = faithful[1:6, ]))), "grid",
               class = "kestrel_error_input")
})

test_that("the displays of ks draw levels of the density in the colours asked for", {
  plane <- kde(faithful, H = Hns(faithful), gridsize = 30)
  levels <- unname(contourLevels(plane, cont = c(75, 25)))
  filled <- plotted_regions(plane, c(25, 75), NULL, TRUE)
  expect_equal(unname(filled$level), levels)
  expect_identical(filled$label, c("75%", "25%"))
  expect_equal(unname(plotted_regions(plane, c(25, 75), NULL, FALSE)$level),
               unname(contourLevels(plane, cont = c(75, 25), approx = FALSE)))
  expect_identical(plotted_regions(plane, 50, c(0.01, 0.002), TRUE)$level, c(0.002, 0.01))
  colours <- function(...) region_fills(list(alpha = 1, ...), 3)
  expect_identical(colours(), fill_colours(3))
  expect_identical(colours(col = c("red", "green", "blue")), c("red", "green", "blue"))
  expect_identical(colours(col = c("white", "red", "green", "blue")), c("red", "green", "blue"))
  expect_identical(colours(col = "red"), c("#FFAAAA", "#FF5555", "#FF0000"))
  expect_identical(colours(col.fun = grDevices::gray.colors), grDevices::gray.colors(3))
  expect_identical(region_fills(list(col = "red", alpha = 0.5), 1), "#FF000080")
  for (display in displays_of_plane) {
    expect_gt(drawn(returned <- withVisible(plot(plane, display = display))), 1)
    expect_false(returned$visible)
    expect_identical(returned$value, plane)
  }
  # A name of earlier versions of ks.
  expect_identical(drawn(plot(plane, display = "filled.contour2")), drawn(plot(plane)))
  # add = TRUE draws lines, which leave the plot below visible.
  expect_gt(drawn({
    plot(plane)
    plot(plane, add = TRUE)
  }), drawn(plot(plane)))
  line <- kde(faithful$eruptions, h = 0.3)
  bars <- function(code) Filter(function(of) all(of$y0 == 0), graphics_calls("segments", code))
  expect_length(bars(plot(line)), 0)
  expect_identical(lapply(bars(plot(line, cont = c(25, 50))), `[[`, "lwd"), list(4, 6))
  expect_length(bars(plot(line, abs.cont = 0.2)), 1)
})

test_that("bad arguments of plots are refused", {
  line <- kde(faithful$eruptions, h = 0.3)
  plane <- kde(faithful, H = Hns(faithful), gridsize = 10)
  space <- kde(iris[, 1:3], H = Hns(iris[, 1:3]), gridsize = 5)
  expect_refused(
    plot(plane, display = "rgl"),
    plot(line, display = "spiral"),
    plot(plane, cont = 110),
    plot(plane, abs.cont = c(0.1, -1)),
    plot(space, abs.cont = 0.1),
    plot(plane, col.fun = "red"),
    plot(plane, alpha = 2),
    plot(plane, alpha = c(0.1, 0.5)),
    plot(plane, drawlabels = 1),
    plot(plane, approx.cont = NA),
    plot(space, cont = 110),
    plot(plane, display = "persp", d = -1)
  )
})

test_that("plots of discrete and of weighted data are drawn too", {
  ties <- cbind(rep(1:3, 20), rep(1:2, 30))
  expect_gt(drawn(plot(kde(ties, H = diag(2) * 0.2, gridsize = 20))), 3)
  expect_gt(drawn(plot(kde(faithful, H = Hns(faithful), w = seq_len(272), gridsize = 20))), 3)
  expect_gt(drawn(plot(kde(3, h = 1))), 3)
})

test_that("a large grid becomes a data frame in parts", {
  axes <- list(1:30 / 7, 1:400 / 3, 1:500)
  seen <- traced("heard", TRUE, frame <- grid_points(axes))
  expect_length(seen, 3 * ceiling(500 / slab_count(30 * 400)))
  at_once <- expand.grid(axes, KEEP.OUT.ATTRS = FALSE)
  expect_identical(unname(as.list(frame)), unname(as.list(at_once)))
  expect_identical(attr(frame, "row.names"), seq_len(30 * 400 * 500))
  expect_identical(unname(as.list(grid_points(list(c(1, 5))))), list(c(1, 5)))
})

test_that("ticks of many observations are drawn in parts", {
  fit <- kde(with_seed(81, rnorm(2.5 * part_size)), h = 0.1)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  polls <- function(points) length(traced("heard", TRUE, plot(fit, drawpoints = points)))
  expect_identical(polls(TRUE) - polls(FALSE), 3L)
})
