// The fourier engine over all pairs, against the oracle.
#include <algorithm>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/criteria/criteria.hpp"
#include "core/criteria/fourier_pairs.hpp"
#include "criteria-expect.hpp"

using namespace kestrel;
using namespace fourier_oracle;

namespace {

class Fourier : public testing::TestWithParam<Drawn> {};

INSTANTIATE_TEST_SUITE_P(Shapes, Fourier, testing::ValuesIn(all_samples()),
                         [](const auto& info) { return info.param.name; });

}  // namespace

TEST_P(Fourier, Functionals) {
  const Drawn& s = GetParam();
  FourierSums sums(s.view(), s.weights(), demand_for(s), threads(1));
  for (const std::vector<double>& G : matrices_for(s)) {
    const MeanDerivatives wanted(s, in_long_double(G), 10);
    for (const int order : {0, 2, 4, 6, 8, 10}) {
      const auto& of_order = wanted.of_degree[static_cast<std::size_t>(order)];
      const auto indices = indices_of_degree(s.d, order);
      const std::vector<double> psi = sums.psi(span(G), order, threads(1));
      ASSERT_EQ(psi.size(), of_order.size());
      for (std::size_t m = 0; m < psi.size(); ++m) {
        // int |t^alpha| A E is at most the product of (int |t_k|^r A E)^(alpha_k / r) (Hoelder).
        real size = order == 0 ? wanted.of_degree[0][0] : 1;
        for (std::size_t k = 0; k < s.d && order > 0; ++k) {
          Index pure(s.d, 0);
          pure[k] = order;
          const auto at = std::find(indices.begin(), indices.end(), pure) - indices.begin();
          size *= std::pow(std::fabs(of_order[static_cast<std::size_t>(at)]),
                           static_cast<real>(indices[m][k]) / order);
        }
        expect_near(psi[m], of_order[m], tolerance_for(s) * size,
                    "psi " + std::to_string(order) + ", " + std::to_string(m));
      }
    }
  }
}

namespace {

/// A, d*d column-major: scales, shears and exchanges the variables; its determinant is negative for
/// d = 2.
std::vector<double> other_axes(std::size_t d) {
  if (d == 1) return {-2.5};
  if (d == 2) return {0.5, 3, 2, -1};
  return {0.5, 0, 1, 2, 0.25, -1, 0, 3, 0.5};
}

/// A M A'.
std::vector<double> moved(const std::vector<double>& a, const std::vector<double>& m,
                          std::size_t d) {
  std::vector<double> left(d * d, 0.0), out(d * d, 0.0);
  for (std::size_t e = 0; e < d * d * d; ++e) {
    const std::size_t k = e / (d * d), l = e / d % d, i = e % d;
    left[l * d + k] += a[i * d + k] * m[l * d + i];
  }
  for (std::size_t e = 0; e < d * d * d; ++e) {
    const std::size_t k = e / (d * d), l = e / d % d, i = e % d;
    out[l * d + k] += left[i * d + k] * a[i * d + l];
  }
  return out;
}

}  // namespace

