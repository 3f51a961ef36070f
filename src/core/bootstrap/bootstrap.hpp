// The smoothed bootstrap (Faraway & Jhun 1990; Lopez-Novoa 2015, ch. 8).
#ifndef KESTREL_CORE_BOOTSTRAP_BOOTSTRAP_HPP
#define KESTREL_CORE_BOOTSTRAP_BOOTSTRAP_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/bootstrap/squared_errors.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

/// Samples from the kernel estimate of x with the radial Epanechnikov kernel and H = h0^2 L L'.
class SmoothedSample {
 public:
  /// x: n*d, finite; w: n weights, not negative and not all zero; root: L, lower triangular, d*d
  /// column-major; h0 > 0; size: rows of a sample. x, w and root must outlive this. Throws
  /// error(input) for n or size of 2^32 and more. O(n).
  SmoothedSample(const MatrixView& x, Weights w, Span<const double> root, double h0,
                 std::size_t size, std::uint64_t key);

  std::size_t size() const { return size_; }
  std::size_t variables() const { return x_.cols; }
  /// Draws the sample of a replicate: size() rows, column-major, a function of key and replicate
  /// alone. Each row is x + h0 L u, with x drawn from the rows by weight and u from the kernel.
  /// Expected O(size d^2).
  void draw(std::uint32_t replicate, const ParallelOptions& options, Span<double> out) const;

 private:
  std::size_t row(double uniform) const;

  const MatrixView x_;
  const Span<const double> root_;
  const double h0_;
  const std::size_t size_;
  const std::uint64_t key_;
  /// Cumulative sums of the weights; empty if all weights are equal.
  std::vector<double> cumulative_;
  /// The sum of the weights is cut into as many equal parts as there are rows. For each part: the
  /// first row that a value in it may belong to (Chen & Asau 1974).
  std::vector<std::uint32_t> guide_;
  double parts_;  // parts per unit of weight; per unit of 1 if all weights are equal
};

/// out[j * replicates + b] is the integrated squared error that `errors` gives for bandwidth j on
/// the sample of replicate b, in the units of `errors`: errors.bandwidths() times `replicates`
/// values. O(replicates) times the cost of draw() and errors.of(); throws what these throw. The
/// same bits for every number of threads. Brief replicates run side by side, and need memory for
/// one sample a thread. Longer ones must be polled: they run one after another, each on all
/// threads.
void bootstrap_errors(const SmoothedSample& samples, const SquaredErrors& errors,
                      std::size_t replicates, const RunOptions& options, Span<double> out);

}  // namespace kestrel

#endif
