# Kernel regression: the fit, its leave-one-out residuals and standard errors.

#' Kernel regression
#'
#' Fits the Nadaraya-Watson (local constant) or local linear regression of a response on numbers, factors and ordered
#' factors, with standard errors and confidence bands from leave-one-out residuals. Names and conventions are those of
#' package
#' \pkg{np}.
#'
#' The fit at a point is a weighted sum of the responses, sum_i l_i(x) y_i. Its standard error is
#' \deqn{se(x)^2 = \sum_i l_i(x)^2 e_{-i}^2,}{se(x)^2 = sum_i l_i(x)^2 e_-i^2,}
#' where e_-i is the residual at observation i of the fit that leaves this observation out. This does not assume a
#' constant variance. The standard errors of \pkg{np} are others: the variance about
#' each point that they contain includes the slope of the curve. In a simulation of a steep curve, in which the standard
#' deviation of the fit was 0.052 over samples with the same x, these were 0.053 on average, and those of np 0.60 were
#' 0.090. An
#' observation without a neighbour has no such residual. The root mean square of the others, weighted by w, replaces
#' it. The bands are fit -+ z se, pointwise, without a correction for bias.
#'
#' With nearest-neighbour bandwidths (`bwtype` of [npregbw()]) gradients of local constant fits are those for the
#' bandwidths that hold at the point, as in \pkg{np}: that these change with the point is not counted.
#'
#' At points without an observation within the bandwidth, or with fewer than k neighbours, the fit is NA, and so it is
#' at points with a level that the data lack. One warning of class `kestrel_warning_support` counts these points.
#'
#' The gradient by a factor is its effect, as in \pkg{np}: the fit minus that at the first level. For an ordered factor
#' it is the fit minus that at the level below, and at the lowest level the fit at the next one minus it. The standard
#' error of an effect takes the two fits as independent. They are if the factor splits the data (lambda = 0). Otherwise
#' it is too large, because they share observations.
#'
#' @param bws a bandwidth object of [npregbw()], which contains its data. With `txdat` and `tydat`, or with a formula,
#'   it may be a bandwidth, which is taken as it is, or a vector of candidates. If NULL, [npregbw()] selects one. If
#'   `formula` is not given, it may be a formula, as in \pkg{np}. It may be called `bw`, too.
#' @param formula,data,subset,na.action,w as in [npregbw()]. A bandwidth object has its data, so `data` has no effect
#'   together with one.
#' @param txdat,tydat regressor and response, as `xdat` and `ydat` of [npregbw()]. Together with a bandwidth object,
#'   which must not have weights, they are other data to fit with its bandwidth, kernel and other choices. Without names
#'   they may be the first two arguments, `npreg(x, y)`.
#' @param xdat,ydat other names of `txdat` and `tydat`.
#' @param newdata points to evaluate the fit at, if not at the data: a data frame with the variables of the formula.
#'   Without a formula it is a numeric vector, or a matrix or data frame with one column, whose name must be the
#'   regressor's if both have one. For several regressors it is a data frame with their names. The fit is NA in rows
#'   with missing values.
#' @param exdat the same points as values of the regressors, with or without a formula.
#' @param eydat responses at these points, one for each, which may be missing. `R2`, `MSE` and the other measures are
#'   then those of these responses and the fits at the points, not of the data.
#' @param y.eval if TRUE, take these responses from `newdata`, by the formula.
#' @param gradients if TRUE, give the gradients of the fit and their standard errors.
#' @param se if FALSE, standard errors and bands are not computed and are NA.
#' @param level the confidence level of the bands, pointwise.
#' @param residuals accepted for scripts written for \pkg{np}, without effect: residuals are always there.
#' @param threads,verbose as in [npregbw()].
#' @param backend where the bandwidth is searched for, as in [npregbw()], and with several regressors or factors where
#'   the fit is computed. With one numeric regressor that is the CPU, so that with a bandwidth object the backend must
#'   be `"auto"` or `"cpu"`.
#' @param ... arguments of [npregbw()]: `regtype`, `ckertype`, `bwmethod` and others, by their whole names.
#' @return An object of class `c("kestrel_reg", "npregression")`, a list with
#'   \item{bw}{the bandwidth, a number for each regressor, on the scale of `bws$bw.scale`}
#'   \item{bws}{the bandwidth object, with the data}
#'   \item{eval}{the points, a data frame of the regressors. One numeric regressor may have, as in \pkg{np}, the name of
#'     the variable `exdat`}
#'   \item{mean, merr}{fit and standard error there, in the units of y}
#'   \item{grad, gerr}{with `gradients = TRUE` the gradient of the fit and its standard error, matrices with a column
#'     for each regressor; else NA. For local linear fits the gradient is the slope of the line in the window, as in
#'     \pkg{np}, and for local constant ones the derivative of the fit}
#'   \item{lower, upper, level}{the confidence band}
#'   \item{resid, loo}{at the data: residuals of the fit, and the leave-one-out fits, NA without neighbour}
#'   \item{R2}{squared correlation of response and fit (Li & Racine 2007, section 2.2), NA when one is constant}
#'   \item{MSE, MAE, MAPE}{mean squared, mean absolute and mean absolute relative residual, weighted by w. A response
#'     of 0 counts 1/2 in MAPE, as in \pkg{np}}
#'   \item{CORR, SIGN}{the absolute correlation of response and fit, and how often they have the same sign, where 0 has
#'     both}
#'   \item{eydat}{the responses at the points, if they were given: then these six measures are of the points}
#'   \item{edf}{trace of the smoother matrix}
#'   \item{n.unsupported}{how many observations have no neighbour}
#'   \item{nobs}{the number of observations of positive weight}
#'   and `ntrain`, `trainiseval`, `ndim`, `xnames`, `ynames`, `engine`, `backend`, `device`, `seconds`, `call`. With
#'   several regressors, or a factor, the class is `c("kestrel_mixed", "kestrel_reg", "npregression")`.
#' @section Weights: Weights enter every sum of a fit. So for the fit at a point an observation of weight 3 is the same
#'   as three copies of it. Fits that leave it out leave out all of its weight, and standard errors count its error
#'   once.
#' @section Errors: The errors of [npregbw()] can occur here, too. Errors of class `kestrel_error_input` are also for
#'   points or responses that are infinite or of another type, or not as many as each other. Errors of class
#'   `kestrel_error_backend` are also for `backend = "cuda"` with a bandwidth object of one numeric regressor, because
#'   then there is no search.
#' @section Accuracy: With one numeric regressor the error of a fit is at most 1e-11 of the largest response near the
#'   point. The error of a squared standard error is at most 1e-8 of itself, plus 1e-12 times the sum of the squared
#'   weights and the largest squared leave-one-out residual. The second part matters for local linear fits with an
#'   outlier in x within the bandwidth. The leave-one-out fit extrapolates to the outlier, so its residual may be very
#'   large. In simulations with one outlier at 1e6 standard deviations of the others, standard errors had a relative
#'   error of 1e-5. With the outlier at 1e8 the error was 12 %. With weights that differ by six orders of magnitude it
#'   was 1 % at 1e6, and at 1e8 no digits were left.
#' @section Cost: A fit at m points takes O((n + m) log(n + m)). With the Gaussian kernel, points in sparse data also
#'   take the observations within 10 bandwidths or so of their nearest one. Gradients of local constant fits by compact
#'   kernels take the observations within the bandwidth. With several regressors, or a factor, a point takes O(n), and
#'   the effects of each factor as much again. Unless `bws` is a bandwidth object, the cost of [npregbw()] is added. All
#'   threads are used.
#' @references Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 2.
#'
#'   Fan, J. & Gijbels, I. (1996) *Local Polynomial Modelling and Its Applications*. Chapman & Hall.
#' @seealso [npregbw()]; [predict.kestrel_reg()] and the other methods; [plot.kestrel_reg()].
#' @examples
#' fit <- npreg(dist ~ speed, data = cars, regtype = "ll")
#' fit
#' plot(fit)
#' predict(fit, data.frame(speed = c(10, 15)), se.fit = TRUE)
#'
#' if (requireNamespace("MASS", quietly = TRUE)) {
#'   bw <- npregbw(accel ~ times, data = MASS::mcycle)
#'   plot(npreg(bw))
#'   bw$bw <- 3
#'   plot(npreg(bw))
#' }
#'
#' # how well one half of the data predicts the other
#' half <- npregbw(waiting ~ eruptions, data = faithful[1:136, ])
#' npreg(half, newdata = faithful[137:272, ], y.eval = TRUE)$R2
#'
#' # several regressors: the effects of a factor
#' mixed <- npreg(breaks ~ wool + tension, data = warpbreaks, gradients = TRUE)
#' unique(data.frame(warpbreaks[c("wool", "tension")], effect = gradients(mixed)))
#'
#' # a bandwidth of one's own
#' npreg(bws = 0.5, txdat = faithful$eruptions, tydat = faithful$waiting, exdat = 2:5)$mean
#' @export
npreg <- function(...) {
  UseMethod("npreg", dispatched_on(..., .called = "npreg", .known = npreg_arguments(),
                                   .classes = list(formula = "formula", bws = "kestrel_regbw", bw = "kestrel_regbw")))
}

