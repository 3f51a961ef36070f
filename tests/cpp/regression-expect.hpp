// Expectations of fits in the tests of regression.
#ifndef KESTREL_TOOLS_REGRESSION_EXPECT_HPP
#define KESTREL_TOOLS_REGRESSION_EXPECT_HPP

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "common.hpp"
#include "core/regression/regression.hpp"
#include "line-oracle.hpp"

namespace fits {

using common::name_of;
using kestrel::Kernel;
using kestrel::LocalKernel;
using lines::Line;
using oracle::real;

const std::vector<Kernel> kernels = common::kernels_where(
    [](Kernel kernel) { return kestrel::is_polynomial(kernel) || !kestrel::is_compact(kernel); });

inline kestrel::RegressionSample sample_of(const Line& line, const std::vector<double>& y) {
  return {line.samples(), lines::span(y), line.weights()};
}

// Sums of a sample that is sorted for this one call.

inline kestrel::CrossValidation cross_validate(const kestrel::RegressionSample& sample,
                                               kestrel::Span<const double> h, Kernel kernel,
                                               bool local_linear,
                                               const kestrel::RunOptions& options) {
  return kestrel::LocalRegression(sample, options.parallel)
      .cross_validate(h, {kernel, 1, local_linear}, options);
}
struct Residuals {
  std::vector<double> leave_one_out, in_sample, leverage, error2, variance, gradient,
      gradient_variance;
  kestrel::FitTotals totals;
};
inline Residuals regression_residuals(const kestrel::RegressionSample& sample,
                                      const LocalKernel& kernel, const kestrel::RunOptions& options,
                                      bool errors = false) {
  const std::vector<double> room(sample.x.size);
  const std::vector<double> change(kernel.gradient ? sample.x.size : 0);
  Residuals out{room, room, room, room, errors ? room : std::vector<double>(), change, change, {}};
  const auto span = [](std::vector<double>& v) {
    return kestrel::Span<double>{v.data(), v.size()};
  };
  out.totals = kestrel::LocalRegression(sample, options.parallel)
                   .residuals(kernel,
                              {span(out.leave_one_out), span(out.in_sample), span(out.leverage),
                               span(out.error2), span(out.variance), span(out.gradient),
                               span(out.gradient_variance)},
                              options);
  return out;
}
inline kestrel::Fits regression_fits(const kestrel::RegressionSample& sample,
                                     kestrel::Span<const double> points,
                                     kestrel::Span<const double> error2, const LocalKernel& kernel,
                                     const kestrel::RunOptions& options) {
  return kestrel::LocalRegression(sample, options.parallel).fits(points, error2, kernel, options);
}

inline std::string describe(const LocalKernel& kernel) {
  std::ostringstream text;
  text.precision(17);
  text << common::kernel_name(kernel.kernel)
       << (kernel.local_linear ? ", local linear" : ", local constant") << ", h = " << kernel.h;
  return text.str();
}

inline oracle::Residuals wanted_residuals(const lines::Data& data, const LocalKernel& kernel) {
  return oracle::residuals(data, kernel.kernel, kernel.h, kernel.local_linear);
}

inline void expect_near(double got, real wanted, real allowed, const std::string& what) {
  EXPECT_LE(std::fabs(got - wanted), allowed)
      << what << ": " << got << ", not " << static_cast<double>(wanted) << ", error "
      << static_cast<double>(std::fabs(got - wanted)) << ", allowed "
      << static_cast<double>(allowed);
}

/// The sums for one bandwidth. Residuals in the sample may consist of rounding errors, where fits
/// pass through the data.
inline void expect_sums(const kestrel::CrossValidation& sums, const oracle::Residuals& wanted,
                        const Line& line) {
  const double heaviest = *std::max_element(line.w.begin(), line.w.end());
  EXPECT_EQ(sums.unsupported[0], wanted.unsupported);
  expect_near(sums.squares[0], wanted.squares, 1e-12 * wanted.squares, "squares");
  expect_near(sums.in_sample[0], wanted.in_sample_squares,
              1e-12 * wanted.in_sample_squares + 1e-28 * heaviest, "squares in the sample");
  expect_near(sums.trace[0], wanted.trace, 1e-12 * wanted.trace, "trace");
}

/// Lines without observations of weight zero, which regression does not take.
inline std::vector<Line> lines_to_fit() {
  std::vector<Line> all;
  for (const Line& line : lines::of_every_kind_and_size(100)) {
    if (line.x.size() > 100) continue;  // test-sweep.cpp tests sizes near those of blocks of sums
    Line kept{line.name, {}, {}};
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      if (line.w[i] == 0) continue;
      kept.x.push_back(line.x[i]);
      kept.w.push_back(line.w[i]);
    }
    all.push_back(kept);
  }
  return all;
}

template <class F>
void for_every_fit(const Line& line, F body) {
  for (const double h : lines::bandwidths_and_edges(line)) {
    for (const Kernel kernel : kernels) {
      for (const bool local_linear : {false, true}) {
        const LocalKernel one{kernel, h, local_linear};
        SCOPED_TRACE(describe(one));
        body(one);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

/// A million, or a trend of that height, plus the response.
inline std::vector<double> large_response(const Line& line, bool trend) {
  const auto range = std::minmax_element(line.x.begin(), line.x.end());
  std::vector<double> y = lines::response(line);
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    const double share = (line.x[i] - *range.first) / (*range.second - *range.first + 1e-9);
    y[i] = 1e6 * (trend ? share : 1.0) + y[i];
  }
  return y;
}

/// Residuals are a thousandth of what y differs by within a window.
inline std::vector<double> steep_response(const Line& line) {
  std::vector<double> y = lines::response(line);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 1e6 + 1e6 * line.x[i] + 1e3 * y[i];
  return y;
}

}  // namespace fits

#endif
