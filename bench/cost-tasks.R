# The sections of calibrate.R: tasks, their times, and constants fitted to them. A section takes the present constants
# and the fitted ones so far, and returns a list: `found`, a row for each task and engine (see show_choice()), and
# `costs`, the constants that it fits.
one_thread <- function(...) of_kestrel("run_options")(threads = 1L, ...)
best_isa <- function() kestrel_info()$isa
# The least time, since other work on the machine can only add to it.
seconds_taken <- function(call) min(race(list(one = call), 3L))
# Less those of a call that has nothing to sum.
net_seconds <- function(call, idle) max(seconds_taken(call) - idle, idle / 10)
fresh_sample <- function(x) of_kestrel("sample_cpp")(x, of_kestrel("ones_cpp")(NROW(x)))

# ---- densities: n normal observations, a grid or points, and bandwidths of so many standard deviations.
density_tasks <- function() {
  expand.grid(d = 1:3, n = sized(c(1e3, 3e4, 1e6), c(1e3, 3e4)), h = c(0.02, 0.3), gridded = c(TRUE, FALSE),
              kernel = c("gaussian", "epanechnikov", "tricube", "uniform"), stringsAsFactors = FALSE)
}
# Direct sums and trees that would take longer are left out.
longest <- sized(3, 0.1)

# A list of what is known of a task, and functions of it.
density_task <- function(row) {
  x <- matrix(rnorm(row$n * row$d), row$n)
  axis <- seq(-4, 4, length.out = c(1000, 150, 40)[row$d])
  points <- matrix(rnorm(min(row$n, 1e4) * row$d), ncol = row$d)
  task <- list(points = if (row$gridded) matrix(0, 0L, row$d) else points,
               axes = if (row$gridded) rep(list(axis), row$d) else list(), root = diag(row$h, row$d),
               kernel = row$kernel, kernel_type = "radial")
  # Engines keep what they have made of a sample in it, so every call has a new one.
  with_sample <- function(task) c(list(sample = fresh_sample(x)), task)
  run <- function(engine, isa) c(replace(one_thread(), "isa", isa), engine = engine, tol = 1e-12)
  c(row, list(
    axis = axis, m = if (row$gridded) length(axis)^row$d else nrow(points), spread = diff(range(x)) / row$h,
    engines = of_kestrel("engines_cpp")(row$kernel, row$d, row$gridded),
    plan = function(engine, isa = best_isa(), kernel = row$kernel) {
      tryCatch(of_kestrel("plan_cpp")(with_sample(replace(task, "kernel", kernel)), 1, run(engine, isa)),
               error = function(e) NULL)
    },
    call = function(engine, isa = best_isa()) {
      function() of_kestrel("density_cpp")(with_sample(task), run(engine, isa), function(plan) NULL)
    }))
}

# The share of pairs that a tree sums, from a plan that chose the tree: on narrow vectors pairs cost more, and the tree
# is chosen more often. NA if it is not.
tree_share <- function(costs, task) {
  for (isa in unique(c(best_isa(), kestrel_info()$isa_available))) {
    plan <- task$plan("auto", isa)
    if (!identical(plan$engine, "kdtree")) next
    pair <- sum(seconds_of(costs, pair_counts(costs, task$kernel, task$d, isa)))
    rest <- sum(kdtree_parts(costs, task$n, task$m, 0))
    return((plan$seconds - rest) / (costs[["kTreePairFactor"]] * task$n * task$m * pair))
  }
  NA
}

# The constants of an engine's folder, by engine, for engines without a model in cost-models.R.
scaled_together <- function(costs) {
  names <- grep("^k(Trim|Lag)", names(costs), value = TRUE, invert = TRUE)
  split(names, attr(costs, "folder")[names])
}

