# Bandwidths of kernel regression with one regressor, by cross-validation over a grid.

# The first is the default.
regression_kernels <- function() c("gaussian", polynomial_kernels())

# np's Epanechnikov kernel has variance one, and so the support sqrt(5); its other kernels have ours.
np_scale <- function(kernel) if (kernel == "epanechnikov") sqrt(5) else 1

#' Bandwidth of a kernel regression by cross-validation
#'
#' Selects the bandwidth of the Nadaraya-Watson or local linear regression of `y` on one numeric `x` by
#' cross-validation. Names and conventions are those of package \pkg{np}, with these differences:
#'
#' - The search computes the objective at a whole grid of bandwidths and keeps the curve, while \pkg{np} descends from
#'   random starts.
#' - The default kernel is `"epanechnikov"`, not `"gaussian"`.
#' - There is one regressor, the bandwidth is fixed, and the kernels are of second order.
#' - A bandwidth is the half-width of the kernel's support unless `bw.scale = "np"`.
#' - Missing data are an error unless `na.action` says otherwise.
#'
#' Let g_-i be the fit without observation i, and w the weights (1 for all if not given). Let M_i be 1 if another
#' observation is within the bandwidth of x_i, and 0 otherwise. The objectives are
#' \deqn{cv.ls(h) = \sum_i w_i (y_i - g_{-i}(x_i))^2 M_i / \sum_i w_i,}{cv.ls(h) = sum_i w_i (y_i - g_-i(x_i))^2 M_i /
#' sum_i w_i,}
#' \deqn{cv.aic(h) = \log s^2 + (1 + tr/n) / (1 - (tr + 2)/n).}{cv.aic(h) = log s^2 + (1 + tr/n) / (1 - (tr + 2)/n).}
#' Here s^2 is the (weighted) mean square of the residuals of the fit, and tr is the trace of the smoother matrix.
#' `cv.aic` is infinite if tr + 2 reaches n.
#'
#' Because cv.ls leaves out observations without a neighbour, it rewards bandwidths that are too small to reach any
#' neighbour. By default the search takes only bandwidths at which every observation has a neighbour (`"reject"`, as in
#' \pkg{np}). Rohlfs & Zahran (2017) take the smallest value of all (`unsupported = "exclude"`). Values within 1e-12 of
#' the smallest are ties, and the largest of their bandwidths is taken. If that is the first or the last of the grid, a
#' warning of class `kestrel_warning_search` says so.
#'
#' With `"reject"` one observation far from all others can decide the bandwidth. A message then names the observation.
#' It appears if two conditions hold for smaller bandwidths of the grid. They are rejected because at most one per cent
#' of the observations lack neighbours, and the mean over the other observations is lower there. Another message
#' appears if no fit reaches from one value of x to the next, as with rounded data.
#'
#' A neighbour is an observation at a distance below the bandwidth. For the uniform kernel the distance may equal the
#' bandwidth, and for the Gaussian kernel it is below 38 bandwidths. If all observations of a local linear fit have the
#' same value of x, the fit is their mean.
#'
#' @section The bandwidth: `bw.scale = "support"` means half the width of the kernel's support, and for the Gaussian
#'   kernel its standard deviation. `"np"` means the number that \pkg{np} would show. In \pkg{np} half the support of
#'   the Epanechnikov kernel is sqrt(5) bandwidths, h_support = sqrt(5) h_np. Its Gaussian and uniform kernels have the
#'   same bandwidths as ours. The triangular, biweight, triweight and tricube kernels do not exist in \pkg{np}, and both
#'   scales mean half the width of their support.
#'
#' @section The grid: If `bws` is not given, the grid has `nbw` equally spaced bandwidths from `bwmin` to `bwmax`. By
#'   default `bwmax` is the range of x, max - min, and `bwmin` is `bwmax` / `nbw`. This is the grid of Rohlfs & Zahran
#'   (2017). For the Gaussian kernel `bwmax` is the range divided by sqrt(5). Then its candidates have the same standard
#'   deviations as the candidates of the Epanechnikov kernel.
#'
#' @section Refinement: As the bandwidth grows past the distance of two observations, a window gains an observation.
#'   There the curve of a compact kernel bends, and it may jump. With the uniform kernel it jumps at every distance and
#'   is constant in between. With other kernels it jumps where a window gains its first neighbour or, with local linear
#'   fits, its second.
#'
#'   With the uniform kernel all distances in the interval are tried if there are at most max(50, 4e6 / n) of them. The
#'   result is then the least value there. Otherwise a scan of 10 to 96 bandwidths finds the lowest valley. Parabolas
#'   find its bottom, until the relative change of the objective is below 1e-9. Then up to 4e6 / n bandwidths on both
#'   sides of distances are tried. If there are few enough distances in the interval, as with small, rounded or tied
#'   data, all of them are tried. Otherwise only the distances of jumps and those next to the minimum are tried. So a
#'   minimum between two bandwidths of the scan may be missed if there are many distances. With 700 to 2,000
#'   observations and no ties the value was above the least one by up to 3e-4 of itself for the uniform kernel, and by
#'   up to 1e-6 for other kernels.
#'
#'   The bandwidth may be just above a distance, where the curve jumps, and its rounded digits in print may be below it.
#'   So use the object, or its field `bw`, not the printed digits.
#'
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - missing or infinite values, lengths that differ, and fewer than three observations;
#'   - a regressor that is constant, not numeric or not alone, or has a range outside of 1e-290 to 1e300;
#'   - responses whose squared differences have a sum that is not between 1e-290 and 1.8e308, unless all are equal;
#'   - bandwidths that are not within 1e-300 and 1e300;
#'   - arguments that neither \pkg{np} nor this function has, or values of the arguments of \pkg{np} that this function
#'     does not support;
#'   - a grid in which no bandwidth supports every observation. The message gives the smallest bandwidth that would.
#'
#'   Errors of class `kestrel_error_backend` are for a backend that this build or machine lacks, or that does not take
#'   the task. Errors of class `kestrel_error_memory` are for a GPU that you asked for and that has too little memory.
#' @section Cost: The search takes O(n log n) once and O(n) for each bandwidth, on all threads. A few local linear fits
#'   whose sums have lost their digits are summed again, in O(n) each. The Gaussian kernel takes O(n^2) for each
#'   bandwidth at worst, because the fit at every observation takes the observations within 38 bandwidths. Refinement
#'   adds 10 to 150 bandwidths and, for n below 400,000, at most 1.2e7 / n more.
#'
#'   A GPU needs 32 MiB of its memory and at most 80 bytes for each observation. For a kernel that is a polynomial of
#'   degree p it needs 8 p + 16 bytes more for each observation, with p + 2 in place of p for local linear fits. The
#'   degree is 0 (uniform), 1 (triangular), 2 (Epanechnikov), 4 (biweight), 6 (triweight) or 9 (tricube).
#'
#' @section On a GPU: A GPU computes the objective at all bandwidths at once, within 1e-12 of the CPU and with the same
#'   bits in every run. With the polynomial kernels it uses sums over blocks of 8, 16, 32, ... sorted observations, and
#'   a fit takes O(log n). The Gaussian kernel is computed as on the CPU. Bandwidths below 1e-23 times the range of x,
#'   or 1e-17 times for the tricube kernel, may be refused. [engines] says when `"auto"` uses a GPU. The fits of
#'   [npreg()] are computed on the CPU.
#'
#' @param formula `y ~ x`, with one numeric regressor, which may be an expression such as `log(x)`.
#' @param data a data frame, list or environment with the variables of `formula`.
#' @param subset which rows of `data` to use, an expression in its variables.
#' @param xdat the regressor: a numeric vector, or a matrix or data frame with one column.
#' @param ydat the response, one value for each value of the regressor.
#' @param bws a vector of candidate bandwidths in place of the grid. A single one is taken as it is, and only its
#'   objective is computed.
#' @param regtype `"lc"`, local constant (Nadaraya-Watson), or `"ll"`, local linear.
#' @param bwmethod the objective, `"cv.ls"` (least squares) or `"cv.aic"` (the corrected AIC of Hurvich, Simonoff & Tsai
#'   1998).
#' @param ckertype the kernel.
#' @param nbw,bwmin,bwmax the number of bandwidths in the grid, its first and its last.
#' @param bw.scale the meaning of all bandwidths, given and returned: see below.
#' @param unsupported `"reject"` bandwidths at which an observation has no neighbour, or `"exclude"` these observations.
#' @param w weights, one for each observation, non-negative and not all zero. Rows of weight zero are left out, and
#'   others must have at least 1e-100 of the largest weight. In the formula method `w` is an expression in the variables
#'   of `data`.
#' @param refine if TRUE, look for a better bandwidth between the two neighbours of the best one of the grid. If the
#'   best one is the first of the grid, the search goes down to the bandwidth at which observations lose their
#'   neighbours. The result is never worse than that of the grid. The section on refinement says which minima it may
#'   miss.
#' @param na.action [stats::na.fail], an error when data are missing, or [stats::na.omit], which leaves their rows out.
#'   [fitted()] and [residuals()] of a fit are then NA in these rows.
#' @param threads the number of threads. The default is [kestrel_threads()], which also describes the maximum.
#' @param backend where the objective is computed: `"auto"`, `"cpu"` or `"cuda"`, see [engines].
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @param bandwidth.compute FALSE for a single bandwidth `bws`. A single bandwidth is taken as it is in any case.
#' @param ... arguments of the methods. The default method also takes the arguments of \pkg{np}'s search (`nmulti`,
#'   `itmax`, ...), which have no effect here, and `bwtype = "fixed"`, `ckerorder = 2`, `ckerbound = "none"`, `bwscaling
#'   = FALSE`, `nomad = FALSE`, `gradients = FALSE`.
#' @return An object of class `c("kestrel_regbw", "rbandwidth")`, a list with
#'   \item{bw}{the bandwidth, in the units of x and on the scale of `bw.scale`}
#'   \item{h}{the bandwidth as half the width of the support (for the Gaussian kernel the standard deviation)}
#'   \item{fval}{the objective at the bandwidth}
#'   \item{grid, cv}{all candidates, increasing, and the objective at each; NA where no observation has a neighbour}
#'   \item{n.unsupported}{how many observations have no neighbour, for each candidate}
#'   \item{ties}{the bandwidths that share the smallest objective, when there are several}
#'   \item{remarks}{the messages about the bandwidth: that few observations decide it, or that no fit reaches from one
#'     value of x to the next}
#'   \item{method, regtype, ckertype, bw.scale, unsupported}{as asked for}
#'   \item{nobs}{the number of observations of positive weight}
#'   \item{x, y, w}{the data as used, the weights rescaled to sum to `nobs`}
#'   \item{xnames, ynames}{the names of the variables}
#'   \item{na.action}{the rows left out, if any}
#'   \item{evaluations, seconds, engine, backend, device, call}{how the bandwidth was found. The engine is `"sweep"`, on
#'     a GPU `"blocks"`, or for the Gaussian kernel `"direct"`. The device is the name of the GPU, if one was used}
#'   and `terms` from a formula.
#' @references Fan, J. & Gijbels, I. (1996) *Local Polynomial Modelling and Its Applications*. Chapman & Hall.
#'
#'   Hurvich, C.M., Simonoff, J.S. & Tsai, C.-L. (1998) Smoothing parameter selection in nonparametric regression using
#'   an improved Akaike information criterion. *Journal of the Royal Statistical Society B* **60**, 271-293.
#'
#'   Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 2.
#'
#'   Nadaraya, E.A. (1964) On estimating regression. *Theory of Probability and Its Applications* **9**, 141-142.
#'
#'   Rohlfs, C. & Zahran, M. (2017) Optimal bandwidth selection for kernel regression using a fast grid search and a
#'   GPU. *IEEE International Parallel and Distributed Processing Symposium Workshops*, 550-556.
#'
#'   Watson, G.S. (1964) Smooth regression analysis. *Sankhya A* **26**, 359-372.
#' @seealso [npreg()] for the fit, [plot.kestrel_regbw()] for the curve.
#' @examples
#' bw <- npregbw(dist ~ speed, data = cars)
#' bw
#' plot(bw)
#'
#' # local linear, by AICc, between the values of the grid, as np counts
#' npregbw(xdat = faithful$eruptions, ydat = faithful$waiting, regtype = "ll", bwmethod = "cv.aic",
#'         refine = TRUE, bw.scale = "np")
#' @export
npregbw <- function(...) {
  UseMethod("npregbw", dispatched_on(..., .called = "npregbw", .known = npregbw_arguments(),
                                     .classes = list(formula = "formula")))
}

