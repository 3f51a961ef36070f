#include "core/regression/neighbour_fits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/data/passes.hpp"
#include "core/regression/at_observations.hpp"
#include "core/regression/neighbour_window.hpp"

namespace kestrel {

namespace {

/// Points of a work item: a few milliseconds with thousands of samples. Items poll themselves.
constexpr std::size_t kFitted = 32;

constexpr double kNoFit = std::numeric_limits<double>::quiet_NaN();

std::size_t items_of(std::size_t points) { return (points + kFitted - 1) / kFitted; }

/// What a worker needs.
struct Room {
  std::vector<SampleRange> ranges;
  NeighbourWindow window;
};

/// Calls body(room, item, i) for every one of the points, which ascend. With adaptive_nn the room
/// has the samples that the points of the item may see.
template <class Body>
void each_point(const NeighbourBandwidths& bandwidths, const double* point, std::size_t points,
                const ParallelOptions& options, const Body& body) {
  std::vector<Room> rooms(parallel_workers(items_of(points), options));
  parallel_for(items_of(points), options, [&](std::size_t item, int worker) {
    Room& room = rooms[static_cast<std::size_t>(worker)];
    const std::size_t begin = item * kFitted, end = std::min(points, begin + kFitted);
    if (bandwidths.adaptive()) bandwidths.seen(point[begin], point[end - 1], 0, room.ranges);
    for (std::size_t i = begin; i < end; ++i) {
      poll_if_due({});
      body(room, item, i);
    }
  });
}

/// The leave-one-out fit at an observation, and what follows of it for the fit with it.
struct LeftOut {
  LocalFit fit;
  double own_weight;

  double in_sample() const { return fit.residual_in_sample(own_weight); }
  double leverage() const { return fit.leverage(own_weight); }
  void add_to(FitTotals& totals, double w) const {
    const double inside = in_sample();
    if (fit.supported) {
      totals.squares += w * fit.deviation * fit.deviation;
    } else {
      totals.unsupported += 1;
    }
    totals.in_sample += w * inside * inside;
    totals.trace += leverage();
  }
};

LeftOut left_out(const NeighbourBandwidths& bandwidths, const simd::Table& table, Room& room,
                 std::size_t i) {
  const SortedSample& line = bandwidths.line();
  const double *x = line.x(), *y = line.y(), h = bandwidths.of(i);
  if (!bandwidths.adaptive()) bandwidths.seen(x[i], x[i], h, room.ranges);
  LeftOut found{{}, bandwidths.own_weight(i)};
  if (bandwidths.quick_fit(table, i, room.ranges, found.fit)) return found;
  const bool lines = bandwidths.kernel().local_linear;
  room.window.see(bandwidths, x[i], h, room.ranges, i, false);
  found.fit = room.window.fit(lines, x[i], y[i]);
  found.own_weight = line.w()[i] * room.window.own_weight(bandwidths, h);
  // Padding is infinite.
  const bool alone = x[i] != x[i + 1] && (i == 0 || x[i] != x[i - 1]);
  found.fit.exact = lines && is_exact(alone, room.window.places());
  return found;
}

}  // namespace

CrossValidation neighbour_curve(const SortedSample& line, Span<const double> neighbours,
                                const LocalKernel& kernel, const RunOptions& options) {
  CrossValidation curve;
  const std::size_t n = line.size();
  const ParallelOptions cheap = part_of(options.parallel, 0, 0);
  NeighbourDistances distances(line, cheap);
  for (std::size_t k = 0; k < neighbours.size; ++k) {
    const double share = 1.0 / static_cast<double>(neighbours.size), at = static_cast<double>(k);
    const ParallelOptions part = part_of(options.parallel, at * share, (at + 1) * share);
    LocalKernel one = kernel;
    one.h = neighbours[k];
    const NeighbourBandwidths bandwidths(
        line, one, distances.to(static_cast<std::size_t>(one.h), part_of(part, 0, 0)));
    std::vector<FitTotals> blocks(items_of(n));
    const bool none = !bandwidths.complete();
    if (!none) {
      each_point(bandwidths, line.x(), n, part, [&](Room& room, std::size_t item, std::size_t i) {
        left_out(bandwidths, *options.table, room, i).add_to(blocks[item], line.w()[i]);
      });
    }
    const FitTotals all = totals_of(blocks);
    curve.squares.push_back(none ? kNoFit : all.squares);
    curve.in_sample.push_back(none ? kNoFit : all.in_sample);
    curve.trace.push_back(none ? kNoFit : all.trace);
    curve.unsupported.push_back(none ? n : static_cast<std::size_t>(all.unsupported));
  }
  return curve;
}

FitTotals neighbour_residuals(const SortedSample& line, const LocalKernel& kernel,
                              const Residuals& out, const RunOptions& options) {
  const std::size_t n = line.size();
  const bool errors = out.variance.size > 0, gradients = out.gradient.size > 0;
  const double *x = line.x(), *y = line.y(), *w = line.w();
  const ParallelOptions cheap = part_of(options.parallel, 0, 0);
  const auto k = static_cast<std::size_t>(kernel.h);
  const NeighbourBandwidths bandwidths(line, kernel, NeighbourDistances(line, cheap).to(k, cheap));
  if (!bandwidths.complete()) {
    throw error(ErrorKind::input, "an observation has too few neighbours");
  }
  const RawArray<OfObservation> found(n);
  const RawArray<GradientOfObservation> gradient(gradients ? n : 0);
  std::vector<FitTotals> blocks(items_of(n));
  each_point(bandwidths, x, n, part_of(options.parallel, 0, errors ? 0.5 : 1),
             [&](Room& room, std::size_t item, std::size_t i) {
               const LeftOut without = left_out(bandwidths, *options.table, room, i);
               without.add_to(blocks[item], w[i]);
               found[i].leave_one_out = without.fit.supported ? -without.fit.deviation : kNoFit;
               found[i].in_sample = without.in_sample();
               if (out.leverage.size > 0) out.leverage[line.given(i)] = without.leverage();
             });
  square_errors(found, line, n, cheap);
  if (errors) {
    const RawArray<double> error2(n);
    pass_over(n, cheap, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) error2[i] = found[i].error2;
    });
    each_point(bandwidths, x, n, part_of(options.parallel, 0.5, 1),
               [&](Room& room, std::size_t, std::size_t i) {
                 const double h = bandwidths.of(i);
                 if (!bandwidths.adaptive()) bandwidths.seen(x[i], x[i], h, room.ranges);
                 room.window.see(bandwidths, x[i], h, room.ranges, n, gradients);
                 room.window.fit(kernel.local_linear, x[i], y[i]);
                 found[i].variance = room.window.variance(error2.data());
                 if (!gradients) return;
                 const LocalFitter::Gradient change =
                     room.window.gradient(kernel.local_linear, error2.data());
                 gradient[i] = {change.value, change.variance};
               });
  }
  put_back(places_of_rows(line, n, cheap), n, found, gradient, out, cheap);
  return totals_of(blocks);
}

