# Sums over all pairs of observations and the criteria of bandwidths made of them. The core has the formulas and chooses
# the engine and the place (src/rcpp_pairs.cpp); R holds a pointer to the sums.

# ---- On a line
# For these "auto" is the CPU, whose engines take time proportional to the number of observations; a GPU sums every
# pair.
line_run <- function(threads, backend, precision = "double", kernel = "gaussian") {
  run <- run_options(threads, backend, cuda = TRUE, precision = precision)
  if (run$backend == "auto") run$backend <- "cpu"
  if (run$backend == "cuda" && kernel != "gaussian") {
    abort_input("`kernel` must be \"gaussian\" for backend = \"cuda\", not \"", kernel, "\".")
  }
  run
}

# Sums at one bandwidth `g`, or at many if it is NULL. The engine is chosen for one thread, so that the bits of a result
# do not depend on the number of threads.
line_pairs <- function(sample, run, g = NULL, kernel = "gaussian", engine = "auto") {
  # Nothing else knows the cells of a sketch.
  if (is_of_sketch(sample)) engine <- "fgt"
  task <- list(engine = engine, use = if (is.null(g)) "curve" else "functional", kernel = kernel, n = length(sample$x),
               bandwidths = 1, bandwidth = if (is.null(g)) 0 else g)
  pairs_cpp(sample$data, task, run)
}

# The functionals of a selector in one dimension, in units of the scale of the data: psi(g, r), and by(), where they
# were computed. One engine is for all of them, since their bandwidths are about as large as the `first` one.
line_functionals <- function(sample, scale, first, run, engine = "auto") {
  if (!is.null(sample$transform)) return(reflected_line_functionals(sample, scale, first, run, engine))
  pairs <- line_pairs(sample, run, first * scale, engine = engine)
  engine <- pairs_by_cpp(pairs)$engine
  # Cells take values of any unit and origin, so the data stay as they are, and their cells serve all sums of the call.
  # Others need values near one; so do powers of a bandwidth that would be out of the range of numbers.
  as_given <- engine == "fgt" && abs(log10(scale)) <= 30
  unit <- if (as_given) scale else 1
  if (!as_given) pairs <- line_pairs(standardised(sample, scale), run, first, engine = engine)
  psi <- function(g, r) times_power(psi_1d(pairs, g * unit, r, run), unit, r + 1)
  list(psi = function(g, r) with_wide_cells_refused(sample, psi(g, r)),
       by = function() pairs_by_cpp(pairs))
}

# ---- Of a bandwidth matrix
# Refuses an engine that does not take the data, or would take too long.
check_selector_engine <- function(d, engine) {
  if (engine == "fourier" && !d %in% 2:3) {
    abort_input("`engine` must be \"direct\" for ", d, " columns; \"fourier\" takes two or three.")
  }
  if (engine == "auto" && d > 16L) {
    abort_input("`engine` must be \"direct\" for more than 16 columns, because each of many steps takes n^2 d^2 ",
                "operations; `x` has ", d, ".")
  }
}

# `use` is what for: "search", "curve" (with the number of `bandwidths`) or "functional". Values are in the units of
# `sample`. A grid is made for a range of bandwidths relative to the covariance, and again when more is asked for: in
# three dimensions its memory grows with the cube of the range.
matrix_pairs <- function(sample, engine, run, use, bandwidths = 0, range = usual_range(sample)) {
  run <- check_sketch_run(sample, run)
  if (is_spread(sample)) engine <- "fourier"
  axes <- sample$axes
  task <- list(engine = engine, use = use, kernel = "gaussian", n = sample$n, bandwidths = bandwidths, bandwidth = 0,
               axes = if (!is.null(axes)) unname(axes), mean = sample$mean, grid = grid_of(sample, range))
  refusing_memory(pairs_cpp(sample$data, task, run))
}

# The grid of the engine "fourier", which needs a covariance.
grid_of <- function(sample, range) {
  if (is.null(sample$root) || !ncol(sample$x) %in% 2:3) return(NULL)
  list(root = sample$root, range = range, tol = if (is.null(sample$room)) 0 else sample$room,
       phases = isTRUE(sample$phases))
}

