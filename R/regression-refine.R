# The search for a regression bandwidth between those of a scan or of a grid.

# Observations times bandwidths that may be evaluated at once: 0.1 to 0.7 s of one thread, see core/regression/cost.cpp.
fits_at_once <- 4e6

# Bandwidths that may be evaluated at once with any number of observations.
always_affordable <- 50L

# What was tried, with the best bandwidths in the valleys of a scan, or between the neighbours of the best of a grid.
# The lower neighbour of the first of a grid is the smallest bandwidth that supports every observation.
#
# With the Gaussian kernel the curve is smooth, and all valleys are searched at once. The curve of a compact kernel
# bends, and may jump, where the bandwidth is the distance of two observations, since there windows gain observations.
# So its lowest valleys are searched one after another, and where these distances are few, all of them are evaluated, on
# both sides.
#
# Bandwidths are on the user's scale, as they are returned: the last digit decides on which side of a jump they are.
refine_bandwidth <- function(data, grid, tried, asked, run) {
  kernel <- asked$ckertype
  objective <- function(bw) {
    curve <- regression_curve(data, bw * grid$unit, asked, run)
    ifelse(is.finite(curve$cv) & (asked$unsupported == "exclude" | curve$unsupported == 0L), curve$cv, Inf)
  }
  tried$value[is.na(tried$value)] <- Inf
  affordable <- fits_at_once / length(data$x)
  at_distances <- function(ends, most, nearest = FALSE) {
    bandwidths_at_distances(data, range(ends), grid$unit, kernel, nearest, most)
  }
  if (grid$search == "global" && is_compact(kernel)) {
    # With few observations all distances.
    most <- if (is_step(kernel)) affordable else affordable / 8
    tried <- with_tried(objective, tried, at_distances(c(min(tried$bw[tried$value < Inf]), max(tried$bw)), most))
  }
  finite <- tried$bw < Inf
  bw <- tried$bw[finite]
  value <- tried$value[finite]
  valleys <- if (grid$search == "global") valleys_of(value) else which.min(value)
  ends <- sides_of(bw, valleys)
  lower <- ends[1L, ]
  if (asked$unsupported == "reject") {
    if (grid$search == "grid" && valleys == 1L) lower <- max(1e-20 * lower, regression_limits[1L])
    # The support is 0 where every observation is tied with another.
    lower <- pmax(lower, at_least(regression_support_cpp(data$sorted, kernel), grid$unit))
  }
  if (!is_compact(kernel)) return(together(tried, polished_valleys(objective, rbind(lower, ends[2L, ]))))
  for (k in utils::head(order(value[valleys]), valleys_searched)) {
    here <- list(bw = bw[valleys[k]], value = value[valleys[k]], evaluations = 0L)
    found <- search_between(objective, here, c(lower[k], ends[2L, k]), kernel, at_distances, affordable)
    best <- which.min(found$value)
    tried <- together(tried, list(bw = found$bw[best], value = found$value[best], evaluations = found$evaluations))
  }
  tried
}

# Valleys of the curve of a compact kernel that are searched.
valleys_searched <- 3L

# Where values are lower than those beside them, on the right by more than rounding. The last of a scan stands for an
# infinite bandwidth and is in no valley.
valleys_of <- function(value) {
  inner <- seq_len(length(value) - 1L)
  little <- 1e-13 * abs(value[inner])
  which(value[inner] < Inf & value[inner] <= c(Inf, value[inner[-1L] - 1L]) + little &
          value[inner + 1L] > value[inner] + little)
}

# The bandwidths on both sides of those numbered `at`, in two rows. Both sides of a distance count as one.
sides_of <- function(bw, at) {
  rbind(bw[pmax(findInterval(bw[at] * (1 - 1e-12), bw), 1L)],
        bw[pmin(findInterval(bw[at] * (1 + 1e-12), bw) + 1L, length(bw))])
}

