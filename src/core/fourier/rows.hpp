// The inner loops of the sums over modes: a Gaussian along a row of a grid, and power sums of it.
#ifndef KESTREL_CORE_FOURIER_ROWS_HPP
#define KESTREL_CORE_FOURIER_ROWS_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/fourier/forms.hpp"
#include "core/fourier/geometry.hpp"
#include "core/fourier/window.hpp"

namespace kestrel {

/// h in mode numbers: t_a = step_a k_a.
inline Form3 in_modes(const Form3& h, const FourierGeometry& geometry) {
  Form3 q{};
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      q[3 * a + b] = h[3 * a + b] * geometry.frequency_step(a) * geometry.frequency_step(b);
    }
  }
  return q;
}

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

/// exp(-t'ht / 2) along the rows of modes of a geometry.
class GaussianOfRows {
 public:
  GaussianOfRows(const Form3& h, const FourierGeometry& geometry)
      : q_(in_modes(h, geometry)), rows_(q_[8]) {}

  /// For the modes (k0, k1, k), k < count; out has room for kRowPadding values more.
  void fill(std::ptrdiff_t k0, std::ptrdiff_t k1, std::size_t count, double* out) const {
    fill(static_cast<double>(k0), static_cast<double>(k1), 0, count, out);
  }
  /// The same for first <= k < first + count.
  void fill(double k0, double k1, std::ptrdiff_t first, std::size_t count, double* out) const {
    rows_.fill(q_[2] * k0 + q_[5] * k1, (q_[0] * k0 + 2 * q_[1] * k1) * k0 + q_[4] * k1 * k1, first,
               count, out);
  }
  /// The least t'ht of the modes (k0, k1, k), first <= k <= last.
  double least_form(double k0, double k1, double first, double last) const {
    const double b = q_[2] * k0 + q_[5] * k1,
                 g = (q_[0] * k0 + 2 * q_[1] * k1) * k0 + q_[4] * k1 * k1;
    const double k = std::min(std::max(-b / q_[8], first), last);
    return (q_[8] * k + 2 * b) * k + g;
  }

 private:
  Form3 q_;
  GaussianRows rows_;
};

/// Calls body(k0, k1, row, worker) for every row of the modes that a box keeps, -max <= k <= max on
/// the first two axes, on several threads; `row` counts them.
template <class Body>
void for_rows_of_modes(const TransformBox& box, const ParallelOptions& options, const Body& body) {
  const std::size_t columns = 2 * box.max[1] + 1;
  parallel_for(box.rows_of_modes(), options, [&](std::size_t row, int worker) {
    const auto mode = [](std::size_t number, std::size_t max) {
      return static_cast<std::ptrdiff_t>(number) - static_cast<std::ptrdiff_t>(max);
    };
    body(mode(row / columns, box.max[0]), mode(row % columns, box.max[1]), row, worker);
  });
}

/// The window's transform at the modes 0, ..., max of each axis; 1 on an axis of one cell.
inline std::array<std::vector<double>, 3> window_transforms(const FourierWindow& window,
                                                            const TransformBox& box) {
  std::array<std::vector<double>, 3> transform;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t k = 0; k <= box.max[a]; ++k) {
      const double f = static_cast<double>(k) / static_cast<double>(box.cells[a]);
      transform[a].push_back(box.cells[a] == 1 ? 1.0 : window.transform(f));
    }
  }
  return transform;
}

/// sum[p] = sum_i weight[i] (first + i)^p, p = 0, ..., degree (even, at most 10). weight[count] may
/// be overwritten. O(count degree).
void power_sums(double* weight, std::ptrdiff_t first, std::size_t count, int degree, double* sum);

}  // namespace kestrel

#endif