// A grid for the samples x answers queries about A x as one for these does.
TEST_P(Fourier, OnOtherAxes) {
  const Drawn& s = GetParam();
  const std::size_t d = s.d;
  const std::vector<double> a = other_axes(d);
  Drawn y = s;
  for (std::size_t i = 0; i < s.n; ++i) {
    for (std::size_t k = 0; k < d; ++k) {
      real sum = 0;
      for (std::size_t l = 0; l < d; ++l)
        sum += real{a[l * d + k]} * (s.x[l * s.n + i] - s.x[l * s.n]);
      y.x[k * s.n + i] = static_cast<double>(sum);
    }
  }
  const Sample in_s(s.view(), s.weights()), in_y(y.view(), y.weights());
  FourierPairs sums(in_s, demand_for(s), span(a), threads(1)),
      of_y(in_y, demand_for(s), {}, threads(1));
  // Both are off by a tolerance, and strongly correlated samples lose digits in A x. A far origin
  // would, too, so y is about the first sample.
  const double allowed = 30 * tolerance_for(s);
  for (const std::vector<double>& in_x : matrices_for(s)) {
    const std::vector<double> H = moved(a, in_x, d);
    const double size = of_y.gaussian(span(H), false, threads(1))[0].value +
                        static_cast<double>(share(s) * peak(in_long_double(H), d));
    const auto expect_same = [&](const SumWithGradient& found, const SumWithGradient& wanted) {
      EXPECT_NEAR(found.value, wanted.value, allowed * size);
      for (std::size_t k = 0; k < d; ++k) {
        for (std::size_t l = 0; l < d; ++l) {
          const double unit = std::sqrt(H[k * d + k] * H[l * d + l]);
          EXPECT_NEAR(found.gradient[l * d + k] * unit, wanted.gradient[l * d + k] * unit,
                      100 * allowed * size);
        }
      }
    };
    expect_same(lscv(sums, span(H), LscvForm::unbiased, true, threads(1)),
                lscv(of_y, span(H), LscvForm::unbiased, true, threads(1)));
    expect_same(scv(sums, span(H), span(H), true, threads(1))[0],
                scv(of_y, span(H), span(H), true, threads(1))[0]);
    const std::vector<double> found =
        in_s.found<FourierSums>()->psi(span(H), 4, threads(1), span(a));
    const std::vector<double> of_others = in_y.found<FourierSums>()->psi(span(H), 4, threads(1));
    ASSERT_EQ(found.size(), of_others.size());
    const double largest =
        std::fabs(*std::max_element(of_others.begin(), of_others.end(), [](double u, double v) {
          return std::fabs(u) < std::fabs(v);
        }));
    for (std::size_t m = 0; m < found.size(); ++m) {
      EXPECT_NEAR(found[m], of_others[m], 100 * allowed * largest) << m;
    }
  }
}

TEST(FourierAxes, AreIndependent) {
  const Drawn s = normal_sample(60, 2);
  FourierSums sums(s.view(), s.weights(), demand_for(s), threads(1));
  const std::vector<double> a{1, 2, 2, 4};
  EXPECT_THROW(sums.psi(span(matrices_for(s)[0]), 4, threads(1), span(a)), error);
}

TEST(FourierGradient, OfAFunctionalIsHalfOfHigherOnes) {
  const Drawn s = normal_sample(60, 2);
  FourierSums sums(s.view(), s.weights(), demand_for(s), threads(1));
  const std::vector<double> G = matrices_for(s)[2];
  const std::vector<double> sixth = sums.psi(span(G), 6, threads(1));
  std::vector<double> above = G, below = G;
  const double step = 1e-4 * G[0];
  above[0] += step;
  below[0] -= step;
  const double slope =
      (sums.psi(span(above), 4, threads(1))[1] - sums.psi(span(below), 4, threads(1))[1]) /
      (2 * step);
  EXPECT_NEAR(slope, 0.5 * sixth[1], 1e-6 * std::fabs(sixth[1]));  // psi_31 by G_11: psi_51
}

TEST(FourierOutliers, AreSummedOneByOne) {
  for (const std::size_t d : {1, 2, 3}) {
    Drawn s = normal_sample(150, d);
    for (std::size_t i = 0; i < 6; ++i) {  // two groups of three, a million deviations apart
      for (std::size_t k = 0; k < d; ++k) {
        s.x[k * s.n + i] = (i < 3 ? 1e6 : -1e6) + 0.1 * static_cast<double>(i * (k + 1));
      }
    }
    FourierDemand demand;
    demand.root.assign(d * d, 0.0);
    for (std::size_t k = 0; k < d; ++k) demand.root[k * d + k] = 1;
    demand.min = 0.3;
    demand.max = 1;
    const RunOptions options = threads(1);
    const Sample sample(s.view(), s.weights());
    FourierPairs sums(sample, demand, {}, options);
    EXPECT_TRUE(d == 1 || sample.found<FourierSums>()->modes().geometry().trimmed);
    std::vector<double> H(d * d, 0.0);
    for (std::size_t k = 0; k < d; ++k) H[k * d + k] = 0.2 + 0.1 * static_cast<double>(k);
    const Matrix wide = in_long_double(H);
    // Positions of 1e6 bandwidths cost a coordinate six digits in an untrimmed grid.
    const real allowed = d == 1 ? 1e-9L : tolerance_for(s);
    const Criterion wanted = lscv(s, wide, true);
    const SumWithGradient found = lscv(sums, span(H), LscvForm::unbiased, true, options);
    expect_near(found.value, wanted.value, allowed * wanted.size, "LSCV");
    const Matrix slope = slopes(wide, d, [&](const Matrix& at) { return lscv(s, at, true).value; });
    expect_gradient(found.gradient, slope, wide, d, 1e-9L * wanted.size);
    const real smoothed = scv(s, wide, wide).value;
    expect_near(scv(sums, span(H), span(H), false, options)[0].value, smoothed, allowed * smoothed,
                "SCV");
    const MeanDerivatives psi(s, wide, 8);
    expect_near(sample.found<FourierSums>()->psi(span(H), 8, options)[0], psi.of_degree[8][0],
                allowed * psi.of_degree[8][0], "psi");
  }
}

