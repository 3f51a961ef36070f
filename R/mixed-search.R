# The search for the bandwidths of several regressors: descents from several starts over the logarithms of h and over
# the lambda, and then tests of the faces, where a regressor is smoothed out or a factor splits the data.

mixed_kernels <- c("gaussian", "epanechnikov", "uniform")

# The largest lambda of each factor: there all its levels count alike, or (Wang & van Ryzin) nearly so.
largest_lambda <- function(bws) {
  if (bws$ukertype == "aitchisonaitken") {
    counts <- vapply(unclass(bws$x)[bws$iuno], nlevels, 0L)
    unordered <- (counts - 1) / counts
  } else {
    unordered <- rep(1, bws$nuno)
  }
  as.numeric(c(unordered, rep(1, bws$nord)))
}

# np's units of bandwidths: the spread of each column and the powers of n.
mixed_units <- function(sample, order, run) {
  columns <- unclass(sample$x)[sample$icon]
  list(sdev = vapply(columns, spread_of, 0, run = run, USE.NAMES = FALSE),
       nconfac = sample$nobs^(-1 / (2 * order + sample$ncon)), ncatfac = sample$nobs^(-2 / (2 * order + sample$ncon)))
}

# What a bandwidth is multiplied by to be one of bwscaling = TRUE, for every regressor in the order of the columns.
mixed_scale <- function(bws) {
  scale <- rep(bws$ncatfac, bws$ndim)
  scale[bws$icon] <- bws$sdev * bws$nconfac
  scale
}

# The columns in the order of the core: numbers, factors, ordered factors.
core_order <- function(bws) c(which(bws$icon), which(bws$iuno), which(bws$iord))

# Far beyond the data a column is smoothed out: its differences count for nothing.
far_beyond <- 1e8

# `h` and `lambda` of bandwidths in the order of the columns, not scaled.
mixed_task <- function(bws, raw) {
  ordered <- raw[core_order(bws)]
  h <- ordered[seq_len(bws$ncon)]
  ranges <- vapply(unclass(bws$x)[bws$icon], function(column) diff(range(column)), 0, USE.NAMES = FALSE)
  list(h = ifelse(h > far_beyond * ranges, Inf, h), lambda = ordered[seq_along(ordered) > bws$ncon],
       ckertype = bws$ckertype, ckerorder = as.integer(bws$ckerorder), ukertype = bws$ukertype,
       okertype = bws$okertype, regtype = bws$regtype, method = bws$method)
}

# The objective as a function of the parameters of a search, in the order of the core: log(h), Inf if smoothed out, and
# lambda. `bws`: the sample and the choices.
mixed_criterion <- function(bws, run, progress) {
  data <- mixed_sample(bws, run)
  p <- bws$ncon
  evaluations <- 0L
  evaluate <- function(theta, gradient) {
    task <- mixed_task(bws, numeric(bws$ndim))
    task$h <- exp(theta[seq_len(p)])
    task$lambda <- theta[seq_along(theta) > p]
    evaluations <<- evaluations + 1L
    found <- mixed_objective_cpp(data, task, gradient, run)
    rejected <- is.nan(found$value) || bws$unsupported == "reject" && found$unsupported > 0
    if (rejected) found$value <- Inf
    found
  }
  list(evaluate = counted(evaluate, progress), evaluations = function() evaluations)
}

# The limits of a search: far narrower than the data, and far wider.
mixed_limits <- function(bws) {
  ranges <- vapply(unclass(bws$x)[bws$icon], function(column) diff(range(column)), 0, USE.NAMES = FALSE)
  list(lower = c(log(ranges) - log(1e7), rep(0, bws$nuno + bws$nord)),
       upper = c(log(ranges) + log(1e4), largest_lambda(bws)), p = bws$ncon)
}

