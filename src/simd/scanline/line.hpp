// The leaf loops of the `scanline` engine on a grid of one axis. Samples, in the order given,
// become events: third differences in two limbs of 64 bits per point. Running sums of the events
// become values.
#ifndef KESTREL_SIMD_SCANLINE_LINE_HPP
#define KESTREL_SIMD_SCANLINE_LINE_HPP

#include <cstddef>
#include <cstdint>

#include "simd/scanline/scanline.hpp"

namespace kestrel {
namespace simd {

// A sample matters if its grid index lies between `low` and `high`.
struct ScanlineLineAxis {
  ScanlineAxis axis;
  double low, high;
};

// The histogram's cell of an index is min(floor(max(0, (index + shift) scale)), cells - 1). Samples
// that do not matter are counted in the cell numbered `cells`.
struct ScanlineLineCells {
  double shift, scale, cells;
};

// About the samples seen so far. not_finite: 0, or NaN if a coordinate or weight is not finite.
// Weights: the minimum, the smallest positive one, the maximum, and the maximum over samples that
// matter.
struct ScanlineLineSeen {
  double not_finite, min, min_positive, largest, largest_near;
};

struct ScanlineLineForm {
  ScanlineLineAxis axis;
  ScanlineLineCells cells;
  bool alike;                          // every weight counts as one
  double weight_factor, weight_power;  // weight * factor * power: it in units
  double points;                       // of the grid
  double square;                       // of half the length of a run, in steps
  double reach;                        // that half, or -1 where the square is zero
  double limb_scale;                   // units of the second limb in one of the first
};

// Three running sums, each of the one before, with two limbs each: of events, of those sums, and of
// those again, which is the value.
struct ScanlineLineSums {
  std::uint64_t sum[3][2];
};

// All of them take `count` samples; x and w need no alignment. A sample matters if it has a weight
// and its index is within the bounds of the axis.
struct ScanlineLineTable {
  // Counts the samples that matter in cells of the histogram. Ignores units of weights.
  void (*measure)(const ScanlineLineForm&, const double* x, const double* w, std::size_t count,
                  ScanlineLineSeen*, std::uint32_t* cells);
  // Adds their weights to the cells, each rounded down to whole units, plus one.
  void (*weigh)(const ScanlineLineForm&, const double* x, const double* w, std::size_t count,
                std::uint64_t* cells);
  // Whether the weights of all that matter are whole numbers of units.
  bool (*whole)(const ScanlineLineForm&, const double* x, const double* w, std::size_t count);
  // Adds events to cells. Each point has a cell of two limbs, aligned to 16 bytes, and three more
  // cells follow.
  //
  // A, B, C and the interval are those of ScanlineTable::events; anchors are kept on the grid. Let
  // p(t) = C + B (t - k) - A (t - k)^2 modulo 2^64, u = p(start), v = p(start - 1). A sequence that
  // is zero before `start` and p from there on has third differences u, -2A - u - v, v at start,
  // start + 1 and start + 2, and zero elsewhere. These are added; those for `stop` are subtracted.
  void (*add_events)(const ScanlineLineForm&, const double* x, const double* w, std::size_t count,
                     std::uint64_t* cells);
  // Continues the running sums over `count` cells.
  void (*skip)(const std::uint64_t* cells, std::size_t count, ScanlineLineSums*);
  // The same, and writes the values of their points in order.
  void (*scan)(const std::uint64_t* cells, std::size_t count, ScanlineLineSums*, ScanlineOutput*);
};

extern const ScanlineLineTable* const kScanlineLineTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
