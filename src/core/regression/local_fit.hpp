// One local constant or local linear fit at one point.
#ifndef KESTREL_CORE_REGRESSION_LOCAL_FIT_HPP
#define KESTREL_CORE_REGRESSION_LOCAL_FIT_HPP

#include <cstdint>
#include <vector>

#include "core/regression/local_sums.hpp"
#include "shared/local_fit.hpp"

namespace kestrel {

/// Fits from sums over the samples in windows. Which fit: a line where these samples have two
/// different places or more, counted by integers, else a constant (a determinant would depend on
/// rounding). The line is that of weighted least squares in centred form (make_line()).
class LocalFitter {
 public:
  /// `sample` outlives the object. O(n).
  LocalFitter(const SortedSample& sample, const ParallelOptions& options);

  /// At sample i, without it.
  LocalFit leave_one_out(const LocalKernel& kernel, const LocalSums& sums, std::size_t i) const;
  /// At point i of others than the sample.
  LocalFit at_point(const LocalKernel& kernel, const LocalSums& sums, std::size_t i) const;

  /// The same by direct sums over the samples [first, end) but `own`, centred, in long double: for
  /// the few points where sums lose their digits, such as a lonely one that looks at a far, tight
  /// cluster. error2 (may be null): also variance = sum l_j^2 error2_j, error2 in sorted order.
  LocalFit direct(const LocalKernel& kernel, double point, double y, std::size_t first,
                  std::size_t end, std::size_t own, const double* error2, double* variance) const;

  /// Sums s_0 above this times the samples in the window are stable.
  double min_sum_of_a_sample() const { return min_sum_; }

 private:
  /// sum of w over the samples [first, end): an estimate, by difference.
  double weight(std::size_t first, std::size_t end) const { return weight_[end] - weight_[first]; }
  std::size_t places(std::size_t first, std::size_t end) const {
    return end > first ? rank_[end - 1] - rank_[first] + 1 : 0;
  }
  LocalFit from_sums(const LocalKernel& kernel, const LocalSums& sums, std::size_t i,
                     std::size_t places_seen) const;

  const SortedSample& sample_;
  std::vector<std::uint32_t> rank_;  // of the place of each sample among the different places
  std::vector<double> weight_;       // sums of the weights of the first samples
  double min_sum_ = 0.0;
};

}  // namespace kestrel

#endif
