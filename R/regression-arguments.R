# Arguments of npregbw() and npreg(): the order of the kernel, and those of np without a meaning here.

# `higher`: the kernels that have higher orders.
check_order <- function(order, kernel, name = "ckerorder", higher = c("gaussian", "epanechnikov")) {
  order <- plain(order)
  if (!is_number(order) || !order %in% c(2, 4, 6, 8)) {
    abort_input("`", name, "` must be 2, 4, 6 or 8, not ", describe_value(order), ".")
  }
  if (kernel == "uniform") return(2)
  if (!kernel %in% higher && order != 2) {
    abort_input("`", name, "` must be 2 for the kernel \"", kernel, "\", not ", describe_value(order),
                ": higher orders are there for ", and_list(paste0("\"", higher, "\"")), ".")
  }
  as.numeric(order)
}

# What npreg() adds to the arguments of npregbw(): `needed` of search_bandwidth(). The result then also has the
# `.observations` of the search. A user's call cannot have such an argument, because npregbw() knows none of this name.
added_by_fit <- function(...) {
  position <- match(".needed", given_names(...))
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
np_fixed_arguments <- list(ckerbound = "none", nomad = FALSE)
np_fixed_of_densities <- c(list(bwtype = "fixed"), np_fixed_arguments)

# Arguments for one numeric regressor and a kernel whose sums have an engine of their own.
refuse_for_mixed <- function(given, asked, several) {
  with <- if (several) "several regressors or a factor" else "an Epanechnikov kernel of a higher order"
  given <- Filter(Negate(is.null), given)
  if (asked$bw.scale == "support") given$bw.scale <- "support"
  if (length(given) > 0L) {
    abort_input("`", names(given)[1L], "` must not be given with ", with, ": it is for one numeric regressor",
                if (!several) " and order 2", ".")
  }
}

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
