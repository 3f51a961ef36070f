#include "core/regression/gaussian_sums.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/whole.hpp"
#include "shared/local_fit.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

namespace {

/// Points of a work item: with cells, and where all sums are pair by pair.
/// How far s_0 may be below the weight within reach, of which errors are some eps; and the spread
/// below its terms, for variances.
/// Cells with fewer samples, and fits in which a sample has a larger leverage, are summed sample by
/// sample.
constexpr std::size_t kLeastOfCell = 16;
/// Of a work item of cells: some tens of microseconds, milliseconds if it is done sample by sample.
constexpr std::size_t kSizeOfItem = 4096;
constexpr double kMaxLeverage = 0.5, kLeastSum = 0.01;
constexpr double kMaxNodeLoss = 50, kMaxVarianceLoss = 1e4;
constexpr std::size_t kItem = kSweepBlock, kItemOfPairs = kLeastBlock;

/// p_q of the sums with u^q, q = 0, 1, 2 (see LocalSums).
struct Factors {
  SquarePolynomial of[3];
  bool all_one;

  Factors(const LocalKernel& kernel, int power) : all_one(kernel.order == 2) {
    const SquarePolynomial k = gaussian_factor(kernel.order);
    const SquarePolynomial slope =
        kernel.gradient && !kernel.local_linear ? gaussian_slope_factor(kernel.order) : k;
    of[0] = power == 2 ? k * k : k;
    of[1] = power == 2 ? slope * k : slope;
    of[2] = power == 2 ? slope * slope : slope;
  }
};

struct Window {
  std::size_t first, end;
};

/// Samples with fl(|point - x|) < reach.
Window window_of(const double* x, std::size_t n, double point, double reach) {
  const double* first =
      std::partition_point(x, x + n, [&](double v) { return v < point && point - v >= reach; });
  const double* end =
      std::partition_point(first, x + n, [&](double v) { return v <= point || v - point < reach; });
  return {static_cast<std::size_t>(first - x), static_cast<std::size_t>(end - x)};
}

/// All that the blocks of one call share.
struct GaussianCall {
  GaussianCall(const LocalSource& from, const SortedSample& to, const LocalKernel& k, int of_power,
               const simd::Table& set);

  const LocalSource& source;
  const SortedSample& points;
  const LocalKernel& kernel;
  const int power;
  const simd::Table& table;
  const Factors factors;
  /// Whether points are left out of their own sums, and whether there are sums with y.
  const bool leave_one_out, responses;
  /// Sums are of u^q, q < powers, or of q = 0 only.
  const int powers;
  /// See gaussian_cut(). Polynomials of distances below 38 are below exp(22).
  const double cut;
  const NodeLevel* level = nullptr;
  std::unique_ptr<const NodeKernel> nodes;
};

GaussianCall::GaussianCall(const LocalSource& from, const SortedSample& to, const LocalKernel& k,
                           int of_power, const simd::Table& set)
    : source(from),
      points(to),
      kernel(k),
      power(of_power),
      table(set),
      factors(k, of_power),
      leave_one_out(&from.sample() == &to),
      responses(from.responses() && of_power == 1),
      powers(k.local_linear  ? 3
             : !k.gradient   ? 1
             : of_power == 1 ? 2
                             : 3),
      cut(from.cut() + (factors.all_one ? 0 : 44)) {
  static_assert(SquarePolynomial::kTerms == simd::kFactorTerms, "leaves read these polynomials");
  const NodeCells* cells = source.cells();
  const int exponent = node_exponent(kernel.h, kernel.order);
  if (cells == nullptr || exponent < cells->finest() || points.size() == 0) return;
  level = &cells->level(exponent);
  // No two cells are farther apart.
  const double scale = std::ldexp(1.0, -level->exponent);
  const double first = std::floor(points.x()[0] * scale);
  const double last = std::floor(points.x()[points.size() - 1] * scale);
  const double span = std::max(level->key.back() - first, last - level->key.front());
  nodes = std::make_unique<const NodeKernel>(factors.of, powers, power, 1 / (scale * kernel.h),
                                             source.weight_ratio(), span);
}

/// The sums of one block of points.
class GaussianBlock {
 public:
  GaussianBlock(const GaussianCall& call, std::size_t begin, std::size_t count, std::size_t slot)
      : call_(call), block_{begin, count, slot, sum_, 2, kItem, first_, end_} {
    find_windows();
    if (call.level == nullptr) {
      for (std::size_t i = 0; i < count; ++i) pair_by_pair(i);
      return;
    }
    std::fill(scale_, scale_ + count, 1.0);
    const double scale = std::ldexp(1.0, -call.level->exponent);
    for (std::size_t i = 0; i < count;) {
      const double key = std::floor(point(i) * scale);
      std::size_t end = i + 1;
      while (end < count && std::floor(point(end) * scale) == key) ++end;
      of_cell(key, i, end);
      i = end;
    }
  }

