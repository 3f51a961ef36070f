# Tasks of a density: the sums that it needs, and how they are run.

# The lower factor L of H = L L'.
bandwidth_root <- function(fhat) lower_root_cpp(summed_H(fhat))

check_summable <- function(fhat) {
  if (fhat$kernel_type == "integrated") {
    abort_input("`fhat` must be an estimate from data, not a marginal that was integrated over a grid.")
  }
  if (has_data(fhat)) return(invisible())
  abort_input("`fhat` must be an estimate with its data, not one ",
              if (is.null(fhat$sketch)) "from a file without them." else "of a sketch.")
}

# The slope of a transform may overflow.
check_densities <- function(estimate) {
  if (all_finite_cpp(estimate)) return(estimate)
  abort_input("`x` must be in units in which densities, in 1 / volume, are within the range of numbers: rescale it.")
}

# The sums that are needed, on the line: the sample and points without those outside the sample space. `points` is a
# matrix, or `axes` a list; `root` is that of the bandwidth matrix; `m` is the number of points including those outside;
# `complete(values)` is the estimate at all of these. src/rcpp_density.cpp reads it.
sums_for <- function(fhat, points, axes, m, complete, data = data_on_line(fhat), within = numeric(0)) {
  copies <- copies_of(data)
  list(sample = data, points = points, axes = axes, root = bandwidth_root(fhat), kernel = fhat$kernel,
       kernel_type = fhat$kernel_type, m = m, within = within,
       complete = if (copies == 1) complete else function(value) complete(copies * value))
}

# The core's sample on the line where the kernel works: while kde() or kcde() makes an estimate, that of the call, which
# the estimate then carries.
data_on_line <- function(fhat) {
  if (has_images(fhat$transform)) return(data_with_images(fhat))
  if (!is.null(fhat$.sample)) return(fhat$.sample)
  if (!is.null(fhat$sketch)) return(sketch_sample(fhat$sketch)$data)
  # Without a transform there is no need to make a matrix of a vector, which would copy it.
  x <- if (is.null(fhat$transform)) fhat$x else points_to_line(fhat$transform, sample_matrix(fhat))
  sample_cpp(x, fhat$w)
}

# The task of an estimate at the rows of a matrix.
task_at_points <- function(fhat, points) {
  if (is.null(fhat$sketch)) check_summable(fhat)
  if (is.null(fhat$transform)) return(sums_for(fhat, unname(points), list(), nrow(points), identity))
  line <- points_to_line(fhat$transform, points)
  heard()
  everywhere <- all_finite_cpp(line)
  inside <- if (everywhere) TRUE else rowSums(is.infinite(line)) == 0
  line <- unname(if (everywhere) line else line[inside, , drop = FALSE])
  heard()
  complete <- function(value) {
    for (k in seq_len(ncol(line))) value <- value * line_slope(fhat$transform, line[, k])
    estimate <- if (everywhere) value else numeric(nrow(points))
    if (!everywhere) estimate[inside] <- value
    check_densities(estimate)
  }
  if (has_images(fhat$transform)) {
    more <- count_reflected_cpp(line, image_axes(fhat)) - nrow(line)
    if (folds_points(fhat, more)) return(folded_at_points(fhat, line, nrow(points), complete))
  }
  sums_for(fhat, line, list(), nrow(points), complete)
}

# The task of an estimate on a grid, which is an array.
task_on_axes <- function(fhat, axes) {
  if (is.null(fhat$sketch)) check_summable(fhat)
  line <- lapply(seq_along(axes), function(k) to_line(fhat$transform, axes[[k]], k))
  inside <- lapply(line, is.finite)
  line <- Map(`[`, line, inside)
  heard()
  complete <- function(value) {
    if (is.null(fhat$transform)) return(value)
    slope <- Reduce(outer, lapply(line, function(axis) line_slope(fhat$transform, axis)))
    estimate <- array(0, lengths(axes))
    estimate <- do.call(`[<-`, c(list(estimate), inside, list(value = value * as.vector(slope))))
    check_densities(estimate)
    if (length(axes) > 1L) estimate else as.vector(estimate)
  }
  if (has_images(fhat$transform) && folds_axes(fhat) && all(lengths(line) > 0L)) {
    of_axes <- image_axes(fhat)
    images <- vapply(seq_along(line), function(k) count_reflected_cpp(line[[k]], of_axes[, k, drop = FALSE]), 0)
    if (folds_points(fhat, prod(images) - prod(lengths(line)))) {
      return(folded_on_axes(fhat, line, prod(lengths(axes)), complete))
    }
  }
  sums_for(fhat, matrix(0, 0L, length(axes)), unname(line), prod(lengths(axes)), complete)
}

# The estimate of a task, its plan and its precision: the core chooses the engine and the place, CPU or GPU.
run_density <- function(fhat, task, run, verbose = FALSE) {
  run <- density_run(fhat, task, run)
  ran <- refused_in_words(density_cpp(task, run, function(plan) announce(plan, task, run, verbose)), fhat$sketch)
  list(estimate = task$complete(ran$values), precision = ran$precision, plan = ran$plan)
}

# The plan of a task without its estimate, if the work that it is made for is `larger` times as large.
plan_density <- function(fhat, task, run, larger = 1) {
  refused_in_words(plan_cpp(task, larger, density_run(fhat, task, run)), fhat$sketch)
}

