// Orthants on grids: products of one-dimensional integrals in long double for kernels without
// correlations, boxes of core/query/query.hpp (which test-query.cpp holds to nested integrals) for
// the others.
#include <limits>
#include <random>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/query/costs.hpp"
#include "core/query/normal_mixture.hpp"
#include "core/query/normal_series.hpp"
#include "core/query/orthants.hpp"
#include "query-oracle.hpp"

using namespace kestrel;
using namespace common;
using oracle::real;
using shapes::Shape;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

using Axes = std::vector<std::vector<double>>;

std::vector<Span<const double>> views(const Axes& axes) {
  std::vector<Span<const double>> all;
  for (const std::vector<double>& axis : axes) all.push_back({axis.data(), axis.size()});
  return all;
}

std::size_t size_of(const Axes& axes) {
  std::size_t size = 1;
  for (const std::vector<double>& axis : axes) size *= axis.size();
  return size;
}

/// Lines near samples, some bandwidths away from all, and at infinity.
Axes axes_about(const Shape& shape, std::size_t lines) {
  std::mt19937_64 random(std::hash<std::string>()(shape.name + "axes"));
  Axes axes(shape.d);
  for (std::size_t k = 0; k < shape.d; ++k) {
    double h = 0;
    for (std::size_t l = 0; l <= k; ++l) h = std::hypot(h, shape.root[l * shape.d + k]);
    const double* x = shape.x.data() + k * shape.n;
    for (std::size_t g = 0; g < lines; ++g) {
      axes[k].push_back(x[random() % shape.n] + 2 * h * shapes::normal(random));
    }
    axes[k].push_back(*std::min_element(x, x + shape.n) - 9 * h);
    axes[k].push_back(*std::max_element(x, x + shape.n) + 9 * h);
    axes[k].push_back(-kInfinite);
    axes[k].push_back(kInfinite);
    std::sort(axes[k].begin(), axes[k].end());
  }
  return axes;
}

QueryDensity density_of(const Shape& shape, const KernelChoice& kernel = {}) {
  return {shape.samples(), shape.weights(), kernel, shape.bandwidth()};
}

std::vector<double> orthants(const Shape& shape, const KernelChoice& kernel, const Axes& axes,
                             Side side, const RunOptions& options) {
  std::vector<double> out(size_of(axes), -1);
  orthants_on_grid(density_of(shape, kernel), views(axes), side, options, {out.data(), out.size()});
  return out;
}

/// Those of the series alone; empty if it takes more than 100 MB.
std::vector<double> by_series(const Shape& shape, const Axes& axes, Side side,
                              const RunOptions& options) {
  const SeriesPlan plan = plan_series(density_of(shape), views(axes), options);
  if (!(plan.bytes < 1e8)) return {};
  std::vector<double> out(size_of(axes), -1);
  orthants_by_series(plan, density_of(shape), views(axes), side, options, {out.data(), out.size()});
  real weight = 0;
  for (const double w : shape.w) weight += w;
  for (double& share : out) share = static_cast<double>(share / weight);
  return out;
}

/// The points of the axes' grid, as a matrix.
std::vector<double> points_of(const Axes& axes) {
  const std::size_t m = size_of(axes);
  std::vector<double> at(m * axes.size());
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t k = 0, rest = i; k < axes.size(); rest /= axes[k++].size()) {
      at[k * m + i] = axes[k][rest % axes[k].size()];
    }
  }
  return at;
}

/// Boxes from these points on, or up to them, without ends: their orthants.
struct Boxes {
  std::vector<double> at, open;
  std::size_t m, d;
  Side side;

  Boxes(const Shape& shape, const std::vector<double>& points, Side towards)
      : at(points),
        open(points.size(), towards == Side::below ? -kInfinite : kInfinite),
        m(points.size() / shape.d),
        d(shape.d),
        side(towards) {}
  MatrixView lower() const { return {(side == Side::below ? open : at).data(), m, d}; }
  MatrixView upper() const { return {(side == Side::below ? at : open).data(), m, d}; }
};

