// Sketches, against sums cell by cell and pair by pair.
#include <algorithm>
#include <map>
#include <numeric>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/fgt/density.hpp"
#include "core/fgt/line_sample.hpp"
#include "core/fgt/pairs.hpp"
#include "core/sketch/sketch_bytes.hpp"
#include "core/sketch/sketch_sample.hpp"
#include "grown-sketch.hpp"
#include "lines.hpp"
#include "oracle.hpp"
#include "tie-oracle.hpp"

using namespace kestrel;
using common::name_of;
using common::run_on;
using lines::Line;
using oracle::real;

namespace {

__extension__ typedef __int128 Wide;
using Bytes = std::vector<unsigned char>;

constexpr int kMoments = LineSketch::kMoments;

RunOptions on_best(int threads = 1) { return run_on(common::tables().back(), threads); }

Span<const double> span(const std::vector<double>& v) { return {v.data(), v.size()}; }
Span<const unsigned char> span(const Bytes& v) { return {v.data(), v.size()}; }

Wide wide(const WideInteger& value) {
  return static_cast<Wide>(value.high) * (static_cast<Wide>(1) << 64) + value.low;
}

/// The cells of about a fifth to a tenth of the middle half of a line, so that some are full.
int exponent_of(const Line& line) {
  std::vector<double> x = line.x;
  std::sort(x.begin(), x.end());
  const double spread = x[x.size() * 3 / 4] - x[x.size() / 4];
  return spread > 0 ? std::ilogb(spread) - 3 : -3;
}

LineSketch sketch_of_line(const std::vector<double>& x, int exponent, const RunOptions& options) {
  LineSketch sketch({exponent, "x"});
  add_to(&sketch, span(x), Weights::ones(x.size()), options);
  return sketch;
}

bool is_weighted(const Line& line) {
  return std::any_of(line.w.begin(), line.w.end(), [](double w) { return w != 1; });
}

/// In the names of lines with moments of squared weights.
const std::string kBounded = "_bounded";

/// A weighted line in units of which the mean weight has an eighth.
SketchPlan plan_of(const Line& line) {
  if (!is_weighted(line)) return {exponent_of(line), "x"};
  const double all = std::accumulate(line.w.begin(), line.w.end(), 0.0);
  SketchPlan plan{exponent_of(line), "x", "w",
                  std::ilogb(all / static_cast<double>(line.w.size())) + 3};
  plan.bounded = line.name.find(kBounded) != std::string::npos;
  return plan;
}

void add_samples(const Line& line, std::size_t from, std::size_t count, const RunOptions& options,
                 LineSketch* sketch) {
  const Weights w(line.w.data() + from, count);
  add_to(sketch, {line.x.data() + from, count}, is_weighted(line) ? w : Weights::ones(count),
         options);
}

LineSketch sketch_of_line(const Line& line, const RunOptions& options = on_best()) {
  LineSketch sketch(plan_of(line));
  add_samples(line, 0, line.x.size(), options, &sketch);
  return sketch;
}

/// Without samples of weight zero.
Line positive(const Line& line) {
  Line some{line.name, {}, {}};
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (line.w[i] == 0) continue;
    some.x.push_back(line.x[i]);
    some.w.push_back(line.w[i]);
  }
  return some;
}

std::vector<Line> lines_of_every_kind() {
  std::vector<Line> all;
  for (const Line& line : lines::of_every_kind(500)) {
    all.push_back(line);
    if (is_weighted(line)) all.push_back({line.name + kBounded, line.x, line.w});
  }
  for (const Line& line : lines::of_every_small_size()) all.push_back(line);
  all.push_back(lines::make("many", 1500, shapes::normal));
  all.push_back(lines::make(
      "tiny", 500, [](std::mt19937_64& random) { return 1e-20 * shapes::normal(random); }));
  // On the edges of cells and next to them, where a difference would be rounded.
  std::size_t next = 0;
  all.push_back(lines::make("edges", 300, [next](std::mt19937_64&) mutable {
    const double edge = std::floor(static_cast<double>(++next) / 30) - 5;
    const double near[] = {edge, std::nextafter(edge, 9), std::nextafter(edge, -9), -0.0, -1e-20};
    return near[next % 5];
  }));
  return all;
}

class Sketch : public testing::TestWithParam<Line> {};

