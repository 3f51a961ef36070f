# The criteria of bandwidth matrices by both engines: against the plain-R oracles over awkward shapes, the stored
# long-double values, and differences.

values <- read_fixture("lscv_H_values.csv")

engines_for <- function(d) if (d %in% 2:3) c("fourier", "direct") else "direct"

# Matrices for which a grid of less than 1 GB is enough: those that are not far longer along one direction of the data
# than along another.
within_grid <- function(H, S) diff(log(relative_bandwidths(H, S))) < log(if (nrow(H) == 2) 20 else 5)

# Both engines are compared with the same values of an oracle: those of one name are computed once.
once <- local({
  known <- new.env()
  function(name, code) {
    if (!exists(name, known, inherits = FALSE)) assign(name, code, known)
    known[[name]]
  }
})

# Calls problems(criteria, x, w, H, info) for every shape and matrix.
over_shapes <- function(problems, engine, shapes) {
  expect_no_problem(lapply(names(shapes), function(name) {
    x <- shapes[[name]]$x
    w <- shapes[[name]]$w
    sample <- selector_sample(x, w)
    # Each has its own grid: one for all of them would be large.
    criteria <- function() criteria_by(engine, x, shapes[[name]]$w)
    if (is.null(w)) w <- rep(1, nrow(x))
    matrices <- Filter(Negate(is.null), shape_matrices(sample$cov, sample$n))
    if (engine == "fourier") matrices <- Filter(function(H) within_grid(H, sample$cov), matrices)
    info <- paste(name, ncol(x), names(matrices))
    Map(function(H, info) problems(criteria(), x, w, H, info), matrices, info)
  }))
}

for (engine in c("fourier", "direct")) local({
  engine <- engine
  test_that(paste("LSCV of the", engine, "engine is the oracle's, in both forms"), {
    for (d in 2:3) over_shapes(function(criteria, x, w, H, info) {
      # The forms differ by a divisor, whatever the dimension.
      lapply(c("unbiased", if (d == 2) "paper"), function(form) {
        reference <- once(paste("lscv", info, form), oracle_lscv(x, H, w, form))
        relative_to_terms(criteria$lscv(H, form), reference, matrix_tolerance(d), paste(info, form))
      })
    }, engine, matrix_shapes(d))
  })

  test_that(paste("SCV of the", engine, "engine is the oracle's, for pilots narrow and wide"), {
    for (d in 2:3) over_shapes(function(criteria, x, w, H, info) {
      pilots <- list(narrow = 0.3 * H, wide = 2 * H, diagonal = diag(diag(H)) / 2)
      # In three dimensions a grid for all of them would need more than 1 GB.
      pilots <- if (d == 3) pilots["narrow"] else Filter(function(G) within_grid(G, cov(x)), pilots)
      Map(function(G, which) {
        reference <- once(paste("scv", info, which), oracle_scv(x, H, G, w))
        relative_to_terms(criteria$scv(H, G), reference, matrix_tolerance(d), paste(info, which))
      }, pilots, names(pilots))
    }, engine, matrix_shapes(d)[if (d == 2) TRUE else c("few", "ties", "uneven", "outliers", "correlated", "lattice")])
  })

  test_that(paste("gradients of the", engine, "engine are the slopes of the oracle"), {
    shapes <- c("few", "plain", "ties", "uneven", "offset", "one_outlier", "two_places")
    for (d in 2:3) over_shapes(function(criteria, x, w, H, info) {
      G <- H / 3
      scale <- sqrt(diag(H))
      # Relative to the terms of one entry, in units of the bandwidth along its axes.
      compare <- function(found, oracle, info) {
        reference <- once(info, list(value = oracle(H), gradient = oracle_gradient(oracle, H)))
        in_units <- outer(scale, scale) / attr(reference$value, "terms")
        list(relative_to_terms(found, reference$value, matrix_tolerance(d), paste(info, "value")),
             reference_problem(attr(found, "gradient") * in_units, reference$gradient * in_units, 1e-8, 1, info))
      }
      list(compare(criteria$lscv(H, gradient = TRUE), function(M) oracle_lscv(x, M, w), paste(info, "slope of LSCV")),
           compare(criteria$scv(H, G, TRUE), function(M) oracle_scv(x, M, G, w), paste(info, "slope of SCV")))
    }, engine, matrix_shapes(d)[if (d == 2) shapes else c("few", "ties", "uneven", "one_outlier")])
  })

  test_that(paste("psi of orders 4, 6, 8 of the", engine, "engine are the oracle's"), {
    few <- c("few", "plain", "uneven", "offset", "outliers", "correlated")
    for (d in 2:3) for (name in if (d == 2) names(matrix_shapes(d)) else few) {
      shape <- matrix_shapes(d)[[name]]
      sample <- selector_sample(shape$x, shape$w)
      # Spheres or scales, as selectors do; otherwise a scalar g has no meaning.
      star <- transformed_sample(sample, inverse_root(pre_transform(sample$cov, "scale")))
      y <- sweep(star$x, 2, colSums(star$w * star$x) / sum(star$w)) %*% t(star$axes)
      g <- (4 / ((d + 2) * star$n))^(1 / (d + 4)) * c(0.7, 1.5)
      # psi_order() chooses the engine by the number of observations.
      star$n <- if (engine == "fourier") 1e6 else 2
      # Of order 4 for both bandwidths, and one of them for each of the others.
      for (order in c(4L, 6L, 8L)) expect_no_problem(lapply(switch(order / 2 - 1, g, g[1], g[2]), function(one) {
        found <- psi_order(star, one, order, run_options())
        expected <- once(paste("psi", name, d, one, order), oracle_psis(y, one, oracle_exponents(d, order), star$w))
        # Over all indices: for those with an odd exponent the terms i = j, by far the largest ones here, are 0.
        terms <- max(vapply(expected, attr, 0, "terms"))
        reference_problem(found, vapply(expected, as.numeric, 0), matrix_tolerance(d), terms,
                          paste(engine, name, d, "order", order))
      }))
    }
  })
})

