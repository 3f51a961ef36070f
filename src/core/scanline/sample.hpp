// The samples of the `scanline` engine, sorted by their position on the grid.
#ifndef KESTREL_CORE_SCANLINE_SAMPLE_HPP
#define KESTREL_CORE_SCANLINE_SAMPLE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/raw_array.hpp"
#include "core/base/run_options.hpp"
#include "core/data/weights.hpp"
#include "core/scanline/geometry.hpp"
#include "core/scanline/scale.hpp"
#include "simd/scanline/scanline.hpp"

namespace kestrel {

/// Samples of one work item.
constexpr std::size_t kSamplesOfItem = std::size_t{1} << 14;

/// The number of parts of `size` that `all` is cut into; the last may be shorter.
inline std::size_t pieces(std::size_t all, std::size_t size) { return (all + size - 1) / size; }

/// Throws error(input) unless samples begin, ..., end - 1 are finite and their weights finite and
/// not negative.
void check_samples(const MatrixView& x, Weights w, std::size_t begin, std::size_t end);

/// Throws error(input) unless there are as many weights as samples, and fewer than 2^32 - 1.
void check_sample_count(const MatrixView& x, Weights w);

/// The samples with a weight whose bounding boxes meet the grid, sorted into bins by counting.
class ScanlineSample {
 public:
  /// w: n weights, finite and not negative. segment: points of the run axis in one tile. Throws
  /// error(input) if a weight is negative or not finite, a coordinate is not finite, or there are
  /// 2^32 - 1 samples or more. O(n d) time. Keeps 8 d bytes a sample, and 8 more if weights differ;
  /// sorting takes at most 2.5 MiB a thread, mostly far less. units: null if the samples determine
  /// them.
  ScanlineSample(const ScanlineGeometry& geometry, const MatrixView& x, Weights w,
                 const ScanlineTask& task, std::size_t segment, const RunOptions& options,
                 const ScanlineUnits* units = nullptr);

  /// If it is 0, no other function may be called.
  std::size_t size() const { return size_; }
  /// Weights are the given ones times 2^-exponent; if all are equal, one times that.
  int weight_exponent() const { return weight_exponent_; }
  /// A factor for the results: the common weight if all are equal, else one.
  double common_weight() const { return common_weight_; }
  const ScanlineScale& scale() const { return scale_; }
  simd::ScanlineSamples leaf() const;
  /// Coordinates of the sorted samples on an axis.
  const double* sorted(std::size_t axis) const { return x_[axis].data(); }

  /// Finds ranges with all samples whose ellipsoids meet the box, and few others.
  void find(const ScanlineBox& box, std::vector<simd::ScanlineRange>* ranges) const;

 private:
  struct Order;
  struct Search;

  void check_and_measure(const MatrixView& x, Weights w, const RunOptions& options);
  void take_units(const MatrixView& x, Weights w, const ScanlineUnits& units,
                  const RunOptions& options);
  std::size_t choose_bins(std::size_t samples, std::size_t segment);
  void count(const MatrixView& x, Weights w, const ScanlineTask* task, const RunOptions& options,
             Order* order);
  void put(const MatrixView& x, Weights w, const RunOptions& options, Order* order);
  std::size_t bin_of(const ScanlineIndex& index) const;
  void search(const Search& task, std::size_t axis, std::size_t bins,
              std::vector<simd::ScanlineRange>* ranges) const;

  const ScanlineGeometry& geometry_;
  /// Equal weights count as one each, which is a whole number of every unit.
  double weight(double given) const { return alike_ ? 1.0 : given; }

  std::size_t size_ = 0;
  bool alike_ = false;
  double common_weight_ = 1;
  int weight_exponent_ = 0, finest_ = 0;  // weights: at most 2^first, multiples of 2^second
  ScanlineScale scale_;
  std::array<unsigned, simd::kScanlineAxes> bits_{};  // log2 of the length of a bin
  std::array<std::size_t, simd::kScanlineAxes> bins_{};
  std::vector<std::uint32_t> start_;
  std::array<RawArray<double>, simd::kScanlineAxes> x_;
  RawArray<double> weight_;  // if weights differ
};

}  // namespace kestrel

#endif
