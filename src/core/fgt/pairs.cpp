#include "core/fgt/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/base/summation.hpp"
#include "core/base/whole.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/cell_moments.hpp"
#include "core/fgt/windows.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

constexpr int kHighestOrder = 10;

/// Error, relative to the sum of |terms|, up to which cells are trusted with a sum; the truncation
/// is planned to be below a tenth of it.
constexpr double kTolerance = 5e-15;
/// Rounding error of a sum of so many products, relative to the sum of their sizes: half a unit in
/// the last place each, of either sign.
constexpr double kRounding = 5e-17;

/// Cells of one work item.
constexpr std::size_t kCellsOfItem = 256;

/// Narrower cells need fewer moments: worth the way back to the wide ones where so many samples
/// come to each.
constexpr double kLeastOfCell = 64;
constexpr int kMostHalved = 3;

/// Seconds of a pair of cells, each moment squared (measured 1.6e-10 for 40 moments to 2.7e-10 for
/// 16); of a sample, each moment, its place among the cells included (6e-10 to 8e-10 for 40 to 24);
/// of a pair of samples (1.5e-8 to 2.0e-8); of sorting a sample (4e-8 to 1.2e-7 for n = 1000 to
/// 1e6). Measured in 2026-11 on a 2.5 GHz Xeon, one thread: they choose between two ways to one
/// sum, they do not promise times.
constexpr double kCellPairSeconds = 2.0e-10, kMomentSeconds = 7e-10, kPairSeconds = 1.5e-8,
                 kSortSeconds = 1e-7;

/// phi^(order)(u) without the constant of phi.
double derivative(double u, int order) {
  double all[kHighestOrder + 1];
  scaled_derivatives(u, 1.0, order + 1, all);
  return all[order];
}

/// How to sum one order.
///
/// For pairs of cells at lag l there are at most as many pairs of samples, N_l <= N_0 = sum W^2, as
/// i, j in a common cell (Cauchy and Schwarz), whose terms are at least min |phi^(order)(u)|,
/// |u| <= rho. So both truncations are bounded relative to the sum of |terms| whatever the data --
/// but for the pairs i = j in N_0, for which LagTable::evaluate looks at the sums it got.
struct Accuracy {
  int order;
  int halvings;   // widths are at most 2^-halvings of the bandwidth
  int moments;    // of cells that wide
  double reach;   // lags are needed up to so many bandwidths
  double least;   // min |phi^(order)(u)| in a cell
  double taylor;  // the truncation error of a pair that was aimed at

  explicit Accuracy(int order_) : order(order_) {
    // The first zero of He_10 is at 0.48, that of He_8 at 0.54: narrower cells keep off it.
    halvings = order == kHighestOrder ? 2 : 1;
    const double rho = std::ldexp(1.0, -halvings);
    least = std::min(std::fabs(derivative(0.0, order)), std::fabs(derivative(rho, order)));
    // Lags count 1 + 2 sum_l exp(-max(0, (l-1) rho)^2 / 4) times.
    taylor = 0.1 * kTolerance * least / (3 + 2 * std::sqrt(kPi) / rho);
    moments = moments_of(0);
    reach = 7.0;
    while (std::fabs(derivative(reach, order)) * 4 / rho > 0.01 * kTolerance * least) {
      reach += 0.25;
    }
  }

  /// How many moments do for cells of 2^-halved of that width.
  int moments_of(int halved) const {
    const double rho = std::ldexp(1.0, -halvings - halved);
    int enough = 4;
    while (enough < kMostMoments && taylor_error(rho, order, enough) > taylor) enough += 4;
    return enough;
  }
};

/// The normal density of variance `variance` h^2.
struct Bandwidth {
  double h;
  int variance;  // 1 or 2

  double deviation() const { return std::sqrt(static_cast<double>(variance)) * h; }
};

/// The bandwidths that share a width of cells.
struct Octave {
  int exponent;
  std::vector<std::size_t> index;  // of the bandwidths
  double largest = 0.0;            // deviation of them

  /// How many lags of cells are within reach of the largest bandwidth.
  int lags(double reach) const {
    return whole_number<int>(std::ceil(reach * std::ldexp(largest, -exponent))) + 1;
  }
};

