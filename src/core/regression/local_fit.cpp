#include "core/regression/local_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/data/passes.hpp"

namespace kestrel {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// K((a - b) / h) with K(0) = 1. The Gaussian kernel is divided by exp(-u^2 / 2) at distance
/// `nearest`.
double value(const LocalKernel& kernel, double a, double b, double nearest) {
  if (kernel.gaussian()) {
    const double u = (a - b) / kernel.h;
    return std::exp(gaussian_log_ratio(std::abs(a - b), nearest, kernel.h)) *
           gaussian_factor(kernel.order)(u * u);
  }
  const KernelRow& row = row_of(kernel.kernel);
  return power_kernel(row.inner, row.outer, distance_to_edge(a, b, kernel.h), kernel.h);
}

/// Its derivative by b.
double derivative(const LocalKernel& kernel, double a, double b, double nearest) {
  const double u = (a - b) / kernel.h;
  if (kernel.gaussian()) {
    return std::exp(gaussian_log_ratio(std::abs(a - b), nearest, kernel.h)) *
           gaussian_slope_factor(kernel.order)(u * u) * u / kernel.h;
  }
  const KernelRow& row = row_of(kernel.kernel);
  return power_kernel_slope(row.inner, row.outer, u, distance_to_edge(a, b, kernel.h), kernel.h);
}

}  // namespace

LocalFitter::LocalFitter(const SortedSample& sample, const ParallelOptions& options)
    : sample_(sample), rank_(sample.size()), weight_(sample.size() + 1) {
  const double *x = sample.x(), *w = sample.w();
  const std::size_t n = sample.size();
  struct Part {
    std::uint32_t places = 0;
    double weight = 0, max = 0;
  };
  std::vector<Part> parts(parts_of_pass(n));
  const auto opens_place = [x](std::size_t i) -> std::uint32_t { return x[i] > x[i - 1] ? 1 : 0; };
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    Part here;
    for (std::size_t i = begin; i < end; ++i) {
      if (i > 0) here.places += opens_place(i);
      here.weight += w[i];
      here.max = std::max(here.max, w[i]);
    }
    parts[part] = here;
  });
  cut_ = gaussian_cut(sample.weights());
  Part before;
  for (Part& part : parts) {
    min_sum_ = std::max(min_sum_, part.max / kMaxLoss);
    const Part here = part;
    part = before;
    before.places += here.places;
    before.weight += here.weight;
  }
  weight_[0] = 0;
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    Part so_far = parts[part];
    for (std::size_t i = begin; i < end; ++i) {
      if (i > 0) so_far.places += opens_place(i);
      rank_[i] = so_far.places;
      so_far.weight += w[i];
      weight_[i + 1] = so_far.weight;
    }
  });
}

LocalFit LocalFitter::leave_one_out(const LocalKernel& kernel, const LocalSums& sums,
                                    std::size_t i) const {
  const std::size_t first = sums.first(i), end = sums.end(i);
  if (!kernel.local_linear) return from_sums(kernel, sums, i, end - first > 1 ? 1 : 0, 1);
  const bool alone =
      (i == first || rank_[i - 1] != rank_[i]) && (i + 1 == end || rank_[i + 1] != rank_[i]);
  const std::size_t seen = places(first, end) - (alone ? 1 : 0);
  LocalFit fit = from_sums(kernel, sums, i, seen, extent(kernel));
  fit.exact = is_exact(alone, seen);
  return fit;
}

LocalFit LocalFitter::at_point(const LocalKernel& kernel, const LocalSums& sums,
                               std::size_t i) const {
  return from_sums(kernel, sums, i, places(sums.first(i), sums.end(i)), 1);
}

LocalFit LocalFitter::from_sums(const LocalKernel& kernel, const LocalSums& sums, std::size_t i,
                                std::size_t seen, double extent) const {
  if (seen == 0) return LocalFit();
  FitSums of{sums.s(0, i), sums.r(0, i)};
  if (kernel.local_linear) {
    of.s1 = sums.s(1, i);
    of.s2 = sums.s(2, i);
    of.r1 = sums.r(1, i);
  }
  return fit_of(kernel, of, sums.scale(i), weight(sums.first(i), sums.end(i)), seen, extent);
}

LocalFit LocalFitter::with_sample(const LocalKernel& kernel, const LocalSums& sums,
                                  std::size_t i) const {
  const std::size_t first = sums.first(i), end = sums.end(i);
  const double scale = sums.scale(i);
  FitSums of;
  if (end - first > 1) {
    of.s0 = scale * sums.s(0, i);
    if (kernel.local_linear) {
      of.s1 = scale * sums.s(1, i);
      of.s2 = scale * sums.s(2, i);
    }
  }
  of.s0 += sample_.w()[i];
  return fit_of(kernel, of, 1.0, weight(first, end), places(first, end), extent(kernel));
}

LocalFit LocalFitter::fit_of(const LocalKernel& kernel, const FitSums& of, double scale,
                             double in_window, std::size_t seen, double extent) const {
  // The Gaussian kernel's sums are divided by its value at the nearest sample, so they have their
  // own scale.
  const bool gaussian = kernel.gaussian();
  if (gaussian) in_window = of.s0;
  LocalFit fit = constant_fit(of, scale);
  if (!kernel.local_linear) return fit;
  const double mean = of.s1 / of.s0;
  fit.unstable = !(of.s0 * kMaxLoss > in_window) || (seen < 2 && misses_trend(mean, kernel.slope));
  // With all weight at the point itself, but for 1e-20 of it, the line is the mean there.
  if (seen < 2 || (gaussian && of.s2 == 0)) return fit;
  // The terms of s_2 are at most the weight in the window times the square of the extent (Gaussian:
  // s_2).
  if (gaussian) {
    make_line(of, mean, of.s2 + of.s1 * mean, fit);
  } else {
    make_line(of, mean, in_window * extent * extent, fit, extent);
  }
  return fit;
}

