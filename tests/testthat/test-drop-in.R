# Scripts for ks and np must run here: calls as in their help pages, each evaluated by ks and by this package, or
# compared with results of np (fixtures/np_calls.csv). Intended differences are in vignettes/coming-from-ks-and-np.Rmd.

eruptions <- faithful$eruptions
waiting <- faithful$waiting
plane <- as.matrix(faithful)
space <- as.matrix(iris[1:100, 1:3]) + 0.05 * cos(1:300) # they are rounded to 0.1
H <- matrix(c(0.06, 0.6, 0.6, 11), 2)
weights <- rep(1:4, 68)
share <- pnorm(scale(eruptions)[, 1])

# A call as it stands in a script, with the functions of one of the packages.
run_with <- function(package, call, frame) {
  eval(call, list2env(as.list(frame), parent = asNamespace(package)))
}

# The value of a call here is that of ks, relative to its largest number.
expect_as_in_ks <- function(call, tolerance) {
  call <- substitute(call)
  frame <- parent.env(environment())
  ours <- run_with("kestrel", call, frame)
  theirs <- run_with("ks", call, frame)
  expect_identical(dim(ours), dim(theirs))
  expect_lt(relative_difference(unname(ours), unname(theirs)), tolerance, label = deparse1(call))
}

test_that("arguments of ks have their names and places here", {
  skip_if_not_installed("ks")
  names_here <- getNamespaceExports("kestrel")
  shared <- intersect(names_here, getNamespaceExports("ks"))
  expect_setequal(shared, c("kde", "hns", "Hns", "Hns.diag", "hpi", "Hpi", "Hpi.diag", "hlscv", "Hlscv", "Hlscv.diag",
                            "hscv", "Hscv", "Hscv.diag", "contourLevels", "dkde", "pkde", "qkde", "rkde", "vech",
                            "invvech", "kcde", "hpi.kcde", "Hpi.kcde", "Hpi.diag.kcde", "vec", "invvec", "matrix.sqrt",
                            "pre.scale", "pre.sphere", "hucv", "Hucv", "Hucv.diag", "Hbcv", "Hbcv.diag", "hnm", "Hnm",
                            "Hnm.diag", "hns.kcde", "Hns.kcde", "dnorm.mixt", "rnorm.mixt", "dmvnorm.mixt",
                            "rmvnorm.mixt", "dmvt.mixt", "rmvt.mixt", "plotmixt", "mise.mixt", "amise.mixt",
                            "ise.mixt", "hmise.mixt", "hamise.mixt", "Hmise.mixt", "Hmise.mixt.diag", "Hamise.mixt",
                            "Hamise.mixt.diag", "kde.test", "kde.local.test", "kda", "hkda", "Hkda", "Hkda.diag",
                            "compare", "compare.kda.cv", "compare.kda.diag.cv", "contourSizes", "contourProbs",
                            "ksupp", "histde", "kcopula", "kroc", "binning", "kdde", "kcurv", "kms",
                            "kde.balloon", "kde.sp", "kfs", "kdr", "kdr.segment", "kde.boundary", "kde.truncate"))
  # ks hides the arguments of these.
  for (name in setdiff(shared, c("hucv", "Hucv", "Hucv.diag"))) {
    theirs <- names(formals(getExportedValue("ks", name)))
    ours <- names(formals(getExportedValue("kestrel", name)))
    expect_identical(ours[seq_along(theirs)], theirs, info = name)
  }
  expect_true(all(names(formals(ks:::predict.kcde)) %in% names(formals(predict.kestrel_kcde))))
  expect_true(all(names(formals(ks:::contourLevels.kde)) %in% names(formals(contourLevels.kestrel_kde))))
})

