# kcde(), its methods, its bandwidths, and pkde() in several dimensions.

x1 <- with_seed(201, c(rnorm(25), 3, 3, 8))
x2 <- with_seed(202, cbind(a = rnorm(20), b = rexp(20)))
x3 <- with_seed(203, matrix(rnorm(36), 12))
tails <- c("lower.tail", "upper.tail")

all_points <- function(axes) unname(as.matrix(expand.grid(axes)))

test_that("in one dimension both tails are those of the kernel, weighted, and add to one", {
  w <- with_seed(204, runif(28))
  for (kernel in all_kernels) {
    lower <- kcde(x1, h = 0.6, w = w, kernel = kernel, gridsize = 31)
    upper <- kcde(x1, h = 0.6, w = w, kernel = kernel, gridsize = 31, tail.flag = "upper.tail")
    u <- lapply(lower$eval.points, function(q) (q - x1) / 0.6)
    beyond <- function(upper) vapply(u, function(u) sum(w * reference_tail(u, kernel, upper)) / sum(w), 0)
    expect_close_to_reference(lower$estimate, beyond(FALSE))
    expect_close_to_reference(upper$estimate, beyond(TRUE))
    expect_equal(lower$estimate + upper$estimate, rep(1, 31), tolerance = 1e-14)
    expect_false(is.unsorted(lower$estimate))
  }
  # A tail that 1 - F would lose.
  far <- kcde(x1, h = 0.6, eval.points = c(11, 13), tail.flag = "upper.tail")$estimate
  expected <- vapply(c(11, 13), function(q) mean(pnorm((q - x1) / 0.6, lower.tail = FALSE)), 0)
  expect_equal(far, expected, tolerance = 1e-12)
})

test_that("product kernels and diagonal H are products, on grids and at points, with the digits of small values", {
  h <- c(0.4, 0.7, 0.5)
  for (x in list(x2, x3)) {
    d <- ncol(x)
    w <- with_seed(205, runif(nrow(x)))
    H <- diag(h[1:d]^2)
    for (kernel in c("gaussian", "epanechnikov", "triangular", "cosine")) {
      for (tail in tails) {
        fit <- kcde(x, H = H, w = w, kernel = kernel, kernel_type = "product", gridsize = c(7, 5, 4)[1:d],
                    tail.flag = tail)
        points <- all_points(fit$eval.points)
        expected <- reference_orthants(points, x, h[1:d], w, kernel, upper = tail == "upper.tail")
        expect_close_to_reference(fit$estimate, expected, info = paste(kernel, d, tail))
        expect_close_to_reference(predict(fit, points), expected, info = paste(kernel, d, tail))
        if (kernel == "gaussian") {
          kept <- expected > 1e-200
          expect_equal(fit$estimate[kept] / expected[kept], rep(1, sum(kept)), tolerance = 1e-12)
        }
      }
    }
  }
})

test_that("a Gaussian kernel with correlations agrees with integrals, in both tails", {
  H <- matrix(c(0.3, 0.2, 0.2, 0.4), 2)
  q <- rbind(c(-0.3, 0.8), c(1, 2), c(-2, 0.1), c(0.5, Inf), c(-Inf, 1))
  space <- matrix(c(0.5, 0.3, -0.1, 0.3, 0.4, 0.1, -0.1, 0.1, 0.6), 3)
  for (tail in tails) {
    expected <- reference_correlated(q, x2, H, upper = tail == "upper.tail")
    expect_close_to_reference(kcde(x2, H = H, eval.points = q, tail.flag = tail)$estimate, expected, scale = 1)
    expected <- reference_correlated(t(c(0.2, 0.5, -0.3)), x3[1:2, ], space, upper = tail == "upper.tail")
    fit <- kcde(x3[1:2, ], H = space, eval.points = c(0.2, 0.5, -0.3), tail.flag = tail)
    expect_close_to_reference(fit$estimate, expected, scale = 1)
  }
})

test_that("grids with correlations have the values of points, by the mixture and by the series", {
  # Few observations take the one, many the other (core/query/orthants.cpp).
  many <- with_seed(206, matrix(rnorm(6000), ncol = 2))
  for (x in list(x2, many, x3)) for (tail in tails) {
    d <- ncol(x)
    fit <- kcde(x, H = 0.2 * (0.4 * diag(d) + 0.6), gridsize = 6, tail.flag = tail)
    expect_close_to_reference(fit$estimate, predict(fit, all_points(fit$eval.points)), scale = 1)
  }
})

