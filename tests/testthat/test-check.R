# Bad input: one message for each case, with a class, naming the argument, what was needed and what came.

x <- c(1.5, 2, 3.25, 4, 7)
X <- cbind(a = x, b = c(2, 1, 5, 3, 3))

test_that("x", {
  expect_refused(
    kde(c(x, NA), h = 1),
    kde(c(x, NaN), h = 1),
    kde(c(x, Inf, -Inf), h = 1),
    kde(letters, h = 1),
    kde(factor(x), h = 1),
    kde(x > 2, h = 1),
    kde(NULL, h = 1),
    kde(numeric(0), h = 1),
    kde(matrix(0, 0, 2), h = 1),
    kde(list(1, 2), h = 1),
    kde(array(1, c(2, 2, 2)), h = 1),
    kde(mean, h = 1),
    kde(iris),
    kde(data.frame(a = 1:3, b = letters[1:3], c = factor(1:3)), h = 1)
  )
})

test_that("x with more columns than sums take", {
  many <- function(d) matrix(sin(seq_len(2 * d)^2), 2L)
  expect_refused(
    kde(many(257), H = diag(257)),
    kde(many(300), kernel = "epanechnikov"),
    kde(many(400), kernel = "uniform", kernel_type = "product"),
    lscv(many(257), H = diag(257))
  )
  x <- many(256)
  for (kernel in c("gaussian", "cosine")) {
    fhat <- kde(x, H = diag(256), kernel = kernel, eval.points = x)
    # Both are near 1e-100.
    expect_equal(fhat$estimate / reference_density(x, x, diag(256), kernel = kernel), c(1, 1), tolerance = 1e-12)
  }
})

test_that("na.action = na.omit with nothing left", {
  expect_refused(
    kde(c(NA_real_, NaN), h = 1, na.action = na.omit),
    kde(rbind(c(1, NA), c(NA, 2)), h = 1, na.action = na.omit),
    kde(x, h = 1, w = rep(NA_real_, 5), na.action = na.omit),
    kde(c(x, NA, Inf), h = 1, na.action = na.omit),
    kde(c(x, NA), na.action = na.omit, w = 1:5),
    kde(c(2, 2, NA), na.action = na.omit)
  )
})

test_that("x without a bandwidth", {
  expect_refused(
    kde(3),
    kde(c(2, 2, 2)),
    kde(cbind(a = x, b = 1)),
    kde(cbind(1, x, 2)),
    kde(cbind(a = x, b = 2 * x, c = X[, "b"])),
    kde(X[1:2, ]),
    kde(c(3, 3, 4), w = c(1, 1, 0)),
    hpi(c(3, 3, 3)),
    hpi(5),
    hpi(X),
    hpi(letters),
    hpi(c(x, NA)),
    hns(X),
    hns(rep(2, 9)),
    Hns(cbind(a = x, b = 1)),
    Hns.diag(c(X, Inf)),
    Hpi(x),
    Hpi(cbind(a = x, b = x)),
    Hpi(X[1:2, ])
  )
})

test_that("x of values too large or too small for a bandwidth", {
  Y <- cbind(X, c = c(1, 4, 2, 5, 3) * 1e-200)
  expect_refused(
    hpi(x * 1e250),
    hns(x * 1e-200),
    hlscv(x * 1e300),
    hlscv(x * 1e-300, kernel = "uniform"),
    hscv(x * 1e160, w = c(1, 1, 1, 1, 0)),
    hpi(c(-1.7e308, 0, 1.7e308)),
    kde(x * 1e-160),
    kde(x * 1e300, kernel = "epanechnikov"),
    Hns(Y),
    Hns.diag(Y),
    Hpi(Y),
    Hpi.diag(Y),
    kde(Y, kernel = "biweight"),
    hpi(x, w = c(1, 1e-20, 1e-20, 0, 0)),
    hlscv(x, w = c(1, 1e-20, 1e-20, 0, 0)),
    Hpi(X, w = c(1, 1e-20, 1e-20, 0, 0)),
    lscv(x, h = 1, w = c(1, 1e-20, 1e-20, 0, 0)),
    lscv(x * 1e300, h = c(1, 1e-10)),
    lscv(c(-1.7e308, 0, 1.7e308), h = c(1, 2)),
    lscv(x, H = 2^-1030),
    psi(x * 1e200, 1e-150, 0),
    kde(x, H = 2^-1030)
  )
})

