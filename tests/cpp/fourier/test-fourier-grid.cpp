// The parts of the fourier engine: window, transforms, a grid made in parts; and how it runs.
#include <algorithm>
#include <cfloat>
#include <complex>
#include <stdexcept>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/criteria/fourier_sums.hpp"
#include "fourier-samples.hpp"

using namespace kestrel;
using namespace fourier_oracle;

namespace {

using Complex = std::complex<real>;

struct EveryLibrary {
  ~EveryLibrary() { force_transform_library(""); }
};

/// A box of random numbers.
std::vector<double> random_box(const TransformBox& box) {
  std::mt19937_64 random(3);
  std::vector<double> data(box.size(), 0.0);
  for (std::size_t i = 0; i < box.cells[0]; ++i) {
    for (std::size_t j = 0; j < box.cells[1]; ++j) {
      for (std::size_t k = 0; k < box.cells[2]; ++k)
        data[box.row(i, j) + k] = shapes::normal(random);
    }
  }
  return data;
}

/// Calls visit(k0, k1, k2) for the modes wanted with k2 >= from.
template <class Visit>
void for_modes(const TransformBox& box, std::ptrdiff_t from, const Visit& visit) {
  const auto max = [&](std::size_t a) { return static_cast<std::ptrdiff_t>(box.max[a]); };
  for (std::ptrdiff_t i = -max(0); i <= max(0); ++i) {
    for (std::ptrdiff_t j = -max(1); j <= max(1); ++j) {
      for (std::ptrdiff_t k = from; k <= max(2); ++k) visit(i, j, k);
    }
  }
}

Complex mode_of(const TransformBox& box, const std::vector<double>& data, std::ptrdiff_t i,
                std::ptrdiff_t j, std::ptrdiff_t k) {
  const std::ptrdiff_t sign = k < 0 ? -1 : 1;
  const double* row =
      data.data() + box.row(box.cell_of_mode(0, sign * i), box.cell_of_mode(1, sign * j));
  const double* at = row + 2 * sign * k;
  return {at[0], static_cast<real>(sign) * at[1]};
}

real phase(const TransformBox& box, std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k,
           std::size_t a, std::size_t b, std::size_t c) {
  const auto part = [&](std::ptrdiff_t mode, std::size_t cell, std::size_t axis) {
    return static_cast<real>(mode) * static_cast<real>(cell) / static_cast<real>(box.cells[axis]);
  };
  return 2 * oracle::pi * (part(i, a, 0) + part(j, b, 1) + part(k, c, 2));
}

const std::vector<TransformBox> boxes = {
    {{1, 1, 14}, {0, 0, 6}}, {{1, 12, 10}, {0, 4, 4}}, {{6, 10, 18}, {2, 4, 7}}};

std::vector<double> moments(FourierGrid&& grid, const RunOptions& options) {
  const FourierModes modes(std::move(grid), 1e8, options);
  Form3 h{};
  for (std::size_t a = 3 - modes.geometry().d; a < 3; ++a) h[4 * a] = 0.3;
  return modes.moments(h, {0, 2}, options);
}

/// The window itself, by the power series of I0.
real kaiser_bessel(real u, int taps) {
  const auto bessel_i0 = [](real x) {
    real term = 1, sum = 1;
    for (int k = 1; term > 1e-22L * sum; ++k) {
      term *= x * x / 4 / (static_cast<real>(k) * k);
      sum += term;
    }
    return sum;
  };
  const real r = 2 * u / taps, beta = 2.53 * taps;
  return r * r > 1 ? 0 : bessel_i0(beta * std::sqrt(1 - r * r)) / bessel_i0(beta);
}

void expect_kind(ErrorKind kind, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const error& problem) {
    EXPECT_EQ(static_cast<int>(problem.kind), static_cast<int>(kind)) << problem.what();
  }
}

}  // namespace