# The seconds of each constant as a function of the constants; NULL if they are not known.
density_parts <- function(costs, task, engine, isa) {
  force(isa)
  plan <- task$plan(engine, isa)
  if (engine == "kdtree") {
    share <- tree_share(costs, task)
    if (is.na(share)) return(NULL)
    return(function(at) {
      pair <- sum(seconds_of(at, pair_counts(at, task$kernel, task$d, isa)))
      kdtree_parts(at, task$n, task$m, share * task$n * task$m * at[["kTreePairFactor"]] * pair)
    })
  }
  if (is.null(plan)) return(NULL)
  known <- switch(engine,
    direct = function(at) {
      direct_parts(at, task$n, task$m, if (task$d == 1L) task$spread else 0, task$kernel, task$d, isa)
    },
    sweep = function(at) sweep_parts(at, task$n, task$m),
    fgt = function(at) fgt_parts(at, task$n, task$m, task$spread),
    scanline = function(at) scanline_parts(at, task$n, task$axis, task$d, task$h, task$kernel),
    {
      of_engine <- scaled_together(costs)[[engine]]
      function(at) stats::setNames(plan$seconds * at[[of_engine[1L]]] / costs[[of_engine[1L]]], engine)
    })
  if (abs(sum(known(costs)) / plan$seconds - 1) > 1e-6) {
    stop("a plan of \"", engine, "\" expects ", plan$seconds, " seconds, and bench/cost-models.R ", sum(known(costs)),
         ": is the installed kestrel of these sources?")
  }
  known
}

measure_density <- function(costs, row, idle) {
  task <- density_task(row)
  name <- sprintf("%s, d = %d, n = %g, h = %g%s", row$kernel, row$d, row$n, row$h, if (row$gridded) ", grid" else "")
  ways <- data.frame(engine = task$engines, isa = best_isa())
  others <- setdiff(kestrel_info()$isa_available, best_isa())
  if (!row$gridded) ways <- rbind(ways, data.frame(engine = rep("direct", length(others)), isa = others))
  direct <- sum(density_parts(costs, task, "direct", best_isa())(costs))
  auto <- task$plan("auto")
  linear <- any(task$engines %in% c("sweep", "fgt", "fourier", "scanline"))
  rows <- lapply(seq_len(nrow(ways)), function(i) {
    engine <- ways$engine[i]
    parts <- density_parts(costs, task, engine, ways$isa[i])
    expected <- if (is.null(parts)) NA else sum(parts(costs))
    if (engine != "kdtree" && is.na(expected)) return(NULL)
    if ((if (is.na(expected)) direct else expected) > longest) return(NULL)
    best <- ways$isa[i] == best_isa()
    weighed <- best && !is.na(expected) && !(engine == "kdtree" && linear) &&
      !(engine == "fourier" && task$plan(engine)$rounding > 1e-12)
    list(task = if (best) name else paste0(name, ", ", ways$isa[i]), engine = engine, parts = parts, weighed = weighed,
         took = net_seconds(task$call(engine, ways$isa[i]), idle), chosen = best && engine == auto$engine)
  })
  Filter(Negate(is.null), rows)
}

calibrate_densities <- function(costs, fitted) {
  tasks <- density_tasks()
  nothing <- density_task(data.frame(d = 1, n = 2, h = 1, gridded = FALSE, kernel = "uniform"))
  idle <- seconds_taken(nothing$call("direct"))
  rows <- unlist(lapply(split(tasks, seq_len(nrow(tasks))), function(row) measure_density(costs, row, idle)), FALSE)
  engine <- vapply(rows, `[[`, "", "engine")
  known <- !vapply(rows, function(row) is.null(row$parts), TRUE)
  groups <- scaled_together(costs)
  # Direct sums come first: trees sum their pairs.
  for (one in c("direct", setdiff(unique(engine[known]), "direct"))) {
    of_engine <- rows[engine == one & known]
    fitted <- fit_engine(fitted, lapply(of_engine, `[[`, "parts"), vapply(of_engine, `[[`, 0, "took"), groups)
  }
  list(found = found_of(rows, costs, fitted), costs = fitted[fitted != costs])
}

