#include "core/regression/regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.hpp"
#include "core/base/parallel_sort.hpp"
#include "core/base/summation.hpp"
#include "core/regression/local_fit.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The maximum number of samples that the direct sums of one block look at: at this number they
/// cost about as much as the sweep.
constexpr std::size_t kMaxDirect = 16 * kSweepBlock;

/// Polls, but counts as no share of the work, since it is cheap.
SortedSample sorted(const RegressionSample& sample, const RunOptions& options) {
  return SortedSample(sample.x, sample.w, sample.y, part_of(options.parallel, 0, 0));
}

/// The sum over all blocks, pairwise.
double total(const std::vector<FitTotals>& blocks, double FitTotals::*which) {
  std::vector<double> value;
  for (const FitTotals& block : blocks) value.push_back(block.*which);
  return pairwise_sum(value.data(), value.size());
}

/// Leave-one-out fits of all observations in sorted order.
class Validation {
 public:
  Validation(const SortedSample& sample, const ParallelOptions& options)
      : sample_(sample), fitter_(sample, options) {}

  /// Calls take(i, fit, slot) for every i. Blocks come in any order, on several threads; each block
  /// is taken in order.
  template <class Take>
  void run(const LocalKernel& kernel, const RunOptions& options, const Take& take) const {
    check_local_kernel(kernel);
    const auto each = [&](const LocalSums& sums, int) {
      poll_if_due({});
      for (std::size_t i = sums.begin(); i < sums.begin() + sums.count(); ++i) {
        const LocalFit fit = fitter_.leave_one_out(kernel, sums, i);
        take(i, fit.unstable ? settled(kernel, sums, i, fit.exact) : fit, sums.slot());
      }
    };
    local_sums(sample_, sample_, kernel, 1, Anchors::edges, options, each);
  }

  std::vector<FitTotals> totals(const LocalKernel& kernel, const RunOptions& options) const {
    std::vector<FitTotals> blocks(local_slots(sample_, sample_));
    if (!kernel.local_linear && is_polynomial(kernel.kernel)) {
      if (constant_fits(kernel, options, blocks)) return blocks;
      blocks.assign(blocks.size(), FitTotals());
    }
    run(kernel, options, [&](std::size_t i, const LocalFit& fit, std::size_t slot) {
      blocks[slot].add(fit, sample_.w()[i]);
    });
    return blocks;
  }

 private:
  LocalFit settled(const LocalKernel& kernel, const LocalSums& sums, std::size_t i,
                   bool exact) const {
    poll_if_due({});  // a window may hold all of the sample
    LocalFit fit = fitter_.direct(kernel, sample_.x()[i], sample_.y()[i], sums.first(i),
                                  sums.end(i), i, nullptr, nullptr);
    fit.exact = exact;
    return fit;
  }

  /// Local constant fits by a polynomial kernel, from the cheapest sums. Returns false if these
  /// lose digits at too many points for direct sums.
  bool constant_fits(const LocalKernel& kernel, const RunOptions& options,
                     std::vector<FitTotals>& blocks) const {
    check_local_kernel(kernel);
    std::vector<char> too_many(blocks.size(), 0);
    local_sums(sample_, sample_, kernel, 1, Anchors::ends, options,
               [&](const LocalSums& sums, int) {
                 const bool done = constant_block(kernel, options, sums, blocks[sums.slot()]);
                 too_many[sums.slot()] = !done;
               });
    return std::find(too_many.begin(), too_many.end(), 1) == too_many.end();
  }

  bool constant_block(const LocalKernel& kernel, const RunOptions& options, const LocalSums& sums,
                      FitTotals& totals) const {
    std::uint32_t unstable[kSweepBlock];
    const double* w = sample_.w() + sums.begin();
    const SweepBlock& block = sums.block();
    simd::ConstantFits fits{};
    fits.s0 = block.of(0, 0);
    fits.r0 = block.of(0, 1);
    fits.w = w;
    fits.first = block.first;
    fits.end = block.end;
    fits.count = block.count;
    fits.min = fitter_.min_sum_of_a_sample();
    fits.unstable = unstable;
    options.table->sweep->constant_fits(fits);
    totals = {fits.squares, fits.in_sample, fits.trace, static_cast<double>(fits.unsupported)};
    std::size_t cost = 0;
    for (std::size_t k = 0; k < fits.unstable_count; ++k) {
      const std::size_t i = sums.begin() + unstable[k];
      cost += sums.end(i) - sums.first(i);
      if (cost > kMaxDirect) return false;
      totals.add(settled(kernel, sums, i, false), w[unstable[k]]);
    }
    return true;
  }

