# Bandwidths of conditional densities.

#' Bandwidths of a conditional kernel density
#'
#' Selects the bandwidths of the density of one or several variables given others, each of which may be a number, a
#' factor or an ordered factor: by likelihood cross-validation, by least squares cross-validation, or by the normal
#' reference. Names, conventions and defaults are those of package \pkg{np}.
#'
#' The conditional density f(y | x) is the density of y and x divided by that of x, both with the kernels of
#' [npudensbw()] and the same bandwidths of x. A variable that does not matter is smoothed out: a number by an infinite
#' bandwidth, a factor by its largest lambda. For this a kernel may be the one with another constant, because constants
#' of the kernels of x cancel.
#'
#' `cv.ml` is the sum of log f_-i(y_i | x_i). At a bandwidth at which one of these densities is 0 it is minus infinity,
#' as in \pkg{np}, so that every observation must have a neighbour. `cv.ls` is the mean of 2 f_-i(y_i | x_i) minus the
#' mean over x_i of the integral (and sum over levels) of f_-i(y | x_i)^2 (Hall, Racine & Li 2004). Both are maximised,
#' and `fval` is the maximum, as in \pkg{np}. Neither is bounded if values of y are tied: see [npudensbw()].
#'
#' `normal-reference` is 1.06 s n^(-1/(2 P + p)) as in [npudensbw()], with p the number of columns of numbers in y and
#' x.
#'
#' @param formula `y ~ x + z`, or `y1 + y2 ~ x` for the density of several variables.
#' @param data,subset where the variables are, and which rows to use.
#' @param xdat,ydat the variables that the density is conditional on, and those whose density it is: numeric vectors,
#'   factors, numeric matrices, or data frames of numbers and factors. Numbers may be dates, see [npregbw()].
#' @param bws bandwidths, first those of y and then those of x, which are the first start or, for `bandwidth.compute =
#'   FALSE`, the bandwidths. A bandwidth object decides on kernels, criterion and scale, and for `bandwidth.compute =
#'   FALSE` is the bandwidths.
#' @param cxkertype,cykertype,cxkerorder,cykerorder,uxkertype,uykertype,oxkertype,oykertype the kernels, as `ckertype`,
#'   `ckerorder`, `ukertype` and `okertype` of [npudensbw()]. Those of x and y must be the same.
#' @inheritParams npudensbw
#' @return An object of class `c("kestrel_condensbw", "kestrel_densbw", "conbandwidth")`, a list with
#'   \item{xbw, ybw}{the bandwidths, on the scale of `bwscaling`}
#'   \item{bandwidth, sfactor}{lists whose entries `x` and `y` are the bandwidths without and with the scaling}
#'   \item{x, y}{the data as used, data frames}
#'   \item{xnames, ynames, xndim, yndim, xncon, xnuno, xnord, yncon, ynuno, ynord, ixcon, ixuno, ixord, iycon, iyuno,
#'     iyord}{which variables are numbers, factors and ordered factors}
#'   \item{cxkertype, cykertype, ...}{as asked for}
#'   and the other fields of the result of [npudensbw()]. The fields `xbw` and `ybw` may be edited.
#' @section Units: Bandwidths of numbers are in the units of their columns, lambda has none.
#' @section Errors: The errors of [npudensbw()] can occur here, too, and errors of class `kestrel_error_input` for
#'   kernels of x and y that differ, for data of different lengths, and for a formula without variables on both sides.
#' @section Cost: With n observations, p numbers and q factors an evaluation of `cv.ml` with its gradient takes
#'   O(n^2 (p + q)). One of `cv.ls` takes O(n^3) for each variable of y, because the square of each of the n densities
#'   is a sum over pairs. A search takes 100 to 500 evaluations, on all threads. Memory is O(n).
#' @references Hall, P., Racine, J. & Li, Q. (2004) Cross-validation and the estimation of conditional probability
#'   densities. *Journal of the American Statistical Association* **99**, 1015-1026.
#'
#'   Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 5.
#' @seealso [npcdens()] for the density.
#' @examples
#' bw <- npcdensbw(eruptions ~ waiting, data = faithful)
#' bw
#' summary(npcdensbw(factor(cyl) ~ wt + hp, data = mtcars))
#' @export
npcdensbw <- function(...) {
  UseMethod("npcdensbw", dispatched_on(..., .called = "npcdensbw", .known = npcdensbw_arguments(),
                                       .classes = list(formula = "formula")))
}

