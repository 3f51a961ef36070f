# Graphical arguments of all plots, and surfaces that are flat.

line <- kde(faithful$eruptions, h = 0.3, gridsize = 21)
plane <- kde(faithful, H = Hns(faithful), gridsize = 10)
space <- kde(iris[, 1:3], H = Hns(iris[, 1:3]), gridsize = 5)
below <- kcde(faithful, H = Hns(faithful), gridsize = 6)
bw <- npregbw(dist ~ speed, cars)
fit <- npreg(bw)
boot <- with_seed(1, hboot(faithful$eruptions, h0 = 0.3, h = c(0.2, 0.3, 0.4), B = 3, gridsize = 30))
record <- hscv(faithful$eruptions, amise = TRUE)
errors <- q_error(1:3, c(1, 4, 2))
score <- pdf_score(iris[51:100, 1:2], list(a = iris[51:100, 1:2] + 0.01, b = iris[51:100, 1:2] - 0.01), gridsize = 8)

test_that("graphical arguments that are wrong are refused by name, by every plot", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_refused(
    plot(line, col = "nosuch"),
    plot(line, lwd = "a"),
    plot(line, lwd = c(1, -1)),
    plot(line, col.pt = -1),
    plot(line, cont = 50, col.cont = list("red")),
    plot(line, main = mean),
    plot(line, xlim = c(1, NA)),
    plot(line, las = 7),
    plot(line, lty = "nosuch"),
    plot(plane, lty = -1),
    plot(fit, pch = "ab"),
    plot(bw, lty = mean),
    lines(line, lty = 1.5),
    points(fit, cex = -1),
    lines(plane),
    points(below),
    plot(line, log = "z"),
    plot(line, cex.axis = c(1, 2)),
    plot(line, bty = "z"),
    plot(line, mgp = 1, bty = "n"),
    plot(plane, col = c("red", "nosuch", "blue", "green")),
    plot(plane, col = character(0)),
    plot(plane, col.fun = function(n) "nosuch"),
    plot(plane, display = "image", col.fun = function(n) n > 0),
    plot(plane, ann = "none"),
    plot(plane, display = "slice", lwd = NA),
    plot(plane, display = "persp", theta = "a"),
    plot(plane, display = "persp", border = "nosuch"),
    plot(plane, display = "persp", zlim = c(1, 1)),
    plot(plane, display = "persp", ticktype = "fine"),
    plot(space, col = TRUE),
    plot(space, xlab = mean),
    plot(below, col = "nosuch"),
    plot(below, zlab = mean),
    plot(below, display = "slice", lwd = Inf),
    plot(fit, col = "nosuch"),
    plot(fit, ylab = mean),
    plot(fit, ylim = "a"),
    plot(bw, col = "nosuch"),
    plot(bw, col.axis = "nosuch"),
    plot(boot, main = mean),
    plot(boot, fg = 1:2),
    plot(errors, cex = "a"),
    plot(score, ann = NA),
    plot(score, model = 1, col.lab = "nosuch"),
    plot(line, lwdd = 2),
    plot(line, add = TRUE, colour = 2),
    plot(line, log = "y", ylim = c(-1, 1)),
    plot(plane, col.fun = function(n) stop("none left"), xlim = c(1, 6)),
    plot(plane, display = "persp", mar = c(4, 4, 1, 1)),
    plot(space, xlim = c(0, 1)),
    plot(below, breaks = 3),
    plot(fit, col.pt = "nosuch"),
    plot(fit, shade = 2),
    plot(bw, what = "cv", col.pt = 2),
    plot(boot, size2 = 2),
    plot(errors, usr = 1:4),
    plot(score, lpha = 0.5),
    lines(line, log = "x"),
    points(fit, symbol = 3),
    lines(fit, 3)
  )
})