std::vector<Octave> octaves_of(const std::vector<Bandwidth>& bandwidths, int halvings) {
  std::vector<Octave> octaves;
  std::vector<std::size_t> index(bandwidths.size());
  std::vector<double> g;
  for (const Bandwidth& bandwidth : bandwidths) g.push_back(bandwidth.deviation());
  std::iota(index.begin(), index.end(), std::size_t{0});
  std::sort(index.begin(), index.end(), [&](std::size_t a, std::size_t b) { return g[a] < g[b]; });
  for (const std::size_t k : index) {
    const int exponent = cell_exponent(g[k], halvings);
    if (octaves.empty() || octaves.back().exponent != exponent) octaves.push_back({exponent, {}});
    octaves.back().index.push_back(k);
    octaves.back().largest = g[k];
  }
  return octaves;
}

double cell_seconds(double cell_pairs, double samples, int moments) {
  return moments * (moments * cell_pairs * kCellPairSeconds + samples * kMomentSeconds);
}

/// How many samples there are in which cells.
class CellCounts {
 public:
  explicit CellCounts(const CellOrder& order) : exponent_(order.exponent()) {
    for (std::size_t c = 0; c < order.cells(); ++c) {
      key_.push_back(order.key(c));
      count_.push_back(static_cast<double>(order.count(c)));
    }
  }

  void coarsen_to(int exponent) {
    for (; exponent_ < exponent; ++exponent_) {
      std::size_t parents = 0;
      for (std::size_t c = 0; c < key_.size(); ++c) {
        const double parent = std::floor(0.5 * key_[c]), count = count_[c];
        if (parents > 0 && key_[parents - 1] == parent) {
          count_[parents - 1] += count;
        } else {
          key_[parents] = parent;
          count_[parents++] = count;
        }
      }
      key_.resize(parents);
      count_.resize(parents);
    }
  }

  /// Whether moments of cells cost less than the sums pair by pair, for `sums` bandwidths.
  bool favour_cells(int lags, int moments, double sums) const {
    double cell_pairs = 0, pairs = 0, samples = 0, within_reach = 0;
    for (std::size_t c = 0, next = 0; c < key_.size(); ++c) {
      for (; next < key_.size() && key_[next] - key_[c] <= lags; ++next) {
        within_reach += count_[next];
      }
      within_reach -= count_[c];
      cell_pairs += static_cast<double>(next - c);
      pairs += count_[c] * (within_reach + 0.5 * count_[c]);
      samples += count_[c];
    }
    return cell_seconds(cell_pairs, samples, moments) <
           samples * kSortSeconds + sums * pairs * kPairSeconds;
  }

 private:
  int exponent_;
  std::vector<double> key_, count_;
};

/// D_m(l) = sum over the pairs of cells A, B = A + l of sum_ij w_i w_j (z_j - z_i)^m / m!: all that
/// the sums of every bandwidth and order need to know of the data (l = 0: i < j only).
class LagTable {
 public:
  LagTable(const CellMoments& cells, int lags, const RunOptions& options);

  /// The sum over pairs of phi^(order)((x_i - x_j) / g), times (2^exponent / g)^order and without
  /// the constant of phi. False where its error may be above kTolerance of the sum of |terms|.
  bool evaluate(double g, const Accuracy& accuracy, double* sum) const;

 private:
  const double* row(int lag) const { return d_.data() + static_cast<std::size_t>(lag * moments_); }

  int exponent_, moments_, lags_;
  std::vector<double> d_;
  double across_ = 0.0, squares_ = 0.0;  // sum of W_A W_B, A < B, and of W_A^2 over the cells
};

LagTable::LagTable(const CellMoments& cells, int lags, const RunOptions& options)
    : exponent_(cells.exponent()), moments_(cells.moments()), lags_(lags), d_(cells.within()) {
  const std::size_t p = static_cast<std::size_t>(moments_), n = cells.cells();
  const std::size_t chunks = (n + kCellsOfItem - 1) / kCellsOfItem;
  const std::size_t items = chunks * static_cast<std::size_t>(lags);
  double before = 0.0;
  for (std::size_t c = 0; c < n; ++c) {
    const double weight = cells.moment(c)[0];
    across_ += before * weight;
    before += weight;
    squares_ += weight * weight;
  }
  std::vector<double> key(n), partial(items * p, 0.0);
  for (std::size_t c = 0; c < n; ++c) key[c] = cells.key(c);
  parallel_for(items, options.parallel, [&](std::size_t item, int) {
    const double lag = 1.0 + static_cast<double>(item / chunks);
    const std::size_t begin = item % chunks * kCellsOfItem;
    const std::size_t end = std::min(n, begin + kCellsOfItem);
    DifferenceMoments total(moments_);
    std::size_t b = static_cast<std::size_t>(
        std::lower_bound(key.begin(), key.end(), key[begin] + lag) - key.begin());
    for (std::size_t a = begin; a < end; ++a) {
      while (b < n && key[b] - key[a] < lag) ++b;
      if (b == n) break;
      if (key[b] - key[a] == lag) {
        total.add(cells.moment(a), cells.moment(b));
      }
    }
    total.add_to(partial.data() + item * p);
  });
  d_.resize(p * static_cast<std::size_t>(lags + 1));
  for (std::size_t lag = 0; lag < static_cast<std::size_t>(lags); ++lag) {
    for (std::size_t m = 0; m < p; ++m) {
      d_[(lag + 1) * p + m] = pairwise_sum(partial.data() + lag * chunks * p + m, chunks, p);
    }
  }
}

