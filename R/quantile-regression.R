# Conditional quantiles.

#' Kernel quantile regression
#'
#' Estimates quantiles of a number given other variables, which may be numbers, factors and ordered factors, from the
#' conditional distribution function of [npcdist()], with standard errors and gradients. Names and conventions are those
#' of package \pkg{np}.
#'
#' The quantile is the least y with F(y | x) >= tau. It is found by Newton's steps within a bracket to the last digits,
#' where \pkg{np} 0.60 minimises (F(y | x) - tau)^2 to a tolerance and has about six digits. With kernels of higher
#' order F is not monotone, and the result is some y at which it crosses tau.
#'
#' The standard error is that of F(y | x) at the quantile, as [npcdist()] describes, divided by the density f(y | x)
#' there. For small bandwidths and p numbers in x it is the root of
#' tau (1 - tau) R(K)^p / (n h_1 ... h_p f(x)) / f(y | x), with R(K) the integral of the squared kernel (Li & Racine
#' 2008). Where the density is 0 it is infinite. \pkg{np} 0.60 returns 0 in its place, and no gradients.
#'
#' The gradient is that of the quantile: by a number in x it is minus the derivative of F(y | x) by this number, divided
#' by f(y | x), and by a factor its effect, as in [npcdens()].
#'
#' The quantile is NA at points for which no observation counts by the kernels of x, and at points with a level that the
#' data lack. Warnings of class `kestrel_warning_support` count both.
#'
#' @param bws a bandwidth object of [npcdistbw()] with one number in y, which contains its data. With `txdat` and
#'   `tydat`, or with a formula, it may be bandwidths, first that of y, which are taken as they are. If NULL,
#'   [npcdistbw()] selects them. If `formula` is not given, it may be a formula, as in \pkg{np}.
#' @param formula,data,subset,na.action as in [npcdistbw()]. A bandwidth object has its data.
#' @param txdat,tydat the data, as `xdat` and `ydat` of [npcdistbw()]. Together with a bandwidth object they are other
#'   data, with its bandwidths and kernels. y must not be a date.
#' @param exdat points to evaluate the quantile at, if not at the data: a data frame of the variables of x, or a vector
#'   or matrix in their order.
#' @param newdata the same as a data frame with the variables of the formula.
#' @param tau the probability, a number between 0 and 1.
#' @param gradients if TRUE, give gradients.
#' @param threads,verbose as in [npregbw()].
#' @param ... arguments of [npcdistbw()]: `bwmethod`, `cxkertype` and others, by their whole names. Those of \pkg{np}
#'   that only steer its search have no effect.
#' @return An object of class `c("kestrel_qreg", "qregression")`, a list with
#'   \item{xbw, ybw, bws}{the bandwidths, and the bandwidth object}
#'   \item{xeval}{the points, a data frame}
#'   \item{tau}{the probability}
#'   \item{quantile, quanterr}{the quantile there, and its standard error}
#'   \item{quantgrad}{with `gradients = TRUE` the gradient, a matrix with a column for each variable of x; else NA}
#'   \item{ntrain, nobs}{the numbers of observations and of points}
#'   \item{trainiseval}{whether the points are the data}
#'   and `xnames`, `ynames`, `xndim`, `yndim`, `gradients`, `rows.omit`, `nobs.omit`, `engine`, `backend`, `seconds`,
#'   `call`.
#' @section Units: Quantiles and standard errors are in the units of y, and gradients in those divided by the units of
#'   x.
#' @section Errors: The errors of [npcdistbw()] can occur here, too. Errors of class `kestrel_error_input` are also for
#'   more than one variable in y, an ordered factor in y, a `tau` that is not between 0 and 1, and points that are
#'   infinite or not like the data.
#' @section Cost: A point takes about ten evaluations of a distribution function, O(n (p + q)) each for n observations,
#'   p numbers and q factors, and effects of a factor as much again. All threads are used. Unless `bws` is a bandwidth
#'   object, the cost of [npcdistbw()] is added.
#' @references Li, Q. & Racine, J.S. (2008) Nonparametric estimation of conditional CDF and quantile functions with
#'   mixed categorical and continuous data. *Journal of Business & Economic Statistics* **26**, 423-434.
#'
#'   Li, Q., Lin, J. & Racine, J.S. (2013) Optimal bandwidth selection for nonparametric conditional distribution and
#'   quantile functions. *Journal of Business & Economic Statistics* **31**, 57-65.
#' @seealso [npcdistbw()]; [npcdist()]; [predict.kestrel_qreg()] and the other methods; [plot.kestrel_qreg()].
#' @examples
#' bw <- npcdistbw(waiting ~ eruptions, data = faithful, bws = c(3, 0.3), bandwidth.compute = FALSE)
#' median <- npqreg(bw)
#' median
#' plot(median)
#' predict(median, data.frame(eruptions = 2:4), tau = 0.9, se.fit = TRUE)
#' @export
npqreg <- function(...) {
  UseMethod("npqreg", dispatched_on(..., .called = "npqreg", .known = npqreg_arguments(),
                                    .classes = list(formula = "formula", bws = "kestrel_condistbw")))
}

