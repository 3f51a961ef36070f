#include "core/mixed/mixed_coefficients.hpp"

#include <cmath>
#include <limits>
#include <memory>

#include "core/base/error.hpp"
#include "core/mixed/mixed_parts.hpp"
#include "core/mixed/mixed_points.hpp"

namespace kestrel {

namespace {

/// The design in the order of the sample.
struct OrderedDesign {
  OrderedDesign(const MixedSample& sample, const MixedDesign& design)
      : n(sample.size()), columns(design.x.cols), x(n * columns), y(n), unit(columns, 1.0) {
    if (design.x.rows != n || design.y.size != n || columns > simd::kMixedColumns) {
      throw error(ErrorKind::internal, "a design that is not one of the sample");
    }
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = design.y[sample.given(i)];
      for (std::size_t c = 0; c < columns; ++c) x[c * n + i] = design.x(sample.given(i), c);
    }
    for (std::size_t c = 0; c < columns; ++c) {
      long double sum = 0, squares = 0;
      for (std::size_t i = 0; i < n; ++i) sum += x[c * n + i];
      const double mean = static_cast<double>(sum / static_cast<long double>(n));
      for (std::size_t i = 0; i < n; ++i) {
        const long double off = static_cast<long double>(x[c * n + i]) - mean;
        squares += off * off;
      }
      if (squares > 0) {
        unit[c] = static_cast<double>(std::sqrt(squares / static_cast<long double>(n)));
      }
    }
  }
  std::size_t n, columns;
  std::vector<double> x, y, unit;
};

/// The fits at one point after another.
class CoefficientRow {
 public:
  CoefficientRow(const MixedSample& sample, const MixedKernel& kernel, const OrderedDesign& design,
                 MixedRow::Use use, const simd::Table& table)
      : design_(design),
        table_(*table.mixed),
        row_(sample, kernel, use, table),
        plane_(design.columns, kernel.order == 2, *table.mixed),
        room_(design.n * (5 + design.columns)) {
    std::size_t next = 0;
    const auto take = [&] { return room_.data() + next++ * design_.n; };
    weight_ = take();
    v_ = take();
    t_ = take();
    tq_ = take();
    spare_ = take();
    for (std::size_t c = 0; c < design.columns; ++c) z_.push_back(take());
    tiles_.add(0, design.n);
  }

  void start(const int* code, const double* position) { row_.start(code, position); }

  /// Columns z_c = (x_c - x_c at the point) / unit, so that beta[0] is the fit there.
  const MixedFit& fit(const double* point, const double* x, double reference, std::size_t own) {
    const MixedFit& weights = row_.fit(point, 0.0, own);
    const std::size_t k = design_.columns;
    fit_.supported = weights.supported;
    fit_.ridged = false;
    fit_.sum = weights.sum;
    fit_.scale = weights.scale;
    fit_.beta.assign(k + 1, 0.0);
    fit_.weight.assign(k + 1, 0.0);
    if (!fit_.supported) return fit_;
    row_.copy_weights(weight_);
    tiles_.each([&](std::size_t begin, std::size_t count) {
      table_.offsets(design_.y.data() + begin, reference, 1.0, v_ + begin, count);
      for (std::size_t c = 0; c < k; ++c) {
        table_.offsets(design_.x.data() + c * design_.n + begin, x[c], 1 / design_.unit[c],
                       z_[c] + begin, count);
      }
    });
    plane_.solve({tiles_, weight_, v_, z_, spare_}, fit_);
    return fit_;
  }

  /// t_j (v_j - fit_j), whose sum with the derivatives of the weights is that of the fit.
  void prepare_slopes() { fill_lines(fit_.weight.data(), fit_.beta.data()); }
  double change(std::size_t parameter) const { return row_.times(tq_, parameter); }

  /// The sum of e times the squares of the weights that a line in z, times w_j, gives responses.
  double variance(const std::vector<double>& line, const double* e) {
    const std::vector<double> none(line.size(), 0.0);
    fill_lines(line.data(), none.data());
    double sum = 0;
    tiles_.each([&](std::size_t begin, std::size_t count) {
      table_.multiply(weight_ + begin, t_ + begin, spare_ + begin, count);
      sum += table_.dot3(spare_ + begin, spare_ + begin, e + begin, count);
    });
    return sum;
  }
  std::vector<double> slope_line(std::size_t c) const {
    std::vector<double> line(design_.columns + 1);
    plane_.slope_weights(c, line.data());
    return line;
  }

 private:
  void fill_lines(const double* a, const double* b) {
    tiles_.each([&](std::size_t begin, std::size_t count) {
      const double* z[simd::kMixedColumns];
      for (std::size_t c = 0; c < design_.columns; ++c) z[c] = z_[c] + begin;
      table_.lines(z, static_cast<int>(design_.columns), a, b, v_ + begin, t_ + begin, tq_ + begin,
                   count);
    });
  }

