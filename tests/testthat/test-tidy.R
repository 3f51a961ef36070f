# as.data.frame(), and the generics of package generics, for objects of every class.

skip_if_not_installed("generics")
skip_if_not_installed("tibble")

columns_text <- function(frame) paste0(nrow(frame), " x ", paste(names(frame), collapse = ", "))

# The values are those of fields, which other tests compare with oracles.
test_that("every class has tables, whose columns stay as they are", {
  objects <- suppressMessages(suppressWarnings(objects_to_edit()))
  classes <- vapply(objects, function(object) class(object)[1L], "")
  objects <- objects[!startsWith(classes, "summary")]
  verbs <- list(frame = as.data.frame, tidy = generics::tidy, glance = generics::glance, augment = generics::augment)
  expect_snapshot_output(for (name in names(objects)) {
    cat(name, ", ", class(objects[[name]])[1L], "\n", sep = "")
    for (verb in names(verbs)) {
      text <- tryCatch(suppressWarnings(columns_text(verbs[[verb]](objects[[name]]))), error = function(e) {
        if (inherits(e, "kestrel_error_input")) conditionMessage(e)
      })
      if (!is.null(text)) cat(strwrap(paste0(verb, " ", text), 110, indent = 2, exdent = 6), sep = "\n")
    }
  })
  # The help of tidiers, data-frames and ggplot-pictures says why these have none.
  lacking <- function(generic, package) {
    has <- function(class) !is.null(utils::getS3method(generic, class, TRUE, asNamespace(package)))
    without <- Filter(function(object) !any(vapply(setdiff(class(object), "list"), has, NA)), objects)
    sort(unique(vapply(without, function(object) class(object)[1L], "", USE.NAMES = FALSE)))
  }
  nothing <- c("kestrel_curve", "kestrel_info", "kestrel_selection")
  expect_identical(lacking("as.data.frame", "base"), c(nothing, "kestrel_stream"))
  expect_identical(lacking("tidy", "generics"), c(nothing, "kestrel_stream"))
  expect_identical(lacking("glance", "generics"), sort(c(nothing, "kestrel_sketch_plan")))
  expect_identical(lacking("autoplot", "ggplot2"), sort(c(nothing, "kestrel_sketch_plan", "kestrel_stream")))
  expect_identical(lacking("autolayer", "ggplot2"), lacking("autoplot", "ggplot2"))
  # Nothing of these is at the rows of data.
  expect_setequal(lacking("augment", "generics"), c(
    nothing, "kestrel_sketch_plan", "kestrel_stream", "kestrel_sketch", "kestrel_synopsis", "kestrel_q_error",
    paste0("kestrel_", c("cmstest", "deneqtest", "kdetest", "loctest", "sdeptest", "sigtest", "srho")),
    paste0("kestrel_", c("boot", "explorer", "kcopula", "kdr", "kfs", "kroc", "ksum", "modetree", "record", "risk",
                         "score", "sizer", "sizer_plane"))
  ))
  # as_tibble() is that of data frames.
  for (object in objects) {
    table <- tryCatch(suppressWarnings(as.data.frame(object)), error = function(e) NULL)
    if (!is.null(table)) expect_identical(as.data.frame(tibble::as_tibble(object)), table, ignore_attr = TRUE)
  }
})

