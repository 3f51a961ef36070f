# Ridges of a density: where points end, segments, and what users see.

ring <- function() {
  set.seed(1)
  angle <- runif(200, 0, 2 * pi)
  cbind(cos(angle), sin(angle)) + rnorm(400) * 0.1
}

# The part of the gradient in the eigenvectors of the Hessian matrix with the d - p smallest eigenvalues, over the
# density, and the largest of these eigenvalues.
across_ridge <- function(x, at, H, p) {
  d <- ncol(x)
  pairs <- which(lower.tri(diag(d), diag = TRUE), arr.ind = TRUE)
  slope <- vapply(1:d, function(k) plain_kdde(x, at, H, k)$value, numeric(nrow(at)))
  second <- apply(pairs, 1L, function(axes) plain_kdde(x, at, H, axes)$value)
  f <- plain_kdde(x, at, H, integer(0))$value
  vapply(seq_len(nrow(at)), function(i) {
    hessian <- diag(0, d)
    hessian[pairs] <- hessian[pairs[, 2:1]] <- second[i, ]
    parts <- eigen(hessian)
    of <- (p + 1):d
    c(sqrt(sum((t(parts$vectors[, of]) %*% slope[i, ])^2)) / f[i], max(parts$values[of]))
  }, c(0, 0))
}

test_that("points end on ridges", {
  x <- ring()
  H <- matrix(c(0.03, 0.005, 0.005, 0.02), 2)
  found <- kdr(x, H = H, gridsize = c(15, 15), tol.iter = 1e-9, pre = FALSE, min.seg.size = 0)
  across <- across_ridge(x, as.matrix(found$end.points[, 1:2]), H, 1L)
  expect_lt(max(across[1, ]), 1e-6)
  expect_true(all(across[2, ] < 0))
  expect_identical(nrow(found$y), nrow(found$end.points))
  # In units of the deviations.
  unit <- diag(apply(x, 2, sd))
  found <- kdr(x, H = H, gridsize = c(9, 9), tol.iter = 1e-9, min.seg.size = 0)
  at <- as.matrix(found$end.points[, 1:2]) %*% solve(unit)
  expect_lt(max(across_ridge(x %*% solve(unit), at, solve(unit) %*% H %*% solve(unit), 1L)[1, ]), 1e-6)
  set.seed(2)
  space <- cbind(x, rnorm(200) * 0.2)[1:80, ]
  for (p in 1:2) {
    found <- kdr(space, y = space[1:10, ], H = 0.05 * diag(3), p = p, tol.iter = 1e-9, pre = FALSE, min.seg.size = 0,
                 max.iter = 2000)
    across <- across_ridge(space, as.matrix(found$end.points[, 1:3]), 0.05 * diag(3), p)
    expect_lt(max(across[1, ]), 1e-5)
  }
})

test_that("segments are clusters by single linkage, as many as the index has its maximum at", {
  set.seed(3)
  points <- rbind(matrix(rnorm(60), ncol = 2), matrix(rnorm(40, 8), ncol = 2), matrix(rnorm(20, 20), ncol = 2))
  tree <- spanning_tree(points)
  linked <- hclust(dist(points), "single")
  index <- vapply(2:9, function(k) {
    label <- cutree(linked, k = k)
    expect_identical(length(unique(paste(label, tree_labels(tree, k)))), k)
    within <- sum(vapply(split(seq_len(60), label), function(rows) {
      sum(scale(points[rows, , drop = FALSE], scale = FALSE)^2)
    }, 0))
    all <- sum(scale(points, scale = FALSE)^2)
    ((all - within) / (k - 1)) / (within / (60 - k))
  }, 0)
  expect_identical(best_count(points, tree, 9L), (2:9)[which.max(index)])
  expect_identical(best_count(points[1, , drop = FALSE], NULL, 9L), 1L)
  line <- cbind(c(3, 1, 2, 5, 4), 0)
  order <- chain_order(line)
  expect_true(identical(order, c(2L, 3L, 1L, 5L, 4L)) || identical(order, c(4L, 5L, 1L, 3L, 2L)))
})

