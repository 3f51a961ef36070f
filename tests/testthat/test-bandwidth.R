# Bandwidth selectors against the plain-R oracles, the stored long-double values and ks.

dpi <- read_fixture("dpi_1d.csv")
from_ks <- read_fixture("ks_reference.csv")

test_that("the oracle itself reproduces the stored stages of the plug-in", {
  for (i in which(dpi$scalest == "stdev")) {
    stages <- reference_hpi(fixture_data(dpi$data[i]), dpi$scale[i])
    for (stage in names(stages)) expect_equal(stages[[stage]], dpi[[stage]][i], tolerance = 1e-11, info = dpi$data[i])
  }
})

test_that("hpi agrees with the stored values, for both scales", {
  for (i in seq_len(nrow(dpi))) {
    x <- fixture_data(dpi$data[i])
    expect_length(x, dpi$n[i])
    h <- hpi(x, scalest = dpi$scalest[i])
    expect_equal(h, dpi$h[i], tolerance = 1e-12, info = paste(dpi$data[i], dpi$scalest[i]))
  }
  expect_identical(hpi(faithful$waiting), hpi(faithful$waiting, scalest = "minim"))
})

test_that("hpi has the scale of KernSmooth::dpik where the standard deviation is far from the spread of most data", {
  skip_if_not_installed("KernSmooth")
  for (x in list(with_seed(34, rlnorm(400)), with_seed(35, rexp(400)), as.vector(islands))) {
    fine <- function(scalest) KernSmooth::dpik(x, scalest = scalest, truncate = FALSE, gridsize = 2^16 + 1)
    expect_equal(hpi(x), fine("minim"), tolerance = 5e-3)
    expect_equal(hpi(x, scalest = "stdev"), fine("stdev"), tolerance = 5e-3)
    expect_identical(kde(x)$h, hpi(x))
  }
})

test_that("hpi takes the standard deviation if more than half of the data are equal", {
  x <- c(0, 0, 0, 0, 0, 0, 0, 0, 1, 0)
  expect_identical(hpi(x), hpi(x, scalest = "stdev"))
  expect_equal(hpi(x), reference_hpi(x, sd(x))$h, tolerance = 1e-12)
})

test_that("one message says that weights enter a default bandwidth", {
  rm(list = ls(informed_of), envir = informed_of)
  x <- faithful$eruptions
  expect_silent(kde(x))
  expect_silent(kde(x, w = rep(2, 272)))
  expect_silent(kde(x, h = 0.3, w = 1:272))
  expect_snapshot(h <- kde(x, w = 1:272)$h)
  expect_silent(kde(x, w = 1:272))
  rm(list = ls(informed_of), envir = informed_of)
  expect_message(kcde(faithful, w = 1:272, gridsize = 5), "default bandwidth")
})

test_that("hpi agrees with KernSmooth::dpik on a fine grid", {
  skip_if_not_installed("KernSmooth")
  for (x in list(faithful$eruptions, faithful$waiting, iris$Petal.Width)) {
    peer <- KernSmooth::dpik(x, scalest = "stdev", truncate = FALSE, gridsize = 32001)
    # dpik bins, and leaves out observations equal to max(x).
    expect_equal(hpi(x, scalest = "stdev"), peer, tolerance = 2e-3)
  }
})

test_that("one stage is the same rule from psi6 of the normal density on", {
  x <- faithful$eruptions
  psi6 <- -15 / (16 * sqrt(pi) * reference_lesser_scale(x)^7)
  g2 <- (-6 / (sqrt(2 * pi) * psi6 * length(x)))^(1 / 7)
  psi4 <- reference_psi(x, rep(1, length(x)), g2, 4)
  expect_equal(hpi(x, nstage = 1), (1 / (2 * sqrt(pi) * psi4 * length(x)))^(1 / 5), tolerance = 1e-12)
})

test_that("hpi follows scale and location of the data, and the order of the rows does not matter", {
  x <- with_seed(31, rnorm(400))
  h <- hpi(x)
  expect_equal(hpi(3e5 * x), 3e5 * h, tolerance = 1e-12)
  expect_equal(hpi(1e-80 * x), 1e-80 * h, tolerance = 1e-12)
  expect_equal(hpi(1e9 + round(x, 3)), hpi(round(x, 3)), tolerance = 1e-6) # next to 1e9 x keeps 7 decimals
  expect_equal(hpi(-rev(x)), h, tolerance = 1e-12)
})

