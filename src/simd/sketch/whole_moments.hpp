// The leaf loops of core/sketch/: the cells of values, and moments of cells as whole numbers.
#ifndef KESTREL_SIMD_SKETCH_WHOLE_MOMENTS_HPP
#define KESTREL_SIMD_SKETCH_WHOLE_MOMENTS_HPP

#include <cstddef>
#include <cstdint>

#include "simd/table.hpp"

namespace kestrel {
namespace simd {

// Powers of positions are rounded to multiples of 1 / kQuanta.
constexpr double kQuanta = 17592186044416.0;  // 2^44
// Sums of so many of them are exact in a double.
constexpr std::size_t kWholeRun = 512;
// A cell has moments of the orders 0 to kWholeMoments - 1.
constexpr int kWholeMoments = 16;

// Cells k, k + 1, ... of the width 1 / scale, a power of two, from `first` on. They are numbered
// from 0 to `last`, and first + last < 2^51 in absolute value.
struct LatticeSlots {
  double scale, first, last;
};

struct SketchTable {
  // The number of the cell floor(x scale) of every value, without rounding. Returns false if a
  // value lies in none of the cells: then nothing that was written counts.
  bool (*find_cells)(const LatticeSlots&, const double* x, std::size_t count, std::uint32_t* slot);
  // Of at most kWholeRun values in cell `key`: sum[a] is the sum of floor(2^44 v t^a + 1/2), a <
  // kWholeMoments. t = 2 (x scale - key) - 1, and v t^a is by repeated multiplication, each of
  // these steps rounded as IEEE 754 has it. 0 <= v <= 1 are weights; null if all are 1.
  void (*sum_whole)(const double* x, const double* v, std::size_t count, double scale, double key,
                    double* sum);
};

// All instruction sets give the same bits.
extern const SketchTable* const kSketchTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
