# Parts of models under the names that R's other models have: nobs(), logLik(), formula(), model.frame().

#' Parts of estimates and fits
#'
#' The number of observations, the log likelihood, the formula and the data of estimates and fits, by the generics of
#' package \pkg{stats}. `update()` needs no method: it evaluates the call of an object anew, with other arguments.
#'
#' `logLik()` of a density of mixed data is the sum of the logarithms of the density at the points, as in \pkg{np}. It
#' has no degrees of freedom, so that `AIC()` is NA. That of a regression is for normal errors of one variance,
#' -n / 2 (log(2 pi RSS / n) + 1), with as many degrees of freedom as the fit uses (`edf`), plus one for the variance.
#'
#' @param object,x,formula an object of one of the classes above.
#' @param ... not used; arguments of the generics.
#' @return `nobs()` a number: the observations that were used. `logLik()` an object of class `"logLik"`. `formula()` a
#'   formula, made of the names of the variables if none was given. `model.frame()` a data frame of the data, with the
#'   response first. Rows that were left out are not in it.
#' @section Units: None for `nobs()` and `formula()`. Logarithms of densities for `logLik()`.
#' @section Errors: Errors of class `kestrel_error_input` are for objects that have been edited, and for `logLik()` of a
#'   distribution function.
#' @section Cost: O(n).
#' @references Loader, C. (1999) *Local Regression and Likelihood*. Springer, ch. 2.
#' @examples
#' fit <- npreg(waiting ~ eruptions, data = faithful)
#' logLik(fit)
#' AIC(fit)
#' head(model.frame(fit))
#' nobs(kde(faithful))
#' update(fit, regtype = "ll")
#' @name model-parts
NULL

#' @rdname model-parts
#' @export
nobs.kestrel_kde <- function(object, ...) sample_size(check_estimate(object, "object"))

#' @rdname model-parts
#' @export
nobs.kestrel_kcde <- function(object, ...) length(check_object(object, "object", "kestrel_kcde")$w)

#' @rdname model-parts
#' @export
nobs.kestrel_kdde <- function(object, ...) length(check_object(object, "object", "kestrel_kdde")$w)

#' @rdname model-parts
#' @export
nobs.kestrel_bkde <- function(object, ...) length(check_object(object, "object", "kestrel_bkde")$w)

#' @rdname model-parts
#' @export
nobs.kestrel_vkde <- function(object, ...) length(check_object(object, "object", "kestrel_vkde")$w)

#' @rdname model-parts
#' @export
nobs.kestrel_kfs <- function(object, ...) length(check_object(object, "object", "kestrel_kfs")$w)

#' @rdname model-parts
#' @export
nobs.kestrel_kcopula <- function(object, ...) length(check_object(object, "object", "kestrel_kcopula")$w)

#' @rdname model-parts
#' @export
nobs.kestrel_kda <- function(object, ...) sum(lengths(check_object(object, "object", "kestrel_kda")$w))

#' @rdname model-parts
#' @export
nobs.kestrel_histde <- function(object, ...) NROW(check_object(object, "object", "kestrel_histde")$x)

#' @rdname model-parts
#' @export
nobs.kestrel_kms <- function(object, ...) nrow(as_points(check_object(object, "object", "kestrel_kms")$x, "x"))

#' @rdname model-parts
#' @export
nobs.kestrel_kdr <- function(object, ...) length(check_object(object, "object", "kestrel_kdr")$w)

#' @rdname model-parts
#' @export
nobs.kestrel_boot <- function(object, ...) check_object(object, "object", "kestrel_boot")$n

#' @rdname model-parts
#' @export
nobs.kestrel_modetree <- function(object, ...) check_object(object, "object", "kestrel_modetree")$n

#' @rdname model-parts
#' @export
nobs.kestrel_sizer <- function(object, ...) check_object(object, "object", "kestrel_sizer")$n

#' @rdname model-parts
#' @export
nobs.kestrel_sizer_plane <- function(object, ...) check_object(object, "object", "kestrel_sizer_plane")$n

#' @rdname model-parts
#' @export
nobs.kestrel_sketch <- function(object, ...) check_sketch(object, "object")$n

#' @rdname model-parts
#' @export
nobs.kestrel_ksum <- function(object, ...) check_object(object, "object", "kestrel_ksum")$ntrain

#' @rdname model-parts
#' @export
nobs.kestrel_plbw <- function(object, ...) check_object(object, "object", "kestrel_plbw")$nobs

#' @rdname model-parts
#' @export
nobs.kestrel_scbw <- function(object, ...) check_object(object, "object", "kestrel_scbw")$nobs

#' @rdname model-parts
#' @export
nobs.kestrel_sibw <- function(object, ...) check_object(object, "object", "kestrel_sibw")$nobs

#' @rdname model-parts
#' @export
nobs.kestrel_plreg <- function(object, ...) check_object(object, "object", "kestrel_plreg")$bws$nobs

#' @rdname model-parts
#' @export
nobs.kestrel_si <- function(object, ...) check_object(object, "object", "kestrel_si")$bws$nobs

#' @rdname model-parts
#' @export
nobs.kestrel_sc <- function(object, ...) check_object(object, "object", "kestrel_sc")$bws$nobs

#' @rdname model-parts
#' @export
nobs.kestrel_conmode <- function(object, ...) check_object(object, "object", "kestrel_conmode")$bws$nobs

#' @rdname model-parts
#' @importFrom stats logLik
#' @export
logLik.kestrel_dens <- function(object, ...) {
  check_object(object, "object", "kestrel_dens")
  if (is.null(object$log_likelihood)) {
    abort_input("`object` must be a density, made by npudens() or npcdens(), to have a likelihood.")
  }
  structure(object$log_likelihood, df = NA_real_, nobs = object$nobs, class = "logLik")
}

