#include "core/sketch/grid_sketch.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/base/raw_array.hpp"
#include "core/base/whole.hpp"
#include "core/data/passes.hpp"
#include "core/sketch/grid_limits.hpp"

namespace kestrel {

namespace {

/// Samples that are filed at a time, those first of all, which find hardly any tile, and those
/// whose tiles a thread looks for at a time.
constexpr std::size_t kFiledTogether = std::size_t{1} << 20, kFiledFirst = std::size_t{1} << 16,
                      kLookedUpTogether = 4096;
/// Tiles are given to at most so many groups, a power of two, each of which files its own samples.
constexpr std::size_t kMostGroups = 64;
/// The largest exponent: 2^e, 2^-e and squares of cells are numbers.
constexpr int kMaxGridExponent = 400;
constexpr std::uint32_t kNoTile = 0;

/// Either may be of no values.
void join_range(ValueRange* range, const ValueRange& other) {
  *range = {std::min(range->min, other.min), std::max(range->max, other.max)};
}

std::size_t hash_of(const TileKey& key) {
  std::uint64_t hash = 0;
  for (const std::int64_t part : key) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

/// Without the call that std::array's comparison is.
bool same_key(const TileKey& a, const TileKey& b) {
  return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2])) == 0;
}

}  // namespace

/// What one group of tiles gets of some samples.
struct GridSketch::Filing {
  std::vector<ValueRange> ranges;
  ValueRange weights{HUGE_VAL, -HUGE_VAL};
  std::uint64_t count = 0;
  std::vector<Tile*> ready;
};

GridSketch::GridSketch(GridPlan plan)
    : plan_(std::move(plan)),
      units_(std::ldexp(1.0, -plan_.weight_exponent)),
      window_(std::make_shared<const FourierWindow>(kTaps)) {
  if (d() != 2 && d() != 3) refuse_grid("a grid must have two or three variables");
  if (plan_.column.size() != d()) refuse_grid("variables must have one name each");
  for (std::size_t k = 0; k < d(); ++k) {
    if (std::abs(plan_.exponent[k]) > kMaxGridExponent) {
      refuse_grid("the sketch has an impossible plan");
    }
    scale_[k] = std::ldexp(1.0, -plan_.exponent[k]);
  }
  ranges_.assign(d(), ValueRange{HUGE_VAL, -HUGE_VAL});
}

GridSketch::GridSketch(const GridSketch& other)
    : plan_(other.plan_),
      scale_(other.scale_),
      units_(other.units_),
      window_(other.window_),
      n_(other.n_),
      ranges_(other.ranges_),
      weight_range_(other.weight_range_),
      slot_(other.slot_),
      ties_(other.ties_) {
  for (const auto& tile : other.tile_) tile_.push_back(std::make_unique<Tile>(*tile));
}

inline void GridSketch::copy_row(const MatrixView& x, Weights w, std::size_t i, double* row) const {
  for (std::size_t k = 0; k < d(); ++k) row[k] = x(i, k) + 0.0;
  if (plan_.weighted()) row[d()] = w[i];
}

// ---- tiles by their keys

TileKey GridSketch::key_of(const double* row) const {
  TileKey key{};
  for (std::size_t k = 0; k < d(); ++k) {
    const std::size_t axis = k + 3 - d();
    key[axis] = shifted_down(cell_above(row[k] * scale_[k]) - kTaps / 2, tile_bits(axis, d()));
  }
  return key;
}

double GridSketch::middle(const TileKey& key, std::size_t axis) const {
  const double side = static_cast<double>(std::size_t{1} << tile_bits(axis, d()));
  return static_cast<double>(key[axis]) * side + 0.5 * side + kTaps / 2;
}

/// Where the tile is, or where it would go.
std::size_t GridSketch::slot_of(const TileKey& key) const {
  const std::size_t mask = slot_.size() - 1;
  std::size_t at = hash_of(key) & mask;
  while (slot_[at].number != kNoTile && !same_key(slot_[at].key, key)) at = (at + 1) & mask;
  return at;
}

GridSketch::Tile* GridSketch::found(const TileKey& key) const {
  if (slot_.empty()) return nullptr;
  const std::uint32_t number = slot_[slot_of(key)].number;
  return number == kNoTile ? nullptr : tile_[number - 1].get();
}

