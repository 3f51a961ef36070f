# Numbers with a class: they count as the numbers that they mean, or give an error that names the argument.

# Integers as package bit64 stores them.
integer64 <- function(values) {
  words <- function(k) c(if (is.na(k)) 0 else k %% 2^32, if (is.na(k)) -2^31 else k %/% 2^32)
  signed <- function(word) if (word >= 2^31) word - 2^32 else word
  bytes <- lapply(unlist(lapply(values, words)), function(word) {
    word <- signed(word)
    writeBin(if (word == -2^31) NA_integer_ else as.integer(word), raw(), endian = "little")
  })
  bits <- readBin(do.call(c, bytes), "double", length(values), endian = "little")
  attributes(bits) <- attributes(values)
  structure(bits, class = "integer64")
}

test_that("integers of 64 bits are what they count", {
  values <- c(0, 1, -1, 5, -2^31, 2^31, 2^32 - 1, -2^32, 2^53, -2^62, NA)
  expect_identical(plain(integer64(values)), values)
  expect_identical(plain(integer64(c(a = 1, b = 2))), c(a = 1, b = 2))
  # To the nearest double: 2^53 + 1 ends in an even digit.
  odd <- structure(readBin(as.raw(c(1, 0, 0, 0, 0, 0, 32, 0)), "double", endian = "little"), class = "integer64")
  expect_identical(plain(odd), 2^53)
  frame <- data.frame(a = c(3, 1, 4, 1, 5), b = c(2, 7, 1, 8, 2))
  wide <- frame
  wide$b <- integer64(frame$b)
  expect_identical(kde(wide, h = 1)$estimate, kde(frame, h = 1)$estimate)
  expect_identical(npregbw(a ~ b, data = wide, nbw = 9, unsupported = "exclude")$cv,
                   npregbw(a ~ b, data = frame, nbw = 9, unsupported = "exclude")$cv)
  expect_error(kde(integer64(c(1, NA, 2)), h = 1), "missing values, but 1 of 3", class = "kestrel_error_input")
})