test_that("graphical arguments reach what is drawn, in every plot", {
  for (call in expression(
    plot(line, lty = 2, lwd = 5), plot(plane, lty = 2, lwd = 5), plot(plane, display = "slice", lty = 2, lwd = 5),
    plot(plane, display = "image", cont = 50, lty = 2, lwd = 5), plot(space, lty = 2, lwd = 5),
    plot(kcde(faithful$eruptions, gridsize = 9), lty = 2, lwd = 5), plot(below, display = "slice", lty = 2, lwd = 5),
    plot(fit, lty = 2, lwd = 5), plot(bw, what = "cv", lty = 2, lwd = 5), plot(boot, lty = 2, lwd = 5),
    plot(errors, lty = 2, lwd = 5), plot(record, lty = 2, lwd = 5), plot(score, model = 1, lty = 2, lwd = 5)
  )) {
    calls <- unlist(lapply(c("plotXY", "contour"), function(name) graphics_calls(name, eval(call))), recursive = FALSE)
    expect_true(any(vapply(calls, function(of) 2 %in% of$lty && 5 %in% of$lwd, NA)), info = deparse(call))
  }
  for (call in expression(
    plot(plane, drawpoints = TRUE, pch = 3, cex = 2.5), plot(space, drawpoints = TRUE, pch = 3, cex = 2.5),
    plot(below, display = "slice", drawpoints = TRUE, pch = 3, cex = 2.5), plot(fit, pch = 3, cex = 2.5),
    plot(bw, what = "cv", pch = 3, cex = 2.5), plot(boot, pch = 3, cex = 2.5), plot(record, pch = 3, cex = 2.5),
    plot(score, pch = 3, cex = 2.5)
  )) {
    calls <- graphics_calls("plotXY", eval(call))
    expect_true(any(vapply(calls, function(of) 3 %in% of$pch && 2.5 %in% of$cex, NA)), info = deparse(call))
  }
  for (call in expression(plot(boot, col = "green"), plot(errors, col = "green"), plot(score, col = "green"))) {
    calls <- graphics_calls("plotXY", eval(call))
    expect_true(any(vapply(calls, function(of) "green" %in% of$col, NA)), info = deparse(call))
  }
  titles <- function(code) unlist(lapply(graphics_calls("title", code), `[`, c("main", "xlab", "ylab")))
  given <- list(main = "M", xlab = "X", ylab = "Y")
  for (call in list(list(errors), list(score), list(fit), list(bw), list(boot), list(plane, display = "image"))) {
    expect_setequal(setdiff(titles(do.call(plot, c(call, given))), ""), c("M", "X", "Y"))
  }
  expect_true("M" %in% titles(plot(space, main = "M")))
  expect_length(titles(plot(line, ann = FALSE)), 0)
  # Notes are annotation, too, and are left out where the margin has no line for them.
  notes <- function(code) length(graphics_calls("mtext", code))
  expect_identical(c(notes(plot(boot)), notes(plot(boot, ann = FALSE))), c(2L, 0L))
  expect_identical(c(notes(plot(fit)), notes(plot(fit, ann = FALSE))), c(1L, 0L))
  narrow <- function(lines, ...) {
    notes({
      graphics::par(mar = c(4, 4, lines, 1))
      plot(boot, ...)
    })
  }
  expect_identical(c(narrow(0.5), narrow(1.8), narrow(1.8, main = "M"), narrow(4.1, main = "M")), c(0L, 2L, 0L, 2L))
})

test_that("a window without room for a plot is an error that says so", {
  grDevices::pdf(NULL, 1, 1)
  on.exit(grDevices::dev.off())
  expect_refused(plot(line), plot(plane, lty = 2), plot(space), plot(fit), plot(score, model = 1))
})

test_that("a plot to add to must be there", {
  grDevices::graphics.off() # another test may have drawn
  for (open in c(FALSE, TRUE)) {
    if (open) {
      grDevices::pdf(NULL)
      on.exit(grDevices::dev.off())
    }
    for (object in list(line, plane, below, fit)) {
      expect_error(plot(object, add = TRUE), "`add` must be FALSE when there is no plot to add to",
                   class = "kestrel_error_input")
    }
    for (object in list(line, fit, kcde(faithful$eruptions, gridsize = 9))) {
      expect_error(lines(object), "There must be a plot to add `x` to", class = "kestrel_error_input")
      expect_error(points(object), "There must be a plot to add `x` to", class = "kestrel_error_input")
    }
  }
})

