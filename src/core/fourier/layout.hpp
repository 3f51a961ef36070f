// The grid that a density by the `fourier` engine needs, known before it is made.
#ifndef KESTREL_CORE_FOURIER_LAYOUT_HPP
#define KESTREL_CORE_FOURIER_LAYOUT_HPP

#include <array>
#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/fourier/forms.hpp"
#include "core/fourier/geometry.hpp"
#include "core/fourier/ranges.hpp"

namespace kestrel {

/// One way to lay the axes of the grid, and what lies where along them.
struct DensityFrame {
  FourierGeometry geometry;  // d, centre, root and scale
  bool along_data = false;   // the axes are those of the data
  Form3 h{};                 // H in these coordinates
  std::array<Range, 3> samples, points;
};

/// All that time and memory of a density depend on.
struct DataRange {
  double n = 0, m = 0;              // samples with a weight, points
  std::array<double, 3> axis{};     // points of each axis of a grid given by its axes, by variable
  double weight = 0, heaviest = 0;  // of all samples, and of one
  /// A lower bound on the largest value that the estimate has anywhere, over that of a single
  /// kernel of this weight.
  double min_share = 0;
  std::vector<DensityFrame> frame;
};

/// Measures them. In the first frame H is the identity: the axes are those of L^-1, H = L L'. For a
/// grid given by its axes, unless H is diagonal, there is another one along the axes of the data,
/// each in units in which exp(-t'Ht / 2) is as wide as that of a unit bandwidth.
///
/// x: n*d samples, d = 1 to 3; w: n weights; root: L, d*d column-major, in the units of x.
/// O(n + m). Throws error(input) for other d, sizes that do not match and a root that is outside
/// the range of numbers.
DataRange measure_density(const MatrixView& x, Span<const double> w, const EvaluationPoints& points,
                          Span<const double> root, const RunOptions& options);

struct DensityLayout {
  std::size_t frame = 0;
  double cut = 0;  // frequencies up to this are kept
  int taps = 0;    // of the window
  /// What is not farther from the other than a kernel reaches.
  std::array<Range, 3> samples, points;
  bool empty = true;     // there is nothing of that kind, and none of what follows
  bool trimmed = false;  // some samples are not
  Point3 period{}, origin{};
  Point3 cells{1, 1, 1}, modes{};  // whole numbers, which may be too large for integers
  double bytes = 0;                // of the cells; infinite where numbers do not reach so far
  double seconds = 0;              // expected, on one thread
  double rounding = 0;             // what that of coordinates does, relative to the largest value
};

/// Period, modes and cells for an error of `tolerance`, relative to the largest value that the
/// estimate has anywhere, in the frame that is expected to take least time, of those where rounding
/// leaves that. O(1).
DensityLayout lay_density(const DataRange& extent, double tolerance);

/// Throws error(input) where rounding leaves fewer digits than the largest tolerance asks for.
void check_fourier_rounding(const DensityLayout& layout);

/// Throws error(memory), with the size, when the cells take more than `bytes`.
void check_fourier_memory(const DensityLayout& layout, double bytes);

}  // namespace kestrel

#endif
