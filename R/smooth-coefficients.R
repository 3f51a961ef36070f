# Bandwidths of regressions whose coefficients are smooth functions (Li & Racine 2007, ch. 9).

#' Bandwidths of a smooth coefficient regression
#'
#' Selects the bandwidths of the model y = gamma_0(z) + x gamma(z) + error of [npscoef()], by least squares
#' cross-validation. Names, arguments and fields are those of package \pkg{np}.
#'
#' The objective is the mean of the squared residuals of leave-one-out fits, each a fit of y on x and a constant by
#' least squares with the kernel weights of z (Li & Racine 2010). The search is that of [npregbw()] for several
#' regressors, by exact gradients, from `nmulti` places that are always the same. Bandwidths of numbers may be infinite,
#' and factors smoothed out: then coefficients do not depend on this variable. Values of the objective are those of
#' \pkg{np} 0.60 at the same bandwidths. Where the neighbours do not differ in some direction of x, the coefficients are
#' there those of the regression on all of x by least squares; a message counts such fits.
#'
#' Without `zdat`, or with a formula without a bar, z is x.
#'
#' @param xdat the regressors that have coefficients, as in [npplregbw()]. It may be the formula.
#' @param ydat the response.
#' @param zdat the variables on which coefficients depend, numbers and factors.
#' @param bws a bandwidth for each variable of z, in their order: the first start or, for `bandwidth.compute = FALSE`,
#'   the bandwidths. A bandwidth object decides on kernels and scale.
#' @param bandwidth.compute FALSE to take `bws` as they are.
#' @param formula `y ~ x1 + x2 | z1 + z2`, or `y ~ x`.
#' @param data,subset,na.action where the variables are, which rows to use, and what to do with missing values, as in
#'   [npregbw()].
#' @param bwscaling,ckertype,ckerorder,ukertype,okertype,nmulti as in [npregbw()] for several regressors.
#' @param bwmethod `"cv.ls"`.
#' @param threads,verbose as in [npregbw()].
#' @param ... arguments of \pkg{np} without effect: those of its search, and `backfit.iterate`, `backfit.maxiter`,
#'   `backfit.tol` and `cv.num.iterations`, which matter with `cv.iterate = TRUE` only. That one must be FALSE.
#' @return An object of class `c("kestrel_scbw", "scbandwidth")`, a list with
#'   \item{bw}{the bandwidths, on the scale of `bwscaling`}
#'   \item{bandwidth, sfactor}{lists whose entry `z` is the bandwidths without and with the scaling}
#'   \item{fval}{the objective}
#'   \item{x, z, y, design}{the data as used, and the matrix made of x}
#'   and `xnames`, `ynames`, `znames`, `ndim`, `ncon`, `nuno`, `nord`, `icon`, `iuno`, `iord`, `nobs`, `method`,
#'   `ckertype`, `ckerorder`, `ukertype`, `okertype`, `scaling`, `fval.history`, `num.feval`, `remarks`, `n.ridged`,
#'   `formula`, `terms`, `rows.omit`, `nobs.omit`, `seconds`, `call`. The field `bw` may be edited.
#' @section Units: Bandwidths of numbers are in the units of their columns, lambda has none.
#' @section Errors: The errors of [npregbw()] for several regressors can occur here, too, and errors of class
#'   `kestrel_error_input` for columns of x that determine each other, more than 32 of them, and data of different
#'   lengths.
#' @section Cost: An evaluation with its gradient takes O(n^2 (p + q + k^2)) for p numbers and q factors in z and k
#'   columns of x: about 5 ns for a pair, on one core, with one number and two columns. All threads are used.
#' @references Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 9.
#'
#'   Li, Q. & Racine, J.S. (2010) Smooth varying-coefficient estimation and inference for qualitative and quantitative
#'   data. *Econometric Theory* **26**, 1607-1637.
#' @seealso [npscoef()]
#' @examples
#' bw <- npscoefbw(mpg ~ hp | wt, data = mtcars)
#' bw
#' summary(npscoefbw(mpg ~ hp | factor(am), data = mtcars))
#' @export
npscoefbw <- function(xdat, ydat, zdat = NULL, bws = NULL, bandwidth.compute = TRUE, ..., formula = NULL, data = NULL,
                      subset, bwmethod = "cv.ls", bwscaling = FALSE,
                      ckertype = "gaussian", ckerorder = 2,
                      ukertype = c("aitchisonaitken", "liracine"),
                      okertype = c("liracine", "wangvanryzin", "racineliyan"), nmulti = NULL, na.action = NULL,
                      threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  check_scoef_arguments(...)
  compute <- check_flag(bandwidth.compute, "bandwidth.compute")
  verbose <- asked_verbose(verbose)
  if (inherits(bws, "kestrel_scbw")) {
    check_object(bws, "bws", "kestrel_scbw")
    here <- environment()
    list2env(choices_of(bws, mget(intersect(chosen_by(bws), names(call)), here)), here)
    bws <- bws$bw
  }
  asked <- list(regtype = "lc", method = check_choice(bwmethod, "cv.ls", "bwmethod"),
                ckertype = check_choice(ckertype, kernel_names(), "ckertype"), unsupported = "reject",
                scaling = check_flag(bwscaling, "bwscaling"), type = "fixed",
                ukertype = check_choice(ukertype, c("aitchisonaitken", "liracine"), "ukertype"),
                okertype = check_choice(okertype, c("liracine", "wangvanryzin", "racineliyan"), "okertype"))
  asked$ckerorder <- check_order(ckerorder, asked$ckertype)
  if (is.null(formula) && !missing(xdat) && inherits(xdat, "formula")) {
    formula <- xdat
    names(call)[names(call) == "xdat"] <- "formula"
    if (is.null(data) && !missing(ydat)) data <- ydat
  }
  if (!is.null(formula)) {
    read <- read_coefficients(formula, data, call, parent.frame())
    if (is.null(na.action)) na.action <- getOption("na.action")
  } else {
    if (missing(xdat) || missing(ydat)) abort_input("`xdat` and `ydat` must be given where there is no formula.")
    x <- named_column(xdat, "xdat")
    read <- list(x = x, y = named_column(ydat, "ydat"), z = if (is.null(zdat)) x else named_column(zdat, "zdat"))
    if (is.null(na.action)) na.action <- stats::na.omit
  }
  sample <- scoef_sample(read, na.action)
  run <- run_options(threads, "cpu")
  core <- c(sample$core, asked, mixed_units(sample$core, asked$ckerorder, run))
  scale <- if (asked$scaling) mixed_scale(core) else 1
  start <- if (!is.null(bws)) check_mixed_bandwidths(bws, core, scale) * scale
  if (!compute && is.null(start)) abort_input("`bws` must be given for bandwidth.compute = FALSE.")
  nmulti <- if (is.null(nmulti)) min(5L, core$ndim) else max(1L, check_count(nmulti, "nmulti", 0L))
  found <- with_search_progress(verbose, "Cross-validation", function(progress) {
    run$progress <- progress
    found <- if (compute) search_mixed(core, nmulti, if (!is.null(start)) start_at(core, start), run, progress) else
      list(raw = start, num.feval = 1L)
    c(found, scoef_objective(core, found$raw, run))
  })
  if (!compute && found$n.unsupported > 0L) {
    warn_support(found$n.unsupported, " of ", core$nobs, " observations have no neighbour at these bandwidths: ",
                 "cross-validation leaves them out.")
  }
  remarks <- as.character(if (compute) scoef_remarks(core, found))
  for (remark in remarks) inform(remark)
  z <- core$x
  made <- c(list(bw = found$raw / scale, bandwidth = list(z = found$raw),
                 sfactor = list(z = found$raw / mixed_scale(core)), x = sample$x, z = z, design = sample$design),
            core[!names(core) %in% c("x", "xnames", "design", "rest", "plane")],
            found[c("fval", "fval.history", "num.feval", "n.unsupported", "n.ridged")],
            list(xnames = names(sample$x), znames = core$xnames, remarks = remarks,
                 search = if (compute) "starts" else "none", rows.omit = as.vector(core$na.action),
                 nobs.omit = length(core$na.action), formula = formula, terms = read$terms, call = call,
                 seconds = proc.time()[["elapsed"]] - started))
  structure(Filter(Negate(is.null), made), class = c("kestrel_scbw", "scbandwidth"))
}

