// Images of samples in bounds, beside those of all numbers of reflections.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "common.hpp"
#include "core/data/reflection.hpp"

using namespace kestrel;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// x and its images within reach, by one reflection or period after another. The first is x.
std::vector<double> all_images(const ReflectingAxis& axis, double x) {
  const auto fits = [&](double v) {
    return v >= axis.lower - axis.reach && v <= axis.upper + axis.reach;
  };
  std::vector<double> images = {x};
  if (axis.periodic) {
    for (int k = 1; k < 1000; ++k) {
      for (const double v :
           {x + k * (axis.upper - axis.lower), x - k * (axis.upper - axis.lower)}) {
        if (fits(v)) images.push_back(v);
      }
    }
    return images;
  }
  double left = x, right = x;
  for (int times = 0; times < 1000; ++times) {
    // One is reflected at the lower bound first, the other at the upper one.
    left = 2 * (times % 2 == 0 ? axis.lower : axis.upper) - left;
    right = 2 * (times % 2 == 0 ? axis.upper : axis.lower) - right;
    if (std::isfinite(left) && fits(left)) images.push_back(left);
    if (std::isfinite(right) && fits(right)) images.push_back(right);
    if (!std::isfinite(left)) left = kInf;
    if (!std::isfinite(right)) right = kInf;
    if (!std::isfinite(axis.lower) || !std::isfinite(axis.upper)) break;
  }
  return images;
}

struct Reflected {
  std::vector<double> x, w;
  std::size_t rows;
};

Reflected reflected(const std::vector<double>& x, std::size_t d, const std::vector<double>& w,
                    const std::vector<ReflectingAxis>& axes, int threads) {
  const MatrixView view = {x.data(), x.size() / d, d};
  const ParallelOptions options = {threads, {}};
  Reflected out;
  out.rows = static_cast<std::size_t>(count_reflected(view, axes, options));
  out.x.resize(out.rows * d);
  out.w.resize(out.rows);
  reflect_rows(view, Weights(w.data(), w.size()), axes, options, {out.x.data(), out.x.size()},
               {out.w.data(), out.w.size()});
  return out;
}

}  // namespace

TEST(Reflection, MakesAllImagesWithinReach) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform;
  const std::vector<std::vector<ReflectingAxis>> cases = {
      {{0, kInf, 0.3, false}},
      {{-kInf, 1, 0.3, false}},
      {{0, 1, 0.1, false}},
      {{0, 1, 0, false}},
      {{0, 1, 7.3, false}},
      {{-kInf, kInf, 5, false}},
      {{0, 1, 0.1, true}},
      {{0, 1, 7.3, true}},
      {{0, 1, 1.2, false}, {-3, kInf, 3.5, false}},
      {{0, 1, 0.2, true}, {-kInf, kInf, 1, false}, {0, 1, 2.2, false}},
  };
  for (const auto& axes : cases) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{99}}) {
      const std::size_t d = axes.size();
      std::vector<double> x(n * d), w(n);
      for (double& v : x) v = uniform(random) < 0.1 ? std::round(uniform(random)) : uniform(random);
      for (std::size_t i = 0; i < n; ++i) w[i] = static_cast<double>(i);
      const Reflected out = reflected(x, d, w, axes, 1);
      ASSERT_GE(out.rows, n);
      std::vector<std::vector<std::vector<double>>> found(n);
      for (std::size_t row = 0; row < out.rows; ++row) {
        std::vector<double> at;
        for (std::size_t k = 0; k < d; ++k) at.push_back(out.x[k * out.rows + row]);
        if (row < n) {
          EXPECT_EQ(out.w[row], w[row]);
          for (std::size_t k = 0; k < d; ++k) EXPECT_EQ(at[k], x[k * n + row]);
        }
        found[static_cast<std::size_t>(out.w[row])].push_back(at);
      }
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<std::vector<double>> wanted = {{}};
        for (std::size_t k = 0; k < d; ++k) {
          std::vector<std::vector<double>> longer;
          for (const auto& start : wanted) {
            for (const double v : all_images(axes[k], x[k * n + i])) {
              longer.push_back(start);
              longer.back().push_back(v);
            }
          }
          wanted = longer;
        }
        std::sort(wanted.begin(), wanted.end());
        std::sort(found[i].begin(), found[i].end());
        ASSERT_EQ(found[i].size(), wanted.size());
        for (std::size_t j = 0; j < wanted.size(); ++j) {
          for (std::size_t k = 0; k < d; ++k) EXPECT_NEAR(found[i][j][k], wanted[j][k], 1e-13);
        }
      }
    }
  }
}

TEST(Reflection, IsTheSameOnAnyNumberOfThreadsAndExactFarFromZero) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> x(100000), w(x.size(), 1.0);
  for (double& v : x) v = 1e9 + uniform(random);
  const std::vector<ReflectingAxis> axes = {{1e9, kInf, 0.01, false}};
  const Reflected one = reflected(x, 1, w, axes, 1);
  EXPECT_EQ(one.x, reflected(x, 1, w, axes, 3).x);
  std::size_t image = x.size();
  for (const double v : x) {
    if (v - 1e9 > 0.01) continue;
    ASSERT_LT(image, one.rows);
    EXPECT_EQ(1e9 - one.x[image++], v - 1e9);
  }
  EXPECT_EQ(image, one.rows);
}
