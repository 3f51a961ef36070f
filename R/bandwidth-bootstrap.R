# The bandwidth by smoothed bootstrap (Faraway & Jhun 1990; Lopez-Novoa 2015, ch. 8).

#' Bandwidth by smoothed bootstrap
#'
#' The bandwidth of the radial Epanechnikov kernel for which estimates from samples of a reference estimate come closest
#' to that reference. For each of some bandwidths h and each of `B` replicates the integrated squared error is
#' \deqn{\epsilon_b(h) = \int (\hat f(x; h_0) - \hat f^*_b(x; h))^2 dx.}{e_b(h) = int (fhat(x; h0) - fhat*_b(x; h))^2
#' dx.}
#' Here fhat(.; h0) is the estimate from the data and fhat*_b the estimate from the replicate's sample. The h with the
#' smallest median error is returned.
#'
#' A replicate's sample has as many rows as the data. With weights the number is the effective sample size, rounded. The
#' rows are drawn with replacement, and h0 L u is added to each, with S = L L' the sample covariance and u drawn from
#' the kernel. All bandwidths share the sample. S is always the matrix of the data. `Hboot()` takes `h0` and `h` as
#' multiples of its root, H = h^2 S. `hboot()`, for one variable, takes them in the units of `x`. The integral is the
#' trapezoid rule on a grid with equal steps, which by default is so large that no kernel leaves it. All densities on it
#' are exact (see [kde()]).
#'
#' No replicate has the details that a larger `h0` smooths away. So the result follows `h0` to some degree, and `plot()`
#' shows how flat the curve is.
#'
#' @inheritParams kde
#' @param x a numeric vector (d = 1), or a matrix or data frame with n rows and d columns; at most six.
#' @param h0 the reference bandwidth, a positive number; if NULL, that for normal data (see [kde()]).
#' @param h bandwidths to compare, a vector of positive numbers; if NULL, 31 from `h0` / 8, or where
#'   the grid becomes too coarse, to 3/2 `h0`.
#' @param B number of replicates.
#' @param gridsize,xmin,xmax,step the grid of the integral, as in [kde()]; its default limits are (h0 + max(h))
#'   sqrt(S_kk) beyond the data.
#' @param w weights, one for each row of `x`, non-negative: rows are drawn in proportion to them, and the reference
#'   estimate has them.
#' @return An object of class `"kestrel_boot"`, a list:
#'   \item{h, H}{the bandwidth with the smallest median error, and its matrix (a number when d = 1), for [kde()]}
#'   \item{h0}{the reference bandwidth}
#'   \item{curve}{a data frame with the `min`, 2.5 % (`lower`), `median`, 97.5 % (`upper`) and `max` of the errors for
#'     each `h`, in units of 1 / volume}
#'   \item{best}{the h at which each of these is smallest}
#'   \item{errors}{a matrix with one row for each replicate and one column for each bandwidth}
#'   \item{axes}{the axes of the grid}
#'   \item{convergence}{0, or 1 if the smallest median is at an end of the range}
#'   and `B`, `n`, `n_eff`, `names`, `kernel`, `call`, `seconds`.
#'
#'   `summary()` shows the whole curve, and `plot()` draws it with the band from 2.5 to 97.5 %.
#' @section Random numbers: [set.seed()] makes a result reproducible. It is the same for any number of threads.
#' @section Errors: The errors of [Hns()]. Errors of class `kestrel_error_input` are also for bandwidths that are not
#'   positive. The class is `kestrel_error_memory` for a grid, or samples of all threads, above memory.
#' @section Warnings: Warnings of class `kestrel_warning_search` are for a smallest median at an end of the range of
#'   `h`. The class is `kestrel_warning_grid` for a grid that is out of reach of the data, or too coarse for the
#'   narrowest bandwidth (see [kde()]).
#' @section Cost: For each replicate, n times the points that a kernel covers and as many draws. Up to twelve bandwidths
#'   none of which is more than twice another are done in one pass. Memory: four numbers for each point of the grid, 3
#'   d + 2 for each row of the sample in each thread, and about twenty for each row of the data (two variables).
#' @references Faraway, J.J. & Jhun, M. (1990) Bootstrap choice of bandwidth for density estimation. *Journal of the
#'   American Statistical Association* **85**, 1119-1122.
#'
#'   Lopez-Novoa, U. (2015) *Contributions to the Efficient Use of General Purpose Coprocessors: Kernel Density
#'   Estimation as Case Study*. PhD thesis, University of the Basque Country, ch. 8.
#' @seealso [pdf_score()], [kde()]
#' @examples
#' set.seed(1)
#' boot <- Hboot(faithful, B = 20, gridsize = 40, h = seq(0.2, 0.8, by = 0.1))
#' boot
#' plot(boot)
#' fhat <- kde(faithful, H = boot$H, kernel = "epanechnikov")
#' @export
Hboot <- function(x, h0 = NULL, h = NULL, B = 500, gridsize = NULL, xmin = NULL, xmax = NULL, step = NULL, ...,
                  w = NULL, na.action = stats::na.fail, threads = NULL, verbose = NULL) {
  check_arguments("Hboot", given_names(...))
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  sample <- selector_sample(x, w, na.action)
  grid <- list(gridsize = gridsize, xmin = xmin, xmax = xmax, step = step)
  boot <- smoothed_bootstrap(sample, 1, list(h0 = h0, h = h), B, grid, threads,
                             asked_verbose(verbose))
  finish_boot(boot, call, started)
}