void GridSketch::grow() {
  slot_.assign(std::max<std::size_t>(64, 2 * slot_.size()), Slot{{}, kNoTile});
  for (std::size_t t = 0; t < tile_.size(); ++t) {
    slot_[slot_of(tile_[t]->key)] = {tile_[t]->key, static_cast<std::uint32_t>(t + 1)};
  }
}

GridSketch::Tile& GridSketch::opened(const TileKey& key) {
  if (Tile* tile = found(key)) return *tile;
  tile_.push_back(std::make_unique<Tile>());
  tile_.back()->key = key;
  if (2 * tile_.size() > slot_.size()) {
    grow();
  } else {
    slot_[slot_of(key)] = {key, static_cast<std::uint32_t>(tile_.size())};
  }
  return *tile_.back();
}

// ---- adding

void GridSketch::check(const MatrixView& x, Weights w, const ParallelOptions& options) const {
  check_weight_count(x.rows, w.size);
  if (x.rows == 0) return;
  if (w.absent() == plan_.weighted() || x.cols != d()) {
    throw error(ErrorKind::internal, "samples are not those of the plan");
  }
  for (std::size_t k = 0; k < d(); ++k) {
    const ValueRange range = range_of(x.column(k), options);
    if (std::max(std::fabs(range.min), std::fabs(range.max)) * scale_[k] >= kFarthestOfGrid) {
      refuse_grid("values are too large for these cells");
    }
  }
  if (w.absent()) return;
  const ValueRange weights = range_of({w.data, w.size}, options);
  if (weights.min < 0 || in_units(weights.max) >= std::ldexp(1.0, kMostUnitBits)) {
    refuse_grid("values are not weights for this plan");
  }
}

void GridSketch::add(const MatrixView& x, Weights w, const RunOptions& options) {
  check(x, w, part_of(options.parallel, 0, 0));
  for (std::size_t first = 0; first < x.rows;) {
    const std::size_t rows = tile_.empty() ? kFiledFirst : kFiledTogether;
    const std::size_t last = std::min(x.rows, first + rows);
    add_rows(x, w, first, last, options);
    first = last;
  }
}

/// The numbers of the tiles of the samples from `first` on. Those that are new are opened, one
/// after another; tiles of samples without weight have none.
void GridSketch::find_tiles(const MatrixView& x, Weights w, std::size_t first,
                            Span<std::uint32_t> number, const RunOptions& options) {
  const std::size_t blocks = (number.size + kLookedUpTogether - 1) / kLookedUpTogether;
  std::vector<std::vector<std::size_t>> missing(blocks);
  const auto key_at = [&](std::size_t i) {
    double row[4];
    copy_row(x, w, first + i, row);
    return key_of(row);
  };
  const auto look_up = [&](std::size_t i) {
    number[i] = slot_.empty() ? kNoTile : slot_[slot_of(key_at(i))].number;
  };
  parallel_for(blocks, options.parallel, [&](std::size_t block, int) {
    const std::size_t begin = block * kLookedUpTogether;
    const std::size_t end = std::min(number.size, begin + kLookedUpTogether);
    for (std::size_t i = begin; i < end; ++i) {
      look_up(i);
      const bool counts = !plan_.weighted() || w[first + i] > 0;
      if (number[i] == kNoTile && counts) missing[block].push_back(i);
    }
  });
  for (const std::vector<std::size_t>& of_block : missing) {
    for (const std::size_t i : of_block) {
      opened(key_at(i));
      look_up(i);
    }
  }
}

