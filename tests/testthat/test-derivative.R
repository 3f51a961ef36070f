# Derivatives of densities: the values of every component, against sums pair by pair and ks, and what users see.

expect_plain <- function(actual, wanted) {
  expect_lt(max(abs(actual - wanted$value)), 1e-12 * max(wanted$size))
}

test_that("one variable: each order and engine is the sum of derivatives of kernels", {
  set.seed(1)
  samples <- list(normal = rnorm(70), ties = round(rnorm(60), 1), one = 3, two = c(1, 1.5), far = 1e9 + rnorm(40),
                  outlier = c(rnorm(40), 1e6), scale = 1e-3 * rnorm(50))
  for (x in samples) {
    h <- if (length(x) < 3L) 0.4 else 0.3 * IQR(x)
    points <- c(sample(x, min(5L, length(x))), mean(x), min(x) - 3 * h, max(x) + 10 * h)
    for (order in c(0, 1, 2, 3, 8)) for (engine in c("direct", "fgt")) {
      actual <- kdde(x, h = h, deriv.order = order, eval.points = points, engine = engine)
      expect_plain(actual$estimate, plain_kdde(as.matrix(x), as.matrix(points), matrix(h^2), rep(1L, order)))
      expect_identical(actual$engine, engine)
    }
  }
})

test_that("several variables: every component stands where deriv.ind says", {
  set.seed(2)
  for (d in 2:4) {
    x <- matrix(rnorm(40 * d), ncol = d)
    points <- matrix(rnorm(6 * d), ncol = d)
    H <- 0.3 * crossprod(matrix(rnorm(d * d), d)) + 0.1 * diag(d)
    w <- runif(40)
    for (order in 1:3) for (whole in c(TRUE, FALSE)) {
      fhat <- kdde(x, H = H, deriv.order = order, eval.points = points, w = w, deriv.vec = whole)
      expect_identical(nrow(fhat$deriv.ind), as.integer(if (whole) d^order else choose(d + order - 1, order)))
      for (k in seq_len(nrow(fhat$deriv.ind))) {
        expect_plain(fhat$estimate[, k], plain_kdde(x, points, H, rep(seq_len(d), fhat$deriv.ind[k, ]), w))
      }
    }
  }
})

test_that("on grids and at many points the engine fourier has the values of direct sums", {
  set.seed(7)
  for (d in 2:3) {
    x <- matrix(rnorm(300 * d), ncol = d) + rep(c(0, 1e5), c(300, 300 * (d - 1)))
    H <- 0.2 * crossprod(matrix(rnorm(d * d), d)) + 0.1 * diag(d)
    w <- rep(c(1, 0, 2), 100)
    # The allowance is for terms that cancel: both are exact to 1e-12 of the sum of |terms|.
    for (order in c(0, 1, 2, 4)) {
      direct <- kdde(x, H = H, deriv.order = order, gridsize = rep(9, d), w = w, engine = "direct")
      fourier <- kdde(x, H = H, deriv.order = order, gridsize = rep(9, d), w = w, engine = "fourier")
      expect_identical(fourier$engine, "fourier")
      expect_lt(max(abs(unlist(fourier$estimate) - unlist(direct$estimate))), 1e-10 * max(abs(unlist(direct$estimate))))
      at_points <- predict(fourier, as.matrix(expand.grid(fourier$eval.points)))
      expect_lt(max(abs(unlist(fourier$estimate) - as.vector(at_points))), 1e-10 * max(abs(at_points)))
    }
    # "auto" takes it where it is faster.
    many <- matrix(rnorm(5000 * d), ncol = d)
    expect_identical(kdde(many, H = diag(0.3, d), deriv.order = 1)$engine, "fourier")
    expect_identical(kdde(many[1:20, ], H = diag(0.3, d), deriv.order = 1, eval.points = many[1:5, ])$engine, "direct")
  }
})

