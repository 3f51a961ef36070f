# SiZer maps of densities of two variables (Godtliebsen, Marron & Chaudhuri 2002), behind sizer().

# What sizer() returns for two columns. Sums are over the data in units of their standard deviations.
plane_map <- function(sample, h, length, order, gridsize, xmin, xmax, level, method, run) {
  plane <- plane_of_map(sample)
  first <- if (is.null(xmin)) plane$limits[1L, ] else check_per_axis(xmin, 2L, "xmin")
  last <- if (is.null(xmax)) plane$limits[2L, ] else check_per_axis(xmax, 2L, "xmax")
  check_limits(first, last)
  sizes <- if (is.null(gridsize)) c(61, 61) else check_per_axis(gridsize, 2L, "gridsize")
  for (size in sizes) check_count(size, "gridsize", 2L)
  if (!is.null(h)) h <- check_plane_bandwidths(h, plane)
  sizes <- c(sizes, if (is.null(h)) length else base::length(h))
  # Derivatives, statistics, and those of one bandwidth, whose squares have up to five derivatives.
  check_memory(sizes, 8 * 9 * prod(sizes), "gridsize")
  axes <- lapply(1:2, function(k) seq(first[k], last[k], length.out = sizes[k]))
  step <- (last - first) / plane$unit / (sizes[1:2] - 1)
  if (is.null(h)) h <- exp(seq(log(min(2 * max(step), 0.1)), log(1), length.out = length))
  scaled <- lapply(1:2, function(k) (axes[[k]] - plane$centre[k]) / plane$unit[k])
  layers <- lapply(h, function(one) {
    heard()
    layer_of_map(plane, scaled, one, order, step, level, method, run)
  })
  joined <- function(name, more = NULL) {
    array(unlist(lapply(layers, `[[`, name)), c(sizes[1:2], more, base::length(h)))
  }
  exponents <- tuple_exponents(index_tuples(2L, order), 2L)
  derivative <- joined("derivative", nrow(exponents)) /
    rep(rep(exp(as.vector((exponents + 1) %*% log(plane$unit))), each = prod(sizes[1:2])), base::length(h))
  if (!all(is.finite(derivative))) abort_derivatives(order)
  list(eval.points = axes, h = h, scale = plane$unit, estimate = joined("kind"), derivative = derivative,
       statistic = joined("statistic", if (order == 2L) 2L), ess = joined("ess"),
       quantile = vapply(layers, `[[`, 0, "quantile"), n = plane$n, n_eff = plane$n_eff, names = sample$names)
}

# The data in units of their standard deviations, as a sample of the core.
plane_of_map <- function(sample) {
  limits <- ranges_cpp(sample$x)
  unit <- sqrt(diag(sample$cov))
  centre <- colMeans(limits)
  at <- unname((sample$x - rep(centre, each = nrow(sample$x))) / rep(unit, each = nrow(sample$x)))
  list(x = at, w = sample$w, names = sample$names, data = sample_cpp(at, sample$w), limits = unname(limits),
       unit = unname(unit), centre = unname(centre), n = length(sample$w), n_eff = sample$n)
}

check_plane_bandwidths <- function(h, plane) {
  check_rows(h, "h")
  h <- unique(sort(check_positives(h, "h")))
  widest <- 10 * max(plane$limits[2L, ] - plane$limits[1L, ]) / min(plane$unit)
  if (h[length(h)] > widest) {
    abort_input("`h`, in standard deviations, must be at most 10 times the range of the data, ", format_short(widest),
                ", not ", format_short(h[length(h)]), ".")
  }
  h
}

# The means of derivatives of this order of the kernel with bandwidth h, a column for each different one.
plane_derivatives <- function(plane, axes, h, order, run) {
  fhat <- new_derivative(plane[c("x", "w", "names")], diag(h^2, 2L), order, FALSE)
  fhat$.sample <- plane$data
  derivatives_of(fhat, task_on_axes(fhat, axes), run)$values
}

# One bandwidth: derivatives, their statistics, the kind of each point (see plane_kinds()), the effective sample sizes
# and the quantile.
layer_of_map <- function(plane, axes, h, order, step, level, method, run) {
  density <- plane_derivatives(plane, axes, h, 0L, run)[, 1L]
  derivative <- plane_derivatives(plane, axes, h, order, run)
  covariance <- plane_covariance(plane, axes, h, order, derivative * h^order, run)
  statistic <- if (order == 1L) gradient_size(derivative * h, covariance) else
    curvature_sizes(derivative * h^2, covariance)
  ess <- pmax(plane$n_eff * density * 2 * pi * h^2, 0)
  enough <- ess >= 5
  q <- plane_quantile(matrix(enough, lengths(axes)[1L]), ess, plane$n_eff, step / h, order, level, method)
  kind <- rep(NA_integer_, length(ess))
  if (any(enough)) {
    # About a point, because curvatures do not depend on this size: the kernel |u|^2 / 2 K(u) is not correlated with
    # them.
    size <- if (order == 1L) ess else ess + plane$n_eff * pi * h^4 * (derivative[, 1L] + derivative[, 3L])
    limits <- tail_limits(q, size, 2L, order)
    kind <- if (order == 1L) as.integer(statistic > limits$above) else curvature_kind(statistic, limits)
  }
  kind[!enough] <- NA
  list(derivative = derivative, statistic = statistic, kind = kind, ess = ess, quantile = q)
}

