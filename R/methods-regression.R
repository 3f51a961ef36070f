#' Methods for kernel regressions
#'
#' Methods that print the results of [npregbw()] and [npreg()] and give fitted values, residuals, standard errors,
#' gradients and predictions.
#'
#' Where `na.action = na.exclude` left rows out, `fitted()`, `residuals()`, `se()`, `gradients()` and `predict()`
#' without `newdata` have NA in their positions, so that they are as long as the data. With [stats::na.omit] they are
#' shorter.
#'
#' `update()` makes a fit or a bandwidth with other arguments.
#'
#' @param object,x an object made by [npreg()]. `print()`, `summary()`, `nobs()`, `formula()` and `predict()` also take
#'   the result of [npregbw()], whose predictions are those of its fit.
#' @param newdata,exdat points to predict at, as in [npreg()]; the data if not given. Factors may be given as their
#'   levels in text. A level that the data lack has the prediction NA, and one warning counts such points.
#' @param se.fit if TRUE, give standard errors too.
#' @param interval `"confidence"` adds the bands of the fit.
#' @param level their level.
#' @param type accepted for scripts written for \pkg{np}: `"response"`.
#' @param y.eval,eydat accepted for scripts written for \pkg{np}, without effect: [npreg()] compares responses at points
#'   with the fit.
#' @param errors if TRUE, give the standard errors of the gradients.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @param ... not used. For a bandwidth these are the other arguments of `predict()`, which refuses unknown ones.
#' @param row.names,optional not used; arguments of the generic.
#' @return `predict()` returns a numeric vector with one value for each point. It is NA for points with a missing value
#'   and for those without an observation within the bandwidth. With `interval = "confidence"` it is a matrix with
#'   columns `fit`, `lwr` and `upr`, and with `se.fit` a list with `fit` (either) and `se.fit`. `fitted()` and `se()`
#'   return the fit and its standard errors at the points where it was evaluated. `gradients()` returns a matrix with a
#'   column for each regressor, as in \pkg{np}. It has the gradients there, for factors the effects, or the standard
#'   errors. `residuals()` returns those at the data. `as.data.frame()` returns one row for each of these points, with
#'   the regressors, `mean`, `merr`, `lower` and `upper`. If the points are the data, it adds the response, `resid` and
#'   `loo`. A variable that has one of these names is called, for example, `mean.1`. `summary()` returns a list with the
#'   object and, for a bandwidth from a grid, `best`, the five best of it, and for several regressors `table`, with a
#'   row for each. `nobs()` returns the number of observations of positive weight. `print()` returns its argument
#'   invisibly.
#' @section Units: Fits, standard errors, bands and residuals are in those of the response, points in those of the
#'   regressor, and gradients in those of the response divided by those of the regressor.
#' @section Errors: Errors of class `kestrel_error_input` are for points that are infinite or of another type than the
#'   regressor, and in `predict()` for arguments that it does not have.
#' @section Cost: `predict()` at m points O((n + m) log(n + m)), with the Gaussian kernel O(n log n + n m) at worst, and
#'   with several regressors O(n m). At the data the fit is stored already, and so are standard errors, unless [npreg()]
#'   was told to leave them out or to evaluate elsewhere. Then they cost as much as n points. The other methods cost
#'   O(n).
#' @references Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 2.
#' @examples
#' fit <- npreg(dist ~ speed, data = cars)
#' summary(fit)
#' predict(fit, data.frame(speed = c(10, NA, 20)), interval = "confidence")
#' head(as.data.frame(fit))
#' summary(npregbw(breaks ~ wool + tension, data = warpbreaks))
#' @name kestrel_reg-methods
#' @aliases print.kestrel_reg print.kestrel_regbw
NULL

