#include "core/fgt/density.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/pack.hpp"
#include "core/base/parallel.hpp"
#include "core/base/whole.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/cell_moments.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

/// Cells are at most 2^-kHalvings of the bandwidth wide.
constexpr int kHalvings = 2;
/// Values have a relative accuracy within this many bandwidths of the nearest sample.
constexpr double kAccurateReach = 8.0;
/// A tenth of the promised error.
constexpr double kTolerance = 1e-13;
/// Cells with fewer samples get no moments: their one sample has a Taylor series of its own.
constexpr std::size_t kFewSamples = 2;
/// Up to this many pairs of a sample and a point, exponentials are cheaper than moments or a series
/// (measured on cells of 1 to 10 samples with 1 to 20 points).
constexpr std::size_t kFewPairs = 8;

/// The number of moments, and the distance up to which cells are looked at, in bandwidths. They are
/// such that the error from all samples at a distance of kAccurateReach and more is below
/// kTolerance of the value of the lightest sample there.
struct Accuracy {
  int moments;
  double reach;
  double ratio;  // of all weights to the least one, over the tolerance

  Accuracy(Weights w, const ParallelOptions& options) {
    const WeightSums weights = weight_sums(w, options);
    ratio = std::max(1.0, weights.sum / weights.min_positive) / kTolerance;
    reach = std::min(38.6, std::sqrt(kAccurateReach * kAccurateReach + 2 * std::log(ratio)));
    moments = moments_of(0);
  }

  /// How many moments are enough for cells of 2^-halved of the width.
  int moments_of(int halved) const {
    const double rho = std::ldexp(1.0, -kHalvings - halved), nearest = kAccurateReach - rho;
    const double farthest = 0.5 * kAccurateReach * kAccurateReach - 0.25 * nearest * nearest;
    int enough = 16;
    while (enough < kMaxMoments && taylor_error(rho, 0, enough) * std::exp(farthest) * ratio > 1) {
      enough += 4;
    }
    return enough;
  }
};

/// value[i] += sum_a coefficient[a] y[i]^a, by Horner's rule, eight points at a time.
void add_polynomial(const double* coefficient, std::size_t size, const double* y, std::size_t count,
                    double* value) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    Pack sum[4];
    const Pack y0 = load_pack(y + i), y1 = load_pack(y + i + 2), y2 = load_pack(y + i + 4),
               y3 = load_pack(y + i + 6);
    sum[0] = sum[1] = sum[2] = sum[3] = both(coefficient[size - 1]);
    for (std::size_t a = size - 1; a-- > 0;) {
      const Pack c = both(coefficient[a]);
      sum[0] = sum[0] * y0 + c;
      sum[1] = sum[1] * y1 + c;
      sum[2] = sum[2] * y2 + c;
      sum[3] = sum[3] * y3 + c;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      double* to = value + i + 2 * k;
      store_pack(load_pack(to) + sum[k], to);
    }
  }
  for (; i < count; ++i) {
    double sum = coefficient[size - 1];
    for (std::size_t a = size - 1; a-- > 0;) sum = sum * y[i] + coefficient[a];
    value[i] += sum;
  }
}

/// One call of fgt_density. Sources are the cells of samples, targets the cells of points. At lag l
/// = target key - source key, the distance of a sample at offset z and a point at offset y is rho
/// (l + y - z), rho = width / h.
class PointSums {
 public:
  PointSums(const LineSample& sample, Span<const double> points, double h,
            const RunOptions& options);

