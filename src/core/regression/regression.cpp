#include "core/regression/regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.hpp"
#include "core/base/raw_array.hpp"
#include "core/data/neighbours.hpp"
#include "core/data/passes.hpp"
#include "core/data/quantiles.hpp"
#include "core/data/sample_moments.hpp"
#include "core/regression/at_observations.hpp"
#include "core/regression/neighbour_fits.hpp"
#include "core/regression/validation.hpp"
#include "shared/local_trend.hpp"

namespace kestrel {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void check_local_kernel(const LocalKernel& kernel) {
  if (kernel.nearest() && !(kernel.h >= 1 && kernel.h < 0x1p31 &&
                            std::floor(kernel.h) == kernel.h && kernel.unit > 0)) {
    throw error(ErrorKind::input,
                "a number of neighbours must be whole, not " + std::to_string(kernel.h));
  }
  if (!(kernel.h > 0) || !std::isfinite(1 / kernel.h)) {
    throw error(ErrorKind::input, "a bandwidth must be positive, not " + std::to_string(kernel.h));
  }
  if (is_compact(kernel.kernel) && !is_polynomial(kernel.kernel)) {
    throw error(ErrorKind::input, "regression takes the Gaussian kernel and polynomials");
  }
  if (!(kernel.gaussian() ? is_gaussian_order(kernel.order) : kernel.order == 2)) {
    throw error(ErrorKind::input,
                "the order must be 2 or, for the Gaussian kernel, 4, 6 or 8, not " +
                    std::to_string(kernel.order));
  }
}

LocalRegression::LocalRegression(const RegressionSample& sample, const ParallelOptions& options)
    // Cheap: polls, but counts as no share of the work.
    : images_(sample.images.begin(), sample.images.end()),
      source_(SortedSample(sample.x, sample.w, sample.y, part_of(options, 0, 0)), true),
      fitter_(line(), part_of(options, 0, 0)),
      isolated_(kestrel::most_isolated(line(), size(), part_of(options, 0, 0))) {}

/// With the trend of y, if it has one, that local linear fits take off. O(log n); for the Gaussian
/// kernel, whose cells have one trend for all bandwidths, what LocalSource prepares.
LocalKernel LocalRegression::prepared(LocalKernel kernel, double min_bandwidth,
                                      const RunOptions& options) const {
  const std::size_t n = line().size();
  const auto trend = [&](double h) {
    return local_trend(line().x(), line().y(), line().w(), n, h);
  };
  if (kernel.gaussian()) {
    const double range = n > 0 ? line().x()[n - 1] - line().x()[0] : 0.0;
    if (kernel.local_linear && range > 0) kernel.slope = trend(0.5 * range);
    source_.prepare_gaussian(min_bandwidth, kernel.order, kernel.slope, options);
  } else if (kernel.local_linear) {
    kernel.slope = trend(kernel.h);
  }
  return kernel;
}

CrossValidation LocalRegression::cross_validate(Span<const double> bandwidth,
                                                const LocalKernel& kernel,
                                                const RunOptions& options) const {
  const auto at = [&](double h) {
    LocalKernel one = kernel;
    one.h = h;
    return one;
  };
  for (const double h : bandwidth) check_local_kernel(at(h));
  if (kernel.nearest()) return neighbour_curve(line(), bandwidth, kernel, options);
  const double min = bandwidth.size > 0 ? *std::min_element(bandwidth.begin(), bandwidth.end()) : 1;
  const LocalKernel shared = kernel.gaussian() ? prepared(kernel, min, options) : kernel;
  std::vector<LocalKernel> kernels;
  for (const double h : bandwidth) {
    kernels.push_back(at(h));
    kernels.back().slope = shared.slope;
    if (!kernel.gaussian()) kernels.back() = prepared(kernels.back(), h, options);
  }
  const Validation validation(source_, fitter_, size());
  CrossValidation result;
  if (bandwidth.size == 0) return result;
  for (const FitTotals& of : validation.totals(kernels, options)) {
    result.squares.push_back(of.squares);
    result.in_sample.push_back(of.in_sample);
    result.trace.push_back(of.trace);
    result.unsupported.push_back(static_cast<std::size_t>(of.unsupported));
  }
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

/// Weights of the samples in a fit, l_j = w_j K_j (constant - slope u_j) / scale, and in its
/// gradient (LocalFitter::gradient). Without default values, for arrays that are not initialised.
struct FitWeights {
  double constant, slope, scale;
  bool from_sums;
};
struct GradientWeights {
  double constant, slope;
};

/// Variances sum_j l_j^2 error2_j of fits and gradients, from sums of K^2 with weights w_j^2
/// error2_j.
class Variances {
 public:
  /// error2: in sorted order. `at`: the points, which may be the sample.
  Variances(const SortedSample& line, const SortedSample& at, Span<const double> error2,
            const ParallelOptions& options)
      : own_(&at == &line),
        squared_(
            line.with_weights([&](std::size_t j) { return line.w()[j] * line.w()[j] * error2[j]; },
                              part_of(options, 0, 0)),
            false),
        at_(own_ ? squared_.sample() : at) {}

  /// Calls take(i, sums) for every point i, with sums for at().
  template <class Take>
  void run(const LocalKernel& kernel, const RunOptions& options, const Take& take) const {
    if (kernel.gaussian()) squared_.prepare_gaussian(kernel.h, kernel.order, kernel.slope, options);
    const auto each = [&](const LocalSums& sums, int) {
      poll_if_due({});
      for (std::size_t i = sums.begin(); i < sums.begin() + sums.count(); ++i) take(i, sums);
    };
    local_sums(squared_, at_, kernel, 2, Anchors::edges, options, each);
  }

  /// The sum of w_j^2 error2_j k_j^2, k_j = K_j constant - K_j u_j slope (or with K'), at point i,
  /// whose fit has sums of this scale.
  double at(const LocalSums& sums, std::size_t i, double constant, double slope,
            double scale) const {
    // Sums at the sample leave the point itself out, whose distance is 0, and have their own scale.
    const bool others = !own_ || sums.end(i) - sums.first(i) > 1;
    const double a = constant, b = slope;
    double sum = others ? a * a * sums.s(0, i) : 0.0;
    if (others && b != 0) sum += -2 * a * b * sums.s(1, i) + b * b * sums.s(2, i);
    if (own_) {
      sum = sum * sums.scale(i) + a * a * squared_.sample().w()[i];
    } else if (scale == 1) {
      sum *= sums.scale(i);
    } else if (sums.scale(i) == 1) {
      sum = sum / scale / scale;
    }  // else the scales are those of the nearest sample for K and K^2, and cancel
    return std::max(sum, 0.0);
  }

 private:
  const bool own_;
  const LocalSource squared_;
  const SortedSample& at_;
};

/// Whether gradients have no sums of their own: then they are computed sample by sample.
bool gradient_is_direct(const LocalKernel& kernel) {
  return kernel.gradient && !kernel.local_linear && !kernel.gaussian();
}

}  // namespace

FitTotals LocalRegression::residuals(const LocalKernel& given, const Residuals& out,
                                     const RunOptions& options) const {
  check_local_kernel(given);
  const std::size_t n = line().size();
  check_room(out, size());
  if (given.nearest()) return neighbour_residuals(line(), given, out, options);
  const bool leverages = out.leverage.size > 0, errors = out.variance.size > 0;
  LocalKernel kernel = prepared(given, given.h, options);
  kernel.gradient = out.gradient.size > 0;
  const double *x = line().x(), *y = line().y(), *w = line().w();
  const RawArray<OfObservation> found(n);  // in sorted order
  const RawArray<double> error2(errors ? n : 0);
  const RawArray<FitWeights> weights(errors ? n : 0);
  const RawArray<GradientOfObservation> gradient(kernel.gradient ? n : 0);
  const RawArray<GradientWeights> of_gradient(kernel.gradient ? n : 0);
  const bool direct = gradient_is_direct(kernel);
  std::vector<FitTotals> blocks(local_slots(line(), line()));
  const RunOptions first{options.table, part_of(options.parallel, 0, errors ? 0.5 : 1)};
  Validation(source_, fitter_, size())
      .run(kernel, first, [&](std::size_t i, const LocalFit& fit, const LocalSums& sums) {
        blocks[sums.slot()].add(fit, w[i]);
        found[i].leave_one_out = fit.supported ? -fit.deviation : kNone;
        found[i].in_sample = fit.residual_in_sample(w[i]);
        if (leverages) out.leverage[line().given(i)] = fit.leverage(w[i]);
        if (!errors) return;
        const LocalFit whole = fitter_.with_sample(kernel, sums, i);
        weights[i] = {whole.constant, whole.slope, 1.0, !whole.unstable};
        if (!kernel.gradient || direct) return;
        const LocalFitter::GradientFit change = fitter_.gradient(kernel, sums, i, true);
        gradient[i].value = change.value;
        of_gradient[i] = {change.constant, change.slope};
      });
  const ParallelOptions cheap = part_of(options.parallel, 0, 0);
  square_errors(found, line(), size(), cheap);
  const RawArray<std::uint32_t> place = places_of_rows(line(), size(), cheap);
  if (errors) {
    pass_over(n, cheap, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        error2[i] = found[place[row_of(line().given(i))]].error2;
      }
    });
    const RunOptions second{options.table, part_of(options.parallel, 0.5, 1)};
    const Variances variances(line(), line(), {error2.data(), n}, options.parallel);
    variances.run(kernel, second, [&](std::size_t i, const LocalSums& sums) {
      if (line().given(i) >= size()) return;
      const FitWeights& fit = weights[i];
      const bool from_sums = fit.from_sums && !direct;
      if (from_sums && kernel.gradient) {
        gradient[i].variance =
            variances.at(sums, i, of_gradient[i].constant, of_gradient[i].slope, 1.0);
      }
      if (fit.from_sums) found[i].variance = variances.at(sums, i, fit.constant, fit.slope, 1.0);
      if (from_sums || (fit.from_sums && !kernel.gradient)) return;
      poll_if_due({});
      LocalFitter::Gradient change;
      fitter_.direct(kernel, x[i], y[i], sums.first(i), sums.end(i), n, error2.data(),
                     fit.from_sums ? nullptr : &found[i].variance,
                     kernel.gradient ? &change : nullptr);
      if (kernel.gradient) gradient[i] = {change.value, change.variance};
    });
  }
  put_back(place, size(), found, gradient, out, cheap);
  return totals_of(blocks);
}

