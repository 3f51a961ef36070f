// A normal kernel with correlations as a sum of normal kernels without them.
#ifndef KESTREL_CORE_QUERY_NORMAL_MIXTURE_HPP
#define KESTREL_CORE_QUERY_NORMAL_MIXTURE_HPP

#include <cstddef>
#include <vector>

#include "core/base/span.hpp"

namespace kestrel {

/// The normal density with covariance H is the convolution of those with D and H - D, where D =
/// lambda diag(H) and lambda is the smallest eigenvalue of H's correlation matrix. The trapezoid
/// rule sums the second one along each eigenvector of the correlation, whose eigenvalue is lambda +
/// delta. By Poisson's formula that multiplies the density by 1 + 2 sum_k exp(-2 pi^2 k^2 s^2 /
/// step^2) cos(.), s^2 = delta lambda / (delta + lambda). The relative change is at most 2 exp(-2
/// pi^2 s^2 / step^2), here 1e-13 for each eigenvector. The terms left out have another 1e-13 of
/// the mass.
///
/// Term t is weight[t] times the kernel with bandwidths h (d of them), its centre moved by shift[t
/// * d + k] h[k]. Weights sum to one. A diagonal H is one term.
struct NormalMixture {
  /// root: lower Cholesky factor of H, d*d column-major. O(d^3 + terms d). Throws error(input) for
  /// more terms than kMaxTerms.
  NormalMixture(std::size_t d, Span<const double> root);

  std::vector<double> h, shift, weight;
};

constexpr double kMaxTerms = 1e5;

/// The number of terms for H; infinity for more than kMaxTerms. O(d^3 + kMaxTerms d).
double normal_mixture_terms(std::size_t d, Span<const double> root);

}  // namespace kestrel

#endif