test_that("many points and boxes of a kernel with correlations are those of single ones", {
  n <- 3000
  x <- matrix(sin(seq_len(2 * n)), n) + matrix(cos(seq_len(2 * n)^2), n)
  x[, 2] <- x[, 1] + x[, 2] / 2
  H <- matrix(c(0.04, 0.02, 0.02, 0.03), 2)
  fhat <- kde(x, H = H, eval.points = x[1:2, ])
  some <- c(1:5, n)
  single <- function(lower, upper) {
    vapply(some, function(i) kde_query(fhat, lower[i, ], upper[i, ])$count, 0) / n
  }
  below <- matrix(-Inf, n, 2)
  expect_close_to_reference(pkde(x, fhat)[some], single(below, x), scale = 1)
  expect_close_to_reference(kde_query(fhat, x - 1, x + 0.3)$count[some] / n, single(x - 1, x + 0.3), scale = 1)
  fit <- kcde(x, H = H, eval.points = x, tail.flag = "upper.tail")
  expect_close_to_reference(fit$estimate[some], single(x, -below), scale = 1)
  expect_close_to_reference(predict(fit, x = x[some, ]), fit$estimate[some], scale = 1)
  ends <- pkde(rbind(x, c(0, -Inf), c(Inf, Inf)), fhat)[n + 1:2]
  expect_identical(ends[1L], 0)
  expect_equal(ends[2L], 1, tolerance = 1e-13)
})

test_that("an infinite coordinate leaves a variable out, and boxes are sums of orthants", {
  fit <- kcde(x2, gridsize = 5)
  one <- kcde(x2[, 1], H = fit$H[1, 1], gridsize = 5)
  expect_equal(predict(fit, cbind(c(-1, 0, 2), Inf)), predict(one, c(-1, 0, 2)), tolerance = 1e-12)
  expect_identical(predict(fit, rbind(c(-Inf, 0), c(-Inf, Inf))), c(0, 0))
  expect_equal(predict(fit, c(Inf, Inf)), 1, tolerance = 1e-14)
  survival <- kcde(x2, H = fit$H, gridsize = 5, tail.flag = "upper.tail")
  expect_equal(predict(survival, cbind(-Inf, c(0, 1))), 1 - predict(fit, cbind(Inf, c(0, 1))), tolerance = 1e-12)
  corners <- predict(fit, rbind(c(1, 2), c(-1, 2), c(1, 0.5), c(-1, 0.5)))
  box <- kde_query(kde(x2, H = fit$H, eval.points = x2), c(-1, 0.5), c(1, 2))$count / nrow(x2)
  expect_equal(sum(corners * c(1, -1, -1, 1)), box, tolerance = 1e-11)
})

test_that("weights are copies, units move with the data, and threads change no bit", {
  w <- rep(0:3, 5)
  fit <- kcde(x2, H = diag(2) / 3 + 0.1, w = w, gridsize = 9)
  copies <- kcde(x2[rep(1:20, w), ], H = fit$H, xmin = vapply(fit$eval.points, min, 0),
                 xmax = vapply(fit$eval.points, max, 0), gridsize = 9)
  expect_equal(copies$estimate, fit$estimate, tolerance = 1e-13)
  moved <- kcde(1e9 + 1024 * round(1024 * x2) / 1024, H = 1024^2 * fit$H, w = w, gridsize = 9)
  here <- kcde(round(1024 * x2) / 1024, H = fit$H, w = w, gridsize = 9)
  expect_equal(unname(moved$estimate), unname(here$estimate), tolerance = 1e-6) # of the rounding of the grid
  many <- with_seed(207, matrix(rnorm(9000), ncol = 3))
  for (H in list(diag(3) / 9, diag(3) / 9 + 0.05)) {
    on <- lapply(c(1, 2, 5), function(n) {
      with_threads(n, {
        fit <- kcde(many, H = H, gridsize = 9)
        c(fit$estimate, predict(fit, many[1:9, ]))
      })
    })
    expect_same_bits(on[[2]], on[[1]])
    expect_same_bits(on[[3]], on[[1]])
  }
})

test_that("positive data are transformed, and have no mass beyond their bound", {
  x <- exp(x2)
  fit <- kcde(x, H = diag(2) / 4, positive = TRUE, adj.positive = 0, gridsize = 5)
  expect_close_to_reference(fit$estimate, reference_orthants(log(all_points(fit$eval.points)), x2, c(0.5, 0.5)))
  expect_identical(predict(fit, rbind(c(0, 2), c(-1, 2))), c(0, 0))
  line <- kcde(x[, 1], h = 0.5, positive = TRUE, adj.positive = 0, eval.points = c(-1, 0, 2), tail.flag = "upper.tail")
  expect_equal(line$estimate, c(1, 1, mean(pnorm((log(2) - x2[, 1]) / 0.5, lower.tail = FALSE))), tolerance = 1e-14)
})

