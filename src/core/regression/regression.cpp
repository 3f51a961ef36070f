#include "core/regression/regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.hpp"
#include "core/base/raw_array.hpp"
#include "core/base/summation.hpp"
#include "core/data/passes.hpp"
#include "core/regression/validation.hpp"
#include "shared/local_trend.hpp"

namespace kestrel {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The sum over all blocks, pairwise.
double total(const std::vector<FitTotals>& blocks, double FitTotals::*which) {
  std::vector<double> value;
  for (const FitTotals& block : blocks) value.push_back(block.*which);
  return pairwise_sum(value.data(), value.size());
}

/// With the trend of y, if it has one, that local linear fits take off. O(log n).
LocalKernel with_trend(const SortedSample& line, LocalKernel kernel) {
  if (kernel.local_linear) {
    kernel.slope = local_trend(line.x(), line.y(), line.w(), line.size(), kernel.h);
  }
  return kernel;
}

}  // namespace

void check_local_kernel(const LocalKernel& kernel) {
  if (!(kernel.h > 0) || !std::isfinite(1 / kernel.h)) {
    throw error(ErrorKind::input, "a bandwidth must be positive, not " + std::to_string(kernel.h));
  }
  if (is_compact(kernel.kernel) && !is_polynomial(kernel.kernel)) {
    throw error(ErrorKind::input, "regression takes the Gaussian kernel and polynomials");
  }
}

LocalRegression::LocalRegression(const RegressionSample& sample, const ParallelOptions& options)
    // Cheap: polls, but counts as no share of the work.
    : line_(sample.x, sample.w, sample.y, part_of(options, 0, 0)),
      fitter_(line_, part_of(options, 0, 0)) {}

CrossValidation LocalRegression::cross_validate(Span<const double> bandwidth, Kernel kernel,
                                                bool local_linear,
                                                const RunOptions& options) const {
  for (const double h : bandwidth) check_local_kernel({kernel, h, local_linear});
  const Validation validation(line_, fitter_);
  CrossValidation result;
  result.squares.resize(bandwidth.size);
  result.in_sample.resize(bandwidth.size);
  result.trace.resize(bandwidth.size);
  result.unsupported.resize(bandwidth.size);
  const bool brief = local_sums_are_brief(kernel, line_.size());
  parallel_tasks(
      bandwidth.size, brief, options.parallel,
      [&](std::size_t k, int, const ParallelOptions& inner) {
        const std::vector<FitTotals> blocks = validation.totals(
            with_trend(line_, {kernel, bandwidth[k], local_linear}), {options.table, inner});
        result.squares[k] = total(blocks, &FitTotals::squares);
        result.in_sample[k] = total(blocks, &FitTotals::in_sample);
        result.trace[k] = total(blocks, &FitTotals::trace);
        result.unsupported[k] = static_cast<std::size_t>(total(blocks, &FitTotals::unsupported));
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

/// Weights of the samples in a fit, l_j = w_j K_j (constant - slope u_j) / scale. Without default
/// values, for arrays that are not initialised.
struct FitWeights {
  double constant, slope;
  bool from_sums;
};

/// Variances sum_j l_j^2 error2_j of fits, from sums of K^2 with weights w_j^2 error2_j.
class Variances {
 public:
  /// error2: in sorted order. `at`: the points, which may be the sample.
  Variances(const SortedSample& line, const SortedSample& at, Span<const double> error2,
            const RawArray<FitWeights>& fits, const ParallelOptions& options)
      : own_(&at == &line),
        fits_(fits),
        squared_(
            line.with_weights([&](std::size_t j) { return line.w()[j] * line.w()[j] * error2[j]; },
                              part_of(options, 0, 0))),
        at_(own_ ? squared_ : at) {}

  /// Calls take(i, variance, sums) for every point i; the variance is NaN where the fit is not from
  /// sums.
  template <class Take>
  void run(const LocalKernel& kernel, const RunOptions& options, const Take& take) const {
    const auto each = [&](const LocalSums& sums, int) {
      poll_if_due({});
      for (std::size_t i = sums.begin(); i < sums.begin() + sums.count(); ++i) {
        take(i, fits_[i].from_sums ? variance(kernel, sums, i) : kNone, sums);
      }
    };
    local_sums(squared_, at_, kernel, 2, Anchors::edges, options, each);
  }

 private:
  double variance(const LocalKernel& kernel, const LocalSums& sums, std::size_t i) const {
    const double a = fits_[i].constant, b = fits_[i].slope;
    // Sums at the sample leave the point itself out, whose distance is 0, and have their own scale;
    // with other points the scales of fits and of sums of squares cancel.
    const bool others = !own_ || sums.end(i) - sums.first(i) > 1;
    double sum = others ? a * a * sums.s(0, i) : 0.0;
    if (others && kernel.local_linear) {
      sum += -2 * a * b * sums.s(1, i) + b * b * sums.s(2, i);
    }
    if (own_) sum = sum * sums.scale(i) + a * a * squared_.w()[i];
    return std::max(sum, 0.0);
  }

  const bool own_;
  const RawArray<FitWeights>& fits_;
  const SortedSample squared_;
  const SortedSample& at_;
};

/// What Residuals has of one observation. Side by side, since observations in the given order are
/// anywhere in the sorted one.
struct OfObservation {
  double leave_one_out, in_sample, error2, variance;
};

/// e_i^2, and its mean with weights w over the others where e_i is NaN.
void square_errors(const RawArray<OfObservation>& found, const double* w, std::size_t n,
                   const ParallelOptions& options) {
  struct Part {
    long double squares = 0, weight = 0;
    bool alone = false;
  };
  std::vector<Part> parts(parts_of_pass(n));
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    Part here;
    for (std::size_t i = begin; i < end; ++i) {
      const double residual = found[i].leave_one_out;
      found[i].error2 = residual * residual;
      if (std::isnan(residual)) {
        here.alone = true;
      } else {
        here.squares += static_cast<long double>(w[i]) * found[i].error2;
        here.weight += w[i];
      }
    }
    parts[part] = here;
  });
  Part all;
  for (const Part& part : parts) {
    all.squares += part.squares;
    all.weight += part.weight;
    all.alone = all.alone || part.alone;
  }
  if (!all.alone) return;
  const double mean = static_cast<double>(all.squares / all.weight);
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; parts[part].alone && i < end; ++i) {
      if (std::isnan(found[i].leave_one_out)) found[i].error2 = mean;
    }
  });
}

