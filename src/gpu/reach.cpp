#include "gpu/reach.hpp"

#include <algorithm>
#include <cmath>

#include "core/data/ends.hpp"
#include "shared/exp2.hpp"

namespace kestrel {

namespace {

constexpr double kDoubleReach = 512.0, kSingleReach = 64.0;
/// The device's exponential takes numbers below kExp2Range. These are squared distances minus the
/// logarithm of a weight, which is at least kNoWeight; the rest is room for rounding.
constexpr double kLargestSquare = kExp2Range + kNoWeight - 1024.0;

}  // namespace

double gpu_reach(std::size_t d, bool single_precision) {
  const double variables = static_cast<double>(d);
  if (single_precision) return kSingleReach / std::sqrt(variables);
  return std::min(kDoubleReach, 0.5 * (std::sqrt(kLargestSquare / variables) - kOutsideReach));
}

void measure_box(const EvaluationPoints& points, std::vector<double>& centre,
                 std::vector<double>& half, const ParallelOptions& options) {
  const std::size_t d = points.dimension();
  centre.assign(d, 0.0);
  half.assign(d, 0.0);
  std::vector<Span<const double>> columns;
  for (std::size_t k = 0; k < d; ++k) {
    columns.push_back(points.axes.empty() ? points.matrix.column(k) : points.axes[k]);
  }
  const std::vector<Ends> ends = ends_of(columns, options);
  for (std::size_t k = 0; k < d; ++k) {
    if (columns[k].size == 0) continue;
    centre[k] = 0.5 * ends[k].least + 0.5 * ends[k].largest;
    half[k] = std::max(ends[k].largest - centre[k], centre[k] - ends[k].least);
  }
}

bool within_reach(const TileKernel& kernel, const std::vector<double>& half, double reach) {
  const simd::Whitening map = kernel.whitening(half.data());
  std::vector<double> bound(map.d);
  for (std::size_t k = 0; k < map.d; ++k) {
    const double* row = map.matrix + k * map.d;
    bound[k] = half[k] * row[k];
    for (std::size_t l = 0; l < k; ++l) bound[k] += std::fabs(row[l]) * bound[l];
    if (!(bound[k] * kernel.stretch(k) <= reach)) return false;
  }
  return true;
}

}  // namespace kestrel