test_that("densities are those of ks, where it does not bin", {
  skip_if_not_installed("ks")
  expect_as_in_ks(kde(x = eruptions, h = 0.3, binned = FALSE)$estimate, 1e-12)
  expect_as_in_ks(kde(eruptions, h = 0.3, eval.points = c(1.5, 2, 3.3, 4.5), binned = FALSE)$estimate, 1e-12)
  expect_as_in_ks(kde(x = eruptions, h = 0.3, w = weights / mean(weights), binned = FALSE)$estimate, 1e-12)
  expect_as_in_ks(kde(eruptions, h = 0.3, xmin = 0, xmax = 6, gridsize = 61, binned = FALSE)$eval.points, 1e-14)
  expect_as_in_ks(kde(x = plane, H = H, eval.points = plane[1:20, ], binned = FALSE)$estimate, 1e-12)
  expect_as_in_ks(kde(x = space, H = 0.1 * diag(3), eval.points = space, binned = FALSE)$estimate, 1e-12)
  # On grids in several dimensions ks leaves out samples farther away than supp = 3.7 along an axis, where a kernel has
  # 1.1e-3 of its height.
  expect_as_in_ks(kde(x = plane, H = diag(diag(H)), gridsize = c(40, 50), binned = FALSE)$estimate, 2e-3)
  expect_as_in_ks(kde(x = plane, H = H, xmin = c(1, 40), xmax = c(6, 100), gridsize = c(31, 31))$eval.points[[2]],
                  1e-14)
  expect_as_in_ks(kde(x = eruptions, h = 0.2, positive = TRUE, adj.positive = 0, eval.points = c(1.5, 2, 3.3, 4.5),
                      binned = FALSE)$estimate, 1e-12)
  # On this scale ks interpolates in a grid on the other scale.
  expect_as_in_ks(kde(x = share, h = 0.3, unit.interval = TRUE, binned = FALSE)$estimate, 2e-3)
})

test_that("so are bandwidths", {
  skip_if_not_installed("ks")
  expect_as_in_ks(hns(eruptions), 1e-13)
  expect_as_in_ks(Hns(x = plane, deriv.order = 1), 1e-13)
  expect_as_in_ks(Hns.diag(plane), 1e-10)
  # Always binned in ks.
  expect_as_in_ks(hpi(x = eruptions), 1e-2)
  # At the ends of ks's searches; none has a lower value (test-bandwidth-matrix.R).
  expect_as_in_ks(Hpi(x = plane, pilot = "dscalar", binned = FALSE), 1e-3)
  expect_as_in_ks(Hpi(plane, nstage = 1, pilot = "samse", pre = "scale", binned = FALSE, amise = TRUE)$H, 1e-3)
  expect_as_in_ks(Hpi.diag(x = plane, pilot = "dscalar", binned = FALSE), 1e-3)
  expect_as_in_ks(hscv(eruptions, nstage = 2, binned = FALSE, plot = FALSE), 1e-2)
  expect_as_in_ks(Hscv(x = space[1:50, ], pilot = "dscalar", binned = FALSE), 1e-2)
  expect_as_in_ks(hlscv(space[, 1], binned = FALSE, bw.ucv = FALSE), 1e-3)
  expect_as_in_ks(Hlscv(x = space[, 1:2], binned = FALSE, optim.fun = "optim"), 1e-2)
  expect_as_in_ks(Hlscv.diag(x = space[, 1:2], Hstart = Hns.diag(space[, 1:2]), binned = FALSE), 1e-2)
})

test_that("and what is taken from a density", {
  skip_if_not_installed("ks")
  expect_as_in_ks(contourLevels(kde(plane, H = H, binned = FALSE), cont = c(25, 50, 75), approx = FALSE), 1e-10)
  expect_as_in_ks(contourLevels(kde(plane, H = H, binned = FALSE), prob = c(0.25, 0.5, 0.75)), 5e-3)
  # ks interpolates in its grid, and sums the distribution function over it.
  expect_as_in_ks(predict(kde(x = plane, H = H, binned = FALSE), x = plane[1:20, ]), 5e-3)
  expect_as_in_ks(dkde(x = c(2, 3, 4.5), fhat = kde(eruptions, h = 0.3, binned = FALSE)), 1e-3)
  expect_as_in_ks(pkde(fhat = kde(eruptions, h = 0.3, binned = FALSE), q = c(2, 3.3, 4)), 5e-2)
  expect_as_in_ks(qkde(fhat = kde(eruptions, h = 0.3, binned = FALSE), p = c(0.1, 0.5, 0.9)), 2e-2)
})

