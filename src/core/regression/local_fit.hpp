// One local constant or local linear fit at one point.
#ifndef KESTREL_CORE_REGRESSION_LOCAL_FIT_HPP
#define KESTREL_CORE_REGRESSION_LOCAL_FIT_HPP

#include <cstdint>
#include <vector>

#include "core/regression/local_sums.hpp"

namespace kestrel {

/// A fit at a point e, whose reference value is y (its own, or that of a sample near it), by the
/// other samples in its window. The weights of the samples in the fit are l_j = w_j K_j (constant -
/// slope u_j) / scale.
struct LocalFit {
  bool supported = false;  // there is a sample in the window
  bool exact = false;      // only one other position: a line with e passes through y
  bool unstable = false;   // the sums of a line have lost digits; use LocalFitter::direct
  double deviation = 0.0;  // the fit minus y
  double constant = 0.0, slope = 0.0, scale = 1.0;

  /// y minus the fit that includes the point with weight w, and the leverage, the weight of y in
  /// that fit. With q = constant / scale, the value of l_e / w_e for the fit without the point, the
  /// residual shrinks by 1 / (1 + w q) (Sherman & Morrison 1950).
  double residual_in_sample(double w) const {
    return whole() ? 0.0 : -deviation * scale / (scale + w * constant);
  }
  double leverage(double w) const {
    // The constant of a steep line may be infinite.
    return whole() ? 1.0 : 1.0 / (1.0 + scale / (w * constant));
  }

 private:
  bool whole() const { return !supported || exact; }
};

/// Fits from sums over the samples in windows. A line is fitted if these samples have two or more
/// distinct positions, which are counted with integers (a determinant would depend on rounding),
/// else a constant. The line is that of weighted least squares in centred form: with mean = s_1 /
/// s_0 and spread = s_2 - s_1 mean, the fit at u = 0 is r_0 / s_0 - mean (r_1 - r_0 mean) / spread.
/// The textbook quotient (s_2 r_0 - s_1 r_1) / (s_0 s_2 - s_1^2) (Fan & Gijbels 1996, 3.2) loses
/// half the digits.
class LocalFitter {
 public:
  /// `sample` outlives the object. O(n).
  LocalFitter(const SortedSample& sample, const ParallelOptions& options);

  /// At sample i, without that sample.
  LocalFit leave_one_out(const LocalKernel& kernel, const LocalSums& sums, std::size_t i) const;
  /// At point i, which is not one of the samples.
  LocalFit at_point(const LocalKernel& kernel, const LocalSums& sums, std::size_t i) const;

  /// The same by direct sums over the samples [first, end) except `own`, centred, in long double:
  /// for the few points where sums lose their digits, such as a lonely one with a far, tight
  /// cluster in its window. If error2 is not null, sets *variance = sum l_j^2 error2_j; error2 is
  /// in sorted order.
  LocalFit direct(const LocalKernel& kernel, double point, double y, std::size_t first,
                  std::size_t end, std::size_t own, const double* error2, double* variance) const;

  /// Sums s_0 above this times the number of samples in the window are stable.
  double min_sum_of_a_sample() const { return min_sum_; }

 private:
  /// The sum of w over the samples [first, end), approximately: a difference of cumulative sums.
  double weight(std::size_t first, std::size_t end) const { return weight_[end] - weight_[first]; }
  std::size_t places(std::size_t first, std::size_t end) const {
    return end > first ? rank_[end - 1] - rank_[first] + 1 : 0;
  }
  LocalFit from_sums(const LocalKernel& kernel, const LocalSums& sums, std::size_t i,
                     std::size_t places_seen) const;

  const SortedSample& sample_;
  std::vector<std::uint32_t> rank_;  // index of each sample's position among the distinct positions
  std::vector<double> weight_;       // cumulative sums of the weights
  double min_sum_ = 0.0;
};

}  // namespace kestrel

#endif