/// Gives each tile its samples among those of [first, last).
void GridSketch::add_rows(const MatrixView& x, Weights w, std::size_t first, std::size_t last,
                          const RunOptions& options) {
  const std::size_t n = last - first, width = width_of_row(), most = most_kept(d());
  const ParallelOptions silent = part_of(options.parallel, 0, 0);
  const auto counts = [&](std::size_t i) { return !plan_.weighted() || w[first + i] > 0; };
  const RawArray<std::uint32_t> number(n);
  find_tiles(x, w, first, {number.data(), n}, options);
  // Every group looks at all samples, so that one thread has one group.
  const std::size_t workers =
      static_cast<std::size_t>(parallel_workers(kMostGroups, options.parallel));
  std::size_t of_tiles = 1;
  while (of_tiles < std::min(workers, kMostGroups)) of_tiles *= 2;
  std::vector<Filing> groups(of_tiles);
  parallel_for(of_tiles, silent, [&](std::size_t group, int) {
    // A thread's own, since neighbours in memory would be written by several.
    Filing filing;
    filing.ranges = std::vector<ValueRange>(d(), ValueRange{HUGE_VAL, -HUGE_VAL});
    for (std::size_t i = 0; i < n; ++i) {
      if ((number[i] & (of_tiles - 1)) != group || !counts(i)) continue;
      double row[4];
      copy_row(x, w, first + i, row);
      for (std::size_t k = 0; k < d(); ++k) widen_range(&filing.ranges[k], row[k]);
      if (plan_.weighted()) widen_range(&filing.weights, row[d()]);
      Tile& tile = *tile_[number[i] - 1];
      if (tile.rows.capacity() == 0) tile.rows.reserve((most + 1) * width);
      for (std::size_t k = 0; k < width; ++k) tile.rows.push_back(row[k]);
      ++tile.count;
      ++filing.count;
      if (tile.rows.size() == (most + 1) * width) filing.ready.push_back(&tile);
    }
    groups[group] = std::move(filing);
  });
  std::vector<Tile*> ready;
  for (const Filing& filing : groups) {
    for (std::size_t k = 0; k < d(); ++k) join_range(&ranges_[k], filing.ranges[k]);
    join_range(&weight_range_, filing.weights);
    n_ += filing.count;
    ready.insert(ready.end(), filing.ready.begin(), filing.ready.end());
  }
  spread_tiles(ready, false, part_of(options, 0, 0));
}

void GridSketch::merge(const GridSketch& other, const RunOptions& options) {
  if (!(plan_ == other.plan_)) refuse_grid("sketches must have the same plan");
  std::vector<Tile*> ready;
  for (const auto& from : other.tile_) {
    Tile& tile = opened(from->key);
    tile.rows.insert(tile.rows.end(), from->rows.begin(), from->rows.end());
    tile.count += from->count;
    tile.full = tile.full || from->full;
    if (from->full) {
      tile.moments.resize(moments_of_tile());
      for (std::size_t m = 0; m < moments_of_tile(); ++m) tile.moments[m] += from->moments[m];
    }
    if (!from->low.empty()) {
      tile.low.resize(cells_of_tile(d()), 0);
      make_room(from->room, &tile);
      for (std::size_t c = 0; c < from->low.size(); ++c) tile.low[c] += from->low[c];
    }
    if (!from->high.empty()) {
      tile.high.resize(cells_of_tile(d()), 0);
      for (std::size_t c = 0; c < from->high.size(); ++c) tile.high[c] += from->high[c];
    }
    if (tile.rows.size() > most_kept(d()) * width_of_row()) ready.push_back(&tile);
  }
  ties_.add(other.ties_);
  n_ += other.n_;
  for (std::size_t k = 0; k < d(); ++k) join_range(&ranges_[k], other.ranges_[k]);
  join_range(&weight_range_, other.weight_range_);
  spread_tiles(ready, false, part_of(options, 0, 0));
}

void GridSketch::settle(const RunOptions& options) {
  std::vector<Tile*> pending;
  for (const auto& tile : tile_) {
    if (tile->full && !tile->rows.empty()) pending.push_back(tile.get());
  }
  spread_tiles(pending, true, options);
  for (const auto& tile : tile_) {
    if (tile->low.empty()) continue;
    normalise(tile.get());
    const bool none = std::all_of(tile->high.begin(), tile->high.end(),
                                  [](std::int64_t high) { return high == 0; });
    if (none) tile->high.clear();
  }
}

// ---- what a sketch holds

std::vector<const GridSketch::Tile*> GridSketch::tiles() const {
  std::vector<const Tile*> all;
  for (const auto& tile : tile_) all.push_back(tile.get());
  std::sort(all.begin(), all.end(), [](const Tile* a, const Tile* b) { return a->key < b->key; });
  return all;
}

bool GridSketch::keeps_all() const {
  return std::none_of(tile_.begin(), tile_.end(), [](const auto& tile) { return tile->full; });
}

}  // namespace kestrel
