#' Methods for kernel densities of mixed data
#'
#' Methods that print the results of [npudensbw()] and [npudens()], and of [npudistbw()] and [npudist()], and give
#' values, standard errors and predictions.
#'
#' Where `na.action = na.exclude` left rows out, `fitted()`, `se()` and `predict()` without `newdata` have NA in their
#' positions, so that they are as long as the data. `update()` makes an estimate or bandwidths with other arguments.
#'
#' @param object,x an object made by [npudens()] or [npudist()]. `print()`, `summary()`, `nobs()`, `formula()` and
#'   `predict()` also take bandwidths, whose predictions are those of their density or distribution function.
#' @param newdata,edat points to predict at, as in [npudens()]; the data if not given. Factors may be given as their
#'   levels in text.
#' @param se.fit if TRUE, give standard errors too.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @param ... not used. For bandwidths these are the other arguments of `predict()`, which refuses unknown ones.
#' @param row.names,optional not used; arguments of the generic.
#' @return `predict()` returns a numeric vector with one value for each point, and with `se.fit` a list with `fit`,
#'   `se.fit`, `df` (the number of points) and, of a density, `log.likelihood`, as in \pkg{np}. `fitted()` and `se()`
#'   return the density and its standard errors at the points where it was evaluated. `as.data.frame()` returns one row
#'   for each of these points, with the columns, `dens` (or `dist`) and `derr`. `summary()` returns a list with the
#'   object and, for bandwidths, `table`, with a row for each column. `nobs()` returns the number of observations.
#'   `print()` returns its argument invisibly.
#' @section Units: Densities and standard errors are in the reciprocal of the product of the units of the numbers.
#' @section Errors: Errors of class `kestrel_error_input` are for points that are infinite or of another type than the
#'   data, and in `predict()` for arguments that it does not have.
#' @section Cost: `predict()` at m points takes O(n m). The other methods take O(n).
#' @references Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 4.
#' @examples
#' fit <- npudens(~ eruptions, data = faithful)
#' summary(fit$bws)
#' predict(fit, data.frame(eruptions = c(2, NA, 4)), se.fit = TRUE)
#' head(as.data.frame(fit))
#' @name kestrel_dens-methods
#' @aliases print.kestrel_dens print.kestrel_densbw
NULL

#' @rdname kestrel_dens-methods
#' @export
predict.kestrel_dens <- function(object, newdata = NULL, se.fit = FALSE, edat = NULL, ..., verbose = NULL) {
  check_arguments("predict", given_names(...), character(0))
  check_object(object, "object", "kestrel_dens")
  verbose <- asked_verbose(verbose)
  se.fit <- check_flag(se.fit, "se.fit")
  points <- density_points(object$bws, newdata, edat)
  predicted_density(object, if (!is.null(points) || !object$trainiseval) {
    estimate_density(object$bws, points, NULL, verbose, object$call)
  } else {
    object
  }, se.fit)
}

# As np's: `df` is the number of points.
predicted_density <- function(object, at, se.fit) {
  placed <- if (at$trainiseval) function(value) stats::napredict(object$bws$na.action, value) else identity
  fit <- placed(at[[density_field(at)]])
  if (!se.fit) return(fit)
  c(list(fit = fit, se.fit = placed(at[[error_field(at)]]), df = at$nobs),
    if (!is.null(at$log_likelihood)) list(log.likelihood = at$log_likelihood))
}

density_field <- function(fit) intersect(c("dens", "condens", "dist", "condist"), names(unclass(fit)))[1L]

error_field <- function(fit) if (density_field(fit) %in% c("dens", "dist")) "derr" else "conderr"

#' @rdname kestrel_dens-methods
#' @export
predict.kestrel_densbw <- function(object, ..., verbose = NULL) {
  check_object(object, "object", "kestrel_densbw")
  verbose <- asked_verbose(verbose)
  predict.kestrel_dens(estimate_density(object, NULL, NULL, verbose, object$call), ..., verbose = verbose)
}

#' @rdname kestrel_dens-methods
#' @export
fitted.kestrel_dens <- function(object, ...) {
  check_object(object, "object", "kestrel_dens")
  predicted_density(object, object, FALSE)
}

#' @rdname kestrel_dens-methods
#' @export
se.kestrel_dens <- function(object, ...) {
  check_object(object, "object", "kestrel_dens")
  predicted_density(object, object, TRUE)$se.fit
}

#' @rdname kestrel_dens-methods
#' @export
nobs.kestrel_dens <- function(object, ...) check_object(object, "object", "kestrel_dens")$bws$nobs

#' @rdname kestrel_dens-methods
#' @export
nobs.kestrel_densbw <- function(object, ...) check_object(object, "object", "kestrel_densbw")$nobs

#' @rdname kestrel_dens-methods
#' @export
formula.kestrel_densbw <- function(x, ...) density_formula(check_object(x, "x", "kestrel_densbw"), parent.frame())