Fits neighbour_fits(const SortedSample& line, Span<const double> points, Span<const double> error2,
                    const LocalKernel& kernel, const RunOptions& options) {
  const std::size_t n = line.size(), m = points.size;
  const bool wanted = error2.size > 0;
  const ParallelOptions cheap = part_of(options.parallel, 0, 0);
  const SortedSample at(points, {}, {}, cheap);
  const RawArray<double> error2_sorted(error2.size);
  pass_over(error2.size, cheap, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) error2_sorted[j] = error2[line.given(j)];
  });
  Fits result;
  result.mean.assign(m, kNoFit);
  result.variance.assign(wanted ? m : 0, kNoFit);
  result.gradient.assign(kernel.gradient ? m : 0, kNoFit);
  result.gradient_variance.assign(kernel.gradient ? m : 0, kNoFit);
  const auto k = static_cast<std::size_t>(kernel.h);
  const bool adaptive = kernel.type == BandwidthType::adaptive_nn;
  const NeighbourBandwidths bandwidths(
      line, kernel, adaptive ? NeighbourDistances(line, cheap).to(k, cheap) : RawArray<double>());
  if (!bandwidths.complete()) return result;
  each_point(bandwidths, at.x(), m, options.parallel, [&](Room& room, std::size_t, std::size_t i) {
    const double e = at.x()[i];
    double h = 0;
    if (!adaptive) {
      h = kernel.unit * NeighbourWalk(line.x(), n, e).to(k);
      if (std::isnan(h)) return;
      bandwidths.seen(e, e, h, room.ranges);
    }
    room.window.see(bandwidths, e, h, room.ranges, n, kernel.gradient);
    if (room.window.places() == 0) return;
    const double near = room.window.nearby_value();
    const LocalFit fit = room.window.fit(kernel.local_linear, e, near);
    if (!fit.supported) return;
    const std::size_t to = at.given(i);
    result.mean[to] = near + fit.deviation;
    if (wanted) result.variance[to] = room.window.variance(error2_sorted.data());
    if (!kernel.gradient) return;
    const LocalFitter::Gradient change =
        room.window.gradient(kernel.local_linear, error2_sorted.data());
    result.gradient[to] = change.value;
    result.gradient_variance[to] = change.variance;
  });
  return result;
}

}  // namespace kestrel
