#include "core/leave_one_out/line_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/leave_one_out/near_places.hpp"
#include "core/mixed/mixed_parts.hpp"

namespace kestrel {

namespace {

/// Points of a work item: of the grid of a criterion, and of those that get values.
constexpr std::size_t kOfGrid = 16, kOfValues = 512;

bool steps_on_line(const MixedSample& sample, const MixedKernel& kernel) {
  return kernel.continuous == Kernel::gaussian && kernel.type == BandwidthType::fixed &&
         sample.columns() == 1 && sample.factors() + sample.ordered() == 0 && !sample.weighted() &&
         std::isfinite(kernel.h[0]);
}

/// What a worker has of the observations near a point.
struct StepRoom {
  StepRoom(const ResponseLine& line, const MixedKernel& kernel, const NodeLevel* level,
           const simd::Table& table)
      : near(line, kernel, level, table) {}

  void resize() {
    value.resize(near.size());
    slope.resize(near.size());
  }

  NearPlaces near;
  std::vector<double> value, slope;
};

/// Sums over the observations of one side of a point, of which `far` are out of reach: of the tails
/// of their kernels beyond the point, and of the derivatives of these by log(h).
struct Tails {
  double far;
  std::size_t begin, count;
  double sum = 0, slope = 0;
};

/// The squared errors of the leave-one-out distribution functions at point g of a grid, and their
/// derivative by log(h). For an observation on the left 1 - F is the sum of all upper tails without
/// its own, divided by n - 1, and the error; for one on the right F is that of all lower tails.
/// own: whether the point is an observation, which does not count at itself.
void add_errors(const ResponseLine& line, double g, bool own, bool gradient,
                const simd::MixedTable& table, StepRoom& room, MixedSums& sums) {
  NearPlaces& near = room.near;
  near.take(g, g, g, &g);
  room.resize();
  Tails sides[2] = {{near.left(), 0, near.split()},
                    {near.right(), near.split(), near.size() - near.split()}};
  for (int s = 0; s < 2; ++s) {
    Tails& side = sides[s];
    double* value = room.value.data() + side.begin;
    double* slope = room.slope.data() + side.begin;
    const double* weight = near.weight() + side.begin;
    near.integrated(0.0, s == 0 ? -1.0 : 1.0, side.begin, side.count, value,
                    gradient ? slope : nullptr);
    side.sum = table.dot(weight, value, side.count);
    if (gradient) side.slope = table.dot(weight, slope, side.count);
  }
  const double* x = line.source().sample().x();
  const auto places_left = static_cast<std::size_t>(std::upper_bound(x, x + line.places(), g) - x);
  const double of_left = static_cast<double>(line.first(places_left));
  const double of_right = static_cast<double>(line.size()) - of_left;
  const double all[2] = {of_right - sides[1].sum + sides[0].sum,
                         of_left - sides[0].sum + sides[1].sum};
  const double slope_of_all[2] = {sides[0].slope - sides[1].slope, sides[1].slope - sides[0].slope};
  // What is at the point is not at nodes.
  if (own) near.weight()[near.split() - 1] -= 1;
  const double others = static_cast<double>(line.size()) - 1, unit = 1 / (others * others);
  for (int s = 0; s < 2; ++s) {
    const Tails& side = sides[s];
    double* error = room.value.data() + side.begin;
    double* slope = room.slope.data() + side.begin;
    const double* weight = near.weight() + side.begin;
    table.offsets(error, all[s], 1.0, error, side.count);
    sums.value +=
        unit * (table.dot3(weight, error, error, side.count) + side.far * all[s] * all[s]);
    if (!gradient) continue;
    table.offsets(slope, slope_of_all[s], 1.0, slope, side.count);
    sums.by[0] +=
        2 * unit *
        (table.dot3(weight, error, slope, side.count) + side.far * all[s] * slope_of_all[s]);
  }
}

MixedCriterion error_at_nodes(const MixedSample& sample, const MixedGrid& grid,
                              const MixedKernel& kernel, bool gradient, const RunOptions& options) {
  const ResponseLine& line = response_line(sample, 0, kernel.h[0], part_of(options.parallel, 0, 0));
  const NodeLevel* level = cells_of_steps(line, kernel, options);
  const MixedSample& points = grid.points == nullptr ? sample : *grid.points;
  const std::size_t m = points.size(), items = (m + kOfGrid - 1) / kOfGrid;
  std::vector<MixedSums> parts(items);
  std::vector<std::unique_ptr<StepRoom>> rooms(parallel_workers(items, options.parallel));
  parallel_for(items, options.parallel, [&](std::size_t item, int worker) {
    auto& room = rooms[static_cast<std::size_t>(worker)];
    if (room == nullptr) room = std::make_unique<StepRoom>(line, kernel, level, *options.table);
    parts[item].by.assign(gradient ? 1 : 0, 0.0);
    for (std::size_t g = item * kOfGrid; g < std::min(m, (item + 1) * kOfGrid); ++g) {
      poll_if_due({});
      add_errors(line, points.x(0)[g], grid.points == nullptr, gradient, *options.table->mixed,
                 *room, parts[item]);
    }
  });
  return mean_of(parts, gradient ? 1 : 0,
                 static_cast<double>(line.size()) * static_cast<double>(m));
}

/// The distribution function at a point, and the sum of the squared differences of its terms from
/// it.
struct StepValue {
  double value, squares;
};

StepValue value_at(double point, double n, const simd::MixedTable& table, StepRoom& room) {
  NearPlaces& near = room.near;
  room.resize();
  double* terms = room.value.data();
  const double* weight = near.weight();
  near.integrated(point, 1.0, 0, near.size(), terms, nullptr);
  const double value = (table.dot(weight, terms, near.size()) + near.left()) / n;
  table.offsets(terms, value, 1.0, terms, near.size());
  const double squares = table.dot3(weight, terms, terms, near.size());
  return {value, squares + near.left() * (1 - value) * (1 - value) + near.right() * value * value};
}

/// Values at the points [begin, end) of a sorted sample.
class StepValues {
 public:
  StepValues(const ResponseLine& line, const SortedSample& points, const NodeLevel* level,
             const simd::Table& table)
      : line_(line), points_(points), level_(level), table_(table) {}

