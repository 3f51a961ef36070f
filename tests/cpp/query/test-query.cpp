// Queries of product kernels and of the normal one, against integrals in long double.
#include <random>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/query/query.hpp"
#include "query-oracle.hpp"

using namespace kestrel;
using namespace common;
using oracle::real;
using shapes::Shape;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// m boxes, column-major.
struct Boxes {
  std::size_t m, d;
  std::vector<double> lower, upper;

  MatrixView low() const { return {lower.data(), m, d}; }
  MatrixView high() const { return {upper.data(), m, d}; }
  std::vector<double> row(const std::vector<double>& limits, std::size_t i) const {
    std::vector<double> out;
    for (std::size_t k = 0; k < d; ++k) out.push_back(limits[k * m + i]);
    return out;
  }
};

/// Boxes near samples, 1e-7 to 1e3 bandwidths long; some without a limit, some far from the
/// samples, some empty.
Boxes boxes_about(const Shape& shape, std::size_t m) {
  std::mt19937_64 random(std::hash<std::string>()(shape.name + "boxes"));
  Boxes boxes{m, shape.d, std::vector<double>(m * shape.d), std::vector<double>(m * shape.d)};
  for (std::size_t i = 0; i < m; ++i) {
    const std::size_t row = random() % shape.n;
    for (std::size_t k = 0; k < shape.d; ++k) {
      const double h = shape.root[k * shape.d + k];
      const double x = shape.x[k * shape.n + row];
      const double away = i % 5 == 1 ? 12 * shapes::normal(random) : shapes::normal(random);
      const double half = h * std::pow(10.0, -7 + 10 * shapes::uniform(random)) / 2;
      double& lower = boxes.lower[k * m + i];
      double& upper = boxes.upper[k * m + i];
      lower = x + h * away - half;
      upper = x + h * away + half;
      if (random() % 6 == 0) lower = -kInfinity;
      if (random() % 6 == 0) upper = kInfinity;
      if (i % 17 == 3) upper = lower;
      if (lower == upper && std::isinf(lower)) upper = kInfinity, lower = -kInfinity;
    }
  }
  return boxes;
}

QueryAnswers answers(const Shape& shape, const KernelChoice& kernel, const Boxes& boxes,
                     std::ptrdiff_t of, const RunOptions& options) {
  return query_boxes({shape.samples(), shape.weights(), kernel, shape.bandwidth()}, boxes.low(),
                     boxes.high(), of, options);
}

std::vector<double> bandwidths(const Shape& shape) {
  std::vector<double> h;
  for (std::size_t k = 0; k < shape.d; ++k) h.push_back(shape.root[k * shape.d + k]);
  return h;
}

/// The squared distance of the box from the nearest kernel, in bandwidths, summed over the axes;
/// and the largest number of bandwidths for which limits and samples are rounded.
real distance2(const Shape& shape, const Boxes& boxes, std::size_t i) {
  real min = kInfinity;
  for (std::size_t j = 0; j < shape.n; ++j) {
    real sum = 0;
    for (std::size_t k = 0; k < shape.d; ++k) {
      const real h = shape.root[k * shape.d + k], x = shape.x[k * shape.n + j];
      const real gap = std::max({real(0), (boxes.lower[k * boxes.m + i] - x) / h,
                                 (x - boxes.upper[k * boxes.m + i]) / h});
      sum += gap * gap;
    }
    if (shape.w[j] > 0) min = std::min(min, sum);
  }
  return min;
}

bool is_empty(const Boxes& boxes, std::size_t i) {
  for (std::size_t k = 0; k < boxes.d; ++k) {
    if (boxes.lower[k * boxes.m + i] == boxes.upper[k * boxes.m + i]) return true;
  }
  return false;
}

