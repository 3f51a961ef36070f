#include "core/fgt/cell_moments.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/parallel.hpp"
#include "core/base/summation.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

namespace {

/// Cells of one work item.
constexpr std::size_t kCellsOfItem = 64;

/// Whether one sample of a cell has so much of the weight that the terms i = j would drown the
/// pairs. All (i, j) together, i = j included, have the weight `all`^2. If at least a quarter of
/// that comes from true pairs, the terms i = j may be included: (z_i - z_i)^m = 0 but for rounding.
bool is_dominated(double all, double squares) { return squares > 0.75 * all * all; }

/// The moments of `within` for one cell, point by point: each point with those before it. For cells
/// that are dominated.
void add_within_by_point(const double* z, Weights w, int moments, const simd::Table& table,
                         double* within) {
  double before[kMaxMoments + kMomentPadding] = {};
  double powers[kMaxMoments + 2 * kMomentPadding] = {}, *power = powers + kMomentPadding;
  DifferenceMoments total(moments, table);
  for (std::size_t i = 0; i < w.size; ++i) {
    if (w[i] == 0) continue;
    power[0] = w[i];
    for (int a = 1; a < moments; ++a) power[a] = power[a - 1] * (z[i] / a);
    total.add(before, power);
    for (int a = 0; a < moments; ++a) before[a] += power[a];
  }
  total.add_to(within);
}

/// Turns the moments of a cell into moments of its parent, a cell of twice the width, whose centre
/// is `shift` parent widths away: z' = z / 2 + shift.
class MomentShift {
 public:
  MomentShift(double shift, int of_child, int of_parent, const simd::Table& table)
      : table_(table), of_child_(of_child), of_parent_(of_parent) {
    double t = 1.0, scale = 1.0;
    for (int a = 0; a < of_parent; ++a) {
      power_[kMomentPadding + static_cast<std::size_t>(a)] = t;
      t *= shift / (a + 1);
      scale_[a] = scale;
      scale *= 0.5;
    }
  }

  /// parent: room for kMaxMoments.
  void operator()(const double* child, double* parent) const {
    double halved[kMaxMoments + kMomentPadding] = {};
    for (int b = 0; b < std::min(of_child_, of_parent_); ++b) halved[b] = child[b] * scale_[b];
    table_.cells->product(halved, power_ + kMomentPadding, of_parent_, parent);
  }

 private:
  const simd::Table& table_;
  int of_child_, of_parent_;
  double power_[kMaxMoments + 2 * kMomentPadding] = {}, scale_[kMaxMoments];
};

}  // namespace

// ---- Taylor and Hermite

double taylor_error(double rho, int order, int moments) {
  // 1.0865 sqrt((P + r)!) rho^P / P!, without the constant of phi.
  return 1.0865 * std::exp(0.5 * std::lgamma(moments + order + 1.0) - std::lgamma(moments + 1.0) +
                           moments * std::log(rho));
}

void scaled_derivatives(double u, double rho, int count, double* out) {
  const double step = -u * rho, back = -rho * rho;
  double before = 0.0, now = std::exp(-0.5 * u * u);
  for (int k = 0; k < count; ++k) {
    out[k] = now;
    const double next = step * now + k * back * before;
    before = now;
    now = next;
  }
}

void DifferenceMoments::add(const double* left, const double* right) {
  table_.cells->add_differences(left, right, moments_, recent_);
  if (++pending_ < 16) return;
  for (int m = 0; m < moments_; ++m) {
    sum_[m] += recent_[m];
    recent_[m] = 0.0;
  }
  pending_ = 0;
}

void DifferenceMoments::add_to(double* total) const {
  for (int m = 0; m < moments_; ++m) total[m] += sum_[m] + recent_[m];
}

// ---- moments

CellMoments::CellMoments(int exponent, int moments)
    : exponent_(exponent),
      moments_(moments),
      moment_(kMomentPadding, 0.0),
      within_(static_cast<std::size_t>(moments), 0.0) {}

CellMoments::CellMoments(Span<const double> x, Weights w, const ValueRange& range, int exponent,
                         int moments, const RunOptions& options)
    : CellMoments(exponent, moments) {
  check_weight_count(x.size, w.size);
  if (FullCells::suit(x.size, range, exponent)) {
    take_full_cells(FullCells(x, w, range, exponent, moments, options), x, w, options);
  } else if (w.absent() && PartedCells::suit(x, range, exponent)) {
    take_parted_cells(PartedCells(x, w, range, exponent, moments, options), options);
  } else {
    *this = CellMoments(CellOrder(x, w, range, exponent, options), moments, options);
  }
}

CellMoments::CellMoments(const CellOrder& order, int moments, const RunOptions& options)
    : CellMoments(order.exponent(), moments) {
  std::vector<std::size_t> all(order.cells());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const CellSums sums = sum_cells(order, all, moments, options);
  std::vector<CellPairs> pairs;
  for (const std::size_t c : all) {
    add_cell(order.key(c), sums.moment(c));
    pairs.push_back({sums.squares(c), order.count(c) > 1});
    if (!pairs[c].any || !is_dominated(sums.moment(c)[0], sums.squares(c))) continue;
    pairs[c].offset = order.offset() + order.first(c);
    pairs[c].weight = order.weight().part(order.first(c), order.count(c));
  }
  pair_within(pairs, options);
}