test_that("dates and the like", {
  expect_refused(
    hpi(as.Date(x, origin = "2020-01-01")),
    hlscv(as.difftime(x, units = "mins")),
    kde(as.POSIXct(x, origin = "2020-01-01"), h = 1),
    hpi(y ~ x),
    hpi(x, w = x > 0),
    hpi(x, w = data.frame(x)),
    predict(kde(x, h = 1), stats::density(x))
  )
})

test_that("h", {
  expect_refused(
    kde(x, h = 0),
    kde(x, h = -1),
    kde(x, h = 1e-200),
    kde(x, h = 1e308),
    kde(x, h = NA),
    kde(x, h = NaN),
    kde(x, h = Inf),
    kde(x, h = "wide"),
    kde(x, h = c(1, 2)),
    kde(x, h = numeric(0)),
    kde(x, h = list(1)),
    kde(x, h = 1, H = 1)
  )
})

test_that("H", {
  expect_refused(
    kde(X, H = matrix(1:6, 2)),
    kde(X, H = diag(3)),
    kde(x, H = -1e308),
    kde(X, H = 1),
    kde(X, H = "diag"),
    kde(X, H = matrix(c(1, 0.5, 0.1, 1), 2)),
    kde(X, H = matrix(c(1, 2, 2, 1), 2)),
    kde(X, H = matrix(1, 2, 2)),
    kde(X, H = -diag(2)),
    kde(X, H = diag(c(1, 0))),
    kde(X, H = matrix(c(1, NA, NA, 1), 2)),
    kde(X, H = matrix(c(Inf, 0, 0, 1), 2)),
    kde(x, H = -0.2),
    kde(x, H = diag(2)),
    kde(X, H = matrix(c(1, 0.2, 0.2, 1), 2), kernel_type = "product", kernel = "biweight")
  )
})

test_that("w", {
  expect_refused(
    kde(x, h = 1, w = c(1, 1, 1, 1, -1)),
    kde(x, h = 1, w = rep(0, 5)),
    kde(x, h = 1, w = c(1, 1)),
    kde(x, h = 1, w = c(1, 1, 1, 1, NA)),
    kde(x, h = 1, w = c(1, 1, 1, 1, Inf)),
    kde(x, h = 1, w = letters[1:5]),
    hpi(x, w = 1:4),
    Hpi(X, w = -(1:5))
  )
})

test_that("grids", {
  expect_refused(
    kde(x, h = 1, xmin = 3, xmax = 3),
    kde(x, h = 1, xmin = 5, xmax = 2),
    kde(X, h = 1, xmin = c(0, 9), xmax = c(5, 5)),
    kde(x, h = 1, xmin = NA),
    kde(X, h = 1, xmax = c(1, 2, 3)),
    kde(x, h = 1, gridsize = 1),
    kde(x, h = 1, gridsize = 10.5),
    kde(x, h = 1, gridsize = "many"),
    kde(x, h = 1, gridsize = -3),
    kde(X, h = 1, gridsize = c(10, 1)),
    kde(x, h = 1, gridtype = "hexagons"),
    kde(x, h = 1, supp = -1),
    kde(x, h = 1, step = 0),
    kde(x, h = 1, step = 1, gridsize = 10)
  )
})

test_that("a grid that needs more memory than there is, before it is allocated", {
  old <- options(kestrel.memory_limit = 1e6)
  on.exit(options(old))
  condition <- expect_error(kde(X, h = 1, gridsize = 1000), class = "kestrel_error_memory")
  expect_s3_class(condition, c("kestrel_error_memory", "kestrel_error", "error", "condition"), exact = TRUE)
  expect_match(conditionMessage(condition), "1000 x 1000", fixed = TRUE)
  size <- "need ([0-9.]+) MB, and there are 1 MB"
  expect_match(conditionMessage(condition), size)
  needed <- as.numeric(sub(paste0(".*", size, ".*"), "\\1", conditionMessage(condition)))
  expect_gte(needed, 16) # the sums and the estimate, 8 bytes each
  expect_lte(needed, 100)
  # 1e18 points: if the limit were checked after the allocation, the error would be another one
  expect_error(kde(matrix(rnorm(60), 10), h = 1, gridsize = 1000), "EB|PB", class = "kestrel_error_memory")
  expect_error(kde(x, h = 1, xmin = 0, xmax = 1, step = 1e-9), class = "kestrel_error_memory")
  expect_length(kde(x, h = 1, gridsize = 1000)$estimate, 1000)
  options(kestrel.memory_limit = NULL)
  expect_error(kde(matrix(rnorm(60), 10), h = 1, gridsize = 1000), class = "kestrel_error_memory")
  options(kestrel.memory_limit = "lots")
  expect_error(kde(x, h = 1), "memory_limit", class = "kestrel_error_input")
})

