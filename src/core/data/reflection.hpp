// Images of samples in the bounds of their variables, for densities that are folded at the bounds,
// and of periodic variables, for densities that are wrapped.
#ifndef KESTREL_CORE_DATA_REFLECTION_HPP
#define KESTREL_CORE_DATA_REFLECTION_HPP

#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

/// The bounds of a variable, each of which may be infinite, and how far beyond them images count.
struct ReflectingAxis {
  double lower, upper;  // lower < upper, their difference is finite or infinite by a bound
  double reach;         // finite, not negative
  bool periodic;        // the bounds are finite, and the same place
};

/// The number of rows that reflect_rows() makes of those of x, which lie within the bounds. It
/// may be large if the bounds are closer together than images reach. O(n d).
double count_reflected(const MatrixView& x, const std::vector<ReflectingAxis>& axes,
                       const ParallelOptions& options);

/// Writes the rows of x in their order, and after them those that reflection at the bounds, any
/// number of times, or whole periods make of them and that are within reach of the bounds in every
/// variable: rows*d, column-major, rows = count_reflected(). `w_out`, which has none if there are
/// no weights, gets the weights of the rows that they are images of. Coordinates are rounded once.
/// O(rows d).
void reflect_rows(const MatrixView& x, Weights w, const std::vector<ReflectingAxis>& axes,
                  const ParallelOptions& options, Span<double> x_out, Span<double> w_out);

/// An image of x on an axis: sign x + shift.
struct ImageMap {
  int sign;  // 1 or -1
  long double shift;
};

/// The maps, but for x itself, by which an image of one of two values from min to max may be within
/// `reach` of the other, whatever the reach of the axis.
std::vector<ImageMap> image_maps(const ReflectingAxis& axis, double min, double max, double reach);

}  // namespace kestrel

#endif
