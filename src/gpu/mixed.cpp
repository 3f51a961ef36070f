#include "gpu/mixed.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "core/base/parallel.hpp"
#include "core/data/ends.hpp"
#include "core/mixed/mixed_points.hpp"
#include "core/mixed/mixed_totals.hpp"
#include "gpu/cost.hpp"
#include "gpu/loader.hpp"

namespace kestrel {

namespace {

/// The table of weights has this many cells squared.
constexpr std::size_t kMaxCells = 512;

/// Samples that are more bandwidths apart are left to the CPU.
constexpr double kFarthest = 1e150;

/// Picoseconds of a pair, and seconds of the CPU for a fit. Fits within a quarter to times of an
/// H100 in 2026-11 by tools/gpu-check, n = 10,000 and 50,000: 5.5 to 7.3 ps for 1 to 6 columns
/// (local constant), and 4.3, 6.1, 12 and 15 for 1, 3, 4 and 6 (local linear); 0.17 to 0.5 us.
constexpr double kConstantPs = 5.2, kColumnPs = 0.35, kLinearPs = 4, kLinearColumnsPs = 0.3;
constexpr double kFitSeconds = 2e-7;

/// Samples of a piece are a multiple of the threads of a block.
constexpr std::size_t kPieceUnit = 128;

/// Why the device does not take them, "" if it does.
std::string objection(const MixedSample& sample, const MixedKernel& kernel) {
  const auto at_most = [](std::size_t most, const char* what) {
    return "there must be at most " + std::to_string(most) + " " + what;
  };
  if (sample.columns() == 0) return "there must be a numeric regressor";
  if (sample.weighted()) return "there must be no weights";
  if (kernel.type != BandwidthType::fixed) return "bandwidths must be fixed";
  if (sample.columns() > KESTREL_GPU_MIXED_COLUMNS) {
    return at_most(KESTREL_GPU_MIXED_COLUMNS, "numeric regressors");
  }
  if (sample.factors() + sample.ordered() > KESTREL_GPU_MIXED_FACTORS) {
    return at_most(KESTREL_GPU_MIXED_FACTORS, "factors");
  }
  if (sample.cells() > kMaxCells) return at_most(kMaxCells, "combinations of levels");
  if (kernel.continuous != Kernel::gaussian || kernel.order != 2) {
    return "the kernel must be Gaussian, of order 2";
  }
  return "";
}

void check_suited(const MixedSample& sample, const MixedKernel& kernel) {
  const std::string problem = objection(sample, kernel);
  if (!problem.empty()) throw gpu_error(GpuProblem::unsuited, problem);
}

/// Room for numbers that the devices write: not cleared first.
std::unique_ptr<double[]> room_for(std::size_t numbers) {
  return std::unique_ptr<double[]>(new double[numbers]);
}

/// The leave-one-out fits at all samples, as numbers: fits with vectors of their own would take
/// longer to make and to free, on one thread, than to solve.
class LeftOut {
 public:
  LeftOut(std::size_t n, std::size_t columns)
      : columns_(columns),
        plane_(columns + 1),
        good_(n),
        sum_(room_for(n * MixedPlane::number_of_sums(columns))),
        numbers_(room_for(2 * plane_ * n)) {}

  /// What mixed_moments() writes, and what mixed_changes() takes.
  double* sum() { return sum_.get(); }
  const double* numbers() const { return numbers_.get(); }

  /// Solves for the fits at samples `begin` to end - 1, whose sums are there.
  void solve(std::size_t begin, std::size_t end, const simd::MixedTable& table) {
    const std::size_t n = good_.size(), count = MixedPlane::number_of_sums(columns_);
    MixedPlane to_solve(columns_, true, table);
    std::vector<double> sums(count);
    MixedFit fit;
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t s = 0; s < count; ++s) sums[s] = sum_[s * n + i];
      fit.supported = true;
      fit.beta.resize(plane_);
      fit.weight.resize(plane_);
      const bool good =
          sums[0] >= kLeastMixedSum && to_solve.solve_sums(sums.data(), fit) && !fit.ridged;
      good_[i] = good ? 1 : 0;
      for (std::size_t k = 0; k < plane_; ++k) {
        numbers_[k * n + i] = good ? fit.weight[k] : 0.0;
        numbers_[(plane_ + k) * n + i] = good ? fit.beta[k] : 0.0;
      }
    }
  }

