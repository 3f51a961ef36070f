// The sums of samples over the tiles of a grid, in integers.
#ifndef KESTREL_CORE_SCANLINE_TILE_SUMS_HPP
#define KESTREL_CORE_SCANLINE_TILE_SUMS_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/kernel/kernel.hpp"
#include "core/scanline/geometry.hpp"
#include "core/scanline/sample.hpp"
#include "core/scanline/scale.hpp"
#include "core/scanline/tiles.hpp"
#include "simd/scanline/scanline.hpp"

namespace kestrel {

/// Integers of a cell.
std::size_t scanline_cell_values(const ScanlineTask& task, int limbs);

/// The kernel as the leaves take it, without the data of a uniform one.
simd::ScanlineForm scanline_form(const ScanlineGeometry& geometry, const ScanlineTask& task,
                                 const ScanlineScale& scale);

/// The density that one unit of the first limb is, of weights whose unit is one. kernel:
/// kernel_scale().
ScaledNumber scanline_unit(const ScanlineGeometry& geometry, const ScanlineTask& task,
                           const ScanlineScale& scale, ScaledNumber kernel);

/// Adds samples to the cells of each tile, and hands the cells over.
class ScanlineTileSums {
 public:
  /// Called for each tile, on any thread. The cells must be zero when it returns; they are null if
  /// no sample reaches the tile.
  using Take = std::function<void(const ScanlineBox& box, std::uint64_t* cells)>;

  /// All arguments must outlive the object.
  ScanlineTileSums(const ScanlineTiles& tiles, const ScanlineSample& sample,
                   const ScanlineTask& task, const simd::ScanlineForm& form, const Take& take,
                   const RunOptions& options);

  void run();

 private:
  /// Cells aligned to 64 bytes, all zero, and other memory that a thread needs to fill them.
  class Workspace {
   public:
    void prepare(std::size_t values);
    bool ready() const { return cells_ != nullptr; }
    std::uint64_t* cells() { return cells_; }
    simd::ScanlineList* list() { return list_.get(); }
    std::vector<simd::ScanlineRange>& ranges() { return ranges_; }

   private:
    std::vector<std::uint64_t> storage_;
    std::uint64_t* cells_ = nullptr;
    std::unique_ptr<simd::ScanlineList> list_;
    std::vector<simd::ScanlineRange> ranges_;
  };

  void add(const ScanlineBox& box, const simd::ScanlineRange* ranges, std::size_t count,
           Workspace* own);
  void add_in_parts(const ScanlineBox& box, Workspace* own);
  void share_tile(std::size_t tile, const ParallelOptions& options);

  const ScanlineTiles& tiles_;
  const ScanlineSample& samples_;
  const simd::ScanlineForm& form_;
  const Take& take_;
  const RunOptions& options_;
  const simd::ScanlineSamples leaf_samples_;
  const simd::ScanlineStages& leaf_;
  const std::size_t values_;
  std::vector<Workspace> workers_;
};

}  // namespace kestrel

#endif
