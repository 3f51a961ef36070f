// Mean shift: points climb to the modes of a Gaussian kernel density.
#ifndef KESTREL_CORE_CLUSTER_MEAN_SHIFT_HPP
#define KESTREL_CORE_CLUSTER_MEAN_SHIFT_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

struct MeanShiftSettings {
  double tolerance = 0;  // a point stops after a step that is not longer, in the units of x
  int most = 0;          // the maximum number of steps
  bool paths = false;    // whether all positions are kept
};

/// Where the points that still moved are after one step.
struct MeanShiftStep {
  std::vector<std::size_t> point;
  std::vector<double> at;  // d coordinates for each of them
};

struct MeanShift {
  std::vector<double> end;  // m*d, column-major
  std::vector<int> steps;   // of each point
  std::size_t moving = 0;   // points that still moved after the maximum number of steps
  /// Points farther than 38 bandwidths from all samples. If there are any, no point moves.
  std::size_t out_of_reach = 0;
  std::vector<MeanShiftStep> path;
};

/// Moves each point to the weighted mean of the samples around it, by their kernels, again and
/// again (Fukunaga & Hostetler 1975; Comaniciu & Meer 2002, eq. 17). In units u of L, H = L L',
/// that step is the gradient of f divided by f. Where it is short and f is curved downwards in all
/// directions, Newton's step for the mode is taken instead, which has more digits after each step.
///
/// In one and two dimensions, for a million pairs of samples and points or more, and in three for
/// four million, f and its
/// derivatives are read off grids (core/fourier/field.hpp) if these fit in memory. Steps are then
/// exact to 1e-7 of a bandwidth. Where f is below 1e-6 of its maximum, and everywhere else, they
/// are summed directly (1e-12).
///
/// x: n*d samples; w: n weights; points: m*d; root: lower Cholesky factor L of H, d*d column-major,
/// in the units of x. The same bits for every number of threads. O(n + N log N) for grids of N
/// cells, and then O(m) for each step, m the points that still move. Without grids O(n m d^2) for
/// each step. Throws error(input) if sizes do not match.
MeanShift mean_shift(const MatrixView& x, Weights w, const MatrixView& points,
                     Span<const double> root, const MeanShiftSettings& settings,
                     const RunOptions& options);

}  // namespace kestrel

#endif
