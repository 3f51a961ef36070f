// Sketches of two and three variables, against sums cell by cell and pair by pair.
#include <algorithm>
#include <map>
#include <numeric>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/criteria/criteria.hpp"
#include "core/fourier/density.hpp"
#include "core/fourier/image_functionals.hpp"
#include "core/sketch/circular_grid.hpp"
#include "core/sketch/grid_modes.hpp"
#include "core/sketch/grid_sketch.hpp"
#include "core/sketch/sketch_bytes.hpp"
#include "core/sketch/sketch_sample.hpp"
#include "criteria-expect.hpp"
#include "oracle.hpp"
#include "tie-oracle.hpp"

using namespace kestrel;
using namespace fourier_oracle;

namespace {

using GridBytes = std::vector<unsigned char>;

RunOptions on_widest(int threads = 1) { return common::run_on(common::tables().back(), threads); }

Span<const unsigned char> span_of(const GridBytes& v) { return {v.data(), v.size()}; }

bool has_weights(const Drawn& s) {
  return std::any_of(s.w.begin(), s.w.end(), [](double w) { return w != 1; });
}

double deviation(const Drawn& s, std::size_t k) {
  real sum = 0, square = 0;
  for (std::size_t i = 0; i < s.n; ++i) sum += s.x[k * s.n + i];
  for (std::size_t i = 0; i < s.n; ++i) {
    const real away = s.x[k * s.n + i] - sum / s.n;
    square += away * away;
  }
  // Where some samples are far away, that of the others.
  std::vector<double> x(s.x.begin() + static_cast<std::ptrdiff_t>(k * s.n),
                        s.x.begin() + static_cast<std::ptrdiff_t>((k + 1) * s.n));
  std::sort(x.begin(), x.end());
  const double all = static_cast<double>(std::sqrt(square / s.n));
  const double middle = x[3 * s.n / 4] - x[s.n / 4];
  return middle > 0 && middle < 1e-3 * all ? middle : all;
}

/// Tiles take most of the samples, so that they are full. Some weights are above a unit.
GridPlan plan_of(const Drawn& s) {
  GridPlan plan;
  for (std::size_t k = 0; k < s.d; ++k) {
    plan.exponent.push_back(std::ilogb(deviation(s, k)) - 1);
    plan.column.push_back("x" + std::to_string(k));
  }
  if (has_weights(s)) {
    plan.weight = "w";
    plan.weight_exponent = 1;
  }
  return plan;
}

void add_rows(const Drawn& s, const std::vector<std::size_t>& rows, const RunOptions& options,
              GridSketch* sketch) {
  std::vector<double> x, w;
  for (std::size_t k = 0; k < s.d; ++k) {
    for (const std::size_t i : rows) x.push_back(s.x[k * s.n + i]);
  }
  for (const std::size_t i : rows) w.push_back(s.w[i]);
  sketch->add({x.data(), rows.size(), s.d},
              has_weights(s) ? Weights(w.data(), w.size()) : Weights::ones(w.size()), options);
}

std::vector<std::size_t> all_rows(const Drawn& s) {
  std::vector<std::size_t> rows(s.n);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

GridSketch sketch_of(const Drawn& s, const RunOptions& options = on_widest()) {
  GridSketch sketch(plan_of(s));
  add_rows(s, all_rows(s), options, &sketch);
  sketch.settle(options);
  return sketch;
}

std::vector<Drawn> gridded_samples() {
  std::vector<Drawn> all = samples_of_every_kind(700, 2);
  for (const Drawn& s : samples_of_every_kind(1700, 3)) {
    if (s.name == "normal_d3" || s.name == "ties_d3" || s.name == "weights_d3") all.push_back(s);
  }
  all.push_back(make("outliers", 600, 2, [](std::mt19937_64& random, std::vector<double>& row) {
    for (double& v : row) v = shapes::normal(random) * (random() % 100 == 0 ? 1e3 : 1.0);
  }));
  all.push_back(make("far_outliers", 600, 2, [](std::mt19937_64& random, std::vector<double>& row) {
    for (double& v : row) v = shapes::normal(random) * (random() % 100 == 0 ? 1e6 : 1.0);
  }));
  // Half of the samples are in a tile, the others over 15 decades.
  all.push_back(make("decades", 900, 2, [](std::mt19937_64& random, std::vector<double>& row) {
    const bool spread = random() % 2 == 0;
    for (double& v : row) {
      v = shapes::normal(random) * (spread ? std::pow(10.0, 15 * shapes::uniform(random) - 5) : 1);
    }
  }));
  return all;
}

class GridOfSamples : public testing::TestWithParam<Drawn> {};

INSTANTIATE_TEST_SUITE_P(Shapes, GridOfSamples, testing::ValuesIn(gridded_samples()),
                         [](const auto& info) { return info.param.name; });

/// Samples that count, with weights that sum to their number.
Drawn counted(const Drawn& s) {
  Drawn some{s.name, 0, s.d, {}, {}};
  for (std::size_t i = 0; i < s.n; ++i) some.n += s.w[i] > 0;
  for (std::size_t k = 0; k < s.d; ++k) {
    for (std::size_t i = 0; i < s.n; ++i) {
      if (s.w[i] > 0) some.x.push_back(s.x[k * s.n + i]);
    }
  }
  const double all = std::accumulate(s.w.begin(), s.w.end(), 0.0);
  for (const double w : s.w) {
    if (w > 0) some.w.push_back(w * static_cast<double>(some.n) / all);
  }
  return some;
}

/// A matrix whose deviations along the axes, given the others, are `times` the least that cells
/// serve.
std::vector<double> matrix_at(const GridSketch& sketch, double times, double rho) {
  const std::size_t d = sketch.d();
  std::vector<double> H(d * d), h;
  const double given = d == 2 ? 1 - rho * rho : (1 - rho) * (1 + 2 * rho) / (1 + rho);
  for (const int exponent : sketch.plan().exponent) {
    h.push_back(std::ldexp(times * least_in_cells(d), exponent) / std::sqrt(given));
  }
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < d; ++l) H[l * d + k] = h[k] * h[l] * (k == l ? 1 : rho);
  }
  return H;
}

