# The last section of bench/one-dimension.R: what other packages take, and how far their values are
# from the exact value of what each of them approximates, all sums over pairs summed exactly.
#
#   hpi, KernSmooth::dpik, ks::hpi        two-stage plug-in, scale min(sd, IQR / 1.349)
#   stats::bw.SJ(method = "dpi")          the same with divisor n (n - 1)
#   stats::bw.SJ                          Sheather & Jones (1991), solve the equation
#   stats::bw.ucv, ks::hlscv              LSCV with cross term / n^2, least value of their range
#   hlscv                                 LSCV with cross term / (n (n - 1)), [h0 / 4, 4 h0]
#   npregbw, np::npregbw                  leave-one-out CV, Epanechnikov: CV at the bandwidth found against the least;
#                                         np 0.60 rejects no bandwidth, so for it the least of all counts
#   local linear fit, KernSmooth::locpoly Gaussian, h = 0.1, at a grid of the range; kestrel's is the exact one
#   FKSUM                                 a kernel of its own, so its time only

# sum_{i<j} of the derivative of order r of a Gaussian kernel with standard deviation g, diagonal
# added, with the divisor of bw.SJ.
functional_sj <- function(x, g, r) functional(x, g, r, "cells") * length(x) / (length(x) - 1)

exact_sj <- function(x, method) {
  n <- length(x)
  scale <- min(stats::sd(x), stats::IQR(x) / 1.349)
  amise <- function(psi4) (1 / (2 * sqrt(pi) * n * psi4))^(1 / 5)
  psi6 <- -functional_sj(x, 1.23 * scale * n^(-1 / 9), 6L)
  if (method == "dpi") return(amise(functional_sj(x, (2.394 / (n * psi6))^(1 / 7), 4L)))
  slope <- 1.357 * (functional_sj(x, 1.24 * scale * n^(-1 / 7), 4L) / psi6)^(1 / 7)
  off <- function(h) amise(functional_sj(x, slope * h^(5 / 7), 4L)) - h
  h_max <- 1.144 * scale * n^(-1 / 5)
  stats::uniroot(off, c(0.1, 1) * h_max, tol = 1e-12, extendInt = "yes")$root
}

# The least value of an LSCV curve on a range: a grid, then the best bracket.
exact_lscv <- function(x, from, to, cross) {
  n <- length(x)
  objective <- function(h) {
    pairs <- pair_curve(x, rep(1, n), h, "gaussian", "cells", 1L, "auto", NULL)
    1 / (2 * sqrt(pi) * n * h) + 2 * pairs[, 1] / n^2 - 4 * pairs[, 2] / cross
  }
  h <- geometric(from, to, 400L)
  best <- which.min(objective(h))
  around <- h[c(max(1L, best - 1L), min(length(h), best + 1L))]
  stats::optimize(objective, around, tol = 1e-10 * around[1])$minimum
}
exact_ucv <- function(x, from) {
  to <- 1.144 * stats::sd(x) * length(x)^(-1 / 5)
  exact_lscv(x, if (is.null(from)) 0.1 * to else from, to, length(x)^2)
}
exact_hlscv <- function(x) {
  n <- length(x)
  reference <- (4 / 3)^(1 / 5) * stats::sd(x) * n^(-1 / 5)
  exact_lscv(x, reference / 4, reference * 4, n * (n - 1))
}
least_gap <- function(x) {
  gaps <- diff(sort(x))
  min(gaps[gaps > 0])
}

fit_at <- of_kestrel("regression_fit_cpp")
has <- function(package) requireNamespace(package, quietly = TRUE)
# ks forms all n^2 pairs in memory, several times over.
pairs_fit <- function(n) n <= 1e4

selectors <- function(x) {
  n <- length(x)
  plug_in_exact <- if (n <= 1e4) plug_in_minim(x, "direct") else plug_in_minim(x, "cells")
  sj <- function(method) function() stats::bw.SJ(x, method = method)
  rows <- list(
    list("hpi", function() hpi(x, scalest = "minim"), plug_in_exact),
    list("KernSmooth::dpik", function() KernSmooth::dpik(x), plug_in_exact),
    list("ks::hpi", if (has("ks")) function() ks::hpi(x), plug_in_exact),
    list("stats::bw.SJ, dpi", sj("dpi"), exact_sj(x, "dpi")),
    list("stats::bw.SJ, ste", sj("ste"), exact_sj(x, "ste")),
    list("hlscv", function() hlscv(x), exact_hlscv(x)),
    list("stats::bw.ucv", function() stats::bw.ucv(x), exact_ucv(x, NULL)),
    list("ks::hlscv", if (has("ks") && pairs_fit(n)) function() ks::hlscv(x), exact_ucv(x, least_gap(x))),
    list("FKSUM::fk_density", if (has("FKSUM")) function() FKSUM::fk_density(x, h = "mlcv")$h, NA)
  )
  do.call(rbind, lapply(rows, function(row) measure(row[[1]], row[[2]], row[[3]])))
}

