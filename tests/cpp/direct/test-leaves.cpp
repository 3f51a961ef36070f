// The leaf loops of every instruction set, on tiles and blocks of every size about a vector.
#include "common.hpp"
#include "oracle.hpp"
#include "simd/direct/direct.hpp"

using namespace kestrel;
using namespace common;
using simd::Leaf;

namespace {

// Coordinates in tile order with the padding that simd/direct/direct.hpp requires. The padding
// holds harmful values where zeros are not promised: weights alone must suppress them.
struct Rows {
  std::size_t count, stride;
  std::vector<double> coordinate, weight;

  Rows(std::size_t n, std::size_t d, std::size_t padding, std::mt19937_64& random)
      : count(n), stride(n + padding), coordinate(d * stride, 0.25), weight(stride, 0.0) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < d; ++k) {
        coordinate[k * stride + i] =
            0.6 * shapes::normal(random) / std::sqrt(static_cast<double>(d));
      }
      weight[i] = i % 5 == 0 ? 0.0 : shapes::uniform(random);
    }
  }
  simd::Tile tile() const { return {coordinate.data(), weight.data(), stride, count}; }
  simd::Block block() const { return {coordinate.data(), weight.data(), stride, count}; }
};

std::size_t padded(std::size_t n) { return (n / simd::kTargets + 2) * simd::kTargets - n; }

const double polynomial[] = {0.7, -0.3, 0.11, -0.05, 0.02};

// The definition of a leaf in simd/direct/direct.hpp, of differences u.
oracle::real value(Leaf leaf, const std::vector<oracle::real>& u, const std::vector<double>& root) {
  const std::size_t d = u.size();
  oracle::real q = 0;
  for (const oracle::real v : u) q += v * v;
  if (leaf == Leaf::gaussian || leaf == Leaf::product_gaussian) return std::exp2(-q);
  if (leaf == Leaf::gaussian_polynomial) {
    oracle::real sum = 0, power = 1;
    for (const double c : polynomial) {
      sum += c * power;
      power *= -q;
    }
    return sum * std::exp2(-q);
  }
  const std::size_t which = static_cast<std::size_t>(leaf);
  const Kernel kernel = static_cast<Kernel>(which % kKernels);
  const bool product_of_values = which >= kKernels && is_compact(kernel);
  if (!product_of_values && !is_indicator(kernel)) return oracle::profile(kernel, std::sqrt(q));
  if (leaf == Leaf::uniform) {
    std::vector<oracle::real> solved(d);
    q = 0;
    for (std::size_t k = 0; k < d; ++k) {
      solved[k] = u[k];
      for (std::size_t l = 0; l < k; ++l) solved[k] -= root[k * d + l] * solved[l];
      solved[k] /= root[k * d + k];
      q += solved[k] * solved[k];
    }
    return q <= 1 ? 1 : 0;
  }
  oracle::real product = 1;
  for (std::size_t k = 0; k < d; ++k) {
    const oracle::real unit = leaf == Leaf::product_uniform ? root[k * d + k] : 1.0L;
    product *= oracle::profile(kernel, std::fabs(u[k]) / unit);
  }
  return product;
}

std::vector<oracle::real> difference(const Rows& points, std::size_t i, const Rows& samples,
                                     std::size_t j, std::size_t d) {
  std::vector<oracle::real> u(d);
  for (std::size_t k = 0; k < d; ++k) {
    u[k] = static_cast<oracle::real>(points.coordinate[k * points.stride + i]) -
           samples.coordinate[k * samples.stride + j];
  }
  return u;
}

// Row-major lower triangle, for the uniform leaves.
std::vector<double> some_root(std::size_t d) {
  std::vector<double> root(d * d, 0.0);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < k; ++l) root[k * d + l] = 0.1;
    root[k * d + k] = 0.9 + 0.1 * static_cast<double>(k % 3);
  }
  return root;
}

struct Scratch {
  alignas(64) double data[8192];
};

class Leaves : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Dimension, Leaves, testing::Values(1, 2, 3, 4, 5, 7, 16));

}  // namespace

TEST_P(Leaves, SumWhatTheySay) {
  const std::size_t d = GetParam();
  const std::vector<double> root = some_root(d);
  std::mt19937_64 random(d);
  Scratch scratch;
  const simd::Parameters parameters{d, root.data(), polynomial, 4, scratch.data};
  for (const std::size_t n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 23}) {
    for (const std::size_t m : {1, 2, 3, 7, 8, 9, 17}) {
      const Rows samples(n, d, simd::kLanes, random), points(m, d, padded(m), random);
      for (std::size_t leaf = 0; leaf < simd::kLeaves; ++leaf) {
        std::vector<oracle::real> wanted(m, 0);
        for (std::size_t i = 0; i < m; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            wanted[i] += samples.weight[j] *
                         value(static_cast<Leaf>(leaf), difference(points, i, samples, j, d), root);
          }
        }
        for (const simd::Table* table : tables()) {
          std::vector<double> sum(m + simd::kTargets, -1.0);
          table->direct->sum[leaf](samples.tile(), points.block(), parameters, sum.data());
          for (std::size_t i = 0; i < m; ++i) {
            EXPECT_NEAR(sum[i], wanted[i], 1e-14 * static_cast<double>(n))
                << table->name << ", leaf " << leaf << ", n = " << n << ", m = " << m;
          }
        }
      }
    }
  }
}

