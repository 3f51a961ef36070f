#include "core/fourier/image_functionals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>

#include "core/base/error.hpp"
#include "core/fourier/mode_source.hpp"

namespace kestrel {

namespace {

/// How far apart values from min to max are from images by one of the maps, at most.
double farthest(const std::vector<ImageMap>& maps, double min, double max) {
  long double most = 0;
  for (const ImageMap& map : maps) {
    const double low = map.sign < 0 ? 2 * min : min - max,
                 high = map.sign < 0 ? 2 * max : max - min;
    most = std::max({most, std::fabs(low - map.shift), std::fabs(high - map.shift)});
  }
  return static_cast<double>(most);
}

}  // namespace

std::vector<double> image_functionals(const Sample& sample, Span<const double> g, int order,
                                      const std::vector<ReflectingAxis>& axes,
                                      const RunOptions& options) {
  if (order < 0 || order > kHighestDegree || order % 2 != 0) {
    throw error(ErrorKind::input, "the order must be even, 0 to 10, not " + std::to_string(order));
  }
  const ModeSource& source = *sample.found<SpreadSamples>()->source;
  const FourierGeometry& cells = source.axes();
  const std::vector<double>& ranges = sample.ranges(options.parallel);
  Form3 h{};
  Point3 period{};
  std::array<std::vector<ImageMap>, 3> maps;
  maps.fill({{1, 0}});
  double widest = 0, unit = 1;
  // In bandwidths, kernels decrease with the distance as the Gaussian does with the frequency.
  const double cut = cut_of_degree(cells, order);
  for (std::size_t k = 0; k < cells.d; ++k) {
    const std::size_t a = cells.axis(k);
    const auto in_cells = [&](double v) { return (v - cells.centre[k]) * cells.scale[k]; };
    const double of_axis = g[k] * cells.scale[k], reach = cut * of_axis;
    const double min = in_cells(ranges[2 * k]), max = in_cells(ranges[2 * k + 1]);
    const ReflectingAxis bounds{in_cells(axes[k].lower), in_cells(axes[k].upper), 0,
                                axes[k].periodic};
    for (const ImageMap& map : image_maps(bounds, min, max, reach)) maps[a].push_back(map);
    period[a] = farthest(maps[a], min, max) + reach;
    h[4 * a] = of_axis * of_axis;
    widest = std::max(widest, of_axis);
    unit *= cells.scale[k];
  }
  // A sum of higher degree needs a wider range of the Gaussian.
  check_served(source, least_deviation(h, cells.d) * cells.cut / cut);
  const std::unique_ptr<FourierModes> modes = source.modes(widest, period, false, options);
  std::vector<double> psi = modes->image_moments(h, order, maps, options);
  const std::vector<Exponents> monomials = monomials_of_degree(cells.d, order);
  for (std::size_t m = 0; m < psi.size(); ++m) {
    double scale = order % 4 == 0 ? unit : -unit;
    for (std::size_t k = 0; k < cells.d; ++k) {
      scale *= std::pow(cells.scale[k], monomials[m][cells.axis(k)]);
    }
    psi[m] *= scale;
  }
  return psi;
}

}  // namespace kestrel