# KernSmooth's choice of scale is that of the first stage; W&J 3.6 is otherwise the same.
plug_in_minim <- function(x, engine) plug_in(x, engine, min(stats::sd(x), stats::IQR(x) / 1.349))

# Median time and relative error of a value; a peer that is not there, or stops, gives NA.
measure <- function(name, call, exact, rounds = 3L) {
  empty <- data.frame(method = name, seconds = NA_real_, error = NA_real_)
  if (is.null(call)) return(empty)
  value <- tryCatch(suppressWarnings(call()), error = function(e) NULL)
  if (is.null(value)) return(empty)
  seconds <- middle(race(list(call = function() suppressWarnings(call())), rounds))
  data.frame(method = name, seconds = unname(seconds), error = max(abs(value - exact)) / max(abs(exact)))
}

# np keeps all pairs too busy above 1e4 observations: minutes for one search.
regressions <- function(data) {
  n <- length(data$x)
  frame <- data.frame(x = data$x)
  h <- geometric(0.01, 1, 2000L)
  curve <- kestrel_cv(data, if (n <= 1e5) h else h[seq(1, 2000, 20)])
  least <- min(curve$squares[curve$unsupported == 0])
  cv_at <- function(bw) kestrel_cv(data, bw)$squares
  # locpoly() has a grid over the range; where the tails are thin a fit at h = 0.1 is nobody's.
  points <- seq(min(data$x), max(data$x), length.out = 401L)
  points <- points[abs(points) < 2.5]
  fit <- function() {
    fit_at(data$x, data$y, rep(1, n), points, 0.1, "gaussian", TRUE, numeric(0), 1L, "auto", NULL)$mean
  }
  rows <- list(
    list("npregbw", function() {
      cv_at(npregbw(xdat = frame, ydat = data$y, bws = geometric(0.01, 1, 50L), refine = TRUE)$bw)
    }, least),
    list("np::npregbw (tree)", if (has("np") && n <= 1e4) function() {
      options(np.tree = TRUE, np.messages = FALSE)
      cv_at(sqrt(5) * np::npregbw(xdat = frame, ydat = data$y, ckertype = "epanechnikov", nmulti = 1)$bw)
    }, min(curve$squares)),
    list("local linear fit", fit, fit()),
    list("KernSmooth::locpoly", function() {
      smooth <- KernSmooth::locpoly(data$x, data$y, degree = 1, bandwidth = 0.1, gridsize = 401L)
      smooth$y[abs(smooth$x) < 2.5]
    }, fit()),
    list("FKSUM::fk_regression", if (has("FKSUM") && n <= 1e5) function() {
      FKSUM::fk_regression(data$x, data$y, h = "cv")$h
    }, NA)
  )
  do.call(rbind, lapply(rows, function(row) {
    measure(row[[1]], row[[2]], row[[3]], if (startsWith(row[[1]], "np::")) 1L else 3L)
  }))
}

# One row a method, two columns a sample size.
beside <- function(make, sizes) {
  tables <- lapply(sizes, make)
  columns <- lapply(seq_along(sizes), function(i) {
    out <- data.frame(
      seconds = figure(tables[[i]]$seconds), error = formatC(tables[[i]]$error, digits = 0, format = "e")
    )
    out[is.na(tables[[i]]$seconds), 1] <- "-"
    out[is.na(tables[[i]]$error), 2] <- "-"
    stats::setNames(out, c(sprintf("n = %.0e: s", sizes[i]), "error"))
  })
  show(do.call(cbind, c(list(method = tables[[1]]$method), columns)))
}

bench_peers <- function() {
  sizes <- c(1e4, 1e5, 1e6)
  cat("\nOther packages: seconds of CPU, and the relative error of h against the exact value of the same criterion\n")
  cat("\nx: half N(0, 1), half N(3, 0.3^2)\n")
  beside(function(n) selectors(c(stats::rnorm(n / 2), stats::rnorm(n / 2, 3, 0.3))), sizes)
  cat("\nx: t with 3 degrees of freedom\n")
  beside(function(n) selectors(stats::rt(n, 3)), sizes)
  cat("\nRegression, normal x. npregbw: by how much CV at the bandwidth exceeds the least; fits: largest error\n")
  beside(function(n) regressions(normal_data(n)), sizes)
  cat("The least value of a curve is flat: where it lies is known to about 1e-8 to 1e-6 in any double arithmetic.\n")
  cat("-: not installed, or not run at this size (ks::hlscv forms all pairs in memory, np takes minutes),\n",
    "  or without a common value to compare (FKSUM has a kernel of its own)\n")
}
