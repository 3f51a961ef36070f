#include "core/sweep/cells.hpp"

#include <algorithm>

namespace kestrel {

/// Searches in steps of doubling size, then by bisection.
std::size_t SweepCells::end_of_cell(std::size_t begin) const {
  const double* x = sample_.x();
  const std::size_t n = sample_.size();
  if (begin >= n) return n;
  const auto inside = [&](std::size_t j) { return !(x[j] - x[begin] >= outside_); };
  std::size_t step = 1, low = begin;
  while (low + step < n && inside(low + step)) {
    low += step;
    step *= 2;
  }
  std::size_t high = std::min(n, low + step);
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (inside(middle) ? low : high) = middle;
  }
  return high;
}

SweepCell SweepCells::cell(std::size_t begin, std::size_t end) const {
  SweepCell made{begin, end, {}};
  if (with_y_ && begin < end) {
    // A line with a slope passes through a sample. Three values of y have a mean, but no place at
    // which a steep line could pass through it.
    const double *x = sample_.x(), *y = sample_.y();
    const std::size_t middle = begin + (end - begin) / 2;
    const double y_there = slope_ != 0 ? y[middle] : (y[begin] + y[middle] + y[end - 1]) / 3;
    made.line = {x[middle], y_there, slope_};
  }
  return made;
}

namespace {

/// The number of points to the left of all samples from `begin` on.
std::size_t points_before(const SortedSample& sample, const SortedSample& points,
                          std::size_t begin) {
  if (begin == 0) return 0;
  if (begin == sample.size()) return points.size();
  if (&points == &sample) return begin;
  const double* e = points.x();
  return static_cast<std::size_t>(std::lower_bound(e, e + points.size(), sample.x()[begin]) - e);
}

}  // namespace

std::vector<SweepGroup> cut_groups(const SweepCells& cells, const SortedSample& sample,
                                   const SortedSample& points, std::size_t points_of_block) {
  const std::size_t n = sample.size();
  std::vector<SweepGroup> groups{{0, 0, 0, 0}};
  const auto add = [&](std::size_t cell_before, std::size_t first_cell) {
    const std::size_t first_point = points_before(sample, points, first_cell);
    groups.push_back(
        {cell_before, first_cell, first_point, first_point / points_of_block + groups.size()});
  };
  std::size_t before = 0, begin = 0;
  while (n > kSweepGroup && begin < n) {
    const std::size_t next = cells.end_of_cell(begin);
    before = begin;
    begin = next;
    if (begin < n && begin - groups.back().first_cell >= kSweepGroup) add(before, begin);
  }
  add(n, n);
  return groups;
}

}  // namespace kestrel