# Starts of the search. Objectives have several minima, mostly by which regressors are smoothed out. So the candidates
# are corners, in which each column has the normal reference or is nearly smoothed out, and each factor splits the data
# or is smoothed out, and points between them. The starts are the normal reference with every lambda in the middle, and
# then by turns the best corners and the best of the other points.
mixed_starts <- function(bws, limits, criterion, count) {
  p <- limits$p
  size <- length(limits$lower)
  continuous <- seq_len(size) <= p
  reference <- c(log(bws$sdev * bws$nconfac), limits$upper[!continuous] / 2)
  first <- feasible_start(reference, limits, criterion)
  if (is.null(first)) return(list())
  slopes <- if (size > 1L) criterion$evaluate(first, TRUE)$gradient else 0
  near <- ifelse(continuous, reference, 0.02 * limits$upper)
  far <- ifelse(continuous, limits$upper - log(5e3), limits$upper)
  ranked <- function(shares) {
    candidates <- lapply(seq_len(nrow(shares)), function(k) near + shares[k, order(order(slopes))] * (far - near))
    values <- vapply(candidates, function(theta) criterion$evaluate(theta, FALSE)$value, 0)
    candidates[order(values)]
  }
  corners <- ranked(corner_shares(size))
  others <- ranked(sequence_shares(2L * count, size))
  # One after the other of two lists.
  by_turns <- c(corners, others)[order(c(seq_along(corners), seq_along(others) + 0.5))]
  if (count > 1L) return(c(list(first), by_turns[seq_len(count - 1L)]))
  single <- c(list(first), by_turns[1:2])
  single[which.min(vapply(single, function(theta) criterion$evaluate(theta, FALSE)$value, 0))]
}

# The corners of a cube, 32 of them at most. The order of the columns does not matter for all corners of a small one.
corner_shares <- function(size) {
  if (size <= 5L) return(unname(as.matrix(expand.grid(rep(list(0:1), size)))))
  1 * (sequence_shares(32L, size) > 0.5)
}

# Points in a cube of low discrepancy: Roberts' additive recurrence.
sequence_shares <- function(count, size) {
  golden <- stats::uniroot(function(g) g^(size + 1) - g - 1, c(1, 2), tol = 1e-14)$root
  (0.5 + outer(seq_len(count), golden^-seq_len(size))) %% 1
}

# Widened until every observation has a neighbour and the objective is finite.
feasible_start <- function(theta, limits, criterion) {
  continuous <- seq_along(theta) <= limits$p
  for (round in 0:40) {
    if (criterion$evaluate(theta, FALSE)$value < Inf) return(theta)
    theta <- ifelse(continuous, pmin(theta + 0.5, limits$upper), (theta + limits$upper) / 2)
  }
  NULL
}

# A descent from `theta` along the parameters that are `free`.
descend <- function(criterion, theta, free, limits, kernel, tolerance = 1e-10) {
  free <- which(free & limits$upper > limits$lower)
  start <- criterion$evaluate(theta, length(free) > 0L)
  if (length(free) == 0L) return(list(theta = theta, value = start$value, converged = TRUE))
  # Its sums are constant between distances of observations.
  if (kernel == "uniform") return(descend_by_steps(criterion, theta, start$value, free, limits))
  unit <- c(rep(1, limits$p), limits$upper[seq_along(theta) > limits$p])[free]
  size <- if (abs(start$value) > 0) abs(start$value) else 1
  last <- list(at = theta[free], found = start)
  at <- function(t) {
    if (!identical(t, last$at)) {
      theta[free] <- pmin(pmax(t, limits$lower[free]), limits$upper[free])
      last <<- list(at = t, found = criterion$evaluate(theta, TRUE))
    }
    last$found
  }
  worst <- 1e3 # PORT does not take infinite values
  found <- stats::nlminb(theta[free], function(t) min(at(t)$value / size, worst),
                         function(t) at(t)$gradient[free] / size, scale = 1 / unit,
                         lower = limits$lower[free], upper = limits$upper[free],
                         control = list(iter.max = 200, eval.max = 400, rel.tol = tolerance, x.tol = 1e-9))
  theta[free] <- found$par
  # 7 is PORT's singular convergence: some direction is flat.
  list(theta = theta, value = criterion$evaluate(theta, FALSE)$value, converged = found$convergence == 0L ||
         grepl("(7)", found$message, fixed = TRUE))
}

