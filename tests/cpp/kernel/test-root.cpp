// The root of H, and densities by every engine with strongly correlated variables: against sums in
// numbers of 113 bits, for the H that is given.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "common.hpp"
#include "core/direct/direct.hpp"
#include "core/fourier/density.hpp"
#include "core/kernel/root.hpp"
#include "core/scanline/scanline.hpp"
#include "oracle.hpp"

using namespace kestrel;
using common::run_on;

namespace {

__extension__ typedef __float128 quad;
using real = long double;

quad square_root_of(quad a) {
  quad root = std::sqrt(static_cast<real>(a));
  for (int i = 0; i < 2; ++i) root = (root + a / root) / 2;
  return root;
}

std::vector<quad> quad_root(const std::vector<double>& H, std::size_t d) {
  std::vector<quad> root(d * d, 0);
  for (std::size_t l = 0; l < d; ++l) {
    for (std::size_t k = l; k < d; ++k) {
      quad sum = H[l * d + k];
      for (std::size_t m = 0; m < l; ++m) sum -= root[m * d + k] * root[m * d + l];
      root[l * d + k] = k == l ? square_root_of(sum) : sum / root[l * d + l];
    }
  }
  return root;
}

Span<const double> span_of(const std::vector<double>& v) { return {v.data(), v.size()}; }

/// Variances 1, 2, 3 times scale. Every pair of variables has this correlation; for d = 3 and a
/// negative correlation, that of the last two is positive.
std::vector<double> correlated(std::size_t d, double correlation, double scale = 1) {
  std::vector<double> H(d * d);
  for (std::size_t l = 0; l < d; ++l) {
    for (std::size_t k = 0; k < d; ++k) {
      const double variances = static_cast<double>((k + 1) * (l + 1));
      const bool other = k != l && std::min(k, l) == 1;
      const double c = k == l ? 1 : other ? std::fabs(correlation) : correlation;
      H[l * d + k] = scale * c * std::sqrt(variances);
    }
  }
  return H;
}

struct Task {
  std::size_t d, n, m;
  std::vector<double> H, root, x, w, points;
  std::vector<std::vector<double>> axis;  // of a grid

  Task(std::size_t variables, double correlation, bool gridded)
      : d(variables), n(200), H(correlated(variables, correlation, 3)) {
    root = lower_root({H.data(), H.size()}, d);
    const std::vector<quad> exact = quad_root(H, d);
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    // Some bandwidths wide in every direction, and far from the origin.
    const auto draw = [&](std::size_t count, std::vector<double>* to) {
      to->assign(count * d, 0);
      for (std::size_t i = 0; i < count; ++i) {
        quad z[3];
        for (std::size_t k = 0; k < d; ++k) z[k] = 4 * normal(random);
        for (std::size_t k = 0; k < d; ++k) {
          quad v = 100;
          for (std::size_t l = 0; l <= k; ++l) v += exact[l * d + k] * z[l];
          (*to)[k * count + i] = static_cast<double>(v);
        }
      }
    };
    draw(n, &x);
    std::uniform_real_distribution<double> weight(0.5, 1.5);
    for (std::size_t i = 0; i < n; ++i) w.push_back(weight(random));
    m = 200;
    draw(m, &points);
    if (!gridded) return;
    // The grid's diagonals run through the data.
    const std::size_t side = d == 2 ? 41 : 13;
    m = 1;
    for (std::size_t k = 0; k < d; ++k) {
      const double deviation = std::sqrt(H[k * d + k]);
      axis.emplace_back();
      for (std::size_t i = 0; i < side; ++i) {
        axis[k].push_back(100 +
                          10 * deviation *
                              (2 * static_cast<double>(i) / static_cast<double>(side - 1) - 1));
      }
      m *= side;
    }
  }
  EvaluationPoints where() const {
    EvaluationPoints at;
    if (axis.empty()) at.matrix = {points.data(), m, d};
    for (const auto& values : axis) at.axes.push_back({values.data(), values.size()});
    return at;
  }
  std::vector<real> wanted(KernelChoice choice) const {
    const std::vector<quad> L = quad_root(H, d);
    real scale = oracle::constant(choice.kernel, d);
    for (std::size_t k = 0; k < d; ++k) scale /= static_cast<real>(L[k * d + k]);
    const EvaluationPoints at = where();
    std::vector<real> out(m, 0);
    for (std::size_t i = 0; i < m; ++i) {
      double e[3];
      at.copy(i, e);
      for (std::size_t j = 0; j < n; ++j) {
        quad z[3], squares = 0;
        for (std::size_t k = 0; k < d; ++k) {
          z[k] = static_cast<quad>(e[k]) - x[k * n + j];
          for (std::size_t l = 0; l < k; ++l) z[k] -= L[l * d + k] * z[l];
          z[k] /= L[k * d + k];
          squares += z[k] * z[k];
        }
        const real q = static_cast<real>(squares);
        out[i] += q < 200 ? w[j] * scale * oracle::profile(choice.kernel, std::sqrt(q)) : 0;
      }
    }
    return out;
  }
  MatrixView view() const { return {x.data(), n, d}; }
};

/// The largest error, relative to the largest value.
double error_of(const std::vector<double>& got, const std::vector<real>& wanted) {
  real worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::fabs(got[i] - wanted[i]));
  return static_cast<double>(worst / *std::max_element(wanted.begin(), wanted.end()));
}

