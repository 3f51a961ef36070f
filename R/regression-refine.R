# The search for a regression bandwidth between those of a scan or of a grid.

# Observations times bandwidths that may be evaluated at once: 0.1 to 0.7 s of one thread, see core/regression/cost.cpp.
fits_at_once <- 4e6

# Bandwidths that may be evaluated at once with any number of observations, and one by one to polish the best: as many
# as the default grid has.
always_affordable <- 50L

# Relative differences of the objective below this are none.
same_value <- 1e-9

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
  lower <- bw[pmax(valleys - 1L, 1L)]
  upper <- bw[pmin(valleys + 1L, length(bw))]
  if (asked$unsupported == "reject") {
    if (grid$search == "grid" && valleys == 1L) lower <- max(1e-20 * lower, regression_limits[1L])
    # The support is 0 where every observation is tied with another.
    lower <- pmax(lower, at_least(regression_support_cpp(data$sorted, kernel), grid$unit))
  }
  if (!is_compact(kernel)) return(together(tried, polished_valleys(objective, lower, upper)))
  for (k in utils::head(order(value[valleys]), valleys_searched)) {
    here <- list(bw = bw[valleys[k]], value = value[valleys[k]], evaluations = 0L)
    found <- search_between(objective, here, sort(unique(c(lower[k], here$bw, upper[k]))), kernel, at_distances,
                            affordable)
    best <- which.min(found$value)
    tried <- together(tried, list(bw = found$bw[best], value = found$value[best], evaluations = found$evaluations))
  }
  tried
}

# Valleys of the curve of a compact kernel that are searched.
valleys_searched <- 3L

# Where values are lower than those beside them, by more than rounding on the right. The last of a scan stands for an
# infinite bandwidth and is in no valley.
valleys_of <- function(value) {
  inner <- seq_len(length(value) - 1L)
  which(value[inner] < Inf & value[inner] <= c(Inf, value[inner[-1L] - 1L]) &
          value[inner + 1L] > value[inner] + 1e-13 * abs(value[inner]))
}

# The minima between `lower` and `upper`, of all valleys at once: each is cut to two of eight parts three times. Then
# the polynomial of degree 4 through the nine values tells the place, whose error is that of the values over their
# curvature, while that of the least value is the root of it.
polished_valleys <- function(objective, lower, upper) {
  if (length(lower) == 0L) return(list(bw = numeric(0), value = numeric(0), evaluations = 0L))
  ends <- log(rbind(lower, upper))
  columns <- seq_along(lower)
  share <- 0:8 / 8
  for (pass in 1:3) {
    at <- outer(1 - share, ends[1L, ]) + outer(share, ends[2L, ])
    value <- matrix(objective(exp(at)), 9L)
    best <- max.col(-t(value), "first")
    if (pass < 3L) ends <- rbind(at[cbind(pmax(best - 1L, 1L), columns)], at[cbind(pmin(best + 1L, 9L), columns)])
  }
  place <- quartic_minima(value, best)
  vertex <- exp(ends[1L, ] + place * (ends[2L, ] - ends[1L, ]))
  at_vertex <- objective(vertex)
  least <- value[cbind(best, columns)]
  better <- !is.na(at_vertex) & at_vertex <= least + 1e-13 * abs(least)
  list(bw = ifelse(better, vertex, exp(at[cbind(best, columns)])), value = ifelse(better, at_vertex, least),
       evaluations = length(columns) * 28L)
}

# The coefficients of the polynomial of degree 4 that is nearest to values at 0, 1/8, ..., 1.
to_quartic <- qr.solve(outer(0:8 / 8, 0:4, `^`), diag(9L))

