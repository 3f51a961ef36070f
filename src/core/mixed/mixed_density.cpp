#include "core/mixed/mixed_density.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/mixed/density_parts.hpp"
#include "core/mixed/mixed_points.hpp"

namespace kestrel {

namespace {

/// What a worker needs: the weights by one kernel or two.
struct Rows {
  Rows(const MixedSample& sample, const MixedKernel& one, const MixedKernel* other,
       MixedRow::Use use, const simd::Table& table)
      : first(sample, one, use, table) {
    if (other != nullptr) second = std::make_unique<MixedRow>(sample, *other, use, table);
  }
  void start(const int* code, const double* position) {
    first.start(code, position);
    if (second != nullptr) second->start(code, position);
  }
  MixedRow first;
  std::unique_ptr<MixedRow> second;
};

MixedCriterion total_of(const std::vector<MixedSums>& parts, std::size_t parameters) {
  return mean_of(parts, parameters, 1.0);
}

/// Of the sum of the weights of a fit, or -HUGE_VAL.
double log_of(const MixedFit& fit) {
  if (!fit.supported || !(fit.sum > 0)) return -HUGE_VAL;
  return std::log(fit.sum) + std::log(fit.scale);
}

}  // namespace

MixedCriterion mixed_log_likelihood(const MixedSample& sample, const MixedKernel& kernel,
                                    const MixedGiven& given, bool gradient,
                                    const RunOptions& options, Span<const char> only) {
  const DensityKernels kernels(sample, kernel, given);
  const LikelihoodTerms terms(sample, kernels, given);
  const std::size_t parameters = gradient ? given.size() : 0;
  const auto use = gradient ? MixedRow::Use::criterion : MixedRow::Use::fits;
  std::vector<MixedSums> parts(mixed_items(sample).size());
  const auto make = [&] {
    return std::make_unique<Rows>(sample, kernels.whole, kernels.second(), use, *options.table);
  };
  each_mixed_point(
      sample, make, options,
      [&](std::size_t item, std::size_t i, const double* point, Rows& rows) {
        MixedSums& sums = parts[item];
        sums.by.resize(parameters);
        const MixedFit& fit = rows.first.fit(point, 0.0, i);
        const MixedFit* below = kernels.conditional ? &rows.second->fit(point, 0.0, i) : nullptr;
        terms.add(
            log_of(fit), below == nullptr ? 0.0 : log_of(*below),
            [&](std::size_t k) { return rows.first.sum_by(k) / fit.sum; },
            [&](std::size_t k) { return rows.second->sum_by(k) / below->sum; }, sums);
      },
      only);
  return total_of(parts, parameters);
}

MixedCriterion mixed_squared_error(const MixedSample& sample, const MixedKernel& kernel,
                                   bool gradient, const RunOptions& options) {
  const SquaredErrorKernels kernels(sample, kernel);
  const std::size_t parameters = gradient ? kernel.h.size() + kernel.lambda.size() : 0;
  const auto use = gradient ? MixedRow::Use::criterion : MixedRow::Use::fits;
  std::vector<MixedSums> parts(mixed_items(sample).size());
  const auto make = [&] {
    return std::make_unique<Rows>(sample, kernels.twice, &kernels.once, use, *options.table);
  };
  each_mixed_point(
      sample, make, options, [&](std::size_t item, std::size_t i, const double* point, Rows& rows) {
        MixedSums& sums = parts[item];
        sums.by.resize(parameters);
        const auto add = [&](MixedRow& row, double factor, std::size_t own) {
          const MixedFit& fit = row.fit(point, 0.0, own);
          kernels.add(
              factor * fit.scale, fit.sum, [&](std::size_t k) { return row.sum_by(k); }, sums);
        };
        add(rows.first, kernels.with, MixedRow::kNone);
        add(*rows.second, kernels.without, i);
      });
  return total_of(parts, parameters);
}

namespace {

/// The leave-one-out weights of what is given at the observations of an item, and their products
/// with the convolutions of the rest.
class GivenItem {
 public:
  GivenItem(const MixedSample& sample, std::size_t most, std::size_t parameters)
      : n_(sample.size()),
        parameters_(parameters),
        a_(most * n_),
        b_(most * n_),
        by_(most * parameters),
        ones_(n_, 1.0) {}

  /// Weights at the observations begin .. end - 1.
  void take_weights(const MixedSample& sample, const MixedItem& item, MixedRow& row) {
    std::vector<double> point(sample.columns());
    row.start(sample.codes(item.cell), sample.positions(item.cell));
    for (std::size_t l = item.begin; l < item.end; ++l) {
      sample.copy_row(l, point.data());
      row.fit(point.data(), 0.0, l);
      row.copy_weights(a(l - item.begin));
    }
    std::fill(by_.begin(), by_.end(), 0.0);
  }

