# The answers of an estimate or a synopsis for cells, see query-cells.R.

# What answers: the estimate `fhat`, and the `labels`, the `ranges` and the number of rows of the table of a synopsis.
query_source <- function(fhat) {
  if (!is_synopsis(fhat)) return(list(fhat = fhat, labels = list(), ranges = NULL, N = length(fhat$w)))
  list(fhat = synopsis_density(fhat), labels = fhat$labels, ranges = fhat$ranges, N = fhat$N)
}

# A data frame with a row for each box. `query`: `fun`, `of`, the number of a variable or NULL, and `prob`.
answer_cells <- function(source, cells, query, N, level, run) {
  fhat <- source$fhat
  if (!is.null(query$of) && !keeps_units(fhat$transform)) {
    abort_input("`fun` must be \"count\" for an estimate with positive or unit.interval, not \"", query$fun, "\".")
  }
  check_distances(fhat)
  if (!is.null(source$ranges)) cells <- lapply(cells, within_ranges, source$ranges)
  found <- sums_of_cells(source, cells, if (query$fun != "quantile") query$of, query$fun == "count", run)
  if (query$fun == "count") {
    counts <- count_frame(found$share, found$within, found$certain, N, fhat$n_eff, level)
    return(bounded_by_labels(counts, cells, source, N))
  }
  count <- N * found$share
  # A box without mass has a sum, zero, but no mean.
  value <- switch(query$fun, sum = ifelse(count > 0, count * found$mean, 0),
                  quantile = quantiles_of_cells(source, cells, query, found$share, run), found[[query$fun]])
  ends <- rows_interval(source, cells, query, value, N, level)
  stats::setNames(data.frame(value, ends, count), c(query$fun, "lower", "upper", "count"))
}

# Of the union of the cells: the share of the density, with `of` the mean and variance there, and with `count` the share
# of the rows, and whether it is certain.
sums_of_cells <- function(source, cells, of, count, run) {
  terms <- inclusion_exclusion(cells)
  m <- nrow(cells[[1L]]$lower)
  k <- length(terms)
  blank <- function(value) matrix(value, m, k)
  held <- list(share = blank(0), mean = blank(NA_real_), var = blank(NA_real_), within = blank(0),
               certain = blank(TRUE))
  live <- matrix(!unlist(lapply(terms, is_empty)), m, k)
  # Terms with the same categories are boxes of the same rows.
  sets <- lapply(terms, `[[`, "sets")
  for (same in split(seq_len(k), match(sets, unique(sets)))) {
    rows <- rows_of_sets(source$labels, sets[[same[1L]]])
    at <- cbind(row(live)[, same][live[, same]], rep(same, each = m)[live[, same]])
    part <- estimate_of_rows(source$fhat, rows)
    if (nrow(at) == 0L) next
    if (is.null(part$fhat)) {
      held$certain[at] <- FALSE
      next
    }
    stacked <- function(side) do.call(rbind, lapply(terms[same], `[[`, side))[live[, same], , drop = FALSE]
    found <- sums_of_boxes(part$fhat, stacked("lower"), stacked("upper"), of, count, run)
    held$share[at] <- part$fraction * found$share
    if (!is.null(of)) {
      held$mean[at] <- found$mean
      held$var[at] <- found$var
    }
    if (count) {
      held$within[at] <- part$fraction * found$within
      held$certain[at] <- found$certain & is.null(rows)
    }
  }
  if (k == 1L) return(lapply(held, as.vector))
  added_terms(held, vapply(terms, `[[`, 0, "sign"))
}

# Sums over terms. The variance is that of a mixture with signs.
added_terms <- function(held, sign) {
  total <- function(value) as.vector(ifelse(held$share > 0, value, 0) %*% sign)
  share <- pmin(pmax(total(held$share), 0), 1)
  mean <- ifelse(share > 0, total(held$share * held$mean) / share, NA_real_)
  var <- ifelse(share > 0, pmax(total(held$share * (held$var + (held$mean - mean)^2)) / share, 0), NA_real_)
  list(share = share, mean = mean, var = var, within = pmin(pmax(as.vector(held$within %*% sign), 0), 1),
       certain = rowSums(!held$certain) == 0)
}

# Whether each row that is kept has one of the categories of all sets; NULL for all rows.
rows_of_sets <- function(labels, sets) {
  if (length(sets) == 0L) return(NULL)
  Reduce(`&`, lapply(names(sets), function(name) {
    code <- labels[[name]]$codes
    sets[[name]][ifelse(code == 0, length(sets[[name]]), code)]
  }))
}