# The covariances of the derivatives, times h^order, of the estimate at each point. With g = h / sqrt(2), v = (x - X) /
# g and phi_g the Gaussian kernel, the means of He_a(v_1) He_b(v_2) phi_g are g^(a + b) times the derivatives of the
# estimate with bandwidth g (for even a + b). Powers of v are sums of Hermite polynomials He, u = (x - X) / h is
# v / sqrt(2), and phi_h^2 is phi_g / (4 pi h^2). `value`: the derivatives times h^order.
plane_covariance <- function(plane, axes, h, order, value, run) {
  g <- h / sqrt(2)
  hermite <- function(of) g^of * plane_derivatives(plane, axes, g, of, run)
  f <- hermite(0L)[, 1L]
  two <- hermite(2L)
  # The means of u_1^a u_2^b phi_g.
  m20 <- (two[, 1L] + f) / 2
  m11 <- two[, 2L] / 2
  m02 <- (two[, 3L] + f) / 2
  square <- if (order == 1L) {
    list(m20, m11, m02)
  } else {
    four <- hermite(4L)
    m40 <- (four[, 1L] + 6 * two[, 1L] + 3 * f) / 4
    m31 <- (four[, 2L] + 3 * two[, 2L]) / 4
    m22 <- (four[, 3L] + two[, 1L] + two[, 3L] + f) / 4
    m13 <- (four[, 4L] + 3 * two[, 2L]) / 4
    m04 <- (four[, 5L] + 6 * two[, 3L] + 3 * f) / 4
    list(m40 - 2 * m20 + f, m31 - m11, m22 - m20 - m02 + f, m22, m13 - m11, m04 - 2 * m02 + f)
  }
  pairs <- index_tuples(ncol(value), 2L)
  vapply(seq_along(square), function(k) {
    # The kernel of two variables is the product of those with standard deviation h, which has 1 / h^2.
    (square[[k]] / (4 * pi * h^2) - value[, pairs[k, 1L]] * value[, pairs[k, 2L]]) / (plane$n_eff - 1)
  }, numeric(length(f)))
}

# The largest ratio of the derivative in a direction and its standard error: the root of b' S^-1 b.
gradient_size <- function(b, S) {
  determinant <- S[, 1L] * S[, 3L] - S[, 2L]^2
  square <- (S[, 3L] * b[, 1L]^2 - 2 * S[, 2L] * b[, 1L] * b[, 2L] + S[, 1L] * b[, 2L]^2) / determinant
  sqrt(ifelse(determinant > 0 & square > 0, square, 0))
}

# The least and the greatest second derivative in a direction, each divided by its standard error.
curvature_sizes <- function(b, S) {
  middle <- (b[, 1L] + b[, 3L]) / 2
  half <- (b[, 1L] - b[, 3L]) / 2
  radius <- sqrt(half^2 + b[, 2L]^2)
  angle <- atan2(b[, 2L], half) / 2
  size <- function(value, angle) {
    a <- cbind(cos(angle)^2, 2 * sin(angle) * cos(angle), sin(angle)^2)
    variance <- S[, 1L] * a[, 1L]^2 + S[, 4L] * a[, 2L]^2 + S[, 6L] * a[, 3L]^2 +
      2 * (S[, 2L] * a[, 1L] * a[, 2L] + S[, 3L] * a[, 1L] * a[, 3L] + S[, 5L] * a[, 2L] * a[, 3L])
    ifelse(variance > 0, value / sqrt(pmax(variance, 0)), 0)
  }
  cbind(size(middle - radius, angle + pi / 2), size(middle + radius, angle))
}

# 1 hole, 2 valley, 3 saddle, 4 ridge, 5 peak, 0 none.
curvature_kind <- function(sizes, limits) {
  sign <- (sizes > limits$above) - (sizes < -limits$below)
  kind <- c(5L, 4L, 3L, 4L, 0L, 2L, 0L, 2L, 1L)
  # Rows: the signs of the least derivative, -1, 0 and 1, and columns those of the greatest.
  kind[3L * (sign[, 1L] + 1L) + sign[, 2L] + 2L]
}

