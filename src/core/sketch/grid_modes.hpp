// The grid of a sketch, as the modes of the engine `fourier`.
#ifndef KESTREL_CORE_SKETCH_GRID_MODES_HPP
#define KESTREL_CORE_SKETCH_GRID_MODES_HPP

#include <array>
#include <memory>
#include <vector>

#include "core/fourier/box_content.hpp"
#include "core/fourier/mode_source.hpp"
#include "core/sketch/grid_sketch.hpp"

namespace kestrel {

/// The maximum memory for the grid and the modes of a sketch.
constexpr double kSketchGridBytes = 4e9;

/// The least bandwidth that cells serve, in their widths, for sums of degree 0 and 2.
double least_in_cells(std::size_t d);

/// Cells of a sketch, which must outlive this and be settled, in units in which weights sum to the
/// number of samples; `unit` is a unit of the sketch's weights in these. Samples that are kept are
/// spread on the way, in an order that depends on nothing but themselves. The grid is the box of
/// all samples, or, if that is much larger, of the full tiles and what is within reach of them;
/// others are outliers.
class GridModes : public ModeSource {
 public:
  GridModes(const GridSketch& sketch, const WeightSums& weights, double unit);

  const FourierGeometry& axes() const override { return axes_; }
  std::unique_ptr<FourierModes> modes(double max, const Point3& period,
                                      const RunOptions& options) const override;
  MatrixView known() const override { return {kept_.data(), kept_weight_.size(), axes_.d}; }
  Weights known_weights() const override { return {kept_weight_.data(), kept_weight_.size()}; }
  double weight() const override { return weights_.sum; }
  double heaviest() const override { return weights_.max; }

 private:
  /// Cells along the axes, by axis.
  using Box = std::array<std::array<double, 2>, 3>;
  FourierGeometry laid(const Box& box, bool trimmed, double max, const Point3& period) const;
  BoxContent content_of(const FourierGeometry& geometry) const;
  Box box_of_tiles(double margin) const;
  void fill(const FourierGeometry& geometry, RawVector<double>* cells,
            const ParallelOptions& options) const;

  const GridSketch& sketch_;
  const WeightSums weights_;
  const double unit_;
  FourierGeometry axes_;
  Point3 centre_{};  // a whole number of cells, by axis
  std::vector<double> kept_, kept_weight_;
  Box all_{};  // of all samples, in cells from the centre
};

}  // namespace kestrel

#endif