# `gradient` is in scripts for np, where it matches `gradients`, as here.
npreg_arguments <- function() {
  methods <- list(npreg.formula, npreg.default, npreg.kestrel_regbw)
  c(unlist(lapply(methods, function(method) names(formals(method)))), npregbw_arguments(), "bw", "gradient")
}

#' @rdname npreg
#' @export
npreg.formula <- function(formula, data = NULL, subset, na.action = getOption("na.action"), gradients = FALSE,
                          residuals = TRUE, ..., newdata = NULL, exdat = NULL, y.eval = FALSE, eydat = NULL, se = TRUE,
                          level = 0.95, w = NULL, backend = "auto", threads = NULL, verbose = NULL) {
  call <- called_as(quote(npreg), match.call())
  verbose <- asked_verbose(verbose)
  check_named("npreg", given_names(...), "residuals")
  wanted <- fit_arguments(se, level, gradients, residuals, eydat, y.eval)
  of_fit <- c("newdata", "exdat", "y.eval", "eydat", "se", "level", "residuals", "gradients")
  selection <- call[!names(call) %in% of_fit]
  selected <- called_as(npregbw.formula, selection)
  frame <- parent.frame()
  select <- function(needed) {
    selected$.needed <- needed
    replace(eval(selected, frame), "call", list(called_as(quote(npregbw), selection)))
  }
  fit_regression(select, newdata, exdat, wanted, threads, verbose, call, backend)
}