# The quantile of the largest of these statistics over the points with enough data, in steps of `step` bandwidths.
#
# Of the smoothed white noise with which the noise of an estimate is compared (Hannig & Marron 2006), the derivatives
# of order r in a direction are a field over points and directions, of variance one. Per bandwidth its slopes along
# the direction have the variance (2 r + 1) / 2 and those across 1 / 2; per angle it has 1 (r = 1), or 4 / 3 (r = 2).
# The probability of a maximum above q is the expected Euler characteristic of the set above q (Adler & Taylor 2007,
# theorem 12.4.1), for curvatures of both signs, or that of independent points, if that is less. With "blocks" it is
# that of the number of independent blocks of data.
plane_quantile <- function(enough, ess, n, step, order, level, method) {
  points <- sum(enough)
  if (points == 0L) return(NA_real_)
  spin <- if (order == 1L) 1 else sqrt(4 / 3)
  turn <- if (order == 1L) 2 * pi else pi
  sides <- order
  alone <- function(q) sides * spin * turn / (2 * pi) * exp(-q^2 / 2)
  independent <- function(q, m) -expm1(m * log1p(-pmin(alone(q), 1 - 1e-12)))
  beyond <- if (method == "blocks") {
    blocks <- max(1, n / mean(ess[enough]))
    function(q) independent(q, blocks)
  } else {
    volume <- points * prod(step) * sqrt(2 * order + 1) / 2 * spin * turn
    along <- stats::integrate(function(a) sqrt((1 + 2 * order * cos(a)^2) / 2), 0, turn)$value
    surface <- sum(border_lengths(enough, step)) / 2 * along * spin
    density <- function(q) {
      volume * (q^2 - 1) / (2 * pi)^2 + surface * q / (2 * pi)^1.5 + spin * turn / (2 * pi)
    }
    function(q) pmin(pmax(sides * density(q) * exp(-q^2 / 2), alone(q)), independent(q, points))
  }
  least <- sqrt(2 * log(max(1, alone(0) / level)))
  if (beyond(least) <= level) return(least)
  stats::uniroot(function(q) log(beyond(q) / level), c(least, 40), tol = 1e-9)$root
}

# The lengths of the borders of a region of cells, along both axes.
border_lengths <- function(inside, step) {
  padded <- matrix(FALSE, nrow(inside) + 2L, ncol(inside) + 2L)
  padded[seq_len(nrow(inside)) + 1L, seq_len(ncol(inside)) + 1L] <- inside
  c(sum(padded[-1L, ] != padded[-nrow(padded), ]) * step[2L], sum(padded[, -1L] != padded[, -ncol(padded)]) * step[1L])
}

# What 1, 2, ... and 0 mean; the last is NA.
plane_kinds <- function(map) {
  c(if (map$deriv.order == 1L) "gradient" else c("hole", "valley", "saddle", "ridge", "peak"), "not significant",
    "too few data")
}

# The number of the kind at each point.
kinds_on_plane <- function(map) {
  kinds <- length(plane_kinds(map))
  kind <- as.vector(map$estimate)
  ifelse(is.na(kind), kinds, ifelse(kind == 0, kinds - 1L, kind))
}

# The shares of the kinds for each bandwidth, a row for each, and in all of the map.
shares_on_plane <- function(map) {
  kinds <- plane_kinds(map)
  each <- matrix(kinds_on_plane(map), ncol = length(map$h))
  t(apply(each, 2L, function(kind) tabulate(kind, length(kinds)) / length(kind)))
}

plane_lines <- function(map) {
  ends <- vapply(map$eval.points, function(axis) paste(format_short(range(axis)), collapse = " to "), "")
  c(
    map_title(map, "two variables"),
    call_lines(map$call),
    label_line("n", map_size_text(map)),
    label_line("variables", paste(map$names, collapse = ", ")),
    label_line("points", paste0(paste(lengths(map$eval.points), collapse = " x "), ": ", paste(ends, collapse = ", "))),
    label_line("bandwidths", paste0(length(map$h), " from ", format_short(min(map$h)), " to ", format_short(max(map$h)),
                                    " standard deviations, ", format_short(map$seconds), " s")),
    map_level_line(map),
    label_line("map", shares_text(plane_kinds(map), colMeans(shares_on_plane(map))))
  )
}

shares_text <- function(kinds, share) paste0(kinds, " ", sprintf("%.1f", 100 * share), " %", collapse = ", ")