test_that("what R takes as a colour or a label is drawn, of which no function of its own takes all", {
  for (col in list(0, "0", 2, "3", NA, "#1F5A7A80", "Dark Blue", 1.5)) {
    for (object in list(line, plane, fit, bw)) expect_gt(drawn(plot(object, col = col)), 3)
    expect_gt(drawn(plot(plane, display = "persp", col = col)), 0)
    expect_gt(drawn(plot(plane, drawpoints = TRUE, col.pt = col, col.cont = col, alpha = 0.5)), 3)
  }
  for (label in list("text", 3, quote(x^2), expression(x[1]), list("text", cex = 2, col = "red"), NULL)) {
    expect_gt(drawn(plot(line, main = label, xlab = label, ylab = label)), 3)
    expect_gt(drawn(plot(plane, main = label, xlab = label, ylab = label)), 3)
    expect_gt(drawn(plot(plane, display = "persp", main = label, xlab = label, zlab = label)), 0)
    expect_gt(drawn(plot(boot, main = label, xlab = label, ylab = label)), 3)
  }
})

test_that("estimates that are flat are drawn by every display", {
  far <- function(at, ...) suppressWarnings(list(...)[[1]](faithful, xmin = at, xmax = at + 100, gridsize = 10))
  one <- far(c(100, 500), kcde)
  none <- far(c(-200, -600), kcde)
  zero <- far(c(100, 500), function(...) kde(..., kernel = "epanechnikov"))
  # Up to the rounding of the library that transforms.
  expect_equal(range(one$estimate, none$estimate, zero$estimate), c(0, 1), tolerance = 1e-14)
  expect_identical(vapply(list(one, none, zero), function(fhat) diff(range(fhat$estimate)), 0), c(0, 0, 0))
  # Rounding is no relief.
  rounded <- one
  rounded$estimate[2, 3] <- 1 - 2^-53
  for (display in displays_of_plane) for (fhat in list(one, none, zero, rounded)) {
    expect_silent(count <- drawn(plot(fhat, display = display)))
    expect_gt(count, 0)
  }
  limits <- function(fhat) surface_limits(fhat$estimate, fhat$estimate)
  expect_equal(lapply(list(one, none, zero, rounded), limits), rep(list(c(0, 1)), 4), tolerance = 1e-14)
  expect_identical(limits(plane), range(plane$estimate))
  # A peak between the lines that are drawn.
  expect_identical(surface_limits(c(0, 0), c(0, 3, 0)), c(0, 3))
  for (fhat in suppressWarnings(list(
    kde(faithful$waiting, kernel = "epanechnikov", xmin = 500, xmax = 600, gridsize = 9),
    kde(iris[, 1:3], kernel = "epanechnikov", xmin = rep(50, 3), xmax = rep(60, 3), gridsize = 5),
    kcde(faithful$waiting, xmin = 500, xmax = 600, gridsize = 9)
  ))) expect_gt(drawn(plot(fhat)), 3)
})

test_that("arguments of ks are taken by plots that ks has, and parameters of a surface by surfaces", {
  boot <- with_seed(1, quietly(hboot(faithful$eruptions, B = 3)))
  plane <- kde(faithful, H = Hns(faithful), gridsize = 9)
  expect_refused(
    plot(boot, type = "l"),
    plot(hscv(precip, amise = TRUE), theta = 30),
    plot(plane, display = "persp", log = "x"),
    plot(plane, display = "persp", frame.plot = TRUE),
    plot(kde(faithful$eruptions, h = 1), lty = "1"),
    plot(kcde(faithful$eruptions, h = 1), cont = 0.5)
  )
  expect_silent(drawn(plot(kde(iris[1:3], gridsize = 5), nticks = 3, shade = 1)))
  # The axes can be left out.
  axes <- function(code) length(graphics_calls("axis", code))
  expect_identical(axes(plot(kde(faithful$eruptions, h = 1), axes = FALSE)), 0L)
})

test_that("panels that share axes refuse limits, and a score keeps its title only if the user gives none", {
  score <- quietly(pdf_score(iris[1:50, 1:3], iris[51:100, 1:3], center = TRUE, gridsize = 7))
  expect_refused(plot(score, main = "Mine"), plot(score, xlim = 0:1))
  titles <- function(code) Filter(is.character, lapply(graphics_calls("title", code), `[[`, "main"))
  pair <- quietly(pdf_score(iris[1:50, 1:2], iris[51:100, 1:2], center = TRUE, gridsize = 7))
  expect_match(unlist(titles(plot(pair))), "^Score 0")
  expect_false(any(grepl("Score", unlist(titles(plot(pair, main = "Mine"))))))
})