  void take(std::size_t begin, std::size_t end, StepRoom& room, StepValue* to) const {
    while (begin < end) {
      poll_if_due({});
      const std::size_t next = end_of_cell(begin, end);
      take_cell(begin, next, room, to);
      to += next - begin;
      begin = next;
    }
  }

 private:
  double x(std::size_t i) const { return points_.x()[i]; }
  double key(std::size_t i) const { return std::floor(std::ldexp(x(i), -level_->exponent)); }

  std::size_t end_of_cell(std::size_t begin, std::size_t end) const {
    std::size_t next = begin + 1;
    if (level_ != nullptr) {
      while (next < end && key(next) == key(begin)) ++next;
    }
    return next;
  }

  void take_cell(std::size_t begin, std::size_t end, StepRoom& room, StepValue* to) const {
    const double n = static_cast<double>(line_.size());
    const double width = level_ == nullptr ? 0.0 : std::ldexp(1.0, level_->exponent);
    const double low = level_ == nullptr ? x(begin) : key(begin) * width, high = low + width;
    if (level_ == nullptr || room.near.is_far(low, high)) {
      for (std::size_t i = begin; i < end; ++i) {
        room.near.take(x(i), x(i), x(i));
        *to++ = value_at(0.0, n, *table_.mixed, room);
      }
      return;
    }
    const double centre = (key(begin) + 0.5) * width;
    room.near.take(centre, low, high);
    if (end - begin <= kNodes) {
      for (std::size_t i = begin; i < end; ++i) {
        *to++ = value_at(x(i) - centre, n, *table_.mixed, room);
      }
      return;
    }
    interpolate(begin, end, centre, 0.5 * width, room, to);
  }