#' @rdname npreg
#' @export
npreg.default <- function(bws = NULL, txdat, tydat, exdat = NULL, eydat = NULL, gradients = FALSE, residuals = TRUE,
                          ..., xdat, ydat, newdata = NULL, y.eval = FALSE, se = TRUE, level = 0.95, w = NULL,
                          na.action = stats::na.omit, backend = "auto", threads = NULL, verbose = NULL) {
  call <- called_as(quote(npreg), match.call())
  if (inherits(bws, "formula")) return(eval(formula_call(call, "txdat", npreg.formula), parent.frame()))
  verbose <- asked_verbose(verbose)
  check_named("npreg", given_names(...), "residuals")
  wanted <- fit_arguments(se, level, gradients, residuals, eydat, y.eval)
  if (missing(tydat) && !any(c("bws", "bw", "txdat") %in% names(sys.call())) && !missing(txdat)) {
    # npreg(x, y), as in np.
    names(call)[match(c("txdat", "bws"), names(call))] <- c("tydat", "txdat")
    tydat <- txdat
    txdat <- bws
    bws <- NULL
  }
  bws <- plain(bws)
  if (!is.null(bws) && !is_numbers(bws)) {
    abort_input("`bws` must be a bandwidth object of npregbw() or numbers, not ", describe_value(bws), ".")
  }
  if (missing(txdat) && missing(xdat) || missing(tydat) && missing(ydat)) {
    abort_input("`txdat` and `tydat` must be given where there is no formula and no bandwidth object",
                if (!is.null(bws)) "; `bws` is the first argument", ".")
  }
  x <- if (missing(txdat)) named_column(xdat, "xdat") else named_column(txdat, "txdat")
  y <- if (missing(tydat)) named_column(ydat, "ydat") else named_column(tydat, "tydat")
  select <- function(needed) {
    bw <- npregbw.default(x, y, bws, ..., w = w, na.action = na.action, threads = threads, backend = backend,
                          verbose = verbose, .needed = needed)
    replace(bw, "call", list(call))
  }
  fit_regression(select, newdata, exdat, wanted, threads, verbose, call, backend)
}

