#include "core/data/sorted_sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/parallel_sort.hpp"

namespace kestrel {

namespace {

/// The values in sorted order, padded with simd::kSweepPadding values `beside` on either side.
std::vector<double> arrange(const std::vector<std::uint32_t>& order, Span<const double> v,
                            double beside, const ParallelOptions& options) {
  poll_if_due(options);
  const std::size_t n = order.size(), padding = simd::kSweepPadding;
  if (v.size != n) {
    if (v.size == 0) return {};
    throw error(ErrorKind::input, "there are " + std::to_string(n) + " points but " +
                                      std::to_string(v.size) + " values that belong to them");
  }
  std::vector<double> all(n + 2 * padding, beside);
  for (std::size_t i = 0; i < n; ++i) all[padding + i] = v[order[i]];
  return all;
}

}  // namespace

SortedSample::SortedSample(Span<const double> x, Span<const double> w, Span<const double> y,
                           const ParallelOptions& options) {
  const std::size_t n = x.size;
  if (n >= (std::size_t{1} << 31) - 32) {
    throw error(ErrorKind::input, "there must be fewer than 2^31 - 32 points");
  }
  std::vector<std::pair<double, std::uint32_t>> entries(n);
  serial_for(n, options, [&](std::size_t i) {
    if (!std::isfinite(x[i])) throw error(ErrorKind::input, "positions must be finite");
    entries[i] = {x[i], static_cast<std::uint32_t>(i)};
  });
  parallel_sort(&entries, options);
  poll_if_due(options);
  order_.resize(n);
  for (std::size_t i = 0; i < n; ++i) order_[i] = entries[i].second;
  x_ = arrange(order_, x, std::numeric_limits<double>::infinity(), options);
  w_ = arrange(order_, w, 0.0, options);
  y_ = arrange(order_, y, 0.0, options);
  poll_if_due(options);
  unit_weights_ = w.size == n && std::all_of(w.begin(), w.end(), [](double v) { return v == 1.0; });
}

}  // namespace kestrel