bool LagTable::evaluate(double g, const Accuracy& accuracy, double* sum) const {
  const int order = accuracy.order;
  const double rho = std::ldexp(1.0, exponent_) / g;
  double total = 0, magnitude = 0, pairs = 0, at_least = 0;
  double before = 0, now = 0, next = 0;  // the derivative at the lag before, this one and the next
  double phi[kMostMoments + kHighestOrder], phi_next[kMostMoments + kHighestOrder];
  scaled_derivatives(0.0, rho, order + moments_, phi_next);
  for (int lag = 0; lag <= lags_; ++lag) {
    std::copy(phi_next, phi_next + order + moments_, phi);
    scaled_derivatives((lag + 1) * rho, rho, order + moments_, phi_next);
    before = lag == 0 ? phi_next[order] : now;
    now = phi[order];
    next = phi_next[order];
    const double* d = row(lag);
    double of_lag = 0, size_of_lag = 0;
    for (int m = 0; m < moments_; ++m) {
      const double term = phi[order + m] * d[m];
      of_lag += term;
      size_of_lag += std::fabs(term);
    }
    total += of_lag;
    magnitude += size_of_lag;
    const double inner = std::max(0.0, (lag - 1) * rho);
    pairs += d[0] * std::exp(-0.25 * inner * inner);
    // Where the derivative has one sign from lag - 1 to lag + 1, it is least at an end: its zeros
    // are further apart than two cells.
    if (before * now > 0 && now * next > 0) {
      at_least += d[0] * std::min(std::fabs(now), std::min(std::fabs(before), std::fabs(next)));
    }
  }
  *sum = total;
  const double in_units = std::pow(rho, order);
  // Of these cells, and at most as much of the narrower ones that they were made of.
  const double truncation = 2 * accuracy.taylor * pairs * in_units;
  const double beyond = std::min(across_, squares_ * (1 + 1 / (lags_ * rho * rho)));
  const double error = truncation + beyond * std::fabs(now) + kRounding * magnitude;
  return error <= kTolerance * at_least;
}

double in_units_of_x(double sum, double g, int exponent, int order) {
  ScaledNumber scale;
  scale.multiply(1 / std::sqrt(2 * kPi));
  scale.divide(g);
  scale.exponent -= order * exponent;
  return scale.times(sum);
}

/// The sample of one call, and its cells.
class Sample {
 public:
  Sample(Span<const double> x, Span<const double> w, const std::vector<Octave>& octaves,
         const Accuracy& accuracy)
      : x_(x), w_(w), range_(range_of(x)), octaves_(octaves), accuracy_(accuracy) {}

  /// The first octave for which cells cost less than sums pair by pair. They do for all behind it.
  std::size_t first_by_cells(const ParallelOptions& options);
  /// Cells for that octave, by way of narrower ones with fewer moments where these are full enough.
  CellMoments cells(std::size_t octave, const RunOptions& options) const;

 private:
  const Span<const double> x_, w_;
  const ValueRange range_;
  const std::vector<Octave>& octaves_;
  const Accuracy& accuracy_;
  std::unique_ptr<CellOrder> finest_;  // where first_by_cells had to count
};

