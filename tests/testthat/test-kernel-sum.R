# Kernel sums beside np 0.60 (np_ksum.csv) and plain R.

np_sums <- utils::read.csv(test_path("fixtures", "np_ksum.csv"), colClasses = "character")
sum_data <- local({
  x <- c(1.3, 2, 2.7, 4)
  y <- c(1, 5, 2, 4)
  e <- c(0.5, 2.2, 3)
  list(x = x, y = y, e = e, Y = cbind(y, 2:5), W = cbind(1, x),
       m = data.frame(x, u = factor(c(1, 2, 2, 1)), o = ordered(c(1, 2, 4, 4))),
       me = data.frame(x = e, u = factor(c(2, 1, 1), 1:2), o = ordered(c(4, 2, 1), c(1, 2, 4))))
})

test_that("sums, weights and their shapes are np's", {
  split <- function(text) as.numeric(strsplit(text, ";")[[1]])
  expect_gt(nrow(np_sums), 45)
  for (k in seq_len(nrow(np_sums))) {
    row <- np_sums[k, ]
    call <- str2lang(row$call)
    # np's constants of these kernels are rounded.
    loose <- any(c("integral", "epanechnikov") %in% as.list(call)) || isTRUE(call$ckerorder > 2)
    found <- eval(call, sum_data, environment())[[row$part]]
    expect_identical(paste(dim(found), collapse = ";"), row$dim, info = row$call)
    problem <- reference_problem(found, split(row$value), if (loose) 1e-7 else 1e-13, info = row$call)
    expect_null(problem)
  }
})

# The kernel of a column at points (columns) from observations (rows), and the factor that its operator has in sums.
column_kernel <- function(from, to, bw, operator, ckertype, ckerorder, ukertype, okertype, levels) {
  if (is.numeric(from)) {
    task <- list(ckertype = ckertype, ckerorder = ckerorder)
    u <- -outer(from, to, `-`) / bw
    value <- switch(operator, normal = density_continuous(u, task), integral = distribution_continuous(u, task),
                    convolution = matrix(density_convolution(u, task), nrow(u)),
                    derivative = {
                      parts <- mixed_polynomial(u, mixed_kernel(ckertype, ckerorder))
                      if (ckertype == "gaussian") (parts$slope - u * parts$value) * exp(-u^2 / 2) else parts$slope
                    })
    return(list(value = value, times = switch(operator, integral = bw, derivative = 1 / bw, 1)))
  }
  codes <- function(v) rep(match(as.character(v), levels), length.out = length(v))
  from_code <- rep(codes(from), length(to))
  to_code <- rep(codes(to), each = length(from))
  positions <- if (okertype == "racineliyan") seq_along(levels) else as.numeric(levels)
  count <- length(levels)
  value <- if (!is.ordered(from)) {
    kernel <- function(a, b) density_unordered(a, b, bw, count, ukertype)
    if (operator == "convolution") {
      Reduce(`+`, lapply(seq_len(count), function(z) kernel(from_code, z) * kernel(to_code, z)))
    } else {
      kernel(from_code, to_code)
    }
  } else {
    a <- positions[from_code]
    b <- positions[to_code]
    plain <- okertype == "liracine"
    kernel <- function(a, z) {
      if (plain) bw^abs(a - z) else density_ordered(a, z, bw, count, sub("^n", "", okertype))
    }
    levels_only <- plain || okertype == "racineliyan"
    at <- if (levels_only) positions else seq(min(positions) - 60, max(positions) + 60)
    below <- if (plain) seq(min(positions), max(positions)) else at
    spread <- function(z) rep(z, length(a))
    switch(operator, normal = kernel(a, b),
           convolution = Reduce(`+`, lapply(at, function(z) kernel(a, spread(z)) * kernel(b, spread(z)))),
           integral = Reduce(`+`, lapply(below, function(z) kernel(a, spread(z)) * (z <= b))))
  }
  list(value = matrix(value, length(from)), times = 1)
}