# The estimate from some of the rows, NULL if they have no weight, and the fraction of all weights that they have.
estimate_of_rows <- function(fhat, rows) {
  if (is.null(rows)) return(list(fhat = fhat, fraction = 1))
  fraction <- sum(fhat$w[rows]) / sum(fhat$w)
  if (fraction == 0) return(list(fhat = NULL))
  fhat$x <- if (is.matrix(fhat$x)) fhat$x[rows, , drop = FALSE] else fhat$x[rows]
  fhat$w <- fhat$w[rows]
  list(fhat = fhat, fraction = fraction)
}

# The same sums for boxes of one estimate.
sums_of_boxes <- function(fhat, lower, upper, of, count, run) {
  sample <- data_on_line(fhat)
  bounded <- has_images(fhat$transform)
  if (!bounded) {
    lower <- points_to_line(fhat$transform, lower)
    upper <- points_to_line(fhat$transform, upper)
  }
  held <- box_answers(fhat, sample, lower, upper, of, run)
  if (!count) return(held)
  if (bounded) {
    sample <- sample_cpp(fhat$x, fhat$w)
    upper[upper >= rep(fhat$transform$upper, each = nrow(upper))] <- Inf
    upper[upper < rep(fhat$transform$lower, each = nrow(upper))] <- -Inf
    lower[lower <= rep(fhat$transform$lower, each = nrow(lower))] <- -Inf
  }
  heard()
  held$certain <- rowSums(lower > -Inf | upper < Inf) == 0 | rowSums(upper == -Inf) > 0
  heard()
  held$within <- query_rows_cpp(sample, lower, upper, run)
  held
}

# Counts are at most those of the categories, and exactly these if nothing else is asked for.
bounded_by_labels <- function(counts, cells, source, N) {
  used <- unique(unlist(lapply(cells, function(cell) names(cell$sets))))
  if (length(used) == 0L) return(counts)
  rows_of <- function(name, set) {
    label <- source$labels[[name]]
    sum(c(label$counts, label$other)[set]) * (N / source$N)
  }
  empty <- vapply(cells, is_empty, logical(nrow(counts)))
  dim(empty) <- c(nrow(counts), length(cells))
  most <- vapply(cells, function(cell) min(N, unlist(Map(rows_of, names(cell$sets), cell$sets))), 0)
  counts[] <- lapply(counts, pmin, as.vector((!empty) %*% most))
  free <- Reduce(`&`, lapply(cells, function(cell) is_empty(cell) | rowSums(cell$lower > -Inf | cell$upper < Inf) == 0))
  for (box in if (length(used) == 1L) which(free)) {
    sets <- lapply(cells[!empty[box, ]], function(cell) cell$sets[[used]])
    whole <- any(vapply(sets, is.null, NA))
    counts[box, ] <- if (whole) N else if (length(sets) == 0L) 0 else rows_of(used, Reduce(`|`, sets))
  }
  counts
}

# The quantiles of the variable `of` in the union of cells, by bisection. NA without mass.
quantiles_of_cells <- function(source, cells, query, share, run) {
  span <- variable_span(source, cells, query$of)
  low <- span$lower
  high <- span$upper
  for (round in seq_len(200L)) {
    middle <- low / 2 + high / 2
    if (all(high - low <= 1e-13 * pmax(abs(low), abs(high)) | middle <= low | middle >= high)) break
    below <- lapply(cells, function(cell) {
      cell$upper[, query$of] <- pmin(cell$upper[, query$of], middle)
      cell
    })
    less <- sums_of_cells(source, below, NULL, FALSE, run)$share < query$prob * share
    low <- ifelse(less, middle, low)
    high <- ifelse(less, high, middle)
  }
  ifelse(share > 0, low / 2 + high / 2, NA_real_)
}

# Between which numbers a variable can be in the union of cells: their limits, the table's range, and as far as kernels
# reach.
variable_span <- function(source, cells, of) {
  x <- sample_matrix(source$fhat)[, of]
  h <- sqrt(diag(as.matrix(source$fhat$H)))[of]
  reach <- if (is_compact(source$fhat$kernel)) 1 else 40
  range <- if (is.null(source$ranges)) range(x) + c(-1, 1) * reach * h else source$ranges[, of]
  if (has_images(source$fhat$transform)) range <- within_bounds(source$fhat$transform, range, of)
  ends <- function(side, none, extreme) {
    Reduce(extreme, lapply(cells, function(cell) ifelse(is_empty(cell), none, cell[[side]][, of])))
  }
  list(lower = pmin(pmax(ends("lower", Inf, pmin), range[1L]), range[2L]),
       upper = pmax(pmin(ends("upper", -Inf, pmax), range[2L]), range[1L]))
}

