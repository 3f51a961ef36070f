# Bandwidths of densities of mixed data.

#' Bandwidths of a kernel density of mixed data
#'
#' Selects the bandwidths of a kernel density of numbers, factors and ordered factors: by likelihood cross-validation,
#' by least squares cross-validation, or by the normal reference. Names, conventions and defaults are those of package
#' \pkg{np}. For numbers alone see also [kde()], which has other selectors and grids.
#'
#' The density at a point is the mean over the observations of a product of kernels, one for each column (Li & Racine
#' 2003). The kernel of a number is K((x - x_i) / h) / h. For two levels of a factor with c levels it is
#'
#' - `"aitchisonaitken"`: 1 - lambda if they are equal, otherwise lambda / (c - 1), with lambda up to (c - 1) / c;
#' - `"liracine"`: 1 if they are equal, otherwise lambda, both divided by 1 + (c - 1) lambda, with lambda up to 1.
#'
#' For two levels of an ordered factor at the distance d, with lambda up to 1, it is
#'
#' - `"liracine"`: lambda^d (1 - lambda) / (1 + lambda);
#' - `"wangvanryzin"`: 1 - lambda if they are equal, otherwise (1 - lambda) lambda^d / 2;
#' - `"racineliyan"`: lambda^d divided by its sum over all levels, seen from the observation.
#'
#' The first two of these sum to 1 over all whole numbers, so some of the probability is beyond the levels, as in
#' \pkg{np}. That of `"racineliyan"` sums to 1 over the levels. The distance is that of the numbers if all levels are
#' numbers, and otherwise, and for `"racineliyan"`, of their positions. Logical values are a factor.
#'
#' `cv.ml` is the sum of log f_-i(x_i), where f_-i is the density without observation i (Duin 1976). A density whose sum
#' of kernels is below 2.2e-308, the least normal number, counts as this number, as in \pkg{np}. So does, with a compact
#' kernel, that of an observation without a neighbour, and with a kernel of higher order a negative density. The
#' logarithm is -708, so one lone observation can decide the bandwidth. A message counts such observations.
#'
#' `cv.ls` is 2 mean(f_-i(x_i)) minus the integral (and sum over levels) of f^2 (Bowman 1984; Li & Racine 2003), where
#' sums over the levels of ordered factors are over all whole numbers, but for `"racineliyan"`. Both criteria are
#' maximised, and `fval` is the maximum, as in \pkg{np}. Neither is bounded if values are tied: then the result is the
#' smallest bandwidth of the search, and a warning of class `kestrel_warning_search` says so. For `cv.ls` with the
#' uniform kernel \pkg{np} has another value, because its convolution of this kernel with itself is constant.
#'
#' `normal-reference` is 1.06 s n^(-1/(2 P + p)), for P the order of the kernel, p the number of columns of numbers, and
#' s as below. Factors split the data. It takes the Gaussian kernel.
#'
#' The search is that of [npregbw()] for several regressors: over the logarithms of bandwidths and over lambda, with
#' exact gradients, from `nmulti` starts that are not random. It is not certain that the result is the largest value of
#' all.
#'
#' @param formula `~ x + z`, without a response. Variables may be expressions such as `log(x)`.
#' @param data,subset where the variables are, and which rows to use.
#' @param dat the data: a numeric vector, a factor, a numeric matrix, or a data frame of numbers and factors. Numbers
#'   may be dates, see [npregbw()].
#' @param bws bandwidths, one for each column, which are the first start or, for `bandwidth.compute = FALSE`, the
#'   bandwidths. A bandwidth object decides on kernels, criterion and scale, and for `bandwidth.compute = FALSE` is the
#'   bandwidths.
#' @param bandwidth.compute FALSE to take `bws` as they are and compute only the objective.
#' @param bwmethod the criterion: `"cv.ml"`, `"cv.ls"` or `"normal-reference"`.
#' @param bwscaling whether bandwidths, given and returned, are multiples of s n^(-1/(2 P + p)), and for factors of
#'   n^(-2/(2 P + p)). Here s is the least of the standard deviation, the interquartile range divided by
#'   `2 * qnorm(3/4)`, and the median absolute deviation, as far as they are positive.
#' @param ckertype,ckerorder the kernel of numbers, `"gaussian"`, `"epanechnikov"` or another one of [kde()], and the
#'   order of the first two, 2, 4, 6 or 8. Bandwidths are on the scale of \pkg{np}, as in [npregbw()]. Only these two
#'   and the uniform kernel are in \pkg{np}.
#' @param ukertype,okertype the kernels of factors and of ordered factors.
#' @param nmulti the number of starts, by default the number of columns, but at most 5.
#' @param na.action what to do with rows that have missing values: [stats::na.omit] or [stats::na.exclude] leave them
#'   out, [stats::na.fail] ends in an error.
#' @param backend where the criterion is computed: `"auto"`, `"cpu"` or `"cuda"`, see [engines]. A GPU sums over all
#'   pairs, also where an engine takes less time on the CPU.
#' @param threads,verbose as in [npregbw()].
#' @param ... further arguments of the methods. Arguments of \pkg{np} that only steer its search are accepted without
#'   effect.
#' @return An object of class `c("kestrel_densbw", "bandwidth")`, a list with
#'   \item{bw}{the bandwidths, in the units of the columns, and lambda of factors, on the scale of `bwscaling`}
#'   \item{bandwidth, sfactor}{lists whose entry `x` is the bandwidths without and with the scaling}
#'   \item{fval}{the objective, NA for the normal reference}
#'   \item{ifval, fval.history, starts}{which start led to the best, the objective that each reached, and the bandwidths
#'     there, a row for each}
#'   \item{num.feval, evaluations}{the number of evaluations}
#'   \item{n.unsupported}{how many observations have the least density}
#'   \item{method, pmethod, scaling, ckertype, ckerorder, ukertype, okertype}{as asked for, `pmethod` in words}
#'   \item{sdev, nconfac, ncatfac}{the spread of each column of numbers, and the powers of n}
#'   \item{nobs, ndim, ncon, nuno, nord, icon, iuno, iord, xnames}{the number of observations, and which columns are
#'     numbers, factors and ordered factors}
#'   \item{x}{the data as used, a data frame}
#'   \item{na.action, rows.omit, nobs.omit}{the rows left out, if any, their numbers, and how many}
#'   and `search`, `remarks`, `engine`, `backend`, `device`, `seconds`, `call`, and `formula` and `terms` from a
#'   formula.
#'
#'   The field `bw` may be edited: [npudens()], [predict()] and plots use it.
#' @section Units: Bandwidths of numbers are in the units of their columns, lambda has none. `fval` of `cv.ml` is a
#'   logarithm of a density, so other units add a constant to it, and that of `cv.ls` is a density.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - data that are not numbers or factors, that are infinite, or have fewer than two rows;
#'   - columns of numbers that do not vary;
#'   - missing values where `na.action` is [stats::na.fail];
#'   - bandwidths that are not positive, or above the largest lambda;
#'   - arguments that neither \pkg{np} nor this function has.
#' @section Cost: An evaluation of the criterion with its gradient takes O(n^2 (p + q)) for n observations, p numbers
#'   and q factors, on all threads, `cv.ls` twice as much. A search takes 100 to 500 evaluations. Memory is O(n).
#'
#'   For one to three columns of numbers and the Gaussian kernel of order 2 engines make this time nearly proportional
#'   to n. The field `engine` names the one that was used, see [engines]. A search with 1e5 observations took 0.3 s for
#'   one column (0.1 to 0.2 s with 16 threads), and 23 s for two columns (3 s with 16 threads). The error of the mean
#'   logarithm that `cv.ml` maximises is then below 1e-11.
#' @references Bowman, A.W. (1984) An alternative method of cross-validation for the smoothing of density estimates.
#'   *Biometrika* **71**, 353-360.
#'
#'   Duin, R.P.W. (1976) On the choice of smoothing parameters for Parzen estimators of probability density functions.
#'   *IEEE Transactions on Computers* **25**, 1175-1179.
#'
#'   Li, Q. & Racine, J.S. (2003) Nonparametric estimation of distributions with categorical and continuous data.
#'   *Journal of Multivariate Analysis* **86**, 266-292.
#'
#'   Racine, J.S., Li, Q. & Yan, K.X. (2020) Kernel smoothed probability mass functions for ordered datatypes. *Journal
#'   of Nonparametric Statistics* **32**, 563-586.
#' @seealso [npudens()] for the density.
#' @examples
#' bw <- npudensbw(~ eruptions + waiting, data = faithful)
#' bw
#' summary(npudensbw(~ mpg + factor(cyl) + ordered(gear), data = mtcars))
#' npudensbw(dat = faithful, bwmethod = "normal-reference")$bw
#' @export
npudensbw <- function(...) {
  UseMethod("npudensbw", dispatched_on(..., .called = "npudensbw", .known = npudensbw_arguments(),
                                       .classes = list(formula = "formula")))
}

