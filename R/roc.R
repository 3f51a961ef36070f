# Kernel estimates of receiver operating characteristic (ROC) curves.

#' Kernel estimate of a ROC curve
#'
#' The receiver operating characteristic curve of a classifier that calls large values positive,
#' R(p) = P(S_1(X_2) <= p), S_1 the survival function of the negatives (Duong 2016). R(p) is the true positive rate
#' where the false positive rate is p.
#'
#' S_1 is estimated by [kcde()] from `x1`, in several dimensions as the probability of larger values in every variable.
#' Then the normal quantiles of S_1 at the rows of `x2` have the kernel distribution function F with bandwidth `hy`, and
#' R(p) = F(`qnorm(p)`). The area below R has a closed form. \pkg{ks} sums and interpolates on grids, so that its curve
#' differs near p = 0 and p = 1.
#'
#' @inheritParams kcde
#' @param x1,x2 the samples of negatives and positives: numeric vectors, or matrices or data frames with the same
#'   columns, at most three.
#' @param H1,h1 the bandwidth of S_1; that of [kcde()] if not given.
#' @param hy the bandwidth of F; that of [hpi.kcde()] if not given.
#' @param gridsize,xmin,xmax number and limits of the false positive rates; 401 from 0 to 1 if not given.
#' @param gridtype,supp accepted for scripts written for \pkg{ks}: only a linear grid, without effect.
#' @param eval.points false positive rates, instead of a grid.
#' @param positive,adj.positive TRUE if S_1 is to be estimated on the scale of logarithms, as in [kcde()].
#' @param w weights of the rows of `x1`.
#' @param x,object an object made by `kroc()`.
#' @param newdata false positive rates.
#' @param add TRUE to add the curve to a plot.
#' @param add.roc.ref TRUE to draw the diagonal, the curve of a classifier that guesses.
#' @param xlab,ylab,main,col labels of the axes, a title and a colour.
#' @param ... no further arguments of `kroc()`: other names are an error. For `plot()` graphical parameters.
#' @return `kroc()`: an object of class `c("kestrel_kroc", "kroc")`, a list with the fields of \pkg{ks}:
#'   \item{x}{the normal quantiles of S_1 at the rows of `x1`}
#'   \item{eval.points, estimate}{the false and the true positive rates}
#'   \item{h1, H1, hy}{the bandwidths}
#'   \item{indices}{`auc`, the area below the curve; `youden`, the largest difference of both rates on the grid; `LR`,
#'     the likelihood ratios there, NA for 0 / 0} and `y` (the quantiles at the rows of `x2`), `gridtype`, `gridded`,
#'     `binned`, `names`, `w`, `type`, `tail`, `call` and `seconds`. `predict()` returns true positive rates. `print()`,
#'     `summary()` and `plot()` return their argument invisibly.
#' @section Units: None: probabilities.
#' @section Errors: Those of [kcde()], and of class `kestrel_error_input` for samples of different dimensions, and false
#'   positive rates that are not between 0 and 1.
#' @section Cost: That of [kcde()] at the points of both samples. In several dimensions each takes a box of
#'   [kde_query()]: 13 seconds for 10,000 rows in each sample of two correlated variables, on one thread.
#' @references Duong, T. (2016) Non-parametric smoothed estimation of multivariate cumulative distribution and survival
#'   functions, and receiver operating characteristic curves. *Journal of the Korean Statistical Society* **45**, 33-50.
#' @seealso [kcde()], [kda()]
#' @examples
#' setosa <- iris$Sepal.Length[iris$Species == "setosa"]
#' versicolor <- iris$Sepal.Length[iris$Species == "versicolor"]
#' fit <- kroc(setosa, versicolor)
#' fit
#' plot(fit, add.roc.ref = TRUE)
#' predict(fit, 0.1)
#' @export
kroc <- function(x1, x2, H1, h1, hy, gridsize, gridtype, xmin, xmax, supp = 3.7, eval.points, binned, bgridsize,
                 positive = FALSE, adj.positive, w, verbose = NULL, ..., threads = NULL) {
  check_arguments("kroc", given_names(...), "binned")
  started <- proc.time()[["elapsed"]]
  verbose <- asked_verbose(verbose)
  grid <- check_grid(given_grid(xmin = 0, xmax = 1, supp = supp), 1L)
  if (grid$gridtype != "linear") abort_input("`gridtype` must be \"linear\", not ", describe_value(gridtype), ".")
  sample <- known_as("x1", check_sample(x1, if (!missing(w)) w))
  other <- known_as("x2", check_sample(x2))
  d <- check_same_columns(sample, other)
  if (d > 3L) abort_input("`x1` must have at most three columns for kroc(), not ", d, ".")
  gridded <- missing(eval.points)
  rates <- if (gridded) {
    grid_axes(list(lower = grid$xmin, upper = grid$xmax), grid)$axes[[1L]]
  } else {
    check_between(eval.points, 1, "eval.points")
  }
  if (min(rates) < 0 || max(rates) > 1) abort_input("`xmin` and `xmax` must be between 0 and 1.")
  given <- check_sample_bandwidth(if (!missing(H1)) H1, if (!missing(h1)) h1, d, 1L)
  negatives <- kcde(sample$x, H = given, eval.points = sample$x, positive = positive,
                    adj.positive = if (missing(adj.positive)) NULL else adj.positive, w = sample$w,
                    tail.flag = "upper.tail", verbose = verbose, threads = threads)
  y <- stats::qnorm(predict(negatives, unname(other$x), verbose = verbose))
  hy <- if (missing(hy)) bandwidth_of_quantiles(y, threads) else check_positives(hy, "hy", one = TRUE)
  estimate <- roc_at(rates, y, hy)
  best <- which.max(estimate - rates)
  indices <- list(auc = mean(stats::pnorm(-y / sqrt(1 + hy^2))), youden = estimate[best] - rates[best],
                  LR = list(minus = likelihood_ratio(1 - estimate[best], 1 - rates[best]),
                            plus = likelihood_ratio(estimate[best], rates[best])))
  structure(c(list(x = stats::qnorm(negatives$estimate), eval.points = rates, estimate = estimate, gridtype = "linear",
                   gridded = gridded, binned = FALSE, names = sample$names, w = as.vector(sample$w), type = "kroc",
                   tail = "lower.tail"), if (d == 1L) list(h1 = negatives$h),
              list(H1 = negatives$H, hy = hy, y = y, indices = indices, call = match.call(),
                   seconds = proc.time()[["elapsed"]] - started)), class = c("kestrel_kroc", "kroc"))
}

