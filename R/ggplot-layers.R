#' Layers for ggplot2
#'
#' Densities, their regions of highest density, and kernel regressions as layers of \pkg{ggplot2}, with the numbers of
#' [kde()] and [npreg()]: each group of a layer is one call.
#'
#' `stat_kestrel_density()` draws the density of `x`, on the grid of [kde()]. `stat_kestrel_density_2d()` draws the
#' borders of the regions of highest density of `x` and `y` that hold given percentages of the sample, see
#' [contourLevels()], and with `filled = TRUE` the regions. `geom_kestrel_hdr()` is the latter: its legend has the
#' percentages. `stat_kestrel_smooth()` draws [npreg()] with its confidence band.
#'
#' Each group has its own bandwidth. It is selected as in [kde()] and [npregbw()], or `h` and `H` give it: one for all
#' groups, a function of a group's data, such as [hscv()], or a vector (for `H` a list) with one for each group.
#' The aesthetic `weight` gives weights. On transformed scales the estimates are those of the transformed data, as for
#' all layers.
#'
#' The objects of \pkg{ggplot2}'s own classes are made when a layer first needs one, so that kestrel does not need
#' \pkg{ggplot2} otherwise.
#'
#' @param mapping,data,geom,position,na.rm,show.legend,inherit.aes as in [ggplot2::layer()].
#' @param h,H bandwidths, see above.
#' @param bounds,period,kernel,kernel_type,gridsize,xmin,xmax,supp,positive,threads as in [kde()].
#' @param cont percentages of the regions, as in [contourLevels()].
#' @param filled TRUE for regions, FALSE for their borders.
#' @param se TRUE for a confidence band.
#' @param level the level of the band.
#' @param n the number of points along the curve.
#' @param bws,regtype,ckertype,ckerorder,bwtype as in [npregbw()].
#' @param ... further arguments of the layer, such as `colour = "red"` or `linewidth = 2`.
#' @return A layer.
#' @section Computed variables: `stat_kestrel_density()`: `density`, `count` (density times n), `scaled` (to a largest
#'   value of 1), `n` and `h`. `stat_kestrel_density_2d()` and `geom_kestrel_hdr()`: `probability`, an ordered factor
#'   such as `95%`, and `level`, the density at the border. `stat_kestrel_smooth()`: `y`, `ymin`, `ymax`, `se`.
#' @section Units: Densities are in 1 over the units of `x`, or of `x` times `y`.
#' @section Errors: Errors of class `kestrel_error_input` are for arguments of layers that are not valid, and without
#'   \pkg{ggplot2}. Groups with too few observations are left out, and one warning of class `kestrel_warning_groups`
#'   names them. \pkg{ggplot2} turns errors about the data of a group into warnings.
#' @section Cost: That of [kde()] or [npreg()] for each group, and O(grid points) for each region.
#' @references Hyndman, R.J. (1996) Computing and graphing highest density regions. *American Statistician* **50**,
#'   120-126.
#'
#'   Wickham, H. (2016) *ggplot2: Elegant Graphics for Data Analysis*. Springer.
#' @seealso [autoplot()][ggplot-pictures] for objects of this package
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' library(ggplot2)
#' ggplot(iris, aes(Sepal.Length, colour = Species)) +
#'   stat_kestrel_density()
#' ggplot(faithful, aes(eruptions, waiting)) +
#'   geom_kestrel_hdr() +
#'   geom_point(size = 0.5)
#' ggplot(iris, aes(Petal.Length, Petal.Width, colour = Species)) +
#'   stat_kestrel_density_2d(cont = c(50, 90))
#' ggplot(faithful, aes(eruptions, waiting)) +
#'   geom_point() +
#'   stat_kestrel_smooth(regtype = "ll")
#' @export
stat_kestrel_density <- function(mapping = NULL, data = NULL, geom = "line", position = "identity", ..., h = NULL,
                                 bounds = NULL, period = NULL, gridsize = NULL, xmin = NULL, xmax = NULL, supp = NULL,
                                 positive = FALSE, na.rm = FALSE, show.legend = NA, inherit.aes = TRUE,
                                 kernel = "gaussian", threads = NULL) {
  check_layer("stat_kestrel_density", given_names(...), geom)
  if (!is.null(h) && !is.function(h)) check_positives(if (is.list(h)) unlist(h) else h, "h")
  of_kde <- given_of(list(bounds = bounds, period = period, kernel = check_choice(kernel, kernel_names(), "kernel"),
                          gridsize = gridsize, xmin = xmin, xmax = xmax, supp = supp,
                          positive = check_flag(positive, "positive"), threads = threads), 1L)
  kestrel_layer("density", mapping, data, geom, position, show.legend, inherit.aes,
                list(h = h, of_kde = of_kde, na.rm = na.rm, ...))
}

