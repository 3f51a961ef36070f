// The smoothed bootstrap (Faraway & Jhun 1990; Lopez-Novoa 2015, ch. 8).
#ifndef KESTREL_CORE_BOOTSTRAP_BOOTSTRAP_HPP
#define KESTREL_CORE_BOOTSTRAP_BOOTSTRAP_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/bootstrap/squared_errors.hpp"

namespace kestrel {

/// Samples from the estimate of x with the radial Epanechnikov kernel and H = h0^2 L L'.
class SmoothedSample {
 public:
  /// x: n*d, finite; w: n weights, not negative and not all zero; root: L, lower triangular, d*d
  /// column-major; h0 > 0; size: rows of a sample. x, w and root must outlive this. Throws
  /// error(input) for n or size of 2^32 and more. O(n).
  SmoothedSample(const MatrixView& x, Span<const double> w, Span<const double> root, double h0,
                 std::size_t size, std::uint64_t key);

  std::size_t size() const { return size_; }
  std::size_t variables() const { return x_.cols; }
  /// The sample of a replicate, size() rows, column-major; a function of key and replicate alone.
  /// Rows are drawn by their weights, u from the kernel, and x + h0 L u is what comes out. Expected
  /// O(size d^2).
  void draw(std::uint32_t replicate, const ParallelOptions& options, Span<double> out) const;

 private:
  std::size_t row(double uniform) const;

  const MatrixView x_;
  const Span<const double> root_;
  const double h0_;
  const std::size_t size_;
  const std::uint64_t key_;
  /// Sums of the weights up to each row; empty where all are alike.
  std::vector<double> cumulative_;
  /// Of as many equal parts of their sum as there are rows, the first row to look at (Chen & Asau
  /// 1974).
  std::vector<std::uint32_t> guide_;
  double parts_;  // to a unit of weight; of weights alike, to one
};

/// out[j * replicates + b] is, for replicate b and bandwidth j, what `errors` gives of the
/// replicate's sample; errors.bandwidths() times `replicates` values, of integrated squared errors
/// in the units of `errors`. O(replicates) times what a sample's draw and errors.of() take; throws
/// what these throw. The same bits for every number of threads. Short replicates run side by
/// side, each in memory for a few samples of that size; longer ones, which must be polled, one
/// after another with all threads in each.
void bootstrap_errors(const SmoothedSample& samples, const SquaredErrors& errors,
                      std::size_t replicates, const RunOptions& options, Span<double> out);

}  // namespace kestrel

#endif
