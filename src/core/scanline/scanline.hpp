// The `scanline` engine: sums of compact kernels on a regular grid, in integers, from the intervals
// that each sample covers of the grid's rows.
#ifndef KESTREL_CORE_SCANLINE_SCANLINE_HPP
#define KESTREL_CORE_SCANLINE_SCANLINE_HPP

#include <cstddef>
#include <memory>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/kernel/kernel.hpp"
#include "core/scanline/axis.hpp"
#include "core/scanline/geometry.hpp"
#include "core/scanline/line.hpp"
#include "core/scanline/rim.hpp"
#include "core/scanline/sample.hpp"
#include "core/scanline/scale.hpp"

namespace kestrel {

struct ScanlineSettings {
  int limbs = 0;  ///< 64-bit integers of a number: 1, 2, 4 (rows: 2) or 0 = choose_scale
  std::size_t tile_bytes = 0;  ///< cells of a tile, 0 = what a second-level cache takes; for tests
  ScanlineMethod method = ScanlineMethod::best;
  bool sorted = false;  ///< sort also what ScanlineLine takes as it is
};

/// How ScanlineDensity adds samples where nobody says it. Throws error(input) for the Gaussian
/// kernel.
ScanlineMethod scanline_method(const ScanlineGeometry& geometry, const KernelChoice& choice);

/// Sums of compact kernels on a regular grid: out[i] = sum_j w_j K_H(e_i - x_j), e_i the points of
/// the grid, with the normalised kernel, |H|^-1/2 included and no division by n, as direct_density.
///
/// Along a row of a grid a sample's kernel lives on one interval (Lopez-Novoa 2015, 6.3, stops at
/// rectangles about it). At each of its points the value is added, rounded to a whole multiple of
/// a unit (rows). A radial Epanechnikov kernel is a quadratic there: its three coefficients,
/// rounded about its own centre, are added at the first point of the interval and subtracted behind
/// the last, and a running sum gives all values (events). In integers modulo 2^64 all that is
/// exact, whatever the order: the density of no sample is zero, and the same bits come out for
/// every number of threads, instruction set, size of tiles, order of the samples and slab.
/// A grid of one axis is one row, which takes samples as they come (ScanlineLine); for others they
/// are sorted (ScanlineSample).
///
/// Error: at most 1e-14 of the largest density or of the peak of the heaviest sample's kernel,
/// whichever is more, unless fewer limbs are asked for; 1e-13 of the peak of all kernels about a
/// point where a ScanlineLine leaves out what rounding did to the points of an axis. Zero where
/// every sample has |L^-1 (e - x_j)| >= 1 + 1e-13; also where the density is below 2^-unit-step
/// (see ScanlineScale) of such a peak; never negative. The uniform kernels, which jump at their
/// rim, have the points that direct_density gives them where that fuses products and sums (AVX2,
/// AVX-512).
class ScanlineDensity {
 public:
  /// x: n*d samples; w: n weights; axes: d; root: lower Cholesky factor L of H = L L', d*d
  /// column-major, in the units of x; d = 1 to 6. Keeps a sorted copy of the samples, or the sums
  /// of one row; none of the arguments. Throws error(input) for the Gaussian kernel and where
  /// ScanlineGeometry and ScanlineSample do. O(n) time; memory: 8 d bytes a sample, and 8 where
  /// weights differ; at most 2.5 MiB a thread more while they are sorted; or what ScanlineLine
  /// takes.
  ScanlineDensity(const MatrixView& x, Span<const double> w, Span<const RegularAxis> axes,
                  const KernelChoice& choice, Span<const double> root,
                  const ScanlineSettings& settings, const RunOptions& options);

  ScanlineDensity(const ScanlineDensity&) = delete;
  ScanlineDensity& operator=(const ScanlineDensity&) = delete;

  /// The points with indices first, ..., first + count - 1 on the last axis. out: count times the
  /// product of the other axes' counts, the first axis fastest, in units of x^-d.
  /// O(points + samples x rows crossed), a row of more than 8192 points being several, by events;
  /// O(points + samples x points covered) by rows; at most 1.5 MiB a thread. Of a
  /// ScanlineLine, O(points).
  void slab(std::size_t first, std::size_t count, const RunOptions& options,
            Span<double> out) const;

  /// Of the last axis.
  std::size_t count() const { return count_; }
  /// Of one of its indices.
  std::size_t points() const { return points_; }
  /// Whether no sample reaches the grid.
  bool empty() const { return line_ ? line_->empty() : sample_->size() == 0; }

  /// What other leaves than those of simd/ go by, valid as long as this. sample(): null for a
  /// ScanlineLine; form() and output() only where there is one and it is not empty.
  const ScanlineGeometry& geometry() const { return geometry_; }
  const ScanlineSample* sample() const { return sample_.get(); }
  simd::ScanlineForm form() const;
  simd::ScanlineOutput output(double* out) const;

 private:
  const ScanlineSettings settings_;
  const std::size_t points_, count_;
  const ScanlineGeometry geometry_;
  const ScanlineTask task_;
  const std::unique_ptr<const ScanlineLine> line_;
  const std::unique_ptr<const ScanlineSample> sample_;  // where there is no line
  const ScaledNumber scale_;
  const ScanlineRim rim_;
};

/// The whole grid.
void scanline_density(const MatrixView& x, Span<const double> w, Span<const RegularAxis> axes,
                      const KernelChoice& choice, Span<const double> root,
                      const ScanlineSettings& settings, const RunOptions& options,
                      Span<double> out);

}  // namespace kestrel

#endif