test_that("points end on a ring, with their paths, and segments are cut again", {
  x <- ring()
  found <- kdr(x, gridsize = c(41, 41), keep.path = TRUE)
  at <- as.matrix(found$end.points[, 1:2])
  expect_gt(mean(abs(sqrt(rowSums(at^2)) - 1) < 0.1), 0.8)
  expect_equal(t(vapply(found$path, function(p) p[nrow(p), ], c(0, 0))), unname(at))
  expect_equal(t(vapply(found$path, function(p) p[1, ], c(0, 0))), unname(found$y))
  expect_identical(vapply(found$path, nrow, 0L) - 1L, found$steps)
  cut <- kdr.segment(found, k = 3, min.seg.size = 0)
  expect_identical(max(cut$end.points$segment), 3L)
  expect_identical(nrow(cut$end.points), nrow(found$end.points))
  expect_identical(unique(kdr(x, gridsize = c(9, 9), segment = FALSE)$end.points$segment), 1L)
})

test_that("weights are copies, and threads do not matter", {
  x <- ring()
  H <- 0.03 * diag(2)
  of <- function(...) {
    kdr(..., H = H, y = x[1:40, ], density.cutoff = 0.01, tol.iter = 1e-8, pre = FALSE, segment = FALSE,
        min.seg.size = 0)$end.points
  }
  weighted <- of(x, w = rep(1:2, 100))
  expect_equal(weighted, of(x[rep(1:200, rep(1:2, 100)), ]), tolerance = 1e-6)
  expect_identical(of(x, w = rep(1:2, 100), threads = 3), weighted)
})

test_that("end points are near those of ks", {
  skip_if_not_installed("ks")
  x <- ring()
  unit <- apply(x, 2, sd)
  # H of ks is that of scaled data, and its ridges are ridges if that is a multiple of the identity matrix.
  theirs <- ks::kdr(x, H = 0.06 * diag(2), y = x, segment = FALSE, min.seg.size = 0, density.cutoff = 0.01)
  ours <- kdr(x, H = 0.06 * diag(unit^2), y = x, segment = FALSE, min.seg.size = 0, density.cutoff = 0.01 / prod(unit))
  expect_equal(nrow(ours$end.points), nrow(theirs$end.points))
  gaps <- sqrt(rowSums((ours$end.points[, 1:2] - theirs$end.points[, 1:2])^2))
  expect_lt(median(gaps), 0.01)
})

test_that("in three dimensions units must leave digits to the eigenvectors", {
  x <- as.matrix(iris[, 1:3]) * rep(c(1, 1, 1e-50), each = 150)
  expect_snapshot(kdr(x, y = x[1:3, ], pre = FALSE), error = TRUE)
  expect_refused(kdr(iris[, 1:3], H = diag(c(1, 1, 1e-13)), y = iris[1:3, 1:3]))
  # In standard deviations the units are those of the data.
  H <- 0.1 * diag(3)
  unit <- diag(c(1, 1, 1e-50))
  expect_equal(as.matrix(kdr(x, H = unit %*% H %*% unit, y = x[1:3, ])$end.points[, 1:3]) %*% diag(c(1, 1, 1e50)),
               as.matrix(kdr(iris[, 1:3], H = H, y = iris[1:3, 1:3])$end.points[, 1:3]), tolerance = 1e-8,
               ignore_attr = TRUE)
})

test_that("methods, prints and refusals", {
  found <- kdr(faithful, H = diag(c(0.1, 20)), gridsize = c(21, 21))
  found$seconds <- 0
  expect_snapshot(print(found))
  expect_snapshot(summary(kdr.segment(found, k = 2)))
  expect_identical(as.data.frame(found), found$end.points)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(found))
  expect_invisible(plot(found, type = "l", add = TRUE))
  expect_invisible(plot(kdr(iris[, 1:3], H = 0.1 * diag(3), y = iris[1:9, 1:3])))
  expect_refused(kdr(faithful$eruptions))
  expect_refused(kdr(faithful, p = 2))
  expect_refused(kdr(faithful, H = diag(2), y = data.frame(eruptions = 1e9, waiting = 1)))
  expect_refused(kdr(faithful, fhat = kde(faithful$eruptions)))
  expect_refused(kdr(faithful, k = 0))
  expect_refused(kdr.segment(faithful))
  expect_warning(kdr(faithful, H = diag(c(0.1, 20)), gridsize = c(9, 9), max.iter = 1),
                 class = "kestrel_warning_search")
})
