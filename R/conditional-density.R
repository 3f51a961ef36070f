# Conditional densities.

#' Conditional kernel density
#'
#' Estimates the density of one or several variables given others, with standard errors and gradients. Variables may be
#' numbers, factors and ordered factors. For a factor y it is the probability of its levels. Names and conventions are
#' those of package \pkg{np}.
#'
#' f(y | x) is the mean of the kernels of y, weighted by those of x, as [npcdensbw()] describes. With w_i the product of
#' the kernels of x at observation i, and k_i that of the kernels of y, its standard error is that of a ratio of two
#' means,
#' \deqn{se^2 = \sum_i w_i^2 (k_i - f(y|x))^2 / (\sum_i w_i)^2.}{se^2 = sum_i w_i^2 (k_i - f(y|x))^2 / (sum_i w_i)^2.}
#' \pkg{np} has the limit of this for small bandwidths, in which only the numbers in y and x count. Both leave out the
#' bias.
#'
#' The gradient is the derivative of f(y | x) by the numbers in x, and by a factor in x its effect: the density minus
#' that at the first level, or for an ordered factor at the level below. The standard error of an effect takes the two
#' densities as independent, as in \pkg{np}, and so is mostly too large.
#'
#' The density is NA at points for which no observation counts by the kernels of x, and at points with a level that the
#' data lack. Warnings of class `kestrel_warning_support` count both.
#'
#' @param bws a bandwidth object of [npcdensbw()], which contains its data. With `txdat` and `tydat`, or with a formula,
#'   it may be bandwidths, first those of y, which are taken as they are. If NULL, [npcdensbw()] selects them. If
#'   `formula` is not given, it may be a formula, as in \pkg{np}.
#' @param formula,data,subset,na.action as in [npcdensbw()]. A bandwidth object has its data.
#' @param txdat,tydat the data, as `xdat` and `ydat` of [npcdensbw()]. Together with a bandwidth object they are other
#'   data to estimate the density of, with its bandwidths and kernels.
#' @param exdat,eydat points to evaluate the density at, if not at the data, with one row each for a point.
#' @param newdata the same as one data frame with the variables of y and x.
#' @param gradients if TRUE, give gradients and their standard errors.
#' @param threads,verbose as in [npregbw()].
#' @param ... arguments of [npcdensbw()]: `bwmethod`, `cxkertype` and others, by their whole names.
#' @return An object of class `c("kestrel_condens", "kestrel_dens", "condensity")`, a list with
#'   \item{xbw, ybw, bws}{the bandwidths, and the bandwidth object}
#'   \item{xeval, yeval}{the points, data frames}
#'   \item{condens, conderr}{the density there, and its standard error}
#'   \item{congrad, congerr}{with `gradients = TRUE` the gradient by x and its standard error, matrices with a column
#'     for each variable of x; else NA}
#'   \item{log_likelihood}{the sum of the logarithms of `condens`. As in \pkg{np} one below 2.2e-308 counts as this
#'     number}
#'   \item{ntrain, nobs}{the numbers of observations and of points}
#'   \item{trainiseval}{whether the points are the data}
#'   and `xnames`, `ynames`, `xndim`, `yndim`, `gradients`, `rows.omit`, `nobs.omit`, `engine`, `backend`, `seconds`,
#'   `call`.
#' @section Units: Densities and standard errors are in the reciprocal of the product of the units of the numbers in y,
#'   and gradients in that divided by the units of x.
#' @section Errors: The errors of [npcdensbw()] can occur here, too. Errors of class `kestrel_error_input` are also for
#'   points that are infinite, not like the data, or of different numbers in `exdat` and `eydat`.
#' @section Cost: A point takes O(n (p + q)) for n observations, p numbers and q factors, and effects of a factor as
#'   much again. All threads are used. Unless `bws` is a bandwidth object, the cost of [npcdensbw()] is added.
#' @references Hall, P., Racine, J. & Li, Q. (2004) Cross-validation and the estimation of conditional probability
#'   densities. *Journal of the American Statistical Association* **99**, 1015-1026.
#'
#'   Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 5.
#' @seealso [npcdensbw()]; [predict.kestrel_condens()] and [the other methods][predict.kestrel_dens()];
#'   [plot.kestrel_dens()].
#' @examples
#' fit <- npcdens(eruptions ~ waiting, data = faithful)
#' fit
#' plot(fit)
#'
#' # the probabilities of cylinders by weight
#' cars <- npcdens(factor(cyl) ~ wt, data = mtcars)
#' predict(cars, data.frame(cyl = c(4, 6, 8), wt = 3))
#' @export
npcdens <- function(...) {
  UseMethod("npcdens", dispatched_on(..., .called = "npcdens", .known = npcdens_arguments(),
                                     .classes = list(formula = "formula", bws = "kestrel_condensbw")))
}

