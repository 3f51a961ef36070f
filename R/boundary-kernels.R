# Sums of kernels that change near bounds: linear boundary kernels and beta kernels. `at`: list(points = ) or list(axes
# = ), all within the bounds. The fields of an estimate that are needed: x, w, H, xmin, xmax.

# ---- Quadrature and interpolation ---------------------------------------------------------------------------------
# Functions that are smooth on panels are known from their values at Chebyshev's points in each (R/variable-sums.R).

# The points of panels between breaks, of all or those that are `active`, and their weights for integrals, Fejer's
# (Waldvogel 2006, equation 2.2).
panel_nodes <- function(breaks, active = seq_len(length(breaks) - 1L)) {
  angle <- pi * (seq_len(chebyshev_count) - 0.5) / chebyshev_count
  j <- seq_len(chebyshev_count / 2)
  weight <- 2 / chebyshev_count * (1 - 2 * drop(cos(2 * outer(angle, j)) %*% (1 / (4 * j^2 - 1))))
  half <- (breaks[active + 1L] - breaks[active]) / 2
  list(at = as.vector(outer(cos(angle), half) + rep(breaks[active] + half, each = chebyshev_count)),
       weight = as.vector(outer(weight, half)), breaks = breaks, active = active)
}

# Values at t in the panels from those at the nodes.
from_panels <- function(nodes, values, t) {
  panel <- pmin(pmax(findInterval(t, nodes$breaks), 1L), length(nodes$breaks) - 1L)
  out <- numeric(length(t))
  for (rows in split(seq_along(t), panel)) {
    heard()
    k <- panel[rows[1L]]
    polynomials <- chebyshev_polynomials(chebyshev_points(nodes$breaks[k + 0:1]), t[rows])
    out[rows] <- polynomials %*% values[(match(k, nodes$active) - 1L) * chebyshev_count + seq_len(chebyshev_count)]
  }
  out
}

# Of numbers for the nodes of all panels those for the nodes that there are.
on_panels <- function(nodes, values) {
  values[rep((nodes$active - 1L) * chebyshev_count, each = chebyshev_count) +
           seq_len(chebyshev_count)]
}

even_breaks <- function(from, to, width) seq(from, to, length.out = max(ceiling((to - from) / width), 1) + 1)

# ---- Linear boundary kernels (Jones 1993; Hazelton & Marshall 2009) -----------------------------------------------
# At x the kernel is K(u) (c_0 + sum_k c_k u_k), u = (x - X) / h, with the c for which it integrates to one over the X
# within the bounds, and its first moments are zero. K is the product of normal densities. In each variable u then runs
# from (x - xmax) / h to (x - xmin) / h. With the mass a_k, the mean m_k and the variance v_k of the normal density
# there, c_0 = (1 + sum_k m_k^2 / v_k) / prod a and c_k = -m_k / v_k / prod a.

# These at coordinates t of a variable.
moments_within <- function(t, h, lower, upper) {
  low <- (t - upper) / h
  high <- (t - lower) / h
  if ((upper - lower) / h < 4) {
    # The differences of the closed form lose their digits.
    nodes <- panel_nodes(c(0, 1))
    u <- low + outer(high - low, nodes$at)
    mass <- stats::dnorm(u) * (high - low) * rep(nodes$weight, each = length(t))
    a <- rowSums(mass)
    m <- rowSums(mass * u) / a
    return(list(a = a, m = m, v = rowSums(mass * (u - m)^2) / a))
  }
  edge <- function(z) ifelse(is.finite(z), z * stats::dnorm(z), 0)
  a <- stats::pnorm(high) - stats::pnorm(low)
  m <- (stats::dnorm(low) - stats::dnorm(high)) / a
  list(a = a, m = m, v = 1 + (edge(low) - edge(high)) / a - m^2)
}

