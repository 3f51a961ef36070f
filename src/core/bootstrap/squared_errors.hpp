// Integrated squared errors of estimates with the radial Epanechnikov kernel on a grid, with many
// bandwidths at once.
#ifndef KESTREL_CORE_BOOTSTRAP_SQUARED_ERRORS_HPP
#define KESTREL_CORE_BOOTSTRAP_SQUARED_ERRORS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/raw_array.hpp"
#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/base/whole.hpp"
#include "core/kernel/kernel.hpp"
#include "simd/bootstrap/squared_errors.hpp"

namespace kestrel {

/// A grid, regular or not, whose points increase along each axis, and the trapezoid rule's weight
/// for each index. The last axis is the fastest in memory.
struct IntegrationGrid {
  std::vector<Span<const double>> axes;
  std::vector<Span<const double>> widths;
};

/// The arrays of a list of samples, which grow as needed.
class SampleList {
 public:
  /// Makes room for that many samples with that many axes left; old contents are lost.
  const simd::NearSamples& prepare(std::size_t samples, std::size_t axes) {
    if (samples > room_) {
      room_ = std::max(samples, room_ + room_ / 4);
      const std::size_t length = room_ + simd::kLanes;
      values_ = RawArray<double>((axes + 1) * length);
      list_.part = values_.data();
      for (std::size_t a = 0; a < axes; ++a) list_.centre[a] = values_.data() + (a + 1) * length;
    }
    return list_;
  }
  const simd::NearSamples& list() const { return list_; }

 private:
  std::size_t room_ = 0;
  RawArray<double> values_;
  simd::NearSamples list_{};
};

/// The integrals over a grid of (f - f_j)^2, f a target and f_j estimates from a sample with
/// H = h_j^2 S, S = L L'.
///
/// All bandwidths are done in one pass. The samples near a block of eight points of a row are found
/// axis by axis, from the slowest to the fastest, with y = L^-1 (e - x) by forward substitution.
/// Each sample gives q = |y|^2 once, and (h_j^2 - q)_+ for each bandwidth in two instructions:
/// max(h_j^2, q) is summed, and the sum of all q, common to the bandwidths, is subtracted at the
/// end. The sums of eight points for up to twelve bandwidths stay in registers, and no estimate is
/// ever stored. Bandwidths whose ratio exceeds two, or of which there are more than twelve, are
/// taken in groups, so that a narrow kernel's sums are not lost in the rounding of those of q.
///
/// Error: in the tests, below 1e-13 of an integral.
class SquaredErrors {
 public:
  /// root: L, d*d column-major, d = 1 to 6; target: in the order of the grid; h > 0. Copies all of
  /// it. Throws error(input) for another d, for axes that overflow in units of L, and where
  /// kernel_scale() does. O(points).
  SquaredErrors(const IntegrationGrid& grid, Span<const double> root, Span<const double> h,
                Span<const double> target);

  /// Memory of a worker of `of`, kept between calls.
  struct Workspace {
    /// Samples for one axis, in the order found and sorted by the axis' pieces; piece p starts at
    /// start[p].
    struct Level {
      SampleList found, sorted;
      std::vector<std::uint32_t> start, piece;
    };
    Level level[simd::kErrorAxes];
    Level few, block;            // of the axis before the last: near some blocks; near one
    SampleList near;             // near a row of one block
    std::vector<double> errors;  // as simd::SquaredErrorTable::add_errors adds them
    std::vector<double> parts;   // for each part of the grid
  };

  std::size_t bandwidths() const { return bandwidths_; }
  /// Whether a sample of this size takes, on one thread, about as long as the time between polls.
  bool brief(std::size_t samples) const;

  /// errors: one for each bandwidth, for the estimates from x, n*d, finite. Adds up the indices of
  /// the slowest axis in order: the same bits for every number of threads and every instruction
  /// set. The workers of options.parallel use workspaces from `first` on. O(points + n times the
  /// points covered by a kernel). A grid of one or two axes also looks at all samples for every 64
  /// points (for every eight, if that makes no more than 64 parts and is not brief()).
  void of(const MatrixView& x, const RunOptions& options, std::vector<Workspace>* workspaces,
          std::size_t first, Span<double> errors) const;

 private:
  /// An axis in units of L_aa, from its first point. Samples are sorted by equal pieces of it, as
  /// many as it has indices; on the last axis pieces are blocks of points.
  struct Axis {
    double origin, inverse;
    std::vector<double> at;
    std::vector<double> widths;
    std::vector<double> slope;  // L_ba / L_bb of the later axes b
    std::size_t pieces;
    double scale;  // pieces per unit
    std::size_t piece(double place) const {
      const double max = static_cast<double>(pieces - 1);
      return whole_number<std::size_t>(std::min(std::max(place * scale, 0.0), max));
    }
  };
  /// [begin, end).
  struct Pieces {
    std::size_t begin, end;
  };
  /// Bandwidths that are taken together, with level and scale as in simd::ErrorBlock. index: their
  /// positions in h. near: for each index of each axis but the last, the pieces whose samples may
  /// reach it.
  struct Group {
    std::vector<double> level, scale;
    std::vector<std::size_t> index;
    std::vector<std::vector<Pieces>> near;
    double reach;
  };
  struct Run;

  void keep_target(Span<const double> target, std::size_t points);
  void make_groups(Span<const double> h, const ScaledNumber& constant);
  void centres(const MatrixView& x, Workspace* own) const;
  void sort(std::size_t a, std::size_t count, Workspace* own) const;
  double descend(const Run& run, std::size_t a, std::size_t index, std::size_t point,
                 double width) const;
  void cut(const Run& run, const Workspace::Level& from, Pieces blocks, Workspace::Level* to) const;
  double rows(const Run& run, const Workspace::Level& level, Pieces blocks, std::size_t point,
              double width) const;
  double block_errors(const Run& run, std::size_t b, std::size_t point, double width) const;

  std::size_t variables_, bandwidths_;
  std::vector<Axis> axes_;  // at least two: a single variable gets an axis of one point before it
  std::vector<Group> groups_;
  std::size_t row_length_;      // points of a row, rounded up to whole blocks
  std::vector<double> target_;  // rows of that length
  /// For each axis: the integral of the squared target over the part of the grid that belongs to an
  /// index of it and of the axes before; for the last axis, to a block.
  std::vector<std::vector<double>> squared_;
};

}  // namespace kestrel

#endif