TEST(FourierRange, GrowsWhenAskedOutside) {
  const Drawn s = normal_sample(100, 2);
  const Sample sample(s.view(), s.weights());
  FourierPairs sums(sample, demand_for(s), {}, threads(1));
  for (const double factor : {0.2, 1.0, 3.0, 0.2, 3.0}) {
    std::vector<double> H = matrices_for(s)[2];
    for (double& v : H) v *= factor * factor;
    const Criterion wanted = lscv(s, in_long_double(H), true);
    expect_near(lscv(sums, span(H), LscvForm::unbiased, false, threads(1)).value, wanted.value,
                1e-12L * wanted.size, "LSCV");
  }
  EXPECT_EQ(sample.found<FourierSums>()->spreads(), 3);
}

TEST(FourierRange, IsMadeAnewForAnotherPartOfACurve) {
  const Drawn s = normal_sample(100, 3);
  FourierDemand demand = demand_for(s);
  const double min = demand.min, max = demand.max;
  const Sample sample(s.view(), s.weights());
  FourierPairs pairs(sample, demand, {}, threads(1));
  FourierSums& sums = *sample.found<FourierSums>();
  const std::size_t cells = sums.modes().geometry().box.size();
  sums.prepare(min, 0.5 * (min + max), threads(1));
  EXPECT_EQ(sums.spreads(), 1);
  sums.prepare(2 * max, 3 * max, threads(1));
  EXPECT_EQ(sums.spreads(), 2);
  EXPECT_LT(sums.modes().geometry().box.size(), cells);
  const std::array<double, 9>& root = sums.modes().geometry().root;
  std::vector<double> H(9, 0.0);
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t l = 0; l < 3; ++l) {
      for (std::size_t m = 0; m <= std::min(k, l); ++m) {
        H[l * 3 + k] += 6 * max * max * root[m * 3 + k] * root[m * 3 + l];
      }
    }
  }
  const Criterion wanted = lscv(s, in_long_double(H), true);
  expect_near(lscv(pairs, span(H), LscvForm::unbiased, false, threads(1)).value, wanted.value,
              1e-9L * wanted.size, "LSCV");
  EXPECT_EQ(sums.spreads(), 2);
}

TEST(FourierSmall, OneSampleTwoSamplesAndEqualOnes) {
  FourierDemand demand;
  demand.root = {1, 0.3, 0, 0.8};
  demand.min = 0.2;
  demand.max = 0.5;
  const std::vector<double> H = {0.1, 0.02, 0.02, 0.12};
  for (const std::size_t n : {1, 2, 5}) {
    Drawn s = normal_sample(n, 2);
    if (n == 5) std::fill(s.x.begin(), s.x.end(), 3.25);
    const Sample sample(s.view(), s.weights());
    FourierPairs sums(sample, demand, {}, threads(1));
    const real all = mean_kernel(s, in_long_double(H));
    expect_near(sums.gaussian(span(H), false, threads(1))[0].value,
                all - share(s) * peak(in_long_double(H), 2), 1e-12L * all, "S");
    if (n == 1) {
      EXPECT_THROW(lscv(sums, span(H), LscvForm::unbiased, false, threads(1)), error);
    } else {
      const Criterion criterion = lscv(s, in_long_double(H), true);
      expect_near(lscv(sums, span(H), LscvForm::unbiased, false, threads(1)).value, criterion.value,
                  1e-12L * criterion.size, "LSCV");
    }
  }
}
