#include "core/mixed/mixed_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/mixed/mixed_parts.hpp"
#include "core/mixed/mixed_points.hpp"
#include "core/mixed/mixed_row.hpp"

namespace kestrel {

namespace {

/// 1(x_i <= x) for all observations and a point x, along what is not given.
class Indicators {
 public:
  Indicators(const MixedSample& sample, const MixedGiven& given)
      : sample_(sample), given_(given), value_(sample.size()) {}

  const std::vector<double>& at(const MixedSample& points, std::size_t cell, std::size_t i) {
    const std::size_t columns = sample_.columns(), factors = sample_.factors();
    for (std::size_t k = 0; k < sample_.cells(); ++k) {
      bool below = true;
      for (std::size_t o = 0; o < sample_.ordered(); ++o) {
        if (given_[columns + factors + o]) continue;
        below = below && sample_.positions(k)[o] <= points.positions(cell)[o];
      }
      std::fill(value_.begin() + static_cast<std::ptrdiff_t>(sample_.first(k)),
                value_.begin() + static_cast<std::ptrdiff_t>(sample_.first(k + 1)),
                below ? 1.0 : 0.0);
    }
    for (std::size_t c = 0; c < columns; ++c) {
      if (given_[c]) continue;
      const double* x = sample_.x(c);
      const double point = points.x(c)[i];
      for (std::size_t j = 0; j < value_.size(); ++j) {
        if (!(x[j] <= point)) value_[j] = 0.0;
      }
    }
    return value_;
  }

 private:
  const MixedSample& sample_;
  const MixedGiven& given_;
  std::vector<double> value_;
};

/// What a worker needs for a grid point.
struct GridRow {
  GridRow(const MixedSample& sample, const MixedKernel& kernel, const MixedGiven& given,
          const simd::Table& table)
      : row(sample, kernel, MixedRow::Use::weights, table),
        below(sample, given),
        weight(sample.size()),
        error(sample.size()) {}
  void start(const int* code, const double* position) { row.start(code, position); }

  MixedRow row;
  Indicators below;
  std::vector<double> weight, error;
};

}  // namespace

MixedCriterion mixed_distribution_error(const MixedSample& sample, const MixedGrid& grid,
                                        const MixedKernel& kernel, bool gradient,
                                        const RunOptions& options) {
  check_mixed_kernel(kernel, sample.columns(), sample.factors() + sample.ordered());
  const std::size_t n = sample.size(), parameters = kernel.h.size() + kernel.lambda.size();
  const MixedGiven none(parameters, false);
  const MixedKernel below = part_of(kernel, none, false, MixedForm::distribution);
  const MixedSample& points = grid.points == nullptr ? sample : *grid.points;
  const double others = static_cast<double>(n) - 1;
  const std::vector<MixedItem> items = mixed_items(points);
  std::vector<MixedSums> parts(items.size());
  const auto make = [&] { return std::make_unique<GridRow>(sample, below, none, *options.table); };
  each_mixed_point(points, make, options,
                   [&](std::size_t item, std::size_t g, const double* point, GridRow& at) {
                     MixedSums& sums = parts[item];
                     sums.by.resize(gradient ? parameters : 0);
                     const std::vector<double>& reached = at.below.at(points, items[item].cell, g);
                     at.row.fit(point, 0.0, MixedRow::kNone);
                     at.row.copy_weights(at.weight.data());
                     double all = 0, rest = 0;
                     for (const double weight : at.weight) all += weight;
                     for (std::size_t i = 0; i < n; ++i) {
                       // The distribution function without observation i.
                       const double error = (all - at.weight[i]) / others - reached[i];
                       at.error[i] = grid.points == nullptr && i == g ? 0.0 : error;
                       sums.value += at.error[i] * at.error[i];
                       rest += at.error[i];
                     }
                     // Weight j is in the errors of all others.
                     for (std::size_t j = 0; j < n && gradient; ++j)
                       at.error[j] = rest - at.error[j];
                     for (std::size_t k = 0; k < sums.by.size(); ++k) {
                       sums.by[k] += 2 / others * at.row.times(at.error.data(), k);
                     }
                   });
  return mean_of(parts, gradient ? parameters : 0,
                 static_cast<double>(n) * static_cast<double>(points.size()));
}

namespace {

/// The sums over the grid for the observations of an item: with the errors e of F_-i(y | x_i), the
/// sums of e times the kernels of all samples at y, and of e F.
class ConditionalItem {
 public:
  ConditionalItem(const MixedSample& sample, const MixedKernel& given_kernel,
                  const MixedKernel& below_kernel, const MixedGiven& given, std::size_t most,
                  std::size_t parameters, const simd::Table& table)
      : sample_(sample),
        given_(given),
        weights_(sample, given_kernel, MixedRow::Use::weights, table),
        below_(sample, below_kernel, MixedRow::Use::weights, table),
        indicators_(sample, given),
        parameters_(parameters),
        a_(most * sample.size()),
        b_(most * sample.size()),
        by_(most * parameters),
        product_(most),
        kernel_(sample.size()),
        point_(sample.columns()) {}

