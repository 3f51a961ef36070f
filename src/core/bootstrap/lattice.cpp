#include "core/bootstrap/lattice.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

/// In bandwidths: beyond it the kernel is below 3e-18 of its largest value, and its distribution
/// function within 1e-19 of 0 or 1.
constexpr double kReach = 9;

double kernel_value(const LatticeEstimate& estimate, double distance) {
  double value = 0;
  for (std::size_t t = 0; t < estimate.h.size; ++t) {
    const double h = estimate.h[t], u = distance / h;
    if (estimate.order < 0) {
      value += estimate.factor[t] * 0.5 * std::erfc(-u * std::sqrt(0.5));
      continue;
    }
    const double density = std::exp(-0.5 * u * u) / (h * std::sqrt(2 * kPi));
    value += estimate.factor[t] * (estimate.order == 0 ? density : -u / h * density);
  }
  return value;
}

}  // namespace

void lattice_replicates(const Multinomial& cells, const LatticeKernels& kernels,
                        const LatticeEstimate& estimate, Span<const double> points, double size,
                        std::uint64_t key, std::size_t replicates, const RunOptions& options,
                        Span<double> out) {
  const std::size_t columns = replicates + 1, nodes = kernels.position.size;
  // [cell * columns + replicate]; the first column has the expectation.
  std::vector<double> counts(cells.cells() * columns);
  for (std::size_t i = 0; i < cells.cells(); ++i) counts[i * columns] = size * cells.share(i);
  parallel_for(replicates, part_of(options.parallel, 0, 0.5), [&](std::size_t b, int) {
    cells.draw(size, key, static_cast<std::uint32_t>(b), &counts[b + 1], columns);
  });
  const auto row_of = [&](std::size_t node) {
    return &counts[static_cast<std::size_t>(kernels.cell[node]) * columns];
  };
  // Distribution functions: before[node * columns + b] is the number before each node.
  std::vector<double> before;
  double all = 0;
  for (const double factor : estimate.factor) all += factor;
  if (estimate.order < 0) {
    before.assign((nodes + 1) * columns, 0.0);
    serial_for(nodes, options.parallel, [&](std::size_t node) {
      const double *row = row_of(node), *from = &before[node * columns];
      double* to = &before[(node + 1) * columns];
      for (std::size_t b = 0; b < columns; ++b) to[b] = from[b] + row[b];
    });
  }
  const double reach = kReach * *std::max_element(estimate.h.begin(), estimate.h.end());
  const double *begin = kernels.position.begin(), *end = kernels.position.end();
  parallel_for(points.size, part_of(options.parallel, 0.5, 1), [&](std::size_t k, int) {
    const double x = points[k];
    const auto index = [&](double limit) {
      return static_cast<std::size_t>(std::lower_bound(begin, end, limit) - begin);
    };
    const std::size_t first = index(x - reach), last = index(x + reach);
    std::vector<double> sum(columns, 0.0);
    if (estimate.order < 0) {
      for (std::size_t b = 0; b < columns; ++b) sum[b] = all * before[first * columns + b];
    }
    for (std::size_t node = first; node < last; ++node) {
      const double value = kernel_value(estimate, x - begin[node]);
      const double* row = row_of(node);
      for (std::size_t b = 0; b < columns; ++b) sum[b] += value * row[b];
    }
    for (std::size_t b = 0; b < columns; ++b) out[b * points.size + k] = sum[b] / size;
  });
}

}  // namespace kestrel