  /// Whether there is such a fit; else it is to be made on the CPU.
  bool good(std::size_t i) const { return good_[i] != 0; }
  void get(std::size_t i, MixedFit& fit) const {
    const std::size_t n = good_.size();
    fit.supported = true;
    fit.weight.resize(plane_);
    fit.beta.resize(plane_);
    for (std::size_t k = 0; k < plane_; ++k) {
      fit.weight[k] = numbers_[k * n + i];
      fit.beta[k] = numbers_[(plane_ + k) * n + i];
    }
  }

 private:
  const std::size_t columns_, plane_;
  std::vector<char> good_;
  std::unique_ptr<double[]> sum_, numbers_;
};

/// Samples begin, ..., end - 1.
struct Samples {
  std::size_t begin, end;
  std::size_t count() const { return end - begin; }
};

/// Whether the squares of distances in bandwidths are finite: the device multiplies them by
/// weights.
bool squares_are_finite(const MixedSample& sample, const MixedKernel& kernel,
                        const ParallelOptions& options) {
  std::vector<Span<const double>> columns;
  for (std::size_t c = 0; c < sample.columns(); ++c) {
    columns.push_back({sample.x(c), sample.size()});
  }
  const std::vector<Ends> ends = ends_of(columns, options);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!((ends[c].largest - ends[c].least) / kernel.h[c] < kFarthest)) return false;
  }
  return true;
}

}  // namespace

bool gpu_takes_mixed(const MixedSample& sample, const MixedKernel& kernel) {
  return objection(sample, kernel).empty();
}

double gpu_mixed_seconds(const MixedSample& sample, const MixedKernel& kernel,
                         const kestrel_gpu_device& device) {
  const double n = static_cast<double>(sample.size()), p = static_cast<double>(sample.columns());
  const double picoseconds =
      kernel.local_linear ? kLinearPs + kLinearColumnsPs * p * p : kConstantPs + kColumnPs * p;
  return 1e-12 * n * n * picoseconds * gpu_slowness(device, false) + kFitSeconds * n;
}

GpuMixed::GpuMixed(const MixedSample& sample, const MixedKernel& kernel)
    : sample_(sample),
      local_linear_(kernel.local_linear),
      table_(gpu_table()),
      team_([this](int device, const void* from) { return open(device, from); },
            table_.mixed_close) {
  check_suited(sample, kernel);
}

void* GpuMixed::open(int device, const void* from) const {
  const std::size_t n = sample_.size(), columns = sample_.columns();
  std::vector<double> unit(columns);
  for (std::size_t c = 0; c < columns; ++c) unit[c] = sample_.unit(c);
  std::vector<unsigned> first(sample_.cells() + 1);
  for (std::size_t cell = 0; cell < first.size(); ++cell) {
    first[cell] = static_cast<unsigned>(sample_.first(cell));
  }
  kestrel_gpu_mixed request{};
  request.linear = local_linear_ ? 1 : 0;
  request.columns = static_cast<int>(columns);
  request.factors = static_cast<int>(sample_.factors() + sample_.ordered());
  request.n = n;
  request.x = sample_.x(0);  // one column after the other
  request.y = sample_.y(local_linear_);
  request.unit = unit.data();
  request.cells = sample_.cells();
  request.first = first.data();
  void* mixed = nullptr;
  char text[512] = "";
  check_gpu(table_.mixed_open(device, &request, from, &mixed, text, sizeof text), text);
  return mixed;
}

void GpuMixed::take_weights(const MixedKernel& kernel) {
  const std::size_t cells = sample_.cells(), all = kernel.lambda.size();
  weight_.resize(cells * cells * (all + 1));
  at_cell_.resize(cells);
  for (std::size_t at = 0; at < cells; ++at) {
    at_cell_[at] = sample_.weights(kernel, {sample_.codes(at), sample_.positions(at)});
    const MixedSample::CellWeights& weights = at_cell_[at];
    for (std::size_t cell = 0; cell < cells; ++cell) {
      weight_[cell * cells + at] = weights.value[cell];
      for (std::size_t k = 0; k < all; ++k) {
        weight_[((k + 1) * cells + cell) * cells + at] = weights.slope[k * cells + cell];
      }
    }
  }
}

