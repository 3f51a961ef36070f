// Local sums of the Gaussian kernel.
#ifndef KESTREL_CORE_REGRESSION_GAUSSIAN_SUMS_HPP
#define KESTREL_CORE_REGRESSION_GAUSSIAN_SUMS_HPP

#include "core/regression/local_sums.hpp"
#include "shared/local_fit.hpp"

namespace kestrel {

/// local_sums() for the Gaussian kernel.
///
/// Where cells as wide as the bandwidth hold enough samples, sums go from the nodes of cells of
/// samples to those of cells of points (nodes.hpp), and are interpolated there: O(1) a point. They
/// are used where their error, a few eps times the weight within reach, is below 1e-12 of s_0, and
/// for lines of the spread. The other points, isolated ones mostly, are summed pair by pair, tied
/// samples as one: O(places within reach).
void gaussian_sums(const LocalSource& source, const SortedSample& points, const LocalKernel& kernel,
                   int power, const RunOptions& options, const LocalTake& take);

/// The sums over leave-one-out fits of all observations, added to totals[k], k < local_slots(); and
/// calls `take` for blocks of observations that it leaves out, whose slot() is an index of
/// `totals`. O(cells) for the other ones. Returns false, and does nothing, if cells do not pay, or
/// if weights are not all 1.
bool gaussian_totals(const LocalSource& source, const LocalKernel& kernel,
                     const RunOptions& options, std::vector<FitTotals>& totals,
                     const LocalTake& take);

/// The kernel at the nodes of two cells, for every lag of the cells, and bounds on it.
class NodeKernel {
 public:
  /// factor[q]: K(u) u^q is factor[q](u^2) u^q exp(-power u^2 / 2), q < count. `ratio`: of all
  /// weights to the least. Cells are rho bandwidths wide, and no two are more than `span` apart.
  NodeKernel(const SquarePolynomial* factor, int count, int power, double rho, double ratio,
             double span);

  /// Cells are looked at up to this lag.
  int lags() const { return lags_; }
  /// For NodeTable::add_products, from samples in cell k + lag to points in cell k.
  const double* matrix(int q, int lag) const {
    return matrix_.data() + static_cast<std::size_t>(q * (2 * lags_ + 1) + lags_ + lag) * kMatrix;
  }
  /// Bounds on |K| and |K u^2|.
  double bound(int lag) const { return bound_[static_cast<std::size_t>(std::abs(lag))]; }
  double bound_of_squares(int lag) const {
    return bound_of_squares_[static_cast<std::size_t>(std::abs(lag))];
  }

 private:
  static constexpr std::size_t kMatrix = kNodes * kNodes;
  int lags_;
  std::vector<double> matrix_, bound_, bound_of_squares_;
};

}  // namespace kestrel

#endif
