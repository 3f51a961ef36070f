// The tiles of a grid for the `scanline` engine on a device, and the samples of each.
#ifndef KESTREL_GPU_SCANLINE_TILES_HPP
#define KESTREL_GPU_SCANLINE_TILES_HPP

#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/raw_array.hpp"
#include "core/scanline/scanline.hpp"
#include "gpu/gpu_abi.h"

namespace kestrel {

/// Numbers of indices of the last axis: the parts of each piece of a slab.
using Cuts = std::vector<std::vector<std::size_t>>;

/// Tiles of a piece, where the ranges of their samples are, and the parts they make.
struct PieceTiles {
  std::vector<kestrel_gpu_scanline_tile> tile;
  std::vector<kestrel_gpu_scanline_part> part;
  std::size_t first_range = 0, ranges = 0;
  std::size_t first_point = 0;  // in the slab
  double work = 0.0;            // as many points take about as long
};

/// The pieces of a slab, those that take longest first, and the ranges of all of them.
struct SlabTiles {
  std::vector<PieceTiles> piece;
  RawArray<kestrel_gpu_scanline_range> range;
};

/// The pieces of a slab from index `first` on. events: whether the device adds the ends of runs.
SlabTiles scanline_tiles(const ScanlineDensity& density, bool events, std::size_t first,
                         const Cuts& cuts, const ParallelOptions& threads);

}  // namespace kestrel

#endif
