# Every plot as a picture. Tests of the methods count what is drawn; these keep plots as they were inspected. Small
# grids keep the files small.

picture <- function(name, code) {
  draw <- substitute(code)
  frame <- parent.frame()
  vdiffr::expect_doppelganger(name, function() eval(draw, frame))
}

plane <- kde(faithful[seq(1, 272, by = 3), ], gridsize = 21)
obs <- iris[51:100, 1:3]
models <- list(virginica = iris[101:150, 1:3],
               "a model with a name that is too long for the width of a page" = obs^1.02)
score <- local({
  set.seed(1)
  pdf_score(obs, models, center = TRUE, gridsize = 12, B = 20)
})

test_that("densities of one variable", {
  picture("line", plot(kde(faithful$eruptions, gridsize = 101), cont = c(50, 95)))
  picture("line on logarithmic axes", plot(kde(faithful$waiting, gridsize = 101), cont = 50, log = "xy", lty = 2,
                                           main = "Old Faithful"))
  picture("lines and points added", {
    plot(kde(faithful$eruptions, gridsize = 51), drawpoints = FALSE, lwd = 4)
    lines(kde(faithful$eruptions, h = 0.6, gridsize = 51), col = "red", lty = 2)
    points(kde(faithful$eruptions, h = 0.6, eval.points = c(4, 2, 3)), cex = 1.5)
  })
  # Numbers written alike.
  picture("lines side by side", {
    before <- graphics::par(mfrow = c(1, 2))
    plot(kde(faithful$eruptions, gridsize = 51), drawpoints = FALSE)
    plot(kde(faithful$waiting, gridsize = 51), drawpoints = FALSE)
    graphics::par(before)
  })
  picture("line on the scale of logarithms", {
    plot(kde(airquality$Ozone, positive = TRUE, na.action = na.omit, gridsize = 101), main = "Ozone", cex.lab = 1.5)
  })
  # Numbers too long to be written horizontally.
  picture("line with long numbers", plot(kde(1e6 * faithful$eruptions, gridsize = 101), drawpoints = FALSE))
})

test_that("densities of two variables", {
  picture("plane with points", plot(plane, drawpoints = TRUE))
  picture("plane with one region", plot(plane, cont = 90))
  picture("plane as lines", plot(plane, display = "slice", abs.cont = c(0.001, 0.01, 0.02)))
  picture("plane as image", plot(plane, display = "image"))
  picture("plane as image with lines", plot(plane, display = "image", cont = c(25, 75), main = "Old Faithful"))
  z <- unname(as.matrix(faithful[seq(1, 272, by = 3), ]))
  picture("plane as image with points", plot(kde(z, gridsize = 21), display = "image", cont = 50, drawpoints = TRUE))
  picture("distribution as image", plot(kcde(faithful, gridsize = 21), display = "image"))
  coarse <- kde(faithful, gridsize = 16)
  picture("panels on a dark page", {
    before <- graphics::par(mfrow = c(2, 2), bg = "grey20", fg = "white", col.axis = "white", col.lab = "white")
    plot(coarse, display = "slice", col = "yellow")
    plot(coarse, display = "persp")
    plot(kcde(faithful, gridsize = 16))
    plot(coarse)
    graphics::par(before)
  })
  picture("plane as surface", plot(coarse, display = "persp", theta = 30, phi = 30, main = "Old Faithful"))
})

test_that("densities of three variables", {
  picture("pairs with points", {
    plot(kde(airquality[1:30, c("Wind", "Temp", "Day")], gridsize = 11, kernel = "epanechnikov"), drawpoints = TRUE,
         pch = 3, lty = 3, las = 2, cex.axis = 1.3, main = "New York")
  })
  picture("pairs", plot(kde(iris[, 1:3], gridsize = 11, kernel = "epanechnikov"), cont = c(50, 90)))
})

