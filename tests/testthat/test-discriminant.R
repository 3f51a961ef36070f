# Kernel discriminant analysis against plain densities of the classes, and ks.

x <- as.matrix(iris[, 1:2])
group <- iris$Species
Hs <- Hkda(x, group)

# The prior times density of each class at points, `out`: rows to leave out of their class.
reference_classes <- function(points, x, group, H, prior, out = FALSE) {
  vapply(seq_len(nlevels(group)), function(k) {
    own <- which(as.integer(group) == k)
    prior[k] * vapply(seq_len(nrow(points)), function(i) {
      rows <- if (out) setdiff(own, i) else own
      mean(exp(-mahalanobis(x[rows, , drop = FALSE], points[i, ], H[[k]]) / 2)) / sqrt(det(2 * pi * H[[k]]))
    }, 0)
  }, numeric(nrow(points)))
}
split_Hs <- function(Hs) lapply(1:3, function(k) Hs[2 * k - 1:0, ])

test_that("densities and classes are those of plain sums, in the form of ks", {
  skip_if_not_installed("ks")
  ours <- kda(x, group, Hs = Hs, gridsize = c(11, 12))
  theirs <- ks::kda(x, group, Hs = Hs, gridsize = c(11, 12), binned = FALSE)
  expect_true(all(names(theirs) %in% names(ours)))
  # ks bins whatever `binned` is.
  values <- reference_classes(as.matrix(expand.grid(ours$eval.points)), x, group, split_Hs(Hs), rep(1, 3))
  expect_equal(vapply(ours$estimate, as.vector, numeric(132)), values, tolerance = 1e-12)
  expect_equal(ours$prior.prob, theirs$prior.prob)
  expect_equal(lapply(ours$x, unname), lapply(theirs$x, unname))
  prior <- c(0.2, 0.3, 0.5)
  values <- reference_classes(x, x, group, split_Hs(Hs), prior)
  fit <- kda(x, group, Hs = Hs, prior.prob = prior, kde.flag = FALSE)
  expect_identical(fit$x.group.estimate, factor(levels(group)[max.col(values, "first")], levels(group)))
  expect_identical(predict(fit, x = x), fit$x.group.estimate)
  at <- kda(x, group, Hs = Hs, prior.prob = prior, eval.points = x[1:9, ])
  expect_equal(do.call(cbind, at$estimate), sweep(values[1:9, ], 2, prior, "/"), tolerance = 1e-12)
  expect_identical(at$x.group.estimate, fit$x.group.estimate[1:9])
  line <- kda(x[, 1], group, hs = c(0.2, 0.3, 0.4), gridsize = 31)
  of_ks <- ks::kda(x[, 1], group, hs = c(0.2, 0.3, 0.4), gridsize = 31, binned = FALSE)
  expect_equal(line$eval.points, of_ks$eval.points, tolerance = 1e-12)
  expect_equal(line$estimate[[2]], kde(x[51:100, 1], h = 0.3, eval.points = line$eval.points)$estimate,
               tolerance = 1e-12)
  expect_identical(as.character(line$x.group.estimate), as.character(of_ks$x.group.estimate))
  expect_identical(line[c("h", "H")], list(h = c(0.2, 0.3, 0.4), H = c(0.2, 0.3, 0.4)^2))
})

test_that("bandwidths of classes are those of the selectors", {
  of_class <- function(k, select, ...) select(x[as.integer(group) == k, ], ...)
  expect_equal(Hs, do.call(rbind, lapply(1:3, function(k) unname(of_class(k, Hpi)))))
  expect_equal(Hkda.diag(x, group), do.call(rbind, lapply(1:3, function(k) unname(of_class(k, Hpi.diag)))))
  expect_equal(Hkda(x, group, bw = "scv", pilot = "dscalar")[3:4, ], unname(of_class(2, Hscv, pilot = "dscalar")))
  expect_equal(hkda(x[, 1], group)[3], hpi(x[101:150, 1]))
  expect_equal(kda(x, group, kde.flag = FALSE)$H, split_Hs(Hs))
  expect_equal(Hkda(x, group, Hstart = Hs), Hs, tolerance = 1e-4)
})

test_that("classes may be of any kind, and weights are copies", {
  numbered <- kda(x, as.integer(group), Hs = Hs, kde.flag = FALSE)
  expect_identical(as.integer(numbered$x.group.estimate), as.integer(kda(x, group, Hs = Hs)$x.group.estimate))
  heavy <- which(group == "virginica")[1:3]
  copies <- c(seq_len(150), rep(heavy, 2))
  weighted <- kda(x, group, Hs = Hs, w = replace(rep(1, 150), heavy, 3), eval.points = x)
  copied <- kda(x[copies, ], group[copies], Hs = Hs, eval.points = x)
  expect_equal(weighted$estimate, copied$estimate, tolerance = 1e-12)
  gone <- kda(rbind(x, NA), c(as.character(group), "setosa"), Hs = Hs, kde.flag = FALSE, na.action = na.omit)
  expect_identical(gone$x.group.estimate, kda(x, group, Hs = Hs, kde.flag = FALSE)$x.group.estimate)
})

