# Plain-R oracle of regression with nearest-neighbour bandwidths, point by point.

# np's distance to the k-th neighbour: distances as rounded, each once, without the least. NA if there are too few.
reference_neighbour_distance <- function(point, x, k) sort(unique(abs(point - x)))[k + 1]

# The largest number of neighbours that every observation has.
reference_most_neighbours <- function(x) min(vapply(x, function(point) length(unique(abs(point - x))), 0L)) - 1L

# The local fit at one point, as of reference_local_fit(), and `slope`, the derivatives of the smoother with the
# bandwidths fixed, whose sum with the responses is `change`; `terms`: how large the terms are that they are made of.
# `h`: one bandwidth for each observation; `drop`: the one that is left out.
reference_neighbour_fit <- function(point, x, y, w, h, kernel, regtype, drop = 0) {
  used <- which(seq_along(x) != drop & abs(point - x) < (if (kernel == "gaussian") 38 else 1) * h)
  smoother <- slope <- numeric(length(x))
  places <- length(unique(x[used]))
  if (places == 0) return(list(value = NaN, smoother = smoother, distinct = 0))
  z <- x[used] - point
  u <- z / h[used]
  if (kernel == "gaussian") {
    power <- -u^2 / 2 - log(h[used] / min(h))
    k <- exp(power - max(power))
    bend <- k * u / h[used]
  } else {
    apart <- exact_difference(point, x[used])
    shape <- function(kernel) reference_shape_exact(apart, h[used], kernel)
    k <- shape(kernel) * min(h) / h[used]
    # The derivative of (1 - abs(u)^a)^b.
    bend <- sign(u) * min(h) / h[used]^2 * switch(kernel, uniform = 0, triangular = 1, epanechnikov = 2 * abs(u),
      biweight = 4 * abs(u) * shape("epanechnikov"), triweight = 6 * abs(u) * shape("biweight"),
      tricube = 9 * u^2 * shape("tricube")^(2 / 3)
    )
  }
  k <- w[used] * k
  heaviest <- used[which.max(k)]
  share <- k / sum(k)
  bend <- w[used] * bend / sum(k)
  slope[used] <- bend - share * sum(bend)
  terms <- sum(abs(bend))
  z <- x[used] - x[heaviest]
  if (regtype == "ll") slope[] <- NaN
  if (regtype == "ll" && places >= 2) {
    centre <- sum(share * z)
    rest <- sum(share * (z - centre))
    centred <- (z - centre) - rest
    at <- (point - x[heaviest]) - centre - rest
    slope[] <- 0
    slope[used] <- share * centred / sum(share * centred^2)
    terms <- sum(abs(slope))
    share <- share + at * share * centred / sum(share * centred^2)
  }
  smoother[used] <- share
  off <- y[used] - y[heaviest]
  list(value = y[heaviest] + sum(share * off), smoother = smoother, distinct = places, slope = slope, terms = terms,
       change = sum(slope[used] * off))
}

# The bandwidths that the fit at each point sees, one for each observation: a list.
reference_bandwidths <- function(points, x, k, type, unit = 1) {
  general <- type == "generalized_nn"
  h <- unit * vapply(if (general) points else x, reference_neighbour_distance, 0, x = x, k = k)
  lapply(seq_along(points), function(i) if (general) rep(h[i], length(x)) else h)
}

reference_neighbour_residuals <- function(x, y, k, kernel, regtype, type, w, unit = 1) {
  h <- reference_bandwidths(x, x, k, type, unit)
  rows <- vapply(seq_along(x), function(i) {
    without <- reference_neighbour_fit(x[i], x, y, w, h[[i]], kernel, regtype, drop = i)
    within <- reference_neighbour_fit(x[i], x, y, w, h[[i]], kernel, regtype)
    c(loo = y[i] - without$value, insample = y[i] - within$value, leverage = within$smoother[i])
  }, numeric(3))
  as.data.frame(t(rows))
}

# What a curve has at one number of neighbours.
reference_neighbour_cv <- function(x, y, k, kernel, regtype, type, w, unit = 1) {
  residuals <- reference_neighbour_residuals(x, y, k, kernel, regtype, type, w, unit)
  there <- !is.nan(residuals$loo)
  list(squares = sum((w * residuals$loo^2)[there]), insample = sum(w * residuals$insample^2),
       trace = sum(residuals$leverage), unsupported = sum(!there))
}

neighbour_types <- c("generalized_nn", "adaptive_nn")

# The task of a shape: its kernel on the scale of the papers, unless told otherwise.
neighbour_asked <- function(kernel, regtype, type, bw.scale = "support") {
  list(ckertype = kernel, regtype = regtype, ckerorder = 2, type = type, bw.scale = bw.scale)
}

neighbour_bws <- function(s, k, asked) c(s[c("x", "y", "w")], list(h = k, bw = k), asked)

# Numbers of neighbours that all observations of a shape have.
numbers_of_neighbours <- function(x) {
  most <- reference_most_neighbours(x)
  as.numeric(sort(unique(c(1, ceiling(most / 3), most))))
}

# Regressors for which neighbours are hard to count.
neighbour_shapes <- function() {
  more <- with_seed(20261125, list(
    regression_shape("two", c(1, 3), y = c(2, 5)),
    regression_shape("three", c(1, 2, 4), y = c(2, 5, 3)),
    regression_shape("three, two tied", c(1, 1, 4), y = c(2, 5, 3)),
    regression_shape("lattice", as.numeric(1:31)),
    regression_shape("pairs and a lone point", c(rep(1:6, 2), 1e5)),
    regression_shape("offset 1e9, tenths", 1e9 + round(rnorm(40), 1)),
    regression_shape("tight clusters", c(rnorm(15, 0, 1e-9), rnorm(15, 1, 1e-6), 7))
  ))
  alike <- c("uniform", "normal", "weights of 12 magnitudes", "offset 1e9", "tenths, ties", "clusters")
  c(Filter(function(s) !s$name %in% alike, regression_shapes()), more)
}
