// The leaf loops of core/bootstrap/squared_errors.hpp: estimates with the radial Epanechnikov
// kernel and many bandwidths at once, for a block of points of one row of a grid.
#ifndef KESTREL_SIMD_BOOTSTRAP_SQUARED_ERRORS_HPP
#define KESTREL_SIMD_BOOTSTRAP_SQUARED_ERRORS_HPP

#include <cstddef>

#include "simd/table.hpp"

namespace kestrel {
namespace simd {

constexpr std::size_t kErrorAxes = 6;
// The maximum for which the widest vectors hold everything in registers.
constexpr std::size_t kErrorBandwidths = 12;

// Samples near some points. An axis done is one whose index is fixed already; the other axes are
// numbered from zero. With y = L^-1 (e - x) for a point e, in units of the diagonal of L, `part` is
// the sum of the squares of y over the axes done. centre[a] is the position on axis a where y is
// zero there (on later axes: if y were zero on the axes between, too). Arrays are readable and
// writable for kLanes values past the last sample.
struct NearSamples {
  double* part;
  double* centre[kErrorAxes];
};

// One index of axis 0: its position, and L_ba / L_bb for each later axis b. Samples whose squares
// sum to `max` or more are dropped.
struct ErrorStep {
  double at;
  double max;
  double slope[kErrorAxes];
};

// Eight points of the last axis. level: squares of the bandwidths, increasing; scale: factors that
// turn sums into densities. Both have `bandwidths` values. width: the point's width on the other
// axes.
struct ErrorBlock {
  const double* at;
  const double* target;
  const double* widths;
  double width;
  const double* level;
  const double* scale;
  int bandwidths;
};

struct SquaredErrorTable {
  // Picks those of the samples begin, ..., end - 1 that are near the points with that index of axis
  // 0. `axes` (two to five) other axes follow; axis 1 becomes axis 0 of `to`. Returns how many were
  // picked.
  std::size_t (*descend)(const NearSamples& from, std::size_t begin, std::size_t end,
                         const ErrorStep&, int axes, const NearSamples& to);
  // With two axes left: appends the samples whose centre on axis 1 lies between first and last to
  // the `count` samples in `to`. Returns how many there are now.
  std::size_t (*cut)(const NearSamples& from, std::size_t begin, std::size_t end, double first,
                     double last, const NearSamples& to, std::size_t count);
  // descend() to the last axis, of which only the points from first to last matter.
  std::size_t (*reach)(const NearSamples& from, std::size_t begin, std::size_t end,
                       const ErrorStep&, double first, double last, const NearSamples& to);
  // errors[8 j + i] += width widths[i] (target[i] - scale[j] sum_s (level[j] - |y_s|^2)_+)^2
  void (*add_errors)(const NearSamples&, std::size_t count, const ErrorBlock&, double* errors);
};

// All instruction sets give the same bits.
extern const SquaredErrorTable* const kSquaredErrorTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