npcdens_arguments <- function() {
  methods <- list(npcdens.formula, npcdens.default, npcdens.kestrel_condensbw)
  c(unlist(lapply(methods, function(method) names(formals(method)))), npcdensbw_arguments())
}

#' @rdname npcdens
#' @export
npcdens.formula <- function(formula, data = NULL, subset, na.action = getOption("na.action"), gradients = FALSE, ...,
                            newdata = NULL, exdat = NULL, eydat = NULL, threads = NULL, verbose = NULL) {
  call <- called_as(quote(npcdens), match.call())
  verbose <- asked_verbose(verbose)
  gradients <- check_flag(gradients, "gradients")
  selection <- call[!names(call) %in% c("newdata", "exdat", "eydat", "gradients")]
  bws <- replace(eval(called_as(npcdensbw.formula, selected(selection, call)), parent.frame()), "call",
                 list(called_as(quote(npcdensbw), selection)))
  estimate_conditional(bws, conditional_points(bws, newdata, exdat, eydat), gradients, threads, verbose, call)
}

#' @rdname npcdens
#' @export
npcdens.default <- function(bws = NULL, txdat, tydat, exdat = NULL, eydat = NULL, gradients = FALSE, ...,
                            newdata = NULL, na.action = stats::na.omit, threads = NULL, verbose = NULL) {
  call <- called_as(quote(npcdens), match.call())
  if (inherits(bws, "formula")) return(eval(formula_call(call, "txdat", npcdens.formula), parent.frame()))
  verbose <- asked_verbose(verbose)
  check_named("npcdens", given_names(...), "gradients")
  gradients <- check_flag(gradients, "gradients")
  if (missing(txdat) || missing(tydat)) {
    abort_input("`txdat` and `tydat` must be given where there is no formula and no bandwidth object",
                if (!is.null(bws)) "; `bws` is the first argument", ".")
  }
  bw <- npcdensbw.default(named_column(txdat, "txdat"), named_column(tydat, "tydat"), bws, is.null(bws), ...,
                          na.action = na.action, threads = threads, verbose = verbose)
  bw$call <- call
  estimate_conditional(bw, conditional_points(bw, newdata, exdat, eydat), gradients, threads, verbose, call)
}

#' @rdname npcdens
#' @export
npcdens.kestrel_condensbw <- function(bws, txdat = NULL, tydat = NULL, exdat = NULL, eydat = NULL, gradients = FALSE,
                                      ..., newdata = NULL, na.action = stats::na.omit, threads = NULL,
                                      verbose = NULL) {
  check_density_object(bws)
  call <- called_as(quote(npcdens), match.call())
  verbose <- asked_verbose(verbose)
  check_named("npcdens", given_names(...), "gradients")
  gradients <- check_flag(gradients, "gradients")
  check_beside_object(bws, npcdensbw.default, ...)
  bws <- with_other_data(bws, npcdensbw.default, txdat, tydat, na.action, threads, verbose, call)
  estimate_conditional(bws, conditional_points(bws, newdata, exdat, eydat), gradients, threads, verbose, call)
}

# The points, a data frame of all columns of the core, or NULL for the data.
conditional_points <- function(bws, newdata, exdat, eydat) {
  core <- density_core(bws)
  if (is.null(newdata) && is.null(exdat) && is.null(eydat)) return(NULL)
  if (!is.null(newdata)) {
    if (!is.null(exdat) || !is.null(eydat)) abort_input("`newdata` must not be given together with `exdat` or `eydat`.")
    return(mixed_evaluation_points(core, newdata, NULL))
  }
  if (is.null(exdat) || is.null(eydat)) abort_input("`exdat` and `eydat` must both be given, or none.")
  side <- function(given, points, name) {
    one <- list(x = frame_of(unclass(core$x)[core$given == given], core$xnames[core$given == given]),
                xnames = core$xnames[core$given == given], ndim = sum(core$given == given))
    unclass(mixed_evaluation_points(one, NULL, points, name))[seq_len(one$ndim)]
  }
  x <- side(TRUE, exdat, "exdat")
  y <- side(FALSE, eydat, "eydat")
  if (length(x[[1L]]) != length(y[[1L]])) {
    abort_input("`eydat` must have as many rows as `exdat`, ", length(x[[1L]]), ", not ", length(y[[1L]]), ".")
  }
  frame_of(c(y, x), core$xnames)
}

