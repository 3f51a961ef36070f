// Samples of two or three variables as a sketch: a grid that parts of the data add to, in any
// order, with the same bits.
#ifndef KESTREL_CORE_SKETCH_GRID_SKETCH_HPP
#define KESTREL_CORE_SKETCH_GRID_SKETCH_HPP

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/base/wide_integer.hpp"
#include "core/data/sample_moments.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/cell_order.hpp"
#include "core/fourier/window.hpp"
#include "core/sketch/tie_counters.hpp"

namespace kestrel {

/// What all sketches that are added must have in common.
struct GridPlan {
  std::vector<int> exponent;        // cells of variable k are 2^exponent[k] wide
  std::vector<std::string> column;  // the names of the variables, in UTF-8
  std::string weight = "";          // that of the weights, empty if there are none
  int weight_exponent = 0;          // weights are about 2^weight_exponent, or less

  std::size_t d() const { return exponent.size(); }
  bool weighted() const { return !weight.empty(); }
  bool operator==(const GridPlan& other) const {
    return exponent == other.exponent && column == other.column && weight == other.weight &&
           weight_exponent == other.weight_exponent;
  }
};

struct GridTable;

/// Tiles of the endless lattice, by their numbers along three axes. Variable k of d is axis k + 3 -
/// d, as in core/fourier/geometry.hpp; the axes before have one cell.
using TileKey = std::array<std::int64_t, 3>;

/// Cells are whole numbers g = x 2^-exponent. A sample is spread over the kTaps cells from
/// ceil(g) - kTaps / 2 on, along each axis, by the window of the engine `fourier`: what it adds to
/// a cell is rounded to a multiple of 2^-42 (simd/sketch/whole_moments.hpp). The tile of a sample
/// is that of its first cell. A tile with up to most_kept(d) samples keeps them, and the grid has
/// only the samples of the others, the full ones. Each of these also has the sums of v, v^2, t_a,
/// t_a t_b as whole numbers, in quanta of 2^-44, t the position in the tile. v is 1, or the weight
/// in units of 2^weight_exponent. A sample of more than a unit is spread as v 2^-s <= 1, and what
/// it adds is multiplied by 2^s afterwards. Samples of weight zero are left out. The
/// samples of full tiles are also counted by tie_counters.hpp, along each axis with the cell above
/// or at g and the distance to it.
///
/// No data determine where cells and tiles are, and sums are exact. So after settle() a sketch is a
/// function of the samples alone: how they were cut into parts, in which order parts were added,
/// the instruction set and the number of threads change no bit. (The window is computed in long
/// doubles, so that machines where these are other numbers may round a few terms differently.)
class GridSketch {
 public:
  static constexpr int kTaps = 14;
  /// What a sample adds to a cell is a multiple of 2^-kQuantumBits.
  static constexpr int kQuantumBits = 42;
  /// Cells of a tile along an axis are 2^tile_bits(axis, d).
  static unsigned tile_bits(std::size_t axis, std::size_t d) {
    return axis < 3 - d ? 0 : axis == 2 ? 5 : 4;
  }
  static std::size_t cells_of_tile(std::size_t d) { return d == 2 ? 512 : 8192; }
  static std::size_t most_kept(std::size_t d) { return d == 2 ? 256 : 1024; }
  /// Weights are less than so many units.
  static constexpr int kMostUnitBits = 24;

  /// Samples of a tile, and the cells of the grid that lie in it.
  struct Tile {
    TileKey key{};
    bool full = false;
    std::uint64_t count = 0;  // samples
    /// Of samples that are kept or not yet spread: x_0, ..., x_(d-1) and, with weights, w each.
    std::vector<double> rows;
    std::vector<WideInteger> moments;  // empty unless full
    /// Cells in units of 2^-42 are high 2^42 + low; there is no `high` while it is zero, and none
    /// of both if no full tile reaches this one.
    std::vector<std::int64_t> low, high;
    double room = 0;  // how many samples may have been added since low was below 2^42

    /// What a cell has.
    double cell(std::size_t c) const {
      const double below = std::ldexp(static_cast<double>(low[c]), -kQuantumBits);
      return high.empty() ? below : static_cast<double>(high[c]) + below;
    }
  };

  /// Throws error(input) for another number of variables than two or three.
  explicit GridSketch(GridPlan plan);
  GridSketch(const GridSketch& other);
  GridSketch(GridSketch&&) = default;
  GridSketch& operator=(GridSketch&&) = default;

  const GridPlan& plan() const { return plan_; }
  std::size_t d() const { return plan_.d(); }
  std::uint64_t n() const { return n_; }
  /// Of each variable, and of the weights; min is infinite if there are no samples.
  const std::vector<ValueRange>& ranges() const { return ranges_; }
  const ValueRange& weight_range() const { return weight_range_; }
  double in_units(double w) const { return w * units_; }

