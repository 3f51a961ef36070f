// The sums that local constant and local linear fits are made of, at every point.
#ifndef KESTREL_CORE_LOCAL_SUMS_HPP
#define KESTREL_CORE_LOCAL_SUMS_HPP

#include <vector>

#include "core/sweep.hpp"

namespace kestrel {

/// A kernel at a bandwidth, for regression: K(0) = 1, window fl(|e - x|) < h (<= h for the uniform
/// kernel, < 38 h for the Gaussian one, whose h is the standard deviation).
struct LocalKernel {
  Kernel kernel;
  double h;
  bool local_linear;
};

/// At point i, in sorted order, with u_j = (x_j - e_i) / h and v_j = y_j - y of the point, over the
/// samples in the window but without the point itself when points and sample are the same:
///     s_q = sum w_j K(u_j) u_j^q,   r_q = sum w_j K(u_j) u_j^q v_j,
/// q = 0 for local constant fits; q <= 2 (s), q <= 1 (r) for local linear ones. Sums of the
/// Gaussian kernel are divided by scale_i, its value at the nearest sample, so that they do not
/// underflow.
class LocalSums {
 public:
  /// power: 1, or 2 for sums of K^2. `anchors` is for local constant fits by polynomial kernels:
  /// `ends` is cheaper and good to 1e-13 where s_0 is not below a thousandth of the weight in the
  /// window. O(n + m) for polynomial kernels, O(pairs in windows) for the Gaussian one. Throws
  /// error(input) for the cosine kernel. Memory is kept for the next call.
  void compute(const SortedSample& sample, const SortedSample& points, const LocalKernel& kernel,
               int power, Anchors anchors, const RunOptions& options);

  double s(int q, std::size_t i) const { return column(q, 0)[i]; }
  double r(int q, std::size_t i) const { return column(q, 1)[i]; }
  double scale(std::size_t i) const { return scale_.empty() ? 1.0 : scale_[i]; }
  /// s_0 and r_0 at all points, one after another, and the windows.
  const double* s0() const { return column(0, 0); }
  const double* r0() const { return column(0, 1); }
  const SweepSums& windows() const { return sums_; }
  /// Samples in the window, the point itself among them when it is one: [first, end).
  std::size_t first(std::size_t i) const { return sums_.first[i]; }
  std::size_t end(std::size_t i) const { return sums_.end[i]; }

 private:
  const double* column(int q, int c) const {
    return sums_.sum.data() +
           (static_cast<std::size_t>(q) * sums_.columns + static_cast<std::size_t>(c)) *
               sums_.points;
  }
  void gaussian(const SortedSample& sample, const SortedSample& points, const LocalKernel& kernel,
                int power, const RunOptions& options);

  SweepSums sums_;
  std::vector<double> scale_;
};

/// Widest window of the Gaussian kernel, in standard deviations: exp(-38^2/2) is the smallest that
/// a double holds.
constexpr double kGaussianReach = 38.0;

}  // namespace kestrel

#endif