/// Their shares by the series; empty if it takes more than 100 MB.
std::vector<double> by_reading(const Shape& shape, const Boxes& boxes, const RunOptions& options) {
  const SeriesPlan plan = plan_series_of_boxes(density_of(shape), boxes.m, options);
  if (!(plan.bytes < 1e8)) return {};
  std::vector<double> out(boxes.m, -1);
  boxes_by_series(plan, density_of(shape), boxes.lower(), boxes.upper(), options,
                  {out.data(), boxes.m});
  real weight = 0;
  for (const double w : shape.w) weight += w;
  for (double& share : out) share = static_cast<double>(share / weight);
  return out;
}

std::vector<double> shares(const Shape& shape, const Boxes& boxes, const RunOptions& options) {
  return query_boxes(density_of(shape), boxes.lower(), boxes.upper(), -1, options).share;
}

/// The same one by one, for which no series is worth while.
std::vector<double> single_shares(const Shape& shape, const Boxes& boxes,
                                  const RunOptions& options) {
  std::vector<double> all;
  for (std::size_t i = 0; i < boxes.m; ++i) {
    std::vector<double> one(shape.d);
    for (std::size_t k = 0; k < shape.d; ++k) one[k] = boxes.at[k * boxes.m + i];
    all.push_back(shares(shape, Boxes(shape, one, boxes.side), options)[0]);
  }
  return all;
}

/// The mass of a kernel on one side of a line.
real mass_beyond(Kernel kernel, double x, double h, double line, Side side) {
  const real u = (side == Side::below ? 1 : -1) * ((static_cast<real>(line) - x) / h);
  if (kernel == Kernel::gaussian) return std::erfc(-u / std::sqrt(2.0L)) / 2;
  if (u <= -1 || u >= 1) return u >= 1;
  return oracle::interval(kernel, 0, 1, -2, u).mass;
}

/// An expected share, and how far the nearest sample lies from the orthant: the squared distance in
/// bandwidths.
struct Expected {
  real share = 0, distance2 = kInfinite;
};