# Where such polynomials have their minima near the `best` of the values in each column.
quartic_minima <- function(value, best) {
  a <- to_quartic %*% (value - rep(apply(value, 2L, min), each = 9L))
  start <- (best - 1) / 8
  at <- start
  for (step in 1:4) {
    slope <- a[2L, ] + at * (2 * a[3L, ] + at * (3 * a[4L, ] + at * 4 * a[5L, ]))
    bend <- 2 * a[3L, ] + at * (6 * a[4L, ] + at * 12 * a[5L, ])
    at <- pmin(pmax(at - slope / bend, start - 1 / 8, 0), start + 1 / 8, 1)
  }
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

# Those of the values number k - 1 to k + 1 that exist.
next_to <- function(values, k) values[max(k - 1L, 1L):min(k + 1L, length(values))]

# Equal steps between each two of `ends`.
scan_between <- function(ends, steps) {
  unlist(lapply(seq_along(ends)[-1L], function(k) seq(ends[k - 1L], ends[k], length.out = steps + 1)))
}

# What was tried in the search for the minimum between the first and the last of `ends`, one of which has been tried.
# With the uniform kernel and few distances the minimum is among it.
search_between <- function(objective, tried, ends, kernel, at_distances, affordable) {
  most <- max(always_affordable, affordable)
  listed <- if (is_step(kernel)) at_distances(ends, most)
  if (!is.null(listed)) return(with_tried(objective, tried, c(ends[1L], listed)))
  # The curve is rough where windows hold few observations; with few, a denser scan costs little.
  steps <- max(5, min(48, affordable / 2))
  scan <- scan_between(ends, steps)
  tried <- polished(objective, with_tried(objective, tried, scan))
  if (is_step(kernel)) return(narrowed(objective, tried, scan, steps, at_distances, most))
  listed <- at_distances(ends, affordable)
  jumps <- if (is.null(listed)) at_distances(ends, affordable, nearest = TRUE)
  tried <- improved(objective, tried, c(listed, jumps, just_above(listed, ends[length(ends)], affordable)))
  tried <- improved(objective, tried, vertices(tried))
  if (!is.null(listed)) return(tried)
  improved(objective, tried, at_distances(next_to(tried$bw, which.min(tried$value)), affordable))
}

# Bandwidths above each of those at distances, up to the next of them or the `upper` end: a curve changes most quickly
# there, while the observations that have come in have little weight. None if they are more than `most`.
just_above <- function(listed, upper, most) {
  from <- sort(listed)
  gap <- diff(c(from, upper))
  open <- gap > adjacent(from)
  above <- as.vector(from[open] + outer(gap[open], c(0.01, 0.03, 0.1, 0.3)))
  if (length(above) <= most) above
}

# Tries the `new` bandwidths, too, and polishes their best if it is clearly better than what there was.
improved <- function(objective, tried, new) {
  before <- min(tried$value)
  tried <- with_tried(objective, tried, new)
  if (before - min(tried$value) > same_value * abs(before)) polished(objective, tried) else tried
}

# The search for the least step where distances are too many to try them all: scans about the best bandwidth, each
# between the neighbours of the best of the one before, until the distances are few.
narrowed <- function(objective, tried, scan, steps, at_distances, most) {
  repeat {
    best <- tried$bw[which.min(tried$value)]
    ends <- unique(c(max(scan[scan < best], min(scan)), best, min(scan[scan > best], max(scan))))
    listed <- at_distances(ends, most)
    if (!is.null(listed)) return(with_tried(objective, tried, listed))
    scan <- scan_between(ends, steps)
    before <- tried$evaluations
    if (before + length(scan) > most) return(tried)
    tried <- with_tried(objective, tried, scan)
    if (tried$evaluations == before) return(tried)
  }
}

# Polishes the best of what was tried.
#
# Bandwidths are evaluated in batches, since one pass over the data serves many. Each is about the minimum of the
# parabola through the best bandwidth and its neighbours, as near to it as the parabola has moved since the last batch:
# Brent (1973, ch. 5), with three points a step.
polished <- function(objective, tried) {
  most <- tried$evaluations + always_affordable
  width <- Inf
  vertex <- NA_real_
  repeat {
    tried <- without_twins(tried)
    best <- which.min(tried$value)
    at <- tried$bw[best]
    around <- next_to(seq_along(tried$bw), best)
    # What is beyond a jump tells nothing of the slope.
    around <- around[around == best | abs(tried$bw[around] - at) > adjacent(at)]
    bw <- tried$bw[around]
    value <- tried$value[around]
    before <- c(width, vertex)
    width <- diff(range(bw))
    if (tried$evaluations > most || width <= 1e-6 * at) break
    if (max(value) - tried$value[best] <= same_value * abs(tried$value[best])) break
    vertex <- vertex_of(bw, value)
    near <- if (is.na(before[2L])) 0.1 * width else min(0.1 * width, 2 * abs(vertex - before[2L]))
    more <- vertex + c(-1, 0, 1) * max(near, 3e-7 * at)
    if (is.na(vertex) || width > before[1L] / 2) {
      wider <- which.max(diff(bw))
      more <- c(more, mean(bw[wider + 0:1]))
    }
    # The minimum is often at an end: beside a jump, or the smallest bandwidth that supports every observation.
    if (length(bw) == 2L) more <- at + c(0.5, 0.05, 0.005, 0.0005) * (sum(bw) - 2 * at)
    more <- more[!is.na(more) & more > min(bw) & more < max(bw) & !more %in% bw]
    if (length(more) == 0L) break
    tried <- with_tried(objective, tried, more)
  }
  tried
}

# The largest difference of the bandwidths on both sides of a distance.
adjacent <- function(bw) 8 * .Machine$double.eps * bw

# Without the worse side of each distance at which the curve does not jump.
without_twins <- function(tried) {
  value <- tried$value
  twins <- which(diff(tried$bw) <= adjacent(tried$bw[-1L]) & abs(diff(value)) <= same_value * abs(value[-1L]))
  worse <- twins + (value[twins + 1L] >= value[twins])
  kept <- setdiff(seq_along(value), worse)
  list(bw = tried$bw[kept], value = value[kept], evaluations = tried$evaluations)
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
  if (left + right <= 0) return(NA_real_)
  # The slopes at the middles of both intervals are -left and right.
  bw[2L] - (bw[2L] - bw[1L]) / 2 + (bw[3L] - bw[1L]) / 2 * left / (left + right)
}