/// The tolerance for rounding of a box's share; wide boxes cut few kernels.
real share_slack(const Shape& shape, const KernelChoice& kernel, const Boxes& boxes, std::size_t i,
                 real share) {
  const real d = static_cast<real>(shape.d);
  // The rounding of limits matters where a box cuts a compact kernel near its edge.
  if (kernel.kernel != Kernel::gaussian) return 1e-14L * (share + 1) * d;
  // The logarithm of a tail z bandwidths away changes by z^2 times the relative change of z.
  return (5e-15L * (1 + d) + 6e-16L * distance2(shape, boxes, i)) * share;
}

void expect_near(const Shape& shape, const KernelChoice& kernel, const Boxes& boxes,
                 const std::vector<const simd::Table*>& with) {
  const std::vector<double> h = bandwidths(shape);
  for (std::size_t of = 0; of<shape.d; of += shape.d> 3 ? 5 : 1) {
    std::vector<QueryAnswers> got, counts;
    std::vector<double> middle(shape.x.begin() + static_cast<std::ptrdiff_t>(of * shape.n),
                               shape.x.begin() + static_cast<std::ptrdiff_t>((of + 1) * shape.n));
    std::sort(middle.begin(), middle.end());
    for (const simd::Table* table : with) {
      counts.push_back(answers(shape, kernel, boxes, -1, run_on(table)));
      got.push_back(answers(shape, kernel, boxes, static_cast<std::ptrdiff_t>(of), run_on(table)));
    }
    for (std::size_t i = 0; i < boxes.m; ++i) {
      SCOPED_TRACE(describe(kernel) + ", box " + std::to_string(i) + ", of " + std::to_string(of));
      const oracle::Moments wanted =
          oracle::product_query(shape.samples(), shape.w, kernel.kernel, h,
                                boxes.row(boxes.lower, i), boxes.row(boxes.upper, i), of);
      // Below the normal numbers there are no digits to keep.
      const bool none = is_empty(boxes, i) || wanted.mass < 1e-280L;
      const real slack = none ? 1e-279L : share_slack(shape, kernel, boxes, i, wanted.mass);
      const real share = is_empty(boxes, i) ? 0 : wanted.mass;
      const real spread = std::sqrt(wanted.variance);
      const real away = std::fabs(wanted.mean - middle[middle.size() / 2]);
      for (std::size_t t = 0; t < with.size(); ++t) {
        SCOPED_TRACE(with[t]->name);
        EXPECT_LE(std::fabs(counts[t].share[i] - share), slack) << share;
        EXPECT_LE(std::fabs(got[t].share[i] - share), slack) << share;
        if (none || share < 100 * slack) continue;
        // Rows are rounded relative to their distance from the middle one.
        const real relative = slack / share, rounding = 4e-16L * (std::fabs(wanted.mean) + away);
        EXPECT_LE(std::fabs(got[t].mean[i] - wanted.mean),
                  (1e-12L + 4 * relative) * spread + rounding)
            << wanted.mean << " " << spread << " " << share;
        EXPECT_LE(std::fabs(got[t].variance[i] - wanted.variance),
                  (1e-11L + 10 * relative + 4 * rounding / spread) * wanted.variance)
            << wanted.variance << " " << share;
      }
    }
  }
}

class Query : public testing::TestWithParam<Shape> {};

std::vector<Shape> diagonal_ones() {
  std::vector<Shape> all;
  for (const auto& some : {shapes::data_of_every_kind(), shapes::sizes_of_every_kind(),
                           shapes::dimensions_of_every_kind()}) {
    for (Shape shape : some) {
      if (shape.d > 16) continue;
      if (!shape.diagonal) {
        for (std::size_t k = 0; k < shape.d; ++k) {
          for (std::size_t l = 0; l < k; ++l) shape.root[l * shape.d + k] = 0;
        }
        shape.diagonal = true;
      }
      all.push_back(shape);
    }
  }
  // Whole leaves, and one row more or less.
  for (const std::size_t n : {63, 64, 65, 129}) {
    all.push_back(shapes::make("leaf" + std::to_string(n) + "_d2", n, 1, 2, 0.3));
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, Query, testing::ValuesIn(diagonal_ones()), name_of);

}  // namespace

