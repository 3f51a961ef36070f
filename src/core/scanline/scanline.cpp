#include "core/scanline/scanline.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/kernel/kernel.hpp"
#include "core/scanline/geometry.hpp"
#include "core/scanline/sample.hpp"
#include "core/scanline/scale.hpp"
#include "core/scanline/tiles.hpp"

namespace kestrel {

namespace {

/// With fewer tiles than this per thread, threads share tiles instead, kSharedSamples samples at a
/// time.
constexpr std::size_t kEnoughTiles = 4;
constexpr std::size_t kSharedSamples = std::size_t{1} << 12;
/// Samples of a tile between two polls: some milliseconds, since each crosses several rows.
constexpr std::size_t kPolledSamples = std::size_t{1} << 15;
/// From this radius on (half the length of the longest run, in steps) events are faster. Time by
/// rows divided by that by events, with 1, 2 and 4 steps: 1.05, 1.19, 1.43 for d = 2 and 0.90,
/// 1.01, 1.25 for d = 3 (AVX-512; with AVX2 0.93, 1.12, 1.14 and 0.78, 0.86, 1.05).
constexpr double kShortRadius = 2;

/// The fraction of the time that progress reports for sorting.
constexpr double kSortingShare = 0.2;

/// The number of points on all axes but the last.
std::size_t points_of_slice(const MatrixView& x, Span<const RegularAxis> axes,
                            const ScanlineSettings& settings) {
  if (axes.size == 0 || axes.size != x.cols) {
    throw error(ErrorKind::input, "samples have " + std::to_string(x.cols) +
                                      " variables but the grid " + std::to_string(axes.size) +
                                      " axes");
  }
  if (settings.limbs < 0 || settings.limbs == 3 || settings.limbs > 4) {
    throw error(ErrorKind::internal, "a number of limbs there is not");
  }
  std::size_t points = 1;
  for (std::size_t k = 0; k + 1 < axes.size; ++k) points *= axes[k].count;
  return points;
}

/// Whether the kernel is a quadratic along a row. In one dimension a product kernel is radial.
bool is_quadratic(const ScanlineGeometry& geometry, const KernelChoice& choice) {
  return choice.kernel == Kernel::epanechnikov &&
         (choice.type == KernelType::radial || geometry.line());
}

ScanlineTask task_for(const ScanlineGeometry& geometry, const KernelChoice& choice,
                      const ScanlineSettings& settings) {
  const ScanlineMethod best = scanline_method(geometry, choice);
  const ScanlineMethod method = settings.method == ScanlineMethod::best ? best : settings.method;
  if (method == ScanlineMethod::events && !is_quadratic(geometry, choice)) {
    throw error(ErrorKind::internal, "events of such a kernel");
  }
  return {choice, method, settings.limbs};
}

/// Values of a cell.
std::size_t cell_values(const ScanlineTask& task, int limbs) {
  return static_cast<std::size_t>(limbs) *
         (task.method == ScanlineMethod::rows ? 1 : simd::kScanlineLimbLanes);
}

/// Cells aligned to 64 bytes, all zero, and other memory that a thread needs to fill them.
class Workspace {
 public:
  void prepare(std::size_t values) {
    if (!storage_.empty()) return;
    storage_.assign(values + simd::kLanes, 0);
    const std::size_t off = reinterpret_cast<std::uintptr_t>(storage_.data()) / 8 % 8;
    cells_ = storage_.data() + (8 - off) % 8;
    list_ = std::make_unique<simd::ScanlineList>();
    list_->count = 0;
  }
  bool ready() const { return cells_ != nullptr; }
  std::uint64_t* cells() { return cells_; }
  simd::ScanlineList* list() { return list_.get(); }
  std::vector<simd::ScanlineRange>& ranges() { return ranges_; }

 private:
  std::vector<std::uint64_t> storage_;
  std::uint64_t* cells_ = nullptr;
  std::unique_ptr<simd::ScanlineList> list_;
  std::vector<simd::ScanlineRange> ranges_;
};

simd::ScanlineForm form_of(const ScanlineGeometry& geometry, const ScanlineTask& task,
                           const ScanlineScale& scale) {
  simd::ScanlineForm form{};
  form.kernel = task.choice.kernel;
  form.nest = !geometry.product()         ? simd::ScanlineNest::ellipsoid
              : is_indicator(form.kernel) ? simd::ScanlineNest::box
                                          : simd::ScanlineNest::product;
  form.axes = static_cast<int>(geometry.axes());
  form.line = geometry.line();
  for (std::size_t i = 0; i < geometry.axes(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) form.slope[i][j] = geometry.slope(i, j);
    form.inverse[i] = 1 / geometry.slope(i, i);
  }
  form.room = 1;
  if (task.method == ScanlineMethod::rows) {
    form.room = 1 + simd::kRim;
    // A few roundings of 2^-53 of a centre each.
    double farthest = 1;
    for (std::size_t j = 0; j < geometry.axes(); ++j) {
      farthest += std::fabs(geometry.slope(geometry.axes() - 1, j));
    }
    form.slack = std::ldexp(farthest, -50) + geometry.max_shift(geometry.axes() - 1);
  }
  form.limb_scale = std::ldexp(1.0, scale.step);
  form.limbs = scale.limbs;
  form.row_shift = geometry.max_shift(geometry.axes() - 2);
  form.run_shift = geometry.max_shift(geometry.axes() - 1);
  return form;
}

/// One call of slab().
class ScanlineSlab {
 public:
  ScanlineSlab(const ScanlineGeometry& geometry, const ScanlineTiles& tiles,
               const ScanlineSample& sample, const ScanlineTask& task,
               const simd::ScanlineData& data, const simd::ScanlineOutput& output,
               std::size_t before, const RunOptions& options)
      : geometry_(geometry),
        tiles_(tiles),
        samples_(sample),
        output_(output),
        before_(before),
        options_(options),
        data_(data),
        form_(form_of(geometry, task, sample.scale())),
        leaf_samples_(sample.leaf()),
        leaf_(task.method == ScanlineMethod::rows ? options.table->scanline->rows
                                                  : options.table->scanline->events),
        values_(tiles.cells() * cell_values(task, form_.limbs)),
        workers_(static_cast<std::size_t>(parallel_threads(options.parallel))) {
    if (is_indicator(form_.kernel)) form_.data = &data_;
  }