npqreg_arguments <- function() {
  methods <- list(npqreg.formula, npqreg.default, npqreg.kestrel_condistbw)
  c(unlist(lapply(methods, function(method) names(formals(method)))), npcdistbw_arguments())
}

#' @rdname npqreg
#' @export
npqreg.formula <- function(formula, data = NULL, subset, na.action = getOption("na.action"), tau = 0.5,
                           gradients = FALSE, ..., newdata = NULL, exdat = NULL, threads = NULL, verbose = NULL) {
  call <- called_as(quote(npqreg), match.call())
  verbose <- asked_verbose(verbose)
  asked <- quantile_choices(tau, gradients)
  selection <- call[!names(call) %in% c("newdata", "exdat", "tau", "gradients")]
  bws <- replace(eval(called_as(npcdistbw.formula, selected(selection, call)), parent.frame()), "call",
                 list(called_as(quote(npcdistbw), selection)))
  estimate_quantile(bws, newdata, exdat, asked, threads, verbose, call)
}

#' @rdname npqreg
#' @export
npqreg.default <- function(bws = NULL, txdat, tydat, exdat = NULL, tau = 0.5, gradients = FALSE, ..., newdata = NULL,
                           na.action = stats::na.omit, threads = NULL, verbose = NULL) {
  call <- called_as(quote(npqreg), match.call())
  if (inherits(bws, "formula")) return(eval(formula_call(call, "txdat", npqreg.formula), parent.frame()))
  verbose <- asked_verbose(verbose)
  check_named("npqreg", given_names(...), "gradients")
  asked <- quantile_choices(tau, gradients)
  check_no_other_object(bws, "npcdistbw")
  if (missing(txdat) || missing(tydat)) {
    abort_input("`txdat` and `tydat` must be given where there is no formula and no bandwidth object",
                if (!is.null(bws)) "; `bws` is the first argument", ".")
  }
  bw <- npcdistbw.default(named_column(txdat, "txdat"), named_column(tydat, "tydat"), bws,
                          bandwidth.compute = is.null(bws), ..., na.action = na.action, threads = threads,
                          verbose = verbose)
  bw$call <- call
  estimate_quantile(bw, newdata, exdat, asked, threads, verbose, call)
}

#' @rdname npqreg
#' @export
npqreg.kestrel_condistbw <- function(bws, txdat = NULL, tydat = NULL, exdat = NULL, tau = 0.5, gradients = FALSE, ...,
                                     newdata = NULL, na.action = stats::na.omit, threads = NULL, verbose = NULL) {
  check_object(bws, "bws", "kestrel_densbw")
  call <- called_as(quote(npqreg), match.call())
  verbose <- asked_verbose(verbose)
  check_named("npqreg", given_names(...), "gradients")
  asked <- quantile_choices(tau, gradients)
  check_beside_object(bws, npcdistbw.default, ...)
  bws <- with_other_data(bws, npcdistbw.default, txdat, tydat, na.action, threads, verbose, call)
  estimate_quantile(bws, newdata, exdat, asked, threads, verbose, call)
}

check_tau <- function(tau) {
  tau <- plain(tau)
  if (!is_number(tau) || !(tau > 0 && tau < 1)) {
    abort_input("`tau` must be a number between 0 and 1, not ", describe_value(tau), ".")
  }
  as.numeric(tau)
}

quantile_choices <- function(tau, gradients) {
  list(tau = check_tau(tau), gradients = check_flag(gradients, "gradients"))
}

# The variables of x of a conditional distribution function, as a core of points and plots.
given_core <- function(bws) {
  core <- density_core(bws)
  side <- function(value) value[core$given]
  list(x = frame_of(side(unclass(core$x)[seq_len(core$ndim)]), side(core$xnames)), xnames = side(core$xnames),
       ndim = sum(core$given), ncon = sum(core$icon & core$given), y = unclass(core$x)[[which(!core$given)[1L]]],
       terms = if (!is.null(bws$terms)) stats::drop.terms(bws$terms, seq_len(bws$yndim)))
}

