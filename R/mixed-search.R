# The search for the bandwidths of several regressors: descents from several starts, and then tests of the faces, where
# a regressor is smoothed out or a factor splits the data. Starts are in mixed-starts.R.
#
# The parameters theta are lambda for factors and, for a number with the spread s, log(1 + (s / h)^2). For small h this
# is a logarithm of h. It is 0 for an infinite h, and there the objective has a slope by it, so that a descent reaches
# this limit like any other. A descent of a likelihood takes log(lambda): an observation whose only neighbours have
# other levels has a density proportional to a power of lambda.

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
  spread <- function(x) spread_of(regression_cpp(list(x = x, y = x, w = ones_cpp(length(x))), run))
  list(sdev = vapply(weighed_numbers(sample), spread, 0, USE.NAMES = FALSE),
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

ranges_of <- function(bws) {
  vapply(weighed_numbers(bws), function(column) diff(range(column)), 0, USE.NAMES = FALSE)
}

# `h`, bandwidths or numbers of neighbours, and `lambda` of bandwidths in the order of the columns, not scaled.
mixed_task <- function(bws, raw) {
  ordered <- raw[core_order(bws)]
  h <- ordered[seq_len(bws$ncon)]
  nearest <- is_nearest(bws)
  list(h = if (nearest) h else ifelse(h > far_beyond * ranges_of(bws), Inf, h),
       lambda = ordered[seq_along(ordered) > bws$ncon], ckertype = bws$ckertype,
       ckerorder = as.integer(bws$ckerorder), ukertype = bws$ukertype, okertype = bws$okertype,
       regtype = bws$regtype, method = bws$method, bwtype = if (nearest) bws$type else "fixed")
}

theta_of <- function(h, lambda, bws) c(if (is_nearest(bws)) h else log1p((bws$sdev / h)^2), lambda)

h_of_theta <- function(theta, bws) {
  h <- theta[seq_len(bws$ncon)]
  if (is_nearest(bws)) h else bws$sdev / sqrt(expm1(h))
}

# A descent keeps this far from 0, where the slope by theta is computed from that by log(h).
nearly_out <- 1e-8

# Whether the sample and the choices are those of a density.
is_density <- function(bws) !is.null(bws$given)

# The objective and its gradient as functions of theta, in the order of the core, and the core's sample. `bws`: the
# sample and the choices.
mixed_criterion <- function(bws, run, progress) {
  density <- is_density(bws)
  data <- if (density) placed_density(bws, 30, run) else placed_sample(bws, 30, run)
  task_of <- if (density) density_task else mixed_task
  objective <- if (density) density_objective_of(bws, run) else mixed_objective_cpp
  if (has_design(bws)) {
    design <- core_design(bws)
    objective <- function(data, task, gradient, run) {
      mixed_coefficient_objective_cpp(data, task, design, gradient, run)
    }
  }
  # A likelihood has a least density, as in np.
  reject <- if (density) any(bws$given) else bws$unsupported == "reject"
  continuous <- seq_len(bws$ncon)
  evaluations <- 0L
  last <- list()
  evaluate <- function(theta, gradient) {
    if (identical(last$theta, theta) && (!gradient || !is.null(last$gradient))) return(last)
    task <- task_of(bws, numeric(bws$ndim))
    task$h <- h_of_theta(theta, bws)
    task$lambda <- theta[seq_along(theta) > bws$ncon]
    evaluations <<- evaluations + 1L
    found <- objective(data, task, gradient, run)
    rejected <- is.nan(found$value) || reject && found$unsupported > 0
    slope <- found$gradient
    if (gradient && !is_nearest(bws)) slope[continuous] <- slope[continuous] / 2 / expm1(-theta[continuous])
    last <<- list(theta = theta, value = if (rejected) Inf else found$value, gradient = if (gradient) slope)
    last
  }
  made <- list(evaluate = counted(evaluate, progress), evaluations = function() evaluations, values_of = identity,
               data = data, objective = objective)
  if (is_distribution(bws)) relative_criterion(bws, made, run) else made
}

# The squared errors of distribution functions are mostly those of the data about the true one, which no bandwidth
# changes. A search takes them relative to those of the empirical distribution function (weighted by what is given), in
# units of the gain by the normal reference.
relative_criterion <- function(bws, criterion, run) {
  limits <- mixed_limits(bws)
  at <- function(theta) criterion$evaluate(theta, FALSE)$value
  reference <- reference_theta(bws, limits)
  none <- at(ifelse(bws$given[core_order(bws)], reference,
                    ifelse(seq_along(limits$upper) <= bws$ncon, limits$upper, 0)))
  usual <- at(reference)
  if (!is.finite(none)) none <- 0
  unit <- if (is.finite(usual) && usual != none) abs(usual - none) else none
  if (!(unit > 0)) unit <- 1
  evaluate <- function(theta, gradient) {
    found <- criterion$evaluate(theta, gradient)
    found$value <- (found$value - none) / unit
    found$gradient <- if (!is.null(found$gradient)) found$gradient / unit
    found
  }
  replace(criterion, c("evaluate", "values_of", "unit"), list(evaluate, function(value) none + unit * value, 1))
}

# A descent of a regression keeps this far from lambda = 0, relative to the largest lambda: there observations may lose
# their last neighbour, where the objective becomes infinite. The face itself is tested apart.
nearly_split <- 1e-10

# The limits of a search: bandwidths far narrower than the data, and far wider. At lambda = 0 a kernel lambda^d has no
# slope if d is below 1.
mixed_limits <- function(bws) {
  largest <- largest_lambda(bws)
  close <- vapply(unclass(bws$x)[bws$iord], function(column) {
    positions <- sort(level_positions(levels(column), bws$okertype))
    length(positions) > 1L && min(diff(positions)) < 1
  }, NA)
  least <- if (is_density(bws)) c(rep(0, bws$nuno), ifelse(close, 1e-10, 0)) else nearly_split * largest
  list(lower = c(rep(nearly_out, bws$ncon), least), upper = c(rep(log1p(1e14), bws$ncon), largest), p = bws$ncon,
       logs = rep(c(FALSE, bws$method == "cv.ml"), c(bws$ncon, length(largest))),
       narrow = is_density(bws),
       never_out = if (is_density(bws)) !bws$given[bws$icon] else rep(FALSE, bws$ncon))
}

# Where each parameter has a limit that is tested: a number smoothed out or, for densities, whose cv.ls has no least
# value where values are tied, at the narrowest bandwidth; and then a factor that splits the data. A density or
# distribution function is of numbers with finite bandwidths.
faces_of <- function(limits) {
  lapply(seq_along(limits$lower), function(k) {
    if (k > limits$p) return(unique(c(limits$upper[k], 0)))
    c(if (!limits$never_out[k]) 0, if (limits$narrow) limits$upper[k])
  })
}

is_smoothed_out <- function(theta, limits) {
  continuous <- seq_along(theta) <= limits$p
  ifelse(continuous, theta == 0, theta == limits$upper & limits$upper > 0)
}

# A descent from `theta` along the parameters that are `free`, by at most `steps`. A lambda without a logarithm stays 0.
descend <- function(criterion, theta, free, limits, kernel, tolerance = 1e-10, steps = 100L) {
  free <- which(free & limits$upper > limits$lower & !(limits$logs & theta == 0))
  start <- criterion$evaluate(theta, length(free) > 0L && kernel != "uniform")
  if (length(free) == 0L) return(list(theta = theta, value = start$value, converged = TRUE))
  # Its sums are constant between distances of observations.
  if (kernel == "uniform") return(descend_by_steps(criterion, theta, start$value, free, limits))
  unit <- c(rep(1, limits$p), limits$upper[seq_along(theta) > limits$p])[free]
  logs <- limits$logs[free]
  least <- ifelse(logs, pmax(limits$lower[free], nearly_split * limits$upper[free]), limits$lower[free])
  inside <- function(t) pmin(pmax(t, least), limits$upper[free])
  to_search <- function(t) ifelse(logs, log(t), t)
  size <- if (is.null(criterion$unit)) abs(start$value) else criterion$unit
  if (size == 0) size <- 1
  # The gradient of an infinite value shows no way down.
  if (size == Inf) return(list(theta = theta, value = start$value, converged = TRUE))
  whole <- function(t) replace(theta, free, inside(ifelse(logs, exp(t), t)))
  at <- function(t) criterion$evaluate(whole(t), TRUE)
  slope <- function(t) at(t)$gradient[free] * ifelse(logs, whole(t)[free], 1)
  begin <- to_search(inside(theta[free]))
  # Few observations may have a say in lambda, so that a likelihood bends far less by it than by bandwidths, and PORT
  # begins as if it bent alike.
  for (k in which(logs)) {
    change <- slope(begin + 0.1 * (seq_along(begin) == k))[k] - slope(begin)[k]
    unit[k] <- 1 / sqrt(min(max(abs(change) / 0.1 / size, 1e-8), 1))
  }
  worst <- 1e3 # PORT does not take infinite values
  # Where observations lose their neighbours the objective is infinite. A first step to there can leave PORT with
  # nothing but such values, and then the first step is shorter.
  for (step in c(1, 0.05)) {
    found <- stats::nlminb(begin, function(t) min(at(t)$value / size, worst), function(t) slope(t) / size,
                           scale = 1 / unit, lower = to_search(least), upper = to_search(limits$upper[free]),
                           control = list(iter.max = steps, eval.max = 3L * steps %/% 2L, rel.tol = tolerance,
                                          x.tol = 1e-9, step.min = step, step.max = step))
    best <- whole(found$par)
    value <- criterion$evaluate(best, FALSE)$value
    if (value <= start$value) break
  }
  if (!(value <= start$value)) return(list(theta = theta, value = start$value, converged = value < Inf))
  # Where a direction is flat, or the objective has a bend, PORT ends, too, but calls it singular or false convergence.
  list(theta = best, value = value, converged = found$convergence == 0L || grepl("[(][78][)]", found$message))
}

# For objectives with steps: along one parameter after the other, by steps that become smaller.
descend_by_steps <- function(criterion, theta, value, free, limits) {
  unit <- ifelse(seq_along(theta) <= limits$p, 1, limits$upper)
  share <- 0.5
  while (share > 1e-3) {
    before <- value
    for (k in free) {
      for (to in theta[k] + c(-1, 1) * share * unit[k]) {
        tried <- replace(theta, k, min(max(to, limits$lower[k]), limits$upper[k]))
        reached <- criterion$evaluate(tried, FALSE)$value
        if (reached >= value) next
        theta <- tried
        value <- reached
      }
    }
    if (value == before) share <- share / 2
  }
  list(theta = theta, value = value, converged = TRUE)
}

# Whether a criterion is a squared error, whose size is that of its differences. Others are logarithms or relative.
is_squared <- function(bws) bws$method == "cv.ls" && !is_distribution(bws)

# Whether a value is no higher up to rounding: then the smoother of two fits is taken.
no_higher <- function(value, best, squared) {
  is.finite(value) && value <= best + 1e-12 * (if (squared) abs(best) else 1 + abs(best))
}

# Smooths regressors out, and splits the data by factors, where that is no higher, and descends again. Where it is a
# little higher some steps show whether the others only have to move.
test_faces <- function(criterion, best, limits, bws) {
  near <- function(value) {
    is.finite(value) && value - best$value < 0.01 * (if (is_squared(bws)) abs(best$value) else 1)
  }
  faces <- faces_of(limits)
  for (round in seq_len(2L * length(best$theta))) {
    from <- best$theta
    for (k in seq_along(from)) for (face in setdiff(faces[[k]], best$theta[k])) {
      found <- list(theta = replace(best$theta, k, face), converged = TRUE)
      found$value <- criterion$evaluate(found$theta, FALSE)$value
      smoother <- if (k <= limits$p) face == 0 else face > best$theta[k]
      lower <- function() {
        if (smoother) no_higher(found$value, best$value, is_squared(bws)) else found$value < best$value
      }
      if (!lower() && near(found$value)) {
        free <- seq_along(from) != k & !is_smoothed_out(best$theta, limits)
        found <- descend(criterion, found$theta, free, limits, bws$ckertype, 1e-6, steps = 4L)
      }
      if (lower()) best <- found
    }
    freed <- inwards(criterion, best$theta, limits, bws)
    if (identical(best$theta, from) && !any(freed)) break
    best <- descend_free(criterion, best, limits, bws, 1e-8, freed)
    if (identical(best$theta, from)) break
  }
  best
}

# Along what is not smoothed out, and along what is `freed`, where that is lower.
descend_free <- function(criterion, best, limits, bws, tolerance, freed = FALSE) {
  free <- freed | !is_smoothed_out(best$theta, limits)
  found <- descend(criterion, best$theta, free, limits, bws$ckertype, tolerance)
  if (found$value < best$value) found else best
}

# Which factors are smoothed out although the objective falls towards smaller lambdas, as it may after the others have
# moved.
inwards <- function(criterion, theta, limits, bws) {
  out <- is_smoothed_out(theta, limits) & seq_along(theta) > limits$p
  if (!any(out) || bws$ckertype == "uniform") return(out & FALSE)
  out & criterion$evaluate(theta, TRUE)$gradient > 0
}

# The bandwidths of the least objective: `raw` in the order of the columns, and every start's result; and what computes
# the objective, with the core's sample.
search_mixed <- function(bws, nmulti, start, run, progress) {
  criterion <- mixed_criterion(bws, run, progress)
  limits <- mixed_limits(bws)
  starts <- mixed_starts(bws, limits, criterion, nmulti, start, run, progress)
  if (length(starts) == 0L) refuse_without_least(bws)
  free <- rep(TRUE, length(limits$lower))
  found <- lapply(starts, descend, criterion = criterion, free = free, limits = limits, kernel = bws$ckertype,
                  tolerance = 1e-5)
  values <- vapply(found, `[[`, 0, "value")
  if (all(values == Inf)) refuse_without_least(bws)
  first <- which.min(values)
  best <- test_faces(criterion, found[[first]], limits, bws)
  polished <- descend_free(criterion, best, limits, bws, 1e-13)
  # A search that ended at its limit of steps has converged if the last of them gained nothing.
  gained <- best$value - polished$value > 1e-8 * (abs(best$value) + (bws$method == "cv.aic" || is_distribution(bws)))
  if (gained && !polished$converged) warn_search("The search for the least ", bws$method, " did not converge.")
  best <- polished
  list(data = criterion$data, objective = criterion$objective, raw = raw_of(best$theta, bws), ifval = first,
       fval.history = criterion$values_of(values), num.feval = criterion$evaluations(),
       starts = do.call(rbind, lapply(found, function(one) raw_of(one$theta, bws))))
}

# No start of a search has a finite objective.
refuse_without_least <- function(bws) {
  if (!is_density(bws)) check_least(Inf, bws, bws)
  abort_input("`bws` must be larger than those of the search: at each of them some observation has no density.")
}

# Bandwidths in the order of the columns. A finite number stands for an infinite one, as with one regressor.
raw_of <- function(theta, bws) {
  ranges <- ranges_of(bws)
  h <- h_of_theta(theta, bws)
  if (!is_nearest(bws)) h <- ifelse(h > far_beyond * ranges, 10^ceiling(log10(ranges) + 9), h)
  c(h, theta[seq_along(theta) > bws$ncon])[order(core_order(bws))]
}