estimate_conditional <- function(bws, points, gradients, threads, verbose, call) {
  started <- proc.time()[["elapsed"]]
  core <- density_core(bws)
  distribution <- is_distribution(core)
  title <- paste("Conditional", if (distribution) "distribution function" else "density")
  at <- with_progress(verbose, title, function(progress) {
    density_values_at(core, density_raw(bws), points, c(run_options(threads, "cpu"), progress = progress), gradients)
  })
  columns <- unclass(if (is.null(points)) core$x else points)[seq_len(core$ndim)]
  lost <- sum(is.na(at$density) & !Reduce(`|`, lapply(columns, is.na)))
  if (lost > 0L) {
    warn_support(lost, " of ", length(at$density), " points ", if (lost == 1L) "has" else "have",
                 " no observation that counts for what is given: ", if (lost == 1L) "its" else "their",
                 if (distribution) " distribution function" else " density", " is NA.")
  }
  side <- function(given) frame_of(columns[core$given == given], core$xnames[core$given == given])
  fit <- list(xbw = bws$xbw, ybw = bws$ybw, bws = bws, xeval = side(TRUE), yeval = side(FALSE))
  fit[[if (distribution) "condist" else "condens"]] <- at$density
  fit$log_likelihood <- if (!distribution) log_likelihood_of(at$density)
  fit <- c(fit, list(
              conderr = at$se, congrad = if (gradients) at$grad else NA, congerr = if (gradients) at$gerr else NA,
              ntrain = bws$nobs, nobs = length(at$density), trainiseval = is.null(points), gradients = gradients,
              xnames = bws$xnames, ynames = bws$ynames, xndim = bws$xndim, yndim = bws$yndim,
              rows.omit = bws$rows.omit, nobs.omit = bws$nobs.omit, engine = bws$engine, backend = bws$backend,
              call = call, seconds = proc.time()[["elapsed"]] - started))
  structure(fit, class = c(if (distribution) "kestrel_condist", "kestrel_condens", "kestrel_dens",
                           if (distribution) "condistribution" else "condensity"))
}

#' Predictions and gradients of conditional densities and distribution functions
#'
#' `predict()` evaluates a conditional density or distribution function at points, and `gradients()` gives its
#' gradients. The other methods are [those of densities][predict.kestrel_dens].
#'
#' @param object,x an object made by [npcdens()] or [npcdist()], or for `predict()` bandwidths of these.
#' @param newdata,exdat,eydat points, as in [npcdens()]; the data if not given.
#' @param se.fit if TRUE, give standard errors too.
#' @param errors if TRUE, give the standard errors of the gradients.
#' @param verbose as in [npregbw()].
#' @param ... not used, or for bandwidths the other arguments of `predict()`.
#' @return `predict()` returns what [predict.kestrel_dens()] does, and `gradients()` a matrix with a column for each
#'   variable that the density is conditional on.
#' @section Units: As in [npcdens()].
#' @section Errors: Errors of class `kestrel_error_input` are for points that are infinite or of another type than the
#'   data, and in `predict()` for arguments that it does not have.
#' @section Cost: O(n m) for m points; at the data nothing, where the object has it.
#' @references Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 5.
#' @examples
#' fit <- npcdens(eruptions ~ waiting, data = faithful)
#' predict(fit, data.frame(eruptions = 2:4, waiting = 70), se.fit = TRUE)
#' head(gradients(fit))
#' @name kestrel_condens-methods
NULL

#' @rdname kestrel_condens-methods
#' @export
predict.kestrel_condens <- function(object, newdata = NULL, se.fit = FALSE, exdat = NULL, eydat = NULL, ...,
                                    verbose = NULL) {
  check_arguments("predict", given_names(...), character(0))
  check_object(object, "object", "kestrel_dens")
  verbose <- asked_verbose(verbose)
  se.fit <- check_flag(se.fit, "se.fit")
  points <- conditional_points(object$bws, newdata, exdat, eydat)
  stored <- is.null(points) && object$trainiseval
  at <- if (stored) object else estimate_conditional(object$bws, points, FALSE, NULL, verbose, object$call)
  predicted_density(object, at, se.fit)
}

#' @rdname kestrel_condens-methods
#' @export
predict.kestrel_condensbw <- function(object, ..., verbose = NULL) {
  check_object(object, "object", "kestrel_densbw")
  verbose <- asked_verbose(verbose)
  predict.kestrel_condens(estimate_conditional(object, NULL, FALSE, NULL, verbose, object$call), ...,
                          verbose = verbose)
}

#' @rdname kestrel_condens-methods
#' @export
gradients.kestrel_condens <- function(x, errors = FALSE, ...) {
  check_object(x, "x", "kestrel_dens")
  name <- if (check_flag(errors, "errors")) "congerr" else "congrad"
  value <- x[[name]]
  if (identical(value, NA)) {
    points <- if (!x$trainiseval) density_points_of(x)
    value <- estimate_conditional(x$bws, points, TRUE, NULL, FALSE, x$call)[[name]]
  }
  if (x$trainiseval) stats::napredict(x$bws$na.action, value) else value
}
