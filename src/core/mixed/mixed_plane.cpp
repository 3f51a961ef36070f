#include "core/mixed/mixed_plane.hpp"

#include <cmath>

namespace kestrel {

namespace {

/// Moments about the mean that are this much below those about the point are summed anew about the
/// mean; a direction has no slope if its moment is this much below what it is made of.
constexpr double kMaxMomentLoss = 1e3, kLeastPivot = 1e-12, kNoSpread = 1e-30;

/// The inverse of a symmetric matrix of which some directions may have no spread: these rows and
/// columns are zero. Returns whether there were any. `size` has the diagonal that rounding errors
/// are relative to.
bool invert_spread(std::vector<double> c, const std::vector<double>& size, std::size_t p,
                   std::vector<double>& inverse) {
  inverse.assign(p * p, 0.0);
  std::vector<std::size_t> kept;
  std::vector<char> done(p, 0);
  std::vector<std::vector<double>> row;
  // Gauss-Jordan elimination, the largest pivot relative to its size first.
  std::vector<double> work(c), identity(p * p, 0.0);
  for (std::size_t k = 0; k < p; ++k) identity[k * p + k] = 1.0;
  for (std::size_t step = 0; step < p; ++step) {
    std::size_t best = p;
    for (std::size_t k = 0; k < p; ++k) {
      if (done[k] || !(size[k] > 0)) continue;
      if (best == p || work[k * p + k] / size[k] > work[best * p + best] / size[best]) best = k;
    }
    if (best == p || !(work[best * p + best] > kLeastPivot * size[best])) break;
    done[best] = 1;
    kept.push_back(best);
    const double pivot = 1 / work[best * p + best];
    for (std::size_t k = 0; k < p; ++k) {
      work[best * p + k] *= pivot;
      identity[best * p + k] *= pivot;
    }
    for (std::size_t other = 0; other < p; ++other) {
      if (other == best) continue;
      const double factor = work[other * p + best];
      for (std::size_t k = 0; k < p; ++k) {
        work[other * p + k] -= factor * work[best * p + k];
        identity[other * p + k] -= factor * identity[best * p + k];
      }
    }
  }
  for (const std::size_t a : kept) {
    for (const std::size_t b : kept) inverse[a * p + b] = identity[a * p + b];
  }
  return kept.size() < p;
}

}  // namespace

void MixedPlane::sum_up_centred(const MixedPlaneData& data, std::vector<double>& c,
                                std::vector<double>& g, double* level) {
  const std::size_t p = columns_;
  long double s0 = 0, r0 = 0;
  std::vector<long double> s1(p), cross(p * p), with_y(p), off(p);
  data.tiles.each_sample([&](std::size_t j) {
    const long double w = data.weight[j];
    s0 += w;
    r0 += w * data.v[j];
    for (std::size_t k = 0; k < p; ++k) s1[k] += w * data.z[k][j];
  });
  for (std::size_t k = 0; k < p; ++k) s1[k] /= s0;
  r0 /= s0;
  data.tiles.each_sample([&](std::size_t j) {
    for (std::size_t k = 0; k < p; ++k) off[k] = data.z[k][j] - s1[k];
    for (std::size_t k = 0; k < p; ++k) {
      const long double moved = data.weight[j] * off[k];
      with_y[k] += moved * (data.v[j] - r0);
      for (std::size_t m = 0; m <= k; ++m) cross[k * p + m] += moved * off[m];
    }
  });
  *level = static_cast<double>(r0);
  for (std::size_t k = 0; k < p; ++k) {
    mean_[k] = static_cast<double>(s1[k]);
    g[k] = static_cast<double>(with_y[k]);
    for (std::size_t m = 0; m <= k; ++m) {
      c[k * p + m] = c[m * p + k] = static_cast<double>(cross[k * p + m]);
    }
  }
}

void MixedPlane::solve(const MixedPlaneData& data, MixedFit& fit) {
  const std::size_t p = columns_;
  const double s0 = fit.sum;
  double r0 = 0;
  data.tiles.each([&](std::size_t begin, std::size_t count) {
    r0 += table_.dot(data.weight + begin, data.v + begin, count);
  });
  double level = r0 / s0;
  std::vector<double> first(p, 0.0), c(p * p, 0.0), g(p, 0.0), size(p);
  data.tiles.each([&](std::size_t begin, std::size_t count) {
    for (std::size_t k = 0; k < p; ++k) {
      table_.multiply(data.weight + begin, data.z[k] + begin, data.spare + begin, count);
      first[k] += table_.dot(data.weight + begin, data.z[k] + begin, count);
      g[k] += table_.dot(data.spare + begin, data.v + begin, count);
      for (std::size_t m = 0; m <= k; ++m) {
        c[k * p + m] += table_.dot(data.spare + begin, data.z[m] + begin, count);
      }
    }
  });
  bool lost = false;
  for (std::size_t k = 0; k < p; ++k) {
    mean_[k] = first[k] / s0;
    size[k] = c[k * p + k];
  }
  for (std::size_t k = 0; k < p; ++k) {
    g[k] -= mean_[k] * r0;
    for (std::size_t m = 0; m <= k; ++m) {
      c[k * p + m] -= mean_[k] * first[m];
      c[m * p + k] = c[k * p + m];
    }
    lost = lost || !(c[k * p + k] * kMaxMomentLoss > size[k]);
  }
  if (lost) {
    sum_up_centred(data, c, g, &level);
    for (std::size_t k = 0; k < p; ++k) {
      size[k] = c[k * p + k] > kNoSpread * size[k] ? c[k * p + k] : 0.0;
    }
  }
  fit.ridged = invert_spread(c, size, p, inverse_);
  fit.beta[0] = level;
  fit.weight[0] = 1 / s0;
  for (std::size_t k = 0; k < p; ++k) {
    double slope = 0, pull = 0;
    for (std::size_t m = 0; m < p; ++m) {
      slope += inverse_[k * p + m] * g[m];
      pull += inverse_[k * p + m] * mean_[m];
    }
    fit.beta[k + 1] = slope;
    fit.weight[k + 1] = -pull;
    fit.beta[0] -= mean_[k] * slope;
    fit.weight[0] += mean_[k] * pull;
  }
}

void MixedPlane::slope_weights(std::size_t c, double* a) const {
  a[0] = 0.0;
  for (std::size_t k = 0; k < columns_; ++k) {
    a[k + 1] = inverse_[c * columns_ + k];
    a[0] -= a[k + 1] * mean_[k];
  }
}

}  // namespace kestrel