test_that("missing rows are left out, columns are found by their names, and a vector is a point", {
  gaps <- rbind(x2, c(NA, 1))
  fit <- kcde(gaps, H = diag(2), gridsize = 4, na.action = na.omit)
  expect_identical(fit$estimate, kcde(x2, H = diag(2), gridsize = 4)$estimate)
  expect_length(fit$na.action, 1)
  expect_identical(predict(fit, data.frame(b = 1, a = 0)), predict(fit, c(0, 1)))
  expect_identical(kcde(x2, H = diag(2), eval.points = c(b = 1, a = 0))$estimate, predict(fit, x = c(0, 1)))
})

test_that("pkde() takes several variables: that of kcde(), and radial kernels with their marginals", {
  H <- matrix(c(0.3, 0.2, 0.2, 0.4), 2)
  q <- rbind(c(0, 1), c(-1, Inf), c(Inf, Inf))
  expect_identical(pkde(q, kde(x2, H = H, eval.points = x2)), predict(kcde(x2, H = H, gridsize = 3), q))
  wide <- cbind(x3, x1[1:12])
  product <- kde(wide, H = diag(4), kernel_type = "product", eval.points = wide)
  expect_close_to_reference(pkde(wide[1:3, ], product), reference_orthants(wide[1:3, ], wide, rep(1, 4)))
  # The marginal of (1 - r^2)^2 in the plane is (1 - u^2)^2.5.
  radial <- kde(x2, h = 0.8, kernel = "biweight", eval.points = x2)
  marginal <- function(at) mean(pbeta(pmin(pmax((1 + (at - x2[, 2]) / 0.8) / 2, 0), 1), 3.5, 3.5))
  expect_equal(pkde(cbind(Inf, c(0.2, 1)), radial), c(marginal(0.2), marginal(1)), tolerance = 1e-10)
})

test_that("bandwidths are those of their formulas", {
  w <- with_seed(208, runif(28, 0.5, 2))
  for (nstage in 1:2) {
    expect_equal(hpi.kcde(x1, nstage), reference_hpi_kcde(x1, nstage = nstage), tolerance = 1e-11)
    expect_equal(hpi.kcde(x1, nstage, w = w), reference_hpi_kcde(x1, w, nstage), tolerance = 1e-11)
  }
  sd2 <- apply(x2, 2, sd)
  scaled <- unname(x2 %*% diag(1 / sd2))
  for (diagonal in c(FALSE, TRUE)) {
    select <- if (diagonal) Hpi.diag.kcde else Hpi.kcde
    found <- select(x2, amise = TRUE)
    expect_equal(found$psi2, -reference_curvature(scaled, found$G), tolerance = 1e-11)
    H <- unname(found$H) / outer(sd2, sd2)
    value <- reference_plane_criterion(H, -found$psi2, 20)
    expect_equal(found$PI, value, tolerance = 1e-12, ignore_attr = TRUE)
    # It is the least nearby.
    for (move in list(c(1, 0, 0), c(0, 1, 0), c(0, 0, 1), c(1, -1, 0))) for (step in c(-0.02, 0.02)) {
      if (diagonal && move[3] != 0) next
      near <- H * (1 + step * matrix(c(move[1], move[3], move[3], move[2]), 2))
      if (!diagonal) near <- near + step * 0.1 * move[3] * (1 - diag(2)) * sqrt(prod(diag(H)))
      expect_gt(reference_plane_criterion(near, -found$psi2, 20), value)
    }
    expect_equal(select(x2 %*% diag(c(1e5, 1e-4))), found$H * outer(c(1e5, 1e-4), c(1e5, 1e-4)), tolerance = 1e-7,
                 ignore_attr = TRUE)
  }
  expect_equal(Hpi.kcde(x2, amise = TRUE)$G, 2 * (2 / 80)^(1 / 3) * cor(x2), tolerance = 1e-12, ignore_attr = TRUE)
})

test_that("without a bandwidth the plug-in is taken, with the variance of the kernel", {
  expect_equal(kcde(x1, gridsize = 3)$h, hpi.kcde(x1))
  expect_equal(kcde(x2, gridsize = 3)$H, unname(Hpi.kcde(x2)))
  fit <- kcde(x2, gridsize = 3, kernel = "epanechnikov", kernel_type = "product")
  expect_equal(fit$H, 5 * unname(Hpi.diag.kcde(x2)))
  expect_equal(kcde(exp(x1), gridsize = 3, positive = TRUE, adj.positive = 0)$h, hpi.kcde(x1))
})

