#include "core/criteria/direct_pairs.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/base/error.hpp"
#include "core/data/sample_moments.hpp"
#include "core/direct/pairs.hpp"
#include "core/kernel/derivative.hpp"
#include "core/kernel/root.hpp"

namespace kestrel {

namespace {

/// The coefficients of He_r(u) by powers r, r - 2, ... of u: (-1/2)^j r! / (j! (r - 2j)!).
std::vector<double> hermite_coefficients(int r) {
  std::vector<double> coefficient{1.0};
  for (int j = 0; 2 * j + 2 <= r; ++j) {
    coefficient.push_back(coefficient.back() * -0.5 * (r - 2 * j) * (r - 2 * j - 1) / (j + 1));
  }
  return coefficient;
}

/// Sums of He_alpha(u) = prod_k He_(alpha_k)(u_k) from those of u^beta, for all multi-indices.
class HermiteSums {
 public:
  /// The sums of u^beta for every beta of even_multi_indices(d, order).
  HermiteSums(std::size_t d, int order, const std::vector<double>& moments)
      : index_(even_multi_indices(d, order)), moment_(moments) {
    for (int degree = 0; degree <= order; degree += 2) {
      const auto first = std::find_if(index_.begin(), index_.end(), [&](const auto& index) {
        return std::accumulate(index.begin(), index.end(), 0) == degree;
      });
      begin_.push_back(static_cast<std::size_t>(first - index_.begin()));
    }
    begin_.push_back(index_.size());
    for (int r = 0; r <= order; ++r) coefficient_.push_back(hermite_coefficients(r));
  }

  std::vector<double> of_highest_order() const {
    std::vector<double> out;
    for (std::size_t t = begin_[begin_.size() - 2]; t < index_.size(); ++t) {
      std::vector<int> rest = index_[t];
      out.push_back(sum_from(0, begin_.size() - 2, &rest));
    }
    return out;
  }

 private:
  /// The sum of He(u_k) over the axes from k on, times powers over those before; `half`: half of
  /// the degree of `rest`.
  double sum_from(std::size_t k, std::size_t half, std::vector<int>* rest) const {
    while (k < rest->size() && (*rest)[k] < 2) ++k;
    if (k == rest->size()) return moment_[place_of(*rest, half)];
    const int r = (*rest)[k];
    const std::vector<double>& coefficient = coefficient_[static_cast<std::size_t>(r)];
    double sum = 0;
    for (std::size_t j = 0; j < coefficient.size(); ++j) {
      (*rest)[k] = r - 2 * static_cast<int>(j);
      sum += coefficient[j] * sum_from(k + 1, half - j, rest);
    }
    (*rest)[k] = r;
    return sum;
  }

  /// Those of one degree are in descending order.
  std::size_t place_of(const std::vector<int>& index, std::size_t half) const {
    const auto from = index_.begin() + static_cast<std::ptrdiff_t>(begin_[half]),
               to = index_.begin() + static_cast<std::ptrdiff_t>(begin_[half + 1]);
    return static_cast<std::size_t>(
        std::lower_bound(from, to, index, std::greater<std::vector<int>>()) - index_.begin());
  }

  const std::vector<std::vector<int>> index_;
  const std::vector<double>& moment_;
  std::vector<std::size_t> begin_;  // of the degrees 0, 2, ...
  std::vector<std::vector<double>> coefficient_;
};

}  // namespace

DirectPairs::DirectPairs(const Sample& sample, Span<const double> axes, const SampleMean& mean,
                         const RunOptions& options)
    : PairSums(sample, options), x_(sample.x()), w_(sample.w()) {
  if (axes.size == 0) return;
  transformed_.resize(sample.n() * sample.d());
  transform_rows(sample.x(), mean, axes, {transformed_.data(), transformed_.size()},
                 part_of(options.parallel, 0, 0));
  x_.data = transformed_.data();
}

/// With S and its moments at L (core/direct/lscv.hpp): dS = tr(D dM) where D = 1/2 L^-T (share * U
/// - S I) L^-1 and U are the second moments in units of L.
SumWithGradient DirectPairs::with_gradient(const GaussianPairSums& sums, Span<const double> root,
                                           double share) const {
  SumWithGradient out;
  out.value = in_shares(sums.sum);
  if (sums.moments.empty()) return out;
  const std::size_t size = d();
  const std::vector<double> inverse = inverse_of_root(root, size);
  std::vector<double> half(size * size, 0.0);  // (share * U - S I) L^-1
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t l = 0; l < size; ++l) {
      double sum = -sums.sum * inverse[l * size + k];
      for (std::size_t m = l; m < size; ++m) {
        sum += share * sums.moments[m * size + k] * inverse[l * size + m];
      }
      half[l * size + k] = sum;
    }
  }
  out.gradient.assign(size * size, 0.0);
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t l = 0; l < size; ++l) {
      double sum = 0;
      for (std::size_t m = k; m < size; ++m) sum += inverse[k * size + m] * half[l * size + m];
      out.gradient[l * size + k] = in_shares(0.5 * sum);
    }
  }
  return out;
}

