# Layers and pictures for ggplot2: their numbers, beside kde() and npreg(), and how some of them look.

skip_if_not_installed("ggplot2")
skip_if_not_installed("generics")

library(ggplot2)

few <- faithful[seq(1, 272, by = 3), ]
flowers <- iris[c("Petal.Length", "Petal.Width", "Species")]

test_that("the density of each group is that of kde()", {
  drawn <- layer_data(ggplot(flowers, aes(Petal.Length, colour = Species)) + stat_kestrel_density(gridsize = 50))
  for (k in 1:3) {
    fhat <- kde(flowers$Petal.Length[flowers$Species == levels(flowers$Species)[k]], gridsize = 50)
    rows <- drawn[drawn$group == k, ]
    expect_identical(rows$x, fhat$eval.points)
    expect_identical(rows$density, fhat$estimate)
    expect_identical(rows$y, rows$density)
    expect_identical(rows$h[1L], fhat$h)
    expect_equal(rows$count, 50 * fhat$estimate, tolerance = 1e-15)
    expect_identical(max(rows$scaled), 1)
  }
  weighted <- ggplot(few, aes(eruptions, weight = waiting)) + stat_kestrel_density(bounds = c(1, Inf), h = 0.2)
  fhat <- kde(few$eruptions, w = few$waiting, bounds = c(1, Inf), h = 0.2)
  expect_identical(layer_data(weighted)$density, fhat$estimate)
  facets <- ggplot(flowers, aes(Petal.Length)) + stat_kestrel_density(gridsize = 9) + facet_wrap("Species")
  expect_identical(layer_data(facets)$density[19:27],
                   kde(flowers$Petal.Length[101:150], gridsize = 9)$estimate)
})

test_that("bandwidths may be one for each group, or functions", {
  widths <- function(...) {
    drawn <- layer_data(ggplot(flowers, aes(Petal.Length, colour = Species)) + stat_kestrel_density(gridsize = 9, ...))
    vapply(split(drawn$h, drawn$group), unique, 0, USE.NAMES = FALSE)
  }
  expect_identical(widths(h = 0.3), c(0.3, 0.3, 0.3))
  expect_identical(widths(h = 1:3 / 4), 1:3 / 4)
  parts <- split(flowers$Petal.Length, flowers$Species)
  expect_identical(widths(h = function(x) hns(x)), vapply(parts, hns, 0, USE.NAMES = FALSE))
})

test_that("borders of regions lie at the levels of kde()", {
  fhat <- kde(few)
  levels <- contourLevels(fhat, cont = c(95, 50))
  lines <- layer_data(ggplot(few, aes(eruptions, waiting)) + stat_kestrel_density_2d(cont = c(50, 95)))
  expect_identical(levels(lines$probability), c("95%", "50%"))
  expect_equal(unique(lines$level), unname(levels), tolerance = 1e-12)
  # Linear interpolation in the cells of the grid.
  on <- abs(predict(fhat, cbind(lines$x, lines$y)) / lines$level - 1)
  expect_lt(max(on), 0.02)
  regions <- layer_data(ggplot(few, aes(eruptions, waiting)) + geom_kestrel_hdr(cont = c(50, 95)))
  expect_setequal(round(regions$level, 12), round(levels, 12))
  area <- function(rows) {
    ring <- function(xy) sum(xy$x * c(xy$y[-1L], xy$y[1L]) - c(xy$x[-1L], xy$x[1L]) * xy$y) / 2
    abs(sum(vapply(split(rows, rows$subgroup), ring, 0)))
  }
  # The band of the region of 95 % has that of 50 % as its hole.
  expect_equal(area(regions[regions$probability == "50%", ]), unname(contourSizes(fhat, cont = 50)), tolerance = 0.02)
  expect_equal(area(regions[regions$probability == "95%", ]), unname(-diff(contourSizes(fhat, cont = c(95, 50)))),
               tolerance = 0.02)
  H <- list(diag(2), diag(2) / 4, diag(2) / 9)
  groups <- layer_data(ggplot(flowers, aes(Petal.Length, Petal.Width, colour = Species)) +
                         stat_kestrel_density_2d(H = H, cont = 50, gridsize = 20))
  third <- kde(as.matrix(flowers[101:150, 1:2]), H = H[[3L]], gridsize = 20)
  expect_equal(unique(groups$level[startsWith(as.character(groups$group), "3")]),
               unname(contourLevels(third, cont = 50)), tolerance = 1e-12)
})

