#include "core/direct/variable_points.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.hpp"
#include "core/data/kd_order.hpp"

namespace kestrel {

namespace {

constexpr std::size_t kSamplesInBlock = 64;
constexpr std::size_t kPointsInItem = 16;

/// The profile of a compact kernel at a squared distance of at most one.
double compact_profile(const KernelRow& row, double q) {
  if (row.form == KernelForm::cosine) return std::cos(kPi / 2 * std::sqrt(q));
  const double power = row.inner == 2 ? q : row.inner == 1 ? std::sqrt(q) : q * std::sqrt(q);
  const double base = 1 - power;
  double value = 1;
  for (int k = 0; k < row.outer; ++k) value *= base;
  return value;
}

/// Samples in the order of a k-d tree, and the boxes of its leaves, the blocks.
struct SampleBlocks {
  std::size_t n, d;
  std::vector<double> x, w, h;          // x sample by sample; h empty if points have bandwidths
  std::vector<double> low, high, most;  // of blocks: corners, and the largest bandwidth

  SampleBlocks(const MatrixView& of, Weights weights, Span<const double> bandwidths,
               const ParallelOptions& options)
      : n(of.rows), d(of.cols) {
    KdOrder sorted;
    sorted.n = n;
    sorted.d = d;
    sorted.leaf = kSamplesInBlock;
    sorted.z = RawArray<double>(n * d);
    sorted.order.resize(n);
    for (std::size_t i = 0; i < n; ++i) sorted.order[i] = i;
    for (std::size_t k = 0; k < d; ++k) {
      for (std::size_t i = 0; i < n; ++i) sorted.z[k * n + i] = of(i, k);
    }
    sort_points(&sorted, options);
    for (const std::size_t i : sorted.order) {
      for (std::size_t k = 0; k < d; ++k) x.push_back(of(i, k));
      w.push_back(weights[i]);
      if (bandwidths.size > 0) h.push_back(bandwidths[i]);
    }
    for (std::size_t begin = 0; begin < n; begin += kSamplesInBlock) {
      const std::size_t end = std::min(n, begin + kSamplesInBlock);
      for (std::size_t k = 0; k < d; ++k) {
        double least = HUGE_VAL, largest = -HUGE_VAL;
        for (std::size_t j = begin; j < end; ++j) {
          least = std::min(least, x[j * d + k]);
          largest = std::max(largest, x[j * d + k]);
        }
        low.push_back(least);
        high.push_back(largest);
      }
      double widest = 0;
      for (std::size_t j = begin; j < end && !h.empty(); ++j) widest = std::max(widest, h[j]);
      most.push_back(widest);
    }
  }

  bool reaches(std::size_t block, const double* at, double reach) const {
    double square = 0;
    for (std::size_t k = 0; k < d; ++k) {
      const double beyond =
          std::max(std::max(low[block * d + k] - at[k], at[k] - high[block * d + k]), 0.0);
      square += (beyond / reach) * (beyond / reach);
    }
    return square <= 1;
  }
};

double sum_at(const SampleBlocks& of, const double* at, double h, const KernelRow& row) {
  const bool closed = row.form == KernelForm::power && row.outer == 0;
  double total = 0;
  for (std::size_t block = 0; block < of.most.size(); ++block) {
    if (!of.reaches(block, at, of.h.empty() ? h : of.most[block])) continue;
    double sum = 0;
    const std::size_t begin = block * kSamplesInBlock,
                      end = std::min(of.n, begin + kSamplesInBlock);
    for (std::size_t j = begin; j < end; ++j) {
      const double width = of.h.empty() ? h : of.h[j];
      double q = 0, volume = 1;
      for (std::size_t k = 0; k < of.d; ++k) {
        const double u = (at[k] - of.x[j * of.d + k]) / width;
        q += u * u;
        volume *= width;
      }
      if (q < 1 || (closed && q == 1)) sum += of.w[j] * compact_profile(row, q) / volume;
    }
    total += sum;
  }
  return total;
}

}  // namespace

void variable_points(const MatrixView& x, Weights w, Span<const double> h, bool by_point,
                     Kernel kernel, const MatrixView& points, const ParallelOptions& options,
                     Span<double> out) {
  const std::size_t d = x.cols;
  if (points.cols != d || w.size != x.rows || out.size != points.rows || !is_compact(kernel) ||
      h.size != (by_point ? points.rows : x.rows)) {
    throw error(ErrorKind::internal, "sizes of a sum with bandwidths that vary do not match");
  }
  const SampleBlocks samples(x, w, by_point ? Span<const double>() : h, part_of(options, 0, 0));
  std::vector<double> unit(d * d, 0.0);
  for (std::size_t k = 0; k < d; ++k) unit[k * d + k] = 1;
  const double scale =
      kernel_scale({kernel, KernelType::radial}, d, {unit.data(), unit.size()}).times(1.0);
  const std::size_t items = (points.rows + kPointsInItem - 1) / kPointsInItem;
  parallel_for(items, options, [&](std::size_t item, int) {
    std::vector<double> at(d);
    const std::size_t end = std::min(points.rows, (item + 1) * kPointsInItem);
    for (std::size_t i = item * kPointsInItem; i < end; ++i) {
      poll_if_due(options);
      if (loop_is_stopped()) return;
      for (std::size_t k = 0; k < d; ++k) at[k] = points(i, k);
      out[i] = scale * sum_at(samples, at.data(), by_point ? h[i] : 0.0, row_of(kernel));
    }
  });
}

}  // namespace kestrel