  /// From the values at the nodes of a cell.
  void interpolate(std::size_t begin, std::size_t end, double centre, double half, StepRoom& room,
                   StepValue* to) const {
    double at_nodes[2 * kNodes], coefficient[2 * kNodes] = {}, t[kOfValues], found[2 * kOfValues];
    for (std::size_t k = 0; k < kNodes; ++k) {
      const StepValue one = value_at(half * node_tables().node[k],
                                     static_cast<double>(line_.size()), *table_.mixed, room);
      at_nodes[k] = one.value;
      at_nodes[kNodes + k] = one.squares;
    }
    for (std::size_t f = 0; f < 2 * kNodes; f += kNodes) {
      table_.nodes->add_product(node_tables().coefficients, at_nodes + f, coefficient + f);
    }
    for (std::size_t i = begin; i < end; ++i) t[i - begin] = (x(i) - centre) / half;
    table_.nodes->interpolate(coefficient, 2, t, end - begin, kOfValues, found);
    for (std::size_t i = 0; i < end - begin; ++i) to[i] = {found[i], found[kOfValues + i]};
  }

  const ResponseLine& line_;
  const SortedSample& points_;
  const NodeLevel* const level_;
  const simd::Table& table_;
};

MixedDensities values_at_nodes(const MixedSample& sample, const MixedSample& points,
                               const MixedKernel& kernel, const RunOptions& options) {
  const ParallelOptions cheap = part_of(options.parallel, 0, 0);
  const ResponseLine& line = response_line(sample, 0, kernel.h[0], cheap);
  const NodeLevel* level = cells_of_steps(line, kernel, options);
  const std::size_t m = points.size(), items = (m + kOfValues - 1) / kOfValues;
  const SortedSample sorted({points.x(0), m}, Weights::ones(m), {}, cheap);
  const StepValues values(line, sorted, level, *options.table);
  const double n = static_cast<double>(line.size());
  MixedDensities found;
  found.density.resize(m);
  found.variance.resize(m);
  std::vector<std::unique_ptr<StepRoom>> rooms(parallel_workers(items, options.parallel));
  parallel_for(items, options.parallel, [&](std::size_t item, int worker) {
    auto& room = rooms[static_cast<std::size_t>(worker)];
    if (room == nullptr) room = std::make_unique<StepRoom>(line, kernel, level, *options.table);
    const std::size_t begin = item * kOfValues, end = std::min(m, begin + kOfValues);
    StepValue here[kOfValues];
    values.take(begin, end, *room, here);
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t to = points.given(sorted.given(i));
      found.density[to] = here[i - begin].value;
      found.variance[to] = std::max(0.0, here[i - begin].squares) / (n * (n - 1));
    }
  });
  return found;
}

}  // namespace

LeaveOneOut distribution_error(const MixedSample& sample, const MixedGrid& grid,
                               const MixedKernel& kernel, bool gradient,
                               const RunOptions& options) {
  check_mixed_kernel(kernel, sample.columns(), sample.factors() + sample.ordered());
  if (steps_on_line(sample, kernel)) {
    return {error_at_nodes(sample, grid, kernel, gradient, options), "nodes"};
  }
  return {mixed_distribution_error(sample, grid, kernel, gradient, options), "direct"};
}

MixedDensities distribution_values(const MixedSample& sample, const MixedSample& points,
                                   const MixedKernel& kernel, const MixedGiven& given,
                                   bool gradients, const RunOptions& options) {
  check_mixed_kernel(kernel, sample.columns(), sample.factors() + sample.ordered());
  if (!gradients && steps_on_line(sample, kernel) && !given[0]) {
    return values_at_nodes(sample, points, kernel, options);
  }
  return mixed_densities(sample, points, kernel, given, gradients, options);
}

}  // namespace kestrel