std::vector<Expected> expected(const Shape& shape, Kernel kernel, const Axes& axes, Side side) {
  std::vector<Expected> all(size_of(axes));
  std::vector<std::vector<real>> mass(shape.d), gap2(shape.d);
  real weight = 0;
  for (std::size_t j = 0; j < shape.n; ++j) {
    if (!(shape.w[j] > 0)) continue;
    weight += shape.w[j];
    for (std::size_t k = 0; k < shape.d; ++k) {
      const double h = shape.root[k * shape.d + k], x = shape.x[k * shape.n + j];
      mass[k].clear();
      gap2[k].clear();
      for (const double line : axes[k]) {
        const real gap = (side == Side::below ? 1 : -1) * (static_cast<real>(line) - x) / h;
        mass[k].push_back(mass_beyond(kernel, x, h, line, side));
        gap2[k].push_back(gap < 0 ? gap * gap : 0);
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      real product = shape.w[j], distance2 = 0;
      for (std::size_t k = 0, at = i; k < shape.d; at /= axes[k++].size()) {
        product *= mass[k][at % axes[k].size()];
        distance2 += gap2[k][at % axes[k].size()];
      }
      all[i].share += product;
      all[i].distance2 = std::min(all[i].distance2, distance2);
    }
  }
  for (Expected& one : all) one.share /= weight;
  return all;
}

std::string place(std::size_t i) { return "point " + std::to_string(i); }

/// Shares do not decrease, or increase, along any axis.
void expect_monotone(const std::vector<double>& share, const Axes& axes, Side side, double slack) {
  std::size_t step = 1;
  for (const std::vector<double>& axis : axes) {
    for (std::size_t i = 0; i + step < share.size(); ++i) {
      if (i / step % axis.size() + 1 == axis.size()) continue;
      const double rise = (side == Side::below ? 1 : -1) * (share[i + step] - share[i]);
      ASSERT_GE(rise, -slack) << place(i);
    }
    step *= axis.size();
  }
}

/// The ends of all axes are infinite.
void expect_limits(const std::vector<double>& share, Side side) {
  EXPECT_EQ(side == Side::below ? share.front() : share.back(), 0);
  EXPECT_NEAR(side == Side::below ? share.back() : share.front(), 1, 1e-14);
}

/// Boxes in space with correlations take long.
bool takes_long(const Shape& shape) { return shape.d == 3 && shape.n > 20; }

std::vector<Shape> plane_and_space(bool diagonal) {
  std::vector<Shape> all;
  for (const auto& some : {shapes::data_of_every_kind(), shapes::sizes_of_every_kind()}) {
    for (Shape shape : some) {
      if (shape.d < 2 || shape.d > 3 || (!diagonal && takes_long(shape))) continue;
      if (!diagonal && shape.diagonal) shape = shapes::tilted(shape);
      if (diagonal && !shape.diagonal) {
        for (std::size_t k = 0; k < shape.d; ++k) {
          for (std::size_t l = 0; l < k; ++l) shape.root[l * shape.d + k] = 0;
        }
        shape.diagonal = true;
      }
      all.push_back(shape);
    }
  }
  // Whole chunks of samples, and one more or less.
  for (const std::size_t n : {1, 2, 511, 512, 513}) {
    const Shape shape = shapes::make("chunk" + std::to_string(n) + "_d2", n, 1, 2, 0.3);
    if (diagonal || n < 511 || n == 513) all.push_back(diagonal ? shape : shapes::tilted(shape));
  }
  // Threads know no other difference between samples than their number.
  if (under_tsan()) return {all.front(), all.back()};
  return all;
}

class Orthants : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Orthants, testing::ValuesIn(plane_and_space(true)), name_of);

class TiltedOrthants : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, TiltedOrthants, testing::ValuesIn(plane_and_space(false)),
                         name_of);

}  // namespace

TEST_P(Orthants, OfProductKernelsAgreeWithTheOracle) {
  const Shape& shape = GetParam();
  const Axes axes = axes_about(shape, shape.d == 2 ? 7 : 3);
  const real d = static_cast<real>(shape.d);
  for (std::size_t number = 0; number < kKernels; ++number) {
    const Kernel kernel = static_cast<Kernel>(number);
    const bool normal = kernel == Kernel::gaussian;
    const auto with = normal ? tables() : std::vector<const simd::Table*>{simd::find_table("auto")};
    for (const Side side : {Side::below, Side::above}) {
      SCOPED_TRACE(std::string(kernel_name(kernel)) + (side == Side::below ? " below" : " above"));
      const std::vector<Expected> wanted = expected(shape, kernel, axes, side);
      for (const simd::Table* table : with) {
        const std::vector<double> got =
            orthants(shape, {kernel, KernelType::product}, axes, side, run_on(table));
        for (std::size_t i = 0; i < got.size(); ++i) {
          const real share = wanted[i].share;
          // Below the normal numbers there are no digits to keep.
          const real slack =
              normal ? (1e-14L * (1 + d) + 6e-16L * wanted[i].distance2) * share : 1e-14L * d;
          ASSERT_LE(std::fabs(got[i] - share), share < 1e-280L ? 1e-279L : slack)
              << table->name << ", " << place(i) << ": " << share;
        }
        expect_monotone(got, axes, side, 1e-14);
        expect_limits(got, side);
      }
    }
  }
}