test_that("defaults bin in ks, and differ by what binning does", {
  skip_if_not_installed("ks")
  expect_as_in_ks(kde(eruptions)$h, 1e-2)
  expect_as_in_ks(kde(x = eruptions)$estimate, 1e-2)
  expect_as_in_ks(kde(x = space)$H, 1e-3)
})

test_that("a seed gives the draws of ks", {
  skip_if_not_installed("ks")
  small <- kde(plane, H = H / 100)
  of_space <- kde(space, H = 0.1 * diag(3) + 0.02, w = rep(1:4, 25), gridsize = 5)
  for (fit in list(kde(eruptions), kde(plane, H = H), of_space)) {
    theirs <- with_seed(9, ks::rkde(fhat = fit, n = 30))
    expect_equal(unname(with_seed(9, rkde(fhat = fit, n = 30))), unname(theirs), tolerance = 1e-12)
  }
  # In several dimensions ks does not take the logarithms back.
  expect_equal(log(unname(with_seed(9, rkde(30, small, positive = TRUE)))),
               unname(with_seed(9, ks::rkde(30, small, positive = TRUE))), tolerance = 1e-12)
  for (fit in list(kde(eruptions, h = 0.2), kde(eruptions, h = 0.2, positive = TRUE, adj.positive = 0))) {
    theirs <- with_seed(9, ks::rkde(30, fit, positive = TRUE))
    expect_equal(unname(with_seed(9, rkde(30, fit, positive = TRUE))), unname(theirs), tolerance = 1e-12)
  }
  expect_error(rkde(3, kde(eruptions - 3, h = 1), positive = TRUE), "above 0", class = "kestrel_error_input")
  expect_error(rkde(3, kde(share, h = 1, unit.interval = TRUE), positive = TRUE), class = "kestrel_error_input")
})

test_that("estimates of ks are taken, unless they are no sum of kernels at the data", {
  skip_if_not_installed("ks")
  line <- ks::kde(eruptions, h = 0.3)
  flat <- ks::kde(faithful, H = H, w = weights / mean(weights))
  expect_equal(dkde(2:4, line), dkde(2:4, kde(eruptions, h = 0.3)), tolerance = 1e-14)
  expect_equal(pkde(2:4, line), pkde(2:4, kde(eruptions, h = 0.3)), tolerance = 1e-14)
  expect_equal(qkde(0.3, line), qkde(0.3, kde(eruptions, h = 0.3)), tolerance = 1e-14)
  expect_equal(dkde(plane[1:5, ], flat), dkde(plane[1:5, ], kde(plane, H = H, w = weights)), tolerance = 1e-14)
  expect_identical(with_seed(3, rkde(5, flat)), with_seed(3, rkde(5, kde(plane, H = H, w = weights))))
  part <- marginal(flat, 1)
  expect_s3_class(part, "kestrel_kde")
  expect_equal(part$estimate, kde(plane[, 1], H = H[1, 1], w = weights, eval.points = part$eval.points)$estimate,
               tolerance = 1e-12)
  expect_gt(drawn(suppressWarnings(plot(line))), 0)
  at <- ks::kde(plane, H = H, eval.points = plane[1:20, ], binned = FALSE)
  expect_equal(dkde(plane[3, ], at), at$estimate[[3]], tolerance = 1e-12)
  positive <- ks::kde(eruptions - 1.5, positive = TRUE)
  broken <- list(structure(list(x = 1), class = "kde"), replace(line, "H", -1), replace(line, "x", list("a")),
                 replace(line, "estimate", list(1:3)))
  expect_refused(dkde(1, positive), pkde(1, broken[[1]]), rkde(1, broken[[2]]), qkde(0.1, broken[[3]]),
                 marginal(broken[[4]], 1))
})

