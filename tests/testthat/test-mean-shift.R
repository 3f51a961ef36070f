# Clusters by mean shift: modes, labels and what users see.

three_clusters <- function() {
  set.seed(8192)
  rbind(matrix(rnorm(240), ncol = 2), matrix(rnorm(160, 6), ncol = 2), cbind(rnorm(8, -6, 0.3), rnorm(8, 6, 0.3)))
}

test_that("points end at modes, where the gradient is zero and the curvature is negative", {
  set.seed(1)
  samples <- list(plane = three_clusters(), line = matrix(c(rnorm(40), rnorm(30, 6))), space = matrix(rnorm(180), 60),
                  far = three_clusters() + 1e6, ties = round(three_clusters()))
  for (x in samples) {
    d <- ncol(x)
    H <- diag(0.5, d) + 0.1
    found <- kms(x, H = H, merge = FALSE)
    slope <- kdde(x, H = H, deriv.order = 1, eval.points = found$mode)$estimate
    height <- kde(x, H = H, eval.points = found$mode)$estimate
    expect_lt(max(abs(slope) / height), 1e-6)
    second <- kdde(x, H = H, deriv.order = 2, eval.points = found$mode)
    expect_true(all(kcurv(second)$estimate > 0))
    # No step goes downhill.
    expect_true(all(kde(x, H = H, eval.points = found$end.points)$estimate >=
                      kde(x, H = H, eval.points = x)$estimate * (1 - 1e-9)))
    expect_identical(sum(found$nclust.table), nrow(x))
  }
})

test_that("labels are those of ks where its points have converged", {
  skip_if_not_installed("ks")
  x <- three_clusters()
  for (H in list(diag(1.5, 2), matrix(c(1.2, 0.4, 0.4, 1), 2))) {
    theirs <- ks::kms(x, H = H)
    ours <- kms(x, H = H)
    expect_identical(ours$nclust, theirs$nclust)
    expect_identical(length(unique(paste(ours$label, theirs$label))), ours$nclust)
    expect_equal(ours$tol.clust, theirs$tol.clust)
    expect_equal(ours$min.clust.size, theirs$min.clust.size)
  }
})

test_that("many points end where few of them do, which are moved by direct sums", {
  set.seed(4)
  for (d in 1:3) {
    n <- if (d == 3) 2100 else 1200
    x <- matrix(c(rnorm(n / 2 * d), rnorm(n / 2 * d, 5)), ncol = d, byrow = TRUE)
    # Around light observations grids have no digits.
    w <- rep(c(1, 1e-10), c(n - 2, 2))
    rows <- c(1:20, n - 1, n)
    all <- kms(x, H = diag(0.3, d), w = w, merge = FALSE)
    some <- kms(x, y = x[rows, , drop = FALSE], H = diag(0.3, d), w = w, merge = FALSE)
    expect_equal(all$end.points[rows, ], some$end.points[, ], tolerance = 1e-6)
    expect_identical(all$steps[1:20], some$steps[1:20])
  }
})

test_that("small clusters join the nearest, and labels go by size", {
  x <- three_clusters()
  H <- diag(0.8, 2)
  kept <- kms(x, H = H, min.clust.size = 0)
  expect_identical(as.vector(kept$nclust.table), sort(tabulate(kept$label), decreasing = TRUE))
  expect_identical(as.vector(kept$nclust.table), c(120L, 80L, 8L))
  joined <- kms(x, H = H, min.clust.size = 9)
  expect_identical(as.vector(joined$nclust.table), c(128L, 80L))
  expect_identical(joined$mode, kept$mode[1:2, ])
  expect_identical(kms(x, H = H, min.clust.size = 9, merge = FALSE)$nclust, 3L)
  # A sample that is one point, and points of one cluster.
  expect_identical(kms(x, y = x[c(1, 2), ], H = H)$label, c(1L, 1L))
  expect_identical(kms(cbind(c(1, 1), c(2, 2)), H = diag(2), tol.clust = 0.1)$nclust, 1L)
})

test_that("paths lead from the points to their ends, and rows, weights and threads do not matter", {
  x <- three_clusters()
  H <- diag(0.8, 2)
  found <- kms(x, H = H, keep.path = TRUE, threads = 1)
  expect_equal(unname(t(vapply(found$path, function(p) p[1, ], c(0, 0)))), x)
  expect_equal(t(vapply(found$path, function(p) p[nrow(p), ], c(0, 0))), found$end.points)
  expect_identical(vapply(found$path, nrow, 0L) - 1L, found$steps)
  expect_identical(kms(x, H = H, threads = 3)$end.points, found$end.points)
  set.seed(2)
  shuffled <- sample(nrow(x))
  expect_equal(kms(x[shuffled, ], H = H)$end.points, found$end.points[shuffled, ], tolerance = 1e-6)
  copied <- kms(x, H = H, w = rep(1:2, 104))
  expect_equal(copied$end.points, kms(x[rep(seq_len(208), rep(1:2, 104)), ], y = x, H = H)$end.points,
               tolerance = 1e-6)
})

test_that("prints and refusals", {
  found <- kms(faithful, H = diag(c(0.1, 20)))
  found$seconds <- 0
  expect_snapshot(print(found))
  expect_snapshot(summary(kms(faithful$eruptions, H = 0.1)))
  expect_refused(kms(faithful, H = diag(2), y = data.frame(eruptions = 1e9, waiting = 1)))
  expect_refused(kms(faithful, H = diag(2), tol.iter = 0))
  expect_refused(kms(faithful, H = diag(2), max.iter = 0))
  expect_refused(kms(faithful, H = diag(2), y = faithful[0, ]))
  expect_refused(kms(faithful, H = diag(2), gridsize = 3))
  expect_warning(kms(faithful, H = diag(c(0.1, 20)), max.iter = 1), class = "kestrel_warning_search")
})

test_that("points are linked as single linkage links them, at any scale", {
  set.seed(3)
  for (d in 1:3) for (tolerance in c(0.05, 0.3, 0.8)) for (scale in c(1, 1e-200, 1e200)) {
    points <- matrix(rnorm(100 * d), ncol = d)
    wanted <- cutree(hclust(dist(points), "single"), h = tolerance)
    found <- linked_labels(scale * points, scale * tolerance)
    expect_identical(length(unique(found)), length(unique(wanted)))
    expect_identical(length(unique(paste(found, wanted))), length(unique(wanted)))
  }
  expect_identical(linked_labels(matrix(3, 2, 2), 1), c(1L, 1L))
})