#' @rdname npreg
#' @export
npreg.kestrel_regbw <- function(bws, txdat = NULL, tydat = NULL, exdat = NULL, eydat = NULL, gradients = FALSE,
                                residuals = TRUE, ..., newdata = NULL, y.eval = FALSE, se = TRUE, level = 0.95,
                                na.action = stats::na.omit, backend = "auto", threads = NULL, verbose = NULL) {
  check_object(bws, "bws", "kestrel_regbw")
  call <- called_as(quote(npreg), match.call())
  if (inherits(txdat, "formula")) {
    # npreg(y ~ x, data, bws = bw): as in np other data, and the choices and bandwidth of the object.
    names(call)[names(call) == "txdat"] <- "formula"
    names(call)[names(call) == "tydat"] <- "data"
    return(eval(called_as(npreg.formula, call), parent.frame()))
  }
  verbose <- asked_verbose(verbose)
  check_named("npreg", given_names(...), "residuals")
  with_effect <- chosen_by(bws)
  inform_ignored(setdiff(intersect(c("data", "subset", np_search_arguments), given_names(...)), with_effect))
  chosen <- intersect(with_effect, given_names(...))
  choices_of(bws, lapply(stats::setNames(nm = chosen), function(name) ...elt(match(name, given_names(...)))))
  of_bandwidth <- intersect(given_names(...), setdiff(names(formals(npregbw.default)), chosen))
  if (length(of_bandwidth) > 0L) {
    abort_input("`", of_bandwidth[1L], "` must not be given together with a bandwidth object, which has its own.")
  }
  check_fixed_arguments(np_fixed_arguments, ...)
  wanted <- fit_arguments(se, level, gradients, residuals, eydat, y.eval)
  resolve_backend(backend, cuda = is_mixed_object(bws))
  again <- function(x, y, w, needed) {
    do.call(npregbw.default, c(list(x, y, bws$bw, FALSE, w = w, na.action = na.action, backend = "cpu",
                                    threads = threads, verbose = verbose, .needed = needed),
                               choices_of(bws, NULL)))
  }
  select <- function(needed) {
    if (!is.null(txdat) || !is.null(tydat)) {
      check_other_data(bws, txdat, tydat)
      other <- again(named_column(txdat, "txdat"), named_column(tydat, "tydat"), NULL, needed)
      return(replace(other, "call", list(call)))
    }
    if (!is_edited(bws)) return(bws)
    made <- again(bws$x, bws$y, if (any(bws$w != 1)) bws$w, needed)
    kept <- c("xnames", "ynames", "dates", "na.action", "rows.omit", "nobs.omit", "terms", "formula", "call")
    made[kept] <- unclass(bws)[kept]
    made
  }
  fit_regression(select, newdata, exdat, wanted, threads, verbose, call, backend)
}

# Whether the bandwidth is another than the one that the object was made with.
is_edited <- function(bws) {
  if (!is_mixed_object(bws)) return(abs(bws$h - h_of(bws$bw, unit_of(bws), range_of(bws$x))) > 1e-9 * bws$h)
  raw <- if (bws$scaling) bws$bw * mixed_scale(bws) else bws$bw
  !isFALSE(any(raw != bws$bandwidth$x & abs(raw - bws$bandwidth$x) > 1e-9 * abs(bws$bandwidth$x)))
}

check_other_data <- function(bws, txdat, tydat) {
  if (is.null(txdat) || is.null(tydat)) abort_input("`txdat` and `tydat` must both be given, or none.")
  if (any(bws$w != bws$w[1L])) {
    abort_input("`txdat` must not be given with a bandwidth object that has weights: with `bws` = ",
                describe_value(bws$bw), " it can be, and `w` too.")
  }
}

# A vector under the name that messages must use.
named_column <- function(value, name) {
  value <- plain(value)
  bare <- without_class(value)
  if (!(is.null(value) || is.atomic(value)) || length(dim(bare)) >= 2L) return(value)
  # A data frame has fewer rows.
  if (length(bare) > .Machine$integer.max) return(value)
  # Of any class: as_variable() says what is wrong with it.
  structure(stats::setNames(list(value), name), class = "data.frame", row.names = .set_row_names(length(bare)))
}

