#include "core/regression/neighbour_window.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/data/passes.hpp"
#include "shared/local_fit.hpp"

namespace kestrel {

namespace {

constexpr std::size_t kReachBlock = 64;
/// More than the relative rounding error of distances and reaches.
constexpr double kLittle = 4 * std::numeric_limits<double>::epsilon();
/// Sums of the Gaussian kernel at least this large, relative to the weights, have all their digits.
constexpr double kLeastVaryingSum = 1e-200;

/// The sum of term(j), j < count. Short sums of doubles, on four lanes, are added in long doubles:
/// the error is at most some tens of eps of the terms.
template <class Term>
double blocked_sum(std::size_t count, const Term& term) {
  constexpr std::size_t block = 128;
  long double all = 0;
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t end = std::min(count, begin + block);
    double lane[4] = {};
    std::size_t j = begin;
    for (; j + 4 <= end; j += 4) {
      for (std::size_t t = 0; t < 4; ++t) lane[t] += term(j + t);
    }
    for (; j < end; ++j) lane[0] += term(j);
    all += (lane[0] + lane[1]) + (lane[2] + lane[3]);
  }
  return static_cast<double>(all);
}

/// What is added to gaussian_cut() where a polynomial of the distance multiplies the kernel.
double cut_for_order(int order) { return order > 2 ? 44.0 : 0.0; }

}  // namespace

NeighbourBandwidths::NeighbourBandwidths(const SortedSample& line, const LocalKernel& kernel,
                                         RawArray<double> distance)
    : line_(line),
      kernel_(kernel),
      reach_(std::move(distance)),
      factor_(gaussian_factor(kernel.order)) {
  const std::size_t n = line.size();
  if (kernel.gaussian()) cut_ = gaussian_cut(line.weights()) + cut_for_order(kernel.order);
  if (reach_.data() == nullptr) return;
  for (std::size_t j = 0; j < n; ++j) {
    reach_[j] *= kernel.unit;
    complete_ = complete_ && !std::isnan(reach_[j]);
    least_ = std::min(least_, reach_[j]);
  }
  if (!adaptive() || !complete_) return;
  scale_ = RawArray<double>(n);
  weight_ = RawArray<double>(n);
  for (std::size_t begin = 0; begin < n; begin += kReachBlock) {
    double from = HUGE_VAL, to = -HUGE_VAL;
    for (std::size_t j = begin; j < std::min(n, begin + kReachBlock); ++j) {
      scale_[j] = 1 / reach_[j];
      weight_[j] = line.w()[j] * (least_ / reach_[j]);
      const double x = line.x()[j], far = reach(reach_[j]) * (1 + kLittle) + kLittle * std::abs(x);
      from = std::min(from, x - far);
      to = std::max(to, x + far);
    }
    from_.push_back(from);
    to_.push_back(to);
  }
}

void NeighbourBandwidths::seen(double lower, double upper, double h,
                               std::vector<SampleRange>& ranges) const {
  ranges.clear();
  const double little = kLittle * std::max(std::abs(lower), std::abs(upper));
  lower -= little;
  upper += little;
  const std::size_t n = line_.size();
  if (!adaptive()) {
    const double *x = line_.x(), far = reach(h) * (1 + kLittle);
    const double* first = std::lower_bound(x, x + n, lower - far);
    const double* end = std::upper_bound(first, x + n, upper + far);
    ranges.push_back({static_cast<std::size_t>(first - x), static_cast<std::size_t>(end - x)});
    return;
  }
  for (std::size_t block = 0; block < from_.size(); ++block) {
    if (from_[block] > upper || to_[block] < lower) continue;
    const std::size_t begin = block * kReachBlock, end = std::min(n, begin + kReachBlock);
    if (!ranges.empty() && ranges.back().end == begin) {
      ranges.back().end = end;
    } else {
      ranges.push_back({begin, end});
    }
  }
}