test_that("hpi takes weights into sums, diagonal terms and, by n_eff, into the rates", {
  x <- with_seed(32, rnorm(200))
  w <- with_seed(33, runif(200))
  p <- w / sum(w)
  n_eff <- 1 / sum(p^2)
  scale <- sqrt(sum(p * (x - sum(p * x))^2) * n_eff / (n_eff - 1))
  expect_equal(hpi(x, scalest = "stdev", w = w), reference_hpi(x, scale, w)$h, tolerance = 1e-12)
  expect_equal(hpi(x, w = w), reference_hpi(x, reference_lesser_scale(x, w), w)$h, tolerance = 1e-12)
  expect_equal(hpi(x, w = rep(7, 200)), hpi(x), tolerance = 1e-14)
  expect_equal(hpi(c(x, 1e3), w = c(w, 0)), hpi(x, w = w), tolerance = 1e-14)
})

test_that("hns and Hns agree with the formula, the stored values of ks, and ks itself for derivatives", {
  skip_if_not_installed("ks")
  for (i in which(from_ks$what == "hns")) {
    x <- fixture_data(from_ks$data[i])
    expect_equal(hns(x), reference_hns(x), tolerance = 1e-13, info = from_ks$data[i])
    expect_equal(hns(x), as.numeric(from_ks$value[i]), tolerance = 1e-13, info = from_ks$data[i])
  }
  for (i in which(from_ks$what == "Hns")) {
    x <- fixture_data(from_ks$data[i])
    expect_lt(relative_difference(Hns(x), fixture_matrix(from_ks$value[i])), 1e-13)
    for (r in 0:2) {
      expect_lt(relative_difference(Hns(x, deriv.order = r), ks::Hns(x, deriv.order = r)), 1e-13)
      expect_lt(relative_difference(Hns(x, deriv.order = r), reference_Hns(x, r)), 1e-13)
      expect_equal(hns(x[, 1], deriv.order = r), ks::hns(x[, 1], deriv.order = r), tolerance = 1e-13)
    }
  }
})

test_that("Hns.diag agrees with ks and minimises the normal AMISE over diagonal matrices h^2 diag(S)", {
  skip_if_not_installed("ks")
  for (name in c("faithful", "geyser", "iris123")) {
    x <- fixture_data(name)
    expect_lt(relative_difference(Hns.diag(x), ks::Hns.diag(x)), 1e-10)
    expect_true(is_diagonal(Hns.diag(x)))
  }
})

test_that("Hns.diag of many correlated columns, the determinant of whose correlations is below the range of numbers", {
  x <- with_seed(38, matrix(rnorm(400 * 301), 400))
  x <- x[, 1] + 0.2 * x[, -1]
  correlation <- cor(x)
  values <- eigen(correlation, symmetric = TRUE, only.values = TRUE)$values
  expect_lt(sum(log(values)), log(.Machine$double.xmin))
  inverse <- solve(correlation)
  h <- (4 * 300 / (400 * (2 * sum(inverse^2) + sum(diag(inverse))^2)))^(1 / 304) * prod(values^(1 / 608))
  expect_equal(diag(Hns.diag(x)), h^2 * apply(x, 2, var), tolerance = 1e-10)
})

planes <- c("faithful", "geyser", "airquality.OzoneTemp")
deviations <- function(x) diag(apply(x, 2, sd))

test_that("Hpi and Hpi.diag with the pilot samse are the oracle's", {
  for (name in planes) {
    x <- fixture_data(name)
    expect_lt(relative_difference(Hpi(x), reference_Hpi_samse2(x, reference_root(x))), 1e-5)
    expect_lt(relative_difference(Hpi(x, pre = "scale"), reference_Hpi_samse2(x, deviations(x))), 1e-5)
    expect_lt(relative_difference(Hpi.diag(x), reference_Hpi_samse2(x, deviations(x), diagonal = TRUE)), 1e-5)
  }
})

test_that("the values of ks with that pilot come from psi_6 read in the wrong order", {
  stored <- function(name, what) fixture_matrix(from_ks$value[from_ks$data == name & from_ks$what == what])
  for (name in planes) {
    x <- fixture_data(name)
    as_ks <- reference_Hpi_samse2(x, symmetric_root(var(x)), as_ks = TRUE)
    expect_lt(relative_difference(as_ks, stored(name, "Hpi_unbinned")), 1e-3)
    as_ks <- reference_Hpi_samse2(x, deviations(x), diagonal = TRUE, as_ks = TRUE)
    expect_lt(relative_difference(as_ks, stored(name, "Hpi.diag_unbinned")), 1e-3)
  }
})

