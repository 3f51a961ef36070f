#include "core/fgt/octaves.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/whole.hpp"
#include "core/fgt/cell_order.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

double PairBandwidth::deviation() const { return std::sqrt(static_cast<double>(variance)) * h; }

int Octave::lags(double reach) const {
  return whole_number<int>(std::ceil(reach * std::ldexp(largest, -exponent))) + 1;
}

std::vector<Octave> octaves_of(const std::vector<PairBandwidth>& bandwidths, int halvings) {
  std::vector<Octave> octaves;
  std::vector<std::size_t> index(bandwidths.size());
  std::vector<double> g;
  for (const PairBandwidth& bandwidth : bandwidths) g.push_back(bandwidth.deviation());
  std::iota(index.begin(), index.end(), std::size_t{0});
  std::sort(index.begin(), index.end(), [&](std::size_t a, std::size_t b) { return g[a] < g[b]; });
  for (const std::size_t k : index) {
    const int exponent = cell_exponent(g[k], halvings);
    if (octaves.empty() || octaves.back().exponent != exponent) octaves.push_back({exponent, {}});
    octaves.back().index.push_back(k);
    octaves.back().largest = g[k];
  }
  return octaves;
}

double in_units_of_x(double sum, double g, int exponent, int order) {
  ScaledNumber scale;
  scale.multiply(1 / std::sqrt(2 * kPi));
  scale.divide(g);
  scale.exponent -= order * exponent;
  return scale.times(sum);
}

}  // namespace kestrel
