// Sums over samples at evaluation points on the devices, in pieces of points and of samples.
#ifndef KESTREL_GPU_DEVICE_SUMS_HPP
#define KESTREL_GPU_DEVICE_SUMS_HPP

#include <algorithm>
#include <functional>
#include <vector>

#include "core/base/raw_array.hpp"
#include "core/base/run_options.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/tiles.hpp"
#include "core/data/weights.hpp"
#include "core/kernel/kernel.hpp"
#include "gpu/devices.hpp"

namespace kestrel {

/// The maximum number of points that are gathered and sent at a time.
constexpr std::size_t kPointsAtOnce = std::size_t{1} << 20;

/// Points in pieces of at most so many that share a centre.
struct Pieces {
  Blocks blocks;
  std::vector<double> centre;  // of all pieces; empty: the first point of each

  std::size_t count() const { return blocks.count(); }
};

/// Pieces of at most `most` points within `reach` of their centre (gpu/reach.hpp), or of any points
/// if the device takes the data `as_given`. O(m log m).
Pieces cut_pieces(const EvaluationPoints& points, const TileKernel& kernel, bool as_given,
                  double reach, std::size_t most, const ParallelOptions& options);

/// The points at positions [first, last) of the blocks, one variable after the other, as they are
/// sent to a device: the points as given if these are so, or a copy.
class SentPoints {
 public:
  SentPoints(const EvaluationPoints& points, const Blocks& blocks, std::size_t first,
             std::size_t last);

  /// Variable k of point i is data()[k * stride() + i].
  const double* data() const { return data_; }
  std::size_t stride() const { return stride_; }

 private:
  std::vector<double> copy_;
  const double* data_;
  std::size_t stride_;
};

/// Calls body(begin, end, share) for parts of n samples, of so many numbers each, that have 512 MiB
/// as given; `share` are the options with the part's share of the progress.
template <class Body>
void for_sample_parts(std::size_t n, std::size_t numbers, const ParallelOptions& options,
                      const Body& body) {
  constexpr std::size_t kMostNumbers = std::size_t{1} << 26;
  const std::size_t at_a_time = std::max<std::size_t>(1, std::min(n, kMostNumbers / numbers));
  const double all = static_cast<double>(n);
  for (std::size_t begin = 0; begin < n; begin += at_a_time) {
    const std::size_t end = std::min(n, begin + at_a_time);
    body(begin, end,
         part_of(options, static_cast<double>(begin) / all, static_cast<double>(end) / all));
  }
}

/// The maximum number of points of a piece, for sums that take an H200 so many seconds in all.
std::size_t points_of_piece(std::size_t points, double seconds);

/// Multiplies the values by a number and divides them by another one, on all threads.
void scale_all(const ScaledNumber& scale, const ParallelOptions& options, Span<double> values,
               double divisor = 1.0);

/// Sums over some of the samples at the points of a piece. Sum number t of the i-th of them is
/// sum[t * count + i].
struct PieceSums {
  const Blocks& blocks;
  std::size_t first, count;
  const double* sum;
  std::size_t place;  // of the device, for scratch space

  /// Which of all points the i-th one is.
  std::size_t point(std::size_t i) const { return blocks.point(first + i); }
};

/// Sums on the devices: one or, of monomials, several at each point.
class DeviceSums {
 public:
  /// `request`: the kernel; its `matrix`, `d`, `diagonal` and `farthest` are set here, from the
  /// whitening and the reach. Keeps what these point to.
  DeviceSums(const TileKernel& whitening, double reach, kestrel_gpu_kernel request);

  /// Several threads may call it, for different points and with different places.
  using Add = std::function<void(const PieceSums&)>;

  /// Calls `add` for every piece of samples (for_sample_parts()) and of points.
  void run(const MatrixView& x, Weights w, const EvaluationPoints& points, const Pieces& pieces,
           const RunOptions& options, const Add& add) const;
  /// One sum at each point, over all samples. The device writes to `out` where it can.
  void run(const MatrixView& x, Weights w, const EvaluationPoints& points, const Pieces& pieces,
           const RunOptions& options, Span<double> out) const;

 private:
  /// Receives a piece of points and the first of the samples that the turn's handle has.
  using Body =
      std::function<void(std::size_t begin, std::size_t piece, const DeviceTeam::Turn& turn)>;

  void for_pieces(const MatrixView& x, Weights w, const Pieces& pieces, const RunOptions& options,
                  const Body& body) const;
  void sum_piece(const EvaluationPoints& points, const Pieces& pieces, std::size_t piece,
                 const DeviceTeam::Turn& turn, double* sum) const;

  const kestrel_gpu_table& table_;
  kestrel_gpu_kernel request_;
  const std::size_t values_;  // sums at each point
};

}  // namespace kestrel

#endif