#' @rdname kestrel_reg-methods
#' @export
predict.kestrel_reg <- function(object, newdata = NULL, se.fit = FALSE, interval = c("none", "confidence"),
                                level = object$level, exdat = NULL, type = "response", y.eval = FALSE,
                                eydat = NULL, ..., verbose = NULL) {
  check_arguments("predict", given_names(...), c("y.eval", "eydat"))
  check_object(object, "object", "kestrel_reg")
  check_choice(type, "response", "type")
  verbose <- asked_verbose(verbose)
  se.fit <- check_flag(se.fit, "se.fit")
  interval <- check_choice(interval, c("none", "confidence"), "interval")
  level <- check_level(level)
  points <- evaluation_points(object$bws, newdata, exdat)
  at_data <- is.null(points)
  if (at_data) points <- object$bws$x
  errors <- se.fit || interval == "confidence"
  at <- with_progress(verbose, "Regression", function(progress) {
    run <- c(run_options(), progress = progress)
    if (at_data) known_at_data(object, errors, run) else values_at(object, points, errors, run)
  })
  warn_no_neighbour(at$mean, points, object$bws)
  placed <- if (at_data) function(value) stats::napredict(object$bws$na.action, value) else identity
  fit <- placed(at$mean)
  if (interval == "confidence") {
    z <- stats::qnorm((1 + level) / 2)
    fit <- cbind(fit = fit, lwr = fit - z * placed(at$se), upr = fit + z * placed(at$se))
  }
  if (se.fit) list(fit = fit, se.fit = placed(at$se)) else fit
}

#' @rdname kestrel_reg-methods
#' @export
predict.kestrel_regbw <- function(object, ..., verbose = NULL) {
  check_object(object, "object", "kestrel_regbw")
  verbose <- asked_verbose(verbose)
  predict.kestrel_reg(npreg.kestrel_regbw(object, se = FALSE, verbose = verbose), ..., verbose = verbose)
}

# What values_at() would return at the data. The errors are computed if the fit does not have them.
known_at_data <- function(object, errors, run) {
  bws <- object$bws
  se <- if (object$at.data) object$merr else rep(NA_real_, length(bws$y))
  if (errors && all(is.na(se))) {
    if (is_mixed_object(bws)) return(values_at(object, bws$x, TRUE, run))
    se <- fit_at_data(object, run, with_fit(observations_of(bws, run), bws$h, bws, with_errors, run))$se
  }
  list(mean = fit_inside(object), se = se)
}

fit_inside <- function(object) if (object$at.data) object$mean else object$bws$y - object$resid

#' @rdname kestrel_reg-methods
#' @export
fitted.kestrel_reg <- function(object, ...) {
  check_object(object, "object", "kestrel_reg")
  if (object$at.data) stats::napredict(object$bws$na.action, object$mean) else object$mean
}

#' @rdname kestrel_reg-methods
#' @export
residuals.kestrel_reg <- function(object, ...) {
  check_object(object, "object", "kestrel_reg")
  stats::naresid(object$bws$na.action, object$resid)
}

#' @rdname kestrel_reg-methods
#' @export
se <- function(object, ...) UseMethod("se")

#' @export
se.default <- function(object, ...) {
  abort_input("`object` must be a fit made by npreg(), npudens(), npcdens(), npindex() or npscoef(), not ",
              describe_value(object), ".")
}

#' @rdname kestrel_reg-methods
#' @export
se.kestrel_reg <- function(object, ...) {
  check_object(object, "object", "kestrel_reg")
  if (object$at.data) stats::napredict(object$bws$na.action, object$merr) else object$merr
}

#' @rdname kestrel_reg-methods
#' @export
gradients <- function(x, ...) UseMethod("gradients")

#' @export
gradients.default <- function(x, ...) {
  abort_input("`x` must be a fit made by npreg(), npcdens() or npindex(), not ", describe_value(x), ".")
}

#' @rdname kestrel_reg-methods
#' @export
gradients.kestrel_reg <- function(x, errors = FALSE, ...) {
  check_object(x, "x", "kestrel_reg")
  name <- if (check_flag(errors, "errors")) "gerr" else "grad"
  value <- x[[name]]
  if (identical(value, NA)) {
    points <- if (is_mixed_object(x$bws)) x$eval else numbers_of(plain_columns(x$eval)[[1L]])
    value <- as.matrix(values_at(x, points, TRUE, run_options(), gradients = TRUE)[[name]])
  }
  if (x$at.data) stats::napredict(x$bws$na.action, value) else value
}

#' @rdname kestrel_reg-methods
#' @export
nobs.kestrel_reg <- function(object, ...) check_object(object, "object", "kestrel_reg")$nobs

#' @rdname kestrel_reg-methods
#' @export
nobs.kestrel_regbw <- function(object, ...) check_object(object, "object", "kestrel_regbw")$nobs