npregbw_arguments <- function() {
  c(names(formals(npregbw.formula)), names(formals(npregbw.default)), np_search_arguments, names(np_fixed_arguments))
}

# The argument on which to dispatch. `.classes`: the class that decides, by the name of its argument. The argument with
# such a name and class is taken, or else the first argument without a name if it has any of the classes. The others are
# left unevaluated, since `subset` and `w` may be expressions in variables of `data`. Unknown names are refused here,
# because only here all names are seen.
dispatched_on <- function(..., .called, .known, .classes) {
  given <- given_names(...)
  check_known(.called, Filter(nzchar, given), .known)
  for (name in c(names(.classes), "")) {
    position <- match(name, given, nomatch = 0L)
    wanted <- if (nzchar(name)) .classes[[name]] else unlist(.classes)
    if (position > 0L && inherits(...elt(position), wanted)) return(...elt(position))
  }
  NULL
}

# The call of the generic, not of its method.
called_as <- function(name, call) {
  call[[1L]] <- name
  call
}

#' @rdname npregbw
#' @export
npregbw.formula <- function(formula, data = NULL, subset, na.action = getOption("na.action"), ..., w = NULL) {
  call <- called_as(quote(npregbw), match.call())
  # A list or data frame without another class, whose methods may fail.
  data <- if (is_frame(data)) structure(data, class = "data.frame") else without_class(data)
  check_formula(formula, data)
  wanted <- match.call(expand.dots = FALSE)
  wanted <- wanted[c(1L, match(c("formula", "data", "subset", "w"), names(wanted), nomatch = 0L))]
  wanted[[1L]] <- quote(stats::model.frame)
  if (!is.null(data)) wanted$data <- data
  wanted$na.action <- quote(stats::na.pass)
  frame <- try_formula(eval(wanted, parent.frame()))
  check_named("npregbw", given_names(...), "na.action")
  bw <- npregbw.default(frame[2L], frame[1L], w = frame[["(w)"]], na.action = na.action, ...)
  bw$terms <- attr(frame, "terms")
  bw$formula <- stats::formula(bw$terms)
  bw$call <- call
  bw
}

