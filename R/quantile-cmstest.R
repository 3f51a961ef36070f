# A test of the form of a parametric quantile regression (Zheng 1998; Racine 2006).

#' Test of the specification of a parametric quantile regression
#'
#' Tests whether a quantile of the response is that of a linear model, against any smooth function of the regressors,
#' which may be numbers and factors (Zheng 1998; Racine 2006). Names, arguments and fields are those of package
#' \pkg{np}.
#'
#' The statistics are those of [npcmstest()], with u_i = 1 - tau where the residual is 0 or negative, and -tau where it
#' is positive. Their mean is near 0 where the quantile is right.
#'
#' Bootstrap responses are the fits of the model plus residuals, drawn with replacement (`"iid"`), or around their mean
#' times draws as in [npsigtest()]. The model is fitted to each by \pkg{quantreg}, which must be installed.
#'
#' Statistics are those of \pkg{np} 0.60 at the same bandwidths, but for these differences:
#'
#'   - A model fits as many observations exactly as it has coefficients. Residuals of up to 1e-8 of the largest one
#'     count as 0. \pkg{np} takes their signs, which are those of rounding errors: in the last line of the example those
#'     of both observations are positive.
#'   - `tau` must be that of the model, which \pkg{np} does not compare.
#'   - The model may be a formula. One of `rq()` of package \pkg{quantreg} need not have been made with `model = TRUE`
#'     if it has its design.
#'   - Bandwidths may be given (`bws`).
#'   - Draws follow from `random.seed` alone, are the same for any number of threads, and leave the random numbers of
#'     the session as they are.
#'
#' @inheritParams npcmstest
#' @param model a model of `rq()` of package \pkg{quantreg}, for one `tau`, or a formula of a linear model, whose
#'   variables are in `data`.
#' @param tau the probability of the quantile, between 0 and 1.
#' @param bwydat the response of the regression that selects bandwidths: `"y"`, that of the model, or `"varepsilon"`, u.
#' @return An object of class `c("kestrel_cmstest", "cmstest")` with the fields of that of [npcmstest()], and `tau`.
#' @section Units: Jn has none. In has the reciprocal of those of the numbers.
#' @section Errors: Errors of class `kestrel_error_input` are for models of other classes, with weights or without their
#'   design, models that fit exactly, if \pkg{quantreg} is not installed, and as in [npcmstest()].
#' @section Cost: O(n^2 B) for B samples, and about 50 steps of O(n p^2) for each fit of a model with p coefficients:
#'   about 1 s for n = 500, p = 3 and B = 399. The cost of [npregbw()] is added.
#' @references Barrodale, I. & Roberts, F.D.K. (1973) An improved algorithm for discrete L1 linear approximation. *SIAM
#'   Journal on Numerical Analysis* **10**, 839-848.
#'
#'   Koenker, R. & Bassett, G. (1978) Regression quantiles. *Econometrica* **46**, 33-50.
#'
#'   Racine, J.S. (2006) Consistent specification testing of heteroskedastic parametric regression quantile models with
#'   mixed data. Manuscript, McMaster University.
#'
#'   Zheng, J.X. (1998) A consistent nonparametric test of parametric regression models under conditional quantile
#'   restrictions. *Econometric Theory* **14**, 123-138.
#' @seealso [npcmstest()] for the mean.
#' @examplesIf requireNamespace("quantreg", quietly = TRUE)
#' npqcmstest(~ wt, mtcars, model = mpg ~ wt, boot.num = 99)
#' # with quantreg: npqcmstest(~ wt, mtcars, model = quantreg::rq(mpg ~ wt, data = mtcars))
#' # residuals of 0 there:
#' # Filter(function(r) abs(r) < 1e-9, residuals(quantreg::rq(mpg ~ wt, data = mtcars)))
#' @export
npqcmstest <- function(formula, data = NULL, subset, xdat, ydat, model, tau = 0.5,
                       distribution = c("bootstrap", "asymptotic"), bwydat = c("y", "varepsilon"),
                       boot.method = c("iid", "wild", "wild-rademacher"), boot.num = 399, pivot = TRUE,
                       density.weighted = TRUE, random.seed = 42, ..., threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  of_bandwidths <- setdiff(npregbw_arguments(), c("na.action", "w", "bandwidth.compute"))
  check_known("npqcmstest", Filter(nzchar, given_names(...)), c(names(formals(npqcmstest)), of_bandwidths))
  check_named("npqcmstest", given_names(...), "random.seed")
  if (missing(model)) abort_input("`model` must be given, by its name: a model of rq() of quantreg, or a formula.")
  # Unlike requireNamespace(), this lets the error of a time limit pass.
  catching_errors(loadNamespace("quantreg"), function(e) {
    abort_input("Package quantreg must be installed to fit quantile regressions.")
  })
  tau <- check_tau(tau)
  asked <- specification_choices(distribution, boot.method, boot.num, pivot, density.weighted, random.seed)
  bwydat <- check_choice(bwydat, c("y", "varepsilon"), "bwydat")
  verbose <- asked_verbose(verbose)
  null <- null_quantile(model, tau, data)
  x <- specification_regressors(if (!missing(formula)) formula, data, call, parent.frame(), if (!missing(xdat)) xdat)
  ydat <- if (bwydat == "varepsilon") null$residuals else if (!missing(ydat)) ydat
  test <- specification_test(rows_of_model(x, null), ydat, null, asked, threads, verbose, ...)
  finish_specification(c(test, list(tau = tau, bwydat = bwydat)), null, asked, random.seed, call, started)
}