  LocalSums sums() const { return {block_, scale_}; }

 private:
  double point(std::size_t i) const { return call_.points.x()[block_.begin + i]; }
  double* sum(int q, int column) { return sum_ + (2 * q + column) * static_cast<int>(kItem); }

  void find_windows();
  void of_cell(double key, std::size_t begin, std::size_t end);
  void pair_by_pair(std::size_t i);
  void add_pairs(simd::GaussianWindow& window, std::size_t first, std::size_t end) const;

  const GaussianCall& call_;
  SweepBlock block_;
  double sum_[6 * kItem] = {}, scale_[kItem];
  std::uint32_t first_[kItem], end_[kItem];
};

void GaussianBlock::find_windows() {
  const double* x = call_.source.sample().x();
  const std::size_t n = call_.source.sample().size();
  const double reach = kGaussianReach * call_.kernel.h;
  Window now = window_of(x, n, point(0), reach);
  for (std::size_t i = 0; i < block_.count; ++i) {
    const double e = point(i);
    const auto left = [&](std::size_t j) { return x[j] < e && e - x[j] >= reach; };
    const auto inside = [&](std::size_t j) { return x[j] <= e || x[j] - e < reach; };
    // A few steps mostly; a search where a gap follows.
    int steps = 8;
    while (steps > 0 && now.first < n && left(now.first)) ++now.first, --steps;
    while (steps > 0 && now.end < n && inside(now.end)) ++now.end, --steps;
    if (steps == 0) now = window_of(x, n, e, reach);
    first_[i] = static_cast<std::uint32_t>(now.first);
    end_[i] = static_cast<std::uint32_t>(now.end);
  }
}

/// Sums at the nodes of the cell with this key, column after column for each power, and the weight
/// of the samples within reach, as the error is bounded by it. Responses are relative to the line
/// through `response` at the centre of the cell.
struct CellAtNodes {
  CellAtNodes(const GaussianCall& call, double key, double response);

  const double* of(int q, int column) const {
    return sum + (q * columns + column) * static_cast<int>(kNodes);
  }