INSTANTIATE_TEST_SUITE_P(Lines, Sketch, testing::ValuesIn(lines_of_every_kind()), name_of);

template <class Call>
void expect_refused(const Call& call, const char* what) {
  try {
    call();
    ADD_FAILURE() << "nothing was refused";
  } catch (const error& problem) {
    EXPECT_EQ(problem.kind, ErrorKind::input);
    EXPECT_NE(std::string(problem.what()).find(what), std::string::npos) << problem.what();
  }
}

}  // namespace

TEST_P(Sketch, HasTheSumsOfItsCells) {
  const Line line = positive(GetParam());
  const SketchPlan plan = plan_of(GetParam());
  const double width = std::ldexp(1.0, plan.exponent);
  const std::size_t row = plan.bounded      ? 2 * kMoments + 1
                          : plan.weighted() ? kMoments + 2
                                            : kMoments;
  std::map<double, std::vector<std::pair<double, double>>> cells;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    cells[std::floor(line.x[i] / width)].push_back({line.x[i], line.w[i]});
  }
  for (const simd::Table* table : common::tables()) {
    const LineSketch sketch = sketch_of_line(GetParam(), run_on(table));
    KeptSamples kept;
    std::size_t full = 0;
    oracle::TieCounts ties;
    for (auto& cell : cells) {
      std::sort(cell.second.begin(), cell.second.end());
      if (cell.second.size() <= LineSketch::kMostKept) {
        for (const auto& one : cell.second) {
          kept.append(&one.first, plan.weighted() ? &one.second : nullptr, 1);
        }
        continue;
      }
      ASSERT_LT(full, sketch.full().size());
      EXPECT_EQ(sketch.full()[full], cell.first);
      EXPECT_EQ(sketch.count(full), cell.second.size());
      Wide sums[2 * kMoments + 1] = {};
      for (const auto& one : cell.second) {
        const volatile double t = 2 * (one.first / width - cell.first) - 1;
        const double v = one.second / std::ldexp(1.0, plan.weight_exponent);
        const volatile double quanta = std::floor(t * 17592186044416.0 + 0.5);
        ties.add({{static_cast<std::int64_t>(cell.first),
                   static_cast<std::int64_t>(quanta + 17592186044416.0)}},
                 std::floor(v * 17592186044416.0 + 0.5));
        volatile double power = v, square = v * v;
        for (int a = 0; a < kMoments; ++a) {
          sums[a] += static_cast<Wide>(std::floor(power * 17592186044416.0 + 0.5));
          power = power * t;
          if (a > 0 && !plan.bounded) continue;
          sums[kMoments + a] += static_cast<Wide>(std::floor(square * 17592186044416.0 + 0.5));
          square = square * t;
        }
        if (plan.weighted()) sums[row - 1] += static_cast<Wide>(17592186044416.0);
      }
      ASSERT_EQ(sketch.row(), row);
      for (std::size_t a = 0; a < row; ++a) {
        EXPECT_TRUE(wide(sketch.sums(full)[a]) == sums[a]) << a;
      }
      ++full;
    }
    EXPECT_EQ(sketch.full().size(), full);
    ties.expect(sketch.ties(), full > 0, plan.weighted());
    EXPECT_EQ(sketch.kept().x, kept.x);
    EXPECT_EQ(sketch.kept().w, kept.w);
    EXPECT_EQ(sketch.n(), line.x.size());
    EXPECT_EQ(sketch.range().min, *std::min_element(line.x.begin(), line.x.end()));
    EXPECT_EQ(sketch.range().max, *std::max_element(line.x.begin(), line.x.end()));
  }
}