TEST_P(Query, ProductKernels) {
  const Shape& shape = GetParam();
  const Boxes boxes = boxes_about(shape, shape.n * shape.d > 200 ? 2 : 5);
  for (std::size_t k = 0; k < kKernels; ++k) {
    const Kernel kernel = static_cast<Kernel>(k);
    const bool all = shape.d == 1 || kernel == Kernel::gaussian;
    expect_near(shape, {kernel, KernelType::product}, boxes,
                all ? tables() : std::vector<const simd::Table*>{simd::find_table("auto")});
  }
}

namespace {

std::vector<double> shifted(const std::vector<double>& limits, double by) {
  std::vector<double> out = limits;
  for (double& limit : out) limit += by;
  return out;
}

}  // namespace

// The normal kernel with correlations, and data far from zero.
TEST(QueryNormal, AnyBandwidthMatrixAgreesWithNestedIntegrals) {
  for (const std::size_t d : {2, 3}) {
    const Shape shape = shapes::tilted(shapes::make("nested", 2, 1, d, 0.7));
    for (const bool unlimited : {false, true}) {
      std::vector<double> lower(d, -0.4), upper(d, 0.9);
      lower[d - 1] = -1.5;
      if (unlimited) upper[0] = kInfinity, lower[1] = -kInfinity;
      for (std::size_t of = 0; of < d; ++of) {
        if (d == 3 && unlimited) continue;
        const double* along = shape.x.data() + of * shape.n;
        const oracle::Moments wanted = oracle::combine(shape.w, along, [&](std::size_t j) {
          std::vector<real> from, to;
          for (std::size_t k = 0; k < d; ++k) {
            from.push_back(static_cast<real>(lower[k]) - shape.x[k * shape.n + j]);
            to.push_back(static_cast<real>(upper[k]) - shape.x[k * shape.n + j]);
          }
          const oracle::PlainMoments held =
              oracle::normal_nest(shape.root, d, from, to, of, real(0));
          const real mean = held.first / held.mass;
          return oracle::Moments{held.mass, mean, held.second / held.mass - mean * mean};
        });
        const Boxes boxes{1, d, lower, upper};
        const QueryAnswers got = answers(shape, {}, boxes, static_cast<std::ptrdiff_t>(of),
                                         run_on(simd::find_table("auto")));
        EXPECT_NEAR(got.share[0], static_cast<double>(wanted.mass), 1e-12 * got.share[0]);
        EXPECT_NEAR(got.mean[0], static_cast<double>(wanted.mean), 1e-11);
        EXPECT_NEAR(got.variance[0], static_cast<double>(wanted.variance), 1e-11);
      }
    }
  }
}

TEST(QueryNormal, DataFarFromZeroKeepTheirDigits) {
  for (const bool tilted : {false, true}) {
    Shape near = shapes::make("far", 70, 1, 2, 0.25, [](std::mt19937_64& random) {
      return std::round(1024 * shapes::normal(random)) / 1024;
    });
    if (tilted) near = shapes::tilted(near);
    Shape far = near;
    far.x = shifted(near.x, 1073741824.0);
    const Boxes boxes{1, 2, {-0.5, -0.25}, {0.75, 2}};
    const Boxes moved{1, 2, shifted(boxes.lower, 1073741824.0), shifted(boxes.upper, 1073741824.0)};
    const RunOptions options = run_on(simd::find_table("auto"));
    const QueryAnswers a = answers(near, {}, boxes, 1, options);
    const QueryAnswers b = answers(far, {}, moved, 1, options);
    EXPECT_NEAR(a.share[0], b.share[0], 1e-15);
    EXPECT_NEAR(a.mean[0], b.mean[0] - 1073741824.0, 3e-7);  // the spacing of doubles there
    EXPECT_NEAR(a.variance[0], b.variance[0], 1e-13);
  }
}

