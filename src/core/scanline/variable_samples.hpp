// The samples of a sum with a bandwidth for each, sorted by bandwidth and by place.
#ifndef KESTREL_CORE_SCANLINE_VARIABLE_SAMPLES_HPP
#define KESTREL_CORE_SCANLINE_VARIABLE_SAMPLES_HPP

#include <array>
#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/scanline/variable_geometry.hpp"

namespace kestrel {

/// A sample that reaches the grid, in the engine's order of axes.
struct LocatedSample {
  std::array<double, kVariableAxes> base{}, part{}, x{};  // index, offset from it, and as given
  double h = 0, weight = 0;
};

/// Samples of one range of bandwidths, [begin, end) of the sorted ones.
struct BandwidthRange {
  std::size_t begin, end;
  int range;
  double widest;   // above all bandwidths
  double largest;  // of the weights
  // Of the integers of events: w (2^range / h)^d / largest is that times 2^unit.
  int unit;
};

/// In ranges, each sorted along the first axis. Samples of one place are in the order given, so
/// that nothing depends on threads. O(n log n).
class VariableSamples {
 public:
  VariableSamples(const VariableGeometry& geometry, const MatrixView& x, Weights w,
                  Span<const double> h, const ParallelOptions& options);

  const std::vector<BandwidthRange>& ranges() const { return ranges_; }
  /// Those of a range that may reach indices first, ..., last of the first axis.
  Span<const LocatedSample> near(const BandwidthRange& range, std::size_t first,
                                 std::size_t last) const;

 private:
  void locate(const MatrixView& x, Weights w, Span<const double> h, const ParallelOptions& options);
  void make_ranges();

  const VariableGeometry& geometry_;
  std::vector<LocatedSample> samples_;
  std::vector<BandwidthRange> ranges_;
};

}  // namespace kestrel

#endif