  int columns;
  double sum[6 * kNodes] = {}, bound = 0, bound_of_squares = 0;
};

CellAtNodes::CellAtNodes(const GaussianCall& call, double key, double response)
    : columns(call.responses ? 2 : 1) {
  constexpr std::size_t kMany = 64;
  const NodeLevel& level = *call.level;
  const NodeKernel& nodes = *call.nodes;
  const double width = std::ldexp(1.0, level.exponent), lags = nodes.lags();
  simd::NodeSource sources[kMany];
  int lag_of[kMany];
  std::size_t waiting = 0;
  const auto add_up = [&] {
    for (int q = 0; q < call.powers; ++q) {
      for (std::size_t s = 0; s < waiting; ++s) sources[s].matrix = nodes.matrix(q, lag_of[s]);
      call.table.nodes->add_products(sources, waiting, columns,
                                     sum + q * columns * static_cast<int>(kNodes));
    }
    waiting = 0;
  };
  const auto from = std::lower_bound(level.key.begin(), level.key.end(), key - lags);
  for (std::size_t s = static_cast<std::size_t>(from - level.key.begin());
       s < level.cells() && level.key[s] - key <= lags; ++s) {
    const double apart = level.key[s] - key;
    const int lag = static_cast<int>(apart);
    const double shift = (level.reference[s] - response) - call.kernel.slope * (apart * width);
    sources[waiting] = {nullptr, level.column(s), shift};
    lag_of[waiting] = lag;
    bound += level.weight[s] * nodes.bound(lag);
    bound_of_squares += level.weight[s] * nodes.bound_of_squares(lag);
    if (++waiting == kMany) add_up();
  }
  add_up();
  if (!call.factors.all_one) return;
  // Sums of positive terms err by some eps of their largest value in the cell. What lies beyond the
  // reach counts beside a sum that is far smaller than the lightest sample.
  bound = std::max(*std::max_element(of(0, 0), of(0, 0) + kNodes),
                   kLeastSum * call.source.min_weight());
  if (call.powers == 3) bound_of_squares = *std::max_element(of(2, 0), of(2, 0) + kNodes);
}

/// Whether errors of a few eps times the bounds leave a fit from sums of the first powers its
/// digits, see make_line(). s0: without the point itself if it is left out.
bool is_accurate(const GaussianCall& call, double s0, double s1, double s2, double bound,
                 double bound_of_squares) {
  if (!(std::fabs(s0) * kMaxNodeLoss > bound)) return false;
  if (call.powers < 3) return true;
  const double mean = s1 / s0, spread = s2 - s1 * mean;
  // Variances, whose terms cancel to no less than this.
  if (call.power == 2) return spread * kMaxVarianceLoss > bound_of_squares;
  const double terms = bound_of_squares + std::fabs(mean) * (std::sqrt(bound * bound_of_squares) +
                                                             std::fabs(mean) * bound);
  const double pull = std::fabs(mean) * std::sqrt(std::fabs(s0 / spread));
  const double loss = terms / spread * (std::fabs(mean) + pull + std::min(1.0, pull * pull));
  return spread > 0 && loss < kMaxLoss;
}

void GaussianBlock::of_cell(double key, std::size_t begin, std::size_t end) {
  const NodeLevel& level = *call_.level;
  const double width = std::ldexp(1.0, level.exponent);
  const double y0 = call_.responses ? call_.points.y()[block_.begin + begin] : 0.0;
  const std::size_t count = end - begin;
  const CellAtNodes cell(call_, key, y0);
  const int columns = cell.columns, functions = call_.powers * columns;
  // Values at the points.
  double coefficient[6 * kNodes] = {}, t[kItem], value[6 * kItem];
  for (int f = 0; f < functions; ++f) {
    const simd::NodeSource values{node_tables().coefficients,
                                  cell.sum + f * static_cast<int>(kNodes), 0.0};
    call_.table.nodes->add_products(&values, 1, 1, coefficient + f * static_cast<int>(kNodes));
  }
  const double scale = std::ldexp(1.0, -level.exponent);
  for (std::size_t i = 0; i < count; ++i) t[i] = 2 * (point(begin + i) * scale - key) - 1;
  call_.table.nodes->interpolate(coefficient, functions, t, count, kItem, value);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = block_.begin + begin + i;
    for (int q = 0; q < call_.powers; ++q) {
      sum(q, 0)[begin + i] = value[static_cast<std::size_t>(q * columns) * kItem + i];
    }
    if (call_.responses) {
      // From the cell's line to that through the point.
      const double off =
          (call_.points.y()[at] - y0) - call_.kernel.slope * (0.5 * (t[i] + 1) - 0.5) * width;
      for (int q = 0; q < std::min(2, call_.powers); ++q) {
        sum(q, 1)[begin + i] =
            value[static_cast<std::size_t>(2 * q + 1) * kItem + i] - off * sum(q, 0)[begin + i];
      }
    }
    if (call_.leave_one_out) sum(0, 0)[begin + i] -= call_.points.w()[at];
    if (!is_accurate(call_, sum(0, 0)[begin + i], sum(1, 0)[begin + i], sum(2, 0)[begin + i],
                     cell.bound, cell.bound_of_squares)) {
      pair_by_pair(begin + i);
    }
  }
}

void GaussianBlock::add_pairs(simd::GaussianWindow& window, std::size_t first,
                              std::size_t end) const {
  if (first < end) call_.table.sweep->gaussian_window(window, first, end);
}

