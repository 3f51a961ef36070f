// The grid that a density by the `fourier` engine needs, computed before the grid is made.
#ifndef KESTREL_CORE_FOURIER_LAYOUT_HPP
#define KESTREL_CORE_FOURIER_LAYOUT_HPP

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

/// The cells of an axis are counted with 32 bits.
constexpr double kMaxFourierCells = 1 << 30;

/// Expected seconds on one thread to spread n samples with a window of `taps` taps in d dimensions,
/// and for the transform of that many cells.
double spread_seconds(double n, int taps, std::size_t d, double cells);

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

struct DensityLayout {
  std::size_t frame = 0;
  double cut = 0;  // frequencies up to this are kept
  int taps = 0;    // of the window
  /// The ranges of samples and of points that are within a kernel's reach of the other.
  std::array<Range, 3> samples, points;
  bool empty = true;     // no sample or no point is left; the fields below are not set then
  bool trimmed = false;  // some samples are out of reach
  Point3 period{}, origin{};
  Point3 cells{1, 1, 1}, modes{};  // whole numbers, which may be too large for integers
  /// Whether the points are a grid along the axes, which sum_over_modes() makes. Others are read
  /// off cells.
  bool by_modes = false;
  double bytes = 0;     // of the cells; infinite if too many
  double seconds = 0;   // expected, on one thread
  double rounding = 0;  // error by rounding of coordinates, relative to the maximum
};

/// Period, modes and cells for an error of `tolerance`, relative to the largest value that the
/// estimate has anywhere. Takes the frame with the smallest expected time of those whose rounding
/// keeps the tolerance; the time is that of all derivatives of an order. O(order^2).
DensityLayout lay_density(const DataRange& extent, double tolerance, int order = 0);

/// For an extent of measure_modes(): the period that a density takes along each axis, zero if no
/// point is within reach of the samples; and whether the frequencies suffice.
struct ModesNeeded {
  Point3 period{};
  bool any = false, served = true;
};
ModesNeeded modes_needed(const DataRange& extent, double tolerance);

/// Throws error(input) if rounding leaves fewer digits than even the largest tolerance needs.
void check_fourier_rounding(const DensityLayout& layout);

/// Throws error(memory), with the size, when the cells take more than `bytes`.
void check_fourier_memory(const DensityLayout& layout, double bytes);

}  // namespace kestrel

#endif
