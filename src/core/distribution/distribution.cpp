#include "core/distribution/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/base/two_part.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// Of the bandwidth: the narrowest cells.
constexpr int kMaxHalvings = 10;
/// Points of a work item, each of which takes about 10 us.
constexpr std::size_t kPointsOfItem = 64;
/// The fewest points of a cell for which a series about its centre costs less than theirs.
constexpr std::size_t kManyPoints = 8;
/// Left of all samples by more than this many bandwidths a point has a series of its own, which
/// keeps the digits of small values.
constexpr double kTail = 5.0;
/// Quantiles of a work item, each of which takes some ten points.
constexpr std::size_t kQuantilesOfItem = 2;
/// Samples that are added up before the sum joins the others, and between two polls.
constexpr std::size_t kSamplesOfRun = 64, kSamplesOfPoll = 8192;
/// Of a quantile, in bandwidths: F changes by less than the half of this.
constexpr double kQuantileTolerance = 1e-14;
constexpr double kEpsilonOfDoubles = std::numeric_limits<double>::epsilon();
constexpr double kLargest = std::numeric_limits<double>::max();

}  // namespace

Distribution::Distribution(Span<const double> x, Weights w, Kernel kernel, double h,
                           const RunOptions& options)
    : table_(*options.table), x_(x), w_(w), kernel_(kernel), h_(h) {
  check_weight_count(x.size, w.size);
  if (!(h > 0) || !std::isfinite(h)) {
    throw error(ErrorKind::input, "the bandwidth must be a positive number");
  }
  const ParallelOptions checks = part_of(options.parallel, 0, 0);
  check_weights(w, checks);
  const ValueRange range = range_of(x, checks);
  if (fits_cells(range, h, kMaxHalvings)) {
    order_.emplace(x, w, range, cell_exponent(h, halvings(range)), options);
    width_ = std::ldexp(1.0, order_->exponent());
    rho_ = width_ / h;
  }
  sum_weights(options);
  if (!(total_ > 0)) throw error(ErrorKind::input, "the weights must have a positive sum");
}

/// A point costs one series for each cell in its window, and the samples of three cells if the
/// kernel is compact: the more samples a cell has, the narrower it should be.
int Distribution::halvings(const ValueRange& range) const {
  int halvings = kernel_.halvings();
  const double balanced = 2 * (range.max - range.min) / std::sqrt(static_cast<double>(x_.size));
  while (kernel_.is_compact() && halvings < kMaxHalvings && std::ldexp(h_, -halvings) > balanced) {
    ++halvings;
  }
  return halvings;
}

void Distribution::sum_weights(const RunOptions& options) {
  TwoPart sum;
  if (!order_) {
    serial_for(w_.size, options.parallel, [&](std::size_t i) { sum = sum + TwoPart{w_[i], 0}; });
    total_ = sum.value();
    return;
  }
  const std::size_t cells = order_->cells();
  std::vector<std::size_t> large;
  slot_.assign(cells, kNone);
  for (std::size_t c = 0; c < cells; ++c) {
    key_.push_back(order_->key(c));
    if (order_->count(c) <= kernel_.few()) continue;
    slot_[c] = large.size();
    large.push_back(c);
  }
  // A multiple of 4, as the sums of cells have them.
  const int moments = static_cast<int>((kernel_.moments() + 3) / 4 * 4);
  sums_ = sum_cells(*order_, large, moments, options);
  serial_for(cells, options.parallel, [&](std::size_t c) {
    before_.push_back(sum.value());
    if (slot_[c] != kNone) {
      sum = sum + TwoPart{sums_.moment(slot_[c])[0], 0};
      return;
    }
    for (std::size_t j = order_->first(c); j < order_->first(c + 1); ++j) {
      sum = sum + TwoPart{order_->weight()[j], 0};
    }
  });
  total_ = sum.value();
  before_.push_back(total_);
}

/// distance(j): of the point from sample j, in bandwidths.
template <class Distance>
Distribution::Local Distribution::of_samples(std::size_t begin, std::size_t end, Weights weight,
                                             const Distance& distance,
                                             const ParallelOptions& options) const {
  TwoPart sum;
  double slope = 0.0;
  for (std::size_t first = begin; first < end; first += kSamplesOfRun) {
    if ((first - begin) % kSamplesOfPoll == kSamplesOfPoll - kSamplesOfRun) poll_if_due(options);
    double of_run = 0.0;
    for (std::size_t j = first; j < std::min(end, first + kSamplesOfRun); ++j) {
      const double u = distance(j);
      of_run += weight[j] * kernel_.value(u);
      slope += weight[j] * kernel_.slope(u);
    }
    sum = sum + TwoPart{of_run, 0};
  }
  return {sum.value(), slope};
}

