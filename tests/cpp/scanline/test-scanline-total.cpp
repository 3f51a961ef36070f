// Sums to which samples are added part by part, against densities summed point by point: every
// partition, order, instruction set, number of threads and slab.
#include "core/base/error.hpp"
#include "core/scanline/total.hpp"
#include "scanline-expect.hpp"

using namespace kestrel;
using scanline_oracle::Case;
using scanline_oracle::make;
using scanline_oracle::run_on;
using scanline_oracle::shuffled;
using scanline_oracle::weighted;

namespace {

bool is_weighted(const Case& c) {
  return std::any_of(c.w.begin(), c.w.end(), [](double w) { return w != 1; });
}

TotalWeights weights_of(const Case& c) {
  TotalWeights weights{is_weighted(c), 0};
  if (weights.given) std::frexp(*std::max_element(c.w.begin(), c.w.end()), &weights.exponent);
  return weights;
}

std::unique_ptr<ScanlineTotal> make_total(const Case& c, std::size_t first, std::size_t count) {
  const std::vector<RegularAxis> axes = c.grid();
  return std::make_unique<ScanlineTotal>(Span<const RegularAxis>{axes.data(), c.d}, c.choice,
                                         Span<const double>{c.root.data(), c.root.size()},
                                         weights_of(c), first, count);
}

std::unique_ptr<ScanlineTotal> make_total(const Case& c) {
  return make_total(c, 0, c.axes.back().count);
}

/// Adds samples begin, ..., end - 1.
void add(const Case& c, std::size_t begin, std::size_t end, const RunOptions& options,
         ScanlineTotal* total) {
  const std::size_t n = end - begin;
  std::vector<double> x(n * c.d);
  for (std::size_t k = 0; k < c.d; ++k) {
    std::copy(&c.x[k * c.n] + begin, &c.x[k * c.n] + end, x.data() + k * n);
  }
  const Weights w = is_weighted(c) ? Weights(c.w.data() + begin, n) : Weights::ones(n);
  total->add({x.data(), n, c.d}, w, options);
}

std::vector<double> values(const ScanlineTotal& total, std::size_t first, std::size_t count,
                           const RunOptions& options) {
  std::vector<double> out(count * total.points(), -1.0);
  total.slab(first, count, options, {out.data(), out.size()});
  return out;
}

std::vector<unsigned char> bytes_of(const ScanlineTotal& total, const RunOptions& options) {
  std::vector<unsigned char> bytes(total.bytes());
  total.write(options, {bytes.data(), bytes.size()});
  return bytes;
}

std::vector<unsigned char> bytes_of_part(const Case& c, std::size_t begin, std::size_t end,
                                         const RunOptions& options) {
  const std::unique_ptr<ScanlineTotal> total = make_total(c);
  add(c, begin, end, options, total.get());
  total->settle(options);
  return bytes_of(*total, options);
}

/// The kernels that are added row by row, beside the quadratics of all other cases.
std::vector<Case> cases() {
  std::vector<Case> all = scanline_oracle::cases_of_every_kind();
  for (const Kernel kernel : {Kernel::uniform, Kernel::biweight, Kernel::cosine}) {
    for (const KernelType type : {KernelType::radial, KernelType::product}) {
      for (std::size_t d = 1; d <= 3; ++d) {
        const bool product = type == KernelType::product;
        Case c = make("kernel" + std::to_string(all.size()), 120, scanline_oracle::counts_of(d),
                      3.3, product ? 0 : 0.4, scanline_oracle::inside);
        c.choice = {kernel, type};
        all.push_back(c);
        all.push_back(weighted(c, "thirds", [](std::size_t j) { return 1.0 / (1 + j % 3); }));
      }
    }
  }
  all.push_back(make("epanechnikov_product", 120, {37, 53}, 5, 0, scanline_oracle::inside));
  all.back().choice.type = KernelType::product;
  // Very many light samples beside a heavy one.
  all.push_back(weighted(make("decades", 20000, {41}, 9.0, 0, scanline_oracle::inside), "light",
                         [](std::size_t j) { return j == 0 ? 1.0 : 1e-12 / 3; }));
  return all;
}

class ScanlineTotals : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, ScanlineTotals, testing::ValuesIn(cases()),
                         scanline_oracle::name_of);

}  // namespace

TEST_P(ScanlineTotals, AgreeWithTheOracle) {
  const Case& c = GetParam();
  const RunOptions options = run_on(common::tables().back());
  const std::unique_ptr<ScanlineTotal> total = make_total(c);
  add(c, 0, c.n, options, total.get());
  total->settle(options);
  const int exponent = weights_of(c).exponent;
  oracle::real sum = 0, squares = 0;
  std::vector<double> ascending = c.w;
  std::sort(ascending.begin(), ascending.end());
  for (const double w : ascending) {
    const oracle::real v = std::ldexp(static_cast<oracle::real>(w), -exponent);
    sum += v;
    squares += v * v;
  }
  EXPECT_EQ(total->samples(), c.n);
  EXPECT_NEAR(total->weight(), static_cast<double>(sum), 1e-15 * static_cast<double>(sum));
  if (sum == 0) return;
  const double effective = static_cast<double>(sum * sum / squares);
  EXPECT_NEAR(total->effective_samples(), effective, 1e-15 * effective);
  scanline_oracle::Expected wanted = scanline_oracle::expect(c);
  const oracle::real all = std::ldexp(sum, exponent);
  for (oracle::real& value : wanted.value) value /= all;
  wanted.peak /= all;
  wanted.largest /= all;
  scanline_oracle::expect_close(values(*total, 0, c.axes.back().count, options), wanted, 1e-18L);
}

