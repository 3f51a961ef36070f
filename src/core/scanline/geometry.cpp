#include "core/scanline/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

constexpr double kWidest = 35184372088832.0;  // 2^45
/// The minimum of half the length of a run, in steps: positions are good to about 2^-53 of a step,
/// which is then 3e-14 of a bandwidth.
constexpr double kNarrowest = 1.0 / 256;

using Matrix = std::array<std::array<long double, simd::kScanlineAxes>, simd::kScanlineAxes>;

/// The lower triangular L with L L' = M M' and a positive diagonal, by plane rotations of columns
/// (Golub & Van Loan 2013, 5.2.5). Unlike a factorisation of M M', they lose no digits.
void make_lower(std::size_t d, Matrix* m) {
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = i + 1; j < d; ++j) {
      const long double a = (*m)[i][i], b = (*m)[i][j], r = std::hypot(a, b);
      if (b == 0) continue;
      for (std::size_t k = i; k < d; ++k) {
        const long double p = (*m)[k][i], q = (*m)[k][j];
        (*m)[k][i] = (a * p + b * q) / r;
        (*m)[k][j] = (a * q - b * p) / r;
      }
    }
    if ((*m)[i][i] > 0) continue;
    for (std::size_t k = i; k < d; ++k) (*m)[k][i] = -(*m)[k][i];
  }
}

void check_axis(const RegularAxis& axis, std::size_t k) {
  const bool counted =
      axis.count >= 1 && static_cast<double>(axis.count) <= simd::kScanlineFarthest;
  const bool stepped = axis.count == 1 || (axis.step > 0 && std::isfinite(axis.step));
  if (axis.values.size != 0 && axis.values.size != axis.count) {
    throw error(ErrorKind::internal, "values of an axis of a wrong number");
  }
  if (counted && stepped && std::isfinite(axis.origin)) return;
  throw error(ErrorKind::input, "axis " + std::to_string(k + 1) +
                                    " of the grid must have a finite origin, a positive step and "
                                    "between 1 and 2^27 points");
}

}  // namespace

ScanlineGeometry::ScanlineGeometry(Span<const RegularAxis> axes, Span<const double> root,
                                   KernelType type)
    : type_(type), d_(axes.size), axes_(std::max<std::size_t>(2, axes.size)) {
  if (d_ < 1 || d_ > simd::kScanlineAxes) {
    throw error(ErrorKind::input,
                "the scanline engine takes 1 to 6 variables, not " + std::to_string(d_));
  }
  if (root.size != d_ * d_) throw error(ErrorKind::internal, "bandwidth root of a wrong size");
  for (std::size_t k = 0; k < d_; ++k) check_axis(axes[k], k);
  check_product_root(type, d_, root);
  std::size_t best = 0;
  double longest = -1;
  for (std::size_t k = 0; k < d_; ++k) {
    factor(axes, root, k);
    const double run = std::min(2 * radius(), static_cast<double>(axes[k].count));
    if (run > longest) {
      longest = run;
      best = k;
    }
  }
  factor(axes, root, best);
  shift_[0].assign(1 + simd::kLanes, 0.0);
  for (std::size_t i = axes_ - d_; i < axes_; ++i) {
    shift_[i] = shifts_of(axes[user_[i]], simd::kLanes);
    for (const double shift : shift_[i]) max_shift_[i] = std::max(max_shift_[i], std::fabs(shift));
    if (max_shift_[i] > kMaxShift) throw error(ErrorKind::input, "an axis is not regular");
  }
  for (std::size_t i = 0; i < axes_; ++i) {
    if (slope_[i][i] >= kNarrowest && reach_[i] < kWidest) continue;
    throw error(ErrorKind::input,
                "the bandwidth of a variable is less than 1/256 of a grid step, or 2^45 or more");
  }
}

double ScanlineGeometry::reached(std::size_t axes) const {
  const std::size_t shift = axes_ - d_;
  const int dimensions = static_cast<int>(axes - shift);
  double volume = product() ? std::ldexp(1.0, dimensions) : ball_volume(dimensions);
  double all = 1;
  for (std::size_t a = shift; a < axes; ++a) {
    volume *= slope_[a][a];
    all *= static_cast<double>(count_[a]);
  }
  return std::min(volume, all);
}

double ScanlineGeometry::points_reached() const { return reached(axes_); }

double ScanlineGeometry::rows_crossed() const { return reached(axes_ - 1); }

std::size_t ScanlineGeometry::points() const {
  std::size_t all = 1;
  for (std::size_t a = 0; a < axes_; ++a) all *= count_[a];
  return all;
}

ScanlineBox ScanlineGeometry::slab(std::size_t first, std::size_t count) const {
  ScanlineBox box;
  for (std::size_t a = 0; a < axes_; ++a) {
    const bool last = a >= axes_ - d_ && user_[a] == d_ - 1;
    box.first[a] = last ? first : 0;
    box.last[a] = (last ? first + count : count_[a]) - 1;
  }
  return box;
}

simd::ScanlineLineAxis ScanlineGeometry::line_axis() const {
  const std::size_t a = axes_ - 1;
  return {leaf_axis(a), -margin(a), static_cast<double>(count_[a] - 1) + margin(a)};
}

void ScanlineGeometry::factor(Span<const RegularAxis> axes, Span<const double> root,
                              std::size_t run_axis) {
  const std::size_t shift = axes_ - d_;
  std::size_t at = shift;
  for (std::size_t k = d_; k-- > 0;) {
    if (k != run_axis) user_[at++] = k;
  }
  user_[axes_ - 1] = run_axis;
  count_[0] = stride_[0] = 1;
  slope_[0][0] = step_[0] = reach_[0] = 1;
  Matrix m{};
  for (std::size_t i = shift; i < axes_; ++i) {
    const std::size_t k = user_[i];
    count_[i] = axes[k].count;
    origin_[i] = axes[k].origin;
    stride_[i] = 1;
    for (std::size_t before = 0; before < k; ++before) stride_[i] *= axes[before].count;
    long double squares = 0;
    for (std::size_t j = 0; j <= k; ++j) {
      const long double v = root[j * d_ + k];
      squares += v * v;
    }
    // A single point has no step; this one serves.
    step_[i] = count_[i] > 1 ? axes[k].step : static_cast<double>(std::sqrt(squares));
    for (std::size_t j = 0; j <= k; ++j)
      m[i - shift][j] = root[j * d_ + k] / static_cast<long double>(step_[i]);
    inverse_step_[i] = 1 / step_[i];
    reach_[i] = static_cast<double>(std::sqrt(squares) / step_[i]);
    // The step in two parts of at most 27 bits (Dekker 1971): their products with an index,
    // at most 2^27, are exact.
    const double split = 134217729.0 * step_[i];
    step_high_[i] = split - (split - step_[i]);
    step_low_[i] = step_[i] - step_high_[i];
  }
  make_lower(d_, &m);
  for (std::size_t i = shift; i < axes_; ++i) {
    for (std::size_t j = shift; j <= i; ++j) {
      slope_[i][j] = static_cast<double>(m[i - shift][j - shift]);
    }
  }
}

}  // namespace kestrel
