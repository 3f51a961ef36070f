// The leaf loops of the `scanline` engine: what compact kernels about samples add to the rows of a
// regular grid, as sums of integers modulo 2^64, and those sums as values.
#ifndef KESTREL_SIMD_SCANLINE_SCANLINE_HPP
#define KESTREL_SIMD_SCANLINE_SCANLINE_HPP

#include <cstddef>
#include <cstdint>

#include "shared/coordinates.hpp"
#include "shared/scanline.hpp"
#include "simd/table.hpp"

namespace kestrel {
namespace simd {

using kestrel::kRim;
using kestrel::kScanlineAxes;
using kestrel::kScanlineFarthest;
using kestrel::ScanlineAxis;
using kestrel::ScanlineNest;

// 64-bit lanes that a limb of an event takes in a cell: A, Q, P and one not used.
constexpr std::size_t kScanlineLimbLanes = 4;

// The data as given, by the user's variables. Sample j has sample[k][j]; index i of the axis that
// stands for it, axis_of[k] in the order of the engine, has point[k][i].
struct ScanlineData {
  std::size_t d;
  int axis_of[kScanlineAxes];
  const double* sample[kScanlineAxes];
  const double* point[kScanlineAxes];
  double root[kScanlineAxes][kScanlineAxes];  // lower triangle, root[k][l]
};

// Of a kernel on a grid, all lengths in steps: index t of axis i, given y_j of the axes before it,
// has y_i = (t - X_i - sum_{j<i} slope[i][j] y_j) inverse[i], and sum_i y_i^2 < 1 is the kernel's
// ellipsoid. slope[i][i] = 1 / inverse[i]; a box or a product has no other slopes.
struct ScanlineForm {
  int axes;
  bool line;  // the row axis is one point, on which all samples lie: one run a sample
  Kernel kernel;
  ScanlineNest nest;
  double slope[kScanlineAxes][kScanlineAxes];
  double inverse[kScanlineAxes];
  double room;        // what the squares of y may come to: one, and some more to have all points
  double slack;       // steps that are added to either end of a run, above rounding
  double limb_scale;  // 2^K: one unit of a limb is that many of the next
  int limbs;
  double row_shift, run_shift;  // no shift of a tile is larger
  const ScanlineData* data;     // of uniform kernels
};

// Sample j has x[i][j] on axis i; of a line, on the run axis only. Readable kLanes places past the
// last sample. Weights are scaled: one unit is one unit of the first limb; null where each is
// `common`.
struct ScanlineSamples {
  ScanlineAxis axis[kScanlineAxes];
  const double* x[kScanlineAxes];
  const double* weight;
  double common;
};

// Samples begin, ..., end - 1.
struct ScanlineRange {
  std::size_t begin, end;
};

// One index of every outer axis, some rows, some of their points. Cell (row - row_begin) *
// row_length + (t - run_begin) is that of point t, of events; a row has at least one cell more than
// points, and a multiple of kLanes.
struct ScanlineTile {
  std::int32_t outer[kScanlineOuter];
  // Points are this far from their indices. Those of rows and of points of a row are counted from
  // the grid's first, and readable kLanes places past its last.
  double outer_shift[kScanlineOuter];
  const double *row_shift, *run_shift;
  std::int32_t row_begin, row_end;
  std::int32_t run_begin, run_end;
  std::int32_t anchor_first, anchor_last;  // anchors k of run polynomials are kept in here
  std::size_t row_length;
  std::uint64_t* cells;
};

// (sample, row) items that wait to be added.
constexpr std::size_t kScanlineItems = 256;
struct ScanlineList {
  std::size_t count;
  alignas(64) double squares[kScanlineItems];  // of y on the axes before the run's, their sum or
                                               // maximum
  alignas(64) double centre[kScanlineItems];   // of the run, from the sample's base
  alignas(64) double weight[kScanlineItems];   // times the profiles of a product on those axes
  alignas(64) double base[kScanlineItems];
  alignas(64) double cell[kScanlineItems];    // where the row begins
  alignas(64) double sample[kScanlineItems];  // where `data` is there
};

// How the values of a tile become the output: v in units of the first limb is v * factor * power.
// Point t of row r, counted from the tile's first, goes to out[r row_stride + t run_stride]; one of
// the strides is 1.
struct ScanlineOutput {
  double limb;  // a unit of a limb in those of the one before: 1 / limb_scale
  double factor, power;
  double* out;
  std::size_t row_stride, run_stride;
  double largest[2];  // at least the size of any sum seen of a first limb and of any other
};

// One way to add samples to the cells of a tile, and to write all its points and leave its cells
// zero. What is below zero, as rounding may make it, becomes zero; limbs are put together in double
// precision. The same bits in every instruction set: no product is fused with a sum.
struct ScanlineStages {
  void (*add)(const ScanlineForm&, const ScanlineSamples&, const ScanlineRange* ranges,
              std::size_t count, const ScanlineTile&, ScanlineList* list);
  void (*write)(int limbs, const ScanlineTile&, ScanlineOutput*);
};

struct ScanlineTable {
  // Radial Epanechnikov kernels. A cell has `limbs` (1, 2 or 4) times kScanlineLimbLanes values.
  //
  // A sample's values on a row are w (mu - (t - c)^2), t from `start` to `stop` - 1, where that is
  // positive at the places of points. About the
  // anchor k, the whole number next to c, d = c - k, they are C + B (t - k) - A (t - k)^2 with
  // A = w, B = 2 w d and C = w (mu - d^2), each rounded to a whole number; what the rounding left,
  // times limb_scale, makes the next limb. In powers of t: P + Q t - A t^2, Q = B + 2 k A,
  // P = C - k (B + k A), modulo 2^64. (A, Q, P) is added to cell `start`, and taken from `stop`.
  // The sums of a row's events so far are the coefficients of one polynomial in t, whose value is
  // that of all runs there, exactly.
  ScanlineStages events;
  // Every kernel. A cell has `limbs` (1 or 2) values; those of a row are row_length first limbs and
  // behind them as many second ones.
  //
  // At each point of a run the kernel's value, w f(q), is rounded to a whole number, and what the
  // rounding left, times limb_scale, to that of the second limb. Values decide where a run ends.
  ScanlineStages rows;
};

extern const ScanlineTable* const kScanlineTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
