# Random calls whose values the oracle knows: engines by name, windows, steps, units and offsets over 40 decades, strong
# correlations. Each entry of value_calls makes the arguments of one call; the entry of `worst_error` with the same name
# gives the error of its value in units of the error that the help promises.

# A bandwidth in units of the typical distance, mostly one that a user would choose.
bandwidth_share <- function() 10^pick(list(stats::runif(1L, -2, 1), stats::runif(1L, -20, 6)), c(4, 1))

# The largest coordinate of a sample, in bandwidths and in numbers: kde() refuses larger ones.
largest_coordinate <- c(1e299, 1e305)

# A little less than 1, with either sign.
correlation <- function() {
  if (chance(0.4)) return(0)
  pick(c(-1, 1)) * pick(list(stats::runif(1L), 1 - 10^stats::runif(1L, -12, -1)))
}

# A matrix with bandwidths h and correlations between neighbouring axes.
correlated_matrix <- function(h, product) {
  d <- length(h)
  R <- diag(d)
  if (d > 1L && !product && chance(0.6)) {
    mixing <- diag(d)
    for (k in seq_len(d - 1L)) {
      rho <- correlation()
      mixing[k + 1L, ] <- rho * mixing[k, ] + sqrt(1 - rho^2) * mixing[k + 1L, ]
    }
    R <- mixing %*% t(mixing)
    R <- R / sqrt(outer(diag(R), diag(R)))
    diag(R) <- 1
  }
  H <- R * outer(h, h)
  (H + t(H)) / 2
}

# Positions of all magnitudes up to `largest`, of which some are ties and some are neighbours.
extreme_positions <- function(n, h, largest) {
  far <- pick(c(-1, 1)) * 10^stats::runif(n, pick(c(-2, 3, 15)), pick(c(20, 160, 400)))
  far[stats::runif(n) < pick(c(0.2, 0.8))] <- 0
  ties <- stats::runif(n) < 0.4
  far[ties] <- far[sample.int(n, sum(ties), replace = TRUE)]
  pmax(pmin(h * (far + stats::rnorm(n)), largest), -largest)
}

# One axis: bandwidth, a window on or beside the data, and the sample. Positions are whole steps of the grid or
# arbitrary, sometimes with far outliers.
value_axis <- function(n, wide) {
  unit <- 10^pick(list(0, stats::runif(1L, -40, 40)), c(1, 2))
  offset <- pick(list(0, pick(c(-1, 1)) * 10^stats::runif(1L, 0, 16)), c(2, 1))
  h <- bandwidth_share()
  size <- if (wide) pick(2:60) else pick(2:12)
  step <- h * 10^stats::runif(1L, -1.5, pick(c(0.5, 12), c(3, 1)))
  from <- stats::rnorm(1L)
  z <- switch(pick(c("cloud", "nodes", "heavy", "outlier", "extreme"), c(4, 3, 1, 1, 1)),
    cloud = stats::rnorm(n),
    nodes = from + step * sample.int(size, n, replace = TRUE) + h * stats::runif(n, -1.5, 1.5),
    heavy = 10^stats::rnorm(n, 0, 5),
    outlier = c(10^stats::runif(1L, 1, 20), stats::rnorm(n - 1L)),
    extreme = extreme_positions(n, h, min(largest_coordinate[1L] * h, largest_coordinate[2L] / unit))
  )
  if (chance(0.3)) from <- z[sample.int(n, 1L)] + h * stats::rnorm(1L, 0, 2)
  if (chance(0.3)) from <- from - step * sample.int(size, 1L)
  list(x = (offset + z) * unit, h = h * unit, from = (offset + from) * unit, step = step * unit, size = size)
}

value_task <- function(d = pick(1:4, c(5, 4, 2, 1)), kernel = pick(kernels), product = chance(0.3)) {
  n <- pick(c(1, 2, 5, 20, 60, 300, 2000), c(10, 10, 30, 50, 50, 10, 1))
  axes <- lapply(seq_len(d), function(k) value_axis(n, d <= 2L))
  of <- function(name) vapply(axes, `[[`, 0, name)
  x <- matrix(vapply(axes, `[[`, numeric(n), "x"), n)
  task <- list(x = if (d == 1L && chance(0.5)) as.vector(x) else x, H = correlated_matrix(of("h"), product))
  if (chance(0.3)) task$w <- weights_for(n)
  if (!is.null(task$w) && all(task$w == 0)) task$w <- NULL
  list(given = c(task, list(kernel = kernel), if (product) list(kernel_type = "product")), axes = axes,
       window = list(from = of("from"), step = of("step"), size = of("size")))
}

window_arguments <- function(window) {
  to <- window$from + window$step * (window$size - 1)
  limits <- list(xmin = window$from, xmax = to)
  if (chance(0.3)) c(limits, list(step = window$step)) else c(limits, list(gridsize = window$size))
}

# Points near the samples, some on them.
value_points <- function(task, m = pick(c(1, 7, 40))) {
  x <- as.matrix(task$given$x)
  at <- x[sample.int(nrow(x), m, replace = TRUE), , drop = FALSE]
  root <- chol(task$given$H)
  at + matrix(stats::rnorm(m * ncol(x), sd = pick(c(0, 0.3, 2))), m) %*% root
}

