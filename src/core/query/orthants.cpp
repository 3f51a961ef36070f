#include "core/query/orthants.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/aligned_buffer.hpp"
#include "core/base/error.hpp"
#include "core/data/order.hpp"
#include "core/data/weights.hpp"
#include "core/query/costs.hpp"
#include "core/query/legendre_rule.hpp"
#include "core/query/line_kernel.hpp"
#include "core/query/normal_mixture.hpp"
#include "core/query/normal_series.hpp"
#include "simd/query/query.hpp"

namespace kestrel {

namespace {

/// Samples taken at a time, whose factors for all lines of a grid stay in the cache.
constexpr std::size_t kSamples = 512;
static_assert(kSamples % simd::kQueryGroup == 0, "leaves read whole groups");

/// Columns of the grid, and lines of an axis, of a work item.
constexpr std::size_t kColumns = 4, kLines = 8;

/// The lines of one axis, for some samples: the kernels' masses beyond a line are all zero, all
/// one, or a row of factors. Rows follow the lines; one more row is that of all lines with ones.
struct AxisRows {
  std::size_t begin = 0, end = 0, one_begin = 0, one_end = 0;

  std::size_t factors() const { return end - begin; }
  std::size_t rows() const { return factors() + (one_end > one_begin ? 1 : 0); }
  /// The lines of a row.
  std::array<std::size_t, 2> lines(std::size_t row) const {
    if (row == factors()) return {one_begin, one_end};
    return {begin + row, begin + row + 1};
  }
};

/// Sums over the samples of outer products: for each chunk of samples one row of factors for each
/// line of an axis, and for each point of the grid the inner product of its rows.
///
///              factors of axis 1 (x axis 2)
///              +--------------------------+
///     samples  |                          |
///              +--------------------------+
///        +---+ +--------------------------+
///        | f | |  inner products, added   |      f: the factors of axis 0, times the weights
///        |   | |  to the grid             |
///        +---+ +--------------------------+
class OrthantSums {
 public:
  OrthantSums(const QueryDensity& density, const std::vector<Span<const double>>& axes, Side side,
              const RunOptions& options, Span<double> out);
  void add_all();

 private:
  void load_samples(std::size_t first, std::size_t count);
  void add_term(std::size_t term, const ParallelOptions& options);
  AxisRows rows_of_axis(std::size_t k, double shift) const;
  void fill_row(std::size_t k, std::size_t line, double shift, double* row) const;
  void fill_rows(std::size_t term, const ParallelOptions& options);
  void add_columns(std::size_t first, std::size_t count, AlignedBuffer* scratch);
  double* row(std::size_t k, std::size_t r) { return factor_[k].data() + r * kSamples; }