/// From the sorted order into the given one. To read from anywhere is faster than to write there.
void put_back(const SortedSample& line, const RawArray<OfObservation>& found, const Residuals& out,
              const ParallelOptions& options) {
  const std::size_t n = line.size();
  const RawArray<std::uint32_t> place(n);
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) place[line.given(i)] = static_cast<std::uint32_t>(i);
  });
  const bool errors = out.variance.size > 0;
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const OfObservation& one = found[place[k]];
      out.leave_one_out[k] = one.leave_one_out;
      out.in_sample[k] = one.in_sample;
      out.error2[k] = one.error2;
      if (errors) out.variance[k] = one.variance;
    }
  });
}

}  // namespace

FitTotals LocalRegression::residuals(const LocalKernel& given, const Residuals& out,
                                     const RunOptions& options) const {
  check_local_kernel(given);
  const LocalKernel kernel = with_trend(line_, given);
  const double* w = line_.w();
  const std::size_t n = line_.size();
  const bool leverages = out.leverage.size > 0, errors = out.variance.size > 0;
  if (out.leave_one_out.size != n || out.in_sample.size != n || out.error2.size != n ||
      (leverages && out.leverage.size != n) || (errors && out.variance.size != n)) {
    throw error(ErrorKind::internal, "room for residuals of a wrong size");
  }
  const RawArray<OfObservation> found(n);  // in sorted order
  const RawArray<double> error2(errors ? n : 0);
  const RawArray<FitWeights> weights(errors ? n : 0);
  std::vector<FitTotals> blocks(local_slots(line_, line_));
  const RunOptions first{options.table, part_of(options.parallel, 0, errors ? 0.5 : 1)};
  Validation(line_, fitter_)
      .run(kernel, first, [&](std::size_t i, const LocalFit& fit, const LocalSums& sums) {
        blocks[sums.slot()].add(fit, w[i]);
        found[i].leave_one_out = fit.supported ? -fit.deviation : kNone;
        found[i].in_sample = fit.residual_in_sample(w[i]);
        if (leverages) out.leverage[line_.given(i)] = fit.leverage(w[i]);
        if (!errors) return;
        const LocalFit whole = fitter_.with_sample(kernel, sums, i);
        weights[i] = {whole.constant, whole.slope, !whole.unstable};
      });
  const ParallelOptions cheap = part_of(options.parallel, 0, 0);
  square_errors(found, w, n, cheap);
  if (errors) {
    pass_over(n, cheap, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) error2[i] = found[i].error2;
    });
    const RunOptions second{options.table, part_of(options.parallel, 0.5, 1)};
    const Variances variances(line_, line_, {error2.data(), n}, weights, options.parallel);
    variances.run(kernel, second, [&](std::size_t i, double variance, const LocalSums& sums) {
      if (std::isnan(variance)) {
        poll_if_due({});
        fitter_.direct(kernel, line_.x()[i], line_.y()[i], sums.first(i), sums.end(i), n,
                       error2.data(), &variance);
      }
      found[i].variance = variance;
    });
  }
  put_back(line_, found, out, cheap);
  return {total(blocks, &FitTotals::squares), total(blocks, &FitTotals::in_sample),
          total(blocks, &FitTotals::trace), total(blocks, &FitTotals::unsupported)};
}

