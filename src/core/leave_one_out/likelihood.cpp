#include "core/leave_one_out/likelihood.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "core/data/passes.hpp"
#include "core/kernel/derivative.hpp"
#include "core/leave_one_out/line_likelihood.hpp"
#include "core/mixed/mixed_parts.hpp"
#include "core/plan/derivatives.hpp"
#include "core/plan/plan.hpp"

namespace kestrel {

namespace {

/// The largest error of the mean logarithm, and of the density of an observation that is not summed
/// pair by pair.
constexpr double kErrorOfMean = 1e-11, kErrorOfOne = 1e-6;

/// The leave-one-out sums of kernels, K(0) = 1, from the densities at the data (times n).
void leave_out(Span<double> sums, double peak, const ParallelOptions& options) {
  pass_over(sums.size, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) sums[i] = sums[i] / peak - 1;
  });
}

double largest(Span<const double> values, const ParallelOptions& options) {
  std::vector<double> most(parts_of_pass(values.size), 0.0);
  pass_over(values.size, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) most[part] = std::max(most[part], values[i]);
  });
  return *std::max_element(most.begin(), most.end());
}

/// The least leave-one-out sum whose logarithm may have the error of an engine. Sums are counted in
/// classes: from 2^-k to 2^(1-k) of the largest, their relative errors are at most 2^k times as
/// large. Errors are added from the class of the largest sums on.
double least_of_engine(Span<const double> sums, double most, const ParallelOptions& options) {
  constexpr int kClasses = 21;  // 2^-20 is about kErrorOfOne
  using Counts = std::array<double, kClasses>;
  std::vector<Counts> parts(parts_of_pass(sums.size), Counts{});
  pass_over(sums.size, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const int below = sums[i] > 0 ? std::max(0, -std::ilogb(sums[i] / most)) : kClasses;
      if (below < kClasses) parts[part][static_cast<std::size_t>(below)] += 1;
    }
  });
  // The largest sum with its own term has an error of kEngineError.
  const double unit = kEngineError * (most + 1) / most;
  double error = 0;
  for (int k = 0; k < kClasses; ++k) {
    double count = 0;
    for (const Counts& part : parts) count += part[static_cast<std::size_t>(k)];
    error += std::ldexp(count, k) * unit;
    const bool one = std::ldexp(unit, k) > kErrorOfOne;
    if (one || error > kErrorOfMean * static_cast<double>(sums.size)) {
      return std::ldexp(most, 1 - k);
    }
  }
  return std::ldexp(most, 1 - kClasses);
}

/// Second derivatives by each column, of the sums of kernels.
struct Curvatures {
  std::vector<double> unit;             // h^2 / K(0)
  std::vector<Span<const double>> sum;  // at the data
};

/// The sums over the observations that are not `apart`.
MixedCriterion near_sums(Span<const double> sums, Span<const char> apart, const Curvatures& by,
                         double log_constant, const ParallelOptions& options) {
  const std::size_t parameters = by.sum.size();
  std::vector<MixedSums> parts(parts_of_pass(sums.size));
  pass_over(sums.size, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    MixedSums& here = parts[part];
    here.by.assign(parameters, 0.0);
    for (std::size_t i = begin; i < end; ++i) {
      if (apart[i] != 0) continue;
      here.value += std::log(sums[i]) + log_constant;
      for (std::size_t k = 0; k < parameters; ++k) {
        // sum_j K(u) (u_k^2 - 1), without j = i, for which this is -1.
        here.by[k] += (by.sum[k][i] * by.unit[k] + 1) / sums[i];
      }
    }
  });
  return mean_of(parts, parameters, 1.0);
}

/// The likelihood of a task at its own observations, and that of those which are `apart` pair by
/// pair.
template <class PairByPair>
MixedCriterion by_engine(const DensityTask& task, const DensityPlan& plan,
                         const DerivativePlan* slopes, Span<const double> h, double peak,
                         const PairByPair& pair_by_pair) {
  const RunOptions& options = task.how;
  const std::size_t n = task.sample.n(), d = task.sample.d();
  RawVector<double> sums(n);
  const Span<double> all{sums.data(), n};
  plan.engine->run(task, plan, options, all);
  leave_out(all, peak, options.parallel);
  const double most = largest(all, options.parallel);
  const double least = most > 0 ? least_of_engine(all, most, options.parallel) : HUGE_VAL;
  std::vector<char> apart(n);
  pass_over(n, options.parallel, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) apart[i] = sums[i] >= least ? 0 : 1;
  });
  Curvatures by;
  RawVector<double> second(slopes == nullptr ? 0 : n * derivative_count(d, 2));
  if (slopes != nullptr) {
    density_derivatives(task, 2, *slopes, options, {second.data(), second.size()});
    const Monomials monomials(d, 2);
    for (std::size_t k = 0; k < d; ++k) {
      std::vector<int> twice(d, 0);
      twice[k] = 2;
      const std::size_t at = monomials.number(twice) - monomials.first(2);
      by.sum.push_back({second.data() + at * n, n});
      by.unit.push_back(h[k] * h[k] / peak);
    }
  }
  const Span<const char> marks{apart.data(), n};
  const double log_constant = std::log(peak) - std::log(static_cast<double>(n) - 1);
  MixedCriterion found = near_sums(all, marks, by, log_constant, options.parallel);
  const MixedCriterion rest = pair_by_pair(marks);
  found.value += rest.value;
  found.unsupported += rest.unsupported;
  for (std::size_t k = 0; k < by.sum.size(); ++k) found.gradient[k] += rest.gradient[k];
  return found;
}

}  // namespace

LeaveOneOut log_likelihood(const Sample& sample, const MixedSample& mixed, Span<const double> h,
                           bool gradient, const RunOptions& options) {
  const std::size_t n = sample.n(), d = sample.d();
  if (d == 1) {
    const auto make = [&] {
      return std::make_unique<LocalSource>(
          SortedSample(sample.x().column(0), Weights::ones(n), {}, options.parallel), false);
    };
    const LocalSource& source = sample.prepared<LocalSource>(make);
    return {line_log_likelihood(source, h[0], gradient, options), "nodes"};
  }
  MixedKernel kernel;
  kernel.h.assign(h.data, h.data + h.size);
  const auto pair_by_pair = [&](Span<const char> only) {
    return mixed_log_likelihood(mixed, kernel, MixedGiven(d, false), gradient, options, only);
  };
  std::vector<double> root(d * d, 0.0);
  double peak = 1;
  for (std::size_t k = 0; k < d; ++k) {
    root[k * d + k] = h[k];
    peak /= h[k] * std::sqrt(2 * kPi);
  }
  const auto direct = [&]() -> LeaveOneOut { return {pair_by_pair({}), "direct"}; };
  if (d > 3 || !std::isnormal(peak)) return direct();
  const EvaluationPoints at{sample.x(), {}};
  const DensityTask task{sample, at, {}, {root.data(), root.size()}, kEngineError, options};
  const DensityPlan plan = *plan_density(task, "auto");
  if (!plan.engine->linear || plan.rounding > kEngineError) return direct();
  if (!gradient) return {by_engine(task, plan, nullptr, h, peak, pair_by_pair), plan.engine->name};
  const DerivativePlan slopes = plan_derivatives(task, 2, "auto");
  if (slopes.engine == "direct") return direct();
  return {by_engine(task, plan, &slopes, h, peak, pair_by_pair), plan.engine->name};
}

}  // namespace kestrel