#' @rdname kestrel_reg-methods
#' @export
formula.kestrel_regbw <- function(x, ...) {
  formula_of(check_object(x, "x", "kestrel_regbw"), parent.frame())
}

#' @rdname kestrel_reg-methods
#' @export
formula.kestrel_reg <- function(x, ...) formula_of(check_object(x, "x", "kestrel_reg")$bws, parent.frame())

formula_of <- function(bws, env) {
  if (!is.null(bws$terms)) return(stats::formula(bws$terms))
  regressors <- sum_of_names(bws$xnames)
  stats::as.formula(call("~", as.name(bws$ynames), regressors), env = env)
}

without_neighbour <- function(count) {
  paste(count, if (count == 1L) "observation has" else "observations have", "no neighbour")
}

#' @rdname kestrel_reg-methods
#' @export
as.data.frame.kestrel_reg <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_reg")
  fit <- data.frame(mean = x$mean, merr = x$merr, lower = x$lower, upper = x$upper, row.names = NULL)
  variables <- beside(c(names(fit), "resid", "loo"), c(x$xnames, x$ynames))
  frame <- cbind(stats::setNames(x$eval, variables[-length(variables)]), fit)
  if (!x$at.data) return(frame)
  cbind(frame, stats::setNames(data.frame(x$bws$y), variables[length(variables)]), resid = x$resid, loo = x$loo)
}

