// Expectations about criteria of bandwidths, and the samples that they are tested with.
#ifndef KESTREL_TOOLS_CRITERIA_EXPECT_HPP
#define KESTREL_TOOLS_CRITERIA_EXPECT_HPP

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fourier-oracle.hpp"

namespace fourier_oracle {

inline double tolerance_for(const Drawn& s) { return kestrel::default_fourier_tolerance(s.d); }

inline void expect_near(double got, real wanted, real allowed, const std::string& what) {
  EXPECT_LE(std::fabs(got - wanted), allowed)
      << what << ": " << got << ", relative " << static_cast<double>(got / wanted - 1);
}

inline void expect_gradient(const std::vector<double>& got, const Matrix& wanted, const Matrix& H,
                            std::size_t d, real allowed) {
  // Relative to the value: D_kl sqrt(H_kk H_ll).
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < d; ++l) {
      const real unit = std::sqrt(H[k * d + k] * H[l * d + l]);
      EXPECT_LE(std::fabs(got[l * d + k] - wanted[l * d + k]) * unit, allowed)
          << "gradient " << k << ", " << l << ": " << got[l * d + k] << ", not "
          << static_cast<double>(wanted[l * d + k]);
    }
  }
}

inline std::vector<Drawn> all_samples() {
  std::vector<Drawn> all;
  for (const std::size_t d : {1, 2, 3}) {
    for (const Drawn& s : samples_of_every_kind(d == 3 ? 80 : 120, d)) {
      all.push_back(s);
    }
  }
  return all;
}

}  // namespace fourier_oracle

#endif
