# Plain-R oracle of kernel regression with several regressors, factors and ordered factors: point by point, from the
# weights of all observations. The kernels are np's, on its scales. `data` and `task` are those of the engine, for
# example
#   data <- list(x = cbind(rnorm(9)), unordered = cbind(rep(1:3, 3)), ordered = matrix(0L, 9, 0), levels = 3L, y = 1:9)
#   task <- list(h = 0.5, lambda = 0.2, ckertype = "gaussian", ckerorder = 2L, ukertype = "aitchisonaitken",
#                okertype = "liracine", regtype = "ll", method = "cv.ls")
#
# An observation is a neighbour of a point if the logarithm of its weight, without constants, is above -722, as
# with one regressor and the Gaussian kernel, whose neighbours are those within 38 bandwidths.
#
# What np does about singular neighbourhoods of local linear fits: if its elimination meets a pivot of 0, it adds 1/n to
# the diagonal of the sums of k [1, x_i - x]'[1, x_i - x], whose kernels k have their constants but are not divided by
# h, and multiplies the sum of k y by 1 + 1 / (n s), s = (sum of k) + 1 / n. The oracle does the same, but for it a
# pivot is 0 if it is below `mixed_singular` times the sum of squares of its column, k (x_i - x)^2. In np such pivots
# are rounding errors, and so are its fits there.

mixed_singular <- 1e-12
mixed_log_least <- -722

# A kernel's polynomial in s = u^2 (without the factor exp(-s/2) of the Gaussian ones), and where its support ends.
mixed_kernel <- function(ckertype, ckerorder) {
  order <- as.character(if (ckertype == "uniform") 2 else ckerorder)
  if (ckertype == "uniform") return(list(series = 1 / 2, reach = 1))
  if (ckertype == "gaussian") {
    series <- switch(order, "2" = 1, "4" = c(3, -1) / 2, "6" = c(15, -10, 1) / 8, "8" = c(105, -105, 21, -1) / 48)
    return(list(series = series / sqrt(2 * pi), reach = Inf))
  }
  series <- switch(order, "2" = 1, "4" = c(15, -7) / 8, "6" = c(175, -210, 46.2) / 64,
                   "8" = c(3675, -8085, 4204.2, -600.6) / 1024)
  list(series = 3 / (4 * sqrt(5)) * (c(series, 0) - c(0, series) / 5), reach = sqrt(5))
}

# The polynomial and its derivative by u.
mixed_polynomial <- function(u, kernel) {
  value <- slope <- 0 * u
  powers <- seq_along(kernel$series) - 1
  for (k in powers) value <- value + kernel$series[k + 1] * u^(2 * k)
  for (k in powers[-1]) slope <- slope + kernel$series[k + 1] * 2 * k * u^(2 * k - 1)
  inside <- abs(u) < kernel$reach
  list(value = ifelse(inside, value, 0), slope = ifelse(inside, slope, 0))
}

# The logarithms of the weights of the levels `to` of observations at a level `from`, and the constant apart.
mixed_unordered <- function(from, to, lambda, levels, ukertype) {
  if (ukertype == "aitchisonaitken") {
    return(list(log = ifelse(from == to, log(1 - lambda), log(lambda / (levels - 1))), constant = 0))
  }
  list(log = ifelse(from == to, 0, log(lambda)), constant = -log((levels - 1) * lambda + 1))
}

mixed_ordered <- function(from, to, lambda, levels, okertype) {
  power <- function(distance) ifelse(distance == 0, 0, distance * log(lambda))
  distance <- abs(to - from)
  if (okertype == "wangvanryzin") {
    return(list(log = ifelse(distance == 0, 0, power(distance) - log(2)), constant = log(1 - lambda)))
  }
  if (okertype == "liracine") return(list(log = power(distance), constant = 0))
  # Racine, Li & Yan (2020): divided by the sum over all levels, so that the kernel of an observation sums to 1.
  total <- vapply(to, function(code) sum(exp(power(abs(seq_len(levels) - code)))), 0)
  list(log = power(distance) - log(total), constant = 0)
}

