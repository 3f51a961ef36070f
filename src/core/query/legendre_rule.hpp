// Gauss-Legendre quadrature rules.
#ifndef KESTREL_CORE_QUERY_LEGENDRE_RULE_HPP
#define KESTREL_CORE_QUERY_LEGENDRE_RULE_HPP

#include <vector>

namespace kestrel {

/// Nodes and weights on [-1, 1], exact for polynomials of degree 2 size - 1 (Abramowitz & Stegun
/// 1964, 25.4.29). O(size^2).
struct LegendreRule {
  explicit LegendreRule(int size);

  std::vector<double> node, weight;
};

}  // namespace kestrel

#endif
