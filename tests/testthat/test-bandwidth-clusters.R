# Bandwidth matrices of data whose clusters are far narrower than they are apart.

clusters <- function(centres, each, sd, seed = 41) {
  with_seed(seed, {
    here <- rep(seq_len(nrow(centres)), each = each)
    centres[here, , drop = FALSE] + sd * matrix(rnorm(length(here) * ncol(centres)), length(here))
  })
}

places <- function(n, d, seed = 42) with_seed(seed, matrix(runif(n * d, 0, 100), n))

small_clusters <- function() {
  list(two = clusters(rbind(c(0, 0), c(5, 5)), 150, 0.01),
       towns = clusters(places(10, 2), 30, rep(seq(0.01, 0.05, length.out = 10), each = 30)),
       singles = rbind(clusters(places(3, 2), 90, 0.01), places(30, 2)),
       ties = clusters(places(4, 2), 60, 0.01)[c(1:240, 1:20), ],
       weighted = clusters(places(4, 2), 60, 0.01),
       three = clusters(places(4, 3), 70, 0.02))
}

weights_of_clusters <- function(name, n) if (name == "weighted") 1 + seq_len(n) %% 3 else rep(1, n)

# The lowest value of the oracle over multiples of the pooled covariance of pairs nearer than one, and of its diagonal.
oracle_minimum <- function(x, w) {
  pairs <- which(as.matrix(dist(x)) < 1, arr.ind = TRUE)
  S <- crossprod(x[pairs[, 1], ] - x[pairs[, 2], ]) / (2 * nrow(pairs))
  h <- exp(seq(log(0.02), log(2), length.out = 16))
  min(vapply(h, function(one) c(oracle_lscv(x, one^2 * S, w), oracle_lscv(x, one^2 * diag(diag(S)), w)), numeric(2)))
}

# The least value that the search of optim() finds from a matrix on.
oracle_polished <- function(x, H, w) {
  d <- ncol(x)
  root <- t(chol(H))
  criterion <- function(theta) {
    L <- diag(exp(theta[1:d]), d)
    L[lower.tri(L)] <- theta[-(1:d)]
    as.numeric(oracle_lscv(x, tcrossprod(root %*% L), w))
  }
  stats::optim(numeric(d * (d + 1) / 2), criterion, method = "Nelder-Mead",
               control = list(maxit = 30, parscale = rep(0.05, d * (d + 1) / 2)))$value
}

test_that("Hlscv finds the minimum at the scale of the clusters, and the value is the oracle's", {
  samples <- small_clusters()
  for (name in names(samples)) {
    x <- samples[[name]]
    w <- weights_of_clusters(name, nrow(x))
    found <- with_remarks(Hlscv(x, w = w, amise = TRUE))
    expect_null(found$remarks, info = name)
    expect_identical(found$value$convergence, 0L, info = name)
    expect_equal(found$value$objective, as.numeric(oracle_lscv(x, found$value$H, w)), tolerance = 1e-9, info = name)
    expect_lte(found$value$objective, oracle_minimum(x, w))
    polished <- oracle_polished(x, found$value$H, w)
    expect_gte(polished, found$value$objective - 1e-8 * abs(polished))
  }
})

test_that("Hlscv.diag and type = \"scalar\" reach the scale of the clusters", {
  for (name in c("two", "three")) {
    x <- small_clusters()[[name]]
    found <- with_remarks(Hlscv.diag(x, amise = TRUE))
    expect_null(found$remarks, info = name)
    expect_true(is_diagonal(found$value$H))
    alone <- function(theta) as.numeric(oracle_lscv(x, diag(exp(theta))))
    polished <- stats::optim(log(diag(found$value$H)), alone, control = list(reltol = 1e-12))
    expect_gte(polished$value, found$value$objective - 1e-8 * abs(found$value$objective))
    along <- with_remarks(Hlscv(x, type = "scalar", amise = TRUE))
    expect_null(along$remarks, info = name)
    h <- exp(seq(log(min(along$value$path$h)), log(max(along$value$path$h)), length.out = 16))
    values <- vapply(h, function(one) as.numeric(oracle_lscv(x, one^2 * var(x))), 0)
    expect_lte(along$value$objective, min(values) + 1e-9 * abs(min(values)))
    expect_equal(along$value$objective, as.numeric(oracle_lscv(x, along$value$H)), tolerance = 1e-9)
  }
})