# Signed weights of all observations at a point: `weight`, divided by exp(`scale`); their derivatives by the columns of
# the point; and which observations are neighbours.
mixed_weights <- function(data, task, point) {
  n <- length(data$y)
  kernel <- mixed_kernel(task$ckertype, task$ckerorder)
  u <- t((point$x - t(data$x)) / task$h)
  dim(u) <- dim(data$x)
  parts <- lapply(seq_along(task$h), function(k) mixed_polynomial(u[, k], kernel))
  gaussian <- task$ckertype == "gaussian"
  logs <- if (gaussian) -rowSums(u^2) / 2 else numeric(n)
  constant <- 0
  q <- ncol(data$unordered)
  for (k in seq_len(q)) {
    factors <- mixed_unordered(point$unordered[k], data$unordered[, k], task$lambda[k], data$levels[k], task$ukertype)
    logs <- logs + factors$log
    constant <- constant + factors$constant
  }
  for (k in seq_len(ncol(data$ordered))) {
    factors <- mixed_ordered(point$ordered[k], data$ordered[, k], task$lambda[q + k], data$levels[q + k], task$okertype)
    logs <- logs + factors$log
    constant <- constant + factors$constant
  }
  signed <- Reduce(`*`, lapply(parts, `[[`, "value"), rep(1, n))
  near <- logs > mixed_log_least & signed != 0
  shift <- if (any(near)) max(logs[near]) else 0
  size <- ifelse(near, exp(logs - shift), 0)
  slopes <- vapply(seq_along(parts), function(k) {
    others <- Reduce(`*`, lapply(parts[-k], `[[`, "value"), rep(1, n))
    own <- parts[[k]]$slope - if (gaussian) u[, k] * parts[[k]]$value else 0
    size * others * own / task$h[k]
  }, numeric(n))
  list(weight = size * signed, slopes = matrix(slopes, n), near = near, scale = shift + constant)
}

# The linear smoother at a point: the weights `value` of all observations in the fit, a column of `slopes` for each
# continuous column in its gradient; whether it is without neighbours, and whether it was singular.
mixed_smoother <- function(data, task, point, without = NULL) {
  n <- length(data$y)
  p <- ncol(data$x)
  weights <- mixed_weights(data, task, point)
  if (!is.null(without)) weights$near[without] <- FALSE
  k <- ifelse(weights$near, weights$weight, 0)
  empty <- list(value = rep(NaN, n), slopes = matrix(NaN, n, p), unsupported = TRUE, ridged = FALSE)
  if (!any(k != 0)) return(empty)
  if (task$regtype == "lc" || p == 0) {
    share <- k / sum(k)
    change <- weights$slopes * weights$near
    slopes <- vapply(seq_len(p), function(j) (change[, j] - share * sum(change[, j])) / sum(k), numeric(n))
    return(list(value = share, slopes = matrix(slopes, n), unsupported = FALSE, ridged = FALSE))
  }
  columns <- cbind(1, t(t(data$x) - point$x))
  # In units in which every column has the sum of squares 1.
  unit <- sqrt(colSums(abs(k) * columns^2))
  unit[unit == 0] <- 1
  scaled <- t(t(columns) / unit)
  moments <- crossprod(scaled, k * scaled)
  pivots <- mixed_pivots(moments)
  if (all(abs(pivots) > mixed_singular)) {
    inverse <- solve(moments, t(k * scaled)) / unit
    return(list(value = inverse[1, ], slopes = t(inverse[-1, , drop = FALSE]), unsupported = FALSE, ridged = FALSE))
  }
  # np's ridge.
  k <- k * exp(weights$scale)
  ridge <- 1 / n
  moments <- crossprod(columns, k * columns) + diag(ridge, p + 1)
  right <- t(k * columns)
  right[1, ] <- right[1, ] * (1 + ridge / moments[1, 1])
  inverse <- solve(moments, right)
  list(value = inverse[1, ], slopes = t(inverse[-1, , drop = FALSE]), unsupported = FALSE, ridged = TRUE)
}

# The pivots of elimination without exchanges.
mixed_pivots <- function(moments) {
  size <- nrow(moments)
  pivots <- numeric(size)
  for (j in seq_len(size)) {
    pivots[j] <- moments[j, j]
    if (j == size || abs(pivots[j]) <= mixed_singular) break
    rest <- (j + 1):size
    moments[rest, rest] <- moments[rest, rest] - outer(moments[rest, j], moments[j, rest]) / pivots[j]
  }
  pivots
}

mixed_point <- function(points, row) {
  list(x = points$x[row, ], unordered = points$unordered[row, ], ordered = points$ordered[row, ])
}

