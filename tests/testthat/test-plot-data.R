# What plots show of the data and of bands, and how they name variables.

strokes <- function(code) {
  calls <- graphics_calls("segments", code)
  calls[[which.max(vapply(calls, function(of) length(of$x0), 1L))]]
}
opacity <- function(col) grDevices::col2rgb(col, alpha = TRUE)["alpha", ] / 255

test_that("of more than 1,000 observations a plot draws one for each small part, and none that lies alone is lost", {
  x <- c(stats::qnorm(stats::ppoints(5000)), 9, 7.5, 7.5001)
  rug <- strokes(plot(kde(x, h = 0.3, gridsize = 51)))
  expect_lt(length(rug$x0), 500)
  expect_true(all(rug$x0 %in% x))
  expect_true(all(c(min(x), 9) %in% rug$x0))
  expect_identical(sum(rug$x0 > 6), 2L)
  # Darker where more are, and never faint.
  expect_gt(opacity(rug$col)[which.min(abs(rug$x0))], 0.7)
  expect_equal(opacity(rug$col)[rug$x0 == 9], 0.2, tolerance = 0.01)
  expect_length(strokes(plot(kde(x[1:1000], h = 0.3, gridsize = 51)))$x0, 1000)
  # Where zero and less have no place.
  expect_true(all(strokes(plot(kde(x, h = 0.3, gridsize = 51), log = "x"))$x0 > 0, na.rm = TRUE))

  y <- replace(x^2, 5001, -60)
  dots <- function(code) {
    calls <- Filter(function(of) of$type == "p" && 16 %in% of$pch, graphics_calls("plotXY", code))
    calls[[1]]
  }
  shown <- dots(plot(suppressWarnings(npreg(txdat = x, tydat = y, bws = 1))))
  expect_lt(length(shown$xy$x), 2500)
  expect_true(any(shown$xy$x == 9 & shown$xy$y == -60))
  expect_gte(min(opacity(shown$col)), 0.19)
  groups <- rep(c("red", "blue"), length.out = length(x))
  shown <- dots(plot(kde(cbind(x, y), H = diag(2), gridsize = 11), drawpoints = TRUE, col.pt = groups))
  expect_identical(as.vector(grDevices::col2rgb(shown$col)["red", ] > 0), groups[match(shown$xy$x, x)] == "red")
})

test_that("confidence bands are inside the plot", {
  fit <- suppressWarnings(npreg(dist ~ speed, cars, bws = 0.8, ckertype = "epanechnikov", bw.scale = "support"))
  at <- data.frame(speed = curve_to_draw(fit)$at)
  band <- suppressWarnings(predict(fit, newdata = at, interval = "confidence"))
  for (drawpoints in c(TRUE, FALSE)) {
    grDevices::pdf(NULL)
    plot(fit, drawpoints = drawpoints)
    usr <- graphics::par("usr")
    grDevices::dev.off()
    expect_true(all(band[, "lwr"] >= usr[3] & band[, "upr"] <= usr[4], na.rm = TRUE))
  }
})

test_that("a vector is labelled by what the call has in its place", {
  labels <- function(code) setdiff(unlist(lapply(graphics_calls("title", code), `[`, c("xlab", "ylab"))), "")
  eruptions <- faithful$eruptions
  expect_setequal(labels(plot(kde(faithful$eruptions, gridsize = 9))), c("faithful$eruptions", "Density"))
  expect_setequal(labels(plot(kde(x = eruptions, gridsize = 9))), c("eruptions", "Density"))
  expect_setequal(labels(plot(kde(c(1, 2, 4), gridsize = 9))), c("c(1, 2, 4)", "Density"))
  expect_setequal(labels(plot(kde(faithful["waiting"], gridsize = 9))), c("waiting", "Density"))
  expect_setequal(labels(plot(kcde(log(eruptions), gridsize = 9))), c("log(eruptions)", "Distribution function"))
  # Neither values nor long expressions.
  expect_setequal(labels(plot(do.call(kde, list(eruptions, gridsize = 9)))), c("x", "Density"))
  expect_setequal(labels(plot(kde(c(eruptions, eruptions, eruptions, eruptions), gridsize = 9))), c("x", "Density"))
  expect_setequal(labels(plot(kde(eruptions, gridsize = 9), xlab = "min")), c("min", "Density"))
  fit <- npreg(txdat = eruptions, tydat = faithful$waiting, bws = 1)
  expect_setequal(labels(plot(fit)), c("eruptions", "faithful$waiting"))
  expect_setequal(labels(plot(npreg(waiting ~ eruptions, faithful, bws = 1))), c("eruptions", "waiting"))
  score <- pdf_score(iris$Sepal.Length[51:100], list(a = iris$Sepal.Length[101:150]), center = TRUE, gridsize = 20)
  expect_setequal(labels(plot(score)), c("iris$Sepal.Length[51:100]", "Density"))
})

