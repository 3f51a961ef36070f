# kde(): against the oracle, against ks and stats::density, its fields, and the properties every density has.

test_that("kde at points is the oracle, for every kernel, radial and product, with and without weights", {
  with_seed(41, {
    x1 <- rnorm(80)
    x2 <- matrix(rnorm(160), 80)
    w <- runif(80)
  })
  H2 <- matrix(c(0.4, 0.2, 0.2, 0.7), 2)
  for (kernel in all_kernels) for (weights in list(NULL, w)) {
    call <- function(...) if (is.null(weights)) kde(...) else kde(..., w = weights)
    fit <- call(x1, h = 0.6, eval.points = seq(-3, 3, 0.1), kernel = kernel)
    expect_close_to_reference(fit$estimate, reference_density(seq(-3, 3, 0.1), x1, 0.36, weights, kernel),
                              info = kernel)
    fit <- call(x2, H = H2, eval.points = x2[1:30, ] + 0.1, kernel = kernel)
    expect_close_to_reference(fit$estimate, reference_density(x2[1:30, ] + 0.1, x2, H2, weights, kernel), info = kernel)
    fit <- call(x2, H = diag(c(0.4, 0.9)), eval.points = x2[1:30, ], kernel = kernel, kernel_type = "product")
    reference <- reference_density(x2[1:30, ], x2, diag(c(0.4, 0.9)), weights, kernel, product = TRUE)
    expect_close_to_reference(fit$estimate, reference, info = kernel)
  }
})

test_that("kde on a grid is the oracle at its points, an array with the first axis fastest", {
  for (d in 1:4) {
    x <- with_seed(42, matrix(rnorm(30 * d), 30))
    H <- 0.3 * (diag(d) + 0.5)
    fit <- kde(x, H = H, gridsize = c(40, 9, 6, 4)[d])
    axes <- if (d == 1) list(fit$eval.points) else fit$eval.points
    expect_close_to_reference(as.vector(fit$estimate), reference_density(expand.grid(axes), x, H))
    if (d > 1) expect_identical(dim(fit$estimate), rep(as.integer(c(40, 9, 6, 4)[d]), d))
  }
})

test_that("with more than three variables the estimate is at the data, and a message says so", {
  x <- iris[1:4]
  expect_snapshot(fit <- kde(x, H = Hns(x)))
  expect_identical(fit$eval.points, fit$x)
  expect_identical(fit$estimate, predict(fit, x))
  expect_identical(fit$cont, contourLevels(fit, prob = (99:1) / 100))
  asked <- expect_silent(kde(x, H = Hns(x), eval.points = x))
  expect_identical(asked$estimate, fit$estimate)
  expect_identical(contourLevels(asked, cont = 50), contourLevels(fit, cont = 50))
  # It is all that users do with a density.
  expect_snapshot_output(shown(summary(fit)))
  expect_gt(drawn(expect_identical(plot(fit), fit)), 10)
  expect_identical(marginal(fit, 1:2)$estimate, predict(marginal(fit, 1:2), x[1:2]))
  expect_identical(dim(rkde(3, fit)), c(3L, 4L))
  expect_identical(as.data.frame(fit)$estimate, fit$estimate)
  expect_message(gone <- kde(airquality, na.action = stats::na.omit), class = "kestrel_message")
  expect_identical(nrow(gone$eval.points), 111L)
  # A memory limit that leaves no room for a grid.
  expect_message(kde(mtcars[1:8]), "With 8 variables")
})

