# Plain-R oracle of distribution functions of mixed data, and of conditional ones, from the matrices of all kernels.
# `data`, `task` and `given` are those of helper-mixed-density.R, without factors among what is not given.

# The integral of a kernel up to u: by parts of the support, from Gauss and Legendre's rule, which is exact for
# polynomials; for the Gaussian kernel from R's distribution function and u phi(u) times a polynomial.
distribution_continuous <- function(u, task) {
  if (task$ckertype == "gaussian") {
    v <- u^2
    rest <- switch(as.character(task$ckerorder), "2" = 0, "4" = 1 / 2, "6" = (7 - v) / 8,
                   "8" = (57 - 16 * v + v^2) / 48)
    return(stats::pnorm(u) + u * stats::dnorm(u) * rest)
  }
  # From the nearer end, with a row of nodes for each value.
  reach <- mixed_kernel(task$ckertype, task$ckerorder)$reach
  at <- as.vector(u)
  half <- pmax((reach - abs(at)) / 2, 0)
  nodes <- abs(at) + outer(half, 1 + legendre_rule$x)
  beyond <- half * as.vector(density_continuous(nodes, task) %*% legendre_rule$w)
  array(ifelse(at > 0, 1 - beyond, beyond), dim(u))
}

# The sum of the kernel of an ordered factor over all whole numbers up to `to`.
distribution_ordered <- function(from, to, lambda, levels, okertype) {
  far <- if (okertype == "racineliyan") 0 else ceiling(-40 / log(max(lambda, 1e-9)))
  one <- function(from, to) {
    at <- seq(if (far == 0) 1 else min(from, to) - far, to)
    sum(density_ordered(rep(from, length(at)), at, lambda, levels, okertype))
  }
  of_levels(from, to, function(from, to) mapply(one, from, to))
}

# A row for each point and a column for each observation: the product over what is not given.
distribution_kernels <- function(data, task, points, given) {
  n <- nrow(data$x)
  m <- nrow(points$x)
  product <- matrix(1, m, n)
  p <- ncol(data$x)
  q <- ncol(data$unordered)
  for (k in which(!given)) {
    made <- if (k <= p) {
      distribution_continuous(outer(points$x[, k], data$x[, k], `-`) / task$h[k], task)
    } else {
      column <- k - p - q
      distribution_ordered(rep(data$ordered[, column], each = m), rep(points$ordered[, column], n),
                           task$lambda[k - p], data$levels[k - p], task$okertype)
    }
    product <- product * matrix(made, m, n)
  }
  product
}

# Whether observations are no larger than points along what is not given.
distribution_reached <- function(data, points, given) {
  p <- ncol(data$x)
  q <- ncol(data$unordered)
  reached <- matrix(1, nrow(points$x), nrow(data$x))
  for (k in which(!given)) {
    of <- function(rows) if (k <= p) rows$x[, k] else rows$ordered[, k - p - q]
    reached <- reached * outer(of(points), of(data), `>=`)
  }
  reached
}

# The mean squared error at the points of a grid or, if it is NULL, at the observations.
distribution_objective <- function(data, task, grid = NULL, given = !density_parts(data)) {
  n <- nrow(data$x)
  points <- if (is.null(grid)) data else grid
  kernels <- distribution_kernels(data, task, points, given)
  reached <- distribution_reached(data, points, given)
  if (any(given)) {
    weights <- density_kernels(data, task, data, given)
    diag(weights) <- 0
    lost <- sum(rowSums(weights) == 0)
    without <- t(weights %*% t(kernels) / ifelse(rowSums(weights) == 0, 1, rowSums(weights)))
  } else {
    lost <- 0
    without <- (rowSums(kernels) - kernels) / (n - 1)
  }
  errors <- (without - reached)^2
  if (is.null(grid)) diag(errors) <- 0
  list(value = mean(errors), unsupported = lost)
}

distribution_gradient <- function(data, task, grid, given, step = 1e-3) {
  p <- length(task$h)
  start <- c(log(task$h), task$lambda)
  at <- function(where) {
    task$h <- exp(where[seq_len(p)])
    task$lambda <- where[seq_along(where) > p]
    distribution_objective(data, task, grid, given)$value
  }
  vapply(seq_along(start), function(k) {
    slope <- function(step) (at(replace(start, k, start[k] + step)) - at(replace(start, k, start[k] - step))) / step / 2
    (4 * slope(step / 2) - slope(step)) / 3
  }, 0)
}

# Distribution functions and their standard errors, those of a mean or of a ratio of two means.
distribution_fit <- function(data, task, points = data, given = !density_parts(data)) {
  n <- nrow(data$x)
  kernels <- distribution_kernels(data, task, points, given)
  if (!any(given)) return(list(value = rowMeans(kernels), se = apply(kernels, 1, stats::sd) / sqrt(n)))
  weights <- density_kernels(data, task, points, given)
  value <- rowSums(weights * kernels) / rowSums(weights)
  list(value = value, se = sqrt(rowSums((weights * (kernels - value))^2)) / rowSums(weights))
}

# The least y at which a conditional distribution function of one number reaches tau, by halving to the last digit.
distribution_quantile <- function(data, task, points, tau, given) {
  y <- which(!given)
  vapply(seq_len(nrow(points$x)), function(i) {
    point <- lapply(points[c("x", "unordered", "ordered")], function(rows) rows[i, , drop = FALSE])
    weights <- density_kernels(data, task, point, given)
    reached <- function(at) {
      point$x[1, y] <- at
      sum(weights * distribution_kernels(data, task, point, given)) >= tau * sum(weights)
    }
    ends <- range(data$x[, y]) + c(-40, 40) * task$h[y]
    repeat {
      middle <- mean(ends)
      if (middle <= ends[1] || middle >= ends[2]) return(ends[2])
      ends[if (reached(middle)) 2 else 1] <- middle
    }
  }, 0)
}