  const SortedSample& sample_;
  const LocalFitter fitter_;
};

}  // namespace

void check_local_kernel(const LocalKernel& kernel) {
  if (!(kernel.h > 0) || !std::isfinite(1 / kernel.h)) {
    throw error(ErrorKind::input, "a bandwidth must be positive, not " + std::to_string(kernel.h));
  }
  if (is_compact(kernel.kernel) && !is_polynomial(kernel.kernel)) {
    throw error(ErrorKind::input, "regression takes the Gaussian kernel and polynomials");
  }
}

CrossValidation cross_validate(const RegressionSample& sample, Span<const double> bandwidth,
                               Kernel kernel, bool local_linear, const RunOptions& options) {
  for (const double h : bandwidth) check_local_kernel({kernel, h, local_linear});
  const SortedSample line = sorted(sample, options);
  const Validation validation(line, options.parallel);
  CrossValidation result;
  result.squares.resize(bandwidth.size);
  result.in_sample.resize(bandwidth.size);
  result.trace.resize(bandwidth.size);
  result.unsupported.resize(bandwidth.size);
  const bool brief = local_sums_are_brief(kernel, line.size());
  parallel_tasks(bandwidth.size, brief, options.parallel,
                 [&](std::size_t k, int, const ParallelOptions& inner) {
                   const std::vector<FitTotals> blocks = validation.totals(
                       {kernel, bandwidth[k], local_linear}, {options.table, inner});
                   result.squares[k] = total(blocks, &FitTotals::squares);
                   result.in_sample[k] = total(blocks, &FitTotals::in_sample);
                   result.trace[k] = total(blocks, &FitTotals::trace);
                   result.unsupported[k] =
                       static_cast<std::size_t>(total(blocks, &FitTotals::unsupported));
                 });
  return result;
}

Residuals regression_residuals(const RegressionSample& sample, const LocalKernel& kernel,
                               const RunOptions& options) {
  const SortedSample line = sorted(sample, options);
  const double* w = line.w();
  Residuals result;
  result.leave_one_out.resize(line.size());
  result.in_sample.resize(line.size());
  result.leverage.resize(line.size());
  Validation(line, options.parallel)
      .run(kernel, options, [&](std::size_t i, const LocalFit& fit, std::size_t) {
        const std::size_t at = line.given(i);
        result.leave_one_out[at] = fit.supported ? -fit.deviation : kNone;
        result.in_sample[at] = fit.residual_in_sample(w[i]);
        result.leverage[at] = fit.leverage(w[i]);
      });
  return result;
}

namespace {

/// Points of one item: a few milliseconds if the caches hold little of the sample.
constexpr std::size_t kSearched = std::size_t{1} << 13;

/// For each point the y of a sample next to it in sorted order, relative to which sums are taken.
std::vector<double> nearby_values(const SortedSample& line, Span<const double> points,
                                  const ParallelOptions& options) {
  const double* x = line.x();
  std::vector<double> value(points.size);
  parallel_for((points.size + kSearched - 1) / kSearched, options, [&](std::size_t part, int) {
    const std::size_t end = std::min(points.size, (part + 1) * kSearched);
    for (std::size_t i = part * kSearched; i < end; ++i) {
      const double* at = std::lower_bound(x, x + line.size(), points[i]);
      value[i] = line.y()[std::min(static_cast<std::size_t>(at - x), line.size() - 1)];
    }
  });
  return value;
}

/// Weights of the samples in a fit, l_j = w_j K_j (constant - slope u_j) / scale.
struct FitWeights {
  double constant, slope;
  bool from_sums;
};

/// Adds sum_j l_j^2 error2_j at every point, in the given order, for fits from sums. It uses sums
/// of K^2 with weights w_j^2 error2_j, whose scale is the square of that of the fits.
void add_variances(const RegressionSample& sample, const SortedSample& at,
                   Span<const double> error2, const LocalKernel& kernel,
                   const std::vector<FitWeights>& fits, const RunOptions& options, Fits& result) {
  const std::size_t n = error2.size;
  std::vector<double> weight(n);
  for (std::size_t j = 0; j < n; ++j) weight[j] = sample.w[j] * sample.w[j] * error2[j];
  const SortedSample squared(sample.x, {weight.data(), n}, sample.y,
                             part_of(options.parallel, 1, 1));
  const auto take = [&](const LocalSums& sums, int) {
    poll_if_due({});
    for (std::size_t i = sums.begin(); i < sums.begin() + sums.count(); ++i) {
      if (!fits[i].from_sums) continue;
      const double a = fits[i].constant, b = fits[i].slope;
      double sum = a * a * sums.s(0, i);
      if (kernel.local_linear) sum += -2 * a * b * sums.s(1, i) + b * b * sums.s(2, i);
      result.variance[at.given(i)] = std::max(sum, 0.0);
    }
  };
  local_sums(squared, at, kernel, 2, Anchors::edges, options, take);
}

}  // namespace

