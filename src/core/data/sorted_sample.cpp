#include "core/data/sorted_sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.hpp"
#include "core/base/parallel_sort.hpp"

namespace kestrel {

namespace {

/// A point and its index. A plain type, unlike a pair: an array of them need not be initialised.
struct PlacedPoint {
  double x;
  std::uint32_t place;

  bool operator<(const PlacedPoint& other) const {
    return x < other.x || (x == other.x && place < other.place);
  }
};

double leading(const PlacedPoint& point) { return point.x; }

}  // namespace

SortedSample::Column SortedSample::arranged(Span<const double> v, double beside,
                                            const ParallelOptions& options) const {
  if (v.size != size_) {
    if (v.size == 0) return {};
    throw error(ErrorKind::input, "there are " + std::to_string(size_) + " points but " +
                                      std::to_string(v.size) + " values that belong to them");
  }
  return padded(
      size_, beside, [&](std::size_t i) { return v[given(i)]; }, options);
}

SortedSample::SortedSample(Span<const double> x, Weights w, Span<const double> y,
                           const ParallelOptions& options)
    : size_(x.size) {
  if (size_ >= (std::size_t{1} << 31) - 32) {
    throw error(ErrorKind::input, "there must be fewer than 2^31 - 32 points");
  }
  const RawArray<PlacedPoint> points(size_);
  pass_over(size_, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::isfinite(x[i])) throw error(ErrorKind::input, "positions must be finite");
      points[i] = {x[i], static_cast<std::uint32_t>(i)};
    }
  });
  parallel_sort(points.data(), size_, options);
  const auto order = std::make_shared<RawArray<std::uint32_t>>(size_);
  pass_over(size_, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) (*order)[i] = points[i].place;
  });
  order_ = order;
  x_ = padded(
      size_, std::numeric_limits<double>::infinity(), [&](std::size_t i) { return points[i].x; },
      options);
  if (w.absent() && w.size == size_) {
    w_ = padded(
        size_, 0.0, [](std::size_t) { return 1.0; }, options);
  } else {
    w_ = arranged({w.data, w.size}, 0.0, options);
  }
  y_ = arranged(y, 0.0, options);
  unit_weights_ = w.size == size_ && (w.absent() || std::all_of(w.data, w.data + w.size,
                                                                [](double v) { return v == 1.0; }));
}

}  // namespace kestrel