test_that("components have the order of ks, and its values without binning", {
  skip_if_not_installed("ks")
  x <- as.matrix(faithful)
  H <- matrix(c(0.1, 0.5, 0.5, 12), 2)
  at <- x[c(1, 5, 100), ]
  for (order in 1:3) for (whole in c(TRUE, FALSE)) {
    theirs <- ks::kdde(x, H = H, deriv.order = order, eval.points = at, binned = FALSE, deriv.vec = whole)
    ours <- kdde(x, H = H, deriv.order = order, eval.points = at, deriv.vec = whole)
    expect_equal(ours$deriv.ind, theirs$deriv.ind, ignore_attr = TRUE)
    expect_equal(ours$estimate, theirs$estimate, ignore_attr = TRUE, tolerance = 1e-10)
  }
  # The limits of grids in ks are those of the diagonal of the root of H.
  H <- diag(c(0.1, 12))
  theirs <- ks::kdde(x, H = H, deriv.order = 2, gridsize = c(11, 9), binned = FALSE)
  ours <- kdde(x, H = H, deriv.order = 2, gridsize = c(11, 9))
  expect_equal(ours$eval.points, theirs$eval.points, ignore_attr = TRUE)
  # On a grid ks moves each observation to a grid point, also with binned = FALSE. At points it does not.
  at_points <- ks::kdde(x, H = H, deriv.order = 2, eval.points = as.matrix(expand.grid(theirs$eval.points)),
                        binned = FALSE)$estimate
  expect_equal(vapply(ours$estimate, as.vector, numeric(99)), at_points, ignore_attr = TRUE, tolerance = 1e-10)
})

test_that("derivatives are those of the estimate: differences, sums, copies, units", {
  x <- faithful$eruptions
  at <- c(1.7, 2.5, 4.1)
  f <- function(points, order) kdde(x, h = 0.3, deriv.order = order, eval.points = points)$estimate
  for (order in 1:4) {
    expect_equal(f(at, order), (f(at + 1e-5, order - 1) - f(at - 1e-5, order - 1)) / 2e-5, tolerance = 1e-7)
  }
  expect_equal(f(at, 0), kde(x, h = 0.3, eval.points = at)$estimate, tolerance = 1e-13)
  # The integral of a derivative over the line is zero, and weight 3 is three copies.
  fhat <- kdde(x, h = 0.3, deriv.order = 1, supp = 10)
  expect_lt(abs(sum(fhat$estimate) * diff(fhat$eval.points[1:2])), 1e-12)
  w <- rep(c(1, 3), length.out = 272)
  expect_equal(kdde(x, h = 0.3, deriv.order = 2, eval.points = at, w = w)$estimate,
               kdde(rep(x, w), h = 0.3, deriv.order = 2, eval.points = at)$estimate, tolerance = 1e-12)
  expect_equal(kdde(60 * x, h = 18, deriv.order = 2, eval.points = 60 * at)$estimate * 60^3, f(at, 2),
               tolerance = 1e-12)
})

test_that("the same bits on any number of threads", {
  set.seed(3)
  x <- matrix(rnorm(4000), ncol = 2)
  for (X in list(x, x[, 1])) {
    one <- kdde(X, H = if (is.matrix(X)) diag(0.1, 2), h = if (!is.matrix(X)) 0.1, deriv.order = 2, threads = 1)
    three <- kdde(X, H = if (is.matrix(X)) diag(0.1, 2), h = if (!is.matrix(X)) 0.1, deriv.order = 2, threads = 3)
    expect_identical(three$estimate, one$estimate)
  }
})

test_that("the curvature is |det| where the Hessian is negative definite", {
  set.seed(4)
  for (d in 1:4) {
    x <- matrix(rnorm(60 * d), ncol = d)
    fhat <- kdde(x, H = diag(0.5, d), deriv.order = 2, eval.points = x)
    hessians <- array(fhat$estimate, c(60, d, d))
    wanted <- apply(hessians, 1L, function(D) if (all(eigen(matrix(D, d))$values < 0)) abs(det(matrix(D, d))) else 0)
    expect_equal(kcurv(fhat)$estimate, wanted, tolerance = 1e-10)
    expect_equal(predict(kcurv(fhat), x[1:3, , drop = FALSE]), wanted[1:3], tolerance = 1e-10)
  }
})