# Errors of R about a formula, as errors of ours.
try_formula <- function(value) {
  catching_errors(value, function(e) {
    # The name that model.frame() gives to the weights.
    why <- sub("'(w)'", "`w`", conditionMessage(e), fixed = TRUE)
    abort_input("`formula` must make sense with `data`: ", why, ".")
  })
}

# A formula must have two variables that exist, a response and a regressor.
check_formula <- function(formula, data) {
  if (!is.null(data) && !is.list(data) && !is.environment(data)) {
    abort_input("`data` must be a data frame, a list or an environment, not ", describe_value(data), ".")
  }
  if (length(formula) != 3L) abort_input("`formula` must have a response, as in y ~ x, not ", deparse1(formula), ".")
  variables <- setdiff(variables_in(formula), ".")
  there <- vapply(variables, function(name) name %in% names(data) || exists(name, environment(formula)), NA)
  if (!all(there)) {
    abort_input("`formula` must name variables of `data` or of its environment; not found: ",
                quoted(variables[!there]), ".")
  }
  terms <- try_formula(stats::terms(formula, data = if (is_frame(data)) data))
  if (!is.null(attr(terms, "offset"))) abort_input("`formula` must not have an offset, as in ", deparse1(formula), ".")
  regressors <- as.list(attr(terms, "variables"))[-(1:2)]
  if (length(regressors) != 1L) {
    abort_input("`formula` must have one numeric regressor, not ", length(regressors),
                if (length(regressors) > 1L) "; not yet: several regressors", ".")
  }
}