test_that("grids have the sizes and limits of ks", {
  skip_if_not_installed("ks")
  for (d in 1:3) {
    x <- unname(as.matrix(iris[1:60, seq_len(d)]))
    if (d == 1) x <- x[, 1]
    H <- if (d > 1) Hns(x)
    ours <- if (d == 1) kde(x, h = 0.2) else kde(x, H = H)
    size <- rep(c(401, 151, 51)[d], d)
    peer <- if (d == 1) ks::kde(x, h = 0.2, binned = FALSE) else ks::kde(x, H = H, binned = TRUE, bgridsize = size)
    expect_equal(ours$eval.points, peer$eval.points, tolerance = 1e-12)
    expect_identical(dim(ours$estimate), dim(peer$estimate))
    expect_identical(NROW(ours$estimate), c(401L, 151L, 51L)[d])
  }
  four <- as.matrix(iris[, 1:4])
  for (fit in list(kde(four, H = Hns(four), gridtype = "linear"), kde(four, H = Hns(four), supp = 3.7),
                   quietly(kde(four, H = Hns(four), kernel = "epanechnikov", engine = "scanline")))) {
    expect_identical(dim(fit$estimate), rep(21L, 4))
  }
  compact <- kde(1:10, h = 2, kernel = "biweight")
  expect_equal(range(compact$eval.points), c(-1, 12))
  expect_equal(range(kde(1:10, h = 2, supp = 2)$eval.points), c(-3, 14))
  expect_identical(kde(1:10, h = 2, xmin = 0, xmax = 5, gridsize = 11)$eval.points, seq(0, 5, 0.5))
  expect_equal(kde(1:10, h = 2, xmin = 0, xmax = 5, step = 0.25)$eval.points, seq(0, 5, 0.25))
  plane <- kde(faithful, H = Hns(faithful), xmin = c(1, 40), xmax = c(5, 100), gridsize = c(5, 7))
  expect_identical(plane$eval.points, list(seq(1, 5, length.out = 5), seq(40, 100, length.out = 7)))
})

test_that("kde agrees with ks::kde(binned = FALSE) at points in one to four dimensions", {
  skip_if_not_installed("ks")
  points <- as.matrix(iris[, 1:4]) + 0.05
  for (d in 1:4) {
    x <- as.matrix(iris[, seq_len(d), drop = FALSE])
    w <- with_seed(43, runif(150))
    w <- w / sum(w) * 150
    if (d == 1) {
      peer <- ks::kde(x[, 1], h = 0.3, eval.points = points[, 1], binned = FALSE, w = w)$estimate
      ours <- kde(x[, 1], h = 0.3, eval.points = points[, 1], w = w)$estimate
    } else {
      H <- Hns(x)
      peer <- ks::kde(x, H = H, eval.points = points[, seq_len(d)], binned = FALSE, w = w)$estimate
      ours <- kde(x, H = H, eval.points = points[, seq_len(d)], w = w)$estimate
    }
    expect_close_to_reference(ours, unname(peer), tol = 1e-10)
  }
})

test_that("kde agrees with stats::density: with its binned sums to its accuracy, with its definition exactly", {
  x <- faithful$eruptions
  names <- c(gaussian = "gaussian", epanechnikov = "epanechnikov", uniform = "rectangular", triangular = "triangular",
             biweight = "biweight")
  second_moment <- c(gaussian = 1, epanechnikov = 1 / 5, uniform = 1 / 3, triangular = 1 / 6, biweight = 1 / 7)
  for (kernel in names(names)) {
    peer <- density(x, bw = 0.3, kernel = names[[kernel]], n = 4096, from = 1, to = 6)
    ours <- kde(x, h = 0.3 / sqrt(second_moment[[kernel]]), eval.points = peer$x, kernel = kernel)$estimate
    # its bins move the jumps of the rectangles, which affects few points
    expect_close_to_reference(ours, peer$y, tol = if (kernel == "uniform") 0.05 else 2e-3, info = kernel)
    expect_lt(mean(abs(ours - peer$y)), 1e-3)
  }
  points <- seq(1, 6, length.out = 101)
  definition <- vapply(points, function(e) mean(dnorm(e, x, 0.3)), 0)
  expect_close_to_reference(kde(x, h = 0.3, eval.points = points)$estimate, definition)
})

