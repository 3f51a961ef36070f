// Kernel regressions of mixed data on the device.
#include <algorithm>
#include <memory>

#include "core/base/parallel.hpp"
#include "core/mixed/mixed_points.hpp"
#include "core/mixed/mixed_totals.hpp"
#include "gpu/mixed_device.hpp"

namespace kestrel {

namespace {

/// Points begin, ..., end - 1 of a piece.
struct Half {
  std::size_t begin, end;
  std::size_t count() const { return end - begin; }
};

}  // namespace

/// The moments of all leave-one-out fits, the fits, and their changes.
void GpuMixed::criterion_sums(const OnDevice& kernel, bool gradient, Fits& fits, double* change,
                              const RunOptions& options) {
  const std::size_t n = sample_.size(), most = piece();
  const std::size_t pieces = (n + most - 1) / most;
  // The host solves for the fits of one half of a piece while the device has the other one.
  const std::size_t half = pieces > 1 ? piece_length(most, 2, kMixedPieceUnit) : n;
  const auto one = [&](std::size_t piece, const DeviceTeam::Turn& turn) {
    give_kernel(kernel, turn);
    const std::size_t first = piece * most, end = std::min(n, first + most);
    const std::size_t middle = std::min(end, first + half);
    const Half halves[2] = {{first, middle}, {middle, end}};
    const double begin_of_poll = turn.poll.begin, share = turn.poll.end - begin_of_poll;
    int steps = 0;
    const auto on_device = [&](const Half& of, int task, const double* given, double* to) {
      const int all = gradient ? 4 : 2;
      turn.poll.begin = begin_of_poll + share * steps / all;
      turn.poll.end = begin_of_poll + share * ++steps / all;
      if (of.count() == 0) return;
      char text[512] = "";
      turn.check(table_.mixed_sums(turn.handle, task, of.begin, of.count(), given, to,
                                   PollState::ask, &turn.poll, text, sizeof text),
                 text);
    };
    const auto moments = [&](const Half& of) {
      on_device(of, KESTREL_GPU_mixed_moments, nullptr, fits.sum());
    };
    const auto changes = [&](const Half& of) {
      if (gradient) on_device(of, KESTREL_GPU_mixed_changes, fits.numbers(), change);
    };
    const auto solve = [&](const Half& of, const std::function<void()>& beside) {
      constexpr std::size_t kStrip = 256;
      const auto strip = [&](std::size_t k) {
        const std::size_t begin = of.begin + k * kStrip;
        fits.solve(begin, std::min(of.end, begin + kStrip), *options.table->mixed);
      };
      turn.host_for((of.count() + kStrip - 1) / kStrip, options.parallel, strip, beside);
    };
    moments(halves[0]);
    solve(halves[0], [&] { moments(halves[1]); });
    solve(halves[1], [&] { changes(halves[0]); });
    changes(halves[1]);
  };
  team_.run(pieces, options.parallel, one, {team_.size(), team_.size() > 1});
}

MixedCriterion GpuMixed::criterion(const MixedKernel& kernel, MixedMethod method, bool gradient,
                                   const RunOptions& options) {
  const std::size_t n = sample_.size(), columns = sample_.columns();
  const std::size_t factors = kernel.lambda.size(), parameters = columns + factors;
  check_mixed_kernel(kernel, columns, factors);
  if (!takes(kernel, options.parallel)) {
    return mixed_criterion(sample_, kernel, method, gradient, options);
  }
  const OnDevice on_device(sample_, sample_, kernel, false, ++kernels_);
  Fits fits(n, local_linear_ ? columns : 0);
  const auto change = room_for(gradient ? 2 * parameters * n : 0);
  criterion_sums(on_device, gradient, fits, change.get(), options);
  const std::vector<MixedItem> items = mixed_items(sample_);
  std::vector<MixedTotals> parts(items.size(), MixedTotals(gradient, columns, factors));
  std::vector<std::unique_ptr<MixedRow>> rows(parallel_workers(items.size(), options.parallel));
  const auto use = gradient ? MixedRow::Use::criterion : MixedRow::Use::fits;
  parallel_for(items.size(), options.parallel, [&](std::size_t number, int worker) {
    const MixedItem& item = items[number];
    const MixedSample::CellWeights& weights = on_device.at_cell(item.cell);
    std::unique_ptr<MixedRow>& row = rows[static_cast<std::size_t>(worker)];
    bool started = false;
    std::vector<double> point(columns);
    MixedFit fit;
    for (std::size_t i = item.begin; i < item.end; ++i) {
      const double w = sample_.w(i);
      if (w == 0) continue;
      if (fits.good(i)) {
        fits.get(i, fit);
        const MixedOwn own{w * weights.own, weights.own_slope.data(), w, w};
        parts[number].add_fit(fit, method, own, [&](std::size_t k) {
          return MixedRow::Change{change[2 * k * n + i], change[(2 * k + 1) * n + i]};
        });
        continue;
      }
      poll_if_due({});
      if (row == nullptr) row = std::make_unique<MixedRow>(sample_, kernel, use, *options.table);
      if (!started) row->start(sample_.codes(item.cell), sample_.positions(item.cell));
      started = true;
      sample_.copy_row(i, point.data());
      add_observation(sample_, i, point.data(), method, gradient, *row, parts[number]);
    }
  });
  MixedTotals all;
  for (const MixedTotals& part : parts) all.add(part);
  return all.criterion(method, sample_.positive());
}

/// The fits of all points.
GpuMixed::Fits GpuMixed::solved(const OnDevice& kernel, const RunOptions& options) {
  Fits fits(at().size(), local_linear_ ? sample_.columns() : 0);
  sums(kernel, KESTREL_GPU_mixed_moments, nullptr, fits.sum(), options);
  fits.solve(options);
  return fits;
}

MixedFits GpuMixed::fits(const MixedKernel& kernel, Span<const double> error2,
                         const RunOptions& options) {
  check_mixed_kernel(kernel, sample_.columns(), kernel.lambda.size());
  const MixedSample& points = at();
  const std::size_t m = points.size();
  if (!takes(kernel, options.parallel)) {
    return mixed_fits(sample_, points, kernel, error2, false, options);
  }
  std::vector<double> e(error2.size);
  for (std::size_t j = 0; j < e.size(); ++j) e[j] = error2[sample_.given(j)];
  const OnDevice on_device(sample_, points, kernel, true, ++kernels_,
                           e.empty() ? nullptr : e.data());
  const Fits fits = solved(on_device, options);
  const auto squares = room_for(e.empty() ? 0 : m);
  if (!e.empty()) {
    sums(on_device, KESTREL_GPU_mixed_squares, fits.for_squares().data(), squares.get(), options);
  }
  const auto good = [&](std::size_t i) { return fits.good(i); };
  const std::vector<char> left = left_to_cpu(points, good);
  MixedFits found;
  found.mean.resize(m);
  found.variance.resize(e.empty() ? 0 : m);
  if (!left.empty()) {
    found = mixed_fits(sample_, points, kernel, error2, false, options, {left.data(), left.size()});
  }
  std::vector<double> point(points.columns());
  for (std::size_t i = 0; i < m; ++i) {
    if (!good(i)) continue;
    const std::size_t to = points.given(i);
    points.copy_row(i, point.data());
    const double reference = points_ == nullptr ? sample_.y(local_linear_)[i] : 0.0;
    found.mean[to] = sample_.base(local_linear_, point.data()) + (reference + fits.level(i));
    if (!e.empty()) found.variance[to] = squares[i];
  }
  return found;
}

MixedResiduals GpuMixed::residuals(const MixedKernel& kernel, const RunOptions& options) {
  check_mixed_kernel(kernel, sample_.columns(), kernel.lambda.size());
  if (!takes(kernel, options.parallel)) return mixed_residuals(sample_, kernel, options);
  const OnDevice on_device(sample_, sample_, kernel, false, ++kernels_);
  const Fits fits = solved(on_device, options);
  const std::vector<char> left = left_to_cpu(sample_, [&](std::size_t i) { return fits.good(i); });
  MixedResiduals found;
  found.deviation.resize(sample_.size());
  found.leverage.resize(sample_.size());
  if (!left.empty()) {
    found = mixed_residuals(sample_, kernel, options, {left.data(), left.size()});
  }
  MixedFit fit;
  for (std::size_t cell = 0; cell < sample_.cells(); ++cell) {
    const double own = on_device.at_cell(cell).own;
    for (std::size_t i = sample_.first(cell); i < sample_.first(cell + 1); ++i) {
      if (!fits.good(i)) continue;
      fits.get(i, fit);
      const std::size_t to = sample_.given(i);
      const double w = sample_.w(i);
      found.deviation[to] = fit.beta[0];
      found.leverage[to] = w > 0 ? with_own(fit, w * own).leverage : 0.0;
    }
  }
  return found;
}

}  // namespace kestrel