TEST_P(Leaves, AddMoments) {
  const std::size_t d = GetParam();
  std::mt19937_64 random(d);
  Scratch scratch;
  const simd::Parameters parameters{d, nullptr, nullptr, 0, scratch.data};
  // 1, u_1 .. u_d, u_1^2, u_1 u_d, u_1^3 u_d
  const int last = static_cast<int>(d) - 1, square = static_cast<int>(d) + 1;
  std::vector<int> parent(d + 1, 0), axis(d + 1, 0);
  for (std::size_t k = 0; k < d; ++k) axis[k + 1] = static_cast<int>(k);
  for (const int p : {1, 1, square, square + 2}) parent.push_back(p);
  for (const int a : {0, last, last, 0}) axis.push_back(a);
  const simd::Monomials monomials{parent.size(), parent.data(), axis.data()};
  ASSERT_LE(simd::scratch_size(d, monomials.count), sizeof scratch / sizeof(double));
  for (const std::size_t n : {1, 2, 7, 8, 9, 16, 19}) {
    for (const std::size_t m : {1, 2, 7, 8, 9}) {
      const Rows samples(n, d, simd::kLanes, random), points(m, d, padded(m), random);
      std::vector<oracle::real> wanted(monomials.count, 1000);
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          const auto u = difference(points, i, samples, j, d);
          std::vector<oracle::real> monomial(monomials.count, 1);
          for (std::size_t t = 0; t < monomials.count; ++t) {
            if (t > 0) {
              monomial[t] = monomial[static_cast<std::size_t>(parent[t])] *
                            u[static_cast<std::size_t>(axis[t])];
            }
            wanted[t] +=
                points.weight[i] * samples.weight[j] * value(Leaf::gaussian, u, {}) * monomial[t];
          }
        }
      }
      for (const simd::Table* table : tables()) {
        std::vector<double> sum(monomials.count, 1000.0);
        table->direct->moments(samples.tile(), points.block(), parameters, monomials, sum.data());
        for (std::size_t t = 0; t < monomials.count; ++t) {
          EXPECT_NEAR(sum[t], wanted[t], 1e-12) << table->name << ", monomial " << t;
        }
      }
    }
  }
}

TEST_P(Leaves, WhitenByForwardSubstitution) {
  const std::size_t d = GetParam(), column = 40;
  const std::vector<double> root = some_root(d);
  const double unit = 0.85;
  std::vector<double> matrix(d * d, 0.0), centre(d);
  std::mt19937_64 random(d);
  for (std::size_t k = 0; k < d; ++k) {
    centre[k] = shapes::normal(random);
    for (std::size_t l = 0; l < k; ++l) matrix[k * d + l] = root[k * d + l] / root[k * d + k];
    matrix[k * d + k] = unit / root[k * d + k];
  }
  std::vector<double> x(d * column);
  for (double& v : x) v = shapes::normal(random);
  x[3] = 1e300;
  for (const bool diagonal : {false, true}) {
    const simd::Whitening map{matrix.data(), centre.data(), d, diagonal, 1e6};
    for (const std::size_t n : {1, 2, 4, 7, 8, 9, 33}) {
      const std::size_t stride = n + simd::kLanes;
      for (const simd::Table* table : tables()) {
        std::vector<double> z(d * stride, -7.0);
        table->direct->whiten(map, x.data(), column, n, z.data(), stride);
        for (std::size_t i = 0; i < n; ++i) {
          if (i == 3) {
            EXPECT_EQ(z[i], 1e6) << "not cut";
            continue;
          }
          std::vector<oracle::real> wanted(d);
          for (std::size_t k = 0; k < d; ++k) {
            wanted[k] = (static_cast<oracle::real>(x[k * column + i]) - centre[k]) * unit;
            for (std::size_t l = 0; l < k && !diagonal; ++l) {
              wanted[k] -= root[k * d + l] * wanted[l];
            }
            wanted[k] /= root[k * d + k];
            EXPECT_NEAR(z[k * stride + i], wanted[k], 1e-14) << table->name << ", row " << i;
          }
        }
        for (std::size_t k = 0; k < d; ++k) {
          for (std::size_t i = n; i < stride; ++i) EXPECT_EQ(z[k * stride + i], 0.0);
        }
      }
    }
  }
}

TEST(Tables, AreFoundByName) {
  const auto all = tables();
  ASSERT_FALSE(all.empty());
  // Under the thread sanitizer only the last one is listed.
  if (!under_tsan()) {
    EXPECT_EQ(simd::baseline_table(), all.front());
  }
  for (std::size_t k = 1; k < all.size(); ++k) EXPECT_LT(all[k - 1]->lanes, all[k]->lanes);
  EXPECT_EQ(simd::find_table("auto"), all.back());
  for (const simd::Table* table : all) EXPECT_EQ(simd::find_table(table->name), table);
  EXPECT_EQ(simd::find_table("avx9"), nullptr);
}