#' @rdname sizer
#' @export
print.kestrel_sizer_plane <- function(x, ...) {
  check_object(x, "x", "kestrel_sizer_plane")
  cat(plane_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname sizer
#' @export
summary.kestrel_sizer_plane <- function(object, ...) {
  check_object(object, "object", "kestrel_sizer_plane")
  cat(plane_lines(object), "", sep = "\n")
  shown <- few_of(length(object$h), 12L)
  share <- shares_on_plane(object)[shown, , drop = FALSE]
  colnames(share) <- plane_kinds(object)
  print(cbind(data.frame(h = format_short(object$h[shown]), quantile = format_short(object$quantile[shown])),
              format(round(100 * share, 1), nsmall = 1), " " = "%"), row.names = FALSE)
  invisible(object)
}

# At most `most` of 1, ..., n, the first and the last among them.
few_of <- function(n, most) if (n <= most) seq_len(n) else unique(round(seq(1, n, length.out = most)))

#' @rdname sizer
#' @export
as.data.frame.kestrel_sizer_plane <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_sizer_plane")
  cells <- prod(lengths(x$eval.points))
  points <- grid_points(x$eval.points)
  by_point <- function(values, names) {
    parts <- array(values, c(cells, length(names), length(x$h)))
    stats::setNames(as.data.frame(lapply(seq_along(names), function(k) as.vector(parts[, k, ]))), names)
  }
  of_derivatives <- apply(tuple_exponents(index_tuples(2L, x$deriv.order), 2L), 1L, paste, collapse = "")
  points <- stats::setNames(as.data.frame(lapply(1:2, function(k) rep(points[, k], length(x$h)))), x$names)
  bound_beside(points, cbind(
    h = rep(x$h, each = cells), by_point(x$derivative, paste0("derivative", of_derivatives)),
    by_point(x$statistic, if (x$deriv.order == 1L) "statistic" else c("least", "greatest")),
    data.frame(ess = as.vector(x$ess), estimate = as.vector(x$estimate))
  ))
}

# Colours for the kinds of plane_kinds().
plane_colours <- function(map) {
  c(if (map$deriv.order == 1L) colours$curve else grDevices::hcl.colors(5L, "Zissou 1"), colours$bar, colours$pale)
}

#' @rdname sizer
#' @export
plot.kestrel_sizer_plane <- function(x, col = NULL, xlab = NULL, ylab = NULL, main = NULL, ...) {
  check_object(x, "x", "kestrel_sizer_plane")
  kinds <- plane_kinds(x)
  col <- if (is.null(col)) plane_colours(x) else rep(check_graphical(col, "col"), length.out = length(kinds))
  more <- list(...)
  shown <- few_of(length(x$h), 6L)
  rows <- ceiling(length(shown) / 3)
  old <- graphics::par(mfrow = c(rows, ceiling(length(shown) / rows)), oma = c(2, 0, 0, 0))
  on.exit(graphics::par(old))
  kind <- array(kinds_on_plane(x), dim(x$estimate))
  for (k in shown) {
    title <- paste0(if (!is.null(main)) paste0(main, ", "), "h = ", format_short(x$h[k]))
    ends <- lapply(x$eval.points, function(axis) range(borders(axis)))
    empty_plot(ends[[1L]], ends[[2L]], more, main = title, xlab = given_or(xlab, x$names[1L]),
               ylab = given_or(ylab, x$names[2L]))
    drawing_with(more, {
      graphics::image(x$eval.points[[1L]], x$eval.points[[2L]], kind[, , k], add = TRUE, col = col,
                      zlim = c(1, length(kinds)) + c(-0.5, 0.5), breaks = seq_len(length(kinds) + 1L) - 0.5)
      if (x$deriv.order == 1L) draw_gradients(x, k)
    })
  }
  graphics::par(mfrow = c(1, 1), oma = c(0, 0, 0, 0), mar = c(0, 0, 0, 0), new = TRUE)
  graphics::plot.new()
  graphics::legend("bottom", kinds, fill = col, border = colours$frame, horiz = TRUE, bty = "n", cex = 0.8,
                   x.intersp = 0.5)
  invisible(x)
}

# Arrows in the direction of significant gradients, in standard deviations, at about 15 points of each axis.
draw_gradients <- function(map, k) {
  each <- lapply(lengths(map$eval.points), function(n) few_of(n, 15L))
  at <- expand.grid(each)
  at <- as.matrix(at[which(map$estimate[, , k][as.matrix(at)] == 1), , drop = FALSE])
  if (nrow(at) == 0L) return(invisible())
  slope <- vapply(1:2, function(j) map$derivative[, , j, k][at] * map$scale[j], numeric(nrow(at)))
  slope <- matrix(slope, ncol = 2L)
  span <- vapply(map$eval.points, function(axis) diff(range(axis)), 0)
  size <- min(span / map$scale) / 25
  move <- slope / sqrt(rowSums(slope^2)) * size * rep(map$scale, each = nrow(at))
  from <- cbind(map$eval.points[[1L]][at[, 1L]], map$eval.points[[2L]][at[, 2L]])
  graphics::arrows(from[, 1L] - move[, 1L], from[, 2L] - move[, 2L], from[, 1L] + move[, 1L], from[, 2L] + move[, 2L],
                   length = 0.04, col = "white")
}
