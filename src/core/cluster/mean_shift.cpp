#include "core/cluster/mean_shift.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/small_matrix.hpp"
#include "core/direct/derivatives.hpp"
#include "core/fourier/engine.hpp"
#include "core/fourier/field.hpp"
#include "core/kernel/derivative.hpp"

namespace kestrel {

namespace {

/// Newton's steps are taken if they are shorter than this, in bandwidths: within a mode's own hill.
/// The pivots of the matrix I - S_2 / S_0 must be above kLeastPivot.
constexpr double kNewtonReach = 0.2, kLeastPivot = 1e-6;

/// The error of the grids, relative to the largest density; points where the density is below
/// kDigits times that are summed directly.
constexpr double kFieldError = 1e-13, kDigits = 1e7;

/// Points of a work item.
constexpr std::size_t kPointsOfItem = 128;

/// From how many pairs of samples and points on the grids are worth their preparation, in one and
/// two dimensions and in three. (Measured 2026-11, AVX2, 1000 rows: with grids .011, .018 and .65
/// s, without .096, .091 and .19 s.)
constexpr double kFieldFrom = 1e6, kFieldFromInSpace = 4e6;

double length_of(const double* v, std::size_t d) {
  double square = 0;
  for (std::size_t k = 0; k < d; ++k) square += v[k] * v[k];
  return std::sqrt(square);
}

class MeanShiftRun {
 public:
  MeanShiftRun(const MatrixView& x, Weights w, const MatrixView& points, Span<const double> root,
               const MeanShiftSettings& settings, const RunOptions& options);

  MeanShift run();

 private:
  void find_shifts(const RunOptions& options);
  void sum_shifts(const std::vector<std::size_t>& chosen, const RunOptions& options);
  void move();
  bool read_shift(std::size_t moving, double* values);
  void set_shift(std::size_t moving, const double* mean, const double* curvature);
  std::size_t coordinate(std::size_t moving, std::size_t k) const {
    return k * m_ + moving_[moving];
  }