bool NeighbourBandwidths::quick_fit(const simd::Table& table, std::size_t i,
                                    const std::vector<SampleRange>& ranges, LocalFit& fit) const {
  const double h = reach_[i];
  const bool gaussian = kernel_.gaussian();
  simd::VaryingWindow window{};
  window.x = line_.x();
  window.w = adaptive() ? weight_.data() : line_.w();
  window.y = line_.y();
  window.scales = adaptive() ? scale_.data() : nullptr;
  window.reaches = adaptive() ? reach_.data() : nullptr;
  window.point = line_.x()[i];
  window.reference = line_.y()[i];
  window.scale = 1 / h;
  window.reach = h;
  window.inner = gaussian ? 0 : row_of(kernel_.kernel).inner;
  window.outer = row_of(kernel_.kernel).outer;
  window.factor = kernel_.order == 2 ? nullptr : factor_.term;
  const auto add = [&](std::size_t begin, std::size_t end) {
    if (begin < end) table.sweep->varying_window(window, begin, end);
  };
  for (const SampleRange& range : ranges) {
    SampleRange used = range;
    if (gaussian && !adaptive()) {
      // A neighbour is no farther than h, and beside it far ones count little.
      const double far = std::sqrt(1 + cut_) * h;
      const double *first = line_.x() + range.begin, *end = line_.x() + range.end;
      used.begin +=
          static_cast<std::size_t>(std::lower_bound(first, end, window.point - far) - first);
      used.end -= static_cast<std::size_t>(end - std::upper_bound(first, end, window.point + far));
    }
    const bool inside = used.begin <= i && i < used.end;
    add(used.begin, inside ? i : used.end);
    if (inside) add(i + 1, used.end);
  }
  const FitSums sums{window.sum[0], window.sum[1], window.sum[2], window.sum[3], window.sum[4]};
  const double least = gaussian && kernel_.order == 2 ? kLeastVaryingSum : 1 / kMaxLoss;
  if (!(sums.s0 > least * window.weight)) return false;
  fit = constant_fit(sums, 1.0);
  if (!kernel_.local_linear) return true;
  // Samples at one place have no spread but rounding errors. The kernel errs by some eps of itself
  // if it is Gaussian, and else, at the edge of a window, of its value at 0.
  const double mean = sums.s1 / sums.s0;
  make_line(sums, mean, (gaussian ? sums.s2 : window.square) + sums.s1 * mean, fit);
  return !fit.unstable;
}

void NeighbourWindow::add(const NeighbourBandwidths& bandwidths, std::size_t j, double e,
                          double h) {
  const double x = bandwidths.line().x()[j];
  if (!(std::abs(e - x) < bandwidths.reach(h))) return;
  if (count_ == 0) {
    places_ = 1;
  } else if (x != x_[count_ - 1]) {
    places_ = 2;
  }
  x_[count_] = x;
  y_[count_] = bandwidths.line().y()[j];
  h_[count_] = h;
  weight_[count_] = bandwidths.line().w()[j];
  sample_[count_++] = static_cast<std::uint32_t>(j);
}

void NeighbourWindow::see(const NeighbourBandwidths& bandwidths, double e, double h,
                          const std::vector<SampleRange>& ranges, std::size_t own, bool gradient) {
  const std::size_t n = bandwidths.line().size();
  if (x_.size() < n) {
    for (auto* column : {&x_, &y_, &h_, &weight_, &off_}) column->resize(n);
    sample_.resize(n);
  }
  if (gradient && slope_.size() < n) slope_.resize(n);
  count_ = heaviest_ = 0;
  places_ = 0;
  for (const SampleRange& range : ranges) {
    for (std::size_t j = range.begin; j < range.end; ++j) {
      if (j != own) add(bandwidths, j, e, bandwidths.adaptive() ? bandwidths.of(j) : h);
    }
  }
  if (count_ == 0) return;
  if (bandwidths.kernel().gaussian()) {
    weigh_gaussian(bandwidths, e, gradient);
  } else {
    weigh_compact(bandwidths, e, gradient);
  }
  for (std::size_t j = 1; j < count_; ++j) {
    if (std::abs(weight_[j]) > std::abs(weight_[heaviest_])) heaviest_ = j;
  }
}

void NeighbourWindow::weigh_compact(const NeighbourBandwidths& bandwidths, double e,
                                    bool gradient) {
  const KernelRow& row = row_of(bandwidths.kernel().kernel);
  const int inner = row.inner, outer = row.outer;
  for (std::size_t j = 0; j < count_; ++j) {
    const double h = h_[j], edge = distance_to_edge(x_[j], e, h);
    const double w = bandwidths.adaptive() ? weight_[j] * (bandwidths.least() / h) : weight_[j];
    weight_[j] = w * power_kernel(inner, outer, edge, h);
    if (!gradient) continue;
    slope_[j] = w * power_kernel_slope(inner, outer, (x_[j] - e) / h, edge, h);
  }
}

