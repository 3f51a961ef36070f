#include "core/query/normal_mixture.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The steps of a lattice along some eigenvectors of the correlation.
struct Lattice {
  VectorXd size;      // standard deviations of the variables
  double lambda = 1;  // the smallest eigenvalue
  MatrixXd vectors;   // d * number of directions
  VectorXd delta, step;
  double reach2 = 0;  // terms beyond this squared distance, in standard deviations, are left out
};

/// Calls visit(index, distance2) for the terms within reach until it returns false; `index` is
/// their position on the lattice, the first direction fastest. O(d) a term, since terms out of
/// reach are not visited.
template <class Visit>
bool each_term(const Lattice& lattice, Eigen::Index direction, double distance2, VectorXd& index,
               const Visit& visit) {
  if (direction < 0) return visit(index, distance2);
  const double step = lattice.step[direction], delta = lattice.delta[direction];
  const double left = std::max(lattice.reach2 - distance2, 0.0);
  const double max = std::floor(std::sqrt(left * delta) / step);
  for (double at = -max; at <= max; ++at) {
    index[direction] = at;
    const double sum = distance2 + at * step * at * step / delta;
    if (!each_term(lattice, direction - 1, sum, index, visit)) return false;
  }
  return true;
}
template <class Visit>
bool each_term(const Lattice& lattice, const Visit& visit) {
  VectorXd index = VectorXd::Zero(lattice.delta.size());
  return each_term(lattice, lattice.delta.size() - 1, 0.0, index, visit);
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
  const Eigen::Index n = static_cast<Eigen::Index>(d);
  MatrixXd lower = Eigen::Map<const MatrixXd>(root.data, n, n).triangularView<Eigen::Lower>();
  Lattice lattice;
  lattice.size = lower.rowwise().norm();
  lower = lattice.size.cwiseInverse().asDiagonal() * lower;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(lower.lazyProduct(lower.transpose()));
  lattice.lambda = solver.eigenvalues()[0];
  std::vector<Eigen::Index> wide;
  for (Eigen::Index k = 0; k < n; ++k) {
    if (solver.eigenvalues()[k] - lattice.lambda > 1e-15) wide.push_back(k);
  }
  const Eigen::Index directions = static_cast<Eigen::Index>(wide.size());
  lattice.vectors.resize(n, directions);
  lattice.delta.resize(directions);
  for (Eigen::Index k = 0; k < directions; ++k) {
    lattice.vectors.col(k) = solver.eigenvectors().col(wide[static_cast<std::size_t>(k)]);
    lattice.delta[k] = solver.eigenvalues()[wide[static_cast<std::size_t>(k)]] - lattice.lambda;
  }
  const auto& delta = lattice.delta.array();
  // The step for which 2 exp(-2 pi^2 s^2 / step^2) = 1e-13.
  lattice.step =
      kPi * (2 * delta * lattice.lambda / (delta + lattice.lambda) / std::log(2e13)).sqrt();
  lattice.reach2 = directions == 0 ? 0 : chi_squared_reach(static_cast<int>(directions));
  return lattice;
}

}  // namespace

double normal_mixture_terms(std::size_t d, Span<const double> root) {
  if (is_diagonal(d, root)) return 1;
  const Lattice lattice = find_lattice(d, root);
  // Without a positive eigenvalue in double precision no step is possible.
  if (!(lattice.lambda > 0) || !(lattice.step.array() > 0).all()) return HUGE_VAL;
  double terms = 0;
  const bool all =
      each_term(lattice, [&](const VectorXd&, double) { return ++terms <= kMaxTerms; });
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
    h.push_back(lattice.size[static_cast<Eigen::Index>(k)] * narrow);
  }
  double total = 0;
  each_term(lattice, [&](const VectorXd& index, double distance2) {
    weight.push_back(std::exp(-distance2 / 2));
    total += weight.back();
    const VectorXd moved = lattice.vectors.lazyProduct(index.cwiseProduct(lattice.step)) / narrow;
    shift.insert(shift.end(), moved.data(), moved.data() + moved.size());
    return true;
  });
  for (double& share : weight) share /= total;
}

}  // namespace kestrel
