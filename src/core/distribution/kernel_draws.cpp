#include "core/distribution/kernel_draws.hpp"

#include <cmath>
#include <vector>

#include "core/base/error.hpp"
#include "core/data/passes.hpp"

namespace kestrel {

void radii_from_betas(const KernelRow& kernel, Span<double> betas, const ParallelOptions& options) {
  if (kernel.inner == 1) return;
  const double power = 1.0 / kernel.inner;
  pass_over(betas.size, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      betas[i] = kernel.inner == 2 ? std::sqrt(betas[i]) : std::pow(betas[i], power);
    }
  });
}

void scale_to_radii(Span<double> normal, Span<const double> radius, std::size_t d,
                    const ParallelOptions& options) {
  const bool each = radius.size == normal.size;
  const std::size_t columns = each ? 1 : d, n = normal.size / columns;
  if (radius.size != n) throw error(ErrorKind::internal, "radii of another number than draws");
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      long double squares = 0;
      for (std::size_t k = i; k < normal.size; k += n) squares += normal[k] * normal[k];
      const double length = std::sqrt(static_cast<double>(squares));
      for (std::size_t k = i; k < normal.size; k += n) normal[k] = normal[k] / length * radius[i];
    }
  });
}

void place_draws(const MatrixView& x, Span<const int> rows, Span<const double> root,
                 Span<double> draws, const ParallelOptions& options) {
  const std::size_t n = rows.size, d = x.cols;
  if (root.size != d * d || draws.size != n * d) {
    throw error(ErrorKind::internal, "draws of another size than their rows");
  }
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    std::vector<double> noise(d);
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t row = static_cast<std::size_t>(rows[i] - 1);
      for (std::size_t k = 0; k < d; ++k) noise[k] = draws[k * n + i];
      for (std::size_t k = 0; k < d; ++k) {
        double sum = 0;
        for (std::size_t l = 0; l < d; ++l) sum += noise[l] * root[l * d + k];
        draws[k * n + i] = x(row, k) + sum;
      }
    }
  });
}

}  // namespace kestrel
