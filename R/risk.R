# Ratios of the densities of two samples, such as cases and controls.

#' Relative risk of two point patterns
#'
#' The logarithm of the ratio of two densities, log(f1 / f2), on a grid of one or two dimensions, such as those of the
#' places of cases and of controls (Kelsall & Diggle 1995). P values show where it is above or below zero.
#'
#' Both densities have the same bandwidth, because then their biases cancel where they are equal. By default that is the
#' bandwidth of [kde()] for both samples together.
#'
#' `p.value` is that of the hypothesis that the ratio is one, against a larger one. With `B = 0` it is normal (Hazelton
#' & Davies 2009): log(f1 / f2) has variance R(K) |H|^(-1/2) (1 / n1 + 1 / n2) / f, with f the density of both samples
#' together and R(K) the integral of the squared kernel. With `B` permutations of the labels it is (1 + m) / (B + 1), m
#' the number of permutations whose log ratio is at least as large. This is exact at each point, whatever the sizes of
#' the samples. Neither is corrected for the number of points.
#'
#' Where both densities underflow, far from all data, both values are NA.
#'
#' @param x1,x2 the samples: vectors, matrices or data frames with one or two columns, or points of package \pkg{sf} in
#'   one projected system (see [maps]).
#' @param H,h bandwidth of both densities, as in [kde()].
#' @param B the number of permutations; 0 for normal P values.
#' @param gridsize,xmin,xmax,supp the grid, as in [kde()].
#' @param threads,verbose as in [kde()].
#' @param x an object made by `kde_risk()`.
#' @param level `plot()`: the level of the tolerance regions whose borders are drawn: `p.value` below it (solid), or
#'   above 1 - `level` (dashed). On a line their points are marked.
#' @param xlab,ylab,main labels.
#' @param row.names,optional not used; arguments of the generic.
#' @param ... no further arguments of `kde_risk()`: other names are an error. For `plot()` graphical parameters of
#'   [graphics::plot.default()] or [graphics::contour()].
#' @return `kde_risk()`: an object of class `"kestrel_risk"`, a list with
#'   \item{eval.points}{the axis, or a list of two axes}
#'   \item{estimate}{log(f1 / f2), a vector or a matrix}
#'   \item{p.value}{against larger ratios, of the same form}
#'   \item{fhat1, fhat2}{both densities, as made by [kde()]}
#'   and `H`, `n1`, `n2`, `B`, `names`, `gridtype`, `gridded`, `call`, `seconds`.
#'
#'   `as.data.frame()` returns the points, `estimate` and `p.value`. `print()` and `plot()` return their argument
#'   invisibly.
#' @section Units: The log ratio and the P values have none.
#' @section Errors: Those of [kde()]. Errors of class `kestrel_error_input` are also for samples with more than two
#'   columns, different numbers of columns or different coordinate reference systems.
#' @section Cost: Three densities on the grid, and two for each permutation.
#' @references Kelsall, J.E. & Diggle, P.J. (1995) Kernel estimation of relative risk. *Bernoulli* **1**, 3-16.
#'
#'   Hazelton, M.L. & Davies, T.M. (2009) Inference based on kernel estimates of the relative risk function in
#'   geographical epidemiology. *Biometrical Journal* **51**, 98-109.
#' @seealso [kde.local.test()] for the difference of two densities
#' @examples
#' deep <- quakes$depth > 400
#' risk <- kde_risk(quakes[deep, 1:2], quakes[!deep, 1:2], gridsize = 51)
#' risk
#' plot(risk)
#' @export
kde_risk <- function(x1, x2, H, h, B = 0, gridsize, xmin, xmax, supp = 3.7, threads = NULL, verbose = NULL, ...) {
  check_arguments("kde_risk", given_names(...))
  started <- proc.time()[["elapsed"]]
  verbose <- asked_verbose(verbose)
  B <- check_count(B, "B", 0L)
  given <- c(if (!missing(H)) list(H = H), if (!missing(h)) list(h = h))
  grid <- c(if (!missing(gridsize)) list(gridsize = gridsize), if (!missing(xmin)) list(xmin = xmin),
            if (!missing(xmax)) list(xmax = xmax), list(supp = supp))
  places <- lapply(list(x1 = x1, x2 = x2), function(x) if (is_spatial(x)) coordinates_of(x) else list(points = x))
  check_one_crs(places[[1L]], places[[2L]], names(places))
  samples <- Map(function(name, place) known_as(name, check_sample(place$points)), names(places), places)
  d <- check_same_columns(samples[[1L]], samples[[2L]])
  if (d > 2L) abort_input("`x1` must have one or two columns, not ", d, ".")
  n <- vapply(samples, function(sample) nrow(sample$x), 0L)
  both <- rbind(samples[[1L]]$x, samples[[2L]]$x)
  pooled <- do.call(kde, c(list(both, compute.cont = FALSE, verbose = FALSE, threads = threads), given, grid),
                    quote = TRUE)
  on_grid <- function(rows) {
    sample <- list(x = both[rows, , drop = FALSE], w = ones_cpp(length(rows)), names = samples[[1L]]$names)
    estimate_on_grid(gaussian_density(sample, as.matrix(pooled$H)),
                     list(axes = axes_of(pooled), gridtype = pooled$gridtype), run_options(threads, "cpu"))
  }
  log_ratio <- function(first) log(on_grid(first)$estimate) - log(on_grid(setdiff(seq_len(sum(n)), first))$estimate)
  first <- seq_len(n[[1L]])
  estimates <- list(on_grid(first), on_grid(n[[1L]] + seq_len(n[[2L]])))
  ratio <- log(estimates[[1L]]$estimate) - log(estimates[[2L]]$estimate)
  ratio[is.nan(ratio)] <- NA
  p <- if (B == 0L) {
    variance <- (4 * pi)^(-d / 2) / prod(diag(bandwidth_root(pooled))) * sum(1 / n) / pooled$estimate
    stats::pnorm(ratio / sqrt(variance), lower.tail = FALSE)
  } else {
    with_progress(verbose, "Permutations", function(progress) {
      above <- 0
      # The sums are in another order. A ratio is infinite where the second density is zero.
      least <- ifelse(is.finite(ratio), ratio - 1e-9 * abs(ratio), ratio)
      for (b in seq_len(B)) {
        heard()
        drawn <- log_ratio(sample.int(sum(n), n[[1L]]))
        above <- above + (is.nan(drawn) | drawn >= least)
      }
      (1 + above) / (B + 1)
    })
  }
  # Where the pooled density is zero in doubles the variance is infinite, and there is no level.
  p[is.na(ratio) | is.nan(p)] <- NA
  for (k in 1:2) estimates[[k]][c("names", "call", "seconds")] <- list(samples[[1L]]$names, quote(kde_risk()), 0)
  made <- list(eval.points = pooled$eval.points, estimate = ratio, p.value = p, fhat1 = estimates[[1L]],
               fhat2 = estimates[[2L]], H = pooled$H, n1 = n[[1L]], n2 = n[[2L]], B = B, names = samples[[1L]]$names,
               gridtype = pooled$gridtype, gridded = TRUE, call = match.call())
  made$crs <- places[[1L]]$crs
  made$seconds <- proc.time()[["elapsed"]] - started
  structure(made, class = "kestrel_risk")
}

