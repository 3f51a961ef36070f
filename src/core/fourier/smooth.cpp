#include "core/fourier/smooth.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/base/aligned_buffer.hpp"

namespace kestrel {

ModeFactors::ModeFactors(const FourierGeometry& geometry, const FourierWindow& window,
                         const Form3& h, int windows)
    : unspread_(window_transforms(window, geometry.box)), rows_(h, geometry) {
  for (std::size_t a = 0; a < 3; ++a) {
    if (geometry.box.cells[a] > 1) volume_ *= geometry.period[a];
    for (double& value : unspread_[a]) value = 1 / (windows == 1 ? value : value * value);
  }
}

void ModeFactors::fill(std::ptrdiff_t k0, std::ptrdiff_t k1, std::size_t first, std::size_t count,
                       double* out) const {
  rows_.fill(static_cast<double>(k0), static_cast<double>(k1), static_cast<std::ptrdiff_t>(first),
             count, out);
  const double scale = unspread_[0][static_cast<std::size_t>(std::abs(k0))] *
                       unspread_[1][static_cast<std::size_t>(std::abs(k1))] / volume_;
  const double* unspread = unspread_[2].data() + first;
  for (std::size_t k = 0; k < count; ++k) out[k] *= scale * unspread[k];
}

void smooth_modes(const FourierGeometry& geometry, const FourierWindow& window, const Form3& h,
                  int windows, const ModeDerivative& derivative, const ParallelOptions& options,
                  const double* from, double* to) {
  const TransformBox& box = geometry.box;
  const ModeFactors factors(geometry, window, h, windows);
  const std::size_t length = box.max[2] + 1;
  std::vector<AlignedBuffer> scratch(parallel_workers(box.rows_of_modes(), options));
  for_rows_of_modes(
      box, options, [&](std::ptrdiff_t k0, std::ptrdiff_t k1, std::size_t, int worker) {
        AlignedBuffer& factor = scratch[static_cast<std::size_t>(worker)];
        if (factor.data() == nullptr) factor.resize(length + kRowPadding);
        factors.fill(k0, k1, 0, length, factor.data());
        derivative.scale(k0, k1, length, factor.data());
        const std::size_t row = box.row(box.cell_of_mode(0, k0), box.cell_of_mode(1, k1));
        for (std::size_t k = 0; k < length; ++k) {
          const double real = from[row + 2 * k] * factor.data()[k],
                       imaginary = from[row + 2 * k + 1] * factor.data()[k];
          to[row + 2 * k] = derivative.is_odd() ? -imaginary : real;
          to[row + 2 * k + 1] = derivative.is_odd() ? real : imaginary;
        }
      });
}

}  // namespace kestrel