TEST(FourierWindow, PolynomialsAndTransformAreThatOfTheWindow) {
  const double error = LDBL_MANT_DIG >= 64 ? 4e-16 : 1e-14;  // as the header says
  for (const int taps : {8, 9, 10, 11, 12, 13, 14}) {
    const FourierWindow window(taps);
    for (int i = 0; i <= 100; ++i) {
      for (const simd::Table* table : common::tables()) {
        double value[simd::kWindowTaps] = {};
        const simd::Spot spot{{0, 0, 0}, {0, 0, 0.01 * i}, 1.0};
        table->spread->spread(window.polynomials(), &spot, 1, {value, {0, 0, 0}, 0, 0, 2});
        for (int j = 0; j < FourierWindow::kMaxTaps; ++j) {
          const double u = j - 0.5 * taps + 0.01 * i;
          EXPECT_NEAR(value[j], j < taps ? static_cast<double>(kaiser_bessel(u, taps)) : 0.0,
                      error);
        }
      }
    }
    // The trapezoid rule; at the ends psi is 1e-8 and less.
    for (const double f : {0.0, 0.2, 0.4}) {
      real sum = 0;
      const int steps = 20000;
      for (int i = 0; i < steps; ++i) {
        const real u = taps * ((i + 0.5L) / steps - 0.5L);
        sum += kaiser_bessel(u, taps) * std::cos(2 * oracle::pi * f * u);
      }
      EXPECT_NEAR(window.transform(f), static_cast<double>(sum * taps / steps), 1e-10);
    }
    real square = 0, all = 0;
    for (int i = 0; i < 20000; ++i) {
      const real u = taps * ((i + 0.5L) / 20000 - 0.5L);
      square += u * u * kaiser_bessel(u, taps);
      all += kaiser_bessel(u, taps);
    }
    EXPECT_NEAR(window.variance(), static_cast<double>(square / all), 1e-8);
  }
}

TEST(FourierTransform, IsTheSumOfItsDefinition) {
  const EveryLibrary reset;
  for (const char* library : transform_libraries()) {
    force_transform_library(library);
    for (const TransformBox& box : boxes) {
      const std::vector<double> before = random_box(box);
      std::vector<double> after = before;
      forward_transform(after.data(), box, {});
      for_modes(box, 0, [&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) {
        Complex wanted = 0;
        for (std::size_t a = 0; a < box.cells[0]; ++a) {
          for (std::size_t b = 0; b < box.cells[1]; ++b) {
            for (std::size_t c = 0; c < box.cells[2]; ++c) {
              wanted += std::polar(static_cast<real>(1), -phase(box, i, j, k, a, b, c)) *
                        static_cast<real>(before[box.row(a, b) + c]);
            }
          }
        }
        EXPECT_LE(std::abs(mode_of(box, after, i, j, k) - wanted), 1e-13) << library;
      });
    }
  }
}

TEST(FourierTransform, InverseIsTheSumOfItsDefinition) {
  const EveryLibrary reset;
  for (const char* library : transform_libraries()) {
    force_transform_library(library);
    for (const TransformBox& box : boxes) {
      std::vector<double> modes = random_box(box);
      forward_transform(modes.data(), box, {});
      std::vector<double> after = modes;
      inverse_transform(after.data(), box, {});
      for (std::size_t a = 0; a < box.cells[0]; ++a) {
        for (std::size_t b = 0; b < box.cells[1]; ++b) {
          for (std::size_t c = 0; c < box.cells[2]; ++c) {
            Complex wanted = 0;
            const std::ptrdiff_t from = -static_cast<std::ptrdiff_t>(box.max[2]);
            for_modes(box, from, [&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) {
              wanted += std::polar(static_cast<real>(1), phase(box, i, j, k, a, b, c)) *
                        mode_of(box, modes, i, j, k);
            });
            EXPECT_NEAR(after[box.row(a, b) + c], static_cast<double>(wanted.real()), 2e-12)
                << library;
          }
        }
      }
    }
  }
}

TEST(FourierTransform, LibrariesAreNamed) {
  EXPECT_STREQ(transform_libraries().back(), "eigen");
  expect_kind(ErrorKind::input, [] { force_transform_library("none"); });
}