Fits LocalRegression::fits(Span<const double> points, Span<const double> error2,
                           const LocalKernel& kernel, const RunOptions& options) const {
  // Takes no trend off: many points may see one place only, and would be fitted by direct sums.
  check_local_kernel(kernel);
  const std::size_t n = line_.size(), m = points.size;
  if (error2.size != 0 && error2.size != n) {
    throw error(ErrorKind::internal, "squared errors of another number than observations");
  }
  const ParallelOptions cheap = part_of(options.parallel, 0, 0);
  const std::vector<double> near = nearby_values(line_, points, cheap);
  const SortedSample at(points, {}, {near.data(), near.size()}, cheap);
  const bool wanted = error2.size > 0;
  const RawArray<double> error2_sorted(error2.size);
  pass_over(error2.size, cheap, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) error2_sorted[j] = error2[line_.given(j)];
  });
  const RawArray<FitWeights> weights(wanted ? m : 0);
  Fits result;
  result.mean.assign(m, kNone);
  result.variance.assign(wanted ? m : 0, kNone);
  const auto take = [&](const LocalSums& sums, int) {
    poll_if_due({});
    for (std::size_t i = sums.begin(); i < sums.begin() + sums.count(); ++i) {
      LocalFit fit = fitter_.at_point(kernel, sums, i);
      if (wanted) weights[i] = {fit.constant, fit.slope, fit.supported && !fit.unstable};
      if (!fit.supported) continue;
      if (fit.unstable) {
        poll_if_due({});
        double* variance = wanted ? &result.variance[at.given(i)] : nullptr;
        fit = fitter_.direct(kernel, at.x()[i], at.y()[i], sums.first(i), sums.end(i), n,
                             wanted ? error2_sorted.data() : nullptr, variance);
      }
      result.mean[at.given(i)] = at.y()[i] + fit.deviation;
    }
  };
  const double share = wanted ? 0.5 : 1;
  local_sums(line_, at, kernel, 1, Anchors::edges,
             {options.table, part_of(options.parallel, 0, share)}, take);
  if (!wanted) return result;
  Variances(line_, at, {error2_sorted.data(), n}, weights, options.parallel)
      .run(kernel, {options.table, part_of(options.parallel, share, 1)},
           [&](std::size_t i, double variance, const LocalSums&) {
             if (weights[i].from_sums) result.variance[at.given(i)] = variance;
           });
  return result;
}

double LocalRegression::min_supporting_bandwidth(Kernel kernel) const {
  if (line_.size() < 2) return kNone;
  const double widest = kestrel::most_isolated(line_).distance;
  if (is_indicator(kernel)) return widest;
  if (is_compact(kernel)) return std::nextafter(widest, HUGE_VAL);
  double h = widest / kGaussianReach;
  while (!(widest < kGaussianReach * h)) h = std::nextafter(h, HUGE_VAL);
  return h;
}

}  // namespace kestrel
