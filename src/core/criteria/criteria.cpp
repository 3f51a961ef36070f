#include "core/criteria/criteria.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/kernel/root.hpp"

namespace kestrel {

namespace {

/// The factor of the cross sum.
double cross_factor(const PairSums& sums, LscvForm form) {
  const double share = sums.squared_share();
  if (!(share < 1)) {
    throw error(ErrorKind::input, "cross-validation needs two samples with positive weights");
  }
  return form == LscvForm::unbiased ? -2 / (1 - share) : -2;
}

/// (nabla^2)^order of the derivative `more`, from the values of all derivatives of its order.
double laplacian_of(const std::vector<double>& values, const std::vector<std::vector<int>>& index,
                    int order, const std::vector<int>& more) {
  double sum = 0;
  for (std::size_t t = 0; t < index.size(); ++t) {
    std::vector<int> rest = index[t];
    for (std::size_t k = 0; k < more.size(); ++k) rest[k] -= more[k];
    sum += laplacian_count(rest, order) * values[t];
  }
  return sum;
}

/// (-1)^r times the sum of (nabla^2)^r K_M, from sums of D^alpha K_M of each order, with the
/// gradient by M: dK_M = 1/2 tr(D^2 K_M dM).
template <class Derivatives>
SumWithGradient laplacian_sum(std::size_t d, int order, bool gradient,
                              const Derivatives& derivatives) {
  const double sign = order % 2 == 0 ? 1 : -1;
  SumWithGradient out;
  out.value = sign * laplacian_of(derivatives(2 * order), multi_indices(d, 2 * order), order,
                                  std::vector<int>(d, 0));
  if (!gradient) return out;
  const std::vector<double> values = derivatives(2 * order + 2);
  const std::vector<std::vector<int>> index = multi_indices(d, 2 * order + 2);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < d; ++l) {
      std::vector<int> more(d, 0);
      ++more[k];
      ++more[l];
      out.gradient.push_back(0.5 * sign * laplacian_of(values, index, order, more));
    }
  }
  return out;
}

/// Sums of (-1)^r (nabla^2)^r K_M for matrices M = share H + ..., with the gradient by H.
struct DerivativeSums {
  PairSums& sums;
  int order;
  bool gradient;
  const RunOptions& options;

  /// Over i != j.
  SumWithGradient pairs(const std::vector<double>& M, double share) const {
    return by_H(share, laplacian_sum(sums.d(), order, gradient, [&](int r) {
                  return sums.derivatives_at({M.data(), M.size()}, r, options);
                }));
  }
  /// Of one kernel, at 0.
  SumWithGradient at_zero(const std::vector<double>& M, double share) const {
    return by_H(share, laplacian_sum(sums.d(), order, gradient, [&](int r) {
                  return normal_derivatives_at({M.data(), M.size()}, sums.d(), r);
                }));
  }
  /// With i = j.
  SumWithGradient all(const std::vector<double>& M, double share) const {
    SumWithGradient value = pairs(M, share);
    add_multiple(sums.squared_share(), at_zero(M, share), &value);
    return value;
  }
  static SumWithGradient by_H(double share, SumWithGradient sum) {
    for (double& slope : sum.gradient) slope *= share;
    return sum;
  }
};

}  // namespace

SumWithGradient derivative_lscv(PairSums& sums, Span<const double> H, int order, bool gradient,
                                const RunOptions& options) {
  const double cross = cross_factor(sums, LscvForm::unbiased);
  const DerivativeSums of{sums, order, gradient, options};
  SumWithGradient value = of.all(combined(H, 2, H, 0), 2);
  add_multiple(cross, of.pairs({H.begin(), H.end()}, 1), &value);
  return value;
}

SumWithGradient derivative_scv(PairSums& sums, Span<const double> H, Span<const double> G,
                               int order, bool gradient, const RunOptions& options) {
  const DerivativeSums of{sums, order, gradient, options};
  SumWithGradient value = of.all(combined(H, 2, G, 2), 2);
  add_multiple(-2, of.all(combined(H, 1, G, 2), 1), &value);
  add_multiple(1, of.all(combined(H, 0, G, 2), 0), &value);
  add_multiple(sums.squared_share(), of.at_zero(combined(H, 2, H, 0), 2), &value);
  return value;
}

SumWithGradient lscv(PairSums& sums, Span<const double> H, LscvForm form, bool gradient,
                     const RunOptions& options) {
  const double cross = cross_factor(sums, form);
  // K_2H(0) = 2^(-d/2) K_H(0).
  const double roughness = std::pow(2.0, -0.5 * static_cast<double>(sums.d()));
  const SumWithGradient peak = normal_peak(H, sums.d(), gradient);
  const PairSums::Both both = sums.both(H, gradient, options);
  SumWithGradient value = both.convolution;
  add_multiple(sums.squared_share() * roughness, peak, &value);
  add_multiple(cross, both.kernel, &value);
  return value;
}

std::vector<double> lscv_curve(PairSums& sums, Span<const double> S, Span<const double> h,
                               Kernel kernel, LscvForm form, const RunOptions& options) {
  const double cross = cross_factor(sums, form);
  const std::size_t d = sums.d();
  const std::vector<double> root = definite_root(S, d);
  const PairCurve curve = sums.curve(S, h, kernel, options);
  std::vector<double> out;
  for (std::size_t k = 0; k < h.size; ++k) {
    // (K*K)(0) / (h^d |S|^(1/2)); in several dimensions the kernel is Gaussian, a product.
    ScaledNumber diagonal;
    for (std::size_t j = 0; j < d; ++j) {
      diagonal.multiply(line_roughness(kernel));
      diagonal.divide(root[j * d + j]);
      diagonal.divide(h[k]);
    }
    out.push_back(curve.convolution[k] + diagonal.times(sums.squared_share()) +
                  cross * curve.kernel[k]);
  }
  return out;
}

std::vector<SumWithGradient> scv(PairSums& sums, Span<const double> H, Span<const double> G,
                                 bool gradient, const RunOptions& options) {
  const std::size_t d = sums.d(), size = d * d;
  std::vector<SumWithGradient> out = sums.smoothed(H, G, gradient, options);
  // n_eff^-1 K_2H(0) = n_eff^-1 (4 pi)^(-d/2) |H|^(-1/2).
  const double variance = sums.squared_share() * std::pow(2.0, -0.5 * static_cast<double>(d));
  for (std::size_t m = 0; m < out.size(); ++m) {
    add_multiple(variance, normal_peak({H.data + m * size, size}, d, gradient), &out[m]);
  }
  return out;
}

std::vector<double> psi(PairSums& sums, double g, int order, const RunOptions& options) {
  std::vector<double> out = sums.derivatives(g, order, options);
  const std::vector<double> at_zero = normal_derivatives(sums.d(), g, order);
  for (std::size_t t = 0; t < out.size(); ++t) out[t] += sums.squared_share() * at_zero[t];
  return out;
}

std::vector<double> eta(PairSums& sums, Span<const double> g, int order,
                        const RunOptions& options) {
  std::vector<double> out = sums.laplacians(g, order, options);
  for (std::size_t k = 0; k < g.size; ++k) {
    out[k] += sums.squared_share() * normal_laplacian(sums.d(), g[k], order);
  }
  return out;
}

}  // namespace kestrel
