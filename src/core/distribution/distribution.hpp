// The distribution function of a kernel density estimate on the line, and its quantiles.
#ifndef KESTREL_CORE_DISTRIBUTION_DISTRIBUTION_HPP
#define KESTREL_CORE_DISTRIBUTION_DISTRIBUTION_HPP

#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/base/two_part.hpp"
#include "core/data/weights.hpp"
#include "core/distribution/kernel_cdf.hpp"
#include "core/fgt/cell_moments.hpp"
#include "core/fgt/line_sample.hpp"
#include "core/fgt/source_cells.hpp"

namespace kestrel {

/// F(t) = sum_i w_i C((t - x_i) / h) / sum_i w_i, C the distribution function of the kernel. The
/// README.md of this folder tells how it is summed.
///
/// The error of F is below 1e-14, and of a value as small as C gives it at less than 12 bandwidths
/// from the nearest sample below 1e-13 of the value; of smaller values up to 2e-4 of them. F is
/// monotone up to rounding. Every result has the same bits on any number of threads.
class Distribution {
 public:
  /// `sample` must outlive this. Throws error(input) for a bandwidth that is not positive, weights
  /// that are negative or sum to zero. O(n) time, O(cells) if the sample has its cells already, and
  /// O(n) memory unless the kernel is Gaussian and the cells are full.
  Distribution(const LineSample& sample, Kernel kernel, double h, const RunOptions& options);

  /// F at points, which may be infinite but not NaN. See README.md for the cost.
  void values(Span<const double> points, const ParallelOptions& options, Span<double> out) const;

  /// F(q) = p for p between 0 and 1, to 1e-14 bandwidths, the rounding of q and the error of F(q)
  /// over F'(q). For p = 0 and 1 the ends of the support of F, which are infinite for the Gaussian
  /// kernel. Where F is flat, q is any of the points with F(q) = p. See README.md for the cost.
  void quantiles(Span<const double> p, const ParallelOptions& options, Span<double> out) const;

 private:
  /// F and F', times the sum of weights; the slope in units of 1 / h.
  struct Local {
    double value, slope;
  };
  Local at(double t, const ParallelOptions& options) const;
  double share(double sum) const;
  std::size_t first_in_reach(double key) const;
  Local among_cells(double key, double offset, const ParallelOptions& options) const;
  Local of_cell(std::size_t cell, double distance, const ParallelOptions& options) const;
  template <class Distance>
  Local of_samples(std::size_t begin, std::size_t end, Weights weight, const Distance& distance,
                   const ParallelOptions& options) const;
  int halvings() const;
  /// F in a cell, times the sum of weights: a constant and a polynomial in the offset from the
  /// cell's centre, in widths. coefficient[0] is not used.
  struct Series {
    TwoPart constant;
    double coefficient[kMaxMoments];
  };
  Series series_of(double key) const;
  double value_of(const Series& series, double offset) const;
  bool has_series(double key) const;
  void moments_of_few(std::size_t cell, double* moment) const;
  void values_by_cell(Span<const double> points, const ParallelOptions& options,
                      Span<double> out) const;
  void sum_weights(const RunOptions& options);
  double weight_of(std::size_t cell) const;
  struct Ends;  // of the quantiles
  class Walk;
  double quantile(double p, const Ends& ends, const ParallelOptions& options) const;
  double start(double p) const;
  std::size_t cells_in_reach() const;
  void quantiles_by_cell(Span<const double> p, const Ends& ends, const ParallelOptions& options,
                         Span<double> out) const;

  const simd::Table& table_;
  const LineSample& sample_;
  const KernelCdf kernel_;
  const double h_;
  int exponent_ = 0;                  // of the width of cells
  std::optional<SourceCells> cells_;  // none if cells cannot number the samples
  double width_ = 0.0, rho_ = 0.0;    // of cells, and in bandwidths
  std::vector<double> before_;        // [cell] the weight of all cells before it, then that of all
  double total_ = 0.0;
};

}  // namespace kestrel

#endif
