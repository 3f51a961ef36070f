# Conditional distribution functions.

#' Conditional kernel distribution function
#'
#' Estimates the distribution function of one or several variables given others, with standard errors and gradients.
#' Variables of y are numbers or ordered factors, and those of x numbers, factors or ordered factors. Names and
#' conventions are those of package \pkg{np}.
#'
#' F(y | x) is the mean of the integrated kernels of y, weighted by the kernels of x, as [npcdistbw()] describes. With
#' w_i the product of the kernels of x at observation i, and G_i that of the integrals for y, its standard error is that
#' of a ratio of two means,
#' \deqn{se^2 = \sum_i w_i^2 (G_i - F(y|x))^2 / (\sum_i w_i)^2.}{se^2 = sum_i w_i^2 (G_i - F(y|x))^2 / (sum_i w_i)^2.}
#' \pkg{np} has the limit of this for small bandwidths. Both leave out the bias.
#'
#' The gradient is the derivative of F(y | x) by the numbers in x, and by a factor in x its effect, as in [npcdens()].
#'
#' The distribution function is NA at points for which no observation counts by the kernels of x, and at points with a
#' level that the data lack. Warnings of class `kestrel_warning_support` count both.
#'
#' @param bws a bandwidth object of [npcdistbw()], which contains its data. With `txdat` and `tydat`, or with a formula,
#'   it may be bandwidths, first those of y, which are taken as they are. If NULL, [npcdistbw()] selects them. If
#'   `formula` is not given, it may be a formula, as in \pkg{np}.
#' @param formula,data,subset,na.action as in [npcdistbw()]. A bandwidth object has its data.
#' @param txdat,tydat the data, as `xdat` and `ydat` of [npcdistbw()]. Together with a bandwidth object they are other
#'   data to estimate the distribution function of, with its bandwidths and kernels.
#' @param exdat,eydat points to evaluate the distribution function at, if not at the data, with one row each for a
#'   point.
#' @param newdata the same as one data frame with the variables of y and x.
#' @param gradients if TRUE, give gradients and their standard errors.
#' @param threads,verbose as in [npregbw()].
#' @param ... arguments of [npcdistbw()]: `bwmethod`, `cxkertype` and others, by their whole names.
#' @return An object of class `c("kestrel_condist", "kestrel_condens", "kestrel_dens", "condistribution")`, a list with
#'   \item{xbw, ybw, bws}{the bandwidths, and the bandwidth object}
#'   \item{xeval, yeval}{the points, data frames}
#'   \item{condist, conderr}{the distribution function there, and its standard error}
#'   \item{congrad, congerr}{with `gradients = TRUE` the gradient by x and its standard error, matrices with a column
#'     for each variable of x; else NA}
#'   \item{ntrain, nobs}{the numbers of observations and of points}
#'   \item{trainiseval}{whether the points are the data}
#'   and `xnames`, `ynames`, `xndim`, `yndim`, `gradients`, `rows.omit`, `nobs.omit`, `engine`, `backend`, `seconds`,
#'   `call`.
#' @section Units: Distribution functions and standard errors have no units, and gradients the reciprocals of those of
#'   x.
#' @section Errors: The errors of [npcdistbw()] can occur here, too. Errors of class `kestrel_error_input` are also for
#'   points that are infinite, not like the data, or of different numbers in `exdat` and `eydat`.
#' @section Cost: A point takes O(n (p + q)) for n observations, p numbers and q factors, and effects of a factor as
#'   much again. All threads are used. Unless `bws` is a bandwidth object, the cost of [npcdistbw()] is added.
#' @references Li, Q. & Racine, J.S. (2008) Nonparametric estimation of conditional CDF and quantile functions with
#'   mixed categorical and continuous data. *Journal of Business & Economic Statistics* **26**, 423-434.
#'
#'   Li, Q., Lin, J. & Racine, J.S. (2013) Optimal bandwidth selection for nonparametric conditional distribution and
#'   quantile functions. *Journal of Business & Economic Statistics* **31**, 57-65.
#' @seealso [npcdistbw()]; [npqreg()] for quantiles; [predict.kestrel_condens()] and
#'   [the other methods][predict.kestrel_dens()]; [plot.kestrel_dens()].
#' @examples
#' fit <- npcdist(eruptions ~ waiting, data = faithful, bws = c(0.2, 5))
#' fit
#' plot(fit)
#'
#' # the probabilities of at most 4, 6 and 8 cylinders by weight
#' cars <- npcdist(ordered(cyl) ~ wt, data = mtcars)
#' predict(cars, data.frame(cyl = c(4, 6, 8), wt = 3))
#' @export
npcdist <- function(...) {
  UseMethod("npcdist", dispatched_on(..., .called = "npcdist", .known = npcdist_arguments(),
                                     .classes = list(formula = "formula", bws = "kestrel_condistbw")))
}

