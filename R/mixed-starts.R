# Where the search for the bandwidths of several regressors begins.
#
# Objectives have several minima, mostly by which regressors are smoothed out. So the candidates are corners, in which
# each number has the normal reference or is nearly smoothed out, and each factor splits the data or is smoothed out,
# and points between them. The starts are the normal reference with every lambda in the middle, and then by turns the
# best corners and the best of the other points.

# Up to `count` starts; none if the objective is infinite. With many observations a part of them finds the starts by
# descents of its own, since its evaluations cost a 64th or less.
mixed_starts <- function(bws, limits, criterion, count, given, run, progress) {
  first <- feasible_start(if (is.null(given)) reference_theta(bws, limits) else given, limits, criterion)
  if (is.null(first)) return(list())
  rows <- pilot_rows(bws)
  if (is.null(rows)) return(best_starts(bws, limits, criterion, count, first))
  part <- part_of_sample(bws, rows)
  # A GPU is asked for the whole sample.
  run$backend <- if (run$backend == "cpu") "cpu" else "auto"
  pilot <- mixed_criterion(part, run, progress)
  starts <- best_starts(part, limits, pilot, max(count, 2L), feasible_start(first, limits, pilot))
  found <- lapply(starts, descend, criterion = pilot, free = rep(TRUE, length(first)), limits = limits,
                  kernel = bws$ckertype, tolerance = 1e-4)
  theta <- lapply(distinct_minima(found), theta_for_more, bws = bws, part = part)
  theta <- Filter(Negate(is.null), lapply(theta, feasible_start, limits = limits, criterion = criterion))
  utils::head(c(if (!is.null(given)) list(first), theta, list(first)), count)
}

reference_theta <- function(bws, limits) {
  theta_of(bws$sdev * bws$nconfac, limits$upper[seq_along(limits$upper) > bws$ncon] / 2, bws)
}

best_starts <- function(bws, limits, criterion, count, first) {
  size <- length(limits$lower)
  if (is.null(first)) return(list())
  if (size == 1L && limits$p == 1L && !is_density(bws)) return(c(curve_starts(bws, criterion), list(first)))
  slopes <- if (size > 1L) criterion$evaluate(first, bws$ckertype != "uniform")$gradient
  # Permuted columns have permuted starts.
  places <- if (is.null(slopes)) seq_len(size) else order(order(slopes))
  near <- ifelse(seq_len(size) <= limits$p, reference_theta(bws, limits), nearly_split_start * limits$upper)
  far <- ifelse(seq_len(size) <= limits$p, 0.01, limits$upper)
  ranked <- function(shares) {
    candidates <- lapply(seq_len(nrow(shares)), function(k) near + shares[k, places] * (far - near))
    values <- vapply(candidates, function(theta) criterion$evaluate(theta, FALSE)$value, 0)
    list(theta = candidates[order(values)], value = sort(values))
  }
  corners <- ranked(corner_shares(size))
  if (count == 1L) {
    better <- corners$value[1L] < criterion$evaluate(first, FALSE)$value
    return(if (better) corners$theta[1L] else list(first))
  }
  others <- ranked(sequence_shares(2L * count, size))
  # One after the other of two lists.
  by_turns <- c(corners$theta, others$theta)[order(c(seq_along(corners$theta), seq_along(others$theta) + 0.5))]
  finite <- vapply(by_turns, function(theta) criterion$evaluate(theta, FALSE)$value < Inf, NA)
  c(list(first), utils::head(by_turns[finite], count - 1L))
}

# One regressor has a curve of bandwidths. The starts are the lowest of its valleys.
curve_starts <- function(bws, criterion) {
  x <- weighed_numbers(bws)[[1L]]
  objective <- function(h) {
    vapply(theta_of(h, numeric(0), bws), function(theta) criterion$evaluate(theta, FALSE)$value, 0)
  }
  gaps <- diff(sort(x))
  support <- max(pmin(c(Inf, gaps), c(gaps, Inf)))
  if (support == 0) support <- smallest_step(x)
  h <- exp(seq(log(support / np_scale(bws$ckertype)), log(10 * range_of(x)), log(scan_ratio(bws$nobs))))
  value <- objective(h)
  valleys <- valleys_of(value)
  valleys <- utils::head(valleys[order(value[valleys])], valleys_searched)
  polished <- polished_valleys(objective, sides_of(h, valleys))
  lapply(polished$bw[order(polished$value)], theta_of, lambda = numeric(0), bws = bws)
}

