#include "core/fgt/cell_moments.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/pack.hpp"
#include "core/base/parallel.hpp"
#include "core/base/summation.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

namespace {

/// Cells of one work item.
constexpr std::size_t kCellsOfItem = 64;
/// The sample is cut into parts only if cells hold at least this many samples.
constexpr double kMinOfCell = 16;

/// The moments of `within` for one cell, point by point: each point with those before it. For cells
/// in which one weight is so large that the terms i = j would drown the pairs.
void add_within_by_point(const double* z, const double* w, std::size_t count, int moments,
                         double* within) {
  double before[kMaxMoments] = {}, powers[kMaxMoments];
  DifferenceMoments total(moments);
  for (std::size_t i = 0; i < count; ++i) {
    double power = w[i];
    for (int a = 0; a < moments; ++a) {
      powers[a] = power;
      power *= z[i] / (a + 1);
    }
    total.add(before, powers);
    for (int a = 0; a < moments; ++a) before[a] += powers[a];
  }
  total.add_to(within);
}

/// Turns the moments of a cell into moments of its parent, a cell of twice the width, whose centre
/// is `shift` parent widths away: z' = z / 2 + shift. `moments` of the child, `of_parent` of the
/// parent.
void shift_moments(const double* child, int moments, double shift, int of_parent, double* parent) {
  double power[kMaxMoments], halved[kMaxMoments];
  double t = 1.0, scale = 1.0;
  for (int a = 0; a < of_parent; ++a) {
    power[a] = t;
    t *= shift / (a + 1);
  }
  for (int b = 0; b < moments; ++b) {
    halved[b] = child[b] * scale;
    scale *= 0.5;
  }
  for (int a = 0; a < of_parent; ++a) {
    double sum = 0.0;
    for (int b = 0; b <= std::min(a, moments - 1); ++b) sum += power[a - b] * halved[b];
    parent[a] = sum;
  }
}

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
  // Four m at a time: their terms are products of one left[a] with four neighbours on the right;
  // before right[0] stand zeros.
  double signed_left[kMaxMoments], padded[kMaxMoments + 4] = {};
  for (int a = 0; a < moments_; a += 2) {
    signed_left[a] = left[a];
    signed_left[a + 1] = -left[a + 1];
    padded[a + 4] = right[a];
    padded[a + 5] = right[a + 1];
  }
  for (int m = 0; m < moments_; m += 4) {
    Pack low = {}, high = {}, odd_low = {}, odd_high = {};
    const double* from = padded + 4 + m;
    for (int a = 0; a < m + 4; a += 2, from -= 2) {
      const Pack even = both(signed_left[a]), odd = both(signed_left[a + 1]);
      low += even * load_pack(from);
      high += even * load_pack(from + 2);
      odd_low += odd * load_pack(from - 1);
      odd_high += odd * load_pack(from + 1);
    }
    store_pack(load_pack(recent_ + m) + (low + odd_low), recent_ + m);
    store_pack(load_pack(recent_ + m + 2) + (high + odd_high), recent_ + m + 2);
  }
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

CellMoments::CellMoments(Span<const double> x, Weights w, const ValueRange& range, int exponent,
                         int moments, const RunOptions& options)
    : exponent_(exponent), moments_(moments), within_(static_cast<std::size_t>(moments), 0.0) {
  check_weight_count(x.size, w.size);
  const bool whole = x.size <= kPartSize || range.cells(exponent) * kMinOfCell > kPartSize;
  const std::size_t size = whole ? std::max<std::size_t>(1, x.size) : kPartSize;
  std::vector<CellMoments> part((x.size + size - 1) / size, *this);
  const auto fill = [&](std::size_t i, const RunOptions& how) {
    const std::size_t count = std::min(size, x.size - i * size);
    const CellOrder order({x.data + i * size, count}, w.part(i * size, count), range, exponent,
                          how.parallel);
    part[i] = CellMoments(order, moments, how);
  };
  if (part.size() == 1) {
    fill(0, options);
  } else {
    parallel_for(part.size(), options.parallel, [&](std::size_t i, int) { fill(i, {}); });
  }
  // Pairwise, to keep rounding errors small.
  for (std::size_t step = 1; step < part.size(); step *= 2) {
    const std::size_t pairs = (part.size() + step - 1) / (2 * step);
    parallel_for(pairs, part_of(options.parallel, 0, 0), [&](std::size_t pair, int) {
      part[2 * step * pair].add(part[2 * step * pair + step]);
    });
  }
  if (!part.empty()) *this = std::move(part[0]);
}

CellMoments::CellMoments(const CellOrder& order, int moments, const RunOptions& options)
    : exponent_(order.exponent()),
      moments_(moments),
      within_(static_cast<std::size_t>(moments), 0.0) {
  std::vector<std::size_t> all(order.cells());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const std::size_t c : all) key_.push_back(order.key(c));
  CellSums sums = sum_cells(order, all, moments, options);
  moment_.swap(sums.moment);
  pair_within(order, sums.pair_weight, options);
}