test_that("tables hold the estimates at their points", {
  below <- kcde(faithful[1:20, ], gridsize = c(3, 2))
  expect_identical(as.data.frame(below)[4L, ], data.frame(eruptions = below$eval.points[[1L]][1L],
                                                          waiting = below$eval.points[[2L]][2L],
                                                          estimate = below$estimate[1L, 2L], row.names = 4L))
  classes <- kda(faithful[1:20, ], rep(c("a", "b"), 10L), gridsize = c(3, 2))
  frame <- as.data.frame(classes)
  expect_identical(frame$estimate[frame$group == "b"], as.vector(classes$estimate[[2L]]))
  bars <- as.data.frame(histde(faithful, binw = c(1, 20)))
  volumes <- (bars$eruptions.upper - bars$eruptions.lower) * (bars$waiting.upper - bars$waiting.lower)
  expect_equal(sum(volumes * bars$estimate), 1, tolerance = 1e-12)
  # Points of sums with two weightings.
  sums <- npksum(bws = 1, txdat = 1:4, tydat = cbind(1:4, 2), exdat = c(1, 3, 5))
  one <- npksum(bws = 1, txdat = 1:4, tydat = 1:4, exdat = c(1, 3, 5))
  expect_equal(as.data.frame(sums)$ksum.1, as.data.frame(one)$ksum)
  weighted <- npksum(bws = 1, txdat = 1:4, tydat = cbind(1:4, 2), weights = cbind(1:4, 1), exdat = c(1, 3, 5))
  expect_equal(as.data.frame(weighted)[2:5], as.data.frame(t(matrix(weighted$ksum, 4))), ignore_attr = TRUE)
  # Names that columns have already.
  named <- data.frame(estimate = faithful$eruptions[1:20], mean = faithful$waiting[1:20])
  expect_named(generics::tidy(kcde(named, gridsize = 2)), c("estimate.1", "mean", "estimate"))
  expect_named(generics::tidy(npreg(mean ~ estimate, data = named)),
               c("estimate.1", "estimate", "std.error", "conf.low", "conf.high"))
})

test_that("tables are tibbles, and as_tibble() takes every class", {
  fit <- npreg(waiting ~ eruptions, data = faithful[1:30, ])
  expect_s3_class(generics::tidy(fit), "tbl_df")
  expect_identical(tibble::as_tibble(fit), tibble::as_tibble(as.data.frame(fit)))
})

test_that("augment() adds what predict() gives", {
  cars <- mtcars
  cars$wt[3L] <- NA
  fit <- npreg(mpg ~ wt, data = cars, na.action = na.omit)
  added <- generics::augment(fit, cars)
  expect_identical(added$.fitted, as.vector(fitted(fit)))
  expect_identical(added$.resid, as.vector(residuals(fit)))
  expect_identical(added$.se.fit, as.vector(se(fit)))
  expect_identical(added$hp, cars$hp[-3L])
  expect_identical(added[c("mpg", "wt", ".fitted")], generics::augment(fit)[c("mpg", "wt", ".fitted")])
  at <- npreg(mpg ~ wt, data = cars, na.action = na.omit, newdata = data.frame(wt = 2:4))
  expect_equal(generics::augment(at), generics::augment(fit), tolerance = 1e-12)
  new <- data.frame(wt = c(2, 3), name = c("a", "b"))
  expect_identical(generics::augment(fit, newdata = new)$.fitted, as.vector(predict(fit, new)))
  expect_identical(generics::augment(fit, newdata = new)$name, new$name)

  fhat <- kde(mtcars[c("mpg", "wt")], gridsize = 3)
  added <- generics::augment(fhat, mtcars)
  expect_identical(added$.fitted, predict(fhat, mtcars[c("mpg", "wt")]))
  expect_identical(added$cyl, mtcars$cyl)
  expect_equal(generics::augment(fhat, newdata = mtcars[3:1, ])$.fitted, added$.fitted[3:1], tolerance = 1e-12)
  expect_identical(generics::augment(kde(mtcars$mpg), newdata = c(20, 21))$x, c(20, 21))

  partly <- npplreg(npplregbw(mpg ~ hp | wt, mtcars, bws = matrix(0.5, 2), bandwidth.compute = FALSE))
  expect_identical(generics::augment(partly)$.resid, unname(residuals(partly)))
  rows <- generics::tidy(partly, conf.int = TRUE, conf.level = 0.9)
  expect_identical(rows$std.error, sqrt(diag(unname(vcov(partly)))))
  expect_equal(rows$conf.high, unname(coef(partly)) + qnorm(0.95) * rows$std.error, tolerance = 1e-15)
})