# The corners of a cube, 32 of them at most.
corner_shares <- function(size) {
  if (size <= 5L) return(unname(as.matrix(expand.grid(rep(list(0:1), size)))))
  1 * (sequence_shares(32L, size) > 0.5)
}

# Points in a cube of low discrepancy: Roberts' additive recurrence.
sequence_shares <- function(count, size) {
  golden <- stats::uniroot(function(g) g^(size + 1) - g - 1, c(1, 2), tol = 1e-14)$root
  (0.5 + outer(seq_len(count), golden^-seq_len(size))) %% 1
}

# Widened until every observation has a neighbour and the objective is finite; NULL if that does not help.
feasible_start <- function(theta, limits, criterion) {
  continuous <- seq_along(theta) <= limits$p
  for (round in 0:40) {
    if (criterion$evaluate(theta, FALSE)$value < Inf) return(theta)
    theta <- ifelse(continuous, 0.7 * theta, (theta + limits$upper) / 2)
  }
  NULL
}

# The rows of a part of many observations, spread evenly over the responses, whatever the order of the rows. NULL if
# there are few.
pilot_rows <- function(bws) {
  size <- max(200, ceiling(bws$nobs / 8))
  if (bws$nobs < 2 * size) return(NULL)
  ranked <- do.call(order, c(if (!is.null(bws$y)) list(bws$y), unname(unclass(bws$x))))
  if (!is.null(bws$w)) ranked <- ranked[bws$w[ranked] > 0]
  ranked[floor((seq_len(size) - 0.5) * bws$nobs / size) + 1]
}

part_of_sample <- function(bws, rows) {
  part <- bws
  part$x <- frame_of(lapply(unclass(bws$x), function(column) column[rows]), bws$xnames)
  part$y <- bws$y[rows]
  if (!is.null(bws$w)) part$w <- scale_weights(bws$w[rows])
  if (has_design(bws)) {
    part$design <- bws$design[rows, , drop = FALSE]
    part$rest <- bws$rest[rows]
  }
  part$nobs <- length(rows)
  power <- if (is_distribution(bws) && !any(bws$given)) bws$ckerorder + 1 else 2 * bws$ckerorder + bws$ncon
  part$nconfac <- part$nobs^(-1 / power)
  part$ncatfac <- part$nobs^(-2 / power)
  part
}

# The lowest first, each once.
distinct_minima <- function(found) {
  found <- found[order(vapply(found, `[[`, 0, "value"))]
  kept <- list()
  for (one in found) {
    same <- vapply(kept, function(other) max(abs(one$theta - other)) < 0.1, NA)
    if (is.finite(one$value) && !any(same)) kept <- c(kept, list(one$theta))
  }
  kept
}

# Lambda of a start that nearly splits the data, relative to the largest.
nearly_split_start <- 0.02

# Parameters of a part for all observations: bandwidths fall with n, but what is smoothed out stays so. A likelihood may
# have one minimum where a factor splits the data and another near it, so its descents do not begin at the first.
theta_for_more <- function(theta, bws, part) {
  h <- h_of_theta(theta, bws)
  lambda <- theta[seq_along(theta) > bws$ncon]
  wide <- h > 2 * bws$sdev
  if (bws$method == "cv.ml") lambda <- pmax(lambda, nearly_split_start * largest_lambda(bws))
  c(log1p((bws$sdev / (h * ifelse(wide, 1, bws$nconfac / part$nconfac)))^2),
    ifelse(lambda < 0.9 * largest_lambda(bws), lambda * bws$ncatfac / part$ncatfac, lambda))
}
