// Densities and pair sums by the sweep engine, against sums over every pair.
#include "common.hpp"
#include "core/base/error.hpp"
#include "core/sweep/density.hpp"
#include "line-oracle.hpp"
#include "sweep-expect.hpp"

using namespace kestrel;
using common::run_on;
using lines::Data;
using lines::Line;
using lines::span;
using oracle::real;
using oracle::WindowSums;
using namespace sweeps;

namespace {

class SweepDensity : public testing::TestWithParam<Line> {};

INSTANTIATE_TEST_SUITE_P(Lines, SweepDensity, testing::ValuesIn(lines::of_every_kind_and_size(110)),
                         name_of);

}  // namespace

TEST_P(SweepDensity, Densities) {
  const Line& line = GetParam();
  const Data data = lines::sorted(line, line.w);
  for (const double h : lines::bandwidths_and_edges(line)) {
    const std::vector<double> points = lines::points_about(line, h, 90);
    for (const Kernel kernel : kernels) {
      SCOPED_TRACE(describe(kernel, 1, h));
      const real scale = oracle::constant(kernel, 1) / h;
      std::vector<WindowSums> wanted;
      for (const double e : points) {
        wanted.push_back(oracle::window_sums(data, e, 0, data.x.size(), kernel, h, 1));
      }
      for (const simd::Table* table : common::tables()) {
        SCOPED_TRACE(table->name);
        std::vector<double> got(points.size());
        sweep_density(line.samples(), line.weights(), span(points), kernel, h, run_on(table),
                      {got.data(), got.size()});
        expect_column(
            got.data(), points.size(),
            [&](std::size_t i) {
              const real error = tolerance(kernel, 1) * wanted[i].s[0] + rounding(wanted[i]);
              return std::make_pair(scale * wanted[i].s[0], scale * error);
            },
            "density");
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// A sum over pairs: how far roundings of the distances move it, and what it would be if all pairs
/// in reach were at distance zero.
struct PairSum {
  real value = 0, slack = 0, reach = 0;
};

/// Convolutions of a higher degree are summed with an error relative to the pairs in reach.
bool has_high_degree(Kernel kernel) { return kernel_degree(kernel) > 6; }

TEST_P(SweepDensity, PairCurves) {
  const Line& line = GetParam();
  const std::vector<double> h = lines::bandwidths_and_edges(line);
  for (const Kernel kernel : kernels) {
    std::vector<PairSum> convolution(h.size()), one(h.size());
    for (std::size_t k = 0; k < h.size(); ++k) {
      const int m = oracle::exponents(kernel).outer;
      const real top = oracle::convolution(kernel, 0, 2);
      const auto add = [&](PairSum& sum, real weight, real t, real value, int order) {
        sum.value += weight * value / h[k];
        sum.slack += weight * order * value / t / h[k];  // order: of the zero at the edge
      };
      for (std::size_t i = 0; i < line.x.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          const real weight = static_cast<real>(line.w[i]) * line.w[j];
          const real distance = std::fabs(static_cast<real>(line.x[i]) - line.x[j]);
          const real u = distance / h[k], t = (h[k] - distance) / h[k];
          if (u < 2) {
            add(convolution[k], weight, 1 + t, oracle::convolution(kernel, u, 1 + t), 2 * m + 1);
            convolution[k].reach += weight * top / h[k];
          }
          if (!oracle::inside(kernel, line.x[i], line.x[j], h[k])) continue;
          const real value = oracle::value(kernel, line.x[i], line.x[j], h[k]);
          add(one[k], weight, m == 0 ? 1 : t, oracle::constant(kernel, 1) * value, m);
        }
      }
    }
    for (const simd::Table* table : common::tables()) {
      const PairCurve got =
          sweep_pair_curve(line.samples(), line.weights(), span(h), kernel, run_on(table));
      ASSERT_EQ(got.kernel.size(), h.size());
      ASSERT_EQ(got.convolution.size(), h.size());
      for (std::size_t k = 0; k < h.size(); ++k) {
        SCOPED_TRACE(table->name + (", " + describe(kernel, 1, h[k])));
        const auto allowed = [](const PairSum& sum, double relative) {
          return relative * sum.value + 4 * oracle::kEpsilon * sum.slack;
        };
        // The convolution of the triweight kernel, of degree 13, has a condition of 942 at u = 0.
        const double relative = kernel_degree(kernel) == 6 ? 5e-13 : 1e-13;
        const real more = has_high_degree(kernel) ? 1e-12 * convolution[k].reach : 0;
        ASSERT_LE(std::fabs(got.kernel[k] - one[k].value),
                  allowed(one[k], std::max(1e-13, tolerance(kernel, 1))));
        ASSERT_LE(std::fabs(got.convolution[k] - convolution[k].value),
                  allowed(convolution[k], relative) + more);
      }
    }
  }
}

/// The formulas of the oracle against the rule of 48 nodes on either side of the kinks.
TEST(Convolutions, AreIntegrals) {
  const oracle::Rule rule = oracle::legendre_rule(48);
  for (const Kernel kernel : kernels) {
    const real constant = oracle::constant(kernel, 1);
    for (int step = 0; step < 64; ++step) {
      const real u = step / 32.0L, low = u - 1;
      real sum = 0;
      // Both kernels are polynomials in the pieces below 0, between 0 and u, and above u.
      const real end[] = {low, std::max(low, 0.0L), std::min(1.0L, std::max(u, 0.0L)), 1};
      for (int piece = 0; piece < 3; ++piece) {
        const real half = (end[piece + 1] - end[piece]) / 2;
        for (std::size_t p = 0; p < rule.node.size(); ++p) {
          const real v = end[piece] + half * (1 + rule.node[p]);
          sum += half * rule.weight[p] * oracle::profile(kernel, std::fabs(v)) *
                 oracle::profile(kernel, std::fabs(u - v));
        }
      }
      EXPECT_NEAR(static_cast<double>(oracle::convolution(kernel, u, 2 - u)),
                  static_cast<double>(constant * constant * sum), 1e-15)
          << common::kernel_name(kernel) << " at " << static_cast<double>(u);
    }
  }
}

// ---- threads, order, errors

TEST(SweepDensityThreads, GiveTheSameBits) {
  const Line line = lines::make("long", 140000, shapes::normal);
  const std::vector<double> few{0.05}, all_many{1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10},
      many = common::under_tsan() ? std::vector<double>{1e-5, 0.1, 1, 10} : all_many;
  const auto all_of = [&](int threads) {
    const RunOptions options = run_on(simd::find_table("auto"), threads);
    std::vector<double> all;
    for (const auto& h : {few, many}) {
      const PairCurve curve =
          sweep_pair_curve(line.samples(), line.weights(), span(h), Kernel::epanechnikov, options);
      all.insert(all.end(), curve.convolution.begin(), curve.convolution.end());
      all.insert(all.end(), curve.kernel.begin(), curve.kernel.end());
    }
    for (const double h : {1e-4, 0.2}) {
      std::vector<double> density(line.x.size());
      sweep_density(line.samples(), line.weights(), line.samples(), Kernel::triweight, h, options,
                    {density.data(), density.size()});
      all.insert(all.end(), density.begin(), density.end());
    }
    return all;
  };
  const std::vector<double> alone = all_of(1);
  for (const int threads : common::thread_counts()) {
    EXPECT_TRUE(common::same_bits(all_of(threads), alone)) << threads << " threads";
    EXPECT_EQ(threads_last_used(), threads);
  }
}

TEST(SweepDensityThreads, AloneOrOneOfManyABandwidthGivesTheSameBits) {
  const Line line = lines::make("long", 140000, shapes::normal);
  const RunOptions options = run_on(simd::find_table("auto"), 3);
  const std::vector<double> h{1e-3, 0.02, 0.3, 0.4, 0.5, 0.6, 2};
  const PairCurve together =
      sweep_pair_curve(line.samples(), line.weights(), span(h), Kernel::biweight, options);
  for (std::size_t k = 0; k < h.size(); ++k) {
    const PairCurve one =
        sweep_pair_curve(line.samples(), line.weights(), {&h[k], 1}, Kernel::biweight, options);
    EXPECT_EQ(one.convolution[0], together.convolution[k]) << h[k];
    EXPECT_EQ(one.kernel[0], together.kernel[k]) << h[k];
  }
}

TEST(SweepDensityErrors, AreOfTheInput) {
  const Line line = lines::make("small", 10, shapes::normal);
  const Span<const double> x = line.samples(), w = line.weights();
  const RunOptions options = run_on(simd::baseline_table());
  const auto density = [&](Span<const double> sample, Span<const double> weight,
                           Span<const double> points, Kernel kernel, double h) {
    std::vector<double> out(points.size);
    sweep_density(sample, weight, points, kernel, h, options, {out.data(), out.size()});
  };
  for (const double h : {0.0, -1.0, std::nan(""), HUGE_VAL, 1e-310}) {
    EXPECT_THROW(density(x, w, x, Kernel::biweight, h), error) << h;
    EXPECT_THROW(sweep_pair_curve(x, w, {&h, 1}, Kernel::biweight, options), error) << h;
  }
  const double h = 0.5;
  for (const Kernel kernel : {Kernel::gaussian, Kernel::cosine}) {
    EXPECT_THROW(density(x, w, x, kernel, h), error);
    EXPECT_THROW(sweep_pair_curve(x, w, {&h, 1}, kernel, options), error);
  }
  EXPECT_THROW(density(x, {w.data, 9}, x, Kernel::biweight, h), error);
  for (const double bad : {HUGE_VAL, std::nan("")}) {
    std::vector<double> v = line.x;
    v[3] = bad;
    EXPECT_THROW(density(span(v), w, x, Kernel::biweight, h), error) << bad;
    EXPECT_THROW(density(x, w, span(v), Kernel::biweight, h), error) << bad;
    EXPECT_THROW(sweep_pair_curve(span(v), w, {&h, 1}, Kernel::biweight, options), error) << bad;
  }
}
