# Tests of the equality of two densities at each point of a grid.

#' Where two densities differ
#'
#' Tests at each point of a grid whether the densities of two samples are equal there (Duong 2013).
#'
#' The statistic at a point is the squared difference of the estimates divided by its variance,
#' \deqn{(\hat f_1 / (n_1 |H_1|^{1/2}) + \hat f_2 / (n_2 |H_2|^{1/2})) R, R = (4 \pi)^{-d/2},}{(f_1 / (n_1 |H_1|^(1/2))
#' + f_2 / (n_2 |H_2|^(1/2))) R, R = (4 pi)^(-d/2),} and is compared with a chi-squared distribution with one degree of
#' freedom. The densities differ where the P value is significant by the procedure of Hochberg (1988) for all points of
#' the grid. Where both estimates are 0, the statistic is 0. In \pkg{ks} (1.14) `min.ESS` has no effect.
#'
#' @inheritParams kde.test
#' @inheritParams kde
#' @param H1,H2,h1,h2 bandwidths, those of [kde()] if not given.
#' @param fhat1,fhat2 estimates made by [kde()] on one grid, in place of the samples and their bandwidths.
#' @param gridsize,supp,xmin,xmax the grid, as in [kde()]. If not given it extends by `supp` times the geometric mean of
#'   both bandwidths beyond both samples.
#' @param mean.adj TRUE to subtract the leading bias of the estimates, tr(H D^2 f) / 2 with their second derivatives,
#'   from the difference.
#' @param signif.level the level of significance.
#' @param min.ESS the smallest effective sample size n_l f_l / K_l(0) in both samples at a point that may be
#'   significant.
#' @param x an object made by `kde.local.test()`.
#' @param xlab,ylab,main labels of the axes, and a title.
#' @param col two colours, for where the first and where the second density is larger.
#' @param ... no further arguments of `kde.local.test()`: other names are an error. For `plot()` graphical parameters.
#' @return An object of class `c("kestrel_loctest", "kde.loctest")`, a list with the fields of \pkg{ks}:
#'   \item{fhat1, fhat2}{the estimates, see [kde()]}
#'   \item{chisq, pvalue, fhat.diff, var.fhat.diff}{arrays on the grid}
#'   \item{mean.fhat.diff}{the difference of tr(H D^2 f), or 0}
#'   \item{n1, n2, h1, h2, H1, H2}{the sizes of the samples and the bandwidths, `h1` and `h2` for d = 1 only}
#'   \item{fhat.diff.pos, fhat.diff.neg}{copies of the estimates whose `estimate` is 1 where the first, or the second,
#'     density is significantly larger, and 0 elsewhere}
#'   and further `names`, `signif.level`, `call` and `seconds`. `print()` and `plot()` return it invisibly.
#' @section Units: The difference is in 1 / volume.
#' @section Errors: Those of [kde.test()] and [kde()], and of class `kestrel_error_input` for estimates on different
#'   grids, and for a plot of more than two dimensions.
#' @section Cost: Two calls of [kde()].
#' @references Duong, T. (2013) Local significant differences from nonparametric two-sample tests. *Journal of
#'   Nonparametric Statistics* **25**, 635-645.
#'
#'   Hochberg, Y. (1988) A sharper Bonferroni procedure for multiple tests of significance. *Biometrika* **75**,
#'   800-802.
#' @seealso [kde.test()]
#' @examples
#' setosa <- iris[iris$Species == "setosa", 1:2]
#' virginica <- iris[iris$Species == "virginica", 1:2]
#' found <- kde.local.test(setosa, virginica)
#' found
#' plot(found)
#' @export
kde.local.test <- function(x1, x2, H1, H2, h1, h2, fhat1, fhat2, gridsize, binned, bgridsize, verbose = NULL,
                           supp = 3.7, mean.adj = FALSE, signif.level = 0.05, min.ESS, xmin, xmax, ...,
                           threads = NULL) {
  check_arguments("kde.local.test", given_names(...), c("binned", "bgridsize"))
  started <- proc.time()[["elapsed"]]
  verbose <- asked_verbose(verbose)
  level <- check_level(signif.level, "signif.level")
  adjusted <- check_flag(mean.adj, "mean.adj")
  least <- if (missing(min.ESS)) 0 else check_positive(min.ESS, "min.ESS")
  pair <- if (!missing(fhat1) || !missing(fhat2)) {
    if (missing(fhat1) || missing(fhat2)) abort_input("`fhat1` and `fhat2` must both be given.")
    check_one_grid(check_estimate(fhat1, "fhat1"), check_estimate(fhat2, "fhat2"))
  } else {
    samples <- check_two_samples(x1, x2)
    given <- list(check_sample_bandwidth(if (!missing(H1)) H1, if (!missing(h1)) h1, ncol(samples[[1L]]$x), 1L),
                  check_sample_bandwidth(if (!missing(H2)) H2, if (!missing(h2)) h2, ncol(samples[[1L]]$x), 2L))
    grid <- given_grid(supp = supp, streamed = FALSE)
    estimates_on_one_grid(samples, given, grid, threads, verbose)
  }
  n <- vapply(pair, sample_size, 0L)
  d <- dimension(pair[[1L]])
  volume <- vapply(pair, function(fhat) prod(diag(bandwidth_root(fhat))), 0)
  bias <- if (adjusted) bending_on_grid(pair[[1L]], threads) - bending_on_grid(pair[[2L]], threads) else 0
  difference <- pair[[1L]]$estimate - pair[[2L]]$estimate - bias / 2
  spread <- (4 * pi)^(-d / 2) *
    (pair[[1L]]$estimate / (n[1L] * volume[1L]) + pair[[2L]]$estimate / (n[2L] * volume[2L]))
  chisq <- difference^2 / spread
  chisq[spread == 0] <- 0
  p <- stats::pchisq(chisq, 1, lower.tail = FALSE)
  significant <- stats::p.adjust(p, "hochberg") <= level
  in_kernels <- function(k) n[k] * pair[[k]]$estimate * volume[k] * (2 * pi)^(d / 2)
  effective <- pmin(in_kernels(1L), in_kernels(2L))
  significant <- significant & effective >= least
  marked <- function(fhat, where) {
    fhat$estimate[] <- as.numeric(significant & where)
    fhat
  }
  sizes <- if (d == 1L) list(h1 = pair[[1L]]$h, h2 = pair[[2L]]$h)
  structure(c(list(fhat1 = pair[[1L]], fhat2 = pair[[2L]], chisq = chisq, pvalue = p, fhat.diff = difference,
                   mean.fhat.diff = bias, var.fhat.diff = spread, n1 = n[1L], n2 = n[2L]), sizes,
              list(H1 = pair[[1L]]$H, H2 = pair[[2L]]$H, fhat.diff.pos = marked(pair[[1L]], difference > 0),
                   fhat.diff.neg = marked(pair[[2L]], difference < 0), names = pair[[1L]]$names,
                   signif.level = level, call = match.call(), seconds = proc.time()[["elapsed"]] - started)),
            class = c("kestrel_loctest", "kde.loctest"))
}