test_that("the object has every field of ks, with its names and shapes, and ours after them", {
  skip_if_not_installed("ks")
  same_fields <- function(ours, peer) {
    for (field in names(peer)) {
      expect_true(field %in% names(ours), info = field)
      expect_identical(class(ours[[field]])[1], class(peer[[field]])[1], info = field)
      expect_identical(length(ours[[field]]), length(peer[[field]]), info = field)
      expect_identical(dim(ours[[field]]), dim(peer[[field]]), info = field)
    }
    expect_s3_class(ours, c("kestrel_kde", "kde"), exact = TRUE)
    expect_true(all(c("kernel", "engine", "backend", "tol", "call") %in% names(ours)))
    expect_false(ours$binned)
    expect_identical(names(ours$cont), names(peer$cont))
    expect_identical(ours$names, peer$names)
  }
  x <- as.matrix(faithful)
  same_fields(kde(x[, 1], h = 0.3), ks::kde(x[, 1], h = 0.3, binned = FALSE))
  same_fields(kde(x, H = Hns(x)), ks::kde(x, H = Hns(x), binned = FALSE))
  same_fields(kde(x, H = Hns(x), eval.points = x[1:4, ]),
              ks::kde(x, H = Hns(x), eval.points = x[1:4, ], binned = FALSE))
  fit <- kde(x, H = Hns(x), kernel = "biweight", tol = 1e-6)
  expect_identical(fit[c("kernel", "engine", "backend", "tol")],
                   list(kernel = "biweight", engine = "scanline", backend = "cpu", tol = 1e-6))
  expect_identical(fit$call[[1]], quote(kde))
  expect_identical(sum(fit$w), 272)
})

test_that("ks works on our objects: contour levels, plots, prediction, dkde", {
  skip_if_not_installed("ks")
  x <- as.matrix(faithful)
  fit <- kde(x, H = Hns(x))
  line <- kde(x[, 1], h = 0.3)
  # exact, since ks calls our predict(); its own grid is off by half of the peak here (1.14.0, binned = FALSE, full H)
  exact <- quantile(reference_density(x, x, Hns(x)), c(0.9, 0.5, 0.1))
  expect_equal(ks::contourLevels(fit, cont = c(10, 50, 90), approx = FALSE), exact, tolerance = 1e-12)
  expect_equal(ks::contourLevels(fit, cont = c(10, 50, 90)), exact, tolerance = 5e-3)
  expect_close_to_reference(ks::dkde(c(1, 2.2, 4), line), reference_density(c(1, 2.2, 4), x[, 1], 0.09))
  expect_equal(ks::pkde(c(2, 3.3, 4), line), pkde(c(2, 3.3, 4), line), tolerance = 0.05) # it sums over a grid
  plot_of <- getS3method("plot", "kde", envir = asNamespace("ks"))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  suppressWarnings(expect_error(plot_of(fit), NA)) # it warns where Tk has no display
  expect_error(plot_of(line), NA)
})

test_that("the bandwidth that is not given is hpi or Hpi, and for compact kernels that of the normal reference", {
  x <- faithful$eruptions
  expect_identical(kde(x)$h, hpi(x))
  expect_equal(kde(x)$H, hpi(x)^2, tolerance = 1e-14)
  expect_equal(unname(kde(faithful)$H), unname(Hpi(faithful)), tolerance = 1e-14)
  for (d in 1:3) {
    data <- as.matrix(iris[, seq_len(d)])
    volume <- pi^(d / 2) / gamma(d / 2 + 1)
    A <- (8 / volume * (d + 4) * (2 * sqrt(pi))^d)^(1 / (d + 4)) # Lopez-Novoa (2015), chapter 6
    H <- (A * 150^(-1 / (d + 4)))^2 * var(data)
    fit <- kde(data, kernel = "epanechnikov", compute.cont = FALSE)
    expect_equal(unname(as.matrix(fit$H)), unname(H), tolerance = 1e-12)
    if (d == 1) expect_equal(fit$h, sqrt(H[1, 1]), tolerance = 1e-12)
  }
})

