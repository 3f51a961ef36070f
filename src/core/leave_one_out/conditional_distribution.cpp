#include "core/leave_one_out/conditional_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/leave_one_out/line_responses.hpp"
#include "core/mixed/mixed_parts.hpp"
#include "core/mixed/mixed_products.hpp"
#include "core/regression/gaussian_call.hpp"
#include "shared/local_fit.hpp"

namespace kestrel {

namespace {

/// Places of a work item with sums.
constexpr std::size_t kOfSums = 512;

/// What a worker has of the places [begin, end) of a work item: sums over all other places.
struct SumsOfPlaces {
  explicit SumsOfPlaces(std::size_t kinds)
      : at_nodes(2 * LineResponses::kPoints * kinds * kNodes),
        by_h(LineResponses::kPoints * kOfSums) {
    sum.resize(LineResponses::kPoints * kinds * kOfSums);
  }

  /// Of kernels, of K(u) u^2, and whether the sums are those of observations in reach.
  double kernels[kOfSums], squares[kOfSums];
  bool supported[kOfSums];
  /// Of K(u) times each function, and of K(u) u^2 times the first ones, kOfSums values each.
  std::vector<double> sum, at_nodes, by_h;
  std::vector<double> weight, slope;
  std::vector<simd::NodePair> pairs;
  std::vector<std::pair<std::size_t, std::size_t>> cells;
};

/// The errors at all observations and some points of the grid.
class Errors {
 public:
  Errors(const ResponseLine& line, const GaussianCall& call, const LineResponses& responses,
         double h, const MixedSample* grid, bool gradient)
      : line_(line),
        call_(call),
        responses_(responses),
        places_(line.source().sample()),
        h_(h),
        grid_(grid),
        gradient_(gradient) {}

  /// Adds those of the places [begin, end) at the points from number `first` on. by: the numbers of
  /// the columns, first that of the given one.
  void add(std::size_t begin, std::size_t end, const double* point, std::size_t first,
           const std::vector<std::size_t>& by, SumsOfPlaces& room, MixedSums& sums) const {
    if (call_.level == nullptr) {
      for (std::size_t p = begin; p < end; ++p) pair_by_pair(p, p - begin, room);
    } else {
      for (std::size_t p = begin; p < end;) p = add_cell(p, begin, end, room);
    }
    const std::size_t points = responses_.points();
    for (std::size_t g = 0; g < points; ++g) {
      add_point(g, points, first + g, point + g * line_.columns(), begin, end, by, room, sums);
    }
    for (std::size_t p = begin; p < end && first == 0; ++p) {
      if (!room.supported[p - begin]) ++sums.unsupported;
    }
  }

 private:
  /// The sums at the places from p on that are in one cell. Returns the first place behind them.
  std::size_t add_cell(std::size_t p, std::size_t begin, std::size_t end, SumsOfPlaces& room) const;
  /// The values at the nodes of the cell that the pairs are about, with matrices that are `further`
  /// on.
  void sum_at_nodes(std::size_t functions, std::size_t further, SumsOfPlaces& room) const;
  void pair_by_pair(std::size_t p, std::size_t at, SumsOfPlaces& room) const;
  void interpolate(const double* at_nodes, std::size_t functions, const double* t,
                   std::size_t count, double* value) const;
  void add_point(std::size_t g, std::size_t points, std::size_t number, const double* point,
                 std::size_t begin, std::size_t end, const std::vector<std::size_t>& by,
                 const SumsOfPlaces& room, MixedSums& sums) const;