template <class Call>
void expect_grid_refused(const Call& call, const char* what) {
  try {
    call();
    ADD_FAILURE() << "nothing was refused: " << what;
  } catch (const error& problem) {
    EXPECT_EQ(problem.kind, ErrorKind::input);
    EXPECT_NE(std::string(problem.what()).find(what), std::string::npos) << problem.what();
  }
}

}  // namespace

TEST_P(GridOfSamples, HasTheSameBytesForEveryPartitionSetAndThread) {
  const Drawn& s = GetParam();
  const GridBytes wanted = bytes_of(sketch_of(s));
  EXPECT_EQ(bytes_of(grid_sketch_of(span_of(wanted))), wanted);
  std::mt19937_64 random(3);
  std::vector<std::size_t> rows = all_rows(s);
  for (const std::size_t count : {1, 2, 3, 40}) {
    std::shuffle(rows.begin(), rows.end(), random);
    std::vector<std::size_t> cuts{0, s.n};
    while (cuts.size() <= count) cuts.push_back(random() % (s.n + 1));
    std::sort(cuts.begin(), cuts.end());
    std::vector<GridSketch> parts;
    for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
      const simd::Table* table = common::tables()[random() % common::tables().size()];
      const RunOptions options = common::run_on(table, random() % 2 == 0 ? 1 : 3);
      parts.emplace_back(plan_of(s));
      const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(cuts[k]);
      add_rows(s, {begin, rows.begin() + static_cast<std::ptrdiff_t>(cuts[k + 1])}, options,
               &parts.back());
      // Some have been kept as bytes meanwhile.
      if (random() % 2 == 0) {
        parts.back().settle(options);
        parts.back() = grid_sketch_of(span_of(bytes_of(parts.back())));
      }
    }
    while (parts.size() > 1) {
      const std::size_t to = random() % (parts.size() - 1);
      parts[to].merge(parts.back(), on_widest());
      parts.pop_back();
    }
    parts[0].settle(on_widest());
    EXPECT_EQ(bytes_of(parts[0]), wanted) << count;
  }
}

