# Bandwidths of conditional distribution functions.

#' Bandwidths of a conditional kernel distribution function
#'
#' Selects the bandwidths of the distribution function of one or several variables given others, by least squares
#' cross-validation or by the normal reference. Variables of y are numbers or ordered factors, and those of x numbers,
#' factors or ordered factors. Names, conventions and defaults are those of package \pkg{np}.
#'
#' The conditional distribution function F(y | x) is the mean of the integrated kernels of y that [npudistbw()]
#' describes, weighted by the kernels of x of [npudensbw()]. As with [npcdensbw()], a variable of x that does not matter
#' is smoothed out: a number by an infinite bandwidth, a factor by its largest lambda. Factors without an order are
#' refused in y, where \pkg{np} 0.60 takes them with the kernel of a density.
#'
#' `cv.ls` is the mean of (1(y_i <= y) - F_-i(y | x_i))^2 over the observations i and over points y, where F_-i is the
#' distribution function without observation i (Li, Lin & Racine 2013). It is minimised, and `fval` is the minimum. The
#' points are quantiles of the variables of y, the observations, or those given, as in [npudistbw()]. At a bandwidth at
#' which some observation has no neighbour in x the criterion is infinite.
#'
#' `normal-reference` is s n^(-1/(2 P + p)) times 1.587 for y and times 1.06 for x, with s and P as in [npcdensbw()] and
#' p the number of columns of numbers in y and x. Factors split the data.
#'
#' @param formula `y ~ x + z`, or `y1 + y2 ~ x` for the distribution function of several variables.
#' @param xdat,ydat the variables that the distribution function is conditional on, and those whose distribution
#'   function it is: numeric vectors, factors, numeric matrices, or data frames of numbers and factors. Numbers may be
#'   dates, see [npregbw()].
#' @param gydat,gdata points at which `cv.ls` takes errors: a data frame of the variables of y, or a vector or matrix in
#'   their order. `gdata` is its name with a formula.
#' @param do.full.integral whether `cv.ls` takes errors at all observations.
#' @param ngrid the number of quantiles at which it takes them otherwise.
#' @param bwmethod the criterion: `"cv.ls"` or `"normal-reference"`.
#' @param cxkertype,cykertype,cxkerorder,cykerorder,uxkertype,oxkertype,oykertype the kernels, as `ckertype`,
#'   `ckerorder`, `ukertype` and `okertype` of [npudensbw()]. Those of x and y must be the same.
#' @inheritParams npcdensbw
#' @return An object of class `c("kestrel_condistbw", "kestrel_condensbw", "kestrel_densbw", "condbandwidth")`, a list
#'   with the fields of the result of [npcdensbw()], and `do.full.integral` and `ngrid`. The fields `xbw` and `ybw` may
#'   be edited.
#' @section Units: Bandwidths of numbers are in the units of their columns. lambda and `fval` have none.
#' @section Errors: The errors of [npudistbw()] can occur here, too, and errors of class `kestrel_error_input` for
#'   kernels of x and y that differ, for data of different lengths, and for a formula without variables on both sides.
#' @section Cost: With n observations, m points, p numbers and q factors an evaluation of the criterion with its
#'   gradient takes O(n^2 m) for each variable of y. A search takes 50 to 500 evaluations, on all threads. Memory is
#'   O(n).
#'
#'   For numbers given one number, and the Gaussian kernel of order 2, it takes O(n m). The field `engine` is then
#'   `"nodes"`. With 1e5 observations and 100 points one evaluation took 0.5 s on one thread. The error of a
#'   distribution function is then about 1e-14.
#' @references Li, Q., Lin, J. & Racine, J.S. (2013) Optimal bandwidth selection for nonparametric conditional
#'   distribution and quantile functions. *Journal of Business & Economic Statistics* **31**, 57-65.
#'
#'   Li, Q. & Racine, J.S. (2008) Nonparametric estimation of conditional CDF and quantile functions with mixed
#'   categorical and continuous data. *Journal of Business & Economic Statistics* **26**, 423-434.
#' @seealso [npcdist()] for the distribution function, [npqreg()] for its quantiles.
#' @examples
#' bw <- npcdistbw(eruptions ~ waiting, data = faithful[1:100, ])
#' bw
#' summary(npcdistbw(ordered(cyl) ~ wt, data = mtcars))
#' @export
npcdistbw <- function(...) {
  UseMethod("npcdistbw", dispatched_on(..., .called = "npcdistbw", .known = npcdistbw_arguments(),
                                       .classes = list(formula = "formula")))
}