test_that("eval.points", {
  expect_refused(
    kde(X, h = 1, eval.points = matrix(0, 2, 3)),
    kde(x, h = 1, eval.points = X),
    kde(X, h = 1, eval.points = 1:3),
    kde(x, h = 1, eval.points = c(1, NA)),
    kde(x, h = 1, eval.points = Inf),
    kde(x, h = 1, eval.points = "here"),
    kde(X, h = 1, eval.points = iris[, 4:5])
  )
})

test_that("choices list what there is", {
  expect_refused(
    kde(x, h = 1, kernel = "box"),
    kde(x, h = 1, kernel = 3),
    kde(x, h = 1, kernel_type = "round"),
    kde(x, h = 1, engine = "warp"),
    kde(x, h = 1, backend = "tpu"),
    kde(x, h = 1, na.action = na.pass),
    hpi(x, scalest = "iqr"),
    Hpi(X, pilot = "auto"),
    Hpi(X, pre = "whiten"),
    Hpi.diag(X, pre = "sphere"),
    Hpi(X, optim.fun = "magic")
  )
})

test_that("numbers and flags", {
  expect_refused(
    kde(x, h = 1, tol = 0),
    kde(x, h = 1, tol = "tight"),
    kde(x, h = 1, threads = 0),
    kde(x, h = 1, threads = 1.5),
    kde(x, h = 1, threads = "all"),
    kde(x, h = 1, verbose = "yes"),
    kde(x, h = 1, compute.cont = NA),
    kde(x, h = 1, approx.cont = 1),
    kde(x, h = 1, positive = NA),
    kde(x - 4, h = 1, positive = TRUE, adj.positive = 0),
    kde(x, h = 1, unit.interval = TRUE),
    kde(X / 10, h = 1, unit.interval = TRUE),
    kde(x / 10, h = 1, unit.interval = TRUE, positive = TRUE),
    hpi(x, nstage = 3),
    hpi(x, deriv.order = 4),
    hns(x, deriv.order = -1),
    Hpi(X, nstage = 0),
    Hpi(X, deriv.order = 3),
    Hpi(X, amise = 1),
    Hpi(X, Hstart = diag(3)),
    kestrel_threads(0),
    kestrel_threads("two"),
    kestrel_threads(c(1, 2))
  )
})

test_that("arguments of the methods", {
  fhat <- kde(x, h = 1)
  plane <- kde(X, h = 1)
  points <- kde(x, h = 1, eval.points = 1:3)
  expect_refused(
    contourLevels(fhat, prob = 1.5),
    contourLevels(fhat, cont = 101),
    contourLevels(fhat, cont = NA),
    contourLevels(fhat, cont = 50, prob = 0.5),
    contourLevels(list()),
    predict(fhat, newdata = X),
    predict(plane, newdata = letters),
    dkde("a", fhat),
    dkde(1, list()),
    pkde(1, plane),
    qkde(1.2, fhat),
    qkde(0.5, plane),
    rkde(-1, fhat),
    rkde(2.5, fhat),
    rkde(1e10, fhat),
    marginal(plane, 3),
    marginal(plane, 0),
    marginal(plane, matrix(c(1, 2, 2, 1), 2)),
    marginal(plane, "c"),
    marginal(list(), 1),
    vech(matrix(1:6, 2)),
    vech("a"),
    invvech(1:4),
    invvech("a")
  )
})

