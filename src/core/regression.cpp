#include "core/regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.hpp"
#include "core/local_fit.hpp"
#include "core/tiles.hpp"
#include "simd/sweep.hpp"

namespace kestrel {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

void check_kernel(const LocalKernel& kernel) {
  if (!(kernel.h > 0) || !std::isfinite(1 / kernel.h)) {
    throw error(ErrorKind::input, "a bandwidth must be positive, not " + std::to_string(kernel.h));
  }
  if (kernel.kernel != Kernel::gaussian && !is_polynomial(kernel.kernel)) {
    throw error(ErrorKind::input, "regression takes any kernel but the cosine");
  }
}

/// Observations of one block: its sums are added up, blocks pairwise.
constexpr std::size_t kBlock = 1024;

/// Samples that the direct sums of one block may look at: about what the sweep costs.
constexpr std::size_t kMostDirect = 16 * kBlock;

SortedSample sorted(const RegressionSample& sample) {
  return SortedSample(sample.x, sample.w, sample.y);
}

/// What one bandwidth adds up to.
struct Totals {
  std::vector<double> squares, in_sample, trace, unsupported;  // one value a block

  void start(std::size_t blocks) {
    for (std::vector<double>* v : {&squares, &in_sample, &trace, &unsupported}) {
      v->assign(blocks, 0.0);
    }
  }
  void add(std::size_t i, const LocalFit& fit, double w) {
    const std::size_t block = i / kBlock;
    const double inside = fit.residual_in_sample(w);
    if (fit.supported) {
      squares[block] += w * fit.deviation * fit.deviation;
    } else {
      unsupported[block] += 1;
    }
    in_sample[block] += w * inside * inside;
    trace[block] += fit.leverage(w);
  }
  static double total(const std::vector<double>& v) { return pairwise_sum(v.data(), v.size()); }
};

/// Leave-one-out fits of all observations in sorted order.
class Validation {
 public:
  explicit Validation(const SortedSample& sample) : sample_(sample), fitter_(sample) {}

  /// Calls take(i, fit) for every i: blocks in any order, on several threads, each in order.
  template <class Take>
  void run(const LocalKernel& kernel, const RunOptions& options, LocalSums& sums,
           const Take& take) const {
    check_kernel(kernel);
    sums.compute(sample_, sample_, kernel, 1, Anchors::edges, options);
    for_each_block(options, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const LocalFit fit = fitter_.leave_one_out(kernel, sums, i);
        take(i, fit.unstable ? settled(kernel, sums, i, fit.exact) : fit);
      }
    });
  }

  /// The totals of every block of local constant fits by a polynomial kernel, from the cheaper sums
  /// where the points at which these lose digits are few; else by run().
  void totals_of_constants(const LocalKernel& kernel, const RunOptions& options, LocalSums& sums,
                           Totals& totals) const {
    check_kernel(kernel);
    sums.compute(sample_, sample_, kernel, 1, Anchors::ends, options);
    std::vector<char> too_many((sample_.size() + kBlock - 1) / kBlock, 0);
    for_each_block(options, [&](std::size_t block, std::size_t begin, std::size_t end) {
      too_many[block] = !constant_block(kernel, options, sums, block, begin, end, totals);
    });
    if (std::find(too_many.begin(), too_many.end(), 1) == too_many.end()) return;
    totals.start(too_many.size());
    run(kernel, options, sums,
        [&](std::size_t i, const LocalFit& fit) { totals.add(i, fit, sample_.ascending().w[i]); });
  }

 private:
  template <class Body>
  void for_each_block(const RunOptions& options, const Body& body) const {
    const std::size_t n = sample_.size();
    parallel_for((n + kBlock - 1) / kBlock, options.parallel, [&](std::size_t block, int) {
      body(block, block * kBlock, std::min(n, (block + 1) * kBlock));
    });
  }

  LocalFit settled(const LocalKernel& kernel, const LocalSums& sums, std::size_t i,
                   bool exact) const {
    const SortedSample::Side side = sample_.ascending();
    LocalFit fit = fitter_.direct(kernel, side.x[i], side.y[i], sums.first(i), sums.end(i), i,
                                  nullptr, nullptr);
    fit.exact = exact;
    return fit;
  }

  /// False where the direct sums for unstable fits would cost more than the sweep did.
  bool constant_block(const LocalKernel& kernel, const RunOptions& options, const LocalSums& sums,
                      std::size_t block, std::size_t begin, std::size_t end, Totals& totals) const {
    std::uint32_t unstable[kBlock];
    simd::ConstantFits fits{};
    fits.s0 = sums.s0() + begin;
    fits.r0 = sums.r0() + begin;
    fits.w = sample_.ascending().w + begin;
    fits.first = sums.windows().first.data() + begin;
    fits.end = sums.windows().end.data() + begin;
    fits.count = end - begin;
    fits.least = fitter_.least_sum_of_a_sample();
    fits.unstable = unstable;
    options.table->sweep->constant_fits(fits);
    totals.squares[block] = fits.squares;
    totals.in_sample[block] = fits.in_sample;
    totals.trace[block] = fits.trace;
    totals.unsupported[block] = static_cast<double>(fits.unsupported);
    std::size_t cost = 0;
    for (std::size_t k = 0; k < fits.unstable_count; ++k) {
      const std::size_t i = begin + unstable[k];
      cost += sums.end(i) - sums.first(i);
      if (cost > kMostDirect) return false;
      totals.add(i, settled(kernel, sums, i, false), fits.w[unstable[k]]);
    }
    return true;
  }

  const SortedSample& sample_;
  const LocalFitter fitter_;
};

}  // namespace