test_that("a grid that would need more than 1 GB is refused, and the criteria go on from there", {
  sample <- selector_sample(matrix_shapes(3)$correlated$x, NULL)
  H <- diag(shape_matrices(sample$cov, 60)$diagonal)
  criteria <- criteria_by("fourier", sample$x)
  before <- criteria$lscv(0.1 * sample$cov)
  refused <- tryCatch(criteria$lscv(diag(H)), error = identity)
  expect_s3_class(refused, c("kestrel_error_memory", "kestrel_error"))
  expect_match(conditionMessage(refused), "needs [0-9.e+]+ GB, more than the 1 GB allowed")
  expect_equal(criteria$lscv(0.1 * sample$cov), before, tolerance = 1e-12)
  # If the user did not ask for that engine, direct sums replace it.
  chosen <- criteria_for(replace(sample, "n", 1e4), "auto", run_options())
  expect_identical(chosen$by(), list(engine = "fourier", backend = "cpu"))
  expect_no_problem(relative_to_terms(chosen$lscv(diag(H)), oracle_lscv(sample$x, diag(H)), 1e-12))
  expect_no_problem(relative_to_terms(chosen$scv(diag(H), diag(H)), oracle_scv(sample$x, diag(H), diag(H)), 1e-12))
})

test_that("in many dimensions LSCV, SCV and their gradients are the oracle's too", {
  for (d in c(4:6, 16)) {
    x <- with_correlation(with_seed(61, matrix(rnorm(40 * d), 40)), 0.6)
    for (offset in c(0, 1e9)) {
      x <- x + offset
      w <- with_seed(62, runif(40))
      criteria <- criteria_by("direct", x, w)
      H <- 0.5 * cov(x)
      G <- 0.2 * diag(diag(H))
      found <- list(criteria$lscv(H, gradient = TRUE), criteria$scv(H, G, gradient = TRUE))
      oracles <- list(function(M) oracle_lscv(x, M, w), function(M) oracle_scv(x, M, G, w))
      for (k in 1:2) {
        expect_no_problem(relative_to_terms(found[[k]], oracles[[k]](H), 1e-12, paste(d, offset)))
        # The oracle's gradient is 272 differences in 16 dimensions.
        if (d == 16 && offset > 0) next
        size <- attr(oracles[[k]](H), "terms")
        expect_close_to_reference(attr(found[[k]], "gradient") / size, oracle_gradient(oracles[[k]], H) / size, 1e-8, 1,
                                  info = paste("gradient", d, offset))
      }
      expect_no_problem(relative_to_terms(criteria$lscv(H, "paper"), oracle_lscv(x, H, w, "paper"), 1e-12))
    }
  }
})

test_that("lscv() keeps its digits for bandwidths far below the spread of the data", {
  for (d in 2:3) for (name in c("clusters", "outliers", "two_places", "offset")) {
    shape <- matrix_shapes(d)[[name]]
    H <- with_seed(63, crossprod(matrix(rnorm(d * d), d)) + diag(d)) * 0.3
    expect_no_problem(relative_to_terms(lscv(shape$x, H), oracle_lscv(shape$x, H), 1e-12, paste(name, d)))
  }
})

