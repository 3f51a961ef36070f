# Bad input of the selectors of bandwidth matrices, their warnings, and the lists that they return.

x <- cbind(a = c(1.5, 2, 3.25, 4, 7, 8, 9.5), b = c(2, 1, 5, 3, 3.5, 7, 4))
wide <- with_seed(81, matrix(rnorm(30 * 17), 30))
four <- wide[, 1:4]

test_that("data that have no bandwidth matrix", {
  constant <- cbind(a = 1:9 + 0, b = 2, c = c(2, 7, 1, 8, 2, 8, 1, 8, 2))
  dependent <- cbind(a = x[, 1], b = x[, 2], sum = x[, 1] + x[, 2])
  expect_refused(
    Hlscv(x[, 1]),
    Hlscv(x[, 1, drop = FALSE]),
    Hlscv.diag(x[, 1]),
    Hscv(x[, 1]),
    Hscv.diag(x[, 1]),
    Hlscv(x[1:2, ]),
    Hscv(x[1:2, ]),
    Hlscv(four[1:4, ]),
    Hlscv(constant),
    Hscv(constant),
    Hlscv(dependent),
    Hlscv.diag(dependent),
    Hscv(dependent),
    Hlscv(rbind(x, c(NA, 1))),
    Hlscv(rbind(x, c(Inf, 1))),
    Hscv(rbind(x, c(NaN, 1))),
    Hlscv(letters),
    Hlscv(data.frame(a = 1:3, b = letters[1:3])),
    Hlscv(NULL)
  )
})

test_that("weights", {
  expect_refused(
    Hlscv(x, w = 1:3),
    Hlscv(x, w = c(-1, rep(1, 6))),
    Hlscv(x, w = rep(0, 7)),
    Hlscv(x, w = c(1, rep(0, 6))),
    Hlscv(x, w = c(1, 1, rep(0, 5))),
    Hscv(x, w = c(NA, rep(1, 6)))
  )
})

test_that("more than 16 columns, and engines", {
  expect_refused(
    Hlscv(wide),
    Hscv(wide),
    Hlscv(four, engine = "fourier"),
    Hlscv(wide, engine = "fourier"),
    Hlscv(x, engine = "fgt"),
    Hscv(four, engine = "fourier"),
    Hscv.diag(x, engine = "fgt")
  )
  found <- quietly(Hlscv(wide, engine = "direct", type = "scalar", amise = TRUE))
  expect_identical(found$engine, "direct")
  expect_equal(found$LSCV, as.numeric(oracle_lscv(wide, found$H)), tolerance = 1e-10)
})

test_that("starts", {
  expect_refused(
    Hlscv(x, Hstart = 1),
    Hlscv(x, Hstart = "a"),
    Hlscv(x, Hstart = diag(3)),
    Hlscv(x, Hstart = matrix(1:6, 2)),
    Hlscv(x, Hstart = matrix(c(1, 2, 2, 1), 2)),
    Hlscv(x, Hstart = matrix(c(1, 0.5, 0, 1), 2)),
    Hlscv(x, Hstart = diag(c(1, NA))),
    Hlscv(x, Hstart = 1e6 * diag(2)),
    Hlscv(x, Hstart = 1e-6 * diag(2), optim.fun = "nelder-mead"),
    Hlscv.diag(x, Hstart = 1e6 * diag(2)),
    Hscv(x, Hstart = matrix(c(1, 2, 2, 1), 2)),
    Hscv(x, Hstart = 1e6 * diag(2)),
    Hscv.diag(x, Hstart = diag(3))
  )
})

test_that("other arguments", {
  expect_refused(
    Hlscv(x, deriv.order = 4),
    Hscv(x, deriv.order = 3),
    Hscv(x, deriv.order = 1, pilot = "samse"),
    Hlscv(x, deriv.order = -1),
    Hlscv(x, optim.fun = "bfgs"),
    Hscv(x, optim.fun = "ucminf"),
    Hlscv(x, type = "ball"),
    Hlscv(x, amise = NA),
    Hlscv(x, verbose = 1),
    Hscv(x, pilot = "amse"),
    Hscv.diag(x, pilot = "unconstr"),
    Hpi.diag(x, pilot = "unconstr"),
    Hpi(wide[, 1:11], pilot = "unconstr"),
    Hscv(wide[, 1:11], pilot = "unconstr"),
    Hscv(x, pilot = 1),
    Hscv(x, nstage = 3),
    Hscv(x, pre = "none"),
    Hscv.diag(x, pre = "sphere")
  )
})

