// The data of a call, and what engines have made of them.
#ifndef KESTREL_CORE_DATA_SAMPLE_HPP
#define KESTREL_CORE_DATA_SAMPLE_HPP

#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/prepared.hpp"
#include "core/data/sample_moments.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

/// n observations of d variables and their weights, of which it is a view: the memory is the
/// caller's, must outlive it and must not change.
///
/// The steps of a call (a bandwidth, an estimate, its contours) all take one sample. An engine
/// keeps what it has made of the data with prepared(), so that the next step finds it: an order,
/// cells, a grid, a tree. It is dropped with the sample. Not for several threads at once.
class Sample {
 public:
  /// x: n*d; w: n weights. Throws error(input) if the numbers differ. O(1).
  Sample(const MatrixView& x, Weights w) : x_(x), w_(w) { check_weight_count(x.rows, w.size); }
  /// n observations of which only the ranges (column_ranges()) are known, and what has been
  /// prepared of them. Their weights are one.
  Sample(std::size_t n, std::vector<double> ranges)
      : x_{nullptr, n, ranges.size() / 2}, w_(Weights::ones(n)), ranges_(std::move(ranges)) {}
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  std::size_t n() const { return x_.rows; }
  std::size_t d() const { return x_.cols; }
  /// Throws error(internal) if the observations are not known.
  const MatrixView& x() const {
    if (x_.data == nullptr && n() > 0) {
      throw error(ErrorKind::internal, "the observations of this sample are not known");
    }
    return x_;
  }
  Weights w() const { return w_; }
  /// column_ranges() of the data, measured once. O(n d).
  const std::vector<double>& ranges(const ParallelOptions& options) const {
    if (ranges_.empty()) ranges_ = column_ranges(x_, options);
    return ranges_;
  }

  /// What has been made of the data, see Prepared.
  template <class T, class Make>
  T& prepared(const Make& make) const {
    return prepared_.get<T>(make);
  }
  template <class T>
  T* found() const {
    return prepared_.found<T>();
  }

 private:
  MatrixView x_;
  Weights w_;
  mutable std::vector<double> ranges_;
  mutable Prepared prepared_;
};

}  // namespace kestrel

#endif
