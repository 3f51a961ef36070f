#include "core/fourier/grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "core/base/aligned_buffer.hpp"
#include "core/base/error.hpp"
#include "core/base/raw_array.hpp"
#include "core/base/whole.hpp"
#include "core/data/passes.hpp"
#include "core/data/weights.hpp"
#include "simd/fourier/spread.hpp"

namespace kestrel {

namespace {

constexpr int kMaxTaps = FourierWindow::kMaxTaps;
/// Samples that are sorted and spread at a time, in memory that all parts use; samples of one work
/// item of the sorting.
constexpr std::size_t kPart = std::size_t{1} << 19, kChunk = std::size_t{1} << 13;
/// The maximum number of counters of the sort: tiles times chunks.
constexpr std::size_t kCounters = std::size_t{1} << 22;
/// A tile's samples are added to cells of its own, and these to the grid after this many samples:
/// rounding errors then grow with the square root of this number and not of n. A tile with more
/// samples is cut into pieces of this size, since most of a sample may lie in few tiles.
constexpr std::size_t kFlush = std::size_t{1} << 13;
/// Memory for cells of tiles' own, which the threads share, and how many tiles have some at least.
constexpr std::size_t kBufferBytes = std::size_t{1} << 25, kMinBuffers = 32;
/// Sides of a tile in cells. Samples of two tiles with another one between them must not share a
/// cell, so a side is no shorter than the window. In one dimension sides are longer, since nothing
/// speaks against that.
constexpr unsigned kSideBits = 4, kRowBits = 5, kLongRowBits = 10;
static_assert(1 << kSideBits >= kMaxTaps, "tiles of one colour share no cell");
constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

using simd::Spot;

/// Samples in the order of the tiles in which their windows begin.
class TileOrder {
 public:
  TileOrder(const FourierGeometry& geometry)
      : geometry_(geometry),
        bits_{kSideBits, kSideBits, geometry.d == 1 ? kLongRowBits : kRowBits} {
    for (std::size_t a = 0; a < 3; ++a) {
      tiles_[a] = (geometry.box.cells[a] + side(a) - 1) / side(a);
      cells_of_length_[a] = static_cast<double>(geometry.box.cells[a]) / geometry.period[a];
    }
  }

  std::size_t tiles() const { return tiles_[0] * tiles_[1] * tiles_[2]; }
  std::size_t side(std::size_t axis) const { return std::size_t{1} << bits_[axis]; }
  std::array<std::size_t, 3> position(std::size_t tile) const {
    return {tile / (tiles_[1] * tiles_[2]), tile / tiles_[2] % tiles_[1], tile % tiles_[2]};
  }
  const Spot* begin(std::size_t tile) const { return spot_.data() + start_[tile]; }
  const Spot* end(std::size_t tile) const { return spot_.data() + start_[tile + 1]; }
  std::size_t count(std::size_t tile) const { return start_[tile + 1] - start_[tile]; }

  /// A counting sort that keeps the order of samples within a tile. Samples without a weight and
  /// outliers are left out. Outliers, and samples near the edge, are filed in the tail.
  void sort(const MatrixView& x, Weights w, std::size_t first, std::size_t last,
            const RunOptions& options, FourierTail* tail) {
    const std::size_t n = last - first, max = std::max<std::size_t>(1, kCounters / tiles());
    const std::size_t chunks = std::min((n + kChunk - 1) / kChunk, max);
    const auto begin = [&](std::size_t chunk) { return n * chunk / chunks; };
    if (capacity_ < n) {
      capacity_ = n;
      tile_ = RawArray<std::uint32_t>(n);
      spot_ = RawArray<Spot>(n);
    }
    std::vector<std::uint32_t> next(chunks * tiles(), 0);
    std::vector<FourierTail> filed(chunks);
    parallel_for(chunks, options.parallel, [&](std::size_t chunk, int) {
      for (std::size_t i = begin(chunk); i < begin(chunk + 1); ++i) {
        tile_[i] = tile_of(x, first + i, w[first + i], &filed[chunk]);
        if (tile_[i] != kNowhere) ++next[chunk * tiles() + tile_[i]];
      }
    });
    for (const FourierTail& part : filed) tail->add(part);
    start_.assign(1, 0);
    std::uint32_t before = 0;
    for (std::size_t t = 0; t < tiles(); ++t) {
      for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        std::uint32_t& count = next[chunk * tiles() + t];
        before += count;
        count = before - count;
      }
      start_.push_back(before);
    }
    parallel_for(chunks, options.parallel, [&](std::size_t chunk, int) {
      for (std::size_t i = begin(chunk); i < begin(chunk + 1); ++i) {
        if (tile_[i] == kNowhere) continue;
        Spot& spot = spot_[next[chunk * tiles() + tile_[i]]++];
        set_spot(geometry_.whiten(x, first + i), w[first + i], &spot);
      }
    });
  }

