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
#include "simd/sketch/whole_moments.hpp"

namespace kestrel {

namespace {

constexpr int kQuantumBitsOfGrid = GridSketch::kQuantumBits;
static_assert(simd::kGridQuanta == double(std::int64_t{1} << kQuantumBitsOfGrid), "one quantum");
constexpr std::int64_t kLowMask = (std::int64_t{1} << kQuantumBitsOfGrid) - 1;
/// Samples that are filed at a time, and whose tiles a thread looks for at a time.
constexpr std::size_t kFiledTogether = std::size_t{1} << 18, kLookedUpTogether = 4096;
/// Samples that may be added to cells of 64 bits before the upper bits go to `high`.
constexpr double kMostRoom = 1048576;  // 2^20
/// The farthest cell, and the largest exponent: 2^e, 2^-e and squares of cells are numbers.
constexpr double kFarthestOfGrid = 1125899906842624.0;  // 2^50
constexpr int kMaxGridExponent = 400;
constexpr std::uint32_t kNoTile = 0;
/// A number of samples below this leaves room for sums.
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 62;

[[noreturn]] void refuse_grid(const char* what) { throw error(ErrorKind::input, what); }

void widen_range(ValueRange* range, double value) {
  // Zeros of both signs are one value.
  *range = {std::min(range->min, value + 0.0), std::max(range->max, value + 0.0)};
}

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
  std::vector<double> place, weight;
  std::vector<std::size_t> chosen;
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
    const double first = std::ceil(row[k] * scale_[k]) - kTaps / 2;
    key[axis] = whole_number<std::int64_t>(
        std::floor(std::ldexp(first, -static_cast<int>(tile_bits(axis, d())))));
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
  while (slot_[at] != kNoTile && tile_[slot_[at] - 1]->key != key) at = (at + 1) & mask;
  return at;
}

GridSketch::Tile* GridSketch::found(const TileKey& key) const {
  if (slot_.empty()) return nullptr;
  const std::uint32_t number = slot_[slot_of(key)];
  return number == kNoTile ? nullptr : tile_[number - 1].get();
}

void GridSketch::grow() {
  slot_.assign(std::max<std::size_t>(64, 2 * slot_.size()), kNoTile);
  for (std::size_t t = 0; t < tile_.size(); ++t) {
    slot_[slot_of(tile_[t]->key)] = static_cast<std::uint32_t>(t + 1);
  }
}

GridSketch::Tile& GridSketch::opened(const TileKey& key) {
  if (Tile* tile = found(key)) return *tile;
  tile_.push_back(std::make_unique<Tile>());
  tile_.back()->key = key;
  if (2 * tile_.size() > slot_.size()) {
    grow();
  } else {
    slot_[slot_of(key)] = static_cast<std::uint32_t>(tile_.size());
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

void GridSketch::add_rows(const MatrixView& x, Weights w, std::size_t first, std::size_t last,
                          const RunOptions& options) {
  const std::size_t n = last - first;
  const auto copy_row = [&](std::size_t i, double* row) {
    for (std::size_t k = 0; k < d(); ++k) row[k] = x(first + i, k) + 0.0;
    if (plan_.weighted()) row[d()] = w[first + i];
  };
  const RawArray<std::uint32_t> number(n);
  const std::size_t blocks = (n + kLookedUpTogether - 1) / kLookedUpTogether;
  parallel_for(blocks, options.parallel, [&](std::size_t block, int) {
    double row[4];
    const std::size_t begin = block * kLookedUpTogether;
    for (std::size_t i = begin; i < std::min(n, begin + kLookedUpTogether); ++i) {
      copy_row(i, row);
      number[i] = slot_.empty() ? kNoTile : slot_[slot_of(key_of(row))];
    }
  });
  std::vector<Tile*> ready;
  const std::size_t width = width_of_row(), most = most_kept(d());
  for (std::size_t i = 0; i < n; ++i) {
    double row[4];
    copy_row(i, row);
    if (plan_.weighted()) {
      if (row[d()] == 0) continue;
      widen_range(&weight_range_, row[d()]);
    }
    for (std::size_t k = 0; k < d(); ++k) widen_range(&ranges_[k], row[k]);
    Tile& tile = number[i] == kNoTile ? opened(key_of(row)) : *tile_[number[i] - 1];
    tile.rows.insert(tile.rows.end(), row, row + width);
    ++tile.count;
    ++n_;
    if (tile.rows.size() == (most + 1) * width) ready.push_back(&tile);
  }
  spread_tiles(ready, part_of(options, 0, 0));
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
  spread_tiles(ready, part_of(options, 0, 0));
}

void GridSketch::settle(const RunOptions& options) {
  std::vector<Tile*> pending;
  for (const auto& tile : tile_) {
    if (tile->full && !tile->rows.empty()) pending.push_back(tile.get());
  }
  spread_tiles(pending, options);
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

void GridSketch::spread_tiles(const std::vector<Tile*>& tiles, const RunOptions& options) {
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
      spread_tile(some[item], &memory[static_cast<std::size_t>(worker)], *options.table);
    });
  }
}

void GridSketch::spread_tile(Tile* tile, Spreading* memory, const simd::Table& table) {
  const std::size_t width = width_of_row(), count = tile->rows.size() / width;
  std::array<std::vector<std::size_t>, kMostUnitBits + 1> of_shift;
  for (std::size_t i = 0; i < count; ++i) {
    const int shift = plan_.weighted() ? shift_of_weight(in_units(tile->rows[i * width + d()])) : 0;
    of_shift[static_cast<std::size_t>(shift)].push_back(i);
  }
  for (int shift = 0; shift <= kMostUnitBits; ++shift) {
    const std::vector<std::size_t>& all = of_shift[static_cast<std::size_t>(shift)];
    for (std::size_t begin = 0; begin < all.size(); begin += simd::kGridRun) {
      const std::size_t end = std::min(all.size(), begin + simd::kGridRun);
      memory->chosen.assign(all.begin() + static_cast<std::ptrdiff_t>(begin),
                            all.begin() + static_cast<std::ptrdiff_t>(end));
      spread_some(tile, memory->chosen, shift, memory, table);
    }
  }
  std::vector<double>().swap(tile->rows);
}

void GridSketch::spread_some(Tile* tile, const std::vector<std::size_t>& rows, int shift,
                             Spreading* memory, const simd::Table& table) {
  const std::size_t width = width_of_row();
  memory->spot.resize(rows.size());
  memory->place.resize(rows.size() * d());
  memory->weight.assign(rows.size(), 1.0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double* row = tile->rows.data() + rows[i] * width;
    simd::Spot& spot = memory->spot[i];
    spot = simd::Spot{{0, 0, 0}, {0, 0, 0}, 1.0};
    if (plan_.weighted()) spot.weight = std::ldexp(in_units(row[d()]), -shift);
    memory->weight[i] = spot.weight;
    for (std::size_t k = 0; k < d(); ++k) {
      const std::size_t axis = k + 3 - d();
      const double side = static_cast<double>(std::size_t{1} << tile_bits(axis, d()));
      const double g = row[k] * scale_[k], above = std::ceil(g);
      const double first = above - kTaps / 2 - static_cast<double>(tile->key[axis]) * side;
      spot.first[axis] = whole_number<std::uint32_t>(first);
      spot.part[axis] = above - g;
      memory->place[i * d() + k] = (g - middle(tile->key, axis)) / side;
    }
  }
  // The leaf writes a whole vector of taps along the last axis.
  std::size_t size[3] = {1, 1, 1};
  for (std::size_t a = 3 - d(); a < 3; ++a) {
    size[a] = (std::size_t{1} << tile_bits(a, d())) + simd::kWindowTaps;
  }
  const std::size_t of_own = size[0] * size[1] * size[2];
  if (memory->own.data() == nullptr) memory->own.resize(of_own);
  std::fill(memory->own.data(), memory->own.data() + of_own, 0.0);
  table.sketch->spread_whole(
      window_->polynomials(), memory->spot.data(), rows.size(),
      {memory->own.data(), {0, 0, 0}, size[1] * size[2], size[2], static_cast<int>(3 - d())});
  add_own(tile->key, memory->own.data(), static_cast<double>(rows.size()), shift);
  for (std::size_t begin = 0; begin < rows.size(); begin += simd::kWholeRun) {
    const std::size_t count = std::min(simd::kWholeRun, rows.size() - begin);
    double sum[11];
    table.sketch->sum_products(memory->place.data() + begin * d(), memory->weight.data() + begin,
                               count, static_cast<int>(d()), sum);
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

WeightSums GridSketch::weight_sums() const {
  const double n = static_cast<double>(n_);
  if (!plan_.weighted()) return {n, n, n_ > 0 ? 1.0 : 0.0, 1.0, static_cast<std::size_t>(n_)};
  TwoPart sum, squares;
  for (const Tile* tile : tiles()) {
    if (!tile->full) continue;
    sum = sum + TwoPart{tile->moments[0].value() / simd::kQuanta, 0};
    squares = squares + TwoPart{tile->moments[1].value() / simd::kQuanta, 0};
  }
  const std::vector<double> kept = kept_rows(*this);
  for (std::size_t at = d(); at < kept.size(); at += width_of_row()) {
    const TwoPart v{in_units(kept[at]), 0};
    sum = sum + v;
    squares = squares + v * v;
  }
  const double unit = std::ldexp(1.0, plan_.weight_exponent);
  return {sum.value() * unit, squares.value() * unit * unit, weight_range_.max, weight_range_.min,
          static_cast<std::size_t>(n_)};
}

namespace {

/// Sums of the positions, in cells, and of their products, about a cell.
struct GridPowers {
  TwoPart weight, first[3], second[3][3];
};

void add_whole_tile(const GridSketch& sketch, const GridSketch::Tile& tile, const double* origin,
                    GridPowers* sums) {
  const std::size_t d = sketch.d();
  const auto moment = [&](std::size_t m) { return tile.moments[m].value() / simd::kQuanta; };
  const TwoPart weight{moment(0), 0};
  TwoPart centre[3];
  double side[3], one[3];
  for (std::size_t k = 0; k < d; ++k) {
    const std::size_t axis = k + 3 - d;
    side[k] = static_cast<double>(std::size_t{1} << GridSketch::tile_bits(axis, d));
    centre[k] = exact_difference(sketch.middle(tile.key, axis), origin[k]);
    one[k] = side[k] * moment(2 + k);
    sums->first[k] = sums->first[k] + centre[k] * weight + TwoPart{one[k], 0};
  }
  std::size_t at = 2 + d;
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = k; l < d; ++l, ++at) {
      sums->second[k][l] = sums->second[k][l] + centre[k] * centre[l] * weight +
                           centre[k] * one[l] + centre[l] * one[k] +
                           TwoPart{side[k] * side[l] * moment(at), 0};
    }
  }
  sums->weight = sums->weight + weight;
}

}  // namespace

SampleCovariance GridSketch::moments() const {
  const std::size_t n = d(), width = width_of_row();
  const std::vector<const Tile*> all = tiles();
  // In one order, whatever that of the parts was.
  const std::vector<double> kept = kept_rows(*this);
  const auto sums_about = [&](const double* origin) {
    GridPowers sums;
    for (const Tile* tile : all) {
      if (tile->full) add_whole_tile(*this, *tile, origin, &sums);
    }
    for (std::size_t begin = 0; begin < kept.size(); begin += width) {
      const double* row = kept.data() + begin;
      const TwoPart v{plan_.weighted() ? in_units(row[n]) : 1.0, 0};
      TwoPart at[3];
      sums.weight = sums.weight + v;
      for (std::size_t k = 0; k < n; ++k) {
        at[k] = exact_difference(row[k] * scale_[k], origin[k]);
        sums.first[k] = sums.first[k] + at[k] * v;
      }
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t l = k; l < n; ++l) {
          sums.second[k][l] = sums.second[k][l] + at[k] * at[l] * v;
        }
      }
    }
    return sums;
  };
  double origin[3] = {};
  const GridPowers about_zero = sums_about(origin);
  for (std::size_t k = 0; k < n; ++k) {
    origin[k] = std::floor((about_zero.first[k] / about_zero.weight).value());
  }
  const GridPowers sums = sums_about(origin);
  TwoPart away[3];
  SampleCovariance found;
  found.covariance.resize(n * n);
  for (std::size_t k = 0; k < n; ++k) {
    away[k] = sums.first[k] / sums.weight;
    const TwoPart mean = TwoPart{origin[k], 0} + away[k];
    found.mean.first.push_back(mean.high / scale_[k]);
    found.mean.second.push_back(mean.low / scale_[k]);
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t l = k; l < n; ++l) {
      double value = (sums.second[k][l] / sums.weight - away[k] * away[l]).value();
      if (k == l) value = std::max(0.0, value);
      found.covariance[k * n + l] = found.covariance[l * n + k] = value / scale_[k] / scale_[l];
    }
  }
  return found;
}