double LocalFitter::extent(const LocalKernel& kernel) const {
  const double range = sample_.x()[sample_.size() - 1] - sample_.x()[0];
  return std::min(1.0, range / kernel.h);
}

LocalFit LocalFitter::direct(const LocalKernel& kernel, double point, double y, std::size_t first,
                             std::size_t end, std::size_t own, const double* error2,
                             double* variance, Gradient* gradient) const {
  const double *x = sample_.x(), *w = sample_.w(), *all_y = sample_.y();
  std::size_t nearest = own == first ? first + 1 : first, farthest = nearest;
  const auto distance = [&](std::size_t j) { return std::abs(x[j] - point); };
  for (std::size_t j = first; j < end; ++j) {
    if (j != own && distance(j) < distance(nearest)) nearest = j;
    if (j != own && x[j] != x[nearest]) farthest = j;
  }
  const double origin = x[nearest], min = distance(nearest);
  if (kernel.gaussian()) {
    // A line passes near the nearest place, and its slope is that of the next ones.
    double next = HUGE_VAL;
    for (std::size_t j = first; j < end; ++j) {
      if (j != own && x[j] != origin) next = std::min(next, distance(j));
    }
    const double reach =
        gaussian_reach(std::min(next / kernel.h, kGaussianReach),
                       cut_ + (kernel.order > 2 ? 44 : 0), kGaussianReach, kernel.h);
    while (first < end && distance(first) >= reach) ++first;
    while (first < end && distance(end - 1) >= reach) --end;
  }
  const auto place = [&](std::size_t j) { return static_cast<long double>(x[j]); };
  const auto each = [&](const auto& body) {
    for (std::size_t j = first; j < end; ++j) {
      if (j != own) body(j, w[j] * value(kernel, x[j], point, min), place(j) - origin);
    }
  };
  const auto each_value = [&](const auto& body) {
    each([&](std::size_t j, double weight, long double z) {
      body(weight, z, static_cast<long double>(all_y[j]) - y);
    });
  };
  CentredLine<long double> sums =
      centred_line<long double>(each_value, [](long double sum) { return sum; });
  const bool line = kernel.local_linear && x[farthest] != x[nearest];
  const long double away = line ? (static_cast<long double>(point) - origin) - sums.mean : 0;
  if (!line) sums.spread = 1;
  LocalFit fit;
  fit.supported = true;
  fit.deviation = static_cast<double>(sums.deviation(away));
  fit.constant = static_cast<double>(sums.constant(away));
  if (kernel.gaussian()) fit.scale = std::exp(-0.5 * (min / kernel.h) * (min / kernel.h));
  if (error2 == nullptr) return fit;
  const auto squares = [&](const auto& weight_in_fit) {
    long double sum = 0;
    each([&](std::size_t j, long double weight, long double z) {
      const long double l = weight_in_fit(j, weight, z);
      sum += l * l * error2[j];
    });
    return static_cast<double>(sum);
  };
  if (variance != nullptr) {
    *variance = squares([&](std::size_t, long double weight, long double z) {
      return weight * (1 / sums.s0 + (z - sums.mean) * away / sums.spread);
    });
  }
  if (gradient == nullptr) return fit;
  if (line) {
    gradient->value = static_cast<double>(sums.product / sums.spread);
    gradient->variance = squares([&](std::size_t, long double weight, long double z) {
      return weight * (z - sums.mean) / sums.spread;
    });
  } else if (kernel.local_linear) {
    *gradient = {kMissing, kMissing};
  } else {
    long double change = 0, of_sum = 0;
    const auto slope_of = [&](std::size_t j) {
      return static_cast<long double>(w[j]) * derivative(kernel, x[j], point, min);
    };
    each([&](std::size_t j, long double, long double) {
      of_sum += slope_of(j);
      change += slope_of(j) * (static_cast<long double>(all_y[j]) - y - sums.mean_y);
    });
    gradient->value = static_cast<double>(change / sums.s0);
    gradient->variance = squares([&](std::size_t j, long double weight, long double) {
      return (slope_of(j) - weight * of_sum / sums.s0) / sums.s0;
    });
  }
  return fit;
}

LocalFitter::GradientFit LocalFitter::gradient(const LocalKernel& kernel, const LocalSums& sums,
                                               std::size_t i, bool with_sample) const {
  const std::size_t first = sums.first(i), end = sums.end(i);
  const bool others = !with_sample || end - first > 1;
  // Without the sample the scale of sums cancels.
  const double scale = with_sample ? sums.scale(i) : 1.0, h = kernel.h;
  const auto of = [&](double sum) { return others ? scale * sum : 0.0; };
  const double s0 = of(sums.s(0, i)) + (with_sample ? sample_.w()[i] : 0.0), s1 = of(sums.s(1, i));
  const double r0 = of(sums.r(0, i)), r1 = of(sums.r(1, i)), mean = s1 / s0;
  if (!kernel.local_linear) return {(r1 - r0 * mean) / (s0 * h), -mean / (s0 * h), -1 / (s0 * h)};
  if (places(first, end) < 2) return {kMissing, kMissing, kMissing};
  const double spread = of(sums.s(2, i)) - s1 * mean;
  return {(r1 - r0 * mean) / (spread * h) + kernel.slope, -mean / (spread * h), -1 / (spread * h)};
}

}  // namespace kestrel
