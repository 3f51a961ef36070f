# The search for bandwidths of several regressors that are distances to nearest neighbours: whole numbers k for numeric
# columns, and lambda for factors. The parameters theta are these, in the order of the core.
#
# From each start the search goes along one column after the other, over all its numbers k in steps of 50 % and then
# between the best ones, and along all lambdas by their gradient, until nothing is lower. Last, pairs of numbers are
# changed together.

# The largest number of neighbours that every observation has, for each numeric column.
most_neighbours <- function(bws, run) {
  vapply(weighed_numbers(bws), function(x) {
    sorted <- regression_cpp(list(x = x, y = x, w = ones_cpp(length(x))), run)
    regression_neighbours_cpp(sorted, length(unique(x)) - 1, run)
  }, 0, USE.NAMES = FALSE)
}

# Given numbers, `raw` in the order of the columns, must be there.
check_most_neighbours <- function(raw, bws, most) {
  wrong <- which(raw[bws$icon] > most)
  if (length(wrong) == 0L) return(invisible())
  abort_input("`bws` must be at most ", most[wrong[1L]], " for `", bws$xnames[bws$icon][wrong[1L]], "`, not ",
              describe_value(raw[bws$icon][wrong[1L]]), ": an observation has no more neighbours at different ",
              "distances.")
}

# As search_mixed(). `most`: see most_neighbours().
search_mixed_neighbours <- function(bws, most, nmulti, start, run, progress) {
  criterion <- remembering(mixed_criterion(bws, run, progress))
  limits <- mixed_limits(bws)
  limits$lower[seq_len(bws$ncon)] <- 1
  limits$upper[seq_len(bws$ncon)] <- most
  limits$never_out <- rep(TRUE, bws$ncon)
  starts <- c(if (!is.null(start)) list(start), neighbour_starts(nmulti, bws, limits))[seq_len(nmulti)]
  found <- lapply(starts, descend_neighbours, criterion = criterion, limits = limits, bws = bws)
  values <- vapply(found, `[[`, 0, "value")
  if (all(values == Inf)) {
    abort_input("`bwtype` must be \"fixed\" for these data: at all numbers of neighbours that were tried some ",
                "observation has no other one within its bandwidth",
                if (bws$method == "cv.aic") ", or tr + 2 >= n", ".")
  }
  best <- found[[which.min(values)]]
  # Where the numbers of neighbours stay, an objective has no steps, whatever the kernel is.
  smooth <- replace(bws, "ckertype", "gaussian")
  repeat {
    before <- best$value
    held <- held_limits(limits, best$theta)
    best <- test_faces(criterion, descend_free(criterion, best, held, smooth, 1e-13), held, smooth)
    best <- change_pairs(criterion, best, limits)
    if (!(best$value < before)) break
    best <- descend_neighbours(best$theta, criterion, limits, bws)
  }
  list(data = criterion$data, raw = raw_of(best$theta, bws), ifval = which.min(values), fval.history = values,
       num.feval = criterion$evaluations(), most = most,
       starts = do.call(rbind, lapply(found, function(one) raw_of(one$theta, bws))))
}

# A criterion that computes no value twice.
remembering <- function(criterion) {
  known <- new.env(parent = emptyenv())
  evaluate <- criterion$evaluate
  criterion$evaluate <- function(theta, gradient) {
    if (gradient) return(evaluate(theta, TRUE))
    key <- paste(format(theta, digits = 17), collapse = " ")
    if (is.null(known[[key]])) known[[key]] <- evaluate(theta, FALSE)$value
    list(theta = theta, value = known[[key]])
  }
  criterion
}

# The first is in the middle of the logarithms of k and of lambda, and the others are spread over their ranges.
neighbour_starts <- function(count, bws, limits) {
  shares <- sequence_shares(count, length(limits$lower))
  shares[1L, ] <- 0.5
  continuous <- seq_along(limits$lower) <= bws$ncon
  lapply(seq_len(count), function(k) {
    ifelse(continuous, round(limits$upper^shares[k, ]), shares[k, ] * limits$upper)
  })
}

# Where the numbers of neighbours stay as they are.
held_limits <- function(limits, theta) {
  continuous <- seq_along(limits$lower) <= limits$p
  limits$lower[continuous] <- theta[continuous]
  limits$upper[continuous] <- theta[continuous]
  limits
}

descend_neighbours <- function(theta, criterion, limits, bws) {
  best <- list(theta = theta, value = criterion$evaluate(theta, FALSE)$value, converged = TRUE)
  repeat {
    before <- best$value
    for (column in seq_len(bws$ncon)) best <- along_numbers(criterion, best, column, limits)
    # A step to values that are lower by rounding only would be endless.
    found <- descend(criterion, best$theta, rep(TRUE, length(theta)), held_limits(limits, best$theta), "gaussian", 1e-8)
    if (found$value < best$value) best <- found
    if (best$value == Inf || !(before - best$value > 1e-10 * (abs(best$value) + (bws$method == "cv.aic")))) return(best)
  }
}

# The best number of one column, where the other parameters stay. Of equal values the largest number is taken.
along_numbers <- function(criterion, best, column, limits) {
  most <- limits$upper[column]
  steps <- ceiling(log(most) / log(1.5))
  tried <- sort(unique(c(1, best$theta[column], if (steps > 0) round(most^(0:steps / steps)))))
  at <- function(k) criterion$evaluate(replace(best$theta, column, k), FALSE)$value
  value <- vapply(tried, at, 0)
  least <- which(value == min(value))
  place <- least[length(least)]
  k <- tried[place]
  lowest <- value[place]
  gap <- max(1, diff(tried)[c(place - 1L, place)], na.rm = TRUE)
  while (gap >= 1) {
    other <- k + c(1, -1) * gap
    other <- other[other >= 1 & other <= most]
    reached <- vapply(other, at, 0)
    if (length(other) > 0L && min(reached) < lowest) {
      k <- other[which.min(reached)]
      lowest <- min(reached)
    } else {
      gap <- if (gap == 1) 0 else ceiling(gap / 2)
    }
  }
  list(theta = replace(best$theta, column, k), value = lowest, converged = TRUE)
}

# One more or less of two columns at once, where that is lower.
change_pairs <- function(criterion, best, limits) {
  pairs <- if (limits$p > 1L) utils::combn(limits$p, 2L, simplify = FALSE)
  for (pair in pairs) for (by in list(c(1, 1), c(1, -1), c(-1, 1), c(-1, -1))) {
    theta <- best$theta
    theta[pair] <- theta[pair] + by
    if (any(theta[pair] < limits$lower[pair] | theta[pair] > limits$upper[pair])) next
    value <- criterion$evaluate(theta, FALSE)$value
    if (value < best$value) best <- list(theta = theta, value = value, converged = TRUE)
  }
  best
}
