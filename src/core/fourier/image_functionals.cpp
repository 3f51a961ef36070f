#include "core/fourier/image_functionals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>

#include "core/base/error.hpp"
#include "core/fourier/mode_source.hpp"
#include "core/fourier/tail.hpp"

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

using MapsOfAxes = std::array<std::vector<ImageMap>, 3>;

/// A task in cells, the units of a source.
struct ImageTask {
  std::size_t d;
  int order;
  double cut;  // where kernels and their derivatives end, in bandwidths
  Form3 h{};
  Point3 width{};  // the bandwidths
  std::array<ReflectingAxis, 3> axes;

  /// The maps of values in a box, themselves included.
  MapsOfAxes maps(const Point3& low, const Point3& high) const {
    MapsOfAxes maps;
    maps.fill({{1, 0}});
    for (std::size_t a = 3 - d; a < 3; ++a) {
      const auto more = image_maps(axes[a], low[a], high[a], cut * width[a]);
      maps[a].insert(maps[a].end(), more.begin(), more.end());
    }
    return maps;
  }
};

/// Modes of a period in which no sample on the grid is nearer to an image by whole periods.
std::unique_ptr<FourierModes> modes_for(const ModeSource& source, const ImageTask& task,
                                        const RunOptions& options) {
  const double widest = *std::max_element(task.width.begin(), task.width.end());
  Point3 period{};
  for (;;) {
    std::unique_ptr<FourierModes> modes = source.modes(widest, period, options);
    const FourierGeometry& grid = modes->geometry();
    const MapsOfAxes maps = task.maps(grid.low, grid.high);
    bool enough = true;
    for (std::size_t a = 3 - task.d; a < 3; ++a) {
      const double wanted = farthest(maps[a], grid.low[a], grid.high[a]) + task.cut * task.width[a];
      enough = enough && grid.period[a] >= wanted;
      period[a] = std::max(period[a], wanted);
    }
    if (enough) return modes;
  }
}

/// Adds D^alpha K_h(a - b') for the images b' of b, times a weight.
void add_images(const Point3& a, const Point3& b, double weight, const MapsOfAxes& maps,
                const std::vector<Exponents>& monomials, double max,
                GaussianDerivatives* derivatives, std::vector<double>* total) {
  const auto distance = [&](std::size_t axis, const ImageMap& map) {
    return static_cast<double>(a[axis] -
                               (map.sign * static_cast<long double>(b[axis]) + map.shift));
  };
  for (const ImageMap& first : maps[0]) {
    for (const ImageMap& second : maps[1]) {
      for (const ImageMap& third : maps[2]) {
        const Point3 u{distance(0, first), distance(1, second), distance(2, third)};
        if (!derivatives->evaluate(u, max)) continue;
        for (std::size_t m = 0; m < monomials.size(); ++m) {
          (*total)[m] += weight * derivatives->at(monomials[m]);
        }
      }
    }
  }
}

/// The share of the pairs of outliers. A sample is as far from an image of another as from this, or
/// farther. So images are within reach only of pairs that are.
std::vector<double> tail_of(const ModeSource& source, const FourierGeometry& grid,
                            const ImageTask& task, const std::vector<Exponents>& monomials) {
  std::vector<double> total(monomials.size(), 0.0);
  if (!grid.trimmed) return total;
  FourierTail tail;
  const MatrixView known = source.known();
  Point3 low{}, high{};
  for (std::size_t i = 0; i < known.rows; ++i) {
    const Point3 z = grid.whiten(known, i);
    file_sample(grid, z, source.known_weights()[i], &tail);
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = i == 0 ? z[a] : std::min(low[a], z[a]);
      high[a] = i == 0 ? z[a] : std::max(high[a], z[a]);
    }
  }
  const MapsOfAxes maps = task.maps(low, high);
  GaussianDerivatives derivatives(task.h, task.d, task.order);
  const double max = task.cut * task.cut, unit = 1 / source.weight() / source.weight();
  const auto add = [&](const Point3& a, const Point3& b, double weight) {
    add_images(a, b, unit * weight, maps, monomials, max, &derivatives, &total);
  };
  for (std::size_t i = 0; i < tail.outlier.size(); ++i) {
    const double w = tail.outlier_weight[i];
    add(tail.outlier[i], tail.outlier[i], w * w);
  }
  visit_tail_pairs(tail, grid.reach, [&](const Point3& a, const Point3& b, double product) {
    add(a, b, product);
    add(b, a, product);
    return true;
  });
  return total;
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
  // In bandwidths, kernels decrease with the distance as the Gaussian does with the frequency.
  ImageTask task{cells.d, order, cut_of_degree(cells, order), {}, {}, {}};
  double unit = order % 4 == 0 ? 1 : -1;
  for (std::size_t k = 0; k < cells.d; ++k) {
    const std::size_t a = cells.axis(k);
    const auto in_cells = [&](double v) { return (v - cells.centre[k]) * cells.scale[k]; };
    task.axes[a] = {in_cells(axes[k].lower), in_cells(axes[k].upper), 0, axes[k].periodic};
    task.width[a] = g[k] * cells.scale[k];
    task.h[4 * a] = task.width[a] * task.width[a];
    unit *= cells.scale[k];
  }
  // A sum of higher degree needs a wider range of the Gaussian.
  check_served(source, least_deviation(task.h, cells.d) * cells.cut / task.cut);
  const std::unique_ptr<FourierModes> modes = modes_for(source, task, options);
  const FourierGeometry& grid = modes->geometry();
  const std::vector<Exponents> monomials = monomials_of_degree(cells.d, order);
  const std::vector<double> tail = tail_of(source, grid, task, monomials);
  std::vector<double> psi =
      modes->image_moments(task.h, order, task.maps(grid.low, grid.high), options);
  for (std::size_t m = 0; m < psi.size(); ++m) {
    double scale = 1;
    for (std::size_t k = 0; k < cells.d; ++k) {
      scale *= std::pow(cells.scale[k], monomials[m][cells.axis(k)]);
    }
    psi[m] = scale * (unit * psi[m] + std::fabs(unit) * tail[m]);
  }
  return psi;
}

}  // namespace kestrel
