#include "core/distribution/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/base/two_part.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

namespace {

/// Of the bandwidth: the narrowest cells.
constexpr int kMaxHalvings = 10;
/// Points of a work item, each of which takes about 10 us.
constexpr std::size_t kPointsOfItem = 64;
/// The fewest points of a cell for which a series about its centre costs less than theirs.
constexpr std::size_t kManyPoints = 8;
/// Left of all samples by more than this many bandwidths a point has a series of its own, which
/// keeps the digits of small values.
constexpr double kTail = 5.0;
/// Samples that are added up before the sum joins the others, and between two polls.
constexpr std::size_t kSamplesOfRun = 64, kSamplesOfPoll = 8192;

}  // namespace

Distribution::Distribution(const LineSample& sample, Kernel kernel, double h,
                           const RunOptions& options)
    : table_(*options.table), sample_(sample), kernel_(kernel), h_(h) {
  if (!(h > 0) || !std::isfinite(h)) {
    throw error(ErrorKind::input, "the bandwidth must be a positive number");
  }
  check_weights(sample.w(), part_of(options.parallel, 0, 0));
  if (fits_cells(sample.range(), h, kMaxHalvings)) {
    exponent_ = cell_exponent(h, halvings());
    width_ = std::ldexp(1.0, exponent_);
    rho_ = width_ / h;
    // A multiple of 4, as cells have them.
    const int moments = static_cast<int>((kernel_.moments() + 3) / 4 * 4);
    cells_.emplace(sample,
                   SourceCells::Demand{exponent_, kernel_.few(), [=](int) { return moments; },
                                       kernel_.is_compact()},
                   options);
  }
  sum_weights(options);
  if (!(total_ > 0)) throw error(ErrorKind::input, "the weights must have a positive sum");
}

/// A point costs one series for each cell in its window, and the samples of three cells if the
/// kernel is compact: the more samples a cell has, the narrower it should be.
int Distribution::halvings() const {
  int halvings = kernel_.halvings();
  const ValueRange& range = sample_.range();
  const double balanced =
      2 * (range.max - range.min) / std::sqrt(static_cast<double>(sample_.x().size));
  while (kernel_.is_compact() && halvings < kMaxHalvings && std::ldexp(h_, -halvings) > balanced) {
    ++halvings;
  }
  return halvings;
}

double Distribution::weight_of(std::size_t cell) const {
  if (cells_->has_moments(cell)) return cells_->moment(cell)[0];
  TwoPart sum;
  for (std::size_t j = cells_->first(cell); j < cells_->first(cell + 1); ++j) {
    sum = sum + TwoPart{cells_->weight()[j], 0};
  }
  return sum.value();
}

