// A sorted sample as local sums need it.
#ifndef KESTREL_CORE_REGRESSION_LOCAL_SOURCE_HPP
#define KESTREL_CORE_REGRESSION_LOCAL_SOURCE_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/data/sorted_sample.hpp"
#include "core/regression/nodes.hpp"

namespace kestrel {

/// The widest window of the Gaussian kernel, in standard deviations: beyond it exp(-u^2/2) is no
/// normal number in doubles.
constexpr double kGaussianReach = 38.0;

/// Terms of the Gaussian kernel below 1e-20 of the nearest one are left out, whatever their
/// weights: those whose u^2 exceeds that of the nearest sample by more than this, 2 log(1e20
/// largest / smallest weight). Positive weights. O(n), O(1) if they are absent.
double gaussian_cut(Weights w);

/// Different positions of a sample, with the weight and the mean response of each.
class Places {
 public:
  /// O(n).
  Places(const SortedSample& sample, bool responses, const ParallelOptions& options);

  std::size_t size() const { return size_; }
  /// The place of sample i, and the samples of place p: first(p) .. first(p + 1) - 1.
  std::uint32_t of(std::size_t i) const { return of_[i]; }
  std::uint32_t first(std::size_t p) const { return first_[p]; }
  /// As leaves read them (SortedSample). A mean response is y() + more(), where y() is that of one
  /// of the samples, so that rounding loses nothing to an offset.
  const double* x() const { return x_.data() + simd::kSweepPadding; }
  const double* w() const { return w_.data() + simd::kSweepPadding; }
  const double* y() const { return y_.data() + simd::kSweepPadding; }
  const double* more() const { return more_.data() + simd::kSweepPadding; }
  /// The sum of squares of the responses about their mean, with weights.
  const double* squares() const { return squares_.data(); }

 private:
  std::size_t size_;
  RawArray<std::uint32_t> of_;
  std::vector<std::uint32_t> first_;
  std::vector<double> x_, w_, y_, more_, squares_;
};

/// A sorted sample and, for the Gaussian kernel, what its sums are made of.
class LocalSource {
 public:
  /// `responses`: whether sums with y will be asked for.
  LocalSource(SortedSample sample, bool responses)
      : sample_(std::move(sample)), responses_(responses) {}
  /// Of cells alone, which hold so many samples of weight one: there are no others.
  LocalSource(std::unique_ptr<const NodeCells> cells, double samples);
  LocalSource(const LocalSource&) = delete;
  LocalSource& operator=(const LocalSource&) = delete;

  const SortedSample& sample() const { return sample_; }
  bool responses() const { return responses_; }

  /// Prepares sums of a Gaussian kernel of this order at bandwidths from h on, with a trend of y.
  /// O(n) unless that is done. Not thread-safe; sums may be asked for on several threads
  /// afterwards.
  void prepare_gaussian(double h, int order, double slope, const RunOptions& options) const;
  /// Null if cells do not pay for any bandwidth, or before prepare_gaussian().
  const NodeCells* cells() const { return cells_.get(); }
  /// Null if hardly any positions are shared.
  const Places* places() const { return places_.get(); }
  /// See gaussian_cut().
  double cut() const { return cut_; }
  /// The sum of the weights divided by the least one.
  double weight_ratio() const { return weight_ratio_; }
  double min_weight() const { return min_weight_; }

 private:
  const SortedSample sample_;
  const bool responses_;
  mutable bool prepared_ = false;
  mutable double cut_ = 0, weight_ratio_ = 1, min_weight_ = 1;
  mutable std::optional<int> finest_;
  mutable std::unique_ptr<const Places> places_;
  mutable std::unique_ptr<const NodeCells> cells_;
};

}  // namespace kestrel

#endif