linear_sums <- function(fhat, at, run) {
  sample <- bounded_sample(fhat)
  d <- ncol(sample$x)
  h <- bounded_h(fhat)
  # The values of f(k, coordinates) at all points.
  spread <- function(f) {
    if (is.null(at$axes)) return(lapply(seq_len(d), function(k) f(k, at$points[, k])))
    sizes <- lengths(at$axes)
    lapply(seq_len(d), function(k) {
      below <- prod(sizes[seq_len(k - 1L)])
      lapply(f(k, at$axes[[k]]), function(one) rep(rep(one, each = below), length.out = prod(sizes)))
    })
  }
  moments <- spread(function(k, t) moments_within(t, h[k], fhat$xmin[k], fhat$xmax[k]))
  sums <- function(order) {
    pilot <- new_derivative(sample, diag(h^2, d), order, FALSE)
    pilot$.sample <- sample$data
    task <- if (is.null(at$axes)) task_at_points(pilot, at$points) else task_on_axes(pilot, at$axes)
    derivatives_of(pilot, task, c(run, engine = "auto"))$values
  }
  slopes <- sums(1L)
  value <- (1 + Reduce(`+`, lapply(moments, function(one) one$m^2 / one$v))) * sums(0L)[, 1L]
  # The sums of u_k K(u) are -h_k times the derivatives.
  for (k in seq_len(d)) value <- value + moments[[k]]$m / moments[[k]]$v * h[k] * slopes[, k]
  value / Reduce(`*`, lapply(moments, `[[`, "a"))
}

# The integral of the sums between the bounds. That of an observation's kernel is prod_k A_k(X_k) + sum_k B_k(X_k) prod_
# {j != k} A_j(X_j), A and B the integrals of K(u) / a and of (m^2 - m u) / (v a) K(u) over x.
linear_mass <- function(fhat) {
  x <- sample_matrix(fhat)
  h <- bounded_h(fhat)
  parts <- lapply(seq_len(ncol(x)), function(k) integrals_of_linear(x[, k], h[k], fhat$xmin[k], fhat$xmax[k]))
  whole <- Reduce(`*`, lapply(parts, `[[`, "A"))
  of_kernel <- whole * (1 + Reduce(`+`, lapply(parts, function(one) one$B / one$A)))
  sum(fhat$w * of_kernel) / sum(fhat$w)
}

integrals_of_linear <- function(x, h, lower, upper) {
  found <- list(A = rep(1, length(x)), B = numeric(length(x)))
  reach <- 2 * image_reach("gaussian") * h
  width <- upper - lower
  # In distances from a bound, so that points between the data have digits far from 0, too. Kernels near the upper one
  # are the mirror images of those near the lower one, with the same integrals.
  both <- width <= 2 * reach
  to <- if (both) width else reach
  for (distance in if (both) list(x - lower) else list(x - lower, upper - x)) {
    rows <- which(distance <= to)
    if (length(rows) == 0L) next
    within <- linear_near(distance[rows], h, width, to)
    found$A[rows] <- within$A
    found$B[rows] <- within$B
  }
  found
}

# A and B at distances x from the lower bound, up to `to`, if the bounds are `width` apart.
linear_near <- function(x, h, width, to) {
  t <- panel_nodes(even_breaks(0, min(width, to + image_reach("gaussian") * h), h))
  nodes <- panel_nodes(even_breaks(0, to, h))
  moments <- moments_within(t$at, h, 0, width)
  u <- outer(t$at, nodes$at, `-`) / h
  kernel <- stats::dnorm(u) / h * t$weight / moments$a
  A <- colSums(kernel)
  B <- colSums(kernel * (moments$m^2 - moments$m * u) / moments$v)
  list(A = from_panels(nodes, A, x), B = from_panels(nodes, B, x))
}

# ---- Beta kernels (Chen 1999, the second form) --------------------------------------------------------------------
# At u within the unit interval the kernel is the beta density of X with the shapes u / b and (1 - u) / b, and near the
# ends, where a shape would be below 2, with one between 1 and 2.

beta_shapes <- function(u, b) {
  # rho(u) of Chen (1999), in a form without a difference of large numbers. At the end it is 1 without rounding, since
  # the density there is infinite for less, and 0 for more.
  near <- function(u) {
    c <- 2 * b^2 + 2.5
    rho <- (c^2 - 4 * b^4 - 6 * b^2 - 2.25 + u^2 + u / b) / (c + sqrt(4 * b^4 + 6 * b^2 + 2.25 - u^2 - u / b))
    ifelse(u == 0, 1, pmax(rho, 1))
  }
  shape <- function(u) {
    low <- u < 2 * b
    replace(u / b, low, near(u[low]))
  }
  list(p = shape(u), q = shape(1 - u))
}