void Distribution::sum_weights(const RunOptions& options) {
  TwoPart sum;
  if (!cells_) {
    const Weights w = sample_.w();
    serial_for(w.size, options.parallel, [&](std::size_t i) { sum = sum + TwoPart{w[i], 0}; });
    total_ = sum.value();
    return;
  }
  serial_for(cells_->size(), options.parallel, [&](std::size_t c) {
    before_.push_back(sum.value());
    sum = sum + TwoPart{weight_of(c), 0};
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
  if (!cells_->has_moments(cell) || !kernel_.is_smooth(centre, rho_)) {
    const double* offset = cells_->offset();
    return of_samples(
        cells_->first(cell), cells_->first(cell + 1), cells_->weight(),
        [=](std::size_t j) { return rho_ * (distance - offset[j]); }, options);
  }
  double derivative[kMaxMoments + 1];
  kernel_.derivatives(centre, rho_, derivative);
  const double* moments = cells_->moment(cell);
  double value = 0.0, slope = 0.0;
  // The highest moments, which are the smallest, first.
  for (std::size_t a = kernel_.moments(); a-- > 0;) {
    value += moments[a] * derivative[a];
    slope += moments[a] * derivative[a + 1];
  }
  return {value, -slope / rho_};
}

/// The first cell that does not count in full for points in the cell `key`.
std::size_t Distribution::first_in_reach(double key) const {
  const double first = key - std::ceil(kernel_.reach() / rho_) - 1;
  const std::vector<double>& keys = cells_->key();
  return static_cast<std::size_t>(std::lower_bound(keys.begin(), keys.end(), first) - keys.begin());
}

Distribution::Local Distribution::among_cells(double key, double offset,
                                              const ParallelOptions& options) const {
  const std::vector<double>& keys = cells_->key();
  const std::size_t first = first_in_reach(key);
  TwoPart sum;
  double slope = 0.0;
  for (std::size_t c = first; c < keys.size(); ++c) {
    const double distance = (key - keys[c]) + offset, nearest = rho_ * (distance + 1);
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
  if (cells_) {
    const double scaled = std::ldexp(t, -exponent_);
    if (!std::isfinite(scaled)) return {scaled > 0 ? 1.0 : 0.0, 0.0};
    const double key = std::floor(scaled);
    local = among_cells(key, (scaled - key) - 0.5, options);
  } else {
    if (std::isinf(t)) return {t > 0 ? 1.0 : 0.0, 0.0};
    const Span<const double> x = sample_.x();
    const auto distance = [=](std::size_t j) { return t == x[j] ? 0.0 : (t - x[j]) / h_; };
    local = of_samples(0, x.size, sample_.w(), distance, options);
  }
  return {share(local.value), std::max(0.0, local.slope / total_)};
}

// For a sample at offset z of its cell and a point at offset y of its own, `lag` cells further, the
// distance is u - rho z, u = rho (lag + y): the series in z is one in z - y about rho lag.
Distribution::Series Distribution::series_of(double key) const {
  const std::vector<double>& keys = cells_->key();
  const std::size_t terms = kernel_.moments();
  const std::size_t first = first_in_reach(key);
  const double last = key + std::ceil(kernel_.reach() / rho_) + 1;
  Series series{{before_[first], 0}, {}};
  double derivative[kMaxMoments + 1], few[kMaxMoments];
  for (std::size_t c = first; c < keys.size() && keys[c] <= last; ++c) {
    kernel_.derivatives(rho_ * (key - keys[c]), rho_, derivative);
    const bool is_few = !cells_->has_moments(c);
    if (is_few) moments_of_few(c, few);
    const double* moments = is_few ? few : cells_->moment(c);
    double of_cell = 0.0;
    for (std::size_t b = terms; b-- > 0;) of_cell += derivative[b] * moments[b];
    series.constant = series.constant + TwoPart{of_cell, 0};
    for (std::size_t b = 0; b < terms; ++b) {
      for (std::size_t a = 1; a < terms - b; ++a) {
        series.coefficient[a] += derivative[a + b] * moments[b];
      }
    }
  }
  double factorial = 1.0;
  for (std::size_t a = 1; a < terms; ++a) {
    factorial *= -static_cast<double>(a);
    series.coefficient[a] /= factorial;
  }
  return series;
}

double Distribution::value_of(const Series& series, double offset) const {
  double sum = 0.0;
  for (std::size_t a = kernel_.moments(); a-- > 1;) sum = (sum + series.coefficient[a]) * offset;
  return share(series.constant.high + (series.constant.low + sum));
}

/// Not where values are small, which keep their digits if they are summed one by one.
bool Distribution::has_series(double key) const {
  return cells_ && !kernel_.is_compact() && rho_ * (key - cells_->key().front()) > -kTail;
}

void Distribution::moments_of_few(std::size_t cell, double* moment) const {
  std::fill(moment, moment + kernel_.moments(), 0.0);
  for (std::size_t j = cells_->first(cell); j < cells_->first(cell + 1); ++j) {
    double power = cells_->weight()[j];
    for (std::size_t a = 0; a < kernel_.moments(); ++a) {
      moment[a] += power;
      power *= cells_->offset()[j] / static_cast<double>(a + 1);
    }
  }
}

void Distribution::values_by_cell(Span<const double> points, const ParallelOptions& options,
                                  Span<double> out) const {
  // Beyond these F is 0 or 1.
  const double beyond = kernel_.farthest() * h_ + width_;
  const std::vector<double>& keys = cells_->key();
  const double min = keys.front() * width_ - beyond, max = (keys.back() + 1) * width_ + beyond;
  std::vector<double> kept(points.begin(), points.end());
  for (double& t : kept) t = std::min(max, std::max(min, t));
  const CellOrder cells({kept.data(), kept.size()}, Weights::ones(kept.size()), {min, max},
                        exponent_, {&table_, part_of(options, 0, 0)});
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
      if (piece.end - piece.begin >= kManyPoints && has_series(key)) {
        const Series series = series_of(key);
        for (std::size_t k = piece.begin; k < piece.end; ++k) {
          value[k] = value_of(series, cells.offset()[k]);
        }
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
  if (cells_ && !kernel_.is_compact() && points.size >= kManyPoints) {
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

}  // namespace kestrel