TEST(FourierTransform, LibrariesAgreeToRounding) {
  const EveryLibrary reset;
  for (const std::size_t d : {2, 3}) {
    const Drawn s = normal_sample(80, d);
    force_transform_library("");
    const std::vector<double> first = everything(s, threads(1));
    force_transform_library("eigen");
    const std::vector<double> other = everything(s, threads(1));
    ASSERT_EQ(first.size(), other.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      const std::size_t last = first.size() - 1;  // psi of order 8: larger than all the others
      EXPECT_NEAR(first[i], other[i],
                  1e-13 * (std::fabs(first[i]) + 1e-3 * std::fabs(first[last])));
    }
  }
}

TEST(FourierGrid, AddsUpOverPartsOfTheData) {
  const Drawn s = normal_sample(900, 2);
  const FourierGeometry geometry =
      fourier_geometry(s.view(), s.weights(), demand_for(s), threads(1));
  FourierGrid whole(geometry, threads(1)), parts(geometry, threads(1));
  whole.add(s.view(), s.weights(), threads(1));
  Drawn part[2] = {s, s};
  for (int half = 0; half < 2; ++half) {
    for (std::size_t i = 0; i < s.n; ++i) {
      if (static_cast<int>(i % 2) == half) part[half].w[i] = 0;
    }
  }
  for (const Drawn& half : part) parts.add(half.view(), half.weights(), threads(1));
  EXPECT_DOUBLE_EQ(parts.weight(), whole.weight());
  const std::vector<double> a = moments(std::move(whole), threads(1));
  const std::vector<double> b = moments(std::move(parts), threads(1));
  for (std::size_t m = 0; m < a.size(); ++m) EXPECT_NEAR(a[m], b[m], 1e-14 * std::fabs(a[0]));
}

TEST(FourierGrid, IsTheSameWithEveryInstructionSet) {
  for (const std::size_t d : {1, 2, 3}) {
    const Drawn s = normal_sample(2000, d);
    const FourierGeometry geometry =
        fourier_geometry(s.view(), s.weights(), demand_for(s), threads(1));
    FourierGrid wanted(geometry, threads(1));
    RunOptions options = threads(1);
    options.table = simd::baseline_table();
    wanted.add(s.view(), s.weights(), options);
    const double largest = *std::max_element(wanted.cells().begin(), wanted.cells().end());
    for (const simd::Table* table : common::tables()) {
      options.table = table;
      FourierGrid grid(geometry, threads(1));
      grid.add(s.view(), s.weights(), options);
      for (std::size_t c = 0; c < geometry.box.size(); ++c) {
        ASSERT_NEAR(grid.cells()[c], wanted.cells()[c], 1e-14 * largest) << table->name;
      }
    }
  }
}

TEST(FourierGrid, ForgetsTheOrderOfTheSamples) {
  for (const std::size_t d : {2, 3}) {
    const Drawn s = normal_sample(500, d);
    Drawn reversed = s;
    for (std::size_t k = 0; k < d; ++k) {
      std::reverse(reversed.x.begin() + static_cast<std::ptrdiff_t>(k * s.n),
                   reversed.x.begin() + static_cast<std::ptrdiff_t>((k + 1) * s.n));
    }
    const std::vector<double> H = matrices_for(s)[2];
    FourierSums one(s.view(), s.weights(), demand_for(s), threads(1));
    FourierSums two(reversed.view(), reversed.weights(), demand_for(s), threads(1));
    const double value = one.gaussian(span(H), false, threads(1)).value;
    EXPECT_NEAR(two.gaussian(span(H), false, threads(1)).value, value, 1e-14 * std::fabs(value));
  }
}

TEST(FourierThreads, GiveTheSameBitsAndAreUsed) {
  for (const std::size_t d : {1, 2, 3}) {
    if (d == 1 && common::under_tsan()) continue;  // the same loops as in the plane
    const Drawn s = normal_sample(d == 3 ? 3000 : common::under_tsan() ? 20000 : 40000, d);
    const std::vector<double> one = everything(s, threads(1));
    for (const int count : common::thread_counts()) {
      EXPECT_TRUE(common::same_bits(everything(s, threads(count)), one)) << count << " threads";
      EXPECT_TRUE(d < 3 || threads_last_used() == count);  // the modes of the last sum
    }
  }
}