test_that("layers of the plane have the weights, groups, facets and bounds of kde()", {
  # The points of a path lie on the border by linear interpolation in the cells of the grid, as isoband makes them.
  border <- function(fhat, cont) {
    level <- contourLevels(fhat, cont = cont)
    line <- isoband::isolines(fhat$eval.points[[1L]], fhat$eval.points[[2L]], t(fhat$estimate), level)[[1L]]
    cbind(line$x, line$y)
  }
  w <- flowers$Petal.Length
  bounds <- cbind(c(0.9, 0), Inf)
  both <- ggplot(flowers, aes(Petal.Length, Petal.Width, weight = w)) + facet_wrap("Species") +
    stat_kestrel_density_2d(cont = 80, gridsize = 25, bounds = bounds, h = 0.3)
  drawn <- layer_data(both)
  for (k in 1:3) {
    rows <- 50 * (k - 1) + 1:50
    fhat <- kde(as.matrix(flowers[rows, 1:2]), w = w[rows], h = 0.3, bounds = bounds, gridsize = 25)
    at <- drawn[drawn$PANEL == k, ]
    expect_equal(unique(at$level), unname(contourLevels(fhat, cont = 80)), tolerance = 1e-12)
    expect_equal(cbind(at$x, at$y), border(fhat, 80), tolerance = 1e-12)
  }
  # As regions, with a matrix for each group.
  H <- list(diag(2) / 9, diag(c(0.2, 0.1)), matrix(c(0.3, 0.1, 0.1, 0.2), 2))
  filled <- layer_data(ggplot(flowers, aes(Petal.Length, Petal.Width, group = Species)) +
                         geom_kestrel_hdr(cont = 80, gridsize = 25, H = H))
  for (k in 1:3) {
    fhat <- kde(as.matrix(flowers[50 * (k - 1) + 1:50, 1:2]), H = H[[k]], gridsize = 25)
    at <- filled[startsWith(as.character(filled$group), as.character(k)), ]
    band <- isoband::isobands(fhat$eval.points[[1L]], fhat$eval.points[[2L]], t(fhat$estimate),
                              contourLevels(fhat, cont = 80), Inf)[[1L]]
    expect_equal(cbind(at$x, at$y), cbind(band$x, band$y), tolerance = 1e-12)
  }
  # The legend has the probabilities, for lines, too.
  named <- ggplot(few, aes(eruptions, waiting)) +
    stat_kestrel_density_2d(aes(colour = after_stat(probability)), cont = c(50, 95))
  scale <- ggplot_build(named)$plot$scales$get_scales("colour")
  expect_identical(scale$get_labels(), c("95%", "50%"))
  expect_identical(scale$name, waiver())
  expect_identical(ggplot_build(named)$plot$labels$colour, "probability")
})

test_that("curves are those of npreg()", {
  plot <- ggplot(few, aes(eruptions, waiting)) + stat_kestrel_smooth(n = 9, level = 0.9, regtype = "ll", bws = 0.4)
  fit <- npreg(txdat = few$eruptions, tydat = few$waiting, bws = 0.4, regtype = "ll")
  drawn <- layer_data(plot)
  at <- predict(fit, exdat = drawn$x, interval = "confidence", level = 0.9)
  expect_equal(unname(as.matrix(drawn[c("y", "ymin", "ymax")])), unname(at), tolerance = 1e-12)
  selected <- layer_data(ggplot(few, aes(eruptions, waiting)) + stat_kestrel_smooth(n = 3, se = FALSE))
  expect_equal(selected$y, predict(npreg(waiting ~ eruptions, data = few), exdat = selected$x), tolerance = 1e-12)
  expect_null(selected$ymin)
})

test_that("small groups are named and left out with one warning", {
  some <- rbind(flowers[c(1:20, 51), ], flowers[101:120, ])
  line <- ggplot(some, aes(Petal.Length, colour = Species))
  small <- expect_warning(drawn <- layer_data(line + stat_kestrel_density(gridsize = 5)),
                          class = "kestrel_warning_groups")
  expect_setequal(drawn$group, c(1, 3))
  plane <- ggplot(some, aes(Petal.Length, Petal.Width, colour = Species))
  expect_warning(layer_data(plane + stat_kestrel_density_2d(gridsize = 20)), class = "kestrel_warning_groups")
  expect_setequal(layer_data(line + stat_kestrel_density(h = 0.2, gridsize = 5))$group, 1:3)
  lonely <- data.frame(x = c(1:5, 9), g = c(1, 1, 1, 1, 1, 2))
  unnamed <- expect_warning(layer_data(ggplot(lonely, aes(x, group = g)) + stat_kestrel_density(gridsize = 5)),
                            class = "kestrel_warning_groups")
  expect_snapshot_output(say(small, unnamed))
})