// Each sample adds psi(c_0 - g_0) psi(c_1 - g_1) ... to cell c, psi the window, v times.
TEST_P(GridOfSamples, HasTheCellsOfItsDefinition) {
  const Drawn& s = GetParam();
  const GridSketch sketch = sketch_of(s);
  constexpr int kTaps = GridSketch::kTaps;
  const auto bessel = [](real x) {
    real term = 1, sum = 1;
    for (int k = 1; term > 1e-22L * sum; ++k) sum += term *= x * x / 4 / (real(k) * k);
    return sum;
  };
  const auto psi = [&](real u) {
    const real r = 2 * u / kTaps, beta = 2.53L * kTaps;
    return r * r >= 1 ? real(0) : bessel(beta * std::sqrt(1 - r * r)) / bessel(beta);
  };
  std::map<TileKey, const GridSketch::Tile*> tiles;
  for (const GridSketch::Tile* tile : sketch.tiles()) tiles[tile->key] = tile;
  std::map<TileKey, real> cells, own;
  std::size_t kept = 0, spread = 0;
  oracle::TieCounts ties;
  for (std::size_t i = 0; i < s.n; ++i) {
    if (s.w[i] == 0) continue;
    TileKey first{}, key{};
    real at[3] = {};
    for (std::size_t k = 0; k < s.d; ++k) {
      const std::size_t axis = k + 3 - s.d;
      at[axis] = std::ldexp(real(s.x[k * s.n + i]), -sketch.plan().exponent[k]);
      first[axis] = static_cast<std::int64_t>(std::ceil(at[axis])) - kTaps / 2;
      key[axis] = static_cast<std::int64_t>(std::floor(
          std::ldexp(real(first[axis]), -static_cast<int>(GridSketch::tile_bits(axis, s.d)))));
    }
    const auto tile = tiles.find(key);
    ASSERT_NE(tile, tiles.end());
    if (!tile->second->full) {
      ++kept;
      continue;
    }
    std::vector<oracle::PlaceOfCell> position;
    for (std::size_t axis = 3 - s.d; axis < 3; ++axis) {
      const real above = std::ceil(at[axis]);
      // A distance is rounded to a double before it is rounded to quanta.
      const double away = static_cast<double>(above - at[axis]);
      position.push_back({static_cast<std::int64_t>(above),
                          static_cast<std::int64_t>(std::floor(away * 17592186044416.0 + 0.5))});
    }
    const double units = has_weights(s) ? sketch.in_units(s.w[i]) : 1;
    ties.add(position, std::floor(units * 17592186044416.0 + 0.5));
    // A few are enough: each of the others would take as many window values.
    if (++spread % 40 != 1 && s.d == 3) continue;
    const real v = has_weights(s) ? sketch.in_units(s.w[i]) : 1;
    std::array<std::vector<real>, 3> value;
    for (std::size_t a = 0; a < 3; ++a) {
      if (a < 3 - s.d) {
        value[a] = {1};
        continue;
      }
      for (int t = 0; t < kTaps; ++t) value[a].push_back(psi(real(first[a]) + t - at[a]));
    }
    for (std::size_t e = 0; e < value[0].size(); ++e) {
      for (std::size_t f = 0; f < value[1].size(); ++f) {
        for (std::size_t g = 0; g < value[2].size(); ++g) {
          cells[{first[0] + std::int64_t(e), first[1] + std::int64_t(f),
                 first[2] + std::int64_t(g)}] += v * value[0][e] * value[1][f] * value[2][g];
        }
      }
    }
  }
  real of_cells = 0;
  std::size_t rows = 0, samples = 0;
  for (const auto& entry : tiles) {
    const GridSketch::Tile& tile = *entry.second;
    rows += tile.rows.size() / sketch.width_of_row();
    samples += tile.count;
    EXPECT_EQ(tile.full, tile.count > GridSketch::most_kept(s.d));
    for (std::size_t c = 0; c < tile.low.size(); ++c) {
      const real high = tile.high.empty() ? 0 : tile.high[c];
      const real got = high + std::ldexp(real(tile.low[c]), -GridSketch::kQuantumBits);
      of_cells += got;
      if (s.d == 3) continue;
      const TileKey cell{0, tile.key[1] * 16 + std::int64_t(c / 32),
                         tile.key[2] * 32 + std::int64_t(c % 32)};
      const auto wanted = cells.find(cell);
      const real value = wanted == cells.end() ? 0 : wanted->second;
      const double weighted = has_weights(s) ? 4 : 1;
      // Tied samples are rounded in the same way.
      EXPECT_LE(std::fabs(got - value), 1.2e-13 * weighted * static_cast<double>(s.n));
    }
  }
  ties.expect(sketch.ties(), spread > 0, has_weights(s));
  EXPECT_EQ(rows, kept);
  EXPECT_EQ(samples, sketch.n());
  // The window's samples sum to its integral, but for aliases.
  real mass = 0;
  for (const auto& entry : tiles) {
    if (entry.second->full) mass += entry.second->moments[0].value() / std::ldexp(real(1), 44);
  }
  const real integral = FourierWindow(kTaps).transform(0);
  EXPECT_LE(std::fabs(of_cells / std::pow(integral, real(s.d)) - mass), 1e-11 * (1 + mass));
}