# The rows of `found`. Stops if the models do not find the engine that the core chose.
found_of <- function(rows, costs, fitted) {
  of <- function(field, kind) vapply(rows, `[[`, kind, field)
  expected <- function(at) {
    vapply(rows, function(row) if (is.null(row$parts)) NA_real_ else sum(row$parts(at)), 0)
  }
  found <- data.frame(task = of("task", ""), engine = of("engine", ""), took = of("took", 0),
                      before = expected(costs), after = expected(fitted), chosen = of("chosen", TRUE),
                      weighed = of("weighed", TRUE), row.names = NULL)
  found$chosen_after <- least_of(found, "after")
  wrong <- found$task[least_of(found, "before") != found$chosen]
  if (length(wrong)) stop("bench/cost-models.R does not find the engine that is chosen: ", wrong[1L])
  found
}

# Whether an engine is that with the least expected seconds of those that are weighed for its task.
least_of <- function(found, expected) {
  seconds <- ifelse(found$weighed, found[[expected]], Inf)
  seconds < Inf & seconds == stats::ave(seconds, found$task, FUN = min)
}

# ---- sums over pairs on a line: functionals at one bandwidth, of so many standard deviations, by the engine with the
# least expected seconds. `idle`: the seconds of such a call that has nothing to sum.
line_pairs <- function(x, engine, g) {
  of_kestrel("pairs_cpp")(fresh_sample(x), list(engine = engine, use = "functional", kernel = "gaussian", n = length(x),
                                                bandwidths = 1, bandwidth = g), one_thread())
}
line_call <- function(x, engine, g) {
  function() of_kestrel("eta_cpp")(line_pairs(x, engine, g), list(g = g, order = 4L), one_thread())
}

line_functional <- function(n, h, idle) {
  x <- matrix(rnorm(n))
  spread <- diff(range(x)) / h
  isa <- best_isa()
  parts <- list(direct = function(at) direct_line_parts(at, n, isa), fgt = function(at) fgt_pairs_parts(at, n, spread))
  chosen <- of_kestrel("pairs_by_cpp")(line_pairs(x, "auto", h))$engine
  lapply(names(parts), function(engine) {
    took <- net_seconds(line_call(x, engine, h), idle)
    list(task = sprintf("functional, n = %g, g = %g", n, h), engine = engine, parts = parts[[engine]], took = took,
         chosen = engine == chosen, weighed = TRUE)
  })
}

calibrate_line <- function(costs, fitted) {
  tasks <- expand.grid(n = sized(c(300, 600, 1000, 3000, 1e4, 3e4), c(300, 1000, 1e4)), h = c(0.001, 0.01, 0.1, 0.5))
  idle <- seconds_taken(line_call(matrix(1:2), "direct", 1))
  rows <- unlist(Map(line_functional, tasks$n, tasks$h, idle), FALSE)
  for (engine in c("direct", "fgt")) {
    of_engine <- Filter(function(row) row$engine == engine, rows)
    fitted <- fit_engine(fitted, lapply(of_engine, `[[`, "parts"), vapply(of_engine, `[[`, 0, "took"))
  }
  time_line_curves()
  list(found = found_of(rows, costs, fitted), costs = fitted[fitted != costs])
}

# Curves and searches are always by "fgt", or "sweep" if the kernel is compact.
time_line_curves <- function() {
  call <- function(x, h, engine, kernel) {
    run <- one_thread()
    function() {
      pairs <- of_kestrel("pairs_cpp")(fresh_sample(x), list(engine = engine, use = "curve", kernel = kernel,
                                                             n = length(x), bandwidths = length(h), bandwidth = 0), run)
      of_kestrel("lscv_curve_cpp")(pairs, list(S = matrix(1), h = h, form = "unbiased"), run)
    }
  }
  rows <- lapply(c(100, 1000, 1e4), function(n) {
    x <- matrix(rnorm(n))
    h <- seq(0.1, 2, length.out = 30L) * n^-0.2
    took <- 1e3 * c(seconds_taken(call(x, h, "direct", "gaussian")), seconds_taken(call(x, h, "fgt", "gaussian")),
                    seconds_taken(call(x, h, "sweep", "epanechnikov")))
    data.frame(n, direct = figure(took[1L]), fgt = figure(took[2L]), sweep = figure(took[3L]))
  })
  cat("\nMilliseconds of a curve of 30 bandwidths, by \"fgt\" or \"sweep\" whatever they cost:\n")
  show(do.call(rbind, rows))
}

