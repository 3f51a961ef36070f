#include "core/mixed/mixed_neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/whole.hpp"

namespace kestrel {

namespace {

/// What takes a sample at the distance of the bandwidth out of the window of a kernel that ends
/// there, whatever is rounded.
constexpr double kOpen = 1 + 8 * std::numeric_limits<double>::epsilon();

/// Points of a work item.
constexpr std::size_t kPoints = 64;

}  // namespace

MixedNeighbours::MixedNeighbours(const MixedSample& sample, const MixedSample& points,
                                 const MixedKernel& kernel, const ParallelOptions& options)
    : adaptive_(kernel.type == BandwidthType::adaptive_nn),
      rows_(adaptive_ ? sample.size() : points.size()),
      columns_(sample.columns()),
      scale_(rows_ * columns_) {
  const MixedSample& from = adaptive_ ? sample : points;
  const bool reaches_farther =
      kernel.continuous == Kernel::gaussian || kernel.continuous == Kernel::epanechnikov;
  const double open = reaches_farther ? 1.0 : kOpen;
  if (adaptive_) times_.assign(rows_, 1.0);
  std::vector<double> line;
  for (std::size_t c = 0; c < columns_; ++c) {
    line.clear();
    for (std::size_t j = 0; j < sample.size(); ++j) {
      if (sample.w(j) > 0) line.push_back(sample.x(c)[j]);
    }
    std::sort(line.begin(), line.end());
    double* scale = scale_.data() + c * rows_;
    const std::size_t k = whole_number<std::size_t>(kernel.h[c]);
    parallel_for((rows_ + kPoints - 1) / kPoints, options, [&](std::size_t item, int) {
      for (std::size_t i = item * kPoints; i < std::min(rows_, (item + 1) * kPoints); ++i) {
        poll_if_due({});
        scale[i] = open / NeighbourWalk(line.data(), line.size(), from.x(c)[i]).to(k);
      }
    });
    if (!adaptive_) continue;
    double largest = 0;
    for (std::size_t j = 0; j < rows_; ++j) {
      if (sample.w(j) == 0) scale[j] = 0;
      if (std::isnan(scale[j])) {
        throw error(ErrorKind::input, "an observation has no neighbour of this number");
      }
      largest = std::max(largest, scale[j]);
    }
    for (std::size_t j = 0; j < rows_; ++j) times_[j] *= scale[j] / largest;
  }
}

std::unique_ptr<MixedNeighbours> MixedNeighbours::of(const MixedSample& sample,
                                                     const MixedSample& points,
                                                     const MixedKernel& kernel,
                                                     const ParallelOptions& options) {
  if (kernel.type == BandwidthType::fixed) return nullptr;
  return std::make_unique<MixedNeighbours>(sample, points, kernel, options);
}

bool MixedNeighbours::copy_scales(std::size_t i, double* to) const {
  bool known = true;
  for (std::size_t c = 0; c < columns_; ++c) {
    to[c] = scales(c)[i];
    known = known && !std::isnan(to[c]);
  }
  return known;
}

}  // namespace kestrel