TEST_P(GridOfSamples, HasTheMeanAndTheCovariance) {
  const Drawn s = counted(GetParam());
  const GridSketch sketch = sketch_of(GetParam());
  const SampleCovariance got = sketch.moments();
  std::vector<real> mean(s.d, 0);
  for (std::size_t k = 0; k < s.d; ++k) {
    for (std::size_t i = 0; i < s.n; ++i) mean[k] += s.w[i] * real(s.x[k * s.n + i]) / s.n;
  }
  for (std::size_t k = 0; k < s.d; ++k) {
    const double width = std::ldexp(1.0, sketch.plan().exponent[k]);
    EXPECT_LE(std::fabs(got.mean.first[k] + (got.mean.second[k] - mean[k])),
              1e-11L * width + 1e-18L * std::fabs(mean[k]));
    for (std::size_t l = 0; l < s.d; ++l) {
      real product = 0, size = 0;
      for (std::size_t i = 0; i < s.n; ++i) {
        const real one = s.x[k * s.n + i] - mean[k], two = s.x[l * s.n + i] - mean[l];
        product += s.w[i] * one * two / s.n;
        size += s.w[i] * std::fabs(one * two) / s.n;
      }
      const real tile =
          std::ldexp(real(1024), sketch.plan().exponent[k] + sketch.plan().exponent[l]);
      EXPECT_LE(std::fabs(got.covariance[l * s.d + k] - product), 1e-12L * size + 3e-14L * tile);
    }
  }
  const WeightSums weights = sketch.weight_sums();
  EXPECT_NEAR(weights.sum * weights.sum / weights.squares, 1 / static_cast<double>(share(s)),
              1e-11 / static_cast<double>(share(s)));
}

TEST_P(GridOfSamples, HasTheCovarianceInAPeriodOfSamplesThatAreWholePeriodsAway) {
  const Drawn& s = GetParam();
  const GridSketch here = sketch_of(s);
  // No window reaches from one period into the next one.
  const double cell = std::ldexp(1.0, here.plan().exponent[0]);
  const ValueRange range = here.ranges()[0];
  const double period = 1.1 * (2 * (range.max - range.min) + 2 * GridSketch::kTaps * cell);
  Drawn turned = s;
  for (std::size_t i = 0; i < s.n; ++i) turned.x[i] += period * static_cast<double>(i % 4);
  GridSketch there(here.plan());
  add_rows(turned, all_rows(turned), on_widest(), &there);
  there.settle(on_widest());
  const double periods[] = {period, 0, 0};
  const SampleCovariance got = circular_moments(there, {periods, s.d}), wanted = here.moments();
  for (std::size_t k = 0; k < s.d; ++k) {
    for (std::size_t l = 0; l < s.d; ++l) {
      const double size =
          std::sqrt(wanted.covariance[k * s.d + k] * wanted.covariance[l * s.d + l]);
      const double cells = std::ldexp(1.0, here.plan().exponent[k] + here.plan().exponent[l]);
      // Samples that are moved are rounded.
      const double rounded =
          1e-15 * (std::fabs(range.max) + 4 * period) * std::sqrt(wanted.covariance[k * s.d + k]);
      EXPECT_NEAR(got.covariance[k * s.d + l], wanted.covariance[k * s.d + l],
                  1e-11 * size + 1e-11 * cells + rounded);
    }
  }
}

