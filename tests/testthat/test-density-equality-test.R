# The test of two densities of mixed data beside np 0.60 and an oracle in plain R.

test_that("statistics are np's", {
  expect_np_values("npdeneqtest")
})

# Products of kernels of numbers, of Aitchison and Aitken, and for ordered factors of Li and Racine, between all rows of
# both samples.
pair_kernels <- function(both, h) {
  Reduce(`*`, lapply(seq_along(both), function(k) {
    column <- both[[k]]
    if (!is.factor(column)) return(stats::dnorm(outer(column, column, `-`) / h[k]) / h[k])
    distance <- abs(outer(as.integer(column), as.integer(column), `-`))
    if (is.ordered(column)) return(h[k]^distance * (1 - h[k]) / (1 + h[k]))
    ifelse(distance == 0, 1 - h[k], h[k] / (nlevels(column) - 1))
  }))
}

# By double sums over the rows of samples, which may occur several times.
equality_oracle <- function(of_x, of_y, first, second) {
  n1 <- length(first)
  n2 <- length(second)
  pairs <- function(kernels, rows) {
    matrix <- kernels[rows, rows]
    diag(matrix) <- 0
    sum(matrix) / (length(rows) * (length(rows) - 1))
  }
  In <- pairs(of_x, first) + pairs(of_y, second) - 2 * mean(of_x[first, second])
  variance <- 2 * (pairs(of_x^2, first) / (n1 * (n1 - 1)) + pairs(of_y^2, second) / (n2 * (n2 - 1)) +
                     2 * mean(of_x[first, second]^2) / (n1 * n2))
  c(In / sqrt(variance), In)
}

equality_x <- data.frame(a = faithful$eruptions[1:12], z = factor(rep(c("u", "v", "v"), 4)))
equality_y <- data.frame(a = faithful$eruptions[31:45] + 0.2, z = factor(rep(c("v", "w", "u"), 5)))

test_that("statistics are double sums, also of bootstrap samples, in which rows occur again", {
  test <- npdeneqtest(equality_x, equality_y, c(0.3, 0.4), c(0.5, 0.1), boot.num = 9)
  both <- rbind(equality_x, equality_y)
  kernels <- list(pair_kernels(both, c(0.3, 0.4)), pair_kernels(both, c(0.5, 0.1)))
  of <- function(first, second) equality_oracle(kernels[[1]], kernels[[2]], first, second)
  expect_equal(c(test$Tn, test$In), of(1:12, 13:27), tolerance = 1e-12)
  rows <- floor(replicate_draws_cpp(27L, 9L, 0, 42, run_options(1L, "cpu")) * 27) + 1
  drawn <- apply(rows, 2, function(rows) of(rows[1:12], rows[13:27]))
  expect_equal(rbind(test$Tn.bootstrap, test$In.bootstrap), drawn, tolerance = 1e-12)
  expect_identical(c(test$Tn.P, test$In.P), c(mean(test$Tn.bootstrap > test$Tn), mean(test$In.bootstrap > test$In)))
  expect_identical(test$nobs, c(12L, 15L))
})

test_that("kernels of ordered factors are those of densities, where np lacks a factor that depends on lambda", {
  x <- data.frame(z = ordered(rep(1:3, 4)))
  y <- data.frame(z = ordered(rep(c(1, 2, 2, 3), 3)))
  test <- npdeneqtest(x, y, 0.1, 0.6, boot.num = 9)
  both <- rbind(x, y)
  expect_equal(c(test$Tn, test$In),
               equality_oracle(pair_kernels(both, 0.1), pair_kernels(both, 0.6), 1:12, 13:24), tolerance = 1e-12)
})

test_that("bootstrap samples are distributed as np's", {
  # npdeneqtest() of np 0.60-18 with these arguments has the mean -0.0783 and the standard deviation 0.8035. The
  # allowance is four standard errors of the difference.
  bw <- function(data) npudensbw(dat = data, bws = c(0.3, 4), bandwidth.compute = FALSE)
  x <- faithful[1:40, ]
  y <- faithful[101:160, ] + 0.1
  test <- npdeneqtest(x, y, bw(x), bw(y), boot.num = 999)
  error <- 0.8035 * sqrt(2 / 999)
  expect_lt(abs(mean(test$Tn.bootstrap) + 0.0783), 4 * error)
  expect_lt(abs(stats::sd(test$Tn.bootstrap) - 0.8035), 4 * error)
  expect_lt(abs(test$Tn.P - 0.2082), 4 * sqrt(2 * 0.2082 * 0.7918 / 999))
})

