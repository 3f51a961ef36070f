#include "core/query/query.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <string>

#include "core/base/error.hpp"
#include "core/data/finite.hpp"
#include "core/data/weights.hpp"
#include "core/query/costs.hpp"
#include "core/query/kernel.hpp"
#include "core/query/normal_mixture.hpp"
#include "core/query/normal_series.hpp"
#include "core/query/tree.hpp"
#include "simd/query/query.hpp"

namespace kestrel {

namespace {

/// The maximum number of boxes times parts of the rows whose results are kept until they are added:
/// 25 MB.
constexpr std::size_t kMaxParts = std::size_t{1} << 20;

/// Samples must lie within this many bandwidths.
constexpr double kMaxBandwidths = 1e150;

void check_boxes(const MatrixView& x, Weights w, const MatrixView& lower, const MatrixView& upper) {
  check_weight_count(x.rows, w.size);
  if (lower.rows != upper.rows) throw error(ErrorKind::internal, "limits of a wrong size");
  if (lower.cols != x.cols || upper.cols != x.cols) {
    throw error(ErrorKind::input, "samples have " + std::to_string(x.cols) +
                                      " variables but boxes " + std::to_string(lower.cols) +
                                      " and " + std::to_string(upper.cols));
  }
  for (std::size_t i = 0; i < lower.rows; ++i) {
    for (std::size_t k = 0; k < x.cols; ++k) {
      if (lower(i, k) <= upper(i, k)) continue;
      throw error(ErrorKind::input, "box " + std::to_string(i + 1) +
                                        " must have a lower limit that is not above its upper one");
    }
  }
}

std::unique_ptr<QueryKernel> kernel_of(const QueryDensity& density, const simd::Table* table) {
  const std::size_t d = density.x.cols;
  kernel_scale(density.kernel, d, density.root);  // throws for an invalid bandwidth
  const bool normal = density.kernel.kernel == Kernel::gaussian;
  if (normal || d == 1) return product_query(density.kernel.kernel, d, density.root, table);
  if (density.kernel.type == KernelType::radial) {
    return radial_query(density.kernel.kernel, d, density.root);
  }
  check_product_root(density.kernel.type, d, density.root);
  return product_query(density.kernel.kernel, d, density.root, table);
}

QueryBox box_of(const MatrixView& lower, const MatrixView& upper, std::size_t i,
                const QueryTree& tree, std::ptrdiff_t of) {
  QueryBox box;
  for (std::size_t k = 0; k < tree.d; ++k) {
    box.lower.push_back(lower(i, k));
    box.upper.push_back(upper(i, k));
  }
  if (of >= 0) {
    const std::size_t k = static_cast<std::size_t>(of);
    box.origin = std::min(std::max(tree.centre, box.lower[k]), box.upper[k]);
  }
  return box;
}

/// Makes sure that distances in bandwidths that a box cuts stay within the range of numbers.
void check_extent(const QueryTree& tree, Span<const double> h) {
  for (std::size_t k = 0; k < tree.d; ++k) {
    if ((tree.high[k] / 2 - tree.low[k] / 2) / h[k] <= kMaxBandwidths / 2) continue;
    throw error(ErrorKind::input, "samples must lie within 1e150 bandwidths of each other");
  }
}

/// A box without width or at infinity has no mass.
bool is_empty(const QueryBox& box) {
  for (std::size_t k = 0; k < box.lower.size(); ++k) {
    if (box.lower[k] == box.upper[k]) return true;
  }
  return false;
}

/// The weight of the rows that lie in the box.
double rows_within(const QueryTree& tree, const QueryBox& box, const simd::QueryTable& table) {
  double total = 0.0, mass[kQueryLeaf + simd::kQueryGroup];
  const auto overlap = [&](std::size_t at) {
    Overlap found = Overlap::inside;
    for (std::size_t k = 0; k < tree.d; ++k) {
      const double low = tree.low[at * tree.d + k], high = tree.high[at * tree.d + k];
      if (high < box.lower[k] || low > box.upper[k]) return Overlap::outside;
      if (low < box.lower[k] || high > box.upper[k]) found = Overlap::across;
    }
    return found;
  };
  const auto across = [&](std::size_t leaf) {
    const std::size_t begin = tree.nodes[leaf].begin, count = tree.nodes[leaf].end - begin;
    std::fill(std::copy_n(tree.weight.data() + begin, count, mass), std::end(mass), 0.0);
    for (std::size_t k = 0; k < tree.d; ++k) {
      simd::QueryAxis axis{};
      axis.lower = box.lower[k];
      axis.upper = box.upper[k];
      table.keep_within(axis, tree.coordinate.data() + k * tree.stride + begin, count, mass);
    }
    total += table.sum(mass, count);
  };
  tree.visit(
      0, overlap, [&](std::size_t at) { total += tree.nodes[at].rows.mass; }, across);
  return total;
}

/// The mass and moments in each box. A work item is one box and one part of the rows; parts are
/// added in order.
std::vector<BoxMoments> held_by_boxes(const QueryKernel& kernel, const QueryTree& tree,
                                      const MatrixView& lower, const MatrixView& upper,
                                      std::ptrdiff_t of, const ParallelOptions& options) {
  const std::size_t m = lower.rows;
  const std::vector<std::size_t> nodes = tree.cut(kernel.rows_at_once());
  const std::size_t block = std::max(kMaxParts / nodes.size(), std::size_t{1});
  std::vector<QueryScratch> scratch(parallel_workers(block * nodes.size(), options));
  std::vector<BoxMoments> total(m), parts;
  for (std::size_t first = 0; first < m; first += block) {
    const std::size_t count = std::min(block, m - first);
    const double boxes = static_cast<double>(m);
    const ParallelOptions some = part_of(options, static_cast<double>(first) / boxes,
                                         static_cast<double>(first + count) / boxes);
    parts.assign(count * nodes.size(), BoxMoments());
    parallel_for(parts.size(), some, [&](std::size_t item, int worker) {
      const QueryBox box = box_of(lower, upper, first + item / nodes.size(), tree, of);
      if (is_empty(box)) return;
      parts[item] = kernel.answer(tree, nodes[item % nodes.size()], box, of,
                                  scratch[static_cast<std::size_t>(worker)]);
    });
    for (std::size_t item = 0; item < parts.size(); ++item) {
      total[first + item / nodes.size()].merge(parts[item]);
    }
  }
  return total;
}

/// Whether there is a series of this density: the kernel is the normal one with correlations, there
/// are two or three variables, and the data are finite.
bool may_take_series(const QueryDensity& density, const ParallelOptions& options) {
  const std::size_t d = density.x.cols;
  return !is_compact(density.kernel.kernel) && d >= 2 && d <= 3 && density.x.rows > 0 &&
         !is_diagonal(d, density.root) && all_finite({density.x.data, density.x.rows * d}, options);
}

/// The shares by the series, if that is expected to take less time. Data that are not finite, or
/// without weight, are left to the tree.
bool shares_by_series(const QueryDensity& density, const MatrixView& lower, const MatrixView& upper,
                      const RunOptions& options, std::vector<double>* share) {
  const std::size_t m = lower.rows;
  if (m == 0 || !may_take_series(density, options.parallel)) return false;
  check_weights(density.w, options.parallel);
  const double weight = weight_sums(density.w, options.parallel).sum;
  if (!(weight > 0)) return false;
  const SeriesPlan plan = plan_series_of_boxes(density, m, options);
  const double seconds = 1e-9 * kBoxSampleNs * static_cast<double>(density.x.rows) *
                         static_cast<double>(m) *
                         normal_mixture_terms(density.x.cols, density.root);
  if (!(plan.bytes <= FourierDemand().bytes && plan.extent <= kMaxSeriesExtent)) return false;
  if (!(plan.seconds < seconds)) return false;
  share->resize(m);
  boxes_by_series(plan, density, lower, upper, options, {share->data(), m});
  for (double& value : *share) value = std::min(std::max(value / weight, 0.0), 1.0);
  return true;
}

}  // namespace

QueryAnswers query_boxes(const QueryDensity& density, const MatrixView& lower,
                         const MatrixView& upper, std::ptrdiff_t of, const RunOptions& options) {
  check_boxes(density.x, density.w, lower, upper);
  const std::size_t d = density.x.cols, m = lower.rows;
  if (density.root.size != d * d || of < -1 || of >= static_cast<std::ptrdiff_t>(d)) {
    throw error(ErrorKind::internal, "bandwidth root or variable of a wrong size");
  }
  const std::unique_ptr<QueryKernel> kernel = kernel_of(density, options.table);
  QueryAnswers answers;
  if (of < 0 && shares_by_series(density, lower, upper, options, &answers.share)) return answers;
  const QueryTree tree(density.x, density.w, kernel->scale(), of, options.parallel);
  check_extent(tree, kernel->scale());
  const std::vector<BoxMoments> held =
      held_by_boxes(*kernel, tree, lower, upper, of, options.parallel);
  for (std::size_t i = 0; i < m; ++i) {
    const BoxMoments& total = held[i];
    // The masses sum to the weight only up to rounding.
    answers.share.push_back(std::min(total.mass / tree.nodes[0].rows.mass, 1.0));
    if (of < 0) continue;
    const double none = std::numeric_limits<double>::quiet_NaN();
    const double origin = box_of(lower, upper, i, tree, of).origin;
    answers.mean.push_back(total.mass > 0 ? origin + total.mean : none);
    answers.variance.push_back(total.mass > 0 ? total.square / total.mass : none);
  }
  return answers;
}

std::vector<double> query_rows(const MatrixView& x, Weights w, const MatrixView& lower,
                               const MatrixView& upper, const RunOptions& options) {
  check_boxes(x, w, lower, upper);
  std::vector<double> extent;
  for (std::size_t k = 0; k < x.cols && x.rows > 0; ++k) {
    const Span<const double> column = x.column(k);
    const double range = *std::max_element(column.begin(), column.end()) -
                         *std::min_element(column.begin(), column.end());
    extent.push_back(range > 0 ? range : 1.0);
  }
  const QueryTree tree(x, w, {extent.data(), extent.size()}, -1, options.parallel);
  const simd::QueryTable& table = *options.table->query;
  std::vector<double> share(lower.rows);
  parallel_for(lower.rows, options.parallel, [&](std::size_t i, int) {
    const double within = rows_within(tree, box_of(lower, upper, i, tree, -1), table);
    share[i] = std::min(within / tree.nodes[0].rows.mass, 1.0);
  });
  return share;
}

}  // namespace kestrel