test_that("H and h are both taken in every dimension", {
  x <- faithful$eruptions
  expect_equal(kde(x, H = 0.09)$estimate, kde(x, h = 0.3)$estimate, tolerance = 1e-14)
  plane <- kde(faithful, h = 0.8, eval.points = faithful[1:20, ])
  expect_close_to_reference(plane$estimate,
                            reference_density(as.matrix(faithful[1:20, ]), as.matrix(faithful), 0.64 * diag(2)))
  expect_equal(unname(plane$H), 0.64 * diag(2), tolerance = 1e-14)
})

test_that("binned is accepted and the estimate is exact all the same", {
  x <- faithful$eruptions
  expect_identical(kde(x, h = 0.3, binned = TRUE)$estimate, kde(x, h = 0.3)$estimate)
  expect_false(kde(x, h = 0.3, binned = TRUE)$binned)
  expect_identical(kde(x, h = 0.3, density = TRUE)$estimate, kde(x, h = 0.3)$estimate)
})

test_that("the mass is one in one and two dimensions, for every kernel", {
  x <- with_seed(44, rnorm(40))
  plane <- with_seed(45, matrix(rnorm(60), 30))
  for (kernel in all_kernels) {
    reach <- if (kernel == "gaussian") 9 else 1
    fit <- kde(x, h = 0.7, kernel = kernel, supp = reach, gridsize = 20001)
    # the trapezoid rule; the uniform kernel's jumps cost about one step
    expect_equal(sum(fit$estimate) * diff(fit$eval.points[1:2]), 1, tolerance = if (kernel == "uniform") 1e-3 else 1e-6)
    for (type in c("radial", "product")) {
      fit <- kde(plane, H = diag(c(0.8, 0.5)), kernel = kernel, kernel_type = type, supp = reach, gridsize = 401)
      cell <- prod(vapply(fit$eval.points, function(axis) diff(axis[1:2]), 0))
      expect_equal(sum(fit$estimate) * cell, 1, tolerance = if (kernel == "uniform") 5e-3 else 1e-4,
                   info = paste(kernel, type))
      expect_true(all(fit$estimate >= 0))
    }
  }
})

test_that("densities of samples add up, weights count copies, order does not matter, weight zero has no influence", {
  with_seed(46, {
    x <- matrix(rnorm(120), 60)
    y <- matrix(rnorm(60, 1), 30)
    points <- matrix(rnorm(50), 25)
  })
  H <- matrix(c(0.5, -0.2, -0.2, 0.4), 2)
  f <- function(data, w = rep(1, nrow(data)), kernel) {
    kde(data, H = H, w = w, eval.points = points, kernel = kernel)$estimate
  }
  for (kernel in all_kernels) {
    expect_close_to_reference(f(rbind(x, y), kernel = kernel),
                              (60 * f(x, kernel = kernel) + 30 * f(y, kernel = kernel)) / 90)
    copies <- rbind(x, x[1:7, ], x[1:7, ])
    expect_close_to_reference(f(x, w = rep(c(3, 1), c(7, 53)), kernel = kernel), f(copies, kernel = kernel))
    order <- with_seed(47, sample(60))
    expect_close_to_reference(f(x[order, ], kernel = kernel), f(x, kernel = kernel))
    expect_close_to_reference(f(rbind(x, y), w = rep(c(2, 0), c(60, 30)), kernel = kernel), f(x, kernel = kernel))
  }
})

