#include "core/sketch/grid_sketch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/aligned_buffer.hpp"
#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/base/raw_array.hpp"
#include "core/base/two_part.hpp"
#include "core/base/whole.hpp"
#include "core/data/passes.hpp"
#include "core/sketch/grid_limits.hpp"
#include "simd/sketch/whole_moments.hpp"

namespace kestrel {

namespace {

static_assert(simd::kGridQuanta == double(std::int64_t{1} << kQuantumBitsOfGrid), "one quantum");
/// Samples that are filed at a time, and whose tiles a thread looks for at a time.
constexpr std::size_t kFiledTogether = std::size_t{1} << 18, kLookedUpTogether = 4096;
/// Tiles are given to at most so many groups, a power of two, each of which files its own samples.
constexpr std::size_t kMostGroups = 64;
/// Samples that may be added to cells of 64 bits before the upper bits go to `high`.
constexpr double kMostRoom = 1048576;  // 2^20
/// The largest exponent: 2^e, 2^-e and squares of cells are numbers.
constexpr int kMaxGridExponent = 400;
constexpr std::uint32_t kNoTile = 0;

/// Either may be of no values.
void join_range(ValueRange* range, const ValueRange& other) {
  *range = {std::min(range->min, other.min), std::max(range->max, other.max)};
}

/// The least s with v 2^-s <= 1, 0 if v <= 1.
int shift_of_weight(double v) {
  int exponent;
  const double digits = std::frexp(v, &exponent);
  return std::max(0, digits == 0.5 ? exponent - 1 : exponent);
}

void normalise(GridSketch::Tile* tile) {
  if (tile->high.empty()) tile->high.assign(tile->low.size(), 0);
  for (std::size_t c = 0; c < tile->low.size(); ++c) {
    tile->high[c] += tile->low[c] >> kQuantumBitsOfGrid;
    tile->low[c] &= kLowMask;
  }
  tile->room = 1;
}

/// Makes sure that `count` more samples may be added.
void make_room(double count, GridSketch::Tile* tile) {
  if (tile->room + count > kMostRoom) normalise(tile);
  tile->room += count;
}

/// The cell above or at g, which is less than 2^50 from zero. (std::ceil may be a call.)
std::int64_t cell_above(double g) {
  const std::int64_t whole = whole_number<std::int64_t>(g);
  return whole + (static_cast<double>(whole) < g ? 1 : 0);
}

std::size_t hash_of(const TileKey& key) {
  std::uint64_t hash = 0;
  for (const std::int64_t part : key) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

}  // namespace

/// The memory of a thread that spreads samples.
struct GridSketch::Spreading {
  AlignedBuffer own;
  std::vector<simd::Spot> spot;
  std::vector<double> place, weight, chosen;
};

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
      slot_(other.slot_) {
  for (const auto& tile : other.tile_) tile_.push_back(std::make_unique<Tile>(*tile));
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
  while (slot_[at].number != kNoTile && slot_[at].key != key) at = (at + 1) & mask;
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
  for (std::size_t first = 0; first < x.rows; first += kFiledTogether) {
    add_rows(x, w, first, std::min(x.rows, first + kFiledTogether), options);
  }
}

void GridSketch::copy_row(const MatrixView& x, Weights w, std::size_t i, double* row) const {
  for (std::size_t k = 0; k < d(); ++k) row[k] = x(i, k) + 0.0;
  if (plan_.weighted()) row[d()] = w[i];
}

/// Finds the tiles of the samples [first, last), opens those that are new, and gives each tile its
/// samples. All but the second step is done side by side.
void GridSketch::add_rows(const MatrixView& x, Weights w, std::size_t first, std::size_t last,
                          const RunOptions& options) {
  const std::size_t n = last - first, width = width_of_row(), most = most_kept(d());
  const ParallelOptions silent = part_of(options.parallel, 0, 0);
  const auto counts = [&](std::size_t i) { return !plan_.weighted() || w[first + i] > 0; };
  const RawArray<std::uint32_t> number(n);
  const auto look_up = [&](std::size_t i) {
    double row[4];
    copy_row(x, w, first + i, row);
    number[i] = slot_.empty() ? kNoTile : slot_[slot_of(key_of(row))].number;
  };
  parallel_for((n + kLookedUpTogether - 1) / kLookedUpTogether, options.parallel,
               [&](std::size_t block, int) {
                 const std::size_t begin = block * kLookedUpTogether;
                 const std::size_t end = std::min(n, begin + kLookedUpTogether);
                 for (std::size_t i = begin; i < end; ++i) look_up(i);
               });
  for (std::size_t i = 0; i < n; ++i) {
    if (number[i] != kNoTile || !counts(i)) continue;
    double row[4];
    copy_row(x, w, first + i, row);
    opened(key_of(row));
    look_up(i);
  }
  // Every group looks at all samples, so that one thread has one group.
  const std::size_t workers =
      static_cast<std::size_t>(parallel_workers(kMostGroups, options.parallel));
  std::size_t of_tiles = 1;
  while (of_tiles < std::min(workers, kMostGroups)) of_tiles *= 2;
  std::vector<Filing> groups(of_tiles);
  parallel_for(of_tiles, silent, [&](std::size_t group, int) {
    Filing& filing = groups[group];
    filing.ranges = std::vector<ValueRange>(d(), ValueRange{HUGE_VAL, -HUGE_VAL});
    for (std::size_t i = 0; i < n; ++i) {
      if ((number[i] & (of_tiles - 1)) != group || !counts(i)) continue;
      double row[4];
      copy_row(x, w, first + i, row);
      for (std::size_t k = 0; k < d(); ++k) widen_range(&filing.ranges[k], row[k]);
      if (plan_.weighted()) widen_range(&filing.weights, row[d()]);
      Tile& tile = *tile_[number[i] - 1];
      if (tile.rows.capacity() == 0) tile.rows.reserve((most + 1) * width);
      tile.rows.insert(tile.rows.end(), row, row + width);
      ++tile.count;
      ++filing.count;
      if (tile.rows.size() == (most + 1) * width) filing.ready.push_back(&tile);
    }
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

// ---- spreading

/// Those that a full tile reaches: the next ones along each axis, too.
void GridSketch::open_cells(const Tile& tile) {
  const TileKey key = tile.key;
  for (int corner = 0; corner < 1 << d(); ++corner) {
    TileKey next = key;
    for (std::size_t k = 0; k < d(); ++k) next[2 - k] += corner >> k & 1;
    Tile& cells = opened(next);
    if (cells.low.empty()) cells.low.assign(cells_of_tile(d()), 0);
  }
}

/// all: whether also the last samples of a tile, fewer than are spread together.
void GridSketch::spread_tiles(const std::vector<Tile*>& tiles, bool all,
                              const RunOptions& options) {
  // Tiles of one colour reach no cell in common.
  std::vector<std::vector<Tile*>> of_colour(8);
  for (Tile* tile : tiles) {
    tile->full = true;
    tile->moments.resize(moments_of_tile());
    open_cells(*tile);
    const TileKey& key = tile->key;
    of_colour[static_cast<std::size_t>((key[0] & 1) * 4 + (key[1] & 1) * 2 + (key[2] & 1))]
        .push_back(tile);
  }
  std::vector<Spreading> memory(parallel_workers(tiles.size() + 1, options.parallel));
  for (const std::vector<Tile*>& some : of_colour) {
    parallel_for(some.size(), options.parallel, [&](std::size_t item, int worker) {
      spread_tile(some[item], all, &memory[static_cast<std::size_t>(worker)], *options.table);
    });
  }
}

void GridSketch::spread_tile(Tile* tile, bool all, Spreading* memory, const simd::Table& table) {
  const std::size_t width = width_of_row(), left = tile->rows.size() / width;
  const std::size_t count = all ? left : left / simd::kGridRun * simd::kGridRun;
  if (plan_.weighted()) {
    spread_weighted(tile, count, memory, table);
  } else {
    for (std::size_t begin = 0; begin < count; begin += simd::kGridRun) {
      spread_some(tile, tile->rows.data() + begin * width, std::min(simd::kGridRun, count - begin),
                  0, memory, table);
    }
  }
  const auto rest = tile->rows.begin() + static_cast<std::ptrdiff_t>(count * width);
  std::vector<double>(rest, tile->rows.end()).swap(tile->rows);
}

/// The first samples of a tile, those of one shift at a time.
void GridSketch::spread_weighted(Tile* tile, std::size_t count, Spreading* memory,
                                 const simd::Table& table) {
  const std::size_t width = width_of_row();
  std::array<std::vector<std::size_t>, kMostUnitBits + 1> of_shift;
  for (std::size_t i = 0; i < count; ++i) {
    const int shift = shift_of_weight(in_units(tile->rows[i * width + d()]));
    of_shift[static_cast<std::size_t>(shift)].push_back(i);
  }
  for (int shift = 0; shift <= kMostUnitBits; ++shift) {
    const std::vector<std::size_t>& some = of_shift[static_cast<std::size_t>(shift)];
    for (std::size_t begin = 0; begin < some.size(); begin += simd::kGridRun) {
      const std::size_t end = std::min(some.size(), begin + simd::kGridRun);
      memory->chosen.clear();
      for (std::size_t k = begin; k < end; ++k) {
        const double* row = tile->rows.data() + some[k] * width;
        memory->chosen.insert(memory->chosen.end(), row, row + width);
      }
      spread_some(tile, memory->chosen.data(), end - begin, shift, memory, table);
    }
  }
}

void GridSketch::spread_some(Tile* tile, const double* rows, std::size_t count, int shift,
                             Spreading* memory, const simd::Table& table) {
  const std::size_t n = d(), width = width_of_row();
  memory->spot.assign(count, simd::Spot{{0, 0, 0}, {0, 0, 0}, 1.0});
  memory->place.resize(count * n);
  memory->weight.assign(count, 1.0);
  for (std::size_t i = 0; plan_.weighted() && i < count; ++i) {
    memory->weight[i] = std::ldexp(in_units(rows[i * width + n]), -shift);
    memory->spot[i].weight = memory->weight[i];
  }
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t axis = k + 3 - n;
    const std::int64_t side = std::int64_t{1} << tile_bits(axis, n);
    const std::int64_t before = tile->key[axis] * side + kTaps / 2;
    const double centre = middle(tile->key, axis), per_side = 1 / static_cast<double>(side);
    for (std::size_t i = 0; i < count; ++i) {
      const double g = rows[i * width + k] * scale_[k];
      const std::int64_t above = cell_above(g);
      memory->spot[i].first[axis] = static_cast<std::uint32_t>(above - before);
      memory->spot[i].part[axis] = static_cast<double>(above) - g;
      memory->place[i * n + k] = (g - centre) * per_side;
    }
  }
  // The leaf writes a whole vector of taps along the last axis.
  std::size_t size[3] = {1, 1, 1};
  for (std::size_t a = 3 - n; a < 3; ++a) {
    size[a] = (std::size_t{1} << tile_bits(a, n)) + simd::kWindowTaps;
  }
  const std::size_t of_own = size[0] * size[1] * size[2];
  if (memory->own.data() == nullptr) memory->own.resize(of_own);
  std::fill(memory->own.data(), memory->own.data() + of_own, 0.0);
  table.sketch->spread_whole(
      window_->polynomials(), memory->spot.data(), count,
      {memory->own.data(), {0, 0, 0}, size[1] * size[2], size[2], static_cast<int>(3 - n)});
  add_own(tile->key, memory->own.data(), static_cast<double>(count), shift);
  for (std::size_t begin = 0; begin < count; begin += simd::kWholeRun) {
    const std::size_t run = std::min(simd::kWholeRun, count - begin);
    double sum[11];
    table.sketch->sum_products(memory->place.data() + begin * n, memory->weight.data() + begin, run,
                               static_cast<int>(n), sum);
    for (std::size_t m = 0; m < moments_of_tile(); ++m) {
      WideInteger quanta(whole_number<std::int64_t>(sum[m] * simd::kQuanta));
      const int bits = m == 1 ? 2 * shift : shift;
      tile->moments[m] += bits > 0 ? quanta.shifted(bits) : quanta;
    }
  }
}

/// Adds cells of a tile's own, times 2^shift, to the tiles that they lie in.
void GridSketch::add_own(const TileKey& key, const double* own, double count, int shift) {
  const std::size_t n = d();
  std::size_t side[3], size[3];
  for (std::size_t a = 0; a < 3; ++a) {
    side[a] = std::size_t{1} << tile_bits(a, n);
    size[a] = a < 3 - n ? 1 : side[a] + simd::kWindowTaps;
  }
  // The integer in the lowest digits of a sum with this number; own cells are below 2^9.
  static_assert(simd::kGridRun < 512, "sums are below 2^51 quanta");
  const double lift = 6755399441055744.0 / simd::kGridQuanta;
  std::int64_t lifted;
  std::memcpy(&lifted, &lift, sizeof lifted);
  const int below = kQuantumBitsOfGrid - shift;
  for (int corner = 0; corner < 1 << n; ++corner) {
    TileKey next = key;
    std::size_t from[3] = {0, 0, 0}, cells[3] = {1, 1, 1};
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t a = 2 - k;
      const bool beyond = corner >> k & 1;
      next[a] += beyond;
      from[a] = beyond ? side[a] : 0;
      cells[a] = beyond ? simd::kWindowTaps : side[a];
    }
    Tile& tile = *found(next);
    make_room(shift > 0 ? 1 : count, &tile);
    if (shift > 0 && tile.high.empty()) tile.high.assign(tile.low.size(), 0);
    for (std::size_t i = 0; i < cells[0]; ++i) {
      for (std::size_t j = 0; j < cells[1]; ++j) {
        const double* values = own + ((from[0] + i) * size[1] + from[1] + j) * size[2] + from[2];
        std::int64_t* low = tile.low.data() + (i * side[1] + j) * side[2];
        if (shift == 0) {
          for (std::size_t k = 0; k < cells[2]; ++k) {
            const double sum = values[k] + lift;
            std::int64_t bits;
            std::memcpy(&bits, &sum, sizeof bits);
            low[k] += bits - lifted;
          }
          continue;
        }
        std::int64_t* high = tile.high.data() + (low - tile.low.data());
        for (std::size_t k = 0; k < cells[2]; ++k) {
          const std::int64_t quanta = whole_number<std::int64_t>(values[k] * simd::kGridQuanta);
          high[k] += quanta >> below;
          low[k] += (quanta & ((std::int64_t{1} << below) - 1)) << shift;
        }
      }
    }
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
