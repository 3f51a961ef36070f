#include "core/regression/fit_at_data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.hpp"
#include "core/data/passes.hpp"

namespace kestrel {

namespace {

/// Sums over the observations, of long doubles.
struct Moments {
  long double weight = 0, y = 0, residual2 = 0, residual = 0, relative = 0, same_sign = 0;
  double min_y = HUGE_VAL, max_y = -HUGE_VAL;

  void add(double w, double value, double off) {
    weight += w;
    y += static_cast<long double>(w) * value;
    residual2 += static_cast<long double>(w) * off * off;
    const double size = std::abs(off), share = off == 0 ? 0.0 : 0.5;
    residual += static_cast<long double>(w) * size;
    relative += w * (value == 0 ? share : static_cast<long double>(size) / std::abs(value));
    const auto sign = [](double v) { return (v > 0) - (v < 0); };
    // As in np, 0 has both signs.
    if (sign(value) * sign(value - off) >= 0) same_sign += w;
    min_y = std::min(min_y, value);
    max_y = std::max(max_y, value);
  }
  void add(const Moments& other) {
    weight += other.weight;
    y += other.y;
    residual2 += other.residual2;
    residual += other.residual;
    relative += other.relative;
    same_sign += other.same_sign;
    min_y = std::min(min_y, other.min_y);
    max_y = std::max(max_y, other.max_y);
  }
};

/// Sums of products of deviations from the mean of y.
struct Products {
  long double y2 = 0, y_fit = 0, fit2 = 0, fit = 0;

  void add(double w, double y, double of_fit) {
    const long double weighted = static_cast<long double>(w) * of_fit;
    y2 += static_cast<long double>(w) * y * y;
    y_fit += weighted * y;
    fit2 += weighted * of_fit;
    fit += weighted;
  }
  void add(const Products& other) {
    y2 += other.y2;
    y_fit += other.y_fit;
    fit2 += other.fit2;
    fit += other.fit;
  }
};

/// The sums of each(sums, i) over n observations.
template <class Sums, class Each>
Sums summed(std::size_t n, const ParallelOptions& options, const Each& each) {
  std::vector<Sums> parts(parts_of_pass(n));
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    Sums here;
    for (std::size_t i = begin; i < end; ++i) each(here, i);
    parts[part] = here;
  });
  Sums all;
  for (const Sums& part : parts) all.add(part);
  return all;
}

/// r2 and the correlation. y and the fit are taken relative to the mean of y.
void correlate(const RegressionSample& sample, const Moments& moments, const FitAtData& fit,
               double missing, const ParallelOptions& options, FitMeasures& found) {
  found.r2 = found.correlation = missing;
  if (moments.min_y == moments.max_y) return;
  const long double mean = moments.y / moments.weight;
  const double first = static_cast<double>(mean), second = static_cast<double>(mean - first);
  const Products sums =
      summed<Products>(fit.residual.size, options, [&](Products& part, std::size_t i) {
        const double y = (sample.y[i] - first) - second;
        part.add(sample.w[i], y, y - fit.residual[i]);
      });
  const double scale_y = static_cast<double>(std::sqrt(sums.y2 / moments.weight));
  const double scale_fit = static_cast<double>(std::sqrt(sums.fit2 / moments.weight));
  const double largest = std::max(std::abs(moments.min_y), std::abs(moments.max_y));
  const double rounding =
      std::max(1e-12 * scale_y, 4 * std::numeric_limits<double>::epsilon() * largest);
  if (scale_fit <= rounding) return;
  const long double covariance = sums.y_fit / moments.weight;
  const double r = static_cast<double>(covariance) / scale_y / scale_fit;
  found.r2 = r * r;
  // The mean of y is 0 here.
  const long double of_fit = sums.fit / moments.weight;
  const double spread =
      static_cast<double>(std::sqrt(sums.fit2 / moments.weight - of_fit * of_fit));
  const double correlation = std::abs(static_cast<double>(covariance) / scale_y / spread);
  if (spread > rounding) found.correlation = std::min(1.0, correlation);
}

}  // namespace

FitMeasures fit_at_data(const RegressionSample& sample, const LocalRegression& sorted,
                        const LocalKernel& kernel, double missing, const FitAtData& out,
                        const RunOptions& options) {
  const std::size_t n = sorted.size();
  if (out.mean.size != n) throw error(ErrorKind::internal, "room for a fit of a wrong size");
  FitMeasures found;
  found.totals = sorted.residuals(kernel,
                                  {out.left_out,
                                   out.residual,
                                   {},
                                   out.error2,
                                   out.standard_error,
                                   out.gradient,
                                   out.gradient_error},
                                  options);
  const bool alone = found.totals.unsupported == static_cast<double>(n);
  const ParallelOptions cheap = part_of(options.parallel, 1, 1);
  const auto known = [&](double value) { return alone || std::isnan(value) ? missing : value; };
  const Moments moments = summed<Moments>(n, cheap, [&](Moments& part, std::size_t i) {
    const double y = sample.y[i];
    out.mean[i] = y - out.residual[i];
    out.left_out[i] = known(y - out.left_out[i]);
    out.error2[i] = known(out.error2[i]);
    if (out.standard_error.size > 0) {
      out.standard_error[i] = known(std::sqrt(out.standard_error[i]));
    }
    if (out.gradient.size > 0) {
      out.gradient[i] = known(out.gradient[i]);
      out.gradient_error[i] = known(std::sqrt(out.gradient_error[i]));
    }
    part.add(sample.w[i], y, out.residual[i]);
  });
  found.mse = static_cast<double>(moments.residual2 / moments.weight);
  found.mae = static_cast<double>(moments.residual / moments.weight);
  found.mape = static_cast<double>(moments.relative / moments.weight);
  found.sign = static_cast<double>(moments.same_sign / moments.weight);
  correlate(sample, moments, out, missing, cheap, found);
  return found;
}

double squared_differences(Span<const double> y, Weights w, const ParallelOptions& options) {
  struct Sum {
    long double value = 0;
    void add(const Sum& other) { value += other.value; }
  };
  const Sum all = summed<Sum>(y.size, options, [&](Sum& part, std::size_t i) {
    const double apart = y[i] - y[0];
    part.value += w[i] * (apart * apart);
  });
  return static_cast<double>(all.value);
}

void confidence_bands(Span<const double> mean, Span<const double> errors, double z,
                      Span<double> lower, Span<double> upper, const ParallelOptions& options) {
  const std::size_t n = mean.size;
  if (errors.size != n || lower.size != n || upper.size != n) {
    throw error(ErrorKind::internal, "bands of a wrong size");
  }
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      lower[i] = mean[i] - z * errors[i];
      upper[i] = mean[i] + z * errors[i];
    }
  });
}

}  // namespace kestrel
