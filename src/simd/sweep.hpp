// Leaf loops of the sweep engine: power sums over runs of a sorted sample, and polynomials of them.
//
// A *run* is a stretch of at most kSweepRun samples in ascending order, of which others may come
// before. Its moments after t samples, t = 0 .. count,
//     M_q[t] = sum_{j < t} w_j (|x_j - a| / h)^q   or with w_j (y_j - reference) in place of w_j,
// the samples before the run among them, are scanned about a fixed anchor a that lies before all of
// them, or about the last sample so far, a = x_{t-1}. Every power is of a distance, so that no sum
// of weights has a cancellation in it (core/sweep.hpp says why that matters).
#ifndef KESTREL_SIMD_SWEEP_HPP
#define KESTREL_SIMD_SWEEP_HPP

#include <cstddef>
#include <cstdint>

namespace kestrel {
namespace simd {

// Arrays of samples and points are readable for this many values behind their last one, arrays of
// samples one value before their first; behind the last sample there are +infinities.
constexpr std::size_t kSweepPadding = 16;

// Degrees that the leaves are made for; a lower one is padded with zero coefficients.
constexpr int kSweepDegrees[] = {0, 1, 2, 4, 6, 8, 14};
constexpr std::size_t kSweepDegreeCount = 7;
constexpr int kSweepHighestDegree = 14;

// Samples of a run at most: its moments stay in the first-level cache. Sums start anew in each and
// are then added as a whole, or the rounding errors of a million additions would add up.
constexpr std::size_t kSweepRun = 256;

struct SweepRun {
  const double* x;
  const double* w;  // null: all 1
  const double* y;  // read with two columns only
  double reference;
  std::size_t count;
  double scale;          // 1 / h
  double anchor;         // fixed; or that of `before`, the last sample before the run
  const double* before;  // moments of the samples before the run, column after column; null: none
  double* moments;     // column c, power q, after t samples: moments[(c (degree+1) + q) stride + t]
  std::size_t stride;  // at least count + 1 + kSweepPadding
};

// The moments that belong to a point, t_i of a run's, and what they are about. `bound` holds
// indices of samples in ascending order, `cell` is the first sample of a cell: samples before the
// bound (t_i = bound_i - cell) or, looking back from the cell, from the bound on (t_i = cell -
// bound_i). The anchor moves with the point, to the last sample of the t_i, or is the same for all.
struct SweepPiece {
  const double* moments;  // null: there are no samples in this piece
  std::size_t stride;
  const std::uint32_t* bound;  // null: t_i = i, and a moving anchor is anchor[i]
  std::uint32_t limit;         // bounds above it are taken for it
  std::uint32_t cell;
  bool back;
  bool moving;
  const double* anchor;       // moving: the x of bound_i - 1 or, looking back, of bound_i
  double offset, scale;       // s_i = (offset - (point_i - anchor_i)) scale, cut to [0, 1]
  const double* coefficient;  // of v^r in polynomial p: coefficient[p (degree+1) + r]
};

// At point i, for every polynomial p, the sums over the samples of both pieces
//     sum_j column_c(j) p(s_i + z_j),   column 0: w_j, column 1: w_j (y_j - y of the point)
// which the moments of z_j give. They are written, with a sign, to sum[(p columns + c) sum_stride +
// i], or added to the mirrored place sum[(p columns + c) sum_stride - i].
struct SweepPoints {
  const double* point;
  const double* reference_of_point;  // two columns only
  double reference;                  // of the runs
  std::size_t count;
  SweepPiece near, edge;
  const double* sign;  // of each polynomial
  int polynomials;
  bool mirrored;
  double* sum;
  std::size_t sum_stride;
};

using SweepScanFunction = void (*)(const SweepRun&);
using SweepSumFunction = void (*)(const SweepPoints&);

// count[i], counted from x[0], of leading samples with fl(point_i - x_j) >= bound. Points ascend;
// all of x[0 .. start) is known to count for each of them.
using SweepCountFunction = void (*)(const double* x, std::size_t start, const double* point,
                                    std::size_t points, double bound, std::uint32_t* count);

// Sums over samples [begin, end) of w_j k_j u_j^q (q = 0, 1, 2) and w_j k_j u_j^q (y_j - reference)
// (q = 0, 1), u_j = (x_j - point) scale, k_j = exp(power (nearest^2 - u_j^2) / 2), added to
// sum = {s_0, r_0, s_1, r_1, s_2}.
struct GaussianWindow {
  const double* x;
  const double* w;
  const double* y;
  double point, reference, scale, nearest;
  int power;
  double sum[5];
};
using GaussianWindowFunction = void (*)(GaussianWindow&, std::size_t begin, std::size_t end);

// Leave-one-out local constant fits r_0 / s_0 (core/local_sums.hpp) of a block of observations with
// weights w, whose windows hold the samples [first, end), themselves among them: sums of w (r_0 /
// s_0)^2 over those with a neighbour, of w (r_0 / (s_0 + w))^2 and of w / (s_0 + w), to squares,
// in_sample and trace, and the number of those without. Observations with s_0 <= least (end -
// first) are left out: their places in the block go to unstable.
struct ConstantFits {
  const double* s0;
  const double* r0;
  const double* w;
  const std::uint32_t* first;
  const std::uint32_t* end;
  std::size_t count;
  double least;
  double squares, in_sample, trace;
  std::size_t unsupported;
  std::uint32_t* unstable;  // room for `count`
  std::size_t unstable_count;
};
using ConstantFitsFunction = void (*)(ConstantFits&);

struct SweepTable {
  SweepCountFunction count_leading;
  // Moments of a whole run of a multiple of 8 samples about its anchor, on either side: to
  // moments[c (degree+1) + q].
  // [columns - 1][position in kSweepDegrees]; null for two columns of the highest degree.
  SweepScanFunction total[2][kSweepDegreeCount];
  SweepScanFunction scan_fixed[2][kSweepDegreeCount];
  SweepScanFunction scan_moving[2][kSweepDegreeCount];
  SweepSumFunction sum[2][kSweepDegreeCount];
  GaussianWindowFunction gaussian_window;
  ConstantFitsFunction constant_fits;
};

}  // namespace simd
}  // namespace kestrel

#endif