# What is wanted of a fit.
fit_arguments <- function(se, level, gradients, residuals, eydat, y.eval) {
  if (!check_flag(residuals, "residuals")) inform_ignored("residuals")
  list(se = check_flag(se, "se"), level = check_level(level), gradients = check_flag(gradients, "gradients"),
       eydat = eydat, y.eval = check_flag(y.eval, "y.eval"))
}

# select(needed) returns the bandwidth object; `needed`: what the fit needs at the data, see with_fit(). If the
# bandwidth is of this call, the object has the `.observations` of its search, which are sorted for both.
fit_regression <- function(select, newdata, exdat, wanted, threads, verbose, call, backend) {
  at_data <- is.null(newdata) && is.null(exdat)
  needed <- c(errors = at_data && (wanted$se || wanted$gradients), gradients = at_data && wanted$gradients)
  bws <- select(needed)
  mixed <- is_mixed_object(bws)
  data <- bws$.observations
  bws$.observations <- NULL
  started <- proc.time()[["elapsed"]]
  # With one numeric regressor a fit takes O(n).
  run <- run_options(threads, if (mixed) backend else "cpu", cuda = mixed)
  points <- if (at_data) bws$x else evaluation_points(bws, newdata, exdat)
  responses <- responses_at(bws, newdata, if (!at_data) NROW(points), wanted)
  sums <- with_progress(verbose, "Regression", function(progress) {
    run$progress <- progress
    if (mixed) return(mixed_fits(bws, points, at_data, wanted, run))
    data <- with_fit(if (is.null(data)) observations_of(bws, run) else data, bws$h, bws, needed, run)
    made <- list(bws = bws, error2 = data$fit$error2)
    inside <- fit_at_data(made, run, data)
    at <- if (at_data) inside else values_at(made, points, wanted$se, run, data, wanted$gradients)
    list(made = data$fit, inside = inside, at = at)
  })
  made <- sums$made
  inside <- sums$inside
  at <- sums$at
  warn_no_neighbour(at$mean, points, bws)
  # The name of a variable with points, as in np.
  name <- if (is.name(call$exdat) && is.null(dim(exdat))) as.character(call$exdat) else bws$xnames
  eval <- if (mixed) points else stats::setNames(data.frame(in_dates(points, bws$dates)), name)
  fit <- c(list(bw = bws$bw, bws = bws, error2 = made$error2, eval = eval, at.data = at_data, mean = at$mean,
                merr = at$se, grad = if (wanted$gradients) as.matrix(at$grad) else NA,
                gerr = if (wanted$gradients) as.matrix(at$gerr) else NA),
           confidence_bands_cpp(at$mean, at$se, stats::qnorm((1 + wanted$level) / 2), run),
           list(level = wanted$level, resid = inside$resid, loo = inside$loo),
           if (is.null(responses)) made$measures else c(list(eydat = responses), measures_at(responses, at$mean)),
           list(edf = made$trace, n.unsupported = as.integer(made$unsupported), nobs = bws$nobs, ntrain = bws$nobs,
                trainiseval = at_data, ndim = bws$ndim, xnames = bws$xnames, ynames = bws$ynames,
                engine = if (mixed) bws$engine else regression_engine(bws$ckertype, "cpu", bws$type)),
           if (mixed) sums$place else list(backend = "cpu"),
           list(call = call, seconds = proc.time()[["elapsed"]] - started))
  structure(fit, class = c(if (mixed) "kestrel_mixed", "kestrel_reg", "npregression"))
}

# The fit of every row, its standard error, its gradient, its residual and its leave-one-out fit. Rows of weight 0 are
# in no fit, so their fit and leave-one-out fit are the same.
fit_at_data <- function(fit, run, data) {
  made <- Filter(length, data$fit[c("mean", "se", "grad", "gerr", "resid", "loo")])
  y <- fit$bws$y
  if (length(data$y) == length(y)) return(made)
  heard()
  used <- fit$bws$w > 0
  apart <- values_at(fit, fit$bws$x[!used], !anyNA(made$se), run, data, !is.null(made$grad))
  apart <- c(apart, list(resid = y[!used] - apart$mean, loo = apart$mean))
  lapply(stats::setNames(nm = names(made)), function(name) {
    replace(replace(rep(NA_real_, length(used)), used, made[[name]]), !used, apart[[name]])
  })
}