npudensbw_arguments <- function() {
  c(names(formals(npudensbw.formula)), names(formals(npudensbw.default)), np_search_arguments,
    names(np_fixed_of_densities))
}

#' @rdname npudensbw
#' @export
npudensbw.formula <- function(formula, data = NULL, subset, na.action = getOption("na.action"), ...) {
  call <- called_as(quote(npudensbw), match.call())
  check_named("npudensbw", given_names(...), "na.action")
  frame <- density_frame(formula, data, match.call(expand.dots = FALSE), parent.frame())
  bw <- npudensbw.default(frame[regressors_of(attr(frame, "terms"))], na.action = na.action, ...)
  bw$terms <- attr(frame, "terms")
  bw$formula <- stats::formula(bw$terms)
  bw$call <- call
  bw
}

# The variables of a formula without a response, which `call` has beside `data` and `subset`.
density_frame <- function(formula, data, call, env) {
  # A list or data frame without another class, whose methods may fail.
  data <- if (is_frame(data)) structure(data, class = "data.frame") else without_class(data)
  check_formula(formula, data, response = FALSE)
  wanted <- call[c(1L, match(c("data", "subset"), names(call), nomatch = 0L))]
  wanted[[1L]] <- quote(stats::model.frame)
  wanted$formula <- formula
  if (!is.null(data)) wanted$data <- data
  wanted$na.action <- quote(stats::na.pass)
  try_formula(eval(wanted, env))
}

