# Kernel regression of a sketch: a search for the bandwidth over its criterion, and fits at points.

# The regressions of a sketch that has full cells: `least` is the least bandwidth that may be tried.
regression_of_sketch <- function(sketch, info, run) {
  pointer <- sketch_regression_cpp(sketch$bytes, run)
  list(pointer = pointer, n = info$n, range = diff(info$range), least = sketch_regression_least_cpp(pointer),
       width = 2^info$exponent)
}

# Of a sketch made with a response; `names` are those of both columns.
check_regression_sketch <- function(sketch) {
  info <- check_sketch(sketch, "xdat")
  if (length(info$column) > 1L || !nzchar(info$response)) {
    abort_input("`xdat` must be a sketch with a response: sketch_plan() takes the name of its column as `y`.")
  }
  if (info$n < 2) abort_input("`xdat` must be a sketch of at least two observations, not ", info$n, ".")
  info$names <- c(if (nzchar(info$column)) info$column else "x", info$response)
  info
}

#' @rdname npregbw
#' @export
npregbw.kestrel_sketch <- function(xdat, bws = NULL, bandwidth.compute = TRUE, ..., regtype = c("lc", "ll"),
                                   bwmethod = c("cv.ls", "cv.aic"), threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  check_arguments("npregbw", given_names(...))
  info <- check_regression_sketch(xdat)
  asked <- list(regtype = check_choice(regtype, c("lc", "ll"), "regtype"),
                method = check_choice(bwmethod, c("cv.ls", "cv.aic"), "bwmethod"))
  fixed <- !check_flag(bandwidth.compute, "bandwidth.compute")
  if (info$full == 0) {
    kept <- sketch_kept_cpp(xdat$bytes)
    data <- stats::setNames(data.frame(kept$x, kept$y), info$names)
    return(npregbw.default(data[1L], data[2L], bws, !fixed, regtype = asked$regtype, bwmethod = asked$method,
                           threads = threads, verbose = verbose))
  }
  given <- if (!is.null(bws)) sort(unique(check_positives(bws, "bws", limits = regression_limits)))
  if (fixed && length(given) != 1L) {
    abort_input("`bws` must be one bandwidth for bandwidth.compute = FALSE, not ", describe_value(bws), ".")
  }
  if (!fixed && length(given) == 1L) {
    inform_ignored("bws")
    given <- NULL
  }
  run <- run_options(threads)
  found <- with_progress(asked_verbose(verbose), "Cross-validation", function(progress) {
    run$progress <- progress
    search_sketch(regression_of_sketch(xdat, info, run), given, c(asked, fixed = fixed), info, run)
  })
  names <- list(xnames = info$names[1L], ynames = info$names[2L])
  found$remarks <- as.character(remark_on_infinite(found, asked, names))
  for (remark in found$remarks) inform(remark)
  structure(c(found, asked, nobs = info$n, names,
              list(sketch = xdat, call = called_as(quote(npregbw), match.call()),
                   seconds = proc.time()[["elapsed"]] - started)), class = "kestrel_sketch_regbw")
}

# The criterion at each h; NA where the cells do not serve it.
sketch_curve <- function(data, h, asked, run) {
  sums <- sketch_regression_cv_cpp(data$pointer, h, asked$regtype == "ll", run)
  if (asked$method == "cv.ls") sums$squares / data$n else corrected_aic(sums$insample / data$n, sums$trace, data$n)
}

# As search_bandwidth() for data: `given` is a grid, or NULL for a scan of all bandwidths that the cells serve.
search_sketch <- function(data, given, asked, info, run) {
  lowest <- max(data$least, 1e-15 * data$range, regression_limits[1L])
  grid <- if (is.null(given)) scan_from(lowest, data$range, data$n) else given
  if (is.null(grid) || length(grid) == 0L) abort_narrow(data)
  curve <- sketch_curve(data, grid, asked, run)
  served <- which(!is.na(curve))
  if (length(served) == 0L || !is.null(given) && length(served) < length(given)) abort_narrow(data)
  tried <- list(bw = grid[served], value = curve[served], evaluations = length(grid))
  if (is.null(given)) {
    # The curve goes on below the bandwidths that the cells serve, but not below those at which all have a neighbour.
    if (which.min(tried$value) == 1L && (served[1L] > 1L || data$least == data$width)) abort_narrow(data)
    objective <- function(bw) {
      value <- sketch_curve(data, bw, asked, run)
      ifelse(is.na(value), Inf, value)
    }
    finite <- tried$bw < Inf
    valleys <- valleys_of(tried$value[finite])
    tried <- together(tried, polished_valleys(objective, sides_of(tried$bw[finite], valleys)))
  }
  best <- max(least_of_tried(tried, asked))
  if (!is.null(given) && !asked$fixed && tried$bw[best] %in% range(given)) {
    warn_end_of_grid(tried$bw[best], list(grid = given), c(asked, type = "fixed"))
  }
  shown <- if (is.null(given)) seq_len(length(grid) - 1L) else seq_along(grid)
  list(bw = tried$bw[best], fval = tried$value[best],
       search = if (asked$fixed) "none" else if (is.null(given)) "global" else "grid", grid = grid[shown],
       cv = curve[shown], evaluations = tried$evaluations)
}

