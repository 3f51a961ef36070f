// Which engine computes an estimate, and at what cost: the only place that decides it.
#ifndef KESTREL_CORE_PLAN_PLAN_HPP
#define KESTREL_CORE_PLAN_PLAN_HPP

#include <cstddef>
#include <string>

#include "core/fourier/layout.hpp"
#include "core/kernel/kernel.hpp"
#include "core/scanline/geometry.hpp"

namespace kestrel {

/// The task: m evaluation points, n samples, d variables.
struct DensityTask {
  double n = 0, m = 0;  // double: a grid may have more points than integers hold
  std::size_t d = 0;
  double spread = 0;                       // d = 1: the range of the samples in bandwidths
  const DataRange* extent = nullptr;       // d = 2, 3: if null, "fourier" is not considered
  const ScanlineGeometry* grid = nullptr;  // a regular grid: if null, "scanline" is not considered
  /// The share of all pairs that "kdtree" would sum (share_of_pairs()); if it is negative, "kdtree"
  /// is not considered.
  double tree_pairs = -1;
  KernelChoice kernel;
  double tolerance = 1e-12;  // relative to the largest value
  std::size_t lanes = 1;     // of the instruction set in use
  int threads = 1;
};

struct Plan {
  std::string engine;
  double tolerance;  // that the engine keeps, at most the one asked for
  /// Additional error by the rounding of coordinates. Above kMaxFourierTolerance "fourier", if it
  /// was asked for, cannot do the task.
  double rounding = 0;
  double bytes;        // memory it needs, the result included
  double seconds;      // expected on the machine the constants were measured on
  std::string reason;  // one clause for people
};

/// The maximum memory for the grid of the engine "fourier".
constexpr double kFourierBytes = 1e9;

/// The cheaper engine, "fgt" or "direct", for sums over all pairs of n samples on a line with the
/// Gaussian kernel; `spread` is the range of the samples in bandwidths. O(1).
std::string plan_pairs(double n, double spread, std::size_t lanes);

/// A pure function; the number of threads affects only the time. `engine` is "auto" or the name of
/// one. Throws error(input) for any other name, with the names there are, and for an engine that
/// cannot do the task: "sweep" takes polynomial kernels in one dimension, "fgt" the Gaussian one,
/// "fourier" the Gaussian one in two and three, "scanline" the compact ones on regular grids in one
/// to six, "kdtree" the compact ones at any points. Throws error(memory) if "fourier" is asked for
/// and its grid would take more than kFourierBytes. O(1).
Plan plan_density(const DensityTask& task, const std::string& engine);

}  // namespace kestrel

#endif
