# Densities by the engine "fourier" against the oracle, and kde() through it.

space_shapes <- function() Filter(function(s) ncol(s$x) %in% 2:3, all_shapes())

# The sums at the points of a shape or on a grid of axes; NULL if they are refused for their memory.
fourier_sums <- function(s, axes = list(), threads = 1L, isa = "auto", tol = 1e-12) {
  where <- list(eval.points = s$points)
  if (length(axes) > 0L) {
    where <- list(gridsize = lengths(axes), xmin = vapply(axes, min, 0), xmax = vapply(axes, max, 0),
                  compute.cont = FALSE)
  }
  what <- list(s$x, H = s$H, w = s$w, engine = "fourier", threads = threads, tol = tol)
  tryCatch(sum(s$w) * as.vector(with_isa(isa, do.call(kde, c(what, where)))$estimate),
           kestrel_error_memory = function(e) NULL)
}

# A few points on each axis, from some bandwidths before the samples to some after them.
axes_for <- function(s, beyond = 5) {
  size <- c(17, 8)[ncol(s$x) - 1]
  lapply(seq_len(ncol(s$x)), function(k) {
    ends <- range(s$x[, k]) + c(-1, 1) * beyond * sqrt(s$H[k, k])
    seq(ends[1], ends[2], length.out = size)
  })
}

negative_problem <- function(sums, info) if (!all(sums >= 0)) paste0(info, ": a value is negative.")

problems_of <- function(s, axes, isas = instruction_sets()) {
  points <- if (length(axes)) as.matrix(expand.grid(axes)) else s$points
  reference <- reference_sums(points, s$x, s$w, s$H)
  # the error is relative to the largest value anywhere, which is near that at some sample
  largest <- max(reference, reference_sums(s$x, s$x, s$w, s$H))
  lapply(isas, function(isa) {
    info <- paste(s$name, isa, if (length(axes)) "grid" else "points")
    one <- fourier_sums(s, axes, isa = isa)
    if (is.null(one)) return(NULL)
    c(reference_problem(one, reference, scale = largest, info = info), negative_problem(one, info),
      bits_problem(fourier_sums(s, axes, 2L, isa), one, info), bits_problem(fourier_sums(s, axes, 3L, isa), one, info))
  })
}

more_shapes <- function() {
  with_seed(68, {
    x <- matrix(rnorm(90), 45)
    space <- matrix(rnorm(120), 40)
    turn <- matrix(c(cos(0.7), sin(0.7), -sin(0.7), cos(0.7)), 2)
    list(
      shape("one sample", matrix(c(3, -2), 1), matrix(c(0.4, 0.1, 0.1, 0.3), 2), points = x[1:20, ] + 2),
      shape("one sample in space", matrix(1:3, 1), diag(3), points = space + 1),
      shape("two samples", rbind(c(0, 0), c(1, 30)), diag(2), points = rbind(c(0, 0), c(1, 30), c(0.5, 15))),
      shape("one point", x, 0.2 * diag(2), points = matrix(0.3, 1, 2)),
      shape("small H", x, 0.01^2 * diag(2)),
      shape("huge H", x, 1e9^2 * diag(2)),
      shape("huge H in space", space, 1e9^2 * diag(3)),
      shape("turned and flat H", x, turn %*% diag(c(1, 0.01)) %*% t(turn)),
      shape("all points far away", x, 0.1^2 * diag(2), points = x / 10 + 9),
      shape("some points very far away", x, 0.3^2 * diag(2), points = rbind(x, c(1e8, 0), c(-40, 3))),
      shape("zero weights in space", space, 0.3 * diag(3), w = rep(0:1, 20)),
      shape("weights of 12 magnitudes in the plane", x, 0.4^2 * diag(2), w = 10^runif(45, -6, 6)),
      shape("units of 1e-70", 1e-70 * space, (0.5e-70)^2 * diag(3)),
      shape("units of 1e100 in the plane", 1e100 * x, (0.5e100)^2 * (diag(2) + 0.3)),
      shape("clusters in the plane", rbind(x, 1e-3 * x + 40), 0.2^2 * diag(2))
    )
  })
}