# The minima between the two rows of `ends`, of all valleys at once, each from nine values and the polynomial through
# them. If the polynomial of degree 4 disagrees, or if the value at the minimum is not the expected one, as next to a
# pole of the curve of a kernel of higher order, the valley is cut to two of its eight parts, at most four times. Where
# these are at most 3 % wide, the polynomial of degree 4 tells the place: its error is that of the values over their
# curvature, while that of the least value is the root of it.
polished_valleys <- function(objective, ends) {
  if (length(ends) == 0L) return(list(bw = numeric(0), value = numeric(0), evaluations = 0L))
  ends <- log(ends)
  columns <- seq_len(ncol(ends))
  evaluations <- 0L
  for (pass in 1:5) {
    middle <- (ends[1L, ] + ends[2L, ]) / 2
    half <- (ends[2L, ] - ends[1L, ]) / 2
    at <- rep(middle, each = 9L) + outer(nine_nodes, half)
    value <- matrix(objective(exp(at)), 9L)
    evaluations <- evaluations + length(value)
    best <- max.col(-t(value), "first")
    least <- value[cbind(best, columns)]
    inner <- rbind(at[cbind(pmax(best - 1L, 1L), columns)], at[cbind(pmin(best + 1L, 9L), columns)])
    found <- polynomial_minima(value, best)
    narrow <- half <= 0.03
    if (pass == 5L || all(found$smooth & (narrow | half * abs(found$place - found$rough) <= 3e-4))) {
      vertex <- exp(middle + half * ifelse(narrow, found$rough, found$place))
      at_vertex <- objective(vertex)
      evaluations <- evaluations + length(vertex)
      better <- !is.na(at_vertex) & at_vertex <= least + 1e-13 * abs(least)
      if (all(better & (narrow | abs(at_vertex - found$value) <= 1e-6 * found$range))) break
    }
    ends <- inner
  }
  list(bw = ifelse(better, vertex, exp(at[cbind(best, columns)])), value = ifelse(better, at_vertex, least),
       evaluations = evaluations)
}

nine_nodes <- -4:4 / 4

# The minima, `place` and `value`, of the polynomials through nine values, a column each, near the `best` of them, or
# that node if there is none, and the `rough` places of those of degree 4 that are nearest to them. Values are `smooth`
# if these are within a thousandth of their `range`, or within rounding.
polynomial_minima <- function(value, best) {
  least <- apply(value, 2L, min)
  range <- apply(value, 2L, max) - least
  above <- value - rep(least, each = 9L)
  quartic <- to_quartic %*% above
  octic <- to_octic %*% above
  place <- minimum_of(octic, nine_nodes[best])
  misfit <- apply(abs(outer(nine_nodes, 0:4, `^`) %*% quartic - above), 2L, max)
  list(place = place, value = least + horner(octic, place), rough = minimum_of(quartic, nine_nodes[best]),
       range = range, smooth = is.finite(range) & misfit <= 1e-3 * range + 1e-12 * abs(least))
}

# From values at the nodes to coefficients.
to_quartic <- qr.solve(outer(nine_nodes, 0:4, `^`), diag(9L))
to_octic <- solve(outer(nine_nodes, 0:8, `^`))

horner <- function(coefficients, at) {
  sum <- 0
  for (k in rev(seq_len(nrow(coefficients)))) sum <- sum * at + coefficients[k, ]
  sum
}

# Newton's steps in [-1, 1], a quarter in all; the start if they end nowhere.
minimum_of <- function(coefficients, start) {
  powers <- seq_len(nrow(coefficients)) - 1
  slope <- coefficients[-1L, , drop = FALSE] * powers[-1L]
  bend <- slope[-1L, , drop = FALSE] * powers[-c(1L, length(powers))]
  at <- start
  for (pass in 1:6) at <- pmin(pmax(at - horner(slope, at) / horner(bend, at), start - 0.25, -1), start + 0.25, 1)
  ifelse(is.finite(at), at, start)
}

# What was tried in two places, in ascending order.
together <- function(tried, more) {
  bw <- c(tried$bw, more$bw)
  place <- order(bw)
  list(bw = bw[place], value = c(tried$value, more$value)[place], evaluations = tried$evaluations + more$evaluations)
}

# Whether the curve of a kernel is constant between distances: its observations all have the same weight.
is_step <- function(kernel) kernel_row(kernel)$form == "power" && kernel_row(kernel)$outer == 0

# The bandwidth on the user's scale that is this one or, if that is not a number, a little more.
at_least <- function(h, scale) {
  bw <- h / scale
  bw * (1 + 2 * .Machine$double.eps * (bw * scale < h))
}

