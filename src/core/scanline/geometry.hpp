// A kernel and the samples in the index units of a regular grid, for the `scanline` engine.
#ifndef KESTREL_CORE_SCANLINE_GEOMETRY_HPP
#define KESTREL_CORE_SCANLINE_GEOMETRY_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/span.hpp"
#include "core/base/whole.hpp"
#include "core/kernel/kernel.hpp"
#include "core/scanline/axis.hpp"
#include "shared/unfused.hpp"
#include "simd/scanline/line.hpp"
#include "simd/scanline/scanline.hpp"

namespace kestrel {

/// Anchors of run polynomials stay within blocks of this many points of the run axis. That bounds
/// the effect of rounding their coefficients, for runs of every length.
constexpr std::size_t kScanlineBlock = 8192;

/// Where a sample lies: the nearest grid index of each axis, clamped to kScanlineFarthest, and the
/// offset from it.
struct ScanlineIndex {
  std::array<std::int32_t, simd::kScanlineAxes> base;
  std::array<double, simd::kScanlineAxes> part;
};

/// Part of a grid: indices first, ..., last of each axis.
struct ScanlineBox {
  std::array<std::size_t, simd::kScanlineAxes> first{}, last{};
};

/// The axes of a grid in the order of the engine: the outer ones from the last of the user's, then
/// the row axis, then the run axis. A grid of one axis gets a row axis of one point, on which every
/// sample lies.
///
/// With G the lower Cholesky factor of H in that order, divided by the steps, the ellipsoid of a
/// kernel is a nest of intervals: given the indices on the axes before it, each axis has one. (G is
/// a Cholesky factor, and the Schur complement of the inverse is the inverse of the marginal.) A
/// box is a nest whose intervals do not depend on the other axes. The run axis is the one with the
/// longest runs, 2 G_dd, for which the grid has room, since the work is proportional to the number
/// of rows.
class ScanlineGeometry {
 public:
  /// axes and root in the user's order; root: lower Cholesky factor of H, d*d column-major. Throws
  /// error(input) unless 1 <= d <= 6 and every axis has between 1 and 2^27 points, a positive
  /// finite step if there is more than one, and values, if any, within kMaxShift. Also throws for
  /// half a run of less than 1/256 of a step, for which positions lack the digits, for a bandwidth
  /// of 2^45 steps or more, and for a product kernel with a root that is not diagonal. O(d^4).
  ScanlineGeometry(Span<const RegularAxis> axes, Span<const double> root,
                   KernelType type = KernelType::radial);

  std::size_t axes() const { return axes_; }
  /// Whether the grid has one axis, so that the row axis is artificial.
  bool line() const { return d_ == 1; }
  /// Whether kernels are boxes instead of ellipsoids.
  bool product() const { return type_ == KernelType::product; }
  /// The user's number of an axis; undefined for the artificial one.
  std::size_t user(std::size_t axis) const { return user_[axis]; }
  std::size_t count(std::size_t axis) const { return count_[axis]; }
  /// Values between neighbours along an axis in the output, whose first axis is the user's first.
  std::size_t stride(std::size_t axis) const { return stride_[axis]; }
  /// Half the width of the kernel's bounding box along an axis, in steps (math: sqrt(H_kk) / step).
  double reach(std::size_t axis) const { return reach_[axis]; }
  /// Half the length of the longest run.
  double radius() const { return slope_[axes_ - 1][axes_ - 1]; }
  double slope(std::size_t i, std::size_t j) const { return slope_[i][j]; }
  /// How far each point of an axis is from its index, in steps: kLanes more values than points.
  const double* shift(std::size_t axis) const { return shift_[axis].data(); }
  double max_shift(std::size_t axis) const { return max_shift_[axis]; }

  /// How many points of the grid lie within a kernel, and how many rows have at least one of them:
  /// averages over the samples of a large grid, at most what the grid has.
  double points_reached() const;
  double rows_crossed() const;
  std::size_t points() const;

  /// The points of the grid with indices first, ..., first + count - 1 on the user's last axis.
  ScanlineBox slab(std::size_t first, std::size_t count) const;

  /// Returns whether the bounding box of sample i meets the grid; if so, sets *to to the sample's
  /// position.
  bool grid_index(const MatrixView& x, std::size_t i, ScanlineIndex* to) const;
  /// The constants of grid_index() for an axis.
  ScanlineAxis leaf_axis(std::size_t a) const {
    return {origin_[a], inverse_step_[a], step_high_[a], step_low_[a]};
  }
  /// Those of the run axis, for leaves that compute the grid indices of samples of one variable.
  simd::ScanlineLineAxis line_axis() const;

 private:
  /// Lattice points of the first axes within a kernel's projection on them.
  double reached(std::size_t axes) const;
  /// How far, in steps, the centres of boxes that meet the grid may lie outside it.
  double margin(std::size_t axis) const { return reach_[axis] * (1 + 1e-9) + 1e-6; }
  void factor(Span<const RegularAxis> axes, Span<const double> root, std::size_t run_axis);

  const KernelType type_;
  std::size_t d_, axes_;
  std::array<std::size_t, simd::kScanlineAxes> user_{}, count_{}, stride_{};
  std::array<double, simd::kScanlineAxes> origin_{}, step_{}, inverse_step_{}, step_high_{},
      step_low_{}, reach_{}, max_shift_{};
  std::array<std::vector<double>, simd::kScanlineAxes> shift_;
  double slope_[simd::kScanlineAxes][simd::kScanlineAxes] = {};
};

inline bool ScanlineGeometry::grid_index(const MatrixView& x, std::size_t i,
                                         ScanlineIndex* to) const {
  to->base[0] = 0;
  to->part[0] = 0;
  for (std::size_t a = axes_ - d_; a < axes_; ++a) {
    const unfused::GridIndex at = unfused::grid_index_of(leaf_axis(a), x(i, user_[a]));
    const double beyond = margin(a);
    const bool near =
        at.index >= -beyond && at.index <= static_cast<double>(count_[a] - 1) + beyond;
    if (!near) return false;
    to->base[a] = whole_number<std::int32_t>(at.base);
    to->part[a] = at.part;
  }
  return true;
}

}  // namespace kestrel

#endif