TEST_P(Sketch, HasTheSameBytesForEveryPartitionAndOrder) {
  const Line& line = GetParam();
  const Bytes wanted = bytes_of(sketch_of_line(line, run_on(common::tables().front())));
  std::mt19937_64 random(line.x.size());
  for (const std::size_t count : {1, 2, 3, 7, 64, 1000}) {
    Line shuffled = line;
    for (std::size_t i = shuffled.x.size() - 1; i > 0; --i) {
      const std::size_t j = random() % (i + 1);
      std::swap(shuffled.x[i], shuffled.x[j]);
      std::swap(shuffled.w[i], shuffled.w[j]);
    }
    std::vector<LineSketch> parts;
    std::vector<std::size_t> cuts{0, line.x.size()};
    while (cuts.size() <= count) cuts.push_back(random() % (line.x.size() + 1));
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
      const simd::Table* table = common::tables()[random() % common::tables().size()];
      parts.emplace_back(plan_of(line));
      // Some parts grow by a second chunk.
      const std::size_t size = cuts[k + 1] - cuts[k], first = k % 2 == 0 ? size : size / 3;
      add_samples(shuffled, cuts[k], first, run_on(table), &parts[k]);
      add_samples(shuffled, cuts[k] + first, size - first, run_on(table), &parts[k]);
    }
    while (parts.size() > 1) {
      const std::size_t to = random() % parts.size();
      std::swap(parts[to], parts.back());
      const LineSketch from = parts.back();
      parts.pop_back();
      parts[random() % parts.size()].merge(from,
                                           *common::tables()[random() % common::tables().size()]);
    }
    EXPECT_EQ(bytes_of(parts[0]), wanted) << count;
  }
}

// Samples of several parts of work, sorted and with outliers, so that parts differ in their ranges.
TEST(SketchOfManySamples, HasTheSameBytesForEveryNumberOfThreads) {
  std::mt19937_64 random(3);
  std::vector<double> x;
  for (std::size_t i = 0; i < 1500000; ++i) {
    x.push_back(shapes::normal(random) * (i % 1000 == 0 ? 1e6 : 1.0));
  }
  std::sort(x.begin(), x.begin() + 1000000);
  const Bytes wanted = bytes_of(sketch_of_line(x, -9, on_best()));
  for (const int threads : common::thread_counts()) {
    SketchBuilder builder(LineSketch({-9, "x"}));
    const std::size_t first = 700000;
    builder.add({x.data(), first}, Weights::ones(first), on_best(threads));
    builder.add({x.data() + first, x.size() - first}, Weights::ones(x.size() - first),
                on_best(threads));
    EXPECT_EQ(bytes_of(builder.sum(on_best())), wanted);
    const std::vector<double> bad{1, std::nan("")};
    expect_refused([&] { builder.add(span(bad), Weights::ones(2), on_best(threads)); }, "values ");
    EXPECT_EQ(bytes_of(builder.sum(on_best())), wanted);
  }
}

TEST_P(Sketch, HasTheMeanAndTheVariance) {
  const Line line = positive(GetParam());
  real mean = 0, variance = 0, all = 0, squares = 0;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    mean += line.w[i] * static_cast<real>(line.x[i]);
    all += line.w[i];
    squares += static_cast<real>(line.w[i]) * line.w[i];
  }
  mean /= all;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    variance += line.w[i] * (line.x[i] - mean) * (line.x[i] - mean);
  }
  variance /= all;
  const LineSketch sketch = sketch_of_line(GetParam());
  const SampleCovariance got = sketch.moments();
  const double width = std::ldexp(1.0, exponent_of(GetParam()));
  EXPECT_NEAR(static_cast<double>(got.mean.first[0] + (got.mean.second[0] - mean)), 0,
              1e-13 * width + 1e-18 * std::fabs(static_cast<double>(mean)));
  EXPECT_NEAR(got.covariance[0], static_cast<double>(variance),
              1e-14 * static_cast<double>(variance) + 1e-12 * width * width);
  const WeightSums weights = sketch.weight_sums();
  EXPECT_NEAR(weights.sum, static_cast<double>(all), 1e-12 * static_cast<double>(all));
  EXPECT_NEAR(weights.squares, static_cast<double>(squares),
              1e-12 * static_cast<double>(all * all));
  EXPECT_EQ(weights.min_positive, *std::min_element(line.w.begin(), line.w.end()));
  EXPECT_EQ(weights.max, *std::max_element(line.w.begin(), line.w.end()));
  EXPECT_EQ(weights.positive, line.x.size());
}

// Of weights that sum to their number.
Line scaled(Line line) {
  const double all = std::accumulate(line.w.begin(), line.w.end(), 0.0);
  for (double& w : line.w) w *= static_cast<double>(line.w.size()) / all;
  return line;
}