  const QueryDensity& density_;
  const std::vector<Span<const double>>& axes_;
  const Side side_;
  const RunOptions& options_;
  const Span<double> out_;
  const simd::QueryTable& table_;
  const bool normal_;
  const double none_, whole_;  // bandwidths beyond which a kernel has no mass, and all of it
  const LineKernel line_;
  const LegendreRule rule_;
  const NormalMixture mixture_;
  std::vector<std::uint32_t> order_;  // of the samples with a weight, along axis 0
  // The samples at hand; those after the last one have no weight.
  std::size_t count_ = 0;
  std::vector<double> x_[3], w_, weighted_, one_;
  double low_[3], high_[3];
  std::array<AxisRows, 3> rows_;
  AlignedBuffer factor_[3];
};

OrthantSums::OrthantSums(const QueryDensity& density, const std::vector<Span<const double>>& axes,
                         Side side, const RunOptions& options, Span<double> out)
    : density_(density),
      axes_(axes),
      side_(side),
      options_(options),
      out_(out),
      table_(*options.table->query),
      normal_(!is_compact(density.kernel.kernel)),
      none_(normal_ ? simd::kNormalEnd : 1.0),
      whole_(normal_ ? kWholeNormal : 1.0),
      line_(line_kernel(density.kernel.kernel)),
      rule_(line_.nodes),
      mixture_(axes.size(), density.root),
      w_(kSamples),
      weighted_(kSamples),
      one_(kSamples, 1.0) {
  for (const std::uint32_t i : order_of(density.x.column(0), {}, options.parallel)) {
    if (density.w[i] > 0) order_.push_back(i);
  }
  for (std::size_t k = 0; k < 3; ++k) {
    x_[k].resize(kSamples);
    factor_[k].resize(((k < axes.size() ? axes[k].size : 0) + 1) * kSamples);
  }
}

void OrthantSums::load_samples(std::size_t first, std::size_t count) {
  count_ = round_up(count, simd::kQueryGroup);
  for (std::size_t k = 0; k < axes_.size(); ++k) {
    for (std::size_t i = 0; i < count_; ++i) {
      x_[k][i] = density_.x(order_[first + std::min(i, count - 1)], k);
    }
    low_[k] = *std::min_element(x_[k].begin(), x_[k].begin() + static_cast<std::ptrdiff_t>(count));
    high_[k] = *std::max_element(x_[k].begin(), x_[k].begin() + static_cast<std::ptrdiff_t>(count));
  }
  for (std::size_t i = 0; i < count_; ++i) w_[i] = i < count ? density_.w[order_[first + i]] : 0.0;
}

/// Lines ascend, so those of a kind follow each other.
AxisRows OrthantSums::rows_of_axis(std::size_t k, double shift) const {
  const Span<const double> axis = axes_[k];
  const double h = mixture_.h[k];
  const auto lines_before = [&](double x, double bandwidths) {
    return static_cast<std::size_t>(
        std::partition_point(axis.begin(), axis.end(),
                             [&](double at) { return (at - x) / h - shift < bandwidths; }) -
        axis.begin());
  };
  AxisRows found;
  if (side_ == Side::below) {
    found.begin = lines_before(low_[k], -none_);
    found.end = std::max(found.begin, lines_before(high_[k], whole_));
    found.one_begin = found.end;
    found.one_end = axis.size;
  } else {
    found.begin = lines_before(low_[k], -whole_);
    found.end = std::max(found.begin, lines_before(high_[k], none_));
    found.one_end = found.begin;
  }
  return found;
}

/// Multiplies the row by the kernels' masses beyond a line.
void OrthantSums::fill_row(std::size_t k, std::size_t line, double shift, double* row) const {
  const double at = axes_[k][line], h = mixture_.h[k];
  const double infinity = std::numeric_limits<double>::infinity();
  simd::QueryAxis axis{};
  axis.lower = side_ == Side::below ? -infinity : at;
  axis.upper = side_ == Side::below ? at : infinity;
  axis.width = h;
  axis.inverse = 1 / h;
  axis.shift = shift;
  axis.half = infinity;
  if (normal_) {
    (side_ == Side::below ? table_.normal_below : table_.normal_above)(axis, x_[k].data(), count_,
                                                                       row);
    return;
  }
  const simd::QueryRule nodes = {line_.nodes, rule_.node.data(), rule_.weight.data(),
                                 line_.constant};
  const auto rule_mass = table_.rule_mass[static_cast<std::size_t>(density_.kernel.kernel)];
  rule_mass(axis, nodes, x_[k].data(), count_, row);
}

void OrthantSums::fill_rows(std::size_t term, const ParallelOptions& options) {
  const std::size_t d = axes_.size();
  const double* shift = mixture_.shift.data() + term * d;
  for (std::size_t i = 0; i < count_; ++i) weighted_[i] = w_[i] * mixture_.weight[term];
  std::size_t items = 0, first[4] = {};
  for (std::size_t k = 0; k < d; ++k) {
    rows_[k] = rows_of_axis(k, shift[k]);
    items += (rows_[k].rows() + kLines - 1) / kLines;
    first[k + 1] = items;
  }
  parallel_for(items, options, [&](std::size_t item, int) {
    std::size_t k = 0;
    while (item >= first[k + 1]) ++k;
    const std::size_t begin = (item - first[k]) * kLines;
    for (std::size_t r = begin; r < std::min(begin + kLines, rows_[k].rows()); ++r) {
      double* to = row(k, r);
      std::copy_n((k == 0 ? weighted_ : one_).data(), count_, to);
      if (r < rows_[k].factors()) fill_row(k, rows_[k].begin + r, shift[k], to);
    }
  });
}

/// Adds to the columns of the grid that belong to some pairs of a row of axis 1 and one of axis 2.
void OrthantSums::add_columns(std::size_t first, std::size_t count, AlignedBuffer* scratch) {
  const std::size_t rows = rows_[0].rows(), of_axis1 = rows_[1].rows();
  if (scratch->data() == nullptr) scratch->resize(kColumns * (kSamples + axes_[0].size + 1));
  double* product = scratch->data() + kColumns * kSamples;
  const double* right = row(1, first);
  if (axes_.size() == 3) {
    for (std::size_t j = 0; j < count; ++j) {
      const double *a = row(1, (first + j) % of_axis1), *b = row(2, (first + j) / of_axis1);
      double* to = scratch->data() + j * kSamples;
      for (std::size_t i = 0; i < count_; ++i) to[i] = a[i] * b[i];
    }
    right = scratch->data();
  }
  table_.dot_products(row(0, 0), rows, right, count, kSamples, count_, product);
  for (std::size_t j = 0; j < count; ++j) {
    const double* held = product + j * rows;
    const auto lines1 = rows_[1].lines((first + j) % of_axis1);
    const auto lines2 = axes_.size() == 3 ? rows_[2].lines((first + j) / of_axis1)
                                          : std::array<std::size_t, 2>{0, 1};
    for (std::size_t g2 = lines2[0]; g2 < lines2[1]; ++g2) {
      for (std::size_t g1 = lines1[0]; g1 < lines1[1]; ++g1) {
        double* column = out_.data + (g2 * axes_[1].size + g1) * axes_[0].size;
        for (std::size_t r = 0; r < rows; ++r) {
          const auto lines0 = rows_[0].lines(r);
          for (std::size_t g0 = lines0[0]; g0 < lines0[1]; ++g0) column[g0] += held[r];
        }
      }
    }
  }
}

void OrthantSums::add_term(std::size_t term, const ParallelOptions& options) {
  fill_rows(term, part_of(options, 0.0, 0.1));
  if (rows_[0].rows() == 0) return;
  const std::size_t columns = rows_[1].rows() * (axes_.size() == 3 ? rows_[2].rows() : 1);
  const std::size_t items = (columns + kColumns - 1) / kColumns;
  const ParallelOptions part = part_of(options, 0.1, 1.0);
  std::vector<AlignedBuffer> scratch(parallel_workers(items, part));
  parallel_for(items, part, [&](std::size_t item, int worker) {
    const std::size_t first = item * kColumns;
    add_columns(first, std::min(kColumns, columns - first),
                &scratch[static_cast<std::size_t>(worker)]);
  });
}

void OrthantSums::add_all() {
  std::fill(out_.begin(), out_.end(), 0.0);
  const std::size_t n = order_.size(), terms = mixture_.weight.size();
  const double all = static_cast<double>(n) * static_cast<double>(terms);
  for (std::size_t first = 0; first < n; first += kSamples) {
    const std::size_t count = std::min(kSamples, n - first);
    load_samples(first, count);
    for (std::size_t term = 0; term < terms; ++term) {
      const double done = static_cast<double>(first) * static_cast<double>(terms) +
                          static_cast<double>(term * count);
      add_term(term,
               part_of(options_.parallel, done / all, (done + static_cast<double>(count)) / all));
    }
  }
}

void check_task(const QueryDensity& density, const std::vector<Span<const double>>& axes,
                Span<double> out) {
  const std::size_t d = density.x.cols;
  check_weight_count(density.x.rows, density.w.size);
  if (d < 2 || d > 3 || axes.size() != d || density.root.size != d * d) {
    throw error(ErrorKind::internal, "orthants need two or three variables, and an axis for each");
  }
  std::size_t points = 1;
  for (const Span<const double>& axis : axes) {
    points *= axis.size;
    if (std::is_sorted(axis.begin(), axis.end())) continue;
    throw error(ErrorKind::input, "the axes of a grid must ascend");
  }
  if (out.size != points) throw error(ErrorKind::internal, "output of a wrong size");
  kernel_scale(density.kernel, d, density.root);  // throws for an invalid bandwidth
  if (!is_compact(density.kernel.kernel)) return;
  if (density.kernel.type == KernelType::radial) {
    throw error(ErrorKind::internal, "orthants on grids need a product kernel");
  }
  check_product_root(density.kernel.type, d, density.root);
}

/// Whether the series is to be taken for a normal kernel with correlations.
bool takes_series(const QueryDensity& density, const std::vector<Span<const double>>& axes,
                  const SeriesPlan& plan) {
  const double terms = normal_mixture_terms(density.x.cols, density.root);
  const bool fits = plan.bytes <= FourierDemand().bytes;
  if (!(terms <= kMaxTerms)) {
    if (fits) return true;
    throw error(ErrorKind::memory, "the series of a kernel with such correlations needs " +
                                       gigabytes(plan.bytes) + ", more than the " +
                                       gigabytes(FourierDemand().bytes) + " allowed");
  }
  double points = 1, lines = 0;
  for (const Span<const double>& axis : axes) {
    points *= static_cast<double>(axis.size);
    lines += static_cast<double>(axis.size);
  }
  const double seconds = static_cast<double>(density.x.rows) * terms * 1e-9 *
                         (kOrthantProductNs * points + kOrthantFactorNs * lines);
  return fits && plan.seconds < seconds;
}

}  // namespace

void orthants_on_grid(const QueryDensity& density, const std::vector<Span<const double>>& axes,
                      Side side, const RunOptions& options, Span<double> out) {
  check_task(density, axes, out);
  const double weight = weight_sums(density.w, options.parallel).sum;
  if (!(weight > 0)) throw error(ErrorKind::input, "there is no sample with a positive weight");
  if (out.size == 0) return;
  const bool correlated =
      !is_compact(density.kernel.kernel) && !is_diagonal(density.x.cols, density.root);
  bool by_series = false;
  if (correlated) {
    const SeriesPlan plan = plan_series(density, axes, options);
    by_series = takes_series(density, axes, plan);
    if (by_series) orthants_by_series(plan, density, axes, side, options, out);
  }
  if (!by_series) OrthantSums(density, axes, side, options, out).add_all();
  for (double& share : out) share = std::min(std::max(share / weight, 0.0), 1.0);
}

}  // namespace kestrel
