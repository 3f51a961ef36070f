// The criteria over the sums of every engine, against the oracle.
#include <algorithm>
#include <memory>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/criteria/criteria.hpp"
#include "core/criteria/direct_pairs.hpp"
#include "core/criteria/fallback_pairs.hpp"
#include "core/criteria/fourier_pairs.hpp"
#include "core/criteria/line_pairs.hpp"
#include "criteria-expect.hpp"

using namespace kestrel;
using namespace fourier_oracle;

namespace {

/// The sums of a sample by one engine.
struct Sums {
  Sums(const Drawn& s, const std::string& name)
      : engine(name),
        sample(s.view(), s.weights()),
        tolerance(engine == "fourier" ? tolerance_for(s) : 1e-12) {
    if (engine == "fourier")
      pairs =
          std::make_unique<FourierPairs>(sample, demand_for(s), Span<const double>(), threads(1));
    if (engine == "direct")
      pairs = std::make_unique<DirectPairs>(sample, Span<const double>(), SampleMean{}, threads(1));
    if (engine == "fgt") pairs = std::make_unique<FgtPairs>(sample, threads(1));
  }

  PairSums& operator*() const { return *pairs; }

  std::string engine;
  Sample sample;
  double tolerance;
  std::unique_ptr<PairSums> pairs;
};

using EverySums = std::vector<std::unique_ptr<Sums>>;

/// The sums by each engine that takes the sample.
EverySums every_sums(const Drawn& s) {
  EverySums all;
  for (const char* engine : {"fourier", "direct", "fgt"}) {
    if (s.d == 1 || std::string(engine) != "fgt") all.push_back(std::make_unique<Sums>(s, engine));
  }
  return all;
}

class Criteria : public testing::TestWithParam<Drawn> {};

INSTANTIATE_TEST_SUITE_P(Shapes, Criteria, testing::ValuesIn(all_samples()),
                         [](const auto& info) { return info.param.name; });

}  // namespace

TEST_P(Criteria, SumsOfPairs) {
  const Drawn& s = GetParam();
  const EverySums every = every_sums(s);
  for (const std::vector<double>& H : matrices_for(s)) {
    const Matrix wide = in_long_double(H);
    const auto pairs = [&](const Matrix& M) { return mean_kernel(s, M) - share(s) * peak(M, s.d); };
    const real all = mean_kernel(s, wide), wanted = pairs(wide);
    const Matrix slope = slopes(wide, s.d, pairs);
    for (const auto& sums : every) {
      const SumWithGradient found = (**sums).gaussian(span(H), true, threads(1))[0];
      expect_near(found.value, wanted, sums->tolerance * all, sums->engine);
      expect_gradient(found.gradient, slope, wide, s.d, 1e-9L * all);
    }
  }
  for (const auto& sums : every) {
    const FourierSums* grid = sums->sample.found<FourierSums>();
    EXPECT_EQ(grid == nullptr ? 0 : grid->spreads(), sums->engine == "fourier" ? 1 : 0);
  }
}

TEST_P(Criteria, CrossValidation) {
  const Drawn& s = GetParam();
  const EverySums every = every_sums(s);
  for (const std::vector<double>& H : matrices_for(s)) {
    const Matrix wide = in_long_double(H);
    for (const bool unbiased : {true, false}) {
      const LscvForm form = unbiased ? LscvForm::unbiased : LscvForm::paper;
      const Criterion wanted = lscv(s, wide, unbiased);
      const Matrix slope =
          slopes(wide, s.d, [&](const Matrix& at) { return lscv(s, at, unbiased).value; });
      for (const auto& sums : every) {
        const SumWithGradient found = lscv(**sums, span(H), form, true, threads(1));
        expect_near(found.value, wanted.value, sums->tolerance * wanted.size,
                    "LSCV, " + sums->engine);
        // Without a gradient the pairs are added in another order. One lane alone rounds most.
        EXPECT_NEAR(lscv(**sums, span(H), form, false, threads(1)).value, found.value,
                    static_cast<double>(1e-13L * wanted.size));
        expect_gradient(found.gradient, slope, wide, s.d, 1e-9L * wanted.size);
      }
    }
  }
}

