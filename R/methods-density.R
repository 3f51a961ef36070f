#' Methods for density estimates
#'
#' Methods that print and summarise estimates, evaluate them at new points, and convert them to data frames.
#'
#' `predict()` evaluates the estimate at new points exactly, from the data. It never interpolates, and it is as accurate
#' outside of the grid as inside.
#'
#' @param x,object an object made by [kde()]; for `predict()`, `x` is another name of `newdata`, as in \pkg{ks}.
#' @param newdata points: a numeric vector (d = 1; for d > 1 a vector of length d is one point), or a matrix or data
#'   frame with d columns. Columns with names are matched to the variables by them, in any order, and other names are an
#'   error; columns without names are taken as they stand.
#' @param ... not used. `predict()` accepts only `zero.flag` of \pkg{ks}, which has no effect.
#' @param interval,level,method,B for estimates of one variable: a confidence band, see [bands].
#' @param backend,precision as for [kde()].
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @param row.names,optional not used; arguments of the generic.
#' @return `predict()` returns a numeric vector of densities, and with a band a matrix with columns `fit`, `lwr` and
#'   `upr`. `as.data.frame()` returns one row for each point: its coordinates, named as the variables (one called
#'   `estimate` becomes `estimate.1`), and `estimate`, with a band also `lower` and `upper`. The first axis runs
#'   fastest. `summary()` returns a list of class `"summary.kestrel_kde"` with `fhat`, `levels` (the 25, 50, 75 and
#'   95 % contours) and `mass` (the integral over the grid). Without a grid `mass` is NULL, and so is `levels` unless
#'   the estimate is at the data. `print()` returns its argument invisibly.
#' @section Units: Points are in those of the variables, densities in 1 / volume (1 over the product of these units).
#'   `mass` has no unit.
#' @section Errors: Errors of class `kestrel_error_input` are for points that are missing, infinite or of another
#'   dimension. In `predict()` the class is `kestrel_error_backend` for a backend that this build or machine lacks, and
#'   `kestrel_error_memory` if the memory of a GPU that was asked for does not suffice.
#' @section Cost: `predict()` costs as much as [kde()] at as many points, and `summary()` as much as [contourLevels()]
#'   by interpolation. The others cost O(points).
#' @references Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall.
#' @examples
#' fhat <- kde(faithful)
#' summary(fhat)
#' predict(fhat, c(4, 80))
#' head(as.data.frame(fhat))
#' @name kestrel_kde-methods
#' @aliases print.kestrel_kde
NULL

#' @rdname kestrel_kde-methods
#' @export
predict.kestrel_kde <- function(object, newdata, ..., x, interval = c("none", "pointwise", "simultaneous"),
                                level = 0.95, method = c("bootstrap", "asymptotic"), B = 500, backend = "auto",
                                precision = c("double", "single"), verbose = NULL) {
  check_estimate(object, "object")
  band <- asked_band(object, interval, level, method, B)
  verbose <- asked_verbose(verbose)
  points <- points_to_predict(newdata, x, ...)
  points <- check_points(in_order_of(points$value, object$names, points$name), dimension(object), points$name)
  run <- run_options(backend = backend, cuda = TRUE, precision = precision)
  with_progress(verbose, "Density at points", function(progress) {
    run <- replace(run, "progress", list(progress))
    fit <- density_at(object, points, run)
    if (is.null(band)) fit else with_limits(band_at(object, points, band, run), fit)
  })
}

# The points for a predict() method, and the name of the argument that they came by.
points_to_predict <- function(newdata, x, ...) {
  given <- given_names(...)
  check_known("predict", given, c(names(formals(predict.kestrel_kde)), "zero.flag"))
  if ("zero.flag" %in% given) inform_ignored("zero.flag")
  name <- if (missing(newdata) && !missing(x)) "x" else "newdata"
  points <- if (name == "x") x else if (!missing(newdata)) newdata
  if (is.null(points)) abort_input("`newdata` must be points to predict at, not NULL.")
  if (!missing(newdata) && !missing(x)) abort_input("`newdata` and `x` must not both be given.")
  list(value = points, name = name)
}

# Makes the names of variables unique, also among those that are `taken`.
beside <- function(taken, names) utils::tail(make.unique(c(taken, names)), length(names))

#' @rdname kestrel_kde-methods
#' @export
as.data.frame.kestrel_kde <- function(x, row.names = NULL, optional = FALSE, ...,
                                      interval = c("none", "pointwise", "simultaneous"), level = 0.95,
                                      method = c("bootstrap", "asymptotic"), B = 500) {
  check_estimate(x, "x")
  estimate_frame(x, asked_band(x, interval, level, method, B, "x"))
}

# A row for each point of an estimate. `limits`: points may be infinite.
estimate_frame <- function(x, band, limits = FALSE) {
  points <- points_frame(x, c("estimate", if (!is.null(band)) c("lower", "upper")), limits)
  at <- points[[1L]]
  points$estimate <- as.vector(x$estimate)
  if (!is.null(band)) points[c("lower", "upper")] <- band_at(x, at, band, run_options())
  points
}

