// What a tile of a sum with a bandwidth for each sample is made of: polynomials in integers, and
// sums in two doubles.
#ifndef KESTREL_CORE_SCANLINE_VARIABLE_CELLS_HPP
#define KESTREL_CORE_SCANLINE_VARIABLE_CELLS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/wide_integer.hpp"

namespace kestrel {

/// Points of a run that are summed at a time.
constexpr std::size_t kRunTerms = 8;

/// The polynomial p + q t - a t^2 of one or more samples; t counts from the first point of a tile.
struct RunPolynomial {
  WideInteger p, q, a;

  void add(const RunPolynomial& other) {
    p += other.p;
    q += other.q;
    a += other.a;
  }
  RunPolynomial operator-() const { return {-p, -q, -a}; }
  /// The value `by` after t.
  double value(std::int64_t t, double by) const {
    const WideInteger along = -a.times(t);
    WideInteger slope = q;
    slope += along;
    WideInteger sum = slope.times(t);
    sum += p;
    if (by == 0) return sum.rounded();
    slope += along;
    return sum.rounded() + by * (slope.rounded() - a.rounded() * by);
  }
};

/// Sums of numbers in two parts, so that they do not depend on how many there are.
struct TwoPartSums {
  std::vector<double> high, low;

  void clear(std::size_t count) {
    high.assign(count, 0.0);
    low.assign(count, 0.0);
  }
  /// Knuth (1998, 4.2.2, theorem B).
  void add(std::size_t i, double term) {
    const double before = high[i], sum = before + term, back = sum - before;
    high[i] = sum;
    low[i] += (before - (sum - back)) + (term - back);
  }
  /// Loops of a fixed length, which compilers turn into vectors.
  void add_terms(std::size_t first, const double* terms) {
    double *to = high.data() + first, *rest = low.data() + first;
    double sums[kRunTerms], lost[kRunTerms];
    for (std::size_t i = 0; i < kRunTerms; ++i) {
      const double before = to[i], sum = before + terms[i], back = sum - before;
      sums[i] = sum;
      lost[i] = rest[i] + ((before - (sum - back)) + (terms[i] - back));
    }
    std::copy(sums, sums + kRunTerms, to);
    std::copy(lost, lost + kRunTerms, rest);
  }
};

}  // namespace kestrel

#endif