test_that("plug-in bandwidths minimise the AMISE of derivatives", {
  x <- faithful$eruptions
  n <- length(x)
  for (r in 1:2) {
    found <- hpi(x, deriv.order = r, amise = TRUE)
    psi <- psi(x, found$g2, 2 * r + 4)
    amise <- function(h) {
      factorial(2 * r) / (2^(2 * r + 1) * factorial(r) * sqrt(pi)) / (n * h^(2 * r + 1)) + h^4 * abs(psi) / 4
    }
    best <- optimise(amise, c(0.5, 2) * found$h, tol = 1e-9)
    expect_equal(found$h, best$minimum, tolerance = 1e-6)
    expect_equal(found$objective, best$objective, tolerance = 1e-10)
  }
  # For a normal sample that is sphered the functionals of one stage give what the normal reference has, up to g.
  X <- as.matrix(faithful)
  for (r in 1:2) {
    found <- Hpi(X, deriv.order = r, amise = TRUE)
    expect_identical(found$convergence, 0L)
    # Scaled columns have scaled bandwidths.
    D <- diag(c(60, 0.01))
    expect_equal(unname(Hpi(X %*% D, deriv.order = r)), D %*% unname(found$H) %*% D, tolerance = 1e-5)
    expect_gt(det(found$H), det(Hpi(X, deriv.order = r - 1, pilot = "dscalar")))
  }
})

test_that("plug-in matrices of derivatives are those of ks without binning", {
  skip_if_not_installed("ks")
  set.seed(6)
  X <- as.matrix(faithful[1:120, ]) + cbind(rnorm(120, 0, 0.01), rnorm(120, 0, 0.3))
  for (r in 1:2) {
    theirs <- ks::Hpi(X, deriv.order = r, pilot = "dscalar", binned = FALSE)
    expect_equal(Hpi(X, deriv.order = r), theirs, ignore_attr = TRUE, tolerance = 1e-4)
    theirs <- ks::Hscv(X, deriv.order = r, binned = FALSE, amise = TRUE)
    ours <- Hscv(X, deriv.order = r, amise = TRUE)
    expect_equal(ours$H, theirs$H, ignore_attr = TRUE, tolerance = 1e-4)
    expect_equal(ours$SCV.star, theirs$SCV.star, tolerance = 1e-8)
    expect_equal(Hscv.diag(X, deriv.order = r), ks::Hscv.diag(X, deriv.order = r, binned = FALSE), ignore_attr = TRUE,
                 tolerance = 1e-3)
    expect_equal(Hscv(X, deriv.order = r, engine = "direct"), ours$H, tolerance = 1e-5)
  }
})

test_that("cross-validation of derivatives has the least value of its criterion", {
  x <- with_seed(8, matrix(rnorm(300), ncol = 2) %*% matrix(c(1, 0.5, 0, 1), 2))
  n <- nrow(x)
  # Chacon & Duong (2013, section 3.1), by derivatives at the observations.
  criterion <- function(H, order) {
    laplacian <- function(M) {
      tuples <- as.matrix(expand.grid(rep(list(1:2), order)))
      sum(apply(tuples, 1L, function(axes) mean(plain_kdde(x, x, M, rep(axes, each = 2L))$value)))
    }
    own <- function(M) laplacian_at_zero(M, order) / n
    (-1)^order * (laplacian(2 * H) - 2 * n / (n - 1) * (laplacian(H) - own(H)))
  }
  laplacian_at_zero <- function(M, order) {
    tuples <- as.matrix(expand.grid(rep(list(1:2), order)))
    sum(apply(tuples, 1L, function(axes) plain_kdde(cbind(0, 0), cbind(0, 0), M, rep(axes, each = 2L))$value))
  }
  for (order in 1:2) {
    for (type in c("full", "diag", "scalar")) {
      found <- suppressWarnings(Hlscv(x, deriv.order = order, type = type, amise = TRUE))
      expect_equal(found$LSCV, criterion(found$H, order), tolerance = 1e-8)
      # The least value of full matrices and order 2 is at the edge of the range.
      expect_identical(found$convergence, if (order == 2L && type == "full") 1L else 0L)
      for (factor in if (found$convergence == 0L) c(0.97, 1.03)) {
        expect_gte(criterion(factor * found$H, order), found$LSCV - 1e-9 * abs(found$LSCV))
      }
    }
    direct <- suppressWarnings(Hlscv.diag(x, deriv.order = order, engine = "direct"))
    expect_equal(suppressWarnings(Hlscv.diag(x, deriv.order = order, engine = "fourier")), direct, tolerance = 1e-4)
  }
  expect_equal(suppressWarnings(Hlscv(1e3 * x, deriv.order = 1)), 1e6 * suppressWarnings(Hlscv(x, deriv.order = 1)),
               tolerance = 1e-6)
})

