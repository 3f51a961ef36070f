// Sums of runs on a grid of one axis, from the samples as they are given.
#ifndef KESTREL_CORE_SCANLINE_LINE_HPP
#define KESTREL_CORE_SCANLINE_LINE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/scanline/geometry.hpp"
#include "core/scanline/scale.hpp"
#include "simd/scanline/line.hpp"

namespace kestrel {

/// The events of all samples on the one row of a grid, as its third differences: 16 bytes a point,
/// to which nothing need be near, so that samples need not be sorted. The integers are those of
/// ScanlineSample and ScanlineTiles, but anchors are not kept within blocks: same values where the
/// grid is one block and the scale the same.
class ScanlineLine {
 public:
  /// Null where this way does not suit, by data and grid alone: there is more than one axis, or a
  /// kernel that has no events; points are so far from a regular axis that it matters; the row
  /// would take more room than sorted samples do (more points than samples, and than 2^17); or two
  /// limbs are not enough by choose_scale() without blocks, as with weights that are not alike and
  /// runs of thousands of points, or not wanted.
  ///
  /// Throws error(input) where ScanlineSample does. O(samples + points). Memory: 16 bytes a point,
  /// and while samples are added so many for each thread; there are only so many threads as have
  /// room in 2 MiB each and 8 bytes a sample, or one.
  static std::unique_ptr<const ScanlineLine> make(const ScanlineGeometry& geometry,
                                                  const MatrixView& x, Span<const double> w,
                                                  const ScanlineTask& task,
                                                  const RunOptions& options);

  /// Where it is so, nothing else may be asked.
  bool empty() const { return empty_; }
  /// As those of ScanlineSample.
  int weight_exponent() const { return weight_exponent_; }
  double common_weight() const { return common_weight_; }
  const ScanlineScale& scale() const { return scale_; }

  /// The points first, ..., first + count - 1, one after another. O(count + 8192).
  void write(std::size_t first, std::size_t count, const simd::ScanlineOutput& output,
             const RunOptions& options) const;

 private:
  explicit ScanlineLine(std::size_t points) : points_(points) {}

  const std::size_t points_;
  bool empty_ = false;
  int weight_exponent_ = 0;
  double common_weight_ = 1;
  ScanlineScale scale_;
  std::unique_ptr<std::uint64_t[]> cells_;
  std::vector<simd::ScanlineLineSums> before_;  // each block of points
};

}  // namespace kestrel

#endif
