// The fourier engine with samples in clusters far narrower than they are apart, against the oracle.
#include <cmath>

#include "common.hpp"
#include "core/criteria/criteria.hpp"
#include "core/criteria/fourier_pairs.hpp"
#include "core/fourier/pack.hpp"
#include "criteria-expect.hpp"

using namespace kestrel;
using namespace fourier_oracle;

namespace {

// Samples in clusters at random places. The last ones are alone, or two and two.
Drawn towns(std::size_t d, std::size_t count, std::size_t alone, const std::string& name) {
  Drawn s = make(name, 100, d, [](std::mt19937_64& random, std::vector<double>& row) {
    for (double& v : row) v = 1e-3 * shapes::normal(random);
  });
  std::mt19937_64 random(11);
  std::vector<double> centre(count * d);
  for (double& v : centre) v = 90 * shapes::uniform(random);
  for (std::size_t i = 0; i < s.n; ++i) {
    for (std::size_t k = 0; k < d; ++k) {
      double& v = s.x[k * s.n + i];
      if (i + alone >= s.n) {
        v = 100 + 0.7 * static_cast<double>(i / 2) + 1e-3 * static_cast<double>(i % 2);
      } else {
        v += centre[i % count * d + k];
      }
    }
    s.w[i] = 0.5 + static_cast<double>(i % 3);
  }
  return s;
}

FourierDemand demand_of(std::size_t d) {
  FourierDemand demand;
  demand.root.assign(d * d, 0.0);
  for (std::size_t k = 0; k < d; ++k) {
    demand.root[k * d + k] = 1e-3;
    if (k > 0) demand.root[k] = 3e-4;
  }
  demand.min = 0.4;
  demand.max = 1;
  demand.density_tolerance = d == 2 ? 1e-12 : 0;
  return demand;
}

std::vector<double> bandwidth(std::size_t d) {
  std::vector<double> H(d * d, 1e-8);
  for (std::size_t k = 0; k < d; ++k) H[k * d + k] = 3e-7 + 1e-7 * static_cast<double>(k);
  return H;
}

}  // namespace

TEST(FourierClusters, ArePackedAndSummedAsTheyAre) {
  for (const std::size_t d : {2, 3}) {
    std::vector<Drawn> samples = {towns(d, 2, 0, "two"), towns(d, 3, 6, "few"),
                                  towns(d, 1, 1, "one"), towns(d, d == 2 ? 9 : 5, 9, "many")};
    // In three dimensions their grid takes half a minute.
    if (d == 2) samples.push_back(towns(d, 60, 0, "singles"));
    for (const Drawn& s : samples) {
      SCOPED_TRACE(s.name);
      const RunOptions options = common::run_on(simd::find_table("auto"), 1);
      const Sample sample(s.view(), s.weights());
      FourierPairs pairs(sample, demand_of(d), {}, options);
      FourierSums& sums = *sample.found<FourierSums>();
      // Modes of packed samples are no use for a density. One outlier is left out of the grid.
      EXPECT_EQ(sums.kept_modes() == nullptr, s.name.rfind("one", 0) != 0);
      const std::vector<double> H = bandwidth(d);
      const Matrix wide = in_long_double(H);
      const double tolerance = default_fourier_tolerance(d);
      const Criterion wanted = lscv(s, wide, true);
      const SumWithGradient found = lscv(pairs, span(H), LscvForm::unbiased, true, options);
      EXPECT_NEAR(found.value, static_cast<double>(wanted.value),
                  tolerance * static_cast<double>(wanted.size));
      const Matrix slope =
          slopes(wide, d, [&](const Matrix& at) { return lscv(s, at, true).value; });
      for (std::size_t e = 0; e < d * d; ++e) {
        EXPECT_NEAR(found.gradient[e] * 3e-7, static_cast<double>(slope[e] * 3e-7L),
                    1e-9 * static_cast<double>(wanted.size));
      }
      const double smoothed = static_cast<double>(scv(s, wide, wide).value);
      EXPECT_NEAR(scv(pairs, span(H), span(H), false, options)[0].value, smoothed,
                  tolerance * smoothed);
      const MeanDerivatives psi(s, wide, 8);
      const double eighth = static_cast<double>(psi.of_degree[8][0]);
      EXPECT_NEAR(sums.psi(span(H), 8, options)[0], eighth, tolerance * std::fabs(eighth));
      const auto value_on = [&](int count) {
        const Sample again(s.view(), s.weights());
        const RunOptions how = common::run_on(simd::find_table("auto"), count);
        FourierPairs fresh(again, demand_of(d), {}, how);
        return lscv(fresh, span(H), LscvForm::unbiased, true, how).value;
      };
      EXPECT_EQ(value_on(3), value_on(1));
    }
  }
}

TEST(FourierClusters, DifferencesKeepTheirDigitsWhereverAClusterLies) {
  // Of whole numbers times 2^-20: shifting by a power of two is exact.
  Drawn s = towns(2, 2, 0, "far");
  for (std::size_t i = 0; i < s.n; ++i) {
    for (std::size_t k = 0; k < 2; ++k) {
      double& v = s.x[k * s.n + i];
      v = std::round(v * 1048576) / 1048576 + (i % 2 == 0 ? 4194304 : 0);
    }
  }
  const RunOptions options = common::run_on(simd::find_table("auto"), 1);
  const Sample sample(s.view(), s.weights());
  FourierPairs pairs(sample, demand_of(2), {}, options);
  const std::vector<double> H = bandwidth(2);
  const Criterion wanted = lscv(s, in_long_double(H), true);
  EXPECT_NEAR(lscv(pairs, span(H), LscvForm::unbiased, false, options).value,
              static_cast<double>(wanted.value), 1e-12 * static_cast<double>(wanted.size));
}

TEST(FourierClusters, OneClusterIsNotPacked) {
  const Drawn s = normal_sample(3000, 2);
  const RunOptions options = common::run_on(simd::find_table("auto"), 1);
  EXPECT_TRUE(pack_clusters(s.view(), s.weights(), {1, 0, 0, 1}, 0.3, 1e-12, options).w.empty());
}