test_that("shapes that ks takes are taken", {
  expect_identical(kde(eruptions, h = 0.3, gridsize = c(100, 100))$estimate,
                   kde(eruptions, h = 0.3, gridsize = 100)$estimate)
  expect_error(kde(eruptions, h = 0.3, gridsize = c(100, 50)), "gridsize", class = "kestrel_error_input")
  expect_identical(kde(eruptions, h = matrix(0.3))$estimate, kde(eruptions, h = 0.3)$estimate)
  column <- kde(matrix(eruptions), h = 0.3)
  expect_identical(column$x, matrix(eruptions))
  expect_identical(column$estimate, kde(eruptions, h = 0.3)$estimate)
  expect_identical(column$cont, kde(eruptions, h = 0.3)$cont)
  expect_identical(kde(faithful["eruptions"], h = 0.3)$x, plane[, "eruptions", drop = FALSE])
  expect_identical(kcde(matrix(eruptions), h = 0.3)$x, matrix(eruptions))
  for (object in list(column, kcde(matrix(eruptions), h = 0.3))) {
    expect_gt(drawn({
      plot(object)
      lines(object)
    }), 0)
    expect_output(print(summary(object)), "272")
  }
  expect_identical(with_seed(1, rkde(3, column)), with_seed(1, rkde(3, kde(eruptions, h = 0.3))))
  expect_identical(qkde(0.2, column), qkde(0.2, kde(eruptions, h = 0.3)))
})

test_that("functions of ks take an estimate of this package", {
  skip_if_not_installed("ks")
  fit <- kde(plane, H = H, gridsize = c(80, 80))
  peer <- ks::kde(plane, H = H, gridsize = c(80, 80), binned = FALSE)
  expect_equal(ks::contourSizes(fit, cont = c(25, 50)), ks::contourSizes(peer, cont = c(25, 50)), tolerance = 2e-2)
  expect_equal(ks::contourProbs(fit, cont = 50), ks::contourProbs(peer, cont = 50), tolerance = 2e-2)
})

test_that("plots take the arguments of those of ks, without a word", {
  line <- kde(eruptions, h = 0.3)
  flat <- kde(plane, H = H, gridsize = 40)
  solid <- kde(space, H = 0.1 * diag(3), gridsize = 12)
  expect_silent(drawn({
    plot(line, cont = 50, col.cont = 4, cont.lwd = 2, xlab = "minutes", drawpoints = TRUE, col.pt = 2, jitter = TRUE)
    plot(line, add = TRUE, col = 2, lwd = 3)
    plot(flat, display = "filled.contour", cont = seq(10, 90, by = 10), lwd = 1, alpha = 0.5, labcex = 1)
    plot(flat, display = "persp", border = 1, theta = 20, phi = 30, thin = 3, zlab = "f", alpha = 0.5)
    plot(flat, display = "image", col.fun = terrain.colors, xlim = c(1, 6), las = 0)
    plot(flat, display = "slice", abs.cont = c(0.005, 0.01), drawlabels = FALSE, approx.cont = FALSE)
    plot(flat, add = TRUE, col = 2, drawpoints = TRUE, pch = 3)
    plot(flat, cont = c(25, 50, 75), col = c("transparent", "yellow", "orange", "red"))
    plot(solid, display = "plot3D", colors = 2:4, alphavec = c(0.1, 0.3, 0.5), theta = 10)
  }))
})

# Results of np for the calls in fixtures/np_calls.csv: a data frame of call, part (of the value, "" for all of it),
# entries and values.
np_calls <- utils::read.csv(test_path("fixtures", "np_calls.csv"), colClasses = "character")

numbers <- function(text) as.numeric(strsplit(text, " ")[[1]])

here <- list2env(list(npregbw = npregbw, npreg = npreg, mcycle = MASS::mcycle))

# The part of a row's result here with which np's numbers are compared.
value_here <- function(row) {
  value <- eval(str2lang(row$call), here)
  as.numeric(if (nzchar(row$part)) value[[row$part]] else value)[numbers(row$entries)]
}

test_that("fits, predictions and residuals of np's calls are those of np", {
  rows <- np_calls[!startsWith(np_calls$call, "npregbw"), ]
  expect_identical(length(unique(rows$call)), 12L)
  for (k in seq_len(nrow(rows))) {
    # For a searched bandwidth, only to the accuracy of searches.
    tolerance <- if (startsWith(rows$call[k], "npreg(log(dist)")) 1e-6 else 1e-12
    expect_close_to_reference(value_here(rows[k, ]), numbers(rows$values[k]), tolerance, info = rows$call[k])
  }
})

