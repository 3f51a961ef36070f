#include "gpu/derivatives.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.hpp"
#include "core/direct/derivatives.hpp"
#include "core/kernel/derivative.hpp"
#include "gpu/cost.hpp"
#include "gpu/device_sums.hpp"
#include "gpu/reach.hpp"

namespace kestrel {

namespace {

static_assert(KESTREL_GPU_MOMENT_DEGREE == kHighestDerivative, "every derivative is a moment");

/// Derivatives are more sensitive to the rounding of coordinates than the sum itself, so that
/// points share a centre within a smaller reach than gpu_reach(): 7e-15 of a bandwidth.
constexpr double kDerivativeReach = 64;

/// The factors of each monomial, row r of them for factor r; d stands for one.
std::vector<int> factors_of(const Monomials& monomials, std::size_t d, int degree) {
  const std::size_t count = monomials.size();
  std::vector<int> factor(count * static_cast<std::size_t>(degree), static_cast<int>(d));
  for (std::size_t t = 0; t < count; ++t) {
    std::size_t row = 0;
    for (std::size_t k = 0; k < d; ++k) {
      for (int r = 0; r < monomials.exponent(t)[k]; ++r) {
        factor[row++ * count + t] = static_cast<int>(k);
      }
    }
  }
  return factor;
}

/// Moments that a block of the device sums of each point, see cuda/direct/moments.cuh.
constexpr double kMomentsOfBlock = 16;

/// Picoseconds that each such group takes for a pair: the exponential, a variable, and a factor.
/// Fits to an H100, n = m = 65,536, within a fifth: 9.3, 12.6 and 20.6 for d = 1 and orders 1, 2
/// and 4, 10.8, 14.5 and 23.3 for d = 2, 17.8 for d = 4 and order 2, and 41.5 for d = 6 (two
/// groups). Of 1001 moments (d = 10, order 4) half of the time, 3900, is the host's, which makes
/// the derivatives of them on one thread and is not counted.
constexpr double kExponentialPs = 2, kVariablePs = 0.9, kFactorPs = 3.5;

double derivative_picoseconds(std::size_t d, int order, std::size_t moments) {
  const double groups = std::ceil(static_cast<double>(moments) / kMomentsOfBlock);
  return groups * (kExponentialPs + kVariablePs * static_cast<double>(d) +
                   kFactorPs * (std::max(1, order) + 1));
}

}  // namespace

void gpu_derivatives(const MatrixView& x, Weights w, const EvaluationPoints& points,
                     Span<const double> root, int order, const RunOptions& options,
                     Span<double> out) {
  const std::size_t d = x.cols, m = points.size(), of_order = derivative_count(d, order);
  if (out.size != m * of_order) throw error(ErrorKind::internal, "output of a wrong size");
  check_density_sizes(x, w, points, root, {out.data, m});
  const ScaledNumber scale = kernel_scale({}, d, root);
  const DerivativeMap map(d, order, root);
  const Monomials& monomials = map.monomials();
  const TileKernel kernel(*options.table, {}, d, root);
  const int degree = std::max(1, order);
  const std::vector<int> factor = factors_of(monomials, d, degree);
  kestrel_gpu_kernel request{};
  request.leaf = KESTREL_GPU_gaussian;
  request.root = kernel.parameters(nullptr).root;
  request.moments = monomials.size();
  request.degree = degree;
  request.factor = factor.data();
  const double reach = std::min(kDerivativeReach, gpu_reach(d, false));
  const double pairs = static_cast<double>(x.rows) * static_cast<double>(m);
  const std::size_t most = std::min(
      1 + kPointsAtOnce / monomials.size(),
      points_of_piece(m, 1e-12 * pairs * derivative_picoseconds(d, order, monomials.size())));
  const Pieces pieces = cut_pieces(points, kernel, false, reach, most, options.parallel);
  const std::vector<double> unit = moment_units(monomials);
  struct Scratch {
    std::vector<double> sums, derivative;
  };
  std::vector<Scratch> scratch(
      gpu_devices().size(), {std::vector<double>(monomials.size()), std::vector<double>(of_order)});
  std::fill(out.begin(), out.end(), 0.0);
  DeviceSums(kernel, reach, request)
      .run(x, w, points, pieces, options, [&](const PieceSums& piece) {
        std::vector<double>&sums = scratch[piece.place].sums,
        &derivative = scratch[piece.place].derivative;
        for (std::size_t i = 0; i < piece.count; ++i) {
          for (std::size_t t = 0; t < sums.size(); ++t) {
            sums[t] = piece.sum[t * piece.count + i] * unit[t];
          }
          map.apply(sums.data(), derivative.data());
          for (std::size_t t = 0; t < of_order; ++t) {
            out[t * m + piece.point(i)] += derivative[t];
          }
        }
      });
  scale_all(scale, part_of(options.parallel, 1, 1), out);
}

double gpu_derivative_seconds(double n, double m, std::size_t d, int order,
                              const kestrel_gpu_device& device) {
  const double picoseconds = derivative_picoseconds(d, order, Monomials(d, order).size());
  return 1e-12 * n * m * picoseconds * gpu_slowness(device, false);
}

}  // namespace kestrel