#' @rdname Hboot
#' @export
hboot <- function(x, h0 = NULL, h = NULL, B = 500, gridsize = NULL, xmin = NULL, xmax = NULL, step = NULL, ...,
                  w = NULL, na.action = stats::na.fail, threads = NULL, verbose = NULL) {
  check_arguments("hboot", given_names(...))
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  sample <- selector_sample(x, w, na.action)
  check_one_column(sample, "hboot", "Hboot")
  grid <- list(gridsize = gridsize, xmin = xmin, xmax = xmax, step = step)
  boot <- smoothed_bootstrap(sample, sqrt(sample$cov[1L, 1L]), list(h0 = h0, h = h), B, grid, threads,
                             asked_verbose(verbose))
  finish_boot(boot, call, started)
}

# `unit`: the unit of the given bandwidths, as a multiple of the root of the covariance.
smoothed_bootstrap <- function(sample, unit, given, B, grid, threads, verbose) {
  d <- ncol(sample$x)
  if (d > 6L) abort_input("`x` must have at most 6 columns for a smoothed bootstrap, not ", d, ".")
  run <- density_options(threads, "cpu", "auto", 1e-12)
  B <- check_count(B, "B")
  h0 <- if (is.null(given$h0)) reference_scale(sample$n, d, "epanechnikov") * unit else
    check_positives(given$h0, "h0", one = TRUE)
  h <- if (is.null(given$h)) h0 * c(1 / 8, 3 / 2) else sort(unique(check_positives(given$h, "h")))
  grid <- check_grid(c(grid, supp = 1), d)
  axes <- grid_axes(grid_limits(sample$x, ((h0 + max(h)) / unit)^2 * sample$cov, grid), grid)$axes
  if (is.null(given$h)) h <- default_bandwidths(h, h0, sample, unit, axes)
  check_boot_memory(lengths(axes), round(sample$n), d, run$threads)
  check_errors_memory(B, length(h))
  key <- boot_key()
  if (isTRUE(verbose)) {
    inform(sprintf("%d bandwidths, %d replicates of %s samples, grid %s.", length(h), B,
                   format(round(sample$n), big.mark = ","), format_sizes(lengths(axes))))
  }
  errors <- with_progress(verbose, "Smoothed bootstrap", function(progress) {
    boot_errors(sample, axes, h0 / unit, h / unit, B, key, run, progress)
  })
  curve <- error_curve(h, errors)
  best <- vapply(curve[-1L], function(statistic) h[which.min(statistic)], 0)
  H <- (best[["median"]] / unit)^2 * sample$cov
  list(h = best[["median"]], H = if (d == 1L) H[1L, 1L] else H, h0 = h0, curve = curve, best = best, errors = errors,
       B = B, axes = axes, n = length(sample$w), n_eff = sample$n, names = sample$names, kernel = "epanechnikov",
       convergence = if (length(h) > 1L && best[["median"]] %in% range(h)) 1L else 0L)
}

# Bandwidths in equal ratios. The best one is 0.5 to 0.9 `h0` for the samples in the test of this range, and smaller the
# less normal the data are. Bandwidths for which the grid is too coarse are left out, but not those above 0.8 `h0`.
default_bandwidths <- function(range, h0, sample, unit, axes) {
  d <- length(axes)
  reached <- points_reached(boot_density(sample, h0 / unit, list()), axes)
  least <- min(max(range[1L], h0 * 1.01 / reached^(1 / d)), 0.8 * h0)
  exp(seq(log(least), log(range[2L]), length.out = 31L))
}

