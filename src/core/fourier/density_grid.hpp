// The grid of a density by the `fourier` engine: samples, smoothed, as values to read off.
#ifndef KESTREL_CORE_FOURIER_DENSITY_GRID_HPP
#define KESTREL_CORE_FOURIER_DENSITY_GRID_HPP

#include <vector>

#include "core/base/raw_array.hpp"
#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/layout.hpp"
#include "core/fourier/window.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

/// What a layout says, made for a sample. A view: all that it refers to must outlive it. Values are
/// those of sum_j w_j K_H(e - x_j), and derivatives of that by e, times scale(). After transform()
/// they are made by sum() if the layout is `by_modes`, and otherwise by smooth() and read().
class DensityGrid {
 public:
  /// `extent` is that of measure_density() for the same data, and `layout` is one of its layouts
  /// that is not empty.
  DensityGrid(const DataRange& extent, const DensityLayout& layout, double tolerance);

  const FourierGeometry& geometry() const { return geometry_; }
  const FourierWindow& window() const { return window_; }
  /// |L|^-1 of the layout's frame.
  ScaledNumber scale() const;
  /// The direction of z in which variable k of the data increases by one.
  Point3 direction(std::size_t k) const;

  /// Spreads the samples and transforms them, unless the frame has modes. O(n + N log N), N cells.
  void transform(const MatrixView& x, Weights w, const RunOptions& options);
  /// Makes the cells of the sums, or of their derivative by some directions of z. `last`: no other
  /// derivative will be asked for, and the modes give their memory. O(N log N).
  void smooth(const std::vector<Point3>& directions, bool last, const RunOptions& options);
  /// What smooth() has made, at points. O(m).
  void read(const EvaluationPoints& points, const RunOptions& options, Span<double> out) const;
  /// All derivatives of an order by the variables, as columns in the order of Monomials, for a
  /// layout that is `by_modes`. O(modes (points of an axis)).
  void sum(const std::vector<Span<const double>>& axes, int order, const RunOptions& options,
           Span<double> out) const;
  /// Laid out as geometry().box.
  const RawVector<double>& cells() const { return cells_; }

 private:
  const DensityFrame& frame_;
  const FourierModes* kept_;
  const DensityLayout& layout_;
  FourierGeometry geometry_;
  FourierWindow window_;
  RawVector<double> modes_, cells_;
};

}  // namespace kestrel

#endif
