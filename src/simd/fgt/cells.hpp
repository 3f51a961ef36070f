// The leaf loops of the `fgt` engine: values in cells, moments of cells, and series of moments.
#ifndef KESTREL_SIMD_FGT_CELLS_HPP
#define KESTREL_SIMD_FGT_CELLS_HPP

#include <cstddef>
#include <cstdint>

#include "simd/table.hpp"

namespace kestrel {
namespace simd {

// Moments are coefficients a = 0, ..., moments - 1, where `moments` is a multiple of 4 and at most
// this. Arrays of coefficients that leaves read are followed by zeros up to a multiple of kLanes.
constexpr int kMostMoments = 40;

// Cells of the width 1 / scale, a power of two, the first of which begins at `min` widths. Their
// slots are numbered from 0 to `last`.
struct CellSlots {
  double scale, min, last;
};

// A cell of samples, as a cell of points sees it: the moments, and the derivatives of the kernel,
// which are followed by kLanes zeros.
struct CellSeries {
  const double* moment;
  const double* derivative;
};

struct CellTable {
  // The slot of every value, and unless `offset` is null, where in its cell it lies, in widths from
  // the centre. Returns false if a value lies in no slot: then nothing that was written counts.
  bool (*find_slots)(const CellSlots&, const double* x, std::size_t count, std::uint32_t* slot,
                     double* offset);
  // sum[a] = sum_i w[i] z[i]^a, and sum[moments] = sum_i w[i]^2. Weights are 1 if w is null.
  void (*sum_powers)(const double* z, const double* w, std::size_t count, int moments, double* sum);
  // to[m] = sum_{a <= m} left[a] right[m - a]; before right[0] stand kLanes zeros.
  void (*product)(const double* left, const double* right, int moments, double* to);
  // sum[m] += sum_{a <= m} (-1)^a left[a] right[m - a]; before right[0] stand kLanes zeros.
  void (*add_differences)(const double* left, const double* right, int moments, double* sum);
  // sum[a] += sum_{b < moments - a} sign^b moment[b] derivative[a + b] for every series; sign is 1
  // or -1.
  void (*add_series)(const CellSeries* series, std::size_t count, int moments, double sign,
                     double* sum);
  // value[i] += sum_a coefficient[a] z[i]^a.
  void (*add_polynomial)(const double* coefficient, int moments, const double* z, std::size_t count,
                         double* value);
};

extern const CellTable* const kCellTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