#' @rdname kestrel_kde-methods
#' @export
print.kestrel_kde <- function(x, ...) {
  check_estimate(x, "x")
  cat(density_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname kestrel_kde-methods
#' @export
summary.kestrel_kde <- function(object, ...) {
  check_estimate(object, "object")
  levels <- mass <- NULL
  if (object$gridded || is_at_data(object)) {
    levels <- contour_levels(object, c(0.75, 0.5, 0.25, 0.05), approx = TRUE)
    names(levels) <- c("25%", "50%", "75%", "95%")
  }
  if (object$gridded) mass <- grid_integral(axes_of(object), object$estimate)
  structure(list(fhat = object, levels = levels, mass = mass), class = "summary.kestrel_kde")
}

#' @export
print.summary.kestrel_kde <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_kde")
  cat(density_lines(x$fhat), sep = "\n")
  if (!is.null(x$levels)) {
    cat(label_line("contours", paste0(names(x$levels), " at ", format_short(x$levels), collapse = ", ")), sep = "\n")
  }
  if (!is.null(x$mass)) {
    cat(label_line("mass on grid", format(x$mass, digits = 6)), sep = "\n")
  }
  invisible(x)
}

# "  label       text", wrapped below itself at 80 columns. Words longer than a line (names, paths) are broken.
label_line <- function(label, text) {
  text <- gsub("(\\S{64})(?=\\S)", "\\1 ", text, perl = TRUE)
  strwrap(text, width = 80, initial = sprintf("  %-13s", label), exdent = 15, prefix = "")
}

# Cut short, because do.call() puts the data themselves into a call.
call_lines <- function(call) {
  lines <- code_lines(call, 6L)
  if (length(lines) == 6L) lines[6L] <- "..."
  label_line("call", paste(lines, collapse = " "))
}

format_short <- function(value, digits = 4) vapply(value, function(one) format(one, digits = digits), "")

# Names that are too long for a table lose their middle.
shorten <- function(names, width) {
  long <- nchar(names) > width
  half <- width %/% 2L - 2L
  names[long] <- paste0(substr(names[long], 1L, half), "...", substring(names[long], nchar(names[long]) - half + 1L))
  names
}

density_lines <- function(fhat, title = "Kernel density estimate") {
  n <- sample_size(fhat)
  d <- dimension(fhat)
  size <- format(n, big.mark = ",")
  if (fhat$n_eff < n * (1 - 1e-12)) size <- paste0(size, ", weighted: effective n ", format_short(fhat$n_eff))
  remark <- if (!is.null(fhat$sketch)) ", in a sketch" else if (!has_data(fhat)) ", data not kept"
  c(
    paste0(title, ", d = ", d),
    call_lines(fhat$call),
    label_line("n", paste0(size, remark)),
    label_line("variables", paste(fhat$names, collapse = ", ")),
    label_line("kernel", if (d > 1L) paste0(fhat$kernel, ", ", fhat$kernel_type) else fhat$kernel),
    bandwidth_lines(fhat),
    label_line(if (fhat$gridded) "grid" else "points", points_text(fhat)),
    if (has_images(fhat$transform)) label_line("bounds", images_text(fhat$transform)),
    if (!keeps_units(fhat$transform)) label_line("scale", transform_text(fhat$transform)),
    # A density from a file without data does not know its engine.
    if (!is.null(fhat$engine)) {
      label_line("engine", paste0(fhat$engine, " on ", backend_text(fhat), ", ", format_short(fhat$seconds), " s"))
    },
    if (length(fhat$estimate) > 0L) {
      label_line("estimate", paste(format_short(range(fhat$estimate)), collapse = " to "))
    }
  )
}

backend_text <- function(fhat) {
  if (is.null(fhat$device)) return(fhat$backend)
  paste0(fhat$backend, " (", fhat$device, if (identical(fhat$precision, "single")) ", single precision", ")")
}

bandwidth_lines <- function(fhat) {
  if (dimension(fhat) == 1L) return(label_line("bandwidth", paste0("h = ", format_short(fhat$h))))
  matrix_lines(fhat$H)
}

# H as a small table with as many digits as fit in 80 columns; beyond six dimensions its diagonal.
matrix_lines <- function(H) {
  d <- nrow(H)
  if (d > 6L) return(label_line("bandwidth", paste("H with diagonal", paste(format_short(diag(H)), collapse = ", "))))
  for (digits in 4:2) {
    cells <- matrix(format_short(H, digits), d)
    rows <- apply(apply(cells, 2L, format, justify = "right"), 1L, paste, collapse = "  ")
    if (all(nchar(rows) <= 65L)) break
  }
  paste0(sprintf("  %-13s", c("bandwidth H", rep("", d - 1L))), rows)
}

points_text <- function(fhat) {
  if (fhat$gridded) return(axes_text(axes_of(fhat)))
  paste0(format(length(fhat$estimate), big.mark = ","), if (is_at_data(fhat)) ", the data")
}

# Sizes and limits of a grid.
axes_text <- function(axes) {
  limits <- vapply(axes, function(axis) paste0("[", paste(format_short(range(axis)), collapse = ", "), "]"), "")
  paste(format_sizes(lengths(axes)), "on", paste(limits, collapse = " x "))
}

transform_text <- function(transform) {
  if (transform$type == "probit") return("unit interval, by normal quantiles")
  paste0("positive, by log(x + ", paste(format_short(transform$adj), collapse = ", "), ")")
}