test_that("sums are those of plain R for every kernel, order and operator", {
  frame <- with_seed(20261202, data.frame(a = round(stats::rnorm(20), 2), u = factor(sample(1:3, 20, TRUE)),
                                          o = ordered(sample(c(1, 2, 4), 20, TRUE)), b = stats::runif(20)))
  points <- frame[c(3, 7, 1, 12), ]
  points$a <- points$a + 0.3
  y <- with_seed(1, matrix(stats::rnorm(40), 20))
  bws <- c(0.7, 0.3, 0.4, 0.5)
  problems <- list()
  for (ckertype in kernel_names()) {
    for (order in if (ckertype %in% c("gaussian", "epanechnikov")) c(2, 4, 6, 8) else 2) {
      for (operator in c("normal", "convolution", "integral", "mixed")) {
        okertype <- c("liracine", "wangvanryzin", "nliracine", "racineliyan")[order / 2]
        ukertype <- c("aitchisonaitken", "liracine")[1 + (order > 4)]
        each <- if (operator == "mixed") c("derivative", "normal", "integral", "integral") else rep(operator, 4)
        found <- npksum(bws = bws, txdat = frame, exdat = points, tydat = y, operator = each, ckertype = ckertype,
                        ckerorder = order, okertype = okertype, ukertype = ukertype, return.kernel.weights = TRUE)
        kernels <- lapply(1:4, function(k) {
          column_kernel(frame[[k]], points[[k]], bws[k], each[k], ckertype, order, ukertype, okertype,
                        levels(frame[[k]]))
        })
        product <- Reduce(`*`, lapply(kernels, `[[`, "value"))
        times <- prod(vapply(kernels, `[[`, 0, "times"))
        label <- paste(ckertype, order, operator)
        tol <- if (order == 2) 1e-12 else 1e-11
        problems <- c(problems, list(reference_problem(found$kw, product, tol, info = label),
                                     reference_problem(found$ksum, times * t(product) %*% y, tol, info = label)))
      }
    }
  }
  expect_no_problem(problems)
})

test_that("permutations and reference levels are sums of their own", {
  m <- sum_data$m
  # np leaves out the kernels of factors here.
  found <- npksum(bws = c(0.7, 0.3, 0.2), txdat = m, permutation.operator = "derivative", compute.ocg = TRUE)
  one <- function(...) npksum(bws = c(0.7, 0.3, 0.2), txdat = m, ...)$ksum
  first <- transform(m, u = factor(rep(1, 4), 1:2))
  below <- transform(m, o = ordered(c(2, 1, 2, 2), c(1, 2, 4)))
  expect_equal(found$p.ksum, cbind(one(operator = c("derivative", "normal", "normal")), one(exdat = first),
                                   one(exdat = below)), tolerance = 1e-14)
  expect_equal(found$ksum, one())
  weighted <- npksum(bws = c(0.7, 0.3, 0.2), txdat = m, weights = sum_data$W, compute.ocg = TRUE,
                     permutation.operator = "integral")
  expect_identical(dim(weighted$p.ksum), c(2L, 4L, 3L))
  alone <- npksum(bws = c(0.7, 0.3, 0.2), txdat = m, leave.one.out = TRUE, compute.ocg = TRUE)
  moved <- npksum(bws = c(0.7, 0.3, 0.2), txdat = m, exdat = first, return.kernel.weights = TRUE)
  expect_equal(alone$p.ksum[, 1], as.vector(moved$ksum) - diag(moved$kw), tolerance = 1e-13)
})

test_that("sums are the estimates of other functions", {
  mt <- transform(datasets::mtcars[c("mpg", "cyl", "gear")], cyl = factor(cyl), gear = ordered(gear))
  density <- npudensbw(dat = mt, bws = c(2, 0.2, 0.3), bandwidth.compute = FALSE)
  expect_equal(as.vector(npksum(density, bandwidth.divide = TRUE)$ksum) / 32, npudens(density)$dens, tolerance = 1e-13)
  below <- npudistbw(dat = mt[-2], bws = c(2, 0.3), bandwidth.compute = FALSE)
  sums <- npksum(below, operator = "integral", bandwidth.divide = TRUE, return.kernel.weights = TRUE)
  expect_equal(as.vector(sums$ksum) / 32, npudist(below)$dist, tolerance = 1e-13)
  expect_equal(colMeans(sums$kw), npudist(below)$dist, tolerance = 1e-13)
  fit <- npregbw(xdat = mt[-1], ydat = mt$mpg, bws = c(0.2, 0.3), bandwidth.compute = FALSE)
  both <- npksum(fit, tydat = cbind(mt$mpg, 1))$ksum
  expect_equal(both[, 1] / both[, 2], npreg(fit)$mean, tolerance = 1e-13)
  line <- npregbw(xdat = mt$mpg, ydat = 1:32, bws = 2, bandwidth.compute = FALSE)
  one <- npksum(line, tydat = cbind(1:32, 1), exdat = 20)$ksum
  expect_equal(one[1] / one[2], npreg(line, exdat = 20)$mean, tolerance = 1e-12)
})

