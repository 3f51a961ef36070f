#include "core/mixed/mixed_regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/mixed/mixed_points.hpp"

namespace kestrel {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
template <class Body>
void each_row(const MixedSample& sample, const MixedSample& points, const MixedKernel& kernel,
              MixedRow::Use use, const RunOptions& options, const Body& body) {
  check_mixed_kernel(kernel, sample.columns(), sample.factors() + sample.ordered());
  const auto make = [&] { return std::make_unique<MixedRow>(sample, kernel, use, *options.table); };
  each_mixed_point(points, make, options, body);
}

/// How the fit without an observation becomes that with it: by `shrink` the residual, and
/// `leverage` = 1 - shrink (Sherman & Morrison 1950).
struct WithOwn {
  double shrink, leverage;
};
WithOwn with_own(const MixedFit& fit, double own) {
  if (!fit.supported) return {0.0, 1.0};
  const double pull = own * fit.weight[0];
  // The weight of a steep line may be infinite.
  if (!std::isfinite(pull)) return {0.0, 1.0};
  const double whole = fit.scale + pull;
  return {fit.scale / whole, pull / whole};
}

/// Sums over the observations of an item, and their derivatives: of squares, of
/// squared residuals in the sample, and of leverages.
struct Totals {
  double value = 0, inside = 0, trace = 0;
  std::vector<double> value_by, inside_by, trace_by;
  std::size_t unsupported = 0, ridged = 0;

  void add(const Totals& other) {
    value += other.value;
    inside += other.inside;
    trace += other.trace;
    unsupported += other.unsupported;
    ridged += other.ridged;
    const auto all = [](std::vector<double>& to, const std::vector<double>& from) {
      to.resize(from.size());
      for (std::size_t k = 0; k < from.size(); ++k) to[k] += from[k];
    };
    if (!other.value_by.empty()) all(value_by, other.value_by);
    if (!other.inside_by.empty()) all(inside_by, other.inside_by);
    if (!other.trace_by.empty()) all(trace_by, other.trace_by);
  }
};

/// The fit with the observation, whose own weight is `own`.
void add_whole_fit(const MixedFit& fit, bool gradient, std::size_t columns, MixedRow& row,
                   Totals& totals) {
  const double own = row.own_weight(), inside = fit.beta[0];
  totals.inside += inside * inside;
  totals.trace += own * fit.weight[0];
  if (!gradient) return;
  row.prepare_slopes();
  for (std::size_t k = 0; k < totals.inside_by.size(); ++k) {
    const bool bandwidth = k < columns;
    const MixedRow::Change change = bandwidth ? row.by_bandwidth(k) : row.by_lambda(k - columns);
    const double by_own = bandwidth ? 0.0 : row.own_slope(k - columns);
    totals.inside_by[k] += 2 * inside * change.fit;
    totals.trace_by[k] += by_own * fit.weight[0] + own * change.weight;
  }
}

void add_observation(const MixedFit& fit, MixedMethod method, bool gradient, std::size_t columns,
                     std::size_t parameters, MixedRow& row, Totals& totals) {
  totals.ridged += fit.ridged ? 1 : 0;
  if (!fit.supported) {
    ++totals.unsupported;
    totals.trace += 1;
    return;
  }
  const double own = row.own_weight(), deviation = fit.beta[0];
  const WithOwn with = with_own(fit, own);
  totals.value += deviation * deviation;
  const double inside = deviation * with.shrink;
  totals.inside += inside * inside;
  totals.trace += with.leverage;
  if (!gradient) return;
  row.prepare_slopes();
  for (std::size_t k = 0; k < parameters; ++k) {
    const bool bandwidth = k < columns;
    const MixedRow::Change change = bandwidth ? row.by_bandwidth(k) : row.by_lambda(k - columns);
    totals.value_by[k] += 2 * deviation * change.fit;
    if (method != MixedMethod::aic) continue;
    const double by_own = bandwidth ? 0.0 : row.own_slope(k - columns);
    const double shrinks =
        -with.shrink * with.shrink * (by_own * fit.weight[0] + own * change.weight) / fit.scale;
    totals.inside_by[k] += 2 * inside * (change.fit * with.shrink + deviation * shrinks);
    totals.trace_by[k] -= shrinks;
  }
}

}  // namespace