TEST_P(Sketch, HasThePairSumsOfItsSamples) {
  const Line line = scaled(positive(GetParam()));
  const LineSketch sketch = sketch_of_line(GetParam());
  const std::unique_ptr<const Sample> sample = sample_of_sketch(sketch, on_best());
  const double least = std::ldexp(8.0, exponent_of(GetParam()));
  const double range = sketch.range().max - sketch.range().min;
  real squares = 0;
  for (const double w : line.w) squares += static_cast<real>(w) * w;
  for (const double h : {least, 1.9 * least, 5 * least, std::max(range, least)}) {
    for (const int order : {0, 4, 10}) {
      const double got =
          fgt_pair_psi(line_sample(*sample, on_best()), {&h, 1}, order, on_best())[0];
      // With the terms i = j, half of each, as the error of what is made of the sums counts.
      oracle::Sum wanted;
      const std::size_t n = line.x.size();
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i; j < n; ++j) {
          const real u = (static_cast<real>(line.x[i]) - line.x[j]) / h;
          real before = 0, now = std::exp(-u * u / 2) * line.w[i] * line.w[j];
          for (int r = 0; r < order; ++r) {
            const real next = u * now - r * before;
            before = now;
            now = next;
          }
          wanted.add(i == j ? now / 2 : now);
        }
      }
      const real at_zero = order == 10 ? -945 : order == 4 ? 3 : 1;
      const real unit = std::sqrt(2 * oracle::pi) * std::pow(real(h), 1 + order);
      const real difference = got * unit + at_zero * squares / 2 - wanted.value;
      EXPECT_LE(std::fabs(difference), 2e-13L * wanted.absolute) << h << ", order " << order;
    }
  }
}

TEST_P(Sketch, HasTheDensityOfItsSamples) {
  const Line line = scaled(positive(GetParam()));
  const LineSketch sketch = sketch_of_line(GetParam());
  const std::unique_ptr<const Sample> sample = sample_of_sketch(sketch, on_best());
  const double h =
      1.3 * std::max(least_density_bandwidth(sketch), std::ldexp(32.0, exponent_of(GetParam())));
  std::mt19937_64 random(7);
  std::vector<double> points, got(200);
  for (std::size_t i = 0; i < got.size(); ++i) {
    points.push_back(line.x[random() % line.x.size()] + 3 * h * shapes::normal(random));
  }
  fgt_density(line_sample(*sample, on_best()), span(points), h, on_best(),
              {got.data(), got.size()});
  const double heaviest = *std::max_element(line.w.begin(), line.w.end());
  for (std::size_t i = 0; i < points.size(); ++i) {
    real wanted = 0;
    for (std::size_t j = 0; j < line.x.size(); ++j) {
      const real away = points[i] - real(line.x[j]);
      wanted += line.w[j] * oracle::normal_density(1, h, away * away);
    }
    // Light samples beside heavy ones have no digits of their own.
    const double slack = is_weighted(GetParam()) ? 1e-13 * heaviest / h : 0;
    EXPECT_NEAR(got[i], static_cast<double>(wanted), 1e-12 * static_cast<double>(wanted) + slack);
  }
}

TEST(SketchBandwidths, AreThoseThatTheMomentsServe) {
  std::vector<double> x;
  std::mt19937_64 random(2);
  for (int i = 0; i < 3000; ++i) x.push_back(shapes::normal(random));
  const LineSketch sketch = sketch_of_line(x, -6, on_best());
  const std::unique_ptr<const Sample> sample = sample_of_sketch(sketch, on_best());
  const RunOptions options = on_best();
  const LineSample& line = line_sample(*sample, options);
  const double sums = least_sum_bandwidth(sketch), density = least_density_bandwidth(sketch);
  EXPECT_EQ(sums, 0.125);
  EXPECT_EQ(density, 0.25);
  EXPECT_EQ(exponent_for(sums), -6);
  EXPECT_EQ(exponent_for(1.99 * sums), -6);
  std::vector<double> out(1);
  const double point = 0.5, below = std::nextafter(sums, 0), thin = std::nextafter(density, 0);
  for (int order = 0; order <= 10; order += 2) fgt_pair_psi(line, {&sums, 1}, order, on_best());
  fgt_density(line, {&point, 1}, density, on_best(), {out.data(), 1});
  for (const bool of_density : {false, true}) {
    try {
      if (of_density) fgt_density(line, {&point, 1}, thin, on_best(), {out.data(), 1});
      if (!of_density) fgt_pair_psi(line, {&below, 1}, 8, on_best());
      ADD_FAILURE() << "nothing was refused";
    } catch (const error& problem) {
      EXPECT_EQ(problem.kind, ErrorKind::unfit) << problem.what();
    }
  }
  // Samples that are known one by one serve every bandwidth.
  EXPECT_EQ(least_sum_bandwidth(sketch_of_line(x, -20, on_best())), 0);
}