// Equally spaced, so that samples are at the ends of any period.
TEST(CircularGrid, HasTheCovarianceOfAUniformVariable) {
  constexpr std::size_t kSide = 200;
  const double period = 24.7;
  Drawn s{"uniform", kSide * kSide, 2, {}, std::vector<double>(kSide * kSide, 1.0)};
  for (std::size_t i = 0; i < s.n; ++i) {
    s.x.push_back(period / kSide * static_cast<double>(i / kSide));
  }
  for (std::size_t i = 0; i < s.n; ++i) s.x.push_back(std::sin(static_cast<double>(i % kSide)));
  GridSketch sketch(GridPlan{{-1, 0}, {"a", "b"}});
  add_rows(s, all_rows(s), on_widest(), &sketch);
  sketch.settle(on_widest());
  const double periods[] = {period, 0};
  const SampleCovariance got = circular_moments(sketch, {periods, 2});
  EXPECT_NEAR(got.covariance[0], period * period / 12, 1e-4 * period * period / 12);
  EXPECT_NEAR(got.covariance[3], sketch.moments().covariance[3], 0);
  const double narrow[] = {6.9, 0};
  EXPECT_THROW(circular_moments(sketch, {narrow, 2}), error);
}

TEST_P(GridOfSamples, HasTheSumsOverPairsOfItsSamples) {
  const Drawn s = counted(GetParam());
  const GridSketch sketch = sketch_of(GetParam());
  ASSERT_FALSE(sketch.keeps_all());
  const std::unique_ptr<const Sample> sample = sample_of_sketch(sketch, sketch.moments());
  FourierDemand demand;
  FourierPairs pairs(*sample, demand, {}, on_widest());
  const double rho = s.d == 2 ? -0.4 : 0.3;
  const std::vector<double> H = matrix_at(sketch, 1, rho);
  const MeanDerivatives wanted(s, in_long_double(H), s.d == 2 ? 4 : 2);
  const real size = wanted.of_degree[0][0], diagonal = share(s) * peak(in_long_double(H), s.d);
  const SumWithGradient got = pairs.gaussian({H.data(), H.size()}, true, on_widest())[0];
  expect_near(got.value, size - diagonal, tolerance_for(s) * size, "sum");
  if (s.d == 2) {
    // Of a higher degree from a wider bandwidth on.
    const std::vector<double> wider = matrix_at(sketch, 1.5, rho);
    const MeanDerivatives at(s, in_long_double(wider), 4);
    const FourierSums* sums = sample->found<FourierSums>();
    ASSERT_NE(sums, nullptr);
    const std::vector<double> psi =
        const_cast<FourierSums*>(sums)->psi({wider.data(), wider.size()}, 4, on_widest());
    const real most = std::max(std::fabs(at.of_degree[4][0]), std::fabs(at.of_degree[4][4]));
    for (std::size_t m = 0; m < psi.size(); ++m) {
      expect_near(psi[m], at.of_degree[4][m], 3 * tolerance_for(s) * most, "psi");
    }
    const Criterion cv = lscv(s, in_long_double(H), true);
    expect_near(lscv(pairs, {H.data(), H.size()}, LscvForm::unbiased, false, on_widest()).value,
                cv.value, tolerance_for(s) * cv.size, "lscv");
  }
  const std::vector<double> narrow = matrix_at(sketch, 0.95, rho);
  try {
    pairs.gaussian({narrow.data(), narrow.size()}, false, on_widest());
    ADD_FAILURE() << "a narrow bandwidth was not refused";
  } catch (const error& problem) {
    EXPECT_EQ(problem.kind, ErrorKind::unfit);
  }
}

