// The grid of a density by the `fourier` engine: samples, smoothed, as values to read off.
#ifndef KESTREL_CORE_FOURIER_DENSITY_GRID_HPP
#define KESTREL_CORE_FOURIER_DENSITY_GRID_HPP

#include "core/base/raw_array.hpp"
#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/layout.hpp"
#include "core/fourier/window.hpp"

namespace kestrel {

/// What a layout says, made for a sample. A view: all that it refers to must outlive it. All values
/// are in the units of the layout's frame: multiply by 1 / |L|.
class DensityGrid {
 public:
  /// `extent` is that of measure_density() for the same data, and `layout` is one of its layouts
  /// that is not empty.
  DensityGrid(const DataRange& extent, const DensityLayout& layout, double tolerance);

  const FourierGeometry& geometry() const { return geometry_; }

  /// Spreads the samples, and smooths them. O(n + N log N), N cells.
  void smooth(const MatrixView& x, Weights w, const RunOptions& options);
  /// The values at points, axis by axis if the frame is along the data. O(m).
  void read(const EvaluationPoints& points, const RunOptions& options, Span<double> out) const;

 private:
  const DensityFrame& frame_;
  const FourierModes* modes_;
  const DensityLayout& layout_;
  FourierGeometry geometry_;
  FourierWindow window_;
  RawVector<double> cells_;
};

}  // namespace kestrel

#endif