TEST_P(Sketch, IsReadFromItsBytes) {
  const Bytes bytes = bytes_of(sketch_of_line(GetParam()));
  EXPECT_EQ(bytes_of(sketch_of(span(bytes))), bytes);
}

TEST(SketchBytes, AreRefusedIfTheyWereChanged) {
  std::vector<double> x(40, 0.25);
  x.push_back(7);
  LineSketch sketch({-2, "a name"});
  add_to(&sketch, span(x), Weights::ones(x.size()), on_best());
  const Bytes bytes = bytes_of(sketch);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    expect_refused([&] { sketch_of({bytes.data(), size}); }, "");
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    Bytes changed = bytes;
    changed[at] = static_cast<unsigned char>(changed[at] ^ (1u << at % 8));
    expect_refused([&] { sketch_of(span(changed)); }, "");
  }
  Bytes longer = bytes, newer = bytes, foreign(200, 7);
  longer.resize(bytes.size() + 8, 0);
  newer[8] = 9;
  expect_refused([&] { sketch_of(span(longer)); }, "were changed");
  expect_refused([&] { sketch_of(span(newer)); }, "version 9, not 2");
  expect_refused([&] { sketch_of(span(foreign)); }, "no sketch");
  expect_refused([&] { sketch_of({bytes.data(), 64}); }, "cut short");
}

// Whatever the bytes are, with a checksum that fits them.
TEST(SketchBytes, AreRefusedIfNoSamplesHaveThem) {
  std::vector<double> x(40, 0.25);
  for (int k = 0; k < 9; ++k) x.push_back(k);
  LineSketch sketch({-2, "x"});
  add_to(&sketch, span(x), Weights::ones(x.size()), on_best());
  const Bytes bytes = bytes_of(sketch);
  std::mt19937_64 random(5);
  int refused = 0;
  for (std::size_t at = 16; at + 8 < bytes.size(); ++at) {
    Bytes changed = bytes;
    changed[at] = static_cast<unsigned char>(random());
    const std::size_t summed = bytes.size() - 8;
    const std::uint64_t sum = checksum(changed.data(), summed, 0);
    for (std::size_t b = 0; b < 8; ++b) {
      changed[summed + b] = static_cast<unsigned char>(sum >> (8 * b));
    }
    try {
      // What is read is a sketch, and is written as it was read.
      EXPECT_EQ(bytes_of(sketch_of(span(changed))).size(), bytes.size());
    } catch (const error& problem) {
      EXPECT_EQ(problem.kind, ErrorKind::input) << problem.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(SketchRefusals, AreOfValuesAndPlans) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {infinity, -infinity, std::nan(""), 1e300}) {
    const std::vector<double> x{1, 2, bad};
    LineSketch sketch({-6, "x"});
    const Bytes before = bytes_of(sketch);
    expect_refused([&] { add_to(&sketch, span(x), Weights::ones(x.size()), on_best()); },
                   "values ");
    EXPECT_EQ(bytes_of(sketch), before);
  }
  for (const double bad : {infinity, -1.0, std::nan(""), std::ldexp(1.0, 30)}) {
    const std::vector<double> x{1, 2, 3}, w{1, 2, bad};
    LineSketch sketch({-6, "x", "w", 3});
    expect_refused([&] { add_to(&sketch, span(x), Weights(span(w)), on_best()); }, "values ");
    EXPECT_EQ(sketch.n(), 0u);
  }
  LineSketch sketch({-6, "x"});
  expect_refused([&] { sketch.merge(LineSketch({-7, "x"}), *on_best().table); }, "same plan");
  expect_refused([&] { sketch.merge(LineSketch({-6, "y"}), *on_best().table); }, "same plan");
  expect_refused([&] { sketch.merge(LineSketch({-6, "x", "w"}), *on_best().table); }, "same plan");
}
