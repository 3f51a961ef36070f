#include "core/mixed/mixed_sample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/data/sample_moments.hpp"

namespace kestrel {

MixedSample::MixedSample(const MixedRows& rows, std::vector<int> levels, Span<const double> y,
                         Weights w, const ParallelOptions& options)
    : columns_(rows.x.cols),
      factors_(rows.factors),
      responses_(y.size > 0),
      weighted_(!w.absent()),
      levels_(std::move(levels)),
      given_(rows.n),
      x_(rows.n * rows.x.cols),
      y_(y.size),
      level_y_(y.size),
      w_(weighted_ ? rows.n : 0),
      positive_(rows.n) {
  const std::size_t n = rows.n;
  if ((y.size != 0 && y.size != n) || (weighted_ && w.size != n) ||
      levels_.size() != factors_ + rows.ordered.cols) {
    throw error(ErrorKind::internal, "mixed data of different lengths");
  }
  std::iota(given_.begin(), given_.end(), 0);
  const auto compare = [&](std::uint32_t a, std::uint32_t b) {
    for (std::size_t k = 0; k < factors_; ++k) {
      if (rows.code(a, k) != rows.code(b, k)) return rows.code(a, k) < rows.code(b, k) ? -1 : 1;
    }
    for (std::size_t k = 0; k < ordered(); ++k) {
      const double at = rows.ordered(a, k), other = rows.ordered(b, k);
      if (at != other) return at < other ? -1 : 1;
    }
    return 0;
  };
  std::stable_sort(given_.begin(), given_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return compare(a, b) < 0; });
  for (std::size_t i = 0; i < n; ++i) {
    if (i == 0 || compare(given_[i - 1], given_[i]) != 0) first_.push_back(i);
  }
  first_.push_back(n);
  const std::vector<double> ends = n > 0 ? column_ranges(rows.x, options) : std::vector<double>();
  std::vector<double> range;
  for (std::size_t c = 0; c < columns_ && n > 0; ++c)
    range.push_back(ends[2 * c + 1] - ends[2 * c]);
  for (std::size_t cell = 0; cell < cells() && columns_ > 0; ++cell) {
    poll_if_due(options);
    order_leaves(rows.x, range, first_[cell], first_[cell + 1]);
  }
  serial_for(n, options, [&](std::size_t i) {
    const std::size_t from = given_[i];
    for (std::size_t c = 0; c < columns_; ++c) x_[c * n + i] = rows.x(from, c);
    if (y.size > 0) y_[i] = y[from];
    if (weighted()) {
      w_[i] = w[from];
      if (w_[i] == 0) --positive_;
    }
  });
  for (std::size_t cell = 0; cell < cells(); ++cell) {
    const std::size_t from = given_[first_[cell]];
    for (std::size_t k = 0; k < factors_; ++k) code_.push_back(rows.code(from, k));
    for (std::size_t k = 0; k < ordered(); ++k) position_.push_back(rows.ordered(from, k));
  }
  take_boxes();
  take_trend(options);
}

/// Splits rows begin .. end - 1 at the median of the column in which they reach farthest, relative
/// to its range.
void MixedSample::order_leaves(const MatrixView& x, const std::vector<double>& range,
                               std::size_t begin, std::size_t end) {
  while (end - begin > kLeaf) {
    std::size_t widest = columns_;
    double most = 0;
    for (std::size_t c = 0; c < columns_; ++c) {
      double low = HUGE_VAL, high = -HUGE_VAL;
      for (std::size_t i = begin; i < end; ++i) {
        low = std::min(low, x(given_[i], c));
        high = std::max(high, x(given_[i], c));
      }
      const double share = (high - low) / range[c];
      if (share > most) {
        most = share;
        widest = c;
      }
    }
    if (widest == columns_) return;
    // Whole leaves on the left.
    const std::size_t half = ((end - begin) / 2 + kLeaf - 1) / kLeaf * kLeaf;
    const auto at = [&](std::size_t i) { return given_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(begin), at(begin + half), at(end), [&](std::uint32_t a, std::uint32_t b) {
      const double one = x(a, widest), other = x(b, widest);
      return one != other ? one < other : a < b;
    });
    order_leaves(x, range, begin, begin + half);
    begin += half;
  }
}

void MixedSample::take_boxes() {
  leaf_.push_back(0);
  for (std::size_t cell = 0; cell < cells(); ++cell) {
    for (std::size_t begin = first_[cell]; begin < first_[cell + 1]; begin += kLeaf) {
      const std::size_t end = std::min(begin + kLeaf, first_[cell + 1]);
      const auto add = [&](bool high) {
        for (std::size_t c = 0; c < columns_; ++c) {
          const auto found = std::minmax_element(x(c) + begin, x(c) + end);
          box_.push_back(high ? *found.second : *found.first);
        }
      };
      add(false);
      add(true);
    }
    leaf_.push_back(leaf_.back() + (first_[cell + 1] - first_[cell] + kLeaf - 1) / kLeaf);
  }
}