boot_density <- function(sample, h, run) {
  new_density(sample[c("x", "w", "names")], h^2 * sample$cov, "epanechnikov", "radial", NULL, run)
}

# Memory for the reference, for computing it, and for the core's copy of it, in rows of whole vectors. And for each
# thread a sample of n rows: as drawn, and before and after sorting by the pieces of an axis, with the sums and piece of
# each row.
check_boot_memory <- function(sizes, n, d, threads) {
  of_grid <- 8 * 4 * prod(sizes)
  check_memory(sizes, of_grid)
  needed <- of_grid + threads * n * (8 * (d + 2 * (max(d, 2) + 1)) + 4)
  check_fits(needed, "`threads` must be few enough for a sample of each to fit in memory: ", threads, " of ",
             format(n, big.mark = ","), " rows need ")
}

# Memory for the errors and for a copy of them to sort.
check_errors_memory <- function(B, count) {
  needed <- 2 * 8 * B * count
  check_fits(needed, "`B` must be few enough for the errors of all replicates to fit in memory: ",
             format(B, big.mark = ","), " at ", count, " bandwidths need ")
}

# Integrated squared errors, one row a replicate, one column a bandwidth, in units of 1 / volume. Computed in units near
# those of the data, since squares of densities may overflow.
boot_errors <- function(sample, axes, h0, h, B, key, run, progress) {
  unit <- near_units(sample$cov)
  sample <- divided_sample(sample, 0 * sample$mean, unit)
  scaled <- Map(`/`, axes, unit)
  if (any(vapply(scaled, function(axis) max(abs(axis)), 0) / min(h0, h) > 1e290)) {
    abort_input("`xmin` and `xmax` must be within 1e290 bandwidths of zero.")
  }
  bare <- scaled_boot_errors(sample, scaled, h0, h, B, key, run, progress)
  errors <- per_volume(bare, unit)
  if (!all(is.finite(errors)) || any((errors < .Machine$double.xmin) & bare > 0)) {
    abort_input("`x` must be in units in which squared errors, in 1 / volume, are within the range of numbers; its ",
                "standard deviations are about ", paste(format_short(unique(range(unit))), collapse = " to "), ".")
  }
  errors
}

# The core takes the fastest axis last.
scaled_boot_errors <- function(sample, axes, h0, h, B, key, run, progress) {
  fhat <- boot_density(sample, h0, run)
  target <- run_density(fhat, task_on_axes(fhat, axes), run)$estimate
  warn_sparse(boot_density(sample, min(h0, h), run), axes, max(target))
  from <- reversed_sample(sample)
  task <- list(root = from$root, h0 = h0, h = h, axes = rev(axes), widths = rev(lapply(axes, trapezoid_weights)),
               target = target, size = round(sample$n), key = key, replicates = B)
  boot_errors_cpp(sample_cpp(from$x, sample$w), task, replace(run, "progress", list(progress)))
}

# The columns from last to first, and the root of their covariance in that order.
reversed_sample <- function(sample) {
  columns <- rev(seq_len(ncol(sample$x)))
  list(x = unname(sample$x[, columns, drop = FALSE]),
       root = lower_root_cpp(unname(sample$cov[columns, columns, drop = FALSE])))
}

# The key of all replicates' draws: two draws of R's generator.
boot_key <- function() floor(stats::runif(2L) * 2^32)

error_curve <- function(h, errors) {
  statistics <- apply(errors, 2L, stats::quantile, c(0, 0.025, 0.5, 0.975, 1), names = FALSE)
  curve <- data.frame(h, t(statistics))
  names(curve) <- c("h", "min", "lower", "median", "upper", "max")
  curve
}

finish_boot <- function(boot, call, started) {
  if (boot$convergence != 0L) {
    warn_search("The least median error is at an end of the range of bandwidths, h = ", format_short(boot$h),
                ": the best `h` may lie beyond it.")
  }
  boot$call <- call
  boot$seconds <- proc.time()[["elapsed"]] - started
  structure(boot, class = "kestrel_boot")
}

