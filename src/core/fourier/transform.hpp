// Discrete Fourier transforms of a box of real numbers: the only door to FFT libraries.
#ifndef KESTREL_CORE_FOURIER_TRANSFORM_HPP
#define KESTREL_CORE_FOURIER_TRANSFORM_HPP

#include <array>
#include <complex>
#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"

namespace kestrel {

/// A box of cells[0] x cells[1] x cells[2] real numbers, row-major; cells[2] is even. Each row of
/// the last axis is padded by two, so that its cells[2] / 2 + 1 complex modes fit in its place.
struct TransformBox {
  std::array<std::size_t, 3> cells;
  /// Modes wanted: |k| <= max[a] along axis a, max[a] below cells[a] / 2 (0 for an axis of one
  /// cell).
  std::array<std::size_t, 3> max;

  std::size_t row_length() const { return cells[2] + 2; }
  std::size_t row(std::size_t i, std::size_t j) const { return (i * cells[1] + j) * row_length(); }
  std::size_t size() const { return cells[0] * cells[1] * row_length(); }
  /// Rows of the modes wanted along the last axis.
  std::size_t rows_of_modes() const { return (2 * max[0] + 1) * (2 * max[1] + 1); }
  /// The cell of mode k, -max <= k <= max, along an axis.
  std::size_t cell_of_mode(std::size_t axis, std::ptrdiff_t k) const {
    const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(cells[axis]);
    return static_cast<std::size_t>(k < 0 ? k + n : k);
  }
};

/// In place, F_k = sum_c data_c exp(-2 pi i sum_a k_a c_a / cells_a) for the modes wanted; the
/// cells of other modes are undefined. Mode k_2 >= 0 of row (k_0, k_1) is complex number k_2 of
/// that row.
///
/// The same bits for every number of threads and from run to run on one machine (FFTW by
/// FFTW_ESTIMATE). Not to be called inside a parallel_for: FFTW plans on the calling thread, and
/// its planner is not thread-safe. O(N log N), N cells.
void forward_transform(double* data, const TransformBox& box, const ParallelOptions& options);

/// The inverse, not normalised: data_c = sum_k F_k exp(2 pi i sum_a k_a c_a / cells_a) over the
/// modes wanted; those with k_2 < 0 are the conjugates of their opposites. Cells of other modes
/// need not be set.
void inverse_transform(double* data, const TransformBox& box, const ParallelOptions& options);

/// The libraries compiled in, in order of preference: "fftw3" if configure found it, "eigen".
const std::vector<const char*>& transform_libraries();

#ifdef KESTREL_TEST_HOOKS
/// Uses the library of that name from now on, or the first one again if it is "". Throws
/// error(input) if it is not available.
/// error(input) when it is not available.
void force_transform_library(const char* name);
#endif

/// The smallest even number >= max(n, 2) without a prime factor above 7, since larger ones are
/// slow.
std::size_t smooth_number(std::size_t n);

}  // namespace kestrel

#endif
