// The integers of the `scanline` engine: the size of their units, and the proof that nothing
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

/// How samples are added to a grid; see ScanlineTable of simd/scanline/scanline.hpp.
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

/// Multiplies by a power of two in two steps, so that no factor leaves the range of a double.
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

/// Upper bounds on the samples that are active at one grid point, that is, whose ellipsoids hold
/// it: their number and their weight.
struct ScanlineActive {
  double weight = 0;
  double samples = 0;
  int finest = -1074;  ///< every weight is a whole number of 2^finest
};

/// A coarse histogram of the samples. Its sums over windows of the size of a bounding box bound
/// ScanlineActive. It uses integers, so that the order of the samples does not matter. At most 1.5
/// MiB.
class ScanlineHistogram {
 public:
  explicit ScanlineHistogram(const ScanlineGeometry& geometry);

  /// The integer that a weight of one adds to a cell; each sample adds its weight rounded down,
  /// plus one.
  static constexpr double kWeightUnit = 1073741824.0;  // 2^30

  /// weight in [0, 1]; fewer than 2^32 samples in all.
  void add(const ScanlineIndex& index, double weight);
  void add(const ScanlineHistogram& other);
  /// For a grid of one axis: its cells, and a way to add counts that were made elsewhere.
  simd::ScanlineLineCells line_cells() const;
  void add_line(Span<const std::uint32_t> samples, Span<const std::uint64_t> weight);
  /// O(cells * axes). The histogram cannot be used after this.
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
/// 2^step units of the next. Let R be the radius and d the maximum distance of a point from its
/// anchor. Rounding moves a sample's value by at most g / 2 units. If A, B and C are rounded by a
/// half each, g = d^2 + d + 1; if weights are whole numbers of the first limb's units, only B and C
/// are rounded, and g = d + 1. With W and M the weight and the number in ScanlineActive:
///   W 2^unit R^2 + M g / 2 < 2^62      the sum of a first limb fits,
///   M g 2^(step - 1) < 2^62            and that of every other limb,
///   2^unit (R + 1)^2 <= 2^51           numbers are rounded to whole ones exactly.
/// Rows: a value is a weight times at most one, and rounded once:
///   W 2^unit + M / 2 < 2^62,   M 2^(step - 1) < 2^62,   2^unit <= 2^51.
/// Both are powers of two, and functions of data and grid alone.
struct ScanlineScale {
  int unit = 0;
  int step = 0;
  int limbs = 0;
  /// Upper bounds on the sums at a grid point.
  double first_bound = 0, other_bound = 0;
};

/// What the integers of samples count, if it is known before the samples are.
struct ScanlineUnits {
  bool alike = false;       ///< all weights are one, and none is read
  int weight_exponent = 0;  ///< otherwise: they are at most 2^weight_exponent
  ScanlineScale scale;
};

/// For events without a given number of limbs: two if all rounding errors together are at most
/// 2^-53 of the peak of the active weight, else four. (The largest density is at least that peak
/// times the ratio of the kernel's integral to the volume of the bounding box with a factor of two
/// around it: 2^-5 for three uncorrelated variables.) For rows: one for uniform kernels whose
/// weights are whole numbers of units, which are never rounded, else two. With fewer limbs than
/// that the rounding errors are at most M / 2 units. block: the maximum distance of an anchor from
/// a point of its run.
ScanlineScale choose_scale(const ScanlineGeometry& geometry, const ScanlineActive& active,
                           std::size_t block, const ScanlineTask& task);

}  // namespace kestrel

#endif