CellMoments::CellMoments(const GivenCells& cells, int exponent, int moments,
                         const RunOptions& options)
    : CellMoments(exponent, moments) {
  std::vector<CellPairs> pairs;
  for (std::size_t c = 0; c < cells.cells(); ++c) {
    pairs.push_back({cells.squares[c], cells.counts[c] > 1});
    add_cell(cells.key(c), cells.moment(c));
  }
  pair_within(pairs, options);
}

/// Of samples without weights, so that no cell is dominated.
void CellMoments::take_parted_cells(const PartedCells& cells, const RunOptions& options) {
  std::vector<CellPairs> pairs;
  for (std::size_t c = 0; c < cells.cells(); ++c) {
    const double count = cells.moment(c)[0];
    pairs.push_back({count, count > 1});
    add_cell(cells.key(c), cells.moment(c));
  }
  pair_within(pairs, options);
}

void CellMoments::take_full_cells(const FullCells& cells, Span<const double> x, Weights w,
                                  const RunOptions& options) {
  std::vector<CellPairs> pairs;
  std::vector<std::size_t> dominated;
  std::vector<char> chosen(cells.cells(), 0);
  for (std::size_t c = 0; c < cells.cells(); ++c) {
    if (cells.positive(c) == 0) continue;
    pairs.push_back({cells.squares(c), cells.positive(c) > 1});
    if (pairs.back().any && is_dominated(cells.moment(c)[0], cells.squares(c))) {
      dominated.push_back(key_.size());
      chosen[c] = 1;
    }
    add_cell(cells.key(c), cells.moment(c));
  }
  SortedSamples samples;
  if (!dominated.empty()) samples = cells.samples_of(chosen, x, w, options);
  std::size_t begin = 0;
  for (std::size_t k = 0; k < dominated.size(); begin = samples.end[k++]) {
    CellPairs& cell = pairs[dominated[k]];
    cell.offset = samples.offset.data() + begin;
    cell.weight = {samples.weight.data() + begin, samples.end[k] - begin};
  }
  pair_within(pairs, options);
}

void CellMoments::add_cell(double key, const double* moment) {
  key_.push_back(key);
  moment_.insert(moment_.end(), moment, moment + moments_);
  moment_.insert(moment_.end(), kMomentPadding, 0.0);
}

void CellMoments::pair_within(const std::vector<CellPairs>& pairs, const RunOptions& options) {
  const std::size_t p = static_cast<std::size_t>(moments_);
  const std::size_t items = (cells() + kCellsOfItem - 1) / kCellsOfItem;
  std::vector<double> partial(items * p, 0.0);
  parallel_for(items, options.parallel, [&](std::size_t item, int) {
    double* total = partial.data() + item * p;
    double all[kMaxMoments] = {};
    DifferenceMoments ordered(moments_, *options.table);
    double pair_weight = 0.0;
    const std::size_t end = std::min(cells(), (item + 1) * kCellsOfItem);
    for (std::size_t c = item * kCellsOfItem; c < end; ++c) {
      const CellPairs& cell = pairs[c];
      if (!cell.any) continue;
      if (cell.offset != nullptr) {
        add_within_by_point(cell.offset, cell.weight, moments_, *options.table, total);
      } else {
        const double of_cell = moment(c)[0];
        ordered.add(moment(c), moment(c));
        pair_weight += 0.5 * (of_cell * of_cell - cell.squares);
      }
    }
    ordered.add_to(all);
    total[0] += pair_weight;
    for (std::size_t m = 2; m < p; m += 2) total[m] += 0.5 * all[m];
  });
  for (std::size_t m = 0; m < p; m += 2) {
    within_[m] = pairwise_sum(partial.data() + m, items, p);
  }
}

void CellMoments::coarsen(int moments, const simd::Table& table) {
  const std::size_t p = static_cast<std::size_t>(moments);
  const MomentShift from_left(-0.25, moments_, moments, table),
      from_right(0.25, moments_, moments, table);
  DifferenceMoments across(moments, table);
  CellMoments parents(exponent_ + 1, moments);
  double moved[kMaxMoments + 2 * kMomentPadding] = {}, *of_child = moved + kMomentPadding;
  for (std::size_t c = 0; c < cells(); ++c) {
    const double parent = std::floor(0.5 * key_[c]);
    (key_[c] == 2 * parent ? from_left : from_right)(moment(c), of_child);
    if (parents.key_.empty() || parents.key_.back() != parent) {
      parents.add_cell(parent, of_child);
      continue;
    }
    double* sum = &parents.moment_[parents.moment_.size() - parents.row()];
    across.add(sum, of_child);
    for (std::size_t a = 0; a < p; ++a) sum[a] += of_child[a];
  }
  double scale = 1.0;
  for (std::size_t m = 0; m < within_.size() && m < p; m += 2, scale *= 0.25) {
    parents.within_[m] = within_[m] * scale;
  }
  across.add_to(parents.within_.data());
  *this = std::move(parents);
}

}  // namespace kestrel
