# Bandwidths and regressions by kestrel and by other packages, for bench/peers.R, in the form of peers-densities.R. Each
# is compared with the exact value of its own criterion, with all sums over pairs summed exactly:
#
#   hpi, KernSmooth::dpik, ks::hpi        two-stage plug-in, scale min(sd, IQR / 1.349)
#   stats::bw.SJ(method = "dpi")          the same with divisor n (n - 1)
#   stats::bw.SJ, locfit::kdeb, sm::hsj   Sheather & Jones (1991), solve the equation; sm has the constants of the
#                                         paper
#   hlscv, kedd::h.ucv, locfit::kdeb      LSCV with cross term / (n (n - 1)), each on its range
#   sm::hcv                               the same with divisors n (n - 1) and n (n - 1)^2 / (n - 2) of the other terms
#   stats::bw.ucv, ks::hlscv              LSCV with cross term / n^2, minimum of their range
#   Hpi, ks::Hpi                          plug-in with two stages and the pilot "dscalar": the matrix H
#   Hlscv, ks::Hlscv                      LSCV at the matrix found, compared with the minimum
#   npregbw, np::npregbw                  leave-one-out CV, Epanechnikov, at the bandwidth found, compared with the
#                                         minimum; np 0.60 rejects no bandwidth, so for it the minimum of all counts
#   fits                                  local linear, Gaussian, h = 0.1, where the sample is dense; the Epanechnikov
#                                         kernel with its own fit
#   FKSUM                                 a kernel of its own, so only its time

geometric <- function(from, to, k) exp(seq(log(from), log(to), length.out = k))
smooth_of <- function(x) sin(3 * x) + x

# ---- plug-in in one dimension (Wand & Jones 1995, section 3.6)
plug_in <- function(x, engine = "fgt", scale = stats::sd(x)) {
  n <- length(x)
  psi8 <- 105 / (32 * sqrt(pi) * scale^9)
  psi6 <- kestrel_psi(x, (30 / (sqrt(2 * pi) * psi8 * n))^(1 / 9), 6L, engine)
  psi4 <- kestrel_psi(x, (-6 / (sqrt(2 * pi) * psi6 * n))^(1 / 7), 4L, engine)
  (1 / (2 * sqrt(pi) * psi4 * n))^(1 / 5)
}
# KernSmooth chooses the scale in the first stage; otherwise this is W&J 3.6.
min_scale <- function(x) min(stats::sd(x), stats::IQR(x) / 1.349)
plug_in_minim <- function(x) plug_in(x, if (length(x) <= 1e4) "direct" else "fgt", min_scale(x))

# With the divisor of bw.SJ. `first`: factors of n^(-1/7) and n^(-1/9).
functional_sj <- function(x, g, r) kestrel_psi(x, g, r, "fgt") * length(x) / (length(x) - 1)
exact_sj <- function(x, method = "ste", first = c(1.24, 1.23) * min_scale(x)) {
  n <- length(x)
  amise <- function(psi4) (1 / (2 * sqrt(pi) * n * psi4))^(1 / 5)
  psi6 <- -functional_sj(x, first[2L] * n^(-1 / 9), 6L)
  if (method == "dpi") return(amise(functional_sj(x, (2.394 / (n * psi6))^(1 / 7), 4L)))
  slope <- 1.357 * (functional_sj(x, first[1L] * n^(-1 / 7), 4L) / psi6)^(1 / 7)
  off <- function(h) amise(functional_sj(x, slope * h^(5 / 7), 4L)) - h
  h_max <- 1.144 * min_scale(x) * n^(-1 / 5)
  stats::uniroot(off, c(0.1, 1) * h_max, tol = 1e-12, extendInt = "yes")$root
}