test_that("the criterion for matrices has the variance and the gradient of derivatives", {
  set.seed(5)
  psi4 <- psi_normal(diag(2), 4L)
  for (order in 0:2) {
    criterion <- amise_criterion(psi4, 100, 2, order)
    H <- matrix(c(0.4, 0.1, 0.1, 0.3), 2)
    value <- criterion(H)
    # The integral of |D^r K_H|^2 over the plane.
    g <- seq(-6, 6, length.out = 161)
    at <- as.matrix(expand.grid(g, g))
    tuples <- as.matrix(expand.grid(rep(list(1:2), order)))
    squares <- if (order == 0L) plain_kdde(matrix(0, 1, 2), at, H, integer(0))$value^2 else
      rowSums(apply(tuples, 1L, function(axes) plain_kdde(matrix(0, 1, 2), at, H, axes)$value^2))
    bias <- drop(as.vector(H) %*% psi_matrix(psi4, 2) %*% as.vector(H)) / 4
    expect_equal(as.numeric(value) - bias, sum(squares) * diff(g[1:2])^2 / 100, tolerance = 1e-9)
    for (k in list(c(1, 1), c(1, 2), c(2, 2))) {
      E <- matrix(0, 2, 2)
      E[k[1], k[2]] <- E[k[2], k[1]] <- 1e-6
      slope <- (criterion(H + E) - criterion(H - E)) / 2e-6
      expect_equal(as.numeric(slope), sum(attr(value, "gradient") * E) / 1e-6, tolerance = 1e-6)
    }
  }
})

test_that("default bandwidths are those of the selectors", {
  expect_identical(kdde(faithful$eruptions, deriv.order = 1)$h,
                   hpi(faithful$eruptions, deriv.order = 1, scalest = "minim"))
  expect_equal(kdde(faithful, deriv.order = 1, eval.points = faithful[1:2, ])$H, Hpi(faithful, deriv.order = 1))
})

test_that("prints, tables and levels", {
  second <- kdde(faithful, H = diag(c(0.1, 20)), deriv.order = 2, gridsize = c(5, 4))
  second$seconds <- 0.01
  expect_snapshot(print(second))
  expect_snapshot(print(kcurv(second)))
  first <- kdde(faithful$eruptions, h = 0.3, deriv.order = 1, eval.points = c(2, 3))
  first$seconds <- 0.01
  expect_snapshot(print(first))
  expect_snapshot(head(as.data.frame(second), 3))
  expect_snapshot(as.data.frame(first))
  expect_snapshot(contourLevels(second, cont = c(25, 50)))
  expect_equal(predict(first, c(2, 3)), first$estimate)
  expect_equal(predict(second, faithful[1:2, ]), kdde(faithful, H = second$H, deriv.order = 2,
                                                      eval.points = faithful[1:2, ])$estimate)
})

test_that("bad input is refused in words", {
  x <- faithful$eruptions
  expect_refused(kdde(x, h = 0.3, deriv.order = 9))
  expect_refused(kdde(x, h = 0.3, deriv.order = -1))
  expect_refused(kdde(x, deriv.order = 3))
  expect_refused(hpi(x, deriv.order = 4))
  expect_refused(Hpi(faithful, deriv.order = 3))
  expect_refused(Hpi(faithful, deriv.order = 1, pilot = "samse"))
  expect_refused(kdde(faithful, H = diag(2), deriv.order = 1, engine = "fgt"))
  expect_refused(kdde(matrix(sin(1:200), ncol = 10), h = 1, deriv.order = 8))
  old <- options(kestrel.memory_limit = 1e8)
  expect_error(kdde(matrix(sin(1:120), ncol = 6), h = 1, deriv.order = 8), "deriv.vec = FALSE",
               class = "kestrel_error_memory")
  options(old)
  expect_refused(kdde(x, h = 0.3, positive = TRUE))
  expect_refused(kdde(1e-60 * x, h = 1e-61, deriv.order = 8))
  expect_refused(kcurv(kdde(x, h = 0.3, deriv.order = 1)))
  expect_refused(kcurv(x))
  expect_refused(plot(kdde(x, h = 0.3, deriv.order = 1, eval.points = 2)))
  expect_refused(plot(kdde(faithful, H = diag(2), deriv.order = 1, gridsize = c(5, 5)), which.deriv.ind = 3))
  edited <- kdde(x, h = 0.3, deriv.order = 1)
  edited$deriv.ind <- 2
  expect_refused(predict(edited, 2))
})