  const MatrixView x_;
  const Weights w_;
  const Span<const double> root_;
  const MeanShiftSettings settings_;
  const RunOptions& options_;
  const std::size_t d_, m_;
  const Monomials monomials_;
  std::vector<std::size_t> second_;  // the monomial of u_k u_l at k * d + l
  std::unique_ptr<FourierField> field_;
  std::vector<std::size_t> moving_;
  std::vector<double> shift_;  // in bandwidths, d for each moving point
  MeanShift result_;
};

MeanShiftRun::MeanShiftRun(const MatrixView& x, Weights w, const MatrixView& points,
                           Span<const double> root, const MeanShiftSettings& settings,
                           const RunOptions& options)
    : x_(x),
      w_(w),
      root_(root),
      settings_(settings),
      options_(options),
      d_(x.cols),
      m_(points.rows),
      monomials_(d_, 2) {
  for (std::size_t k = 0; k < d_; ++k) {
    for (std::size_t l = 0; l < d_; ++l) {
      std::vector<int> exponent(d_, 0);
      ++exponent[k];
      ++exponent[l];
      second_.push_back(monomials_.number(exponent));
    }
  }
  const double pairs = static_cast<double>(x.rows) * static_cast<double>(m_);
  if (d_ <= 3 && pairs >= (d_ == 3 ? kFieldFromInSpace : kFieldFrom)) {
    field_ = FourierField::make(x, w, points, root, kFieldError, kFourierBytes,
                                part_of(options, 0.0, 0.1));
  }
  result_.end.assign(points.data, points.data + m_ * d_);
  result_.steps.assign(m_, 0);
  for (std::size_t i = 0; i < m_; ++i) moving_.push_back(i);
}

/// mean: S_1 / S_0 - u, the way to the weighted mean; curvature: I - S_2 / S_0, S_k the sums of w
/// u^k exp(-|u|^2 / 2).
void MeanShiftRun::set_shift(std::size_t moving, const double* mean, const double* curvature) {
  double* shift = shift_.data() + moving * d_;
  std::copy_n(mean, d_, shift);
  if (!(length_of(mean, d_) < kNewtonReach)) return;
  std::vector<double> newton(d_);
  if (solve_definite(curvature, d_, kLeastPivot, mean, newton.data()) &&
      length_of(newton.data(), d_) < kNewtonReach) {
    std::copy(newton.begin(), newton.end(), shift);
  }
}

/// Returns false where the grids have too few digits.
bool MeanShiftRun::read_shift(std::size_t moving, double* values) {
  double at[3], mean[3], curvature[9];
  for (std::size_t k = 0; k < d_; ++k) at[k] = result_.end[coordinate(moving, k)];
  if (!field_->read(at, values)) return false;
  const double f = values[0];
  if (!(f >= kDigits * kFieldError * field_->largest())) return false;
  for (std::size_t k = 0; k < d_; ++k) mean[k] = values[1 + k] / f;
  for (std::size_t e = 0; e < d_ * d_; ++e) curvature[e] = -values[second_[e]] / f;
  set_shift(moving, mean, curvature);
  return true;
}

void MeanShiftRun::sum_shifts(const std::vector<std::size_t>& chosen, const RunOptions& options) {
  const std::size_t count = chosen.size();
  std::vector<double> at(count * d_), sums(count * monomials_.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < d_; ++k) at[k * count + i] = result_.end[coordinate(chosen[i], k)];
  }
  EvaluationPoints points;
  points.matrix = {at.data(), count, d_};
  direct_moments(x_, w_, points, root_, 2, options, {sums.data(), sums.size()});
  std::vector<double> mean(d_), curvature(d_ * d_);
  for (std::size_t i = 0; i < count; ++i) {
    const double weight = sums[i];
    if (!(weight > 0)) {
      ++result_.out_of_reach;
      continue;
    }
    for (std::size_t k = 0; k < d_; ++k) mean[k] = -sums[(1 + k) * count + i] / weight;
    for (std::size_t e = 0; e < d_ * d_; ++e) {
      curvature[e] = (e % (d_ + 1) == 0 ? 1 : 0) - sums[second_[e] * count + i] / weight;
    }
    set_shift(chosen[i], mean.data(), curvature.data());
  }
}

void MeanShiftRun::find_shifts(const RunOptions& options) {
  const std::size_t count = moving_.size();
  shift_.resize(count * d_);
  std::vector<std::size_t> rest;
  if (field_ == nullptr) {
    for (std::size_t i = 0; i < count; ++i) rest.push_back(i);
    return sum_shifts(rest, options);
  }
  std::vector<char> found(count);
  parallel_for((count + kPointsOfItem - 1) / kPointsOfItem, options.parallel,
               [&](std::size_t item, int) {
                 std::vector<double> values(field_->values());
                 const std::size_t end = std::min(count, (item + 1) * kPointsOfItem);
                 for (std::size_t i = item * kPointsOfItem; i < end; ++i) {
                   found[i] = read_shift(i, values.data());
                 }
               });
  for (std::size_t i = 0; i < count; ++i) {
    if (!found[i]) rest.push_back(i);
  }
  if (!rest.empty()) sum_shifts(rest, options);
}

/// Adds the shifts, and leaves out of moving_ the points that have stopped.
void MeanShiftRun::move() {
  std::vector<std::size_t> still;
  std::vector<double> step(d_);
  if (settings_.paths) result_.path.emplace_back();
  for (std::size_t i = 0; i < moving_.size(); ++i) {
    for (std::size_t k = 0; k < d_; ++k) {
      step[k] = 0;
      for (std::size_t l = 0; l <= k; ++l) step[k] += root_[l * d_ + k] * shift_[i * d_ + l];
      result_.end[coordinate(i, k)] += step[k];
      if (settings_.paths) result_.path.back().at.push_back(result_.end[coordinate(i, k)]);
    }
    if (length_of(step.data(), d_) > settings_.tolerance) still.push_back(moving_[i]);
    ++result_.steps[moving_[i]];
  }
  if (settings_.paths) result_.path.back().point = moving_;
  moving_.swap(still);
}

MeanShift MeanShiftRun::run() {
  for (int step = 0; step < settings_.most && !moving_.empty(); ++step) {
    const double done = 1 - static_cast<double>(moving_.size()) / static_cast<double>(m_);
    find_shifts(part_of(options_, 0.1 + 0.9 * done, 0.1 + 0.9 * done));
    if (result_.out_of_reach > 0) break;
    move();
  }
  result_.moving = moving_.size();
  return std::move(result_);
}

}  // namespace

MeanShift mean_shift(const MatrixView& x, Weights w, const MatrixView& points,
                     Span<const double> root, const MeanShiftSettings& settings,
                     const RunOptions& options) {
  return MeanShiftRun(x, w, points, root, settings, options).run();
}

}  // namespace kestrel
