// Regression with Gaussian kernels of higher order, and gradients of fits, against sums sample by
// sample.
#include "common.hpp"
#include "core/base/error.hpp"
#include "core/regression/regression.hpp"
#include "line-oracle.hpp"
#include "regression-expect.hpp"

using namespace kestrel;
using common::run_on;
using lines::Data;
using lines::Line;
using lines::span;
using oracle::real;
using namespace fits;

namespace {

/// np's kernels (Li & Racine 2007, 1.11), divided by their value at 0, and their derivatives.
struct AtDistance {
  real value, derivative;
};
AtDistance kernel_at(int order, real u) {
  static const std::vector<real> terms[] = {{1},
                                            {1.5L, -0.5L},
                                            {15 / 8.0L, -5 / 4.0L, 1 / 8.0L},
                                            {105 / 48.0L, -105 / 48.0L, 21 / 48.0L, -1 / 48.0L}};
  const std::vector<real>& term = terms[order / 2 - 1];
  real factor = 0, change = 0, power = 1;  // u^(2 k)
  for (std::size_t k = 0; k < term.size(); ++k) {
    factor += term[k] / term[0] * power;
    if (k + 1 < term.size()) change += 2 * (k + 1) * term[k + 1] / term[0] * power * u;
    power *= u * u;
  }
  return {factor * std::exp(-u * u / 2), (change - u * factor) * std::exp(-u * u / 2)};
}

/// The weights of a fit at e, of its gradient, and how much larger its terms are than their sum.
struct WantedWeights {
  std::vector<real> fit, gradient;
  real loss = 0;
};

WantedWeights weights_at(const Data& data, const LocalKernel& kernel, real e, std::size_t own) {
  WantedWeights found;
  const std::size_t n = data.x.size();
  std::vector<real> k(n), change(n);
  real s0 = 0, s1 = 0, size = 0, spread = 0, terms = 0, changes = 0;
  for (std::size_t j = 0; j < n; ++j) {
    if (j == own) continue;
    const AtDistance at = kernel_at(kernel.order, (data.x[j] - e) / kernel.h);
    k[j] = data.w[j] * at.value;
    change[j] = -data.w[j] * at.derivative / kernel.h;
    s0 += k[j];
    s1 += k[j] * (data.x[j] - e);
    size += std::fabs(k[j]);
    changes += change[j];
  }
  const real mean = s1 / s0;
  for (std::size_t j = 0; j < n; ++j) {
    const real off = (data.x[j] - e) - mean;
    spread += k[j] * off * off;
    terms += std::fabs(k[j]) * (data.x[j] - e) * (data.x[j] - e);
  }
  found.loss = size / std::fabs(s0);
  if (kernel.local_linear) found.loss = std::max(found.loss, terms / std::fabs(spread));
  for (std::size_t j = 0; j < n; ++j) {
    const real off = (data.x[j] - e) - mean;
    if (kernel.local_linear) {
      found.fit.push_back(k[j] / s0 - k[j] * off * mean / spread);
      found.gradient.push_back(k[j] * off / spread);
    } else {
      found.fit.push_back(k[j] / s0);
      found.gradient.push_back((change[j] - k[j] * changes / s0) / s0);
    }
  }
  return found;
}

struct Wanted {
  real squares = 0, in_sample = 0, trace = 0, allowed = 0, allowed_trace = 0;
};

Wanted wanted_sums(const Data& data, const LocalKernel& kernel) {
  Wanted all;
  const std::size_t n = data.x.size();
  for (std::size_t i = 0; i < n; ++i) {
    const WantedWeights without = weights_at(data, kernel, data.x[i], i);
    const WantedWeights with = weights_at(data, kernel, data.x[i], n);
    real e = data.y[i], r = data.y[i], size = 0;
    for (std::size_t j = 0; j < n; ++j) {
      e -= without.fit[j] * data.y[j];
      r -= with.fit[j] * data.y[j];
      size += std::fabs(without.fit[j] * (data.y[j] - data.y[i]));
    }
    all.squares += data.w[i] * e * e;
    all.in_sample += data.w[i] * r * r;
    all.trace += with.fit[i];
    all.allowed_trace += 1e-13 * with.loss * std::fabs(with.fit[i]);
    all.allowed += data.w[i] * without.loss * (std::fabs(e) * size + size * size);
  }
  return all;
}

std::vector<Line> lines_of_orders() {
  std::vector<Line> all{lines::make("normal", 300, shapes::normal)};
  all.push_back(lines::make("rounded", 300, [](std::mt19937_64& random) {
    return std::floor(10 * shapes::normal(random)) / 10;
  }));
  all.push_back(lines::make("offset", 150,
                            [](std::mt19937_64& random) { return 1e6 + shapes::uniform(random); }));
  all.push_back(lines::make("few", 12, shapes::normal));
  Line weighted = all[0];
  weighted.name = "weighted";
  for (std::size_t i = 0; i < weighted.w.size(); ++i) weighted.w[i] = 0.25 + 0.5 * (i % 5);
  all.push_back(weighted);
  return all;
}

class Orders : public testing::TestWithParam<Line> {};

INSTANTIATE_TEST_SUITE_P(Lines, Orders, testing::ValuesIn(lines_of_orders()), name_of);

template <class F>
void for_every_order(const Line& line, F body) {
  const auto range = std::minmax_element(line.x.begin(), line.x.end());
  for (const int order : {2, 4, 6, 8}) {
    for (const bool local_linear : {false, true}) {
      // The second moment of a kernel of higher order is 0, and so is the spread of its lines.
      if (local_linear && order > 2) continue;
      for (const double share : {0.1, 0.35, 4.0}) {
        LocalKernel kernel{Kernel::gaussian, share * (*range.second - *range.first), local_linear,
                           order};
        SCOPED_TRACE(describe(kernel) + ", order " + std::to_string(order));
        body(kernel);
      }
    }
  }
}

}  // namespace

