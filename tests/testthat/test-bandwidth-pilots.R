# Pilot bandwidths: unconstrained matrices against the oracle and ks run live, and the one-stage scalar against its
# closed form.

# ks's searches stop by steps relative to the entries of the root of H, so these samples have similar scales.
pilot_samples <- function() {
  with_seed(91, list(
    faithful = scale(as.matrix(datasets::faithful)[1:120, ]),
    skewed = exp(with_correlation(matrix(rnorm(160), 80), -0.5) / 2),
    three = with_correlation(rbind(matrix(rnorm(105), 35), matrix(rnorm(105, 3), 35)), 0.5)
  ))
}

normal_pilot <- function(n, d, r) (2 / (n * (d + r)))^(2 / (d + r + 2))

test_that("the pilot with a bandwidth for each functional is that of ks", {
  skip_if_not_installed("ks")
  x <- as.matrix(faithful)
  for (select in c("Hpi", "Hpi.diag")) for (nstage in 1:2) {
    ours <- get(select)(x, pilot = "amse", pre = "scale", nstage = nstage)
    theirs <- getExportedValue("ks", select)(x, pilot = "amse", pre = "scale", nstage = nstage, binned = FALSE)
    expect_lt(relative_difference(unname(ours), theirs), 5e-3, label = paste(select, nstage))
  }
  expect_equal(Hpi(x[, 2:1], pilot = "amse", pre = "scale")[2:1, 2:1], Hpi(x, pilot = "amse", pre = "scale"),
               tolerance = 1e-4)
  found <- Hpi(x, pilot = "amse", pre = "scale", amise = TRUE)
  expect_length(found$g, 12)
  expect_output(print(found), "plug-in|Plug-in")
  expect_error(Hpi(iris[, 1:3], pilot = "amse"), "takes two", class = "kestrel_error_input")
  expect_error(Hscv(x, pilot = "amse"), "pilot", class = "kestrel_error_input")
})

test_that("functionals of the normal density leave no bias at the closed form of one stage", {
  # Both terms of the bias vanish together at a multiple of the covariance, so any other matrix is worse.
  for (r in c(2L, 4L)) {
    bias <- functional_bias(psi_normal(diag(2), r + 2L), 50, 2, r)
    G <- 2 * normal_pilot(50, 2, r) * diag(2)
    expect_lt(bias(G), 1e-25 * bias(2 * G))
    elsewhere <- matrix(c(1, 0.3, 0.3, 0.7), 2)
    expect_equal(attr(bias(elsewhere), "gradient"), oracle_gradient(function(G) as.numeric(bias(G)), elsewhere),
                 tolerance = 1e-7)
  }
})

test_that("the squared bias of psi_4 is the oracle's, with the gradient's slopes", {
  for (x in pilot_samples()[c("skewed", "three")]) {
    d <- ncol(x)
    star <- with_data(list(x = x, w = rep(1, nrow(x)), n = nrow(x)))
    oracle <- oracle_functional_bias(x, 0.8)
    bias <- functional_bias(psi_order(star, 0.8, 6L, run_options()), nrow(x), d, 4L)
    for (G in list(0.3 * diag(d), 0.1 * var(x))) {
      found <- bias(G)
      expect_equal(as.numeric(found), oracle(G), tolerance = 1e-10)
      expect_equal(attr(found, "gradient"), oracle_gradient(oracle, G), tolerance = 1e-7)
    }
  }
})

test_that("the unconstrained pilot minimises the oracle's bias, and is that of ks", {
  skip_if_not_installed("ks")
  for (x in pilot_samples()) {
    n <- nrow(x)
    d <- ncol(x)
    star <- reference_sphere(x)
    for (select in list(Hpi, Hscv)) {
      share <- if (identical(select, Hpi)) 1 else 1 / 2
      one <- select(x, nstage = 1, pilot = "unconstr", amise = TRUE)
      expect_length(one$g, 0)
      expect_equal(unname(one$G), unname(2 * share * normal_pilot(n, d, 4) * var(x)), tolerance = 1e-12)
      two <- select(x, pilot = "unconstr", amise = TRUE)
      expect_equal(two$g, sqrt(2 * share * normal_pilot(n, d, 6)), tolerance = 1e-12)
      bias <- oracle_functional_bias(star$x, two$g)
      G <- star$inward(two$G) / share
      for (k in seq_len(d)) for (l in seq_len(k)) for (step in c(-0.01, 0.01)) {
        change <- diag(d)
        change[k, l] <- change[k, l] + step
        expect_gt(bias(change %*% G %*% t(change)), bias(G))
      }
    }
    # ks's search stops at steps of 1e-8 in the bias; G is known to the square root of that.
    expect_lt(relative_difference(two$G, ks:::Gunconstr.scv(x)), 3e-3)
  }
})

