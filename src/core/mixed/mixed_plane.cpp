#include "core/mixed/mixed_plane.hpp"

#include <algorithm>
#include <cmath>

namespace kestrel {

namespace {

/// A fit is made anew in long double if moments about the mean are this much below those about the
/// point, or if a pivot is: rounding errors are divided by it.
constexpr double kMaxLoss = 1e3;
/// A direction has no slope if its moment is this much below what it is made of.
constexpr double kLeastPivot = 1e-12, kNoSpread = 1e-30;

/// An inverse of a symmetric matrix, of which some directions may have no spread: it is zero in
/// rows and columns that were left over. `size` has the magnitudes that rounding errors of the
/// diagonal are relative to.
template <class Real>
struct Inverse {
  Inverse(std::vector<Real> work, const std::vector<double>& size);

  std::vector<Real> values;
  double least_pivot = 1.0;  // relative to the magnitudes
  bool whole = true;         // nothing was left over
};

template <class Real>
Inverse<Real>::Inverse(std::vector<Real> work, const std::vector<double>& size)
    : values(work.size(), Real{0}) {
  // Gauss-Jordan elimination with the pivot that is largest beside its magnitude. If weights have
  // one sign, it is on the diagonal. Kernels of higher order may have moments there that are
  // negative or zero.
  const std::size_t p = size.size();
  std::vector<Real> identity(p * p, Real{0});
  std::vector<double> root(p);
  std::vector<std::size_t> rows, columns;
  std::vector<char> row_done(p, 0), column_done(p, 0);
  for (std::size_t k = 0; k < p; ++k) {
    identity[k * p + k] = 1;
    root[k] = std::sqrt(size[k]);
  }
  for (std::size_t step = 0; step < p; ++step) {
    double largest = kLeastPivot;
    std::size_t r = p, c = p;
    const auto consider = [&](std::size_t a, std::size_t b) {
      if (row_done[a] || column_done[b] || !(root[a] * root[b] > 0)) return;
      const double beside = std::fabs(static_cast<double>(work[a * p + b])) / (root[a] * root[b]);
      if (!(beside > largest)) return;
      largest = beside;
      r = a;
      c = b;
    };
    for (std::size_t k = 0; k < p; ++k) consider(k, k);
    for (std::size_t a = 0; a < p; ++a) {
      for (std::size_t b = 0; b < p; ++b) consider(a, b);
    }
    if (r == p) break;
    least_pivot = std::fmin(least_pivot, largest);
    row_done[r] = column_done[c] = 1;
    rows.push_back(r);
    columns.push_back(c);
    const Real pivot = 1 / work[r * p + c];
    for (std::size_t k = 0; k < p; ++k) {
      work[r * p + k] *= pivot;
      identity[r * p + k] *= pivot;
    }
    for (std::size_t other = 0; other < p; ++other) {
      if (other == r) continue;
      const Real factor = work[other * p + c];
      for (std::size_t k = 0; k < p; ++k) {
        work[other * p + k] -= factor * work[r * p + k];
        identity[other * p + k] -= factor * identity[r * p + k];
      }
    }
  }
  for (std::size_t step = 0; step < rows.size(); ++step) {
    for (const std::size_t b : rows) values[columns[step] * p + b] = identity[rows[step] * p + b];
  }
  whole = rows.size() == p;
}

}  // namespace

void MixedPlane::clear() {
  const std::size_t q = columns_ + 1;
  fast_.moment.assign(q * q, 0.0);
  fast_.right.assign(q, 0.0);
  size_.assign(q, 0.0);
  first_.assign(columns_, 0.0);
}

bool MixedPlane::sum_up(const MixedPlaneData& data, double sum) {
  const std::size_t p = columns_, q = p + 1;
  double magnitude = 0;
  std::vector<double> magnitude_first(p);
  clear();
  data.tiles.each([&](std::size_t begin, std::size_t count) {
    const double* weight = data.weight + begin;
    double* spare = data.spare + begin;
    fast_.right[0] += table_.dot(weight, data.v + begin, count);
    for (std::size_t k = 0; k < p; ++k) {
      const double* z = data.z[k] + begin;
      table_.multiply(weight, z, spare, count);
      first_[k] += table_.dot(weight, z, count);
      fast_.right[k + 1] += table_.dot(spare, data.v + begin, count);
      for (std::size_t m = 0; m <= k; ++m) {
        fast_.moment[(k + 1) * q + m + 1] += table_.dot(spare, data.z[m] + begin, count);
      }
    }
    if (one_sign_) return;
    for (std::size_t j = 0; j < count; ++j) magnitude += spare[j] = std::fabs(weight[j]);
    for (std::size_t k = 0; k < p; ++k) {
      const double* z = data.z[k] + begin;
      magnitude_first[k] += table_.dot(spare, z, count);
      size_[k + 1] += table_.dot3(spare, z, z, count);
    }
  });
  if (one_sign_) return centre(sum, sum, first_);
  return centre(sum, magnitude, magnitude_first);
}

bool MixedPlane::centre(double sum, double magnitude, const std::vector<double>& magnitude_first) {
  const std::size_t p = columns_, q = p + 1;
  fast_.moment[0] = sum;
  size_[0] = magnitude;
  level_ = 0.0;
  bool precise = true;
  for (std::size_t k = 0; k < p; ++k) {
    if (one_sign_) size_[k + 1] = fast_.moment[(k + 1) * q + k + 1];
    mean_[k] = magnitude_first[k] / magnitude;
    const double about_mean = size_[k + 1] - mean_[k] * magnitude_first[k];
    precise = precise && about_mean * kMaxLoss > size_[k + 1];
    fast_.moment[k + 1] = fast_.moment[(k + 1) * q] = one_sign_ ? 0.0 : first_[k] - mean_[k] * sum;
    fast_.right[k + 1] -= mean_[k] * fast_.right[0];
    for (std::size_t m = 0; m <= k; ++m) {
      double& moment = fast_.moment[(k + 1) * q + m + 1];
      moment -= mean_[k] * first_[m] + mean_[m] * fast_.moment[k + 1];
      fast_.moment[(m + 1) * q + k + 1] = moment;
    }
  }
  return precise;
}

void MixedPlane::sum_up_precisely(const MixedPlaneData& data) {
  const std::size_t p = columns_, q = p + 1;
  long double magnitude = 0, level = 0;
  std::vector<long double> first(p), size(q), off(q);
  std::vector<long double>&moment = precise_.moment, &right = precise_.right;
  moment.assign(q * q, 0.0L);
  right.assign(q, 0.0L);
  data.tiles.each_sample([&](std::size_t j) {
    const long double w = std::fabs(data.weight[j]);
    magnitude += w;
    level += w * data.v[j];
    for (std::size_t k = 0; k < p; ++k) first[k] += w * data.z[k][j];
  });
  level_ = static_cast<double>(level / magnitude);
  for (std::size_t k = 0; k < p; ++k) mean_[k] = static_cast<double>(first[k] / magnitude);
  off[0] = 1;
  data.tiles.each_sample([&](std::size_t j) {
    for (std::size_t k = 0; k < p; ++k) {
      off[k + 1] = static_cast<long double>(data.z[k][j]) - mean_[k];
    }
    for (std::size_t k = 0; k < q; ++k) {
      const long double moved = data.weight[j] * off[k];
      right[k] += moved * (static_cast<long double>(data.v[j]) - level_);
      size[k] += std::fabs(moved * off[k]);
      for (std::size_t m = 0; m <= k; ++m) moment[k * q + m] += moved * off[m];
    }
  });
  for (std::size_t k = 0; k < q; ++k) {
    const double about_mean = static_cast<double>(size[k]);
    size_[k] = about_mean > kNoSpread * size_[k] ? about_mean : 0.0;
    for (std::size_t m = 0; m < k; ++m) moment[m * q + k] = moment[k * q + m];
  }
}

template <class Real>
bool MixedPlane::solve_moments(const Moments<Real>& moments, double least_pivot, MixedFit& fit) {
  const std::size_t p = columns_, q = p + 1;
  const Inverse<Real> inverse(moments.moment, size_);
  if (inverse.least_pivot < least_pivot || (least_pivot > 0 && !inverse.whole)) return false;
  fit.ridged = !inverse.whole;
  inverse_.assign(inverse.values.begin(), inverse.values.end());
  // The plane at the mean, and what a sample at the mean plus z adds to it at the point.
  std::vector<Real> beta(q, Real{0}), weight(inverse.values.begin(), inverse.values.begin() + q);
  for (std::size_t k = 0; k < q; ++k) {
    for (std::size_t m = 0; m < q; ++m) {
      beta[k] += inverse.values[k * q + m] * moments.right[m];
      if (m > 0) weight[k] -= mean_[m - 1] * inverse.values[m * q + k];
    }
  }
  beta[0] += level_;
  for (std::size_t k = 0; k < p; ++k) {
    beta[0] -= mean_[k] * beta[k + 1];
    weight[0] -= mean_[k] * weight[k + 1];
  }
  fit.beta.assign(beta.begin(), beta.end());
  fit.weight.assign(weight.begin(), weight.end());
  return true;
}

void MixedPlane::solve(const MixedPlaneData& data, MixedFit& fit) {
  if (sum_up(data, fit.sum) && solve_moments(fast_, 1 / kMaxLoss, fit)) return;
  sum_up_precisely(data);
  solve_moments(precise_, 0.0, fit);
}

bool MixedPlane::solve_sums(const double* sums, MixedFit& fit) {
  const std::size_t p = columns_, q = p + 1;
  clear();
  const double* next = sums;
  fit.sum = *next++;
  fast_.right[0] = *next++;
  for (std::size_t k = 0; k < p; ++k) first_[k] = *next++;
  for (std::size_t k = 0; k < p; ++k) fast_.right[k + 1] = *next++;
  for (std::size_t k = 0; k < p; ++k) {
    for (std::size_t m = 0; m <= k; ++m) fast_.moment[(k + 1) * q + m + 1] = *next++;
  }
  return centre(fit.sum, fit.sum, first_) && solve_moments(fast_, 1 / kMaxLoss, fit);
}

void MixedPlane::slope_weights(std::size_t c, double* a) const {
  const double* row = inverse_.data() + (c + 1) * (columns_ + 1);
  std::copy(row, row + columns_ + 1, a);
  for (std::size_t k = 0; k < columns_; ++k) a[0] -= mean_[k] * a[k + 1];
}

}  // namespace kestrel
