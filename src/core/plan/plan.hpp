// Which engine computes an estimate, at what price: the one place where that is decided.
#ifndef KESTREL_CORE_PLAN_PLAN_HPP
#define KESTREL_CORE_PLAN_PLAN_HPP

#include <cstddef>
#include <string>

#include "core/fourier/layout.hpp"
#include "core/kernel/kernel.hpp"
#include "core/scanline/geometry.hpp"

namespace kestrel {

/// What is asked for: m evaluation points, n samples, d variables.
struct DensityTask {
  double n = 0, m = 0;  // double: a grid may have more points than there are integers
  std::size_t d = 0;
  double spread = 0;                  // d = 1: the range of the samples in bandwidths
  const DataRange* extent = nullptr;  // d = 2, 3: without it "fourier" is not thought of
  const ScanlineGeometry* grid =
      nullptr;  // a regular grid: without it "scanline" is not thought of
  KernelChoice kernel;
  double tolerance = 1e-12;  // relative to the largest value
  std::size_t lanes = 1;     // of the instruction set in use
  int threads = 1;
};

struct Plan {
  std::string engine;
  double tolerance;  // what the engine keeps to, at most the tolerance asked for
  /// What the rounding of coordinates may come to beside that; more than kMaxFourierTolerance:
  /// "fourier", asked for, cannot do it.
  double rounding = 0;
  double bytes;        // memory it needs, its result included
  double seconds;      // expected on the machine the constants were measured on
  std::string reason;  // one clause for people
};

/// What the grid of the engine "fourier" may take.
constexpr double kFourierBytes = 1e9;

/// The cheaper engine, "fgt" or "direct", for sums over all pairs of n samples on a line with the
/// Gaussian kernel; `spread` is the range of the samples in bandwidths. O(1).
std::string plan_pairs(double n, double spread, std::size_t lanes);

/// A pure function, in which the number of threads changes the time only. `engine` is "auto" or the
/// name of one; throws error(input), listing the names there are, for any other, and for one that
/// cannot do the task: "sweep" takes polynomial kernels in one dimension, "fgt" the Gaussian one,
/// "fourier" the Gaussian one in two and three, "scanline" the compact ones on regular grids in one
/// to six; error(memory) where "fourier" is asked for and its grid would take more than
/// kFourierBytes. O(1).
Plan plan_density(const DensityTask& task, const std::string& engine);

}  // namespace kestrel

#endif