test_that("augment() of derivatives and bandwidths is that of their predictions and fits", {
  slope <- kdde(faithful[1:20, ], H = diag(c(0.1, 30)), deriv.order = 1, gridsize = 3)
  added <- generics::augment(slope, faithful[1:20, ])
  expect_identical(unname(as.matrix(added[c(".D.eruptions", ".D.waiting")])), unname(predict(slope, faithful[1:20, ])))
  bend <- kdde(faithful[1:20, ], H = diag(c(0.1, 30)), deriv.order = 2, gridsize = 3)
  expect_named(generics::augment(bend), c("eruptions", "waiting", ".D.eruptions.eruptions", ".D.eruptions.waiting",
                                          ".D.waiting.waiting"))
  line <- kdde(faithful$eruptions[1:20], h = 0.3, deriv.order = 1)
  expect_identical(generics::augment(line, newdata = 2:4)$.fitted, as.vector(predict(line, 2:4)))
  curvature <- kcurv(bend)
  expect_identical(generics::augment(curvature)$.fitted, as.vector(predict(curvature, faithful[1:20, ])))
  bw <- npregbw(mpg ~ wt, data = mtcars, bws = 0.5)
  expect_identical(generics::augment(bw), generics::augment(npreg(bw)))
  density <- npudensbw(~ mpg + wt, data = mtcars, bws = c(2, 0.5), bandwidth.compute = FALSE)
  expect_identical(generics::augment(density), generics::augment(npudens(density)))
  for (make in list(list(npcdensbw, npcdens), list(npcdistbw, npcdist))) {
    given <- make[[1]](xdat = mtcars["wt"], ydat = mtcars["mpg"], bws = c(2, 0.5), bandwidth.compute = FALSE)
    expect_identical(generics::augment(given), generics::augment(make[[2]](given)))
    elsewhere <- make[[2]](given, exdat = data.frame(wt = 2:3), eydat = data.frame(mpg = c(20, 21)))
    expect_equal(generics::augment(elsewhere), generics::augment(given), tolerance = 1e-12)
  }
  index <- npindexbw(xdat = mtcars[c("wt", "hp")], ydat = mtcars$mpg, bws = c(1, -0.01, 0.5), bandwidth.compute = FALSE)
  expect_identical(generics::augment(index), generics::augment(npindex(index)))
  both <- data.frame(x = rep(1:9, 20), y = rep((1:9)^2, 20))
  of_sketch <- npregbw(kde_sketch(both, sketch_plan(both, 0.5, "x", y = "y")), 1, bandwidth.compute = FALSE)
  expect_identical(generics::augment(of_sketch, newdata = data.frame(x = 2:4))$.fitted, predict(of_sketch, 2:4))
  expect_equal(formula(of_sketch), y ~ x, ignore_attr = TRUE)
})

test_that("sketches are tables of their variables", {
  plan <- sketch_plan(faithful)
  table <- generics::tidy(kde_sketch(faithful, plan))
  expect_identical(table$term, names(faithful))
  expect_equal(table$mean, unname(colMeans(faithful)), tolerance = 1e-9)
  expect_equal(table$sd, unname(apply(faithful, 2L, sd)), tolerance = 1e-9)
  expect_identical(table$max, c(5.1, 96))
  expect_identical(generics::glance(kde_sketch(faithful, plan))$nobs, 272)
})

test_that("glance() knows sizes of bandwidths", {
  H <- matrix(c(4, 1, 1, 2), 2)
  expect_equal(generics::glance(kde(faithful, H = H, gridsize = 3))$h, det(H)^(1 / 4), tolerance = 1e-14)
  expect_identical(generics::glance(kde(faithful, H = H, eval.points = c(2, 50)))$points, 1L)
})