TEST(QueryNormal, TheWholeSpaceAndItsParts) {
  const Shape shape = shapes::tilted(shapes::make("parts", 300, 1, 3, 0.4));
  const std::vector<double> cuts = {-kInfinity, -1, 0.2, 0.21, kInfinity};
  Boxes cells{64, 3, {}, {}};
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < 64; ++i) {
      const std::size_t at = i >> (2 * k) & 3;
      cells.lower.push_back(cuts[at]);
      cells.upper.push_back(cuts[at + 1]);
    }
  }
  const RunOptions options = run_on(simd::find_table("auto"));
  const QueryAnswers parts = answers(shape, {}, cells, 1, options);
  const Boxes all{1, 3, std::vector<double>(3, -kInfinity), std::vector<double>(3, kInfinity)};
  const QueryAnswers whole = answers(shape, {}, all, 1, options);
  double share = 0, first = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    share += parts.share[i];
    first += parts.share[i] * parts.mean[i];
  }
  double mean = 0, square = 0, H = 0;
  for (std::size_t j = 0; j < 300; ++j) mean += shape.x[300 + j] / 300;
  for (std::size_t j = 0; j < 300; ++j) square += std::pow(shape.x[300 + j] - mean, 2) / 300;
  for (std::size_t l = 0; l < 2; ++l) H += std::pow(shape.root[l * 3 + 1], 2);
  EXPECT_NEAR(whole.share[0], 1.0, 1e-14);
  EXPECT_NEAR(share, 1.0, 1e-13);
  EXPECT_NEAR(whole.mean[0], mean, 1e-13);
  EXPECT_NEAR(whole.variance[0], square + H, 1e-12);
  EXPECT_NEAR(first, mean, 1e-12);
}

TEST(QueryRows, LimitsBelongToTheBox) {
  const Shape shape =
      shapes::weighted(shapes::lattice("rows", 2, 0.25), [](std::size_t i) { return 1 + i % 4; });
  const double x = shape.x[0], y = shape.x[shape.n];
  const Boxes square{3, 2, {0.5, x, -kInfinity, 0.25, y, 0}, {1.5, x, 0.25, 2, y, 3}};
  const RunOptions options = run_on(simd::find_table("auto"), 2);
  const std::vector<double> got =
      query_rows(shape.samples(), shape.weights(), square.low(), square.high(), options);
  for (std::size_t i = 0; i < 3; ++i) {
    double inside = 0, total = 0;
    for (std::size_t j = 0; j < shape.n; ++j) {
      bool in = true;
      for (std::size_t k = 0; k < 2; ++k) {
        const double at = shape.x[k * shape.n + j];
        in = in && at >= square.lower[k * 3 + i] && at <= square.upper[k * 3 + i];
      }
      total += shape.w[j];
      if (in) inside += shape.w[j];
    }
    EXPECT_NEAR(got[i], inside / total, 1e-15);
  }
  // A box without width may hold rows, but no mass of a density.
  EXPECT_GT(got[1], 0.0);
  const QueryAnswers density = answers(shape, {}, square, -1, options);
  EXPECT_EQ(density.share[1], 0.0);
  EXPECT_TRUE(density.mean.empty());
}

TEST(QueryThreads, TheSameBitsForEveryNumber) {
  for (const Shape& shape : {shapes::make("threads_d2", 70000, 1, 2, 0.1),
                             shapes::tilted(shapes::make("threads_tilted_d2", 700, 1, 2, 0.3))}) {
    const Boxes boxes = boxes_about(shape, 9);
    for (const KernelChoice& kernel :
         {KernelChoice{}, KernelChoice{Kernel::epanechnikov, KernelType::radial},
          KernelChoice{Kernel::triangular, KernelType::product}}) {
      if (kernel.type == KernelType::product && !shape.diagonal &&
          kernel.kernel != Kernel::gaussian)
        continue;
      QueryAnswers one;
      for (const int threads : {1, 2, 3}) {
        const QueryAnswers got =
            answers(shape, kernel, boxes, 1, run_on(simd::find_table("auto"), threads));
        if (threads == 1) one = got;
        EXPECT_TRUE(same_bits(one.share, got.share));
        EXPECT_TRUE(same_bits(one.mean, got.mean));
        EXPECT_TRUE(same_bits(one.variance, got.variance));
      }
    }
  }
}