  void run(const ParallelOptions& options, double* value) const;
  const CellOrder& targets() const { return targets_; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Local;

  void take_full_cells(const LineSample& sample, const RunOptions& options);
  void sort_samples(const LineSample& sample, const RunOptions& options);

  void piece(const CellPieces::Piece& piece, double* value) const;
  void add_pair_by_pair(std::size_t source, double lag, const CellPieces::Piece& piece,
                        double* value) const;
  void add_samples(std::size_t source, double lag, Local& local) const;
  void add_moments(std::size_t source, int lag, Local& local) const;
  const double* derivatives(int lag) const {
    return derivatives_.data() + static_cast<std::size_t>(lag) * (moments_ + 4);
  }

  const Accuracy accuracy_;
  const std::size_t moments_;
  const int exponent_;
  // Full cells of samples are known by their moments only; `sources_` is null then.
  std::unique_ptr<const CellOrder> sources_;
  const CellOrder targets_;
  const double rho_;
  const int lags_;
  std::vector<double> key_;          // of the sources
  std::vector<double> derivatives_;  // of phi at lag * rho, lag >= 0, then zeros
  std::vector<std::size_t> slot_;    // where a source's moments are
  std::vector<double> moment_;
};

/// Taylor coefficients about the centre of a cell of points: sum_a (right[a] + (-1)^a left[a])
/// y^a / a!.
struct PointSums::Local {
  double right[kMaxMoments] = {}, left[kMaxMoments] = {};
};

PointSums::PointSums(const LineSample& sample, Span<const double> points, double h,
                     const RunOptions& options)
    : accuracy_(sample.w(), part_of(options.parallel, 0, 0)),
      moments_(static_cast<std::size_t>(accuracy_.moments)),
      exponent_(cell_exponent(h, kHalvings)),
      targets_(points, {}, range_of(points, part_of(options.parallel, 0, 0)), exponent_,
               options.parallel),
      rho_(std::ldexp(1.0, exponent_) / h),
      lags_(whole_number<int>(std::ceil(accuracy_.reach / rho_)) + 1) {
  if (sample.has_full_cells(exponent_)) {
    take_full_cells(sample, options);
  } else {
    sort_samples(sample, options);
  }
  const std::size_t stride = moments_ + 4;
  derivatives_.assign(static_cast<std::size_t>(lags_ + 1) * stride, 0.0);
  for (int lag = 0; lag <= lags_; ++lag) {
    scaled_derivatives(lag * rho_, rho_, accuracy_.moments,
                       derivatives_.data() + static_cast<std::size_t>(lag) * stride);
  }
}

void PointSums::take_full_cells(const LineSample& sample, const RunOptions& options) {
  const CellMoments cells = sample.cells(
      exponent_, [this](int halved) { return accuracy_.moments_of(halved); }, options);
  for (std::size_t s = 0; s < cells.cells(); ++s) {
    key_.push_back(cells.key(s));
    slot_.push_back(s);
    moment_.insert(moment_.end(), cells.moment(s), cells.moment(s) + moments_);
  }
}

void PointSums::sort_samples(const LineSample& sample, const RunOptions& options) {
  sources_ = std::make_unique<const CellOrder>(sample.x(), sample.w(), sample.range(), exponent_,
                                               options.parallel);
  std::vector<std::size_t> large;
  for (std::size_t s = 0; s < sources_->cells(); ++s) {
    key_.push_back(sources_->key(s));
    const bool many = sources_->count(s) >= kFewSamples;
    slot_.push_back(many ? large.size() : kNone);
    if (many) large.push_back(s);
  }
  moment_ = sum_cells(*sources_, large, accuracy_.moments, options).moment;
}

void PointSums::run(const ParallelOptions& options, double* value) const {
  std::vector<std::size_t> all(targets_.cells());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const CellPieces pieces = cut_cells(targets_, all);
  parallel_for(pieces.items(), options, [&](std::size_t item, int) {
    for (std::size_t i = pieces.first_piece[item]; i < pieces.first_piece[item + 1]; ++i) {
      piece(pieces.piece[i], value);
    }
  });
}

void PointSums::add_pair_by_pair(std::size_t source, double lag, const CellPieces::Piece& piece,
                                 double* value) const {
  for (std::size_t i = piece.begin; i < piece.end; ++i) {
    const double from = lag + targets_.offset()[i];
    double sum = 0.0;
    for (std::size_t j = sources_->first(source); j < sources_->first(source + 1); ++j) {
      const double u = rho_ * (from - sources_->offset()[j]);
      sum += sources_->weight()[j] * std::exp(-0.5 * u * u);
    }
    value[i] += sum;
  }
}

void PointSums::add_samples(std::size_t source, double lag, Local& local) const {
  double of_sample[kMaxMoments];
  for (std::size_t j = sources_->first(source); j < sources_->first(source + 1); ++j) {
    scaled_derivatives(rho_ * (lag - sources_->offset()[j]), rho_, accuracy_.moments, of_sample);
    for (std::size_t a = 0; a < moments_; ++a)
      local.right[a] += sources_->weight()[j] * of_sample[a];
  }
}

void PointSums::add_moments(std::size_t source, int lag, Local& local) const {
  // right[a] += sum_b (-1)^b moment[b] rho^(a+b) phi^(a+b)(rho lag), a + b < moments. For sources
  // on the other side, phi^(k)(-u) = (-1)^k phi^(k)(u) moves the signs to `left`.
  const double* moment = moment_.data() + slot_[source] * moments_;
  const double sign = lag >= 0 ? -1.0 : 1.0;
  const double* phi = derivatives(std::abs(lag));
  double* out = lag >= 0 ? local.right : local.left;
  for (std::size_t a = 0; a < moments_; a += 4) {
    Pack low = {}, high = {}, odd_low = {}, odd_high = {};
    const double* from = phi + a;
    for (std::size_t b = 0; b < moments_ - a; b += 2, from += 2) {
      const Pack even = both(moment[b]), odd = both(sign * moment[b + 1]);
      low += even * load_pack(from);
      high += even * load_pack(from + 2);
      odd_low += odd * load_pack(from + 1);
      odd_high += odd * load_pack(from + 3);
    }
    store_pack(load_pack(out + a) + (low + odd_low), out + a);
    store_pack(load_pack(out + a + 2) + (high + odd_high), out + a + 2);
  }
}

void PointSums::piece(const CellPieces::Piece& piece, double* value) const {
  const double key = targets_.key(piece.cell);
  const std::size_t points = piece.end - piece.begin;
  std::fill(value + piece.begin, value + piece.end, 0.0);
  Local local;
  bool any = false;
  std::size_t s = static_cast<std::size_t>(std::lower_bound(key_.begin(), key_.end(), key - lags_) -
                                           key_.begin());
  for (; s < key_.size() && key_[s] - key <= lags_; ++s) {
    const double lag = key - key_[s];
    if (lag > lags_) continue;
    if (sources_ != nullptr && points * sources_->count(s) <= kFewPairs) {
      add_pair_by_pair(s, lag, piece, value);
      continue;
    }
    any = true;
    if (slot_[s] == kNone) {
      add_samples(s, lag, local);
    } else {
      add_moments(s, static_cast<int>(lag), local);
    }
  }
  if (!any) return;
  double coefficient[kMaxMoments], factorial = 1.0, sign = 1.0;
  for (std::size_t a = 0; a < moments_; ++a) {
    coefficient[a] = (local.right[a] + sign * local.left[a]) / factorial;
    factorial *= static_cast<double>(a + 1);
    sign = -sign;
  }
  add_polynomial(coefficient, moments_, targets_.offset() + piece.begin, points,
                 value + piece.begin);
}

}  // namespace

void fgt_density(const LineSample& sample, Span<const double> points, double h,
                 const RunOptions& options, Span<double> out) {
  if (out.size != points.size) throw error(ErrorKind::internal, "output of a wrong size");
  // Samples first, then points; progress counts both at the same cost.
  const std::size_t n = sample.x().size;
  const double samples =
      static_cast<double>(n) / static_cast<double>(std::max<std::size_t>(1, n + points.size));
  const PointSums sums(sample, points, h, {options.table, part_of(options.parallel, 0, samples)});
  std::vector<double> value(points.size);
  sums.run(part_of(options.parallel, samples, 1), value.data());
  const double constant = 1 / std::sqrt(2 * kPi);
  for (std::size_t i = 0; i < points.size; ++i) {
    // If all samples are far away, the value may consist of rounding errors.
    out[i] = std::max(0.0, value[sums.targets().place(i)]) * constant / h;
  }
}

}  // namespace kestrel
