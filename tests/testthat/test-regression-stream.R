# Regressions of sorted sources: the sums are those of all rows in memory.

# A source of these rows in chunks of some sizes, again and again.
sorted_chunks <- function(rows, sizes) {
  at <- k <- 0
  function(reset) {
    if (reset) at <<- k <<- 0
    if (reset || at >= NROW(rows)) return(NULL)
    k <<- k + 1
    from <- at
    at <<- min(NROW(rows), at + sizes[(k - 1) %% length(sizes) + 1])
    if (at == from) rows[0, , drop = FALSE] else rows[seq(from + 1, at), , drop = FALSE]
  }
}

stream_rows <- function(n, shape) {
  set.seed(7)
  x <- sort(switch(shape, normal = rnorm(n), ties = round(rnorm(n), 1), offset = 1e9 + round(rnorm(n), 3),
                   clusters = rep(c(0, 1e4, 1e6), length.out = n) + runif(n), outlier = c(1e6, rnorm(n - 1))))
  data.frame(x = x, y = 5 + sin(x) + rnorm(n) / 3)
}

expect_same_as_in_memory <- function(rows, sizes, bws, ..., kernel = "epanechnikov", info) {
  at <- seq(max(rows$x), min(rows$x), length.out = 7)
  found <- npreg_stream(sorted_chunks(rows, sizes), y = "y", bws = bws, exdat = at, unsupported = "exclude",
                        ckertype = kernel, ...)
  memory <- suppressWarnings(npregbw(xdat = rows["x"], ydat = rows["y"], bws = bws, ckertype = kernel,
                                     unsupported = "exclude", ...)[c("cv", "n.unsupported")])
  known <- !is.na(memory$cv)
  testthat::expect_identical(!is.na(found$curve$cv), known, info = info)
  testthat::expect_equal(found$curve$cv[known], memory$cv[known], tolerance = 1e-11, info = info)
  testthat::expect_identical(as.integer(found$curve$unsupported), memory$n.unsupported, info = info)
  fit <- suppressWarnings(npreg(bws = found$bw, txdat = rows["x"], tydat = rows$y, exdat = found$fit$x, se = FALSE,
                                ckertype = kernel, ...)$mean)
  testthat::expect_equal(found$fit$mean, fit, tolerance = 1e-10, info = info)
  testthat::expect_identical(found$nobs, as.numeric(nrow(rows)), info = info)
}

# Blocks of a few rows, so that windows slide over tests' samples.
with_small_windows <- function(code) {
  before <- kestrel:::rows_of_window
  utils::assignInNamespace("rows_of_window", 20, "kestrel")
  on.exit(utils::assignInNamespace("rows_of_window", before, "kestrel"))
  code
}

test_that("curves and fits are those of all rows, whatever the chunks", {
  with_small_windows({
    for (shape in c("normal", "ties", "offset", "clusters", "outlier")) {
      rows <- stream_rows(400, shape)
      for (regtype in c("lc", "ll")) {
        expect_same_as_in_memory(rows, c(30, 1, 0, 77), c(0.05, 0.2, 0.7), regtype = regtype,
                                 info = paste(shape, regtype))
      }
    }
    rows <- stream_rows(400, "normal")
    for (kernel in setdiff(kestrel:::regression_kernels(), "gaussian")) {
      expect_same_as_in_memory(rows, 25, c(0.1, 0.4), kernel = kernel, bw.scale = "support", info = kernel)
    }
    # A step of the lattice is at the very edge of the uniform kernel's window.
    lattice <- data.frame(x = seq(1, 50, by = 0.25), y = cos(seq(1, 50, by = 0.25)))
    expect_same_as_in_memory(lattice, 9, c(0.25, 1), kernel = "uniform", bw.scale = "support", info = "lattice")
  })
  expect_same_as_in_memory(stream_rows(400, "normal"), 100, c(0.2, 100), regtype = "ll", info = "one window")
})

test_that("AICc, few rows, sources of several files and the only bandwidth", {
  rows <- stream_rows(300, "normal")
  bws <- c(0.15, 0.3, 0.8)
  with_small_windows({
    aic <- npreg_stream(sorted_chunks(rows, 40), y = "y", bws = bws, bwmethod = "cv.aic", unsupported = "exclude")
  })
  memory <- suppressWarnings(npregbw(xdat = rows["x"], ydat = rows["y"], bws = bws, bwmethod = "cv.aic",
                                     ckertype = "epanechnikov", unsupported = "exclude"))
  expect_equal(aic$curve$cv, memory$cv, tolerance = 1e-11)
  expect_null(aic$fit)
  parts <- list(rows[1:100, ], rows[0, ], rows[101:300, ])
  expect_equal(npreg_stream(parts, y = "y", column = "x", bws = 0.5)$fval,
               npreg_stream(rows, y = "y", bws = 0.5)$fval)
  two <- npreg_stream(data.frame(x = 1:2, y = c(1, 3)), y = "y", bws = 2, exdat = c(1.5, 9))
  expect_identical(c(two$fval, two$fit$mean), c(4, 2, NA))
})

test_that("missing values are left out if asked for", {
  rows <- stream_rows(60, "normal")
  rows$y[c(3, 40)] <- NA
  found <- npreg_stream(sorted_chunks(rows, 7), y = "y", bws = 0.5, na.action = na.omit)
  expect_identical(found$nobs, 58)
  expect_equal(found$fval, npreg_stream(rows[-c(3, 40), ], y = "y", bws = 0.5)$fval)
})

test_that("what is refused, in words", {
  rows <- data.frame(x = c(1, 3, 2), y = 1:3)
  refused <- function(...) tryCatch(npreg_stream(...), kestrel_error_input = conditionMessage)
  expect_snapshot(cat(sep = "\n",
    refused(rows, y = "y", bws = 1),
    refused(list(rows[1:2, ], rows[3, ]), y = "y", bws = 1),
    refused(rows[1:2, ], y = "y", bws = 1, ckertype = "gaussian"),
    refused(rows[1:2, ], y = "y", bws = 0),
    refused(rows[1:2, ], y = "y"),
    refused(rows[1:2, ], bws = 1),
    refused(rows[1:2, ], y = "z", bws = 1),
    refused(rows[1, ], y = "y", bws = 1),
    refused(cbind(rows, z = 1:3)[1:2, ], y = "y", bws = 1),
    refused(rows[1:2, ], y = "y", bws = c(0.1, 0.2)),
    refused(rows[1:2, ], y = "y", bws = 0.1, unsupported = "exclude"),
    refused(rows[1:2, ], y = "y", bws = 1, exdat = c(1, NA)),
    refused(transform(rows, y = c(1, NA, 3))[1:2, ], y = "y", bws = 1),
    refused(list(), y = "y", bws = 1)
  ))
})