test_that("estimates and bandwidths are those of ks, but for its sums over a grid and its searches", {
  skip_if_not_installed("ks")
  plane <- as.matrix(faithful)[1:80, ]
  expect_equal(hpi.kcde(plane[, 1]), ks::hpi.kcde(plane[, 1], binned = FALSE), tolerance = 1e-10)
  expect_equal(unname(Hpi.kcde(plane)), ks::Hpi.kcde(plane, binned = FALSE), tolerance = 1e-2)
  expect_equal(unname(Hpi.diag.kcde(plane)), ks::Hpi.diag.kcde(plane, binned = FALSE), tolerance = 1e-2)
  H <- matrix(c(0.06, 0.6, 0.6, 11), 2)
  for (tail in tails) {
    theirs <- ks::kcde(plane, H = H, binned = FALSE, gridsize = c(101, 101), tail.flag = tail)
    ours <- kcde(plane, H = H, gridsize = 101, tail.flag = tail)
    expect_lt(max(abs(predict(ours, all_points(theirs$eval.points)) - as.vector(theirs$estimate))), 0.03)
    # But for `cont`, which they share with densities.
    expect_true(all(setdiff(names(theirs), "cont") %in% names(ours)))
    expect_identical(ours[c("type", "tail", "gridded", "binned")], theirs[c("type", "tail", "gridded", "binned")])
  }
})

test_that("print and summary say what was estimated; quantiles are those of qkde()", {
  line <- kcde(faithful$eruptions, h = 0.2)
  survival <- kcde(faithful, H = diag(c(0.1, 9)), tail.flag = "upper.tail", w = rep(1:2, 136))
  positive <- kcde(faithful, h = 0.1, positive = TRUE, adj.positive = 0, eval.points = faithful[1:3, ])
  expect_snapshot_output({
    shown(line)
    shown(survival)
    shown(positive)
    shown(summary(line))
    shown(summary(survival))
  })
  p <- c(0.05, 0.25, 0.5, 0.75, 0.95)
  expect_equal(summary(line)$quantiles[1, ], qkde(p, kde(faithful$eruptions, h = 0.2)), ignore_attr = TRUE)
  second <- kde(faithful$waiting, h = 0.1, positive = TRUE, adj.positive = 0)
  expect_equal(summary(positive)$quantiles["waiting", ], qkde(p, second), ignore_attr = TRUE, tolerance = 1e-12)
})

test_that("plots are drawn in one and two dimensions, for every display", {
  line <- kcde(x1, h = 0.5, gridsize = 9)
  plane <- kcde(x2, H = diag(2) / 4, gridsize = 9)
  expect_gt(drawn(plot(line)), 3)
  expect_gt(drawn({
    plot(line, drawpoints = TRUE)
    plot(line, add = TRUE, col = 2)
  }), drawn(plot(line, drawpoints = TRUE)))
  for (display in c("persp", "filled.contour", "slice", "image")) expect_gt(drawn(plot(plane, display = display)), 0)
  expect_gt(drawn(plot(plane, display = "slice", drawpoints = TRUE)), drawn(plot(plane, display = "slice")))
  levels_of <- function(code) {
    with_binding("draw_lines", function(fhat, regions, ...) seen <<- regions$level, drawn(code))
    seen
  }
  seen <- NULL
  expect_identical(levels_of(plot(plane, display = "slice", cont = c(50, 25))), c(0.25, 0.5))
  expect_identical(levels_of(plot(plane, display = "filled.contour", abs.cont = 0.1)), 0.1)
  expect_identical(levels_of({
    plot(plane, display = "image")
    plot(plane, add = TRUE)
  }), 1:9 * 10 / 100)
})

