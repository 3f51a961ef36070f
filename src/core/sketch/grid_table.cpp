// Sketches of several variables as tables, and back.
#include <algorithm>
#include <map>

#include "core/sketch/grid_limits.hpp"

namespace kestrel {

namespace {

constexpr int kBits = GridSketch::kQuantumBits;

TileKey key_of_numbers(const std::int64_t* numbers, std::size_t d) {
  constexpr std::int64_t kFarthest = std::int64_t{1} << 52;
  TileKey key{};
  for (std::size_t k = 0; k < d; ++k) {
    if (numbers[k] < -kFarthest || numbers[k] > kFarthest) {
      throw error(ErrorKind::input, "the sketch has an impossible key");
    }
    key[k + 3 - d] = numbers[k];
  }
  return key;
}

}  // namespace

GridTable table_of(const GridSketch& sketch) {
  const std::size_t d = sketch.d();
  GridTable table;
  table.rows = kept_rows(sketch);
  table.ties = sketch.ties().samples;
  for (const GridSketch::Tile* tile : sketch.tiles()) {
    if (tile->full) {
      for (std::size_t a = 3 - d; a < 3; ++a) table.tile.push_back(tile->key[a]);
      table.sums.emplace_back(static_cast<std::int64_t>(tile->count));
      table.sums.insert(table.sums.end(), tile->moments.begin(), tile->moments.end());
    }
    for (std::size_t c = 0; c < tile->low.size(); ++c) {
      WideInteger value(tile->high.empty() ? 0 : tile->high[c]);
      value = value.shifted(kBits);
      value += WideInteger(tile->low[c]);
      if (value == WideInteger()) continue;
      std::size_t rest = c;
      std::array<std::int64_t, 3> cell{};
      for (std::size_t a = 3; a > 3 - d; --a) {
        const unsigned bits = GridSketch::tile_bits(a - 1, d);
        const std::size_t side = std::size_t{1} << bits;
        cell[a - 1] = tile->key[a - 1] * static_cast<std::int64_t>(side) +
                      static_cast<std::int64_t>(rest % side);
        rest /= side;
      }
      table.cell.insert(table.cell.end(), cell.begin() + static_cast<std::ptrdiff_t>(3 - d),
                        cell.end());
      table.cells.push_back(value);
    }
  }
  return table;
}

GridSketch grid_of_table(const GridPlan& plan, std::vector<ValueRange> ranges,
                         const GridTable& table) {
  GridSketch empty(plan);
  const std::size_t d = empty.d(), sums = 1 + empty.moments_of_tile();
  std::map<TileKey, GridSketch::Tile> tiles;
  const auto tile_at = [&](const TileKey& key) -> GridSketch::Tile& {
    GridSketch::Tile& tile = tiles[key];
    tile.key = key;
    return tile;
  };
  for (std::size_t i = 0; i < table.rows.size(); i += d) {
    for (std::size_t k = 0; k < d; ++k) {
      const double cells = table.rows[i + k] * empty.scale_[k];
      if (!(std::fabs(cells) < 1125899906842624.0)) {
        throw error(ErrorKind::input, "the sketch has an impossible sample");
      }
    }
    GridSketch::Tile& tile = tile_at(empty.key_of(table.rows.data() + i));
    tile.rows.insert(tile.rows.end(), table.rows.begin() + static_cast<std::ptrdiff_t>(i),
                     table.rows.begin() + static_cast<std::ptrdiff_t>(i + d));
    ++tile.count;
  }
  for (std::size_t t = 0; t * d < table.tile.size(); ++t) {
    const TileKey key = key_of_numbers(table.tile.data() + t * d, d);
    GridSketch::Tile& tile = tile_at(key);
    const WideInteger& count = table.sums[t * sums];
    if (tile.full || !tile.rows.empty() || count.high != 0 || count.low >> 62 != 0) {
      throw error(ErrorKind::input, "the sketch has an impossible tile");
    }
    tile.full = true;
    tile.count = count.low;
    tile.moments.assign(table.sums.begin() + static_cast<std::ptrdiff_t>(t * sums + 1),
                        table.sums.begin() + static_cast<std::ptrdiff_t>((t + 1) * sums));
    for (int corner = 0; corner < 1 << d; ++corner) {
      TileKey next = key;
      for (std::size_t k = 0; k < d; ++k) next[2 - k] += corner >> k & 1;
      tile_at(next).low.resize(GridSketch::cells_of_tile(d), 0);
    }
  }
  for (std::size_t c = 0; c < table.cells.size(); ++c) {
    const TileKey cell = key_of_numbers(table.cell.data() + c * d, d);
    TileKey key{};
    std::size_t at = 0;
    for (std::size_t a = 3 - d; a < 3; ++a) {
      const unsigned bits = GridSketch::tile_bits(a, d);
      key[a] = shifted_down(cell[a], bits);
      at = (at << bits) + static_cast<std::size_t>(cell[a] - key[a] * (std::int64_t{1} << bits));
    }
    const auto found = tiles.find(key);
    const WideInteger high = table.cells[c].shifted_down(kBits);
    if (found == tiles.end() || found->second.low.empty() || table.cells[c] < WideInteger() ||
        high.high != 0 || high.low >> 62 != 0) {
      throw error(ErrorKind::input, "the sketch has an impossible cell");
    }
    GridSketch::Tile& tile = found->second;
    WideInteger low = table.cells[c];
    low += -high.shifted(kBits);
    tile.low[at] = static_cast<std::int64_t>(low.low);
    if (high.low == 0) continue;
    tile.high.resize(tile.low.size(), 0);
    tile.high[at] = static_cast<std::int64_t>(high.low);
  }
  std::vector<GridSketch::Tile> all;
  for (auto& entry : tiles) all.push_back(std::move(entry.second));
  return GridSketch::of_parts(plan, std::move(ranges), {HUGE_VAL, -HUGE_VAL}, std::move(all),
                              {table.ties, {}});
}

}  // namespace kestrel