test_that("bandwidths of np's calls are those of np, unless it ended in a local minimum", {
  rows <- np_calls[startsWith(np_calls$call, "npregbw"), ]
  expect_identical(length(unique(rows$call)), 7L)
  not_least <- grepl("waiting ~ eruptions", rows$call)
  for (k in which(!not_least)) {
    tolerance <- if (rows$part[k] == "bw") 1e-4 else 1e-8
    expect_close_to_reference(value_here(rows[k, ]), numbers(rows$values[k]), tolerance, info = rows$call[k])
  }
  theirs <- setNames(as.numeric(rows$values[not_least]), rows$part[not_least])
  at_theirs <- npregbw(waiting ~ eruptions, data = faithful, bws = theirs[["bw"]], bandwidth.compute = FALSE)$fval
  expect_equal(at_theirs, theirs[["fval"]], tolerance = 1e-12)
  expect_lt(value_here(rows[not_least & rows$part == "fval", ]), at_theirs)
})

test_that("arguments of np's search are accepted, and methods give what they give there", {
  plain <- npregbw(dist ~ speed, cars)
  fields <- c("bw", "fval", "grid", "cv")
  expect_identical(npregbw(dist ~ speed, cars, nmulti = 5, remin = FALSE, itmax = 100, ftol = 0.1, tol = 0.1,
                           bwtype = "fixed", ckerorder = 2, bwscaling = FALSE, ckerbound = "none", nomad = FALSE,
                           bwsolver = "powell", powell.remin = TRUE, invalid.penalty = "baseline",
                           scale.factor.init = 0.5)[fields], plain[fields])
  fit <- npreg(plain, residuals = TRUE, gradients = FALSE)
  expect_s3_class(fit, "npregression")
  expect_s3_class(plain, "rbandwidth")
  expect_named(predict(fit, newdata = data.frame(speed = 10), se.fit = TRUE), c("fit", "se.fit"))
  expect_length(se(fit), 50)
  for (object in list(fit, plain)) expect_output(print(summary(object)), "dist on speed")
  expect_silent(drawn(plot(fit, plot.errors.method = "asymptotic", plot.errors.style = "band")))
})

x <- c(1, 2, 2.5, 4, 5.5, 6, 7.25, 9)
y <- c(2, 3, 3.5, 5, 4, 6.5, 6, 8)
d <- data.frame(x = x, y = y)

test_that("a bandwidth object has predictions, and fits other data by itself", {
  bw <- npregbw(y ~ x, d, bws = 3, bandwidth.compute = FALSE, regtype = "ll", ckertype = "epanechnikov")
  expect_identical(predict(bw), predict(npreg(bw)))
  expect_identical(predict(bw, d[3:4, ], se.fit = TRUE), predict(npreg(bw), d[3:4, ], se.fit = TRUE))
  expect_identical(predict(bw, exdat = 4, interval = "confidence"),
                   predict(npreg(bw), exdat = 4, interval = "confidence"))
  other <- npreg(bws = bw, txdat = x + 1, tydat = 2 * y, exdat = c(3, 4.5))
  same <- npreg(bws = bw$bw, txdat = x + 1, tydat = 2 * y, exdat = c(3, 4.5), ckertype = "epanechnikov",
                regtype = "ll")
  expect_identical(other[c("bw", "mean", "merr", "resid")], same[c("bw", "mean", "merr", "resid")])
  expect_identical(predict(other, c(3, 4.5)), other$mean)
})

test_that("components of objects and functions of packages are no variables of a formula", {
  expect_identical(variables_in(log(y) ~ base::log(x)), c("y", "x"))
  expect_identical(variables_in(d$y ~ I(d$x / s) + m[, 1] + `a b` + t@u$v + .), c("d", "s", "m", "a b", "t", "."))
  fit <- npreg(y ~ base::log(x), d, bws = 1)
  expect_identical(fit$mean, npreg(y ~ log(x), d, bws = 1)$mean)
  expect_identical(predict(fit, d[2:3, ]), predict(npreg(y ~ log(x), d, bws = 1), d[2:3, ]))
})
