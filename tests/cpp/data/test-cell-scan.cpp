// Neighbours of samples in cells of ever smaller sides, against counts over all pairs.
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "common.hpp"
#include "core/data/cell_scan.hpp"

using namespace kestrel;

namespace {

struct Data {
  std::size_t n, d;
  std::vector<double> x, w, root;
  MatrixView view() const { return {x.data(), n, d}; }
  Weights weights() const { return {w.data(), n}; }
  Span<const double> factor() const { return {root.data(), root.size()}; }
};

// Clusters of unequal weights, of which some samples are tied.
Data clusters(std::size_t n, std::size_t d) {
  Data data{n, d, std::vector<double>(n * d), std::vector<double>(n), std::vector<double>(d * d)};
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < n; ++i) {
    data.w[i] = static_cast<double>(i % 5);
    const double centre = static_cast<double>(random() % 4);
    for (std::size_t k = 0; k < d; ++k) {
      data.x[k * n + i] =
          i % 9 == 8 ? data.x[k * n + i - 3] : centre + 0.01 * shapes::normal(random);
    }
  }
  for (std::size_t k = 0; k < d; ++k) {
    data.root[k * d + k] = 1.0 + static_cast<double>(k);
    if (k > 0) data.root[k] = 0.5;
  }
  return data;
}

using Cell = std::vector<double>;

std::vector<double> whitened(const Data& data, std::size_t i) {
  std::vector<double> z(data.d);
  for (std::size_t k = 0; k < data.d; ++k) {
    z[k] = data.x[k * data.n + i] - data.x[k * data.n];
    for (std::size_t l = 0; l < k; ++l) z[k] -= data.root[l * data.d + k] * z[l];
    z[k] /= data.root[k * data.d + k];
  }
  return z;
}

double neighbours(const Data& data, double side) {
  std::map<Cell, std::pair<double, double>> sums;
  double squares = 0, pairs = 0;
  for (std::size_t i = 0; i < data.n; ++i) {
    Cell cell = whitened(data, i);
    for (double& at : cell) at = std::floor(at / side);
    sums[cell].first += data.w[i];
    sums[cell].second += data.w[i] * data.w[i];
    squares += data.w[i] * data.w[i];
  }
  for (const auto& sum : sums) pairs += sum.second.first * sum.second.first - sum.second.second;
  return pairs / squares;
}

}  // namespace

TEST(CellScan, CountsNeighboursAtEveryLevel) {
  for (const std::size_t d : {1, 2, 3, 5}) {
    const Data data = clusters(700, d);
    const std::vector<CellLevel> levels =
        scan_cells(data.view(), data.weights(), data.factor(), 8.3, 0, false, {});
    ASSERT_GT(levels.size(), 8u);
    for (std::size_t k = 0; k < levels.size(); ++k) {
      EXPECT_EQ(levels[k].side, 8.3 / std::pow(2.0, static_cast<double>(k)));
      const double wanted = neighbours(data, levels[k].side);
      EXPECT_NEAR(levels[k].neighbours, wanted, 1e-12 * wanted) << d << ", level " << k;
    }
    // The last level has pairs of ties only.
    EXPECT_GT(levels.back().neighbours, 0.1);
    EXPECT_EQ(levels.back().covariance[0], 0.0);
  }
}

TEST(CellScan, PoolsTheCovarianceWithinCells) {
  const std::size_t n = 400;
  Data data{n, 2, std::vector<double>(2 * n), std::vector<double>(n, 1.0), {1, 0, 0, 1}};
  std::mt19937_64 random(3);
  std::vector<double> wanted(4);
  for (std::size_t i = 0; i < n; ++i) {
    data.x[i] = (i % 2 == 0 ? 10.2 : 100.7) + 1e-3 * shapes::normal(random);
    data.x[n + i] =
        50.5 + 1e-4 * shapes::normal(random) + 0.5 * (data.x[i] - std::floor(data.x[i]));
  }
  for (std::size_t half = 0; half < 2; ++half) {
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t l = 0; l < 2; ++l) {
        double mean_k = 0, mean_l = 0;
        for (std::size_t i = half; i < n; i += 2) {
          mean_k += data.x[k * n + i] / (0.5 * n);
          mean_l += data.x[l * n + i] / (0.5 * n);
        }
        for (std::size_t i = half; i < n; i += 2) {
          wanted[l * 2 + k] +=
              (data.x[k * n + i] - mean_k) * (data.x[l * n + i] - mean_l) / (n - 2.0);
        }
      }
    }
  }
  // The first sample is the origin, on the edge of cells: a level with cells around it is needed.
  data.x[0] = 0;
  data.x[n] = 0;
  data.w[0] = 0;
  const std::vector<CellLevel> levels =
      scan_cells(data.view(), data.weights(), data.factor(), 1, 30, false, {});
  for (std::size_t e = 0; e < 4; ++e) {
    EXPECT_NEAR(levels[0].covariance[e], wanted[e], 0.03 * std::sqrt(wanted[0] * wanted[3]));
  }
}

TEST(CellScan, ThinOneHasWholeCellsAndTheSameBitsOnAnyThreads) {
  const std::size_t n = 100000;
  Data data{n, 2, std::vector<double>(2 * n), std::vector<double>(n, 1.0), {1, 0.4, 0, 0.9}};
  std::mt19937_64 random(5);
  for (double& v : data.x) v = shapes::uniform(random);
  const double side = 0.02;
  const auto scan = [&](bool thin, int threads) {
    ParallelOptions options;
    options.threads = threads;
    std::vector<double> all;
    for (const CellLevel& level :
         scan_cells(data.view(), data.weights(), data.factor(), side, 0.3, thin, options)) {
      all.push_back(level.neighbours);
    }
    return all;
  };
  const std::vector<double> whole = scan(false, 1), thin = scan(true, 1);
  ASSERT_GE(thin.size(), 3u);
  // 40 samples a cell on average, of uniform data: a standard error of some per cent.
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(thin[k] / whole[k], 1, 0.2);
  EXPECT_TRUE(common::same_bits(scan(true, 3), thin));
  EXPECT_TRUE(common::same_bits(scan(false, 3), whole));
}