  void run() {
    const bool few = tiles_.count() < kEnoughTiles * workers_.size();
    if (workers_.size() > 1 && few && samples_.size() > kSharedSamples) {
      const double all = static_cast<double>(tiles_.count());
      for (std::size_t tile = 0; tile < tiles_.count(); ++tile) {
        const double before = static_cast<double>(tile);
        share_tile(tile, part_of(options_.parallel, before / all, (before + 1) / all));
      }
      return;
    }
    parallel_for(tiles_.count(), options_.parallel, [&](std::size_t tile, int worker) {
      Workspace& own = workers_[static_cast<std::size_t>(worker)];
      own.prepare(values_);
      const ScanlineBox box = tiles_.box(tile);
      samples_.find(box, &own.ranges());
      if (own.ranges().empty()) return write_zeros(box);
      add_in_parts(box, &own);
      write(box, &own);
    });
  }

 private:
  void add(const ScanlineBox& box, const simd::ScanlineRange* ranges, std::size_t count,
           Workspace* own) {
    leaf_.add(form_, leaf_samples_, ranges, count, tiles_.leaf(box, own->cells()), own->list());
  }

  /// Adds all samples of a tile, of which there may be very many, in parts. The order does not
  /// matter, since integers are added.
  void add_in_parts(const ScanlineBox& box, Workspace* own) {
    const std::vector<simd::ScanlineRange> chunks = chunks_of(own->ranges());
    std::size_t begin = 0, samples = 0;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      samples += chunks[i].end - chunks[i].begin;
      if (samples < kPolledSamples && i + 1 < chunks.size()) continue;
      poll_if_due(options_.parallel);
      add(box, &chunks[begin], i + 1 - begin, own);
      begin = i + 1;
      samples = 0;
    }
  }

  static std::vector<simd::ScanlineRange> chunks_of(
      const std::vector<simd::ScanlineRange>& ranges) {
    std::vector<simd::ScanlineRange> chunks;
    for (const simd::ScanlineRange& range : ranges) {
      for (std::size_t begin = range.begin; begin < range.end; begin += kSharedSamples) {
        chunks.push_back({begin, std::min(range.end, begin + kSharedSamples)});
      }
    }
    return chunks;
  }

  void write(const ScanlineBox& box, Workspace* own) const {
    simd::ScanlineOutput output = output_;
    output.out += tiles_.first_point(box) - before_;
    leaf_.write(form_.limbs, tiles_.leaf(box, own->cells()), &output);
    const ScanlineScale& scale = samples_.scale();
    if (output.largest[0] <= scale.first_bound && output.largest[1] <= scale.other_bound) return;
    throw error(ErrorKind::internal, "sums of runs beyond their bound");
  }

  void write_zeros(const ScanlineBox& box) const {
    const std::size_t row = geometry_.axes() - 2, run = row + 1;
    const bool along = output_.run_stride == 1;
    const std::size_t inner = along ? run : row, outer = along ? row : run;
    const std::size_t stride = geometry_.stride(outer);
    double* out = output_.out + (tiles_.first_point(box) - before_);
    for (std::size_t i = box.first[outer]; i <= box.last[outer]; ++i, out += stride) {
      std::fill(out, out + (box.last[inner] - box.first[inner] + 1), 0.0);
    }
  }

  /// Each thread adds some of the samples to cells of its own.
  void share_tile(std::size_t tile, const ParallelOptions& options) {
    const ScanlineBox box = tiles_.box(tile);
    std::vector<simd::ScanlineRange> ranges;
    samples_.find(box, &ranges);
    const std::vector<simd::ScanlineRange> chunks = chunks_of(ranges);
    workers_[0].prepare(values_);
    parallel_for(chunks.size(), options, [&](std::size_t chunk, int worker) {
      Workspace& own = workers_[static_cast<std::size_t>(worker)];
      own.prepare(values_);
      add(box, &chunks[chunk], 1, &own);
    });
    std::uint64_t* cells = workers_[0].cells();
    for (std::size_t worker = 1; worker < workers_.size(); ++worker) {
      if (!workers_[worker].ready()) continue;
      std::uint64_t* others = workers_[worker].cells();
      for (std::size_t i = 0; i < values_; ++i) cells[i] += others[i];
      std::fill(others, others + values_, 0);
    }
    write(box, &workers_[0]);
  }