std::size_t Sample::first_by_cells(const ParallelOptions& options) {
  const auto lags = [this](std::size_t o) { return octaves_[o].lags(accuracy_.reach); };
  const double n = static_cast<double>(x_.size);
  // Where there are far more samples than cells there is nothing to count.
  const double cells = std::min(n, range_.cells(octaves_[0].exponent));
  if (cell_seconds(cells * lags(0), n, accuracy_.moments) < n * kSortSeconds) return 0;
  finest_ = std::make_unique<CellOrder>(x_, w_, range_, octaves_[0].exponent, options);
  CellCounts counts(*finest_);
  for (std::size_t o = 0; o < octaves_.size(); ++o) {
    counts.coarsen_to(octaves_[o].exponent);
    const double sums = static_cast<double>(octaves_[o].index.size());
    if (counts.favour_cells(lags(o), accuracy_.moments, sums)) return o;
  }
  return octaves_.size();
}

CellMoments Sample::cells(std::size_t octave, const RunOptions& options) const {
  const int exponent = octaves_[octave].exponent;
  if (finest_ && octave == 0) return CellMoments(*finest_, accuracy_.moments, options);
  const double samples = static_cast<double>(std::min(x_.size, CellMoments::kPartSize));
  double count = range_.cells(exponent);
  int halved = 0;
  for (; halved < kMostHalved && kLeastOfCell * 2 * count <= samples; ++halved) count *= 2;
  CellMoments narrow(x_, w_, range_, exponent - halved, accuracy_.moments_of(halved), options);
  for (; halved > 0; --halved) narrow.coarsen(accuracy_.moments);
  return narrow;
}

/// sum_{i<j} w_i w_j phi_g^(order)(x_i - x_j) for the normal densities of these bandwidths.
std::vector<double> pair_sums(Span<const double> x, Span<const double> w,
                              const std::vector<Bandwidth>& bandwidths, int order,
                              const RunOptions& options_) {
  check_weight_count(x.size, w.size);
  // Several loops, whose cost is not known beforehand.
  const RunOptions options{options_.table, part_of(options_.parallel, 0, 1)};
  std::vector<double> out(bandwidths.size(), 0.0);
  const Accuracy accuracy(order);
  const std::vector<Octave> octaves = octaves_of(bandwidths, accuracy.halvings);
  if (octaves.empty()) return out;

  Sample sample(x, w, octaves, accuracy);
  std::vector<std::size_t> by_window;
  const std::size_t first = sample.first_by_cells(options.parallel);
  for (std::size_t o = 0; o < first; ++o) {
    by_window.insert(by_window.end(), octaves[o].index.begin(), octaves[o].index.end());
  }
  if (first < octaves.size()) {
    CellMoments cells = sample.cells(first, options);
    for (std::size_t o = first; o < octaves.size(); ++o) {
      while (cells.exponent() < octaves[o].exponent) cells.coarsen(accuracy.moments);
      const LagTable table(cells, octaves[o].lags(accuracy.reach), options);
      for (const std::size_t k : octaves[o].index) {
        const double g = bandwidths[k].deviation();
        double sum;
        if (table.evaluate(g, accuracy, &sum)) {
          out[k] = in_units_of_x(sum, g, octaves[o].exponent, order);
        } else {
          by_window.push_back(k);
        }
      }
    }
  }
  if (!by_window.empty()) {
    check_weights(w);
    const WindowSums windows(x, w, options.parallel);
    for (const std::size_t k : by_window) {
      out[k] = windows.sum(bandwidths[k].h, bandwidths[k].variance, order, options);
    }
  }
  return out;
}

}  // namespace

std::vector<double> fgt_pair_psi(Span<const double> x, Span<const double> w, Span<const double> g,
                                 int order, const RunOptions& options) {
  if (order < 0 || order > kHighestOrder || order % 2 != 0) {
    throw error(ErrorKind::input,
                "the order must be 0, 2, 4, 6, 8 or 10, not " + std::to_string(order));
  }
  std::vector<Bandwidth> bandwidths;
  for (const double one : g) bandwidths.push_back({one, 1});
  return pair_sums(x, w, bandwidths, order, options);
}

PairCurve fgt_pair_curve(Span<const double> x, Span<const double> w, Span<const double> h,
                         const RunOptions& options) {
  std::vector<Bandwidth> bandwidths;
  for (const int variance : {2, 1}) {
    for (const double one : h) bandwidths.push_back({one, variance});
  }
  const std::vector<double> sums = pair_sums(x, w, bandwidths, 0, options);
  const auto middle = sums.begin() + static_cast<std::ptrdiff_t>(h.size);
  return {{sums.begin(), middle}, {middle, sums.end()}};
}

}  // namespace kestrel
