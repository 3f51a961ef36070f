#include "core/scanline/variable_geometry.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/scanline/costs.hpp"

namespace kestrel {

namespace {

/// Ranges whose runs have at least half this length are added by events, shorter ones point by
/// point: a row then has about as many points as kVariableRowNs has kVariableCoveredNs.
constexpr double kShortRun = 6;

/// The geometric mean of the bandwidths, as far as geometries allow.
std::vector<double> usual_root(Span<const double> h, Span<const RegularAxis> axes) {
  double logs = 0, finest = HUGE_VAL, coarsest = 0;
  for (const double one : h) logs += std::log(one);
  for (const RegularAxis& axis : axes) {
    if (axis.count < 2) continue;
    finest = std::min(finest, axis.step);
    coarsest = std::max(coarsest, axis.step);
  }
  double usual = h.size == 0 ? 1 : std::exp(logs / static_cast<double>(h.size));
  usual = std::max(coarsest, std::min(usual, 1e12 * finest));
  std::vector<double> root(axes.size * axes.size, 0.0);
  for (std::size_t k = 0; k < axes.size; ++k) root[k * axes.size + k] = usual;
  return root;
}

}  // namespace

VariableGeometry::VariableGeometry(Span<const double> h, Span<const RegularAxis> axes)
    : root(usual_root(h, axes)),
      grid(axes, {root.data(), root.size()}),
      d(axes.size),
      first(grid.axes() - d),
      row(grid.axes() - 2),
      run(grid.axes() - 1) {
  for (std::size_t a = first; a < grid.axes(); ++a) {
    per_width[a] = grid.reach(a) / root[0];
    axis_of[grid.user(a)] = a;
  }
}

bool VariableGeometry::by_events(Kernel kernel, int range) const {
  return kernel == Kernel::epanechnikov && std::ldexp(per_width[run], range) >= kShortRun;
}

bool takes_variable_axes(Span<const double> h, Span<const RegularAxis> axes) {
  if (axes.size < 1 || axes.size > kVariableAxes) return false;
  try {
    return VariableGeometry(h, axes).d > 0;
  } catch (const error& problem) {
    if (problem.kind != ErrorKind::input) throw;
    return false;
  }
}

double variable_scanline_seconds(Span<const double> h, Kernel kernel,
                                 Span<const RegularAxis> axes) {
  const VariableGeometry geometry(h, axes);
  std::vector<int> ranges;
  double rows = 0, covered = 0;
  for (const double one : h) {
    double volume = ball_volume(static_cast<double>(geometry.d)), crossed = 1, all = 1;
    if (geometry.d > 1) crossed = ball_volume(static_cast<double>(geometry.d - 1));
    double rows_of_all = 1;
    for (std::size_t a = geometry.first; a <= geometry.run; ++a) {
      const double reach = one * geometry.per_width[a];
      volume *= reach;
      all *= geometry.count(a);
      if (a == geometry.run) break;
      crossed *= reach;
      rows_of_all *= geometry.count(a);
    }
    rows += std::max(1.0, std::min(crossed, rows_of_all));
    if (geometry.by_events(kernel, bandwidth_range(one))) {
      if (std::find(ranges.begin(), ranges.end(), bandwidth_range(one)) == ranges.end()) {
        ranges.push_back(bandwidth_range(one));
      }
    } else {
      covered += std::min(volume, all);
    }
  }
  const double n = static_cast<double>(h.size), m = static_cast<double>(geometry.grid.points());
  return 1e-9 * (kVariableSampleNs * n + kVariableRowNs * rows + kVariableCoveredNs * covered +
                 kVariablePointNs * m * (1 + static_cast<double>(ranges.size())));
}

}  // namespace kestrel