test_that("lscv() of a matrix", {
  expect_refused(
    lscv(x),
    lscv(x, H = diag(2), h = 1),
    lscv(x, H = diag(3)),
    lscv(x, H = 1),
    lscv(x, H = matrix(c(1, 2, 2, 1), 2)),
    lscv(x, H = matrix(c(1, 0.5, 0, 1), 2)),
    lscv(x, H = -diag(2)),
    lscv(x, h = 0),
    lscv(x, h = "a"),
    lscv(x, diag(2), form = "biased"),
    lscv(x, diag(2), kernel = "epanechnikov"),
    lscv(x, diag(2), w = c(1, rep(0, 6))),
    lscv(x[1, , drop = FALSE], diag(2)),
    lscv(rbind(x, NA), diag(2))
  )
})

test_that("a matrix of the largest numbers, all equal, is not positive definite", {
  expect_error(lscv(x, H = matrix(.Machine$double.xmax, 2, 2)), "`H` must be positive definite",
               class = "kestrel_error_input")
})

test_that("arguments of ks that have no effect change no bit", {
  expect_identical(Hlscv(x, binned = TRUE, bgridsize = c(11, 11), trunc = 2), Hlscv(x))
  expect_identical(Hscv(x, binned = TRUE, bgridsize = c(11, 11)), Hscv(x))
  expect_identical(dimnames(Hlscv(x)), list(c("a", "b"), c("a", "b")))
  expect_identical(dimnames(Hscv(as.data.frame(x))), list(c("a", "b"), c("a", "b")))
})

test_that("there is a warning for ties that drive LSCV down without limit, and H stays in its range", {
  tied <- with_seed(82, list(rows = matrix(rnorm(40), 20)[rep(1:20, 4), ],
                             whole = round(matrix(rnorm(200, sd = 2), 100))))
  expect_snapshot_output(for (one in tied) for (select in list(Hlscv, Hlscv.diag, function(x, ...) {
    Hlscv(x, type = "scalar", ...)
  })) {
    found <- with_remarks(select(one, amise = TRUE))
    expect_length(found$remarks, 1)
    expect_identical(found$value$convergence, 1L)
    h0 <- (4 / (4 * nrow(one)))^(1 / 6)
    S <- if (identical(select, Hlscv.diag)) diag(diag(var(one))) else var(one)
    expect_gte(min(relative_bandwidths(found$value$H, S)), h0 / 4 * (1 - 1e-8))
    cat(strwrap(found$remarks, 100), sep = "\n")
  })
  # A few ties do not matter.
  few <- with_seed(83, matrix(rnorm(200), 100))
  few[1, ] <- few[2, ]
  expect_null(with_remarks(Hlscv(few))$remarks)
})

test_that("the warning for a minimum of SCV at the edge of its range names SCV", {
  # With a range that begins above the minimum.
  for (select in list(Hscv, Hscv.diag)) {
    found <- with_binding("reference_scale", function(n, d, kernel) 40, with_remarks(select(x, amise = TRUE)))
    expect_identical(found$remarks, "The least value of SCV is at the edge of the range of bandwidth matrices.")
    expect_identical(found$value$convergence, 1L)
  }
  expect_null(with_remarks(Hscv(x))$remarks)
})

test_that("there is a warning for a minimum at the edge of the range", {
  # Single columns are tied, but no rows: LSCV falls as H becomes flat.
  x <- with_seed(84, cbind(sample(4, 60, replace = TRUE), rnorm(60)))
  one <- with_remarks(Hlscv(x, amise = TRUE))
  expect_identical(one$value$convergence, 1L)
  # Two clusters of nearly no width, were they not seen: the scalar search would go below its range.
  clusters <- with_seed(85, rbind(matrix(rnorm(60, sd = 1e-4), 30), matrix(rnorm(60, 9, 1e-4), 30)))
  two <- with_binding("is_clustered", function(sample) FALSE,
                      with_remarks(Hlscv(clusters, type = "scalar", amise = TRUE)))
  expect_identical(two$value$convergence, 1L)
  expect_snapshot_output(cat(gsub("h = [0-9.e-]+", "h = <h>", c(one$remarks, two$remarks)), sep = "\n"))
})

test_that("lists of what was found", {
  values <- list(Hlscv(faithful, amise = TRUE), Hlscv.diag(faithful, amise = TRUE),
                 Hlscv(faithful, type = "scalar", amise = TRUE), Hscv(faithful, amise = TRUE),
                 Hscv.diag(faithful, pilot = "dscalar", amise = TRUE))
  expect_snapshot_output(for (found in values) {
    expect_gte(found$seconds, 0)
    expect_gt(found$evaluations, 0)
    # Only as many digits as all compilers agree on.
    shown <- lapply(found[setdiff(names(found), c("seconds", "evaluations"))], function(part) {
      if (is.data.frame(part)) return(dim(part))
      if (is.double(part)) signif(structure(part, path = NULL), 4) else part
    })
    utils::str(shown, give.attr = FALSE, digits.d = 4)
  })
  expect_identical(names(values[[1]]),
                   c("H", "LSCV", "objective", "convergence", "evaluations", "engine", "backend", "seconds"))
})