MixedCriterion GpuMixed::criterion(const MixedKernel& kernel, MixedMethod method, bool gradient,
                                   const RunOptions& options) {
  const std::size_t n = sample_.size(), columns = sample_.columns();
  const std::size_t factors = kernel.lambda.size(), parameters = columns + factors;
  check_mixed_kernel(kernel, columns, factors);
  check_suited(sample_, kernel);
  if (!squares_are_finite(sample_, kernel, options.parallel)) {
    return mixed_criterion(sample_, kernel, method, gradient, options);
  }
  take_weights(kernel);
  const kestrel_gpu_mixed_kernel request{kernel.h.data(), weight_.data()};
  std::vector<char> has_kernel(team_.size());
  const double pairs = static_cast<double>(n) * static_cast<double>(n);
  // A search has many criteria, so that pieces half as long as others pay.
  const std::size_t most = piece_length(n, piece_count(2e-12 * kConstantPs * pairs), kPieceUnit);
  const std::size_t pieces = (n + most - 1) / most;
  // The host solves for the fits of one half of a piece while the device has the other one.
  const std::size_t half = pieces > 1 ? piece_length(most, 2, kPieceUnit) : n;
  LeftOut fits(n, local_linear_ ? columns : 0);
  const auto change = room_for(gradient ? 2 * parameters * n : 0);
  const auto one = [&](std::size_t piece, const DeviceTeam::Turn& turn) {
    char text[512] = "";
    if (has_kernel[turn.place] == 0) {
      turn.check(table_.mixed_kernel(turn.handle, &request, text, sizeof text), text);
      has_kernel[turn.place] = 1;
    }
    const std::size_t first = piece * most, end = std::min(n, first + most);
    const std::size_t middle = std::min(end, first + half);
    const Samples halves[2] = {{first, middle}, {middle, end}};
    const double begin_of_poll = turn.poll.begin, share = turn.poll.end - begin_of_poll;
    int steps = 0;
    const auto on_device = [&](const Samples& of, const auto& call) {
      const int all = gradient ? 4 : 2;
      turn.poll.begin = begin_of_poll + share * steps / all;
      turn.poll.end = begin_of_poll + share * ++steps / all;
      if (of.count() > 0) turn.check(call(of.begin, of.count()), text);
    };
    const auto moments = [&](const Samples& of) {
      on_device(of, [&](std::size_t at, std::size_t count) {
        return table_.mixed_moments(turn.handle, at, count, fits.sum(), PollState::ask, &turn.poll,
                                    text, sizeof text);
      });
    };
    const auto changes = [&](const Samples& of) {
      if (!gradient) return;
      on_device(of, [&](std::size_t at, std::size_t count) {
        return table_.mixed_changes(turn.handle, at, count, fits.numbers(), change.get(),
                                    PollState::ask, &turn.poll, text, sizeof text);
      });
    };
    const auto solve = [&](const Samples& of, const std::function<void()>& beside) {
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
  const std::vector<MixedItem> items = mixed_items(sample_);
  std::vector<MixedTotals> parts(items.size(), MixedTotals(gradient, columns, factors));
  std::vector<std::unique_ptr<MixedRow>> rows(parallel_workers(items.size(), options.parallel));
  const auto use = gradient ? MixedRow::Use::criterion : MixedRow::Use::fits;
  parallel_for(items.size(), options.parallel, [&](std::size_t number, int worker) {
    const MixedItem& item = items[number];
    const MixedSample::CellWeights& weights = at_cell_[item.cell];
    const MixedOwn own{weights.own, weights.own_slope.data()};
    std::unique_ptr<MixedRow>& row = rows[static_cast<std::size_t>(worker)];
    bool started = false;
    std::vector<double> point(columns);
    MixedFit fit;
    for (std::size_t i = item.begin; i < item.end; ++i) {
      if (fits.good(i)) {
        fits.get(i, fit);
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
  return all.criterion(method, n);
}

}  // namespace kestrel
