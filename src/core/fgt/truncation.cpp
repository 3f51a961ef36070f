#include "core/fgt/truncation.hpp"

#include <algorithm>
#include <cmath>

#include "core/fgt/cell_moments.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

/// phi^(order)(u).
double derivative(double u, int order) {
  double all[kHighestPairOrder + 1];
  scaled_derivatives(u, 1.0, order + 1, all);
  return all[order];
}

}  // namespace

PairTruncation::PairTruncation(int order_) : order(order_) {
  // The first zero of He_10 is at 0.48, that of He_8 at 0.54: narrower cells stay clear of it.
  halvings = order == kHighestPairOrder ? 2 : 1;
  const double rho = std::ldexp(1.0, -halvings);
  min = std::min(std::fabs(derivative(0.0, order)), std::fabs(derivative(rho, order)));
  // The error of one pair times 1 + 2 sum_l exp(-max(0, (l-1) rho)^2 / 4) covers all lags.
  taylor = 0.1 * kPairTolerance * min / (3 + 2 * std::sqrt(kPi) / rho);
  moments = moments_of(0);
  while (std::fabs(derivative(reach, order)) * 4 / rho > 0.01 * kPairTolerance * min) {
    reach += 0.25;
  }
}

int PairTruncation::moments_of(int halved) const {
  const double rho = std::ldexp(1.0, -halvings - halved);
  int enough = 4;
  while (enough < kMaxMoments && taylor_error(rho, order, enough) > taylor) enough += 4;
  return enough;
}

}  // namespace kestrel