namespace {

/// (-1)^r (nabla^2)^r, r = order, from the derivatives of order 2 r.
real iterated_laplacian(const std::vector<real>& values, std::size_t d, int order) {
  const auto indices = indices_of_degree(d, 2 * order);
  real sum = 0;
  for (std::size_t m = 0; m < values.size(); ++m) {
    real count = std::tgamma(order + 1.0L);
    for (const int e : indices[m]) count *= e % 2 == 0 ? 1 / std::tgamma(e / 2 + 1.0L) : 0;
    sum += count * values[m];
  }
  return order % 2 == 0 ? sum : -sum;
}

/// Means over its pairs are those of any sample whose observations are all equal.
Drawn at_one_place(std::size_t d) { return {"one", 1, d, std::vector<double>(d, 0.0), {1.0}}; }

/// Chacon & Duong (2013, section 3.1). size: of the terms if none of a kernel's own cancel.
Criterion derivative_lscv(const Drawn& s, const Matrix& H, int order) {
  const std::size_t degree = static_cast<std::size_t>(2 * order);
  const Drawn one = at_one_place(s.d);
  Criterion out{0, 0};
  for (const bool wide : {true, false}) {
    Matrix M = H;
    for (real& v : M) v *= wide ? 2 : 1;
    const real all =
        iterated_laplacian(MeanDerivatives(s, M, 2 * order).of_degree[degree], s.d, order);
    const real at_zero =
        iterated_laplacian(MeanDerivatives(one, M, 2 * order).of_degree[degree], s.d, order);
    const real part = share(s);
    out.value += wide ? all : -2 / (1 - part) * (all - part * at_zero);
    Matrix wider = M;
    for (real& v : wider) v *= 2;
    out.size += (wide ? 1 : 2 / (1 - part)) * at_zero * mean_kernel(s, wider) / peak(wider, s.d);
  }
  return out;
}

/// Chacon & Duong (2011, section 3).
real derivative_scv(const Drawn& s, const Matrix& H, const Matrix& G, int order) {
  const std::size_t degree = static_cast<std::size_t>(2 * order);
  const Drawn one = at_one_place(s.d);
  const auto sum = [&](const Drawn& of, real part, real pilot) {
    Matrix M = H;
    for (std::size_t e = 0; e < M.size(); ++e) M[e] = part * H[e] + pilot * G[e];
    return iterated_laplacian(MeanDerivatives(of, M, 2 * order).of_degree[degree], s.d, order);
  };
  return sum(s, 2, 2) - 2 * sum(s, 1, 2) + sum(s, 0, 2) + share(s) * sum(one, 2, 0);
}

}  // namespace

TEST_P(Criteria, CrossValidationOfDerivatives) {
  const Drawn& s = GetParam();
  const EverySums every = every_sums(s);
  const std::vector<double> H = matrices_for(s)[1], G = matrices_for(s)[2];
  const Matrix wide = in_long_double(H), pilot = in_long_double(G);
  for (const int order : {1, 2, 3}) {
    const Criterion wanted = derivative_lscv(s, wide, order);
    const auto scv_at = [&](const Matrix& at) { return derivative_scv(s, at, pilot, order); };
    const auto lscv_at = [&](const Matrix& at) { return derivative_lscv(s, at, order).value; };
    real smooth = 0;
    Matrix smooth_slope, slope;
    if (order == 1) {
      smooth = scv_at(wide);
      smooth_slope = slopes(wide, s.d, scv_at);
      slope = slopes(wide, s.d, lscv_at);
    }
    for (const auto& sums : every) {
      if (sums->engine == "fgt") continue;
      SCOPED_TRACE(sums->engine + ", order " + std::to_string(order));
      const real allowed = 10 * sums->tolerance * wanted.size;
      const SumWithGradient found = derivative_lscv(**sums, span(H), order, true, threads(1));
      expect_near(found.value, wanted.value, allowed, "value");
      // A gradient may need a wider grid.
      expect_near(derivative_lscv(**sums, span(H), order, false, threads(1)).value, wanted.value,
                  allowed, "value alone");
      if (order > 1) continue;
      const SumWithGradient smoothed =
          derivative_scv(**sums, span(H), span(G), order, true, threads(1));
      expect_near(smoothed.value, smooth, allowed, "SCV");
      expect_gradient(smoothed.gradient, smooth_slope, wide, s.d, 1e-8L * wanted.size);
      expect_gradient(found.gradient, slope, wide, s.d, 1e-8L * wanted.size);
    }
  }
}