test_that("sums are within 1e-12 of the largest value on every shape, ISA and number of threads", {
  for (s in c(space_shapes(), more_shapes())) for (axes in list(list(), axes_for(s))) {
    expect_no_problem(problems_of(s, axes))
  }
})

test_that("tasks that need more than 1 GB are refused with their size, and no others are", {
  refused <- Filter(function(s) is.null(fourier_sums(s)), c(space_shapes(), more_shapes()))
  expect_setequal(shape_names(refused), c("outlier in the plane"))
})

test_that("a grid that misses the data has the digits of its own values, and is zero far away", {
  x <- with_seed(70, matrix(rnorm(200), 100))
  near <- list(seq(6, 8, length.out = 9), seq(-1, 1, length.out = 9))
  s <- shape("", x, 0.3^2 * diag(2))
  reference <- reference_sums(as.matrix(expand.grid(near)), x, s$w, s$H)
  expect_lt(max(reference), 1e-13 * max(reference_sums(x, x, s$w, s$H)))
  expect_close_to_reference(fourier_sums(s, near), reference)
  expect_true(all(fourier_sums(s, near)[reference > 1e-290] > 0))
  expect_warning(far <- fourier_sums(s, list(c(1e5, 1e6), 0:2)), class = "kestrel_warning_grid")
  expect_identical(far, numeric(6))
})

test_that("far values on a grid keep two digits", {
  for (s in with_seed(71, list(normal_shape(300, 1, 2), normal_shape(200, 1, 3)))) {
    axes <- axes_for(s, 14)
    reference <- reference_sums(as.matrix(expand.grid(axes)), s$x, s$w, s$H)
    sums <- fourier_sums(s, axes)
    small <- reference < 5e-11 * max(reference) & reference > 1e-290
    expect_gt(sum(small), 10)
    expect_lt(max(abs(sums / reference - 1)[small]), 0.01)
  }
})

test_that("a looser tolerance is kept to", {
  s <- with_seed(72, normal_shape(400, 200, 2, h = 0.2))
  reference <- reference_sums(s$points, s$x, s$w, s$H)
  for (tol in c(1e-2, 1e-6, 1e-9, 1e-13)) {
    sums <- fourier_sums(s, tol = tol)
    expect_close_to_reference(sums, reference, tol = tol)
    expect_true(all(sums >= 0))
  }
})

test_that("kde() takes the engine where it is asked for or pays, records it, and agrees with direct sums", {
  x <- with_seed(73, matrix(rnorm(9000), ncol = 3) %*% chol(0.6 * diag(3) + 0.4))
  w <- with_seed(74, runif(3000))
  for (d in 2:3) for (type in c("radial", "product")) {
    H <- if (type == "product") diag(c(0.2, 0.3, 0.1)[1:d]) else 0.2 * var(x[, 1:d])
    fit <- function(engine, ...) kde(x[, 1:d], H = H, w = w, kernel_type = type, engine = engine, gridsize = 20, ...)
    fourier <- fit("fourier")
    direct <- fit("direct")
    expect_identical(c(fourier$engine, direct$engine), c("fourier", "direct"))
    expect_close_to_reference(fourier$estimate, direct$estimate, tol = 2e-12)
    expect_equal(fourier$cont, direct$cont, tolerance = 1e-11)
    expect_true(all(fourier$estimate >= 0))
    points <- x[1:100, 1:d]
    expect_close_to_reference(predict(fourier, x = points), predict(direct, x = points), tol = 2e-12)
    expect_close_to_reference(dkde(points, fourier), dkde(points, direct), tol = 2e-12)
    at <- function(threads) fit("fourier", threads = threads, compute.cont = FALSE)$estimate
    for (threads in 2:3) expect_same_bits(at(threads), at(1))
  }
  expect_identical(kde(x, H = 0.1 * diag(3), compute.cont = FALSE)$engine, "fourier")
  expect_identical(kde(x[, 1:2], H = 0.1 * diag(2))$engine, "fourier")
  expect_identical(kde(x[1:20, 1:2], H = 0.1 * diag(2), eval.points = x[1:20, 1:2])$engine, "direct")
  positive <- function(engine) kde(exp(x[, 1:2]), H = 0.1 * diag(2), positive = TRUE, engine = engine)$estimate
  expect_close_to_reference(positive("fourier"), positive("direct"), tol = 2e-12)
  expect_message(kde(x, H = 0.1 * diag(3), compute.cont = FALSE, verbose = TRUE), "engine fourier [(]sums by Fourier")
})

