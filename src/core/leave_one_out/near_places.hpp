// The observations of a line near a point, those of a cell as weights at its nodes.
#ifndef KESTREL_CORE_LEAVE_ONE_OUT_NEAR_PLACES_HPP
#define KESTREL_CORE_LEAVE_ONE_OUT_NEAR_PLACES_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/leave_one_out/line_responses.hpp"
#include "core/regression/nodes.hpp"

namespace kestrel {

/// The cells whose nodes serve an integrated Gaussian kernel, or null if they do not pay at this
/// bandwidth. Prepares the source of the line.
const NodeLevel* cells_of_steps(const ResponseLine& line, const MixedKernel& kernel,
                                const RunOptions& options);

/// Positions and weights near some interval that give the same sums of the integrated kernel as all
/// places, up to rounding. One object a worker.
class NearPlaces {
 public:
  NearPlaces(const ResponseLine& line, const MixedKernel& kernel, const NodeLevel* level,
             const simd::Table& table);

  /// Whether [low, high] is so far from all observations that integrated kernels differ by orders
  /// of magnitude within a cell.
  bool is_far(double low, double high) const { return beyond(low, high) > kFar; }
  /// For points in [low, high], an interval no wider than a cell, with positions relative to
  /// `reference`. With `split` those up to *split come before the others.
  void take(double reference, double low, double high, const double* split = nullptr);

  std::size_t size() const { return position_.size(); }
  /// How many of these are up to *split.
  std::size_t split() const { return split_; }
  /// Those of the places alone may be changed.
  double* weight() { return weight_.data(); }
  /// The numbers of observations that are out of reach to the left, where the integrated kernel is
  /// 1, and to the right, where it is 0.
  double left() const { return left_; }
  double right() const { return right_; }

  /// The integrated kernels C((point - x) / h) or, for side = -1, C((x - point) / h) of `count`
  /// positions x from `begin` on and, unless `slope` is null, their derivatives by log(h).
  void integrated(double point, double side, std::size_t begin, std::size_t count, double* value,
                  double* slope) const;

 private:
  static constexpr double kFar = 4;
  double beyond(double low, double high) const;
  void add_places(double reference, std::size_t first, std::size_t end, const double* split);
  void add_nodes(double reference, const NodeLevel& level, std::size_t cell);
  void add_cell(double reference, const NodeLevel& level, std::size_t cell, const double* split);

  const ResponseLine& line_;
  const SortedSample& places_;
  const ContinuousKernel below_;
  const double h_;
  const NodeLevel* const level_;
  const simd::Table& table_;
  std::vector<double> position_, weight_;
  std::size_t split_ = 0;
  double left_ = 0, right_ = 0;
};

}  // namespace kestrel

#endif