# A curve that is nowhere above the diagonal has its Youden index at an end, where both rates are 0 or both are 1.
likelihood_ratio <- function(positive, negative) if (positive == 0 && negative == 0) NA_real_ else positive / negative

# Positives beyond all negatives have quantiles that are infinite. They need no bandwidth.
bandwidth_of_quantiles <- function(y, threads) {
  finite <- y[is.finite(y)]
  if (length(unique(finite)) < 2L) {
    abort_input("`hy` must be given, because fewer than two different values of `x2` are within reach of `x1`.")
  }
  hpi.kcde(finite, threads = threads)
}

roc_at <- function(rates, y, hy) {
  finite <- y[is.finite(y)]
  below <- sum(y == -Inf)
  at <- stats::qnorm(rates)
  heard()
  sums <- if (length(finite) > 0L) {
    fhat <- list(x = finite, w = rep(1, length(finite)), kernel = "gaussian", h = hy, transform = NULL)
    length(finite) * line_probability(fhat, at, "lower.tail", run_options())
  } else {
    numeric(length(at))
  }
  # At the rate 0 even these are not counted.
  (sums + below * (rates > 0)) / length(y)
}

#' @rdname kroc
#' @export
predict.kestrel_kroc <- function(object, newdata, ..., x) {
  check_object(object, "object", "kestrel_kroc")
  points <- points_to_predict(newdata, x, ...)
  roc_at(check_between(points$value, 1, points$name), object$y, object$hy)
}

#' @rdname kroc
#' @export
print.kestrel_kroc <- function(x, ...) {
  check_object(x, "x", "kestrel_kroc")
  indices <- x$indices
  cat("Kernel estimate of a ROC curve", call_lines(x$call),
      label_line("n", paste(format(c(length(x$w), length(x$y)), big.mark = ",", trim = TRUE), collapse = " and ")),
      label_line("variables", paste(x$names, collapse = ", ")),
      label_line("area", format_short(indices$auc)), label_line("Youden index", format_short(indices$youden)),
      label_line("LR- and LR+", paste(format_short(c(indices$LR$minus, indices$LR$plus)), collapse = " and ")),
      sep = "\n")
  invisible(x)
}

#' @rdname kroc
#' @export
summary.kestrel_kroc <- function(object, ...) print.kestrel_kroc(object)

#' @rdname kroc
#' @export
plot.kestrel_kroc <- function(x, add = FALSE, add.roc.ref = FALSE, xlab = NULL, ylab = NULL, main = NULL, col = NULL,
                              ...) {
  check_object(x, "x", "kestrel_kroc")
  add <- check_flag(add, "add")
  reference <- check_flag(add.roc.ref, "add.roc.ref")
  more <- list(...)
  col <- given_or(check_graphical(col, "col"), colours$curve)[1L]
  if (add) {
    check_plot_to_add_to()
  } else {
    empty_plot(0:1, 0:1, more[!names(more) %in% c("lwd", "lty")], xlab = given_or(xlab, "False positive rate"),
               ylab = given_or(ylab, "True positive rate"), main = main)
  }
  order <- order(x$eval.points)
  drawing_with(more, {
    if (reference) graphics::lines(0:1, 0:1, col = colours$faint, lty = 2)
    look <- look_of(more, lwd = 2, lty = 1)
    do.call(graphics::lines, c(list(x$eval.points[order], x$estimate[order], col = col), look))
  })
  invisible(x)
}
