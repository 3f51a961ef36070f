# SiZer: where the derivative of a density is significant, by bandwidth; two variables are in R/sizer-plane.R.

#' SiZer map: significant features by bandwidth
#'
#' For many bandwidths and points, says whether a Gaussian kernel density estimate of one variable significantly
#' increases or decreases there (Chaudhuri & Marron 1999: significant zero crossings of derivatives). With
#' `deriv.order = 2` it says where the curvature is significant. Features that are there for many bandwidths are hardly
#' accidents of the sample. Two variables have a map for each bandwidth (Godtliebsen, Marron & Chaudhuri 2002).
#'
#' At each point x the derivative of the estimate with bandwidth h is compared with a multiple, q(h) or nearly so, of
#' its standard error, the standard deviation of \eqn{K_h^{(r)}(x - X_i)}{the r-th derivative of K_h(x - X_i)} over the
#' observations divided by the root of n. There are too few data where the effective sample size, the sum of \eqn{K_h(x
#' - X_i) / K_h(0)}{K_h(x - X_i) / K_h(0)}, is below 5.
#'
#' The map is about the expectation of the estimate, the density smoothed with this bandwidth, not about the density
#' itself. So the bias is no part of the error, and no bandwidth is the right one.
#'
#' @section Levels: Each row of the map, one bandwidth, has the level `signif.level` for all its points together. As in
#'   Chaudhuri & Marron (1999) there is no correction for the number of bandwidths. With m independent tests in a row,
#'   q is the normal quantile of \eqn{(1 - \alpha/2)^{1/m}}{(1 - alpha/2)^(1/m)} for `method = "extremes"`, and of
#'   \eqn{(1 + (1 - \alpha)^{1/m}) / 2}{(1 + (1 - alpha)^(1/m)) / 2} for `method = "blocks"`.
#'   - `"extremes"` (Hannig & Marron 2006): m is the number of points with enough data times the extremal index of a
#'     stationary Gaussian process with the correlations of the derivative,
#'     \eqn{2\Phi(\sqrt{(2r + 1) \log g}\, \Delta / (2h)) - 1}{2 Phi(sqrt((2r + 1) log g) Delta / (2h)) - 1}, for g such
#'     points with steps of \eqn{\Delta}{Delta}.
#'   - `"blocks"` (Chaudhuri & Marron 1999): m is n divided by the mean effective sample size of points with enough
#'     data, the number of independent blocks of data. It takes fewer tests to be independent than there are, so that
#'     false features are more frequent than `signif.level`.
#'
#'   m is at least 1. Where there are few data, a derivative divided by its standard error is not normal. For the
#'   curvature large values are frequent and small ones rare, because a gap in the data has a small standard error.
#'   So q is replaced there by the limits above and below zero which this ratio exceeds, for data of a Poisson process
#'   of constant intensity, with the probability with which a normal variable exceeds q. They are computed by a
#'   saddlepoint approximation (Daniels & Young 1991), for the effective sample size of the point, or for the curvature
#'   for one that is not correlated with it: that of the kernel \eqn{(1 + 2u^2) K(u) / 3}{(1 + 2 u^2) K(u) / 3}, with
#'   two variables \eqn{|u|^2 K(u) / 2}{|u|^2 K(u) / 2}.
#'
#'   By `"extremes"` 4 to 6 % of the rows had false features of the gradient and of the curvature in 800 uniform samples
#'   of 300 values, and in as many of 3000. That is away from the ends, for bandwidths from 0.02 to 0.06.
#' @section Two variables: Bandwidths are multiples of the standard deviations of the columns. At each point and
#'   bandwidth the derivatives in all directions are compared with q(h) times their standard errors. With b the
#'   derivatives and S their estimated covariance, the largest ratio for the gradient is the root of b' S^-1 b. It is
#'   significant if that exceeds q. For the curvature these are the least and the greatest second derivative of a
#'   direction. A point is in a *hole* if both are significantly positive, and on a *peak* if both are significantly
#'   negative. It is on a *ridge* if only the least one is significantly negative, in a *valley* if only the greatest
#'   one is significantly positive, and on a *saddle* if both are.
#'
#'   By `"extremes"` q is the quantile of the maximum over all points and directions, for a Gaussian field with the
#'   correlations of the derivatives. Its probability is taken as the expected Euler characteristic of the region above
#'   q (Adler & Taylor 2007), or as that of independent points if this is less. With `"blocks"`, as in
#'   Godtliebsen, Marron & Chaudhuri (2002), there are as many independent tests as blocks of data.
#'   In 500 uniform samples of 3000 values, away from the ends, maps had bandwidths of 0.15 and 0.3 standard deviations,
#'   with effective sample sizes of 35 and 140. By `"extremes"` 4 to 5 % of the maps had false features of the gradient,
#'   and as many of the curvature. With 600 and 1200 values, effective sample sizes of 7 and 14, it was 3 and 6 % for
#'   the curvature. By `"blocks"` the shares were 25 and 31 % for the bandwidth 0.15.
#'
#' @param x for `sizer()` the data: a numeric vector, or a matrix or data frame with one or two columns. For methods an
#'   object made by `sizer()`.
#' @param h bandwidths, positive numbers, in any order. By default from twice the step between the points to the range
#'   of the data. With two variables they are multiples of the standard deviations, by default up to 1.
#' @param length the number of bandwidths in equal ratios, if `h` is not given: 41, with two variables 9.
#' @param deriv.order 1 for the gradient, 2 for the curvature.
#' @param gridsize number of points in equal steps, 401. With two variables one number or two, 61.
#' @param xmin,xmax the first and the last point, for each column; by default the least and the largest observation.
#' @param signif.level the level of all tests of one bandwidth together.
#' @param method how the quantile of a bandwidth takes into account that there are many points: see Levels.
#' @param w,na.action,threads as in [nmodes()]. With weights n is the effective sample size.
#' @param object an object made by `sizer()`.
#' @param row.names,optional not used; arguments of the generic.
#' @param col four colours: for significantly positive derivatives, significantly negative ones, others, and too few
#'   data. With two variables three: for significant gradients, others, and too few data; or seven: for holes, valleys,
#'   saddles, ridges, peaks, others, and too few data.
#' @param xlab,ylab,main labels. If NULL they are the name of the variable, or the expression in the call, and
#'   "Bandwidth h"; with two variables their names.
#' @param ... nothing for `sizer()`, where other arguments are an error. For `plot()` further graphical parameters.
#' @return An object of class `"kestrel_sizer"`, a list:
#'   \item{eval.points}{the points}
#'   \item{h}{the bandwidths, increasing}
#'   \item{estimate}{a matrix with a row for each point and a column for each bandwidth: 1 where the derivative is
#'     significantly positive, -1 where it is significantly negative, 0 where it is neither, NA where there are too few
#'     data}
#'   \item{derivative, std.error}{matrices of the derivative and of its standard error}
#'   \item{ess}{a matrix of effective sample sizes}
#'   \item{quantile}{q for each bandwidth, NA if no point has enough data}
#'   and further `deriv.order`, `signif.level`, `method`, `n`, `n_eff`, `names`, `call` and `seconds`.
#'
#'   With two variables the class is `"kestrel_sizer_plane"`. Then `eval.points` is a list of two axes, and `estimate`
#'   and `ess` are arrays with a slice for each bandwidth. `estimate` is 1 where the gradient is significant, or 1 to 5
#'   for a hole, a valley, a saddle, a ridge and a peak; 0 where nothing is, and NA where there are too few data.
#'   `derivative` has a slice for each derivative and bandwidth, in the order (1, 0), (0, 1), or (2, 0), (1, 1), (0, 2).
#'   There is no `std.error`, but
#'   \item{scale}{the standard deviations of the columns}
#'   \item{statistic}{an array of the largest ratios of the gradient and its standard error, or for the curvature with
#'     two slices for each bandwidth, of the least and the greatest ratio}
#'
#'   `as.data.frame()` returns a row for each point and bandwidth, with the point, `h`, `derivative`, `std.error`, `ess`
#'   and `estimate`. With two variables there are a column for each derivative and the statistics. The other methods
#'   return their argument invisibly. Two variables have a plot for each of up to six bandwidths, with arrows along
#'   significant gradients.
#' @section Units: Points and bandwidths are in units of `x`, the r-th derivative in 1 over its (r + 1)-th power. With
#'   two variables bandwidths and statistics have no unit, and derivatives are in 1 over the product of the units, and
#'   over those of their directions.
#' @section Errors: Errors of class `kestrel_error_input` are those of [nmodes()]. They are also for a `deriv.order`
#'   other than 1 and 2, a `signif.level` that is not between 0 and 1, and bandwidths above 10 times the range of the
#'   data. There the standard error would be lost in rounding. The class is `kestrel_error_memory` for a map that does
#'   not fit into memory.
#' @section Cost: O(n) and O(`gridsize`) for each bandwidth; with two variables O(n) and a grid, see [engines]. Squares
#'   of derivatives of the Gaussian kernel are themselves combinations of its derivatives, with the bandwidth
#'   \eqn{h / \sqrt{2}}{h / sqrt(2)}, so that standard errors are sums as exact and as fast as those of [kdde()].
#' @references Adler, R.J. & Taylor, J.E. (2007) *Random Fields and Geometry*. Springer.
#'
#'   Chaudhuri, P. & Marron, J.S. (1999) SiZer for exploration of structures in curves. *Journal of the
#'   American Statistical Association* **94**, 807-823.
#'
#'   Godtliebsen, F., Marron, J.S. & Chaudhuri, P. (2002) Significance in scale space for bivariate density estimation.
#'   *Journal of Computational and Graphical Statistics* **11**, 1-21.
#'
#'   Daniels, H.E. & Young, G.A. (1991) Saddlepoint approximation for the studentized mean, with an application to the
#'   bootstrap. *Biometrika* **78**, 169-179.
#'
#'   Hannig, J. & Marron, J.S. (2006) Advanced distribution theory for SiZer. *Journal of the American Statistical
#'   Association* **101**, 484-499.
#' @seealso [kfs()] for one bandwidth in one and more dimensions, [modetree()]
#' @examples
#' map <- sizer(faithful$eruptions, length = 21)
#' map
#' plot(map)
#'
#' plot(sizer(faithful, h = c(0.15, 0.3, 0.6), deriv.order = 2, gridsize = 41))
#' @export
sizer <- function(x, h = NULL, length = NULL, deriv.order = 1, gridsize = NULL, xmin = NULL, xmax = NULL,
                  signif.level = 0.05, method = c("extremes", "blocks"), ..., w = NULL, na.action = stats::na.fail,
                  threads = NULL) {
  check_arguments("sizer", given_names(...))
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  run <- run_options(threads)
  level <- check_level(signif.level, "signif.level")
  method <- check_choice(method, c("extremes", "blocks"), "method")
  order <- check_count(deriv.order, "deriv.order")
  if (order > 2L) abort_input("`deriv.order` must be 1 or 2 for sizer(), not ", order, ".")
  if (!is.null(length)) length <- check_count(length, "length", 2L)
  sample <- selector_sample(x, w, na.action)
  finished <- function(map, class) {
    structure(c(map, list(deriv.order = order, signif.level = level, method = method, call = call,
                          seconds = proc.time()[["elapsed"]] - started)), class = class)
  }
  if (ncol(sample$x) == 2L) {
    map <- plane_map(sample, h, given_or(length, 9L), order, gridsize, xmin, xmax, level, method, run)
    return(finished(map, "kestrel_sizer_plane"))
  }
  if (ncol(sample$x) > 2L) abort_input("`x` must have one or two columns for sizer(), not ", ncol(sample$x), ".")
  gridsize <- check_count(given_or(gridsize, 401L), "gridsize", 2L)
  map <- line_map(line_in_units(sample), h, given_or(length, 41L), order, gridsize, xmin, xmax, level, method, run)
  finished(map, "kestrel_sizer")
}

