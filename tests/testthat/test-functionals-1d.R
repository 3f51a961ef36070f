# The functionals psi in one dimension, and the selectors that use them, plug-in and smoothed cross-validation: against
# the plain-R oracles, the stored long-double values and ks.

plugged <- read_fixture("dpi_1d.csv")
from_ks <- read_fixture("ks_reference.csv")

test_that("psi_r agrees with the oracle for every order, on every shape and by both engines", {
  for (shape in names(bandwidth_shapes())) {
    x <- as.numeric(bandwidth_shapes()[[shape]])
    w <- with_seed(42, runif(length(x), 0.1, 2))
    g <- shape_bandwidths(x)
    expect_no_problem(lapply(psi_orders, function(r) {
      reference <- lapply(g, function(one) reference_psi_any(x, one, r, w))
      terms <- vapply(reference, attr, 0, "terms")
      run <- run_options()
      lapply(c("direct", "fgt"), function(engine) {
        found <- psi_1d(line_pairs(with_data(list(x = x, w = w)), run, min(g), engine = engine), g, as.integer(r), run)
        reference_problem(found / terms, unlist(reference) / terms, 1e-13, 1, paste(shape, "order", r, engine))
      })
    }))
  }
})

test_that("psi is the functional of the density: copies change nothing, distant parts add up", {
  x <- with_seed(43, rnorm(200))
  y <- 1e4 + with_seed(44, rexp(100))
  g <- c(0.2, 0.5)
  for (r in psi_orders) {
    expect_close_to_reference(psi(rep(x, 1000), g, r), psi(x, g, r), 1e-11, info = paste("copies, order", r))
    both <- psi(c(x, y), g, r) * 300^2
    expect_close_to_reference(both, psi(x, g, r) * 200^2 + psi(y, g, r) * 100^2, 1e-11, info = paste("parts, order", r))
  }
  expect_close_to_reference(psi(x, g, 4, w = rep(3, 200)), psi(x, g, 4), 1e-14)
  expect_close_to_reference(psi(c(x, 7), g, 4, w = c(rep(1, 200), 0)), psi(x, g, 4), 1e-14)
  expect_equal(psi(3, 2, 6), -15 / sqrt(2 * pi) / 2^7, tolerance = 1e-15)
  # E phi_g^(r)(X - Y) for standard normal X and Y
  normal <- qnorm(ppoints(1e5))
  expect_equal(psi(normal, 0.5, 4), 3 / sqrt(2 * pi) / 2.25^(5 / 2), tolerance = 1e-3)
})

test_that("psi follows the units of the data as far as its values are numbers, and refuses what is not", {
  x <- with_seed(45, rnorm(30))
  for (r in psi_orders) {
    bare <- psi(x, 0.3, r)
    # A power of two that takes the value near the largest and the smallest number, and one far beyond.
    furthest <- trunc(c(1023 - log2(abs(bare)), -1020 - log2(abs(bare))) / (r + 1))
    for (power in furthest[abs(furthest) < 500]) {
      expect_equal(psi(x * 2^-power, 0.3 * 2^-power, r) / 2^(power * (r + 1) / 2) / 2^(power * (r + 1) / 2), bare,
                   tolerance = 1e-12)
    }
    if (r > 2) for (power in c(-480, 480)) {
      expect_error(psi(x * 2^power, 0.3 * 2^power, r), "within the range of numbers", class = "kestrel_error_input")
    }
    # Each as if it were the only bandwidth.
    g <- 10^c(-20, 0, 20)
    expect_identical(psi(x, g, r), vapply(g, function(one) psi(x, one, r), 0))
  }
  # -6.06 / 1e-28^11: an infinite sum of the terms i = j, and one of the others with the other sign.
  expect_error(psi(c(0, 1e-28), 1.2e-28, 10), "rescale `x`", class = "kestrel_error_input")
  expect_equal(psi(c(0, 1e-27), 1.2e-27, 10) / 1e297, psi(c(0, 1), 1.2, 10), tolerance = 1e-12)
})