# The bandwidths in a range at which windows gain observations: distances, which for the uniform kernel are in the
# window, and for the others a little more, too. NULL if they are more than `most`.
bandwidths_at_distances <- function(data, range, scale, kernel, nearest, most) {
  little <- 4 * .Machine$double.eps
  if (!is.null(data$circle)) range[2L] <- min(range[2L], widest_of_images(data$circle, kernel) / scale)
  distance <- regression_distances_cpp(data$sorted, range[1L] * (1 - little) * scale, range[2L] * scale, nearest)
  if (is.null(distance)) return(NULL)
  bw <- distance / scale
  if (!is_step(kernel)) {
    bw <- bw * (1 - little / 2 * (bw * scale > distance))
    bw <- c(bw, bw * (1 + little))
  }
  bw <- bw[bw >= range[1L] & bw <= range[2L]]
  if (length(bw) <= most) bw
}

# What has been tried, bandwidths in ascending order and their values, and with it the `new` ones.
with_tried <- function(objective, tried, new) {
  new <- setdiff(new, tried$bw)
  if (length(new) == 0L) return(tried)
  together(tried, list(bw = new, value = objective(new), evaluations = length(new)))
}

# What was tried in the search for the minimum of the curve of a compact kernel between two `ends`. With the uniform
# kernel and few distances the minimum is among it.
#
# Where distances are few, all of them are tried. Otherwise those of jumps are, and those beside the best. Between them
# the curve is smooth. It changes most quickly just above them, while the observations that have come in have little
# weight.
search_between <- function(objective, tried, ends, kernel, at_distances, affordable) {
  most <- max(always_affordable, affordable)
  if (is_step(kernel) && !is.null(listed <- at_distances(ends, most))) {
    return(with_tried(objective, tried, c(ends[1L], listed)))
  }
  # The curve is rough where windows hold few observations; with few, a denser scan costs little.
  steps <- 2 * max(5, min(48, affordable / 2))
  tried <- with_tried(objective, tried, seq(ends[1L], ends[2L], length.out = steps + 1))
  around <- function() sides_of(tried$bw, which.min(tried$value))
  if (is_step(kernel)) {
    ends <- around()
    while (is.null(listed <- at_distances(ends, most))) {
      found <- polished_valleys(objective, ends)
      tried <- together(tried, found)
      ends[] <- pmin(pmax(found$bw + c(-1, 1) * diff(ends)[1L] / 1024, ends[1L]), ends[2L])
    }
    return(with_tried(objective, tried, listed))
  }
  tried <- together(tried, polished_valleys(objective, sides_of(tried$bw, valleys_of(tried$value))))
  listed <- at_distances(ends, affordable)
  jumps <- if (is.null(listed)) at_distances(ends, affordable, nearest = TRUE) else listed
  tried <- with_tried(objective, tried, c(jumps, just_above(listed, ends[2L], affordable)))
  tried <- with_tried(objective, tried, vertices(tried))
  if (is.null(listed)) tried <- with_tried(objective, tried, at_distances(around(), affordable))
  together(tried, polished_valleys(objective, around()))
}

# Bandwidths above each of those at distances, up to the next of them or the `upper` end. None if they are more than
# `most`.
just_above <- function(listed, upper, most) {
  from <- sort(listed)
  gap <- diff(c(from, upper))
  open <- gap > 8 * .Machine$double.eps * from
  above <- as.vector(from[open] + outer(gap[open], c(0.01, 0.03, 0.1, 0.3)))
  if (length(above) <= most) above
}

# The minima of the parabolas through the bottoms of all valleys and the bandwidths beside them.
vertices <- function(tried) {
  inner <- seq_along(tried$bw)[-c(1L, length(tried$bw))]
  below <- diff(tried$value) < 0
  bottoms <- inner[which(below[inner - 1L] & !below[inner])]
  vertex <- vapply(bottoms, function(k) vertex_of(tried$bw[k + -1:1], tried$value[k + -1:1]), 0)
  vertex[!is.na(vertex)]
}

# Where the parabola through three points has its minimum; NA if it has none between them.
vertex_of <- function(bw, value) {
  if (length(bw) < 3L || !all(is.finite(value))) return(NA_real_)
  left <- (value[1L] - value[2L]) / (bw[2L] - bw[1L])
  right <- (value[3L] - value[2L]) / (bw[3L] - bw[2L])
  # Not a number if two bandwidths are the same.
  if (!isTRUE(left + right > 0)) return(NA_real_)
  # The slopes at the middles of both intervals are -left and right.
  bw[2L] - (bw[2L] - bw[1L]) / 2 + (bw[3L] - bw[1L]) / 2 * left / (left + right)
}