# tr(H D^2 f) on the grid of an estimate, twice its leading bias.
bending_on_grid <- function(fhat, threads) {
  sample <- list(x = sample_matrix(fhat), w = fhat$w, names = fhat$names)
  H <- as.matrix(fhat$H)
  made <- new_derivative(sample, H, 2L, TRUE)
  made <- derivatives_on_grid(made, list(axes = axes_of(fhat), gridtype = fhat$gridtype),
                              c(run_options(threads), engine = "auto"))
  if (ncol(H) == 1L) return(H[[1L]] * made$estimate)
  Reduce(`+`, Map(`*`, made$estimate, as.vector(H)))
}

check_one_grid <- function(fhat1, fhat2) {
  for (name in c("fhat1", "fhat2")) {
    fhat <- get(name)
    check_summable(fhat)
    if (!fhat$gridded) abort_input("`", name, "` must be an estimate on a grid, not one at given points.")
    if (is_compact(fhat$kernel) || !is.null(fhat$transform)) {
      abort_input("`", name, "` must have the Gaussian kernel and no transform, as the variance of the difference has.")
    }
  }
  if (!isTRUE(all.equal(axes_of(fhat1), axes_of(fhat2), tolerance = 1e-12, check.attributes = FALSE))) {
    abort_input("`fhat1` and `fhat2` must be on one grid.")
  }
  list(fhat1, fhat2)
}