# An engine by name, and a task that it takes: list(engine, task, gridded).
engine_task <- function(engine = pick(engines), gridded = chance(0.5)) {
  task <- switch(engine,
    sweep = value_task(1L, pick(setdiff(kernels, c("gaussian", "cosine")))),
    fgt = value_task(1L, "gaussian"),
    fourier = value_task(pick(2:3), "gaussian"),
    kdtree = ,
    scanline = value_task(pick(1:4, c(5, 4, 2, 1)), pick(setdiff(kernels, "gaussian"))),
    value_task()
  )
  list(engine = engine, task = task, gridded = gridded || engine == "scanline")
}

density_arguments <- function(by) {
  where <- if (by$gridded) window_arguments(by$task$window) else list(eval.points = value_points(by$task))
  c(by$task$given, where, list(engine = by$engine))
}

# The estimate of kde_stream() on its whole grid.
streamed <- function(...) {
  parts <- list()
  stream <- kestrel::kde_stream(..., to = function(slab) parts[[length(parts) + 1L]] <<- as.vector(slab$estimate))
  list(eval.points = stream$axes, estimate = unlist(parts), largest = stream$largest, tol = stream$tol)
}

# A column of package bit64's type (the package need not be installed): its bits are those of whole numbers.
whole_bits <- function(numbers) structure(numbers * 2^-1074, class = "integer64")

value_calls <- list(
  kde = function() {
    c(density_arguments(engine_task()), list(compute.cont = FALSE),
      some_of(list(tol = 10^stats::runif(1L, -12, -2)), 0.1))
  },
  streamed = function() c(density_arguments(engine_task(gridded = TRUE)), some_of(list(slab = pick(1:7)), 0.5)),
  dkde = function() {
    task <- value_task()
    list(x = value_points(task), fhat = as.call(c(quote(kde), task$given, list(eval.points = value_points(task, 1)))))
  },
  marginal = function() {
    task <- value_task(pick(2:3), "gaussian")
    d <- length(task$axes)
    list(fhat = as.call(c(quote(kde), task$given, list(eval.points = value_points(task)))),
         dims = sample.int(d, sample.int(d, 1L)))
  },
  pkde = function() {
    task <- value_task(d = 1L)
    list(q = as.vector(value_points(task)),
         fhat = as.call(c(quote(kde), task$given, list(eval.points = value_points(task, 1)))))
  },
  kcde = function() {
    task <- value_task(pick(1:3), product = TRUE)
    gridded <- chance(0.5)
    where <- if (gridded) window_arguments(replace(task$window, "size", list(pmin(task$window$size, 9)))) else
      list(eval.points = value_points(task))
    c(task$given, where[setdiff(names(where), "step")], if (gridded && is.null(where$gridsize)) list(gridsize = 3),
      list(tail.flag = pick(c("lower.tail", "upper.tail"))))
  },
  kdde = function() {
    task <- value_task(pick(1:3), "gaussian")
    c(task$given[setdiff(names(task$given), c("kernel", "kernel_type"))],
      list(eval.points = value_points(task), deriv.order = pick(1:2)))
  },
  kde_query = function() {
    task <- value_task(product = TRUE)
    lower <- value_points(task)
    upper <- lower + rep(sqrt(diag(task$given$H)), each = nrow(lower)) * stats::rexp(length(lower), 0.3)
    list(fhat = as.call(c(quote(kde), task$given, list(eval.points = value_points(task, 1)))), lower = lower,
         upper = upper)
  },
  psi = function() {
    task <- value_task(d = 1L)
    c(task$given[intersect(names(task$given), c("x", "w"))],
      list(g = sqrt(task$given$H[1L, 1L]) * pick(c(0.01, 0.3, 1, 5)), r = pick(seq(0, 10, by = 2))))
  },
  lscv = function() {
    task <- value_task(pick(1:3), kernel = "gaussian", product = FALSE)
    sample <- task$given[intersect(names(task$given), c("x", "w"))]
    h <- sqrt(task$given$H[1L, 1L])
    c(sample, if (chance(0.5)) list(H = task$given$H) else list(h = h * c(1, some_of(10^c(-1, 2, 60, -100), 0.4))))
  },
  npreg = function() {
    task <- value_task(d = 1L, kernel = pick(setdiff(kernels, "cosine")))
    x <- as.vector(task$given$x)
    points <- as.vector(value_points(task))
    y <- stats::rnorm(length(x)) * 10^stats::runif(1L, -20, 20)
    list(bws = sqrt(task$given$H[1L, 1L]), txdat = x, tydat = y, exdat = points, ckertype = task$given$kernel,
         bw.scale = "support")
  },
  whole = function() list(x = sample.int(30L, 20L, replace = TRUE), H = 4, eval.points = 1:9)
)

# kde() of whole numbers in a class for such numbers: must give these numbers' estimate, or refuse them.
whole <- function(x, ...) {
  fhat <- tryCatch(kestrel::kde(whole_bits(x), ...), kestrel_error_input = function(e) NULL)
  if (is.null(fhat)) NULL else list(estimate = fhat$estimate, eval.points = fhat$eval.points)
}
