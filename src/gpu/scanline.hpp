// The `scanline` engine on the device: the counterpart of core/scanline/scanline.hpp.
#ifndef KESTREL_GPU_SCANLINE_HPP
#define KESTREL_GPU_SCANLINE_HPP

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/kernel/kernel.hpp"
#include "core/scanline/scanline.hpp"
#include "gpu/devices.hpp"
#include "gpu/gpu_abi.h"

namespace kestrel {

/// Sums of compact kernels on a regular grid, by events for radial Epanechnikov kernels, else by
/// rows. ScanlineDensity describes the arguments; if that sorts its samples and takes the same
/// method, it gives the same bits with the same limbs. The samples are sorted on the host and stay
/// on the device.
///
/// Memory on the device: 8 bytes for each number of a sample, 192 MiB of cells (more for tiles that
/// need it), and 512 MiB of the output (or two indices of the last axis, if these are larger); if
/// runs lie along the last axis, the output in as few parts as fit. A grid may be larger than the
/// device's memory. Each tile of a slab, which has about 8 MiB of cells (by rows 0.5 to 4 MiB),
/// takes 120 bytes more, and each range of its samples 16; on the host 220 and 32 (twice that while
/// they grow).
class GpuScanline {
 public:
  /// Of the settings only `limbs` and `divisor` are used. Throws error as ScanlineDensity does, and
  /// gpu_error as gpu_table() does.
  GpuScanline(const MatrixView& x, Weights w, Span<const RegularAxis> axes,
              const KernelChoice& choice, Span<const double> root, const ScanlineSettings& settings,
              const RunOptions& options);

  GpuScanline(const GpuScanline&) = delete;
  GpuScanline& operator=(const GpuScanline&) = delete;

  /// As ScanlineDensity::slab(). If out.data is null, the values stay on the device, which gives
  /// the time without the copy back. Polled once in 16 batches of tiles, which together take some
  /// milliseconds, but more with very many samples: a batch has up to 2^24 warps of them. A poll
  /// that stops it may have to wait for 20 ms of work on the device, or for two batches. By rows
  /// it is polled also between launches of 2^15 blocks. Throws as gpu_table() does.
  void slab(std::size_t first, std::size_t count, const RunOptions& options,
            Span<double> out) const;

  std::size_t count() const { return density_.count(); }
  std::size_t points() const { return density_.points(); }

 private:
  const KernelChoice choice_;
  const bool events_;
  const ScanlineDensity density_;
  const kestrel_gpu_table& table_;
  mutable DeviceTeam team_;
  mutable double held_ = 0.0;  // bytes of parts of the output that the last slab left on a device
};

/// The whole grid.
void gpu_scanline_density(const MatrixView& x, Weights w, Span<const RegularAxis> axes,
                          const KernelChoice& choice, Span<const double> root,
                          const ScanlineSettings& settings, const RunOptions& options,
                          Span<double> out);

}  // namespace kestrel

#endif