test_that("regressions and their bandwidths", {
  bw <- npregbw(dist ~ speed, cars, nbw = 50, ckertype = "epanechnikov", bw.scale = "support")
  picture("curve of cross-validation", plot(bw, what = "cv"))
  picture("curve on a logarithmic axis", plot(bw, what = "cv", log = "x", main = "Stopping distance"))
  picture("curve of a scan", plot(npregbw(accel ~ times, MASS::mcycle), what = "cv"))
  # A rejected bandwidth has an AIC of 4000, the others less than 8.
  x <- c(1, 2, 2.5, 4, 5.5, 6, 7.25, 9)
  y <- c(2, 3, 3.5, 5, 4, 6.5, 6, 8)
  picture("curve of the corrected AIC", plot(suppressWarnings(npregbw(
    x, y, bwmethod = "cv.aic", nbw = 50, ckertype = "epanechnikov", bw.scale = "support"
  )), what = "cv"))
  picture("fit", plot(npreg(bw)))
  picture("fit of vectors", plot(npreg(
    txdat = cars$speed, tydat = cars$dist, nbw = 50, ckertype = "epanechnikov", bw.scale = "support"
  ), lty = 2, lwd = 3, pch = 3, cex = 1.2, main = "Stopping distance"))
  picture("fits added", {
    plot(npreg(bw), band = FALSE)
    lines(npreg(dist ~ speed, cars, bws = 8, ckertype = "epanechnikov", bw.scale = "support"), col = "red", lty = 2)
    points(npreg(bw, exdat = c(20, 10)), cex = 2)
  })
  daily <- data.frame(day = as.Date("1973-04-30") + seq_len(nrow(airquality)), airquality)
  picture("fit by date", plot(npreg(Temp ~ day, daily)))
  picture("fit by date and a number", plot(npreg(Temp ~ day + Wind, daily, bws = c(9, 3))))
  picture("fit with gaps", plot(suppressWarnings(npreg(dist ~ speed, cars, bws = 0.8, ckertype = "epanechnikov",
                                                               bw.scale = "support"))))
})

test_that("errors of a smoothed bootstrap", {
  set.seed(1)
  boot <- hboot(faithful$eruptions, B = 20, h = seq(0.2, 1.4, by = 0.1))
  picture("bootstrap", plot(boot))
})

test_that("criteria of a bandwidth", {
  picture("criterion", hscv(precip, nstage = 1, plot = TRUE))
  picture("record of a criterion", plot(hscv(precip, nstage = 1, amise = TRUE)))
})

test_that("scores", {
  picture("ranking", plot(score))
  picture("score of three variables", plot(score, model = 1))
  two <- pdf_score(obs[, 1:2], lapply(models, function(model) model[, 1:2]), center = TRUE, gridsize = 15)
  picture("score with a long name", plot(two, model = 2))
  one <- pdf_score(obs[, 1], models[[1]][, 1], center = TRUE, gridsize = 101)
  picture("score of one variable", plot(one))
})

test_that("q-errors", {
  truth <- c(3, 10, 40, 120, 400)
  picture("q-errors", plot(q_error(data.frame(density = truth + 2, sample = truth * c(0, 2, 1, 1, 1.5)), truth)))
})

test_that("confidence bands", {
  picture("bands", {
    before <- graphics::par(mfrow = c(1, 2))
    set.seed(1)
    plot(kde(faithful$eruptions, gridsize = 51), interval = "simultaneous", B = 100)
    plot(kcde(faithful$eruptions, gridsize = 51), interval = "pointwise", level = 0.9, method = "asymptotic", col = 2)
    graphics::par(before)
  })
})

test_that("a tree of modes", {
  picture("mode tree", plot(modetree(faithful$eruptions, length = 21)))
})

test_that("a map of significant gradients", {
  picture("significant gradients by bandwidth", plot(sizer(faithful$eruptions, length = 11, gridsize = 61)))
})

test_that("groups and a relative risk", {
  picture("groups on a line", plot(kde(iris, ~ Petal.Length | Species, gridsize = 41)))
  picture("groups in the plane", plot(kde(iris, ~ Petal.Length + Petal.Width | Species, gridsize = 21), cont = 80))
  deep <- quakes$depth > 400
  picture("relative risk", plot(kde_risk(quakes[deep, 1:2], quakes[!deep, 1:2], h = 1.5, gridsize = 15)))
  picture("relative risk on a line", plot(kde_risk(quakes$lat[deep], quakes$lat[!deep], gridsize = 41)))
})

