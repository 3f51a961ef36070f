# Integrals of the normal kernel over polygons, by which kde.truncate() divides at a boundary.

# The estimate with each weight divided by the kernel's mass within the corners; `.mass` is what it has to be divided
# by, in place of its sum over the grid.
put_back <- function(fhat, corners) {
  if (fhat$kernel != "gaussian" || !is.null(fhat$transform) || !has_data(fhat)) {
    abort_input("`fhat` must be an estimate by the Gaussian kernel, without bounds and with its data, for ",
                "edge.correct = TRUE.")
  }
  x <- sample_matrix(fhat)
  outside <- sum(!is_within(x, corners))
  if (outside > 0L) {
    abort_input("`boundary` must hold all observations for edge.correct = TRUE, but ", outside, " of ", nrow(x),
                " are outside.")
  }
  oriented <- oriented_corners(corners)
  root <- bandwidth_root(fhat)
  to_line <- function(points) t(forwardsolve(root, t(points)))
  mass <- polygon_masses(to_line(x), to_line(oriented))
  if (any(mass <= 0)) {
    abort_input("`boundary` must hold some of the kernel of each observation; there is none for ", sum(mass <= 0), ".")
  }
  w <- fhat$w / mass
  again <- replace(fhat, "w", list(scale_weights(w)))
  again$n_eff <- effective_size(weight_sums_cpp(again$w))
  again <- estimate_on_grid(again, list(axes = axes_of(fhat), gridtype = fhat$gridtype), run_options())
  again$.mass <- length(w) / sum(w)
  again
}

# The rings with their interior on the left: outer rings counter-clockwise, and holes, which lie within an odd number of
# other rings, clockwise.
oriented_corners <- function(corners) {
  rings <- lapply(ring_rows(corners), function(rows) corners[rows, , drop = FALSE])
  made <- lapply(seq_along(rings), function(k) {
    ring <- rings[[k]]
    depth <- sum(vapply(rings[-k], function(other) is_within(ring[1L, , drop = FALSE], other), NA))
    centred <- ring - rep(colMeans(ring), each = nrow(ring))
    following <- centred[c(2:nrow(ring), 1L), , drop = FALSE]
    area <- sum(centred[, 1L] * following[, 2L] - following[, 1L] * centred[, 2L])
    if ((area > 0) == (depth %% 2L == 0L)) ring else ring[rev(seq_len(nrow(ring))), , drop = FALSE]
  })
  do.call(rbind, c(list(made[[1L]]), lapply(made[-1L], function(ring) rbind(NA, ring))))
}

# The integrals over the polygon of standard normal densities about the points. Each edge adds, with its sign, the
# triangle between it and the point: in polar coordinates the integral of (1 - exp(-r^2 / 2)) / (2 pi) over the angle, r
# the distance of the edge. With p the distance of the edge's line and t p the place along it from the foot of the
# perpendicular, that is (atan(t) / (2 pi) - T(p, t)) between the ends, T the function of Owen (1956).
polygon_masses <- function(points, corners) {
  edges <- edges_of(corners)
  mass <- numeric(nrow(points))
  for (i in seq_len(nrow(edges$from))) {
    heard()
    along <- edges$to[i, ] - edges$from[i, ]
    size <- sqrt(sum(along^2))
    if (size == 0) next
    x <- edges$from[i, 1L] - points[, 1L]
    y <- edges$from[i, 2L] - points[, 2L]
    p <- (x * along[2L] - y * along[1L]) / size
    first <- (x * along[1L] + y * along[2L]) / size
    # On the line of the edge the triangle is flat.
    off <- which(p != 0)
    h <- abs(p[off])
    wedge <- function(t) atan(t) / (2 * pi) - owen(h, t)
    mass[off] <- mass[off] + sign(p[off]) * (wedge((first[off] + size) / h) - wedge(first[off] / h))
  }
  mass
}

# Owen's T(h, a) for h > 0: (1 / 2 pi) times the integral of exp(-h^2 (1 + x^2) / 2) / (1 + x^2) from 0 to a. For a <= 1
# by 40 Gauss-Legendre points, whose error is below 1e-16, since the poles are at -i and i; for a > 1 by the identity of
# Owen (1956, 2.4) that turns a into 1 / a.
owen <- function(h, a) {
  size <- abs(a)
  turned <- size > 1
  height <- ifelse(turned, size * h, h)
  slope <- ifelse(turned, 1 / size, size)
  value <- numeric(length(h))
  for (k in seq_along(legendre$node)) {
    square <- 1 + (slope * legendre$node[k])^2
    value <- value + legendre$weight[k] * exp(-height^2 * square / 2) / square
  }
  value <- value * slope / (2 * pi)
  # Upper tails keep the digits of what is small.
  above <- function(z) stats::pnorm(z, lower.tail = FALSE)
  value <- ifelse(turned, (above(h) + above(size * h)) / 2 - above(h) * above(size * h) - value, value)
  sign(a) * value
}

# Nodes and weights on [0, 1], by the eigenvalues of the Jacobi matrix (Golub & Welsch 1969).
legendre <- local({
  k <- 1:39
  side <- k / sqrt(4 * k^2 - 1)
  jacobi <- matrix(0, 40L, 40L)
  jacobi[cbind(k, k + 1L)] <- jacobi[cbind(k + 1L, k)] <- side
  made <- eigen(jacobi, symmetric = TRUE)
  list(node = (made$values + 1) / 2, weight = made$vectors[1L, ]^2)
})
