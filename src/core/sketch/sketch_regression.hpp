// Kernel regression of a sketch.
#ifndef KESTREL_CORE_SKETCH_SKETCH_REGRESSION_HPP
#define KESTREL_CORE_SKETCH_SKETCH_REGRESSION_HPP

#include <memory>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/regression/regression.hpp"
#include "core/sketch/line_sketch.hpp"

namespace kestrel {

/// The local regressions of a sketch of a regression whose full cells are not empty (otherwise all
/// samples are known, and LocalRegression takes them). The kernel is Gaussian of order 2.
///
/// The samples of a cell are moved to 16 nodes, as core/regression/nodes.hpp does it: full cells by
/// their moments. Sums over leave-one-out fits are those of gaussian_curve.hpp for cells about as
/// wide as the bandwidth, and of the halves of these, and so on, where they are not accurate. The
/// samples of cells that keep them, and are few within a bandwidth, get fits of their own, by sums
/// over the samples nearby and over the nodes of full cells.
class SketchRegression {
 public:
  /// O(cells).
  SketchRegression(const LineSketch& sketch, const RunOptions& options);

  /// From here on the cells serve bandwidths, and every sample has a neighbour within 37 of them.
  double least_bandwidth() const { return least_; }

  /// `kernel`: all but its bandwidth. Sums are NaN where the cells are too wide: for bandwidths
  /// below least_bandwidth(), and for fits that need more than the moments of a cell. Error: 1e-12
  /// of each sum, and of squares what rounding the responses adds, n 2^-44 units^2 at most and at
  /// random. O(cells) for each bandwidth. The same bits for any number of threads.
  CrossValidation cross_validate(Span<const double> bandwidth, const LocalKernel& kernel,
                                 const RunOptions& options) const;

  /// At points of any order; NaN as above, and where no sample is within the reach of the kernel.
  std::vector<double> fits(Span<const double> points, const LocalKernel& kernel,
                           const RunOptions& options) const;

 private:
  struct Nearby;
  struct Terms;
  FitTotals totals(const LocalKernel& kernel, const RunOptions& options) const;
  Nearby nearby(double point, std::size_t own) const;
  LocalFit fit_at(const LocalKernel& kernel, double point, double y, std::size_t own) const;
  void add_terms(int exponent, std::size_t cell, Terms* terms) const;
  std::size_t kept_from(double key, int exponent) const;
  bool keeps_all(const NodeLevel& level, std::size_t cell) const;

  const LineSketch& sketch_;
  std::unique_ptr<const LocalSource> source_;
  double least_;
};

}  // namespace kestrel

#endif