test_that("mistakes are refused with a message that names the argument", {
  line <- kcde(x1, h = 0.5, gridsize = 5)
  plane <- kcde(x2, H = diag(2), gridsize = 5)
  space <- kcde(x3, H = diag(3), gridsize = 3)
  points <- kcde(x2, H = diag(2), eval.points = x2)
  close <- matrix(c(1, 1 - 1e-10, 1 - 1e-10, 1), 2)
  expect_refused(
    kcde(cbind(x3, 1), H = diag(4)),
    kcde(letters),
    kcde(x2, tail.flag = "both"),
    kcde(x2, kernel = "triangular"),
    kcde(x2, h = 1, H = diag(2)),
    kcde(x2, H = matrix(c(1, 0.5, 0.5, 1), 2), kernel_type = "product"),
    kcde(x2, H = close, eval.points = x2),
    kcde(x2 * 1e150, h = 1, gridsize = 3),
    kcde(x2, h = 1, eval.points = c(NA, 1)),
    kcde(x2, h = 1, eval.points = 1:3),
    kcde(x2, h = 1, gridsize = 1),
    kcde(x2, positive = NA),
    kcde(x2, positive = TRUE, adj.positive = -9),
    kcde(x2, h = 1, threads = 0),
    predict(plane),
    predict(plane, c(NA, 1)),
    predict(plane, 1),
    predict(replace(plane, "H", list(close)), c(0, 0)),
    pkde(c(NA, 1), kde(x2, h = 1, eval.points = x2)),
    pkde(1:3, kde(x2, h = 1, eval.points = x2)),
    pkde(c(0, 1), kde(x2, h = 1, eval.points = x2, kernel = "triangular")),
    plot(space),
    plot(points),
    plot(plane, display = "lines"),
    plot(plane, cont = 101),
    plot(plane, abs.cont = 2),
    plot(line, drawpoints = 1),
    hpi.kcde(x2),
    hpi.kcde(x1, nstage = 3),
    hpi.kcde(rep(1, 5)),
    hpi.kcde(x1, amise = 1),
    Hpi.kcde(x1),
    Hpi.kcde(x2, pilot = "samse"),
    Hpi.kcde(x2, pre = FALSE),
    Hpi.kcde(x2, optim.fun = "sann"),
    Hpi.diag.kcde(x2, Hstart = diag(3))
  )
  expect_error(kcde(x2, H = close), class = "kestrel_error_memory")
  memory <- tryCatch(kcde(x2, H = close), kestrel_error_memory = identity)
  expect_snapshot_output(say(memory))
})

test_that("radial compact kernels are integrated over orthants, also on grids", {
  x <- with_seed(141, matrix(rnorm(8), 4))
  H <- matrix(c(1, 0.4, 0.4, 0.5), 2)
  root <- root_of(H)
  # With z = root u, the first coordinate of the orthant limits u_1, and the second one u_2 given u_1.
  oracle <- function(q, kernel) {
    mean(apply(x, 1, function(row) {
      # Gauss and Legendre's rule is exact for these polynomials.
      inner <- function(u) {
        edge <- sqrt(1 - u^2)
        half <- pmax(pmin(edge, (q[2] - row[2] - root[2, 1] * u) / root[2, 2]) + edge, 0) / 2
        v <- half - edge + outer(half, legendre_rule$x)
        density <- reference_kernel(cbind(as.vector(u + 0 * v), as.vector(v)), diag(2), kernel)
        half * as.vector(matrix(density, length(u)) %*% legendre_rule$w)
      }
      end <- min(1, (q[1] - row[1]) / root[1, 1])
      if (end <= -1) 0 else integrate(inner, -1, end, rel.tol = 1e-8, subdivisions = 500)$value
    }))
  }
  for (kernel in c("uniform", "epanechnikov", "biweight")) {
    fit <- kcde(x, H = H, kernel = kernel, gridsize = c(4, 3))
    at <- as.matrix(expand.grid(fit$eval.points))
    expect_equal(as.vector(fit$estimate), unname(apply(at, 1, oracle, kernel)), tolerance = 1e-6, info = kernel)
    expect_equal(kcde(x, H = H, kernel = kernel, eval.points = at)$estimate, as.vector(fit$estimate), tolerance = 1e-12)
    expect_equal(max(kcde(x, H = H, kernel = kernel, eval.points = c(Inf, Inf))$estimate), 1, tolerance = 1e-12)
  }
  expect_equal(dim(kcde(cbind(x, 1:4), H = diag(3), kernel = "biweight", gridsize = c(2, 3, 2))$estimate), c(2, 3, 2))
})

test_that("the contour levels are those of the density with the same bandwidth, as in ks", {
  expect_identical(kcde(faithful$eruptions, h = 0.3)$cont, kde(faithful$eruptions, h = 0.3)$cont)
  plane <- kcde(faithful, H = diag(c(0.1, 9)), w = rep(1:2, 136))
  expect_equal(plane$cont, kde(faithful, H = diag(c(0.1, 9)), w = rep(1:2, 136))$cont, tolerance = 1e-12)
  expect_null(kcde(faithful, H = diag(2), eval.points = c(3, 70))$cont)
  expect_null(error_with(print, replace(plane, "cont", list(NULL))))
})