  const ResponseLine& line_;
  const GaussianCall& call_;
  const LineResponses& responses_;
  const SortedSample& places_;
  const double h_;
  const MixedSample* const grid_;
  const bool gradient_;
};

void Errors::interpolate(const double* at_nodes, std::size_t functions, const double* t,
                         std::size_t count, double* value) const {
  constexpr std::size_t kTogether = 6;
  for (std::size_t f = 0; f < functions; f += kTogether) {
    const std::size_t some = std::min(kTogether, functions - f);
    double coefficient[kTogether * kNodes] = {};
    for (std::size_t k = 0; k < some; ++k) {
      call_.table.nodes->add_product(node_tables().coefficients, at_nodes + (f + k) * kNodes,
                                     coefficient + k * kNodes);
    }
    call_.table.nodes->interpolate(coefficient, static_cast<int>(some), t, count, kOfSums,
                                   value + f * kOfSums);
  }
}

void Errors::sum_at_nodes(std::size_t functions, std::size_t further, SumsOfPlaces& room) const {
  std::fill(room.at_nodes.begin(), room.at_nodes.end(), 0.0);
  double* parts = room.at_nodes.data() + room.at_nodes.size() / 2;
  for (simd::NodePair& pair : room.pairs) pair.matrix += further;
  for (std::size_t f = 0; f < functions; f += 2) {
    const auto of = [&](std::size_t cell) {
      return cell == call_.level->cells() ? nullptr : responses_.parts(cell) + f * kNodes;
    };
    for (std::size_t k = 0; k < room.pairs.size(); ++k) {
      room.pairs[k].right = of(room.cells[k].first);
      room.pairs[k].left = of(room.cells[k].second);
    }
    call_.table.nodes->add_pairs(room.pairs.data(), room.pairs.size(), f + 1 < functions ? 2 : 1, 1,
                                 0, parts + f * kNodes);
  }
  for (std::size_t f = 0; f < functions; ++f) {
    from_parts(parts + f * kNodes, room.at_nodes.data() + f * kNodes);
  }
}

std::size_t Errors::add_cell(std::size_t p, std::size_t begin, std::size_t end,
                             SumsOfPlaces& room) const {
  const NodeLevel& level = *call_.level;
  const NodeKernel& nodes = *call_.nodes;
  const std::size_t cell =
      static_cast<std::size_t>(std::upper_bound(level.first.begin(), level.first.end(), p) -
                               level.first.begin()) -
      1;
  const double key = level.key[cell];
  const std::size_t last = std::min<std::size_t>(end, level.first[cell + 1]);
  const std::size_t at = p - begin, count = last - p;
  const double* t = responses_.t() + p;
  const CellAtNodes kernels(call_, key, 0.0);
  interpolate(kernels.of(0, 0), 1, t, count, room.kernels + at);
  if (gradient_) interpolate(kernels.of(2, 0), 1, t, count, room.squares + at);
  room.pairs.clear();
  room.cells.clear();
  each_lag(level, key, nodes.lags(), [&](int lag, std::size_t right, std::size_t left) {
    room.pairs.push_back({nodes.matrix(lag), nullptr, nullptr, 0.0, 0.0});
    room.cells.emplace_back(right, left);
  });
  const std::size_t functions = responses_.functions(), points = responses_.points();
  sum_at_nodes(functions, 0, room);
  interpolate(room.at_nodes.data(), functions, t, count, room.sum.data() + at);
  if (gradient_) {
    sum_at_nodes(points, 2 * nodes.stride(), room);
    interpolate(room.at_nodes.data(), points, t, count, room.by_h.data() + at);
  }
  for (std::size_t k = 0; k < count; ++k) {
    const double others = line_.count(p + k) - 1;
    room.kernels[at + k] -= 1 + others;
    room.supported[at + k] = true;
    if (!has_digits(room.kernels[at + k] + others, kernels.bound)) {
      pair_by_pair(p + k, at + k, room);
      continue;
    }
    for (std::size_t f = 0; f < functions; ++f) {
      room.sum[f * kOfSums + at + k] -= responses_.of_places(f)[p + k];
    }
  }
  return last;
}

void Errors::pair_by_pair(std::size_t p, std::size_t at, SumsOfPlaces& room) const {
  poll_if_due({});  // all places may be in reach
  const double* x = places_.x();
  const std::size_t n = places_.size();
  const bool tied = line_.count(p) > 1;
  const double scale = 1 / h_, apart = nearest_neighbour(x, std::size_t{0}, n, p) * scale;
  // Relative to the nearest observation.
  const double nearest = tied ? 0.0 : apart * apart;
  const std::size_t functions = responses_.functions(), points = responses_.points();
  room.supported[at] = nearest < kFarthestMixed * kFarthestMixed;
  room.kernels[at] = room.squares[at] = 0.0;
  for (std::size_t f = 0; f < functions; ++f) room.sum[f * kOfSums + at] = 0.0;
  for (std::size_t g = 0; g < points; ++g) room.by_h[g * kOfSums + at] = 0.0;
  if (!room.supported[at]) return;
  const double reach =
      gaussian_reach(std::sqrt(nearest), line_.source().cut(), HUGE_VAL, 1.0) / scale;
  const std::size_t first = static_cast<std::size_t>(std::lower_bound(x, x + p, x[p] - reach) - x);
  const std::size_t end =
      static_cast<std::size_t>(std::upper_bound(x + p, x + n, x[p] + reach) - x);
  const std::size_t count = end - first;
  room.weight.resize(count);
  room.slope.resize(count);
  double* slope = room.slope.data();
  const simd::MixedProduct product{&x,
                                   x + p,
                                   &scale,
                                   1,
                                   simd::MixedWindow::gaussian,
                                   nullptr,
                                   nullptr,
                                   1,
                                   nearest,
                                   room.weight.data(),
                                   gradient_ ? &slope : nullptr,
                                   false};
  call_.table.mixed->product(product, first, count);
  room.weight[p - first] = 0.0;
  const auto times = [&](const std::vector<double>& weight, const double* value) {
    return call_.table.mixed->dot(weight.data(), value + first, count);
  };
  room.kernels[at] = times(room.weight, places_.w());
  for (std::size_t f = 0; f < functions; ++f) {
    room.sum[f * kOfSums + at] = times(room.weight, responses_.of_places(f));
  }
  if (!gradient_) return;
  room.squares[at] = times(room.slope, places_.w());
  for (std::size_t g = 0; g < points; ++g) {
    room.by_h[g * kOfSums + at] = times(room.slope, responses_.of_places(g));
  }
}

void Errors::add_point(std::size_t g, std::size_t points, std::size_t number, const double* point,
                       std::size_t begin, std::size_t end, const std::vector<std::size_t>& by,
                       const SumsOfPlaces& room, MixedSums& sums) const {
  const double* value = responses_.values(g);
  const double* of_place = responses_.of_places(g);
  double squares = 0, by_h = 0, by_response[simd::kMixedColumns] = {};
  for (std::size_t p = begin; p < end; ++p) {
    const std::size_t at = p - begin;
    const double below = room.sum[g * kOfSums + at] + of_place[p];
    const double kernels = room.kernels[at] + (line_.count(p) - 1);
    for (std::size_t i = line_.first(p); i < line_.first(p + 1); ++i) {
      if (grid_ == nullptr && line_.row(i) == number) continue;
      bool reached = true;
      for (std::size_t c = 0; c < line_.columns(); ++c) {
        reached = reached && line_.column(c)[i] <= point[c];
      }
      if (!room.supported[at]) {
        squares += reached ? 1.0 : 0.0;
        continue;
      }
      const double fit = (below - value[i]) / kernels, error = fit - (reached ? 1.0 : 0.0);
      squares += error * error;
      if (!gradient_) continue;
      by_h += error * (room.by_h[g * kOfSums + at] - fit * room.squares[at]) / kernels;
      for (std::size_t c = 0; c < line_.columns(); ++c) {
        const std::size_t f = (1 + c) * points + g;
        const double slope =
            room.sum[f * kOfSums + at] + (responses_.of_places(f)[p] - responses_.values(f)[i]);
        by_response[c] += error * slope / kernels;
      }
    }
  }
  sums.value += squares;
  if (!gradient_) return;
  sums.by[by[0]] += 2 * by_h;
  for (std::size_t c = 0; c < line_.columns(); ++c) sums.by[by[1 + c]] += 2 * by_response[c];
}

MixedCriterion by_nodes(const MixedSample& sample, const MixedGrid& grid, const MixedKernel& kernel,
                        const MixedGiven& given, bool gradient, const RunOptions& options) {
  const std::size_t x =
      static_cast<std::size_t>(std::find(given.begin(), given.end(), true) - given.begin());
  const double h = std::isinf(kernel.h[x]) ? 1.0 : kernel.h[x];
  const ResponseLine& line = response_line(sample, x, kernel.h[x], part_of(options.parallel, 0, 0));
  const LocalKernel weights{Kernel::gaussian, h, gradient};  // the sums of local lines have s_2
  line.source().prepare_gaussian(h, weights.order, 0.0, options);
  const GaussianCall call(line.source(), line.source().sample(), weights, 1, *options.table);
  std::vector<std::size_t> by{x};
  std::vector<double> of_responses;
  for (std::size_t c = 0; c < given.size(); ++c) {
    if (c == x) continue;
    by.push_back(c);
    of_responses.push_back(kernel.h[c]);
  }
  LineResponses responses(line, kernel, of_responses, gradient, call.level, *options.table);
  const MixedSample& points = grid.points == nullptr ? sample : *grid.points;
  const Errors errors(line, call, responses, h, grid.points, gradient);
  const std::size_t places = line.places(), items = (places + kOfSums - 1) / kOfSums;
  const std::size_t parameters = gradient ? given.size() : 0, m = points.size();
  std::vector<MixedSums> parts(items);
  for (MixedSums& part : parts) part.by.assign(parameters, 0.0);
  std::vector<std::unique_ptr<SumsOfPlaces>> rooms(parallel_workers(items, options.parallel));
  for (std::size_t first = 0; first < m; first += LineResponses::kPoints) {
    const std::size_t end = std::min(m, first + LineResponses::kPoints);
    std::vector<double> at;
    for (std::size_t g = first; g < end; ++g) {
      for (std::size_t c = 1; c < by.size(); ++c) at.push_back(points.x(by[c])[g]);
    }
    const double done = static_cast<double>(first) / static_cast<double>(m);
    const double then = static_cast<double>(end) / static_cast<double>(m);
    const double middle = 0.5 * (done + then);
    responses.take(at.data(), end - first, part_of(options.parallel, done, middle));
    parallel_for(items, part_of(options.parallel, middle, then), [&](std::size_t item, int worker) {
      auto& room = rooms[static_cast<std::size_t>(worker)];
      if (room == nullptr) room = std::make_unique<SumsOfPlaces>(responses.kinds());
      errors.add(item * kOfSums, std::min(places, (item + 1) * kOfSums), at.data(), first, by,
                 *room, parts[item]);
    });
  }
  return mean_of(parts, parameters, static_cast<double>(line.size()) * static_cast<double>(m));
}

bool takes_nodes(const MixedSample& sample, const MixedKernel& kernel, const MixedGiven& given) {
  return kernel.continuous == Kernel::gaussian && kernel.order == 2 &&
         kernel.type == BandwidthType::fixed && sample.factors() + sample.ordered() == 0 &&
         !sample.weighted() && std::count(given.begin(), given.end(), true) == 1 &&
         given.size() > 1;
}

}  // namespace

LeaveOneOut conditional_distribution_error(const MixedSample& sample, const MixedGrid& grid,
                                           const MixedKernel& kernel, const MixedGiven& given,
                                           bool gradient, const RunOptions& options) {
  check_mixed_kernel(kernel, sample.columns(), sample.factors() + sample.ordered());
  if (takes_nodes(sample, kernel, given)) {
    return {by_nodes(sample, grid, kernel, given, gradient, options), "nodes"};
  }
  return {mixed_conditional_distribution_error(sample, grid, kernel, given, gradient, options),
          "direct"};
}

}  // namespace kestrel
