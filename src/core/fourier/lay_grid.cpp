#include "core/fourier/lay_grid.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/whole.hpp"
#include "core/fourier/window.hpp"

namespace kestrel {

namespace {

/// Shares of the tolerance (see the header).
constexpr double kImageShare = 0.3, kTailShare = 0.05;

/// The distance up to which pairs of outliers matter, if S(2H) is at least min_sum K_2H(0).
double tail_reach(const FourierGeometry& geometry, double min_sum) {
  return 2 * geometry.max * std::sqrt(-std::log(kTailShare * geometry.tolerance * min_sum));
}

/// The shortest period for which the images sum to at most `allowed`, by bisection. It starts from
/// a period that is too short and one at which even the nearest image of the farthest pair is far
/// enough.
double min_period(const BoxContent& content, const FourierGeometry& geometry, std::size_t axis,
                  double allowed) {
  const double range = geometry.high[axis] - geometry.low[axis];
  double above = range + 2 * geometry.max * std::sqrt(-std::log(allowed));
  double below = range + std::min(0.25 * (above - range), 4 * geometry.max);
  while (above - below > 0.002 * (above - range)) {
    const double middle = 0.5 * (above + below);
    (image_sum(content, geometry, axis, middle) <= allowed ? above : below) = middle;
  }
  return above;
}

/// Whole numbers as doubles, since they may be too large for integers.
struct GridSize {
  Point3 cells{1, 1, 1}, modes{0, 0, 0};

  double bytes() const {
    return 8 * (cells[0] * cells[1] * (cells[2] + 2) +
                (2 * modes[0] + 1) * (2 * modes[1] + 1) * (modes[2] + 1));
  }
};

/// From the periods: the modes up to the cut, and cells enough for these and for the window.
GridSize size_of(const FourierGeometry& geometry) {
  GridSize size;
  for (std::size_t a = 3 - geometry.d; a < 3; ++a) {
    const double range = geometry.high[a] - geometry.low[a], period = geometry.period[a];
    size.modes[a] = std::ceil(geometry.cut / geometry.min / geometry.frequency_step(a));
    // Spreading must not wrap around: between the samples and their images there is room for the
    // window.
    const double for_window = (FourierWindow::kMaxTaps + 3) * period / (period - range);
    size.cells[a] = std::ceil(std::max(FourierWindow::kCellsOfMode * size.modes[a], for_window));
  }
  return size;
}

/// Sets the transform's box, with numbers of cells for which it is fast, and the position of its
/// first cell.
void set_cells(const GridSize& size, FourierGeometry* geometry) {
  TransformBox& box = geometry->box;
  for (std::size_t a = 0; a < 3; ++a) {
    box.max[a] = whole_number<std::size_t>(size.modes[a]);
    box.cells[a] =
        a < 3 - geometry->d ? 1 : smooth_number(whole_number<std::size_t>(size.cells[a]));
    geometry->origin[a] = geometry->low[a] - (geometry->taps / 2 + 1) * geometry->period[a] /
                                                 static_cast<double>(box.cells[a]);
  }
}

}  // namespace

double fourier_cut(double tolerance) { return std::sqrt(2 * std::log(9 / tolerance)); }

void set_periods(const BoxContent& content, FourierGeometry* geometry) {
  const double sum = min_sum(content, *geometry);
  const double images_of_axis =
      kImageShare / static_cast<double>(geometry->d) * geometry->tolerance * sum;
  geometry->reach = tail_reach(*geometry, sum);
  for (std::size_t a = 3 - geometry->d; a < 3; ++a) {
    geometry->period[a] = min_period(content, *geometry, a, images_of_axis);
  }
}

LaidGrid lay_grid(FourierGeometry geometry, const BoxContent& content, double bytes) {
  set_periods(content, &geometry);
  const GridSize size = size_of(geometry);
  if (!(size.bytes() <= bytes)) return {geometry, size.bytes(), false};
  set_cells(size, &geometry);
  return {geometry, geometry.bytes(), true};
}

}  // namespace kestrel
