# How autoplot() draws every class, beside the pictures of test-ggplot.R. Small grids keep the files small.

skip_if_not_installed("ggplot2")
skip_if_not_installed("isoband")

shows <- function(name, object, ...) vdiffr::expect_doppelganger(name, ggplot2::autoplot(object, ...))

few <- faithful[seq(1, 272, by = 3), ]
flowers <- iris[c("Petal.Length", "Petal.Width", "Species")]
cars <- data.frame(mpg = mtcars$mpg, wt = mtcars$wt, hp = mtcars$hp, cyl = factor(mtcars$cyl))

test_that("densities and distributions", {
  shows("density on a line", kde(few$eruptions, gridsize = 41))
  shows("density in the plane", kde(few, gridsize = 21), cont = c(50, 95))
  shows("beta kernels", kde.boundary(few, gridsize = 15))
  shows("bandwidths that vary", kde.sp(few$eruptions, gridsize = 41))
  shows("density of a sketch", kde_sketch(few$eruptions, sketch_plan(few$eruptions)))
  shows("distribution", kcde(few$eruptions, gridsize = 31))
  shows("distribution in the plane", kcde(few, gridsize = 11))
  shows("copula", kcopula(few, gridsize = 9))
  shows("slope", kdde(few$eruptions, deriv.order = 1, gridsize = 41))
  shows("gradient", kdde(few, h = 1, deriv.order = 1, gridsize = 11))
  shows("histogram", histde(few$eruptions))
  shows("histogram in the plane", histde(few))
  shows("groups on a line", kde(flowers, ~ Petal.Length | Species, gridsize = 41))
  shows("groups in the plane", kde(flowers, ~ Petal.Length + Petal.Width | Species, gridsize = 21))
  shows("classes on a line", kda(flowers[1], flowers$Species, gridsize = 41))
  shows("classes in the plane", kda(flowers[1:2], flowers$Species, gridsize = 15))
})

test_that("features and comparisons", {
  H <- diag(c(0.1, 25))
  shows("significant curvature", kfs(few, H = H, gridsize = 15))
  shows("significant gradient on a line", kfs(few$eruptions, h = 0.3, deriv.order = 1, gridsize = 41))
  shows("map of gradients", sizer(few$eruptions, length = 11, gridsize = 31))
  shows("maps of the plane", sizer(few, h = c(0.5, 2), gridsize = 11))
  shows("clusters", kms(few, H = H))
  shows("clusters on a line", kms(few$eruptions, H = 0.1))
  shows("ridges", kdr(few, H = H, gridsize = 11))
  shows("ROC curve", kroc(few$eruptions, few$eruptions + 0.5, gridsize = 31))
  shows("local test", kde.local.test(few$eruptions, few$eruptions + 0.5, gridsize = 31))
  shows("local test in the plane", kde.local.test(few, few + rep(c(0.5, 10), each = nrow(few)), gridsize = 15))
  deep <- quakes$depth > 400
  set.seed(1)
  risk <- kde_risk(quakes[deep, 1:2], quakes[!deep, 1:2], h = 1.5, gridsize = 15, B = 19)
  shows("relative risk", risk)
  shows("relative risk on a line", kde_risk(quakes$lat[deep], quakes$lat[!deep], gridsize = 31))
  obs <- iris[51:100, 1:2]
  models <- list(virginica = iris[101:150, 1:2], setosa = iris[1:50, 1:2])
  shows("scores", pdf_score(obs, models, center = TRUE, gridsize = 12))
})

test_that("regressions", {
  bw <- npregbw(mpg ~ wt, data = cars)
  shows("criterion of a regression", bw)
  shows("regression", npreg(bw))
  density <- npudensbw(~ wt + hp, data = cars, bws = c(0.4, 30), bandwidth.compute = FALSE)
  shows("density of mixed data", npudens(density))
  shows("bandwidth of mixed data", density)
  below <- npcdistbw(mpg ~ wt, data = cars, bws = c(1, 0.4), bandwidth.compute = FALSE)
  shows("median", npqreg(below))
  partly <- npplregbw(mpg ~ hp | wt, cars, bws = matrix(0.5, 2), bandwidth.compute = FALSE)
  shows("partially linear", npplreg(partly))
  shows("smooth coefficients", npscoef(npscoefbw(mpg ~ hp | wt, cars, bws = 0.5, bandwidth.compute = FALSE)))
  shows("single index", npindex(c(1, -0.01, 0.5), cars[c("wt", "hp")], cars$mpg))
  shows("kernel sum", npksum(bws = 0.4, txdat = cars$wt, tydat = cars$mpg))
  both <- data.frame(x = few$eruptions + rep(0:19 / 99, each = nrow(few)), y = few$waiting + 9 * sin(1:1820))
  shows("criterion of a sketch", npregbw(kde_sketch(both, sketch_plan(both, 0.1, "x", y = "y")), 2^(-8:2 / 2)))
})

test_that("tests and bandwidths", {
  set.seed(2)
  shows("permutations", kde.test(few$eruptions, few$eruptions + 0.3, B = 99))
  shows("normal distribution of a test", kde.test(few$eruptions, few$eruptions + 0.3))
  model <- lm(mpg ~ wt, cars)
  shows("specification", npcmstest(model = model, xdat = cars$wt, bws = 0.5, boot.num = 99))
  shows("asymptotic specification", npcmstest(model = model, xdat = cars$wt, bws = 0.5, distribution = "asymptotic"))
  shows("equality", npdeneqtest(cars$mpg, cars$hp / 10, 2, 2, boot.num = 99))
  shows("symmetry", npsymtest(few$eruptions, boot.num = 99, bw = 0.3))
  shows("serial dependence", npsdeptest(as.numeric(lh), 2, "summation", boot.num = 19, bw.y = c(0.2, 0.2),
                                        bw.y.lag = c(0.2, 0.2), bw.joint = matrix(0.3, 2, 2)))
  shows("smoothed bootstrap", hboot(few$eruptions, B = 9, h = seq(0.2, 1.4, by = 0.1)))
  shows("record of a selector", hscv(few$eruptions, amise = TRUE))
  shows("cross-validation of a page", explore(kde(few$eruptions, gridsize = 21), factor = 2^(-3:3 / 2)))
  truth <- c(3, 10, 40, 120, 400)
  shows("q-errors", q_error(data.frame(density = truth + 2, sample = truth * c(0, 2, 1, 1, 1.5)), truth))
})
