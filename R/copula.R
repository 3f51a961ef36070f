# Kernel estimates of copulas.

#' Kernel estimate of a copula
#'
#' The distribution function of the variables on the scale of their own distribution functions,
#' \deqn{C(u) = \hat F(\hat F_1^{-1}(u_1), ..., \hat F_d^{-1}(u_d)),}{C(u) = F(F_1^(-1)(u_1), ..., F_d^(-1)(u_d)),}
#' with the estimate F of [kcde()] with bandwidth `H`, and F_k of variable k alone with bandwidth `hs[k]`.
#'
#' Both are integrals of the kernel, and the quantiles are solved exactly. \pkg{ks} sums over grids.
#'
#' @inheritParams kcde
#' @param x a matrix or data frame with n rows and two or three columns; in `print()` and `plot()` an object made by
#'   `kcopula()`.
#' @param H bandwidth matrix; that of \code{\link{Hpi.kcde}()} if not given.
#' @param hs bandwidths of the variables alone; those of [hpi.kcde()] if not given.
#' @param gridsize,gridtype,xmin,xmax,supp the grid in the unit cube, as in [kcde()]: from 0 to 1 if not given.
#'   `gridtype` must be `"linear"`, and `supp` has no effect.
#' @param eval.points points in the unit cube, instead of a grid: for d columns a vector of length d, or a matrix or
#'   data frame.
#' @param marginal `"kernel"`, or `"empirical"` for the empirical distribution functions in place of F_k.
#' @param ... no further arguments of `kcopula()`: other names are an error. For `plot()` more arguments, see
#'   [plot.kestrel_kcde()].
#' @return An object of class `c("kestrel_kcopula", "kcopula")`, a list with the fields of \pkg{ks}: `x` (the data on
#'   the unit scale), `x.orig`, `eval.points`, `estimate`, `H`, `hs`, `gridtype`, `gridded`, `binned`, `names`, `w`,
#'   `type`, `tail`, `marginal`; and `call` and `seconds`. `print()` and `plot()` return it invisibly.
#' @section Units: None: probabilities.
#' @section Errors: Those of [kcde()], and of class `kestrel_error_input` for one column, for bandwidths `hs` of another
#'   number, and for points outside of the unit cube.
#' @section Cost: That of [kcde()] on a grid without equal steps, and of d quantiles for each point of an axis.
#' @references Duong, T. (2016) Non-parametric smoothed estimation of multivariate cumulative distribution and survival
#'   functions, and receiver operating characteristic curves. *Journal of the Korean Statistical Society* **45**, 33-50.
#' @seealso [kcde()]
#' @examples
#' copula <- kcopula(faithful, gridsize = 21)
#' copula
#' plot(copula)
#' @export
kcopula <- function(x, H, hs, gridsize, gridtype, xmin, xmax, supp = 3.7, eval.points, binned, bgridsize, w,
                    marginal = "kernel", verbose = NULL, ..., na.action = stats::na.fail, threads = NULL) {
  check_arguments("kcopula", given_names(...), "binned")
  started <- proc.time()[["elapsed"]]
  grid <- given_grid(xmin = 0, xmax = 1, supp = supp)
  verbose <- asked_verbose(verbose)
  marginal <- check_choice(marginal, c("kernel", "empirical"), "marginal")
  run <- run_options(threads)
  sample <- check_sample(x, if (!missing(w)) w, na.action)
  d <- ncol(sample$x)
  if (!d %in% 2:3) abort_input("`x` must have two or three columns for kcopula(), not ", d, ".")
  grid <- check_grid(grid, d)
  if (any(grid$gridtype != "linear")) {
    abort_input("`gridtype` must be \"linear\", not ", describe_value(grid$gridtype), ".")
  }
  points <- if (!missing(eval.points)) in_order_of(eval.points, sample$names, "eval.points")
  axes <- if (is.null(points)) grid_axes(list(lower = grid$xmin, upper = grid$xmax), grid)$axes
  at <- if (is.null(points)) axes else asplit(check_points(points, d, "eval.points"), 2L)
  if (any(unlist(at) < 0 | unlist(at) > 1)) {
    abort_input("`", if (is.null(points)) "xmin` and `xmax" else "eval.points", "` must be between 0 and 1.")
  }
  line <- with_data(sample[c("x", "w", "names")])
  H <- distribution_bandwidth(list(H = if (!missing(H)) H), line, "gaussian", FALSE, run, verbose)
  columns <- lapply(seq_len(d), function(k) {
    list(x = sample$x[, k, drop = FALSE], w = sample$w, names = sample$names[k])
  })
  hs <- if (!missing(hs)) {
    check_length(check_positives(hs, "hs"), d, "hs", "`x`")
  } else {
    vapply(columns, function(one) {
      sqrt(distribution_bandwidth(list(), with_data(one), "gaussian", FALSE, run, verbose)[[1L]])
    }, 0)
  }
  found <- with_progress(verbose, "Copula", function(progress) {
    run <- c(run, progress = progress)
    quantiles <- Map(marginal_quantiles, at, columns, hs, MoreArgs = list(marginal = marginal, run = run))
    joint <- new_distribution(sample, H, "gaussian", "radial", NULL, "lower.tail")
    estimate <- if (is.null(points)) probability_on_axes(joint, quantiles, "lower.tail", run) else
      probability_at(joint, do.call(cbind, quantiles), "lower.tail", run, "H")
    list(estimate = estimate, x = vapply(seq_len(d), function(k) {
      marginal_ranks(columns[[k]], hs[k], marginal, run)
    }, numeric(nrow(sample$x))))
  })
  structure(list(x = found$x, eval.points = if (is.null(points)) axes else points, estimate = found$estimate,
                 H = unname(H), gridtype = grid$gridtype, gridded = is.null(points), binned = FALSE,
                 names = sample$names, w = sample$w, type = "kcopula", tail = "lower.tail", x.orig = sample$x, hs = hs,
                 marginal = marginal, na.action = sample$na.action, call = match.call(),
                 seconds = proc.time()[["elapsed"]] - started), class = c("kestrel_kcopula", "kcopula"))
}

