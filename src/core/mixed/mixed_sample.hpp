// A sample with continuous columns, factors and ordered factors, in the order that sums need.
#ifndef KESTREL_CORE_MIXED_MIXED_SAMPLE_HPP
#define KESTREL_CORE_MIXED_MIXED_SAMPLE_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/raw_array.hpp"
#include "core/base/span.hpp"
#include "core/data/prepared.hpp"
#include "core/data/weights.hpp"
#include "core/mixed/mixed_kernel.hpp"

namespace kestrel {

/// n rows: continuous columns; codes of factors, column by column (0: a level that the sample
/// lacks); positions of ordered factors. A view.
struct MixedRows {
  MatrixView x;
  Span<const int> factor;
  MatrixView ordered;
  std::size_t n = 0, factors = 0;

  int code(std::size_t i, std::size_t k) const { return factor[k * n + i]; }
};

/// Rows in the order of their factors, so that those with the same levels, a cell, stand together.
class MixedSample {
 public:
  /// levels: of each factor, then of each ordered factor. y: responses, or empty. w: weights, which
  /// sum to the number of positive ones. The views need not outlive the object. O(n log n) for each
  /// factor, and O(n log n columns).
  MixedSample(const MixedRows& rows, std::vector<int> levels, Span<const double> y, Weights w,
              const ParallelOptions& options);

  std::size_t size() const { return given_.size(); }
  /// The weight of a row, and how many are positive.
  bool weighted() const { return weighted_; }
  double w(std::size_t i) const { return weighted() ? w_[i] : 1.0; }
  std::size_t positive() const { return positive_; }
  std::size_t columns() const { return columns_; }
  std::size_t factors() const { return factors_; }
  std::size_t ordered() const { return levels_.size() - factors_; }
  /// A continuous column, and the responses minus base(), in this order.
  const double* x(std::size_t c) const { return x_.data() + c * size(); }
  const double* y(bool local_linear) const { return local_linear ? level_y_.data() : y_.data(); }
  bool responses() const { return responses_; }
  std::size_t given(std::size_t i) const { return given_[i]; }

  std::size_t cells() const { return first_.size() - 1; }
  std::size_t first(std::size_t cell) const { return first_[cell]; }

  /// The rows of a cell are ordered as the leaves of a k-d tree, kLeaf rows each but for the last,
  /// so that those of a leaf are near each other.
  static constexpr std::size_t kLeaf = 64;
  std::size_t leaves(std::size_t cell) const { return leaf_[cell + 1] - leaf_[cell]; }
  /// The least and the largest value of each continuous column in leaf k of a cell.
  const double* low(std::size_t cell, std::size_t k) const {
    return box_.data() + 2 * columns_ * (leaf_[cell] + k);
  }
  const double* high(std::size_t cell, std::size_t k) const { return low(cell, k) + columns_; }

  /// The continuous columns of a row.
  void copy_row(std::size_t i, double* to) const {
    for (std::size_t c = 0; c < columns_; ++c) to[c] = x(c)[i];
  }
  /// What is taken off y, so that it costs no digits: the weighted mean or, for local linear fits,
  /// which reproduce it, the hyperplane of least squares at x, and its slopes.
  double base(bool local_linear, const double* x) const;
  double base_slope(bool local_linear, std::size_t c) const {
    return local_linear ? slope_[c] : 0.0;
  }

  /// The levels of a row: the codes of its factors, the positions of its ordered ones.
  struct Levels {
    const int* code;
    const double* position;
  };
  /// The weight of each cell at a point with some levels, the product of the kernels of its
  /// factors, and its derivative by the lambda of each (cells times factors() + ordered()). `own`:
  /// those of a sample with the levels of the point.
  struct CellWeights {
    std::vector<double> value, slope;
    double own = 1.0;
    std::vector<double> own_slope;
  };
  CellWeights weights(const MixedKernel& kernel, const Levels& at) const;
  /// The levels of a cell.
  const int* codes(std::size_t cell) const { return code_.data() + cell * factors_; }
  const double* positions(std::size_t cell) const { return position_.data() + cell * ordered(); }
  /// The number of levels of a factor, or of an ordered one after these.
  int levels(std::size_t k) const { return levels_[k]; }
  /// A typical distance in a column: its standard deviation, or 1 if it is constant.
  double unit(std::size_t c) const { return unit_[c]; }
  /// What has been made of the sample, see Prepared: it is dropped with the sample.
  template <class T, class Make>
  T& prepared(const Make& make) const {
    return prepared_.get<T>(make);
  }

 private:
  void weigh(const MixedKernel& kernel, const Levels& from, const Levels& to, double* value,
             double* slope, std::size_t stride) const;
  void order_leaves(const MatrixView& x, const std::vector<double>& range, std::size_t begin,
                    std::size_t end);
  void take_boxes();
  void take_trend(const ParallelOptions& options);

  std::size_t columns_, factors_;
  bool responses_, weighted_;
  std::vector<int> levels_;
  std::vector<std::uint32_t> given_;
  RawArray<double> x_, y_, level_y_, w_;
  std::size_t positive_;
  std::vector<std::size_t> first_, leaf_;
  std::vector<double> box_;
  std::vector<int> code_;
  std::vector<double> position_, unit_, centre_, slope_;
  double level_ = 0;
  mutable Prepared prepared_;
};

}  // namespace kestrel

#endif