enum class Engine { direct, fourier, fourier_along_data, scanline };

std::vector<double> run(const Task& task, Engine engine, KernelChoice choice) {
  std::vector<double> out(task.m, -1);
  const EvaluationPoints at = task.where();
  const Span<const double> w{task.w.data(), task.n}, root{task.root.data(), task.root.size()};
  const Span<double> to{out.data(), out.size()};
  const RunOptions options = run_on(common::tables().back());
  if (engine == Engine::direct) {
    direct_density(task.view(), w, at, choice, root, options, to);
  } else if (engine == Engine::scanline) {
    const std::vector<RegularAxis> axes = find_regular_axes(at.axes);
    scanline_density(task.view(), w, {axes.data(), axes.size()}, choice, root, {}, options, to);
  } else {
    DataRange extent = measure_density(task.view(), w, at, root, options);
    if (engine == Engine::fourier_along_data) {
      extent.frame.erase(extent.frame.begin());
    } else {
      extent.frame.resize(1);
    }
    fourier_density(task.view(), w, at, root, {}, extent, 1e-13, 4e9, options, to);
  }
  return out;
}

constexpr KernelChoice epanechnikov{Kernel::epanechnikov, KernelType::radial};

/// The error of an estimate must be below 1e-12 of the largest value, or the rounding bound if that
/// is larger.
void expect_within(const Task& task, const std::vector<double>& got,
                   const std::vector<real>& wanted, const char* what) {
  const double rounding = root_rounding({task.root.data(), task.root.size()}, task.d);
  EXPECT_LE(error_of(got, wanted), std::max(1e-12, rounding)) << what;
}

}  // namespace

TEST(LowerRoot, IsTheExactOneRoundedOnce) {
  for (const std::size_t d : {1, 2, 3}) {
    for (const double c : {0.0, 0.5, -0.9, 1 - 1e-4, -1 + 1e-6, 1 - 1e-8, 1 - 1e-12}) {
      for (const double scale : {1.0, 0x1p-600, 0x1p600}) {
        const std::vector<double> H = correlated(d, c, scale);
        const std::vector<double> root = lower_root({H.data(), H.size()}, d);
        const std::vector<quad> exact = quad_root(H, d);
        ASSERT_EQ(root.size(), d * d);
        for (std::size_t e = 0; e < d * d; ++e) {
          EXPECT_EQ(root[e], static_cast<double>(exact[e])) << d << ' ' << c << ' ' << scale;
        }
      }
    }
  }
}

