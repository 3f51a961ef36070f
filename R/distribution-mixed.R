# Distribution functions of mixed data.

#' Kernel distribution function of mixed data
#'
#' Estimates the distribution function of numbers and ordered factors, with standard errors. Names and conventions are
#' those of package \pkg{np}. For numbers alone see also [kcde()], which is faster at many points of several columns.
#'
#' The distribution function is the mean of the products of integrals of kernels G_i(x) that [npudistbw()] describes.
#' Its standard error is the standard deviation of such a mean,
#' \deqn{se(x)^2 = \sum_i (G_i(x) - F(x))^2 / (n (n - 1)).}{se(x)^2 = sum_i (G_i(x) - F(x))^2 / (n (n - 1)).}
#' \pkg{np} has its limit for small bandwidths, the root of F(x) (1 - F(x)) / n. Both leave out the bias.
#'
#' At points with a level that the data lack the distribution function is NA. One warning of class
#' `kestrel_warning_support` counts them. With a kernel of higher order it may leave \[0, 1\] and may decrease.
#'
#' @param bws a bandwidth object of [npudistbw()], which contains its data. With `tdat`, or with a formula, it may be
#'   bandwidths, which are taken as they are. If NULL, [npudistbw()] selects them. If `formula` is not given, it may be
#'   a formula, as in \pkg{np}.
#' @param formula,data,subset,na.action as in [npudistbw()]. A bandwidth object has its data.
#' @param tdat the data, as `dat` of [npudistbw()]. Together with a bandwidth object they are other data to estimate the
#'   distribution function of, with its bandwidths and kernels.
#' @param edat points to evaluate the distribution function at, if not at the data: a data frame of the columns, or a
#'   vector or matrix in their order.
#' @param newdata the same as a data frame with the variables of the formula.
#' @param threads,verbose as in [npregbw()].
#' @param ... arguments of [npudistbw()]: `bwmethod`, `ckertype` and others, by their whole names.
#' @return An object of class `c("kestrel_dist", "kestrel_dens", "npdistribution")`, a list with
#'   \item{bw, bws}{the bandwidths, and the bandwidth object}
#'   \item{eval}{the points, a data frame}
#'   \item{dist, derr}{the distribution function there, and its standard error}
#'   \item{ntrain, nobs}{the numbers of observations and of points}
#'   \item{trainiseval}{whether the points are the data}
#'   and `xnames`, `ndim`, `ncon`, `nuno`, `nord`, `rows.omit`, `nobs.omit`, `engine`, `backend`, `seconds`, `call`.
#' @section Units: Distribution functions and standard errors have no units, and points those of the columns.
#' @section Errors: The errors of [npudistbw()] can occur here, too. Errors of class `kestrel_error_input` are also for
#'   points that are infinite or not like the data.
#' @section Cost: A point takes O(n (p + q)) for n observations, p numbers and q factors, on all threads. For one column
#'   of numbers and the Gaussian kernel of any order all points together take time proportional to the numbers of
#'   observations and points: 1e5 of both about 0.1 s on one thread. The error is then at most 1e-12 of the distribution
#'   function, and for kernels of higher order 1e-12. That of squared standard errors is at most 1e-12 / n. Points
#'   farther than 4 bandwidths outside of the data take O(n) each. Unless `bws` is a bandwidth object, the cost of
#'   [npudistbw()] is added.
#' @references Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 1.
#'
#'   Li, C., Li, H. & Racine, J.S. (2017) Cross-validated mixed datatype bandwidth selection for nonparametric
#'   cumulative distribution/survivor functions. *Econometric Reviews* **36**, 970-987.
#' @seealso [npudistbw()]; [predict.kestrel_dens()] and the other methods; [plot.kestrel_dens()].
#' @examples
#' fit <- npudist(~ mpg + ordered(gear), data = mtcars)
#' fit
#' plot(fit)
#' predict(fit, data.frame(mpg = c(15, 20, 25), gear = 4), se.fit = TRUE)
#'
#' # bandwidths of one's own
#' npudist(bws = c(0.3, 4), tdat = faithful, edat = data.frame(eruptions = 2:4, waiting = 70))$dist
#' @export
npudist <- function(...) {
  UseMethod("npudist", dispatched_on(..., .called = "npudist", .known = npudist_arguments(),
                                     .classes = list(formula = "formula", bws = "kestrel_distbw")))
}

npudist_arguments <- function() {
  methods <- list(npudist.formula, npudist.default, npudist.kestrel_distbw)
  c(unlist(lapply(methods, function(method) names(formals(method)))), npudistbw_arguments())
}

#' @rdname npudist
#' @export
npudist.formula <- function(formula, data = NULL, subset, na.action = getOption("na.action"), ..., newdata = NULL,
                            edat = NULL, threads = NULL, verbose = NULL) {
  call <- called_as(quote(npudist), match.call())
  verbose <- asked_verbose(verbose)
  selection <- call[!names(call) %in% c("newdata", "edat")]
  bws <- replace(eval(called_as(npudistbw.formula, selected(selection, call)), parent.frame()), "call",
                 list(called_as(quote(npudistbw), selection)))
  estimate_density(bws, density_points(bws, newdata, edat), threads, verbose, call)
}

#' @rdname npudist
#' @export
npudist.default <- function(bws = NULL, tdat, edat = NULL, ..., newdata = NULL, na.action = stats::na.omit,
                            threads = NULL, verbose = NULL) {
  call <- called_as(quote(npudist), match.call())
  if (inherits(bws, "formula")) return(eval(formula_call(call, "tdat", npudist.formula), parent.frame()))
  verbose <- asked_verbose(verbose)
  check_named("npudist", given_names(...), "edat")
  check_no_other_object(bws, "npudistbw")
  if (missing(tdat)) {
    # npudist(x), as a vector or a data frame of the data.
    if (is.null(bws) || "bws" %in% names(sys.call())) {
      abort_input("`tdat` must be given where there is no formula and no bandwidth object.")
    }
    tdat <- bws
    bws <- NULL
  }
  bw <- npudistbw.default(named_column(tdat, "tdat"), bws, bandwidth.compute = is.null(bws), ..., na.action = na.action,
                          threads = threads, verbose = verbose)
  bw$call <- call
  estimate_density(bw, density_points(bw, newdata, edat), threads, verbose, call)
}

# Bandwidth objects of another estimate.
check_no_other_object <- function(bws, maker) {
  if (inherits(bws, c("kestrel_densbw", "kestrel_regbw"))) {
    abort_input("`bws` must be a bandwidth object made by ", maker, "(), not that of another estimate.")
  }
}

#' @rdname npudist
#' @export
npudist.kestrel_distbw <- function(bws, tdat = NULL, edat = NULL, ..., newdata = NULL, na.action = stats::na.omit,
                                   threads = NULL, verbose = NULL) {
  check_object(bws, "bws", "kestrel_densbw")
  call <- called_as(quote(npudist), match.call())
  verbose <- asked_verbose(verbose)
  check_named("npudist", given_names(...), "edat")
  check_beside_object(bws, npudistbw.default, ...)
  if (!is.null(tdat)) {
    bws <- do.call(npudistbw.default, c(list(named_column(tdat, "tdat"), bws$bw, bandwidth.compute = FALSE,
                                             na.action = na.action, threads = threads, verbose = verbose),
                                        choices_of(bws, NULL)))
    bws$call <- call
  }
  estimate_density(bws, density_points(bws, newdata, edat), threads, verbose, call)
}
