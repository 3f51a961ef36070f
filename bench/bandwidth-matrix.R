# Speed of cross-validation with a bandwidth matrix compared with reference programs, all in one run, alternating:
# medians, CPU time of the process, one thread, unless stated otherwise.
#
#   Rscript bench/bandwidth-matrix.R [--short] [curve objective rates memory large]
#
# kestrel must be installed. The reference programs are checked against plain R on a small sample before anything is
# timed. A method marked * ran on a few observations only, and its time was scaled to all of them.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("harness.R", "sums.R", "normal-data.R")) source(file.path(here, file))
isa_available <- kestrel_info()$isa_available
compile("clock.cpp", "limits.cpp", "papers/andrzejewski.cpp")

lower_root <- function(H) t(chol(H))

# The sum over pairs in g(H), eq. 24.
kestrel_sum <- function(x, root, isa = "auto") pair_sum_of(kestrel_lscv(x, root, isa = isa), x, root)

# ---- the reference programs against plain R
check_yardsticks <- function() {
  n <- 60L
  d <- 3L
  x <- normal_rows(n, d)
  S <- stats::cov(x)
  h <- c(0.4, 0.7, 1.1)
  squared <- outer(seq_len(n), seq_len(n), Vectorize(function(i, j) {
    drop(crossprod(x[i, ] - x[j, ], solve(S, x[i, ] - x[j, ])))
  }))
  squared <- squared[upper.tri(squared)]
  constant <- function(scale) (scale * pi)^(-d / 2) / sqrt(det(S))
  sum_of <- function(h) sum(constant(4) * exp(-squared / 4 / h^2) - 2 * constant(2) * exp(-squared / 2 / h^2))
  g <- vapply(h, function(h) h^-d * (2 / n^2 * sum_of(h) + constant(4) / n), 0)
  theirs <- function(single) andrzejewski_lscv_h(t(x), solve(S), det(S), h, single)
  their_sum <- function(single) andrzejewski_lscv_H(t(x), solve(S), det(S), seq_len(n), single)
  off <- function(value, exact) max(abs(value / exact - 1))
  stopifnot(
    off(theirs(FALSE), g) < 1e-12, off(theirs(TRUE), g) < 1e-4, off(their_sum(FALSE), sum_of(1)) < 1e-12,
    off(their_sum(TRUE), sum_of(1)) < 1e-4, off(kestrel_lscv_curve(x, lower_root(S), h), g) < 1e-12,
    off(kestrel_sum(x, lower_root(S)), sum_of(1)) < 1e-12
  )
}

# If there are several, the instruction set is part of the name.
with_isa <- function(times, isa) {
  colnames(times) <- paste0(colnames(times), ", ", isa)
  times
}
wide_isas <- function() intersect(c("avx512", "avx2"), isa_available)

# ---- LSCV_h, the last row but one of table 3
bench_curve <- function() {
  n <- 1024L
  d <- 16L
  x <- normal_rows(n, d)
  S <- stats::cov(x)
  inverse <- solve(S)
  h <- seq(reference_h(n, d) / 4, 4 * reference_h(n, d), length.out = 150L)
  cat("\nLSCV_h, n = 1,024, d = 16, 150 bandwidths (Andrzejewski et al. 2013, table 3)\n")
  rows <- lapply(wide_isas(), function(isa) {
    times <- race(list(
      kestrel = function() kestrel_lscv_curve(x, lower_root(S), h, isa),
      double = function() andrzejewski_lscv_h(t(x), inverse, det(S), h, FALSE),
      single = function() andrzejewski_lscv_h(t(x), inverse, det(S), h, TRUE)
    ))
    gain <- times_of(times, "double", "kestrel")
    keep_times(with_isa(times, isa), "LSCV_h", d = d, n = n, h = length(h))
    bar <- if (isa == "avx512") 20 else 10
    data.frame(
      isa = isa, `kestrel, ms` = figure(1e3 * middle(times)["kestrel"]),
      `paper, double, ms` = figure(1e3 * middle(times)["double"]),
      `paper, single, ms` = figure(1e3 * middle(times)["single"]), `double / kestrel` = figure(gain),
      bar = bar, met = verdict(gain >= bar), `single / kestrel` = figure(times_of(times, "single", "kestrel")),
      difference = formatC(max(abs(kestrel_lscv_curve(x, lower_root(S), h, isa) /
        andrzejewski_lscv_h(t(x), inverse, det(S), h, FALSE) - 1)), digits = 1, format = "e"), check.names = FALSE
    )
  })
  show(do.call(rbind, rows))
}