# Arguments of np in the dots.
check_scoef_arguments <- function(...) {
  given <- given_names(...)
  without_effect <- c(np_search_arguments, "backfit.iterate", "backfit.maxiter", "backfit.tol", "cv.num.iterations",
                      "optim.method", "optim.maxattempts", "optim.reltol", "optim.abstol", "optim.maxit")
  fixed <- list(bwtype = "fixed", cv.iterate = FALSE)
  check_known("npscoefbw", given, c(names(formals(npscoefbw)), without_effect, names(fixed)))
  check_named("npscoefbw", given, "bandwidth.compute")
  inform_ignored(intersect(given, without_effect),
                 "the search has steps and tolerances of its own, and draws no random numbers")
  check_fixed_arguments(fixed, ...)
}

# The variables of a formula y ~ x | z, or y ~ x, where z is x.
read_coefficients <- function(formula, data, call, env) {
  right <- if (length(formula) == 3L) formula[[3L]]
  if (is.call(right) && identical(right[[1L]], as.name("|"))) {
    return(read_two_parts(formula, data, call, env, shared = TRUE))
  }
  read <- read_one_part(formula, data, call, env)
  part <- stats::delete.response(read$terms)
  list(x = read$x, y = read$y, z = read$x, terms = list(y = read$terms, x = part, z = part))
}

