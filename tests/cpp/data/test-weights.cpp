// Samples without weights: every sum has the bits that weights of one give, and their array is not
// made by the caller.
#include <cmath>
#include <functional>
#include <random>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/bootstrap/bootstrap.hpp"
#include "core/criteria/criteria.hpp"
#include "core/criteria/fourier_pairs.hpp"
#include "core/data/quantiles.hpp"
#include "core/data/row_draws.hpp"
#include "core/data/sample_moments.hpp"
#include "core/data/weights.hpp"
#include "core/direct/direct.hpp"
#include "core/direct/lscv.hpp"
#include "core/direct/pairs.hpp"
#include "core/distribution/distribution.hpp"
#include "core/fgt/density.hpp"
#include "core/fgt/pairs.hpp"
#include "core/fourier/density.hpp"
#include "core/kdtree/kdtree.hpp"
#include "core/query/query.hpp"
#include "core/regression/regression.hpp"
#include "core/scanline/scanline.hpp"
#include "core/sweep/density.hpp"

using namespace kestrel;

namespace {

constexpr std::size_t kSize = 700, kPoints = 40;

/// Samples of two variables, and points, drawn once.
struct Data {
  std::vector<double> x, e, y, line;
  MatrixView samples, points;
  Data() : x(2 * kSize), e(2 * kPoints), y(kSize), line(kPoints) {
    std::mt19937 random(43);
    std::normal_distribution<double> normal;
    for (double& v : x) v = normal(random);
    for (double& v : e) v = normal(random);
    for (double& v : y) v = normal(random);
    for (std::size_t i = 0; i < kPoints; ++i) line[i] = -3 + 0.15 * static_cast<double>(i);
    samples = {x.data(), kSize, 2};
    points = {e.data(), kPoints, 2};
  }
};

template <class T>
Span<const T> span(const std::vector<T>& v) {
  return {v.data(), v.size()};
}

using Result = std::vector<double>;
/// A computation with the weights as they are given.
struct Case {
  const char* name;
  std::function<Result(const Data&, Weights, const RunOptions&)> run;
};

const double kRoot[] = {0.3, 0.1, 0, 0.4}, kDiagonal[] = {0.3, 0, 0, 0.4};
const KernelChoice kGaussian{Kernel::gaussian, KernelType::radial},
    kParabola{Kernel::epanechnikov, KernelType::radial};

/// A computation that fills `size` values.
Case filling(
    const char* name, std::size_t size,
    const std::function<void(const Data&, Weights, const RunOptions&, Span<double>)>& run) {
  return {name, [=](const Data& at, Weights w, const RunOptions& how) {
            Result out(size);
            run(at, w, how, {out.data(), size});
            return out;
          }};
}

Result joined(Result a, const Result& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const std::vector<Case>& densities() {
  using Out = Span<double>;
  static const std::vector<Case> cases{
      filling("direct", kPoints,
              [](const Data& at, Weights w, const RunOptions& how, Out out) {
                direct_density(at.samples, w, {at.points, {}}, kGaussian, {kRoot, 4}, how, out);
              }),
      filling("kdtree", kPoints,
              [](const Data& at, Weights w, const RunOptions& how, Out out) {
                kdtree_density(at.samples, w, {at.points, {}}, kParabola, {kRoot, 4}, how, out);
              }),
      filling("sweep", kPoints,
              [](const Data& at, Weights w, const RunOptions& how, Out out) {
                sweep_density(at.samples.column(0), w, span(at.line), Kernel::biweight, 0.4, how,
                              out);
              }),
      filling("fgt", kPoints,
              [](const Data& at, Weights w, const RunOptions& how, Out out) {
                const LineSample line(at.samples.column(0), w);
                fgt_density(line, span(at.line), 0.2, how, out);
              }),
      filling(
          "fourier", kPoints,
          [](const Data& at, Weights w, const RunOptions& how, Out out) {
            const EvaluationPoints points{at.points, {}};
            const DataRange extent = measure_density(at.samples, w, points, {kRoot, 4}, how);
            fourier_density(at.samples, w, points, {kRoot, 4}, {}, extent, 1e-12, 1e9, how, out);
          }),
      filling("scanline", 1200,
              [](const Data& at, Weights w, const RunOptions& how, Out out) {
                const std::vector<RegularAxis> axes{{-3, 0.15, 40}, {-3, 0.2, 30}};
                scanline_density(at.samples, w, {axes.data(), 2}, kParabola, {kDiagonal, 4}, {},
                                 how, out);
              }),
      filling("scanline on a line", 40,
              [](const Data& at, Weights w, const RunOptions& how, Out out) {
                const RegularAxis axis{-3, 0.15, 40};
                scanline_density({at.x.data(), kSize, 1}, w, {&axis, 1}, kParabola, {kDiagonal, 1},
                                 {}, how, out);
              })};
  return cases;
}

const std::vector<Case>& pairs() {
  static const std::vector<Case> cases{
      {"direct sum, laplacian and moments",
       [](const Data& at, Weights w, const RunOptions& how) {
         Result out = direct_pair_moments(at.samples, w, 0.3, 4, how);
         out.push_back(direct_pair_sum(at.samples, w, kParabola, {kRoot, 4}, how));
         out.push_back(direct_pair_laplacian(at.samples, w, 0.3, 4, how));
         return out;
       }},
      {"direct lscv",
       [](const Data& at, Weights w, const RunOptions& how) {
         const LscvPairSums sums = direct_lscv(at.samples, w, {kRoot, 4}, true, how);
         const PairCurve curve = direct_lscv_curve(at.samples, w, {kRoot, 4}, {kDiagonal, 1}, how);
         return joined(joined(sums.kernel.moments, curve.kernel), {sums.convolution.sum});
       }},
      {"sweep curve",
       [](const Data& at, Weights w, const RunOptions& how) {
         const PairCurve curve =
             sweep_pair_curve(at.samples.column(0), w, {kDiagonal, 1}, Kernel::triweight, how);
         return joined(curve.kernel, curve.convolution);
       }},
      {"fgt curve and functional",
       [](const Data& at, Weights w, const RunOptions& how) {
         const LineSample line(at.samples.column(0), w);
         const PairCurve curve = fgt_pair_curve(line, {kDiagonal, 1}, how);
         return joined(curve.kernel, fgt_pair_psi(line, {kDiagonal, 1}, 4, how));
       }},
      {"a criterion by fourier", [](const Data& at, Weights w, const RunOptions& how) {
         FourierDemand demand;
         demand.min = 0.1;
         demand.max = 1;
         const Sample sample(at.samples, w);
         FourierPairs sums(sample, demand, {}, how);
         const double H[] = {0.2, 0.05, 0.05, 0.3};
         const SumWithGradient found = lscv(sums, {H, 4}, LscvForm::unbiased, true, how);
         return joined(found.gradient, {found.value});
       }}};
  return cases;
}

const std::vector<Case>& others() {
  static const std::vector<Case> cases{
      {"sums of weights",
       [](const Data&, Weights w, const RunOptions& how) {
         const WeightSums sums = weight_sums(w, how.parallel);
         return Result{sums.sum, sums.squares, sums.max, sums.min_positive,
                       static_cast<double>(sums.positive)};
       }},
      {"covariance",
       [](const Data& at, Weights w, const RunOptions& how) {
         const SampleCovariance found = sample_covariance(at.samples, w, how.parallel);
         return joined(found.mean.first, joined(found.mean.second, found.covariance));
       }},
      {"quantiles",
       [](const Data& at, Weights w, const RunOptions& how) {
         const Result prob{0, 0.1, 0.5, 1};
         return quantiles(span(at.y), w, span(prob), how.parallel);
       }},
      {"distribution",
       [](const Data& at, Weights w, const RunOptions& how) {
         const LineSample line(at.samples.column(0), w);
         const Distribution of(line, Kernel::gaussian, 0.2, how);
         // So narrow that no cells are made.
         const Distribution narrow(line, Kernel::biweight, 1e-289, how);
         Result out(kPoints), last(kPoints);
         of.values(span(at.line), how.parallel, {out.data(), kPoints});
         narrow.values(span(at.line), how.parallel, {last.data(), kPoints});
         return joined(out, last);
       }},
      {"draws",
       [](const Data& at, Weights w, const RunOptions& how) {
         const RowDraws draws(w, how.parallel);
         const SmoothedSample smooth(at.samples, w, {kRoot, 4}, 0.1, kPoints, 1);
         Result out;
         for (std::size_t i = 0; i < kPoints; ++i) {
           out.push_back(static_cast<double>(draws.row(i, 0.3)));
         }
         Result rows(2 * kPoints);
         smooth.draw(0, how.parallel, {rows.data(), rows.size()});
         return joined(out, rows);
       }},
      {"queries",
       [](const Data& at, Weights w, const RunOptions& how) {
         const double low[] = {-1, -0.5}, high[] = {1, 2};
         const QueryAnswers found =
             query_boxes({at.samples, w, kGaussian, {kRoot, 4}}, {low, 1, 2}, {high, 1, 2}, 0, how);
         return joined(joined(found.share, found.mean),
                       query_rows(at.samples, w, {low, 1, 2}, {high, 1, 2}, how));
       }},
      {"regression", [](const Data& at, Weights w, const RunOptions& how) {
         const LocalRegression fits({at.samples.column(0), span(at.y), w}, how.parallel);
         const double h[] = {0.2, 0.5};
         const CrossValidation found =
             fits.cross_validate({h, 2}, {Kernel::gaussian, 1, true}, how);
         return joined(found.squares, joined(found.in_sample, found.trace));
       }}};
  return cases;
}

void expect_same(const std::vector<Case>& cases) {
  const Data data;
  const std::vector<double> ones(kSize, 1.0);
  for (const simd::Table* table : common::tables()) {
    for (const Case& one : cases) {
      const RunOptions how = common::run_on(table);
      EXPECT_TRUE(common::same_bits(one.run(data, span(ones), how),
                                    one.run(data, Weights::ones(kSize), how)))
          << one.name << ", " << table->name;
    }
  }
}

TEST(Weights, AbsentOnesAreOnesInDensities) { expect_same(densities()); }
TEST(Weights, AbsentOnesAreOnesInSumsOverPairs) { expect_same(pairs()); }
TEST(Weights, AbsentOnesAreOnesInAllElse) { expect_same(others()); }

TEST(Weights, BadOnesAreRefused) {
  for (const double bad : {-1.0, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    const std::vector<double> w{1, bad, 2};
    EXPECT_THROW(check_weights(span(w), {}), error) << bad;
  }
  EXPECT_NO_THROW(check_weights(Weights::ones(3), {}));
}

}  // namespace
