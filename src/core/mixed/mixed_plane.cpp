#include "core/mixed/mixed_plane.hpp"

#include <algorithm>
#include <cmath>

namespace kestrel {

namespace {

/// Moments about the mean that are this much below those about the point are summed anew about the
/// mean; a direction has no slope if its moment is this much below what it is made of.
constexpr double kMaxMomentLoss = 1e3, kLeastPivot = 1e-12, kNoSpread = 1e-30;

/// An inverse of a symmetric matrix, of which some directions may have no spread: it is zero in
/// rows and columns that were left over. Returns whether there were any. `size` has the magnitudes
/// that rounding errors of the diagonal are relative to.
bool invert_spread(std::vector<double> work, const std::vector<double>& size, std::size_t p,
                   std::vector<double>& inverse) {
  inverse.assign(p * p, 0.0);
  // Gauss-Jordan elimination with the pivot that is largest beside its magnitude. If weights have
  // one sign, it is on the diagonal. Kernels of higher order may have moments there that are
  // negative or zero.
  std::vector<double> identity(p * p, 0.0), root(p);
  std::vector<std::size_t> rows, columns;
  std::vector<char> row_done(p, 0), column_done(p, 0);
  for (std::size_t k = 0; k < p; ++k) {
    identity[k * p + k] = 1.0;
    root[k] = std::sqrt(size[k]);
  }
  for (std::size_t step = 0; step < p; ++step) {
    double largest = kLeastPivot;
    std::size_t r = p, c = p;
    const auto consider = [&](std::size_t a, std::size_t b) {
      if (row_done[a] || column_done[b] || !(root[a] * root[b] > 0)) return;
      const double beside = std::fabs(work[a * p + b]) / (root[a] * root[b]);
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
    row_done[r] = column_done[c] = 1;
    rows.push_back(r);
    columns.push_back(c);
    const double pivot = 1 / work[r * p + c];
    for (std::size_t k = 0; k < p; ++k) {
      work[r * p + k] *= pivot;
      identity[r * p + k] *= pivot;
    }
    for (std::size_t other = 0; other < p; ++other) {
      if (other == r) continue;
      const double factor = work[other * p + c];
      for (std::size_t k = 0; k < p; ++k) {
        work[other * p + k] -= factor * work[r * p + k];
        identity[other * p + k] -= factor * identity[r * p + k];
      }
    }
  }
  for (std::size_t step = 0; step < rows.size(); ++step) {
    for (const std::size_t b : rows) {
      inverse[columns[step] * p + b] = identity[rows[step] * p + b];
    }
  }
  return rows.size() < p;
}

}  // namespace

void MixedPlane::clear() {
  const std::size_t q = columns_ + 1;
  moment_.assign(q * q, 0.0);
  right_.assign(q, 0.0);
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
    right_[0] += table_.dot(weight, data.v + begin, count);
    for (std::size_t k = 0; k < p; ++k) {
      const double* z = data.z[k] + begin;
      table_.multiply(weight, z, spare, count);
      first_[k] += table_.dot(weight, z, count);
      right_[k + 1] += table_.dot(spare, data.v + begin, count);
      for (std::size_t m = 0; m <= k; ++m) {
        moment_[(k + 1) * q + m + 1] += table_.dot(spare, data.z[m] + begin, count);
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
  moment_[0] = sum;
  size_[0] = magnitude;
  level_ = 0.0;
  bool precise = true;
  for (std::size_t k = 0; k < p; ++k) {
    if (one_sign_) size_[k + 1] = moment_[(k + 1) * q + k + 1];
    mean_[k] = magnitude_first[k] / magnitude;
    const double about_mean = size_[k + 1] - mean_[k] * magnitude_first[k];
    precise = precise && about_mean * kMaxMomentLoss > size_[k + 1];
    moment_[k + 1] = moment_[(k + 1) * q] = one_sign_ ? 0.0 : first_[k] - mean_[k] * sum;
    right_[k + 1] -= mean_[k] * right_[0];
    for (std::size_t m = 0; m <= k; ++m) {
      double& moment = moment_[(k + 1) * q + m + 1];
      moment -= mean_[k] * first_[m] + mean_[m] * moment_[k + 1];
      moment_[(m + 1) * q + k + 1] = moment;
    }
  }
  return precise;
}

void MixedPlane::sum_up_precisely(const MixedPlaneData& data) {
  const std::size_t p = columns_, q = p + 1;
  long double magnitude = 0, level = 0;
  std::vector<long double> first(p), moment(q * q), right(q), size(q), off(q);
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
    right_[k] = static_cast<double>(right[k]);
    for (std::size_t m = 0; m <= k; ++m) {
      moment_[k * q + m] = moment_[m * q + k] = static_cast<double>(moment[k * q + m]);
    }
  }
}

bool MixedPlane::solve_sums(const double* sums, MixedFit& fit) {
  const std::size_t p = columns_, q = p + 1;
  clear();
  const double* next = sums;
  fit.sum = *next++;
  right_[0] = *next++;
  for (std::size_t k = 0; k < p; ++k) first_[k] = *next++;
  for (std::size_t k = 0; k < p; ++k) right_[k + 1] = *next++;
  for (std::size_t k = 0; k < p; ++k) {
    for (std::size_t m = 0; m <= k; ++m) moment_[(k + 1) * q + m + 1] = *next++;
  }
  if (!centre(fit.sum, fit.sum, first_)) return false;
  solve_moments(fit);
  return true;
}

void MixedPlane::solve(const MixedPlaneData& data, MixedFit& fit) {
  if (!sum_up(data, fit.sum)) sum_up_precisely(data);
  solve_moments(fit);
}

void MixedPlane::solve_moments(MixedFit& fit) {
  const std::size_t p = columns_, q = p + 1;
  fit.ridged = invert_spread(moment_, size_, q, inverse_);
  // The plane at the mean, and what a sample at the mean plus z adds to it at the point.
  for (std::size_t k = 0; k < q; ++k) {
    fit.beta[k] = 0.0;
    fit.weight[k] = inverse_[k];
    for (std::size_t m = 0; m < q; ++m) {
      fit.beta[k] += inverse_[k * q + m] * right_[m];
      if (m > 0) fit.weight[k] -= mean_[m - 1] * inverse_[m * q + k];
    }
  }
  fit.beta[0] += level_;
  for (std::size_t k = 0; k < p; ++k) {
    fit.beta[0] -= mean_[k] * fit.beta[k + 1];
    fit.weight[0] -= mean_[k] * fit.weight[k + 1];
  }
}

void MixedPlane::slope_weights(std::size_t c, double* a) const {
  const double* row = inverse_.data() + (c + 1) * (columns_ + 1);
  std::copy(row, row + columns_ + 1, a);
  for (std::size_t k = 0; k < columns_; ++k) a[0] -= mean_[k] * a[k + 1];
}

}  // namespace kestrel