#' @rdname model-parts
#' @export
logLik.kestrel_reg <- function(object, ...) {
  check_object(object, "object", "kestrel_reg")
  bws <- object$bws
  n <- bws$nobs
  squares <- sum(bws$w * object$resid^2)
  structure(-n / 2 * (log(2 * pi * squares / n) + 1), df = object$edf + 1, nobs = n, class = "logLik")
}

#' @rdname model-parts
#' @export
formula.kestrel_plbw <- function(x, ...) two_part_formula(check_object(x, "x", "kestrel_plbw"), parent.frame())

#' @rdname model-parts
#' @export
formula.kestrel_plreg <- function(x, ...) two_part_formula(check_object(x, "x", "kestrel_plreg")$bws, parent.frame())

#' @rdname model-parts
#' @export
formula.kestrel_scbw <- function(x, ...) two_part_formula(check_object(x, "x", "kestrel_scbw"), parent.frame())

#' @rdname model-parts
#' @export
formula.kestrel_sc <- function(x, ...) two_part_formula(check_object(x, "x", "kestrel_sc")$bws, parent.frame())

#' @rdname model-parts
#' @export
formula.kestrel_sibw <- function(x, ...) index_formula(check_object(x, "x", "kestrel_sibw"), parent.frame())

#' @rdname model-parts
#' @export
formula.kestrel_si <- function(x, ...) index_formula(check_object(x, "x", "kestrel_si")$bws, parent.frame())

#' @rdname model-parts
#' @export
formula.kestrel_conmode <- function(x, ...) {
  density_formula(check_object(x, "x", "kestrel_conmode")$bws, parent.frame())
}

index_formula <- function(bws, env) {
  if (inherits(bws$formula, "formula")) return(bws$formula)
  stats::as.formula(call("~", as.name(bws$ynames), sum_of_names(bws$xnames)), env = env)
}

two_part_formula <- function(bws, env) {
  if (inherits(bws$formula, "formula")) return(bws$formula)
  sides <- call("|", sum_of_names(bws$xnames), sum_of_names(bws$znames))
  stats::as.formula(call("~", as.name(bws$ynames), sides), env = env)
}

# a + b + c of such names; NULL of none.
sum_of_names <- function(names) Reduce(function(left, right) call("+", left, right), lapply(names, as.name))

# The response, if there is one, and the variables.
model_rows <- function(variables, names, y = NULL, yname = NULL) {
  columns <- c(if (!is.null(y)) stats::setNames(list(y), yname), stats::setNames(unclass(variables), names))
  columns <- columns[!duplicated(names(columns))]
  frame_of(columns, names(columns))
}

#' @rdname model-parts
#' @importFrom stats model.frame
#' @export
model.frame.kestrel_regbw <- function(formula, ...) {
  bws <- check_object(formula, "formula", "kestrel_regbw")
  x <- if (is_mixed_object(bws)) bws$x else list(in_dates(bws$x, bws$dates))
  model_rows(x, bws$xnames, bws$y, bws$ynames)
}

#' @rdname model-parts
#' @export
model.frame.kestrel_reg <- function(formula, ...) {
  model.frame.kestrel_regbw(check_object(formula, "formula", "kestrel_reg")$bws)
}

#' @rdname model-parts
#' @export
model.frame.kestrel_densbw <- function(formula, ...) {
  core <- density_core(check_object(formula, "formula", "kestrel_densbw"))
  model_rows(core$x, core$xnames)
}

#' @rdname model-parts
#' @export
model.frame.kestrel_dens <- function(formula, ...) {
  model.frame.kestrel_densbw(check_object(formula, "formula", "kestrel_dens")$bws)
}

#' @rdname model-parts
#' @export
model.frame.kestrel_qreg <- function(formula, ...) {
  model.frame.kestrel_densbw(check_object(formula, "formula", "kestrel_qreg")$bws)
}

#' @rdname model-parts
#' @export
model.frame.kestrel_conmode <- function(formula, ...) {
  model.frame.kestrel_densbw(check_object(formula, "formula", "kestrel_conmode")$bws)
}

#' @rdname model-parts
#' @export
model.frame.kestrel_plreg <- function(formula, ...) {
  model.frame.kestrel_plbw(check_object(formula, "formula", "kestrel_plreg")$bws)
}

#' @rdname model-parts
#' @export
model.frame.kestrel_plbw <- function(formula, ...) {
  bws <- check_object(formula, "formula", "kestrel_plbw")
  model_rows(c(unclass(bws$x), unclass(z_of(bws))), c(bws$xnames, bws$znames), bws$bw[[1L]]$y, bws$ynames)
}

#' @rdname model-parts
#' @export
model.frame.kestrel_si <- function(formula, ...) {
  model.frame.kestrel_sibw(check_object(formula, "formula", "kestrel_si")$bws)
}

#' @rdname model-parts
#' @export
model.frame.kestrel_sibw <- function(formula, ...) {
  bws <- check_object(formula, "formula", "kestrel_sibw")
  model_rows(bws$x, bws$xnames, bws$y, bws$ynames)
}

#' @rdname model-parts
#' @export
model.frame.kestrel_sc <- function(formula, ...) {
  model.frame.kestrel_scbw(check_object(formula, "formula", "kestrel_sc")$bws)
}

#' @rdname model-parts
#' @export
model.frame.kestrel_scbw <- function(formula, ...) {
  bws <- check_object(formula, "formula", "kestrel_scbw")
  model_rows(c(unclass(bws$x), unclass(bws$z)), c(bws$xnames, bws$znames), bws$y, bws$ynames)
}