plug_ins <- function(n) {
  x <- drop(two_humps(n, 1L))
  list(what = "hpi", d = 1L, n = n, m = NA, contenders = list(
    "kestrel::hpi" = peer("kestrel", function() hpi(x), "plug_in"),
    "KernSmooth::dpik" = peer("KernSmooth", function() KernSmooth::dpik(x), "plug_in"),
    "ks::hpi" = peer("ks", function() ks::hpi(x), "plug_in"),
    "ks::hpi, binned = FALSE" = peer("ks", function() ks::hpi(x, binned = FALSE), "plug_in"),
    "stats::bw.SJ, dpi" = peer("stats", function() stats::bw.SJ(x, method = "dpi"), "dpi"),
    "stats::bw.SJ, ste" = peer("stats", function() stats::bw.SJ(x), "ste"),
    "locfit::kdeb, SJPI" = peer("locfit", function() locfit::kdeb(x, meth = "SJPI") / 2.5, "ste", 2e4),
    "sm::hsj" = peer("sm", function() sm::hsj(x), "sm", 2e3)
  ), references = list(
    plug_in = function() plug_in_minim(x), dpi = function() exact_sj(x, "dpi"), ste = function() exact_sj(x),
    sm = function() exact_sj(x, first = c(0.92, 0.912) * stats::IQR(x))
  ))
}

# ---- LSCV in one dimension
# The minimum on a range: a grid, then the best bracket. The criterion is the sums over pairs of the kernel and of its
# convolution with itself, each divided by its divisor, and the convolution at zero divided by `at_zero`.
exact_lscv <- function(x, from, to, cross, convolution = length(x)^2, at_zero = length(x)) {
  objective <- function(h) {
    n <- length(x)
    pairs <- function(h) (kestrel_psi(x, h, 0L, "fgt") - 1 / (sqrt(2 * pi) * h * n)) * n^2
    1 / (2 * sqrt(pi) * at_zero * h) + pairs(sqrt(2) * h) / convolution - 2 * pairs(h) / cross
  }
  h <- geometric(from, to, 400L)
  best <- which.min(objective(h))
  around <- h[c(max(1L, best - 1L), min(length(h), best + 1L))]
  stats::optimize(objective, around, tol = 1e-10 * around[1])$minimum
}
min_gap <- function(x) {
  gaps <- diff(sort(x))
  min(gaps[gaps > 0])
}
# ks::hlscv, kedd and sm hold all n^2 pairs in memory, several times over.
cross_validated <- function(n) {
  x <- drop(two_humps(n, 1L))
  widest <- 1.144 * stats::sd(x) * n^(-1 / 5)
  normal <- (4 / 3)^(1 / 5) * stats::sd(x) * n^(-1 / 5)
  oversmoothed <- (243 / (35 * 2 * sqrt(pi)))^(1 / 5) * stats::sd(x) * n^(-1 / 5)
  unbiased <- n * (n - 1)
  list(what = "hlscv", d = 1L, n = n, m = NA, contenders = list(
    "kestrel::hlscv" = peer("kestrel", function() hlscv(x), "unbiased"),
    "stats::bw.ucv" = peer("stats", function() stats::bw.ucv(x), "ucv"),
    "ks::hlscv" = peer("ks", function() ks::hlscv(x), "ks", 1e4),
    "kedd::h.ucv" = peer("kedd", function() kedd::h.ucv(x)$h, "kedd", 2e3),
    "locfit::kdeb, LSCV" = peer("locfit", function() locfit::kdeb(x, meth = "LSCV") / 2.5, "locfit", 2e4),
    "sm::hcv" = peer("sm", function() sm::hcv(x), "sm", 2e3),
    "FKSUM::fk_density" = peer("FKSUM", function() FKSUM::fk_density(x, h = "mlcv")$h, NA)
  ), references = list(
    unbiased = function() exact_lscv(x, normal / 4, normal * 4, unbiased),
    ucv = function() exact_lscv(x, 0.1 * widest, widest, n^2),
    ks = function() exact_lscv(x, min_gap(x), widest, n^2),
    kedd = function() exact_lscv(x, 0.1 * oversmoothed, 2 * oversmoothed, unbiased, unbiased),
    locfit = function() exact_lscv(x, 0.01 * stats::sd(x), stats::sd(x), unbiased),
    sm = function() exact_lscv(x, sm::hnorm(x) / 10, sm::hnorm(x) * 2, unbiased, n * (n - 1)^2 / (n - 2), n - 1)
  ))
}