npcdist_arguments <- function() {
  methods <- list(npcdist.formula, npcdist.default, npcdist.kestrel_condistbw)
  c(unlist(lapply(methods, function(method) names(formals(method)))), npcdistbw_arguments())
}

#' @rdname npcdist
#' @export
npcdist.formula <- function(formula, data = NULL, subset, na.action = getOption("na.action"), gradients = FALSE, ...,
                            newdata = NULL, exdat = NULL, eydat = NULL, threads = NULL, verbose = NULL) {
  call <- called_as(quote(npcdist), match.call())
  verbose <- asked_verbose(verbose)
  gradients <- check_flag(gradients, "gradients")
  selection <- call[!names(call) %in% c("newdata", "exdat", "eydat", "gradients")]
  bws <- replace(eval(called_as(npcdistbw.formula, selected(selection, call)), parent.frame()), "call",
                 list(called_as(quote(npcdistbw), selection)))
  estimate_conditional(bws, conditional_points(bws, newdata, exdat, eydat), gradients, threads, verbose, call)
}

#' @rdname npcdist
#' @export
npcdist.default <- function(bws = NULL, txdat, tydat, exdat = NULL, eydat = NULL, gradients = FALSE, ...,
                            newdata = NULL, na.action = stats::na.omit, threads = NULL, verbose = NULL) {
  call <- called_as(quote(npcdist), match.call())
  if (inherits(bws, "formula")) return(eval(formula_call(call, "txdat", npcdist.formula), parent.frame()))
  verbose <- asked_verbose(verbose)
  check_named("npcdist", given_names(...), "gradients")
  gradients <- check_flag(gradients, "gradients")
  check_no_other_object(bws, "npcdistbw")
  if (missing(txdat) || missing(tydat)) {
    abort_input("`txdat` and `tydat` must be given where there is no formula and no bandwidth object",
                if (!is.null(bws)) "; `bws` is the first argument", ".")
  }
  bw <- npcdistbw.default(named_column(txdat, "txdat"), named_column(tydat, "tydat"), bws,
                          bandwidth.compute = is.null(bws), ..., na.action = na.action, threads = threads,
                          verbose = verbose)
  bw$call <- call
  estimate_conditional(bw, conditional_points(bw, newdata, exdat, eydat), gradients, threads, verbose, call)
}

#' @rdname npcdist
#' @export
npcdist.kestrel_condistbw <- function(bws, txdat = NULL, tydat = NULL, exdat = NULL, eydat = NULL, gradients = FALSE,
                                      ..., newdata = NULL, na.action = stats::na.omit, threads = NULL,
                                      verbose = NULL) {
  check_object(bws, "bws", "kestrel_densbw")
  call <- called_as(quote(npcdist), match.call())
  verbose <- asked_verbose(verbose)
  check_named("npcdist", given_names(...), "gradients")
  gradients <- check_flag(gradients, "gradients")
  check_beside_object(bws, npcdistbw.default, ...)
  bws <- with_other_data(bws, npcdistbw.default, txdat, tydat, na.action, threads, verbose, call)
  estimate_conditional(bws, conditional_points(bws, newdata, exdat, eydat), gradients, threads, verbose, call)
}

# The bandwidths and choices of an object with other data, if they are given.
with_other_data <- function(bws, of, txdat, tydat, na.action, threads, verbose, call) {
  if (is.null(txdat) != is.null(tydat)) abort_input("`txdat` and `tydat` must both be given, or none.")
  if (is.null(txdat)) return(bws)
  made <- do.call(of, c(list(named_column(txdat, "txdat"), named_column(tydat, "tydat"), c(bws$ybw, bws$xbw),
                             bandwidth.compute = FALSE, na.action = na.action, threads = threads, verbose = verbose),
                        choices_of(bws, NULL)))
  made$call <- call
  made
}
