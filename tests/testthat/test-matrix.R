test_that("vech stacks the lower triangle, invvech puts it back, both as in ks", {
  skip_if_not_installed("ks")
  for (d in 1:6) {
    A <- crossprod(with_seed(70 + d, matrix(rnorm(d^2), d)))
    expect_identical(vech(A), as.vector(ks::vech(A)))
    expect_identical(invvech(vech(A)), A)
    expect_length(vech(A), d * (d + 1) / 2)
  }
  expect_identical(invvech(c(1, 2, 3)), matrix(c(1, 2, 2, 3), 2))
  expect_identical(vech(as.data.frame(diag(2))), c(1, 0, 1))
})

test_that("vec, invvec, matrix.sqrt, pre.sphere and pre.scale are those of ks", {
  skip_if_not_installed("ks")
  A <- matrix(1:6 / 7, 2)
  expect_identical(vec(A), as.vector(ks::vec(A)))
  expect_identical(vec(A, byrow = TRUE), as.vector(ks::vec(A, byrow = TRUE)))
  expect_identical(vec(3), 3)
  expect_identical(invvec(1:4), ks::invvec(1:4))
  expect_identical(invvec(1:6, 2, 3), ks::invvec(1:6, 2, 3))
  expect_identical(invvec(1:6, 2, 3, byrow = TRUE), ks::invvec(1:6, 2, 3, byrow = TRUE))
  expect_identical(invvec(1:6, ncol = 3), matrix(as.numeric(1:6), 2))
  S <- var(iris[, 1:4])
  expect_equal(unname(matrix.sqrt(S)), unname(ks::matrix.sqrt(S)), tolerance = 1e-12)
  expect_equal(matrix.sqrt(S) %*% matrix.sqrt(S), S, tolerance = 1e-12)
  expect_identical(matrix.sqrt(4), matrix(2))
  x <- as.matrix(faithful)
  for (centred in c(FALSE, TRUE)) {
    expect_equal(pre.sphere(x, centred), ks::pre.sphere(x, centred), tolerance = 1e-12)
    expect_equal(unname(pre.scale(x, centred)), unname(ks::pre.scale(x, centred)), tolerance = 1e-12)
  }
  expect_equal(var(pre.sphere(iris[, 1:4])), diag(4), tolerance = 1e-12)
  # ks leaves one column as it is.
  expect_equal(as.vector(pre.sphere(x[, 1])), unname(x[, 1]) / sd(x[, 1]), tolerance = 1e-12)
})

test_that("columns in very different units are sphered with all digits", {
  # In two dimensions (tr S + 2 s) s S^(-1/2) = sqrt(tr S + 2 s) adj(S + s I), s^2 = det S (Cayley and Hamilton).
  for (unit in c(1e-8, 1e20, 1e-100)) {
    x <- as.matrix(faithful) * rep(c(1, unit), each = 272)
    S <- var(x)
    s <- sqrt(S[1, 1]) * sqrt(S[2, 2]) * sqrt(1 - cor(x)[1, 2]^2)
    B <- S + s * diag(2)
    root <- matrix(c(B[2, 2], -B[1, 2], -B[1, 2], B[1, 1]), 2) / s / sqrt(S[1, 1] + S[2, 2] + 2 * s)
    expect_equal(unname(pre.sphere(x)), unname(x %*% root), tolerance = 1e-12)
  }
  expect_equal(var(pre.sphere(as.matrix(iris[, 1:4]) * rep(c(1e-30, 1e9, 1, 1e-99), each = 150))), diag(4),
               tolerance = 1e-11)
})

test_that("mistakes in matrices are refused", {
  expect_refused(
    vec("a"), vec(array(1, c(1, 1, 2))), vec(1, byrow = NA), invvec(1:5), invvec(1:6, ncol = 4), invvec(list(1)),
    invvec(1:4, ncol = 0), matrix.sqrt(matrix(1:4, 2)), matrix.sqrt(-diag(2)), matrix.sqrt(matrix(1, 1, 2)),
    matrix.sqrt(diag(c(1, NA))), pre.sphere(cbind(1:3, 1)), pre.sphere(faithful, NA), pre.scale(letters),
    pre.scale(5), pre.scale(1:3, mean.centered = TRUE)
  )
})
