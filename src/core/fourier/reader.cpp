#include "core/fourier/reader.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/whole.hpp"

namespace kestrel {

namespace {

/// Points of a work item.
constexpr std::size_t kPointsOfItem = 512;

}  // namespace

Point3 whitened_point(const FourierGeometry& geometry, const EvaluationPoints& points,
                      std::size_t i) {
  double v[3];
  points.copy(i, v);
  return geometry.whiten({v, 1, geometry.d}, 0);
}

FourierReader::FourierReader(const FourierGeometry& geometry, const FourierWindow& window,
                             const std::array<Range, 3>& readable, const simd::Table* table)
    : geometry_(geometry),
      window_(window.polynomials()),
      table_(*table->spread),
      readable_(readable) {}

void FourierReader::locate(std::size_t axis, double z, std::uint32_t* first, double* part) const {
  const double from = (z - geometry_.origin[axis]) *
                          static_cast<double>(geometry_.box.cells[axis]) / geometry_.period[axis] -
                      0.5 * geometry_.taps;
  const double begin = std::ceil(from);
  *first = whole_number<std::uint32_t>(begin);
  *part = begin - from;
}

bool FourierReader::read_point(const double* cells, std::size_t count, const Point3& z,
                               double* out) const {
  const TransformBox& box = geometry_.box;
  simd::Spot spot{};
  for (std::size_t a = 3 - geometry_.d; a < 3; ++a) {
    if (!is_readable(a, z[a])) return false;
    locate(a, z[a], &spot.first[a], &spot.part[a]);
  }
  table_.read(
      window_, spot,
      {cells, box.row(1, 0), box.row_length(), box.size(), static_cast<int>(3 - geometry_.d)},
      count, out);
  return true;
}

void FourierReader::read_points(const double* cells, const EvaluationPoints& points,
                                const ParallelOptions& options, Span<double> out) const {
  const std::size_t m = points.size(), items = (m + kPointsOfItem - 1) / kPointsOfItem;
  parallel_for(items, options, [&](std::size_t item, int) {
    for (std::size_t i = item * kPointsOfItem; i < std::min(m, (item + 1) * kPointsOfItem); ++i) {
      if (!read_point(cells, 1, whitened_point(geometry_, points, i), out.data + i)) out[i] = 0.0;
    }
  });
}

}  // namespace kestrel