void MixedSample::take_trend(const ParallelOptions& options) {
  const std::size_t n = size(), p = columns_;
  centre_.assign(p, 0.0);
  unit_.assign(p, 1.0);
  slope_.assign(p, 0.0);
  long double count = 0;
  for (std::size_t i = 0; i < n; ++i) count += w(i);
  const auto mean = [&](const auto& value) {
    long double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += w(i) * (value(i) - value(0));
    return static_cast<double>(value(0) + sum / count);
  };
  for (std::size_t c = 0; c < p && n > 0; ++c) {
    poll_if_due(options);
    const double* column = x(c);
    centre_[c] = mean([&](std::size_t i) { return static_cast<long double>(column[i]); });
    long double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const long double off = static_cast<long double>(column[i]) - centre_[c];
      squares += w(i) * off * off;
    }
    if (squares > 0) unit_[c] = static_cast<double>(std::sqrt(squares / count));
  }
  if (!responses() || n == 0) return;
  level_ = mean([&](std::size_t i) { return static_cast<long double>(y_[i]); });
  // The normal equations of columns in units; a column without a pivot gets no slope.
  std::vector<long double> a(p * p), b(p);
  std::vector<long double> z(p);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < p; ++c) {
      z[c] = (static_cast<long double>(x(c)[i]) - centre_[c]) / unit_[c];
    }
    for (std::size_t c = 0; c < p; ++c) {
      for (std::size_t d = 0; d <= c; ++d) a[c * p + d] += w(i) * z[c] * z[d];
      b[c] += w(i) * z[c] * (static_cast<long double>(y_[i]) - level_);
    }
  }
  for (std::size_t c = 0; c < p; ++c) {
    for (std::size_t d = 0; d < c; ++d) {
      for (std::size_t k = 0; k < d; ++k) a[c * p + d] -= a[c * p + k] * a[d * p + k];
      a[c * p + d] = a[d * p + d] > 0 ? a[c * p + d] / a[d * p + d] : 0;
    }
    long double pivot = a[c * p + c];
    const long double whole = pivot;
    for (std::size_t k = 0; k < c; ++k) {
      pivot -= a[c * p + k] * a[c * p + k];
      b[c] -= a[c * p + k] * b[k];
    }
    const bool free = pivot > 1e-9L * whole;
    a[c * p + c] = free ? std::sqrt(pivot) : 0;
    b[c] = free ? b[c] / a[c * p + c] : 0;
  }
  for (std::size_t c = p; c-- > 0;) {
    long double value = b[c];
    for (std::size_t k = c + 1; k < p; ++k) value -= a[k * p + c] * slope_[k] * unit_[k];
    slope_[c] = a[c * p + c] > 0 ? static_cast<double>(value / a[c * p + c] / unit_[c]) : 0.0;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const long double off = static_cast<long double>(y_[i]) - level_;
    long double value = off;
    for (std::size_t c = 0; c < p; ++c) {
      value -= slope_[c] * (static_cast<long double>(x(c)[i]) - centre_[c]);
    }
    y_[i] = static_cast<double>(off);
    level_y_[i] = static_cast<double>(value);
  }
}

double MixedSample::base(bool local_linear, const double* x) const {
  long double value = level_;
  for (std::size_t c = 0; c < columns_ && local_linear; ++c) {
    value += slope_[c] * (static_cast<long double>(x[c]) - centre_[c]);
  }
  return static_cast<double>(value);
}

void MixedSample::weigh(const MixedKernel& kernel, const Levels& from, const Levels& to,
                        double* value, double* slope, std::size_t stride) const {
  const std::size_t all = levels_.size();
  std::vector<FactorValue> of(all);
  *value = 1.0;
  for (std::size_t k = 0; k < all; ++k) {
    const double lambda = kernel.lambda[k];
    const MixedForm form = kernel.form_of(columns_ + k);
    if (k < factors_) {
      of[k] = factor_value(kernel, form, from.code[k] == to.code[k], lambda, levels_[k]);
    } else {
      of[k] = ordered_value(kernel, form, from.position[k - factors_], to.position[k - factors_],
                            lambda, levels_[k]);
    }
    *value *= of[k].value;
  }
  for (std::size_t k = 0; k < all; ++k) {
    double product = of[k].slope;
    for (std::size_t other = 0; other < all; ++other) {
      if (other != k) product *= of[other].value;
    }
    slope[k * stride] = product;
  }
}

MixedSample::CellWeights MixedSample::weights(const MixedKernel& kernel, const Levels& at) const {
  CellWeights found{std::vector<double>(cells()), std::vector<double>(cells() * levels_.size()),
                    1.0, std::vector<double>(levels_.size())};
  for (std::size_t cell = 0; cell < cells(); ++cell) {
    weigh(kernel, {codes(cell), positions(cell)}, at, &found.value[cell], found.slope.data() + cell,
          cells());
  }
  weigh(kernel, at, at, &found.own, found.own_slope.data(), 1);
  return found;
}

}  // namespace kestrel
