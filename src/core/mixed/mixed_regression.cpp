#include "core/mixed/mixed_regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/mixed/costs.hpp"
#include "core/mixed/mixed_points.hpp"
#include "core/mixed/mixed_totals.hpp"

namespace kestrel {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
template <class Body>
void each_row(const MixedSample& sample, const MixedSample& points, const MixedKernel& kernel,
              MixedRow::Use use, const RunOptions& options, const Body& body,
              Span<const char> only = {}) {
  check_mixed_kernel(kernel, sample.columns(), sample.factors() + sample.ordered());
  const auto neighbours = MixedNeighbours::of(sample, points, kernel, options.parallel);
  const auto make = [&] {
    return std::make_unique<MixedRow>(sample, kernel, use, *options.table, neighbours.get());
  };
  each_mixed_point(
      points, make, options,
      [&](std::size_t item, std::size_t i, const double* point, MixedRow& row) {
        row.take_bandwidths(i);
        body(item, i, point, row);
      },
      only);
}

}  // namespace

void add_observation(const MixedSample& sample, std::size_t i, const double* point,
                     MixedMethod method, bool gradient, MixedRow& row, MixedTotals& totals) {
  const std::size_t columns = sample.columns();
  const double reference = sample.responses() ? sample.y(row.local_linear())[i] : 0.0;
  const MixedOwn own = row.own(i);
  const auto change = [&](std::size_t k) {
    return k < columns ? row.by_bandwidth(k) : row.by_lambda(k - columns);
  };
  const MixedFit& fit = row.fit(point, reference, i);
  if (method == MixedMethod::aic && fit.ridged) {
    // With the observation there may be a slope in more directions.
    row.fit(point, reference, MixedRow::kNone);
    if (gradient) row.prepare_slopes();
    totals.add_whole_fit(fit, own, change);
    return;
  }
  if (gradient && fit.supported) row.prepare_slopes();
  totals.add_fit(fit, method, own, change);
}

MixedCriterion mixed_criterion(const MixedSample& sample, const MixedKernel& kernel,
                               MixedMethod method, bool gradient, const RunOptions& options) {
  const std::size_t columns = sample.columns(), factors = kernel.lambda.size();
  std::vector<MixedTotals> parts(mixed_items(sample).size(),
                                 MixedTotals(gradient, columns, factors));
  const auto use = gradient ? MixedRow::Use::criterion : MixedRow::Use::fits;
  each_row(sample, sample, kernel, use, options,
           [&](std::size_t item, std::size_t i, const double* point, MixedRow& row) {
             if (sample.w(i) == 0) return;
             add_observation(sample, i, point, method, gradient, row, parts[item]);
           });
  MixedTotals all;
  for (const MixedTotals& part : parts) all.add(part);
  return all.criterion(method, sample.positive());
}

double mixed_criterion_seconds(const MixedSample& sample, const MixedKernel& kernel) {
  const double n = static_cast<double>(sample.size()), p = static_cast<double>(sample.columns());
  const double moments = kernel.local_linear ? (p + 1) * (p + 2) / 2 : 0;
  return 1e-9 * n * n * (kMixedPairNs + kMixedColumnNs * p + kMixedMomentNs * moments);
}

MixedFits mixed_fits(const MixedSample& sample, const MixedSample& points,
                     const MixedKernel& kernel, Span<const double> error2, bool gradients,
                     const RunOptions& options, Span<const char> only) {
  const std::size_t m = points.size(), p = sample.columns();
  const bool errors = error2.size > 0;
  std::vector<double> e(error2.size);
  for (std::size_t j = 0; j < e.size(); ++j) e[j] = error2[sample.given(j)];
  MixedFits found;
  found.mean.assign(m, kNone);
  found.variance.assign(errors ? m : 0, kNone);
  found.gradient.assign(gradients ? m * p : 0, kNone);
  found.gradient_variance.assign(gradients && errors ? m * p : 0, kNone);
  std::vector<std::size_t> ridged(mixed_items(points).size());
  const bool linear = kernel.local_linear, own = &points == &sample;
  each_row(
      sample, points, kernel, gradients ? MixedRow::Use::gradients : MixedRow::Use::variances,
      options,
      [&](std::size_t item, std::size_t i, const double* point, MixedRow& row) {
        const std::size_t to = points.given(i);
        const double reference = own && sample.responses() ? sample.y(linear)[i] : 0.0;
        const MixedFit& fit = row.fit(point, reference, MixedRow::kNone);
        if (!fit.supported || !sample.responses()) return;
        ridged[item] += fit.ridged ? 1 : 0;
        found.mean[to] = sample.base(linear, point) + (reference + fit.beta[0]);
        if (!errors && !gradients) return;
        row.prepare_slopes();
        if (errors) found.variance[to] = row.variance(e.data());
        for (std::size_t c = 0; c < p && gradients; ++c) {
          double variance = 0;
          found.gradient[to * p + c] = sample.base_slope(linear, c) +
                                       row.gradient(c, e.data(), errors ? &variance : nullptr);
          if (errors) found.gradient_variance[to * p + c] = variance;
        }
      },
      only);
  for (const std::size_t some : ridged) found.ridged += some;
  return found;
}

MixedResiduals mixed_residuals(const MixedSample& sample, const MixedKernel& kernel,
                               const RunOptions& options, Span<const char> only) {
  const std::size_t n = sample.size();
  MixedResiduals found{std::vector<double>(n, kNone), std::vector<double>(n, 1.0)};
  const double* y = sample.y(kernel.local_linear);
  each_row(
      sample, sample, kernel, MixedRow::Use::fits, options,
      [&](std::size_t, std::size_t i, const double* point, MixedRow& row) {
        const MixedFit& fit = row.fit(point, y[i], i);
        const std::size_t to = sample.given(i);
        if (fit.supported) found.deviation[to] = fit.beta[0];
        found.leverage[to] = sample.w(i) > 0 ? with_own(fit, row.own(i).weight).leverage : 0.0;
      },
      only);
  return found;
}

}  // namespace kestrel