# The run with the engine and the tolerance of a density, checked for the task.
density_run <- function(fhat, task, run) {
  check_volume(fhat)
  if (is.null(run$engine)) run$engine <- "auto"
  if (!is.null(fhat$sketch)) run[c("engine", "backend")] <- c(sketch_engine(fhat$sketch), "cpu")
  if (is.null(run$tol)) run$tol <- fhat$tol
  check_engine(run$engine, dimension(fhat), fhat$kernel, length(task$axes) > 0L)
  run
}

# Before a computation: refuses what would not fit or have no digits, and says the plan when verbose.
announce <- function(plan, task, run, verbose) {
  check_digits(plan)
  if (length(task$axes) > 0L) check_memory(lengths(task$axes), plan$bytes + 8 * task$m, hint = larger_grids)
  if (!isTRUE(verbose)) return(invisible())
  threads <- paste0(run$threads, " thread", if (run$threads != 1L) "s")
  # `bytes` are those of the CPU.
  cost <- if (plan$backend == "cuda") "" else paste(format_bytes(plan$bytes), "and ")
  inform(sprintf("%s samples, %s points: engine %s (%s), about %s%.2g s on %s.",
                 format(plan$n, big.mark = ","), format(task$m, big.mark = ","), plan$engine, plan$reason,
                 cost, plan$seconds, if (plan$backend == "cuda") plan$device else threads))
}

# Words the core's refusals of a grid.
refused_in_words <- function(code, sketch = NULL) {
  tryCatch(refusing_memory(code), kestrel_core_unfit = function(e) {
    if (is.null(sketch)) abort_irregular() else abort_cells(conditionMessage(e), check_sketch(sketch))
  })
}

abort_irregular <- function() {
  abort_input("`engine` must not be \"scanline\" for a grid whose steps are not equal to 5e-7 of a step, whose steps ",
              "are longer than 256 bandwidths, or with more than 2^27 points along an axis.")
}

# Refuses rounding beyond the largest error that core/fourier/geometry.hpp allows for `tol`.
check_digits <- function(plan) {
  if (plan$rounding <= 0.01) return(invisible())
  abort_input("`engine` must not be \"fourier\" for data that span so many bandwidths: rounding alone may change the ",
              "estimate by ", format(plan$rounding, digits = 2), " of its largest value.")
}

# Sets the tolerance that the density has, with a warning if it is not the one that was asked for.
with_rounding <- function(fhat, rounding = 0) {
  of_root <- root_rounding_cpp(bandwidth_root(fhat))
  kept <- max(fhat$tol, 1e-12)
  if (max(of_root, rounding) <= kept) return(fhat)
  because <- if (of_root >= rounding) {
    "the variables are so strongly correlated in `H`"
  } else {
    "the data span so many bandwidths with engine = \"fourier\""
  }
  fhat$tol <- max(of_root, rounding)
  warn_rounding("The estimate may differ from its sum by ", format(fhat$tol, digits = 2), " of its largest value, ",
                "more than the ", format(kept), " of `tol`: ", because, " that rounding counts.")
  fhat
}

# Densities are in 1 / volume, so the volume of the bandwidths and its reciprocal must be within the range of numbers.
check_volume <- function(fhat) {
  h <- diag(bandwidth_root(fhat))
  if (abs(sum(log10(h))) < 300) return(invisible())
  abort_input("`x` must be in units in which densities, in 1 / volume, are within the range of numbers; its ",
              "bandwidths are about ", paste(format_short(unique(range(h))), collapse = " to "), ": rescale it.")
}

# The estimate at the rows of a matrix. `.own`: see plain_density().
density_at <- function(fhat, points, run) {
  if (!is.null(fhat$.own)) return(own_density_at(fhat$.own, points, run))
  run_density(fhat, task_at_points(fhat, points), run)$estimate
}

# Estimates that are not sums of kernels with one bandwidth have classes of their own. This is one of them as an
# estimate of kde(), for what needs only the values on its grid. Its density at other points is that of the object
# `.own`.
plain_density <- function(fhat) {
  H <- if (inherits(fhat, "kestrel_vkde")) fhat$pilot else fhat$H
  x <- sample_matrix(fhat)
  w <- fhat$w
  if (!is.null(fhat$untruncated) && length(w) > 0L) {
    # Contours are those of the data within.
    within <- w * is_within(x, fhat$boundary)
    if (any(within > 0)) w <- scale_weights(within)
  }
  made <- gaussian_density(list(x = x, w = w, names = fhat$names, is_vector = !is.matrix(fhat$x)), as.matrix(H))
  kept <- c("eval.points", "estimate", "gridtype", "gridded", "cont", "call", "seconds")
  made[kept] <- fhat[kept]
  if (inherits(fhat, "kestrel_vkde")) made$kernel <- fhat$kernel
  # Linear boundary kernels may be negative.
  if (!is.null(made$estimate)) made$estimate <- clamped(made$estimate, 0, Inf)
  made$.own <- fhat
  made
}

own_density_at <- function(fhat, points, run) {
  if (inherits(fhat, "kestrel_vkde")) return(variable_density_at(fhat, points, run))
  if (!is.null(fhat$untruncated)) return(truncated_density_at(fhat, points, run))
  boundary_density_at(fhat, points, run)
}
