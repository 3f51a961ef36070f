# Densities and distribution functions of mixed data, also of some columns given others: samples, objectives and
# estimates. A `core` is a list of what the sums need: `x`, a data frame of all columns, `given`, which of them the
# function is conditional on, and the kinds of columns and the kernels as in bandwidth objects of regressions. That of a
# distribution function also has `distribution = TRUE` and for the search `grid`, points of all columns at which errors
# are taken, or NULL for the observations.

density_methods <- c("cv.ml", "cv.ls", "normal-reference")

# Conditional ones have "cv.ls" in place of "cv.cdf".
distribution_methods <- c("cv.cdf", "cv.ls", "normal-reference")

is_distribution <- function(core) isTRUE(core$distribution)

# `columns`: all columns, with their names.
check_density_sample <- function(columns, given, na.action) {
  n <- length(columns[[1L]])
  gone <- Reduce(`|`, lapply(columns, is.na))
  heard()
  omitted <- omitted_rows(gone, na.action)
  if (length(omitted) > 0L) {
    columns <- lapply(columns, function(column) column[!gone])
    n <- sum(!gone)
  }
  for (name in names(columns)) {
    heard()
    check_regressor(columns[[name]], name)
  }
  if (n < 2L) abort_input("`", names(columns)[1L], "` must have at least two observations, not ", n, ".")
  kinds <- unname(kinds_of(columns))
  check_continuous(columns[kinds == "continuous"], "lc")
  list(x = structure(columns, class = "data.frame", row.names = .set_row_names(n)), given = given, nobs = n,
       ndim = length(columns), ncon = sum(kinds == "continuous"), nuno = sum(kinds == "unordered"),
       nord = sum(kinds == "ordered"), icon = kinds == "continuous", iuno = kinds == "unordered",
       iord = kinds == "ordered", xnames = names(columns), na.action = omitted)
}

density_sample <- function(core, run) {
  counts <- vapply(unclass(core$x)[c(which(core$iuno), which(core$iord))], nlevels, 0L)
  mixed_cpp(c(mixed_points(unclass(core$x), core), list(levels = unname(counts), y = numeric(0))), run)
}

# The same with its place, CPU or GPU, for about this many evaluations of the criterion.
placed_density <- function(core, evaluations, run) {
  data <- density_sample(core, run)
  if (run$backend == "cpu" || is_distribution(core) || takes_engines(core, run)) return(data)
  # The sum over triples of a conditional "cv.ls" is on the CPU.
  if (any(core$given) && core$method != "cv.ml") return(data)
  choose_density_place_cpp(data, density_task(core, rep(1, core$ndim)), evaluations, run)
  data
}

# Of bandwidths in the order of the columns, not scaled. Only a column that is given can be smoothed out.
density_task <- function(core, raw) {
  ordered <- raw[core_order(core)]
  given <- core$given[core_order(core)]
  h <- ordered[seq_len(core$ncon)]
  list(h = ifelse(given[seq_len(core$ncon)] & h > far_beyond * ranges_of(core), Inf, h),
       lambda = ordered[seq_along(ordered) > core$ncon], ckertype = core$ckertype,
       ckerorder = as.integer(core$ckerorder), ukertype = core$ukertype, okertype = core$okertype,
       given = as.integer(given), method = core$method)
}

# np's normal reference: of the Gaussian kernel, in the units of bwscaling. Factors split the data.
normal_reference <- function(core) {
  factors <- if (is_distribution(core)) ifelse(core$given, 1.06, 1.587) else 1.059224
  ifelse(core$icon, factors, 0) * mixed_scale(core)
}

# np's units of bandwidths of distribution functions that are not conditional have another power of n.
density_units <- function(core, order, run) {
  units <- mixed_units(core, order, run)
  if (!is_distribution(core) || any(core$given)) return(units)
  replace(units, c("nconfac", "ncatfac"), list(core$nobs^(-1 / (order + 1)), core$nobs^(-2 / (order + 1))))
}

# The objective of a sample and a task, which is to be minimised.
density_objective_of <- function(core, run) {
  if (takes_engines(core, run)) return(objective_by_engines(core, run))
  if (!is_distribution(core)) return(mixed_density_objective_cpp)
  grid <- if (!is.null(core$grid)) mixed_points(unclass(core$grid), core)
  function(sample, task, gradient, run) mixed_distribution_objective_cpp(sample, task, grid, gradient, run)
}