# The fields of a map of one variable.
line_map <- function(line, h, length, order, gridsize, xmin, xmax, level, method, run) {
  first <- if (is.null(xmin)) line$lower else check_per_axis(xmin, 1L, "xmin")
  last <- if (is.null(xmax)) line$lower + line$unit else check_per_axis(xmax, 1L, "xmax")
  check_limits(first, last)
  step <- (last - first) / line$unit / (gridsize - 1)
  if (!is.null(h)) h <- check_map_bandwidths(h, line)
  sizes <- c(gridsize, if (is.null(h)) length else base::length(h))
  # Four matrices, and two that they are made from.
  check_memory(sizes, 8 * 6 * prod(sizes), if (gridsize < sizes[2L] && is.null(h)) "length" else "gridsize")
  if (is.null(h)) h <- exp(seq(log(min(2 * step, 0.1)), 0, length.out = length))
  points <- seq(first, last, length.out = gridsize)
  rows <- lapply(h, function(one) {
    heard()
    row_of_map(line, (points - line$lower) / line$unit, one, order, run)
  })
  column <- function(name) vapply(rows, `[[`, points, name, USE.NAMES = FALSE)
  ess <- column("ess")
  enough <- ess >= 5
  q <- vapply(seq_along(h), function(k) {
    row_quantile(ess[enough[, k], k], line$n_eff, step / h[k], order, level, method)
  }, 0)
  found <- list(value = column("value"), error = column("error"), size = column("size"))
  in_units <- lapply(found[c("value", "error")], `/`, line$unit^(order + 1L))
  if (!all(is.finite(unlist(in_units)))) abort_derivatives(order)
  estimate <- vapply(seq_along(h), function(k) {
    kind <- rep(NA_real_, gridsize)
    if (!any(enough[, k])) return(kind)
    limits <- tail_limits(q[k], found$size[, k], 1L, order)
    ratio <- ifelse(found$error[, k] > 0, found$value[, k] / found$error[, k], 0)
    ifelse(enough[, k], (ratio > limits$above) - (ratio < -limits$below), NA_real_)
  }, points)
  list(eval.points = points, h = h * line$unit, estimate = estimate, derivative = in_units$value,
       std.error = in_units$error, ess = ess, quantile = q, n = line$n, n_eff = line$n_eff, names = line$names)
}