# ---- sums over pairs of a matrix: from how many observations on "fourier" is faster. A search of 50 steps with
# gradients, functionals of orders six and four, a curve of 30 bandwidths, and one value. kFourierOnceFrom is not
# fitted: lscv() takes it for any number of bandwidths.
matrix_call <- function(use, x, engine) {
  run <- c(one_thread(), engine = engine)
  sample <- of_kestrel("selector_sample")(x, rep(1, nrow(x)))
  h <- of_kestrel("reference_scale")(nrow(x), ncol(x), "gaussian")
  criteria <- function(bandwidths) of_kestrel("criteria_for")(sample, engine, run, bandwidths)
  switch(use,
    search = {
      lscv <- criteria(NULL)$lscv
      for (factor in seq(0.6, 1.4, length.out = 50L)) lscv((factor * h)^2 * sample$cov, gradient = TRUE)
    },
    functional = {
      sample <- of_kestrel("expecting")(sample)
      for (order in c(6L, 4L)) of_kestrel("psi_order")(sample, h, order, run)
    },
    curve = criteria(30)$lscv_multiples(sample$cov, h * seq(0.6, 1.4, length.out = 30L)),
    once = criteria(1)$lscv(h^2 * sample$cov))
}

matrix_times <- function(costs) {
  uses <- data.frame(
    use = c("search", "functional", "search", "functional", "curve", "curve", "once", "once"),
    d = c(2L, 2L, 3L, 3L, 2L, 3L, 2L, 3L),
    cost = rep(c("kFourierSearch2From", "kFourierSearch3From", "kFourierCurve2From", "kFourierCurve3From",
                 "kFourierOnceFrom"), c(2L, 2L, 1L, 1L, 2L))
  )
  # Direct sums in three dimensions take seconds.
  if (short) uses <- uses[uses$d == 2L, ]
  do.call(rbind, Map(function(use, d, cost) {
    sizes <- costs[[cost]] * c(0.25, 0.5, 1, 2, if (d == 2L) c(4, 8))
    do.call(rbind, lapply(round(sizes), function(n) {
      x <- matrix(rnorm(n * d), n)
      took <- vapply(c("direct", "fourier"),
                     function(engine) seconds_taken(function() matrix_call(use, x, engine)), 0)
      data.frame(use, d, cost, n, direct = took[["direct"]], fourier = took[["fourier"]])
    }))
  }, uses$use, uses$d, uses$cost))
}

# The number from which on "fourier" is to be taken: that with the least sum of logarithms of the times that are lost,
# among numbers between those of the tasks and the present one, which stays if it is as good.
fitted_threshold <- function(rows, present) {
  n <- sort(unique(rows$n))
  between <- signif(exp((log(n[-1L]) + log(n[-length(n)])) / 2), 2L)
  lost <- function(from) {
    log_ratio <- log(rows$direct / rows$fourier)
    sum(ifelse(rows$n >= from, pmax(-log_ratio, 0), pmax(log_ratio, 0)))
  }
  numbers <- c(present, between)
  numbers[which.min(vapply(numbers, lost, 0))]
}

calibrate_matrices <- function(costs, fitted) {
  rows <- matrix_times(costs)
  cat("\nTime of \"direct\" / time of \"fourier\":\n")
  show(data.frame(rows[c("use", "d", "n")], ratio = figure(rows$direct / rows$fourier, 2L)))
  rows <- rows[rows$use != "once", ]
  for (cost in unique(rows$cost)) fitted[[cost]] <- fitted_threshold(rows[rows$cost == cost, ], costs[[cost]])
  of_engine <- function(engine) {
    chosen <- function(costs) (rows$n >= costs[rows$cost]) == (engine == "fourier")
    data.frame(task = sprintf("%s, d = %d, n = %g", rows$use, rows$d, rows$n), engine, took = rows[[engine]],
               before = NA, after = NA, chosen = chosen(costs), chosen_after = chosen(fitted))
  }
  list(found = rbind(of_engine("direct"), of_engine("fourier")), costs = fitted[fitted != costs])
}