# Points of x, a data frame, or NULL for the data.
quantile_points <- function(bws, newdata, exdat) {
  if (is.null(newdata) && is.null(exdat)) return(NULL)
  if (!is.null(newdata) && !is.null(exdat)) abort_input("`newdata` and `exdat` must not both be given.")
  mixed_evaluation_points(given_core(bws), newdata, exdat)
}

estimate_quantile <- function(bws, newdata, exdat, asked, threads, verbose, call) {
  started <- proc.time()[["elapsed"]]
  if (bws$yndim != 1L || bws$yncon != 1L) {
    abort_input("`bws` must have one number in y for a quantile, not ", and_list(quoted(bws$ynames)), ".")
  }
  if (is_date(unclass(bws$y)[[1L]])) abort_input("`bws` must have numbers in y for a quantile, not dates.")
  points <- quantile_points(bws, newdata, exdat)
  at <- with_progress(verbose, "Quantiles", function(progress) {
    quantiles_at(bws, points, asked, c(run_options(threads, "cpu"), progress = progress))
  })
  eval <- if (is.null(points)) given_core(bws)$x else frame_of(unclass(points)[seq_len(bws$xndim)], bws$xnames)
  lost <- sum(is.na(at$quantile) & !Reduce(`|`, lapply(unclass(eval), is.na)))
  if (lost > 0L) {
    warn_support(lost, " of ", length(at$quantile), " points ", if (lost == 1L) "has" else "have",
                 " no observation that counts for what is given: ", if (lost == 1L) "its" else "their",
                 " quantile is NA.")
  }
  fit <- list(xbw = bws$xbw, ybw = bws$ybw, bws = bws, xeval = eval, tau = asked$tau, quantile = at$quantile,
              quanterr = at$se, quantgrad = if (asked$gradients) at$grad else NA, ntrain = bws$nobs,
              nobs = length(at$quantile), trainiseval = is.null(points), gradients = asked$gradients,
              xnames = bws$xnames, ynames = bws$ynames, xndim = bws$xndim, yndim = bws$yndim,
              rows.omit = bws$rows.omit, nobs.omit = bws$nobs.omit, engine = bws$engine, backend = bws$backend,
              call = call, seconds = proc.time()[["elapsed"]] - started)
  structure(fit, class = c("kestrel_qreg", "qregression"))
}

# Quantiles at points of x, their standard errors and gradients.
quantiles_at <- function(bws, points, asked, run) {
  core <- density_core(bws)
  raw <- density_raw(bws)
  sample <- density_sample(core, run)
  task <- density_task(core, raw)
  columns <- if (is.null(points)) unclass(core$x)[core$given] else unclass(points)[seq_len(sum(core$given))]
  known <- !Reduce(`|`, lapply(columns, is.na))
  # All columns, with y at a value.
  whole <- function(columns, y) {
    all <- vector("list", core$ndim)
    all[core$given] <- columns
    all[[which(!core$given)]] <- y
    all
  }
  found_at <- function(columns) {
    first <- rep(core$x[[which(!core$given)]][1L], length(columns[[1L]]))
    mixed_quantile_cpp(sample, task, mixed_points(whole(columns, first), core), asked$tau, run)
  }
  inside <- lapply(columns, function(column) column[known])
  found <- found_at(inside)
  quantile <- found$quantile
  at <- density_values_at(core, raw, frame_of(whole(inside, quantile), core$xnames), run, asked$gradients)
  placed <- function(value) {
    all <- matrix(NA_real_, length(known), NCOL(value))
    all[known, ] <- value
    if (is.matrix(value)) all else as.vector(all)
  }
  made <- list(quantile = placed(quantile), se = placed(at$se / found$density))
  if (!asked$gradients) return(made)
  grad <- -at$grad / found$density
  of_x <- list(x = frame_of(unclass(core$x)[core$given], core$xnames[core$given]), iord = core$iord[core$given])
  as_fit <- function(quantile) list(mean = quantile, se = rep(NA_real_, length(quantile)))
  for (k in which(!core$icon[core$given])) {
    grad[, k] <- effect_of(inside, k, of_x, as_fit(quantile), function(columns) as_fit(found_at(columns)$quantile))$grad
  }
  c(made, list(grad = placed(grad)))
}