void GaussianBlock::pair_by_pair(std::size_t i) {
  poll_if_due({});  // a window may hold all of the sample
  const SortedSample& sample = call_.source.sample();
  const Places* places = call_.source.places();
  const double h = call_.kernel.h, e = point(i);
  const double* x = places != nullptr ? places->x() : sample.x();
  const std::size_t n = places != nullptr ? places->size() : sample.size();
  const std::size_t at = block_.begin + i, none = n;
  const std::size_t own = !call_.leave_one_out ? none : places != nullptr ? places->of(at) : at;
  // Others at the same place, if places are sums of samples.
  double tied = 0;
  if (own != none && places != nullptr) {
    tied = places->w()[own] - sample.w()[at];
    if (!(tied * kMaxLoss > places->w()[own])) {
      tied = 0;
      for (std::size_t j = places->first(own); j < places->first(own + 1); ++j) {
        if (j != at) tied += sample.w()[j];
      }
    }
  }
  const bool has_tied =
      own != none && places != nullptr && places->first(own + 1) - places->first(own) > 1;
  const Window seen = window_of(x, n, e, kGaussianReach * h);
  double nearest = HUGE_VAL;
  if (has_tied) {
    nearest = 0;
  } else if (own != none) {
    nearest = nearest_neighbour(x, seen.first, seen.end, own) / h;
  } else {
    const double* right = std::lower_bound(x + seen.first, x + seen.end, e);
    const double left = right > x + seen.first ? e - right[-1] : HUGE_VAL;
    nearest = std::min(left, right < x + seen.end ? *right - e : HUGE_VAL) / h;
  }
  scale_[i] = std::exp(-0.5 * call_.power * nearest * nearest);
  simd::GaussianWindow window{};
  window.x = x;
  window.w = places != nullptr ? places->w() : sample.w();
  window.y = places != nullptr ? places->y() : sample.y();
  window.more = places != nullptr && call_.responses ? places->more() : nullptr;
  if (!call_.responses) window.y = window.w;  // read, but sums with it are not used
  window.point = e;
  window.reference = call_.responses ? call_.points.y()[at] : 0.0;
  window.scale = 1 / h;
  window.nearest = nearest;
  window.tilt = call_.kernel.slope * h;
  window.power = call_.power;
  window.factor = call_.factors.all_one ? nullptr : call_.factors.of[0].term;
  if (std::isfinite(nearest)) {  // fl(38 h) may be more than 38 h
    const Window used = window_of(x, n, e, gaussian_reach(nearest, call_.cut, kGaussianReach, h));
    add_pairs(window, used.first, own == none ? used.end : own);
    if (own != none) add_pairs(window, own + 1, used.end);
  }
  if (has_tied) {
    window.sum[0] += tied;
    if (call_.responses) {
      window.sum[1] +=
          places->w()[own] * ((places->y()[own] - window.reference) + places->more()[own]);
    }
  }
  for (int k = 0; k < 5; ++k)
    sum_[k * static_cast<int>(kItem) + static_cast<int>(i)] = window.sum[k];
}

/// Sums over the leave-one-out fits of the samples of a cell, whose weights are 1. Residuals are
/// polynomials in t times e^0, e^1 and e^2, e the responses relative to the cell's line, so their
/// sums need the cell's weights at the nodes only. Returns false where that might cost digits: if
/// few samples make fits at the nodes uncertain, if the polynomials of degree 15 are not enough, or
/// if residuals are far smaller than e.
bool add_cell(const GaussianCall& call, std::size_t c, FitTotals& totals) {
  const NodeLevel& level = *call.level;
  const std::size_t count = level.first[c + 1] - level.first[c];
  if (count < kLeastOfCell) return false;
  const CellAtNodes cell(call, level.key[c], level.reference[c]);
  // A^2, A^2 m and A^2 m^2: m is the fit relative to the line, and A turns residuals in the sample
  // into those without the observation.
  double value[3 * kNodes], deviation[kNodes], leverage[kNodes];
  for (std::size_t k = 0; k < kNodes; ++k) {
    const double s0 = cell.of(0, 0)[k];
    const double s1 = call.kernel.local_linear ? cell.of(1, 0)[k] : 0.0;
    const double s2 = call.kernel.local_linear ? cell.of(2, 0)[k] : 0.0;
    if (!is_accurate(call, s0 - 1, s1, s2, cell.bound, cell.bound_of_squares)) return false;
    const FitSums sums{s0, cell.of(0, 1)[k], s1, call.kernel.local_linear ? cell.of(1, 1)[k] : 0.0,
                       s2};
    LocalFit fit = constant_fit(sums, 1.0);
    if (call.kernel.local_linear) make_line(sums, s1 / s0, cell.bound_of_squares, fit);
    deviation[k] = fit.deviation;
    leverage[k] = fit.constant;
    if (fit.unstable || !(std::fabs(leverage[k]) < kMaxLeverage)) return false;
    const double a = 1 / (1 - leverage[k]);
    value[k] = a * a;
    value[kNodes + k] = a * a * deviation[k];
    value[2 * kNodes + k] = a * a * deviation[k] * deviation[k];
  }
  const double* ones = level.column(c);
  const double *e = ones + kNodes, *squares = e + kNodes;
  FitTotals found;
  double size = 0;
  for (std::size_t k = 0; k < kNodes; ++k) {
    const double m = deviation[k], inside = squares[k] - 2 * m * e[k] + m * m * ones[k];
    found.squares += value[k] * inside;
    found.in_sample += inside;
    found.trace += leverage[k] * ones[k];
    size += squares[k];
  }
  // What polynomials of a higher degree would add.
  double rest[3];
  for (std::size_t f = 0; f < 3; ++f) {
    double coefficient[kNodes] = {};
    const simd::NodeSource values{node_tables().coefficients, value + f * kNodes, 0.0};
    call.table.nodes->add_products(&values, 1, 1, coefficient);
    rest[f] = 0;
    for (std::size_t k = kNodes - 3; k < kNodes; ++k) rest[f] += std::fabs(coefficient[k]);
  }
  const double samples = static_cast<double>(count);
  const double error = rest[0] * size + 2 * rest[1] * std::sqrt(samples * size) + rest[2] * samples;
  if (!(error + 1e-15 * size < 1e-13 * found.squares)) return false;
  totals.squares += found.squares;
  totals.in_sample += found.in_sample;
  totals.trace += found.trace;
  return true;
}

}  // namespace

