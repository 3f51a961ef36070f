// The inner loops of the sums over modes: a Gaussian along a row of a grid, and power sums of it.
#ifndef KESTREL_CORE_FOURIER_ROWS_HPP
#define KESTREL_CORE_FOURIER_ROWS_HPP

#include <cstddef>

namespace kestrel {

/// GaussianRows::fill may write this many values beyond those asked for.
constexpr std::size_t kRowPadding = 32;

/// Gaussians along the rows of a grid, all of one curvature a > 0.
class GaussianRows {
 public:
  explicit GaussianRows(double a);

  /// out[i] = exp(-(a k^2 + 2 b k + g) / 2), k = first + i, i < count; the exponent must not be
  /// positive. Takes two exponentials for each 32 values. Error: 2e-15 of a value, and that times
  /// its exponent. Values below 1e-300 may be zero.
  void fill(double b, double g, std::ptrdiff_t first, std::size_t count, double* out) const;

 private:
  double a_;
  double curve_[kRowPadding];  // exp(-a j^2 / 2), -16 <= j < 16
};

/// sum[p] = sum_i weight[i] (first + i)^p, p = 0, ..., degree (even, at most 10). weight[count] may
/// be overwritten. O(count degree).
void power_sums(double* weight, std::ptrdiff_t first, std::size_t count, int degree, double* sum);

}  // namespace kestrel

#endif
