# Selectors of bandwidth matrices by cross-validation: the values that they reach, against stored minima and ks run
# live; and the effect of linear maps, weights, orders and threads.

minima <- read_fixture("lscv_H_minima.csv")



# ks prints its progress, and takes long for more than some hundred observations.
small_samples <- function() {
  with_seed(71, list(
    correlated = with_correlation(matrix(rnorm(200), 100), 0.8),
    bimodal = rbind(matrix(rnorm(100), 50), matrix(rnorm(100, 4, 0.5), 50)),
    skewed = exp(with_correlation(matrix(rnorm(200), 100), -0.5) / 2),
    three = with_correlation(matrix(rnorm(210), 70), 0.5)
  ))
}

# Two thin rising ridges that cross.
crossed_ridges <- function(n) {
  with_seed(72, {
    along <- rnorm(n, sd = 3)
    cbind(along, ifelse(seq_len(n) %% 2 == 0, 1.2, 0.6) * along + rnorm(n, sd = 0.3))
  })
}

test_that("Hlscv is no higher than the best of many starts, nor than the H of ks", {
  for (i in seq_len(nrow(minima))) {
    x <- fixture_data(if (minima$data[i] == "simnormal3") "simnormal3_seed1" else minima$data[i])
    info <- minima$data[i]
    found <- quietly(Hlscv(x, amise = TRUE))
    at_ours <- as.numeric(oracle_lscv(x, found$H))
    size <- abs(minima$LSCV_best[i])
    expect_lte(at_ours, minima$LSCV_best[i] + 1e-12 * size)
    expect_lte(at_ours, minima$LSCV_at_ks_Hlscv[i])
    expect_lte(at_ours, minima$LSCV_at_ks_binned[i])
    expect_equal(found$objective, at_ours, tolerance = 1e-9, info = info)
    expect_identical(found$LSCV, found$objective)
    # The curve is flat at its minimum, so H is known to the square root of the rounding of LSCV.
    expect_lt(relative_difference(found$H, fixture_matrix(minima$H_best[i])), 1e-4)
  }
})

test_that("Hlscv and Hlscv.diag are no higher than ks's own exact searches", {
  skip_if_not_installed("ks")
  for (x in small_samples()) {
    criterion <- function(H) ks:::lscv.mat(x = x, H = H, binned = FALSE)
    ours <- quietly(list(Hlscv(x), Hlscv.diag(x)))
    theirs <- list(ks::Hlscv(x, binned = FALSE), ks::Hlscv.diag(x, binned = FALSE))
    for (k in 1:2) {
      best <- criterion(ours[[k]])
      expect_equal(best, as.numeric(oracle_lscv(x, ours[[k]])), tolerance = 1e-10)
      expect_lte(best, criterion(theirs[[k]]) + 1e-12 * abs(best))
    }
    expect_true(is_diagonal(ours[[2]]))
  }
})

test_that("Hscv and Hscv.diag with the scalar pilot agree with ks, and are no higher", {
  skip_if_not_installed("ks")
  for (x in small_samples()) {
    found <- Hscv(x, pilot = "dscalar", amise = TRUE)
    theirs <- ks::Hscv(x, pilot = "dscalar", binned = FALSE)
    star <- reference_sphere(x)
    criterion <- function(H) ks:::scv.mat(star$x, star$inward(H), found$g[2]^2 * diag(ncol(x)), binned = FALSE)
    best <- criterion(found$H)
    expect_equal(found$SCV.star, best, tolerance = 1e-10)
    expect_equal(found$objective, found$SCV.star / det(star$root), tolerance = 1e-12)
    expect_lte(best, criterion(theirs) * (1 + 1e-12))
    expect_lt(relative_difference(found$H, theirs), 1e-2)
    expect_lt(relative_difference(Hscv.diag(x, pilot = "dscalar"), ks::Hscv.diag(x, pilot = "dscalar", binned = FALSE)),
              1e-2)
  }
})

# ks always takes a binned one-stage matrix for this pilot, so the pilot is compared at an exact one.
test_that("the pilot samse of Hscv is that of ks at the same plug-in matrix, and SCV there the oracle's", {
  skip_if_not_installed("ks")
  for (name in c("correlated", "bimodal", "skewed")) {
    x <- small_samples()[[name]]
    star <- reference_sphere(x)
    for (nstage in 1:2) {
      found <- Hscv(x, nstage = nstage, amise = TRUE)
      H1 <- ks::Hpi(star$x, nstage = 1, pilot = "samse", pre = "sphere", binned = FALSE)
      g <- ks:::gamse.scv(star$x, d = 2, Sigma.star = var(star$x), Hamise = H1, n = nrow(x), binned = FALSE,
                          nstage = nstage - 1)
      expect_equal(found$g[nstage], g, tolerance = 1e-4, info = name)
      expected <- oracle_scv(star$x, star$inward(found$H), found$g[nstage]^2 * diag(2))
      expect_equal(found$SCV.star, as.numeric(expected), tolerance = 1e-10, info = name)
    }
  }
})

