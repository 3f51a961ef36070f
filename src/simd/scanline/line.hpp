// The leaf loops of the `scanline` engine on a grid of one axis: samples in the order given become
// events in third differences, two limbs of 64 bits a point; and sums of them become values.
#ifndef KESTREL_SIMD_SCANLINE_LINE_HPP
#define KESTREL_SIMD_SCANLINE_LINE_HPP

#include <cstddef>
#include <cstdint>

#include "simd/scanline/scanline.hpp"

namespace kestrel {
namespace simd {

// The grid indices of samples that matter lie between `low` and `high`.
struct ScanlineLineAxis {
  ScanlineAxis axis;
  double low, high;
};

// Cell min(floor(max(0, (index + shift) scale)), cells - 1) of a histogram; samples that do not
// matter are counted in cell `fgt`.
struct ScanlineLineCells {
  double shift, scale, cells;
};

// Of samples seen: zero, or no number if any of theirs is not finite; their least weight, the least
// that is not zero, the largest, and the largest of a sample that matters.
struct ScanlineLineSeen {
  double not_finite, min, min_positive, largest, largest_near;
};

struct ScanlineLineForm {
  ScanlineLineAxis axis;
  ScanlineLineCells cells;
  bool alike;                          // every weight counts as one
  double weight_factor, weight_power;  // their product with a weight: it in units
  double points;                       // of the grid
  double square;                       // of half the length of a run, in steps
  double reach;                        // that half, or -1 where the square is zero
  double limb_scale;                   // one unit of the first limb is that many of the second
};

// Three sums, each of the one before, and the two limbs of each: of events so far, of those, and of
// those again, which is the value.
struct ScanlineLineSums {
  std::uint64_t sum[3][2];
};

// All of them take `count` samples, x and w of any alignment. A sample matters that has a weight
// and an index within the bounds of the axis.
struct ScanlineLineTable {
  // Counts samples that matter in cells of the histogram. Units of weights are not used.
  void (*measure)(const ScanlineLineForm&, const double* x, const double* w, std::size_t count,
                  ScanlineLineSeen*, std::uint32_t* cells);
  // Adds their weights, in whole units and one more.
  void (*weigh)(const ScanlineLineForm&, const double* x, const double* w, std::size_t count,
                std::uint64_t* cells);
  // Whether the weights of all that matter are whole numbers of units.
  bool (*whole)(const ScanlineLineForm&, const double* x, const double* w, std::size_t count);
  // Adds events to cells of two limbs a point, on a boundary of 16 bytes, and three cells more
  // than points.
  //
  // With A, B, C and the interval as ScanlineTable::add_events has them, anchors kept on the grid,
  // and p(t) = C + B (t - k) - A (t - k)^2 modulo 2^64: the third difference of a sequence that is
  // zero before `start` and p from there on is u, -2A - u - v, v in the places start, start + 1 and
  // start + 2, u = p(start), v = p(start - 1), and zero elsewhere. That of `stop` is taken away.
  void (*add_events)(const ScanlineLineForm&, const double* x, const double* w, std::size_t count,
                     std::uint64_t* cells);
  // Continues the sums over `count` cells.
  void (*skip)(const std::uint64_t* cells, std::size_t count, ScanlineLineSums*);
  // The same, and writes the values of their points, one after another.
  void (*scan)(const std::uint64_t* cells, std::size_t count, ScanlineLineSums*, ScanlineOutput*);
};

extern const ScanlineLineTable* const kScanlineLineTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