  /// b_i = sum_j convolution_ij a_j, and sum_i a_i b_i differentiated by what is not given.
  void convolve(const MixedSample& sample, const MixedItem& item, const MixedGiven& given,
                MixedRow& row) {
    std::vector<double> point(sample.columns());
    for (std::size_t cell = 0; cell < sample.cells(); ++cell) {
      row.start(sample.codes(cell), sample.positions(cell));
      for (std::size_t i = sample.first(cell); i < sample.first(cell + 1); ++i) {
        poll_if_due({});
        sample.copy_row(i, point.data());
        row.fit(point.data(), 0.0, MixedRow::kNone);
        for (std::size_t l = 0; l < item.end - item.begin; ++l) {
          b(l)[i] = row.times(a(l));
          for (std::size_t k = 0; k < parameters_; ++k) {
            if (!given[k] && a(l)[i] != 0) by_[l * parameters_ + k] += a(l)[i] * row.times(a(l), k);
          }
        }
      }
    }
  }

  double* a(std::size_t l) { return a_.data() + l * n_; }
  double* b(std::size_t l) { return b_.data() + l * n_; }
  double by(std::size_t l, std::size_t k) const { return by_[l * parameters_ + k]; }
  const double* ones() const { return ones_.data(); }
  double product(std::size_t l) {
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) sum += a(l)[i] * b(l)[i];
    return sum;
  }

 private:
  std::size_t n_, parameters_;
  std::vector<double> a_, b_, by_, ones_;
};

struct ConditionalRows {
  ConditionalRows(const MixedSample& sample, const MixedKernel kernels[3], std::size_t most,
                  std::size_t parameters, const simd::Table& table)
      : whole(sample, kernels[0], MixedRow::Use::criterion, table),
        given(sample, kernels[1], MixedRow::Use::weights, table),
        rest(sample, kernels[2], MixedRow::Use::weights, table),
        item(sample, most, parameters) {}
  MixedRow whole, given, rest;
  GivenItem item;
};

/// What an observation l of an item adds to the criterion: twice times the sum of its products of
/// weights with convolutions, once times its leave-one-out density.
struct ConditionalTerm {
  double twice, once;
  const MixedGiven& given;
  std::size_t columns;

  void add(ConditionalRows& rows, const double* point, std::size_t i, std::size_t l,
           MixedSums& sums) const {
    const MixedFit& below = rows.given.fit(point, 0.0, i);
    if (!below.supported) {
      ++sums.unsupported;
      return;
    }
    const MixedFit& fit = rows.whole.fit(point, 0.0, i);
    const double ratio = fit.scale / below.scale / below.sum, squared = below.sum * below.sum;
    const double square = rows.item.product(l) / squared;
    sums.value += twice * square + once * ratio * fit.sum;
    for (std::size_t k = 0; k < sums.by.size(); ++k) {
      if (given[k]) {
        const double share = rows.given.times(rows.item.ones(), k) / below.sum;
        const double by_square = rows.given.times(rows.item.b(l), k) / squared - square * share;
        sums.by[k] +=
            2 * twice * by_square + once * ratio * (rows.whole.sum_by(k) - fit.sum * share);
      } else {
        const double unit = k < columns ? 1.0 : 0.0;
        sums.by[k] += twice * (rows.item.by(l, k) / squared - unit * square) +
                      once * ratio * (rows.whole.sum_by(k) - unit * fit.sum);
      }
    }
  }
};

}  // namespace

MixedCriterion mixed_conditional_error(const MixedSample& sample, const MixedKernel& kernel,
                                       const MixedGiven& given, bool gradient,
                                       const RunOptions& options) {
  const DensityKernels of_density(sample, kernel, given);
  const MixedKernel kernels[3] = {of_density.whole, of_density.below,
                                  part_of(kernel, given, false, MixedForm::convolution)};
  const double n = static_cast<double>(sample.size());
  const std::size_t parameters = gradient ? given.size() : 0, columns = sample.columns();
  const ConditionalTerm term{std::exp(log_density_scale(kernels[2], given)) / n,
                             -2 * std::exp(log_density_scale(kernels[0], given)) / n, given,
                             columns};
  const std::vector<MixedItem> items = mixed_items(sample);
  const std::size_t most = most_points(items);
  std::vector<MixedSums> parts(items.size());
  std::vector<std::unique_ptr<ConditionalRows>> workers(
      parallel_workers(items.size(), options.parallel));
  parallel_for(items.size(), options.parallel, [&](std::size_t number, int worker) {
    auto& rows = workers[static_cast<std::size_t>(worker)];
    if (rows == nullptr) {
      rows = std::make_unique<ConditionalRows>(sample, kernels, most, parameters, *options.table);
    }
    const MixedItem& item = items[number];
    parts[number].by.resize(parameters);
    rows->item.take_weights(sample, item, rows->given);
    rows->item.convolve(sample, item, given, rows->rest);
    rows->whole.start(sample.codes(item.cell), sample.positions(item.cell));
    std::vector<double> point(columns);
    for (std::size_t i = item.begin; i < item.end; ++i) {
      sample.copy_row(i, point.data());
      term.add(*rows, point.data(), i, i - item.begin, parts[number]);
    }
  });
  return total_of(parts, parameters);
}

