#include "core/base/summation.hpp"

namespace kestrel {

double pairwise_sum(const double* v, std::size_t n, std::size_t stride) {
  if (n <= 8) {
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += v[i * stride];
    return sum;
  }
  const std::size_t half = n / 2;
  return pairwise_sum(v, half, stride) + pairwise_sum(v + half * stride, n - half, stride);
}

}  // namespace kestrel
