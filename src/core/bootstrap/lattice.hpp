// The smoothed bootstrap on the line with Gaussian kernels, for many replicates at once.
#ifndef KESTREL_CORE_BOOTSTRAP_LATTICE_HPP
#define KESTREL_CORE_BOOTSTRAP_LATTICE_HPP

#include <cstddef>
#include <cstdint>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/bootstrap/multinomial.hpp"

namespace kestrel {

/// Where the kernels of the cells are: `position`, increasing, and the cell of each. A cell has
/// several positions where its kernel is reflected or repeated.
struct LatticeKernels {
  Span<const double> position;
  Span<const int> cell;
};

/// What is computed of a sample with counts N_l at positions u_l: the derivative of this order of
/// sum_l N_l sum_t c_t K((x - u_l) / h_t) / h_t / size for the normal density K. The order is 0 or
/// 1, or -1 for the distribution function.
struct LatticeEstimate {
  Span<const double> factor, h;
  int order;
};

/// Estimates at points from `replicates` samples of `size` draws from the cells. out: a row for
/// each point, column-major; the first column is their expectation, the others are those of the
/// replicates.
///
/// Samples from a kernel estimate f of bandwidth h0 may be replaced by samples from the points of a
/// lattice with steps s, with probabilities proportional to f there. An expectation of a product of
/// r kernels of bandwidth h is the integral of f and the product, and on the lattice the trapezoid
/// rule of it. The integrand is a sum of Gaussians of variance v = 1 / (1 / h0^2 + r / h^2), and
/// the rule's error is 2 exp(-2 pi^2 v / s^2) of it (Trefethen & Weideman 2014, section 5). For
/// h0 = h and s = h / 8 that is below 2e-15 for r up to 35: so all moments of the estimates, of
/// orders up to 35 and at any points, are those of the smoothed bootstrap.
///
/// O(cells) draws and O(points cells within reach) sums a replicate. The same bits for every number
/// of threads and every instruction set. Memory: cells times replicates numbers.
void lattice_replicates(const Multinomial& cells, const LatticeKernels& kernels,
                        const LatticeEstimate& estimate, Span<const double> points, double size,
                        std::uint64_t key, std::size_t replicates, const RunOptions& options,
                        Span<double> out);

}  // namespace kestrel

#endif