test_that("a plan that would need more than 1 GB goes to direct sums, and is refused where it is asked for", {
  x <- with_seed(75, matrix(rnorm(4000), ncol = 2))
  small <- function(engine) kde(x, h = 1e-4, eval.points = x[1:50, ], engine = engine)
  expect_identical(small("auto")$engine, "direct")
  condition <- expect_error(small("fourier"), class = "kestrel_error_memory")
  expect_s3_class(condition, c("kestrel_error_memory", "kestrel_error", "error", "condition"), exact = TRUE)
  expect_snapshot_output(cat(sub("[0-9.e+]+ GB", "<size> GB", conditionMessage(condition))))
})

test_that("data that span very many bandwidths give a warning with the error, and are refused if no digits are left", {
  x <- with_seed(76, matrix(rnorm(400), 200))
  far <- function(at, engine) {
    x[1, ] <- at
    kde(x, H = diag(2), eval.points = x[2:9, ], engine = engine)
  }
  condition <- expect_warning(fhat <- far(1e9, "fourier"), class = "kestrel_warning_rounding")
  expect_snapshot_output(say(condition))
  expect_gt(fhat$tol, 1e-8)
  expect_close_to_reference(fhat$estimate, far(1e9, "direct")$estimate, tol = fhat$tol)
  expect_refused(far(1e15, "fourier"), far(1e18, "fourier"))
  expect_no_warning(expect_identical(far(1e18, "auto")$engine, "direct"))
  wild <- with_seed(77, matrix(10^rnorm(1000, 0, 5), 500))
  expect_refused(kde(wild, H = diag(c(7.6, 1.7)), xmin = c(0, 0), xmax = c(5, 5), engine = "fourier"))
})

test_that("the engine is not chosen where coordinates overflow or round to more than the error allowed", {
  x <- with_seed(31, matrix(rnorm(2000), 1000))
  at <- x[rep(3:1000, 30), ]
  wide <- x
  wide[1:2, 1] <- c(-1.7e308, 1.7e308)
  fhat <- kde(wide, H = diag(2), eval.points = at)
  expect_identical(fhat$engine, "direct")
  expect_identical(fhat$estimate, kde(wide, H = diag(2), eval.points = at, engine = "direct")$estimate)
  expect_error(kde(wide, H = diag(2), eval.points = at, engine = "fourier"), class = "kestrel_error_memory")
  # An infinite range along one axis, and no point within reach along the other.
  far <- cbind(c(-1e300, 1e300, x[-(1:2), 1]), x[, 2])
  expect_error(kde(far, H = diag(c(1e-20, 1)), eval.points = cbind(c(-1e300, 1e300, 0), 20), engine = "fourier"),
               class = "kestrel_error_memory")
  thin <- with_seed(32, cbind(rnorm(1e5, sd = 10), runif(1e5)))
  H <- diag(c(100, 1e-10))
  expect_identical(kde(thin, H = H, eval.points = thin[1:20000, ], tol = 1e-9)$engine, "fourier")
  fhat <- kde(thin[1:5000, ], H = H, eval.points = thin[1:5000, ])
  expect_identical(fhat$engine, "direct")
})

test_that("a matrix H that is nearly singular does without axes along the data", {
  # Found at random: the inverse by cofactors has a negative diagonal.
  H <- matrix(c(0.27441346476139145, 121.19528959335965, 0.0021910193910587576,
                121.19528959335965, 83090.463403328933, -6.021284702037577,
                0.0021910193910587576, -6.021284702037577, 0.0016696708508031153), 3)
  x <- with_seed(33, matrix(rnorm(60), 20))
  on_grid <- function(...) kde(x, H = H, gridsize = 3, xmin = rep(-1, 3), xmax = rep(1, 3), compute.cont = FALSE, ...)
  expect_warning(expect_warning(fhat <- on_grid(), class = "kestrel_warning_grid"), class = "kestrel_warning_rounding")
  expect_identical(fhat$estimate, suppressWarnings(on_grid(engine = "direct"))$estimate)
})

