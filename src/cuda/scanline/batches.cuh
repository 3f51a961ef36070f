// The batches of tiles that scanline.cu computes one after the other.
#ifndef KESTREL_CUDA_SCANLINE_BATCHES_CUH
#define KESTREL_CUDA_SCANLINE_BATCHES_CUH

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cuda/base/device.cuh"
#include "cuda/scanline/row_samples.cuh"
#include "cuda/scanline/task.cuh"
#include "cuda/scanline/values.cuh"

namespace kestrel_cuda {

/// About the maximum number of warps of samples in a batch of several tiles.
constexpr unsigned kBatchWarps = 1u << 24;

struct Batch {
  std::size_t first_tile, tiles, first_work, works;
  std::size_t cells;
  unsigned warps, groups, blocks;
};

/// The batches of a slab.
struct Batches {
  std::vector<ScanlineTile> tile;
  std::vector<ScanlineWork> work;
  std::vector<Batch> batch;
  std::vector<std::size_t> first;  // the first batch of each part, and the number of batches
  std::size_t cells = 0;           // of the largest batch
  RowShape shape;                  // of blocks for rows

  /// Keeps the memory: a slab may have millions of ranges.
  void clear() {
    tile.clear();
    work.clear();
    batch.clear();
    first.clear();
    cells = 0;
  }
};

/// Puts tile t of the slab into the last batch.
inline void add_tile(const kestrel_gpu_scanline_slab& slab, std::size_t t, Batches* to) {
  const kestrel_gpu_scanline_tile& at = slab.tile[t];
  Batch& batch = to->batch.back();
  const std::size_t rows = static_cast<std::size_t>(at.row_end - at.row_begin);
  ScanlineTile tile{at,          static_cast<unsigned>(batch.cells), batch.groups, batch.warps, 0,
                    batch.blocks};
  const std::size_t last = t + 1 < slab.tiles ? slab.tile[t + 1].first_range : slab.ranges;
  for (std::size_t r = at.first_range; r < last; ++r) {
    const std::size_t begin = slab.range[r].begin, end = slab.range[r].end;
    if (begin == end) continue;
    to->work.push_back({static_cast<unsigned>(begin), static_cast<unsigned>(end),
                        static_cast<unsigned>(batch.tiles), batch.warps});
    batch.warps += pieces(end - begin, kWarp);
    ++batch.works;
  }
  tile.end_warp = batch.warps;
  to->tile.push_back(tile);
  batch.blocks += to->shape.columns(at) * to->shape.bands(at) *
                  pieces(tile.end_warp - tile.first_warp, kChunkWarps);
  batch.cells += rows * at.row_length;
  batch.groups += pieces(rows, kScanWarps);
  ++batch.tiles;
  to->cells = std::max(to->cells, batch.cells);
}

/// Blocks that are no larger than the largest tile. Tall ones come first: a sample that reaches a
/// row mostly reaches many.
inline RowShape shape_for(const kestrel_gpu_scanline_slab& slab) {
  unsigned rows = 1, points = 1;
  for (std::size_t t = 0; t < slab.tiles; ++t) {
    const kestrel_gpu_scanline_tile& at = slab.tile[t];
    rows = std::max(rows, static_cast<unsigned>(at.row_end - at.row_begin));
    points = std::max(points, static_cast<unsigned>(at.run_end - at.run_begin));
  }
  RowShape shape;
  shape.across = std::min(kRowWarps / 2, pieces(rows, kRowsOfWarp));
  shape.along = std::min(kRowWarps / shape.across, pieces(points, kWarp));
  return shape;
}

inline void make_batches(const kestrel_gpu_scanline_slab& slab, std::size_t cell_bytes,
                         Batches* to) {
  Batches& all = *to;
  all.clear();
  all.shape = shape_for(slab);
  all.tile.reserve(slab.tiles);
  all.work.reserve(slab.ranges);
  for (std::size_t p = 0; p < slab.parts; ++p) {
    const std::size_t end = p + 1 < slab.parts ? slab.part[p + 1].first_tile : slab.tiles;
    all.first.push_back(all.batch.size());
    for (std::size_t t = slab.part[p].first_tile; t < end; ++t) {
      const kestrel_gpu_scanline_tile& at = slab.tile[t];
      const std::size_t cells = static_cast<std::size_t>(at.row_end - at.row_begin) * at.row_length;
      const bool begins = t == slab.part[p].first_tile;
      if (begins || (all.batch.back().cells + cells) * cell_bytes > kestrel::kScanlineBatchBytes ||
          all.batch.back().warps > kBatchWarps) {
        all.batch.push_back({t, 0, all.work.size(), 0, 0, 0, 0, 0});
      }
      add_tile(slab, t, to);
    }
  }
  all.first.push_back(all.batch.size());
}

}  // namespace kestrel_cuda

#endif
