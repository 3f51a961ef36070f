#include "core/regression/local_source.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/data/passes.hpp"

namespace kestrel {

namespace {

/// Samples for which cells may pay, and that they hold in the mean where they do (measured with
/// AVX-512: a cell costs a microsecond or two, a pair 1.2 nanoseconds).
constexpr std::size_t kMinSamples = 64;
constexpr double kMinOfCell = 8;
/// Places are made if they are at most this share of the samples.
constexpr double kMaxPlaces = 0.75;

std::size_t different_positions(const SortedSample& sample, const ParallelOptions& options) {
  const double* x = sample.x();
  std::vector<std::size_t> parts(parts_of_pass(sample.size()), 0);
  pass_over(sample.size(), options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    std::size_t count = 0;
    for (std::size_t i = std::max<std::size_t>(1, begin); i < end; ++i) count += x[i] != x[i - 1];
    parts[part] = count;
  });
  return std::accumulate(parts.begin(), parts.end(), std::size_t{1});
}

}  // namespace

Places::Places(const SortedSample& sample, bool responses, const ParallelOptions& options)
    : size_(0), of_(sample.size()) {
  const double *x = sample.x(), *w = sample.w(), *y = sample.y();
  const std::size_t n = sample.size();
  serial_for(n, options, [&](std::size_t i) {
    if (i == 0 || x[i] != x[i - 1]) first_.push_back(static_cast<std::uint32_t>(i));
    of_[i] = static_cast<std::uint32_t>(first_.size() - 1);
  });
  size_ = first_.size();
  first_.push_back(static_cast<std::uint32_t>(n));
  constexpr std::size_t padding = simd::kSweepPadding;
  x_.assign(size_ + 2 * padding, std::numeric_limits<double>::infinity());
  w_.assign(size_ + 2 * padding, 0.0);
  y_.assign(size_ + 2 * padding, 0.0);
  more_.assign(size_ + 2 * padding, 0.0);
  squares_.assign(size_, 0.0);
  pass_over(size_, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const std::size_t from = first_[p];
      long double weight = 0, response = 0;
      for (std::size_t i = from; i < first_[p + 1]; ++i) {
        weight += w[i];
        if (responses) response += static_cast<long double>(w[i]) * (y[i] - y[from]);
      }
      x_[padding + p] = x[from];
      w_[padding + p] = static_cast<double>(weight);
      if (!responses) continue;
      y_[padding + p] = y[from];
      if (!(weight > 0)) continue;
      const long double mean = response / weight;
      long double squares = 0;
      for (std::size_t i = from; i < first_[p + 1]; ++i) {
        const long double off = (y[i] - y[from]) - mean;
        squares += w[i] * off * off;
      }
      more_[padding + p] = static_cast<double>(mean);
      squares_[p] = static_cast<double>(squares);
    }
  });
}

double gaussian_cut(Weights w) {
  constexpr double kCut = 92.2;
  if (w.absent() || w.size == 0) return kCut;
  const auto range = std::minmax_element(w.data, w.data + w.size);
  const double ratio = *range.second / *range.first;
  return kCut + 2 * std::log(std::isfinite(ratio) ? ratio : 1e308);
}

LocalSource::LocalSource(std::unique_ptr<const NodeCells> cells, double samples)
    : sample_(SortedSample({}, {}, {}, {})),
      responses_(true),
      prepared_(true),
      weight_ratio_(samples),
      cells_(std::move(cells)) {
  cut_ = gaussian_cut(Weights::ones(1));
}

void LocalSource::prepare_gaussian(double h, int order, double slope,
                                   const RunOptions& options) const {
  const ParallelOptions cheap = part_of(options.parallel, 0, 0);
  const std::size_t n = sample_.size();
  if (n == 0) return;
  if (!prepared_) {
    prepared_ = true;
    cut_ = gaussian_cut(sample_.weights());
    const WeightSums sums = weight_sums(sample_.weights(), cheap);
    weight_ratio_ = std::max(1.0, sums.sum / sums.min_positive);
    min_weight_ = std::isfinite(sums.min_positive) ? sums.min_positive : 0.0;
    const std::size_t places = different_positions(sample_, cheap);
    if (static_cast<double>(places) <= kMaxPlaces * static_cast<double>(n)) {
      places_ = std::make_unique<const Places>(sample_, responses_, cheap);
    }
    if (n >= kMinSamples && places > 1) finest_ = finest_exponent(sample_, kMinOfCell, cheap);
  }
  if (!finest_) return;
  const int exponent = std::max(*finest_, node_exponent(h, order));
  if (cells_ && cells_->slope() == slope && cells_->finest() <= exponent) return;
  const double range = sample_.x()[n - 1] - sample_.x()[0];
  const int widest = std::max(*finest_, std::ilogb(range) - 2);
  const std::size_t columns = !responses_ ? 1 : sample_.unit_weights() ? 3 : 2;
  cells_ = std::make_unique<const NodeCells>(sample_, columns, slope, std::min(exponent, widest),
                                             RunOptions{options.table, cheap});
}

}  // namespace kestrel
