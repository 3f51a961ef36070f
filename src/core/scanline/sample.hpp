// The samples of the `scanline` engine, sorted by where they lie on the grid.
#ifndef KESTREL_CORE_SCANLINE_SAMPLE_HPP
#define KESTREL_CORE_SCANLINE_SAMPLE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/raw_array.hpp"
#include "core/base/run_options.hpp"
#include "core/scanline/geometry.hpp"
#include "core/scanline/scale.hpp"
#include "simd/scanline/scanline.hpp"

namespace kestrel {

/// Parts of `size` that `all` is cut into, of which the last may be shorter.
inline std::size_t pieces(std::size_t all, std::size_t size) { return (all + size - 1) / size; }

/// Throws error(input) unless samples begin, ..., end - 1 are finite and their weights finite and
/// not negative.
void check_samples(const MatrixView& x, Span<const double> w, std::size_t begin, std::size_t end);

/// Throws error(input) unless there are as many weights as samples, and fewer than 2^32 - 1.
void check_sample_count(const MatrixView& x, Span<const double> w);

/// Those samples with a weight whose bounding boxes meet the grid, in bins: a counting sort.
class ScanlineSample {
 public:
  /// w: n weights, finite and not negative. segment: points of the run axis in one tile.
  /// Throws error(input) when they are not so, a coordinate is not finite, or there are 2^32 - 1
  /// samples or more. O(n d) time; 8 d bytes a sample are kept, and 8 where
  /// weights differ; while they are sorted, at most 2.5 MiB a thread, most often far less.
  ScanlineSample(const ScanlineGeometry& geometry, const MatrixView& x, Span<const double> w,
                 const ScanlineTask& task, std::size_t segment, const RunOptions& options);

  /// Where it is 0, nothing else may be asked.
  std::size_t size() const { return size_; }
  /// Weights are those given times 2^-exponent, or, where all are alike, one such for each.
  int weight_exponent() const { return weight_exponent_; }
  /// What results must be multiplied by: what all weights are, where they are alike, else one.
  double common_weight() const { return common_weight_; }
  const ScanlineScale& scale() const { return scale_; }
  simd::ScanlineSamples leaf() const;
  /// Coordinates of the sorted samples on an axis.
  const double* sorted(std::size_t axis) const { return x_[axis].data(); }

  /// All samples whose ellipsoids meet the box are in these ranges, and few others.
  void find(const ScanlineBox& box, std::vector<simd::ScanlineRange>* ranges) const;

 private:
  struct Order;
  struct Search;

  void check_and_measure(const MatrixView& x, Span<const double> w, const RunOptions& options);
  std::size_t choose_bins(std::size_t samples, std::size_t segment);
  void count(const MatrixView& x, Span<const double> w, const ScanlineTask& task,
             const RunOptions& options, Order* order);
  void put(const MatrixView& x, Span<const double> w, const RunOptions& options, Order* order);
  std::size_t bin_of(const ScanlineIndex& index) const;
  void search(const Search& task, std::size_t axis, std::size_t bins,
              std::vector<simd::ScanlineRange>* ranges) const;

  const ScanlineGeometry& geometry_;
  /// Weights that are alike count as one each, which is a whole number of every unit.
  double weight(double given) const { return alike_ ? 1.0 : given; }

  std::size_t size_ = 0;
  bool alike_ = false;
  double common_weight_ = 1;
  int weight_exponent_ = 0, finest_ = 0;  // weights are at most 2^the first, whole in 2^the other
  ScanlineScale scale_;
  std::array<unsigned, simd::kScanlineAxes> bits_{};  // of the length of a bin, a power of two
  std::array<std::size_t, simd::kScanlineAxes> bins_{};
  std::vector<std::uint32_t> start_;
  std::array<RawArray<double>, simd::kScanlineAxes> x_;
  RawArray<double> weight_;  // where they differ
};

}  // namespace kestrel

#endif