# ---- bandwidth matrices
# Normal data in three clusters. ks with bins searches a full matrix for minutes.
three_clusters <- function(n, d) {
  centres <- rbind(rep(-1.5, d), rep(0, d), c(1.5, rep(-1.5, d - 1)))
  which <- sample.int(3L, n, replace = TRUE)
  centres[which, ] + matrix(stats::rnorm(n * d), n) * c(0.4, 0.3, 0.5)[which]
}
direct_limit <- 1e4
# Not "samse", the default of both in two dimensions, for which ks reads psi_6 in the wrong order.
exact_Hpi <- function(x) {
  if (nrow(x) > direct_limit) return(NA)
  run <- replace(of_kestrel("run_options")(threads = 1L), "engine", "direct")
  of_kestrel("select_matrix")(of_kestrel("selector_sample")(x, NULL), 2L, "dscalar", "sphere", NULL, FALSE, run)$H
}
plug_in_matrices <- function(d) {
  function(n) {
    x <- three_clusters(n, d)
    list(what = "Hpi", d = d, n = n, m = NA, contenders = list(
      "kestrel::Hpi" = peer("kestrel", function() c(Hpi(x, pilot = "dscalar")), "plug_in"),
      "ks::Hpi" = peer("ks", function() c(ks::Hpi(x, pilot = "dscalar")), "plug_in", 2e3),
      "ks::Hpi, binned = FALSE" = peer("ks", function() c(ks::Hpi(x, pilot = "dscalar", binned = FALSE)), "plug_in",
                                       1e3)
    ), references = list(plug_in = function() c(exact_Hpi(x))))
  }
}
cross_validated_matrices <- function(d) {
  function(n) {
    x <- three_clusters(n, d)
    at <- function(H) lscv(x, (H + t(H)) / 2)
    list(what = "Hlscv", d = d, n = n, m = NA, contenders = list(
      "kestrel::Hlscv" = peer("kestrel", function() Hlscv(x), "least"),
      "ks::Hlscv" = peer("ks", function() ks::Hlscv(x), "least", 2e3),
      "ks::Hlscv, binned = FALSE" = peer("ks", function() ks::Hlscv(x, binned = FALSE), "least", 1e3)
    ), value = at, references = list(min = function() {
      if (n > direct_limit) NA else at(Hlscv(x, engine = "direct"))
    }))
  }
}

