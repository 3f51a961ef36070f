// The leaf loops of core/bootstrap/squared_errors.hpp: estimates with the radial Epanechnikov
// kernel and many bandwidths at once, for a block of points of one row of a grid.
#ifndef KESTREL_SIMD_BOOTSTRAP_SQUARED_ERRORS_HPP
#define KESTREL_SIMD_BOOTSTRAP_SQUARED_ERRORS_HPP

#include <cstddef>

#include "simd/table.hpp"

namespace kestrel {
namespace simd {

constexpr std::size_t kErrorAxes = 6;
// What the widest vectors keep in registers.
constexpr std::size_t kErrorBandwidths = 12;

// Samples near some points, for the axes to come, which are counted from zero: with y = L^-1
// (e - x) for a point e, in units of the diagonal of L, `part` is the sum of the squares of y over
// the axes done, and centre[a] the place where y is zero on axis a (of a later one, were it zero on
// those between too). Arrays are readable and writable for kLanes values past the last sample.
struct NearSamples {
  double* part;
  double* centre[kErrorAxes];
};

// One index of the axis at hand: its place, and for each later axis L_ba / L_bb; squares above
// `max` are of no account.
struct ErrorStep {
  double at;
  double max;
  double slope[kErrorAxes];
};

// Eight points of the last axis. level: squares of the bandwidths, increasing; scale: what makes
// densities of sums; both `bandwidths` values; width: of the point on the other axes.
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
  // Of the samples begin, ..., end - 1, those near the points with that index of axis 0; the axes
  // to come, two to five, begin with axis 1, which is axis 0 of `to`. Returns their number.
  std::size_t (*descend)(const NearSamples& from, std::size_t begin, std::size_t end,
                         const ErrorStep&, int axes, const NearSamples& to);
  // Where two axes are to come: those with a centre on axis 1 between first and last, behind
  // `count` of them. Returns how many there are then.
  std::size_t (*cut)(const NearSamples& from, std::size_t begin, std::size_t end, double first,
                     double last, const NearSamples& to, std::size_t count);
  // descend() to the last axis, of which the points from first to last count.
  std::size_t (*reach)(const NearSamples& from, std::size_t begin, std::size_t end,
                       const ErrorStep&, double first, double last, const NearSamples& to);
  // errors[8 j + i] += width widths[i] (target[i] - scale[j] sum_s (level[j] - |y_s|^2)_+)^2
  void (*add_errors)(const NearSamples&, std::size_t count, const ErrorBlock&, double* errors);
};

// The same bits from all instruction sets.
extern const SquaredErrorTable* const kSquaredErrorTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