boot_lines <- function(boot) {
  size <- format(boot$n, big.mark = ",")
  if (boot$n_eff < boot$n * (1 - 1e-12)) {
    size <- paste0(size, ", weighted: effective n ", format_short(boot$n_eff))
  }
  h <- boot$curve$h
  at <- match(boot$h, h)
  band <- format_short(unlist(plain_columns(boot$curve)[at, c("lower", "upper")]))
  c(
    paste0("Bandwidth by smoothed bootstrap, d = ", length(boot$axes)),
    call_lines(boot$call),
    label_line("n", size),
    label_line("variables", paste(boot$names, collapse = ", ")),
    label_line("kernel", boot$kernel),
    label_line("grid", axes_text(boot$axes)),
    label_line("reference", paste("h0 =", format_short(boot$h0))),
    label_line("compared", paste0(length(h), " bandwidths from ", format_short(min(h)), " to ", format_short(max(h)),
                                  ", ", boot$B, " replicates, ", format_short(boot$seconds), " s")),
    label_line("bandwidth", paste0("h = ", format_short(boot$h),
                                   if (boot$convergence != 0L) ", at an end of the range")),
    label_line("median error", paste0(format_short(boot$curve$median[at]), "; 95 % from ", band[1L], " to ", band[2L]))
  )
}

#' @export
print.kestrel_boot <- function(x, ...) {
  check_object(x, "x", "kestrel_boot")
  cat(boot_lines(x), sep = "\n")
  invisible(x)
}

#' @export
summary.kestrel_boot <- function(object, ...) {
  check_object(object, "object", "kestrel_boot")
  structure(list(boot = object), class = "summary.kestrel_boot")
}

#' @export
print.summary.kestrel_boot <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_boot")
  cat(boot_lines(x$boot), "", sep = "\n")
  curve <- plain_columns(x$boot$curve)
  names(curve)[c(3L, 5L)] <- c("2.5%", "97.5%")
  shown <- format(curve, digits = 4)
  shown[[" "]] <- ifelse(curve$h == x$boot$h, "*", "")
  print(shown, row.names = FALSE)
  invisible(x)
}

#' Plot the errors of a smoothed bootstrap
#'
#' The median of the integrated squared errors against the bandwidth, with the band from 2.5 to 97.5 per cent, the
#' smallest median as a point and the reference bandwidth as a broken line (Lopez-Novoa 2015, ch. 8, fig. 3).
#'
#' @param x an object made by [hboot()] or \code{\link{Hboot}()}.
#' @param xlab,ylab,main labels.
#' @param ... further graphical parameters of the empty plot; `col`, `lty` and `lwd` are also those of the line, `pch`
#'   and `cex` of the point.
#' @return `x`, invisibly.
#' @section Errors: Errors of class `kestrel_error_input` are for labels and graphical parameters that R does not
#'   know or cannot draw with.
#' @section Units: The axis of h as in [hboot()] (that of `x`) or \code{\link{Hboot}()} (without a unit); errors in 1 /
#'   volume.
#' @section Cost: O(bandwidths): the curve is in `x`.
#' @references Lopez-Novoa, U. (2015) *Contributions to the Efficient Use of General Purpose Coprocessors: Kernel
#'   Density Estimation as Case Study*. PhD thesis, University of the Basque Country, ch. 8.
#' @examples
#' set.seed(1)
#' plot(hboot(faithful$eruptions, B = 50, h = seq(0.2, 1.4, by = 0.1)))
#' @export
plot.kestrel_boot <- function(x, xlab = "Bandwidth h", ylab = "Integrated squared error", main = NULL, ...) {
  check_object(x, "x", "kestrel_boot")
  curve <- x$curve
  more <- list(...)
  note <- c(paste0("Line: median of ", x$B, " replicates, least at h = ", format_short(x$h), ". Band: 2.5 to 97.5 %"),
            paste0("Broken line: reference bandwidth h0 = ", format_short(x$h0)))
  empty_plot(range(curve$h, x$h0), c(0, curve$lower, curve$upper), more, xlab = xlab, ylab = ylab, main = main,
             note = note)
  draw_area(curve$h, curve$lower, curve$upper, colours$shade)
  graphics::abline(v = x$h0, lty = 2, col = colours$faint)
  drawing_with(more, {
    do.call(graphics::lines, c(list(curve$h, curve$median), look_of(more, col = colours$curve, lwd = 2, lty = 1)))
    do.call(graphics::points, c(list(x$h, min(curve$median)), look_of(more, col = colours$curve, pch = 16, cex = 1)))
  })
  invisible(x)
}