Fits regression_fits(const RegressionSample& sample, Span<const double> points,
                     Span<const double> error2, const LocalKernel& kernel,
                     const RunOptions& options) {
  check_local_kernel(kernel);
  if (error2.size != 0 && error2.size != sample.x.size) {
    throw error(ErrorKind::internal, "squared errors of another number than observations");
  }
  const SortedSample line = sorted(sample, options);
  const std::vector<double> near = nearby_values(line, points, part_of(options.parallel, 0, 0));
  const SortedSample at(points, {}, {near.data(), near.size()}, part_of(options.parallel, 0, 0));
  const std::size_t n = line.size(), m = at.size();
  const bool wanted = error2.size > 0;
  std::vector<double> error2_sorted(error2.size);
  for (std::size_t j = 0; j < error2.size; ++j) error2_sorted[j] = error2[line.given(j)];
  const LocalFitter fitter(line, options.parallel);
  std::vector<FitWeights> weights(wanted ? m : 0, {0, 0, false});
  Fits result;
  result.mean.assign(m, kNone);
  result.variance.assign(wanted ? m : 0, kNone);
  const auto take = [&](const LocalSums& sums, int) {
    poll_if_due({});
    for (std::size_t i = sums.begin(); i < sums.begin() + sums.count(); ++i) {
      LocalFit fit = fitter.at_point(kernel, sums, i);
      if (!fit.supported) continue;
      if (wanted) weights[i] = {fit.constant, fit.slope, !fit.unstable};
      if (fit.unstable) {
        poll_if_due({});
        double* variance = wanted ? &result.variance[at.given(i)] : nullptr;
        fit = fitter.direct(kernel, at.x()[i], at.y()[i], sums.first(i), sums.end(i), n,
                            wanted ? error2_sorted.data() : nullptr, variance);
      }
      result.mean[at.given(i)] = at.y()[i] + fit.deviation;
    }
  };
  local_sums(line, at, kernel, 1, Anchors::edges, options, take);
  if (wanted) add_variances(sample, at, error2, kernel, weights, options, result);
  return result;
}

double min_supporting_bandwidth(Span<const double> x, Kernel kernel,
                                const ParallelOptions& options) {
  if (x.size < 2) return kNone;
  std::vector<double> sorted_x(x.begin(), x.end());
  parallel_sort(&sorted_x, options);
  double widest = 0.0;
  for (std::size_t i = 0; i < sorted_x.size(); ++i) {
    const double left = i > 0 ? sorted_x[i] - sorted_x[i - 1] : HUGE_VAL;
    const double right = i + 1 < sorted_x.size() ? sorted_x[i + 1] - sorted_x[i] : HUGE_VAL;
    widest = std::max(widest, std::min(left, right));
  }
  if (is_indicator(kernel)) return widest;
  if (is_compact(kernel)) return std::nextafter(widest, HUGE_VAL);
  double h = widest / kGaussianReach;
  while (!(widest < kGaussianReach * h)) h = std::nextafter(h, HUGE_VAL);
  return h;
}

}  // namespace kestrel
