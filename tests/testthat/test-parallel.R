# Threads: forks, unloading and interrupts. test-direct.R tests the bits, shape by shape. C++ tests check how many
# threads work.

big_shape <- function() with_seed(21, normal_shape(20000, 3000))

# The threads that kde() reports.
said_threads <- function(...) {
  text <- capture_messages(kde(1:20 / 20, h = 0.1, eval.points = 0.5, verbose = TRUE, ...))
  as.integer(sub(".* s on ([0-9]+) thread.*", "\\1", text[1L]))
}

# How many of the threads that a call asks for it can get: OMP_THREAD_LIMIT is respected (R CMD check --as-cran sets it
# to 2).
allowed_threads <- function(n) {
  limit <- suppressWarnings(as.integer(Sys.getenv("OMP_THREAD_LIMIT", "")))
  if (is.na(limit) || limit < 1L) n else min(n, limit)
}

test_that("any number of threads gives the same bits", {
  s <- big_shape()
  x <- s$x[1:3000, , drop = FALSE]
  for (threads in 2:3) {
    expect_same_bits(shape_density(s, threads = threads), shape_density(s, threads = 1L))
    expect_same_bits(lscv(x, H = s$H, threads = threads), lscv(x, H = s$H, threads = 1))
  }
})

test_that("calls without a thread count run on the session's cap", {
  with_threads(1, {
    expect_identical(kestrel_threads(), 1L)
    expect_equal(said_threads(), 1)
  })
  with_threads(2, {
    expect_equal(said_threads(), allowed_threads(2))
    expect_equal(said_threads(threads = 1), 1)
  })
})

test_that("the number of threads comes to the core: by its model, direct sums take as much less", {
  s <- big_shape()
  fhat <- kde(s$x, H = s$H, eval.points = 0)
  seconds <- function(threads) {
    plan_density(fhat, task_at_points(fhat, s$points), density_options(threads, "cpu", "direct", 1e-12))$seconds
  }
  expect_equal(seconds(1) / seconds(2), allowed_threads(2), tolerance = 1e-12)
})

test_that("more threads than processors are not used", {
  max <- max(8, parallel::detectCores())
  expect_lte(said_threads(threads = 1e9), max)
  s <- big_shape()
  expect_same_bits(shape_density(s, threads = 1e9), shape_density(s, threads = 1L))
  with_threads(1e9, expect_lte(kestrel_threads(), max))
})

test_that("mclapply after a threaded call works, on one thread a child, with the same bits", {
  s <- big_shape()
  parent <- shape_density(s, threads = 2L)
  children <- parallel::mclapply(1:2, function(child) {
    list(values = shape_density(s, threads = 2L), threads = said_threads(threads = 2L))
  }, mc.cores = 2)
  for (child in children) {
    expect_same_bits(child$values, parent)
    expect_equal(child$threads, 1)
  }
  expect_same_bits(shape_density(s, threads = 2L), parent) # and the parent goes on as before
  expect_equal(said_threads(threads = 2L), allowed_threads(2))
})

test_that("unloading ends the threads, and the package can be loaded again", {
  said <- in_child(quote({
    # Of Linux only; there a thread is listed for a moment after it has ended.
    threads <- function() list.files("/proc/self/task")
    values <- function() kestrel::kde(1:3000 / 7, h = 0.1, threads = 2)$estimate
    before <- threads()
    first <- values()
    helpers <- setdiff(threads(), before)
    unloadNamespace("kestrel")
    for (time in 1:600) if (any(helpers %in% threads())) Sys.sleep(0.1)
    cat(length(helpers), any(helpers %in% threads()), identical(values(), first))
  }), NULL, character(0))
  helpers <- if (file.exists("/proc/self/task")) allowed_threads(2) - 1 else 0
  expect_identical(said, paste(helpers, FALSE, TRUE))
})

# A call of about 2e10 pairs: many seconds, unless it is stopped.
endless_call <- function(threads) {
  x <- seq(-1, 1, length.out = 150000)
  kde(x, h = 0.1, eval.points = x, engine = "direct", backend = "cpu", threads = threads)
}

expect_still_usable <- function() {
  s <- with_seed(22, normal_shape(50, 9))
  expect_close_to_reference(shape_density(s, threads = 2L), reference_sums(s$points, s$x, s$w, s$H))
}

test_that("setTimeLimit stops a call in its middle and leaves R usable", {
  for (threads in 1:2) {
    done <- ends_by_time_limit(endless_call(threads))
    expect_lt(done, 1)
    expect_still_usable()
  }
})

test_that("an interrupt stops a call in its middle and leaves R usable", {
  for (threads in 1:2) {
    calls <- 0
    progress <- function(fraction) {
      calls <<- calls + 1
      # more than once: R loses the first one after a package has loaded tcltk without a display
      if (calls >= 2) tools::pskill(Sys.getpid(), tools::SIGINT)
    }
    outcome <- tryCatch(watched(progress, endless_call(threads)), interrupt = function(condition) "interrupted")
    expect_identical(outcome, "interrupted")
    expect_lt(calls, 10)
    expect_still_usable()
  }
})

test_that("an error in the progress function ends the call with that error", {
  for (threads in 1:2) {
    expect_error(endless_call(threads, function(fraction) stop("enough at last")), "enough at last")
    expect_still_usable()
  }
})

test_that("progress rises from 0 towards 1 and does not touch the result", {
  seen <- numeric(0)
  s <- with_seed(23, normal_shape(30000, 20000))
  values <- watched(function(fraction) seen <<- c(seen, fraction), shape_density(s, threads = 2L))
  expect_gt(length(seen), 0)
  expect_false(is.unsorted(seen))
  expect_true(all(seen >= 0 & seen <= 1))
  expect_same_bits(values, shape_density(s, threads = 1L))
})
