#include "core/leave_one_out/line_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/mixed/mixed_parts.hpp"
#include "core/regression/local_sums.hpp"

namespace kestrel {

namespace {

/// The logarithm of sum_j exp(-u_j^2 / 2), j != i, and its derivative by log(h).
struct LogSum {
  double value, by_log_h;
};

/// Where the nearest observation is so far away that the kernel is no normal number, which local
/// sums do not count, or with few digits. Terms below 1e-20 of its own are left out.
LogSum far_sum(const SortedSample& line, std::size_t i, double h) {
  const double* x = line.x();
  const std::size_t n = line.size();
  const double left = i > 0 ? x[i] - x[i - 1] : HUGE_VAL;
  const double right = i + 1 < n ? x[i + 1] - x[i] : HUGE_VAL;
  const double nearest = std::min(left, right) / h;
  constexpr double kSmall = 47;  // exp(-47) < 1e-20
  double sum = 0, squares = 0;
  const auto add = [&](std::size_t j) {
    const double u = (x[j] - x[i]) / h, below = 0.5 * (u - nearest) * (u + nearest);
    if (std::fabs(u) > nearest && below > kSmall) return false;
    const double term = std::exp(-below);
    sum += term;
    squares += term * u * u;
    return true;
  };
  for (std::size_t j = i; j > 0 && add(j - 1); --j) continue;
  for (std::size_t j = i + 1; j < n && add(j); ++j) continue;
  return {std::log(sum) - 0.5 * nearest * nearest, squares / sum};
}

}  // namespace

MixedCriterion line_log_likelihood(const LocalSource& source, double h, bool gradient,
                                   const RunOptions& options) {
  const SortedSample& line = source.sample();
  LocalKernel kernel{Kernel::gaussian, h, gradient};  // the sums of local lines have s_2
  source.prepare_gaussian(h, kernel.order, 0.0, options);
  const double log_constant = -std::log(h) - 0.5 * std::log(2 * kPi);
  const double log_others = std::log(static_cast<double>(line.size()) - 1);
  std::vector<MixedSums> parts(local_slots(line, line));
  const auto take = [&](const LocalSums& sums, int) {
    MixedSums& part = parts[sums.slot()];
    part.by.resize(gradient ? 1 : 0);
    for (std::size_t i = sums.begin(); i < sums.begin() + sums.count(); ++i) {
      const double s0 = sums.s(0, i);
      LogSum found{std::log(s0) + std::log(sums.scale(i)), gradient ? sums.s(2, i) / s0 : 0.0};
      if (!(s0 > 0) || !std::isnormal(sums.scale(i))) found = far_sum(line, i, h);
      const double value = found.value + log_constant;
      if (!(value >= kLogLeastDensity)) {
        part.value += kLogLeastDensity;
        ++part.unsupported;
        continue;
      }
      part.value += value - log_others;
      if (gradient) part.by[0] += found.by_log_h - 1;
    }
  };
  local_sums(source, line, kernel, 1, Anchors::edges, options, take);
  return mean_of(parts, gradient ? 1 : 0, 1.0);
}

}  // namespace kestrel
