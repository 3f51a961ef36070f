// Leaf loops of the sweep engine: power sums over runs of a sorted sample, and polynomials of them.
//
// A *run* is a stretch of at most kSweepRun samples in ascending order. Its moments at position p,
// p = 0 .. count, are forwards those of the samples before p, backwards those of the samples from p
// on,
//     M_q[p] = sum_j w_j (|x_j - a| / h)^q   or with w_j (y_j - line(x_j)) in place of w_j,
// including samples beyond the run on that side. They are scanned about a fixed anchor a that lies
// before all of them (backwards: after), or about the last one taken, x_{p-1} (x_p). Every power is
// of a distance, taken from one side; core/sweep/sweep.hpp says why that matters.
#ifndef KESTREL_SIMD_SWEEP_SWEEP_HPP
#define KESTREL_SIMD_SWEEP_SWEEP_HPP

#include <cstddef>
#include <cstdint>

#include "simd/table.hpp"

namespace kestrel {
namespace simd {

// Arrays of samples and points are readable for this many values before their first and after their
// last one; after the last sample there are +infinities.
constexpr std::size_t kSweepPadding = 16;

// Degrees that the leaves are made for; a lower one is padded with zero coefficients. A second
// column is for regression, whose sums with y are of K and, for lines, of K u and K u^2: at most
// two degrees above the kernel. Squares and convolutions have higher degrees and one column.
constexpr int kSweepDegrees[] = {0, 1, 2, 4, 6, 8, 11, 14, 20};
constexpr std::size_t kSweepDegreeCount = sizeof kSweepDegrees / sizeof kSweepDegrees[0];
constexpr int kSweepHighestDegree = kSweepDegrees[kSweepDegreeCount - 1];
constexpr int kSweepHighestWithY = 11;

// The maximum number of samples of a run: its moments stay in the level-1 cache. Sums start anew in
// each run and are then added as a whole, so that the rounding errors of a million additions do not
// add up.
constexpr std::size_t kSweepRun = 256;

// The line through (x, y) that is taken off y: the differences lose no digits to a large mean or
// trend of y. The runs of a cell have one line, and all cells the same slope.
struct SweepLine {
  double x = 0.0, y = 0.0, slope = 0.0;
};

struct SweepRun {
  const double* x;
  const double* w;  // null: all 1
  const double* y;  // read with two columns only
  SweepLine line;
  std::size_t count;
  double scale;         // 1 / h
  double anchor;        // fixed; or that of `outer`: the sample next to the run on that side
  const double* outer;  // moments of the samples beyond the run, column after column; null: none
  double* moments;      // column c, power q, position p: moments[(c (degree+1) + q) stride + p];
  std::size_t stride;   // kSweepPadding values beyond either end may be written
};

// The samples on one side of the points, inside their windows and one cell, with the moments of a
// run of that cell. The moments of point i are those at position bound_i - begin; the anchor moves
// with the point, to the sample bound_i - back, or is the same for all. At point i and for every
// polynomial p, the sums over these samples
//     sum_j column_c(j) p(s_i + z_j),   column 0: w_j, column 1: w_j (y_j - line_i(x_j)),
// where line_i passes through the point and its y with the slope of the cell's line, and
// s_i = (offset - |point_i - anchor_i|) scale, clamped to [0, 1], follow from the moments of
// z_j and are added to sum[(p columns + c) sum_stride + i].
struct SweepPiece {
  const double* point;
  const double* y;  // of the points; two columns only
  std::size_t count;
  SweepLine line;  // of the cell
  const double* moments;
  std::size_t stride;
  const std::uint32_t* bound;  // samples before it; null: positions are 0, 1, ... and a moving
                               // anchor is anchor[i]
  std::uint32_t begin, limit;  // of the run; bounds are clamped to the limit
  bool moving;
  std::uint32_t back;
  const double* anchor;
  double side;  // 1: the samples lie left of the points, -1: right
  double offset, scale;
  const double* coefficient;  // of v^r in polynomial p: coefficient[p (degree+1) + r]
  int polynomials;
  double* sum;
  std::size_t sum_stride;
};

using SweepScanFunction = void (*)(const SweepRun&);
using SweepSumFunction = void (*)(const SweepPiece&);

// count[i] is the number of leading samples, from x[0] on, with fl(point_i - x_j) >= bound; there
// are one or more bounds. Points ascend; all of x[0 .. next) is known to count for each of them.
// `next` becomes the last count. There must be room for kSweepPadding values after that one.
struct SweepEdge {
  double bound;
  std::size_t next;
  std::uint32_t* count;
};
struct SweepWindows {
  const double* x;
  const double* point;
  std::size_t points;
  SweepEdge* edge;
  int edges;
};
using SweepCountFunction = void (*)(const SweepWindows&);

// Sums over samples [begin, end) of w_j k_j p_q(u_j^2) u_j^q (q = 0, 1, 2) and w_j k_j p_q(u_j^2)
// u_j^q (y_j - reference - slope (x_j - point)) (q = 0, 1), u_j = (x_j - point) scale, k_j =
// exp(power (nearest^2 - u_j^2) / 2), added to sum = {s_0, r_0, s_1, r_1, s_2}. To y_j the value
// more_j is added unless `more` is null.
struct GaussianWindow {
  const double* x;
  const double* w;
  const double* y;
  const double* more;
  double point, reference, scale, nearest, slope;
  int power;
  const double* factor;  // p_q = sum_k factor[kFactorTerms q + k] v^k; null: all are 1
  double sum[5];
};
constexpr int kFactorTerms = 7;
using GaussianWindowFunction = void (*)(GaussianWindow&, std::size_t begin, std::size_t end);

// Leave-one-out local constant fits r_0 / s_0 (core/regression/local_sums.hpp) of a block of
// observations with weights w, whose windows hold the samples [first, end), including themselves.
// `squares` gets the sum of w (r_0 / s_0)^2 over those with a neighbour, `in_sample` that of w (r_0
// / (s_0 + w))^2, `trace` that of w / (s_0 + w), and `unsupported` the number of those without a
// neighbour. Observations with s_0 <= min (end - first) are left out: their indices in the block go
// to `unstable`.
struct ConstantFits {
  const double* s0;
  const double* r0;
  const double* w;
  const std::uint32_t* first;
  const std::uint32_t* end;
  std::size_t count;
  double min;
  double squares, in_sample, trace;
  std::size_t unsupported;
  std::uint32_t* unstable;  // room for `count`
  std::size_t unstable_count;
};
using ConstantFitsFunction = void (*)(ConstantFits&);

// Sums over samples [begin, end) of g_j u_j^q (q = 0, 1, 2) and g_j u_j^q (y_j - reference) (q = 0,
// 1), u_j = (x_j - point) scale, where every sample may have a bandwidth of its own: g_j = w_j
// K((x_j - point) scale_j), within |x_j - point| < reach_j. Added to sum = {s_0, r_0, s_1, r_1,
// s_2}, and to `weight` the sum of w_j within reach. Nothing is read beyond the end.
struct VaryingWindow {
  const double* x;
  const double* w;
  const double* y;
  const double* scales;   // null: all are `scale`
  const double* reaches;  // null: all are `reach`
  double point, reference, scale, reach;
  int inner, outer;      // of (1 - |u|^inner)^outer; inner = 0: exp(-u^2 / 2), at any distance
  const double* factor;  // for exp(): a polynomial in u^2, as for GaussianWindow; null: 1
  double sum[5], weight, square;
};
using VaryingWindowFunction = void (*)(VaryingWindow&, std::size_t begin, std::size_t end);

struct SweepTable {
  SweepCountFunction count_leading;
  // [columns - 1][position in kSweepDegrees]; null for two columns above kSweepHighestWithY.
  using Scans = SweepScanFunction[2][kSweepDegreeCount];
  // Moments of a whole run of a multiple of 8 samples about its anchor, which may be on either
  // side: to moments[c (degree+1) + q].
  Scans total;
  Scans fixed[2], moving[2];  // forwards, backwards
  SweepSumFunction sum[2][kSweepDegreeCount];
  GaussianWindowFunction gaussian_window;
  VaryingWindowFunction varying_window;
  ConstantFitsFunction constant_fits;
};
extern const SweepTable* const kSweepTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