#' @rdname stat_kestrel_density
#' @export
stat_kestrel_density_2d <- function(mapping = NULL, data = NULL, geom = NULL, position = "identity", ...,
                                    filled = FALSE, cont = c(25, 50, 75, 95), h = NULL, H = NULL, bounds = NULL,
                                    period = NULL, gridsize = NULL, xmin = NULL, xmax = NULL, supp = NULL,
                                    na.rm = FALSE, show.legend = NA, inherit.aes = TRUE, kernel = "gaussian",
                                    kernel_type = c("radial", "product"), threads = NULL) {
  check_layer("stat_kestrel_density_2d", given_names(...), if (is.null(geom)) "polygon" else geom)
  filled <- check_flag(filled, "filled")
  cont <- check_content(cont)
  if (!is.null(h) && !is.null(H)) abort_input("`h` and `H` must not both be given.")
  if (!is.null(h) && !is.function(h)) check_positives(if (is.list(h)) unlist(h) else h, "h")
  for (one in if (is.list(H)) H else if (is.function(H)) list() else list(H)) if (!is.null(one)) check_H(one, 2L)
  of_kde <- given_of(list(bounds = bounds, period = period, kernel = check_choice(kernel, kernel_names(), "kernel"),
                          kernel_type = check_choice(kernel_type, c("radial", "product"), "kernel_type"),
                          gridsize = gridsize, xmin = xmin, xmax = xmax, supp = supp, threads = threads), 2L)
  if (is.null(geom)) geom <- if (filled) "polygon" else "path"
  kestrel_layer(if (filled) "regions" else "lines", mapping, data, geom, position, show.legend, inherit.aes,
                list(h = h, H = H, cont = cont, of_kde = of_kde, na.rm = na.rm, ...))
}

#' @rdname stat_kestrel_density
#' @export
geom_kestrel_hdr <- function(mapping = NULL, data = NULL, position = "identity", ..., cont = c(25, 50, 75, 95)) {
  check_layer("geom_kestrel_hdr", given_names(...), "polygon", names(formals(stat_kestrel_density_2d)))
  stat_kestrel_density_2d(mapping, data, "polygon", position, ..., filled = TRUE, cont = cont)
}

#' @rdname stat_kestrel_density
#' @export
stat_kestrel_smooth <- function(mapping = NULL, data = NULL, geom = "smooth", position = "identity", ..., se = TRUE,
                                level = 0.95, n = 80, bws = NULL, regtype = c("lc", "ll"), ckertype = "gaussian",
                                ckerorder = 2, bwtype = "fixed", na.rm = FALSE, show.legend = NA, inherit.aes = TRUE) {
  check_layer("stat_kestrel_smooth", given_names(...), geom)
  n <- check_count(n, "n", 2L)
  of_npreg <- Filter(Negate(is.null), list(
    bws = if (!is.null(bws)) check_positives(bws, "bws", one = TRUE),
    regtype = check_choice(regtype, c("lc", "ll"), "regtype"),
    ckertype = check_choice(ckertype, regression_kernels(), "ckertype"),
    ckerorder = ckerorder, bwtype = check_choice(bwtype, bandwidth_types, "bwtype")
  ))
  kestrel_layer("smooth", mapping, data, geom, position, show.legend, inherit.aes,
                list(se = check_flag(se, "se"), level = check_level(level), n = n, of_npreg = of_npreg, na.rm = na.rm,
                     ...))
}

kestrel_layer <- function(stat, mapping, data, geom, position, show.legend, inherit.aes, params) {
  ggplot2::layer(stat = stat_of(stat), data = data, mapping = mapping, geom = geom, position = position,
                 show.legend = show.legend, inherit.aes = inherit.aes, params = params)
}

# Names in the dots of a layer are aesthetics and parameters of its geom, or `more`.
check_layer <- function(called, given, geom, more = NULL) {
  need_package("ggplot2", "for its layers")
  if (is.character(geom) && length(geom) == 1L) {
    class <- paste0("Geom", gsub("(^|_)([a-z])", "\\U\\2", geom, perl = TRUE))
    geom <- get0(class, asNamespace("ggplot2"))
  }
  own <- if (inherits(geom, "Geom")) c(geom$aesthetics(), geom$parameters(TRUE), "key_glyph") else "colour"
  known <- c(names(formals(get(called))), more, own)
  check_known(called, ifelse(nzchar(given), ggplot2::standardise_aes_names(given), given), known)
}

# The arguments of kde() that were given; those of the grid are checked here, since ggplot2 makes warnings of errors in
# groups.
given_of <- function(arguments, d) {
  given <- Filter(Negate(is.null), arguments)
  check_grid(c(given[intersect(c("gridsize", "xmin", "xmax", "supp"), names(given))], list(streamed = FALSE)), d)
  given
}