test_that("whole weights are copies in sums over all pairs", {
  for (d in 2:3) {
    x <- matrix_shapes(d)$plain$x
    w <- rep(1:3, 20)
    H <- 0.2 * cov(x)
    copies <- x[rep(1:60, w), ]
    for (engine in c("fourier", "direct")) {
      weighted <- criteria_by(engine, x, w)
      repeated <- criteria_by(engine, copies)
      # The sums with i = j, from the paper's LSCV without its terms there.
      at_zero <- oracle_sums(matrix(0, 1, d), list(H))["own", 1]
      sums <- c(weighted$lscv(H, "paper") - 2 * at_zero * sum(w^2) / sum(w)^2,
                repeated$lscv(H, "paper") - 2 * at_zero / sum(w))
      expect_equal(sums[1], sums[2], tolerance = 100 * matrix_tolerance(d))
    }
    expect_equal(psi_order(selector_sample(x, w), 0.5, 4L, run_options()),
                 psi_order(selector_sample(copies, NULL), 0.5, 4L, run_options()), tolerance = 1e-12)
  }
})

test_that("lscv() of a matrix is the oracle's, with weights, for H and for h", {
  for (d in c(2:4)) {
    x <- with_seed(64, matrix(rnorm(60 * d), 60))
    w <- with_seed(65, runif(60) * rep(c(0, 1, 1), 20))
    H <- 0.3 * cov(x)
    for (form in c("unbiased", "paper")) {
      expect_no_problem(list(
        relative_to_terms(lscv(x, H, form = form), oracle_lscv(x, H, form = form), 1e-12, d),
        relative_to_terms(lscv(x, H, w = w, form = form), oracle_lscv(x, H, w, form), 1e-12, d)
      ))
      h <- c(0.3, 1, 2)
      expect_equal(lscv(x, h = h, form = form),
                   vapply(h, function(one) as.numeric(oracle_lscv(x, one^2 * diag(d), form = form)), 0),
                   tolerance = 1e-12)
    }
  }
})

test_that("lscv() by the Fourier engine, for many observations, is that of the direct one", {
  for (d in 2:3) {
    x <- with_seed(66, matrix(rnorm(2000 * d), 2000))
    H <- list(0.05 * cov(x), 0.02 * diag(d))
    for (one in H) {
      direct <- criteria_by("direct", x)
      expect_close_to_reference(lscv(x, one), direct$lscv(one), 100 * matrix_tolerance(d))
    }
    # The direct engine is within 1e-12 of a sum over pairs in blocks.
    expect_no_problem(relative_to_terms(direct$lscv(H[[1]]), oracle_lscv(x, H[[1]]), 1e-12))
  }
})

test_that("lscv() takes data without a regular covariance, however many", {
  set.seed(62)
  x <- rnorm(2000)
  H <- diag(c(0.1, 0.2))
  for (y in list(cbind(x, 1), cbind(x, 2 * x))) expect_equal(lscv(y, H = H), oracle_lscv(y, H)[[1]], tolerance = 1e-11)
})

test_that("the stored values of LSCV(H) are met to 1e-12 by both engines, and by the oracle", {
  for (i in seq_len(nrow(values))) {
    x <- fixture_data(values$data[i])
    H <- fixture_matrix(values$H_rowmajor[i])
    info <- paste(values$data[i], values$H_name[i])
    expected <- structure(values$LSCV[i], terms = attr(oracle_lscv(x, H), "terms"))
    expect_no_problem(list(
      relative_to_terms(oracle_lscv(x, H), expected, 1e-13, paste("oracle", info)),
      relative_to_terms(lscv(x, H), expected, 1e-12, paste("lscv", info)),
      lapply(engines_for(ncol(x)), function(engine) {
        tolerance <- if (engine == "direct") 1e-12 else matrix_tolerance(ncol(x))
        relative_to_terms(criteria_by(engine, x)$lscv(H), expected, tolerance, paste(engine, info))
      })
    ))
  }
})

test_that("form = \"paper\" gives the figures of Andrzejewski et al. (2013), eq. 24 to 30", {
  for (d in c(2, 3, 5)) {
    x <- with_seed(67, matrix(rexp(64 * d), 64))
    range <- oracle_paper_range(64, d)
    h <- exp(seq(log(range[1]), log(range[2]), length.out = 12))
    Sigma <- var(x)
    ours <- vapply(h, function(one) lscv(x, one^2 * Sigma, form = "paper"), 0)
    expect_close_to_reference(ours, oracle_paper_curve(x, h), 1e-12)
    # The 150 bandwidths of the selector, in the unbiased form, which differs by the divisor of the cross sum: -2 / (n
    # (n - 1)) instead of -2 / n^2.
    path <- attr(suppressWarnings(Hlscv(x, type = "scalar")), "path")
    expect_identical(dim(path), c(150L, 2L))
    expect_equal(range(path$h), range, tolerance = 1e-14)
    K <- oracle_sums(x, lapply(path$h, function(one) one^2 * Sigma))["apart", ]
    expected <- oracle_paper_curve(x, path$h) - 2 * K / 63
    expect_close_to_reference(path$objective, expected, 1e-12, max(abs(expected)) + max(2 * K))
  }
})