// The exponents are taken relative to the largest one, and terms are left out that are too small
// beside the largest one at another position than that has.
void NeighbourWindow::weigh_gaussian(const NeighbourBandwidths& bandwidths, double e,
                                     bool gradient) {
  const bool adaptive = bandwidths.adaptive();
  double* exponent = off_.data();
  std::size_t top = 0;
  for (std::size_t j = 0; j < count_; ++j) {
    const double u = (x_[j] - e) / h_[j];
    exponent[j] = -0.5 * u * u + (adaptive ? std::log(bandwidths.least() / h_[j]) : 0.0);
    if (exponent[j] > exponent[top]) top = j;
  }
  double other = -HUGE_VAL;
  for (std::size_t j = 0; j < count_; ++j) {
    if (x_[j] != x_[top]) other = std::max(other, exponent[j]);
  }
  log_scale_ = exponent[top];
  const double least =
      (bandwidths.kernel().local_linear && other > -HUGE_VAL ? other : log_scale_) -
      0.5 * bandwidths.cut();
  const SquarePolynomial factor = gaussian_factor(bandwidths.kernel().order);
  const SquarePolynomial of_slope = gaussian_slope_factor(bandwidths.kernel().order);
  std::size_t kept = 0;
  for (std::size_t j = 0; j < count_; ++j) {
    if (exponent[j] < least) continue;
    const double u = (x_[j] - e) / h_[j];
    const double w = weight_[j] * std::exp(exponent[j] - log_scale_);
    weight_[kept] = w * factor(u * u);
    if (gradient) slope_[kept] = w * of_slope(u * u) * u / h_[j];
    x_[kept] = x_[j];
    y_[kept] = y_[j];
    h_[kept] = h_[j];
    sample_[kept++] = sample_[j];
  }
  count_ = kept;
}

double NeighbourWindow::own_weight(const NeighbourBandwidths& bandwidths, double h) const {
  const bool adaptive = bandwidths.adaptive();
  if (!bandwidths.kernel().gaussian()) return adaptive ? bandwidths.least() / h : 1.0;
  return std::exp((adaptive ? std::log(bandwidths.least() / h) : 0.0) - log_scale_);
}

LocalFit NeighbourWindow::fit(bool local_linear, double e, double y) {
  LocalFit fit;
  if (count_ == 0) return fit;
  const double *g = weight_.data(), *x = x_.data(), *values = y_.data(), origin = x[heaviest_];
  double* off = off_.data();
  s0_ = blocked_sum(count_, [&](std::size_t j) { return g[j]; });
  if (s0_ == 0 || std::isnan(s0_)) return fit;
  fit.supported = true;
  y_at_ = y;
  mean_y_ = blocked_sum(count_, [&](std::size_t j) { return g[j] * (values[j] - y); }) / s0_;
  line_ = local_linear && places_ > 1;
  fit.deviation = mean_y_;
  fit.constant = 1 / s0_;
  if (!line_) return fit;
  const double mean =
      blocked_sum(count_, [&](std::size_t j) { return g[j] * (x[j] - origin); }) / s0_;
  // What rounding has left of the mean.
  for (std::size_t j = 0; j < count_; ++j) off[j] = (x[j] - origin) - mean;
  const double rest = blocked_sum(count_, [&](std::size_t j) { return g[j] * off[j]; }) / s0_;
  for (std::size_t j = 0; j < count_; ++j) off[j] -= rest;
  away_ = ((e - origin) - mean) - rest;
  spread_ = blocked_sum(count_, [&](std::size_t j) { return g[j] * off[j] * off[j]; });
  product_ = blocked_sum(
      count_, [&](std::size_t j) { return g[j] * off[j] * ((values[j] - y) - mean_y_); });
  if (spread_ == 0) {
    line_ = false;
    return fit;
  }
  fit.deviation += product_ / spread_ * away_;
  fit.constant += away_ / spread_ * away_;
  return fit;
}

double NeighbourWindow::variance(const double* error2) const {
  return blocked_sum(count_, [&](std::size_t j) {
    const double l = weight_[j] * (1 / s0_ + (line_ ? off_[j] / spread_ * away_ : 0.0));
    return l * l * error2[sample_[j]];
  });
}

LocalFitter::Gradient NeighbourWindow::gradient(bool local_linear, const double* error2) const {
  constexpr double missing = std::numeric_limits<double>::quiet_NaN();
  const auto squares = [&](const auto& weight_in_slope) {
    return blocked_sum(count_, [&](std::size_t j) {
      const double l = weight_in_slope(j);
      return l * l * error2[sample_[j]];
    });
  };
  if (line_) {
    return {product_ / spread_,
            squares([&](std::size_t j) { return weight_[j] * off_[j] / spread_; })};
  }
  if (local_linear) return {missing, missing};
  const double of_sum = blocked_sum(count_, [&](std::size_t j) { return slope_[j]; });
  const double change =
      blocked_sum(count_, [&](std::size_t j) { return slope_[j] * ((y_[j] - y_at_) - mean_y_); });
  return {change / s0_,
          squares([&](std::size_t j) { return (slope_[j] - weight_[j] * of_sum / s0_) / s0_; })};
}

}  // namespace kestrel