test_that("Hpi with an unconstrained pilot: the AMISE is the oracle's, no larger than at the H of ks, which is near", {
  skip_if_not_installed("ks")
  for (x in c(pilot_samples(), list(as.matrix(datasets::faithful)))) for (nstage in 1:2) {
    found <- Hpi(x, nstage = nstage, pilot = "unconstr", amise = TRUE)
    theirs <- ks::Hpi(x, nstage = nstage, pilot = "unconstr", binned = FALSE)
    best <- reference_amise(found$H, x, found$G)
    expect_equal(found$PI.star, best, tolerance = 1e-10)
    expect_identical(found$objective, found$PI.star)
    expect_identical(found$convergence, 0L)
    expect_lte(best, reference_amise(theirs, x, found$G) * (1 + 1e-12))
    # On the faithful data, with scales 1 and 14, ks's search stops where the AMISE is 7 and 20 per cent above the
    # minimum.
    if (max(apply(x, 2, sd)) < 10) expect_lt(relative_difference(found$H, theirs), 2e-3)
  }
})

test_that("Hscv with an unconstrained pilot: the SCV is that of ks, no larger than at the H of ks, which is near", {
  skip_if_not_installed("ks")
  for (x in pilot_samples()[c("skewed", "three")]) for (nstage in 1:2) {
    found <- Hscv(x, nstage = nstage, pilot = "unconstr", amise = TRUE)
    theirs <- ks::Hscv(x, nstage = nstage, pilot = "unconstr", binned = FALSE)
    criterion <- function(H) ks:::scv.mat(x, H, found$G, binned = FALSE)
    best <- criterion(found$H)
    expect_equal(found$SCV.star, best, tolerance = 1e-10)
    expect_identical(found$objective, found$SCV.star)
    expect_lte(best, criterion(theirs) * (1 + 1e-12))
    expect_lt(relative_difference(found$H, theirs), 1e-2)
  }
})

test_that("in four, five and eight dimensions too", {
  x <- with_seed(92, with_correlation(matrix(rnorm(600), 60), 0.3))
  for (d in c(4, 5, 8)) {
    found <- Hpi(x[, seq_len(d)], pilot = "unconstr", amise = TRUE)
    expect_equal(found$objective, reference_amise(found$H, x[, seq_len(d)], found$G), tolerance = 1e-9)
  }
  found <- Hscv(x[, 1:5], pilot = "unconstr", amise = TRUE)
  expect_equal(found$objective, as.numeric(oracle_scv(x[, 1:5], found$H, found$G)), tolerance = 1e-10)
})

test_that("unconstrained pilots follow affine maps, and spheres are taken whatever `pre` is", {
  maps <- list(matrix(c(2, 0.3, -1, 0.7), 2), matrix(c(1, 0.2, 0, -1, 3, 0, 0.5, 0.5, 0.1), 3))
  for (x in pilot_samples()) for (select in list(Hpi, Hscv)) for (nstage in 1:2) {
    A <- maps[[ncol(x) - 1]]
    H <- select(x, nstage = nstage, pilot = "unconstr")
    moved <- select(x %*% t(A) + 5, nstage = nstage, pilot = "unconstr")
    expect_lt(relative_difference(moved, A %*% H %*% t(A)), 1e-4)
    expect_identical(unname(select(x, nstage = nstage, pre = "scale", pilot = "unconstr")), unname(H))
  }
})

test_that("weights in the unconstrained pilot: equal ones change nothing, nor do rows of weight zero", {
  x <- pilot_samples()$skewed
  for (select in list(Hpi, Hscv)) {
    H <- select(x, pilot = "unconstr")
    expect_lt(relative_difference(select(x, w = rep(3, nrow(x)), pilot = "unconstr"), H), 1e-6)
    with_outlier <- select(rbind(x, c(1e4, 99)), w = rep(1:0, c(nrow(x), 1)), pilot = "unconstr")
    expect_lt(relative_difference(with_outlier, H), 1e-10)
  }
})

test_that("the pilot dscalar of one stage is that of the theory, the same as the unconstrained one", {
  for (x in pilot_samples()) {
    found <- Hpi(x, nstage = 1, pilot = "dscalar", amise = TRUE)
    expect_equal(found$g, sqrt(2 * normal_pilot(nrow(x), ncol(x), 4)), tolerance = 1e-12)
    star <- reference_sphere(x)
    expect_equal(found$PI.star, reference_amise(star$inward(found$H), star$x, found$g), tolerance = 1e-10)
    expect_lt(relative_difference(found$H, Hpi(x, nstage = 1, pilot = "unconstr")), 1e-6)
  }
})

test_that("the default pilots are those of ks", {
  expect_identical(default_pilot(2L), "samse")
  for (d in 3:6) expect_identical(default_pilot(d), "dscalar")
})