# ---- the objective of LSCV_H, the last row of table 3
bench_objective <- function() {
  n <- sized(16384L, 4096L)
  d <- 16L
  x <- normal_rows(n, d)
  H <- reference_h(n, d)^2 * stats::cov(x)
  root <- lower_root(H)
  inverse <- solve(H)
  few <- sort(sample.int(n, 128L))
  whole <- n * (n - 1) / 2 / sum(n - few)
  cat("\nThe objective of LSCV_H, n = ", figure(n, 5L), ", d = 16 (Andrzejewski et al. 2013, table 3)\n", sep = "")
  rows <- lapply(wide_isas(), function(isa) {
    times <- race(list(
      kestrel = function() kestrel_sum(x, root, isa),
      gradient = function() kestrel_lscv(x, root, TRUE, isa),
      double = function() andrzejewski_lscv_H(t(x), inverse, det(H), few, FALSE),
      single = function() andrzejewski_lscv_H(t(x), inverse, det(H), few, TRUE)
    ))
    times[, c("double", "single")] <- times[, c("double", "single")] * whole
    shares <- stats::setNames(rep(1 / whole, 2L), paste0(c("double, ", "single, "), isa))
    keep_times(with_isa(times, isa), "LSCV_H", d = d, n = n, h = 1L, share = shares)
    gain <- times_of(times, "double", "kestrel")
    bar <- if (isa == "avx512") 40 else 20
    data.frame(
      isa = isa, `kestrel, s` = figure(middle(times)["kestrel"]),
      `with gradient, s` = figure(middle(times)["gradient"]), `paper*, double, s` = figure(middle(times)["double"]),
      `paper*, single, s` = figure(middle(times)["single"]), `double / kestrel` = figure(gain), bar = bar,
      met = verdict(gain >= bar), `single / kestrel` = figure(times_of(times, "single", "kestrel")),
      check.names = FALSE
    )
  })
  show(do.call(rbind, rows))
}

# ---- pairs per second, compared with the machine's limit
#
# Vector operations of a vector of pairs on the two multiply-add ports, counted as in bench/direct.R. Distance and
# exponential: 2 d + 12 with AVX-512 and 2 d + 15 with AVX2; the two sums: 3. With second moments in d <= 3, for every
# product of every pair: d differences, two weights, d + d (d + 1) / 2 + 1 for each kernel, and 1 for the second kernel;
# in d > 3, by blocks: two values and 2 (d + 2) multiply-adds. For another bandwidth of a curve: 1 + 12 (15) + 3.
operations <- function(what, d, isa) {
  exponential <- if (isa == "avx512") 12 else 15
  switch(what,
    value = 2 * d + exponential + 3,
    gradient = 2 * d + exponential + if (d <= 3) d + 2 + 2 * (d + d * (d + 1) / 2 + 1) + 1 else 2 + 2 * (d + 2),
    curve = exponential + 4
  )
}

