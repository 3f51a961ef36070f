#include "core/data/sorted_sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/parallel_sort.hpp"
#include "core/data/passes.hpp"

namespace kestrel {

namespace {

/// The values in sorted order, padded with simd::kSweepPadding values `beside` on either side.
std::vector<double> arrange(const std::vector<std::uint32_t>& order, Span<const double> v,
                            double beside, const ParallelOptions& options) {
  const std::size_t n = order.size(), padding = simd::kSweepPadding;
  if (v.size != n) {
    if (v.size == 0) return {};
    throw error(ErrorKind::input, "there are " + std::to_string(n) + " points but " +
                                      std::to_string(v.size) + " values that belong to them");
  }
  std::vector<double> all(n + 2 * padding, beside);
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) all[padding + i] = v[order[i]];
  });
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
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::isfinite(x[i])) throw error(ErrorKind::input, "positions must be finite");
      entries[i] = {x[i], static_cast<std::uint32_t>(i)};
    }
  });
  parallel_sort(&entries, options);
  order_.resize(n);
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) order_[i] = entries[i].second;
  });
  x_ = arrange(order_, x, std::numeric_limits<double>::infinity(), options);
  w_ = arrange(order_, w, 0.0, options);
  y_ = arrange(order_, y, 0.0, options);
  unit_weights_ = w.size == n && std::all_of(w.begin(), w.end(), [](double v) { return v == 1.0; });
}

SortedSample SortedSample::with_weights(Span<const double> sorted_w) const {
  if (sorted_w.size != size()) throw error(ErrorKind::internal, "weights of a wrong number");
  SortedSample other = *this;
  other.w_.assign(size() + 2 * simd::kSweepPadding, 0.0);
  std::copy(sorted_w.begin(), sorted_w.end(), other.w_.begin() + simd::kSweepPadding);
  other.unit_weights_ = false;
  return other;
}

}  // namespace kestrel
