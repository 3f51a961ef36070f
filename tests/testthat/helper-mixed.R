# Plain-R oracle of kernel regression with several regressors, factors and ordered factors: point by point, from the
# matrix of the weights of all observations at all points. The kernels are np's, on its scales. `data` and `task` are
# those of the engine, lists such as
#   data, of x = cbind(rnorm(9)), unordered = cbind(rep(1:3, 3)), ordered = matrix(0, 9, 0), levels = 3L, y = 1:9
#   task, of h = 0.5, lambda = 0.2, ckertype = "gaussian", ckerorder = 2L, ukertype = "aitchisonaitken",
#            okertype = "liracine", regtype = "ll", method = "cv.ls"
# `data` may have weights `w`, which sum to the number of positive ones.
#
# An observation is a neighbour of a point if the logarithm of its weight, without constants, is above -722, as
# with one regressor and the Gaussian kernel, whose neighbours are those within 38 bandwidths.
#
# A direction in which the neighbours of a local linear fit do not differ has the slope of the plane of least squares of
# all observations. It is found by elimination with pivots, where the rest of its sum of squares is below
# `mixed_singular` of the whole. np has a ridge of 1/n where a pivot is 0, and rounding errors where it is nearly so.

mixed_singular <- 1e-12
mixed_log_least <- -722

# With neighbours, `bwtype`, `h` are numbers k, which count along each column, and the window of the uniform kernel is
# open, by some units of the last place.

# A kernel's polynomial in s = u^2 (without the factor exp(-s/2) of the Gaussian ones), or functions of u on its
# support, and where that ends.
mixed_kernel <- function(ckertype, ckerorder) {
  order <- as.character(if (ckertype == "uniform") 2 else ckerorder)
  if (ckertype == "uniform") return(list(series = 1 / 2, reach = 1))
  if (ckertype == "biweight") return(list(series = 15 / 16 * c(1, -2, 1), reach = 1))
  if (ckertype == "triweight") return(list(series = 35 / 32 * c(1, -3, 3, -1), reach = 1))
  if (ckertype == "triangular") return(list(value = function(u) 1 - abs(u), slope = function(u) -sign(u), reach = 1))
  if (ckertype == "tricube") {
    return(list(value = function(u) 70 / 81 * (1 - abs(u)^3)^3,
                slope = function(u) -70 / 9 * u * abs(u) * (1 - abs(u)^3)^2, reach = 1))
  }
  if (ckertype == "cosine") {
    return(list(value = function(u) pi / 4 * cos(pi / 2 * u), slope = function(u) -pi^2 / 8 * sin(pi / 2 * u),
                reach = 1))
  }
  if (ckertype == "gaussian") {
    series <- switch(order, "2" = 1, "4" = c(3, -1) / 2, "6" = c(15, -10, 1) / 8, "8" = c(105, -105, 21, -1) / 48)
    return(list(series = series / sqrt(2 * pi), reach = Inf))
  }
  series <- switch(order, "2" = 1, "4" = c(15, -7) / 8, "6" = c(175, -210, 46.2) / 64,
                   "8" = c(3675, -8085, 4204.2, -600.6) / 1024)
  list(series = 3 / (4 * sqrt(5)) * (c(series, 0) - c(0, series) / 5), reach = sqrt(5))
}

# The polynomial and its derivative by u.
mixed_polynomial <- function(u, kernel, open = FALSE) {
  value <- if (is.null(kernel$value)) 0 * u else kernel$value(u)
  slope <- if (is.null(kernel$slope)) 0 * u else kernel$slope(u)
  powers <- seq_along(kernel$series) - 1
  for (k in powers) value <- value + kernel$series[k + 1] * u^(2 * k)
  for (k in powers[-1]) slope <- slope + kernel$series[k + 1] * 2 * k * u^(2 * k - 1)
  inside <- if (kernel$reach > 1) abs(u) < kernel$reach else abs(u) <= if (open) 1 - 2e-15 else 1
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
  total <- vapply(seq_len(levels), function(code) sum(exp(power(abs(seq_len(levels) - code)))), 0)
  list(log = power(distance) - log(total)[to], constant = 0)
}

weights_in <- function(data) if (is.null(data$w)) rep(1, length(data$y)) else data$w

# The bandwidths of all observations at all points, a column for each point, by the continuous column `k`.
mixed_widths <- function(data, task, points, k) {
  n <- nrow(data$x)
  m <- nrow(points$x)
  if (!any(task$bwtype %in% neighbour_types)) return(matrix(task$h[k], n, m))
  there <- weights_in(data) > 0
  distances <- function(at) vapply(at, reference_neighbour_distance, 0, x = data$x[there, k], k = task$h[k])
  if (task$bwtype == "generalized_nn") return(matrix(distances(points$x[, k]), n, m, TRUE))
  matrix(distances(data$x[, k]), n, m)
}