abort_narrow <- function(data) {
  abort_input("`xdat` must be a sketch with narrower cells, or of other responses, for these bandwidths: its cells ",
              "are ", format_short(data$width), " wide, and every observation has a neighbour from ",
              format_short(data$least), " on. sketch_plan() takes a smaller `hmin`.")
}

#' Methods for bandwidths of sketched regressions
#'
#' Methods for the result of [npregbw()] for a sketch whose observations are not all known. `predict()` gives the fit
#' at points, and `as.data.frame()` the criterion for the bandwidths that were tried.
#'
#' @param object,x the bandwidth.
#' @param newdata the points: a numeric vector, or a data frame with the column of the regressor.
#' @param threads the number of threads. The default is [kestrel_threads()].
#' @param row.names,optional not used; arguments of the generic.
#' @param ... no further arguments.
#' @return `predict()` returns a numeric vector, the fit at each point. It is NA for missing points and for points
#'   without an observation within 38 bandwidths. `as.data.frame()` returns the columns `bw` and `cv`, which is NA where
#'   the cells do not serve the bandwidth. `nobs()` returns the number of observations, and `formula()` a formula of the
#'   names of both columns. `print()` returns its argument invisibly.
#' @section Units: Fits are in the units of the response, points in those of the regressor.
#' @section Errors: Errors of class `kestrel_error_input` are for points that are infinite or not numeric.
#' @section Cost: `predict()` took 0.4 ms a point on one thread, of a sketch of 2e5 normal rows.
#' @references Fan, J. & Gijbels, I. (1996) *Local Polynomial Modelling and Its Applications*. Chapman & Hall.
#' @examples
#' plan <- sketch_plan(faithful, column = "eruptions", y = "waiting", hmin = 0.3)
#' bw <- npregbw(kde_sketch(faithful, plan), regtype = "ll")
#' bw
#' predict(bw, c(2, 3, 4))
#' @name kestrel_sketch_regbw-methods
NULL

#' @rdname kestrel_sketch_regbw-methods
#' @export
predict.kestrel_sketch_regbw <- function(object, newdata, ..., threads = NULL) {
  check_arguments("predict", given_names(...))
  check_object(object, "object", "kestrel_sketch_regbw")
  if (missing(newdata)) abort_input("`newdata` must be given: the observations of a sketch are not known.")
  points <- plain_points(newdata)
  if (is_frame(points)) {
    if (!object$xnames %in% names(points)) {
      abort_input("`newdata` must have the column ", quoted(object$xnames), ".")
    }
    points <- points[[object$xnames]]
  }
  if (!is_numbers(points)) abort_input("`newdata` must be numeric, not ", describe_value(newdata), ".")
  points <- as.numeric(points)
  if (any(is.infinite(points))) abort_input("`newdata` must be finite.")
  known <- !is.na(points)
  run <- run_options(threads)
  data <- regression_of_sketch(object$sketch, check_regression_sketch(object$sketch), run)
  fit <- rep(NA_real_, length(points))
  fit[known] <- sketch_regression_fit_cpp(data$pointer, object$bw, object$regtype == "ll", points[known], run)
  fit[is.nan(fit)] <- NA_real_
  fit
}

#' @rdname kestrel_sketch_regbw-methods
#' @export
print.kestrel_sketch_regbw <- function(x, ...) {
  check_object(x, "x", "kestrel_sketch_regbw")
  search <- switch(x$search, none = "none, the bandwidth was given", grid = paste("grid of", length(x$grid)),
                   "all bandwidths that the cells serve")
  cat("Bandwidth of a kernel regression, by cross-validation of a sketch",
      call_lines(x$call),
      label_line("n", format(x$nobs, big.mark = ",", scientific = FALSE)),
      label_line("regression", paste0("local ", if (x$regtype == "lc") "constant" else "linear", ", ", x$ynames, " on ",
                                      x$xnames)),
      label_line("bandwidth", format(x$bw, digits = 7)),
      label_line(x$method, format(x$fval, digits = 7)),
      label_line("search", search),
      unlist(lapply(x$remarks, label_line, label = "remark")), sep = "\n")
  invisible(x)
}

#' @rdname kestrel_sketch_regbw-methods
#' @export
as.data.frame.kestrel_sketch_regbw <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_sketch_regbw")
  data.frame(bw = x$grid, cv = x$cv)
}

#' @rdname kestrel_sketch_regbw-methods
#' @export
nobs.kestrel_sketch_regbw <- function(object, ...) check_object(object, "object", "kestrel_sketch_regbw")$nobs

#' @rdname kestrel_sketch_regbw-methods
#' @export
formula.kestrel_sketch_regbw <- function(x, ...) {
  check_object(x, "x", "kestrel_sketch_regbw")
  stats::as.formula(call("~", as.name(x$ynames), as.name(x$xnames)), env = parent.frame())
}