TEST_P(Criteria, CurvesAreThoseOfMatrices) {
  const Drawn& s = GetParam();
  const std::vector<double> S = matrices_for(s)[2], h{0.8, 1.1, 0.9};
  std::vector<Criterion> wanted;
  for (const double one : h) wanted.push_back(lscv(s, in_long_double(S, real{one} * one), true));
  for (const auto& sums : every_sums(s)) {
    const std::vector<double> curve =
        lscv_curve(**sums, span(S), span(h), Kernel::gaussian, LscvForm::unbiased, threads(1));
    ASSERT_EQ(curve.size(), h.size());
    for (std::size_t k = 0; k < h.size(); ++k) {
      expect_near(curve[k], wanted[k].value, sums->tolerance * wanted[k].size,
                  "curve, " + sums->engine);
    }
  }
}

TEST_P(Criteria, SmoothedCrossValidation) {
  const Drawn& s = GetParam();
  // The pilots have another shape, so that the two forms differ in every direction.
  std::vector<std::vector<double>> matrices = matrices_for(s), pilots = matrices;
  std::rotate(pilots.begin(), pilots.begin() + 1, pilots.end());
  std::vector<double> H, G;
  for (std::size_t m = 0; m < matrices.size(); ++m) {
    for (double& v : pilots[m]) v *= 0.6;
    H.insert(H.end(), matrices[m].begin(), matrices[m].end());
    G.insert(G.end(), pilots[m].begin(), pilots[m].end());
  }
  const EverySums every = every_sums(s);
  std::vector<std::vector<SumWithGradient>> found;
  for (const auto& sums : every) {
    found.push_back(scv(**sums, span(H), span(G), true, threads(1)));
    ASSERT_EQ(found.back().size(), matrices.size());
  }
  for (std::size_t m = 0; m < matrices.size(); ++m) {
    const Matrix wide = in_long_double(matrices[m]), pilot = in_long_double(pilots[m]);
    const real wanted = scv(s, wide, pilot).value, of_pilot = mean_kernel(s, pilot);
    const Matrix slope =
        slopes(wide, s.d, [&](const Matrix& at) { return scv(s, at, pilot).value; });
    for (std::size_t e = 0; e < every.size(); ++e) {
      const std::string& engine = every[e]->engine;
      // Only the engine "fourier" does without the difference of three sums.
      const real allowed = every[e]->tolerance * (engine == "fourier" ? wanted : of_pilot + wanted);
      expect_near(found[e][m].value, wanted, allowed, "SCV, " + engine);
      expect_gradient(found[e][m].gradient, slope, wide, s.d,
                      1e-9L * std::max(wanted, 1e-2L * of_pilot));
    }
  }
}

TEST_P(Criteria, Functionals) {
  const Drawn& s = GetParam();
  // Alike along all axes, as a scalar bandwidth needs it.
  if (s.name.find("scales") == 0) return;
  std::vector<double> G = matrices_for(s)[0];
  const double g = std::sqrt(G[0]);
  for (std::size_t e = 0; e < G.size(); ++e) G[e] = e % (s.d + 1) == 0 ? g * g : 0.0;
  const MeanDerivatives wanted(s, in_long_double(G), 8);
  for (const auto& sums : every_sums(s)) {
    for (const int order : {0, 2, 4, 6, 8}) {
      const auto& of_order = wanted.of_degree[static_cast<std::size_t>(order)];
      const auto indices = indices_of_degree(s.d, order);
      real laplacian = 0, largest = 0;
      const std::vector<double> found = psi(**sums, g, order, threads(1));
      ASSERT_EQ(found.size(), of_order.size());
      for (const real value : of_order) largest = std::max(largest, std::fabs(value));
      largest = std::max(largest, std::fabs(share(s) * real{normal_laplacian(s.d, g, order)}));
      for (std::size_t m = 0; m < found.size(); ++m) {
        expect_near(found[m], of_order[m], sums->tolerance * largest,
                    sums->engine + ", psi " + std::to_string(order));
        real count = std::tgamma(order / 2 + 1.0L);
        for (const int e : indices[m]) count *= e % 2 == 0 ? 1 / std::tgamma(e / 2 + 1.0L) : 0;
        laplacian += count * of_order[m];
      }
      const std::vector<double> eta_of = eta(**sums, {&g, 1}, order, threads(1));
      ASSERT_EQ(eta_of.size(), 1U);
      expect_near(eta_of[0], laplacian, 10 * sums->tolerance * largest,
                  sums->engine + ", eta " + std::to_string(order));
    }
  }
}