TEST_P(TiltedOrthants, AgreeWithBoxesAndSeries) {
  const Shape& shape = GetParam();
  const Axes axes = axes_about(shape, shape.d == 2 ? 5 : 1);
  const std::size_t m = size_of(axes);
  const RunOptions options = run_on(simd::find_table("auto"));
  const double slack = 2e-13 * static_cast<double>(shape.d);
  for (const Side side : {Side::below, Side::above}) {
    const std::vector<double> got = orthants(shape, {}, axes, side, options);
    const std::vector<double> series = by_series(shape, axes, side, options);
    const Boxes to(shape, points_of(axes), side);
    const std::vector<double> read = by_reading(shape, to, options);
    const std::vector<double> chosen = shares(shape, to, options);
    const std::vector<double> boxes = single_shares(shape, to, options);
    for (std::size_t i = 0; i < m; ++i) {
      ASSERT_NEAR(got[i], boxes[i], slack) << place(i);
      if (!series.empty()) {
        ASSERT_NEAR(series[i], boxes[i], slack) << place(i);
      }
      if (!read.empty()) {
        ASSERT_NEAR(read[i], boxes[i], slack) << place(i);
      }
      ASSERT_NEAR(chosen[i], boxes[i], slack) << place(i);
    }
    expect_monotone(got, axes, side, 1e-13);
    expect_limits(got, side);
  }
}

// Many samples: by the series, and the same for an offset that doubles hold exactly.
TEST(OrthantSeriesOf, ManySamplesHasTheirDigitsFarFromZeroToo) {
  for (const std::size_t d : {2, 3}) {
    Shape near =
        shapes::tilted(shapes::make("series", 3000, 1, d, 0.8, [](std::mt19937_64& random) {
          return std::round(1024 * shapes::normal(random)) / 1024;
        }));
    Axes axes(d, {-2, -0.5, 0.25, 1.5}), moved = axes;
    Shape far = near;
    for (double& x : far.x) x += 1073741824.0;
    for (std::vector<double>& axis : moved) {
      for (double& at : axis) at += 1073741824.0;
    }
    const RunOptions options = run_on(simd::find_table("auto"));
    const std::vector<double> one = by_series(near, axes, Side::below, options);
    const std::vector<double> other = by_series(far, moved, Side::below, options);
    const std::vector<double> grid = orthants(near, {}, axes, Side::below, options);
    const std::vector<double> read =
        by_reading(near, Boxes(near, points_of(axes), Side::below), options);
    const std::vector<double> moved_read =
        by_reading(far, Boxes(far, points_of(moved), Side::below), options);
    ASSERT_FALSE(one.empty());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_NEAR(one[i], other[i], 1e-14) << place(i);
      EXPECT_NEAR(one[i], grid[i], 1e-13) << place(i);
      EXPECT_NEAR(one[i], read[i], 1e-13) << place(i);
      EXPECT_NEAR(read[i], moved_read[i], 1e-13) << place(i);
    }
  }
}

TEST(OrthantThreads, TheSameBitsForEveryNumber) {
  std::vector<Shape> all{shapes::make("threads", 1100, 1, 2, 0.2),
                         shapes::make("threads", 600, 1, 3, 0.4),
                         shapes::tilted(shapes::make("few", 30, 1, 2, 0.3)),
                         shapes::tilted(shapes::make("many", 3000, 1, 3, 0.8))};
  for (const Shape& shape : all) {
    const Axes axes = axes_about(shape, shape.d == 2 ? 30 : 8);
    const auto on = [&](int threads) {
      const RunOptions options = run_on(simd::find_table("auto"), threads);
      std::vector<double> both = orthants(shape, {}, axes, Side::above, options);
      if (shape.diagonal) return both;
      const std::vector<double> series = by_series(shape, axes, Side::above, options);
      EXPECT_FALSE(series.empty());
      both.insert(both.end(), series.begin(), series.end());
      const std::vector<double> read =
          by_reading(shape, Boxes(shape, points_of(axes), Side::above), options);
      both.insert(both.end(), read.begin(), read.end());
      return both;
    };
    const std::vector<double> one = on(1);
    for (const int threads : thread_counts()) EXPECT_TRUE(same_bits(one, on(threads)));
    EXPECT_TRUE(same_bits(one, on(5)));
  }
}