# Every argument that takes numbers, wrapped in V().
x <- c(1, 2, 4, 5, 7, 3)
X <- cbind(a = x, b = c(2, 1, 5, 3, 3, 9))
fhat <- kde(x, h = 1)
plane <- kde(X, h = 1, gridsize = 9)
below <- kcde(x, h = 1, gridsize = 9)
fit <- npreg(x, c(2, 1, 5, 3, 3, 9), bws = 4)
calls <- alist(
  kde(V(x), h = 1), kde(V(X), h = 1, gridsize = 5), kde(x, h = V(2)), kde(x, H = V(2)), kde(X, H = V(diag(2))),
  kde(x, h = 1, w = V(c(1, 2, 3, 4, 5, 6))), kde(x, h = 1, eval.points = V(c(2, 3))),
  kde(X, h = 1, eval.points = V(c(a = 2, b = 3))), kde(x, h = 1, eval.points = V(c(2, 3))),
  kde(x, h = 1, gridsize = V(9)), kde(x, h = 1, xmin = V(0), xmax = 9), kde(x, h = 1, xmin = 0, xmax = V(9)),
  kde(x, h = 1, supp = V(3)), kde(x, h = 1, step = V(1)), kde(x, h = 1, tol = V(1)), kde(x, h = 1, threads = V(1)),
  kde(x, h = 1, positive = TRUE, adj.positive = V(2)),
  hns(V(x)), Hns(V(X)), Hns.diag(V(X)), hpi(V(x)), hpi(x, nstage = V(1)), hpi(x, w = V(c(1, 2, 3, 4, 5, 6))),
  hns(x, deriv.order = V(1)), Hpi(V(X)), Hpi.diag(V(X)), Hpi(X, Hstart = V(diag(2))), hscv(V(x)), Hscv(V(X)),
  Hscv.diag(V(X)), hlscv(V(x)), hlscv(x, hmin = V(1)), hlscv(x, hmax = V(3)), Hlscv(V(X)), Hlscv.diag(V(X)),
  lscv(V(x), h = 1), lscv(x, h = V(c(1, 2))), lscv(x, H = V(2)), psi(V(x), 1, 4), psi(x, V(1), 4), psi(x, 1, V(4)),
  hboot(V(x), B = 2), hboot(x, B = V(2)), hboot(x, h0 = V(2), B = 2), hboot(x, h = V(c(1, 2)), B = 2),
  Hboot(V(X), B = 2, gridsize = 9),
  npregbw(V(x), x^2, nbw = 9, unsupported = "exclude"), npregbw(x, V(x^2), nbw = 9, unsupported = "exclude"),
  npregbw(x, x^2, bws = V(4)), npregbw(x, x^2, nbw = V(4)), npregbw(x, x^2, bwmin = V(2)),
  npregbw(x, x^2, bwmax = V(5)),
  npregbw(x, x^2, bws = c(2, 4), w = V(c(1, 2, 3, 4, 5, 6))),
  npreg(bws = V(4), txdat = x, tydat = x^2), npreg(bws = 4, txdat = V(x), tydat = x^2),
  npreg(bws = 4, txdat = x, tydat = V(x^2)), npreg(bws = 4, txdat = x, tydat = x^2, exdat = V(c(2, 3))),
  npreg(fit$bws, txdat = V(x), tydat = x), npreg(x, x^2, bws = 4, newdata = V(c(2, 3))),
  predict(fit, exdat = V(c(2, 3))), predict(fit, newdata = V(c(2, 3))), predict(fhat, V(c(2, 3))),
  predict(plane, V(X)), predict(plane, V(c(b = 2, a = 3))), contourLevels(fhat, prob = V(1)),
  contourLevels(fhat, cont = V(50)), contourLevels(fhat, nlevels = V(4)), dkde(V(c(1, 2)), fhat),
  pkde(V(c(1, 2)), fhat), pkde(V(X), plane), kcde(V(x), gridsize = 4), kcde(X, h = V(1), gridsize = 4),
  kcde(x, h = 1, eval.points = V(c(2, 3))), predict(below, V(c(2, 3))), plot(below, abs.cont = V(0.5)),
  hpi.kcde(V(x)), Hpi.kcde(V(X)), Hpi.diag.kcde(V(X)),
  qkde(V(c(0, 1)), fhat), marginal(plane, V(2)), kde_query(fhat, V(2), 4), kde_query(fhat, 2, V(4)),
  kde_query(plane, V(c(b = 2)), c(b = 4)), kde_query(plane, V(X), V(X)), with(list(v = V(2)), kde_query(fhat, x > v)),
  kde_query(plane, c(0, 0), c(9, 9), "mean", V(2)), kde_query(fhat, 2, 4, N = V(60)),
  kde_synopsis(V(X), h = 1), kde_synopsis(X, size = V(6), h = 1), q_error(V(x), x + 1), q_error(x, V(x + 1)),
  q_error(x, x, V(2)), pdf_score(V(X), X, gridsize = 5), pdf_score(X, V(X), gridsize = 5),
  pdf_score(X, X, h = V(2), gridsize = 5), pdf_score(X, X, sensitivity = V(3), gridsize = 5), vech(V(diag(2))),
  invvech(V(c(1, 2, 3))), kestrel_threads(V(1)), kde_stream(V(x), identity, h = 1, gridsize = 9),
  kde_stream(x, identity, h = 1, slab = V(3), gridsize = 9)
)

# The value of a call without what differs between calls.
value_of <- function(call, V) {
  set.seed(5)
  found <- suppressWarnings(suppressMessages(eval(call, list(V = V), environment())))
  bare <- function(object) {
    if (!is.list(object)) return(object)
    object[c("call", "seconds", "selector")] <- NULL
    lapply(unclass(object), bare)
  }
  bare(found)
}