# The variables of an expression, without components, as x in d$x, and functions, as in stats::poly(x, 1).
variables_in <- function(expression) {
  if (is.name(expression)) return(as.character(expression))
  if (!is.call(expression)) return(character(0))
  head <- if (is.name(expression[[1L]])) as.character(expression[[1L]]) else ""
  if (head %in% c("::", ":::")) return(character(0))
  parts <- as.list(expression)
  attributes(parts) <- NULL # terms() has a class with its own `[`
  if (head %in% c("$", "@")) parts <- parts[1:2]
  if (nzchar(head)) parts <- parts[-1L]
  # An index may be empty, as in m[, 1].
  empty <- function(k) identical(parts[[k]], quote(expr = )) # nolint: spaces_inside_linter.
  given <- !vapply(seq_along(parts), empty, NA)
  unique(unlist(lapply(parts[given], variables_in)))
}

#' @rdname npregbw
#' @export
npregbw.default <- function(xdat, ydat, bws = NULL, bandwidth.compute = TRUE, ..., regtype = c("lc", "ll"),
                            bwmethod = c("cv.ls", "cv.aic"), ckertype = "gaussian", ckerorder = 2, bwscaling = FALSE,
                            nbw = NULL, bwmin = NULL, bwmax = NULL, bw.scale = c("np", "support"),
                            unsupported = c("reject", "exclude"), refine = FALSE, w = NULL, na.action = stats::na.omit,
                            backend = "auto", threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  check_named("npregbw", given_names(...), "bandwidth.compute")
  check_np_arguments(...)
  errors <- added_by_fit(...)
  given <- list(bws = bws, nbw = nbw, bwmin = bwmin, bwmax = bwmax)
  given$fixed <- !check_flag(bandwidth.compute, "bandwidth.compute") || (!is.null(errors) && length(plain(bws)) == 1L)
  if (given$fixed && length(without_class(bws)) != 1L) {
    abort_input("`bws` must be one bandwidth for bandwidth.compute = FALSE, not ", describe_value(bws), ".")
  }
  if (!given$fixed && length(without_class(bws)) == 1L) {
    check_bandwidths(bws)
    inform_ignored("bws")
    given["bws"] <- list(NULL)
  }
  asked <- list(regtype = check_choice(regtype, c("lc", "ll"), "regtype"),
                method = check_choice(bwmethod, c("cv.ls", "cv.aic"), "bwmethod"),
                ckertype = check_choice(ckertype, regression_kernels(), "ckertype"),
                bw.scale = check_choice(bw.scale, c("np", "support"), "bw.scale"),
                unsupported = check_choice(unsupported, c("reject", "exclude"), "unsupported"),
                scaling = check_flag(bwscaling, "bwscaling"))
  asked$ckerorder <- check_order(ckerorder, asked$ckertype)
  refine <- check_flag(refine, "refine")
  verbose <- asked_verbose(verbose)
  run <- run_options(threads, backend, cuda = TRUE)
  sample <- check_regression_sample(if (!missing(xdat)) xdat, if (!missing(ydat)) ydat, w, na.action)
  asked$sdev <- spread_of(if (sample$nobs < length(sample$x)) sample$x[sample$w > 0] else sample$x)
  asked$nconfac <- sample$nobs^(-1 / (2 * asked$ckerorder + 1))
  found <- with_progress(verbose, "Cross-validation", function(progress) {
    run$progress <- progress
    search_bandwidth(sample, asked, given, refine, run, errors)
  })
  for (remark in found$remarks) inform(remark)
  data <- found$data
  found$data <- NULL
  call <- called_as(quote(npregbw), match.call())
  call$.errors <- NULL
  spread <- asked$sdev * asked$nconfac
  raw <- if (asked$scaling) found$bw * spread else found$bw
  bw <- c(found, asked, sample,
          list(ifval = 1L, type = "fixed", bandwidth = list(x = raw), sfactor = list(x = raw / spread),
               rows.omit = as.vector(sample$na.action), nobs.omit = length(sample$na.action),
               engine = regression_engine(asked$ckertype, found$backend), call = call,
               seconds = proc.time()[["elapsed"]] - started))
  bw <- structure(bw, class = c("kestrel_regbw", "rbandwidth"))
  if (!is.null(errors)) bw$.observations <- data
  bw
}