#' @rdname npudensbw
#' @export
npudensbw.default <- function(dat, bws = NULL, bandwidth.compute = TRUE, ...,
                              bwmethod = c("cv.ml", "cv.ls", "normal-reference"), bwscaling = FALSE,
                              ckertype = "gaussian", ckerorder = 2,
                              ukertype = c("aitchisonaitken", "liracine"),
                              okertype = c("liracine", "wangvanryzin", "racineliyan"), nmulti = NULL,
                              na.action = stats::na.omit, backend = "auto", threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  check_named("npudensbw", given_names(...), "bandwidth.compute")
  compute <- check_flag(bandwidth.compute, "bandwidth.compute")
  if (inherits(bws, "kestrel_densbw")) {
    here <- environment()
    check_density_object(bws)
    list2env(choices_of(bws, mget(intersect(chosen_by(bws), names(match.call())), here)), here)
    bws <- if (!compute) bws$bw
  }
  check_np_density_arguments(...)
  asked <- density_choices(bwmethod, bwscaling, ckertype, ckerorder, ukertype, okertype)
  verbose <- asked_verbose(verbose)
  if (missing(dat)) abort_input("`dat` must be given where there is no formula.")
  core <- check_density_sample(density_columns(dat, "dat"), logical(0), na.action)
  core$given <- logical(core$ndim)
  run <- run_options(threads, backend, cuda = asked$method != "normal-reference")
  made <- select_density(core, asked, list(bws = bws, fixed = !compute, nmulti = nmulti), run, verbose)
  split <- list(bw = made$bw, bandwidth = list(x = made$raw), sfactor = list(x = made$raw / mixed_scale(made)))
  finish_density(c(split, made[!names(made) %in% c("bw", "raw", "given")]), called_as(quote(npudensbw), match.call()),
                 started, "kestrel_densbw", "bandwidth")
}