test_that("Hpi and Hscv by the Fourier engine are those of the direct sums", {
  for (d in 2:3) {
    x <- with_seed(73, matrix(rnorm(400 * d), 400))
    x[, 2] <- x[, 1] + 0.3 * exp(x[, 2])
    sample <- selector_sample(x, NULL)
    star <- transformed_sample(sample, inverse_root(pre_transform(sample$cov, "scale")))
    many <- replace(star, "n", 1e5)
    few <- replace(star, "n", 10)
    for (order in c(4, 6)) {
      expect_equal(eta(many, 0.4, order, run_options()), eta(few, 0.4, order, run_options()), tolerance = 1e-8)
    }
  }
  x <- with_seed(74, with_correlation(matrix(rnorm(640), 320), 0.7))
  plug_in <- Hpi(x, amise = TRUE)
  expect_identical(plug_in$engine, "fourier")
  expect_equal(plug_in$PI.star, reference_hpi_objective(x, "samse")(plug_in$H), tolerance = 1e-9)
  star <- reference_sphere(x)
  for (pilot in c("samse", "dscalar")) {
    smoothed <- Hscv(x, pilot = pilot, amise = TRUE)
    expect_identical(smoothed$engine, "fourier")
    expected <- oracle_scv(star$x, star$inward(smoothed$H), smoothed$g[2]^2 * diag(2))
    expect_equal(smoothed$SCV.star, as.numeric(expected), tolerance = 1e-10)
  }
})

test_that("both engines find the same minimum", {
  samples <- list(with_seed(93, with_correlation(matrix(rnorm(600), 300), 0.6)), crossed_ridges(200),
                  with_seed(94, with_correlation(matrix(rnorm(450), 150), 0.4)))
  selectors <- list(Hlscv, Hlscv.diag, function(x, ...) Hscv(x, pilot = "dscalar", ...),
                    function(x, ...) Hscv.diag(x, pilot = "dscalar", ...),
                    function(x, ...) Hscv(x, pilot = "unconstr", ...), Hscv)
  for (x in samples) for (k in seq_along(selectors)) {
    found <- lapply(c("fourier", "direct"), function(engine) selectors[[k]](x, engine = engine, amise = TRUE))
    expect_identical(vapply(found, `[[`, "", "engine"), c("fourier", "direct"))
    expect_identical(c(found[[1]]$convergence, found[[2]]$convergence), c(0L, 0L))
    # Pilots from a search of their own are accurate only to where that stops.
    tolerance <- if (k > 4) 1e-8 else if (ncol(x) == 2) 1e-12 else 1e-11
    expect_lt(abs(found[[1]]$objective / found[[2]]$objective - 1), tolerance)
    expect_lt(relative_difference(found[[1]]$H, found[[2]]$H), 1e-5)
  }
})

test_that("a criterion that is infinite everywhere has no minimum", {
  nowhere <- function(H) structure(Inf, gradient = 0 * H)
  expect_identical(minimise_over_matrices(nowhere, diag(2), FALSE)$convergence, 1L)
})

test_that("a search ends in a memory error if all starts are refused, and says if some are", {
  # The minimum is not 0, since gradients relative to that would be rounding errors.
  bowl <- function(H) structure(1 + sum((H - diag(2))^2), gradient = 2 * (H - diag(2)))
  refusal <- errorCondition("too large", class = c("kestrel_error_memory", "kestrel_error"))
  refusing <- function(when) function(H) if (when(H)) stop(refusal) else bowl(H)
  search <- function(when, starts, optim.fun = "optim") {
    minimise_within(c(1 / 100, 100), diag(2), "BOWL", refusing(when), starts, FALSE, optim.fun)
  }
  everywhere <- function(H) TRUE
  beyond <- function(H) H[1, 1] > 50
  for (optim.fun in c("optim", "nelder-mead")) {
    expect_error(search(everywhere, list(diag(2)), optim.fun), "too large", class = "kestrel_error_memory")
    expect_error(search(everywhere, list(diag(2), 2 * diag(2)), optim.fun), class = "kestrel_error_memory")
    expect_error(search(beyond, list(99 * diag(2)), optim.fun), class = "kestrel_error_memory")
    # One start is left out.
    found <- search(beyond, list(99 * diag(2), 4 * diag(2)), optim.fun)
    expect_equal(found$H, diag(2), tolerance = 1e-4)
    expect_identical(found$convergence, 0L)
    expect_match(found$remarks, "^Bandwidth matrices were left out of the search for lack of memory: too large$")
    # A refused step is taken back.
    expect_null(search(beyond, list(4 * diag(2)), optim.fun)$remarks)
    expect_null(search(function(H) FALSE, list(4 * diag(2)), optim.fun)$remarks)
  }
  # The minimum is where there is no memory.
  found <- search(function(H) H[1, 1] < 1.5, list(4 * diag(2)))
  expect_identical(found$convergence, 1L)
  expect_match(found$remarks[1], "^The search for the least value of BOWL did not converge: ")
  expect_match(found$remarks[2], "for lack of memory: too large$")
})