TEST_P(GridOfSamples, HasTheDensityOfItsSamples) {
  const Drawn s = counted(GetParam());
  const GridSketch sketch = sketch_of(GetParam());
  const std::unique_ptr<const Sample> sample = sample_of_sketch(sketch, sketch.moments());
  const SpreadSamples* spread = sample->found<SpreadSamples>();
  ASSERT_NE(spread, nullptr);
  const std::vector<double> H = matrix_at(sketch, 1.6, 0);
  std::vector<double> root(s.d * s.d, 0.0);
  for (std::size_t k = 0; k < s.d; ++k) root[k * s.d + k] = std::sqrt(H[k * s.d + k]);
  const std::size_t m = 60;
  std::vector<double> points(m * s.d), got(m);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t k = 0; k < s.d; ++k) {
      // Samples, places between them, and far ones.
      const double* x = s.x.data() + k * s.n;
      points[k * m + i] = i % 3 == 0   ? x[(7 * i) % s.n]
                          : i % 3 == 1 ? 0.5 * (x[i] + x[i + 1])
                                       : x[i] + (i % 2 == 0 ? 10 : -60) * root[k * s.d + k];
    }
  }
  EvaluationPoints at;
  at.matrix = {points.data(), m, s.d};
  const double tolerance = s.d == 2 ? 1e-12 : 1e-9;
  density_of_modes(*spread->source, at, {root.data(), root.size()}, tolerance, on_widest(),
                   {got.data(), m});
  std::vector<real> wanted(m, 0);
  real largest = 0;
  const real top = peak(in_long_double(H), s.d);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < s.n; ++j) {
      real square = 0;
      for (std::size_t k = 0; k < s.d; ++k) {
        const real u = (real(points[k * m + i]) - s.x[k * s.n + j]) / root[k * s.d + k];
        square += u * u;
      }
      wanted[i] += s.w[j] * top * std::exp(-square / 2);
    }
    largest = std::max(largest, wanted[i]);
  }
  for (std::size_t i = 0; i < m; ++i) {
    EXPECT_GE(got[i], 0);
    EXPECT_LE(std::fabs(got[i] - wanted[i]), 2 * tolerance * largest) << i;
  }
}

TEST(GridSketch, RefusesWhatIsNone) {
  const Drawn s = make("few", 600, 2, [](std::mt19937_64& random, std::vector<double>& row) {
    for (double& v : row) v = shapes::normal(random);
  });
  const GridBytes good = bytes_of(sketch_of(s));
  std::mt19937_64 random(5);
  for (int k = 0; k < 60; ++k) {
    GridBytes bad = good;
    bad[random() % bad.size()] ^= static_cast<unsigned char>(1 << random() % 8);
    expect_grid_refused([&] { grid_sketch_of(span_of(bad)); }, "sketch");
    bad = good;
    bad.resize(random() % bad.size());
    expect_grid_refused([&] { grid_sketch_of(span_of(bad)); }, "sketch");
  }
  const auto parts_of = [](const GridSketch& sketch) {
    std::vector<GridSketch::Tile> tiles;
    for (const GridSketch::Tile* tile : sketch.tiles()) tiles.push_back(*tile);
    return tiles;
  };
  const GridSketch sketch = sketch_of(s);
  const auto refuse = [&](const auto& change, const char* what) {
    std::vector<GridSketch::Tile> tiles = parts_of(sketch);
    const auto full = std::find_if(tiles.begin(), tiles.end(),
                                   [](const GridSketch::Tile& tile) { return tile.full; });
    const auto kept = std::find_if(tiles.begin(), tiles.end(),
                                   [](const GridSketch::Tile& tile) { return !tile.rows.empty(); });
    change(&*full, &*kept);
    expect_grid_refused(
        [&] {
          GridSketch::of_parts(sketch.plan(), sketch.ranges(), sketch.weight_range(), tiles,
                               sketch.ties());
        },
        what);
  };
  using Tile = GridSketch::Tile;
  refuse([](Tile* full, Tile*) { full->count = 3; }, "number of samples");
  refuse([](Tile*, Tile* kept) { kept->rows[0] = std::nan(""); }, "impossible sample");
  refuse([](Tile*, Tile* kept) { kept->rows[0] += 1e3; }, "wrong tile");
  refuse([](Tile* full, Tile*) { full->low.clear(); }, "lacks cells");
  refuse([](Tile* full, Tile*) { full->low[0] = -1; }, "impossible cell");
  refuse([](Tile* full, Tile*) { full->moments[0] = WideInteger(-1); }, "impossible sums");
  refuse([](Tile* full, Tile*) { full->key[1] = INT64_MAX; }, "impossible tile");
  expect_grid_refused(
      [&] {
        GridSketch::of_parts(sketch.plan(), sketch.ranges(), sketch.weight_range(),
                             parts_of(sketch), {});
      },
      "counters of ties");
  GridSketch empty(sketch.plan());
  const double bad[] = {1, std::nan(""), 1e20, 1};
  expect_grid_refused([&] { empty.add({bad, 2, 2}, Weights::ones(2), on_widest()); }, "values");
  EXPECT_EQ(empty.n(), 0u);
  GridPlan other = sketch.plan();
  other.exponent[1] += 1;
  expect_grid_refused([&] { empty.merge(GridSketch(other), on_widest()); }, "plan");
}

