// What tests of regression expect of fits.
#ifndef KESTREL_TOOLS_REGRESSION_EXPECT_HPP
#define KESTREL_TOOLS_REGRESSION_EXPECT_HPP

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "common.hpp"
#include "core/regression.hpp"
#include "line-oracle.hpp"

namespace fits {

using kestrel::Kernel;
using kestrel::LocalKernel;
using lines::Line;
using oracle::real;

constexpr Kernel kernels[] = {Kernel::uniform,  Kernel::triangular, Kernel::epanechnikov,
                              Kernel::biweight, Kernel::triweight,  Kernel::gaussian};

inline kestrel::RegressionSample sample_of(const Line& line, const std::vector<double>& y) {
  return {line.samples(), lines::span(y), line.weights()};
}

inline std::string describe(const LocalKernel& kernel) {
  std::ostringstream text;
  text.precision(17);
  text << common::kernel_names[static_cast<int>(kernel.kernel)]
       << (kernel.local_linear ? ", local linear" : ", local constant") << ", h = " << kernel.h;
  return text.str();
}

inline oracle::Residuals wanted_residuals(const lines::Data& data, const LocalKernel& kernel) {
  return oracle::residuals(data, kernel.kernel, kernel.h, kernel.local_linear);
}

inline void expect_near(double got, real wanted, real allowed, const std::string& what) {
  EXPECT_LE(std::fabs(got - wanted), allowed)
      << what << ": " << got << ", not " << static_cast<double>(wanted) << ", error "
      << static_cast<double>(std::fabs(got - wanted)) << ", allowed "
      << static_cast<double>(allowed);
}

}  // namespace fits

#endif