# The bandwidths asked for, not scaled, in the order of the columns, and what is known of them. `given`: `bws`, also not
# scaled, whether they are `fixed`, and `nmulti`.
select_density_bandwidths <- function(core, given, run, verbose) {
  if (given$fixed && is.null(given$bws)) abort_input("`bws` must be given for bandwidth.compute = FALSE.")
  if (given$fixed) return(c(list(raw = given$bws), density_objective_at(core, given$bws, run)))
  if (core$method == "normal-reference") {
    return(c(list(raw = normal_reference(core)), density_objective_at(core, NULL, run)))
  }
  nmulti <- if (is.null(given$nmulti)) min(5L, core$ndim) else max(1L, check_count(given$nmulti, "nmulti", 0L))
  found <- with_search_progress(verbose, "Cross-validation", function(progress) {
    run$progress <- progress
    found <- search_mixed(core, nmulti, if (!is.null(given$bws)) start_at(core, given$bws), run, progress)
    c(found[!names(found) %in% c("data", "objective")],
      density_objective_at(core, found$raw, run, found$objective, found$data))
  })
  if (!is_distribution(core)) found$fval.history <- -found$fval.history
  found
}

density_objective_at <- function(core, raw, run, objective = density_objective_of(core, run),
                                 data = placed_density(core, 1, run)) {
  if (core$method == "normal-reference") {
    return(list(fval = NA_real_, n.unsupported = NA_integer_, engine = "direct", backend = "cpu"))
  }
  found <- objective(data, density_task(core, raw), FALSE, run)
  c(list(fval = if (is_distribution(core)) found$value else -found$value,
         n.unsupported = as.integer(found$unsupported), engine = if (is.null(found$engine)) "direct" else found$engine),
    mixed_place_cpp(data))
}

# What the search says of bandwidths at the ends of their ranges.
density_remarks <- function(core, found) {
  task <- density_task(core, found$raw)
  ordered <- core_order(core)
  narrow <- core$xnames[sort(ordered[seq_len(core$ncon)][task$h < 1.1e-7 * core$sdev])]
  distribution <- is_distribution(core)
  if (length(narrow) > 0L && !distribution) {
    warn_search("The best ", core$method, " is at the least bandwidths of the search for ", quoted(narrow),
                ": values that are tied make it unbounded.")
  }
  out <- c(is.infinite(task$h), task$lambda >= largest_lambda(core) * (1 - 1e-9) & largest_lambda(core) > 0)
  names <- core$xnames[sort(ordered[out & core$given[ordered]])]
  widest <- distribution & is.finite(task$h) & task$h > 0.9 * core$sdev / sqrt(nearly_out)
  wide <- core$xnames[sort(ordered[seq_len(core$ncon)][widest])]
  c(if (length(wide) > 0L) {
      paste0("The best ", core$method, " is at the largest bandwidths of the search for ", quoted(wide),
             ": there the distribution function is nearly constant.")
    },
    if (length(names) > 0L) {
      paste0("The best ", core$method, " is where ", quoted(names), if (length(names) == 1L) " is" else " are",
             " smoothed out: the ", if (distribution) "distribution function" else "density", " does not depend on ",
             if (length(names) == 1L) "it" else "them", ".")
    })
}

# Densities or distribution functions at points, a data frame of all columns, or at the data: NA where a value is
# missing, a level is unknown or no observation counts for what is given.
density_values_at <- function(core, raw, points, run, gradients = FALSE) {
  columns <- if (is.null(points)) unclass(core$x) else unclass(points)[seq_len(core$ndim)]
  known <- !Reduce(`|`, lapply(columns, is.na))
  heard()
  columns <- lapply(columns, function(column) column[known])
  sample <- NULL
  if (takes_engines(core, run) && !gradients) {
    at <- function(columns, gradients) values_by_engines(core, raw, columns, run)
  } else {
    sample <- if (gradients || any(core$given)) density_sample(core, run) else placed_density(core, 2, run)
    task <- density_task(core, raw)
    sums <- if (is_distribution(core)) mixed_distribution_cpp else mixed_density_cpp
    at <- function(columns, gradients) sums(sample, task, mixed_points(columns, core), gradients, run)
  }
  found <- at(columns, gradients)
  place <- if (is.null(sample)) list(backend = "cpu") else mixed_place_cpp(sample)
  placed <- function(value) {
    whole <- matrix(NA_real_, length(known), NCOL(value))
    whole[known, ] <- value
    if (is.matrix(value)) whole else as.vector(whole)
  }
  values <- list(density = placed(found$density), se = placed(found$se), place = place)
  if (!gradients) return(values)
  grad <- gerr <- matrix(NA_real_, sum(known), core$ndim)
  grad[, core$icon] <- found$grad
  gerr[, core$icon] <- found$gerr
  as_fit <- function(found) list(mean = found$density, se = found$se)
  for (k in which(!core$icon & core$given)) {
    effect <- effect_of(columns, k, core, as_fit(found), function(columns) as_fit(at(columns, FALSE)))
    grad[, k] <- effect$grad
    gerr[, k] <- effect$gerr
  }
  c(values, list(grad = placed(grad)[, core$given, drop = FALSE], gerr = placed(gerr)[, core$given, drop = FALSE]))
}

# As in np densities below the least normal number count as it.
log_likelihood_of <- function(density) {
  density <- density[!is.na(density)]
  heard()
  sum(log(pmax(density, .Machine$double.xmin)))
}