test_that("fits have a likelihood, a formula and their data", {
  fit <- npreg(waiting ~ eruptions, data = faithful)
  rss <- sum(residuals(fit)^2)
  expect_equal(as.vector(logLik(fit)), sum(dnorm(residuals(fit), 0, sqrt(rss / 272), log = TRUE)), tolerance = 1e-13)
  expect_equal(AIC(fit), 2 * (fit$edf + 1) - 2 * as.vector(logLik(fit)), tolerance = 1e-15)
  expect_equal(model.frame(fit), faithful[c("waiting", "eruptions")], ignore_attr = TRUE)
  expect_identical(update(fit, bws = 0.5)$bws$bw, 0.5)
  density <- npudens(bws = c(0.3, 5), tdat = faithful)
  expect_equal(as.vector(logLik(density)), sum(log(density$dens)), tolerance = 1e-14)
  expect_identical(AIC(density), NA_real_)
  smooth <- npscoef(npscoefbw(mpg ~ hp | wt, mtcars, bws = 0.5, bandwidth.compute = FALSE))
  expect_equal(formula(smooth), mpg ~ hp | wt, ignore_attr = TRUE)
  index <- npindex(c(1, -0.01, 0.5), mtcars[c("wt", "hp")], mtcars$mpg)
  expect_equal(formula(index), y ~ wt + hp, ignore_attr = TRUE)
  expect_named(model.frame(index), c("y", "wt", "hp"))
  expect_identical(nobs(kde(faithful, gridsize = 3)), 272L)
  expect_identical(nobs(kda(iris[1:4], iris$Species, kde.flag = FALSE)), 150L)
  expect_identical(nobs(kms(faithful, H = diag(2))), 272L)
  expect_identical(nobs(npksum(bws = 1, txdat = 1:4, exdat = 1:2)), 4L)
  expect_identical(nobs(kde_sketch(1:9, sketch_plan(1:9))), 9)
  # A bandwidth object has the same parts as its fit.
  for (fit in list(smooth, index)) {
    expect_identical(model.frame(fit$bws), model.frame(fit))
    expect_equal(formula(fit$bws), formula(fit), ignore_attr = TRUE)
    expect_identical(nobs(fit$bws), nobs(fit))
  }
  expect_equal(formula(npconmode(factor(cyl) ~ wt, data = mtcars)), factor(cyl) ~ wt, ignore_attr = TRUE)
  longer <- update(npregbw(mpg ~ wt, data = mtcars, bws = 0.5), . ~ . + hp, bws = c(0.5, 30))
  expect_identical(longer$xnames, c("wt", "hp"))
})

test_that("methods are there whichever package is loaded first", {
  code <- function(first, second) {
    c("--vanilla", "-e", shQuote(paste0("loadNamespace('", first, "'); loadNamespace('", second, "'); ",
                                        "cat(nrow(generics::glance(kestrel::kde(1:9))))")))
  }
  rscript <- file.path(R.home("bin"), "Rscript")
  for (order in list(c("generics", "kestrel"), c("kestrel", "generics"))) {
    said <- system2(rscript, code(order[1L], order[2L]), stdout = TRUE, stderr = FALSE)
    expect_identical(utils::tail(said, 1L), "1")
  }
})

test_that("tables of what has none are refused", {
  fit <- npreg(waiting ~ eruptions, data = faithful[1:30, ])
  fhat <- kde(faithful[1:30, ], gridsize = 3)
  no_density <- kda(faithful[1:30, ], rep(1:2, 15), kde.flag = FALSE)
  of_sketch <- kde(kde_sketch(faithful$eruptions, sketch_plan(faithful$eruptions)), h = 0.5, gridsize = 3)
  clusters <- kms(faithful[1:30, ], H = diag(c(1, 100)))
  distribution <- npudist(bws = c(0.3, 5), tdat = faithful[1:30, ])
  both <- data.frame(x = rep(1:9, 20), y = rep((1:9)^2, 20))
  expect_refused(
    generics::augment(fit, faithful),
    generics::augment(fit, data = 1:30),
    generics::augment(fhat, data = faithful[1:30, ], newdata = faithful[1:3, ]),
    generics::augment(fhat, newdata = data.frame(a = 1, b = 2)),
    generics::augment(clusters, newdata = faithful[1:3, ]),
    generics::augment(of_sketch),
    generics::augment(npregbw(kde_sketch(both, sketch_plan(both, 0.5, "x", y = "y")), 1, bandwidth.compute = FALSE)),
    generics::tidy(fit, conf.int = TRUE),
    generics::tidy(npindex(c(1, -0.01, 0.5), mtcars[c("wt", "hp")], mtcars$mpg), conf.int = NA),
    generics::glance(fit, 1),
    generics::tidy(replace(fhat, "estimate", list(-1))),
    as.data.frame(no_density),
    as.data.frame(npksum(bws = 1, txdat = 1:4, tydat = cbind(1:4, 2), exdat = c(1, 3))),
    logLik(distribution)
  )
})
