// What all blocks of a call share of the Gaussian kernel, and sums at the nodes of a cell.
#ifndef KESTREL_CORE_REGRESSION_GAUSSIAN_CALL_HPP
#define KESTREL_CORE_REGRESSION_GAUSSIAN_CALL_HPP

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/regression/local_sums.hpp"

namespace kestrel {

/// The kernel at the nodes of two cells, for every lag of the cells, and bounds on it.
class NodeKernel {
 public:
  /// factor[q]: K(u) u^q is factor[q](u^2) u^q exp(-power u^2 / 2), q < count. `ratio`: of all
  /// weights to the least. Cells are rho bandwidths wide, and no two are more than `span` apart.
  NodeKernel(const SquarePolynomial* factor, int count, int power, double rho, double ratio,
             double span);

  /// Cells are looked at up to this lag.
  int lags() const { return lags_; }
  /// For NodeTable::add_pairs, from samples in cell k + lag to points in cell k, lag >= 0, of q =
  /// 0; those of the next q are `stride()` further on.
  const double* matrix(int lag) const { return matrix_.data() + start(0, lag); }
  std::size_t stride() const { return start(1, 0); }
  /// Bounds on |K| and |K u^2|.
  double bound(int lag) const { return bound_[static_cast<std::size_t>(lag)]; }
  double bound_of_squares(int lag) const {
    return bound_of_squares_[static_cast<std::size_t>(lag)];
  }

 private:
  static constexpr std::size_t kMatrix = kNodes * kNodes;
  std::size_t start(int q, int lag) const {
    return static_cast<std::size_t>(q * (lags_ + 1) + lag) * kMatrix;
  }

  int lags_;
  std::vector<double> matrix_, bound_, bound_of_squares_;
};

/// p_q of the sums with u^q, q = 0, 1, 2 (see LocalSums).
struct Factors {
  SquarePolynomial of[3];
  bool all_one;

  Factors(const LocalKernel& kernel, int power) : all_one(kernel.order == 2) {
    const SquarePolynomial k = gaussian_factor(kernel.order);
    const SquarePolynomial slope =
        kernel.gradient && !kernel.local_linear ? gaussian_slope_factor(kernel.order) : k;
    of[0] = power == 2 ? k * k : k;
    of[1] = power == 2 ? slope * k : slope;
    of[2] = power == 2 ? slope * slope : slope;
  }
};

/// All that the blocks of one call share.
struct GaussianCall {
  GaussianCall(const LocalSource& from, const SortedSample& to, const LocalKernel& k, int of_power,
               const simd::Table& set);
  /// Of cells alone, `exponent` that of the level that is used.
  GaussianCall(const LocalSource& from, const LocalKernel& k, int exponent, const simd::Table& set);

  const LocalSource& source;
  const SortedSample& points;
  const LocalKernel& kernel;
  const int power;
  const simd::Table& table;
  const Factors factors;
  /// Whether points are left out of their own sums, and whether there are sums with y.
  const bool leave_one_out, responses;
  /// Sums are of u^q, q < powers, or of q = 0 only.
  const int powers;
  /// See gaussian_cut(). Polynomials of distances below 38 are below exp(22).
  const double cut;
  const NodeLevel* level = nullptr;
  std::unique_ptr<const NodeKernel> nodes;

 private:
  void open(const NodeLevel& used, double first, double last);
};

/// Sums at the nodes of the cell with this key, for each power those with w and then those with y,
/// and bounds: their errors are some eps of these. Responses are relative to the line through
/// `response` at the centre of the cell. Kernels of order 2 are positive, so their sums are bounds
/// themselves; for others the bounds are the weights within reach times those of NodeKernel.
struct CellAtNodes {
  CellAtNodes(const GaussianCall& call, double key, double response);

  const double* of(int q, int column) const {
    return sum + (q * columns + column) * static_cast<int>(kNodes);
  }

  int columns;
  double sum[6 * kNodes] = {}, bound = 0, bound_of_squares = 0;
};

/// Calls take(lag, right, left) for the cells that are up to `lags` cells away from that with this
/// key, the nearest first: `right` and `left` are numbers of cells of the level, or cells() where
/// there is none at this distance.
template <class Take>
void each_lag(const NodeLevel& level, double key, int lags, const Take& take) {
  const auto at_right = std::lower_bound(level.key.begin(), level.key.end(), key);
  auto right = static_cast<std::size_t>(at_right - level.key.begin()), left = right;
  while (true) {
    const double to_right = right < level.cells() ? level.key[right] - key : HUGE_VAL;
    const double to_left = left > 0 ? key - level.key[left - 1] : HUGE_VAL;
    const double apart = std::min(to_right, to_left);
    if (!(apart <= lags)) return;
    const std::size_t of_right = to_right == apart ? right++ : level.cells();
    take(static_cast<int>(apart), of_right, to_left == apart ? --left : level.cells());
  }
}

/// Whether a sum of kernels whose error is a few eps times the bound has its digits.
bool has_digits(double sum, double bound);

/// Whether errors of a few eps times the bounds leave a fit from sums of the first powers its
/// digits, see make_line(). s0: without the point itself if it is left out.
bool is_accurate(const GaussianCall& call, double s0, double s1, double s2, double bound,
                 double bound_of_squares);

}  // namespace kestrel

#endif