/// distance: of the point from the centre of the cell, in widths.
Distribution::Local Distribution::of_cell(std::size_t cell, double distance,
                                          const ParallelOptions& options) const {
  const double centre = rho_ * distance;
  if (slot_[cell] == kNone || !kernel_.is_smooth(centre, rho_)) {
    const double* offset = order_->offset();
    return of_samples(
        order_->first(cell), order_->first(cell + 1), order_->weight(),
        [=](std::size_t j) { return rho_ * (distance - offset[j]); }, options);
  }
  double derivative[kMaxMoments + 1];
  kernel_.derivatives(centre, rho_, derivative);
  const double* moment = sums_.moment(slot_[cell]);
  double value = 0.0, slope = 0.0;
  // The highest moments, which are the smallest, first.
  for (std::size_t a = kernel_.moments(); a-- > 0;) {
    value += moment[a] * derivative[a];
    slope += moment[a] * derivative[a + 1];
  }
  return {value, -slope / rho_};
}

/// The first cell that does not count in full for points in the cell `key`.
std::size_t Distribution::first_in_reach(double key) const {
  const double first = key - std::ceil(kernel_.reach() / rho_) - 1;
  return static_cast<std::size_t>(std::lower_bound(key_.begin(), key_.end(), first) - key_.begin());
}

Distribution::Local Distribution::among_cells(double key, double offset,
                                              const ParallelOptions& options) const {
  const std::size_t first = first_in_reach(key);
  TwoPart sum;
  double slope = 0.0;
  for (std::size_t c = first; c < key_.size(); ++c) {
    const double distance = (key - key_[c]) + offset, nearest = rho_ * (distance + 1);
    if (nearest < -kernel_.farthest()) break;
    // No sample from here on is worth more than one at the near end of this cell.
    if (nearest < -kernel_.reach() &&
        (total_ - before_[c]) * kernel_.value(nearest) <= 1e-17 * (before_[first] + sum.high)) {
      break;
    }
    const Local local = of_cell(c, distance, options);
    sum = sum + TwoPart{local.value, 0};
    slope += local.slope;
  }
  sum = sum + TwoPart{before_[first], 0};
  return {sum.value(), slope};
}

/// A sum over the samples as a probability.
double Distribution::share(double sum) const { return std::min(1.0, std::max(0.0, sum / total_)); }

Distribution::Local Distribution::at(double t, const ParallelOptions& options) const {
  Local local;
  if (order_) {
    const double scaled = std::ldexp(t, -order_->exponent());
    if (!std::isfinite(scaled)) return {scaled > 0 ? 1.0 : 0.0, 0.0};
    const double key = std::floor(scaled);
    local = among_cells(key, (scaled - key) - 0.5, options);
  } else {
    if (std::isinf(t)) return {t > 0 ? 1.0 : 0.0, 0.0};
    const auto distance = [this, t](std::size_t j) { return t == x_[j] ? 0.0 : (t - x_[j]) / h_; };
    local = of_samples(0, x_.size, w_, distance, options);
  }
  return {share(local.value), std::max(0.0, local.slope / total_)};
}

// For a sample at offset z of its cell and a point at offset y of its own, `lag` cells further, the
// distance is u - rho z, u = rho (lag + y): the series in z is one in z - y about rho lag.
void Distribution::of_piece(double key, const double* offset, std::size_t points,
                            double* value) const {
  const std::size_t terms = kernel_.moments();
  const std::size_t first = first_in_reach(key);
  const double last = key + std::ceil(kernel_.reach() / rho_) + 1;
  TwoPart constant{before_[first], 0};
  double coefficient[kMaxMoments] = {}, derivative[kMaxMoments + 1], few[kMaxMoments];
  for (std::size_t c = first; c < key_.size() && key_[c] <= last; ++c) {
    kernel_.derivatives(rho_ * (key - key_[c]), rho_, derivative);
    const bool is_few = slot_[c] == kNone;
    if (is_few) moments_of_few(c, few);
    const double* moment = is_few ? few : sums_.moment(slot_[c]);
    double of_cell = 0.0;
    for (std::size_t b = terms; b-- > 0;) of_cell += derivative[b] * moment[b];
    constant = constant + TwoPart{of_cell, 0};
    for (std::size_t b = 0; b < terms; ++b) {
      for (std::size_t a = 1; a < terms - b; ++a) coefficient[a] += derivative[a + b] * moment[b];
    }
  }
  double factorial = 1.0;
  for (std::size_t a = 1; a < terms; ++a) {
    factorial *= -static_cast<double>(a);
    coefficient[a] /= factorial;
  }
  for (std::size_t i = 0; i < points; ++i) {
    double sum = 0.0;
    for (std::size_t a = terms; a-- > 1;) sum = (sum + coefficient[a]) * offset[i];
    value[i] = share(constant.high + (constant.low + sum));
  }
}

void Distribution::moments_of_few(std::size_t cell, double* moment) const {
  std::fill(moment, moment + kernel_.moments(), 0.0);
  for (std::size_t j = order_->first(cell); j < order_->first(cell + 1); ++j) {
    double power = order_->weight()[j];
    for (std::size_t a = 0; a < kernel_.moments(); ++a) {
      moment[a] += power;
      power *= order_->offset()[j] / static_cast<double>(a + 1);
    }
  }
}