test_that("the test finds differences, and none where there are none", {
  draws <- with_seed(20261126, list(a = matrix(stats::rnorm(120), 60), b = matrix(stats::rnorm(120), 60)))
  expect_gt(npdeneqtest(draws$a, draws$b, bwmethod = "normal-reference", boot.num = 99)$Tn.P, 0.05)
  expect_lt(npdeneqtest(draws$a, draws$b * 2, bwmethod = "normal-reference", boot.num = 99)$Tn.P, 0.02)
})

test_that("Tn has no units, and a bandwidth that is given is kept", {
  of <- function(scale) {
    npdeneqtest(scale * equality_x$a, scale * equality_y$a, scale * 0.3, scale * 0.5, boot.num = 9)
  }
  one <- of(1)
  for (scale in c(2^-600, 2^600)) {
    expect_equal(of(scale)[c("Tn", "Tn.bootstrap")], one[c("Tn", "Tn.bootstrap")], tolerance = 1e-12)
  }
  expect_equal(of(2^40)$In, one$In / 2^40, tolerance = 1e-12)
  test <- npdeneqtest(equality_x["a"], equality_y["a"], bw.y = 0.5, bwmethod = "cv.ls", boot.num = 9)
  expect_equal(test$bw.x$bw, npudensbw(dat = equality_x["a"], bwmethod = "cv.ls")$bw)
  expect_identical(test$bw.y$bw, 0.5)
})

test_that("dates are numbers, and levels of one sample are levels of both", {
  day <- as.Date("2026-01-01") + 0:11
  dated <- npdeneqtest(data.frame(t = day), data.frame(t = day + 3), 4, 4, boot.num = 9)
  expect_equal(dated$Tn, npdeneqtest(0:11, 3:14, 4, 4, boot.num = 9)$Tn, tolerance = 1e-12)
  few <- transform(equality_x, z = factor(as.character(z)))
  test <- npdeneqtest(few, equality_y, c(0.3, 0.4), c(0.5, 0.1), boot.num = 9)
  all <- npdeneqtest(transform(few, z = factor(z, levels(equality_y$z))), equality_y, c(0.3, 0.4), c(0.5, 0.1),
                     boot.num = 9)
  expect_equal(test$Tn, all$Tn)
})

test_that("the same seed gives the same bits on any number of threads, whatever the session draws", {
  expect_seeded_draws(function(...) {
    npdeneqtest(equality_x, equality_y, c(0.3, 0.4), c(0.5, 0.1), boot.num = 19, ...)$Tn.bootstrap
  })
})

test_that("prints and summaries read as they should", {
  expect_snapshot_output({
    test <- npdeneqtest(equality_x, equality_y, c(0.3, 0.4), c(0.5, 0.1), boot.num = 19)
    shown(test)
    shown(summary(test))
    wide <- npudensbw(dat = equality_x["a"], bws = 1, bandwidth.compute = FALSE, ckertype = "epanechnikov")
    shown(npdeneqtest(equality_x["a"], equality_y["a"], wide, 0.5, boot.num = 9))
  })
})

test_that("mistakes are refused", {
  bw <- npudensbw(dat = 1:5, bws = 1, bandwidth.compute = FALSE)
  ordered_as <- function(levels) data.frame(z = ordered(levels, levels))
  expect_refused(
    npdeneqtest(), npdeneqtest(1:5), npdeneqtest(1:5, c(1, NA, 3)), npdeneqtest(1:5, c("a", "b")),
    npdeneqtest(data.frame(a = 1:5), data.frame(b = 1:5)), npdeneqtest(1:5, data.frame(a = 1:3, b = 1:3)),
    npdeneqtest(1:5, factor(1:5)), npdeneqtest(ordered_as(c("a", "b")), ordered_as(c("b", "a"))),
    npdeneqtest(1:5, 1, 1, 1), npdeneqtest(rep(1, 5), 1:5), npdeneqtest(1:5, 1:5, c(1, 2), 1),
    npdeneqtest(1:5, 1:5, 1, -1), npdeneqtest(1:5, 1:5, 1, npudistbw(dat = 1:5, bws = 1, bandwidth.compute = FALSE)),
    npdeneqtest(faithful, faithful, bw, bw), npdeneqtest(1:5, 1:5, bw, bw, ckertype = "uniform"),
    npdeneqtest(1:5, 1:5, boot.num = 8), npdeneqtest(1:5, 1:5, random.seed = 0.5),
    npdeneqtest(1:5, 1:5, 1, 1, 9, 42, 1), npdeneqtest(1:5, 1:5, bootnum = 9),
    print(structure(list(), class = "kestrel_deneqtest"))
  )
})