# For objectives with steps: along one parameter after the other, by steps that become smaller.
descend_by_steps <- function(criterion, theta, value, free, limits) {
  step <- ifelse(seq_along(theta) <= limits$p, 0.5, limits$upper / 4)
  while (max(step[free] / ifelse(free <= limits$p, 1, limits$upper[free])) > 1e-3) {
    before <- value
    for (k in free) {
      for (to in theta[k] + c(-1, 1) * step[k]) {
        tried <- replace(theta, k, min(max(to, limits$lower[k]), limits$upper[k]))
        reached <- criterion$evaluate(tried, FALSE)$value
        if (reached >= value) next
        theta <- tried
        value <- reached
      }
    }
    if (value == before) step <- step / 2
  }
  list(theta = theta, value = value, converged = TRUE)
}

# Whether a value is lower, or the same up to rounding: then the smoother of two fits is taken.
no_higher <- function(value, best, method) {
  is.finite(value) && value <= best + 1e-12 * (if (method == "cv.ls") abs(best) else 1 + abs(best))
}

# From the least of the starts: smooths regressors out, and splits the data by factors, where that is no higher, and
# descends again. A face that is a little higher is descended on, too: the others may have to move.
test_faces <- function(criterion, best, limits, bws) {
  faces <- function(k) if (k <= limits$p) Inf else unique(c(limits$upper[k], 0))
  near <- function(value) {
    is.finite(value) && value - best$value < 0.02 * (if (bws$method == "cv.ls") abs(best$value) else 1)
  }
  on_face <- function(theta) is.finite(theta) & theta > limits$lower + 0 * theta & theta < limits$upper
  for (round in seq_len(2L * length(best$theta))) {
    moved <- FALSE
    for (k in seq_along(best$theta)) for (face in setdiff(faces(k), best$theta[k])) {
      theta <- replace(best$theta, k, face)
      value <- criterion$evaluate(theta, FALSE)$value
      if (!near(value)) next
      free <- is.finite(theta) & seq_along(theta) != k
      found <- descend(criterion, theta, free, limits, bws$ckertype)
      smoother <- face > best$theta[k]
      if (if (smoother) no_higher(found$value, best$value, bws$method) else found$value < best$value) {
        best <- found
        moved <- TRUE
      }
    }
    if (!moved) break
  }
  best
}

# The bandwidths of the least objective: `raw` in the order of the columns, and every start's result.
search_mixed <- function(bws, nmulti, start, run, progress, criterion = mixed_criterion(bws, run, progress)) {
  limits <- mixed_limits(bws)
  starts <- mixed_starts(bws, limits, criterion, nmulti)
  if (length(starts) == 0L) refuse_without_least(bws)
  if (!is.null(start)) starts[[1L]] <- feasible_start(start, limits, criterion)
  starts <- Filter(Negate(is.null), starts)
  free <- rep(TRUE, length(limits$lower))
  found <- lapply(starts, descend, criterion = criterion, free = free, limits = limits, kernel = bws$ckertype)
  values <- vapply(found, `[[`, 0, "value")
  if (all(values == Inf)) refuse_without_least(bws)
  first <- which.min(values)
  best <- test_faces(criterion, found[[first]], limits, bws)
  polished <- descend(criterion, best$theta, is.finite(best$theta), limits, bws$ckertype, 1e-14)
  if (polished$value < best$value) best <- polished
  if (!best$converged) warn_search("The search for the least ", bws$method, " did not converge.")
  raw_of <- function(theta) {
    raw <- theta
    raw[seq_len(limits$p)] <- ifelse(is.finite(theta), exp(theta), stand_in_for_infinity(bws))[seq_len(limits$p)]
    raw[order(core_order(bws))]
  }
  list(raw = raw_of(best$theta), ifval = first, fval.history = values, num.feval = criterion$evaluations(),
       starts = do.call(rbind, lapply(found, function(one) raw_of(one$theta))))
}

# No start of a search has a finite objective.
refuse_without_least <- function(bws) {
  if (is.null(bws$given)) check_least(Inf, bws, bws)
  abort_input("`bws` must be larger than those of the search: at each of them some observation has no density.")
}

# A finite number for each column that stands for an infinite bandwidth, as with one regressor.
stand_in_for_infinity <- function(bws) {
  ranges <- vapply(unclass(bws$x)[bws$icon], function(column) diff(range(column)), 0, USE.NAMES = FALSE)
  c(10^ceiling(log10(ranges) + 9), numeric(bws$nuno + bws$nord))
}
