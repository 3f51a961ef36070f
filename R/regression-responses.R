# Responses at the points of a fit, and how well it predicts them.

# The responses at `count` points (NULL: the fit is at the data, whose responses are known) that npreg() was given or
# told to take from `newdata`; NULL if there are none.
responses_at <- function(bws, newdata, count, wanted) {
  if (is.null(count)) {
    if (!is.null(wanted$eydat)) inform_ignored("eydat")
    return(NULL)
  }
  if (!is.null(wanted$eydat) && wanted$y.eval) abort_input("`eydat` must not be given together with y.eval = TRUE.")
  if (wanted$y.eval) return(response_in(bws, newdata))
  if (is.null(wanted$eydat)) return(NULL)
  responses <- check_not_infinite(as_variable(named_column(wanted$eydat, "eydat"), "eydat")$value, "eydat")
  if (length(responses) != count) {
    abort_input("`eydat` must have one value for each point, ", count, ", not ", length(responses), ".")
  }
  responses
}

# The response of the formula, with the variables in `newdata`.
response_in <- function(bws, newdata) {
  if (is.null(bws$terms) || is.null(newdata)) {
    abort_input("`y.eval` must be FALSE where there is no formula with `newdata`: `eydat` may have the responses.")
  }
  newdata <- plain_points(newdata)
  response <- stats::formula(bws$terms)
  response[[3L]] <- NULL
  lacking <- setdiff(variables_needed(response, names(newdata)), names(newdata))
  if (length(lacking) > 0L) {
    abort_input("`newdata` must have ", quoted(lacking), " for y.eval = TRUE, not only ", quoted(names(newdata)), ".")
  }
  frame <- catching_errors(stats::model.frame(response, newdata, na.action = stats::na.pass), function(e) {
    abort_input("`newdata` must make sense with the formula: ", conditionMessage(e), ".")
  })
  check_not_infinite(as_variable(frame, bws$ynames)$value, bws$ynames)
}

# np's measures of a fit, weighted, over the points that have a response and a fit. NA if they are not defined there.
measures_at <- function(y, fit, w = rep(1, length(y))) {
  known <- !is.na(y) & !is.na(fit) & w > 0
  y <- y[known]
  fit <- fit[known]
  w <- w[known] / sum(w[known])
  if (length(y) == 0L) return(as.list(c(R2 = NA_real_, MSE = NA, MAE = NA, MAPE = NA, CORR = NA, SIGN = NA)))
  off <- y - fit
  relative <- ifelse(y == 0, (off != 0) / 2, abs(off / y))
  average <- function(v) sum(w * v)
  centred <- y - average(y)
  of_fit <- fit - average(y)
  # Fits that differ from their mean by rounding only have no correlation with anything.
  flat <- function(v) all(abs(v) <= 1e-12 * max(abs(y), abs(fit)))
  # Powers of 2, which change no digits: squares of the values themselves may overflow.
  in_units <- function(v) v / 2^floor(log2(max(abs(v))))
  share <- function(v) {
    if (flat(centred) || flat(v)) return(NA_real_)
    y <- in_units(centred)
    v <- in_units(v)
    abs(average(y * v)) / sqrt(average(y^2) * average(v^2))
  }
  list(R2 = share(of_fit)^2, MSE = average(off^2), MAE = average(abs(off)), MAPE = average(relative),
       CORR = share(of_fit - average(of_fit)), SIGN = average(sign(y) * sign(fit) >= 0))
}
