// Expectations of sums over windows in the tests of the sweep engine.
#ifndef KESTREL_TOOLS_SWEEP_EXPECT_HPP
#define KESTREL_TOOLS_SWEEP_EXPECT_HPP

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common.hpp"
#include "line-oracle.hpp"

namespace sweeps {

using common::name_of;
using kestrel::Kernel;
using oracle::real;

const std::vector<Kernel> kernels = common::kernels_where(kestrel::is_polynomial);

/// For each sum of positive terms. The polynomial of a window has terms of both signs in t = 1 -
/// |u|. The sum of its |terms| is up to (2^inner - 1)^outer times its value (1 to 27 if inner is 2,
/// squares of that for power 2), each with a few roundings.
inline double tolerance(Kernel kernel, int power) {
  const oracle::Exponents of = oracle::exponents(kernel);
  const double condition = std::pow(std::exp2(of.inner) - 1, of.outer * power);
  return std::max(1e-13, 8 * oracle::kEpsilon * condition);
}

inline std::string describe(Kernel kernel, int power, double h) {
  std::ostringstream text;
  text.precision(17);
  text << common::kernel_name(kernel) << ", power " << power << ", h = " << h;
  return text.str();
}

template <class F>
void expect_column(const double* got, std::size_t count, F wanted_and_allowed, const char* what) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::pair<real, real> each = wanted_and_allowed(i);
    ASSERT_LE(std::fabs(got[i] - each.first), each.second)
        << what << " at point " << i << ": " << got[i] << ", not "
        << static_cast<double>(each.first) << ", allowed " << static_cast<double>(each.second);
  }
}

/// How much the sums change by a rounding of each difference of the data, whatever is done with
/// them.
inline real rounding(const oracle::WindowSums& wanted) {
  return 4 * oracle::kEpsilon * wanted.slack;
}

}  // namespace sweeps

#endif