  /// Throws error(input) if a value is not finite, or 2^50 cells from zero or more, if a weight is
  /// negative, or 2^kMostUnitBits units or more.
  void check(const MatrixView& x, Weights w, const ParallelOptions& options) const;
  /// Adds samples. w: absent unless the plan has weights. Where check() throws, nothing is added;
  /// after an exception of the poll it is unknown how much was. O(n taps^d).
  void add(const MatrixView& x, Weights w, const RunOptions& options);
  /// Adds a sketch. Throws error(input) if the plans differ. O(cells).
  void merge(const GridSketch& other, const RunOptions& options);
  /// Spreads all samples of full tiles. What follows is for sketches that are settled.
  void settle(const RunOptions& options);

  /// Tiles with samples or cells, in ascending order of their keys.
  std::vector<const Tile*> tiles() const;
  /// Whether all samples are known one by one.
  bool keeps_all() const;
  std::size_t width_of_row() const { return d() + (plan_.weighted() ? 1 : 0); }
  std::size_t moments_of_tile() const { return 2 + d() + d() * (d() + 1) / 2; }
  /// Of the samples of full tiles, none if there are none.
  const TieCounters& ties() const { return ties_; }
  /// As far as the rounding of weights allows.
  WeightSums weight_sums() const;
  /// Of the samples, of which there is one at least: without a rounding error that grows with n.
  SampleCovariance moments() const;
  /// The middle of a tile along an axis, in cells: positions in tiles are relative to it.
  double middle(const TileKey& key, std::size_t axis) const;

  /// A sketch of its parts, for what reads them. Throws error(input) unless these are the parts of
  /// a settled sketch.
  static GridSketch of_parts(GridPlan plan, std::vector<ValueRange> ranges,
                             const ValueRange& weight_range, std::vector<Tile> tiles,
                             TieCounters ties);

 private:
  struct Spreading;
  TileKey key_of(const double* row) const;
  std::size_t slot_of(const TileKey& key) const;
  Tile* found(const TileKey& key) const;
  Tile& opened(const TileKey& key);
  void grow();
  struct Filing;
  void find_tiles(const MatrixView& x, Weights w, std::size_t first, Span<std::uint32_t> number,
                  const RunOptions& options);
  void add_rows(const MatrixView& x, Weights w, std::size_t first, std::size_t last,
                const RunOptions& options);
  void copy_row(const MatrixView& x, Weights w, std::size_t i, double* row) const;
  void open_cells(const Tile& tile);
  void spread_tiles(const std::vector<Tile*>& tiles, bool all, const RunOptions& options);
  void take_ties(const RunOptions& options);
  void spread_tile(Tile* tile, bool all, Spreading* memory, const simd::Table& table);
  void spread_weighted(Tile* tile, std::size_t count, Spreading* memory, const simd::Table& table);
  void spread_some(Tile* tile, const double* rows, std::size_t count, int shift, Spreading* memory,
                   const simd::Table& table);
  void add_own(const TileKey& key, const double* own, double count, int shift);
  void check_parts() const;
  friend GridSketch grid_of_table(const GridPlan& plan, std::vector<ValueRange> ranges,
                                  const GridTable& table);

  GridPlan plan_;
  std::array<double, 3> scale_{};
  double units_;
  std::shared_ptr<const FourierWindow> window_;
  std::uint64_t n_ = 0;
  std::vector<ValueRange> ranges_;
  ValueRange weight_range_{HUGE_VAL, -HUGE_VAL};
  /// Where a tile is; `number` is one more than its place in tile_, 0 if the slot is free. Keys are
  /// here, too, because tiles lie scattered in memory.
  struct Slot {
    TileKey key;
    std::uint32_t number;
  };
  std::vector<std::unique_ptr<Tile>> tile_;
  std::vector<Slot> slot_;  // open addressing
  TieCounters ties_;
  /// What threads need to spread samples. A copy has its own.
  std::shared_ptr<std::vector<Spreading>> spreading_;
};

/// A sketch without weights as numbers: what a table has of it. Keys are `d` numbers each.
struct GridTable {
  std::vector<double> rows;              // as kept_rows()
  std::vector<std::int64_t> tile, cell;  // keys of full tiles, and of cells
  std::vector<WideInteger> sums, cells;  // those of tiles, their counts first; of cells
  std::vector<std::int64_t> ties;        // counters, none if no tile is full
};
/// Cells that are zero are left out. O(cells).
GridTable table_of(const GridSketch& sketch);
/// Throws error(input) if there is no such sketch. ranges: of the samples.
GridSketch grid_of_table(const GridPlan& plan, std::vector<ValueRange> ranges,
                         const GridTable& table);

/// Rows, `width` numbers each, in ascending order.
std::vector<double> sorted_rows(const std::vector<double>& rows, std::size_t width);
/// The samples that a sketch keeps, with their weights if there are any, in ascending order.
std::vector<double> kept_rows(const GridSketch& sketch);

}  // namespace kestrel

#endif