TEST_P(ScanlineTotals, HaveTheSameBitsForEveryPartition) {
  const Case& c = GetParam();
  const RunOptions one = run_on(common::tables()[0], 1);
  const std::vector<unsigned char> whole = bytes_of_part(c, 0, c.n, one);
  const Case other = shuffled(c);
  std::mt19937_64 random(c.n);
  for (const simd::Table* table : common::tables()) {
    const RunOptions options = run_on(table, 3);
    // Parts of any size, also of none, some of them settled and merged, in another order.
    const std::unique_ptr<ScanlineTotal> total = make_total(c);
    std::vector<std::vector<unsigned char>> parts;
    for (std::size_t begin = 0, end = 0; begin < c.n; begin = end) {
      end = std::min(c.n, begin + random() % (c.n / 4 + 2));
      if (random() % 2 == 0) {
        add(other, begin, end, options, total.get());
      } else {
        parts.push_back(bytes_of_part(other, begin, end, options));
      }
      if (random() % 3 == 0) total->settle(options);
    }
    total->settle(options);
    std::shuffle(parts.begin(), parts.end(), random);
    for (const auto& part : parts) total->merge({part.data(), part.size()}, options);
    EXPECT_EQ(bytes_of(*total, options), whole) << table->name;
  }
}

TEST_P(ScanlineTotals, HaveTheSameBitsForEveryPartOfTheGrid) {
  const Case& c = GetParam();
  if (std::all_of(c.w.begin(), c.w.end(), [](double w) { return w == 0; })) return;
  const RunOptions options = run_on(common::tables().back(), 2);
  const std::unique_ptr<ScanlineTotal> total = make_total(c);
  add(c, 0, c.n, options, total.get());
  total->settle(options);
  const std::size_t count = c.axes.back().count, first = count / 3, some = (count - first + 1) / 2;
  const std::unique_ptr<ScanlineTotal> part = make_total(c, first, some);
  add(c, 0, c.n, options, part.get());
  part->settle(options);
  EXPECT_TRUE(
      common::same_bits(values(*part, first, some, options), values(*total, first, some, options)));
  const std::size_t last = first + some - 1;
  EXPECT_TRUE(common::same_bits(values(*part, last, 1, options), values(*total, last, 1, options)));
  EXPECT_THROW(values(*part, last, 2, options), error);
}

// More samples than a batch has, all of them active at the same points.
TEST(ScanlineTotalBatches, DoNotOverflow) {
  const std::size_t n = (std::size_t{5} << 19) + 7;
  for (const double h : {1.0, 15.0, 1e5}) {
    Case c = make("tied", n, {21}, h, 0, [](std::mt19937_64&) { return 0.51; });
    const RunOptions options = run_on(common::tables().back(), 2);
    const std::unique_ptr<ScanlineTotal> many = make_total(c), one = make_total(c);
    add(c, 0, n, options, many.get());
    many->settle(options);
    add(c, 0, 1, options, one.get());
    one->settle(options);
    EXPECT_EQ(many->samples(), n);
    // Equal samples have equal roundings.
    const std::vector<double> wanted = values(*one, 0, 21, options),
                              got = values(*many, 0, 21, options);
    for (std::size_t i = 0; i < 21; ++i) EXPECT_NEAR(got[i], wanted[i], 3e-16 * wanted[i]);
  }
}

TEST(ScanlineTotalErrors, AreOfTheRightKind) {
  const RunOptions options = run_on(common::tables()[0], 1);
  const Case plain = make("plain", 9, {5, 6}, 2.0, 0.3, scanline_oracle::inside);
  const auto expect_kind = [&](ErrorKind kind, const auto& call) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const error& problem) {
      EXPECT_EQ(problem.kind, kind) << problem.what();
    }
  };
  const auto add_case = [&](const Case& c, const Case& to) {
    const std::unique_ptr<ScanlineTotal> total = make_total(to);
    add(c, 0, c.n, options, total.get());
    total->settle(options);
  };
  Case bad = plain;
  bad.x[3] = std::nan("");
  expect_kind(ErrorKind::input, [&] { add_case(bad, plain); });
  const Case heavy = weighted(plain, "heavy", [](std::size_t j) { return j == 4 ? 4.1 : 1.0 / 3; });
  const Case light = weighted(plain, "light", [](std::size_t) { return 1.0 / 3; });
  expect_kind(ErrorKind::input, [&] { add_case(heavy, light); });
  expect_kind(ErrorKind::internal, [&] { add_case(heavy, plain); });
  bad = light;
  bad.w[2] = -1;
  expect_kind(ErrorKind::input, [&] { add_case(bad, light); });
  expect_kind(ErrorKind::internal, [&] { make_total(plain, 3, 4); });
  // Bytes of another grid, and of more samples than a total may have.
  const std::unique_ptr<ScanlineTotal> total = make_total(plain);
  std::vector<unsigned char> bytes = bytes_of_part(plain, 0, 9, options);
  expect_kind(ErrorKind::input, [&] { total->merge({bytes.data(), bytes.size() - 16}, options); });
  bytes[0] ^= 1;
  expect_kind(ErrorKind::input, [&] { total->merge({bytes.data(), bytes.size()}, options); });
  bytes[0] ^= 1;
  bytes[13] = 1;
  expect_kind(ErrorKind::input, [&] { total->merge({bytes.data(), bytes.size()}, options); });
  // What waits must be settled first.
  const std::unique_ptr<ScanlineTotal> waiting = make_total(plain);
  add(plain, 0, 9, options, waiting.get());
  expect_kind(ErrorKind::internal, [&] { values(*waiting, 0, 6, options); });
  expect_kind(ErrorKind::internal, [&] { bytes_of(*waiting, options); });
}