test_that("radial estimates follow affine maps, and data far from 0 lose nothing", {
  x <- with_seed(48, matrix(rnorm(150), 50))
  H <- 0.6 * (diag(3) + 0.2)
  A <- matrix(c(2, 0.5, 0, -1, 1, 0.3, 0, 0.2, 30), 3)
  for (kernel in all_kernels) {
    fit <- kde(x, H = H, eval.points = x[1:20, ] + 0.2, kernel = kernel)$estimate
    mapped <- kde(x %*% t(A) + 7, H = A %*% H %*% t(A), eval.points = (x[1:20, ] + 0.2) %*% t(A) + 7,
                  kernel = kernel)$estimate
    expect_close_to_reference(mapped * det(A), fit, tol = 1e-11, info = kernel)
    # multiples of 2^-20, so that adding 1e9 is exact
    dyadic <- round(x * 2^20) / 2^20
    near <- kde(dyadic, H = H, eval.points = dyadic[1:20, ], kernel = kernel)$estimate
    far <- kde(dyadic + 1e9, H = H, eval.points = dyadic[1:20, ] + 1e9, kernel = kernel)$estimate
    expect_close_to_reference(far, near, info = kernel)
    fit <- kde(x[, 1], h = 0.4, eval.points = x[, 1], kernel = kernel)$estimate
    expect_close_to_reference(kde(1e-60 * x[, 1], h = 0.4e-60, eval.points = 1e-60 * x[, 1], kernel = kernel)$estimate,
                              1e60 * fit)
  }
})

test_that("one point, one observation, one column and data frames are no special cases", {
  expect_equal(kde(3, h = 0.5, eval.points = 3.2)$estimate, dnorm(3.2, 3, 0.5), tolerance = 1e-14)
  expect_equal(kde(3, h = 0.5)$estimate, dnorm(kde(3, h = 0.5)$eval.points, 3, 0.5), tolerance = 1e-12)
  one <- kde(faithful, H = Hns(faithful), eval.points = c(3, 70))$estimate
  expect_close_to_reference(one, reference_density(matrix(c(3, 70), 1), as.matrix(faithful), Hns(faithful)))
  column <- kde(faithful["eruptions"], h = 0.3)
  expect_identical(column$estimate, kde(faithful$eruptions, h = 0.3)$estimate)
  frame <- kde(faithful, H = Hns(faithful))
  expect_identical(frame$estimate, kde(as.matrix(faithful), H = Hns(faithful))$estimate)
  expect_identical(frame$names, c("eruptions", "waiting"))
  expect_identical(kde(1:10, h = 1)$estimate, kde(as.numeric(1:10), h = 1)$estimate)
})

test_that("a grid of positive data reaches as far as the bandwidth does there", {
  set.seed(61)
  x <- rlnorm(200, -8, 0.5)
  fit <- kde(x, positive = TRUE, adj.positive = 0)
  ends <- exp(range(log(x)) + c(-3.7, 3.7) * fit$h)
  expect_equal(range(fit$eval.points), ends)
  expect_equal(summary(fit)$mass, 1, tolerance = 1e-3)
  expect_equal(fit$cont[["50%"]], contourLevels(fit, prob = 0.5, approx = FALSE)[[1]], tolerance = 1e-2)
  # Cut at zero.
  expect_identical(kde(c(1, 2, 5), h = 1, positive = TRUE)$eval.points[1], 0)
  plane <- kde(cbind(x, rev(x)), positive = TRUE, adj.positive = 0)
  expect_equal(summary(plane)$mass, 1, tolerance = 1e-2)
})

test_that("data with positive = TRUE and unit.interval = TRUE are estimated on the line, with the Jacobian", {
  x <- with_seed(49, rexp(100))
  fit <- kde(x, positive = TRUE, adj.positive = 0.1, h = 0.3, eval.points = c(0.05, 0.5, 2, -1))
  reference <- reference_density(log(c(0.05, 0.5, 2) + 0.1), log(x + 0.1), 0.09) / (c(0.05, 0.5, 2) + 0.1)
  expect_close_to_reference(fit$estimate, c(reference, 0))
  u <- with_seed(50, rbeta(100, 2, 3))
  fit <- kde(u, unit.interval = TRUE, h = 0.4, eval.points = c(0.1, 0.5, 1.2))
  reference <- reference_density(qnorm(c(0.1, 0.5)), qnorm(u), 0.16) / dnorm(qnorm(c(0.1, 0.5)))
  expect_close_to_reference(fit$estimate, c(reference, 0))
})