# Kernels of the observations x, in rows, at the points u.
beta_kernels <- function(x, u, b) {
  shapes <- beta_shapes(u, b)
  # With small b the powers would lose digits. dbeta() keeps them, but takes long.
  if (b < 1e-3) {
    return(matrix(stats::dbeta(x, rep(shapes$p, each = length(x)), rep(shapes$q, each = length(x))), length(x)))
  }
  # For powers of zero.
  least <- function(log) pmax(log, -1e300)
  exp(outer(least(log(x)), shapes$p - 1) + outer(least(log1p(-x)), shapes$q - 1) -
        rep(lbeta(shapes$p, shapes$q), each = length(x)))
}

# On the unit interval.
unit_coordinates <- function(fhat, x, k) (x - fhat$xmin[k]) / (fhat$xmax[k] - fhat$xmin[k])

beta_b <- function(fhat) (bounded_h(fhat) / (fhat$xmax - fhat$xmin))^2

beta_sums <- function(fhat, at, run) {
  x <- sample_matrix(fhat)
  b <- beta_b(fhat)
  x <- vapply(seq_along(b), function(k) unit_coordinates(fhat, x[, k], k), numeric(nrow(x)))
  dim(x) <- c(length(fhat$w), length(b))
  u <- if (is.null(at$axes)) at$points else at$axes
  for (k in seq_along(b)) {
    if (is.null(at$axes)) u[, k] <- unit_coordinates(fhat, u[, k], k) else u[[k]] <- unit_coordinates(fhat, u[[k]], k)
  }
  sums <- if (takes_beta_cells(x, b, u)) {
    on_grid <- is.list(u)
    beta_sums_cpp(x, fhat$w, b, if (on_grid) matrix(0, 0L, length(b)) else u, if (on_grid) u else list(), run)
  } else {
    all_beta_kernels(x, fhat$w, b, u)
  }
  sums / (nrow(x) * prod(fhat$xmax - fhat$xmin))
}

# Whether the observations are moved to nodes of cells (src/core/beta/README.md), or all kernels are computed, whichever
# takes less time. In nanoseconds: a kernel 40, and a step of a sum 1, in a product of matrices 0.3.
takes_beta_cells <- function(x, b, u) {
  d <- length(b)
  n <- nrow(x)
  if (n < 200) return(FALSE)
  nodes <- 20 * beta_cells_cpp(x, b)
  if (8 * prod(nodes) > 1e9) return(FALSE)
  near <- pmin(nodes, 200)
  if (!is.list(u)) {
    m <- nrow(u)
    return(n * 20^d + m * (prod(near) + 40 * sum(near)) < 40 * n * m * d)
  }
  m <- lengths(u)
  steps <- sum(vapply(seq_len(d), function(k) prod(m[seq(k, d)]) * near[k] * prod(nodes[seq_len(k - 1L)]), 0))
  n * 20^d + steps + 40 * sum(m * near) < n * (40 * sum(m) + if (d > 1L) 0.3 * prod(m) else 0)
}

# `u`: points, the rows of a matrix, or a list of axes.
all_beta_kernels <- function(x, w, b, u) {
  d <- length(b)
  on_grid <- is.list(u)
  if (!on_grid) u <- lapply(seq_len(d), function(k) u[, k])
  total <- 0
  for (rows in beta_parts(nrow(x), max(lengths(u)), if (on_grid) prod(lengths(u)[-d]) else 0)) {
    heard()
    kernels <- lapply(seq_len(d), function(k) beta_kernels(x[rows, k], u[[k]], b[k]))
    kernels[[1L]] <- kernels[[1L]] * w[rows]
    total <- total + if (on_grid) sum_of_products(kernels) else colSums(Reduce(`*`, kernels))
  }
  total
}

# Parts of the observations whose kernels take about 4 MB, hundredths of a second.
beta_parts <- function(n, points, products) parts_of(n, max(floor(5e5 / max(points, products, 1)), 1))

# sum_i prod_k of the rows of d matrices, on the grid of their columns.
sum_of_products <- function(kernels) {
  d <- length(kernels)
  if (d == 1L) return(colSums(kernels[[1L]]))
  first <- kernels[[1L]]
  for (k in seq_len(d - 2L) + 1L) {
    first <- first[, rep(seq_len(ncol(first)), ncol(kernels[[k]])), drop = FALSE] *
      kernels[[k]][, rep(seq_len(ncol(kernels[[k]])), each = ncol(first)), drop = FALSE]
  }
  as.vector(crossprod(first, kernels[[d]]))
}