# cv.ls: observations without neighbours count 0 in the sum of squares. cv.aic: np's AICc; Inf where its penalty is not
# positive.
mixed_oracle_objective <- function(data, task) {
  n <- length(data$y)
  aic <- task$method == "cv.aic"
  fits <- lapply(seq_len(n), function(i) {
    fit <- mixed_smoother(data, task, mixed_point(data, i), if (!aic) i)
    c(residual = data$y[i] - sum(fit$value * data$y), leverage = fit$value[i], unsupported = fit$unsupported,
      ridged = fit$ridged)
  })
  fits <- do.call(rbind, fits)
  squares <- sum(ifelse(fits[, "unsupported"] == 1, 0, fits[, "residual"]^2)) / n
  trace <- sum(fits[, "leverage"])
  penalty <- (1 + trace / n) / (1 - (trace + 2) / n)
  value <- if (!aic) squares else if (!(penalty > 0)) Inf else log(squares) + penalty
  list(value = value, unsupported = sum(fits[, "unsupported"]), ridged = sum(fits[, "ridged"]))
}

# The gradient of the objective by log(h) and lambda, by differences that are extrapolated twice.
mixed_oracle_gradient <- function(data, task, step = 1e-3) {
  p <- length(task$h)
  start <- c(log(task$h), task$lambda)
  at <- function(where) {
    task$h <- exp(where[seq_len(p)])
    task$lambda <- where[-seq_len(p)]
    mixed_oracle_objective(data, task)$value
  }
  vapply(seq_along(start), function(k) {
    if (is.infinite(start[k])) return(0)
    slope <- function(step) (at(replace(start, k, start[k] + step)) - at(replace(start, k, start[k] - step))) / step / 2
    wide <- slope(step)
    half <- slope(step / 2)
    quarter <- slope(step / 4)
    (16 * (4 * quarter - half) / 3 - (4 * half - wide) / 3) / 15
  }, 0)
}

# Fits at points, or at the data if `points` is NULL; codes of 0 are levels that the data lack. `error2`: squared errors
# of the observations, or numeric(0).
mixed_oracle_fit <- function(data, task, points = NULL, error2 = numeric(0)) {
  at_data <- is.null(points)
  if (at_data) points <- data[c("x", "unordered", "ordered")]
  m <- nrow(points$x)
  p <- ncol(data$x)
  unknown <- rowSums(cbind(points$unordered, points$ordered) == 0) > 0
  rows <- lapply(seq_len(m), function(i) {
    if (unknown[i]) return(list(mean = NaN, variance = NaN, grad = rep(NaN, p), variances = rep(NaN, p)))
    fit <- mixed_smoother(data, task, mixed_point(points, i))
    row <- list(mean = sum(fit$value * data$y), grad = colSums(fit$slopes * data$y))
    if (length(error2) > 0) {
      row$variance <- sum(fit$value^2 * error2)
      row$variances <- colSums(fit$slopes^2 * error2)
    }
    if (at_data) {
      without <- mixed_smoother(data, task, mixed_point(points, i), i)
      row$loo <- sum(without$value * data$y)
      row$leverage <- fit$value[i]
    }
    row
  })
  taken <- function(name) vapply(rows, `[[`, 0, name)
  matrix_of <- function(name) matrix(unlist(lapply(rows, `[[`, name)), m, p, byrow = TRUE)
  fit <- list(mean = taken("mean"), grad = matrix_of("grad"))
  if (length(error2) > 0) {
    fit$se <- sqrt(taken("variance"))
    fit$gerr <- sqrt(matrix_of("variances"))
  }
  if (at_data) fit[c("loo", "leverage")] <- list(taken("loo"), taken("leverage"))
  fit
}

# The engine's data of a data frame, and which columns they are in the order continuous, unordered, ordered.
mixed_data <- function(frame, y) {
  ordered <- vapply(frame, is.ordered, NA)
  unordered <- vapply(frame, is.factor, NA) & !ordered
  codes <- function(columns) matrix(as.integer(unlist(lapply(frame[columns], as.integer))), nrow(frame))
  x <- as.matrix(frame[!ordered & !unordered])
  storage.mode(x) <- "double"
  columns <- c(which(!ordered & !unordered), which(unordered), which(ordered))
  list(x = unname(x), unordered = codes(unordered), ordered = codes(ordered), y = as.numeric(y),
       levels = as.integer(vapply(frame[c(which(unordered), which(ordered))], nlevels, 0L)), columns = unname(columns))
}
