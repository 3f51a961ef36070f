# Bandwidth objects of several regressors or of factors.

# `given`: the user's `bws`, whether they are `fixed`, and `nmulti`.
mixed_regbw <- function(xdat, ydat, w, asked, given, na.action, run, verbose) {
  sample <- check_mixed_sample(xdat, ydat, w, na.action, asked)
  bws <- c(sample, asked, mixed_units(sample, asked$ckerorder, run))
  scale <- if (asked$scaling) mixed_scale(bws) else 1
  start <- if (!is.null(given$bws)) check_mixed_bandwidths(given$bws, bws, scale) * scale
  most <- if (is_nearest(asked)) most_neighbours(bws, run)
  if (!is.null(start) && is_nearest(asked)) check_most_neighbours(start, bws, most)
  if (given$fixed && is.null(start)) abort_input("`bws` must be given for bandwidth.compute = FALSE.")
  nmulti <- if (is.null(given$nmulti)) min(5L, sample$ndim) else max(1L, check_count(given$nmulti, "nmulti", 0L))
  found <- with_search_progress(verbose, "Cross-validation", function(progress) {
    run$progress <- progress
    found <- if (given$fixed) {
      list(raw = start, data = placed_sample(bws, 1, run))
    } else {
      start <- if (!is.null(start)) start_at(bws, start)
      if (is_nearest(asked)) search_mixed_neighbours(bws, most, nmulti, start, run, progress) else
        search_mixed(bws, nmulti, start, run, progress)
    }
    c(found, objective_at(bws, found$raw, found$data, run))
  })
  if (given$fixed) {
    at <- if (is_nearest(asked)) and_list(start[bws$icon]) else start
    warn_unsupported(found$n.unsupported, sample$nobs, at, asked)
  }
  remarks <- if (!given$fixed) mixed_remarks(bws, found)
  for (remark in remarks) inform(remark)
  raw <- found$raw
  made <- c(list(bw = if (asked$scaling) raw / scale else raw, search = if (given$fixed) "none" else "starts",
                 remarks = as.character(remarks)),
            found[setdiff(names(found), c("raw", "data", "objective", "most"))], bws, mixed_place_cpp(found$data),
            list(bandwidth = list(x = raw), sfactor = list(x = raw / mixed_scale(bws)),
                 evaluations = if (given$fixed) 1L else found$num.feval, engine = "direct"))
  if (given$fixed) made$ifval <- 1L
  made
}

# Bandwidths as a user gives them: positive for numbers, and from 0 to the largest lambda for factors.
check_mixed_bandwidths <- function(given, bws, scale = 1) {
  given <- plain(given)
  if (!is_numbers(given) || length(given) != bws$ndim || length(dim(given)) > 1L) {
    abort_input("`bws` must have one bandwidth for each of the ", bws$ndim,
                if (is.null(bws$given)) " regressors" else " columns", ", not ", describe_value(given), ".")
  }
  given <- as.numeric(given)
  largest <- rep(Inf, bws$ndim)
  largest[core_order(bws)[seq_len(bws$ndim) > bws$ncon]] <- largest_lambda(bws)
  largest <- largest / scale
  for (k in seq_len(bws$ndim)) {
    one <- given[k]
    if (bws$icon[k]) {
      if (is_nearest(bws)) {
        check_neighbours(one)
      } else if (is.na(one) || one <= 0) {
        abort_input("`bws` must be positive for `", bws$xnames[k], "`, not ", describe_value(one), ".")
      }
    } else if (is.na(one) || one < 0 || one > largest[k] * (1 + 1e-7)) {
      abort_input("`bws` must be between 0 and ", describe_value(largest[k]), " for the factor `", bws$xnames[k],
                  "`, not ", describe_value(one), ".")
    }
  }
  pmin(given, largest)
}

# A start of the search, from bandwidths in the order of the columns.
start_at <- function(bws, raw) {
  task <- mixed_task(bws, raw)
  theta_of(task$h, task$lambda, bws)
}

objective_at <- function(bws, raw, data, run) {
  found <- mixed_objective_cpp(data, mixed_task(bws, raw), FALSE, run)
  list(fval = found$value, n.unsupported = as.integer(found$unsupported), n.ridged = as.integer(found$ridged))
}

# What npregbw() says of bandwidths at the ends of their ranges, and of singular neighbourhoods.
mixed_remarks <- function(bws, found) {
  task <- mixed_task(bws, found$raw)
  out <- c(is.infinite(task$h), task$lambda >= largest_lambda(bws) & largest_lambda(bws) > 0)
  names <- bws$xnames[sort(core_order(bws)[out])]
  last <- bws$xnames[bws$icon][which(is_nearest(bws) & task$h == found$most)]
  linear <- if (bws$regtype == "ll" && any(is.infinite(task$h))) ", or linear in all of its range"
  c(if (length(names) > 0L) {
      paste0("The least ", bws$method, " is where ", and_list(paste0("`", names, "`")),
             if (length(names) == 1L) " is" else " are", " smoothed out: the fit is constant in ",
             if (length(names) == 1L) "it" else "them", linear, ".")
    },
    if (length(last) > 0L) {
      paste0("The least ", bws$method, " is at the largest number of neighbours that every observation has for ",
             and_list(paste0("`", last, "`")), ".")
    },
    if (found$n.ridged > 0L) {
      paste0(found$n.ridged, " of ", bws$nobs, " local linear fits have neighbours that do not differ in some ",
             "direction: there the slope is that of the plane through all observations.")
    })
}