  void add(const MixedItem& item, const MixedGrid& grid, MixedSums& sums) {
    const std::size_t n = sample_.size(), count = item.end - item.begin;
    sums.by.resize(parameters_);
    std::fill(b_.begin(), b_.end(), 0.0);
    std::fill(by_.begin(), by_.end(), 0.0);
    std::fill(product_.begin(), product_.end(), 0.0);
    weights_.start(sample_.codes(item.cell), sample_.positions(item.cell));
    for (std::size_t l = 0; l < count; ++l) {
      const MixedFit& fit = weights_at(item.begin + l);
      weights_.copy_weights(a(l));
      if (!fit.supported) ++sums.unsupported;
      for (std::size_t j = 0; j < n; ++j) a(l)[j] = fit.supported ? a(l)[j] / fit.sum : 0.0;
    }
    add_grid(item, grid, sums);
    for (std::size_t l = 0; l < count && parameters_ > 0; ++l) {
      for (std::size_t k = 0; k < parameters_; ++k) sums.by[k] += 2 * by_[l * parameters_ + k];
      const MixedFit& fit = weights_at(item.begin + l);
      if (!fit.supported) continue;
      for (std::size_t j = 0; j < n; ++j) b(l)[j] -= product_[l];
      for (std::size_t k = 0; k < parameters_; ++k) {
        if (given_[k]) sums.by[k] += 2 * weights_.times(b(l), k) / fit.sum;
      }
    }
  }

 private:
  double* a(std::size_t l) { return a_.data() + l * sample_.size(); }
  double* b(std::size_t l) { return b_.data() + l * sample_.size(); }

  const MixedFit& weights_at(std::size_t i) {
    for (std::size_t c = 0; c < point_.size(); ++c) point_[c] = sample_.x(c)[i];
    return weights_.fit(point_.data(), 0.0, i);
  }

  void add_grid(const MixedItem& item, const MixedGrid& grid, MixedSums& sums) {
    const MixedSample& points = grid.points == nullptr ? sample_ : *grid.points;
    for (std::size_t cell = 0; cell < points.cells(); ++cell) {
      below_.start(points.codes(cell), points.positions(cell));
      for (std::size_t g = points.first(cell); g < points.first(cell + 1); ++g) {
        poll_if_due({});
        for (std::size_t c = 0; c < point_.size(); ++c) point_[c] = points.x(c)[g];
        below_.fit(point_.data(), 0.0, MixedRow::kNone);
        if (parameters_ > 0) below_.copy_weights(kernel_.data());
        const std::vector<double>& reached = indicators_.at(points, cell, g);
        for (std::size_t i = item.begin; i < item.end; ++i) {
          if (grid.points == nullptr && i == g) continue;
          add_point(i - item.begin, reached[i], sums);
        }
      }
    }
  }

  void add_point(std::size_t l, double reached, MixedSums& sums) {
    const double value = below_.times(a(l)), error = value - reached;
    sums.value += error * error;
    if (parameters_ == 0) return;
    double* to = b(l);
    for (std::size_t j = 0; j < kernel_.size(); ++j) to[j] += error * kernel_[j];
    product_[l] += error * value;
    for (std::size_t k = 0; k < parameters_; ++k) {
      if (!given_[k]) by_[l * parameters_ + k] += error * below_.times(a(l), k);
    }
  }

