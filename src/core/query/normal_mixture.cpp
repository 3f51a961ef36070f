#include "core/query/normal_mixture.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/small_matrix.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

/// The steps of a lattice along some eigenvectors of the correlation.
struct Lattice {
  std::vector<double> size;    // standard deviations of the variables
  double lambda = 1;           // the smallest eigenvalue
  std::vector<double> vector;  // eigenvectors, one for each direction, after each other
  std::vector<double> delta, step;
  double reach2 = 0;  // terms beyond this squared distance, in standard deviations, are left out

  std::size_t directions() const { return delta.size(); }
};

/// Calls visit(index, distance2) for the terms within reach until it returns false; `index` is
/// their position on the lattice, the first direction fastest. O(d) a term, since terms out of
/// reach are not visited. `open`: the directions of which the position is still open.
template <class Visit>
bool each_term(const Lattice& lattice, std::size_t open, double distance2,
               std::vector<double>& index, const Visit& visit) {
  if (open == 0) return visit(index, distance2);
  const double step = lattice.step[open - 1], delta = lattice.delta[open - 1];
  const double left = std::max(lattice.reach2 - distance2, 0.0);
  const double max = std::floor(std::sqrt(left * delta) / step);
  for (double at = -max; at <= max; ++at) {
    index[open - 1] = at;
    const double sum = distance2 + at * step * at * step / delta;
    if (!each_term(lattice, open - 1, sum, index, visit)) return false;
  }
  return true;
}
template <class Visit>
bool each_term(const Lattice& lattice, const Visit& visit) {
  std::vector<double> index(lattice.directions(), 0.0);
  return each_term(lattice, lattice.directions(), 0.0, index, visit);
}

/// P(chi squared with this many degrees of freedom > value) (Abramowitz & Stegun 1964, 26.4.4 and
/// 26.4.5).
double chi_squared_tail(int freedom, double value) {
  double tail = freedom % 2 == 0 ? std::exp(-value / 2) : std::erfc(std::sqrt(value / 2));
  double term =
      freedom % 2 == 0 ? std::exp(-value / 2) : std::sqrt(2 / (kPi * value)) * std::exp(-value / 2);
  for (int k = freedom % 2 == 0 ? 4 : 3; k <= freedom; k += 2) {
    term *= value / (k - 2);
    tail += term;
  }
  return tail;
}

/// The value at which that is 1e-13, by bisection.
double chi_squared_reach(int freedom) {
  double low = 1, high = 1e4;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (chi_squared_tail(freedom, middle) > 1e-13 ? low : high) = middle;
  }
  return high;
}

Lattice find_lattice(std::size_t d, Span<const double> root) {
  Lattice lattice;
  std::vector<double> lower(d * d, 0.0);
  for (std::size_t k = 0; k < d; ++k) {
    double square = 0;
    for (std::size_t l = 0; l <= k; ++l) square += root[l * d + k] * root[l * d + k];
    lattice.size.push_back(std::sqrt(square));
    for (std::size_t l = 0; l <= k; ++l) lower[l * d + k] = root[l * d + k] / lattice.size[k];
  }
  const SymmetricEigen correlation =
      symmetric_eigen(lower_times_transpose({lower.data(), lower.size()}, d), d);
  const double lambda = lattice.lambda = correlation.value[0];
  for (std::size_t k = 0; k < d; ++k) {
    const double delta = correlation.value[k] - lambda;
    if (!(delta > 1e-15)) continue;
    lattice.delta.push_back(delta);
    // For which 2 exp(-2 pi^2 s^2 / step^2) = 1e-13.
    lattice.step.push_back(kPi * std::sqrt(2 * delta * lambda / (delta + lambda) / std::log(2e13)));
    const auto first = correlation.vector.begin() + static_cast<std::ptrdiff_t>(k * d);
    lattice.vector.insert(lattice.vector.end(), first, first + static_cast<std::ptrdiff_t>(d));
  }
  const int directions = static_cast<int>(lattice.directions());
  lattice.reach2 = directions == 0 ? 0 : chi_squared_reach(directions);
  return lattice;
}

}  // namespace

double normal_mixture_terms(std::size_t d, Span<const double> root) {
  if (is_diagonal(d, root)) return 1;
  const Lattice lattice = find_lattice(d, root);
  // Without a positive eigenvalue in double precision no step is possible.
  if (!(lattice.lambda > 0)) return HUGE_VAL;
  for (const double step : lattice.step) {
    if (!(step > 0)) return HUGE_VAL;
  }
  double terms = 0;
  const bool all =
      each_term(lattice, [&](const std::vector<double>&, double) { return ++terms <= kMaxTerms; });
  return all ? terms : HUGE_VAL;
}

NormalMixture::NormalMixture(std::size_t d, Span<const double> root) {
  if (is_diagonal(d, root)) {
    for (std::size_t k = 0; k < d; ++k) h.push_back(root[k * d + k]);
    shift.assign(d, 0.0);
    weight.assign(1, 1.0);
    return;
  }
  if (normal_mixture_terms(d, root) > kMaxTerms) {
    throw error(ErrorKind::input,
                "the correlation of H takes more than 1e5 terms for each observation");
  }
  const Lattice lattice = find_lattice(d, root);
  const double narrow = std::sqrt(lattice.lambda);
  for (std::size_t k = 0; k < d; ++k) {
    h.push_back(lattice.size[k] * narrow);
  }
  double total = 0;
  each_term(lattice, [&](const std::vector<double>& index, double distance2) {
    weight.push_back(std::exp(-distance2 / 2));
    total += weight.back();
    for (std::size_t k = 0; k < d; ++k) {
      double moved = 0;
      for (std::size_t i = 0; i < index.size(); ++i) {
        moved += lattice.vector[i * d + k] * (index[i] * lattice.step[i]);
      }
      shift.push_back(moved / narrow);
    }
    return true;
  });
  for (double& share : weight) share /= total;
}

}  // namespace kestrel
