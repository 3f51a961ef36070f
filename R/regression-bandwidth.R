# What npregbw() does with its arguments: checks, and the fields of a bandwidth object with one numeric regressor.

# The fields of a bandwidth object with one numeric regressor. With `needed`, see search_bandwidth(), it also has the
# `.observations` of the search.
single_regbw <- function(xdat, ydat, asked, given, refine, w, na.action, run, verbose, needed) {
  bws <- given$bws
  if (given$fixed && length(without_class(bws)) != 1L) {
    abort_input("`bws` must be one bandwidth for bandwidth.compute = FALSE, not ", describe_value(bws), ".")
  }
  if (!given$fixed && length(without_class(bws)) == 1L) {
    if (asked$type == "fixed") check_bandwidths(bws) else check_neighbours(bws)
    inform_ignored("bws")
    given["bws"] <- list(NULL)
  }
  if (is_nearest(asked)) check_nearest_arguments(asked, given)
  sample <- check_regression_sample(xdat, ydat, w, na.action)
  asked$sdev <- spread_of(if (sample$nobs < length(sample$x)) sample$x[sample$w > 0] else sample$x, run)
  asked$nconfac <- sample$nobs^(-1 / (2 * asked$ckerorder + 1))
  found <- with_progress(verbose, "Cross-validation", function(progress) {
    run$progress <- progress
    search_bandwidth(sample, asked, given, refine, run, needed)
  })
  for (remark in found$remarks) inform(remark)
  data <- found$data
  found$data <- NULL
  spread <- asked$sdev * asked$nconfac
  raw <- if (asked$scaling) found$bw * spread else found$bw
  c(found, asked, sample,
    list(ifval = 1L, bandwidth = list(x = raw), sfactor = list(x = raw / spread),
         engine = regression_engine(asked$ckertype, found$backend, asked$type)),
    if (!is.null(needed)) list(.observations = data))
}

check_order <- function(order, kernel, mixed = FALSE, name = "ckerorder") {
  order <- plain(order)
  if (!is_number(order) || !order %in% c(2, 4, 6, 8)) {
    abort_input("`", name, "` must be 2, 4, 6 or 8, not ", describe_value(order), ".")
  }
  if (kernel == "uniform") return(2)
  if (kernel != "gaussian" && order != 2 && !mixed) {
    abort_input("`", name, "` must be 2 for the kernel \"", kernel, "\", not ", describe_value(order),
                ": higher orders are there for \"gaussian\" only.")
  }
  as.numeric(order)
}

# Arguments for one numeric regressor.
refuse_for_mixed <- function(given, asked) {
  given <- Filter(Negate(is.null), given)
  if (asked$bw.scale == "support") given$bw.scale <- "support"
  if (is_nearest(asked)) {
    abort_input("`bwtype` must be \"fixed\" with several regressors or a factor, not \"", asked$type, "\".")
  }
  if (length(given) > 0L) {
    abort_input("`", names(given)[1L], "` must not be given with several regressors or a factor: it is for one numeric ",
                "regressor.")
  }
}

# Arguments of np that only steer its search or are for categories.
np_search_arguments <- c("nmulti", "remin", "itmax", "ftol", "tol", "small", "lbc.dir", "dfc.dir", "cfac.dir",
                         "initc.dir", "lbd.dir", "hbd.dir", "dfac.dir", "initd.dir", "lbc.init", "hbc.init",
                         "cfac.init", "lbd.init", "hbd.init", "dfac.init", "ukertype", "okertype", "bwsolver",
                         "powell.remin", "invalid.penalty", "penalty.multiplier", "transform.bounds",
                         "scale.factor.init", "scale.factor.init.lower", "scale.factor.init.upper",
                         "scale.factor.search.lower", "scale.init.categorical.sample", "random.seed")

# np's arguments that would change the result, with the one value that is computed here.
np_fixed_arguments <- list(ckerbound = "none", nomad = FALSE)

# The arguments left in the dots: only those of np are evaluated, since others may be expressions in the variables of
# `data`. `.named`: the names of all arguments.
check_np_arguments <- function(..., .named, .mixed) {
  given <- given_names(...)
  if ("formula" %in% given) abort_input("`formula` must be a formula, as in y ~ x.")
  with_formula <- intersect(c("data", "subset"), given)
  if (length(with_formula) > 0L) {
    abort_input("`formula` must be a formula, as in y ~ x, where `", with_formula[1L], "` is given.")
  }
  with_effect <- if (.mixed) c("nmulti", "ukertype", "okertype")
  inform_ignored(setdiff(intersect(c(setdiff(.named, given), given), np_search_arguments), with_effect),
                 if (.mixed) "the search has steps and tolerances of its own, and draws no random numbers")
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