void Distribution::values_by_cell(Span<const double> points, const ParallelOptions& options,
                                  Span<double> out) const {
  // Beyond these F is 0 or 1.
  const double beyond = kernel_.farthest() * h_ + width_;
  const double min = key_.front() * width_ - beyond, max = (key_.back() + 1) * width_ + beyond;
  std::vector<double> kept(points.begin(), points.end());
  for (double& t : kept) t = std::min(max, std::max(min, t));
  const CellOrder cells({kept.data(), kept.size()}, Weights::ones(kept.size()), {min, max},
                        order_->exponent(), {&table_, part_of(options, 0, 0)});
  std::vector<std::size_t> all(cells.cells());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const CellPieces pieces = cut_cells(cells, all);
  std::vector<double> value(points.size);
  const auto point = [&](double key, double offset) {
    return share(among_cells(key, offset, options).value);
  };
  parallel_for(pieces.items(), options, [&](std::size_t item, int) {
    for (std::size_t i = pieces.first_piece[item]; i < pieces.first_piece[item + 1]; ++i) {
      const CellPieces::Piece& piece = pieces.piece[i];
      const double key = cells.key(piece.cell);
      poll_if_due(options);
      if (piece.end - piece.begin >= kManyPoints && rho_ * (key - key_.front()) > -kTail) {
        of_piece(key, cells.offset() + piece.begin, piece.end - piece.begin, &value[piece.begin]);
        continue;
      }
      for (std::size_t k = piece.begin; k < piece.end; ++k)
        value[k] = point(key, cells.offset()[k]);
    }
  });
  for (std::size_t i = 0; i < points.size; ++i) out[i] = value[cells.place(i)];
}

void Distribution::values(Span<const double> points, const ParallelOptions& options,
                          Span<double> out) const {
  if (out.size != points.size) throw error(ErrorKind::internal, "output of a wrong size");
  if (order_ && !kernel_.is_compact() && points.size >= kManyPoints) {
    values_by_cell(points, options, out);
    return;
  }
  const std::size_t items = (points.size + kPointsOfItem - 1) / kPointsOfItem;
  parallel_for(items, options, [&](std::size_t item, int) {
    const std::size_t end = std::min(points.size, (item + 1) * kPointsOfItem);
    for (std::size_t i = item * kPointsOfItem; i < end; ++i) {
      if (i % 8 == 0) poll_if_due(options);
      out[i] = at(points[i], options).value;
    }
  });
}

/// Where the weight of the cells passes p.
double Distribution::start(double p) const {
  const auto next = std::upper_bound(before_.begin(), before_.end() - 1, p * total_);
  const std::size_t cell = static_cast<std::size_t>(next - before_.begin()) - 1;
  return (key_[cell] + 0.5) * width_;
}

// Newton's method within a bracket, which is halved where a step leaves it or the steps do not
// become smaller (Press et al. 1992, section 9.4).
double Distribution::quantile(double p, double min, double max,
                              const ParallelOptions& options) const {
  if (at(min, options).value >= p) return min;
  if (at(max, options).value <= p) return max;
  double before = kLargest, step = kLargest;  // the two last steps
  double q = order_ ? start(p) : min / 2 + max / 2;
  for (;;) {
    if (!(q > min && q < max)) q = min / 2 + max / 2;
    const double enough = kQuantileTolerance * h_ + kEpsilonOfDoubles * std::fabs(q);
    const Local local = at(q, options);
    const double excess = local.value - p;
    if (excess == 0) return q;
    (excess < 0 ? min : max) = q;
    if (max - min <= enough) return min / 2 + max / 2;
    double next = q - excess / local.slope * h_;
    if (!(next > min && next < max) || std::fabs(next - q) > before / 2) next = min / 2 + max / 2;
    before = step;
    step = std::fabs(next - q);
    q = next;
    if (step <= enough) return q;
  }
}

void Distribution::quantiles(Span<const double> p, const ParallelOptions& options,
                             Span<double> out) const {
  if (out.size != p.size) throw error(ErrorKind::internal, "output of a wrong size");
  ValueRange range{kLargest, -kLargest};
  for (std::size_t i = 0; i < x_.size; ++i) {
    if (!(w_[i] > 0)) continue;
    range = {std::min(range.min, x_[i]), std::max(range.max, x_[i])};
  }
  const double min = std::max(-kLargest, range.min - kernel_.farthest() * h_);
  const double max = std::min(kLargest, range.max + kernel_.farthest() * h_);
  const double end = kernel_.is_compact() ? 0.0 : std::numeric_limits<double>::infinity();
  const std::size_t items = (p.size + kQuantilesOfItem - 1) / kQuantilesOfItem;
  parallel_for(items, options, [&](std::size_t item, int) {
    const std::size_t last = std::min(p.size, (item + 1) * kQuantilesOfItem);
    for (std::size_t i = item * kQuantilesOfItem; i < last; ++i) {
      poll_if_due(options);
      out[i] = p[i] == 0 ? min - end : p[i] == 1 ? max + end : quantile(p[i], min, max, options);
    }
  });
}

}  // namespace kestrel