npcdensbw_arguments <- function() {
  c(names(formals(npcdensbw.formula)), names(formals(npcdensbw.default)), np_search_arguments, "memfac",
    names(np_fixed_of_densities))
}

#' @rdname npcdensbw
#' @export
npcdensbw.formula <- function(formula, data = NULL, subset, na.action = getOption("na.action"), ...) {
  call <- called_as(quote(npcdensbw), match.call())
  check_named("npcdensbw", given_names(...), "na.action")
  frame <- density_frame(joint_formula(formula), data, match.call(expand.dots = FALSE), parent.frame())
  sides <- both_sides(frame, formula)
  bw <- npcdensbw.default(sides$x, sides$y, na.action = na.action, ...)
  bw$terms <- attr(frame, "terms")
  bw$formula <- formula
  bw$call <- call
  bw
}

# All variables on the right, those of the left first.
joint_formula <- function(formula) {
  if (length(formula) != 3L) abort_input("`formula` must have a response, as in y ~ x, not ", deparse1(formula), ".")
  stats::as.formula(call("~", call("+", formula[[2L]], formula[[3L]])), env = environment(formula))
}

# The variables of both sides of a formula.
both_sides <- function(frame, formula) {
  variables <- frame[regressors_of(attr(frame, "terms"))]
  first <- seq_along(attr(stats::terms(stats::as.formula(call("~", formula[[2L]]))), "term.labels"))
  if (length(first) == 0L || length(first) == length(variables)) {
    abort_input("`formula` must have different variables on both sides, as in y ~ x, not ", deparse1(formula), ".")
  }
  list(x = variables[-first], y = variables[first])
}

#' @rdname npcdensbw
#' @export
npcdensbw.default <- function(xdat, ydat, bws = NULL, bandwidth.compute = TRUE, ...,
                              bwmethod = c("cv.ml", "cv.ls", "normal-reference"), bwscaling = FALSE,
                              cxkertype = "gaussian", cxkerorder = 2,
                              cykertype = "gaussian", cykerorder = 2,
                              uxkertype = c("aitchisonaitken", "liracine"),
                              uykertype = c("aitchisonaitken", "liracine"),
                              oxkertype = c("liracine", "wangvanryzin", "racineliyan"),
                              oykertype = c("liracine", "wangvanryzin", "racineliyan"), nmulti = NULL,
                              na.action = stats::na.omit, backend = "auto", threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  check_named("npcdensbw", given_names(...), "bandwidth.compute")
  compute <- check_flag(bandwidth.compute, "bandwidth.compute")
  if (inherits(bws, "kestrel_condensbw")) {
    here <- environment()
    check_density_object(bws)
    list2env(choices_of(bws, mget(intersect(chosen_by(bws), names(match.call())), here)), here)
    bws <- if (!compute) c(bws$ybw, bws$xbw)
  }
  check_np_density_arguments(..., .like = "y ~ x")
  asked <- density_choices(bwmethod, bwscaling, cxkertype, cxkerorder, uxkertype, oxkertype, "x")
  of_y <- density_choices(bwmethod, bwscaling, cykertype, cykerorder, uykertype, oykertype, "y")
  verbose <- asked_verbose(verbose)
  if (missing(xdat) || missing(ydat)) abort_input("`xdat` and `ydat` must be given where there is no formula.")
  both <- conditional_columns(xdat, ydat)
  core <- check_density_sample(both$columns, both$given, na.action)
  check_same_kernels(asked, of_y, core)
  run <- run_options(threads, backend, cuda = asked$method == "cv.ml")
  made <- select_density(core, asked, list(bws = bws, fixed = !compute, nmulti = nmulti), run, verbose)
  finish_density(conditional_fields(made), called_as(quote(npcdensbw), match.call()), started, "kestrel_condensbw",
                 "kestrel_densbw", "conbandwidth")
}

