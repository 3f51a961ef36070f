#include "core/fourier/smooth.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/base/aligned_buffer.hpp"
#include "core/fourier/rows.hpp"

namespace kestrel {

void smooth_modes(const FourierGeometry& geometry, const FourierWindow& window, const Form3& h,
                  int windows, const ParallelOptions& options, double* cells) {
  const TransformBox& box = geometry.box;
  std::array<std::vector<double>, 3> unspread;
  double volume = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    if (box.cells[a] > 1) volume *= geometry.period[a];
    for (std::size_t k = 0; k <= box.max[a]; ++k) {
      const double f = static_cast<double>(k) / static_cast<double>(box.cells[a]);
      const double transform = box.cells[a] == 1 ? 1.0 : window.transform(f);
      unspread[a].push_back(1 / (windows == 1 ? transform : transform * transform));
    }
  }
  const GaussianOfRows rows(h, geometry);
  const std::size_t columns = 2 * box.max[1] + 1, length = box.max[2] + 1;
  const std::size_t lines = (2 * box.max[0] + 1) * columns;
  std::vector<AlignedBuffer> scratch(parallel_workers(lines, options));
  parallel_for(lines, options, [&](std::size_t r, int worker) {
    AlignedBuffer& gaussian = scratch[static_cast<std::size_t>(worker)];
    if (gaussian.data() == nullptr) gaussian.resize(length + kRowPadding);
    const std::ptrdiff_t k0 =
        static_cast<std::ptrdiff_t>(r / columns) - static_cast<std::ptrdiff_t>(box.max[0]);
    const std::ptrdiff_t k1 =
        static_cast<std::ptrdiff_t>(r % columns) - static_cast<std::ptrdiff_t>(box.max[1]);
    rows.fill(k0, k1, length, gaussian.data());
    const double scale = unspread[0][static_cast<std::size_t>(std::abs(k0))] *
                         unspread[1][static_cast<std::size_t>(std::abs(k1))] / volume;
    double* mode = cells + box.row(box.cell_of_mode(0, k0), box.cell_of_mode(1, k1));
    for (std::size_t k = 0; k < length; ++k) {
      const double factor = scale * unspread[2][k] * gaussian.data()[k];
      mode[2 * k] *= factor;
      mode[2 * k + 1] *= factor;
    }
  });
}

}  // namespace kestrel