void CellMoments::pair_within(const CellOrder& order, const std::vector<double>& pair_weight,
                              const RunOptions& options) {
  const std::size_t p = static_cast<std::size_t>(moments_);
  const std::size_t items = (cells() + kCellsOfItem - 1) / kCellsOfItem;
  std::vector<double> partial(items * p, 0.0);
  parallel_for(items, options.parallel, [&](std::size_t item, int) {
    double* total = partial.data() + item * p;
    double all[kMaxMoments] = {};
    DifferenceMoments ordered(moments_);
    double pairs = 0.0;
    const std::size_t end = std::min(cells(), (item + 1) * kCellsOfItem);
    for (std::size_t c = item * kCellsOfItem; c < end; ++c) {
      if (!(pair_weight[c] > 0)) continue;
      const double of_cell = moment(c)[0];
      // Over all (i, j), i = j included, 2 pair_weight + sum w_i^2 = of_cell^2. If at least a
      // quarter of that comes from true pairs, the terms i = j may be included: (z_i - z_i)^m = 0
      // but for rounding.
      if (pair_weight[c] < 0.125 * of_cell * of_cell) {
        const std::size_t first = order.first(c);
        add_within_by_point(order.offset() + first, order.weight() + first, order.count(c),
                            moments_, total);
      } else {
        ordered.add(moment(c), moment(c));
        pairs += pair_weight[c];
      }
    }
    ordered.add_to(all);
    total[0] += pairs;
    for (std::size_t m = 2; m < p; m += 2) total[m] += 0.5 * all[m];
  });
  for (std::size_t m = 0; m < p; m += 2) {
    within_[m] = pairwise_sum(partial.data() + m, items, p);
  }
}

void CellMoments::add(const CellMoments& other) {
  if (other.exponent_ != exponent_ || other.moments_ != moments_) {
    throw error(ErrorKind::internal, "only cells of one width and number of moments add up");
  }
  const std::size_t p = static_cast<std::size_t>(moments_);
  std::vector<double> key, moment_of_all;
  DifferenceMoments across(moments_);
  const auto take = [&](const CellMoments& from, std::size_t c) {
    key.push_back(from.key(c));
    moment_of_all.insert(moment_of_all.end(), from.moment(c), from.moment(c) + p);
  };
  for (std::size_t a = 0, b = 0; a < cells() || b < other.cells();) {
    if (b == other.cells() || (a < cells() && key_[a] < other.key_[b])) {
      take(*this, a++);
    } else if (a == cells() || other.key_[b] < key_[a]) {
      take(other, b++);
    } else {
      across.add(moment(a), other.moment(b));
      take(*this, a++);
      double* sum = moment_of_all.data() + moment_of_all.size() - p;
      for (std::size_t k = 0; k < p; ++k) sum[k] += other.moment(b)[k];
      ++b;
    }
  }
  for (std::size_t m = 0; m < p; m += 2) within_[m] += other.within_[m];
  across.add_to(within_.data());
  key_.swap(key);
  moment_.swap(moment_of_all);
}

void CellMoments::coarsen(int moments) {
  const std::size_t p = static_cast<std::size_t>(moments);
  DifferenceMoments across(moments);
  std::vector<double> key, moment_of_parents;
  double moved[kMaxMoments];
  for (std::size_t c = 0; c < cells(); ++c) {
    const double parent = std::floor(0.5 * key_[c]);
    shift_moments(moment(c), moments_, key_[c] == 2 * parent ? -0.25 : 0.25, moments, moved);
    if (!key.empty() && key.back() == parent) {
      double* sum = moment_of_parents.data() + moment_of_parents.size() - p;
      across.add(sum, moved);
      for (std::size_t a = 0; a < p; ++a) sum[a] += moved[a];
    } else {
      key.push_back(parent);
      moment_of_parents.insert(moment_of_parents.end(), moved, moved + p);
    }
  }
  key_.swap(key);
  moment_.swap(moment_of_parents);
  double scale = 1.0;
  for (std::size_t m = 0; m < within_.size(); m += 2, scale *= 0.25) within_[m] *= scale;
  within_.resize(p, 0.0);
  across.add_to(within_.data());
  moments_ = moments;
  ++exponent_;
}

}  // namespace kestrel
