#include "core/direct/variable.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

/// In bandwidths: exp(-50) = 2e-22.
constexpr double kVariableReach = 10;
constexpr std::size_t kFactorBlock = 512;   // whose factors are kept at a time
constexpr std::size_t kFactorSamples = 32;  // of which a thread computes the factors
constexpr std::size_t kColumnBlock = 16;    // along the first axis that a thread adds to

/// The factors of one axis: entry j * length + i is that of sample j at point i, for the points
/// from first[j] to last[j].
struct AxisFactors {
  Span<const double> axis;
  std::vector<double> value;
  std::vector<std::size_t> first, last;

  explicit AxisFactors(Span<const double> points)
      : axis(points), value(kFactorBlock * points.size), first(kFactorBlock), last(kFactorBlock) {}

  /// The factors of a sample at `centre`, times `scale`.
  void set(std::size_t sample, double centre, double h, double scale) {
    const double* begin = axis.data;
    const double* end = begin + axis.size;
    const double* from = std::lower_bound(begin, end, centre - kVariableReach * h);
    const double* to = std::upper_bound(from, end, centre + kVariableReach * h);
    first[sample] = static_cast<std::size_t>(from - begin);
    last[sample] = static_cast<std::size_t>(to - begin);
    double* out = value.data() + sample * axis.size;
    for (std::size_t i = first[sample]; i < last[sample]; ++i) {
      const double u = (axis[i] - centre) / h;
      out[i] = scale * std::exp(-0.5 * u * u);
    }
  }
  bool reaches(std::size_t sample, std::size_t point) const {
    return point >= first[sample] && point < last[sample];
  }
  const double* of(std::size_t sample) const { return value.data() + sample * axis.size; }
};

/// Adds the kernels of `count` samples to the points of one column of the grid.
void add_to_column(const std::vector<AxisFactors>& factors, std::size_t count, std::size_t column,
                   double* out) {
  std::size_t at[3] = {0, 0, 0};
  for (std::size_t k = 1; k < factors.size(); ++k) {
    at[k] = column % factors[k].axis.size;
    column /= factors[k].axis.size;
  }
  for (std::size_t j = 0; j < count; ++j) {
    double height = 1;
    for (std::size_t k = 1; k < factors.size(); ++k) {
      height *= factors[k].reaches(j, at[k]) ? factors[k].of(j)[at[k]] : 0.0;
    }
    if (height == 0) continue;
    const double* along = factors[0].of(j);
    const std::size_t last = factors[0].last[j];
    std::size_t i = factors[0].first[j];
    // Four at a time are loaded before any is stored, so that compilers use vectors.
    for (; i + 4 <= last; i += 4) {
      const double sum[4] = {out[i] + height * along[i], out[i + 1] + height * along[i + 1],
                             out[i + 2] + height * along[i + 2],
                             out[i + 3] + height * along[i + 3]};
      std::copy(sum, sum + 4, out + i);
    }
    for (; i < last; ++i) out[i] += height * along[i];
  }
}

}  // namespace

void variable_grid(const MatrixView& x, Weights w, Span<const double> h,
                   const std::vector<Span<const double>>& axes, const RunOptions& options,
                   Span<double> out) {
  std::size_t columns = 1;
  for (std::size_t k = 1; k < axes.size(); ++k) columns *= axes[k].size;
  if (x.cols != axes.size() || x.cols < 1 || x.cols > 3 || h.size != x.rows || w.size != x.rows ||
      out.size != columns * axes[0].size) {
    throw error(ErrorKind::internal, "sizes of a sum with bandwidths that vary do not match");
  }
  std::fill(out.begin(), out.end(), 0.0);
  std::vector<AxisFactors> factors(axes.begin(), axes.end());
  const double per_width = 1 / std::sqrt(2 * kPi);
  for (std::size_t begin = 0; begin < x.rows; begin += kFactorBlock) {
    const std::size_t count = std::min(kFactorBlock, x.rows - begin);
    const double share = static_cast<double>(x.rows);
    const ParallelOptions part = part_of(options.parallel, static_cast<double>(begin) / share,
                                         static_cast<double>(begin + count) / share);
    parallel_for((count + kFactorSamples - 1) / kFactorSamples, part_of(part, 0, 0.3),
                 [&](std::size_t item, int) {
                   const std::size_t end = std::min(count, (item + 1) * kFactorSamples);
                   for (std::size_t j = item * kFactorSamples; j < end; ++j) {
                     for (std::size_t k = 0; k < x.cols; ++k) {
                       const double width = h[begin + j];
                       const double weight = k == 0 ? w[begin + j] : 1.0;
                       factors[k].set(j, x.column(k)[begin + j], width,
                                      weight * (per_width / width));
                     }
                   }
                 });
    parallel_for((columns + kColumnBlock - 1) / kColumnBlock, part_of(part, 0.3, 1),
                 [&](std::size_t item, int) {
                   const std::size_t end = std::min(columns, (item + 1) * kColumnBlock);
                   for (std::size_t c = item * kColumnBlock; c < end; ++c) {
                     add_to_column(factors, count, c, out.begin() + c * axes[0].size);
                   }
                 });
  }
}

}  // namespace kestrel
