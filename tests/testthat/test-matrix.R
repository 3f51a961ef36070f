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
