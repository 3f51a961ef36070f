// Sums of runs on a grid of one axis, from samples in the order given.
#ifndef KESTREL_CORE_SCANLINE_LINE_HPP
#define KESTREL_CORE_SCANLINE_LINE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/scanline/geometry.hpp"
#include "core/scanline/scale.hpp"
#include "simd/scanline/line.hpp"

namespace kestrel {

/// The events of all samples on the one row of a grid, as third differences: 16 bytes a point.
/// Events may be added in any order, so samples need not be sorted. The integers are those of
/// ScanlineSample and ScanlineTiles, except that anchors are not kept within blocks: values are the
/// same if the grid is one block and the scale is the same.
class ScanlineLine {
 public:
  /// Returns null if this method does not suit, which depends on data and grid alone:
  /// - there is more than one axis, or the kernel has no events;
  /// - points are so far from a regular axis that it matters;
  /// - the row would take more memory than sorted samples do (more points than samples, and than
  ///   2^17);
  /// - two limbs are not wanted, or not enough by choose_scale() without blocks, as with unequal
  ///   weights and runs of thousands of points.
  ///
  /// Throws error(input) where ScanlineSample does. O(samples + points). Memory: 16 bytes a point,
  /// and the same for each thread while samples are added. The number of threads is limited so that
  /// these fit in 2 MiB a thread and 8 bytes a sample.
  static std::unique_ptr<const ScanlineLine> make(const ScanlineGeometry& geometry,
                                                  const MatrixView& x, Weights w,
                                                  const ScanlineTask& task,
                                                  const RunOptions& options);

  /// If it is empty, no other function may be called.
  bool empty() const { return empty_; }
  /// As in ScanlineSample.
  int weight_exponent() const { return weight_exponent_; }
  double common_weight() const { return common_weight_; }
  const ScanlineScale& scale() const { return scale_; }

  /// Writes the values of the points first, ..., first + count - 1 in order. O(count + 8192).
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
  std::vector<simd::ScanlineLineSums> before_;  // the sums before each block of points
};

}  // namespace kestrel

#endif