  const ScanlineGeometry& geometry_;
  const ScanlineTiles& tiles_;
  const ScanlineSample& samples_;
  const simd::ScanlineOutput output_;
  const std::size_t before_;  // points of the grid before the first one of the output
  const RunOptions& options_;
  const simd::ScanlineData data_;
  simd::ScanlineForm form_;
  const simd::ScanlineSamples leaf_samples_;
  const simd::ScanlineStages& leaf_;
  const std::size_t values_;
  std::vector<Workspace> workers_;
};

/// The factor from units of the first limb to densities, as two factors, neither of which overflows
/// or underflows before the product does.
template <class Sums>
simd::ScanlineOutput output_for(const ScanlineGeometry& geometry, const ScanlineTask& task,
                                const Sums& sums, ScaledNumber scale, double* out) {
  for (int i = 0; i < 2 && task.method == ScanlineMethod::events; ++i)
    scale.divide(geometry.radius());
  scale.multiply(sums.common_weight());
  scale.exponent += sums.weight_exponent() - sums.scale().unit;
  const int half = scale.exponent / 2;
  simd::ScanlineOutput output{};
  output.limb = std::ldexp(1.0, -sums.scale().step);
  output.factor = std::ldexp(scale.mantissa, half);
  output.power = std::ldexp(1.0, scale.exponent - half);
  output.out = out;
  output.row_stride = geometry.stride(geometry.axes() - 2);
  output.run_stride = geometry.stride(geometry.axes() - 1);
  return output;
}

}  // namespace

ScanlineMethod scanline_method(const ScanlineGeometry& geometry, const KernelChoice& choice) {
  if (!is_compact(choice.kernel)) {
    throw error(ErrorKind::input,
                "the scanline engine takes compact kernels, not the Gaussian one");
  }
  if (!is_quadratic(geometry, choice)) return ScanlineMethod::rows;
  const bool short_runs = geometry.radius() < kShortRadius && !geometry.line();
  return short_runs ? ScanlineMethod::rows : ScanlineMethod::events;
}

ScanlineDensity::ScanlineDensity(const MatrixView& x, Weights w, Span<const RegularAxis> axes,
                                 const KernelChoice& choice, Span<const double> root,
                                 const ScanlineSettings& settings, const RunOptions& options)
    : settings_(settings),
      points_(points_of_slice(x, axes, settings)),
      count_(axes[axes.size - 1].count),
      geometry_(axes, root, choice.type),
      task_(task_for(geometry_, choice, settings)),
      line_(settings.sorted ? nullptr : ScanlineLine::make(geometry_, x, w, task_, options)),
      sample_(line_ ? nullptr
                    : std::make_unique<ScanlineSample>(
                          geometry_, x, w, task_,
                          ScanlineTiles(geometry_, geometry_.slab(0, count_),
                                        8 * cell_values(task_, 2), settings.tile_bytes)
                              .segment(),
                          options)),
      scale_(kernel_scale(choice, x.cols, root)),
      rim_(geometry_, is_indicator(choice.kernel) ? axes : Span<const RegularAxis>(), root) {}

void ScanlineDensity::slab(std::size_t first, std::size_t count, const RunOptions& options,
                           Span<double> out) const {
  if (count < 1 || first >= count_ || count > count_ - first || out.size != count * points_) {
    throw error(ErrorKind::internal, "a slab beyond the grid or an output of a wrong size");
  }
  if (empty()) {
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  if (line_) {
    const simd::ScanlineOutput output = output_for(geometry_, task_, *line_, scale_, out.data);
    return line_->write(first, count, output, options);
  }
  const ScanlineTiles tiles(geometry_, geometry_.slab(first, count),
                            8 * cell_values(task_, sample_->scale().limbs), settings_.tile_bytes);
  ScanlineSlab(geometry_, tiles, *sample_, task_, rim_.leaf(*sample_), output(out.data),
               first * points_, options)
      .run();
}

simd::ScanlineForm ScanlineDensity::form() const {
  return form_of(geometry_, task_, sample_->scale());
}

simd::ScanlineOutput ScanlineDensity::output(double* out) const {
  return output_for(geometry_, task_, *sample_, scale_, out);
}

void scanline_density(const MatrixView& x, Weights w, Span<const RegularAxis> axes,
                      const KernelChoice& choice, Span<const double> root,
                      const ScanlineSettings& settings, const RunOptions& options,
                      Span<double> out) {
  RunOptions part = options;
  part.parallel = part_of(options.parallel, 0, kSortingShare);
  const ScanlineDensity density(x, w, axes, choice, root, settings, part);
  part.parallel = part_of(options.parallel, kSortingShare, 1);
  density.slab(0, density.count(), part, out);
}

}  // namespace kestrel
