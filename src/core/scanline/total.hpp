// Sums of compact kernels on a grid to which any number of samples are added, part by part.
#ifndef KESTREL_CORE_SCANLINE_TOTAL_HPP
#define KESTREL_CORE_SCANLINE_TOTAL_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/base/wide_integer.hpp"
#include "core/data/weights.hpp"
#include "core/kernel/kernel.hpp"
#include "core/scanline/axis.hpp"
#include "core/scanline/geometry.hpp"
#include "core/scanline/rim.hpp"
#include "core/scanline/sample.hpp"
#include "core/scanline/scale.hpp"
#include "core/scanline/tiles.hpp"

namespace kestrel {

/// The maximum number of samples of a total, 2^37.
constexpr double kTotalSamples = 137438953472.0;

/// What must be known of the weights before the samples are.
struct TotalWeights {
  bool given = false;  ///< otherwise every weight is one
  int exponent = 0;    ///< they are at most 2^exponent
};

/// The density of ScanlineDensity, of samples that are never all in memory. Its integers have a
/// unit that the data do not determine, so that those of different parts can be added.
///
/// Samples are taken in batches of at most 2^20. The sums of a batch are those of ScanlineTileSums,
/// in limbs with units for that many active samples. At each point they make one integer of 128
/// bits, in units of 2^-47 of the first limb's. The points of a grid are at index t plus a small
/// shift s: there the events A, Q, P of a batch have the value P + Q t - A t^2 + (Q - 2 A t) s - A
/// s^2. Multiples of 2^-47 stand for s and s^2, so that these products are exact, too. All sums are
/// of integers that each sample alone determines: the bits are the same for every order of the
/// samples, partition, batch, number of threads, instruction set, size of tiles and slab.
///
/// Error: at most 1e-14 of the largest density or of the peak of the heaviest sample's kernel,
/// whichever is larger. Zero where no sample reaches; never negative.
class ScanlineTotal {
 public:
  /// The points with indices first, ..., first + count - 1 on the last axis. axes, choice and root
  /// as for ScanlineDensity, which also says what it throws. Memory: 16 bytes a point, and 16 d +
  /// 16 bytes for each sample of a batch.
  ScanlineTotal(Span<const RegularAxis> axes, const KernelChoice& choice, Span<const double> root,
                const TotalWeights& weights, std::size_t first, std::size_t count);

  ScanlineTotal(const ScanlineTotal&) = delete;
  ScanlineTotal& operator=(const ScanlineTotal&) = delete;

  /// w: absent if the weights are not given. Throws error(input) for samples or weights that are
  /// not finite, weights that are negative or too large, and too many samples. Time as that of
  /// ScanlineDensity, and O(points) for each batch.
  void add(const MatrixView& x, Weights w, const RunOptions& options);
  /// Adds what is still kept for the next batch. To be called before the functions that follow.
  void settle(const RunOptions& options);

  /// The samples added, also those that reach no point, and their weights, in units of 2^exponent.
  std::uint64_t samples() const { return samples_; }
  double weight() const;
  double effective_samples() const;
  /// Points for one index of the last axis.
  std::size_t points() const { return points_; }

  /// The sum of w_j K_H(e_i - x_j) over the sum of the weights, which must be positive, at indices
  /// first, ..., first + count - 1 of the last axis, as in ScanlineDensity::slab(). O(points).
  void slab(std::size_t first, std::size_t count, const RunOptions& options,
            Span<double> out) const;

  /// The state as bytes, the same on every machine, and adding that of another total for the same
  /// arguments. Throws error(input) for other bytes.
  std::size_t bytes() const;
  void write(const RunOptions& options, Span<unsigned char> out) const;
  void merge(Span<const unsigned char> other, const RunOptions& options);

 private:
  static constexpr std::size_t kHead = 6;  // words before those of the points

  std::vector<std::uint64_t> head() const;
  void weigh(Weights w);
  void add_batch(const MatrixView& x, Weights w, const RunOptions& options);
  void take(const ScanlineBox& box, std::uint64_t* cells);
  void take_events(const simd::ScanlineTile& tile, std::uint64_t* cell, WideInteger* to);
  void take_rows(const simd::ScanlineTile& tile, std::uint64_t* cell, WideInteger* to);
  /// A sum of a limb, in the units of a total.
  WideInteger of_limb(std::uint64_t sum, int limb) const;

  const std::size_t d_, first_, count_;
  const bool weighted_;
  std::size_t points_ = 1;
  const ScanlineGeometry geometry_;
  const ScanlineTask task_;
  const ScanlineUnits units_;
  const ScanlineTiles tiles_;
  const ScaledNumber unit_;  // a unit of the sums, for weights in units of 2^exponent
  const ScanlineRim rim_;
  std::vector<std::int64_t> shift_, square_;  // of the points of the run axis, in 2^-47
  std::vector<WideInteger> sums_;
  // Samples that wait: columns with room for a batch. Not initialised, so that few of them take
  // little memory.
  std::unique_ptr<double[]> batch_, batch_weight_;
  std::size_t waiting_ = 0;
  std::uint64_t samples_ = 0;
  WideInteger weight_, squares_;  // in units of 2^(exponent - 88) and of its square times 2^88
};

}  // namespace kestrel

#endif
