# Data whose clusters are far narrower than they are apart. Their covariance is that of the places of the clusters, and
# the bandwidths of its normal reference are far too large. A search then also begins at the scales of the clusters.

# A guess at LSCV for bandwidths as large as cells. Their sides are `widest`, a half of it, a quarter, and so on, in
# units of the root of the covariance. The last level is the first at which observations have fewer than `few`
# neighbours that are not tied. With `thin` only some of the cells are looked at.
#
# If an observation has N neighbours much nearer than a bandwidth h, and none at a distance of about h, then h^d LSCV is
# a positive multiple of 1 - N / N0, where N0 is tie_threshold() (see count_ties()). For a smooth density N grows with
# h^d, and `value` is its integral squared except for the first term, as in the cross-validation of a histogram (Rudemo
# 1982). With fewer than N0 neighbours LSCV is positive, and rises as H goes to 0.
scan_of_cells <- function(sample, widest, thin = FALSE, few = 0.25 * tie_threshold("gaussian", ncol(sample$x))) {
  d <- ncol(sample$x)
  scan <- scan_cells_cpp(sample$data, list(root = sample$root, widest = widest, few = few, thin = thin))
  scan$value <- (1 - scan$neighbours / tie_threshold("gaussian", d)) / scan$side^d
  # The volume of the observations of a cell, relative to that of a cell that they fill evenly.
  scan$filled <- apply(scan$covariance, 2L, function(one) sqrt(max(det(matrix(one, d)), 0))) / (scan$side / sqrt(12))^d
  scan
}

# Cells that are so empty have clusters in them. For normal data of two and three variables they are filled by 0.8 and
# 0.7 if as wide as two standard deviations, and better if they are smaller.
emptiness <- 0.1

# Whether there are clusters so narrow that a search from the normal reference might not see them. There are two signs.
# Large cells are nearly empty, which a few observations show. Or the guess at LSCV is lower by a tenth for cells of a
# quarter of the smallest usual bandwidth, or less, than for cells as large as that bandwidth. Usual densities show
# neither.
is_clustered <- function(sample) {
  if (is_spread(sample)) return(FALSE) # whose values are not known
  few <- sample
  if (nrow(sample$x) > 1024L) {
    rows <- round(seq(1, nrow(sample$x), length.out = 1024L))
    few$data <- sample_cpp(sample$x[rows, ], sample$w[rows])
  }
  if (any(scan_of_cells(few, 2, few = 16)$filled < emptiness)) return(TRUE)
  value <- scan_of_cells(sample, reference_scale(sample$n, ncol(sample$x), "gaussian") / 4, thin = TRUE)$value
  length(value) >= 3L && min(value[-(1:2)]) < min(1.1 * value[1L], 0)
}

# The sample at the scales of its clusters: compared with its covariance, and with that within the cells that are
# emptiest, and with that within these, and so on.
at_scales_of_clusters <- function(sample, diagonal) {
  d <- ncol(sample$x)
  whole <- diag(sample$cov)
  scales <- list()
  for (round in 1:5) {
    scan <- scan_of_cells(sample, 8)
    scales[[round]] <- at_scale(sample, scan)
    inner <- which(scan$side < 4 & seq_along(scan$side) <= which.min(scan$value))
    emptiest <- inner[which.min(scan$filled[inner])]
    if (length(emptiest) == 0L || scan$filled[emptiest] > emptiness) break
    root <- lower_root_cpp(unname(sample$cov))
    S <- root %*% matrix(scan$covariance[, emptiest], d) %*% t(root)
    # Rounded, so that the search is the same in other units, where the last bits of sums differ.
    S <- signif(if (diagonal) S * diag(d) else (S + t(S)) / 2, 8)
    root <- lower_root_cpp(S)
    # Tied values have a variance of rounding errors. Columns that determine each other to the rounded digits have no
    # scale of their own.
    if (is.null(root) || any(diag(S) < 1e-14 * whole) || any(diag(root)^2 < 1e-6 * diag(S))) break
    sample$cov[] <- S
    sample$root <- if (is.null(sample$axes)) root else root / diag(sample$axes)
  }
  scales
}

# The best bandwidth is about half as large as the best cell of a histogram.
reference_of_cells <- function(scan) scan$side[which.min(scan$value)] / 2

# The sample with that bandwidth for a reference, and a grid of its own. If an observation has few others within reach,
# they are summed directly.
at_scale <- function(sample, scan) {
  h <- reference_of_cells(scan)
  sample$reference <- h
  sample$data <- sample_cpp(sample$x, sample$w)
  # Direct sums look at the pairs in cells as wide as the reach, about 15 bandwidths, and in those next to them.
  within_reach <- scan$neighbours[max(1L, which(scan$side >= 30 * h))] * nrow(sample$x)
  sample$near <- ncol(sample$x) <= 3L && within_reach < if (ncol(sample$x) == 3L) 2e7 else 1.5e7
  sample
}