# The sample: `core`, z and the choices as those of a regression with several regressors, with the design.
scoef_sample <- function(read, na.action) {
  sample <- two_part_sample(read$x, read$y, read$z, na.action)
  z <- unclass(sample$z)
  for (name in names(sample$z)) check_regressor(z[[name]], name)
  check_observed(list(value = sample$y, name = sample$ynames))
  n <- length(sample$y)
  if (n < 2L) abort_input("`ydat` must have at least two observations, not ", n, ".")
  kinds <- unname(kinds_of(z))
  check_continuous(stats::setNames(z[kinds == "continuous"], names(sample$z)[kinds == "continuous"]), "lc")
  check_squares(sample$y, ones_cpp(n), sample$ynames, NULL)
  design <- linear_design(sample$x)$matrix
  if (ncol(design) > 32L) abort_input("`xdat` must have at most 32 columns, not ", ncol(design), ".")
  for (k in seq_len(ncol(design))) check_extent(range(design[, k]), colnames(design)[k], NULL)
  if (ncol(design) > 1L && n > ncol(design)) {
    check_determined(design)
  }
  if (n <= ncol(design) + 1L) {
    abort_input("`xdat` must have more rows than there are coefficients, ", ncol(design) + 1L, ", not ", n, ".")
  }
  core <- list(x = sample$z, y = sample$y, w = ones_cpp(n), nobs = n, ndim = length(z),
               ncon = sum(kinds == "continuous"), nuno = sum(kinds == "unordered"), nord = sum(kinds == "ordered"),
               icon = kinds == "continuous", iuno = kinds == "unordered", iord = kinds == "ordered",
               xnames = names(sample$z), ynames = sample$ynames, na.action = sample$na.action)
  list(core = c(core, with_plane(design, sample$y)), x = sample$x, design = design)
}

# The design, and the response without the plane of least squares, which local fits reproduce.
with_plane <- function(design, y) {
  centre <- colMeans(design)
  x <- design - rep(centre, each = nrow(design))
  level <- mean(y)
  slope <- qr.coef(qr(x), y - level)
  slope <- as.vector(replace(slope, is.na(slope), 0))
  list(design = design, rest = as.vector(y - level - x %*% slope),
       plane = list(centre = centre, level = level, slope = slope))
}

# What the core takes of it; `at`: rows of the design at points.
core_design <- function(core, at = core$design, error2 = numeric(0), leave_out = FALSE) {
  list(x = core$design, y = core$rest, at = at, error2 = error2, leave_out = leave_out)
}

# Whether the choices are those of a model with smooth coefficients.
has_design <- function(bws) !is.null(bws$design)

scoef_objective <- function(core, raw, run) {
  found <- mixed_coefficient_objective_cpp(mixed_sample(core, run), mixed_task(core, raw), core_design(core), FALSE,
                                           run)
  list(fval = found$value, n.unsupported = as.integer(found$unsupported), n.ridged = as.integer(found$ridged))
}

scoef_remarks <- function(core, found) {
  task <- mixed_task(core, found$raw)
  out <- c(is.infinite(task$h), task$lambda >= largest_lambda(core) & largest_lambda(core) > 0)
  names <- core$xnames[sort(core_order(core)[out])]
  c(if (length(names) > 0L) {
      paste0("The least cv.ls is where ", and_list(paste0("`", names, "`")), if (length(names) == 1L) " is" else " are",
             " smoothed out: the coefficients do not depend on ", if (length(names) == 1L) "it" else "them", ".")
    },
    if (found$n.ridged > 0L) {
      paste0(found$n.ridged, " of ", core$nobs, " local fits have neighbours that do not differ in some direction of ",
             "x: there the coefficients are those of the plane through all observations.")
    })
}

# The core of a bandwidth object.
scoef_core <- function(bws) {
  core <- unclass(bws)
  core$x <- bws$z
  core$xnames <- bws$znames
  core$design <- NULL
  c(core, with_plane(bws$design, bws$y))
}

scoef_raw <- function(bws) if (bws$scaling) bws$bw * mixed_scale(scoef_core(bws)) else bws$bw

# ---- print and summary --------------------------------------------------------------------------------------------

scbw_text <- function(bws) {
  paste0(bws$ynames, " on ", and_list(bws$xnames), ", with coefficients that depend on ", and_list(bws$znames))
}

scbw_lines <- function(bws) {
  core <- scoef_core(bws)
  c("Bandwidths of a smooth coefficient regression",
    call_lines(bws$call),
    label_line("n", size_text(core)),
    label_line("model", scbw_text(bws)),
    label_line("kernel", mixed_kernel_text(core)),
    label_line("bandwidth", mixed_bandwidth_text(core)),
    label_line("cv.ls", format(bws$fval, digits = 7)),
    label_line("search", mixed_search_text(core)),
    unlist(lapply(bws$remarks, label_line, label = "remark")))
}

#' @rdname npscoefbw
#' @param x,object a result of `npscoefbw()`.
#' @export
print.kestrel_scbw <- function(x, ...) {
  check_object(x, "x", "kestrel_scbw")
  cat(scbw_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname npscoefbw
#' @export
summary.kestrel_scbw <- function(object, ...) {
  check_object(object, "object", "kestrel_scbw")
  structure(list(bws = object, table = bandwidth_table(scoef_core(object), scoef_raw(object), "variable")),
            class = "summary.kestrel_scbw")
}

#' @export
print.summary.kestrel_scbw <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_scbw")
  cat(scbw_lines(x$bws), "", "Bandwidths, with the largest of each factor, at which it is smoothed out:", sep = "\n")
  print_bandwidth_table(x$table)
  invisible(x)
}