CrossValidation cross_validate(const RegressionSample& sample, Span<const double> bandwidth,
                               Kernel kernel, bool local_linear, const RunOptions& options) {
  for (const double h : bandwidth) check_kernel({kernel, h, local_linear});
  const SortedSample line = sorted(sample);
  const Validation validation(line);
  CrossValidation result;
  result.squares.resize(bandwidth.size);
  result.in_sample.resize(bandwidth.size);
  result.trace.resize(bandwidth.size);
  result.unsupported.resize(bandwidth.size);
  struct Worker {
    LocalSums sums;
    Totals totals;
  };
  std::vector<Worker> workers(static_cast<std::size_t>(parallel_threads(options.parallel)));
  const double* w = line.ascending().w;
  parallel_tasks(bandwidth.size, options.parallel,
                 [&](std::size_t k, int worker, const ParallelOptions& inner) {
                   Worker& mine = workers[static_cast<std::size_t>(worker)];
                   mine.totals.start((line.size() + kBlock - 1) / kBlock);
                   const LocalKernel here{kernel, bandwidth[k], local_linear};
                   const RunOptions how{options.table, inner};
                   if (!local_linear && is_polynomial(kernel)) {
                     validation.totals_of_constants(here, how, mine.sums, mine.totals);
                   } else {
                     validation.run(here, how, mine.sums, [&](std::size_t i, const LocalFit& fit) {
                       mine.totals.add(i, fit, w[i]);
                     });
                   }
                   result.squares[k] = Totals::total(mine.totals.squares);
                   result.in_sample[k] = Totals::total(mine.totals.in_sample);
                   result.trace[k] = Totals::total(mine.totals.trace);
                   result.unsupported[k] =
                       static_cast<std::size_t>(Totals::total(mine.totals.unsupported));
                 });
  return result;
}

Residuals regression_residuals(const RegressionSample& sample, const LocalKernel& kernel,
                               const RunOptions& options) {
  const SortedSample line = sorted(sample);
  const double* w = line.ascending().w;
  Residuals result;
  result.leave_one_out.resize(line.size());
  result.in_sample.resize(line.size());
  result.leverage.resize(line.size());
  LocalSums sums;
  Validation(line).run(kernel, options, sums, [&](std::size_t i, const LocalFit& fit) {
    const std::size_t at = line.given(i);
    result.leave_one_out[at] = fit.supported ? -fit.deviation : kNone;
    result.in_sample[at] = fit.residual_in_sample(w[i]);
    result.leverage[at] = fit.leverage(w[i]);
  });
  return result;
}

