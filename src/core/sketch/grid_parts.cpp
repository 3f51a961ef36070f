// A sketch on a grid made of parts that were read, whatever these are, and the order of rows.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/sketch/grid_limits.hpp"

namespace kestrel {

GridSketch GridSketch::of_parts(GridPlan plan, std::vector<ValueRange> ranges,
                                const ValueRange& weight_range, std::vector<Tile> tiles,
                                TieCounters ties) {
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
  sketch.ties_ = std::move(ties);
  sketch.check_parts();
  return sketch;
}

void GridSketch::check_parts() const {
  const std::size_t width = width_of_row();
  const WideInteger none;
  std::vector<ValueRange> ranges(d(), ValueRange{HUGE_VAL, -HUGE_VAL});
  ValueRange weights{HUGE_VAL, -HUGE_VAL};
  std::uint64_t spread = 0;
  WideInteger spread_weight;
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
      spread += tile->count;
      spread_weight += tile->moments[0];
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
  check_counters(ties_, spread, plan_.weighted(), spread_weight);
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