 private:
  /// The tile of a sample, or kNowhere.
  std::uint32_t tile_of(const MatrixView& x, std::size_t i, double weight,
                        FourierTail* tail) const {
    if (!(weight > 0)) return kNowhere;
    const Point3 z = geometry_.whiten(x, i);
    if (geometry_.trimmed && file_sample(geometry_, z, weight, tail)) return kNowhere;
    Spot spot;
    set_spot(z, weight, &spot);
    std::size_t tile = 0;
    for (std::size_t a = 3 - geometry_.d; a < 3; ++a) {
      const std::size_t place = spot.first[a] >> bits_[a];
      if (place >= tiles_[a]) throw error(ErrorKind::internal, "a sample is outside of the grid");
      tile = tile * tiles_[a] + place;
    }
    return static_cast<std::uint32_t>(tile);
  }

  void set_spot(const Point3& z, double weight, Spot* spot) const {
    spot->weight = weight;
    for (std::size_t a = 0; a < 3; ++a) {
      spot->first[a] = 0;
      spot->part[a] = 0;
    }
    const double half = 0.5 * static_cast<double>(geometry_.taps);
    for (std::size_t a = 3 - geometry_.d; a < 3; ++a) {
      const double from = (z[a] - geometry_.origin[a]) * cells_of_length_[a] - half;
      // The smallest whole number that is not below `from`, which is positive.
      std::int32_t first = whole_number<std::int32_t>(from);
      if (first < from) ++first;
      spot->first[a] = static_cast<std::uint32_t>(first);
      spot->part[a] = first - from;
    }
  }

  const FourierGeometry& geometry_;
  std::array<unsigned, 3> bits_;
  std::array<std::size_t, 3> tiles_;
  Point3 cells_of_length_;
  std::size_t capacity_ = 0;      // of the two arrays that follow
  RawArray<std::uint32_t> tile_;  // of the samples, in their order
  RawArray<Spot> spot_;
  std::vector<std::uint32_t> start_;
};

/// Spreads the samples of tiles that share no cell. If a tile has many samples, they go to cells of
/// the tile's own first.
class TileSpreader {
 public:
  TileSpreader(const FourierGeometry& geometry, const FourierWindow& window,
               const simd::SpreadTable& table, const TileOrder& order, double* cells)
      : box_(geometry.box),
        window_(window.polynomials()),
        table_(table),
        first_axis_(static_cast<int>(3 - geometry.d)),
        order_(order),
        cells_(cells) {
    for (std::size_t a = 0; a < 3; ++a) {
      // The leaf writes kMaxTaps values along the last axis.
      const std::size_t beyond = a == 2 ? kMaxTaps : static_cast<std::size_t>(window_.taps);
      size_[a] = box_.cells[a] == 1 ? 1 : order.side(a) + beyond;
      of_own_ *= size_[a];
      of_window_ *= box_.cells[a] == 1 ? 1 : static_cast<std::size_t>(window_.taps);
    }
  }

  /// `tiles`: colour after colour. The order in which a cell gets its terms follows from them
  /// alone.
  void spread(const std::vector<std::vector<std::size_t>>& of_colour,
              const ParallelOptions& options) {
    std::vector<Work> works;
    for (const std::vector<std::size_t>& tiles : of_colour) {
      for (const std::size_t tile : tiles) add_works(tile, &works);
      if (!works.empty()) works.back().ends_colour = true;
    }
    // Threads wait for each other after every step, so they do many works in one, as many as there
    // is memory for. One thread keeps its buffers in the caches.
    const bool alone = parallel_threads(options) == 1;
    const std::size_t at_a_time =
        alone ? kMinBuffers : std::max(kMinBuffers, kBufferBytes / (8 * of_own_));
    for (std::size_t first = 0; first < works.size(); first += at_a_time) {
      spread_works(works, first, std::min(works.size(), first + at_a_time), options);
    }
  }

 private:
  /// Samples of a tile that are spread at once: to cells of their own, or, if they are too few for
  /// that, to the grid.
  struct Work {
    std::size_t tile;
    const Spot* begin;
    std::size_t count;
    bool to_own = true, ends_colour = false;
  };

  void add_works(std::size_t tile, std::vector<Work>* works) const {
    const std::size_t count = order_.count(tile);
    if (count * of_window_ < of_own_) {
      works->push_back({tile, order_.begin(tile), count, false});
      return;
    }
    for (const Spot* s = order_.begin(tile); s < order_.end(tile); s += kFlush) {
      works->push_back({tile, s, std::min<std::size_t>(kFlush, order_.end(tile) - s)});
    }
  }