check_map_bandwidths <- function(h, line) {
  check_rows(h, "h")
  h <- unique(sort(check_positives(h, "h")))
  if (h[length(h)] > 10 * line$unit) {
    abort_input("`h` must be at most 10 times the range of `x`, which is ", format_short(line$unit), ", not ",
                format_short(h[length(h)]), ".")
  }
  h / line$unit
}

# For one bandwidth: the derivative, its standard error, the effective sample size at each point and that about it. With
# phi the Gaussian kernel, g = h / sqrt(2) and f, f2, f4 the estimate with bandwidth g and its derivatives, the means
# over the sample of u^(2 k) phi_g(u) are f, g^4 f2 + g^2 f and g^8 f4 + 6 g^6 f2 + 3 g^4 f; and phi_h^2 is phi_g / (2
# sqrt(pi) h).
row_of_map <- function(line, at, h, order, run) {
  g <- h / sqrt(2)
  f <- density_of_line(line, at, g, run)
  f2 <- slope_at(line, at, g, 2L, run)
  # In units of h.
  second <- g^4 * f2 / h^2 + f / 2
  square <- if (order == 1L) {
    second
  } else {
    g^8 * slope_at(line, at, g, 4L, run) / h^4 + 6 * g^6 * f2 / h^4 + 3 / 4 * f - 2 * second + f
  }
  value <- slope_at(line, at, h, order, run)
  variance <- square / (2 * sqrt(pi) * h^(2 * order + 1)) - value^2
  density <- density_of_line(line, at, h, run)
  to_size <- line$n_eff * sqrt(2 * pi) * h
  # The kernel (1 + 2 u^2) / 3 K(u) is not correlated with the curvature.
  about <- if (order == 1L) density else density + 2 / 3 * h^2 * value
  list(value = value, error = sqrt(pmax(variance, 0) / (line$n_eff - 1)), ess = to_size * density,
       size = to_size * about)
}