test_that("densities made otherwise", {
  rows <- faithful[seq(1, 272, by = 6), ]
  picture("truncated density", plot(kde.truncate(plane, cbind(c(1, 6, 6, 1), c(40, 40, 95, 70)))))
  picture("density with a boundary", plot(kde.boundary(airquality$Ozone, xmin = 0, na.action = na.omit, gridsize = 41)))
  picture("density with a bandwidth for each observation", plot(kde.sp(rows, gridsize = 15)))
  sample <- faithful$eruptions
  picture("density of a sketch", plot(kde_sketch(sample, sketch_plan(sample, 0.3))))
  picture("histograms", {
    before <- graphics::par(mfrow = c(1, 2))
    plot(histde(faithful$eruptions), drawpoints = TRUE)
    plot(histde(faithful))
    graphics::par(before)
  })
  picture("copula", plot(kcopula(rows, gridsize = 15)))
  known <- learn(kde_synopsis(faithful, size = 50, h = 0.3), list(lower = faithful - 1, upper = faithful + 1),
                 rep(c(4, 9), 136))
  picture("errors of a synopsis while it learns", plot(known))
})

test_that("derivatives and what is made of them", {
  rows <- faithful[seq(1, 272, by = 6), ]
  bend <- kdde(rows, deriv.order = 2, gridsize = 15)
  picture("derivatives", {
    before <- graphics::par(mfrow = c(2, 2))
    plot(kdde(faithful$eruptions, deriv.order = 1, gridsize = 41))
    plot(bend, which.deriv.ind = 2)
    plot(kdde(rows, deriv.order = 1, gridsize = 7), display = "quiver")
    plot(kcurv(bend))
    graphics::par(before)
  })
  picture("significant curvature", {
    before <- graphics::par(mfrow = c(1, 2))
    plot(kfs(faithful$eruptions, gridsize = 41))
    plot(kfs(faithful, gridsize = 15), drawpoints = FALSE)
    graphics::par(before)
  })
  picture("gradients of a plane by bandwidth", plot(sizer(rows, h = c(0.5, 1, 2), gridsize = 9)))
  picture("clusters", plot(kms(rows)))
  picture("ridges", {
    before <- graphics::par(mfrow = c(1, 2))
    ridges <- kdr(rows, H = diag(c(0.2, 30)), gridsize = 51)
    plot(ridges)
    plot(ridges, type = "l")
    graphics::par(before)
  })
})

test_that("classes and samples beside each other", {
  flowers <- iris[seq(1, 150, by = 3), ]
  picture("classes on a line", plot(kda(flowers$Petal.Length, flowers$Species, gridsize = 41)))
  picture("classes in the plane", plot(kda(flowers[3:4], flowers$Species, gridsize = 15)))
  picture("receiver operating characteristic", {
    plot(kroc(iris$Sepal.Length[51:100], iris$Sepal.Length[101:150], gridsize = 41), add.roc.ref = TRUE)
  })
  picture("regions where densities differ", {
    before <- graphics::par(mfrow = c(1, 2))
    plot(kde.local.test(iris$Petal.Width[51:100], iris$Petal.Width[101:150], gridsize = 41))
    plot(kde.local.test(iris[51:100, 3:4], iris[101:150, 3:4], gridsize = 15))
    graphics::par(before)
  })
})

test_that("models of mixed data", {
  cars <- transform(mtcars, cyl = factor(cyl))
  mixed <- npregbw(mpg ~ wt + cyl, data = cars, bws = c(0.5, 0.2), bandwidth.compute = FALSE)
  picture("fit by a number and a factor", plot(npreg(mixed), neval = 21))
  density <- npudensbw(~ wt + cyl, data = cars, bws = c(0.4, 0.2), bandwidth.compute = FALSE)
  picture("density of a number and a factor", plot(density, neval = 21))
  given <- npcdensbw(mpg ~ wt, data = cars, bws = c(2, 0.4), bandwidth.compute = FALSE)
  picture("conditional density", plot(npcdens(given), neval = 15))
  below <- npcdistbw(mpg ~ wt, data = cars, bws = c(2, 0.4), bandwidth.compute = FALSE)
  picture("regression of a quantile", plot(npqreg(below, tau = 0.25), neval = 21))
  partly <- npplregbw(mpg ~ hp | wt, cars, bws = matrix(0.5, 2), bandwidth.compute = FALSE)
  picture("partially linear fit", plot(npplreg(partly), neval = 21))
  smooth <- npscoefbw(mpg ~ hp | wt, cars, bws = 0.5, bandwidth.compute = FALSE)
  picture("smooth coefficients", plot(npscoef(smooth), coef = TRUE, neval = 21))
  index <- npindexbw(mpg ~ wt + hp, cars, bws = c(1, 0.01, 0.5), bandwidth.compute = FALSE)
  picture("fit by an index", plot(npindex(index)))
})