# Panels on which the kernels are smooth in u, to 1e-13. Near the ends powers of small x change over a fraction of b. In
# the middle the standard deviation of a kernel is half of sqrt(b), in units of asin(sqrt(u)).
beta_breaks <- function(b) {
  end <- 2 * b * c(0, 2^(-6:0))
  if (b >= 0.25) return(sort(unique(c(end, 1 - end))))
  middle <- sin(even_breaks(asin(sqrt(2 * b)), asin(sqrt(1 - 2 * b)), sqrt(b)))^2
  c(end, middle[-c(1L, length(middle))], rev(1 - end))
}

# Those of these panels that kernels of values u reach. In units of asin(sqrt(u)) a kernel is negligible beyond 9
# standard deviations, 4.5 sqrt(b), and in the panels at the ends it is not.
reached_panels <- function(breaks, u, b) {
  last <- length(breaks) - 1L
  angle <- asin(sqrt(breaks))
  heard()
  at <- asin(sqrt(u))
  heard()
  from <- pmin(pmax(findInterval(at - 5 * sqrt(b), angle), 1L), last)
  heard()
  to <- pmin(pmax(findInterval(at + 5 * sqrt(b), angle), 1L), last)
  changes <- tabulate(from, last + 1L) - tabulate(to + 1L, last + 1L)
  which(cumsum(changes)[seq_len(last)] > 0)
}

# The integral of the sums over the unit intervals.
beta_mass <- function(fhat) {
  x <- sample_matrix(fhat)
  b <- beta_b(fhat)
  of_kernel <- 1
  for (k in seq_along(b)) of_kernel <- of_kernel * beta_masses(unit_coordinates(fhat, x[, k], k), b[k])
  sum(fhat$w * of_kernel) / sum(fhat$w)
}

# The integral of the kernel of each value over the unit interval. It is smooth on the cells of these values, and
# depends on the distance from the nearer end.
beta_masses <- function(u, b) {
  nodes <- if (length(u) > 1e3) beta_nodes_cpp(u, b)
  if (is.null(nodes) || length(nodes) > length(u)) return(all_beta_masses(u, b))
  beta_interpolated_cpp(u, b, all_beta_masses(nodes, b))
}

all_beta_masses <- function(u, b) {
  by_panels <- function(u, breaks) {
    nodes <- panel_nodes(breaks)
    in_parts(length(u), max(floor(5e5 / length(nodes$at)), 1), function(part) {
      drop(beta_kernels(u[part], nodes$at, b) %*% nodes$weight)
    })
  }
  if (length(u) == 0L) return(numeric(0))
  if (b >= 1e-3) return(by_panels(u, beta_breaks(b)))
  # Narrow kernels are integrated where they are. Those of values near the ends reach up to 400 b.
  mass <- numeric(length(u))
  low <- u < 200 * b
  high <- u > 1 - 200 * b
  ends <- c(2 * b * c(0, 2^(-6:0)), sin(even_breaks(asin(sqrt(2 * b)), 20 * sqrt(b), sqrt(b)))[-1L]^2)
  mass[low] <- by_panels(u[low], ends)
  mass[high] <- by_panels(1 - u[high], ends)
  mass[!low & !high] <- narrow_masses(u[!low & !high], b)
  mass
}

# In units of asin(sqrt(u)) these kernels are nearly normal densities, for which the trapezoid rule with steps of 0.6
# standard deviations is exact to rounding. Of u and 1 - u the smaller one keeps more digits.
narrow_masses <- function(u, b) {
  u <- pmin(u, 1 - u)
  steps <- seq(-16, 16) * 0.3 * sqrt(b)
  in_parts(length(u), 5e3, function(part) {
    at <- outer(asin(sqrt(u[part])), steps, `+`)
    shapes <- beta_shapes(sin(at)^2, b)
    rowSums(matrix(stats::dbeta(u[part], shapes$p, shapes$q) * sin(2 * at), length(part))) * 0.3 * sqrt(b)
  })
}
