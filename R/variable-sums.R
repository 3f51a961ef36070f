# Sums of Gaussian kernels whose bandwidths differ, h_j I for an observation or h(x) I for a point. As a function of log
# h a kernel is smooth. So within a narrow range of bandwidths it is the polynomial through its values at Chebyshev's
# points, to rounding, and the sum is one of ordinary sums with the bandwidths of these points: by the fast engines.

# Ranges of bandwidths are at most a factor of 2 wide. There 20 points leave 6e-15 of exp(-s / h^2) / h^d for all s and
# d = 1 to 3: the kernel is analytic in log h within pi / 4 of the real axis (Trefethen 2013, theorem 8.2).
widest_log_range <- log(2)
chebyshev_count <- 20L

# The points in a range, and their barycentric weights (Berrut & Trefethen 2004, equation 5.2).
chebyshev_points <- function(range) {
  angle <- pi * (seq_len(chebyshev_count) - 0.5) / chebyshev_count
  list(at = mean(range) + diff(range) / 2 * cos(angle), weight = (-1)^seq_len(chebyshev_count) * sin(angle))
}

# Row j: the polynomials that are one at one of the points and zero at the others, at t_j.
chebyshev_polynomials <- function(points, t) {
  ratio <- rep(points$weight, each = length(t)) / outer(t, points$at, `-`)
  value <- ratio / rowSums(ratio)
  hit <- which(is.nan(value[, 1L]) | is.infinite(rowSums(ratio)))
  value[hit, ] <- 1 * (t[hit] == rep(points$at, each = length(hit)))
  value
}

# The positions of bandwidths that share a range, for each range that has any.
bandwidth_ranges <- function(h) {
  t <- log(h)
  low <- min(t)
  split(seq_along(h), pmax(ceiling((t - low) / widest_log_range), 1), drop = TRUE)
}

# sum_j w_j K_h(e - x_j) over the chosen observations. `at`: list(points = ) or list(axes = ).
sum_of_kernels <- function(sample, chosen, w, h, at, run) {
  x <- sample$x[chosen, , drop = FALSE]
  fhat <- gaussian_density(list(x = x, w = w, names = sample$names), diag(h^2, ncol(x)))
  sum_at(fhat, at, run) * nrow(x)
}

sum_at <- function(fhat, at, run) {
  run$tol <- 1e-13
  task <- if (is.null(at$axes)) task_at_points(fhat, at$points) else task_on_axes(fhat, at$axes)
  as.vector(run_density(fhat, task, run)$estimate)
}

# sum_j w_j K_h_j(e - x_j), with a bandwidth for each observation. The polynomials of the observations are weights of
# both signs, and those of each sign are summed by themselves.
sums_by_sample <- function(sample, h, at, run) {
  total <- 0
  each_range(h, run, function(rows, run) {
    of_node <- function(node, weight) {
      for (sign in c(1, -1)) {
        chosen <- which(sign * weight > 0)
        if (length(chosen) == 0L) next
        w <- sign * sample$w[rows[chosen]] * weight[chosen]
        if (any(w > 0)) total <<- total + sign * sum_of_kernels(sample, rows[chosen], w, node, at, run)
      }
    }
    each_node(h[rows], of_node)
  })
  pmax(total, 0)
}

# sum_j w_j K_h_i(e_i - x_j), with a bandwidth for each point.
sums_by_point <- function(sample, h, points, run) {
  total <- numeric(length(h))
  each_range(h, run, function(rows, run) {
    at <- list(points = points[rows, , drop = FALSE])
    each_node(h[rows], function(node, weight) {
      fhat <- gaussian_density(sample, diag(node^2, ncol(points)))
      fhat$.sample <- sample$data
      needed <- which(weight != 0)
      at$points <- at$points[needed, , drop = FALSE]
      total[rows[needed]] <<- total[rows[needed]] + weight[needed] * sum_at(fhat, at, run) * nrow(sample$x)
    })
  })
  pmax(total, 0)
}

# Calls of_range(rows, run) for the rows of each range of bandwidths. Its share of the progress is that of its rows.
each_range <- function(h, run, of_range) {
  done <- 0
  progress <- run$progress
  for (rows in bandwidth_ranges(h)) {
    heard()
    if (!is.null(progress)) progress(done / length(h))
    of_range(rows, replace(run, "progress", list(NULL)))
    done <- done + length(rows)
  }
}

# Calls of_node(bandwidth, weights) for the points of a range, or for its bandwidths if they are no more than that.
each_node <- function(h, of_node) {
  different <- unique(h)
  if (length(different) <= chebyshev_count) {
    for (one in different) of_node(one, 1 * (h == one))
    return(invisible())
  }
  points <- chebyshev_points(range(log(h)))
  polynomials <- chebyshev_polynomials(points, log(h))
  for (k in seq_len(chebyshev_count)) of_node(exp(points$at[k]), polynomials[, k])
}