test_that("both engines find the same minimum of clusters, with the same bits on any number of threads", {
  x <- clusters(places(30, 2), 100, 0.02)
  direct <- Hlscv(x, engine = "direct", amise = TRUE)
  fourier <- Hlscv(x, engine = "fourier", amise = TRUE)
  expect_identical(c(direct$engine, fourier$engine), c("direct", "fourier"))
  expect_equal(direct$objective, fourier$objective, tolerance = 1e-9)
  expect_equal(direct$H, fourier$H, tolerance = 1e-3)
  for (engine in c("direct", "fourier")) {
    expect_same_bits(Hlscv(x, engine = engine, threads = 3), Hlscv(x, engine = engine, threads = 1))
  }
})

test_that("the criterion of clusters is the same by packed grids and by all pairs", {
  x <- clusters(places(20, 2), 40, 0.02)
  H <- 1e-5 * matrix(c(4, 1, 1, 3), 2)
  expected <- oracle_lscv(x, H)
  slope <- oracle_gradient(function(H) oracle_lscv(x, H), H)
  sample <- at_scale(selector_sample(x, NULL), list(side = 1, value = 0, neighbours = 0))
  sample$cov[] <- sample$root <- diag(2)
  for (engine in c("direct", "fourier")) {
    criteria <- criteria_for(replace(sample, "reference", 4e-3), engine, run_options())
    expect_no_problem(relative_to_terms(criteria$lscv(H), expected, 1e-12))
    expect_equal(attr(criteria$lscv(H, gradient = TRUE), "gradient"), slope, tolerance = 1e-6)
  }
})

test_that("clusters are seen where they are, and not in other data", {
  for (x in small_clusters()) expect_true(is_clustered(selector_sample(x, NULL)))
  expect_true(is_clustered(selector_sample(clusters(places(1000, 2), 40, 1e-3), NULL)))
  expect_true(is_clustered(selector_sample(clusters(places(8000, 2), 3, 1e-5), NULL)))
  others <- with_seed(43, list(normal = matrix(rnorm(6e4), 3e4), few = matrix(rnorm(60), 30),
                               three = matrix(rnorm(6e4), 2e4), uniform = matrix(runif(6e4), 3e4),
                               bimodal = rbind(matrix(rnorm(2e4), 1e4), matrix(rnorm(2e4, 4, 0.5), 1e4)),
                               correlated = with_correlation(matrix(rnorm(2e4), 1e4), 0.999),
                               faithful = as.matrix(faithful)))
  for (name in names(others)) expect_false(is_clustered(selector_sample(others[[name]], NULL)), info = name)
})

test_that("values that are tied in a column are no cluster of their own", {
  x <- cbind(c(-0x1.1d39c4077aa4ap-1, -0x1.830820c5fc8c4p-2, -0x1.3c7f0f5e7c62ap+0), c(-1, -1, 5))
  found <- lapply(c("fourier", "direct"), function(engine) {
    suppressWarnings(Hlscv(x, amise = TRUE, engine = engine))$LSCV
  })
  expect_equal(found[[1]], found[[2]], tolerance = 1e-6)
})

test_that("a start of the user's and ties without limit keep the range of the normal reference", {
  x <- small_clusters()$two
  h0 <- reference_scale(nrow(x), 2, "gaussian")
  expect_error(Hlscv(x, Hstart = 1e-5 * diag(2)), class = "kestrel_error_input")
  tied <- x[rep(1:30, 10), ]
  found <- with_remarks(Hlscv(tied, amise = TRUE))
  expect_match(found$remarks, "falls without limit")
  expect_gte(min(relative_bandwidths(found$value$H, var(tied))), h0 / 4 * (1 - 1e-8))
})