// Boxes with limits on all sides, among them thin and empty ones.
TEST(BoxSeries, HasBoxesWithinLimits) {
  const RunOptions options = run_on(simd::find_table("auto"));
  for (const std::size_t d : {2, 3}) {
    const Shape shape = shapes::tilted(shapes::make("boxes", 600, 1, d, 0.7));
    std::mt19937_64 random(d);
    const std::size_t m = 50;
    std::vector<double> lower(m * d), upper(m * d);
    for (std::size_t i = 0; i < m * d; ++i) {
      lower[i] = 2 * shapes::normal(random);
      upper[i] = lower[i] + (i % 7 == 0 ? 1e-9 : i % 11 == 0 ? 0.0 : 3.0);
      if (i % 5 == 0) lower[i] = -kInfinite;
      if (i % 13 == 0) upper[i] = kInfinite;
    }
    const SeriesPlan plan = plan_series_of_boxes(density_of(shape), m, options);
    ASSERT_LT(plan.bytes, 1e8);
    std::vector<double> mass(m);
    boxes_by_series(plan, density_of(shape), {lower.data(), m, d}, {upper.data(), m, d}, options,
                    {mass.data(), m});
    for (std::size_t i = 0; i < m; ++i) {
      std::vector<double> low(d), high(d);
      for (std::size_t k = 0; k < d; ++k) low[k] = lower[k * m + i], high[k] = upper[k * m + i];
      const QueryAnswers one =
          query_boxes(density_of(shape), {low.data(), 1, d}, {high.data(), 1, d}, -1, options);
      EXPECT_NEAR(mass[i] / 600, one.share[0], 2e-13 * static_cast<double>(d)) << place(i);
      if (one.share[0] == 0) {
        EXPECT_EQ(mass[i], 0) << place(i);
      }
    }
  }
}

TEST(BoxSeries, IsTakenForManyBoxesOfATiltedKernelWithoutMoments) {
  const RunOptions options = run_on(simd::find_table("auto"));
  const Shape tilted = shapes::tilted(shapes::make("tilted", 3000, 1, 2, 0.4));
  const Boxes many(tilted, points_of(axes_about(tilted, 60)), Side::below);
  std::vector<double> read = by_reading(tilted, many, options);
  for (double& share : read) share = std::min(std::max(share, 0.0), 1.0);
  const std::vector<double> chosen = shares(tilted, many, options);
  ASSERT_EQ(read.size(), chosen.size());
  for (std::size_t i = 0; i < read.size(); ++i) ASSERT_NEAR(chosen[i], read[i], 1e-15) << place(i);
  // Elsewhere a box has the same bits among others and alone.
  const Shape straight = shapes::make("straight", 3000, 1, 2, 0.4);
  const Boxes to(straight, many.at, Side::below);
  EXPECT_EQ(shares(straight, to, options), single_shares(straight, to, options));
  EXPECT_NE(chosen, single_shares(tilted, many, options));
  const std::vector<double> with_moments =
      query_boxes(density_of(tilted), many.lower(), many.upper(), 0, options).share;
  for (std::size_t i = 0; i < many.m; i += 500) {
    const double at[] = {many.at[i], many.at[many.m + i]}, open[] = {-kInfinite, -kInfinite};
    const QueryAnswers one = query_boxes(density_of(tilted), {open, 1, 2}, {at, 1, 2}, 0, options);
    EXPECT_EQ(with_moments[i], one.share[0]) << place(i);
  }
}

// A long and narrow cloud, whose cells would fit.
TEST(BoxSeries, IsNotTakenWhereCoordinatesLoseTheirDigits) {
  const RunOptions options = run_on(simd::find_table("auto"));
  Shape shape = shapes::tilted(shapes::make("long", 3000, 1, 2, 0.4));
  for (std::size_t i = 0; i < shape.n; ++i) shape.x[i] *= 200;
  const Boxes many(shape, points_of(axes_about(shape, 60)), Side::below);
  const SeriesPlan plan = plan_series_of_boxes(density_of(shape), many.m, options);
  EXPECT_LT(plan.seconds, 1e-9 * kBoxSampleNs * static_cast<double>(shape.n * many.m) *
                              normal_mixture_terms(2, shape.bandwidth()));
  EXPECT_GT(plan.extent, kMaxSeriesExtent);
  EXPECT_EQ(shares(shape, many, options), single_shares(shape, many, options));
}

