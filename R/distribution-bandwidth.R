# Bandwidths of distribution functions of mixed data.

#' Bandwidths of a kernel distribution function of mixed data
#'
#' Selects the bandwidths of a kernel distribution function of numbers and ordered factors: by least squares
#' cross-validation, or by the normal reference. Names, conventions and defaults are those of package \pkg{np}. For
#' numbers alone see also [kcde()], which has plug-in selectors.
#'
#' The distribution function F(x) is the mean over the observations of a product of the integrals of the kernels of
#' [npudensbw()] up to x, one for each column. For a number this is G((x - x_i) / h), where G is the integral of K. For
#' an ordered factor it is the sum of the kernel over all levels up to x. For two levels at the distance d this sum is
#'
#' - `"liracine"`: 1 - lambda^(d+1) / (1 + lambda) if x is not below the observation, otherwise lambda^d / (1 + lambda);
#' - `"wangvanryzin"`: 1 - lambda^(d+1) / 2, or lambda^d / 2;
#' - `"racineliyan"`: the sum of lambda^d divided by that over all levels.
#'
#' The first two are sums over all whole numbers, as in \pkg{np}. For `"wangvanryzin"` \pkg{np} 0.60 has 1 - lambda^d
#' where x is above the observation, which is not the sum of its kernel and at d = 1 is less than at d = 0: see the
#' examples. Its normal distribution function is accurate to 2e-9, which shows in the last digits of results.
#'
#' `cv.cdf` is the mean of (1(x_i <= x) - F_-i(x))^2 over the observations i and over points x, where F_-i is the
#' distribution function without observation i (Bowman, Hall & Prvan 1998; Li, Li & Racine 2017). It is minimised, and
#' `fval` is the minimum. The points are
#'
#' - `ngrid` quantiles of the data, with equal steps of probability from 0 to 1, of all columns at once, as in \pkg{np};
#' - with `do.full.integral = TRUE` the observations, of which none counts at itself;
#' - with `gdat` those given.
#'
#' `normal-reference` is 1.587 s n^(-1/(P + 1)), for P the order of the kernel and s as below. (The help of \pkg{np}
#' says P + p for p columns, but it computes P + 1.) Factors split the data. It takes the Gaussian kernel.
#'
#' The search is that of [npudensbw()].
#'
#' @param gdat,gdata points at which `cv.cdf` takes errors: a data frame of the columns, or a vector or matrix in their
#'   order. `gdata` is its name with a formula.
#' @param do.full.integral whether `cv.cdf` takes errors at all observations.
#' @param ngrid the number of quantiles at which it takes them otherwise.
#' @param bwmethod the criterion: `"cv.cdf"` or `"normal-reference"`.
#' @param bwscaling whether bandwidths, given and returned, are multiples of s n^(-1/(P + 1)), and for factors of
#'   n^(-2/(P + 1)). Here s is the least of the standard deviation, the interquartile range divided by 1.349, and the
#'   median absolute deviation, as far as they are positive.
#' @param okertype the kernel of ordered factors.
#' @param dat the data: a numeric vector, an ordered factor, a numeric matrix, or a data frame of numbers and ordered
#'   factors. Numbers may be dates, see [npregbw()].
#' @inheritParams npudensbw
#' @return An object of class `c("kestrel_distbw", "kestrel_densbw", "dbandwidth")`, a list with the fields of the
#'   result of [npudensbw()], and `do.full.integral` and `ngrid`. The field `bw` may be edited: [npudist()], [predict()]
#'   and plots use it.
#' @section Units: Bandwidths of numbers are in the units of their columns. lambda and `fval` have none.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - data that are not numbers or ordered factors, that are infinite, or have fewer than two rows;
#'   - columns of numbers that do not vary;
#'   - missing values where `na.action` is [stats::na.fail];
#'   - bandwidths that are not positive, or above the largest lambda;
#'   - a grid that is not like the data;
#'   - arguments that neither \pkg{np} nor this function has.
#' @section Cost: An evaluation of the criterion with its gradient takes O(n m (p + q)) for n observations, m points, p
#'   numbers and q factors, on all threads. A search takes 50 to 500 evaluations. Memory is O(n).
#'
#'   For one column of numbers and the Gaussian kernel of any order it takes O(n) once, and then O(m log n). The field
#'   `engine` is then `"nodes"`. With `do.full.integral = TRUE` and 1e5 observations one evaluation took about a second
#'   on one thread. The error of the criterion is then below 1e-12 of itself.
#' @references Bowman, A., Hall, P. & Prvan, T. (1998) Bandwidth selection for the smoothing of distribution functions.
#'   *Biometrika* **85**, 799-808.
#'
#'   Li, C., Li, H. & Racine, J.S. (2017) Cross-validated mixed datatype bandwidth selection for nonparametric
#'   cumulative distribution/survivor functions. *Econometric Reviews* **36**, 970-987.
#' @seealso [npudist()] for the distribution function.
#' @examples
#' bw <- npudistbw(~ eruptions + waiting, data = faithful)
#' bw
#' summary(npudistbw(~ mpg + ordered(gear), data = mtcars))
#' npudistbw(dat = faithful, bwmethod = "normal-reference")$bw
#'
#' # Wang and van Ryzin's kernel sums to 0.85 up to its own level and to 0.955 up to the next.
#' # np 0.60 has 0.7 there:
#' # npksum(txdat = ordered(1:2), bws = 0.3, operator = "integral", okertype = "wangvanryzin",
#' #        return.kernel.weights = TRUE)$kw[1, ]
#' npudist(bws = 0.3, tdat = ordered(c(1, 1)), edat = ordered(1), okertype = "wangvanryzin")$dist
#' @export
npudistbw <- function(...) {
  UseMethod("npudistbw", dispatched_on(..., .called = "npudistbw", .known = npudistbw_arguments(),
                                       .classes = list(formula = "formula")))
}

