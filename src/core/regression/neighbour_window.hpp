// The window of one point where bandwidths are distances to neighbours: its samples, their weights,
// and the fit to them.
#ifndef KESTREL_CORE_REGRESSION_NEIGHBOUR_WINDOW_HPP
#define KESTREL_CORE_REGRESSION_NEIGHBOUR_WINDOW_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/raw_array.hpp"
#include "core/data/neighbours.hpp"
#include "core/regression/local_fit.hpp"

namespace kestrel {

/// Samples [begin, end).
struct SampleRange {
  std::size_t begin, end;
};

/// The bandwidths of all samples at one number of neighbours, k = kernel.h, and what fits see.
class NeighbourBandwidths {
 public:
  /// distance: d_k of the samples, which outlive the object. Generalized_nn at points that are not
  /// samples does without.
  NeighbourBandwidths(const SortedSample& line, const LocalKernel& kernel,
                      RawArray<double> distance);

  const SortedSample& line() const { return line_; }
  /// Its h is k.
  const LocalKernel& kernel() const { return kernel_; }
  bool adaptive() const { return kernel_.type == BandwidthType::adaptive_nn; }
  /// Whether every sample has a k-th neighbour. What follows is for samples that have.
  bool complete() const { return complete_; }
  double of(std::size_t j) const { return reach_[j]; }
  /// The weights of samples in windows relative to those at u = 0, w_j or w_j least() / h_j.
  double least() const { return least_; }
  /// Which samples a point between `lower` and `upper` may see, in ascending order; h: the
  /// bandwidth there for generalized_nn. O(log n), or O(n / 64) for adaptive_nn.
  void seen(double lower, double upper, double h, std::vector<SampleRange>& ranges) const;
  /// How far a bandwidth reaches.
  double reach(double h) const { return kernel_.gaussian() ? kGaussianReach * h : h; }
  /// See gaussian_cut().
  double cut() const { return cut_; }

  /// The leave-one-out fit at sample i as sums tell it, whose own weight there is own_weight(i):
  /// false where they have too few digits.
  bool quick_fit(const simd::Table& table, std::size_t i, const std::vector<SampleRange>& ranges,
                 LocalFit& fit) const;
  double own_weight(std::size_t i) const { return adaptive() ? weight_[i] : line_.w()[i]; }

 private:
  const SortedSample& line_;
  const LocalKernel kernel_;
  const RawArray<double> reach_;     // the bandwidths
  RawArray<double> scale_, weight_;  // adaptive_nn
  bool complete_ = true;
  double least_ = HUGE_VAL, cut_ = 0;
  SquarePolynomial factor_;
  std::vector<double> from_, to_;  // what blocks of 64 samples reach, for adaptive_nn
};

/// The samples that one point sees, with weights g_j = w_j K((x_j - e) / h) or, for adaptive_nn,
/// w_j K((x_j - e) / h_j) / h_j, both relative to some scale. Reused from point to point.
class NeighbourWindow {
 public:
  /// Sees, at the point e, all samples of the ranges but number `own` (any number from n on: all)
  /// that are near enough. Generalized_nn: h is the bandwidth at e. O(samples in the ranges).
  void see(const NeighbourBandwidths& bandwidths, double e, double h,
           const std::vector<SampleRange>& ranges, std::size_t own, bool gradient);

  /// How many different positions are seen; 2 stands for more.
  int places() const { return places_; }
  /// The weight of a sample of w = 1 at e, in the scale of the weights; its bandwidth is h.
  double own_weight(const NeighbourBandwidths& bandwidths, double h) const;
  /// The y of the heaviest sample that is seen.
  double nearby_value() const { return y_[heaviest_]; }

  /// The fit relative to y. Its constant is relative to the weights, its scale is 1.
  LocalFit fit(bool local_linear, double e, double y);
  /// Of the latest fit: sum_j l_j^2 error2_j, and the derivative by x at fixed bandwidths, with its
  /// variance. see() was told of gradients.
  double variance(const double* error2) const;
  LocalFitter::Gradient gradient(bool local_linear, const double* error2) const;

 private:
  void add(const NeighbourBandwidths& bandwidths, std::size_t j, double e, double h);
  void weigh_gaussian(const NeighbourBandwidths& bandwidths, double e, bool gradient);
  void weigh_compact(const NeighbourBandwidths& bandwidths, double e, bool gradient);

  std::size_t count_ = 0, heaviest_ = 0;
  int places_ = 0;
  double log_scale_ = 0;  // of a Gaussian kernel's weights
  std::vector<double> x_, y_, h_, weight_, slope_, off_;
  std::vector<std::uint32_t> sample_;
  bool line_ = false;  // of the latest fit
  double s0_ = 0, mean_y_ = 0, spread_ = 0, product_ = 0, away_ = 0, y_at_ = 0;
};

}  // namespace kestrel

#endif