#' @rdname kde_risk
#' @export
print.kestrel_risk <- function(x, ...) {
  check_object(x, "x", "kestrel_risk")
  P <- x$p.value[!is.na(x$p.value)]
  cat("Relative risk: the log ratio of two densities", call_lines(x$call),
      label_line("n", paste(format(x$n1, big.mark = ","), "and", format(x$n2, big.mark = ","))),
      label_line("variables", paste(x$names, collapse = ", ")),
      if (length(x$names) == 1L) label_line("bandwidth", paste0("h = ", format_short(sqrt(x$H)))) else
        matrix_lines(x$H),
      label_line("grid", axes_text(axes_of(x))),
      label_line("log ratio", paste(format_short(range(x$estimate[is.finite(x$estimate)])), collapse = " to ")),
      label_line("P values", if (x$B > 0) paste("by", x$B, "permutations") else "normal"),
      label_line("at 5 %", paste(sum(P <= 0.05), "of", length(P), "points above,", sum(P >= 0.95), "below")),
      sep = "\n")
  invisible(x)
}

#' @rdname kde_risk
#' @export
as.data.frame.kestrel_risk <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_risk")
  cbind(points_frame(x, c("estimate", "p.value")), estimate = as.vector(x$estimate), p.value = as.vector(x$p.value))
}

#' @rdname kde_risk
#' @export
plot.kestrel_risk <- function(x, level = 0.05, xlab = NULL, ylab = NULL, main = NULL, ...) {
  check_object(x, "x", "kestrel_risk")
  level <- check_level(level)
  axes <- axes_of(x)
  finite <- is.finite(x$estimate)
  height <- replace(x$estimate, !finite, NA)
  xlab <- given_or(xlab, x$names[1L])
  if (length(axes) == 1L) {
    graphics::plot(axes[[1L]], height, type = "l", xlab = xlab, ylab = given_or(ylab, "Log ratio"), main = main,
                   col = colours$curve, ...)
    graphics::abline(h = 0, col = colours$faint)
    marked <- finite & (x$p.value <= level | x$p.value >= 1 - level)
    graphics::points(axes[[1L]][marked], height[marked], pch = 16, cex = 0.5, col = colours$mark)
    return(invisible(x))
  }
  graphics::contour(axes[[1L]], axes[[2L]], height, xlab = xlab, ylab = given_or(ylab, x$names[2L]), main = main,
                    col = colours$curve, ...)
  for (k in 1:2) {
    graphics::contour(axes[[1L]], axes[[2L]], x$p.value, levels = c(level, 1 - level)[k], lty = k, add = TRUE, lwd = 2,
                      drawlabels = FALSE, col = colours$mark)
  }
  invisible(x)
}