test_that("formulas, missing values and points follow the one policy", {
  frame <- transform(datasets::mtcars, cyl = factor(cyl))
  made <- npksum(mpg + hp ~ wt + cyl, data = frame, bws = c(0.4, 0.2), subset = am == 1)
  other <- frame[frame$am == 1, ]
  expect_equal(made$ksum, npksum(txdat = other[c("wt", "cyl")], tydat = other[c("mpg", "hp")], bws = c(0.4, 0.2))$ksum)
  logs <- npksum(mpg ~ log(wt), data = frame, newdata = data.frame(wt = 2:3), bws = 0.2)
  expect_equal(logs$ksum, npksum(txdat = log(frame$wt), tydat = frame$mpg, exdat = log(2:3), bws = 0.2)$ksum)
  frame$wt[3] <- NA
  expect_message(left <- npksum(mpg ~ wt, data = frame, bws = 0.4), class = "kestrel_message")
  expect_length(left$ksum, 31)
  expect_warning(at <- npksum(~ wt + cyl, frame[-3, ], data.frame(wt = c(3, NA, 3), cyl = c(4, 4, 5)),
                              bws = c(0.4, 0.2), return.kernel.weights = TRUE), class = "kestrel_warning_support")
  expect_identical(is.na(as.vector(at$ksum)), c(FALSE, TRUE, TRUE))
  expect_identical(dim(at$kw), c(31L, 3L))
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    sums <- npksum(mpg ~ wt + factor(cyl), data = mtcars, bws = c(0.4, 0.2))
    shown(sums)
    shown(summary(sums))
    shown(npksum(bws = 1, txdat = 1:5, tydat = cbind(1:5, 2), weights = cbind(1:5, 2, 3), exdat = 1:2,
                 permutation.operator = "derivative", return.kernel.weights = TRUE, operator = "integral"))
  })
})

test_that("sums beyond the range of numbers are refused", {
  # Products that are infinite, numbers over a volume of 0, and kernel weights alone.
  expect_snapshot(npksum(bws = 1, txdat = 1:3, tydat = c(-2, 2, 3), weights = c(1e308, 1e308, 1)), error = TRUE)
  expect_refused(
    npksum(bws = c(1e-200, 1e-200), txdat = data.frame(a = 1:3, b = 1:3), bandwidth.divide = TRUE),
    npksum(bws = 0.1, txdat = c(1, 1, 2), tydat = c(1, -1, 1), operator = "derivative", exdat = 1.1,
           weights = rep(1e308, 3)),
    npksum(bws = 1e-5, txdat = 1:3, tydat = c(0, 0, 0), kernel.pow = 100, bandwidth.divide = TRUE,
           return.kernel.weights = TRUE)
  )
  expect_equal(as.vector(npksum(bws = 9, txdat = c(0, 1), tydat = c(1.7e308, -1.7e308))$ksum),
               c(1, -1) * 1.7e308 * (dnorm(0) - dnorm(1 / 9)), tolerance = 1e-12)
})

test_that("mistakes are refused", {
  conditional <- npcdensbw(xdat = 1:5, ydat = 1:5, bws = c(1, 1), bandwidth.compute = FALSE)
  z <- factor(c(1, 2, 2))
  expect_refused(
    npksum(), npksum(bws = 1), npksum(bws = 1:2, txdat = 1:5), npksum(bws = 0, txdat = 1:5),
    npksum(bws = 0.9, txdat = z), npksum(bws = 1, txdat = c(1, Inf)), npksum(bws = 1, txdat = "a"),
    npksum(bws = 1, txdat = 1:5, tydat = 1:4), npksum(bws = 1, txdat = 1:5, weights = "a"),
    npksum(bws = 1, txdat = 1:3, tydat = data.frame(z)), npksum(bws = 1, txdat = 1:2, tydat = c(1, Inf)),
    npksum(bws = 1, txdat = 1:5, operator = "sum"), npksum(bws = 1, txdat = 1:5, operator = rep("normal", 2)),
    npksum(bws = 0.2, txdat = z, operator = "derivative"), npksum(bws = 1, txdat = 1:5, kernel.pow = 1.5),
    npksum(bws = 1, txdat = 1:5, kernel.pow = 101), npksum(bws = 1, txdat = 1:5, leave.one.out = TRUE, exdat = 1),
    npksum(bws = 1, txdat = 1:5, compute.score = TRUE), npksum(bws = 1, txdat = 1:5, bwscaling = TRUE),
    npksum(bws = 1, txdat = 1:5, okertype = "epanechnikov"), npksum(bws = 1, txdat = 1:5, ckerorder = 3),
    npksum(bws = 1, txdat = 1:5, permutation.operator = "convolution"), npksum(bws = 1, txdat = 1:5, exdat = "a"),
    npksum(conditional), npksum(mpg ~ 1, mtcars, bws = 1), npksum(mpg ~ wt, mtcars, newdata = 1, bws = 1),
    npksum(bws = 1, txdat = 1:5, bwtype = "adaptive_nn"), npksum(bws = 1, txdat = 1:5, kernel = "gaussian"),
    print(structure(list(), class = "kestrel_ksum"))
  )
})
