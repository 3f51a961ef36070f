# Plain-R oracle of densities of mixed data, and of conditional ones, from the matrices of all kernels. `data`, `task`
# and the kernels are those of helper-mixed.R, but normalised. `given` (in the order numbers, factors, ordered factors)
# says which columns a conditional density is conditional on.

# np's least density in a likelihood.
density_floor <- log(.Machine$double.xmin)

# The kernel at differences u, and the integral of its product with itself moved by u.
density_continuous <- function(u, task) {
  kernel <- mixed_kernel(task$ckertype, task$ckerorder)
  gaussian <- task$ckertype == "gaussian"
  mixed_polynomial(u, kernel)$value * (if (gaussian) exp(-u^2 / 2) else 1)
}

density_convolution <- function(u, task) {
  reach <- mixed_kernel(task$ckertype, task$ckerorder)$reach
  at <- unique(abs(as.vector(u)))
  # A row of nodes for each value. Sums with equal steps are exact for functions such as the Gaussian kernels.
  between <- function(from, to, rule) {
    half <- pmax(to - from, 0) / 2
    t <- from + half + outer(half, rule$x)
    half * as.vector((density_continuous(t, task) * density_continuous(at - t, task)) %*% rule$w)
  }
  found <- if (is.infinite(reach)) {
    between(at / 2 - 1, at / 2 + 1, list(x = seq(-10, 10, by = 0.25), w = rep(0.25, 81)))
  } else {
    # Twice the right half, in two parts, since a kernel may have an edge at its centre.
    inner <- pmin(at, reach)
    2 * (between(at / 2, inner, legendre_rule) + between(inner, rep(reach, length(at)), legendre_rule))
  }
  found[match(abs(u), at)]
}

# Gauss and Legendre's rule with 24 points, from the eigenvalues of its recurrence: exact for these polynomials.
legendre_rule <- local({
  k <- 1:23
  recurrence <- matrix(0, 24, 24)
  recurrence[cbind(k, k + 1)] <- recurrence[cbind(k + 1, k)] <- k / sqrt(4 * k^2 - 1)
  found <- eigen(recurrence, symmetric = TRUE)
  list(x = found$values, w = 2 * found$vectors[1, ]^2)
})

# The probability of level `to` by the kernel at the level `from`.
density_unordered <- function(from, to, lambda, levels, ukertype) {
  if (ukertype == "aitchisonaitken") return(ifelse(from == to, 1 - lambda, lambda / (levels - 1)))
  ifelse(from == to, 1, lambda) / (1 + (levels - 1) * lambda)
}

density_ordered <- function(from, to, lambda, levels, okertype) {
  distance <- abs(from - to)
  if (okertype == "wangvanryzin") return((1 - lambda) * ifelse(distance == 0, 1, lambda^distance / 2))
  if (okertype == "liracine") return((1 - lambda) / (1 + lambda) * lambda^distance)
  lambda^distance / vapply(from, function(code) sum(lambda^abs(seq_len(levels) - code)), 0)
}

# f(from, to) of pairs of levels, computed once for each different pair.
of_levels <- function(from, to, f) {
  key <- from + 1000 * to
  first <- !duplicated(key)
  f(from[first], to[first])[match(key, key[first])]
}

density_factor <- function(from, to, lambda, levels, kind, task, convolution) {
  kernel <- function(from, to) {
    if (kind == "unordered") return(density_unordered(from, to, lambda, levels, task$ukertype))
    density_ordered(from, to, lambda, levels, task$okertype)
  }
  if (!convolution) return(kernel(from, to))
  # np sums over all whole numbers: here as far as terms count.
  far <- if (kind == "unordered" || task$okertype == "racineliyan") 0 else ceiling(-40 / log(max(lambda, 1e-9)))
  at <- if (far == 0) seq_len(levels) else seq(min(from, to) - far, max(from, to) + far)
  Reduce(`+`, lapply(at, function(level) kernel(from, rep(level, length(from))) * kernel(to, rep(level, length(to)))))
}

# A row for each point and a column for each observation: the product of the kernels in `parts`.
density_kernels <- function(data, task, points, parts, convolution = FALSE) {
  n <- nrow(data$x)
  m <- nrow(points$x)
  product <- matrix(1, m, n)
  p <- ncol(data$x)
  q <- ncol(data$unordered)
  for (k in which(parts)) {
    made <- if (k <= p) {
      u <- outer(points$x[, k], data$x[, k], `-`) / task$h[k]
      (if (convolution) density_convolution(u, task) else density_continuous(u, task)) / task$h[k]
    } else {
      kind <- if (k - p <= q) "unordered" else "ordered"
      column <- if (kind == "unordered") k - p else k - p - q
      from <- rep(data[[kind]][, column], each = m)
      to <- rep(points[[kind]][, column], n)
      of_levels(from, to, function(from, to) {
        density_factor(from, to, task$lambda[k - p], data$levels[k - p], kind, task, convolution)
      })
    }
    product <- product * matrix(made, m, n)
  }
  product
}

density_parts <- function(data) rep(TRUE, ncol(data$x) + ncol(data$unordered) + ncol(data$ordered))

# The objective as np minimises it, and how many observations have no density.
density_objective <- function(data, task, given = !density_parts(data)) {
  n <- nrow(data$x)
  all <- density_parts(data)
  whole <- density_kernels(data, task, data, all)
  conditional <- any(given)
  below <- if (conditional) density_kernels(data, task, data, given)
  diag(whole) <- 0
  sums <- rowSums(whole)
  if (conditional) {
    diag(below) <- 0
    sums_below <- rowSums(below)
  }
  if (task$method == "cv.ml") {
    lost <- if (conditional) sums <= 0 | sums_below <= 0 else sums < .Machine$double.xmin
    kept <- suppressWarnings(log(sums) - if (conditional) log(sums_below) else log(n - 1))
    return(list(value = -sum(ifelse(lost, density_floor, kept)), unsupported = sum(lost)))
  }
  rest <- density_kernels(data, task, data, all & !given, convolution = TRUE)
  if (!conditional) return(list(value = sum(rest) / n^2 - 2 * sum(sums) / (n * (n - 1)), unsupported = 0))
  supported <- sums_below != 0
  square <- rowSums((below %*% rest) * below) / sums_below^2
  list(value = sum((square - 2 * sums / sums_below)[supported]) / n, unsupported = sum(!supported))
}

density_gradient <- function(data, task, given, step = 1e-3) {
  p <- length(task$h)
  start <- c(log(task$h), task$lambda)
  at <- function(where) {
    task$h <- exp(where[seq_len(p)])
    task$lambda <- where[seq_along(where) > p]
    density_objective(data, task, given)$value
  }
  vapply(seq_along(start), function(k) {
    slope <- function(step) (at(replace(start, k, start[k] + step)) - at(replace(start, k, start[k] - step))) / step / 2
    (4 * slope(step / 2) - slope(step)) / 3
  }, 0)
}

# Densities and their standard errors, those of a mean or, of a conditional density, of a ratio of two means.
density_fit <- function(data, task, points = data, given = !density_parts(data)) {
  n <- nrow(data$x)
  whole <- density_kernels(data, task, points, density_parts(data))
  if (!any(given)) {
    return(list(density = rowMeans(whole), se = apply(whole, 1, stats::sd) / sqrt(n)))
  }
  below <- density_kernels(data, task, points, given)
  density <- rowSums(whole) / rowSums(below)
  list(density = density, se = sqrt(rowSums((whole - density * below)^2)) / rowSums(below))
}