# Quantiles of one variable; beyond all data for 0 and 1.
marginal_quantiles <- function(u, column, h, marginal, run) {
  u <- as.vector(u)
  if (marginal == "kernel") {
    fhat <- new_density(column, matrix(h^2), "gaussian", "radial", NULL, list())
    return(distribution_quantiles_cpp(data_on_line(fhat), line_task(fhat, u), run))
  }
  order <- order(column$x)
  reached <- cumsum(column$w[order]) / sum(column$w)
  # The least observation whose share is at least u; rounding in the shares does not count.
  place <- 1L + findInterval(u * (1 - 1e-12), reached, left.open = TRUE)
  value <- column$x[order][pmin(place, length(reached))]
  ifelse(u <= 0, -Inf, value)
}

marginal_ranks <- function(column, h, marginal, run) {
  if (marginal == "kernel") {
    fhat <- new_density(column, matrix(h^2), "gaussian", "radial", NULL, list())
    return(line_probability(fhat, column$x[, 1L], "lower.tail", run))
  }
  order <- order(column$x)
  sorted <- column$x[order]
  (cumsum(column$w[order]) / sum(column$w))[findInterval(column$x, sorted)]
}

#' @rdname kcopula
#' @export
print.kestrel_kcopula <- function(x, ...) {
  check_object(x, "x", "kestrel_kcopula")
  cat(paste0("Kernel estimate of a copula, d = ", length(x$names)), call_lines(x$call),
      label_line("n", format(length(x$w), big.mark = ",")),
      label_line("variables", paste(x$names, collapse = ", ")),
      matrix_lines(as.matrix(x$H)), label_line("margins", paste0(x$marginal, if (x$marginal == "kernel") {
        paste0(", h = ", paste(format_short(x$hs), collapse = ", "))
      })),
      label_line(if (x$gridded) "grid" else "points", if (x$gridded) axes_text(x$eval.points) else
        format(length(x$estimate), big.mark = ",")), sep = "\n")
  invisible(x)
}

#' @rdname kcopula
#' @export
plot.kestrel_kcopula <- function(x, ...) {
  check_object(x, "x", "kestrel_kcopula")
  if (!x$gridded || length(x$names) != 2L) {
    abort_input("`x` must be an estimate on a grid of two dimensions to be plotted.")
  }
  sample <- list(x = x$x, w = x$w, names = x$names)
  shown <- new_distribution(sample, diag(2), "gaussian", "radial", NULL, "lower.tail")
  shown[c("eval.points", "estimate", "gridtype")] <- x[c("eval.points", "estimate", "gridtype")]
  shown$gridded <- TRUE
  shown$seconds <- 0
  shown$call <- x$call
  more <- list(...)
  do.call(plot, c(list(shown), more, if (is.null(more$zlab)) list(zlab = "Copula")))
  invisible(x)
}
