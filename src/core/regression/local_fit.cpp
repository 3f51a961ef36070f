#include "core/regression/local_fit.hpp"

#include <algorithm>
#include <cmath>

namespace kestrel {

namespace {

/// How far the sums of a fit may be below the weight in the window: relative errors of this many
/// times a few eps are accepted.
constexpr double kMaxLoss = 1e3;

/// K with K(0) = 1, computed from the distance so that it is accurate at the edge of the window.
/// The Gaussian kernel is divided by its value at distance `nearest`.
double value(const LocalKernel& kernel, double distance, double nearest) {
  const KernelRow& row = row_of(kernel.kernel);
  if (row.form == KernelForm::power) {
    // 1 - r^a = t (1 + r + ... + r^(a-1)), t = 1 - r.
    const double t = (kernel.h - distance) / kernel.h;
    double sum = 1.0, value = 1.0;
    for (int k = 1; k < row.inner; ++k) sum = sum * (1 - t) + 1;
    for (int k = 0; k < row.outer; ++k) value *= t * sum;
    return value;
  }
  const double a = (nearest - distance) / kernel.h, b = (nearest + distance) / kernel.h;
  return std::exp(0.5 * a * b);
}

}  // namespace

LocalFitter::LocalFitter(const SortedSample& sample, const ParallelOptions& options)
    : sample_(sample) {
  const double *x = sample.x(), *w = sample.w();
  const std::size_t n = sample.size();
  rank_.assign(n, 0);
  weight_.assign(n + 1, 0.0);
  serial_for(n, options, [&](std::size_t i) {
    if (i > 0) rank_[i] = rank_[i - 1] + (x[i] > x[i - 1] ? 1 : 0);
    weight_[i + 1] = weight_[i] + w[i];
    min_sum_ = std::max(min_sum_, w[i] / kMaxLoss);
  });
}

LocalFit LocalFitter::leave_one_out(const LocalKernel& kernel, const LocalSums& sums,
                                    std::size_t i) const {
  const std::size_t first = sums.first(i), end = sums.end(i);
  if (!kernel.local_linear) return from_sums(kernel, sums, i, end - first > 1 ? 1 : 0);
  const bool alone =
      (i == first || rank_[i - 1] != rank_[i]) && (i + 1 == end || rank_[i + 1] != rank_[i]);
  const std::size_t seen = places(first, end) - (alone ? 1 : 0);
  LocalFit fit = from_sums(kernel, sums, i, seen);
  fit.exact = alone && seen == 1;
  return fit;
}

LocalFit LocalFitter::at_point(const LocalKernel& kernel, const LocalSums& sums,
                               std::size_t i) const {
  return from_sums(kernel, sums, i, places(sums.first(i), sums.end(i)));
}

LocalFit LocalFitter::from_sums(const LocalKernel& kernel, const LocalSums& sums, std::size_t i,
                                std::size_t seen) const {
  LocalFit fit;
  if (seen == 0) return fit;
  fit.supported = true;
  // The Gaussian kernel's sums are divided by its value at the nearest sample, so they have their
  // own scale.
  const bool gaussian = kernel.kernel == Kernel::gaussian;
  const double s0 = sums.s(0, i), r0 = sums.r(0, i);
  const double in_window = gaussian ? s0 : weight(sums.first(i), sums.end(i));
  fit.deviation = r0 / s0;
  fit.constant = 1 / s0;
  fit.scale = sums.scale(i);
  fit.unstable = kernel.local_linear && !(s0 * kMaxLoss > in_window);
  if (!kernel.local_linear || seen < 2) return fit;
  const double s1 = sums.s(1, i), s2 = sums.s(2, i), r1 = sums.r(1, i);
  const double mean = s1 / s0, spread = s2 - s1 * mean;
  // Errors of spread and of r_1 - r_0 mean are a few eps of the terms of their sums. These terms
  // are at most the weight in the window (Gaussian: s_2). |slope| is at most sqrt(s_0 / spread)
  // times the root of the mean of v^2 with weights w K.
  const double terms = (gaussian ? s2 + s1 * mean : in_window) / spread;
  const double pull = std::abs(mean) * std::sqrt(s0 / std::abs(spread));
  const double loss = terms * (std::abs(mean) + pull + std::min(1.0, pull * pull));
  fit.unstable = fit.unstable || !(spread > 0 && loss < kMaxLoss);
  fit.deviation -= mean * (r1 - r0 * mean) / spread;
  fit.constant = 1 / s0 + mean * mean / spread;
  fit.slope = mean / spread;
  return fit;
}

LocalFit LocalFitter::direct(const LocalKernel& kernel, double point, double y, std::size_t first,
                             std::size_t end, std::size_t own, const double* error2,
                             double* variance) const {
  const double *x = sample_.x(), *w = sample_.w(), *all_y = sample_.y();
  std::size_t nearest = own == first ? first + 1 : first, farthest = nearest;
  const auto distance = [&](std::size_t j) { return std::abs(x[j] - point); };
  for (std::size_t j = first; j < end; ++j) {
    if (j != own && distance(j) < distance(nearest)) nearest = j;
    if (j != own && x[j] != x[nearest]) farthest = j;
  }
  const double origin = x[nearest], min = distance(nearest);
  const auto each = [&](const auto& body) {
    for (std::size_t j = first; j < end; ++j) {
      if (j != own) body(j, w[j] * value(kernel, distance(j), min), x[j] - origin);
    }
  };
  long double s0 = 0, s1 = 0, r0 = 0;
  each([&](std::size_t j, long double weight, double z) {
    s0 += weight;
    s1 += weight * z;
    r0 += weight * (all_y[j] - y);
  });
  const long double mean = s1 / s0, mean_y = r0 / s0;
  long double spread = 0, product = 0;
  each([&](std::size_t j, long double weight, double z) {
    spread += weight * (z - mean) * (z - mean);
    product += weight * (z - mean) * ((all_y[j] - y) - mean_y);
  });
  const bool line = kernel.local_linear && x[farthest] != x[nearest];
  const long double away = line ? (static_cast<long double>(point) - origin) - mean : 0;
  if (!line) spread = 1;
  LocalFit fit;
  fit.supported = true;
  fit.deviation = static_cast<double>(mean_y + product / spread * away);
  fit.constant = static_cast<double>(1 / s0 + away * away / spread);
  if (kernel.kernel == Kernel::gaussian) fit.scale = value(kernel, min, 0.0);
  if (error2 != nullptr) {
    long double sum = 0;
    each([&](std::size_t j, long double weight, double z) {
      const long double l = weight * (1 / s0 + (z - mean) * away / spread);
      sum += l * l * error2[j];
    });
    *variance = static_cast<double>(sum);
  }
  return fit;
}

}  // namespace kestrel
