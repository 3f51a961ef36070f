# Plain-R oracle of kernel regression with one regressor: point by point; an observation is left out by weight zero.
# Sums go through sum(), which accumulates in long double.

regression_kernels <- kestrel:::regression_kernels()

# Whether an observation at the distance abs(u), as rounded, counts at the bandwidth h.
reference_neighbour <- function(u, h, kernel) {
  switch(kernel, gaussian = abs(u) < 38 * h, uniform = abs(u) <= h, abs(u) < h)
}

# a - b with twice the digits: a rounded difference and its rounding error (Knuth 1997, section 4.2.2).
exact_difference <- function(a, b) {
  rounded <- a - b
  part <- rounded - a
  list(rounded = rounded, lost = (a - (rounded - part)) - (b + part))
}

# The kernel from the distance to the edge of its support, t = 1 - abs(u)/h, which loses no digits there; the Gaussian
# kernel relative to its largest term, so that it does not underflow.
reference_shape_exact <- function(u, h, kernel) {
  distance <- sign(u$rounded) * u$rounded
  lost <- sign(u$rounded) * u$lost
  if (kernel == "gaussian") {
    nearest <- min(distance)
    return(exp(-(distance - nearest) / h * ((distance + nearest) / h) / 2))
  }
  edge <- (h - distance - lost) / h
  bump <- edge * (2 - edge)
  switch(kernel, uniform = rep(1, length(edge)), triangular = edge, epanechnikov = bump, biweight = bump^2,
         triweight = bump^3, tricube = (edge * (3 - 3 * edge + edge^2))^3)
}

# The local fit at one point: its value, the weight of every observation in it, and the number of distinct regressor
# values in it (0: no fit; 1: their weighted mean, for local linear fits too).
reference_local_fit <- function(point, x, y, w, h, kernel, regtype) {
  used <- which(w > 0 & reference_neighbour(point - x, h, kernel))
  smoother <- numeric(length(x))
  distinct <- length(unique(x[used]))
  if (distinct == 0) return(list(value = NaN, smoother = smoother, distinct = 0))
  k <- w[used] * reference_shape_exact(exact_difference(point, x[used]), h, kernel)
  heaviest <- used[which.max(k)]
  z <- x[used] - x[heaviest]
  from_y <- y[used] - y[heaviest]
  share <- k / sum(k)
  if (regtype == "ll" && distinct >= 2) {
    centre <- sum(share * z)
    rest <- sum(share * (z - centre))
    centred <- (z - centre) - rest
    at <- (point - x[heaviest]) - centre - rest
    share <- share + at * share * centred / sum(share * centred^2)
  }
  smoother[used] <- share
  list(value = y[heaviest] + sum(share * from_y), smoother = smoother, distinct = distinct)
}

reference_fit <- function(points, x, y, h, kernel, regtype, w = rep(1, length(x))) {
  vapply(points, function(point) reference_local_fit(point, x, y, w, h, kernel, regtype)$value, 0)
}

# Leave-one-out residuals (NaN without neighbour), residuals in sample and the diagonal of the hat matrix.
reference_residuals <- function(x, y, h, kernel, regtype, w = rep(1, length(x))) {
  rows <- vapply(seq_along(x), function(i) {
    within <- reference_local_fit(x[i], x, y, w, h, kernel, regtype)
    without <- reference_local_fit(x[i], x, y, replace(w, i, 0), h, kernel, regtype)
    c(loo = y[i] - without$value, insample = y[i] - within$value, leverage = within$smoother[i])
  }, numeric(3))
  as.data.frame(t(rows))
}

# The cross-validation objectives at one bandwidth.
reference_regression_cv <- function(x, y, h, kernel, regtype, w = rep(1, length(x))) {
  residuals <- reference_residuals(x, y, h, kernel, regtype, w)
  supported <- !is.nan(residuals$loo)
  squares <- sum((w * residuals$loo^2)[supported])
  insample <- sum(w * residuals$insample^2)
  trace <- sum(residuals$leverage)
  n <- length(x)
  aic <- if (trace + 2 >= n) Inf else log(insample / sum(w)) + (1 + trace / n) / (1 - (trace + 2) / n)
  list(squares = squares, unsupported = sum(!supported), insample = insample, trace = trace,
       cv.ls = squares / sum(w), cv.aic = aic)
}