check_order <- function(order, kernel) {
  order <- plain(order)
  if (!is_number(order) || !order %in% c(2, 4, 6, 8)) {
    abort_input("`ckerorder` must be 2, 4, 6 or 8, not ", describe_value(order), ".")
  }
  if (kernel == "uniform") return(2)
  if (kernel != "gaussian" && order != 2) {
    abort_input("`ckerorder` must be 2 for the kernel \"", kernel, "\", not ", describe_value(order),
                ": higher orders are there for \"gaussian\" only.")
  }
  as.numeric(order)
}

# What npreg() adds to the arguments of npregbw(): `errors` of search_bandwidth(). The result then also has the
# `.observations` of the search. A user's call cannot have such an argument, because npregbw() knows none of this name.
added_by_fit <- function(...) {
  position <- match(".errors", given_names(...))
  if (!is.na(position)) ...elt(position)
}

# Arguments of np that only steer its search or are for categories.
np_search_arguments <- c("nmulti", "remin", "itmax", "ftol", "tol", "small", "lbc.dir", "dfc.dir", "cfac.dir",
                         "initc.dir", "lbd.dir", "hbd.dir", "dfac.dir", "initd.dir", "lbc.init", "hbc.init",
                         "cfac.init", "lbd.init", "hbd.init", "dfac.init", "ukertype", "okertype", "bwsolver",
                         "powell.remin", "invalid.penalty", "penalty.multiplier", "transform.bounds",
                         "scale.factor.init", "scale.factor.init.lower", "scale.factor.init.upper",
                         "scale.factor.search.lower", "scale.init.categorical.sample", "random.seed")

# np's arguments that would change the result, with the one value that is computed here.
np_fixed_arguments <- list(bwtype = "fixed", ckerbound = "none", nomad = FALSE)

# The arguments left in the dots: only those of np are evaluated, since others may be expressions in the variables of
# `data`.
check_np_arguments <- function(...) {
  given <- given_names(...)
  if ("formula" %in% given) abort_input("`formula` must be a formula, as in y ~ x.")
  with_formula <- intersect(c("data", "subset"), given)
  if (length(with_formula) > 0L) {
    abort_input("`formula` must be a formula, as in y ~ x, where `", with_formula[1L], "` is given.")
  }
  inform_ignored(intersect(given, np_search_arguments))
  check_fixed_arguments(np_fixed_arguments, ...)
}

# Checks that arguments in the dots that are named in `fixed` have the values there.
check_fixed_arguments <- function(fixed, ...) {
  given <- given_names(...)
  for (k in which(given %in% names(fixed))) {
    only <- fixed[[given[k]]]
    if (!isTRUE(all.equal(without_class(...elt(k)), only))) {
      abort_input("`", given[k], "` must be ", deparse(only), ", not ", describe_value(...elt(k)), ".")
    }
  }
}
