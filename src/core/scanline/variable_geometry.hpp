// Grids for kernels with a bandwidth for each sample, and what sums over them cost.
#ifndef KESTREL_CORE_SCANLINE_VARIABLE_GEOMETRY_HPP
#define KESTREL_CORE_SCANLINE_VARIABLE_GEOMETRY_HPP

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/base/span.hpp"
#include "core/data/compact_pairs.hpp"
#include "core/kernel/kernel.hpp"
#include "core/scanline/axis.hpp"
#include "core/scanline/geometry.hpp"

namespace kestrel {

/// The range of a bandwidth: [2^k, 2^(k + 1)).
inline int bandwidth_range(double h) { return std::ilogb(h); }

/// A grid, and half axes of kernels in its steps. Throws error(input) where ScanlineGeometry does,
/// whatever the bandwidths. O(n).
struct VariableGeometry {
  std::vector<double> root;  // of bandwidths that are usual: the run axis is a good one for these
  ScanlineGeometry grid;
  std::size_t d, first, row, run;  // `first` of the data's axes; the last two axes
  std::array<double, simd::kScanlineAxes> per_width{};  // steps of a bandwidth of one
  std::array<std::size_t, kVariableAxes> axis_of{};     // of the user's variables

  VariableGeometry(Span<const double> h, Span<const RegularAxis> axes);

  double count(std::size_t axis) const { return static_cast<double>(grid.count(axis)); }
  /// Whether the kernels of a range are added by events: see ScanlineMethod.
  bool by_events(Kernel kernel, int range) const;
};

/// Whether a grid, of any axes or none, is within the limits of a ScanlineGeometry.
bool takes_variable_axes(Span<const double> h, Span<const RegularAxis> axes);

/// Its expected seconds on one thread. O(n).
double variable_scanline_seconds(Span<const double> h, Kernel kernel, Span<const RegularAxis> axes);

}  // namespace kestrel

#endif
