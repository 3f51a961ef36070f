// The leaf loops of core/sketch/: the cells of values, moments of cells as whole numbers, and
// samples spread over a grid in whole numbers.
#ifndef KESTREL_SIMD_SKETCH_WHOLE_MOMENTS_HPP
#define KESTREL_SIMD_SKETCH_WHOLE_MOMENTS_HPP

#include <cstddef>
#include <cstdint>

#include "simd/fourier/spread.hpp"
#include "simd/sketch/tie_hash.hpp"
#include "simd/table.hpp"

namespace kestrel {
namespace simd {

// Powers of positions are rounded to multiples of 1 / kQuanta.
constexpr double kQuanta = 17592186044416.0;  // 2^44
// Sums of so many of them are exact in a double.
constexpr std::size_t kWholeRun = 512;
// Hashes are made of so many sums at a time, or a part of that.
constexpr std::size_t kHashedTogether = 32;
// A cell has moments of the orders 0 to kWholeMoments - 1.
constexpr int kWholeMoments = 16;

// Terms of a grid are rounded to multiples of 1 / kGridQuanta. Sums of so many of them are exact in
// a double, if each is at most 1.
constexpr double kGridQuanta = 4398046511104.0;  // 2^42
constexpr std::size_t kGridRun = 256;

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
  // The hashes of at most kWholeRun values in cell `key` (simd/sketch/tie_hash.hpp), the sign as
  // their lowest bit. The place in the cell is floor(2^44 t + 1/2) + 2^44, t as above; start: f_0
  // key modulo kTiePrime. `hash` is aligned to 64 bytes and has room for kWholeRun.
  void (*hash_ties)(const double* x, std::size_t count, double scale, double key,
                    std::uint64_t start, std::uint64_t* hash);
  // Replaces sums over the axes by their hashes. `sum` is aligned to 64 bytes, and has room for a
  // multiple of kHashedTogether, of which only the first `count` count.
  void (*hash_sums)(std::uint64_t* sum, std::size_t count);
  // What SpreadTable::spread adds, for weights of at most 1, each term rounded to a multiple of 1 /
  // kGridQuanta (ties to even).
  void (*spread_whole)(const Window&, const Spot* spot, std::size_t count, const SpreadBox&);
  // Sums over at most kWholeRun samples of 1, t_a and t_a t_b, a <= b < d, times v, and of v^2,
  // each term rounded to a multiple of 1 / kQuanta (ties to even). |t| <= 1, `count` rows of d
  // numbers; 0
  // <= v <= 1. In this order: v, v^2, t_0, t_1, ..., t_0 t_0, t_0 t_1, ...
  void (*sum_products)(const double* t, const double* v, std::size_t count, int d, double* sum);
};

// All instruction sets give the same bits.
extern const SketchTable* const kSketchTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