# ---- regression
regression_data <- function(n) {
  x <- stats::rnorm(n)
  list(x = x, y = smooth_of(x) + stats::rnorm(n) / 3)
}
# np takes minutes for one search above 1e4 observations, as it uses all pairs.
regression_bandwidths <- function(n) {
  data <- regression_data(n)
  frame <- data.frame(x = data$x)
  curve <- function(h) kestrel_cv(data, h)
  sorted <- of_kestrel("regression_cpp")(list(x = data$x, y = data$y, w = rep(1, n)), run_on())
  # If every observation needs a neighbour, the minimum is often at the smallest bandwidth that gives it one.
  edge <- of_kestrel("regression_support_cpp")(sorted, "epanechnikov") * (1 + 1e-9)
  min <- function(supported) {
    found <- curve(c(edge, geometric(0.01, 1, if (n <= 1e5) 2000L else 100L)))
    min(found$squares[!supported | found$unsupported == 0])
  }
  ours <- function(...) npregbw(frame, data$y, ..., ckertype = "epanechnikov", bw.scale = "support")
  list(what = "npregbw", d = 1L, n = n, m = NA, contenders = list(
    "kestrel::npregbw, nbw = 50" = peer("kestrel", function() ours(nbw = 50)$bw, "supported"),
    # The call of a user who knows where the minimum is; the others search in their own ranges.
    "kestrel::npregbw, bws = 0.01 to 1, refine" = peer("kestrel", function() {
      ours(bws = geometric(0.01, 1, 50L), refine = TRUE)$bw
    }, "supported"),
    "np::npregbw (tree)" = peer("np", function() {
      options(np.tree = TRUE, np.messages = FALSE)
      sqrt(5) * np::npregbw(xdat = frame, ydat = data$y, ckertype = "epanechnikov", nmulti = 1)$bw
    }, "all", 1e4),
    "FKSUM::fk_regression" = peer("FKSUM", function() FKSUM::fk_regression(data$x, data$y, h = "cv")$h, NA, 1e5)
  ), value = function(bw) curve(bw)$squares,
  references = list(supported = function() min(TRUE), all = function() min(FALSE)))
}
# locpoly() has a grid over the range; where the tails are thin, nobody would use a fit at h = 0.1. npreg() always
# computes leave-one-out residuals, too, and the value of cross-validation at its bandwidth. With the Gaussian kernel
# that takes all pairs, so a user with many observations takes the Epanechnikov kernel, here with the same standard
# deviation.
regression_fits <- function(n) {
  data <- regression_data(n)
  points <- seq(min(data$x), max(data$x), length.out = 401L)
  dense <- abs(points) < 2
  ours <- function(h, kernel) {
    function() {
      npreg(bws = h, txdat = data$x, tydat = data$y, exdat = points[dense], regtype = "ll", ckertype = kernel,
            bw.scale = "support", se = FALSE)$mean
    }
  }
  # Plain R, point by point.
  exact <- function(weight) {
    function() {
      vapply(points[dense], function(at) {
        u <- data$x - at
        w <- weight(u)
        sums <- c(sum(w), sum(w * u), sum(w * u^2))
        (sums[3] * sum(w * data$y) - sums[2] * sum(w * u * data$y)) / (sums[1] * sums[3] - sums[2]^2)
      }, 0)
    }
  }
  list(what = "local linear fit", d = 1L, n = n, m = 401L, contenders = list(
    "kestrel::npreg" = peer("kestrel", ours(0.1, "gaussian"), "gaussian", 1e5),
    "kestrel::npreg, Epanechnikov" = peer("kestrel", ours(0.1 * sqrt(5), "epanechnikov"), "epanechnikov"),
    "KernSmooth::locpoly" = peer("KernSmooth", function() {
      KernSmooth::locpoly(data$x, data$y, degree = 1, bandwidth = 0.1, gridsize = 401L)$y[dense]
    }, "gaussian"),
    "locfit" = peer("locfit", function() {
      fitted <- locfit::locfit.raw(data$x, data$y, ev = points[dense], alpha = c(0, 0.25), deg = 1, kern = "gauss")
      stats::predict(fitted, where = "fitp")
    }, "gaussian", 1e5),
    "sm::sm.regression" = peer("sm", function() {
      sm::sm.regression(data$x, data$y, h = 0.1, eval.points = points[dense], display = "none")$estimate
    }, "gaussian", 1e5),
    "sm::sm.regression, nbins = 0" = peer("sm", function() {
      sm::sm.regression(data$x, data$y, h = 0.1, eval.points = points[dense], display = "none", nbins = 0)$estimate
    }, "gaussian", 2e3)
  ), references = list(
    gaussian = exact(function(u) exp(-(u / 0.1)^2 / 2)), epanechnikov = exact(function(u) pmax(0, 1 - (u / 0.1)^2 / 5))
  ))
}

# ---- all tasks, by their names in peers.R and memory.R
peer_tasks <- list(
  points1 = density_at_points(1L), points2 = density_at_points(2L), points3 = density_at_points(3L),
  grid1 = density_on_grid(1L), grid2 = density_on_grid(2L), grid3 = density_on_grid(3L),
  hpi = plug_ins, hlscv = cross_validated, Hpi2 = plug_in_matrices(2L), Hpi3 = plug_in_matrices(3L),
  Hlscv2 = cross_validated_matrices(2L), Hlscv3 = cross_validated_matrices(3L),
  npregbw = regression_bandwidths, fit = regression_fits
)
