#include "core/direct/derivatives.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.hpp"
#include "core/direct/block_sums.hpp"

namespace kestrel {

namespace {

/// Blocks are narrow. Rounded coordinates move samples, and derivatives are more sensitive to that
/// than the sum itself.
constexpr double kDerivativeRadius = kBlockRadius / 8;

struct MomentLeaf {
  simd::Monomials monomials;
  std::size_t values;

  void add(const TileKernel& kernel, Workspace& workspace, std::size_t stride,
           double* total) const {
    const simd::Block block = workspace.block();
    const double one = 1.0;
    std::vector<double> sum(values);
    for (std::size_t i = 0; i < block.count; ++i) {
      std::fill(sum.begin(), sum.end(), 0.0);
      const simd::Block point{block.coordinate + i, &one, block.stride, 1};
      kernel.table().direct->moments(workspace.tile(), point, workspace.parameters(kernel),
                                     monomials, sum.data());
      for (std::size_t t = 0; t < values; ++t) total[t * stride + i] += sum[t];
    }
  }
};

}  // namespace

namespace {

/// Calls take(point, sums) with the sums of direct_moments() for every point, one after the other.
template <class Take>
void each_moments(const MatrixView& x, Weights w, const EvaluationPoints& points,
                  Span<const double> root, const Monomials& all, const RunOptions& options,
                  const Take& take) {
  const TileKernel kernel(*options.table, {}, x.cols, root);
  const simd::Monomials monomials{all.size(), all.parent().data(), all.axis().data()};
  const std::vector<double> unit = moment_units(all);
  std::vector<double> sums(all.size());
  BlockSums<MomentLeaf>(x, w, points, kernel, options, kDerivativeRadius, {monomials, all.size()},
                        3 * x.cols + 4 * all.size(), all.size())
      .run([&](std::size_t point, const auto& sum) {
        for (std::size_t t = 0; t < all.size(); ++t) sums[t] = sum(t) * unit[t];
        take(point, sums.data());
      });
}

}  // namespace

std::vector<double> moment_units(const Monomials& monomials) {
  std::vector<double> unit;
  for (std::size_t t = 0; t < monomials.size(); ++t) {
    unit.push_back(std::pow(gaussian_unit(), -monomials.degree(t)));
  }
  return unit;
}

void direct_moments(const MatrixView& x, Weights w, const EvaluationPoints& points,
                    Span<const double> root, int degree, const RunOptions& options,
                    Span<double> out) {
  check_derivative(degree);
  const Monomials all(x.cols, degree);
  const std::size_t m = points.size();
  if (out.size != m * all.size()) throw error(ErrorKind::internal, "output of a wrong size");
  check_density_sizes(x, w, points, root, {out.data, m});
  each_moments(x, w, points, root, all, options, [&](std::size_t point, const double* sums) {
    for (std::size_t t = 0; t < all.size(); ++t) out[t * m + point] = sums[t];
  });
}

void direct_derivatives(const MatrixView& x, Weights w, const EvaluationPoints& points,
                        Span<const double> root, int order, const RunOptions& options,
                        Span<double> out) {
  const std::size_t d = x.cols, m = points.size(), of_order = derivative_count(d, order);
  if (out.size != m * of_order) throw error(ErrorKind::internal, "output of a wrong size");
  check_density_sizes(x, w, points, root, {out.data, m});
  const ScaledNumber scale = kernel_scale({}, d, root);
  const DerivativeMap map(d, order, root);
  std::vector<double> derivative(of_order);
  each_moments(x, w, points, root, map.monomials(), options,
               [&](std::size_t point, const double* sums) {
                 map.apply(sums, derivative.data());
                 for (std::size_t t = 0; t < of_order; ++t) {
                   out[t * m + point] = scale.times(derivative[t]);
                 }
               });
}

}  // namespace kestrel