# Intervals of sums, means, variances and quantiles from the rows in a box: see the help of kde_query().
rows_interval <- function(source, cells, query, value, N, level) {
  fhat <- source$fhat
  x <- sample_matrix(fhat)
  y <- x[, query$of]
  w <- fhat$w / sum(fhat$w)
  unknown <- max(1 - fhat$n_eff / N, 0)
  among <- lapply(cells, function(cell) rows_of_sets(source$labels, cell$sets))
  span <- variable_span(source, cells, query$of)
  ends <- vapply(seq_along(value), function(box) {
    heard()
    if (is.na(value[box])) return(c(NA_real_, NA_real_))
    inside <- rows_in_box(x, cells, among, box)
    limits <- c(span$lower[box], span$upper[box])
    switch(query$fun,
      sum = sum_ends(y, w * inside, w, unknown, N, value[box], level),
      mean = mean_ends(y, w * inside, unknown, value[box], level, limits),
      var = var_ends(y, w * inside, unknown, value[box], level, limits),
      quantile = quantile_ends(y, w * inside, unknown, value[box], level, limits, query$prob)
    )
  }, c(0, 0))
  data.frame(lower = ends[1L, ], upper = ends[2L, ])
}

rows_in_box <- function(x, cells, among, box) {
  inside <- rep(FALSE, nrow(x))
  for (k in seq_along(cells)) {
    within <- if (is.null(among[[k]])) rep(TRUE, nrow(x)) else among[[k]]
    lower <- cells[[k]]$lower[box, ]
    upper <- cells[[k]]$upper[box, ]
    for (at in which(lower > -Inf | upper < Inf)) within <- within & x[, at] >= lower[at] & x[, at] <= upper[at]
    inside <- inside | within
  }
  inside
}

# Of each: `v`, the weights of the rows in the box, zero for others; `unknown`, the fraction of the table's rows that
# are not known; `limits`, between which the variable is.
sum_ends <- function(y, v, w, unknown, N, value, level) {
  total <- sum(v * y)
  z <- ifelse(v > 0, y, 0)
  error <- stats::qnorm((1 + level) / 2) * sqrt(unknown * sum(w^2 * (z - total)^2))
  half <- N * error + abs(value - N * total)
  c(value - half, value + half)
}

effective_rows <- function(v) if (any(v > 0)) sum(v)^2 / sum(v^2) else 0

# By how many standard errors of n rows drawn with replacement a mean differs.
student <- function(level, n, unknown) if (unknown == 0) 0 else stats::qt((1 + level) / 2, n - 1) * sqrt(unknown)

mean_ends <- function(y, v, unknown, value, level, limits) {
  n <- effective_rows(v)
  if (n < 2 && (unknown > 0 || n == 0)) return(limits)
  mean <- sum(v * y) / sum(v)
  error <- student(level, n, unknown) * sqrt(sum(v^2 * (y - mean)^2)) / sum(v)
  half <- error + abs(value - mean)
  c(max(value - half, limits[1L]), min(value + half, limits[2L]))
}

# Of numbers between limits the variance is at most a quarter of the square of their distance (Popoviciu 1935).
var_ends <- function(y, v, unknown, value, level, limits) {
  most <- max(diff(limits)^2 / 4, value)
  n <- effective_rows(v)
  if (n < 2 && (unknown > 0 || n == 0)) return(c(0, most))
  squares <- (y - sum(v * y) / sum(v))^2
  var <- sum(v * squares) / sum(v)
  error <- student(level, n, unknown) * sqrt(sum(v^2 * (squares - var)^2)) / sum(v)
  half <- error + abs(value - var)
  c(max(value - half, 0), min(value + half, most))
}

# The quantiles of the rows at the ends of Wilson's interval of `prob`.
quantile_ends <- function(y, v, unknown, value, level, limits, prob) {
  n <- effective_rows(v)
  if (n < 1) return(limits)
  c <- stats::qnorm((1 + level) / 2)^2 * unknown / n
  ends <- (prob + c / 2 + c(-1, 0, 1) * sqrt(c * prob * (1 - prob) + c^2 / 4)) / (1 + c)
  ends[2L] <- prob
  order <- order(y)
  below <- cumsum(v[order]) / sum(v)
  at <- y[order][pmin(findInterval(ends, below, left.open = TRUE) + 1L, length(y))]
  half <- max(abs(at[-2L] - at[2L])) + abs(value - at[2L])
  c(max(value - half, limits[1L]), min(value + half, limits[2L]))
}
