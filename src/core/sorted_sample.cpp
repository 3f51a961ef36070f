#include "core/sorted_sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "simd/sweep.hpp"

namespace kestrel {

namespace {

/// The values in sorted order between one filler in front and kSweepPadding behind, and their
/// mirror image, with the sign changed for positions.
void arrange(const std::vector<std::uint32_t>& order, Span<const double> v, double sign,
             double front, double behind, std::vector<double>* out) {
  const std::size_t n = order.size();
  if (v.size != n) {
    if (v.size == 0) return;
    throw error(ErrorKind::input, "there are " + std::to_string(n) + " points but " +
                                      std::to_string(v.size) + " values that belong to them");
  }
  for (int side = 0; side < 2; ++side) {
    out[side].assign(n + 1 + simd::kSweepPadding, behind);
    out[side][0] = front;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double value = v[order[i]];
    out[0][1 + i] = value;
    out[1][n - i] = sign * value;
  }
}

}  // namespace

SortedSample::SortedSample(Span<const double> x, Span<const double> w, Span<const double> y) {
  const std::size_t n = x.size;
  if (n >= (std::size_t{1} << 31) - 32) {
    throw error(ErrorKind::input, "there must be fewer than 2^31 - 32 points");
  }
  std::vector<std::pair<double, std::uint32_t>> entries(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) throw error(ErrorKind::input, "positions must be finite");
    entries[i] = {x[i], static_cast<std::uint32_t>(i)};
  }
  std::sort(entries.begin(), entries.end());
  order_.resize(n);
  for (std::size_t i = 0; i < n; ++i) order_[i] = entries[i].second;
  arrange(order_, x, -1.0, 0.0, std::numeric_limits<double>::infinity(), x_);
  arrange(order_, w, 1.0, 0.0, 0.0, w_);
  unit_weights_ = w.size == n && std::all_of(w.begin(), w.end(), [](double v) { return v == 1.0; });
  arrange(order_, y, 1.0, 0.0, 0.0, y_);
}

}  // namespace kestrel
