#include "core/fgt/density.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/base/raw_array.hpp"
#include "core/base/whole.hpp"
#include "core/data/passes.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/cell_moments.hpp"
#include "core/fgt/source_cells.hpp"
#include "core/kernel/derivative.hpp"
#include "core/kernel/kernel.hpp"
#include "simd/fgt/cells.hpp"

namespace kestrel {

namespace {

/// Values have a relative accuracy within this many bandwidths of the nearest sample.
constexpr double kAccurateReach = 8.0;
/// A tenth of the promised error.
constexpr double kTolerance = 1e-13;
/// Cells with no more samples get no moments: their one sample has a Taylor series of its own.
constexpr std::size_t kFewSamples = 1;
/// Up to this many pairs of a sample and a point, exponentials are cheaper than moments or a series
/// (measured on cells of 1 to 10 samples with 1 to 20 points).
constexpr std::size_t kFewPairs = 8;

/// The number of moments, and the distance up to which cells are looked at, in bandwidths. They are
/// such that the error from all samples at a distance of kAccurateReach and more is below
/// kTolerance of the value of the lightest sample there.
struct Accuracy {
  int order;  // of the derivative
  int moments;
  double reach;
  double ratio;  // of all weights to the least one, over the tolerance

  Accuracy(const WeightSums& weights, int order_) : order(order_) {
    ratio = std::max(1.0, weights.sum / weights.min_positive) / kTolerance;
    reach = std::min(38.6, std::sqrt(kAccurateReach * kAccurateReach + 2 * std::log(ratio)));
    moments = moments_of(0);
  }

  /// How many moments are enough for cells of 2^-halved of the width.
  int moments_of(int halved) const {
    const double rho = std::ldexp(1.0, -kDensityHalvings - halved), nearest = kAccurateReach - rho;
    const double farthest = 0.5 * kAccurateReach * kAccurateReach - 0.25 * nearest * nearest;
    int enough = 16;
    while (enough < kMaxMoments &&
           taylor_error(rho, order, enough) * std::exp(farthest) * ratio > 1) {
      enough += 4;
    }
    return enough;
  }
};

/// One call of fgt_density. Sources are the cells of samples, targets the cells of points. At lag l
/// = target key - source key, the distance of a sample at offset z and a point at offset y is rho
/// (l + y - z), rho = width / h. Sums are of rho^r phi^(r), r the order of the derivative.
class PointSums {
 public:
  PointSums(const LineSample& sample, Span<const double> points, double h, int order,
            const RunOptions& options);

  /// value[k] is that of the point at place k of targets().
  void run(const ParallelOptions& options, double* value) const;
  const CellOrder& targets() const { return targets_; }
  /// The width of the cells is 2^exponent().
  int exponent() const { return exponent_; }

 private:
  struct Local;

  void piece(const CellPieces::Piece& piece, double* value) const;
  void add_pair_by_pair(std::size_t source, double lag, const CellPieces::Piece& piece,
                        double* value) const;
  void add_samples(std::size_t source, double lag, Local& local) const;
  void add_moments(std::size_t source, int lag, Local& local) const;
  void add_series(Local& local) const;
  std::size_t stride() const { return order_ + moments_ + kMomentPadding; }
  /// [a] = rho^(r + a) phi^(r + a)(rho lag), a < moments.
  const double* derivatives(int lag) const {
    return derivatives_.data() + static_cast<std::size_t>(lag) * stride() + order_;
  }