# Chaudhuri & Marron (1999, section 3), and Hannig & Marron (2006), whose extremal index for the gradient is that of
# correlations 1 - (2 r + 1) (step / h)^2 / 4 for r = 1. `ess` of the points with enough data, `step` in bandwidths.
row_quantile <- function(ess, n, step, order, level, method) {
  tests <- length(ess)
  if (tests == 0L) return(NA_real_)
  if (method == "blocks") return(stats::qnorm((1 + (1 - level)^(1 / max(1, n / mean(ess)))) / 2))
  index <- 2 * stats::pnorm(sqrt((2 * order + 1) * log(tests)) * step / 2) - 1
  stats::qnorm(log1p(-level / 2) / max(1, tests * index), log.p = TRUE)
}

# What 1, -1, 0 and NA mean.
map_kinds <- function(map) {
  c(if (map$deriv.order == 1L) c("increasing", "decreasing") else c("convex", "concave"), "not significant",
    "too few data")
}

# The number of the kind at each point.
kinds_on_map <- function(map) {
  kind <- match(as.vector(map$estimate), c(1, -1, 0))
  kind[is.na(kind)] <- 4L
  kind
}

map_title <- function(map, of = NULL) {
  paste0("SiZer map of the ", if (map$deriv.order == 1L) "gradient" else "curvature", " of a density",
         if (!is.null(of)) paste(" of", of))
}

map_size_text <- function(map) {
  size <- format(map$n, big.mark = ",")
  if (map$n_eff >= map$n * (1 - 1e-12)) return(size)
  paste0(size, ", weighted: effective n ", format_short(map$n_eff))
}

