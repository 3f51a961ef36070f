# The criteria that selectors of a bandwidth matrix minimise, as functions of H with gradients: sums of Gaussian kernels
# over all pairs of observations, by the Fourier engine in two and three dimensions, by direct sums in any.
#
# A gradient is the symmetric matrix D with dF = tr(D dH).

# Values of both engines are in the units of `sample`; p = w / sum(w), n_eff = 1 / sum(p^2). Criteria are a list of
# functions: lscv(), lscv_multiples() and scv() are the criteria; by() returns the engine, the backend and, if it was
# one, the device.

# ---- Which engine

# The number of observations from which on the Fourier engine is faster, for one, two and three columns, by the kind of
# call. It takes no more than three columns, and has no criterion for one. Timed in 2026-11 on one core with AVX-512,
# with normal data and three clusters. `search`: in two dimensions both engines take the same time for Hlscv, Hscv and
# Hpi at 100 to 300 observations; in three at about 3,000 for Hscv, at 4,000 to 10,000 for Hlscv and at 10,000 for Hpi.
# `curve`: for Hlscv(type = "scalar"), where direct sums take all bandwidths in one pass, at 900 and 7,500. `once`: for
# few observations one evaluation is not worth the preparation of a grid.
fourier_from <- list(search = c(Inf, 200, 5000), curve = c(Inf, 900, 7500), once = c(Inf, 2000, 2000))

faster_engine <- function(n, d, wanted = "search") {
  if (d <= 3L && n >= fourier_from[[wanted]][d]) "fourier" else "direct"
}

# The engine that was asked for, or else the faster one. `wanted`: a name of `fourier_from`.
plan_selector <- function(n, d, engine, wanted = "search") {
  if (engine == "fourier" && !d %in% 2:3) {
    abort_input("`engine` must be \"direct\" for ", d, " columns; \"fourier\" takes two or three.")
  }
  if (engine != "auto") return(engine)
  if (d > 16L) {
    abort_input("`engine` must be \"direct\" for more than 16 columns, because each of many steps takes n^2 d^2 ",
                "operations; `x` has ", d, ".")
  }
  faster_engine(n, d, wanted)
}

# If the user did not ask for the Fourier engine and its grid would need too much memory, direct sums replace it, unless
# they would take hours.
few_enough_for_direct <- function(sample) nrow(sample$x) <= 5e4

# `bandwidths`: for how many multiples of one matrix the criterion is wanted, NULL for a search over matrices.
criteria_for <- function(sample, asked, run, bandwidths = NULL) {
  engine <- plan_selector(sample$n, ncol(sample$x), asked, if (is.null(bandwidths)) "search" else "curve")
  direct <- function() direct_criteria(sample, run, bandwidths)
  if (engine == "direct") return(direct())
  if (asked != "auto" || !few_enough_for_direct(sample)) return(fourier_criteria(sample, run))
  fourier_or_direct(function() fourier_criteria(sample, run), direct)
}

# Criteria by the Fourier engine. A single value comes from direct sums if its grid would need too much memory; all of
# them do if even the first grid would. Both arguments make criteria. The direct ones are made when they are first
# needed, since that may ask for a GPU, and then kept.
fourier_or_direct <- function(make_fourier, make_direct) {
  fourier <- tryCatch(make_fourier(), kestrel_error_memory = function(e) NULL)
  if (is.null(fourier)) return(make_direct())
  direct <- made_once(make_direct)
  either <- function(name) {
    function(...) tryCatch(fourier[[name]](...), kestrel_error_memory = function(e) direct()[[name]](...))
  }
  list(by = fourier$by, lscv = either("lscv"), lscv_multiples = either("lscv_multiples"), scv = either("scv"))
}

# A function that returns the result of make(), which it calls only the first time.
made_once <- function(make) {
  made <- NULL
  function() {
    if (is.null(made)) made <<- make()
    made
  }
}

# ---- Fourier
# The grid is made for a range of bandwidths relative to the covariance, and again when more is asked for: in three
# dimensions its memory grows with the cube of the range.
usual_range <- function(sample) {
  d <- ncol(sample$x)
  reference_scale(sample$n, d, "gaussian") * if (d == 3L) c(0.6, 1.5) else c(1 / 4, 2)
}

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

fourier_criteria <- function(sample, run, usual = usual_range(sample)) {
  data <- sample$data
  axes <- unname(axes_of_sample(sample))
  task <- list(root = sample$root, range = usual, tol = if (is.null(sample$room)) 0 else sample$room,
               phases = isTRUE(sample$phases))
  refusing_memory(fourier_grid_cpp(data, task, run))
  list(
    by = function() list(engine = "fourier", backend = "cpu"),
    lscv = function(H, form = "unbiased", gradient = FALSE) {
      task <- list(H = H, axes = axes, form = form, gradient = gradient)
      with_gradient(refusing_memory(fourier_lscv_cpp(data, task, run)))
    },
    lscv_multiples = function(S, h, form = "unbiased") {
      at <- function(H) fourier_lscv_cpp(data, list(H = H, axes = axes, form = form, gradient = FALSE), run)$value
      reached <- relative_bandwidths(S, sample$cov)
      # Below the usual range, in it, and above: one grid for all would have to be both long and fine. There is room for
      # a search between neighbours on a curve.
      part <- (h * reached[1L] >= usual[1L]) + (h * reached[2L] > usual[2L])
      value <- numeric(length(h))
      for (these in split(seq_along(h), part)) {
        wanted <- range(h[these]) * reached * c(1 / 1.05, 1.05)
        # Without memory for a grid for all of these, each may still have one of its own.
        tryCatch(fourier_prepare_cpp(data, wanted, run),
                 kestrel_core_memory = function(e) NULL)
        value[these] <- refusing_memory(vapply(h[these], function(one) at(one^2 * S), 0))
      }
      value
    },
    scv = function(H, G, gradient = FALSE) {
      with_gradient(refusing_memory(fourier_scv_cpp(data, list(H = H, G = G, axes = axes, gradient = gradient), run)))
    },
    psi = function(G, order) {
      refusing_memory(fourier_psi_cpp(data, list(G = G, axes = axes, order = order), run))
    }
  )
}