namespace {

/// y of the sample that is nearest in sorted order to each point: what sums are taken relative to.
std::vector<double> nearby_values(const SortedSample& line, Span<const double> points) {
  const SortedSample::Side side = line.ascending();
  std::vector<double> value(points.size);
  for (std::size_t i = 0; i < points.size; ++i) {
    const double* at = std::lower_bound(side.x, side.x + line.size(), points[i]);
    value[i] = side.y[std::min(static_cast<std::size_t>(at - side.x), line.size() - 1)];
  }
  return value;
}

/// sum_j l_j^2 error2_j from sums of K^2 with weights w_j^2 error2_j: l_j = w_j K_j (a - b u_j),
/// both sums divided by the same scale.
double variance_of(const LocalFit& fit, const LocalSums& squares, bool local_linear,
                   std::size_t i) {
  const double a = fit.constant, b = fit.slope;
  double sum = a * a * squares.s(0, i);
  if (local_linear) sum += -2 * a * b * squares.s(1, i) + b * b * squares.s(2, i);
  return std::max(sum, 0.0);
}

}  // namespace

Fits regression_fits(const RegressionSample& sample, Span<const double> points,
                     Span<const double> error2, const LocalKernel& kernel,
                     const RunOptions& options) {
  check_kernel(kernel);
  const SortedSample line = sorted(sample);
  const std::vector<double> near = nearby_values(line, points);
  const SortedSample at(points, {}, {near.data(), near.size()});
  const std::size_t n = line.size(), m = at.size();
  LocalSums sums, squares;
  sums.compute(line, at, kernel, 1, Anchors::edges, options);
  std::vector<double> weight(error2.size), error2_sorted(error2.size);
  if (error2.size > 0) {
    for (std::size_t j = 0; j < n; ++j) weight[j] = sample.w[j] * sample.w[j] * error2[j];
    for (std::size_t j = 0; j < n; ++j) error2_sorted[j] = error2[line.given(j)];
    const SortedSample squared(sample.x, {weight.data(), n}, sample.y);
    squares.compute(squared, at, kernel, 2, Anchors::edges, options);
  }
  const LocalFitter fitter(line);
  const SortedSample::Side e = at.ascending();
  Fits result;
  result.mean.assign(m, kNone);
  result.variance.assign(error2.size > 0 ? m : 0, kNone);
  parallel_for((m + 63) / 64, options.parallel, [&](std::size_t item, int) {
    for (std::size_t i = item * 64; i < std::min(m, (item + 1) * 64); ++i) {
      LocalFit fit = fitter.at_point(kernel, sums, i);
      if (!fit.supported) continue;
      double variance = error2.size > 0 ? variance_of(fit, squares, kernel.local_linear, i) : 0.0;
      if (fit.unstable && kernel.local_linear) {
        fit = fitter.direct(kernel, e.x[i], e.y[i], sums.first(i), sums.end(i), n,
                            error2.size > 0 ? error2_sorted.data() : nullptr, &variance);
      }
      result.mean[at.given(i)] = e.y[i] + fit.deviation;
      if (error2.size > 0) result.variance[at.given(i)] = variance;
    }
  });
  return result;
}

double least_supporting_bandwidth(Span<const double> x, Kernel kernel) {
  if (x.size < 2) return kNone;
  std::vector<double> sorted_x(x.begin(), x.end());
  std::sort(sorted_x.begin(), sorted_x.end());
  double widest = 0.0;
  for (std::size_t i = 0; i < sorted_x.size(); ++i) {
    const double left = i > 0 ? sorted_x[i] - sorted_x[i - 1] : HUGE_VAL;
    const double right = i + 1 < sorted_x.size() ? sorted_x[i + 1] - sorted_x[i] : HUGE_VAL;
    widest = std::max(widest, std::min(left, right));
  }
  if (kernel == Kernel::uniform) return widest;
  if (kernel != Kernel::gaussian) return std::nextafter(widest, HUGE_VAL);
  double h = widest / kGaussianReach;
  while (!(widest < kGaussianReach * h)) h = std::nextafter(h, HUGE_VAL);
  return h;
}

}  // namespace kestrel