test_that("far away logarithms decide", {
  fit <- kda(x, group, Hs = Hs, kde.flag = FALSE)
  far <- rbind(c(1e3, 2), c(-1e3, 4), c(5, 1e5))
  expect_identical(rowSums(reference_classes(far, x, group, split_Hs(Hs), rep(1, 3))), rep(0, 3))
  nearest <- apply(far, 1, function(point) {
    which.min(vapply(1:3, function(k) min(mahalanobis(x[as.integer(group) == k, ], point, split_Hs(Hs)[[k]])), 0))
  })
  expect_identical(as.integer(predict(fit, far)), nearest)
})

test_that("each observation is left out of its class", {
  found <- compare.kda.cv(x, group)
  prior <- rep(1 / 3, 3)
  assigned <- max.col(reference_classes(x, x, group, split_Hs(Hs), prior, out = TRUE), "first")
  expect_identical(found$error, mean(assigned != as.integer(group)))
  expect_equal(unname(found$cross[1:3, 1:3]), unclass(unname(table(as.integer(group), assigned))), ignore_attr = TRUE)
  # An observation far from all others has its density by logarithms.
  far <- rbind(x[1:60, ], c(50, 50))
  of_far <- c(as.character(group[1:60]), "setosa")
  H <- Hkda(far, of_far)
  expect_identical(compare.kda.cv(far, of_far)$cross["Total", "Total"], 61)
  diagonal <- compare.kda.diag.cv(x, group, by.group = TRUE)
  expect_identical(rownames(diagonal$error), c(paste(levels(group), "(true)"), "Total"))
  small <- c(1:12, 51:62, 101:112)
  again <- compare.kda.cv(x[small, ], group[small], recompute = TRUE)
  assigned <- vapply(seq_along(small), function(i) {
    values <- reference_classes(x[small[i], , drop = FALSE], x[small, ], group[small],
                                split_Hs(Hkda(x[small, ], group[small])), prior)
    own <- as.integer(group[small[i]])
    rest <- setdiff(small[group[small] == group[small[i]]], small[i])
    H <- Hpi(x[rest, ])
    values[own] <- prior[own] * mean(exp(-mahalanobis(x[rest, ], x[small[i], ], H) / 2)) / sqrt(det(2 * pi * H))
    which.max(values)
  }, 0L)
  expect_identical(again$error, mean(assigned != as.integer(group[small])))
  expect_length(compare.kda.cv(x[, 1], group)$error, 1)
})

test_that("errors are those of ks", {
  skip_if_not_installed("ks")
  estimated <- kda(x, group, Hs = Hs)$x.group.estimate
  for (by in c(FALSE, TRUE)) {
    theirs <- ks::compare(as.integer(group), as.integer(estimated), by.group = by)
    ours <- compare(as.integer(group), as.integer(estimated), by.group = by)
    expect_equal(unname(as.matrix(ours$cross)), unname(as.matrix(theirs$cross)))
    expect_equal(unlist(ours$error, use.names = FALSE), unlist(theirs$error, use.names = FALSE))
  }
  expect_equal(compare(group, estimated)$error, mean(group != estimated))
})

test_that("prints are short, and both dimensions are drawn", {
  fit <- kda(x, group, Hs = Hs, gridsize = 21)
  line <- kda(x[, 1], group, hs = c(0.2, 0.3, 0.4), gridsize = 31)
  expect_snapshot_output({
    shown(fit)
    shown(line)
    print(summary(fit))
  })
  expect_gt(drawn(plot(fit)), 0)
  expect_gt(drawn(plot(line, col = 2:4, drawpoints = FALSE)), 0)
  levels <- contourLevels(fit, cont = c(25, 50))
  expect_length(levels, 3)
  expect_equal(levels[[2]], contourLevels(kde(x[51:100, ], H = Hs[3:4, ], xmin = sapply(fit$eval.points, min),
                                             xmax = sapply(fit$eval.points, max), gridsize = 21), cont = c(25, 50)),
               tolerance = 1e-10)
})

test_that("mistakes are refused", {
  fit <- kda(x, group, Hs = Hs, kde.flag = FALSE)
  expect_refused(
    kda(x, rep(1, 150)), kda(x, group[1:3]), kda(x, replace(group, 2, NA)), kda(x[1:53, ], group[1:53]),
    kda(x, group, Hs = diag(2)), kda(x, group, Hs = -Hs), kda(x, group, hs = 1:3), kda(x[, 1], group, hs = 1:2),
    kda(x, group, prior.prob = c(0.5, 0.5)), kda(x, group, prior.prob = c(0.5, 0.6, -0.1)),
    kda(x, group, Hs = Hs, hs = 1),
    kda(x, group, w = rep(1:0, c(50, 100))), kda(x, group, kde.flag = NA), kda(x, group, eval.points = 1:3),
    kda(x, list(1)), kda(x, group, prior = 1), predict(fit, 1:3), predict(fit), plot(fit), contourLevels(fit, cont = 5),
    Hkda(x, group, bw = "ns"), Hkda(x, group, Hstart = diag(2)), hkda(x, group), compare(group, group[-1]),
    compare(group, rep("x", 150)), compare(group, replace(group, 1, NA)), compare(group, group, by.group = 2),
    compare.kda.cv(x, group, recompute = 1), compare.kda.cv(x, rep(1, 150)), compare.kda.diag.cv(x, group, bw = 1)
  )
})
