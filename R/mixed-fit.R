# Fits of several regressors or of factors: at the data, at points, and the effects of factors.

# What fit_regression() needs, as from one regressor.
mixed_fits <- function(bws, points, at_data, wanted, run) {
  sample <- placed_sample(bws, 4, run)
  task <- mixed_task(bws, bws$bandwidth$x)
  inside <- mixed_fit_cpp(sample, task, NULL, numeric(0), FALSE, run)
  loo <- bws$y + inside$deviation
  supported <- !is.na(loo)
  # As with one regressor: an observation without neighbours has the root mean square of the others.
  usual <- if (any(supported)) stats::weighted.mean(inside$deviation[supported]^2, bws$w[supported]) else NA_real_
  error2 <- ifelse(supported, inside$deviation^2, usual)
  made <- list(bws = bws, error2 = error2, trace = sum(inside$leverage), unsupported = sum(!supported & bws$w > 0),
               measures = measures_at(bws$y, inside$mean, bws$w))
  inside <- list(mean = inside$mean, se = rep(NA_real_, length(bws$y)), resid = bws$y - inside$mean,
                 loo = loo)
  at <- if (!at_data || wanted$se || wanted$gradients) {
    mixed_values_at(made, points, wanted$se, run, wanted$gradients, sample)
  }
  if (at_data) at <- c(at, inside[setdiff(names(inside), names(at))])
  list(made = made, inside = inside, at = at, place = mixed_place_cpp(sample))
}

# Fit, standard error, gradients and effects at points: NA where a value is missing, a level is unknown or there is no
# neighbour.
mixed_values_at <- function(fit, points, se, run, gradients, sample = mixed_sample(fit$bws, run)) {
  bws <- fit$bws
  columns <- unclass(points)[seq_len(bws$ndim)]
  known <- !Reduce(`|`, lapply(columns, is.na))
  columns <- lapply(columns, function(column) column[known])
  task <- mixed_task(bws, bws$bandwidth$x)
  error2 <- if (se || gradients) fit$error2 else numeric(0)
  at <- function(columns, gradients) {
    found <- mixed_fit_cpp(sample, task, mixed_points(columns, bws), error2, gradients, run)
    if (length(error2) == 0L) found$se <- rep(NA_real_, length(found$mean))
    found
  }
  found <- at(columns, gradients)
  placed <- function(value) {
    whole <- matrix(NA_real_, length(known), NCOL(value))
    whole[known, ] <- value
    if (is.matrix(value)) whole else as.vector(whole)
  }
  values <- list(mean = placed(found$mean), se = placed(found$se))
  if (!gradients) return(values)
  grad <- gerr <- matrix(NA_real_, sum(known), bws$ndim)
  grad[, bws$icon] <- found$grad
  gerr[, bws$icon] <- found$gerr
  for (k in which(!bws$icon)) {
    effect <- effect_of(columns, k, bws, found, function(columns) at(columns, FALSE))
    grad[, k] <- effect$grad
    gerr[, k] <- effect$gerr
  }
  c(values, list(grad = placed(grad), gerr = placed(gerr)))
}

# As in np: for a factor the fit minus that at the first level; for an ordered factor the fit minus that at the level
# below, at the lowest level the fit at the next one minus it. The two fits count as independent in the error.
effect_of <- function(columns, k, bws, found, at) {
  code <- match(as.character(columns[[k]]), levels(bws$x[[k]]))
  columns[[k]] <- base_levels(columns[[k]], bws$x[[k]])
  other <- as.integer(columns[[k]])
  base <- at(columns)
  same <- other == code
  list(grad = ifelse(same, 0, (found$mean - base$mean) * sign(code - other)),
       gerr = ifelse(same, 0, sqrt(found$se^2 + base$se^2)))
}

# The levels of the data with which effects compare.
base_levels <- function(value, column) {
  levels <- levels(column)
  code <- match(as.character(value), levels)
  other <- if (is.ordered(column)) ifelse(code == 1L, min(2L, length(levels)), code - 1L) else rep(1L, length(code))
  factor(levels[other], levels)
}

# Points from `newdata` or `exdat`: a data frame of the regressors, with the levels of the data. Other levels are
# missing values, which one warning counts.
mixed_evaluation_points <- function(bws, newdata, exdat, name = "exdat") {
  argument <- if (is.null(exdat)) "newdata" else name
  points <- if (is.null(exdat)) plain_points(newdata) else plain_points(exdat)
  if (is.null(exdat) && !is.null(bws$terms)) {
    frame <- regressors_in(bws, points)
    points <- frame[regressors_of(attr(frame, "terms"))]
  }
  if (bws$ndim == 1L && is.atomic(points) && length(dim(points)) < 2L) points <- named_column(points, bws$xnames)
  if (is.matrix(points) && is_numbers(points)) points <- as.data.frame(points)
  if (!is_frame(points)) {
    abort_input("`", argument, "` must be a data frame with ", quoted(bws$xnames), ", not ", describe_value(points),
                ".")
  }
  given <- readable(names(points))
  if (all(bws$xnames %in% given)) {
    points <- unclass(points)[match(bws$xnames, given)]
  } else if (length(given) != bws$ndim || are_names(given)) {
    abort_input("`", argument, "` must be a data frame with ", quoted(bws$xnames), ", not ",
                if (length(given) == 0L) "one without columns" else paste("one with", quoted(given)), ".")
  }
  columns <- lapply(seq_len(bws$ndim), function(k) point_column(unclass(points)[[k]], bws$x[[k]], bws$xnames[k]))
  unknown <- Reduce(`|`, lapply(columns, `[[`, "unknown"))
  if (any(unknown)) {
    of <- bws$xnames[vapply(columns, function(column) any(column$unknown), NA)]
    warn_support(sum(unknown), " of ", length(unknown), " points ", if (sum(unknown) == 1L) "has" else "have",
                 " a level of ", quoted(of), " that the data lack: ", if (sum(unknown) == 1L) "its" else "their",
                 " fit is NA.")
  }
  structure(stats::setNames(lapply(columns, `[[`, "value"), bws$xnames), class = "data.frame",
            row.names = .set_row_names(length(unknown)))
}

# Values of one regressor, and which have levels that `column`, that of the data, lacks.
point_column <- function(value, column, name) {
  if (!is.factor(column)) {
    value <- check_dates(as_variable(named_column(value, name), name, dates = TRUE), column)
    check_not_infinite(value, name)
    return(list(value = in_dates(value, column), unknown = logical(length(value))))
  }
  value <- if (is.factor(value)) plain_factor(value, name) else plain_points(value)
  if (!is.factor(value) && (is.object(value) || !is.atomic(value) || is.null(value))) {
    abort_input("`", name, "` must be a factor, not ", kind_of(value), ".")
  }
  texts <- as.character(value)
  made <- factor(texts, levels(column), ordered = is.ordered(column))
  list(value = made, unknown = is.na(made) & !is.na(texts))
}

warn_not_fitted <- function(mean, points, bws) {
  lost <- sum(is.na(mean) & !Reduce(`|`, lapply(unclass(points)[seq_len(bws$ndim)], is.na)))
  if (lost == 0L) return(invisible())
  warn_support(lost, " of ", length(mean), " points ", if (lost == 1L) "has" else "have",
               " no observation within the bandwidths: ", if (lost == 1L) "its" else "their", " fit is NA.")
}