TEST_P(Orders, Curves) {
  const Line& line = GetParam();
  const std::vector<double> y = lines::response(line);
  const Data data = lines::sorted(line, y);
  for_every_order(line, [&](const LocalKernel& kernel) {
    const Wanted wanted = wanted_sums(data, kernel);
    for (const simd::Table* table : common::tables()) {
      SCOPED_TRACE(table->name);
      const CrossValidation got = LocalRegression(sample_of(line, y), {})
                                      .cross_validate({&kernel.h, 1}, kernel, run_on(table));
      EXPECT_EQ(got.unsupported[0], 0u);
      const real allowed = 1e-13 * wanted.allowed + 1e-12 * wanted.squares;
      expect_near(got.squares[0], wanted.squares, allowed, "squares");
      expect_near(got.in_sample[0], wanted.in_sample, allowed, "squares in the sample");
      expect_near(got.trace[0], wanted.trace, wanted.allowed_trace, "trace");
    }
  });
}

TEST_P(Orders, FitsAndGradients) {
  const Line& line = GetParam();
  const std::vector<double> y = lines::response(line);
  const Data data = lines::sorted(line, y);
  const std::size_t n = y.size();
  std::vector<double> error2;
  for (std::size_t i = 0; i < n; ++i) error2.push_back(0.01 * static_cast<double>(1 + i % 7));
  for_every_order(line, [&](LocalKernel kernel) {
    kernel.gradient = true;
    std::vector<double> points;
    for (std::size_t i = 0; i < 20; ++i) {
      const double share = static_cast<double>(i) / 19;
      points.push_back(data.x[0] + share * (data.x[n - 1] - data.x[0]));
    }
    const RunOptions options = run_on(simd::find_table("auto"));
    const Fits got =
        regression_fits(sample_of(line, y), span(points), span(error2), kernel, options);
    const fits::Residuals at_data = regression_residuals(sample_of(line, y), kernel, options, true);
    const auto expect = [&](real e, const std::vector<double>& squared, double mean,
                            double variance, double gradient, double gradient_variance) {
      const WantedWeights weights = weights_at(data, kernel, e, n);
      real fit = 0, slope = 0, of_fit = 0, of_slope = 0, size = 0, slopes = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const real square = squared[data.given[j]];
        fit += weights.fit[j] * data.y[j];
        slope += weights.gradient[j] * data.y[j];
        of_fit += weights.fit[j] * weights.fit[j] * square;
        of_slope += weights.gradient[j] * weights.gradient[j] * square;
        size += std::fabs(weights.fit[j] * data.y[j]);
        slopes += std::fabs(weights.gradient[j] * data.y[j]);
      }
      const real loss = 1e-12 * weights.loss;
      expect_near(mean, fit, loss * size, "fit");
      expect_near(variance, of_fit, 1e4 * loss * of_fit, "variance");
      expect_near(gradient, slope, loss * (slopes + size / kernel.h), "gradient");
      expect_near(gradient_variance, of_slope, 1e-8 * weights.loss * of_slope, "its variance");
    };
    for (std::size_t i = 0; i < points.size(); ++i) {
      SCOPED_TRACE(points[i]);
      expect(points[i], error2, got.mean[i], got.variance[i], got.gradient[i],
             got.gradient_variance[i]);
    }
    for (std::size_t i = 0; i < n; i += 7) {
      const std::size_t at = data.given[i];
      SCOPED_TRACE("observation " + std::to_string(i));
      expect(data.x[i], at_data.error2, y[at] - at_data.in_sample[at], at_data.variance[at],
             at_data.gradient[at], at_data.gradient_variance[at]);
    }
  });
}

/// Gradients of fits by compact kernels are differences of fits.
TEST(Gradients, OfCompactKernelsAreDifferences) {
  const Line line = lines::make("normal", 200, shapes::normal);
  const std::vector<double> y = lines::response(line), error2(y.size(), 1.0);
  const RunOptions options = run_on(simd::find_table("auto"));
  for (const Kernel kernel : {Kernel::epanechnikov, Kernel::biweight, Kernel::tricube}) {
    LocalKernel one{kernel, 1.1, false};
    one.gradient = true;
    SCOPED_TRACE(describe(one));
    const double step = 1e-6;
    for (const double e : {-0.7, 0.2, 1.3}) {
      const std::vector<double> points{e - step, e, e + step};
      const Fits got =
          regression_fits(sample_of(line, y), span(points), span(error2), one, options);
      EXPECT_NEAR(got.gradient[1], (got.mean[2] - got.mean[0]) / (2 * step), 1e-7);
    }
  }
}

TEST(Orders, OtherOnesAreErrors) {
  const Line line = lines::make("small", 10, shapes::normal);
  const std::vector<double> y(10, 1.0);
  const double h = 1;
  const LocalRegression regression(sample_of(line, y), {});
  for (const LocalKernel& kernel :
       {LocalKernel{Kernel::gaussian, h, false, 3}, LocalKernel{Kernel::gaussian, h, false, 10},
        LocalKernel{Kernel::biweight, h, false, 4}}) {
    EXPECT_THROW(regression.cross_validate({&h, 1}, kernel, {}), error);
  }
}