# Fit, standard error and gradient at values of the regressor. They are NA if there is no neighbour or the value is
# missing.
values_at <- function(fit, points, se, run, data = observations_of(fit$bws, run), gradients = FALSE) {
  bws <- fit$bws
  if (is_mixed_object(bws)) return(mixed_values_at(fit, points, se, run, gradients))
  known <- !is.na(points)
  inside <- if (all(known)) points else points[known]
  if (!is.null(bws$period)) inside <- wrapped(data$circle, inside, 1L)
  error2 <- if (se || gradients) fit$error2 else numeric(0)
  at <- if (has_series(data, bws$h, bws)) series_at_points(data, bws$h, bws, inside, error2, gradients) else
    regression_fit_cpp(data$sorted, local_fits(bws$h, bws), inside, error2, gradients, run)
  if (!gradients) at <- at[c("mean", "se")]
  if (all(known)) at else lapply(at, function(found) replace(rep(NA_real_, length(points)), known, found))
}

warn_no_neighbour <- function(mean, points, bws) {
  if (all_finite_cpp(mean)) return(invisible())
  heard()
  if (is_mixed_object(bws)) return(warn_not_fitted(mean, points, bws))
  lost <- sum(is.na(mean) & !is.na(points))
  if (lost == 0L) return(invisible())
  warn_support(lost, " of ", length(points), " points have ",
               if (is_nearest(bws)) paste0("fewer than k = ", bws$bw, " neighbours, or "),
               "no observation within the bandwidth", if (!is_nearest(bws)) paste0(" ", describe_value(bws$bw)),
               ": their fit is NA.")
}

# Values of the regressor at which to evaluate, from `newdata` or `exdat`; NULL for the data themselves.
evaluation_points <- function(bws, newdata, exdat) {
  if (is.null(newdata) && is.null(exdat)) return(NULL)
  if (!is.null(newdata) && !is.null(exdat)) abort_input("`newdata` and `exdat` must not both be given.")
  if (is_mixed_object(bws)) return(mixed_evaluation_points(bws, newdata, exdat))
  newdata <- plain_points(newdata)
  of_regressor <- function(points, argument) {
    if (is_frame(points) && bws$xnames %in% names(points)) points <- points[[bws$xnames]]
    points <- in_order_of(points, bws$xnames, argument)
    check_not_infinite(check_dates(as_variable(points, argument, dates = TRUE), bws$dates), argument)
  }
  if (!is.null(exdat)) return(of_regressor(exdat, "exdat"))
  if (is.null(bws$terms)) return(of_regressor(newdata, "newdata"))
  variable <- as_variable(regressors_in(bws, newdata), "newdata", dates = TRUE)
  check_not_infinite(check_dates(variable, bws$dates),
                     if (variable$name %in% names(newdata)) "newdata" else variable$name)
}

# The regressors of the formula, with the variables in `newdata`.
regressors_in <- function(bws, newdata) {
  regressor <- stats::delete.response(bws$terms)
  # A constant in the formula, as s in y ~ I(x / s), need not be in the data.
  constant <- function(name) length(get0(name, environment(regressor))) == 1L
  given <- if (is_frame(newdata)) names(newdata)
  wanted <- Filter(function(name) name %in% given || !constant(name), variables_in(regressor))
  if (!is_frame(newdata) || !all(wanted %in% given)) {
    abort_input("`newdata` must be a data frame with ", quoted(wanted), ", not ",
                if (!is_frame(newdata)) describe_value(newdata)
                else if (ncol(newdata) == 0L) "one without columns"
                else paste("one with", quoted(given)), ".")
  }
  catching_errors(stats::model.frame(regressor, newdata, na.action = stats::na.pass), function(e) {
    abort_input("`newdata` must make sense with the formula: ", conditionMessage(e), ".")
  })
}

check_not_infinite <- function(points, name) {
  if (any(is.infinite(points))) {
    abort_input("`", name, "` must be finite, but ", sum(is.infinite(points)), " of ", length(points),
                " values are not.")
  }
  points
}
