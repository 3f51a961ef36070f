// The `scanline` engine: sums of compact kernels on a regular grid, in integers, from the intervals
// of the grid's rows that each sample covers.
#ifndef KESTREL_CORE_SCANLINE_SCANLINE_HPP
#define KESTREL_CORE_SCANLINE_SCANLINE_HPP

#include <cstddef>
#include <memory>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
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
  bool sorted = false;   ///< sort also what ScanlineLine takes as it is
  double divisor = 1.0;  ///< of all values: another pass over a large grid would take longer
};

/// How ScanlineDensity adds samples if the caller does not say. Throws error(input) for the
/// Gaussian kernel.
ScanlineMethod scanline_method(const ScanlineGeometry& geometry, const KernelChoice& choice);

/// Sums of compact kernels on a regular grid: out[i] = sum_j w_j K_H(e_i - x_j) / divisor, e_i the
/// points of the grid, with the normalised kernel, |H|^-1/2 included, as direct_density.
///
/// Along a row of a grid the support of a sample's kernel is one interval (Lopez-Novoa 2015, 6.3,
/// uses rectangles about it). Rows: at each point of the interval the value is added, rounded to a
/// multiple of a unit. Events: a radial Epanechnikov kernel is a quadratic there. Its three
/// coefficients, rounded about its own centre, are added at the first point of the interval and
/// subtracted after the last, and a running sum gives all values. In integers modulo 2^64 all that
/// is exact in any order: the density is exactly zero where there is no sample, and the bits are
/// the same for every number of threads, instruction set, size of tiles, order of the samples and
/// slab. A grid of one axis is one row, for which samples are taken in the order given
/// (ScanlineLine); for other grids they are sorted (ScanlineSample).
///
/// Error: at most 1e-14 of the largest density or of the peak of the heaviest sample's kernel,
/// whichever is larger, unless fewer limbs are asked for. If a ScanlineLine neglects that the
/// points of an axis are rounded: 1e-13 of the peak of all kernels about a point. Zero where every
/// sample has |L^-1 (e - x_j)| >= 1 + 1e-13, and where the density is below 2^-unit-step (see
/// ScanlineScale) of such a peak; never negative. The uniform kernels, which jump at their rim,
/// have the same points inside as in direct_density with fused products and sums (AVX2, AVX-512).
class ScanlineDensity {
 public:
  /// x: n*d samples; w: n weights; axes: d; root: lower Cholesky factor L of H = L L', d*d
  /// column-major, in the units of x; d = 1 to 6. Keeps a sorted copy of the samples or the sums of
  /// one row, and none of the arguments. Throws error(input) for the Gaussian kernel and where
  /// ScanlineGeometry and ScanlineSample do. O(n) time. Memory: 8 d bytes a sample, 8 more if
  /// weights differ, and at most 2.5 MiB a thread while they are sorted; or that of ScanlineLine.
  ScanlineDensity(const MatrixView& x, Weights w, Span<const RegularAxis> axes,
                  const KernelChoice& choice, Span<const double> root,
                  const ScanlineSettings& settings, const RunOptions& options);

  ScanlineDensity(const ScanlineDensity&) = delete;
  ScanlineDensity& operator=(const ScanlineDensity&) = delete;

  /// The points with indices first, ..., first + count - 1 on the last axis. out: count times the
  /// product of the other axes' counts, the first axis fastest, in units of x^-d. By events
  /// O(points + samples x rows crossed), where a row counts once for every 8192 points; by rows
  /// O(points + samples x points covered); at most 1.5 MiB a thread. With a ScanlineLine O(points).
  void slab(std::size_t first, std::size_t count, const RunOptions& options,
            Span<double> out) const;

  /// Points of the last axis.
  std::size_t count() const { return count_; }
  /// Points of the grid for one index of the last axis.
  std::size_t points() const { return points_; }
  /// Whether no sample reaches the grid.
  bool empty() const { return line_ ? line_->empty() : sample_->size() == 0; }

  /// For leaves outside simd/; valid as long as this object. sample() is null with a ScanlineLine;
  /// form() (without `data`), data() and output() may be called only if there is a sample and it is
  /// not empty.
  const ScanlineGeometry& geometry() const { return geometry_; }
  const ScanlineSample* sample() const { return sample_.get(); }
  simd::ScanlineForm form() const;
  /// For uniform kernels; else of no variables.
  simd::ScanlineData data() const { return rim_.leaf(*sample_); }
  simd::ScanlineOutput output(double* out) const;

 private:
  const ScanlineSettings settings_;
  const std::size_t points_, count_;
  const ScanlineGeometry geometry_;
  const ScanlineTask task_;
  const std::unique_ptr<const ScanlineLine> line_;
  const std::unique_ptr<const ScanlineSample> sample_;  // if there is no line
  const ScaledNumber scale_;
  const ScanlineRim rim_;
};

/// The density on the whole grid.
void scanline_density(const MatrixView& x, Weights w, Span<const RegularAxis> axes,
                      const KernelChoice& choice, Span<const double> root,
                      const ScanlineSettings& settings, const RunOptions& options,
                      Span<double> out);

}  // namespace kestrel

#endif