TEST(FourierPoll, IsAskedAndStopsTheWork) {
  const Drawn s = normal_sample(100000, 2);
  RunOptions options = threads(2);
  int polls = 0;
  options.parallel.poll = [&](double) {
    if (++polls == 2) throw std::runtime_error("enough");
  };
  const auto work = [&] {
    for (int i = 0; i < 50; ++i) {
      const FourierSums sums(s.view(), s.weights(), demand_for(s), options);
    }
  };
  EXPECT_THROW(work(), std::runtime_error);
}

TEST(FourierPoll, LeavesSumsThatCanGoOn) {
  const Drawn s = normal_sample(100000, 2);
  FourierSums sums(s.view(), s.weights(), demand_for(s), threads(1));
  std::vector<double> narrow = matrices_for(s)[0];
  for (double& v : narrow) v *= 0.1;
  RunOptions impatient = threads(1);
  impatient.parallel.poll = [](double) { throw std::runtime_error("enough"); };
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(
        {
          for (int again = 0; again < 1000; ++again) {
            for (double& v : narrow) v *= 0.9;
            sums.gaussian(span(narrow), false, impatient);
          }
        },
        std::runtime_error);
  }
  FourierSums fresh(s.view(), s.weights(), demand_for(s), threads(1));
  const std::vector<double> H = matrices_for(s)[1];
  const double wanted = fresh.gaussian(span(H), false, threads(1)).value;
  EXPECT_NEAR(sums.gaussian(span(H), false, threads(1)).value, wanted, 1e-12 * wanted);
}

TEST(FourierErrors, InputAndMemory) {
  const Drawn s = normal_sample(50, 2);
  const auto geometry = [&](const Drawn& sample, const FourierDemand& demand) {
    return [&sample, demand] {
      fourier_geometry(sample.view(), sample.weights(), demand, threads(1));
    };
  };
  const FourierDemand good = demand_for(s);
  FourierDemand demand = good;
  demand.min = 0;
  expect_kind(ErrorKind::input, geometry(s, demand));
  demand.min = 2 * demand.max;
  expect_kind(ErrorKind::input, geometry(s, demand));
  demand = good;
  demand.tolerance = 1e-15;
  expect_kind(ErrorKind::input, geometry(s, demand));
  demand = good;
  demand.min = 1e-7;
  expect_kind(ErrorKind::memory, geometry(normal_sample(20000, 2), demand));
  const Drawn four = normal_sample(50, 4);
  expect_kind(ErrorKind::input, geometry(four, good));
  Drawn bad = s;
  for (std::size_t i = 0; i < s.n; ++i) bad.x[s.n + i] = 3 * bad.x[i];
  expect_kind(ErrorKind::input, geometry(bad, good));
  bad = s;
  bad.x[3] = std::nan("");
  expect_kind(ErrorKind::input, geometry(bad, good));
  for (const double weight : {-1.0, HUGE_VAL}) {
    bad = s;
    bad.w[7] = weight;
    expect_kind(ErrorKind::input, geometry(bad, good));
  }
  std::fill(bad.w.begin(), bad.w.end(), 0.0);
  expect_kind(ErrorKind::input, geometry(bad, good));
  FourierSums sums(s.view(), s.weights(), good, threads(1));
  const std::vector<double> indefinite = {1, 2, 2, 1}, H = {0.1, 0, 0, 0.1};
  expect_kind(ErrorKind::input, [&] { sums.gaussian(span(indefinite), false, threads(1)); });
  expect_kind(ErrorKind::input, [&] { sums.psi(span(H), 5, threads(1)); });
  expect_kind(ErrorKind::input, [&] { sums.psi(span(H), 12, threads(1)); });
}