NodeKernel::NodeKernel(const SquarePolynomial* factor, int count, int power, double rho,
                       double ratio, double span) {
  // Terms beyond are together below 1e-16 of the lightest sample at the point.
  const double exponent = 37 + std::log(ratio) + (factor[0].term[1] != 0 ? 10.0 * power : 0.0);
  const double reach = std::min(kGaussianReach, std::sqrt(2 * exponent / power));
  lags_ = whole_number<int>(std::max(0.0, std::min(std::ceil(reach / rho) + 1, span)));
  const NodeTables& tables = node_tables();
  matrix_.resize(static_cast<std::size_t>(count * (2 * lags_ + 1)) * kMatrix);
  for (int lag = 0; lag <= lags_; ++lag) {
    for (std::size_t m = 0; m < kNodes; ++m) {
      for (std::size_t n = 0; n < kNodes; ++n) {
        const double u = rho * (lag + 0.5 * (tables.node[m] - tables.node[n])), v = u * u;
        double term = std::exp(-0.5 * power * v);
        for (int q = 0; q < count; ++q) {
          const double value = term * factor[q](v);
          const_cast<double*>(matrix(q, lag))[kNodes * m + n] = value;
          // The nodes are symmetric about 0.
          const_cast<double*>(matrix(q, -lag))[kNodes * (kNodes - 1 - m) + (kNodes - 1 - n)] =
              q == 1 ? -value : value;
          term *= u;
        }
      }
    }
    const double near = rho * std::max(0, lag - 1), far = rho * (lag + 1);
    const double decay = std::exp(-0.5 * power * near * near);
    bound_.push_back(decay * factor[0].bound(far * far));
    bound_of_squares_.push_back(decay * far * far * (count > 2 ? factor[2].bound(far * far) : 1.0));
  }
}

void gaussian_sums(const LocalSource& source, const SortedSample& points, const LocalKernel& kernel,
                   int power, const RunOptions& options, const LocalTake& take) {
  const GaussianCall call(source, points, kernel, power, *options.table);
  const std::size_t size = call.level == nullptr ? kItemOfPairs : kItem;
  const std::size_t items = (points.size() + size - 1) / size;
  parallel_for(items, options.parallel, [&](std::size_t item, int worker) {
    const std::size_t begin = item * size;
    const GaussianBlock block(call, begin, std::min(size, points.size() - begin), item);
    take(block.sums(), worker);
  });
}

bool gaussian_totals(const LocalSource& source, const LocalKernel& kernel,
                     const RunOptions& options, std::vector<FitTotals>& totals,
                     const LocalTake& take) {
  const GaussianCall call(source, source.sample(), kernel, 1, *options.table);
  if (call.level == nullptr || call.level->columns < 3) return false;
  const NodeLevel& level = *call.level;
  std::vector<std::size_t> items{0};
  std::size_t size = 0;
  for (std::size_t c = 0; c < level.cells(); ++c) {
    size += kLeastBlock + (level.first[c + 1] - level.first[c]) / 16;
    if (size < kSizeOfItem) continue;
    items.push_back(c + 1);
    size = 0;
  }
  if (items.back() < level.cells()) items.push_back(level.cells());
  parallel_for(items.size() - 1, options.parallel, [&](std::size_t item, int worker) {
    for (std::size_t c = items[item]; c < items[item + 1]; ++c) {
      if (add_cell(call, c, totals[item])) continue;
      for (std::size_t begin = level.first[c]; begin < level.first[c + 1]; begin += kItem) {
        poll_if_due({});
        const std::size_t count = std::min<std::size_t>(kItem, level.first[c + 1] - begin);
        const GaussianBlock block(call, begin, count, item);
        take(block.sums(), worker);
      }
    }
  });
  return true;
}

}  // namespace kestrel
