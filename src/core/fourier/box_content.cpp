#include "core/fourier/box_content.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/whole.hpp"
#include "core/fourier/part_sums.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

BoxContent look_into_box(const MatrixView& x, Weights w, const FourierGeometry& geometry,
                         const RunOptions& options) {
  Point3 bins_of_length{};
  for (std::size_t a = 0; a < 3; ++a) {
    const double range = geometry.high[a] - geometry.low[a];
    bins_of_length[a] = range > 0 ? kFourierBins / range : 0.0;
  }
  std::vector<double> sums =
      add_parts(x.rows, 2 + 3 * kFourierBins, options, [&](std::size_t i, double* sum) {
        const Point3 z = geometry.whiten(x, i);
        if (!geometry.inside(z)) return;
        sum[0] += w[i];
        sum[1] += w[i] * w[i];
        for (std::size_t a = 0; a < 3; ++a) {
          const double bin = (z[a] - geometry.low[a]) * bins_of_length[a];
          sum[2 + a * kFourierBins + std::min(kFourierBins - 1, whole_number<std::size_t>(bin))] +=
              w[i];
        }
      });
  BoxContent content;
  content.weight = sums[0];
  content.squares = sums[1];
  for (std::size_t a = 3 - geometry.d; a < 3; ++a) {
    content.at_lag[a] = weight_at_lags(sums.data() + 2 + a * kFourierBins);
  }
  return content;
}

std::vector<double> weight_at_lags(const double* bin) {
  std::vector<double> at_lag(kFourierBins, 0.0);
  for (std::size_t i = 0; i < kFourierBins; ++i) {
    for (std::size_t j = i; j < kFourierBins; ++j) {
      at_lag[j - i] += (i == j ? 1 : 2) * bin[i] * bin[j];
    }
  }
  return at_lag;
}

double min_sum(const BoxContent& content, const FourierGeometry& geometry) {
  const double widest = std::sqrt(2.0) * geometry.max, narrow = std::sqrt(2.0) * geometry.min;
  double by_volume = widest / narrow;
  for (std::size_t a = 3 - geometry.d; a < 3; ++a) {
    by_volume *=
        0.93 * std::sqrt(2 * kPi) * narrow / (geometry.high[a] - geometry.low[a] + 3 * widest);
  }
  return std::max(by_volume, content.squares / (content.weight * content.weight));
}

double image_sum(const BoxContent& content, const FourierGeometry& geometry, std::size_t axis,
                 double period) {
  const double bin = (geometry.high[axis] - geometry.low[axis]) / kFourierBins;
  double sum = 0.0;
  for (std::size_t lag = 0; lag < kFourierBins; ++lag) {
    const double u = (period - bin * static_cast<double>(lag + 1)) / (2 * geometry.max);
    sum += content.at_lag[axis][lag] * std::exp(-u * u);
  }
  return sum / (content.weight * content.weight);
}

}  // namespace kestrel
