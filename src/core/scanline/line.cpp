#include "core/scanline/line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/whole.hpp"
#include "core/scanline/sample.hpp"

namespace kestrel {

namespace {

/// Points of one work item.
constexpr std::size_t kBlock = std::size_t{1} << 13;
/// Rows of up to this many points are taken even if there are fewer samples.
constexpr std::size_t kShort = std::size_t{1} << 17;
constexpr std::size_t kBytesOfThread = std::size_t{1} << 21;
/// The maximum effect, relative to a kernel's peak, that the shift of a point may have.
constexpr double kMaxEffect = 1e-13;
/// Limbs per point, and the cells that events use after the last point.
constexpr std::size_t kLimbs = 2, kBehind = 3;

using Cells = std::unique_ptr<std::uint64_t[]>;

/// parallel_for over pieces of `all`; calls body(begin, end, worker).
template <class Body>
void for_pieces(std::size_t all, std::size_t size, const ParallelOptions& options,
                const Body& body) {
  if (all <= size) return body(std::size_t{0}, all, 0);
  parallel_for(pieces(all, size), options, [&](std::size_t piece, int worker) {
    body(piece * size, std::min(all, (piece + 1) * size), worker);
  });
}

/// The running sums after `count` points, from those before them and the sums of these points
/// alone.
simd::ScanlineLineSums join(const simd::ScanlineLineSums& before, const simd::ScanlineLineSums& own,
                            std::uint64_t count) {
  simd::ScanlineLineSums sums = own;
  for (std::size_t limb = 0; limb < kLimbs; ++limb) {
    const std::uint64_t first = before.sum[0][limb], second = before.sum[1][limb];
    sums.sum[0][limb] += first;
    sums.sum[1][limb] += second + count * first;
    sums.sum[2][limb] += before.sum[2][limb] + count * second + count * (count + 1) / 2 * first;
  }
  return sums;
}

/// Turns the samples of a grid of one axis into events.
class LineSamples {
 public:
  LineSamples(const ScanlineGeometry& geometry, const MatrixView& x, Weights w,
              const RunOptions& options)
      : geometry_(geometry),
        x_(x),
        w_(w),
        ones_(w.absent() ? std::min(x.rows, kSamplesOfItem) : 0, 1.0),
        options_(options),
        leaf_(*options.table->line),
        histogram_(geometry),
        points_(geometry.count(geometry.axes() - 1)) {
    form_.axis = geometry.line_axis();
    form_.cells = histogram_.line_cells();
    form_.points = static_cast<double>(points_);
    form_.square = geometry.radius() * geometry.radius();
    form_.reach = form_.square > 0 ? std::sqrt(form_.square) : -1;
  }

  /// Returns whether any sample matters; if so, bounds the samples that are active at one point.
  bool measure(ScanlineActive* active);
  int weight_exponent() const { return weight_exponent_; }
  double common_weight() const { return common_weight_; }
  /// Whether the weights of the samples that matter are whole numbers of units of 2^-unit.
  bool whole(int unit);
  /// The cells of the row, with the events of all samples.
  Cells events(const ScanlineScale& scale);

 private:
  std::vector<std::uint64_t> weigh_cells(const std::vector<std::uint32_t>& samples);
  void set_unit(int unit) {
    const PowerOfTwo power(unit - weight_exponent_);
    form_.weight_factor = power.half();
    form_.weight_power = power.rest();
  }
  std::size_t workers() const {
    return parallel_workers(pieces(x_.rows, kSamplesOfItem), options_.parallel);
  }
  template <class Body>
  void for_samples(const ParallelOptions& options, const Body& body) {
    for_pieces(x_.rows, kSamplesOfItem, options,
               [&](std::size_t begin, std::size_t end, int worker) {
                 const double* w = w_.absent() ? ones_.data() : w_.data + begin;
                 body(x_.data + begin, w, end - begin, static_cast<std::size_t>(worker));
               });
  }