# Standard errors of the fit at points, from squared errors of the observations.
reference_variance <- function(points, x, y, h, kernel, regtype, error2, w = rep(1, length(x))) {
  vapply(points, function(point) {
    local <- reference_local_fit(point, x, y, w, h, kernel, regtype)
    if (local$distinct == 0) NaN else sum(local$smoother^2 * error2)
  }, 0)
}

# Regressors and responses of the fixtures nw_*.csv, under their names there.
regression_data <- function(name) {
  table <- switch(name,
    airquality.Ozone_Temp = stats::na.omit(datasets::airquality[c("Temp", "Ozone")]),
    faithful.eruptions_waiting = datasets::faithful[c("waiting", "eruptions")],
    faithful.waiting_eruptions = datasets::faithful[c("eruptions", "waiting")],
    geyser.duration_waiting = MASS::geyser[c("waiting", "duration")],
    iris.PetalWidth_PetalLength = datasets::iris[c("Petal.Length", "Petal.Width")]
  )
  list(x = as.numeric(table[[1]]), y = as.numeric(table[[2]]))
}

# Awkward regressors and bandwidths: x, y, w and h, which includes exact distances of pairs and the next larger numbers.
regression_shape <- function(name, x, h = NULL, y = NULL, w = NULL) {
  n <- length(x)
  if (is.null(y)) y <- sin(4 * rank(x) / n) + rnorm(n, sd = 0.3)
  if (is.null(w)) w <- rep(1, n)
  distances <- sort(unique(as.vector(stats::dist(x))))
  distances <- distances[distances > 0]
  if (is.null(h)) {
    h <- distances[ceiling(c(0.02, 0.2, 0.6, 1) * length(distances))]
    h <- c(h, h[2] * (1 + .Machine$double.eps), 1.5 * h[4])
  }
  list(name = name, x = x, y = y, w = w, h = h)
}

regression_shapes <- function() {
  with_seed(20261121, {
    x <- rnorm(60)
    sds <- 10^-(0:4)
    clusters <- as.vector(mapply(function(at, sd) rnorm(12, at, sd), c(0, 1, 10, 1e4, 1e6), sds))
    list(
      regression_shape("uniform", runif(70)),
      regression_shape("normal", x),
      regression_shape("normal, weighted", x, w = runif(60, 0.1, 3)),
      regression_shape("weights of 12 magnitudes", x, w = 10^runif(60, -6, 6)),
      regression_shape("Cauchy, outliers at 1e6 sd", c(rcauchy(60), 1e6, -1.1e6, 1.2e6)),
      regression_shape("offset 1e9", 1e9 + x),
      regression_shape("ties", round(4 * rnorm(70)) / 4),
      regression_shape("tenths, ties", round(rnorm(70), 1), h = c(0.15, 0.35, 1.25)),
      regression_shape("clusters", clusters),
      regression_shape("integers, h a gap", as.numeric(1:50), h = c(1, 1 + 1e-6, 2, 3, 25, 49)),
      regression_shape("15 decades", 10^seq(-7, 8, length.out = 61)),
      regression_shape("a lone point far from ties", c(rep(0, 40), 1, 5), h = c(1, 1 / (1 - 1e-9), 4, 5, 7)),
      regression_shape("y with offset and trend 1e6", x, y = 1e6 + 1e6 * x + 1e3 * rnorm(60))
    )
  })
}

# The fields that npregbw() and npreg() keep of a shape, at one bandwidth.
shape_bws <- function(s, h, kernel, regtype) {
  c(s[c("x", "y", "w")], list(h = h, ckertype = kernel, regtype = regtype, ckerorder = 2, type = "fixed", bw.scale = "support"))
}

# The fit at the data of a shape.
fit_of_shape <- function(bws, run) with_fit(observations_of(bws, run), bws$h, bws, with_errors, run)$fit

# The engine's objectives for all bandwidths of a shape.
shape_cv <- function(s, kernel, regtype, threads = 1L) {
  run <- run_options(threads, "cpu")
  regression_sums(observations_of(s, run), s$h, list(ckertype = kernel, regtype = regtype, ckerorder = 2, type = "fixed", bw.scale = "support"), run)
}
