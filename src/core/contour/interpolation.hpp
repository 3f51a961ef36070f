// A function that is known on a grid, at other points.
#ifndef KESTREL_CORE_CONTOUR_INTERPOLATION_HPP
#define KESTREL_CORE_CONTOUR_INTERPOLATION_HPP

#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"

namespace kestrel {

/// out[i]: at row i of `points`, by linear interpolation along every axis in turn; NaN outside of
/// the grid. Returns the rows whose value is NaN, ascending.
///
/// axes: d of them, strictly ascending, with two values or more; values: of the grid's points, the
/// first axis fastest; points: m*d; out: m. Throws error(input) where sizes differ. O(m 2^d), and
/// for axes with unequal steps O(m log(axis)) more.
std::vector<std::size_t> interpolate(const std::vector<Span<const double>>& axes,
                                     Span<const double> values, const MatrixView& points,
                                     Span<double> out, const ParallelOptions& options);

}  // namespace kestrel

#endif
