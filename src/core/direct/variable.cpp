#include "core/direct/variable.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/kernel/kernel.hpp"
#include "simd/product/product.hpp"

namespace kestrel {

namespace {

/// In bandwidths: exp(-50) = 2e-22.
constexpr double kVariableReach = 10;
constexpr std::size_t kFactorBlock = 512;   // whose factors are kept at a time
constexpr std::size_t kFactorSamples = 32;  // of which a thread computes the factors
constexpr std::size_t kColumnBlock = 16;    // along the first axis that a thread adds to
/// A product of matrices takes this share of the time of a pair of sample and point (0.035 and 0.17
/// ns with AVX-512).
constexpr double kProductShare = 0.25;

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
  std::size_t reached(std::size_t sample) const { return last[sample] - first[sample]; }
  const double* of(std::size_t sample) const { return value.data() + sample * axis.size; }
};

/// The products of the factors of all axes but the first, of `count` samples for one column.
void heights_of(const std::vector<AxisFactors>& factors, std::size_t count, std::size_t column,
                double* height) {
  std::fill_n(height, count, 1.0);
  for (std::size_t k = 1; k < factors.size(); ++k) {
    const std::size_t at = column % factors[k].axis.size;
    column /= factors[k].axis.size;
    for (std::size_t j = 0; j < count; ++j) {
      height[j] *= factors[k].reaches(j, at) ? factors[k].of(j)[at] : 0.0;
    }
  }
}

/// Adds the kernels of samples with these heights to the points of a column of the grid, pair by
/// pair.
void add_to_column(const AxisFactors& factors, std::size_t count, const double* heights,
                   double* out) {
  for (std::size_t j = 0; j < count; ++j) {
    const double height = heights[j];
    if (height == 0) continue;
    const double* along = factors.of(j);
    const std::size_t last = factors.last[j];
    std::size_t i = factors.first[j];
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

/// The factors of the first axis for a block of its points, as rows of a matrix: one for each
/// sample that reaches any.
struct PointBlock {
  std::vector<std::size_t> sample;
  std::vector<double> row;

  void set(const AxisFactors& factors, std::size_t count, std::size_t begin) {
    constexpr std::size_t kColumns = simd::kProductColumns;
    sample.clear();
    const std::size_t end = std::min(begin + kColumns, factors.axis.size);
    for (std::size_t j = 0; j < count; ++j) {
      if (factors.first[j] < end && factors.last[j] > begin) sample.push_back(j);
    }
    row.resize(kFactorBlock * kColumns);
    std::fill_n(row.data(), sample.size() * kColumns, 0.0);
    for (std::size_t s = 0; s < sample.size(); ++s) {
      const std::size_t from = std::max(begin, factors.first[sample[s]]);
      const std::size_t to = std::min(end, factors.last[sample[s]]);
      std::copy(factors.of(sample[s]) + from, factors.of(sample[s]) + to,
                row.data() + s * kColumns + (from - begin));
    }
  }
};

/// Sums of kernels of a block of samples after the other, on some columns of the grid at a time.
class VariableSums {
 public:
  VariableSums(const std::vector<Span<const double>>& axes, std::size_t columns,
               const RunOptions& options, Span<double> out)
      : factors_(axes.begin(), axes.end()),
        columns_(columns),
        table_(*options.table->product),
        out_(out),
        blocks_((axes[0].size + simd::kProductColumns - 1) / simd::kProductColumns) {}

  /// The factors of samples begin, ..., begin + count - 1.
  void set(const MatrixView& x, Weights w, Span<const double> h, std::size_t begin,
           std::size_t count, const ParallelOptions& options);
  void add(std::size_t count, const ParallelOptions& options);

 private:
  void multiply(std::size_t count, const double* heights, std::size_t first, std::size_t last,
                double* chosen) const;

  std::vector<AxisFactors> factors_;
  const std::size_t columns_;
  const simd::ProductTable& table_;
  const Span<double> out_;
  std::vector<PointBlock> blocks_;
};

void VariableSums::set(const MatrixView& x, Weights w, Span<const double> h, std::size_t begin,
                       std::size_t count, const ParallelOptions& options) {
  const double per_width = 1 / std::sqrt(2 * kPi);
  parallel_for((count + kFactorSamples - 1) / kFactorSamples, options, [&](std::size_t item, int) {
    const std::size_t end = std::min(count, (item + 1) * kFactorSamples);
    for (std::size_t j = item * kFactorSamples; j < end; ++j) {
      for (std::size_t k = 0; k < x.cols; ++k) {
        const double width = h[begin + j];
        const double weight = k == 0 ? w[begin + j] : 1.0;
        factors_[k].set(j, x.column(k)[begin + j], width, weight * (per_width / width));
      }
    }
  });
}

/// Products of matrices for the columns first, ..., last - 1; chosen: memory for as many heights.
void VariableSums::multiply(std::size_t count, const double* heights, std::size_t first,
                            std::size_t last, double* chosen) const {
  double sum[kColumnBlock * simd::kProductColumns];
  const std::size_t length = factors_[0].axis.size;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const std::vector<std::size_t>& sample = blocks_[b].sample;
    for (std::size_t c = 0; c < last - first; ++c) {
      for (std::size_t s = 0; s < sample.size(); ++s) {
        chosen[c * kFactorBlock + s] = heights[c * count + sample[s]];
      }
    }
    table_.multiply(chosen, last - first, kFactorBlock, sample.size(), blocks_[b].row.data(), sum,
                    simd::kProductColumns);
    const std::size_t begin = b * simd::kProductColumns;
    const std::size_t points = std::min(simd::kProductColumns, length - begin);
    for (std::size_t c = first; c < last; ++c) {
      double* to = out_.data + c * length + begin;
      const double* from = sum + (c - first) * simd::kProductColumns;
      for (std::size_t i = 0; i < points; ++i) to[i] += from[i];
    }
  }
}

void VariableSums::add(std::size_t count, const ParallelOptions& options) {
  double pairs = 0;
  for (std::size_t j = 0; j < count; ++j) {
    double reached = 1;
    for (const AxisFactors& factors : factors_) reached *= static_cast<double>(factors.reached(j));
    pairs += reached;
  }
  double products = 0;
  parallel_for(blocks_.size(), part_of(options, 0, 0.1), [&](std::size_t b, int) {
    blocks_[b].set(factors_[0], count, b * simd::kProductColumns);
  });
  for (const PointBlock& block : blocks_) {
    products += static_cast<double>(block.sample.size() * columns_ * simd::kProductColumns);
  }
  const bool by_products = kProductShare * products < pairs;
  const std::size_t items = (columns_ + kColumnBlock - 1) / kColumnBlock;
  const ParallelOptions part = part_of(options, 0.1, 1);
  std::vector<std::vector<double>> scratch(parallel_workers(items, part));
  parallel_for(items, part, [&](std::size_t item, int worker) {
    std::vector<double>& held = scratch[static_cast<std::size_t>(worker)];
    held.resize(2 * kColumnBlock * kFactorBlock);
    double *heights = held.data(), *chosen = heights + kColumnBlock * kFactorBlock;
    const std::size_t first = item * kColumnBlock, last = std::min(columns_, first + kColumnBlock);
    for (std::size_t c = first; c < last; ++c) {
      heights_of(factors_, count, c, heights + (c - first) * count);
    }
    if (by_products) return multiply(count, heights, first, last, chosen);
    for (std::size_t c = first; c < last; ++c) {
      add_to_column(factors_[0], count, heights + (c - first) * count,
                    out_.data + c * factors_[0].axis.size);
    }
  });
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
  VariableSums sums(axes, columns, options, out);
  const double rows = static_cast<double>(x.rows);
  for (std::size_t begin = 0; begin < x.rows; begin += kFactorBlock) {
    const std::size_t count = std::min(kFactorBlock, x.rows - begin);
    const ParallelOptions part = part_of(options.parallel, static_cast<double>(begin) / rows,
                                         static_cast<double>(begin + count) / rows);
    sums.set(x, w, h, begin, count, part_of(part, 0, 0.3));
    sums.add(count, part_of(part, 0.3, 1));
  }
}

}  // namespace kestrel
