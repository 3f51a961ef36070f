#include "core/mixed/mixed_sums.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/error.hpp"
#include "core/mixed/mixed_points.hpp"
#include "core/mixed/mixed_row.hpp"

namespace kestrel {

namespace {

/// x^n, n > 0, by multiplications.
double whole_power(double x, int n) {
  double result = 1;
  for (int k = 0; k < n; ++k) result *= x;
  return result;
}

/// What a worker needs: the weights of columns, and those of the factors of each cell.
class SumRow {
 public:
  SumRow(const MixedSample& sample, const MixedKernel& kernel, const MixedSumTask& task,
         const simd::Table& table)
      : sample_(sample),
        task_(task),
        row_(sample, kernel, MixedRow::Use::variances, table),
        factor_(sample.cells()),
        weight(sample.size()) {}

  void start(const int* code, const double* position) {
    row_.start(code, position);
    for (std::size_t cell = 0; cell < factor_.size(); ++cell) {
      factor_[cell] = 1.0;
      for (std::size_t k = 0; k < task_.tables.size(); ++k) {
        const MatrixView& table = task_.tables[k];
        const auto from = static_cast<std::size_t>(sample_.codes(cell)[k]) - 1;
        const auto to = static_cast<std::size_t>(code[k]) - 1;
        factor_[cell] *= table.column(to)[from];
      }
    }
  }

  /// The products of kernels at a point, in the order of the sample.
  void take(const double* point) {
    const MixedFit& fit = row_.fit(point, 0.0, MixedRow::kNone);
    row_.copy_weights(weight.data());
    for (std::size_t cell = 0; cell < factor_.size(); ++cell) {
      const double times = factor_[cell] * task_.scale * fit.scale;
      for (std::size_t j = sample_.first(cell); j < sample_.first(cell + 1); ++j) {
        weight[j] *= times;
      }
    }
  }

 private:
  const MixedSample& sample_;
  const MixedSumTask& task_;
  MixedRow row_;
  std::vector<double> factor_;

 public:
  std::vector<double> weight;
};

}  // namespace

std::vector<double> mixed_kernel_sums(const MixedSample& sample, const MixedSample& points,
                                      const MixedSumTask& task, double* weights,
                                      const RunOptions& options) {
  const std::size_t n = sample.size(), sums = std::max<std::size_t>(task.terms.cols, 1);
  if (sample.ordered() > 0 || task.tables.size() != sample.factors() || task.power < 1 ||
      (task.leave_one_out && points.size() != n)) {
    throw error(ErrorKind::internal, "sums of kernels take a table for each factor");
  }
  MixedKernel kernel = task.kernel;
  kernel.local_linear = false;
  kernel.lambda.assign(sample.factors(), HUGE_VAL);
  kernel.forms.resize(sample.columns(), MixedForm::weights);
  kernel.forms.resize(sample.columns() + sample.factors(), MixedForm::weights);
  check_mixed_kernel(kernel, sample.columns(), sample.factors());
  // In the order of the sample.
  std::vector<double> terms(n * sums, 1.0);
  for (std::size_t k = 0; k < task.terms.cols; ++k) {
    for (std::size_t j = 0; j < n; ++j) terms[k * n + j] = task.terms.column(k)[sample.given(j)];
  }
  std::vector<std::size_t> place(n);
  for (std::size_t j = 0; j < n; ++j) place[sample.given(j)] = j;
  std::vector<double> found(points.size() * sums);
  const auto make = [&] { return std::make_unique<SumRow>(sample, kernel, task, *options.table); };
  each_mixed_point(points, make, options,
                   [&](std::size_t, std::size_t i, const double* point, SumRow& row) {
                     const std::size_t to = points.given(i);
                     row.take(point);
                     for (std::size_t j = 0; j < n && weights != nullptr; ++j) {
                       weights[to * n + sample.given(j)] = row.weight[j];
                     }
                     if (task.leave_one_out) row.weight[place[to]] = 0.0;
                     for (double& weight : row.weight)
                       weight = whole_power(weight * task.divide, task.power);
                     for (std::size_t k = 0; k < sums; ++k) {
                       found[to * sums + k] =
                           options.table->mixed->dot(row.weight.data(), terms.data() + k * n, n);
                     }
                   });
  return found;
}

}  // namespace kestrel