# Signed weights of all observations, a column for each point: `weight`, divided by exp(`scale`); their derivatives by
# the columns of the point; and which observations are neighbours.
mixed_weights <- function(data, task, points = data) {
  n <- nrow(data$x)
  m <- nrow(points$x)
  columns <- seq_along(task$h)
  kernel <- mixed_kernel(task$ckertype, task$ckerorder)
  nearest <- any(task$bwtype %in% neighbour_types)
  gaussian <- task$ckertype == "gaussian"
  h <- lapply(columns, function(k) mixed_widths(data, task, points, k))
  u <- lapply(columns, function(k) -outer(data$x[, k], points$x[, k], `-`) / h[[k]])
  parts <- lapply(u, mixed_polynomial, kernel, nearest)
  logs <- matrix(0, n, m)
  for (k in columns) {
    if (gaussian) logs <- logs - u[[k]]^2 / 2
    if (identical(task$bwtype, "adaptive_nn")) logs <- logs - log(h[[k]])
  }
  constant <- 0
  q <- ncol(data$unordered)
  for (k in seq_len(q)) {
    factors <- mixed_unordered(rep(points$unordered[, k], each = n), rep(data$unordered[, k], m), task$lambda[k],
                               data$levels[k], task$ukertype)
    logs <- logs + factors$log
    constant <- constant + factors$constant
  }
  for (k in seq_len(ncol(data$ordered))) {
    factors <- mixed_ordered(rep(points$ordered[, k], each = n), rep(data$ordered[, k], m), task$lambda[q + k],
                             data$levels[q + k], task$okertype)
    logs <- logs + factors$log
    constant <- constant + factors$constant
  }
  product <- function(parts) Reduce(`*`, lapply(parts, `[[`, "value"), matrix(1, n, m))
  signed <- product(parts)
  near <- logs > mixed_log_least & signed != 0 & weights_in(data) > 0
  shift <- vapply(seq_len(m), function(i) if (any(near[, i])) max(logs[near[, i], i]) else 0, 0)
  size <- exp(logs - rep(shift, each = n)) * weights_in(data)
  size[!near] <- 0
  slopes <- lapply(columns, function(k) {
    own <- parts[[k]]$slope - if (gaussian) u[[k]] * parts[[k]]$value else 0
    size * product(parts[-k]) * own / h[[k]]
  })
  list(weight = size * signed, slopes = slopes, near = near, scale = shift + constant)
}

# The linear smoother at point `i` of these weights: the weights `value` of all observations in the fit, a column of
# `slopes` for each continuous column in its gradient; whether it is without neighbours, and whether it was singular.
mixed_smoother <- function(data, task, weights, points, i, without = NULL) {
  n <- nrow(data$x)
  p <- ncol(data$x)
  near <- weights$near[, i]
  if (!is.null(without)) near[without] <- FALSE
  k <- ifelse(near, weights$weight[, i], 0)
  empty <- list(value = rep(NaN, n), slopes = matrix(NaN, n, p), unsupported = TRUE, ridged = FALSE)
  if (!any(k != 0)) return(empty)
  if (task$regtype == "lc" || p == 0) {
    share <- k / sum(k)
    slopes <- vapply(weights$slopes, function(slope) {
      change <- slope[, i] * near
      (change - share * sum(change)) / sum(k)
    }, numeric(n))
    return(list(value = share, slopes = matrix(slopes, n), unsupported = FALSE, ridged = FALSE))
  }
  point <- points$x[i, ]
  z <- t(t(data$x) - point)
  share <- k / sum(k)
  centre <- colSums(share * z)
  centred <- t(t(z) - centre)
  # Once more for their rounding errors.
  rest <- colSums(share * centred)
  centred <- t(t(centred) - rest)
  centre <- centre + rest
  spread <- mixed_inverse(crossprod(centred, share * centred))
  slopes <- spread$inverse %*% t(share * centred)
  value <- share - as.vector(centre %*% slopes)
  list(value = value, slopes = t(slopes), unsupported = FALSE, ridged = spread$kept < p)
}