TEST(Criteria, InManyDimensionsAreDirect) {
  const Drawn s = normal_sample(40, 5);
  const Sums sums(s, "direct");
  const std::vector<double> H = matrices_for(s)[2], G = matrices_for(s)[1];
  const Matrix wide = in_long_double(H), pilot = in_long_double(G);
  const SumWithGradient found = lscv(*sums, span(H), LscvForm::unbiased, true, threads(1)),
                        smoothed = scv(*sums, span(H), span(G), true, threads(1))[0];
  expect_near(found.value, lscv(s, wide, true).value, 1e-12L * lscv(s, wide, true).size, "LSCV");
  expect_gradient(found.gradient,
                  slopes(wide, 5, [&](const Matrix& at) { return lscv(s, at, true).value; }), wide,
                  5, 1e-9L * lscv(s, wide, true).size);
  expect_near(smoothed.value, scv(s, wide, pilot).value, 1e-12L * mean_kernel(s, pilot), "SCV");
  expect_gradient(smoothed.gradient,
                  slopes(wide, 5, [&](const Matrix& at) { return scv(s, at, pilot).value; }), wide,
                  5, 1e-9L * mean_kernel(s, pilot));
}

TEST(Criteria, RefuseWhatAnEngineHasNot) {
  const Drawn s = normal_sample(30, 1);
  const Sample sample(s.view(), s.weights());
  SweepPairs sweep(sample, threads(1));
  const double one = 1;
  EXPECT_THROW(lscv(sweep, {&one, 1}, LscvForm::paper, false, threads(1)), error);
  EXPECT_THROW(psi(sweep, 1, 4, threads(1)), error);
  EXPECT_THROW(eta(sweep, {&one, 1}, 4, threads(1)), error);
  FgtPairs fgt(sample, threads(1));
  EXPECT_THROW(lscv_curve(fgt, {&one, 1}, {&one, 1}, Kernel::biweight, LscvForm::paper, threads(1)),
               error);
  EXPECT_NO_THROW(
      lscv_curve(sweep, {&one, 1}, {&one, 1}, Kernel::biweight, LscvForm::paper, threads(1)));
  const double negative = -1;
  EXPECT_THROW(lscv(fgt, {&negative, 1}, LscvForm::paper, false, threads(1)), error);
}

namespace {

/// Direct sums under another name, without memory for some.
class Refusing : public DirectPairs {
 public:
  Refusing(const kestrel::Sample& sample, const bool& refuses)
      : DirectPairs(sample, Span<const double>(), SampleMean{}, threads(1)), refuses_(refuses) {}
  std::string engine() const override { return "refusing"; }
  Both both(Span<const double> H, bool gradient, const RunOptions& options) override {
    if (refuses_) throw error(ErrorKind::memory, "full");
    return DirectPairs::both(H, gradient, options);
  }

 private:
  const bool& refuses_;
};

}  // namespace

TEST(Fallback, IsUsedForWhatTheFirstEngineRefuses) {
  const Drawn s = normal_sample(30, 2);
  const Sums direct(s, "direct");
  const std::vector<double> H = matrices_for(s)[2];
  const auto at = [&](PairSums& sums) {
    return lscv(sums, span(H), LscvForm::unbiased, true, threads(1));
  };
  const SumWithGradient wanted = at(*direct);
  int made = 0;
  bool refuses = false;
  const FallbackPairs::Make refusing = [&] {
    return std::make_unique<Refusing>(direct.sample, refuses);
  };
  const FallbackPairs::Make second = [&] {
    ++made;
    return std::make_unique<DirectPairs>(direct.sample, Span<const double>(), SampleMean{},
                                         threads(1));
  };
  FallbackPairs sums(direct.sample, refusing, second, threads(1));
  EXPECT_EQ(sums.engine(), "refusing");
  refuses = true;
  EXPECT_EQ(at(sums).gradient, wanted.gradient);
  EXPECT_EQ(sums.engine(), "direct");
  refuses = false;
  EXPECT_EQ(at(sums).value, wanted.value);
  EXPECT_EQ(sums.engine(), "refusing");
  refuses = true;
  EXPECT_EQ(at(sums).value, wanted.value);
  EXPECT_EQ(made, 1);
  const FallbackPairs::Make none = []() -> std::unique_ptr<PairSums> {
    throw error(ErrorKind::memory, "full");
  };
  FallbackPairs only(direct.sample, none, second, threads(1));
  EXPECT_EQ(only.engine(), "direct");
  EXPECT_EQ(at(only).value, wanted.value);
  const FallbackPairs::Make broken = []() -> std::unique_ptr<PairSums> {
    throw error(ErrorKind::input, "wrong");
  };
  EXPECT_THROW(FallbackPairs(direct.sample, broken, second, threads(1)), error);
}