test_that("Hlscv does so, too, if the Fourier engine was asked for", {
  x <- matrix_shapes(3)$correlated$x
  # In the range of the search, but 200 times as wide along one direction of the data as along another.
  start <- 1e-3 * diag(diag(cov(x)))
  for (optim.fun in c("optim", "nelder-mead")) {
    expect_error(Hlscv(x, engine = "fourier", Hstart = start, optim.fun = optim.fun), "needs [0-9.e+]+ GB",
                 class = "kestrel_error_memory")
  }
  # No memory for some of the bandwidth matrices, as if their grids were too large.
  y <- small_samples()$correlated
  lscv_of_grid <- lscv_cpp
  refusal <- errorCondition("too large", class = "kestrel_core_memory", call = NULL)
  search <- function(refused) {
    some <- function(pairs, task, run) if (refused(task$H)) stop(refusal) else lscv_of_grid(pairs, task, run)
    with_binding("lscv_cpp", some, Hlscv(y, engine = "fourier"))
  }
  expect_error(search(function(H) TRUE), "too large", class = "kestrel_error_memory")
  remark <- "^Bandwidth matrices were left out of the search for lack of memory: too large; direct sums need none.$"
  expect_warning(H <- search(is_diagonal), remark, class = "kestrel_warning_search")
  expect_lt(relative_difference(H, Hlscv(y)), 1e-4)
})

test_that("the engine recorded is the one that computed the functionals of the plug-in matrix", {
  x <- with_seed(95, with_correlation(matrix(rnorm(700), 350), 0.5))
  for (pilot in known_pilots) {
    found <- Hpi(x, pilot = pilot, amise = TRUE)
    expect_identical(found$engine, "fourier")
    make <- pairs_cpp
    by_direct_sums <- function(sample, task, run) make(sample, replace(task, "engine", "direct"), run)
    direct <- with_binding("pairs_cpp", by_direct_sums, Hpi(x, pilot = pilot, amise = TRUE))
    expect_identical(direct$engine, "direct")
    expect_lt(relative_difference(found$H, direct$H), 1e-6)
  }
  expect_identical(Hpi(faithful[1:150, ], amise = TRUE)$engine, "direct")
})

test_that("the plug-in matrix of data in many dimensions does without an engine's name", {
  x <- with_seed(79, matrix(rnorm(40 * 17), 40))
  expect_identical(dim(psi_matrix(seq_len(choose(20, 4)), 17)), c(289L, 289L))
  expect_length(psi_order(with_data(list(x = x, w = rep(1, 40), n = 40)), 2, 4L, run_options()), choose(20, 4))
})

test_that("bandwidth matrices follow affine maps, and diagonal ones the units of the columns", {
  x <- small_samples()$skewed
  A <- matrix(c(2, 0.3, -1, 0.7), 2)
  moved <- x %*% t(A) + 5
  for (select in list(Hlscv, function(x) Hlscv(x, type = "scalar"), Hscv)) {
    expect_lt(relative_difference(quietly(select(moved)), A %*% unclass(quietly(select(x)))[1:2, 1:2] %*% t(A)), 1e-4)
  }
  D <- diag(c(1e3, 1e-4))
  for (select in list(Hlscv.diag, Hscv.diag)) {
    expect_lt(max(abs(diag(quietly(select(x %*% D))) / diag(D %*% quietly(select(x)) %*% D) - 1)), 1e-4)
  }
  y <- small_samples()$three
  B <- matrix(c(1, 0.2, 0, -1, 3, 0, 0.5, 0.5, 0.1), 3)
  expect_lt(relative_difference(Hlscv(y %*% t(B)), B %*% Hlscv(y) %*% t(B)), 1e-4)
})

test_that("a start is in the units of the data", {
  x <- small_samples()$skewed
  starting <- list(Hlscv, Hlscv.diag, function(...) Hlscv(..., optim.fun = "nelder-mead"), Hpi, Hscv)
  for (select in starting) {
    for (unit in c(1e-20, 1, 1000)) {
      found <- select(unit * x, Hstart = 1.5 * Hns(unit * x))
      expect_lt(relative_difference(found / unit^2, select(x, Hstart = 1.5 * Hns(x))), 1e-4)
    }
  }
})

