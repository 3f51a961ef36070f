#include "core/fourier/reader.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/pack.hpp"
#include "core/base/whole.hpp"

namespace kestrel {

namespace {

/// Points of a work item; lines of the result that are worked on together, since they share cache
/// lines.
constexpr std::size_t kPointsOfItem = 512, kLines = 8;
/// The maximum number of cells of the planes that a worker keeps, 32 MB, unless a single one takes
/// more.
constexpr std::size_t kPlaneCells = std::size_t{1} << 22;

/// sum_t weight_t row_t, t < taps; reads an even number of values.
double read_row(const double* row, const double* weight, int taps) {
  Pack sum = {};
  for (int t = 0; t < taps; t += 2) sum += load_pack(row + t) * load_pack(weight + t);
  return sum[0] + sum[1];
}

/// to[c] = sum_t weight_t from[t * stride + c], c < size.
void weigh(const double* from, std::size_t stride, const double* weight, int taps, std::size_t size,
           double* to) {
  for (std::size_t c = 0; c < size; c += 2) {
    Pack sum = {};
    for (int t = 0; t < taps; ++t) {
      sum += both(weight[t]) * load_pack(from + static_cast<std::size_t>(t) * stride + c);
    }
    store_pack(sum, to + c);
  }
}

}  // namespace

Point3 whitened_point(const FourierGeometry& geometry, const EvaluationPoints& points,
                      std::size_t i) {
  double v[3];
  points.copy(i, v);
  return geometry.whiten({v, 1, geometry.d}, 0);
}

/// Where the window of a coordinate begins, and the window's values.
struct FourierReader::Reading {
  bool readable = true;
  std::uint32_t first = 0;
  double value[FourierWindow::kMaxTaps] = {1.0};
};

FourierReader::FourierReader(const FourierGeometry& geometry, const FourierWindow& window,
                             const std::array<Range, 3>& readable, const simd::Table* table)
    : geometry_(geometry),
      window_(window.polynomials()),
      table_(*table->spread),
      readable_(readable) {
  for (std::size_t a = 0; a < 3; ++a) taps_[a] = geometry.box.cells[a] == 1 ? 1 : geometry.taps;
}

void FourierReader::locate(std::size_t axis, double z, std::uint32_t* first, double* part) const {
  const double from = (z - geometry_.origin[axis]) *
                          static_cast<double>(geometry_.box.cells[axis]) / geometry_.period[axis] -
                      0.5 * geometry_.taps;
  const double begin = std::ceil(from);
  *first = whole_number<std::uint32_t>(begin);
  *part = begin - from;
}

FourierReader::Reading FourierReader::reading(std::size_t axis, double z) const {
  Reading reading;
  reading.readable = is_readable(axis, z);
  if (!reading.readable) return reading;
  double part = 0;
  locate(axis, z, &reading.first, &part);
  table_.values(window_, part, reading.value);
  return reading;
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

void FourierReader::read_axes(const double* cells, const std::vector<Span<const double>>& axes,
                              const ParallelOptions& options, Span<double> out) const {
  const TransformBox& box = geometry_.box;
  std::array<std::vector<Reading>, 3> at;
  for (std::size_t a = 0; a < 3 - geometry_.d; ++a) at[a].resize(1);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    for (const double v : axes[k]) {
      const std::size_t a = geometry_.axis(k);
      at[a].push_back(reading(a, (v - geometry_.centre[k]) * geometry_.scale[k]));
    }
  }
  const std::size_t m0 = at[0].size(), m1 = at[1].size(), m2 = at[2].size();
  const std::size_t plane = box.row(1, 0), row = box.row_length();
  // A work item has some values of the first variable, whose results are neighbours. With three
  // variables these are on axis 0, and the item has all of axis 1; with two they are on axis 1.
  const bool three = geometry_.d == 3;
  const std::size_t m = three ? m0 : m1, steps = three ? m1 : 1;
  const std::size_t together =
      three ? std::max<std::size_t>(1, std::min(kLines, kPlaneCells / plane)) : kLines;
  parallel_for((m + together - 1) / together, options, [&](std::size_t item, int) {
    const std::size_t first = item * together, lines = std::min(m - first, together);
    std::vector<double> planes(three ? lines * plane : 0), rows(lines * row);
    for (std::size_t l = 0; l < lines && three; ++l) {
      const Reading& of_axis = at[0][first + l];
      weigh(cells + of_axis.first * plane, plane, of_axis.value, taps_[0], plane,
            planes.data() + l * plane);
    }
    for (std::size_t step = 0; step < steps; ++step) {
      for (std::size_t l = 0; l < lines; ++l) {
        const Reading& of_axis = at[1][three ? step : first + l];
        weigh((three ? planes.data() + l * plane : cells) + of_axis.first * row, row, of_axis.value,
              taps_[1], row, rows.data() + l * row);
      }
      for (std::size_t k = 0; k < m2; ++k) {
        for (std::size_t l = 0; l < lines; ++l) {
          const std::size_t i = three ? first + l : 0, j = three ? step : first + l;
          const Reading& of_axis = at[2][k];
          const bool readable = at[0][i].readable && at[1][j].readable && of_axis.readable;
          out[i + m0 * (j + m1 * k)] =
              readable ? read_row(rows.data() + l * row + of_axis.first, of_axis.value, taps_[2])
                       : 0.0;
        }
      }
    }
  });
}

}  // namespace kestrel