test_that("the engine asked for is that of the density and not of its bandwidth", {
  x <- with_seed(34, matrix(rnorm(400), 100))
  for (engine in c("fourier", "fgt", "sweep")) {
    expect_error(kde(x, engine = engine), class = "kestrel_error_input")
  }
  y <- x[, 1:2]
  expect_identical(kde(y, engine = "direct", eval.points = y)$H, kde(y, eval.points = y)$H)
})

# Found by random calls, with data a thousand million bandwidths from their middle: the corners of a grid and points on
# its rim are rounded differently. A point on the rim was taken to be out of reach.
test_that("points on the rim of a grid far from the middle of the data count", {
  near <- -0x1.674ff8f9a3d3cp+70 + 2^18 * c(4, 0, -3, 6, 0, 0, -5, 1, -6, -4, 6, -2, -6, -5, -3, 3, 2, 8, -6)
  wide <- c(0x1.4eb1733ff070ap+139, 0x1.9cbe9a152f703p+93, 0x1.8a92884a164a6p+113, 0x1.47238b6facc5ap+73,
            0x1.aa03a8603c563p+127, 0x1.93538bcf122c5p+119, 0x1.0f5c8977435acp+95, 0x1.fe2e7aac05c8bp+105,
            0x1.365a47df9d9f5p+103, 0x1.20df7de3590efp+108, 0x1.33efceb8e8d67p+86, 0x1.cf1208e366232p+77,
            0x1.c8d63ddd2a7c4p+84, 0x1.439558dcd3a82p+95, 0x1.116f76612616dp+109, 0x1.2be49d5c2cdb2p+89,
            0x1.5efe9e1153945p+89, 0x1.6b5baf7b92597p+90, 0x1.1db5b9f17241cp+87)
  fine <- rep(0x1.7a7b1e8f93d31p-49, 19)
  fine[c(1, 7:9, 11:19)] <-
    c(0x1.7a7b1e90cea36p-49, 0x1.7a7b20a34c2d9p-49, 0x1.7a7b1e8f93d34p-49, 0x1.7a7b1e8f93f95p-49,
      0x1.7a7b32a8634b1p-49, 0x1.7a7b1e8f93d32p-49, 0x1.7a7b832c71d8fp-49, 0x1.7a7b1e8f940d1p-49,
      0x1.7a7b1e8fb1f5cp-49, 0x1.7a7b23a47ee83p-49, 0x1.7a7ba2f966f53p-49, 0x1.7a7b28e8894d8p-49,
      0x1.7a7b1e8f93daap-49)
  H <- matrix(c(0x1.8f5ee9015cb19p+37, -0x1.57167830ddb4p+135, -0x1.1dbcd2d460d3cp-82, -0x1.57167830ddb4p+135,
                0x1.84012ee4308c8p+238, 0x1.43256cbb28fa6p+21, -0x1.1dbcd2d460d3cp-82, 0x1.43256cbb28fa6p+21,
                0x1.0036bf705c325p-194), 3)
  f <- function(engine) {
    suppressWarnings(kde(cbind(near, wide, fine), H = H, engine = engine, compute.cont = FALSE, gridsize = c(7, 10, 8),
                         xmin = c(-0x1.674ff8f9a3d48p+70, -0x1.67cd918fb54dp+116, 0x1.7a7b1e8f93ce3p-49),
                         xmax = c(-0x1.674ff8f9a3d3ep+70, 0x1.c1ba634762668p+116, 0x1.7a7b1e8f93d79p-49)),
                     classes = "kestrel_warning_rounding")
  }
  fhat <- f("fourier")
  exact <- f("direct")$estimate
  expect_lt(max(abs(fhat$estimate - exact)), fhat$tol * max(exact))
})