test_that("what is unusual but right is no error", {
  expect_silent(kde(c(2, 2, 2), h = 1))
  expect_silent(kde(3, h = 1))
  expect_silent(kde(X[1:2, ], H = diag(2)))
  expect_silent(kde(cbind(1, x), H = diag(2)))
  expect_silent(kde(rep(x, 3)))
  expect_silent(kde(c(TRUE, FALSE) + 0, h = 1))
  expect_silent(kde(as.integer(x), h = 1L))
  expect_silent(kde(x, h = 1, na.action = "na.omit"))
  H <- matrix(c(1, 0.3, 0.3 + 1e-16, 1), 2) # symmetric except for rounding
  expect_silent(kde(X, H = H))
  # Small only compared with the largest entry: correlations of 0.5 and -0.5.
  H <- matrix(c(1e10, 0.5, -0.5, 1e-10), 2)
  expect_error(kde(X, H = H), "must be symmetric", class = "kestrel_error_input")
})

test_that("values of any length, text in no encoding, and objects whose methods fail", {
  bytes <- "\xff\xfe"
  Encoding(bytes) <- "UTF-8"
  for (generic in c("length", "names", "dim", "dimnames")) {
    registerS3method(generic, "failing", function(x) stop("a method of the class failed"), asNamespace("base"))
  }
  failing <- function(value) structure(value, class = c("failing", if (is.data.frame(value)) "data.frame"))
  plane <- kde(X, h = 1, gridsize = 3)
  expect_refused(
    kde(x, h = 1, verbose = 1:3e9),
    kde(x, h = 1:3e9, kernel = 1:3e9),
    kde_query(plane, 1:3e9),
    kde(x, h = bytes),
    kde_synopsis(cars, h = bytes),
    kde_stream(x, bytes, h = 1),
    kde(failing(x), h = 1),
    kde(failing(cars), h = failing(1)),
    kde(structure(new.env(), class = "data.frame"), h = 1),
    kde_query(plane, failing(X)),
    kde(x, h = 1, kernel = failing(1)),
    kde(x, h = 1, verbose = failing(2)),
    invvech(failing(1:3)),
    npreg(failing(x), x, bws = 1),
    npudensbw(dat = failing(x)),
    predict(npreg(dist ~ speed, cars, bws = 3), failing(diag(2))),
    pdf_score(X, failing(list()))
  )
  expect_identical(kde(failing(data.frame(X)), h = 1, gridsize = 3)$estimate, plane$estimate)
  expect_identical(npreg(dist ~ speed, failing(cars), bws = 3)$mean, npreg(dist ~ speed, cars, bws = 3)$mean)
  density <- npudens(~ breaks + tension, data = warpbreaks, bws = c(3, 0.2))
  for (column in c("breaks", "tension")) {
    edited <- density
    edited$eval <- unclass(density$eval)
    class(edited$eval[[column]]) <- c("failing", oldClass(edited$eval[[column]]))
    attributes(edited$eval) <- attributes(density$eval)
    expect_identical(logLik(edited), logLik(density))
  }
  named <- X
  colnames(named)[1] <- bytes
  fhat <- kde(named, h = 1, gridsize = 3)
  expect_identical(fhat$names, c("<ff><fe>", "b"))
  expect_identical(predict(fhat, x = named[, 2:1]), predict(plane, x = X))
  # The data, with their names, are in the call.
  frame <- data.frame(X)
  names(frame)[1] <- bytes
  expect_output(print(do.call("kde", list(frame, h = 1, gridsize = 3))), "what R cannot write", fixed = TRUE)
})

test_that("points and grids are checked before a bandwidth is looked for", {
  bad <- list(list(eval.points = "a"), list(eval.points = cbind(1, 2)), list(gridsize = 1), list(gridtype = "cubic"),
              list(supp = 0), list(xmin = NA), list(xmax = "a"), list(xmin = 5, xmax = 4), list(step = -1),
              list(step = 1, gridsize = 10), list(step = 1, gridtype = "exp"))
  # No bandwidth can be selected for these data: that would be the error if it were selected first.
  for (arguments in bad) {
    condition <- tryCatch(do.call(kde, c(list(rep(1, 10)), arguments)), error = identity)
    expect_match(conditionMessage(condition), paste0("`(", paste(names(arguments), collapse = "|"), ")` "))
  }
  expect_error(kde(rep(1, 10)), "`x`", class = "kestrel_error_input")
  expect_error(kde_stream(rep(1, 10), to = identity, gridsize = 1), "`gridsize`", class = "kestrel_error_input")
})