npudistbw_arguments <- function() {
  c(names(formals(npudistbw.formula)), names(formals(npudistbw.default)), np_search_arguments, "memfac",
    names(np_fixed_of_densities))
}

#' @rdname npudistbw
#' @export
npudistbw.formula <- function(formula, data = NULL, subset, na.action = getOption("na.action"), gdata = NULL, ...) {
  call <- called_as(quote(npudistbw), match.call())
  check_named("npudistbw", given_names(...), "gdata")
  frame <- density_frame(formula, data, match.call(expand.dots = FALSE), parent.frame())
  bw <- npudistbw.default(frame[regressors_of(attr(frame, "terms"))], na.action = na.action, gdat = gdata, ...)
  bw$terms <- attr(frame, "terms")
  bw$formula <- stats::formula(bw$terms)
  bw$call <- call
  bw
}

#' @rdname npudistbw
#' @export
npudistbw.default <- function(dat, bws = NULL, gdat = NULL, bandwidth.compute = TRUE, ...,
                              bwmethod = c("cv.cdf", "normal-reference"), bwscaling = FALSE,
                              ckertype = "gaussian", ckerorder = 2,
                              okertype = c("liracine", "wangvanryzin", "racineliyan"), nmulti = NULL,
                              do.full.integral = FALSE, ngrid = 100, na.action = stats::na.omit, threads = NULL,
                              verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  check_named("npudistbw", given_names(...), "bandwidth.compute")
  compute <- check_flag(bandwidth.compute, "bandwidth.compute")
  if (inherits(bws, "kestrel_distbw")) {
    here <- environment()
    check_object(bws, "bws", "kestrel_densbw")
    list2env(choices_of(bws, mget(intersect(chosen_by(bws), names(match.call())), here)), here)
    bws <- if (!compute) bws$bw
  }
  check_np_density_arguments(...)
  asked <- density_choices(bwmethod, bwscaling, ckertype, ckerorder, "aitchisonaitken", okertype,
                           methods = c("cv.cdf", "normal-reference"))
  asked <- c(asked, grid_choices(do.full.integral, ngrid, gdat, "gdat"))
  verbose <- asked_verbose(verbose)
  if (missing(dat)) abort_input("`dat` must be given where there is no formula.")
  columns <- density_columns(dat, "dat")
  core <- distribution_core(columns, logical(length(columns)), asked, na.action, gdat, "gdat")
  run <- run_options(threads, "cpu")
  made <- select_density(core, asked, list(bws = bws, fixed = !compute, nmulti = nmulti), run, verbose)
  split <- list(bw = made$bw, bandwidth = list(x = made$raw), sfactor = list(x = made$raw / mixed_scale(made)))
  finish_density(c(split, made[!names(made) %in% c("bw", "raw", "given", "distribution", "grid")]),
                 called_as(quote(npudistbw), match.call()), started, "kestrel_distbw", "kestrel_densbw", "dbandwidth")
}

# Where the criterion takes errors.
grid_choices <- function(do.full.integral, ngrid, given, name) {
  full <- check_flag(do.full.integral, "do.full.integral")
  if (full && !is.null(given)) abort_input("`", name, "` must not be given together with do.full.integral = TRUE.")
  list(do.full.integral = full, ngrid = check_count(ngrid, "ngrid", 2L))
}

# The core of a distribution function: its sample, and the grid of its criterion, points of all columns.
distribution_core <- function(columns, given, asked, na.action, points, name) {
  core <- check_density_sample(columns, given, na.action)
  core$distribution <- TRUE
  unordered <- core$xnames[core$iuno & !given]
  if (length(unordered) > 0L) {
    abort_input("`", unordered[1L], "` must be numbers or an ordered factor, not a factor without an order: it has no ",
                "distribution function.")
  }
  of <- which(!given)
  one <- list(x = frame_of(unclass(core$x)[of], core$xnames[of]), xnames = core$xnames[of], ndim = length(of))
  grid <- if (!is.null(points)) {
    checked_grid(one, points, name)
  } else if (!asked$do.full.integral) {
    lapply(unclass(one$x), quantiles_of_column, seq(0, 1, length.out = asked$ngrid))
  }
  if (is.null(grid)) return(core)
  # What is given has any value there.
  whole <- lapply(unclass(core$x), function(column) rep(column[1L], length(grid[[1L]])))
  whole[of] <- grid
  core$grid <- frame_of(whole, core$xnames)
  core
}

checked_grid <- function(core, points, name) {
  grid <- suppressWarnings(mixed_evaluation_points(core, NULL, points, name), classes = "kestrel_warning_support")
  grid <- unclass(grid)[seq_len(core$ndim)]
  if (length(grid[[1L]]) == 0L || anyNA(grid, recursive = TRUE)) {
    abort_input("`", name, "` must have at least one row, and levels of the data only, without missing values.")
  }
  grid
}

# Of an ordered factor the level at which the distribution function of the data reaches the probability.
quantiles_of_column <- function(column, probs) {
  if (!is.factor(column)) return(in_dates(stats::quantile(numbers_of(column), probs, names = FALSE), column))
  codes <- stats::quantile(as.integer(column), probs, type = 1L, names = FALSE)
  factor(levels(column)[codes], levels(column), ordered = TRUE)
}