test_that("the fields that amise = TRUE adds are there wherever they are numbers", {
  x <- with_seed(46, rexp(50))
  # scale^7 and scale^3 are out of range, psi_6 / scale^7 and C scale^3 are not.
  unit <- 2^c(1025 / 7, 1025 / 3) / c(reference_lesser_scale(x), sd(x))
  psi6 <- hpi(x * unit[1], amise = TRUE)$psi6
  expect_equal(psi6 * unit[1]^4 * unit[1]^3, hpi(x, amise = TRUE)$psi6, tolerance = 1e-10)
  C <- hscv(x * unit[2], amise = TRUE)$C
  expect_equal(C / unit[2]^2 / unit[2], hscv(x, amise = TRUE)$C, tolerance = 1e-10)
  expect_identical(hpi(x * 2^200, amise = TRUE)$psi8, 0)
})

test_that("the plug-in is the stored one by both engines, with every stage", {
  for (i in seq_len(nrow(plugged))) for (engine in c("direct", "fgt")) {
    sample <- selector_sample(fixture_data(plugged$data[i]), NULL)
    found <- plug_in_1d(sample, 2L, plugged$scalest[i], run_options(), engine)
    info <- paste(plugged$data[i], plugged$scalest[i], engine)
    expect_identical(found$engine, engine)
    expect_equal(found$h, plugged$h[i], tolerance = 1e-13, info = info)
    stages <- unlist(found[c("scale", "psi8", "g1", "psi6", "g2", "psi4")])
    stored <- unlist(plugged[i, c("scale", "psi8_NS", "g1", "psi6_g1", "g2", "psi4_g2")])
    expect_equal(unname(stages), unname(stored), tolerance = 1e-12, info = info)
  }
  found <- hpi(precip, amise = TRUE)
  expect_identical(found$h, hpi(precip))
  psi4 <- reference_psi_any(precip, found$g2, 4)
  expect_equal(found$objective, 1 / (2 * sqrt(pi) * 70 * found$h) + found$h^4 * as.vector(psi4) / 4, tolerance = 1e-12)
})

test_that("a variance over many observations keeps its digits", {
  x <- rep(c(-0.1, 0.3), 5e5)
  expect_equal(hns(x), (4 / 3e6)^(1 / 5) * 0.2 * sqrt(1e6 / (1e6 - 1)), tolerance = 1e-14)
})

test_that("hscv agrees with the stored values of ks and ks run here, as far as its search goes", {
  skip_if_not_installed("ks")
  for (i in which(from_ks$what == "hscv_unbinned")) {
    x <- fixture_data(from_ks$data[i])
    # optimise() in ks stops at 1.2e-4, whatever the unit
    expect_lt(abs(hscv(x) - as.numeric(from_ks$value[i])), 2.5e-4 * max(1, sd(x)))
  }
  expect_gt(sum(from_ks$what == "hscv_unbinned"), 5)
  for (nstage in 1:2) for (x in list(faithful$eruptions, with_seed(59, rexp(150)), precip)) {
    found <- hscv(x, nstage = nstage, amise = TRUE)
    expect_lt(abs(found$h - ks::hscv(x, nstage = nstage, binned = FALSE)), 2.5e-4 * max(1, sd(x)))
    peer <- ks:::scv.1d(x, h = found$h, g = found$g, binned = FALSE, inc = 1)
    expect_equal(found$objective, peer, tolerance = 1e-11)
  }
})

test_that("hscv is the global minimum of the oracle's curve", {
  for (nstage in 1:2) for (x in list(precip, with_seed(60, c(rnorm(60, sd = 0.05), rnorm(60, 2))))) {
    found <- hscv(x, nstage = nstage, amise = TRUE)
    constant <- reference_scv_constant(x, nstage)
    expect_equal(found$C, constant, tolerance = 1e-11)
    expect_equal(found$g, constant * length(x)^(-23 / 45) / found$h^2, tolerance = 1e-11)
    expect_equal(range(found$curve$h), c(0.1, 2) * reference_hns(x), tolerance = 1e-12)
    expect_close_to_reference(found$curve$objective, reference_scv(x, found$curve$h, constant), 1e-11)
    expect_equal(found$objective, reference_scv(x, found$h, constant), tolerance = 1e-11)
    fine <- seq(0.1, 2, length.out = 600) * reference_hns(x)
    expect_lte(found$objective, min(reference_scv(x, fine, constant)) + 1e-13)
    expect_identical(found$h, hscv(x, nstage))
    expect_identical(found$convergence, 0L)
  }
})

test_that("hscv draws its curve", {
  expect_gt(drawn(expect_identical(hscv(precip, plot = TRUE), hscv(precip))), 3)
  expect_identical(drawn(hscv(precip)), 0L)
})