  const ScanlineGeometry& geometry_;
  const MatrixView& x_;
  const Weights w_;
  const std::vector<double> ones_;  // of the samples of a piece, if weights are absent
  const RunOptions& options_;
  const simd::ScanlineLineTable& leaf_;
  ScanlineHistogram histogram_;
  const std::size_t points_;
  simd::ScanlineLineForm form_{};
  int weight_exponent_ = 0;
  double common_weight_ = 1;
};

bool LineSamples::measure(ScanlineActive* active) {
  const double none = std::numeric_limits<double>::infinity();
  const std::size_t cells = whole_number<std::size_t>(form_.cells.cells) + 1;
  std::vector<simd::ScanlineLineSeen> seen(workers(), {0, none, none, 0, 0});
  std::vector<std::vector<std::uint32_t>> samples(workers());
  for_samples(options_.parallel,
              [&](const double* x, const double* w, std::size_t count, std::size_t worker) {
                samples[worker].resize(cells);
                leaf_.measure(form_, x, w, count, &seen[worker], samples[worker].data());
                if (seen[worker].not_finite == 0 && seen[worker].min >= 0) return;
                const std::size_t begin = static_cast<std::size_t>(x - x_.data);
                check_samples(x_, w_, begin, begin + count);
              });
  simd::ScanlineLineSeen all = seen[0];
  samples[0].resize(cells);
  for (std::size_t worker = 1; worker < workers(); ++worker) {
    all.min_positive = std::min(all.min_positive, seen[worker].min_positive);
    all.largest = std::max(all.largest, seen[worker].largest);
    all.largest_near = std::max(all.largest_near, seen[worker].largest_near);
    for (std::size_t c = 0; c < samples[worker].size(); ++c) samples[0][c] += samples[worker][c];
  }
  samples[0].pop_back();
  if (all.largest_near == 0) return false;
  form_.alike = all.largest == all.min_positive;
  if (form_.alike) common_weight_ = all.largest;
  std::frexp(form_.alike ? 1.0 : all.largest_near, &weight_exponent_);
  const std::vector<std::uint64_t> weight = weigh_cells(samples[0]);
  histogram_.add_line({samples[0].data(), cells - 1}, {weight.data(), cells - 1});
  *active = histogram_.max_active();
  return true;
}

/// The sum of the weights in each cell of the histogram.
std::vector<std::uint64_t> LineSamples::weigh_cells(const std::vector<std::uint32_t>& samples) {
  std::vector<std::uint64_t> weight(samples.begin(), samples.end());
  if (form_.alike) {
    const double units = PowerOfTwo(-weight_exponent_).times(1) * ScanlineHistogram::kWeightUnit;
    for (std::uint64_t& w : weight) w *= whole_number<std::uint64_t>(units) + 1;
    return weight;
  }
  set_unit(std::ilogb(ScanlineHistogram::kWeightUnit));
  std::vector<std::vector<std::uint64_t>> own(workers());
  for_samples(options_.parallel,
              [&](const double* x, const double* w, std::size_t count, std::size_t worker) {
                own[worker].resize(samples.size() + 1);
                leaf_.weigh(form_, x, w, count, own[worker].data());
              });
  std::fill(weight.begin(), weight.end(), 0);
  for (const std::vector<std::uint64_t>& of_worker : own) {
    if (of_worker.empty()) continue;
    for (std::size_t c = 0; c < weight.size(); ++c) weight[c] += of_worker[c];
  }
  return weight;
}

bool LineSamples::whole(int unit) {
  set_unit(unit);
  if (form_.alike) return unit >= weight_exponent_;
  std::vector<char> fraction(workers(), 0);
  for_samples(options_.parallel,
              [&](const double* x, const double* w, std::size_t count, std::size_t worker) {
                // One fraction is enough.
                if (fraction[worker] == 0) fraction[worker] = !leaf_.whole(form_, x, w, count);
              });
  return std::find(fraction.begin(), fraction.end(), 1) == fraction.end();
}

Cells LineSamples::events(const ScanlineScale& scale) {
  set_unit(scale.unit);
  form_.limb_scale = std::ldexp(1.0, scale.step);
  const std::size_t values = kLimbs * (points_ + kBehind);
  const std::size_t room = x_.rows * sizeof(double) + workers() * kBytesOfThread;
  const std::size_t max = std::max<std::size_t>(1, room / (values * sizeof(std::uint64_t)));
  std::vector<Cells> cells(std::min(workers(), max));
  ParallelOptions options = options_.parallel;
  options.threads = static_cast<int>(cells.size());
  for_samples(options,
              [&](const double* x, const double* w, std::size_t count, std::size_t worker) {
                if (!cells[worker]) cells[worker] = Cells(new std::uint64_t[values]());
                leaf_.add_events(form_, x, w, count, cells[worker].get());
              });
  for (Cells& own : cells) {
    if (own && !cells[0]) cells[0].swap(own);
  }
  for_pieces(values, kLimbs * kBlock, options_.parallel,
             [&](std::size_t begin, std::size_t end, int) {
               for (std::size_t worker = 1; worker < cells.size(); ++worker) {
                 if (!cells[worker]) continue;
                 const std::uint64_t* others = cells[worker].get();
                 for (std::size_t i = begin; i < end; ++i) cells[0][i] += others[i];
               }
             });
  return std::move(cells[0]);
}

}  // namespace

std::unique_ptr<const ScanlineLine> ScanlineLine::make(const ScanlineGeometry& geometry,
                                                       const MatrixView& x, Weights w,
                                                       const ScanlineTask& task,
                                                       const RunOptions& options) {
  const std::size_t points = geometry.count(geometry.axes() - 1);
  check_sample_count(x, w);
  if (!geometry.line() || points > std::max(x.rows, kShort)) return nullptr;
  if (task.method != ScanlineMethod::events || (task.limbs != 0 && task.limbs != 2)) return nullptr;
  // Third differences cannot correct for the shifts of points, since they do not keep slopes.
  if (2 * geometry.max_shift(geometry.axes() - 1) > kMaxEffect * geometry.radius()) return nullptr;
  std::unique_ptr<ScanlineLine> line(new ScanlineLine(points));
  LineSamples samples(geometry, x, w, options);
  ScanlineActive active;
  line->empty_ = !samples.measure(&active);
  if (line->empty_) return line;
  line->weight_exponent_ = samples.weight_exponent();
  line->common_weight_ = samples.common_weight();
  const ScanlineTask any{task.choice, task.method, 0};
  const int unit = choose_scale(geometry, active, points, any).unit;
  if (samples.whole(unit)) active.finest = -unit;
  line->scale_ = choose_scale(geometry, active, points, any);
  if (line->scale_.limbs > 2) return nullptr;
  line->cells_ = samples.events(line->scale_);
  const simd::ScanlineLineTable& leaf = *options.table->line;
  std::vector<simd::ScanlineLineSums>& before = line->before_;
  before.assign(pieces(points, kBlock) + 1, {});
  for_pieces(points, kBlock, options.parallel, [&](std::size_t begin, std::size_t end, int) {
    leaf.skip(line->cells_.get() + kLimbs * begin, end - begin, &before[begin / kBlock + 1]);
  });
  for (std::size_t block = 1; block < before.size(); ++block) {
    before[block] = join(before[block - 1], before[block], kBlock);
  }
  return line;
}

void ScanlineLine::write(std::size_t first, std::size_t count, const simd::ScanlineOutput& output,
                         const RunOptions& options) const {
  const simd::ScanlineLineTable& leaf = *options.table->line;
  const std::size_t block = first / kBlock * kBlock;
  for_pieces(first + count - block, kBlock, options.parallel,
             [&](std::size_t begin, std::size_t end, int) {
               std::size_t from = block + begin;
               simd::ScanlineLineSums sums = before_[from / kBlock];
               const std::size_t wanted = std::max(first, from);
               leaf.skip(cells_.get() + kLimbs * from, wanted - from, &sums);
               simd::ScanlineOutput to = output;
               to.out += wanted - first;
               leaf.scan(cells_.get() + kLimbs * wanted, block + end - wanted, &sums, &to);
               if (to.largest[0] <= scale_.first_bound && to.largest[1] <= scale_.other_bound) {
                 return;
               }
               throw error(ErrorKind::internal, "sums of runs beyond their bound");
             });
}

}  // namespace kestrel
