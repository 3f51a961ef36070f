#include "core/fourier/smooth.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/base/aligned_buffer.hpp"
#include "core/fourier/rows.hpp"

namespace kestrel {

void smooth_modes(const FourierGeometry& geometry, const FourierWindow& window, const Form3& h,
                  int windows, const ModeDerivative& derivative, const ParallelOptions& options,
                  const double* from, double* to) {
  const TransformBox& box = geometry.box;
  std::array<std::vector<double>, 3> unspread = window_transforms(window, box);
  double volume = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    if (box.cells[a] > 1) volume *= geometry.period[a];
    for (double& value : unspread[a]) value = 1 / (windows == 1 ? value : value * value);
  }
  const GaussianOfRows rows(h, geometry);
  const std::size_t length = box.max[2] + 1;
  std::vector<AlignedBuffer> scratch(parallel_workers(box.rows_of_modes(), options));
  for_rows_of_modes(
      box, options, [&](std::ptrdiff_t k0, std::ptrdiff_t k1, std::size_t, int worker) {
        AlignedBuffer& gaussian = scratch[static_cast<std::size_t>(worker)];
        if (gaussian.data() == nullptr) gaussian.resize(length + kRowPadding);
        rows.fill(k0, k1, length, gaussian.data());
        const double scale = unspread[0][static_cast<std::size_t>(std::abs(k0))] *
                             unspread[1][static_cast<std::size_t>(std::abs(k1))] / volume;
        derivative.scale(k0, k1, length, gaussian.data());
        const std::size_t row = box.row(box.cell_of_mode(0, k0), box.cell_of_mode(1, k1));
        for (std::size_t k = 0; k < length; ++k) {
          const double factor = scale * unspread[2][k] * gaussian.data()[k];
          const double real = from[row + 2 * k] * factor,
                       imaginary = from[row + 2 * k + 1] * factor;
          to[row + 2 * k] = derivative.is_odd() ? -imaginary : real;
          to[row + 2 * k + 1] = derivative.is_odd() ? real : imaginary;
        }
      });
}

}  // namespace kestrel
