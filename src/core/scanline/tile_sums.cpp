#include "core/scanline/tile_sums.hpp"

#include <algorithm>
#include <cmath>

namespace kestrel {

namespace {

/// With fewer tiles than this per thread, threads share tiles instead, kSharedSamples samples at a
/// time.
constexpr std::size_t kEnoughTiles = 4;
constexpr std::size_t kSharedSamples = std::size_t{1} << 12;
/// Samples of a tile between two polls: some milliseconds, since each crosses several rows.
constexpr std::size_t kPolledSamples = std::size_t{1} << 15;

std::vector<simd::ScanlineRange> chunks_of(const std::vector<simd::ScanlineRange>& ranges) {
  std::vector<simd::ScanlineRange> chunks;
  for (const simd::ScanlineRange& range : ranges) {
    for (std::size_t begin = range.begin; begin < range.end; begin += kSharedSamples) {
      chunks.push_back({begin, std::min(range.end, begin + kSharedSamples)});
    }
  }
  return chunks;
}

}  // namespace

std::size_t scanline_cell_values(const ScanlineTask& task, int limbs) {
  return static_cast<std::size_t>(limbs) *
         (task.method == ScanlineMethod::rows ? 1 : simd::kScanlineLimbLanes);
}

simd::ScanlineForm scanline_form(const ScanlineGeometry& geometry, const ScanlineTask& task,
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

ScaledNumber scanline_unit(const ScanlineGeometry& geometry, const ScanlineTask& task,
                           const ScanlineScale& scale, ScaledNumber kernel) {
  for (int i = 0; i < 2 && task.method == ScanlineMethod::events; ++i) {
    kernel.divide(geometry.radius());
  }
  kernel.exponent -= scale.unit;
  return kernel;
}

void ScanlineTileSums::Workspace::prepare(std::size_t values) {
  if (!storage_.empty()) return;
  storage_.assign(values + simd::kLanes, 0);
  const std::size_t off = reinterpret_cast<std::uintptr_t>(storage_.data()) / 8 % 8;
  cells_ = storage_.data() + (8 - off) % 8;
  list_ = std::make_unique<simd::ScanlineList>();
  list_->count = 0;
}

ScanlineTileSums::ScanlineTileSums(const ScanlineTiles& tiles, const ScanlineSample& sample,
                                   const ScanlineTask& task, const simd::ScanlineForm& form,
                                   const Take& take, const RunOptions& options)
    : tiles_(tiles),
      samples_(sample),
      form_(form),
      take_(take),
      options_(options),
      leaf_samples_(sample.leaf()),
      leaf_(task.method == ScanlineMethod::rows ? options.table->scanline->rows
                                                : options.table->scanline->events),
      values_(tiles.cells() * scanline_cell_values(task, form.limbs)),
      workers_(static_cast<std::size_t>(parallel_threads(options.parallel))) {}

void ScanlineTileSums::run() {
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
    if (own.ranges().empty()) return take_(box, nullptr);
    add_in_parts(box, &own);
    take_(box, own.cells());
  });
}

void ScanlineTileSums::add(const ScanlineBox& box, const simd::ScanlineRange* ranges,
                           std::size_t count, Workspace* own) {
  leaf_.add(form_, leaf_samples_, ranges, count, tiles_.leaf(box, own->cells()), own->list());
}

/// Adds all samples of a tile, of which there may be very many, in parts. The order does not
/// matter, since integers are added.
void ScanlineTileSums::add_in_parts(const ScanlineBox& box, Workspace* own) {
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

/// Each thread adds some of the samples to cells of its own.
void ScanlineTileSums::share_tile(std::size_t tile, const ParallelOptions& options) {
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
  take_(box, cells);
}

}  // namespace kestrel
