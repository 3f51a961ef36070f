// The spreading of samples over the cells of a sketch on a grid, in whole numbers.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/aligned_buffer.hpp"
#include "core/base/parallel.hpp"
#include "core/base/whole.hpp"
#include "core/sketch/grid_limits.hpp"
#include "simd/sketch/whole_moments.hpp"

namespace kestrel {

namespace {

static_assert(simd::kGridQuanta == double(std::int64_t{1} << kQuantumBitsOfGrid), "one quantum");

/// Cells of a tile along an axis.
constexpr std::size_t kMostSide = 32;

/// The least s with v 2^-s <= 1, 0 if v <= 1.
int shift_of_weight(double v) {
  int exponent;
  const double digits = std::frexp(v, &exponent);
  return std::max(0, digits == 0.5 ? exponent - 1 : exponent);
}

}  // namespace

/// The memory of a thread that spreads samples.
struct GridSketch::Spreading {
  AlignedBuffer own;
  std::vector<simd::Spot> spot;
  std::vector<double> place, weight, chosen;  // weights are 1 if there are none
  alignas(64) std::uint64_t hash[simd::kGridRun];
  TieCounters ties;  // all zero between calls

  void open(std::size_t d) {
    if (!spot.empty()) return;
    spot.assign(simd::kGridRun, simd::Spot{{0, 0, 0}, {0, 0, 0}, 1.0});
    place.resize(simd::kGridRun * d);
    weight.assign(simd::kGridRun, 1.0);
  }
};

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
  if (tiles.empty()) return;
  const auto workers =
      static_cast<std::size_t>(parallel_workers(tiles.size() + 1, options.parallel));
  if (spreading_ == nullptr) spreading_ = std::make_shared<std::vector<Spreading>>();
  if (spreading_->size() < workers) spreading_->resize(workers);
  for (const std::vector<Tile*>& some : of_colour) {
    parallel_for(some.size(), options.parallel, [&](std::size_t item, int worker) {
      spread_tile(some[item], all, &(*spreading_)[static_cast<std::size_t>(worker)],
                  *options.table);
    });
  }
  take_ties(options);
}

/// Adds the counters of all threads, and sets them to zero.
void GridSketch::take_ties(const RunOptions& options) {
  constexpr std::size_t kParts = 16, kOfPart = simd::kTieCounters / kParts;
  ties_.open(plan_.weighted());
  parallel_for(kParts, options.parallel, [&](std::size_t part, int) {
    const auto move_to = [&](auto& to, auto& from) {
      if (from.empty()) return;
      for (std::size_t k = part * kOfPart; k < (part + 1) * kOfPart; ++k) {
        to[k] += from[k];
        from[k] = {};
      }
    };
    for (Spreading& of_worker : *spreading_) {
      move_to(ties_.samples, of_worker.ties.samples);
      move_to(ties_.weights, of_worker.ties.weights);
    }
  });
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
  tile->rows.erase(tile->rows.begin(),
                   tile->rows.begin() + static_cast<std::ptrdiff_t>(count * width));
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
  memory->open(n);
  std::uint64_t* const hash = memory->hash;
  std::fill(hash, hash + simd::kGridRun, std::uint64_t{0});
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t axis = k + 3 - n;
    const std::int64_t side = std::int64_t{1} << tile_bits(axis, n);
    const std::int64_t before = tile->key[axis] * side + kTaps / 2;
    const double centre = middle(tile->key, axis), per_side = 1 / static_cast<double>(side);
    std::array<std::uint64_t, kMostSide> start;
    start[0] = start_of_ties(k, static_cast<double>(before));
    for (std::size_t c = 1; c < kMostSide; ++c) start[c] = next_start_of_ties(k, start[c - 1]);
    for (std::size_t i = 0; i < count; ++i) {
      const double g = rows[i * width + k] * scale_[k];
      const std::int64_t above = cell_above(g);
      const double part = static_cast<double>(above) - g;
      const auto first = static_cast<std::uint32_t>(above - before);
      memory->spot[i].first[axis] = first;
      memory->spot[i].part[axis] = part;
      memory->place[i * n + k] = (g - centre) * per_side;
      // Rounded down by the conversion, which std::floor() might be a call for.
      hash[i] += position_of_tie(k, start[first], part * simd::kQuanta + 0.5);
    }
  }
  table.sketch->hash_sums(hash, count);
  memory->ties.open(plan_.weighted());
  for (std::size_t i = 0; plan_.weighted() && i < count; ++i) {
    memory->weight[i] = in_units(rows[i * width + n]);
  }
  memory->ties.count(hash, memory->weight.data(), count);
  for (std::size_t i = 0; plan_.weighted() && i < count; ++i) {
    memory->weight[i] = std::ldexp(memory->weight[i], -shift);
    memory->spot[i].weight = memory->weight[i];
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

}  // namespace kestrel
