#include "core/kernel/root.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/two_part.hpp"

namespace kestrel {

std::vector<double> lower_root(Span<const double> H, std::size_t d) {
  // In units, powers of two, in which every variance is about one.
  std::vector<int> unit(d);
  for (std::size_t k = 0; k < d; ++k) {
    if (!(H[k * d + k] > 0) || !std::isfinite(H[k * d + k])) return {};
    unit[k] = std::ilogb(H[k * d + k]) / 2;
  }
  std::vector<TwoPart> exact(d * d);
  std::vector<double> root(d * d, 0.0);
  for (std::size_t l = 0; l < d; ++l) {
    for (std::size_t k = l; k < d; ++k) {
      TwoPart rest{std::ldexp(std::ldexp(H[l * d + k], -unit[l]), -unit[k]), 0};
      for (std::size_t m = 0; m < l; ++m) rest = rest - exact[m * d + k] * exact[m * d + l];
      if (k == l && !(rest.high > 0)) return {};
      exact[l * d + k] = k == l ? square_root(rest) : rest / exact[l * d + l];
      root[l * d + k] = std::ldexp(exact[l * d + k].high, unit[k]);
      if (!std::isfinite(root[l * d + k])) return {};
    }
  }
  return root;
}

std::vector<double> definite_root(Span<const double> H, std::size_t d) {
  std::vector<double> root = lower_root(H, d);
  if (root.empty()) throw error(ErrorKind::input, "a bandwidth matrix must be positive definite");
  return root;
}

std::vector<double> inverse_of_root(Span<const double> root, std::size_t d) {
  std::vector<double> inverse(d * d, 0.0);
  for (std::size_t l = 0; l < d; ++l) {
    for (std::size_t k = l; k < d; ++k) {
      double rest = k == l ? 1 : 0;
      for (std::size_t m = l; m < k; ++m) rest -= root[m * d + k] * inverse[l * d + m];
      inverse[l * d + k] = rest / root[k * d + k];
    }
  }
  return inverse;
}

double root_condition(Span<const double> root, std::size_t d) {
  // Row k of L^-1 by back substitution of y L = e_k.
  std::vector<long double> row(d);
  long double max = 1;
  for (std::size_t k = 0; k < d; ++k) {
    long double all = 0;
    for (std::size_t m = k + 1; m-- > 0;) {
      long double sum = m == k ? 1 : 0;
      for (std::size_t i = m + 1; i <= k; ++i) sum -= row[i] * root[m * d + i];
      row[m] = sum / root[m * d + m];
      for (std::size_t l = 0; l <= m; ++l) all += std::fabs(row[m] * root[l * d + m]);
    }
    max = std::max(max, all);
  }
  return static_cast<double>(max);
}

double root_rounding(Span<const double> root, std::size_t d) {
  const double condition = root_condition(root, d);
  return condition > 1 ? 0x1p-51 * condition : 0.0;
}

}  // namespace kestrel