TEST(LowerRoot, IsEmptyWhereThereIsNone) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& H : {std::vector<double>{1, 1, 1, 1},
                                       {1, 2, 2, 1},
                                       {0, 0, 0, 1},
                                       {1, 0, 0, -1},
                                       {1, 0, 0, inf},
                                       {std::nan(""), 0, 0, 1},
                                       {1, inf, inf, 1},
                                       {1, std::nan(""), std::nan(""), 1}}) {
    EXPECT_TRUE(lower_root({H.data(), H.size()}, 2).empty()) << H[0] << ' ' << H[1] << ' ' << H[3];
  }
  // The determinant, 2^-104, is smaller than its rounding error in doubles.
  const double c = 1 - 0x1p-52, other = 1 - 0x1p-53;
  const std::vector<double> nearly{1, other, other, 1 - 0x1p-53}, below{1, other, other, c};
  EXPECT_EQ(lower_root({nearly.data(), 4}, 2).size(), 4u);
  EXPECT_TRUE(lower_root({below.data(), 4}, 2).empty());
}

TEST(RootRounding, IsThatOfTheTermsOfACoordinate) {
  const std::vector<double> diagonal{3, 0, 0, 1e-9};
  EXPECT_EQ(root_rounding({diagonal.data(), 4}, 2), 0);
  for (const double c : {0.5, -0.999, 1 - 1e-8}) {
    const std::vector<double> H = correlated(2, c), root = lower_root({H.data(), 4}, 2);
    const real condition = 1 + 2 * root[1] / root[3] * (c < 0 ? -1 : 1);
    EXPECT_NEAR(root_condition({root.data(), 4}, 2), static_cast<double>(condition),
                1e-14 * static_cast<double>(condition));
    // Units do not matter.
    const std::vector<double> other{1e9 * root[0], 1e-9 * root[1], 0, 1e-9 * root[3]};
    EXPECT_NEAR(root_condition({other.data(), 4}, 2), static_cast<double>(condition),
                1e-14 * static_cast<double>(condition));
  }
  // The promise of 1e-12 holds up to a correlation of 1 - 1e-6.
  for (const std::size_t d : {2, 3}) {
    const std::vector<double> H = correlated(d, 1 - 1e-6);
    EXPECT_LE(root_rounding(span_of(lower_root({H.data(), H.size()}, d)), d), 1e-12);
  }
}

TEST(Correlated, EveryEngineKeepsToItsError) {
  for (const std::size_t d : {2, 3}) {
    for (const double lost : {1e-3, 1e-5, 1e-6, 1e-8}) {
      for (const double sign : {1.0, -1.0}) {
        if (d == 3 && (sign < 0) == (lost == 1e-3)) continue;  // the oracle has 33 digits
        SCOPED_TRACE(testing::Message() << d << " variables, " << sign << " - " << lost);
        const Task points(d, sign * (1 - lost), false), grid(d, sign * (1 - lost), true);
        for (const Task* task : {&points, &grid}) {
          const std::vector<real> gaussian = task->wanted({}), compact = task->wanted(epanechnikov);
          expect_within(*task, run(*task, Engine::direct, {}), gaussian, "direct");
          expect_within(*task, run(*task, Engine::direct, epanechnikov), compact, "compact");
          expect_within(*task, run(*task, Engine::fourier, {}), gaussian, "fourier");
          if (task == &grid && lost >= (d == 2 ? 1e-5 : 1e-3)) {
            expect_within(*task, run(*task, Engine::scanline, epanechnikov), compact, "scanline");
          }
        }
      }
    }
  }
}

/// A layout's bound on its rounding holds, except for far points, whose sums use the first frame.
TEST(Correlated, AlongTheDataTheLayoutKnowsWhatItLoses) {
  for (const double lost : {0.1, 1e-2, 1e-3, 1e-4}) {
    const Task grid(2, 1 - lost, true);
    const EvaluationPoints at = grid.where();
    const Span<const double> w{grid.w.data(), grid.n}, root{grid.root.data(), 4};
    DataRange extent = measure_density(grid.view(), w, at, root, run_on(common::tables().back()));
    extent.frame.erase(extent.frame.begin());
    std::vector<real> wanted = grid.wanted({});
    std::vector<double> got = run(grid, Engine::fourier_along_data, {});
    const real largest = *std::max_element(wanted.begin(), wanted.end());
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (wanted[i] < 1e-10L * largest) got[i] = static_cast<double>(wanted[i]);
    }
    const double error = error_of(got, wanted);
    EXPECT_LE(error, 1e-13 + lay_density(extent, 1e-13).rounding) << lost;
  }
}