npcdistbw_arguments <- function() {
  c(names(formals(npcdistbw.formula)), names(formals(npcdistbw.default)), np_search_arguments, "memfac",
    names(np_fixed_of_densities))
}

#' @rdname npcdistbw
#' @export
npcdistbw.formula <- function(formula, data = NULL, subset, na.action = getOption("na.action"), gdata = NULL, ...) {
  call <- called_as(quote(npcdistbw), match.call())
  check_named("npcdistbw", given_names(...), "gdata")
  frame <- density_frame(joint_formula(formula), data, match.call(expand.dots = FALSE), parent.frame())
  sides <- both_sides(frame, formula)
  bw <- npcdistbw.default(sides$x, sides$y, na.action = na.action, gydat = gdata, ...)
  bw$terms <- attr(frame, "terms")
  bw$formula <- formula
  bw$call <- call
  bw
}

#' @rdname npcdistbw
#' @export
npcdistbw.default <- function(xdat, ydat, bws = NULL, gydat = NULL, bandwidth.compute = TRUE, ...,
                              bwmethod = c("cv.ls", "normal-reference"), bwscaling = FALSE,
                              cxkertype = "gaussian", cxkerorder = 2,
                              cykertype = "gaussian", cykerorder = 2,
                              uxkertype = c("aitchisonaitken", "liracine"),
                              oxkertype = c("liracine", "wangvanryzin", "racineliyan"),
                              oykertype = c("liracine", "wangvanryzin", "racineliyan"), nmulti = NULL,
                              do.full.integral = FALSE, ngrid = 100, na.action = stats::na.omit, threads = NULL,
                              verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  check_named("npcdistbw", given_names(...), "bandwidth.compute")
  compute <- check_flag(bandwidth.compute, "bandwidth.compute")
  if (inherits(bws, "kestrel_condistbw")) {
    here <- environment()
    check_object(bws, "bws", "kestrel_densbw")
    list2env(choices_of(bws, mget(intersect(chosen_by(bws), names(match.call())), here)), here)
    bws <- if (!compute) c(bws$ybw, bws$xbw)
  }
  check_np_density_arguments(..., .like = "y ~ x")
  methods <- c("cv.ls", "normal-reference")
  asked <- density_choices(bwmethod, bwscaling, cxkertype, cxkerorder, uxkertype, oxkertype, "x", methods)
  of_y <- density_choices(bwmethod, bwscaling, cykertype, cykerorder, uxkertype, oykertype, "y", methods)
  asked <- c(asked, grid_choices(do.full.integral, ngrid, gydat, "gydat"))
  verbose <- asked_verbose(verbose)
  if (missing(xdat) || missing(ydat)) abort_input("`xdat` and `ydat` must be given where there is no formula.")
  both <- conditional_columns(xdat, ydat)
  core <- distribution_core(both$columns, both$given, asked, na.action, gydat, "gydat")
  check_same_kernels(asked, of_y, core)
  made <- select_density(core, asked, list(bws = bws, fixed = !compute, nmulti = nmulti), run_options(threads, "cpu"),
                         verbose)
  finish_density(conditional_fields(made), called_as(quote(npcdistbw), match.call()), started, "kestrel_condistbw",
                 "kestrel_condensbw", "kestrel_densbw", "condbandwidth")
}