map_level_line <- function(map) {
  label_line("level", paste0(format_short(map$signif.level), " for each bandwidth, by ", map$method))
}

map_lines <- function(map) {
  share <- tabulate(kinds_on_map(map), 4L) / length(map$estimate)
  c(
    map_title(map),
    call_lines(map$call),
    label_line("n", map_size_text(map)),
    label_line("variable", map$names),
    label_line("points", paste0(length(map$eval.points), " from ", format_short(map$eval.points[1L]), " to ",
                                format_short(map$eval.points[length(map$eval.points)]))),
    label_line("bandwidths", paste0(length(map$h), " from ", format_short(min(map$h)), " to ",
                                    format_short(max(map$h)), ", ", format_short(map$seconds), " s")),
    map_level_line(map),
    label_line("map", shares_text(map_kinds(map), share))
  )
}

#' @rdname sizer
#' @export
print.kestrel_sizer <- function(x, ...) {
  check_object(x, "x", "kestrel_sizer")
  cat(map_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname sizer
#' @export
summary.kestrel_sizer <- function(object, ...) {
  check_object(object, "object", "kestrel_sizer")
  cat(map_lines(object), "", sep = "\n")
  kind <- matrix(kinds_on_map(object), nrow(object$estimate))
  shown <- few_of(length(object$h), 12L)
  print(data.frame(h = format_short(object$h[shown]), quantile = format_short(object$quantile[shown]),
                   features = vapply(shown, function(k) features_in_row(kind[, k], map_kinds(object)), "")),
        row.names = FALSE, right = FALSE)
  invisible(object)
}

# The significant features of a row, from left to right.
features_in_row <- function(kind, kinds) {
  runs <- rle(kind[kind <= 2L])$values
  if (length(runs) == 0L) return("none")
  if (length(runs) > 6L) return(paste(length(runs), "in turn"))
  paste(kinds[runs], collapse = ", ")
}

#' @rdname sizer
#' @export
as.data.frame.kestrel_sizer <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_sizer")
  points <- stats::setNames(data.frame(rep(x$eval.points, length(x$h))), x$names)
  bound_beside(points, data.frame(
    h = rep(x$h, each = length(x$eval.points)), derivative = as.vector(x$derivative),
    std.error = as.vector(x$std.error), ess = as.vector(x$ess), estimate = as.vector(x$estimate)
  ))
}

# Colours for the kinds of map_kinds().
map_colours <- c(colours$curve, colours$mark, colours$bar, colours$pale)

#' @rdname sizer
#' @export
plot.kestrel_sizer <- function(x, col = NULL, xlab = NULL, ylab = "Bandwidth h", main = NULL, ...) {
  check_object(x, "x", "kestrel_sizer")
  col <- if (is.null(col)) map_colours else rep(check_graphical(col, "col"), length.out = 4L)
  more <- utils::modifyList(list(log = "y"), list(...))
  across <- borders(x$eval.points)
  up <- exp(borders(log(x$h)))
  empty_plot(range(across), range(up), more, xlab = given_or(xlab, label_from_call(x$names, "x", x$call, "x")),
             ylab = ylab, main = main, above = 1)
  drawing_with(more, {
    kind <- matrix(kinds_on_map(x), nrow(x$estimate))
    for (k in seq_along(x$h)) {
      runs <- rle(kind[, k])
      end <- cumsum(runs$lengths)
      graphics::rect(across[end - runs$lengths + 1L], up[k], across[end + 1L], up[k + 1L], col = col[runs$values],
                     border = NA)
    }
    if (room_above(1, main)) draw_map_key(map_kinds(x), col)
  })
  invisible(x)
}

# The ends of the cells around points.
borders <- function(at) {
  last <- length(at)
  if (last == 1L) return(at + c(-0.1, 0.1))
  middle <- (at[-1L] + at[-last]) / 2
  c(2 * at[1L] - middle[1L], middle, 2 * at[last] - middle[last - 1L])
}

# Above the plot.
draw_map_key <- function(kinds, col) {
  ends <- graphics::par("usr")
  graphics::legend(if (graphics::par("xlog")) 10^ends[1L] else ends[1L],
                   if (graphics::par("ylog")) 10^ends[4L] else ends[4L], kinds, fill = col, border = colours$frame,
                   horiz = TRUE, bty = "n", xjust = 0, yjust = 0, cex = 0.8, x.intersp = 0.5, xpd = NA)
}
