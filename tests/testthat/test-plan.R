# The cost model: a pure function of what is asked for.

plan_of <- function(n = 1000, m = 400, d = 2, kernel = "gaussian", product = FALSE, engine = "auto", tol = 1e-12,
                    threads = 1L, isa = "auto", spread = 30, extent = NULL) {
  plan_cpp(n, m, d, spread, extent, NULL, kernel, product, engine, tol, threads, isa)
}

test_that("a plan says which engine, how exact, how much memory, how long and why", {
  plan <- plan_of()
  expect_named(plan, c("engine", "tol", "rounding", "bytes", "seconds", "reason", "rows"))
  expect_identical(plan$engine, "direct")
  expect_lte(plan$tol, 1e-12)
  expect_gt(plan$seconds, 0)
  expect_match(plan$reason, "[a-z]")
  expect_identical(plan_of(), plan)
})

test_that("the memory holds at least the result and grows with the points alone", {
  for (d in c(2, 3, 6, 1)) for (m in c(1, 401, 151^2, 1e12)) expect_gte(plan_of(m = m, d = d)$bytes, 8 * m)
  expect_equal(plan_of(m = 4e6)$bytes / plan_of(m = 1e6)$bytes, 4, tolerance = 1e-3)
  expect_identical(plan_of(n = 1e9)$bytes, plan_of(n = 10)$bytes)
})

test_that("the expected time is that of all pairs", {
  expect_equal(plan_of(n = 2e6, m = 1e6)$seconds / plan_of(n = 1e6, m = 1e6)$seconds, 2, tolerance = 0.05)
  expect_equal(plan_of(n = 1e6, m = 3e6)$seconds / plan_of(n = 1e6, m = 1e6)$seconds, 3, tolerance = 0.05)
  expect_lt(plan_of(n = 1e6, m = 1e6, threads = 4L)$seconds, plan_of(n = 1e6, m = 1e6)$seconds)
  expect_gt(plan_of(n = 1e6, m = 1e6, d = 16)$seconds, plan_of(n = 1e6, m = 1e6)$seconds)
  scalar <- plan_of(n = 1e6, m = 1e6, isa = "scalar")$seconds
  for (isa in isa_available_cpp()) expect_lte(plan_of(n = 1e6, m = 1e6, isa = isa)$seconds, scalar)
})

test_that("an engine can be forced, and an unknown one is refused with the list of those there are", {
  forced <- plan_of(engine = "direct")
  expect_identical(forced$engine, "direct")
  expect_false(identical(forced$reason, plan_of()$reason))
  expect_error(plan_of(engine = "warp"), "auto.*direct.*warp")
})

test_that("a looser tolerance never makes the plan less exact than it says", {
  for (tol in c(1e-3, 1e-9, 1e-12)) expect_lte(plan_of(tol = tol)$tol, tol)
})

test_that("in one dimension the linear engines take over where there is much to sum", {
  for (kernel in polynomial_kernels()) expect_identical(plan_of(1e5, 1e5, d = 1, kernel = kernel)$engine, "sweep")
  expect_identical(plan_of(1e5, 1e5, d = 1)$engine, "fgt")
  expect_identical(plan_of(1e5, 1e5, d = 1, kernel = "cosine")$engine, "direct")
  for (kernel in all_kernels) {
    expect_identical(plan_of(20, 20, d = 1, kernel = kernel)$engine, "direct")
    expect_identical(plan_of(1e5, 1e5, d = 2, kernel = kernel)$engine, "direct")
  }
  expect_lt(plan_of(1e6, 1e6, d = 1)$seconds, plan_of(1e6, 1e6, d = 1, engine = "direct")$seconds)
})

test_that("the number of threads changes the time but never the engine", {
  for (kernel in c("gaussian", "epanechnikov")) for (n in 2^(4:16)) {
    engines <- vapply(c(1L, 2L, 64L), function(threads) plan_of(n, n, 1, kernel, threads = threads)$engine, "")
    expect_length(unique(engines), 1)
  }
})

test_that("an engine that cannot do the task is refused", {
  expect_error(plan_of(engine = "fgt"), "one dimension")
  expect_error(plan_of(engine = "sweep"), "one dimension")
  expect_error(plan_of(d = 1, kernel = "epanechnikov", engine = "fgt"), "Gaussian")
  expect_error(plan_of(d = 1, kernel = "cosine", engine = "sweep"), "epanechnikov")
})

test_that("sums over pairs go to the cells where that is cheaper", {
  expect_identical(plan_pairs_cpp(50, 30, "auto"), "direct")
  expect_identical(plan_pairs_cpp(1e5, 30, "auto"), "fgt")
})

# The extent of n normal samples and a grid of side^d points, or of the samples as points.
normal_extent <- function(n, d, h, side = NULL) {
  x <- with_seed(67, matrix(rnorm(n * d), n))
  axes <- if (is.null(side)) list() else rep(list(seq(-4, 4, length.out = side)), d)
  density_extent_cpp(x, rep(1, n), x, axes, diag(h, d), 1L, "auto")
}

test_that("in two and three dimensions the transform takes over where there is much to sum", {
  for (d in 2:3) {
    side <- c(151, 51)[d - 1]
    plan <- function(n, h, ...) plan_of(n, side^d, d, extent = normal_extent(n, d, h, side), ...)
    expect_identical(plan(1e5, 0.3)$engine, "fourier")
    expect_identical(plan(2, 0.3)$engine, "direct") # without vectors too
    expect_lt(plan(1e5, 0.3)$seconds, plan(1e5, 0.3, engine = "direct")$seconds)
    expect_gt(plan(1e5, 0.3)$bytes, 8 * side^d)
    expect_identical(plan(1e5, 0.3, kernel = "epanechnikov")$engine, "direct")
    expect_identical(plan(1e5, 0.3, tol = 1e-6)$tol, 1e-6)
    expect_identical(plan(1e5, 0.3, tol = 1e-14)$engine, "direct")
    # a grid of more than 1 GB
    expect_identical(plan(1e5, c(2e-4, 2e-2)[d - 1])$engine, "direct")
    expect_error(plan(1e5, c(2e-4, 2e-2)[d - 1], engine = "fourier"), "GB", class = "kestrel_error_memory")
    threads <- vapply(c(1L, 2L, 64L), function(threads) plan(2000, 0.1, threads = threads)$engine, "")
    expect_length(unique(threads), 1)
  }
  for (d in c(1, 4)) expect_error(plan_of(d = d, engine = "fourier"), "two and three")
})