#' @rdname kestrel_dens-methods
#' @export
formula.kestrel_dens <- function(x, ...) density_formula(check_object(x, "x", "kestrel_dens")$bws, parent.frame())

density_formula <- function(bws, env) {
  if (!is.null(bws$formula)) return(bws$formula)
  core <- density_core(bws)
  given <- sum_of_names(core$xnames[core$given])
  of <- sum_of_names(core$xnames[!core$given])
  stats::as.formula(if (is.null(given)) call("~", of) else call("~", of, given), env = env)
}

#' @rdname kestrel_dens-methods
#' @export
as.data.frame.kestrel_dens <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_dens")
  points <- density_points_of(x)
  values <- stats::setNames(data.frame(x[[density_field(x)]], x[[error_field(x)]]), c(density_field(x), error_field(x)))
  cbind(stats::setNames(points, beside(names(values), names(points))), values)
}

density_points_of <- function(x) {
  if (is.null(x$yeval)) return(x$eval)
  frame_of(c(unclass(x$yeval), unclass(x$xeval)), c(x$ynames, x$xnames))
}

# ---- print and summary --------------------------------------------------------------------------------------------

density_text <- function(core) {
  of <- and_list(core$xnames[!core$given])
  if (any(core$given)) paste("of", of, "given", and_list(core$xnames[core$given])) else paste("of", of)
}

estimated <- function(core) if (is_distribution(core)) "distribution function" else "density"

density_size <- function(bws) {
  size <- format(bws$nobs, big.mark = ",")
  if (is.null(bws$na.action)) size else paste0(size, " (", length(bws$na.action), " left out: missing values)")
}

densbw_lines <- function(bws) {
  core <- density_core(bws)
  searched <- bws$search == "starts"
  c(paste0("Bandwidths of a ", if (any(core$given)) "conditional ", "kernel ", estimated(core)),
    call_lines(bws$call),
    label_line("n", density_size(bws)),
    label_line(if (is_distribution(core)) "function" else "density", density_text(core)),
    label_line("kernel", mixed_kernel_text(core)),
    label_line("bandwidth", mixed_bandwidth_text(core)),
    label_line("selection", bws$pmethod),
    if (!is.na(bws$fval)) label_line(bws$method, format(bws$fval, digits = 7)),
    if (searched) label_line("search", sub("least", "best", mixed_search_text(core), fixed = TRUE)),
    unlist(lapply(bws$remarks, label_line, label = "remark")),
    label_line("engine", paste0(bws$engine, " on ", bws$backend, ", ", bws$evaluations,
                                if (bws$evaluations == 1L) " evaluation, " else " evaluations, ",
                                format_short(bws$seconds), " s"))
  )
}

dens_lines <- function(fit) {
  bws <- fit$bws
  core <- density_core(bws)
  c(paste(if (any(core$given)) "Conditional kernel" else "Kernel", estimated(core)),
    call_lines(fit$call),
    label_line("n", density_size(bws)),
    label_line(if (is_distribution(core)) "function" else "density", density_text(core)),
    label_line("kernel", mixed_kernel_text(core)),
    label_line("bandwidth", mixed_bandwidth_text(core)),
    label_line("selection", bws$pmethod),
    if (!fit$trainiseval) label_line("evaluated at", format(fit$nobs, big.mark = ",")),
    if (!is_distribution(core)) label_line("log lik.", format(fit$log_likelihood, digits = 7)),
    label_line("engine", paste0(fit$engine, " on ", fit$backend, ", ", format_short(fit$seconds), " s"))
  )
}

#' @rdname kestrel_dens-methods
#' @export
print.kestrel_densbw <- function(x, ...) {
  check_object(x, "x", "kestrel_densbw")
  cat(densbw_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname kestrel_dens-methods
#' @export
summary.kestrel_densbw <- function(object, ...) {
  check_object(object, "object", "kestrel_densbw")
  structure(list(bws = object, table = bandwidth_table(density_core(object), density_raw(object), "variable")),
            class = "summary.kestrel_densbw")
}

#' @export
print.summary.kestrel_densbw <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_densbw")
  cat(densbw_lines(x$bws), "", "Bandwidths, with the largest of each factor:", sep = "\n")
  print_bandwidth_table(x$table)
  invisible(x)
}

#' @rdname kestrel_dens-methods
#' @export
print.kestrel_dens <- function(x, ...) {
  check_object(x, "x", "kestrel_dens")
  cat(dens_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname kestrel_dens-methods
#' @export
summary.kestrel_dens <- function(object, ...) {
  check_object(object, "object", "kestrel_dens")
  structure(list(fit = object), class = "summary.kestrel_dens")
}

#' @export
print.summary.kestrel_dens <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_dens")
  fit <- x$fit
  of <- unclass(fit)
  values <- if (density_field(fit) %in% c("dens", "condens")) "densities" else "values"
  cat(dens_lines(fit), label_line(values, quartiles(of[[density_field(fit)]])),
      label_line("errors", quartiles(of[[error_field(fit)]])), sep = "\n")
  invisible(x)
}