// ---- parts

GridSketch GridSketch::of_parts(GridPlan plan, std::vector<ValueRange> ranges,
                                const ValueRange& weight_range, std::vector<Tile> tiles) {
  GridSketch sketch(std::move(plan));
  sketch.ranges_ = std::move(ranges);
  sketch.weight_range_ = weight_range;
  constexpr std::int64_t kFarthestTile = std::int64_t{1} << 48;
  for (Tile& tile : tiles) {
    for (const std::int64_t part : tile.key) {
      if (part < -kFarthestTile || part > kFarthestTile)
        refuse_grid("the sketch has an impossible tile");
    }
    if (sketch.found(tile.key) != nullptr) refuse_grid("the sketch has a tile twice");
    if (tile.count > kMostSamples || sketch.n_ > kMostSamples) {
      refuse_grid("the sketch has an impossible number of samples");
    }
    sketch.n_ += tile.count;
    Tile& to = sketch.opened(tile.key);
    to = std::move(tile);
    to.room = 1;
  }
  sketch.check_parts();
  return sketch;
}

void GridSketch::check_parts() const {
  const std::size_t width = width_of_row();
  const WideInteger none;
  std::vector<ValueRange> ranges(d(), ValueRange{HUGE_VAL, -HUGE_VAL});
  ValueRange weights{HUGE_VAL, -HUGE_VAL};
  for (const auto& tile : tile_) {
    const std::size_t kept = tile->rows.size() / width;
    if (tile->full ? kept > 0 || tile->count <= most_kept(d())
                   : tile->count != kept || kept > most_kept(d())) {
      refuse_grid("the sketch has another number of samples in a tile than belong there");
    }
    for (std::size_t i = 0; i < kept; ++i) {
      const double* row = tile->rows.data() + i * width;
      for (std::size_t k = 0; k < d(); ++k) {
        if (!(std::fabs(row[k]) * scale_[k] < kFarthestOfGrid)) {
          refuse_grid("the sketch has an impossible sample");
        }
        widen_range(&ranges[k], row[k]);
      }
      if (key_of(row) != tile->key) refuse_grid("the sketch has a sample in a wrong tile");
      if (!plan_.weighted()) continue;
      if (!(row[d()] > 0) || in_units(row[d()]) >= std::ldexp(1.0, kMostUnitBits)) {
        refuse_grid("the sketch has an impossible weight");
      }
      widen_range(&weights, row[d()]);
    }
    if (tile->full) {
      // Neither the weight nor a square is negative, and no position is outside of the tile.
      WideInteger most = tile->moments[0];
      most += WideInteger(static_cast<std::int64_t>(tile->count));
      if (tile->moments[0] < none || tile->moments[1] < none) {
        refuse_grid("the sketch has impossible sums");
      }
      for (std::size_t m = 2; m < moments_of_tile(); ++m) {
        const WideInteger size = tile->moments[m] < none ? -tile->moments[m] : tile->moments[m];
        if (most < size) refuse_grid("the sketch has impossible sums");
      }
      for (int corner = 0; corner < 1 << d(); ++corner) {
        TileKey next = tile->key;
        for (std::size_t k = 0; k < d(); ++k) next[2 - k] += corner >> k & 1;
        const Tile* cells = found(next);
        if (cells == nullptr || cells->low.empty()) refuse_grid("the sketch lacks cells");
      }
    }
    bool reached = tile->low.empty();
    for (int corner = 0; corner < 1 << d() && !reached; ++corner) {
      TileKey before = tile->key;
      for (std::size_t k = 0; k < d(); ++k) before[2 - k] -= corner >> k & 1;
      const Tile* source = found(before);
      reached = source != nullptr && source->full;
    }
    if (!reached) refuse_grid("the sketch has cells that no samples reach");
    if (!tile->full && tile->rows.empty() && tile->low.empty()) {
      refuse_grid("the sketch has an empty tile");
    }
    for (std::size_t c = 0; c < tile->low.size(); ++c) {
      const bool wide = !tile->high.empty();
      if (tile->low[c] < 0 || tile->low[c] > kLowMask || (wide && tile->high[c] < 0)) {
        refuse_grid("the sketch has an impossible cell");
      }
    }
  }
  for (std::size_t k = 0; k < d(); ++k) {
    const ValueRange& given = ranges_[k];
    if (n_ == 0
            ? given.min != HUGE_VAL || given.max != -HUGE_VAL
            : !(given.min <= given.max) || !std::isfinite(given.min) || !std::isfinite(given.max) ||
                  given.min > ranges[k].min || given.max < ranges[k].max) {
      refuse_grid("the sketch has another range than its samples");
    }
  }
  if (plan_.weighted() && n_ > 0 &&
      !(weight_range_.min > 0 && weight_range_.min <= weights.min &&
        weight_range_.max >= weights.max && std::isfinite(weight_range_.max))) {
    refuse_grid("the sketch has other weights than its samples");
  }
}

std::vector<double> sorted_rows(const std::vector<double>& rows, std::size_t width) {
  std::vector<const double*> all;
  for (std::size_t at = 0; at < rows.size(); at += width) all.push_back(rows.data() + at);
  std::sort(all.begin(), all.end(), [width](const double* a, const double* b) {
    return std::lexicographical_compare(a, a + width, b, b + width);
  });
  std::vector<double> sorted;
  sorted.reserve(rows.size());
  for (const double* row : all) sorted.insert(sorted.end(), row, row + width);
  return sorted;
}

std::vector<double> kept_rows(const GridSketch& sketch) {
  std::vector<double> rows;
  for (const GridSketch::Tile* tile : sketch.tiles()) {
    rows.insert(rows.end(), tile->rows.begin(), tile->rows.end());
  }
  return sorted_rows(rows, sketch.width_of_row());
}

}  // namespace kestrel