# Turns the core's refusal of a grid into a condition of this package.
refusing_memory <- function(code) {
  tryCatch(code, kestrel_core_memory = function(e) abort_memory(conditionMessage(e), "; direct sums need none."))
}

with_gradient <- function(found) {
  if (length(found$gradient) == 0L) return(found$value)
  structure(found$value, gradient = found$gradient)
}

# ---- direct
direct_criteria <- function(sample, run, bandwidths = NULL) {
  d <- ncol(sample$x)
  work <- if (is.null(bandwidths)) gradient_work(d) else curve_work(d, bandwidths)
  run <- with_pairs_device(run, nrow(sample$x), d, work)
  p <- sample$w / sum(sample$w)
  diagonal <- sum(p^2)
  sample <- sample_cpp(transformed_values(sample), p)
  cross_factor <- function(form) if (form == "paper") 4 else 4 / (1 - diagonal)
  list(
    by = function() c(engine = "direct", device_of(run)),
    lscv = function(H, form = "unbiased", gradient = FALSE) {
      root <- lower_root_cpp(unname(H))
      task <- list(root = root, moments = gradient)
      sums <- sums_by_backend(run, lscv_cuda_cpp(sample, task, run), direct_lscv_cpp(sample, task, run))
      convolution <- with_slope(sums$convolution, sums$convolution_moments, root, 1 / 2)
      kernel <- with_slope(sums$kernel, sums$kernel_moments, root, 1)
      combine(c(2, diagonal, -cross_factor(form)), list(convolution, at_origin(H, 2, gradient), kernel))
    },
    lscv_multiples = function(S, h, form = "unbiased") {
      root <- lower_root_cpp(unname(S))
      task <- list(root = root, h = h)
      sums <- sums_by_backend(run, lscv_curve_cuda_cpp(sample, task, run), direct_lscv_curve_cpp(sample, task, run))
      2 * sums[, 1L] + diagonal * as.numeric(at_origin(S, 2, FALSE)) * h^-d - cross_factor(form) * sums[, 2L]
    },
    scv = function(H, G, gradient = FALSE) {
      # sum_ij p_i p_j K_(a H + 2 G).
      smoothed <- function(a) {
        M <- a * H + 2 * G
        root <- lower_root_cpp(unname(M))
        task <- list(root = root, moments = gradient)
        sums <- sums_by_backend(run, gaussian_moments_cuda(sample, task, run),
                                direct_gaussian_moments_cpp(sample, task, run))
        pairs <- with_slope(sums$sum, if (gradient) sums$moments, root, 1, by = a)
        combine(c(2, diagonal), list(pairs, at_origin(M, 1, gradient, by = a)))
      }
      combine(c(diagonal, 1, -2, 1), list(at_origin(H, 2, gradient), smoothed(2), smoothed(1), smoothed(0)))
    }
  )
}

# The result of direct_gaussian_moments_cpp(), or the problem: a GPU computes the sums of K * K along with these.
gaussian_moments_cuda <- function(sample, task, run) {
  sums <- lscv_cuda_cpp(sample, task, run)
  if (is_cuda_problem(sums)) sums else list(sum = sums$kernel, moments = sums$kernel_moments)
}

# A sum over pairs of K_M with M = L L', and its gradient by H where M = by * H + B: by / 2 L^-T (share * U - S I) L^-1.
# U: its second moments in units of L.
with_slope <- function(sum, moments, root, share, by = 1) {
  if (is.null(moments)) return(sum)
  inverse <- forwardsolve(root, diag(nrow(root)))
  structure(sum, gradient = by / 2 * t(inverse) %*% (share * moments - diag(sum, nrow(root))) %*% inverse)
}

# K_(a M)(0), and its gradient by H where M = by * H + B.
at_origin <- function(M, a, gradient, by = 1) {
  root <- t(lower_root_cpp(unname(M)))
  value <- (2 * pi * a)^(-nrow(M) / 2) / prod(diag(root))
  if (gradient) structure(value, gradient = -by * value / 2 * chol2inv(root)) else value
}

combine <- function(factors, values) {
  total <- sum(factors * vapply(values, as.numeric, 0))
  if (is.null(attr(values[[1L]], "gradient"))) return(total)
  structure(total, gradient = Reduce(`+`, Map(function(f, v) f * attr(v, "gradient"), factors, values)))
}