# The columns of data, of which one may be a vector.
density_columns <- function(value, argument) {
  plain <- plain_points(value)
  if (!is_frame(plain) && !is.matrix(plain) && !is_categorical(plain)) {
    if (is.atomic(plain)) check_rows(plain, argument)
    variable <- as_variable(named_column(plain, argument), argument, dates = TRUE)
    return(stats::setNames(list(in_dates(variable$value, variable$dates)), variable$name))
  }
  columns <- mixed_columns(plain, argument)
  if (length(columns) == 0L) abort_input("`", argument, "` must have at least one column, not 0.")
  columns
}

# `side`: "x" or "y" in the names of the arguments of conditional densities.
density_choices <- function(bwmethod, bwscaling, ckertype, ckerorder, ukertype, okertype, side = "",
                            methods = density_methods) {
  named <- function(first, rest) paste0(first, side, rest)
  asked <- list(method = check_choice(bwmethod, methods, "bwmethod"),
                ckertype = check_choice(ckertype, kernel_names(), named("c", "kertype")),
                scaling = check_flag(bwscaling, "bwscaling"))
  asked$ckerorder <- check_order(ckerorder, asked$ckertype, named("c", "kerorder"))
  if (asked$method == "normal-reference" && asked$ckertype != "gaussian") {
    inform("`", named("c", "kertype"), "` is \"gaussian\" here: the normal reference is for this kernel.")
    asked$ckertype <- "gaussian"
  }
  c(asked, list(regtype = "lc",
                ukertype = check_choice(ukertype, c("aitchisonaitken", "liracine"), named("u", "kertype")),
                okertype = check_choice(okertype, c("liracine", "wangvanryzin", "racineliyan"),
                                        named("o", "kertype"))))
}

# The arguments left in the dots: those of np.
check_np_density_arguments <- function(..., .like = "~ x + z") {
  given <- given_names(...)
  if ("formula" %in% given) abort_input("`formula` must be a formula, as in ", .like, ".")
  with_formula <- intersect(c("data", "subset"), given)
  if (length(with_formula) > 0L) {
    abort_input("`formula` must be a formula, as in ", .like, ", where `", with_formula[1L], "` is given.")
  }
  inform_ignored(setdiff(intersect(given, c(np_search_arguments, "memfac")), c("nmulti", "ukertype", "okertype")),
                 "the search has steps and tolerances of its own, and draws no random numbers")
  check_fixed_arguments(np_fixed_of_densities, ...)
}

# The fields that bandwidth objects of densities share. `raw`: bandwidths in the order of the columns, not scaled.
select_density <- function(core, asked, given, run, verbose) {
  core <- c(core, asked, density_units(core, asked$ckerorder, run))
  scale <- if (asked$scaling) mixed_scale(core) else 1
  if (!is.null(given$bws)) given$bws <- check_mixed_bandwidths(given$bws, core, scale) * scale
  found <- select_density_bandwidths(core, given, run, verbose)
  searched <- !given$fixed && asked$method != "normal-reference"
  remarks <- if (searched) density_remarks(core, found)
  if (searched && found$n.unsupported > 0L) {
    remarks <- c(remarks, paste0(found$n.unsupported, " of ", core$nobs, " observations ",
                                 if (found$n.unsupported == 1L) "has" else "have", " no density without ",
                                 if (found$n.unsupported == 1L) "itself" else "themselves",
                                 ": the least number counts in its place."))
  }
  for (remark in remarks) inform(remark)
  c(list(bw = found$raw / scale, raw = found$raw,
         search = if (searched) "starts" else "none", remarks = as.character(remarks),
         evaluations = if (searched) found$num.feval else 1L, type = "fixed",
         pmethod = density_method_words(asked$method, given$fixed)),
    found[setdiff(names(found), "raw")], if (is.null(found$ifval)) list(ifval = 1L), core)
}

density_method_words <- function(method, fixed) {
  if (fixed) return("Manual")
  switch(method, cv.ml = "Maximum Likelihood Cross-Validation", cv.ls = , # nolint: the comma ends an empty case
         cv.cdf = "Least Squares Cross-Validation", "Normal Reference")
}

finish_density <- function(fields, call, started, ...) {
  structure(c(fields, list(rows.omit = as.vector(fields$na.action), nobs.omit = length(fields$na.action), call = call,
                           seconds = proc.time()[["elapsed"]] - started)), class = c(...))
}
