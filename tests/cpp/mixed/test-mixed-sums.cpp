// Sums of products of kernels, beside direct sums in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "common.hpp"
#include "core/mixed/mixed_sums.hpp"
#include "mixed-data.hpp"

using namespace kestrel;

namespace {

using namespace mixed_data;

/// The kernel of a form, from a sample to a point at the distance u, where it is 1 at 0 or, of a
/// distribution function, at the end.
real kernel_at(const MixedKernel& kernel, MixedForm form, real u) {
  const real reach = reach_of(kernel);
  const auto value = [&](real t) { return continuous(kernel, t); };
  if (form == MixedForm::distribution) {
    return integral_of_pieces(kernel, -reach, std::min(std::max(u, -reach), reach), 0, value,
                              parts_of(kernel)) /
           whole_of(kernel);
  }
  if (form == MixedForm::derivative) {
    const real v = u * u;
    if (kernel.continuous == Kernel::uniform) return 0;
    if (kernel.continuous == Kernel::gaussian) {
      // K' = (Q' - u Q) exp(-v / 2), by the coefficients of continuous().
      const real q = kernel.order == 2 ? 0 : kernel.order == 4 ? -2 * u / 3 : 0;
      return q * std::exp(-v / 2) - u * continuous(kernel, u);
    }
    if (kernel.continuous == Kernel::biweight) return v < 1 ? -4 * u * (1 - v) : 0;
    if (kernel.continuous == Kernel::triweight) return v < 1 ? -6 * u * power(1 - v, 2) : 0;
    if (kernel.continuous == Kernel::triangular) return v < 1 && u != 0 ? (u < 0 ? 1 : -1) : 0;
    if (kernel.continuous == Kernel::tricube) {
      return v < 1 ? -9 * u * std::fabs(u) * power(1 - v * std::fabs(u), 2) : 0;
    }
    if (kernel.continuous == Kernel::cosine) {
      const real quarter = std::acos(real{0});
      return v < 1 ? -quarter * std::sin(quarter * u) : 0;
    }
    if (v >= 5) return 0;
    if (kernel.order == 2) return -2 * u / 5;
    const real q = (15 - 7 * v) / 15;
    return -2 * u / 5 * q + (1 - v / 5) * (-14 * u / 15);
  }
  return continuous(kernel, u);
}

}  // namespace

TEST(MixedSums, AreThoseOfDirectSumsForEveryFormOfAColumn) {
  for (const Data& data : shapes_of_data()) {
    if (data.p == 0 || data.n > 50) continue;
    const std::size_t n = data.n, p = data.p;
    // The ordered factor as a second factor.
    std::vector<int> codes(data.factor);
    for (const double level : data.ordered) codes.push_back(static_cast<int>(level));
    const MixedRows rows{{data.x.data(), n, p}, {codes.data(), 2 * n}, {nullptr, n, 0}, n, 2};
    const MixedSample sample(rows, {data.levels, data.ordered_levels}, {}, {}, {});
    std::vector<double> first, second, terms;
    for (int k = 0; k < data.levels * data.levels; ++k) first.push_back(0.3 + 0.1 * k);
    for (int k = 0; k < data.ordered_levels * data.ordered_levels; ++k)
      second.push_back(1.0 - 0.05 * k);
    for (std::size_t j = 0; j < 2 * n; ++j) terms.push_back(std::sin(static_cast<double>(j)));
    for (const Kernel continuous : kContinuous) {
      for (const int order : {2, 4}) {
        if (!has_order(continuous, order)) continue;
        for (const MixedForm form :
             {MixedForm::weights, MixedForm::distribution, MixedForm::derivative}) {
          MixedSumTask task;
          task.kernel.continuous = continuous;
          task.kernel.order = order;
          for (std::size_t c = 0; c < p; ++c) {
            task.kernel.h.push_back(data.name == "outlier" ? 2.0
                                                           : 0.7 + 0.2 * static_cast<double>(c));
            // The last column has another form.
            task.kernel.forms.push_back(c + 1 == p ? MixedForm::weights : form);
          }
          task.tables = {{first.data(), 3, 3}, {second.data(), 4, 4}};
          task.terms = {terms.data(), n, 2};
          task.power = order / 2;
          task.leave_one_out = order == 2;
          task.scale = 0.5;
          task.divide = 3;
          std::vector<real> products;
          for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
              real product = task.scale;
              for (std::size_t c = 0; c < p; ++c) {
                const real u =
                    (static_cast<real>(data.x[c * n + i]) - data.x[c * n + j]) / task.kernel.h[c];
                product *= kernel_at(task.kernel, task.kernel.forms[c], u);
              }
              products.push_back(
                  product * first[static_cast<std::size_t>((codes[i] - 1) * 3 + codes[j] - 1)] *
                  second[static_cast<std::size_t>((codes[n + i] - 1) * 4 + codes[n + j] - 1)]);
            }
          }
          for (const simd::Table* table : common::tables()) {
            std::vector<double> weights(n * n);
            const std::vector<double> got =
                mixed_kernel_sums(sample, sample, task, weights.data(), {table, {2, {}}});
            for (std::size_t i = 0; i < n; ++i) {
              real sum[2] = {0, 0}, size = 0;
              for (std::size_t j = 0; j < n; ++j) {
                const real product = products[i * n + j];
                EXPECT_NEAR(weights[i * n + j], static_cast<double>(product), 1e-12);
                if (task.leave_one_out && i == j) continue;
                const real raised = power(product * task.divide, task.power);
                size += std::fabs(raised);
                for (int k = 0; k < 2; ++k)
                  sum[k] += raised * terms[static_cast<std::size_t>(k) * n + j];
              }
              for (int k = 0; k < 2; ++k) {
                EXPECT_NEAR(got[2 * i + static_cast<std::size_t>(k)], static_cast<double>(sum[k]),
                            1e-12 * static_cast<double>(1 + size))
                    << data.name << ", order " << order << ", form " << static_cast<int>(form);
              }
            }
          }
        }
      }
    }
  }
}
