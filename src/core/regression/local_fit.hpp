// One local constant or local linear fit at one point.
#ifndef KESTREL_CORE_REGRESSION_LOCAL_FIT_HPP
#define KESTREL_CORE_REGRESSION_LOCAL_FIT_HPP

#include <cstdint>

#include "core/base/raw_array.hpp"
#include "core/regression/local_sums.hpp"
#include "shared/local_fit.hpp"

namespace kestrel {

/// Fits from sums over the samples in windows. A line is fitted if these samples have two or more
/// distinct positions, which are counted with integers (a determinant would depend on rounding),
/// else a constant. The line is that of weighted least squares in centred form (make_line()).
class LocalFitter {
 public:
  /// The derivative of a fit by x (of lines: the slope at the point), and its variance.
  struct Gradient {
    double value, variance;
  };

  /// `sample` outlives the object. O(n).
  LocalFitter(const SortedSample& sample, const ParallelOptions& options);

  /// At sample i, without that sample.
  LocalFit leave_one_out(const LocalKernel& kernel, const LocalSums& sums, std::size_t i) const;
  /// At sample i, with that sample, from sums without it: its distance is 0, so it counts in s_0
  /// only. Without a deviation, which residual_in_sample() of the fit without the sample has.
  LocalFit with_sample(const LocalKernel& kernel, const LocalSums& sums, std::size_t i) const;
  /// At point i, which is not one of the samples.
  LocalFit at_point(const LocalKernel& kernel, const LocalSums& sums, std::size_t i) const;

  /// From such sums, which are not divided by a scale, over samples at this many positions.
  LocalFit of_sums(const LocalKernel& kernel, const FitSums& sums, std::size_t seen) const {
    return fit_of(kernel, sums, 1.0, sums.s0, seen);
  }

  /// The same by direct sums over the samples [first, end) except `own`, centred, in long double:
  /// for the few points where sums lose their digits, such as a lonely one with a far, tight
  /// cluster in its window. If error2 is not null, it is in sorted order, and what is not null of
  /// *variance = sum l_j^2 error2_j, *gradient and *gradient_variance is set, too (see Fits).
  LocalFit direct(const LocalKernel& kernel, double point, double y, std::size_t first,
                  std::size_t end, std::size_t own, const double* error2, double* variance,
                  Gradient* gradient = nullptr) const;

  /// The derivative of the fit at point i by x, and the weights of the samples in it, w_j (K_j
  /// constant - k_j slope), where k_j is K_j u_j or, for local constant fits, -K'(u_j); in the sums
  /// of squares likewise (see LocalSums). with_sample: whether the point is a sample, which its
  /// sums leave out. For lines, or with LocalKernel::gradient. NaN where a line sees one position
  /// only.
  struct GradientFit {
    double value, constant, slope;
  };
  GradientFit gradient(const LocalKernel& kernel, const LocalSums& sums, std::size_t i,
                       bool with_sample) const;

  /// Sums s_0 above this times the number of samples in the window are stable.
  double min_sum_of_a_sample() const { return min_sum_; }

 private:
  /// The sum of w over the samples [first, end), approximately: a difference of cumulative sums.
  double weight(std::size_t first, std::size_t end) const { return weight_[end] - weight_[first]; }
  std::size_t places(std::size_t first, std::size_t end) const {
    return end > first ? rank_[end - 1] - rank_[first] + 1 : 0;
  }
  LocalFit from_sums(const LocalKernel& kernel, const LocalSums& sums, std::size_t i,
                     std::size_t places_seen, double extent) const;
  LocalFit fit_of(const LocalKernel& kernel, const FitSums& of, double scale, double in_window,
                  std::size_t places_seen, double extent = 1) const;
  /// An upper bound on |u| between samples. If a window holds the whole sample, its sums are made
  /// of powers of such u.
  double extent(const LocalKernel& kernel) const;

  const SortedSample& sample_;
  RawArray<std::uint32_t> rank_;  // index of each sample's position among the distinct positions
  RawArray<double> weight_;       // cumulative sums of the weights
  double min_sum_ = 0.0, cut_ = 0.0;  // cut_: see gaussian_cut()
};

}  // namespace kestrel

#endif