estimates_on_one_grid <- function(samples, given, grid, threads, verbose) {
  d <- ncol(samples[[1L]]$x)
  if (d > most_on_grids && is.null(grid$gridsize)) {
    abort_input("`gridsize` must be given for ", d, " variables, for which there is no default grid.")
  }
  grid <- check_grid(grid, d)
  run <- density_options(threads, "cpu", "auto", 1e-12, cuda = TRUE)
  H <- Map(function(sample, H) {
    if (!is.null(H)) return(H)
    resolve_bandwidth(list(), sample, "gaussian", FALSE, selecting(run, d), verbose)$H
  }, samples, given)
  limits <- grid_limits(rbind(samples[[1L]]$x, samples[[2L]]$x),
                        diag(sqrt(diag(as.matrix(H[[1L]])) * diag(as.matrix(H[[2L]]))), d), grid)
  axes <- grid_axes(limits, grid)
  Map(function(sample, H) {
    fhat <- new_density(sample, as.matrix(H), "gaussian", "radial", NULL, run)
    fhat <- estimate_on_grid(fhat, axes, run, verbose)
    fhat$cont <- contour_levels(fhat, (99:1) / 100, TRUE, run)
    fhat$call <- quote(kde.local.test())
    fhat$seconds <- 0
    fhat
  }, samples, H)
}

#' @rdname kde.local.test
#' @export
print.kestrel_loctest <- function(x, ...) {
  check_object(x, "x", "kestrel_loctest")
  share <- function(fhat) paste(format_short(100 * mean(fhat$estimate)), "% of the grid")
  cat("Test of the equality of two densities at points", call_lines(x$call),
      label_line("n", paste(format(c(x$n1, x$n2), big.mark = ",", trim = TRUE), collapse = " and ")),
      label_line("grid", axes_text(axes_of(x$fhat1))),
      label_line("1st larger", share(x$fhat.diff.pos)), label_line("2nd larger", share(x$fhat.diff.neg)),
      label_line("level", format_short(x$signif.level)), sep = "\n")
  invisible(x)
}

#' @rdname kde.local.test
#' @export
plot.kestrel_loctest <- function(x, xlab = NULL, ylab = NULL, main = NULL, col = NULL, ...) {
  check_object(x, "x", "kestrel_loctest")
  d <- length(x$names)
  if (d > 2L) abort_input("`x` must have one or two dimensions to be plotted, not ", d, ".")
  more <- list(...)
  col <- rep_len(given_or(check_graphical(col, "col"), c(colours$curve, colours$other)), 2L)
  axes <- axes_of(x$fhat1)
  regions <- list(x$fhat.diff.pos$estimate, x$fhat.diff.neg$estimate)
  names <- if (d == 1L) c(variable_label(x$fhat1), "Density") else plane_labels(x$fhat1)
  heights <- range(0, x$fhat1$estimate, x$fhat2$estimate)
  empty_plot(axes[[1L]], if (d == 1L) heights else axes[[2L]], more, xlab = given_or(xlab, names[1L]),
             ylab = given_or(ylab, names[2L]), main = main)
  drawing_with(more, for (k in 1:2) {
    fhat <- if (k == 1L) x$fhat1 else x$fhat2
    if (d == 1L) {
      graphics::lines(axes[[1L]], fhat$estimate, col = col[k], lwd = 2, lty = k)
      draw_region_on_axis(replace(fhat, "estimate", list(regions[[k]])), 0.5, 0, 6, col[k])
    } else {
      if (any(regions[[k]] > 0)) fill_levels(axes, regions[[k]], 0.5, grDevices::adjustcolor(col[k], 0.5))
      levels <- contour_levels(fhat, c(0.25, 0.5, 0.75), TRUE)
      graphics::contour(axes[[1L]], axes[[2L]], fhat$estimate, levels = levels, add = TRUE, drawlabels = FALSE,
                        col = col[k], lty = k)
    }
  })
  if (room_above(1, main)) draw_map_key(paste(c("x1", "x2"), "significantly larger"), col)
  invisible(x)
}