test_that("classes that mean nothing else are taken off", {
  threads <- kestrel_threads(1)
  on.exit(kestrel_threads(threads))
  harmless <- list(AsIs = I, integer64 = integer64, table = function(v) structure(v, class = "table"),
                   labelled = function(v) structure(v, label = "in cm", class = c("labelled", class(unclass(v))[1L])))
  for (kind in names(harmless)) {
    differ <- Filter(function(call) {
      !identical(value_of(call, identity), tryCatch(value_of(call, harmless[[kind]]), error = identity))
    }, calls)
    expect_identical(vapply(differ, deparse1, ""), character(0), info = kind)
  }
})

test_that("numbers of any other class are refused, and the argument is named", {
  foreign <- list(foo = function(v) structure(v, class = "foo"), Date = function(v) structure(v, class = "Date"),
                  difftime = function(v) structure(v, class = "difftime", units = "mins"),
                  units = function(v) structure(v, class = "units", units = list(numerator = "m")),
                  complex = function(v) v * 1i, factor = function(v) factor(v), lists = as.list,
                  POSIXlt = function(v) as.POSIXlt(as.POSIXct(0 * v, origin = "2020-01-01")))
  for (kind in names(foreign)) {
    wrong <- Filter(function(call) {
      condition <- tryCatch(value_of(call, foreign[[kind]]), error = identity)
      !inherits(condition, "kestrel_error_input") || !grepl("`", conditionMessage(condition), fixed = TRUE)
    }, calls)
    # Regressors may be dates.
    regresses <- function(call) {
      "V(x)" %in% vapply(as.list(call), deparse1, "") && as.character(call[[1L]]) %in% c("npreg", "npregbw")
    }
    taken <- if (kind == "Date") Filter(regresses, calls)
    expect_identical(vapply(wrong, deparse1, ""), vapply(as.list(taken), deparse1, ""), info = kind)
  }
})

test_that("messages say how to make numbers of them", {
  foo <- structure(1:5, class = "foo")
  expect_refused(
    npreg(bws = 0.5, txdat = structure(1:5, class = "foo"), tydat = 1:5),
    npreg(bws = structure(0.5, class = "foo"), txdat = 1:5, tydat = 1:5),
    kde(structure(1:5, class = "units"), h = 1),
    kde(structure(list(a = foo, b = 1:5), class = "data.frame", row.names = 1:5), h = 1),
    kde(structure(list(a = 1:3, b = 1:2), class = "data.frame", row.names = 1:3), h = 1),
    kde(1:5, h = structure(1, class = "units")),
    kde(1:5, h = 1, w = foo),
    kde_query(fhat, Sys.Date(), 4),
    q_error(as.difftime(1:5, units = "mins"), 1:5),
    npreg(bws = 1, txdat = NULL, tydat = 1:5),
    npreg(bws = 1, txdat = 1:5, tydat = list(1, 2))
  )
})

test_that("tibbles and columns that are matrices", {
  frame <- data.frame(a = x, b = X[, "b"])
  expect_identical(kde(structure(frame, class = c("tbl_df", "tbl", "data.frame")), h = 1)$estimate,
                   kde(frame, h = 1)$estimate)
  frame$b <- ts(frame$b)
  frame$c <- scale(x)
  expect_identical(kde(frame, h = 1, eval.points = frame)$estimate,
                   kde(unname(cbind(X, scale(x))), h = 1, eval.points = unname(cbind(X, scale(x))))$estimate)
})

test_that("points of variables that share a name keep their columns", {
  twins <- cbind(x, rev(x)^2)
  colnames(twins) <- c("a", "a")
  expect_identical(kde(twins, h = 1, eval.points = twins)$estimate,
                   kde(unname(twins), h = 1, eval.points = unname(twins))$estimate)
})
