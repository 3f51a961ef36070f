// The leaf loops of the `scanline` engine. They add compact kernels about samples to the rows of a
// regular grid, as sums of integers modulo 2^64, and turn those sums into values.
#ifndef KESTREL_SIMD_SCANLINE_SCANLINE_HPP
#define KESTREL_SIMD_SCANLINE_SCANLINE_HPP

#include <cstddef>
#include <cstdint>

#include "shared/coordinates.hpp"
#include "shared/kernel.hpp"
#include "shared/scanline.hpp"
#include "simd/table.hpp"

namespace kestrel {
namespace simd {

using kestrel::kRim;
using kestrel::kScanlineAxes;
using kestrel::kScanlineFarthest;
using kestrel::ScanlineAxis;
using kestrel::ScanlineData;
using kestrel::ScanlineNest;

// 64-bit lanes per limb of an event in a cell: A, Q, P and one unused.
constexpr std::size_t kScanlineLimbLanes = 4;

// A kernel on a grid; all lengths in steps. Given y_j of the axes before it, index t of axis i has
// y_i = (t - X_i - sum_{j<i} slope[i][j] y_j) inverse[i], and sum_i y_i^2 < 1 is the kernel's
// ellipsoid. slope[i][i] = 1 / inverse[i]; a box or a product has no other slopes.
struct ScanlineForm {
  int axes;
  bool line;  // the row axis is one point, on which all samples lie: one run a sample
  Kernel kernel;
  ScanlineNest nest;
  double slope[kScanlineAxes][kScanlineAxes];
  double inverse[kScanlineAxes];
  double room;        // maximum of the sum of y^2: one, and a little more to miss no point
  double slack;       // steps added to either end of a run, for rounding
  double limb_scale;  // 2^K: units of the next limb in one of a limb
  int limbs;
  double row_shift, run_shift;  // maximum shift in a tile
  const ScanlineData* data;     // of uniform kernels
};

// Sample j has x[i][j] on axis i; on a grid of one axis only on the run axis. Readable kLanes
// values past the last sample. Weights are scaled so that one is a unit of the first limb. Where
// `weight` is null, every sample weighs `common`.
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

// One index of every outer axis, some rows, and some of their points. For events, the cell of point
// t is (row - row_begin) * row_length + (t - run_begin). A row has at least one cell more than
// points, and a multiple of kLanes.
struct ScanlineTile {
  std::int32_t outer[kScanlineOuter];
  // How far points are from their indices. row_shift and run_shift count from the grid's first row
  // and point, and are readable kLanes values past its last.
  double outer_shift[kScanlineOuter];
  const double *row_shift, *run_shift;
  std::int32_t row_begin, row_end;
  std::int32_t run_begin, run_end;
  std::int32_t anchor_first, anchor_last;  // anchors k of run polynomials are clamped to these
  std::size_t row_length;
  std::uint64_t* cells;
};

// (sample, row) items that have not been added yet.
constexpr std::size_t kScanlineItems = 256;
struct ScanlineList {
  std::size_t count;
  alignas(64) double squares[kScanlineItems];  // of y on the axes before the run's, their sum or
                                               // maximum
  alignas(64) double centre[kScanlineItems];   // of the run, relative to `base`
  alignas(64) double weight[kScanlineItems];   // times a product's profiles on those axes
  alignas(64) double base[kScanlineItems];
  alignas(64) double cell[kScanlineItems];    // where the row begins
  alignas(64) double sample[kScanlineItems];  // if the form has `data`
};

// How the values of a tile become the output: v, in units of the first limb, is the density v *
// factor * power. Point t of row r, counted from the tile's first, goes to out[r row_stride + t
// run_stride]; one of the strides is 1.
struct ScanlineOutput {
  double limb;  // units of the limb before in one of a limb: 1 / limb_scale
  double factor, power;
  double* out;
  std::size_t row_stride, run_stride;
  double largest[2];  // bounds of the sums seen: of first limbs, and of all others
};

// A way to add samples to the cells of a tile, and to write the values of all its points; writing
// leaves the cells zero. Negative values, which come from rounding, become zero. Limbs are put
// together in double precision. All instruction sets give the same bits: no product is fused with a
// sum.
struct ScanlineStages {
  void (*add)(const ScanlineForm&, const ScanlineSamples&, const ScanlineRange* ranges,
              std::size_t count, const ScanlineTile&, ScanlineList* list);
  void (*write)(int limbs, const ScanlineTile&, ScanlineOutput*);
};

struct ScanlineTable {
  // Radial Epanechnikov kernels. A cell has `limbs` (1, 2 or 4) times kScanlineLimbLanes values.
  //
  // A sample's values on a row are w (mu - (t - c)^2) for t from `start` to `stop` - 1, where that
  // is positive at the positions of the points. Let the anchor k be the whole number next to c, and
  // d = c - k. The values are C + B (t - k) - A (t - k)^2 with A = w, B = 2 w d and C = w (mu -
  // d^2), each rounded to a whole number; the rounding error, times limb_scale, makes the next
  // limb. In powers of t they are P + Q t - A t^2 with Q = B + 2 k A and P = C - k (B + k A),
  // modulo 2^64. The event (A, Q, P) is added to cell `start` and subtracted from cell `stop`. The
  // running sums of a row's events are the coefficients of one polynomial in t, whose value is
  // exactly that of all runs there.
  ScanlineStages events;
  // Every compact kernel. A cell has `limbs` (1 or 2) values; a row has row_length first limbs and
  // then as many second ones.
  //
  // At each point of a run the kernel's value, w f(q), is rounded to a whole number; the rounding
  // error, times limb_scale, goes to the second limb. The value itself decides whether a point is
  // in the run.
  ScanlineStages rows;
};

extern const ScanlineTable* const kScanlineTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
