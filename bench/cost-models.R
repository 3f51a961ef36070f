# What tasks cost by the constants of src/core/*/costs.hpp: the seconds of each constant, in the models of the core
# (NAME_seconds() in src/core/NAME/). For densities calibrate.R compares their sums with the plans of the core.
kernel_rows <- of_kestrel("kernel_table_cpp")()
operation_of <- c(avx512 = "kOperationOfEightNs", avx2 = "kOperationOfFourNs", sse2 = "kOperationOfTwoNs")

# counts times constants, in seconds.
seconds_of <- function(costs, ...) {
  counts <- c(...)
  1e-9 * counts * costs[names(counts)]
}

# pair_seconds() for radial kernels.
pair_counts <- function(costs, kernel, d, isa) {
  row <- match(kernel, kernel_rows$name)
  polynomial <- kernel_rows$form[row] == "power"
  operations <- 2 * d + costs[[if (polynomial) "kPolynomialOperations" else "kOtherOperations"]]
  indicator <- polynomial && kernel_rows$outer[row] == 0
  c(stats::setNames(operations, operation_of[[isa]]), kComparisonNs = as.numeric(indicator),
    kSquareRootNs = as.numeric(polynomial && !indicator && kernel_rows$inner[row] %% 2 == 1))
}

direct_parts <- function(costs, n, m, spread, kernel, d, isa) {
  blocks <- min(m, m / 256 + spread / 128) # kBlockSize, 2 kBlockRadius
  seconds_of(costs, n * m * pair_counts(costs, kernel, d, isa), kBlockSampleNs = n * blocks)
}

# `pairs`: the seconds of the pairs.
kdtree_parts <- function(costs, n, m, pairs) {
  levels <- function(count) count * log2(2 + count / 64) # kTreeLeaf, kTreeBlock
  c(seconds_of(costs, kTreeLevelNs = levels(n) + levels(m), kTreeBlockNs = m / 64 + 1), kTreePairFactor = pairs)
}

# A radial kernel of bandwidth h along every axis of a grid with the same d axes; core/scanline/geometry.hpp.
scanline_parts <- function(costs, n, axis, d, h, kernel) {
  radius <- h / (axis[2L] - axis[1L])
  reached <- function(d) min(of_kestrel("ball_volume_cpp")(d) * radius^d, length(axis)^d)
  by_events <- kernel == "epanechnikov" && (d == 1 || radius >= 2) # kShortRadius
  points <- seconds_of(costs, kScanlinePointNs = length(axis)^d)
  if (by_events && d == 1) return(c(seconds_of(costs, kScanlineLineSampleNs = n), points))
  c(seconds_of(costs, kScanlineSampleNs = n, kScanlineRowNs = n * reached(d - 1),
               kScanlineCoveredNs = if (by_events) 0 else n * reached(d)), points)
}

sweep_parts <- function(costs, n, m) seconds_of(costs, kSweepDoublingNs = (n + m) * log2(n + m))

fgt_parts <- function(costs, n, m, spread) {
  cells <- 6 * spread + 1 # kCellsOfBandwidth
  sources <- max(1, min(n, cells))
  targets <- max(1, min(m, cells))
  met <- targets * sources * min(1, 140 / cells) # kCellsInReach
  terms <- n / sources * m / targets
  by_terms <- terms * costs[["kFgtExponentialNs"]] < costs[["kFgtCellPairNs"]]
  seconds_of(costs, kFgtCallNs = 1, kFgtValueNs = n + m, kFgtCellNs = sources + targets,
             kFgtCellPairNs = if (by_terms) 0 else met, kFgtExponentialNs = if (by_terms) met * terms else 0)
}

direct_line_parts <- function(costs, n, isa) {
  pair <- sum(seconds_of(costs, pair_counts(costs, "gaussian", 1, isa)))
  c(seconds_of(costs, kCornerNs = n), kPolynomialFactor = 0.5 * n^2 * costs[["kPolynomialFactor"]] * pair)
}

fgt_pairs_parts <- function(costs, n, spread) {
  cells <- 3 * spread + 1 # kWideCellsOfBandwidth
  full <- min(n, cells)
  met <- max(1, full * min(1, 30 / cells)) # kWideCellsInReach
  none <- c(kMomentsNs = 0, kMomentsPairNs = 0, kWindowsNs = 0, kWindowsPairNs = 0)
  by_moments <- replace(none, 1:2, c(n, full * met))
  by_windows <- replace(none, 3:4, c(n, n^2 * min(0.5, 10 / spread))) # kBandwidthsInReach
  ways <- list(seconds_of(costs, by_moments), seconds_of(costs, by_windows))
  c(seconds_of(costs, kPairSumsCallNs = 1), ways[[which.min(vapply(ways, sum, 0))]])
}

# `degree`: of a polynomial kernel; NULL for the Gaussian one.
regression_parts <- function(costs, fits, degree, linear) {
  counts <- c(kGaussianFitNs = 0, kGaussianLinearFitNs = 0, kConstantFitNs = 0, kConstantFitDegreeNs = 0,
              kLinearFitNs = 0, kLinearFitDegreeNs = 0)
  if (is.null(degree)) {
    counts[[if (linear) 2L else 1L]] <- fits
  } else {
    counts[if (linear) 5:6 else 3:4] <- fits * c(1, degree)
  }
  seconds_of(costs, counts)
}

orthants_parts <- function(costs, n, lines) {
  seconds_of(costs, kOrthantProductNs = n * prod(lines), kOrthantFactorNs = n * sum(lines))
}