test_that("with other pilots and with one stage Hpi and Hpi.diag agree with the exact path of ks", {
  skip_if_not_installed("ks")
  for (i in which(grepl("^Hpi", from_ks$what) & !from_ks$data %in% planes)) {
    x <- fixture_data(from_ks$data[i])
    H <- if (grepl("diag", from_ks$what[i])) Hpi.diag(x) else Hpi(x)
    expect_lt(relative_difference(H, fixture_matrix(from_ks$value[i])), 1e-3)
  }
  for (name in planes) {
    x <- fixture_data(name)
    expect_lt(relative_difference(Hpi(x, pilot = "dscalar"), ks::Hpi(x, pilot = "dscalar", binned = FALSE)), 1e-3)
    expect_lt(relative_difference(Hpi(x, nstage = 1), ks::Hpi(x, nstage = 1, binned = FALSE)), 1e-3)
    theirs <- ks::Hpi(x, pilot = "dscalar", pre = "scale", binned = FALSE)
    expect_lt(relative_difference(Hpi(x, pilot = "dscalar", pre = "scale"), theirs), 1e-3)
    expect_lt(relative_difference(Hpi.diag(x, pilot = "dscalar"), ks::Hpi.diag(x, pilot = "dscalar", binned = FALSE)),
              1e-3)
  }
})

test_that("the AMISE at Hpi is the oracle's, has its minimum there, and is no larger than at the H of ks", {
  cases <- list(c("faithful", "samse"), c("faithful", "dscalar"), c("geyser", "samse"), c("iris123", "dscalar"))
  for (case in cases) {
    x <- fixture_data(case[1])
    objective <- reference_hpi_objective(x, case[2])
    found <- Hpi(x, pilot = case[2], amise = TRUE)
    best <- objective(found$H)
    expect_equal(found$PI.star, best, tolerance = 1e-10, info = paste(case, collapse = " "))
    H_ks <- fixture_matrix(from_ks$value[from_ks$data == case[1] & from_ks$what == "Hpi_unbinned"])
    expect_lte(best, objective(H_ks) * (1 + 1e-12))
    root <- root_of(found$H)
    for (step in list(c(1, 0, 0), c(0, 1, 0), c(0, 0, 1), c(1, 1, -1))) for (size in c(-1e-3, 1e-3)) {
      change <- diag(ncol(x))
      change[1:2, 1:2] <- change[1:2, 1:2] + size * matrix(c(step[1], step[2], 0, step[3]), 2)
      nearby <- root %*% change
      expect_gt(objective(nearby %*% t(nearby)), best)
    }
  }
})

test_that("Hpi with amise = TRUE is the list of ks and what the search did", {
  found <- Hpi(faithful, amise = TRUE)
  expect_true(all(c("H", "PI.star", "objective", "convergence", "evaluations", "engine", "seconds") %in% names(found)))
  expect_identical(found$H, Hpi(faithful))
  expect_identical(found$convergence, 0L)
  expect_identical(found$engine, "fourier")
  expect_gt(found$evaluations, 0)
  expect_gte(found$seconds, 0)
  expect_true(isSymmetric(unname(found$H)))
  root <- chol(var(faithful))
  expect_equal(found$objective, found$PI.star / prod(diag(root)), tolerance = 1e-10)
})

test_that("Hpi of sphered data follows affine maps; Hpi.diag follows the units of the axes", {
  x <- fixture_data("iris123")
  A <- matrix(c(2, 0.3, 0, -1, 1, 0.5, 0, 0, 10), 3)
  # a rotation of the sphered data does not change dscalar's functionals
  expect_lt(relative_difference(Hpi(x %*% t(A) + 5), A %*% Hpi(x) %*% t(A)), 1e-6)
  D <- diag(c(100, 1e-3, 7))
  expect_lt(max(abs(diag(Hpi.diag(x %*% D)) / diag(D %*% Hpi.diag(x) %*% D) - 1)), 1e-6)
  expect_lt(relative_difference(Hpi(x[rev(seq_len(nrow(x))), ]), Hpi(x)), 1e-6)
  expect_true(is_diagonal(Hpi.diag(x)))
})

test_that("Hpi with equal weights is Hpi, and rows of weight zero change nothing", {
  x <- fixture_data("geyser")
  expect_lt(relative_difference(Hpi(x, w = rep(2, nrow(x))), Hpi(x)), 1e-10)
  expect_lt(relative_difference(Hpi(rbind(x, c(1e4, 99)), w = c(rep(1, nrow(x)), 0)), Hpi(x)), 1e-10)
})