#' @rdname kestrel_reg-methods
#' @export
print.kestrel_regbw <- function(x, ...) {
  check_object(x, "x", "kestrel_regbw")
  cat(regbw_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname kestrel_reg-methods
#' @export
summary.kestrel_regbw <- function(object, ...) {
  check_object(object, "object", "kestrel_regbw")
  first <- utils::head(order(object$cv, object$grid), 5L)
  best <- data.frame(bw = object$grid, cv = object$cv, n.unsupported = object$n.unsupported, row.names = NULL)[first, ]
  rownames(best) <- NULL
  structure(list(bws = object, best = if (object$search == "grid") best), class = "summary.kestrel_regbw")
}

#' @export
print.summary.kestrel_regbw <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_regbw")
  bws <- x$bws
  raw <- if (bws$scaling) bws$bw * bws$sdev * bws$nconfac else bws$bw
  cat(regbw_lines(bws),
      if (!is_nearest(bws)) label_line("scale factor", format_short(raw / bws$sdev / bws$nconfac)), sep = "\n")
  if (is.null(x$best)) return(invisible(x))
  cat("", "The best of the grid, with how many observations have no neighbour:", sep = "\n")
  print(plain_columns(x$best), digits = 7, row.names = FALSE)
  invisible(x)
}

#' @rdname kestrel_reg-methods
#' @export
print.kestrel_reg <- function(x, ...) {
  check_object(x, "x", "kestrel_reg")
  cat(regression_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname kestrel_reg-methods
#' @export
summary.kestrel_reg <- function(object, ...) {
  check_object(object, "object", "kestrel_reg")
  structure(list(fit = object), class = "summary.kestrel_reg")
}

#' @export
print.summary.kestrel_reg <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_reg")
  fit <- x$fit
  errors <- (fit$bws$y - fit$loo)[fit$bws$w > 0]
  cat(regression_lines(fit),
      label_line("errors", named_values(fit, c("MSE", "MAE", "MAPE"))),
      label_line("agreement", named_values(fit, c("CORR", "SIGN"))),
      label_line("residuals", quartiles(fit$resid[fit$bws$w > 0])),
      label_line("left out", paste0(quartiles(errors), " (leave-one-out residuals)")), sep = "\n")
  invisible(x)
}

named_values <- function(fit, names) {
  paste(names, vapply(names, function(name) format_short(fit[[name]]), ""), collapse = ", ")
}

quartiles <- function(values) {
  paste(c("min", "1Q", "median", "3Q", "max"), format_short(stats::quantile(values, na.rm = TRUE)), collapse = ", ")
}

size_text <- function(bws) {
  size <- format(bws$nobs, big.mark = ",")
  w <- bws$w[bws$w > 0]
  if (any(w != w[1L])) {
    size <- paste0(size, ", weighted: effective n ", format_short(effective_size(weight_sums_cpp(w))))
  }
  if (is.null(bws$na.action)) return(size)
  paste0(size, " (", length(bws$na.action), " left out: missing values)")
}

smoother_text <- function(bws) {
  periodic <- if (!is.null(bws$period)) paste0(", periodic (", format_short(bws$period), unit_text(bws$dates), ")")
  paste0(bws$ynames, " on ", and_list(bws$xnames), periodic, ", ",
         if (bws$regtype == "lc") "local constant (Nadaraya-Watson)" else "local linear")
}

bandwidth_text <- function(bws) {
  if (is_mixed_object(bws)) return(mixed_bandwidth_text(bws))
  if (is_nearest(bws)) return(paste0("k = ", bws$bw, " (", nearest_names[[bws$type]], ")"))
  meaning <- if (bws$scaling) "scale factor" else if (bws$ckertype == "gaussian") "standard deviation" else
    if (unit_of(bws) == 1) "half the support" else "as np counts"
  paste0("h = ", format_short(bws$bw), if (!bws$scaling) unit_text(bws$dates), " (", meaning, ")")
}

kernel_text <- function(bws) {
  if (is_mixed_object(bws)) return(mixed_kernel_text(bws))
  paste0(bws$ckertype, if (bws$ckerorder > 2) paste(", order", bws$ckerorder))
}

regbw_lines <- function(bws) {
  if (is_mixed_object(bws)) return(mixed_regbw_lines(bws))
  c("Bandwidth of a kernel regression, by cross-validation",
    call_lines(bws$call),
    label_line("n", size_text(bws)),
    label_line("regression", smoother_text(bws)),
    label_line("kernel", kernel_text(bws)),
    label_line("bandwidth", bandwidth_text(bws)),
    label_line(bws$method, format(bws$fval, digits = 7)),
    label_line(if (bws$search == "global") "scan" else "grid", grid_text(bws)),
    if (bws$search != "global") label_line("support", support_text(bws)),
    if (length(bws$ties) > 0L) label_line("ties",
                                            paste0("shared by ", describe_value(bws$ties), "; the widest is taken")),
    unlist(lapply(bws$remarks, label_line, label = "remark")),
    label_line("engine", paste0(bws$engine, " on ", backend_text(bws), ", ", bws$evaluations,
                                if (bws$evaluations == 1L) " bandwidth, " else " bandwidths, ",
                                format_short(bws$seconds), " s"))
  )
}

grid_text <- function(bws) {
  if (bws$search == "none") return("this bandwidth alone")
  counted <- bws$search == "grid" | bws$n.unsupported == 0L
  text <- paste0(sum(counted), " on [", paste(format_short(range(bws$grid[counted])), collapse = ", "), "]")
  if (bws$search == "global" && all(diff(bws$grid) == 1)) return(text)
  if (bws$search == "global") return(paste0(text, ", and the valleys between them"))
  if (bws$bw %in% bws$grid) text else paste0(text, ", refined")
}

support_text <- function(bws) {
  lost <- sum(bws$n.unsupported > 0L)
  if (lost == 0L) return("every observation has a neighbour")
  if (bws$search == "none") return(without_neighbour(bws$n.unsupported))
  paste0(lost, " of ", length(bws$grid), " bandwidths leave observations without a neighbour: ",
         if (bws$unsupported == "reject") "rejected" else "such observations excluded")
}

evaluated_text <- function(fit) {
  paste0(format(length(fit$mean), big.mark = ","),
         if (!is.null(fit$eydat)) ", with responses for R-squared and errors")
}

regression_lines <- function(fit) {
  bws <- fit$bws
  c("Kernel regression",
    call_lines(fit$call),
    label_line("n", size_text(bws)),
    label_line("bandwidth", paste0(bandwidth_text(bws), if (bws$search != "none") paste(", by", bws$method))),
    label_line("regression", smoother_text(bws)),
    label_line(if (is.null(fit$eydat)) "residual sd" else "error sd",
               paste0(format_short(sqrt(fit$MSE)), " (", format_short(fit$edf), " degrees of freedom used)")),
    label_line("R-squared", format(fit$R2, digits = 4)),
    label_line("kernel", kernel_text(bws)),
    if (fit$n.unsupported > 0L) label_line("support", without_neighbour(fit$n.unsupported)),
    if (!fit$at.data) label_line("points", evaluated_text(fit)),
    label_line("engine", paste0(fit$engine, " on ", fit$backend, ", ", format_short(fit$seconds), " s"))
  )
}
