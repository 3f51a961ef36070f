// The sums at every point from which local constant and local linear fits are computed.
#ifndef KESTREL_CORE_REGRESSION_LOCAL_SUMS_HPP
#define KESTREL_CORE_REGRESSION_LOCAL_SUMS_HPP

#include <functional>

#include "core/data/neighbours.hpp"
#include "core/kernel/gaussian_order.hpp"
#include "core/regression/local_source.hpp"
#include "core/sweep/sweep.hpp"

namespace kestrel {

/// A kernel and its bandwidth, for regression: K(0) = 1; the window is fl(|e - x|) < h (<= h for
/// the uniform kernel and a fixed bandwidth, < 38 h for the Gaussian one, whose h is the standard
/// deviation).
struct LocalKernel {
  Kernel kernel;
  /// With nearest neighbours the number k: bandwidths are `unit` times distances to the k-th one
  /// (neighbours.hpp).
  double h;
  bool local_linear;
  /// Of the Gaussian kernel: 2, 4, 6 or 8 (core/kernel/gaussian_order.hpp).
  int order = 2;
  /// Whether sums for the gradient of local constant fits are needed (LocalSums).
  bool gradient = false;
  /// Taken off y, for local linear fits, whose residuals do not depend on it.
  double slope = 0.0;

  BandwidthType type = BandwidthType::fixed;
  double unit = 1.0;

  bool gaussian() const { return kernel == Kernel::gaussian; }
  bool nearest() const { return type != BandwidthType::fixed; }
};

/// At the points [begin, begin + count) in sorted order, with u_j = (x_j - e_i) / h and v_j = y_j -
/// y of the point - slope (x_j - e_i); over the samples in the window, without the point itself if
/// points and sample are the same:
///     s_q = sum w_j K(u_j) u_j^q,   r_q = sum w_j K(u_j) u_j^q v_j,
/// q = 0 for local constant fits; q <= 2 (s), q <= 1 (r) for local linear ones. Sums of the
/// Gaussian kernel are divided by scale_i, its value at the nearest sample, so that they do not
/// underflow. Sums of K^2 come without r_q.
///
/// With LocalKernel::gradient and local constant fits by a Gaussian kernel, s_1 and r_1 have -K'(u)
/// in place of K(u) u; in sums of K^2, s_1 has -K(u) K'(u) and s_2 has K'(u)^2. At order 2 these
/// are the same.
class LocalSums {
 public:
  /// scale: one value a point, or null if all are 1.
  LocalSums(const SweepBlock& block, const double* scale) : block_(block), scale_(scale) {}

  std::size_t begin() const { return block_.begin; }
  std::size_t count() const { return block_.count; }
  /// The number of this block; smaller than local_slots().
  std::size_t slot() const { return block_.slot; }

  double s(int q, std::size_t i) const { return column(q, 0)[i - block_.begin]; }
  double r(int q, std::size_t i) const { return column(q, 1)[i - block_.begin]; }
  double scale(std::size_t i) const { return scale_ == nullptr ? 1.0 : scale_[i - block_.begin]; }
  /// The samples in the window, [first, end), including the point itself if it is one.
  std::size_t first(std::size_t i) const { return block_.first[i - block_.begin]; }
  std::size_t end(std::size_t i) const { return block_.end[i - block_.begin]; }
  const SweepBlock& block() const { return block_; }

 private:
  const double* column(int q, std::size_t c) const {
    return block_.of(static_cast<std::size_t>(q), c);
  }

  const SweepBlock& block_;
  const double* scale_;
};

using LocalTake = std::function<void(const LocalSums& sums, int worker)>;

/// Calls `take` with the sums of each block of points, in any order, on any worker; blocks do not
/// depend on the threads. `points` may be the sample of the source: then every point is left out of
/// its own sums. power: 1, or 2 for sums of K^2. `anchors` is for local constant fits by polynomial
/// kernels: `ends` is cheaper, and good to 1e-13 if s_0 is not below a thousandth of the weight in
/// the window. The source is prepared for the Gaussian kernel.
///
/// O(n + m) for polynomial kernels, memory as sweep_sums. Gaussian kernel: O(n + m + cells) with
/// cells as wide as the bandwidth, O(pairs in windows) where these hold few samples. Throws
/// error(input) for the cosine kernel.
void local_sums(const LocalSource& source, const SortedSample& points, const LocalKernel& kernel,
                int power, Anchors anchors, const RunOptions& options, const LocalTake& take);

/// Whether the sums of n samples at themselves are brief for parallel_tasks(), at any bandwidth.
/// O(1).
bool local_sums_are_brief(Kernel kernel, std::size_t n);

/// Blocks of Gaussian sums have at least this many points, but for the last.
constexpr std::size_t kLeastBlock = 64;

/// An upper bound on the slots of blocks.
std::size_t local_slots(const SortedSample& sample, const SortedSample& points);

}  // namespace kestrel

#endif
