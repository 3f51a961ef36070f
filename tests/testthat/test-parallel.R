# Threads: backends, forks, interrupts. The bits themselves are in test-direct.R, shape by shape.

big_shape <- function() with_seed(21, normal_shape(20000, 3000))

test_that("every backend of this build gives the same bits on the threads asked for", {
  expect_true(all(c("threads", "rcppparallel", parallel_backend_cpp()) %in% available_backends()))
  s <- big_shape()
  one <- shape_density(s, threads = 1L)
  for (backend in available_backends()) {
    with_backend(backend, {
      expect_identical(parallel_backend_cpp(), backend)
      for (threads in 2:3) {
        expect_same_bits(shape_density(s, threads = threads), one, info = backend)
        # RcppParallel is given no more pieces than there are processors.
        used <- if (backend == "rcppparallel") min(threads, parallel::detectCores()) else threads
        expect_threads_used(function() shape_density(s, threads = threads), used, info = backend)
      }
      pairs <- pair_sum_cpp(s$x[1:3000, , drop = FALSE], s$w[1:3000], root_of(s$H), "gaussian", FALSE, 2L, "auto", NULL)
    })
    expect_same_bits(pair_sum_cpp(s$x[1:3000, , drop = FALSE], s$w[1:3000], root_of(s$H), "gaussian", FALSE, 1L,
                                  "auto", NULL),
                     pairs, info = backend)
  }
})

test_that("an unknown backend is refused and leaves the old one in place", {
  before <- parallel_backend_cpp()
  expect_error(force_parallel_backend_cpp("pigeons"), "pigeons")
  expect_identical(parallel_backend_cpp(), before)
})

test_that("calls without a thread count run on the session's cap", {
  s <- big_shape()
  with_threads(1, {
    expect_identical(thread_cap_cpp(), 1L)
    kde(s$x, H = s$H, eval.points = s$points)
    expect_identical(threads_last_used_cpp(), 1L)
  })
  with_threads(2, {
    expect_threads_used(function() kde(s$x, H = s$H, eval.points = s$points), 2)
    kde(s$x, H = s$H, eval.points = s$points, threads = 1)
    expect_identical(threads_last_used_cpp(), 1L)
  })
})

test_that("more threads than processors are not used", {
  max <- max(8, parallel::detectCores())
  expect_lte(resolve_threads(1e9), max)
  s <- big_shape()
  expect_same_bits(shape_density(s, threads = 1e9), shape_density(s, threads = 1L))
  expect_lte(threads_last_used_cpp(), max)
  with_threads(1e9, expect_lte(kestrel_threads(), max))
})

test_that("mclapply after a threaded call works, on one thread a child, with the same bits", {
  s <- big_shape()
  for (backend in available_backends()) {
    with_backend(backend, {
      parent <- shape_density(s, threads = 2L)
      expect_threads_used(function() shape_density(s, threads = 2L), 2)
      children <- parallel::mclapply(1:2, function(child) {
        list(values = shape_density(s, threads = 2L), threads = threads_last_used_cpp())
      }, mc.cores = 2)
      for (child in children) {
        expect_same_bits(child$values, parent, info = backend)
        expect_identical(child$threads, 1L, info = backend)
      }
      expect_same_bits(shape_density(s, threads = 2L), parent, info = backend) # and the parent goes on as before
      expect_threads_used(function() shape_density(s, threads = 2L), 2)
    })
  }
})

# A call of some 2e10 pairs: many seconds, if nothing stops it.
endless_call <- function(threads, progress = NULL) {
  x <- matrix(seq(-1, 1, length.out = 150000))
  density_points_cpp(x, rep(1, nrow(x)), x, matrix(0.1), "gaussian", FALSE, "direct", threads, "auto", progress)
}

expect_still_usable <- function() {
  s <- with_seed(22, normal_shape(50, 9))
  expect_close_to_reference(shape_density(s, threads = 2L), reference_sums(s$points, s$x, s$w, s$H))
}

test_that("setTimeLimit stops a call in its middle and leaves R usable", {
  for (threads in 1:2) {
    done <- 0
    on.exit(setTimeLimit())
    expect_error({
      setTimeLimit(elapsed = 0.3)
      endless_call(threads, function(fraction) done <<- fraction)
    }, "time limit")
    setTimeLimit()
    expect_lt(done, 1)
    expect_still_usable()
  }
})

test_that("setTimeLimit stops a regression with the Gaussian kernel within a bandwidth", {
  x <- seq(-1, 1, length.out = 60000)
  for (threads in 1:2) {
    done <- 0
    on.exit(setTimeLimit())
    expect_error({
      setTimeLimit(elapsed = 0.3)
      # Of each bandwidth 3.6e9 pairs: seconds.
      regression_cv_cpp(x, x^2, rep(1, length(x)), rep(1, 4 * threads), "gaussian", FALSE, threads, "auto",
                        function(fraction) done <<- fraction)
    }, "time limit")
    setTimeLimit()
    expect_gt(done, 0)
    expect_lt(done, 1 / (4 * threads))
    expect_still_usable()
  }
})

test_that("an interrupt stops a call in its middle and leaves R usable", {
  for (threads in 1:2) {
    calls <- 0
    progress <- function(fraction) {
      calls <<- calls + 1
      # more than once: R itself loses the first one after a package has loaded tcltk without a display
      if (calls >= 2) tools::pskill(Sys.getpid(), tools::SIGINT)
    }
    outcome <- tryCatch(endless_call(threads, progress), interrupt = function(condition) "interrupted")
    expect_identical(outcome, "interrupted")
    expect_lt(calls, 10)
    expect_still_usable()
  }
})

test_that("an error in the progress function ends the call with that error", {
  for (backend in available_backends()) {
    with_backend(backend, for (threads in 1:2) {
      expect_error(endless_call(threads, function(fraction) stop("enough at last")), "enough at last")
      expect_still_usable()
    })
  }
})

test_that("progress rises from 0 towards 1 and does not touch the result", {
  seen <- numeric(0)
  s <- with_seed(23, normal_shape(30000, 20000))
  values <- density_points_cpp(s$x, s$w, s$points, root_of(s$H), "gaussian", FALSE, "direct", 2L, "auto",
                               function(f) seen <<- c(seen, f))
  expect_gt(length(seen), 0)
  expect_false(is.unsorted(seen))
  expect_true(all(seen >= 0 & seen <= 1))
  expect_same_bits(values, shape_density(s, threads = 1L))
})