std::vector<SumWithGradient> DirectPairs::gaussian(Span<const double> matrices, bool gradient,
                                                   const RunOptions& options) {
  const std::size_t count = matrices_in(matrices), size = d() * d();
  std::vector<SumWithGradient> out;
  for (std::size_t m = 0; m < count; ++m) {
    const std::vector<double> root = definite_root({matrices.data + m * size, size}, d());
    const Span<const double> view{root.data(), size};
    out.push_back(with_gradient(gaussian_sums(view, gradient, options), view, 1));
  }
  return out;
}

PairSums::Both DirectPairs::both(Span<const double> H, bool gradient, const RunOptions& options) {
  const std::vector<double> root = definite_root(H, d());
  const Span<const double> view{root.data(), root.size()};
  const LscvPairSums sums = lscv_sums(view, gradient, options);
  return {with_gradient(sums.convolution, view, 0.5), with_gradient(sums.kernel, view, 1)};
}

PairCurve DirectPairs::curve(Span<const double> S, Span<const double> h, Kernel kernel,
                             const RunOptions& options) {
  if (kernel != Kernel::gaussian) {
    throw error(ErrorKind::internal, "direct sums over pairs take the Gaussian kernel");
  }
  const std::vector<double> root = definite_root(S, d());
  return in_shares(curve_sums({root.data(), root.size()}, h, options));
}

std::vector<double> DirectPairs::derivatives(double g, int order, const RunOptions& options) {
  // D^alpha phi_g = (-1)^order g^(-d - order) He_alpha(u) phi(u), u = x / g, and the order is even.
  const ScaledNumber scale = laplacian_scale(d(), g, order);
  const std::vector<double> moments = moment_sums(g, order, options);
  std::vector<double> out = HermiteSums(d(), order, moments).of_highest_order();
  for (double& sum : out) sum = scale.times(in_shares(sum));
  return out;
}

std::vector<double> DirectPairs::derivatives_at(Span<const double> M, int order,
                                                const RunOptions& options) {
  const std::vector<double> root = definite_root(M, d());
  const std::vector<double> inverse = inverse_of_root({root.data(), root.size()}, d());
  // In units u of L, M = L L', the kernel is that of g = 1. Sums of odd monomials cancel.
  std::vector<double> u(x_.rows * d());
  SampleMean origin;  // so that a far one costs no digits
  for (std::size_t k = 0; k < d(); ++k) {
    origin.first.push_back(x_(0, k));
    origin.second.push_back(0.0);
  }
  transform_rows(x_, origin, {inverse.data(), inverse.size()}, {u.data(), u.size()},
                 part_of(options.parallel, 0, 0));
  const std::vector<double> even =
      direct_pair_moments({u.data(), x_.rows, d()}, w_, 1, order, options);
  const DerivativeMap map(d(), order, {root.data(), root.size()});
  std::vector<double> sums(map.monomials().size(), 0.0), out(map.size());
  const std::vector<std::vector<int>> index = even_multi_indices(d(), order);
  for (std::size_t t = 0; t < index.size(); ++t) sums[map.monomials().number(index[t])] = even[t];
  map.apply(sums.data(), out.data());
  const ScaledNumber scale = kernel_scale({}, d(), {root.data(), root.size()});
  for (double& value : out) value = scale.times(in_shares(value));
  return out;
}

std::vector<double> DirectPairs::laplacians(Span<const double> g, int order,
                                            const RunOptions& options) {
  return in_shares(laplacian_sums(g, order, options));
}

LscvPairSums DirectPairs::lscv_sums(Span<const double> root, bool moments,
                                    const RunOptions& options) {
  return direct_lscv(x_, w_, root, moments, options);
}

GaussianPairSums DirectPairs::gaussian_sums(Span<const double> root, bool moments,
                                            const RunOptions& options) {
  if (moments) return direct_gaussian_moments(x_, w_, root, options);
  return {direct_pair_sum(x_, w_, {}, root, options), {}};
}

PairCurve DirectPairs::curve_sums(Span<const double> root, Span<const double> h,
                                  const RunOptions& options) {
  return direct_lscv_curve(x_, w_, root, h, options);
}

std::vector<double> DirectPairs::moment_sums(double g, int order, const RunOptions& options) {
  return direct_pair_moments(x_, w_, g, order, options);
}

std::vector<double> DirectPairs::laplacian_sums(Span<const double> g, int order,
                                                const RunOptions& options) {
  std::vector<double> out;
  for (const double one : g) out.push_back(direct_pair_laplacian(x_, w_, one, order, options));
  return out;
}

}  // namespace kestrel
