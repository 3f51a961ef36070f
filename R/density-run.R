# How an estimate runs: its plan, and its sums on the CPU.

# Decides which engine computes the sums, and what it needs to know; says so when verbose.
plan_run <- function(fhat, task, run, verbose = FALSE) {
  check_volume(fhat)
  d <- dimension(fhat)
  n <- task$n
  gridded <- length(task$axes) > 0L
  grid <- regular_grid(fhat, task)
  gpu_engine <- cuda_engine(fhat, grid, run)
  asked <- if (run$backend == "cuda") gpu_engine else if (is_auto(run$engine)) "auto" else run$engine
  engine <- check_engine(asked, d, fhat$kernel, gridded)
  extent <- if (d %in% 2:3 && fhat$kernel == "gaussian" && engine != "direct") {
    density_extent_cpp(task$sample, task, run)
  }
  if (engine == "scanline" && is.null(grid)) abort_irregular()
  spread <- if (d == 1L) diff(sample_ranges_cpp(task$sample)[, 1L]) / fhat$h else 0
  tol <- if (is.null(run$tol)) fhat$tol else run$tol
  # No other engine comes near "sweep" and "scanline" where they take the task.
  trees <- is_compact(fhat$kernel) && is.null(grid) && !(d == 1L && fhat$kernel %in% polynomial_kernels())
  tree_pairs <- if (engine == "auto" && trees) tree_pairs_cpp(task$sample, task, run)
  plan <- refusing_memory(plan_cpp(list(n = n, m = task$m, d = d, spread = spread, extent = extent, grid = grid,
                                        tree_pairs = tree_pairs, kernel = task$kernel,
                                        kernel_type = task$kernel_type, engine = engine, tol = tol), run))
  check_digits(plan)
  if (gridded) check_memory(lengths(task$axes), plan$bytes + 8 * task$m, hint = larger_grids)
  plan <- with_backend_chosen(plan, n, task$m, d, run, gpu_engine)
  if (isTRUE(verbose)) {
    threads <- paste0(run$threads, " thread", if (run$threads != 1L) "s")
    # `bytes` are those of the CPU.
    cost <- if (plan$backend == "cuda") "" else paste(format_bytes(plan$bytes), "and ")
    inform(sprintf("%s samples, %s points: engine %s (%s), about %s%.2g s on %s.",
                   format(n, big.mark = ","), format(task$m, big.mark = ","), plan$engine, plan$reason,
                   cost, plan$seconds, if (plan$backend == "cuda") plan$device else threads))
  }
  c(plan, extent = extent)
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

# The grid of a task for the engine "scanline", NULL if that does not take it.
regular_grid <- function(fhat, task) {
  if (length(task$axes) == 0L || any(lengths(task$axes) == 0L)) return(NULL)
  if (fits_scanline(length(task$axes), fhat$kernel)) {
    regular_grid_cpp(task)
  }
}

abort_irregular <- function() {
  abort_input("`engine` must not be \"scanline\" for a grid whose steps are not equal to 5e-7 of a step, whose steps ",
              "are longer than 256 bandwidths, or with more than 2^27 points along an axis.")
}

# The estimate at all points of a task, zero outside the sample space.
run_task <- function(task, run, plan) {
  none <- any(lengths(task$axes) == 0L)
  task$complete(on_axes(task, if (none) numeric(0) else density_cpp(task$sample, task, plan, run)))
}

# Values at the points of a grid as an array; a problem of the GPU is returned unchanged.
on_axes <- function(task, values) {
  if (length(task$axes) > 1L && !is_cuda_problem(values)) dim(values) <- lengths(task$axes)
  values
}

# The estimate at the rows of a matrix.
density_at <- function(fhat, points, run) {
  task <- task_at_points(fhat, points)
  run_planned(fhat, task, run)$estimate
}
