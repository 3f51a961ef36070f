// Compact sums with a bandwidth for each sample or point, against sums in long double.
#include "common.hpp"
#include "core/base/error.hpp"
#include "core/direct/variable_points.hpp"
#include "oracle.hpp"

using namespace kestrel;
using namespace common;
using oracle::real;

TEST(VariablePoints, SumsForEveryKernel) {
  const std::size_t n = 300, m = 40;
  for (std::size_t d = 1; d <= 3; ++d) {
    std::vector<double> x, w, h, points, wide;
    for (std::size_t i = 0; i < n * d; ++i) {
      x.push_back(std::fmod(0.618033988749895 * static_cast<double>(i % 250), 1.0));
    }
    for (std::size_t i = 0; i < n; ++i) {
      w.push_back(static_cast<double>(i % 4));
      h.push_back(0.05 + 0.01 * static_cast<double>(i % 70));
    }
    for (std::size_t i = 0; i < m * d; ++i) {
      points.push_back(1.2 * std::fmod(0.7548776662466927 * static_cast<double>(i), 1.0) - 0.1);
    }
    for (std::size_t i = 0; i < m; ++i) wide.push_back(0.1 + 0.02 * static_cast<double>(i));
    std::vector<double> unit(d * d, 0.0);
    for (std::size_t k = 0; k < d; ++k) unit[k * d + k] = 1;
    for (const Kernel kernel : kernels_where([](Kernel one) { return is_compact(one); })) {
      SCOPED_TRACE(kernel_name(kernel));
      const double scale =
          kernel_scale({kernel, KernelType::radial}, d, {unit.data(), unit.size()}).times(1.0);
      for (const bool by_point : {false, true}) {
        const std::vector<double>& widths = by_point ? wide : h;
        std::vector<double> found(m), again(m);
        const auto run = [&](int threads, std::vector<double>* out) {
          variable_points({x.data(), n, d}, {w.data(), n}, {widths.data(), widths.size()}, by_point,
                          kernel, {points.data(), m, d},
                          run_on(simd::baseline_table(), threads).parallel, {out->data(), m});
        };
        run(1, &found);
        for (std::size_t i = 0; i < m; ++i) {
          real wanted = 0;
          for (std::size_t j = 0; j < n; ++j) {
            const real width = by_point ? wide[i] : h[j];
            real square = 0;
            for (std::size_t k = 0; k < d; ++k) {
              const real u = (real{points[k * m + i]} - x[k * n + j]) / width;
              square += u * u;
            }
            if (square < 1 || (kernel == Kernel::uniform && square == 1)) {
              wanted += w[j] * oracle::profile(kernel, std::sqrt(square)) /
                        oracle::integer_power(width, static_cast<int>(d));
            }
          }
          EXPECT_LE(std::fabs(found[i] - scale * wanted), 1e-13L * scale * wanted + 1e-300L) << i;
        }
        for (const int threads : thread_counts()) {
          run(threads, &again);
          EXPECT_EQ(again, found);
        }
      }
    }
  }
  // Windows are closed: on a lattice with h of a step or two.
  const std::vector<double> lattice{0, 1, 2, 3}, steps{1, 1, 2, 1};
  std::vector<double> counts(4);
  variable_points({lattice.data(), 4, 1}, Weights::ones(4), {steps.data(), 4}, true,
                  Kernel::uniform, {lattice.data(), 4, 1}, {}, {counts.data(), 4});
  const std::vector<double> wanted{1, 1.5, 1, 1};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(counts[i], wanted[i], 1e-15);
  const std::vector<double> one{0.5};
  std::vector<double> out(1);
  EXPECT_THROW(variable_points({one.data(), 1, 1}, Weights::ones(1), {one.data(), 0}, false,
                               Kernel::biweight, {one.data(), 1, 1}, {}, {out.data(), 1}),
               error);
}