namespace {

struct AxisSum {
  std::vector<real> value, size;  // of phi_g^(r), r = 0, ..., 4, over the images
};

/// Of the images of y at a lower bound and, if it is finite, an upper one.
AxisSum axis_sum(real x, real y, const ReflectingAxis& axis, real g) {
  AxisSum sums{std::vector<real>(5), std::vector<real>(5)};
  const bool two = std::isfinite(axis.upper);
  for (int turn = two ? -3 : 0; turn <= (two ? 3 : 0); ++turn) {
    const real move = two ? 2 * turn * (static_cast<real>(axis.upper) - axis.lower) : real(0);
    for (const real image : {y + move, 2 * static_cast<real>(axis.lower) - y + move}) {
      const real u = (x - image) / g;
      if (std::fabs(u) > 13) continue;
      // phi^(r) by the recurrence of the Hermite polynomials.
      real before = 0, now = oracle::normal_density(1, g, 0) * std::exp(-u * u / 2), unit = 1;
      for (int r = 0; r <= 4; ++r) {
        sums.value[static_cast<std::size_t>(r)] += now * unit;
        sums.size[static_cast<std::size_t>(r)] += std::fabs(now * unit);
        const real next = -u * now - r * before;
        before = now;
        now = next;
        unit /= g;
      }
    }
  }
  return sums;
}

}  // namespace

/// Two variables, of which there are not too many pairs, and samples that are not all known.
std::vector<Drawn> samples_with_images() {
  std::vector<Drawn> some;
  for (const Drawn& s : gridded_samples()) {
    if (s.d == 2 && !sketch_of(s).keeps_all()) some.push_back(s);
  }
  return some;
}

class GridWithImages : public testing::TestWithParam<Drawn> {};

INSTANTIATE_TEST_SUITE_P(Shapes, GridWithImages, testing::ValuesIn(samples_with_images()),
                         [](const auto& info) { return info.param.name; });

// The first variable has a bound, the second one two, near which outliers lie, too.
TEST_P(GridWithImages, FunctionalsWithImagesAreThoseOfThePairs) {
  const Drawn& s = GetParam();
  const GridSketch sketch = sketch_of(s);
  const auto sample = sample_of_sketch(sketch, sketch.moments());
  const Drawn some = counted(s);
  std::vector<ReflectingAxis> axes;
  std::vector<double> g;
  for (std::size_t k = 0; k < 2; ++k) {
    const ValueRange range = sketch.ranges()[k];
    const double upper = k == 0 ? HUGE_VAL : range.max + 0.1 * (range.max - range.min);
    axes.push_back({range.min, upper, 0, false});
    g.push_back(std::ldexp((k == 0 ? 1.6 : 2) * least_in_cells(2), sketch.plan().exponent[k]));
  }
  const std::vector<double> found = image_functionals(*sample, {g.data(), 2}, 4, axes, on_widest());
  std::vector<real> wanted(5), size(5);
  for (std::size_t i = 0; i < some.n; ++i) {
    for (std::size_t j = 0; j < some.n; ++j) {
      const AxisSum first = axis_sum(some.x[i], some.x[j], axes[0], g[0]);
      if (first.size[0] == 0) continue;
      const AxisSum second = axis_sum(some.x[some.n + i], some.x[some.n + j], axes[1], g[1]);
      const real w = static_cast<real>(some.w[i]) * some.w[j] / some.n / some.n;
      for (std::size_t e = 0; e <= 4; ++e) {
        wanted[e] += w * first.value[4 - e] * second.value[e];
        size[e] += w * first.size[4 - e] * second.size[e];
      }
    }
  }
  for (std::size_t e = 0; e <= 4; ++e) {
    EXPECT_LE(std::fabs(found[e] - wanted[e]), 1e-11 * size[e]) << "exponent " << e;
  }
}