# ---- curves of cross-validation, of 10 bandwidths
calibrate_regression <- function(costs, fitted) {
  tasks <- expand.grid(kernel = c("uniform", "triangular", "epanechnikov", "biweight", "triweight", "gaussian"),
                       regtype = c("lc", "ll"), stringsAsFactors = FALSE)
  rows <- Map(function(kernel, regtype) {
    row <- match(kernel, kernel_rows$name)
    n <- sized(2e5, 3e4)
    x <- rnorm(n)
    h <- seq(0.05, 0.5, length.out = 10L)
    data <- of_kestrel("regression_cpp")(list(x = x, y = x^2 + rnorm(n), w = rep(1, n)), one_thread())
    run <- one_thread("cpu")
    task <- list(h = h, kernel = kernel, regtype = regtype, order = 2L, bwtype = "fixed")
    call <- function() of_kestrel("regression_cv_cpp")(data, task, run)
    degree <- if (kernel != "gaussian") kernel_rows$inner[row] * kernel_rows$outer[row]
    list(task = paste(kernel, regtype), took = seconds_taken(call),
         parts = function(at) regression_parts(at, n * length(h), degree, regtype == "ll"))
  }, tasks$kernel, tasks$regtype)
  fit_alone(rows, "regression", costs, fitted)
}

# Fits tasks of one engine, among which nothing is chosen.
fit_alone <- function(rows, engine, costs, fitted) {
  fitted <- fit_engine(fitted, lapply(rows, `[[`, "parts"), vapply(rows, `[[`, 0, "took"))
  rows <- lapply(rows, function(row) c(row, list(engine = engine, chosen = FALSE, weighed = FALSE)))
  list(found = found_of(rows, costs, fitted), costs = fitted[fitted != costs])
}

# ---- distribution functions on grids, without correlations: one term for each observation. Terms are weighed against
# a Fourier series, whose seconds are those of "fourier" and of its products.
calibrate_distribution <- function(costs, fitted) {
  tasks <- expand.grid(n = c(1000, 10000), d = 2:3, points = 1:2)
  rows <- Map(function(n, d, points) {
    lines <- rep(list(c(40, 150), c(12, 31))[[d - 1L]][points], d)
    x <- matrix(rnorm(n * d), n)
    task <- list(axes = lapply(lines, function(count) seq(-1, 1, length.out = count)), root = diag(0.5, d),
                 kernel = "gaussian", kernel_type = "radial", upper = FALSE)
    list(task = sprintf("n = %g, d = %d, %g lines", n, d, lines[1L]),
         took = seconds_taken(function() of_kestrel("query_orthants_cpp")(fresh_sample(x), task, one_thread())),
         parts = function(at) orthants_parts(at, n, lines))
  }, tasks$n, tasks$d, tasks$points)
  fit_alone(rows, "orthants", costs, fitted)
}

# ---- what is computed in one way and has no constants
time_boxes <- function(costs, fitted) {
  m <- sized(1000, 100)
  row <- function(task, n, call) {
    took <- seconds_taken(call)
    data.frame(task, n, m, milliseconds = figure(1e3 * took), `us a box or point` = figure(1e6 * took / m),
               check.names = FALSE)
  }
  rows <- lapply(c(1e3, 1e5), function(n) {
    x <- rnorm(n)
    line <- list(at = rnorm(m), kernel = "gaussian", h = 0.2)
    boxes <- lapply(1:3, function(d) {
      x <- matrix(rnorm(n * d), n)
      lower <- matrix(rnorm(m * d), m)
      task <- list(lower = lower, upper = lower + 1, root = diag(0.2, d), kernel = "gaussian", kernel_type = "radial",
                   of = 0L)
      row(paste("boxes, d =", d), n, function() of_kestrel("query_boxes_cpp")(fresh_sample(x), task, one_thread()))
    })
    do.call(rbind, c(boxes, list(row("distribution function on a line", n, function() {
      of_kestrel("distribution_cpp")(fresh_sample(matrix(x)), line, one_thread())
    }))))
  })
  show(do.call(rbind, rows))
  NULL
}