# As null_model(), with u for residuals.
null_quantile <- function(model, tau, data) {
  parts <- if (inherits(model, "formula")) fitted_quantile(model, tau, data) else parts_of_rq(model, tau)
  residuals <- parts$y - parts$fitted
  largest <- max(abs(residuals))
  if (!(largest > 1e-12 * max(abs(parts$y)))) abort_input("`model` must not fit its response exactly.")
  signs <- function(residuals) ifelse(residuals <= 1e-8 * largest, 1 - tau, -tau)
  middle <- mean(residuals)
  errors <- function(uniform, method) {
    if (method == "iid") bootstrap_residuals(residuals, uniform, method) else
      middle + bootstrap_residuals(residuals - middle, uniform, method)
  }
  residuals_of <- function(errors) {
    apply(errors, 2L, function(error) {
      heard()
      signs(quantile_residuals(parts$q, tau, parts$fitted + error))
    })
  }
  c(list(residuals = signs(residuals), errors = errors, residuals_of = residuals_of),
    parts[c("y", "call", "name", "left_out")])
}

# The linear quantile regression of a formula.
fitted_quantile <- function(model, tau, data) {
  data <- if (is_frame(data)) structure(data, class = "data.frame") else without_class(data)
  frame <- known_as("model", of = "formula", {
    check_formula(model, data)
    try_formula(stats::model.frame(model, data, na.action = stats::na.omit))
  })
  y <- stats::model.response(frame)
  if (!is_numbers(y) || length(dim(y)) > 1L || !all(is.finite(y)) || length(y) < 2L) {
    abort_input("`model` must have a response of at least two finite numbers.")
  }
  y <- as.numeric(y)
  q <- design_of_quantile(stats::model.matrix(attr(frame, "terms"), frame), length(y))
  list(y = y, fitted = y - quantile_residuals(q, tau, y), q = q, call = model, name = deparse1(model[[2L]]),
       left_out = as.vector(unclass(attr(frame, "na.action"))))
}

# Those of a model of quantreg.
parts_of_rq <- function(model, tau) {
  if (!is.list(model) || !inherits(model, "rq") || inherits(model, c("rqs", "nlrq", "crq"))) {
    abort_input("`model` must be a model of rq() of quantreg for one tau, or a formula, not ", describe_value(model),
                ".")
  }
  fields <- unclass(model)
  if (!is_number(fields$tau) || abs(fields$tau - tau) > 1e-12) {
    abort_input("`tau` must be that of `model`, ", describe_value(fields$tau), ", not ", describe_value(tau), ".")
  }
  if (!is.null(fields$weights)) abort_input("`model` must be a model without weights.")
  residuals <- as.vector(fields$residuals)
  fitted <- as.vector(fields$fitted.values)
  fine <- is_numbers(residuals) && is_numbers(fitted) && length(residuals) == length(fitted) && length(fitted) > 1L &&
    all(is.finite(residuals)) && all(is.finite(fitted))
  if (!fine) abort_input("`model` must have finite residuals and fitted values, as many of each.")
  design <- fields$x
  if (is.null(design) && is.data.frame(fields$model)) design <- stats::model.matrix(fields$terms, fields$model)
  list(y = fitted + residuals, fitted = fitted, q = design_of_quantile(design, length(fitted)), call = fields$call,
       name = if (length(fields$formula) == 3L) deparse1(fields$formula[[2L]]) else "y",
       left_out = as.vector(unclass(fields$na.action)))
}

# The residuals of the regression of the tau-quantile of y on the columns of q (Koenker & Bassett 1978). Of several
# fits that are as good it is one.
quantile_residuals <- function(q, tau, y) as.vector(suppressWarnings(quantreg::rq.fit.br(q, y, tau = tau))$residuals)

# Orthonormal columns that span those of a matrix, which may be fewer.
orthonormal <- function(design) {
  decomposed <- qr(design)
  qr.Q(decomposed)[, seq_len(decomposed$rank), drop = FALSE]
}

design_of_quantile <- function(design, n) {
  if (!is_numbers(design) || !is.matrix(design) || nrow(design) != n || !all(is.finite(design)) || !any(design != 0)) {
    abort_input("`model` must have its design, a matrix of finite numbers with a row for each observation, as rq() of ",
                "quantreg gives it with model = TRUE.")
  }
  orthonormal(design)
}