  const MixedSample& sample_;
  const MixedGiven& given_;
  MixedRow weights_, below_;
  Indicators indicators_;
  const std::size_t parameters_;
  std::vector<double> a_, b_, by_, product_, kernel_, point_;
};

}  // namespace

MixedCriterion mixed_conditional_distribution_error(const MixedSample& sample,
                                                    const MixedGrid& grid,
                                                    const MixedKernel& kernel,
                                                    const MixedGiven& given, bool gradient,
                                                    const RunOptions& options) {
  check_mixed_kernel(kernel, sample.columns(), sample.factors() + sample.ordered());
  const MixedKernel weights = part_of(kernel, given, true, MixedForm::density);
  const MixedKernel below = part_of(kernel, given, false, MixedForm::distribution);
  const std::size_t parameters = gradient ? given.size() : 0;
  const std::vector<MixedItem> items = mixed_items(sample);
  const std::size_t most = most_points(items);
  std::vector<MixedSums> parts(items.size());
  std::vector<std::unique_ptr<ConditionalItem>> workers(
      parallel_workers(items.size(), options.parallel));
  parallel_for(items.size(), options.parallel, [&](std::size_t number, int worker) {
    auto& own = workers[static_cast<std::size_t>(worker)];
    if (own == nullptr) {
      own = std::make_unique<ConditionalItem>(sample, weights, below, given, most, parameters,
                                              *options.table);
    }
    own->add(items[number], grid, parts[number]);
  });
  const MixedSample& points = grid.points == nullptr ? sample : *grid.points;
  return mean_of(parts, parameters,
                 static_cast<double>(sample.size()) * static_cast<double>(points.size()));
}

namespace {

/// Solves F(y) = tau by Newton's steps, and by halving where they leave the bracket. `at` sets F
/// and its derivative. Ends where no number is between the ends of the bracket, or a step is lost
/// in rounding.
template <class Function>
double crossing(double low, double high, double start, double tau, double* slope,
                const Function& at) {
  double y = start;
  for (int step = 0; step < 2000; ++step) {
    double value = 0;
    at(y, &value, slope);
    (value >= tau ? high : low) = y;
    const double next = y - (value - tau) / *slope;
    const bool inside = *slope > 0 && next > low && next < high;
    if (*slope > 0 && std::fabs(next - y) <= 4e-16 * std::fabs(y)) break;
    const double middle = low + 0.5 * (high - low);
    if (!(middle > low && middle < high)) {
      y = high;
      at(y, &value, slope);
      break;
    }
    // Halve from time to time, in case that steps come from one side only.
    y = inside && step % 8 != 7 ? next : middle;
  }
  return y;
}

struct QuantileRows {
  QuantileRows(const MixedSample& sample, const MixedKernel& given_kernel,
               const MixedKernel& below_kernel, const simd::Table& table)
      : weights(sample, given_kernel, MixedRow::Use::weights, table),
        below(sample, below_kernel, MixedRow::Use::gradients, table),
        weight(sample.size()) {}
  void start(const int* code, const double* position) {
    weights.start(code, position);
    below.start(code, position);
  }
  MixedRow weights, below;
  std::vector<double> weight;
};

}  // namespace

MixedQuantiles mixed_quantiles(const MixedSample& sample, const MixedSample& points,
                               const MixedKernel& kernel, const MixedGiven& given, double tau,
                               const RunOptions& options) {
  check_mixed_kernel(kernel, sample.columns(), sample.factors() + sample.ordered());
  const std::size_t y =
      static_cast<std::size_t>(std::find(given.begin(), given.end(), false) - given.begin());
  const MixedKernel of_x = part_of(kernel, given, true, MixedForm::density);
  const MixedKernel of_y = part_of(kernel, given, false, MixedForm::distribution);
  const double* values = sample.x(y);
  const auto ends = std::minmax_element(values, values + sample.size());
  // Beyond the reach of all kernels.
  const double reach = 40 * kernel.h[y];
  MixedQuantiles found;
  found.quantile.assign(points.size(), std::numeric_limits<double>::quiet_NaN());
  found.density = found.quantile;
  const auto make = [&] {
    return std::make_unique<QuantileRows>(sample, of_x, of_y, *options.table);
  };
  each_mixed_point(points, make, options,
                   [&](std::size_t, std::size_t i, const double* point, QuantileRows& rows) {
                     const MixedFit& fit = rows.weights.fit(point, 0.0, MixedRow::kNone);
                     if (!fit.supported) return;
                     rows.weights.copy_weights(rows.weight.data());
                     double start = 0;
                     for (std::size_t j = 0; j < rows.weight.size(); ++j) {
                       rows.weight[j] /= fit.sum;
                       start += rows.weight[j] * values[j];
                     }
                     std::vector<double> at(point, point + sample.columns());
                     const double low = *ends.first - reach, high = *ends.second + reach;
                     double slope = 0;
                     found.quantile[points.given(i)] =
                         crossing(low, high, std::min(std::max(start, *ends.first), *ends.second),
                                  tau, &slope, [&](double to, double* value, double* by) {
                                    poll_if_due({});
                                    at[y] = to;
                                    rows.below.fit(at.data(), 0.0, MixedRow::kNone);
                                    *value = rows.below.times(rows.weight.data());
                                    *by = rows.below.times(rows.weight.data(), y);
                                  });
                     found.density[points.given(i)] = slope;
                   });
  return found;
}

}  // namespace kestrel