test_that("the columns of a matrix without names are labelled by the call, too", {
  z <- cbind(faithful$eruptions, b = faithful$waiting)
  expect_identical(plane_labels(kde(z, H = diag(2), gridsize = 3)), c("z[, 1]", "b"))
  expect_identical(plane_labels(kde(cbind(z), H = diag(2), gridsize = 3)), c("x[, 1]", "b"))
  expect_identical(plane_labels(do.call(kde, list(z, H = diag(2), gridsize = 3))), c("x[, 1]", "b"))
  expect_identical(plane_labels(kde(faithful, H = diag(2), gridsize = 3)), names(faithful))
})

test_that("a density on the scale of logarithms is shown where it is not negligible", {
  ends <- function(fhat) {
    grDevices::pdf(NULL)
    on.exit(grDevices::dev.off())
    plot(fhat)
    graphics::par("usr")[1:2]
  }
  fhat <- kde(airquality$Ozone, positive = TRUE, na.action = na.omit)
  expect_gt(max(fhat$eval.points), 500)
  expect_true(ends(fhat)[2] > max(airquality$Ozone, na.rm = TRUE) && ends(fhat)[2] < 350)
})

test_that("bars on the axis have different colours, or those of the user", {
  line <- kde(faithful$eruptions, gridsize = 51)
  colours_of <- function(...) {
    vapply(graphics_calls("segments", plot(line, drawpoints = FALSE, ...)), function(of) of$col, "")
  }
  expect_length(unique(colours_of(cont = c(25, 50, 95))), 3)
  expect_identical(colours_of(cont = c(50, 95), col.cont = "red"), c("red", "red"))
})

test_that("the axes of panels have the look that was asked for", {
  space <- kde(iris[, 1:3], gridsize = 5)
  axes <- graphics_calls("axis", plot(space, las = 2, cex.axis = 1.5))
  expect_length(axes, 6)
  expect_true(all(vapply(axes, function(of) of$las == 2 && of$cex.axis == 1.5, NA)))
})

test_that("a note that has no room above the middle of the plot is above that of the figure", {
  places <- function(left) {
    notes <- graphics_calls("mtext", {
      graphics::par(mar = c(4, left, 3, 1))
      empty_plot(0:1, 0:1, list(), xlab = "", note = "Bars: regions of highest density with 25%, 50% and 95%")
      middle <- graphics::grconvertX(0.5, "nfc")
    })
    c(notes[[1]]$at, middle)
  }
  middle <- NULL
  expect_true(is.na(places(4)[1]))
  found <- places(20)
  expect_equal(found[1], found[2])
})

test_that("labels of contour lines stand on a ground that is light for dark text and dark for light text", {
  expect_setequal(vapply(c("#17445C", "black", "red", NA), ground_for, ""), "white")
  expect_setequal(vapply(c("white", "yellow"), ground_for, ""), "grey20")
})

test_that("labels of contour lines are in the plot, clear of each other, with one for each level", {
  text <- graphics_calls("text", plot(kde(faithful, gridsize = 31), drawpoints = TRUE))
  expect_setequal(vapply(text, `[[`, "", "labels"), c("95%", "75%", "50%", "25%"))
  at <- t(vapply(text, function(of) unlist(of$xy[c("x", "y")]), numeric(2)))
  expect_gt(min(stats::dist(scale(at))), 0.1)
  expect_length(graphics_calls("text", plot(kde(faithful, gridsize = 31), drawlabels = FALSE)), 0)
})

test_that("an image has a key, and lines where they are asked for", {
  plane <- kde(faithful, gridsize = 11)
  of <- function(primitive, ...) length(graphics_calls(primitive, plot(plane, display = "image", ...)))
  expect_identical(of("raster"), 2L)
  expect_identical(c(of("contour"), of("contour", cont = 50) > 0L, of("contour", abs.cont = 0.01) > 0L), c(0L, 1L, 1L))
})

test_that("logarithmic axes hold all that is drawn and is positive", {
  ends <- function(code) {
    recorded({
      code
      found <- plot_corners()
    })
    found
  }
  fit <- suppressWarnings(npreg(dist ~ speed, cars))
  expect_lt(ends(plot(fit, log = "xy"))[3], min(cars$dist))
  boot <- with_seed(1, quietly(hboot(faithful$eruptions, B = 3)))
  expect_lt(ends(plot(boot, log = "xy"))[3], min(boot$curve$median))
  plane <- kde(faithful - 2, H = Hns(faithful), gridsize = 21)
  for (display in c("filled.contour", "slice", "image")) {
    expect_silent(drawn(plot(plane, display = display, log = "xy", cont = c(50, 95))))
  }
  # Nothing is in view.
  expect_silent(drawn(plot(kde(with_seed(1, rexp(2000)), h = 0.1), xlim = c(100, 200))))
})