# The inverse of moments in the directions that have any, the largest pivots first.
mixed_inverse <- function(moments) {
  p <- nrow(moments)
  size <- diag(moments)
  inverse <- matrix(0, p, p)
  kept <- integer(0)
  rest <- moments
  repeat {
    open <- setdiff(which(abs(size) > 0), kept)
    if (length(open) == 0L) break
    best <- open[which.max(abs(diag(rest)[open] / size[open]))]
    if (abs(rest[best, best]) <= mixed_singular * abs(size[best])) break
    rest <- rest - outer(rest[, best], rest[best, ]) / rest[best, best]
    kept <- c(kept, best)
  }
  unit <- sqrt(abs(size[kept]))
  scaled <- moments[kept, kept, drop = FALSE] / outer(unit, unit)
  if (length(kept) > 0L) inverse[kept, kept] <- solve(scaled) / outer(unit, unit)
  list(inverse = inverse, kept = length(kept))
}

# The plane of least squares, which local linear fits reproduce: they are of what remains of the responses.
mixed_plane <- function(data, task) {
  slopes <- numeric(ncol(data$x))
  level <- 0
  if (task$regtype == "ll" && ncol(data$x) > 0) {
    made <- stats::lm.wfit(cbind(1, data$x), data$y, weights_in(data))$coefficients
    made[is.na(made)] <- 0
    level <- made[[1]]
    slopes <- unname(made[-1])
  }
  list(slopes = slopes, rest = data$y - level - as.vector(data$x %*% slopes),
       at = function(x) level + sum(slopes * x))
}

# Of the observations with a positive weight. cv.ls: those without neighbours count 0 in the sum of squares. cv.aic:
# np's AICc; Inf where its penalty is not positive. `ridged`: of the fits that leave one out and, for cv.aic, of those
# with it, too.
mixed_oracle_objective <- function(data, task) {
  w <- weights_in(data)
  w <- w[w > 0]
  n <- length(w)
  aic <- task$method == "cv.aic"
  plane <- mixed_plane(data, task)
  weights <- mixed_weights(data, task)
  fits <- lapply(which(weights_in(data) > 0), function(i) {
    without <- mixed_smoother(data, task, weights, data, i, i)
    fit <- if (aic) mixed_smoother(data, task, weights, data, i) else without
    c(residual = plane$rest[i] - sum(fit$value * plane$rest), leverage = fit$value[i],
      unsupported = without$unsupported,
      ridged = without$ridged)
  })
  fits <- do.call(rbind, fits)
  left_out <- !aic & fits[, "unsupported"] == 1
  squares <- sum(w * ifelse(left_out, 0, fits[, "residual"]^2)) / n
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
  plane <- mixed_plane(data, task)
  weights <- mixed_weights(data, task, points)
  unknown <- rowSums(cbind(points$unordered, points$ordered) == 0) > 0
  rows <- lapply(seq_len(m), function(i) {
    if (unknown[i]) return(list(mean = NaN, variance = NaN, grad = rep(NaN, p), variances = rep(NaN, p)))
    fit <- mixed_smoother(data, task, weights, points, i)
    row <- list(mean = plane$at(points$x[i, ]) + sum(fit$value * plane$rest),
                grad = plane$slopes + colSums(fit$slopes * plane$rest))
    if (length(error2) > 0) {
      row$variance <- sum(fit$value^2 * error2)
      row$variances <- colSums(fit$slopes^2 * error2)
    }
    if (at_data) {
      without <- mixed_smoother(data, task, weights, points, i, i)
      row$loo <- plane$at(points$x[i, ]) + sum(without$value * plane$rest)
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

# The engine's data of a data frame of numbers, factors and ordered factors, whose positions are 1, 2, ...
mixed_data <- function(frame, y) {
  order <- mixed_order(frame)
  matrix_of <- function(columns, as) {
    matrix(as.numeric(unlist(lapply(frame[columns], as))), nrow(frame), length(columns))
  }
  unordered <- matrix_of(order$unordered, as.integer)
  storage.mode(unordered) <- "integer"
  list(x = matrix_of(order$continuous, as.numeric), unordered = unordered,
       ordered = matrix_of(order$ordered, as.integer), y = as.numeric(y),
       levels = unname(vapply(frame[c(order$unordered, order$ordered)], nlevels, 0L)))
}

# Which columns are numbers, factors and ordered factors: in this order the engine takes them.
mixed_order <- function(frame) {
  kinds <- vapply(frame, function(column) {
    if (is.ordered(column)) "ordered" else if (is.factor(column)) "unordered" else "continuous"
  }, "")
  lapply(c(continuous = "continuous", unordered = "unordered", ordered = "ordered"), function(kind) {
    unname(which(kinds == kind))
  })
}

# A task with np's defaults.
mixed_task_of <- function(h, lambda, ...) {
  utils::modifyList(list(h = h, lambda = lambda, ckertype = "gaussian", ckerorder = 2L, ukertype = "aitchisonaitken",
                         okertype = "liracine", regtype = "lc", method = "cv.ls", bwtype = "fixed"), list(...))
}
