// What GpuMixed sends to a device, and the fits that it makes of the sums from there.
#ifndef KESTREL_GPU_MIXED_DEVICE_HPP
#define KESTREL_GPU_MIXED_DEVICE_HPP

#include <memory>
#include <vector>

#include "gpu/mixed.hpp"

namespace kestrel {

/// Points of a piece are a multiple of the threads of a block.
constexpr std::size_t kMixedPieceUnit = 128;

/// Room for numbers that the devices write: not cleared first.
inline std::unique_ptr<double[]> room_for(std::size_t numbers) {
  return std::unique_ptr<double[]>(new double[numbers]);
}

/// A kernel as the devices take it, and the weights of factors at the points.
class GpuMixed::OnDevice {
 public:
  /// own: whether a sample counts at itself. e: null, or a number for each sample, which must
  /// outlive this object.
  OnDevice(const MixedSample& sample, const MixedSample& points, const MixedKernel& kernel,
           bool own, std::size_t number, const double* e = nullptr);
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  /// A view of this object.
  kestrel_gpu_mixed_kernel request() const;
  /// Kernels of one GpuMixed have different numbers.
  std::size_t number() const { return number_; }
  /// Whether products are exponentials, so that they may underflow.
  bool gaussian() const { return kernel_.window == simd::MixedWindow::gaussian; }
  /// At a cell of the points.
  const MixedSample::CellWeights& at_cell(std::size_t cell) const { return at_cell_[cell]; }

 private:
  const ContinuousKernel kernel_;
  const bool own_;
  const std::size_t number_;
  const double* const e_;
  std::vector<double> scale_, weight_;
  std::vector<MixedSample::CellWeights> at_cell_;
};

/// Fits at all points, as numbers: fits with vectors of their own would take longer to make and to
/// free, on one thread, than to solve.
class GpuMixed::Fits {
 public:
  Fits(std::size_t points, std::size_t columns)
      : columns_(columns),
        plane_(columns + 1),
        good_(points),
        sum_(room_for(points * MixedPlane::number_of_sums(columns))),
        numbers_(room_for(2 * plane_ * points)) {}

  std::size_t size() const { return good_.size(); }
  /// The moments from the devices; and what changes take.
  double* sum() { return sum_.get(); }
  const double* numbers() const { return numbers_.get(); }
  /// For squares: 0, and then the weights.
  std::vector<double> for_squares() const;

  /// Solves for the fits at points `begin` to end - 1, whose sums are there.
  void solve(std::size_t begin, std::size_t end, const simd::MixedTable& table);
  /// The same for all points, on all threads.
  void solve(const RunOptions& options);

  /// Whether there is such a fit; else it is to be made on the CPU.
  bool good(std::size_t i) const { return good_[i] != 0; }
  void get(std::size_t i, MixedFit& fit) const;
  double level(std::size_t i) const { return numbers_[plane_ * good_.size() + i]; }

 private:
  const std::size_t columns_, plane_;
  std::vector<char> good_;
  std::unique_ptr<double[]> sum_, numbers_;
};

/// Points as given that the CPU is to compute: those whose place in the sample is not `good`.
/// Empty if there are none.
template <class Good>
std::vector<char> left_to_cpu(const MixedSample& points, const Good& good) {
  std::vector<char> left;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (good(i)) continue;
    left.resize(points.size());
    left[points.given(i)] = 1;
  }
  return left;
}

}  // namespace kestrel

#endif