MixedCriterion mixed_criterion(const MixedSample& sample, const MixedKernel& kernel,
                               MixedMethod method, bool gradient, const RunOptions& options) {
  const std::size_t columns = sample.columns(), parameters = columns + kernel.lambda.size();
  std::vector<Totals> parts(mixed_items(sample).size());
  const auto use = gradient ? MixedRow::Use::criterion : MixedRow::Use::fits;
  const double* y = sample.responses() ? sample.y(kernel.local_linear) : nullptr;
  each_row(sample, sample, kernel, use, options,
           [&](std::size_t item, std::size_t i, const double* point, MixedRow& row) {
             Totals& totals = parts[item];
             if (gradient) {
               totals.value_by.resize(parameters);
               totals.inside_by.resize(parameters);
               totals.trace_by.resize(parameters);
             }
             const double reference = y == nullptr ? 0.0 : y[i];
             const MixedFit& fit = row.fit(point, reference, i);
             if (method == MixedMethod::aic && fit.ridged) {
               // With the observation there may be a slope in more directions.
               ++totals.ridged;
               add_whole_fit(row.fit(point, reference, MixedRow::kNone), gradient, columns, row,
                             totals);
               return;
             }
             add_observation(fit, method, gradient, columns, parameters, row, totals);
           });
  Totals all;
  for (const Totals& part : parts) all.add(part);
  MixedCriterion found;
  found.unsupported = all.unsupported;
  found.ridged = all.ridged;
  const double n = static_cast<double>(sample.size());
  if (method == MixedMethod::least_squares) {
    found.value = all.value / n;
    for (const double by : all.value_by) found.gradient.push_back(by / n);
    return found;
  }
  const double room = n - all.trace - 2;
  found.value = room > 0 ? std::log(all.inside / n) + (n + all.trace) / room : HUGE_VAL;
  for (std::size_t k = 0; k < all.inside_by.size(); ++k) {
    const double by = all.inside_by[k] / all.inside + all.trace_by[k] * (2 * n - 2) / (room * room);
    found.gradient.push_back(std::isfinite(found.value) ? by : 0.0);
  }
  return found;
}

MixedFits mixed_fits(const MixedSample& sample, const MixedSample& points,
                     const MixedKernel& kernel, Span<const double> error2, bool gradients,
                     const RunOptions& options) {
  const std::size_t m = points.size(), p = sample.columns();
  const bool errors = error2.size > 0;
  std::vector<double> e(error2.size);
  for (std::size_t j = 0; j < e.size(); ++j) e[j] = error2[sample.given(j)];
  MixedFits found;
  found.mean.assign(m, kNone);
  found.sum.assign(m, 0.0);
  found.variance.assign(errors ? m : 0, kNone);
  found.gradient.assign(gradients ? m * p : 0, kNone);
  found.gradient_variance.assign(gradients && errors ? m * p : 0, kNone);
  std::vector<std::size_t> ridged(mixed_items(points).size());
  const bool linear = kernel.local_linear, own = &points == &sample;
  each_row(sample, points, kernel, gradients ? MixedRow::Use::gradients : MixedRow::Use::variances,
           options, [&](std::size_t item, std::size_t i, const double* point, MixedRow& row) {
             const std::size_t to = points.given(i);
             const double reference = own && sample.responses() ? sample.y(linear)[i] : 0.0;
             const MixedFit& fit = row.fit(point, reference, MixedRow::kNone);
             found.sum[to] = fit.sum * fit.scale;
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
           });
  for (const std::size_t some : ridged) found.ridged += some;
  return found;
}

MixedResiduals mixed_residuals(const MixedSample& sample, const MixedKernel& kernel,
                               const RunOptions& options) {
  const std::size_t n = sample.size();
  MixedResiduals found{std::vector<double>(n, kNone), std::vector<double>(n, 1.0)};
  const double* y = sample.y(kernel.local_linear);
  each_row(sample, sample, kernel, MixedRow::Use::fits, options,
           [&](std::size_t, std::size_t i, const double* point, MixedRow& row) {
             const MixedFit& fit = row.fit(point, y[i], i);
             const std::size_t to = sample.given(i);
             if (fit.supported) found.deviation[to] = fit.beta[0];
             found.leverage[to] = with_own(fit, row.own_weight()).leverage;
           });
  return found;
}

}  // namespace kestrel