TEST(BoxSeries, LeavesErrorsToBoxes) {
  const RunOptions options = run_on(simd::find_table("auto"));
  Shape shape = shapes::tilted(shapes::make("errors", 3000, 1, 2, 0.4));
  std::vector<double> at(8000, 0.5);
  const auto below = [&] { return shares(shape, Boxes(shape, at, Side::below), options); };
  EXPECT_EQ(below().size(), 4000u);
  at[17] = std::nan("");
  EXPECT_THROW(below(), error);
  at[17] = 0.5;
  shape.w[3] = -1;
  EXPECT_THROW(below(), error);
  std::fill(shape.w.begin(), shape.w.end(), 0.0);
  EXPECT_THROW(below(), error);
  std::fill(shape.w.begin(), shape.w.end(), 1.0);
  shape.x[5] = kInfinite;
  EXPECT_THROW(below(), error);
}

// A sample of weight 3 is three samples, one of weight 0 none.
TEST(OrthantWeights, CountSamples) {
  for (const bool tilted : {false, true}) {
    Shape weighted = shapes::make("weights", 40, 1, 2, 0.5), copies = weighted;
    if (tilted) weighted = shapes::tilted(weighted), copies = shapes::tilted(copies);
    copies.x.clear();
    copies.n = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t i = 0; i < weighted.n; ++i) {
        for (std::size_t c = 0; c < i % 4; ++c) copies.x.push_back(weighted.x[k * weighted.n + i]);
      }
    }
    for (std::size_t i = 0; i < weighted.n; ++i) weighted.w[i] = static_cast<double>(i % 4);
    copies.n = copies.x.size() / 2;
    copies.w.assign(copies.n, 1.0);
    const Axes axes = axes_about(weighted, 6);
    const RunOptions options = run_on(simd::find_table("auto"));
    const std::vector<double> a = orthants(weighted, {}, axes, Side::below, options);
    const std::vector<double> b = orthants(copies, {}, axes, Side::below, options);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-14) << place(i);
  }
}

TEST(OrthantsOfGrids, RefuseWhatTheyCannotDo) {
  const Shape shape = shapes::make("refused", 20, 1, 2, 0.5);
  const RunOptions options;
  const Axes axes(2, {0, 1}), falling(2, {1, 0});
  EXPECT_THROW(orthants(shape, {}, falling, Side::below, options), error);
  EXPECT_THROW(orthants(shape, {Kernel::uniform, KernelType::radial}, axes, Side::below, options),
               error);
  const Shape none = shapes::weighted(shape, [](std::size_t) { return 0.0; });
  EXPECT_THROW(orthants(none, {}, axes, Side::below, options), error);
  Shape singular = shape;
  singular.root = {1, 1, 0, 1e-6};
  try {
    orthants(singular, {}, axes, Side::below, options);
    FAIL() << "no error";
  } catch (const error& problem) {
    EXPECT_EQ(problem.kind, ErrorKind::memory) << problem.what();
  }
}

TEST(OrthantPoll, StopsTheCall) {
  struct Interrupt {};
  const Shape shape = shapes::make("endless", 200000, 1, 2, 0.3);
  const Axes axes = axes_about(shape, 300);
  for (const int threads : {1, 2}) {
    RunOptions options = run_on(simd::find_table("auto"), threads);
    options.parallel.poll = [](double) { throw Interrupt(); };
    EXPECT_THROW(orthants(shape, {}, axes, Side::below, options), Interrupt);
  }
}
