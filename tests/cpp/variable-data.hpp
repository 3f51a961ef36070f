// Data with bandwidths of samples and of points, and their sums of compact kernels in long double.
#ifndef KESTREL_TOOLS_VARIABLE_DATA_HPP
#define KESTREL_TOOLS_VARIABLE_DATA_HPP

#include "common.hpp"
#include "core/data/compact_pairs.hpp"
#include "oracle.hpp"

namespace variable_data {

/// Samples in the unit cube, some tied, some far away, and points in and about it.
struct Data {
  std::size_t n, m, d;
  std::vector<double> x, w, of_samples, points, of_points;

  Data(std::size_t samples, std::size_t count, std::size_t dimension, double offset, double widest)
      : n(samples), m(count), d(dimension) {
    std::mt19937_64 random(n + d);
    for (std::size_t i = 0; i < n * d; ++i) {
      const double at = i % 11 == 3 && i > 0 ? x.back() - offset : shapes::uniform(random);
      x.push_back(offset + (i % 97 == 50 ? 100 * at : at));
    }
    for (std::size_t i = 0; i < m * d; ++i) {
      points.push_back(offset + 1.2 * shapes::uniform(random) - 0.1);
    }
    for (std::size_t i = 0; i < n; ++i) w.push_back(static_cast<double>(i % 4) / 3);
    const auto width = [&] { return widest * std::pow(10.0, -2 * shapes::uniform(random)); };
    for (std::size_t i = 0; i < n; ++i) of_samples.push_back(width());
    for (std::size_t i = 0; i < m; ++i) of_points.push_back(width());
  }
  /// At points that may be others than those here if the bandwidths are of samples.
  kestrel::VariableTask task(kestrel::Kernel kernel, bool by_point,
                             const kestrel::EvaluationPoints& at) const {
    const std::vector<double>& h = by_point ? of_points : of_samples;
    return {{x.data(), n, d}, {w.data(), n}, {h.data(), h.size()}, by_point, kernel, at};
  }

  oracle::real wanted(kestrel::Kernel kernel, bool by_point, std::size_t i) const {
    oracle::real sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const oracle::real width = by_point ? of_points[i] : of_samples[j];
      oracle::real square = 0;
      for (std::size_t k = 0; k < d; ++k) {
        const oracle::real u = (oracle::real{points[k * m + i]} - x[k * n + j]) / width;
        square += u * u;
      }
      if (square < 1 || (kernel == kestrel::Kernel::uniform && square == 1)) {
        sum += w[j] * oracle::profile(kernel, std::sqrt(square)) /
               oracle::integer_power(width, static_cast<int>(d));
      }
    }
    return kestrel::unit_scale(kernel, d) * sum;
  }
};

}  // namespace variable_data

#endif
