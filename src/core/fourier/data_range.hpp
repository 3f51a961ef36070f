// What the time and memory of a density by the `fourier` engine depend on: how far the samples and
// points reach along the axes that a grid may have.
#ifndef KESTREL_CORE_FOURIER_DATA_RANGE_HPP
#define KESTREL_CORE_FOURIER_DATA_RANGE_HPP

#include <array>
#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/forms.hpp"
#include "core/fourier/geometry.hpp"
#include "core/fourier/modes.hpp"
#include "core/fourier/ranges.hpp"

namespace kestrel {

/// One way to lay the axes of the grid, and the ranges of samples and points along them.
struct DensityFrame {
  FourierGeometry geometry;  // d, centre, root and scale
  bool along_data = false;   // the axes are those of the data
  bool kept = false;         // of modes that are there already
  Form3 h{};                 // H in these coordinates
  std::array<Range, 3> samples, points;
};

/// All that the time and memory of a density depend on.
struct DataRange {
  double n = 0, m = 0;              // samples with a weight, points
  std::array<double, 3> axis{};     // points of each axis of a grid given by its axes, by variable
  double weight = 0, heaviest = 0;  // of all samples, and the maximum
  /// A lower bound on the largest value that the estimate has anywhere, relative to the peak of a
  /// single kernel with the weight of all samples.
  double min_share = 0;
  std::vector<DensityFrame> frame;
  const FourierModes* modes = nullptr;  // of the frame that is kept
  std::size_t lanes = 1;                // doubles in a vector of the instruction set
};

/// Measures the data. In the first frame H is the identity: the axes are those of L^-1, H = L L'. A
/// grid given by its axes, unless H is diagonal, has a second frame along the axes of the data.
/// Each is in units for which exp(-t'Ht / 2) is as wide as that of a unit bandwidth. If modes of
/// the same samples are given, with their phases and without outliers, their coordinates make the
/// last frame; they must outlive the result.
///
/// x: n*d samples, d = 1 to 3; w: n weights; root: L, d*d column-major, in the units of x. O(n +
/// m). Throws error(input) for other d, sizes that do not match and a root that is outside the
/// range of numbers.
DataRange measure_density(const MatrixView& x, Weights w, const EvaluationPoints& points,
                          Span<const double> root, const RunOptions& options,
                          const FourierModes* modes = nullptr);

/// The same for samples of which there are modes only; these must outlive the result. weight,
/// heaviest: of all samples.
DataRange measure_modes(const FourierModes& modes, double n, double weight, double heaviest,
                        const EvaluationPoints& points, Span<const double> root,
                        const RunOptions& options);

}  // namespace kestrel

#endif
