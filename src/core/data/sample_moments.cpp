#include "core/data/sample_moments.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

std::vector<double> sample_covariance(const MatrixView& x, Span<const double> p,
                                      Span<double> centred, const ParallelOptions& options) {
  const std::size_t n = x.rows, d = x.cols;
  check_weight_count(n, p.size);
  if (centred.size != n * d) throw error(ErrorKind::internal, "centred sample of a wrong size");
  std::copy(x.data, x.data + n * d, centred.begin());
  for (std::size_t k = 0; k < d; ++k) {
    double* value = centred.data + k * n;
    for (int pass = 0; pass < 2; ++pass) {
      poll_if_due(options);
      long double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += p[i] * value[i];
      const double mean = static_cast<double>(sum);
      for (std::size_t i = 0; i < n; ++i) value[i] -= mean;
    }
  }
  std::vector<double> covariance(d * d);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      poll_if_due(options);
      const double *a = centred.data + k * n, *b = centred.data + l * n;
      long double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += static_cast<long double>(p[i]) * a[i] * b[i];
      covariance[k * d + l] = covariance[l * d + k] = static_cast<double>(sum);
    }
  }
  return covariance;
}

}  // namespace kestrel