test_that("every object with a plot has a picture", {
  objects <- suppressMessages(suppressWarnings(objects_to_edit()))
  pictures <- lapply(objects, function(object) {
    tryCatch(suppressWarnings(ggplot_build(autoplot(object))$data), error = function(e) {
      if (inherits(e, "kestrel_error_input")) conditionMessage(e) else "none"
    })
  })
  drawn <- vapply(pictures, is.list, NA)
  expect_snapshot_output(for (name in names(pictures)) {
    data <- pictures[[name]]
    cat(name, ": ", if (is.list(data)) paste(length(data), "layers") else data, "\n", sep = "")
  })
  plotted <- vapply(objects, function(object) {
    any(!vapply(class(object), function(class) is.null(getS3method("plot", class, TRUE)), NA))
  }, NA)
  refused <- vapply(pictures, function(data) identical(data, "none"), NA)
  without <- vapply(objects[plotted & refused], function(object) class(object)[1L], "")
  expect_false(any(without %in% names(kestrel:::pictures)))
  # The numbers are those of the tables.
  expect_identical(pictures$line[[1L]]$y, objects$line$estimate)
  expect_identical(pictures$roc[[2L]]$y, objects$roc$estimate)
  expect_identical(pictures$tree[[1L]]$x, objects$tree$modes$mode)
  expect_identical(pictures$sketch[[1L]]$y, kde(objects$sketch)$estimate)
  expect_identical(pictures$tested[[2L]]$xintercept, as.vector(objects$tested$In))
  expect_identical(sum(pictures$tested[[1L]]$count), 27)
  expect_identical(pictures$serial[[2L]]$xintercept, objects$serial$Srho)
  expect_identical(pictures$synopsis[[2L]]$y, log10(unlist(objects$synopsis$history[c("median", "largest")],
                                                            use.names = FALSE)))
  expect_identical(pictures$sums[[1L]]$y, as.vector(objects$sums$ksum)[order(objects$sums$eval$x)])
  layers <- autolayer(objects$line)
  expect_s3_class(layers[[1L]], "LayerInstance")
})

test_that("arguments of layers are checked before anything is drawn", {
  fhat <- kde(few, eval.points = few)
  mixed <- npreg(c(0.5, 0.2), data.frame(a = mtcars$wt, z = factor(mtcars$cyl)), mtcars$mpg)
  expect_refused(
    stat_kestrel_density(h = -1),
    stat_kestrel_density(kernel = "normal"),
    stat_kestrel_density(gridsize = 1),
    stat_kestrel_density_2d(h = 1, H = diag(2)),
    stat_kestrel_density_2d(H = diag(3)),
    geom_kestrel_hdr(cont = 0.5),
    stat_kestrel_smooth(level = 95),
    stat_kestrel_smooth(regtype = "lp"),
    autoplot(fhat),
    autoplot(kde(few), levels = 3),
    autoplot(mixed, variables = "b"),
    autoplot(mixed, variables = c("a", "z")),
    autoplot(npunitest(1:9, 2:9, bootstrap = FALSE)),
    autoplot(npksum(bws = c(1, 1), txdat = few)),
    autoplot(kde_synopsis(few))
  )
})

test_that("pictures look as they did", {
  hdr <- ggplot(flowers, aes(Petal.Length, Petal.Width)) + geom_kestrel_hdr(gridsize = 21) +
    geom_point(size = 0.3) + facet_wrap("Species", scales = "free")
  vdiffr::expect_doppelganger("regions in facets", hdr)
  lines <- ggplot(flowers, aes(Petal.Length, Petal.Width, colour = Species)) +
    stat_kestrel_density_2d(gridsize = 21, cont = c(50, 90)) + stat_kestrel_smooth(n = 20, bws = 0.5)
  vdiffr::expect_doppelganger("lines of groups", lines)
  vdiffr::expect_doppelganger("pairs of variables", autoplot(kde(iris[1:3], gridsize = 15)))
  mixed <- npreg(c(0.5, 30, 0.2), data.frame(wt = mtcars$wt, hp = mtcars$hp, z = factor(mtcars$cyl)), mtcars$mpg)
  vdiffr::expect_doppelganger("panels of a regression", autoplot(mixed))
  vdiffr::expect_doppelganger("tree of modes", autoplot(modetree(few$eruptions, length = 25)))
  set.seed(1)
  vdiffr::expect_doppelganger("bootstrap of a test", autoplot(npsigtest(mixed$bws, index = c(1, 3), boot.num = 99)))
  synopsis <- kde_synopsis(few, size = 50, h = 2)
  for (k in 1:4) {
    lower <- unname(cbind(k, c(40, 60, 75)))
    counts <- vapply(lower[, 2L], function(from) sum(few[[1L]] %/% 1 == k & few[[2L]] >= from), 0L)
    synopsis <- learn(synopsis, list(lower = lower, upper = cbind(c(1, 1, 1) + k, 99)), counts)
  }
  vdiffr::expect_doppelganger("learning of a synopsis", autoplot(synopsis))
  modes <- npconmode(factor(cyl) ~ wt + hp, data = mtcars)
  vdiffr::expect_doppelganger("modes of a factor", autoplot(modes))
})