test_that("every selector leaves out rows with missing values when asked to, and refuses them otherwise", {
  one <- list(hns, hpi, hlscv, hscv, function(x, ...) lscv(x, h = 0.3, ...), function(x, ...) psi(x, 0.3, 4, ...),
              function(x, ...) with_seed(36, quietly(hboot(x, B = 2, gridsize = 30, ...)))$errors)
  several <- list(Hns, Hns.diag, Hpi, Hpi.diag, Hlscv, Hlscv.diag, Hscv, Hscv.diag,
                  function(x, ...) lscv(x, H = diag(c(0.1, 2)), ...),
                  function(x, ...) with_seed(36, quietly(Hboot(x, B = 2, gridsize = 9, ...)))$errors)
  whole <- with_seed(37, matrix(rnorm(120), 60))
  gaps <- rbind(c(NA, 1), whole[1:30, ], c(NaN, NaN), whole[31:60, ], c(1, 0))
  w <- rep(1:3, 20)
  of_gaps <- c(1, w[1:30], 1, w[31:60], NA)
  check <- function(select, columns) {
    expect_identical(select(gaps[, columns], w = of_gaps, na.action = na.omit), select(whole[, columns], w = w))
    expect_error(select(gaps[, columns], na.action = na.fail), "na.action = na.omit leaves them out",
                 class = "kestrel_error_input")
    expect_error(select(whole[, columns], na.action = "skip"), "`na.action`", class = "kestrel_error_input")
  }
  for (select in one) check(select, 1)
  for (select in several) check(select, 1:2)
})

test_that("every selector by sums over pairs takes a number of threads, which changes no bit", {
  x <- with_seed(34, matrix(rnorm(1800), 600))
  one <- list(hpi, hlscv, hscv, function(x, ...) lscv(x, h = 0.3, ...), function(x, ...) psi(x, 0.3, 4, ...))
  several <- list(Hpi, Hpi.diag, Hlscv, Hlscv.diag, Hscv, Hscv.diag, function(x, ...) lscv(x, H = diag(ncol(x)), ...))
  check <- function(select, x) {
    alone <- select(x, threads = 1)
    for (threads in 2:3) expect_same_bits(select(x, threads = threads), alone)
    expect_error(select(x, threads = 0), "`threads`", class = "kestrel_error_input")
  }
  for (select in one) check(select, x[, 1])
  # By direct sums in three dimensions, by the Fourier engine in two.
  for (select in several) for (d in 2:3) check(select, x[, 1:d])
})

test_that("Hpi takes data frames and four and five dimensions, in agreement with ks", {
  skip_if_not_installed("ks")
  expect_identical(unname(Hpi(iris[, 1:3])), unname(Hpi(as.matrix(iris[, 1:3]))))
  x <- as.matrix(iris[, 1:4])
  expect_lt(relative_difference(Hpi(x), ks::Hpi(x, binned = FALSE)), 1e-3)
  wide <- with_seed(35, matrix(rnorm(600), 120))
  objective <- reference_hpi_objective(wide, "dscalar")
  found <- Hpi(wide, amise = TRUE)
  expect_equal(found$PI.star, objective(found$H), tolerance = 1e-10)
})

test_that("units scale through, as far as variances are numbers", {
  x <- with_seed(59, matrix(rnorm(120), 60))
  x[, 2] <- x[, 1] + x[, 2]
  one <- list(hpi(x[, 1]), hlscv(x[, 1]), hscv(x[, 1]), hns(x[, 1]))
  for (unit in 2^c(-490, 490)) {
    scaled <- x[, 1] * unit
    expect_equal(lapply(list(hpi(scaled), hlscv(scaled), hscv(scaled), hns(scaled)), `/`, unit), one, tolerance = 1e-7)
    expect_equal(Hns(x * unit) / unit^2, Hns(x), tolerance = 1e-12)
    expect_equal(Hpi(x * unit) / unit^2, Hpi(x), tolerance = 1e-5)
    units <- diag(c(1, unit))
    expect_equal(Hns.diag(x %*% units), units %*% Hns.diag(x) %*% units, tolerance = 1e-12)
    expect_equal(Hpi.diag(x %*% units)[1, 1], Hpi.diag(x)[1, 1], tolerance = 1e-5)
    expect_equal(Hpi(x %*% units, pre = "scale")[1, 1], Hpi(x, pre = "scale")[1, 1], tolerance = 1e-5)
  }
})

test_that("tuples are found whatever their order, in any dimension", {
  # 4 * 5^(d - 1) exceeds 2^53 between 22 and 23 coordinates.
  for (case in list(c(2, 8), c(3, 6), c(17, 4), c(22, 4), c(23, 4), c(40, 2), c(40, 3))) {
    tuples <- index_tuples(case[1], case[2])
    some <- with_seed(41, sample(nrow(tuples), min(nrow(tuples), 200)))
    shuffled <- with_seed(42, t(apply(tuples[some, , drop = FALSE], 1L, sample)))
    expect_identical(tuple_positions(shuffled, case[1]), some, info = paste(case, collapse = ", "))
  }
})
