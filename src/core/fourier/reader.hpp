// Reads a band-limited function off its values on a grid: the second half of a non-uniform Fourier
// transform of type 2.
#ifndef KESTREL_CORE_FOURIER_READER_HPP
#define KESTREL_CORE_FOURIER_READER_HPP

#include <array>
#include <cstdint>
#include <vector>

#include "core/data/evaluation_points.hpp"
#include "core/fourier/geometry.hpp"
#include "core/fourier/layout.hpp"
#include "core/fourier/window.hpp"

namespace kestrel {

/// z of evaluation point i.
Point3 whitened_point(const FourierGeometry& geometry, const EvaluationPoints& points,
                      std::size_t i);

/// out = sum_c psi(c - g) cell_c at points g, in cells; zero for points outside `readable`, the
/// ranges of z along each axis. `window` must outlive the object. The same bits for every number of
/// threads.
class FourierReader {
 public:
  FourierReader(const FourierGeometry& geometry, const FourierWindow& window,
                const std::array<Range, 3>& readable, const simd::Table* table);

  /// At one point, off `count` grids of box.size() cells each, one after the other. Returns false,
  /// and reads nothing, outside of `readable`. O(count taps^d).
  bool read_point(const double* cells, std::size_t count, const Point3& z, double* out) const;
  /// Point by point: O(m taps^d).
  void read_points(const double* cells, const EvaluationPoints& points,
                   const ParallelOptions& options, Span<double> out) const;

 private:
  bool is_readable(std::size_t axis, double z) const {
    return z >= readable_[axis].low && z <= readable_[axis].high;
  }
  /// The cell of tap 0, and its offset from the beginning of the window.
  void locate(std::size_t axis, double z, std::uint32_t* first, double* part) const;

  const FourierGeometry& geometry_;
  const simd::Window window_;
  const simd::SpreadTable& table_;
  std::array<Range, 3> readable_;
};

}  // namespace kestrel

#endif