TEST(QueryPoll, StopsTheCall) {
  struct Interrupt {};
  const Shape shape = shapes::make("endless", 5000, 1, 3, 0.5);
  const Boxes boxes = boxes_about(shape, 4000);
  for (const int threads : {1, 2}) {
    RunOptions options = run_on(simd::baseline_table(), threads);
    options.parallel.poll = [](double fraction) {
      if (fraction > 0) throw Interrupt();
    };
    const auto endless = [&] {
      for (;;) answers(shape, {}, boxes, 1, options);
    };
    EXPECT_THROW(endless(), Interrupt);
  }
}

TEST(QueryPoll, StopsTheOrderingOfRows) {
  struct Interrupt {};
  // The first 32 polls are those of checks and copies of the rows; their order takes thousands.
  const Shape shape = shapes::make("long", std::size_t{1} << 18, 1, 3, 0.5);
  RunOptions options = run_on(simd::baseline_table());
  options.parallel.poll = [polls = 0](double fraction) mutable {
    if (fraction == 0 && ++polls == 200) throw Interrupt();
  };
  EXPECT_THROW(answers(shape, {}, boxes_about(shape, 1), 1, options), Interrupt);
}

namespace {

void expect_refused(const Shape& shape, const KernelChoice& kernel, const Boxes& boxes,
                    const std::string& part) {
  try {
    answers(shape, kernel, boxes, -1, run_on(simd::find_table("auto")));
    FAIL() << "nothing thrown: " << part;
  } catch (const error& e) {
    EXPECT_EQ(e.kind, ErrorKind::input);
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

}  // namespace

TEST(QueryRefuses, WhatHasNoAnswer) {
  const Shape shape = shapes::make("bad", 5, 1, 2, 0.5);
  const Boxes good{1, 2, {0, 0}, {1, 1}};
  expect_refused(shape, {}, {1, 1, {0}, {1}}, "boxes 1 and 1");
  expect_refused(shape, {}, {1, 2, {0, 2}, {1, 1}}, "box 1");
  expect_refused(shape, {}, {1, 2, {0, std::nan("")}, {1, 1}}, "box 1");
  Shape wrong = shape;
  wrong.w[2] = -1;
  expect_refused(wrong, {}, good, "not negative");
  wrong.w.assign(5, 0.0);
  expect_refused(wrong, {}, good, "at least one weight");
  wrong = shape;
  wrong.x[3] = kInfinity;
  expect_refused(wrong, {}, good, "samples must be finite");
  wrong = shape;
  wrong.x[0] = 1e160;
  expect_refused(wrong, {}, good, "within 1e150 bandwidths");
  wrong = shape;
  wrong.root[0] = 0;
  expect_refused(wrong, {}, good, "bandwidth of variable 1");
  expect_refused(shapes::tilted(shape), {Kernel::epanechnikov, KernelType::product}, good,
                 "diagonal");
  expect_refused(shape, {Kernel::cosine, KernelType::radial}, good, "powers of 1");
  wrong = shape;
  wrong.root = {1, 1 - 1e-13, 0, 1e-7};
  expect_refused(wrong, {}, good, "terms");
  const Shape four = shapes::make("four", 5, 1, 4, 0.5);
  expect_refused(four, {Kernel::epanechnikov, KernelType::radial},
                 {1, 4, std::vector<double>(4, 0), std::vector<double>(4, 1)}, "3 dimensions");
}