  const OrderedDesign& design_;
  const simd::MixedTable& table_;
  MixedRow row_;
  MixedPlane plane_;
  RawArray<double> room_;
  double *weight_, *v_, *t_, *tq_, *spare_;
  std::vector<double*> z_;
  MixedTiles tiles_;
  MixedFit fit_;
};

}  // namespace

MixedCriterion mixed_coefficient_criterion(const MixedSample& sample, const MixedKernel& kernel,
                                           const MixedDesign& design, bool gradient,
                                           const RunOptions& options) {
  check_mixed_kernel(kernel, sample.columns(), sample.factors() + sample.ordered());
  const OrderedDesign ordered(sample, design);
  const std::size_t parameters = gradient ? sample.columns() + kernel.lambda.size() : 0;
  const std::size_t k = ordered.columns, n = ordered.n;
  std::vector<MixedSums> parts(mixed_items(sample).size());
  const auto use = gradient ? MixedRow::Use::weights : MixedRow::Use::variances;
  const auto make = [&] {
    return std::make_unique<CoefficientRow>(sample, kernel, ordered, use, *options.table);
  };
  each_mixed_point(sample, make, options,
                   [&](std::size_t item, std::size_t i, const double* point, CoefficientRow& row) {
                     MixedSums& sums = parts[item];
                     sums.by.resize(parameters);
                     std::vector<double> x(k);
                     for (std::size_t c = 0; c < k; ++c) x[c] = ordered.x[c * n + i];
                     const MixedFit& fit = row.fit(point, x.data(), ordered.y[i], i);
                     sums.ridged += fit.ridged ? 1 : 0;
                     if (!fit.supported) {
                       ++sums.unsupported;
                       return;
                     }
                     const double deviation = fit.beta[0];
                     sums.value += deviation * deviation;
                     if (parameters == 0) return;
                     row.prepare_slopes();
                     for (std::size_t c = 0; c < parameters; ++c) {
                       sums.by[c] += 2 * deviation * row.change(c);
                     }
                   });
  return mean_of(parts, parameters, static_cast<double>(n));
}

MixedCoefficients mixed_coefficients(const MixedSample& sample, const MixedSample& points,
                                     const MixedKernel& kernel, const MixedDesign& design,
                                     const MatrixView& x, Span<const double> error2, bool leave_out,
                                     const RunOptions& options) {
  check_mixed_kernel(kernel, sample.columns(), sample.factors() + sample.ordered());
  const OrderedDesign ordered(sample, design);
  const std::size_t m = points.size(), k = ordered.columns;
  const bool at_data = &points == &sample, errors = error2.size > 0;
  if (x.rows != m || x.cols != k || (leave_out && !at_data)) {
    throw error(ErrorKind::internal, "points that are not those of a design");
  }
  std::vector<double> e(error2.size);
  for (std::size_t j = 0; j < e.size(); ++j) e[j] = error2[sample.given(j)];
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  MixedCoefficients found;
  found.mean.assign(m, none);
  found.beta.assign(m * (k + 1), none);
  found.variance.assign(errors ? m : 0, none);
  found.beta_variance.assign(errors ? m * (k + 1) : 0, none);
  std::vector<std::size_t> ridged(mixed_items(points).size());
  const auto make = [&] {
    return std::make_unique<CoefficientRow>(sample, kernel, ordered, MixedRow::Use::variances,
                                            *options.table);
  };
  each_mixed_point(points, make, options,
                   [&](std::size_t item, std::size_t i, const double* point, CoefficientRow& row) {
                     const std::size_t to = points.given(i);
                     std::vector<double> at(k);
                     for (std::size_t c = 0; c < k; ++c) at[c] = x(to, c);
                     const double reference = at_data ? ordered.y[i] : 0.0;
                     const MixedFit& fit =
                         row.fit(point, at.data(), reference, leave_out ? i : MixedRow::kNone);
                     if (!fit.supported) return;
                     ridged[item] += fit.ridged ? 1 : 0;
                     found.mean[to] = reference + fit.beta[0];
                     // The constant: the fit at x = 0, and the weights of responses in it.
                     double* beta = found.beta.data() + to * (k + 1);
                     std::vector<double> constant = fit.weight;
                     beta[0] = found.mean[to];
                     for (std::size_t c = 0; c < k; ++c) {
                       beta[c + 1] = fit.beta[c + 1] / ordered.unit[c];
                       beta[0] -= at[c] * beta[c + 1];
                     }
                     if (!errors) return;
                     double* variance = found.beta_variance.data() + to * (k + 1);
                     found.variance[to] = row.variance(fit.weight, e.data());
                     for (std::size_t c = 0; c < k; ++c) {
                       std::vector<double> line = row.slope_line(c);
                       for (std::size_t d = 0; d <= k; ++d) {
                         line[d] /= ordered.unit[c];
                         constant[d] -= at[c] * line[d];
                       }
                       variance[c + 1] = row.variance(line, e.data());
                     }
                     variance[0] = row.variance(constant, e.data());
                   });
  for (const std::size_t some : ridged) found.ridged += some;
  return found;
}

}  // namespace kestrel