usual_range <- function(sample) {
  d <- ncol(sample$x)
  range <- if (isTRUE(sample$near)) c(1 / 4, 4) else if (d == 3L || !is.null(sample$reference)) c(0.6, 1.5)
           else c(1 / 4, 2)
  range <- reference_of(sample) * range
  least <- 1.01 * served_from(sample)
  pmax(range, c(least, 2 * least))
}

# The bandwidth of the normal reference, or that of clusters (see at_scale()).
reference_of <- function(sample) {
  if (!is.null(sample$reference)) return(sample$reference)
  if (order_of(sample) > 0L) return(reference_h(sample$n, ncol(sample$x), order_of(sample)))
  reference_scale(sample$n, ncol(sample$x), "gaussian")
}

# The order of the derivatives for which a bandwidth is selected.
order_of <- function(sample) if (is.null(sample$order)) 0L else sample$order

# The sample with the range of bandwidths that its functionals of orders four and six, and SCV, will probably need, so
# that one grid serves all. The bandwidths are those for normal data (see unconstrained_pilots()), and the functionals
# of other data need smaller ones. In two dimensions the grid also has room for a density with the default tolerance and
# a bandwidth somewhat below the normal reference, which costs little. In three dimensions a density needs three more
# digits than functionals, and so a larger window for every observation: its own grid costs about as much. The grid is
# the same whether a density follows or not, so that kde() and Hpi() find the same bits.
expecting <- function(sample, scv = FALSE) {
  d <- ncol(sample$x)
  normal <- function(r) sqrt(2) * (2 / (sample$n * (d + r)))^(1 / (d + r + 2))
  least <- if (d == 2L) 0.7 * reference_scale(sample$n, d, "gaussian") else 0.5 * normal(4)
  sample$expected <- c(least, 1.25 * normal(6) * if (scv) 2 else 1)
  sample$room <- if (d == 2L) 1e-12
  sample
}

# Criteria as functions of H. A gradient is an attribute: the symmetric matrix D with dF = tr(D dH). by() returns the
# engine, the backend and, if it was one, the device. `bandwidths`: for how many multiples of one matrix the criterion
# is wanted, NULL for a search over matrices.
criteria_for <- function(sample, engine, run, bandwidths = NULL) {
  check_selector_engine(ncol(sample$x), engine)
  pairs <- if (is.null(bandwidths)) {
    matrix_pairs(sample, engine, run, "search")
  } else {
    matrix_pairs(sample, engine, run, "curve", bandwidths)
  }
  order <- order_of(sample)
  of_derivatives <- function(H, gradient) {
    refusing_memory(derivative_lscv_cpp(pairs, list(H = H, order = order, gradient = gradient), run))
  }
  list(
    by = function() pairs_by_cpp(pairs),
    lscv = function(H, form = "unbiased", gradient = FALSE) {
      if (order > 0L) return(of_derivatives(H, gradient))
      refusing_memory(lscv_cpp(pairs, list(H = H, form = form, gradient = gradient), run))
    },
    lscv_multiples = function(S, h, form = "unbiased") {
      if (order > 0L) return(vapply(h, function(h) as.numeric(of_derivatives(h^2 * S, FALSE)), 0))
      refusing_memory(lscv_curve_cpp(pairs, list(S = S, h = h, form = form), run))
    },
    scv = function(H, G, gradient = FALSE) {
      if (order > 0L) {
        task <- list(H = H, G = G, order = order, gradient = gradient)
        return(refusing_memory(derivative_scv_cpp(pairs, task, run)))
      }
      refusing_memory(scv_cpp(pairs, list(H = H, G = G, gradient = gradient), run))
    }
  )
}

# Turns the core's refusal of a grid into a condition of this package.
refusing_memory <- function(code) {
  tryCatch(code, kestrel_core_memory = function(e) abort_memory(conditionMessage(e), "; direct sums need none."))
}

# The run that selects a bandwidth on the way to a density: on a GPU only if that is faster.
selecting <- function(run, d) {
  run <- run[names(run) != "engine"]
  run$precision <- "double"
  if (run$backend == "cuda") run$backend <- "auto"
  if (d == 1L) run$backend <- "cpu"
  run
}