  void spread_works(const std::vector<Work>& works, std::size_t first, std::size_t last,
                    const ParallelOptions& options) {
    own_.resize(std::max(own_.size(), last - first));
    parallel_for(last - first, options, [&](std::size_t item, int) {
      if (works[first + item].to_own) spread_to_own(works[first + item], &own_[item]);
    });
    // Tiles of one colour are added side by side, and the works of a tile in their order.
    std::vector<std::size_t> begin;
    for (std::size_t i = first; i < last; ++i) {
      if (begin.empty() || works[i].tile != works[i - 1].tile) begin.push_back(i);
      if (!works[i].ends_colour && i + 1 < last) continue;
      begin.push_back(i + 1);
      parallel_for(begin.size() - 1, options, [&](std::size_t item, int) {
        for (std::size_t k = begin[item]; k < begin[item + 1]; ++k) {
          add_to_grid(works[k], own_[k - first].data());
        }
      });
      begin.clear();
    }
  }

  void add_to_grid(const Work& work, const double* own) const {
    if (work.to_own) return add_own(work.tile, own);
    table_.spread(window_, work.begin, work.count,
                  {cells_, {0, 0, 0}, box_.row(1, 0), box_.row_length(), first_axis_});
  }

  void spread_to_own(const Work& piece, AlignedBuffer* own) const {
    if (own->data() == nullptr) own->resize(of_own_);
    std::fill(own->data(), own->data() + of_own_, 0.0);
    const auto first = first_cell(piece.tile);
    table_.spread(
        window_, piece.begin, piece.count,
        {own->data(), {first[0], first[1], first[2]}, size_[1] * size_[2], size_[2], first_axis_});
  }

  std::array<std::size_t, 3> first_cell(std::size_t tile) const {
    std::array<std::size_t, 3> first = order_.position(tile);
    for (std::size_t a = 0; a < 3; ++a) {
      first[a] = box_.cells[a] == 1 ? 0 : first[a] * order_.side(a);
    }
    return first;
  }

  void add_own(std::size_t tile, const double* own) const {
    const auto first = first_cell(tile);
    std::array<std::size_t, 3> count;
    for (std::size_t a = 0; a < 3; ++a) count[a] = std::min(size_[a], box_.cells[a] - first[a]);
    for (std::size_t i = 0; i < count[0]; ++i) {
      for (std::size_t j = 0; j < count[1]; ++j) {
        const double* from = own + (i * size_[1] + j) * size_[2];
        double* row = cells_ + box_.row(first[0] + i, first[1] + j) + first[2];
        for (std::size_t k = 0; k < count[2]; ++k) row[k] += from[k];
      }
    }
  }

  const TransformBox& box_;
  const simd::Window window_;
  const simd::SpreadTable& table_;
  const int first_axis_;
  const TileOrder& order_;
  double* const cells_;
  std::array<std::size_t, 3> size_;  // of a tile's own cells
  std::size_t of_own_ = 1, of_window_ = 1;
  std::vector<AlignedBuffer> own_;
};

}  // namespace

FourierGrid::FourierGrid(const FourierGeometry& geometry, const RunOptions& options)
    : geometry_(geometry),
      window_(geometry.taps),
      cells_(zeros(geometry.box.size(), part_of(options.parallel, 0, 0))) {}

void FourierGrid::add(const MatrixView& x, Weights w, const RunOptions& options) {
  if (x.cols != geometry_.d || x.rows != w.size) {
    throw error(ErrorKind::internal, "samples of another size than the grid's");
  }
  const WeightSums weights = weight_sums(w, options.parallel);
  weight_ += weights.sum;
  squares_ += weights.squares;
  TileOrder order(geometry_);
  TileSpreader spreader(geometry_, window_, *options.table->spread, order, cells_.data());
  for (std::size_t first = 0; first < x.rows; first += kPart) {
    order.sort(x, w, first, std::min(x.rows, first + kPart), options, &tail_);
    // Tiles of one colour share no cell, and the colours are worked on one after the other. So a
    // cell always gets its terms in the same order.
    std::vector<std::vector<std::size_t>> of_colour(8);
    for (std::size_t tile = 0; tile < order.tiles(); ++tile) {
      const auto at = order.position(tile);
      if (order.begin(tile) == order.end(tile)) continue;
      of_colour[at[0] % 2 * 4 + at[1] % 2 * 2 + at[2] % 2].push_back(tile);
    }
    spreader.spread(of_colour, options.parallel);
  }
}

}  // namespace kestrel
