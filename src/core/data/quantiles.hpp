// Quantiles of a weighted sample.
#ifndef KESTREL_CORE_DATA_QUANTILES_HPP
#define KESTREL_CORE_DATA_QUANTILES_HPP

#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

/// Quantiles of type 7 (Hyndman & Fan 1996) of x, for every probability in [0, 1]. With weights,
/// the mean of the weighted quantile function over a window of width 1 / n_eff, n_eff = (sum w)^2 /
/// sum w^2 (Akinshin 2023); equal weights give the former.
///
/// x: values, none NaN, one at least; w: a weight for each, finite and not negative, one of them
/// positive, or none if all are equal; values of weight zero do not count. Throws error(input) if
/// the numbers of values and weights differ.
///
/// Nothing is sorted but the values near the quantiles: O(n), and O(n log n) where most values lie
/// in a small part of their range. Memory: up to 64 bytes for each value that is sorted, and up to
/// 8 MiB.
std::vector<double> quantiles(Span<const double> x, Weights w, Span<const double> prob,
                              const ParallelOptions& options);

/// The same quantile of equally weighted values in ascending order, one at least, in O(1).
double quantile_of_sorted(Span<const double> x, double prob);

/// The median of the distances |x_i - centre| of values in ascending order, one at least, in
/// O(log n).
double median_distance(Span<const double> x, double centre);

/// The median of the values at every `step`-th position, the upper of two: a value near the middle
/// of a sample, also of one with outliers, in time for a few values only. There is one value at
/// least, and `step` is positive.
double median_of_every(std::size_t step, Span<const double> x);

}  // namespace kestrel

#endif