namespace {

/// The density at a point, value = over / under, whose sums are of these terms of the samples.
struct DensityTerms {
  DensityTerms(std::size_t n, bool conditional)
      : over(n), by_over(n), under(n, 1.0), by_under(n), conditional(conditional) {}

  /// False where what is given has no weight.
  bool take(Rows& rows, const double* point) {
    const MixedFit& fit = rows.first.fit(point, 0.0, MixedRow::kNone);
    all = static_cast<double>(over.size());
    times = fit.scale;
    if (conditional) {
      const MixedFit& below = rows.second->fit(point, 0.0, MixedRow::kNone);
      if (!below.supported) return false;
      all = below.sum;
      times /= below.scale;
      rows.second->copy_weights(under.data());
    }
    rows.first.copy_weights(over.data());
    value = times * fit.sum / all;
    for (std::size_t j = 0; j < over.size(); ++j) over[j] = times * over[j] - value * under[j];
    return true;
  }
  double variance() const {
    double squares = 0;
    for (const double off : over) squares += off * off;
    return squares / (all * all);
  }
  /// The derivative by column c, and its variance.
  double slope(Rows& rows, std::size_t c, double* variance) {
    rows.first.copy_slopes(c, by_over.data());
    double share = 0;
    if (conditional) {
      rows.second->copy_slopes(c, by_under.data());
      share = rows.second->sum_by_point(c) / all;
    }
    const double found = times * rows.first.sum_by_point(c) / all - value * share;
    double squares = 0;
    for (std::size_t j = 0; j < over.size(); ++j) {
      const double change =
          times * by_over[j] - value * by_under[j] - share * over[j] - found * under[j];
      squares += change * change;
    }
    *variance = squares / (all * all);
    return found;
  }

  std::vector<double> over, by_over, under, by_under;
  bool conditional;
  double all = 0, times = 0, value = 0;
};

}  // namespace

MixedDensities mixed_densities(const MixedSample& sample, const MixedSample& points,
                               const MixedKernel& kernel, const MixedGiven& given, bool gradients,
                               const RunOptions& options, Span<const char> only) {
  const DensityKernels kernels(sample, kernel, given);
  const std::size_t m = points.size(), p = sample.columns();
  const double scale = std::exp(log_density_scale(kernels.whole, given)),
               n = static_cast<double>(sample.size());
  // Of a mean, n - 1 in place of n makes the variance unbiased.
  const double unbiased = scale * scale * (kernels.conditional ? 1.0 : n / (n - 1));
  MixedDensities found;
  const double none = std::numeric_limits<double>::quiet_NaN();
  found.density.assign(m, none);
  found.variance.assign(m, none);
  found.gradient.assign(gradients ? m * p : 0, none);
  found.gradient_variance.assign(gradients ? m * p : 0, none);
  const auto use = gradients ? MixedRow::Use::gradients : MixedRow::Use::variances;
  const auto make = [&] {
    return std::make_unique<Rows>(sample, kernels.whole, kernels.second(), use, *options.table);
  };
  each_mixed_point(
      points, make, options,
      [&](std::size_t, std::size_t i, const double* point, Rows& rows) {
        const std::size_t to = points.given(i);
        DensityTerms terms(sample.size(), kernels.conditional);
        if (!terms.take(rows, point)) return;
        found.density[to] = scale * terms.value;
        found.variance[to] = unbiased * terms.variance();
        for (std::size_t c = 0; c < p && gradients; ++c) {
          double variance = 0;
          found.gradient[to * p + c] = scale * terms.slope(rows, c, &variance);
          found.gradient_variance[to * p + c] = unbiased * variance;
        }
      },
      only);
  return found;
}

}  // namespace kestrel
