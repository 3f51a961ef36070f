// Helpers for the tests of the scanline engine.
#ifndef KESTREL_TOOLS_SCANLINE_EXPECT_HPP
#define KESTREL_TOOLS_SCANLINE_EXPECT_HPP

#include "common.hpp"
#include "core/scanline/scanline.hpp"
#include "scanline-oracle.hpp"

namespace scanline_oracle {

using common::name_of;
using common::run_on;

inline std::vector<double> density(const Case& c, const kestrel::ScanlineSettings& settings,
                                   const kestrel::RunOptions& options) {
  std::vector<double> out(c.points(), -1.0);
  const std::vector<kestrel::RegularAxis> axes = c.grid();
  kestrel::scanline_density({c.x.data(), c.n, c.d}, {c.w.data(), c.n}, {axes.data(), c.d}, c.choice,
                            {c.root.data(), c.root.size()}, settings, options,
                            {out.data(), out.size()});
  return out;
}

inline Case with_kernel(Case c, kestrel::Kernel kernel, kestrel::KernelType type) {
  c.choice = {kernel, type};
  c.name += std::string("_") + common::kernel_name(kernel);
  if (type == kestrel::KernelType::radial) return c;
  c.name += "_product";
  for (std::size_t k = 0; k < c.d; ++k) {
    for (std::size_t l = 0; l < k; ++l) c.root[l * c.d + k] = 0;
  }
  return c;
}

/// One kernel for each case, radial and product; the next case has another one.
inline std::vector<Case> cases_of_every_kernel() {
  const std::vector<kestrel::Kernel> compact = common::kernels_where(kestrel::is_compact);
  std::vector<Case> all;
  std::size_t turn = 0;
  for (const Case& c : cases_of_every_kind()) {
    if (c.n * c.points() > 250000) continue;
    const kestrel::Kernel kernel = compact[turn++ % compact.size()];
    all.push_back(with_kernel(c, kernel, kestrel::KernelType::radial));
    all.push_back(with_kernel(c, kernel, kestrel::KernelType::product));
  }
  return all;
}

/// The same samples in another order.
inline Case shuffled(const Case& c) {
  std::vector<std::size_t> order(c.n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(3));
  Case other = c;
  for (std::size_t j = 0; j < c.n; ++j) {
    other.w[j] = c.w[order[j]];
    for (std::size_t k = 0; k < c.d; ++k) other.x[k * c.n + j] = c.x[k * c.n + order[j]];
  }
  return other;
}

/// `unseen`: values below that share of the peak may be zero; `rim`: whether points on a rim are
/// compared.
inline void expect_close(const std::vector<double>& got, const Expected& wanted, real unseen = 0,
                         bool rim = true) {
  real worst = 0;
  std::size_t other_zeros = 0, negative = 0, beyond = 0;
  for (std::size_t p = 0; p < got.size(); ++p) {
    if (!rim && wanted.at_rim[p]) continue;
    worst = std::max(worst, std::fabs(got[p] - wanted.value[p]));
    if (!(got[p] >= 0)) ++negative;
    if ((got[p] == 0) == (wanted.value[p] == 0)) continue;
    if (wanted.value[p] <= unseen * wanted.peak && got[p] == 0) continue;
    if (!wanted.at_rim[p]) ++other_zeros;
    if (std::fabs(got[p] - wanted.value[p]) > 1e-13L * wanted.peak) ++beyond;
  }
  EXPECT_LE(worst, 1e-14L * wanted.largest) << "relative " << worst / wanted.largest;
  EXPECT_EQ(negative, 0u);
  EXPECT_EQ(other_zeros, 0u);
  EXPECT_EQ(beyond, 0u);
}

}  // namespace scanline_oracle

#endif