  const simd::CellTable& leaves_;
  const Accuracy accuracy_;
  const std::size_t order_, moments_;
  const int exponent_;
  const CellOrder targets_;
  const double rho_;
  const int lags_;
  const SourceCells sources_;
  std::vector<double> derivatives_;  // of phi at lag * rho, lag >= 0, then zeros
};

/// Taylor coefficients about the centre of a cell of points: sum_a (right[a] + (-1)^a left[a])
/// y^a / a!. Series of sources wait until there are many, on each side.
struct PointSums::Local {
  static constexpr std::size_t kMany = 64;
  double right[kMaxMoments] = {}, left[kMaxMoments] = {};
  simd::CellSeries to_right[kMany], to_left[kMany];
  std::size_t count_right = 0, count_left = 0;
};

PointSums::PointSums(const LineSample& sample, Span<const double> points, double h, int order,
                     const RunOptions& options)
    : leaves_(*options.table->cells),
      accuracy_(sample.weights(part_of(options.parallel, 0, 0)), order),
      order_(static_cast<std::size_t>(order)),
      moments_(static_cast<std::size_t>(accuracy_.moments)),
      exponent_(cell_exponent(h, kDensityHalvings)),
      targets_(points, Weights::ones(points.size),
               range_of(points, part_of(options.parallel, 0, 0)), exponent_, options),
      rho_(std::ldexp(1.0, exponent_) / h),
      lags_(whole_number<int>(std::ceil(accuracy_.reach / rho_)) + 1),
      sources_(sample,
               {exponent_, kFewSamples, [this](int halved) { return accuracy_.moments_of(halved); },
                false},
               options) {
  derivatives_.assign(static_cast<std::size_t>(lags_ + 1) * stride(), 0.0);
  for (int lag = 0; lag <= lags_; ++lag) {
    scaled_derivatives(lag * rho_, rho_, order + accuracy_.moments,
                       derivatives_.data() + static_cast<std::size_t>(lag) * stride());
  }
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
  double of_pair[kHighestDerivative + 1];
  for (std::size_t i = piece.begin; i < piece.end; ++i) {
    const double from = lag + targets_.offset()[i];
    double sum = 0.0;
    for (std::size_t j = sources_.first(source); j < sources_.first(source + 1); ++j) {
      const double u = rho_ * (from - sources_.offset()[j]);
      scaled_derivatives(u, rho_, accuracy_.order + 1, of_pair);
      sum += sources_.weight()[j] * of_pair[order_];
    }
    value[i] += sum;
  }
}

void PointSums::add_samples(std::size_t source, double lag, Local& local) const {
  double of_sample[kHighestDerivative + kMaxMoments];
  for (std::size_t j = sources_.first(source); j < sources_.first(source + 1); ++j) {
    scaled_derivatives(rho_ * (lag - sources_.offset()[j]), rho_,
                       accuracy_.order + accuracy_.moments, of_sample);
    for (std::size_t a = 0; a < moments_; ++a)
      local.right[a] += sources_.weight()[j] * of_sample[order_ + a];
  }
}

/// right[a] += sum_b (-1)^b moment[b] rho^(r+a+b) phi^(r+a+b)(rho lag), a + b < moments. For
/// sources on the other side, phi^(k)(-u) = (-1)^k phi^(k)(u) moves the signs to `left`.
void PointSums::add_moments(std::size_t source, int lag, Local& local) const {
  const simd::CellSeries series{sources_.moment(source), derivatives(std::abs(lag))};
  if (lag >= 0) {
    local.to_right[local.count_right++] = series;
  } else {
    local.to_left[local.count_left++] = series;
  }
  if (std::max(local.count_right, local.count_left) == Local::kMany) add_series(local);
}

void PointSums::add_series(Local& local) const {
  const int moments = accuracy_.moments;
  leaves_.add_series(local.to_right, local.count_right, moments, -1.0, local.right);
  leaves_.add_series(local.to_left, local.count_left, moments, 1.0, local.left);
  local.count_right = local.count_left = 0;
}

void PointSums::piece(const CellPieces::Piece& piece, double* value) const {
  const double key = targets_.key(piece.cell);
  const std::size_t points = piece.end - piece.begin;
  std::fill(value + piece.begin, value + piece.end, 0.0);
  Local local;
  bool any = false;
  const std::vector<double>& keys = sources_.key();
  std::size_t s = static_cast<std::size_t>(std::lower_bound(keys.begin(), keys.end(), key - lags_) -
                                           keys.begin());
  for (; s < keys.size() && keys[s] - key <= lags_; ++s) {
    const double lag = key - keys[s];
    if (lag > lags_) continue;
    if (sources_.has_samples() && points * sources_.count(s) <= kFewPairs) {
      add_pair_by_pair(s, lag, piece, value);
      continue;
    }
    any = true;
    if (sources_.has_moments(s)) {
      add_moments(s, static_cast<int>(lag), local);
    } else {
      add_samples(s, lag, local);
    }
  }
  if (!any) return;
  add_series(local);
  double coefficient[kMaxMoments], factorial = 1.0, sign = order_ % 2 == 0 ? 1.0 : -1.0;
  for (std::size_t a = 0; a < moments_; ++a) {
    coefficient[a] = (local.right[a] + sign * local.left[a]) / factorial;
    factorial *= static_cast<double>(a + 1);
    sign = -sign;
  }
  leaves_.add_polynomial(coefficient, accuracy_.moments, targets_.offset() + piece.begin, points,
                         value + piece.begin);
}

}  // namespace

int fgt_density_moments(const WeightSums& weights, int halved) {
  return Accuracy(weights, 0).moments_of(halved);
}

void fgt_density(const LineSample& sample, Span<const double> points, double h,
                 const RunOptions& options, Span<double> out, int order) {
  if (out.size != points.size) throw error(ErrorKind::internal, "output of a wrong size");
  check_derivative(order);
  // Samples first, then points; progress counts both at the same cost.
  const std::size_t n = sample.x().size;
  const double samples =
      static_cast<double>(n) / static_cast<double>(std::max<std::size_t>(1, n + points.size));
  const PointSums sums(sample, points, h, order,
                       {options.table, part_of(options.parallel, 0, samples)});
  const RawArray<double> value(points.size);
  sums.run(part_of(options.parallel, samples, 1), value.data());
  const double constant = 1 / std::sqrt(2 * kPi);
  // If all samples are far away, a density may consist of rounding errors.
  const double least = order == 0 ? 0.0 : -std::numeric_limits<double>::infinity();
  const auto scaled = [&](double value) {
    const double density = std::max(least, value) * constant / h;
    return order == 0 ? density : std::ldexp(density, -order * sums.exponent());
  };
  pass_over(points.size, part_of(options.parallel, 1, 1),
            [&](std::size_t, std::size_t begin, std::size_t end) {
              for (std::size_t i = begin; i < end; ++i) {
                out[i] = scaled(value[sums.targets().place(i)]);
              }
            });
}

}  // namespace kestrel
