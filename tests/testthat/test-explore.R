# explore(): what its page shows, beside kde() and lscv(), and what it refuses.

few <- faithful[seq(1, 272, by = 3), ]
line <- kde(few$eruptions, h = 0.3, gridsize = 21)

page_of <- function(seen) paste(readLines(seen$file), collapse = "\n")

# The places of the k-th drawing.
places_of <- function(html, k) {
  groups <- regmatches(html, gregexpr("<g data-label.*?</g>", html))[[1L]]
  path <- sub('.* d="M([^"]*)".*', "\\1", groups[k])
  matrix(as.numeric(strsplit(path, "[L ]")[[1L]]), 2L)
}

test_that("drawings are the estimates of kde(), and the curve is lscv()", {
  seen <- explore(line, factor = c(0.5, 1, 3))
  expect_equal(seen$table$h, c(0.15, 0.3, 0.9), tolerance = 1e-15)
  expect_equal(seen$table$lscv, lscv(few$eruptions, h = seen$table$h), tolerance = 1e-14)
  expect_identical(as.data.frame(seen), seen$table)
  estimates <- lapply(seen$table$h, function(h) kde(few$eruptions, h = h, eval.points = line$eval.points)$estimate)
  top <- max(unlist(estimates))
  for (k in 1:3) {
    at <- places_of(seen$html, k)
    expect_equal(at[1L, ], 62 + 406 * (0:20) / 20, tolerance = 1e-3)
    expect_lt(max(abs((294 - at[2L, ]) / 282 * top - estimates[[k]])), 0.051 / 282 * top)
  }
  expect_match(page_of(seen), seen$html, fixed = TRUE)
  # Bounds and weights stay; there is no curve with bounds.
  bounded <- kde(few$eruptions, h = 0.3, gridsize = 21, bounds = c(1.5, Inf), w = few$waiting)
  seen <- explore(bounded, factor = c(1, 2))
  wide <- kde(few$eruptions, h = 0.6, gridsize = 21, bounds = c(1.5, Inf), w = few$waiting, xmin = 1.5,
              xmax = max(bounded$eval.points))$estimate
  at <- places_of(seen$html, 2L)
  expect_equal((294 - at[2L, ]) / 282 * max(bounded$estimate, wide), wide, tolerance = 1e-3)
  expect_identical(seen$table$lscv, c(NA_real_, NA_real_))
  expect_no_match(seen$html, "LSCV")
})

test_that("regions of two variables have their levels", {
  fhat <- kde(few, H = diag(c(0.2, 20)), gridsize = 41)
  seen <- explore(fhat, factor = 2)
  expect_equal(seen$table$h, c(1, 2) * sqrt(2), tolerance = 1e-14)
  expect_equal(seen$table$lscv, c(lscv(few, H = fhat$H), lscv(few, H = 4 * fhat$H)), tolerance = 1e-13)
  wide <- kde(few, H = 4 * fhat$H, eval.points = expand.grid(fhat$eval.points))
  level <- contourLevels(kde(few, H = 4 * fhat$H, gridsize = 41), cont = 95, approx = FALSE)
  border <- places_of(sub("Z.*", "\"</g>", regmatches(seen$html, gregexpr("<g .*?</g>", seen$html))[[1L]][2L]), 1L)
  limits <- vapply(fhat$eval.points, range, c(0, 0))
  xy <- cbind(limits[1L, 1L] + (border[1L, ] - 62) / 406 * diff(limits[, 1L]),
              limits[1L, 2L] + (294 - border[2L, ]) / 282 * diff(limits[, 2L]))
  inside <- border[1L, ] > 63 & border[1L, ] < 467 & border[2L, ] > 13 & border[2L, ] < 293
  expect_lt(max(abs(predict(kde(few, H = 4 * fhat$H), xy)[inside] / level - 1)), 0.05)
})

test_that("names are text, and reports have the picture", {
  named <- kde(data.frame("a<b & c" = few$eruptions, check.names = FALSE), h = 0.3, gridsize = 5)
  seen <- explore(named, factor = 2)
  expect_match(seen$html, "a&lt;b &amp; c", fixed = TRUE)
  skip_if_not_installed("knitr")
  knitr::opts_knit$set(rmarkdown.pandoc.to = "html")
  on.exit(knitr::opts_knit$set(rmarkdown.pandoc.to = NULL))
  expect_match(knitr::knit_print(seen), seen$html, fixed = TRUE)
  expect_snapshot_output(cat(sub("<style>.*</style>", "<style>", seen$html)))
  lines <- capture.output(print(seen))
  expect_snapshot_output(cat(sub("file .*", "file", lines), sep = "\n"))
})

test_that("estimates that cannot be drawn are refused", {
  expect_refused(
    explore(faithful),
    explore(kde(few, eval.points = few)),
    explore(kde(iris[1:3], H = diag(3), gridsize = 5)),
    explore(marginal(kde(few, h = 1, gridsize = 50, kernel = "epanechnikov"), 1)),
    explore(kde(kde_sketch(few$eruptions, sketch_plan(few$eruptions)), h = 0.3)),
    explore(kde(5, h = 1)),
    explore(line, factor = 0),
    explore(line, factor = 1),
    explore(line, file = "no/such/folder.html"),
    explore(line, file = 1),
    explore(line, h = 2)
  )
})