test_that("engine, backend, threads and tol change nothing but what the result says", {
  x <- as.matrix(faithful)
  fit <- kde(x, H = Hns(x))
  for (threads in 1:3) expect_same_bits(kde(x, H = Hns(x), threads = threads)$estimate, fit$estimate)
  expect_same_bits(kde(x, H = Hns(x), engine = fit$engine, backend = "cpu")$estimate, fit$estimate)
  expect_close_to_reference(kde(x, H = Hns(x), engine = "direct")$estimate, fit$estimate)
  for (isa in instruction_sets()) {
    expect_close_to_reference(with_isa(isa, kde(x, H = Hns(x))$estimate), fit$estimate, info = isa)
  }
})

test_that("verbose says what is computed and changes no number", {
  x <- faithful$eruptions
  expect_message(fit <- kde(x, h = 0.3, engine = "direct", verbose = TRUE), "272 samples, 401 points: engine direct")
  expect_identical(fit$estimate, kde(x, h = 0.3, engine = "direct")$estimate)
})

test_that("rows with missing values are left out by na.omit, with their weights, and their positions are kept", {
  x <- faithful$eruptions
  x[c(3, 9)] <- NA
  w <- seq_along(x)
  fit <- kde(x, h = 0.3, w = w, na.action = na.omit)
  clean <- kde(x[-c(3, 9)], h = 0.3, w = w[-c(3, 9)])
  expect_identical(fit$estimate, clean$estimate)
  expect_identical(as.integer(fit$na.action), c(3L, 9L))
  plane <- faithful
  plane[5, 2] <- NA
  expect_identical(kde(plane, H = Hns(faithful), na.action = na.omit)$estimate,
                   kde(plane[-5, ], H = Hns(faithful))$estimate)
  expect_null(kde(x[-c(3, 9)], h = 0.3, na.action = na.omit)$na.action)
})

test_that("an estimate is planned once", {
  plans <- function(code) length(traced("announce", quote(task$m), code))
  expect_identical(plans(kde(faithful, compute.cont = FALSE)), 1L)
  expect_identical(plans(kde(faithful$waiting, h = 3, eval.points = 1:9)), 1L)
  expect_identical(plans(kde(faithful$waiting, h = 3, positive = TRUE, compute.cont = FALSE)), 1L)
  fhat <- kde(faithful$waiting, h = 3)
  expect_identical(plans(predict(fhat, 1:3)), 1L)
  expect_identical(plans(dkde(1:3, fhat)), 1L)
})

test_that("where an H is so strongly correlated that rounding counts a warning gives the error, once", {
  x <- with_seed(89, matrix(rnorm(100), 50) %*% chol(matrix(c(1, 1 - 1e-9, 1 - 1e-9, 1), 2)))
  correlated <- function(lost) matrix(c(1, 1 - lost, 1 - lost, 1), 2)
  expect_no_warning(fhat <- kde(x, H = correlated(1e-6), eval.points = x))
  expect_identical(fhat$tol, 1e-12)
  condition <- expect_warning(fhat <- kde(x, H = correlated(1e-9), eval.points = x), class = "kestrel_warning_rounding")
  expect_snapshot_output(say(condition))
  # 2^-51 (1 + 2 L21 / L22)
  expect_equal(fhat$tol, 2^-51 * (1 + 2 / sqrt(2e-9)), tolerance = 1e-6)
  expect_no_warning(predict(fhat, x = x[1:3, ]))
  expect_no_warning(kde(x, H = correlated(1e-9), eval.points = x, tol = 1e-10))
  expect_warning(kde_stream(x, to = identity, H = correlated(1e-9), gridsize = 5), class = "kestrel_warning_rounding")
})
