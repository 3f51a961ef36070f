// The cells of the Gaussian kernel's sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "core/regression/nodes.hpp"
#include "lines.hpp"

using namespace kestrel;

namespace {

std::size_t occupied(const std::vector<double>& x, int exponent) {
  std::set<double> cells;
  for (const double value : x) cells.insert(std::floor(std::ldexp(value, -exponent)));
  return cells.size();
}

}  // namespace

TEST(NodeCells, TheNarrowestHoldEightSamplesInTheMean) {
  for (const lines::Line& line : lines::of_every_kind(200)) {
    for (const double scale : {1.0, 1e-300, 1e280}) {
      std::vector<double> x;
      for (const double value : line.x) x.push_back(value * scale);
      const auto ends = std::minmax_element(x.begin(), x.end());
      if (x.size() < 64 || !(*ends.first < *ends.second) || !std::isfinite(*ends.second)) continue;
      SCOPED_TRACE(line.name + ", scale " + std::to_string(std::log10(scale)));
      const SortedSample sample({x.data(), x.size()}, {}, {}, {});
      const int exponent = finest_exponent(sample, 8, {});
      const std::size_t most = x.size() / 8;
      EXPECT_LE(occupied(x, exponent), most);
      std::sort(x.begin(), x.end());
      double gap = HUGE_VAL;
      for (std::size_t i = 1; i < x.size(); ++i) {
        if (x[i] > x[i - 1]) gap = std::min(gap, x[i] - x[i - 1]);
      }
      if (exponent > std::ilogb(gap) && exponent > -999) {
        EXPECT_GT(occupied(x, exponent - 1), most);
      }
    }
  }
}