Fits LocalRegression::fits(Span<const double> points, Span<const double> error2,
                           const LocalKernel& given, const RunOptions& options) const {
  // Takes no trend off: many points may see one place only, and would be fitted by direct sums.
  check_local_kernel(given);
  const std::size_t n = line().size(), m = points.size;
  const bool wanted = error2.size > 0, gradients = given.gradient;
  if ((wanted && error2.size != size()) || (gradients && !wanted)) {
    throw error(ErrorKind::internal, "squared errors of another number than observations");
  }
  if (given.nearest()) return neighbour_fits(line(), points, error2, given, options);
  if (given.gaussian()) source_.prepare_gaussian(given.h, given.order, 0.0, options);
  const LocalKernel& kernel = given;
  const ParallelOptions cheap = part_of(options.parallel, 0, 0);
  const std::vector<double> near = nearby_values(line(), points, cheap);
  const SortedSample at(points, {}, {near.data(), near.size()}, cheap);
  const RawArray<double> error2_sorted(wanted ? n : 0);
  pass_over(wanted ? n : 0, cheap, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) error2_sorted[j] = error2[row_of(line().given(j))];
  });
  const RawArray<FitWeights> weights(wanted ? m : 0);
  const RawArray<GradientWeights> of_gradient(gradients ? m : 0);
  Fits result;
  result.mean.assign(m, kNone);
  result.variance.assign(wanted ? m : 0, kNone);
  result.gradient.assign(gradients ? m : 0, kNone);
  result.gradient_variance.assign(gradients ? m : 0, kNone);
  const bool direct = gradient_is_direct(kernel);
  const auto take = [&](const LocalSums& sums, int) {
    poll_if_due({});
    for (std::size_t i = sums.begin(); i < sums.begin() + sums.count(); ++i) {
      LocalFit fit = fitter_.at_point(kernel, sums, i);
      if (wanted) {
        weights[i] = {fit.constant, fit.slope, sums.scale(i), fit.supported && !fit.unstable};
      }
      if (!fit.supported) continue;
      const std::size_t to = at.given(i);
      if (fit.unstable || direct) {
        poll_if_due({});
        LocalFitter::Gradient change;
        double variance;
        const LocalFit one = fitter_.direct(kernel, at.x()[i], at.y()[i], sums.first(i),
                                            sums.end(i), n, wanted ? error2_sorted.data() : nullptr,
                                            &variance, gradients ? &change : nullptr);
        if (fit.unstable && wanted) result.variance[to] = variance;
        if (fit.unstable) fit = one;
        if (gradients) {
          result.gradient[to] = change.value;
          result.gradient_variance[to] = change.variance;
        }
      } else if (gradients) {
        const LocalFitter::GradientFit change = fitter_.gradient(kernel, sums, i, false);
        result.gradient[to] = change.value;
        of_gradient[i] = {change.constant, change.slope};
      }
      result.mean[to] = at.y()[i] + fit.deviation;
    }
  };
  const double share = wanted ? 0.5 : 1;
  local_sums(source_, at, kernel, 1, Anchors::edges,
             {options.table, part_of(options.parallel, 0, share)}, take);
  if (!wanted) return result;
  const Variances variances(line(), at, {error2_sorted.data(), n}, options.parallel);
  variances.run(kernel, {options.table, part_of(options.parallel, share, 1)},
                [&](std::size_t i, const LocalSums& sums) {
                  const FitWeights& fit = weights[i];
                  if (!fit.from_sums) return;
                  result.variance[at.given(i)] =
                      variances.at(sums, i, fit.constant, fit.slope, fit.scale);
                  if (!gradients || direct) return;
                  result.gradient_variance[at.given(i)] = variances.at(
                      sums, i, of_gradient[i].constant, of_gradient[i].slope, fit.scale);
                });
  return result;
}

std::size_t LocalRegression::most_neighbours(std::size_t limit,
                                             const ParallelOptions& options) const {
  return kestrel::most_neighbours(line(), limit, options);
}

Spread LocalRegression::spread(const ParallelOptions& options) const {
  const std::size_t n = line().size();
  const Span<const double> x{line().x(), n};
  const double square = sample_covariance({x.data, n, 1}, Weights::ones(n), options).covariance[0];
  return {std::sqrt(square * (static_cast<double>(n) / static_cast<double>(n - 1))),
          quantile_of_sorted(x, 0.75) - quantile_of_sorted(x, 0.25),
          median_distance(x, quantile_of_sorted(x, 0.5))};
}

double LocalRegression::min_supporting_bandwidth(Kernel kernel) const {
  if (size() < 2) return kNone;
  const double widest = isolated_.distance;
  if (is_indicator(kernel)) return widest;
  if (is_compact(kernel)) return std::nextafter(widest, HUGE_VAL);
  double h = widest / kGaussianReach;
  while (!(widest < kGaussianReach * h)) h = std::nextafter(h, HUGE_VAL);
  return h;
}

}  // namespace kestrel