# The columns of y and then of x.
conditional_columns <- function(xdat, ydat) {
  y <- density_columns(ydat, "ydat")
  x <- density_columns(xdat, "xdat")
  if (length(x[[1L]]) != length(y[[1L]])) {
    abort_input("`ydat` must have as many rows as `xdat`, ", length(x[[1L]]), ", not ", length(y[[1L]]), ".")
  }
  list(columns = c(y, x), given = rep(c(FALSE, TRUE), c(length(y), length(x))))
}

# Kernels matter only if both sides have variables of their kind.
check_same_kernels <- function(x, y, core) {
  kinds <- c(ckertype = "icon", ckerorder = "icon", ukertype = "iuno", okertype = "iord")
  for (name in names(kinds)) {
    of <- core[[kinds[[name]]]]
    if (identical(x[[name]], y[[name]]) || !any(of & core$given) && !any(of & !core$given)) next
    of_y <- sub("^(.)", "\\1y", name)
    abort_input("`", of_y, "` must be that of x, ", describe_value(x[[name]]), ", not ", describe_value(y[[name]]), ".")
  }
}

# np's fields of a conditional density, from those of the core and its search.
conditional_fields <- function(made) {
  side <- function(value, given) value[made$given == given]
  both <- function(value) list(x = side(value, TRUE), y = side(value, FALSE))
  columns <- function(given) frame_of(side(unclass(made$x), given), side(made$xnames, given))
  kernels <- unlist(lapply(c("x", "y"), function(of) {
    stats::setNames(made[c("ckertype", "ckerorder", "ukertype", "okertype")],
                    paste0(c("c", "c", "u", "o"), of, c("kertype", "kerorder", "kertype", "kertype")))
  }), recursive = FALSE)
  icon <- which(made$icon)
  fields <- list(xbw = side(made$bw, TRUE), ybw = side(made$bw, FALSE), bandwidth = both(made$raw),
                 sfactor = both(made$raw / mixed_scale(made)), x = columns(TRUE), y = columns(FALSE),
                 xnames = side(made$xnames, TRUE), ynames = side(made$xnames, FALSE),
                 sdev = c(made$sdev[made$given[icon]], made$sdev[!made$given[icon]]))
  for (of in c("x", "y")) {
    for (kind in c("con", "uno", "ord")) {
      flags <- side(made[[paste0("i", kind)]], of == "x")
      fields[[paste0("i", of, kind)]] <- flags
      fields[[paste0(of, "n", kind)]] <- sum(flags)
    }
    fields[[paste0(of, "ndim")]] <- length(flags)
  }
  gone <- c("bw", "raw", "given", "distribution", "grid", "icon", "iuno", "iord", "nuno", "nord", "ckertype",
            "ckerorder", "ukertype", "okertype", names(fields))
  c(fields, kernels, made[!names(made) %in% gone])
}

# The core of a conditional density or distribution function.
conditional_core <- function(bws) {
  joined <- function(field) c(bws[[paste0("iy", field)]], bws[[paste0("ix", field)]])
  of_x <- seq_along(bws$sdev) <= bws$xncon
  list(x = frame_of(c(unclass(bws$y)[seq_len(bws$yndim)], unclass(bws$x)[seq_len(bws$xndim)]),
                    c(bws$ynames, bws$xnames)),
       given = rep(c(FALSE, TRUE), c(bws$yndim, bws$xndim)), nobs = bws$nobs, ndim = bws$ndim, ncon = bws$ncon,
       nuno = bws$xnuno + bws$ynuno, nord = bws$xnord + bws$ynord, icon = joined("con"), iuno = joined("uno"),
       iord = joined("ord"), xnames = c(bws$ynames, bws$xnames), bw = c(bws$ybw, bws$xbw), ckertype = bws$cxkertype,
       ckerorder = bws$cxkerorder, ukertype = bws$uxkertype, okertype = bws$oxkertype, method = bws$method,
       scaling = bws$scaling, regtype = "lc", nconfac = bws$nconfac, ncatfac = bws$ncatfac, terms = bws$terms,
       sdev = c(bws$sdev[!of_x], bws$sdev[of_x]), search = bws$search, ifval = bws$ifval,
       fval.history = bws$fval.history, distribution = inherits(bws, "kestrel_condistbw"))
}