rates_of <- function(d, isa) {
  n <- sized(8192L, 4096L)
  x <- normal_rows(n, d)
  w <- rep(1, n)
  root <- reference_h(n, d) * lower_root(stats::cov(x))
  h <- seq(0.25, 4, length.out = 50L)
  some <- 1:2048
  rounds <- 5e6
  pairs <- function(n) n * (n - 1) / 2
  limit <- function() multiply_adds(isa, rounds)
  times <- race(list(
    limit = limit, value = function() kestrel_lscv(x, root, isa = isa, w = w),
    limit = limit, gradient = function() kestrel_lscv(x, root, TRUE, isa, w = w),
    limit = limit, curve = function() kestrel_lscv_curve(x[some, , drop = FALSE], root, h, isa, w = w[some]),
    limit = limit
  ))
  work <- c(value = pairs(n), gradient = pairs(n), curve = pairs(length(some)) * length(h))
  lanes <- c(avx512 = 8, avx2 = 4)[[isa]]
  row <- data.frame(isa = isa, d = d)
  for (what in names(work)) {
    at <- match(what, colnames(times))
    beside <- rowMeans(times[, at + c(-1L, 1L)])   # other tenants slow the machine by the second
    keep(paste("pairs,", what), isa, "pairs/s", work[[what]] / middle(times)[[what]], d = d, n = n)
    share <- work[[what]] / lanes * operations(what, d, isa) / (12 * rounds) * beside / times[, what]
    row[[paste0(what, "/s")]] <- figure(work[[what]] / middle(times)[[what]])
    row[["of limit"]] <- sprintf("%.0f %%", 100 * stats::median(share))
    names(row)[ncol(row)] <- paste("of limit,", what)
  }
  row
}

bench_rates <- function() {
  cat("\nPairs a second, n = ", figure(sized(8192, 4096), 4L), ", normal reference bandwidth; curve: pairs times\n",
      "bandwidths, n = 2,048, 50 h\n", sep = "")
  for (isa in wide_isas()) show(do.call(rbind, lapply(sized(c(1, 2, 3, 6, 16), c(2, 6, 16)), rates_of, isa = isa)))
}

# ---- memory
bench_memory <- function() {
  n <- sized(100000L, 20000L)
  added <- bytes_of("lscv_pairs", n, 6L)[["added"]]
  keep("LSCV with gradient, direct sums", "kestrel", "MB", added / 1e6, d = 6L, n = n)
  cat(sprintf("\nLSCV with gradient, n = %s, d = 6, direct sums: %.1f MB more than the session held (pairs: %s MB)\n",
              figure(n, 6L), added / 1e6, figure(8 * as.numeric(n)^2 / 1e6)))
}

# ---- a million observations, compared with std::sort
large_selection <- function(d) {
  n <- sized(1000000L, 100000L)
  x <- normal_rows(n, d, 0.6)
  sample <- of_kestrel("selector_sample")(x, NULL)
  # From the grid that gives all sums over pairs to the minimum of LSCV.
  search <- function() {
    criteria_of <- function(sample) {
      of_kestrel("criteria_for")(sample, "fourier", of_kestrel("run_options")(threads = 1L))
    }
    range <- of_kestrel("search_range")(sample, NULL)
    of_kestrel("search_matrices")(sample, criteria_of, NULL, FALSE, "optim", range)
  }
  peak <- bytes_of("Hlscv", n, d)[["peak"]]
  times <- race(list(
    sort = function() sort_values(x[, 1L]), search = search, Hlscv = function() Hlscv(x), Hpi = function() Hpi(x)
  ))
  keep_times(times, "bandwidth matrix", d = d, n = n)
  keep("bandwidth matrix", "Hlscv", "MB of the session", peak / 1e6, d = d, n = n)
  data.frame(
    d = d, n = figure(n, 7L), `std::sort, s` = figure(middle(times)["sort"]),
    `grid to optimum, s` = figure(middle(times)["search"]), sorts = figure(times_of(times, "search", "sort")),
    `Hlscv(), s` = figure(middle(times)["Hlscv"]), `in sorts` = figure(times_of(times, "Hlscv", "sort")),
    `Hpi(), s` = figure(middle(times)["Hpi"]), evaluations = search()$evaluations,
    `peak of the session, MB` = figure(peak / 1e6), bar = if (d == 2L) "3 sorts" else "5 s, 1 GB",
    met = verdict(if (d == 2L) times_of(times, "search", "sort") < 3
                  else middle(times)["Hlscv"] < 5 && isTRUE(peak < 1e9)),
    check.names = FALSE
  )
}

bench_large <- function() {
  cat("\nHlscv, full matrix, correlated normal data, one thread; the bars are of a million observations\n")
  show(do.call(rbind, lapply(2:3, large_selection)))
}

# ---- run
sections <- list(curve = bench_curve, objective = bench_objective, rates = bench_rates, memory = bench_memory,
                 large = bench_large)
run_sections(sections, check_yardsticks)
