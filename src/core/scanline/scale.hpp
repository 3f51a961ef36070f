// The integers of the `scanline` engine: how much one unit is, and the proof that nothing
// overflows.
#ifndef KESTREL_CORE_SCANLINE_SCALE_HPP
#define KESTREL_CORE_SCANLINE_SCALE_HPP

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/kernel/kernel.hpp"
#include "core/scanline/geometry.hpp"

namespace kestrel {

/// How samples are added to a grid; ScanlineTable of simd/scanline/scanline.hpp says more.
enum class ScanlineMethod {
  best,    ///< whichever is faster; see ScanlineDensity
  events,  ///< at the ends of runs: radial Epanechnikov kernels
  rows     ///< at every point of them
};

struct ScanlineTask {
  KernelChoice choice;
  ScanlineMethod method;  ///< never `best`
  int limbs;              ///< as ScanlineSettings has them
};

/// Times a power of two, in halves, so that no factor leaves the range of a double.
class PowerOfTwo {
 public:
  explicit PowerOfTwo(int exponent)
      : half_(std::ldexp(1.0, exponent / 2)), rest_(std::ldexp(1.0, exponent - exponent / 2)) {}
  double times(double v) const { return v * half_ * rest_; }
  double half() const { return half_; }
  double rest() const { return rest_; }

 private:
  double half_, rest_;
};

/// Upper bounds of what samples do at one grid point: at most `weight` of weight and `samples` of
/// them have it in their ellipsoids.
struct ScanlineActive {
  double weight = 0;
  double samples = 0;
  int finest = -1074;  ///< every weight is a whole number of 2^finest
};

/// A coarse histogram of the samples, whose sums over windows of a bounding box bound
/// ScanlineActive. All in integers, so that the order of the samples is of no account. At most 1.5
/// MiB.
class ScanlineHistogram {
 public:
  explicit ScanlineHistogram(const ScanlineGeometry& geometry);

  /// What a weight of one adds to that of a cell; each sample adds the whole part and one more.
  static constexpr double kWeightUnit = 1073741824.0;  // 2^30

  /// weight in [0, 1], of fewer than 2^32 samples in all.
  void add(const ScanlineIndex& index, double weight);
  void add(const ScanlineHistogram& other);
  /// Of a grid of one axis: the cells of its length, and what to add to them, counted elsewhere.
  simd::ScanlineLineCells line_cells() const;
  void add_line(Span<const std::uint32_t> samples, Span<const std::uint64_t> weight);
  /// O(cells * axes). Leaves the histogram without use.
  ScanlineActive max_active();

 private:
  void sum_windows(std::size_t axis, std::vector<std::uint64_t>* cells) const;

  std::size_t axes_;
  std::array<std::size_t, simd::kScanlineAxes> cells_{}, window_{};
  std::array<double, simd::kScanlineAxes> reach_{}, scale_{};
  std::vector<std::uint64_t> weight_;
  std::vector<std::uint32_t> samples_;
};

/// Events: a weight w of at most 1 is w 2^unit units of the first limb; one unit of a limb is
/// 2^step units of the next. With R the radius and d the farthest that a point is from its anchor,
/// rounding moves a sample's value by at most g / 2 units: a half each of A, B and C, g = d^2 + d +
/// 1, or of B and C, g = d + 1, where weights are whole numbers of the first limb's units:
///   W 2^unit R^2 + M g / 2 < 2^62      the sum of a first limb fits,
///   M g 2^(step - 1) < 2^62            and that of every other,
///   2^unit (R + 1)^2 <= 2^51           what becomes whole is whole exactly,
/// W and M those of ScanlineActive. Rows: a value is a weight times at most one, and rounded once:
///   W 2^unit + M / 2 < 2^62,   M 2^(step - 1) < 2^62,   2^unit <= 2^51.
/// Powers of two, and functions of data and grid alone.
struct ScanlineScale {
  int unit = 0;
  int step = 0;
  int limbs = 0;
  /// The sums at a grid point are below these.
  double first_bound = 0, other_bound = 0;
};

/// Events, where the number of limbs is not given: two where all roundings together are at most
/// 2^-53 of the peak of the active weight, else four. (The largest density is no less than that
/// peak but by the share of the bounding box, with a factor of two around it, that the kernel's
/// integral is: 2^-5 for three uncorrelated variables.) Rows: one for uniform kernels with weights
/// that are whole numbers of units, which are never rounded, else two; with fewer than that,
/// roundings are at most M / 2 units. block: anchors stay within as many points as a run.
ScanlineScale choose_scale(const ScanlineGeometry& geometry, const ScanlineActive& active,
                           std::size_t block, const ScanlineTask& task);

}  // namespace kestrel

#endif
