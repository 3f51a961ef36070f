// Values on a grid given by its axes, straight from the modes.
//
// A band-limited function is the sum of F_m W_m0(x_0) W_m1(x_1) W_m2(x_2) over its modes m, where
// W_m(x) = exp(i t_m x). So its values on a grid are the modes times one matrix for each axis, and
// partial derivatives or integrals of it take other matrices. A transform would make many more
// cells than such grids have points.
#ifndef KESTREL_CORE_FOURIER_MODE_SUMS_HPP
#define KESTREL_CORE_FOURIER_MODE_SUMS_HPP

#include <array>
#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/fourier/geometry.hpp"
#include "core/fourier/ranges.hpp"
#include "core/fourier/smooth.hpp"

namespace kestrel {

/// The matrices of an axis, one for each of some functions: W_m at each point for the modes m >= 0.
/// W_-m is the conjugate of W_m.
class AxisWaves {
 public:
  AxisWaves() = default;
  /// All are zero.
  AxisWaves(std::size_t functions, std::size_t points, std::size_t modes)
      : points_(points), terms_(2 * modes), value_(functions * points * terms_) {}

  std::size_t points() const { return points_; }
  /// Real and imaginary parts of the modes, side by side.
  std::size_t terms() const { return terms_; }
  double* row(std::size_t function, std::size_t point) {
    return value_.data() + (function * points_ + point) * terms_;
  }
  const double* row(std::size_t function, std::size_t point) const {
    return value_.data() + (function * points_ + point) * terms_;
  }

 private:
  std::size_t points_ = 0, terms_ = 0;
  std::vector<double> value_;
};

/// exp(i t_m z) and its derivatives up to an order by variable k of the data, at values of that
/// variable. The axes of the geometry are those of the data. Zero for points that are not
/// `readable`.
AxisWaves derivatives_of_waves(const FourierGeometry& geometry, std::size_t k,
                               Span<const double> values, const Range& readable, int order);

/// Expected seconds of sum_over_modes() on one thread if no modes are left out. max: the modes of
/// each axis; points: of each variable; lanes: doubles in a vector of the instruction set. O(1).
double mode_sum_seconds(const Point3& max, std::size_t d, const Point3& points, int order,
                        std::size_t lanes);

/// The memory of sum_over_modes() if it may take about half of `cells`, the memory of the cells.
/// O(1).
double mode_sum_bytes(const Point3& max, std::size_t d, const Point3& points, int order,
                      double cells);

/// The sums over the modes of a box, d = 2 or 3. `modes` are laid out as forward_transform() leaves
/// them, and are multiplied by `factors`; modes with t'ht > `limit` are left out.
///
/// waves: for each variable its functions 0 to `order`. out: for each combination of functions,
/// whose numbers add to `order`, in the order of Monomials, the values on the grid, the first
/// variable fastest. `bytes`: the memory that it may take, but for that of one group of points of
/// the first axis, see mode_sum_bytes(). With c modes and m points an axis, O(c^d m + c m^d) for
/// each combination. The same bits for every number of threads.
void sum_over_modes(const TransformBox& box, std::size_t d, const ModeFactors& factors,
                    double limit, const double* modes, const std::array<AxisWaves, 3>& waves,
                    int order, double bytes, const RunOptions& options, Span<double> out);

}  // namespace kestrel

#endif