test_that("the order of the rows and the location of the data do not matter", {
  for (x in small_samples()[c("correlated", "three")]) {
    x <- round(x * 2^20) / 2^20 # so that 1e9 + x keeps all of x
    for (select in list(Hlscv, Hlscv.diag, Hscv)) {
      H <- select(x)
      found <- select(x, amise = TRUE)
      expect_equal(select(x[rev(seq_len(nrow(x))), ], amise = TRUE)$objective, found$objective, tolerance = 1e-10)
      expect_lt(relative_difference(select(x[rev(seq_len(nrow(x))), ]), H), 1e-5)
      expect_lt(relative_difference(select(x + 2^20), H), 1e-5)
    }
  }
})

test_that("the same bits for any number of threads, by both engines", {
  x <- with_seed(75, with_correlation(matrix(rnorm(900), 450), 0.5))
  calls <- list(function() Hlscv(x, engine = "fourier"), function() Hlscv(x, engine = "direct"), function() Hscv(x),
                function() Hlscv(x, type = "scalar"), function() Hpi(x), function() Hpi(x, pilot = "unconstr"),
                function() Hscv(x, pilot = "unconstr", engine = "direct"), function() lscv(x, diag(2)))
  one <- with_threads(1, lapply(calls, function(call) call()))
  for (threads in 2:3) {
    many <- with_threads(threads, lapply(calls, function(call) call()))
    for (i in seq_along(one)) expect_same_bits(many[[i]], one[[i]], paste(threads, i))
  }
})

test_that("equal weights change nothing, nor do rows of weight zero", {
  x <- small_samples()$correlated
  with_outlier <- rbind(x, c(1e4, 99))
  for (select in list(Hlscv, Hlscv.diag, Hscv, Hscv.diag)) {
    expect_lt(relative_difference(select(x, w = rep(3, 100)), select(x)), 1e-8)
    expect_identical(select(with_outlier, w = rep(1:0, c(100, 1))), select(x))
  }
  w <- with_seed(76, runif(100, 0.5, 2))
  found <- Hlscv(x, w = w, amise = TRUE)
  expect_equal(found$LSCV, as.numeric(oracle_lscv(x, found$H, w)), tolerance = 1e-10)
})

test_that("a full matrix is lower than a diagonal one if the data have a direction, and follows it", {
  for (x in list(with_seed(77, with_correlation(matrix(rnorm(1000), 500), 0.9)), crossed_ridges(600))) {
    full <- Hlscv(x, amise = TRUE)
    diagonal <- Hlscv.diag(x, amise = TRUE)
    expect_lt(full$LSCV, diagonal$LSCV - 0.002 * abs(diagonal$LSCV))
    expect_gt(cov2cor(full$H)[1, 2], 0.6)
    scalar <- Hlscv(x, type = "scalar", amise = TRUE)
    expect_lte(full$LSCV, scalar$LSCV)
  }
})

test_that("data of correlation 0.9999 have a diagonal matrix too", {
  x <- with_seed(78, with_correlation(matrix(rnorm(200), 100), 0.9999))
  for (found in list(Hlscv.diag(x, amise = TRUE), Hscv.diag(x, amise = TRUE))) {
    expect_identical(found$convergence, 0L)
    expect_true(is_diagonal(found$H))
  }
  H <- Hlscv.diag(x)
  for (step in c(0.97, 1.03)) expect_gt(lscv(x, H * step), lscv(x, H))
})

test_that("Nelder and Mead's search finds the same minimum", {
  for (x in small_samples()[c("correlated", "three")]) for (select in list(Hlscv, Hlscv.diag, Hscv)) {
    one <- select(x, amise = TRUE)
    two <- select(x, optim.fun = "nelder-mead", amise = TRUE)
    expect_equal(two$objective, one$objective, tolerance = 1e-7)
    expect_gt(two$evaluations, one$evaluations)
    expect_identical(two$convergence, 0L)
    expect_identical(select(x, optim.fun = "nlm"), select(x))
  }
})

test_that("type = \"scalar\" refines between the neighbours of the minimum of its curve", {
  x <- small_samples()$bimodal
  found <- Hlscv(x, type = "scalar", amise = TRUE)
  expect_lte(found$LSCV, min(found$path$objective))
  min <- which.min(found$path$objective)
  expect_true(found$h > found$path$h[min - 1] && found$h < found$path$h[min + 1])
  expect_equal(unname(found$H), found$h^2 * var(x), tolerance = 1e-12, ignore_attr = TRUE)
  expect_identical(attr(found$H, "path"), found$path)
  for (step in c(1 - 1e-3, 1 + 1e-3)) expect_gt(lscv(x, (step * found$h)^2 * var(x)), found$LSCV)
})
